"""Links to other sites and old URLs are judged by what servers answer, on loopback, or answered when others asked."""

import gzip
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from audited import NEW, OLD, Audit, audited, links, page, printed, written

from absolve.audit import answered, answers
from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.document.settings import Settings
from tests.shapes import captures
from tests.shapes.trap_server import Answer, Server, moved, serving, slowly, status
from tests.shapes.trap_server import page as sent

HOST = "http://ext.example"
GONE = b"<title>x</title><h1>Not found</h1><p>We have no such page."
SHELL = b"<div id=app></div><script src=/app.js></script>"
FOUND: dict[str, tuple[Answer | list[Answer], str, str]] = {  # the answer for a path -> verdicts of a link and an answer
    "/ok": (sent(b"<h1 id=here>x</h1>"), "external", "works"),
    "/ok#here": (b"", "external", "works"),
    "/ok#missing": (b"", "fragment", "works"),
    "/ok#:~:text=x": (b"", "external", "works"),
    "/ok#here:~:text=x": (b"", "external", "works"),
    "/ok#/route": (b"", "external", "works"),
    "/script#missing": (sent(b"<script src=x></script><p>" + b"words " * 60), "unsure", "works"),
    "/user#name": (sent(b"<a id=user-content-name></a>"), "external", "works"),
    "/gone": (status(410), "broken", "gone"),
    "/get-only": ([status(405), sent(b"x")], "external", "works"),
    "/head-lies": ([status(404), sent(b"x")], "external", "works"),
    "/sign-in-first": (status(401), "unsure", "refused"),
    "/wall": (status(403), "unsure", "unsure"),
    "/busy": (status(429, "Retry-After: 9999"), "unsure", "unsure"),
    "/failed": (status(500), "unsure", "unsure"),
    "/slow": (slowly(sent(b"x" * 50), 0.2), "unsure", "unsure"),
    "/moved": (moved("/ok", 301), "redirected", "redirected"),
    "/moved#here": (b"", "redirected", "redirected"),
    "/for-now": (moved("/here", 302), "external", "redirected"),
    "/here": (sent(b"here"), "external", "works"),
    "/half": (moved("/for-now", 308), "external", "redirected"),
    "/home": (moved("/", 301), "redirected", "redirected"),
    "/login": (moved("/sign-in?next=x", 301), "redirected", "redirected"),
    "/": (sent(b"home"), "external", "works"),
    "/sign-in?next=x": (sent(b"who?"), "external", "works"),
    "/loop": (moved("/loop2", 301), "loop", "gone"),
    "/loop2": (moved("/loop", 301), "loop", "gone"),
    "/to-nothing": (moved("/nothing", 301), "broken", "gone"),
    "/nothing": (status(404), "broken", "gone"),
    "/to-a-file": (moved("file:///etc/passwd", 301), "unsure", "refused"),
    "/to-metadata": (moved("http://169.254.169.254/latest/", 301), "unsure", "refused"),
    "/to-localhost": (moved("http://localhost.:1/", 301), "unsure", "refused"),
    "/to-this-machine": (moved("http://[::1]:1/", 301), "unsure", "refused"),
    "/cut": (sent(b"x" * 9)[:-3], "external", "works"),  # HEAD has no body
}
FIXED = {"/moved", "/moved#here"}


def live(folder: Path, server: Server, site: Mapping[str, str], *arguments: object, **given: Any) -> Audit:
    hosts = ("ext.example", "soft.example", "shell.example", "new.example", "old.example")
    how = [word for host in hosts for word in ("--resolve", f"{host}={server.url}")]
    return audited(folder, site, *how, "--retries", "0", "--timeout", "2", *arguments, **given)


def test_links_to_other_sites_are_judged_by_their_servers(tmp_path: Path) -> None:
    known = {path: answer for path, (answer, *_) in FOUND.items() if answer}
    site = {"index.html": links(*(f"{HOST}{path}" for path in FOUND), "http://no-such-host.invalid/", "mailto:a@b.example")}
    served = {path.partition("#")[0]: answer for path, answer in known.items()}
    with serving(served) as server:
        done = live(tmp_path, server, site, "--live", "external", "--resolve", "no-such-host.invalid=http://127.0.0.1:1")
    rows = {row["url"]: row for row in done.tables["answers"]}
    for path, (_, verdict, answer) in FOUND.items():
        row = done.link(f"{HOST}{path}")
        assert (path, row["verdict"], rows[f"{HOST}{path.partition('#')[0]}"]["verdict"]) == (path, verdict, answer)
        assert (row["fix"] is not None) == (path in FIXED), path
    assert done.link(f"{HOST}/moved#here")["fix"] == f"{HOST}/ok#here"
    asked = [one.target for one in server.asked]
    assert max(Counter(asked).values()) <= 2, "HEAD and GET, though several redirects lead there, too"
    assert set(asked) == {*served, "/robots.txt", "/absolve-asks-for-what-is-not-there"}
    assert done.link("http://no-such-host.invalid/")["verdict"] == "unsure"
    assert done.status == 1


def answer(url: str, code: int | None, target: str | None = None, **more: Any) -> answers.Answer:
    return answers.Answer(url, code, target, **more)


def test_an_unknown_host_is_gone_only_if_the_network_is_there() -> None:
    unknown = answer("http://none.example/", None, problem="unknown-host: no host has the name none.example")
    for others, expected in (((), "unsure"), ((answer(f"{HOST}/", 500),), "gone")):
        found = answered.Answers([unknown, *others]).verdict("http://none.example/")
        assert found is not None
        assert found[0] == expected


def test_a_page_to_which_several_urls_lead_is_no_repair() -> None:
    moves = [answer(f"{HOST}/{name}", 301, f"{HOST}/all") for name in "abc"]
    for some, expected in ((moves[:2], True), (moves, False)):
        known = answered.Answers([*some, answer(f"{HOST}/all", 200)])
        outcome = known.outcome(f"{HOST}/a")
        assert outcome is not None
        assert known.is_sure(f"{HOST}/a", outcome) is expected


def test_head_takes_nothing_from_what_get_showed() -> None:
    shown = answers.Page(frozenset({"here"}), 1, is_shell=False, has_scripts=False)
    for code, expected in ((200, shown), (404, None)):
        found = answered.Answers([answer(f"{HOST}/", 200, page=shown), answer(f"{HOST}/", code)]).outcome(f"{HOST}/")
        assert found is not None
        assert found.page == expected


def test_a_page_for_everything_is_no_page(tmp_path: Path) -> None:
    """A server that sends its page for what is not there, or its shell for scripts, with status 200."""
    soft = {"/absolve-asks-for-what-is-not-there": sent(GONE), "/lost": sent(GONE), "/there": sent(b"<h1>Hello</h1><p>There.")}
    for given, expected in ((soft, {"lost": "broken", "there": "external"}), (dict.fromkeys(soft, sent(SHELL)), {"lost": "unsure", "there": "unsure"})):
        with serving(given) as server:
            done = live(tmp_path, server, {"index.html": links("http://soft.example/lost", "http://soft.example/there")}, "--live", "external")
        assert {name: done.link(f"http://soft.example/{name}")["verdict"] for name in expected} == expected


MAP = "/a /b.html 301\n/c /b.html 301\n/d /b.html 301\n/e /b.html 301\n/gone /x 410\n/same /b.html 301\n"
OLD_PAGES = {f"{name}.html" if name == "kept" else name: page(f"<p>{name} has words of its own") for name in ("a", "c", "d", "e", "gone", "same", "kept", "lost")}


def test_old_urls_are_compared_with_the_maps(tmp_path: Path) -> None:
    """Each fault of a server's configuration is a finding with what was expected."""
    served: dict[str, Answer | list[Answer]] = {
        "/a": moved(f"{NEW}b.html", 301), "/c": status(404), "/d": moved(f"{NEW}other.html", 301), "/e": moved(f"{NEW}b.html", 302),
        "/gone": sent(b"still here"), "/same": moved(f"{OLD}hop", 301), "/hop": moved(f"{NEW}b.html", 301),
        "/kept.html": moved(f"{NEW}kept.html", 301),
    }
    there: dict[str, Answer | list[Answer]] = {name: sent(b"x") for name in ("/b.html", "/other.html", "/kept.html")}
    new = {"index.html": links("b.html", "kept.html", "other.html"), "b.html": page(), "other.html": page("o"), "kept.html": OLD_PAGES["kept.html"]}
    with serving(served) as server, serving(there) as other:
        resolved = ("--resolve", f"new.example={other.url}")
        done = live(tmp_path, server, new, "--live", "old", *resolved, old=OLD_PAGES, maps={"_redirects": MAP})
    assert [one.target for one in other.asked].count("/b.html") == 1
    found = {row["url"].removeprefix(OLD): row["detail"] for row in done.tables["pages"] if row["verdict"] == "differs"}
    expected = f"; expected: {NEW}b.html"
    assert found == {
        "c": f"status 404{expected}", "d": f"it leads to {NEW}other.html{expected}", "e": f"its redirect has status 302, not 301{expected}",
        "gone": f"nothing was expected there, and it leads to {OLD}gone", "same": f"it takes 2 redirects{expected}",
    }


def test_what_works_is_not_asked_for_again_until_it_is_long_ago(tmp_path: Path) -> None:
    site = {"index.html": links(f"{HOST}/ok", f"{HOST}/gone")}
    path = tmp_path / "a.warc"
    with serving({"/ok": sent(b"x")}) as server:
        first = live(tmp_path, server, site, "--live", "external", "--save", path)
        assert {one.target for one in server.asked} == {"/robots.txt", "/ok", "/gone", "/absolve-asks-for-what-is-not-there"}
        server.asked.clear()
        second = live(tmp_path, server, site, "--live", "external", "--save", path)
        assert {one.target for one in server.asked} == {"/robots.txt", "/gone", "/absolve-asks-for-what-is-not-there"}
        server.asked.clear()
        offline = audited(tmp_path, site, "--answers", path)
        assert not server.asked
        path.write_bytes(re.sub(rb"WARC-Date: 20\d\d", b"WARC-Date: 2001", path.read_bytes()))
        live(tmp_path, server, site, "--live", "external", "--save", path)
        assert "/ok" in {one.target for one in server.asked}
    assert first.found == second.found == offline.found == {f"{HOST}/gone": "broken"}


def test_an_interrupted_audit_saves_what_it_was_answered(tmp_path: Path) -> None:
    site = written(tmp_path / "new", {"index.html": links(f"{HOST}/ok", "http://slow.example/slow")})
    saved = tmp_path / "a.warc.gz"
    asks = threading.Event()

    def hang(_: object) -> None:
        asks.set()
        time.sleep(30)

    with serving({"/ok": sent(b"x"), "/slow": hang}) as server:
        how = [word for host in ("ext.example", "slow.example") for word in ("--resolve", f"{host}={server.url}")]
        command = [sys.executable, "-m", "absolve", "audit", str(site), "--url", NEW, "--live", "external", "--save", str(saved)]
        run = subprocess.Popen([*command, *how, "--retries", "0"], stderr=subprocess.PIPE)
        assert asks.wait(60)
        while "/absolve-asks-for-what-is-not-there" not in server.targets:
            time.sleep(0.05)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        _, shown = run.communicate(timeout=60)
    assert run.returncode in {130, -signal.SIGINT}, shown
    assert b"those that came so far are saved" in shown
    urls = {one.url for one in answers.read_answers(str(saved), Settings(), notify=lambda _: None)}
    assert f"{HOST}/ok" in urls
    assert "http://slow.example/slow" not in urls


def test_only_the_hosts_that_are_meant_are_connected_to(tmp_path: Path) -> None:
    site = {"index.html": links(f"{HOST}/ok", "/inside.html", "http://127.0.0.1:1/private")}
    old = {"index.html": links("http://third.example/")}
    with serving({"/ok": sent(b"x")}) as server, serving({}) as other:
        elsewhere = [word for host in ("new.example", "old.example", "third.example") for word in ("--resolve", f"{host}={other.url}")]
        how = ["--resolve", f"ext.example={server.url}", *elsewhere, "--retries", "0", "--timeout", "2"]
        audited(tmp_path, site, "--live", "external", *how, old=old)
    assert set(server.targets) == {"/robots.txt", "/ok", "/absolve-asks-for-what-is-not-there"}
    assert not other.asked


def test_an_old_site_at_a_url_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "new", {"index.html": links("x")})
    _, err = printed(capsys, site, "--url", NEW, "--old", "http://127.0.0.1:1/", status=2)
    assert "absolve mirror http://127.0.0.1:1/ --depth 5 --save old.warc.gz" in err


# --- answers that others asked for ------------------------------------------------------------------------------------

LYCHEE = {"total": 2, "error_map": {"a.md": [{"url": f"{HOST}/gone", "status": {"text": "Rejected status code", "code": 404}}, {"url": f"{HOST}/cut", "status": {"text": "Network error"}}]}, "success_map": {"a.md": [{"url": f"{HOST}/ok", "status": {"text": "200 OK", "code": 200}}]}}
LINKINATOR = {"links": [{"url": f"{HOST}/gone", "status": 404, "state": "BROKEN", "parent": "/"}, {"url": f"{HOST}/cut", "status": 0, "state": "BROKEN"}, {"url": f"{HOST}/ok", "status": 200, "state": "OK"}], "passed": False}
CURL = [{"url": f"{HOST}/gone", "url_effective": f"{HOST}/gone", "response_code": 404, "errormsg": None}, {"url": f"{HOST}/cut", "response_code": 0, "errormsg": "Connection refused"}, {"url": f"{HOST}/ok", "url_effective": f"{HOST}/ok", "response_code": 200}]
OF_OTHERS = {
    "lychee.json": json.dumps(LYCHEE),
    "linkinator.json": json.dumps(LINKINATOR),
    "linkinator.csv": f'url,status,state,parent,failureDetails\n{HOST}/gone,404,BROKEN,/,"[]"\n{HOST}/cut,0,BROKEN,/,\n{HOST}/ok,200,OK,/,\n',
    "internal_all.csv": f'"Address","Content Type","Status Code","Status","Redirect URL"\n"{HOST}/gone","text/html","404","Not Found",""\n"{HOST}/cut","","0","Connection Refused",""\n"{HOST}/ok","text/html","200","OK",""\n',
    "all_outlinks.csv": f'"Type","Source","Destination","Status Code","Status","Target"\n"Hyperlink","{NEW}","{HOST}/gone","404","Not Found",""\n"Hyperlink","{NEW}","{HOST}/cut","301","Moved","_blank"\n"Hyperlink","{NEW}","{HOST}/ok","200","OK",""\n',
    "linkchecker-out.csv": f"# created by LinkChecker\nurlname;parentname;baseref;result;warningstring;infostring;valid;url\nx;{NEW};;404 Not Found;;;False;{HOST}/gone\ny;{NEW};;ConnectionError: refused;;;False;{HOST}/cut\nz;{NEW};;200 OK;;;True;{HOST}/ok\n",
    "curl.jsonl": "\n".join(map(json.dumps, CURL)),
    "plain.csv": f"{HOST}/gone,404\n{HOST}/cut,,,\n{HOST}/ok,200\n{HOST}/cut,0\n",
    "curl-i.txt": f"URL: {HOST}/gone\nHTTP/1.1 404 Not Found\n\nURL: {HOST}/ok\nHTTP/2 200\n\nURL: {HOST}/cut\nHTTP/2 503\n\n",
}  # fmt: skip


@pytest.mark.parametrize("name", OF_OTHERS)
def test_answers_of_other_programs_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(OF_OTHERS[name], "utf-8")
    found = answered.Answers(answers.read_answers(str(tmp_path / name), Settings()))
    verdicts = {one: found.verdict(f"{HOST}/{one}") for one in ("gone", "cut", "ok")}
    assert {one: verdict and verdict[0] for one, verdict in verdicts.items()} == {"gone": "gone", "cut": "unsure", "ok": "works"}
    assert name != "curl.jsonl" or verdicts["cut"] == ("unsure", "Connection refused"), "the words of another program"


@pytest.mark.parametrize(("name", "text"), [("a.json", "[]"), ("a.json", '{"url": 1}'), ("a.csv", "a,b\n1,2\n"), ("a.txt", "")])
def test_a_file_without_answers_is_an_error(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match="no answer"):
        list(answers.read_answers(str(tmp_path / name), Settings()))


@pytest.mark.parametrize(("name", "text", "failure"), [
    # as `curl -IL` prints it: the first answer is of a URL that nothing names
    ("a.txt", "HTTP/2 301\nlocation: http://ext.example/b\n\nHTTP/2 200\n\n", "a.txt:1: answers: an answer 301 without its URL"),
    ("a.jsonl", json.dumps(CURL[0]) + '\n{"url": "', "a.jsonl:2: answers: this is no JSON"),
])
def test_an_answer_that_cannot_be_read_is_a_failure(name: str, text: str, failure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = written(tmp_path, {"new/index.html": links(f"{HOST}/a"), name: text})
    assert failure in printed(capsys, root / "new", "--url", NEW, "--answers", root / name, status=3)[1]


@pytest.mark.parametrize(("cell", "lost"), [("x" * 200_000, "larger than"), ('"x', "not closed")])
def test_a_row_that_cannot_be_read_is_a_failure(cell: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An open quote takes all rows after it; the rows before it count."""
    rows = f"url,status,note\n{HOST}/gone,404,\n{HOST}/ok,404,{cell}\n{OLD}more,404,\n"
    root = written(tmp_path, {"new/index.html": links(f"{HOST}/gone", f"{HOST}/ok"), "a.csv": rows, "old.csv": rows.replace(HOST, OLD[:-1]).replace("404", "200")})
    given = ("--answers", str(root / "a.csv"), "--old", str(root / "old.csv"), "--old-url", OLD)
    assert main(["audit", str(root / "new"), "--url", NEW, *given, "--sql", "SELECT count(*) FROM answers WHERE kind = 'link'"]) == 3
    shown = capsys.readouterr()
    assert shown.out.split()[-1] == "1"
    assert [f"{name}.csv:3: " in shown.err for name in ("a", "old")] == [True, True]
    assert shown.err.count(lost) == 2


def test_deep_json_takes_no_stack(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a":' * 500 + "[" + json.dumps(CURL[0]) + "]" + "}" * 500)
    assert [one.status for one in answers.read_answers(str(tmp_path / "a.json"), Settings())] == [404]


def test_a_bomb_among_answers_ends_within_the_limits(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(captures.page(f"{HOST}/ok", gzip.compress(b"<p>" + b"x" * (3 << 20)), Content_Encoding="gzip"))
    (found,) = answers.read_answers(str(tmp_path / "a.warc"), Settings(max_decompressed=1 << 20))
    assert (found.status, found.page) == (200, None)


def test_a_link_with_the_port_of_the_server_has_its_own_answer(tmp_path: Path) -> None:
    """What is redirected there counts for the site without the port, and what is asked for there for itself."""
    with serving({"/here": sent(b"x"), "/moved": moved("there", 301), "/there": sent(b"y")}) as server:
        server.answers["/moved"] = [moved(f"{HOST}:{server.port}/there", 301)]
        site = {"index.html": links(f"{HOST}:{server.port}/gone", f"{HOST}/moved", f"{HOST}/here")}
        done = live(tmp_path, server, site, "--live", "external")
    assert [row["verdict"] for row in done.tables["links"]] == ["broken", "redirected", "external"]


def test_secrets_of_the_user_are_for_the_sites_that_the_user_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in a document names a host: neither a field, nor a cookie of the user, nor a password of .netrc goes there."""
    (tmp_path / ".netrc").write_text("machine ext.example login me password pw\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    jar = "".join(f"{host}\tFALSE\t/\tFALSE\t4000000000\tk\tsecret\n" for host in ("ext.example", "new.example"))
    (tmp_path / "jar.txt").write_text(f"# Netscape HTTP Cookie File\n{jar}")
    given = ("--header", "Authorization: Bearer secret", "--header", "X-Key: secret", "--cookies", tmp_path / "jar.txt")
    site = {"index.html": links(f"{HOST}/ok", "http://me:secret@ext.example/ok")}
    with serving({"/ok": status(302, "Location: /there", "Set-Cookie: own=1"), "/there": sent(b"x")}) as server:
        done = live(tmp_path, server, site, "--live", "all", *given, "--save", tmp_path / "a.warc")
        fields = [(one.fields["host"], {"authorization", "x-key", "cookie"} & one.fields.keys()) for one in server.asked]
        cookies = {one.fields.get("cookie") for one in server.asked if one.fields["host"] == "ext.example"}
    assert {host for host, secrets in fields if len(secrets) == 3} == {"new.example"}
    assert all(not secrets - {"cookie"} for host, secrets in fields if host == "ext.example")
    assert cookies == {None, "own=1"}, "those that the server set itself"
    assert "secret" not in str(done.tables["answers"])
    assert b"secret" not in (tmp_path / "a.warc").read_bytes()


LOCATIONS = {  # by whether the target of a redirect is written in place of the link
    True: {"/a": "/b", "/a?x=1": "/b?x=1", "/?p=12": "/2019/post/", "/": "http://www.ext.example/"},
    False: {
        "/b": "http://other.example/", "/": "http://parked.example/?d=ext.example", "/c": "/consent?continue=x",
        "/d": "/Account/LogOn?ReturnUrl=x", "/e?id=5": "/e", "/f": "/de/f", "/f2/": "http://ext.example/en-us/f2/",
        "/g": "/errors/404.html", "/h": "http://10.0.0.1/h", "/i": "http://intranet/i",
        "/j": "http://shop.example/?from=http%3A%2F%2Fext.example%2Fj", "/k": "/page;jsessionid=12",
    },
}  # fmt: skip


@pytest.mark.parametrize("is_sure", LOCATIONS)
def test_only_a_redirect_to_a_page_of_its_own_is_written(*, is_sure: bool, tmp_path: Path) -> None:
    for reference, location in LOCATIONS[is_sure].items():
        url = f"{HOST}{reference}"
        rows = [{"url": url, "status": 301, "location": location}, {"url": urljoin(url, location), "status": 200}]
        (tmp_path / "a.json").write_text(json.dumps(rows))
        found = answered.Answers(answers.read_answers(str(tmp_path / "a.json"), Settings()))
        outcome = found.outcome(url)
        assert outcome is not None
        assert (outcome.status, found.is_sure(url, outcome)) == (200, is_sure), reference


def test_the_fragment_of_a_redirect_wins_over_that_of_the_link(tmp_path: Path) -> None:
    rows = [{"url": f"{HOST}/a", "status": 301, "location": "/b#new"}, {"url": f"{HOST}/b", "status": 200}]
    (tmp_path / "a.json").write_bytes(json.dumps(rows).encode("utf-16"))  # as PowerShell writes it
    assert audited(tmp_path, {"index.html": links(f"{HOST}/a#old")}, "--answers", tmp_path / "a.json").link(f"{HOST}/a#old")["fix"] == f"{HOST}/b#new"


def test_the_url_of_a_configuration_file_that_was_found_is_no_host_that_the_user_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came with a download, perhaps: nothing in a private network is asked for it, and it gets no secrets."""
    monkeypatch.chdir(tmp_path)
    with serving({"/ok": sent(b"x"), "/index.html": sent(b"x")}) as server:
        written(tmp_path, {"site/index.html": links("ok"), "absolve.toml": f"url = '{server.url}/'\n"})
        for more, is_asked in (([], False), (["--config", "absolve.toml"], True), (["--url", f"{server.url}/"], True)):
            server.asked.clear()
            main(["check", "site", "--live", "new", "--header", "X-Secret: 1", "--retries", "0", *more])
            assert bool(server.asked) == is_asked
