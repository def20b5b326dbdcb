"""Follow redirects, or rules that move a URL on as redirects do, until they end or go in a circle.

In: a URL, and a function that makes one step. Out: the steps, and where they end.

    >>> rules = {"/a": "/b", "/b": "/c", "/c": "/b"}
    >>> follow("/a", lambda url: rules.get(url), str)
    Chain(steps=[('/a', '/b'), ('/b', '/c'), ('/c', '/b')], end='/b', circle=1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Step = TypeVar("_Step")

# RFC 9110 15.4 without 300 and 304, which do not lead to one other URL by themselves.
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
PERMANENT: Final = frozenset({301, 308})
MOST: Final = 50  # steps: as many as curl follows
LONGEST: Final = 65_536  # characters of a URL: servers refuse a request line of more than eight thousand


class Chain(NamedTuple, Generic[_Step]):
    """A chain: each URL with its step, in order; the URL at the end; the number of the step where a circle begins.

    `circle` is None without one. A chain of too many steps, or of ever longer URLs, is a circle from its beginning.
    """

    steps: list[tuple[str, _Step]]
    end: str
    circle: int | None


def follow(
    url: str, step: Callable[[str], _Step | None], target: Callable[[_Step], str], most: int = MOST
) -> Chain[_Step]:
    """Follow a URL to the end. `step` returns None for a URL that leads nowhere else, `target` where a step leads."""
    steps: list[tuple[str, _Step]] = []
    places: dict[str, int] = {}
    while url not in places:
        if len(steps) > most or (len(steps) > 1 and len(url) > LONGEST):
            return Chain(steps, url, 0)
        made = step(url)
        if made is None:
            return Chain(steps, url, None)
        places[url] = len(steps)
        steps.append((url, made))
        url = target(made)
    return Chain(steps, url, places[url])
