"""What is held of a capture: the capture that counts, the end of redirects, and the payload of a revisit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.errors import Diagnostic, UsageError
from absolve.mirror.lookup import Equivalences
from absolve.mirror.payloads import CUT, PIECE, Captured, Posted, Where, digits_of, latest_of, redirect_of
from absolve.mirror.survey import Choice, End, Survey

URL = "http://h/a"


def at(date: str, status: int = 200, url: str = URL, location: str | None = None, **more: Any) -> Captured:
    return Captured(url, status, date, "", Where(0, 0, 0), location)._replace(**more)


def captured(
    *every: Captured | Posted, date: str | None = None, keep_errors: bool = False, same: str | None = None, found: list[Diagnostic] | None = None,
) -> Survey:
    choice = Choice(date, keep_errors, Equivalences.from_words(same))
    return Survey(every, choice, (found if found is not None else []).append)


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
def test_of_several_captures_the_newest_success_in_time_counts(date: str | None, every: list[Captured], counts: str) -> None:
    found = captured(*every, date=date).get(URL)
    assert found is not None
    assert found.date == counts


@given(st.lists(st.tuples(st.integers(2000, 2030), st.sampled_from([200, 404])), min_size=1, unique_by=lambda one: one[0]))
def test_the_capture_that_counts_does_not_depend_on_the_order(years: list[tuple[int, int]]) -> None:
    every = [at(f"{year}0101000000", status) for year, status in years]
    assert captured(*every).get(URL) == captured(*reversed(every)).get(URL)


@pytest.mark.parametrize(("one", "other", "differs"), [
    ({"digest": "x", "size": 1}, {"digest": "y", "size": 1}, True), ({"digest": "x", "size": 1}, {"digest": "x", "size": 2}, False),
    ({"size": 1}, {"size": 2}, True), ({"size": 1}, {"digest": "x", "size": 1}, False),
])
def test_two_captures_of_one_second_contradict_each_other_where_their_contents_differ(
    one: dict[str, Any], other: dict[str, Any], *, differs: bool
) -> None:
    found: list[Diagnostic] = []
    capture = captured(at("20240101000000", **one), at("20240101000000", **other), found=found)
    assert [(one.code, one.name) for one in found] == [("contradiction", URL)] * differs
    assert capture.get(URL) == at("20240101000000", **other)


def test_at_most_a_thousand_contradictions_are_listed_and_none_without_a_date() -> None:
    found: list[Diagnostic] = []
    captured(at("", size=1), at("", size=2), found=found)
    assert not found
    captured(*(at("20240101000000", url=f"http://h/{i // 2}", size=i) for i in range(2100)), found=found)
    assert len(found) == 1000


@pytest.mark.parametrize(("one", "is_held"), [
    (at("", 304, is_revisit=True, digest="d"), True), (at("", 304), False), (at("", 404), False), (at("", 206), True),
    (at("", 206, lack=PIECE), False), (at("", 200, lack=CUT), True), (at("", 302), False), (at("", 199), False),
])
def test_a_success_is_held_and_so_is_an_unmodified_revisit(one: Captured, *, is_held: bool) -> None:
    assert (captured(one, at("", url="http://h/o", digest="d")).end(URL).url == URL) is is_held
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
    ([to(URL, "http://h/b")], End(None, None)), ([to(URL, "http://h/b"), to("http://h/b", URL)], End(None, None)), ([to(URL, URL)], End(None, None)),
    ([to(URL, "http://[")], End(None, None)), ([], End(None, None)),
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
    ("http://h/%7Ea", None, "http://h/~a"), ("https://h/~a", None, "http://h/~a"), ("http://h/~a", "none", "http://h/~a"),
    ("https://h/~a", "none", None), ("http://www.h/~a/", "www,slash", "http://h/~a"), ("http://www.h/~a/", None, None),
])
def test_a_url_that_is_not_held_has_those_that_stand_for_it(asked: str, same: str | None, end: str | None) -> None:
    assert captured(at("", url="http://h/~a"), same=same).end(asked).url == end
    assert captured(at("", url="http://h/%7ea")).end("http://h/~a").url == "http://h/%7ea"
    other = captured(to("http://h/c?PHPSESSID=1", URL), at(""))
    assert other.end("http://h/c?PHPSESSID=2").url is None  # another session may be led elsewhere


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [(301, "/b#x", "http://h/b#x"), (308, "//i", "http://i/"), (304, "/b", None), (302, None, None), (302, "http://[", None)],
)
def test_a_location_is_resolved_against_its_url(status: int, location: str | None, target: str | None) -> None:
    assert redirect_of(URL, status, location) == target


DIGITS = {"2024-05-01T12:30:59Z": "20240501123059", "2024-05-01T12:30:59.123456Z": "20240501123059", "20240501": "20240501000000", "May": "", "": ""}


def test_a_date_has_fourteen_digits_or_none_and_a_period_ends_with_its_last_second() -> None:
    assert {date: digits_of(date) for date in DIGITS} == DIGITS
    assert latest_of("2023-01-01") == "20230101999999"


@pytest.mark.parametrize("date", ["yesterday", "202", "2023-1-1x", "", "20230101120000000", "2020-13-45", "2023010125"])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(UsageError, match="--at needs a date"):
        latest_of(date)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert captured(at("", digest="a\udcff")).get(URL) == at("", digest="a\ufffd")  # of a header that is no UTF-8


def test_an_answer_to_a_post_is_no_capture_wherever_its_request_is() -> None:
    every: list[Captured | Posted] = [at("2023", ids="<1>"), at("2024", ids="<2> <3>"), Posted(frozenset({"<3>", "<4>"}))]
    assert captured(*every).get(URL) == every[0]
    assert captured(*every[1:]).get(URL) is None


@pytest.mark.parametrize(("date", "counts"), [("0", "1"), ("1", "1"), ("2", "1"), ("4", "3"), ("9", "5")])
@pytest.mark.parametrize("more", [{"digest": "d"}, {"refers_to": "http://h/o"}])
def test_a_revisit_has_the_newest_payload_that_is_not_later(date: str, counts: str, more: dict[str, Any]) -> None:
    origins = [at(one, url="http://h/o", digest="d")._replace(where=Where(0, int(one), 0)) for one in "315"]
    revisit = at(date, is_revisit=True, **more)
    held = {one.url: one.where.offset for one, is_held in captured(revisit, *origins).rows() if is_held}
    assert held == {URL: int(counts), "http://h/o": 5}


def test_a_revisit_without_its_payload_gives_way_to_another_capture() -> None:
    found: list[Diagnostic] = []
    every = [at("2023", 302, location="http://h/b"), at("2024", is_revisit=True), at("2022", is_revisit=True)]
    assert captured(*every, found=found).get(URL) == every[0]
    assert [one.code for one in found] == ["no-payload"]


def test_twenty_thousand_revisits_of_one_digest_take_linear_time() -> None:
    every = [at("2024", url=f"http://h/{i}", digest="d", is_revisit=i % 2 == 1) for i in range(20_000)]
    assert sum(is_held for _, is_held in captured(*every).rows()) == 20_000
