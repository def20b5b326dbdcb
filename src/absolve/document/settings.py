"""What the user may choose, and the limits; the names are those of the command line's options."""

from __future__ import annotations

import sys
from typing import NamedTuple

from absolve.core.errors import UsageError, in_short
from absolve.urls import by_name

FRAGMENTS = ("keep", "absolute")
BASES = ("keep", "empty")
DEEPEST = 100  # what max_depth may be: a level takes four frames of Python's stack where nothing is compiled


class Settings(NamedTuple):
    """What the user may choose; the names are those of the command line's options."""

    profile: str = "rfc1808"
    fragments: str = "keep"
    base: str = "keep"
    lazy: bool = False
    conditional_comments: bool = False
    json_ld: bool = False
    recover: bool = False  # read XML that is not well-formed, or too deep, as HTML
    break_signatures: bool = False
    max_depth: int = 32  # documents inside documents
    max_size: int = 1 << 30  # bytes of a document; four times as many are wanted to work on it
    max_links: int = 5_000_000  # and parts, in a document and all inside it: 5 bytes to 2 KB each
    max_decompressed: int = 128 << 20  # bytes of what is compressed in a document, or of a record in an archive
    max_url: int = 2 << 20  # characters of a URL that is made, as browsers do (Chromium: 2 MB)
    max_rows_bytes: int = 2 << 30  # bytes of the texts in the rows of a document: 400 for each of `max_links`

    def checked(self) -> Settings:
        """These settings; UsageError names a value that is none of its choices."""
        by_name(self.profile)
        for option, value, choices in (("fragments", self.fragments, FRAGMENTS), ("base", self.base, BASES)):
            if value not in choices:
                raise UsageError(f"{option} must be one of {', '.join(choices)}, not {in_short(repr(value))}")
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
