"""The Chrome DevTools Protocol over a pair of pipes: commands, events, and a deadline on everything."""

from __future__ import annotations

import json
import os
import select
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import AbsolveError

if TYPE_CHECKING:
    from collections.abc import Callable

    Message = dict[str, Any]

_CHUNK: Final = 1 << 20  # bytes
_END: Final = b"\0"  # each message is JSON text and a NUL (--remote-debugging-pipe)


class DevToolsError(AbsolveError):
    """The browser refused a command, took too long, or is gone."""


class DevTools:
    """Both ends of the conversation with one browser; `listener` gets each event of the session that is listened to.

    `deadline` is a time of `time.monotonic`; what is not done by then raises DevToolsError.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self.deadline = 0.0
        self.session: str | None = None
        self.listener: Callable[[str, Message], None] = lambda _method, _parameters: None
        self._reading = reading
        self._writing = writing
        self._number = 0
        self._received = bytearray()
        self._messages: deque[bytes] = deque()
        self._awaited = 0
        self._reply: Message = {}
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)

    def call(self, method: str, **parameters: Any) -> Message:
        """Give a command and return its result."""
        number = self.tell(method, **parameters)
        self._awaited = number
        self.until(lambda: self._awaited != number)
        if "error" in self._reply:
            raise DevToolsError(self._reply["error"].get("message", "the browser gives no reason"))
        result: Message = self._reply["result"]
        return result

    def tell(self, method: str, **parameters: Any) -> int:
        """Give a command and do not wait for its result; the command's number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        data = memoryview(json.dumps(message).encode() + _END)
        while data:
            self._wait([], [self._writing])
            try:
                data = data[os.write(self._writing, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise DevToolsError(f"the browser is gone: {error.strerror}") from error
        return self._number

    def until(self, met: Callable[[], object]) -> None:
        """Take what comes until a condition is met."""
        while not met():
            message: Message = json.loads(self._next())
            if "id" in message:
                if message["id"] == self._awaited:
                    self._awaited, self._reply = 0, message
            elif message.get("sessionId") == self.session:
                self.listener(message["method"], message["params"])

    def _next(self) -> bytes:
        while not self._messages:
            self._wait([self._reading], [])
            try:
                data = os.read(self._reading, _CHUNK)
            except BlockingIOError:
                continue
            if not data:
                raise DevToolsError("the browser is gone")
            self._received += data
            if _END in data:
                *whole, rest = self._received.split(_END)
                self._messages.extend(bytes(message) for message in whole)
                self._received = rest
        return self._messages.popleft()

    def _wait(self, reading: list[int], writing: list[int]) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0 or not any(select.select(reading, writing, [], left)):
            raise DevToolsError("it took too long")
