"""Markdown: the links of every file on this machine, and of random ones, are where cmark-gfm finds them."""

import html
import os
import random
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import absolve

CMARK = shutil.which("cmark-gfm")
pytestmark = [pytest.mark.skipif(CMARK is None, reason="no cmark-gfm"), pytest.mark.filterwarnings("ignore::absolve.DiagnosticWarning")]
ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "docs", Path(sysconfig.get_path("purelib")), Path("/usr/lib/node_modules"), Path("/usr/share"))
MOST = 1000 if os.environ.get("ABSOLVE_EVERY") == "1" else 120  # files, and twice as many random pages
FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?(---|\+\+\+)[\t ]*\r?\n.*?\n(?:\1|\.\.\.)[\t ]*(?=\r?\n|\Z)", re.DOTALL)
EXTENSIONS = ("autolink", "table", "strikethrough", "tasklist", "footnotes")
# Differences that are meant: cmark-gfm links a URL in text behind any byte but a letter, the specification (6.9) only
# at these places; cmark-gfm links one in an `a` element, too, and none behind an open bracket. It does not know
# placeholders of templates, and drops URLs that run code.
BEHIND = re.compile(r"(?:\A|[\s*_~(>|]|[^\x00-\x7f])\Z")
PLACEHOLDERS = ("{{", "{%")


def by_cmark(page: bytes) -> set[str]:
    """Return the destinations of the links and images, without raw HTML and footnotes."""
    options = [part for one in EXTENSIONS for part in ("-e", one)]
    made = subprocess.run([str(CMARK), *options], input=page, capture_output=True, check=True).stdout
    text = re.sub(r'<a href="#fn[^>]*>', "", made.decode("utf-8", "surrogateescape"))
    return {decoded(html.unescape(one)) for one in re.findall(r'<(?:a href|img src)="([^"]*)"', text)}


def by_absolve(page: bytes) -> tuple[set[str], set[str]]:
    """Return the references of links and images, and of definitions, which need no use."""
    rows = [row for row in absolve.links(page, media_type="text/markdown") if row.element == "markdown"]
    links, definitions = ({decoded(row.reference) for row in rows if (row.attribute == "definition") is only} for only in (False, True))
    return links, definitions


def decoded(reference: str) -> str:
    return unquote(reference, errors="surrogateescape")


def differences(page: bytes) -> Iterator[str]:
    page = FRONT_MATTER.sub(b"", page)
    theirs, (links, definitions) = by_cmark(page), by_absolve(page)
    text = decoded(html.unescape(page.decode("utf-8", "replace")))
    for url in theirs - links - definitions:
        if not (url.startswith(("mailto:", "http://www.")) or is_explained(url, text)):
            yield f"cmark-gfm alone: {url}"
    for url in links - theirs:
        if not (any(mark in url for mark in PLACEHOLDERS) or re.match(r"(?i)javascript:|vbscript:|file:|data:", url) or f"[{url}" in text):
            yield f"absolve alone: {url}"


def is_explained(url: str, text: str) -> bool:
    """Return whether a URL is a link of cmark-gfm only where the specification, HTML or a template has none."""
    places = [found.start() for found in re.finditer(re.escape(url), text)]
    return (
        not url
        or any(mark in url for mark in PLACEHOLDERS)
        or any(not BEHIND.search(text[max(0, at - 1) : at]) or re.search(r"<a\s[^>]*>\s*\Z", text[max(0, at - 300) : at]) for at in places)
    )


def test_links_of_files_are_those_of_cmark_gfm() -> None:
    every = [path for folder in FOLDERS for path in sorted(folder.rglob("*.md")) if path.is_file()][:1000]
    pages = {str(path): path.read_bytes() for path in every[:: 1000 // MOST]}
    assert {name: found for name, page in pages.items() if b"\0" not in page and (found := list(differences(page)))} == {}


PIECES = [
    *("(", ")", "<", ">", "`", "``", "*", "_", "~~", "\\", "|", "\n", "\n\n", " ", " ", "\n> ", "\n- ", "a", "b:", "\u89c1", "$ ", "$5 "),
    *(" https://h.example/N ", " (http://h.example/N) ", " *https://h.example/N* ", " https://h.example/N. ", "[t](N.md) ", "[https://h.example/N](N.md) "),
    *("![i https://h.example/N](N.png) ", "[**https://h.example/N** x](N.md) ", "[t `](N)` ](N.md) ", "<https://h.example/N> ", '[t](N.md "x") ', "[t](<N N>) "),
    *("[d] ", "\n\n[d]: N.html\n\n", "[t][d] ", "[https://h.example/N][d] ", "<b>", "</b>", "&amp;", ".", ",", ";", " https://h.example/?x=1&y=(N) ", "\n\n| a | b |\n|---|---|\n| ", " |\n"),
]  # fmt: skip


def test_links_of_random_pages_are_those_of_cmark_gfm() -> None:
    chosen = random.Random(7)  # noqa: S311 - tests are no secrets
    different = []
    for _ in range(MOST * 2):
        page = "".join(chosen.choice(PIECES).replace("N", f"n{number}") for number in range(chosen.randint(2, 14)))
        different += [(page, found) for found in differences(page.encode())]
    assert not different
