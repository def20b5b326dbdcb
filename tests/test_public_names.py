"""The public names of the library: `dir`, `help` and completion show them, and nothing else."""

import doctest
import importlib
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import absolve
import absolve.arrow
import absolve.trees

MODULES = [absolve, absolve.arrow, absolve.trees]
ALIASES = {"Headers", "Kind", "Policy", "Problem", "Profile", "Scope"}  # of types, which have no text
OPTIONAL = {"arrow", "spark"}  # listed once they are imported: they need an extra


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_dir_lists_the_public_names_and_no_internal_module(module: ModuleType) -> None:
    public = set(module.__all__) - OPTIONAL
    assert public <= set(dir(module)) <= public | OPTIONAL | {"__doc__", "__file__"}
    assert list(module.__all__) == sorted(module.__all__)


def test_a_fresh_interpreter_lists_every_function_and_imports_none_of_them() -> None:
    code = "import sys, absolve; print(*dir(absolve), *(name for name in sys.modules if name.startswith('absolve.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert {"rewrite", "links", "base", "walk_links", "rewrite_file"} <= set(found)
    assert [name for name in found if name.startswith("absolve.")] == []


@pytest.mark.parametrize("name", [name for name in absolve.__all__ if name not in {"__version__", "spark"}])
def test_a_public_name_can_be_imported_and_has_a_text_for_help(name: str) -> None:
    value: Any = getattr(absolve, name)
    if name not in ALIASES:
        assert inspect.getdoc(value)
    assert name in dir(absolve)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'rewrites'"):
        absolve.rewrites  # type: ignore[attr-defined]  # noqa: B018 - its error is tested


MISSING = {
    "import absolve.arrow": ("pyarrow", "absolve[parquet]"), "import absolve.spark": ("pyspark", "absolve[spark]"),
    "from absolve.tables import parquet": ("pyarrow", "absolve[parquet]"), "from absolve.tables import duckdb": ("duckdb", "duckdb>=2.0.1"),
    "from absolve.audit import load": ("duckdb", "duckdb>=2.0.1"), "from absolve.tables import xlsx": ("openpyxl", "openpyxl"),
    "from absolve.core.patterns import matcher; matcher('a')": ("re2", "google-re2"),
    "from absolve.run import buckets; buckets.state('s3://b/x')": ("s3fs", "absolve[s3]"),
}


@pytest.mark.parametrize("statement", MISSING)
def test_a_missing_package_is_an_import_error_that_names_the_extra(statement: str) -> None:
    package, extra = MISSING[statement]
    code = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
try:
    {statement}
except ImportError as error:
    import absolve
    assert isinstance(error, absolve.MissingPackageError) and isinstance(error, absolve.UsageError)
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install {extra}" in done.stdout.replace("'", "")


@pytest.mark.parametrize("name", ["audit", "mirror"])
def test_a_package_that_is_a_function_has_its_help_and_signature(name: str) -> None:
    package = getattr(absolve, name)
    function = getattr(importlib.import_module(f"absolve.{name}.library"), name)
    assert inspect.signature(package) == inspect.signature(function)
    shown = pydoc.plain(pydoc.render_doc(package))
    first, _, rest = (inspect.getdoc(function) or "").partition("\n\n")
    assert first in shown
    assert f"absolve.{name}({'new' if name == 'audit' else 'inputs'}: " in shown
    assert all(line.strip() in shown for line in rest.splitlines())


def test_the_examples_in_docstrings_hold() -> None:
    package = Path(absolve.__file__).parent
    for path in package.rglob("*.py"):
        if ">>> " in path.read_text("utf-8"):  # others may need an optional package
            name = ".".join(("absolve", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")
            result = doctest.testmod(importlib.import_module(name))
            assert result.attempted, name
            assert not result.failed, name
