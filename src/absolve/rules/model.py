"""The values of redirect maps: rules, sets of rules, results, and the parts of a URL that rules compare.

A `Rule` is one line of a map in a form that does not depend on the server. A `RuleSet` is one map. A `Request` is an
absolute URL as rules see it, `source` and `target_parts` read the two sides of a rule as a map writes them.
Percent-escapes are decoded where that keeps the meaning: `/a%20b` is `/a b`, but `%2F` and `%3F` stay, and so does a
`%25` that would become an escape.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules.columns import is_left_open, with_slashes
from absolve.urls.identity import decoded, named
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from absolve.rules.columns import Columns


How = Literal["exact", "prefix", "regex"]
# The query of the old URL: appended unless the target has one, always appended, not appended, or absent.
Query = Literal["keep", "append", "drop", "none"]

# Numbers in targets that are not groups of the rule's pattern. From CONDITION on: groups of the last condition.
WHOLE_PATH: Final = -1
HOST: Final = -2
SCHEME: Final = -3
REQUESTED: Final = -4  # the path of the request line
CONDITION: Final = 100

RECORDED: Final = "recorded"  # the format of redirects that are in a capture, not in a map

GONE: Final = frozenset({404, 410})
MOST_HOPS: Final = 100_000
MOST_RULES: Final = 1 << 20  # of a map, 600 bytes each
MOST_TIMES: Final = 50  # that a rule for many URLs applies in one chain: a URL that takes more grows without end


class RuleBudget:
    """Limit the number of rules of one map, in which one line may expand to a rule for each entry of a table."""

    def __init__(self) -> None:
        self._left = MOST_RULES

    def spend(self, name: str, count: int) -> str | None:
        """Count another use of the table `name` with `count` entries; return the problem if that is too many."""
        self._left -= count
        if self._left >= 0:
            return None
        return f"{name} is used too often: its rules and those before are more than {MOST_RULES:,}"


class Condition(NamedTuple):
    """A test beside the path: a regular expression is found in a part of the request, or is not (`is_negated`).

    `subject` names the part, for example "host" or "query" (see the function `subject`). Of conditions with
    `is_alternative` and the one behind them, one must hold.
    """

    subject: str
    pattern: str
    ignores_case: bool = False
    is_negated: bool = False
    is_alternative: bool = False


class Rule(NamedTuple):
    """One rule of a map, or one that could not be read (`problem`), with the URLs that it may concern, if known.

    `source` is a decoded path, with a query if only that query matches (exact, prefix), or a regular expression for
    the part that `subject` names. `target` is a sequence of texts and group numbers, where group 1 of a prefix is the
    rest of the path; for example, `/b/$1.html` is `("/b/", 1, ".html")`. None is a status without a target: status 200
    keeps later rules from applying. `host`: the only host to which the rule applies, with a non-default port; None for
    the hosts of both sites. `forced`: the rule applies where a file exists, too. `parameters`: the query must have
    them, with a text or a group number as value. `start`: the offset of the rule in the decoded file, where lines do
    not delimit rules.
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
    """One step of a redirect chain: the rule, and its target as the server writes it, or as an absolute URL.

    The target is None for a status without one, such as 410, or if it is no URL. The step is not sure where a rule
    that could not be read may apply before.
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


class Redirector(Protocol):
    """Applies one set of rules to a request. `exists` returns whether a file exists for the URL of the request.

    Rules that could not be read and might have applied before are added to `doubts`.
    """

    def __call__(self, request: Request, exists: Callable[[str], bool], doubts: list[Rule]) -> Move | None: ...


class Server(NamedTuple):
    """A virtual host: names in lower case, perhaps with `*`; ports, none for any; its rules.

    `phases`: sets of rules that are tried one after the other; a rule that ends one does not end the next. `inner`:
    sets that also apply to the index file, which the server requests internally for a folder.
    """

    names: tuple[str, ...]
    ports: tuple[str, ...]
    phases: tuple[Sequence[Rule], ...]
    inner: tuple[Sequence[Rule], ...] = ()


class RuleSet(NamedTuple):
    """One map: its rules in the order in which they apply, also those that could not be read.

    `servers`: the rules of each virtual host, if the form has them. `data` are the bytes of the file. `words`: how it
    was read, where there was a choice, such as the `columns` of a table. `hidden`: how many rows a filter hides.
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
    of the content that is sent for `final`, if a rule rewrites it. `rules`: the first rules that applied, in order,
    and the last one. `is_sure`: no rule that could not be read may lead it elsewhere.
    """

    hops: int
    final: str | None
    loop: bool = False
    gone: bool = False
    rules: tuple[Rule, ...] = ()
    served: str | None = None
    status: int | None = None
    is_sure: bool = True


# --- the parts of a URL that rules compare ----------------------------------------------------------------------------

STATUS: Final = re.compile(r"([1-5][0-9][0-9])(!?)")  # of a rule, maybe a forced one
_ESCAPED_PERCENT: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_WEB: Final = re.compile(r"(https?)://[^/?#]*([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL | re.IGNORECASE)
_RESERVED: Final = re.compile(r"[%?#]")
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
CHOSEN: Final = "the old URL, not the rule, would choose the host of its target"
INCLUDED: Final = "the file that it includes is not read: give it as a map of its own"
NO_QUERY: Final = "it never applies: it compares the path, which has no query"
_LONGEST: Final = 1000  # characters of a pattern in which groups are looked for
_NO_SIGN: Final = re.compile(r"\\[^?]|\[\^?\]?[^\]]*\]", re.DOTALL)  # an escaped character, a class
_INNERMOST: Final = re.compile(r"\([^()]*\)")
_QUESTION: Final = re.compile(r"\\\?(?![?*{])")


class Request(NamedTuple):
    """One URL as rules see it: `host` with a non-default port, `path` as in the URL and `decoded`, query or None.

    `indexes`: the names of index files. `line`: the path and query of the request line, if this is the server's own
    request for the index file of a folder.
    """

    url: str
    scheme: str
    host: str
    path: str
    decoded: str
    query: str | None
    is_site_host: bool = True  # rules without a host apply to it
    indexes: tuple[str, ...] = ()
    line: str | None = None


def request(url: str) -> Request | None:
    """Return the parts of an http or https URL, without its fragment; None for any other.

    >>> request("http://H:80/a%20b?x#f")[1:6]
    ('http', 'h', '/a%20b', '/a b', 'x')
    """
    found = _WEB.fullmatch(url)
    if found is None:
        return None
    scheme, path, query, fragment = found.groups()
    path = path or "/"
    if fragment is not None:
        url = url[: found.start(4) - 1]
    return Request(url, scheme.lower(), named(url), path, decoded(path), query)


def subject(request: Request, name: str) -> str:
    """Return the part of a request that a regular expression is matched against."""
    if name == "path":  # of most rules
        return request.decoded
    query = "" if request.query is None else f"?{request.query}"
    target = request.path + query if request.line is None else request.line  # as the request line has it
    return {
        "folder": request.decoded.removeprefix("/"),
        "url": f"{request.scheme}://{request.host}{request.path}{query}",
        "target": target,
        "line": f"GET {target} HTTP/1.1",
        "query": request.query or "",
        "scheme": request.scheme,
        "https": "on" if request.scheme == "https" else "off",
        "name": request.host.partition(":")[0],
        "host": request.host,
    }[name]


def encoded(text: str) -> str:
    """Return decoded text as a part of a path, where `?`, `#` and `%` need escapes: for example `a%3Fb` for `a?b`."""
    if not _RESERVED.search(text):
        return text
    return _RESERVED.sub(lambda one: _escaped(one, text), text)


def _escaped(found: re.Match[str], text: str) -> str:
    if found[0] == "%" and _ESCAPED_PERCENT.match(text, found.start()):
        return "%"
    return f"%{ord(found[0]):02X}"


# --- the two sides of a rule ------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """The source of a rule: a decoded path, with the query if it has one, on a host (None: both sites)."""

    host: str | None
    path: str


def to_https(old: str, new: str) -> tuple[Condition, ...]:
    """Return the condition of a rule from http to https on one host: that the scheme is http."""
    first, second = request(old), request(new)
    if first is None or second is None or first.host != second.host:
        return ()
    return (Condition("scheme", "^http$"),) if (first.scheme, second.scheme) == ("http", "https") else ()


def source(text: str) -> Source:
    """Return the source for a URL, `//host/path` or a path. Raise UsageError for any other text.

    >>> source("//old.example/a%20b?x")
    Source(host='old.example', path='/a b?x')
    """
    full = f"http:{text}" if text.startswith("//") else text
    if full.startswith("/"):
        path, mark, query = text.partition("#")[0].partition("?")
        return Source(None, f"{decoded(path)}{mark}{query}")
    if not has_scheme(full):
        raise UsageError(f"{short(text)} is neither a URL nor a path that begins with /")
    found = request(full)
    if found is None or is_malformed(full) or not found.host:
        raise UsageError(f"{short(text)} is no http or https URL")
    query = "" if found.query is None else f"?{found.query}"
    return Source(found.host, found.decoded + query)


def check_target(text: str) -> None:
    """Raise UsageError for a target that is neither a path nor an http or https URL."""
    if not text:
        raise UsageError("it has no target")
    if is_left_open(text):  # an error of a spreadsheet, or such as `TBD`
        raise UsageError(f"{short(text)} is no target")
    if CONTROL.search(text):  # a quoted cell may have any
        raise UsageError(f"the target {short(text)} has a line end or another control character")
    if text.startswith(("/", "?")) and not text.startswith("//"):
        return
    full = f"http:{text}" if text.startswith("//") else text
    if parsed_scheme(full) not in {"http", "https"}:
        raise UsageError(f"the target {short(text)} is neither an http URL nor a path that begins with /")
    if is_malformed(full):
        raise UsageError(f"the target {short(text)} is no URL")


def paired(rule: Rule, key: str, value: str) -> Rule:
    """Return the exact rule for a key and a value of a server's map: `a` and `/b`, or `old.example/a` and `/b`."""
    key = with_slashes(key) if "/" in key else key
    old, new = (text if text.startswith("/") or "://" in text else f"/{text}" for text in (key, value))
    found = source(old)
    check_target(new if value and not is_left_open(value) else value)
    return rule._replace(how="exact", source=found.path, host=found.host, target=(new,))


def tried(rule: Rule, make: Callable[..., Rule], *arguments: object, **named: object) -> Rule:
    """Return `make(rule, ...)`; if it raises UsageError, the rule with this problem. A rule with a problem stays."""
    if rule.problem is not None:
        return rule
    try:
        return make(rule, *arguments, **named)
    except UsageError as error:
        return rule._replace(problem=error.message)


def parse_status(text: str) -> int:
    """Return the HTTP status for a text such as `301`. Raise UsageError for any other text."""
    if re.fullmatch("[1-5][0-9][0-9]", text) is None:
        raise UsageError(f"{short(text)} is no status")
    return int(text)


def check_pattern(pattern: str, *, ignores_case: bool = False) -> None:
    """Raise UsageError for a regular expression that cannot be used."""
    try:
        patterns.matcher(pattern, ignores_case=ignores_case)
    except UsageError as error:
        raise UsageError(f"the regular expression cannot be used: {error.message}") from error


def with_pattern(rule: Rule, pattern: str, *, ignores_case: bool = False, subject: str = "path") -> Rule:
    """Return a rule that matches a regular expression. Raise UsageError for one that cannot be used."""
    check_pattern(pattern, ignores_case=ignores_case)
    return rule._replace(how="regex", source=pattern, subject=subject, ignores_case=ignores_case)


class NeverError(UsageError):
    """A rule is well-formed, but no request meets it."""


def check_path(pattern: str, *, in_folder: bool = False) -> None:
    """Raise NeverError for a pattern for paths that needs a query; `in_folder`: or a slash at its beginning."""
    if in_folder and re.match(r"\^\\?/(?![?*{])", pattern) and "|" not in pattern:
        raise NeverError("it never applies: the paths that it compares have no slash at their beginning")
    bare = without_groups(pattern)
    if _QUESTION.search(bare) and "|" not in bare:
        raise NeverError(NO_QUERY)


def without_groups(pattern: str) -> str:
    r"""Return a pattern with `x` for escapes, classes, groups: for example `^/axx` for `^/a(b|c)\.`; "" if too long."""
    bare, before = _NO_SIGN.sub("x", pattern) if len(pattern) <= _LONGEST else "", ""
    while bare != before:
        bare, before = _INNERMOST.sub("x", bare), bare
    return bare


def target_parts(
    text: str, variable: re.Pattern[str], number_for: Callable[[re.Match[str]], str | int | None]
) -> tuple[str | int, ...]:
    r"""Return the parts of a target: texts, and `part_of(match)` for each variable; None leaves it a text.

    >>> target_parts("/b/$1.html", re.compile(r"\$(\d)"), lambda group: int(group[1]))
    ('/b/', 1, '.html')
    """
    parts: list[str | int] = []
    place = 0
    for found in variable.finditer(text):
        if (part := number_for(found)) is not None:
            parts += [text[place : found.start()], part]
            place = found.end()
    parts.append(text[place:])
    return tuple(part for part in parts if part != "")


def with_target(
    rule: Rule, text: str, variable: re.Pattern[str], number_for: Callable[[re.Match[str]], str | int | None]
) -> Rule:
    """Return a rule with its target. Raise UsageError if a part of the old URL would be its host."""
    parts = target_parts(text, variable, number_for) or ("",)
    if isinstance(parts[0], int):
        raise UsageError(CHOSEN)
    return rule._replace(target=parts)


def with_rest(new: str, prefix: str) -> tuple[str | int, ...]:
    """Return the target of a prefix, the rest of the path behind one slash: for example `("/new/", 1)` for `/new`."""
    ends = min((place for mark in "?#" if (place := new.find(mark)) >= 0), default=len(new))
    head, tail = new[:ends], new[ends:]
    if head.endswith("/") and not prefix.endswith("/"):
        head = head[:-1]
    elif prefix.endswith("/") and not head.endswith("/"):
        head += "/"
    return (head, 1, tail) if tail else (head, 1)


def short(text: str, most: int = 80) -> str:
    """Return a text in quotes for a message, cut if it is long."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
