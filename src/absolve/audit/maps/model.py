"""The values of redirect maps: rules, sets of rules, and results.

A `Rule` is one line of a map in a form that does not depend on the server. A `RuleSet` is one map.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.audit.maps.request import Request
    from absolve.tables.columns import Columns

How = Literal["exact", "prefix", "regex"]
# What becomes of the query of the old URL: appended unless the target has one; appended in any case; not appended;
# there is none.
Query = Literal["keep", "append", "drop", "none"]

# Numbers in targets that are no groups of the rule. From CONDITION on: the groups of the last condition.
WHOLE_PATH: Final = -1
HOST: Final = -2
SCHEME: Final = -3
REQUESTED: Final = -4  # the path of the request line
CONDITION: Final = 100

RECORDED: Final = "recorded"  # the format of redirects that are in a capture, not in a map

GONE: Final = frozenset({404, 410})
MOST_HOPS: Final = 100_000
MOST_RULES: Final = 1 << 20  # of a map, 600 bytes each
MOST_TIMES: Final = 50  # that a rule for many URLs applies in one chain: what takes more grows without end


class Room:
    """The room that the rules of one map have in memory, where one line may be a rule for each entry of a table."""

    def __init__(self) -> None:
        self._left = MOST_RULES

    def lack(self, name: str, count: int) -> str | None:
        """Take the room of another use of a table, whose name and number of entries these are; return its problem."""
        self._left -= count
        if self._left >= 0:
            return None
        return f"{name} is used too often: its rules and those before are more than {MOST_RULES:,}"


class Condition(NamedTuple):
    """What a request must have beside its path: a part in which a regular expression is found, or not (`is_negated`).

    `subject` is a part as `request.subject` knows them. Of conditions with `is_alternative` and the one behind them,
    one must hold.
    """

    subject: str
    pattern: str
    ignores_case: bool = False
    is_negated: bool = False
    is_alternative: bool = False


class Rule(NamedTuple):
    """One rule of a map, or one that could not be read (`problem`), with the URLs that it may concern, if known.

    `source` is a decoded path, with a query if only that query matches (exact, prefix), or a regular expression for
    the part that `subject` names (`request.subject`). `target` is a sequence of texts and group numbers, where group 1
    of a prefix is the rest of the path; None for a status without target: status 200 keeps later rules from applying.
    `host`: the only host to which the rule applies, with a non-default port; None for the hosts of both sites.
    `forced`: the rule applies where a file exists, too. `parameters`: those that the query must have, with a text or a
    group number as value. `start`: the offset of its text in the decoded file, where lines do not delimit rules.
    """

    file: str
    line: int
    text: str
    problem: str | None = None
    how: How = "exact"
    source: str = ""
    target: tuple[str | int, ...] | None = None
    status: int = 301
    host: str | None = None
    forced: bool = True
    query: Query = "keep"
    subject: str = "path"
    ignores_case: bool = False
    parameters: tuple[tuple[str, str | int], ...] = ()
    conditions: tuple[Condition, ...] = ()
    start: int = -1

    @property
    def place(self) -> str:
        """The name of the file with the line number, for messages; a rule that an audit adds has none."""
        return f"{self.file}:{self.line}" if self.file else "a rule to add"

    @property
    def is_plain(self) -> bool:
        """Whether the rule needs no more of a request than its path, host and query: other forms may have it, too."""
        parts = self.target or ()
        if self.conditions or (self.status == 200 and self.target is None):
            return False
        return all(isinstance(part, str) or 0 <= part < CONDITION for part in parts)


class Move(NamedTuple):
    """One step: the rule, and its target: as its server writes it, maybe relative, or as an absolute URL.

    None for a status without target, such as 410, or for a target that is no URL. It is not sure where a rule that
    could not be read may apply before.
    """

    rule: Rule
    target: str | None
    is_sure: bool = True

    @property
    def status(self) -> int:
        return self.rule.status

    @property
    def rewrite(self) -> bool:
        """Whether the server sends other content without a redirect."""
        return self.rule.status == 200


class Mover(Protocol):
    """Applies one set of rules to a request. `exists` returns whether a file exists for the URL of the request.

    Rules that could not be read and might have applied before are added to `doubts`.
    """

    def __call__(self, request: Request, exists: Callable[[str], bool], doubts: list[Rule]) -> Move | None: ...


class Server(NamedTuple):
    """A virtual host: names in lower case, perhaps with `*`; ports, none for any; its rules.

    `phases`: rules that are tried one set after the other; a rule that ends one does not end the next. `inner`: those
    that the server applies to the index file, too, for which it asks itself where a folder is requested.
    """

    names: tuple[str, ...]
    ports: tuple[str, ...]
    phases: tuple[Sequence[Rule], ...]
    inner: tuple[Sequence[Rule], ...] = ()


class RuleSet(NamedTuple):
    """One map: its rules in the order in which they apply, also those that could not be read.

    `servers`: the rules of each virtual host, if the form has them. `data` are the bytes of the file. `words`: how it
    was read, if that was a choice: the `columns` of a table. `hidden`: how many rows a spreadsheet does not show.
    """

    file: str
    format: str
    rules: Sequence[Rule]
    servers: Sequence[Server] = ()
    is_slash_ignored: bool = False
    data: bytes = b""
    words: str = ""
    columns: Columns | None = None
    hidden: int = 0

    @property
    def names(self) -> dict[tuple[str, int], set[str]]:
        """The names of the virtual hosts that have each rule, by its file and line; "" for a host without a name."""
        found: dict[tuple[str, int], set[str]] = {}
        for server in self.servers:
            for rule in chain.from_iterable(server.phases):
                found.setdefault((rule.file, rule.line), set()).update(server.names or ("",))
        return found


class Outcome(NamedTuple):
    """Where a URL leads by all rules.

    `final`: the last URL, with the fragment; None for a loop, and where a rule has no target. `served`: the URL
    of the content that is sent for `final`, if a rule rewrites it. `rules`: the first of those that applied, in order,
    and the last. `is_sure`: no rule that could not be read may lead it elsewhere.
    """

    hops: int
    final: str | None
    loop: bool = False
    gone: bool = False
    rules: tuple[Rule, ...] = ()
    served: str | None = None
    status: int | None = None
    is_sure: bool = True
