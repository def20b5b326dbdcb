"""`verify` finds any corruption of a rewritten page, and accepts every correct rewrite of any page.

The default run corrupts the fixtures and checks every 200th page; the slow one checks every n-th page by
`ABSOLVE_EVERY` (1: all), in as many processes as there are processors.
"""

import html
import itertools
import os
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from material import SHARED, needs, pages

import absolve
from absolve import Row
from absolve.encodings import charsets

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEED = 1808
EVERY = int(os.environ.get("ABSOLVE_EVERY", "10"))
QUICK = 200
BIGGEST = 60_000  # bytes of a page that is corrupted many times
URL = "http://absolve.example/a/page.html"
OPTIONS = [
    {"profile": profile, "fragments": fragments, "base": base}
    for profile, fragments, base in itertools.product(("rfc1808", "rfc3986", "whatwg"), ("keep", "absolute"), ("keep", "empty"))
]


class Case(NamedTuple):
    """A page with the options of its rewrite."""

    name: str
    data: bytes
    options: dict[str, Any]


def cases(every: int) -> Iterator[Case]:
    """Return real pages, each with the next set of options; pages without a known URL get a made-up one."""
    for number, page in enumerate(pages(every)):
        options = {**OPTIONS[number % len(OPTIONS)], "media_type": "text/html", "url": page.url or URL}
        yield Case(page.path, page.data, options)


def fixtures() -> list[Case]:
    """Return the fixtures, each with every set of options."""
    paths = [path for path in sorted(FIXTURES.glob("*.html")) if ".absolute" not in path.name]
    return [Case(path.name, path.read_bytes(), {**options, "url": URL}) for path in paths for options in OPTIONS]


# --- correct rewrites -------------------------------------------------------------------------------------------------


def unproved(case: Case) -> list[str]:
    """Return the differences that `verify` finds in a correct rewrite."""
    after = absolve.rewrite(case.data, **case.options)
    return [f"{case.name} {case.options}: {found}" for found in absolve.verify(case.data, after, **case.options)]


def test_verify_accepts_correct_rewrites_of_fixtures() -> None:
    assert [words for case in fixtures() for words in unproved(case)] == []


@needs(SHARED)
def test_verify_accepts_correct_rewrites_of_a_few_real_pages() -> None:
    assert [words for case in cases(QUICK) for words in unproved(case)] == []


@pytest.mark.slow
@needs(SHARED)
def test_verify_accepts_correct_rewrites_of_real_pages() -> None:
    with ProcessPoolExecutor() as pool:
        assert [words for found in pool.map(unproved, cases(EVERY)) for words in found] == []


TAG = re.compile(rb"</?[A-Za-z][^<>]*>")
ATTRIBUTE = re.compile(rb"<[A-Za-z][^<>]*?(\s[A-Za-z-]+=(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))")
ENTITY = re.compile(rb"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z]+);")
Spans = list[tuple[int, int]]
Corruption = Callable[[bytes, Spans, random.Random], bytes | None]


def put(data: bytes, start: int, end: int, new: bytes) -> bytes:
    return data[:start] + new + data[end:]


def a_byte_changed(data: bytes, _links: Spans, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return put(data, at, at + 1, bytes([dice.choice([dice.randrange(256), data[at] ^ 0x20])]))


def lost(pattern: re.Pattern[bytes], group: int) -> Corruption:
    def corrupted(data: bytes, _links: Spans, dice: random.Random) -> bytes | None:
        found = [one.span(group) for one in pattern.finditer(data)]
        return put(data, *dice.choice(found), b"") if found else None

    return corrupted


def an_entity_decoded(data: bytes, _links: Spans, dice: random.Random) -> bytes | None:
    found = list(ENTITY.finditer(data))
    if not found:
        return None
    entity = dice.choice(found)
    try:
        return put(data, *entity.span(), charsets.of_html(data)[0].encode(html.unescape(entity[0].decode("ascii")), "strict"))
    except UnicodeEncodeError:
        return put(data, *entity.span(), b"?")


def a_link_pointed_elsewhere(data: bytes, links: Spans, dice: random.Random) -> bytes | None:
    if not links:
        return None
    start, end = dice.choice(links)
    old = data[start:end]
    return put(data, start, end, dice.choice([old + b"x", b"http://elsewhere.example/", old[: len(old) // 2], b"#x", b"", old.upper()]))


def two_links_swapped(data: bytes, links: Spans, dice: random.Random) -> bytes | None:
    (start, end), (other, other_end) = sorted(dice.sample(links, 2)) if len(links) > 1 else ((0, 1), (0, 1))
    return put(put(data, other, other_end, data[start:end]), start, end, data[other:other_end]) if end <= other else None


CORRUPTIONS: list[Corruption] = [a_byte_changed, lost(TAG, 0), an_entity_decoded, lost(ATTRIBUTE, 1), a_link_pointed_elsewhere, two_links_swapped]


def spoiled(case: Case, after: bytes, dice: random.Random) -> bytes:
    """Return the rewritten page after one corruption, with different bytes."""
    rows: list[Row] = list(absolve.links(after, **case.options))
    links = sorted({(row.start, row.end) for row in rows if not row.entity})
    while True:
        found = dice.choice(CORRUPTIONS)(after, links, dice)
        if found is not None and found != after:
            return found


def missed(case: Case, times: int, seed: int) -> list[str]:
    """Return the corruptions of a page that `verify` does not find."""
    dice = random.Random(seed)  # noqa: S311 - a fixed seed
    after = absolve.rewrite(case.data, **case.options)
    found = []
    for _ in range(times):
        bad = spoiled(case, after, dice)
        if not absolve.verify(case.data, bad, **case.options):
            at = next(i for i, (one, other) in enumerate(zip(after + b"\0", bad + b"\1", strict=False)) if one != other)
            found.append(f"{case.name}, {case.options}: {after[at - 40 : at + 40]!r} became {bad[at - 40 : at + 40]!r}")
    return found


def test_verify_finds_each_of_300_corruptions_of_the_fixtures() -> None:
    dice = random.Random(SEED)  # noqa: S311 - a fixed seed
    chosen = dice.choices(fixtures(), k=300)
    assert [words for number, case in enumerate(chosen) for words in missed(case, 1, SEED + number)] == []


@pytest.mark.slow
@needs(SHARED)
def test_verify_finds_each_of_500_corruptions_of_real_pages() -> None:
    chosen = [case for case in cases(7) if 500 < len(case.data) < BIGGEST]
    chosen = random.Random(SEED).sample(chosen, 100)  # noqa: S311 - a fixed seed
    with ProcessPoolExecutor() as pool:
        found = pool.map(missed, chosen, itertools.repeat(5), itertools.count(SEED))
        assert [words for each in found for words in each] == []
