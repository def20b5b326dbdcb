"""RESULTS.md: a section for each part of the benchmarks, which says itself when, where and how it was measured."""

from __future__ import annotations

import re
from typing import Final

HEAD: Final = """# Results

Each section is written by `python -m benchmarks --write` when its part is run, and stays until it is run again; README.md
says what is timed.
"""
_SECTION: Final = re.compile(r"^(?=## )", re.MULTILINE)


def section(title: str, measured: str, text: str) -> str:
    """One part's section: its title, the line that says how it was measured, what came of it."""
    return f"## {title}\n\n{measured}\n\n{text.strip()}\n"


def merged(results: str, new: str) -> str:
    """The results with a new section in the place of that with its title, or behind all others; the rest stays."""
    _, *sections = _SECTION.split(results)
    title = _title(new)
    kept = [new if _title(old) == title else old.strip() + "\n" for old in sections]
    if new not in kept:
        kept.append(new)
    return "\n".join([HEAD, *kept])


def _title(text: str) -> str:
    return text.partition("\n")[0].strip()
