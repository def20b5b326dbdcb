"""Paths of a mirror: one URL, one file; names that every file system accepts; the file for a URL, and for an equivalent one."""

import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from absolve.core.errors import UsageError
from absolve.document.companions import fold
from absolve.mirror import lookup as lookup_
from absolve.mirror.lookup import Equivalences, Lookup, twin, wanted
from absolve.mirror.paths import (
    INDEX_PAGE,
    Placed,
    clipped,
    decoded,
    folder_of,
    is_reserved,
    letters,
    named,
    refused,
    safe,
    split,
)
from absolve.mirror.policy import Target
from absolve.urls.identity import normal, plain

SEGMENTS = st.one_of(
    st.sampled_from(["a", "A", "a.html", "index.html", "con", "aux.html", "..%2f", "%00", "x%zz", "caf%C3%A9", "e%CC%81", ""]),
    st.text("aA.%2F~e:|?*\u00e9", max_size=12), st.text(max_size=300),
)
URLS = st.lists(
    st.builds(
        lambda scheme, host, parts, query: normal(f"{scheme}://{host}/" + "/".join(parts) + query), st.sampled_from(["http", "https"]),
        st.sampled_from(["h.example", "H.example:8080", "g.example"]), st.lists(SEGMENTS, max_size=5), st.sampled_from(["", "?", "?q=1", "?Q=1"]),
    ).filter(bool),
    max_size=12, unique=True,
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
    ("http://h/", "text/html", "h/index.html"), ("http://h/page.php", "text/html", "h/page.php.html"), ("http://h/doc.htm", "text/html", "h/doc.htm"),
    ("http://h/a/b.jpeg", "image/jpeg", "h/a/b.jpeg"), ("http://h:8080/x.css", "text/css", "h+8080/x.css"),
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
    "http://h/a/b?q": ("h/a", "b", "q"), "http://h/": ("h", "", None), "http://u:p@h/a?": ("h", "a", ""), "https://h:80/": ("h+80", "", None),
    "http://[::1]:81/": ("[::1]+81", "", None), "package:///book/a.xhtml": ("book", "a.xhtml", None), "package:///a.xhtml": ("_", "a.xhtml", None),
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
    "http://h/" + "x" * 10_000, "http://h/" + "x" * 10_000 + "/a", "http://h/" + "%C3%A9" * 200, "http://h/" + "a/" * 5000,
    "http://h/" + "folder/" * 29 + "x" * 100, "http://h/" + "folder-of-some-length/" * 11 + "a.html", "http://" + "h" * 200 + "/a",
    "http://" + "h." * 100 + "x/" + "folder/" * 60, "http://h/?" + "q" * 10_000, "package:///" + "a/" * 300,
])
def test_a_long_or_deep_url_has_a_path_that_every_system_takes(url: str) -> None:
    sent = normal(url) or url
    urls = [sent, sent + "b", sent + "/c", "http://h/z"]
    found = paths([Placed(one, "text/html") for one in urls])
    assert len({fold(path) for path in found.values()}) == 4
    for path in found.values():
        assert len(path) <= 240
        assert all(refused(name) is None and len(name.encode()) <= 240 for name in path.split("/"))


# --- names that Linux, macOS and Windows accept -----------------------------------------------------------------------

READABLE = {
    "a.html": "a.html", "caf%C3%A9": "caf\u00e9", "e%CC%81": "\u00e9", "%FF": "%FF", "a%2Fb": "a_b", "a%5Cb%3A": "a_b_",
    "..": "__", "a.": "a_", "a......": "a___", "%20a%20": "_a_", "%00": "_", "a%E2%80%AEb": "a_b", "a%C2%A0b": "a_b",
    "con": "_con", "AUX.html": "_AUX.html", "lpt1.": "lpt1_", "progra~1": "_progra~1", "0~0": "______0~0",
    ".htaccess": "_.htaccess", "-rf.html": "_-rf.html", "--checkpoint=1": "_--checkpoint=1",
    "%2De%20sh%20x": "_-e sh x", ".Git": "_.Git", ".absolve-x": "_.absolve-x", ".x": "_.x",
    ".well-known": ".well-known",
    "x.%7B3050F4D8-98B5-11CF-BB82-00AA00BDCE0B%7D": "x.{3050F4D8-98B5-11CF-BB82-00AA00BDCE0B}_", "": "_",
}


def test_a_segment_gives_a_name_that_stays_readable() -> None:
    assert {segment: safe(segment).text for segment in READABLE} == READABLE
    assert all(safe(segment).is_exact is (name == decoded(segment)) for segment, name in READABLE.items())


@given(st.text(max_size=40))
@example("0~0")
@example("-")
def test_no_name_is_refused_or_reserved(segment: str) -> None:
    name = safe(segment).text
    assert refused(name) is None
    assert not is_reserved(name)
    assert name == ".well-known" or not name.startswith((".", "-"))
    assert safe(segment) == safe(segment)


REFUSED = {
    "a:b": "a character that Windows forbids", "a\x1f": "a character that Windows forbids", "a.": "a dot or a blank at the end",
    "a ": "a dot or a blank at the end", "nul.txt": "the name of a device on Windows", "x" * 256: "more than 255 bytes",
    "\u00e9" * 128: "more than 255 bytes", "x" * 255: None, "console": None,
}


def test_a_name_is_refused_for_a_reason() -> None:
    assert {name: refused(name) for name in REFUSED} == REFUSED


@given(st.text(max_size=60), st.integers(-3, 60))
def test_a_clipped_text_has_no_more_bytes_than_asked(text: str, most: int) -> None:
    found = clipped(text, most)
    assert len(found.encode()) <= max(most, 1)
    assert found == "_" or text.startswith(found)


def test_letters_of_a_digest_are_the_start_of_more_of_them() -> None:
    assert letters("http://h/", 4).startswith(letters("http://h/"))
    assert len(letters("http://h/")) == 8
    assert letters("\ud800", 60).isalnum()


# --- URLs as browsers send them, and equivalent ones ------------------------------------------------------------------

PARTS_URLS = st.text("aA%7e2Ff~/&=?", max_size=20)


@pytest.mark.parametrize(("url", "line"), [
    ("http://h.example/a b/\u00e9\u202e?\u00fc='#f", "http://h.example/a%20b/%C3%A9%E2%80%AE?%C3%BC=%27"),
    ("https://u:p%40@B\u00fccher.example:8080\\x\r\ny\x1bz", "https://xn--bcher-kva.example:8080/xy%1Bz"),
    ("http://user@8.8.8.8/@", "http://8.8.8.8/@"), ("http://[2606:4700::1111]:81/", "http://[2606:4700::1111]:81/"),
    ("http://local.example/internal", "http://local.example/internal"), ("http://localhost.example.com/", "http://localhost.example.com/"),
])
def test_a_crawler_gets_one_line_of_printable_ascii_without_user_information(url: str, line: str) -> None:
    assert wanted(url) == line == wanted(line)


@pytest.mark.parametrize(
    "host",
    "localhost LOCALHOST. a.localhost nas.local printer.lan x.internal router.home.arpa \uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54"
    " jenkins router. a.invalid kubernetes.default.svc"
    " 127.0.0.1 127.1 127.9.9.9. 2130706433 0x7f.1 0177.0.0.1 0x7f000001 %31%32%37.0.0.1 0 0.0.0.0 10.1.2.3 172.16.0.1"
    " 192.168.1.1:8080 0xc0a80101 169.254.169.254 100.64.0.1 100.127.255.254 198.18.0.1 224.0.0.1 255.255.255.255 u:p@10.0.0.1"
    " [::1] [::] [0:0::1]:80 [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [::ffff:127.0.0.1] [::ffff:a00:1]"
    " [::127.0.0.1] [64:ff9b::10.0.0.1] [2002:7f00:1::] [2001:db8::1]".split(),
)
def test_a_crawler_is_sent_to_no_private_network(host: str) -> None:
    assert wanted(f"http://{host}/x") is None


def test_a_crawler_gets_only_urls_of_the_web() -> None:
    for url in ("ftp://h/", "file:///etc/passwd", "data:,x", "javascript:x", "http://a b/", "http:///", "x", ""):
        assert wanted(url) is None


TWINS = {"http://h": "https://h", "https://h": "http://h", "ftp://h": None}


def test_http_and_https_are_twins() -> None:
    assert {url: twin(url) for url in TWINS} == TWINS


SAME = {None: Equivalences(), "": Equivalences(), "none": Equivalences(default=False), "case, www": Equivalences(more=("www", "case"))}


def test_same_takes_words_in_any_order_and_refuses_an_unknown_one() -> None:
    assert {words: Equivalences.from_words(words) for words in SAME} == SAME
    for words in ("host", "none,www", "www,"):
        with pytest.raises(UsageError, match="--same takes www, slash, query-order, case, buster or none"):
            Equivalences.from_words(words)


@pytest.mark.parametrize(("words", "one", "other", "are_same"), [
    ("www", "http://www.h/a", "https://h/a", True), ("www", "http://www.h/a", "http://h/A", False), ("slash", "http://h/a/", "http://h/a", True),
    ("slash", "http://h/a/?q", "http://h/a?q", True), ("query-order", "http://h/?b=1&a=2", "http://h/?a=2&b=1", True),
    ("query-order", "http://h/a/", "http://h/a", False), ("case", "http://h/A?B", "http://h/a?b", True),
    ("www,slash,query-order,case", "http://www.h/A/?b&a", "http://h/a?A&B", True),
    ("www,slash,query-order,case", "http://h/a", "http://h/a?", False),
])
def test_urls_are_the_same_by_the_words_that_say_so(words: str, one: str, other: str, *, are_same: bool) -> None:
    same = Equivalences.from_words(words)
    assert (same.form(one) == same.form(other)) is are_same


def test_the_exact_escapes_count_before_the_scheme_and_what_same_adds_comes_last() -> None:
    assert list(Equivalences.from_words("www").others("http://www.h/%7E")) == [
        ("unescaped", "http://www.h/~"), ("scheme", "https://www.h/%7E"), ("scheme", "https://www.h/~"), ("www", "=http://h/~"),
        ("session", "~//www.h/%7E"),
    ]


MD5 = "0123456789abcdef" * 2
SESSIONS = [  # the captured URLs, a link, and the one that it leads to
    (["/p;jsessionid=A?x=1"], "/p;jsessionid=B?x=1", 0), (["/p;jsessionid=A", "/p;jsessionid=B"], "/p;jsessionid=C", None),
    (["/p;jsessionid=A", "/p"], "/p;jsessionid=C", 1), (["/p?a&PHPSESSID=1"], "/p?a", 0), (["/p?a"], "/p?osCsid=1&a", 0),
    ([f"/p?sid={MD5}"], f"/p?sid={MD5[::-1]}", 0), (["/p?sid=7"], "/p?sid=8", None), (["/p?s=7"], "/p?v=7", None),
    (["/(S(abcdefghijklmnopqrstuvwx))/p"], "/p", 0), (["/p?a;jsessionid=A"], "/p?a;jsessionid=B", None),
    (["/s.css?v=1"], "/s.css?v=2", None), *(([f"/p?{name}=1"], "/p", 0) for name in ("ASPSESSIONIDQQ", "ASP.NET_SessionId", "CFID", "CFTOKEN", "XTCsid", "zenid")),
]
BUSTERS = [
    (["/s.css?v=1"], "/s.css?v=2", 0), (["/s.css"], "/s.css?1400000000", 0), (["/s.css?v=1", "/s.css?v=2"], "/s.css?v=3", None),
    (["/p?a=1&_=2&utm_source=x"], "/p?a=1&fbclid=3", 0), (["/p?page=1"], "/p?page=2", None), (["/p;jsessionid=A?_=1"], "/p?_=2", 0),
]


@pytest.mark.parametrize(("words", "held", "asked", "found"), [(None, *row) for row in SESSIONS] + [("buster", *row) for row in BUSTERS])
@pytest.mark.parametrize("small", [True, False])
def test_a_url_without_its_session_leads_to_the_only_capture(
    words: str | None, held: list[str], asked: str, found: int | None, monkeypatch: pytest.MonkeyPatch, *, small: bool,
) -> None:
    if not small:
        monkeypatch.setattr(lookup_, "_SMALL", 0)
    same = Equivalences.from_words(words)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, redirect TEXT)")
    db.execute("CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID")
    db.executemany("INSERT INTO resources VALUES (?, ?, NULL)", [(f"http://h{one}", str(i)) for i, one in enumerate(held)])
    db.executemany(lookup_.ADD_FORM, [(form, f"http://h{one}") for one in held for form in same.forms(f"http://h{one}")])
    finished = [True, False] if small else [False]
    for is_finished in finished:
        find = Lookup(db, same, is_normal=True, is_finished=is_finished)
        assert (find(f"https://h{asked}") or Target("None")).path == str(found)


@pytest.mark.parametrize(("one", "other", "are_same"), [
    ("http://h/a:b", "http://h/a%3ab", True), ("http://h/a:b", "https://h/a%3Ab", True), ("package:///p/a%5B1%5D", "package:///p/a[1]", True),
    ("http://h/%FF:", "http://h/%ff%3a", True), ("http://h/\udc80:", "http://h/\udc80%3a", True), ("http://h/a%3Fb", "http://h/a?b", False),
    ("http://h/a%2Fb", "http://h/a/b", False), ("http://h/%253A", "http://h/%3A", False), ("http://h/:?a:b", "http://h/:?a%3Ab", False),
])
def test_every_spelling_of_the_escapes_in_its_path_names_a_file_and_no_other_document(one: str, other: str, *, are_same: bool) -> None:
    same = Equivalences()
    asked = {other, *(form for _, form in same.others(other))}
    assert bool({one, *same.forms(one, is_file=True)} & asked) is are_same
    assert not {one, *same.forms(one)} & asked


def test_nothing_stands_for_a_url_with_same_none() -> None:
    same = Equivalences.from_words("none")
    assert [*same.others("http://h/%3A"), *same.forms("http://h/%3A", is_file=True)] == []


@given(PARTS_URLS, st.sampled_from([None, "case", "www,slash,query-order"]))
def test_a_held_url_is_found_by_any_spelling_of_its_escapes(part: str, words: str | None) -> None:
    same = Equivalences.from_words(words)
    held, asked = f"http://h/{part}", plain(f"http://h/{part}")
    assert {held, *same.forms(held)} & {asked, *(form for _, form in same.others(asked))}


# --- the file for a URL, by the map, in memory or row by row ----------------------------------------------------------

ROWS = [
    ("http://h/~a", "h/a.html", None), ("http://h/%7ee", "h/e.html", None), ("http://www.h/w", "www.h/w.html", None),
    ("http://h/to", None, "http://h/~a#x"), ("http://h/plain", None, "http://h/~a"), ("http://h/lost", None, "http://h/gone"),
    ("http://h/404", None, None), ("cid:a@b", "h/c.png", None),
]
FORMS = [("http://h/~e", "http://h/%7ee"), ("=http://h/w", "http://www.h/w")]


@pytest.fixture(params=["small", "large"])
def db(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Return a map that is kept in memory, and one that is too large for that."""
    if request.param == "large":
        monkeypatch.setattr(lookup_, "_SMALL", 0)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, redirect TEXT)")
        db.executemany("INSERT INTO resources VALUES (?, ?, ?)", ROWS)
        db.execute("CREATE TABLE forms (form TEXT PRIMARY KEY, url TEXT)")
        db.executemany("INSERT INTO forms VALUES (?, ?)", FORMS)
        yield db


TARGETS: dict[str, Target | None] = {
    "http://h/~a": Target("h/a.html"), "http://h/to": Target("h/a.html", "x"), "http://h/plain": Target("h/a.html"), "http://h/lost": None,
    "http://h/404": None, "http://h/none": None, "CID:a%40b": Target("h/c.png"), "cid:none": None, "https://h/%7Ea": Target("h/a.html"),
    "http://h/~e": Target("h/e.html"), "http://h/w": Target("www.h/w.html"), "http://h/W": None,
}


def test_a_url_has_its_file_or_that_of_one_that_stands_for_it(db: sqlite3.Connection) -> None:
    found = Lookup(db, Equivalences.from_words("www"), is_normal=True)
    for _ in range(2):
        assert {url: found(url) for url in TARGETS} == TARGETS


def test_what_stood_for_what_is_noted_each_time(db: sqlite3.Connection) -> None:
    found = Lookup(db, Equivalences(), is_normal=True)
    for _ in range(2):
        found.used.clear()
        found("http://h/~a")
        found("https://h/~a")
        assert list(found.used.values()) == [("https://h/~a", "http://h/~a", "scheme")]


def test_the_urls_of_another_profile_are_made_normal(db: sqlite3.Connection) -> None:
    assert Lookup(db, Equivalences(), is_normal=False)("HTTP://H:80/./~a") == Target("h/a.html")
    assert Lookup(db, Equivalences(), is_normal=False)("http://[") is None
    assert Lookup(db, Equivalences(), is_normal=True)("HTTP://H:80/./~a") is None


def test_the_forms_of_a_finished_map_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE resources (url TEXT PRIMARY KEY, path TEXT, redirect TEXT)")
        db.executemany("INSERT INTO resources VALUES (?, ?, ?)", ROWS)
        same = Equivalences.from_words("www")
        assert Lookup(db, same, is_normal=True, is_finished=True)("http://h/w") == Target("www.h/w.html")
        monkeypatch.setattr(lookup_, "_SMALL", 0)
        assert Lookup(db, same, is_normal=True, is_finished=True)("http://h/none") is None


def test_a_full_cache_is_emptied_and_what_is_long_is_not_kept(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup_, "_MOST_KNOWN", 2)
    found = Lookup(db, Equivalences(), is_normal=True)
    asked = ["https://h/~a", "http://h/1", "http://h/2", "http://h/" + "x" * 3000, "https://h/~a"]
    assert [found(url) is not None for url in asked] == [True, False, False, False, True]
    assert list(found.used) == ["https://h/~a"]
