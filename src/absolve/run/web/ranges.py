"""Request ranges of a file on the web; accept only these bytes, from one unchanged file.

In: a URL that the user named. Out: the methods of fsspec's file systems that `buckets` calls; whether the server gives
ranges. A password is never sent: from a server that wants one the whole file is requested.
"""

from __future__ import annotations

import errno
import io
import re
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from absolve.document.settings import Settings
from absolve.run.web.client import Client
from absolve.run.web.exchange import Asking

if TYPE_CHECKING:
    from absolve.run.web.exchange import Response

_RANGE: Final = re.compile(r"bytes[ =]([0-9]{1,18})-([0-9]{1,18})(?:/([0-9]{1,18}))?")
_seen: dict[str, tuple[int | None, str]] = {}  # by URL: the size of a file, and a mark that changes with it


class Archives:
    """The file system of URLs. `timeout`: seconds for one response; `retries` after errors that may pass."""

    def __init__(self, timeout: float, retries: int) -> None:
        self._asking = Asking(timeout=timeout, retries=retries, robots=False, passwords=False)

    def are_supported(self, url: str) -> bool:
        """Return whether a server promises ranges of a file of known size. Raise OSError."""
        last = self._head(url)
        return (last.field("Accept-Ranges") or "").lower() == "bytes" and _size(last) is not None

    def info(self, url: str) -> dict[str, Any]:
        last = self._head(url)
        return {"type": "file", "size": _size(last), "ETag": _mark(last)}

    def cat_file(self, url: str, start: int, end: int) -> bytes:
        with self.client(end - start) as client:
            return part(client, url, start, end - 1)

    def open(self, url: str, _mode: str, *, block_size: int, cache_type: str = "", **_: Any) -> _File:
        size = _size(self._head(url)) or 0
        return _File(self.client(block_size), url, size, block_size, reads_ahead=cache_type != "")

    def client(self, most: int) -> Client:
        """Return a client for bodies of so many bytes."""
        return Client(self._asking._replace(settings=Settings(max_size=most)))

    def _head(self, url: str) -> Response:
        with self.client(0) as client:
            last = _last(client, url, "HEAD", {})
        _seen[last.url] = _size(last), _mark(last)
        return last


def part(client: Client, url: str, first: int, last: int) -> bytes:
    """Return the bytes from `first` to `last` of a file. Raise OSError for an answer with others."""
    got = _last(client, url, "GET", {"range": f"bytes={first}-{last}", "accept-encoding": "identity"})
    if (why := _difference(first, last, got)) is not None:
        raise OSError(errno.EIO, why)
    return got.body


def _last(client: Client, url: str, method: str, fields: dict[str, str]) -> Response:
    (answer,) = client.engine.run(iter([client.answer(url, method, fields), None]).__next__, 1)
    if answer.problem is not None:
        raise OSError(errno.EIO, answer.problem.text)
    last: Response = answer.responses[-1]
    return last


class _File(io.BufferedIOBase):
    """A file that is read in blocks; while one is read, the next one is requested, if it `reads_ahead`."""

    def __init__(self, client: Client, url: str, size: int, block: int, *, reads_ahead: bool) -> None:
        self._client, self._url, self.size, self._block = client, url, size, block
        self._reads_ahead = reads_ahead
        self._pool = ThreadPoolExecutor(1)
        self._blocks: dict[int, Future[bytes]] = {}  # this one and the next one
        self._at = 0

    def read(self, size: int | None = -1, /) -> bytes:
        end = self.size if size is None or size < 0 else min(self.size, self._at + size)
        out = bytearray()
        while self._at < end:
            number, start = divmod(self._at, self._block)
            out += self._of(number)[start : start + end - self._at]
            self._at += min(end - self._at, self._block - start)
        return bytes(out)

    def _of(self, number: int) -> bytes:
        wanted = (number, number + 1) if self._reads_ahead else (number,)
        self._blocks = {one: self._blocks.get(one) or self._pool.submit(self._load, one) for one in wanted}
        return self._blocks[number].result()

    def _load(self, number: int) -> bytes:
        first = number * self._block
        end = min(first + self._block, self.size)
        return part(self._client, self._url, first, end - 1) if first < end else b""

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._client.engine.stop()
            self._pool.shutdown(cancel_futures=True)
            self._client.engine.close()
        super().close()


def _difference(first: int, last: int, got: Response) -> str | None:
    """Return why an answer is not a range of the same file as before; None if it is."""
    sent = _RANGE.fullmatch(got.field("Content-Range") or "")
    if got.status != 206 or sent is None or got.field("Content-Encoding") is not None:
        return "the server sent something else than the range that it promised"
    size, mark = _seen.setdefault(got.url, (int(sent[3]) if sent[3] else None, _mark(got)))
    if (size is not None and sent[3] not in {None, str(size)}) or (mark and _mark(got) not in {"", mark}):
        return "it changed while it was read"
    last = last if size is None else min(last, size - 1)
    if (int(sent[1]), int(sent[2]), len(got.body)) != (first, last, last - first + 1):
        return f"the server sent other bytes than {first} to {last}, which were asked for"
    return None


def _size(one: Response) -> int | None:
    return int(text) if (text := one.field("Content-Length") or "").isdecimal() else None


def _mark(one: Response) -> str:
    """Return a mark that differs after any change of a file: its strong ETag, or the time of the last change."""
    tag = one.field("ETag") or ""
    return (one.field("Last-Modified") or "") if not tag or tag.startswith("W/") else tag
