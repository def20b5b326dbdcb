"""Join documents that were captured in pieces: responses with the status 206 (RFC 9110, 14.4 and 15.3.7).

In: the captures of a survey that are pieces. Out: for each URL whose pieces of one version cover it, a `Captured` for
the whole, and its parts. Browsers ask for a video or a PDF like this, and crawlers record what browsers do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.mirror.capture import JOINED, PIECE, Captured, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTIAL: Final = 206
_MOST: Final = 100_000  # pieces of a capture that are kept, of some 300 bytes each
_RANGE: Final = re.compile(r"\s*bytes\s+([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})\s*", re.IGNORECASE)


class Version(NamedTuple):
    """The version of a document, of which a piece is."""

    total: int
    etag: str
    modified: str

    @property
    def validator(self) -> str:
        """The strong ETag, else Last-Modified: what pieces that may be joined share (RFC 9110 15.3.7.3)."""
        return self.modified if self.etag.startswith("W/") else self.etag or self.modified


class Piece(NamedTuple):
    """A piece of a document: its bytes from `start` to `end`, which are the body of a response."""

    captured: Captured
    start: int
    end: int
    version: Version


class Part(NamedTuple):
    """The bytes of a whole that are taken from one body: `size` bytes from `start` on."""

    where: Where
    start: int
    size: int


def judged(one: Captured, field: Callable[[str], str | None], size: int, most: int) -> Captured | Piece:
    """Return a response 206 as what it is: a whole document, a piece that can be joined, or one that cannot.

    `field` returns the value of a field of its header, `size` is the length of its body, which may be cut off. A whole
    of more than `most` bytes is not joined.
    """
    found = _RANGE.fullmatch(field("content-range") or "")
    if found is None:  # or several ranges in one body
        return one._replace(lack=PIECE)
    start, last, total = map(int, found.groups())
    if start == 0 and last + 1 == total <= size:
        return one
    one = one._replace(lack=PIECE)
    end = min(last + 1, start + size)
    version = Version(total, (field("etag") or "").strip(), (field("last-modified") or "").strip())
    is_plain = (field("content-encoding") or "identity").strip().lower() == "identity"
    if version.validator and is_plain and start < end and last < total <= most and size <= last + 1 - start:
        return Piece(one, start, end, version)
    return one


class Pieces:
    """The pieces of a survey, by URL and version. More than a number of them are dropped: then a whole is missing."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[Piece]]] = {}
        self._number = 0

    def add(self, piece: Piece) -> None:
        """Add a piece."""
        self._number += 1
        if self._number <= _MOST:
            versions = self._found.setdefault(piece.captured.url, {})
            versions.setdefault(piece.version.validator, []).append(piece)

    def joined(self) -> Iterator[tuple[Captured, tuple[Part, ...]]]:
        """Yield each whole with its parts, of a URL perhaps several. Pieces that contradict each other are none."""
        for versions in self._found.values():
            for pieces in versions.values():
                if len({piece.version for piece in pieces}) == 1 and (chosen := _covering(pieces)):
                    yield _whole(chosen)


def _covering(pieces: list[Piece]) -> list[Piece]:
    """Return as few pieces as possible that cover the whole, in order; an empty list if there is a gap."""
    chosen: list[Piece] = []
    at = 0
    best: Piece | None = None
    for piece in sorted(pieces, key=lambda one: (one.start, -one.end)):
        if piece.start > at and best is not None:
            chosen.append(best)
            at, best = best.end, None
        if piece.start > at:
            return []
        if piece.end > (best.end if best is not None else at):
            best = piece
    chosen += [best] if best is not None else []
    return chosen if chosen and chosen[-1].end == pieces[0].version.total else []


def _whole(pieces: list[Piece]) -> tuple[Captured, tuple[Part, ...]]:
    parts: list[Part] = []
    at = 0
    for piece in pieces:
        parts.append(Part(piece.captured.where, at - piece.start, piece.end - at))
        at = piece.end
    first = pieces[0].captured
    date = max(piece.captured.date for piece in pieces)
    return first._replace(date=date, size=at, digest="", lack=JOINED), tuple(parts)
