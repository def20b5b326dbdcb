"""The command line: `main`, and the table of commands, one module each. `--version` is answered before all else."""

from __future__ import annotations

import gc
import sys

from absolve._version import __version__

TYPE_CHECKING = False  # as in absolve/__init__.py
if TYPE_CHECKING:
    from collections.abc import Sequence

# Command -> what it does; the module of the same name has EPILOG, configure(parser) and run(options, report).
COMMANDS = {
    "rewrite": "write documents with every link made absolute",
    "links": "list every link with its base, its absolute URL and what is wrong with it",
    "base": "show which base URL rules a document, and why",
    "verify": "prove by an independent parser that a rewrite changed nothing but links",
    "browser": "list what a browser, Chromium, resolves every link of pages to, or compare",
    "resolve": "resolve references against a base URL, without any document",
    "config": "show which options hold here, and what says so",
    "completion": "print a script that lets a shell complete absolve's commands and options",
}

# DuckDB 2.0 is bound by nanobind, which reports each of its objects that the collector has not freed at exit as a leak.
_AUDITED = "_duckdb"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 done; 1 done, but some inputs failed or a check found something; 2 used wrongly; 141 nobody reads the output any
    more; 130, 143 or 129 ended by SIGINT, SIGTERM or SIGHUP (128 + its number, as shells count).
    """
    alone = argv is None and gc.isenabled()  # nobody called us but the interpreter
    arguments = sys.argv[1:] if argv is None else list(argv)
    if alone:
        gc.disable()  # for a start: nothing that is imported is garbage, and to look for it takes longer than a page
    try:
        if arguments == ["--version"]:
            print(version())
            return 0
        from absolve.cli.running import run

        return run(arguments, alone=alone)
    except KeyboardInterrupt as error:
        return 128 + getattr(error, "number", 2)
    finally:
        if alone:
            if _AUDITED not in sys.modules:
                gc.freeze()  # no last collection before the process ends: 0.9 of the 4.3 ms that its end takes
            gc.enable()


def version() -> str:
    """Return the version, and whether absolve is compiled."""
    return f"absolve {__version__} ({'compiled' if is_compiled() else 'interpreted'})"


def is_compiled() -> bool:
    """Return whether the tokenizer is compiled, and with it all that setup.py compiles, without importing it."""
    from importlib.machinery import ExtensionFileLoader, PathFinder

    folder = f"{__path__[0]}/../formats/html"
    found = PathFinder.find_spec("absolve.formats.html.tokenizer", [folder])
    return found is not None and isinstance(found.loader, ExtensionFileLoader)
