"""Choose what is held of a capture: one of several captures of a URL, through redirects and revisits.

In: a `Captured` for each response, resource or revisit. Out: for each URL the capture that counts, and its end after
redirects. Linear in the number of captures, whatever they are.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.mirror.urls import Equivalences
from absolve.urls import whatwg
from absolve.urls.chain import REDIRECTS, follow
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.mirror.survey import Store

SCHEMES: Final = ("http:", "https:", "ftp:", "file:")  # of URLs that can have a document of their own
PIECE: Final = "piece"  # a piece of a document (206), or nothing of its body
CUT: Final = "cut"  # its beginning
JOINED: Final = "joined"  # nothing: it was joined of pieces
_NOT_MODIFIED: Final = 304
_MOST_CONTRADICTIONS: Final = 1000  # that are reported
_ANY: Final = 1 << 62  # redirects: no more than there are captures
_DIGITS: Final = 14  # of a date: YYYYMMDDhhmmss


class Where(NamedTuple):
    """The place of a payload: the number of its source, a byte offset in it, and the number of the record there."""

    source: int
    offset: int
    number: int


class Captured(NamedTuple):
    """One capture of one URL.

    `url` is its key. `date` has 14 digits, or is empty. `media_type` is that of the header, with its parameters, or a
    sniffed one. `location` is the absolute URL of a redirect. `digest` identifies the payload, if that is known.
    `refers_to` and `refers_date` name the capture whose payload a revisit has; `is_revisit` marks one. `place` is the
    path of a file in its folder or package (`place_of`), b"" for any other capture. `lack` is what there is of a body
    that is not whole: PIECE or CUT; JOINED for a whole of several responses; "" for others. `shown`, `looks` and
    `fields` are those of `browsers`: the media type for its name, how its content begins, and the fields of its header
    that limit it.
    """

    url: str
    status: int
    date: str
    media_type: str
    where: Where
    location: str | None = None
    digest: str = ""
    size: int = 0
    is_revisit: bool = False
    refers_to: str = ""
    refers_date: str = ""
    place: bytes = b""
    lack: str = ""
    shown: str = ""
    looks: str = ""
    fields: str = ""


def place_of(path: str) -> bytes:
    """Return the path of a file as it is kept: it need not be text."""
    return path.encode("utf-8", "surrogatepass")


class Contradiction(NamedTuple):
    """Two captures of one URL in the same second, with different payloads: the later record counts."""

    url: str
    date: str


class End(NamedTuple):
    """The end of a chain of redirects: the URL that is held, or None; and the last fragment that a Location had."""

    url: str | None
    fragment: str | None


class Capture:
    """All that was captured, one `Captured` for each URL, in a store.

    `at`: of several captures the newest not later than this date counts, else the oldest after it. `keep_errors`: error
    pages are held, too, where nothing else is.
    """

    def __init__(
        self, store: Store, *, at: str | None = None, keep_errors: bool = False, same: Equivalences | None = None
    ) -> None:
        self.at = at
        self.keep_errors = keep_errors
        self.same = same if same is not None else Equivalences()
        self.store = store
        self.contradictions: dict[Contradiction, None] = {}
        self._ends: dict[str, End] = {}

    def add(self, new: Captured) -> None:
        """Add one capture; of two of the same rank the later one counts."""
        old = self.store.get(new.url)
        if old is not None:
            better, worse = self._rank(new), self._rank(old)
            if better < worse:
                return
            is_listed = len(self.contradictions) < _MOST_CONTRADICTIONS
            is_whole = not (old.lack or new.lack)
            if better == worse and new.date and is_listed and is_whole and _differ(old, new):
                self.contradictions[Contradiction(new.url, new.date)] = None
        self.store.put(new)

    def _rank(self, one: Captured) -> tuple[int, int, int, bool]:
        date = int(one.date or 0)
        is_early = self.at is not None and one.date <= self.at
        is_late = self.at is not None and not is_early
        return self._kind(one), is_early, -date if is_late else date, one.lack != JOINED

    def _kind(self, one: Captured) -> int:
        """Return what counts before the date: a whole document, its beginning, a redirect, the rest."""
        if self._is_success(one):
            return 3 if one.lack == CUT else 4
        if one.location is not None:
            return 2
        return 1 if one.lack == PIECE or self.is_held(one) else 0

    @staticmethod
    def _is_success(one: Captured) -> bool:
        is_success = 200 <= one.status < 300 or (one.is_revisit and one.status == _NOT_MODIFIED)
        return is_success and one.lack != PIECE

    def is_held(self, one: Captured) -> bool:
        """Return whether a capture gives its URL a document of its own."""
        if one.location is not None:
            return False
        return self._is_success(one) or (self.keep_errors and one.status >= 400)

    def complete(self) -> None:
        """Index the forms that are equivalent to captured URLs; call this after the last `add`."""
        for one in self.store:
            if one.location is not None or self.is_held(one):
                for form in self.same.forms(one.url, is_file=bool(one.place)):
                    self.store.put_form(form, one.url)

    def end(self, url: str) -> End:
        """Return where a request for this URL ends, through equivalent URLs and recorded redirects."""
        found = End(None, None)

        def step(at: str) -> str | None:
            nonlocal found
            one = self._step(at)
            if one is not None and (at in self._ends or one.location is None):
                found = self._ends.get(at) or End(one.url, None)
                return None
            return one.location if one is not None else None

        for one, location in reversed(follow(url, step, _bare, _ANY).steps):
            _, crosshatch, fragment = location.partition("#")
            if found.url is not None and found.fragment is None and crosshatch:
                found = End(found.url, fragment)
            self._ends[one] = found
        return found

    def _step(self, url: str) -> Captured | None:
        """Return the capture of a URL, or of an equivalent one, that is held or redirects."""
        one = self._usable(url)
        if one is not None:
            return one
        for _, form in self.same.others(url):
            one = self._usable(form) or self._usable(self.store.form(form))
            if one is not None:
                return one
        return None

    def _usable(self, url: str | None) -> Captured | None:
        one = self.store.get(url) if url is not None else None
        return one if one is not None and (one.location is not None or self.is_held(one)) else None


def _bare(location: str) -> str:
    return normal(location.partition("#")[0]) or ""


def _differ(one: Captured, other: Captured) -> bool:
    if one.digest and other.digest:
        return one.digest != other.digest
    return one.size != other.size


def redirect_of(url: str, status: int, location: str | None) -> str | None:
    """Return the absolute URL to which a response redirects, with its fragment; None if it does not redirect."""
    if status not in REDIRECTS or location is None:
        return None
    return whatwg.parse(location, url)


def digits_of(date: str) -> str:
    """Return the 14 digits of a date (ISO 8601, or an ARC file's); "" for anything else."""
    digits = "".join(character for character in date[:40].partition(".")[0] if character in "0123456789")[:_DIGITS]
    return digits.ljust(_DIGITS, "0") if len(digits) >= 8 else ""


def seconds_of(date: str) -> int | None:
    """Return a date of ISO 8601 in UTC as seconds since 1970; None for what is no date."""
    try:
        return int(datetime.fromisoformat(date).timestamp()) if date else None
    except (ValueError, OverflowError):
        return None


def latest_of(date: str) -> str:
    """Return the last second of a period, such as 2023-01-01, as 14 digits. Raise UsageError for anything else."""
    digits = "".join(character for character in date if character in "0123456789")
    months, days = digits[4:6] or "01", digits[6:8] or "01"
    is_known = "01" <= months <= "12" and "01" <= days <= "31" and digits[8:10] <= "23" and digits[10:] <= "5959"
    if len(digits) not in {4, 6, 8, 10, 12, 14} or set(date) - set("0123456789-:TZ ") or not is_known:
        raise UsageError(f"--at needs a date such as 2023-01-01 or 20230101120000, not {date[:40]!r}")
    return digits.ljust(_DIGITS, "9")


# --- documents in pieces ----------------------------------------------------------------------------------------------

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
