"""README shows what absolve does: each of its examples is run here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import absolve
from absolve.cli import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_first_block_becomes_the_second_one() -> None:
    before, after = blocks("html")
    assert absolve.rewrite(before) == after


def test_the_boxes_are_those_that_the_command_draws(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (shown,) = blocks("console")
    command, _, expected = shown.partition("\n")
    monkeypatch.chdir(ROOT)
    assert main(command.removeprefix("$ absolve ").split()) == 0
    assert capsysbinary.readouterr().out.decode().splitlines() == expected.splitlines()


def test_the_python_code_gives_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own
    assert "base element, line 1" in capsys.readouterr().out
    results = re.findall(r"^((?:absolve|lxml\.html)\.\w+\(.*)(?:  |\n)# (.*)$", code, re.MULTILINE)
    assert len(results) == 5
    for expression, said in results:
        value = repr(eval(expression, names))  # noqa: S307 - our own
        assert value.startswith(said.removesuffix(")").removesuffix("...").removesuffix(", "))
