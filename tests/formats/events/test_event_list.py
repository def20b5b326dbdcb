"""EventList returns events as they were added, in order, whether stored as numbers or as objects."""

from __future__ import annotations

import gc
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

import absolve
from absolve.core.model import IGNORED_BASE, BaseClaim, Derived, Finding, Layer, Link, LinkSite, Part
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.encodings.charsets import UTF_8, by_label
from absolve.encodings.codings import Unquoted, quoted
from absolve.formats.events.event_list import EventList
from tests.shapes.memory import peak
from tests.shapes.scale import COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from absolve.core.model import Event

HREF, SRC = LinkSite("a", "href"), LinkSite("img", "src")
DOUBLE, SINGLE = quoted(UTF_8, 0x22), quoted(UTF_8, 0x27)
CLAIM = BaseClaim(Layer.EMBEDDED, "b/", "base element", 3)


def taken(*events: Event) -> EventList:
    found = EventList()
    for event in events:
        found.append(event)
    return found


def fields_of(event: Event) -> object:
    """Return all fields of an event, equal for equal events."""
    if not isinstance(event, (Link, Part)):
        return event
    coding = event.coding
    made = coding.settle(b"a b") if isinstance(coding, Unquoted) else coding  # the others are shared
    if isinstance(event, Part):
        fields = (event.base, tuple(event.claims), event.own_charset, event.encloses, tuple(event.derived), event.signed_by)
        return event.media_type, event.start, event.end, made, coding.slot, event.name, *fields
    spans = (event.start, event.end, event.tag_start, event.tag_end)
    return event.place, *spans, made, coding.slot, event.base, event.claim


PARTS = {
    "a style sheet": Part("text/css", 9, 10, DOUBLE),
    "empty": Part("text/css", 9, 9, DOUBLE),
    "with a step": Part("text/html", 9, 10, DOUBLE, "srcdoc"),
    "without quotes": Part("text/html", 8, 9, Unquoted(UTF_8, (8, 9)), "srcdoc"),
    "far behind": Part("text/css", 1 << 40, (1 << 40) + 9, DOUBLE),
    "scoped": Part("text/css", 9, 10, DOUBLE, base=CLAIM),
    "with a claim": Part("text/html", 9, 10, DOUBLE, "body", claims=(CLAIM,)),
    "with a charset": Part("text/html", 9, 10, DOUBLE, "body", own_charset=True),
    "not encapsulated": Part("text/html", 9, 10, DOUBLE, "record", encloses=False),
    "with a field": Part("text/html", 9, 10, DOUBLE, "body", derived=(Derived(1, 2, bytes),)),
    "signed": Part("text/html", 9, 10, DOUBLE, "part", signed_by="DKIM"),
}
MADE = [(0, 0, 9), (1, 9, 9), (2, 5, 12), (4000, 1 << 40, (1 << 40) + 9), (3, 20, 21)]  # numbers, and spans
LINKS = {
    "in quotes": Link(HREF, 9, 10, DOUBLE, tag_start=0, tag_end=12),
    "empty": Link(HREF, 9, 9, SINGLE, tag_start=0, tag_end=11),
    "outside of any tag": Link(HREF, 0, 7, DOUBLE),
    "at the very beginning": Link(HREF, 0, 7, DOUBLE, tag_start=0, tag_end=8),
    "before its tag": Link(HREF, 5, 7, DOUBLE, tag_start=6, tag_end=9),
    "of another place": Link(SRC, 9, 10, DOUBLE, tag_start=0, tag_end=12),
    "scoped": Link(HREF, 9, 10, DOUBLE, CLAIM, 0, 12),
    "a claim": Link(HREF, 9, 10, DOUBLE, None, 0, 12, CLAIM),
    "without quotes": Link(HREF, 8, 9, Unquoted(UTF_8, (8, 9)), tag_start=0, tag_end=10),
    "without a value": Link(HREF, 7, 7, Unquoted(UTF_8, (7, 7), absent=True), tag_start=0, tag_end=8),
    "one of two without quotes": Link(HREF, 8, 9, Unquoted(UTF_8, (8, 11)), tag_start=0, tag_end=12),
    "the other of two without quotes": Link(HREF, 10, 11, Unquoted(UTF_8, (8, 11)), tag_start=0, tag_end=12),
    "one of three without quotes": Link(HREF, 10, 11, Unquoted(UTF_8, (8, 13)), tag_start=0, tag_end=14),
    "one of two in another charset": Link(HREF, 8, 9, Unquoted(by_label("latin1"), (8, 11)), tag_start=0, tag_end=12),
    "one of two without a value": Link(HREF, 8, 9, Unquoted(UTF_8, (8, 11), absent=True), tag_start=0, tag_end=12),
    "one of two, scoped": Link(HREF, 8, 9, Unquoted(UTF_8, (8, 11)), CLAIM, 0, 12),
    "outside of its value": Link(HREF, 8, 9, Unquoted(UTF_8, (9, 11)), tag_start=0, tag_end=12),
    "in another charset": Link(HREF, 8, 9, Unquoted(by_label("latin1"), (8, 9)), tag_start=0, tag_end=10),
    "far behind": Link(HREF, 1 << 40, (1 << 40) + 1, DOUBLE, tag_start=(1 << 40) - 9, tag_end=(1 << 40) + 3),
    "longer than four gigabytes": Link(HREF, 9, 1 << 33, DOUBLE, tag_start=0, tag_end=(1 << 33) + 2),
    "in a tag as long": Link(HREF, 1 << 33, (1 << 33) + 1, DOUBLE, tag_start=0, tag_end=(1 << 33) + 3),
}


def test_a_new_event_list_is_empty() -> None:
    assert (list(taken()), len(taken()), taken().count, taken().objects) == ([], 0, 0, [])


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_an_event_list_returns_a_link_as_it_was_added(link: Link) -> None:
    assert [fields_of(event) for event in taken(link)] == [fields_of(link)]


@pytest.mark.parametrize("claim", [None, CLAIM])
@pytest.mark.parametrize("absent", [False, True])
def test_links_in_unquoted_values_get_their_own_codings(
    absent: bool, claim: BaseClaim | None
) -> None:
    common = Unquoted(UTF_8, None, absent=absent)
    spans = [(8, 9), (18, 20), (28, 28)]
    found = taken(*(Link(HREF, start, end, common, None, start - 8, end + 1, claim) for start, end in spans))
    expected = [
        Link(HREF, start, end, Unquoted(UTF_8, (start, end), absent=absent), None, start - 8, end + 1, claim)
        for start, end in spans
    ]
    assert [fields_of(link) for link in found] == [fields_of(link) for link in expected]
    assert len(found.objects) == (0 if claim is None else 3)


def test_an_event_list_returns_events_of_all_kinds_in_order() -> None:
    others: list[Event] = [Part("text/css", 1, 2, DOUBLE), Finding("code", "text", 3), CLAIM]
    given: list[Event] = [event for link in LINKS.values() for event in (link, *others)] * 3
    found = taken(*given)
    assert [fields_of(event) for event in found] == [fields_of(event) for event in given]
    assert (len(found), found.count, found.parts) == (len(given), len(given) // 2, len(given) // 4)
    assert [event for event in found.objects if not isinstance(event, (Link, Part))] == others[1:] * len(LINKS) * 3


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_an_event_list_returns_a_part_as_it_was_added(part: Part) -> None:
    found = taken(part, *LINKS.values(), part)
    assert (fields_of(found[0]), fields_of(found[len(found) - 1]), found.parts) == (fields_of(part), fields_of(part), 2)


def test_parts_that_differ_only_in_spans_are_stored_as_numbers() -> None:
    common = Unquoted(UTF_8, None)
    objects = {"without quotes", "scoped", "with a claim", "with a field"}
    few = [part for name, part in PARTS.items() if name not in objects]
    found = taken(*few, *(Part("text/css", at, at + 2, common) for at in range(9)))
    assert found.objects == []
    assert [part.coding.slot for part in found if isinstance(part, Part)][-2:] == [(7, 9), (8, 10)]


def test_parts_with_more_templates_than_are_compared_are_returned_unchanged() -> None:
    given = [Part(f"text/x-{number}", number, number + 1, DOUBLE) for number in range(40)] * 2
    assert [fields_of(part) for part in taken(*given)] == [fields_of(part) for part in given]


def test_parts_with_similar_templates_are_distinguished() -> None:
    almost = [Part("text/html", 1, 2, DOUBLE, "part", own_charset=whole) for whole in (False, True)]
    almost += [Part("text/html", 1, 2, DOUBLE, "part", encloses=False), Part("text/html", 1, 2, SINGLE, "part")]
    almost += [Part("text/html", 1, 2, DOUBLE, "part", signed_by=sealed) for sealed in ("DKIM", "ARC")]
    assert [fields_of(part) for part in taken(*almost, *almost)] == [fields_of(part) for part in almost * 2]


def test_other_events_than_links_and_parts_are_returned_as_the_same_objects() -> None:
    assert next(iter(taken(CLAIM))) is CLAIM


def test_events_can_be_read_in_any_order() -> None:
    given: list[Event] = []
    for link in [*LINKS.values()] * 50:
        given += (link, CLAIM)
    found = taken(*given)
    for index in (len(given) - 1, 0, *range(0, len(given), 37), *reversed(range(len(given)))):
        assert fields_of(found[index]) == fields_of(given[index])


def test_events_added_after_reading_are_found() -> None:
    found = taken()
    for number in range(600):
        found.append(Link(HREF, number * 50, number * 50 + 1, DOUBLE))
        assert [fields_of(found[index]) for index in (number, number // 2)] == [
            fields_of(Link(HREF, index * 50, index * 50 + 1, DOUBLE)) for index in (number, number // 2)
        ]


@pytest.mark.parametrize("size", [1, 63, 64, 127, 128, 8191, 8192, 16383, 16384, 1 << 21, 1 << 42])
def test_spans_of_every_size_are_restored(size: int) -> None:
    links = [Link(HREF, start, start + size, DOUBLE, None, start - size, start + 2 * size) for start in (size, 3 * size)]
    given = [*links, *reversed(links)]
    assert [fields_of(event) for event in taken(*given)] == [fields_of(link) for link in given]


def test_links_keep_their_tag_from_any_start_of_reading() -> None:
    given: list[Event] = []
    for number in range(0, 3000, 10):
        tag = number // 500 * 500
        given += (Link(HREF, 9 + number, 10 + number, DOUBLE, None, tag, tag + 5000), CLAIM)
        given.append(Link(HREF, 9 + number, 10 + number, DOUBLE))
    found = taken(*given)
    for index in (*range(255, len(given), 256), *reversed(range(len(given)))):
        assert fields_of(found[index]) == fields_of(given[index])


def test_links_in_one_unquoted_value_share_its_coding() -> None:
    codings = [Unquoted(UTF_8, (10 * number, 10 * number + 9)) for number in range(5000)]
    starts = range(0, 50_000, 10)
    given = [Link(SRC, start + at, start + at + 1, codings[start // 10]) for start in starts for at in (0, 2, 4)]
    found = taken(*given, Link(HREF, 0, 1, DOUBLE))
    assert [fields_of(link) for link in found] == [*map(fields_of, given), fields_of(Link(HREF, 0, 1, DOUBLE))]
    assert not COMPILED or len(found.objects) < len(given)


def test_ignored_claims_do_not_leak_to_links_without_a_claim() -> None:
    given = [Link(HREF, at, at + 1, DOUBLE, claim=claim) for at in range(9) for claim in (None, IGNORED_BASE, CLAIM)]
    assert [fields_of(link) for link in taken(*given)] == [fields_of(link) for link in given]
    assert not COMPILED or len(taken(*given).objects) == len(given) // 3


def test_thousands_of_templates_are_distinguished() -> None:
    places = [LinkSite("a", f"x{number}") for number in range(5000)]
    found = taken(*(Link(place, 1, 2, coding) for place in places * 2 for coding in (DOUBLE, SINGLE)))
    assert [(link.place, link.coding) for link in found if isinstance(link, Link)] == [
        (place, coding) for place in places * 2 for coding in (DOUBLE, SINGLE)
    ]


def test_links_outlive_their_events() -> None:
    links = list(taken(*LINKS.values()))
    gc.collect()
    assert [fields_of(link) for link in links] == [fields_of(link) for link in LINKS.values()]


# --- rewriting in batches ---------------------------------------------------------------------------------------------


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
def test_links_have_the_same_bases_from_any_start_of_reading(
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


XHTML = "xmlns='http://www.w3.org/1999/xhtml'"


def test_xml_base_and_codebase_claims_are_restored_for_thousands_of_elements() -> None:
    unit = "<div xml:base='a{0}/'><object codebase='b{0}/' data='x'/></div>"
    page = f"<html {XHTML}><body>{''.join(unit.format(number) for number in range(1500))}</body></html>"
    rows = [row for row in absolve.links(page, url="http://h/", media_type="application/xml") if row.attribute == "data"]
    expected = [(f"http://h/a{number}/b{number}/x", "codebase attribute, line 1") for number in range(1500)]
    assert [(row.target, row.base_source) for row in rows] == expected


def test_parts_of_one_template_keep_their_own_names_and_bases() -> None:
    style = "<g style='fill:url(x)'/><g xml:base='b/' style='fill:url(x)'/>"
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg'>{style * 5}</svg>"
    rows = [row for row in absolve.links(drawing, url="http://h/") if row.attribute != "xml:base"]
    assert [row.target for row in rows] == ["http://h/x", "http://h/b/x"] * 5
    entry = "".join(f"<{name} type='html'>&lt;a href=x></{name}>" for name in ("title", "summary", "content"))
    atom = f"<feed xmlns='http://www.w3.org/2005/Atom'>{f'<entry>{entry}</entry>' * 5}</feed>"
    names = [row.entity for row in absolve.links(atom, url="http://h/")]
    assert names == [f"{name}[{number}]" for number, name in enumerate(["title", "summary", "content"] * 5, 1)]


# --- memory -----------------------------------------------------------------------------------------------------------

NOTHING_BUT_LINKS = {
    "text/html": b"<a href='x'>y</a><a href=x>y</a><img srcset='a 1x, b 2x'>" * 2,
    "text/css": b"a{b:url(x)}@import 'y';" * 3,
    "application/xml": b"<r xmlns:l='http://www.w3.org/1999/xlink'>" + b"<y l:href='a'/><y l:href='&amp;b'/>" * 3 + b"</r>",
}
RULED = {
    "text/html": b"<object codebase=c/ data=x></object><applet code='x' archive='y,z' codebase=' d/ '></applet>" * 2,
    "application/xml": b"<feed xmlns='http://www.w3.org/2005/Atom'>%b</feed>"
    % (b"<entry xml:base='b/'><link href='a'/><content type='html'>&lt;a href=x></content></entry>" * 2),
}
NAMED = {
    "text/html": b"".join(b"<x-%d itemid=a><svg><G%d xlink:href=b>" % (number, number) for number in range(9)),
    "application/xml": b"<r xmlns:l='http://www.w3.org/1999/xlink'>%b</r>"
    % b"".join(b"<n%d l:href='a'/><svg:N xmlns:svg='http://www.w3.org/2000/svg' l:href='a'/>" % number for number in range(9)),
}


@pytest.mark.parametrize(
    ("media_type", "page"), [item for pages in (NOTHING_BUT_LINKS, RULED, NAMED) for item in pages.items()]
)
def test_no_link_is_stored_as_an_object(media_type: str, page: bytes) -> None:
    entity = walk(absolve.Document(page, media_type=media_type), Settings())
    assert (len(entity.events) > 4, entity.events.objects) == (True, [])


COUNT = 300_000
SHORTEST = b"<a href=x>"
_READ = "import sys, absolve\nwith open(sys.argv[1], 'rb') as file:\n    data = file.read()\n"
_REWRITE = _READ + "absolve.rewrite(data, media_type='text/html', url='http://www.example.com/d/page.html')\n"
_LIST = _READ + "for row in absolve.links(data, media_type='text/html', url='http://h/'):\n    pass\n"


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="interpreted, links are objects")
@pytest.mark.parametrize("program", [_REWRITE, _LIST], ids=["rewrite", "links"])
@pytest.mark.parametrize(
    "unit", [b"<a href='p%d.html'>%d</a>\n", b"<a href=../p%d.html>%d</a>\n"], ids=["quoted", "not"]
)
def test_a_document_of_nothing_but_links_takes_at_most_four_times_its_size(
    tmp_path: Path, unit: bytes, program: str
) -> None:
    empty, page = tmp_path / "empty.html", tmp_path / "page.html"
    empty.write_bytes(unit % (1, 1) * 1000)
    page.write_bytes(b"".join(unit % (number, number) for number in range(COUNT)))
    more = peak(program, str(page)) - peak(program, str(empty))
    assert not more > 4 * page.stat().st_size / 1e6  # memory is measured on Linux only


INSIDE = [b"<p style=background:url(p%d)>%d", b"<iframe srcdoc='<a href=p%d>%d</a>'></iframe>\n"]


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="interpreted, parts are objects")
@pytest.mark.parametrize("program", [_REWRITE, _LIST], ids=["rewrite", "links"])
@pytest.mark.parametrize("unit", INSIDE, ids=["style attributes", "srcdocs"])
def test_a_document_of_nothing_but_inner_documents_takes_at_most_four_times_its_size(tmp_path: Path, unit: bytes, program: str) -> None:
    empty, page = tmp_path / "empty.html", tmp_path / "page.html"
    empty.write_bytes(unit % (1, 1) * 1000)
    page.write_bytes(b"".join(unit % (number, number) for number in range(COUNT // 3)))
    more = peak(program, str(page)) - peak(program, str(empty))
    assert not more > 4 * page.stat().st_size / 1e6


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="interpreted, links are objects")
def test_the_events_of_the_shortest_links_take_less_than_document_and_rewrite(tmp_path: Path) -> None:
    empty, page = tmp_path / "empty.html", tmp_path / "page.html"
    empty.write_bytes(SHORTEST * 1000)
    page.write_bytes(SHORTEST * 2 * COUNT)
    more = peak(_REWRITE, str(page)) - peak(_REWRITE, str(empty))
    result = 2 * COUNT * len(SHORTEST + b"http://www.example.com/d/")
    assert not more - result / 1e6 > 2 * page.stat().st_size / 1e6


def test_parts_are_created_from_stored_numbers_and_spans() -> None:
    def make(number: int, start: int, end: int) -> Part:
        return Part("text/html", start, end, DOUBLE, f"member {number}", derived=(Derived(number, end, bytes),))

    found = EventList(make_part=make)
    events: list[Event] = []
    for made in MADE * 100:
        for event in (LINKS["in quotes"], PARTS["a style sheet"], PARTS["with a field"], Finding("code", "text", 3)):
            found.append(event)
            events.append(event)
        found.add_numbered_part(*made)
        events.append(make(*made))
    assert [fields_of(event) for event in found] == [fields_of(event) for event in events]
    assert [fields_of(found[index]) for index in range(len(events) - 1, -1, -7)] == [fields_of(event) for event in events[::-7]]
    assert (found.parts, found.count) == (1500, 2000)
