"""The entry page of a mirror."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_map import finished, row

from absolve.mirror import index
from absolve.mirror.index import MARK, page
from absolve.mirror.map import Finished, Working
from absolve.mirror.paths import Placed, folder_of


@pytest.fixture
def working() -> Iterator[Working]:
    made = Working(Path(":memory:"))
    made.create({})
    yield made
    made.close()


def shown(working: Working, *every: Finished) -> str:
    rows = [row(one.url)._replace(folder=folder_of(Placed(one.url, ""), "host")) for one in every]
    working.plan(rows, [], ["c"], "host")
    paths = dict(working.rows("SELECT url, path FROM plan"))
    for one in every:
        working.finish(one._replace(path=paths[one.url]))
    return page(working).decode()


def test_it_has_each_page_by_host_with_a_link_that_works_from_a_file(working: Working) -> None:
    html = shown(
        working,
        finished("http://h/b", "h/b.html", linked=("i/100%#a.html",)),
        finished("http://i/100%25%23a", "i/100%#a.html", title="Other"),
    )
    assert MARK.decode() in html
    assert re.findall("<h1>(.*)</h1>|<h2>(.*)</h2>", html) == [("Mirror of 2 hosts", ""), ("", "h"), ("", "i")]
    assert 'href="h/b.html"><bdi>Title</bdi>' in html
    assert 'href="i/100%25%23a.html"><bdi>Other</bdi></a>' in html
    assert "<small><bdi>http://i/100%25%23a</bdi></small></td><td>1</td>" in html
    assert not re.findall('(?:href|src)="(?:/|[a-z]+:)', html)


def test_the_start_page_is_first_and_then_the_pages_to_which_most_link(working: Working) -> None:
    html = shown(
        working,
        finished("http://h/a", "h/a.html", title="Few"),
        finished("http://h/b", "h/b.html", title="Many", linked=("h/c.html",)),
        finished("http://h/c", "h/c.html", title="More"),
        finished("http://h/", "h/index.html", title="Start"),
    )
    assert re.findall(r"<bdi>(Few|Many|More|Start)</bdi>", html) == ["Start", "More", "Few", "Many"]


def test_what_a_document_says_is_text_and_cut(working: Working) -> None:
    html = shown(working, finished("http://h/", "h/index.html", title="<script>\u202e" + "x" * 500))
    assert "<script" not in html
    assert f"<bdi>&lt;script&gt;\u202e{'x' * 191}...</bdi>" in html


def test_no_control_character_of_a_document_is_in_the_page(working: Working) -> None:
    html = shown(working, finished("http://h/", "h/index.html", title="a\x1b[2J\0\x9b"), finished("http://h%1b/", "i/index.html"))
    assert re.findall(r"[\0-\x09\x0b-\x1f\x7f-\x9f]", html) == []
    assert "<bdi>a\ufffd[2J\ufffd\ufffd</bdi>" in html


def test_a_page_without_a_title_is_shown_by_its_url(working: Working) -> None:
    assert '"><bdi>http://h/</bdi></a>' in shown(working, finished("http://h/", "h/index.html", title=""))


def test_what_is_no_page_is_counted_and_not_listed(working: Working) -> None:
    html = shown(working, finished("http://h/i", "h/i.png", title=None), finished("http://h/", "h/index.html"))
    assert "2 documents, 0 URLs missing" in html
    assert "h/i.png" not in html
    assert "<h1>Mirror of h</h1>" in html


def test_what_is_missing_is_listed_by_the_number_of_pages(working: Working) -> None:
    one, two = ("http://x/1", "image"), ("http://x/2", "script")
    html = shown(
        working,
        finished("http://h/a", "h/a.html", missing=(one, two)),
        finished("http://h/b", "h/b.html", missing=(two,)),
    )
    rows = re.findall(r"<bdi>(http://x/.)</bdi></td><td>(\w+)</td><td>(\d)</td>", html)
    assert rows == [("http://x/2", "script", "2"), ("http://x/1", "image", "1")]
    assert "2 URLs missing" in html


def test_long_lists_are_cut_and_say_so(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PAGES", "_HOSTS", "_MISSING"):
        monkeypatch.setattr(index, name, 1)
    html = shown(
        working,
        finished("http://h/a", "h/a.html", missing=(("http://x/1", "image"), ("http://x/2", "image"))),
        finished("http://h/b", "h/b.html"),
        finished("http://i/", "i/index.html"),
    )
    assert "<p>1 more pages.</p>" in html
    assert "<p>1 more hosts.</p>" in html
    assert "<p>1 more.</p>" in html


def test_a_mirror_without_pages_has_an_entry_page_too(working: Working) -> None:
    assert "0 documents, 0 URLs missing" in shown(working)


def test_a_host_with_special_characters_lists_its_own_pages_only(working: Working) -> None:
    html = shown(working, finished("http://[::1]/", "h/index.html", title="Six"), finished("http://a/", "h/b.html"))
    assert html.count("<bdi>Six</bdi>") == 1
