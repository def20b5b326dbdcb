"""Read the redirects of a Caddyfile: `redir` and `respond`, with their matchers, in the order of Caddy.

In: the bytes of the file. Out: a `RuleSet` with a server for each site block. caddyserver.com/docs/caddyfile: a path
matcher has any letter case; `redir` adds no query; of several `redir` the one with the longest path is tried first.

    >>> [(rule.source, rule.target) for rule in read("Caddyfile", b"redir /a /b permanent").rules]
    [('/a', ('/b',))]
"""

from __future__ import annotations

import re
from collections import ChainMap
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.rules.blocks import CADDY, Directive, directives
from absolve.rules.model import (
    HOST,
    NO_QUERY,
    SCHEME,
    WHOLE_PATH,
    Rule,
    RuleBudget,
    RuleSet,
    Server,
    check_path,
    check_target,
    target_parts,
    tried,
    with_pattern,
)
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CODES: Final = {"permanent": 301, "temporary": 302, "html": 302}
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_KNOWN: Final = {
    "uri": WHOLE_PATH, "http.request.uri": WHOLE_PATH, "path": WHOLE_PATH, "http.request.uri.path": WHOLE_PATH,
    "host": HOST, "hostport": HOST, "http.request.host": HOST, "scheme": SCHEME, "http.request.scheme": SCHEME,
}  # fmt: skip
_GROUP: Final = re.compile(r"(?:http\.regexp|re)\.(?:\w+\.)?(\d)")
_NESTED: Final = frozenset({"handle", "route", "handle_path", "handle_errors"})
_UNREAD: Final = frozenset({"rewrite", "uri", "import", "map", "try_files", "redirects_file"})
_NAME: Final = re.compile(r"(?:(https?)://)?([^/:{}]*)(?::(\d+))?(?:/.*)?")


class Matcher(NamedTuple):
    """The conditions of a matcher: paths, a regular expression, or why they cannot be known."""

    paths: tuple[str, ...] = ()
    pattern: str | None = None
    problem: str | None = None


class _Scope(NamedTuple):
    """The scope of a block: the name of the file, the named matchers, also from blocks around, the room for rules."""

    name: str
    matchers: ChainMap[str, Matcher]
    budget: RuleBudget


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a Caddyfile."""
    servers, every, scope = [], [], _Scope(name, ChainMap(), RuleBudget())
    for site in _sites(directives(data, CADDY)):
        # Caddy tries the longest path first, and those without a path last.
        rules = sorted(_block_rules(scope, site.block or ()), key=lambda rule: -_length(rule))
        every += rules
        names = [found for word in site.words if (found := _NAME.fullmatch(word.rstrip(","))) is not None]
        hosts = tuple(one[2].lower() for one in names if one[2])
        ports = tuple(port for one in names if (port := one[3] or {"http": "80", "https": "443"}.get(one[1] or "", "")))
        servers.append(Server(hosts, ports if len(ports) == len(names) else (), (rules,)))
    return RuleSet(name, "caddy", every, tuple(servers))


def _sites(top: Sequence[Directive]) -> Iterator[Directive]:
    """Yield the site blocks: without braces, the first line has the addresses, and all other lines are the block."""
    if any(one.block and one.words and one.words[0] not in {*_NESTED, "redir"} for one in top):
        yield from (one for one in top if one.words and not one.words[0].startswith("("))
    elif top:
        first = "".join(top[0].words[:1])
        has_address = first not in {"", "redir", "respond", *_NESTED} and not first.startswith("@")
        site = top[0] if has_address else top[0]._replace(name="", arguments=())
        yield site._replace(block=tuple(top[1:] if has_address else top))


def _block_rules(around: _Scope, block: Sequence[Directive]) -> Iterator[Rule]:
    own = {one.words[0]: _named_matcher(one) for one in block if "".join(one.words[:1]).startswith("@")}
    scope = around._replace(matchers=around.matchers.new_child(own))
    for one in block:
        kind, words = one.name, [*one.arguments]
        rule = Rule(scope.name, one.line, " ".join(one.words), query="drop")
        if kind in {"redir", "respond"}:
            yield from _directive_rules(rule, kind, words, scope)
        elif kind == "handle_path" or (kind in _NESTED and words):
            reason = f"it is in {' '.join(one.words)}"
            yield from (nested._replace(problem=reason) for nested in _block_rules(scope, one.block or ()))
        elif kind in _NESTED:
            yield from _block_rules(scope, one.block or ())
        elif kind in _UNREAD:
            yield rule._replace(problem="it may change the path inside the server")


def _named_matcher(one: Directive) -> Matcher:
    """Return a named matcher: `@name path /a /b`, `@name path_regexp NAME PATTERN`, or a block with one of them."""
    parts = [one.words[1:]] if len(one.words) > 1 else [inner.words for inner in one.block or ()]
    if len(parts) != 1 or not parts[0]:
        return Matcher(problem="its matcher has more than one condition")
    kind, *words = parts[0]
    if kind == "path" and words:
        return Matcher(tuple(words))
    if kind == "path_regexp" and words:
        return Matcher(pattern=words[-1])
    return Matcher(problem=f"it depends on more than the path: {kind}")


def _directive_rules(rule: Rule, kind: str, words: list[str], scope: _Scope) -> Iterator[Rule]:
    """Yield the rules of a directive, one for each path of its matcher: for example, two for `@old path /a /b`."""
    matcher = Matcher()
    if len(words) > 1 and words[0].startswith(("/", "*", "@")):
        matcher = _matcher(words.pop(0), scope)
    answer = tried(rule, _redirected, words) if kind == "redir" else _answered(rule, words)
    if answer is None:
        return
    problem = matcher.problem or answer.problem
    if len(matcher.paths) > 1 and (excess := scope.budget.spend("its matcher", len(matcher.paths))) is not None:
        matcher, problem = Matcher(), excess
    if any("?" in path for path in matcher.paths):
        yield rule._replace(problem=problem or NO_QUERY)
        return
    for found in _with_paths(answer._replace(problem=None), matcher):
        yield found._replace(problem=found.problem or problem)


def _with_paths(rule: Rule, matcher: Matcher) -> Iterator[Rule]:
    """Yield the rule with each path of its matcher: for example, `/a/*` is the pattern `^/a/.*$`."""
    if matcher.pattern is not None:
        yield tried(rule, _with_path_pattern, matcher.pattern)
        return
    for path in matcher.paths or ("*",):
        found = rule._replace(how="exact", source=decoded(path), ignores_case=True)
        pattern = re.escape(decoded(path)).replace(r"\*", ".*")
        yield tried(found, _with_path_pattern, f"^{pattern}$", ignores_case=True) if "*" in path else found


def _matcher(word: str, scope: _Scope) -> Matcher:
    if word.startswith("@"):
        return scope.matchers.get(word, Matcher(problem="its matcher is not in this file"))
    return Matcher((word,)) if word != "*" else Matcher()


def _with_path_pattern(rule: Rule, pattern: str, *, ignores_case: bool = False) -> Rule:
    check_path(pattern)
    return with_pattern(rule, pattern, ignores_case=ignores_case)


def _redirected(rule: Rule, words: Sequence[str]) -> Rule:
    """Return a rule with the target and the status of `redir`: for example, `/b{uri} permanent`."""
    if not 1 <= len(words) <= 2:
        raise UsageError("it has a target and perhaps a status")
    code = words[1] if len(words) == 2 else "temporary"
    if code not in _CODES and not re.fullmatch("30[12378]", code):
        raise UsageError(f"{code[:40]!r} is no status of a redirect")
    text = re.sub(r"\??\{\??(?:http\.request\.uri\.)?query\}", "", words[0])
    has_query = text != words[0] or re.search(r"\{(?:http\.request\.)?uri\}", words[0]) is not None
    target = target_parts(text, _VARIABLE, _part) or ("",)
    if isinstance(target[0], int) and target[0] != SCHEME:
        raise UsageError("the old URL would choose its host")
    if len(target) == 1:
        check_target(str(target[0]))
    return rule._replace(target=target, status=_CODES.get(code) or int(code), query="keep" if has_query else "drop")


def _part(found: re.Match[str]) -> int:
    """Return the number for a placeholder, for example 1 for `{re.name.1}`. Raise UsageError if it is not known."""
    group = _GROUP.fullmatch(found[1])
    if group is None and found[1] not in _KNOWN:
        raise UsageError(f"its target needs {found[0]}")
    return int(group[1]) if group is not None else _KNOWN[found[1]]


def _answered(rule: Rule, words: Sequence[str]) -> Rule | None:
    """Return the rule of `respond` for a page that is gone; None for any other answer."""
    status = next((int(word) for word in words if word in {"404", "410"}), None)
    return None if status is None else rule._replace(status=status)


def _length(rule: Rule) -> int:
    """Return the length of the path of a matcher; 0 for a regular expression, and for all paths."""
    if rule.how == "regex" and not rule.ignores_case:
        return 0
    return len(rule.source if rule.how == "exact" else re.sub(r"\\(.)", r"\1", rule.source[1:-1].replace(".*", "")))
