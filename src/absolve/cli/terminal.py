"""What the terminal can show: `--color`, $NO_COLOR, $FORCE_COLOR, $TERM, $COLUMNS and the encoding.

Input: a standard stream, and the environment. Output: a `Screen` for drawings.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse
    from typing import TextIO

    from absolve.core.drawing import Screen

CHOICES: Final = ("auto", "always", "never")
WIDTH: Final = 80  # columns if the terminal does not give its width
_chosen = CHOICES[0]


def add_color(parser: argparse.ArgumentParser) -> None:
    """Add --color, for every command."""
    parser.add_argument(
        "--color",
        discovered=True,
        choices=CHOICES,
        default=CHOICES[0],
        help="colours and hyperlinks: auto (default: on a terminal, unless $NO_COLOR is set or $TERM is dumb), always"
        " (as with $FORCE_COLOR) or never",
    )


def choose(choice: str) -> None:
    """Set the value of --color for this run."""
    global _chosen  # noqa: PLW0603 - there is one terminal in a process
    _chosen = choice


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def is_dumb() -> bool:
    """Return whether the terminal understands no escape sequences."""
    return os.environ.get("TERM") == "dumb"


def colours(stream: TextIO | None) -> bool:
    """Return whether a stream may get escape sequences (no-color.org, force-color.org)."""
    if _chosen != CHOICES[0]:
        return _chosen == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return is_terminal(stream) and not is_dumb()


def width(stream: TextIO | None) -> int | None:
    """Return the columns of a terminal, by $COLUMNS if it is set; None if the stream is a file or a pipe."""
    if stream is None or not is_terminal(stream):
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH


def screen(stream: TextIO | None) -> Screen:
    """Return what a standard stream can show."""
    from absolve.core.drawing import Screen  # most runs draw nothing

    encoding = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
    return Screen(width(stream), colours(stream), not is_terminal(stream) or encoding.startswith("utf"))
