"""Read the redirects of hosts that keep them in JSON or TOML: one small table of names for each form.

In: the bytes of the file. Out: a `RuleSet`. The documentation:

- netlify.toml: docs.netlify.com/manage/routing/redirects/overview
- vercel.json: vercel.com/docs/project-configuration (redirects, rewrites, routes)
- firebase.json: firebase.google.com/docs/hosting/full-config
- staticwebapp.config.json: learn.microsoft.com/azure/static-web-apps/configuration
- RoutingRules of S3, JSON: docs.aws.amazon.com/AmazonS3/latest/userguide/how-to-page-redirect.html
- Redirection (WordPress), JSON: redirection.me/support/import-export-redirects

A rule has the line of its source in the file, or the number of its entry where one line has several.

    >>> data = b'{"redirects": [{"source": "/a/:id", "destination": "/b/:id"}]}'
    >>> [(rule.source, rule.target, rule.status) for rule in read_vercel("vercel.json", data).rules]
    [('^/a/([^/]+)$', ('/b/', 1), 308)]
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import UsageError
from absolve.rules import entries, table
from absolve.rules.cells import decoded, toml
from absolve.rules.entries import AZURE, GLOB, NETLIFY, PATTERN, VERCEL, Entry, make_rule
from absolve.rules.model import Condition, Rule, RuleSet, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_LARGEST: Final = 32 << 20  # bytes: an object takes ten times as much memory
# Comments, which firebase.json may have, and commas before an end.
_NOT_JSON: Final = re.compile(r'("(?>(?:[^"\\]|\\.)*)"?)|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?>(?:[^"\\]|\\.)*)"?)|,(?=\s*[}\]])', re.DOTALL)
_PLAIN: Final = re.compile(r"[\w.~:-]+", re.ASCII)


# --- the forms --------------------------------------------------------------------------------------------------------


def _vercel_entries(data: Any) -> Iterator[Entry]:
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
            yield _route_entry(one, forced=not is_behind)


def _route_entry(one: dict[str, Any], *, forced: bool) -> Entry:
    """Return an entry of the older `routes`, for example `{"src": "/a/(.*)", "dest": "/b/$1"}`, with a whole path."""
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


def _firebase_entries(data: Any) -> Iterator[Entry]:
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


def _azure_entries(data: Any) -> Iterator[Entry]:
    for one in dicts(data, "routes"):
        redirect, rewrite = _text(one, "redirect", None), _text(one, "rewrite", None)
        status = _status(one.get("statusCode"), 302 if redirect is not None else 200)
        if redirect is None and rewrite is None and status < 400:
            continue  # who may see it, its header fields
        roles = one.get("allowedRoles")
        is_open = not one.get("methods") and (not roles or (isinstance(roles, list) and "anonymous" in roles))
        problem = None if is_open else "it depends on the role of the visitor or on the method"
        yield Entry(_text(one, "route"), redirect or rewrite, status, AZURE, problem=problem)


def s3_entries(data: Any) -> Iterator[Entry]:
    """Yield the entries of RoutingRules: for example, `KeyPrefixEquals` with `a/` gives the pattern `^/a/(.*)$`."""
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


def _netlify_rule(rule: Rule, one: dict[str, Any]) -> Rule:
    """Return the rule of a table `redirects`: for example, `from = "/a"` and `to = "/b"`, as in `_redirects`."""
    query, conditions = one.get("query"), one.get("conditions")
    parameters = tuple((str(name), str(value)) for name, value in query.items()) if isinstance(query, dict) else ()
    forced, status = one.get("force") is True, _status(one.get("status"), 301)
    old, new = _text(one, "from") or _text(one, "origin"), _text(one, "to") or _text(one, "destination")
    finished = tried(rule, entries.redirects_rule, Entry(old, new, status, NETLIFY, forced, parameters=parameters))
    if conditions and finished.problem is None:
        names = ", ".join(sorted(map(str, conditions))).lower() if isinstance(conditions, dict) else "request"
        return finished._replace(problem=f"it depends on the {names} of the visitor, which cannot be known")
    return finished


def _redirection_rows(data: Any) -> Iterator[tuple[table.Redirect, dict[str, Any]]]:
    """Yield the rows of Redirection's export, such as `{"url": "/a", "action_data": {"url": "/b"}}`, with flags."""
    for one in dicts(data, "redirects"):
        action = one.get("action_data")
        new = _text(action, "url", "") if isinstance(action, dict) else action if isinstance(action, str) else ""
        old, is_regex = _text(one, "url"), bool(one.get("regex"))
        if one.get("enabled") is False or one.get("status") == "disabled":
            continue
        flags = matched.get("source") if isinstance(matched := one.get("match_data"), dict) else None
        row = table.Redirect(0, f"{old} {new}", None, old, new, _status(one.get("action_code"), 301))
        row = row._replace(how=table.SEARCH if is_regex else table.EXACT)
        kinds = one.get("match_type", "url"), one.get("action_type", "url")
        if kinds[0] != "url" or kinds[1] not in ("url", "error"):
            row = row._replace(problem=f"it depends on more than the URL: {kinds[0]}, {kinds[1]}")
        yield row, flags if isinstance(flags, dict) else {}


def _with_flags(rule: Rule, flags: dict[str, Any]) -> Rule:
    """Return a rule of Redirection with its flags: for example, `flag_trailing` for a slash at the end or none."""
    query = flags.get("flag_query")
    rule = rule._replace(ignores_case=flags.get("flag_case") is True, query="drop" if query == "ignore" else "keep")
    if rule.how != "exact" or "?" in rule.source:
        return rule
    if flags.get("flag_trailing") is not True:
        return rule._replace(query="none") if query == "exact" else rule
    without = (Condition("query", "^$"),) if query == "exact" else ()
    return rule._replace(how="regex", source=f"^{re.escape(rule.source.rstrip('/'))}/?$", conditions=without)


_ENTRIES: Final[dict[str, Callable[[Any], Iterator[Entry]]]] = {
    "azure": _azure_entries,
    "firebase": _firebase_entries,
    "s3": s3_entries,
    "vercel": _vercel_entries,
}


def _read(form: str, name: str, data: bytes) -> RuleSet:
    """Return the rules of a file of a form."""
    text = decoded(data)
    value = parse_text(name, text, is_toml=form == "netlify-toml")
    rules = _numbered(name, text, form, value)
    return RuleSet(name, form, rules, is_slash_ignored=form == "netlify-toml")


read_azure: Final = partial(_read, "azure")
read_firebase: Final = partial(_read, "firebase")
read_netlify_toml: Final = partial(_read, "netlify-toml")
read_redirection: Final = partial(_read, "redirection")
read_s3: Final = partial(_read, "s3")
read_vercel: Final = partial(_read, "vercel")


def _numbered(name: str, text: str, form: str, value: Any) -> list[Rule]:
    pairs = list(_sources_and_rules(name, form, value))
    found = _lines(text, [old for old, _ in pairs])
    return [rule._replace(line=line) for line, (_, rule) in zip(found, pairs, strict=True)]


def _sources_and_rules(name: str, form: str, value: Any) -> Iterator[tuple[str, Rule]]:
    """Yield the source of each entry, as written in the file, with its rule."""
    if form == "redirection":
        for row, flags in _redirection_rows(value):
            yield row.old, _with_flags(table.row_rule(name, row), flags)
    elif form == "netlify-toml":
        for one in dicts(value, "redirects"):
            old = _text(one, "from")
            yield old, _netlify_rule(Rule(name, 0, f"{old} {_text(one, 'to')}"), one)
    else:
        for entry in _ENTRIES[form](value):
            rule = Rule(name, 0, f"{entry.old} {entry.new or entry.status}")
            yield entry.text or entry.old, tried(rule, make_rule, entry)


def with_distinct_lines(rules: list[Rule]) -> list[Rule]:
    """Return rules with distinct lines: if two are on one line, each has its number instead."""
    if len({rule.line for rule in rules}) == len(rules):
        return rules
    return [rule._replace(line=number) for number, rule in enumerate(rules, start=1)]


def _lines(text: str, sources: Sequence[str]) -> list[int]:
    """Return the line of each source; their numbers if two are on one line, or one cannot be found."""
    lines, place, line = [], 0, 1
    for old in sources:
        escaped = json.dumps(old, ensure_ascii=False)[1:-1]
        found = _find_first(text, place, escaped, old) if old else -1
        if found < 0:
            break
        line += text.count("\n", place, found)
        place = found + len(old)
        lines.append(line)
    is_apart = len(set(lines)) == len(sources)
    return lines if is_apart else list(range(1, len(sources) + 1))


def _find_first(text: str, place: int, *spellings: str) -> int:
    """Return the offset of the first of two spellings behind a place, -1 without any."""
    if len(set(spellings)) == 1:
        return text.find(spellings[0], place)
    found = re.compile("|".join(map(re.escape, spellings))).search(text, place)
    return found.start() if found is not None else -1


def parse_text(name: str, text: str, *, is_toml: bool = False) -> Any:
    """Return the value of JSON, perhaps with comments, or TOML. Raise UsageError with the place of a mistake."""
    if len(text) > _LARGEST:
        raise UsageError(f"{name}: it has more than {_LARGEST >> 20} MiB")
    try:
        return toml(text) if is_toml else _json(text)
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
    """Return a value as a status, or the default of the form if it is not a status."""
    text = str(value)
    return int(text) if not isinstance(value, bool) and re.fullmatch("[1-5][0-9][0-9]", text, re.ASCII) else otherwise
