"""Srcset. For any value:

- nothing is raised;
- the candidates are those of the standard's algorithm, implemented code point by code point;
- any target written in the place of a candidate is read back as one candidate, and the others stay;
- in a page a rewrite changes only links, and a second one nothing;
- the time is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grammars_by_letter import srcset_by_the_letter
from linear import grows_linearly
from rewritten import in_quotes, is_honest

from absolve.formats.grammars import ESCAPES, GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SYNTAX: Final = "srcset"
WORDS: Final = (
    *(b", ", b",,", b" 1x", b" 2w", b" (", b") ", b"(a,b)", b"\t", b"\n", b"\x0c", b"&#44;", b"&#32;", b"&amp;"),
    *(b"a.png 1x, b.png 2x", b"data:image/gif;base64,R0lG=", b"http://h/a,b ", b"&quot;", b"'", b'"', b"\xc3\xa9"),
)


def seeds(_shared: Path | None) -> Iterator[bytes]:
    yield from WORDS


def check(data: bytes) -> None:
    text = data.decode("latin-1")
    spans = list(GRAMMARS[SYNTAX](data))
    assert [text[start:end] for start, end in spans] == srcset_by_the_letter(text)
    grows_linearly(lambda value: list(GRAMMARS[SYNTAX](value)), data)
    target, before, after = b"http://h/" + data, data[: len(data) // 2] + b" 1x, ", b" 1x, " + data[len(data) // 2 :]
    comes_back(target.strip(b"\t\n\f\r "), before, after)
    is_honest(
        b"<img srcset=" + in_quotes(data) + b">", media_type="text/html", charset="utf-8", url="http://h.example/d/"
    )


def comes_back(target: bytes, before: bytes, after: bytes) -> None:
    """Assert that a target between two candidates is one candidate, unless `before` leaves a parenthesis open."""
    start = len(before)
    if (start, start + 1) in GRAMMARS[SYNTAX](before + b"x" + after):
        written = ESCAPES[SYNTAX](target, before)
        old, new = (list(GRAMMARS[SYNTAX](before + text + after)) for text in (b"x", written))
        assert (start, start + len(written)) in new
        assert len(old) == len(new)
