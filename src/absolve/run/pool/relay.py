"""The relay: work on one item hands something on to that on the next, in whichever processes they are (`exchange`)."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Handoff(NamedTuple):
    """What an item takes; the value is None where there is none.

    `lost`: the process ended that worked on the item before; the value is what that would have taken.
    """

    value: Any = None
    lost: bool = False


class Relay(Protocol):
    """What the work on an item has to do with that on its neighbours."""

    def take(self) -> Handoff:
        """What the item before hands on; it is waited for."""

    def hand_on(self, value: Any) -> None:
        """Let the next item have this, which must be able to go to another process; if that takes, it must be done."""


class Hand:
    """The relay where one item is worked on behind the other: what was handed on is there when it is taken."""

    def __init__(self) -> None:
        self._taken = self._given = Handoff()

    def next(self) -> None:
        """Go on to the next item."""
        self._taken, self._given = self._given, Handoff()

    def take(self) -> Handoff:
        return self._taken

    def hand_on(self, value: Any) -> None:
        self._given = Handoff(value)
