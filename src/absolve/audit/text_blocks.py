r"""Split the text of a page into blocks: paragraphs, list items, cells, lines of code.

In: the bytes of a document, its media type and charset. Out: texts with white space folded. Scripts, styles and titles
are left out. lxml reads HTML and XML; text files are split at blank lines; other documents have no blocks.

    >>> blocks(b"<h1>News</h1><p>One <b>two</b><ul><li><a href=x>three</a>", "text/html", None)
    ['\x1eNews', 'One two', '\x1fthree']
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import webencodings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

_MARKUP: Final = re.compile(r"html|xml", re.IGNORECASE)
_TEXT: Final = frozenset({"text/plain", "text/markdown", "text/x-rst"})
_LEFT_OUT: Final = ("script", "style", "template", "title", "noscript")
# Elements inside a sentence; any other one ends a block.
_INLINE: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q ruby rb rp rt rtc s samp"
    " small span strike strong sub sup time tt u var wbr input button select".split()
)
LINKS: Final = "\x1f"  # begins a block with words in links only: a menu, or a list of pages
HEADING: Final = "\x1e"  # begins the text of an h1 element
MARKS: Final = LINKS + HEADING
_LETTER: Final = re.compile(r"[^\W_]")
_LONG: Final = 400  # characters of a block that is split into sentences
_BLANK_LINE: Final = re.compile(r"\n[ \t\r\f]*\n")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。!?])")


def blocks(data: bytes, media_type: str | None, charset: str | None) -> list[str]:
    """Return the text blocks of a document in their order. An unknown charset is taken for UTF-8.

    A block whose words are all in links begins with LINKS, the block of an `h1` element with HEADING.
    """
    kind = (media_type or "").partition(";")[0].strip().lower()
    if kind in _TEXT:
        return list(_cut(_decoded(data, charset)))
    if not _MARKUP.search(kind):
        return []
    root = _tree(data, charset)
    if root is None:
        return []
    return [block for text in _texts(root) for block in _cut(text)]


def text_of(data: bytes, media_type: str) -> str:
    """Return the text of a page with white space folded, for example `News One two` for the page above."""
    root = _tree(data, None) if _MARKUP.search(media_type) else None
    return "" if root is None else " ".join(" ".join(map(str, root.itertext())).split())


def _decoded(data: bytes, charset: str | None) -> str:
    encoding = webencodings.lookup(charset or "utf-8") or webencodings.UTF8
    return webencodings.decode(data, encoding, "replace")[0]


def _tree(data: bytes, charset: str | None) -> etree._Element | None:
    """Return the tree of a page; None for a page without elements."""
    from lxml import etree

    encoding = webencodings.lookup(charset or "utf-8") or webencodings.UTF8
    if encoding.name != "utf-8" or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = _decoded(data, charset).encode("utf-8", "replace")
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    if root is not None:
        etree.strip_elements(root, *_LEFT_OUT, with_tail=False)
    return root


def _texts(root: etree._Element) -> Iterator[str]:
    """Yield the texts between the elements that end a block, with LINKS or HEADING before them."""
    from lxml import etree

    inline = _INLINE
    held: list[str] = []
    depth = 0  # of links
    is_plain = False
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        text = element.text if event == "start" else element.tail
        if tag == "a":
            depth += 1 if event == "start" else -1
        elif tag == "br" and element.getparent().tag == "h1":
            held.append(" ")
        elif held and tag not in inline:
            mark = HEADING if tag == "h1" and event == "end" else "" if is_plain else LINKS
            yield mark + "".join(held)
            held = []
            is_plain = False
        if text is not None and (held or not text.isspace()):
            held.append(text)
            is_plain = is_plain or (not depth and _LETTER.search(text) is not None)
    if held:
        yield "".join(held) if is_plain else LINKS + "".join(held)


def _cut(text: str) -> Iterator[str]:
    """Yield the blocks of a text: split at blank lines, and at the ends of sentences where it is long."""
    if text.startswith((LINKS, HEADING)):
        folded = " ".join(text[1:].split())
        if folded:
            yield text[0] + folded
        return
    for paragraph in _BLANK_LINE.split(text) if "\n" in text and _BLANK_LINE.search(text) else (text,):
        folded = " ".join(paragraph.split())
        if len(folded) > _LONG:
            yield from (part for part in _SENTENCE.split(folded) if part)
        elif folded:
            yield folded


def words(texts: Iterable[str]) -> list[str]:
    """Return the words of texts in lower case; each character of a script without spaces is a word.

    >>> words(["Old-URL", "旧网址"])
    ['old', 'url', '旧', '网', '址']
    """
    found: list[str] = []
    for text in texts:
        found += text.lower().translate(_ASCII).split() if text.isascii() else _WORD.findall(text.lower())
    return found


_ASCII: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_WORD: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
