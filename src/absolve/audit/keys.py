"""Compare URLs as the queries of an audit do, for what Python decides: rules that move URLs, odd spellings.

In: URLs as str. Out: the key under which a server looks for a file, as the macros of queries/00_macros.sql make it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from absolve.core.errors import UsageError, in_short
from absolve.urls import whatwg

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_PORT: Final = re.compile(r":(?:80|443)?$")
_SLASH: Final = re.compile(r"%2f", re.IGNORECASE)
_NORMAL: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]+)?/(?:(?!/\.\.?(?:/|$))[!$-;=?-\[\]_a-z~])*")
_LEGACY: Final = "windows-1252"  # what escapes mean that are not UTF-8, most often


def normal(url: str) -> str | None:
    """Return a URL without its fragment as the URL Standard serializes it, None if its parser fails."""
    bare = url.partition("#")[0]
    return bare if _NORMAL.fullmatch(bare) else whatwg.parse(bare)


def root(url: str) -> str:
    """Return the folder of a URL, without query and fragment. Raise UsageError for a URL that no site can have."""
    found = normal(url)
    if found is None or not found.startswith(("http:", "https:")):
        raise UsageError(f"{in_short(url)!r} is not an http or https URL")
    bare = found.partition("?")[0]
    return bare[: bare.rindex("/") + 1]


def key(url: str, *, ignore_case: bool = False) -> tuple[str, str, str | None]:
    """Return site, path key and query of a normal URL."""
    found = _PARTS.match(url)
    if found is None:
        return "", url, None
    path = decoded(found[2] or "/")
    return site(found[1]), path.lower() if ignore_case else path, found[3]


def site(authority: str) -> str:
    """Return host and port, without a default port of http or https."""
    return _PORT.sub("", authority.lower()).rstrip(".")


def decoded(path: str) -> str:
    """Return a path without escapes, an escaped slash as U+0001; unchanged if the escapes are not UTF-8."""
    if "%" not in path:
        return path
    try:
        return unquote_to_bytes(_SLASH.sub("\1", path)).decode("utf-8")
    except UnicodeDecodeError:
        return path


def respelled(path: str) -> Iterator[str]:
    """Yield keys that a path may mean which no UTF-8 escapes explain: a legacy charset, or escaped twice."""
    data = unquote_to_bytes(_SLASH.sub("\1", path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode(_LEGACY, "replace")
        yield text
        yield path.upper() if path.isascii() else path
    twice = decoded(text)
    if twice != text:
        yield twice
