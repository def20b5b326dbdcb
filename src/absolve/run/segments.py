"""Segment of an input: a record of an archive, the bytes between records, or the whole of any other document."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import Diagnostic, fault
from absolve.rewriting import rewriter

if TYPE_CHECKING:
    from absolve.core.model import Document
    from absolve.core.protocols import Coding
    from absolve.document.entity import Entity
    from absolve.rewriting.policy import Policy


class Segment(NamedTuple):
    """Bytes of an input, and the document in them.

    `raw`: the bytes in the file. `document`: the record without compression; `entity`: the walked document; both None
    if the bytes are left unchanged. `coding`: the compression, or None. `diagnostics`: about these bytes.
    """

    raw: bytes
    document: Document | None = None
    entity: Entity | None = None
    coding: Coding | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def rewritten(self, policy: Policy | None = None) -> bytes:
        """Return the bytes with links changed as `rewriter.rewrite` does; the same object if none changes."""
        return self.raw if self.entity is None else self.written(rewriter.rewrite(self.entity, policy))

    def written(self, record: bytes) -> bytes:
        """Return the bytes for a new record in place of the old one, compressed in the same way."""
        if self.document is None or record == self.document.data:
            return self.raw
        return self.coding.encode(record) if self.coding is not None else record


def internal_error(error: Exception, record: Document) -> Diagnostic:
    """Return the diagnostic for an internal error, because of which a record is left unchanged."""
    at = f", at byte {record.origin(0)}" if record.origin is not None else ""
    return Diagnostic("internal-error", fault(error) + at, record.name or "", failed=True)
