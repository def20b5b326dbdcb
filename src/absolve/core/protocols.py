"""The interfaces (typing.Protocol) between packages, each with its contract; used for type checking only.

Offsets and Coding map values to raw bytes; Resolver and ResolverFactory implement RFC 1808 section 4 (resolution).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from absolve.core.model import BaseURL

    Text: TypeAlias = str  # an alias, so that Cython adds no type check with its own error message


class Buffer(Protocol):
    """An object with the buffer protocol: bytearray, memoryview, mmap, an array of numpy.uint8..."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class URLObject(Protocol):
    """A URL object whose `str` is the URL (httpx.URL, yarl.URL, pydantic's, furl)."""

    @property
    def scheme(self) -> Any: ...
    def __str__(self) -> str: ...


class Offsets(Protocol):
    """A map from offsets in a decoded value to offsets in its raw bytes, in bytes.

    A unit is a byte, a character reference or an escape: for example, byte 2 of `a&b` is byte 6 of `a&amp;b`. Starts
    and ends are mapped separately: with starts only, an edit that ends before a soft line break would include it.
    """

    def start(self, position: int) -> int:
        """Return the raw offset at which the unit at this offset of the value begins; the raw length past the end."""

    def end(self, position: int) -> int:
        """Return the raw offset at which the unit before this offset of the value ends; 0 for offset 0."""


class Coding(Protocol):
    """The encoding of a reference, or of a whole inner document, in its context: charset, escapes, transfer encoding.

    Raw bytes are the entity's, in its charset. Values are bytes: UTF-8 for text, where malformed raw bytes pass
    through unchanged in both directions; any bytes for binary content.
    """

    @property
    def slot(self) -> tuple[int, int] | None:
        """The span of the value that must be encoded as a whole, after all edits in it are known; None for most."""

    def decode(self, raw: bytes) -> bytes:
        """Return the value of raw bytes."""

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        """Return the value and its offsets, None if a small edit of the value can change all raw bytes (base64)."""

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:
        """Return raw bytes that decode to the value when they are between the raw bytes `before` and `after`.

        Only characters that the context requires are escaped.
        """


class CompanionFiles(Protocol):
    """The files around a document on a disk, for the relative references of that document."""

    def __call__(self, reference: str, folder: str = ".", *, is_frame: bool = False) -> str | None:
        """Return the URL that a file records for itself, if a reference names that file; None if there is no such file.

        It is "" if the file records none, and was saved with the document: then the link stays. It is "" also with
        `is_frame`, for the link of a frame, because the frame is a part of the page. `folder`, relative to the
        document's folder, is the folder to which a relative base leads.
        """


class Surroundings(Protocol):
    """Where a document is on a disk."""

    def saved_files(self, own: BaseURL, /) -> CompanionFiles | None:
        """Return the files that were saved with the document, which has this URL of its own; None if none were."""

    def is_of_saved(self) -> bool:
        """Return whether the document is a part of a page that records its URL."""


class Resolver(Protocol):
    """RFC 1808 section 4 for one base: return the absolute URL of a stripped reference, or None."""

    def __call__(self, reference: str, /) -> str | None: ...


class ResolverFactory(Protocol):
    """Return the resolver for a base; `charset` is the document's, used for queries by the URL Standard."""

    def __call__(self, base: str, charset: str = "utf-8", /) -> Resolver: ...
