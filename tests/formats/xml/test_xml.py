"""XML: any value is written for its place, and depth and entities have limits; the other cases are in tests/cases."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import absolve
from absolve.document.walk import Settings, walk
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Pieces
from absolve.formats.xml import link_tables
from absolve.formats.xml.codings import CData, CharacterData, pieces

OPTIONS: dict[str, Any] = {"media_type": "application/xml", "url": "http://h/"}
ATOM = 'xmlns="http://www.w3.org/2005/Atom"'


def targets(text: str) -> list[str | None]:
    return [row.target for row in absolve.links(text, **OPTIONS)]


def error(text: str) -> str:
    with pytest.raises(absolve.DocumentError) as raised:
        absolve.rewrite(text, **OPTIONS)
    return raised.value.diagnostic.code


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \ufffe\uffff", min_codepoint=32), min_size=1),
    st.sampled_from(["<link href='a'/>", '<link href="a"/>', "<icon>a</icon>", "<icon><![CDATA[a]]></icon>"]),
)
def test_encoded_xml_values_decode_to_the_target(new: str, place: str) -> None:
    written = absolve.rewrite(f"<feed {ATOM}>{place}</feed>", media_type="application/xml", policy=lambda _: new)
    references = [row.reference for row in absolve.links(written, media_type="application/xml")]
    assert references == [new.replace("]]>", "]]%3E") if "CDATA" in place else new]
    assert not walk(absolve.Document(written, **OPTIONS), Settings()).diagnostics


@pytest.mark.parametrize("depth", [3, 4_998])
def test_namespaces_may_be_declared_at_any_depth(depth: int) -> None:
    names = "".join(f"<a xmlns:p{n}='{('urn:x', link_tables.XLINK)[n % 2]}'>" for n in range(depth))
    assert targets(f"<feed {ATOM}>{names}<link href='b'/>{'</a>' * depth}<link href='c'/></feed>") == ["http://h/b", "http://h/c"]


def test_the_depth_of_nested_entities_and_bases_is_limited() -> None:
    def nested(depth: int) -> str:
        return "<x xml:base='b/'>" * depth + f"<link {ATOM} href='a'/>" + "</x>" * depth

    entities = "".join(f"<!ENTITY e{n} '&#38;e{n - 1};'>" for n in range(1, 9_999))
    assert targets(f"<!DOCTYPE feed [<!ENTITY e0 'alternate'>{entities}]><feed {ATOM}><link rel='&e9998;' href='a'/></feed>") == ["http://h/a"]
    assert targets(nested(100))[-1] == f"http://h/{'b/' * 100}a"
    assert error(nested(101)) == "too-deep"


def laughs(inner: str) -> str:
    entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 20))
    return f"<!DOCTYPE feed [<!ENTITY e0 'ha'>{entities}]><feed {ATOM}><title>{inner}</title><link href='a'/></feed>"


def test_billion_laughs_in_content_are_not_expanded() -> None:
    assert targets(laughs("&e19;")) == ["http://h/a"]


@pytest.mark.slow
def test_billion_laughs_in_an_attribute_and_quadratic_blow_up_are_errors() -> None:
    assert error(laughs("<x y='&e19;'/>")) == "entities-too-long"
    entity = f"<!DOCTYPE rss [<!ENTITY a '{'x' * 100_000}'>]>"
    assert targets(f"{entity}<rss><description>{'&a;' * 10}</description>{'&a;' * 30_000}<link>a</link></rss>")
    assert error(f"{entity}<rss x='{'&a;' * 30_000}'/>") == "entities-too-long"


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<link>http://secret.example/</link>")
    declared = f"<!DOCTYPE rss SYSTEM '{secret}' [<!ENTITY a SYSTEM '{secret}'><!ENTITY % b SYSTEM '{secret}'> %b;]>"
    assert targets(f"{declared}<rss>&a;<link>c</link></rss>") == ["http://h/c"]


@pytest.mark.filterwarnings("ignore::absolve.DiagnosticWarning")
@pytest.mark.parametrize(("before", "target"), [
    (b"<a %X xml:base='http://h/\x92/'>&<b l:href='c'/></a>", "http://h/\ufffd/c"),
    (b"<!DOCTYPE a [<!ENTITY e 't\x92'>]><a %X>&<b l:href='http://h/&e;'/></a>", "http://h/t\ufffd"),
    (b"<!DOCTYPE a [<!ENTITY e 't'>]><a %X xml:base='http://h/'>&<b l:href='&e;'/></a>", "http://h/t"),
    (b"<a %X xml:base='http://h/'>&<b l:href='&#xD800;&#11;&#1114112;'/></a>", "http://h/&#xD800;&#11;&#1114112;"),
    (b"<?xml-stylesheet h\x92='' href='http://h/'?><a %X/>", "http://h/"),
    (b"<a %X xml:base='http://h/\x0bx/'>&<b l:href='\x0bc'/></a>", "http://h/x/c"),
    (b"<a %X xml:base='http://h/\xef\xbf\xbe/'>&<b l:href='c'/></a>", "http://h/\ufffe/c"),
], ids=["base", "entity", "known entity", "no character", "instruction", "control", "U+FFFE"])
def test_bytes_and_references_that_are_no_characters_are_the_same_for_base_link_and_verify(before: bytes, target: str) -> None:
    before = before.replace(b"%X", b"xmlns:l='http://www.w3.org/1999/xlink'")
    options: dict[str, Any] = {"media_type": "application/xml"}
    assert list(absolve.links(before, **options))[-1].target == target
    assert absolve.verify(before, absolve.rewrite(before, **options), **options) == []


# --- text in pieces: CDATA sections, comments and processing instructions ---

CLOSED = re.compile(rb"<!\[CDATA\[(.*?)\]\]>|<!--.*?-->|<\?.*?\?>", re.DOTALL)
PIECES = st.sampled_from([b"<![CDATA[", b"]]>", b"]", b">", b"<!--", b"-->", b"-", b"<?", b"?>", b"?", b"<", b"!", b"a", b"\n"])


def decoded(raw: bytes) -> bytes:
    return Pieces(partial(pieces, text=CharacterData(UTF_8), section=CData(UTF_8))).decode(raw)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=14).map(b"".join))
@example(b"<!--<?--><?>?>")
@example(b"a<!---->b<???>c<![CDATA[]]]>d")
def test_markup_ends_at_the_first_mark_behind_its_start(raw: bytes) -> None:
    assert decoded(raw) == CLOSED.sub(lambda found: found[1] or b"", raw)
