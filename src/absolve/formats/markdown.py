"""The Markdown walker: the links of Markdown's own syntax, and the events of the raw HTML between them.

In: the bytes of a document in UTF-8: CommonMark 0.31, with tables, front matter, footnotes and the shortcodes of site
generators. Out: the events of both, in the order of the document. Code is literal text, and has none.
Links are in inlines (CommonMark 6) and definitions (4.7). Blanks replace code spans (6.1), destinations, and each `<`
that begins no raw HTML (6.6), so that only the raw HTML of the document remains.
Brackets are matched with a stack, as appendix A has it; every search that can fail at each of many places is either
bounded, or its failure is remembered for the rest of the text: so the time is linear in the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern
from absolve.core.model import Link, LinkSite, PageFacts
from absolve.encodings.codings import IDENTITY, reference_at
from absolve.encodings.offset_map import Decoded, replaced
from absolve.formats.grammars import bare_end
from absolve.formats.html import walker
from absolve.formats.html.page_facts import Anchors
from absolve.formats.markdown_blocks import TAG, Blocks, names

if TYPE_CHECKING:
    import re

    from absolve.core.protocols import Coding, Offsets
    from absolve.encodings.charsets import Charset
    from absolve.formats import WalkOptions
    from absolve.formats.events import EventList


_LINK: Final = LinkSite("markdown", "link", "destination", "navigation", empty="base")
_IMAGE: Final = LinkSite("markdown", "image", "destination", "image")
_DEFINITION: Final = LinkSite("markdown", "definition", "destination", "navigation", empty="base")
_IMAGE_DEFINITION: Final = LinkSite("markdown", "definition", "destination", "image")
_AUTOLINK: Final = LinkSite("markdown", "autolink", "bare", "navigation")

# A URL in text begins a line, or follows white space, a delimiter (GFM 6.9), a tag, or a letter of CJK, as on GitHub.
_INLINE: Final = pattern(
    rb"\\[!-/:-@\[-`{-~]|`++|<|!?\[|\]|\$|(?<![^\s*_~(>|\x80-\xff])(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])://[^\x00-\x20<\[\]\x7f]++"
)
_BEHIND_BRACKETS: Final = pattern(rb"[^\x00-\x20<\x7f]*+")
# Formulas: $x$ and $$x$$ of GitHub, Jupyter and pandoc (tex_math_dollars); \\(x\\), and \(x\) if no link begins in it.
_FORMULA: Final = pattern(
    rb"\$\$(?>(?:[^$\\]|\\.|\$(?!\$))+)\$\$|\$`[^`]++`\$|(?<![\w$])\$(?![\s$])(?>(?:[^$\\`]|\\.)+)(?<!\s)\$(?!\d)"
    rb"|(?:\\\\?\(|\\\\\[)(?>(?:[^\\\[`]|(?<=[\w})\]])\[|\\(?![()\[\]\\]).|\\\\(?![()\[\]]))*)(?:\\\\?\)|\\\\\])",
    0x10,  # DOTALL
)
_CUT_LINK: Final = pattern(rb"\A[^\[\]]*+\]\(|\]\([^()]*+\Z")
_RUN: Final = pattern(rb"`++")
_URI: Final = pattern(rb"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\0- <>\x7f]*+)>")
_MAIL: Final = pattern(rb"<[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]++@[A-Za-z0-9.-]++>")
_ENDS: Final = ((b"<!--", b"-->"), (b"<?", b"?>"), (b"<![CDATA[", b"]]>"), (b"<!", b">"))
_ANCHOR: Final = pattern(rb"<(/?)[Aa](?=[\t\n\r />])")
_BLANKS: Final = pattern(rb"[\t\n\r ]*+")
_SPACES: Final = pattern(rb"[\t ]*+")
_LINE_ENDS: Final = b"\r\n"
_IN_ANGLES: Final = pattern(rb"<((?>(?:[^<>\\\r\n]|\\.)*))>")
_PIECE: Final = pattern(rb"[^\x00-\x20\x7f()\\{]++|\\[!-/:-@\[-`{-~]|[\\{]|[()]")
_TITLE: Final = pattern(rb"\"(?>(?:[^\"\\]|\\.)*)\"|'(?>(?:[^'\\]|\\.)*)'|\((?>(?:[^()\\]|\\.)*)\)", 0x10)  # DOTALL
_LABEL: Final = pattern(rb"\[((?>(?:[^\[\]\\]|\\.){0,999}))\]", 0x10)
_DEEPEST: Final = 32  # parentheses in each other in a destination without angle brackets
_PLACEHOLDERS: Final = {b"{{": b"}}", b"{%": b"%}"}


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the links of a document and the events of its raw HTML, for example `b` and `c` in `[a](b) <a href=c>`."""
    blocks, links = _read(data)
    events = walker.walk(blocks.in_html(), charset, options)
    for facts in events.others if options.documents else ():
        if isinstance(facts, PageFacts):
            anchors = Anchors(len(data), options.max_links)
            for name in names(data, blocks):
                anchors.add(name.encode("utf-8", "replace"))
            facts.anchors.extend(anchors.taken())
    return events.with_links(links) if links else events


def masked(data: bytes) -> bytes:
    """Return Markdown with blanks in place of front matter, code, destinations, and each `<` that is text.

    >>> masked(b"a `<b>` [x](y) <i>")
    b'a       [x     <i>'
    """
    return _read(data)[0].in_html()


def _read(data: bytes) -> tuple[Blocks, list[Link]]:
    blocks = Blocks(data)
    return blocks, Inlines(blocks).links


class _Destination(NamedTuple):
    """The span of a destination, its coding, and the offset behind it and its bracket."""

    start: int
    end: int
    coding: Coding
    after: int


class _Bracket(NamedTuple):
    """An open bracket: its offset, whether it opens an image, and how many URLs in text precede it."""

    at: int
    is_image: bool
    urls: int


class Inlines:
    """The links of the texts of one document."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._data = bytes(blocks.out)
        self.links: list[Link] = []
        self._definitions: dict[str, int] = {}  # label -> its number
        self._found: list[_Destination] = []
        self._used: dict[int, bool] = {}  # number of a definition -> whether only images use it
        self._read()

    def _read(self) -> None:
        texts = []
        for (start, end), is_paragraph in zip(self._blocks.texts, self._blocks.paragraphs, strict=True):
            texts.append((self._defined(start, end) if is_paragraph else start, end))
        for start, end in texts:
            _Text(self, self._data, start, end).read()
        for number, found in enumerate(self._found):
            site = _IMAGE_DEFINITION if self._used.get(number) else _DEFINITION
            self.links.append(Link(site, found.start, found.end, found.coding))
        self.links.sort(key=lambda link: link.start)

    def mask(self, start: int, end: int) -> None:
        self._blocks.mask(start, end)

    # --- definitions --------------------------------------------------------------------------------------------------

    def _defined(self, start: int, end: int) -> int:
        """Read the definitions at the start of a paragraph (4.7); return the end offset of the last one."""
        while start < end and (after := self._definition(start, end)) > start:
            self.mask(start, after)
            start = after
        return start

    def _definition(self, start: int, end: int) -> int:
        """Read a definition such as `[label]: url "title"`; return the offset after its line, or `start` if none."""
        data = self._data
        blanks = _BLANKS.match(data, start, end)
        label = _LABEL.match(data, blanks.end() if blanks else start, end)
        if label is None or not label[1].strip() or not data.startswith(b":", label.end(), end):
            return start
        found = destination(data, _behind_blanks(data, label.end() + 1, end), end, set())
        if found is None or (found.start == found.end and found.coding is BARE):
            return start
        after = _line_of_title(data, found.after, end)
        if after < 0:
            return start
        self._definitions.setdefault(_normalized(label[1]), len(self._found))
        self._found.append(found)
        return after

    def refer(self, label: bytes, *, is_image: bool) -> bool:
        """Return whether a label is defined; note its use."""
        number = self._definitions.get(_normalized(label)) if label.strip() else None
        if number is None:
            return False
        self._used[number] = self._used.get(number, True) and is_image
        return True


def _normalized(label: bytes) -> str:
    return " ".join(label.decode("utf-8", "replace").casefold().split())


def _behind_blanks(data: bytes, at: int, end: int) -> int:
    found = _BLANKS.match(data, at, end)
    return found.end() if found else at


def _line_of_title(data: bytes, at: int, end: int) -> int:
    """Return the end of the line with the title of a definition, or of its destination; -1 if other text follows."""
    begin = _behind_blanks(data, at, end)
    title = _TITLE.match(data, begin, end) if begin > at else None
    for last in (title.end() if title else -1, at):
        rest = _SPACES.match(data, last, end) if last >= 0 else None
        if rest is not None and (rest.end() == end or data[rest.end()] in _LINE_ENDS):
            return rest.end()
    return -1


def destination(data: bytes, at: int, end: int, absent: set[bytes]) -> _Destination | None:
    """Return the destination at an offset (6.3), for example `a b` in `<a b> "title"`; None if there is none.

    `absent` holds ends of placeholders that the rest of the text lacks. A placeholder may have blanks.
    """
    if data.startswith(b"<", at, end):
        found = _IN_ANGLES.match(data, at, end)
        return _Destination(*found.span(1), IN_ANGLES, found.end()) if found else None
    start, depth = at, 0
    while (piece := _PIECE.match(data, at, end)) is not None:
        if piece[0] == b"{":
            at = _behind_placeholder(data, at, end, absent)
            continue
        depth += (piece[0] == b"(") - (piece[0] == b")")
        if depth < 0:
            break
        if depth > _DEEPEST:
            return None
        at = piece.end()
    return _Destination(start, at, BARE, at) if depth <= 0 else None


def _behind_placeholder(data: bytes, at: int, end: int, absent: set[bytes]) -> int:
    """Return the end of the placeholder at an offset, in one line; without an end, the offset after its first byte."""
    mark = _PLACEHOLDERS.get(data[at : at + 2], b"")
    if not mark or mark in absent:
        return at + 1
    found = data.find(mark, at + 2, end)
    if found < 0:
        absent.add(mark)
        return at + 1
    return found + len(mark) if b"\n" not in data[at:found] else at + 1


class _Text:
    """One text: the inlines of a paragraph, a heading, or a cell."""

    def __init__(self, inlines: Inlines, data: bytes, start: int, end: int) -> None:
        self._inlines = inlines
        self._data = data
        self._at = start
        self._end = end
        self._brackets: list[_Bracket] = []
        self._inactive = 0  # open brackets that begin no link, because one is inside them (6.3)
        self._last = -1  # the offset of the last bracket
        self._urls: list[Link] = []  # URLs in text, which are no links inside a link
        self._in_anchor = False
        self._absent: set[bytes] = set()  # ends that do not come any more

    def read(self) -> None:
        """Add the links of the text to `inlines`."""
        data, end = self._data, self._end
        closing = _closing_runs(data, self._at, end)
        while (found := _INLINE.search(data, self._at, end)) is not None:
            start, self._at = found.span()
            first = found[0][:1]
            if first == b"<":
                self._angle(start)
            elif first in b"\\$":
                self._formula(start)
            elif first == b"`":
                if start in closing:
                    self._at = closing[start]
                    self._inlines.mask(start, self._at)
            elif first == b"]":
                self._close(start)
                self._last = start
            elif first in b"![":
                self._brackets.append(_Bracket(start, first == b"!", len(self._urls)))
                self._last = self._at - 1
            else:
                self._url(start)
        self._inlines.links += self._urls

    def _angle(self, start: int) -> None:
        """Read raw HTML (6.6), an autolink (6.5), or a `<` that is text."""
        data, end = self._data, self._end
        uri = _URI.match(data, start, end)
        if uri is not None:
            self._inlines.links.append(Link(_AUTOLINK, *uri.span(1), IDENTITY))
            self._around_link()
        is_text = uri is not None or data.endswith(b"{{", 0, start)  # a shortcode of Hugo
        other = uri or (None if is_text else _MAIL.match(data, start, end))
        if other is not None:
            self._at = other.end()
            self._inlines.mask(start, self._at)
            return
        self._at = -1 if is_text else _html_end(data, start, end, self._absent)
        if self._at < 0:
            self._at = start + 1
            self._inlines.mask(start, self._at)
        elif (anchor := _ANCHOR.match(data, start, end)) is not None:
            self._in_anchor = not anchor[1]

    def _formula(self, start: int) -> None:
        """Read a formula, in which brackets are no links; without one, an escape (2.4) or a `$` that is text."""
        found = _FORMULA.match(self._data, start, self._end)
        if found is not None and not _CUT_LINK.search(found[0]):
            self._at = found.end()
        self._inlines.mask(start, self._at)

    def _url(self, start: int) -> None:
        """Read a URL in text (GFM 6.9), which GitHub and most generators of sites make a link.

        An open bracket may begin a link, whose text has no links: the URL ends at the next bracket.
        """
        if not self._brackets and (rest := _BEHIND_BRACKETS.match(self._data, self._at, self._end)) is not None:
            self._at = rest.end()
        text = self._data[start : self._at]
        end = bare_end(text)
        self._at = start + max(end, len(b"http"))
        self._inlines.mask(start, self._at)
        if not self._in_anchor and end > text.find(b"//") + len(b"//"):
            self._urls.append(Link(_AUTOLINK, start, start + end, IDENTITY))

    # --- brackets -----------------------------------------------------------------------------------------------------

    def _close(self, at: int) -> None:
        """Read a closing bracket: of a link, an image, or text."""
        if not self._brackets:
            return
        bracket = self._brackets.pop()
        active = bracket.is_image or len(self._brackets) >= self._inactive
        self._inactive = min(self._inactive, len(self._brackets))
        if not active or not (self._inline(bracket, at) or self._reference(bracket, at)):
            return
        del self._urls[bracket.urls :]
        if not bracket.is_image:
            self._around_link()

    def _around_link(self) -> None:
        """Let no open bracket begin a link: a link is in it."""
        self._inactive = len(self._brackets)

    def _inline(self, bracket: _Bracket, at: int) -> bool:
        """Return whether `(destination "title")` follows the closing bracket at an offset; add its link."""
        data, end = self._data, self._end
        if not data.startswith(b"(", at + 1, end):
            return False
        found = destination(data, _behind_blanks(data, at + 2, end), end, self._absent)
        if found is None:
            return False
        last = _behind_blanks(data, found.after, end)
        if last > found.after and (title := _TITLE.match(data, last, end)) is not None:
            last = _behind_blanks(data, title.end(), end)
        if not data.startswith(b")", last, end):
            return False
        self._inlines.links.append(Link(_IMAGE if bracket.is_image else _LINK, *found[:3]))
        self._at = last + 1
        self._inlines.mask(at, self._at)
        return True

    def _reference(self, bracket: _Bracket, at: int) -> bool:
        """Return whether the brackets that end at an offset refer to a definition (6.3): `[label]`, `[text][label]`."""
        label = _LABEL.match(self._data, at + 1, self._end)
        begin = bracket.at + 1 + bracket.is_image
        if label is not None and label[1]:
            if self._inlines.refer(label[1], is_image=bracket.is_image):
                self._at = label.end()
                return True
            return False
        if self._last != begin - 1 or at - begin > 999:  # a label has no brackets
            return False
        found = self._inlines.refer(self._data[begin:at], is_image=bracket.is_image)
        self._at = label.end() if found and label is not None else self._at
        return found


def _closing_runs(data: bytes, start: int, end: int) -> dict[int, int]:
    """Map the offset of each run of backticks that opens a code span to the end of the span."""
    nearest: dict[int, int] = {}
    closing: dict[int, int] = {}
    for run in reversed([found.span() for found in _RUN.finditer(data, start, end)]):
        length = run[1] - run[0]
        if length in nearest:
            closing[run[0]] = nearest[length]
        nearest[length] = run[1]
    return closing


def _html_end(data: bytes, start: int, end: int, absent: set[bytes]) -> int:
    """Return the end of the raw HTML (6.6) at an offset; -1 if there is none."""
    tag = TAG.match(data, start, end)
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


# --- the codings of a destination: backslash escapes (2.4) and character references (2.5) -----------------------------

_UNIT: Final = pattern(rb"\\([!-/:-@\[-`{-~])|&(?:\#(?:[0-9]{1,7}|[Xx][0-9A-Fa-f]{1,6})|[A-Za-z][A-Za-z0-9]{0,31});")
_SPECIAL: Final = frozenset(b"\\&")
# A backslash is an escape only before punctuation. A pipe would end a table cell, a backtick would begin a code span.
_BARE: Final = pattern(rb"[\x00-\x20\x7f<>|`]|\\(?=[!-/:-@\[-`{-~]|\Z)|&")
_ANGLE: Final = pattern(rb"[\x00\r\n<>|`]|\\(?=[!-/:-@\[-`{-~]|\Z)|&")
_PARENTHESIS: Final = pattern(rb"[()]")
_MOST_OPEN: Final = 8  # parentheses in each other that are not escaped; readers accept 32
_PRINTABLE: Final = range(0x21, 0x7F)


class Destination:
    r"""The `Coding` of a link destination, with angle brackets or without: for example, `a\_b&amp;` is `a_b&`."""

    __slots__ = ("_must",)
    slot: tuple[int, int] | None = None

    def __init__(self, must: re.Pattern[bytes]) -> None:
        self._must = must

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0] if not _SPECIAL.isdisjoint(raw) else raw

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets]:
        decoded = Decoded(raw)
        for unit in _UNIT.finditer(raw):
            value = unit[1] or _meaning(raw, *unit.span())
            if value is not None:
                decoded.unit(*unit.span(), value)
        return decoded.whole()

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002 - escapes are closed
        """Return the value with escapes; parentheses are escaped only where they are not balanced."""
        text = value + after[:64]

        def escaped(found: re.Match[bytes]) -> bytes:
            start, end = found.span()
            if found[0] == b"&" and _reference(text, start) is None:
                return b"&"
            if start == len(value) - 1 and found[0] == b"\\" and not _UNIT.match(text, start):
                return b"\\"
            is_shown = value[start] in _PRINTABLE and end - start == 1
            return b"\\" + found[0] if is_shown else b"&#%d;" % value[start]

        raw = replaced(self._must, escaped, value)
        if self._must is _BARE and not _is_balanced(value):
            raw = replaced(_PARENTHESIS, lambda found: b"\\" + found[0], raw)
        return raw


def _reference(text: bytes, start: int) -> tuple[int, bytes] | None:
    """Return the end and the value of the character reference at an offset, for example (5, b"&") for `&amp;`."""
    unit = _UNIT.match(text, start)
    if unit is None:
        return None
    found = reference_at(text, start, len(text), attribute=False)
    return found if found is not None and found[0] == unit.end() else None


def _meaning(raw: bytes, start: int, end: int) -> bytes | None:
    found = _reference(raw[:end], start)
    return found[1] if found is not None else None


def _is_balanced(value: bytes) -> bool:
    depth = 0
    for found in _PARENTHESIS.finditer(value):
        depth += 1 if found[0] == b"(" else -1
        if not 0 <= depth <= _MOST_OPEN:
            return False
    return depth == 0


BARE: Final[Coding] = Destination(_BARE)
IN_ANGLES: Final[Coding] = Destination(_ANGLE)
