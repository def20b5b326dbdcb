"""The Markdown walker: the links of Markdown's own syntax, and the events of the raw HTML between them.

In: the bytes of a document in UTF-8. Out: the events of both, in the order of the document. Code is literal text.
Where facts about pages are wanted, the anchors are the names in the HTML and those that GitHub gives to headings:
`# Set *up*` is `#set-up`, a second one `#set-up-1`; and names in attributes, as in `## Other {#name}`.
"""

from __future__ import annotations

import html
import unicodedata
from typing import TYPE_CHECKING, Final

from absolve.core.lazy_regex import pattern
from absolve.core.model import PageFacts
from absolve.formats.html import walker
from absolve.formats.html.page_facts import Anchors
from absolve.formats.markdown.blocks import Blocks
from absolve.formats.markdown.inlines import Inlines

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from absolve.core.model import Link
    from absolve.encodings.charsets import Charset
    from absolve.formats.events import EventList
    from absolve.formats.protocols import WalkOptions


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the links of a Markdown document, and the events of the raw HTML in it."""
    blocks, links = _read(data)
    events = walker.walk(bytes(blocks.out), charset, options)
    for facts in events.others if options.documents else ():
        if isinstance(facts, PageFacts):
            anchors = Anchors(len(data), options.max_links)
            for name in _names(data, blocks):
                anchors.add(name.encode("utf-8", "replace"))
            facts.anchors.extend(anchors.taken())
    return events.with_links(links) if links else events


def masked(data: bytes) -> bytes:
    """Return Markdown with a blank for each byte of front matter, code and destinations, and for `<` that is text."""
    return bytes(_read(data)[0].out)


def _read(data: bytes) -> tuple[Blocks, list[Link]]:
    blocks = Blocks(data)
    return blocks, Inlines(blocks).links


# --- anchors ----------------------------------------------------------------------------------------------------------

_OF_WORD: Final = frozenset("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl Pc".split())
_LONGEST: Final = 500  # characters of a heading
_HTML_HEADING: Final = pattern(rb"<[Hh]([1-6])(?:[\t\n\r ][^<>]{0,500}+)?>(.{0,500}?)</[Hh]\1>", 0x10)  # DOTALL
_AROUND: Final = pattern(r"\A#{1,6}(?=\s|\Z)|(?<=\s)#+\s*\Z")
# Attributes of kramdown, Python-Markdown and pandoc, `{#name}` or `{: #name .class}`; targets of MyST, `(name)=`
_ATTRIBUTES: Final = pattern(rb"(?m)\{:?[^{}#\r\n]{0,200}#([^\s{}#]++)[^{}\r\n]{0,200}+\}|^\(([^\s()]++)\)=[\t ]*+$")
_ATTRIBUTES_AT_END: Final = pattern(r"\s*+\{[^{}]*+\}\s*+\Z")
# Inlines whose text is not what is written: code, escapes, images, destinations, tags, references, emphasis by `_`
_INLINE: Final = pattern(
    r"(?s)(`++)(?P<code>.+?)(?<!`)\1(?!`)|\\(?P<escaped>[!-/:-@\[-`{-~])|!\[(?>(?:[^\[\]]|\[[^\[\]]*+\])*)\](?:\([^()]*+\)|\[[^\[\]]*+\])?"
    r"|(?<=\])(?:\((?>(?:[^()]|\([^()]*+\))*)\)|\[[^\[\]]*+\])|<(?P<url>[A-Za-z][\w+.-]*+:[^<>\s]*+)>|</?[A-Za-z!][^<>]*+>"
    r"|(?P<reference>&\#?\w++;)|(?<!\w)_++(?=\S)|(?<=\S)_++(?!\w)"
)


def _names(data: bytes, blocks: Blocks) -> Iterator[str]:
    """Yield the names in attributes, then the names of headings (also in raw HTML), in order."""
    masked_data = bytes(blocks.out)
    for found in _ATTRIBUTES.finditer(masked_data):
        yield (found[1] or found[2]).decode("utf-8", "replace")
    headings = blocks.headings + [found.span(2) for found in _HTML_HEADING.finditer(masked_data)]
    counts: dict[str, int] = {}
    for start, end in sorted(headings):
        text = data[start:end].decode("utf-8", "replace")[:_LONGEST]
        for written in dict.fromkeys((text, _ATTRIBUTES_AT_END.sub("", text))):
            yield _numbered(_slug(written), counts)


def _slug(heading: str) -> str:
    """Return the name that GitHub gives to a heading: in lower case, without punctuation, `-` for each blank."""
    text = _INLINE.sub(_text, _AROUND.sub("", heading.strip()).strip()).lower()
    return "".join([char for char in text.replace(" ", "-") if char == "-" or _is_of_word(char)])


def _text(found: re.Match[str]) -> str:
    return html.unescape(found["reference"] or "") or found["code"] or found["escaped"] or found["url"] or ""


def _is_of_word(char: str) -> bool:
    """Return whether a character is a letter (also in a circle), a mark, a digit or a connector (UTS 18, C)."""
    is_circled = "\u24b6" <= char <= "\u24e9" or "\U0001f130" <= char < "\U0001f18a"
    return is_circled or unicodedata.category(char) in _OF_WORD


def _numbered(slug: str, counts: dict[str, int]) -> str:
    """Return a name that no heading before has: the slug, or with a number behind it."""
    name = slug
    while name in counts:
        counts[slug] += 1
        name = f"{slug}-{counts[slug]}"
    counts[name] = 0
    return name

