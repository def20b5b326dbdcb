"""Mirrors: a copy of a capture that works without a network.

In: captured documents with their URLs. Out: a folder or a ZIP with one file for each URL, in which links lead from file
to file, and a map (mirror.sqlite). It does not know the command line. `absolve.mirror(inputs)` is `plan.plan`: the
package can be called, because it has the name that the function has in the library.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from absolve.core.model import Document
    from absolve.core.options import MirrorOptions
    from absolve.core.protocols import Buffer
    from absolve.mirror.plan import MirrorPlan


class _Callable(ModuleType):
    """This package, as a function."""

    def __call__(
        self, inputs: Iterable[Document | bytes | Buffer], **options: Unpack[MirrorOptions]
    ) -> MirrorPlan:
        """Return the plan of a mirror: see `absolve.mirror.plan.plan`."""
        from absolve.mirror.plan import plan

        return plan(inputs, **options)


sys.modules[__name__].__class__ = _Callable
