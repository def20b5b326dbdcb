"""Compile the modules of `COMPILED` where there is a compiler, and make the links of README absolute, for PyPI.

All other metadata is in pyproject.toml.

The sources are plain Python: without Cython or a compiler, and with ABSOLVE_PURE=1, they run interpreted.
ABSOLVE_SANITIZE=1 compiles them with AddressSanitizer and UndefinedBehaviorSanitizer, for .ci/sanitize.
"""

import hashlib
import os
import re
import sys
import sysconfig
from concurrent.futures import BrokenExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError

# Compiled modules, and the optimization level of the C compiler: -O2 or -O3 where it gains most, else -O1 with SIMPLE.
# That takes half of the compiler's time; where all modules have it, rewriting takes 6 % longer. The comment is the
# possible gain, counted by valgrind (callgrind): the module's own share (%) of the instructions of a race, where that
# is largest; interpreted, these are 3 to 60 times as many. Modules below 0.5 are here because compiled ones need their
# C functions or classes.
COMPILED = {
    "absolve.core.byte_scan": 2,  # 15.62, CSS
    "absolve.core.column_buffers": 1,  # 4.43, Arrow
    "absolve.core.model": 1,  # 1.87, tiny ones
    "absolve.document.entity": 1,  # 1.83, tiny ones
    "absolve.document.resolved": 1,  # 2.46, tiny ones
    "absolve.document.walk": 1,  # 4.37, tiny ones
    "absolve.encodings.codings": 1,  # 1.58, Arrow
    "absolve.encodings.line_index": 1,  # 3.39, WARC listed
    "absolve.encodings.offset_map": 1,  # 6.02, HAR
    "absolve.formats.css": 2,  # 25.22, CSS
    "absolve.formats.events": 1,  # 2.34, one document
    "absolve.formats.grammars": 1,  # 6.90, pages
    "absolve.formats.headers": 1,  # 3.13, WARC
    "absolve.formats.html.open_elements": 1,  # 1.98, WARC listed
    "absolve.formats.html.page_facts": 1,  # 0, and half of a walk for the table of documents
    "absolve.formats.html.row_text": 1,  # 3.72, Arrow
    "absolve.formats.html.tag": 3,  # 29.44, pages
    "absolve.formats.html.tokenizer": 3,  # 24.94, scan
    "absolve.formats.html.tree_rules": 1,  # 4.04, WARC listed
    "absolve.formats.html.walker": 2,  # 6.14, scan
    "absolve.formats.json.tokens": 1,  # 12.22, HAR
    "absolve.formats.mail.codings": 1,  # 8.00, MHTML
    "absolve.formats.xml.codings": 1,  # 2.31, a feed
    "absolve.formats.xml.tags": 1,  # 3.51, XHTML
    "absolve.formats.xml.walker": 1,  # 5.83, XHTML
    "absolve.inventory.columns": 1,  # 4.10, a site listed
    "absolve.inventory.facts": 1,  # 2.90, Arrow
    "absolve.inventory.link_rows": 1,  # 1.78, a site listed
    "absolve.rewriting.edits": 1,  # 3.17, one document
    "absolve.rewriting.rewriter": 2,  # 10.49, one document
    "absolve.urls.base": 1,  # 1.96, a feed
    "absolve.urls.predicates": 2,  # 8.05, one document
}
SHARED = "absolve.core._cython_shared"  # Cython's own functions, compiled once for all modules

# Hardened as far as compiler and linker can: stack protector, checked string functions, read-only relocations; without
# tables for debuggers. Where it is -O2, all of it: without gcse, tree-pre and schedule-insns2 as many instructions take
# 5 % more time.
COMPILER = "-g0 -fstack-protector-strong -fno-asynchronous-unwind-tables"
SIMPLE = ["-ftree-vectorize", "-finline-functions", "-findirect-inlining"]  # without these, lists take 20 % more
LINUX = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-fno-plt"]  # calls of Python without a jump in between
READ_ONLY = ["-Wl,-z,relro", "-Wl,-z,now"]  # the linker of macOS does not accept them
SANITIZED = "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all".split()
RPATH = ("-rpath", "--rpath", "-R")


class Build(build_ext):
    """Build all extensions or none, because they need each other (C functions and classes)."""

    def finalize_options(self) -> None:
        """Use the build folder of normal installations for editable ones too, to reuse up-to-date extensions."""
        if self.editable_mode:
            usual = build(self.distribution)
            usual.ensure_finalized()
            self.build_lib, self.build_temp = usual.build_lib, usual.build_temp
        super().finalize_options()

    def run(self) -> None:
        """Build, and delete extensions of earlier builds that are no longer built: Python would import them first."""
        try:
            super().run()
        except (CompileError, LinkError, PlatformError):
            self.warn("no C compiler, or no headers of Python: absolve will run interpreted, which is slower")
            self.extensions = []
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        built = {f"{extension.name.replace('.', '/')}{suffix}" for extension in self.extensions}
        for folder in [self.build_lib, *(["src"] if self.inplace else [])]:
            for file in Path(folder).glob(f"absolve/**/*{suffix}"):
                if file.relative_to(folder).as_posix() not in built:
                    file.unlink()

    def build_extensions(self) -> None:
        for name in ("linker_so", "linker_so_cxx"):  # the link command of pyenv's and conda's Pythons contains -rpath
            setattr(self.compiler, name, without_rpath(getattr(self.compiler, name, None) or []))
        os.environ.pop("LD_RUN_PATH", None)
        self.check_compiler()
        translate(self.extensions)
        super().build_extensions()

    def check_compiler(self) -> None:
        """Raise CompileError if there is no compiler, or no header of Python: translating takes much longer."""
        source = Path(self.build_temp, "header.c")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("#include <Python.h>\n", "ascii")
        self.compiler.compile([source.as_posix()], output_dir=self.build_temp)


def without_rpath(words: list[str]) -> list[str]:
    """Return the words of a link command without the run-time library paths (-rpath)."""
    given = iter(words)
    expanded: list[tuple[str, bool]] = []  # and whether it is for the linker, not for the compiler driver
    for word in given:
        if word.startswith("-Wl,"):
            expanded += [(own, True) for own in word.split(",")[1:]]
        else:
            expanded.append((next(given, ""), True) if word == "-Xlinker" else (word, False))
    kept: list[str] = []
    skipped = False
    for word, for_linker in expanded:
        if skipped or word in RPATH:
            skipped = not skipped  # the next word is its value
        elif not word.startswith(("-rpath=", "--rpath=", "-R")):
            kept += ["-Xlinker", word] if for_linker else [word]
    return kept


def extensions() -> list[Extension]:
    """Return the extensions to build; none where absolve is to run interpreted."""
    if os.environ.get("ABSOLVE_PURE") == "1" or not has_cython():
        return []
    compiled = [] if sys.platform == "win32" else COMPILER.split() + (LINUX if sys.platform == "linux" else [])
    linked = READ_ONLY if sys.platform == "linux" else []
    sources = {name: (level, Path("src", *name.split(".")).with_suffix(".py")) for name, level in COMPILED.items()}
    sources[SHARED] = 1, Path("src", *SHARED.split(".")).with_suffix(".c")
    found = []
    for name, (level, source) in sources.items():
        extension = Extension(name, [source.as_posix()], extra_link_args=linked)
        extension.extra_compile_args = [f"-O{level}", *(SIMPLE if level == 1 else []), *compiled] if compiled else []
        if os.environ.get("ABSOLVE_SANITIZE") == "1":
            extension.extra_compile_args = extension.extra_link_args = SANITIZED
        extension.define_macros = [("CYTHON_CLINE_IN_TRACEBACK", "0")]  # tracebacks do not show lines of C anyway
        found.append(extension)
    return found


def has_cython() -> bool:
    try:
        import Cython.Build  # noqa: F401 - found out by importing it
    except ImportError:
        return False
    return True


def translate(wanted: list[Extension]) -> None:
    """Translate the sources to C on every core, unless the same Cython already translated the same sources.

    Contents are compared, not times: pip installs a new Cython for each build, whose files are always newer.
    """
    import Cython
    from Cython.Build import cythonize

    done, found, layout = Path("build", "translated"), hashlib.sha256(), hashlib.sha256()
    for file in [Path(__file__), *sorted(file for file in Path("src").rglob("*.p*") if file.suffix in {".py", ".pxd"})]:
        content = f"{file.name} {file.stat().st_size} ".encode() + file.read_bytes()
        found.update(content)
        if file.suffix == ".pxd":
            layout.update(content)
    all_again = f"{Cython.__version__} {layout.hexdigest()}"  # cythonize misses `from package cimport module`
    stamp = f"{all_again} {found.hexdigest()}"
    before = done.read_text("ascii") if done.is_file() else ""
    made = [Path("build", next(iter(extension.sources))).with_suffix(".c") for extension in wanted]
    if before != stamp or not all(file.is_file() for file in made):
        done.unlink(missing_ok=True)
        options = {
            "build_dir": "build",
            # Without auto_pickle a unit is a tenth less C: what goes to another process has a __reduce__ of its own.
            # Without binding, functions have no __dict__ and no signature, and are compiled in nine tenths of the time.
            "compiler_directives": {
                "language_level": 3, "emit_code_comments": False, "auto_pickle": False, "binding": False
            },
            "force": before.rpartition(" ")[0] != all_again or None,
            "shared_utility_qualified_name": SHARED,
        }
        try:
            cythonize(wanted, nthreads=cores(), **options)
        except (BrokenExecutor, ImportError, NotImplementedError, OSError):  # where processes cannot be started
            cythonize(wanted, **options)
        done.write_text(stamp, "ascii")
    for extension, file in zip(wanted, made, strict=True):
        extension.sources = [str(file)]
        extension.depends = [__file__]  # the flags are in this file


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- the page on PyPI -------------------------------------------------------------------------------------------------

REPOSITORY = "absolve/absolve"
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|mailto:|#)([^)\s]+)\)")


def description() -> str:
    """Return README with absolute links to this version in the repository: relative ones lead nowhere on PyPI."""
    code = Path("src/absolve/__init__.py").read_text("utf-8")
    (version,) = re.findall(r'^__version__ = "(.+?)"', code, re.MULTILINE)

    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        place = "https://raw.githubusercontent.com/{}/v{}" if picture else "https://github.com/{}/blob/v{}"
        return f"{picture}{text}({place.format(REPOSITORY, version)}/{path})"

    parts = re.split(r"(^```.*?^```$)", Path("README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(absolute, part) for part in parts)


if __name__ == "__main__":  # the worker processes of cythonize may import this file
    setup(
        long_description=description(),
        long_description_content_type="text/markdown",
        ext_modules=extensions(),
        cmdclass={"build_ext": Build},
        options={"build_ext": {"parallel": str(cores())}},
    )
