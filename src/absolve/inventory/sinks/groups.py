"""Draw places in documents for people: a place, a word, a text with its target, and notes below; aligned by group.

In: `Item`s, and a `Screen`. Out: lines. Every text is escaped, and cut to the width of the screen. The table of links
and what an audit prints on a terminal share this form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import printable
from absolve.core.drawing import folded, padded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.core.drawing import Screen

INDENT: Final = "  "
_NARROW: Final = 64  # columns below which an item takes a line for each of its texts
_AT_MOST: Final = 48  # columns of a text, if targets follow on the same line and the width is not limited


class Item(NamedTuple):
    """One place. `place`: its line and column, or ""; `word`: its kind or verdict, in a style of `drawing.STYLES`.

    `target`: where `text` leads, None for nowhere; it is shown once if it is the text itself. `notes`: lines below,
    each with its style.
    """

    place: str
    word: str
    text: str
    target: str | None
    notes: Sequence[tuple[str, str]] = ()
    style: str | None = None


class Group:
    """The items of one document; all of them are needed to align them."""

    def __init__(self, items: Sequence[Item], screen: Screen) -> None:
        self._screen = screen
        self._place = max((len(item.place) for item in items), default=0)
        self._word = max((len(item.word) for item in items), default=0)
        self._left = len(INDENT) + self._place + 2 * bool(self._place) + self._word + 2
        self._is_narrow = screen.width is not None and screen.width < max(_NARROW, self._left + 40)
        room = _AT_MOST if screen.width is None else (screen.width - self._left - 3) * 2 // 5
        self._text = min(max((len(item.text) for item in items if item.text != item.target), default=0), room)

    def heading(self, text: str) -> str:
        return self._screen.paint(self.fit(text, 0), "bold")

    def fit(self, text: str, used: int) -> str:
        """Return the text visible, cut to the columns that `used` leaves."""
        text = self._screen.visible(text)
        return text if self._screen.width is None else self._screen.cut(text, max(8, self._screen.width - used))

    def plain(self, text: str) -> Iterator[str]:
        """Yield a text in lines of the width of the screen."""
        return self._folded(text, 0)

    def lines(self, item: Item) -> Iterator[str]:
        """Yield the lines of an item."""
        screen = self._screen
        place = f"{screen.paint(item.place.rjust(self._place), 'cyan')}  " if self._place else ""
        head = INDENT + place
        word = screen.paint(item.word, item.style) if item.style is not None else item.word
        below = " " * self._left
        if self._is_narrow:
            below = INDENT * 2
            yield head + word
            if item.text != item.target:
                yield below + self.fit(item.text, len(below))
            yield below + self._target(item, len(below))
        elif item.text == item.target:
            yield f"{head}{word}{' ' * (self._word - len(item.word))}  {self._target(item, self._left)}"
        else:
            text = screen.visible(item.text)
            if screen.width is not None:
                text = screen.cut(text, self._text)
            target = self._target(item, self._left + max(self._text, printable.width(text)) + 1)
            yield f"{head}{word}{' ' * (self._word - len(item.word))}  {padded(text, self._text)} {target}"
        for note, style in item.notes:
            yield from (below + screen.paint(line, style) for line in self._folded(note, len(below)))

    def _folded(self, note: str, used: int) -> Iterator[str]:
        note = self._screen.visible(note)
        return folded(note, max(8, self._screen.width - used)) if self._screen.width is not None else iter([note])

    def _target(self, item: Item, used: int) -> str:
        """Return where an item leads, as a hyperlink, with an arrow before it unless that is its text."""
        arrow = "" if item.text == item.target else f"{self._screen.arrow} "
        if item.target is None:
            return self._screen.paint(f"{arrow}(nowhere)", "dim")
        text = self.fit(item.target, used + len(arrow))
        return self._screen.paint(arrow, "dim") + self._screen.linked(text, item.target)
