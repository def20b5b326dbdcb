"""A server on loopback whose responses are bytes, or what a function sends; it keeps what was asked for."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pycurl
import pytest

Answer = bytes | Callable[[socket.socket], None]


class Request(NamedTuple):
    """A request: its target, and its fields in lower case."""

    target: str
    fields: dict[str, str]


class Server:
    """Answers each target; several answers of one come one after the other, the last one again and again."""

    def __init__(self, answers: Mapping[str, Answer | list[Answer]]) -> None:
        self.answers = {name: list(one) if isinstance(one, list) else [one] for name, one in answers.items()}
        self.asked: list[Request] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [one.target for one in self.asked]

    def run(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._served, args=(client,), daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _served(self, client: socket.socket) -> None:
        with client, suppress(OSError, IndexError), client.makefile("rb") as file:  # gone before it asked
            client.settimeout(20)
            target = file.readline().decode().split(" ")[1]
            lines = iter(lambda: file.readline().decode("latin-1").strip(), "")
            fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            self.asked.append(Request(target, fields))
            answers = self.answers.get(target, [status(404)])
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, bytes):
                client.sendall(answer)
            else:
                answer(client)


@contextmanager
def serving(answers: Mapping[str, Answer | list[Answer]]) -> Iterator[Server]:
    server = Server(answers)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield server
    finally:
        server.close()


def response(body: bytes, *fields: str, code: int = 200) -> bytes:
    """Return a response with these fields, and the length of its body."""
    head = "".join(f"{one}\r\n" for one in (*fields, "Connection: close", f"Content-Length: {len(body)}"))
    return f"HTTP/1.1 {code} X\r\n{head}\r\n".encode() + body


def page(body: bytes, *fields: str) -> bytes:
    return response(body, "Content-Type: text/html", *fields)


def status(code: int, *fields: str) -> bytes:
    return response(b"", *fields, code=code)


def moved(location: str, code: int = 302) -> bytes:
    return status(code, f"Location: {location}")


def slowly(data: bytes, seconds: float) -> Callable[[socket.socket], None]:
    """Return an answer of which a byte is sent every `seconds`."""

    def send(client: socket.socket) -> None:
        for place in range(len(data)):
            client.sendall(data[place : place + 1])
            time.sleep(seconds)

    return send


def endless(head: bytes, piece: bytes = b"x" * 65536) -> Callable[[socket.socket], None]:
    """Return an answer that never ends."""

    def send(client: socket.socket) -> None:
        client.sendall(head)
        while True:
            client.sendall(piece)

    return send


def addresses(server: Server, monkeypatch: pytest.MonkeyPatch, names: Mapping[str, str]) -> set[str]:
    """Give names these addresses, all of which are the server; return the addresses for which a socket was opened."""
    opened: set[str] = set()
    resolved = [f"{name}:{port}:{found}" for name, found in names.items() for port in (80, server.port)]

    def connected(_purpose: int, address: tuple[Any, ...]) -> int:
        opened.add(address[3][0])
        return socket.create_connection(("127.0.0.1", server.port)).detach()

    def found(host: str, port: int, *_: object, **__: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (names.get(host, host).partition(",")[0], port))]

    class Curl(pycurl.Curl):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.reset()

        def reset(self) -> None:
            super().reset()
            super().setopt(pycurl.RESOLVE, resolved)
            super().setopt(pycurl.OPENSOCKETFUNCTION, connected)
            super().setopt(pycurl.SOCKOPTFUNCTION, lambda *_: pycurl.SOCKOPT_ALREADY_CONNECTED)

        def setopt(self, option: int, value: Any) -> None:
            if option == pycurl.OPENSOCKETFUNCTION:  # the guard decides

                def guarded(*address: Any) -> Any:
                    own = value(*address)
                    if own != pycurl.SOCKET_BAD:
                        os.close(own)
                        own = connected(*address)
                    return own

                super().setopt(option, guarded)
            else:
                super().setopt(option, value)

    monkeypatch.setattr("absolve.run.web.engine.pycurl.Curl", Curl)
    monkeypatch.setattr("absolve.run.web.client.socket.getaddrinfo", found)
    return opened
