"""What absolve uses of Cython's pure Python mode, for mypy: Cython ships no stubs of its own."""

import builtins
from collections.abc import Callable
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")

compiled: builtins.bool

bint: TypeAlias = builtins.bool
uchar: TypeAlias = builtins.int
uint: TypeAlias = builtins.int
int: TypeAlias = builtins.int  # noqa: A001 - Cython's name
ulonglong: TypeAlias = builtins.int
Py_ssize_t: TypeAlias = builtins.int
Py_UCS4: TypeAlias = builtins.str
p_uchar: TypeAlias = bytearray
p_longlong: TypeAlias = list[builtins.int]
p_const_uchar: TypeAlias = builtins.bytes

def cclass(cls: type[_T], /) -> type[_T]: ...
def no_gc(cls: type[_T], /) -> type[_T]: ...
def freelist(size: builtins.int, /) -> Callable[[_T], _T]: ...
