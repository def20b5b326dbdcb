"""Columns for the data of the report: repeated texts are numbers into a list, texts are safe to show."""

from __future__ import annotations

from typing import Final

from absolve.core.printable import printable

MOST_TEXT: Final = 600  # characters of a text that are shown


class Texts:
    """A list of distinct texts; 0 is the empty one, and None."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}
        self._size = 0

    def number(self, text: str | None) -> int:
        """Return the number of a text, which is added if it is new."""
        if not text:
            return 0
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._numbers)
            self._size += len(text)
        return found

    @property
    def size(self) -> int:
        """The characters of all texts."""
        return self._size

    def shown(self) -> list[str]:
        """Return the texts in their order, printable and not too long."""
        return [shown(text) for text in self._numbers]


def shown(text: str | None) -> str:
    """Return a text for the page: no invisible character, at most MOST_TEXT characters."""
    found = printable(text or "")
    return found if len(found) <= MOST_TEXT else f"{found[: MOST_TEXT - 1]}…"


def deltas(numbers: list[int]) -> list[int]:
    """Return the first number, and the differences of the others: small numbers compress well."""
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]
