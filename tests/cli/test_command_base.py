"""`absolve base`: the nested boxes of RFC 1808 section 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_runner import FIXTURES, Runner

from absolve.core.model import VERDICTS

if TYPE_CHECKING:
    from pathlib import Path

BOXES = r"""
.---------------------------------------------------------------------------------------.
|  .---------------------------------------------------------------------------------.  |
|  |  .---------------------------------------------------------------------------.  |  |
|  |  |  .---------------------------------------------------------------------.  |  |  |
|  |  |  |  (3.1) Base URL embedded in the document's content                  |  |  |  |
|  |  |  |        base element, line 6: /journal/                              |  |  |  |
|  |  |  |        resolved: http://example.com/journal/                        |  |  |  |
|  |  |  |        => rules the links                                           |  |  |  |
|  |  |  `---------------------------------------------------------------------'  |  |  |
|  |  |  (3.2) Base URL of the encapsulating entity (message, document, or none)  |  |  |
|  |  |        none                                                               |  |  |
|  |  `---------------------------------------------------------------------------'  |  |
|  |  (3.3) URL used to retrieve the entity                                          |  |
|  |        saved from url comment, line 2: http://example.com/journal/2009/07.htm   |  |
|  |        -- an inner claim was resolved against it                                |  |
|  `---------------------------------------------------------------------------------'  |
|  (3.4) Base URL = "" (undefined)                                                      |
`---------------------------------------------------------------------------------------'
""".strip().splitlines()


def test_base_draws_the_boxes_of_the_rfc(absolve: Runner) -> None:
    path = FIXTURES / "saved-page.html"
    done = absolve("base", path)
    assert done.lines == [
        str(path),
        *BOXES,
        "base URL: http://example.com/journal/ (embedded: base element, line 6)",
        "document's own URL: http://example.com/journal/2009/07.htm (retrieval: saved from url comment, line 2)",
    ]
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("default", "base URL: none: relative links are left unchanged"),
        ("embedded", "base URL: http://example.com/embedded/ (embedded: base element, line 4)"),
        ("retrieval", "base URL: http://example.com/retrieval/saved.html?1 (retrieval: saved from url comment, line 2)"),
    ],
)
def test_base_names_the_layer_that_gives_the_base(absolve: Runner, name: str, message: str) -> None:
    lines = absolve("base", FIXTURES / f"{name}.html").lines
    assert message in lines
    assert sum("=>" in line for line in lines) == 1


def test_base_with_all_shows_inner_documents(absolve: Runner) -> None:
    path = FIXTURES / "encapsulating.html"
    lines = absolve("base", path, "--all").lines
    assert lines[: len(lines) // 2][0] == str(path)
    assert f"{path} srcdoc[1]" in lines
    assert lines[-1] == "base URL: http://example.com/outer/ (encapsulating: srcdoc (base element, line 3))"


def test_base_with_all_shows_inner_documents_in_other_charsets(absolve: Runner) -> None:
    page = "<base href=http://h/><iframe srcdoc='<a href=x>'></iframe>".encode("utf-16")
    assert absolve("base", "-", "--all", stdin=page).out.count(b"base URL: http://h/") == 2


def test_base_shows_every_claim_with_its_outcome(absolve: Runner) -> None:
    page = b"<!-- saved from url=(0009)http://s/ -->\n<base href='javascript:x'>"
    done = absolve("base", "-", "--url", "http://u/", stdin=page)
    text = done.out.decode()
    for message in ("line 2: javascript:x", "--url: http://u/", "line 1: http://s/"):
        assert message in text
    for verdict in ("unsuitable", "won", "ignored"):
        assert VERDICTS[verdict] in text
    assert "-:2: unsuitable-base: " in done.err


def test_a_long_url_is_shortened_in_the_box_and_complete_below(absolve: Runner) -> None:
    url = "http://h/" + "x" * 500
    lines = absolve("base", "-", "--url", url).lines
    assert max(map(len, lines[1:-1])) < 120
    assert url in lines[-1]


def test_control_characters_of_a_page_are_escaped_in_boxes(absolve: Runner) -> None:
    done = absolve("base", "-", stdin=b"<base href='http://h/\x1b[31m\x07'>")
    assert b"\x1b" not in done.out
    assert b"\\x1b[31m\\x07" in done.out


def test_wide_characters_keep_the_boxes_straight(absolve: Runner) -> None:
    lines = absolve("base", "-", "--url", "http://h/日本/").lines[1:-1]
    wide = [line for line in lines if "日本" in line]
    assert {len(line) + 2 * (line in wide) for line in lines} == {len(lines[0])}


def test_boxes_have_colours_only_on_terminals(
    absolve: Runner, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"\x1b" not in absolve("base", page).out
    monkeypatch.setattr("absolve.cli.base.colours", lambda _: True)
    lines = absolve("base", page).lines
    painted = next(line for line in lines if "=>" in line)
    assert "\x1b[32m=> rules the links\x1b[0m" in painted
    assert len(painted) - len("\x1b[32m\x1b[0m") == len(lines[1])
