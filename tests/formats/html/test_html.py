"""The HTML walker: it finds every row of the link tables and nothing else, depending on other attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fuzz_html
import pytest

import absolve
from absolve.core.model import IGNORED_BASE, BaseClaim, Finding, Layer, Link, LinkSite, Part
from absolve.document.walk import Settings
from absolve.encodings.charsets import UTF_8, by_label
from absolve.formats.html import link_tables, walker
from absolve.formats.html.walker import walk

if TYPE_CHECKING:
    from absolve.core.model import Event


def events(page: str, **settings: Any) -> list[Event]:
    return list(walk(page.encode(), UTF_8, Settings(**settings)))


def found(page: str, **settings: Any) -> list[tuple[str, str, str]]:
    """Return the element, attribute and reference of every link."""
    links = [event for event in events(page, **settings) if type(event) is Link]
    read = [link.coding.decode(page.encode()[link.start : link.end]).decode() for link in links]
    return [(link.place.element, link.place.attribute, text) for link, text in zip(links, read, strict=True)]


def parts(page: str, **settings: Any) -> list[tuple[str, str, str]]:
    """Return the media type, the path step, and the content of every inner document."""
    inner = [event for event in events(page, **settings) if type(event) is Part]
    return [(part.media_type, part.name, part.coding.decode(page.encode()[part.start : part.end]).decode()) for part in inner]


NO_LINKS = [
    "", "href=x", "<a>", "<a name=x title=x id=x>", "</a href=x>", "<a href=x", "<a data-href=x xhref=x href_=x xlink:href=x>",
    "<p href=x src=x data=x action=x>", "<img href=x alt=x>", "<a title='<img src=x>'>", "<!-- <a href=x> -->",
    "<!doctype html SYSTEM 'x'>", "<?xml-stylesheet href='x'?>", "<![CDATA[<a href=x>", "<title><a href=x></title>",
    "<textarea><a href=x></textarea>", "<script><a href=x></script>", "<style><a href=x></style>", "<xmp><a href=x></xmp>",
    "<iframe><a href=x></iframe>", "<noembed><a href=x></noembed>", "<noframes><a href=x></noframes>", "<plaintext><a href=x>",
    "<svg><![CDATA[<a href=x>]]></svg>", "<svg><p-x href=x /><rect href=x /><image src=x /></svg>",
    "<math><a href=x /><mi src=x /></math>", "<td background=x>", "<select><a><table></select><script>x</script>", "<meta content=x>",
    "<meta name=description content=x>", "<meta property=og:title content=x>", "<meta http-equiv=content-type content='text/html'>",
    "<meta http-equiv=refresh content=x>", "<meta property=og:image>", "<script type=importmap src=></script>",
    "<img data-src=x><div data-background=true>", "<!--[if IE]><a href=x><![endif]-->",
    '<script type=application/ld+json>{"url": "http://h/"}</script>',
    "<p about=[ex:a] resource=_:b><p about=foaf:me>", "<param value=x>", "<param name=flashvars value=x.mp4>", "<param name=url value=true>",
    "<meta content=x name=x name=og:image>", "<meta name=msapplication-config content=none>",
]


def test_the_html_walker_ignores_other_attributes_and_elements() -> None:
    assert [page for page in NO_LINKS if any(link[2] for link in found(page))] == []


# --- every row of the tables ------------------------------------------------------------------------------------------

VALUES = {
    "url": "x", "srcset": "x 2x", "spaces": " x ", "commas": " x , ", "refresh": "0;url=x", "tasks": "name=n;action-uri=x", "config": "x",
    "likely": "x.png", "iri": "x", "css": "a:url(x)", "srcdoc": "<a href=x>",
}
AROUND = {
    **dict.fromkeys(("td", "th", "tr", "tbody", "thead", "tfoot", "col", "colgroup", "caption"), "<table>"),
    "tr": "<table><tbody>", "td": "<table><tr>", "th": "<table><tr>", "col": "<table><colgroup>", "frame": "<frameset>",
}


def page_for(place: LinkSite, namespace: str = "") -> str:
    element = "x-y" if place.element == "*" else place.element
    return f"{AROUND.get(element, '')}{namespace}<{element} {place.attribute}='{VALUES[place.syntax]}'>"


def rows_of(table: tuple[LinkSite, ...], namespace: str = "") -> list[tuple[LinkSite, str]]:
    return [(place, page_for(place, namespace)) for place in table]


def test_every_row_of_the_link_tables_is_found() -> None:
    rows = [*rows_of(link_tables.HTML), *rows_of(link_tables.AMP), *rows_of(link_tables.SVG, "<svg>"), *rows_of(link_tables.MATHML, "<math>")]
    for place, page in [*rows, *(item for namespace in ("", "<svg>", "<math>") for item in rows_of(link_tables.GLOBAL, namespace))]:
        element = "x-y" if place.element == "*" else place.element
        if place.syntax in {"css", "srcdoc"}:
            assert [part[2] for part in parts(page)] == [VALUES[place.syntax]], page
        else:
            assert (element, place.attribute, "x") in found(page), page


def test_lazy_attributes_parameters_of_plug_ins_and_meta_elements_are_links() -> None:
    for place in link_tables.LAZY:
        assert [link[1:] for link in found(page_for(place))] == [(place.attribute, "x.png" if place.syntax == "likely" else "x")], place
    for name in link_tables.PARAMS:
        assert found(f"<object><param value=x.swf name=' {name.upper()} '>") == [("param", "value", "x.swf")]
    assert found("<object><param name=x valuetype=Ref value=y>") == [("param", "value", "y")]
    for name, place in link_tables.META.items():
        for attribute in ("name", "property"):
            assert found(f"<meta {attribute}='{name.upper()}' content='{VALUES[place.syntax]}'>") == [("meta", "content", "x")]


JUDGED = {
    "names of meta elements": [
        "<meta content=x property=og:image>", "<meta content=x PROPERTY=' OG:image '>",
        "<meta content=x property=og:title name=twitter:image>", "<meta content='0;url=x' http-equiv=Refresh name=twitter:image>",
        "<meta content=x itemprop=image>", "<meta content=x name=og:image name=x>", "<meta name='og&#58;image' content=x>",
    ],
    "wherever the parser creates an element": [
        "<noscript><a href=x></noscript>", "<head><noscript><a href=x></noscript>", "<template><a href=x></template>",
        "<template shadowrootmode=open><a href=x></template>", "<table><a href=x>", "<select><a href=x>", "<button><a href=x></button>",
        "<object><a href=x></object>", "<video><a href=x></video>", "<svg><foreignObject><a href=x>", "<svg><title><a href=x>",
        "<svg></svg><a href=x>", "<svg><p><a href=x>", "<math><mi><a href=x>", "<math><annotation-xml encoding=text/html><a href=x>",
        "<p></a><a href=x></p>", "</html><a href=x>", "<a\0 href=y><a href=x>", "<script></script><a href=x>",
        "<title></TITLE ><a href=x>", "<a/href=x>", "<a href=x/>", "<a 'href=y' href=x>", "<a =href=y href=x>",
    ],
    "values with lists": [
        "<img srcset='1 1x, 2 2x'>", "<img srcset='1&#32;1x&#44;&#32;2'>", "<img srcset=1,2>", "<a ping='1&#x9;2'>",
        "<meta http-equiv=refresh content='0&semi;url&equals;&quot;1&quot;'>", "<object archive='1 2'><applet archive='3, 4'>",
        "<a href=1 HREF=2><img srcset=3 src=4 srcset=5>", "<video poster=1 src=2>", "<video src=2 poster=1>",
    ],
    "white space around a reference, also as character references": [
        f"<a href={quote}{value}{quote}>"
        for quote in ("'", '"')
        for value in (
            "", " ", "x", "\t\n\f\r x \r\f\n\t", "\vx\v", "\u00a0x\u3000", "&#32;&Tab;x&NewLine;&#13;", "&amp;x&#9;y&amp;;", "x&#32;;",
            "x&amp;&NewLine;", "&nbsp;x", "x;", "&x", "&amp;", "x y",
        )
    ],
}


@pytest.mark.parametrize("what", JUDGED)
def test_html5lib_finds_the_same_references(what: str) -> None:
    for page in JUDGED[what]:
        fuzz_html.check(page.encode())
        assert found(page), page


def test_trail_bytes_are_not_read_as_markup() -> None:
    data = "<a href='ソ' title='表'><img srcset='ソ,ソ 2x, 表'>".encode("cp932")
    charset = by_label("shift_jis")
    links = [event for event in walk(data, charset, Settings()) if type(event) is Link]
    assert [link.coding.decode(data[link.start : link.end]).decode() for link in links] == ["ソ", "ソ,ソ", "表"]


def test_only_the_first_base_element_makes_a_claim() -> None:
    page = "<template><base href=0></template><base href=' 1 '><base href=2>"
    claims = [event for event in events(page) if type(event) is BaseClaim]
    links = [event for event in events(page) if type(event) is Link]
    assert claims == [BaseClaim(Layer.EMBEDDED, "1", "base element", page.index("<base href=' 1"))]
    assert [link.claim for link in links] == [IGNORED_BASE, claims[0], IGNORED_BASE]


@pytest.mark.parametrize(("page", "ruled"), [
    ("<object codebase=cb data=1 classid=2 archive='3 4' usemap=5>", {"data", "classid", "archive"}),
    ("<object data=1 codebase=cb>", {"data"}),
    ("<applet codebase=cb code=1 archive=2 object=3>", {"code", "archive", "object"}),
    ("<embed codebase=cb src=1 code=2>", {"code"}), ("<object codebase='' data=1>", set()), ("<object codebase=' ' data=1>", set()),
    ("<object codebase data=1>", set()), ("<iframe codebase=cb src=1>", set()),
])
def test_codebase_applies_to_some_attributes_of_its_element(page: str, ruled: set[str]) -> None:
    links = [event for event in events(page) if type(event) is Link]
    assert {link.place.attribute for link in links if link.base is not None} == ruled
    assert {link.base.reference for link in links if link.base is not None} <= {"cb"}
    stated = [link.claim for link in links if link.place.attribute == "codebase"]
    assert all(claim is None or claim.reference == "cb" for claim in stated)


# --- inner documents --------------------------------------------------------------------------------------------------

CSS, DECLARATIONS, HTML = "text/css", "text/css;declarations", "text/html"


@pytest.mark.parametrize(("page", "expected"), [
    ("<style>a{b:url(x)}</style>", [(CSS, "", "a{b:url(x)}")]),
    ("<style>@import 'x'", [(CSS, "", "@import 'x'")]),
    ("<style type=' Text/CSS '>@i</style>", [(CSS, "", "@i")]),
    ("<style type=''>@i&amp;</style>", [(CSS, "", "@i&amp;")]),
    ("<style media=print>@i</style>", [(CSS, "", "@i")]),
    ("<style><!--\n@i\n--></style>", [(CSS, "", "<!--\n@i\n-->")]),
    ("<svg><style>@i&amp;</style></svg>", [(CSS, "", "@i&")]),
    ("<svg><style><![CDATA[@i&amp;]]></style></svg>", [(CSS, "", "@i&amp;")]),
    ("<style>@media x { a { b: rgba(0, 0, 0, 1); c: calc(1px + 2px) } }</style>", []),  # may have no link
    ("<style>@\\69mport 'a'</style>", [(CSS, "", "@\\69mport 'a'")]),
    ("<style>a{b:IMAGE-SET('c' 1x)}</style>", [(CSS, "", "a{b:IMAGE-SET('c' 1x)}")]),
    ("<p style='a:url(x)'>", [(DECLARATIONS, "", "a:url(x)")]),
    ("<p style='a:URL(&quot;x&quot;)'>", [(DECLARATIONS, "", 'a:URL("x")')]),
    ("<p style='a:ur&#108;(x)'>", [(DECLARATIONS, "", "a:url(x)")]),
    ("<p style='a:url&lpar;x)'>", [(DECLARATIONS, "", "a:url(x)")]),
    ("<p style='a:&#39;b&#39;,&#34;c&#34;,&quot;(d)&quot;'>", []),  # quoted text is no url()
    ("<p style='a:u\\72l(x)'>", [(DECLARATIONS, "", "a:u\\72l(x)")]),
    ("<p style='a:src(\"x\")'>", [(DECLARATIONS, "", 'a:src("x")')]),
    ("<p style='a:image-set(\"x\" 1x)'>", [(DECLARATIONS, "", 'a:image-set("x" 1x)')]),
    ("<svg><g style='a:url(x)' fill='url(y)'/>", [(DECLARATIONS, "", "a:url(x)"), (DECLARATIONS, "", "url(y)")]),
    ("<iframe srcdoc='&lt;p>'></iframe>", [(HTML, "srcdoc", "<p>")]),
    ("<script type=importmap>{}</script>", [("application/importmap+json", "", "{}")]),
    ("<script type=' SpeculationRules '>{}</script>", [("application/speculationrules+json", "", "{}")]),
])
def test_inner_documents_have_their_type_path_and_content(page: str, expected: list[tuple[str, str, str]]) -> None:
    assert parts(page) == expected


def test_a_long_comment_of_a_saver_is_not_read_to_its_end() -> None:
    assert absolve.base(f"<!-- Page saved with SingleFile{' ' * 10000}\n url: http://h.example/ --><p>").url == ""


@pytest.mark.parametrize(("data", "code", "position"), [
    (b"<p>a\0b\0", "nul-byte", 4), (b"a\0", "nul-byte", 1), (b"<p>a<a href='x", "truncated", 4), (b"a<!-- b", "truncated", 1), (b"<p>a</p", "truncated", 4),
    (b"<div></div>", None, None),
])
def test_oddities_of_the_whole_document_are_reported(data: bytes, code: str | None, position: int | None) -> None:
    found = walk(data, UTF_8, Settings())
    findings = [(event.code, event.position) for event in found if isinstance(event, Finding)]
    assert findings == ([] if code is None else [(code, position)])
    counted = [event for data in (b"a\0", b"a\0\0") for event in walk(data, UTF_8, Settings())]
    assert [event.text for event in counted if isinstance(event, Finding)] == ["a NUL byte, which stays", "2 NUL bytes, which stay"]


LEAVES = {  # each changes state of the walker that affects later tags of the same document
    "nothing": "<p><a href=x>", "a cut off tag": "<a href=x><img src='y", "a base": "<base href=b/><a href=x>",
    "open tables": "<table><tr><td><table><caption><a href=x>",
    "templates": "<template><col><template><tr><base href=b/><a href=x>",
    "foreign content": "<svg><title><math><mi><unknown><a xlink:href=x>",
    "a form": "<form action=x><form action=y>", "a select": "<select><option><svg>", "framesets": "<frameset><frame src=x><frameset>",
    "the end of a frameset": "<frameset></frameset><a href=x><frame src=y>",
    "attributes of html and body": "<html manifest=x><html manifest=y><body background=x><body background=y>",
    "the last attributes": "<object codebase=b/ data=x classid=y><meta http-equiv=refresh content='0;url=x'>",
    "a saver's comment": "<!-- saved from url=(0019)http://example.org/ --><a href=x>",
    "a style": "<p style='background: url(x)'><style>@import 'y';</style>",
    "a head": "<head profile=x><head profile=y><a href=x>", "a head too late": "<p><head profile=x><a href=x>",
    "noscript": "<head><noscript><a href=x>",
    "noscript in noscript": "<head><noscript><head><noscript><a href=x>",
    "elements without an end": "<body><p><p><p><div><b><p><a href=x>",
    "NUL": "\0<a href=x>",
}


def reported(page: str, **settings: Any) -> list[object]:
    return [
        (repr(event), event.claim, event.base, event.tag_start, event.tag_end) if type(event) is Link else repr(event)
        for event in events(page, **settings)
    ]


@pytest.mark.parametrize("first", LEAVES)
def test_a_reused_walker_has_no_state_of_earlier_documents(first: str) -> None:
    for second in LEAVES.values():
        for ends in ("", "</svg></table></template></select></form></frameset>"):
            page = f"{ends}{second}"
            walker._spare.clear()  # the walker that is reused
            alone = reported(page)
            reported(LEAVES[first])
            assert reported(page) == alone
