"""Find where a document names hosts, in and outside links: in scripts, text, comments, attributes.

In: the bytes of a document, and a pattern of names. Out: the place of each mention, and its kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.encodings import charsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKUP_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml", "image/svg+xml"})
# Markup of a page; between two matches, and in sections of XML, is text. One that is not closed ends with the page.
_MARKUP: Final = re.compile(
    rb"<!--(?P<comment>.*?(?:-->|\Z))|<(?P<name>script|style)\b[^>]*>(?P<raw>.*?(?:</(?P=name)|\Z))|<(?:[A-Za-z/?]|!(?!\[CDATA\[))(?P<tag>[^>]*)",
    re.DOTALL | re.IGNORECASE,
)
_KINDS: Final = {"text/css": "style", "application/json": "json", "application/ld+json": "json"}
_AROUND: Final = 60  # bytes before and after a mention that are shown
DOT: Final = rb"\\{0,7}\."
HYPHEN: Final = rb"(?:-|\\{1,7}u002d)"
_LINE_END: Final = re.compile(rb"\r\n?|\n")


class Mention(NamedTuple):
    """Where a document has a name: bytes `start` to `end`, 0-based; the line, 1-based.

    `before` is the offset of the line, `kind`: script, style, json, comment, attribute or text; `inside` is where the
    comment, script or tag around it begins, 0 in text.
    """

    start: int
    end: int
    line: int
    before: int
    kind: str
    inside: int = 0


class Names(NamedTuple):
    """Hosts to search for: their pattern, and byte strings in lower case; a document without these has no host."""

    pattern: re.Pattern[bytes]
    hosts: frozenset[bytes]


def pattern(names: Iterable[str], *, spelled: bool = False) -> Names | None:
    r"""Return the pattern of hosts, each perhaps with a folder; None without names.

    Slashes may be escaped as in JSON and scripts (`\/`, `\u002F`), or in the query of another URL (`%2F`). `spelled`:
    so may dots (`\.`, in a regular expression) and hyphens (`\u002d`, in a block comment), which takes longer.
    """
    given = [name.encode() for name in names]
    escaped = (re.escape(name).replace(b":", b"(?::|%3A)") for name in given)
    alternatives = [name.replace(b"/", rb"(?:\\?/|%2F|\\u002F)") for name in escaped]
    if not alternatives:
        return None
    dot, slashes = rb"\.", rb"(?<=%2F)|(?<=\\u002F)"
    hosts = frozenset(re.split(b"[:/]", name.lower(), maxsplit=1)[0] for name in given)
    if spelled:
        dot, slashes = DOT, slashes + rb"|(?<=%252F)|(?<=\\x2F)"
        alternatives = [name.replace(rb"\.", dot).replace(rb"\-", HYPHEN) for name in alternatives]
        hosts = frozenset(max(re.split(b"[.-]", host), key=len) for host in hosts)
    name = rb"(?:" + b"|".join(alternatives) + rb")"
    before, after = rb"(?:(?<![A-Za-z0-9@._-])|%b)" % slashes, rb"(?![A-Za-z0-9_-]|%b[A-Za-z0-9])" % dot
    return Names(re.compile(before + name + after, re.IGNORECASE), hosts)


def mentions(data: bytes, names: Names, media_type: str | None) -> Iterator[Mention]:
    """Yield the places where a document has one of the names, in order."""
    folded = data.lower()
    if not any(host in folded for host in names.hosts):
        return  # most documents, in a tenth of the time
    hits = [hit.span() for hit in names.pattern.finditer(data)]
    if not hits:
        return
    ends = [end.end() for end in _LINE_END.finditer(data)]
    kinds = _of_markup(data) if media_type in _MARKUP_TYPES else iter(())
    piece = next(kinds, None)
    for start, end in hits:
        while piece is not None and piece[1] <= start:
            piece = next(kinds, None)
        is_inside = piece is not None and piece[0] <= start
        kind = piece[2] if is_inside and piece is not None else _kind(media_type)
        line = bisect_right(ends, start)
        inside = piece[0] if is_inside and piece is not None else 0
        yield Mention(start, end, line + 1, ends[line - 1] if line else 0, kind, inside)


def columns(data: bytes, found: Iterable[Mention], charset: str | None) -> Iterator[tuple[Mention, int]]:
    """Yield mentions with their columns, 1-based, in characters. The mentions must be in order."""
    decoder = getincrementaldecoder(_codec(charset or "utf-8"))("replace")  # a line is decoded once for all of them
    place = before = count = 0
    for mention in found:
        if mention.before > before:
            decoder.reset()
            place = before = mention.before
            count = 0
        count += len(decoder.decode(data[place : mention.start]))
        place = mention.start
        is_cut = bool(decoder.getstate()[0])  # bytes of a character without its end
        yield mention, count + is_cut + 1


def _codec(charset: str) -> str:
    """Return Python's codec of a charset, UTF-8 for one that is not known: the inventory may be another program's."""
    try:
        return charsets.by_label(charset).codec
    except UsageError:
        return charsets.UTF_8.codec


def shown(data: bytes, mention: Mention) -> str:
    """Return the line around a mention, cut and folded: for example, `a <p>h.example x`."""
    start, end = mention.start, mention.end
    text = data[max(start - _AROUND, 0) : end + _AROUND]
    before, after = start - max(start - _AROUND, 0), end - max(start - _AROUND, 0)
    first = max(text.rfind(b"\n", 0, before), text.rfind(b"\r", 0, before)) + 1
    last = min((place for mark in (b"\n", b"\r") if (place := text.find(mark, after)) >= 0), default=len(text))
    return " ".join(text[first:last].decode("utf-8", "replace").split())


def _kind(media_type: str | None) -> str:
    if media_type is not None and "script" in media_type:
        return "script"
    return _KINDS.get((media_type or "").partition(";")[0], "text")


def _of_markup(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the spans other than text: for example, `<!--x--><b c="d">` has a comment and an attribute."""
    for found in _MARKUP.finditer(data):
        if found["comment"] is not None:
            yield *found.span("comment"), "comment"
        elif found["raw"] is not None:
            yield *found.span("raw"), found["name"].decode().lower()
        else:
            yield *found.span("tag"), "attribute"
