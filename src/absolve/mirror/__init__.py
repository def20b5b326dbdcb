"""Mirrors: a copy of a capture that works without a network.

In: captured documents with their URLs. Out: a folder or a ZIP with one file for each URL, in which links lead from file
to file, and a map (mirror.sqlite). It does not know the command line. `absolve.mirror(...)` is `library.mirror`: the
package can be called, because it has the name that the function has in the library.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from absolve.mirror.library import Mirror


class _Callable(ModuleType):
    """This package, as a function."""

    def __call__(self, *inputs: object, **options: object) -> Mirror:
        """Make a mirror: see `absolve.mirror.library.mirror`."""
        from absolve.mirror.library import mirror

        return mirror(*inputs, **options)  # type: ignore[arg-type]  # it checks them


sys.modules[__name__].__class__ = _Callable
