"""XML beyond a limit of the reader: it stays unchanged, with a diagnostic at the position of the excess."""

from contextlib import suppress

import hypothesis
import hypothesis.strategies as st
import pytest

import absolve
from absolve.core.errors import Diagnostic, DocumentError, WalkError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats.xml.codings import DEEPEST, MOST_ATTRIBUTES, MOST_NAMES, check_elements
from absolve.formats.xml.prolog import MOST_DECLARED, MOST_DEFAULTS

LINK = b"<y xmlns:l='http://www.w3.org/1999/xlink' l:href='a'/>"
URL = "http://h/"


def nested(levels: int, opened: bytes = b"<x>", closed: bytes = b"</x>") -> bytes:
    """Return this many nested elements, and a link in one more element inside them."""
    return opened * (levels - 1) + LINK + closed * (levels - 1)


def links(data: bytes) -> list[str | None]:
    return [row.target for row in absolve.links(data, media_type="application/xml", url=URL)]


def error(data: bytes) -> Diagnostic:
    with pytest.raises(DocumentError) as raised:
        absolve.rewrite(data, media_type="application/xml", url=URL)
    return raised.value.diagnostic


# --- within the limit of depth ----------------------------------------------------------------------------------------

MARKUP = {
    "text": b"", "a comment": b"<!-- <x> <x -->", "a CDATA section": b"<![CDATA[<x> <x]]>", "an instruction": b"<?p <x> '?>",
    "an empty element": b"<z/>", "an empty element with a value": b"<z a='b' c = \"d/\" />",
    "a value with what ends no tag": b"<z a='/>' b=\"'>\"></z\n>", "an end in a value": b"<z a='&lt;/x>'></z>",
}


BEFORE = [b"", b"<?p <x>?><!-- <!DOCTYPE -->\n", b"<!DOCTYPE x [<!ENTITY e '<!--'> <!-- <x> -->] >"]


@pytest.mark.parametrize(("markup", "before"), [*((markup, BEFORE[0]) for markup in MARKUP.values()), (b"", BEFORE[1]), (b"", BEFORE[2])])
def test_the_allowed_number_of_elements_may_be_open(markup: bytes, before: bytes) -> None:
    opened = b"<x>" + markup
    assert links(before + nested(DEEPEST, opened)) == ["http://h/a"]
    diagnostic = error(before + nested(DEEPEST + 1, opened))
    assert diagnostic.code == "elements-too-deep"


def test_html_has_no_limit_of_element_depth() -> None:
    page = b"<div>" * 2 * DEEPEST + b"<a href=x>"
    assert absolve.rewrite(page, url=URL) == b"<div>" * 2 * DEEPEST + b"<a href=http://h/x>"


# --- beyond the limit of depth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [b"", "\ufeff<!-- é -->\n".encode(), b"<!DOCTYPE x [<!ENTITY e '&#60;x>'>\n]>"])
@pytest.mark.parametrize("opened", [b"<x>", b'<x d="' + b"a" * 200 + b'">'])
def test_the_first_element_beyond_the_depth_is_reported_with_its_position(before: bytes, opened: bytes) -> None:
    data = before + nested(DEEPEST + 1, opened + b"\n")
    diagnostic = error(data)
    line = before.count(b"\n") + DEEPEST + 1
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("elements-too-deep", line, 1)
    assert diagnostic.text == f"elements nested more than {DEEPEST} deep (--media-type text/html reads it as HTML)"


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1252"])
def test_the_position_of_a_deep_element_is_in_the_charset_of_the_document(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><!-- é -->" + nested(DEEPEST + 1).decode()
    diagnostic = error(text.encode(encoding))
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("elements-too-deep", 1, text.index("<y") + 1)


def test_a_part_beyond_the_limits_of_xml_leaves_the_rest_rewritten() -> None:
    data = (
        b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: application/xml\n\n"
        + nested(DEEPEST + 1)
        + b"\n--B\nContent-Type: text/html\n\n<a href=x>\n--B--\n"
    )
    entity = walk(Document(data, media_type="message/rfc822", url=URL), Settings())
    assert [(diagnostic.code, diagnostic.failed) for diagnostic in entity.diagnostics] == [("elements-too-deep", True)]
    new = absolve.rewrite(data, media_type="message/rfc822", url=URL)
    assert new == data.replace(b"<a href=x>", b"<a href=http://h/x>")
    assert absolve.verify(data, new, media_type="message/rfc822", url=URL) == []


# --- attributes -------------------------------------------------------------------------------------------------------

XLINK = b" xmlns:l='http://www.w3.org/1999/xlink'"


def attributes(count: int, unit: bytes = b" a%d='b'") -> bytes:
    """Return an element with this many attributes, one of which is a link."""
    return b"<x" + b"".join(unit % number for number in range(count - 2)) + XLINK + b" l:href='a'/>"


UNITS = [b" a%d='b'", b" xmlns:a%d='b'", b"\n a%d\t=\r\n\"='=\"", b" a%d='/>'", b" a%d=''"]


@pytest.mark.parametrize(("unit", "before"), [*((unit, b"") for unit in UNITS), (UNITS[0], b"<!DOCTYPE r [<!ATTLIST x a CDATA 'b'>] >")])
def test_an_element_may_have_the_allowed_number_of_attributes(unit: bytes, before: bytes) -> None:
    assert links(before + b"<r>" + attributes(MOST_ATTRIBUTES, unit) + b"</r>") == ["http://h/a"]
    diagnostic = error(before + b"<r>\n" + attributes(MOST_ATTRIBUTES + 1, unit) + b"</r>")
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("too-many-attributes", 2, 1)
    assert diagnostic.text == f"an element with more than {MOST_ATTRIBUTES} attributes (--media-type text/html reads it as HTML)"


def test_an_unterminated_tag_is_read_to_the_end() -> None:
    for tail in (b"", b" ", b" a", b" a=", b" a= ", b" a='", b" a='b"):
        check_elements(b"<x" + b" a=''" * MOST_ATTRIBUTES + tail, 0)
        assert error(b"<x" + b" a=''" * (MOST_ATTRIBUTES + 1) + tail).code == "too-many-attributes"


NAMED = [b"<n%d></n%d>", b'<n a%d = "="\n/>', b"<n%d a%d=''/>"]


def named(count: int, unit: bytes) -> bytes:
    """Return an element with a link, and elements with this many further names, all different."""
    each = 2 if unit.startswith(b"<n%d a") else 1
    return b"<x" + XLINK + b" l:href='a'>" + b"".join(unit.replace(b"%d", b"%d" % number) for number in range(count // each)) + b"</x>"


@pytest.mark.parametrize("unit", NAMED)
def test_the_allowed_number_of_different_names_is_read(unit: bytes) -> None:
    data = named(MOST_NAMES - 4, unit)
    assert links(data) == ["http://h/a"]
    again = data.removesuffix(b"</x>") + data + b"</x>"
    assert links(again) == ["http://h/a"] * 2
    diagnostic = error(named(MOST_NAMES + 4_000, unit))  # some names have equal hashes
    assert diagnostic.code == "too-many-names"
    assert diagnostic.text == f"more than {MOST_NAMES} names of elements and attributes that differ (--media-type text/html reads it as HTML)"


# --- declarations -----------------------------------------------------------------------------------------------------


def declared(*declarations: bytes, root: bytes = b"<x l:href='a'/>") -> bytes:
    return b"<!DOCTYPE x [\n<!ATTLIST x" + XLINK.replace(b"=", b" CDATA ") + b">\n" + b"\n".join(declarations) + b"]>" + root


def numbered(count: int, unit: bytes) -> list[bytes]:
    return [unit % number for number in range(count)]


@pytest.mark.parametrize("unit", [b"<!ATTLIST x a%d CDATA 'v'>", b"<!ATTLIST x xmlns:a%d CDATA 'v'>"])
def test_an_element_may_have_the_allowed_number_of_default_attributes(unit: bytes) -> None:
    more = b"<!ATTLIST y b CDATA 'v' c CDATA #IMPLIED> <!ATTLIST x b CDATA #REQUIRED>"
    assert links(declared(*numbered(MOST_DEFAULTS - 1, unit), more)) == ["http://h/a"]
    diagnostic = error(declared(more, *numbered(MOST_DEFAULTS, unit)))
    assert (diagnostic.code, diagnostic.line) == ("too-many-declarations", MOST_DEFAULTS + 3)
    assert diagnostic.text == f"an element with more than {MOST_DEFAULTS} attributes that have a default (--media-type text/html reads it as HTML)"


UNITS_DECLARED = {
    b"<!ENTITY e%d 'v'>": "entities", b"<!ENTITY %% e%d 'v'>": "entities", b"<!ENTITY e%d SYSTEM 'v'>": "entities",
    b"<!ATTLIST y%d a CDATA 'v'>": "attributes", b"<!ATTLIST y a%d CDATA #IMPLIED>": "attributes",
}


@pytest.mark.parametrize(("unit", "what"), UNITS_DECLARED.items())
def test_the_allowed_number_of_declarations_is_read(unit: bytes, what: str) -> None:
    root = b"<x l:href='a'>&amp;</x>" if b"%% e" in unit else b"<x l:href='a'/>"
    before = what == "attributes"  # the namespace declaration counts as one
    assert links(declared(*numbered(MOST_DECLARED - before, unit), root=root)) == ["http://h/a"]
    diagnostic = error(declared(*numbered(MOST_DECLARED - before + 1, unit), root=root))
    assert (diagnostic.code, diagnostic.line) == ("too-many-declarations", MOST_DECLARED - before + 3)
    assert diagnostic.text == f"more than {MOST_DECLARED} {what} declared (--media-type text/html reads it as HTML)"


def test_the_first_declaration_of_a_default_namespace_is_used() -> None:
    other = b"<!ATTLIST x xmlns:l CDATA 'http://other/'>"
    assert links(declared(other)) == ["http://h/a"]
    assert links(declared().replace(b"[", b"[" + other)) == []


# --- lengths of entities ----------------------------------------------------------------------------------------------

MUCH = 1 << 20
LONG = b"<!ENTITY e '" + b"v" * 1_000 + b"'>"


@pytest.mark.parametrize(("declarations", "reference", "size"), [
    ([LONG], b"&e;", 1_000), ([LONG, b"<!ENTITY f '&e;&e;'>"], b"&f;", 2_006), ([b"<!ENTITY f '&#38;e;v'>", LONG], b"&f;", 1_004),
    ([LONG, b"<!ENTITY f '&#38;e;'>", b"<!ENTITY g '&#38;f;&#38;e;&#38;f;'>"], b"&g;", 3_015),
])
@pytest.mark.parametrize("place", [b"<y a='%s'/>", b"<y l:href='%s' a='&e;'/>", b"<y xmlns:a='%s'/>", b"<y xml:base='%s'/>"])
def test_the_length_of_entities_in_one_tag_is_limited(declarations: list[bytes], reference: bytes, size: int, place: bytes) -> None:
    def document(count: int, after: bytes = b"") -> bytes:
        return declared(*declarations, root=b"<x l:href='a'>\n" + place % (reference * count) + after + b"</x>")

    most = (MUCH - 1_000 * (b"&e;" in place)) // size
    walk(Document(document(most, place % reference * 20), media_type="application/xml", url=URL), Settings())
    diagnostic = error(document(most + 1))
    assert (diagnostic.code, diagnostic.text) == ("entities-too-long", f"entities that expand to more than {MUCH} bytes here (--media-type text/html reads it as HTML)")
    assert diagnostic.line == len(declarations) + 3


RSS = b"<!DOCTYPE rss [" + LONG + b"]><rss><channel><%b>%b</%b><link>a</link></channel></rss>"


@pytest.mark.parametrize("name", [b"link", b"description"])
def test_the_length_of_entities_in_one_text_is_limited(name: bytes) -> None:
    most = MUCH // 1_000
    assert links(RSS % (name, b"&e;" * most, name))[-1] == "http://h/a"
    assert error(RSS % (name, b"&e;" * (most + 1), name)).code == "entities-too-long"


def test_in_a_large_document_entities_may_be_as_long_as_the_document() -> None:
    data = declared(LONG, root=b"<x l:href='a'><y a='%s'/>" + b" " * 2 * MUCH + b"</x>")
    assert links(data % (b"&e;" * 2_000)) == ["http://h/a"]
    assert error(data % (b"&e;" * 3_000)).code == "entities-too-long"


def test_entities_of_entities_are_measured_in_linear_time() -> None:
    chain = [b"<!ENTITY e%d '&#38;e%d;&#38;x;'>" % (number + 1, number) for number in range(9_000)]
    data = declared(b"<!ENTITY e0 ''><!ENTITY x '" + b"&#38;lt;" * 100 + b"'>", *chain, root=b"<x l:href='a'><y a='&e9000;'/></x>")
    assert error(data).code == "entities-too-long"


# --- what counts, and which error comes first -------------------------------------------------------------------------

NAMES = b" a=' a%d=' b=\"&lt;n%d/>\">a%d=<!--<a%d b%d=''>-->"
NOT_COUNTED = {  # with the number of links
    "siblings": (b"<r>" + b"<x><x/></x>" * 2 * DEEPEST + LINK + b"</r>", 1),
    "elements in an entity": (b"<!DOCTYPE y [<!ENTITY e '" + b"<x>" * 2 * DEEPEST + b"</x>" * 2 * DEEPEST + b"'>]>" + LINK, 1),
    "attributes of several elements": (b"<r>" + attributes(MOST_ATTRIBUTES // 2) * 3 + b"</r>", 3),
    "equals signs in a value": (b"<x a='" + b"=" * 10 * MOST_ATTRIBUTES + b"'" + attributes(2)[2:], 1),
    "names in values and in text": (
        b"<r>" + LINK + b"".join(b"<n" + NAMES % ((number,) * 5) + b"</n>" for number in range(MOST_NAMES + 9)) + b"</r>", 1
    ),
    "a default attribute for a namespace": (
        b"<!DOCTYPE r [<!ATTLIST y xmlns:l CDATA 'http://other/'>]><r" + XLINK + b"><y l:href='b'/><x l:href='a'/></r>", 1
    ),
    "entities outside of references": (RSS % (b"title", b"&e;" * 10_000, b"title"), 1),
    "entities in a circle": (declared(b"<!ENTITY a '&#38;b;'>", b"<!ENTITY b '&#38;a;'>", root=b"<x l:href='a'>&a;&b;</x>"), 1),
}


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_what_has_no_limit_is_read(name: str) -> None:
    data, count = NOT_COUNTED[name]
    assert links(data) == ["http://h/a"] * count


FIRST_ERRORS = {
    "elements-too-deep": [b"<x>" * 100_000, b"<x>" * (DEEPEST + 1) + b"</y>"],
    "not-well-formed": [
        *(b"<x>" + fault + b"<x>" * 2 * DEEPEST for fault in (b"</y>", b"<x a=b>", b"&</y>", b"<x a='' a=''>", b"<x>\0<x a>")),
        *(b"<r>" + fault + attributes(MOST_ATTRIBUTES + 1) for fault in (b"<x a=b/>", b"<x a='' a=''/>", b"&nbsp;</p:x>")),
        b"<x" + b" a=b" * 2 * MOST_ATTRIBUTES + b"/>",
    ],
}


@pytest.mark.parametrize("code", FIRST_ERRORS)
def test_the_first_error_is_reported(code: str) -> None:
    for data in FIRST_ERRORS[code]:
        assert error(data).code == code


_PIECES = [b"<", b"/", b">", b"!", b"?", b"-", b"[", b"]", b"'", b'"', b"x", b" ", b"="]
_LARGE = {
    "elements": b"<x>" * (DEEPEST - 10), "attributes": b"<x" + b" a=''" * MOST_ATTRIBUTES,
    "names": b"<x>" * (DEEPEST - 10) + b" " * 6 * MOST_NAMES,
}


@pytest.mark.parametrize("kind", _LARGE)
@hypothesis.given(pieces=st.lists(st.sampled_from(_PIECES), max_size=40))
def test_the_depth_scan_reads_any_bytes_to_their_end(kind: str, pieces: list[bytes]) -> None:
    before = _LARGE[kind]
    data = before + b"".join(pieces)
    with suppress(WalkError):
        check_elements(data, 0)
    with suppress(WalkError):
        check_elements(data + b">", len(before))
