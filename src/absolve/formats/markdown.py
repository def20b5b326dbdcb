"""The Markdown walker: find the references of the raw HTML in Markdown; code is literal text, and has none.

In: the bytes of a document in UTF-8. Out: the events of the HTML walker for the same bytes, with blanks in place of
front matter, code spans (CommonMark 6.1), code blocks (4.4, 4.5), escaped `<` (2.4), and every `<` that begins no raw
HTML (6.6).

This is a scanner of its own, because parsers of Markdown give lines, but no positions in them; it reads block quotes
and lists only as far as they decide what is indented code. Links in Markdown's own syntax are not listed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern
from absolve.formats.html import walker

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset
    from absolve.formats.events import EventList
    from absolve.formats.protocols import WalkOptions


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the events of the raw HTML in a Markdown document."""
    return walker.walk(masked(data), charset, options)


def masked(data: bytes) -> bytes:
    """Return Markdown with a blank for each byte of front matter and code, and for each `<` that begins no raw HTML."""
    blocks = _Blocks(data)
    front = _FRONT_MATTER.match(data)
    at = front.end() if front is not None else 0
    blocks.mask(0, at)
    while at < len(data):
        at = blocks.line(at)
    blocks.end_paragraph()
    return bytes(blocks.out)


# YAML or TOML at the beginning, which generators of sites take out before they read Markdown
_FRONT_MATTER: Final = pattern(
    rb"(?:\xef\xbb\xbf)?(?:---[\t ]*+[\r\n].*?(?<=[\r\n])(?:---|\.\.\.)|\+\+\+[\t ]*+[\r\n].*?(?<=[\r\n])\+\+\+)"
    rb"[\t ]*+(?=[\r\n]|\Z)",
    re.DOTALL,
)
_LINE_END: Final = pattern(rb"\r\n?|\n|\Z")
_QUOTE: Final = pattern(rb" {0,3}> ?")
_INDENT: Final = pattern(rb"[\t ]*+")
_FENCE: Final = pattern(rb"(`{3,})[^`\r\n]*+(?=[\r\n]|\Z)|(~{3,})")
_MARKER: Final = pattern(rb"(?:[-+*]|[0-9]{1,9}[.)])(?=[\t \r\n]|\Z)")
_BREAK: Final = pattern(rb"(?:(?:-[\t ]*+){3,}|(?:_[\t ]*+){3,}|(?:\*[\t ]*+){3,})(?=[\r\n]|\Z)")
_HEADING: Final = pattern(rb"#{1,6}(?=[\t \r\n]|\Z)")
_ATTRIBUTES: Final = (
    rb"(?>(?:[\t\n\r ]++[A-Za-z_:][\w.:-]*+(?>(?:[\t\n\r ]*+=[\t\n\r ]*+"
    rb"(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\r \"'=<>`]++))?))*)"
)
_TAG: Final = pattern(
    rb"<(?:/[A-Za-z][A-Za-z0-9-]*+|[A-Za-z][A-Za-z0-9-]*+" + _ATTRIBUTES + rb"[\t\n\r ]*+/?)[\t\n\r ]*+>"
)
_AUTOLINK: Final = pattern(rb"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\0- <>]*+>")
# 4.6: how HTML blocks begin, and what a line has that ends them; None: they end at a blank line.
_HTML: Final[tuple[tuple[re.Pattern[bytes], re.Pattern[bytes] | None], ...]] = (
    (
        pattern(rb"<(?:pre|script|style|textarea)(?=[\t >\r\n]|\Z)", re.IGNORECASE),
        pattern(rb"</(?:pre|script|style|textarea)>", re.IGNORECASE),
    ),
    (pattern(rb"<!--"), pattern(rb"-->")),
    (pattern(rb"<\?"), pattern(rb"\?>")),
    (pattern(rb"<!\[CDATA\["), pattern(rb"\]\]>")),
    (pattern(rb"<![A-Za-z]"), pattern(rb">")),
    (
        pattern(
            rb"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir"
            rb"|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend"
            rb"|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td"
            rb"|tfoot|th|thead|title|tr|track|ul)(?=[\t \r\n]|/?>|\Z)",
            re.IGNORECASE,
        ),
        None,
    ),
)
_ENDS: Final = ((b"<!--", b"-->"), (b"<?", b"?>"), (b"<![CDATA[", b"]]>"), (b"<!", b">"))
_TAB: Final = 0x09
_DEEPEST: Final = 64  # list items in each other
_CODE: Final = 4  # columns of indentation, and those of a tab
_INLINE: Final = pattern(rb"\\[!-/:-@\[-`{-~]|`++|<")


class _Open(NamedTuple):
    """An open block of code or HTML: its container, and its end, by the class of the block."""

    quotes: int  # block quotes around it
    offset: int  # column of the list item around it
    fence: bytes = b""
    close: re.Pattern[bytes] | None = None  # of HTML; None: a blank line


class _Blocks:
    """The state between two lines: the open code or HTML, block quotes, columns of list items, the open paragraph."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.out = bytearray(data)
        self._open: _Open | None = None
        self._quotes = 0
        self._line_quotes = 0
        self._offsets: list[int] = []
        self._paragraph = -1
        self._end = 0  # of the paragraph so far

    def line(self, at: int) -> int:
        """Read the line at an offset; return the offset of the next one."""
        found = _LINE_END.search(self._data, at)
        end, after = found.span() if found else (len(self._data), len(self._data))
        start, quotes = at, 0
        most = len(self._data) if self._open is None else self._open.quotes
        while quotes < most and (quote := _QUOTE.match(self._data, start, end)) is not None:
            start = quote.end()
            quotes += 1
        if self._open is None or not self._continues(self._open, start, end, quotes):
            self._line_quotes = quotes
            column = self._column(start, start, 0)
            if quotes > self._quotes:  # a paragraph goes on where there are fewer (5.1, laziness)
                self._close(column)
            self._block(start, end, column)
        return max(after, at + 1)

    def _column(self, start: int, at: int, column: int) -> int:
        """Return the column of the first byte from `start` on that is no blank; `at` has this column."""
        indent = _INDENT.match(self._data, start)
        for byte in self._data[at : indent.end() if indent else at]:
            column += _CODE - column % _CODE if byte == _TAB else 1
        return column

    def _block(self, start: int, end: int, column: int) -> None:
        """Read a line outside of code and HTML from an offset on, which is in this column without its blanks."""
        indent = _INDENT.match(self._data, start, end)
        first = indent.end() if indent else start
        if first == end:
            self.end_paragraph()
            return
        if self._paragraph < 0:
            self._close(column)
        within = column - (self._offsets[-1] if self._offsets else 0)
        if within >= _CODE and self._paragraph < 0:
            self.mask(start, end)
        elif within >= _CODE or not self._begins(first, end, column):
            self._paragraph = first if self._paragraph < 0 else self._paragraph
            self._end = end

    def _begins(self, first: int, end: int, column: int) -> bool:
        """Return whether a block other than a paragraph begins at an offset; read it."""
        data = self._data
        if (fence := _FENCE.match(data, first, end)) is not None:
            self._close(column)
            self._open = self._container()._replace(fence=fence[1] or fence[2])
            self.mask(first, end)
        elif _BREAK.match(data, first, end):
            self._close(column)
        elif _HEADING.match(data, first, end):
            self._close(column)
            self._paragraph, self._end = first, end
            self.end_paragraph()
        elif (marker := _MARKER.match(data, first, end)) is not None and len(self._offsets) < _DEEPEST:
            self._close(column)
            self._item(marker.end(), end, column + len(marker[0]))
        else:
            return self._begins_html(first, end, column)
        return True

    def _close(self, column: int) -> None:
        """End the paragraph, and the list items whose content begins behind this column; a block quote has its own."""
        self.end_paragraph()
        if self._line_quotes != self._quotes:
            self._quotes = self._line_quotes
            self._offsets.clear()
        while self._offsets and column < self._offsets[-1]:
            self._offsets.pop()

    def _container(self) -> _Open:
        return _Open(self._quotes, self._offsets[-1] if self._offsets else 0)

    def _item(self, at: int, end: int, column: int) -> None:
        """Read a list item behind its marker, which ends in this column (5.2)."""
        inner = self._column(at, at, column)
        is_code = inner > column + _CODE  # the content begins one column behind the marker
        self._offsets.append(column + 1 if is_code or inner == column else inner)
        self._block(at, end, inner)

    def _begins_html(self, first: int, end: int, column: int) -> bool:
        for begin, close in _HTML:
            if (found := begin.match(self._data, first, end)) is not None:
                self._close(column)
                if close is None or close.search(self._data, found.end(), end) is None:
                    self._open = self._container()._replace(close=close)
                return True
        alone = _TAG.match(self._data, first, end) if self._paragraph < 0 else None
        if alone is None or self._data[alone.end() : end].strip():
            return False
        self._open = self._container()
        return True

    def _continues(self, block: _Open, start: int, end: int, quotes: int) -> bool:
        """Return whether a line is in the open block, or ends it; mask code."""
        text = self._data[start:end].strip()
        column = self._column(start, start, 0)
        if quotes < block.quotes or (text and column < block.offset):
            self._open = None  # its container ends
            return False
        if block.fence:
            if text.startswith(block.fence) and not text.strip(block.fence[:1]) and column - block.offset < _CODE:
                self._open = None
            self.mask(start, end)
        elif not text if block.close is None else block.close.search(self._data, start, end):
            self._open = None
        return True

    def mask(self, start: int, end: int) -> None:
        """Put blanks in place of the bytes of a span."""
        self.out[start:end] = b" " * (end - start)

    def end_paragraph(self) -> None:
        """Mask the code spans, and what is no raw HTML, in the paragraph that ends."""
        if self._paragraph >= 0:
            self._inline(self._paragraph, self._end)
        self._paragraph = -1

    def _inline(self, at: int, end: int) -> None:
        data = self._data
        closing = _closing_runs(data, at, end)
        absent: set[bytes] = set()  # ends that do not come any more
        while (found := _INLINE.search(data, at, end)) is not None:
            start, at = found.span()
            if found[0] == b"<":
                at = _html_end(data, start, end, absent)
                if at < 0:
                    at = start + 1
                    self.mask(start, at)
            elif found[0][:1] == b"\\":
                self.mask(start, at)
            elif start in closing:
                at = closing[start]
                self.mask(start, at)


def _closing_runs(data: bytes, start: int, end: int) -> dict[int, int]:
    """Return the end of the code span by the offset of each run of backticks that has one of its length behind it."""
    nearest: dict[int, int] = {}
    closing: dict[int, int] = {}
    for run in reversed([found.span() for found in _RUN.finditer(data, start, end)]):
        length = run[1] - run[0]
        if length in nearest:
            closing[run[0]] = nearest[length]
        nearest[length] = run[1]
    return closing


_RUN: Final = pattern(rb"`++")


def _html_end(data: bytes, start: int, end: int, absent: set[bytes]) -> int:
    """Return the end of the raw HTML (6.6) or the autolink (6.5) at an offset, -1 if it is none."""
    tag = _TAG.match(data, start, end) or _AUTOLINK.match(data, start, end)
    if tag is not None:
        return tag.end()
    mark = next((mark for begin, mark in _ENDS if data.startswith(begin, start)), b"")
    if not mark or mark in absent:
        return -1
    found = data.find(mark, start + 2, end)
    if found < 0:
        absent.add(mark)
        return -1
    return found + len(mark)
