"""The protocol, with a peer of our own at the other ends of the pipes."""

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
    """What stands in for a browser: its replies are there before they are asked for."""

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


def test_events_of_the_session_are_heard_while_a_result_is_awaited(peer: Peer) -> None:
    events: list[tuple[str, dict[str, Any]]] = []
    peer.devtools.listener = lambda method, parameters: events.append((method, parameters))
    peer.devtools.session = "s"
    event = {"method": "E.f", "params": {"g": 1}}
    peer.says(event, event | {"sessionId": "other"}, event | {"sessionId": "s"}, {"id": 1, "result": {}})
    peer.devtools.call("A.b")
    assert events == [("E.f", {"g": 1})]


def test_results_that_nobody_awaits_are_passed_over(peer: Peer) -> None:
    peer.says({"id": 1, "error": {"message": "no"}}, {"id": 2, "result": {"x": 1}})
    peer.devtools.tell("A.b")
    assert peer.devtools.call("C.d") == {"x": 1}


def test_a_refused_command_says_why(peer: Peer) -> None:
    peer.says({"id": 1, "error": {"code": -32000, "message": "Not allowed"}})
    with pytest.raises(DevToolsError, match=r"^Not allowed$"):
        peer.devtools.call("A.b")


def test_nothing_is_awaited_longer_than_the_deadline(peer: Peer) -> None:
    peer.devtools.deadline = time.monotonic() + 0.05
    with pytest.raises(DevToolsError, match="too long"):
        peer.devtools.call("A.b")


def test_what_nobody_takes_is_not_written_longer_than_the_deadline(peer: Peer) -> None:
    peer.devtools.deadline = time.monotonic() + 0.05
    with pytest.raises(DevToolsError, match="too long"):
        peer.devtools.tell("A.b", data="x" * 1_000_000)


def test_a_browser_that_is_gone_is_said(peer: Peer) -> None:
    peer.goes()
    with pytest.raises(DevToolsError, match="gone"):
        peer.devtools.call("A.b")


def test_a_browser_that_goes_while_it_is_asked_is_said(peer: Peer) -> None:
    peer.says({"id": 7, "result": {}})
    peer.hang_up(peer._writing)
    with pytest.raises(DevToolsError, match="gone"):
        peer.devtools.call("A.b")
