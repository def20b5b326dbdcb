"""Make a mirror: into a folder, a store, one ZIP, or one page or archive; the same for the command and the library.

In: what is to be made (`Order`), an output, the course of the run. Out: files, complete or not at all, and the working
copy of the map, which `done` takes when all documents are made.
"""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections import defaultdict, deque
from contextlib import ExitStack, closing
from functools import partial
from math import inf
from pathlib import Path
from time import gmtime
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import FAULTS, Diagnostic, DocumentError, UsageError
from absolve.mirror import extensions, index, packing, task, write
from absolve.mirror import map as maps
from absolve.mirror.paths import INDEX_PAGE, MAP
from absolve.mirror.payloads import entity_of, is_walked, seconds_of
from absolve.mirror.policy import fetches
from absolve.mirror.task import Made, MirrorOptions, made
from absolve.rewriting import rewriter
from absolve.run import buckets, inputs, leftovers, outputs, plan
from absolve.run.output_folder import alone, created
from absolve.run.results import FilesReady
from absolve.run.state import removed
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.document.resolved import Resolved
    from absolve.mirror.map import Working
    from absolve.mirror.payloads import Payload
    from absolve.mirror.survey import Choice
    from absolve.mirror.task import Item
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import Course, Reports

    Done = Callable[[maps.Working], None]

_SMALL: Final = 16 << 20  # bytes of a capture that one process mirrors sooner than several start


class Order(NamedTuple):
    """The mirror to make: how its documents are made, and which ones.

    `start` is the page that leads to all that is held, in at most `depth` links; `first` the page that a single file
    begins with. `resume`: go on with a run that was killed. `prune`: remove files of an earlier run.
    """

    how: MirrorOptions
    choice: Choice
    start: str | None = None
    depth: int | None = None
    first: str | None = None
    resume: bool = False
    prune: bool = False


def chosen(order: Order) -> Order:
    """Return an order in which `start` has chosen the URLs that are held."""
    if order.start is None:
        return order
    only = _reached(order.how, order.choice, order.start, order.depth)
    return order._replace(choice=order.choice._replace(only=only), start=None)


def _reached(how: MirrorOptions, choice: Choice, start: str, depth: int | None) -> frozenset[str]:
    """Return the URLs of the part of a capture that a page leads to."""
    with leftovers.temporary_folder() as temporary, closing(maps.Working(Path(temporary) / maps.WORKING)) as working:
        write.planned(working, how, choice, lambda _: None)  # it is planned, and reported, once more
        return reached(how._replace(map=str(working.path)), working, start, depth)


def into(output: str, order: Order, course: Course, done: Done) -> None:
    """Make a mirror at a path, or the URL of a store; the suffix of its name decides its form."""
    if buckets.is_bucket(output):
        _into_store(output, order, course, done)
    elif (packed := packing.form_of(output)) is not None:
        if order.first is not None and packing.is_page(output):  # no more is made, and counted, than the file holds
            order = chosen(order._replace(start=order.first, depth=0))
        with leftovers.temporary_folder() as temporary, created(str(Path(temporary) / "mirror")) as folder:

            def pack() -> None:
                packed(packing.Mirror(Path(folder.path)), Path(output), order.first)

            _into_folder(folder, _temporary(order), course, done, pack)
    else:
        write.check_folder(Path(output))
        plan.check_new_folder(output, "a mirror is a folder, a file .zip, .html, .mhtml or .zim")
        plan.make_above(output)
        with created(output) as folder, alone(folder.path):
            _into_folder(folder, order, course, done)


def _temporary(order: Order) -> Order:
    return order._replace(how=order.how._replace(is_temporary=True))


def check_output(output: str, names: Sequence[str], *, zipped: bool) -> None:
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
    for name in [] if zipped else filter(inputs.is_folder, names):
        plan.check_apart(Path(output), name)


def make(
    working: maps.Working, how: MirrorOptions, put: Callable[[Any], int], course: Course, *, small: bool = False
) -> None:
    """Make the documents of the plan; `put` takes what each task yields."""
    batches = write.batches(working, how.sources)
    results = course.run(partial(made, how), batches, lambda batch: batch.input, small=small)
    write.run_batches(working, results, put)


def put_all(ready: FilesReady, reports: Reports) -> int:
    """Rename files that are on the disk into place; return how many."""
    number = 0
    for file in ready.made:
        try:
            outputs.put(file)
            number += 1
        except OSError as error:
            reports.failure(DocumentError(Diagnostic("unwritable", error.strerror or str(error), file.target)))
    return number


def report_empty(working: maps.Working, name: str, reports: Reports) -> bool:
    """Report a capture without a document, and return whether it has none."""
    if working.documents()[0] or working.unwritten():
        return False
    text = "the capture holds no document: nothing is written"
    reports.finding(Diagnostic("no-document", text, name, failed=True))
    return True


# --- into a folder ----------------------------------------------------------------------------------------------------


def _into_folder(
    folder: OutputFolder, order: Order, course: Course, done: Done, pack: Callable[[], None] | None = None
) -> None:
    """Make the mirror in a folder; `pack` makes one file of it, before the counts are printed."""
    how = order.how._replace(folder=folder, map=str(Path(folder.path) / maps.WORKING))
    facts = (repr(how.severs), repr(how.reading))
    state = write.state_of(how.sources, order.choice, facts)
    has_failed = bool(course.reports.failures)
    was_killed = Path(how.map).is_file()

    def put(piece: Any) -> int:
        return put_all(piece, course.reports) if isinstance(piece, FilesReady) else 0

    with maps.discarded(Path(folder.path)), write.swept(folder, how.token), ExitStack() as held:
        working, is_new = _working(folder, state, resume=order.resume)
        held.callback(working.close)
        if is_new:
            write.planned(working, how, order.choice, course.reports.finding)
            write.see_foreign(working, folder.path)
        number, size = working.documents()
        make(working, how, put, course, small=size < _SMALL)
        if number:
            _finish(working, folder, order, course.reports, has_failed=has_failed or working.is_unread())
            if pack is not None:
                pack()
        done(working)
    if number or not was_killed:  # otherwise its working copy has what the killed run made
        removed(Path(how.map))


def _finish(
    working: maps.Working, folder: OutputFolder, order: Order, reports: Reports, *, has_failed: bool
) -> None:
    """Write the map and the entry page, and name the files that stay. After a failure no file is removed."""
    why = "--prune removes what an earlier run made and nobody changed"
    if order.prune and has_failed:
        why = "nothing is removed in a run in which an input failed"
    prunes = order.prune and not has_failed
    start = order.how.start
    for path in write.finish(working, folder, reports.aside, prunes=prunes, start=start):
        text = f"not part of this mirror; it stays ({why})"
        reports.finding(Diagnostic("stays", text, str(Path(folder.path) / path)))


def _working(folder: OutputFolder, state: dict[str, str], *, resume: bool) -> tuple[maps.Working, bool]:
    """Return the working copy of the map, and whether its run begins from the start."""
    maps.check_own(Path(folder.path))
    working = maps.Working(Path(folder.path) / maps.WORKING)
    is_new = not (resume and working.is_of(state))
    if is_new:
        working.begin(state)
        working.add_ours(Path(folder.path) / MAP)
        working.keep()
    return working, is_new


def _into_store(output: str, order: Order, course: Course, done: Done) -> None:
    """Make the mirror on the disk for temporary files, and upload it when it is complete."""
    if order.resume:
        raise UsageError("--resume goes on with a mirror on a disk: leave it out for the URL of a store")
    with leftovers.temporary_folder() as temporary, created(f"{temporary}/mirror") as folder:
        _into_folder(folder, _temporary(order), course, done)
        buckets.send_all(folder.path, output)


# --- one ZIP ----------------------------------------------------------------------------------------------------------

_FIRST: Final = (1980, 1, 1, 0, 0, 0)  # the first date that a ZIP can have,
_LAST: Final = (2106, 1, 1, 0, 0, 0)  # and one that has as many seconds as an entry can note
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3  # "version made by" (APPNOTE.TXT 4.4.2)
# Media types whose files are compressed already.
_COMPRESSED: Final = (
    *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/", "audio/", "font/woff"),
)
_ARCHIVES: Final = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".pdf", ".epub", ".docx", ".xlsx", ".pptx", ".jar")


def into_zip(name: str, order: Order, course: Course, done: Done) -> None:
    """Write the ZIP, completely or not at all."""
    with leftovers.temporary_folder() as temporary, closing(maps.Working(Path(temporary) / maps.WORKING)) as working:
        write.planned(working, order.how, order.choice, course.reports.finding)
        if working.documents()[0]:
            with outputs.opened(name) as file:
                _write_zip(file, working, order, course)
        done(working)


def _write_zip(file: IO[bytes], working: maps.Working, order: Order, course: Course) -> None:
    """Write the documents in the order of their payloads, the entry page and the map: the same bytes for a capture."""
    with zipfile.ZipFile(file, "w", allowZip64=True) as package:

        def put(piece: Any) -> int:
            if isinstance(piece, Made):
                _add(package, piece.path, piece.data, piece.date)
            return 0

        make(working, order.how._replace(map=str(working.path)), put, course)
        newest = next(working.rows("SELECT max(date) FROM plan WHERE path IS NOT NULL"))[0] or ""
        _add(package, INDEX_PAGE, index.page(working, order.how.start), newest)
        final = working.path.with_name(MAP)
        working.write(final)
        with final.open("rb") as one, package.open(_entry(MAP, newest), "w", force_zip64=True) as other:
            shutil.copyfileobj(one, other)  # as large as all URLs together


def _add(package: zipfile.ZipFile, path: str, data: bytes, date: str) -> None:
    package.writestr(_entry(path, date), data)


def _entry(path: str, date: str) -> zipfile.ZipInfo:
    """Return the entry of a file, with the date of its capture: in UTC, and once more as seconds (0x5455)."""
    seconds = seconds_of(date)
    info = zipfile.ZipInfo(path, _FIRST)
    if seconds is not None and _FIRST <= (when := gmtime(seconds)[:6]) < _LAST:
        info.date_time = when
        info.extra = struct.pack("<HHBI", 0x5455, 5, 1, seconds)
    info.create_system = _UNIX
    info.external_attr = _MODE
    is_compressed = extensions.by_name(path).startswith(_COMPRESSED) or path.lower().endswith(_ARCHIVES)
    info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    return info


# --- what a page leads to ---------------------------------------------------------------------------------------------

Links = dict[str, dict[str, bool]]  # by path: the paths to which a document leads, and whether that is a step


def reached(how: MirrorOptions, working: Working, start: str, depth: int | None) -> frozenset[str]:
    """Return the URLs that are held, or redirect to what is held, at most `depth` steps from a page.

    What a browser fetches for a page by itself is no step from it. Raise UsageError for a page that is not held.
    """
    kept = task.Kept(how)
    try:
        first = kept.lookup(normal(start) or start)
        if first is None:
            raise UsageError(f"--start {start}: the inputs hold no document of this URL")
        links: Links = {}
        for batch in write.batches(working, how.sources):
            for item, payload in task.contents(kept, batch):
                if payload is not None:
                    links[item.path] = _links(how, kept, item, payload)
        paths = _within(links, first.path, inf if depth is None else depth)
        query = "SELECT url FROM plan WHERE path IS NOT NULL OR redirect IS NOT NULL"
        found = ((url, kept.lookup(url)) for (url,) in working.rows(query))
        return frozenset(url for url, target in found if target is not None and target.path in paths)
    finally:
        kept.lookup.close()


def _links(how: MirrorOptions, kept: task.Kept, item: Item, payload: Payload) -> dict[str, bool]:
    """Return the paths to which a document leads, and whether that is a step; none for one that cannot be read."""
    found: dict[str, bool] = defaultdict(lambda: True)

    def seen(resolved: Resolved) -> None:  # `policy` belongs to the document
        policy.seen.reached.clear()
        policy(resolved)
        for path in policy.seen.reached:
            found[path] = found[path] and not fetches(resolved)

    try:
        entity = entity_of(payload, item.url, how.reading.settings, item.fields)
        if entity is not None and is_walked(entity.media_type):
            policy = task.policy_of(how, kept, item, payload, entity)
            rewriter.edits(entity, seen)
    except (DocumentError, *FAULTS):  # reported when it is made
        pass
    return found


def _within(links: Links, first: str, depth: float) -> set[str]:
    """Return the paths that are at most `depth` steps away."""
    distance = {first: 0}
    waiting = deque([first])
    while waiting:
        path = waiting.popleft()
        for target, is_step in links.get(path, {}).items():
            far = distance[path] + is_step
            if far <= depth and far < distance.get(target, inf):
                distance[target] = far
                (waiting.append if is_step else waiting.appendleft)(target)
    return set(distance)
