"""Hostile XML: input that expat, the tag scan and the codings of text must process in linear time."""

from collections.abc import Callable
from typing import Final

from tests.shapes.makers import Shape, nested, numbered, repeated

_ATOM: Final = b"<feed xmlns='http://www.w3.org/2005/Atom'>"
_XLINK: Final = b"<x xmlns:l='http://www.w3.org/1999/xlink'>"


def _deep(size: int) -> bytes:
    """Return elements nested to the allowed depth, repeatedly."""
    levels = b"<x>" * 4_998 + b"<y l:href='a'/>" + b"</x>" * 4_998
    return _XLINK + levels * max(size // len(levels), 1) + b"</x>"


def _with_attributes(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with as many attributes as allowed."""
    element = b"<y l:href='a'" + b"".join(unit % number for number in range(9_999)) + b"/>"
    return lambda size: _XLINK + element * max(size // len(element), 1) + b"</x>"


def _with_names(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with nearly as many different names as allowed, repeatedly."""
    elements = b"".join(unit % number for number in range(40_000))
    return lambda size: _XLINK + elements * max(size // len(elements), 1) + b"</x>"


def _with_defaults(unit: bytes) -> Callable[[int], bytes]:
    """Return elements with as many default attributes as allowed."""
    declared = b"".join(unit % number for number in range(64))
    return repeated(b"<x/>", b"<!DOCTYPE r [<!ATTLIST x" + declared + b">]><r>", b"</r>")


def _xml(make: Callable[[int], bytes]) -> Shape:
    return Shape(make, "application/xml")


SHAPES: Final[dict[str, Shape]] = {
    f"XML, {name}": _xml(make)
    for name, make in {
        "nested elements": _deep,
        "elements nested too deep": nested(b"<x>", b"</x>", _XLINK + b"<y l:href='a'/></x>"),
        "links": repeated(b"<link href='a'/>", _ATOM, b"</feed>"),
        "links of references": repeated(b"<y l:href='&#32;a&amp;b'/>", _XLINK, b"</x>"),
        "one link of references": repeated(b"&amp;", _ATOM + b"<link href='a", b"'/></feed>"),
        "attributes": _with_attributes(b" a%d='b'"),
        "attributes in many elements": _with_names(b"<y a%d='b'/>"),
        "too many attributes": numbered(_XLINK + b"<y l:href='a'", b" a%d='b'", b"/></x>"),
        "default attributes": _with_defaults(b" a%d CDATA 'b'"),
        "namespaces": _with_attributes(b" xmlns:a%d='b'"),
        "namespaces in many elements": _with_names(b"<y xmlns:a%d='b'/>"),
        "too many namespaces": numbered(b"<x", b" xmlns:a%d='b'", b"/>"),
        "default namespaces": _with_defaults(b" xmlns:a%d CDATA 'b'"),
        "names": _with_names(b"<n%d l:href='a'/>"),
        "too many names": numbered(_XLINK, b"<n%d l:href='a'/>", b"</x>"),
        "too many names of attributes": numbered(_XLINK, b"<y a%d='b'/>", b"</x>"),
        "namespaces that differ": numbered(_XLINK, b"<y xmlns='%d'/>", b"</x>"),
        "xml:base again and again": repeated(b"<entry xml:base='b/'><link href='a'/></entry>", _ATOM, b"</feed>"),
        "CDATA sections and text": repeated(b"<![CDATA[<a href=x>]]>&lt;a href=y>", b"<rss><description>", b"</description></rss>"),
        "empty CDATA sections": repeated(b"<![CDATA[]]>", b"<rss><link>a", b"</link></rss>"),
        "brackets in CDATA": repeated(b"]", b"<rss><link><![CDATA[a", b"]]></link></rss>"),
        "escaped HTML": repeated(b"&lt;a href=x&gt;&amp;", b"<rss><description>", b"</description></rss>"),
        "descriptions": repeated(b"<description>&lt;a href=x></description>", b"<rss>", b"</rss>"),
        "comments": repeated(b"<!--saved-->", b"<x>", b"</x>"),
        "instructions": repeated(b"<?xml-stylesheet href='a'?>", b"", b"<x/>"),
        "pseudo-attributes": repeated(b" href='a'", b"<?xml-stylesheet", b"?><x/>"),
        "too many entities": numbered(b"<!DOCTYPE x [", b"<!ENTITY e%d 'v'>", b"]><x/>"),
        "too many declared attributes": numbered(b"<!DOCTYPE x [", b"<!ATTLIST e%d a CDATA 'v'>", b"]><x/>"),
        "too many default attributes": numbered(b"<!DOCTYPE x [<!ATTLIST x", b" a%d CDATA '" + b"v" * 60 + b"'", b">]><x/>"),
        "long entities": repeated(b"<link href='&e;'/>", b"<!DOCTYPE feed [<!ENTITY e '" + b"v" * 400 + b"'>]>" + _ATOM, b"</feed>"),
        "entities too long": repeated(b"&e;", b"<!DOCTYPE rss [<!ENTITY e '" + b"v" * 60 + b"'>]><rss><link>", b"</link></rss>"),
        "entity references": repeated(b"&e;", b"<!DOCTYPE rss [<!ENTITY e 'v'>]><rss><link>", b"</link></rss>"),
    }.items()
}
