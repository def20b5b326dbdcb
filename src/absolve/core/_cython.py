"""Substitute for Cython's `cython` module in interpreted runs: the same names, without effect.

A module that can be compiled begins with

    if TYPE_CHECKING:
        import cython
    else:
        from absolve.core import _cython as cython

The compiler recognizes `import cython` in either branch, mypy reads `stubs/cython.pyi`, and the interpreter imports
this file. So Cython is no run-time dependency; importing the real one would take longer than all of absolve.
To add a name, add one line here and one in the stub; a test keeps the two equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _T = TypeVar("_T")

compiled = False
NULL = None

bint = bool
char = uchar = uint = int
long = longlong = ulonglong = int
Py_ssize_t = int
Py_UCS4 = str
p_uchar = p_const_uchar = bytes
p_int = p_longlong = list
address = pointer = sizeof = None  # used by compiled code only


def _same(subject: _T) -> _T:
    return subject


cclass = final = no_gc = cfunc = ccall = inline = nogil = _same


def _decorator(*_: object, **__: object) -> Callable[[_T], _T]:
    return _same


exceptval = boundscheck = wraparound = returns = freelist = _decorator
locals = _decorator  # noqa: A001 - Cython's name


def cast(_: object, value: _T) -> _T:
    """Return the value unchanged. C would truncate it: code must not depend on a cast for that."""
    return value


def declare(_: object, value: _T) -> _T:
    return value


int = int  # noqa: A001,PLW0127 - Cython's name; last, because the lines above mean the builtin
