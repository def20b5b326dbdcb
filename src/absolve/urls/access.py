"""Which servers may be asked: public hosts (RFC 6890), and the paths that robots.txt (RFC 9309) does not shut out.

In: an IP address or a host, as the URL Standard writes it; the bytes of robots.txt, the name of a robot, a path. Out:
whether the whole Internet can reach a host, by its address and those that it embeds, or by a name that public DNS
answers; the rule that shuts a path out. Time and memory are linear in the size of the file, whatever it has.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable


# Names that no public DNS answers: RFC 6761 6.2 to 6.4, RFC 6762 3 and G, RFC 8375, `internal` (ICANN, 2024-07-29), and
# names of services in Kubernetes.
_PRIVATE_NAME: Final = re.compile(
    r"(?:.*\.)?(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|invalid|test|svc)\.?"
)
# An IPv4 address is in the last 32 bits (RFC 6052).
_EMBEDDING: Final = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")  # all that is allocated of the Internet (RFC 4291 2.4)
_NOT_PUBLIC: Final = (  # missing in the tables of older versions of Python: RFC 9637, RFC 7526
    ipaddress.IPv6Network("3fff::/20"), ipaddress.IPv4Network("192.88.99.0/24")
)  # fmt: skip


def is_public_host(host: str) -> bool:
    """Return whether a host may be public: for example, `h.example` may, `localhost` and `db.internal` may not."""
    try:
        return is_public(host.strip("[]"))
    except ValueError:
        return "." in host.rstrip(".") and _PRIVATE_NAME.fullmatch(host) is None


def is_public(text: str) -> bool:
    """Return whether an IP address, and any address that it embeds, is reachable on the whole Internet (RFC 6890).

    For example, `64:ff9b::7f00:1` is not: it embeds 127.0.0.1. Raise ValueError for a text that is no address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped
        if address in _EMBEDDING:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if address not in _UNICAST or not all(map(is_public, map(str, _tunnelled(address)))):
            return False
    return address.is_global and not (address.is_multicast or any(address in one for one in _NOT_PUBLIC))


def _tunnelled(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses in a 6to4 or Teredo address: for example, `2002:c000:204::` has 192.0.2.4."""
    return [*filter(None, [address.sixtofour]), *(address.teredo or ())]


# --- robots.txt -------------------------------------------------------------------------------------------------------

MOST_BYTES: Final = 500 << 10  # RFC 9309 2.5
_SECONDS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_LONGEST_DELAY: Final = 60.0  # seconds: a longer one is a mistake, or means never
_MOST_PATTERNS: Final = 500  # with an asterisk; each is tried for each path


class Rule(NamedTuple):
    """A rule that shuts paths out, or allows them: its line, its text, and the document that has it."""

    line: int
    text: str
    is_allowed: bool = False
    document: str = ""


class Group(NamedTuple):
    """What a robots.txt file says to a robot: its rules, by pattern, and the seconds between requests (Crawl-delay)."""

    rules: list[tuple[str, Rule]]
    delay: float = 0.0


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


def of_robots(data: bytes, robot: str) -> Group:
    """Return what a robots.txt file says to a robot, by its name in lower case, or to all if it is not named.

    Only that is kept: a file may have thousands of other robots, each with thousands of rules.

    For example, `User-agent: *`, `Disallow: /a` gives `Group([("/a", Rule(2, "Disallow: /a"))])`.
    """
    groups: dict[str, Group] = {}  # of the robots that count
    agents: set[str] = set()
    has_rules = False
    for number, text in enumerate(data[:MOST_BYTES].decode("utf-8-sig", "replace").splitlines(), 1):
        name, _, value = (part.strip() for part in text.partition("#")[0].partition(":"))
        name = name.lower()
        if name == "user-agent":
            if has_rules:
                agents, has_rules = set(), False
            if (agent := value.lower()) in {robot, "*"}:
                agents.add(agent)
                groups.setdefault(agent, Group([]))
        elif name in {"allow", "disallow"}:
            has_rules = True
            rule = Rule(number, f"{text.partition(':')[0].strip()}: {value}", name == "allow")
            for agent in agents if value else ():
                groups[agent].rules.append((decoded(value), rule))
        elif name == "crawl-delay" and _SECONDS.fullmatch(value):
            for agent in agents:
                groups[agent] = groups[agent]._replace(delay=min(float(value), _LONGEST_DELAY))
    return groups.get(robot, groups.get("*", Group([])))
