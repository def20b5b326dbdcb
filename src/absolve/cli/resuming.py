"""`--resume`: the path of a run's journal, derived from its inputs and output, and the options for which it is valid.

Input: the options of `absolve rewrite`. Output: an open `Journal`, or None. UsageError if another run uses the files.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve import __version__
from absolve.cli import options as shared
from absolve.core.digest import fingerprint
from absolve.core.errors import UsageError
from absolve.run import buckets, special_files
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from absolve.run.journal import Journal

KEPT: Final = 90 * 24 * 60 * 60  # seconds since its last change after which a journal is deleted

# Options that do not affect the result for one input; the journal has an input's own URL (--url, --url-map) beside it.
_ASIDE: Final = frozenset(
    "color command config errors exclude from_ include inputs jobs log output parser quiet resume url url_map verbose"
    .split()
)


@contextmanager
def list_journal(options: argparse.Namespace, *, keeps_bytes: bool) -> Iterator[Journal | None]:
    """Yield the journal of a list, with --resume. Raise UsageError as `journal`."""
    if not options.resume:
        yield None
        return
    if options.output in {None, special_files.STDOUT} or not keeps_bytes:
        raise UsageError("--resume needs -o FILE in jsonl, json, csv, tsv, md or html")
    if STDIN in options.inputs or not (options.inputs or options.from_):
        raise UsageError("--resume cannot read the standard input (-) again: name files or folders")
    how = repr(_how(options))
    found = _opened(("links", _run(options)), how, "writes the same list", options)
    with nullcontext() if found is None else found:
        yield found


@contextmanager
def journal(options: argparse.Namespace, *, several: bool) -> Iterator[Journal | None]:
    """Yield the journal of a run; None if it writes one file or nothing, or if the journal cannot be opened.

    Raise UsageError if --resume is given and there is no journal, and if the same run is at work.
    """
    if options.resume and getattr(options, "log", None) is not None:
        raise UsageError("--log cannot be continued: what an earlier run changed would be missing; leave out --resume")
    is_kept = several and not options.dry_run and not options.diff
    if options.resume and not is_kept:
        raise UsageError("--resume needs several inputs, and -o FOLDER or --in-place")
    found = _opened(_run(options), _how(options), "is working on the same files", options) if is_kept else None
    with nullcontext() if found is None else found:
        yield found


def _opened(run: tuple[object, ...], how: str, busy: str, options: argparse.Namespace) -> Journal | None:
    """Return the journal of a run, None if there can be none. Raise UsageError if that is so with --resume."""
    import sqlite3  # 1 MB of memory that a run over one file does not need

    from absolve.run.journal import Journal

    place = _folder() / f"{fingerprint(repr(run)).hex()}.sqlite"
    _forget_old(place)
    try:
        return Journal(place, how, resume=options.resume, busy=busy)
    except (OSError, sqlite3.Error) as error:
        if options.resume:
            raise UsageError(f"--resume: the journal {place} cannot be opened: {error}") from error
        return None


def _forget_old(ours: Path) -> None:
    """Remove journals of other runs that have not changed for 90 days."""
    with suppress(OSError):
        for path in ours.parent.glob("*.sqlite*"):  # with the files beside them: -wal, -shm, locks
            if not path.name.startswith(ours.name) and time.time() - path.stat().st_mtime > KEPT:
                path.unlink()


def _folder() -> Path:
    """Return the folder of journals (XDG Base Directory, state; %LOCALAPPDATA% on Windows)."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(given) if given else Path.home() / ".local" / "state") / "absolve"


def _run(options: argparse.Namespace) -> tuple[object, ...]:
    """Return the identity of a run: its inputs and its output."""
    paths = [*options.inputs, options.from_ or "", options.output or ""]
    in_place = getattr(options, "in_place", False)
    real = [path if not path or buckets.is_bucket(path) else os.path.realpath(path) for path in paths]
    return options.from_ is None, in_place, real


def _how(options: argparse.Namespace) -> str:
    given = sorted((name, value) for name, value in vars(options).items() if name not in _ASIDE)
    return repr((__version__, given, [Path(name).read_bytes() for name in shared.rule_tables(options)]))
