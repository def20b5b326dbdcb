"""The documents of links.toml have the links of their rows.

A row has one text for each link: the values of `columns`, with `-` for an empty one, `none` for none, and `§` for the
folder of the document. A row without such a text is a document without links, which no rewrite changes. `of` names the
elements, attributes or kinds of inner documents to which the rows are limited, `last` takes the last link alone; what
`stays` is not changed by a policy either. The other keys are in case_tables.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from case_tables import Case, cases, line, site, tables

import absolve

TABLES = tables("links")


@pytest.mark.parametrize("name", TABLES)
def test_the_links_of_a_document_are_those_of_its_table(name: str) -> None:
    assert [fault for case in cases(TABLES[name]) if (fault := difference(case))] == []


def shown(value: Any) -> str:
    return "none" if value is None else ",".join(value) or "-" if isinstance(value, list) else str(value) or "-"


def listed(document: Any, keys: dict[str, Any], options: dict[str, Any]) -> tuple[list[str], str]:
    """Return the links of a document as a row has them, and what was reported."""
    reported: list[str] = []
    rows = absolve.links(document, on_diagnostic=lambda found: reported.append(line(found)), **options)
    words = {*keys.get("of", "").split()}
    wanted = (row for row in rows if not words or {row.element, row.attribute, row.entity.rpartition("/")[2].partition("[")[0]} & words)
    found = [" ".join(shown(getattr(row, name)) for name in keys["columns"].split()) for row in wanted]
    return found[-1:] if keys.get("last") else found, ", ".join(reported)


def difference(case: Case) -> list[Any]:
    (_, *texts), keys, document, options = case
    wanted = [text.replace("§", site(keys)) for text in texts]
    found, reported = listed(document, keys, options)
    if found != wanted or reported != keys.get("reported", reported):
        return [document, "has", found, reported, "not", wanted, keys.get("reported")]
    options["policy"] = (lambda _: "http://new.example/") if keys.get("stays") else None
    if (keys.get("stays") or not (found or "of" in keys)) and absolve.rewrite(document, on_diagnostic=print, **options) is not document:
        return [document, "changes"]
    return []
