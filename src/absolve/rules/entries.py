"""Make rules from entries, which have placeholders in the syntax of their form, and read maps with an entry a line.

In: `Entry`, one line, row or object of a map; or the bytes of `_redirects` (Netlify, Cloudflare), the text of a
RewriteMap, Squarespace's mappings, redirects that were recorded. Out: a `Rule`, a `RuleSet`. Documentation of further
syntaxes is with their readers. Netlify: docs.netlify.com/manage/routing/redirects/overview and .../redirect-options.
Cloudflare: developers.cloudflare.com/pages/configuration/redirects. They differ in this:

- The default status is 301 for Netlify, 302 for Cloudflare.
- Netlify serves a file that exists before it applies a rule without `!`; Cloudflare applies rules first.
- Netlify ignores a slash at the end of a path, and has conditions on parameters, country, language, role, cookie.
- Cloudflare has at most 2,000 rules without and 100 rules with placeholders, each of at most 1,000 characters.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules.cells import lines
from absolve.rules.model import (
    RECORDED,
    STATUS,
    Rule,
    RuleSet,
    Source,
    check_target,
    paired,
    short,
    source,
    to_https,
    tried,
    with_pattern,
    with_target,
)
from absolve.urls.chain import REDIRECTS
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_LONGEST: Final = 8192
_ORIGIN: Final = re.compile(r"^(?:https?:)?//[^/]*")
_VARIABLE: Final = re.compile(r":([A-Za-z_]\w*)\*?|\$(\d)", re.ASCII)
_PLACEHOLDER: Final = re.compile(r":([A-Za-z]\w*)", re.ASCII)


class Entry(NamedTuple):
    """One entry of a file: its source, its target, and their syntax. `problem`: a condition that no rule supports."""

    old: str
    new: str | None
    status: int
    syntax: Syntax
    forced: bool = True
    problem: str | None = None
    host: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    text: str = ""  # the source as the file has it, if `old` is derived from it


class Syntax(NamedTuple):
    """The pattern syntax of a form: its tokens, and the regular expression of each, with the name of its group or None.

    For example, the token `/:id` of Vercel has `/([^/]+)` and `id`. An unnamed group has its number as name. A token
    without an expression is not supported. `variable`: a reference to a group in targets. `has_splat`: `/*` alone at
    the end of a path is a prefix, whose rest is `:splat`. `is_slash_ignored`: a slash at the end makes no difference.
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
    r"""Return the expression for a token of path-to-regexp, and its name: for example `/(\d+)` for `/:id(\d+)`."""
    slash, name, name_group, bare_group, many, escaped = found.groups()
    if slash is None:  # an escaped character, or a sign without a meaning of its own
        return re.escape(escaped) if escaped else None, None
    one = name_group or bare_group or "([^/]+)"
    if many in {"*", "+"} and bare_group is None:
        inner = one[1:-1]
        one = f"((?:{inner})(?:/(?:{inner}))*)"
        many = "?" if many == "*" else ""
    whole = f"{slash}{one}"
    return (f"(?:{whole})?" if many == "?" else f"{whole}{many or ''}"), name or ""


def _glob(found: re.Match[str]) -> tuple[str | None, str | None]:
    """Return the expression for a glob token: for example `/[^/]*` for `/*`, `.*` for `**`, `(?:a|b)` for `{a,b}`."""
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
    """Return the expression for a token of `_redirects`: for example `(?:/(.*))?` for `/*`, `([^/]+)` for `:id`."""
    if found[1] is not None:
        return "([^/]+)", found[1]
    return ("(?:/(.*))?" if found[0] == "/*" else "(.*)"), "splat"


SQUARE: Final = Syntax(re.compile(r"\[(\w+)\]"), lambda found: ("([^/]+)", found[1]))
_PATH_TOKEN: Final = re.compile(rf"(/?)(?::(\w+)({_GROUP})?|({_GROUP}))([*+?]?)|\\(.)|[*+?{{}}]", re.ASCII | re.DOTALL)
VERCEL: Final = Syntax(_PATH_TOKEN, _path_to_regexp)
GLOB: Final = Syntax(
    re.compile(
        r"(?P<slash>/?)(?P<token>:(?P<name>[A-Za-z_]\w*)(?P<rest>\*)?|\*\*|[!+?*]\(|@?[({](?P<choices>[^(){}]*)[)}]|[*?])",
        re.ASCII,
    ),
    _glob,
)
AZURE: Final = Syntax(re.compile(r"\*|\{([^{}]*)\}"), _wildcard)
_NETLIFY_TOKEN: Final = re.compile(r"/\*$|\*|:([A-Za-z]\w*)", re.ASCII)
_CLOUDFLARE_TOKEN: Final = re.compile(r"\*|:([A-Za-z]\w*)", re.ASCII)
NETLIFY: Final = Syntax(_NETLIFY_TOKEN, _splat, variable=_PLACEHOLDER, has_splat=True, is_slash_ignored=True)
CLOUDFLARE: Final = Syntax(_CLOUDFLARE_TOKEN, _splat, variable=_PLACEHOLDER, has_splat=True)
PATTERN: Final = Syntax(None, lambda _: (None, None), is_regex=True)


def make_rule(rule: Rule, entry: Entry) -> Rule:
    """Return the rule for an entry, perhaps with a problem. Raise UsageError for a source that is not supported."""
    rule = rule._replace(status=entry.status, forced=entry.forced)
    found = source(entry.old) if not entry.syntax.is_regex else Source(None, entry.old)
    if len(entry.old) > _LONGEST:
        raise UsageError("its source is too long")
    rule, names = _with_source(rule._replace(host=entry.host or found.host), found.path, entry)
    rule = _with_needs(rule, entry, names)
    return tried(rule._replace(problem=entry.problem), _with_target, entry, names)


def _with_source(rule: Rule, path: str, entry: Entry) -> tuple[Rule, dict[str, int]]:
    """Return a rule with its source, and the numbers of its groups by name. An escaped character is not a token."""
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
    """Return a rule with its parameters and conditions; add to `names` the placeholders in values of parameters."""
    parameters: list[tuple[str, str | int]] = []
    for name, value in entry.parameters:
        holder = _PLACEHOLDER.fullmatch(value) if entry.syntax.has_splat else None
        if holder is not None:
            names.setdefault(holder[1], max(names.values(), default=0) + 1)
        parameters.append((name, names[holder[1]] if holder is not None else value))
    return rule._replace(parameters=tuple(parameters), conditions=to_https(entry.old, entry.new or ""))


def _with_target(rule: Rule, entry: Entry, names: dict[str, int]) -> Rule:
    """Return a rule with its target; an error status alone has none."""
    if entry.new is None:
        if entry.status < 400:
            raise UsageError("it has no target")
        return rule._replace(target=None)
    variable = entry.syntax.variable
    if entry.status < 400 and not variable.match(entry.new):
        check_target(entry.new)
    return with_target(rule, entry.new, variable, lambda one: names.get(one[one.lastindex or 0]))


# --- maps with an entry on each line ----------------------------------------------------------------------------------

_PARAMETER: Final = re.compile(r"([^=\s:/?#]+)=(\S*)")
_CONDITIONS: Final = frozenset({"country", "language", "role", "cookie"})
_ARROW: Final = re.compile(r"(\S+)\s+->\s+(\S+)\s+(30[12]|404)")
_STATIC: Final = 2000
_DYNAMIC: Final = 100
_CHARACTERS: Final = 1000


def read_netlify(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Netlify.

    >>> [(rule.how, rule.source, rule.target) for rule in read_netlify("_redirects", b"/news/* /blog/:splat").rules]
    [('prefix', '/news', ('/blog/', 2))]
    """
    return RuleSet(name, "netlify", [*_rules(name, data, _netlify, _without_comment)], is_slash_ignored=True)


def read_cloudflare(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Cloudflare Pages, for example `/a/:id /b/:id 301`."""
    rules: list[Rule] = []
    left = {True: _STATIC, False: _DYNAMIC}  # by whether a rule is exact
    for rule in _rules(name, data, _cloudflare, _without_comment):
        is_exact = rule.how == "exact"
        left[is_exact] -= rule.problem is None
        if rule.problem is None and left[is_exact] < 0:
            most = _STATIC if is_exact else _DYNAMIC
            rules.append(rule._replace(problem=f"Cloudflare applies only the first {most} rules of its kind"))
        else:
            rules.append(rule)
    return RuleSet(name, "cloudflare", rules)


def read_rewrite_map(name: str, data: bytes) -> RuleSet:
    """Return the rules of a RewriteMap text file (httpd.apache.org/docs/2.4/rewrite/rewritemap.html#txt).

    For example, `/a /b`, `a /b`, and `"/a" := "/b",` of F5 are rules from `/a` to `/b`.
    """
    return RuleSet(name, "rewritemap", [*_rules(name, data, _key_and_value)])


def read_squarespace(name: str, data: bytes) -> RuleSet:
    """Return the rules of Squarespace's URL mappings, for example `/old/[name] -> /new/[name] 301` on a line."""
    return RuleSet(name, "squarespace", [*_rules(name, data, _arrow)])


def _rules(
    name: str, data: bytes, make: Callable[[Rule], Rule], bare: Callable[[str], str] = str.strip
) -> Iterator[Rule]:
    """Yield the rule of each line that is not a comment: `make(rule)`, where the rule has the text `bare(line)`."""
    for number, text, problem in lines(data):
        if problem is not None or text.strip()[:1] not in {"", "#"}:
            yield tried(Rule(name, number, bare(text.strip()), problem), make)


def _without_comment(text: str) -> str:
    """Return a line without the comment at its end: for example `/a /b#c` for `/a /b#c  # moved`."""
    found = re.search(r"\s#", text)
    return text[: found.start()].rstrip() if found else text


def _netlify(rule: Rule) -> Rule:
    """Return the rule of a line: for example, `/a id=:id /b/:id 301! Country=de` has each of its parts."""
    old, *rest = rule.text.split()
    parameters = [(found[1], found[2]) for found in takewhile(bool, map(_PARAMETER.fullmatch, rest)) if found]
    rest = rest[len(parameters) :]
    if not rest:
        raise UsageError("it has no target")
    new, *rest = rest
    status, forced = 301, False
    if rest and (found := STATUS.fullmatch(rest[0])):
        status, forced = int(found[1]), bool(found[2])
        del rest[0]
    entry = Entry(old, new, status, NETLIFY, forced, parameters=tuple(parameters))
    for word in rest:
        found = _PARAMETER.fullmatch(word)
        if found is None or found[1].lower() not in _CONDITIONS:
            raise UsageError(f"{short(word)} is neither a status nor a condition")
        problem = f"it depends on the {found[1].lower()} of the visitor, which cannot be known"
        return tried(rule, redirects_rule, entry)._replace(problem=problem)
    return redirects_rule(rule, entry)


def _cloudflare(rule: Rule) -> Rule:
    words = rule.text.split()
    if len(rule.text) > _CHARACTERS:
        raise UsageError(f"it has more than {_CHARACTERS} characters")
    if not 2 <= len(words) <= 3:
        raise UsageError("a rule has a source, a target, and perhaps a status")
    old, new, status = (*words, "302")[:3]
    found = STATUS.fullmatch(status)
    if found is None or found[2] or int(found[1]) not in {200, *REDIRECTS}:
        raise UsageError(f"{short(status)} is no status that Cloudflare knows")
    if not old.startswith("/"):
        raise UsageError("Cloudflare has no rules for other hosts")
    if int(status) == 200 and not new.startswith("/"):
        raise UsageError("Cloudflare sends other content only from the site itself")
    if old.count("*") > 1:
        raise UsageError("it has more than one *")
    if old.endswith(("/", "/*")) and re.fullmatch("/(?:.*/)?index(?:[.]html)?", new):
        raise UsageError("Cloudflare ignores it: it would lead in a circle, since /index.html is /")
    return redirects_rule(rule, Entry(old, new, int(status), CLOUDFLARE))


def redirects_rule(rule: Rule, entry: Entry) -> Rule:
    """Return the rule for an entry of Netlify or Cloudflare. Raise UsageError for a source that they do not support."""
    source(entry.old)
    is_netlify = entry.syntax is NETLIFY
    if is_netlify and "*" in entry.old.rstrip("*"):
        raise UsageError("Netlify knows * only at the end of a path")
    if "?" in entry.old:
        raise UsageError(f"it matches no query{': write parameters behind the path' if is_netlify else ''}")
    if entry.status < 400 and not (entry.new or "").startswith(":"):
        check_target(entry.new or "")
    return make_rule(rule, entry)


def _key_and_value(rule: Rule) -> Rule:
    words = rule.text.split(None, 2)
    if words[1:2] == [":="]:
        words = [word.strip('",') for word in words[::2]]
    if len(words) < 2:
        raise UsageError("it has no value")
    if len(words) > 2 and not words[2].startswith("#"):
        raise UsageError("it has more than a key and a value")
    return paired(rule, *words[:2])


def _arrow(rule: Rule) -> Rule:
    found = _ARROW.fullmatch(rule.text)
    if found is None:
        raise UsageError("a line is /old -> /new 301")
    return make_rule(rule, Entry(found[1], re.sub(r"\[(\w+)\]", r":\1", found[2]), int(found[3]), SQUARE))


# --- recorded ---------------------------------------------------------------------------------------------------------


class Recorded(NamedTuple):
    """A redirect: absolute URLs, the status (302 for a `meta` refresh), and the document and line that contain it."""

    url: str
    target: str
    status: int
    document: str
    line: int = 0


def recorded(rows: Iterable[Recorded | tuple[str, str, int, str, int]], name: str = "recorded redirects") -> RuleSet:
    """Return the rules of recorded redirects; the first one for a URL counts."""
    rules = []
    for url, target, status, document, line in rows:
        rule = Rule(document, line, f"{url} -> {target} ({status})", status=status, query="none", forced=False)
        with suppress(UsageError):
            found = source(url)
            rules.append(rule._replace(source=found.path, host=found.host, target=(target,)))
    return RuleSet(name, RECORDED, rules)
