"""`absolve base`: the nested boxes of RFC 1808 section 3."""

import json

import pytest
from command_runner import FIXTURES, Runner

from absolve import Document
from absolve.cli.base import layers
from absolve.core.drawing import Screen
from absolve.core.model import VERDICTS
from absolve.core.printable import width
from absolve.document.settings import Settings
from absolve.document.walk import inners, walk

BOXES = r"""
.------------------------------------------------------------------------------.
| .--------------------------------------------------------------------------. |
| | .----------------------------------------------------------------------. | |
| | | .------------------------------------------------------------------. | | |
| | | | (3.1) Base URL embedded in the document's content                | | | |
| | | |       base element, line 6: /journal/                            | | | |
| | | |       resolved: http://example.com/journal/                      | | | |
| | | |       => rules the links                                         | | | |
| | | `------------------------------------------------------------------' | | |
| | | (3.2) Base URL of the encapsulating entity (message, document, or    | | |
| | | none)                                                                | | |
| | |       none                                                           | | |
| | `----------------------------------------------------------------------' | |
| | (3.3) URL used to retrieve the entity                                    | |
| |       saved from url comment, line 2:                                    | |
| |       http://example.com/journal/2009/07.htm                             | |
| |       -- an inner claim was resolved against it                          | |
| `--------------------------------------------------------------------------' |
| (3.4) Base URL = "" (undefined)                                              |
`------------------------------------------------------------------------------'
""".strip().splitlines()


def test_base_draws_the_boxes_of_the_rfc(absolve: Runner) -> None:
    path = FIXTURES / "saved-page.html"
    done = absolve("base", path)
    assert done.lines == [
        str(path),
        *BOXES,
        "base URL: http://example.com/journal/ (embedded: base element, line 6)",
        "document's own URL: http://example.com/journal/2009/07.htm (retrieval: saved from url comment, line 2)",
        "documents in it, with their base URLs:",
        "  srcdoc[1]  http://example.com/journal/ (encapsulating: srcdoc (base element, line 6))",
    ]
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(("name", "message"), [
    ("default", "base URL: none: relative links are left unchanged"),
    ("embedded", "base URL: http://example.com/embedded/ (embedded: base element, line 4)"),
    ("retrieval", "base URL: http://example.com/retrieval/saved.html?1 (retrieval: saved from url comment, line 2)"),
])
def test_base_names_the_layer_that_gives_the_base(absolve: Runner, name: str, message: str) -> None:
    lines = absolve("base", FIXTURES / f"{name}.html").lines
    assert message in lines
    assert sum("=>" in line for line in lines) == 1


def test_base_shows_every_claim_with_its_outcome(absolve: Runner) -> None:
    page = b"<!-- saved from url=(0009)http://s/ -->\n<base href='javascript:x'>"
    done = absolve("base", "-", "--url", "http://u/", stdin=page)
    text = done.out.decode()
    for message in ("line 2: javascript:x", "--url: http://u/", "line 1: http://s/"):
        assert message in text
    for verdict in ("unsuitable", "won", "ignored"):
        assert VERDICTS[verdict] in text
    assert "-:2: unsuitable-base: " in done.err


@pytest.mark.parametrize("columns", [20, 59, 60, 132])
def test_the_drawing_fits_the_screen_and_has_boxes_if_there_is_room(columns: int) -> None:
    page = f"<base href='/{'dir/' * 20}'><iframe srcdoc='<a href=x>'>"
    entity = walk(Document(page.encode(), media_type="text/html", url="http://h.example/日本/" + "x" * 100), Settings())
    for one in (entity, *[inner.entity for inner in inners(entity)]):
        lines = layers(one.bases.base, Screen(columns))
        assert max(map(width, lines)) <= columns
        assert any(line.startswith("| ") for line in lines) == (columns >= 60)
        text = "".join(line.replace("|", "").strip() for line in lines)
        assert "(3.1)" in text
        assert "rulesthelinks" in text.replace(" ", "")


def test_a_container_lists_its_documents_instead_of_boxes(absolve: Runner) -> None:
    path = FIXTURES / "journal.warc"
    assert absolve("base", path).lines == [
        str(path),
        "documents in it, with their base URLs:",
        "  record[1]/body[1]  http://example.com/journal/2009/07.htm (retrieval: WARC-Target-URI)",
    ]


def test_a_container_names_twenty_documents(absolve: Runner) -> None:
    part = b"--b\r\nContent-Type: text/html\r\nContent-Location: http://h/%d\r\n\r\n<a href=x>\r\n"
    head = b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n"
    mail = head + b"".join(part % number for number in range(25)) + b"--b--\r\n"
    lines = absolve("base", "-", "--media-type", "message/rfc822", stdin=mail).lines
    assert sum("http://h/" in line for line in lines) == 20
    assert lines[-1] == "  ... and more (--format json lists every document, with its claims)"
    assert absolve("base", "-", "--media-type", "message/rfc822", stdin=head + b"--b--\r\n").lines[-1] == "  no documents with links of their own"


def test_json_has_every_document_with_its_claims(absolve: Runner) -> None:
    page, archive = json.loads(absolve("base", FIXTURES / "saved-page.html", FIXTURES / "journal.warc", "--format=json").out)
    assert (page["base"], page["layer"]) == ("http://example.com/journal/", "embedded")
    assert page["own"]["url"] == "http://example.com/journal/2009/07.htm"
    assert [(claim["line"], claim["reference"], claim["verdict"]) for claim in page["claims"]] == [
        (6, "/journal/", "won"),
        (2, "http://example.com/journal/2009/07.htm", "resolved against"),
    ]
    assert [one["base"] for one in archive["documents"]] == ["http://example.com/journal/2009/07.htm"]


def test_json_is_an_array_whatever_fails(absolve: Runner) -> None:
    assert json.loads(absolve("base", "no.html", "--format", "json").out) == []
    secret = absolve("base", "-", "--url", "http://user:secret@h/", "--format", "json", stdin=b"<a href=x>")
    assert b"secret" not in secret.out
    assert json.loads(secret.out)[0]["base"] == "http://***@h/"
