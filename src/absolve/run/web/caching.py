"""Keep responses on the disk by the rules of HTTP (RFC 9111), as hishel implements them.

In: a request, and a function that sends it. Out: its response, from the disk while it is fresh, or from the server. It
is a private cache, like a browser's: its folder and file are for its user alone. Responses are kept as they came, with
their headers as bytes, requests without fields that may be secret.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import MissingPackageError, UsageError
from absolve.run.output_folder import check_links

try:
    import hishel
except ImportError as error:
    raise MissingPackageError("--cache needs absolve[web]: pip install 'absolve[web]'") from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from absolve.run.web.exchange import Response

    Send = Callable[[dict[str, str]], Awaitable[Response]]

_FILE: Final = "absolve-responses.sqlite"
_MOST: Final = 1 << 30  # bytes of all responses; the least recently used are removed first
logging.getLogger("hishel").addHandler(logging.NullHandler())  # a later fault only means another request
_PRIVATE: Final[hishel.CacheOptions] = {"shared": False}


class Cache:
    """The responses in a folder. Raise UsageError if it cannot be made."""

    def __init__(self, folder: str) -> None:
        path = Path(folder) / _FILE
        try:
            check_links(path)
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--cache {folder}: {error.strerror or error}") from error
        with suppress(OSError):  # of another user; `_check` reports any other fault
            path.touch(0o600)
            path.chmod(0o600)
        _check(path)
        self._storage = hishel.AsyncSqliteStorage(database_path=path, max_size=_MOST)

    async def close(self) -> None:
        await self._storage.close()

    async def response(self, url: str, method: str, fields: Mapping[str, str], send: Send, place: str) -> Response:
        """Return the response to a request; `send` is called with the fields, also for revalidation.

        `place`: the server to ask for this URL, if it is not the URL's own.
        """
        from absolve.run.web.exchange import OPEN_FIELDS

        request = hishel.Request(method, url, hishel.Headers(dict(fields)))
        kept = hishel.Request(method, url, hishel.Headers({name: fields[name] for name in fields.keys() & OPEN_FIELDS}))
        key = " ".join(filter(None, (method, url, place)))
        got: Response | None = None
        state: Any = hishel.IdleClient(options=_PRIVATE)
        while True:
            if isinstance(state, hishel.IdleClient):
                state = state.next(request, await self._storage.get_entries(key))
            elif isinstance(state, (hishel.CacheMiss, hishel.NeedRevalidation)):
                got = await send(dict(state.request.headers.items()))
                state = state.next(_to_keep(got))
            elif isinstance(state, hishel.StoreAndUse):
                entry = await self._storage.create_entry(kept, state.response, key)
                return await _read_cached(entry.response.stream, url)
            elif isinstance(state, hishel.FromCache):
                return await _read_cached(state.entry.response.stream, url)
            elif isinstance(state, hishel.NeedToBeUpdated):
                for one in state.updating_entries:
                    await self._storage.update_headers(one.id, one.response.headers)
                state = state.next()
            elif isinstance(state, hishel.InvalidateEntries):
                for number in state.entry_ids:
                    await self._storage.remove_entry(number)
                state = state.next()
            elif got is not None:  # it may not be kept
                return got


def _check(path: Path) -> None:
    """Raise UsageError if a file is no database, or cannot be one: hishel would print a traceback for each URL."""
    try:
        with closing(sqlite3.connect(path)) as database:
            database.execute("BEGIN IMMEDIATE").execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:  # another run writes
            raise UsageError(f"--cache: {path}: {error}") from error


def _to_keep(got: Response) -> hishel.Response:
    """Return a response for hishel, whose body is the whole response, with its header in bytes."""
    fields: dict[str, list[str]] = {}
    for name, value in got.message.items():
        fields.setdefault(name.lower(), []).append(str(value))

    async def stream() -> AsyncIterator[bytes]:
        yield f"{got.status} {got.time!r} {got.method} {len(got.head)}\n".encode() + got.head
        yield got.body

    return hishel.Response(got.status, hishel.Headers(fields), stream())


async def _read_cached(stream: Any, url: str) -> Response:
    """Return the response in a stream."""
    from absolve.run.web.exchange import Response

    data = b"".join([piece async for piece in stream])
    first, _, rest = data.partition(b"\n")
    status, time, method, size = first.split()
    head, body = rest[: int(size)], rest[int(size) :]
    return Response(url, (), int(status), head, body, float(time), method.decode())
