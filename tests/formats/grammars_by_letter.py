"""The HTML Standard's algorithms for srcset and refresh, implemented literally, as a reference for the grammars."""

import string

from absolve.formats.grammars import GRAMMARS, WHITE_SPACE

SPACE = WHITE_SPACE.decode()


def read(syntax: str, value: str) -> list[str]:
    data = value.encode()
    return [data[start:end].decode() for start, end in GRAMMARS[syntax](data)]


def srcset_by_the_letter(text: str) -> list[str]:
    return [url for url, _ in candidates(text)]


def candidates(text: str) -> list[tuple[str, str]]:
    """HTML Standard, "parse a srcset attribute": return each URL with its descriptors, one code point at a time."""
    found: list[tuple[str, str]] = []
    position, end = 0, len(text)
    while True:
        while position < end and text[position] in SPACE + ",":
            position += 1
        if position >= end:
            return found
        start = position
        while position < end and text[position] not in SPACE:
            position += 1
        url = text[start:position]
        if url.endswith(","):
            found.append((url.rstrip(","), ""))
            continue
        start, parentheses = position, False
        while position < end and (parentheses or text[position] != ","):
            parentheses = text[position] == "(" or (parentheses and text[position] != ")")
            position += 1
        found.append((url, " ".join(text[start:position].split())))


def refresh_by_the_letter(text: str) -> list[str]:
    """HTML Standard, shared declarative refresh steps 4 to 12, one code point at a time."""
    rest = text.lstrip(SPACE)
    after = rest.lstrip(string.digits)
    if after == rest and not rest.startswith("."):
        return []
    rest = after.lstrip(string.digits + ".")
    if rest[:1] not in {";", ",", *SPACE}:
        return []
    rest = rest.lstrip(SPACE)
    if rest[:1] in {";", ","}:
        rest = rest[1:]
    rest = rest.lstrip(SPACE)
    url = rest
    quotes = True
    if rest[:1] in {"u", "U"}:
        quotes = False
        if rest[1:2] in {"r", "R"} and rest[2:3] in {"l", "L"} and rest[3:].lstrip(SPACE).startswith("="):
            url = rest[3:].lstrip(SPACE)[1:].lstrip(SPACE)
            quotes = True
    if quotes and url[:1] in {"'", '"'}:
        url = url[1:].split(url[0])[0]
    return [url.strip(SPACE)] if url.strip(SPACE) else []
