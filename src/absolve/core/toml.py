"""Read TOML with a bound on what takes tomllib, or Python, more than linear time.

In: a text. Out: a dictionary.
"""

from __future__ import annotations

import re
from typing import Any, Final

from absolve.core.lazy_regex import pattern

_MOST: Final = 32  # parts of a dotted key; tomllib needs quadratic time and memory for them
_KEY: Final = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP: Final = pattern(rf"(?<![\w-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{_MOST}}}", re.ASCII)
_LONGEST: Final = 1000  # digits of a number; Python writes no number with many
_LONG: Final = pattern(rf"[=,\[\s][+-]?0[xob][0-9A-Fa-f_]{{{_LONGEST}}}")


def parsed(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raise ValueError if it is malformed, too long or nested too deep."""
    import tomllib  # most runs have no such file

    if _DEEP.search(text):
        raise ValueError(f"a key has more than {_MOST} parts")
    if _LONG.search(text):
        raise ValueError(f"a number has more than {_LONGEST} digits")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("the values are nested too deep") from error
