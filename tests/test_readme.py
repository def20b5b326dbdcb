"""README.md: its examples run and print the output that it shows, and its prose is short and plain."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import absolve
from tests.shown_examples import blocks, run_page

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text("utf-8")
LONGEST: Final = 30  # words of a sentence
ODD: Final = re.compile(
    r"\b(?:stand|stands|stood|say|says|said|tell|tells|told|anew|put down|let go|comes? to|so many|is none)\b|(?:^|[.;:,] )what ",
    re.IGNORECASE,
)


def test_the_first_readme_block_is_rewritten_to_the_second() -> None:
    before, after = (block.text for block in blocks(README) if block.language == "html")
    assert absolve.rewrite(before) == after


def test_every_block_of_readme_runs_and_prints_the_shown_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / "README.md", tmp_path) == 6


def sentences() -> Iterator[str]:
    """Yield the sentences of the prose, the cells of tables, and the items of lists."""
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)  # the text of links
    for paragraph in re.split(r"\n\s*\n|^(?:- |\d+\. |#+ )|\|", prose, flags=re.MULTILINE):
        yield from re.split(r"(?<=[.:?!;])\s+", " ".join(paragraph.split()))


def test_readme_has_at_most_150_lines() -> None:
    assert len(README.splitlines()) <= 150


def test_no_sentence_of_readme_has_more_than_30_words() -> None:
    assert [sentence for sentence in sentences() if len(sentence.split()) > LONGEST] == []


def test_readme_has_no_odd_words() -> None:
    assert [sentence for sentence in sentences() if ODD.search(sentence)] == []


@pytest.mark.parametrize("words", ["what it says is so", "it stands here", "there are so many"])
def test_the_check_for_odd_words_finds_them(words: str) -> None:
    assert ODD.search(words)


def test_the_first_screen_of_readme_has_the_set_up() -> None:
    first = README.splitlines()[:28]
    assert sum(line.startswith("python3 -m venv ") for line in first) == 2
