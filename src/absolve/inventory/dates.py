"""Dates of captured documents in ISO 8601: those of WARC, ARC, HAR, and of the header fields of mail and HTTP."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:T[0-9:.]{1,30}(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?)?")
_DIGITS: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")  # ARC
_LONGEST: Final = 100  # characters


def in_iso(date: str) -> str | None:
    """Return a date in ISO 8601; None for one in no known form."""
    if len(date) > _LONGEST:
        return None
    date = date.strip()
    if _ISO.fullmatch(date):
        return date
    digits = _DIGITS.fullmatch(date)
    if digits is not None:
        return "{}-{}-{}T{}:{}:{}Z".format(*digits.groups())
    try:
        found = parsedate_to_datetime(date)  # RFC 5322 3.3, RFC 9110 5.6.7
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    text = found.isoformat()
    return f"{text}Z" if found.tzinfo is None else text.replace("+00:00", "Z")
