r"""The formats of tables that are lines of text: CSV, TSV, JSON lines, JSON, Markdown, HTML, and sitemaps.

In: rows with a value for each column. Out: UTF-8 with LF as line end. None is an empty field, in JSON null; a list is
an array in JSON, and joined by spaces elsewhere. Where JSON has several tables, rows begin with a column `table`.
Markdown and HTML are for people: invisible characters are escaped, and no text of a document is markup.

    >>> rows = [("a|b", None, ["x", "y"])]
    >>> JSONL.encode(("target", "line", "problems"), rows), MARKDOWN.encode(("target", "line", "problems"), rows)
    (b'{"target": "a|b", "line": null, "problems": ["x", "y"]}\n', b'| `a\\|b` |  | x y |\n')
"""

from __future__ import annotations

import errno
import json
import re
from html import escape
from itertools import repeat
from json.encoder import encode_basestring as string
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from absolve.core.lazy_regex import pattern
from absolve.core.printable import literal, printable
from absolve.inventory.columns import NUMBERS, RULED, Columns
from absolve.tables import Sink
from absolve.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from absolve.tables import Table

# --- lines, also of rows whose shared values are encoded once, and rows with lists joined to text ---------------------


class Layout(NamedTuple):
    """The lines of a text format: `before`, the cells with `between` between them, `after`.

    >>> Layout(lambda name: str, before="<", between="|", after=">").encode(("a", "b"), [(1, "x"), (2, "y")])
    b'<1|x><2|y>'

    `encoder` returns for a column the function that encodes its values: str, int, None, and lists or tuples of str.
    `label` returns the text before each cell of a column. `changed`: a text without any of these ASCII characters,
    which does not begin with a byte of `begun`, is encoded as it is; None: any text may change.
    """

    encoder: Callable[[str], Callable[[Any], str]]
    before: str = ""
    between: str = ""
    after: str = "\n"
    label: Callable[[str], str] = lambda _: ""
    changed: bytes | None = None
    begun: bytes = b""

    def encode(self, columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
        """Return rows as lines in UTF-8; lone surrogates become question marks."""
        encoders = {name: self.encoder(name) for name in columns}
        lines = self._shared(encoders, rows) if isinstance(rows, Columns) else self._single(encoders, rows)
        return "".join(lines).encode("utf-8", "replace")

    def _single(self, encoders: Mapping[str, Callable[[Any], str]], rows: Iterable[Sequence[Any]]) -> list[str]:
        template = self._template(encoders, {})
        columns = tuple(encoders.values())
        return [template % tuple([encode(cell) for encode, cell in zip(columns, row, strict=True)]) for row in rows]

    def _shared(self, encoders: Mapping[str, Callable[[Any], str]], rows: Columns) -> list[str]:
        templates = [self._template(encoders, dict(zip(RULED, words, strict=True))) for words in rows.ruled.words]
        own = [
            rows.cells(name, None if name in NUMBERS else encode, self.changed, self.begun)
            for name, encode in encoders.items()
            if name not in RULED
        ]
        values = zip(*own, strict=True) if own else repeat(())
        numbers = rows.ruled.numbers.cells()
        return [templates[number] % cells for number, cells in zip(numbers, values, strict=bool(own))]

    def _template(self, encoders: Mapping[str, Callable[[Any], str]], shared: Mapping[str, str]) -> str:
        """Return the line of rows with these shared values, with %s for each other column."""
        cells = [
            self.label(name) + (encode(shared[name]).replace("%", "%%") if name in shared else "%s")
            for name, encode in encoders.items()
        ]
        return f"{self.before}{self.between.join(cells)}{self.after}"


def joined(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> Iterator[Sequence[Any]]:
    """Yield the rows with lists joined to text by spaces."""
    if isinstance(rows, Columns):
        yield from zip(*[rows.cells(name, " ".join if name == "problems" else None) for name in columns], strict=True)
    else:
        for row in rows:
            yield [words(cell) if isinstance(cell, list) else cell for cell in row]


def cell_text(cell: Any) -> str:
    """Return a cell as text: for example `a b` for `["a", "b"]`, and "" for None."""
    if isinstance(cell, (list, tuple)):
        return words(cell)
    return "" if cell is None else str(cell)


def words(items: Iterable[str]) -> str:
    """Return the items of a list joined by spaces."""
    return " ".join(map(_word, items))


LINKED: Final = frozenset({"target", "url", "base", "canonical"})  # columns whose URLs are hyperlinks for people
_SPACE: Final = re.compile(r"\s")


def _word(item: str) -> str:
    """Return an item of a list with percent-escaped white space, as in a URL: for example `a%20b`."""
    return _SPACE.sub(lambda found: quote(found[0]), item) if _SPACE.search(item) else item


def lines(
    encode: Callable[[Sequence[str], Iterable[Sequence[Any]]], bytes],
    head: Callable[[Sequence[str]], bytes] = lambda _: b"",
    end: bytes = b"",
) -> Sink:
    """Return the sink of a format with a head for the columns, the encoded chunks, and an end."""

    def write(tables: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
        file.write(head(tuple(tables[0].columns)))
        file.writelines(chunk for _, chunk in chunks)
        file.write(end)

    return Sink(encode, write)


# --- CSV (RFC 4180) and TSV: a header line, then a line for each row --------------------------------------------------

_BEGUN: Final = "'=+-@\t\r\n\uff1d".encode()  # first bytes of formulas; the fullwidth forms share one

# csv.writer quotes a carriage return only since Python 3.13, and takes longer: it compares each character.
_UNQUOTED: Final = pattern(r'[^,"\r\n]*')
# TSV has no quotes: jq's @tsv writes the same escapes.
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def quoted(text: str) -> str:
    """Return a field of CSV in quotes: for example `"a, ""b"", c"` for `a, "b", c`."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _text(cell: Any) -> str:
    """Return a cell as text that no spreadsheet takes for a formula: for example `'=1` for `=1`."""
    return str(cell) if isinstance(cell, (int, float)) else literal(cell_text(cell))


def _field(cell: Any) -> str:
    """Return a field of CSV (RFC 4180, 2), quoted if it has a comma, a quote or any line end."""
    text = _text(cell)
    return text if _UNQUOTED.fullmatch(text) else quoted(text)


def _only(cell: Any) -> str:
    """Return the only field of a line, `""` if it is empty, because a blank line is not a row."""
    return _field(cell) or '""'


_FIELDS: Final = Layout(lambda _: _field, between=",", changed=b',"\r\n;\t', begun=_BEGUN)
_ONE_FIELD: Final = Layout(lambda _: _only)
_CELLS: Final = Layout(
    lambda _: lambda cell: _text(cell).translate(_ESCAPES), between="\t", changed=b"\\\t\n\r;", begun=_BEGUN
)


def _encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> bytes:
    return (_ONE_FIELD if len(columns) == 1 else _FIELDS).encode(columns, rows)


CSV: Final = lines(_encode, lambda columns: _encode(columns, [columns]))
TSV: Final = lines(_CELLS.encode, lambda columns: _CELLS.encode(columns, [columns]))

# --- JSON lines: an object (RFC 8259) on each line; JSON: an array of them --------------------------------------------

_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)

# Most cells are of these types; calling the encoder for each takes three times as long.
_ENCODERS: Final[dict[type, Callable[[Any], str]]] = {str: string, int: str, type(None): lambda _: "null"}


def _cell(cell: Any) -> str:
    return _ENCODERS.get(type(cell), _JSON.encode)(cell)


def _write_array(tables: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write encoded chunks, which are JSON lines, as the items of an array."""
    del tables  # each row contains the names
    file.write(b"[")
    separator = b"\n"
    for _, chunk in chunks:
        if chunk:
            file.write(separator + bytes(chunk[:-1]).replace(b"\n", b",\n"))  # from another process: a memoryview
            separator = b",\n"
    file.write(b"\n]\n")


json_lines: Final = Layout(lambda _: _cell, "{", ", ", "}\n", lambda name: f"{string(name)}: ").encode
JSONL: Final = lines(json_lines)
JSON: Final = Sink(json_lines, _write_array)

# --- Markdown: a table of GitHub Flavored Markdown (4.10), for pull requests and notes --------------------------------

_PLAIN: Final = re.compile(r"[\w ,;/-]*(?:[.:](?!//)[\w ,;/-]+)*\.?")  # neither marks nor a URL that becomes a link
_WORD: Final = re.compile(r"(?<!\w)[\w]*(?:_|www\.)", re.IGNORECASE)
_TICKS: Final = re.compile("`+")
_AFTER_BACKSLASH: Final = re.compile(r"(?<=\\)\|")


def markdown_cell(value: Any) -> str:
    """Return a value as a cell of a table: the same text for all readers, without markup, links and mentions.

    A text with any mark of Markdown or HTML is a code span: for example, `a*b` in backticks. For some readers a pipe
    behind a backslash ends the cell, even if it is escaped: it becomes a character reference between two spans.
    """
    text = printable(cell_text(value)).strip()
    if not text or (_PLAIN.fullmatch(text) and not _WORD.search(text)):
        return text
    return "&#124;".join(_span(part) if part else "" for part in _AFTER_BACKSLASH.split(text))


def _span(text: str) -> str:
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


def _head(columns: Sequence[str]) -> bytes:
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n".encode()


MARKDOWN: Final = lines(Layout(lambda _: markdown_cell, "| ", " | ", " |\n").encode, _head)

# --- HTML: one page with a table; a policy in it forbids scripts and requests -----------------------------------------

_HEAD: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>absolve</title>
<style>
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif }
table { border-collapse: collapse }
th { position: sticky; top: 0; background: Canvas; text-align: left }
th, td { padding: .2em .6em; border-bottom: 1px solid GrayText; vertical-align: top; overflow-wrap: anywhere }
</style>
<main>
<h1>absolve</h1>
<table>
"""
_END: Final = b"</table>\n</main>\n</html>\n"


def _data(cell: Any) -> str:
    return escape(printable(cell_text(cell)))


def _linked(cell: Any) -> str:
    """Return a URL as a hyperlink, for example `<a href="http://h/">http://h/</a>`, if it is safe to follow.

    It is not with a backslash, which browsers read as a slash.
    """
    text = _data(cell)
    if not isinstance(cell, str) or not cell.lower().startswith(("http://", "https://")):
        return text
    if "***@" in cell or "\\" in cell or printable(cell) != cell:
        return text
    return f'<a href="{text}">{text}</a>'


def _header(columns: Sequence[str]) -> bytes:
    names = "".join(f'<th scope="col">{escape(name)}' for name in columns)
    return f"{_HEAD}<tr>{names}\n".encode()


_ROWS: Final = Layout(lambda name: _linked if name in LINKED else _data, "<tr>", label=lambda _: "<td>")
HTML: Final = lines(_ROWS.encode, _header, _END)


# --- a sitemap (sitemaps.org, protocol 0.9) of the pages among documents ----------------------------------------------
# Each page that a search engine may index, once: HTML and PDF at http and https, with the status 200 or without one,
# that no `robots` excludes and whose canonical URL is its own.

MOST_URLS: Final = 50_000  # URLs in a sitemap, and
_LARGEST: Final = 50 << 20  # bytes (sitemaps.org, Sitemap file requirements)
_LONGEST: Final = 2048  # characters of a URL (the same: `loc`)
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml", "application/pdf"})
_EXCLUDED: Final = re.compile(r"(?:\A|[,:\s])(?:noindex|none)(?:\Z|[,\s])", re.IGNORECASE)
_BEGINS: Final = b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
_ENDS: Final = b"</urlset>\n"


def _write_sitemap(_: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write a line for each page, for example `<url><loc>http://h/</loc></url>`. Raise OSError for too many."""
    found: dict[str, None] = {}
    for _table, chunk in chunks:
        for line in bytes(chunk).splitlines():
            if (url := _page(json.loads(line))) is not None:
                found.setdefault(url)
    lines = [f"<url><loc>{escape(url)}</loc></url>\n".encode("ascii", "xmlcharrefreplace") for url in found]
    if len(lines) > MOST_URLS or sum(map(len, lines)) > _LARGEST - len(_BEGINS) - len(_ENDS):
        text = f"a sitemap has at most {MOST_URLS:,} URLs and 50 MB: write several (--include, --exclude)"
        raise OSError(errno.EFBIG, f"{text}; these are {len(lines):,}")
    file.writelines([_BEGINS, *lines, _ENDS])


def _page(row: dict[str, Any]) -> str | None:
    """Return the URL of a page for the sitemap, as a browser writes it; None for any other document."""
    if row["media_type"] not in _PAGES or row["status"] not in {None, 200} or _EXCLUDED.search(row["robots"] or ""):
        return None
    url = _written(row["url"])
    if url is None or len(url) > _LONGEST or (row["canonical"] and _written(row["canonical"]) not in {None, url}):
        return None
    return url


def _written(url: str | None) -> str | None:
    """Return an http or https URL without its fragment, in ASCII; None for others, and with user information."""
    found = resolve("", url.partition("#")[0], "whatwg") if url else None
    is_public = found is not None and found.startswith(("http://", "https://")) and "@" not in found.split("/")[2]
    return found if is_public else None


SITEMAP: Final = Sink(json_lines, _write_sitemap)
