"""The blocks of text of a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.audit.text_blocks import HEADING, LINKS, MARKS, blocks, words

PAGES: dict[str, list[str]] = {
    "": [], "<!DOCTYPE html>": [], "<title>t</title>": [], "<p>one": ["one"],
    "<title>t</title><h1>head</h1><p>one  <b>two</b>\n three</p>four": [f"{HEADING}head", "one two three", "four"],
    "<h1><a href=/>Site</a></h1><h2><a href=/>x</a></h2>": [f"{HEADING}Site", f"{LINKS}x"],
    "<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>": ["a", "b", "c", "d"], "<li><a href=x>next</a> |": ["\x1fnext |"],
    "<li><a href=x>one</a> <a href=y><b>two</b></a>": ["\x1fone two"], "<li>see <a href=x>one</a>": ["see one"],
    "<p><a href=x>one</a><p>two": ["\x1fone", "two"], "<a href=x><p>one</p></a><p>two": ["\x1fone", "two"],
    "<p>a<br>b": ["a", "b"],
    "<p>a <a href=x>l</a>, <i>i</i> <code>c</code>": ["a l, i c"], "<b>a</b> <b>b</b>": ["a b"],
    "<p>a<script>x</script>b<style>y</style>c<template>z</template>": ["abc"], "<p>a<!-- no -->b": ["ab"],
    "<pre>a\nb\n\nc</pre>": ["a b", "c"], "<p>&lt;x&gt; &amp; &eacute;": ["<x> & é"],
    "<p>" + "A long sentence. " * 30: ["A long sentence."] * 30, "<p>" + "長い文。" * 200: ["長い文。"] * 200,
}


def test_a_page_is_cut_where_blocks_end() -> None:
    assert {page: blocks(page.encode(), "text/html", "utf-8") for page in PAGES} == PAGES


@pytest.mark.parametrize(("data", "media_type", "charset", "expected"), [
    (b"<p>caf\xe9", "text/html", "latin1", ["café"]), (b"<p>caf\xe9", "text/html", "no-such-charset", ["caf\ufffd"]),
    ("<p>é".encode("utf-16"), "text/html", None, ["é"]), ("<p>é".encode(), "text/html; charset=utf-8", None, ["é"]),
    (b"<html xmlns='x'><p>a</p></html>", "application/xhtml+xml", None, ["a"]), (b"<svg><text>a</text></svg>", "image/svg+xml", None, ["a"]),
    (b"one\ntwo\n\nthree", "text/plain", None, ["one two", "three"]), (b"%PDF", "application/pdf", None, []), (b"a{}", "text/css", None, []),
    (b"x", None, None, []),
])
def test_the_media_type_and_charset_decide_how_a_document_is_read(data: bytes, media_type: str | None, charset: str | None, expected: list[str]) -> None:
    assert blocks(data, media_type, charset) == expected


@given(st.binary(max_size=300))
def test_any_bytes_have_blocks_without_white_space_at_their_ends(data: bytes) -> None:
    found = [block.lstrip(MARKS) for block in blocks(data, "text/html", None)]
    assert all(block and block == " ".join(block.split()) for block in found)


def test_deep_nesting_ends() -> None:
    assert blocks(b"<div>" * 50_000 + b"x", "text/html", None) in (["x"], [])


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_are_those_of_any_text(text: str) -> None:
    assert [*words([text]), "é"] == words([f"{text} é"])
    found = words(["Ein Würfel-Spiel", "日本語 x1"])  # a character of a script without spaces is a word
    assert found == ["ein", "würfel", "spiel", "日", "本", "語", "x1"]
