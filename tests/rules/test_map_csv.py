"""Maps in CSV: old, new, status, exact, prefix or regex."""

import io

import openpyxl
import pytest
from moving import NEW, OLD, lead, problems, rules


@pytest.mark.parametrize(("rows", "urls"), [
    ("/a,/b", {
        "/c": None, "/a/": None, "/a.html": None, "http://other.example/a": None, "mailto:a@b": None, "/a": "/b",
        "/a?x=1": "/b?x=1", "/a#part": "/b#part", OLD + "a": "/b", "https://OLD.example:443/a": "/b",
    }),
    ("/a,/b?y=2", {"/a?x=1": "/b?y=2"}),
    ("/a,/b#its", {"/a#part": "/b#its"}),
    ("/a?id=1,/one", {"/a?id=1": "/one", "/a?id=2": None}),
    ("http://old.example/a,https://new.example/b", {OLD + "a": "/b", "https://old.example/a": "/b", NEW + "a": None}),
    ("//old.example/a,//new.example/b", {OLD + "a": "/b"}),
    ("http://sub.old.example/a,/b", {"http://sub.old.example/a": "/b"}),
    ("/a,https://other.example/x", {"/a": "https://other.example/x"}),
    ("/caf%C3%A9,/b", {"/caf\u00e9": "/b"}),
    ("/café,/b", {"/caf%c3%a9": "/b"}),
    ("/100%,/b", {"/100%25": "/b"}),
    ("/a%2Fb,/c", {"/a%2fb": "/c", "/a/b": None}),
    ("/%FF,/c", {"/%ff": "/c"}),
    ("/a,/b,302", {"/a": "/b"}),
    ("/a,,410", {"/a": 410}),
    ("/a,/b,prefix", {"/a": "/b", "/a/x/y": "/b/x/y", "/ab": None}),
    ("/a,/b/,prefix", {"/a/x": "/b/x"}),
    ("/a/,/b,prefix", {"/a/x": "/b/x"}),
    ("/,/b/,prefix", {"/x": "loop"}),
    ("/a,/b?p=,prefix", {"/a/x": "/b/x?p="}),
    ("http://old.example/a,/b,prefix", {OLD + "a/x": "/b/x"}),
    (r"/n/(\d+)/(.*),/p/\2-\1,regex", {"/n/12/x": "/p/x-12"}),
    (r"/n/(?P<id>\d+),/p/\g<id>,regex", {"/n/12": "/p/12"}),
    (r"/n/(.*),/p/\1,regex", {"/n/a%3Fb": "/p/a%3Fb", "/n/100%25": "/p/100%25"}),
    (r"https?://old\.example/(.*),https://new.example/x/\1,regex", {OLD + "a?b": "/x/a?b"}),
    (r"/n,/p,regex", {"/n/m": None}),
    ("/n/*,/p/:splat", {"/n/a/b?x=1": "/p/a/b?x=1"}),
    ("/n/*,/p/*", {"/n/a": "/p/a"}),
    ("/n/*,/p", {"/m/n/a": None}),
    ("/pri*,/p", {"/prices.html": "/p"}),
    ("http://old.example/n/*,/p/*", {OLD + "n/a": "/p/a", "/n/a": None}),
    ("/n/*,/p,exact", {"/n/a": None}),
    ("/a%2A,/b", {"/a*": "/b"}),
    ("source,target,regex\n/n/*,/p/*,0", {"/n/a": "/p/a"}),
    ("Origin,Target,Type,Format\n^(prices|faq)\\.html$,b/,301,regex", {"/faq.html": "/b/"}),
    ("Origin,Target,Type,Format\n^/faq,b/,301,regex", {"/faq": None}),
    ("source,matching,destination\nabout-us,start,/b", {"/about-us.html": "/b", "/x/about-us": None}),
    ("source,matching,destination\n.html,end,/b", {"/x.html": "/b", "/xhtml": None}),
    ("source,matching,destination\nx,contains,/b", {"/axa": "/b"}),
    ("source_host,source_path,is_regexp,target,target_statuscode,disabled\n*,/a,0,/b,307,0", {"/a": "/b"}),
    ("source_host,source_path,is_regexp,target,target_statuscode,disabled\nold.example,/a,0,/b,307,0", {
        OLD + "a": "/b", "/a": None,
    }),
    ("source_host,source_path,is_regexp,target,target_statuscode,disabled\n*,/a,0,/b,307,1\n*,/c,0,/d,301,0", {
        "/a": None,
    }),
    ("source_host,source_path,is_regexp,target,target_statuscode,disabled\n*,#^/A(.*)#i,1,/b$1,307,0", {"/ac": "/bc"}),
])
def test_a_row_moves_a_url(rows: str, urls: dict[str, str | int | None]) -> None:
    given = rules(rows, "map.csv")
    assert not problems(given)
    assert {url: lead(given, url) for url in urls} == urls


@pytest.mark.parametrize(("row", "reason"), [
    ("a.html,/b", "'a.html' is neither a URL nor a path that begins with /"),
    ("mailto:x@y,/b", "'mailto:x@y' is no http or https URL"),
    ("http://[,/b", "'http://[' is no http or https URL"),
    ("/a", "it has no target"),
    ("/a,javascript:x", "the target 'javascript:x' is neither an http URL nor a path that begins with /"),
    ("/a,http://[", "the target 'http://[' is no URL"),
    ("/a,/b\x0bc", r"the target '/b\x0bc' has a line end or another control character"),
    ("/a,/b,soon", "'soon' is neither a status nor one of exact, prefix, regex"),
    ("/a?b,/c,prefix", "a prefix has no query"),
    ("/(a,/c,regex", "the regular expression cannot be used: missing ): ^(?:/(a)$"),
    (r"/(?!a).*,/c,regex", "the regular expression cannot be used: look-ahead cannot be matched in linear time"),
    (r"/(a)\1,/c,regex", "the regular expression cannot be used: a back-reference cannot be matched in linear time"),
    (r"/(a),/\2,regex", r"the target names a group that is not there: \2"),
    (r"/(a),/\g<no>,regex", r"the target names a group that is not there: \g<no>"),
    ("/a,", "it has no target"),
    ("/a/*/b,/c", "* is read only at the end of a path"),
    ("/a?x=*,/c", "* is read only at the end of a path"),
    ("/a/*,/c,prefix", "its * is no wildcard, and no URL has it"),
    ('"/a, /b",/c', "it has more than one old URL: give each a row of its own"),
    ('"http://old.example/a;http://old.example/b",/c', "it has more than one old URL: give each a row of its own"),
    ("/a,/c /d", "it has more than one new URL: give each a row of its own"),
])
def test_a_row_that_cannot_be_read_is_named_and_the_others_hold(row: str, reason: str) -> None:
    given = rules(f"/x,/y\n{row}\n/z,/w\n", "map.csv")
    assert problems(given) == [(2, reason)]
    assert (lead(given, "/x"), lead(given, "/z")) == ("/y", "/w")


@pytest.mark.parametrize(("data", "line"), [
    (b"old,new\n/a,/b\n", 2),
    (b"From URL;To URL\r\n/a;/b\r\n", 2),
    (b"/a\t/b\n", 1),
    ("\ufeff/a,/b\n".encode(), 1),
    ("/a,/b\n".encode("utf-16"), 1),
    ("/a;/b\r\n".encode("utf-16-le"), 1),
    ("/a,/b\n".encode("utf-16-be"), 1),
    (b"# note\n\n/a,/b,,\n", 3),
    (b'"/a","/b"\r/c,/d\r', 1),
    (b'/a,/b\n"/x;y;z","/c;d;e"\n', 1),
    (b"# a;b;c;d\n/a,/b\n", 2),
    (b"\t # a;b;c;d\r/a,/b\r", 2),
])
def test_the_separator_the_header_and_the_charset_are_recognised(data: bytes, line: int) -> None:
    given = rules(data, "map.csv")
    assert lead(given, "/a") == "/b"
    assert not problems(given)
    assert given.sets[0].rules[0].line == line


@pytest.mark.parametrize("charset", ["cp932", "gbk", "euc-kr", "big5"])
def test_a_remark_in_any_charset_does_not_matter(charset: str) -> None:
    given = rules("old,new,備考\n/a,/b,金料東\n".encode(charset, "ignore"), "map.csv")
    assert (problems(given), lead(given, "/a")) == ([], "/b")


@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
def test_cells_with_tabs_in_a_text_are_a_table(charset: str) -> None:
    given = rules("New URL\tOld URL\r\n/b\t/a\r\n".encode(charset), "map.txt")
    assert (problems(given), lead(given, "/a")) == ([], "/b")


def test_a_cell_of_two_lines_has_two_urls() -> None:
    given = rules('old,new\n"/a\n/b",/c\n/d,/e\n', "map.csv")
    assert problems(given) == [(2, "it has more than one old URL: give each a row of its own")]
    assert [rule.line for rule in given.sets[0].rules] == [2, 4]


def test_bytes_that_are_no_utf8_are_a_problem_of_their_line() -> None:
    given = rules(b"/a,/b\n/caf\xe9,/c\n/d,/e\xc3\xa9\n", "map.csv")
    assert problems(given) == [(2, "it is not UTF-8: save the file as UTF-8")]
    assert lead(given, "/d") == "/e%C3%A9"


def test_a_cell_that_is_too_long_for_csv_is_a_problem_of_its_line() -> None:
    given = rules(f"/a,/b\n/{'x' * 200_000},/c\n/d,/e\n", "map.csv")
    assert [line for line, _ in problems(given)] == [2]
    assert lead(given, "/d") == "/e"


def test_a_file_that_is_there_comes_before_a_row_without_a_host() -> None:
    given = rules("/a,/b\nhttp://old.example/a,/c\n/d,/e,301!\n", "map.csv")
    assert lead(given, "/a", ["/a"]) is None
    assert lead(given, OLD + "a", ["/a"]) == "/c"
    assert lead(given, "/d", ["/d"]) == "/e"


def test_a_row_with_a_query_comes_before_one_without() -> None:
    given = rules("/a,/b\n/a?id=1,/one\n", "map.csv")
    assert (lead(given, "/a?id=1"), lead(given, "/a?id=2")) == ("/one", "/b?id=2")


def test_the_first_row_of_two_for_a_url_counts() -> None:
    assert lead(rules("/a,/b\n/a,/c\n", "map.csv"), "/a") == "/b"


def test_a_workbook_is_a_table_whatever_format_is_given_for_the_maps() -> None:
    made, data = openpyxl.Workbook(), io.BytesIO()
    made.active.append(["/a", "/b"])
    made.save(data)
    assert lead(rules(data.getvalue(), "map.xlsx", form="apache"), "/a") == "/b"
