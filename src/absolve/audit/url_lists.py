"""Load lists of URLs and sitemaps into the working tables: only that these URLs exist is known.

In: a connection, the name of a list. Out: a row of the table of documents for each URL; diagnostics for the lines that
are no URLs. Lines are read one by one; a compressed sitemap is decompressed up to a limit.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.audit import load
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.core.model import Document
from absolve.inventory import arrow_batches
from absolve.inventory.documents import DOCUMENT_COLUMNS
from absolve.run.sources import unreadable
from absolve.tables.reading import delimiter_of
from absolve.urls import whatwg
from absolve.urls.predicates import is_malformed, parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.document.settings import Settings

    Notify = Callable[[Diagnostic], None]

_ROWS: Final = 10_000
_GZIP: Final = b"\x1f\x8b"
_MARK: Final = b"\xef\xbb\xbf"


def add(
    connection: Any, side: str, name: str, kind: str, settings: Settings, notify: Notify, base: str | None = None
) -> None:
    """Insert a row for each URL of a list, sitemap or table; paths are those of `base`.

    Raise DocumentError if it cannot be read, or has no URL.
    """
    try:
        with Path(name).open("rb") as file:
            if kind == "sitemap":
                found = _of_sitemap(name, _contents(name, file, settings), settings, notify)
            else:
                found = _of_lines(name, file, settings.max_url, notify)
                found = _of_table(found) if kind == "table" else found
            load.add_chunks(connection, side, _chunks(name, found, notify, base))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise unreadable(name, error) from error
    if load.nothing_of(connection, side, name):
        raise DocumentError(Diagnostic("no-url", "no URL is in this list: URLs, or paths of --old-url", name))


def _of_table(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the cells of the first column that has a URL or a path; the rows before its first are a header."""
    place = None
    delimiter = ","
    for number, text in lines:
        if place is None:
            delimiter = delimiter_of(text)
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]
        if place is None:
            place = next((at for at, cell in enumerate(cells) if cell.startswith(("/", "http:", "https:"))), None)
        if place is not None:
            yield number, cells[place] if place < len(cells) else ""


def _contents(name: str, file: IO[bytes], settings: Settings) -> bytes:
    most, option = settings.max_size, "--max-size"
    is_compressed = file.read(2) == _GZIP
    file.seek(0)
    if is_compressed:
        most, option = settings.max_decompressed, "--max-decompressed"
        with gzip.open(file) as inner:
            data = inner.read(most + 1)
    else:
        data = file.read(most + 1)
    if len(data) > most:
        raise DocumentError(Diagnostic("too-large", f"this sitemap has more than {most} bytes ({option})", name))
    return data


def _of_lines(name: str, file: IO[bytes], most: int, notify: Notify) -> Iterator[tuple[int, str]]:
    """Yield line numbers and texts, without empty lines and comments."""
    number = 0
    while line := file.readline(most):
        number += 1
        if len(line) == most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(most)
            notify(Diagnostic("no-url", f"a line of more than {most} bytes: skipped", name, number, failed=True))
            continue
        data = (line.removeprefix(_MARK) if number == 1 else line).strip()
        if not data or data.startswith(b"#"):
            continue
        try:
            yield number, data.decode()
        except UnicodeDecodeError:
            text = f"{in_short(data.decode('utf-8', 'replace'))!r} is not UTF-8: skipped"
            notify(Diagnostic("no-url", text, name, number, failed=True))


def _of_sitemap(name: str, data: bytes, settings: Settings, notify: Notify) -> Iterator[tuple[int, str]]:
    """Yield line numbers and references. A `loc` with an unknown (external) entity is a diagnostic."""
    from absolve.document.walk import walk
    from absolve.inventory.link_rows import rows

    entity = walk(Document(data, name=name, media_type="application/xml"), settings)
    for found in entity.diagnostics:
        if found.code == "entity":
            found = found._replace(code="no-url", text=f"{found.text}: skipped", failed=True)  # noqa: PLW2901
        notify(found)
    for row in rows(entity):
        if row.element == "loc":
            yield row.line, row.reference


def _chunks(
    name: str, found: Iterable[tuple[int, str]], notify: Notify, base: str | None
) -> Iterator[tuple[str, Any]]:
    rows: list[tuple[Any, ...]] = []
    for line, reference in found:
        is_path = base is not None and reference.startswith("/") and not reference.startswith("//")
        url = (whatwg.parse(reference, base) if is_path else None) or reference
        if parsed_scheme(url) not in {"http", "https"} or is_malformed(url):
            text = f"{in_short(url)!r} is not an absolute URL with http or https: skipped"
            notify(Diagnostic("no-url", text, name, line, failed=True))
            continue
        rows.append(_row(name, line, url))
        if len(rows) == _ROWS:
            yield "documents", arrow_batches.batch(DOCUMENT_COLUMNS, rows)
            rows = []
    if rows:
        yield "documents", arrow_batches.batch(DOCUMENT_COLUMNS, rows)


def _row(name: str, line: int, url: str) -> tuple[Any, ...]:
    """Return the row of a document of which only the URL is known; its entity is the line of the list."""
    known: dict[str, Any] = {
        **dict.fromkeys(DOCUMENT_COLUMNS),
        "document": name,
        "entity": f"line {line}",
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
