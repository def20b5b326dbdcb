"""A served mirror: an origin for each host, the files of the map with their media types, nothing else, to this machine."""

import http.client
import re
import shutil
import socket
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from packed import mirrored

from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.mirror import lookup, serve
from absolve.mirror.serve import name_of
from tests.shapes.captures import entry, har, page

PAGE = b"<meta charset=utf-8><p>a"
MODULE = b"import './x.js'"
OF_H = "h.localhost"


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a mirror of four hosts; a test that changes files takes `own`."""
    pages = (
        entry("http://h/", "<a href=/a/>a</a>"), entry("http://h/a/", "<meta charset=utf-8><p>a"),
        entry("http://h/app.js", MODULE, "application/javascript; charset=utf-8"), entry("http://h/caf%C3%A9.txt", "x", "text/plain"),
        entry("http://h/odd.xyz", b"\x00\x01\x02", ""), entry("http://h/a/api.json?x=1", b"{}", "application/json"),
        entry("http://h/old", "", status=302, location="/a/#f"), entry("https://other.example:8443/x.png", b"png", "image/png"),
        entry("https://i0.example/h/app.js", b"other", "text/javascript"),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("served")
    assert mirrored(folder, "c.har", har(*pages))[0] == 0
    return folder / "m"


@pytest.fixture
def own(mirror: Path, tmp_path: Path) -> Path:
    (tmp_path / "c.har").write_bytes((mirror.parent / "c.har").read_bytes())
    return shutil.copytree(mirror, tmp_path / "m")


@contextmanager
def served(folder: Path) -> Iterator[int]:
    with serve.Server(folder) as found:
        thread = Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found.port
        finally:
            found.shutdown()
            thread.join(5)


class Answer(NamedTuple):
    status: int
    fields: http.client.HTTPMessage
    body: bytes

    @property
    def kind(self) -> tuple[int, str | None, bytes]:
        return self.status, self.fields["Content-Type"], self.body

    def location(self, port: int) -> str:
        return (self.fields["Location"] or "").replace(f".localhost:{port}", "")


def ask(port: int, target: str, *, method: str = "GET", host: str = OF_H, **fields: str) -> Answer:
    with closing(http.client.HTTPConnection(serve.HOST, port, timeout=5)) as connection:
        connection.putrequest(method, target, skip_host=True)
        for name, value in {"Host": f"{host}:{port}", **fields}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return Answer(answer.status, answer.msg, answer.read())


def client(port: int) -> socket.socket:
    return socket.create_connection((serve.HOST, port), 5)


def trickle(one: socket.socket) -> None:
    """Send a byte of a request at a time, each within the time for a byte."""
    for _ in range(60):
        one.sendall(b"G")
        time.sleep(0.05)


FILES = {
    ("application/javascript; charset=utf-8", MODULE): ("/h/app.js", "/app.js", "/h/app.js?v=1"),
    ("text/html", PAGE): ("/h/a/index.html", "/h/a/", "/a/"), ("text/plain", b"x"): ("/caf%C3%A9.txt", "/h/caf%c3%a9.txt"),
    ("application/octet-stream", b"\x00\x01\x02"): ("/odd.xyz",), ("application/json", b"{}"): ("/a/api.json?x=1", "/h/a/api.json?x=1"),
}


def test_a_host_has_its_files_by_path_and_by_url_with_the_media_type_of_the_map(mirror: Path) -> None:
    with served(mirror) as port:
        for (media_type, body), targets in FILES.items():
            assert [ask(port, target).kind for target in targets] == [(200, media_type, body)] * len(targets)
        assert ask(port, "/", host="127.0.0.1").kind == (200, "text/html", (mirror / "index.html").read_bytes())
        answer = ask(port, "/app.js", method="HEAD")
        assert (answer.status, answer.fields["Content-Length"], answer.body) == (200, str(len(MODULE)), b"")


LED = {
    ("127.0.0.1", "/h/a/"): "http://h/h/a/index.html",
    (OF_H, "/other.example+8443/x.png"): "http://other.example.port-8443/other.example+8443/x.png",
    (OF_H, "/i0.example/h/app.js"): "http://i0.example/i0.example/h/app.js",
    ("other.example.port-8443.localhost", "/h/app.js"): "http://h/h/app.js",
}
OPENED = {
    ("localhost", "/h/a/index.html"): "http://h/a/", (OF_H, "/h/index.html"): "http://h/", (OF_H, "/a/index.html"): "http://h/a/",
    (OF_H, "/old"): "http://h/a/#f", (OF_H, "/a"): "http://h/a/", (OF_H, "/index"): "http://h/", (OF_H, "/h/a"): "http://h/a/",
    ("i0.example.localhost", "/i0.example/h/app.js"): "",  # its links to h could be to a folder of its own
    (OF_H, "/a/"): "",
}


def test_a_path_into_the_folder_of_another_host_leads_to_its_origin_and_a_page_is_shown_at_its_url(mirror: Path) -> None:
    with served(mirror) as port:
        for (host, target), location in LED.items():
            answer = ask(port, target, host=host)
            assert (answer.status, answer.location(port), answer.body) == (307, location, b"")
        for (host, target), location in OPENED.items():
            assert ask(port, target, host=host, Sec_Fetch_Mode="navigate").location(port) == location, target


NOT_THERE = (
    *("/mirror.sqlite", "/foreign.txt", "/../c.har", "/%2e%2e/c.har", "/h/..%2f..%2fc.har", "//etc/passwd", "/h"),
    *("/%00", "/h/%ff", "//h/app.js", "/h//app.js", "http://h/app.js", "*"),
)


def test_what_the_map_does_not_have_or_is_no_file_any_more_is_not_served(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own / "foreign.txt").write_text("mine")
    with served(own) as port:
        for host in (OF_H, "localhost"):
            assert [ask(port, target, host=host).status for target in NOT_THERE] == [404] * len(NOT_THERE)
        for method in ("POST", "PUT", "OPTIONS", "CONNECT"):
            answer = ask(port, "/a/", method=method)
            assert (answer.status, answer.body) == (501, b"")
            assert answer.fields["Content-Security-Policy"]
        assert ask(port, "/app.js", Service_Worker="script").status == 403
    for name in ("h/app.js", "h/odd.xyz", "h/a/index.html"):
        (own / name).unlink()
    (own / "h/app.js").symlink_to(own.parent / "c.har")
    (own / "h/odd.xyz").mkdir()
    monkeypatch.setattr(lookup, "_SMALL", 0)  # as a map that is too large for memory, which all threads ask
    with served(own) as port:
        assert [ask(port, target).status for target in ("/h/app.js", "/h/odd.xyz", "/h/a/", "/a/api.json?x=1")] == [404, 404, 404, 200]


HOSTS = {
    200: ("localhost:1", "127.0.0.1:1", "[::1]:1", "localhost", "127.0.0.1", OF_H, "H.LocalHost:1"),
    403: (
        *("evil.example:1", "evil.example", "127.0.0.1.evil.example:1", "[::2]:1", "evil.localhost:1"),
        *("h.localhost.evil.example", "h", "", ".localhost"),
    ),
}


def test_a_page_of_another_host_that_names_this_one_gets_nothing(mirror: Path) -> None:
    with served(mirror) as port:
        for status, host in ((status, host) for status, hosts in HOSTS.items() for host in hosts):
            with closing(http.client.HTTPConnection(serve.HOST, port, timeout=5)) as connection:
                connection.putrequest("GET", "/", skip_host=True)
                connection.putheader("Host", host)
                connection.endheaders()
                assert connection.getresponse().status == status, host


def test_two_hosts_never_share_a_name_and_a_name_is_safe() -> None:
    hosts = ["h", "h:80", "h:080", "h.port-80", "H", "[::1]", "[::1]:80", "127.0.0.1", "a_b.c", "a..b", "h.", "", "x" * 64]
    hosts += ["a b", "a\r\nb", "host-a", "h:", "cid:a@b", "package:///a", "a.b/c", "\ud800", ".".join("abcdefgh" * 20)]
    hosts += [name_of(host) for host in hosts]
    names = {name_of(host) for host in hosts}
    assert len(names) == len(set(hosts))
    assert all(re.fullmatch(r"[a-z0-9_.-]{1,200}", name) and ".." not in name for name in names)
    assert all(len(label) <= 63 for name in names for label in name.split("."))


def test_every_answer_keeps_a_page_in_the_mirror(mirror: Path) -> None:
    with served(mirror) as port:
        assert serve.HOST == "127.0.0.1", "the loopback interface only"
        asked = [("/a/", OF_H), ("/", "localhost"), ("/none", OF_H), ("/h/app.js", "localhost"), ("/", "evil.example")]
        for target, host in asked:
            fields = ask(port, target, host=host).fields
            policy = fields["Content-Security-Policy"]
            assert f"default-src 'self' http://*.localhost:{port} data: blob: 'unsafe-inline' 'unsafe-eval';" in policy
            assert all(name in policy for name in ("form-action", "frame-ancestors"))
            assert fields["X-Content-Type-Options"] == "nosniff"
            assert fields["Referrer-Policy"] == "no-referrer"
            assert fields["Cross-Origin-Resource-Policy"] in {"same-origin", "cross-origin"}
        assert ask(port, "/a/").fields["Cross-Origin-Resource-Policy"] == "same-origin"
        assert ask(port, "/app.js").fields["Cross-Origin-Resource-Policy"] == "cross-origin"


A, B = "http://a.example.localhost", "http://b.example.localhost"
ALLOWED: dict[str | None, dict[str | None, str | None]] = {  # the recorded header -> the origin and what is allowed
    "*": {A: "*", "null": "*", "http://evil.example": None, f"{A}:1": None},
    "https://a.example": {A: A, B: None, "http://unknown.localhost": None, "null": None, None: None},
    "null": {"null": "null"},
    None: {A: None},
}


def test_other_hosts_read_what_the_recorded_header_let_them_read(tmp_path: Path) -> None:
    pages = [page("https://a.example/", b"a"), page("https://b.example/", b"b")]
    for number, recorded in enumerate(ALLOWED):
        field = f"font/woff2\r\nAccess-Control-Allow-Origin: {recorded}" if recorded is not None else "font/woff2"
        pages.append(page(f"https://cdn.example/{number}.woff2", b"f", field))
    assert mirrored(tmp_path, "c.warc", b"".join(pages))[0] == 0
    with served(tmp_path / "m") as port:
        for number, origin, allowed in ((number, *one) for number, rows in enumerate(ALLOWED.values()) for one in rows.items()):
            ours = origin is not None and origin.endswith(".localhost")
            fields = {"Origin": f"{origin}:{port}" if ours else origin} if origin is not None else {}
            found = ask(port, f"/{number}.woff2", host="cdn.example.localhost", **fields).fields["Access-Control-Allow-Origin"]
            assert found == (f"{allowed}:{port}" if allowed and allowed.startswith("http") else allowed)


def test_a_file_whose_name_was_made_harmless_is_text(tmp_path: Path) -> None:
    pages = [page("http://h/a", b"<script>1</script>"), page("http://h/b.html", b"x", "text/html; charset=koi8-r; x=y")]
    assert mirrored(tmp_path, "c.warc", b"".join(pages))[0] == 0
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        db.execute("UPDATE resources SET path = 'h/a.html.txt' WHERE path = 'h/a.html'")
        db.commit()
    (tmp_path / "m/h/a.html").rename(tmp_path / "m/h/a.html.txt")
    with served(tmp_path / "m") as port:
        assert ask(port, "/a").kind[1] == "text/plain"
        assert ask(port, "/b.html").kind[1] == "text/html; charset=koi8-r"


POLICY = "Content-Security-Policy"
FORBIDDEN = [  # the recorded header, the field of the answer, and its end
    ("X-Frame-Options: DENY", POLICY, ", frame-ancestors 'none'"),
    ("X-Frame-Options: SAMEORIGIN", POLICY, ", frame-ancestors 'self'"),
    (f"{POLICY}: img-src *; frame-ancestors 'self' https://b.example", POLICY, ", frame-ancestors 'self' http://b.example.localhost:{port}"),
    ("Cross-Origin-Resource-Policy: same-site", "Cross-Origin-Resource-Policy", "same-site"),
    ("Access-Control-Allow-Origin: https://b.example\r\nAccess-Control-Allow-Credentials: true", "Access-Control-Allow-Credentials", "true"),
]


def test_what_a_recorded_header_forbids_stays_forbidden(tmp_path: Path) -> None:
    pages = [page(f"http://h/{number}.html", b"a", f"text/html\r\n{recorded}") for number, (recorded, *_) in enumerate(FORBIDDEN)]
    assert mirrored(tmp_path, "c.warc", b"".join([*pages, page("http://b.example/", b"b")]))[0] == 0
    with served(tmp_path / "m") as port:
        for number, (_, field, expected) in enumerate(FORBIDDEN):
            found = ask(port, f"/{number}.html", Origin=f"http://b.example.localhost:{port}").fields[field]
            assert found is not None
            assert found.endswith(expected.format(port=port))


def test_a_folder_without_a_readable_map_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no mirror of absolve"):
        serve.Server(tmp_path)
    (tmp_path / "mirror.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(UsageError, match="cannot be read"):
        serve.Server(tmp_path)
    (tmp_path / "mirror.sqlite").unlink()
    sqlite3.connect(tmp_path / "mirror.sqlite").close()
    assert main(["mirror", "--serve", str(tmp_path)]) == 2


def test_the_command_prints_its_url_and_serves_until_it_is_stopped(
    mirror: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[Answer] = []

    class Stopped(serve.Server):
        def serve_forever(self, poll_interval: float = 0.5) -> None:
            def read() -> None:
                try:
                    found.append(ask(self.port, "/a/"))
                finally:
                    self.shutdown()

            thread = Thread(target=read)
            thread.start()
            super().serve_forever(poll_interval)
            thread.join(5)

    monkeypatch.setattr(serve, "Server", Stopped)
    assert main(["mirror", "--serve", str(mirror)]) == 0
    assert found[0].kind == (200, "text/html", PAGE)
    assert "default-src" in found[0].fields["Content-Security-Policy"]
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


def test_a_port_in_use_is_an_error_of_use(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        assert main(["mirror", "--serve", str(mirror), "--port", str(taken.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err


def test_a_client_that_resets_the_connection_leaves_no_trace(own: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (own / "h/app.js").write_bytes(b"x" * (8 << 20))  # more than a socket buffers
    with served(own) as port:
        for request in (b"GET /h/app.js HTTP/1.1\r\nHost: h.localhost\r\n\r\n", b"GET /h/app.js HTTP/1.1\r\n"):
            with client(port) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close by a reset
                one.sendall(request)
                time.sleep(0.05)
        assert ask(port, "/a/").status == 200
    assert capfd.readouterr().err == ""


def test_a_client_that_sends_or_takes_too_slowly_is_left(own: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(serve, "_WAIT", 0.3)
    monkeypatch.setattr(serve.Handler, "timeout", 0.3)
    (own / "h/app.js").write_bytes(b"x" * (32 << 20))
    with served(own) as port, client(port) as sends, client(port) as takes:
        takes.sendall(b"GET /app.js HTTP/1.1\r\nHost: h.localhost\r\n\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            trickle(sends)
        received = 0
        while piece := takes.recv(1 << 20):
            received += len(piece)
        assert received < 32 << 20
        assert ask(port, "/a/").status == 200
    assert capfd.readouterr().err == ""


def test_one_connection_too_many_ends_the_one_that_waits_longest(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_MOST", 3)
    with served(mirror) as port:
        idle = [client(port) for _ in range(10)]
        assert ask(port, "/a/").status == 200
        assert idle[0].recv(1) == b""
        for one in idle:
            one.close()


def test_an_error_of_the_server_itself_is_printed(mirror: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with served(mirror) as port, pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "content_type", lambda *_: 1 // 0)
        with pytest.raises(http.client.RemoteDisconnected):
            ask(port, "/a/")
    assert "ZeroDivisionError" in capfd.readouterr().err
