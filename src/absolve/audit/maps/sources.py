"""The two sides of a rule as maps write them: a path or a URL to match, a URL to lead to.

In: text of a map. Out: the host and the decoded path to match; or the reason why it is no rule.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from absolve.audit.maps.model import Condition
from absolve.audit.maps.request import decoded, request
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme

STATUSES: Final = frozenset(range(100, 600))
# What a spreadsheet leaves where it found nothing, in any language: #N/A, #NV, #REF!, #NAME?, #DIV/0!
SHEET_ERROR: Final = r"#(?:\w/?\w{1,2}|[^\sa-z,;]+[!?])"
_NO_TARGET: Final = re.compile(r"#.*|[?-]+|(?i:n/?a|n\.a\.|tbd|tbc|todo|none|null|nil|nan|undefined)", re.DOTALL)


class Source(NamedTuple):
    """What a rule matches: a decoded path, with the query if it has one, on a host (None: of both sites)."""

    host: str | None
    path: str


def to_https(old: str, new: str) -> tuple[Condition, ...]:
    """Return the condition of a rule that leads a host to its own https: it applies to http alone."""
    first, second = request(old), request(new)
    if first is None or second is None or first.host != second.host:
        return ()
    return (Condition("scheme", "^http$"),) if (first.scheme, second.scheme) == ("http", "https") else ()


def source(text: str) -> Source | str:
    """Return the source that a URL, `//host/path` or a path means; a text with the reason if it is none of them."""
    full = f"http:{text}" if text.startswith("//") else text
    if full.startswith("/"):
        bare = text.partition("#")[0]
        path, mark, query = bare.partition("?")
        return Source(None, f"{decoded(path)}{mark}{query}")
    if not has_scheme(full):
        return f"{short(text)} is neither a URL nor a path that begins with /"
    found = request(full)
    if found is None or is_malformed(full) or not found.host:
        return f"{short(text)} is no http or https URL"
    query = "" if found.query is None else f"?{found.query}"
    return Source(found.host, found.decoded + query)


def placeholder(text: str) -> str | None:
    """Return why a text is no target in any form of map: it is empty, an error of a spreadsheet, or such as `TBD`."""
    if not text:
        return "it has no target"
    return f"{short(text)} is no target" if _NO_TARGET.fullmatch(text) else None


def target_fault(text: str) -> str | None:
    """Return why a text cannot be the target of a rule, None if it can: a path, or an http or https URL."""
    if (fault := placeholder(text)) is not None:
        return fault
    if text.startswith(("/", "?")) and not text.startswith("//"):
        return None
    full = f"http:{text}" if text.startswith("//") else text
    if parsed_scheme(full) not in {"http", "https"}:
        return f"the target {short(text)} is neither an http URL nor a path that begins with /"
    return f"the target {short(text)} is no URL" if is_malformed(full) else None


def short(text: str, most: int = 80) -> str:
    """Return a text in quotes for a message, cut if it is long."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
