"""The rules of a map of which each has a line of its own, in little memory: made when they are asked for.

In: the text of the map, and a function that reads one line. Out: a sequence of rules. A rule takes 12 bytes beside the
text, so that ten million rules fit.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, overload

if TYPE_CHECKING:
    import re

    from absolve.audit.maps.model import Rule

LONGEST: Final = 1000  # characters of a line that is looked at as a whole
_COMMENT: Final = "#"


class LineRules(Sequence["Rule"]):
    """Rules by line. `read` returns the rule of a line by its number and text.

    `simple` matches lines that surely are exact rules without a host; its first group is the decoded path.
    """

    def __init__(
        self, text: str, read: Callable[[int, str], Rule], simple: re.Pattern[str], first: int = 1, empty: str = ""
    ) -> None:
        """Find the lines that are rules, from line `first` on: neither comments nor only white space and `empty`."""
        self._empty = empty
        self._text = text
        self._read = read
        self._simple = simple
        self._starts = array("Q")
        self._numbers = array("I")
        start, number = 0, 0
        while start < len(text):
            end = text.find("\n", start)
            if end < 0:
                end = len(text)
            number += 1
            if number >= first and text[start] not in "#\n" and self._is_rule(start, end):
                self._starts.append(start)
                self._numbers.append(number)
            start = end + 1

    def _is_rule(self, start: int, end: int) -> bool:
        first = self._text[start]
        if not first.isspace() and first not in self._empty:
            return True
        line = self._text[start:end].strip()
        return not line.startswith(_COMMENT) and any(not one.isspace() and one not in self._empty for one in line)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Rule: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Rule]: ...
    def __getitem__(self, number: int | slice) -> Rule | Sequence[Rule]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        start = self._starts[number]
        return self._read(self._numbers[number], self._text[start : self._end(start)])

    def _end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return end if end >= 0 else len(self._text)

    def exact_path(self, number: int) -> str | None:
        """Return the decoded path of a rule that surely is exact and has no host; None if that is not sure."""
        start = self._starts[number]
        end = self._end(start)
        found = self._simple.fullmatch(self._text, start, end) if end - start <= LONGEST else None
        return found[1] if found is not None else None

    def exact_pair(self, number: int) -> tuple[str, str] | None:
        """Return the paths of such a rule: the decoded one that it matches, and that of its target."""
        start = self._starts[number]
        end = self._end(start)
        found = self._simple.fullmatch(self._text, start, end) if end - start <= LONGEST else None
        return (found[1], found[2]) if found is not None else None

    def line(self, number: int) -> tuple[int, str]:
        """Return the number and the text of the line of a rule."""
        start = self._starts[number]
        return self._numbers[number], self._text[start : self._end(start)]

    def is_unforced(self, number: int) -> bool:
        """Return whether a rule surely does not apply where a file exists."""
        number, line = self.line(number)
        return "!" not in line and len(line) <= LONGEST and self._simple.fullmatch(line) is not None
