"""Ranges of archives: which of its records are worked on, and where whoever goes on from there begins."""

from __future__ import annotations

import sys
from typing import Final, NamedTuple


class ArchiveRange(NamedTuple):
    """Some bytes of an archive: the records that begin in them, the first at `start`; `before` documents stand before.

    Where `before` is None nothing of that is known: no record need begin at `start`.
    """

    start: int = 0
    end: int = sys.maxsize
    before: int | None = 0


END: Final = sys.maxsize  # where no record begins any more
WHOLE: Final = ArchiveRange()


class Progress:
    """How far an archive has been worked on: the next record begins at `position`, and `before` documents before it.

    That is all that one must know who goes on from there.
    """

    def __init__(self, position: int = 0, before: int = 0) -> None:
        self.position = position
        self.before = before
