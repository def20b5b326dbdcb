"""The Chrome DevTools Protocol over a pair of pipes: commands, replies and events, with a deadline.

In: commands by name with parameters. Out: their results; events go to a callback.
"""

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
    """The browser rejected a command, exceeded the deadline, or has ended."""


class DevTools:
    """The connection to one browser, by two file descriptors.

    `listener` is the callback for each event of `session`. `deadline` is a time of `time.monotonic`: any call that is
    not done by then raises DevToolsError.
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
        """Send a command, wait for its reply and return the result. Raise DevToolsError for an error reply."""
        number = self.tell(method, **parameters)
        self._awaited = number
        self.until(lambda: self._awaited != number)
        if "error" in self._reply:
            raise DevToolsError(self._reply["error"].get("message", "the browser gives no reason"))
        result: Message = self._reply["result"]
        return result

    def tell(self, method: str, **parameters: Any) -> int:
        """Send a command without waiting for its reply; return its number."""
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
        """Process incoming messages until a condition is met."""
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
