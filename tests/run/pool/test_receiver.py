"""The receiver: it queues results up to a limit while nobody reads them, and handles requests even beyond it."""

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

LARGE = bytes(1 << 20)  # more than the buffer of a connection


def sending(connection: Connection, *numbers: int) -> Thread:
    """Send this many large messages, and then close."""

    def send() -> None:
        for number in numbers:
            outbox = Outbox(connection)
            outbox.add(number, [RowChunk(LARGE, 1)], ended=True)
            outbox.send()
        connection.close()

    thread = Thread(target=send, daemon=True)
    thread.start()
    return thread


def numbers(message: receiver.Message) -> list[int] | None:
    return [number for number, _ in message.frames] if message.frames is not None else None


def test_the_receiver_queues_all_messages_and_returns_them_in_order() -> None:
    ours, theirs = Pipe()
    with closing(Receiver(1 << 30)) as receiver_:
        receiver_.add(ours)
        thread = sending(theirs, *range(20))
        thread.join(10)
        assert not thread.is_alive()
        for number in range(20):
            message = receiver_.next(None)
            assert message.connection is ours
            assert numbers(message) == [number]
        assert numbers(receiver_.next(None)) is None
    ours.close()


def test_a_full_receiver_reads_only_the_connection_whose_turn_it_is() -> None:
    (one, to_one), (other, to_other) = Pipe(), Pipe()
    with closing(Receiver(3 << 20)) as receiver_:
        receiver_.add(one)
        first = sending(to_one, *range(9))
        first.join(0.5)
        assert first.is_alive()
        receiver_.add(other)
        second = sending(to_other, 100, 101)
        message = [receiver_.next(other) for _ in range(3)]  # those of the others have already arrived
        assert [numbers(one) for one in message] == [[0], [1], [2]]
        message = [receiver_.next(other) for _ in range(3)]
        assert [numbers(one) for one in message] == [[100], [101], None]
        second.join(10)
        assert first.is_alive()
        for number in range(3, 9):
            size = sum(frame.size for _, frame in message[0].frames or ())
            assert size > len(LARGE)
            receiver_.done(3 * size)
            assert numbers(receiver_.next(None)) == [number]
        first.join(10)
        assert not first.is_alive()
        assert numbers(receiver_.next(None)) is None


def test_requests_are_handled_under_back_pressure_until_the_connection_ends() -> None:
    (one, to_one), (other, to_other), (ours, theirs) = Pipe(), Pipe(), Pipe()
    with closing(Receiver(1)) as receiver_:
        receiver_.add(one)
        threads = [sending(to_one, 1), sending(to_other, 2)]
        assert numbers(receiver_.next(None)) == [1]
        receiver_.add(other)  # the item has not ended: of this connection nothing is read
        receiver_.serve(ours, lambda connection: connection.send(connection.recv() + 1))
        for number in range(20):
            theirs.send(number)
            assert theirs.poll(10)
            assert theirs.recv() == number + 1
        assert threads[1].is_alive()
        receiver_.done(1 << 30)
        for thread in threads:
            thread.join(10)
        theirs.close()
        until = time.monotonic() + 10
        while not ours.closed and time.monotonic() < until:
            time.sleep(0.01)
        assert ours.closed


def test_an_error_of_a_request_handler_is_raised_by_next() -> None:
    def fail(_connection: Connection) -> None:
        raise ZeroDivisionError

    ours, theirs = Pipe()
    with closing(Receiver(1)) as receiver_:
        receiver_.serve(ours, fail)
        theirs.send(1)
        with pytest.raises(ZeroDivisionError):
            receiver_.next(None)


def test_the_end_of_a_connection_is_returned_once_and_others_continue() -> None:
    (one, to_one), (other, to_other) = Pipe(), Pipe()
    with closing(Receiver(1 << 30)) as receiver_:
        receiver_.add(one)
        to_one.close()
        assert receiver_.next(None) == (one, None)
        one.close()
        receiver_.add(other)
        sending(to_other, 7)
        assert [numbers(receiver_.next(None)) for _ in range(2)] == [[7], None]


def test_an_error_of_the_receiver_thread_is_raised_by_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_connection: Any) -> Any:
        raise MemoryError("all is full")

    monkeypatch.setattr(receiver, "received", fail)
    ours, theirs = Pipe()
    with closing(Receiver(1)) as receiver_:
        receiver_.add(ours)
        sending(theirs)
        with pytest.raises(MemoryError, match="all is full"):
            receiver_.next(None)
    ours.close()


def test_the_receiver_closes_at_once_without_messages() -> None:
    ours, _theirs = Pipe()
    receiver_ = Receiver(1)
    receiver_.add(ours)
    time.sleep(0.05)
    began = time.monotonic()
    receiver_.close()
    assert time.monotonic() - began < 5
