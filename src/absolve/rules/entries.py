"""Make rules of entries: a source with placeholders, in the syntax of its form, with a target and a status.

In: `Entry`, one line, row or object of a map. Out: a `Rule`. Documentation of the syntaxes is with the readers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules.model import Source, check_target, source, to_https, tried, with_pattern, with_target
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.rules.model import Rule

_LONGEST: Final = 8192
_ORIGIN: Final = re.compile(r"^(?:https?:)?//[^/]*")
_VARIABLE: Final = re.compile(r":([A-Za-z_]\w*)\*?|\$(\d)", re.ASCII)
_PLACEHOLDER: Final = re.compile(r":([A-Za-z]\w*)", re.ASCII)


class Entry(NamedTuple):
    """One entry of a file: what it matches, where it leads, and the syntax of both. `problem`: what no rule has."""

    old: str
    new: str | None
    status: int
    syntax: Syntax
    forced: bool = True
    problem: str | None = None
    host: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    text: str = ""  # the source as the file has it, if `old` is made of it


class Syntax(NamedTuple):
    """How a form writes patterns: its tokens, and the regular expression of each, with the name of its group or None.

    An unnamed group has its number as name. A token without expression is one that no rule has. `variable`: a
    reference to a group in targets. `has_splat`: `/*` alone at the end of a path is a prefix, whose rest is `:splat`.
    `is_slash_ignored`: a slash at the end of a path makes no difference.
    """

    tokens: re.Pattern[str] | None
    expression: Callable[[re.Match[str]], tuple[str | None, str | None]]
    is_regex: bool = False
    variable: re.Pattern[str] = _VARIABLE
    has_splat: bool = False
    is_slash_ignored: bool = False


# --- patterns ---------------------------------------------------------------------------------------------------------

_GROUP: Final = r"\((?>[^()\\]|\\.|\((?>[^()\\]|\\.)*\))*\)"


def _path_to_regexp(found: re.Match[str]) -> tuple[str | None, str | None]:
    """Return the expression of a token of path-to-regexp: `/:name`, `/:name*`, `:name(.+)`, `(.*)`."""
    slash, name, of_name, bare, many, escaped = found.groups()
    if slash is None:  # an escaped character, or a sign that means nothing alone
        return re.escape(escaped) if escaped else None, None
    one = of_name or bare or "([^/]+)"
    if many in {"*", "+"} and bare is None:
        inner = one[1:-1]
        one = f"((?:{inner})(?:/(?:{inner}))*)"
        many = "?" if many == "*" else ""
    whole = f"{slash}{one}"
    return (f"(?:{whole})?" if many == "?" else f"{whole}{many or ''}"), name or ""


def _glob(found: re.Match[str]) -> tuple[str | None, str | None]:
    """Return the expression of a token of a glob: `**`, `*`, `:name`, `:name*`, `{a,b}`, `@(a|b)`."""
    slash, token, name, rest, choices = found.group("slash", "token", "name", "rest", "choices")
    if name is not None:
        return (f"(?:{slash}(.*))?" if slash else "(.*)") if rest else f"{slash}([^/]+)", name
    if choices is not None:
        parts = (re.escape(part).replace(r"\*\*", ".*").replace(r"\*", "[^/]*") for part in re.split(r"[,|]", choices))
        return f"{slash}(?:{'|'.join(parts)})", None
    if token == "**":  # noqa: S105
        return (f"(?:{slash}.*)?" if slash else ".*"), None
    return {"*": f"{slash}[^/]*", "?": f"{slash}[^/]"}.get(token), None


def _wildcard(found: re.Match[str]) -> tuple[str | None, str | None]:
    if found[1] is None:
        return ".*", None
    return "(?:" + "|".join(map(re.escape, found[1].split(","))) + ")", None


def _splat(found: re.Match[str]) -> tuple[str | None, str | None]:
    """Return the expression of a token of `_redirects`: `*`, which is optional behind the last slash, or `:name`."""
    if found[1] is not None:
        return "([^/]+)", found[1]
    return ("(?:/(.*))?" if found[0] == "/*" else "(.*)"), "splat"


SQUARE: Final = Syntax(re.compile(r"\[(\w+)\]"), lambda found: ("([^/]+)", found[1]))
_PATH_TOKEN: Final = re.compile(
    rf"(/?)(?::(\w+)({_GROUP})?|({_GROUP}))([*+?]?)|\\(.)|[*+?{{}}]", re.ASCII | re.DOTALL
)
VERCEL: Final = Syntax(_PATH_TOKEN, _path_to_regexp)
GLOB: Final = Syntax(
    re.compile(
        r"(?P<slash>/?)(?P<token>:(?P<name>[A-Za-z_]\w*)(?P<rest>\*)?|\*\*|[!+?*]\(|@?[({](?P<choices>[^(){}]*)[)}]|[*?])",
        re.ASCII,
    ),
    _glob,
)
AZURE: Final = Syntax(re.compile(r"\*|\{([^{}]*)\}"), _wildcard)
_OF_NETLIFY: Final = re.compile(r"/\*$|\*|:([A-Za-z]\w*)", re.ASCII)
_OF_CLOUDFLARE: Final = re.compile(r"\*|:([A-Za-z]\w*)", re.ASCII)
NETLIFY: Final = Syntax(_OF_NETLIFY, _splat, variable=_PLACEHOLDER, has_splat=True, is_slash_ignored=True)
CLOUDFLARE: Final = Syntax(_OF_CLOUDFLARE, _splat, variable=_PLACEHOLDER, has_splat=True)
PATTERN: Final = Syntax(None, lambda _: (None, None), is_regex=True)


def rule_of(rule: Rule, entry: Entry) -> Rule:
    """Return the rule of an entry, or its problem. Raise UsageError for a source that is not read."""
    rule = rule._replace(status=entry.status, forced=entry.forced)
    found = source(entry.old) if not entry.syntax.is_regex else Source(None, entry.old)
    if len(entry.old) > _LONGEST:
        raise UsageError("its source is too long")
    rule, names = _matched(rule._replace(host=entry.host or found.host), found.path, entry)
    rule = _with_needs(rule, entry, names)
    return tried(rule._replace(problem=entry.problem), _led, entry, names)


def _matched(rule: Rule, path: str, entry: Entry) -> tuple[Rule, dict[str, int]]:
    """Return a rule with what it matches, and the numbers of its groups by name. An escaped character is no token."""
    written, syntax = _ORIGIN.sub("", entry.old), entry.syntax
    if syntax.is_regex:
        rule = with_pattern(rule, written)
        return rule, {**{str(one): one for one in range(patterns.groups(written) + 1)}, **patterns.names(written)}
    tokens = list(syntax.tokens.finditer(written)) if syntax.tokens is not None else []
    if not tokens:
        return rule._replace(how="exact", source=path), {}
    if syntax.has_splat and [token[0].strip("/") for token in tokens] == ["*"] and written.endswith("/*"):
        # Netlify ignores the slash at the end of a path, so that /news/* matches /news, too.
        bare = path[:-2] if syntax.is_slash_ignored and len(path) > 2 else path[:-1]
        return rule._replace(how="prefix", source=bare), {"splat": 2}
    pattern, place, number = "^", 0, 0
    names: dict[str, int] = {}
    for token in tokens:
        expression, name = syntax.expression(token)
        if expression is None:
            raise UsageError(f"no rule has {token[0]} in its source")
        pattern += re.escape(decoded(written[place : token.start()])) + expression
        place = token.end()
        if name is not None:
            number += 1
            names[str(number)] = number
            names.setdefault(name or str(number), number)
    end = decoded(written[place:])
    end = re.escape(end.rstrip("/")) + "/?" if syntax.is_slash_ignored else re.escape(end)
    return with_pattern(rule, f"{pattern}{end}$"), names


def _with_needs(rule: Rule, entry: Entry, names: dict[str, int]) -> Rule:
    """Return a rule with what else it needs; the names of parameters whose values are placeholders are added."""
    made: list[tuple[str, str | int]] = []
    for name, value in entry.parameters:
        holder = _PLACEHOLDER.fullmatch(value) if entry.syntax.has_splat else None
        if holder is not None:
            names.setdefault(holder[1], max(names.values(), default=0) + 1)
        made.append((name, names[holder[1]] if holder is not None else value))
    return rule._replace(parameters=tuple(made), conditions=to_https(entry.old, entry.new or ""))


def _led(rule: Rule, entry: Entry, names: dict[str, int]) -> Rule:
    """Return a rule with its target: its status alone has none."""
    if entry.new is None:
        if entry.status < 400:
            raise UsageError("it has no target")
        return rule._replace(target=None)
    variable = entry.syntax.variable
    if entry.status < 400 and not variable.match(entry.new):
        check_target(entry.new)
    return with_target(rule, entry.new, variable, lambda one: names.get(one[one.lastindex or 0]))
