"""What is compiled is hardened, and does not look for libraries in a folder of the machine that built it."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SETUP = ast.parse((ROOT / "setup.py").read_text("utf-8"))
TABLES = {ast.unparse(node.targets[0]): node.value for node in SETUP.body if isinstance(node, ast.Assign)}
COMPILED: dict[str, int] = ast.literal_eval(TABLES["COMPILED"])
CIMPORT = re.compile(r"^\s*from (?:cython\.cimports\.)?(absolve\.[\w.]+) c?import ", re.MULTILINE)
READELF = shutil.which("readelf")


def built() -> list[str]:
    """The extensions that are installed."""
    found = [importlib.util.find_spec(name) for name in (ast.literal_eval(TABLES["SHARED"]), *COMPILED)]
    origins = [spec.origin for spec in found if spec is not None and spec.origin is not None]
    return [origin for origin in origins if not origin.endswith(".py")]


@pytest.fixture(scope="module")
def read() -> dict[str, str]:
    """What readelf says of each extension."""
    files = built()
    if not files:
        pytest.skip("nothing is compiled here")
    if sys.platform != "linux" or READELF is None:
        pytest.skip("only readelf, on Linux, tells what is in an extension")
    said = {
        file: subprocess.run([READELF, "-dlsW", file], capture_output=True, text=True, check=True).stdout
        for file in files
    }
    if any("__asan_init" in text for text in said.values()):
        pytest.skip("these extensions are built with sanitizers")
    return said


def test_no_extension_looks_for_libraries_where_it_was_built(read: dict[str, str]) -> None:
    assert not [file for file, text in read.items() if "(RPATH)" in text or "(RUNPATH)" in text]


def test_what_an_extension_is_linked_to_is_read_only_once_it_is_loaded(read: dict[str, str]) -> None:
    assert not [file for file, text in read.items() if "GNU_RELRO" not in text]
    assert not [file for file, text in read.items() if "BIND_NOW" not in text and "Flags: NOW" not in text]


def test_the_stack_of_every_extension_is_protected(read: dict[str, str]) -> None:
    assert not [file for file, text in read.items() if "__stack_chk_fail" not in text]


def test_no_extension_has_a_stack_that_can_be_executed(read: dict[str, str]) -> None:
    stacks = {file: line for file, text in read.items() for line in text.splitlines() if "GNU_STACK" in line}
    assert stacks.keys() == read.keys()
    assert not [file for file, line in stacks.items() if "RWE" in line]


# --- setup.py


def source(name: str) -> Path:
    return ROOT.joinpath("src", *name.split(".")).with_suffix(".py")


def test_every_module_that_is_compiled_exists_and_is_listed_once_in_order() -> None:
    table = TABLES["COMPILED"]
    assert isinstance(table, ast.Dict)
    names = [ast.literal_eval(key) for key in table.keys if key is not None]
    assert names == sorted(set(names))
    assert not [name for name in names if not source(name).is_file()]


@pytest.mark.parametrize("name", COMPILED)
def test_what_a_compiled_module_imports_in_c_is_compiled(name: str) -> None:
    files = [file for file in (source(name), source(name).with_suffix(".pxd")) if file.is_file()]
    texts = [text for file in files for text in file.read_text("utf-8").splitlines() if "cimport" in text]
    wanted = {found[1] for text in texts for found in CIMPORT.finditer(text)}
    assert not {module for module in wanted if source(module).is_file()} - COMPILED.keys()


def test_no_interpreted_module_asks_whether_it_is_compiled() -> None:
    files = {source(name) for name in COMPILED}
    others = [file for file in (ROOT / "src").rglob("*.py") if file not in files]
    assert not [file for file in others if "if cython.compiled" in file.read_text("utf-8")]


def function(name: str) -> Any:
    """A function of setup.py, which nobody can import without running it."""
    wanted: list[ast.stmt] = [node for node in SETUP.body if isinstance(node, ast.FunctionDef) and node.name == name]
    space: dict[str, Any] = {"RPATH": ast.literal_eval(TABLES["RPATH"])}
    exec(compile(ast.Module(wanted, []), "setup.py", "exec"), space)  # noqa: S102 - it is ours
    return space[name]


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("gcc -shared", "gcc -shared"),
        ("gcc -Wl,-O1 x.o -lz", "gcc -Xlinker -O1 x.o -lz"),
        ("gcc -L/p/lib -Wl,-rpath,/p/lib -lz", "gcc -L/p/lib -lz"),
        ("gcc -Wl,-rpath=/p/lib -Wl,--rpath=/p x.o", "gcc x.o"),
        ("gcc -Wl,-O1,-rpath,/p,--as-needed x.o", "gcc -Xlinker -O1 -Xlinker --as-needed x.o"),
        ("gcc -Wl,-rpath -Wl,/p x.o", "gcc x.o"),
        ("gcc -Xlinker -rpath -Xlinker /p -Xlinker -z -Xlinker now", "gcc -Xlinker -z -Xlinker now"),
        ("clang -bundle -rpath /p -Wl,-R/p -R /p x.o", "clang -bundle x.o"),
        ("gcc -Wl,-rpath-link,/p x.o", "gcc -Xlinker -rpath-link -Xlinker /p x.o"),
    ],
)
def test_the_run_path_that_python_was_linked_with_is_left_out(command: str, kept: str) -> None:
    assert function("without_rpath")(command.split()) == kept.split()
