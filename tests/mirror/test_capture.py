"""What is held of a capture: the capture that counts, and the end of redirects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.errors import UsageError
from absolve.mirror.capture import CUT, PIECE, Capture, Captured, End, Where, digits_of, latest_of, redirect_of
from absolve.mirror.survey import Store
from absolve.mirror.urls import Equivalences

URL = "http://h/a"


def at(date: str, status: int = 200, url: str = URL, location: str | None = None, **more: Any) -> Captured:
    return Captured(url, status, date, "", Where(0, 0, 0), location)._replace(**more)


def captured(*every: Captured, date: str | None = None, keep_errors: bool = False, same: str | None = None) -> Capture:
    capture = Capture(Store(), at=date, keep_errors=keep_errors, same=Equivalences.of(same))
    for one in every:
        capture.add(one)
    capture.complete()
    return capture


@pytest.mark.parametrize(("date", "every", "counts"), [
    (None, [at("20240101000000"), at("20230101000000")], "20240101000000"),
    (None, [at("20230101000000"), at("20240101000000")], "20240101000000"),
    (None, [at("20230101000000"), at("20240101000000", 404)], "20230101000000"),
    (None, [at("20230101000000"), at("20240101000000", 503)], "20230101000000"),
    (None, [at("20230101000000", 404), at("20220101000000")], "20220101000000"),
    (None, [at("20230101000000"), at("20240101000000", 302, location="http://h/b")], "20230101000000"),
    (None, [at("20230101000000", 404), at("20220101000000", 302, location="http://h/b")], "20220101000000"),
    (None, [at("", 200), at("20220101000000")], "20220101000000"),
    ("20235", [at("20230101000000"), at("20220101000000"), at("20240101000000")], "20230101000000"),
    ("2021", [at("20240101000000"), at("20220101000000"), at("20230101000000")], "20220101000000"),
    ("2021", [at("20220101000000"), at("20230101000000")], "20220101000000"),
])
def test_of_several_captures_the_newest_success_in_time_counts(
    date: str | None, every: list[Captured], counts: str
) -> None:
    found = captured(*every, date=date).store.get(URL)
    assert found is not None
    assert found.date == counts


@given(st.lists(st.tuples(st.integers(2000, 2030), st.sampled_from([200, 404])), min_size=1, unique_by=lambda one: one[0]))
def test_the_capture_that_counts_does_not_depend_on_the_order(years: list[tuple[int, int]]) -> None:
    every = [at(f"{year}0101000000", status) for year, status in years]
    assert captured(*every).store.get(URL) == captured(*reversed(every)).store.get(URL)


@pytest.mark.parametrize(("one", "other", "differs"), [
    ({"digest": "x", "size": 1}, {"digest": "y", "size": 1}, True),
    ({"digest": "x", "size": 1}, {"digest": "x", "size": 2}, False),
    ({"size": 1}, {"size": 2}, True),
    ({"size": 1}, {"digest": "x", "size": 1}, False),
])
def test_two_captures_of_one_second_contradict_each_other_where_their_contents_differ(
    one: dict[str, Any], other: dict[str, Any], *, differs: bool
) -> None:
    capture = captured(at("20240101000000", **one), at("20240101000000", **other))
    assert [found.url for found in capture.contradictions] == [URL] * differs
    assert capture.store.get(URL) == at("20240101000000", **other)


def test_at_most_a_thousand_contradictions_are_listed_and_none_without_a_date() -> None:
    assert not captured(at("", size=1), at("", size=2)).contradictions
    every = [at("20240101000000", url=f"http://h/{i // 2}", size=i) for i in range(2100)]
    assert len(captured(*every).contradictions) == 1000


@pytest.mark.parametrize(("one", "is_held"), [
    (at("", 304, is_revisit=True), True),
    (at("", 304), False),
    (at("", 404), False),
    (at("", 206), True),
    (at("", 206, lack=PIECE), False),
    (at("", 200, lack=CUT), True),
    (at("", 302), False),
    (at("", 199), False),
])
def test_a_success_is_held_and_so_is_an_unmodified_revisit(one: Captured, *, is_held: bool) -> None:
    assert (captured(one).end(URL).url == URL) is is_held
    assert captured(at("", 404), keep_errors=True).end(URL).url == URL


def to(url: str, location: str) -> Captured:
    return at("", 301, url, location)


@pytest.mark.parametrize(("every", "end"), [
    ([to(URL, "http://h/b"), at("", url="http://h/b")], End("http://h/b", None)),
    ([to(URL, "http://h/b#x"), at("", url="http://h/b")], End("http://h/b", "x")),
    ([to(URL, "http://h/b#x"), to("http://h/b", "http://h/c#y"), at("", url="http://h/c")], End("http://h/c", "y")),
    ([to(URL, "http://h/b#x"), to("http://h/b", "http://h/c"), at("", url="http://h/c")], End("http://h/c", "x")),
    ([to(URL, "http://h/b#"), at("", url="http://h/b")], End("http://h/b", "")),
    ([to(URL, "https://h/b"), at("", url="http://h/b")], End("http://h/b", None)),
    ([to(URL, "http://h/b")], End(None, None)),
    ([to(URL, "http://h/b"), to("http://h/b", URL)], End(None, None)),
    ([to(URL, URL)], End(None, None)),
    ([to(URL, "http://[")], End(None, None)),
    ([], End(None, None)),
])
def test_redirects_are_followed_to_what_is_held(every: list[Captured], end: End) -> None:
    capture = captured(*every)
    assert capture.end(URL) == end
    assert capture.end(URL) == end  # from what is known


def test_a_chain_of_ten_thousand_redirects_ends_in_linear_time() -> None:
    every = [to(f"http://h/{i}", f"http://h/{i + 1}") for i in range(10_000)]
    capture = captured(*every, at("", url="http://h/10000"))
    assert capture.end("http://h/5000") == End("http://h/10000", None)  # the others join a known chain
    assert {capture.end(one.url) for one in every} == {End("http://h/10000", None)}


@pytest.mark.parametrize(("asked", "same", "end"), [
    ("http://h/%7Ea", None, "http://h/~a"),
    ("https://h/~a", None, "http://h/~a"),
    ("http://h/~a", "none", "http://h/~a"),
    ("https://h/~a", "none", None),
    ("http://www.h/~a/", "www,slash", "http://h/~a"),
    ("http://www.h/~a/", None, None),
])
def test_a_url_that_is_not_held_has_those_that_stand_for_it(asked: str, same: str | None, end: str | None) -> None:
    assert captured(at("", url="http://h/~a"), same=same).end(asked).url == end
    assert captured(at("", url="http://h/%7ea")).end("http://h/~a").url == "http://h/%7ea"


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [(301, "/b#x", "http://h/b#x"), (308, "//i", "http://i/"), (304, "/b", None), (302, None, None), (302, "http://[", None)],
)
def test_a_location_is_resolved_against_its_url(status: int, location: str | None, target: str | None) -> None:
    assert redirect_of(URL, status, location) == target


DIGITS = {
    "2024-05-01T12:30:59Z": "20240501123059", "2024-05-01T12:30:59.123456Z": "20240501123059",
    "20240501": "20240501000000", "May": "", "": "",
}


def test_a_date_has_fourteen_digits_or_none_and_a_period_ends_with_its_last_second() -> None:
    assert {date: digits_of(date) for date in DIGITS} == DIGITS
    assert latest_of("2023-01-01") == "20230101999999"


@pytest.mark.parametrize("date", ["yesterday", "202", "2023-1-1x", "", "20230101120000000", "2020-13-45", "2023010125"])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(UsageError, match="--at needs a date"):
        latest_of(date)


def test_a_store_can_be_changed_while_it_is_read() -> None:
    store = Store()
    every = [at("20240101000000", url=f"http://h/{number:04}", digest="d") for number in range(1500)]
    for one in every:
        store.put(one)
    found = []
    for one in store:
        found.append(one)
        store.put_form(f"={one.url}", one.url)
        store.put_form(f"={one.url}", "http://other/")
    assert found == every
    assert (store.form("=http://h/0007"), store.form("=none")) == ("http://h/0007", None)
    store.remove("http://h/0007")
    assert (store.get("http://h/0007"), len(list(store))) == (None, 1499)
    store.put(at("", digest="a\udcff"))  # of a header that is no UTF-8
    assert store.get(URL) == at("", digest="a\ufffd")
