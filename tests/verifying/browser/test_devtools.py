"""The DevTools protocol, with a fake browser at the other ends of the pipes."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="browsers are driven by POSIX pipes")

if TYPE_CHECKING:
    from collections.abc import Iterator

from absolve.verifying.browser.devtools import DevTools, DevToolsError  # noqa: E402 - after what skips them


class Peer:
    """A fake browser: its replies are in the pipe before the commands."""

    def __init__(self) -> None:
        self._reading, writing = os.pipe()
        reading, self._writing = os.pipe()
        self._ends = {self._reading, writing, reading, self._writing}
        self.devtools = DevTools(reading, writing)
        self.devtools.deadline = time.monotonic() + 5

    def says(self, *messages: dict[str, Any]) -> None:
        os.write(self._writing, b"".join(json.dumps(message).encode() + b"\0" for message in messages))

    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(message) for message in os.read(self._reading, 65_536).split(b"\0")[:-1]]

    def hang_up(self, *ends: int) -> None:
        for end in ends or tuple(self._ends):
            os.close(end)
            self._ends.discard(end)

    def goes(self) -> None:
        self.hang_up(self._reading, self._writing)


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made
    made.hang_up()


def test_a_command_has_its_number_and_its_result(peer: Peer) -> None:
    peer.says({"id": 1, "result": {"x": 1}}, {"id": 2, "result": {"y": "\u00e9\0"}})
    assert peer.devtools.call("A.b", c=1) == {"x": 1}
    peer.devtools.session = "s"
    assert peer.devtools.call("D.e") == {"y": "\u00e9\0"}
    assert peer.heard() == [
        {"id": 1, "method": "A.b", "params": {"c": 1}},
        {"id": 2, "method": "D.e", "params": {}, "sessionId": "s"},
    ]


def test_session_events_are_received_while_waiting_for_a_result(peer: Peer) -> None:
    events: list[tuple[str, dict[str, Any]]] = []
    peer.devtools.listener = lambda method, parameters: events.append((method, parameters))
    peer.devtools.session = "s"
    event = {"method": "E.f", "params": {"g": 1}}
    peer.says(event, event | {"sessionId": "other"}, event | {"sessionId": "s"}, {"id": 1, "result": {}})
    peer.devtools.call("A.b")
    assert events == [("E.f", {"g": 1})]


def test_unexpected_results_are_skipped(peer: Peer) -> None:
    peer.says({"id": 1, "error": {"message": "no"}}, {"id": 2, "result": {"x": 1}})
    peer.devtools.tell("A.b")
    assert peer.devtools.call("C.d") == {"x": 1}


def test_a_refused_command_raises_an_error_with_the_reason(peer: Peer) -> None:
    peer.says({"id": 1, "error": {"code": -32000, "message": "Not allowed"}})
    with pytest.raises(DevToolsError, match=r"^Not allowed$"):
        peer.devtools.call("A.b")


def test_reading_ends_at_the_deadline(peer: Peer) -> None:
    peer.devtools.deadline = time.monotonic() + 0.05
    with pytest.raises(DevToolsError, match="too long"):
        peer.devtools.call("A.b")


def test_writing_ends_at_the_deadline(peer: Peer) -> None:
    peer.devtools.deadline = time.monotonic() + 0.05
    with pytest.raises(DevToolsError, match="too long"):
        peer.devtools.tell("A.b", data="x" * 1_000_000)


def test_a_browser_that_has_ended_is_an_error(peer: Peer) -> None:
    peer.goes()
    with pytest.raises(DevToolsError, match="gone"):
        peer.devtools.call("A.b")


def test_a_browser_that_ends_during_a_command_is_an_error(peer: Peer) -> None:
    peer.says({"id": 7, "result": {}})
    peer.hang_up(peer._writing)
    with pytest.raises(DevToolsError, match="gone"):
        peer.devtools.call("A.b")
