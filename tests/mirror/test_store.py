"""The captures of a survey: the same in memory and in a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.mirror.capture import Captured, Where
from absolve.mirror.survey import Store

URLS = st.text("abc\u00e9", max_size=3).map(lambda text: f"http://h/{text}")
OPERATIONS = st.lists(st.tuples(st.sampled_from(["put", "remove", "form"]), URLS, st.integers(0, 9)), max_size=40)


def captured(url: str, size: int = 0) -> Captured:
    return Captured(url, 200, "20240101000000", "text/html", Where(1, 2, 3), None, "d", size, True, "http://h/r", "2023")


@given(OPERATIONS, st.integers(0, 3))
def test_a_store_that_spills_has_what_one_in_memory_has(operations: list[tuple[str, str, int]], front: int) -> None:
    small, large = Store(front), Store()
    for kind, url, number in operations:
        for store in (small, large):
            if kind == "put":
                store.put(captured(url, number))
            elif kind == "remove":
                store.remove(url)
            else:
                store.put_form(f"={url}", f"{url}{number}")
        assert small.get(url) == large.get(url)
        assert small.form(f"={url}") == large.form(f"={url}")
    assert list(small) == list(large)
    assert list(small.forms()) == list(large.forms())


@pytest.mark.parametrize("front", [0, 5])
def test_a_store_can_be_changed_while_it_is_read(front: int) -> None:
    store = Store(front)
    for number in range(1500):
        store.put(captured(f"http://h/{number:04}"))
    found = []
    for one in store:
        found.append(one.url)
        store.put_form(f"={one.url}", one.url)
    assert found == [f"http://h/{number:04}" for number in range(1500)]
    assert store.form("=http://h/0007") == "http://h/0007"
    assert store.form("=none") is None
