"""Run tasks over the inputs of a run: their results in order, and reports of diagnostics and failures.

Input: a function, items, `Reports`. Output: pairs of an item and a result, and an `End` after the last result of each
item. Results can be pickled to go from a worker process to the parent. The command line has reports of its own; the
library has `Collected`.
"""

from __future__ import annotations

from collections import deque
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from absolve.core import printable
from absolve.core.errors import FAULTS, NOTES, Diagnostic, DocumentError, internal
from absolve.document.reporting import report
from absolve.rewriting.policy import absolute
from absolve.run import inputs, interrupts, outputs
from absolve.run.folders import Globs
from absolve.run.output_folder import LinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from contextlib import AbstractContextManager
    from pathlib import Path

    from absolve.core.options import OnDiagnostic
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Remapping
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.outputs import WrittenFile
    from absolve.run.workers import Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE: Final = 8  # threads that call fsync
AHEAD: Final = 256  # maximum number of results that wait for the disk


class Failure(NamedTuple):
    """Failure of an input or its output; `excerpt` is the line of the document where it occurred."""

    diagnostic: Diagnostic
    excerpt: str = ""

    @property
    def error(self) -> DocumentError:
        return DocumentError(self.diagnostic, self.excerpt)


class RowChunk(NamedTuple):
    """Rows of a table encoded for the sink, or not encoded if the parent needs their values; and their number."""

    chunk: Any
    number: int
    table: str = "links"


class StdoutBytes(NamedTuple):
    """Bytes for the standard output."""

    data: bytes


class FilesReady(NamedTuple):
    """Complete files, to be flushed to the disk and renamed, in this order."""

    files: tuple[WrittenFile, ...]


class BytesRead(NamedTuple):
    """Number of bytes read from the input, and of the documents in it: records, if it is an archive."""

    read: int
    documents: int = 0


class LinkCounts(NamedTuple):
    """Listed links of an input: their number by scope and by problem code."""

    scopes: dict[str, int]
    problems: dict[str, int]


class ChangeCounts(NamedTuple):
    """Links of an input, links among them that a rewrite changes, and documents with such links.

    `rules` are the numbers of the rules (--remap) that mapped a link. `companions` counts links that stay because they
    lead to files that were saved with their document.
    """

    links: int
    changed: int
    documents: int
    rules: frozenset[int] = frozenset()
    companions: int = 0


class HostsLeft(NamedTuple):
    """How often a rewritten document still names hosts that rules replace: by kind, as mentions, and by host."""

    kinds: dict[str, int]
    hosts: dict[str, int]


class Mentioned(NamedTuple):
    """The mentions of old URLs that a rewrite changes, with the columns of `changes`."""

    rows: Any


class LogRows(NamedTuple):
    """Changes of a rewrite, with the columns of `changes`."""

    rows: Any


Counts = BytesRead | LinkCounts | ChangeCounts | HostsLeft | Mentioned
TaskResult = Diagnostic | Failure | RowChunk | StdoutBytes | FilesReady | LogRows | Counts


def counted(name: str, counts: ChangeCounts) -> Iterator[TaskResult]:
    """Yield the line for an input of a run without output, and its counts: see `ChangeCounts`."""
    links = printable.number(counts.links, "link")
    line = f"{printable.printable(name)}: {links}, {counts.changed:,} would change\n"
    yield StdoutBytes(line.encode())
    yield counts


def rules_of(policy: Policy) -> Remapping | None:
    """Return the rules that a policy applies; None without rules."""
    if policy is absolute:
        return None
    from absolve.rewriting.remap import remapping_of  # here, because few runs have rules

    return remapping_of(policy)


def met_by(policy: Policy) -> frozenset[int]:
    """Return the numbers of the rules of a policy that mapped a URL since the last call, and SELECTED."""
    sets: list[set[int]] = [one.met for one in (rules_of(policy), policy) if one is not None and hasattr(one, "met")]
    met = frozenset[int]().union(*sets)
    for numbers in sets:
        numbers.clear()
    return met


SELECTED: Final = -1  # in the place of a rule: a link that --kind, --scope or --problem selects


def guarded(name: str, pieces: Iterable[TaskResult], *, strict: bool = False) -> Iterator[TaskResult]:
    """Yield the results of a task; an error, internal ones included, becomes a final Failure.

    `strict`: raise internal errors.
    """
    try:
        yield from pieces
    except DocumentError as error:
        yield Failure(error.diagnostic, error.excerpt)
    except (OSError, ImportError) as error:  # with too many open files further imports fail
        text = getattr(error, "strerror", None) or str(error).rpartition(": ")[2]
        yield Failure(Diagnostic("unreadable", text, name))
    except FAULTS as error:
        if strict:
            raise
        yield Failure(internal(error, name))


def unwritable(path: Path | str, error: OSError) -> DocumentError:
    """Return the error for an output that cannot be written."""
    code = "outside" if isinstance(error, LinkError) else "unwritable"
    return DocumentError(Diagnostic(code, error.strerror or str(error), str(path)))


class End(NamedTuple):
    """The end of an item's results; `lost` is the reason why all are missing if its worker process ended."""

    lost: str | None = None


def in_order(
    work: Callable[[Item], Iterable[Result]], items: Iterable[Item], jobs: int, size_of: Callable[[Item], int]
) -> Generator[tuple[Item, Result | End]]:
    """Yield each result of `work(item)`, item by item in their order, and an `End` after each item.

    With one job the work is done in this process; else in `jobs` others, and `work`, items and results must be
    picklable; `size_of` returns the bytes of an item. Closing the iterator ends the processes at once. A worker that
    dies loses only its current item. Raise UsageError if no worker starts.
    """
    if jobs > 1:
        pool: Pool[Item, Result] | None = None
        try:
            with interrupts.deferred():  # a signal in an import may be printed, and lost
                from absolve.run.workers import Pool  # and with it multiprocessing and threads: one page needs none

                pool = Pool(work, jobs, size_of)
            yield from pool.run(items)
        finally:
            if pool is not None:
                with interrupts.deferred():
                    pool.close()
        return
    for item in items:
        for result in work(item):
            yield item, result
        yield item, End()


# --- flushing files to the disk ---------------------------------------------------------------------------------------


def flushed(results: Iterable[tuple[Item, Any]]) -> Generator[tuple[Item, Any]]:
    """Yield all results in order; `FilesReady` when its files are on the disk, or a `Failure` if that fails.

    Meanwhile more results are requested, and their files are flushed by other threads. The first file of a run needs
    no thread.
    """
    threads: Executor | None = None
    waiting: deque[tuple[Item, Any, Future[FilesReady | Failure] | None]] = deque()
    is_first = True
    try:
        for item, piece in results:
            if not (isinstance(piece, FilesReady) and piece.files):
                waiting.append((item, piece, None))
            elif is_first:
                is_first = False
                waiting.append((item, _flushed(piece), None))
            else:
                threads = threads or _threads()
                waiting.append((item, piece, threads.submit(_flushed, piece)))
            while waiting and (len(waiting) > AHEAD or waiting[0][2] is None or waiting[0][2].done()):
                yield _ended(*waiting.popleft())
        while waiting:
            yield _ended(*waiting.popleft())
    finally:
        if threads is not None:
            threads.shutdown(cancel_futures=True)


def _ended(item: Item, piece: Any, call: Future[FilesReady | Failure] | None) -> tuple[Item, Any]:
    return item, piece if call is None else call.result()


def _threads() -> Executor:
    with interrupts.deferred():  # a signal in an import may be printed, and lost
        from concurrent.futures import ThreadPoolExecutor  # imports logging

        return ThreadPoolExecutor(AT_ONCE)


def _flushed(ready: FilesReady) -> FilesReady | Failure:
    """Flush files to the disk; if that fails, remove them."""
    try:
        with discarding(ready, ready.files[-1].target):
            _flush(ready)
    except DocumentError as error:
        return Failure(error.diagnostic)
    return ready


def put(ready: FilesReady) -> None:
    """Rename files on the disk to their targets. Raise OSError, before any is renamed if one may not be replaced."""
    for file in ready.files:
        file.check()
    for file in ready.files:
        outputs.put(file)


@contextmanager
def discarding(ready: FilesReady, name: str) -> Iterator[None]:
    """Remove the files if the block fails; raise DocumentError with the name of the output for an OSError."""
    try:
        yield
    except BaseException as error:
        for file in ready.files:
            outputs.discard(file)
        if isinstance(error, OSError):
            raise unwritable(name, error) from error
        raise


def settle(ready: FilesReady, name: str) -> None:
    """Flush files to the disk and rename them. If that fails remove them, and raise DocumentError with this name."""
    with discarding(ready, name):
        _flush(ready)
        put(ready)


def _flush(ready: FilesReady) -> None:
    for file in ready.files:
        outputs.flush(file)


# --- a run ------------------------------------------------------------------------------------------------------------


class Reports(Protocol):
    """The receiver of a run's reports.

    `failures` has the first failure of each input. `read` are files that are read as something else, such as the map of
    an audit in its site. `input` is the name of the current input, to which failures are attributed.
    """

    failures: dict[str, Diagnostic]
    read: set[Path]
    input: str | None

    def finding(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic that does not end the work on an input; if it has `failed` set, its input failed."""

    def aside(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic without attributing it to the current input."""

    def failure(self, error: DocumentError) -> None:
        """Report that an input or its output failed: the run continues with the next input."""

    def note(self, code: str, text: str) -> None:
        """Report a line that needs no action."""

    def guard(self, name: str) -> AbstractContextManager[None]:
        """Report errors that the block raises as failures of the input `name`; the run continues."""


class RunContext(NamedTuple):
    """The context of a run: its reports, how inputs are read, functions to run tasks and find inputs, processes.

    `run(work, items, input_of)` yields as `reported` does; `small=True` if one process does the work before others have
    started. `found(names, url, plain=False, follow=True)` yields the inputs for names; `plain`: without the lists,
    tables of URLs and globs of the run.
    """

    reports: Reports
    reading: ReadOptions
    run: Callable[..., Generator[tuple[Any, Any]]]
    found: Callable[..., Iterator[Input]]
    jobs: int = 1


def reported(
    work: Callable[[Item], Iterable[TaskResult]],
    items: Iterable[Item],
    input_of: Callable[[Item], Input],
    jobs: int,
    reports: Reports,
) -> Generator[tuple[Item, Any]]:
    """Run a task on all items; report diagnostics and failures, and yield the other results and each `End`, in order.

    The reports leave an input after its last result was taken.
    """
    with (
        closing(in_order(work, items, jobs, lambda item: input_of(item).size)) as done,
        closing(flushed(done)) as pieces,
    ):
        for item, piece in pieces:
            interrupts.check()
            reports.input = input_of(item).name
            if isinstance(piece, Diagnostic):
                reports.finding(piece)
            elif isinstance(piece, Failure):
                reports.failure(piece.error)
            else:
                if isinstance(piece, End) and piece.lost:
                    reports.failure(DocumentError(Diagnostic("lost", piece.lost, reports.input)))
                yield item, piece
            reports.input = None


class Collected:
    """The reports of a library function: all diagnostics are kept, and passed to `notify`.

    Without `notify` each is a warning, unless it needs no action. `named` replaces the name in a diagnostic by the
    caller's name for the input.
    """

    def __init__(self, notify: OnDiagnostic | None, named: Callable[[Diagnostic], Diagnostic]) -> None:
        self.failures: dict[str, Diagnostic] = {}
        self.read: set[Path] = set()
        self.input: str | None = None
        self.diagnostics: list[Diagnostic] = []
        self._notify = notify
        self._named = named

    def finding(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, and pass it on."""
        self._add(diagnostic, self.input)

    def aside(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic without attributing it to the current input."""
        self._add(diagnostic, None)

    def failure(self, error: DocumentError) -> None:
        """Keep why an input failed."""
        self._add(error.diagnostic._replace(failed=True), self.input)

    def note(self, code: str, text: str) -> None:
        """Do nothing: the result contains the subject of a note."""

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Keep a DocumentError of the block as the failure of the input `name`."""
        try:
            yield
        except DocumentError as error:
            self.failures.setdefault(name, error.diagnostic)
            self.failure(error)

    def _add(self, diagnostic: Diagnostic, input_: str | None) -> None:
        if diagnostic.failed:
            self.failures.setdefault(input_ or diagnostic.name, diagnostic)
        shown = self._named(diagnostic)
        self.diagnostics.append(shown)
        if self._notify is not None or shown.failed or shown.code not in NOTES:
            report([shown], self._notify)


_ALL: Final = Globs()


def library_context(reports: Collected, reading: ReadOptions, jobs: int, globs: Globs = _ALL) -> RunContext:
    """Return the context for a function of the library: its tasks yield results without counts and ends."""

    def run(
        work: Callable[[Item], Iterable[TaskResult]],
        items: Iterable[Item],
        input_of: Callable[[Item], Input],
        *,
        small: bool = False,
    ) -> Generator[tuple[Item, Any]]:
        with closing(reported(work, items, input_of, 1 if small else jobs, reports)) as pieces:
            yield from ((item, piece) for item, piece in pieces if not isinstance(piece, (Counts, End)))

    def found(names: Sequence[str], url: str | None, *, plain: bool = False, follow: bool = True) -> Iterator[Input]:
        origins = inputs.Origins(url, is_site=True)
        return inputs.named(names, origins, _ALL if plain else globs, reports.aside, follow=follow)

    return RunContext(reports, reading, run, found, jobs)
