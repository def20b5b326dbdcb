"""Read maps with a rule on each line: `_redirects` of Netlify and Cloudflare, a RewriteMap, Squarespace's mappings.

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
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.rules.cells import lines
from absolve.rules.entries import CLOUDFLARE, NETLIFY, SQUARE, Entry, rule_of
from absolve.rules.model import RECORDED, STATUS, Rule, RuleSet, check_target, paired, short, source, tried
from absolve.urls.chain import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_PARAMETER: Final = re.compile(r"([^=\s:/?#]+)=(\S*)")
_CONDITIONS: Final = frozenset({"country", "language", "role", "cookie"})
_ARROW: Final = re.compile(r"(\S+)\s+->\s+(\S+)\s+(30[12]|404)")
_STATIC: Final = 2000
_DYNAMIC: Final = 100
_CHARACTERS: Final = 1000


def read_netlify(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Netlify."""
    return RuleSet(name, "netlify", [*_rules(name, data, _netlify, _without_comment)], is_slash_ignored=True)


def read_cloudflare(name: str, data: bytes) -> RuleSet:
    """Return the rules of a `_redirects` file for Cloudflare Pages."""
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

    Keys without a slash at their beginning are taken as paths.
    """
    return RuleSet(name, "rewritemap", [*_rules(name, data, _key_and_value)])


def read_squarespace(name: str, data: bytes) -> RuleSet:
    """Return the rules of Squarespace's URL mappings: `/old/[name] -> /new/[name] 301` on each line."""
    return RuleSet(name, "squarespace", [*_rules(name, data, _arrow)])


def _rules(
    name: str, data: bytes, make: Callable[[Rule], Rule], bare: Callable[[str], str] = str.strip
) -> Iterator[Rule]:
    """Yield the rule of each line that is no comment. `make` gets a rule with the text that `bare` makes of it."""
    for number, text, problem in lines(data):
        if problem is not None or text.strip()[:1] not in {"", "#"}:
            yield tried(Rule(name, number, bare(text.strip()), problem), make)


def _without_comment(text: str) -> str:
    """Return a line without the comment at its end: `#` behind white space (a fragment has none before it)."""
    found = re.search(r"\s#", text)
    return text[: found.start()].rstrip() if found else text


def _netlify(rule: Rule) -> Rule:
    """Return the rule of a line: source, parameters, target, status, conditions."""
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
        return tried(rule, matched, entry)._replace(problem=problem)
    return matched(rule, entry)


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
    return matched(rule, Entry(old, new, int(status), CLOUDFLARE))


def matched(rule: Rule, entry: Entry) -> Rule:
    """Return the rule of an entry of Netlify or Cloudflare, who take no line without a target for a rule."""
    source(entry.old)
    is_netlify = entry.syntax is NETLIFY
    if is_netlify and "*" in entry.old.rstrip("*"):
        raise UsageError("Netlify knows * only at the end of a path")
    if "?" in entry.old:
        raise UsageError(f"it matches no query{': write parameters behind the path' if is_netlify else ''}")
    if entry.status < 400 and not (entry.new or "").startswith(":"):
        check_target(entry.new or "")
    return rule_of(rule, entry)


def _key_and_value(rule: Rule) -> Rule:
    words = rule.text.split(None, 2)
    if len(words) < 2:
        raise UsageError("it has no value")
    if len(words) > 2 and not words[2].startswith("#"):
        raise UsageError("it has more than a key and a value")
    return paired(rule, *words[:2])


def _arrow(rule: Rule) -> Rule:
    found = _ARROW.fullmatch(rule.text)
    if found is None:
        raise UsageError("a line is /old -> /new 301")
    return rule_of(rule, Entry(found[1], re.sub(r"\[(\w+)\]", r":\1", found[2]), int(found[3]), SQUARE))


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
    for url, target, status, document, line in rows:
        rule = Rule(document, line, f"{url} -> {target} ({status})", status=status, query="none", forced=False)
        with suppress(UsageError):
            found = source(url)
            rules.append(rule._replace(source=found.path, host=found.host, target=(target,)))
    return RuleSet(name, RECORDED, rules)
