"""Make a mirror: into a folder, a store, one ZIP, or one page or archive; the same for the command and the library.

In: a `Job`, an output, the context of the run. Out: files, complete or not at all, and the working copy of the map,
which is passed to `done` when all documents are made. The plan comes first, then the documents, at the end the map and
the entry page. A killed run is resumed from its working copy of the map.
"""

from __future__ import annotations

import filecmp
import os
from contextlib import closing, contextmanager, suppress
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.mirror import index, packing
from absolve.mirror import map as maps
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.mirror.sources import reader_of
from absolve.mirror.survey import Choice, Survey
from absolve.mirror.task import Batch, Item, MirrorOptions, forget, has, mirror_batch, reached
from absolve.run import buckets, folders, interrupts, leftovers, outputs, plan
from absolve.run import state as run_state
from absolve.run.output_folder import Below, alone, created
from absolve.run.results import FilesReady

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from absolve.mirror.map import Working
    from absolve.mirror.payloads import Found
    from absolve.mirror.sources import Source
    from absolve.run.load import ReadOptions
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import Reports, RunContext

    Done = Callable[[Working], None]
    Notify = Callable[[Diagnostic], None]

_SMALL: Final = 16 << 20  # bytes; one process is done with a smaller capture before others have started
_NOTED: Final = frozenset({"partial", "truncated"})  # about a capture of one URL
_BATCH: Final = 2 << 20  # bytes of payloads in a batch,
_MANY: Final = 200  # or documents


class Job(NamedTuple):
    """The mirror to make: its sources, the captures to take from them, and how.

    `severs`: links that a browser would fetch by itself and that are not held become inert. `start` is the page that
    leads to everything held, in at most `depth` links; `first` the page that the entry page names first, and that a
    single file begins with. `resume`: continue a killed run. `prune`: remove files of an earlier run. `named`: paths of
    temporary files among the sources, each with a name for people, the same in each run.
    """

    reading: ReadOptions
    sources: tuple[Source, ...]
    choice: Choice = Choice()
    severs: bool = False
    start: str | None = None
    depth: int | None = None
    first: str | None = None
    resume: bool = False
    prune: bool = False
    named: tuple[tuple[str, str], ...] = ()

    def options(self, working: Working, folder: OutputFolder, *, is_temporary: bool = False) -> MirrorOptions:
        """Return the options of the tasks, by the working copy of the map, for documents that go into a folder."""
        how = (self.reading, self.sources, str(working.path), folder, self.choice.same, self.severs)
        return MirrorOptions(*how, leftovers.token(), is_temporary)


def chosen(job: Job) -> Job:
    """Return a job whose `start` has been followed to choose the held URLs."""
    if job.start is None:
        return job
    with _temporary() as folder, closing(maps.Working(Path(folder.path) / maps.WORKING)) as working:
        planned(working, job, lambda _: None)  # the job is planned, and reported, once more
        only = reached(job.options(working, folder), working, _batches(working, job.sources), job.start, job.depth)
    return job._replace(choice=job.choice._replace(only=only), start=None)


@contextmanager
def _temporary() -> Iterator[OutputFolder]:
    with leftovers.temporary_folder() as above, created(str(Path(above) / "mirror")) as folder:
        yield folder


def into(output: str, job: Job, context: RunContext, done: Done) -> None:
    """Make a mirror at a path, or the URL of a store; the suffix of its name decides its form."""
    is_bucket = buckets.is_bucket(output)
    packed = packing.form_of(output) if not (is_zip(output) or is_bucket) else None
    if packed is not None and job.first is not None and packing.is_page(output):
        job = job._replace(start=job.first, depth=0)  # make and count only the documents that the file holds
    if is_bucket and job.resume:
        raise UsageError("--resume goes on with a mirror on a disk: leave it out for the URL of a store")
    settings = job.reading.settings._replace(data_urls=True)
    job = chosen(job._replace(reading=job.reading._replace(settings=settings)))
    if is_bucket or is_zip(output) or packed is not None:
        with _temporary() as folder:

            def pack(working: Working) -> None:
                if packed is not None:
                    packed(packing.Mirror(Path(folder.path)), Path(output), job.first)
                elif is_zip(output):
                    packing.zip_of(working, Path(folder.path), output)

            _into_folder(folder, job, context, done, pack)
            if is_bucket and not is_zip(output):
                buckets.send_all(folder.path, output)
    else:
        if Path(output).exists() and not Path(output).is_dir():
            raise UsageError(f"-o {output}: this is a file, and a mirror is a folder (FILE.zip is one file)")
        plan.check_new_folder(output, "a mirror is a folder, a file .zip, .html, .mhtml or .zim")
        plan.make_above(output)
        with created(output) as folder, alone(folder.path):
            _into_folder(folder, job, context, done)


def is_zip(output: str) -> bool:
    """Return whether an output is a ZIP: the standard output, or `a.zip` unless that is a folder."""
    return outputs.is_stdout(output) or (output.lower().endswith(".zip") and not folders.is_folder(output))


def check_output(output: str, names: Sequence[str]) -> None:
    """Raise UsageError for a mirror that would replace an input, or be written into an input folder."""
    if not output:
        raise UsageError("the output has no name")
    for name in names:
        if plan.overlap(name, output):
            raise UsageError(f"the output {output} is also an input ({name}), or inside it")
    if buckets.is_bucket(output):
        return
    plan.check_not_read([Path(output)], names)
    plan.check_outside([Path(output)], names)
    for name in [] if is_zip(output) else filter(folders.is_folder, names):
        plan.check_apart(Path(output), name)


def _state_of(job: Job) -> dict[str, str]:
    """Return the state that identifies a run: its inputs as they are now, and its options."""
    found = sha256()
    for source in job.sources:
        found.update(repr((source.kind, source.member)).encode())
        for input_ in source.inputs:
            found.update(repr((input_.name, input_.place, input_.url, run_state.state_of(input_))).encode())
    only = sorted(job.choice.only) if job.choice.only is not None else None
    how = (job.choice._replace(only=None), only, job.severs, job.reading)
    found.update(repr(how).encode("utf-8", "surrogatepass"))
    return {"run": found.hexdigest()}


def planned(working: Working, job: Job, notify: Notify) -> None:
    """Survey the sources, and write the plan into the working copy of the map."""
    unread = []
    notes: list[tuple[str, str]] = []

    def noting(diagnostic: Diagnostic) -> None:
        if diagnostic.failed:
            unread.append(diagnostic.code)
        elif diagnostic.code in _NOTED:
            notes.append((diagnostic.code, f"{_name_in_map(diagnostic.name, job)}: {diagnostic.text}"))
        notify(diagnostic)

    survey = Survey(_captures(job), job.choice, noting)
    if unread:
        working.mark_unread()
    names = [_name_in_map(source.name, job) for source in job.sources]
    labels = [dict(job.named).get(source.inputs[0].name) or source.label for source in job.sources]
    working.plan(survey.rows(), names, labels, forms=survey.forms(), places=survey.places(), parts=survey.parts)
    working.add_notes(notes)


def _captures(job: Job) -> Iterator[Found]:
    """Yield the captures in all sources; a source without any has failed, unless it is the only one."""
    for number, source in enumerate(job.sources):
        found = reader_of(source, number, job.reading).captured()
        first = next(found, None)
        if first is not None:
            yield first
            yield from found
        elif len(job.sources) > 1:
            yield Diagnostic("no-input", "no document is in it", source.name, failed=True)


def _name_in_map(name: str, job: Job) -> str:
    """Return the name of a source for the map, which must not contain the path of a temporary file."""
    return next((known_name + name[len(path) :] for path, known_name in job.named if name.startswith(path)), name)


def _batches(working: Working, sources: Sequence[Source]) -> Iterator[Batch]:
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


# --- into a folder ----------------------------------------------------------------------------------------------------


def _into_folder(
    folder: OutputFolder, job: Job, context: RunContext, done: Done, pack: Callable[[Working], None] | None = None
) -> None:
    """Make the mirror in a folder; `pack` makes one file of a temporary one, before the counts are printed."""
    root, reports = Path(folder.path), context.reports
    has_failed = bool(reports.failures)
    was_killed = (root / maps.WORKING).is_file()
    maps.check_own(root)
    with maps.discarded(root), closing(maps.Working(root / maps.WORKING)) as working:
        how = job.options(working, folder, is_temporary=pack is not None)
        with _swept(folder, how.token):
            state = _state_of(job)
            if not (job.resume and working.is_of(state)):
                working.begin(state)
                working.add_ours(root / MAP)
                working.keep()
                planned(working, job, reports.finding)
                _see_foreign(working, folder.path)
            number, size = working.documents()
            _make(working, how, context, small=size < _SMALL)
            if number:
                _finish(working, folder, job, reports, has_failed=has_failed or working.is_unread())
                if pack is not None:
                    pack(working)
            done(working)
    if number or not was_killed:  # otherwise its working copy has what the killed run made
        run_state.removed(root / maps.WORKING)


def _make(working: Working, how: MirrorOptions, context: RunContext, *, small: bool) -> None:
    """Make the documents of the plan, and rename their files into place."""
    batches = _batches(working, how.sources)
    results = context.run(partial(mirror_batch, how), batches, lambda batch: batch.input, small=small)
    waiting: list[tuple[maps.Finished, tuple[outputs.WrittenFile, ...]]] = []
    files: tuple[outputs.WrittenFile, ...] = ()
    try:
        with closing(results):
            for _, piece in results:
                if isinstance(piece, maps.Finished):
                    waiting.append((piece, files))
                files = piece.files if isinstance(piece, FilesReady) else ()
                if len(waiting) == _MANY:
                    _put_all(working, waiting, context.reports)
                    waiting = []
        _put_all(working, waiting, context.reports)
    finally:
        forget()
        working.keep()


def _put_all(
    working: Working, waiting: Iterable[tuple[maps.Finished, tuple[outputs.WrittenFile, ...]]], reports: Reports
) -> None:
    """Rename the files of some documents into place; their digests are in the map before."""
    working.intend([(one.path, one.digest) for one, files in waiting if files])
    for one, files in waiting:
        is_put = bool(files) and all(_put_ready(file, reports) for file in files)
        working.finish(one._replace(is_there=one.is_there or is_put))


def _put_ready(file: outputs.WrittenFile, reports: Reports) -> bool:
    """Rename a flushed file into place; return whether that worked."""
    try:
        outputs.put(file)
    except OSError as error:
        reports.failure(DocumentError(Diagnostic("unwritable", error.strerror or str(error), file.target)))
        return False
    return True


def existing(folder: str) -> Iterator[str]:
    """Yield the paths of all files and links in a folder, without following links."""
    for above, below, files in os.walk(folder):
        place = os.path.relpath(above, folder).replace(os.sep, "/")
        prefix = "" if place == "." else f"{place}/"
        below.sort()
        links = [name for name in below if os.path.islink(os.path.join(above, name))]  # noqa: PTH114, PTH118
        for name in sorted([*files, *links]):
            yield prefix + name


def _see_foreign(working: Working, folder: str) -> None:
    """Note the files in a folder that have the paths of documents and were not made by a mirror."""
    found = (path for path in existing(folder) if path.isprintable() or _is_text(path))
    working.mark_foreign([path for path in found if not working.is_ours(path) and working.is_planned(path)])


def _is_text(path: str) -> bool:
    """Return whether a path can be text in a database: a name on a disk may be any bytes."""
    return path.encode("utf-8", "replace").decode() == path


def _finish(working: Working, root: OutputFolder, job: Job, reports: Reports, *, has_failed: bool) -> None:
    """Write the map and the entry page, remove files that no longer belong, if asked, and name the files that stay.

    After a failure no file is removed.
    """
    working.keep()
    _put(root, INDEX_PAGE, index.page(working, job.first), reports.aside, is_ours=working.has_before())
    folder = Path(root.path)
    own = {MAP, INDEX_PAGE, *(f"{maps.WORKING}{suffix}" for suffix in run_state.BESIDE)}
    others = [path for path in existing(root.path) if path not in own and not _is_part(working, path)]
    earlier = [path for path in others if _is_text(path) and _is_as_written(root, path, working.digests(path))]
    removed = set(_pruned(root, earlier, reports.aside)) if job.prune and not has_failed else set()
    working.leave(path for path in earlier if path not in removed)
    fresh = folder / leftovers.name_of(leftovers.token())
    try:
        working.write(fresh)
        if not _same_file(fresh, folder / MAP):
            fresh.replace(folder / MAP)
    finally:
        fresh.unlink(missing_ok=True)
    why = "--prune removes what an earlier run made and nobody changed"
    if job.prune and has_failed:
        why = "nothing is removed in a run in which an input failed"
    for path in others:
        if path not in removed:
            text = f"not part of this mirror; it stays ({why})"
            reports.finding(Diagnostic("stays", text, str(folder / path)))


def _is_part(working: Working, path: str) -> bool:
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
def _swept(root: OutputFolder, token: str) -> Iterator[None]:
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
        return maps.is_regular(other) and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _pruned(root: OutputFolder, paths: Iterable[str], notify: Notify) -> Iterator[str]:
    """Remove files that an earlier run made, and folders that are then empty; yield the removed paths."""
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
