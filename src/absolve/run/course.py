"""The course of a run: tasks over its inputs, their results in order, and reports of diagnostics and failures.

Input: a task, items, `Reports`. Output: the results that are neither diagnostics nor failures. The command line has
reports of its own; `Collected` are those of the library.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from absolve.core.errors import NOTES, Diagnostic, DocumentError
from absolve.document.reporting import report
from absolve.run import inputs, interrupts
from absolve.run.globs import Globs
from absolve.run.publish import flushed
from absolve.run.results import Counts, End, Failure, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from absolve.core.options import OnDiagnostic
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.results import TaskResult

    Item = TypeVar("Item")


class Reports(Protocol):
    """What a run reports to.

    `failures` has the first one of each input. `read` are files that are read as something else, such as the map of an
    audit in its site. `input` is the name of the current input, to which failures are attributed.
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
        """Report what is worth a line, and needs no action."""

    def guard(self, name: str) -> AbstractContextManager[None]:
        """Report errors that the block raises as failures of the input `name`; the run continues."""


class Course(NamedTuple):
    """How a run goes: its reports, how inputs are read, what runs a task on items, what finds inputs, and processes.

    `run(work, items, input_of)` yields as `results` does; `small=True` if one process does the work sooner than
    several start. `found(options, follow=True)` yields the inputs that options name.
    """

    reports: Reports
    reading: ReadOptions
    run: Callable[..., Generator[tuple[Any, Any]]]
    found: Callable[..., Iterator[Input]]
    jobs: int = 1


def results(
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
    """The reports of a function of the library: all diagnostics are kept, and passed to `notify`.

    Without `notify` each is a warning, unless it needs no action. `named` returns a diagnostic with the name that the
    caller knows its input by.
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
        """Do nothing: the result has what a note is about."""

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


def found(reports: Reports, options: Any, *, follow: bool = True) -> Iterator[Input]:
    """Yield the inputs that options of the library name, by their names in the command."""
    globs = Globs(tuple(options.include), tuple(options.exclude)).checked()
    origins = inputs.Origins(options.url, is_site=True)
    return inputs.named(options.inputs, origins, globs, reports.aside, follow=follow)


def alone(
    reports: Reports,
    jobs: int,
    work: Callable[[Item], Iterable[TaskResult]],
    items: Iterable[Item],
    input_of: Callable[[Item], Input],
    *,
    small: bool = False,
) -> Generator[tuple[Item, Any]]:
    """Run a task for a function of the library: as `results`, without counts and ends."""
    with closing(results(work, items, input_of, 1 if small else jobs, reports)) as pieces:
        yield from ((item, piece) for item, piece in pieces if not isinstance(piece, (Counts, End)))
