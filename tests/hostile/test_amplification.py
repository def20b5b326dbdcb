"""Short documents must not produce huge output: lengths of URLs, rows of a document and messages are bounded."""

import contextlib
import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import absolve
from absolve import arrow, trees
from absolve.cli import main
from absolve.core.errors import Diagnostic, in_short
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import inners, walk

URL = "http://h/dir/"
PROFILES = ("rfc1808", "rfc3986", "whatwg")


def based(length: int, links: bytes) -> bytes:
    """Return a page with a base of this many characters."""
    base = b"http://b/"
    return b"<base href='" + base + b"x" * (length - len(base) - 1) + b"/'>\n" + links


def diagnostics(data: bytes, **options: Any) -> list[Diagnostic]:
    return walk(Document(data, name="page.html", url=URL), Settings(**options)).diagnostics


def problems(data: bytes, **options: Any) -> list[tuple[str, str | None, list[Any]]]:
    return [(row.reference, row.target, row.problems) for row in absolve.links(data, **options)]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_url_that_a_document_or_a_policy_has_itself_is_not_limited(profile: absolve.Profile) -> None:
    options: dict[str, Any] = {"profile": profile, "max_url": 100}
    data = b"<img src='data:image/gif;base64," + b"A" * 1000 + b"'><a href='http://g/" + b"y" * 1000 + b"'>"
    assert absolve.rewrite(data, url=URL, **options) is data
    assert [(row.target == row.reference, row.problems) for row in absolve.links(data, url=URL, **options)] == [(True, []), (True, [])]
    assert diagnostics(data, **options) == []
    long = "data:," + "A" * 1000
    assert absolve.rewrite(b"<img src=x>", policy=lambda _: long, **options) == f"<img src={long}>".encode()


# --- URLs beyond the limit --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("reference", [b"y" * 40, b"../" + b"y" * 60, b"?" + b"y" * 39, b"y y" + b"y" * 37, "ü".encode() * 40])
def test_a_link_whose_url_would_be_too_long_stays_with_one_diagnostic(profile: absolve.Profile, reference: bytes) -> None:
    data = based(60, b"<a href='" + reference + b"'>\n<a href='" + reference + b"'>\n<a href='z'>")
    target = {row.target for row in absolve.links(data, url=URL, profile=profile) if row.reference != "z"} - {None}
    length = max(len(url) for url in target if url is not None and re.search("[y%ü]", url))
    assert b"href='http://b/" in absolve.rewrite(data, url=URL, profile=profile, max_url=length).partition(b"\n")[2]
    options: dict[str, Any] = {"profile": profile, "max_url": length - 1}
    assert absolve.rewrite(data, url=URL, **options) == data.replace(b"'z'", b"'http://b/" + b"x" * 50 + b"/z'")
    first, second = list(absolve.links(data, url=URL, **options))[1:3]
    assert (first.target, second.target) == (None, None)
    assert {"too-long", "malformed", "unresolved"}.intersection(first.problems) == {"too-long"}
    text = f"links whose URLs would have more than {length - 1} characters stay (max-url)"
    assert diagnostics(data, **options) == [Diagnostic("too-long", text, "page.html", 2, 10)]


@pytest.mark.parametrize("profile", PROFILES)
def test_no_link_is_resolved_against_a_base_that_is_too_long(profile: absolve.Profile) -> None:
    data = based(60, b"<a href='x'><a href='/x'><a href='#x'><a href='http://g/'><img src=''>")
    assert problems(data, url=URL, profile=profile, max_url=62) == problems(data, url=URL, profile=profile)
    assert {row.base for row in absolve.links(data, url=URL, profile=profile, max_url=60)} != {""}
    assert absolve.rewrite(data, url=URL, profile=profile, max_url=59) is data
    rows = list(absolve.links(data, url=URL, profile=profile, max_url=59))
    assert [(row.reference, row.target, row.problems) for row in rows[1:]] == [
        *((one, None, ["unresolved"]) for one in ("x", "/x", "#x")), ("http://g/", "http://g/", []), ("", None, ["empty"]),
    ]  # fmt: skip
    assert rows[0].problems == ["unsuitable-base", "too-long"]
    assert {(row.base, row.base_layer, row.base_source) for row in rows[1:]} == {("", "embedded", "base element, line 1")}


def test_a_base_that_is_too_long_is_not_replaced_by_the_next_layer_and_stays() -> None:
    found = absolve.base(based(60, b""), url=URL, max_url=59)
    assert (found.url, found.layer.label, found.source) == ("", "embedded", "base element, line 1")
    assert [(claim.verdict, claim.url) for claim in found.chain] == [("too-long", None), ("overruled", URL)]
    data = b"<a href='x'>"  # of the URL that is given
    assert absolve.rewrite(data, url=URL, max_url=len(URL) - 1) is data
    assert problems(data, url=URL, max_url=len(URL) - 1) == [("x", None, ["unresolved"])]
    assert absolve.rewrite(data, url=URL, max_url=len(URL) + 1) == b"<a href='http://h/dir/x'>"
    data = b"<base href='" + b"y" * 60 + b"/'><a href='x'>"
    assert absolve.rewrite(data, url=URL, base="keep", max_url=60) is absolve.rewrite(data, url=URL, base="empty", max_url=60) is data


def test_a_base_that_is_too_long_applies_to_inner_documents() -> None:
    for page in (
        *(b"<iframe srcdoc=\"<a href='x'>\">", b"<style>a{b:url(x)}</style>", b"<p style='a:url(x)'>", b"<img srcset='x, y 2x'>"),
        *(b"<a ping='x y'>", b"<object codebase='y/' data='x'>", b"<object codebase='http://g/%b/' data='x'>" % (b"y" * 58)),
    ):
        data = based(60, page)
        assert absolve.rewrite(data, url=URL, max_url=59) is data
        assert {row.target for row in absolve.links(data, url=URL, max_url=59) if row.reference in "xy"} == {None}


@pytest.mark.parametrize("names", [1, 2, 5])
def test_nested_bases_of_xml_end_where_their_url_would_be_too_long(names: int) -> None:
    data = b"<r>" + b"<a xml:base='yyyyyyyyy/'>" * 5 + b"<image xlink:href='x' xmlns:xlink='http://www.w3.org/1999/xlink'/>" + b"</a>" * 5 + b"</r>"
    options: dict[str, Any] = {"url": URL, "media_type": "application/xml", "max_url": len(URL) + 10 * names}
    rows = list(absolve.links(data, **options))
    assert [row.target is not None for row in rows if row.attribute == "xml:base"] == [place < names for place in range(5)]
    assert "too-long" in "".join(code for row in rows for code in row.problems) or names == 5
    absolve.rewrite(data, **options)


def test_urls_of_a_policy_have_the_same_limit(tmp_path: Path, limited: Callable[..., list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    data = b"<a href='x'>\n<p style='a:url(x)'>\n<a href='y'>"
    given = {"x": "http://h/" + "y" * 100, "y": "http://h/y"}
    assert absolve.rewrite(data, policy=lambda link: given[link.reference], max_url=108) == data.replace(b"'y'", b"'http://h/y'")
    path = tmp_path / "page.html"
    path.write_bytes(data.replace(b"x", b"http://h/x").replace(b"'y'", b"'http://h/y'"))
    remap = ["--remap", f"http://h/x={given['x']}"]
    assert main(["rewrite", "--url", URL, "--verify", *limited(max_url=108), *remap, str(path)]) == 0
    out, err = capfd.readouterr()
    assert out.encode() == path.read_bytes()
    warning = f"warning: {path}:1:10: too-long: links whose URLs would have more than 108 characters stay (max-url)\n"
    assert err == f"{warning}absolve: no link changed: 3 in 1 document left as is\n"


def test_trees_have_the_same_limits() -> None:
    for page, options, message in ((based(60, b"<a href='x'></a>"), {"max_url": 59}, ""), (based(5000, LINKS), {"max_size": 400_000}, "too-large")):
        tree = html.document_fromstring(page)
        before = html.tostring(tree)
        with pytest.raises(absolve.DocumentError, match=message) if message else contextlib.nullcontext():
            trees.make_links_absolute(tree, **options)  # type: ignore[arg-type]
        assert html.tostring(tree) == before
    assert [row.target for row in trees.links(html.document_fromstring(based(60, b"<a href='x'></a>")), max_url=59)][1:] == [None]
    with pytest.raises(absolve.DocumentError, match="rows-too-large"):
        list(trees.links(tree, max_rows_bytes=900_000))


@pytest.mark.parametrize("profile", PROFILES)
def test_verify_accepts_links_left_because_they_are_too_long(profile: absolve.Profile) -> None:
    data = based(60, b"<a href='x'><iframe srcdoc='<a href=x>'></iframe>") + b"<svg xml:base='y/'/>"
    assert absolve.verify(data, data, url=URL, profile=profile, max_url=59) == []
    long = b"<a href='" + b"y" * 100 + b"'><a href='x'>"
    assert absolve.verify(long, absolve.rewrite(long, url=URL, max_url=100), url=URL, profile=profile, max_url=100) == []


# --- rows beyond the limit --------------------------------------------------------------------------------------------

LINKS = b"<a href='z'>\n" * 100


def size(data: bytes | str, **options: Any) -> int:
    """Return the number of bytes that the limit counts."""
    return sum(
        len(value.encode())
        for row in absolve.links(data, **options)
        for name, value in row._asdict().items()
        if isinstance(value, str) and name not in {"rel", "scope"}
    )


@pytest.mark.parametrize(("media_type", "data"), [
    ("text/html", based(5000, LINKS)),
    ("text/html", based(5000, b"<img srcset='" + b", ".join([b"z 2x"] * 100) + b"'>")),
    ("text/html", based(5000, b"<p style='a:url(z)'>" * 100)),
    ("text/html", based(5000, b"<iframe srcdoc='<a href=z>'></iframe>" * 100)),
    ("text/html", based(5000, b"<a ping='" + b"z " * 100 + b"'>")),
    ("application/xml", b"<r xml:base='http://b/" + b"x" * 5000 + b"/'>" + b"<a xml:base='z'/>" * 100 + b"</r>"),
    ("application/xml", b"<!DOCTYPE r [<!ENTITY e '" + b"x" * 5000 + b"'>]><r>" + b"<a xml:base='&e;'/>" * 100 + b"</r>"),
    ("message/rfc822", b"Content-Base: http://b/" + b"x" * 5000 + b"/\nContent-Type: text/html\n\n" + LINKS),
])
def test_a_document_may_have_rows_up_to_the_limit_and_more_are_refused_before_the_first(media_type: str, data: bytes) -> None:
    whole = size(data, media_type=media_type, url=URL)
    assert whole > 900_000
    options: dict[str, Any] = {"media_type": media_type, "url": URL}
    assert list(absolve.links(data, max_rows_bytes=whole, **options)) == list(absolve.links(data, **options))
    with pytest.raises(absolve.DocumentError) as error:
        absolve.links(data, max_rows_bytes=whole - 1, **options)
    text = f"documents whose rows take more than {whole - 1:,} bytes are not listed (max-rows-bytes)"
    assert (error.value.diagnostic.code, error.value.diagnostic.text) == ("rows-too-large", text)


def test_rows_that_exceed_the_limit_unexpectedly_end_there() -> None:
    data = b"<a href='http://b/' ping='" + b"z " * 10_000 + b"'>" + b"word " * 40
    whole = size(data, url=URL)
    assert len(list(absolve.links(data, url=URL, max_rows_bytes=whole))) == 10_001
    rows = iter(absolve.links(data, url=URL, max_rows_bytes=whole - 1))
    with pytest.raises(absolve.DocumentError, match="rows-too-large"):
        list(rows)
    assert list(rows) == []


def test_a_page_that_would_make_gigabytes_is_refused_at_once() -> None:
    data = based(500_000, b"<a href='z'>" * 8_000)
    with pytest.raises(absolve.DocumentError, match="rows-too-large"):
        absolve.links(data)
    with pytest.raises(absolve.DocumentError, match="too-large"):
        absolve.rewrite(data)


def test_arrow_tables_and_batches_have_the_same_limit() -> None:
    data = based(5000, LINKS)
    whole = size(data)
    assert arrow.links(data, max_rows_bytes=whole).num_rows == 101
    with pytest.raises(absolve.DocumentError, match="rows-too-large"):
        arrow.links(data, max_rows_bytes=whole - 1)
    sources = [based(50, LINKS), data, data]
    assert sum(batch.num_rows for batch in arrow.batches(sources, max_rows_bytes=whole)) == 303
    with pytest.raises(absolve.DocumentError, match="rows-too-large"):
        list(arrow.batches(sources, max_rows_bytes=whole - 1))


@pytest.mark.parametrize("suffix", ["jsonl", "sqlite", "warc"])
def test_a_document_or_record_beyond_the_limit_of_rows_is_reported_and_others_are_listed(
    tmp_path: Path, limited: Callable[..., list[str]], capfd: pytest.CaptureFixture[str], suffix: str
) -> None:
    pages = {"a": based(50, LINKS), "b": based(5000, LINKS), "c": based(50, LINKS)}
    head = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/{}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n"
    (tmp_path / "in").mkdir()
    for name, data in pages.items() if suffix != "warc" else ():
        (tmp_path / "in" / f"{name}.html").write_bytes(data)
    records = [head.format(name, len(page)).encode() + page + b"\r\n\r\n" for name, page in pages.items()]
    if suffix == "warc":
        (tmp_path / "in/a.warc").write_bytes(b"".join(records))
    out = tmp_path / f"rows.{suffix.replace('warc', 'jsonl')}"
    assert main(["links", str(tmp_path / "in"), *limited(max_rows_bytes="100K"), "-o", str(out)]) == 3
    err = capfd.readouterr().err
    assert "rows-too-large: documents whose rows take more than 102,400 bytes are not listed" in err
    assert ("b.html:1:1: rows" if suffix != "warc" else f"at byte {len(records[0])}") in err
    if suffix == "jsonl":
        assert [name in out.read_bytes() for name in (b"a.html", b"b.html", b"c.html")] == [True, False, True]
    elif suffix == "warc":
        assert {json.loads(line)["entity"].partition("/")[0] for line in out.read_text().splitlines()} == {"record[1]", "record[3]"}
    else:
        with contextlib.closing(sqlite3.connect(out)) as database:  # whose other table has a row for the document itself
            assert [name[-6:] for (name,) in database.execute("SELECT DISTINCT document FROM links")] == ["a.html", "c.html"]
            assert ["rows-too-large" in codes for (codes,) in database.execute("SELECT problems FROM documents")] == [False, True, False]


def test_bases_of_inner_documents_have_the_same_limit(tmp_path: Path, limited: Callable[..., list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(based(5000, b"<iframe srcdoc='<a href=z>'></iframe>" * 100))
    assert main(["base", "-f", "json", str(path), *limited(max_rows_bytes="50K")]) == 3
    out, err = capfd.readouterr()
    assert len(out) < 100_000
    assert "rows-too-large" in err
    assert main(["base", "-f", "json", str(path)]) == 0


def test_inner_documents_with_long_bases_of_their_own_are_entered_up_to_a_limit() -> None:
    inside = b"".join(b"<iframe srcdoc='<base href=q%d/><a href=z>'></iframe>\n" % number for number in range(200))
    entity = walk(Document(based(500_000, inside), name="page.html"), Settings())
    entered = (64 << 20) // 500_000
    assert len(list(inners(entity))) == entered
    assert {(found.code, found.failed) for found in entity.diagnostics} == {("too-long", False)}
    assert [found.line for found in entity.diagnostics] == list(range(entered + 2, 202))
    assert "have more than 64 MiB together" in entity.diagnostics[0].text
    shared = walk(Document(based(500_000, b"<iframe srcdoc='<a href=z>'></iframe>\n" * 200), name="page.html"), Settings())
    assert (len(list(inners(shared))), shared.diagnostics) == (200, [])


# --- messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 199, 200, 201, 1000])
def test_a_long_text_in_a_message_is_shortened_in_the_middle(length: int) -> None:
    text = "a" + "b" * (length - 2) + "c" if length > 1 else "a"
    short = in_short(text)
    assert len(short) == min(length, 200)
    assert (short == text) is (length <= 200)
    assert (short[0], short[-1]) == (text[0], text[-1])


LONG = b"y" * 500_000
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
QUOTED: dict[str, list[bytes]] = {  # by the name of the file
    "page.html": [b"<base href='data:" + LONG + b"'><a href=x>"],
    "page.eml": [
        b"Content-Base: data:" + LONG + b"\nContent-Type: text/html\n\n<a href=x>",
        b"Content-Transfer-Encoding: " + LONG + b"\nContent-Type: text/html\n\n<a href=x>",
        b"Content-Type: text/html; charset=" + LONG + b"\n\n<a href=x>", b"Content-Type: text/" + LONG + b"\n\n<a href=x>",
    ],
    "page.http": [HTTP + b"Content-Encoding: " + LONG + b"\r\n\r\nx", HTTP + b"Transfer-Encoding: chunked\r\n\r\n" + LONG],
    "a.xml": [b"<!DOCTYPE r [<!ENTITY " + LONG + b" '<b/>'>]><r>&" + LONG + b";</r>", b"<r><" + LONG + b"></r>", b"<" + LONG + b":r/>"],
    "a.warc": [
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/" + LONG + b"\r\nContent-Type: application/http"
        b"\r\nContent-Length: 73\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n1234\r\n\r\n",
        b"WARC/1.1\r\nWARC-Type: " + LONG + b"\r\nContent-Length: " + LONG + b"\r\n\r\n",
    ],
    "a.har": [
        b'{"log":{"entries":[{"request":{"url":"http://h/' + LONG + b'"},"response":{"content":{"mimeType":"text/html",'
        b'"text":"x","encoding":"' + LONG + b'"}}}]}}',
    ],
    "page.txt": [LONG],
}


@pytest.mark.parametrize("name", QUOTED)
def test_messages_of_the_command_are_short_for_long_values(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    for data in QUOTED[name]:
        (tmp_path / name).write_bytes(data)
        for command in ("rewrite", "links", "base"):
            main([command, str(tmp_path / name)])
            err = capfd.readouterr().err
            assert all(len(line) < 2000 for line in err.splitlines()), err[:500]


def test_errors_of_the_library_are_short_for_long_values() -> None:
    long: Any = LONG.decode()
    for options in ({"url": long}, {"charset": long}, {"media_type": f"text/{long}"}, {"profile": long}, {"fragments": long}):
        with pytest.raises(absolve.AbsolveError) as error:
            absolve.rewrite(b"", **options)
        assert len(str(error.value)) < 2000
    with pytest.raises(absolve.AbsolveError) as error:
        absolve.resolve("http://h/", "x", long)
    assert len(str(error.value)) < 2000
