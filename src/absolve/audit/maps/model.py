"""The values of redirect maps: rules, sets of rules, and results.

A `Rule` is one line of a map in a form that does not depend on the server. A `RuleSet` is one map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from absolve.audit.maps.request import Request

EXACT: Final = "exact"
PREFIX: Final = "prefix"
REGEX: Final = "regex"
PROGRAM: Final = "program"  # depends on what is around it in its file: only its own `mover` can apply it

# Query of the old URL: appended unless the target has one; appended in any case; not appended; there is none.
KEEP: Final = "keep"
APPEND: Final = "append"
DROP: Final = "drop"
NONE: Final = "none"

# RFC 9110 15.4 without 300 and 304, which do not lead to one other URL by themselves.
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
GONE: Final = frozenset({404, 410})
MOST_HOPS: Final = 100_000
MOST_TIMES: Final = 50  # that a rule for many URLs applies in one chain: what takes more grows without end


class Rule(NamedTuple):
    """One rule of a map, or one that could not be read (`problem`).

    `source` is a decoded path, with a query if only that query matches (exact, prefix), or a regular expression for
    decoded paths. `target` is a sequence of texts and group numbers; group 1 of a prefix is the rest of the path;
    None for a status without target. `host`: the only host to which the rule applies, with a non-default port; None
    for the hosts of both sites. `forced`: the rule applies where a file exists, too. `whole_url`: the regular
    expression is for URLs (scheme and host in lower case). `parameters`: those that the query must have, with a text or
    a group number as value. `start`: the offset of its text in the decoded file, where lines do not delimit rules.
    `scheme`: the only scheme to which the rule applies, or empty.
    """

    file: str
    line: int
    text: str
    problem: str | None = None
    how: str = EXACT
    source: str = ""
    target: tuple[str | int, ...] | None = None
    status: int = 301
    host: str | None = None
    forced: bool = True
    query: str = KEEP
    whole_url: bool = False
    ignores_case: bool = False
    parameters: tuple[tuple[str, str | int], ...] = ()
    start: int = -1
    scheme: str = ""

    @property
    def place(self) -> str:
        """The name of the file with the line number, for messages; a rule that an audit adds has none."""
        return f"{self.file}:{self.line}" if self.file else "a rule to add"

    @property
    def is_rewrite(self) -> bool:
        """Whether the server sends other content without a redirect."""
        return self.status == 200


class Found(NamedTuple):
    """The result of one set of rules for one request: the target as its server writes it, maybe relative."""

    rule: Rule
    target: str | None
    status: int

    @property
    def is_rewrite(self) -> bool:
        return self.status == 200


class Mover(Protocol):
    """Applies one set of rules to a request. `exists` returns whether a file exists for the URL of the request."""

    def __call__(self, request: Request, exists: Callable[[str], bool]) -> Found | None: ...


class RuleSet(NamedTuple):
    """One map: its rules in the order in which they apply, also those that could not be read.

    `mover` compiles the rules, given the tables of other maps by the name of their file; None for the rules in order.
    `table` has the pairs of a RewriteMap text file. `data` are the bytes of the file.
    """

    file: str
    format: str
    rules: Sequence[Rule]
    mover: Callable[[Mapping[str, Mapping[str, str]]], Mover] | None = None
    table: Mapping[str, str] | None = None
    is_slash_ignored: bool = False
    data: bytes = b""


class Move(NamedTuple):
    """One step: an absolute URL, None for a status without target, such as 410, or for a target that is no URL."""

    target: str | None
    status: int
    rule: Rule
    forced: bool
    rewrite: bool


class Outcome(NamedTuple):
    """Where a URL leads by all rules.

    `final`: the last URL, with the fragment; None for a loop, and where a rule has no target. `served`: the URL
    of the content that is sent for `final`, if a rule rewrites it. `rules`: the first of those that applied, in order,
    and the last.
    """

    hops: int
    final: str | None
    loop: bool = False
    gone: bool = False
    rules: tuple[Rule, ...] = ()
    served: str | None = None
    status: int | None = None
