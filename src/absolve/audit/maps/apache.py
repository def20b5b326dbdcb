"""Read the redirects of an Apache configuration: mod_alias and mod_rewrite, in `.htaccess` or the server's files.

In: the bytes of the file. Out: a `RuleSet`. httpd.apache.org/docs/2.4/mod/mod_alias.html: Redirect and RedirectMatch
apply in the order of the file, with the query of the request; .../mod/mod_rewrite.html: RewriteRule, with the
conditions whose result follows from the URL. mod_rewrite runs before mod_alias.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.audit.maps import apache_rewrite
from absolve.audit.maps.apache_config import Directive, Section, directives, words
from absolve.audit.maps.apache_engine import Rewriting
from absolve.audit.maps.model import PREFIX, PROGRAM, REGEX, Found, Rule, RuleSet
from absolve.audit.maps.ordered import Ordered
from absolve.audit.maps.servers import Server, by_host
from absolve.audit.maps.sources import source, target_fault
from absolve.core import patterns
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from absolve.audit.maps.apache_rewrite import Condition, Step
    from absolve.audit.maps.model import Mover
    from absolve.audit.maps.request import Request

_WORDS: Final = {"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}
_ALIASES: Final = frozenset({"redirect", "redirectpermanent", "redirecttemp", "redirectmatch"})
_TRANSPARENT: Final = frozenset({"virtualhost", "ifmodule", "directory", "requireall", "requireany"})
_NOT_OF_PATHS: Final = re.compile(r"[?#]|%[0-9A-Fa-f]{2}")
_NEVER: Final = "it never applies: Redirect compares the decoded path, without a query (RewriteCond has queries)"
_GROUP: Final = re.compile(r"\\(\$)|\$(\d)")


class _Host:
    """The rules of one virtual host, or those outside of all."""

    def __init__(self, section: Section | None) -> None:
        self.section = section
        self.names: list[str] = []
        self.aliases: list[Rule] = []
        self.steps: list[tuple[Step, bool]] = []  # with whether it is for a folder
        self.conditions: list[Condition] = []
        self.fault: str | None = None  # of a condition
        self.is_off = False
        self.base = "/"
        self.is_chained = False  # to a rule that could not be read
        self.maps: dict[str, str] = {}


class _Reader:
    """The state of one file while its directives are read."""

    def __init__(self, name: str, *, in_folder: bool) -> None:
        self._name = name
        self._in_folder = in_folder
        self.rules: list[Rule] = []
        self.hosts: dict[int, _Host] = {0: _Host(None)}
        self.maps: dict[str, str] = {}

    def read(self, data: bytes) -> None:
        for directive in directives(data):
            section = next((one for one in directive.sections if one.name == "virtualhost"), None)
            host = self.hosts.setdefault(section.line if section else 0, _Host(section))
            if directive.problem is not None:
                self.rules.append(Rule(self._name, directive.line, directive.text, directive.problem))
            elif directive.name in _ALIASES:
                self._alias(host, directive)
            elif directive.name == "rewriterule":
                self._rewrite(host, directive)
            elif directive.name == "rewritecond":
                self._condition(host, directive)
            else:
                self._setting(host, directive)

    def _setting(self, host: _Host, directive: Directive) -> None:
        given = words(directive.rest)
        if not given:
            return
        if directive.name == "rewriteengine":
            host.is_off = given[0].lower() == "off"
        elif directive.name == "rewritebase":
            host.base = given[0] if given[0].startswith("/") else "/"
        elif directive.name == "rewritemap" and len(given) > 1:
            kind, _, place = given[1].partition(":")
            self.maps[given[0]] = place.replace("\\", "/").rpartition("/")[2] if kind in {"txt", "rnd"} else ""
        elif directive.name in {"servername", "serveralias"}:
            host.names += [name.lower().rpartition("//")[2].partition(":")[0] for name in given]

    # --- mod_alias ----------------------------------------------------------------------------------------------------

    def _alias(self, host: _Host, directive: Directive) -> None:
        rule = Rule(self._name, directive.line, directive.text)
        fault = _unknown_section(directive, also={"location"})
        made = rule._replace(problem=fault) if fault else _alias(rule, directive)
        host.aliases.append(made)
        if host.section is not None:
            made = made._replace(how=PROGRAM)
        self.rules.append(made)

    # --- mod_rewrite --------------------------------------------------------------------------------------------------

    def _condition(self, host: _Host, directive: Directive) -> None:
        try:
            host.conditions.append(apache_rewrite.condition(directive.rest))
        except UsageError as error:
            host.fault = host.fault or f"its condition in line {directive.line}: {error.message}"

    def _rewrite(self, host: _Host, directive: Directive) -> None:
        rule = Rule(self._name, directive.line, directive.text, how=PROGRAM)
        conditions, fault = tuple(host.conditions), host.fault
        host.conditions, host.fault = [], None
        fault = _unknown_section(directive) or fault
        if host.is_chained:
            fault = fault or "it is chained to a rule that could not be read"
        made: Step | None = None
        try:
            if fault is None:
                made = apache_rewrite.step(rule, directive.rest, conditions)
                self._check_maps(made)
        except UsageError as error:
            fault = error.message
        host.is_chained = fault is not None and _is_chained(directive.rest)
        if fault is None and host.is_off:
            fault = "RewriteEngine is off"
        if fault is not None or made is None:
            self.rules.append(rule._replace(problem=fault))
            return
        in_folder = self._in_folder or any(section.name == "directory" for section in directive.sections)
        if host.section is None:
            made = made._replace(rule=apache_rewrite.labelled(made, in_folder=in_folder))
        self.rules.append(made.rule)
        host.steps.append((made, in_folder))

    def _check_maps(self, step: Step) -> None:
        """Raise UsageError for a map that is no text file."""
        texts = [step.substitution or (), *(condition.value for condition in step.conditions)]
        for part in (part for parts in texts for part in parts):
            if part.kind == "map" and not self.maps.get(part.text):
                raise UsageError(f"{part.text[:40]!r} is no RewriteMap of this file with a text file (txt:)")


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a file: paths in those of `.htaccess` begin without a slash."""
    reader = _Reader(name, in_folder=".htaccess" in name.lower())
    reader.read(data)

    def mover(tables: Mapping[str, Mapping[str, str]]) -> Mover:
        by_name = {file.replace("\\", "/").rpartition("/")[2]: table for file, table in tables.items()}
        given = {name: by_name.get(file, {}) for name, file in reader.maps.items()}
        outer = reader.hosts[0]
        servers = [
            Server(tuple(host.names), _ports(host.section), _mover(host, outer, given))
            for number, host in sorted(reader.hosts.items())
            if number
        ]
        return by_host(servers or [Server((), (), _mover(outer, None, given))])

    return RuleSet(name, "apache", reader.rules, mover)


def _mover(host: _Host, outer: _Host | None, tables: Mapping[str, Mapping[str, str]]) -> Mover:
    """Return the rules of a host: mod_rewrite of the server, of its folders, then mod_alias, also from outside."""
    rewriting = [
        Rewriting(
            [step for step, of_folder in one.steps if of_folder == in_folder], tables, one.base, in_folder=in_folder
        )
        for one, in_folder in ((host, False), (host, True), (outer, True))
        if one is not None
    ]
    alias = Ordered([*host.aliases, *(outer.aliases if outer is not None else [])])

    def move(request: Request, exists: Callable[[str], bool]) -> Found | None:
        for one in rewriting:
            found = one(request, exists)
            if found is not None:
                return found
        return alias(request, exists)

    return move


def _ports(section: Section | None) -> tuple[str, ...]:
    ports = [address.rpartition(":")[2] for address in (section.arguments if section else ()) if ":" in address]
    return tuple(port for port in ports if port.isdigit())


def _is_chained(rest: str) -> bool:
    found = words(rest, is_raw=True)
    try:
        return len(found) == 3 and "c" in apache_rewrite.flags(found[2])
    except UsageError:
        return True


def _unknown_section(directive: Directive, also: frozenset[str] | set[str] = frozenset()) -> str | None:
    """Return why the sections around a directive make it unknown whether it applies."""
    for section in directive.sections:
        if section.name not in _TRANSPARENT and section.name not in also:
            return f"it is in the section <{section.name}> of line {section.line}, which is not supported"
    return None


def _alias(rule: Rule, directive: Directive) -> Rule:
    """Return the rule of a Redirect, RedirectMatch, RedirectPermanent or RedirectTemp."""
    given = words(directive.rest)
    status = {"redirectpermanent": 301}.get(directive.name, 302)
    if given and directive.name in {"redirect", "redirectmatch"}:
        word = given[0].lower()
        if word in _WORDS or re.fullmatch(r"[1-5][0-9][0-9]", word):
            status = _WORDS.get(word) or int(word)
            del given[0]
    location = next((section for section in directive.sections if section.name == "location"), None)
    if location is not None:
        if len(given) != 1 or len(location.arguments) != 1:
            return rule._replace(problem="in <Location> it has a URL only")
        given = [location.arguments[0], *given]
    leads = 300 <= status < 400
    if len(given) != 1 + leads:
        return rule._replace(
            problem="it needs a path and a URL" if leads else f"with status {status} it has a path only"
        )
    fault = target_fault(given[1]) if leads and not given[1].startswith("$") else None
    if fault is not None:
        return rule._replace(problem=fault)
    if directive.name != "redirectmatch" and _NOT_OF_PATHS.search(given[0]):
        return rule._replace(problem=_NEVER)
    rule = rule._replace(status=status)
    if directive.name == "redirectmatch":
        return _match(rule, given[0], given[1] if leads else None)
    found = source(given[0])
    if isinstance(found, str) or found.host is not None:
        return rule._replace(problem=found if isinstance(found, str) else "it matches a path, not a URL")
    target = (given[1], 1) if leads and location is None else (given[1],) if leads else None
    return rule._replace(how=PREFIX, source=found.path, target=target)


def _match(rule: Rule, pattern: str, target: str | None) -> Rule:
    try:
        patterns.matcher(pattern)
    except UsageError as error:
        return rule._replace(problem=f"the regular expression cannot be used: {error.message}")
    return rule._replace(how=REGEX, source=pattern, target=None if target is None else _dollars(target))


def _dollars(text: str) -> tuple[str | int, ...]:
    """Return a target with group numbers for `$1` to `$9`."""
    parts: list[str | int] = []
    place = 0
    for found in _GROUP.finditer(text):
        parts += [text[place : found.start()], "$" if found[1] else int(found[2])]
        place = found.end()
    parts.append(text[place:])
    return tuple(part for part in parts if part != "")
