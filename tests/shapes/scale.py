"""How large the documents of tests are: by whether the modules that absolve compiles are compiled here.

Interpreted, they take some thirty times as long for a byte or a link. A test whose documents are large so that something
grows, and not because some limit has just that size, takes a tenth of them there:

    data = b"<a href=x>" * scaled(100_000)

A limit that a test must pass is lowered with them, by `monkeypatch`: interpreted, constants are attributes.
"""

from __future__ import annotations

from typing import Final

from absolve.formats.html import tokenizer

COMPILED: Final = not (tokenizer.__file__ or "").endswith(".py")


def scaled(size: int) -> int:
    """Return the size where the modules are compiled, and a tenth of it where they are interpreted."""
    return size if COMPILED else size // 10
