"""The parts of a URL that rules compare, in one spelling: the host, the decoded path, the query.

In: absolute URLs as str, or paths as a map writes them. Out: `Request`. Percent-escapes are decoded where that keeps
the meaning: `%2F` and `%3F` stay, and so does a `%25` that would become an escape.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from absolve.urls import whatwg

_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPED_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_WEB: Final = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL | re.IGNORECASE)
_DEFAULT_PORTS: Final = (":80", ":443")
_RESERVED: Final = re.compile(r"[%?#]")


class Request(NamedTuple):
    """One URL as rules see it: `host` with a non-default port, `path` as in the URL and `decoded`, query or None."""

    url: str
    scheme: str
    host: str
    path: str
    decoded: str
    query: str | None
    is_home: bool = True  # rules without a host apply to it


def request(url: str) -> Request | None:
    """Return the parts of an http or https URL, without its fragment; None for any other."""
    found = _WEB.fullmatch(url)
    if found is None:
        return None
    scheme, authority, path, query, fragment = found.groups()
    host = host_of(authority)
    path = path or "/"
    if fragment is not None:
        url = url[: found.start(5) - 1]
    return Request(url, scheme.lower(), host, path, decoded(path), query)


def host_of(authority: str) -> str:
    """Return the host of an authority in lower case, with its port unless that is a default port of http or https.

    The default port of the other scheme counts as one, too: `http://host:443/` is the same site.
    """
    host = authority.rpartition("@")[2].lower()
    for port in (":", *_DEFAULT_PORTS):
        host = host.removesuffix(port)
    if not host.isascii():
        found = whatwg.host(f"http://{host}/")
        return found if found is not None else host
    return host.removesuffix(".")


def decoded(path: str) -> str:
    """Return a path with its escapes decoded as UTF-8; those of `/` and `?`, and of no UTF-8, stay in upper case."""
    if "%" not in path:
        return path
    return _ESCAPES.sub(_decoded_run, path)


def _decoded_run(found: re.Match[str]) -> str:
    data = bytes.fromhex(found[0].replace("%", ""))
    text = data.decode("utf-8", "surrogateescape").replace("%", "%25").replace("/", "%2F").replace("?", "%3F")
    if not text.isascii():
        text = "".join(f"%{ord(one) - 0xDC00:02X}" if "\udc80" <= one <= "\udcff" else one for one in text)
    if "%25" not in text:
        return text
    rest = found.string[found.end() : found.end() + 2]
    return re.sub("%25(?![0-9A-Fa-f]{2})", "%", text + rest)[: -len(rest) or None]


def encoded(text: str) -> str:
    """Return decoded text, such as a group of a match, as a part of a path: only what would end the path is escaped."""
    if not _RESERVED.search(text):
        return text
    return _RESERVED.sub(lambda one: _escaped(one, text), text)


def _escaped(found: re.Match[str], text: str) -> str:
    if found[0] == "%" and _ESCAPED_PERCENT.match(text, found.start()):
        return "%"
    return f"%{ord(found[0]):02X}"
