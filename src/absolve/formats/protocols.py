"""The contract of walkers: what they are asked, and what they yield."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset


class WalkOptions(Protocol):
    """What a walker may be asked for beyond what counts always; `max_links` is when a list of events may end."""

    @property
    def lazy(self) -> bool: ...
    @property
    def conditional_comments(self) -> bool: ...
    @property
    def json_ld(self) -> bool: ...
    @property
    def break_signatures(self) -> bool: ...
    @property
    def max_links(self) -> int: ...
    @property
    def max_decompressed(self) -> int: ...


class Walker(Protocol):
    """Reads the bytes of one document and tells what it found, in the order in which it stands there.

    Told one by one the events are counted as they come; a walker that makes a list ends it when it has more links and
    parts than `max_links`: nothing of that document will be used.
    """

    def __call__(self, data: bytes, charset: Charset, options: WalkOptions, /) -> Iterable[Event]: ...
