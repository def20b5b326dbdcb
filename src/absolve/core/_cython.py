"""Substitute for Cython's `cython` module where a compiled module needs it at run time, without effect.

Most compiled modules name Cython's types in annotations only, which the interpreter does not evaluate. A module that
reads `cython.compiled`, or whose class has a decorator that the .pxd cannot have, begins with

    if TYPE_CHECKING:
        import cython
    else:
        from absolve.core import _cython as cython

The compiler recognizes `import cython` in either branch, mypy reads `stubs/cython.pyi`, and the interpreter imports
this file. So Cython is no run-time dependency; importing the real one would take longer than all of absolve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _T = TypeVar("_T")

compiled = False


def cclass(cls: _T) -> _T:
    return cls


no_gc = cclass


def freelist(_: int) -> Callable[[_T], _T]:
    return cclass
