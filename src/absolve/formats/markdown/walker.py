"""The Markdown walker: the links of Markdown's own syntax, and the events of the raw HTML between them.

In: the bytes of a document in UTF-8. Out: the events of both, in the order of the document. Code is literal text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.formats.html import walker
from absolve.formats.markdown.blocks import Blocks
from absolve.formats.markdown.inlines import Inlines

if TYPE_CHECKING:
    from absolve.core.model import Link
    from absolve.encodings.charsets import Charset
    from absolve.formats.events import EventList
    from absolve.formats.protocols import WalkOptions


def walk(data: bytes, charset: Charset, options: WalkOptions) -> EventList:
    """Return the links of a Markdown document, and the events of the raw HTML in it."""
    html, links = _read(data)
    events = walker.walk(html, charset, options)
    return events.with_links(links) if links else events


def masked(data: bytes) -> bytes:
    """Return Markdown with a blank for each byte of front matter, code and destinations, and for `<` that is text."""
    return _read(data)[0]


def _read(data: bytes) -> tuple[bytes, list[Link]]:
    blocks = Blocks(data)
    links = Inlines(blocks).links
    return bytes(blocks.out), links

