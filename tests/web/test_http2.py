"""HTTP/2 over TLS: what a server of h2 answers is read like the same over HTTP/1.1."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import hpack
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hyperframe import frame

from absolve.run.web.client import Client
from absolve.run.web.exchange import Answer, Asking

PAGE = b"<a href=x>" + b"x" * 10_000
ANSWERS = {  # path -> the fields and the body of its answer
    b"/a": ([(":status", "301"), ("location", "/b")], b""),
    b"/b": ([(":status", "200"), ("content-type", "text/html")], PAGE),
    b"/robots.txt": ([(":status", "404")], b""),
}


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - dt.timedelta(days=1), now + dt.timedelta(days=1))
    own = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.add_extension(own, critical=False).sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return files


def answer(client: ssl.SSLSocket) -> None:
    """Answer all requests of a connection; the page fits into a window."""
    connection = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    client.sendall(connection.data_to_send())
    while data := client.recv(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                path = dict(event.headers)[b":path"]
                if path in TRAPS:
                    TRAPS[path][0](client, event.stream_id)
                    continue
                fields, body = ANSWERS[path]
                connection.send_headers(event.stream_id, fields)
                connection.send_data(event.stream_id, body, end_stream=True)
        client.sendall(connection.data_to_send())


# --- what a hostile server sends --------------------------------------------------------------------------------------


def head(stream: int, *fields: tuple[str, str], flags: str = "END_HEADERS") -> bytes:
    block = hpack.Encoder().encode([(":status", "200"), *fields])
    return frame.HeadersFrame(stream, block, flags=flags.split()).serialize()


def body(stream: int, data: bytes, flags: str = "") -> bytes:
    return frame.DataFrame(stream, data, flags=flags.split()).serialize()


def sends(*parts: Callable[[int], bytes], forever: bool = False) -> Callable[[ssl.SSLSocket, int], None]:
    """Return an answer of these parts, the last one again and again if it is `forever`."""

    def send(client: ssl.SSLSocket, stream: int) -> None:
        for part in parts:
            client.sendall(part(stream))
        while forever:
            client.sendall(parts[-1](stream))

    return send


LONG = "x" * 4000
TRAPS: dict[bytes, tuple[Callable[[ssl.SSLSocket, int], None], set[str]]] = {
    b"/reset": (sends(lambda one: frame.RstStreamFrame(one, 2).serialize()), {"broken-response"}),
    b"/reset-later": (sends(head, lambda one: body(one, b"x"), lambda one: frame.RstStreamFrame(one, 2).serialize()), {"broken-response"}),
    b"/goaway": (sends(lambda _: frame.GoAwayFrame(0, 0, 11).serialize()), {"broken-response", "timeout"}),
    b"/goaway-later": (sends(head, lambda one: frame.GoAwayFrame(0, one, 2).serialize()), {"broken-response", "timeout"}),
    b"/silence": (sends(head, lambda one: body(one, b"x")), {"timeout"}),
    b"/endless-head": (
        sends(lambda one: head(one, flags=""), lambda one: frame.ContinuationFrame(one, b"").serialize(), forever=True), {"broken-response", "timeout"}
    ),
    b"/bomb": (sends(lambda one: head(one, *[(f"f{number}", LONG) for number in range(200)])), {"broken-response", "timeout"}),
    b"/informational": (
        sends(lambda one: frame.HeadersFrame(one, hpack.Encoder().encode([(":status", "103")]), flags=["END_HEADERS"]).serialize(), forever=True),
        {"broken-response", "timeout"},
    ),
    b"/pings": (sends(head, lambda _: frame.PingFrame(0, b"12345678").serialize() * 100, forever=True), {"broken-response", "timeout"}),
    b"/settings": (sends(lambda _: frame.SettingsFrame(0, {}).serialize() * 100, forever=True), {"broken-response", "timeout"}),
    b"/empty": (sends(head, lambda one: body(one, b"") * 100, forever=True), {"broken-response", "timeout"}),
    b"/length": (
        sends(lambda one: head(one, ("content-length", "9")), lambda one: body(one, b"x", "END_STREAM")), {"broken-response"}
    ),
    b"/push": (sends(lambda one: frame.PushPromiseFrame(one, 2, b"", flags=["END_HEADERS"]).serialize()), {"broken-response", "timeout"}),
    b"/garbage": (sends(lambda _: b"GET / HTTP/1.1\r\n\r\n" * 99), {"broken-response", "timeout"}),
    b"/no-status": (
        sends(lambda one: frame.HeadersFrame(one, hpack.Encoder().encode([("a", "b")]), flags=["END_HEADERS"]).serialize()), {"broken-response", "timeout"}
    ),
}  # fmt: skip


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    files = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    context.set_alpn_protocols(["h2"])

    def serve() -> None:
        with suppress(OSError):  # closed
            while True:
                with suppress(ssl.SSLError), context.wrap_socket(listening.accept()[0], server_side=True) as secure:
                    secure.settimeout(10)
                    answer(secure)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"


def _asked(url: str) -> Answer:
    with Client(Asking(timeout=5, retries=0)) as client:
        found: list[Answer] = list(client.engine.run(iter([client.answer(url), None]).__next__, 1))
        return found[0]


def test_a_page_comes_by_http_2(url: str) -> None:
    found = _asked(f"{url}/a")
    assert found.problem is None
    assert [one.head.partition(b" ")[0] for one in found.responses] == [b"HTTP/2", b"HTTP/2"]
    assert found.body == PAGE


@pytest.mark.parametrize("trap", TRAPS, ids=bytes.decode)
def test_what_a_hostile_server_sends_ends_in_time_and_memory(trap: bytes, url: str) -> None:
    tracemalloc.start()
    began = time.monotonic()
    try:
        with Client(Asking(timeout=1, retries=0, robots=False)) as client:
            (found,) = client.engine.run(iter([client.answer(url + trap.decode()), None]).__next__, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.problem is not None
    assert found.problem.code in TRAPS[trap][1], found.problem
    assert time.monotonic() - began < 4
    assert peak < 20_000_000


def test_a_certificate_that_nobody_trusts_is_no_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    found = _asked(f"{url}/a")
    assert found.problem is not None
    assert (found.problem.code, "certificate" in found.problem.text) == ("unreachable", True)


def test_any_certificate_is_trusted_if_asked_and_one_that_ends_soon_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with Client(Asking(timeout=5, retries=0, insecure=True)) as client:
        (found,) = client.engine.run(iter([client.answer(f"{url}/a"), None]).__next__, 1)
        tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
        assert found.body == PAGE
        assert client.engine.ending() == [f"{url.removeprefix('https://')} ends on {tomorrow:%Y-%m-%d}"]
