"""The requests of an audit (`--live`).

Input: the options, the working tables of an audit. Output: all answers; a WARC with the new ones.
"""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.audit import answered, live, running
from absolve.cli import asking
from absolve.cli.totals import number
from absolve.run import outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.audit.answers import Answer
    from absolve.cli.option_table import Options
    from absolve.run.results import RunContext
    from absolve.run.web.exchange import Answer as Answered

ANSWERS: Final = "answers.warc"
_EVERY: Final = 5.0  # seconds between lines about progress
_FRESH: Final = timedelta(days=1)  # a link that worked is requested again a day later


def request_answers(
    kinds: str, connection: Any, known: answered.Answers, options: Options, context: RunContext, folder: str
) -> Iterator[Answer]:
    """Yield the answers of servers for links of these kinds, and recent ones for working links from --save."""
    given = [] if options.is_url_found else [options.url]
    how = asking.request_options(options).with_origins([*options.named, *given, *options.old_urls])
    saved = Path(options.save) if options.save is not None else None
    earlier = list(_fresh(saved, options, context)) if saved is not None and saved.is_file() else []
    known.add(earlier)
    requests = live.wanted(connection, kinds, known)
    if earlier and not options.quiet:
        text = f"{saved}: {number(len(earlier), 'answer')} of the last day: not asked for again"
        context.reports.note("answers", text)
    if not requests:
        return
    if not given and not options.quiet:
        text = f"{options.url} is of a file that was found, not named: it gets no secrets, and no private host is asked"
        context.reports.note("ignored-option", f"{text} (--url names it)")
    path = saved or Path(folder) / ANSWERS
    with _writing(path, saved) as file:
        from absolve.run.web.exchange import Writer

        writer = Writer(file, compressed=path.suffix == ".gz")
        size = file.tell()

        def keep(answer: Answered) -> None:
            nonlocal size
            writer.add(answer)
            size = file.tell()

        interruption: KeyboardInterrupt | None = None
        try:
            live.ask(requests, how, keep, _progress(len(requests), quiet=options.quiet))
            if not options.quiet:
                context.reports.note("asked", f"{number(len(requests), 'URL')} that links and maps name")
        except KeyboardInterrupt as error:
            interruption = error
            file.seek(size)  # the last record may be cut
            file.truncate()
    if interruption is not None:
        if saved is not None and not options.quiet:
            text = f"{saved}: those that came so far are saved: the next run asks for the others"
            context.reports.note("answers", text)
        raise interruption
    yield from running.read_answers(str(path), options, context)


@contextmanager
def _writing(path: Path, saved: Path | None) -> Iterator[IO[bytes]]:
    """Yield the file to which records are added: an existing one is complete or unchanged."""
    if saved is None:
        with path.open("wb") as file:
            yield file
        return
    with outputs.writing(path) as file:
        if path.is_file():
            with path.open("rb") as old:
                shutil.copyfileobj(old, file)
        yield file


def _fresh(path: Path, options: Options, context: RunContext) -> Iterator[Answer]:
    """Yield the answers in a file that need no new request: they work, and are not older than a day."""
    found = answered.Answers(running.read_answers(str(path), options, context))
    now = datetime.now(UTC)
    for one in found:
        word = found.verdict(one.url)
        if word is not None and word[0] in {answered.WORKS, answered.REDIRECTED} and now - _date(one.date) < _FRESH:
            yield one


def _date(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _progress(total: int, *, quiet: bool) -> Callable[[int], None]:
    """Return a function that prints the number of answered URLs every few seconds."""
    last = time.monotonic()

    def done(count: int) -> None:
        nonlocal last
        if not quiet and time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            print(f"absolve: {count:,} of {number(total, 'URL')} answered so far", file=sys.stderr)

    return done
