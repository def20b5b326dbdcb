"""Hostile documents: each is read completely, in linear time (a quadratic algorithm would hang here), in a few times its size.

The table is `SHAPES`, with a row for each shape and format. The default run has small documents; the slow tests large ones.
"""

import itertools
import re
import tracemalloc
from functools import partial
from typing import Any

import pytest

import absolve
from absolve.document.settings import DEEPEST, Settings
from absolve.document.walk import walk
from tests.shapes import memory
from tests.shapes.hostile import SHAPES
from tests.shapes.makers import Shape, srcdocs, unquoted_srcdocs
from tests.shapes.memory import traced
from tests.shapes.scale import COMPILED, scaled

URL = "http://h.example/d/"
MAX_DEPTH = Settings().max_depth
compiled_only = pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")


def listed(data: bytes, **options: Any) -> list[absolve.Row]:
    return list(absolve.links(data, url=URL, **options))


def diagnostics(data: bytes, max_depth: int = MAX_DEPTH) -> list[str]:
    return [str(diagnostic) for diagnostic in walk(absolve.Document(data), Settings(max_depth=max_depth)).diagnostics]


def known(shape: Shape) -> dict[str, Any]:
    return {"media_type": shape.media_type, "charset": shape.charset}


REFUSED = {  # refused above some size, with this code
    **dict.fromkeys(("HTTP, too many fields", "mail, too many fields"), "too-many-fields"),
    "XML, elements nested too deep": "elements-too-deep",
    "XML, entities too long": "entities-too-long",
    **dict.fromkeys(("XML, too many attributes", "XML, too many namespaces"), "too-many-attributes"),
    **dict.fromkeys(("XML, too many names", "XML, too many names of attributes"), "too-many-names"),
    **{f"XML, too many {what}": "too-many-declarations" for what in ("entities", "declared attributes", "default attributes")},
}


def bytes_given_back(name: str, size: int) -> None:
    """Assert that nothing crashes, that nothing changes without a base, and that a second rewrite changes nothing."""
    shape = SHAPES[name]
    data = shape.make(size)
    if name in REFUSED and size > 100_000:
        with pytest.raises(absolve.DocumentError, match=REFUSED[name]):
            absolve.rewrite(data, url=URL, **known(shape))
        return
    states = any(claim in data for claim in (b"base", b"Base", b"saved", b'"request"'))
    if not states and shape.media_type not in {"application/warc", "application/wacz"}:  # the document states no base
        assert absolve.rewrite(data, **known(shape)) is data
    once = absolve.rewrite(data, url=URL, **known(shape))
    assert absolve.rewrite(once, url=URL, **known(shape)) == once
    for row in listed(data, **known(shape)):
        assert 0 <= row.start <= row.end <= len(data) or row.entity
        assert row.line >= 1
        assert row.column >= 1


@pytest.mark.parametrize("media_type", dict.fromkeys(shape.media_type for shape in SHAPES.values()))
def test_a_small_document_of_each_hostile_shape_is_read_completely(media_type: str | None) -> None:
    for name, shape in SHAPES.items():
        if shape.media_type == media_type:
            bytes_given_back(name, 4_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_large_document_of_each_hostile_shape_is_read_completely(name: str) -> None:
    bytes_given_back(name, 1_200_000 if name in REFUSED else scaled(500_000))


# --- memory -----------------------------------------------------------------------------------------------------------

PER_LINK, PER_PART = 500, 2500  # bytes: the figures of docs/reference/limits.md
OBJECTS = {  # shapes of many links or parts; interpreted, more of them are objects
    *("HAR, documents", "HAR, entries", "HTTP, links in a field", "HTTP, links behind a length", "HTTP, links in chunks", "JSON-LD, contexts"),
    *("JSON-LD, strings", "WARC, one record of links", "WARC, one record that says all of its links", "XML, xml:base again and again"),
    *("ZIP, book of items", "ZIP, deflated members", "ZIP, members", "ZIP, members backwards", "ZIP, one page of links", "a string of backslashes"),
    *("imports of modules", "mail, a folded base", "mailbox, pages", "multipart, boundaries", "pings, unquoted", "speculation rules"),
    "quoted-printable, half of it escaped, references",
}
VALUES = (
    *("directories and parents", "full stops", "nested srcdoc", "nested srcdoc, no quotes", "base of a fragment", "base of a host"),
    *("base of parent directories", "base of semicolons", "parents with params", "URL of directories and parents", "parent directories"),
    *("user information of other characters", "HAR, fields", "HTTP, chunks", "JSON-LD, numbers", "JSON-LD, too many terms"),
    *("XML, elements nested too deep", "XML, namespaces", "XML, nested elements"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VALUES, *sorted(OBJECTS)])
def test_the_memory_of_a_process_is_bounded_by_the_size_of_a_hostile_shape(name: str) -> None:
    if name in OBJECTS and not COMPILED:
        pytest.skip("interpreted, links and parts are objects")
    shape = SHAPES[name]
    options = {**known(shape), "url": URL}
    for took in memory.taken(f"^{re.escape(name)}$", 4):
        most = memory.MOST + 1.0  # on some machines the allocator keeps one more copy
        if took.beyond > most and name in OBJECTS:  # memory is measured on Linux only
            data = shape.make(int(took.size * 1e6))
            many = sum(1 for _ in absolve.links(data, **options))
            parts = walk(absolve.Document(data, **options), Settings()).count - many
            most += (PER_LINK * many + PER_PART * parts) / len(data)
        assert not took.beyond > most, took.job


SIZE = 100_000
SOME = 200_000  # bytes that any document may take here
TRACED = (
    *("ping", "srcset, unquoted", "srcsets, unquoted", "pings, unquoted", "srcset of a and space", "srcset of descriptors", "base elements"),
    *("UTF-16, srcset of a and space", "two-byte charset, srcset", "two-byte charset, style", "style attribute of urls", "meta attributes"),
    *("base elements and links", "ping, unquoted with references", "unclosed svg", "deep svg, breakouts", "XML, pseudo-attributes"),
    *("XML, instructions", "mail, 8 deep", "WARC, one record of links", "WARC, one record that says all of its links", "WACZ, one record of links"),
)


@compiled_only
@pytest.mark.parametrize("name", TRACED)
def test_a_hostile_value_takes_a_few_times_its_size_and_a_little_a_link(name: str) -> None:
    shape = SHAPES[name]
    options = {**known(shape), "url": URL}
    absolve.rewrite(shape.make(1000), **options)
    data = shape.make(SIZE)
    many = sum(1 for _ in absolve.links(data, **options))
    new, peak = traced(lambda: absolve.rewrite(data, **options))
    assert peak - len(new) < 4 * len(data) + PER_LINK * many + SOME


@compiled_only
def test_finding_problems_of_a_long_reference_takes_a_few_times_its_size() -> None:
    for name in ("slashes", "percent signs", "semicolons", "at signs", "directories and parents"):
        data = SHAPES[name].make(SIZE)
        listed(SHAPES[name].make(1000))
        _, peak = traced(lambda data=data: sum(1 for _ in absolve.links(data, url=URL)))  # type: ignore[misc]
        assert peak < 13 * len(data) + SOME, name  # problems are found on the reference and on its target, also as text


ANEW = [  # before, repeated, after: references that are encoded as a whole, each with an escape
    ("text/html", b'<a href="', b"}&", b'">'),
    ("text/html", b"<img srcset=", b"}&", b">"),
    ("text/css", b"a{b:url(", "é\\(".encode(), b")}"),
    ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'><a href='", b"}&amp;", b"'/></svg>"),
]


def anew(data: bytes, options: dict[str, Any]) -> bytes:
    return absolve.rewrite(data, **options)


@compiled_only
def test_a_long_reference_is_encoded_without_an_object_per_escape() -> None:
    for media_type, before, unit, behind in ANEW:
        options: dict[str, Any] = {"media_type": media_type, "url": URL, "profile": "whatwg"}
        short, data = (before + unit * (size // len(unit)) + behind for size in (1000, SIZE))
        once = anew(short, options)
        new, peak = traced(partial(anew, data, options))
        assert peak - 4 * len(new) < 4 * len(data) + SOME, before  # its text and its bytes are in memory too
        assert new.count(b"%7D") + new.count(b"%C3") == len(data[len(before) : -len(behind)]) // len(unit)
        assert new[: len(once) // 2] == once[: len(once) // 2]


def test_a_long_base_is_freed_with_its_document() -> None:
    page = "<base href='%d/'><a href=x>"
    absolve.rewrite(page % 1, url="http://h/")
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(8):
        assert absolve.rewrite(page % number, url=f"http://h/{number}/{'a' * 100_000}/").count("a" * 100_000) == 2
        assert [row.scope for row in absolve.links(page % number, url=f"http://{'a' * 100_000}.h{number}/")] == ["internal"] * 2
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 500_000


@compiled_only
def test_the_size_of_a_rewritten_record_is_checked_before_writing_it() -> None:
    page = b"<base href=http://h/" + b"d" * 50_000 + b"/>" + b"<a href=x>" * 5000
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)

    def refused() -> None:
        with pytest.raises(absolve.DocumentError, match="too-large"):
            absolve.rewrite(head + page + b"\r\n\r\n", media_type="application/warc", max_size=10_000_000)

    assert traced(refused)[1] < 100_000_000  # the whole result would be 250 MB


# --- positions, texts and depths --------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_twenty_thousand_links_have_their_lines_and_columns(end: str) -> None:
    number = scaled(20_000)
    rows = listed(f"<a href=x>é</a>{end}<a href=x>z</a>{end}".encode(), charset="utf-8")
    assert [(row.line, row.column) for row in rows] == ([(1, 9), (1, 24)] if not end else [(1, 9), (2, 9)])
    last = listed(f"<a href=x>é</a>{end}".encode() * number)[-1]
    assert (last.line, last.column) == ((number, 9) if end else (1, (number - 1) * 15 + 9))


def test_twenty_thousand_findings_have_their_columns_in_the_order_of_the_document() -> None:
    unit = b"<script type=importmap>[</script>"
    findings = walk(absolve.Document(unit * scaled(20_000)), Settings()).diagnostics
    assert {finding.code for finding in findings} == {"malformed-json"}
    assert [finding.column for finding in findings] == [25 + len(unit) * number for number in range(scaled(20_000))]
    page = unit + b"<iframe srcdoc=''></iframe>" + unit.replace(b"[", b"]")
    columns = [diagnostic.column or 0 for diagnostic in walk(absolve.Document(page), Settings(max_depth=0)).diagnostics]
    assert len(columns) == 3
    assert all(one < other for one, other in itertools.pairwise(columns))


TEXTS = {
    b"text<!-- never ends": "text", b"text<b title='never ends": "text", b"text" + b"<b" * 4000 + b"></a>": "text",
    b"<b><i>" * 100_000: "", b"x" * 1_000_000 + b"</a>": "x" * 200,
}  # fmt: skip


def test_the_text_of_an_anchor_and_a_rel_of_a_megabyte_are_bounded() -> None:
    assert {content: listed(b"<a href=x>" + content)[0].text for content in TEXTS} == TEXTS
    assert listed(b"<link href=x rel='" + b"x " * 500_000 + b"'>")[0].rel == "x " * 100


@pytest.mark.parametrize("make", [srcdocs, unquoted_srcdocs, lambda levels: srcdocs(levels, b"\"'")])
def test_documents_are_entered_to_the_stated_depth(make: Any) -> None:
    rows = listed(make(MAX_DEPTH))
    assert rows[-1].entity == "/".join(["srcdoc[1]"] * MAX_DEPTH)
    assert rows[-1].target == f"{URL}x"
    assert not diagnostics(make(MAX_DEPTH))


def test_a_document_too_deep_stays_with_a_diagnostic_and_the_rest_is_read() -> None:
    deep = srcdocs(MAX_DEPTH + 1) + b"</iframe>"
    data = b"<p>\n" + deep + b"<a href=x>"
    assert absolve.rewrite(data, url=URL) == b"<p>\n" + deep + b"<a href=http://h.example/d/x>"
    column = deep.index(b"<a href") + 1  # start of the value that is not read
    text = f"documents nested more than {MAX_DEPTH} deep are left as they are (max-depth)"
    assert diagnostics(data) == [f"<bytes>:2:{column}: too-deep: {text}"]
    utf_16 = "\ufeff<a href=x><iframe srcdoc='<a href=y>'>".encode("utf-16-le")  # the coding of a charset counts for no depth
    assert [row.reference for row in listed(utf_16, max_depth=1)] == ["x", "y"]
    assert [row.reference for row in listed(utf_16, max_depth=0)] == ["x"]
    assert [diagnostic.partition(": ")[0] for diagnostic in diagnostics(utf_16, max_depth=0)] == ["<bytes>:1:27"]


def test_the_largest_depth_fits_the_call_stack() -> None:
    assert listed(srcdocs(DEEPEST + 1, b"\"'"), max_depth=DEEPEST) == []
    assert len(listed(srcdocs(DEEPEST, b"\"'"), max_depth=DEEPEST)) == 1
    for depth in (-1, DEEPEST + 1):
        with pytest.raises(absolve.UsageError, match="max_depth must be from 0 to 100"):
            listed(b"", max_depth=depth)


@pytest.mark.parametrize(("levels", "entered"), [(63, True), (64, False), (100_000, False)])
def test_json_is_read_to_its_documented_depth(levels: int, entered: bool) -> None:
    inner = b"[" * levels + b"]" * levels
    data = b'<p>\n<script type=importmap>{"imports":{"x":"/y"},\n"z":' + inner + b"}</script><a href=x>"
    assert [row.reference for row in listed(data)] == (["/y", "x"] if entered else ["x"])
    places = [re.sub(": JSON.*", "", text) for text in diagnostics(data)]
    assert places == ([] if entered else ["<bytes>:3:68: too-deep"])
