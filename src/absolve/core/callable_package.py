"""A package that can be called as a function: `absolve.mirror(...)`, whose name is also that of a room.

In: a package NAME with a module `library`, which has a function of that name. Out: the package, with the function's
call, docstring and signature, as `help` and editors show them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable
    from typing import Any


def make(name: str) -> None:
    """Make the package of this name callable."""
    sys.modules[name].__class__ = _Package


class _Package(ModuleType):
    @property
    def _function(self) -> Callable[..., Any]:
        name = self.__name__
        function: Callable[..., Any] = getattr(import_module(f"{name}.library"), name.rpartition(".")[2])
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect

        return inspect.signature(self._function)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        import inspect

        first, _, rest = (inspect.getdoc(self._function) or "").partition("\n\n")
        return f"{first}\n\n{self.__name__}{self.__signature__}\n\n{rest}"

    def __call__(self, *given: Any, **options: Any) -> Any:
        return self._function(*given, **options)
