"""Check the rules of all maps after the URLs of an audit were moved by them.

In: `Rules`. Out: a `Checked` for each rule, with the number of URLs that it moved, why it could not be read, and what
is wrong with it. A rule is compared with others by URLs that it would move, so no pair of rules is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.maps.model import Outcome, Rule
    from absolve.audit.maps.rules import Rules

_PROBE: Final = "absolve-probe"
HIDDEN: Final = "hidden by a file"


class Checked(NamedTuple):
    """One rule: its place, its text, how many distinct URLs it moved, and its finding; the columns of the table."""

    file: str
    line: int
    text: str
    used: int
    problem: str | None
    finding: str | None


def checked(rules: Rules) -> Iterator[Checked]:
    """Yield each rule of all maps with its finding."""
    for found in rules.maps:
        for rule in sorted(found.rules, key=lambda rule: rule.line):
            used = rules.used[rule.file, rule.line]
            finding = _finding(rules, rule, used) if rule.problem is None else None
            yield Checked(rule.file, rule.line, rule.text, used, rule.problem, finding)


def strangers(rules: Rules) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the maps with rules for hosts of neither site, which moved no URL: their number, and these hosts."""
    for found in rules.maps:
        names = found.names
        hosts: set[str] = set()
        number = 0
        for rule in found.rules:
            own = {rule.host} if rule.host is not None else names.get((rule.file, rule.line), set())
            is_known = any("*" in host or "." not in host or host in rules.hosts for host in own)
            if own and not is_known and rule.problem is None and not rules.used[rule.file, rule.line]:
                hosts |= own
                number += 1
        if hosts:
            yield found.file, number, sorted(hosts)


def _finding(rules: Rules, rule: Rule, used: int) -> str | None:
    """Return what is wrong with a rule: a loop first, then what other rules do to it, then where it leads."""
    urls = list(samples(rules, rule))
    seen = rules.seen.get((rule.file, rule.line))
    own = _outcomes(rules, rule, urls)
    if any(outcome.loop for outcome in own) or (seen is not None and seen.loop):
        return "loop"
    other = _in_its_place(rules, rule, urls)
    if other is not None:
        return other
    if _is_hidden(rules, rule):
        return HIDDEN
    ends = [] if _has_groups(rule) else own
    if any(map(rules.leads_to_nothing, ends)) or (seen is not None and seen.nothing):
        return "leads to nothing"
    if any(outcome.final is not None and rules.is_insecure(outcome.final) for outcome in own):
        return "leads to http"
    if any(outcome.hops > 1 for outcome in own) or (seen is not None and seen.chain):
        return "chain"
    return "unused" if not used and (rule.status != 200 or rule.target) else None  # else it only keeps others away


def _outcomes(rules: Rules, rule: Rule, urls: list[str]) -> list[Outcome]:
    """Return where a rule leads the URLs that it moves, as far as that does not depend on files that are not known.

    The target of a URL below a prefix may be a file, which only a forced rule moves on.
    """
    if rule.how == "regex" and rule.target and not rule.parameters and not _has_groups(rule):
        target = rules.absolute("".join(map(str, rule.target)))
        outcome = rules.chain(target, counts=False) if target is not None else None
        return [outcome._replace(hops=outcome.hops + 1)] if outcome is not None and rule.status < 400 else []
    found = []
    for url in urls:
        outcome = rules.chain(url, counts=False)
        is_sure = not (_has_groups(rule) and url.endswith(_PROBE)) or all(one.forced for one in outcome.rules[1:])
        if outcome.rules[:1] == (rule,) and is_sure:
            found.append(outcome)
    return found


def _is_hidden(rules: Rules, rule: Rule) -> bool:
    """Return whether an exact rule never applies because a file is there, and leads elsewhere than to its folder."""
    if rule.how != "exact" or rule.forced or rule.parameters or not rule.target or "?" in rule.source:
        return False
    folder = rule.source[: rule.source.rfind("/") + 1]
    url = rules.url(rule, rule.source)
    return url is not None and rule.target not in {(folder,), (rule.source,)} and rules.exists(rules.counterpart(url))


def samples(rules: Rules, rule: Rule) -> Iterator[str]:
    """Yield URLs that a rule must move if no other does: none for a regular expression."""
    if rule.how not in {"exact", "prefix"} or rule.parameters or rule.conditions:
        return
    path, mark, query = rule.source.partition("?")
    for url in (
        rules.url(rule, path, query if mark else None),
        rules.url(rule, path + "/" * (not path.endswith("/")) + _PROBE),
    ):
        if url is not None:
            yield url
        if rule.how == "exact":
            return


def _in_its_place(rules: Rules, rule: Rule, urls: list[str]) -> str | None:
    """Return which earlier rule moves all that this one would; it contradicts if it leads elsewhere."""
    moves = [rules.move(url) for url in urls]
    others = {move.rule if move is not None else rule for move in moves}
    if len(others) != 1 or rule in others:
        return None
    (other,) = others
    if rule.how == "prefix" and other.how != "prefix":
        return None
    target = rules.absolute("".join(map(str, rule.target))) if rule.target and not _has_groups(rule) else None
    return _of_two(other, rule, is_same=all(move is not None and move.target == target for move in moves))


def _of_two(other: Rule, rule: Rule, *, is_same: bool = False) -> str | None:
    """Return the finding about a rule that applies to nothing but URLs of an earlier one. `is_same`: by its target."""
    if rule.forced and not other.forced:
        return None
    is_same_source = (rule.how, rule.source, rule.host) == (other.how, other.source, other.host)
    is_same = is_same or (is_same_source and other.target == rule.target)
    word = (
        "repeats" if is_same and other.status == rule.status else "contradicts" if is_same_source else "shadowed by"
    )
    return f"{word} {other.line if other.file == rule.file else other.place}"


def _has_groups(rule: Rule) -> bool:
    return rule.target is not None and any(isinstance(part, int) for part in rule.target)

