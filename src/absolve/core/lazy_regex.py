"""Regular expressions that are compiled on first use, for a faster start: most runs use only some of them.

In: the source of a pattern. Out: an object with the methods of `re.Pattern`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    from re import Pattern


def pattern(source: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """Return a pattern like `re.compile`, which takes 0.1 ms and more, but compiled on first use.

    Patterns on hot paths should use `re.compile`. An invalid pattern raises re.error on first use.
    """
    return cast("Pattern[AnyStr]", _Pattern(source, flags))


class _Pattern:
    """A lazy pattern; each method is looked up in the compiled pattern once, then stored as an attribute."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
