"""The documents that are timed: real pages where the shared folder exists, else generated ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARED: Final = Path(os.environ.get("ABSOLVE_SHARED") or Path(__file__).parent.parent.parent / "shared")
URL: Final = "https://example.org/directory/page.html"


class Document(NamedTuple):
    data: bytes
    url: str = URL


def pages(megabytes: float) -> list[Document]:
    """Return saved pages with their URLs, sampled evenly; generated pages where the folder is missing."""
    index = SHARED / "pages" / "index.tsv"
    if not index.is_file():
        return generated(megabytes)
    head, *lines = index.read_text("utf-8").splitlines()
    path, url = head.split("\t").index("path"), head.split("\t").index("url")
    fields = [line.split("\t") for line in lines]
    files = [(SHARED / "pages" / field[path], field[url] or URL) for field in fields]
    return drawn([(file, url) for file, url in files if file.is_file()], megabytes)


def site(megabytes: float) -> list[Document]:
    """Return pages of documentation, which are dense in links."""
    files = sorted((SHARED / "sites").rglob("*.html")) if SHARED.is_dir() else []
    return drawn([(file, URL) for file in files], megabytes) if files else generated(megabytes, links=40)


def sheets() -> list[Document]:
    """Return the style sheets of the sites, repeated until they reach 4 MB."""
    files = sorted((SHARED / "sites").rglob("*.css")) if SHARED.is_dir() else []
    found = [Document(file.read_bytes()) for file in files] or [Document(_RULES * 500)]
    return found * max(1, 4_000_000 // sum(len(document.data) for document in found))


def markup() -> list[Document]:
    """Return feeds, drawings, and the pages and packages of books: many small XML files."""
    files = sorted((SHARED / "xml").rglob("*")) if SHARED.is_dir() else []
    kinds = {".xml", ".svg", ".xhtml", ".opf", ".ncx"}
    return [Document(file.read_bytes()) for file in files if file.suffix in kinds] or [feed(0.01)] * 500


def feed(megabytes: float) -> Document:
    """Return an Atom feed of entries with links and escaped HTML, each with an `xml:base`."""
    entry = (
        b'<entry xml:base="year%d/">\n<title>Entry %d</title><id>tag:example.org,2026:%d</id>\n'
        b'<link rel="alternate" type="text/html" href="%d.html?x=1&amp;y=%d"/>\n'
        b'<author><name>Somebody</name><uri>/people/%d</uri></author>\n<summary>' + _TEXT + b"</summary>\n"
        b'<content type="html">&lt;p&gt;An entry with &lt;a href="../part/%d.html"&gt;a link&lt;/a&gt; and &lt;img '
        b'src="i%d.png"/&gt; in it&lt;/p&gt;</content>\n</entry>\n'
    )
    return _repeated(b'<feed xmlns="http://www.w3.org/2005/Atom"><title>A feed</title>\n', entry, b"</feed>", megabytes)


def sitemap(megabytes: float) -> Document:
    """Return a sitemap with relative URLs."""
    entry = b"<url><loc>/pages/%d/index.html?n=%d</loc><lastmod>2026-01-02</lastmod><priority>0.5</priority></url>\n"
    return _repeated(b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n', entry, b"</urlset>", megabytes)


def chapter(megabytes: float) -> Document:
    """Return a page of XHTML like the chapters of e-books."""
    entry = (
        b'<div class="section" id="s%d">\n<h2>Heading %d</h2>\n<p>See <a class="ref" href="part%d.xhtml#s%d">there</a>'
        b' and <i>here</i>. <img src="../images/%d.png" alt="an image"/></p>\n<p>' + _TEXT + b"</p>\n</div>\n"
    )
    head = b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A chapter</title></head><body>\n'
    return _repeated(head, entry, b"</body></html>", megabytes)


def _repeated(head: bytes, entry: bytes, tail: bytes, megabytes: float) -> Document:
    """Return a document of entries; each has its own number wherever `entry` has a `%d`."""
    numbers = entry.count(b"%d")
    count = max(1, round(megabytes * 1e6 / len(entry)))
    return Document(b"".join([head, *(entry % ((number,) * numbers) for number in range(count)), tail]))


def drawn(files: list[tuple[Path, str]], megabytes: float) -> list[Document]:
    """Return every n-th file, so that their total is about this many megabytes."""
    total = sum(file.stat().st_size for file, _ in files)
    step = max(1, round(total / (megabytes * 1e6)))
    return [Document(file.read_bytes(), url) for file, url in files[::step]]


_RULES: Final = b'.a, .b > c { background: url("../i/a.png") no-repeat; margin: 0 }\n.d { color: #123456 }\n' * 10
_TEXT: Final = b"It is a truth universally acknowledged, that a single man in possession of a good fortune... " * 6


def generated(megabytes: float, links: int = 6) -> list[Document]:
    """Return pages of about 50 KB: a head, a style sheet, a script, and paragraphs with this many links each."""
    paragraph = (
        b"<div class='section level2' id=s%d>\n<h2>Heading %d</h2>\n<p>"
        + b"".join(b'<a href="../part%d/page%%d.html?x=1&amp;y=%%d#s" class="ref">a link</a> and ' % n for n in range(links))
        + b'<img src="/images/%d.png" srcset="/images/%d.png 1x, /images/%d@2x.png 2x" alt="an image"></p>\n<p>'
        + _TEXT
        + b"</p>\n</div>\n"
    )
    numbers = 5 + 2 * links
    head = b"<!DOCTYPE html><html><head><meta charset=utf-8><title>A page</title>\n"
    head += b"<link rel=stylesheet href=/s.css>\n<style>" + _RULES + b"</style>\n<script>" + b"var a = 1 < 2;\n" * 100
    head += b"</script></head>\n<body>\n"
    count = max(1, 50_000 // len(paragraph))
    body = [paragraph % ((number,) * numbers) for number in range(count)]
    page = head + b"".join(body) + b"</body></html>\n"
    return [Document(page)] * max(1, round(megabytes * 1e6 / len(page)))


def tiny(count: int) -> list[Document]:
    return [Document(b"<p><a href='p%d.html'>page</a> <img src=i.png>" % number) for number in range(count)]


def big(megabytes: float) -> list[Document]:
    """Return one document of this size."""
    return [Document(b"\n".join(document.data for document in generated(megabytes)))]


def size(documents: Iterable[Document]) -> int:
    return sum(len(document.data) for document in documents)
