"""One document of each text format: its links become absolute, and nothing else changes. A new format adds a row."""

import pytest

import absolve
from absolve.formats import registry, sniffing

# The name of a document, and its bytes, in which `%` is where a relative reference gets its base.
DOCUMENTS = {
    "a.html": b'<a href="%x">x</a> <img src=%y> <p style="background: url(%z)">',
    "a.md": b"# `<a href=x>`\n\n<img src=%y> [x](%x)\n\n```\n<img src=y> [x](x)\n```\n\n[y]: %y 'y'\n",
    "a.css": b'@import "%x"; p { background: url(%y) } /* url(y) */',
    "a.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><a href="%x"/><!-- <a href="x"/> --></svg>',
    "a.opml": b'<opml version="2.0"><body><outline text="x" xmlUrl="%x" htmlUrl=\'%y\'/></body></opml>',
    "a.atom": b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="%x"/><id>x</id></feed>',
    "a.webmanifest": b'{"name": "x", "start_url": "%x", "icons": [{"src": "%y"}]}',
    "a.importmap": b'{"imports": {"x": "%./y.js"}}',
    "a.jsonld": b'{"@context": "https://schema.org", "@type": "Thing", "url": "%x", "name": "x"}',
    "a.ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["[a](%x)\\n", "`[a](x)`"]}]}',
    "a.url": b"[InternetShortcut]\r\nURL=%x\r\nIconFile=C:\\x.ico\r\n",
    "a.desktop": b"[Desktop Entry]\nType=Link\nURL=%x\n",
    "a.webloc": b'<plist version="1.0"><dict><key>URL</key><string>%x</string></dict></plist>',
    "a.eml": b"Content-Type: text/html\r\n\r\n<a href=%x>x</a>\r\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_links_of_each_format_become_absolute(name: str) -> None:
    before, after = (DOCUMENTS[name].replace(b"%", base).replace(b"/./", b"/") for base in (b"", b"http://h/d/"))
    assert absolve.rewrite(before, url="http://h/d/a", name=name, json_ld=True) == after


def test_each_format_with_a_suffix_of_its_own_is_among_them() -> None:
    seen = {sniffing.sniff(DOCUMENTS[name].replace(b"%", b""), name) for name in DOCUMENTS}
    others = {name for name, row in registry.WALKERS.items() if row.archive} | {registry.MAILBOX, registry.EMLX, *registry.OFFICE}
    assert {name for name, row in registry.WALKERS.items() if row.suffixes} - others == seen
