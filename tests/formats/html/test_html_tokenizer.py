"""The scanner finds tags, attributes, and the ends of raw text as in HTML Standard 13.2.5."""

import fuzz_html
import pytest

from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

NOTHING = bytes(ROWS * ATTRIBUTES)


def tags(data: bytes, interest: bytes) -> list[bytes]:
    """Return the bytes of each reported start tag."""
    scanner = Tokenizer(data, interest)
    found = []
    while (kind := scanner.next()) != names.END:
        if kind == names.TAG:
            found.append(data[scanner.start : scanner.end])
    return found


DOCUMENTS = {
    "only start tags are reported": [
        b"", b"<", b"<>", b"</>", b"< a href=x>", b"<3 href=x>", b"</a href=x>", b"<a href=x", b"<a href='x>", b'<a href="x>', b"<!a href=x>",
        b"<?a href=x?>", b"<!-- <a href=x> -->", b"<!-- <a href=x>", b"<!-- --- <a href=x> --!>", b"<!doctype html>", b"\0\xff\x80",
    ],
    "a start tag ends at its own angle bracket": [b"1<2<a href=x>>", b"<A HREF=x>>", b"<a\n\t\f\r href=x/>>", b"<a/href=x>>", b"<a b='>'>>"],
    "attributes": [
        b"<a>", b"<a / //>", b"<a b>", b"<a b=>", b"<a b=c/>", b"<a b = c>", b"<a b='c\"'>", b'<a b="c\'"d>', b"<a =b=c>", b"<a b b=c>",
        b"<a b<c='d'>", b"<a b=`c`>",
    ],
    "raw text ends at its end tag": [
        b"<script><b q></script><u>", b"<SCRIPT><b q></Script x=y><u>", b"<script><b q></scripts></script ><u>", b"<style><b q></style/><u>",
        b"<script><!--<b q>--></script><u>", b"<script><!--<script><b q></script><b q>--></script><u>", b"<script><!--<script>--></script><u>",
        b"<style><!--<b q></style><u>", b"<textarea><b q></title></textarea><u>", b"<title><b q></titl></title><u>", b"<iframe><b q></iframe><u>",
        b"<noembed><b q></noembed><u>", b"<noframes><b q></noframes><u>", b"<xmp><b q></xmp><u>", b"<!--<b q>--><u>", b"<!--><u>", b"<!---><u>",
        b"<!--<b q>--!><u>", b"<!b q><u>", b"<svg><![CDATA[<b q>]]></svg><u>",
    ],
    "raw text without an end tag extends to the end": [
        b"<plaintext><b q></plaintext>", b"<script><b q>", b"<script><!--<script><b q></script>", b"<style><b q></styl", b"<title><b q></title",
    ],
    "elements without a text mode": [b"<svg><title><b q>", b"<svg><style><b q>", b"<svg><script><b q>", b"<noscript><b q>", b"<![CDATA[x><b q>"],
}


@pytest.mark.parametrize("rule", DOCUMENTS)
def test_html5lib_finds_the_same_tags(rule: str) -> None:
    for document in DOCUMENTS[rule]:
        assert not fuzz_html.guessed(document), document
        fuzz_html.check(document)


def element(data: bytes) -> int:
    """Return the number of the first start tag's name, whether or not the tree accepts it."""
    scanner = Tokenizer(data, NOTHING, [])
    assert scanner.next() == names.TAG
    return scanner.element


def test_element_and_attribute_names_are_matched_in_any_case_and_completely() -> None:
    for name, number in names.ELEMENT_ID.items():
        assert element(b"<%b>" % name) == element(b"<%b>" % name.upper()) == number
        for other in likenesses(name):
            if other[:1].isalpha():
                assert element(b"<%b>" % other) == names.ELEMENT_ID.get(other, 0), other
    known = b"\0" + b"\1" * (ATTRIBUTES - 1)
    for name in names.ATTRIBUTE_ID:
        assert tags(b"<i %b=x>" % name, known * ROWS)
        assert tags(b"<i %b=x>" % name.upper(), known * ROWS)
        for other in likenesses(name):
            if other not in names.ATTRIBUTE_ID:
                assert not tags(b"<i %b=x>" % other, known * ROWS), other


def likenesses(name: bytes) -> list[bytes]:
    """Return names that differ from this one in a byte, in a bit of it, or in their length."""
    flipped = [name[:-1] + bytes((name[-1] ^ bit,)) for bit in (1, 16, 64, 128)]
    first = [bytes((name[0] ^ bit,)) + name[1:] for bit in (1, 128)]
    others = [b"x" + name, name + b"x", b"\1" + name, b"\0" + name, name[1:], name[:-1], b"aaaaaaaa" + name, *flipped, *first]
    return [other.lower() for other in others if other and not set(other) & set(b"\t\n\f\r /=>\"'<")]


TRUNCATED = {
    -1: [b"", b"text", b"<a href=x>", b"x<", b"x</", b"<script>", b"<title>x</title"],
    1: [b"x<a", b"x<a href=", b"x<a href='y", b"x<a/", b"x</a", b"x</a b='", b"x<!-- y", b"x<!--", b"x<!doctype", b"x<?xml", b"x</ y"],
    5: [b"<svg><![CDATA[ y"],
}


@pytest.mark.parametrize("offset", TRUNCATED)
def test_markup_truncated_by_the_end_of_the_file_is_detected(offset: int) -> None:
    for data in TRUNCATED[offset]:
        scanner = Tokenizer(data, NOTHING)
        while scanner.next() != names.END:
            pass
        assert scanner.truncated == offset, data
