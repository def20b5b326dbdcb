"""Request the URLs that no file answers, once each: links, old URLs, pages of the new site.

In: URLs, how to request them, an open WARC. Out: a record of each request and answer, or of its problem; `answers`
reads it like records of other programs. Links are requested with HEAD first, and with GET where HEAD may lie.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import answered
from absolve.audit.judge import each
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.run.web.client import Client
    from absolve.run.web.exchange import Answer, Asking

KINDS: Final = ("external", "old", "new", "all")
INSIDE: Final = "inside"  # links to unrequested pages of a site that is named by URLs
_GET: Final = "GET"
_HEAD: Final = "HEAD"
_FINAL: Final = frozenset("unknown-host unreachable refused-address refused-scheme robots malformed redirects".split())
_LATER: Final = 429


class Request(NamedTuple):
    """A URL to request. `is_whole`: its body is needed, too."""

    url: str
    is_whole: bool


def wanted(connection: Any, kinds: str, known: answered.Answers) -> list[Request]:
    """Return the requests to make, each URL once, the hosts in turn; links with an answer in `known` are left out."""
    found: dict[str, bool] = {}
    if kinds != "old":
        for target, url, is_inside, _ in each(connection, answered.LINKED):
            is_wanted = kinds == "all" or is_inside == (kinds in {"new", INSIDE})
            if is_wanted and (known.outcome(url) is None or (is_inside and kinds != INSIDE)):
                found[url] = found.get(url, False) or is_inside or "#" in target
    for kind, query in (("old", answered.OLD_URLS), ("new", answered.NEW_URLS)):
        if kinds in {kind, "all"}:
            found.update((url, True) for (url,) in each(connection, query))
    return list(_in_turn(Request(*one) for one in found.items()))


def _in_turn(found: Iterable[Request]) -> Iterator[Request]:
    """Yield requests with the hosts in turn: for example, a1, b1, a2 for hosts a and b."""
    hosts: dict[str, list[Request]] = {}
    for one in found:
        hosts.setdefault(identity.origin(one.url), []).append(one)
    return filter(None, chain.from_iterable(zip_longest(*hosts.values())))


def ask(requests: list[Request], asking: Asking, keep: Callable[[Answer], None], done: Callable[[int], None]) -> None:
    """Make all requests; `keep` is called with each answer, `done` with the number of answered URLs."""
    from absolve.run.web import fetching

    fetching.run(_ask, requests, asking, keep, done)


async def _ask(
    requests: list[Request], asking: Asking, keep: Callable[[Answer], None], done: Callable[[int], None]
) -> None:
    import anyio

    from absolve.run.web.client import Client

    async with Client(asking) as client:
        run = _Run(client, keep, done)
        for several in (requests, run.again):  # again: hosts with soft 404 answers, with GET to compare bodies
            waiting = iter(list(several))
            async with anyio.create_task_group() as group:
                for _ in range(asking.concurrency[0]):
                    group.start_soon(run.work, waiting)


class _Run:
    """The requests of one run; `again`: requests to repeat with GET, because bodies must be compared."""

    def __init__(self, client: Client, keep: Callable[[Answer], None], done: Callable[[int], None]) -> None:
        self._client = client
        self._keep = keep
        self._done = done
        self._number = 0
        self._probes: dict[str, Any] = {}  # whether a server answers for missing pages, by origin
        self.again: list[Request] = []

    async def work(self, waiting: Iterator[Request]) -> None:
        for one in waiting:
            await self._one(one)
            self._number += 1
            self._done(self._number)

    async def _one(self, one: Request) -> None:
        answer = await self._client.answer(one.url, _GET if one.is_whole else _HEAD)
        self._keep(answer)
        if not one.is_whole and _may_lie(answer):
            answer = await self._client.answer(one.url, _GET)
            self._keep(answer)
        if answer.problem is not None or not await self._answers_all(answer.responses[-1].url):
            return
        if answer.responses[-1].method == _HEAD:
            self.again.append(one._replace(is_whole=True))

    async def _answers_all(self, url: str) -> bool:
        """Return whether the server of a URL answers for missing pages, too. One request finds out."""
        import anyio

        probe = answered.never_there(url)
        lock = self._probes.setdefault(probe, anyio.Lock())
        if isinstance(lock, bool):
            return lock
        async with lock:
            if isinstance(self._probes[probe], bool):
                return bool(self._probes[probe])
            answer = await self._client.answer(probe, _GET)
            self._keep(answer)
            self._probes[probe] = answer.problem is None
            return answer.problem is None


def _may_lie(answer: Answer) -> bool:
    """Return whether GET may get another answer than HEAD."""
    if answer.problem is None or answer.problem.code in _FINAL:
        return False
    return not answer.responses or answer.responses[-1].status != _LATER
