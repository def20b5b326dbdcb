"""Compiles the modules that gain by it, where there is a compiler; everything else stands in pyproject.toml.

The sources are plain Python: where Cython or a compiler is missing, and with ABSOLVE_PURE=1, they run interpreted.
ABSOLVE_SANITIZE=1 compiles them so that they watch over what they do, as .ci/sanitize wants it.

Extensions are hardened as far as compiler and linker can: stack protector, checked string functions, relocations that
are read-only once the extension is loaded. No path of the machine that builds them is searched for libraries.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

COMPILED = (  # modules that run once a byte or once a link; one that is not there yet is passed over
    "absolve.api",
    "absolve.core.byte_builder",
    "absolve.core.byte_scan",
    "absolve.core.column_buffers",
    "absolve.core.model",
    "absolve.document.base_layers",
    "absolve.document.entity",
    "absolve.document.resolved",
    "absolve.document.walk",
    "absolve.encodings.character_references",
    "absolve.encodings.charsets",
    "absolve.encodings.codings",
    "absolve.encodings.line_index",
    "absolve.encodings.meta_prescan",
    "absolve.encodings.multibyte",
    "absolve.encodings.offset_map",
    "absolve.formats.css.walker",
    "absolve.formats.events.event_list",
    "absolve.formats.events.packed_edits",
    "absolve.formats.events.packed_records",
    "absolve.formats.events.parts",
    "absolve.formats.events.scoped_bases",
    "absolve.formats.events.slots",
    "absolve.formats.events.templates",
    "absolve.formats.grammars",
    "absolve.formats.headers",
    "absolve.formats.html.attributes",
    "absolve.formats.html.foreign",
    "absolve.formats.html.names_lookup",
    "absolve.formats.html.raw_text",
    "absolve.formats.html.row_text",
    "absolve.formats.html.tokenizer",
    "absolve.formats.html.tree_rules",
    "absolve.formats.html.tree_tables",
    "absolve.formats.html.values",
    "absolve.formats.html.walker",
    "absolve.formats.http.linkless",
    "absolve.formats.http.responses",
    "absolve.formats.http.walker",
    "absolve.formats.json.json_ld",
    "absolve.formats.json.tokens",
    "absolve.formats.warc.gzip_members",
    "absolve.formats.warc.headers",
    "absolve.formats.warc.reader",
    "absolve.formats.warc.reader_window",
    "absolve.formats.warc.walker",
    "absolve.formats.xml.codings",
    "absolve.formats.xml.limits",
    "absolve.formats.xml.names",
    "absolve.formats.xml.shortened",
    "absolve.formats.xml.tags",
    "absolve.formats.xml.values",
    "absolve.formats.xml.walker",
    "absolve.inventory.arrow_batches",
    "absolve.inventory.columns",
    "absolve.inventory.facts",
    "absolve.inventory.problems",
    "absolve.inventory.tag_text",
    "absolve.rewriting.edits",
    "absolve.rewriting.encode",
    "absolve.rewriting.policy",
    "absolve.rewriting.rewriter",
    "absolve.run.archive_segments",
    "absolve.urls.base",
    "absolve.urls.compare",
    "absolve.urls.parse",
    "absolve.urls.predicates",
    "absolve.urls.prefixing",
    "absolve.urls.rfc1808",
    "absolve.urls.rfc3986",
)

PROTECTED = ["-fstack-protector-strong"]
FORTIFIED = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
READ_ONLY = ["-Wl,-z,relro", "-Wl,-z,now"]  # GNU ld, gold, lld and mold take them; that of macOS does not
RPATH = ("-rpath", "--rpath", "-R")
PROBE = "int probe(int number) { return number; }\n"
UNFORTIFIED = "#if _FORTIFY_SOURCE > 1\n#error\n#endif\n"  # distributions have compilers that do it unasked
SANITIZED = "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"


class Build(build_ext):
    """Builds extensions that are hardened, and do not look for libraries where Python's builder had them."""

    def build_extensions(self) -> None:
        """Add the flags that work here to those of every extension, and build them all."""
        if self.compiler.compiler_type == "unix" and os.environ.get("ABSOLVE_SANITIZE") != "1":
            # pyenv, conda and others have -rpath among the words that Python itself was linked with.
            for name in ("linker_so", "linker_so_cxx"):
                setattr(self.compiler, name, without_rpath(getattr(self.compiler, name, None) or []))
            os.environ.pop("LD_RUN_PATH", None)
            compiled = PROTECTED if self.takes(PROBE, PROTECTED) else []
            compiled = compiled + FORTIFIED if self.takes(UNFORTIFIED + PROBE, []) else compiled
            linked = READ_ONLY if self.takes(PROBE, [], READ_ONLY) else []
            for extension in self.extensions:
                extension.extra_compile_args = [*extension.extra_compile_args, *compiled]
                extension.extra_link_args = [*extension.extra_link_args, *linked]
        super().build_extensions()

    def takes(self, code: str, compiled: list[str], linked: Sequence[str] = ()) -> bool:
        """Return whether compiler and linker make a library of the code with these flags."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text(code, "utf-8")
            try:
                flags = ["-O3", "-Werror", *compiled]  # clang only warns of a flag that it does not know
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=flags)
                self.compiler.link_shared_object(objects, str(Path(folder, "probe.so")), extra_postargs=list(linked))
            except (CompileError, LinkError):
                return False
        return True


def without_rpath(words: list[str]) -> list[str]:
    """Return the words of a linker's command without those that say where libraries are looked for at run time."""
    given = iter(words)
    expanded: list[tuple[str, bool]] = []  # and whether it is for the linker, not for the compiler that calls it
    for word in given:
        if word.startswith("-Wl,"):
            expanded += [(own, True) for own in word.split(",")[1:]]
        else:
            expanded.append((next(given, ""), True) if word == "-Xlinker" else (word, False))
    kept: list[str] = []
    skipped = False
    for word, for_linker in expanded:
        if skipped or word in RPATH:
            skipped = not skipped  # its value is the next word
        elif not word.startswith(("-rpath=", "--rpath=", "-R")):
            kept += ["-Xlinker", word] if for_linker else [word]
    return kept


def extensions() -> list[Extension]:
    """The extensions to build, each of them optional: one that does not compile leaves its module interpreted."""
    if os.environ.get("ABSOLVE_PURE") == "1":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    sources = {name: Path("src", *name.split(".")).with_suffix(".py") for name in COMPILED}
    flags = [] if sys.platform == "win32" else ["-O3", "-g0"]
    watched = SANITIZED.split() if os.environ.get("ABSOLVE_SANITIZE") == "1" else []
    wanted = [
        Extension(name, [source.as_posix()], extra_compile_args=watched or flags, extra_link_args=watched)
        for name, source in sources.items()
        if source.is_file()
    ]
    built: list[Extension] = cythonize(wanted, build_dir="build", compiler_directives={"language_level": 3})
    for extension in built:
        extension.optional = True  # cythonize() does not hand this on
    return built


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": Build},
    options={"build_ext": {"parallel": str(os.cpu_count() or 1)}},
)
