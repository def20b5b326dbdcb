"""Header fields of mail as mail programs write them: the header itself, Content-Type, Content-Transfer-Encoding.

In: the bytes of a message, or values of fields. Out: the fields with the offset of the body; a media type with its
parameters (RFC 2045 5); the canonical name of a transfer encoding (RFC 2045 6). Whatever breaks a rule is read as most
mail programs read it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from email.message import Message
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import WalkError
from absolve.encodings.charsets import lookup
from absolve.formats import headers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.formats.headers import Field

LONGEST: Final = 8192  # characters of a Content-Type: the time to parse one is quadratic
MOST: Final = 256  # parameters of one, for the same reason


class Header(NamedTuple):
    """The fields of a header, the offset of the body, and the offset of the first line that is no field (or -1)."""

    fields: list[Field]
    body: int
    odd_line: int = -1


# Before the header: From lines of a mailbox or a mail server, and a byte order mark of an editor.
_BEFORE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?>(?:>?From [^\n]*\n)*)")
_EMPTY_LINES: Final = re.compile(rb"(?>(?:\r?\n)+)")
_QUOTED_FROM: Final = re.compile(rb">?From ")
_MOST_FIELDS: Final = 8  # of one name that are looked at: for each the body may be searched
_BOUNDARY: Final = re.compile(rb"^--", re.MULTILINE)  # of a multipart without an empty line before it
# Fields by which a header is known to go on behind a line that is none.
_KNOWN: Final = frozenset(
    "content-base content-disposition content-id content-location content-transfer-encoding content-type date from"
    " message-id mime-version received return-path subject to".split()
)


def header_of(data: bytes) -> Header:
    """Return the header of a message. Empty lines before it are ignored if one of the usual fields follows."""
    before = _BEFORE.match(data)
    start = before.end() if before else 0
    empty = _EMPTY_LINES.match(data, start)
    if empty is not None and _goes_on(data, empty.end()) is not None:
        start = empty.end()
    return header_at(data, start)


def header_at(data: bytes, start: int = 0) -> Header:
    r"""Return the header at an offset.

    A line that is no field ends the header (RFC 5322 2.2), unless one of the usual fields follows before an empty line,
    because mail programs and exports put quoted From lines and lines of their own into headers.

    >>> header = header_at(b"Subject: a\n\n<p>")
    >>> header.fields[0].name, header.body
    ('subject', 12)
    """
    found, body = headers.fields(data, start)
    if not found or body == len(data) or data.endswith((b"\n\n", b"\n\r\n"), start, body):
        return Header(found, body)
    rest = _goes_on(data, body)
    if rest is None:
        return Header(found, body)
    return Header([*found, *rest.fields], rest.body, -1 if _QUOTED_FROM.match(data, body) else body)


def _goes_on(data: bytes, start: int) -> Header | None:
    """Return the fields from an offset to the next empty line, if a usual one is among them."""
    with suppress(WalkError):
        found, body = headers.fields(data, start, skip=True)
        if any(field.name in _KNOWN for field in found) and _BOUNDARY.search(data, start, body) is None:
            return Header(found, body)
    return None


# --- Content-Type -----------------------------------------------------------------------------------------------------


class Content(NamedTuple):
    """A parsed Content-Type field (RFC 2045 5): the media type in lower case, and its parameters."""

    media_type: str
    parameters: Message
    is_valid: bool = True

    def parameter(self, name: str) -> str:
        """Return the value of a parameter; "" if it is missing."""
        found = self.parameters.get_param(name, "")
        return found[2] if isinstance(found, tuple) else found  # RFC 2231: charset, language, value

    def boundary(self, data: bytes, body: int) -> bytes:
        """Return the boundary of a multipart (RFC 2046 5.1.1) whose body begins at `body`; b"" if it is missing.

        If the body lacks that boundary, it is tried without the blanks of folding, and by its first word.
        """
        written = self.parameter("boundary").strip('"').rstrip().encode("utf-8", "surrogateescape")
        words = written.split()
        names = (written, b"".join(words), *words[:1])
        return next((name for name in names if _is_there(name, data, body)), written)


_WORD: Final = r"[!#$%&'*+.^_`{|}~0-9A-Za-z-]++"
_TYPE: Final = re.compile(rf"[\s\"']*+({_WORD})\s*+/\s*+({_WORD})[\s\"',:;]*+")
_HTML_ALONE: Final = re.compile(r"[\s\"']*+html[\"']?(?=\s*+(?:[;,]|\Z))", re.IGNORECASE)
# Between two parameters, where a semicolon is missing: behind a quoted string, or between a token and the next name
_NO_SEMICOLON: Final = re.compile(
    r"""("(?>(?:[^"\\]|\\.)*)")\s*+(?=([^\s;]?))|(=[^\s";]++)([\s,]++)(?=[A-Za-z][A-Za-z0-9*-]*+\s*+=)"""
)
_COLON: Final = re.compile(r"(\A|;)(\s*+(?:charset|boundary)\s*+):", re.IGNORECASE)


def is_long(text: str) -> bool:
    """Return whether a Content-Type is too long to be parsed."""
    return len(text) > LONGEST or text.count(";") + text.count("=") > 2 * MOST


def content_of(texts: Sequence[str], default: str, data: bytes, body: int) -> Content:
    """Parse the Content-Type fields of an entity, whose body begins at `body`; without a field return the default.

    For example, `text/HTML; charset=utf-8` gives the media type text/html and a parameter. The first field counts that
    is valid, and whose boundary is in the body. An invalid field is text/plain (RFC 2045 5.2).
    """
    all_of_them = [_content(text) for text in texts[:_MOST_FIELDS]]
    valid = [one for one in all_of_them if one.is_valid]
    fitting = valid if len(valid) < 2 else [one for one in valid if _fits(one, data, body)]
    plain = Content("text/plain" if all_of_them else default, Message(), not all_of_them)
    return next(iter([*fitting, *valid]), plain)


def _content(text: str) -> Content:
    """Parse one Content-Type, which may have comments and lack its slash, semicolons and quotes."""
    text = without_comments(text)
    if html := _HTML_ALONE.match(text):
        text = f"text/html{text[html.end() :]}"
    found = _TYPE.match(text)
    message = Message()
    if found is None:
        return Content("text/plain", message, is_valid=False)
    rest = _NO_SEMICOLON.sub(_separated, _COLON.sub(r"\1\2=", text[found.end() :]))
    media_type = f"{found[1]}/{found[2]}".lower()
    message["Content-Type"] = f"{media_type}; {rest}".encode("utf-8", "surrogateescape").decode("latin-1")
    return Content(media_type, message)


def _separated(found: re.Match[str]) -> str:
    return (found[1] or found[3]) + ("; " if found[2] or found[4] else "")


def _fits(content: Content, data: bytes, body: int) -> bool:
    is_multipart = content.media_type.startswith("multipart/")
    return not is_multipart or _is_there(content.boundary(data, body), data, body)


def _is_there(boundary: bytes, data: bytes, body: int) -> bool:
    return next(delimiters(data, boundary, body), None) is not None


_TEXT: Final = re.compile(r'(?>(?:"(?>(?:[^"\\]|\\.)*)"?|\\.?|(?<=[^\s;"/])\(|[^"\\(])+)', re.DOTALL)
_IN_COMMENT: Final = re.compile(r"(?>(?:\\.?|[^\\()])*)([()]|\Z)", re.DOTALL)


def without_comments(text: str) -> str:
    """Return the value of a structured field with a blank for each comment (RFC 5322 3.2.2).

    A parenthesis inside a word, as in an unquoted boundary, opens no comment.

    >>> without_comments("text/html (a page); charset=(x)utf-8")
    'text/html  ; charset=(x)utf-8'
    """
    if "(" not in text:
        return text
    kept: list[str] = []
    position = 0
    while position < len(text):
        found = _TEXT.match(text, position)
        kept.append(found[0] if found else " ")
        position = found.end() if found else _comment_end(text, position + 1)
    return "".join(kept)


def _comment_end(text: str, position: int) -> int:
    """Return the end of the comment whose opening parenthesis precedes this offset; comments nest."""
    depth = 1
    while depth and (found := _IN_COMMENT.match(text, position)) is not None and position < len(text):
        depth += {"(": 1, ")": -1}.get(found[1], 0)
        position = found.end()
    return position


# --- boundaries -------------------------------------------------------------------------------------------------------


class Delimiter(NamedTuple):
    """A boundary delimiter line (RFC 2046 5.1.1): end of the part before it, start of the next; `closes`: the last."""

    start: int
    end: int
    closes: bool


_AFTER_BOUNDARY: Final = re.compile(rb"(--)?[\t ]*+\r?(?:\n|\Z)")


def delimiters(data: bytes, boundary: bytes, position: int) -> Iterator[Delimiter]:
    r"""Yield the lines with this boundary and nothing else but blanks; the line end before each belongs to it.

    >>> [tuple(line) for line in delimiters(b"--b\r\nA\r\n--b--\r\n", b"b", 0)]
    [(0, 5, False), (6, 15, True)]
    """
    line = b"--" + boundary
    first = position
    while (found := data.find(line, position)) >= 0:
        position = found + len(line)
        after = _AFTER_BOUNDARY.match(data, position)
        if after is None or (found > first and data[found - 1] != 0x0A):
            continue
        position = after.end()
        start = found
        if found > first:
            start = found - 2 if data[found - 2 : found - 1] == b"\r" else found - 1
        yield Delimiter(start, position, after[1] is not None)


# --- Content-Transfer-Encoding ----------------------------------------------------------------------------------------

_NO_LETTER: Final = re.compile(r"[^a-z0-9]")
_ENCODINGS: Final = {
    **dict.fromkeys(("", "7bit", "7bits", "8bit", "8bits", "binary"), ""),  # RFC 2045 6.2
    "quotedprintable": "quoted-printable",
    "base64": "base64",
}


def encoding_of(texts: Iterable[str]) -> str:
    """Return "base64", "quoted-printable", or "" for no encoding; an unknown one in lower case: for example, "x-uu".

    Only letters and digits before a semicolon are compared. The first known field counts. The name of a charset is no
    encoding.
    """
    names = [re.split("[;(]", without_comments(text))[0].strip().lower() for text in texts]
    for name in names:
        squeezed = _NO_LETTER.sub("", name)
        if squeezed in _ENCODINGS:
            return _ENCODINGS[squeezed]
        if lookup(name.strip("\"'")) is not None:
            return ""
    return next(iter(names), "")
