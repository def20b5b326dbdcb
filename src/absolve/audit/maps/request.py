"""The parts of a URL that rules compare, in one spelling: the host, the decoded path, the query.

In: absolute URLs as str, or paths as a map writes them. Out: `Request`. Percent-escapes are decoded where that keeps
the meaning: `%2F` and `%3F` stay, and so does a `%25` that would become an escape.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from absolve.urls.identity import decoded, named

__all__ = ["Request", "decoded", "encoded", "request", "subject"]

_ESCAPED_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_WEB: Final = re.compile(r"(https?)://[^/?#]*([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL | re.IGNORECASE)
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
    scheme, path, query, fragment = found.groups()
    path = path or "/"
    if fragment is not None:
        url = url[: found.start(4) - 1]
    return Request(url, scheme.lower(), named(url), path, decoded(path), query)


def subject(request: Request, name: str) -> str:
    """Return the part of a request that a regular expression is matched against."""
    query = "" if request.query is None else f"?{request.query}"
    if name == "path":
        return request.decoded
    if name == "folder":
        return request.decoded.removeprefix("/")
    if name == "url":
        return f"{request.scheme}://{request.host}{request.path}{query}"
    if name == "target":  # as the request line has it
        return request.path + query
    if name == "line":
        return f"GET {request.path}{query} HTTP/1.1"
    if name == "query":
        return request.query or ""
    if name == "scheme":
        return request.scheme
    if name == "https":
        return "on" if request.scheme == "https" else "off"
    return request.host.partition(":")[0] if name == "name" else request.host


def encoded(text: str) -> str:
    """Return decoded text, such as a group of a match, as a part of a path: only what would end the path is escaped."""
    if not _RESERVED.search(text):
        return text
    return _RESERVED.sub(lambda one: _escaped(one, text), text)


def _escaped(found: re.Match[str], text: str) -> str:
    if found[0] == "%" and _ESCAPED_PERCENT.match(text, found.start()):
        return "%"
    return f"%{ord(found[0]):02X}"
