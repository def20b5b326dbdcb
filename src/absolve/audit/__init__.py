"""Audit a site: a verdict for every link, for every URL of the old site, and for the map between them.

In: inventories of the new and the old site, and maps. Out: tables of results. It may know every room before `mirror`,
but not the command line. `absolve.audit(...)` is `library.audit`: the package can be called, as `absolve.mirror` can.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from absolve.audit.library import Audit


class _Callable(ModuleType):
    """This package, as a function."""

    def __call__(self, *sites: object, **options: object) -> Audit:
        """Audit a site: see `absolve.audit.library.audit`."""
        from absolve.audit.library import audit

        return audit(*sites, **options)  # type: ignore[arg-type]  # it checks them


sys.modules[__name__].__class__ = _Callable
