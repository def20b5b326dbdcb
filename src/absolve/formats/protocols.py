"""The contract of walkers: their options and their events.

A walker parses the bytes of one document and yields base claims, links, parts and findings with byte offsets. It
resolves no reference and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset

    Events = Iterable[Event]


class WalkOptions(Protocol):
    """The settings that a walker reads. `max_links`: a list of events may end once it has more links and parts.

    `documents`: yield Capture and PageFacts, too, and a Part for each document, also of types without a walker.
    `captures`: state the header fields of each document, and yield every body as a Part, whatever its status.
    `open_xml`: the document is a part of Office Open XML: its fields and formulas may be links.
    """

    @property
    def scripting(self) -> bool: ...
    @property
    def json_ld(self) -> bool: ...
    @property
    def documents(self) -> bool: ...
    @property
    def captures(self) -> bool: ...
    @property
    def open_xml(self) -> bool: ...
    @property
    def max_links(self) -> int: ...
    @property
    def max_decompressed(self) -> int: ...


class Walker(Protocol):
    """Parse the bytes of one document and return its events in document order.

    The caller counts the events of an iterator as it reads them. A walker that returns a list ends it once it has more
    links and parts than `max_links`: the caller then discards the document.
    """

    def __call__(self, data: bytes, charset: Charset, options: WalkOptions, /) -> Events: ...
