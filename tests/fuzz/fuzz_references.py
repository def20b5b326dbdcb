"""Character references. For any value:

- nothing is raised;
- html5lib's tokenizer decodes the same, in an attribute and in text;
- exactly the `&` that need an escape would be decoded;
- text inserted into a value decodes to itself, and the text around it to the same as before;
- the time is linear.
"""

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from typing import Any, Final

from all_references import decode, references
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes
from linear import grows_linearly

from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import needs_escape, quoted

WORDS: Final = (
    *(b"&%b" % name.encode() for name in html5 if len(name) < 7),
    *b"& &# &#x &#X ; = 1 F 65; 41; &amp; &not in; &notin; &copy &copy; &#0; &#x80 &#xD800; &#x110000; \r \n \0 \xc3\xa9 \xff".split(),
)
# Text inserted directly after a letter or digit could complete a reference, which links never do.
UNFINISHED: Final = re.compile(rb"&(?:#?[xX]?|[0-9A-Za-z]*|#[xX]?[0-9A-Fa-f]*)\Z")


def seeds(_shared: Path | None) -> Iterator[bytes]:
    yield from (b"&%b" % name.encode() for name in html5)


def check(data: bytes) -> None:
    data = data.replace(b'"', b"").replace(b"<", b"")
    text = data.decode("utf-8", "surrogateescape")
    value, inner = judged(text)
    assert quoted(UTF_8, 0x22).decode(data) == value.encode("utf-8", "surrogateescape")
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert decode(lines, attribute=False) == inner.encode("utf-8", "surrogateescape")
    for attribute in (True, False):
        grows_linearly(lambda raw, attribute=attribute: decode(raw, attribute), data)  # type: ignore[misc]
        needed = [at for at, byte in enumerate(data) if byte == 0x26 and needs_escape(data, at, attribute)]
        assert needed == [start for start, _, _ in references(data, attribute)]
    third = len(data) // 3
    written_between(data[:third], data[third : 2 * third], data[2 * third :])


def judged(text: str) -> tuple[str, str]:
    """Return the text as the value of an attribute and as character data."""
    tokens: list[Any] = list(HTMLTokenizer(f'<p a="{text}">{text}'))
    spaces = {tokenTypes["Characters"], tokenTypes["SpaceCharacters"]}
    inner = "".join(token["data"] for token in tokens if token["type"] in spaces)
    tag = next(token for token in tokens if token["type"] == tokenTypes["StartTag"])
    return tag["data"]["a"], inner


def written_between(before: bytes, value: bytes, after: bytes) -> None:
    """Return whether a value decodes to itself anywhere; line ends and NUL are excluded."""
    value = bytes(byte for byte in value if byte not in b"\r\n\0")
    coding = quoted(UTF_8, 0x22)
    if UNFINISHED.search(coding.decode(before)):
        return
    raw = coding.encode(value, after, before)
    assert coding.decode(before + raw + after) == coding.decode(before) + value + coding.decode(after)
