"""Ask for one URL; or for several, ahead of who reads them one after the other, in a thread with a loop of its own.

In: a URL, or items of which some have one. Out: a document; the same items in their order, with the answers.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.core.errors import DocumentError, UsageError
from absolve.core.model import Document
from absolve.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping

    from absolve.run.web.client import Answer, Asking

    Item = TypeVar("Item")

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def answered(
    items: Iterable[Item], url_of: Callable[[Item], str | None], asking: Asking
) -> Generator[tuple[Item, Answer | None]]:
    """Yield items in order, each with the answer for its URL, or with None if it has no URL.

    As many URLs are asked for ahead as may be asked for at once. Without one no thread is started.
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
                yield _first(waiting)
        while waiting:
            yield _first(waiting)


def _first(waiting: deque[tuple[Item, Any]]) -> tuple[Item, Answer | None]:
    item, future = waiting[0]
    answer = None if future is None else future.result()
    waiting.popleft()
    return item, answer


def _asker(asking: Asking, stack: ExitStack, waiting: Iterable[tuple[Any, Any]]) -> Callable[[str], Any]:
    """Return what begins a request in a thread, which ends with the stack: then those that wait are cancelled."""
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

    Redirects are followed: its `url` is the last one, the retrieval URL (RFC 1808 3.3). `headers` are sent, to other
    origins only a User-Agent and what the reader accepts. `timeout`: seconds for one response. Without `private`, only
    public addresses are connected to.

    robots.txt is not asked for: one page is. Raise DocumentError, with the URL as name, if no document comes.
    """
    from absolve.run.web.client import Asking, Client

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
