"""RESULTS.md: a section for each part of the benchmarks, with the date, command and machine of its measurement."""

from __future__ import annotations

import re
from typing import Final

HEAD: Final = """# Results

Each part of the benchmarks replaces its section when it runs with `python -m benchmarks --write`; README.md
describes the parts.
"""
_SECTION: Final = re.compile(r"^(?=## )", re.MULTILINE)


def section(title: str, measured: str, text: str) -> str:
    """Return one part's section: its title, the line about its measurement, and its text."""
    return f"## {title}\n\n{measured}\n\n{text.strip()}\n"


def merged(results: str, new: str) -> str:
    """Return the results with a new section in place of the one with the same title, else at the end."""
    _, *sections = _SECTION.split(results)
    title = _title(new)
    kept = [new if _title(old) == title else old.strip() + "\n" for old in sections]
    if new not in kept:
        kept.append(new)
    return "\n".join([HEAD, *kept])


def _title(text: str) -> str:
    return text.partition("\n")[0].strip()
