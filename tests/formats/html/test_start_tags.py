"""Attributes and anchors of start tags."""

import pytest

from absolve.encodings.charsets import Charset, lookup
from absolve.formats.html.start_tags import attributes, start_tags


def charset(label: str) -> Charset:
    found = lookup(label)
    assert found is not None
    return found


@pytest.mark.parametrize(("tag", "values"), [
    (b'<a href="x" ID=y>', {b"href": b"x", b"id": b"y"}), (b"<a href = 'x y'/>", {b"href": b"x y"}),
    (b"<a href=x href=y>", {b"href": b"x"}), (b'<a a b="" c=>', {b"a": b"", b"b": b"", b"c": b""}),
    (b"<a/b/c=d/>", {b"b": b"", b"c": b"d/"}), (b"<a =b=c>", {b"=b": b"c"}), (b"<a>", {}), (b"a=b", {b"a": b"b"}),
])
def test_the_attributes_of_a_tag_are_read_as_browsers_read_them(tag: bytes, values: dict[bytes, bytes]) -> None:
    assert {name: found.raw for name, found in attributes(tag, 0, len(tag)).items()} == values


def test_an_attribute_has_the_span_of_its_name_and_value() -> None:
    tag = b"<a  href = 'x'  id>"
    assert {tag[one.start : one.end] for one in attributes(tag, 0, len(tag)).values()} == {b"href = 'x'", b"id"}


def test_the_text_of_an_attribute_is_decoded_and_stripped() -> None:
    tag = b"<a id=' a&amp;\xe9 '>"
    assert attributes(tag, 0, len(tag))[b"id"].text(charset("windows-1252")) == "a&\u00e9"


def test_only_tags_that_the_tree_builder_keeps_are_there_with_the_text_of_scripts() -> None:
    data = b"<p><script>a<b</script><!-- <i> --><svg><title>t</title></svg><textarea><b></textarea>"
    found = [(tag.name, data[tag.text_start : tag.text_end]) for tag in start_tags(data)]
    assert found == [(b"p", b""), (b"script", b"a<b"), (b"svg", b""), (b"title", b""), (b"textarea", b"<b>")]
    assert [tag.name for tag in start_tags(data, b"script")] == [b"script"]
