"""The link tables: every row has values that the walker knows, and the important rows exist."""

import itertools

import pytest
from lxml.html import defs

from absolve.core.model import KINDS, LinkSite
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import link_tables
from absolve.formats.html.link_tables import AS_KINDS, GLOBAL, HTML, LAZY, LINK_REL_KINDS, MATHML, META, SVG, TYPE_KINDS

TABLES = {"GLOBAL": GLOBAL, "HTML": HTML, "SVG": SVG, "MATHML": MATHML, "LAZY": LAZY}
METAS = {name: table for name, table in vars(link_tables).items() if name in {"META", "META_ITEMPROPS", "HTTP_EQUIV"}}
ALL = [*itertools.chain(*TABLES.values()), *itertools.chain(*(table.values() for table in METAS.values()))]


TEXTS = """
a-name a-title a-id a-rel a-hreflang a-target a-download a-urn p-href p-data div-href span-src param-value option-value input-value
input-list label-for script-for html-xmlns link-blocking link-integrity img-data-src image-src
""".split()


@pytest.mark.parametrize("name", TEXTS)
def test_attributes_without_urls_have_no_row(name: str) -> None:
    element, _, attribute = name.partition("-")
    assert not [site for site in HTML if site.attribute == attribute and site.element in {element, "*"}]


def test_meta_names_with_text_have_no_row() -> None:
    assert {"article:author", "og:title", "og:site_name", "description", "dc.identifier"}.isdisjoint(META)


@pytest.mark.parametrize("table", TABLES)
def test_each_element_and_attribute_has_one_row(table: str) -> None:
    names = [(site.element, site.attribute) for site in TABLES[table]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("site", ALL, ids=lambda site: f"{site.element}-{site.attribute}")
def test_rows_use_the_values_that_link_site_defines(site: LinkSite) -> None:
    assert site.kind in KINDS
    assert site.syntax in {*GRAMMARS, "css", "srcdoc"}
    assert site.against in {"base", "own", "codebase"}
    assert site.empty in {"base", "own", "nothing"}
    assert site.stays in {"", "fragment", "always"}
    assert site.element == site.element.lower()
    assert site.attribute == site.attribute.lower()


@pytest.mark.parametrize("table", METAS)
def test_meta_tables_have_lower_case_names_and_sites_in_meta_content(table: str) -> None:
    for name, site in METAS[table].items():
        assert name == name.lower()
        assert (site.element, site.attribute) == ("meta", "content")


def test_link_types_map_to_known_kinds() -> None:
    assert set(LINK_REL_KINDS.values()) <= KINDS | {"as", "type"}
    assert {*AS_KINDS.values(), *TYPE_KINDS.values()} <= KINDS
    assert {link_tables.LINK_KIND, link_tables.AS_KIND, link_tables.TYPE_KIND} <= KINDS


def test_every_link_attribute_of_lxml_has_a_row() -> None:
    assert defs.link_attrs <= {*link_tables.ATTRIBUTE_NAMES}


def test_a_reference_into_its_own_document_stays_in_svg_but_not_in_an_svg_a() -> None:
    rows = {(site.element, site.attribute): site.stays for site in SVG}
    assert rows["use", "href"] == rows["use", "xlink:href"] == rows["*", "xlink:href"] == "fragment"
    assert not rows["a", "href"] + rows["a", "xlink:href"]
