"""Documentation: the examples of README and of all pages run and print what is shown; `docs/check_pages.py` checks the text."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import reference_pages
from markdown_text import help_text

import absolve
from absolve.audit import verdicts
from absolve.inventory import PROBLEMS
from tests.shapes.captures import written
from tests.shown_examples import blocks, run_page

ROOT: Final = Path(__file__).parents[1]
CODES: Final[dict[str, Any]] = reference_pages.read("codes.toml")
PAGES: Final = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
WITH_EXAMPLES: Final = [
    pytest.param(page, marks=[pytest.mark.slow] * ("$ absolve audit " in text and page != "README.md"))  # slow: DuckDB
    for page, text in PAGES.items()
    if any(block.language in {"console", "sh", "python"} for block in blocks(text))
]
PAGE: Final = "fixtures/saved-page.html"
EXAMPLES: Final = {  # its arguments, and what it prints; spark_job.py needs Spark: tests/spark
    "rewrite_page.py": ((PAGE,), b'<BASE href="http://example.com/journal/">'),
    "why.py": ((PAGE,), b"embedded: http://example.com/journal/ (base element, line 6)"),
    "own_policy.py": ((PAGE, "example.com", "new.example"), b'<BASE href="http://new.example/journal/">'),
    "broken.py": ((PAGE,), b"1 relative-base"),
    "asgi_middleware.py": ((), b'<a href="https://example.com/a/next">next</a>'),
    "lxml_trees.py": ((PAGE,), b"http://example.com/journal/photos/hook-head@2x.jpg"),
}


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_every_example_of_a_page_runs_and_prints_the_shown_output(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(ROOT / page, tmp_path) in ({6} if page == "README.md" else range(1, 100))


def test_the_first_readme_block_is_rewritten_to_the_second() -> None:
    before, after = (block.text for block in blocks(PAGES["README.md"]) if block.language == "html")
    assert absolve.rewrite(before) == after


def test_each_file_of_examples_prints_the_expected_output() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} - {"spark_job.py"} == EXAMPLES.keys()
    for name, (arguments, promised) in EXAMPLES.items():
        argv = [sys.executable, str(ROOT / "examples" / name), *arguments]
        assert promised in subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout


def test_the_example_of_a_problem_or_a_verdict_has_it(tmp_path: Path) -> None:
    assert [name for name in PROBLEMS if name not in reference_pages.example_row(name, CODES["problem"][name]).problems] == []
    examples = {f"new/example-{name}.html": CODES["verdict"][name]["link"] for name in verdicts.LINK_VERDICTS}
    written(tmp_path, CODES["site"] | examples)
    sides = "new --url https://site.example/ --old old --old-url http://old.example/ --map redirects.csv --answers answers.csv"
    query = "SELECT document, verdict FROM links WHERE document LIKE '%example-%'"
    done = reference_pages.run(f'absolve audit {sides} --sql "{query}"', tmp_path)
    found = dict(line.split("\t") for line in done.stdout.splitlines()[1:])
    assert found == {f"new/example-{name}.html": name for name in verdicts.LINK_VERDICTS}


def test_a_page_has_options_and_quoted_words_of_a_help_text_as_code() -> None:
    assert help_text(r"'*.html' by name; see --same; \1 is a <group>") == r"`'*.html'` by name; see `--same`; `\1` is a \<group\>"


def test_the_linter_of_pages_names_each_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break each kind of text for a moment."""
    check_pages = pytest.importorskip("check_pages")
    page = "[x](gone.md) `tests/gone.py` `src/gone.py` uses: other/absolve@v0.0\n"
    monkeypatch.setattr(check_pages, "PAGES", {**check_pages.PAGES, "docs/index.md": page, "docs/glossary.md": "| Gone | a class | `core/model` |\n"})
    monkeypatch.setattr(check_pages, "DOCS", {"docs/index.md": page})
    monkeypatch.setattr(check_pages, "CODES", {**CODES, "problem": {}, "diagnostic": {}, "verify": {}, "note": {}, "check": {}})
    monkeypatch.setattr(check_pages, "COLUMNS", {**check_pages.COLUMNS, "documents": ["gone"]})
    monkeypatch.setattr(check_pages, "text_of", lambda name: re.sub("ruff==|MIT", "x", (ROOT / name).read_text("utf-8")) if name != "docs/index.md" else page)
    found = "\n".join(fault for check in ("links", "files", "glossary", "versions", "codes", "columns", "pins", "licences") for fault in getattr(check_pages, check)())
    for words in ("gone.md leads nowhere", "no tests/gone.py", "no src/gone.py", "do not define Gone", "other/absolve", "problems", "lacks no-base", "columns of documents",
                  "dev.txt has", "THIRD_PARTY.md"):  # fmt: skip
        assert words in found, words
