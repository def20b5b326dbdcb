"""Regular expressions that are compiled where they are first used: no run meets all that may be met."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from re import Pattern


def pattern(source: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """As `re.compile`, which takes a tenth of a millisecond and more for each; what is asked often is better compiled.

    What is wrong with it is raised (re.error) where it is first used.
    """
    return cast("Pattern[AnyStr]", _Pattern(source, flags))


class _Pattern:
    """Has the methods of the pattern as soon as one of them is asked for."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
