"""What absolve uses of Cython's pure Python mode, for mypy: Cython ships no stubs of its own.

`src/absolve/_cython.py` has the same names for the interpreter; a test keeps the two alike.
"""

import builtins
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, overload

_T = TypeVar("_T")

compiled: builtins.bool
NULL: None

bint: TypeAlias = builtins.bool
char: TypeAlias = builtins.int
uchar: TypeAlias = builtins.int
uint: TypeAlias = builtins.int
int: TypeAlias = builtins.int  # noqa: A001 - Cython's name
long: TypeAlias = builtins.int
longlong: TypeAlias = builtins.int
ulonglong: TypeAlias = builtins.int
Py_ssize_t: TypeAlias = builtins.int
Py_UCS4: TypeAlias = builtins.str
p_uchar: TypeAlias = bytearray
p_const_uchar: TypeAlias = builtins.bytes
p_int: TypeAlias = list[builtins.int]
p_longlong: TypeAlias = list[builtins.int]
address: Any
pointer: Any
sizeof: Any

def cclass(cls: type[_T], /) -> type[_T]: ...
def final(subject: _T, /) -> _T: ...
def no_gc(cls: type[_T], /) -> type[_T]: ...
def cfunc(function: _T, /) -> _T: ...
def ccall(function: _T, /) -> _T: ...
def inline(function: _T, /) -> _T: ...
def nogil(function: _T, /) -> _T: ...
def exceptval(value: Any = ..., *, check: builtins.bool = ...) -> Callable[[_T], _T]: ...
def boundscheck(on: builtins.bool, /) -> Callable[[_T], _T]: ...
def wraparound(on: builtins.bool, /) -> Callable[[_T], _T]: ...
def returns(kind: Any, /) -> Callable[[_T], _T]: ...
def locals(**kinds: Any) -> Callable[[_T], _T]: ...  # noqa: A001 - Cython's name
def freelist(size: builtins.int, /) -> Callable[[_T], _T]: ...
@overload
def cast(kind: type[_T], value: Any, /) -> _T: ...
@overload
def cast(kind: Any, value: Any, /) -> Any: ...
def declare(kind: Any, value: _T, /) -> _T: ...
