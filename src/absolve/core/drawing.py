"""Draw text on a terminal: styles (ECMA-48), hyperlinks (OSC 8), and texts cut or folded to a number of columns.

In: printable text, and a `Screen`, which states what the terminal can do. Out: text with escape sequences. Only this
module writes escape sequences: the text of a document is escaped (`printable`) before it gets here, and a hyperlink
leads only to an http or https URL whose characters are all visible ASCII.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import printable
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

# ECMA-48 8.3.117, Select Graphic Rendition
STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
SEQUENCES: Final = re.compile(rf"\x1b\[(?:0|{'|'.join(STYLES.values())})m|\x1b\]8;;[!-~]*\x1b\\")  # all written here
_ORIGIN: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*/")
_LONGEST: Final = 2048  # characters of a hyperlink; some terminals ignore longer ones
# RFC 3986 3.2 without user information, which is masked in text; all of it in visible ASCII.
_LINKED: Final = pattern(r"https?://[A-Za-z0-9._~\[\]:-]+(?:[/?#][!-~]*)?")


class Screen(NamedTuple):
    """What the output can show; by default nothing but text, as in a file.

    `width`: columns to which lines are cut, None for no limit. `styled`: escape sequences are allowed. `unicode`: the
    encoding has all characters, not only ASCII.
    """

    width: int | None = None
    styled: bool = False
    unicode: bool = True

    @property
    def dots(self) -> str:
        """The mark for text that is cut out."""
        return "\u2026" if self.unicode else "..."

    @property
    def arrow(self) -> str:
        return "\u2192" if self.unicode else "->"

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style, one of STYLES."""
        return painted(text, style) if self.styled and text else text

    def linked(self, text: str, url: str | None) -> str:
        """Return the text as a hyperlink (OSC 8) to an http or https URL; for other URLs only the text."""
        if not self.styled or url is None or len(url) > _LONGEST:
            return text
        url = url if url.isascii() and url.isprintable() and " " not in url else _escaped(url)
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if _LINKED.fullmatch(url) else text

    def visible(self, text: str) -> str:
        """Return text of a document, printable, and with escapes for all that the encoding lacks."""
        text = printable.printable(text)
        return text if self.unicode else text.encode("ascii", "backslashreplace").decode()

    def cut(self, text: str, columns: int, *, at_end: bool = False) -> str:
        """Return printable text that is cut to a number of columns.

        A URL is cut in its middle: for example, to `http://h.ex…d/e.html` in 20 columns. Other texts are cut `at_end`.
        """
        if printable.width(text) <= columns:
            return text
        if columns <= 2 * len(self.dots):
            return _beginning(text, columns)
        room = columns - len(self.dots)
        if at_end:
            return _beginning(text, room).rstrip() + self.dots
        origin = _ORIGIN.match(text)
        head = _beginning(text, room * 2 // 5 if origin is None else min(len(origin[0]), room * 3 // 5))
        tail = _beginning(text[::-1], room - printable.width(head))[::-1]
        return head + self.dots + tail

    def cut_front(self, text: str, columns: int) -> str:
        """Return printable text that is cut at its front to a number of columns."""
        room = columns - len(self.dots)
        if printable.width(text) <= columns or room < len(self.dots):
            return _beginning(text, columns)
        return self.dots + _beginning(text[::-1], room)[::-1]


def painted(text: str, style: str) -> str:
    """Return the text in a style, one of STYLES."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"


def padded(text: str, columns: int) -> str:
    """Return printable text with spaces behind it up to a number of columns."""
    return text + " " * (columns - printable.width(text))


def folded(text: str, columns: int) -> Iterator[str]:
    """Yield printable text in lines of a number of columns: broken at spaces, and inside longer words."""
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        while printable.width(joined) > columns:
            # A URL begins a line of its own if that saves a break inside it.
            if line and (printable.width(word) <= columns or printable.width(line) * 2 >= columns):
                yield line
                joined = word
            else:
                head = _beginning(joined, columns) or joined[:1]
                yield head
                joined = joined[len(head) :]
            line = ""
        line = joined
    yield line


def _beginning(text: str, columns: int) -> str:
    """Return the beginning of a text that fits a number of columns."""
    if text.isascii():
        return text[: max(0, columns)]
    used = 0
    for place, character in enumerate(text):
        used += printable.width(character)
        if used > columns:
            return text[:place]
    return text


def _escaped(url: str) -> str:
    return "".join(one if "!" <= one <= "~" else printable.percent_escaped(one) for one in url)
