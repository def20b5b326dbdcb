"""README.md: its examples run and print the output that it shows."""

from pathlib import Path
from typing import Final

import pytest

import absolve
from tests.shown_examples import blocks, run_page

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text("utf-8")


def test_the_first_readme_block_is_rewritten_to_the_second() -> None:
    before, after = (block.text for block in blocks(README) if block.language == "html")
    assert absolve.rewrite(before) == after


def test_every_block_of_readme_runs_and_prints_the_shown_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / "README.md", tmp_path) == 6
