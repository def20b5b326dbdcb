"""Read the start tags of HTML and XML: their attributes by name, with the spans of names and values.

In: the bytes of a document in an ASCII-compatible charset, and the span of a tag. Out: `Attribute`s (HTML Standard
13.2.5.32 to 13.2.5.40), or every start tag of a document with the span of its raw text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.encodings.codings import quoted
from absolve.formats.html import names
from absolve.formats.html.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.encodings.charsets import Charset

_NAME: Final = re.compile(rb"<[^\t\n\f\r />]*+")
_QUOTES: Final = frozenset(b"\"'")
MARKER: Final = b"content-security-policy"  # in lower case
# Start tags that do not end the head, where alone a policy counts (HTML Standard 4.2.5.3).
_IN_HEAD: Final = frozenset(
    b"html head base basefont bgsound link meta title noscript noframes style script template".split()
)


class Attribute(NamedTuple):
    """An attribute of a tag: the span of it as a whole, and its value, not decoded."""

    start: int
    end: int
    raw: bytes

    def text(self, charset: Charset) -> str:
        """Return the decoded value, without white space around it."""
        return quoted(charset, 0x22).decode(self.raw).decode("utf-8", "replace").strip("\t\n\f\r ")


class Tag(NamedTuple):
    """A start tag: its span, its name in lower case, the span of its text if that is raw text, and its namespace.

    `inert`: it is in a template, which shows nothing.
    """

    start: int
    end: int
    name: bytes
    text_start: int
    text_end: int
    namespace: int = names.HTML
    inert: bool = False


def attributes(data: bytes, start: int, end: int) -> dict[bytes, Attribute]:
    """Return the attributes of a tag, of duplicates the first: for example, `href` and `b` of `<a HREF="x" b>`."""
    found: dict[bytes, Attribute] = {}
    for name, attribute in every_attribute(data, start, end):
        found.setdefault(name, attribute)
    return found


def every_attribute(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, Attribute]]:
    """Yield the attributes of the tag in this span, with their names in lower case; duplicates, too."""
    name = _NAME.match(data, start, end)
    first = name.end() if name is not None else start
    found: list[tuple[int, int, int, int, int]] = []
    Tokenizer(b"<x %b>" % data[first:end], b"", found).next()
    for name_start, name_end, value_start, value_end, quote in found:
        by = first - len(b"<x ")
        spelled = data[by + name_start : by + name_end].lower()
        quoted_end = by + value_end + (quote in _QUOTES)
        yield spelled, Attribute(by + name_start, quoted_end, data[by + value_start : by + value_end])


def start_tags(data: bytes, name: bytes | None = None) -> Iterator[Tag]:
    """Yield the start tags of an HTML document that the tree builder keeps; with this name, if it is given."""
    element = names.ELEMENT_ID[name] if name is not None else None
    tokenizer = Tokenizer(data, b"", [])
    while (kind := tokenizer.next()) != names.END:
        if element is not None and tokenizer.element != element:
            continue
        if kind == names.TAG and tokenizer.fate != names.IGNORED:
            found = data[tokenizer.name_start : tokenizer.name_end].lower()
            is_raw = tokenizer.namespace == names.HTML and tokenizer.fate >= names.RCDATA
            text = (tokenizer.text_start, tokenizer.text_end) if is_raw else (tokenizer.end, tokenizer.end)
            inert = tokenizer.tree.tables.template_depth > 0
            yield Tag(tokenizer.start, tokenizer.end, found, *text, tokenizer.namespace, inert)


def policy_metas(data: bytes, charset: Charset) -> Iterator[tuple[Tag, Attribute, Attribute]]:
    """Yield the `meta` elements with a policy in the head of a page, with their http-equiv and their content."""
    for tag in start_tags(data) if MARKER in data.lower() else ():
        if tag.name not in _IN_HEAD:
            return
        found = attributes(data, tag.start, tag.end) if tag.name == b"meta" else {}
        equiv, content = found.get(b"http-equiv"), found.get(b"content")
        if equiv is not None and content is not None and equiv.text(charset).lower() == MARKER.decode():
            yield tag, equiv, content
