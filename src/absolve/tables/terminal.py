"""A table for people, on a terminal or in a text file. Every text is escaped, and cut to the width of the screen.

In: rows as lists or `Columns`, and a `Screen`. Out: lines. Rows of the inventory with all columns are grouped by
document, with the links of each aligned below it (`Group`). Rows with other columns are a grid, whose first rows decide
the widths of the columns, so that rows appear while a long run goes on.

    >>> [line for lines in _grid(("url", "status"), [[("http://h/", 200)]], Screen(80)) for line in lines]
    ['url        status', 'http://h/     200']
"""

from __future__ import annotations

from itertools import chain, groupby, islice
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import printable
from absolve.core.drawing import Screen, folded, padded
from absolve.inventory.columns import COLUMNS, Row
from absolve.tables import Sink
from absolve.tables.plain import LINKED, joined
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.inventory.columns import Columns
    from absolve.tables import Table

INDENT: Final = "  "
_NARROW: Final = 64  # columns below which an item takes a line for each of its texts
_AT_MOST: Final = 48  # columns of a text, if targets follow on the same line and the width is not limited
# Problems of links that lead nowhere; the others are advice.
_SEVERE: Final = frozenset({"unresolved", "malformed", "too-long", "unsuitable-base"})
_FIRST: Final = 500  # rows that decide the widths
_LEAST: Final = 8  # columns of a cell that is cut,
_LEAST_URL: Final = 20  # and of a URL, since many begin alike
_GAP: Final = "  "
_PATHS: Final = frozenset({"document", "entity"})
_URLS: Final = LINKED | {"document", "reference"}


def encode(columns: Sequence[str], rows: Iterable[Sequence[Any]] | Columns) -> list[tuple[Any, ...]]:
    """Return the rows as tuples, lists joined; only the parent process, which knows the terminal, draws them."""
    return [tuple(row) for row in joined(columns, rows)]


def write(
    tables: Sequence[Table],
    chunks: Iterable[tuple[str, Iterable[Sequence[Any]] | Columns]],
    file: IO[bytes],
    screen: Screen | None = None,
) -> None:
    """Draw the rows of the chunks as they arrive."""
    screen = screen or Screen()
    columns = tuple(tables[0].columns)
    rows = (chunk for _, chunk in chunks)
    draw = _links(rows, screen) if columns == COLUMNS else _grid(columns, rows, screen)
    for lines in draw:
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8" if screen.unicode else "ascii", "replace"))
        if screen.width is not None:
            file.flush()


TABLE: Final = Sink(encode, write)


# --- rows with all columns, by document -------------------------------------------------------------------------------


def _links(chunks: Iterable[Iterable[Sequence[Any]] | Columns], screen: Screen) -> Iterator[list[str]]:
    """Yield the lines of each chunk, under a heading for each document."""
    shown: tuple[str, str] | None = None
    base = ""
    for chunk in chunks:
        lines: list[str] = []
        rows = map(Row._make, joined(COLUMNS, chunk))
        for where, group in groupby(rows, lambda row: (row.document, row.entity)):
            own = list(group)
            drawing = Group([_item(row) for row in own], screen)
            if where != shown:
                lines += [""] if shown is not None else []
                lines.append(drawing.heading(" ".join(where).rstrip()))
                shown, base = where, ""
            lines += _lines(own, drawing, screen, base)
            base = _last_base(own, base)
        yield lines


def _lines(rows: list[Row], group: Group, screen: Screen, base: str) -> Iterator[str]:
    """Yield the lines of links, and a line such as `base http://h/ (retrieval)` wherever the base changes."""
    for row in rows:
        if row.element != "base" and (about := _about(row)) != base:  # a claim has the base of the next layer
            base = about
            yield screen.paint(INDENT + group.fit(about, len(INDENT)), "dim")
        yield from group.lines(_item(row))


def _last_base(rows: list[Row], base: str) -> str:
    return next((_about(row) for row in reversed(rows) if row.element != "base"), base)


def _item(row: Row) -> Item:
    problems = str(row.problems or "").split()  # joined, as in each text
    style = "yellow" if _SEVERE.isdisjoint(problems) else "red"
    notes = [(f"! {', '.join(problems)}", style)] if problems else []
    return Item(f"{row.line}:{row.column}", row.kind, row.reference, row.target, notes)


def _about(row: Row) -> str:
    if row.base_layer == "default":
        return "no base URL is known"
    return f"base {row.base} ({row.base_layer})"


class Item(NamedTuple):
    """One place. `place`: its line and column, or ""; `word`: its kind or verdict, in a style of `drawing.STYLES`.

    `target`: the target of `text`, None for nowhere; it is shown once if it is the text itself. `notes`: lines below,
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
        """Return the text with visible characters, cut to the columns that `used` leaves."""
        text = self._screen.visible(text)
        return text if self._screen.width is None else self._screen.cut(text, max(8, self._screen.width - used))

    def plain(self, text: str) -> Iterator[str]:
        """Yield a text in lines as wide as the screen."""
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
        """Yield a text in lines as wide as the columns that `used` leaves, at least 8; as one line without a width."""
        note = self._screen.visible(note)
        return folded(note, max(8, self._screen.width - used)) if self._screen.width is not None else iter([note])

    def _target(self, item: Item, used: int) -> str:
        """Return the target of an item as a hyperlink, with an arrow before it unless it is the text."""
        arrow = "" if item.text == item.target else f"{self._screen.arrow} "
        if item.target is None:
            return self._screen.paint(f"{arrow}(nowhere)", "dim")
        text = self.fit(item.target, used + len(arrow))
        return self._screen.paint(arrow, "dim") + self._screen.linked(text, item.target)


# --- rows with other columns ------------------------------------------------------------------------------------------


def _grid(
    columns: Sequence[str], chunks: Iterable[Iterable[Sequence[Any]] | Columns], screen: Screen
) -> Iterator[list[str]]:
    """Yield the lines of the header and of the rows; where the columns do not fit, a line for each cell of a row."""
    rows = (row for chunk in chunks for row in joined(columns, chunk))
    first = list(islice(rows, _FIRST))
    if not first:
        return
    kept = [place for place in range(len(columns)) if any(row[place] not in {None, ""} for row in first)]
    widths = {place: _widest(columns[place], [row[place] for row in first], screen) for place in kept}
    least = {place: _LEAST_URL if columns[place] in _URLS else _LEAST for place in kept}
    if screen.width is not None and not _fit(widths, least, screen.width - len(_GAP) * (len(kept) - 1)):
        for row in chain(first, rows):
            yield [*_stacked(columns, row, screen), ""]
        return
    yield [screen.paint(_GAP.join(padded(columns[place], widths[place]) for place in kept).rstrip(), "bold")]
    for row in chain(first, rows):
        yield [_GAP.join(_cell(columns[place], row[place], widths[place], screen) for place in kept).rstrip()]


def _widest(name: str, cells: list[Any], screen: Screen) -> int:
    return max(len(name), *(printable.width(screen.visible(_text(cell))) for cell in cells))


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _fit(widths: dict[int, int], least: dict[int, int], room: int) -> bool:
    """Reduce the widest columns, none below its `least`, until all fit into `room`; return False if they cannot."""
    while sum(widths.values()) > room:
        shrinkable = [place for place, width in widths.items() if width > least[place]]
        if not shrinkable:
            return False
        widths[max(shrinkable, key=lambda place: widths[place])] -= 1
    return True


def _cell(name: str, cell: Any, width: int, screen: Screen) -> str:
    text = screen.visible(_text(cell))
    if isinstance(cell, int):
        return text.rjust(width)
    cut = text if screen.width is None else _cut(name, text, width, screen)
    space = " " * (width - printable.width(cut))
    if name == "problems":
        return screen.paint(cut, "yellow") + space
    return _linked(name, cut, cell, screen) + space


def _cut(name: str, text: str, columns: int, screen: Screen) -> str:
    """Return a cell cut to a number of columns; a path is cut at its front, because paths differ at their end."""
    if name in _PATHS and not has_scheme(text):
        return screen.cut_front(text, columns)
    return screen.cut(text, columns, at_end=name not in _URLS)


def _linked(name: str, cut: str, cell: Any, screen: Screen) -> str:
    return screen.linked(cut, cell) if name in LINKED else cut


def _stacked(columns: Sequence[str], row: Sequence[Any], screen: Screen) -> Iterator[str]:
    for name, cell in zip(columns, row, strict=True):
        text = screen.visible(_text(cell))
        if text:
            room = max(_LEAST, (screen.width or 0) - len(name) - len(": "))
            cut = _cut(name, text, room, screen)
            yield f"{screen.paint(name, 'bold')}: {_linked(name, cut, cell, screen)}"
