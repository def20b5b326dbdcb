"""Task of a mirror: from some payloads of one source to complete temporary files.

In: a `Batch` and `MirrorOptions`. Out: diagnostics, failures, `FilesReady`, and a `Finished` for each document. A file
that already has its bytes is not written.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from functools import lru_cache
from hashlib import sha256
from itertools import chain, groupby
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from absolve.core.errors import FAULTS, CodingError, Diagnostic, DocumentError, UsageError, internal
from absolve.encodings.charsets import UTF_8, byte_order_mark
from absolve.formats import registry
from absolve.formats.html import security_policy
from absolve.mirror import browsers, edits, index, paths
from absolve.mirror.lookup import BUSTER, SESSION, Lookup
from absolve.mirror.map import Finished, opened
from absolve.mirror.payloads import entity_of, is_walked, name_of, seconds_of
from absolve.mirror.policy import UNSEVERED, MirrorPolicy, Relatives, Target, fetches
from absolve.mirror.sources import reader_of
from absolve.rewriting import rewriter
from absolve.rewriting.edits import splice
from absolve.run import outputs
from absolve.run.output_folder import Below
from absolve.run.results import BytesRead, Failure, FilesReady, guarded, unwritable
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.mirror.lookup import Equivalences
    from absolve.mirror.map import Working
    from absolve.mirror.payloads import Payload, Reader, Where
    from absolve.mirror.sources import Source
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import TaskResult


class Item(NamedTuple):
    """One document to make: the place of its payload, its URL, its path, the fields that limit it, its date (ISO)."""

    where: Where
    url: str
    path: str
    fields: str = ""
    date: str = ""


class Batch(NamedTuple):
    """Documents of one source that are made together, in the order of their payloads."""

    input: Input
    source: int
    items: tuple[Item, ...]


class MirrorOptions(NamedTuple):
    """How documents are made.

    `map` is the working copy of the map. `is_temporary`: the folder is removed at the end, so its files need no fsync.
    """

    reading: ReadOptions
    sources: tuple[Source, ...]
    map: str
    folder: OutputFolder
    same: Equivalences
    severs: bool = False
    token: str = ""
    is_temporary: bool = False


class WorkerState:
    """The state that a process keeps between batches: the lookup in the map, relative references, a source's reader.

    `foreign` are the paths of files in the way. `share` is how many bytes of a page's text the search gets.
    """

    def __init__(self, how: MirrorOptions) -> None:
        is_normal = how.reading.settings.profile == "whatwg"
        self.lookup = Lookup(opened(Path(how.map)), how.same, is_normal=is_normal, reader=lru_cache(1)(self._fresh))
        self.foreign = self.lookup.foreign()
        self.share = index.share_of(self.lookup.pages())
        self.relatives = Relatives()
        self._how = how
        self._reader: tuple[int, Reader] | None = None

    def _fresh(self, number: int) -> Reader:
        return reader_of(self._how.sources[number], number, self._how.reading)

    def reader(self, number: int) -> Reader:
        """Return the reader of a source; successive batches share it, because some readers read the whole source."""
        if self._reader is None or self._reader[0] != number:
            self._reader = number, self._fresh(number)
        return self._reader[1]

    def joined(self, items: Iterable[Item]) -> dict[str, bytes]:
        """Return the documents that were captured in pieces, by URL; b"" for documents that are no longer readable."""
        wholes = {item.url: parts for item in items if (parts := self.lookup.parts(item.url))}
        wanted = {part.where: b"" for parts in wholes.values() for part in parts}
        for source, places in groupby(sorted(wanted), key=attrgetter("source")):
            for where, payload in self.reader(source).payloads(list(places)):
                wanted[where] = payload.data
        found: dict[str, bytes] = {}
        for url, parts in wholes.items():
            bodies = [wanted[part.where][part.start : part.start + part.size] for part in parts]
            is_whole = all(len(body) == part.size for body, part in zip(bodies, parts, strict=True))
            found[url] = b"".join(bodies) if is_whole else b""
        return found


_open: dict[str, WorkerState] = {}


def forget() -> None:
    """Close the state that this process keeps of a run."""
    for one in _open.values():
        one.lookup.close()
    _open.clear()


def mirror_batch(how: MirrorOptions, batch: Batch) -> Iterator[Any]:
    """Yield the results for one batch: a TaskResult or Finished each."""
    return guarded(batch.input.name, _mirror_batch(how, batch), strict=sys.flags.dev_mode)  # type: ignore[arg-type]  # it passes all on


def _mirror_batch(how: MirrorOptions, batch: Batch) -> Iterator[TaskResult | Finished]:
    key = how.map + how.token
    if key not in _open:
        _open[key] = WorkerState(how)
    worker = _open[key]
    size = 0
    for item, payload in contents(worker, batch):
        if payload is None:
            yield _unreadable(item)
        else:
            yield from _document(how, worker, item, payload)
            size += len(payload.data)
    yield BytesRead(size)


def contents(worker: WorkerState, batch: Batch) -> Iterator[tuple[Item, Payload | None]]:
    """Yield the documents of a batch with their payloads, in order; None for payloads that are no longer readable."""
    joined = worker.joined(batch.items)
    wanted: dict[Where, list[Item]] = {}
    for item in batch.items:
        wanted.setdefault(item.where, []).append(item)
    for where, payload in worker.reader(batch.source).payloads(sorted(wanted)):
        for item in wanted.pop(where):
            whole = payload._replace(data=joined[item.url], message=None) if item.url in joined else payload
            yield item, None if item.url in joined and not whole.data else whole
    yield from ((item, None) for item in chain.from_iterable(wanted.values()))


def _unreadable(item: Item) -> Failure:
    return Failure(Diagnostic("unreadable", "its record cannot be read any more", name_of(item.url)))


def _document(how: MirrorOptions, worker: WorkerState, item: Item, payload: Payload) -> Iterator[TaskResult | Finished]:
    """Yield the results for one document: its file, and the facts about it for the map."""
    worker.lookup.used.clear()
    data, title, text = payload.data, payload.title, ""
    notes: list[tuple[int | None, int | None, str, str]] = []
    try:
        entity = entity_of(payload, item.url, how.reading.settings, item.fields)
        policy = policy_of(how, worker, item, payload, entity)
        if entity is not None and is_walked(entity.media_type):
            data, found = _new_bytes(how, item, payload, entity, policy)
            notes = edits.placed(entity, policy.seen.notes)
            facts = entity.facts
            is_page = registry.essence_of(payload.media_type)[0] == browsers.XHTML or entity.media_type == registry.HTML
            if facts is not None and is_page:
                title = facts.title or title or ""
                text = index.text_of(entity.data, entity.charset, worker.share)
            yield from found
        else:
            yield from entity.diagnostics if entity is not None else ()
            data, notes = _declared(payload)
    except (DocumentError, *FAULTS) as error:
        if sys.flags.dev_mode and not isinstance(error, DocumentError):
            raise
        policy = MirrorPolicy(item.path, worker.lookup)
        data = _guarded(item, payload)
        notes = [(None, None, UNSEVERED, f"it stays as it is, because it cannot be read: {error}")] * how.severs
        yield _failure(item, error)
    written = list(_written(how, item, data, worker.foreign))
    yield from written
    seen, used = policy.seen, tuple(worker.lookup.used.values())
    notes += [(None, None, SESSION, f"{url}: {held}") for url, held, rule in used if rule in {SESSION, BUSTER}]
    yield Finished(
        item.url,
        item.path,
        f"sha256:{sha256(data).hexdigest()}",
        title,
        (*_name_notes(item), *notes, *_script_notes(payload)),
        tuple(seen.missing),
        used,
        tuple(sorted(seen.reached - {item.path})),
        text,
        not written,
    )


def policy_of(
    how: MirrorOptions, worker: WorkerState, item: Item, payload: Payload, entity: Entity | None
) -> MirrorPolicy:
    """Return the policy for one document."""
    if worker.lookup.enter(entity.charset.name if entity is not None else "utf-8"):
        worker.relatives = Relatives()
    return MirrorPolicy(
        item.path,
        worker.lookup,
        severs=how.severs,
        relatives=worker.relatives,
        url=item.url,
        fields=item.fields,
        responses=worker.lookup,
        named=_by_name(worker.lookup, item, payload),
    )


def _by_name(lookup: Lookup, item: Item, payload: Payload) -> Callable[[str], Target | str | None] | None:
    """Return a function that finds the file that a reference names in the same folder, package or message."""
    names = payload.names
    if names is None:
        return lookup.named(item.where)

    def named(reference: str) -> Target | None:
        url = names(reference)
        return lookup(url) if url is not None else None

    return named


def _guarded(item: Item, payload: Payload) -> bytes:
    """Add the charset and the policies of the header to a document that could not be parsed."""
    data, essence = payload.data, registry.essence_of(payload.media_type)
    declared = edits.declaration(data, essence[0], payload.charset or essence[1].get("charset"))
    policies = security_policy.of_header(item.fields) if essence[0] == registry.HTML else []
    mark = byte_order_mark(data)
    edit = edits.guard(data, policies, mark[0] if mark else UTF_8, lambda _source: False, is_declared=bool(declared))
    found = [declared[0]] if declared is not None else []
    return splice(data, [*found, edit] if edit is not None else found)


def _declared(payload: Payload) -> tuple[bytes, list[tuple[int | None, int | None, str, str]]]:
    """Mark a document without links with the charset that its header stated; return it, and a note about the mark."""
    data, (essence, parameters) = payload.data, registry.essence_of(payload.media_type)
    label = payload.charset or parameters.get("charset")
    if (found := edits.declaration(data, essence, label)) is not None:
        return splice(data, [found[0]]), [(1, 1, "charset", f"marked as {found[1]}, which only the header stated")]
    name = edits.undeclarable(data, essence, label)
    text = f"only the header stated {name}, and this text can declare none: choose it in the browser"
    return data, [(1, 1, "charset", text)] if name is not None else []


def _name_notes(item: Item) -> Iterator[tuple[None, None, str, str]]:
    """Yield a note about a file name that a browser or a shell would act on."""
    name = paths.decoded(paths.split(item.url)[1])
    if item.path.endswith(".txt") and browsers.from_disk(name) not in {browsers.HARMLESS, browsers.SNIFFED}:
        yield None, None, "inert", f"{name[:200]} has a harmless ending: a browser or a shell would run it"


def _script_notes(payload: Payload) -> Iterator[tuple[int, int, str, str]]:
    """Yield the notes about a script file that needs a server."""
    essence, data = registry.essence_of(payload.media_type)[0], payload.data
    for at, why in browsers.needs_server(data) if essence in browsers.JAVASCRIPT else ():
        yield data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at), "needs-server", why


def _new_bytes(
    how: MirrorOptions, item: Item, payload: Payload, entity: Entity, policy: MirrorPolicy
) -> tuple[bytes, list[TaskResult]]:
    found: list[TaskResult] = list(entity.diagnostics)
    label = payload.charset or registry.essence_of(payload.media_type)[1].get("charset")
    data = edits.rewritten(entity, policy, label)
    if entity.media_type == registry.XML and any(note.code == "charset" for note in policy.seen.notes):
        found += _no_longer_read(how, item, payload, data)
    return data, found


def _no_longer_read(how: MirrorOptions, item: Item, payload: Payload, data: bytes) -> list[TaskResult]:
    """Return why XML is no longer readable after its charset was declared."""
    bare = payload._replace(data=data, media_type=registry.essence_of(payload.media_type)[0], entity=None, charset=None)
    try:
        entity_of(bare, item.url, how.reading.settings)
    except DocumentError as error:
        return [error.diagnostic._replace(name=item.path, failed=True)]
    return []


def _failure(item: Item, error: Exception) -> Failure:
    if isinstance(error, DocumentError):
        return Failure(error.diagnostic, error.excerpt)
    if isinstance(error, CodingError):
        return Failure(Diagnostic(error.code, str(error), name_of(item.url)))
    return Failure(internal(error, name_of(item.url)))


def _written(how: MirrorOptions, item: Item, data: bytes, foreign: Collection[str]) -> Iterator[TaskResult]:
    folder = how.folder
    target = Path(folder.path) / item.path
    try:
        if has(folder, item.path, data):
            if item.path not in foreign:
                folder.touch(item.path, seconds_of(item.date))
            return
        if item.path in foreign:
            text = "a file that the mirror did not make is in the way, and stays"
            yield Failure(Diagnostic("foreign", text, str(target)))
            return
        below, modified = Below(folder, item.path), seconds_of(item.date)
        with outputs.preparing(target, token=how.token, below=below, modified=modified) as (file, ready):
            file.write(data)
        if how.is_temporary:
            outputs.put(ready)
    except OSError as error:
        yield Failure(unwritable(target, error).diagnostic)
        return
    if not how.is_temporary:
        yield FilesReady((ready,))


def has(root: OutputFolder, path: str, data: bytes) -> bool:
    """Return whether a regular file in the folder has exactly these bytes; a symbolic link has not. Raise OSError."""
    state = root.state(path)
    file = root.opened(path) if state is not None and state.st_size == len(data) else None
    if file is None:
        return False
    with file:
        return file.read() == data


# --- the links of a page ---------------------------------------------------------------------------------------------

Links = dict[str, dict[str, bool]]  # by path: the paths to which a document leads, and whether that is a step


def reached(
    how: MirrorOptions, working: Working, batches: Iterable[Batch], start: str, depth: int | None
) -> frozenset[str]:
    """Return the URLs that are held, or redirect to a held URL, at most `depth` steps from a page.

    Requisites that a browser fetches by itself are no step. Raise UsageError for a page that is not held.
    """
    worker = WorkerState(how)
    try:
        first = worker.lookup(normal(start) or start)
        if first is None:
            raise UsageError(f"--start {start}: the inputs hold no document of this URL")
        links: Links = {}
        for item, payload in chain.from_iterable(contents(worker, batch) for batch in batches):
            if payload is not None:
                links[item.path] = _links(how, worker, item, payload)
        paths = _within(links, first.path, inf if depth is None else depth)
        query = "SELECT url FROM plan WHERE path IS NOT NULL OR redirect IS NOT NULL"
        found = ((url, worker.lookup(url)) for (url,) in working.rows(query))
        return frozenset(url for url, target in found if target is not None and target.path in paths)
    finally:
        worker.lookup.close()


def _links(how: MirrorOptions, worker: WorkerState, item: Item, payload: Payload) -> dict[str, bool]:
    """Return the paths to which a document leads, and whether each is a step; none for an unreadable document."""
    found: dict[str, bool] = defaultdict(lambda: True)

    def seen(resolved: Resolved) -> None:  # `policy` belongs to the document
        policy.seen.reached.clear()
        policy(resolved)
        for path in policy.seen.reached:
            found[path] = found[path] and not fetches(resolved)

    try:
        entity = entity_of(payload, item.url, how.reading.settings, item.fields)
        if entity is not None and is_walked(entity.media_type):
            policy = policy_of(how, worker, item, payload, entity)
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
