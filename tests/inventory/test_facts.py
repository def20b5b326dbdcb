"""The fast path of rows gives what the full computation gives."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pytest

from absolve import Document, links
from absolve.core.model import Link
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.inventory.base_facts import KnownBases
from absolve.inventory.facts import RowFacts
from tests.urls.test_prefixing import references_of_parts

if TYPE_CHECKING:
    from absolve.core.options import Profile

OWN = ("https://h/a/b.html?q", "http://a.b", "http://a.b/", "file:///a/b", "https://a-1.example/x#y")


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("count", [4_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("own", OWN)
def test_rows_of_plain_references_are_those_of_the_full_computation(own: str, count: int, profile: Profile) -> None:
    references = list(references_of_parts(count))
    data = "".join(f'<a href="{escape(reference)}">' for reference in references).encode()
    entity = walk(Document(data, media_type="text/html", url=own), Settings(profile=profile))
    facts: RowFacts | None = None
    for row, link in zip(links(data, media_type="text/html", url=own, profile=profile), entity.events, strict=True):
        assert isinstance(link, Link)
        if facts is None:
            facts = RowFacts(entity, link, "", KnownBases())
        full = facts.judged(link, link.coding.decode(data[link.start : link.end]))
        target = None if full.target is None else full.target.decode()
        found = (row.reference, row.target, row.scope, tuple(row.problems))
        assert found == (full.reference.decode(), target, full.scope, full.problems)
