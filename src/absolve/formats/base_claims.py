"""What attributes claim the base to be: of a base element, of `codebase`, of `xml:base`."""

from __future__ import annotations

from absolve.core.model import EMBEDDED, BaseClaim, new
from absolve.formats.grammars import WHITE_SPACE


def base_claim(value: bytes, position: int) -> BaseClaim:
    """The claim of a base element with this href (RFC 1808 section 3.1)."""
    return new(BaseClaim, (EMBEDDED, _text(value), "base element", position, None))


def codebase_claim(value: bytes, position: int) -> BaseClaim | None:
    """The claim that `codebase` makes for classid, data, archive and code of its element (HTML 4.01 13.3)."""
    reference = _text(value)
    return new(BaseClaim, (EMBEDDED, reference, "codebase attribute", position, None)) if reference else None


def xml_base_claim(value: bytes, position: int) -> BaseClaim:
    """The claim that `xml:base` makes for its element and all in it (XML Base 3.1)."""
    return new(BaseClaim, (EMBEDDED, _text(value), "xml:base attribute", position, None))


def _text(value: bytes) -> str:
    return value.strip(WHITE_SPACE).decode("utf-8", "surrogateescape")
