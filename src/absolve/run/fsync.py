"""Put output files on the disk before they are renamed: a group by one syncfs, or each by fsync, several at once.

Input: the results of tasks, in order. Output: the same results; a `FilesReady` comes when its files are on the disk.
"""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from absolve.run import outputs
from absolve.run.results import Failure, FilesReady
from absolve.run.rewritten_files import unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Executor, Future

    from absolve.run.syncfs import FileSystems

Item = TypeVar("Item")

AT_ONCE: Final = 8  # threads that call fsync
TOGETHER: Final = 32  # FilesReady in a group
FEW: Final = 4  # FilesReady in a group for which syncfs is not called
LONG: Final = 0.5  # seconds after which a group is complete with fewer


class _Group:
    """Results in order, from the first `FilesReady` on, and the calls under way for their files."""

    def __init__(self) -> None:
        self.results: list[tuple[Any, Any]] = []
        self._since = time.monotonic()
        self._files: list[FilesReady] = []
        self._synced: Future[bool] | None = None
        self._flushes: deque[list[Future[None]]] = deque()  # for each of the files

    def add(self, item: Any, piece: Any) -> None:
        self.results.append((item, piece))
        if isinstance(piece, FilesReady) and piece.made:
            self._files.append(piece)

    @property
    def is_complete(self) -> bool:
        return len(self._files) >= TOGETHER or time.monotonic() - self._since >= LONG

    @property
    def is_single(self) -> bool:
        return len(self._files) == 1

    def begin(self, threads: Executor, systems: FileSystems | None) -> None:
        """Begin to put the files on the disk."""
        if systems is not None and systems.are_used and len(self._files) > FEW:
            self._synced = threads.submit(systems.sync, [made for ready in self._files for made in ready.made])
        else:
            self._flush(threads)

    def _flush(self, threads: Executor) -> None:
        self._flushes = deque([threads.submit(outputs.flush, made) for made in ready.made] for ready in self._files)

    @property
    def is_done(self) -> bool:
        """Whether `end` need not wait for the disk."""
        if self._synced is not None:
            return self._synced.done()
        return all(flush.done() for flushes in self._flushes for flush in flushes)

    def end(self, threads: Executor | None) -> list[tuple[Any, Any]]:
        """Return the results when all files are on the disk; a `Failure` for files that are not."""
        synced = self._synced is not None and self._synced.result()
        if threads is not None and not synced and not self._flushes:
            self._flush(threads)
        return [(item, self._ended(piece, synced=synced)) for item, piece in self.results]

    def _ended(self, piece: Any, *, synced: bool) -> Any:
        if not (isinstance(piece, FilesReady) and piece.made):
            return piece
        try:
            if self._flushes:
                for flush in self._flushes.popleft():
                    flush.result()
            elif not synced:
                for made in piece.made:
                    outputs.flush(made)
        except OSError as error:
            for made in piece.made:
                outputs.discard(made)
            return Failure(unwritable(Path(piece.made[-1].target), error).diagnostic)
        return FilesReady(piece.made, flushed=True)


def flushed(
    results: Iterable[tuple[Item, Any]],
    expect: Callable[[list[tuple[Item, FilesReady]]], None] | None = None,
    systems: FileSystems | None = None,
) -> Generator[tuple[Item, Any]]:
    """Yield all results in order; `FilesReady` when its files are on the disk, or a `Failure` if that fails.

    Meanwhile more results are requested from `results`. `expect` is called with each group of `FilesReady` before it is
    yielded. A result with no `FilesReady` queued before it is yielded at once.
    """
    group: _Group | None = None
    begun: deque[_Group] = deque()
    threads: Executor | None = None
    try:
        for item, piece in results:
            if group is None:
                if not (isinstance(piece, FilesReady) and piece.made) and not begun:
                    yield item, piece
                    continue
                group = _Group()
            group.add(item, piece)
            if group.is_complete:
                threads = threads or _threads()
                group.begin(threads, systems)
                begun.append(group)
                group = None
            while begun and (len(begun) > 1 or begun[0].is_done):
                yield from _noted(begun.popleft().end(threads), expect)
        if group is not None:
            if begun or not group.is_single:  # a single file needs no thread
                threads = threads or _threads()
                group.begin(threads, systems)
            begun.append(group)
        for last in begun:
            yield from _noted(last.end(threads), expect)
    finally:
        if threads is not None:
            threads.shutdown(cancel_futures=True)


def _threads() -> Executor:
    from concurrent.futures import ThreadPoolExecutor  # imports logging

    return ThreadPoolExecutor(AT_ONCE)


def _noted(
    results: list[tuple[Any, Any]], expect: Callable[[list[tuple[Any, FilesReady]]], None] | None
) -> Iterator[tuple[Any, Any]]:
    """Yield results, and before that call `expect` for the files that are on the disk."""
    if expect is not None:
        expect([(item, piece) for item, piece in results if isinstance(piece, FilesReady) and piece.made])
    yield from results
