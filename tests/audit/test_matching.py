"""Old pages found among new ones by their content; signatures estimate what two sets have in common."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from absolve.audit.matching import Match, Page, PageText, Score, Scorer, bands, match, share, signature

WORDS = "pencil copper candle mountain quiet turnip harbour river garden orchard winter button silver feather velvet letter lantern cotton pepper stone market saddle anchor lamp window thunder ladder meadow bread yellow".split()


def text(seed: int, count: int = 120) -> str:
    rng = random.Random(seed)  # noqa: S311 - the same text each time
    return " ".join(rng.choice(WORDS) for _ in range(count))


def edited(given: str, every: int) -> str:
    return " ".join("brook" if place % every == 0 else word for place, word in enumerate(given.split()))


def page(url: str, *blocks: str, title: str | None = None, digest: str | None = None) -> PageText:
    return PageText(url, digest, title, blocks)


def found(old: list[PageText], new: list[PageText], threshold: float = 0.8, pairs: list[tuple[str, str]] | None = None) -> dict[str, str]:
    return {one.old: one.new for one in match(old, new, threshold=threshold, pairs=pairs or [])[0]}


LINES = [f"line of text {line}" for line in range(40)]
MANY: dict[str, tuple[int, Callable[[int], PageText], Callable[[int], PageText]]] = {  # comparisons of a page, old, new
    "pages that are alike": (
        12,
        lambda number: page(f"{number}", f"{text(1)} {text(number + 2, 8)}"),
        lambda number: page(f"{number}", f"{text(1)} brook {text(number + 2, 8)}"),
    ),
    "edited pages": (
        5, lambda number: page(f"{number}", edited(text(number, 60), 15)), lambda number: page(f"{number}", text(number, 60)),
    ),
    "pages that share their blocks": (
        12, lambda number: page(f"{number}", *LINES, f"own line {number}"), lambda number: page(f"{number}", *LINES, f"own line {number}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MANY)
def test_of_very_many_pages_each_is_compared_with_a_few(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    scored = Scorer._scored

    def counted(scorer: Scorer, one: Page, other: Page) -> Score:
        asked.append(1)
        return scored(scorer, one, other)

    monkeypatch.setattr(Scorer, "_scored", counted)
    most, old, new = MANY[what]
    assert found([*map(old, range(300))], [*map(new, range(300))]) == {f"{number}": f"{number}" for number in range(300)}
    assert len(asked) < 300 * most


@pytest.mark.parametrize(("old", "new"), [
    ([], []), ([page("a", text(1))], []), ([], [page("b", text(1))]), ([page("a", text(1))], [page("b", text(2))]),
    ([page("a", text(1), title="same")], [page("b", text(2), title="same")]), ([page("a")], [page("b", text(1))]),
    ([page("a", text(1))], [page("b", edited(text(1), 2))]), ([page("a", text(1), text(2))], [page("b", text(1), text(3), text(4))]),
    ([page("a", "see also")], [page("b", "see also", text(1))]),
])
def test_other_content_is_no_match(old: list[PageText], new: list[PageText]) -> None:
    assert found(old, new) == {}


@pytest.mark.parametrize(("old", "new", "score"), [
    (page("a", text(1)), page("b", text(1)), 1.0),
    (page("a", "intro t t"), page("b", "intro t t"), 1.0),
    (page("a", "x", digest="d"), page("b", "y", digest="d"), 1.0),
    (page("a", title="Only a title"), page("b", title="Only a title"), 1.0),
    (page("a", text(1), text(2)), page("b", text(1), edited(text(2), 10)), 0.95),
    (page("a", text(1)), page("b", edited(text(1), 12)), 0.92),
    (page("a", text(1), title="T"), page("b", edited(text(1), 5), title="T"), 0.83),
    (page("a", text(1), text(2)), page("b", text(2), text(1)), 1.0),
    (page("a", "日本語の文章です。とても長い文章を書きます。" * 5), page("b", "日本語の文章です。とても短い文章を書きます。" * 5), 0.93),
])
def test_the_same_content_is_found_with_a_score(old: PageText, new: PageText, score: float) -> None:
    ((one,), _) = match([old], [new])
    assert (one.old, one.new) == ("a", "b")
    assert one.score == pytest.approx(score, abs=0.03)
    assert found([old], [new], score - 0.05) == {"a": "b"}
    assert score == 1.0 or found([old], [new], score + 0.05) == {}


def test_text_that_most_pages_of_a_site_share_does_not_count() -> None:
    menu, footer = text(90), text(91)
    old = [page(f"o{number}", menu, text(number, 30), footer) for number in range(10)]
    new = [page(f"n{number}", text(92), text(number, 30) if number < 5 else text(50 + number, 30), text(93)) for number in range(10)]
    assert found(old, new) == {f"o{number}": f"n{number}" for number in range(5)}


def test_pages_with_only_the_text_of_the_template_need_the_same_title() -> None:
    old = [page(f"o{number}", "menu", "footer", title=f"T{number}") for number in range(4)]
    new = [page(f"n{number}", "menu", "footer", title=f"T{number}") for number in range(2, 6)]
    assert found(old, new) == {"o2": "n2", "o3": "n3"}
    old = [page(f"o{number}", "menu", "footer") for number in range(4)]
    assert found(old, [page(f"n{number}", "menu", "footer") for number in range(4)]) == {}


def test_each_of_two_swapped_and_of_two_merged_pages_is_found() -> None:
    old = [page("a", text(1)), page("b", text(2))]
    assert found(old, [page("a", text(2)), page("b", text(1))], pairs=[("a", "a"), ("b", "b")]) == {"a": "b", "b": "a"}
    new = [page("ab", text(1), text(2)), page("c", text(3))]
    assert found([*old, page("c", text(3))], new) == {"a": "ab", "b": "ab", "c": "c"}


def test_links_to_other_pages_count_little() -> None:
    links = [f"\x1fThe chapter about {word}" for word in WORDS[:8]]
    old = [page("a", text(1, 60), *links[:4]), page("b", text(2, 60), *links[:4])]
    new = [page("ab", text(1, 60), text(2, 60), *links[4:])]
    assert found(old, new) == {"a": "ab", "b": "ab"}
    assert found([page("a", *links[:4], "own words")], [page("b", *links[:4], "other text")]) == {}
    ((one,), _) = match([page("a", *links[:4])], [page("b", *(link[1:] for link in links[:4]))])
    assert one == Match("a", "b", 1.0)


def test_copies_are_matched_one_to_one_then_to_the_first() -> None:
    others = [page(f"other{number}", text(10 + number)) for number in range(4)]
    copies = [page(url, text(1), title=url) for url in "abc"] + others
    assert found(copies, [page("x", text(1), title="c"), page("y", text(1), title="q")]) == {"c": "x", "a": "y", "b": "x"}
    assert found(copies, [page("x", text(1)), page("b", text(1))], pairs=[("b", "b")]) == {"b": "b", "a": "x", "c": "x"}


def test_an_edited_page_is_preferred_to_the_copy_that_belongs_to_another() -> None:
    old = [page("a", text(1), text(2)), page("copy", text(1), text(2))]
    new = [page("a", text(1), text(2)), page("moved", text(1), edited(text(2), 30))]
    assert found(old, new, pairs=[("a", "a")]) == {"a": "a", "copy": "moved"}


def test_the_named_pair_is_preferred_where_scores_are_close() -> None:
    old = [page("a", *(text(number) for number in range(5)))]
    new = [page("b", *(text(number) for number in range(5)), "one more line of text"), page("a", *(text(number) for number in range(5)), "and another line")]
    assert found(old, new).keys() == {"a"}
    assert found(old, new, pairs=[("a", "a")]) == {"a": "a"}


def test_a_second_page_that_is_close_is_named() -> None:
    old = [page("a", text(1), text(2))]
    new = [page("b", text(1), text(2), "short tail here"), page("c", text(1), text(2), "another tail of it")]
    ((one,), _) = match(old, new)
    assert {one.new, one.second} == {"b", "c"}
    ((one,), _) = match(old, [page("b", text(1), text(2)), page("c", text(1), text(2))])
    assert one == Match("a", "b", 1.0, "c")


def test_scores_of_pairs_are_given_even_below_the_threshold() -> None:
    old = [page("a", text(1)), page("b", text(2))]
    new = [page("a", text(1), text(5)), page("b", text(3)), page("c", text(2))]
    _, pairs = match(old, new, pairs=[("a", "a"), ("b", "b"), ("b", "c"), ("x", "a"), ("a", "x")])
    assert [(pair.old, pair.new) for pair in pairs] == [("a", "a"), ("b", "b"), ("b", "c"), ("x", "a"), ("a", "x")]
    assert pairs[0].score == pytest.approx(0.95, abs=0.01)  # all of the old page is there
    assert pairs[1].score < 0.5
    assert [pair.score for pair in pairs[2:]] == [1.0, 0.0, 0.0]


def test_matches_are_the_same_in_each_process() -> None:
    code = """\
from test_matching import edited, found, page, text
old = [page(f"o{seed}", text(seed, 200)) for seed in range(9)]
new = [page(f"n{seed}", edited(text(seed, 200), 5)) for seed in range(9)]
from absolve.audit.matching import Site, _signature
print(found(old, new), [_signature(one) for one in Site(old).pages])
"""
    argv, folder = [sys.executable, "-c", code], Path(__file__).parent
    every = (os.environ | {"PYTHONHASHSEED": seed} for seed in ("1", "2"))
    assert len({subprocess.run(argv, cwd=folder, env=one, capture_output=True, check=True).stdout for one in every}) == 1


CHANCE = random.Random(1808)  # noqa: S311 - the same sets each time


def pair(size: int, common: float) -> tuple[set[int], set[int]]:
    """Return two sets of a size with this share of all their members in common."""
    both = round(2 * size * common / (1 + common))
    numbers = CHANCE.sample(range(1 << 32), 2 * size - both)
    return set(numbers[:size]), set(numbers[size - both :])


@pytest.mark.parametrize(("size", "common"), [(10, 0.5), (60, 0.25), (200, 0.0), (200, 0.9), (3000, 0.5)])
def test_the_share_of_equal_places_is_that_of_the_sets(size: int, common: float) -> None:
    faults = []
    for _ in range(100):
        one, other = pair(size, common)
        faults.append(share(signature(one), signature(other)) - len(one & other) / len(one | other))
    assert abs(sum(faults)) / 100 < 0.03  # on average
    assert sum(fault**2 for fault in faults) / 100 < 0.08**2


@pytest.mark.parametrize(("common", "least", "most"), [(0.43, 0.9, 1.0), (0.6, 0.97, 1.0), (0.05, 0.0, 0.1)])
def test_sets_with_much_in_common_agree_in_a_band(common: float, least: float, most: float) -> None:
    pairs = [pair(200, common) for _ in range(200)]
    found = sum(not set(bands(signature(one))).isdisjoint(bands(signature(other))) for one, other in pairs)
    assert least <= found / len(pairs) <= most
