"""Srcset and meta refresh. For any value:

- nothing is raised;
- the references are those of the standard's algorithms, implemented by the letter;
- any target written in the place of a reference is read back as that one reference, and the others stay;
- in a page a rewrite changes only links, and a second one nothing;
- the time is linear.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grammars_by_letter import SPACE, refresh_by_the_letter, srcset_by_the_letter
from linear import grows_linearly
from rewritten import in_quotes, is_honest

from absolve.formats.grammars import ESCAPES, GRAMMARS

LETTERS: Final = {"srcset": srcset_by_the_letter, "refresh": refresh_by_the_letter}
TAGS: Final = {"srcset": b"<img srcset=%b>", "refresh": b"<meta http-equiv=refresh content=%b>"}
WORDS: Final = (
    *(b", ", b",,", b" 1x", b" 2w", b" (", b") ", b"(a,b)", b"\t", b"\n", b"\x0c", b"&#44;", b"&#32;", b"&amp;", b"&#39;", b"\0"),
    *(b"a.png 1x, b.png 2x", b"data:image/gif;base64,R0lG=", b"http://h/a,b ", b"&quot;", b"'", b'"', b"\xc3\xa9", b";", b" ", b"="),
    *(b"0;url=", b"0; URL='x'", b"5,", b".5;", b"0..5.", b"url", b"ur", b"http://h/", b"x"),
)


def seeds(_shared: Path | None) -> Iterator[bytes]:
    yield from WORDS


def check(data: bytes) -> None:
    text = data.decode("latin-1")
    for syntax, by_the_letter in LETTERS.items():
        spans = list(GRAMMARS[syntax](data))
        assert [text[start:end] for start, end in spans] == by_the_letter(text)
        grows_linearly(lambda value, syntax=syntax: list(GRAMMARS[syntax](value)), data)  # type: ignore[misc]
        for start, end in spans:
            comes_back(syntax, data, data[:start], data[end:])
        is_honest(TAGS[syntax] % in_quotes(data), media_type="text/html", charset="utf-8", url="http://h.example/d/")
    half = len(data) // 2
    comes_back("srcset", data, data[:half] + b" 1x, ", b" 1x, " + data[half:])


def comes_back(syntax: str, data: bytes, before: bytes, after: bytes) -> None:
    """Assert that a target in the place of a reference is one reference, unless `before` leaves a parenthesis open."""
    start = len(before)
    if (start, start + 1) in GRAMMARS[syntax](before + b"x" + after):
        written = ESCAPES[syntax]((b"http://h/" + data).strip(SPACE.encode()), before)
        old, new = (list(GRAMMARS[syntax](before + text + after)) for text in (b"x", written))
        assert (start, start + len(written)) in new
        assert len(old) == len(new)
