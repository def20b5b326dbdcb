"""The reStructuredText walker: hyperlink targets, embedded and standalone URIs, images, and raw HTML.

In: the bytes of a document in UTF-8. Out: its links, and a part for each `raw` directive of HTML. Literal text
has none: literal blocks, doctest blocks, directives with code, comments, inline literals, and interpreted text. No
directive is run. The words are those of the reStructuredText Markup Specification of docutils.

This is a scanner of its own, because docutils gives lines, but no positions in them, and reads files as it parses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite, Part
from absolve.encodings.codings import IDENTITY
from absolve.encodings.offset_map import Decoded
from absolve.formats import registry
from absolve.formats.grammars import bare_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

_TARGET: Final = LinkSite("rst", "target", "uri", "navigation")
_EMBEDDED: Final = LinkSite("rst", "reference", "uri", "navigation")
_STANDALONE: Final = LinkSite("rst", "standalone", "bare", "navigation")
_IMAGES: Final = {name: LinkSite("rst", name.decode(), "uri", "image") for name in (b"image", b"figure")}
_OPTIONS: Final = {b"target": _TARGET, b"url": LinkSite("rst", "url", "uri")}
_WITH_TARGET: Final = {b"image": b"target", b"figure": b"target", b"raw": b"url", b"csv-table": b"url"}
# Directives whose content is not text of the document, in docutils and Sphinx
_LITERAL: Final = frozenset(
    b"code code-block sourcecode literalinclude include math raw doctest testcode testoutput testsetup"
    b" testcleanup highlight graphviz digraph graph mermaid uml plantuml productionlist prompt jupyter-execute ipython"
    b" plot csv-table command-output program-output tabularcolumns index meta".split()
)

_LINE: Final = pattern(rb"([^\r\n]*+)(?:\r\n?|\n|\Z)")
_BLANKS: Final = b"\t\x0b\x0c\r\n "
_EXPLICIT: Final = pattern(
    rb"\.\.[\t ]++(?:"
    rb"(?P<target>__|_(?![\t _])(?:`(?>(?:[^`\\]|\\.)+)`|(?>(?:[^:\\`]|\\.|:(?![\t ]|\Z))+))):(?=[\t ]|\Z)"
    rb"|(?:\|[^|]++\|[\t ]++)?(?P<directive>[A-Za-z0-9][\w.+-]*+(?>(?::[\w.+-]++)*))[\t ]?::(?=[\t ]|\Z)"
    rb"|(?P<note>\[[^\]\s]++\])(?=[\t ]|\Z))"
    rb"|(?P<anonymous>__)(?=[\t ])|(?P<comment>\.\.)(?=[\t ]|\Z)"
)
_OPTION: Final = pattern(rb"[\t ]*+:([\w-]++):(?:[\t ]++([^\r\n]*+))?\Z")
_LONGEST: Final = 1 << 16  # bytes of an embedded URI
_MARKER: Final = pattern(rb"[\t ]*+(?>(?:(?:[-*+]|\(?(?:[0-9]{1,9}|[A-Za-z]|#)[.)])[\t ]++)*)")
_INLINE: Final = pattern(
    rb"\\.|(?<![A-Za-z0-9_.,;!?>)\]}`])(?:``(?![\s`])(?>(?:[^`]|`(?!`))*)``"
    rb"|`(?![\s`])(?P<text>(?>(?:[^`\\]|\\.)*))`(?P<mark>__?(?![A-Za-z0-9]))?)"
    rb"|(?<![A-Za-z0-9_/.:@=])(?P<uri>(?:https?|ftp)://(?>(?:[^\x00-\x20<>`\\\x7f]|\\[^\s])+))",
    re.DOTALL | re.IGNORECASE,
)
_URI_IN_BRACKETS: Final = pattern(rb"(?:\A|[\t\r\n ])<([^\s<>](?>(?:[^<>\\]|\\.)*))(?<!\s)>\Z", re.DOTALL)
_ALIAS: Final = pattern(rb"(?<!\\)_\Z")
_MAIL: Final = pattern(rb"(?:mailto:)?[^\s/:@]++@[^\s/:@]++\Z")
_UNIT: Final = pattern(rb"\\(\s|.)|\s++", re.DOTALL)
_MUST: Final = pattern(rb"[\\<>`\s]|_(?![A-Za-z0-9])")
_TAB: Final = 8


class Uri:
    """The `Coding` of a URI in a target or in brackets: blanks count only with a backslash, other escapes are read."""

    slot: tuple[int, int] | None = None

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        made = Decoded(raw)
        for unit in _UNIT.finditer(raw):
            made.unit(*unit.span(), (unit[1] or b"").strip(b"\r\n"))
        return made.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - escapes are closed
        """Return the value with escapes: an underscore at the end of a word would make it the name of a target."""
        is_inside = after[:1].isalnum()
        last = b"_" if is_inside and value.endswith(b"_") else b""
        return _MUST.sub(rb"\\\g<0>", value.removesuffix(last)) + last


_URI: Final[Coding] = Uri()


class _Line(NamedTuple):
    """A line: the offsets of its first byte, its first byte that is no blank, and its end; its indentation."""

    start: int
    first: int
    end: int
    indent: int

    @property
    def is_blank(self) -> bool:
        return self.first == self.end


def walk(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Link | Part]:  # noqa: ARG001 - all is text
    """Yield the links of a document in reStructuredText, and its raw HTML."""
    yield from _Reader(data).read()


def _lines(data: bytes) -> Iterator[_Line]:
    for found in _LINE.finditer(data):
        start, end = found.span(1)
        if start == len(data):
            return
        text = data[start:end]
        first = start + len(text) - len(text.lstrip(_BLANKS))
        last = max(start + len(text.rstrip(_BLANKS)), first)
        yield _Line(start, first, last, _columns(data[start:first]))


def _columns(blanks: bytes) -> int:
    return len(blanks) if b"\t" not in blanks else len(blanks.expandtabs(_TAB))


class _Reader:
    """Read the lines of one document: its blocks by their indentation, then the inline markup of its texts."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lines = list(_lines(data))
        self._at = 0

    def read(self) -> Iterator[Link | Part]:
        while self._at < len(self._lines):
            line = self._behind_markers(self._lines[self._at])
            explicit = _EXPLICIT.match(self._data, line.first, line.end)
            if line.is_blank:
                self._at += 1
            elif explicit is not None:
                yield from self._explicit(line, explicit)
            elif self._data.startswith(b">>> ", line.first):
                self._at += 1
                self._skip_paragraph(line)
            else:
                yield from self._text(line, line.first)

    def _behind_markers(self, line: _Line) -> _Line:
        """Return a line without the markers of list items at its start."""
        marker = _MARKER.match(self._data, line.start, line.end)
        first = marker.end() if marker is not None and marker.end() < line.end else line.first
        return line._replace(first=first, indent=_columns(self._data[line.start : first]))

    # --- texts --------------------------------------------------------------------------------------------------------

    def _skip_paragraph(self, line: _Line) -> None:
        """Skip lines up to a blank one, one that is indented less than this, or a block in the definition of a term."""
        while self._at < len(self._lines):
            other = self._lines[self._at]
            if other.is_blank or other.indent < line.indent:
                break
            if other.indent > line.indent and _EXPLICIT.match(self._data, other.first, other.end):
                break
            self._at += 1

    def _text(self, line: _Line, start: int) -> Iterator[Link]:
        """Read the paragraph at a line from an offset on, and skip the literal block behind it."""
        self._at += 1
        self._skip_paragraph(line)
        last = self._lines[self._at - 1]
        yield from self._inlines(start, last.end)
        if self._data.endswith(b"::", start, last.end):
            self._skip_literal(max(line.indent, last.indent))

    def _skip_literal(self, indent: int) -> None:
        """Skip a literal block, indented more than its paragraph, or quoted (its lines begin with the same mark)."""
        self._skip_blank()
        if self._at < len(self._lines) and self._lines[self._at].indent == indent:
            quote = self._data[self._lines[self._at].first]
            if not chr(quote).isalnum() and quote < 0x80:
                self._skip_paragraph(self._lines[self._at])
            return
        self._skip_indented(indent)

    def _skip_blank(self) -> None:
        while self._at < len(self._lines) and self._lines[self._at].is_blank:
            self._at += 1

    def _skip_indented(self, indent: int) -> int:
        """Skip blank lines, and those indented more than this; return the end of the last one that is not blank."""
        end = -1
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.is_blank and line.indent <= indent:
                break
            end = end if line.is_blank else line.end
            self._at += 1
        return end

    def _inlines(self, start: int, end: int) -> Iterator[Link]:
        for found in _INLINE.finditer(self._data, start, end):
            if found["uri"] is not None:
                first, size = found.start("uri"), bare_end(found["uri"])
                if size > found["uri"].find(b"//") + len(b"//"):
                    yield Link(_STANDALONE, first, first + size, _URI)
            elif found["mark"] is not None:
                text = found["text"][-_LONGEST:]
                uri = _URI_IN_BRACKETS.search(text)
                if uri is not None:
                    by = found.end("text") - len(text)
                    yield from self._uri(_EMBEDDED, by + uri.start(1), by + uri.end(1))

    def _uri(self, site: LinkSite, start: int, end: int) -> Iterator[Link]:
        """Yield the link of a URI; there is none in the name of another target, or in an address of mail."""
        raw = self._data[start:end]
        if raw and _ALIAS.search(raw) is None and _MAIL.match(raw) is None:
            yield Link(site, start, end, _URI)

    # --- explicit markup ----------------------------------------------------------------------------------------------

    def _explicit(self, line: _Line, found: re.Match[bytes]) -> Iterator[Link | Part]:
        """Read an explicit markup block, which begins in a line."""
        kind, after = found.lastgroup, found.end()
        if kind in {"target", "anonymous"}:
            yield from self._target(line, after)
        elif kind == "directive":
            yield from self._directive(line, found["directive"].lower(), after)
        elif kind == "note":
            yield from self._text(line, after)
        else:
            self._at += 1
            is_empty = line.end == after and (self._at == len(self._lines) or self._lines[self._at].is_blank)
            if not is_empty:
                self._skip_indented(line.indent)

    def _argument(self, line: _Line, start: int) -> tuple[int, int]:
        """Return the span of the text from an offset on and in lines indented more, up to an option or blank line."""
        end = line.end
        self._at += 1
        while self._at < len(self._lines):
            line_ = self._lines[self._at]
            if line_.is_blank or line_.indent <= line.indent or _OPTION.match(self._data, line_.start, line_.end):
                break
            end = line_.end
            self._at += 1
        text = self._data[start:end]
        return start + len(text) - len(text.lstrip(_BLANKS)), end

    def _target(self, line: _Line, start: int) -> Iterator[Link]:
        first, end = self._argument(line, start)
        yield from self._uri(_TARGET, min(first, end), end)

    def _directive(self, line: _Line, name: bytes, start: int) -> Iterator[Link | Part]:
        """Read a directive: its argument and options; the content of most is text, and read as other lines are."""
        if name not in _LITERAL and name not in _IMAGES:
            text = self._data[start : line.end].lstrip(_BLANKS)
            if text:
                yield from self._inlines(start, line.end)
            self._at += 1
            return
        first, end = self._argument(line, start)
        if name in _IMAGES:
            yield from self._uri(_IMAGES[name], min(first, end), end)
        yield from self._options(line, _WITH_TARGET.get(name, b""))
        if name not in _LITERAL:
            return
        self._skip_blank()
        begin = self._lines[self._at].start if self._at < len(self._lines) else end
        last = self._skip_indented(line.indent)
        if name == b"raw" and last > begin and b"html" in self._data[first:end].lower().split():
            yield Part(registry.HTML, begin, last, IDENTITY)

    def _options(self, line: _Line, wanted: bytes) -> Iterator[Link]:
        """Yield the URI of the option with a name; skip all options."""
        while self._at < len(self._lines) and self._lines[self._at].indent > line.indent:
            own = self._lines[self._at]
            option = _OPTION.match(self._data, own.start, own.end)
            if option is None:
                break
            start, end = option.span(2) if option[2] is not None else (own.end, own.end)
            first, end = self._argument(own, start)
            if option[1] == wanted:
                yield from self._uri(_OPTIONS[wanted], min(first, end), end)

