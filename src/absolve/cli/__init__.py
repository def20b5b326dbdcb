"""Command line: `main`, from arguments to an exit status.

`--version` is handled before the commands and their dependencies are imported.
"""

from __future__ import annotations

import gc
import sys

from absolve import __version__

TYPE_CHECKING = False  # as in absolve/__init__.py
if TYPE_CHECKING:
    from collections.abc import Sequence

# DuckDB 2.0 uses nanobind, which reports every object of its own that the collector has not freed at exit as a leak.
_AUDITED = "_duckdb"

_VERSIONS = (["--version"], ["-V"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: for example, `main(["links", "page.html"])`.

    0: all well; 1: a check found something; 2: usage error; 3: an input or an output failed; 141: the reader closed the
    output pipe; 130, 143 or 129: ended by SIGINT, SIGTERM or SIGHUP (128 + signal number, as in shells).
    """
    alone = argv is None and gc.isenabled()  # the process has no other purpose
    arguments = sys.argv[1:] if argv is None else list(argv)
    if alone:
        gc.disable()  # during imports: they leave no garbage, and a collection takes longer than rewriting a page
    try:
        if arguments in _VERSIONS:
            try:
                print(version(), flush=True)
            except OSError:
                pass  # the run reports it
            else:
                return 0
        if alone:
            _import_argparse()
        from absolve.cli.running import run

        return run(arguments, alone=alone)
    except KeyboardInterrupt as error:
        return 128 + getattr(error, "number", 2)
    finally:
        if alone:
            if _AUDITED not in sys.modules:
                gc.freeze()  # skip the last collection: 0.9 of the 4.3 ms of interpreter shutdown
            gc.enable()


def _import_argparse() -> None:
    """Import argparse without gettext, which takes 3 % of a run over one page: all messages are in English."""
    if "gettext" in sys.modules or "argparse" in sys.modules:
        return
    sys.modules["gettext"] = english = type(sys)("gettext")
    vars(english)["gettext"] = lambda text: text  # None stays None: a group without a description
    vars(english)["ngettext"] = lambda one, several, number: one if number == 1 else several
    try:
        import argparse  # noqa: F401 - it keeps the two functions
    finally:
        del sys.modules["gettext"]


def version() -> str:
    """Return the version and the kind of installation, for example `absolve 0.1.0 (compiled)`."""
    return f"absolve {__version__} ({'compiled' if is_compiled() else 'interpreted'})"


def is_compiled() -> bool:
    """Return whether the tokenizer, and so every module in setup.py's list, is compiled; without importing it."""
    from importlib.machinery import ExtensionFileLoader, PathFinder

    folder = f"{__path__[0]}/../formats/html"
    found = PathFinder.find_spec("absolve.formats.html.tokenizer", [folder])
    return found is not None and isinstance(found.loader, ExtensionFileLoader)
