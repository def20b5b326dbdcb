"""Inputs as stretches: a record of an archive, what stands between records, or all of any other document."""

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
    """Some bytes of an input as they stand there, and what is in them.

    `document` is a record without its compression and `entity` the same walked, both None for what stays as it is;
    `coding` is the compression, None for none. `diagnostics` are what is to be said of these bytes.
    """

    raw: bytes
    document: Document | None = None
    entity: Entity | None = None
    coding: Coding | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def rewritten(self, policy: Policy | None = None) -> bytes:
        """The bytes with every link changed as `rewriting.rewrite` does; the very same object where none is."""
        return self.raw if self.entity is None else self.written(rewriter.rewrite(self.entity, policy))

    def written(self, record: bytes) -> bytes:
        """The bytes that put this record in the place of the one that is there, compressed as that is."""
        if self.document is None or record == self.document.data:
            return self.raw
        return self.coding.encode(record) if self.coding is not None else record


def said_of_fault(error: Exception, record: Document) -> Diagnostic:
    """What is to be said where a fault of ours leaves a record as it is."""
    at = f", at byte {record.origin(0)}" if record.origin is not None else ""
    return Diagnostic("internal-error", fault(error) + at, record.name or "", failed=True)
