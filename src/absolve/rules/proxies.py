"""Read the redirects of HAProxy, and the data groups of F5.

In: the bytes of a configuration. Out: a `RuleSet`. HAProxy: docs.haproxy.org ("http-request redirect", "Using ACLs").
F5: what `tmsh list ltm data-group` prints; an iRule beside it compares the records.

    >>> read_haproxy("haproxy.cfg", b"redirect prefix https://new.example if { hdr(host) old.example }").rules[0].target
    ('https://new.example', -1)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import UsageError
from absolve.rules import model
from absolve.rules.blocks import CADDY, directives
from absolve.rules.cells import lines
from absolve.rules.model import HOST, WHOLE_PATH, Condition, Rule, RuleSet, tried
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD: Final = re.compile(r"""\#.*|(?>(?:\\.|"[^"]*"|'[^']*'|[^\s"'\#\\])+)""")
_QUOTING: Final = re.compile(r"\\(.)|[\"']")
_TEST: Final = re.compile(r"(!?)(?:\{ ([^{}]*) \}|(\S+))")
_CRITERION: Final = re.compile(r"(?:path|(?:req\.)?(hdr)(?=.*\(host\)))(?:_(beg|end|reg|sub))?(?:\(host\))?(,lower)?")
_COMPARED: Final = {"": "^{}$", "beg": "^{}", "end": "{}$", "sub": "{}", "reg": "{}"}
_DECIDES: Final = re.compile("deny|tarpit|reject|return|silent-drop|auth|use-service|(?:set|replace)-(?:pathq?|uri)")
_ANY: Final = Condition("path", "^")
_TLS: Final = Condition("scheme", "^https$")


def read_f5(name: str, data: bytes) -> RuleSet:
    """Return the rules of data groups, for example `/old { data /new }` in their records."""
    parts = (part for group in directives(data, CADDY) for part in group.block or () if part.name == "records")
    rules = []
    for one in (one for part in parts for one in part.block or ()):
        value = next((" ".join(inner.arguments) for inner in one.block or () if inner.name == "data"), "")
        rules.append(tried(Rule(name, one.line, f"{one.name} {value}", one.problem), model.paired, one.name, value))
    return RuleSet(name, "f5", rules)


def read_haproxy(name: str, data: bytes) -> RuleSet:
    """Return the rules of `redirect` and `http-request redirect`, for example `redirect location /b if { path /a }`."""
    rules: list[Rule] = []
    later: list[Rule] = []  # `redirect` comes after all of `http-request`
    acls: dict[str, Any] = {}  # the lines of each; its condition when a rule has asked; None if that is not known
    around = None
    for number, text, problem in lines(data):
        words = [_QUOTING.sub(r"\1", word) for word in _WORD.findall(text) if word[0] != "#"] or [""]
        if words[0] in {"frontend", "listen", "backend"}:
            acls, around = {}, None if words[0] != "backend" else "it is in a backend that only some requests reach"
        elif words[0] == "acl" and len(words) > 2:
            known = acls.setdefault(words[1], [])
            if isinstance(known, list):
                known.append(words[2:])
            else:  # a rule has asked before this line
                acls[words[1]] = None
        elif words[0] == "redirect" or words[:2] == ["http-request", "redirect"]:
            rule = Rule(name, number, " ".join(words), problem or around)
            rule = tried(rule, _redirect, words[words.index("redirect") + 1 :], acls)
            (later if words[0] == "redirect" else rules).append(rule)
        elif words[0] == "http-request" and words[1:] and _DECIDES.fullmatch(words[1]):
            why = "it answers a request, or changes it, before rules behind it: it is not read"
            rules.append(Rule(name, number, " ".join(words), problem or why))
    return RuleSet(name, "haproxy", rules + later)


def _redirect(rule: Rule, words: list[str], acls: dict[str, Any]) -> Rule:
    """Return the rule for the words of a redirect, for example `prefix https://new.example code 301 if is_old`."""
    ends = words.index("if") if "if" in words else len(words)
    kind = next((one for one in words[: ends - 1] if one in {"location", "prefix", "scheme"}), "code")
    new = words[words.index(kind) + 1] if kind in words[: ends - 1] else ""
    if kind == "code" or "unless" in words or "%[" in new or " " in "".join(words):
        raise UsageError("it needs more than the URL: the file of a map() is a --map of its own")
    model.check_target(f"{new}://host" if kind == "scheme" else new)
    tests = list(_tests(words[ends + 1 :], acls))
    target: tuple[str | int, ...] = (new,) if kind == "location" else (new if new != "/" else "", WHOLE_PATH)
    if kind == "scheme":  # a frontend without TLS has no condition on it
        target, tests = (f"{new}://", HOST, WHOLE_PATH), [*tests, (_TLS._replace(is_negated=new == "https"), False)]
    first = next((one for one, own in tests if own and one.subject == "path" and not one.is_negated), _ANY)
    rule = model.with_pattern(rule, first.pattern, ignores_case=first.ignores_case)
    status = model.parse_status(words[words.index("code") + 1] if "code" in words[: ends - 1] else "302")
    is_kept = kind != "location" and "drop-query" not in words
    others = tuple(one for one, _ in tests if one is not first)
    return rule._replace(target=target, status=status, query="keep" if is_kept else "drop", conditions=others)


def _tests(words: Sequence[str], acls: dict[str, Any]) -> Iterator[tuple[Condition, bool]]:
    """Yield the conditions behind `if`, for example `{ path /a } !is_old`, and whether they are the rule's own."""
    for sign, inline, label in _TEST.findall(" ".join(words)):
        found = acls.get(label) if label else [inline.split() or [""]]
        if isinstance(found, list):
            acls[label] = None  # for the next rule, if this one raises
            acls[label] = found = _compared(found)
        if found is None:
            raise UsageError(f"its condition {label} is not read")
        yield found._replace(is_negated=bool(sign)), not label


def _compared(every: list[Sequence[str]]) -> Condition:
    """Return the condition of the lines of an ACL: for example, `path_beg /a /b` is `^(?:/a|/b)` for paths."""
    criterion, values = every[0][0], [word for one in every for word in one[1:]]
    found = _CRITERION.fullmatch(criterion)
    if criterion == "ssl_fc":
        return _TLS
    words = [one for one in values if one != "-i"]
    odd = {one for one in words if one.startswith("-")} | {one[0] for one in every} - {criterion}
    if found is None or not words or odd:
        raise UsageError(f"it depends on more than the URL: {criterion} {' '.join(values[:2])}")
    how, ignores_case = found[2] or "", len(words) < len(values) or found[3] is not None
    either = "|".join(words if how == "reg" else map(re.escape, map(decoded, words)))
    pattern = _COMPARED[how].format(f"(?:{either})" if len(words) > 1 else either)
    model.check_pattern(pattern)
    return Condition("host" if found[1] else "path", pattern, ignores_case)
