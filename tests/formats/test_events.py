"""Links in documents of many links have their own site, coding and bases."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

import absolve
from absolve.core.model import BaseClaim, Link
from absolve.document.settings import Settings
from absolve.document.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.core.model import Event


UNITS = ["<a href=x{}>", "<a href=?x={}>", "<a href=&#32;x{}>", "<a href='x{}'>", "<a href>", "<img srcset='a{} 1x, b 2x'>"]
OTHERS = ["<img srcset=a,b,c,d>", "<p style=a:url(x)><base href>", "<iframe srcdoc=<a&#32;href=x&gt;></iframe>"]


@pytest.mark.parametrize("other", OTHERS)
def test_many_links_are_rewritten_like_each_of_them_alone(other: str) -> None:
    pieces = [UNITS[number % 6].format(number) + other * (number % 3) for number in range(2100)]
    together = absolve.rewrite("<base href=http://h/>" + "".join(pieces))
    alone = [absolve.rewrite("<base href=http://h/>" + piece).removeprefix("<base href=http://h/>") for piece in pieces]
    assert together == "<base href=http://h/>" + "".join(alone)
    rows = [row for row in absolve.links(together) if not row.entity]
    assert all(one.start <= other.start for one, other in pairwise(rows))


def test_an_unquoted_value_is_quoted_as_a_whole_across_batches_of_edits() -> None:
    url, value = "http://h/it's/", "<a ping=b&#32;c&#32;d>"  # an apostrophe needs quotes
    for number in range(997, 1002):
        before = "<a href='x'>" * number
        assert absolve.rewrite(before + value, url=url) == before.replace("'x'", "'http://h/it&#39;s/x'") + absolve.rewrite(value, url=url)


# --- bases of links, and their tags -----------------------------------------------------------------------------------

LinkFields = tuple[str, str, tuple[str, ...], str | None]  # element, reference, the bases from the innermost one, its own claim


def chain(base: BaseClaim | None) -> tuple[str, ...]:
    return () if base is None else (base.reference, *chain(base.scope))


def reported(event: Event, data: bytes) -> LinkFields:
    assert isinstance(event, Link)
    reference = data[event.start : event.end].decode()
    return event.place.element, reference, chain(event.base), event.claim.reference if event.claim is not None else None


def feed(random: Random, count: int) -> tuple[str, list[LinkFields]]:
    """Return nested elements, many with a base, and the expected fields of their links."""
    numbers = iter(range(count))

    def element(depth: int, bases: tuple[str, ...]) -> tuple[str, list[LinkFields]]:
        name, number = f"n{random.randrange(40)}", next(numbers, None)
        if number is None or depth > 50:
            return "", []
        inner = (f"b{number}/", *bases) if random.random() < 0.6 else bases
        own: list[tuple[str, LinkFields]] = []
        own += [(f" xml:base='{inner[0]}'", (name, inner[0], bases, inner[0]))] if inner is not bases else []
        own += [(f" l:href='r{number}'", (name, f"r{number}", inner, None))] if random.random() < 0.8 else []
        random.shuffle(own)
        inside = [element(depth + 1, inner) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        text = f"<{name}{''.join(text for text, _ in own)}>{''.join(text for text, _ in inside)}</{name}>"
        return text, [one for _, one in own] + [one for _, many in inside for one in many]

    found = [element(0, ()) for _ in range(count)]
    text = "".join(text for text, _ in found)
    return f"<r xmlns:l='http://www.w3.org/1999/xlink'>{text}</r>", [one for _, many in found for one in many]


def applets(random: Random, count: int) -> tuple[str, list[LinkFields]]:
    """Return elements with a codebase before or after its attributes, or without one, and other links."""
    pieces, expected = [], []
    for number in range(count):
        codebase = f"c{number}/" if random.random() < 0.7 else ""
        bases = (codebase,) if codebase else ()
        own: list[tuple[str, list[LinkFields]]] = [
            (f' codebase="{codebase}"', [("applet", codebase, (), codebase or None)]),
            (f" code='k{number}'", [("applet", f"k{number}", bases, None)]),
            (f" archive='a{number}, z'", [("applet", word, bases, None) for word in (f"a{number}", "z")]),
            (f" itemid=i{number}", [("applet", f"i{number}", (), None)]),
        ]
        own = random.sample(own, random.randrange(5))
        if not any("codebase" in text for text, _ in own):
            own = [(text, [(name, word, (), claim) for name, word, _, claim in links]) for text, links in own]
        pieces.append(f"<applet{''.join(text for text, _ in own)}></applet><x{number} itemid=y>")
        expected += [link for _, links in own for link in links] + [(f"x{number}", "y", (), None)]
    return "".join(pieces), expected


@pytest.mark.parametrize(("make", "media_type"), [(feed, "application/xml"), (applets, "text/html")], ids=["feed", "applets"])
def test_links_have_the_bases_of_the_elements_around_them(make: Callable[[Random, int], tuple[str, list[LinkFields]]], media_type: str) -> None:
    random = Random(1808)  # noqa: S311 - no cryptography
    text, expected = make(random, 900)
    data = text.encode()
    events = walk(absolve.Document(data, media_type=media_type), Settings()).events
    assert [reported(event, data) for event in events] == expected
    for index in [*reversed(range(len(expected))), *(random.randrange(len(expected)) for _ in range(999))]:
        assert reported(events[index], data) == expected[index]
