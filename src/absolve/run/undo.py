"""Undo a rewrite by the log that it wrote: each file gets back the bytes that it had, or stays as it is.

Input: the name of the log (`change_log.Change`), and the bytes of a file. Output: the edits that undo the rewrite. The
log is not trusted: names in it are only compared, and a result must have the digest of the file before the rewrite.
"""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_left
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.core.model import Edit
from absolve.document.resolved import shown
from absolve.rewriting.edits import Splicer
from absolve.run import sources
from absolve.run.change_log import MASKED
from absolve.run.results import BytesRead, ChangeCounts, StdoutBytes, counted, guarded
from absolve.run.rewrite_task import in_place
from absolve.run.rewritten_files import Output, copied
from absolve.tables.reading import long_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.run.inputs import Input
    from absolve.run.plan import Job, RewriteOptions
    from absolve.run.results import TaskResult

    Show = Callable[[str, bytes, Sequence[Edit]], Iterable[bytes]]

_COLUMNS: Final = ("document", "before", "after", "undo")
_EDIT: Final = re.compile(r"([0-9]{1,18})\+([0-9]{1,18})=([!-~]*)", re.ASCII)
_LONGEST_CELL: Final = (1 << 31) - 1  # the replaced bytes of an encoded part are one cell
_NO_BYTES: Final = "the log has no bytes of it: it is an archive, or the log is of an earlier version"
_HIDDEN: Final = "the log leaves out user information of URLs: it was written without --show-credentials"
_CHANGED: Final = "it has changed since the rewrite"
_SEVERAL: Final = "the rewrite made several files equal to it: name it as the log does"
_WRONG: Final = "what the log has of it does not lead to the file before the rewrite"


class Recorded(NamedTuple):
    """What a log has of one file: its first row, its name there, its digests, the number of its rows, its edits.

    `number` counts the rows of the log from 1; `before` and `after` the rewrite the file had these digests.
    """

    number: int
    document: str
    before: str
    after: str
    links: int
    undo: list[str]

    def edits(self) -> list[Edit]:
        """Return the edits that undo the rewrite, in order. Raise ValueError if one is malformed."""
        found = []
        for text in " ".join(self.undo).split():
            parts = _EDIT.fullmatch(text)
            if parts is None:
                raise ValueError(text)
            start = int(parts[1])
            found.append(Edit(start, start + int(parts[2]), unquote_to_bytes(parts[3])))
        return sorted(found, key=lambda edit: (edit.start, edit.end))


class Recording:
    """The files of a log, found by their name and by the digest that the rewrite gave them."""

    def __init__(self, name: str, files: Iterable[Recorded]) -> None:
        self.name = name
        self.files = list(files)
        self._named = {file.document: file for file in self.files}
        self._made: dict[str, Recorded | None] = {}  # None: more than one original
        for file in self.files:
            known = self._made.setdefault(file.after, file)
            if known is not None and known.before != file.before:
                self._made[file.after] = None
        self._originals = {file.before: file for file in self.files}
        self._ends = sorted(self.files, key=_end)
        self._numbers: dict[str, set[int]] = {}  # by the digest after the rewrite
        for file in self.files:
            self._numbers.setdefault(file.after, set()).add(file.number)

    def of(self, input_: Input, data: bytes) -> Recorded | None:
        """Return what the log has of an input with these bytes, before or after the rewrite.

        None for a file found in a folder that the log does not name. Raise DocumentError for any other one.
        """
        digest = sha256(data).hexdigest()
        named = self._of_name(input_)
        if len(named) == 1 and named[0].after == digest:
            return named[0]
        if not named and input_.found:
            return None  # also if it is equal to a file that was rewritten: it was so before
        if digest in self._made:
            if (made := self._made[digest]) is None:
                raise _not_undone(input_, _SEVERAL)
            return made
        if digest in self._originals:
            return self._originals[digest]
        raise _not_undone(input_, _NO_BYTES if named and not named[0].before else _CHANGED)

    def met(self, input_: Input, found: Recorded | None = None) -> frozenset[int]:
        """Return the rows that an input met: those of its name or path; of one given by name, those of equal files."""
        equal = self._numbers[found.after] if found is not None and not input_.found else set()
        return frozenset(equal.union(file.number for file in self._of_name(input_)))

    def _of_name(self, input_: Input) -> list[Recorded]:
        """Return the file of the log with the name of an input; without one, at most two that end with its path."""
        named = self._named.get(shown(input_.name))
        if named is not None:
            return [named]
        end = f"/{shown(input_.place)}"[::-1]
        at = bisect_left(self._ends, end, key=_end)
        return [file for file in self._ends[at : at + 2] if _end(file).startswith(end)]

    def undone(self, input_: Input, data: bytes, most: int) -> tuple[list[Edit], bytes, Recorded | None]:
        """Return the edits that undo the rewrite of an input, and its bytes before. Raise DocumentError."""
        found = self.of(input_, data)
        if found is None or sha256(data).hexdigest() == found.before:
            return [], data, found
        if MASKED in found.undo:
            raise _not_undone(input_, _HIDDEN)
        splicer = Splicer(data, most)
        try:
            edits = found.edits()
            fits = splicer.take(edits)
        except ValueError as error:
            raise _not_undone(input_, _WRONG) from error
        if not fits or sha256(made := splicer.finish()).hexdigest() != found.before:
            raise _not_undone(input_, _WRONG)
        return edits, made, found


def _end(file: Recorded) -> str:
    return file.document[::-1]


def _not_undone(input_: Input, text: str) -> DocumentError:
    return DocumentError(Diagnostic("not-undone", f"{text}: left unchanged", input_.name))


# --- the log ----------------------------------------------------------------------------------------------------------


def read(name: str) -> Recording:
    """Return the files of a log in CSV, TSV, JSON or JSON lines. Raise UsageError if it cannot be read as one."""
    try:
        with Path(name).open(encoding="utf-8-sig", newline="") as file, long_cells(_LONGEST_CELL):
            files: dict[str, Recorded] = {}
            rows = _READERS.get(Path(name).suffix.lower(), csv.DictReader)(file)
            for number, row in enumerate(rows, 1):
                _add(files, number, *[_text(row[column]) for column in _COLUMNS])
    except OSError as error:
        raise UsageError(f"--undo {name}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError, csv.Error) as error:
        raise UsageError(f"--undo {name}: this is no log of a rewrite with what undoes it (--log)") from error
    if not files:
        raise UsageError(f"--undo {name}: the log has no row")
    return Recording(name, files.values())


def _text(cell: Any) -> str:
    """Return the text of a cell; raise TypeError if it has none."""
    if not isinstance(cell, str):
        raise TypeError(cell)
    return cell


def _add(files: dict[str, Recorded], number: int, document: str, before: str, after: str, undo: str) -> None:
    """Add a row of the log to those of its file."""
    file = files.get(document) or Recorded(number, document, "", "", 0, [])
    if undo:
        file.undo.append(undo)
    digests = (before, after) if before else (file.before, file.after)
    files[document] = file._replace(before=digests[0], after=digests[1], links=file.links + 1)


def _json_lines(file: Iterable[str]) -> Iterator[Any]:
    return (json.loads(line) for line in file if line.strip())


_READERS: Final[dict[str, Any]] = {
    ".tsv": partial(csv.DictReader, delimiter="\t"),
    ".json": json.load,
    ".jsonl": _json_lines,
}


# --- tasks ------------------------------------------------------------------------------------------------------------


def undone(recording: Recording, how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Yield the results for one input: the file as it was before the rewrite. A file without undo is copied."""
    results = _undone(recording, how, job)
    return guarded(job.input.name, in_place(job, results) if how.in_place else results)


def _undone(recording: Recording, how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    yield ChangeCounts(0, 0, 0, recording.met(job.input))  # also if it cannot be undone
    data = _data(how, job)
    edits, made, found = recording.undone(job.input, data, how.reading.settings.max_size)
    if found is None and job.target is not None and job.input.found:
        yield from copied(how, job)
    else:
        output = Output(how, job, data)
        with output.written():
            yield from output.end(made)
        yield from output.ready()
    yield from _counts(recording, job, found, data, is_changed=bool(edits))


def counted_only(recording: Recording, how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Yield the number of links that the undo would change: a task for --dry-run."""
    return guarded(job.input.name, _counted(recording, how, job))


def _counted(recording: Recording, how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    yield ChangeCounts(0, 0, 0, recording.met(job.input))
    edits, _, found = recording.undone(job.input, _data(how, job), how.reading.settings.max_size)
    links = found.links if found is not None else 0
    counts = ChangeCounts(links, links if edits else 0, int(bool(edits)), recording.met(job.input, found))
    yield from counted(job.input.name, counts)


def compared(
    recording: Recording, show: Show, how: RewriteOptions, job: Job
) -> Iterator[TaskResult]:
    """Yield the diff of one input: a task for --diff; `show` returns its lines."""
    return guarded(job.input.name, _compared(recording, show, how, job))


def _compared(
    recording: Recording, show: Show, how: RewriteOptions, job: Job
) -> Iterator[TaskResult]:
    yield ChangeCounts(0, 0, 0, recording.met(job.input))
    data = _data(how, job)
    edits, _, found = recording.undone(job.input, data, how.reading.settings.max_size)
    yield from _counts(recording, job, found, data, is_changed=bool(edits))
    yield StdoutBytes(b"".join(show(job.input.name, data, edits)))


def _data(how: RewriteOptions, job: Job) -> bytes:
    return sources.read(job.input.name, max_size=how.reading.settings.max_size, root=job.input.root).data


def _counts(
    recording: Recording, job: Job, found: Recorded | None, data: bytes, *, is_changed: bool
) -> Iterator[TaskResult]:
    links = found.links if found is not None else 0
    yield ChangeCounts(links, links if is_changed else 0, int(is_changed), recording.met(job.input, found))
    yield BytesRead(len(data), 1)
