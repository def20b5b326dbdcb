"""Rewriting and listing as a whole; the first two bytes of an input choose the options. For any document:

- nothing is raised but `AbsolveError`;
- with a policy that leaves every link the same object is returned;
- `verify` finds that only links changed and that their targets are the same: the bytes between them are equal, and
  html5lib's trees are equal except for them;
- a second rewrite changes nothing;
- rows are inside the document, with a line and a column, and a target or a problem code that explains its absence;
- the time is linear.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import fuzz_css
import fuzz_html
from linear import grows_linearly
from rewritten import has_sound_rows, is_honest

import absolve

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
CHARSETS: Final = ("utf-8", None, "windows-1252", "shift_jis", "gb18030", "utf-16le", "iso-2022-jp", "euc-kr")
URLS: Final = ("http://h.example/d/page.html?q#f", None, "app://h/x", "mailto:a@b")
PROFILES: Final = ("rfc1808", "rfc3986", "whatwg", "rfc1808")
WORDS: Final = (
    *(word for word in fuzz_html.WORDS if b"=" in word or len(word) < 9),
    *(word for word in fuzz_css.WORDS if b"(" in word),
    *b"href=../x href='&quot;' src=//h/i srcset='a 1x, b' ping='x y' <base href= codebase=c/ xml:base=".split(b" "),
    *(b"<!-- saved from url=(0014)http://h/x -->", b"<meta charset=windows-1251>", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"\x1b$B", b"\x1b(B", b"\x83\x5c", b"\xe9", b'<script type=importmap>{"imports":{"x":"/y"}}</script>'),
)


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Return the fixtures, and excerpts from the middle of real pages, if they exist."""
    for path in sorted(FIXTURES.glob("*.html")):
        yield b"\0\0" + path.read_bytes()
    if shared is not None:
        for number, path in enumerate(sorted((shared / "pages").rglob("*.html"))[::10]):
            data = path.read_bytes()
            yield bytes((number & 255, number >> 8)) + data[:400] + data[len(data) // 2 :][:400]


def options(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return the document of an input, and the options that its first two bytes choose."""
    one, other = data[:2].ljust(2, b"\0")
    return data[2:], {
        "media_type": "text/css" if one & 0x80 and one & 0x40 else "text/html",
        "charset": CHARSETS[one & 7],
        "profile": PROFILES[one >> 3 & 3],
        "fragments": "absolute" if other & 1 else "keep",
        "base": "empty" if other & 2 else "keep",
        "url": URLS[other >> 4 & 3],
        "max_depth": 2 if other & 0x40 else 32,
    }


def check(data: bytes) -> None:
    document, chosen = options(data)
    is_honest(document, **chosen)
    has_sound_rows(document, **chosen)
    grows_linearly(lambda repeated: whole(repeated, chosen), document)


def whole(document: bytes, chosen: dict[str, Any]) -> None:
    absolve.rewrite(document, **chosen)
    for row in absolve.links(document, **chosen):
        str(row)
