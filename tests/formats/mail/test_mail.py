"""Messages: which bodies are read, with which base, and that nothing else changes."""

import gzip
import time
from itertools import product
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory.columns import Row

URL = "http://h.example/d/p"
LINK = b'<a href="x">x</a>'
DONE = b'<a href="http://h.example/d/x">x</a>'


def rewritten(data: bytes, media_type: str = "message/rfc822", **options: Any) -> bytes:
    done = absolve.rewrite(data, media_type=media_type, url=URL, **options)
    assert absolve.rewrite(done, media_type=media_type, url=URL, **options) is done
    return done


def rows(data: bytes, media_type: str = "message/rfc822") -> list[Row]:
    return list(absolve.links(data, media_type=media_type, url=URL))


def codes(data: bytes, media_type: str = "message/rfc822", **settings: Any) -> list[tuple[str, int | None, bool]]:
    entity = walk(Document(data, media_type=media_type, url=URL), Settings(**settings))
    return [(one.code, one.line, one.failed) for one in entity.diagnostics]


def html(body: bytes = LINK, header: bytes = b"") -> bytes:
    return b"Content-Type: text/html\n" + header + b"\n" + body


def multipart(*parts: bytes) -> bytes:
    return b"Content-Type: multipart/mixed; boundary=B\n" + b"".join(b"\n--B\n" + part for part in parts) + b"\n--B--\n"


def test_the_length_and_the_parameters_of_a_content_type_are_limited() -> None:
    for begin in (b"text/html; a=", b"text/html;\r\n a=", b'text/html; a="'):
        most = begin + b"b" * (8_192 - len(begin.replace(b"\r\n", b"")))
        assert codes(b"Content-Type: " + most + b"\n\n" + LINK) == []
        header = b"Content-Location: y\nContent-Type: " + most + b"b\n\n"
        assert codes(header + LINK) == [("long-field", header.count(b"\n") + 1, True)]
        assert rewritten(header + LINK) == header.replace(b"y\n", b"http://h.example/d/y\n", 1) + LINK
    most = b"Content-Type: text/html" + b";a=b" * 256
    assert codes(most + b"\n\n" + LINK) == []
    assert codes(most + b";\n\n" + LINK) == [("long-field", 3, True)]


MAIL = html(b"<a href=3D%b=\n>x</a>", b"Content-Transfer-Encoding: quoted-printable\n")
OLD, NEW = (MAIL % link for link in (b'"x"', b'"http://h.example/d/x"'))
BOXES = [b"From a@h 10:00\n" + one + b"\nFrom b@h 10:00\n" + one for one in (OLD, NEW)]


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), BOXES])
def test_mail_in_gzip_is_compressed_again(old: bytes, new: bytes) -> None:
    raw = gzip.compress(old[:20], mtime=7) + gzip.compress(old[20:])
    done = absolve.rewrite(raw, url=URL)
    assert gzip.decompress(done) == new
    assert done == absolve.rewrite(raw, name="x.gz", url=URL) == absolve.rewrite(raw, name="y", url=URL)
    assert absolve.rewrite(done, url=URL) is done
    step = "" if old.startswith(b"From") else "message[1]/"
    assert [row.entity for row in absolve.links(raw, url=URL)] == [step + row.entity for row in absolve.links(old, url=URL)]


def test_gzip_that_is_too_large_or_broken_stays_and_is_an_error() -> None:
    raw = gzip.compress(BOXES[0])
    assert codes(raw, "application/mbox+gzip", max_decompressed=99) == [("too-large", 1, True)]
    assert codes(raw[:-9], "application/mbox+gzip") == [("truncated", 1, True)]
    with pytest.raises(absolve.DocumentError, match="message or mailbox in this gzip"):
        codes(gzip.compress(b"text"), "application/mbox+gzip")


def test_of_many_lengths_of_a_message_the_first_ones_are_written_again() -> None:
    size, new_size = (len(one.partition(b"\n\n")[2]) for one in (OLD, NEW))
    data = b"From a@h 10:00\n" + b"Content-Length: %d\n" % size * 20 + OLD
    done = rewritten(data, "application/mbox")
    assert (done.count(b"Length: %d\n" % size), done.count(b"Length: %d\n" % new_size)) == (12, 8)
    assert absolve.verify(data, done, media_type="application/mbox", url=URL) == []


def test_an_empty_file_is_a_mailbox_without_messages() -> None:
    for name, data in product(("Trash.mbox", "Out.mbx"), (b"", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf")):
        assert absolve.rewrite(data, name=name, url=URL) is data
        assert [*codes(data, "application/mbox"), *absolve.verify(data, data, name=name)] == []
        assert list(absolve.mirror_plan([Document(data, name=name)])) == []


def test_thousands_of_parts_and_messages_are_counted() -> None:
    parts = multipart(*([html(b"")] * 3_000), html())
    assert [row.entity for row in rows(parts)] == ["part[3001]/body[1]"]
    messages = b"From a 10:00\n\n\n" * 3_000 + b"From a 10:00\n" + html()
    assert [row.entity for row in rows(messages, "application/mbox")] == ["message[3001]/body[1]"]
    with pytest.raises(absolve.DocumentError, match="more than 9 links"):
        codes(parts, max_links=9)


def test_multiparts_are_read_to_the_allowed_depth() -> None:
    heads = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth) for depth in range(10_000)]
    data = b"".join(heads) + html()
    began = time.process_time()
    assert rewritten(data) is data
    assert "too-deep" in {code for code, _, _ in codes(data)}
    assert time.process_time() - began < 10
    few = b"".join(heads[:20]) + html()
    assert rewritten(few) == few.replace(LINK, DONE)
