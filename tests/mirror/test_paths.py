"""Paths of a mirror: one URL, one file; names that every file system accepts; a further URL renames little."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.mirror.names import fold, is_reserved, refused
from absolve.mirror.paths import Placed, paths
from absolve.mirror.urls import key

SEGMENTS = st.one_of(
    st.sampled_from(["a", "A", "a.html", "index.html", "con", "aux.html", "..%2f", "%00", "x%zz", "caf%C3%A9", "e%CC%81", ""]),
    st.text("aA.%2F~e:|?*\u00e9", max_size=12),
    st.text(max_size=300),
)
URLS = st.lists(
    st.builds(
        lambda scheme, host, parts, query: key(f"{scheme}://{host}/" + "/".join(parts) + query),
        st.sampled_from(["http", "https"]),
        st.sampled_from(["h.example", "H.example:8080", "g.example"]),
        st.lists(SEGMENTS, max_size=5),
        st.sampled_from(["", "?", "?q=1", "?Q=1"]),
    ).filter(bool),
    max_size=12,
    unique=True,
)
TYPES = st.sampled_from(["text/html", "text/css", "image/png", "application/octet-stream"])


def placed(urls: list[str], media_type: str) -> dict[str, str]:
    return paths([Placed(url, media_type) for url in urls])


@given(URLS, TYPES)
def test_two_urls_never_have_one_file_on_any_file_system(urls: list[str], media_type: str) -> None:
    found = placed(urls, media_type)
    assert set(found) == set(urls)
    files = {fold(path) for path in found.values()}
    assert len(files) == len(urls)
    folders = {fold(path)[: at] for path in found.values() for at, letter in enumerate(fold(path)) if letter == "/"}
    assert not files & folders


@given(URLS, TYPES)
def test_every_name_is_one_on_linux_macos_and_windows(urls: list[str], media_type: str) -> None:
    for path in placed(urls, media_type).values():
        assert len(path) <= 240
        for name in path.split("/"):
            assert refused(name) is None
            assert not is_reserved(name)
            assert name not in {"", ".", ".."}
            assert len(name.encode()) <= 240
            assert unicodedata.normalize("NFC", name) == name


@given(URLS, TYPES)
def test_the_paths_do_not_depend_on_the_order_of_the_urls(urls: list[str], media_type: str) -> None:
    shuffled = sorted(urls, reverse=True)
    assert placed(urls, media_type) == placed(shuffled, media_type)


@pytest.mark.parametrize(
    ("url", "media_type", "path"),
    [
        ("http://h/", "text/html", "h/index.html"),
        ("http://h/page.php", "text/html", "h/page.php.html"),
        ("http://h/doc.htm", "text/html", "h/doc.htm"),
        ("http://h/a/b.jpeg", "image/jpeg", "h/a/b.jpeg"),
        ("http://h:8080/x.css", "text/css", "h+8080/x.css"),
        ("http://h/100%25.html", "text/html", "h/100%.html"),
    ],
)
def test_a_safe_name_keeps_its_name_and_place(url: str, media_type: str, path: str) -> None:
    assert paths([Placed(url, media_type)]) == {url: path}


def test_a_page_its_folder_and_their_index_are_five_files() -> None:
    urls = [f"http://h/{path}" for path in ("a", "a/", "a/b", "a/index.html", "a.html")]
    found = placed(urls, "text/html")
    assert len(set(found.values())) == 5
    assert found["http://h/a/index.html"] == "h/a/index.html"
    assert found["http://h/a.html"] == "h/a.html"


def test_a_further_url_renames_only_what_it_collides_with() -> None:
    urls = ["http://h/A.html", "http://h/x/y.html", "http://h/z"]
    before, after = placed(urls, "text/html"), placed([*urls, "http://h/a.html"], "text/html")
    assert {url for url in urls if before[url] != after[url]} == {"http://h/A.html"}
