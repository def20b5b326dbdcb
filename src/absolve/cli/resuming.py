"""`--resume`: where the journal of a rewrite is kept, and which options its word holds for."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve._version import __version__
from absolve.core.digest import fingerprint
from absolve.core.errors import DocumentError, UsageError
from absolve.run import inputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from absolve.run.journal import Journal
    from absolve.run.overlaps import Reach

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


@contextmanager
def journal(options: argparse.Namespace, token: str, *, several: bool) -> Iterator[Journal | None]:
    """The journal of a run; none where it writes one file, or nothing, or has no place for a journal.

    UsageError where there can be none, and it was asked for, and where another run is at work on the same files.
    """
    if not several or options.dry_run or options.diff:
        if options.resume:
            raise UsageError("--resume goes with several inputs, and -o FOLDER or --in-place")
        yield None
        return
    place = _folder() / f"{fingerprint(repr(_run(options))).hex()}.sqlite"
    found = _opened(place, options, token)
    if found is None:
        yield None
        return
    from absolve.run import overlaps

    with found, overlaps.announced(place, _reach(options)) as other:
        if other is not None:
            raise UsageError(f"another run is at work on some of the same files (its journal is {other})")
        yield found


def _opened(place: Path, options: argparse.Namespace, token: str) -> Journal | None:
    import sqlite3  # a megabyte that one file does not need

    from absolve.run.journal import Journal

    _forget_old(place)
    try:
        return Journal(place, _how(options), token, resume=options.resume)
    except (OSError, sqlite3.Error) as error:
        if options.resume:
            raise UsageError(f"--resume: there can be no journal at {place}: {error}") from error
        return None


def _reach(options: argparse.Namespace) -> Reach:
    """What a run reads and writes; of a list only where it can be read twice."""
    from absolve.run import overlaps

    listed: Iterable[str] = ()
    if options.from_ is not None and Path(options.from_).is_file():
        listed = inputs.read_list(options.from_)
    try:
        return overlaps.reach(chain(options.inputs, listed), None if options.in_place else options.output)
    except DocumentError:  # the run will say it
        return overlaps.reach(options.inputs, None if options.in_place else options.output)


def _forget_old(ours: Path) -> None:
    """Remove the journals of other runs that nobody went on with for long: most of their inputs are gone, too."""
    with suppress(OSError):
        for path in ours.parent.glob("*.sqlite*"):  # with what SQLite and runs write beside them
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
