"""Read the redirects of an nginx configuration: return, rewrite, map, location, if, try_files.

In: the bytes of the file. Out: a `RuleSet`. nginx.org/en/docs/http/ngx_http_rewrite_module.html,
ngx_http_map_module.html and ngx_http_core_module.html. A map whose variable no directive uses, and lines of a map
without its block, are taken for redirects with status 301: such files are included into a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from absolve.audit.maps.model import APPEND, DROP, EXACT, PROGRAM, REGEX, Rule, RuleSet
from absolve.audit.maps.nginx_config import Directive, directives
from absolve.audit.maps.nginx_engine import Action, Actions, Engine, Location, Locations, Test
from absolve.audit.maps.nginx_general import labelled, simple
from absolve.audit.maps.nginx_values import Entry, Part, Table, parts
from absolve.audit.maps.servers import Server, by_host
from absolve.core import patterns
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from absolve.audit.maps.model import Mover
    from absolve.core.patterns import Matcher

_IGNORED: Final = frozenset({"volatile", "hostnames"})
_STANDARD: Final = ("mime.types", "_params", "fastcgi.conf", "ssl", "nginx.conf.default")
_FLAGS: Final = frozenset({"last", "break", "redirect", "permanent", ""})
_FILE_TESTS: Final = frozenset({"-f", "-d", "-e"})
_LINES: Final = "\0lines"


class _Reader:
    """The state of one file while its directives are read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.rules: list[Rule] = []
        self.tables: dict[str, Table] = {}
        self.known: set[str] = set()
        self._used: set[str] = set()
        self.servers: list[Server] = []
        self.implied: Engine | None = None
        self._around: tuple[str, str] | None = None  # the location or condition that is read

    def read(self, given: Sequence[Directive]) -> None:
        self._names(given)
        lines = [one for one in given if one.name.startswith(("/", "~"))]
        for directive in _inside(given, "map"):
            self._map(directive)
        if lines:
            self._table(_LINES, (Part("variable", "uri"),), lines)
        servers = _inside(given, "server")
        bare = [
            one for one in given if one.name not in {"http", "server", "map", "upstream", "events"} and one not in lines
        ]
        for block in [server.block or () for server in servers] or [tuple(bare)]:
            self._server(block)
        self._implied()

    def _names(self, given: Sequence[Directive]) -> None:
        """Collect the names of variables, which may be used before they are set."""
        for directive in given:
            if directive.name == "map" and len(directive.arguments) == 2:
                self.known.add(directive.arguments[1].removeprefix("$"))
            elif directive.name == "set" and directive.arguments:
                self.known.add(directive.arguments[0].removeprefix("$"))
            for text in (directive.name, *directive.arguments):
                if text.startswith(("~", "^")) or "(?" in text:
                    self.known |= _group_names(text)
            self._names(directive.block or ())

    def _rule(self, directive: Directive, problem: str | None = None) -> Rule:
        problem = problem or directive.problem
        return Rule(self._name, directive.line, directive.text, problem, how=PROGRAM, start=directive.start)

    def _unread(self, directive: Directive, problem: str) -> None:
        self.rules.append(self._rule(directive, problem=problem))

    def _parts(self, text: str) -> tuple[Part, ...]:
        found = parts(text, self.known)
        self._used |= {part.text for part in found if part.kind == "variable"}
        return found

    # --- maps ---------------------------------------------------------------------------------------------------------

    def _map(self, directive: Directive) -> None:
        if len(directive.arguments) != 2 or directive.block is None:
            self._unread(directive, "a map has a source, a variable and a block")
            return
        try:
            source = self._parts(directive.arguments[0])
        except UsageError as error:
            self._unread(directive, error.message)
            return
        self._table(directive.arguments[1].removeprefix("$"), source, directive.block)

    def _table(self, name: str, source: tuple[Part, ...], given: Sequence[Directive]) -> None:
        texts: dict[str, tuple[tuple[Part, ...], Rule]] = {}
        entries: list[Entry] = []
        compared: list[tuple[str, bool]] = []
        default: tuple[Part, ...] = ()
        for directive in given:
            if directive.name in _IGNORED and not directive.arguments:
                continue
            try:
                made = self._entry(directive)
            except UsageError as error:
                self._unread(directive, error.message)
                continue
            if directive.name == "default":
                default = made
                continue
            pattern, ignores_case = _pattern(directive.name)
            rule = labelled(self._rule(directive), source, pattern, made, ignores_case=ignores_case)
            self.rules.append(rule)
            if rule.problem is not None:
                continue
            if pattern is None:
                texts.setdefault(directive.name.removeprefix("\\").lower(), (made, rule))
                continue
            entries.append(
                Entry(patterns.matcher(pattern, ignores_case=ignores_case), patterns.names(pattern), made, rule)
            )
            compared.append((pattern, ignores_case))
        candidates = patterns.PatternSet(compared).candidates
        self.tables[name] = Table(source, texts, candidates, entries, default)

    def _entry(self, directive: Directive) -> tuple[Part, ...]:
        """Return the value of a line of a map. Raise UsageError if it cannot be read."""
        if directive.name == "include":
            raise UsageError("the file that it includes is not read: give it as a map of its own")
        if len(directive.arguments) != 1 or directive.block is not None:
            raise UsageError(directive.problem or "a line of a map has a text and a value")
        pattern, ignores_case = _pattern(directive.name)
        if pattern is not None:
            _matcher(pattern, ignores_case=ignores_case)
        return self._parts(directive.arguments[0])

    def _implied(self) -> None:
        """Add a server for maps that are for redirects, where no directive uses them."""
        unused = [name for name in self.tables if name not in self._used]
        if not unused:
            return
        actions = [Action("return", None, value=(Part("variable", name),), status=301) for name in unused]
        tests = [
            Action(
                "if",
                None,
                test=Test((Part("variable", name),), "", (), None, {}, is_negated=False),
                block=Actions([action]),
            )
            for name, action in zip(unused, actions, strict=True)
        ]
        engine = Engine(Actions(tests), Locations([]), {}, self.tables, "")
        self.implied = engine

    # --- servers ------------------------------------------------------------------------------------------------------

    def _server(self, block: Sequence[Directive]) -> None:
        names: list[str] = []
        ports: list[str] = []
        is_default = False
        for directive in block:
            if directive.name == "server_name":
                names += [name.lower().removeprefix(".") for name in directive.arguments if not name.startswith("~")]
                names += [f"*{name.lower()}" for name in directive.arguments if name.startswith(".")]
            elif directive.name == "listen" and directive.arguments:
                port = directive.arguments[0].rpartition(":")[2]
                ports += [port] if port.isdigit() else ["80"]
                is_default = is_default or "default_server" in directive.arguments
        actions = self._actions(block)
        self._around = "@", ""
        named = {
            one.arguments[0]: self._actions(one.block or ())
            for one in block
            if one.name == "location" and one.arguments and one.arguments[0].startswith("@")
        }
        self._around = None
        locations = self._locations(block)
        engine = Engine(actions, locations, named, self.tables, names[0] if names and "*" not in names[0] else "")
        server = Server(tuple(name for name in names if name not in {"_", ""}), tuple(ports), engine)
        self.servers.insert(0 if is_default else len(self.servers), server)

    def _locations(self, block: Sequence[Directive]) -> Locations:
        found = []
        for directive in block:
            if directive.name != "location" or directive.block is None:
                continue
            given = directive.arguments
            sign, text = (given[0], given[1]) if len(given) == 2 else ("", given[0] if given else "")
            if text.startswith("@"):
                continue
            if sign not in {"", "=", "~", "~*", "^~"}:
                self._unread(directive, f"{sign[:20]!r} is no modifier of a location")
                continue
            found.append(self._location(directive, sign, text))
        return Locations([location for location in found if location is not None])

    def _location(self, directive: Directive, sign: str, text: str) -> Location | None:
        match, names = None, {}
        block = directive.block or ()
        if sign.startswith("~"):
            try:
                match = _matcher(text, ignores_case=sign == "~*")
            except UsageError as error:
                for one in block:
                    if one.name in {"return", "rewrite"}:
                        self._unread(one, f"its location in line {directive.line}: {error.message}")
                return None
            names = patterns.names(text)
        inner = self._locations(block) if any(one.name == "location" for one in block) else None
        self._around = sign, text
        actions = self._actions(block)
        self._around = None
        return Location(sign, text, match, names, actions, inner, self._fallback(block))

    def _fallback(self, block: Sequence[Directive]) -> tuple[Rule, str, tuple[Part, ...]] | None:
        for directive in block:
            if directive.name == "try_files" and len(directive.arguments) > 1:
                last = directive.arguments[-1]
                if last.startswith("="):
                    return None
                rule = self._rule(directive)
                if last.startswith("@"):
                    return rule, last, ()
                try:
                    value = self._parts(last)
                except UsageError as error:
                    self._unread(directive, error.message)
                    return None
                self.rules.append(rule)
                return rule, "", value
        return None

    # --- actions ------------------------------------------------------------------------------------------------------

    def _actions(self, block: Sequence[Directive]) -> Actions:
        found = []
        for directive in block:
            try:
                action = self._action(directive)
            except UsageError as error:
                self._unread(directive, error.message)
                continue
            if action is not None:
                found.append(action)
        return Actions(found)

    def _action(self, directive: Directive) -> Action | None:
        """Return the action of a directive, None for one of another kind. Raise UsageError if it cannot be read."""
        if directive.problem is not None and directive.name in {"return", "rewrite", "if", "set", "include", ""}:
            raise UsageError(directive.problem)
        given = directive.arguments
        if directive.name == "return":
            return self._return(directive)
        if directive.name == "rewrite":
            return self._rewrite(directive)
        if directive.name == "if":
            return self._if(directive)
        if directive.name == "break":
            return Action("break", None)
        if directive.name == "set" and len(given) == 2:
            return Action("set", None, value=self._parts(given[1]), name=given[0].removeprefix("$"))
        if directive.name == "include" and given and not any(word in given[0] for word in _STANDARD):
            raise UsageError("the file that it includes is not read: give it as a map of its own")
        return None

    def _carried(
        self, directive: Directive, value: tuple[Part, ...] | None, status: int, pattern: str | None = None
    ) -> Rule:
        """Return the rule of a directive; it is not listed if the lines of a map are the rules."""
        if value is not None and any(part.kind == "variable" and part.text in self.tables for part in value):
            return self._rule(directive)._replace(status=status)
        rule = self._rule(directive)._replace(status=status)
        if pattern is not None and self._around is None and value is not None and status != 200:
            rule = simple(rule._replace(how=REGEX, source=pattern, query=APPEND), value)
        elif pattern is None and self._around is not None and self._around[0] == "=":
            rule = simple(rule._replace(how=EXACT, source=self._around[1], query=DROP), value)
        self.rules.append(rule)
        return rule

    def _return(self, directive: Directive) -> Action:
        given = directive.arguments
        if not given or len(given) > 2:
            raise UsageError("return has a status, a URL, or both")
        if not given[0].isdigit():
            value = self._parts(given[0])
            return Action("return", self._carried(directive, value, 302), value=value, status=302)
        status = int(given[0])
        if not 300 <= status < 400:
            if status < 300:
                raise UsageError(f"return with status {status} sends a text, not a file")
            return Action("return", self._carried(directive, None, status), status=status)
        if len(given) != 2:
            raise UsageError(f"return with status {status} needs a URL")
        value = self._parts(given[1])
        return Action("return", self._carried(directive, value, status), value=value, status=status)

    def _rewrite(self, directive: Directive) -> Action:
        given = directive.arguments
        if not 2 <= len(given) <= 3:
            raise UsageError("rewrite has a regular expression, a replacement, and perhaps a flag")
        flag = given[2] if len(given) == 3 else ""
        if flag not in _FLAGS:
            raise UsageError(f"{flag[:40]!r} is no flag of rewrite")
        match = _matcher(given[0], ignores_case=False)
        value = self._parts(given[1])
        if flag == "" and value and value[0] == Part("variable", "scheme"):
            flag = "redirect"
        is_redirect = flag in {"redirect", "permanent"} or given[1].startswith(("http://", "https://"))
        status = (301 if flag == "permanent" else 302) if is_redirect else 200
        rule = self._carried(directive, value, status, given[0])
        return Action("rewrite", rule, match, patterns.names(given[0]), given[0], value, flag)

    def _if(self, directive: Directive) -> Action:
        words = list(directive.arguments)
        if not words or not words[0].startswith("(") or not words[-1].endswith(")"):
            raise UsageError("the condition of an if is in parentheses")
        words[0], words[-1] = words[0][1:], words[-1][:-1] if len(words) > 1 else words[0][1:-1]
        words = [word for word in words if word]
        try:
            test = self._test(words)
        except UsageError as error:
            for one in directive.block or ():
                if one.name in {"return", "rewrite"}:
                    self._unread(one, f"its condition in line {directive.line}: {error.message}")
            return Action("if", None)
        around, self._around = self._around, ("if", "")
        block = self._actions(directive.block or ())
        self._around = around
        return Action("if", None, test=test, block=block)

    def _test(self, words: Sequence[str]) -> Test:
        if len(words) == 1:
            return Test(self._parts(words[0]), "", (), None, {}, is_negated=False)
        sign = words[0]
        if len(words) == 2 and sign.removeprefix("!") in _FILE_TESTS:
            value = tuple(part for part in self._parts(words[1]) if part.text != "document_root")
            return Test(value, sign.removeprefix("!"), (), None, {}, is_negated=sign.startswith("!"))
        if len(words) != 3 or words[1] not in {"=", "!=", "~", "!~", "~*", "!~*"}:
            raise UsageError(f"the condition {' '.join(words)[:60]!r} is not supported")
        value = self._parts(words[0])
        sign = words[1].removeprefix("!")
        is_negated = words[1].startswith("!")
        if sign == "=":
            return Test(value, "=", self._parts(words[2]), None, {}, is_negated=is_negated)
        if any(part.text in {"request_filename", "document_root"} for part in value):
            raise UsageError("the value of $request_filename depends on the server's folders")
        return Test(
            value,
            "~",
            (),
            _matcher(words[2], ignores_case=sign == "~*"),
            patterns.names(words[2]),
            is_negated=is_negated,
        )


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a configuration file."""
    reader = _Reader(name)
    reader.read(directives(data))
    rules = sorted(reader.rules, key=lambda rule: rule.line)

    def mover(_tables: Mapping[str, Mapping[str, str]]) -> Mover:
        servers = reader.servers
        own = by_host(servers)
        if reader.implied is None:
            return own
        implied = by_host([Server((), (), reader.implied)])
        return lambda request, exists: own(request, exists) or implied(request, exists)

    return RuleSet(name, "nginx", rules, mover)


def _inside(given: Sequence[Directive], name: str) -> list[Directive]:
    """Return the directives of a name at the top, and in an `http` block."""
    found = [directive for directive in given if directive.name == name]
    for directive in given:
        if directive.name == "http":
            found += _inside(directive.block or (), name)
    return found


def _pattern(text: str) -> tuple[str | None, bool]:
    """Return the regular expression of a line of a map, and whether it ignores case; None for a text."""
    if text.startswith("~*"):
        return text[2:], True
    return (text[1:], False) if text.startswith("~") else (None, False)


def _matcher(pattern: str, *, ignores_case: bool) -> Matcher:
    try:
        return patterns.matcher(pattern, ignores_case=ignores_case)
    except UsageError as error:
        raise UsageError(f"the regular expression cannot be used: {error.message}") from error


def _group_names(text: str) -> set[str]:
    import re

    return set(re.findall(r"\(\?P?<(\w+)>", text))
