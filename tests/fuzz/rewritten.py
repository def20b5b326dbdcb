"""Invariants of the rewrite of any document, with any options."""

from typing import Any

import absolve


def is_honest(data: bytes, *, judged: bool = True, **options: Any) -> None:
    """Assert that a no-op is the identity, that only links change, not their targets, and idempotence.

    Unless every input can be `judged`, the second witness may report that it cannot check; the first must not.
    """
    assert absolve.rewrite(data, policy=lambda _: None, **options) is data
    after = absolve.rewrite(data, **options)
    if after == data:
        assert after is data
        return
    differences = absolve.verify(data, after, **options)
    assert [str(found) for found in differences if judged or found.code != "unjudged"] == []
    assert absolve.rewrite(after, **options) is after


def has_sound_rows(data: bytes, **options: Any) -> None:
    """Assert that each row has a position in the document, and a target or a problem code that explains its absence."""
    for row in absolve.links(data, **options):
        assert 0 <= row.start <= row.end
        assert row.entity or row.end <= len(data)
        assert row.line >= 1
        assert row.column >= 1
        assert row.target is not None or row.problems


def goes_through(data: bytes, **options: Any) -> None:
    """Rewrite the document and list it completely; only AbsolveError may be raised."""
    try:
        absolve.rewrite(data, **options)
        for row in absolve.links(data, **options):
            str(row)
    except absolve.AbsolveError:
        return


def in_quotes(value: bytes) -> bytes:
    """Return the value in an attribute with single quotes, double quotes or none, depending on its length."""
    quote = (b"", b"'", b'"')[len(value) % 3]
    return quote + value.replace(quote, b"") + quote if quote else value
