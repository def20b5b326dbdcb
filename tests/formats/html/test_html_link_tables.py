"""The link tables: every row has values that the walker knows, and the important rows exist."""

import itertools

import pytest
from lxml.html import defs

from absolve.core.model import KINDS, LinkSite
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import link_tables
from absolve.formats.html.link_tables import AS_KINDS, GLOBAL, HTML, LAZY, LINK_REL_KINDS, MATHML, SVG, TYPE_KINDS

TABLES = {"GLOBAL": GLOBAL, "HTML": HTML, "SVG": SVG, "MATHML": MATHML, "LAZY": LAZY}
METAS = {name: table for name, table in vars(link_tables).items() if name in {"META", "META_ITEMPROPS", "HTTP_EQUIV"}}
ALL = [*itertools.chain(*TABLES.values()), *itertools.chain(*(table.values() for table in METAS.values()))]


@pytest.mark.parametrize("site", ALL, ids=lambda site: f"{site.element}-{site.attribute}")
def test_rows_use_the_values_that_link_site_defines(site: LinkSite) -> None:
    assert site.kind in KINDS
    assert site.syntax in {*GRAMMARS, "css", "srcdoc"}
    assert site.against in {"base", "own", "codebase"}
    assert site.empty in {"base", "own", "nothing"}
    assert site.stays in {"", "fragment", "always"}
    assert site.element == site.element.lower()
    assert site.attribute == site.attribute.lower()


def test_link_types_map_to_known_kinds() -> None:
    assert set(LINK_REL_KINDS.values()) <= KINDS | {"as", "type"}
    assert {*AS_KINDS.values(), *TYPE_KINDS.values()} <= KINDS
    assert {link_tables.LINK_KIND, link_tables.AS_KIND, link_tables.TYPE_KIND} <= KINDS


def test_every_link_attribute_of_lxml_has_a_row() -> None:
    assert defs.link_attrs <= {*link_tables.ATTRIBUTE_NAMES}
