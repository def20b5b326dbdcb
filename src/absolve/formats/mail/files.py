"""Walkers of the files that mail programs keep messages in: mailboxes (RFC 4155), Apple Mail's .emlx.

In: the bytes of a file. Out: a part for each message; none of these files is an encapsulating entity.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from absolve.core.errors import WalkError
from absolve.core.model import Derived, Finding, Part
from absolve.encodings.codings import IDENTITY
from absolve.formats import registry
from absolve.formats.mail.walker import has_bare_returns, walk, with_line_feeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

# RFC 4155: a line with the sender and a time, after an empty line; some programs omit the sender, some the time, some
# the empty line. In mboxo and mboxrd such lines inside a message are quoted with ">", in other formats they are not. So
# a line counts only with a time, or with a header field after it; without an empty line, only with both, or if it is
# bare.
_FROM: Final = re.compile(rb"From ([^\n]*+)\n")
_EMPTY_LINE: Final = re.compile(rb"\n\r?\n")
_TIME: Final = re.compile(rb"[0-9]:[0-9]{2}")
_FIELD: Final = re.compile(rb"[!-9;-~]++[\t ]*+:")
_MARK: Final = b"\xef\xbb\xbf"  # of an editor


def walk_mailbox(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001 - each message has its own
    """Yield each message of a mailbox in an mbox format as a part; the mailbox is no encapsulating entity.

    Raise WalkError for data without a From line that is not empty.
    """
    if has_bare_returns(data):
        yield with_line_feeds(registry.MAILBOX, data)
        return
    first = start = len(_MARK) if data.startswith(_MARK) else 0
    header_end = -1
    for found in _FROM.finditer(data):
        if found.start() < header_end or not _is_separator(data, found, first):
            continue
        if header_end >= 0 or data[start : found.start()].strip():  # a first message without its From line
            yield _message(data, start, found.start())
        start = found.end()
        empty_line = _EMPTY_LINE.search(data, start - 1)
        header_end = empty_line.start() if empty_line else len(data)
    if header_end >= 0:
        yield _message(data, start, len(data))
    elif data[start:].strip():  # without messages, a mailbox is empty
        raise WalkError("no-message", "this is no mailbox: it has no From line")


def _is_separator(data: bytes, found: re.Match[bytes], first: int) -> bool:
    """Return whether a From line separates messages; `first` is the offset where the first one may be."""
    start = found.start()
    if start > first and data[start - 1] != 0x0A:
        return False
    has_time = _TIME.search(found[1]) is not None
    has_field = _FIELD.match(data, found.end()) is not None
    if start == first or data.endswith((b"\n\n", b"\n\r\n"), 0, start):
        return has_time or has_field
    return has_field and (has_time or not found[1].strip())


# The value may be folded, before or after the number (RFC 5322 2.2.3).
_FOLD: Final = rb"(?>(?:\r?\n?[\t ])*)"
_SIZE: Final = re.compile(rb"\n(?i:Content-Length):%b([0-9]{1,18})%b(?=\r?\n(?![\t ]))" % (_FOLD, _FOLD))
_MOST_SIZES: Final = 8  # of a message: for each one its new header is searched


def _message(data: bytes, start: int, end: int) -> Part:
    """Return the part of a message, with each Content-Length (mboxcl) that is right: blank lines may follow it."""
    derived: list[Derived] = []
    empty_line = _EMPTY_LINE.search(data, start, end)
    body = empty_line.end() if empty_line else start
    for size in islice(_SIZE.finditer(data, start - 1, body), _MOST_SIZES):
        last = body + int(size[1])
        if last <= end and not data[last:end].strip(b"\r\n"):
            derived.append(Derived(*size.span(1), partial(_size, behind=end - last)))
    return Part(
        registry.MESSAGE, start, end, IDENTITY, name="message", own_charset=True, encloses=False, derived=derived
    )


def _size(message: bytes, behind: int) -> bytes:
    """Return the length in bytes of the body of a message without `behind` bytes that follow it."""
    body = _EMPTY_LINE.search(message)
    return b"%d" % (len(message) - behind - (body.end() if body else 0))


# --- Apple Mail -------------------------------------------------------------------------------------------------------

# Its length in bytes, with blanks up to ten characters; the message; a property list.
_LENGTH: Final = re.compile(rb"[\t ]*+([0-9]{1,16}[\t ]*+)\r?\n")
_PROPERTY_LIST: Final = re.compile(rb"<\?xml[^<]*<!DOCTYPE plist|bplist00")


def walk_emlx(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:
    """Yield the message in a file of Apple Mail, whose length precedes it; a message without one is read, too."""
    found = _LENGTH.match(data)
    if found is None:
        yield from walk(data, charset, options)
        return
    start, end = found.end(), found.end() + int(found[1])
    derived = [Derived(*found.span(1), lambda message: (b"%d" % len(message)).ljust(len(found[1])))]
    if end > len(data):
        text = f"the first line gives {int(found[1])} bytes to the message, more than there are: that line stays"
        yield Finding("wrong-length", text, 0)
        rest = _PROPERTY_LIST.search(data, start)
        end, derived = rest.start() if rest else len(data), []
    yield Part(registry.MESSAGE, start, end, IDENTITY, own_charset=True, encloses=False, derived=derived)
