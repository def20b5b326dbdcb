"""Compiles the modules that gain by it, where there is a compiler; everything else stands in pyproject.toml.

The sources are plain Python: where Cython or a compiler is missing, and with ABSOLVE_PURE=1, they run interpreted.
ABSOLVE_SANITIZE=1 compiles them so that they watch over what they do, as .ci/sanitize wants it.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

COMPILED = (  # modules that run once a byte or once a link; one that is not there yet is passed over
    "absolve.model",
    "absolve.archives",
    "absolve.arrow",
    "absolve.bases",
    "absolve.buffers",
    "absolve.character_references",
    "absolve.characters",
    "absolve.charsets",
    "absolve.codings",
    "absolve.edits",
    "absolve.entity",
    "absolve.events",
    "absolve.formats.css",
    "absolve.formats.grammars",
    "absolve.formats.headers",
    "absolve.formats.html",
    "absolve.formats.html_attributes",
    "absolve.formats.html_bytes",
    "absolve.formats.html_foreign",
    "absolve.formats.html_open_tables",
    "absolve.formats.html_raw_text",
    "absolve.formats.html_scanner",
    "absolve.formats.html_tree",
    "absolve.formats.html_text",
    "absolve.formats.html_values",
    "absolve.formats.http",
    "absolve.formats.http_bare",
    "absolve.formats.http_responses",
    "absolve.formats.warc",
    "absolve.formats.warc_ahead",
    "absolve.formats.warc_headers",
    "absolve.formats.warc_members",
    "absolve.formats.warc_records",
    "absolve.formats.warc_window",
    "absolve.formats.json_ld",
    "absolve.formats.json_values",
    "absolve.formats.xml",
    "absolve.formats.xml_codings",
    "absolve.formats.xml_bounds",
    "absolve.formats.xml_names",
    "absolve.formats.xml_shortened",
    "absolve.formats.xml_tags",
    "absolve.formats.xml_values",
    "absolve.growing",
    "absolve.inventory",
    "absolve.judging",
    "absolve.kinds",
    "absolve.layers",
    "absolve.library",
    "absolve.offsets",
    "absolve.packed",
    "absolve.parts",
    "absolve.policy",
    "absolve.positions",
    "absolve.prescan",
    "absolve.records",
    "absolve.resolvers.appending",
    "absolve.resolvers.comparison",
    "absolve.resolvers.references",
    "absolve.resolvers.rfc1808",
    "absolve.resolvers.rfc3986",
    "absolve.resolvers.urls",
    "absolve.resolved",
    "absolve.rewriting",
    "absolve.ruled",
    "absolve.scopes",
    "absolve.seek",
    "absolve.slots",
    "absolve.tags",
    "absolve.walk",
    "absolve.writing",
)

SANITIZED = "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"


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


setup(ext_modules=extensions(), options={"build_ext": {"parallel": str(os.cpu_count() or 1)}})
