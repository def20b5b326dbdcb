"""The parts of a URL that rules compare, in one spelling: the host, the decoded path, the query.

In: absolute URLs as str, or the two sides of a rule as a map writes them. Out: `Request`, or the `Source` of a
rule. Percent-escapes are decoded where that keeps the meaning: `%2F` and `%3F` stay, and so does a `%25` that would
become an escape.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.model import Condition
from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.tables.columns import is_left_open
from absolve.urls.identity import decoded, named
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.audit.maps.model import Rule

STATUS: Final = re.compile(r"([1-5][0-9][0-9])(!?)")  # of a rule, maybe a forced one
_ESCAPED_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_WEB: Final = re.compile(r"(https?)://[^/?#]*([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL | re.IGNORECASE)
_RESERVED: Final = re.compile(r"[%?#]")


CHOSEN: Final = "the old URL, not the rule, would choose the host of its target"
NO_QUERY: Final = "it never applies: it compares the path, which has no query"
_LONGEST: Final = 1000  # characters of a pattern in which groups are looked for
_NO_SIGN: Final = re.compile(r"\\[^?]|\[\^?\]?[^\]]*\]", re.DOTALL)  # an escaped character, a class
_INNERMOST: Final = re.compile(r"\([^()]*\)")
_QUESTION: Final = re.compile(r"\\\?(?![?*{])")


class Request(NamedTuple):
    """One URL as rules see it: `host` with a non-default port, `path` as in the URL and `decoded`, query or None.

    `indexes`: the names of index files. `line`: the path and query of the request line, if the server asks itself for
    another URL, the index file of a folder.
    """

    url: str
    scheme: str
    host: str
    path: str
    decoded: str
    query: str | None
    is_home: bool = True  # rules without a host apply to it
    indexes: tuple[str, ...] = ()
    line: str | None = None


def request(url: str) -> Request | None:
    """Return the parts of an http or https URL, without its fragment; None for any other."""
    found = _WEB.fullmatch(url)
    if found is None:
        return None
    scheme, path, query, fragment = found.groups()
    path = path or "/"
    if fragment is not None:
        url = url[: found.start(4) - 1]
    return Request(url, scheme.lower(), named(url), path, decoded(path), query)


def subject(request: Request, name: str) -> str:
    """Return the part of a request that a regular expression is matched against."""
    if name == "path":  # of most rules
        return request.decoded
    query = "" if request.query is None else f"?{request.query}"
    target = request.path + query if request.line is None else request.line  # as the request line has it
    return {
        "folder": request.decoded.removeprefix("/"),
        "url": f"{request.scheme}://{request.host}{request.path}{query}",
        "target": target,
        "line": f"GET {target} HTTP/1.1",
        "query": request.query or "",
        "scheme": request.scheme,
        "https": "on" if request.scheme == "https" else "off",
        "name": request.host.partition(":")[0],
        "host": request.host,
    }[name]


def encoded(text: str) -> str:
    """Return decoded text, such as a group of a match, as a part of a path: only what would end the path is escaped."""
    if not _RESERVED.search(text):
        return text
    return _RESERVED.sub(lambda one: _escaped(one, text), text)


def _escaped(found: re.Match[str], text: str) -> str:
    if found[0] == "%" and _ESCAPED_PERCENT.match(text, found.start()):
        return "%"
    return f"%{ord(found[0]):02X}"


# --- the two sides of a rule ------------------------------------------------------------------------------------------


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


def source(text: str) -> Source:
    """Return the source that a URL, `//host/path` or a path means. Raise UsageError for any other text."""
    full = f"http:{text}" if text.startswith("//") else text
    if full.startswith("/"):
        path, mark, query = text.partition("#")[0].partition("?")
        return Source(None, f"{decoded(path)}{mark}{query}")
    if not has_scheme(full):
        raise UsageError(f"{short(text)} is neither a URL nor a path that begins with /")
    found = request(full)
    if found is None or is_malformed(full) or not found.host:
        raise UsageError(f"{short(text)} is no http or https URL")
    query = "" if found.query is None else f"?{found.query}"
    return Source(found.host, found.decoded + query)


def check_target(text: str) -> None:
    """Raise UsageError for what cannot be the target of a rule: neither a path nor an http or https URL."""
    if not text:
        raise UsageError("it has no target")
    if is_left_open(text):  # an error of a spreadsheet, or such as `TBD`
        raise UsageError(f"{short(text)} is no target")
    if text.startswith(("/", "?")) and not text.startswith("//"):
        return
    full = f"http:{text}" if text.startswith("//") else text
    if parsed_scheme(full) not in {"http", "https"}:
        raise UsageError(f"the target {short(text)} is neither an http URL nor a path that begins with /")
    if is_malformed(full):
        raise UsageError(f"the target {short(text)} is no URL")


def paired(rule: Rule, key: str, value: str) -> Rule:
    """Return the exact rule of an entry of a table of a server, where both may lack their first slash."""
    old, new = (text if text.startswith("/") or "://" in text else f"/{text}" for text in (key, value))
    found = source(old)
    check_target(new if value and not is_left_open(value) else value)
    return rule._replace(how="exact", source=found.path, host=found.host, target=(new,))


def tried(rule: Rule, make: Callable[..., Rule], *arguments: object, **named: object) -> Rule:
    """Return what a function makes of a rule; the rule itself with the problem that it has or that is raised."""
    if rule.problem is not None:
        return rule
    try:
        return make(rule, *arguments, **named)
    except UsageError as error:
        return rule._replace(problem=error.message)


def status_of(text: str) -> int:
    """Return a status of HTTP. Raise UsageError for any other text."""
    if re.fullmatch("[1-5][0-9][0-9]", text) is None:
        raise UsageError(f"{short(text)} is no status")
    return int(text)


def check_pattern(pattern: str, *, ignores_case: bool = False) -> None:
    """Raise UsageError for a regular expression that cannot be used."""
    try:
        patterns.matcher(pattern, ignores_case=ignores_case)
    except UsageError as error:
        raise UsageError(f"the regular expression cannot be used: {error.message}") from error


def with_pattern(rule: Rule, pattern: str, *, ignores_case: bool = False, subject: str = "path") -> Rule:
    """Return a rule that matches a regular expression. Raise UsageError for one that cannot be used."""
    check_pattern(pattern, ignores_case=ignores_case)
    return rule._replace(how="regex", source=pattern, subject=subject, ignores_case=ignores_case)


class NeverError(UsageError):
    """A rule is well-formed, but no request meets it."""


def check_path(pattern: str, *, in_folder: bool = False) -> None:
    """Raise NeverError for a pattern for paths that needs a query; `in_folder`: or a slash at its beginning."""
    if in_folder and re.match(r"\^\\?/(?![?*{])", pattern) and "|" not in pattern:
        raise NeverError("it never applies: the paths that it compares have no slash at their beginning")
    bare = _NO_SIGN.sub("x", pattern) if len(pattern) <= _LONGEST else ""
    before = ""
    while bare != before:
        bare, before = _INNERMOST.sub("x", bare), bare
    if _QUESTION.search(bare) and "|" not in bare:
        raise NeverError(NO_QUERY)


def target_parts(
    text: str, variable: re.Pattern[str], part_of: Callable[[re.Match[str]], str | int | None]
) -> tuple[str | int, ...]:
    """Return the parts of a target: texts, and what `part_of` returns for each variable; None leaves it a text."""
    parts: list[str | int] = []
    place = 0
    for found in variable.finditer(text):
        if (part := part_of(found)) is not None:
            parts += [text[place : found.start()], part]
            place = found.end()
    parts.append(text[place:])
    return tuple(part for part in parts if part != "")


def with_target(
    rule: Rule, text: str, variable: re.Pattern[str], part_of: Callable[[re.Match[str]], str | int | None]
) -> Rule:
    """Return a rule with its target. Raise UsageError for one whose host is a part of the old URL."""
    parts = target_parts(text, variable, part_of) or ("",)
    if isinstance(parts[0], int):
        raise UsageError(CHOSEN)
    return rule._replace(target=parts)


def short(text: str, most: int = 80) -> str:
    """Return a text in quotes for a message, cut if it is long."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
