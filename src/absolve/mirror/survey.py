"""Survey the inputs of a mirror: every capture in them, and which of them is held for each URL.

In: readers of the sources. Out: a `Capture`, and a row for each URL of it. Records are read once, and once more where a
request other than GET describes other records, or a revisit in a large capture.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from absolve.core.errors import CodingError, Diagnostic, DocumentError
from absolve.mirror.capture import CUT, PIECE, Capture, Captured
from absolve.mirror.map import Row
from absolve.mirror.paths import Placed, folder_of
from absolve.mirror.payloads import Broken, Posted
from absolve.mirror.ranges import PARTIAL, Part, Piece, Pieces
from absolve.mirror.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.mirror.capture import Where
    from absolve.mirror.payloads import Reader
    from absolve.mirror.urls import Equivalences

    Notify = Callable[[Diagnostic], None]


_NAME: Final = re.compile(rb"[^\x00-\x20\"'<>=#/!?&]+")
_FEW: Final = 8 << 20  # about the bytes of captures that are kept in memory, for the revisits among them
_ONE: Final = 700  # bytes of a capture without its texts
_PIECES: Final = "only pieces of it were captured (206), and they do not make the whole: it counts as missing"
_NO_BODY: Final = "its body was not captured: it counts as missing"


class Choice(NamedTuple):
    """How it is chosen what is held: see `Capture`. `layout` is a word of `paths.LAYOUTS`."""

    at: str | None = None
    keep_errors: bool = False
    same: Equivalences | None = None
    layout: str = "host"


class Survey:
    """What the sources hold, after one or two passes over them."""

    def __init__(self, readers: Sequence[Reader], choice: Choice, notify: Notify) -> None:
        self._readers = readers
        self._choice = choice
        self._notify = notify
        self._posted: set[str] = set()
        self._few: list[Captured] | None = None  # all captures, unless they are many
        self._pieces = Pieces()
        self.parts: dict[str, tuple[Part, ...]] = {}  # of the documents that were joined, by URL
        self.store = Store()
        capture = self._captured(notify)
        if self._posted:
            self.store = Store()
            self._pieces = Pieces()
            capture = self._captured(_quiet)
        self.capture = capture
        self._join()
        self._origins = self._referred()
        self._join()
        self._few = None
        for contradiction in capture.contradictions:
            text = f"captured twice at {contradiction.date} with different contents: the later record counts"
            notify(Diagnostic("contradiction", text, contradiction.url, failed=True))
        capture.complete()

    def rows(self) -> Iterator[Row]:
        """Yield a row for every URL of the capture, in the order of the URLs."""
        for one in self.store:
            if self.capture.is_held(one):
                origin = self._origins.get(one.url, one)
                held = one._replace(media_type=one.media_type or origin.media_type)
                if one.lack == CUT:
                    self._notify(Diagnostic("truncated", "the capture has only the beginning of it", one.url))
                yield Row(held, origin.where, None, folder_of(Placed(one.url, "", one.date), self._choice.layout))
            elif one.location is None:
                if one.lack == PIECE:
                    text = _PIECES if one.status == PARTIAL else _NO_BODY
                    self._notify(Diagnostic("partial", text, one.url))
                yield Row(one, one.where, None, None)
            else:
                end = self.capture.end(one.url)
                redirect = one.location if end.url is None else end.url
                if end.url is not None and end.fragment is not None:
                    redirect += f"#{end.fragment}"
                yield Row(one, one.where, redirect, None)

    def no_places(self) -> Iterator[str]:
        """Yield the redirects whose fragment occurs nowhere in the page where they end, so that it leads nowhere.

        A fragment with other characters than a name may be for a script: it counts as a place.
        """
        wanted: dict[Where, list[tuple[str, bytes]]] = {}
        for one in self.store:
            end = self.capture.end(one.url) if one.location is not None else None
            if end is None or end.url is None or not end.fragment or end.url in self.parts:
                continue
            held, name = self.store.get(end.url), unquote_to_bytes(end.fragment)
            if held is not None and _NAME.fullmatch(name) and name.lower() != b"top":
                wanted.setdefault(self._origins.get(end.url, held).where, []).append((one.url, name))
        for source, places in groupby(sorted(wanted), key=attrgetter("source")):
            with suppress(CodingError, DocumentError, OSError):  # it is reported where the page is made
                for where, payload in self._readers[source].payloads(list(places)):
                    there = set(_NAME.findall(payload.data))
                    yield from (url for url, name in wanted[where] if name not in there)

    def _captured(self, notify: Notify) -> Capture:
        choice = self._choice
        capture = Capture(self.store, at=choice.at, keep_errors=choice.keep_errors, same=choice.same)
        few: list[Captured] = []
        size = 0
        for one in self._all():
            if isinstance(one, Piece):
                self._pieces.add(one)
                capture.add(one.captured)
            elif isinstance(one, Captured):
                capture.add(one)
                if size <= _FEW:
                    size += _ONE + sum(len(text) for text in one if isinstance(text, str))
                    few.append(one)
            elif isinstance(one, Posted):
                self._posted |= one.ids
            else:
                notify(one.diagnostic)
        self._few = few if size <= _FEW else None
        return capture

    def _join(self) -> None:
        """Add the documents that were captured in pieces, where these make a whole."""
        for one, parts in self._pieces.joined():
            self.capture.add(one)
            if self.store.get(one.url) == one:
                self.parts[one.url] = parts

    def _all(self) -> Iterator[Captured | Piece | Posted | Broken]:
        for reader in self._readers:
            yield from reader.captured(self._posted)

    def _referred(self) -> dict[str, Captured]:
        """Return the captures whose payloads the revisits have that are held; without one, a revisit is not held.

        Then the other captures of its URL count.
        """
        revisits = [one for one in self.store if one.is_revisit and self.capture.is_held(one)]
        if not revisits:
            return {}
        found = _origins(revisits, self._again())
        lost = {one.url for one in revisits if one.url not in found}
        for url in sorted(lost):
            text = "the capture lacks the payload that this revisit refers to"
            self._notify(Diagnostic("no-payload", text, url, failed=True))
            self.store.remove(url)
        for other in self._again() if lost else ():
            if isinstance(other, Captured) and other.url in lost and not other.is_revisit:
                self.capture.add(other)
        return found

    def _again(self) -> Iterable[Captured | Piece | Posted | Broken]:
        return self._few if self._few is not None else self._all()


def _quiet(_diagnostic: Diagnostic) -> None:
    """Report nothing: it has been reported before."""


def _origins(revisits: Iterable[Captured], every: Iterable[Captured | Piece | Posted | Broken]) -> dict[str, Captured]:
    """Return the capture that each revisit refers to: by URL and date, else by digest, else by URL alone.

    Of several with a digest or a URL it is the newest one that is not later than the revisit, else the first one.
    """
    revisits = list(revisits)
    wanted: dict[tuple[str, ...], _Candidates] = {}
    for one in revisits:
        for key in _keys(one):
            wanted.setdefault(key, _Candidates())
    for other in every:
        if not isinstance(other, Captured) or other.is_revisit or other.location is not None or other.status >= 300:
            continue
        if other.lack:
            continue
        for key in ((other.url, other.date), (other.digest,), (other.url, "", "")):
            if key in wanted and key != ("",):
                wanted[key].add(other)
    found: dict[str, Captured] = {}
    for one in revisits:
        origin = next((best for key in _keys(one) if (best := wanted[key].best(one.date)) is not None), None)
        if origin is not None:
            found[one.url] = origin
    return found


def _keys(revisit: Captured) -> list[tuple[str, ...]]:
    """Return the keys of the captures that a revisit may refer to, the surest one first."""
    url = revisit.refers_to or revisit.url
    digest: list[tuple[str, ...]] = [(revisit.digest,)] if revisit.digest else []
    return [(url, revisit.refers_date), *digest, (url, "", "")]


class _Candidates:
    """The first capture of each date."""

    def __init__(self) -> None:
        self._by_date: dict[str, Captured] = {}
        self._dates: list[str] | None = None

    def add(self, one: Captured) -> None:
        self._by_date.setdefault(one.date, one)

    def best(self, date: str) -> Captured | None:
        """Return the newest capture that is not later than a date, else the first one that was added."""
        if not self._by_date:
            return None
        if self._dates is None:
            self._dates = sorted(self._by_date)
        number = bisect_right(self._dates, date)
        return self._by_date[self._dates[number - 1]] if number else next(iter(self._by_date.values()))
