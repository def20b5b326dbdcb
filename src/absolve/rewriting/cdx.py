"""The copies that a web archive has of URLs: by a CDX or CDXJ index, or a TimeMap (RFC 7089 5).

In: the text of such a file. Out: for a URL and a date, the URL of the copy that is closest to it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.urls import identity
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARCHIVE: Final = "https://web.archive.org/web/"
_LINE: Final = re.compile(r"(?:\S+ )?([0-9]{4,17}) (?=\S)(.+)")
_FIRST: Final = re.compile(r"(?:[^\s/]*\)\S* )?[0-9]{4,17} (?:\{|[A-Za-z][A-Za-z0-9+.-]*://)")
_NAMES: Final = re.compile('"(?:timestamp|urlkey)"')  # in the first row of JSON
_LINK: Final = re.compile(r"<([^<>\s]+)>\s*;([^<>]*)")
_PARAMETER: Final = re.compile(r'(rel|datetime)\s*=\s*"([^"]*)"', re.IGNORECASE)
_FOUND: Final = frozenset({"200", "-", "", "warc/revisit"})  # `-`: a revisit, with an earlier payload
_STATUS: Final = re.compile(r"[1-5][0-9]{2}|-")
_LONGEST: Final = 14  # digits


class _Copy(NamedTuple):
    time: str  # YYYYMMDDhhmmss
    url: str


class Entry(NamedTuple):
    """A line of a CDX or CDXJ index: the original URL, the time of the capture, the status of the response.

    The time has up to 14 digits; the URL and the status are "" where the line has none.
    """

    url: str
    time: str
    status: str


class Captures:
    """The copies of an index; callable with a URL and a date."""

    def __init__(self, text: str) -> None:
        """Raise UsageError for a text that is no index, or has no copy."""
        found: dict[identity.Key, list[_Copy]] = defaultdict(list)
        for original, copy in _timemap(text) if text.lstrip().startswith("<") else _cdx(text):
            key = _key(original)
            if key is not None and has_scheme(copy.url) and not is_malformed(copy.url):
                found[key].append(copy)
        if not found:
            raise UsageError("it has no copy of a URL, with status 200")
        self._copies = {key: sorted(copies) for key, copies in found.items()}

    def __call__(self, url: str, date: str) -> str | None:
        """Return the copy of a URL that is closest to a date (YYYYMMDD...), the last one for ""; None without one."""
        key = _key(url)
        copies = self._copies.get(key) if key is not None else None
        if copies is None:
            return None
        fragment = url.partition("#")[2]
        return (_closest(copies, date) if date else copies[-1]).url + (f"#{fragment}" if fragment else "")


def is_index(text: str) -> bool:
    """Return whether a file begins as an index or a TimeMap, and not as a table of rules."""
    bare = text.lstrip("\ufeff \r\n")
    if bare.startswith("[["):
        return _NAMES.search(bare.partition("]")[0]) is not None
    first = bare.partition("\n")[0]
    return first.startswith(("CDX ", "<")) or _FIRST.match(first) is not None


def _key(url: str) -> identity.Key | None:
    normal = identity.normal(url)
    return identity.key(normal) if normal is not None else None


def _closest(copies: list[_Copy], date: str) -> _Copy:
    at = bisect_left(copies, (date.ljust(_LONGEST, "0"), ""))
    near = copies[max(at - 1, 0) : at + 1]
    return min(near, key=lambda copy: abs(_time(copy.time) - _time(date)))


def _time(digits: str) -> float:
    """Return a time in seconds; missing digits mean the beginning of a period: for example, `2015` is January 1."""
    full = f"{digits[:_LONGEST]}{'00000101000000'[len(digits) :]}"
    with suppress(ValueError):
        return datetime.strptime(full, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    return 0.0


def _cdx(text: str) -> Iterator[tuple[str, _Copy]]:
    """Yield the original URL and the copy of each line with a status of success."""
    for found in filter(None, map(entry, _lines(text))):
        if found.url and found.status in _FOUND:
            yield found.url, _Copy(found.time, f"{_ARCHIVE}{found.time}/{found.url}")


def entry(line: str) -> Entry | None:
    """Parse a CDX line: for example, `k 2015 http://h/ text/html 200 A 9` into `("http://h/", "2015", "200")`."""
    found = _LINE.match(line)
    if found is None:
        return None
    time, rest = found[1][:_LONGEST], found[2]
    url, status = _of_json(rest) if rest.startswith("{") else _of_fields(rest.split(" "))
    return Entry(url, time, status)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of an index. For example, `["k", "2015", "http://h/"]` in JSON gives `k 2015 http://h/`."""
    if not text.lstrip("\ufeff \r\n").startswith("[["):
        yield from text.splitlines()
        return
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("it begins as the JSON of an index, and is none") from error
    yield from (" ".join(map(str, row)) for row in rows if isinstance(row, list))


def _of_fields(fields: list[str]) -> tuple[str, str]:
    near, far = (list(filter(_STATUS.fullmatch, some)) for some in (fields[1:3], fields[3:]))
    status = max(near, default="") or next(iter(far), "")  # a media type may be -, too
    return fields[0] if has_scheme(fields[0]) else "", status


def _of_json(text: str) -> tuple[str, str]:
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        url, status = found.get("url"), found.get("status", "")
        if isinstance(url, str) and has_scheme(url):
            return url, str(status)
    return "", ""


def _timemap(text: str) -> Iterator[tuple[str, _Copy]]:
    """Yield the original URL and each memento of a TimeMap in link format."""
    from email.utils import parsedate_to_datetime

    original = ""
    for url, parameters in _LINK.findall(text):
        found = {name.lower(): value for name, value in _PARAMETER.findall(parameters)}
        words = found.get("rel", "").split()
        if "original" in words:
            original = url
        elif "memento" in words and original:
            with suppress(ValueError, TypeError, IndexError, OverflowError):
                time = parsedate_to_datetime(found.get("datetime", "")).strftime("%Y%m%d%H%M%S")
                yield original, _Copy(time, url)
