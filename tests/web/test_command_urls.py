"""Inputs by URL: what the commands ask for, what they say and write, and that nothing is asked for without a URL."""

import asyncio
import csv
import gzip
import io
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import absolve
from absolve.cli import main
from tests.shapes import captures
from tests.shapes.trap_server import Server, addresses, moved, page, response, serving, status

PAGE = b"<title>t</title><a href=x>x</a><img src=/i.png>"
ANSWERS = {
    "/r": moved("d/p", 301),
    "/d/p": page(PAGE, "Link: </z>; rel=canonical", "Content-Base: http://h.example/base/"),
    "/s.css": response(b"a { background: url(i.png) }", "Content-Type: text/css; charset=utf-8"),
    "/big": page(b"x" * 100_000),
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with serving(ANSWERS) as started:
        yield started


def listed(*arguments: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert main(["links", *arguments, "--format", "csv", "--retries", "0"]) in {0, 3}
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_links_of_a_url_have_the_base_of_the_last_one(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(f"{server.url}/r", capsys=capsys)
    assert {row["document"] for row in rows} == {f"{server.url}/r"}
    found = [(row["entity"], row["reference"], row["target"].replace(server.url, ""), row["base_source"]) for row in rows]
    assert found[0] == ("header/response[1]", "d/p", "/d/p", "the URL that was asked for")
    assert ("", "x", "http://h.example/base/x", "Content-Base header") in found
    assert server.targets == ["/robots.txt", "/r", "/d/p"]


def test_a_password_in_a_url_is_sent_and_written_nowhere(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    url = server.url.replace("//", "//me:secret@")
    main(["rewrite", f"{url}/s.css", "--save", "s.warc", "--header", "X-Key: secret"])
    main(["links", f"{url}/s.css", f"{url}/none", "--retries", "0"])
    shown = capsys.readouterr()
    assert f"background: url({server.url}/i.png)" in shown.out
    assert "secret" not in shown.out + shown.err
    assert not {b"me:secret", b"bWU6c2VjcmV0"}.intersection(Path("s.warc").read_bytes().split())
    assert b"secret" not in Path("s.warc").read_bytes()
    assert b"user-agent: absolve/" in Path("s.warc").read_bytes()
    assert {one.fields.get("authorization") for one in server.asked} == {"Basic bWU6c2VjcmV0"}


def test_a_url_without_a_page_fails_alone(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{server.url}/none", f"{server.url}/s.css", f"{server.url}/big"]
    assert main(["links", *names, "--max-size", "1000", "--retries", "0"]) == 3
    shown = capsys.readouterr()
    assert [json.loads(line)["target"] for line in shown.out.splitlines()] == [f"{server.url}/i.png"]
    assert f"{names[0]}: http-status: the server answered 404 X" in shown.err
    assert f"{names[2]}: too-large: more than 1,000 bytes (--max-size)" in shown.err


def test_a_list_and_files_are_read_in_their_order(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.html").write_bytes(b"<a href=http://h/>")
    Path("urls.txt").write_text(f"{server.url}/s.css\na.html\n{server.url}/d/p\n")
    rows = listed("--from", "urls.txt", "--kind", "image,navigation", capsys=capsys)
    assert list(dict.fromkeys(row["document"] for row in rows)) == [f"{server.url}/s.css", "a.html", f"{server.url}/d/p"]


def test_a_rewrite_of_a_url_is_the_page_with_absolute_links(server: Server) -> None:
    expected = PAGE.replace(b"=x", b"=http://h.example/base/x").replace(b"=/i", b"=http://h.example/i")
    assert main(["rewrite", f"{server.url}/r", "-o", "p.html", "-q", "--verify"]) == 0
    assert Path("p.html").read_bytes() == expected
    assert main(["rewrite", f"{server.url}/d/p", f"{server.url}/s.css", "-o", "out", "-q"]) == 0
    names = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file())
    assert names == [f"127.0.0.1:{server.port}/d/p", f"127.0.0.1:{server.port}/s.css"]


@pytest.mark.parametrize("path", ["/%2e%2e/%2E%2E/x", "/..%2f..%2fx", "/a/..;/x", "/a\\..\\x", "/?/../../x", "/" + "a" * 300, "//x"])
def test_no_url_leads_out_of_the_output_folder(server: Server, path: str) -> None:
    server.answers = {**{one: [page(PAGE)] for one in (path, *server.answers)}, "/robots.txt": [status(404)]}
    urls = [f"{server.url}{path}", f"{server.url}/s.css"]
    Path("w").mkdir()
    main(["rewrite", *urls, "-o", "w/out", "-q", "--retries", "0"])
    assert {found.name for found in Path().iterdir()} == {"w"}
    assert {found.name for found in Path("w").iterdir()} == {"out"}


def test_what_was_saved_gives_the_same_links(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    urls = [f"{server.url}/r", f"{server.url}/s.css", f"{server.url}/none"]
    live = listed(*urls, "--save", "s.warc.gz", capsys=capsys)
    count = len(server.asked)
    saved = listed("s.warc.gz", capsys=capsys)
    columns = ("reference", "target", "base", "base_layer")
    assert sorted([row[one] for one in columns] for row in saved) == sorted([row[one] for one in columns] for row in live)
    assert len(server.asked) == count
    assert main(["documents", "s.warc.gz", "--columns", "status,url"]) == 0
    statuses = [json.loads(line).get("status") for line in capsys.readouterr().out.splitlines()]
    assert sorted(one for one in statuses if one) == [200, 200, 301, 404, 404]  # with robots.txt


def test_a_capture_has_the_bytes_that_came_and_the_base_is_the_url_that_was_asked_for_last(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers |= {"/l": [status(302, "Location: /p\u00e4th", "X: \u00e4")], "/p%C3%A4th": [page(PAGE)]}
    listed(f"{server.url}/l", "--save", "s.warc", capsys=capsys)
    data = Path("s.warc").read_bytes()
    assert status(302, "Location: /p\u00e4th", "X: \u00e4").rstrip(b"\r\n") in data
    assert f"WARC-Target-URI: {server.url}/p%C3%A4th".encode() in data
    server.answers |= {"/m": [moved("\\d\\p2")], "/d/p2": [page(PAGE)]}  # as browsers read it, in every profile
    rows = listed(f"{server.url}/m", "--kind", "image", capsys=capsys)
    assert [(row["base"], row["target"]) for row in rows] == [(f"{server.url}/d/p2", f"{server.url}/i.png")]


def test_an_interrupted_list_of_urls_goes_on(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("state").absolute()))
    arguments = ["links", f"{server.url}/s.css", f"{server.url}/none", f"{server.url}/d/p", "-o", "l.csv", "--resume", "--retries", "0"]
    assert main(arguments) == 3
    first = Path("l.csv").read_bytes()
    server.asked.clear()
    assert main(arguments) == 3
    assert Path("l.csv").read_bytes() == first
    assert server.targets == ["/robots.txt", "/none"]


def test_documents_and_base_take_urls(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["documents", f"{server.url}/r"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["title"], row["url"], row["url_source"], row["media_type"]) == ("t", f"{server.url}/d/p", "Location header", "text/html")
    assert (row["status"], row["canonical"]) == (200, "http://h.example/z")
    assert main(["links", f"{server.url}/r", "-o", "l.sqlite", "-q"]) == 0
    with closing(sqlite3.connect("l.sqlite")) as database:
        assert database.execute("SELECT count(*), max(status), (SELECT count(*) FROM links) FROM documents").fetchone() == (1, 200, 5)
    assert main(["base", f"{server.url}/r", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert main(["base", f"{server.url}/r", "--save", "b.warc"]) == 0
    assert Path("b.warc").stat().st_size
    assert (found["base"], found["source"]) == ("http://h.example/base/", "Content-Base header")


@pytest.mark.parametrize("arguments", [("audit", "--url", "http://h.example/"), ("mirror", "-o", "m"), ("rewrite", "--in-place")])
def test_a_url_in_a_list_that_a_command_cannot_use_fails_alone(arguments: tuple[str, ...], server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.html").write_bytes(b"<!-- saved from url=(0017)http://h.example/ --><a href=http://h.example/a.html>")
    Path("urls.txt").write_text(f"{server.url}/s.css\na.html\n")
    assert main([*arguments, "--from", "urls.txt"]) == 3
    assert f"{server.url}/s.css: " in capsys.readouterr().err
    assert not Path("http:").exists()


def test_without_a_url_no_socket_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.html").write_bytes(b"<base href=http://h.example/><img src=x><link rel=stylesheet href=http://h.example/s.css>")
    (tmp_path / "list").write_text("a.html\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", None)
    monkeypatch.setattr(socket, "getaddrinfo", None)
    for arguments in (["links", "a.html"], ["links", "--from", "list"], ["rewrite", "a.html"], ["base", "a.html"], ["documents", "a.html"]):
        assert main(arguments) == 0


def test_without_libcurl_files_are_read_and_a_url_says_what_to_install(tmp_path: Path) -> None:
    """As on musl, for which pycurl has no wheel."""
    (tmp_path / "a.html").write_bytes(b"<a href=http://h.example/>")
    code = "import sys; sys.modules['pycurl'] = None; from absolve.cli import main; sys.exit(main(sys.argv[1:]))"
    argv = [sys.executable, "-c", code, "links"]
    runs = [subprocess.run([*argv, name], cwd=tmp_path, capture_output=True, check=False) for name in ("a.html", "http://h.example/")]
    assert [run.returncode for run in runs] == [0, 2]
    assert re.match(rb"error: .*pip install pycurl.*curl-dev\n", runs[1].stderr)
    assert b"Traceback" not in runs[1].stderr


def test_a_document_is_fetched_for_programs(server: Server) -> None:
    document = absolve.fetch(f"{server.url}/r", headers={"X-Key": "1"})
    assert absolve.base(document).url == "http://h.example/base/"
    assert [row.target for row in absolve.links(document)][-1] == "http://h.example/i.png"
    assert [(one.target, one.fields["x-key"]) for one in server.asked] == [("/r", "1"), ("/d/p", "1")]
    with pytest.raises(absolve.DocumentError, match="404"):
        absolve.fetch(f"{server.url}/none")

    async def inside() -> None:
        absolve.fetch(server.url)

    with pytest.raises(absolve.UsageError, match="afetch"):
        asyncio.run(inside())


# --- a page with all that it needs, a small site ----------------------------------------------------------------------

SITE = {
    "/": page(b"<title>h</title><link rel=stylesheet href=s.css><img src=i.png><a href=a/>a</a><a href=gone>g</a><a href=http://other.example/>o</a><form action=/f></form>"),
    "/s.css": response(b"@import 't.css'; a{background:url(b.png)}", "Content-Type: text/css"),
    "/t.css": response(b"@import 's.css'; a{background:url(c.png)}", "Content-Type: text/css"),
    **{f"/{name}.png": response(b"\x89PNG\r\n\x1a\n", "Content-Type: image/png") for name in "ibc"},
    "/a/": page(b"<a href=/>h</a><a href=b.html>b</a>"),
    "/a/b.html": page(b"<a href=c.html>c</a><img src=//127.0.0.1:1/private.png>"),
    "/a/c.html": page(b"the end"),
}
NEEDED = ["/", "/b.png", "/c.png", "/i.png", "/robots.txt", "/s.css", "/t.css"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with serving(SITE) as started:
        yield started


@pytest.mark.parametrize(("depth", "more"), [("0", []), ("9", ["/a/", "/a/b.html", "/a/c.html", "/gone"])])
def test_a_mirror_of_a_url_asks_for_what_its_pages_need(depth: str, more: list[str], site: Server) -> None:
    assert main(["mirror", f"{site.url}/", "-o", "m", "--depth", depth, "--save", "s.warc.gz", "--retries", "0"]) == 0
    assert sorted(site.targets) == sorted([*NEEDED, *more])
    assert main(["mirror", "--check", "m"]) == 0
    assert main(["mirror", "s.warc.gz", "-o", "again", "-q"]) == 0
    held, again = ({path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*.html")} for folder in ("m", "again"))
    entries = held.pop(Path("index.html")), again.pop(Path("index.html"))
    assert held == again
    made = f"Made from <b>{site.url}/</b>".encode(), b"Made from <b>s.warc.gz</b>"
    assert [one in entry for one, entry in zip(made, entries, strict=True)] == [True, True], entries
    assert len(held) == 1 + len(more) - ("/gone" in more)


def test_an_audit_of_a_url_finds_its_broken_links(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", f"{site.url}/", "--depth", "9", "--retries", "0", "-f", "jsonl"]) == 1
    out, err = capsys.readouterr()
    assert "note: asked: 2 URLs that links and maps name" in err
    assert "; 1 link not asked" in err
    rows = [json.loads(line) for line in out.splitlines()]
    found = {(row["document"].replace(site.url, ""), row["reference"]) for row in rows if row["table"] == "links" and row["verdict"] == "broken"}
    assert found == {("/", "gone")}
    assert [row["reference"] for row in rows if row["table"] == "links" and row["verdict"] == "unsure"] == ["/f"]  # a form is not sent
    assert all(site.targets.count(target) == 1 for target in site.targets if target not in {"/robots.txt", "/"})


def test_what_a_limit_leaves_out_is_counted(site: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/"] = [page(f"<a href=http://localhost:{site.port}/elsewhere><a href=/a/><a href=/b><a href=/c>".encode())]
    assert main(["mirror", f"{site.url}/", "-o", "m", "--depth", "5", "--retries", "0", "--stop-after", "3pages"]) == 0
    assert sorted(site.targets) == ["/", "/a/", "/b", "/robots.txt"]
    assert "it ended after 3 pages (--stop-after): 2 pages and 0 other URLs left out" in capsys.readouterr().err
    site.answers["/"] = [page(b"".join(b"<img src=%d.png>" % number for number in range(20)))]
    site.asked.clear()
    monkeypatch.setattr("absolve.run.web.fetching.MOST_OTHERS", 3)
    assert main(["mirror", f"{site.url}/", "-o", "n", "--retries", "0"]) == 3
    assert len(site.targets) == 2 + 3
    assert ": 0 pages and 17 other URLs left out" in capsys.readouterr().err


def test_a_page_of_the_internet_leads_to_no_private_address(site: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    connected = addresses(site, monkeypatch, {"pub.example": "93.184.216.34", "inner.example": "10.0.0.1"})
    inside = ("10.0.0.1", "inner.example", "127.0.0.1", "localhost", "[::1]", "169.254.169.254", "jenkins")
    pictures = "".join(f"<img src=http://{host}/private>" for host in inside)
    site.answers["/"] = [page(f"<img src=http://inner.example/private><img src=/r>{pictures}".encode())]
    site.answers["/r"] = [moved("http://inner.example/private")]
    assert main(["mirror", "http://pub.example/", "-o", "m", "--retries", "0"]) == 0
    assert "inner.example has no public address: 10.0.0.1" in capsys.readouterr().err
    assert main(["check", "http://pub.example/", "--live", "all", "--resolve", f"pub.example={site.url}", "--retries", "0"]) == 1
    assert connected == {"93.184.216.34", "127.0.0.1"}
    assert "/private" not in site.targets


def test_behind_a_proxy_a_page_of_the_internet_leads_to_no_private_address(site: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy is not asked for hosts of `no_proxy`, nor for names that no public DNS answers."""
    connected = addresses(site, monkeypatch, {"inner.example": "10.0.0.1", "proxy.example": "198.51.100.1"})
    monkeypatch.setenv("http_proxy", "http://proxy.example:80")
    inside = ("10.0.0.1", "inner.example", "127.0.0.1", "localhost", "169.254.169.254")
    monkeypatch.setenv("no_proxy", ",".join(inside))
    pictures = "".join(f"<img src=http://{host}/private>" for host in (*inside, "10.0.0.2", "jenkins", "wiki.corp"))
    site.answers["http://pub.example/"] = [page(f"{pictures}<img src=http://cdn.example/r><img src=http://cdn.example/i>".encode())]
    site.answers["http://cdn.example/r"] = [moved("http://inner.example/private")]
    assert main(["mirror", "http://pub.example/", "-o", "m", "--retries", "0", "-q"]) == 0
    assert connected == {"198.51.100.1"}
    assert "http://cdn.example/i" in site.targets
    assert not [target for target in site.targets if "private" in target]


def test_the_url_of_a_folder_that_nobody_typed_lets_no_page_into_a_private_network(site: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = addresses(site, monkeypatch, {"inner.example": "10.0.0.1", "pub.example": "93.184.216.34"})
    Path("d").mkdir()
    Path("d/index.html").write_text("<a href=http://inner.example/private>a</a><a href=http://pub.example/a/>b</a>", "utf-8")
    assert main(["check", "d", "--live", "all", "--retries", "0"]) == 0
    assert connected == {"93.184.216.34"}
    assert main(["check", "d", "--url", "http://inner.example/", "--live", "all", "--retries", "0"]) == 1
    assert "10.0.0.1" in connected  # the user named it


def test_the_password_in_a_url_is_nowhere_in_a_mirror_or_an_audit(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    url = site.url.replace("//", "//me:secret@")
    assert main(["mirror", f"{url}/", "-o", "one.html", "--retries", "0"]) == 0
    assert main(["audit", f"{url}/", "-o", "a.jsonl", "-o", "a.html", "--retries", "0"]) == 1
    shown = capsys.readouterr()
    assert "secret" not in shown.out + shown.err
    assert [name for name in ("one.html", "a.jsonl", "a.html") if b"secret" in Path(name).read_bytes()] == []
    assert {one.fields.get("authorization") for one in site.asked} == {"Basic bWU6c2VjcmV0"}


def test_a_crawl_stays_at_its_port(site: Server) -> None:
    with serving({"/": page(b"<a href=/more>m</a>")}) as other:
        site.answers["/"] = [page(f"<a href={other.url}/>o</a><a href={site.url}/a/>a</a>".encode())]
        assert main(["mirror", f"{site.url}/", "-o", "m", "--depth", "2", "-q"]) == 0
    assert (other.targets, "/a/" in site.targets) == ([], True)


def test_a_capture_that_cannot_be_saved_is_an_error_before_anything_is_asked(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").touch()
    for command in (["mirror", "-o", "m"], ["check"], ["links"]):
        assert main([*command, f"{site.url}/", "--save", "nowhere/s.warc.gz"]) in {2, 3}
        assert "nowhere/s.warc.gz: " in capsys.readouterr().err
        assert main([*command, f"{site.url}/", "--save", "file/s.warc.gz"]) in {2, 3}
    assert main(["mirror", f"{site.url}/", "-o", "m", "--save", "m/s.warc.gz"]) == 2
    assert site.asked == []


def test_messages_name_the_url_and_no_file_of_ours(site: Server, limited: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/"] = [page(b"<a href=/bomb>b</a><img src=/c.png>")]
    site.answers["/bomb"] = [page(gzip.compress(b"x" * 3_000_000), "Content-Encoding: gzip")]
    site.answers["/c.png"] = [response(b"x", "Content-Type: image/png", "Content-Range: bytes 0-0/9", code=206)]
    for command in (["mirror", "-o", "m", "--depth", "1"], ["check", "--depth", "1"], ["check", "--live", "all"]):
        main([*command, f"{site.url}/", "--retries", "0", *limited(max_decompressed="1M")])
        shown = capsys.readouterr().err
        assert f"{site.url}/bomb: too-large: more than 1,048,576 bytes come out of this (max-decompressed)\n" in shown or "--live" in command
        assert not re.search(r"tmp|asked\.warc|at byte", shown), shown
    Path("robots.toml").write_text("ignore-robots = true\n")
    main(["mirror", f"{site.url}/", "-o", "m2", "--retries", "0", "--config", "robots.toml"])
    assert f"{site.url}/c.png: partial: " in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="there is no such limit here")
@pytest.mark.parametrize("most", [9, 20])
def test_too_few_file_descriptors_are_no_hang_and_no_traceback(site: Server, most: int) -> None:
    Path("urls").write_text("".join(f"{site.url}/a/?{number}\n" for number in range(40)), "utf-8")
    limited = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0})); sys.argv[0] = 'absolve'; runpy.run_module('absolve', run_name='__main__')"
    Path("robots.toml").write_text("ignore-robots = true\n")
    argv = [sys.executable, "-c", limited.format(most), "links", "--from", "urls", "--retries", "0", "--config", "robots.toml"]
    run = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    assert run.returncode in {0, 3}
    assert b"Traceback" not in run.stderr, run.stderr
    assert run.stdout or run.stderr.count(b"\n") < 45


def test_a_start_that_is_not_there_is_an_error(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["mirror", "-o", "m"], ["audit"]):
        assert main([*command, f"{site.url}/gone"]) == 3
        assert capsys.readouterr().err == f"error: {site.url}/gone: http-status: the server answered 404 X\n"
    assert not Path("m").exists()


def test_verify_takes_a_url(site: Server) -> None:
    assert main(["rewrite", f"{site.url}/a/", "-o", "a.html", "-q"]) == 0
    assert main(["verify", f"{site.url}/a/", "a.html"]) == 0
    Path("a.html").write_bytes(Path("a.html").read_bytes().replace(b">h<", b">x<"))
    assert main(["verify", f"{site.url}/a/", "a.html"]) == 1


def test_a_page_leads_no_secret_to_another_host(site: Server) -> None:
    site.answers["/"] = [page(f"<img src={site.url.replace('127.0.0.1', 'localhost')}/i.png><img src=/b.png>".encode())]
    assert main(["mirror", f"{site.url}/", "-o", "m", "-q", "--retries", "0", "--header", "Authorization: Bearer x"]) == 0
    assert {one.fields["host"].partition(":")[0] for one in site.asked} == {"127.0.0.1", "localhost"}
    assert {one.fields["host"].partition(":")[0] for one in site.asked if "authorization" in one.fields} == {"127.0.0.1"}


class Ranges(BaseHTTPRequestHandler):
    """Gives ranges of the files in the working folder, and keeps what was asked for."""

    asked: list[tuple[str, str | None]]

    def do_HEAD(self) -> None:
        self.answer(whole=False)

    def do_GET(self) -> None:
        self.answer(whole=True)

    def answer(self, *, whole: bool) -> None:
        self.asked.append((self.command, self.headers.get("Range")))
        path = Path("served", self.path.lstrip("/"))
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        first, last = 0, len(data) - 1
        if (wanted := self.headers.get("Range")) is not None:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(start), min(int(end), last)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(data[first : last + 1] if whole else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    monkeypatch.chdir(tmp_path)
    Path("served").mkdir()
    Path("served/a.warc").write_bytes(b"".join(captures.page(f"http://h.example/{n}", b"<a href=x>" + b" " * 60_000) for n in range(200)))
    kind = type("Own", (Ranges,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/a.warc", kind.asked  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def test_a_large_archive_is_read_by_ranges(archive: tuple[str, list[tuple[str, str | None]]], capsys: pytest.CaptureFixture[str]) -> None:
    url, asked = archive
    local = listed("served/a.warc", "-q", capsys=capsys)
    assert len(local) == 200
    assert [{**row, "document": "served/a.warc"} for row in listed(url, "-q", capsys=capsys)] == local
    assert {method for method, wanted in asked if wanted is None} == {"HEAD"}
    assert main(["rewrite", url, "-o", "out.warc", "-q"]) == main(["rewrite", "served/a.warc", "-o", "mine.warc", "-q"]) == 0
    assert Path("out.warc").read_bytes() == Path("mine.warc").read_bytes()
    assert main(["mirror", url, "-o", "m", "-q"]) == 0
    asked.clear()
    Path("robots.toml").write_text("ignore-robots = true\n")
    assert main(["links", url, "--save", "s.warc", "--config", "robots.toml", "-o", "l.csv", "-q"]) == 0  # all in one response
    assert [one for one in asked if one[0] == "GET"] == [("GET", None)]


def test_an_archive_of_the_web_is_no_output(archive: tuple[str, list[tuple[str, str | None]]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["links", "served/a.warc", "-o", archive[0], "-q"]) == 2
    assert "archives of the web are read only" in capsys.readouterr().err


def test_an_archive_without_ranges_is_asked_for_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with serving({"/a.warc": response(captures.page("http://h.example/", b"<a href=x>"))}) as server:
        assert [row["target"] for row in listed(f"{server.url}/a.warc", "-q", capsys=capsys)] == ["http://h.example/x"]


def test_a_mirror_of_an_archive_asks_for_it_as_it_is_told(archive: tuple[str, list[tuple[str, str | None]]], capsys: pytest.CaptureFixture[str]) -> None:
    url, asked = archive
    assert main(["mirror", url, "-o", "m", "--deny-private"]) == 3
    assert (asked, "refused-address" in capsys.readouterr().err, Path("m").exists()) == ([], True, False)
    Path("robots.toml").write_text("ignore-robots = true\n")
    assert main(["mirror", url, "-o", "m", "--header", "X-Key: a", "--save", "s.warc", "--config", "robots.toml", "-q"]) == 0
    assert [one for one in asked if one[0] == "GET"] == [("GET", None)]
    assert main(["mirror", "served/a.warc", "-o", "again", "-q"]) == 0
    assert Path("m/h.example/0.html").read_bytes() == Path("again/h.example/0.html").read_bytes()
    assert f"WARC-Target-URI: {url}".encode() in Path("s.warc").read_bytes()
    with serving({"/a.warc": response(b"WARC/1.0\r\nbroken")}) as server:
        assert main(["mirror", f"{server.url}/a.warc", "-o", "m2", "--header", "X-Key: a"]) == 3
        assert server.asked[-1].fields["x-key"] == "a"
        assert f"error: {server.url}/a.warc" in (err := capsys.readouterr().err)
        assert "tmp" not in err


def _cut(head: bytes, _: bytes) -> bytes:
    return re.sub(rb"Content-Length: [0-9]+", b"Content-Length: 0", head)


LIES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "more is sent": lambda head, body: head.replace(b"Content-Length", b"X") + body + b" " * len(body),
    "another range": lambda head, body: re.sub(rb"bytes [0-9]+", b"bytes 7", head) + body,
    "the whole file": lambda head, body: re.sub(rb" 206 .*|Content-Range.*\r\n", b" 200 OK", head) + body,
    "no range is left": lambda head, body: _cut(head.replace(b" 206 ", b" 416 "), body),
    "it has another tag": lambda head, body: head.replace(b'"1"', b'"2"') + body,
    "it is compressed": lambda head, body: head.replace(b"ETag", b"Content-Encoding: br\r\nETag") + body,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_sends_no_such_range_is_an_error(
    lie: str, archive: tuple[str, list[tuple[str, str | None]]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second range of 8 MiB ends with a record, so that without a check its lack is the end of the archive."""
    size = 8_000_000
    more = (8 << 20) - len(captures.page("http://h.example/", b" " * size))
    first = captures.page("http://h.example/", b" " * (size + more))
    Path("served/a.warc").write_bytes(first + captures.page("http://h.example/", b"<a href=x>"))
    answer = Ranges.answer

    def lying(self: Ranges, *, whole: bool) -> None:
        out, self.wfile = self.wfile, io.BytesIO()
        answer(self, whole=whole)
        head, end, body = self.wfile.getvalue().partition(b"\r\n\r\n")
        head = head.replace(b"Accept-Ranges", b'ETag: "1"\r\nAccept-Ranges')
        starts_later = not (self.headers.get("Range") or "bytes=0-").startswith("bytes=0-")
        out.write(LIES[lie](head + end, body) if starts_later else head + end + body)

    monkeypatch.setattr(Ranges, "answer", lying)
    assert main(["links", archive[0], "-q", "-j", "1", "-o", "l.csv"]) == 3
    assert capsys.readouterr().err.count("unreadable") == 1


@pytest.mark.parametrize(("retries", "status_"), [("0", 3), ("1", 0)])
def test_a_range_is_asked_for_again(archive: tuple[str, list[tuple[str, str | None]]], monkeypatch: pytest.MonkeyPatch, retries: str, status_: int) -> None:
    """In every process; also where the answer does not come within the time limit."""
    answer = Ranges.answer
    tried: dict[str | None, int] = {}

    def failing(self: Ranges, *, whole: bool) -> None:
        wanted = self.headers.get("Range")
        tried[wanted] = tried.get(wanted, 0) + 1
        if wanted is None or tried[wanted] > 1:
            answer(self, whole=whole)
        elif len(tried) % 2:
            time.sleep(1.5)
        else:
            self.send_error(503)

    monkeypatch.setattr(Ranges, "answer", failing)
    assert main(["links", archive[0], "-q", "-o", "l.csv", "--retries", retries, "--timeout", "1", "-j", "2"]) == status_


def test_no_password_is_sent_for_a_range(archive: tuple[str, list[tuple[str, str | None]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The default of .netrc is for any host, and so for one to which a server leads."""
    Path(".netrc").write_text("machine 127.0.0.1 login me password pw\ndefault login me password pw\n")
    Path(".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(Path.cwd()))
    answer = Ranges.answer
    found: list[tuple[str, str | None]] = []

    def leading(self: Ranges, *, whole: bool) -> None:
        found.append((self.headers["Host"].partition(":")[0], self.headers.get("Authorization")))
        if self.path == "/a.warc":
            answer(self, whole=whole)
            return
        self.send_response(302)
        self.send_header("Location", archive[0].replace("127.0.0.1", "localhost"))
        self.end_headers()

    monkeypatch.setattr(Ranges, "answer", leading)
    assert main(["links", archive[0].replace("a.warc", "b.warc"), "-q", "-o", "l.csv"]) == 0
    assert set(found) == {("127.0.0.1", None), ("localhost", None)}
