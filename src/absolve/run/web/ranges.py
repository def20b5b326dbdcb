"""Request ranges of a file on the web, as fsspec does; accept only these bytes, from one unchanged file.

In: a URL that the user named. Out: the methods of fsspec's file system; whether the server gives ranges. A password is
never sent: from a server that wants one the whole file is requested, and its redirects are followed elsewhere.
"""

from __future__ import annotations

import errno
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import ada_url
import aiohttp
from fsspec.asyn import sync
from fsspec.implementations.http import HTTPFileSystem

from absolve import __version__
from absolve.run.web import exchange

if TYPE_CHECKING:
    from collections.abc import Callable

_LATER: Final = frozenset({429, 502, 503, 504})
_RANGE: Final = re.compile(r"bytes[ =]([0-9]{1,18})-([0-9]{1,18})(?:/([0-9]{1,18}))?")
_FIELDS: Final = {"User-Agent": f"absolve/{__version__}", "Accept-Encoding": "identity"}
_seen: dict[str, tuple[int | None, str]] = {}  # by URL: the size of a file, and a mark that changes with it


class _LaterError(OSError):
    """An answer that asks to try again later."""


_AGAIN: Final = (_LaterError, aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)


class Archives:
    """The file system of fsspec for a URL, which repeats requests after errors that may pass."""

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        patience = aiohttp.ClientTimeout(total=timeout)
        own = {"headers": _FIELDS, "raise_for_status": _check, "timeout": patience}
        self._files = HTTPFileSystem(proxy=exchange.proxy_of(ada_url.URL(url)), client_kwargs=own)
        self._retries = retries

    def info(self, url: str) -> Any:
        return self._patient(self._files.info)(url)

    def cat_file(self, url: str, **part: int) -> Any:
        return self._patient(self._files.cat_file)(url, **part)

    def open(self, url: str, mode: str, **how: Any) -> Any:
        file = self._patient(self._files.open)(url, mode, **how)
        if file.cache is not None:
            file.cache.fetcher = self._patient(file.cache.fetcher)
        return file

    def are_supported(self, url: str) -> bool:
        """Return whether a server promises ranges of a file of known size. Raise OSError or ClientError."""
        return bool(self._patient(sync)(self._files.loop, partial(self._ask, url)))

    async def _ask(self, url: str) -> bool:
        session = await self._files.set_session()
        async with session.head(url, allow_redirects=True, **self._files.kwargs) as answer:
            return answer.headers.get("Accept-Ranges", "").lower() == "bytes" and answer.content_length is not None

    def _patient(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def tried(*arguments: Any, **more: Any) -> Any:
            for again in range(self._retries):
                try:
                    return work(*arguments, **more)
                except _AGAIN:
                    time.sleep(0.5 * 2**again)
            return work(*arguments, **more)

        return tried


async def _check(answer: aiohttp.ClientResponse) -> None:
    """Raise OSError for an answer that is not the requested range, before its body is read."""
    if answer.status >= 400:
        kind = _LaterError if answer.status in _LATER else OSError
        raise kind(errno.EIO, f"the server answered {answer.status} {answer.reason}")
    asked = _RANGE.fullmatch(answer.request_info.headers.get("Range", ""))
    if asked is None:
        _seen[str(answer.url)] = answer.content_length, _mark(answer)
    elif (why := _difference(int(asked[1]), int(asked[2]), answer)) is not None:
        raise OSError(errno.EIO, why)


def _difference(first: int, last: int, answer: aiohttp.ClientResponse) -> str | None:
    """Return why an answer is not a range of the same file as before; None if it is."""
    sent = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if answer.status != 206 or sent is None or "Content-Encoding" in answer.headers:
        return "the server sent something else than the range that it promised"
    size, mark = _seen.setdefault(str(answer.url), (int(sent[3]) if sent[3] else None, _mark(answer)))
    if (size is not None and sent[3] not in {None, str(size)}) or (mark and _mark(answer) not in {"", mark}):
        return "it changed while it was read"
    last = last if size is None else min(last, size - 1)
    if (int(sent[1]), int(sent[2]), answer.content_length) != (first, last, last - first + 1):
        return f"the server sent other bytes than {first} to {last}, which were asked for"
    return None


def _mark(answer: aiohttp.ClientResponse) -> str:
    """Return a mark that differs after any change of a file: its strong ETag, or the time of the last change."""
    tag = answer.headers.get("ETag", "")
    return str(answer.headers.get("Last-Modified", "") if not tag or tag.startswith("W/") else tag)
