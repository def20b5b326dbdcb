"""Survey the inputs of a mirror: every capture in them, and which of them is held for each URL.

In: sources with their readers. Out: a `Capture`, and the place of each payload that is held. Records are read once, and
once more where a request other than GET, or a revisit, says something of records before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import Diagnostic
from absolve.formats import registry
from absolve.mirror.capture import Capture, Captured
from absolve.mirror.paths import Placed, paths
from absolve.mirror.payloads import Broken, Posted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from absolve.mirror.capture import Where
    from absolve.mirror.payloads import Reader
    from absolve.mirror.urls import Equivalences

    Notify = Callable[[Diagnostic], None]


class Choice(NamedTuple):
    """How it is chosen what is held: see `Capture`. `layout` is a word of `paths.LAYOUTS`."""

    at: str | None = None
    keep_errors: bool = False
    same: Equivalences | None = None
    layout: str = "host"


class Held(NamedTuple):
    """A URL that is held: its path, the place of its payload, and its capture."""

    url: str
    path: str
    where: Where
    captured: Captured


class Surveyed(NamedTuple):
    """The capture, and what is held of it, sorted by the place of the payload."""

    capture: Capture
    held: list[Held]


def surveyed(readers: Sequence[Reader], choice: Choice, notify: Notify, places: dict[str, str] | None = None) -> Surveyed:
    """Return what the sources hold. `places` are paths that some URLs have already (files that stay where they are)."""
    posted: set[str] = set()
    capture = _captured(readers, choice, posted, notify)
    if posted:
        capture = _captured(readers, choice, posted, _quiet)
    capture.complete()
    for contradiction in dict.fromkeys(capture.contradictions):
        text = f"captured twice at {contradiction.date} with different contents: the later record counts"
        notify(Diagnostic("contradiction", text, contradiction.url, failed=True))
    found = {url: one for url, one in capture.by_url.items() if capture.is_held(url)}
    wheres = _referred(readers, [one for one in found.values() if one.is_revisit], posted)
    for url in [url for url, one in found.items() if one.is_revisit and url not in wheres]:
        text = "the capture lacks the payload that this revisit refers to"
        notify(Diagnostic("no-payload", text, url, failed=True))
        del found[url]
        del capture.by_url[url]
    placed = [Placed(url, _essence(wheres.get(url, one), one), one.date) for url, one in found.items()]
    path_of = paths(placed, choice.layout) if places is None else places
    held = []
    for url, one in found.items():
        origin = wheres.get(url)
        if origin is not None:
            one = one._replace(media_type=one.media_type or origin.media_type)  # noqa: PLW2901
            capture.by_url[url] = one
        held.append(Held(url, path_of[url], origin.where if origin is not None else one.where, one))
    held.sort(key=lambda one: (one.where, one.url))
    return Surveyed(capture, held)


def _quiet(_diagnostic: Diagnostic) -> None:
    """Report nothing: it has been reported before."""


def _captured(readers: Sequence[Reader], choice: Choice, posted: set[str], notify: Notify) -> Capture:
    capture = Capture(at=choice.at, keep_errors=choice.keep_errors, same=choice.same)
    for reader in readers:
        for one in reader.captured(posted):
            if isinstance(one, Captured):
                capture.add(one)
            elif isinstance(one, Posted):
                posted |= one.ids
            elif isinstance(one, Broken):
                notify(one.diagnostic)
    return capture


def _referred(readers: Sequence[Reader], revisits: Iterable[Captured], posted: set[str]) -> dict[str, Captured]:
    """Return, for each revisit that is held, the capture whose payload it has: by URL and date, else by digest."""
    by_date: dict[tuple[str, str], list[str]] = {}
    by_digest: dict[str, list[str]] = {}
    by_url: dict[str, list[str]] = {}
    dates: dict[str, str] = {}
    for one in revisits:
        dates[one.url] = one.date
        by_date.setdefault((one.refers_to or one.url, one.refers_date), []).append(one.url)
        by_url.setdefault(one.refers_to or one.url, []).append(one.url)
        if one.digest:
            by_digest.setdefault(one.digest, []).append(one.url)
    if not dates:
        return {}
    found: dict[str, tuple[int, str, Captured]] = {}
    for reader in readers:
        for one in reader.captured(posted):
            if not isinstance(one, Captured) or one.is_revisit or one.location is not None or one.status >= 300:
                continue
            for certainty, urls in (
                (3, by_date.get((one.url, one.date))),
                (2, by_digest.get(one.digest) if one.digest else None),
                (1, by_url.get(one.url)),
            ):
                for url in urls or ():
                    rank = (certainty, one.date if one.date <= dates[url] else "", one)
                    if url not in found or found[url][:2] < rank[:2]:
                        found[url] = rank
    return {url: one for url, (_, _, one) in found.items()}


def _essence(origin: Captured, one: Captured) -> str:
    return registry.essence_of(one.media_type or origin.media_type)[0]
