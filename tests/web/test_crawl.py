"""Which URLs a crawl asks for: its folder, its globs, its limits; and how often it asks."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from absolve.cli import main
from absolve.document.settings import Settings
from absolve.run.web.store import Store, record
from tests.shapes.trap_server import Server, moved, page, response, serving, status

DEEP = ["--depth", "9", "--retries", "0", "-q"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with serving({}) as started:
        for name, links in PAGES.items():
            started.answers[name] = [page("".join(f"<a href={one}>x</a>" for one in links.split()).encode())]
        yield started


PAGES = {
    "/": "docs/ blog/ shop",
    "/docs/": "a.html /docs/b.html?x=1 b.html?x=2 ../blog/ /docs2/ /docs/old/c.html",
    "/docs/a.html": "/",
    "/docs/b.html?x=1": "d.txt",
    "/docs/b.html?x=2": "",
    "/docs/d.txt": "",
    "/docs/old/c.html": "",
    "/docs2/": "",
    "/blog/": "post.html",
    "/blog/post.html": "",
    "/shop": "",
}
DOCS = {"/docs/", "/docs/a.html", "/docs/b.html?x=1", "/docs/b.html?x=2", "/docs/d.txt", "/docs/old/c.html"}
BLOG = {"/blog/", "/blog/post.html"}


@pytest.mark.parametrize(("start", "options", "expected"), [
    ("/docs/", "", DOCS),
    ("/docs/a.html", "", DOCS & {"/docs/a.html"}),
    ("/", "", set(PAGES)),
    ("/docs/", "--include blog/**", BLOG | {"/docs/"}),
    ("/docs/", "--include blog/** --include docs/**", BLOG | DOCS),
    ("/docs/", "--include {}/blog/**", BLOG | DOCS),
    ("/docs/", "--include *.html", DOCS - {"/docs/d.txt"}),
    ("/docs/", "--exclude old/", DOCS - {"/docs/old/c.html"}),
    ("/docs/", "--exclude *.html", {"/docs/"}),
    ("/docs/", "--exclude {}/docs/b.html?x=2", DOCS - {"/docs/b.html?x=2"}),
])  # fmt: skip
def test_a_crawl_stays_where_it_starts_and_where_globs_lead_it(start: str, options: str, expected: set[str], site: Server) -> None:
    main(["mirror", f"{site.url}{start}", "-o", "m", *DEEP, *options.format(site.url).split()])
    assert set(site.targets) - {"/robots.txt"} == expected


def test_an_ignored_url_is_never_asked_for(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/docs/"] = [page(b"<a href=a.html>a</a><a href=../logout>l</a><img src=/pixel.gif><a href=http://x.example/logout>x</a>")]
    main(["check", f"{site.url}/docs/", "--depth", "3", "--live", "all", "--ignore", "logout", "--ignore", "^/pixel", "--retries", "0"])
    assert not {"/logout", "/pixel.gif"}.intersection(site.targets)
    assert "3 URLs not asked (--ignore)" in capsys.readouterr().err
    Path("d").mkdir()
    Path("d/p.html").write_text(f"<a href={site.url}/logout>l</a><a href={site.url}/docs/a.html>a</a>", "utf-8")
    site.asked.clear()
    main(["check", "d", "--url", site.url, "--live", "all", "--ignore", "/logout", "--retries", "0"])
    assert "/docs/a.html" in site.targets
    assert "/logout" not in site.targets


def test_no_redirect_leads_to_what_is_left_out(site: Server) -> None:
    site.answers["/docs/"] = [page(b"<a href=out>o</a><a href=own/pdf>p</a><a href=a.html>a</a>")]
    site.answers |= {"/docs/out": [moved("/docs/logout")], "/docs/own/pdf": [moved("/docs/old/c.html")]}
    start = f"{site.url}/docs/"
    main(["mirror", start, "-o", "m", *DEEP, "--exclude", "old/", "--exclude", "logout"])
    main(["check", start, *DEEP, "--live", "all", "--ignore", "logout", "--ignore", "/old/"])
    Path("p.html").write_text("<a href=http://x.example/docs/out>x</a>", "utf-8")
    main(["check", "p.html", "--live", "external", "--ignore", "logout", "--resolve", f"x.example={site.url}"])
    assert site.targets.count("/docs/out") >= 3
    assert not {"/docs/logout", "/docs/old/c.html"}.intersection(site.targets)


def test_what_is_excluded_is_not_asked_for_by_a_check(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/docs/"] = [page(b"<a href=logout>l</a><img src=old/i.png>")]
    assert main(["check", f"{site.url}/docs/", "--depth", "9", "--exclude", "logout", "--exclude", "old/"]) == 0
    assert set(site.targets) == {"/robots.txt", "/docs/"}
    assert capsys.readouterr().out.count("not asked for (--exclude)") == 2


@pytest.mark.parametrize(("end", "options"), [
    (status(429), ""), (status(403), ""), (b"", ""), (page(b"x"), "--exclude end"), (page(b"x"), "--ignore end"), (status(404), "--fail-on none"),
])  # fmt: skip
def test_a_redirect_to_what_is_not_sure_is_not_broken(end: bytes, options: str, site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers |= {"/docs/": [page(b"<a href=moved>m</a>")], "/docs/moved": [moved("/docs/end")], "/docs/end": [end]}
    assert main(["check", f"{site.url}/docs/", "--depth", "9", "--retries", "0", *options.split()]) == 0
    assert ("broken" in capsys.readouterr().out) == (options == "--fail-on none")


def test_a_site_with_and_without_www_is_one(site: Server) -> None:
    site.answers["/start"] = [moved("http://www.h.example/docs/")]
    resolved = [word for host in ("h.example", "www.h.example") for word in ("--resolve", f"{host}={site.url}")]
    assert main(["check", "http://h.example/start", *DEEP, *resolved, "--fail-on", "none"]) == 0
    assert set(site.targets) >= DOCS
    assert "/blog/post.html" not in site.targets


def test_a_start_is_asked_for_once_however_it_is_written(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/docs/"] = [page(b"<a href=/docs/>d</a>")]
    url = site.url.replace("//", "//me:pw@")
    main(["mirror", f"{url}/docs/#top", f"{url}/x/../docs/", "-o", "m", "--depth", "9", "--retries", "0"])
    assert site.targets == ["/robots.txt", "/docs/"]
    assert "asked: 1 page\n" in capsys.readouterr().err


def test_the_start_is_the_folder_that_it_redirects_to(site: Server) -> None:
    site.answers["/docs"] = [moved("/docs/", 301)]
    main(["mirror", f"{site.url}/docs", "-o", "m", *DEEP])
    assert set(site.targets) - {"/robots.txt"} == DOCS | {"/docs"}


@pytest.mark.parametrize(("limit", "pages"), [("2pages", 2), ("1KB", 1), ("0.2s", 1)])
def test_a_crawl_ends_where_it_is_told(limit: str, pages: int, site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/docs/"] = [page(b"<a href=a.html>a</a><a href=old/c.html>c</a>" + b" " * 1000)]
    wait = ["--wait", "0.3"] if limit.endswith("s") and "page" not in limit else []
    main(["mirror", f"{site.url}/docs/", "-o", "m", "--depth", "9", "--stop-after", limit, *wait])
    assert len(set(site.targets) - {"/robots.txt"}) == pages
    assert f"it ended after {pages} page" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["option", "robots"])
def test_a_host_is_asked_slowly(way: str, site: Server) -> None:
    if way == "robots":
        site.answers["/robots.txt"] = [response(b"User-agent: *\nCrawl-delay: 0.2\n")]
    began = time.monotonic()
    main(["mirror", f"{site.url}/docs/", "-o", "m", *DEEP, *(["--wait", "0.2"] if way == "option" else [])])
    assert len(site.targets) == 7
    assert 1.0 < time.monotonic() - began < 5


def test_a_host_that_asks_to_wait_is_not_asked_meanwhile(site: Server) -> None:
    times: list[float] = []
    late = [status(429, "Retry-After: 1"), page(b"x")]

    def answered(name: str) -> None:
        first = late[0]

        def send(client: object) -> None:
            times.append(time.monotonic())
            client.sendall(first if name == "/t/0" and len(times) == 1 else page(b"x"))  # type: ignore[attr-defined]

        site.answers[name] = [send]

    names = [f"/t/{number}" for number in range(4)]
    for name in names:
        answered(name)
    main(["links", *(f"{site.url}{name}" for name in names), "--concurrency", "1", "--retries", "1", "-q", "-o", "l.csv"])
    assert times[1] - times[0] > 0.9
    assert sorted(site.targets) == ["/robots.txt", "/t/0", "/t/0", "/t/1", "/t/2", "/t/3"]


# --- one store of answers ---------------------------------------------------------------------------------------------


def crawled(site: Server, *options: str) -> list[str]:
    site.asked.clear()
    main(["mirror", f"{site.url}/docs/", "-o", "m", *DEEP, "--save", "s.warc.gz", *options])
    return sorted(site.targets)


def test_what_is_saved_and_young_is_not_asked_for_again(site: Server) -> None:
    assert len(crawled(site)) == 1 + len(DOCS)
    assert Path("s.warc.gz").stat().st_mode & 0o777 == 0o600
    first = Path("m/127.0.0.1:{site.port}/docs/a.html").exists()
    assert crawled(site, "--max-age", "1d") == ["/robots.txt"]  # it is not there, which may change
    assert Path("m/127.0.0.1:{site.port}/docs/a.html").exists() == first
    assert len(crawled(site)) == 1 + len(DOCS)


def test_a_server_is_asked_whether_it_changed(site: Server) -> None:
    site.answers["/docs/"] = [page(b"<a href=a.html>", 'ETag: "1"'), status(304, 'ETag: "1"')]
    assert crawled(site) == ["/docs/", "/docs/a.html", "/robots.txt"]
    assert crawled(site) == ["/docs/", "/docs/a.html", "/robots.txt"]
    assert [one.fields.get("if-none-match") for one in site.asked if one.target == "/docs/"] == ['"1"']
    assert crawled(site, "--max-age", "1d") == ["/robots.txt"]
    assert main(["documents", "s.warc.gz", "--columns", "url,status", "-o", "d.jsonl"]) == 0
    statuses = [json.loads(line).get("status") for line in Path("d.jsonl").read_text("utf-8").splitlines()]
    assert statuses.count(304) == 1


def test_a_half_record_is_cut_off_and_a_file_that_is_no_capture_stays(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    crawled(site)
    whole = Path("s.warc.gz").read_bytes()
    Path("s.warc.gz").write_bytes(whole + whole[: len(whole) // 3][:300])
    main(["links", f"{site.url}/docs/a.html", "--save", "s.warc.gz", "-o", "l.csv", "--max-age", "1h"])
    assert "its last record was half there, and is cut off" in capsys.readouterr().err
    assert Path("s.warc.gz").read_bytes().startswith(whole)
    assert main(["documents", "s.warc.gz", "-o", "d.jsonl"]) == 0
    Path("s.warc.gz").write_bytes(b"my notes")
    assert main(["links", f"{site.url}/docs/a.html", "--save", "s.warc.gz", "-o", "l.csv"]) == 2
    assert Path("s.warc.gz").read_bytes() == b"my notes"


def test_two_runs_do_not_write_one_file(site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with Store("s.warc.gz", 0, Settings()):
        assert main(["links", f"{site.url}/docs/a.html", "--save", "s.warc.gz", "-o", "l.csv"]) == 2
    assert "another run writes into s.warc.gz" in capsys.readouterr().err
    assert site.targets == []


def kept(site: Server, name: str, head: bytes = b"HTTP/1.1 200 X", date: str | None = None, more: dict[str, str] | None = None) -> bytes:
    """Return a record of a response that is not what the server answers."""
    fields = {"WARC-Type": "response", "WARC-Date": date or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **(more or {})}
    block = head + b"\r\nContent-Type: text/html\r\n\r\n<a href=kept-%b>" % name.encode()
    return record(fields | {"WARC-Target-URI": f"{site.url}/docs/{name}", "Content-Type": "application/http; msgtype=response"}, block)


def linked(site: Server, *names: str) -> list[str]:
    site.asked.clear()
    main(["links", *(f"{site.url}/docs/{name}" for name in names), "--save", "s.warc", "--max-age", "1h", "-o", "l.jsonl", "--retries", "0"])
    return [json.loads(line)["reference"] for line in Path("l.jsonl").read_text("utf-8").splitlines()]


def test_the_record_of_a_url_is_read_wherever_it_is(site: Server) -> None:
    Path("s.warc").write_bytes(gzip.compress(kept(site, "a.html") + kept(site, "b.html")))
    assert linked(site, "a.html", "b.html") == ["kept-a.html", "kept-b.html"]


@pytest.mark.parametrize(("head", "date", "more"), [
    (b"HTTP/1.1 200 X", "2999-01-01T00:00:00Z", {}), (b"HTTP/1.1 200 X", None, {"WARC-Truncated": "length"}), (b"HTTP/1.1 206 X", None, {}),
    (b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked", None, {}), (b"HTTP/1.1 304 X", None, {}), (b"HTTP/1.1 404 X", None, {}),
])
def test_what_is_no_whole_answer_of_the_past_is_asked_for(head: bytes, date: str | None, more: dict[str, str], site: Server) -> None:
    Path("s.warc").write_bytes(kept(site, "b.html") + kept(site, "a.html", head, date, more))
    assert linked(site, "a.html", "b.html") == ["/", "kept-b.html"]


@pytest.mark.parametrize(("pack", "size"), [(bytes, 100), (bytes, 230), (gzip.compress, 1), (gzip.compress, 100)])
def test_a_half_record_is_cut_off_wherever_it_ends(pack: Callable[[bytes], bytes], size: int, site: Server, capsys: pytest.CaptureFixture[str]) -> None:
    whole = pack(kept(site, "a.html"))
    Path("s.warc").write_bytes(whole + pack(kept(site, "b.html"))[:size])
    assert linked(site, "a.html") == ["kept-a.html"]
    assert f"and is cut off ({size} bytes)" in capsys.readouterr().err
    assert Path("s.warc").read_bytes()[len(whole) :].startswith(whole[:3])


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/full"])
def test_what_is_saved_is_a_file(path: str, site: Server) -> None:
    assert main(["links", f"{site.url}/docs/a.html", "--save", path, "-o", "l.csv"]) == 2
    assert site.targets == []
