"""Create base claims from attribute values: `href` of a base element, `codebase`, `xml:base`.

In: the decoded value (UTF-8 bytes) and its byte offset in the entity. Out: a `BaseClaim` of the layer EMBEDDED
(RFC 1808 section 3.1); its reference has no ASCII white space around it.
"""

from __future__ import annotations

from absolve.core.model import EMBEDDED, BaseClaim, new
from absolve.formats.grammars import WHITE_SPACE


def base_claim(value: bytes, position: int) -> BaseClaim:
    """Return the claim of a base element with this href (RFC 1808 section 3.1)."""
    return new(BaseClaim, (EMBEDDED, _text(value), "base element", position, None))


def codebase_claim(value: bytes, position: int) -> BaseClaim | None:
    """Return the claim of `codebase`, for classid, data, archive and code of its element (HTML 4.01 13.3).

    Return None where the value is empty.
    """
    reference = _text(value)
    return new(BaseClaim, (EMBEDDED, reference, "codebase attribute", position, None)) if reference else None


def xml_base_claim(value: bytes, position: int) -> BaseClaim:
    """Return the claim of `xml:base`, for its element and all descendants (XML Base 3.1)."""
    return new(BaseClaim, (EMBEDDED, _text(value), "xml:base attribute", position, None))


def _text(value: bytes) -> str:
    return value.strip(WHITE_SPACE).decode("utf-8", "surrogateescape")
