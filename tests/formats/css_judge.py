"""Find the links of a style sheet in tinycss2's tokens, as a reference for the CSS walker."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tinycss2

from absolve.core.model import LinkSite
from absolve.formats.css import FONT, IMAGE_SET, IMPORT, URL, walk

LETTERS = {"url": URL, "font": FONT, "import": IMPORT, "image-set": IMAGE_SET}


def found(data: bytes, *, style_attribute: bool = False) -> list[tuple[LinkSite, bytes]]:
    return [(link.place, link.coding.decode(data[link.start : link.end])) for link in walk(data, style_attribute=style_attribute)]


def judged(nodes: Sequence[Any]) -> list[tuple[str, str]]:
    """Walk tinycss2's tree without recursion, and return the links that the walker should find."""
    links: list[tuple[str, str]] = []
    stack = [level(nodes, "", direct=False)]
    while stack:
        try:
            inner = next(stack[-1])
        except StopIteration:
            stack.pop()
            continue
        if isinstance(inner, tuple):
            links.append(inner)
        else:
            stack.append(inner)
    return links


def level(nodes: Sequence[Any], place: str, *, direct: bool) -> Iterator[Any]:
    """Yield the links of one list of component values, and iterators over its nested lists."""
    rule = ""
    wanted = False  # the next token may be the URL of an @import
    for node in nodes:
        kind = node.type
        if kind in ("whitespace", "comment"):
            continue
        own = "import" if wanted else place or "url"
        wanted = kind == "at-keyword" and node.lower_value == "import"
        if kind == "at-keyword" and node.lower_value in ("namespace", "font-face"):
            rule = node.lower_value
        elif kind == "literal" and node.value == ";":
            rule = ""
        elif rule == "namespace" and kind != "{} block":
            continue
        elif kind == "url" or (kind == "string" and (own == "import" or direct)):
            yield own, node.value
        elif kind == "function":
            name = node.lower_name
            if name in ("url", "src"):
                arguments: Iterable[Any] = node.arguments
                if name == "src":
                    arguments = (argument for argument in arguments if argument.type not in ("whitespace", "comment"))
                else:
                    arguments = (argument for argument in arguments if argument.type != "whitespace")
                first = next(iter(arguments), None)
                if first is not None and first.type == "string":
                    yield own, first.value
                yield level(node.arguments, place, direct=False)
            elif name in ("image-set", "-webkit-image-set"):
                yield level(node.arguments, "image-set", direct=True)
            else:
                yield level(node.arguments, place, direct=False)
        elif kind == "{} block":
            yield level(node.content, place or ("font" if rule == "font-face" else ""), direct=False)
            rule = ""
        elif kind in ("[] block", "() block"):
            yield level(node.content, place, direct=False)


def assert_judged(data: bytes) -> None:
    nodes = tinycss2.parse_component_value_list(data.decode("utf-8", "surrogateescape"))
    expected = [(LETTERS[place], value.encode("utf-8", "surrogateescape")) for place, value in judged(nodes)]
    got = found(data)
    stripped = [(place, value.strip(b" \t\n\f\r")) for place, value in got]
    assert stripped == [(place, value.strip(b" \t\n\f\r")) for place, value in expected]


# An escaped backslash before `)` after a bad url; a unicode-range; a backslash and a newline in a url-token.
JUDGE_ERRS = re.compile(r"\\\\|[uU]\+|\((?:\\[^\n\r\f]|[^\"')\\])*\\[\n\r\f]")
# Differences by design: preludes that contain blocks, which the walker does not track.
SAID_ALL_THE_SAME = re.compile(r"@(?:namespace|font-face)(?:url\([^)]*\)|[^;{])*?(?:[\[\]})]|(?<!url)\()", re.IGNORECASE)
