"""Paths of a mirror: one URL, one file; names that every file system accepts; a further URL renames little."""

import unicodedata
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.document.companions import fold
from absolve.mirror.paths import INDEX_PAGE, Placed, folder_of, is_reserved, named, refused, split
from absolve.urls.identity import normal

SEGMENTS = st.one_of(
    st.sampled_from(["a", "A", "a.html", "index.html", "con", "aux.html", "..%2f", "%00", "x%zz", "caf%C3%A9", "e%CC%81", ""]),
    st.text("aA.%2F~e:|?*\u00e9", max_size=12),
    st.text(max_size=300),
)
URLS = st.lists(
    st.builds(
        lambda scheme, host, parts, query: normal(f"{scheme}://{host}/" + "/".join(parts) + query),
        st.sampled_from(["http", "https"]),
        st.sampled_from(["h.example", "H.example:8080", "g.example"]),
        st.lists(SEGMENTS, max_size=5),
        st.sampled_from(["", "?", "?q=1", "?Q=1"]),
    ).filter(bool),
    max_size=12,
    unique=True,
)
TYPES = st.sampled_from(["text/html", "text/css", "image/png", "application/octet-stream"])


def paths(urls: list[Placed]) -> dict[str, str]:
    folders: dict[str, list[Placed]] = defaultdict(list)
    for one in urls:
        folders[folder_of(one.url)].append(one)
    counts = {folder: len(files) for folder, files in folders.items()}
    return dict(named(counts, lambda folder: folders.get(folder, ())))


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


@pytest.mark.parametrize(("url", "media_type", "path"), [
    ("http://h/", "text/html", "h/index.html"),
    ("http://h/page.php", "text/html", "h/page.php.html"),
    ("http://h/doc.htm", "text/html", "h/doc.htm"),
    ("http://h/a/b.jpeg", "image/jpeg", "h/a/b.jpeg"),
    ("http://h:8080/x.css", "text/css", "h+8080/x.css"),
    ("http://h/100%25.html", "text/html", "h/100%.html"),
])
def test_a_safe_name_keeps_its_name_and_place(url: str, media_type: str, path: str) -> None:
    assert paths([Placed(url, media_type)]) == {url: path}


def test_a_page_its_folder_and_their_index_are_five_files() -> None:
    urls = [f"http://h/{path}" for path in ("a", "a/", "a/b", "a/index.html", "a.html")]
    found = placed(urls, "text/html")
    assert len(set(found.values())) == 5
    assert found["http://h/a/"] == "h/a/index.html"
    assert found["http://h/a.html"] == "h/a.html"


def test_a_further_url_renames_only_what_it_collides_with() -> None:
    urls = ["http://h/A.html", "http://h/x/y.html", "http://h/z"]
    before, after = placed(urls, "text/html"), placed([*urls, "http://h/a.html"], "text/html")
    assert {url for url in urls if before[url] != after[url]} == {"http://h/A.html"}


PARTS = {
    "http://h/a/b?q": ("h/a", "b", "q"), "http://h/": ("h", "", None), "http://u:p@h/a?": ("h", "a", ""),
    "https://h:80/": ("h+80", "", None), "http://[::1]:81/": ("[::1]+81", "", None),
    "package:///book/a.xhtml": ("book", "a.xhtml", None), "package:///a.xhtml": ("_", "a.xhtml", None),
    "cid:a@b?c": ("cid", "a@b", "c"), "cid:a@b": ("cid", "a@b", None),
}


def test_a_url_has_a_folder_a_last_segment_and_a_query() -> None:
    assert {url: split(url) for url in PARTS} == PARTS


def test_no_document_has_the_place_of_the_map_or_of_the_entry_page() -> None:
    urls = [f"http://h/{name}" for name in ("mirror.sqlite", "MIRROR.SQLITE-wal", "mirror.html", "", "mirror.sqlite/x")]
    found = paths([Placed(url, "text/html" if url.endswith("html") else "") for url in urls])
    own = {"mirror.sqlite", "mirror.sqlite-wal", INDEX_PAGE}
    assert not own & {fold(path) for path in found.values()}
    assert not own & {fold(path.partition("/")[0]) for path in found.values()}
    assert len(set(map(fold, found.values()))) == len(urls)
    assert placed(["http://index.html/a.html"], "text/html")["http://index.html/a.html"].startswith("index.html~")


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.css", "A.css"), ("%C3%A9.css", "e%CC%81.css"), ("a.css", "a.css?q"), ("a.css/b.css", "a.css"), ("x.css/", "X.css/")],
)
def test_of_two_names_that_are_one_somewhere_one_stays_and_one_has_letters(one: str, other: str) -> None:
    urls = [f"http://h/{one}", f"http://h/{other}"]
    found = paths([Placed(url, "text/css") for url in urls])
    assert len({fold(path) for path in found.values()}) == 2
    assert "~" not in found[urls[0]]
    assert "~" in found[urls[1]]


@pytest.mark.parametrize(("urls", "folders"), [
    ([f"http://h/{'folder/' * 29}{name}/index.html" for name in ("one", "two", "ONE")], 3),
    ([f"http://h/{'d/' * 5000}{number}" for number in range(500)], 1),
])
def test_files_in_folders_that_are_too_deep_have_a_path_each(urls: list[str], folders: int) -> None:
    found = set(placed(urls, "text/html").values())
    assert (len(found), len({path.rpartition("/")[0] for path in found})) == (len(urls), folders)


def test_the_query_of_a_url_is_readable_in_its_name() -> None:
    found = placed(["http://h/a.php?id=7&x=%2F"], "text/html")["http://h/a.php?id=7&x=%2F"]
    assert found.startswith("h/a.php_id=7&x=_~")
    assert found.endswith(".html")


@pytest.mark.parametrize("url", [
    "http://h/" + "x" * 10_000,
    "http://h/" + "x" * 10_000 + "/a",
    "http://h/" + "%C3%A9" * 200,
    "http://h/" + "a/" * 5000,
    "http://h/" + "folder/" * 29 + "x" * 100,
    "http://h/" + "folder-of-some-length/" * 11 + "a.html",
    "http://" + "h" * 200 + "/a",
    "http://" + "h." * 100 + "x/" + "folder/" * 60,
    "http://h/?" + "q" * 10_000,
    "package:///" + "a/" * 300,
])
def test_a_long_or_deep_url_has_a_path_that_every_system_takes(url: str) -> None:
    sent = normal(url) or url
    urls = [sent, sent + "b", sent + "/c", "http://h/z"]
    found = paths([Placed(one, "text/html") for one in urls])
    assert len({fold(path) for path in found.values()}) == 4
    for path in found.values():
        assert len(path) <= 240
        assert all(refused(name) is None and len(name.encode()) <= 240 for name in path.split("/"))
