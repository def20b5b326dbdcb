"""Five nested documents: a link in a style attribute in a srcdoc in quoted-printable HTML in a multipart in a message in
a gzipped HTTP body in a WARC record. No code is specific to this combination; the layers of RFC 1808 section 3 suffice.
"""

import base64
import email
import gzip
import hashlib
import io
import json
import quopri
from pathlib import Path

import html5lib
import pytest
from fastwarc.warc import ArchiveIterator

import absolve
from absolve.cli import main

URL = "http://w.example/mail/box/m.eml"
STYLE = "background: url(i/paper.png)"
SRCDOC = f'<p style="{STYLE}">{"words " * 20}</p><a href="next?a=1&amp;b=2">next</a>'
PAGE = f"""<!DOCTYPE html><base href="images/">
<iframe srcdoc="{SRCDOC.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")}"></iframe>
<p>é and = and a line that is long enough to need a soft break, whatever becomes of the links that stand in it</p>
"""
MESSAGE = b"""\
From: somebody@w.example
Base: <URL:../archive/>
MIME-Version: 1.0
Content-Type: multipart/related; boundary="b"

preamble
--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable
Content-Location: pages/p.html

%b
--b
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--b--
epilogue
"""
TARGET = "http://w.example/mail/archive/pages/images/i/paper.png"
NEXT = "http://w.example/mail/archive/pages/images/next?a=1&b=2"


def sha1(data: bytes) -> bytes:
    return b"sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest())


def archive() -> bytes:
    message = (MESSAGE % quopri.encodestring(PAGE.encode())).replace(b"\n", b"\r\n")
    body = gzip.compress(message, mtime=0)
    head = (b"HTTP/1.1 200 OK\r\nContent-Type: message/rfc822\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body))
    fields = [
        b"WARC/1.1", b"WARC-Type: response", b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000025>",
        b"WARC-Date: 2024-01-01T00:00:00Z", b"WARC-Target-URI: " + URL.encode(), b"WARC-Block-Digest: " + sha1(head + body),
        b"WARC-Payload-Digest: " + sha1(body), b"Content-Type: application/http; msgtype=response",
        b"Content-Length: %d" % len(head + body),
    ]
    return gzip.compress(b"\r\n".join(fields) + b"\r\n\r\n" + head + body + b"\r\n\r\n", mtime=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the archive as a file."""
    found = tmp_path / "x.warc.gz"
    found.write_bytes(archive())
    return found


def message_in(data: bytes) -> bytes:
    """Return the message as fastwarc reads it, which checks lengths and digests."""
    records = ArchiveIterator(io.BytesIO(data), parse_http=False, verify_digests=False)
    for record in records:
        assert record.verify_block_digest()
        record.parse_http()
        assert record.verify_payload_digest()
        body = record.reader.read()
        assert len(body) == int(record.http_headers["Content-Length"])
        message = gzip.decompress(body)
    assert sum(1 for _ in ArchiveIterator(io.BytesIO(data))) == 1
    return message


def page_in(message: bytes) -> str:
    parts = email.message_from_bytes(message).walk()
    part = next(part for part in parts if part.get_content_type() == "text/html")
    body = part.get_payload(decode=True)
    assert isinstance(body, bytes)
    return body.decode()


def attribute(page: str, element: str, name: str) -> str:
    found = html5lib.parse(page, namespaceHTMLElements=False).find(f".//{element}")
    assert found is not None
    return found.attrib[name]


def test_a_nested_archive_without_changes_is_unchanged_and_a_second_rewrite_changes_nothing() -> None:
    data = archive()
    assert absolve.rewrite(data, name="x.warc.gz", policy=lambda _: None) is data
    new = absolve.rewrite(data, name="x.warc.gz")
    assert absolve.rewrite(new, name="x.warc.gz") is new
    assert absolve.verify(data, new, name="x.warc.gz") == []


def test_links_are_resolved_through_every_layer() -> None:
    rows = {row.reference: row for row in absolve.links(archive(), name="x.warc.gz")}
    assert rows["i/paper.png"].target == TARGET
    assert rows["next?a=1&b=2"].target == NEXT
    for reference in ("i/paper.png", "next?a=1&b=2"):
        assert rows[reference].base_layer == "encapsulating"
        steps = [step.partition("[")[0] for step in rows[reference].entity.split("/")]
        assert steps == ["record", "body", "part", "body", "srcdoc"]


def test_base_shows_the_chain_of_nested_bases(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["base", str(path), "-f", "json"]) == 0
    (archive_,) = json.loads(capsys.readouterr().out)
    *_, innermost = archive_["documents"]
    assert innermost["entity"].endswith("/srcdoc[1]")
    references = [claim["reference"] for claim in innermost["claims"]]
    assert [one for one in references if ":" not in one] == ["images/", "pages/p.html", "../archive/"]
    assert references[-1] == URL
    assert (innermost["base"], innermost["layer"]) == ("http://w.example/mail/archive/pages/images/", "encapsulating")


def test_fastwarc_and_email_read_the_rewrite_and_only_links_differ(path: Path) -> None:
    assert main(["rewrite", str(path), "--in-place", "--verify"]) == 0
    new = path.read_bytes()
    old_message, message = message_in(archive()), message_in(new)
    page = page_in(message)
    srcdoc = attribute(page, "iframe", "srcdoc")
    assert attribute(srcdoc, "p", "style") == STYLE.replace("i/paper.png", TARGET)
    assert attribute(srcdoc, "a", "href") == NEXT
    expected = page_in(old_message).replace("i/paper.png", TARGET).replace("next?", NEXT.partition("?")[0] + "?")
    absolute = 'href="http://w.example/mail/archive/pages/images/"'
    assert page == expected.replace('href="images/"', absolute)
    without_pages = [quopri_free(one) for one in (old_message, message)]
    assert without_pages[1] == without_pages[0].replace(
        b"<URL:../archive/>", b"<URL:http://w.example/mail/archive/>"
    ).replace(b"Location: pages", b"Location: http://w.example/mail/archive/pages")


def quopri_free(message: bytes) -> bytes:
    """Return a message without its quoted-printable part."""
    before, _, rest = message.partition(b"<!DOCTYPE")
    return before + rest[rest.index(b"--b") :]
