"""Write a mirror: the map first, then the documents, at the end the map's file and the entry page.

In: sources, options, and a function that runs tasks. Out: a folder, or a ZIP. A run that was killed goes on from its
working copy of the map.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import Diagnostic, UsageError
from absolve.mirror import index
from absolve.mirror import map as maps
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.mirror.sources import reader_of
from absolve.mirror.survey import Survey
from absolve.mirror.task import Batch, Item, forget, has
from absolve.run import interrupts, leftovers, outputs
from absolve.run import state as run_state
from absolve.run.output_folder import Below

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence

    from absolve.mirror.sources import Source
    from absolve.mirror.survey import Choice
    from absolve.mirror.task import MirrorOptions
    from absolve.run.output_folder import OutputFolder

    Notify = Callable[[Diagnostic], None]

_NOTED: Final = frozenset({"partial", "truncated"})  # about a capture of one URL
_BATCH: Final = 2 << 20  # bytes of payloads in a batch,
_MANY: Final = 200  # or documents


def state_of(sources: Sequence[Source], choice: Choice, more: Sequence[str]) -> dict[str, str]:
    """Return the state that identifies a run: its inputs as they are now, and its options."""
    found = sha256()
    for source in sources:
        found.update(repr((source.kind, source.member)).encode())
        for input_ in source.inputs:
            facts = (input_.name, input_.place, input_.url, run_state.state_of(input_))
            found.update(repr(facts).encode())
    only = sorted(choice.only) if choice.only is not None else None
    found.update(repr((choice._replace(only=None), only, *more)).encode("utf-8", "surrogatepass"))
    return {"run": found.hexdigest()}


def planned(working: maps.Working, how: MirrorOptions, choice: Choice, notify: Notify) -> None:
    """Survey the sources, and write the plan into the working copy of the map."""
    unread = []
    notes: list[tuple[str, str]] = []

    def heard(diagnostic: Diagnostic) -> None:
        if diagnostic.failed:
            unread.append(diagnostic.code)
        if diagnostic.code in _NOTED and not diagnostic.failed:
            notes.append((diagnostic.code, f"{_named(diagnostic.name, how)}: {diagnostic.text}"))
        notify(diagnostic)

    readers = [reader_of(source, number, how.reading) for number, source in enumerate(how.sources)]
    survey = Survey(readers, choice, heard)
    if unread:
        working.mark_unread()
    names = [_named(source.name, how) for source in how.sources]
    labels = [dict(how.named).get(source.inputs[0].name) or source.label for source in how.sources]
    working.plan(
        survey.rows(), names, labels, forms=survey.forms(), places=survey.places(), parts=survey.parts
    )
    working.add_notes(notes)


def _named(name: str, how: MirrorOptions) -> str:
    """Return the name of a source for the map, in which no path of a temporary file may be."""
    return next((given + name[len(path) :] for path, given in how.named if name.startswith(path)), name)


def batches(working: maps.Working, sources: Sequence[Source]) -> Iterator[Batch]:
    """Yield the documents that remain to be made, in batches, in the order of their payloads."""
    items: list[Item] = []
    size = 0
    at = -1
    for where, url, path, bytes_, fields, date in working.remaining():
        if items and (where.source != at or size >= _BATCH or len(items) >= _MANY):
            yield Batch(sources[at].inputs[0], at, tuple(items))
            items, size = [], 0
        at = where.source
        items.append(Item(where, url, path, fields, date))
        size += bytes_
    if items:
        yield Batch(sources[at].inputs[0], at, tuple(items))


def existing(folder: str) -> Iterator[str]:
    """Yield the paths of all files and links in a folder, without following links."""
    for above, folders, files in os.walk(folder):
        place = os.path.relpath(above, folder).replace(os.sep, "/")
        prefix = "" if place == "." else f"{place}/"
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]  # noqa: PTH114, PTH118
        for name in sorted([*files, *links]):
            yield prefix + name


def see_foreign(working: maps.Working, folder: str) -> None:
    """Note the files in a folder that are in the way of documents and were not made by a mirror."""
    found = (path for path in existing(folder) if path.isprintable() or _is_text(path))
    working.mark_foreign(
        [path for path in found if not working.is_ours(path) and working.is_planned(path)]
    )


def _is_text(path: str) -> bool:
    """Return whether a path can be text in a database: a name on a disk may be any bytes."""
    return path.encode("utf-8", "replace").decode() == path


def check_folder(folder: Path) -> None:
    """Raise UsageError for a DIR that is no folder."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o {folder}: this is a file, and a mirror is a folder (FILE.zip is one file)")


def finish(
    working: maps.Working, root: OutputFolder, notify: Notify, *, prunes: bool, start: str | None = None
) -> list[str]:
    """Write the map and the entry page, which names `start` first, and remove what no longer belongs, if asked.

    Return the paths of the files that stay and are not part of the mirror.
    """
    working.keep()
    entry = index.page(working, start)
    _put(root, INDEX_PAGE, entry, notify, is_ours=working.has_before())
    folder = Path(root.path)
    own = {MAP, INDEX_PAGE, *(f"{maps.WORKING}{suffix}" for suffix in run_state.BESIDE)}
    others = [path for path in existing(root.path) if path not in own and not _is_part(working, path)]
    earlier = [path for path in others if _is_text(path) and _is_as_written(root, path, working.digests(path))]
    removed = set(_pruned(root, earlier, notify)) if prunes else set()
    working.leave(path for path in earlier if path not in removed)
    fresh = folder / leftovers.name_of(leftovers.token())
    try:
        working.write(fresh)
        if not _same_file(fresh, folder / MAP):
            fresh.replace(folder / MAP)
    finally:
        fresh.unlink(missing_ok=True)
    return [path for path in others if path not in removed]


def _is_part(working: maps.Working, path: str) -> bool:
    if leftovers.is_temporary(path.rpartition("/")[2]):
        return True
    return _is_text(path) and working.is_planned(path)


def _is_as_written(root: OutputFolder, path: str, digests: Collection[str]) -> bool:
    """Return whether a file has one of these digests: a map may come with a download, and name any path."""
    if not digests:
        return False
    with suppress(OSError):
        if (file := root.opened(path)) is not None:
            with file:
                return f"sha256:{file_digest(file, 'sha256').hexdigest()}" in digests
    return False


@contextmanager
def swept(root: OutputFolder, token: str) -> Iterator[None]:
    """Remove the temporary files of the run with this token, and of runs that were killed, when the block ends."""
    try:
        yield
    finally:
        with interrupts.deferred():
            names = (path.rpartition("/") for path in existing(root.path))
            for above in {above for above, _, name in names if name.startswith(".absolve-")}:
                with suppress(OSError):
                    leftovers.sweep(root.folder(above), token)


def _put(root: OutputFolder, name: str, data: bytes, notify: Notify, *, is_ours: bool) -> None:
    """Write a file of the mirror's own beside its documents, unless it has its bytes."""
    target = Path(root.path) / name
    try:
        if has(root, name, data):
            return
        if os.path.lexists(target) and not is_ours and not _is_own(target):
            text = "a file that the mirror did not make is in the way, and stays"
            notify(Diagnostic("foreign", text, str(target), failed=True))
            return
        with outputs.preparing(target, below=Below(root, name)) as (file, ready):
            file.write(data)
        outputs.settle(ready)
    except OSError as error:
        text = error.strerror or str(error)
        notify(Diagnostic("unwritable", text, str(target), failed=True))


def _is_own(path: Path) -> bool:
    if not maps.is_regular(path):  # to open a pipe would wait for a writer
        return False
    with suppress(OSError), path.open("rb") as file:
        return index.MARK in file.read(1024)
    return False


def _same_file(one: Path, other: Path) -> bool:
    try:
        if not maps.is_regular(other) or one.stat().st_size != other.stat().st_size:
            return False
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False


def _pruned(root: OutputFolder, paths: Iterable[str], notify: Notify) -> Iterator[str]:
    """Remove files that an earlier run made, and the folders that are empty then; yield what is gone."""
    for path in paths:
        above, _, name = path.rpartition("/")
        try:
            folder = root.folder(above)
            os.unlink(folder.at(name), dir_fd=folder.descriptor)
            yield path
            with suppress(OSError):
                while above:
                    above, _, name = above.rpartition("/")
                    folder = root.folder(above)
                    os.rmdir(folder.at(name), dir_fd=folder.descriptor)
        except OSError as error:
            notify(Diagnostic("unwritable", error.strerror or str(error), path, failed=True))


def run_batches(
    working: maps.Working, results: Generator[tuple[Any, Any]], put: Callable[[Any], int]
) -> None:
    """Take the results of the tasks: files are put, and the map grows."""
    is_put = False
    try:
        with closing(results):
            for _, piece in results:
                if isinstance(piece, maps.Finished):
                    working.finish(piece._replace(is_there=piece.is_there or is_put))
                is_put = not isinstance(piece, maps.Finished) and bool(put(piece))
    finally:
        forget()
        working.keep()
