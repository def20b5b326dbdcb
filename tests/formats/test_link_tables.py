"""The link tables: every row has values that the walkers know, and the important rows exist."""

from itertools import chain

from lxml.html import defs

from absolve.core.model import KINDS, LinkSite
from absolve.formats.grammars import GRAMMARS
from absolve.formats.html import link_tables as html
from absolve.formats.html import rules
from absolve.formats.json import json_ld
from absolve.formats.xml import link_tables as xml

METAS = (table.values() for name, table in vars(html).items() if name in {"META", "META_ITEMPROPS", "HTTP_EQUIV"})
ROWS: list[LinkSite] = [*html.GLOBAL, *html.HTML, *html.SVG, *html.MATHML, *html.LAZY, *chain(*METAS)]
for found in chain(*xml.VOCABULARIES.values(), *xml.ROOTS.values(), xml.ATTRIBUTES.values(), xml.INSTRUCTIONS.values()):
    ROWS += found.places.values() if isinstance(found, xml.Choice) else [found]


def test_rows_use_the_values_that_link_site_defines() -> None:
    syntaxes = {*GRAMMARS, "css", "srcdoc", "html", "javascript", *rules.JSON_SCRIPTS}
    defined = {"kind": KINDS, "syntax": syntaxes, "against": {"base", "own", "codebase"}, "empty": {"base", "own", "nothing"}, "stays": {"", "fragment", "always"}}
    assert [row for row in ROWS for name, values in defined.items() if getattr(row, name) not in values] == []
    assert all(row.element for row in ROWS)
    assert all((row.element + row.attribute).islower() or row.element == "*" for row in (*html.GLOBAL, *html.HTML, *html.SVG, *html.LAZY))


def test_link_types_and_json_ld_properties_map_to_known_kinds() -> None:
    assert {*html.AS_KINDS.values(), *html.TYPE_KINDS.values(), html.LINK_KIND, html.AS_KIND, html.TYPE_KIND} <= KINDS
    assert {*html.LINK_REL_KINDS.values()} <= KINDS | {"as", "type"}
    properties = [*json_ld.URLS, *json_ld.THINGS, *json_ld.TEXTS]
    assert len(properties) == len(set(properties))
    assert {*json_ld.URLS.values(), *json_ld.THINGS.values()} <= KINDS


def test_every_link_attribute_of_lxml_has_a_row() -> None:
    assert defs.link_attrs <= {*html.ATTRIBUTE_NAMES}
