"""The protocols that the parts of absolve meet by, each with its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    Text: TypeAlias = str  # where Cython would refuse all but a str with words of its own


class Buffer(Protocol):
    """An object that holds bytes and lets them be read where they are: bytearray, memoryview, mmap, numpy.uint8..."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class URLObject(Protocol):
    """A URL that is no str: `str` of it is the URL (httpx.URL, yarl.URL, pydantic's, furl)."""

    @property
    def scheme(self) -> Any: ...
    def __str__(self) -> str: ...


class Offsets(Protocol):
    """Where each unit of a decoded value stands in the raw bytes it came from (a unit: a byte, a reference, an escape).

    Both ends are needed: with starts only, an edit that ends before a soft line break would swallow it.
    """

    def start(self, position: int) -> int:
        """The raw offset at which the unit at this offset of the value begins (the raw length, past the last one)."""

    def end(self, position: int) -> int:
        """The raw offset at which the unit before this offset of the value ends (0, before the first one)."""


class Coding(Protocol):
    """How a reference, or a whole inner document, is written where it stands.

    Raw bytes are those of the entity, in its own charset. Values are bytes: UTF-8 where they are text (bytes that are
    no text there come through as they are, and come back as they were), anything else where they are not.
    """

    @property
    def slot(self) -> tuple[int, int] | None:
        """The span of the value that must be settled as a whole when all edits in it are known; None for most."""

    def decode(self, raw: bytes) -> bytes:
        """The value that the raw bytes stand for."""

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        """The value, and where its units stand; None where no edit inside maps to a small one outside (base64)."""

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        """Raw bytes that decode to the value between `before` and `after`, raw bytes of the same place.

        As little is escaped as the place needs.
        """


class Resolver(Protocol):
    """Section 4 against one base: the absolute URL of a reference (text, stripped), None where it has none."""

    def __call__(self, reference: str, /) -> str | None: ...


class Profile(Protocol):
    """Makes the resolver for a base; `charset` is that of the document, which the URL Standard encodes queries in."""

    def __call__(self, base: str, charset: str = "utf-8", /) -> Resolver: ...


class Sink(Protocol):
    """Writes a table: rows are encoded in chunks, in any process, and the chunks are written in their order.

    A row has a value for each column: text, a number, None, or a list of texts. Text is what UTF-8 can write; anything
    else in it is replaced.
    """

    def encode(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> Any:
        """What some rows come to; it can go from one process to another."""

    def write(self, columns: Sequence[str], chunks: Iterable[Any], file: Any, /) -> None:
        """Write what was encoded, as it comes, to a file that is open for bytes and stays open.

        If the sink takes columns (`sinks.Format`), `inventory.Columns` may be among the chunks: what is not encoded.
        A sink that is no stream (`sinks.Format`) is given the path of a file that is not there yet.
        """
