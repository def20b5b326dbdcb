"""Show the source line of a finding: the bytes around its span, in the document that the run itself has read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from absolve.core.printable import MASK, masked, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

BEFORE: Final = 60  # bytes before and behind the reference
BEHIND: Final = 60
MOST: Final = 300  # bytes of a reference
# User information whose beginning, or whose end, is outside what is shown.
_BEGUN: Final = re.compile(r"\A[^\s\"'<>/]*@")
_OPEN: Final = re.compile(r"(?<=//)[^\s\"'<>/@]*\Z")


class SourceLines:
    """The lines of documents below these roots; others are not opened, since an inventory may name any file.

    User information in URLs is masked, unless `credentials`.
    """

    def __init__(self, roots: Iterable[Path], *, credentials: bool = False) -> None:
        self._credentials = credentials
        self._roots = [os.path.realpath(root) for root in roots]
        self._path = ""
        self._data: bytes | None = None

    def line(self, document: str, start: int, end: int, reference: str) -> str:
        """Return the line around a span of bytes, without what is far from it; "" where it cannot be read.

        A file that has changed since it was read has another line there: the reference must be in it.
        """
        data = self._read(document)
        if data is None or not 0 <= start <= end <= len(data):
            return ""
        left = max(start - BEFORE, data.rfind(b"\n", 0, start) + 1)
        right = min(end, start + MOST) + BEHIND
        newline = data.find(b"\n", start, right)
        piece = data[left : newline if newline >= start else right]
        text = piece.decode("utf-8", "replace").replace("\ufffd", "·")
        if reference.isascii() and "&" not in reference and reference[:MOST] not in text:
            return ""
        is_cut = left > 0 and data[left - 1 : left] != b"\n"
        if not self._credentials:
            text = masked(_BEGUN.sub(f"{MASK}@", text, count=1) if is_cut else text)
            text = _OPEN.sub(MASK, text) if newline < start else text
        return printable(f"{'…' if is_cut else ''}{text.strip()}")

    def _read(self, document: str) -> bytes | None:
        if document != self._path:
            self._path, self._data = document, self._contents(document)
        return self._data

    def _contents(self, document: str) -> bytes | None:
        real = os.path.realpath(document)
        if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._roots):
            return None
        try:
            return Path(real).read_bytes() if Path(real).is_file() else None
        except OSError:
            return None
