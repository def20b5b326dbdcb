"""The scanner finds tags, attributes, and the ends of raw text as in HTML Standard 13.2.5."""

from __future__ import annotations

import pytest

from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

NOTHING = bytes(ROWS * ATTRIBUTES)
EVERYTHING = b"\1" * (ROWS * ATTRIBUTES)


def tags(data: bytes, interest: bytes = EVERYTHING) -> list[bytes]:
    """Return the bytes of each reported start tag."""
    scanner = Tokenizer(data, interest)
    found = []
    while (kind := scanner.next()) != names.END:
        if kind == names.TAG:
            found.append(data[scanner.start : scanner.end])
    return found


def attributes(data: bytes) -> list[tuple[bytes, bytes, int]]:
    """Return name, value and quote of each attribute of the first start tag."""
    record: list[tuple[int, int, int, int, int]] = []
    assert Tokenizer(data, NOTHING, record).next() == names.TAG
    return [(data[name:name_end], data[value:value_end], quote) for name, name_end, value, value_end, quote in record]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<",
        b"<>",
        b"</>",
        b"< a href=x>",
        b"<3 href=x>",
        b"</a href=x>",
        b"<a href=x",
        b"<a href='x>",
        b'<a href="x>',
        b"<!a href=x>",
        b"<?a href=x?>",
        b"<!-- <a href=x> -->",
        b"<!-- <a href=x>",
        b"<!-- --- <a href=x> --!>",
        b"<!doctype html>",
        b"\0\xff\x80",
    ],
)
def test_only_start_tags_are_reported(data: bytes) -> None:
    assert tags(data) == []


@pytest.mark.parametrize("data", [b"<a href=x>", b"<A HREF=x>", b"<a\n\t\f\r href=x/>", b"<a/href=x>", b"<a b='>'>"])
def test_a_start_tag_ends_at_its_own_angle_bracket(data: bytes) -> None:
    assert tags(b"1<2" + data + b">") == [data]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<a>", []),
        (b"<a / //>", []),
        (b"<a b>", [(b"b", b"", names.ABSENT)]),
        (b"<a b=>", [(b"b", b"", names.UNQUOTED)]),
        (b"<a b=c/>", [(b"b", b"c/", names.UNQUOTED)]),
        (b"<a b = c>", [(b"b", b"c", names.UNQUOTED)]),
        (b"<a b='c\"'>", [(b"b", b'c"', 39)]),
        (b'<a b="c\'"d>', [(b"b", b"c'", 34), (b"d", b"", names.ABSENT)]),
        (b"<a =b=c>", [(b"=b", b"c", names.UNQUOTED)]),
        (b"<a b b=c>", [(b"b", b"", names.ABSENT), (b"b", b"c", names.UNQUOTED)]),
        (b"<a b<c='d'>", [(b"b<c", b"d", 39)]),
        (b"<a b=`c`>", [(b"b", b"`c`", names.UNQUOTED)]),
    ],
)
def test_attributes_are_recorded_unchanged(data: bytes, expected: list[tuple[bytes, bytes, int]]) -> None:
    assert attributes(data) == expected


def element(data: bytes) -> int:
    """Return the number of the first start tag's name, whether or not the tree accepts it."""
    scanner = Tokenizer(data, NOTHING, [])
    assert scanner.next() == names.TAG
    return scanner.element


@pytest.mark.parametrize("name", [*names.ELEMENT_ID])
def test_element_names_are_matched_in_any_case_and_completely(name: bytes) -> None:
    assert element(b"<%b>" % name) == element(b"<%b>" % name.upper()) == names.ELEMENT_ID[name]
    for other in likenesses(name):
        if other[:1].isalpha():
            assert element(b"<%b>" % other) == names.ELEMENT_ID.get(other, 0), other


@pytest.mark.parametrize("name", [*names.ATTRIBUTE_ID])
def test_attribute_names_are_matched_in_any_case_and_completely(name: bytes) -> None:
    known = b"\0" + b"\1" * (ATTRIBUTES - 1)
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


def test_the_first_of_duplicate_attributes_is_used() -> None:
    data = b"<a href=1 HREF=2 href=3>"
    scanner = Tokenizer(data, EVERYTHING)
    assert scanner.next() == names.TAG
    found = scanner.tag
    if hasattr(found, "order"):  # compiled, the fields of attributes are visible to the walker only
        number = found.order[0]
        assert (found.found, data[found.value_start[number] : found.value_end[number]]) == (1, b"1")


@pytest.mark.parametrize(
    "data",
    [
        b"<script>%s</script>",
        b"<SCRIPT>%s</Script x=y>",
        b"<script>%s</scripts></script >",
        b"<script><!--%s--></script>",
        b"<script><!--<script>%s</script>%s--></script>",
        b"<script><!--<script>--></script>",
        b"<style>%s</style/>",
        b"<style><!--%s</style>",
        b"<textarea>%s</title></textarea>",
        b"<title>%s</titl></title>",
        b"<iframe>%s</iframe>",
        b"<noembed>%s</noembed>",
        b"<noframes>%s</noframes>",
        b"<xmp>%s</xmp>",
        b"<!--%s-->",
        b"<!-->",
        b"<!--->",
        b"<!--%s--!>",
        b"<!%s",
        b"<svg><![CDATA[%s]]></svg>",
    ],
)
def test_raw_text_ends_at_its_end_tag(data: bytes) -> None:
    text = b"<b q>" if not data.startswith(b"<!%") else b"b q>"
    assert tags(data.replace(b"%s", text) + b"<u href=x>")[-1] == b"<u href=x>"
    assert b"<b q>" not in tags(data.replace(b"%s", text) + b"<u href=x>")


@pytest.mark.parametrize(
    "data",
    [
        b"<plaintext>%s</plaintext>",
        b"<script>%s",
        b"<script><!--<script>%s</script>",
        b"<style>%s</styl",
        b"<title>%s</title",
    ],
)
def test_unterminated_raw_text_extends_to_the_end(data: bytes) -> None:
    assert len(tags(data.replace(b"%s", b"<b q>"))) == 1


@pytest.mark.parametrize(
    "data", [b"<svg><title>%s", b"<svg><style>%s", b"<svg><script>%s", b"<noscript>%s", b"<![CDATA[x>%s"]
)
def test_tags_are_found_in_elements_without_a_text_mode(data: bytes) -> None:
    assert tags(data.replace(b"%s", b"<b q>"))[-1] == b"<b q>"


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"", -1),
        (b"text", -1),
        (b"<a href=x>", -1),
        (b"x<", -1),
        (b"x</", -1),
        (b"<script>", -1),
        (b"x<a", 1),
        (b"x<a href=", 1),
        (b"x<a href='y", 1),
        (b"x<a/", 1),
        (b"x</a", 1),
        (b"x</a b='", 1),
        (b"x<!-- y", 1),
        (b"x<!--", 1),
        (b"x<!doctype", 1),
        (b"x<?xml", 1),
        (b"x</ y", 1),
        (b"<svg><![CDATA[ y", 5),
        (b"<title>x</title", -1),
    ],
)
def test_markup_truncated_by_the_end_of_the_file_is_detected(data: bytes, offset: int) -> None:
    scanner = Tokenizer(data, NOTHING)
    while scanner.next() != names.END:
        pass
    assert scanner.truncated == offset
