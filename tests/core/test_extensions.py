"""Compiled extensions are hardened, and have no library path of the build machine."""

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
    """Return the installed extensions."""
    found = [importlib.util.find_spec(name) for name in (ast.literal_eval(TABLES["SHARED"]), *COMPILED)]
    origins = [spec.origin for spec in found if spec is not None and spec.origin is not None]
    return [origin for origin in origins if not origin.endswith(".py")]


@pytest.fixture(scope="module")
def read() -> dict[str, str]:
    """Return readelf's output for each extension."""
    files = built()
    if not files:
        pytest.skip("no compiled extensions")
    if sys.platform != "linux" or READELF is None:
        pytest.skip("needs readelf, on Linux")
    outputs = {file: subprocess.run([READELF, "-dlsW", file], capture_output=True, text=True, check=True).stdout for file in files}
    if any("__asan_init" in text for text in outputs.values()):
        pytest.skip("these extensions are built with sanitizers")
    return outputs


def test_extensions_are_hardened_and_have_no_run_path(read: dict[str, str]) -> None:
    for file, text in read.items():
        assert "(RPATH)" not in text, file
        assert "(RUNPATH)" not in text, file
        assert "GNU_RELRO" in text, file  # relocations are read-only, and done at once
        assert "BIND_NOW" in text or "Flags: NOW" in text, file
        assert "__stack_chk_fail" in text, file
        assert ["RWE" in line for line in text.splitlines() if "GNU_STACK" in line] == [False], file


# --- setup.py


def source(name: str) -> Path:
    return ROOT.joinpath("src", *name.split(".")).with_suffix(".py")


def test_the_list_of_compiled_modules_is_sorted_and_each_exists() -> None:
    table = TABLES["COMPILED"]
    assert isinstance(table, ast.Dict)
    names = [ast.literal_eval(key) for key in table.keys if key is not None]
    assert names == sorted(set(names))
    assert not [name for name in names if not source(name).is_file()]


def test_modules_that_a_compiled_module_cimports_are_compiled() -> None:
    files = [file for name in COMPILED for file in (source(name), source(name).with_suffix(".pxd")) if file.is_file()]
    texts = [text for file in files for text in file.read_text("utf-8").splitlines() if "cimport" in text]
    wanted = {found[1] for text in texts for found in CIMPORT.finditer(text)}
    assert not {module for module in wanted if source(module).is_file()} - COMPILED.keys()


def test_no_interpreted_module_checks_cython_compiled() -> None:
    files = {source(name) for name in COMPILED}
    others = [file for file in (ROOT / "src").rglob("*.py") if file not in files]
    assert not [file for file in others if "if cython.compiled" in file.read_text("utf-8")]


def function(name: str) -> Any:
    """Return a function of setup.py, which cannot be imported without running it."""
    wanted: list[ast.stmt] = [node for node in SETUP.body if isinstance(node, ast.FunctionDef) and node.name == name]
    space: dict[str, Any] = {"RPATH": ast.literal_eval(TABLES["RPATH"])}
    exec(compile(ast.Module(wanted, []), "setup.py", "exec"), space)  # noqa: S102 - it is ours
    return space[name]


@pytest.mark.parametrize(("command", "kept"), [
    ("gcc -shared", "gcc -shared"), ("gcc -Wl,-O1 x.o -lz", "gcc -Xlinker -O1 x.o -lz"),
    ("gcc -L/p/lib -Wl,-rpath,/p/lib -lz", "gcc -L/p/lib -lz"), ("gcc -Wl,-rpath=/p/lib -Wl,--rpath=/p x.o", "gcc x.o"),
    ("gcc -Wl,-O1,-rpath,/p,--as-needed x.o", "gcc -Xlinker -O1 -Xlinker --as-needed x.o"),
    ("gcc -Wl,-rpath -Wl,/p x.o", "gcc x.o"),
    ("gcc -Xlinker -rpath -Xlinker /p -Xlinker -z -Xlinker now", "gcc -Xlinker -z -Xlinker now"),
    ("clang -bundle -rpath /p -Wl,-R/p -R /p x.o", "clang -bundle x.o"),
    ("gcc -Wl,-rpath-link,/p x.o", "gcc -Xlinker -rpath-link -Xlinker /p x.o"),
])
def test_the_run_path_in_the_link_command_of_python_is_removed(command: str, kept: str) -> None:
    assert function("without_rpath")(command.split()) == kept.split()
