"""Read the redirects of an Apache configuration: mod_alias and mod_rewrite, in `.htaccess` or the server's files.

In: the bytes of the file. Out: a `RuleSet`. httpd.apache.org/docs/2.4/mod/mod_alias.html: Redirect and RedirectMatch
apply in the order of the file, with the query of the request. .../mod/mod_rewrite.html: a RewriteRule that redirects or
refuses, with conditions on the host, the scheme, the path and the query; mod_rewrite runs before mod_alias. Rules that
change the path inside the server, or depend on the visitor or on files, are not read.

    >>> [(rule.source, rule.target) for rule in read(".htaccess", b"Redirect 301 /a /b").rules]
    [('/a', ('/b', 1))]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.core.patterns import of_bytes
from absolve.rules.cells import lines
from absolve.rules.model import (
    CONDITION,
    HOST,
    INCLUDED,
    WHOLE_PATH,
    Condition,
    NeverError,
    Rule,
    RuleSet,
    Server,
    check_path,
    check_pattern,
    check_target,
    parse_status,
    source,
    target_parts,
    tried,
    without_groups,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.rules.model import Query

# --- directives, with the sections around them (httpd.apache.org/docs/2.4/configuring.html#syntax) --------------------

_DEEPEST: Final = 50  # sections in each other: each directive has all of them
_TOO_DEEP: Final = "its sections are nested too deep"


class Section(NamedTuple):
    """A section such as `<VirtualHost *:80>`: its name in lower case, its arguments, the line of its beginning."""

    name: str
    arguments: tuple[str, ...]
    line: int


class Directive(NamedTuple):
    """A directive: its name in lower case, its arguments as one text, the sections around it, outermost first.

    The name is `</` at the end of the innermost section, which is the last of `sections`.
    """

    line: int
    name: str
    rest: str
    sections: tuple[Section, ...]
    text: str
    problem: str | None = None


def directives(data: bytes) -> Iterator[Directive]:
    """Yield the directives of a configuration file, and the end of each section."""
    sections: tuple[Section, ...] = ()
    deeper = 0  # sections that are nested too deep
    for number, text, problem in _joined(data):
        if problem is not None:
            yield Directive(number, "", "", sections, text, problem)
        elif deeper and not text.startswith("<"):
            yield Directive(number, "", "", sections, text, _TOO_DEEP)
        elif text.startswith("</"):
            if sections and not deeper:
                yield Directive(number, "</", "", sections, text)
                sections = sections[:-1]
            deeper = max(deeper - 1, 0)
        elif text.startswith("<") and len(sections) == _DEEPEST:
            deeper += 1
        elif text.startswith("<"):
            name, _, rest = text[1:].rstrip("> \t").partition(" ")
            sections = (*sections, Section(name.lower(), tuple(words(rest)), number))
        else:
            name, *tail = text.split(None, 1)
            yield Directive(number, name.lower(), tail[0] if tail else "", sections, text)


def _joined(data: bytes) -> Iterator[tuple[int, str, str | None]]:
    """Yield lines except empty ones and comments; a backslash at the end of a line joins it with the next one."""
    start, held = 0, ""
    for number, text, problem in lines(data):
        start = start if held else number
        if problem is None and text.endswith("\\"):
            held += text[:-1]
            continue
        whole = (held + text).strip()
        held = ""
        if problem is not None or (whole and not whole.startswith("#")):
            yield start, whole, problem
    if held.strip():
        yield start, held.strip(), None


def words(text: str, *, is_raw: bool = False) -> list[str]:
    """Return the arguments of a directive, which are separated by white space, perhaps in quotes.

    A backslash protects a quote or a backslash. `is_raw`, as for RewriteRule: it stays, and also protects a space.

    >>> words('permanent "/a b" /c')
    ['permanent', '/a b', '/c']
    """
    found: list[str] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        quote = text[place] if text[place] in "\"'" else ""
        place += len(quote)
        word: list[str] = []
        while place < len(text) and (text[place] != quote if quote else not text[place].isspace()):
            following = text[place + 1 : place + 2]
            if text[place] == "\\" and following and (is_raw or following in {"\\", quote}):
                word.append(following if following == quote or not is_raw else text[place] + following)
                place += 2
                continue
            word.append(text[place])
            place += 1
        place += len(quote)
        found.append("".join(word))
    return found


_WORDS: Final = {"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}
_ALIASES: Final = frozenset({"redirect", "redirectpermanent", "redirecttemp", "redirectmatch"})
_STANDARD: Final = ("options-ssl", "mods-enabled/", "conf.modules.d/", "ports.conf")  # files that redirect nothing
_TRANSPARENT: Final = frozenset({"virtualhost", "ifmodule", "directory", "requireall", "requireany"})
_NOT_OF_PATHS: Final = re.compile(r"[?#]|%[0-9A-Fa-f]{2}")
_NEVER: Final = "it never applies: Redirect compares the decoded path, without a query (RewriteCond has queries)"
_GROUP: Final = re.compile(r"\\(\$)|\$(\d)")

# --- of mod_rewrite
_SUBJECTS: Final = {  # the variables of conditions, each with its part of a request
    "HTTP_HOST": "host", "HTTP:Host": "host", "SERVER_NAME": "name", "QUERY_STRING": "query", "REQUEST_URI": "path",
    "HTTPS": "https", "REQUEST_SCHEME": "scheme", "HTTP:X-Forwarded-Proto": "scheme", "THE_REQUEST": "line",
}  # fmt: skip
_PARTS: Final = {"REQUEST_URI": WHOLE_PATH, "HTTP_HOST": HOST, "HTTP:Host": HOST}  # of a target
_FILES: Final = {"%{REQUEST_FILENAME}", "%{SCRIPT_FILENAME}", "%{DOCUMENT_ROOT}%{REQUEST_URI}"}
_ALL: Final = re.compile(r"\.|\^|\^?\(?\.[*+]\)?\$?")  # a pattern of a front controller
_PROGRAM: Final = re.compile(r"(?:%\{ENV:BASE\}|[\w./-])*\.\w+(?:[/?].*)?")  # index.php, /index.php?q=$1, index.php/$1
_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)|\$(?P<group>\d)|%(?P<condition>\d)|%\{(?P<variable>[^}]*)\}|(?P<map>\$\{)", re.DOTALL
)
_FLAGS: Final = {
    "r": "r", "redirect": "r", "l": "l", "last": "l", "nc": "nc", "nocase": "nc", "ne": "ne", "noescape": "ne",
    "qsa": "qsa", "qsappend": "qsa", "qsd": "qsd", "qsdiscard": "qsd", "f": "f", "forbidden": "f", "g": "g",
    "gone": "g", "end": "l", "pt": "l", "passthrough": "l", "or": "or", "ornext": "or", "p": "p", "proxy": "p",
}  # fmt: skip
_UNREAD_FLAGS: Final = {"n": "repeats all rules", "c": "ties rules together", "s": "skips rules"}
_WITHOUT_EFFECT: Final = frozenset(
    "e env co cookie t type h handler b bnp bnpscape bctls bne dpi discardpath ns nosubreq nv novary ql qslast qsl"
    " unsafeallow3f unsafeprefixstat unc uncprefix".split()
)
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ESCAPED: Final = re.compile(r"[%#]")
_OURS: Final = re.compile(r"(?:Redirect|Rewrite)", re.IGNORECASE)
_IGNORES_CASE: Final = re.compile(r"[\[,]\s*(?:nc|nocase)\s*[\],]", re.IGNORECASE)
_IS_CHAINED: Final = re.compile(r"[\[,]\s*(?:c|chain)\s*[\],]", re.IGNORECASE)
_LITERAL: Final = re.compile(r"(?:\\[^\w?]|[^\\.^$*+?()\[\]{}|])*\$")


class _Host:
    """The rules of one virtual host, or the rules outside of every virtual host."""

    def __init__(self, section: Section | None) -> None:
        addresses = section.arguments if section is not None else ()
        self.ports = [address.rpartition(":")[2] for address in addresses if ":" in address]
        self.names: list[str] = []
        self.aliases: list[Rule] = []
        self.rewriting: dict[bool, list[Rule]] = {False: [], True: []}  # by whether they are for a folder
        self.conditions: list[Condition] = []
        self.missing: set[str] = set()  # -f, -d: tests that the requested file is not there
        self.fault: str | None = None  # of a condition
        self.is_off = False
        self.base = ""
        self.is_chained = False  # to a rule that could not be read


class _Reader:
    """The state of one file while its directives are read."""

    def __init__(self, name: str, folder: str) -> None:
        self._name = name
        self._folder = folder
        self._in_folder = ".htaccess" in name.lower()
        self.rules: list[Rule] = []
        self.hosts: dict[int, _Host] = {0: _Host(None)}

    def read(self, data: bytes) -> None:
        for directive in directives(data):
            section = next((one for one in directive.sections if one.name == "virtualhost"), None)
            host = self.hosts.setdefault(section.line if section else 0, _Host(section))
            if directive.problem is not None:
                self.rules.append(Rule(self._name, directive.line, directive.text, directive.problem))
                if _OURS.match(directive.text):
                    host.aliases.append(self.rules[-1]._replace(how="prefix", source="/"))
            elif directive.name in _ALIASES:
                self._alias(host, directive)
            elif directive.name == "rewriterule":
                self._rewrite(host, directive)
            elif directive.name == "rewritecond":
                self._condition(host, directive)
            else:
                self._setting(host, directive)

    def _setting(self, host: _Host, directive: Directive) -> None:
        arguments = words(directive.rest)
        if not arguments:
            return
        if directive.name in {"include", "includeoptional"} and not any(map(arguments[0].__contains__, _STANDARD)):
            self.rules.append(Rule(self._name, directive.line, directive.text, INCLUDED))
            if host is not self.hosts[0]:
                host.aliases.append(self.rules[-1]._replace(how="prefix", source="/"))
        elif directive.name == "rewriteengine":
            host.is_off = arguments[0].lower() == "off"
        elif directive.name == "rewritebase":
            host.base = arguments[0] if arguments[0].startswith("/") else ""
        elif directive.name in {"servername", "serveralias"}:
            host.names += [name.lower().rpartition("//")[2].partition(":")[0] for name in arguments]

    def servers(self) -> Iterator[Server]:
        """Yield the virtual hosts: mod_rewrite for the server, for its folders, then mod_alias, also from outside.

        mod_dir requests the index file of a folder: mod_alias may redirect that, mod_rewrite does not.
        """
        outer = self.hosts[0]
        own = [host for number, host in sorted(self.hosts.items()) if number]
        for host in own or [outer]:
            around = outer if host is not outer else _Host(None)
            aliases = host.aliases, around.aliases
            phases = host.rewriting[False], host.rewriting[True], around.rewriting[True], *aliases
            yield Server(tuple(host.names), tuple(filter(str.isdigit, host.ports)), phases, aliases)

    # --- mod_alias ----------------------------------------------------------------------------------------------------

    def _alias(self, host: _Host, directive: Directive) -> None:
        rule = tried(Rule(self._name, directive.line, directive.text), _alias, directive)
        fault = _unknown_section(directive, also={"location"})
        rule = rule._replace(problem=fault) if fault else rule
        self.rules.append(rule)
        host.aliases.append(rule)

    # --- mod_rewrite --------------------------------------------------------------------------------------------------

    def _condition(self, host: _Host, directive: Directive) -> None:
        arguments = words(directive.rest, is_raw=True)
        if len(arguments) == 2 and arguments[0] in _FILES and arguments[1] in {"!-f", "!-d"}:
            host.missing.add(arguments[1])
            return
        try:
            host.conditions.append(_condition(arguments))
        except UsageError as error:
            host.fault = host.fault or f"its condition in line {directive.line}: {error.message}"

    def _rewrite(self, host: _Host, directive: Directive) -> None:
        in_folder = self._in_folder or any(section.name == "directory" for section in directive.sections)
        rule = Rule(self._name, directive.line, directive.text, how="prefix", source="/")
        arguments = words(directive.rest, is_raw=True)
        is_front = in_folder and _is_front_controller(arguments)
        rule = rule._replace(conditions=tuple(host.conditions), forced=len(host.missing) < 2 - is_front)
        fault = _unknown_section(directive) or host.fault
        if len(host.missing) == 1 and not is_front:
            fault = fault or "of the tests of files only !-f together with !-d is read"
        if host.is_chained:
            fault = fault or "it is chained to a rule that could not be read"
        host.conditions, host.missing, host.fault = [], set(), None
        finished: Rule | None = None
        try:
            rule = _with_pattern(rule, arguments, (self._folder or host.base) if in_folder else None)
            fault = fault or rule.problem
            if fault is None:
                base = host.base or self._folder
                with_target = None if is_front else _with_target(rule, arguments[1:], base, in_folder=in_folder)
                finished = rule._replace(status=200) if is_front else with_target
        except UsageError as error:
            fault = fault or error.message
        host.is_chained = fault is not None and len(arguments) == 3 and _IS_CHAINED.search(arguments[2]) is not None
        if host.is_off:
            fault = fault or "RewriteEngine is off"
        if fault is not None:
            is_known = not any(condition.is_alternative for condition in rule.conditions)
            finished = rule._replace(problem=fault, conditions=rule.conditions if is_known else ())
        if finished is not None:  # otherwise no redirect depends on it
            self.rules.append(finished)
            host.rewriting[in_folder] += [] if host.is_off else [finished]


def read(name: str, data: bytes, folder: str = "") -> RuleSet:
    """Return the rules of a file; in `.htaccess` patterns are for the paths in its folder, such as `/blog/`."""
    reader = _Reader(name, folder)
    reader.read(data)
    return RuleSet(name, "apache", reader.rules, [*reader.servers()])


def _unknown_section(directive: Directive, also: frozenset[str] | set[str] = frozenset()) -> str | None:
    """Return why the sections around a directive make it unknown whether it applies."""
    for section in directive.sections:
        if section.name not in _TRANSPARENT and section.name not in also:
            return f"it is in the section <{section.name}> of line {section.line}, which is not supported"
    return None


def _alias(rule: Rule, directive: Directive) -> Rule:
    """Return the rule for a Redirect, RedirectMatch, RedirectPermanent or RedirectTemp directive."""
    arguments = words(directive.rest)
    status = {"redirectpermanent": 301}.get(directive.name, 302)
    if arguments and directive.name in {"redirect", "redirectmatch"}:
        word = arguments[0].lower()
        if word in _WORDS or re.fullmatch(r"[1-5][0-9][0-9]", word):
            status = _WORDS.get(word) or int(word)
            del arguments[0]
    location = next((section for section in directive.sections if section.name == "location"), None)
    if location is not None:
        if len(arguments) != 1 or len(location.arguments) != 1:
            raise UsageError("in <Location> it has a URL only")
        arguments = [location.arguments[0], *arguments]
    leads = 300 <= status < 400
    if len(arguments) != 1 + leads:
        raise UsageError("it needs a path and a URL" if leads else f"with status {status} it has a path only")
    if leads and not arguments[1].startswith("$"):
        check_target(arguments[1])
    if directive.name != "redirectmatch" and _NOT_OF_PATHS.search(arguments[0]):
        raise UsageError(_NEVER)
    rule = rule._replace(status=status)
    if directive.name == "redirectmatch":
        return _match_rule(rule, of_bytes(arguments[0]), arguments[1] if leads else None)
    found = source(arguments[0])
    if found.host is not None:
        raise UsageError("it matches a path, not a URL")
    target = (arguments[1], 1) if leads and location is None else (arguments[1],) if leads else None
    return rule._replace(how="prefix", source=found.path, target=target)


def _match_rule(rule: Rule, pattern: str, target: str | None) -> Rule:
    try:
        check_pattern(pattern)
    except UsageError as error:
        return rule._replace(problem=error.message, how="prefix", source="/")
    check_path(pattern)
    parts = target_parts(target, _GROUP, lambda one: "$" if one[1] else int(one[2])) if target is not None else None
    return rule._replace(how="regex", source=pattern, target=parts)


# --- mod_rewrite ------------------------------------------------------------------------------------------------------


def _condition(arguments: Sequence[str]) -> Condition:
    """Return the condition for a RewriteCond, for example `%{HTTP_HOST} !^www`. Raise UsageError if not supported."""
    if not 2 <= len(arguments) <= 3:
        raise UsageError("RewriteCond has a test string, a pattern, and perhaps flags")
    flags = _flags(arguments[2]) if len(arguments) == 3 else {}
    tested = re.fullmatch(r"%\{([^}]*)\}", arguments[0])
    subject = _SUBJECTS.get(tested[1]) if tested is not None else None
    if subject is None:
        raise UsageError(f"the value of {arguments[0][:60]} cannot be known")
    is_negated = arguments[1].startswith("!")
    pattern = of_bytes(arguments[1].removeprefix("!"))
    if pattern.startswith("="):
        text = pattern[1:].strip('"')
        pattern = f"^{re.escape(text)}$"
    elif re.match(r"[<>]|-\w", pattern):
        raise UsageError(f"the comparison {pattern[:40]!r} is not supported")
    check_pattern(pattern)
    return Condition(subject, pattern, "nc" in flags, is_negated, "or" in flags)


def _flags(text: str) -> dict[str, str]:
    """Return flags: for example `{"r": "301", "l": ""}` for `[R=301,last]`. Raise UsageError if one is unknown."""
    found: dict[str, str] = {}
    if not text:
        return found
    if not (text.startswith("[") and text.endswith("]")):
        raise UsageError(f"flags are in brackets, not {text[:40]!r}")
    for item in text[1:-1].split(","):
        name, _, value = item.strip().partition("=")
        word = name.lower()
        if word in _FLAGS:
            found[_FLAGS[word]] = value
        elif word[:1] in _UNREAD_FLAGS and word in {"n", "next", "c", "chain", "s", "skip"}:
            raise UsageError(f"the flag {name} {_UNREAD_FLAGS[word[0]]}, which is not supported")
        elif word and word not in _WITHOUT_EFFECT:
            raise UsageError(f"the flag {name[:40]!r} is not known")
    return found


def _is_front_controller(arguments: Sequence[str]) -> bool:
    """Return whether a RewriteRule sends all requests to one file, for example `RewriteRule . /index.php [L]`.

    Rules behind it never apply, since they see only the path of that file.
    """
    flags = arguments[2] if len(arguments) == 3 else ""
    is_other = re.search(r"[\[,]\s*(?:R|redirect|P|proxy|F|forbidden|G|gone|C|chain)\b", flags, re.IGNORECASE)
    if len(arguments) < 2 or is_other is not None:
        return False
    return bool(_ALL.fullmatch(arguments[0]) and _PROGRAM.fullmatch(arguments[1]))


def _with_pattern(rule: Rule, arguments: Sequence[str], base: str | None) -> Rule:
    r"""Return a rule with the pattern of a RewriteRule: in a folder it is for the paths below `base`.

    For example, `^old\.html$` in `/a/` is the exact path `/a/old.html`. Raise UsageError if it is not supported.
    """
    in_folder = base is not None
    folder = f"{(base or '').rstrip('/')}/"
    if not 2 <= len(arguments) <= 3:
        raise UsageError("RewriteRule has a pattern, a substitution, and perhaps flags")
    pattern = of_bytes(arguments[0])
    if pattern.startswith("!"):
        raise UsageError("a pattern that must not match is not read")
    check_pattern(pattern)
    try:
        check_path(pattern, in_folder=in_folder)
    except NeverError as error:
        return rule._replace(problem=error.message, how="exact", source="")
    rule = rule._replace(ignores_case=len(arguments) == 3 and _IGNORES_CASE.search(arguments[2]) is not None)
    start = "^/?" if pattern.startswith("^/?") else "^" if in_folder else "^/"
    if folder != "/" and pattern.startswith("^") and _is_alternative(pattern):
        raise UsageError("a pattern with alternatives for the paths in a folder is not read")
    if not pattern.startswith(start) or _is_alternative(pattern):
        if folder != "/":
            return rule._replace(how="regex", source=f"^{re.escape(folder)}.*(?:{pattern})")
        return rule._replace(how="regex", source=pattern, subject="folder" if in_folder else "path")
    rest = pattern.removeprefix(start)
    if _LITERAL.fullmatch(rest) and not rule.ignores_case:
        return rule._replace(how="exact", source=folder + re.sub(r"\\(\W)", r"\1", rest[:-1]))
    return rule._replace(how="regex", source=f"^{re.escape(folder)}{rest}")


def _is_alternative(pattern: str) -> bool:
    """Return whether a pattern has alternatives outside of parentheses: in `^a|b`, `^` belongs to the first alone."""
    return "|" in (without_groups(pattern) or pattern)


def _with_target(rule: Rule, arguments: Sequence[str], base: str, *, in_folder: bool) -> Rule | None:
    """Return a rule with the status and target for a substitution and flags; None for one that does nothing.

    For example, `/b/$1 [R=301]`. Raise UsageError if they are not supported.
    """
    substitution = arguments[0]
    flags = _flags(arguments[1]) if len(arguments) == 2 else {}
    if "f" in flags or "g" in flags:
        return rule._replace(status=403 if "f" in flags else 410)
    status = _status(flags.get("r", ""))
    if "r" in flags and not 300 <= status < 400:
        return rule._replace(status=status)
    if substitution == "-":
        return rule._replace(status=200) if "l" in flags else None
    if "p" in flags or not ("r" in flags or _ABSOLUTE.match(substitution)):
        raise UsageError("it changes what the server sends without a redirect, which is not followed")
    is_path = substitution.startswith(("/", "%{")) or (substitution.startswith("$") and not in_folder)
    if not is_path and not _ABSOLUTE.match(substitution):
        substitution = base.rstrip("/") + "/" + substitution
    target = _target(substitution, escapes="ne" not in flags)
    query: Query = "drop" if "qsd" in flags else "append" if "qsa" in flags else "keep"
    if isinstance(target[-1], str) and target[-1].endswith("?"):
        target = tuple(part for part in (*target[:-1], target[-1][:-1]) if part != "")
        query = "drop" if query == "keep" else query
    return rule._replace(status=status, target=target, query=query)


def _status(text: str) -> int:
    code = text.lower()
    if code in _WORDS or not code:
        return _WORDS.get(code, 302)
    return parse_status(code)


def _target(text: str, *, escapes: bool) -> tuple[str | int, ...]:
    """Return the parts of a substitution; with `escapes`, its text before `?` is escaped.

    Raise UsageError for a variable that is not known.

    >>> _target("/b/$1?x=%1", escapes=True)
    ('/b/', 1, '?x=', 101)
    """
    parts: list[str | int] = []
    literal = ""
    place = 0
    for token in (*_TOKEN.finditer(text), None):
        literal += text[place : token.start() if token is not None else len(text)]
        place = token.end() if token is not None else len(text)
        if token is not None and token["escaped"] is not None:
            literal += token["escaped"]
            continue
        path, mark, query = literal.partition("?")
        parts.append((_ESCAPED.sub(lambda one: f"%{ord(one[0]):02X}", path) if escapes else path) + mark + query)
        escapes, literal = escapes and not mark, ""
        if token is not None:
            parts.append(_number(token))
    return tuple(part for part in parts if part != "") or ("",)


def _number(token: re.Match[str]) -> int:
    """Return the number for a variable of a substitution, for example 1 for `$1`. Raise UsageError if unknown."""
    if token["group"] is not None:
        return int(token["group"])
    if token["condition"] is not None:
        return CONDITION + int(token["condition"])
    if token["map"] is not None:
        raise UsageError("it looks up a RewriteMap: give the text of that map as a map of its own")
    if token["variable"] not in _PARTS:
        raise UsageError(f"the value of %{{{token['variable'][:60]}}} cannot be known")
    return _PARTS[token["variable"]]
