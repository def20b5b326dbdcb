"""Requests and answers: how URLs are requested, the responses, and the WARC (ISO 28500) that keeps them.

In: the options about requests; cookies, passwords, proxies and packages from the user's environment, never from a
document. Out: an `Answer` for a URL, written as a `response` and a `request` record for each exchange, which absolve
reads like the web itself; requests lack fields that may be secret.
"""

from __future__ import annotations

import hashlib
import uuid
import zlib
from base64 import b32encode
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from absolve import __version__
from absolve.core.errors import DocumentError, UsageError
from absolve.document.settings import Settings
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import without_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from email.message import Message
    from http.cookiejar import CookieJar
    from typing import Self

    import ada_url

    from absolve.core.errors import Diagnostic


class Asking(NamedTuple):
    """How URLs are requested: fields of every request, a file of cookies in Netscape's format, limits.

    `timeout`: seconds for one response with its body. `retries` after errors of the network and answers that mean
    "later". `concurrency`: requests at once, in all and per host. `private`: also addresses that are not public.
    `robots`: request robots.txt and follow it (RFC 9309). `resolved`: the server to connect to for a host, for example
    `http://127.0.0.1:8080`. `cache`: a folder of responses. `origins`: the origins that the user named, if documents
    name URLs, too: only these get the user's secrets (fields, cookies, netrc). Unless all of them are in private
    networks, only they and hosts of `resolved` may be. Raise UsageError in `Client` for options that cannot be used.
    """

    fields: tuple[tuple[str, str], ...] = ()
    cookies: str | None = None
    timeout: float = 30.0
    retries: int = 2
    concurrency: tuple[int, int] = 16, 4
    private: bool = True
    robots: bool = True
    settings: Settings = Settings()
    resolved: tuple[tuple[str, str], ...] = ()
    cache: str | None = None
    origins: Mapping[str, tuple[str, str] | None] | None = None  # with the user and password for each

    def with_origins(self, urls: Iterable[str | None]) -> Self:
        """Return the same for URLs of documents: the user's secrets are for the origins of `urls`."""
        import ada_url

        found: dict[str, tuple[str, str] | None] = {}
        for url in filter(None, urls):
            with suppress(ValueError):
                parsed = ada_url.URL(url)
                found[parsed.origin] = found.get(parsed.origin) or credentials(parsed)
        return self._replace(origins=found)


class Response(NamedTuple):
    """One response: the requested URL, the fields of the request, status, header in bytes, body, time (Unix).

    Neither header nor body has a Transfer-Encoding any more; content codings stay.
    """

    url: str
    request: tuple[tuple[bytes, bytes], ...]
    status: int
    head: bytes
    body: bytes
    time: float
    method: str = "GET"

    @property
    def message(self) -> Message:
        """The fields of the header."""
        from email.message import Message

        message = Message()
        for line in self.head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b": ")
            if name:
                message[name.decode("latin-1")] = _text(value)
        return message


class Answer(NamedTuple):
    """The answer to a request for a URL: redirects and the last response, and its body, decoded.

    `problem`: why there is no document; `responses` has the responses before it. `others`: responses to repeated tries,
    and of robots.txt.
    """

    url: str
    responses: tuple[Response, ...] = ()
    body: bytes = b""
    problem: Diagnostic | None = None
    others: tuple[Response, ...] = ()

    @property
    def asked_last(self) -> str:
        """The URL of the last request, even if it has no response."""
        import ada_url

        if not self.responses:
            return self.url
        last = self.responses[-1]
        location = last.message.get("Location") if last.status in REDIRECTS else None
        with suppress(ValueError):
            return without_user(ada_url.URL(location, last.url).href) if location is not None else last.url
        return last.url

    @property
    def head(self) -> bytes:
        """The headers of all responses, in their order."""
        return b"".join(one.head for one in self.responses)


def _text(value: bytes) -> str:
    """Return the text of a field value: UTF-8 as browsers read it, or ISO 8859-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


# --- the user's environment for requests ------------------------------------------------------------------------------


def cookies(name: str | None) -> CookieJar:
    """Return the cookies in a file in Netscape's format. Raise UsageError for a file that cannot be read."""
    import io
    from http.cookiejar import CookieJar, LoadError, MozillaCookieJar

    from absolve.run.sources import of_option

    if name is None:
        return CookieJar()
    jar = MozillaCookieJar(name)
    reader: Any = jar
    try:  # by `load` it would wait for a pipe for ever
        reader._really_load(io.StringIO(of_option(name).decode(), None), name, True, True)  # noqa: SLF001
    except (LoadError, DocumentError, UnicodeDecodeError) as error:
        raise UsageError(f"--cookies: {error}") from error
    for cookie in jar:
        if cookie.expires == 0:  # a session cookie, as curl and browsers write it
            cookie.expires, cookie.discard = None, True
    jar.clear_expired_cookies()
    return jar


def credentials_in(url: ada_url.URL) -> tuple[str, str] | None:
    """Return the user and password in a URL, for example ("u", "p") in `http://u:p@h/`; or None."""
    return (unquote(url.username), unquote(url.password)) if url.username or url.password else None


def credentials(url: ada_url.URL) -> tuple[str, str] | None:
    """Return the user and password for a URL that the user named: from the URL, or from .netrc for its host."""
    import netrc

    if (own := credentials_in(url)) is not None:
        return own
    with suppress(OSError, netrc.NetrcParseError):
        if (found := netrc.netrc().authenticators(url.hostname)) is not None:
            return found[0], found[2] or ""
    return None


def proxy_of(url: ada_url.URL) -> str | None:
    """Return the proxy that the environment names for a URL, or None."""
    from urllib.request import getproxies, proxy_bypass

    if proxy_bypass(url.hostname):
        return None
    found = getproxies()
    proxy = found.get(url.protocol.removesuffix(":")) or found.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def encodings() -> list[str]:
    """Return the content codings that can be decoded here, for example gzip; br and zstd need packages."""
    from importlib.util import find_spec

    more = {"br": "brotli", "zstd": "zstandard"}
    return ["gzip", "deflate", *(name for name, package in more.items() if find_spec(package) is not None)]


# --- WARC -------------------------------------------------------------------------------------------------------------

AGENT: Final = f"absolve/{__version__}"
OPEN_FIELDS: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})  # no secrets
HTTP: Final = "application/http; msgtype="  # the media type of a request or a response
_FIELDS: Final = "application/warc-fields"
_LINE_ENDS: Final = {ord("\r"): "%0D", ord("\n"): "%0A"}  # so that a URL adds no field
_GZIP: Final = 31  # zlib: the window, and a header of gzip


def record(fields: dict[str, str], block: bytes) -> bytes:
    r"""Return a WARC record with these fields and the length of the block; line ends in values are escaped.

    >>> record({"WARC-Type": "resource"}, b"<p>")
    b'WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n'
    """
    lines = [f"{name}: {value.translate(_LINE_ENDS)}" for name, value in fields.items() if value]
    text = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "", ""])
    return text.encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


class Writer:
    """Writes answers to a file; each record of a `compressed` file is a gzip member."""

    def __init__(self, file: IO[bytes], *, compressed: bool) -> None:
        self._file = file
        self._compressed = compressed
        text = f"software: {AGENT}\r\nformat: WARC File Format 1.1\r\n"
        self._write("warcinfo", datetime.now(UTC), _FIELDS, text.encode())

    def add(self, answer: Answer) -> None:
        """Write the records of all requests and responses, and a metadata record for a URL without a response."""
        for one in (*answer.others, *answer.responses):
            self._add(one)
        if answer.problem is not None and answer.problem.code != "http-status":
            text = f"problem: {answer.problem.code}: {answer.problem.text}\r\n"
            uri = {"WARC-Target-URI": answer.asked_last}
            self._write("metadata", datetime.now(UTC), _FIELDS, text.encode(), uri)

    def _add(self, one: Response) -> None:
        parts = urlsplit(one.url)
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        fields = [(b"host", parts.netloc.rpartition("@")[2].encode())]
        fields += [(name, value) for name, value in one.request if name.decode() in OPEN_FIELDS]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        asked = f"{one.method} {target} HTTP/1.1\r\n".encode() + lines + b"\r\n"
        date = datetime.fromtimestamp(one.time, UTC)
        uri = {"WARC-Target-URI": one.url}
        digest = {"WARC-Payload-Digest": _digest(one.body)}
        response_id = self._write("response", date, f"{HTTP}response", one.head + one.body, uri | digest)
        self._write("request", date, f"{HTTP}request", asked, uri | {"WARC-Concurrent-To": response_id})

    def _write(self, kind: str, date: datetime, type_: str, block: bytes, more: dict[str, str] | None = None) -> str:
        """Write a record, and return its identifier."""
        own = f"<{uuid.uuid4().urn}>"
        fields = {"WARC-Type": kind, "WARC-Record-ID": own, "WARC-Date": date.strftime("%Y-%m-%dT%H:%M:%SZ")}
        fields |= {**(more or {}), "WARC-Block-Digest": _digest(block), "Content-Type": type_}
        data = record(fields, block)
        self._file.write(zlib.compress(data, wbits=_GZIP) if self._compressed else data)
        return own


def _digest(data: bytes) -> str:
    return f"sha1:{b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"
