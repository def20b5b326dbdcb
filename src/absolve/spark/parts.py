"""A table as a folder of part files, which the tasks write; the folder is created complete, or not at all.

In: inputs and a store. Out: part files, and the diagnostics of their inputs.
A task writes to a temporary name, a new one for each attempt. Only files that a successful task returns are renamed
into the folder, so failed or repeated tasks add no rows. `_SUCCESS` is written last, as with Hadoop.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve import tables
from absolve.core.errors import Diagnostic, UsageError
from absolve.run.links_task import listed
from absolve.run.results import Failure
from absolve.spark import tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.run.buckets import Store
    from absolve.run.inputs import Input
    from absolve.run.links_task import ListOptions
    from absolve.spark.tasks import NamedDiagnostic

_TEMPORARY: Final = "_temporary"  # readers of such folders ignore names with an underscore
_DONE: Final = "_SUCCESS"


class Part(NamedTuple):
    """A file of the folder, and its temporary name; the diagnostics are in a file beside the temporary one."""

    name: str
    temporary: str

    @classmethod
    def new(cls, number: int, format_: str) -> Part:
        """Return a part for a task by its number, with a new temporary name."""
        name = f"part-{number:05}.{format_}"
        return cls(name, f"{_TEMPORARY}/{name}-{os.urandom(6).hex()}")


@contextmanager
def begun(store: Store) -> Iterator[None]:
    """Create the folder for the duration of the `with` block, then write `_SUCCESS`; on failure remove the folder.

    Raise UsageError where it exists already, or cannot be created.
    """
    try:
        if store.is_there:
            raise UsageError(f"{store.root} is there already: -o wants a new folder")
        store.files.create_dir(store.path(_TEMPORARY), recursive=True)
    except OSError as error:
        raise UsageError(f"{store.root}: unwritable: {error.strerror or error}") from error
    try:
        yield
        store.files.delete_dir(store.path(_TEMPORARY))
        store.files.open_output_stream(store.path(_DONE)).close()
    except BaseException:
        store.files.delete_dir(store.root)
        raise


def put(store: Store, parts: Iterable[Part]) -> None:
    """Rename parts from their temporary names into the folder."""
    for part in parts:
        store.files.move(store.path(part.temporary), store.path(part.name))


def diagnostics(store: Store, parts: Iterable[Part]) -> Iterator[NamedDiagnostic]:
    """Yield the diagnostics of the inputs, in the order of the parts, before the folder is complete."""
    for part in parts:
        with store.files.open_input_stream(store.path(_diagnostics_path(part))) as file:
            for line in file.read().splitlines():
                input_, fields, excerpt = json.loads(line)
                diagnostic = Diagnostic(*fields)
                yield input_, diagnostic if excerpt is None else Failure(diagnostic, excerpt)


# --- on the executors -------------------------------------------------------------------------------------------------


def write(how: ListOptions, store: Store, number: int, inputs: Iterator[Input]) -> Part:
    """List inputs into a part; write their diagnostics to the file beside it."""
    diagnostics: list[NamedDiagnostic] = []
    part = Part.new(number, how.format)
    save(how, store, part, tasks.rows(partial(listed, how), inputs, diagnostics))
    with store.files.open_output_stream(store.path(_diagnostics_path(part))) as file:
        for input_, piece in diagnostics:
            failure = piece if isinstance(piece, Failure) else None
            diagnostic = failure.diagnostic if failure else piece
            line = json.dumps((input_, diagnostic, failure and failure.excerpt))
            file.write(f"{line}\n".encode())
    return part


def save(how: ListOptions, store: Store, part: Part, chunks: Iterable[Any]) -> None:
    """Write encoded rows to the temporary name of a part."""
    with store.files.open_output_stream(store.path(part.temporary)) as file:
        tables.by_name(how.format).write(how.tables, ((how.table, chunk) for chunk in chunks), file)


def _diagnostics_path(part: Part) -> str:
    return f"{part.temporary}.diagnostics"
