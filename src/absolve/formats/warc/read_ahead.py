"""Members of gzip that are opened at once; by a thread, while those before them are worked on, if it has a core.

Only such are given to it as are in memory already, each up to where the next seems to begin: it reads no file, and what
it cannot open is left to who would have opened it without. So all that is found and said is the same, and in its order.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    import cython
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.formats.warc.gzip_members import Opener, library, next_member, size_of
    from cython.cimports.absolve.formats.warc.read_ahead_thread import (
        BROKEN,
        MOST,
        OPENED,
        TAKEN,
        State,
        empty,
        end,
        go,
        helped,
        put,
        started,
        taken,
    )
    from cython.cimports.absolve.formats.warc.reader_window import Window
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
else:
    from absolve.formats.warc.gzip_members import Opener, next_member
    from absolve.formats.warc.reader_window import Window

from absolve.formats.warc.gzip_members import LEAST, LONGEST, is_direct

BYTES: Final = 1 << 21  # that are opened and not come to yet, at most
FEWEST: Final = 1 << 15  # bytes in memory for which a thread is started
MORE: Final = 1 << 19  # bytes that are read at once then
_BYTES = cython.declare(cython.Py_ssize_t, BYTES)
_FEWEST = cython.declare(cython.Py_ssize_t, FEWEST)
_MORE = cython.declare(cython.Py_ssize_t, MORE)
_LEAST = cython.declare(cython.Py_ssize_t, LEAST)
_LONGEST = cython.declare(cython.Py_ssize_t, LONGEST)


def helps() -> bool:
    """Whether there is a core for a thread: processes that share the work, of multiprocessing, have one each."""
    process = sys.modules.get("multiprocessing.process")
    if not is_direct or (process is not None and process.parent_process() is not None):
        return False
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1


# How many processes this one is behind that was first: a thread is not there behind a fork.
_process = cython.declare(cython.int, 0)


def _forked() -> None:
    global _process  # noqa: PLW0603 - a number in C
    _process += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@cython.no_gc  # nothing it holds leads back to it; and nothing may be taken from it while the thread writes there
@cython.final
@cython.cclass
class Ahead:
    """The thread, and the members that it was given last; who cuts the archive comes to them in their order.

    Offsets are those in the file. `opened` is how many members were open when they were come to.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._until = -1
        self._process = _process
        self.opened = 0
        self._forget()
        if cython.compiled and self._thread is cython.NULL:
            self._thread = started(cython.address(library))

    def __dealloc__(self) -> None:
        if cython.compiled and self._is_here():
            end(self._thread)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def close(self) -> cython.int:
        """End the thread."""
        if cython.compiled and self._is_here():
            end(self._thread)
            self._thread = cython.NULL
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_here(self) -> cython.bint:
        if cython.compiled:
            return self._thread is not cython.NULL and self._process == _process
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _forget(self) -> cython.int:
        self._held = b""
        self._values: list[bytes | None] = []
        self._at = 0
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def see(self, held: bytes, at: cython.Py_ssize_t, before: cython.Py_ssize_t) -> cython.int:
        """Give the thread the members that begin here and behind, unless those that were seen are still to come to.

        `held` begins so many bytes into the file.
        """
        if cython.compiled and before + at > self._until and self._is_here():
            empty(self._thread)
            self._forget()
            self._held = held
            p: cython.p_const_uchar = held
            room: cython.Py_ssize_t = _BYTES
            size: cython.Py_ssize_t
            following: cython.Py_ssize_t
            while len(self._values) < MOST:
                following = next_member(held, at + _LEAST, min(len(held), at + _LONGEST))
                size = size_of(p + at, following - at, self._limit)
                if following < 0 or size > room:
                    break
                if size:
                    value: bytes = PyBytes_FromStringAndSize(cython.NULL, size)
                    put(self._thread, len(self._values), before + at, p + at, following - at, value, size)
                    self._values.append(value)
                    room -= size
                at = following
            self._until = before + at
            go(self._thread, len(self._values))
        return 0

    @cython.ccall
    @cython.exceptval(check=False)
    def size_at(self, offset: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many bytes of the file the member takes that begins here; 0 where none was seen that does."""
        if cython.compiled and self._is_here():
            while self._at < len(self._values) and self._thread.members[self._at].offset < offset:
                self._at += 1
            if self._at < len(self._values) and self._thread.members[self._at].offset == offset:
                return self._thread.members[self._at].end
        return 0

    @cython.ccall
    def value(self, raw: bytes, opener: Opener) -> bytes | None:
        """What is in the member that was asked for last, which is these bytes, as `opener` would open it.

        So it does where the thread is behind.
        """
        if cython.compiled:
            value: bytes = self._values[self._at]
            self._values[self._at] = None
            state: State = taken(self._thread, self._at)
            if state == TAKEN:
                state = helped(self._thread, self._at, opener._machine)  # noqa: SLF001 - in C
            if state == OPENED:
                self.opened += 1
                return value
            if state == BROKEN:
                return None
        return opener.opened(raw, self._limit)


@cython.cclass
class Members(Window):
    """A file that is read forward, of which members are opened where one stands; at most `limit` bytes come of one.

    `ahead`: much is done between one and the next. Who has it must see that it is closed.
    """

    def __init__(self, file: IO[bytes] | bytes, start: int, limit: int, *, ahead: bool) -> None:
        super().__init__(file, start)
        self._limit = limit
        self._raw = b""
        self._opener = Opener()
        self._starts = ahead and helps()
        self._ahead: Ahead | None = None

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _close(self) -> cython.int:
        if self._ahead is not None:
            self._ahead.close()
        return 0

    @cython.cfunc
    def _whole_member(self) -> bytes | None:
        """What is in a member that ends where the next begins, or the file ends; `_raw` is that, and one stands behind.

        None where that is not sure, and one stands where one stood.
        """
        ahead = self._ahead
        seen: cython.Py_ssize_t = ahead.size_at(self._offset()) if ahead is not None else 0
        end: cython.Py_ssize_t = self._at + seen if seen else self._member_end()
        if end < 0:
            return None
        p: cython.p_const_uchar = self._held
        raw: bytes = p[self._at : end]
        if seen and ahead is not None:
            value = ahead.value(raw, self._opener)
        else:
            if self._starts and len(self._held) - end >= _FEWEST:
                self._starts = False
                self._ahead = Ahead(self._limit)
                self._chunk = _MORE
            if self._ahead is not None:
                self._ahead.see(self._held, end, self._before)
            value = self._opener.opened(raw, self._limit)
        if value is not None:
            self._raw = raw
            self._at = end
        return value

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def _member_end(self) -> cython.Py_ssize_t:
        """Where in what is held the next member seems to begin, or the file ends; -1 where that is too far away."""
        searched: cython.Py_ssize_t = _LEAST
        held: cython.Py_ssize_t
        end: cython.Py_ssize_t
        while (end := next_member(self._held, self._at + searched, min(len(self._held), self._at + _LONGEST))) < 0:
            held = len(self._held) - self._at
            if held >= _LONGEST:
                return -1
            searched = max(searched, held - 3)
            if not self._has(held + 1):
                return len(self._held)
        return end
