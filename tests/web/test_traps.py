"""What servers do to those who ask them: each trap ends as documented, in time, and nothing else is asked for."""

import gzip
import os
import time
import tracemalloc
import zlib
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import pytest

from absolve.audit import answers as recorded
from absolve.core.errors import UsageError
from absolve.document.settings import Settings
from absolve.run.web import exchange, fetching
from absolve.run.web.client import Client
from absolve.run.web.exchange import Asking
from absolve.run.web.ranges import Archives
from absolve.urls.access import is_public
from tests.shapes import captures
from tests.shapes.trap_server import Answer, Server, addresses, endless, moved, page, response, serving, slowly, status

LINK = b"<a href=x>"
ASKING = Asking(timeout=1, retries=0)

CHUNKED = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"


def _asked(asking: Asking, *urls: str) -> list[exchange.Answer]:
    with Client(asking) as made:
        return [found for url in urls for found in made.engine.run(iter([made.answer(url), None]).__next__, 1)]


def asked(server: Server, *targets: str, asking: Asking = ASKING) -> list[exchange.Answer]:
    return _asked(asking, *(f"{server.url}{target}" for target in targets))


def one(answers: Mapping[str, Answer | list[Answer]], target: str = "/a", asking: Asking = ASKING) -> tuple[exchange.Answer, Server]:
    with serving(answers) as server:
        (found,) = asked(server, target, asking=asking)
        return found, server


@pytest.mark.parametrize(("answer", "body"), [
    (page(LINK), LINK),
    (b"HTTP/1.0 200 OK\r\n\r\n" + LINK, LINK),
    (CHUNKED + b"5\r\n<a hr\r\n5\r\nef=x>\r\n0\r\n\r\n", LINK),
    (page(zlib.compress(LINK), "Content-Encoding: deflate"), LINK),
    (page(LINK, "Content-Encoding: gzip"), LINK),  # a lie
    (page(b""), b""),
    (status(204), b""),
    (page(b"5\r\n<a hr\r\n0\r\n\r\n"), b"5\r\n<a hr\r\n0\r\n\r\n"),  # like chunks, and none
    (CHUNKED + b"f\r\n5\r\n<a hr\r\n0\r\n\r\n\r\n0\r\n\r\n", b"5\r\n<a hr\r\n0\r\n\r\n"),
])
def test_a_body_is_read_without_its_codings(answer: bytes, body: bytes) -> None:
    found, server = one({"/a": answer})
    assert (found.problem, found.body) == (None, body)
    assert b"transfer-encoding" not in found.head.lower()
    assert server.targets == ["/robots.txt", "/a"]


@pytest.mark.parametrize(("answer", "code"), [
    (status(404), "http-status"),
    (page(LINK)[:-3], "broken-response"),  # shorter than its length
    (CHUNKED + b"a\r\n<a hr", "broken-response"),
    (CHUNKED + b"zz\r\n", "broken-response"),
    (b"SSH-2.0-x\r\n", "broken-response"),
    (b"", "broken-response"),
    (response(LINK, "Content-Length: 3"), "broken-response"),  # two lengths
    (slowly(page(LINK), 0.3), "timeout"),
    (lambda client: client.recv(1) and None, "timeout"),  # nothing
    (endless(b"HTTP/1.1 200 OK\r\n\r\n"), "too-large"),
    (endless(b"HTTP/1.1 200 OK\r\nA: "), "broken-response"),
    (endless(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"), "broken-response"),
    (endless(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"), "broken-response"),
    (page(gzip.compress(b"x" * 2_000_000), "Content-Encoding: gzip"), "too-large"),
    (page(gzip.compress(LINK), "Content-Encoding: gzip", *["A: b"] * 10_001), "broken-response"),
    (page(gzip.compress(LINK * 99)[:-20], "Content-Encoding: gzip"), "truncated"),
    (page(LINK, f"Content-Encoding: {','.join(['gzip'] * 50)}"), "unknown-coding"),
])
def test_a_response_that_cannot_be_read_is_a_problem(answer: Answer, code: str) -> None:
    settings = Settings(max_size=1_000_000, max_decompressed=1_000_000)
    found, server = one({"/a": answer}, asking=ASKING._replace(settings=settings))
    assert found.problem is not None
    assert (found.problem.code, found.problem.name) == (code, f"{server.url}/a")


def test_no_more_answers_are_in_memory_than_may_be_asked_for_at_once() -> None:
    with serving({"/slow": slowly(page(LINK), 0.005), **{f"/{number}": page(LINK) for number in range(20)}}) as server:
        urls = [f"{server.url}{target}" for target in server.answers]
        given = fetching.answered(urls, lambda url: url, ASKING._replace(concurrency=(3, 3), robots=False, timeout=5))
        assert next(given)[0] == urls[0]
        assert len(server.asked) <= 3
        assert [url for url, _ in given] == urls[1:]


def test_redirects_are_followed_and_kept() -> None:
    found, server = one({"/a": moved("b/c?d", 301), "/b/c?d": moved("../e#f", 307), "/e": page(LINK)})
    assert [one.url.removeprefix(server.url) for one in found.responses] == ["/a", "/b/c?d", "/e"]
    assert found.head.count(b"HTTP/1.1 ") == 3
    assert found.body == LINK


@pytest.mark.parametrize(("location", "code"), [
    *((url, "refused-scheme") for url in ("file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:x", "data:,x")), ("http://[", "malformed"),
    (f"http://{'a' * 70}.example/", "unknown-host"), ("/a", "redirects"), ("//127.0.0.1:1/", "unreachable"),
])
def test_a_redirect_that_leads_nowhere_is_a_problem(location: str, code: str) -> None:
    found, _ = one({"/a": moved(location)})
    assert found.problem is not None
    assert found.problem.code == code


def test_no_secret_goes_to_another_origin() -> None:
    fields = (("Authorization", "Bearer x"), ("Cookie", "a=b"), ("X-Key", "c"), ("User-Agent", "me"))
    with serving({"/x": page(LINK)}) as other, serving({"/a": moved(f"{other.url}/x")}) as server:
        (found,) = asked(server, "/a", asking=ASKING._replace(fields=fields))
    assert found.problem is None
    assert {"authorization", "cookie", "x-key"} <= server.asked[-1].fields.keys()
    assert all({"authorization", "cookie", "x-key"}.isdisjoint(one.fields) for one in other.asked)
    assert other.asked[-1].fields["user-agent"] == "me"


def test_a_user_in_the_url_is_for_its_origin_and_in_no_request() -> None:
    with serving({"/x": page(LINK)}) as other, serving({"/a": moved(f"{other.url}/x")}) as server:
        _asked(ASKING, server.url.replace("//", "//me:p%40ss@") + "/a")
    assert server.asked[-1].fields["authorization"] == "Basic bWU6cEBzcw=="
    assert "authorization" not in other.asked[-1].fields
    assert server.targets[-1] == "/a"


def test_a_private_address_is_refused() -> None:
    found, server = one({"/a": page(LINK)}, asking=ASKING._replace(private=False))
    assert found.problem is not None
    assert found.problem.code == "refused-address"
    assert server.targets == []


def test_a_name_that_leads_to_a_private_address_is_refused_when_a_socket_is_to_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/a": page(LINK)}) as server:
        connected = addresses(server, monkeypatch, {"rebinding.example": "10.0.0.1,192.168.0.1", "public.example": "10.0.0.1,8.8.8.8"})
        urls = [f"http://{host}.example:{server.port}/a" for host in ("rebinding", "public")]
        first, second = _asked(ASKING._replace(private=False, robots=False), *urls)
    assert first.problem is not None
    assert (first.problem.code, second.problem) == ("refused-address", None)
    assert first.problem.text.startswith(f"rebinding.example:{server.port} has no public address: 10.0.0.1, 192.168.0.1 (")
    assert connected == {"8.8.8.8"}


@pytest.mark.parametrize(("address", "expected"), [
    ("8.8.8.8", True), ("2606:4700::1", True), ("127.0.0.1", False), ("10.0.0.1", False), ("169.254.169.254", False),
    ("100.64.0.1", False), ("0.0.0.1", False), ("255.255.255.255", False), ("224.0.0.1", False), ("::1", False),
    ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False), ("::ffff:8.8.8.8", True),
    ("64:ff9b::7f00:1", False), ("64:ff9b::808:808", True), ("2002:7f00:1::", False), ("::127.0.0.1", False),
    ("64:ff9b:1::7f00:1", False), ("::ffff:0:7f00:1", False), ("fec0::1", False), ("3fff::1", False), ("4000::1", False),
    ("192.88.99.1", False),
])  # fmt: skip
def test_an_address_is_public(address: str, *, expected: bool) -> None:
    assert is_public(address) == expected


@pytest.mark.parametrize(("robots", "allowed"), [
    (response(b"User-agent: *\nDisallow: /a\n"), False), (response(b"User-agent: absolve\nDisallow: /\n"), False),
    (response(b"User-agent: *\nDisallow: /*.pdf$\n"), True), (status(403), True), (status(500), False), (moved("/other"), False),
    (moved("/robots.txt"), True), (moved("file:///x"), True), (endless(b"HTTP/1.1 200 OK\r\n\r\n"), True),
    (endless(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /a\n"), False),
])
def test_robots_are_followed(robots: Answer, *, allowed: bool) -> None:
    other = response(b"User-agent: *\nDisallow: /a\n")
    found, server = one({"/a": page(LINK), "/robots.txt": robots, "/other": other})
    assert (found.problem is None) == allowed
    assert ("/a" in server.targets) == allowed
    found, server = one({"/a": page(LINK), "/robots.txt": robots}, asking=ASKING._replace(robots=False))
    assert (found.problem, server.targets) == (None, ["/a"])


@pytest.mark.parametrize("robots", [slowly(response(b"User-agent: *\n" * 9), 0.2), lambda _: time.sleep(1)])
def test_robots_that_hang_end_with_the_timeout_and_nothing_is_asked_for(robots: Answer) -> None:
    began = time.monotonic()
    found, server = one({"/a": page(LINK), "/robots.txt": robots}, asking=ASKING._replace(timeout=0.5, retries=0))
    assert found.problem is not None
    assert (found.problem.code, server.targets) == ("timeout", ["/robots.txt"])
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(("answers", "retries", "status_"), [
    ([status(503), page(LINK)], 1, 200), ([status(429, "Retry-After: 1"), page(LINK)], 1, 200), ([status(503), page(LINK)], 0, 503),
    ([status(429, "Retry-After: 3600"), page(LINK)], 1, 429), ([status(503, "Retry-After: Mon, 01 Jan 2001 00:00:00 GMT"), page(LINK)], 1, 200),
    ([status(503, "Retry-After: Fri, 31 Dec 99999999 23:59:59 GMT"), page(LINK)], 1, 503), ([b"", page(LINK)], 1, 200),
    ([status(500), page(LINK)], 1, 500), ([status(408), page(LINK)], 1, 200),
])
def test_another_try_is_made_where_it_may_help(answers: list[Answer], retries: int, status_: int) -> None:
    found, _ = one({"/a": answers}, asking=ASKING._replace(retries=retries))
    assert found.responses[-1].status == status_
    assert found.problem is None or found.problem.code == "http-status"


def test_a_file_of_cookies_may_have_those_of_a_session(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    lines = [f"127.0.0.1\tFALSE\t/\tFALSE\t{end}\t{name}\tv" for name, end in (("a", 0), ("b", 1), ("c", 4_000_000_000))]
    file.write_text("# Netscape HTTP Cookie File\n" + "\n".join([*lines, f"#HttpOnly_{lines[2].replace('c', 'd')}"]) + "\n")
    _, server = one({"/a": page(LINK)}, asking=ASKING._replace(cookies=str(file)))
    assert set(server.asked[-1].fields["cookie"].split("; ")) == {"a=v", "c=v", "d=v"}


def test_servers_cannot_set_cookies_without_end() -> None:
    answers = {f"/{page_}": page(LINK, *(f"Set-Cookie: {page_}-{number}=v" for number in range(900))) for page_ in range(4)}
    with serving(answers) as server:
        asked(server, *answers)
    assert len(server.asked[-1].fields["cookie"].split("; ")) < 2000


@pytest.mark.parametrize("fields", [("Content-Length", "5"), ("host", "x"), ("Transfer-Encoding", "chunked"), ("a b", "c"), ("a", "b\r\nc: d")])
def test_a_field_that_breaks_a_request_is_refused(fields: tuple[str, str]) -> None:
    with pytest.raises(UsageError):
        Client(Asking((fields,)))


@pytest.mark.parametrize(
    ("proxy", "field"), [("http://u:p%40@{}", "Basic dTpwQA=="), ("{}", None), ("http://u:PW@[::", "broken"), ("socks5://127.0.0.1:1", "broken")]
)
def test_a_proxy_of_the_environment_is_asked(proxy: str, field: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"http://h.example/a": page(LINK), "http://h.example/robots.txt": status(404)}) as server:
        monkeypatch.setenv("http_proxy", proxy.format(server.url.removeprefix("http://")))
        (found,) = _asked(ASKING, "http://h.example/a")
    if field == "broken":
        assert found.problem is not None
        assert (found.problem.code, "PW" in str(found.problem), server.asked) == ("unreachable", False, [])
    else:
        assert (found.body, server.asked[-1].fields.get("proxy-authorization")) == (LINK, field)


@pytest.mark.parametrize("line", [b"user-agent:%d", b"user-agent: *\nallow:%d", b"user-agent: *\nallow: /%d*a*b$"])
def test_a_robots_txt_with_thousands_of_groups_and_rules_takes_no_time_and_no_memory(line: bytes) -> None:
    lines = [*(line % number for number in range(4000)), *(b"allow:%d" % number for number in range(4000)), b"user-agent: Absolve", b"disallow: /b"]
    rules = response(b"\n".join(lines))
    tracemalloc.start()
    began = time.monotonic()
    try:
        with serving({"/robots.txt": rules, "/a": page(LINK)}) as server:
            found, refused = asked(server, "/a", "/b", asking=ASKING._replace(timeout=20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.problem, refused.problem and refused.problem.code) == (None, "robots")
    assert time.monotonic() - began < 10
    assert peak < 20_000_000


@pytest.mark.parametrize(("body", "code"), [(b"x" * 3000, "too-large"), (captures.page("http://h.example/", b"x" * 3000), None)])
def test_a_body_that_is_no_archive_has_a_lower_bound(body: bytes, code: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.run.web.client._MOST_OF_A_PAGE", 2000)
    found, _ = one({"/a": response(body)})
    assert (found.problem and found.problem.code) == code
    found, _ = one({"/a": response(body)}, asking=ASKING._replace(settings=Settings(max_size=4000)))
    assert found.problem is None


def test_the_bodies_of_redirects_are_bounded_together() -> None:
    answers = {f"/{number}": response(b"x" * 800, f"Location: /{number + 1}", code=302) for number in range(9)}
    found, _ = one({**answers, "/9": page(LINK)}, "/0", ASKING._replace(settings=Settings(max_size=4000)))
    assert (found.problem and found.problem.code) == "too-large"


def test_cookies_stay_with_their_origin(tmp_path: Path) -> None:
    (tmp_path / "jar").write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tk\tv\n")
    with serving({"/x": page(LINK)}) as other:
        answers = {"/a": status(302, f"Location: {other.url}/x", "Set-Cookie: set=v; Path=/")}
        with serving(answers) as server:
            asked(server, "/a", "/b", asking=ASKING._replace(cookies=str(tmp_path / "jar"), robots=False))
    assert [one.fields.get("cookie") for one in server.asked] == ["k=v", "k=v; set=v"]
    assert [one.fields.get("cookie") for one in other.asked] == [None]


def test_the_user_in_a_redirect_is_in_no_url_and_in_no_capture() -> None:
    with serving({"/x": page(LINK)}) as server:
        server.answers["/a"] = [moved(f"{server.url.replace('//', '//u:p@')}/x")]
        (found,) = asked(server, "/a")
    assert [one.url for one in found.responses] == [f"{server.url}/a", f"{server.url}/x"]
    assert b"u:p@" not in found.head
    assert "authorization" not in server.asked[-1].fields


def test_a_message_says_that_a_header_is_too_large() -> None:
    found, _ = one({"/a": moved(f"/{'x' * 200_000}")})
    assert "its header is too large" in str(found.problem)


@pytest.mark.parametrize(("url", "reason"), [("http://127.0.0.1:1/", "connection refused"), ("http://nowhere.invalid/", "no host has the name")])
def test_a_message_says_why_there_is_no_connection(url: str, reason: str) -> None:
    (found,) = _asked(ASKING, url)
    assert found.problem is not None
    assert reason in found.problem.text


def test_a_cookie_of_the_user_goes_to_no_host_that_only_a_server_names(tmp_path: Path) -> None:
    jar = "".join(f"{host}.example\tFALSE\t/\tFALSE\t4000000000\tk\t{host}\n" for host in ("own", "other"))
    (tmp_path / "jar").write_text(f"# Netscape HTTP Cookie File\n{jar}")
    with serving({"/a": moved("http://other.example/b"), "/b": moved("http://own.example/c"), "/c": page(LINK)}) as server:
        resolved = tuple((f"{host}.example", server.url) for host in ("own", "other"))
        _asked(ASKING._replace(cookies=str(tmp_path / "jar"), resolved=resolved, robots=False), "http://own.example/a")
    assert [one.fields.get("cookie") for one in server.asked] == ["k=own", None, "k=own"]


@pytest.mark.parametrize(("answer", "wall"), [
    (status(403), ""), (status(405), ""), (status(503), ""), (status(403, "X-DataDome: protected"), "DataDome keeps robots out"),
    (status(403, "CF-Mitigated: challenge"), "Cloudflare keeps robots out"), (status(999), "LinkedIn keeps robots out"),
])
def test_only_what_a_product_sends_is_its_wall(answer: bytes, wall: str) -> None:
    found, _ = one({"/a": answer})
    assert [heard.problem for heard in recorded.from_responses(found, Settings(), compares=False)] == [wall]


@pytest.mark.parametrize("line", ["Set-Cookie: a=b\nX-More: 1", "Set-Cookie: a=b\n X-More: 1"])
def test_a_server_adds_no_field_to_a_request(line: str) -> None:
    _, server = one({"/a": status(302, line, "Location: /b"), "/b": page(LINK)})
    assert "x-more" not in server.asked[-1].fields
    assert server.asked[-1].fields["cookie"].startswith("a=b")


def test_a_header_may_end_its_lines_with_lf() -> None:
    data = gzip.compress(LINK)
    found, server = one({"/a": b"HTTP/1.1 200 X\nContent-Encoding: gzip\nSet-Cookie: a=b\nContent-Length: %d\n\n%b" % (len(data), data)})
    assert (found.body, found.responses[-1].message["Set-Cookie"], server.targets[-1]) == (LINK, "a=b", "/a")


@pytest.mark.parametrize("body", [b"", b"5\r\n<a hr\r\n5\r\nef=x>\r\n"])
def test_lines_after_a_body_are_no_header(body: bytes) -> None:
    found, server = one({"/a": CHUNKED + body + b"0\r\nHTTP/1.1 302 X: y\r\nLocation: /b\r\nSet-Cookie: a=b\r\n\r\n"})
    assert (found.head, server.targets) == (b"HTTP/1.1 200 X\r\n\r\n", ["/robots.txt", "/a"])


@pytest.mark.parametrize("target", ["/%c3%a9", "/%C3%A9", "/a%2fb?c=%2f", "/?%aa", "/..%2f"])
def test_a_url_is_asked_for_as_it_is_written(target: str) -> None:
    found, _ = one({target: page(LINK)}, target)
    assert found.body == LINK


def test_a_program_may_have_more_than_1024_open_files() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] != resource.RLIM_INFINITY and limits[1] < 2048:
        pytest.skip("this system allows fewer")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, limits[1]))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        found, _ = one({"/a": page(LINK)})
    finally:
        deque(map(os.close, opened), maxlen=0)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert found.body == LINK


@pytest.mark.parametrize(("location", "words"), [("file:///etc/passwd", "only http and https"), ("http://[", "is no URL")])
def test_a_redirect_of_an_archive_leads_to_the_web(location: str, words: str) -> None:
    with serving({"/a.warc.gz": moved(location)}) as server, pytest.raises(OSError, match=words):
        Archives(1, 0).info(f"{server.url}/a.warc.gz")
