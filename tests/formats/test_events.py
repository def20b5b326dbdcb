"""EventList returns events in the order of the document, and links with their own site, coding and bases."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

import absolve
from absolve.core.model import BaseClaim, Derived, Edit, Finding, Layer, Link, LinkSite, Part
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Unquoted, quoted
from absolve.formats.events import EventList, ordered

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.core.model import Event

HREF = LinkSite("a", "href")
DOUBLE = quoted(UTF_8, 0x22)
CLAIM = BaseClaim(Layer.EMBEDDED, "b/", "base element", 3)


def taken(*events: Event) -> EventList:
    found = EventList()
    for event in events:
        found.append(event)
    return found


def test_an_event_list_counts_links_and_parts_and_keeps_the_others_apart() -> None:
    link, part, finding = Link(HREF, 9, 10, DOUBLE), Part("text/css", 1, 2, DOUBLE), Finding("code", "text", 3)
    found = taken(link, part, CLAIM, link, finding)
    assert list(found) == [found[index] for index in range(5)] == [link, part, CLAIM, link, finding]
    assert (found.count, found.parts, found.others) == (3, [1], [CLAIM, finding])


def test_an_event_list_is_ordered_where_no_edit_precedes_an_earlier_one() -> None:
    first, second = Link(HREF, 1, 2, DOUBLE), Part("text/css", 9, 10, DOUBLE)
    assert taken(first, first, second, CLAIM).is_ordered
    assert not taken(second, first).is_ordered
    assert not taken(Part("text/html", 9, 10, DOUBLE, derived=(Derived(1, 2, bytes),))).is_ordered


def test_links_in_unquoted_values_get_codings_of_their_own() -> None:
    common = Unquoted(UTF_8, None)
    found = taken(*(Link(HREF, at, at + 1, common) for at in (8, 18)), Part("text/css", 20, 22, common))
    assert [event.coding.slot for event in found if isinstance(event, (Link, Part))] == [(8, 9), (18, 19), (20, 22)]
    assert common.slot is None


def test_edits_are_sorted_by_their_start_and_equal_ones_stay_in_order() -> None:
    edits = [Edit(at, at, b"%d" % number) for number, at in enumerate((5, 1, 5, *range(3000, 0, -1)))]
    assert [edit for some in ordered([edits[:2], [], edits[2:]]) for edit in some] == sorted(edits, key=lambda one: one.start)


@pytest.mark.parametrize(
    "unit",
    ["<a href=x{}>", "<a href=?x={}>", "<a href=&#32;x{}>", "<a href='x{}'>", "<a href>", "<img srcset='a{} 1x, b 2x'>"],
)
@pytest.mark.parametrize(
    "other", ["<img srcset=a,b,c,d>", "<p style=a:url(x)><base href>", "<iframe srcdoc=<a&#32;href=x&gt;></iframe>"]
)
def test_many_links_are_rewritten_like_each_of_them_alone(unit: str, other: str) -> None:
    pieces = [unit.format(number) + other * (number % 3) for number in range(1500)]
    together = absolve.rewrite("<base href=http://h/>" + "".join(pieces))
    alone = [absolve.rewrite("<base href=http://h/>" + piece).removeprefix("<base href=http://h/>") for piece in pieces]
    assert together == "<base href=http://h/>" + "".join(alone)
    rows = [row for row in absolve.links(together) if not row.entity]
    assert all(one.start <= other.start for one, other in pairwise(rows))


@pytest.mark.parametrize("number", range(997, 1002))
def test_an_unquoted_value_is_quoted_as_a_whole_across_batches_of_edits(number: int) -> None:
    before, value = "<a href='x'>" * number, "<a ping=b&#32;c&#32;d>"
    url = "http://h/it's/"  # an apostrophe needs quotes
    together, alone = (absolve.rewrite(page, url=url) for page in (before + value, value))
    assert together == before.replace("'x'", "'http://h/it&#39;s/x'") + alone


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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("make", "media_type"), [(feed, "application/xml"), (applets, "text/html")], ids=["feed", "applets"])
def test_links_have_the_bases_of_the_elements_around_them(
    make: Callable[[Random, int], tuple[str, list[LinkFields]]], media_type: str, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 - no cryptography
    text, expected = make(random, 900)
    data = text.encode()
    events = walk(absolve.Document(data, media_type=media_type), Settings()).events
    assert [reported(event, data) for event in events] == expected
    for index in [*reversed(range(len(expected))), *(random.randrange(len(expected)) for _ in range(999))]:
        assert reported(events[index], data) == expected[index]


def test_links_under_one_base_share_its_claim_object() -> None:
    page = b"<applet code='x' archive='y,z' codebase=d/></applet>" * 300
    events = walk(absolve.Document(page, media_type="text/html"), Settings()).events
    links = [event for event in events if isinstance(event, Link)]
    for number in range(0, len(links), 4):
        code, first, second, codebase = links[number : number + 4]
        assert code.base is not None
        assert [code.base is one for one in (first.base, second.base, codebase.claim)] == [True] * 3


def test_equal_elements_have_parts_with_their_own_names_and_bases() -> None:
    style = "<g style='fill:url(x)'/><g xml:base='b/' style='fill:url(x)'/>"
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg'>{style * 5}</svg>"
    rows = [row for row in absolve.links(drawing, url="http://h/") if row.attribute != "xml:base"]
    assert [row.target for row in rows] == ["http://h/x", "http://h/b/x"] * 5
    entry = "".join(f"<{name} type='html'>&lt;a href=x></{name}>" for name in ("title", "summary", "content"))
    atom = f"<feed xmlns='http://www.w3.org/2005/Atom'>{f'<entry>{entry}</entry>' * 5}</feed>"
    names = [row.entity for row in absolve.links(atom, url="http://h/")]
    assert names == [f"{name}[{number}]" for number, name in enumerate(["title", "summary", "content"] * 5, 1)]
