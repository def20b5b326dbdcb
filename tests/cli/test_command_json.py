"""`-f json`: each command that answers something has one JSON value on the standard output."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from command_runner import PAGE, Runner

from absolve.cli.parsing import parser

# By command: its arguments, and an item of what it answers.
ANSWERS: Final[list[tuple[str, list[str], Any]]] = [
    ("links", ["page.html", "--columns", "line,target"], [{"line": 2, "target": "http://h/d/x.html?a&b"}, {"line": 3, "target": "http://g/"}]),
    ("documents", ["page.html", "--columns", "document,links"], [{"document": "page.html", "links": 2}]),
    ("base", ["page.html"], "http://h/d/p.html"),
    ("rewrite", ["page.html", "site", "--dry-run"], [{"document": "page.html", "links": 2, "changed": 1}, {"document": "site/a.html", "links": 1, "changed": 0}]),
    ("verify", ["page.html", "site/a.html"], "bytes"),
    ("mirror", ["page.html", "--dry-run"], [{"url": "http://h/d/p.html", "path": "h/d/p.html"}]),
    ("mirror", ["--check", "site"], "dead"),
    ("audit", ["site", "--url", "http://h/"], "broken"),
    ("audit", ["site", "--url", "http://h/", "--sql", "SELECT verdict, count(*) AS number FROM links GROUP BY ALL"], [{"verdict": "broken", "number": 1}]),
    ("resolve", ["--profile", "whatwg", "http://a/b", "c", "//[/"], [{"reference": "c", "base": "http://a/b", "target": "http://a/c"}, {"reference": "//[/", "base": "http://a/b", "target": None}]),
    ("config", ["resolve"], "'set_by': 'default'"),
]  # fmt: skip
PLAIN: Final = {"completion", "help"}  # texts for a shell and for people


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABSOLVE_CONFIG", raising=False)
    Path("site").mkdir()
    Path("page.html").write_bytes(PAGE)
    Path("site/a.html").write_bytes(b"<a href=gone.html>x</a>")


def test_each_command_that_answers_something_is_tried() -> None:
    assert {command for command, _, _ in ANSWERS} == set(parser().commands) - PLAIN - {"check"}


@pytest.mark.parametrize(("command", "arguments", "expected"), ANSWERS, ids=[" ".join([row[0], *row[1][:2]]) for row in ANSWERS])
def test_an_answer_is_one_value_with_the_names_of_columns(absolve: Runner, command: str, arguments: list[str], expected: Any) -> None:
    done = absolve(command, *arguments, "-f", "json")
    found = json.loads(done.out)
    if isinstance(expected, str):
        assert expected in str(found), (found, done.err)
    else:
        assert found == expected


def test_an_empty_answer_is_an_empty_array(absolve: Runner) -> None:
    absolve("rewrite", "page.html", "-o", "new.html")
    done = absolve("verify", "page.html", "new.html", "-f", "json")
    assert (done.status, json.loads(done.out)) == (0, [])


def test_no_answer_has_a_password(absolve: Runner) -> None:
    arguments = ("resolve", "http://a/b", "http://u:secret@h/", "-f", "json")
    assert json.loads(absolve(*arguments).out)[0]["target"] == "http://***@h/"
