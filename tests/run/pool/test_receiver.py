"""The ear of a parent: messages are taken while nobody asks, and only so many."""

from __future__ import annotations

import time
from contextlib import closing
from multiprocessing import Pipe
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from absolve.run.pool import receiver
from absolve.run.pool.messages import Outbox
from absolve.run.pool.receiver import Receiver
from absolve.run.results import RowChunk

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LARGE = bytes(1 << 20)  # more than a connection holds


def sending(connection: Connection, *numbers: int) -> Thread:
    """Let as many large messages go, and then close."""

    def send() -> None:
        for number in numbers:
            outbox = Outbox(connection)
            outbox.add(number, [RowChunk(LARGE, 1)], ended=True)
            outbox.send()
        connection.close()

    thread = Thread(target=send, daemon=True)
    thread.start()
    return thread


def numbers(heard: receiver.Message) -> list[int] | None:
    return [number for number, _ in heard.frames] if heard.frames is not None else None


def test_all_is_taken_while_nobody_asks_and_comes_in_its_order() -> None:
    ours, theirs = Pipe()
    with closing(Receiver(1 << 30)) as ear:
        ear.add(ours)
        thread = sending(theirs, *range(20))
        thread.join(10)
        assert not thread.is_alive()
        for number in range(20):
            heard = ear.next(None)
            assert heard.connection is ours
            assert numbers(heard) == [number]
        assert numbers(ear.next(None)) is None
    ours.close()


def test_where_much_waits_only_whose_turn_it_is_is_heard_until_some_is_done() -> None:
    (one, to_one), (other, to_other) = Pipe(), Pipe()
    with closing(Receiver(3 << 20)) as ear:
        ear.add(one)
        first = sending(to_one, *range(9))
        first.join(0.5)
        assert first.is_alive()
        ear.add(other)
        second = sending(to_other, 100, 101)
        heard = [ear.next(other) for _ in range(3)]  # that of the others is here already
        assert [numbers(one) for one in heard] == [[0], [1], [2]]
        heard = [ear.next(other) for _ in range(3)]
        assert [numbers(one) for one in heard] == [[100], [101], None]
        second.join(10)
        assert first.is_alive()
        for number in range(3, 9):
            size = sum(frame.size for _, frame in heard[0].frames or ())
            assert size > len(LARGE)
            ear.done(3 * size)
            assert numbers(ear.next(None)) == [number]
        first.join(10)
        assert not first.is_alive()
        assert numbers(ear.next(None)) is None


def test_a_connection_at_its_end_is_told_once_and_others_go_on() -> None:
    (one, to_one), (other, to_other) = Pipe(), Pipe()
    with closing(Receiver(1 << 30)) as ear:
        ear.add(one)
        to_one.close()
        assert ear.next(None) == (one, None)
        one.close()
        ear.add(other)
        sending(to_other, 7)
        assert [numbers(ear.next(None)) for _ in range(2)] == [[7], None]


def test_what_it_cannot_do_is_raised_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_connection: Any) -> Any:
        raise MemoryError("all is full")

    monkeypatch.setattr(receiver, "received", fail)
    ours, theirs = Pipe()
    with closing(Receiver(1)) as ear:
        ear.add(ours)
        sending(theirs)
        with pytest.raises(MemoryError, match="all is full"):
            ear.next(None)
    ours.close()


def test_it_closes_at_once_where_nothing_comes() -> None:
    ours, _theirs = Pipe()
    ear = Receiver(1)
    ear.add(ours)
    time.sleep(0.05)
    began = time.monotonic()
    ear.close()
    assert time.monotonic() - began < 5
