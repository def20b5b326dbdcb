"""Filters of `absolve links` and `absolve rewrite`, queries, `--remap` and `--unwrap`."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from command_runner import Runner
from pyarrow import parquet

from tests.shapes import captures

URL = "--url=http://h/d/"
LINKS = b"<a href=x>1</a><img src=i.png><a href=http://g/>2</a><a href=x>3</a>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of two pages with links to the same URLs."""
    (tmp_path / "site").mkdir()
    for name in ("a.html", "b.html"):
        (tmp_path / "site" / name).write_bytes(LINKS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "site"


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("options", "found"), [
    ([], ["x", "i.png", "http://g/", "x"]),
    (["--kind", "image,navigation", "--scope", "internal"], ["x", "i.png", "x"]),
    (["--kind=image", "--kind=script", "--scope=external"], []),
])
def test_only_rows_that_pass_all_filters_are_listed(absolve: Runner, options: list[str], found: list[str]) -> None:
    done = absolve("links", "site/a.html", URL, *options)
    assert [json.loads(line)["reference"] for line in done.lines] == found
    assert done.status == 0


COUNTED = "SELECT target, count(*) AS n FROM links GROUP BY target ORDER BY n DESC, target LIMIT 2"


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("more", "output"), [
    ((), "target\tn\nhttp://h/d/x\t4\nhttp://g/\t2\n"),
    (("-f", "csv"), "target,n\nhttp://h/d/x,4\nhttp://g/,2\n"),
    (("-f", "jsonl", "-j2"), '{"target": "http://h/d/x", "n": 4}\n{"target": "http://g/", "n": 2}\n'),
])
def test_a_query_reads_the_rows_of_all_inputs(absolve: Runner, more: tuple[str, ...], output: str) -> None:
    done = absolve("links", "site", URL, "--sql", COUNTED, *more)
    assert (done.status, done.out.decode()) == (0, output)


@pytest.mark.usefixtures("site")
def test_a_query_is_written_to_the_output_in_its_format(absolve: Runner) -> None:
    absolve("links", "site", URL, "--sql", "FROM documents SELECT document, links, size / 2.0 AS half", "-o", "d.sqlite")
    with closing(sqlite3.connect("d.sqlite")) as database:
        assert database.execute("SELECT document, links FROM result").fetchall() == [("site/a.html", 4), ("site/b.html", 4)]
    absolve("documents", "site", "--sql", "SELECT sum(links) AS n FROM documents", "-o", "n.csv")
    assert Path("n.csv").read_text() == "n\n8\n"


ROWS = """SELECT * FROM (VALUES (NULL, NULL, NULL, NULL, 1), (5, 1.5::DOUBLE, ['u', 'v'], DATE '2020-01-02', 2)) t("a""b", c, d, e, o) ORDER BY o"""


@pytest.mark.usefixtures("site")
def test_the_result_of_a_query_has_the_types_of_its_columns_where_the_first_row_has_none(absolve: Runner) -> None:
    for suffix in ("parquet", "duckdb", "sqlite", "csv", "jsonl"):
        assert absolve("links", "site", "--sql", ROWS, "-o", f"r.{suffix}").status == 0
    empty, row = (None, None, None, None, 1), (5, 1.5, ["u", "v"], "2020-01-02", 2)
    with duckdb.connect("r.duckdb") as database:
        assert database.execute("FROM result").fetchall() == [empty, row]
    with closing(sqlite3.connect("r.sqlite")) as rows:
        assert rows.execute("SELECT * FROM result").fetchall() == [empty, (5, 1.5, "u v", "2020-01-02", 2)]
    found = parquet.read_table("r.parquet").to_pylist()
    assert found == list(map(json.loads, Path("r.jsonl").read_text().splitlines()))
    assert [tuple(one.values()) for one in found] == [empty, row]
    assert json.loads(absolve("links", "site", "--sql", "SELECT 0.0 / 0 AS x, [DATE '2020-01-02'] AS y", "-f", "json").out) == [
        {"x": None, "y": ["2020-01-02"]}  # JSON has no NaN
    ]
    assert Path("r.csv").read_text() == '"a""b",c,d,e,o\n,,,,1\n5,1.5,u v,2020-01-02,2\n'


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("query", "options", "error"), [
    ("SELECT 1 AS a, 2 AS a", ("-o", "r.csv"), "two columns are named 'a'"),
    ("SELECT 1 AS a, 2 AS A", ("-o", "r.sqlite"), "two columns are named 'a'"),
    ("SELECT 9223372036854775808::HUGEINT", ("-o", "r.parquet"), "too large for a column"),
])
def test_a_result_that_a_format_cannot_have_is_an_error(absolve: Runner, query: str, options: tuple[str, ...], error: str) -> None:
    done = absolve("links", "site", "--sql", query, *options)
    assert (done.status, error in done.err) == (2, True)
    assert list(Path().glob("r.*")) == []


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("query", [
    *("FROM nothing", "SELECT colour FROM links", "SELECT", "", "FROM links; FROM links", "DROP TABLE links"),
    *("COPY links TO 'x.csv'", "ATTACH 'x.db'", "INSTALL httpfs", "SET threads = 9", "FROM read_text('site/a.html')"),
    pytest.param("SELECT '\udcff'", id="not UTF-8"),
])
def test_a_query_reads_the_tables_and_nothing_else(absolve: Runner, query: str) -> None:
    done = absolve("links", "site/a.html", URL, "--sql", query)
    assert (done.status, done.out) == (2, b"")
    assert "error: usage: --sql" in done.err
    assert sorted(path.name for path in Path().iterdir()) == ["site"]


@pytest.mark.usefixtures("site")
def test_only_the_selected_links_are_rewritten(absolve: Runner) -> None:
    assert absolve("rewrite", "site/a.html", URL, "--kind=image").out == LINKS.replace(b"i.png", b"http://h/d/i.png")
    assert "4 links, 1 would change" in absolve("rewrite", "site/a.html", URL, "--kind=image", "--dry-run").lines[0]


def test_remap_rules_come_from_options_and_from_a_file(absolve: Runner, site: Path) -> None:
    for path in site.iterdir():
        path.write_bytes(LINKS.replace(b"x>3", b"z>3"))
    Path("moved.csv").write_text("from,to,how\nhttp://h/d/i.png,http://exact/,exact\nhttp://(g)/,http://\\1\\1/,regex\n\n//h/d/x,//y\n")
    done = absolve("rewrite", "site", URL, "--in-place", "--remap=@moved.csv", "--remap=//h=https://new", "--verify")
    assert (done.status, done.err) == (0, "")
    new = b"<a href=http://y/>1</a><img src=http://exact/><a href=http://gg/>2</a><a href=https://new/d/z>3</a>"
    assert [path.read_bytes() for path in sorted(site.iterdir())] == [new, new]


MOVED = b'<base href="/d/"><a href=x>1</a><a href=//old/a>2</a><img src=http://old/i.png><a href="#f">3</a><p id=f>http://old/'


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("page", "options", "new"), [
    (MOVED, [URL], MOVED.replace(b"src=http://old/", b"src=https://new/").replace(b"href=//old/a", b"href=https://new/a")),
    (b"<base href=/d/><img src=//old/x>", ["--kind=image", URL], b"<base href=/d/><img src=https://new/x>"),
    (MOVED, ["--kind=image", URL], MOVED.replace(b"src=http://old/", b"src=https://new/")),
    (b"<a href=x><a href=../y><a href=/z>", ["--url=http://old/d/p"], b"<a href=x><a href=../y><a href=/z>"),
    (b"<base href=http://old/d/><a href=x>", [], b"<base href=https://new/d/><a href=x>"),
    (b"<a href=m/x><a href=x>", ["--url=http://old/", "--remap=http://old/m=https://m"], b"<a href=https://m/x><a href=x>"),
    (
        b"<base href=http://sub/d/><a href=../x><a href=x>",
        ["--remap=http://sub/d=https://new"],
        b"<base href=https://new/><a href=http://sub/x><a href=x>",
    ),
])  # fmt: skip
def test_a_form_that_keeps_changes_nothing_but_what_a_rule_matches(absolve: Runner, page: bytes, options: list[str], new: bytes) -> None:
    Path("p.html").write_bytes(page)
    given = ["--remap=//old=https://new", "--form=keep", *options]
    assert absolve("rewrite", "p.html", "-o", "q.html", "--verify", *given).status == 0
    assert Path("q.html").read_bytes() == new
    assert absolve("verify", "p.html", "q.html", *given).status == 0


@pytest.mark.usefixtures("site")
def test_a_form_that_keeps_is_refused_with_an_empty_base_and_changes_nothing_without_a_rule(absolve: Runner) -> None:
    Path("p.html").write_bytes(MOVED)
    assert absolve("rewrite", "p.html", "--form=keep", "--base=empty", "--remap=//h=//g").status == 2
    assert absolve("rewrite", "p.html", "--form=keep", URL).out == MOVED


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(("rules", "new"), [
    (["//old=https://new"], b"https://new/x"), (["http://old=https://new"], b"https://new/x"), (["//old=//new"], b"//new/x"),
    (["http://old=https://new", "https://old=https://other"], b"//old/x"), (["//h=https://new"], b"//old/x"),
])
def test_a_link_without_a_scheme_is_mapped_without_a_base(absolve: Runner, rules: list[str], new: bytes) -> None:
    assert absolve("rewrite", "-", *(f"--remap={rule}" for rule in rules), stdin=b"<a href=//old/x><a href=y>").out == b"<a href=%b><a href=y>" % new


def test_the_last_line_counts_what_still_names_the_old_host(absolve: Runner, site: Path) -> None:
    (site / "a.html").write_bytes(b"<a href=http://old/x>old</a><!-- old -->")
    (site / "s.js").write_bytes(b'u = "https:\\/\\/old\\/"')
    (site / "i.bin").write_bytes(b"\0old")
    rules = ("--remap=http://old=https://new", "--remap=http://other=https://new", URL)
    for options in (("-o", "out"), ("-n",), ("--diff",), ("-o", "out2", "--verify"), ("--in-place",)):
        absolve("rewrite", "site", *rules, *options)
        assert "; 3 mentions of old outside links left: 1 in text, 1 in comments, 1 in scripts" in absolve.summary, options
    absolve("rewrite", "site", URL, "-o", "out3")
    assert "mention" not in absolve.summary


pytest.importorskip("re2")

GONE = b"<a href=http://gone/x>"
COPY = b"https://web.archive.org/web/%b/http://gone/x"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_copy_has_the_date_of_the_page_by_its_capture_or_its_file(absolve: Runner) -> None:
    Path("rules.csv").write_text("from,to,kind\n//gone,archive,preset\n")
    Path("p.html").write_bytes(GONE)
    os.utime("p.html", (946_684_800, 946_684_800))
    Path("m.eml").write_bytes(b"Date: Thu, 1 Feb 2001 10:00:00 +0200\r\nContent-Type: text/html\r\n\r\n" + GONE)
    Path("c.warc").write_bytes(captures.page("http://h/", GONE))
    date = captures.DATE.translate(str.maketrans("", "", "-:TZ")).encode()
    for name, found in {"p.html": b"20000101000000", "m.eml": b"20010201080000", "c.warc": date}.items():
        for rule in (("--remap", "@rules.csv"), ("--remap", "//gone=archive")):
            assert COPY % found in absolve("rewrite", name, *rule).out
    absolve("rewrite", "p.html", "--remap", "@rules.csv", "-o", "o.html")
    assert absolve("verify", "p.html", "o.html", "--remap", "@rules.csv").status == 0
    done = absolve("rewrite", "-", "--remap", "@rules.csv", stdin=GONE)
    assert (done.out, ": no-date: " in done.err) == (GONE, True)


def test_copies_of_an_index_are_linked(absolve: Runner) -> None:
    Path("i.cdx").write_text("gone)/x 20050101000000 http://gone/x text/html 200 A 1\n")
    assert absolve("rewrite", "-", "--remap", "@i.cdx", stdin=GONE + b"<a href=http://h/>").out == (
        b"<a href=%b><a href=http://h/>" % (COPY % b"20050101000000")
    )
    Path("i.cdx").write_text("gone)/x 20050101000000 http://gone/x text/html 404 A 1\n")
    assert absolve("rewrite", "-", "--remap", "@i.cdx", stdin=GONE).status == 2
