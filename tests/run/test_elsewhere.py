"""Diagnostics of a rewrite: links that lead elsewhere in a browser or climb above the root, and mentions of the old host after a remap."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import absolve
from absolve import Policy
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.resolved import Resolved
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.rewriting.policy import absolute
from absolve.rewriting.remap import Remapping
from absolve.run.change_log import hosts_left
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions
from absolve.run.plan import Job, RewriteOptions
from absolve.run.results import HostsLeft
from absolve.run.rewrite_task import rewritten

URL = "http://h/d/p.html"


def asked(resolved: Resolved) -> str | None:
    """Decide as `absolute`, by the way of any policy."""
    return absolute(resolved)


def texts(path: Path, page: bytes, profile: str, policy: Policy = absolute) -> list[str]:
    path.write_bytes(page)
    how = RewriteOptions(ReadOptions(Settings(profile=profile)), policy)
    found = [one for one in rewritten(how, Job(Input(str(path), path.name, URL))) if isinstance(one, Diagnostic)]
    return [f"{one.code}: {one.text}" for one in found if one.code in {"divergent", "above-root"}]


WITHOUT = [
    b"", b"<a href=x><a href=../y><a href='http://g/../z'>", b"<p>C:\\x\\y</p><script>a = '\\n'</script><a href=x>", b"<p>http:x is no link</p>",
    b"<a href=mailto:a><a href=javascript:'\\x'>",
]  # fmt: skip
ONE, TWO = "divergent: 1 link leads elsewhere in a browser", "divergent: 2 links lead elsewhere in a browser"
ABOVE = "above-root: 1 link climbs above the root, and keeps /../"
COUNTED = {
    b"<a href=http:x>": [ONE], b"<a href='\\x'><a href=http:y>": [TWO], b"<iframe srcdoc='&lt;a href=http:x>'>": [ONE],
    b"<a href=HTTP:x&amp;y>": [ONE], b"<a href=../../x>": [ABOVE], b"<a href=../../x><a href=http:y><a href=z>": [ONE, ABOVE],
    b"<a href=../../x><a href=../../y>": ["above-root: 2 links climb above the root, and keep /../"],
}  # fmt: skip


def test_links_that_lead_elsewhere_are_counted(tmp_path: Path) -> None:
    for page, profile in ((page, profile) for page in WITHOUT for profile in ("rfc1808", "rfc3986", "whatwg")):
        assert texts(tmp_path / "p.html", page, profile) == []
    for page, expected in COUNTED.items():
        for policy in (absolute, asked):
            assert texts(tmp_path / "p.html", page, "rfc1808", policy) == expected
    page = b"<a href=../../x><a href=http:y>"  # other profiles keep no dots above the root
    assert (texts(tmp_path / "p.html", page, "rfc3986"), texts(tmp_path / "p.html", page, "whatwg")) == ([ONE], [])
    assert texts(tmp_path / "p.html", b"<a href=../../x>", "rfc1808", lambda _: None) == []  # a policy that keeps it


# --- after a remap the mentions of the old host that are left are counted ---------------------------------------------

RULES = [("http://old.example", "https://new.example"), ("http://new.example/x", "https://new.example/y")]
PAGE = b"""<a href=http://old.example/a>old.example</a><!-- OLD.example --><a href=https://old.example/>x</a>
<script>u = "https:\\/\\/old.example\\/", v = "\\u002f\\u002Fold.example"</script><a href="http://s.example/?u=http%3A%2F%2Fold.example">
<p>www.old.example old.example.org me@old.example bold.example</p>"""
KINDS = {"text": 1, "comment": 1, "attribute": 2, "script": 2}


def left(data: bytes, media_type: str, rules: Sequence[tuple[str, ...]] = RULES) -> list[dict[str, int]]:
    policy = Remapping(rules).policy
    document = Document(data, name="p", media_type=media_type)
    new = absolve.rewrite(data, policy=policy, media_type=media_type)
    found = hosts_left(policy, walk(document, Settings(), for_rewrite=True), new)
    return [piece.kinds for piece in found if isinstance(piece, HostsLeft)]


def test_mentions_that_are_left_are_counted_by_kind() -> None:
    assert left(PAGE, "text/html") == [KINDS]
    assert left(PAGE.decode().encode("utf-16"), "text/html;charset=utf-16") == [KINDS]
    assert left(b'<a href="http://old.example/">', "text/html") == []
    port = [("http://old.example:8080", "https://new.example")]
    assert left(b"<a href=//s/?u=http%3A%2F%2Fold.example%3A8080%2F>http://old.example/", "text/html", port) == [{"attribute": 1}]


def test_documents_whose_coding_hides_them_count_as_they_are_after_the_rewrite() -> None:
    mail = b"MIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    assert left(mail + base64.encodebytes(PAGE), "message/rfc822") == [KINDS]
    with zipfile.ZipFile(book := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("a.xhtml", b"<p xmlns='http://www.w3.org/1999/xhtml'><a href='http://old.example/'>old.example</a></p>")
    assert left(book.getvalue(), "application/epub+zip") == [{"text": 1}]


@pytest.mark.parametrize(
    "rules", [[("http://old.example/a", "http://old.example/b")], [("//old.example", "//x/{target}")], [("x", "http://y/", "regex")]]
)  # fmt: skip
def test_rules_that_leave_no_host_look_for_nothing(rules: list[tuple[str, ...]]) -> None:
    assert left(PAGE, "text/html", rules) == []


def test_lines_are_those_of_the_first_mention() -> None:
    policy = Remapping(RULES).policy
    entity = walk(Document(b"\n\n<p>old.example", name="p", media_type="text/html"), Settings())
    found = [piece for piece in hosts_left(policy, entity, entity.data) if isinstance(piece, Diagnostic)]
    assert [str(one) for one in found] == ["p:3: old-host: it still names old.example: 1 time"]


def test_many_mentions_take_linear_time() -> None:
    assert left(b"<p>old.example<!--" * 20_000, "text/html")[0].keys() == {"text", "comment"}
