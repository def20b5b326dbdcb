"""XML whose elements are nested too deep: it is left alone, and that is said where it is."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest

import absolve
from absolve.errors import Diagnostic, DocumentError
from absolve.formats.xml_depth import DEEPEST, too_deep
from absolve.model import Document
from absolve.settings import Settings
from absolve.walk import walk

LINK = b"<y xmlns:l='http://www.w3.org/1999/xlink' l:href='a'/>"
URL = "http://h/"


def nested(levels: int, opened: bytes = b"<x>", closed: bytes = b"</x>") -> bytes:
    """So many elements in each other, and a link in the innermost one, which is one more."""
    return opened * (levels - 1) + LINK + closed * (levels - 1)


def links(data: bytes) -> list[str | None]:
    return [row.target for row in absolve.links(data, media_type="application/xml", url=URL)]


def error(data: bytes) -> Diagnostic:
    with pytest.raises(DocumentError) as raised:
        absolve.rewrite(data, media_type="application/xml", url=URL)
    return raised.value.diagnostic


# --- what is not too deep -------------------------------------------------------------------------------------------

MARKUP = {
    "text": b"",
    "a comment": b"<!-- <x> <x -->",
    "a CDATA section": b"<![CDATA[<x> <x]]>",
    "an instruction": b"<?p <x> '?>",
    "an empty element": b"<z/>",
    "an empty element with a value": b"<z a='b' c = \"d/\" />",
    "a value with what ends no tag": b"<z a='/>' b=\"'>\"></z\n>",
    "an end in a value": b"<z a='&lt;/x>'></z>",
}


@pytest.mark.parametrize("markup", MARKUP.values(), ids=MARKUP)
@pytest.mark.parametrize("before", [b"", b"<?p <x>?><!-- <!DOCTYPE -->\n", b"<!DOCTYPE x [<!ENTITY e '<!--'> <!-- <x> -->] >"])
def test_as_many_elements_as_are_read_may_be_open(markup: bytes, before: bytes) -> None:
    opened = b"<x>" + markup
    assert links(before + nested(DEEPEST, opened)) == ["http://h/a"]
    diagnostic = error(before + nested(DEEPEST + 1, opened))
    assert diagnostic.code == "elements-too-deep"


def test_elements_beside_each_other_are_not_deep() -> None:
    data = b"<r>" + b"<x><x/></x>" * 2 * DEEPEST + LINK + b"</r>"
    assert links(data) == ["http://h/a"]


def test_elements_that_an_entity_stands_for_are_none_of_the_document() -> None:
    inside = b"<x>" * 2 * DEEPEST + b"</x>" * 2 * DEEPEST
    assert links(b"<!DOCTYPE y [<!ENTITY e '" + inside + b"'>]>" + LINK) == ["http://h/a"]


def test_html_may_be_as_deep_as_it_likes() -> None:
    page = b"<div>" * 2 * DEEPEST + b"<a href=x>"
    assert absolve.rewrite(page, url=URL) == b"<div>" * 2 * DEEPEST + b"<a href=http://h/x>"


# --- what is ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [b"", "\ufeff<!-- é -->\n".encode(), b"<!DOCTYPE x [<!ENTITY e '&#60;x>'>\n]>"])
@pytest.mark.parametrize("opened", [b"<x>", b'<x d="' + b"a" * 200 + b'">'])
def test_the_first_element_that_is_too_deep_is_told_with_its_place(before: bytes, opened: bytes) -> None:
    data = before + nested(DEEPEST + 1, opened + b"\n")
    said = error(data)
    line = before.count(b"\n") + DEEPEST + 1
    assert (said.code, said.line, said.column) == ("elements-too-deep", line, 1)
    assert said.text == f"elements nested more than {DEEPEST} deep (--recover reads it as HTML)"


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1252"])
def test_the_place_is_one_of_the_document_in_its_own_charset(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?><!-- é -->" + nested(DEEPEST + 1).decode()
    said = error(text.encode(encoding))
    assert (said.code, said.line, said.column) == ("elements-too-deep", 1, text.index("<y") + 1)


def test_elements_that_never_end_are_too_deep_first() -> None:
    assert error(b"<x>" * 100_000).code == "elements-too-deep"


@pytest.mark.parametrize("fault", [b"</y>", b"<x a=b>", b"&", b"&nbsp;", b"]]>", b"<x a='' a=''>", b"<x>\0", b"<p:x>"])
def test_a_document_that_is_not_well_formed_before_is_that(fault: bytes) -> None:
    said = error(b"<x>\n" + fault + b"<x>" * 2 * DEEPEST)
    assert (said.code, said.line) == ("not-well-formed", 2)


def test_what_is_wrong_behind_it_nobody_looks_for() -> None:
    assert error(b"<x>" * (DEEPEST + 1) + b"</y>").code == "elements-too-deep"


def test_recover_reads_it_as_html() -> None:
    data = b"<html>" + b"<p>" * DEEPEST + b"<a href=x>"
    document = Document(data, media_type="application/xml", url=URL)
    settings = Settings(recover=True)
    assert [said.code for said in walk(document, settings).diagnostics] == ["elements-too-deep"]
    assert absolve.rewrite(document, recover=True).endswith(b"<a href=http://h/x>")


def test_in_a_document_around_it_only_the_part_stays() -> None:
    data = (
        b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: application/xml\n\n"
        + nested(DEEPEST + 1)
        + b"\n--B\nContent-Type: text/html\n\n<a href=x>\n--B--\n"
    )
    entity = walk(Document(data, media_type="message/rfc822", url=URL), Settings())
    assert [(said.code, said.failed) for said in entity.diagnostics] == [("elements-too-deep", True)]
    new = absolve.rewrite(data, media_type="message/rfc822", url=URL)
    assert new == data.replace(b"<a href=x>", b"<a href=http://h/x>")
    assert absolve.verify(data, new, media_type="message/rfc822", url=URL) == []


# --- the scan by itself ---------------------------------------------------------------------------------------------

CUT = nested(DEEPEST + 1, b"<x a='/>' b=\">\"><!-- - --><![CDATA[ ]]><?p ?>")


@pytest.mark.parametrize("tail", range(1, 60))
def test_a_document_that_ends_anywhere_is_read_to_its_end(tail: int) -> None:
    whole = CUT[: too_deep(CUT, 0) + 1]
    assert too_deep(whole, 0) == -1  # nothing is known of what has not even a name
    assert too_deep(whole[:-tail], 0) == -1


@hypothesis.given(st.lists(st.sampled_from([b"<", b"/", b">", b"!", b"?", b"-", b"[", b"]", b"'", b'"', b"x", b" "]), max_size=30))
def test_any_bytes_are_read_to_their_end(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    for start in range(len(data) + 1):
        assert too_deep(data, start) == -1
