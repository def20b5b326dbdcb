"""The documentation site: its examples run, and its reference describes every code, column and option."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import api_pages
import pytest
import reference_pages
from markdown_text import help_text

import absolve
from absolve.audit import tables, verdicts
from absolve.cli.commands import COMMANDS
from absolve.cli.parsing import parser
from absolve.inventory import PROBLEMS
from absolve.inventory.columns import Row
from absolve.inventory.documents import DocumentRow
from absolve.mirror import check
from absolve.tables import FORMATS
from tests.shapes.captures import written
from tests.shown_examples import blocks, run_page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
CODES: Final[dict[str, Any]] = reference_pages.read("codes.toml")
COLUMNS: Final[dict[str, Any]] = reference_pages.read("columns.toml")
PAGES: Final = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
WITH_EXAMPLES: Final = [
    page for page in PAGES if any(block.language in {"console", "sh", "python"} for block in blocks((DOCS / page).read_text("utf-8")))
]
AUDITS: Final = {page for page in WITH_EXAMPLES if "$ absolve audit " in (DOCS / page).read_text("utf-8")}  # slow: DuckDB
MADE_OF: Final = {"Finding", "Diagnostic", "WalkError", "CodingError", "record_finding"}  # their first argument is a code


@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] * (page in AUDITS)) for page in WITH_EXAMPLES])
def test_every_example_of_a_page_runs_and_prints_the_shown_output(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(DOCS / page, tmp_path)


def test_every_code_and_format_is_described_and_every_described_code_is_there() -> None:
    assert list(CODES["problem"]) == list(PROBLEMS)
    assert list(CODES["verdict"]) == list(verdicts.VERDICTS)
    assert list(COLUMNS["formats"]) == list(FORMATS)
    texts = [path.read_text("utf-8") for path in (ROOT / "src/absolve").rglob("*.py")]
    assert [name for name in CODES["diagnostic"] if not any(f'"{name}"' in text for text in texts)] == []


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_example_of_a_problem_has_it(name: str) -> None:
    assert name in reference_pages.example_row(name, CODES["problem"][name]).problems


def test_the_example_of_a_verdict_has_it(tmp_path: Path) -> None:
    examples = {f"new/example-{name}.html": CODES["verdict"][name]["link"] for name in verdicts.LINK_VERDICTS}
    written(tmp_path, CODES["site"] | examples)
    sides = "new --url https://site.example/ --old old --old-url http://old.example/ --map redirects.csv --answers answers.csv"
    query = "SELECT document, verdict FROM links WHERE document LIKE '%example-%'"
    done = reference_pages.run(f'absolve audit {sides} --sql "{query}"', tmp_path)
    found = dict(line.split("\t") for line in done.stdout.splitlines()[1:])
    assert found == {f"new/example-{name}.html": name for name in verdicts.LINK_VERDICTS}


def codes_of(path: Path) -> Iterator[str]:
    """Yield the codes that a module prints: first arguments of MADE_OF, and the faults of members."""
    tree = ast.parse(path.read_text("utf-8"))
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            given: ast.expr | None = node.args[0] if name in MADE_OF and node.args else None
            for keyword in node.keywords:
                if keyword.arg == "fault" and isinstance(keyword.value, ast.Tuple):
                    given = keyword.value.elts[0]
            value = given.value if isinstance(given, ast.Constant) else constants.get(getattr(given, "id", ""))
            if isinstance(value, str) and re.fullmatch(r"[a-z]+(?:-[a-z]+)*", value):
                yield value


def test_every_diagnostic_code_of_the_modules_is_described() -> None:
    # Those of `verifying` and of `mirror --check` are below; findings of audit outputs are no diagnostics.
    others = {"verifying", "outputs", "verify.py", "check.py"}
    modules = [path for path in (ROOT / "src/absolve").rglob("*.py") if not others.intersection(path.parts)]
    found = {code for path in modules for code in codes_of(path)}
    assert len(found) > 60
    assert found - CODES["diagnostic"].keys() == set()


def test_the_example_of_a_diagnostic_has_a_line_with_its_code() -> None:
    sections = re.split(r"^## (.+)$", (DOCS / "reference/diagnostics.md").read_text("utf-8"), flags=re.MULTILINE)
    examples = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert [name for name in CODES["diagnostic"] if f": {name}: " not in examples[name]] == []


def test_every_code_of_verify_is_described() -> None:
    paths = (ROOT / "src/absolve/verifying").glob("*.py")
    found = {code for path in paths for code in re.findall(r'(?:_say|_differ|Diagnostic)\(\s*"([a-z-]+)"', path.read_text("utf-8"))}
    assert found - {"unreadable"} <= CODES["verify"].keys()


def test_every_fault_and_note_of_a_mirror_is_described() -> None:
    faults = {value for name, value in vars(check).items() if name.isupper() and isinstance(value, str) and name not in {"MAP", "INDEX_PAGE"}}
    assert faults == CODES["check"].keys()
    paths = (ROOT / "src/absolve/mirror").glob("*.py")
    notes = {code for path in paths for code in re.findall(r'(?:note\(resolved|Note\(entity, \S+), "([a-z-]+)"', path.read_text("utf-8"))}
    assert notes <= CODES["note"].keys()


def test_every_column_is_described() -> None:
    assert list(COLUMNS["links"])[: len(Row._fields)] == list(Row._fields)
    assert list(COLUMNS["documents"]) == list(DocumentRow._fields)
    for name, columns in tables.TABLES.items():
        assert columns.keys() <= COLUMNS["links"].keys() | COLUMNS["audit"][name].keys(), name


def test_every_column_of_a_mirror_is_described() -> None:
    source = (ROOT / "src/absolve/mirror/map.py").read_text("utf-8").partition("_PLAN")[0]
    for name, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", source, re.DOTALL):
        names = re.findall(r'"?(\w+)"? (?:TEXT|INTEGER)', columns)
        assert names == list(COLUMNS["mirror"][name]), name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_every_option(name: str) -> None:
    page = reference_pages.command_page(name)
    for option in parser((name,)).commands[name].options():
        assert re.search(rf"^- `(.*--)?{option}\b", page, re.MULTILINE), option


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_examples_above_all_options_and_help_at_the_end(name: str) -> None:
    titles = re.findall(r"^## (.+)$", reference_pages.command_page(name), re.MULTILINE)
    wanted = [title for title in ("Usage", "Examples", "Arguments", "Most used options") if title in titles]
    assert titles[: len(wanted)] == wanted
    assert titles[-1] == "Run and help"


def test_a_page_has_options_and_quoted_words_of_a_help_text_as_code() -> None:
    assert help_text(r"'*.html' by name; see --same; \1 is a <group>") == r"`'*.html'` by name; see `--same`; `\1` is a \<group\>"


def test_every_type_in_a_signature_is_described() -> None:
    values = [getattr(absolve, name) for name in absolve.__all__ if name not in {"arrow", "spark", "trees"}]
    functions = [value for value in values if api_pages._is_function(value) and not isinstance(value, ModuleType)]
    named = {word for function in functions for word in re.findall(r"\b[A-Z]\w+", api_pages.signature(function))}
    described = set(absolve.__all__) | set(re.findall(r":: (\w+)", "".join(api_pages._types({}))))
    assert named - described <= {"Any", "Callable", "Iterable", "Iterator", "Literal", "Mapping", "Never", "None", "PathLike", "True", "False"}


@pytest.mark.skipif(sys.platform == "win32", reason="the examples have the paths and messages of POSIX")
@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_a_page_are_up_to_date(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert reference_pages.updated(text) == text, "run: python docs/reference_pages.py"


def test_every_generated_text_is_in_a_page() -> None:
    pages = "".join((DOCS / page).read_text("utf-8") for page in PAGES)
    assert sorted(re.findall(r"^<!-- generated: (\S+) -->$", pages, re.MULTILINE)) == sorted(reference_pages.TEXTS)
