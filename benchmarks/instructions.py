"""Count the instructions that a thread executes, which do not depend on caches, clocks or other programs."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import Final

# perf_event_open(2), whose number depends on the architecture; <linux/perf_event.h>, struct perf_event_attr, version 0.
_CALLS: Final = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
_ATTRIBUTES: Final = struct.Struct("=IIQQQQQIIQ")
_HARDWARE, _INSTRUCTIONS = 0, 1  # PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
_USER_SPACE: Final = 1 << 5 | 1 << 6  # exclude_kernel, exclude_hv


class Counter:
    """Counts the instructions of the calling thread in user space; raises OSError where that is not possible."""

    def __init__(self) -> None:
        call = _CALLS.get(platform.machine()) if sys.platform == "linux" else None
        if call is None:
            raise OSError("no instructions are counted on this system")
        attributes = _ATTRIBUTES.pack(_HARDWARE, _ATTRIBUTES.size, _INSTRUCTIONS, 0, 0, 0, _USER_SPACE, 0, 0, 0)
        system = ctypes.CDLL(None, use_errno=True).syscall
        system.argtypes = [ctypes.c_long, ctypes.c_char_p, *[ctypes.c_long] * 4]
        this_thread, any_processor, no_group, flags = 0, -1, -1, 0
        file = system(call, attributes, this_thread, any_processor, no_group, flags)
        if file < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        self._file = file

    def count(self) -> int:
        """Return the number of instructions since this counter was created."""
        return int.from_bytes(os.read(self._file, 8), sys.byteorder)

    def close(self) -> None:
        os.close(self._file)


def counter() -> Counter | None:
    """Return a counter; None where the system has none or denies access."""
    try:
        made = Counter()
    except OSError:
        return None
    if made.count() < made.count():
        return made
    made.close()  # some virtual machines have a counter that never counts
    return None
