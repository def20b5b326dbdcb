"""Run a process in a pseudo-terminal, and return what the terminal receives."""

import os
import struct
import subprocess
import threading

import pytest

LONGEST = 120.0  # seconds, after which a process is killed: its exit status is -9


def in_terminal(
    argv: list[str], environment: dict[str, str], columns: int = 80, stdout: int | None = None, stderr: int | None = None, longest: float = LONGEST,
) -> tuple[int, str]:
    """Return the exit status of a process, and what a terminal of this width receives from it.

    A stream that is None goes to the terminal. This process keeps its end of the terminal open until all is read,
    and writes an end mark there when the process has ended: some systems lose the last bytes when the last process
    that holds this end closes it.
    """
    fcntl = pytest.importorskip("fcntl")
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    mark = b"\0end\0"
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        streams = [theirs if stream is None else stream for stream in (stdout, stderr)]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1], env=environment) as process:

            def end() -> None:
                try:
                    process.wait(longest)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                os.write(theirs, mark)

            waiting = threading.Thread(target=end)
            waiting.start()
            found = b""
            while not found.endswith(mark):
                found += os.read(ours, 1 << 16)
            waiting.join()
    finally:
        os.close(ours)
        os.close(theirs)
    return process.returncode, found.removesuffix(mark).decode().replace("\r\n", "\n")
