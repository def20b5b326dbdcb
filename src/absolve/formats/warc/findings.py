"""Diagnostics for segments of an archive that are left unchanged.

In: a code, a text and a byte offset in the file, and the URL of the record, if known. Out: a `Finding`.
"""

from __future__ import annotations

from absolve.core.errors import in_short
from absolve.core.model import Finding
from absolve.formats.warc.headers import record_at


def record_finding(code: str, text: str, offset: int, url: str = "") -> Finding:
    """Return the finding for a segment that is left unchanged."""
    return Finding(code, f"{text}; it stays as it is{f' ({in_short(url)})' if url else ''}", offset, failed=True)


def cut_off(what: str, offset: int, url: str = "") -> Finding:
    """Return the finding for a segment (`what` names its kind) that the end of the file cuts off."""
    return record_finding("truncated", f"the file ends before the end of this {what}", offset, url)


def wrong_length(offset: int, url: str) -> Finding:
    """Return the finding for a record whose length does not lead to the next record."""
    return record_finding("wrong-length", "the length of this record does not lead to the next one", offset, url)


def too_large(limit: int, offset: int, url: str = "") -> Finding:
    """Return the finding for a record of more than `limit` bytes."""
    return record_finding("too-large", f"this record has more than {limit} bytes (--max-decompressed)", offset, url)


def url_at(data: bytes, start: int) -> str:
    """Return the URL of the record at this offset; "" where its header is missing or incomplete."""
    record = record_at(data, start)
    return record.url if record is not None else ""
