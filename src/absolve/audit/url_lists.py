"""Load lists of URLs into the working tables: plain lists, sitemaps, tables, access logs, indexes of archives.

In: a connection, the name of a list. Out: a row of the table of documents for each URL, the number of requests if the
list has it, and diagnostics for lines without a URL. A log is read line by line, and only its distinct URLs are kept.

    >>> Log("log", None).url(b'h.example 1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 5')
    '//h.example/a'
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import zipfile
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, cast

from absolve.audit import load
from absolve.core.arrow_stream import NUMBER, TEXT, Field
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.core.model import Document
from absolve.inventory import batches
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.rewriting import cdx
from absolve.rules import cells, columns
from absolve.rules.table import ROLES
from absolve.run import sources
from absolve.run.sources import local, unreadable
from absolve.urls import identity, whatwg
from absolve.urls.predicates import is_malformed, parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.document.settings import Settings
    Notify = Callable[[Diagnostic], None]


_ROWS: Final = 10_000
_REQUESTS: Final = (Field("url", TEXT), Field("number", NUMBER))
_GZIP: Final = b"\x1f\x8b"
_MARK: Final = b"\xef\xbb\xbf"
_LARGEST: Final = 256 << 20  # bytes of a table
_RATIO: Final = 200  # of bytes to compressed ones: a log has 10 to 50
_NO_PAGE: Final = frozenset({"", "(not set)", "(other)", "(entrance)", "(none)", "(direct)", "total", "totals"})
_URL: Final = columns.Role(
    frozenset(
        "url urls uri address adresse page pages path pathname pagepath permalink link seite seiten seitenpfad página"
        " páginas pagina pagine strony sidor sider sayfalar страницы adresses landing screen source original target"
        " location loc ページ".split()
    ),
    columns.is_url,
    others=frozenset(
        "title titel type redirect final canonical status count number inlinks depth next prev amphtml ctr position"
        " rating views clicks users sessions referring previous crawled depth length date".split()
    ),
)
_COUNT: Final = columns.Role(
    frozenset(
        "clicks klicks clics clic cliques views pageviews aufrufe seitenaufrufe sessions sitzungen visits besuche hits"
        " requests anfragen anzahl traffic visitors besucher entrances vues visites vistas クリック数".split()
    ),
    lambda cell: columns.count(cell) is not None,
    frozenset({"clicks", "klicks", "clics", "pageviews", "views", "hits", "requests", "visits", "sessions"}),
    frozenset("per rate position ctr bounce time duration average avg revenue previous difference cost value".split()),
)
_STATUS: Final = ROLES["status"]  # not the status of the linking page, in an export of backlinks
_ROLES: Final = {
    "url": _URL,
    "count": _COUNT,
    "status": _STATUS._replace(sure=None, others=_STATUS.others | {"referring", "source"}),
}


class Listed(NamedTuple):
    """A URL or path of a list, with its line, and the number of requests, None if unknown.

    `table`: the table of an export with several.
    """

    line: int
    reference: str
    requests: int | None = None
    table: str = ""


def add(
    connection: Any, side: str, name: str, kind: str, settings: Settings, notify: Notify, base: str | None = None
) -> str:
    """Insert a row for each URL of a list; paths belong to `base`. Return how it was read, in words, or "".

    Raise DocumentError if it cannot be read, or has no URL.
    """
    try:
        if kind == "export":
            every, words = _read_export(name, settings, notify, base)
            load.add_chunks(connection, side, _chunks(name, every, notify, base))
        else:
            with Path(local(name)).open("rb") as file:
                found, words = _listed(name, kind, file, settings, notify, base)
                load.add_chunks(connection, side, _chunks(name, found, notify, base))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise unreadable(name, error) from error
    if load.has_nothing(connection, side, name):
        raise DocumentError(Diagnostic("no-url", "no URL is in this list: URLs, or paths of --old-url", name))
    return words


def _listed(
    name: str, kind: str, file: IO[bytes], settings: Settings, notify: Notify, base: str | None
) -> tuple[Iterable[Listed], str]:
    """Return the URLs of a list, and how it was read, in words, for example "an access log, ..."."""
    if kind == "sitemap":
        return _read_sitemap(name, _contents(name, file, settings, settings.max_size), settings, notify, base), ""
    if kind == "table":
        return _read_table(name, _contents(name, file, settings, min(settings.max_size, _LARGEST)), notify, base)
    if kind in KINDS:
        return _read_log(name, kind, file, notify, base), f"{KINDS[kind]}, answers with 2xx and 3xx"
    lines = (Listed(number, data.decode()) for number, data in _read_lines(name, file, settings.max_url, notify))
    if kind == "robots":
        urls = ((one, _parse_sitemap_line(one.reference)) for one in lines)
        return (one._replace(reference=url) for one, url in urls if url), "its sitemaps"
    return lines, ""


def _parse_sitemap_line(line: str) -> str | None:
    """Return the URL in a line of robots.txt (sitemaps.org/protocol.html#submit_robots), for example `Sitemap: URL`."""
    name, _, url = line.partition(":")
    return url.strip() if name.strip().lower() == "sitemap" else None


def _read_table(name: str, data: bytes, notify: Notify, base: str | None) -> tuple[Iterator[Listed], str]:
    """Return the URLs and counts of a table, for example of `Page,Clicks`; the old host decides between columns."""
    table, rows, chosen = _find_columns(name, data, notify, base)
    return _listed_rows(rows, chosen, has_base=base is not None), f"{table.words}; {chosen.words}"


def _find_columns(
    name: str, data: bytes, notify: Notify, base: str | None
) -> tuple[cells.Table, Iterator[cells.Row], columns.Columns]:
    """Return a table, its rows, and the columns of its URLs, counts and statuses."""
    table = cells.table(name, data)
    head, rows = cells.peek(_readable(name, table.rows, notify))
    host = _host(base)
    url = _URL._replace(fits=lambda cell: columns.is_url(cell) and _is_on(host, cell))
    return table, rows, columns.choose_columns(head, {**_ROLES, "url": url}, ("url",), (host,))


def _read_export(name: str, settings: Settings, notify: Notify, base: str | None) -> tuple[list[Listed], str]:
    """Return the URLs of the tables in a folder or a ZIP archive; tables without URLs, as of countries, are ignored."""
    every = [
        (title, *_find_columns(f"{name}/{title}", data, notify, base))
        for title, data in _export_tables(name, min(settings.max_size, _LARGEST))
    ]
    named = [one for one in every if "url" in one[-1].by_words]
    pages = named or [one for one in every if "url" in one[-1].places]
    found = [
        one._replace(table=title)
        for title, _, rows, chosen in pages
        for one in _listed_rows(rows, chosen, has_base=base is not None)
    ]
    return found, "; ".join(f"{title}: {table.words}; {chosen.words}" for title, table, _, chosen in pages)


def _readable(name: str, rows: Iterable[cells.Row], notify: Notify) -> Iterator[cells.Row]:
    """Yield the readable rows, and report the others."""
    for row in rows:
        if row.problem is None:
            yield row
        else:
            notify(Diagnostic("no-url", f"this line cannot be read: {row.problem}", name, row.first, failed=True))


def _host(base: str | None) -> str:
    return identity.named(base).removeprefix("www.") if base is not None else ""


def _is_on(host: str, cell: str) -> bool:
    found = columns.with_slashes(cell)
    full = f"http:{found}" if found.startswith("//") else found
    return not host or found[:2] in {"/", ""} or "://" not in full or identity.named(full).removeprefix("www.") == host


def _listed_rows(rows: Iterable[cells.Row], chosen: columns.Columns, *, has_base: bool) -> Iterator[Listed]:
    """Yield the rows below the header, up to another table: an empty row, then a row without a URL."""
    start = chosen.header.first if chosen.header is not None else 0
    place, is_named, last = chosen.places.get("url", 0), "url" in chosen.by_words, 0
    for row in rows:
        cell = columns.with_slashes(row.cell(place))
        if row.is_comment or row.first <= start or cell.lower() in _NO_PAGE:
            continue
        if not columns.is_url(cell):
            if last and row.first > last + 1:
                return
            cell = f"/{cell}" if is_named and has_base and re.fullmatch(r"[^\s:]+", cell) else cell
        last = row.last
        answer = columns.status(row.cell(chosen.places.get("status")))
        if answer is None or answer[0] < 400:
            yield Listed(row.first, cell, columns.count(row.cell(chosen.places.get("count"))))


def _read_log(name: str, kind: str, file: IO[bytes], notify: Notify, base: str | None) -> Iterator[Listed]:
    """Yield the distinct URLs of a log, with their requests."""
    log = Log(kind, base)
    counted: dict[str, list[int]] = {}
    for number, data in _read_lines(name, file, LONGEST, notify, keeps_comments=True):
        if (url := log.url(data)) is not None:
            counted.setdefault(url, [number, 0])[1] += 1
        if len(counted) > MOST:
            text = f"more than {MOST:,} distinct URLs are in this log"
            raise DocumentError(Diagnostic("too-large", text, name, number))
    for url, (line, count) in counted.items():
        yield Listed(line, url, count if kind != "cdx" else None)


def _contents(name: str, file: IO[bytes], settings: Settings, most: int) -> bytes:
    option = "--max-size"
    with _opened(file) as inner:
        if inner is not file:
            most, option = settings.max_decompressed, "max-decompressed"
        data = inner.read(most + 1)
    if len(data) > most:
        raise DocumentError(Diagnostic("too-large", f"this list has more than {most:,} bytes ({option})", name))
    return data


def _opened(file: IO[bytes]) -> IO[bytes]:
    """Return a file, decompressed if it is gzip."""
    is_compressed = file.read(2) == _GZIP
    file.seek(0)
    return cast("IO[bytes]", gzip.open(file)) if is_compressed else file


def _read_lines(
    name: str, file: IO[bytes], most: int, notify: Notify, *, keeps_comments: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield line numbers and lines in UTF-8, without empty ones, and without comments unless they are kept."""
    number = size = 0
    inner = _opened(file)
    limit = max(_LARGEST, _RATIO * os.fstat(file.fileno()).st_size) if inner is not file else sys.maxsize
    while line := inner.readline(most):
        number += 1
        size += len(line)
        if size > limit:
            raise DocumentError(Diagnostic("too-large", f"it is compressed more than {_RATIO} times", name, number))
        if len(line) == most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = inner.readline(most)
            notify(Diagnostic("no-url", f"a line of more than {most:,} bytes: skipped", name, number, failed=True))
            continue
        data = (line.removeprefix(_MARK) if number == 1 else line).strip()
        if not data or (data.startswith(b"#") and not keeps_comments):
            continue
        if keeps_comments or _is_utf8(data):
            yield number, data
        else:
            text = f"{in_short(data.decode('utf-8', 'replace'))!r} is not UTF-8: skipped"
            notify(Diagnostic("no-url", text, name, number, failed=True))


def _read_sitemap(name: str, data: bytes, settings: Settings, notify: Notify, base: str | None) -> Iterator[Listed]:
    """Yield the references in `loc` elements with their lines: for example `<loc>http://h/a</loc>`.

    A `loc` with an unknown (external) entity is a diagnostic. Images on another host than `base`, as of a CDN, are not
    URLs of the site.
    """
    from absolve.document.walk import walk
    from absolve.inventory.link_rows import rows

    entity = walk(Document(data, name=name, media_type="application/xml"), settings)
    for found in entity.diagnostics:
        if found.code == "entity":
            found = found._replace(code="no-url", text=f"{found.text}: skipped", failed=True)  # noqa: PLW2901
        notify(found)
    for row in rows(entity):
        if row.element == "loc" and (row.kind != "image" or _is_on(_host(base), row.reference)):
            yield Listed(row.line or 0, row.reference)


def _chunks(name: str, found: Iterable[Listed], notify: Notify, base: str | None) -> Iterator[tuple[str, Any]]:
    rows: list[tuple[Any, ...]] = []
    counts: list[tuple[str, int]] = []
    for line, reference, requests, table in found:
        url = _absolute(reference, base)
        if parsed_scheme(url) not in {"http", "https"} or is_malformed(url):
            text = f"{in_short(url)!r} is not an absolute URL with http or https: skipped"
            notify(Diagnostic("no-url", text, f"{name}/{table}" if table else name, line, failed=True))
            continue
        rows.append(_row(name, f"{table} line {line}".strip(), url))
        if requests is not None:
            counts.append((identity.normal(url) or url, requests))
        if len(rows) == _ROWS:
            yield from _batches(rows, counts)
            rows, counts = [], []
    yield from _batches(rows, counts)


def _batches(rows: list[tuple[Any, ...]], counts: list[tuple[str, int]]) -> Iterator[tuple[str, Any]]:
    if rows:
        yield "documents", batches.batch(DOCUMENT_COLUMNS, rows)
    if counts:
        yield "requests", batches.typed(_REQUESTS, counts)


def _absolute(reference: str, base: str | None) -> str:
    """Return the URL for a path of `base`, and for `//host/path`: for example `http://h/a` for `/a`; others as is."""
    if not reference.startswith("/") or (base is None and not reference.startswith("//")):
        return reference
    return whatwg.parse(reference, base or "http://localhost/") or reference


def _row(name: str, line: str, url: str) -> tuple[Any, ...]:
    """Return the row of a document with a known URL alone; its entity is the line of the list."""
    known: dict[str, Any] = {
        **dict.fromkeys(DOCUMENT_COLUMNS),
        "document": name,
        "entity": line,
        "url": url,
        "url_source": "list",
        "base": url,
        "base_layer": "retrieval",
        "links": 0,
        "problems": [],
        "anchors": [],
        "alternates": [],
    }
    return tuple(known[column] for column in DOCUMENT_COLUMNS)


def members(name: str) -> list[str]:
    """Return the names of the files in a folder or a ZIP archive; an empty list for other files."""
    path = Path(local(name))
    try:
        if path.is_dir():
            return sorted(one.name for one in path.iterdir() if not one.name.startswith("."))
        with zipfile.ZipFile(path) as archive:
            names = [one for one in archive.namelist() if not one.startswith("__MACOSX/")]
    except (OSError, ValueError, zipfile.BadZipFile):
        return []
    return sorted(one for one in names if not one.endswith("/"))


def _export_tables(name: str, most: int) -> Iterator[tuple[str, bytes]]:
    """Yield the tables of an export, with their names. Raise DocumentError for a table that is too large or broken."""
    try:
        root = str(Path(name))
        with nullcontext() if Path(name).is_dir() else zipfile.ZipFile(local(name)) as archive:
            for title in members(name):
                path = os.path.join(root, title)  # noqa: PTH118 - a text
                with archive.open(title) if archive else sources.file_of(path, root=root) as file:
                    data = file.read(most + 1)
                if len(data) > most:
                    raise DocumentError(Diagnostic("too-large", f"{title} has more than {most:,} bytes", name))
                yield title, data
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # damaged, compressed otherwise, encrypted
        raise DocumentError(Diagnostic("unreadable", str(error), name)) from error


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- access logs, and the index of a web archive ----------------------------------------------------------------------

# The common and the combined format of Apache and nginx, perhaps with the host before
# (httpd.apache.org/docs/2.4/logs.html); JSON of nginx, Caddy, Traefik and others; the extended format of the W3C, as
# IIS and CloudFront write it; CDX in text and CDXJ (iipc.github.io/warc-specifications). The JSON of a CDX server is a
# table, and read as one.
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
# Names for the fields of a record in JSON; the first one present counts.
_URIS: Final = ("request_uri", "uri", "url", "path", "RequestPath", "request", "http.url", "cs-uri-stem", "target")
_STATUSES: Final = ("status", "status_code", "response", "DownstreamStatus", "http.status_code", "sc-status", "code")
_HOSTS: Final = ("host", "http_host", "server_name", "vhost", "RequestHost", "hostname")
_METHODS: Final = ("method", "request_method", "RequestMethod", "verb")


def log_kind(head: bytes) -> str | None:
    """Return the kind of a log, one of KINDS, by the first bytes of the file; None for any other file.

    >>> log_kind(b"#Fields: cs-uri-stem sc-status"), log_kind(b"example,h)/a 20260101000000 http://h.example/a")
    ('w3c', 'cdx')
    """
    head = head.removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].strip()
    if head.startswith(b" CDX ") or _IS_CDX.match(line):
        return "cdx"
    if re.match(rb"(?:#[^\n]*\n)*#Fields:", head):
        return "w3c"
    if line.startswith(b"{") and _parse_json_record(line, is_any=True) is not None:
        return "jsonlog"
    return "log" if _IS_COMMON.match(line) else None


class Log:
    """A reader for the lines of one log, of a kind in KINDS. `base`: the site of its paths; None: each line has a host.

    `#Fields:` of the extended format names the columns of the lines that follow.
    """

    def __init__(self, kind: str, base: str | None) -> None:
        self._kind = kind
        self._base = base
        self._places: dict[str, int] = {}

    def url(self, line: bytes) -> str | None:
        """Return the URL or path of a request that was answered with 2xx or 3xx, None for any other line."""
        if self._kind == "cdx":
            return _parse_cdx_line(line)
        if self._kind == "w3c":
            return self._parse_fields(line.decode("utf-8", "replace"))
        if self._kind == "jsonlog":
            record = _parse_json_record(line)
            return None if record is None else self._placed(*record)
        found = _COMMON.match(line)
        return None if found is None else self._placed(found[2].decode("utf-8", "replace"), _text(found[1]))

    def _placed(self, uri: str, host: str) -> str:
        """Return a path with the host of its line, if no site is known."""
        return f"//{host}{uri}" if host and self._base is None and uri.startswith("/") else uri

    def _parse_fields(self, line: str) -> str | None:
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
    """Return the host in a line, or "" for an address, which names the client or a proxy."""
    text = found.decode("ascii", "replace") if found is not None else ""
    return text if "." in text and not re.fullmatch(r"[\d.]+", text) else ""


def _parse_json_record(line: bytes, *, is_any: bool = False) -> tuple[str, str] | None:
    """Return the URI and the host of a record, for example `{"uri": "/a", "host": "h.example", "status": 200}`.

    None for answers other than 2xx and 3xx. `is_any`: for any answer.
    """
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
    if (request := _REQUEST.match(uri)) is not None:
        uri, method = request[1], "GET"
    is_page = status[0] in "23" and method in {None, "GET", "HEAD"} and uri.startswith(("/", "http"))
    host = _field(fields, _HOSTS)
    return (uri, host if isinstance(host, str) and "." in host else "") if is_page or is_any else None


def _field(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((value for name in names if isinstance(value := fields.get(name), str | int)), None)


def _parse_cdx_line(line: bytes) -> str | None:
    """Return the URL in a line of CDX, for example `example,h)/a 2026... http://h.example/a text/html 200 ...`.

    None for captures with a status other than 2xx and 3xx.
    """
    found = cdx.entry(line.decode("utf-8", "replace"))
    if found is None or found.status[:1] not in {"", "2", "3", "-"}:
        return None
    return found.url if found.url.startswith(("http:", "https:")) else None
