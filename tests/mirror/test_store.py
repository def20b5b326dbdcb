"""The captures of a survey in a temporary database."""

from absolve.mirror.capture import Captured, Where
from absolve.mirror.survey import Store


def captured(url: str, **more: str) -> Captured:
    one = Captured(url, 200, "20240101000000", "text/html", Where(1, 2, 3), None, "d", 7, True, "http://h/r", "2023")
    return one._replace(**more)  # type: ignore[arg-type]  # text


def test_a_store_can_be_changed_while_it_is_read() -> None:
    store = Store()
    for number in range(1500):
        store.put(captured(f"http://h/{number:04}"))
    found = []
    for one in store:
        found.append(one)
        store.put_form(f"={one.url}", one.url)
        store.put_form(f"={one.url}", "http://other/")
    assert found == [captured(f"http://h/{number:04}") for number in range(1500)]
    assert store.form("=http://h/0007") == "http://h/0007"
    assert store.form("=none") is None
    store.remove("http://h/0007")
    assert store.get("http://h/0007") is None
    assert len(list(store)) == 1499


def test_text_of_a_header_that_is_no_utf_8_is_kept_as_far_as_it_is_text() -> None:
    store = Store()
    store.put(captured("http://h/", digest="a\udcff"))
    assert store.get("http://h/") == captured("http://h/", digest="a\ufffd")
