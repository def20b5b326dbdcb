"""Read the redirects of hosts that keep them in JSON or TOML: one small table of names for each form.

In: the bytes of the file. Out: a `RuleSet`. The documentation:

- netlify.toml: docs.netlify.com/manage/routing/redirects/overview
- vercel.json: vercel.com/docs/project-configuration (redirects, rewrites, routes)
- firebase.json: firebase.google.com/docs/hosting/full-config
- staticwebapp.config.json: learn.microsoft.com/azure/static-web-apps/configuration
- RoutingRules of S3, JSON: docs.aws.amazon.com/AmazonS3/latest/userguide/how-to-page-redirect.html
- Redirection (WordPress), JSON: redirection.me/support/import-export-redirects

A rule has the line of its source in the file; where one line has several, the number of its entry.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.maps import redirects, spreadsheet
from absolve.audit.maps.model import EXACT, Rule, RuleSet
from absolve.audit.maps.request import Source, source, target_fault, with_pattern, with_target
from absolve.audit.maps.request import decoded as unescaped
from absolve.core import toml
from absolve.core.errors import UsageError
from absolve.tables import redirects as tables
from absolve.tables.text import decoded, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_LARGEST: Final = 32 << 20  # bytes: an object takes ten times as much memory
# Comments, which firebase.json may have, and commas before an end.
_NOT_JSON: Final = re.compile(r'("(?>(?:[^"\\]|\\.)*)"?)|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?>(?:[^"\\]|\\.)*)"?)|,(?=\s*[}\]])', re.DOTALL)
_LONGEST: Final = 8192
_ORIGIN: Final = re.compile(r"^(?:https?:)?//[^/]*")
_PLAIN: Final = re.compile(r"[\w.~:-]+", re.ASCII)
_VARIABLE: Final = re.compile(r":([A-Za-z_]\w*)\*?|\$(\d)", re.ASCII)


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

    An unnamed group has its number as name. A token without expression is one that no rule has.
    """

    tokens: re.Pattern[str] | None
    expression: Callable[[re.Match[str]], tuple[str | None, str | None]]
    is_regex: bool = False


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


SQUARE: Final = Syntax(re.compile(r"\[(\w+)\]"), lambda found: ("([^/]+)", found[1]))
_ARROW: Final = re.compile(r"(\S+)\s+->\s+(\S+)\s+(30[12]|404)")
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
PATTERN: Final = Syntax(None, lambda _: (None, None), is_regex=True)
TEXT: Final = Syntax(None, lambda _: (None, None))


def rule_of(rule: Rule, entry: Entry) -> Rule:
    """Return the rule of an entry, or its problem."""
    rule = rule._replace(status=entry.status, forced=entry.forced, parameters=entry.parameters)
    found = source(entry.old) if not entry.syntax.is_regex else Source(None, entry.old)
    if isinstance(found, str) or len(entry.old) > _LONGEST:
        return rule._replace(problem=found if isinstance(found, str) else "its source is too long")
    rule, names = _matched(rule._replace(host=entry.host or found.host), found.path, entry)
    if rule.problem is not None or entry.problem is not None:
        return rule._replace(problem=rule.problem or entry.problem)
    return _led(rule, entry, names)


def _matched(rule: Rule, source_: str, entry: Entry) -> tuple[Rule, dict[str, int]]:
    """Return a rule with what it matches, and the numbers of its groups by name. An escaped character is no token."""
    path, syntax = _ORIGIN.sub("", entry.old), entry.syntax
    if syntax.is_regex:
        return with_pattern(rule, path), _names(path)
    tokens = list(syntax.tokens.finditer(path)) if syntax.tokens is not None else []
    if not tokens:
        return rule._replace(how=EXACT, source=source_), {}
    pattern, place, number = "^", 0, 0
    names: dict[str, int] = {}
    for token in tokens:
        expression, name = syntax.expression(token)
        if expression is None:
            return rule._replace(problem=f"no rule has {token[0]} in its source"), {}
        pattern += re.escape(unescaped(path[place : token.start()])) + expression
        place = token.end()
        if name is not None:
            number += 1
            names.update({str(number): number, **({name: number} if name else {})})
    return with_pattern(rule, f"{pattern}{re.escape(unescaped(path[place:]))}$"), names


def _names(pattern: str) -> dict[str, int]:
    from absolve.core.patterns import groups, names

    try:
        return {**{str(number): number for number in range(groups(pattern) + 1)}, **names(pattern)}
    except UsageError:
        return {}


def _led(rule: Rule, entry: Entry, names: dict[str, int]) -> Rule:
    """Return a rule with its target: its status alone has none."""
    if entry.new is None:
        is_answer = entry.status >= 400
        return rule._replace(target=None) if is_answer else rule._replace(problem="it has no target")
    if (fault := target_fault(entry.new)) is not None and not entry.new.startswith((":", "$")):
        return rule._replace(problem=fault)
    return with_target(rule, entry.new, _VARIABLE, lambda one: names.get(one[1] or one[2]))


# --- the forms --------------------------------------------------------------------------------------------------------


def _of_vercel(data: Any) -> Iterator[Entry]:
    data = {"redirects": data} if isinstance(data, list) else data  # as next.config.js has them
    for one in dicts(data, "redirects"):
        status = _status(one.get("statusCode"), 307 if one.get("permanent") is False else 308)
        yield _with_conditions(Entry(_text(one, "source"), _text(one, "destination", None), status, VERCEL), one)
    for one in dicts(data, "rewrites"):
        entry = Entry(_text(one, "source"), _text(one, "destination", None), 200, VERCEL, forced=False)
        yield _with_conditions(entry, one)
    is_behind = False
    for one in dicts(data, "routes"):
        is_behind = is_behind or one.get("handle") == "filesystem"
        if "src" in one:
            yield _of_route(one, forced=not is_behind)


def _of_route(one: dict[str, Any], *, forced: bool) -> Entry:
    """Return an entry of the older `routes`: a regular expression of the whole path."""
    headers = one.get("headers")
    fields = headers.items() if isinstance(headers, dict) else ()
    location = next((value for name, value in fields if name.lower() == "location"), None)
    status = _status(one.get("status"), 302 if location is not None else 200)
    new = location if isinstance(location, str) else _text(one, "dest", None)
    problem = "it goes on with the next route" if one.get("continue") or (new is None and status < 300) else None
    entry = Entry(f"^(?:{_text(one, 'src')})$", new, status, PATTERN, forced=forced, problem=problem)
    return _with_conditions(entry._replace(text=_text(one, "src")), one)


def _with_conditions(entry: Entry, one: dict[str, Any]) -> Entry:
    """Return an entry with the host and the parameters that it needs; any other condition is a problem."""
    is_limited = one.get("missing") or one.get("methods")
    problem = "it depends on the method or on what a request lacks" if is_limited else None
    for condition in dicts(one, "has"):
        kind, key, value = (condition.get(name) for name in ("type", "key", "value"))
        kind, key = ("host", None) if (kind, str(key).lower()) == ("header", "host") else (kind, key)
        if isinstance(value, str) and _PLAIN.fullmatch(value) and kind == "host":
            entry = entry._replace(host=value.lower())
        elif isinstance(value, str) and _PLAIN.fullmatch(value) and kind == "query" and isinstance(key, str):
            entry = entry._replace(parameters=(*entry.parameters, (key, value)))
        else:
            problem = f"it depends on a {kind if isinstance(kind, str) else 'condition'} of the request"
    return entry._replace(problem=problem) if problem is not None else entry


def _of_firebase(data: Any) -> Iterator[Entry]:
    hosting = data.get("hosting", data) if isinstance(data, dict) else data
    for site in hosting if isinstance(hosting, list) else [hosting]:
        for kind, forced in (("redirects", True), ("rewrites", False)):
            for one in dicts(site, kind):
                syntax, name = (PATTERN, "regex") if "regex" in one else (GLOB, "source" if "source" in one else "glob")
                new = _text(one, "destination", None) or _text(one, "location", None)
                status = _status(one.get("type", one.get("statusCode")), 301) if forced else 200
                problem = "another program answers it" if new is None and not forced else None
                text = _text(one, name)
                old = text if syntax.is_regex or text.startswith("/") else f"/{text}"
                yield Entry(old, new, status, syntax, forced=forced, problem=problem, text=text)


def _of_azure(data: Any) -> Iterator[Entry]:
    for one in dicts(data, "routes"):
        redirect, rewrite = _text(one, "redirect", None), _text(one, "rewrite", None)
        status = _status(one.get("statusCode"), 302 if redirect is not None else 200)
        if redirect is None and rewrite is None and status < 400:
            continue  # who may see it, its header fields
        roles = one.get("allowedRoles")
        is_open = not one.get("methods") and (not roles or (isinstance(roles, list) and "anonymous" in roles))
        problem = None if is_open else "it depends on the role of the visitor or on the method"
        yield Entry(_text(one, "route"), redirect or rewrite, status, AZURE, problem=problem)


def of_s3(data: Any) -> Iterator[Entry]:
    every = data if isinstance(data, dict) else {"RoutingRules": data}
    for one in dicts(every, "RoutingRules"):
        found = (one.get(name) for name in ("Condition", "Redirect"))
        condition, redirect = (value if isinstance(value, dict) else {} for value in found)
        text = _text(condition, "KeyPrefixEquals", "")
        prefix = text.removeprefix("/")
        error = str(condition.get("HttpErrorCodeReturnedEquals") or "")
        problem = None if error in {"", "403", "404"} else f"it depends on an answer with status {error}"
        status = _status(redirect.get("HttpRedirectCode"), 301)
        old = f"^/{re.escape(prefix)}(.*)$"
        yield Entry(old, _s3_target(redirect, prefix), status, PATTERN, forced=not error, problem=problem, text=text)


def _s3_target(redirect: dict[str, Any], prefix: str) -> str:
    key = _text(redirect, "ReplaceKeyWith", None)
    path = key if key is not None else f"{_text(redirect, 'ReplaceKeyPrefixWith', prefix)}$1"
    host = _text(redirect, "HostName", None)
    scheme = _text(redirect, "Protocol", "https" if host is not None else "")
    return f"{scheme}://{host}/{path.removeprefix('/')}" if host is not None else f"/{path.removeprefix('/')}"


def _of_netlify(data: Any) -> Iterator[dict[str, Any]]:
    yield from dicts(data, "redirects")


def _netlify_rule(rule: Rule, one: dict[str, Any]) -> Rule:
    """Return the rule of a table `redirects`, which has what a line of `_redirects` has."""
    query, conditions = one.get("query"), one.get("conditions")
    parameters = [(str(name), str(value)) for name, value in query.items()] if isinstance(query, dict) else []
    forced, status = one.get("force") is True, _status(one.get("status"), 301)
    old, new = _text(one, "from") or _text(one, "origin"), _text(one, "to") or _text(one, "destination")
    made = redirects.matched(rule._replace(status=status, forced=forced), old, new, parameters, is_netlify=True)
    if conditions and made.problem is None:
        names = ", ".join(sorted(map(str, conditions))).lower() if isinstance(conditions, dict) else "request"
        return made._replace(problem=f"it depends on the {names} of the visitor, which cannot be known")
    return made


def _redirection_rows(data: Any) -> Iterator[tables.Redirect]:
    """Yield the rows of an export of Redirection: `url` leads to `action_data.url` if it is enabled."""
    for one in dicts(data, "redirects"):
        action = one.get("action_data")
        new = _text(action, "url", "") if isinstance(action, dict) else action if isinstance(action, str) else ""
        old, is_regex = _text(one, "url"), bool(one.get("regex"))
        if one.get("enabled") is False or one.get("status") == "disabled":
            continue
        row = tables.Redirect(0, 0, f"{old} {new}", None, old, new, _status(one.get("action_code"), 301))
        row = row._replace(how=tables.SEARCH if is_regex else tables.EXACT)
        kinds = one.get("match_type", "url"), one.get("action_type", "url")
        if kinds[0] != "url" or kinds[1] not in ("url", "error"):
            row = row._replace(problem=f"it depends on more than the URL: {kinds[0]}, {kinds[1]}")
        yield row


_ENTRIES: Final[dict[str, Callable[[Any], Iterator[Entry]]]] = {
    "azure": _of_azure,
    "firebase": _of_firebase,
    "s3": of_s3,
    "vercel": _of_vercel,
}


def read_squarespace(name: str, data: bytes) -> RuleSet:
    """Return the rules of Squarespace's URL mappings: `/old/[name] -> /new/[name] 301` on each line."""
    rules = []
    for number, text, problem in lines(data):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        rule = Rule(name, number, text.strip(), problem)
        found = _ARROW.fullmatch(text.strip())
        if problem is None and found is None:
            rule = rule._replace(problem="a line is /old -> /new 301")
        elif problem is None and found is not None:
            new = re.sub(r"\[(\w+)\]", r":\1", found[2])
            rule = rule_of(rule, Entry(found[1], new, int(found[3]), SQUARE))
        rules.append(rule)
    return RuleSet(name, "squarespace", rules)


FORMS: Final = (*_ENTRIES, "netlify-toml", "redirection")


def reader(form: str) -> Callable[[str, bytes], RuleSet]:
    """Return the reader of a form."""

    def read(name: str, data: bytes) -> RuleSet:
        text = decoded(data)
        value = loaded(name, text, is_toml=form == "netlify-toml")
        rules = _numbered(name, text, form, value)
        return RuleSet(name, form, rules, is_slash_ignored=form == "netlify-toml")

    return read


def _numbered(name: str, text: str, form: str, value: Any) -> list[Rule]:
    made = list(_made(name, form, value))
    found = _lines(text, [old for old, _ in made])
    return [rule._replace(line=line) for line, (_, rule) in zip(found, made, strict=True)]


def _made(name: str, form: str, value: Any) -> Iterator[tuple[str, Rule]]:
    """Yield the source of each entry as the file has it, with its rule."""
    if form == "redirection":
        for row in _redirection_rows(value):
            yield row.old, spreadsheet.rule(name, row)
    elif form == "netlify-toml":
        for one in _of_netlify(value):
            old = _text(one, "from")
            yield old, _netlify_rule(Rule(name, 0, f"{old} {_text(one, 'to')}"), one)
    else:
        for entry in _ENTRIES[form](value):
            yield entry.text or entry.old, rule_of(Rule(name, 0, f"{entry.old} {entry.new or entry.status}"), entry)


def apart(rules: list[Rule]) -> list[Rule]:
    """Return rules that each have a line of their own: the number of the rule where two are on one line."""
    if len({rule.line for rule in rules}) == len(rules):
        return rules
    return [rule._replace(line=number) for number, rule in enumerate(rules, start=1)]


def _lines(text: str, sources: Sequence[str]) -> list[int]:
    """Return the lines of the sources; their numbers where two are on one line, or one cannot be found."""
    made, place, line = [], 0, 1
    for old in sources:
        escaped = json.dumps(old, ensure_ascii=False)[1:-1]
        found = _found(text, place, escaped, old) if old else -1
        if found < 0:
            break
        line += text.count("\n", place, found)
        place = found + len(old)
        made.append(line)
    is_apart = len(set(made)) == len(sources)
    return made if is_apart else list(range(1, len(sources) + 1))


def _found(text: str, place: int, *spellings: str) -> int:
    """Return the offset of the first of two spellings from a place on, -1 if neither follows."""
    if len(set(spellings)) == 1:
        return text.find(spellings[0], place)
    found = re.compile("|".join(map(re.escape, spellings))).search(text, place)
    return found.start() if found is not None else -1


def loaded(name: str, text: str, *, is_toml: bool = False) -> Any:
    """Return the value of JSON, with comments, or TOML. Raise UsageError with the place of a mistake."""
    if len(text) > _LARGEST:
        raise UsageError(f"{name}: it has more than {_LARGEST >> 20} MiB")
    try:
        return toml.parsed(text) if is_toml else _json(text)
    except (ValueError, RecursionError) as error:
        line = re.search(r"\bline (\d+)", str(error))  # of both modules
        place = f":{line[1]}" if line is not None else ""
        kind = "TOML" if is_toml else "JSON"
        text = f"{name}{place}: it is no {kind}: {error}: a map is a file that its program can read"
        raise UsageError(text) from error


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        bare = _NOT_JSON.sub(lambda found: found[1] or " ", text)
        return json.loads(_TRAILING.sub(lambda found: found[1] or "", bare))


def dicts(data: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list in an object."""
    found = data.get(name) if isinstance(data, dict) else None
    yield from (one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def _text(one: Any, name: str, otherwise: Any = "") -> Any:
    value = one.get(name) if isinstance(one, dict) else None
    return value if isinstance(value, str) else otherwise


def _status(value: Any, otherwise: int) -> int:
    """Return a status, that of a form where an entry has none that is one."""
    text = str(value)
    return int(text) if not isinstance(value, bool) and re.fullmatch("[1-5][0-9][0-9]", text, re.ASCII) else otherwise
