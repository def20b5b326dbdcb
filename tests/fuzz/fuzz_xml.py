"""XML; the first byte of an input chooses the options. For any document:

- nothing is raised but `AbsolveError`;
- links are inside the document, and decode to the same with and without offsets;
- with a policy that leaves every link the same object is returned;
- `verify` finds that only links changed, by lxml's trees too, and a second rewrite changes nothing;
- the time is linear.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from linear import grows_linearly
from rewritten import goes_through, has_sound_rows, is_honest

from absolve.core.model import Document, Link
from absolve.document.walk import Settings, walk

CHARSETS: Final = (None, "utf-8", "iso-8859-1", "utf-16le", "shift_jis", None, None, None)
ROOTS: Final = (b"<?xml version='1.0'?>", b"<?xml version='1.0' encoding='iso-8859-1'?>", b"", b"\xef\xbb\xbf")
DOCUMENTS: Final = (
    b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='a/'><link href='x'/><content type='html'>&lt;a href='y'></content></feed>",
    b"<rss><channel><link>x</link><description><![CDATA[<a href='y'>&amp;</a>]]></description></channel></rss>",
    b"<html xmlns='http://www.w3.org/1999/xhtml'><base href='b/'/><a href='x&amp;y'/><style>a{b:url(z)}</style></html>",
    b"<svg xmlns:xlink='http://www.w3.org/1999/xlink'><a xlink:href='x'/><g style='fill:url(y)' fill='url(#z)'/></svg>",
    b"<?xml-stylesheet href='x' type='text/css'?><!DOCTYPE a [<!ENTITY e 'v'>]><a xml:base='&e;/'/>",
    b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> x </loc></url></urlset>",
    b"<opml><body><outline xmlUrl='x' htmlUrl='y'/></body></opml>",
    b"<x xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='x' xml:base='y'/></x>",
)
WORDS: Final = (
    *(b"<link>", b"</link>", b"<a href='x'>", b"</a>", b"<link href='x'/>", b" xml:base='b/'", b" type='html'", b" src='x'"),
    *(b"<content type='xhtml'>", b"<div xmlns='http://www.w3.org/1999/xhtml'>", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?x ?>"),
    *b"&amp; &lt; &#x2f; &#47; &e; &apos; ' \" > /> xmlns= xlink:href= \r\n \t \xc3\xa9 \xff <!ENTITY srcset='a_1x,b' style='a:url(x)'".split(),
)


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Return small real files, if they exist."""
    for number, document in enumerate(DOCUMENTS):
        yield bytes((number,)) + document
        yield b"\0" + ROOTS[number % 4] + document
    if shared is not None:
        small = [path for path in sorted((shared / "xml").rglob("*.*")) if path.is_file() and path.stat().st_size < 800]
        yield from (bytes((number & 0xF8,)) + path.read_bytes() for number, path in enumerate(small[::8]))


def options(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return the document of an input, and the options that its first byte chooses."""
    chosen = data[0] if data else 0
    return data[1:], {
        "media_type": "application/xml",
        "charset": CHARSETS[chosen & 7],
        "profile": ("rfc1808", "whatwg")[chosen >> 3 & 1],
        "fragments": ("keep", "absolute")[chosen >> 4 & 1],
        "base": ("keep", "empty")[chosen >> 5 & 1],
        "url": ("http://h.example/d/feed.xml?q#f", None)[chosen >> 7],
    }


def check(data: bytes) -> None:
    document, chosen = options(data)
    grows_linearly(lambda repeated: goes_through(b"<x>" + repeated + b"</x>", **chosen), document)
    read_alike(document, chosen)
    is_honest(document, judged=False, **chosen)
    has_sound_rows(document, **chosen)


def read_alike(document: bytes, chosen: dict[str, Any]) -> None:
    entity = walk(Document(document, media_type=chosen["media_type"], charset=chosen["charset"]), Settings())
    for event in entity.events:
        if type(event) is Link:
            assert 0 <= event.start <= event.end <= len(document)
            raw = document[event.start : event.end]
            assert event.coding.decode_mapped(raw)[0] == event.coding.decode(raw)
