"""Expand the variables of nginx for one request.

In: texts with `$name`, `${name}` and `$1`. Out: their parts, and their values. Only variables whose value follows from
the URL are known (nginx.org/en/docs/http/ngx_http_core_module.html#variables); UsageError names any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.request import encoded
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from absolve.audit.maps.index import Groups
    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.request import Request
    from absolve.core.patterns import Matcher

KNOWN: Final = frozenset(
    "uri document_uri request_uri host http_host server_name scheme args query_string is_args request_method"
    " server_port https request_filename document_root http_x_forwarded_proto server_protocol".split()
)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)


class Part(NamedTuple):
    """A part of a text: `kind` is text, variable or group."""

    kind: str
    text: str


def parts(text: str, known: Iterable[str]) -> tuple[Part, ...]:
    """Return the parts of a text. Raise UsageError for a variable that is not known."""
    found: list[Part] = []
    place = 0
    for variable in _VARIABLE.finditer(text):
        name = variable[1] or variable[2]
        if variable[2] and variable[2][0].isdigit():
            name = variable[2][0]
        elif name not in KNOWN and not name.startswith("arg_") and name not in known:
            raise UsageError(f"the value of ${name[:60]} cannot be known")
        if variable.start() > place:
            found.append(Part("text", text[place : variable.start()]))
        found.append(Part("group" if name.isdigit() else "variable", name))
        place = variable.start() + 2 if name.isdigit() and not variable[1] else variable.end()
    if place < len(text):
        found.append(Part("text", text[place:]))
    return tuple(found)


class Entry(NamedTuple):
    """A line of a map with a regular expression."""

    match: Matcher
    names: Mapping[str, int]
    value: tuple[Part, ...]
    rule: Rule


class Table(NamedTuple):
    """A `map` block: texts (in lower case) before regular expressions, whatever their order; then the default."""

    source: tuple[Part, ...]
    texts: Mapping[str, tuple[tuple[Part, ...], Rule]]
    candidates: Callable[[str], Sequence[int]]
    entries: Sequence[Entry]
    default: tuple[Part, ...]


class State:
    """A request as the directives so far left it: decoded path, query, groups of the last match, variables."""

    def __init__(self, request: Request, tables: Mapping[str, Table], server_name: str) -> None:
        self.request = request
        self.path = request.decoded
        self.query = request.query
        self.groups: Groups = ()
        self.variables: dict[str, str] = {}
        self.rule: Rule | None = None  # of the map that gave the last value
        self.changed_by: Rule | None = None
        self._tables = tables
        self._server_name = server_name
        self._known: dict[tuple[str, bool], tuple[str, Rule | None]] = {}  # nginx computes a map once for a request

    def matched(self, groups: Groups, names: Mapping[str, int]) -> None:
        """Keep the groups of a match, also by name."""
        self.groups = groups
        for name, number in names.items():
            self.variables[name] = groups[number] or ""

    def expanded(self, given: Sequence[Part], *, is_url: bool = False) -> str:
        """Return the text of these parts; `is_url`: decoded values are escaped where they would end a path."""
        found = []
        for part in given:
            if part.kind == "text":
                found.append(part.text)
            elif part.kind == "group":
                number = int(part.text)
                text = (self.groups[number] if number < len(self.groups) else None) or ""
                found.append(encoded(text) if is_url else text)
            else:
                text = self.value(part.text, is_url=is_url)
                found.append(encoded(text) if is_url and part.text in {"uri", "document_uri"} else text)
        return "".join(found)

    def value(self, name: str, *, is_url: bool = False) -> str:
        """Return the value of a variable; "" for one that is not set."""
        if name in self.variables:
            return self.variables[name]
        if name in self._tables:
            known = self._known.get((name, is_url))
            if known is None:
                self._known[name, is_url] = "", None  # a map that looks itself up finds nothing
                value = self._looked_up(self._tables[name], is_url=is_url)
                known = self._known[name, is_url] = value, self.rule
            value, self.rule = known
            return value
        if name.startswith("arg_"):
            return self._argument(name[4:])
        request = self.request
        host, _, port = request.host.partition(":")
        raw = f"{request.path}{'' if request.query is None else '?' + request.query}"
        values = {
            "uri": self.path,
            "document_uri": self.path,
            "request_uri": raw,
            "host": host,
            "http_host": request.host,
            "server_name": self._server_name or host,
            "scheme": request.scheme,
            "http_x_forwarded_proto": request.scheme,
            "args": self.query or "",
            "query_string": self.query or "",
            "is_args": "?" if self.query else "",
            "request_method": "GET",
            "server_protocol": "HTTP/1.1",
            "server_port": port or ("443" if request.scheme == "https" else "80"),
            "https": "on" if request.scheme == "https" else "",
            "request_filename": self.path,
        }
        return values.get(name, "")

    def _argument(self, name: str) -> str:
        for pair in (self.query or "").split("&"):
            key, _, value = pair.partition("=")
            if key.lower() == name.lower():
                return value
        return ""

    def _looked_up(self, table: Table, *, is_url: bool) -> str:
        self.rule = None
        key = self.expanded(table.source)
        found = table.texts.get(key.lower())
        if found is not None:
            value = self.expanded(found[0], is_url=is_url)
            self.rule = found[1]
            return value
        for number in table.candidates(key):
            entry = table.entries[number]
            groups = entry.match(key)
            if groups is not None:
                self.matched(groups, entry.names)
                value = self.expanded(entry.value, is_url=is_url)
                self.rule = entry.rule
                return value
        return self.expanded(table.default, is_url=is_url)
