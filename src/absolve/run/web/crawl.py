"""Ask for pages with all that they need, and for a small site of one host: what a mirror or an audit of a URL is about.

In: URLs that the user named, how deep their links are followed. Out: each answer, for a WARC; which URLs had none. It
is no crawler for large sites: it ends after some thousand pages. A page of the Internet leads to public addresses only.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio

from absolve.core.errors import FAULTS, DocumentError
from absolve.core.model import Document
from absolve.document.response_header import applied
from absolve.document.walk import walk
from absolve.inventory import BEFORE_BASE
from absolve.inventory.link_rows import rows
from absolve.run.web import fetching
from absolve.run.web.client import Client
from absolve.urls import identity, resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.run.web.client import Answer, Asking

MOST_PAGES: Final = 5000
MOST_OTHERS: Final = 50_000  # what pages need, in all
_NEEDED: Final = frozenset({"image", "media", "script", "stylesheet", "frame", "font"})
_NESTED: Final = 5  # style sheets that import each other, frames in frames


class Target(NamedTuple):
    """A URL to ask for: a page whose links are followed `depth` times, or what a page needs (`depth` is -1)."""

    url: str
    depth: int
    nested: int = 0


class Crawled(NamedTuple):
    """What a crawl came to: URLs that are pages, all URLs that were asked for; pages and others that were left out."""

    pages: int
    asked: int
    left_out: int
    others_left_out: int


def crawl(starts: list[str], depth: int, asking: Asking, keep: Callable[[Answer], None], *, needs: bool) -> Crawled:
    """Ask for pages, those of the same host that they link to, and what they need (`needs`); keep each answer."""
    return fetching.run(_crawl, starts, depth, asking, keep, needs)


async def _crawl(
    starts: list[str],
    depth: int,
    asking: Asking,
    keep: Callable[[Answer], None],
    needs: bool,
) -> Crawled:
    asking = asking.with_origins(starts)
    async with Client(asking) as client:
        run = _Run(client, set(map(identity.named, starts)), keep, asking, needs=needs)
        level = [Target(url, depth) for url in starts]
        while level:
            level = await run.level(level)
        return Crawled(run.pages, len(run.seen), run.left_out, len(run.others_left_out))


class _Run:
    """One crawl: the URLs that were asked for, and what came."""

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
        """Ask for targets, several at once; return those that these lead to."""
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
