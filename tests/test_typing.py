"""The library as type checkers see it: sixteen tasks are right, and each misspelt option or word is an error.

mypy and pyright judge them with all their checks on; the files run, too.
"""

import importlib.util
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Final, get_args, get_origin, get_type_hints

import pytest

from absolve.audit.library import OPTIONS as AUDIT_OPTIONS
from absolve.cli.option import called
from absolve.cli.option_table import OPTIONS, Options
from absolve.core import options
from absolve.core.model import KINDS, SCOPES
from absolve.document.settings import BASES, CHOICES, FRAGMENTS
from absolve.inventory import PROBLEMS
from absolve.mirror.library import OF_PLAN
from absolve.mirror.library import OPTIONS as MIRROR_OPTIONS
from absolve.trees import _OPTIONS as TREE_OPTIONS
from absolve.urls import PROFILES

ROOT: Final = Path(__file__).parents[1]
TASKS: Final = ROOT / "tests" / "typing" / "tasks.py"
WRONG: Final = {  # a line after the imports -> the name or word that the error is about
    'absolve.rewrite("x", profle="whatwg")': "profle",
    'absolve.rewrite(b"x", profile="rfc9999")': "rfc9999",
    'absolve.links(b"x", chrset="utf-8")': "chrset",
    'absolve.documents(b"x", url=3)': "url",
    'absolve.base(b"x", fragments="drop")': "drop",
    'absolve.verify(b"x", b"x", polcy=None)': "polcy",
    'absolve.rewrite_file("x", remapp={})': "remapp",
    'absolve.walk_links("x", kind="imag")': "imag",
    'absolve.mirror_plan([], bye="host")': "bye",
    'absolve.mirror("x.warc", "m", at=3)': "at",
    'absolve.mirror("x.warc", outptu="m")': "outptu",
    'absolve.audit("site", olds="old")': "olds",
    'absolve.audit("site").finding': "finding",
    "absolve.trees.links(None, lazzy=True)": "lazzy",
    'absolve.arrow.links(b"x", nam="x")': "nam",
    "absolve.items(3)": "3",
    'absolve.resolve("http://h/", "x", profile="rfc1")': "rfc1",
    "absolve.rewrites": "rewrites",
}


@pytest.mark.parametrize(("words", "of_code"), [
    (options.Profile, PROFILES), (options.Kind, KINDS), (options.Scope, SCOPES), (options.Problem, PROBLEMS), (options.Fragments, FRAGMENTS),
    (options.BaseHref, BASES),
], ids=["profile", "kind", "scope", "problem", "fragments", "base"])
def test_a_literal_has_the_words_that_the_code_checks(words: object, of_code: list[str]) -> None:
    assert sorted(get_args(words)) == sorted(of_code)


def test_the_typed_options_are_those_that_the_code_takes() -> None:
    assert set(options.Choices.__annotations__) == set(CHOICES)
    assert set(options.Options.__annotations__) - set(CHOICES) == {*("name", "media_type", "charset", "url", "headers", "on_diagnostic")}
    assert set(options.TreeOptions.__annotations__) <= TREE_OPTIONS
    assert set(options.MirrorOptions.__annotations__) == MIRROR_OPTIONS
    assert set(options.PlanOptions.__annotations__) == OF_PLAN
    assert set(options.AuditOptions.__annotations__) == AUDIT_OPTIONS
    for name, default in CHOICES.items():
        hint = get_type_hints(options.Choices)[name]
        assert isinstance(default, hint if isinstance(hint, type) else str)


def words_of(hint: object) -> set[str]:
    """Return the words of the literals in a type."""
    return {hint} if isinstance(hint, str) else {word for one in get_args(hint) for word in words_of(one)}


def test_a_typed_option_takes_the_words_of_the_command_line() -> None:
    rows = {row.dest.rstrip("_"): row for rows in OPTIONS.values() for row in rows if row.names}
    for kind in (options.Choices, options.MirrorOptions, options.FileOptions, options.WalkOptions, options.ClusterOptions):
        for name, hint in get_type_hints(kind).items():
            if name not in {"headers", "on_diagnostic"}:
                assert words_of(hint) in ({*called(rows[name].choices or rows[name].words)}, set()), name


def test_the_type_of_parsed_options_has_each_row_of_the_table() -> None:
    hints = get_type_hints(Options)
    rows = [row for rows in OPTIONS.values() for row in rows]
    assert {row.dest for row in rows} | {"command", "crawl", "is_url_found", "named"} == set(hints)
    for row in rows:
        assert row.is_switch == (hints[row.dest] is bool), row
        assert (row.repeats or row.nargs in {"*", "+"}) == (get_origin(hints[row.dest]) is list), row
        assert (row.absent is None) <= (type(None) in get_args(hints[row.dest]) or not row.names or row.dest == "profile"), row


def test_the_tasks_of_the_library_run() -> None:
    tasks = [value for name, value in runpy.run_path(str(TASKS)).items() if name.startswith("task_")]
    assert len(tasks) == 16
    for task in tasks:
        task()


def checked_by_mypy(folder: Path) -> list[tuple[str, int, str]]:
    """Return the errors that mypy finds in the files of a folder: file name, line, text."""
    pytest.importorskip("mypy", reason="mypy is not installed (the extra dev)")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary"]
    done = subprocess.run([*command, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr
    found = re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return [(Path(name).name, int(line), text) for name, line, text in found]


def checked_by_pyright(folder: Path, tmp_path: Path) -> list[tuple[str, int, str]]:
    """Return the same of pyright; its two settings are about stubs of lxml, which need not be complete."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed (the extra dev)")
    config = {"include": [str(folder)], "typeCheckingMode": "strict", "pythonVersion": "3.11"}
    config |= {"reportMissingTypeStubs": "none", "reportMissingModuleSource": "none", "extraPaths": [str(ROOT / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        pytest.skip(f"pyright cannot run here: {(done.stderr or done.stdout).strip()[:200]}")
    assert found["summary"]["filesAnalyzed"] >= 1
    return [
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"])
        for one in found["generalDiagnostics"]
        if one["severity"] == "error"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_checker_finds_each_misspelt_option_or_word_and_nothing_in_the_tasks(checker: str, tmp_path: Path) -> None:
    folder = tmp_path / "checked"
    folder.mkdir()
    (folder / "tasks.py").write_bytes(TASKS.read_bytes())
    for number, line in enumerate(WRONG):
        (folder / f"wrong_{number}.py").write_text(f"import absolve\n\n{line}\n", "utf-8")
    found = checked_by_mypy(folder) if checker == "mypy" else checked_by_pyright(folder, tmp_path)
    assert [one for one in found if one[0] == "tasks.py"] == []
    for number, (line, about) in enumerate(WRONG.items()):
        errors = [text for name, at, text in found if name == f"wrong_{number}.py" and at == 3]
        assert errors, f"{checker} accepts {line}"
        assert any(about in text or "overload" in text.lower() or "incompatible" in text or "not assignable" in text for text in errors)
