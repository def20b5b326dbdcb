"""Recognise the form of a map file, and read it.

In: the name and the bytes of a file. Out: a `RuleSet`. The name decides, else the content: whatever has the
directives of a server is its configuration, else words on lines or cells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.audit.maps import apache, nginx, redirects, rewrite_map, spreadsheet
from absolve.audit.maps.text import decoded
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from absolve.audit.maps.model import RuleSet

_READERS: Final[dict[str, Callable[[str, bytes], RuleSet]]] = {
    "apache": apache.read,
    "cloudflare": redirects.read_cloudflare,
    "csv": spreadsheet.read,
    "netlify": redirects.read_netlify,
    "nginx": nginx.read,
    "rewritemap": rewrite_map.read,
}
FORMATS: Final = tuple(sorted(_READERS))
_LOOKED_AT: Final = 1 << 18
_APACHE: Final = re.compile(
    r"^[ \t]*(?:Redirect(?:Match|Permanent|Temp)?|Rewrite(?:Rule|Cond|Engine|Base|Map)|ServerName|<\w+)[ \t>]",
    re.MULTILINE | re.IGNORECASE,
)
_NGINX: Final = re.compile(
    r"^[^#\n]*?(?:[{;]|^)\s*(?:server|location|rewrite|return|map|if)\b[^#\n]*[{;]", re.MULTILINE
)


def read(path: Path, data: bytes, *, format: str | None = None) -> RuleSet:  # noqa: A002 - the option has this name
    """Return the rules of a map file. A line that cannot be read is a rule with a problem.

    Raise UsageError for an unknown format.
    """
    if format is not None and format not in _READERS:
        raise UsageError(f"the format of a map is one of {', '.join(FORMATS)}, not {format!r}")
    return _READERS[format or recognised(path.name, data)](str(path), data)._replace(data=data)


def recognised(name: str, data: bytes) -> str:
    """Return the format of a map by its name, else by its content."""
    name = name.lower()
    if name.endswith((".csv", ".tsv")):
        return "csv"
    if name.endswith("_redirects"):
        return "netlify"
    if ".htaccess" in name:
        return "apache"
    text = decoded(data[:_LOOKED_AT])
    if name.endswith(".map"):
        return "nginx" if "{" in text or ";" in text else "rewritemap"
    if _NGINX.search(text) and not re.search(
        r"^[ \t]*(?:Rewrite(?:Rule|Cond)|<\w+)", text, re.MULTILINE | re.IGNORECASE
    ):
        return "nginx"
    if _APACHE.search(text):
        return "apache"
    return _by_lines(text)


def _by_lines(text: str) -> str:
    """Return the format of lines with words or cells: the status and splats of `_redirects` decide."""
    rows = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")][:100]
    if any(re.search(r"[,;\t]", line) and len(line.split()) < 2 for line in rows):
        return "csv"
    if any(re.search(r"\*|:splat|/:\w|\s[1-5][0-9][0-9]!?\s*$", line) for line in rows):
        return "netlify"
    return "csv" if any("," in line for line in rows) else "rewritemap" if rows else "csv"
