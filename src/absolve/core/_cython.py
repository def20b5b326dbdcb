"""What the modules that can be compiled ask of Cython, where they run interpreted: decorators that do nothing.

A module that can be compiled begins with

    if TYPE_CHECKING:
        import cython
    else:
        from absolve import _cython as cython

The compiler takes `import cython` for itself in whichever branch it stands, mypy reads `stubs/cython.pyi`, and the
interpreter gets this file: it needs no Cython, and never the real one, whose import takes longer than all of ours.
A name that is wanted and missing is one line here and one in the stub; a test keeps the two alike.
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
address = pointer = sizeof = None  # asked for only where it is compiled


def _same(subject: _T) -> _T:
    return subject


cclass = final = no_gc = cfunc = ccall = inline = nogil = _same


def _decorator(*_: object, **__: object) -> Callable[[_T], _T]:
    return _same


exceptval = boundscheck = wraparound = returns = freelist = _decorator
locals = _decorator  # noqa: A001 - Cython's name


def cast(_: object, value: _T) -> _T:
    """The value itself: nothing is converted here, so compiled code must not lean on a cast to cut it."""
    return value


def declare(_: object, value: _T) -> _T:
    return value


int = int  # noqa: A001,PLW0127 - Cython's name; last, because the lines above mean the builtin
