"""The settings of a run: the user's choices and the limits, with the names of the command line's options.

In: values of any caller. Out: a checked `Settings`. `fragments` and `base` decide about links under section 3.1 of
RFC 1808, `profile` about section 4; the limits bound time and memory for hostile documents.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import NamedTuple

from absolve.core.errors import UsageError, in_short, similar
from absolve.urls import PROFILES, by_name
from absolve.urls.base import IGNORABLE

FRAGMENTS = ("keep", "absolute")
BASES = ("keep", "empty")
DEEPEST = 100  # greatest max_depth: each level uses four frames of Python's stack in interpreted runs
FILE = "file:"  # as --url: the path of each file


class Settings(NamedTuple):
    """The user's choices and limits; named as the options of the command line, but for the last five."""

    profile: str = "rfc1808"
    ignore_base: str = ""  # kinds of base claims that do not count, joined by commas
    fragments: str = "keep"
    base: str = "keep"
    json_ld: bool = False
    max_depth: int = 32  # documents inside documents
    max_size: int = 1 << 30  # bytes of a document; processing it needs four times as much memory
    max_links: int = 1_000_000  # links and parts in a document and all inside it
    max_decompressed: int = 128 << 20  # bytes of decompressed data in a document, or of a record in an archive
    max_url: int = 2 << 20  # characters of a resolved URL; browsers have the same limit (Chromium: 2 MB)
    max_rows_bytes: int = 2 << 30  # bytes of text in the rows of a document
    data_urls: bool = False  # whether the documents in data: URLs are walked: for lists, and mirrors
    documents: bool = False  # likewise whether walkers collect facts for the table of documents
    captures: bool = False  # likewise whether they yield all about captures: header fields, and every body as a part
    only_changing: bool = False  # likewise whether links that no rewrite changes may be counted instead of kept
    open_xml: bool = False  # likewise whether this is a part of Office Open XML: its fields and formulas count

    @property
    def ignored(self) -> frozenset[str]:
        """The kinds of base claims that do not count, by the user and the profile."""
        return _ignored(self.ignore_base, self.profile)

    @property
    def scripting(self) -> bool:
        """Whether the content of a noscript element is text."""
        return PROFILES[self.profile].scripting

    def checked(self) -> Settings:
        """Return these settings; raise UsageError for a value that is not among its choices or out of range."""
        by_name(self.profile)
        for word in sorted(_words(self.ignore_base) - set(IGNORABLE)):
            text = f"ignore_base takes {', '.join(IGNORABLE)}, not {in_short(repr(word))}"
            raise UsageError(text, similar(word, IGNORABLE))
        for option, choices in (("fragments", FRAGMENTS), ("base", BASES)):
            value = getattr(self, option)
            if value not in choices:
                text = f"{option} must be one of {', '.join(choices)}, not {in_short(repr(value))}"
                is_url = option == "base" and ":" in str(value)
                raise UsageError(f"{text}: the URL of the document is url=" if is_url else text)
        if not 0 <= self.max_depth <= DEEPEST:
            raise UsageError(f"max_depth must be from 0 to {DEEPEST}, not {self.max_depth}")
        for option, most in (
            ("max_size", self.max_size),
            ("max_links", self.max_links),
            ("max_decompressed", self.max_decompressed),
            ("max_url", self.max_url),
            ("max_rows_bytes", self.max_rows_bytes),
        ):
            if not 0 <= most <= sys.maxsize:
                raise UsageError(f"{option} must be from 0 to {sys.maxsize}, not {most}")
        return self


@lru_cache(maxsize=64)
def _ignored(words: str, profile: str) -> frozenset[str]:
    return PROFILES[profile].ignored | _words(words) if words else PROFILES[profile].ignored


def _words(text: str) -> frozenset[str]:
    return frozenset(filter(None, (word.strip() for word in text.split(","))))


_INTERNAL = frozenset({"data_urls", "documents", "captures", "only_changing", "open_xml"})
CHOICES: dict[str, object] = {
    name: value for name, value in Settings._field_defaults.items() if name not in _INTERNAL
}  # the options of a caller, and their defaults
