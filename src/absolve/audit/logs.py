"""Find URLs in the lines of access logs, and in the index of a web archive.

In: a line. Out: the URL or path of a request that was answered with 2xx or 3xx. Forms: the common and the
combined format of Apache and nginx, perhaps with the host before (httpd.apache.org/docs/2.4/logs.html); JSON of nginx,
Caddy, Traefik and others; the extended format of the W3C, as IIS and CloudFront write it; CDX in text and CDXJ
(iipc.github.io/warc-specifications). The JSON of a CDX server is a table, and read as one.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from absolve.rewriting import cdx

LONGEST: Final = 1 << 16  # bytes of a line
MOST: Final = 1 << 22  # distinct URLs of a log
KINDS: Final = {
    "log": "an access log",
    "jsonlog": "an access log in JSON",
    "w3c": "an access log in the format of the W3C",
    "cdx": "the index of an archive",
}
_COMMON: Final = re.compile(
    rb'(?:([\w.-]+)(?::\d+)? (?=\S+ \S+ \S+ \[))?\S+ \S+ [^\[\]"]{0,200}\[[^\]]{0,60}\]'
    rb' "(?:GET|HEAD) ([^" ]+)(?: HTTP/[\d.]+)?" ([23]\d\d)\b'
)
_IS_COMMON: Final = re.compile(
    rb'[^\n"]{0,400}\[(?:\d{1,2}/\w{3}/\d{4}|\d{4}-\d\d-\d\d)[: T]'
    rb'[^\]\n]{0,40}\] "[^"\n]*" \d{3}\b'
)
_IS_CDX: Final = re.compile(rb"[\w,.:%-]+\)\S* \d{4,17} (?:\{|https?:)")
_FIELDS: Final = ("cs-uri-stem", "cs-uri-query", "sc-status", "cs-method")
_REQUEST: Final = re.compile(r"(?:GET|HEAD) (\S+)")
# Names of the fields of a record in JSON, the first that is there.
_URIS: Final = ("request_uri", "uri", "url", "path", "RequestPath", "request", "http.url", "cs-uri-stem", "target")
_STATUSES: Final = ("status", "status_code", "response", "DownstreamStatus", "http.status_code", "sc-status", "code")
_HOSTS: Final = ("host", "http_host", "server_name", "vhost", "RequestHost", "hostname")
_METHODS: Final = ("method", "request_method", "RequestMethod", "verb")


def kind_of(head: bytes) -> str | None:
    """Return which log the first bytes of a file are of, one of KINDS; None for any other file."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].strip()
    if head.startswith(b" CDX ") or _IS_CDX.match(line):
        return "cdx"
    if re.match(rb"(?:#[^\n]*\n)*#Fields:", head):
        return "w3c"
    if line.startswith(b"{") and _of_json(line, is_any=True) is not None:
        return "jsonlog"
    return "log" if _IS_COMMON.match(line) else None


class Log:
    """Finds URLs in the lines of one log, of one of KINDS. `base`: the site of its paths; None: the host of each line.

    `#Fields:` of the extended format names the columns of the lines that follow.
    """

    def __init__(self, kind: str, base: str | None) -> None:
        self._kind = kind
        self._base = base
        self._places: dict[str, int] = {}

    def url(self, line: bytes) -> str | None:
        """Return the URL or path of a request that was answered with 2xx or 3xx, None for any other line."""
        if self._kind == "cdx":
            return _of_cdx(line)
        if self._kind == "w3c":
            return self._of_fields(line.decode("utf-8", "replace"))
        if self._kind == "jsonlog":
            of_json = _of_json(line)
            return None if of_json is None else self._placed(*of_json)
        found = _COMMON.match(line)
        return None if found is None else self._placed(found[2].decode("utf-8", "replace"), _text(found[1]))

    def _placed(self, uri: str, host: str) -> str:
        """Return a path with the host of its line, if no site is known."""
        return f"//{host}{uri}" if host and self._base is None and uri.startswith("/") else uri

    def _of_fields(self, line: str) -> str | None:
        if line.startswith("#"):
            name, _, fields = line.partition(":")
            if name == "#Fields":
                self._places = {field: place for place, field in enumerate(fields.split())}
            return None
        cells = dict(enumerate(line.split("\t") if "\t" in line else line.split(" ")))
        uri, query, status, method = (cells.get(self._places.get(name, -1), "") for name in _FIELDS)
        is_page = uri.startswith("/") and status[:1] in {"2", "3"} and method in {"", "-", "GET", "HEAD"}
        return (f"{uri}?{query}" if query not in {"", "-"} else uri) if is_page else None


def _text(found: bytes | None) -> str:
    """Return the host of a line; an address is that of the client, or of a proxy."""
    text = found.decode("ascii", "replace") if found is not None else ""
    return text if "." in text and not re.fullmatch(r"[\d.]+", text) else ""


def _of_json(line: bytes, *, is_any: bool = False) -> tuple[str, str] | None:
    """Return the URI and the host of a record, None for another answer than 2xx and 3xx. `is_any`: of any answer."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    inner = record.get("request")
    fields = {**record, **inner} if isinstance(inner, dict) else record
    uri, status = _field(fields, _URIS), str(_field(fields, _STATUSES))
    method = _field(fields, _METHODS)
    if not isinstance(uri, str) or not re.fullmatch(r"[1-5]\d\d", status):
        return None
    if (of_request := _REQUEST.match(uri)) is not None:
        uri, method = of_request[1], "GET"
    is_page = status[0] in "23" and method in {None, "GET", "HEAD"} and uri.startswith(("/", "http"))
    host = _field(fields, _HOSTS)
    return (uri, host if isinstance(host, str) and "." in host else "") if is_page or is_any else None


def _field(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value for name in names if isinstance(value := fields.get(name), str | int)), None)


def _of_cdx(line: bytes) -> str | None:
    """Return the URL of a line of an index, None for a capture with another status than 2xx and 3xx."""
    found = cdx.entry(line.decode("utf-8", "replace"))
    if found is None or found.status[:1] not in {"", "2", "3", "-"}:
        return None
    return found.url if found.url.startswith(("http:", "https:")) else None
