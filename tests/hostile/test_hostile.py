"""Hostile documents: each is read completely, in linear time (a quadratic algorithm would hang here)."""

import itertools
import re
from typing import Any

import pytest

import absolve
from absolve.document.settings import DEEPEST, Settings
from absolve.document.walk import walk
from tests.shapes import memory
from tests.shapes.hostile import SHAPES
from tests.shapes.makers import srcdocs, unquoted_srcdocs
from tests.shapes.scale import COMPILED, scaled

URL = "http://h.example/d/"
MAX_DEPTH = Settings().max_depth


def listed(data: bytes, **options: Any) -> list[absolve.Row]:
    return list(absolve.links(data, url=URL, **options))


def diagnostics(data: bytes, max_depth: int = MAX_DEPTH) -> list[str]:
    return [str(diagnostic) for diagnostic in walk(absolve.Document(data), Settings(max_depth=max_depth)).diagnostics]


REFUSED = {  # refused above some size, with this code
    "HTTP, too many fields": "too-many-fields",
    "mail, too many fields": "too-many-fields",
    "XML, elements nested too deep": "elements-too-deep",
    "XML, entities too long": "entities-too-long",
    "XML, too many attributes": "too-many-attributes",
    "XML, too many namespaces": "too-many-attributes",
    "XML, too many names": "too-many-names",
    "XML, too many names of attributes": "too-many-names",
    "XML, too many entities": "too-many-declarations",
    "XML, too many declared attributes": "too-many-declarations",
    "XML, too many default attributes": "too-many-declarations",
}


def bytes_given_back(name: str, size: int) -> None:
    """Assert that nothing crashes, that nothing changes without a base, and that a second rewrite changes nothing."""
    shape = SHAPES[name]
    data = shape.make(size)
    known: dict[str, Any] = {"media_type": shape.media_type, "charset": shape.charset}
    if name in REFUSED and size > 100_000:
        with pytest.raises(absolve.DocumentError, match=REFUSED[name]):
            absolve.rewrite(data, url=URL, **known)
        return
    states = any(claim in data for claim in (b"base", b"Base", b"saved", b'"request"'))
    if not states and shape.media_type not in {"application/warc", "application/wacz"}:  # the document states no base
        assert absolve.rewrite(data, **known) is data
    once = absolve.rewrite(data, url=URL, **known)
    assert absolve.rewrite(once, url=URL, **known) == once
    for row in listed(data, **known):
        assert 0 <= row.start <= row.end <= len(data) or row.entity
        assert row.line >= 1
        assert row.column >= 1


@pytest.mark.parametrize("name", SHAPES)
def test_a_small_document_of_each_hostile_shape_is_read_completely(name: str) -> None:
    bytes_given_back(name, 4_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_large_document_of_each_hostile_shape_is_read_completely(name: str) -> None:
    bytes_given_back(name, 1_200_000 if name in REFUSED else scaled(500_000))


PER_LINK, PER_PART = 500, 2500  # bytes: the figures of docs/reference/limits.md
OBJECTS = {  # shapes of many links or parts; interpreted, more of them are objects
    "HAR, documents",
    "HAR, entries",
    "HTTP, links in a field",
    "HTTP, links behind a length",
    "HTTP, links in chunks",
    "JSON-LD, contexts",
    "JSON-LD, strings",
    "WARC, one record of links",
    "WARC, one record that says all of its links",
    "XML, xml:base again and again",
    "ZIP, book of items",
    "ZIP, deflated members",
    "ZIP, members",
    "ZIP, members backwards",
    "ZIP, one page of links",
    "a string of backslashes",
    "imports of modules",
    "mail, a folded base",
    "mailbox, pages",
    "multipart, boundaries",
    "pings, unquoted",
    "quoted-printable, half of it escaped, references",
    "speculation rules",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    "directories and parents",
    "full stops",
    "nested srcdoc",
    "nested srcdoc, no quotes",
    "base of a fragment",
    "base of a host",
    "base of parent directories",
    "base of semicolons",
    "parents with params",
    "URL of directories and parents",
    "user information of other characters",
    "HAR, fields",
    "HTTP, chunks",
    "JSON-LD, numbers",
    "JSON-LD, too many terms",
    "parent directories",
    "XML, elements nested too deep",
    "XML, namespaces",
    "XML, nested elements",
    *sorted(OBJECTS),
])
def test_the_memory_of_a_hostile_shape_is_bounded_by_its_size(name: str) -> None:
    if name in OBJECTS and not COMPILED:
        pytest.skip("interpreted, links and parts are objects")
    assert name in SHAPES
    shape = SHAPES[name]
    options: dict[str, Any] = {"media_type": shape.media_type, "charset": shape.charset, "url": "http://h.example/d/"}
    for took in memory.taken(f"^{re.escape(name)}$", 4):
        most = memory.MOST + 1.0  # on some machines the allocator keeps one more copy
        if took.beyond > most and name in OBJECTS:  # memory is measured on Linux only
            data = shape.make(int(took.size * 1e6))
            many = sum(1 for _ in absolve.links(data, **options))
            parts = walk(absolve.Document(data, **options), Settings()).count - many
            most += (PER_LINK * many + PER_PART * parts) / len(data)
        assert not took.beyond > most, took.job


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_a_hundred_thousand_links_have_their_lines_and_columns(end: bytes) -> None:
    number = scaled(100_000)
    lines = number if end else 1
    rows = listed("<a href=x>é</a>".encode() + end + b"<a href=x>z</a>" + end, charset="utf-8")
    assert [(row.line, row.column) for row in rows] == ([(1, 9), (1, 24)] if not end else [(1, 9), (2, 9)])
    many = listed(("<a href=x>é</a>".encode() + end) * number)
    assert (many[-1].line, many[-1].column) == (lines, 9 if end else (number - 1) * 15 + 9)


def test_a_hundred_thousand_findings_have_their_columns() -> None:
    unit = b"<script type=importmap>[</script>"
    findings = walk(absolve.Document(unit * 20_000), Settings()).diagnostics
    assert len(findings) == 20_000
    assert {finding.code for finding in findings} == {"malformed-json"}
    assert [finding.column for finding in findings[:2]] == [25, 25 + len(unit)]


@pytest.mark.parametrize(("content", "text"), [
    (b"text<!-- never ends", "text"),
    (b"text<b title='never ends", "text"),
    (b"text" + b"<b" * 4000 + b"></a>", "text"),
    (b"<b><i>" * 100_000, ""),
    (b"x" * 1_000_000 + b"</a>", "x" * 200),
])
def test_the_text_of_an_anchor_is_bounded(content: bytes, text: str) -> None:
    assert listed(b"<a href=x>" + content)[0].text == text


def test_a_rel_of_a_megabyte_is_shortened() -> None:
    rows = listed(b"<link href=x rel='" + b"x " * 500_000 + b"'>")
    assert rows[0].rel == "x " * 99 + "x "


# --- depth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [srcdocs, unquoted_srcdocs, lambda levels: srcdocs(levels, b"\"'")])
def test_documents_are_entered_to_the_stated_depth(make: object) -> None:
    assert callable(make)
    rows = listed(make(MAX_DEPTH))
    assert rows[-1].entity == "/".join(["srcdoc[1]"] * MAX_DEPTH)
    assert rows[-1].target == f"{URL}x"
    assert not diagnostics(make(MAX_DEPTH))


def test_a_document_too_deep_stays_with_a_diagnostic_and_the_rest_is_read() -> None:
    deep = srcdocs(MAX_DEPTH + 1) + b"</iframe>"
    data = b"<p>\n" + deep + b"<a href=x>"
    rewritten = absolve.rewrite(data, url=URL)
    assert rewritten == b"<p>\n" + deep + b"<a href=http://h.example/d/x>"
    column = deep.index(b"<a href") + 1  # start of the value that is not read
    text = f"documents nested more than {MAX_DEPTH} deep are left as they are (max-depth)"
    assert diagnostics(data) == [f"<bytes>:2:{column}: too-deep: {text}"]


def test_a_charset_coding_does_not_count_as_depth() -> None:
    data = "\ufeff<a href=x><iframe srcdoc='<a href=y>'>".encode("utf-16-le")
    assert [row.reference for row in listed(data, max_depth=1)] == ["x", "y"]
    assert [row.reference for row in listed(data, max_depth=0)] == ["x"]
    assert [diagnostic.partition(": ")[0] for diagnostic in diagnostics(data, max_depth=0)] == ["<bytes>:1:27"]


def test_the_largest_depth_fits_the_call_stack() -> None:
    data = srcdocs(DEEPEST + 1, b"\"'")
    assert listed(data, max_depth=DEEPEST) == []
    assert len(listed(srcdocs(DEEPEST, b"\"'"), max_depth=DEEPEST)) == 1
    for depth in (-1, DEEPEST + 1):
        with pytest.raises(absolve.UsageError, match="max_depth must be from 0 to 100"):
            listed(data, max_depth=depth)


@pytest.mark.parametrize(("levels", "entered"), [(63, True), (64, False), (100_000, False)])
def test_json_is_read_to_its_documented_depth(levels: int, entered: bool) -> None:
    inner = b"[" * levels + b"]" * levels
    data = b'<p>\n<script type=importmap>{"imports":{"x":"/y"},\n"z":' + inner + b"}</script><a href=x>"
    assert [row.reference for row in listed(data)] == (["/y", "x"] if entered else ["x"])
    places = [re.sub(": JSON.*", "", text) for text in diagnostics(data)]
    assert places == ([] if entered else ["<bytes>:3:68: too-deep"])


def test_findings_have_the_order_of_the_document() -> None:
    page = b"<script type=importmap>[</script><iframe srcdoc=''></iframe><script type=importmap>]</script>"
    columns = [diagnostic.column for diagnostic in walk(absolve.Document(page), Settings(max_depth=0)).diagnostics]
    assert len(columns) == 3
    assert all(one < other for one, other in itertools.pairwise(column or 0 for column in columns))
