"""Replacements for Cython: the shim for the interpreter and the stub for mypy define the names that the sources use."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from absolve.core import _cython

ROOT = Path(__file__).parents[2]
STUB = ROOT / "stubs" / "cython.pyi"
SHIM = {name for name in vars(_cython) if not name.startswith("_")} - {"annotations", "TYPE_CHECKING"}


def stub_names() -> set[str]:
    names = set()
    for node in ast.parse(STUB.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return names


def used_names() -> set[str]:
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")]
    attributes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "cython"}


@pytest.mark.skipif(not STUB.exists(), reason="the stub is not in this installation")
def test_shim_and_stub_have_the_same_names() -> None:
    assert stub_names() == SHIM


def test_the_shim_has_every_name_that_the_sources_use() -> None:
    assert used_names() <= SHIM


def test_the_shim_is_not_compiled() -> None:
    assert _cython.compiled is False


@pytest.mark.parametrize("name", ["cclass", "final", "cfunc", "ccall", "inline", "nogil"])
def test_a_shim_decorator_returns_its_function(name: str) -> None:
    assert getattr(_cython, name)(test_the_shim_is_not_compiled) is test_the_shim_is_not_compiled


@pytest.mark.parametrize("name", ["boundscheck", "exceptval", "freelist", "locals", "returns", "wraparound"])
def test_a_shim_decorator_with_arguments_returns_its_function(name: str) -> None:
    given = {"i": _cython.int} if name == "locals" else {}
    decorator = getattr(_cython, name)(*([] if given else [0]), **given)
    assert decorator(test_the_shim_is_not_compiled) is test_the_shim_is_not_compiled


def test_a_shim_cast_returns_the_value() -> None:
    assert _cython.cast(_cython.uchar, 300) == 300
