"""Messages between workers and the parent: round trips, with large buffers outside of the pickle."""

from __future__ import annotations

import ctypes
import os
import pickle
from collections import deque
from multiprocessing import Pipe
from threading import Thread
from typing import Any

import pytest

from absolve.run.pool import messages
from absolve.run.pool.messages import APART, Outbox, received
from absolve.run.results import RowChunk

LARGE = bytes(range(256)) * 20_000  # more than the buffer of a connection


@pytest.fixture(params=[True, False], ids=["scattered", "by the connection"], autouse=True)
def scattered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param and not messages._SCATTERED:
        pytest.skip("the system has no readv")
    monkeypatch.setattr(messages, "_SCATTERED", request.param)


def sent(*messages: tuple[int, list[Any], bool], ours: Any = None, theirs: Any = None) -> list[tuple[int, bool, list[Any]]]:
    if ours is None:
        ours, theirs = Pipe()
    outbox = Outbox(theirs)
    for number, some, ended in messages:
        outbox.add(number, some, ended=ended)
    sending = Thread(target=outbox.send)
    sending.start()
    frames = received(ours) if messages else []
    sending.join(10)
    assert outbox.size == 0
    return [(number, frame.ended, frame.results()) for number, frame in frames]


@pytest.mark.parametrize(
    "messages",
    [
        [(0, [], True)],
        [(3, ["text", 1, None], False), (3, [b""], True), (2**40, [], True)],
        [(1, [RowChunk(LARGE, 7), RowChunk(b"", 0), "between", RowChunk(b"x" * APART, 1)], True)],
        [(number, [RowChunk(b"%d" % number * APART, number)] * 3, number % 2 == 0) for number in range(700)],
    ],
    ids=["nothing", "small", "large", "more parts than go in a call"],
)
def test_results_are_received_in_the_order_of_sending(messages: list[tuple[int, list[Any], bool]]) -> None:
    assert sent(*messages) == [(number, ended, some) for number, some, ended in messages]


def test_a_message_without_frames_is_sent_but_an_empty_one_is_not() -> None:
    ours, theirs = Pipe()
    Outbox(theirs).send()
    assert not ours.poll()
    Outbox(theirs).greet()
    assert received(ours) == []
    assert sent((1, ["next"], True), ours=ours, theirs=theirs) == [(1, True, ["next"])]


def test_only_large_buffers_are_sent_outside_of_the_pickle() -> None:
    ours, theirs = Pipe()
    outbox = Outbox(theirs)
    outbox.add(1, [RowChunk(b"x" * (APART - 1), 1), RowChunk(b"y" * APART, 1)], ended=True)
    assert APART * 2 < outbox.size < APART * 2 + 500
    Thread(target=outbox.send).start()
    ((_, frame),) = received(ours)
    assert list(map(len, frame.parts))[1:] == [APART]
    assert frame.size == sum(map(len, frame.parts))
    assert frame.results()[1].chunk.obj is frame.parts[1].obj


def test_rows_can_be_pickled_with_every_protocol() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(RowChunk(b"x", 1), protocol)) == RowChunk(b"x", 1)  # noqa: S301 - our own


@pytest.mark.parametrize("whole", [0, 2, 10, 100, 5000, len(LARGE) // 2])
def test_an_incomplete_message_is_an_end_of_the_connection(whole: int) -> None:
    all_of_it = bytearray()
    ours, theirs = Pipe()
    outbox = Outbox(theirs)
    outbox.add(1, [RowChunk(LARGE, 1)], ended=True)
    sending = Thread(target=outbox.send)
    sending.start()
    while len(all_of_it) < len(LARGE):
        all_of_it += os.read(ours.fileno(), 1 << 20)
    sending.join(10)
    ours, theirs = Pipe()

    def send() -> None:
        os.write(theirs.fileno(), all_of_it[:whole])
        theirs.close()

    dying = Thread(target=send)
    dying.start()
    with pytest.raises(EOFError):
        received(ours)
    dying.join(10)


@pytest.mark.parametrize("size", range(7))
def test_only_sent_results_are_dropped_from_the_buffer(size: int) -> None:
    parts = deque([memoryview(part) for part in (b"ab", b"c", b"def")])
    messages._forget(parts, size)
    assert b"".join(parts) == b"abcdef"[size:]


def test_buffers_of_a_message_are_aligned_for_arrow() -> None:
    ours, theirs = Pipe()
    outbox = Outbox(theirs)
    outbox.add(1, [RowChunk(b"x" * (APART + 1), 1), RowChunk(b"y" * (APART + 7), 1), RowChunk(b"z" * APART, 1)], ended=True)
    Thread(target=outbox.send).start()
    ((_, frame),) = received(ours)
    places = [ctypes.addressof(ctypes.c_char.from_buffer(part)) for part in frame.parts]
    assert len(places) == 4
    assert {(place - places[0]) % 64 for place in places} == {0}
