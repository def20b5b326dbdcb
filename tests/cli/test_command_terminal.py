"""What a person sees: tables on a terminal, colours, hyperlinks, widths, and the line that ends a run."""

import json
import os
import re
from pathlib import Path

import pytest
from command_runner import FIXTURES, Runner, on_terminal

from absolve.cli import rewrite
from tests.shapes.captures import page

URL = "--url=http://h/d/"
PAGE = b"<a href=x>x</a><a href=http://[>y</a><a href='#z'>z</a>"
BROKEN = b"\x7fELF\x02\x01\x01\0"  # in no format that absolve reads
PLAIN = {"NO_COLOR": "1"}
STYLE = re.compile(r"\x1b\[[0-9;]*m")
HYPERLINK = re.compile(r"\x1b]8;;([^\x1b]*)\x1b\\")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    Path("p.html").write_bytes(PAGE)
    return tmp_path


# --- tables -----------------------------------------------------------------------------------------------------------

TABLE = """\
p.html
  base http://h/d/ (retrieval)
   1:9  navigation  x        → http://h/d/x
  1:24  navigation  http://[ → (nowhere)
                    ! malformed
  1:47  navigation  #z       → http://h/d/#z
absolve: 3 links in 1 document: 1 internal, 1 same-document, 1 without host; problems: 1 malformed
"""
FOLDED = TABLE.replace("host; problems", "host;\n  problems")  # by a terminal of 80 columns


def test_on_a_terminal_links_are_a_table_with_hyperlinks_to_the_web() -> None:
    shown = on_terminal("links", "p.html", URL)
    assert STYLE.sub("", HYPERLINK.sub("", shown)) == FOLDED
    assert [url for url in HYPERLINK.findall(shown) if url] == ["http://h/d/x", "http://h/d/#z"]
    assert "\x1b[31m! malformed\x1b[0m" in shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_without_colours_gets_no_escape_sequences(environment: dict[str, str]) -> None:
    assert on_terminal("links", "p.html", URL, environment=environment) == FOLDED
    assert "\x1b" in on_terminal("links", "p.html", URL, "--color", "always", environment=environment)


def test_a_table_fits_the_terminal() -> None:
    Path("p.html").write_bytes(PAGE + b"<a href='%s'>" % (b"x" * 300))
    for columns, *options in ((80,), (40, "--columns", "target,kind,problems,text"), (40, "--columns", "document,base,target,scope,kind")):
        shown = on_terminal("links", "p.html", URL, "-q", *map(str, options), columns=columns, environment=PLAIN)
        assert max(map(len, shown.splitlines())) <= columns
        assert "…" in shown


def test_a_table_in_a_file_or_a_pipe_has_no_width_and_colours_only_on_request(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = absolve("links", "p.html", URL, "--format", "table").out.decode()
    assert plain + f"absolve: {absolve.summary}\n" == TABLE
    coloured = absolve("links", "p.html", URL, "--format", "table", "--color", "always").out.decode()
    assert STYLE.sub("", HYPERLINK.sub("", coloured)) == plain != coloured
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("p.html").write_bytes(b"<a href='%s'>" % (b"x" * 300))
    assert absolve("links", "p.html", URL, "--format", "table", "-o", "links.txt").status == 0
    text = Path("links.txt").read_text("utf-8")
    assert ("\x1b" in text, "http://h/d/" + "x" * 300 in text) == (False, True)


def without_time(summary: str) -> str:
    """Return the line without the size and time of a run in which progress was shown, as on a slow machine."""
    return re.sub(r"; [0-9.,]+ MB in [0-9.]+ s\Z", "", summary)


@pytest.mark.parametrize(("arguments", "summary"), [
    (("rewrite", "p.html", URL), "1 link in 1 document changed; 2 left as is"),
    (("rewrite", "p.html", URL, "--verify"), "1 link in 1 document changed; 2 left as is"),
    (("rewrite", "p.html", URL, "--fragments=absolute"), "2 links in 1 document changed; 1 left as is"),
    (("rewrite", "p.html", URL, "--dry-run"), "1 link in 1 document would change; 2 would be left as is"),
    (("rewrite", "p.html", URL, "--kind", "image"), "no link changed: 3 in 1 document left as is"),
    (("rewrite", "p.html", "none", "-o", "out", URL), "1 link in 1 document changed; 2 left as is; 1 input failed (not in out)"),
    (("links", "p.html", URL, "--kind", "image"), "0 links in 1 document"),
    (("links", "p.html", URL, "--problem", "malformed"), "1 link in 1 document: 1 without host; problems: 1 malformed"),
    (("links", "p.html", "none"), "3 links in 1 document: 1 same-document, 2 without host; problems: 2 unresolved, 1 malformed; 1 input failed"),
    (("rewrite", "none"), ""),
    (("rewrite", "p.html", URL, "--quiet"), ""),
], ids=lambda given: " ".join(given)[:60] if isinstance(given, tuple) else "")
def test_a_run_ends_with_its_counts(absolve: Runner, arguments: tuple[str, ...], summary: str) -> None:
    absolve(*arguments)
    assert without_time(absolve.summary) == summary


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_the_counts_of_an_archive_are_those_of_its_documents(absolve: Runner, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.cli.many.WORTH_A_POOL", 1)
    archive = FIXTURES / "journal.warc"
    absolve("rewrite", archive, FIXTURES / "saved-page.html", "-o", "out", jobs)
    assert without_time(absolve.summary) == "37 links in 2 documents changed; 5 left as is"
    absolve("links", archive, archive, jobs)
    assert absolve.summary.startswith("6 links in ")


def test_the_counts_agree_with_the_rows_and_the_log_on_real_pages(absolve: Runner, shared: Path) -> None:
    pages = [shared / "pages" / name for name in ("monolith", "newspaper4k", "jsoup", "warc2zim")]
    absolve("rewrite", *pages, URL, "-o", "out", "--log", "log.jsonl", "-q")
    changes = [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]
    absolve("rewrite", *pages, URL, "-o", "out2")
    assert absolve.summary.startswith(f"{len(changes):,} link")
    stay = int(re.search(r"; ([\d,]+) left", absolve.summary)[1].replace(",", ""))  # type: ignore[index]
    rows = [json.loads(line) for line in absolve("links", *pages, URL).lines]
    assert sum("data[" not in row["entity"] for row in rows) == len(changes) + stay  # what is in data: URLs is only listed
    places = {(row["document"], row["entity"], row["line"], row["column"], row["reference"]): row for row in rows}
    for change in changes:
        row = places[change["document"], change["entity"], change["line"], change["column"], change["old"]]
        assert (change["new"], change["base"], change["base_layer"]) == (row["target"], row["base"], row["base_layer"])


def test_the_line_comes_after_all_output_on_a_terminal() -> None:
    for options in ((), ("--format", "jsonl"), ("--columns", "target")):
        *_, last = on_terminal("links", "p.html", URL, *options, environment=PLAIN).split("\nabsolve: ")
        assert last.startswith("3 links")
        assert all(line.startswith("  ") for line in last.splitlines()[1:])  # it is folded


@pytest.mark.parametrize(("options", "status"), [
    (("unresolved,malformed",), 1), (("unresolved", "--fail-on", "malformed"), 1), (("any",), 1), (("unresolved",), 0),
    (("malformed", "--kind", "image"), 0), (("malformed", "-q", "-o", "links.sqlite"), 1),
], ids=lambda given: " ".join(given) if isinstance(given, tuple) else "")
def test_a_listed_link_with_a_problem_fails_the_run_if_asked(absolve: Runner, options: tuple[str, ...], status: int) -> None:
    done = absolve("links", "p.html", URL, "--fail-on", *options)
    note = "note: empty-selection: no row is selected by --kind image\n" if "image" in options else ""
    assert (done.status, done.err) == (status, note)
    assert ("--fail-on: 1 malformed" in absolve.summary) == (status == 1 and "-q" not in options)


def test_the_log_has_each_change_with_its_place_rule_and_base(absolve: Runner) -> None:
    Path("p.html").write_bytes(b"<base href=sub/>\n<a href=x><a href=http://old/y><iframe srcdoc='<a href=z>'></iframe>")
    assert absolve("rewrite", "p.html", URL, "--remap", "http://old/=http://new/", "-o", "o.html", "--log", "log.tsv").status == 0
    assert [line.split("\t")[:10] for line in Path("log.tsv").read_text().splitlines()] == [
        ["document", "entity", "line", "column", "kind", "old", "new", "rule", "base", "base_layer"],
        ["p.html", "", "1", "12", "other", "sub/", "http://h/d/sub/", "absolute", "http://h/d/", "retrieval"],
        ["p.html", "", "2", "9", "navigation", "x", "http://h/d/sub/x", "absolute", "http://h/d/sub/", "embedded"],
        ["p.html", "", "2", "19", "navigation", "http://old/y", "http://new/y", "http://old/=http://new/", "http://h/d/sub/", "embedded"],
        ["p.html", "srcdoc[1]", "1", "9", "navigation", "z", "http://h/d/sub/z", "absolute", "http://h/d/sub/", "encapsulating"],
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["exact", "prefix", "regex"])
def test_the_log_names_the_rule_as_it_was_written(absolve: Runner, how: str) -> None:
    old = "http://OLD/(.*)".lower() if how == "regex" else "//OLD:80/x"
    Path("p.html").write_bytes(b"<a href=http://old/x><a href=http://other/>")
    Path("rules.csv").write_text(f"{old},http://new/x,{how}\n")
    options = ("--kind", "navigation", "--remap", "@rules.csv")
    absolve("rewrite", "p.html", *options, "-o", "o.html", "--log", "log.jsonl")
    (change,) = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    assert (change["new"], change["rule"]) == ("http://new/x", f"{old}=http://new/x")


@pytest.fixture
def site() -> Path:
    site = Path("site")
    site.mkdir()
    for name in "abcdef":
        (site / f"{name}.html").write_bytes(b"<a href=%s>" % name.encode() * 3 + PAGE)
    return site


@pytest.mark.parametrize(("table", "format_", "jobs"), [("links", "jsonl", "-j1"), ("links", "json", "-j2"), ("documents", "csv", "-j2")])
def test_an_interrupted_list_goes_on_and_is_the_same(absolve: Runner, site: Path, table: str, format_: str, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.cli.many.WORTH_A_POOL", 1)
    monkeypatch.setattr("absolve.run.load.RANGE", 1000)
    records = b"".join(page(f"http://h/{number}", b"<a href=x>" * number) for number in range(12))
    (site / "c.warc").write_bytes(records)
    monkeypatch.setattr("absolve.run.load.LARGE", len(records) // 2)  # a part of it is one input
    absolve(table, site, URL, "-o", f"whole.{format_}")
    summary = absolve.summary
    command = (table, site, URL, "-o", f"l.{format_}", "--resume", jobs)
    for bad in ("b.html", "f.html"):
        (site / bad).rename(f"{bad}.kept")
        (site / bad).write_bytes(BROKEN)
    done = absolve(*command)
    assert (done.status, done.err.count("unknown-media-type")) == (3, 2)
    for bad in ("b.html", "f.html"):
        Path(f"{bad}.kept").replace(site / bad)
    done = absolve(*command)
    assert done.status == 0
    assert done.err.endswith("absolve: 5 skipped: done by an earlier run\n")
    assert Path(f"l.{format_}").read_bytes() == Path(f"whole.{format_}").read_bytes()
    assert without_time(absolve.summary) == without_time(summary)
    assert not list(Path(os.environ["XDG_STATE_HOME"]).rglob("*.sqlite*"))
    assert "skipped" not in absolve(*command).err  # a complete list begins again


@pytest.mark.parametrize("change", ["file", "option", "url"])
def test_a_changed_file_or_option_is_not_resumed(absolve: Runner, site: Path, change: str) -> None:
    (site / "f.html").write_bytes(BROKEN)
    absolve("links", site, URL, "-o", "l.csv", "--resume")
    if change == "file":
        (site / "a.html").write_bytes(b"<a href=new>")
    options = {"option": ("--columns", "target"), "url": ("--url=http://other/",)}.get(change, ())
    done = absolve("links", site, URL, "-o", "l.csv", "--resume", *options)
    skipped = "absolve: 4 skipped: done by an earlier run\n" if change == "file" else ""
    assert done.err.partition("\n")[2] == skipped
    assert change != "file" or "http://h/d/new" in Path("l.csv").read_text()


def test_a_diff_shows_bytes_that_are_not_utf_8_as_such() -> None:
    lines = rewrite.on_terminal(iter([b"-<p>Caf\xe9\n", "+<p>Café\n".encode()]), colour=False)
    assert [*lines] == [b"-<p>Caf\\xe9\n", "+<p>Café\n".encode()]
