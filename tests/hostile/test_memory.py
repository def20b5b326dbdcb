"""Memory during the rewrite of a hostile document: a few times its bytes, and some hundred bytes a link."""

import tracemalloc
from typing import Any

import pytest

from absolve.api import links, rewrite
from absolve.core.errors import DocumentError
from tests.shapes.hostile import SHAPES
from tests.shapes.memory import traced
from tests.shapes.scale import COMPILED

_SIZE = 300_000
_SOME = 500_000  # bytes that any document may take here
_PER_LINK, _PER_PART = 500, 2500  # bytes: the figures of docs/reference/limits.md
_KEPT = 5_000_000  # bytes of the small documents inside another that are walked only once
_NAMES = (
    "ping", "srcset, unquoted", "srcsets, unquoted", "pings, unquoted", "srcset of a and space",
    "srcset of descriptors", "UTF-16, srcset of a and space", "two-byte charset, srcset", "two-byte charset, style",
    "style attribute of urls", "meta attributes", "base elements", "base elements and links",
    "ping, unquoted with references", "unclosed svg", "deep svg, breakouts", "XML, pseudo-attributes",
    "XML, instructions", "mail, 8 deep", "WARC, one record of links", "WARC, one record that says all of its links",
    "WACZ, one record of links",
)


@pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")
@pytest.mark.parametrize("name", _NAMES)
def test_a_hostile_value_takes_a_few_times_its_size_and_a_little_a_link(name: str) -> None:
    shape = SHAPES[name]
    options: dict[str, Any] = {"media_type": shape.media_type, "charset": shape.charset, "url": "http://h.example/d/"}
    rewrite(shape.make(1000), **options)
    data = shape.make(_SIZE)
    many = sum(1 for _ in links(data, **options))
    new, peak = traced(lambda: rewrite(data, **options))
    assert peak - len(new) < 4 * len(data) + _PER_LINK * many + _SOME


_PARTS = ("ZIP, members", "ZIP, deflated members", "WARC, records", "WARC, compressed records", "mailbox, pages")

@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")
@pytest.mark.parametrize("name", _PARTS)
def test_each_document_inside_another_takes_a_bounded_amount_of_memory(name: str) -> None:
    shape = SHAPES[name]
    options: dict[str, Any] = {"media_type": shape.media_type, "url": "http://h.example/d/"}
    rewrite(shape.make(1000), **options)
    data = shape.make(4 * _SIZE)
    many = sum(1 for _ in links(data, **options))  # each document has one
    new, peak = traced(lambda: rewrite(data, **options))
    assert peak - len(new) < 2 * len(data) + _PER_PART * many + _KEPT


@pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")
@pytest.mark.parametrize("name", ["slashes", "percent signs", "semicolons", "at signs", "directories and parents"])
def test_finding_problems_of_a_long_reference_takes_a_few_times_its_size(name: str) -> None:
    data = SHAPES[name].make(_SIZE)
    list(links(SHAPES[name].make(1000), url="http://h.example/d/"))
    _, peak = traced(lambda: sum(1 for _ in links(data, url="http://h.example/d/")))
    assert peak < 13 * len(data) + _SOME  # problems are found on the reference and on its target, also as text


_ANEW = [  # before, repeated, after: references that are encoded as a whole, each with an escape
    ("text/html", b'<a href="', b"}&", b'">'),
    ("text/html", b"<img srcset=", b"}&", b">"),
    ("text/css", b"a{b:url(", "é\\(".encode(), b")}"),
    ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'><a href='", b"}&amp;", b"'/></svg>"),
]


@pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")
@pytest.mark.parametrize("shape", _ANEW, ids=lambda shape: shape[1].decode())
def test_a_long_reference_is_encoded_without_an_object_per_escape(shape: tuple[str, bytes, bytes, bytes]) -> None:
    media_type, before, unit, behind = shape
    options: dict[str, Any] = {"media_type": media_type, "url": "http://h.example/d/", "profile": "whatwg"}
    short, data = (before + unit * (size // len(unit)) + behind for size in (1000, _SIZE))
    once = rewrite(short, **options)
    new, peak = traced(lambda: rewrite(data, **options))
    assert peak - 4 * len(new) < 4 * len(data) + _SOME  # its text and its bytes are in memory too
    assert new.count(b"%7D") + new.count(b"%C3") == len(data[len(before) : -len(behind)]) // len(unit)
    assert new[: len(once) // 2] == once[: len(once) // 2]


def test_a_long_base_is_freed_with_its_document() -> None:
    page = "<base href='%d/'><a href=x>"
    rewrite(page % 1, url="http://h/")
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(20):
        long = f"http://h/{number}/{'a' * 100_000}/"
        assert rewrite(page % number, url=long).count("a" * 100_000) == 2
        host = f"http://{'a' * 100_000}.h{number}/"
        assert [row.scope for row in links(page % number, url=host)] == ["internal", "internal"]
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 500_000


@pytest.mark.skipif(not COMPILED, reason="interpreted, links and edits are objects")
def test_the_size_of_a_rewritten_record_is_checked_before_writing_it() -> None:
    page = b"<base href=http://h/" + b"d" * 50_000 + b"/>" + b"<a href=x>" * 5000
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)

    def refused() -> None:
        with pytest.raises(DocumentError, match="too-large"):
            rewrite(head + page + b"\r\n\r\n", media_type="application/warc", max_size=10_000_000)

    _, peak = traced(refused)
    assert peak < 100_000_000  # the whole result would be 250 MB
