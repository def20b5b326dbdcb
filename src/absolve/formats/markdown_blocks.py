"""Find the blocks of Markdown: where its text is, where raw HTML, and where code, which is literal; and its anchors.

In: the bytes of a document in UTF-8. Out: the same bytes with blanks in place of front matter, code blocks (CommonMark
4.4, 4.5) and the markers of containers; the spans of texts whose inlines are to be read: paragraphs, headings, table
cells (GFM 4.10). Containers are block quotes and list items (5.1, 5.2), and others with content indented in the same
way: footnotes, definition lists, admonitions, and tabs. For example, `> * a` is a text `a` in two containers.
This is a scanner of its own, because Markdown parsers report lines, but no positions in them. It takes time linear in
the document: a line is compared with at most 64 open containers.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]

# YAML or TOML at the beginning, which generators of sites take out before they read Markdown
_FRONT_MATTER: Final = pattern(
    rb"(?:\xef\xbb\xbf)?(?:---[\t ]*+[\r\n].*?(?<=[\r\n])(?:---|\.\.\.)|\+\+\+[\t ]*+[\r\n].*?(?<=[\r\n])\+\+\+)"
    rb"[\t ]*+(?=[\r\n]|\Z)",
    re.DOTALL,
)
_LINE_END: Final = pattern(rb"\r\n?|\n|\Z")
_INDENT: Final = pattern(rb"[\t ]*+")
_FENCE: Final = pattern(rb"(`{3,}+)[^`\r\n]*+(?=[\r\n]|\Z)|(~{3,}+)|(\$\$)[\t ]*+(?=[\r\n]|\Z)")
_MARKER: Final = pattern(rb"(?:[-+*]|([0-9]{1,9})[.)])(?=[\t \r\n]|\Z)")
# [^1]: footnote; !!! note, ??? note, === "tab" of Python-Markdown; : definition. Their content is indented by a tab.
_OTHER_MARKER: Final = pattern(rb"\[\^[^\]\s]++\]:|(?:!!!|\?\?\?\+?|===[!+]?)(?=[\t ]++[\"\w])[^\r\n]*+|:(?=[\t ])")
_BREAK: Final = pattern(rb"(?:(?:-[\t ]*+){3,}|(?:_[\t ]*+){3,}|(?:\*[\t ]*+){3,})(?=[\r\n]|\Z)")
_UNDERLINE: Final = pattern(rb"(?:=++|-++)[\t ]*+(?=[\r\n]|\Z)")
_HEADING: Final = pattern(rb"#{1,6}(?=[\t \r\n]|\Z)")
# MDX (JSX): {...props}, title={"a"}, style={{ width: 1 }}, icon={<I name="a"/>}
_EXPRESSION: Final = rb"\{(?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*)\}(?=[\t\n\r >]|/>)"
_ATTRIBUTES: Final = (
    rb"(?>(?:[\t\n\r ]++(?:\{\.\.\.[^{}]*+\}|[A-Za-z_:][\w.:-]*+(?>(?:[\t\n\r ]*+=[\t\n\r ]*+"
    rb"(?:\"[^\"]*+\"|'[^']*+'|%b|[^\t\n\r \"'=<>`]++))?)))*)" % _EXPRESSION
)
TAG: Final = pattern(
    rb"<(?:/[A-Za-z][A-Za-z0-9-]*+|[A-Za-z][A-Za-z0-9-]*+" + _ATTRIBUTES + rb"[\t\n\r ]*+/?)[\t\n\r ]*+>"
)
_EXPRESSIONS: Final = pattern(rb"(?<==)[\t\n\r ]*+%b|\{\.\.\.[^{}]*+\}" % _EXPRESSION)
_TEXT_EXPRESSION: Final = pattern(rb"[\t\n\r ]*+\{[\t\n\r ]*+(?:\"[^\"{}]*+\"|'[^'{}]*+')[\t\n\r ]*+\}\Z")
_ENDS_A_VALUE: Final = pattern(rb"[\t\n\r \"'=<>`]")
# A tag of a component with attributes in lines of their own, the last of which may be `>` alone; how such a tag ends
_TAG_BEGINS: Final = pattern(rb"<[A-Z][\w.-]*+[\t ]*+\Z")
_TAG_ENDS: Final = pattern(rb"/?>[\t ]*+\Z")
_TO_LINE_END: Final = pattern(rb"[\t ]*+(?=[\r\n]|\Z)")
_LONGEST_TAG: Final = 8192
# MDX: a line of a component, an import or an export; its comments, which begin in no code span of a line
_IS_MDX: Final = pattern(rb"^(?:<[A-Z]\w*[a-z]|import[\t ][^\r\n]*[\"']|export[\t ])", re.MULTILINE)
_COMMENT: Final = pattern(rb"`[^`\r\n]*+`?|(?<![^\s>}])\{/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)(?:\*/([\t\n\r ]*+\})?)?")
# 4.6: how HTML blocks begin, and the text that ends them; None: a blank line ends them.
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
# Elements with Markdown inside: <Note> of MDX, <div markdown="1"> of kramdown and Python-Markdown
_WITH_MARKDOWN: Final = pattern(rb"</?[A-Z][a-z]|<[a-z][^>]*[\t ]markdown(?=[=>\t ])")
_DELIMITERS: Final = pattern(rb"[\t ]*+\|?[\t ]*+:?-++:?[\t ]*+(?>(?:\|[\t ]*+:?-++:?[\t ]*+)*)\|?[\t ]*+\Z")
_CELL: Final = pattern(rb"(?>(?:\\.|[^|\\])+)|\\", re.DOTALL)
_FORMULA: Final = b"$$"  # of a formula in lines of its own; `$$ {#eq-name}` may end it
_TAB: Final = 0x09
_ANGLE: Final = b">"
_DEEPEST: Final = 64  # containers in each other
_CODE: Final = 4  # columns of indentation, and columns of a tab
_QUOTE: Final = 0  # a block quote; all other containers have columns of indentation


class _Open(NamedTuple):
    """An open block of code, a formula or HTML: its fence, or the text that ends it; without both a blank line does."""

    fence: bytes = b""
    close: re.Pattern[bytes] | None = None


class Blocks:
    """The blocks of one document. `out` is the document with blanks; `texts` and `headings` are spans, in order.

    `paragraphs` has an element for each of `texts`: whether it is a paragraph, which may begin with definitions.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.out = bytearray(data)
        self.texts: list[Span] = []
        self.paragraphs: list[bool] = []
        self.headings: list[Span] = []
        self._containers: list[int] = []  # open ones: columns of indentation, or _QUOTE
        self._is_new_item = False  # the innermost one is a list item without content
        self._open: _Open | None = None
        self._paragraph = -1
        self._paragraph_end = 0
        self._read()

    def mask(self, start: int, end: int) -> None:
        """Put blanks in place of the bytes of a span."""
        self.out[start:end] = b" " * (end - start)

    def _read(self) -> None:
        front = _FRONT_MATTER.match(self._data)
        at = front.end() if front is not None else 0
        self.mask(0, at)
        while at < len(self._data):
            found = _LINE_END.search(self._data, at)
            end, after = found.span() if found else (len(self._data), len(self._data))
            line = _Line(self._data, at, end)
            self._line(line)
            self.mask(line.start, line.first)
            at = max(after, at + 1)
        self._end_paragraph()
        out = bytes(self.out)
        for found in _COMMENT.finditer(out) if b"{/*" in out and _IS_MDX.search(out) else ():
            if found[1] is not None:
                self.mask(*found.span())

    def in_html(self) -> bytes:
        """Return `out` with the expressions of MDX in tags as a reader of HTML takes them: a text, or one word."""
        out = bytes(self.out)
        return TAG.sub(_with_words, out) if b"={" in out or b"= {" in out or b"{..." in out else out

    def _line(self, line: _Line) -> None:
        """Read a line: match the open containers, then continue the open block, or begin others."""
        matched = self._matched(line)
        everything = matched == len(self._containers)
        if self._open is not None:
            if everything:
                self._continue(self._open, line)
                return
            self._open = None
        if line.is_blank:
            self._close(matched)
        else:
            self._is_new_item = False
            self._begin(line, matched)

    def _matched(self, line: _Line) -> int:
        """Return how many open containers continue in a line, and skip their markers."""
        for index, columns in enumerate(self._containers):
            if columns == _QUOTE:
                is_in = line.skip_quote()
            elif line.is_blank:
                is_in = not (self._is_new_item and index == len(self._containers) - 1)
            else:
                is_in = line.indent >= columns
                line.base += columns if is_in else 0
            if not is_in:
                return index
        return len(self._containers)

    def _begin(self, line: _Line, matched: int) -> None:
        """Read the blocks that begin in a line, after the markers of the containers that continue."""
        while not line.is_blank:
            may_continue = self._paragraph >= 0
            whole = matched == len(self._containers)
            if line.indent >= _CODE:
                if may_continue:
                    break
                self._close(matched)
                self.mask(line.first, line.end)
                return
            if len(self._containers) < _DEEPEST and self._begin_container(line, matched, inside=may_continue and whole):
                matched = len(self._containers)
                continue
            if self._begin_leaf(line, matched, whole=whole):
                return
            break
        if line.is_blank:
            return
        if self._paragraph < 0:
            self._close(matched)
            self._paragraph = line.first
        self._paragraph_end = line.end

    def _close(self, matched: int) -> None:
        """End the open paragraph, and all containers but the first `matched`."""
        self._end_paragraph()
        del self._containers[matched:]

    def _begin_container(self, line: _Line, matched: int, *, inside: bool) -> bool:
        """Return whether a container begins at the first byte of a line; open it. `inside`: of a paragraph."""
        if line.starts(_ANGLE):
            self._close(matched)
            line.skip_quote()
            self._containers.append(_QUOTE)
            return True
        if _BREAK.match(line.data, line.first, line.end):
            return False
        marker = _MARKER.match(line.data, line.first, line.end)
        if marker is not None:
            rest = line.data[marker.end() : line.end].strip()
            if inside and (not rest or (marker[1] is not None and int(marker[1]) != 1)):
                return False
            self._close(matched)
            self._item(line, marker.end(), is_empty=not rest)
            return True
        other = _OTHER_MARKER.match(line.data, line.first, line.end)
        if other is None:
            return False
        self._close(matched)
        line.skip(other.end())
        line.base = line.column
        self._containers.append(_CODE)
        return True

    def _item(self, line: _Line, end: int, *, is_empty: bool) -> None:
        """Open the list item whose marker ends at an offset (5.2)."""
        before = line.indent
        width = end - line.first
        line.skip(end)
        blanks = line.column - line.after
        inner = 1 if is_empty or blanks > _CODE else blanks
        line.base += before + width + inner
        self._containers.append(before + width + inner)
        self._is_new_item = is_empty

    def _begin_leaf(self, line: _Line, matched: int, *, whole: bool) -> bool:
        """Return whether a block other than container and paragraph begins at the first byte of a line; read it."""
        data, first, end = line.data, line.first, line.end
        fence = _FENCE.match(data, first, end)
        if fence is not None and (fence[3] is None or (self._paragraph < 0 and data.find(_FORMULA, end) >= 0)):
            self._close(matched)
            self._open = _Open(fence[fence.lastindex or 1])
            self.mask(first, end)
        elif self._paragraph >= 0 and whole and _UNDERLINE.match(data, first, end):
            self.headings.append((self._paragraph, self._paragraph_end))
            self._end_paragraph()
        elif _BREAK.match(data, first, end):
            self._close(matched)
        elif _HEADING.match(data, first, end):
            self._close(matched)
            self._add(first, end, is_paragraph=False)
            self.headings.append((first, end))
        else:
            return self._begin_html(line, matched)
        return True

    def _begin_html(self, line: _Line, matched: int) -> bool:
        has_markdown = _WITH_MARKDOWN.match(line.data, line.first, line.end) is not None
        for begin, close in _HTML if not has_markdown else _HTML[:-1]:
            if (found := begin.match(line.data, line.first, line.end)) is not None:
                self._close(matched)
                if close is None or close.search(line.data, found.end(), line.end) is None:
                    self._open = _Open(close=close)
                return True
        if self._paragraph < 0 and _TAG_BEGINS.match(line.data, line.first, line.end) is not None:
            tag = TAG.match(line.data, line.first, min(line.first + _LONGEST_TAG, len(line.data)))
            if tag is not None and tag.end() > line.end and _TO_LINE_END.match(line.data, tag.end()) is not None:
                self._close(matched)
                self._open = _Open(close=_TAG_ENDS)
                return True
        alone = TAG.match(line.data, line.first, line.end) if self._paragraph < 0 else None
        if alone is None or has_markdown or line.data[alone.end() : line.end].strip():
            return False
        self._close(matched)
        self._open = _Open()
        return True

    def _continue(self, block: _Open, line: _Line) -> None:
        """Read a line of the open block, which may end it; mask code."""
        text = line.data[line.first : line.end].rstrip()
        if block.fence:
            is_alone = text.startswith(block.fence) and not text.strip(block.fence[:1]) and line.indent < _CODE
            if is_alone or (block.fence == _FORMULA and _FORMULA in text):
                self._open = None
            self.mask(line.first, line.end)
        elif not text if block.close is None else block.close.search(line.data, line.first, line.end):
            self._open = None

    def _end_paragraph(self) -> None:
        """Add the text of the paragraph that ends, or the texts of its cells if it is a table."""
        start, end = self._paragraph, self._paragraph_end
        self._paragraph = -1
        if start < 0:
            return
        lines = list(_lines(self._data, start, end)) if b"|" in self._data[start:end] else []
        header = next((at for at in range(len(lines) - 1) if self._is_table(lines[at], lines[at + 1])), -1)
        if header < 0:
            self._add(start, end, is_paragraph=True)
            return
        if header:
            self._add(start, lines[header - 1][1], is_paragraph=True)
        for first, last in lines[header:]:
            for cell in _CELL.finditer(self.out, first, last):
                self._add(*cell.span(), is_paragraph=False)

    def _is_table(self, header: Span, line: Span) -> bool:
        row, text = (bytes(self.out[slice(*span)]) for span in (header, line))
        return b"|" in row and bool(_DELIMITERS.match(text)) and _columns(row) == _columns(text)

    def _add(self, start: int, end: int, *, is_paragraph: bool) -> None:
        self.texts.append((start, end))
        self.paragraphs.append(is_paragraph)


def _lines(data: bytes, start: int, end: int) -> Iterator[Span]:
    while start < end:
        found = _LINE_END.search(data, start, end)
        last, after = found.span() if found else (end, end)
        yield start, last
        start = max(after, start + 1)


def _columns(row: bytes) -> int:
    """Return the number of cells in a table row, for example 2 in `| a | b |`."""
    return len(_CELL.findall(row.strip().removeprefix(b"|")))


def _with_words(tag: re.Match[bytes]) -> bytes:
    return _EXPRESSIONS.sub(_word, tag[0]) if b"{" in tag[0] else tag[0]


def _word(found: re.Match[bytes]) -> bytes:
    if _TEXT_EXPRESSION.match(found[0]) is not None:
        return found[0].replace(b"{", b" ").replace(b"}", b" ")
    bare = found[0].lstrip()
    return b" " * (len(found[0]) - len(bare)) + _ENDS_A_VALUE.sub(b"_", bare)


class _Line:
    """One line. `first` is the offset of the first byte after the markers and blanks, `column` its column.

    `base` is the column at which the content of the innermost continuing container begins, `after` the column after
    the last marker.
    """

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.first = start
        self.column = 0
        self.after = 0
        self.base = 0
        self._skip_blanks()

    @property
    def is_blank(self) -> bool:
        return self.first == self.end

    @property
    def indent(self) -> int:
        """The columns of blanks before the first byte."""
        return self.column - self.base

    def starts(self, byte: bytes) -> bool:
        return self.data.startswith(byte, self.first, self.end)

    def skip(self, end: int) -> None:
        """Skip a marker up to an offset, and the blanks behind it."""
        self.column += end - self.first
        self.after = self.column
        self.first = end
        self._skip_blanks()

    def skip_quote(self) -> bool:
        """Return whether a marker of a block quote is here; skip it and one column of the blanks behind it."""
        if self.indent >= _CODE or not self.starts(_ANGLE):
            return False
        self.skip(self.first + 1)
        self.base = self.after + (self.column > self.after)
        return True

    def _skip_blanks(self) -> None:
        found = _INDENT.match(self.data, self.first, self.end)
        last = found.end() if found else self.first
        for byte in self.data[self.first : last]:
            self.column += _CODE - self.column % _CODE if byte == _TAB else 1
        self.first = last


# --- anchors ----------------------------------------------------------------------------------------------------------

_OF_WORD: Final = frozenset("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl Pc".split())
_LONGEST: Final = 500  # characters of a heading
_HTML_HEADING: Final = pattern(rb"<[Hh]([1-6])(?:[\t\n\r ][^<>]{0,500}+)?>(.{0,500}?)</[Hh]\1>", 0x10)  # DOTALL
_AROUND: Final = pattern(r"\A#{1,6}(?=\s|\Z)|(?<=\s)#+\s*\Z")
# Attributes of kramdown, Python-Markdown and pandoc, `{#name}` or `{: #name .class}`; targets of MyST, `(name)=`
_NAMED: Final = pattern(rb"(?m)\{:?[^{}#\r\n]{0,200}#([^\s{}#]++)[^{}\r\n]{0,200}+\}|^\(([^\s()]++)\)=[\t ]*+$")
_NAME_AT_END: Final = pattern(r"\s*+\{[^{}]*+\}\s*+\Z")
# Inlines that are shown as another text: code, escapes, images, destinations, tags, references, emphasis by `_`
_INLINE: Final = pattern(
    r"(?s)(`++)(?P<code>.+?)(?<!`)\1(?!`)|\\(?P<escaped>[!-/:-@\[-`{-~])|!\[(?>(?:[^\[\]]|\[[^\[\]]*+\])*)\](?:\([^()]*+\)|\[[^\[\]]*+\])?"
    r"|(?<=\])(?:\((?>(?:[^()]|\([^()]*+\))*)\)|\[[^\[\]]*+\])|<(?P<url>[A-Za-z][\w+.-]*+:[^<>\s]*+)>|</?[A-Za-z!][^<>]*+>"
    r"|(?P<reference>&\#?\w++;)|(?<!\w)_++(?=\S)|(?<=\S)_++(?!\w)"
)


def names(data: bytes, blocks: Blocks) -> Iterator[str]:
    """Yield the anchors of a document: the names in attributes, then the names of headings (also in raw HTML).

    Headings have the names that GitHub gives them: for example, `# Set *up*` is `#set-up`, a second one `#set-up-1`.
    Names in attributes are as in `## Other {#name}`.
    """
    masked_data = bytes(blocks.out)
    for found in _NAMED.finditer(masked_data):
        yield (found[1] or found[2]).decode("utf-8", "replace")
    headings = blocks.headings + [found.span(2) for found in _HTML_HEADING.finditer(masked_data)]
    counts: dict[str, int] = {}
    for start, end in sorted(headings):
        text = data[start:end].decode("utf-8", "replace")[:_LONGEST]
        for written in dict.fromkeys((text, _NAME_AT_END.sub("", text))):
            yield _numbered(_slug(written), counts)


def _slug(heading: str) -> str:
    """Return the name that GitHub gives to a heading, for example `set-up-now` for `Set up, *now*`."""
    text = _INLINE.sub(_text, _AROUND.sub("", heading.strip()).strip()).lower()
    return "".join([char for char in text.replace(" ", "-") if char == "-" or _is_of_word(char)])


def _text(found: re.Match[str]) -> str:
    return html.unescape(found["reference"] or "") or found["code"] or found["escaped"] or found["url"] or ""


def _is_of_word(char: str) -> bool:
    """Return whether a character is a letter (also in a circle), a mark, a digit or a connector (UTS 18, C)."""
    is_circled = "\u24b6" <= char <= "\u24e9" or "\U0001f130" <= char < "\U0001f18a"
    return is_circled or unicodedata.category(char) in _OF_WORD


def _numbered(slug: str, counts: dict[str, int]) -> str:
    """Return a name that no earlier heading has: the slug itself, or with a number, for example `a-1`."""
    name = slug
    while name in counts:
        counts[slug] += 1
        name = f"{slug}-{counts[slug]}"
    counts[name] = 0
    return name
