"""`--sort` and `--limit` of links and documents."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.tables import FORMATS


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for number in range(4):
        links = "".join(f"<a href=/{(number * 7 + place * 3) % 10}>x</a>\n" for place in range(5))
        (tmp_path / f"{number}.html").write_text(f"<title>{number}</title>{links}")
    return tmp_path


def listed(absolve: Runner, command: str, *arguments: object) -> list[tuple[str, ...]]:
    done = absolve(command, *arguments, "--url", "http://h/", "-f", "csv")
    assert done.status == 0, done.err
    return [tuple(row) for row in csv.reader(io.StringIO(done.out.decode()))][1:]


def test_rows_are_sorted_over_all_inputs(absolve: Runner, site: Path) -> None:
    rows = listed(absolve, "links", site, "--columns", "line,target")
    assert listed(absolve, "links", site, "--columns", "line,target", "--sort", "target,line:desc") == sorted(
        rows, key=lambda row: (row[1], -int(row[0]))
    )
    assert listed(absolve, "links", site, "--columns", "line,target", "--sort", "line", "-j", "2") == sorted(
        rows, key=lambda row: int(row[0])
    )


def test_a_limit_says_what_there_is_more(absolve: Runner, site: Path) -> None:
    assert len(listed(absolve, "links", site, "--sort", "line", "--limit", "3")) == 3
    assert absolve.summary.startswith("3 of 20 links in 4 documents")
    assert len(listed(absolve, "links", site, "--limit", "20")) == 20
    assert absolve.summary.startswith("20 links in 4 documents")
    unique = ("--columns", "target", "--unique", "--count")
    assert listed(absolve, "links", site, *unique, "--sort", "target", "--limit", "2") == [("http://h/0", "4"), ("http://h/1", "1")]
    done = absolve("documents", site, "--sort", "size:desc", "--limit", "1", "-f", "json")
    assert (len(json.loads(done.out)), done.err.splitlines()[-1]) == (1, "absolve: 1 of 4 documents")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_without_an_order_nothing_is_read_after_the_limit(absolve: Runner, site: Path, jobs: str) -> None:
    (site / "9.html").write_bytes(b"\x7fELF\x02\x01\x01\0")
    done = absolve("links", site, "--url", "http://h/", "--limit", "7", "-j", jobs, "--errors", site.parent / "errors.jsonl")
    assert (done.status, len(done.lines)) == (0, 7)
    assert done.err.endswith("absolve: the first 7 links; what follows was not read (--limit)\n")
    assert (site.parent / "errors.jsonl").read_bytes() == b""
    assert absolve("links", site, "--limit", "7", "--sort", "line").status == 3


def test_a_check_reads_all_whatever_is_listed(absolve: Runner, site: Path) -> None:
    (site / "5.html").write_text("<a href=http:x>x</a>")
    done = absolve("links", site, "--url", "http://h/", "--limit", "1", "--fail-on", "divergent")
    assert (done.status, len(done.lines)) == (1, 1)


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_the_first_rows(absolve: Runner, site: Path, name: str) -> None:
    out = site.parent / f"out.{name}"
    sort = [] if FORMATS[name].of else ["--sort", "line"]
    done = absolve("links", site, "--url", "http://h/", *sort, "--limit", "2", "-f", name, "-o", out)
    assert (done.status, out.stat().st_size > 0) == (0, True), done.err
    if name == "sqlite":
        import sqlite3

        connection = sqlite3.connect(out)
        assert connection.execute("SELECT count(*) FROM links").fetchone() == (2,)
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (4,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sort", "-line"], "--sort needs a value"),
        (["--sort=-line"], "--sort line:desc sorts downwards"),
        (["--sort", "line", "--columns", "target"], "add it to --columns"),
        (["--sort", "line", "-f", "dot"], "an order of its own"),
        (["--limit", "0"], "--limit"),
        (["--limit", "5", "--engine", "spark", "-o", "x.jsonl"], "--engine local"),
        (["--limit", "5", "--resume", "-o", "x.jsonl"], "without --unique, --sort and --limit"),
    ],
)
def test_what_does_not_fit_is_refused(absolve: Runner, site: Path, arguments: list[str], message: str) -> None:
    done = absolve("links", site, *arguments)
    assert (done.status, message in done.err) == (2, True), done.err
