"""Meta refresh. For any value:

- nothing is raised;
- the URL is that of the standard's algorithm, implemented step by step;
- any target written in its place is read back unchanged;
- in a page a rewrite changes only links, and a second one nothing;
- the time is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grammars_by_letter import refresh_by_the_letter
from linear import grows_linearly
from rewritten import in_quotes, is_honest

from absolve.formats.grammars import ESCAPES, GRAMMARS, WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SYNTAX: Final = "refresh"
WORDS: Final = (
    *(b"0;url=", b"0; URL='x'", b"5,", b".5;", b"0..5.", b"url", b"ur", b"=", b"'", b'"', b";", b",", b" ", b"\t"),
    *(b"&#39;", b"&quot;", b"&#32;", b"&amp;", b"http://h/", b"x", b"\xc3\xa9", b"\n", b"\0"),
)


def seeds(_shared: Path | None) -> Iterator[bytes]:
    yield from WORDS


def check(data: bytes) -> None:
    text = data.decode("latin-1")
    spans = list(GRAMMARS[SYNTAX](data))
    assert [text[start:end] for start, end in spans] == refresh_by_the_letter(text)
    grows_linearly(lambda value: list(GRAMMARS[SYNTAX](value)), data)
    for start, end in spans:
        written = ESCAPES[SYNTAX]((b"http://h/" + data).strip(WHITE_SPACE), data[:start])
        after = data[:start] + written + data[end:]
        assert list(GRAMMARS[SYNTAX](after)) == [(start, start + len(written))]
    is_honest(
        b"<meta http-equiv=refresh content=" + in_quotes(data) + b">",
        media_type="text/html",
        charset="utf-8",
        url="http://h.example/d/",
    )
