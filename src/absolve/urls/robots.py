"""Read robots.txt (RFC 9309): which paths a robot may not ask for.

In: the bytes of a file, the name of a robot, a path. Out: the rule that shuts it out. Time and memory are linear in the
size of the file, whatever it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_BYTES: Final = 500 << 10  # RFC 9309 2.5
_MOST_PATTERNS: Final = 500  # with an asterisk; each is tried for each path


class Rule(NamedTuple):
    """A rule that shuts paths out, or allows them: its line, its text, and the document that has it."""

    line: int
    text: str
    is_allowed: bool = False
    document: str = ""


class Rules:
    """Rules by the patterns of their paths: `*` is any text, a final `$` the end of the path (RFC 9309 2.2.3)."""

    def __init__(self, rules: Iterable[tuple[str, Rule]]) -> None:
        self._prefixes: dict[str, Rule] = {}
        self._patterns: dict[str, Rule] = {}
        for pattern, rule in rules:
            kind = self._patterns if "*" in pattern or pattern.endswith("$") else self._prefixes
            if kind is self._prefixes or len(kind) < _MOST_PATTERNS:
                known = kind.setdefault(pattern, rule)
                if rule.is_allowed and not known.is_allowed:
                    kind[pattern] = rule
        self.number = len(self._prefixes) + len(self._patterns)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)

    def __call__(self, path: str) -> Rule | None:
        """Return the rule that shuts a path out, None if it is allowed: the longest pattern counts (2.2.2)."""
        path = decoded(path)
        fitting = [(len(pattern), rule) for pattern, rule in self._patterns.items() if _fits(pattern, path)]
        for length in self._lengths:
            rule = self._prefixes.get(path[:length]) if length <= len(path) else None
            if rule is not None:
                fitting.append((length, rule))
                break
        best = max(fitting, key=lambda found: (found[0], found[1].is_allowed), default=None)
        return None if best is None or best[1].is_allowed else best[1]


def _fits(pattern: str, path: str) -> bool:
    *pieces, last = pattern.removesuffix("$").split("*")
    at = 0
    for number, piece in enumerate(pieces):
        found = path.find(piece, at)
        if found < 0 or (not number and found):
            return False
        at = found + len(piece)
    if pattern.endswith("$"):
        return len(path) - len(last) >= at and path.endswith(last) and (bool(pieces) or path == last)
    return path.startswith(last) if not pieces else path.find(last, at) >= 0


def of_robots(data: bytes, robot: str) -> Sequence[tuple[str, Rule]]:
    """Return the rules of a robots.txt file for a robot, by its name in lower case, or for all if it is not named.

    Only these are kept: a file may have thousands of other robots, each with thousands of rules.

    `User-agent: *`, `Disallow: /a` gives `("/a", Rule(2, "Disallow: /a"))`.
    """
    groups: dict[str, list[tuple[str, Rule]]] = {}  # of the robots that count
    agents: set[str] = set()
    has_rules = False
    for number, text in enumerate(data[:MOST_BYTES].decode("utf-8-sig", "replace").splitlines(), 1):
        name, _, value = (part.strip() for part in text.partition("#")[0].partition(":"))
        if name.lower() == "user-agent":
            if has_rules:
                agents, has_rules = set(), False
            if (agent := value.lower()) in {robot, "*"}:
                agents.add(agent)
                groups.setdefault(agent, [])
        elif name.lower() in {"allow", "disallow"}:
            has_rules = True
            rule = Rule(number, f"{name}: {value}", name.lower() == "allow")
            for agent in agents if value else ():
                groups[agent].append((decoded(value), rule))
    return groups.get(robot, groups.get("*", []))
