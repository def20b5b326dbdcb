"""--sort: rows in the order of some columns, in bounded memory."""

import random
import tracemalloc

import pytest

from absolve.core.errors import UsageError
from absolve.run import order
from absolve.run.order import Cut, Key, Order, parsed

COLUMNS = ("name", "line", "problems")


def rows(number: int) -> list[list[object]]:
    chance = random.Random(number)  # noqa: S311 - any order
    names = ["", "a", "b", "é", "\udcff"]
    return [[chance.choice(names), chance.choice([None, *range(5)]), chance.choice([[], ["x"], ["x", "y"]])] for _ in range(number)]


def ordered(given: list[list[object]], keys: tuple[Key, ...]) -> list[list[object]]:
    """Return the rows sorted by one stable sort for each key, the last one first."""
    for key in reversed(keys):
        place = COLUMNS.index(key.column)
        full = [row for row in given if row[place] or row[place] == 0]
        empty = [row for row in given if not (row[place] or row[place] == 0)]
        given = sorted(full, key=lambda row: row[place], reverse=key.down) + empty  # type: ignore[arg-type,return-value]
    return given


@pytest.mark.parametrize("limit", [None, 1, 700, 5000])
@pytest.mark.parametrize("text", ["line", "name:desc", "problems,line:desc", "name,line,problems:desc"])
def test_merged_stretches_are_what_one_stable_sort_gives(monkeypatch: pytest.MonkeyPatch, text: str, limit: int | None) -> None:
    monkeypatch.setattr(order, "AT_ONCE", 500)
    keys = parsed(text, COLUMNS, COLUMNS)
    given = rows(3333)
    sorter = Order(keys, COLUMNS, limit)
    for start in range(0, len(given), 70):
        sorter.add(given[start : start + 70])
    found = [row for chunk in sorter.sorted() for row in chunk]
    sorter.close()
    assert [row[1:] for row in found] == [row[1:] for row in ordered(given, keys)[:limit]]
    assert found == ordered(given, keys)[:limit]


def test_memory_is_bounded_by_rows_and_by_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "AT_ONCE", 1000)
    monkeypatch.setattr(order, "TEXT", 1 << 20)
    sorter = Order((Key("name"),), COLUMNS)
    tracemalloc.start()
    for number in range(200):
        sorter.add([[f"{number % 37}{'x' * 50_000}", 1, []]])
    number = sum(len(chunk) for chunk in sorter.sorted())
    sorter.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert number == 200
    assert peak < 200 * 50_000 / 2


def test_a_cut_knows_whether_there_is_more() -> None:
    cut = Cut(3)
    assert cut.of([[1], [2]]) == [[1], [2]]
    assert (cut.of([[3]]), cut.more) == ([[3]], False)
    assert (cut.of([[4]]), cut.more, cut.number) == ([], True, 3)


@pytest.mark.parametrize(("text", "message"), [("x", "unknown column"), ("line:up", "COLUMN:desc"), ("url", "not listed"), ("", "unknown column")])
def test_a_wrong_key_is_a_usage_error(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parsed(text, COLUMNS, (*COLUMNS, "url"))
