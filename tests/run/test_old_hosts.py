"""After a remap the mentions of the old host that are left are counted, in links, scripts, text and files not read."""

import base64
import io
import zipfile
from collections.abc import Sequence

import pytest

import absolve
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.rewriting.remap import Remapping
from absolve.run.change_log import hosts_left
from absolve.run.results import HostsLeft

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
