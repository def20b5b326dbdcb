"""Byte ranges of a WARC or ARC file, and the progress at the end of one, from which the next range continues."""

from __future__ import annotations

import sys
from typing import Final, NamedTuple


class ArchiveRange(NamedTuple):
    """The records of an archive that begin at byte offsets from `start` to `end` (exclusive), the first at `start`.

    `before`: number of documents before `start`. None: unknown, and a record need not begin at `start`.
    """

    start: int = 0
    end: int = sys.maxsize
    before: int | None = 0


END: Final = sys.maxsize  # offset behind the last record
WHOLE: Final = ArchiveRange()


class Progress:
    """State from which work on an archive continues: byte offset of the next record, number of documents before it."""

    def __init__(self, position: int = 0, before: int = 0) -> None:
        self.position = position
        self.before = before
