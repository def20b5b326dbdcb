"""Redirects that a server answered are rules, and so are those in the folder of the new site."""

import gzip
import json
from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, printed, run, written

from absolve.audit import answers
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


def test_the_redirects_of_the_folder_are_read_with_a_line_that_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    maps = {".htaccess": "Redirect 301 /a /b/\n", "vercel.json": '{"redirects": [{"source": "/c", "destination": "/b/"}]}'}
    site = {"index.html": links("/b/"), "b/index.html": page(), **maps}
    assert {row["verdict"] for row in audited(tmp_path, site, old={"a": page(), "c": page()}).tables["urls"]} == {"mapped"}
    _, err = printed(capsys, root := tmp_path / "new", "--url", NEW)
    assert all(f"{root / name}: own-map: read as by --map: 1 rule" in err for name in maps)
    done = run(tmp_path, root, "--url", NEW, *(word for name in maps for word in ("--exclude", name)))
    assert not done.tables["rules"]


OWN: dict[int, dict[str, tuple[str, int]]] = {  # exit status -> files of one folder, with the line of the fault
    0: {  # no redirects
        "vercel.json": ('{"cleanUrls": true}', 0), "netlify.toml": ("[build]\ncommand = 'x'\n", 0), "_redirects": ("# none\n", 0),
        "web.config": ("<configuration><system.webServer/></configuration>", 0), "staticwebapp.config.json": ("{}", 0), ".htaccess": ("Options -Indexes\n", 0),
    },
    1: {  # rules that cannot be read
        "netlify.toml": ('[[redirects]]\nfrom = "/a"\nto = "/b"\nconditions = {Country = ["de"]}\n', 2), ".htaccess": ("RewriteRule ^(+ /x [R]\n", 1),
        "vercel.json": ('{"redirects": [{"source": "/a", "destination": "/b", "has": [{"type": "header", "key": "x"}]}]}', 1),
    },
    3: {  # that are no such files
        "vercel.json": ('{"redirects": [\n', 2), "netlify.toml": ("[[redirects]\n", 1), "_redirects": ("<!DOCTYPE html>", 1), "web.config": ("<configuration>\n<a>", 2),
    },
}  # fmt: skip


@pytest.mark.parametrize("status", OWN)
def test_files_of_the_folder_are_read_or_findings_or_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int) -> None:
    root = written(tmp_path / "new", {"index.html": links("/"), **{name: text for name, (text, _) in OWN[status].items()}})
    out, err = printed(capsys, root, "--url", NEW, "--sql", "SELECT file, line FROM rules WHERE problem IS NOT NULL", status=status)
    for name, (_, line) in OWN[status].items():
        assert (f"{root / name}\t{line}\n" in out) == (status == 1), name
        assert (f"{root / name}:{line}: map: " in err) == bool(status), name


@pytest.mark.parametrize(("server", "files"), [
    ("nginx", {"_redirects": "/a /b/ 301\n", ".htaccess": "Redirect 301 /a /b/\n"}), ("netlify", {"_redirects": "no rule\n", ".htaccess": "Redirect 301 /a /b/\n"}),
])
def test_a_file_that_the_server_does_not_read_is_no_map(tmp_path: Path, server: str, files: dict[str, str]) -> None:
    assert not audited(tmp_path, {"index.html": links("/"), **files}, "--server", server).tables["rules"]
