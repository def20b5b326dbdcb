"""The documents of rewrite.toml are rewritten as their rows show, a second rewrite changes nothing, and `verify` proves it.

A document without a mark stays as it is. The keys are in case_tables.py; a second text in a row is the whole rewritten
document, and `proved = false` is for targets that a reader takes for others than they were (with `new`). So it does with
other options, but for the rows in which `otherwise = false`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from case_tables import Case, cases, line, spelled, tables

import absolve

TABLES = tables("rewrite")


@pytest.mark.parametrize("name", TABLES)
def test_a_rewrite_changes_what_its_table_says(name: str) -> None:
    assert [fault for case in cases(TABLES[name]) if (fault := difference(case))] == []


def rewritten(document: Any, options: dict[str, Any]) -> tuple[Any, str]:
    """Return a document after a rewrite, and what was reported."""
    reported: list[str] = []
    try:
        done = absolve.rewrite(document, on_diagnostic=lambda found: reported.append(line(found)), **options)
    except absolve.DocumentError as error:
        return document, f"{line(error.diagnostic).removesuffix('!')}!"
    return done, ", ".join(reported)


def difference(case: Case) -> list[Any]:
    texts, keys, document, options = case
    wanted = spelled(texts[-1], keys, after=True)
    done, reported = rewritten(document, options)
    if done != wanted or reported != keys.get("reported", ""):
        return [document, "became", done, reported, "not", wanted, keys.get("reported", "")]
    if done == document:
        return [] if done is document else [document, "is another object"]
    if keys.get("base") != "empty" and (again := rewritten(done, options)[0]) != done:
        return [document, "is rewritten again as", again]
    found = absolve.verify(document, done, **options) if keys.get("proved", True) else []
    return [document, "verify", *map(str, found)] if found else []


OTHERWISE: list[dict[str, Any]] = [
    *({"profile": profile} for profile in ("rfc3986", "whatwg", "browser")),
    *({"fragments": "absolute"}, {"base": "empty", "fragments": "absolute"}, {"base": "empty", "url": 'http://h/é"b"/'}, {"url": None}),
]


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow, id="each"), pytest.param(len(OTHERWISE), id="one of them")])
def test_rewrites_with_other_options_are_proved_too(step: int) -> None:
    for at, (case, other) in enumerate(product((case for table in TABLES.values() for case in cases(table)), OTHERWISE)):
        if at // len(OTHERWISE) % step != at % step:  # each case has its turn with one of them
            continue
        options = case.options | other
        done, reported = rewritten(case.document, options)
        if case.keys.get("proved", True) and case.keys.get("otherwise", True) and "!" not in reported:
            assert absolve.verify(case.document, done, **options) == [], (case.document, options)
            assert "empty" in options.values() or rewritten(done, options)[0] == done, (case.document, options)
