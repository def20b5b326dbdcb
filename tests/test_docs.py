"""Documentation pages for developers: the files, tests, modules and decisions that they name exist."""

import ast
import doctest
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import absolve
from absolve.audit.verdicts import TOLERATED
from absolve.inventory import PROBLEMS

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob(".github/*.md"))
)
DOCS: Final = [page for page in PAGES if page.startswith("docs/") or page == "CONTRIBUTING.md"]
OF_USERS: Final = {  # files of the users of absolve
    "absolve.toml", "datapackage.json", "datapackage-digest.json", "firebase.json", "netlify.toml", "staticwebapp.config.json", "vercel.json",
}  # fmt: skip
CODE: Final = re.compile(r"^ {4}.*$|`[^`]*`", re.MULTILINE)
DECISION: Final = re.compile(r"^(?:<a id=\"\w+\"></a>)?\*\*([A-Z]\d+)\. (.+?)(?=^(?:<a id|\*\*[A-Z]\d)|^## |\Z)", re.MULTILINE | re.DOTALL)
CONCEPT: Final = re.compile(r"^\| ([^|]+) \| [^|]+ \| (`[^|]+`) \|$", re.MULTILINE)


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@cache
def defined(path: Path) -> frozenset[str]:
    """Return the names of a module's classes, functions and values, and of the attributes of its classes."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(names)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page: explicit ones, and those generated from headings."""
    found = path.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", found, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="(\w+)">', found))


@pytest.mark.parametrize("page", PAGES)
def test_every_test_named_by_a_page_exists(page: str) -> None:
    for name, function in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text(page)):
        assert (ROOT / name).is_file(), name
        assert not function or function in defined(ROOT / name), f"{name}::{function}"


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_of_a_page_resolves(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", text(page))):
        if "://" in target:
            continue
        name, _, fragment = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        assert not fragment or fragment in anchors(path), target


@pytest.mark.parametrize("page", DOCS)
def test_every_file_named_by_a_page_exists(page: str) -> None:
    folders = (ROOT, ROOT / "src/absolve", ROOT / "src/absolve/formats", ROOT / "tests/fuzz", ROOT / "tests/conformance")
    for name in set(re.findall(r"`([\w./-]*\w\.(?:py|md|json|toml|pxd))`", text(page))) - OF_USERS:
        assert any((folder / name).is_file() for folder in folders), name


@pytest.mark.parametrize(("concepts", "modules"), CONCEPT.findall(text("docs/glossary.md")))
def test_a_concept_is_defined_in_the_module_that_the_glossary_names(concepts: str, modules: str) -> None:
    paths = [ROOT / "src/absolve" / f"{module}.py" for module in re.findall(r"`([\w/]+)`", modules)]
    assert paths
    assert all(path.is_file() for path in paths)
    for concept in concepts.split(", "):
        if concept[0].isupper():  # a name of the code
            assert any(concept in defined(path) for path in paths), concept


def test_the_tasks_of_contributing_are_the_sessions_of_nox() -> None:
    tree = ast.parse(text("noxfile.py"))
    sessions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list}
    table = text("CONTRIBUTING.md").partition("| session |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sessions


def test_pre_commit_uses_the_ruff_version_of_ci() -> None:
    pinned = re.findall(r"^ruff==([\d.]+)", text(".ci/requirements/dev.txt"), re.MULTILINE)
    assert re.findall(r"ruff-pre-commit\n +rev: v([\d.]+)$", text(".pre-commit-config.yaml"), re.MULTILINE) == pinned


def test_the_problem_codes_in_the_decisions_are_those_of_the_rows() -> None:
    decisions = dict(DECISION.findall(text("docs/decisions.md")))
    assert re.findall(r"`([a-z-]+)`", decisions["I2"])[: len(PROBLEMS)] == list(PROBLEMS)


REPOSITORY: Final = "absolve/absolve"  # until it is published under another name: change it here, and where these tests fail
TEXTS: Final = [*PAGES, "action.yml", ".pre-commit-hooks.yaml", "pyproject.toml", "Dockerfile",
                *(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml"))]  # fmt: skip


def test_the_verdicts_that_do_not_fail_are_those_of_the_command() -> None:
    named = re.search(r"these do not fail: ([\w\s,]+)\.", text("docs/howto/ci.md"))
    assert named
    assert set(re.findall(r"\w+", named[1])) - {"and"} == set(TOLERATED)


@pytest.mark.parametrize("page", TEXTS)
def test_every_text_names_the_same_repository_at_the_same_version(page: str) -> None:
    named = re.findall(r"(?:github\.com/|uses: |--repo )([\w-]+/absolve)\b(?:\.git)?(?:@(\S+))?", text(page))
    assert {name for name, _ in named} <= {REPOSITORY}
    revisions = {revision for _, revision in named if revision}
    revisions |= set(re.findall(rf"{REPOSITORY}\n +rev: (\S+)", text(page)))
    assert revisions <= {f"v{absolve.__version__}"}
    assert set(re.findall(r"\babsolve-(\d[\w.]*?)-py3", text(page))) <= {absolve.__version__}


def test_the_examples_in_docstrings_hold() -> None:
    package = Path(absolve.__file__).parent
    for path in package.rglob("*.py"):
        if ">>> " in path.read_text("utf-8"):  # others may need an optional package
            name = ".".join(("absolve", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
            result = doctest.testmod(importlib.import_module(name))
            assert result.attempted, name
            assert not result.failed, name
