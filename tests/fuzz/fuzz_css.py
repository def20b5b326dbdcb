"""The CSS walker and its codings. For any bytes:

- nothing is raised;
- links are ordered and inside the sheet, and decode to the same with and without offsets;
- tinycss2's tokens give the same links, except for its known errors;
- a rewrite changes only links, and a second one nothing;
- the time is linear.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import css_judge
from linear import grows_linearly
from rewritten import is_honest

from absolve.formats.css import walk

WORDS: Final = (
    *b"url( src( image-set( -webkit-image-set( type( u\\72l( @import @charset @namespace @font-face @media <!-- -->".split(),
    *b"/* */ \\\n \\) \\( \\\" \\' \\\\ \\9 \\41 \\7f \\0 # @ - -- + % 1e3 \" ' ( ) [ ] { } ; : , ! \r\n \x0c \xc3\xa9 \0".split(b" "),
    *(b"a{b:url(x)}", b'@import "x";', b"@namespace url(x);", b"image-set('x' 1x)", b"@font-face{src:url(x)}", b"U+26"),
)


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Return the inputs of css-parsing-tests and the beginnings of real sheets, if they exist."""
    if shared is not None:
        for path in sorted((shared / "suites" / "css-parsing-tests").glob("*.json")):
            inputs = json.loads(path.read_text("utf-8"))[::2]
            yield from (text.encode() for text in inputs if isinstance(text, str))
        for path in sorted((shared / "sites").rglob("*.css")):
            yield path.read_bytes()[:1000]


def check(data: bytes) -> None:
    stand_in_order(data)
    grows_linearly(stand_in_order, data)
    text = data.decode("latin-1")
    if not css_judge.JUDGE_ERRS.search(text) and not css_judge.SAID_ALL_THE_SAME.search(text):
        css_judge.assert_judged(data)
    is_honest(data, media_type="text/css", charset="utf-8", url="http://h.example/d/a.css")


def stand_in_order(data: bytes) -> None:
    end = 0
    for link in walk(data):
        assert end <= link.start <= link.end <= len(data)
        end = link.end
        raw = data[link.start : end]
        assert link.coding.decode_mapped(raw)[0] == link.coding.decode(raw)
