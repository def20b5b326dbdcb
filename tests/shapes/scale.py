"""Sizes of documents in tests: smaller where absolve's modules are not compiled.

Interpreted, they take about thirty times as long per byte or link. A test whose documents are large to show growth, and
not because a limit has exactly that size, uses a tenth of the size there:

    data = b"<a href=x>" * scaled(100_000)

A limit that a test must exceed is lowered as well, with `monkeypatch`: interpreted, constants are attributes.
"""

import os
from typing import Final

import pytest

from absolve.formats.html import tokenizer

COMPILED: Final = not (tokenizer.__file__ or "").endswith(".py")
# Of tests that look at imports, memory or seconds of a process: coverage imports modules, keeps data, and takes time.
not_traced: Final = pytest.mark.skipif("COVERAGE_RUN" in os.environ, reason="coverage changes what this measures")


def scaled(size: int) -> int:
    """Return the size where the modules are compiled, and a tenth of it where they are interpreted."""
    return size if COMPILED else size // 10
