"""Read the redirects of an nginx configuration: return, rewrite, map, and locations.

In: the bytes of the file. Out: a `RuleSet`. nginx.org/en/docs/http/ngx_http_rewrite_module.html,
ngx_http_map_module.html and ngx_http_core_module.html. Directives that change the path inside the server, or depend on
the visitor, are rules that could not be read. A map whose variable no directive uses, and lines of a map without its
block, are taken for redirects with status 301: such files are included into a server.

    >>> [(rule.how, rule.source, rule.target) for rule in read("a.conf", b"location = /a { return 301 /b; }").rules]
    [('exact', '/a', ('/b',))]
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules.blocks import NGINX, Directive, directives
from absolve.rules.model import (
    HOST,
    INCLUDED,
    NO_QUERY,
    REQUESTED,
    SCHEME,
    WHOLE_PATH,
    Condition,
    NeverError,
    Rule,
    RuleBudget,
    RuleSet,
    Server,
    check_path,
    check_pattern,
    parse_status,
    target_parts,
)
from absolve.urls.identity import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from absolve.rules.model import Query

_IGNORED: Final = frozenset({"volatile", "hostnames"})
_STANDARD: Final = re.compile(  # files that redirect nothing
    r"mime\.types|_params|fastcgi(?:-php)?\.conf|options-ssl|ssl[-_]params|nginx\.conf\.default|modules(?:-enabled)?/"
)
_REWRITING: Final = frozenset({"return", "rewrite", "if", "set", "break"})
_ANSWERS: Final = frozenset({*_REWRITING, "include", "try_files", "error_page", ""})
_USING: Final = frozenset({"return", "rewrite", "if", "try_files", "error_page", "map"})  # variables, that is
_FLAGS: Final = frozenset({"last", "break", "redirect", "permanent", ""})
_DIGITS: Final = 2  # of the number of a group
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\d|\w+))", re.ASCII)
_REQUEST_URI: Final = re.compile(r"\$(?:\{request_uri\}|request_uri(?!\w))", re.ASCII)
_PARTS: Final = {
    **dict.fromkeys(("uri", "document_uri"), WHOLE_PATH),
    "request_uri": REQUESTED,
    **dict.fromkeys(("host", "http_host"), HOST),
    "scheme": SCHEME,
}
_SOURCES: Final = {"$uri": "path", "$document_uri": "path", "$request_uri": "target"}  # of maps
_WITH_QUERY: Final = re.compile(r"(\$is_args|\?)(?:\$args|\$query_string)$")
_OF_MAP: Final = re.compile(r"([^\s?#]*?)\$(?:\{(\w+)\}|(\w+))(\$is_args\$args)?", re.ASCII)
_ANYWHERE: Final = Rule("", 0, "", how="prefix", source="/")  # the place of directives outside of locations
_IF: Final = "of conditions only `$request_uri = TEXT`, `!-e $request_filename` and the variable of a map are read"


class _Reader:
    """The state of one file while its directives are read.

    A place is a rule without text and target that matches the requests of the location or `if` around a directive.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._maps: dict[str, list[Rule]] = {}
        self._used: set[str] = set()  # variables
        self._map_lines: set[int] = set()  # lines: for an index file, a variable keeps the value that its folder had
        self._budget = RuleBudget()  # each use of a variable has all rules of its map
        self.others: list[Rule] = []  # that could not be read, and answer nothing

    def read(self, top: Sequence[Directive]) -> list[Server]:
        """Return the servers with their rules; rules of maps that no server uses come last in each server."""
        self._note_variables(top)
        lines = [one for one in top if one.name.startswith(("/", "~"))]
        for directive in _find_directives(top, "map"):
            self._map(directive)
        if lines:
            self._maps[""] = list(self._lines(lines, "path"))
        self._map_lines = {rule.line for found in self._maps.values() for rule in found}
        unused = [rule for name, found in self._maps.items() if name not in self._used for rule in found]
        others = {"http", "server", "map", "upstream", "events"}
        bare = [one for one in top if one.name not in others and not one.name.startswith(("/", "~"))]
        blocks = [server.block or () for server in _find_directives(top, "server")]
        included = _find_directives(top if blocks else [one for one in top if one.name == "http"], "include")
        self.others += [self._rule(one, _ANYWHERE, INCLUDED) for one in included if _may_redirect(one)]
        servers = [self._server(block, unused) for block in blocks or [tuple(bare)]]
        servers.sort(key=lambda one: not one[1])
        return [server for server, _ in servers]

    def _note_variables(self, block: Sequence[Directive]) -> None:
        for directive in block:
            if directive.name in _USING:
                texts = directive.arguments[: 1 if directive.name == "map" else None]
                self._used |= {found[1] or found[2] for text in texts for found in _VARIABLE.finditer(text)}
            self._note_variables(directive.block or ())

    def _rule(self, directive: Directive, place: Rule, problem: str | None = None) -> Rule:
        text, start = directive.text, directive.start
        return place._replace(file=self._name, line=directive.line, text=text, problem=problem, start=start)

    # --- maps ---------------------------------------------------------------------------------------------------------

    def _map(self, directive: Directive) -> None:
        name = directive.arguments[-1].removeprefix("$") if directive.arguments else ""
        if len(directive.arguments) != 2 or directive.block is None:
            found = []
            self.others.append(self._rule(directive, _ANYWHERE, "a map has a source, a variable and a block"))
        elif directive.arguments[0] in _SOURCES:
            found = list(self._lines(directive.block, _SOURCES[directive.arguments[0]]))
        else:
            has_urls = any("".join(one.arguments).startswith(("/", "http")) for one in directive.block)
            problem = f"it looks up {directive.arguments[0][:60]}, which is not the path"
            found = [self._rule(directive, _ANYWHERE, problem)] if has_urls or name in self._used else []
        self._maps[name] = found

    def _lines(self, block: Sequence[Directive], subject: str) -> Iterator[Rule]:
        """Yield a rule for each line of a map, for example `/a /b;`: texts, then patterns, then the default."""
        rules: list[tuple[int, Rule]] = []
        for directive in block:
            if directive.name in _IGNORED and not directive.arguments:
                continue
            place = _ANYWHERE
            try:
                place, order = _map_place(directive, subject)
                target, query = _target(directive.arguments[0], place, "drop")
            except UsageError as error:
                rules.append((0, self._rule(directive, _met(place, error), error.message)))
                continue
            if target:
                query = "none" if place.query == "none" else query
                rules.append((order, self._rule(directive, place)._replace(target=target, query=query)))
        rules.sort(key=lambda one: one[0])
        yield from (rule for _, rule in rules)

    def _mapped(self, text: str, place: Rule, status: int, query: Query) -> list[Rule] | None:
        """Return the rules of a map for a target that ends with its variable; None for another target."""
        found = _OF_MAP.fullmatch(text.removesuffix("?"))
        name = found[2] or found[3] if found is not None else None
        if name is None or found is None or name not in self._maps:
            return None
        query = "keep" if found[4] else "drop" if text.endswith("?") else query
        before, _ = _target(found[1], place, "drop")
        if (problem := self._budget.spend(f"${name}", len(self._maps[name]))) is not None:
            raise UsageError(problem)
        return [
            _limited_to(place, rule)._replace(
                status=status,
                target=(*before, *rule.target) if rule.target else rule.target,
                query=query if rule.query == "drop" and rule.problem is None else rule.query,
            )
            for rule in self._maps[name]
        ]

    # --- servers ------------------------------------------------------------------------------------------------------

    def _server(self, block: Sequence[Directive], unused: Sequence[Rule]) -> tuple[Server, bool]:
        """Return a server, and whether it is the default server."""
        names: list[str] = []
        ports: list[str] = []
        is_default = False
        for directive in block:
            if directive.name == "server_name":
                names += [name.lower().removeprefix(".") for name in directive.arguments if not name.startswith("~")]
                names += [f"*{name.lower()}" for name in directive.arguments if name.startswith(".")]
                patterns = [name[1:] for name in directive.arguments if name.startswith("~")]
                names += [f"~*{pattern}" for one in patterns if (pattern := _server_pattern(one))]
            elif directive.name == "listen" and directive.arguments:
                port = directive.arguments[0].rpartition(":")[2]
                ports += [port] if port.isdecimal() and port.isascii() else ["80"]
                is_default = is_default or "default_server" in directive.arguments
        phases = list(self._block(block, _ANYWHERE)), list(self._located(block, ())), unused
        named = tuple(name for name in names if name not in {"_", ""})
        inner = tuple([rule for rule in phase if rule.line not in self._map_lines] for phase in phases[:2])
        return Server(named, tuple(ports), phases, inner), is_default

    def _located(
        self, block: Sequence[Directive], outer: tuple[Condition, ...], *, is_inside: bool = False
    ) -> Iterator[Rule]:
        """Yield the rules of locations in the order in which nginx chooses: exact ones, prefixes with ^~, patterns.

        Other prefixes are last; of prefixes the longest is first.
        """
        found: dict[str, list[tuple[Rule, Directive]]] = {"=": [], "^~": [], "~": [], "": []}
        for directive in block:
            if directive.name != "location" or not directive.arguments or directive.arguments[0].startswith("@"):
                continue  # only try_files and error_page lead to one with a name
            sign = directive.arguments[0] if len(directive.arguments) > 1 else ""
            try:
                place = _place(sign, directive.arguments[-1], is_inside=is_inside)._replace(conditions=outer)
            except UsageError as error:
                place = _met(_ANYWHERE._replace(conditions=outer), error)
                yield self._rule(directive, place, error.message)
            else:
                found["~" if sign == "~*" else sign].append((place, directive))
        others = sorted(directive.arguments[-1] for _, directive in found[""])
        if not found["~"]:  # then ^~ makes no difference
            found[""] += found.pop("^~")
        for sign, locations in found.items():
            if sign in {"^~", ""}:
                locations.sort(key=lambda one: -len(one[1].arguments[-1]))
            for place, directive in locations:
                text = directive.arguments[-1]
                number = bisect_right(others, text)
                if sign == "^~" and number < len(others) and others[number].startswith(text):
                    yield self._rule(directive, place, "a longer prefix without ^~ is inside of it")
                    continue
                yield from self._location(directive.block or (), place)
                yield self._rule(directive, place)._replace(status=200)  # no other location answers this request

    def _location(self, block: Sequence[Directive], place: Rule) -> Iterator[Rule]:
        if any(one.name == "location" for one in block):
            yield from self._located(block, _with(place), is_inside=True)
        yield from self._block(block, place)

    # --- what answers -------------------------------------------------------------------------------------------------

    def _block(self, block: Sequence[Directive], place: Rule) -> Iterator[Rule]:
        """Yield the rules of a block, in their order."""
        for number, directive in enumerate(block):
            if directive.name == "break":
                never = [one for one in block[number + 1 :] if one.name in _REWRITING]
                self.others += [self._rule(one, place, "it never applies: break comes first") for one in never]
                return
            try:
                yield from self._directive_rules(directive, place)
            except UsageError as error:
                yield self._rule(directive, _met(_scope(directive, place), error), error.message)

    def _directive_rules(self, directive: Directive, place: Rule) -> Sequence[Rule]:
        """Return the rules of a directive. Raise UsageError if it cannot be read."""
        arguments, name = directive.arguments, directive.name
        if directive.problem is not None and name in _ANSWERS:
            raise UsageError(directive.problem)
        if name == "return":
            return self._return(directive, place)
        if name == "rewrite":
            return self._rewrite(directive, place)
        if name == "if":
            return self._if(directive, place)
        if name == "set" and arguments and arguments[0].removeprefix("$") in self._used:
            self.others.append(self._rule(directive, place, "the value of a variable that is set is not followed"))
        elif name == "include" and _may_redirect(directive):
            raise UsageError(INCLUDED)
        elif name == "try_files" and not "".join(arguments[-1:]).startswith("="):
            raise UsageError("what it sends depends on files, which is not followed")
        elif name == "error_page" and re.search(r"[=@]|://", " ".join(arguments)):
            raise UsageError("what it sends depends on what is missing, which is not followed")
        return ()

    def _return(self, directive: Directive, place: Rule) -> Sequence[Rule]:
        arguments = directive.arguments
        if not arguments or len(arguments) > 2:
            raise UsageError("return has a status, a URL, or both")
        status = parse_status(arguments[0]) if arguments[0].isdigit() else 302
        rule = self._rule(directive, place)._replace(status=status)
        if not 300 <= status < 400:
            if status < 300:
                raise UsageError(f"return with status {status} sends a text, not a file")
            return [rule]
        if arguments[-1].isdigit():
            raise UsageError(f"return with status {status} needs a URL")
        mapped = self._mapped(arguments[-1], place, status, "drop")
        if mapped is not None:
            return mapped
        target, query = _target(arguments[-1], place, "drop")
        return [rule._replace(target=target, query="none" if place.query == "none" else query)]

    def _rewrite(self, directive: Directive, place: Rule) -> Sequence[Rule]:
        arguments = directive.arguments
        if not 2 <= len(arguments) <= 3:
            raise UsageError("rewrite has a regular expression, a replacement, and perhaps a flag")
        pattern, text, flag = (patterns.of_bytes(arguments[0]), *arguments[1:], "")[:3]
        if flag not in _FLAGS:
            raise UsageError(f"{flag[:40]!r} is no flag of rewrite")
        check_pattern(pattern)
        check_path(pattern)
        if flag not in {"redirect", "permanent"} and not text.startswith(("http://", "https://", "$scheme")):
            raise UsageError("it changes the path inside the server, which is not followed")
        status = 301 if flag == "permanent" else 302
        around = _limited_to(place, _ANYWHERE._replace(how="regex", source=pattern, query="append"))
        mapped = self._mapped(text, around, status, "append")
        if mapped is not None:
            return mapped
        target, query = _target(text, around, "append")
        return [self._rule(directive, around)._replace(status=status, target=target, query=query)]

    def _if(self, directive: Directive, place: Rule) -> Sequence[Rule]:
        """Return the rules in an `if`, for example `if ($request_uri = /a)`. Raise UsageError for other conditions."""
        block = directive.block or ()
        words = list(directive.arguments)
        if not words or not words[0].startswith("(") or not words[-1].endswith(")"):
            raise UsageError("the condition of an if is in parentheses")
        words[0] = words[0][1:]
        words[-1] = words[-1][:-1]
        words = [word for word in words if word]
        names = [one.name for one in block if one.name in _REWRITING]
        is_given = len(words) == 1 or words[1:] == ["!="]  # the empty text behind it is no word
        if is_given and words[0].removeprefix("$") in self._maps and names in (["return"], ["rewrite"]):
            return list(self._block(block, place))
        if words == ["!-e", "$request_filename"]:
            return list(self._block(block, place._replace(forced=False)))
        if words[:2] == ["$request_uri", "="] and len(words) == 3 and names == ["return"]:
            return list(self._block(block, _limited_to(place, _requested(words[2]))))
        if not names and not any(one.name == "" for one in block):
            return ()  # nothing in it answers
        raise UsageError(_IF)


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a configuration file."""
    reader = _Reader(name)
    servers = reader.read(directives(data, NGINX))
    phases = {id(phase): phase for server in servers for phase in server.phases}  # servers share one
    rules = [*reader.others, *(rule for phase in phases.values() for rule in phase)]
    known = {(rule.line, rule.start): rule for rule in reversed(rules) if rule.target is not None or rule.status != 200}
    return RuleSet(name, "nginx", sorted(known.values(), key=lambda rule: (rule.line, rule.start)), servers)


def _find_directives(block: Sequence[Directive], name: str) -> list[Directive]:
    """Return the directives of a name at the top, and in an `http` block."""
    found = [directive for directive in block if directive.name == name]
    for directive in block:
        if directive.name == "http":
            found += _find_directives(directive.block or (), name)
    return found


def _may_redirect(include: Directive) -> bool:
    """Return whether a file that is included may redirect: nginx's own ones do not."""
    return bool(include.arguments) and _STANDARD.search(include.arguments[0]) is None


# --- places -----------------------------------------------------------------------------------------------------------


def _place(sign: str, text: str, *, is_inside: bool) -> Rule:
    """Return the place of a location, for example a pattern for `~ ^/a`. Raise UsageError if it cannot be read."""
    if sign in {"~", "~*"}:
        if is_inside:
            raise UsageError("a location with a regular expression inside of another location is not read")
        text = patterns.of_bytes(text)
        check_pattern(text, ignores_case=sign == "~*")
        check_path(text)
        return _ANYWHERE._replace(how="regex", source=text, ignores_case=sign == "~*")
    if sign == "=":
        return _exact(text)
    if sign not in {"", "^~"}:
        raise UsageError(f"{sign[:20]!r} is no modifier of a location")
    if text.endswith("/"):
        return _ANYWHERE._replace(source=text)
    return _ANYWHERE._replace(how="regex", source=f"^{re.escape(text)}")


def _server_pattern(pattern: str) -> str:
    """Return the regular expression for a server's name, which a capital letter makes ignore case; "" if unusable."""
    try:
        check_pattern(pattern)
    except UsageError:
        return ""
    return pattern if pattern == pattern.lower() else f"(?i){pattern}"


def _met(place: Rule, error: UsageError) -> Rule:
    """Return the place of an unreadable directive: an empty one if no request can meet it."""
    return place._replace(how="exact", source="") if isinstance(error, NeverError) else place


def _exact(path: str) -> Rule:
    """Return the place of one decoded path. Raise NeverError for a query, which $request_uri alone has."""
    if "?" in path:
        raise NeverError(NO_QUERY)
    return _ANYWHERE._replace(how="exact", source=path)


def _requested(text: str) -> Rule:
    """Return the place of one undecoded path, with its query: for example, `/a%20b?x` has the source `/a b?x`."""
    path, mark, query = text.partition("?")
    return _ANYWHERE._replace(how="exact", source=f"{decoded(path)}{mark}{query}", query="keep" if mark else "none")


def _map_place(directive: Directive, subject: str) -> tuple[Rule, int]:
    """Return the place for a line of a map, and its rank among the lines. Raise UsageError if it cannot be read."""
    if directive.name == "include":
        raise UsageError(INCLUDED)
    if len(directive.arguments) != 1 or directive.block is not None or directive.problem is not None:
        raise UsageError(directive.problem or "a line of a map has a text and a value")
    if directive.name == "default":
        return _ANYWHERE, 2
    if directive.name.startswith("~"):
        ignores_case = directive.name.startswith("~*")
        pattern = patterns.of_bytes(directive.name[2 if ignores_case else 1 :])
        check_pattern(pattern, ignores_case=ignores_case)
        if subject == "path":
            check_path(pattern)
        return _ANYWHERE._replace(how="regex", source=pattern, subject=subject, ignores_case=ignores_case), 1
    text = directive.name.removeprefix("\\")
    place = _requested(text) if subject != "path" else _exact(text)
    return place._replace(ignores_case=True), 0


def _scope(directive: Directive, place: Rule) -> Rule:
    """Return the place to which a directive that cannot be read may apply."""
    if directive.name in {"try_files", "error_page"}:
        return place._replace(forced=False)
    if directive.name == "rewrite" and directive.arguments:
        try:
            check_pattern(directive.arguments[0])
        except UsageError:
            return place
        return _limited_to(place, _ANYWHERE._replace(how="regex", source=directive.arguments[0]))
    return place


def _limited_to(place: Rule, rule: Rule) -> Rule:
    """Return a rule, or a place, that also needs the conditions of the place around it."""
    conditions = place.conditions if (place.how, place.source) == (rule.how, rule.source) else _with(place)
    return rule._replace(conditions=(*conditions, *rule.conditions), forced=place.forced)


def _with(place: Rule) -> tuple[Condition, ...]:
    """Return the conditions of a place, with its own source as one of them."""
    if (place.how, place.source) == ("prefix", "/"):
        return place.conditions
    pattern = {"prefix": "^{}", "exact": "^{}$", "regex": "{}"}[place.how]
    text = place.source if place.how == "regex" else re.escape(place.source)
    subject = "target" if place.how == "exact" and "?" in place.source else place.subject
    return (*place.conditions, Condition(subject, pattern.replace("{}", text), place.ignores_case))


# --- targets ----------------------------------------------------------------------------------------------------------


def _target(text: str, place: Rule, query: Query) -> tuple[tuple[str | int, ...], Query]:
    """Return the parts of a target, and how it handles the query: for example "keep" for `/b$is_args$args`.

    `query`: without a variable for it. Raise UsageError for a variable whose value does not follow from the URL.
    """
    names = patterns.names(place.source) if place.how == "regex" else {}
    if query == "append" and text.endswith("?"):
        query, text = "drop", text[:-1]
    if (found := _WITH_QUERY.search(text)) is not None and query == "drop":
        query = "append" if found[1] == "?" else "keep"
        text = text[: found.start()] + ("?" if found[1] == "?" else "")
    if (found := _REQUEST_URI.search(text)) is not None:
        if query != "drop" or found.end() < len(text):
            raise UsageError("$request_uri has a query, which is read at the end of a target without another one")
        query = "keep"
    return target_parts(text, _VARIABLE, lambda one: _part(one[1] or one[2], names, place)), query


def _part(name: str, names: Mapping[str, int], place: Rule) -> int:
    if name.isdigit() and len(name) <= _DIGITS and place.how == "regex":
        return int(name)
    if name in names:
        return names[name]
    if name not in _PARTS:
        raise UsageError(f"the value of ${name[:60]} cannot be known")
    return _PARTS[name]
