"""`--resume`: the state of a run, where it is kept until the run is complete, and the options for which it is valid.

In: the options of `absolve rewrite`, `links` or `documents`. Out: an open `State`, or None.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve import __version__
from absolve.cli import options as shared
from absolve.core.caching import fingerprint
from absolve.core.errors import UsageError
from absolve.run import buckets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.run.state import State

# Options that do not affect the result for one input; the state has an input's own URL (--url, --url-map) beside it.
_ASIDE: Final = frozenset(
    "color command config exclude from_ include inputs jobs log output quiet resume url url_map verbose"
    .split()
)


@contextmanager
def state(options: Options, report: Report, *, kept: bool, lists: bool = False) -> Iterator[State | None]:
    """Yield the state of a run; None for one that is not `kept`, or where none can be. Remove it when all is done.

    Raise UsageError if the same run is at work, and with --resume if the state cannot be opened, or files would be
    rewritten in place again.
    """
    found = _opened(options, lists=lists) if kept else None
    if found is None:
        yield None
        return
    with closing(found):
        yield found
    if found.skipped and not options.quiet:
        print(f"absolve: {found.skipped:,} skipped: done by an earlier run", file=sys.stderr)
    if not report.failures:
        from absolve.run.state import removed

        removed(found.path)


def _opened(options: Options, *, lists: bool) -> State | None:
    import sqlite3  # 1 MB of memory that a run over one file does not need

    from absolve.run.state import State

    path = _folder() / f"{fingerprint(repr(_run(options))).hex()}.sqlite"
    if options.resume and options.in_place and not path.exists():
        raise UsageError("--resume: no run over these inputs was interrupted, or has failures: leave --resume out")
    try:
        return State(path, _how(options), resume=options.resume, lists=lists)
    except (OSError, sqlite3.Error) as error:
        if options.resume:
            raise UsageError(f"--resume: the state {path} of the run cannot be opened: {error}") from error
        return None


def _folder() -> Path:
    """Return the folder of states (XDG Base Directory; %LOCALAPPDATA% on Windows)."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(given) if given else Path.home() / ".local" / "state") / "absolve"


def _run(options: Options) -> tuple[object, ...]:
    """Return the identity of a run: its command, its inputs and its output."""
    paths = [*options.inputs, options.from_ or "", options.output or ""]
    real = [path if not path or buckets.is_bucket(path) else os.path.realpath(path) for path in paths]
    return options.command, options.from_ is None, options.in_place, real


def _how(options: Options) -> str:
    given = sorted((name, value) for name, value in vars(options).items() if name not in _ASIDE)
    return repr((__version__, given, [Path(name).read_bytes() for name in shared.rule_tables(options)]))
