"""`--resume`: where the journal of a rewrite is kept, and which options its word holds for."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve._version import __version__
from absolve.errors import UsageError
from absolve.fingerprints import fingerprint

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from absolve.engine.journal import Journal

KEPT: Final = 90 * 24 * 60 * 60  # seconds for which a journal that nobody writes to is kept

# Options that say nothing of what one input becomes; what --url and the like say of it stands with it.
_ASIDE: Final = frozenset(
    "command config errors exclude from_ include inputs jobs mirror_layout output parser"
    " quiet resume run show_credentials url url_map verbose".split()
)


def add_resume(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--resume",
        action="store_true",
        help="go on where an earlier run with the same inputs and output ended or was killed: what is done, and"
        " changed neither there nor in the options, is not done again",
    )


def journal(options: argparse.Namespace, token: str, *, several: bool) -> AbstractContextManager[Journal | None]:
    """The journal of a run; none where it writes one file, or nothing, or has no place for a journal.

    UsageError where there can be none, and it was asked for.
    """
    if not several or options.dry_run or options.diff:
        if options.resume:
            raise UsageError("--resume goes with several inputs, and -o FOLDER or --in-place")
        return nullcontext()
    import sqlite3  # a megabyte that one file does not need

    from absolve.engine.journal import Journal

    place = _folder() / f"{fingerprint(repr(_run(options))).hex()}.sqlite"
    _forget_old(place)
    try:
        return Journal(place, _how(options), token, resume=options.resume)
    except (OSError, sqlite3.Error) as error:
        if options.resume:
            raise UsageError(f"--resume: there can be no journal at {place}: {error}") from error
        return nullcontext()


def _forget_old(ours: Path) -> None:
    """Remove the journals of other runs that nobody went on with for long: most of their inputs are gone, too."""
    with suppress(OSError):
        for path in ours.parent.glob("*.sqlite*"):  # with what SQLite writes beside them
            if not path.name.startswith(ours.name) and time.time() - path.stat().st_mtime > KEPT:
                path.unlink()


def _folder() -> Path:
    """Where programs keep what they did last (XDG Base Directory; the profile's local part on Windows)."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(given) if given else Path.home() / ".local" / "state") / "absolve"


def _run(options: argparse.Namespace) -> tuple[object, ...]:
    """What makes a run the same one: its inputs, and where their results go."""
    paths = [*options.inputs, options.from_ or "", options.output or ""]
    return options.from_ is None, options.in_place, [path and os.path.realpath(path) for path in paths]


def _how(options: argparse.Namespace) -> str:
    given = sorted((name, value) for name, value in vars(options).items() if name not in _ASIDE)
    rules = Path(options.remap_file).read_bytes() if options.remap_file else b""
    return repr((__version__, given, rules))
