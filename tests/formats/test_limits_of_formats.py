"""Limits at their edges in XML, messages, HTTP and archives: data beyond a limit stays, with a diagnostic."""

import gzip
from typing import Final, NamedTuple

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.rewriting import rewriter

LINK: Final = b"<a href=x>"


def response(body: bytes, field: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nLocation: x\r\nContent-Type: text/html\r\n%bContent-Length: %d\r\n\r\n"
    return head % (field, len(body)) + body


def record(body: bytes) -> bytes:
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nContent-Type: application/http\r\n"
    return head + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(body), body)


class Case(NamedTuple):
    """A document, its numbers of links and levels, and the positions of parts skipped if one less is allowed."""

    media_type: str
    data: bytes
    links: int
    without_links: str
    depth: int
    without_depth: tuple[str, ...]


MESSAGE: Final = b"Subject: s\nContent-Type: text/html\n\n"
CASES: Final = {
    "a feed": Case(
        "application/xml",
        b"<feed xmlns='http://www.w3.org/2005/Atom'>\n<link href='x'/><content type='html'>&lt;a href=x>&lt;a href=x></content></feed>",
        4, "f:2:38", 1, ("f:2:38",),
    ),
    "a message in a multipart": Case(
        "message/rfc822",
        b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/html\n\n<a href=x>\n"
        b"--B\nContent-Type: message/rfc822\n\n" + MESSAGE + LINK * 2 + b"\n--B--\n",
        8, "f:8:1", 3, ("f:13:1",),
    ),
    "a mailbox": Case(
        "application/mbox",
        b"From a@b Thu Jan  1 00:00:00 1970\n%b\n\nFrom a@b Thu Jan  1 00:00:00 1970\n%b\n" % (MESSAGE + LINK, MESSAGE + LINK * 2),
        7, "f:8:1", 2, ("f:5:1", "f:11:1"),
    ),
    "a response": Case("message/http", response(LINK * 2), 4, "f:6:1", 1, ("f:6:1",)),
    "a compressed response": Case(
        "message/http",
        response(gzip.compress(LINK * 2, mtime=0), b"Content-Encoding: gzip\r\n"),
        4, "f:7:1", 1, ("f:7:1",),
    ),
    "an archive": Case("application/warc", record(response(LINK)) + record(response(LINK * 2)), 9, "byte 317", 2, ("byte 190", "byte 394")),
    "a compressed archive": Case(
        "application/warc",
        gzip.compress(record(response(LINK)), mtime=0) + gzip.compress(record(response(LINK * 2)), mtime=0),
        11, "byte 162", 2, ("byte 0", "byte 162"),
    ),
}


def made(case: Case, **limits: int) -> tuple[int, list[str]]:
    """Return the number of absolute links after the rewrite, and code and position of each diagnostic."""
    document = Document(case.data, name="f", media_type=case.media_type, url="http://h/")
    entity = walk(document, Settings(**limits))  # type: ignore[arg-type]
    after = Document(rewriter.rewrite(entity), media_type=case.media_type)
    absolute = sum(row.reference == "http://h/x" for row in absolve.links(after))
    return absolute, [f"{diagnostic.code} {place(diagnostic)}" for diagnostic in entity.diagnostics]


def place(diagnostic: absolve.Diagnostic) -> str:
    """Return the byte offset in an archive, else line and column."""
    return diagnostic.text[diagnostic.text.rindex("byte") :] if diagnostic.line is None else f"{diagnostic.name}:{diagnostic.line}:{diagnostic.column}"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_link_or_level_too_many_leaves_only_the_inner_document(case: Case) -> None:
    absolute, reported = made(case)
    assert (absolute, reported) == (5 if case.media_type == "application/warc" else 3, [])
    assert made(case, max_links=case.links, max_depth=case.depth) == (absolute, [])
    fewer = 2 if case.media_type == "application/warc" else 1
    assert made(case, max_links=case.links - 1) == (fewer, [f"too-many-links {case.without_links}"])
    left, reported = made(case, max_depth=case.depth - 1)
    assert reported == [f"too-deep {where}" for where in case.without_depth]
    assert left < absolute


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_size_limit_applies_before_and_after_the_rewrite(case: Case) -> None:
    after = absolve.rewrite(case.data, media_type=case.media_type, url="http://h/")
    most = max(len(case.data), len(after), 300)  # compressed documents are shorter
    assert absolve.rewrite(case.data, media_type=case.media_type, url="http://h/", max_size=most) == after
    for fewer in (len(case.data) - 1, len(after) - 1):
        with pytest.raises(absolve.DocumentError, match="too-large"):
            absolve.rewrite(case.data, media_type=case.media_type, url="http://h/", max_size=fewer)


@pytest.mark.parametrize(
    ("name", "most", "where"),
    [("a compressed response", 20, ["f:7:1"]), ("an archive", 210, ["byte 204"]), ("a compressed archive", 214, ["byte 162"])],
)
def test_decompressed_data_and_records_have_a_size_limit(name: str, most: int, where: list[str]) -> None:
    case = CASES[name]
    assert made(case, max_decompressed=most) == made(case)
    absolute, reported = made(case, max_decompressed=most - 1)
    assert reported == [f"too-large {place}" for place in where]
    assert 0 < absolute < made(case)[0]
