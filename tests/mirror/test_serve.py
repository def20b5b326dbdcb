"""A served mirror: the files of the map with their media types, nothing else, to this machine only."""

from __future__ import annotations

import http.client
import socket
import sqlite3
import struct
import time
from contextlib import closing, contextmanager
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from packed import entry, har, mirrored

from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.mirror import serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import ThreadingHTTPServer
    from pathlib import Path

PAGE = b"<meta charset=utf-8><p>a"
MODULE = b"import './x.js'"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    pages = (
        entry("http://h/", "<a href=/a/>a</a>"),
        entry("http://h/a/", "<meta charset=utf-8><p>a"),
        entry("http://h/app.js", MODULE, "application/javascript; charset=utf-8"),
        entry("http://h/caf%C3%A9.txt", "x", "text/plain"),
        entry("http://h/odd.xyz", b"\x00\x01\x02", ""),
    )
    assert mirrored(tmp_path, "c.har", har(*pages))[0] == 0
    return tmp_path / "m"


@contextmanager
def served(folder: Path) -> Iterator[int]:
    with serve.server(folder) as found:
        thread = Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found.server_address[1]
        finally:
            found.shutdown()
            thread.join(5)


def ask(port: int, target: str, *, method: str = "GET", host: str = "") -> tuple[int, str | None, bytes]:
    with closing(http.client.HTTPConnection(serve.HOST, port, timeout=5)) as connection:
        connection.putrequest(method, target, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()


@pytest.mark.parametrize(
    ("target", "media_type", "body"),
    [
        ("/h/app.js", "application/javascript", MODULE),
        ("/h/app.js?v=1#x", "application/javascript", MODULE),
        ("/h/a/", "text/html", PAGE),
        ("/h/caf%C3%A9.txt", "text/plain", b"x"),
        ("/h/odd.xyz", "application/octet-stream", b"\x00\x01\x02"),
    ],
)
def test_a_file_has_the_media_type_of_the_map(mirror: Path, target: str, media_type: str, body: bytes) -> None:
    with served(mirror) as port:
        assert ask(port, target) == (200, media_type, body)


def test_the_root_is_the_entry_page(mirror: Path) -> None:
    with served(mirror) as port:
        assert ask(port, "/") == (200, "text/html", (mirror / "index.html").read_bytes())


def test_a_head_request_is_answered_without_a_body(mirror: Path) -> None:
    with served(mirror) as port:
        assert ask(port, "/h/app.js", method="HEAD") == (200, "application/javascript", b"")


@pytest.mark.parametrize(
    "target",
    ["/mirror.sqlite", "/foreign.txt", "/../c.har", "/%2e%2e/c.har", "/h/..%2f..%2fc.har", "//etc/passwd", "/h", "/%00", "/h/%ff"],
)
def test_what_the_map_does_not_have_is_not_served(mirror: Path, target: str) -> None:
    (mirror / "foreign.txt").write_text("mine")
    with served(mirror) as port:
        assert ask(port, target)[0] == 404


def test_a_file_that_became_a_link_or_a_folder_or_is_gone_is_not_served(mirror: Path) -> None:
    (mirror / "h/app.js").unlink()
    (mirror / "h/app.js").symlink_to(mirror.parent / "c.har")
    (mirror / "h/odd.xyz").unlink()
    (mirror / "h/odd.xyz").mkdir()
    (mirror / "h/a/index.html").unlink()
    (mirror / "h/a").rmdir()
    with served(mirror) as port:
        assert [ask(port, target)[0] for target in ("/h/app.js", "/h/odd.xyz", "/h/a/")] == [404, 404, 404]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("localhost:1", 200), ("127.0.0.1:1", 200), ("[::1]:1", 200), ("localhost", 200), ("127.0.0.1", 200)),
        *(("evil.example:1", 403), ("evil.example", 403), ("127.0.0.1.evil.example:1", 403), ("[::2]:1", 403)),
    ],
)
def test_a_page_of_another_host_that_names_this_one_gets_nothing(mirror: Path, host: str, status: int) -> None:
    with served(mirror) as port:
        assert ask(port, "/h/a/", host=host)[0] == status


def test_it_listens_on_the_loopback_interface_only(mirror: Path) -> None:
    with serve.server(mirror) as found:
        assert found.server_address[0] == "127.0.0.1"


def test_a_folder_without_a_readable_map_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no mirror of absolve"):
        serve.server(tmp_path)
    (tmp_path / "mirror.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(UsageError, match="cannot be read"):
        serve.server(tmp_path)
    (tmp_path / "mirror.sqlite").unlink()
    sqlite3.connect(tmp_path / "mirror.sqlite").close()
    assert main(["mirror", "--serve", str(tmp_path)]) == 2


def test_the_command_prints_its_url_and_serves_until_it_is_stopped(
    mirror: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = serve.server
    found: list[tuple[int, str | None, bytes]] = []
    threads: list[Thread] = []

    def reader(server: ThreadingHTTPServer) -> None:
        try:
            found.append(ask(server.server_address[1], "/h/a/"))
        finally:
            server.shutdown()

    def start(folder: Path, port: int = 0) -> ThreadingHTTPServer:
        server = made(folder, port)
        threads.append(Thread(target=reader, args=(server,)))
        threads[0].start()
        return server

    monkeypatch.setattr(serve, "server", start)
    assert main(["mirror", "--serve", str(mirror)]) == 0
    threads[0].join(5)
    assert found == [(200, "text/html", PAGE)]
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


def test_a_port_in_use_is_an_error_of_use(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        assert main(["mirror", "--serve", str(mirror), "--port", str(taken.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err


def test_a_client_that_resets_the_connection_leaves_no_trace(mirror: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (mirror / "h/app.js").write_bytes(b"x" * (8 << 20))  # more than a socket buffers
    with served(mirror) as port:
        for request in (b"GET /h/app.js HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /h/app.js HTTP/1.1\r\n"):
            with socket.create_connection((serve.HOST, port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close by a reset
                client.sendall(request)
                time.sleep(0.05)
        assert ask(port, "/h/a/")[0] == 200
    assert capfd.readouterr().err == ""


def test_an_error_of_the_server_itself_is_printed(mirror: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with served(mirror) as port, pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "_path", lambda *_: 1 // 0)
        with pytest.raises(http.client.RemoteDisconnected):
            ask(port, "/h/a/")
    assert "ZeroDivisionError" in capfd.readouterr().err
