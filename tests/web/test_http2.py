"""HTTP/2 over TLS: what a server of h2 answers is read like the same over HTTP/1.1."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import h2.config
import h2.connection
import h2.events
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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
                fields, body = ANSWERS[dict(event.headers)[b":path"]]
                connection.send_headers(event.stream_id, fields)
                connection.send_data(event.stream_id, body, end_stream=True)
        client.sendall(connection.data_to_send())


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


async def _asked(url: str) -> Answer:
    async with Client(Asking(timeout=5, retries=0)) as client:
        return await client.answer(url)


def test_a_page_comes_by_http_2(url: str) -> None:
    found = anyio.run(_asked, f"{url}/a")
    assert found.problem is None
    assert [one.head.partition(b" ")[0] for one in found.responses] == [b"HTTP/2", b"HTTP/2"]
    assert found.body == PAGE


def test_a_certificate_that_nobody_trusts_is_no_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    found = anyio.run(_asked, f"{url}/a")
    assert found.problem is not None
    assert (found.problem.code, "certificate" in found.problem.text) == ("unreachable", True)
