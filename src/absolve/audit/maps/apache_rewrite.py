"""Read RewriteCond and RewriteRule of Apache's mod_rewrite.

In: their arguments. Out: conditions and steps; UsageError with the reason for those that depend on the visitor, or on
a construct that is not known (httpd.apache.org/docs/2.4/mod/mod_rewrite.html).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.apache_config import words
from absolve.audit.maps.model import EXACT, REGEX
from absolve.core import patterns
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from absolve.audit.maps.model import Rule
    from absolve.core.patterns import Matcher

# Variables whose value follows from the URL that is requested. Those of files have a value for file tests only.
VARIABLES: Final = frozenset(
    "REQUEST_URI QUERY_STRING HTTP_HOST SERVER_NAME HTTPS REQUEST_SCHEME SERVER_PORT REQUEST_METHOD THE_REQUEST"
    " REQUEST_FILENAME SCRIPT_FILENAME DOCUMENT_ROOT ENV:REDIRECT_STATUS HTTP:X-Forwarded-Proto IS_SUBREQ"
    " CONTEXT_DOCUMENT_ROOT CONTEXT_PREFIX SERVER_PROTOCOL HTTP:Host".split()
)
FILE_TESTS: Final = frozenset({"-f", "-d", "-s", "-F", "-U", "-l", "-h", "-L", "-x"})
_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)|\$(?P<group>\d)|%(?P<condition>\d)|%\{(?P<variable>[^}]*)\}|\$\{(?P<map>\w+):", re.DOTALL
)
_STATUS_WORDS: Final = {"permanent": 301, "temp": 302, "seeother": 303}
_KNOWN_FLAGS: Final = {
    "r": "r", "redirect": "r", "l": "l", "last": "l", "nc": "nc", "nocase": "nc", "ne": "ne", "noescape": "ne",
    "qsa": "qsa", "qsappend": "qsa", "qsd": "qsd", "qsdiscard": "qsd", "f": "f", "forbidden": "f", "g": "g",
    "gone": "g", "end": "end", "c": "c", "chain": "c", "s": "s", "skip": "s", "p": "p", "proxy": "p", "pt": "l",
    "passthrough": "l", "or": "or", "ornext": "or",
}  # fmt: skip
_WITHOUT_EFFECT: Final = frozenset(
    "e env co cookie t type h handler b bnp bnpscape bctls bne dpi discardpath ns nosubreq nv novary ql qslast qsl"
    " unsafeallow3f unsafeprefixstat unc uncprefix".split()
)


class Part(NamedTuple):
    """A part of a text that is expanded: `kind` is text, group (of the rule), condition (group), variable or map."""

    kind: str
    text: str
    number: int = 0
    key: tuple[Part, ...] = ()
    default: tuple[Part, ...] = ()


class Condition(NamedTuple):
    """A RewriteCond: `test` is a file test, `=` for equality with `text`, or "" for a regular expression."""

    value: tuple[Part, ...]
    test: str
    text: str
    match: Matcher | None
    is_negated: bool
    is_alternative: bool


class Step(NamedTuple):
    """A RewriteRule. `substitution` is None for `-`."""

    rule: Rule
    match: Matcher
    pattern: str
    ignores_case: bool
    is_negated: bool
    conditions: tuple[Condition, ...]
    substitution: tuple[Part, ...] | None
    flags: dict[str, str]


def flags(text: str) -> dict[str, str]:
    """Return the flags in brackets with their values. Raise UsageError for one that is not known."""
    found: dict[str, str] = {}
    if not text:
        return found
    if not (text.startswith("[") and text.endswith("]")):
        raise UsageError(f"flags are in brackets, not {text[:40]!r}")
    for item in text[1:-1].split(","):
        name, _, value = item.strip().partition("=")
        word = name.lower()
        if word in _KNOWN_FLAGS:
            found[_KNOWN_FLAGS[word]] = value
        elif word in {"n", "next"}:
            raise UsageError("the flag N repeats all rules, which is not supported")
        elif word and word not in _WITHOUT_EFFECT:
            raise UsageError(f"the flag {name[:40]!r} is not known")
    return found


def condition(rest: str) -> Condition:
    """Return the condition of a RewriteCond. Raise UsageError for one that cannot be known."""
    found = words(rest, is_raw=True)
    if not 2 <= len(found) <= 3:
        raise UsageError("RewriteCond has a test string, a pattern, and perhaps flags")
    given = flags(found[2]) if len(found) == 3 else {}
    value = parts(found[0])
    pattern = found[1]
    is_negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    alternative = "or" in given
    if pattern in FILE_TESTS:
        return Condition(value, pattern, "", None, is_negated, alternative)
    if pattern.startswith("="):
        text = pattern[1:].strip('"')
        return Condition(value, "=", text.lower() if "nc" in given else text, None, is_negated, alternative)
    if pattern.startswith(("<", ">")) or re.match(r"-\w{2}", pattern) or found[0].lower() == "expr":
        raise UsageError(f"the comparison {pattern[:40]!r} is not supported")
    for part in value:
        if part.kind == "variable" and part.text in {"REQUEST_FILENAME", "SCRIPT_FILENAME", "DOCUMENT_ROOT"}:
            raise UsageError(f"the value of %{{{part.text}}} depends on the server's folders")
    match = _matcher(pattern, ignores_case="nc" in given)
    return Condition(value, "", pattern, match, is_negated, alternative)


def _matcher(pattern: str, *, ignores_case: bool) -> Matcher:
    try:
        return patterns.matcher(pattern, ignores_case=ignores_case)
    except UsageError as error:
        raise UsageError(f"the regular expression cannot be used: {error.message}") from error


def step(rule: Rule, rest: str, conditions: tuple[Condition, ...]) -> Step:
    """Return the step of a RewriteRule. Raise UsageError with the reason if it cannot be applied."""
    found = words(rest, is_raw=True)
    if not 2 <= len(found) <= 3:
        raise UsageError("RewriteRule has a pattern, a substitution, and perhaps flags")
    given = flags(found[2]) if len(found) == 3 else {}
    pattern = found[0]
    is_negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    match = _matcher(pattern, ignores_case="nc" in given)
    substitution = None if found[1] == "-" else parts(found[1])
    if "s" in given and not given["s"].isdigit():
        raise UsageError("the flag S has a number of rules")
    rule = rule._replace(status=_status(given, found[1]))
    return Step(rule, match, pattern, "nc" in given, is_negated, conditions, substitution, given)


def _status(given: dict[str, str], substitution: str) -> int:
    if "f" in given or "g" in given:
        return 403 if "f" in given else 410
    if "r" not in given:
        return 302 if re.match(r"https?://", substitution, re.IGNORECASE) and "p" not in given else 200
    code = given["r"].lower()
    if code in _STATUS_WORDS or not code:
        return _STATUS_WORDS.get(code, 302)
    if not code.isdigit() or not 100 <= int(code) <= 599:
        raise UsageError(f"{code[:40]!r} is no status")
    return int(code)


def parts(text: str) -> tuple[Part, ...]:
    """Return the parts of a test string or substitution. Raise UsageError for a variable whose value is not known."""
    return _parsed(text, 0, "")[0]


def _parsed(text: str, place: int, ends: str) -> tuple[tuple[Part, ...], int]:
    """Return the parts up to one of the characters in `ends`, and the place of that character."""
    found: list[Part] = []
    literal = ""
    while place < len(text) and text[place] not in (ends or "\0"):
        token = _TOKEN.match(text, place)
        if token is None:
            literal += text[place]
            place += 1
            continue
        place = token.end()
        if token["escaped"] is not None:
            literal += token["escaped"]
            continue
        if literal:
            found.append(Part("text", literal))
            literal = ""
        part, place = _part(text, token, place)
        found.append(part)
    if literal:
        found.append(Part("text", literal))
    return tuple(found), place


def _part(text: str, token: re.Match[str], place: int) -> tuple[Part, int]:
    if token["group"] is not None:
        return Part("group", "", int(token["group"])), place
    if token["condition"] is not None:
        return Part("condition", "", int(token["condition"])), place
    if token["variable"] is not None:
        name = token["variable"]
        if name not in VARIABLES:
            raise UsageError(f"the value of %{{{name[:60]}}} cannot be known")
        return Part("variable", name), place
    if text.count("${", 0, place) > 50:
        raise UsageError("it looks up too many maps")
    key, place = _parsed(text, place, "|}")
    default: tuple[Part, ...] = ()
    if text[place : place + 1] == "|":
        default, place = _parsed(text, place + 1, "}")
    return Part("map", token["map"], key=key, default=default), place + 1


def labelled(step: Step, *, in_folder: bool) -> Rule:
    """Return the rule of a step in the general form, where it has one: a redirect without conditions."""
    rule, pattern = step.rule, step.pattern
    special = {"c", "s", "p", "qsa", "qsd"} & step.flags.keys()
    if step.conditions or step.is_negated or special or not 300 <= rule.status < 400 or step.substitution is None:
        return rule
    if any(part.kind not in {"text", "group"} for part in step.substitution) or not pattern.startswith("^"):
        return rule
    target = tuple(part.number if part.kind == "group" else part.text for part in step.substitution)
    if not target or not isinstance(target[0], str) or not target[0].startswith(("/", "http:", "https:")):
        return rule
    if "%" in "".join(part for part in target if isinstance(part, str)) and "ne" not in step.flags:
        return rule
    pattern = (
        pattern[1:].removeprefix("/?") if pattern.startswith("^/?") or in_folder else pattern[1:].removeprefix("/")
    )
    rule = rule._replace(target=target, ignores_case=step.ignores_case)
    if pattern.endswith("$") and _is_literal(pattern[:-1]) and not step.ignores_case:
        return rule._replace(how=EXACT, source="/" + re.sub(r"\\(\W)", r"\1", pattern[:-1]))
    return rule._replace(how=REGEX, source=f"^/{pattern}")


def _is_literal(pattern: str) -> bool:
    return re.fullmatch(r"(?:\\\W|[^\\.^$*+?()\[\]{}|])*", pattern) is not None
