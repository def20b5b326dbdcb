"""What must hold of the rewrite of any document, whatever the options."""

from __future__ import annotations

from typing import Any

import absolve


def is_honest(data: bytes, *, judged: bool = True, **options: Any) -> None:
    """No-op is the identity, `verify` finds that only links changed and where they lead did not, twice is once.

    Where not every input can be `judged` the second witness may say that it cannot; the first may not.
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
    """Each row has a place in its document, and a target where no problem says why there is none."""
    for row in absolve.links(data, **options):
        assert 0 <= row.start <= row.end
        assert row.entity or row.end <= len(data)
        assert row.line >= 1
        assert row.column >= 1
        assert row.target is not None or row.problems


def goes_through(data: bytes, **options: Any) -> None:
    """Rewrite it and list it whole; nothing is raised but what is ours to raise."""
    try:
        absolve.rewrite(data, **options)
        for row in absolve.links(data, **options):
            str(row)
    except absolve.AbsolveError:
        return


def in_quotes(value: bytes) -> bytes:
    """The value of an attribute in single quotes, double quotes or none, as its length says."""
    quote = (b"", b"'", b'"')[len(value) % 3]
    return quote + value.replace(quote, b"") + quote if quote else value
