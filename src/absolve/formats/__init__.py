"""One folder or module for each format: walkers that read a document and yield bases, links and parts.

In: the bytes of one document. Out: events with byte offsets, in document order (`absolve.formats.events`).
Resolves nothing, writes nothing, and does not know the rooms above.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers assume True; the package is imported before all formats
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from absolve.core.model import Event
    from absolve.encodings.charsets import Charset

    class WalkOptions(Protocol):
        """The settings that a walker reads. `max_links`: a list of events may end once it has more links and parts.

        `documents`: yield Capture and PageFacts, too, and a Part for each document, also of types without a walker.
        `captures`: state the header fields of each document, and yield every body as a Part, whatever its status.
        `only_changing`: links with an absolute URL may be counted instead of kept (`EventList.count_link`).
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
        def only_changing(self) -> bool: ...
        @property
        def open_xml(self) -> bool: ...
        @property
        def max_links(self) -> int: ...
        @property
        def max_decompressed(self) -> int: ...

    class Walker(Protocol):
        """Parse the bytes of one document and return its events in document order.

        The caller counts the events of an iterator as it reads them. A walker that returns a list ends it once it has
        more links and parts than `max_links`: the caller then discards the document.
        """

        def __call__(self, data: bytes, charset: Charset, options: WalkOptions, /) -> Iterable[Event]: ...
