"""A table as a folder of part files, which the tasks write; the folder is created complete, or goes on later.

In: inputs and a store. Out: part files, and the diagnostics of their inputs.
The first file is the plan: which inputs, or ranges of them, are those of each part. A task writes its part to a
temporary name, and then the diagnostics, whose name has the size of the part: so a later run sees by names and sizes
what is done. Parts are renamed into the folder when all are there, and `_SUCCESS` is written last, as with Hadoop.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve import __version__, tables
from absolve.core.digest import fingerprint
from absolve.core.errors import Diagnostic, UsageError
from absolve.run.inputs import ArchiveRange
from absolve.run.links_task import listed
from absolve.run.results import Failure
from absolve.spark import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.run.buckets import Store
    from absolve.run.inputs import Input
    from absolve.run.links_task import ListOptions
    from absolve.spark.tasks import NamedDiagnostic

TEMPORARY: Final = "_temporary"  # readers of such folders ignore names with an underscore
_DONE: Final = "_SUCCESS"
_PLAN: Final = f"{TEMPORARY}/_plan.json"
_DIAGNOSTICS: Final = ".diagnostics"


class Part(NamedTuple):
    """A file of the folder, its temporary name, and its size in bytes when it is written."""

    name: str
    temporary: str
    size: int = 0

    @classmethod
    def new(cls, number: int, format_: str) -> Part:
        """Return a part by its number, with a new temporary name."""
        made = cls.of(number, format_)
        return made._replace(temporary=f"{made.temporary}-{os.urandom(6).hex()}")

    @classmethod
    def of(cls, number: int, format_: str) -> Part:
        """Return a part by its number."""
        name = f"part-{number:05}.{format_}"
        return cls(name, f"{TEMPORARY}/{name}")

    @property
    def diagnostics(self) -> str:
        """The path of the file with the diagnostics, which is written after the part."""
        return f"{self.temporary}.{self.size}{_DIAGNOSTICS}"


# --- on the driver ----------------------------------------------------------------------------------------------------


@contextmanager
def begun(store: Store, *, resume: bool = False) -> Iterator[None]:
    """Create the folder for the duration of the `with` block, then write `_SUCCESS`.

    On failure the folder keeps what is done, and is removed if nothing is. With `resume` it may be there, incomplete.
    Raise UsageError where it may not be there, or cannot be created.
    """
    try:
        if store.is_there:
            _check_incomplete(store, resume=resume)
        store.make(TEMPORARY)
    except OSError as error:
        raise UsageError(f"{store.url}: unwritable: {error.strerror or error}") from error
    try:
        yield
        store.remove(TEMPORARY)
        store.write(_DONE, b"")
    except BaseException:
        if not any(name.startswith("part-") for name in store.sizes(TEMPORARY)):
            store.remove("")
        raise


def _check_incomplete(store: Store, *, resume: bool) -> None:
    there = store.sizes("")
    if not resume:
        hint = "" if _DONE in there else "--resume goes on with what a run has begun"
        raise UsageError(f"{store.url} is there already: -o wants a new folder", hint)
    if _DONE in there:
        raise UsageError(f"{store.url} is complete: there is nothing to resume")
    if not has_plan(store):
        raise UsageError(f"{store.url} is no folder that a run has begun: -o wants a new folder")


def has_plan(store: Store) -> bool:
    """Return whether a run has begun to write into a folder, and has not ended."""
    return _PLAN.rpartition("/")[2] in store.sizes(TEMPORARY)


def planned(
    store: Store, found: Sequence[Input], how: Any, group: Callable[[Sequence[Input]], list[list[Input]]]
) -> list[list[Input]]:
    """Return the inputs of each part: by the plan that is there, or else by `group`, as a plan that is written.

    Raise UsageError if the plan is for other inputs, or for other options.
    """
    digest = fingerprint(repr((__version__, _plain(how), [_identity(one) for one in found]))).hex()
    if not has_plan(store):
        groups = group(found)
        places = {input_.name: number for number, input_ in enumerate(found)}
        plan = [[(places[one.name], *one.within) for one in group] for group in groups]
        store.write(_PLAN, json.dumps([digest, plan]).encode())
        return groups
    known, plan = json.loads(store.read(_PLAN))
    if known != digest:
        raise UsageError(f"{store.url} was begun with other inputs, states of them, or options: give a new folder")
    return [[found[place]._replace(within=ArchiveRange(*within)) for place, *within in group] for group in plan]


def _identity(input_: Input) -> tuple[Any, ...]:
    return input_.name, input_.size, input_.stored and input_.stored.mark, input_.url, input_.url_source, input_.claims


def _plain(value: Any) -> Any:
    """Return a value with sets in order: the same text in each process."""
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def done(store: Store, parts: Sequence[Part]) -> list[Part]:
    """Return those of the parts that are written, with their sizes: by the names and sizes of files alone."""
    there, written = store.sizes(TEMPORARY), store.sizes("")
    sizes: dict[str, int] = {}
    for name in there:
        if name.endswith(_DIAGNOSTICS):
            of, _, size = name.removesuffix(_DIAGNOSTICS).rpartition(".")
            sizes[of] = int(size)
    sized = [part._replace(size=sizes[part.name]) for part in parts if part.name in sizes]
    return [one for one in sized if one.size in {there.get(one.name), written.get(one.name)}]


def put(store: Store, parts: Iterable[Part]) -> None:
    """Rename parts from their temporary names into the folder, but for those that an earlier run has renamed."""
    there, written = store.sizes(TEMPORARY), store.sizes("")
    left = (part for part in parts if part.temporary.rpartition("/")[2] in there or part.name not in written)
    store.move((part.temporary, part.name) for part in left)  # FileNotFoundError for one that is nowhere


def diagnostics(store: Store, parts: Iterable[Part]) -> Iterator[NamedDiagnostic]:
    """Yield the diagnostics of the inputs, in the order of the parts, before the folder is complete."""
    for data in store.each((part.diagnostics for part in parts), store.read):
        yield from unpacked(data)


def unpacked(data: bytes) -> Iterator[NamedDiagnostic]:
    """Yield the diagnostics that `packed` returns as bytes."""
    for line in data.splitlines():
        input_, fields, excerpt = json.loads(line)
        diagnostic = Diagnostic(*fields)
        yield input_, diagnostic if excerpt is None else Failure(diagnostic, excerpt)


# --- on the executors -------------------------------------------------------------------------------------------------


def write(how: ListOptions, store: Store, part: Part, inputs: Iterator[Input]) -> Part:
    """List inputs into a part; write their diagnostics to the file beside it. Return the part with its size."""
    diagnostics: list[NamedDiagnostic] = []
    part = save(how, store, part, tasks.rows(partial(listed, how), inputs, diagnostics))
    store.write(part.diagnostics, packed(diagnostics))
    return part


def packed(diagnostics: Iterable[NamedDiagnostic]) -> bytes:
    """Return diagnostics as JSON, one a line."""
    lines = []
    for input_, piece in diagnostics:
        failure = piece if isinstance(piece, Failure) else None
        diagnostic = failure.diagnostic if failure else piece
        lines.append(json.dumps((input_, diagnostic, failure and failure.excerpt)))
    return "".join(f"{line}\n" for line in lines).encode()


def save(how: ListOptions, store: Store, part: Part, chunks: Iterable[Any]) -> Part:
    """Write encoded rows to the temporary name of a part. Return the part with its size."""
    with store.writing(part.temporary) as path:
        with path.open("wb") as file:
            tables.by_name(how.format).write(how.tables, ((how.table, chunk) for chunk in chunks), file)
        size = path.stat().st_size
    return part._replace(size=size)
