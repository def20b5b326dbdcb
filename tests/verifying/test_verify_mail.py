"""Verification of the rewrites of messages, mailboxes and JSON."""

import gzip
import random

import pytest

import absolve

URL = "http://h.example/d/p"
MESSAGE = b"""Content-Base: b/
Link: <l>; rel=next
Subject: s
Content-Type: multipart/mixed; boundary=B

preamble
--B
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable
Content-Location: <URL: c/
 p.html>

<p title=3D"x">=C3=A9 <a href=3D"x.html">a</a></p> =20
--B
Content-Type: text/css
Content-Transfer-Encoding: base64

YXtiOnVybCh4KX0=
--B
Content-Type: message/rfc822

Subject: inside

text
--B--
epilogue
"""
MANIFEST = b"""{"name": "x.html", "start_url": " ../?a=1 ", "display": "standalone", "n": [1, 1.5, true, null],
  "icons": [{"src": "a\\/b.png", "sizes": "1x1"}, {"src": "http://h.example/c.png"}],
  "share_target": {"action": "s", "s": "s"}}
"""
JSON = "application/manifest+json"


def codes(before: bytes, after: bytes, media_type: str = "message/rfc822") -> set[str]:
    return {diagnostic.code for diagnostic in absolve.verify(before, after, media_type=media_type, url=URL, json_ld=True)}


def rewritten(before: bytes, media_type: str = "message/rfc822") -> bytes:
    """Return a rewrite in which no difference is found."""
    after = absolve.rewrite(before, media_type=media_type, url=URL)
    assert after != before
    assert codes(before, after, media_type) == set()
    return after


def test_verify_accepts_a_correct_rewrite_of_a_message() -> None:
    place = b"<URL: c/\n p.html>"
    for written in (b"<URL: c\xc3\xa9/\n p.html>", b"=?utf-8?q?=C3=A9?= =?iso-8859-1?q?/=E9?=", b"\xe9/=?utf-8?q?=C3=A9?="):
        rewritten(MESSAGE.replace(place, written))
    rewritten(MESSAGE.replace(b"\n", b"\r\n"))
    rewritten(MESSAGE.replace(b"b/", b"http://\xc3\xa9/", 1))
    assert rewritten(MANIFEST, JSON).count(b"http://h.example/") == 4


BOX = b"From a@h 10:00\n" + MESSAGE + b"From here on text\n\nFrom b@h 10:00\n" + MESSAGE
LIST = b'<?xml version="1.0"?>\n<plist/>\n'
FILES = [
    ("application/mbox+gzip", gzip.compress(MESSAGE)), ("application/mbox", BOX), ("application/mbox", BOX.replace(b"\n", b"\r")),
    ("application/mbox+gzip", gzip.compress(BOX[:500]) + gzip.compress(BOX[500:])),
    ("message/x-emlx", b"%-10d\n" % len(MESSAGE) + MESSAGE + LIST),
]


@pytest.mark.parametrize(("media_type", "before"), FILES)
def test_verify_reads_the_files_of_mail_programs(media_type: str, before: bytes) -> None:
    after = rewritten(before, media_type)
    text = gzip.decompress(after) if after.startswith(b"\x1f\x8b") else after
    for one, other in ((b"preamble", b"Preamble"), (b"epilogue", b"epilogue "), (b"Subject: s", b"Subject: t")):
        bad = text.replace(one, other, 1)
        assert codes(before, gzip.compress(bad) if text is not after else bad, media_type)
    if media_type == "message/x-emlx":
        size = len(after.partition(b"\n")[2]) - len(LIST)
        assert after.startswith(b"%-10d\n" % size)
        for bad in (after.replace(b"<plist/>", b"<plist />"), after.replace(b"%d" % size, b"%d" % (size - 1))):
            assert codes(before, bad, media_type)


def test_verify_accepts_new_soft_line_breaks_only_in_lines_that_grow() -> None:
    head = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
    before = head + b'line\n<a href=3D"x">' + b"a long text " * 5 + b"</a> and so on\nline\n"
    after = rewritten(before)
    assert after.count(b"=\n") == 1
    assert codes(before, after.replace(b"\nline\n", b"\nli=\nne\n")) == codes(before, after + b"=\n") == {"bytes"}


CHANGES = [
    (b"Subject: s", b"Subject: t"), (b"Link: <http://h.example/d/b/l>", b"Link: <http://h.example/d/b/m>"), (b"preamble", b"Preamble"),
    (b"epilogue", b"Epilogue"), (b"text\n", b"test\n"), (b'=3D"x">', b'=3D"y">'), (b"=C3=A9", b"=C3=A8"), (b"x.html", b"y.html"),
    (b"--B\nContent-Type: message", b"\nContent-Type: message"), (b"Content-Type: text/css", b"Content-Type: text/csv"),
]
CHANGES_OF_JSON = [
    (b'"x.html"', b'"http://h.example/d/x.html"', "target"), (b'"name"', b'"Name"', "tree"), (b'"s": "s"', b'"s": "t"', "target"),
    (b"[1, ", b"[1.0, ", "tree"), (b"true", b"false", "tree"), (b", null", b"", "tree"), (b"{", b"", "unjudged"),
]


def test_verify_finds_any_other_change() -> None:
    after, manifest = rewritten(MESSAGE), rewritten(MANIFEST, JSON)
    for old, new in CHANGES:
        assert old in after
        assert codes(MESSAGE, after.replace(old, new)), old
    for old, new, code in CHANGES_OF_JSON:
        assert old in manifest
        found = absolve.verify(MANIFEST, manifest.replace(old, new, 1), media_type=JSON, url=URL)
        assert code in {one.code for one in found if one.text.startswith("json")}, old


def test_verify_expects_signed_parts_to_stay() -> None:
    before = b"DKIM-Signature: x\nContent-Type: text/html\n\n<a href=x>"
    assert codes(before, before) == set()
    changed = before.replace(b"href=x", b"href=http://h.example/d/x")
    assert "target" in {diagnostic.code for diagnostic in absolve.verify(before, changed, url=URL, policy=lambda _: None)}


def test_verify_finds_each_of_100_corruptions() -> None:
    after, manifest = rewritten(MESSAGE), rewritten(MANIFEST, JSON)
    missed = []
    for seed in range(100):
        dice = random.Random(seed)  # noqa: S311 - a fixed seed
        at = dice.randrange(len(after))
        end = dice.choice([at + 1, after.find(b"\n", at) + 1, len(after)])  # a byte, the rest of a line, all the rest
        bad = after[:at] + dice.choice([b"", bytes([after[at] ^ 0x20])]) + after[end:]
        before, boxed = (b"From a b 10:00\n" + data + b"\nFrom c d 10:00\n" + MESSAGE for data in (MESSAGE, bad))
        missed += [] if codes(MESSAGE, bad) and codes(before, boxed, "application/mbox") else [bad]
        at = dice.randrange(len(manifest))
        bad = manifest[:at] + dice.choice([b"", bytes([dice.randrange(256)]), b'"', b"x/"]) + manifest[at + 1 :]
        missed += [] if bad == manifest or codes(MANIFEST, bad, JSON) else [bad]
    assert missed == []


@pytest.mark.parametrize("container", [b"", b"From a@h Mon Jan  6 10:00:00 2020\n"])
def test_a_link_that_loses_its_part_of_the_message_is_a_difference(container: bytes) -> None:
    message = container + (
        b"Content-Type: multipart/related; boundary=B\n\n--B\nContent-Type: text/html\n\n<img src=i.png>\n"
        b"--B\nContent-Type: image/png\nContent-Location: i.png\n\n--B--\n"
    )
    for changed in (b"Location: ", b"src="):
        after = message.replace(changed, changed + b"http://h.example/d/")
        found = absolve.verify(message, after, media_type="application/mbox" if container else "message/rfc822", url=URL)
        assert any("led to a part of the message" in difference.text for difference in found)
