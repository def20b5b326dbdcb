"""Request one URL; several, ahead of their reader, in a thread with its own loop; or pages with their requisites.

In: a URL; items, some with a URL; URLs that the user named, and how deep their links are followed. Out: a document; the
same items in their order, with the answers; each answer of a crawl, for a WARC. It is no crawler for large sites: it
ends after some thousand pages. A page of the Internet leads to public addresses only.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from absolve.core.errors import FAULTS, DocumentError, UsageError
from absolve.core.model import Document
from absolve.document.response_header import applied
from absolve.document.walk import walk
from absolve.inventory import BEFORE_BASE
from absolve.inventory.link_rows import rows
from absolve.run import interrupts
from absolve.urls import identity, resolver

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping

    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Answer, Asking

    Item = TypeVar("Item")

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
    """Return a function that begins a request in a thread. When the stack closes, waiting requests are cancelled."""
    from anyio.from_thread import start_blocking_portal

    from absolve.run.web.client import Client

    client = Client(asking)
    portal = stack.enter_context(start_blocking_portal())
    stack.enter_context(portal.wrap_async_context_manager(client))
    stack.callback(lambda: [future.cancel() for _, future in waiting if future is not None])
    return partial(portal.start_task_soon, client.answer)


def run(function: Callable[..., Awaitable[Item]], *arguments: Any) -> Item:
    """Run a coroutine function in a loop; a signal cancels it, and raises Interrupted when all is closed."""
    import anyio

    async def cancelled() -> Item:
        from asyncio import get_running_loop

        with anyio.CancelScope() as scope:
            with interrupts.cancelling(partial(get_running_loop().call_soon_threadsafe, scope.cancel)):
                return await function(*arguments)
        raise AssertionError

    try:
        return anyio.run(cancelled)
    finally:
        interrupts.check()


async def afetch(
    url: str,
    *,
    headers: Mapping[str, str] = _NONE,
    timeout: float = 30.0,  # noqa: ASYNC109 - of each response
    private: bool = True,
) -> Document:
    """Return the document at a URL of http or https, for the other functions. It needs `absolve[web]`.

    Redirects are followed: its `url` is the last one, the retrieval URL (RFC 1808 3.3). `headers` are sent; other
    origins get only User-Agent and the Accept fields. `timeout`: seconds for one response. Without `private`, only
    public addresses are connected to. robots.txt is not requested for one page.
    Raise DocumentError, with the URL as name, if no document comes.
    """
    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Asking

    async with Client(Asking(tuple(headers.items()), timeout=timeout, private=private, robots=False)) as client:
        answer = await client.answer(url)
    if answer.problem is not None:
        raise DocumentError(answer.problem)
    last = answer.responses[-1]
    return Document(answer.body, name=answer.url, url=last.url, headers=last.head)


def fetch(url: str, *, headers: Mapping[str, str] = _NONE, timeout: float = 30.0, private: bool = True) -> Document:
    """Return what `afetch` does, for programs without an event loop. Raise UsageError where one runs."""
    import asyncio

    import anyio

    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise UsageError("absolve.fetch() would stop the event loop that runs here: await absolve.afetch()")
    return anyio.run(partial(afetch, url, headers=headers, timeout=timeout, private=private))


# --- pages with their requisites, and small sites of one host ---------------------------------------------------------

MOST_PAGES: Final = 5000
MOST_OTHERS: Final = 50_000  # requisites of all pages
_NEEDED: Final = frozenset({"image", "media", "script", "stylesheet", "frame", "font"})
_NESTED: Final = 5  # style sheets that import each other, frames in frames


class Target(NamedTuple):
    """A URL to request: a page whose links are followed `depth` times, or a requisite (`depth` is -1)."""

    url: str
    depth: int
    nested: int = 0


async def crawl(starts: list[str], depth: int, asking: Asking, keep: Callable[[Answer], None], *, needs: bool) -> Crawl:
    """Request pages, the pages of the same host that they link to, and their requisites (`needs`); keep each answer."""
    from absolve.run.web.client import Client

    asking = asking.with_origins(starts)
    async with Client(asking) as client:
        run = Crawl(client, set(map(identity.named, starts)), keep, asking, needs=needs)
        level = [Target(url, depth) for url in starts]
        while level:
            level = await run.level(level)
        return run


class Crawl:
    """The requested URLs, the number of pages among them, and the pages and others that were left out."""

    def __init__(
        self, client: Client, hosts: set[str], keep: Callable[[Answer], None], asking: Asking, *, needs: bool
    ) -> None:
        self._client = client
        self._hosts = hosts
        self._keep = keep
        self._asking = asking
        self._needs = needs
        self.seen: set[str] = set()
        self.pages = self.left_out = 0
        self.others_left_out: set[str] = set()

    async def level(self, targets: list[Target]) -> list[Target]:
        """Request targets, several at once; return the targets that their documents lead to."""
        import anyio

        found: list[Target] = []
        waiting = self._new(targets)

        async def work() -> None:
            for one in waiting:
                found.extend(await self._one(one))

        async with anyio.create_task_group() as group:
            for _ in range(self._asking.concurrency[0]):
                group.start_soon(work)
        return found

    def _new(self, targets: list[Target]) -> Iterator[Target]:
        for one in targets:
            url = (identity.normal(one.url) or one.url).partition("#")[0]
            if url in self.seen:
                continue
            if one.depth >= 0:
                if self.pages == MOST_PAGES:
                    self.left_out += 1
                    continue
                self.pages += 1
            elif len(self.seen) - self.pages >= MOST_OTHERS:
                self.others_left_out.add(url)
                continue
            self.seen.add(url)
            yield one

    async def _one(self, one: Target) -> list[Target]:
        import anyio

        answer = await self._client.answer(one.url)
        self._keep(answer)
        if answer.problem is not None:
            return []
        return await anyio.to_thread.run_sync(self._targets, one, answer)

    def _targets(self, one: Target, answer: Answer) -> list[Target]:
        last = answer.responses[-1]
        document = Document(answer.body, name=answer.url, url=last.url, headers=last.head)
        with suppress(DocumentError, *FAULTS):  # the command that reads the answers reports it
            entity = walk(applied(document, self._asking.settings), self._asking.settings)
            return list(self._followed(one, entity.bases.own.url, rows(entity)))
        return []

    def _followed(self, one: Target, url: str, found: Iterable[Any]) -> Iterator[Target]:
        for row in found:
            if not (row.target or "").startswith(("http://", "https://")):
                continue
            if BEFORE_BASE in row.problems and self._needs and one.nested < _NESTED:  # browsers ask for another one
                yield Target(resolver(self._asking.settings.profile, url)(row.reference) or "", -1, one.nested + 1)
            if row.kind in _NEEDED and self._needs and one.nested < _NESTED:
                yield Target(row.target, -1, one.nested + 1)
            elif row.kind == "navigation" and one.depth > 0 and identity.named(row.target) in self._hosts:
                yield Target(row.target, one.depth - 1)
