"""Request one URL; several, ahead of their reader, in a thread; or pages with their requisites.

In: a URL; items, some with a URL; URLs that the user named, how deep their links are followed, and within what bounds.
Out: a document; the same items in their order, with the answers; each answer of a crawl, for a WARC. A crawl stays in
the folders where it starts. A page of the Internet leads to public addresses only.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from absolve.core.errors import FAULTS, DocumentError, UsageError
from absolve.core.model import Document
from absolve.document.response_header import applied
from absolve.document.walk import walk
from absolve.inventory import BEFORE_BASE
from absolve.inventory.link_rows import rows
from absolve.run import interrupts
from absolve.run.folders import Globs
from absolve.urls import identity, resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Answer, Asking

    Item = TypeVar("Item")

_AHEAD: Final = 8  # tasks for each request at once: some wait for their host
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def answered(
    items: Iterable[Item], url_of: Callable[[Item], str | None], asking: Asking
) -> Generator[tuple[Item, Answer | None]]:
    """Yield items in order, each with the answer for its URL, or with None if it has no URL.

    As many URLs are requested ahead as `asking` allows at once. If no item has a URL, no thread is started.
    """
    waiting: deque[tuple[Item, Any]] = deque()
    with ExitStack() as stack:
        ask: Callable[[str], Any] | None = None
        for item in items:
            url = url_of(item)
            if url is not None and ask is None:
                ask = _asker(asking, stack, waiting)
            waiting.append((item, ask(url) if ask is not None and url is not None else None))
            while waiting and (waiting[0][1] is None or len(waiting) >= asking.concurrency[0]):
                yield _next_answer(waiting)
        while waiting:
            yield _next_answer(waiting)


def _next_answer(waiting: deque[tuple[Item, Any]]) -> tuple[Item, Answer | None]:
    item, future = waiting[0]
    answer = None if future is None else future.result()
    waiting.popleft()
    return item, answer


def _asker(asking: Asking, stack: ExitStack, waiting: Iterable[tuple[Any, Any]]) -> Callable[[str], Any]:
    """Return a function that begins a request in a thread, so that servers are answered while documents are read."""
    from concurrent.futures import Future
    from queue import Empty, SimpleQueue
    from threading import Thread

    from absolve.run.web.client import Client

    client = stack.enter_context(Client(asking))
    given: SimpleQueue[tuple[str, Any] | None] = SimpleQueue()

    def task(url: str, future: Future[Answer]) -> Generator[Any, Any, None]:
        try:
            future.set_result((yield from client.answer(url)))
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)

    def source() -> Any:
        try:
            found = given.get(block=not client.engine.tasks)
        except Empty:
            return None
        return task(*found) if found is not None else None

    def work() -> None:
        try:
            deque(client.engine.run(source, asking.concurrency[0]), maxlen=0)
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            for _, future in waiting:
                if future is not None and not future.done():
                    future.set_exception(error)

    def ask(url: str) -> Future[Answer]:
        future: Future[Answer] = Future()
        given.put((url, future))
        return future

    thread = Thread(target=work, daemon=True)
    thread.start()

    def end() -> None:
        client.engine.stop()
        given.put(None)
        thread.join()

    stack.callback(end)
    return ask


def each(source: Callable[[], Any], client: Client) -> Iterator[Any]:
    """Yield the results of tasks, in this thread; a signal ends them, and raises Interrupted."""
    with interrupts.cancelling(client.engine.stop):
        yield from client.engine.run(source, _AHEAD * client.asking.concurrency[0])
    interrupts.check()


def fetch(url: str, *, headers: Mapping[str, str] = _NONE, timeout: float = 30.0, private: bool = True) -> Document:
    """Return the document at a URL of http or https, for the other functions.

    Redirects are followed: its `url` is the last one, the retrieval URL (RFC 1808 3.3). `headers` are sent; other
    origins get only User-Agent and the Accept fields. `timeout`: seconds for one response. Without `private`, only
    public addresses are connected to. robots.txt is not requested for one page.
    Raise DocumentError, with the URL as name, if no document comes, UsageError where an event loop runs.
    """
    import asyncio

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise UsageError("absolve.fetch() would stop the event loop that runs here: await absolve.afetch()")
    return _fetched(url, _client(headers, timeout, private))


async def afetch(
    url: str,
    *,
    headers: Mapping[str, str] = _NONE,
    timeout: float = 30.0,  # noqa: ASYNC109 - of each response
    private: bool = True,
) -> Document:
    """Return what `fetch` does, for programs with an event loop of asyncio: a thread waits for the answer."""
    import asyncio

    client = _client(headers, timeout, private)
    try:
        return await asyncio.to_thread(_fetched, url, client)
    finally:
        client.engine.stop()


def _client(headers: Mapping[str, str], timeout: float, private: bool) -> Client:
    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Asking

    return Client(Asking(tuple(headers.items()), timeout=timeout, private=private, robots=False))


def _fetched(url: str, client: Client) -> Document:
    with client:
        (answer,) = client.engine.run(iter([client.answer(url), None]).__next__, 1)
    if answer.problem is not None:
        raise DocumentError(answer.problem)
    last = answer.responses[-1]
    return Document(answer.body, name=answer.url, url=last.url, headers=last.head)


# --- pages with their requisites, and sites ---------------------------------------------------------------------------

MOST_PAGES: Final = 100_000  # unless the user gives a number
MOST_OTHERS: Final = 1_000_000  # requisites of all pages
_NEEDED: Final = frozenset({"image", "media", "script", "stylesheet", "frame", "font"})
_NESTED: Final = 5  # style sheets that import each other, frames in frames


class Bounds(NamedTuple):
    """What a crawl may ask for. `globs` are for paths from the root of a site, or for whole URLs.

    `is_ignored` is true for a reference or URL that must not be asked for. It stops after so many `pages`, `size` bytes
    of bodies, or `seconds`.
    """

    globs: Globs = Globs()
    is_ignored: Callable[[str], object] | None = None
    pages: float = MOST_PAGES
    size: float = float("inf")
    seconds: float = float("inf")


class Target(NamedTuple):
    """A URL to request: a page whose links are followed `depth` times, or a requisite (`depth` is -1)."""

    url: str
    depth: int
    nested: int = 0
    is_start: bool = False


def crawl(
    starts: list[str],
    depth: int,
    asking: Asking,
    keep: Callable[[Answer], None],
    done: Callable[[int, int], None],
    bounds: Bounds,
    *,
    needs: bool,
) -> Crawl:
    """Request pages, those below their folders that they lead to, and their requisites (`needs`); keep each answer.

    `done` is called with the numbers of URLs that were answered, and of those that are known so far.
    """
    from absolve.run.web.client import Client

    with Client(asking.with_origins(starts)) as client:
        run = Crawl(client, keep, bounds, needs=needs)
        level = [Target(url, depth, is_start=True) for url in starts]
        while level:
            level = run.level(level, done)
        run.ending = client.engine.ending()
        return run


class Crawl:
    """The requested URLs, the number of pages among them, and what was left out."""

    def __init__(self, client: Client, keep: Callable[[Answer], None], bounds: Bounds, *, needs: bool) -> None:
        self._client = client
        self._keep = keep
        self._bounds = bounds
        self._settings = client.asking.settings
        self._needs = needs
        self._folders: set[tuple[str, str]] = set()  # the hosts and the folders that may be crawled
        include, exclude = bounds.globs.include, bounds.globs.exclude
        self._urls = Globs(tuple(glob for glob in include if "://" in glob))
        self._paths = Globs(tuple(glob for glob in include if "://" not in glob and "/" in glob))
        self._names = Globs(tuple(glob for glob in include if "/" not in glob))
        self._no_urls = Globs(exclude=tuple(glob for glob in exclude if "://" in glob))
        self._no_paths = Globs(exclude=tuple(glob for glob in exclude if "://" not in glob))
        self._found: set[str] = set()  # the URLs of the next level
        self._size = 0
        self._end = time.monotonic() + bounds.seconds
        self.seen: set[str] = set()
        self.ignored: set[str] = set()
        self.ending: list[str] = []  # of certificates
        self.homes: dict[str, str] = {}  # where each start is, after redirects within its site
        self.pages = self.left_out = self.others_left_out = 0
        client.leaves_out = self.leaves_out

    def level(self, targets: list[Target], done: Callable[[int, int], None]) -> list[Target]:
        """Request targets, several at once; return the targets that their documents lead to."""
        found: list[Target] = []
        self._found.clear()
        tasks = (self._one(one, found) for one in self._new(targets))
        before = len(self.seen)
        for number, _ in enumerate(each(lambda: next(tasks, None), self._client), before + 1):
            done(number, max(number, before + len(targets)) + len(found))
        return found

    def _new(self, targets: list[Target]) -> Iterator[Target]:
        for one in targets:
            if not one.is_start and one.depth >= 0 and not self._is_inside(one.url):
                continue
            url = identity.without_user(identity.normal(one.url) or one.url) if one.is_start else one.url
            if url in self.seen:
                continue
            is_page = one.depth >= 0
            if self._is_over() or (is_page and self.pages >= self._bounds.pages):
                self.left_out += is_page
                self.others_left_out += not is_page
                continue
            self.pages += is_page
            self.seen.add(url)
            yield one

    @property
    def is_cut(self) -> bool:
        """Whether it ended before all that it found was requested."""
        return bool(self.left_out or self.others_left_out)

    def _is_over(self) -> bool:
        is_late = self._size >= self._bounds.size or time.monotonic() >= self._end
        return is_late or len(self.seen) - self.pages >= MOST_OTHERS

    def _one(self, one: Target, found: list[Target]) -> Generator[Any, Any, None]:
        answer = yield from self._client.answer(one.url)
        self._size += sum(len(response.body) for response in answer.responses)
        self._keep(answer)
        if one.is_start:
            self._enter(one.url, answer)
        if answer.problem is None:
            found += self._targets(one, answer)

    def _enter(self, start: str, answer: Answer) -> None:
        """Let the crawl into the folder of a start, and of the page of the same site that it redirects to.

        `www.` makes no other site, nor does the scheme: `http://h/docs` may lead to `https://www.h/docs/`.
        """
        urls = [identity.without_user(start), answer.responses[-1].url if answer.problem is None else start]
        first, last = ((identity.named(url), _path(url)) for url in urls)
        if last[0].removeprefix("www.") != first[0].removeprefix("www."):
            last, urls[1] = first, urls[0]
        self.homes[start] = urls[1]
        if last[1] == f"{first[1]}/":  # the start is that folder
            first = (first[0], last[1])
        self._folders |= {(host, path.rpartition("/")[0]) for host, path in (first, last)}

    def _is_inside(self, url: str) -> bool:
        """Return whether a page belongs to the crawl: by a glob that names it, or by its folder."""
        if self._urls.include and self._urls.reaches(url):
            return True
        host, place = identity.named(url), _path(url)[1:]
        place += "index.html" if not place or place.endswith("/") else ""
        if self._paths.include and self._paths.reaches(place) and self._is_own(host):
            return True
        is_below = any(host == one and f"/{place}".startswith(f"{folder}/") for one, folder in self._folders)
        return is_below and self._names.reaches(place) and bool(self._names.include or not self._paths.include)

    def _is_own(self, host: str) -> bool:
        return any(host == one for one, _ in self._folders)

    def leaves_out(self, url: str) -> bool:
        return self._is_left_out(url, url)

    def _is_left_out(self, reference: str, url: str) -> bool:
        """Return whether --exclude or --ignore names a URL."""
        is_ignored = self._bounds.is_ignored
        if is_ignored is not None and (is_ignored(url) or is_ignored(reference)):
            self.ignored.add(url.partition("#")[0])
            return True
        if not self._no_urls.reaches(url):
            return True
        return self._is_own(identity.named(url)) and not self._no_paths.reaches(_path(url)[1:])

    def _targets(self, one: Target, answer: Answer) -> Iterator[Target]:
        last = answer.responses[-1]
        document = Document(answer.body, name=answer.url, url=last.url, headers=last.head)
        with suppress(DocumentError, *FAULTS):  # the command that reads the answers reports it
            entity = walk(applied(document, self._settings), self._settings)
            for target in self._followed(one, entity.bases.own.url, rows(entity)):
                url = (identity.normal(target.url) or target.url).partition("#")[0]
                if url not in self.seen and url not in self._found:
                    self._found.add(url)
                    yield target._replace(url=url)

    def _followed(self, one: Target, url: str, found: Iterable[Any]) -> Iterator[Target]:
        needs = self._needs and one.nested < _NESTED
        for row in found:
            is_needed = needs and row.kind in _NEEDED
            is_page = row.kind == "navigation" and one.depth > 0
            is_web = (row.target or "").startswith(("http://", "https://"))
            if not is_web or not (is_needed or is_page) or self._is_left_out(row.reference, row.target):
                continue
            if is_needed and BEFORE_BASE in row.problems:  # browsers ask for another one
                yield Target(resolver(self._settings.profile, url)(row.reference) or "", -1, one.nested + 1)
            yield Target(row.target, -1, one.nested + 1) if is_needed else Target(row.target, one.depth - 1)


def _path(url: str) -> str:
    """Return the path of a URL, for example `/a/b` of `http://h/a/b?c`."""
    return "/" + identity.without_user(url).partition("://")[2].partition("#")[0].partition("?")[0].partition("/")[2]
