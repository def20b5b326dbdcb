"""Redirects that a server answered are rules, and so are those in the folder of the new site."""

import gzip
import json
from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, printed, run, written

from absolve.audit import answers
from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.document.settings import Settings
from tests.shapes import captures


def record(url: str, status: int, location: str | None = None, body: bytes = b"") -> bytes:
    fields = {"Location": location} if location else {}
    return captures.page(url, body, "text/html" if body else None, status=status, date=None, **fields)


RECORDS = [record(f"{OLD}a", 302, f"{NEW}x"), record(f"{OLD}a", 301, f"{NEW}b"), record(f"{OLD}c", 200, "/no")]
ENTRY = {"request": {"method": "GET", "url": f"{OLD}a"}, "response": {"status": 301, "headers": [], "redirectURL": f"{NEW}b", "content": {"size": 0, "mimeType": ""}}}
FILES: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "a.warc": (b"".join(RECORDS), [("/a", f"{NEW}b")]),
    "a.warc.gz": (b"".join(map(gzip.compress, RECORDS)), [("/a", f"{NEW}b")]),
    "a.har": (json.dumps({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [ENTRY]}}).encode(), [("/a", f"{NEW}b")]),
    "curl-iL.txt": (b"HTTP/1.1 301 Moved\r\nLocation: http://old.example/b\r\n\r\nHTTP/1.1 302 Found\r\nlocation: /c\r\n\r\nHTTP/1.1 200 OK\r\n\r\nLocation: /no", [("/b", f"{OLD}c")]),
    "curl-v.txt": (b"* Trying\n> GET /a HTTP/1.1\n> Host: old.example\n>\n< HTTP/1.1 301 Moved\n< Location: /b\n<\n", [("/a", f"{OLD}b")]),
    "a-loop.txt": (b"http://old.example/q\nHTTP/2 301 \nlocation: /r\n\nhttp://old.example/s\nHTTP/2 200\n\n", [("/q", f"{OLD}r")]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_a_server_answered_is_a_map(name: str) -> None:
    data, expected = FILES[name]
    found = answers.read(name, data, Settings())
    assert found is not None
    assert [(rule.source, rule.target) for rule in found.rules] == [(old, (new,)) for old, new in expected]


@pytest.mark.parametrize("head", [b"> GET /%b HTTP/1.1\n> Host: h\n" % (b"x" * 60_000), b"http://h/\n", b"http://h/%b/\n" % (b"x" * 60_000)])
@pytest.mark.parametrize("line", [b"HTTP/1.1 301\nLocation: a/\n", b"> Host: h\nHTTP/1.1 301\nLocation: b\n\n"])
def test_relative_redirects_in_a_row_take_linear_memory(head: bytes, line: bytes) -> None:
    found = answers.read("a.txt", head + line * 2000, Settings())
    assert found is not None
    assert sum(len(rule.source) for rule in found.rules) < 4_000_000


def test_the_place_of_a_recorded_redirect_is_its_url(tmp_path: Path) -> None:
    """The file may be a temporary one, as of a crawl or of --live; two captures of a page are one page."""
    page_ = record(NEW, 200, body=b"<a href=/old>o</a>")
    data = page_ + page_ + record(f"{NEW}old", 301, "/") + RECORDS[0]
    (tmp_path / "a.warc").write_bytes(data)
    causes = [row for row in run(tmp_path, tmp_path / "a.warc", "--url", NEW).causes if row["verdict"] == "redirected"]
    assert [(row["rule"], row["pages"]) for row in causes] == [(f"{NEW}old:2", 1)]


def test_answers_without_a_redirect_are_no_map() -> None:
    with pytest.raises(UsageError, match="no redirect of a known URL"):
        answers.read("a.txt", b"HTTP/1.1 200 OK\r\n\r\n", Settings())


@pytest.mark.parametrize(("name", "text"), [(".htaccess", "Redirect 301 /a /b/\n"), ("vercel.json", '{"redirects": [{"source": "/a", "destination": "/b/"}]}')])
def test_the_redirects_of_the_folder_are_read_with_a_line_that_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    site = {"index.html": links("/b/"), "b/index.html": page(), name: text}
    assert audited(tmp_path, site, old={"a": page()}).url("a")["verdict"] == "mapped"
    root = tmp_path / "new"
    main(["audit", str(root), "--url", NEW])
    assert f"{root / name}: own-map: read as by --map: 1 rule" in capsys.readouterr().err
    assert "rules" not in {table for table, rows in run(tmp_path, root, "--url", NEW, "--exclude", name).tables.items() if rows}


OWN: dict[int, dict[str, list[str]]] = {  # exit status -> files of the folder
    0: {  # no redirects
        "vercel.json": ['{"cleanUrls": true}', "{}"], "netlify.toml": ["[build]\ncommand = 'x'\n"], "_redirects": ["# none\n"],
        "web.config": ["<configuration><system.webServer/></configuration>"], "staticwebapp.config.json": ["{}"], ".htaccess": [""],
    },
    1: {  # rules that cannot be read
        "netlify.toml": ['[[redirects]]\nfrom = "/a"\nto = "/b"\nconditions = {Country = ["de"]}\n'],
        ".htaccess": ["RewriteRule ^(+ /x [R]\n"],
        "vercel.json": ['{"redirects": [{"source": "/a", "destination": "/b", "has": [{"type": "header", "key": "x"}]}]}'],
    },
    3: {  # that are no such files, with the line of the fault
        "vercel.json": ['{"redirects": [\n', "2"], "netlify.toml": ["[[redirects]\n", "1"], "_redirects": ["<!DOCTYPE html>", "1"],
        "web.config": ["<configuration>\n<a>", "2"],
    },
}  # fmt: skip


@pytest.mark.parametrize("status", OWN)
def test_a_file_of_the_folder_is_read_or_a_finding_or_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int) -> None:
    for name, (text, *more) in OWN[status].items():
        lines = more if status == 3 else ["", *[""] * len(more)]
        for content, line in zip([text] if status == 3 else [text, *more], lines, strict=True):
            root = written(tmp_path / name, {"index.html": links("/"), name: content})
            _, err = printed(capsys, root, "--url", NEW, status=status)
            assert status != 0 or str(root / name) not in err
            assert status != 3 or f"{root / name}:{line}: map: " in err
            if status == 1:
                assert [row["problem"] is not None for row in run(tmp_path, root, "--url", NEW).tables["rules"]] == [True]


@pytest.mark.parametrize(("name", "text", "server"), [("_redirects", "/a /b/ 301\n", "nginx"), (".htaccess", "Redirect 301 /a /b/\n", "netlify"), ("_redirects", "no rule\n", "netlify"), (".htaccess", "Options -Indexes\n", "apache")])
def test_a_file_that_the_server_does_not_read_is_no_map(tmp_path: Path, name: str, text: str, server: str) -> None:
    assert not audited(tmp_path, {"index.html": links("/"), name: text}, "--server", server).tables["rules"]
