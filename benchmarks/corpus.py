"""The documents that are timed: real pages where the test material lies beside the project, else pages of our own."""

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
    """Saved pages with their URLs, evenly drawn from all of them; generated ones where there are none."""
    index = SHARED / "pages" / "index.tsv"
    if not index.is_file():
        return generated(megabytes)
    head, *lines = index.read_text("utf-8").splitlines()
    path, url = head.split("\t").index("path"), head.split("\t").index("url")
    fields = [line.split("\t") for line in lines]
    files = [(SHARED / "pages" / field[path], field[url] or URL) for field in fields]
    return drawn([(file, url) for file, url in files if file.is_file()], megabytes)


def site(megabytes: float) -> list[Document]:
    """Pages of documentation, where every other word is a link."""
    files = sorted((SHARED / "sites").rglob("*.html")) if SHARED.is_dir() else []
    return drawn([(file, URL) for file in files], megabytes) if files else generated(megabytes, links=40)


def sheets() -> list[Document]:
    """The style sheets of the sites and pages, as often as it takes to be measured."""
    files = sorted((SHARED / "sites").rglob("*.css")) if SHARED.is_dir() else []
    found = [Document(file.read_bytes()) for file in files] or [Document(_RULES * 500)]
    return found * max(1, 4_000_000 // sum(len(document.data) for document in found))


def drawn(files: list[tuple[Path, str]], megabytes: float) -> list[Document]:
    """Every so many-th file, so that all of them make about this many megabytes."""
    total = sum(file.stat().st_size for file, _ in files)
    step = max(1, round(total / (megabytes * 1e6)))
    return [Document(file.read_bytes(), url) for file, url in files[::step]]


_RULES: Final = b'.a, .b > c { background: url("../i/a.png") no-repeat; margin: 0 }\n.d { color: #123456 }\n' * 10
_TEXT: Final = b"It is a truth universally acknowledged, that a single man in possession of a good fortune... " * 6


def generated(megabytes: float, links: int = 6) -> list[Document]:
    """Pages of about 50 KB: a head, a style sheet, a script, and paragraphs with this many links each."""
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
    """One document of that size."""
    return [Document(b"\n".join(document.data for document in generated(megabytes)))]


def size(documents: Iterable[Document]) -> int:
    return sum(len(document.data) for document in documents)
