"""Read maps with a rule on each line: `_redirects`, as Netlify and Cloudflare Pages do, and the text of a RewriteMap.

In: the bytes of the file, or redirects that were recorded in a WARC or HAR. Out: a `RuleSet`. Netlify:
docs.netlify.com/manage/routing/redirects/overview and .../redirect-options. Cloudflare:
developers.cloudflare.com/pages/configuration/redirects. They differ in this:

- The default status is 301 for Netlify, 302 for Cloudflare.
- Netlify serves a file that exists before it applies a rule without `!`; Cloudflare applies rules first.
- Netlify ignores a slash at the end of a path, and has conditions on parameters, country, language, role, cookie.
- Cloudflare has at most 2,000 rules without and 100 rules with placeholders, each of at most 1,000 characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.model import EXACT, NONE, PREFIX, RECORDED, Rule, RuleSet
from absolve.audit.maps.request import (
    STATUS,
    Source,
    placeholder,
    short,
    source,
    target_fault,
    to_https,
    with_pattern,
    with_target,
)
from absolve.tables.text import Line, lines
from absolve.urls.chain import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PLACEHOLDER: Final = re.compile(r":([A-Za-z]\w*)", re.ASCII)
_PARAMETER: Final = re.compile(r"([^=\s:/?#]+)=(\S*)")
_CONDITIONS: Final = frozenset({"country", "language", "role", "cookie"})
_SOURCE_PART: Final = re.compile(r"\*|:[A-Za-z]\w*", re.ASCII)
_STATIC: Final = 2000
_DYNAMIC: Final = 100
_CHARACTERS: Final = 1000


def read_netlify(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Netlify."""
    rules = [_netlify(Rule(name, *found), found.text.split()) for found in _rule_lines(data)]
    return RuleSet(name, "netlify", rules, is_slash_ignored=True)


def read_cloudflare(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Cloudflare Pages."""
    rules: list[Rule] = []
    left = {True: _STATIC, False: _DYNAMIC}  # by whether a rule is exact
    for found in _rule_lines(data):
        rule = _cloudflare(Rule(name, *found), found.text.split())
        if rule.problem is None:
            is_exact = rule.how == EXACT
            left[is_exact] -= 1
            if left[is_exact] < 0:
                most = _STATIC if is_exact else _DYNAMIC
                rule = rule._replace(problem=f"Cloudflare applies only the first {most} rules of its kind")
        rules.append(rule)
    return RuleSet(name, "cloudflare", rules)


def _rule_lines(data: bytes) -> Iterator[Line]:
    for found in lines(data):
        text = found.text.strip()
        if found.problem is not None or (text and not text.startswith("#")):
            yield found._replace(text=_without_comment(text))


def _without_comment(text: str) -> str:
    """Return a line without the comment at its end: `#` behind white space (a fragment has none before it)."""
    found = re.search(r"\s#", text)
    return text[: found.start()].rstrip() if found else text


# --- Netlify ----------------------------------------------------------------------------------------------------------


def _netlify(rule: Rule, words: list[str]) -> Rule:
    """Return the rule of a line: source, parameters, target, status, conditions."""
    if rule.problem is not None:
        return rule
    old, *rest = words
    parameters: list[tuple[str, str]] = []
    while rest and (found := _PARAMETER.fullmatch(rest[0])):
        parameters.append((found[1], found[2]))
        del rest[0]
    if not rest:
        return rule._replace(problem="it has no target")
    new, *rest = rest
    status, forced = 301, False
    if rest and (found := STATUS.fullmatch(rest[0])):
        status, forced = int(found[1]), bool(found[2])
        del rest[0]
    for word in rest:
        found = _PARAMETER.fullmatch(word)
        if found is None or found[1].lower() not in _CONDITIONS:
            return rule._replace(problem=f"{short(word)} is neither a status nor a condition")
        problem = f"it depends on the {found[1].lower()} of the visitor, which cannot be known"
        rule = matched(rule._replace(status=status, forced=forced), old, new, parameters, is_netlify=True)
        return rule._replace(problem=problem)
    return matched(rule._replace(status=status, forced=forced), old, new, parameters, is_netlify=True)


# --- Cloudflare -------------------------------------------------------------------------------------------------------


def _cloudflare(rule: Rule, words: list[str]) -> Rule:
    if rule.problem is not None:
        return rule
    if len(rule.text) > _CHARACTERS:
        return rule._replace(problem=f"it has more than {_CHARACTERS} characters")
    if not 2 <= len(words) <= 3:
        return rule._replace(problem="a rule has a source, a target, and perhaps a status")
    status = 302
    if len(words) == 3:
        found = STATUS.fullmatch(words[2])
        if found is None or found[2] or int(found[1]) not in {200, *REDIRECTS}:
            return rule._replace(problem=f"{short(words[2])} is no status that Cloudflare knows")
        status = int(found[1])
    old, new = words[:2]
    if not old.startswith("/"):
        return rule._replace(problem="Cloudflare has no rules for other hosts")
    if status == 200 and not new.startswith("/"):
        return rule._replace(problem="Cloudflare sends other content only from the site itself")
    if old.count("*") > 1:
        return rule._replace(problem="it has more than one *")
    return matched(rule._replace(status=status), old, new, [], is_netlify=False)


# --- both -------------------------------------------------------------------------------------------------------------


def matched(rule: Rule, old: str, new: str, parameters: list[tuple[str, str]], *, is_netlify: bool) -> Rule:
    """Return the rule with its source and target, or with the problem of one of them."""
    found = source(old)
    fault = found if isinstance(found, str) else None
    if is_netlify and "*" in old.rstrip("*"):
        fault = fault or "Netlify knows * only at the end of a path"
    if fault is None and "?" in old:
        fault = "it matches no query: write parameters behind the path" if is_netlify else "it matches no query"
    fault = fault or (target_fault(new) if rule.status < 400 and not new.startswith(":") else None)
    if fault is not None or not isinstance(found, Source):
        return rule._replace(problem=fault)
    rule, names = _with_source(rule._replace(host=found.host), found.path, is_netlify=is_netlify)
    given: list[tuple[str, str | int]] = []
    for name, value in parameters:
        holder = _PLACEHOLDER.fullmatch(value)
        if holder is not None:
            names.setdefault(holder[1], max(names.values(), default=0) + 1)
        given.append((name, names[holder[1]] if holder is not None else value))
    if rule.problem is not None:
        return rule
    rule = rule._replace(parameters=tuple(given), conditions=to_https(old, new))
    return with_target(rule, new, _PLACEHOLDER, lambda one: names.get(one[1]))  # other names are text


def _with_source(rule: Rule, path: str, *, is_netlify: bool) -> tuple[Rule, dict[str, int]]:
    """Return the rule with what it matches, and the numbers of the groups of its placeholders."""
    parts = _SOURCE_PART.findall(path)
    if not parts:
        return rule._replace(how=EXACT, source=path), {}
    if parts == ["*"] and path.endswith("/*"):
        # Netlify ignores the slash at the end of a path, so that /news/* matches /news, too.
        prefix = path[:-2] if is_netlify and len(path) > 2 else path[:-1]
        return rule._replace(how=PREFIX, source=prefix), {"splat": 2}
    names: dict[str, int] = {}
    pattern = ""
    place = 0
    for number, found in enumerate(_SOURCE_PART.finditer(path), start=1):
        pattern += re.escape(path[place : found.start()])
        place = found.end()
        names.setdefault("splat" if found[0] == "*" else found[0][1:], number)
        pattern += "(.*)" if found[0] == "*" else "([^/]+)"
    if is_netlify and pattern.endswith("/(.*)"):
        pattern = f"{pattern[:-5]}(?:/(.*))?"
    pattern += re.escape(path[place:].rstrip("/") if is_netlify else path[place:])
    return with_pattern(rule, f"^{pattern}{'/?' if is_netlify else ''}$"), names


# --- RewriteMap -------------------------------------------------------------------------------------------------------


def read_rewrite_map(name: str, data: bytes) -> RuleSet:
    """Return the rules of a RewriteMap text file (httpd.apache.org/docs/2.4/rewrite/rewritemap.html#txt).

    Keys without a slash at their beginning are taken as paths.
    """
    rules: list[Rule] = []
    for number, text, problem in lines(data):
        words = text.split("#", 1)[0].split(None, 2) if text.lstrip().startswith("#") else text.split(None, 2)
        if not words and problem is None:
            continue
        rule = Rule(name, number, text.strip(), problem)
        if problem is None:
            rule = _key_and_value(rule, words)
        rules.append(rule)
    return RuleSet(name, "rewritemap", rules)


def _key_and_value(rule: Rule, words: list[str]) -> Rule:
    if len(words) < 2:
        return rule._replace(problem="it has no value")
    if len(words) > 2 and not words[2].startswith("#"):
        return rule._replace(problem="it has more than a key and a value")
    key, value = words[:2]
    found = source(key if "/" in key[:1] or "://" in key else f"/{key}")
    fault = found if isinstance(found, str) else placeholder(value) or target_fault(_absolute(value))
    if isinstance(found, str) or fault is not None:
        return rule._replace(problem=fault)
    return rule._replace(source=found.path, host=found.host, target=(_absolute(value),))


def _absolute(value: str) -> str:
    return value if value.startswith("/") or "://" in value else f"/{value}"


# --- recorded ---------------------------------------------------------------------------------------------------------


class Recorded(NamedTuple):
    """A redirect: absolute URLs, the status (302 for a `meta` refresh), and the document and line that has it."""

    url: str
    target: str
    status: int
    document: str
    line: int = 0


def recorded(rows: Iterable[Recorded | tuple[str, str, int, str, int]], name: str = "recorded redirects") -> RuleSet:
    """Return the rules of recorded redirects; the first of each URL counts."""
    rules = []
    for row in rows:
        url, target, status, document, line = row
        found = source(url)
        if isinstance(found, Source):
            text = f"{url} -> {target} ({status})"
            path = found.path
            rule = Rule(document, line, text, source=path, target=(target,), status=status, host=found.host, query=NONE)
            rules.append(rule._replace(forced=False))
    return RuleSet(name, RECORDED, rules)
