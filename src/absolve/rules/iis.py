"""Read the redirects of IIS (rules, rewrite maps and `httpRedirect` of web.config), and RoutingRules of S3 in XML.

In: the bytes of the file. Out: a `RuleSet`. IIS: learn.microsoft.com/iis/extensions/url-rewrite-module and
learn.microsoft.com/iis/configuration/system.webserver/httpredirect. A pattern is matched against the path without its
first slash, in any letter case unless `ignoreCase` is false. A rule with a map becomes one rule for each key.

    >>> data = b'<rewriteMap><add key="/a" value="/b"/></rewriteMap>'
    >>> [(rule.source, rule.target) for rule in read_iis("maps.config", data).rules]
    [('/a', ('/b',))]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import UsageError
from absolve.rules import structured
from absolve.rules.entries import make_rule
from absolve.rules.model import (
    CHOSEN,
    CONDITION,
    HOST,
    WHOLE_PATH,
    Condition,
    Rule,
    RuleBudget,
    RuleSet,
    check_path,
    check_pattern,
    check_target,
    paired,
    source,
    target_parts,
    tried,
    with_pattern,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST: Final = 32 << 20
_STATUS: Final = {"permanent": 301, "found": 302, "seeother": 303, "temporary": 307, "permredirect": 308}
_INPUTS: Final = {
    "{HTTP_HOST}": "host", "{SERVER_NAME}": "name", "{QUERY_STRING}": "query", "{REQUEST_URI}": "target",
    "{UNENCODED_URL}": "target", "{URL}": "path", "{PATH_INFO}": "path", "{HTTPS}": "https",
}  # fmt: skip
_PARTS: Final = {"HTTP_HOST": HOST, "SERVER_NAME": HOST, "URL": WHOLE_PATH, "REQUEST_URI": WHOLE_PATH}
# {Map:{REQUEST_URI}}, also with {QUERY_STRING} apart, which some versions need.
_LOOKED_UP: Final = re.compile(r"\{([^{}:]+):(\{[^{}]+\}(?:\?\{QUERY_STRING\})?)\}")
_VARIABLE: Final = re.compile(r"\{([RC]):(\d)\}|\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}")
_LITERAL: Final = re.compile(r"\^((?:[\w/ -]|\\[.\-/+])*)\$", re.ASCII)
_HOST: Final = re.compile(r"\^((?:[\w-]|\\\.)+)\$", re.ASCII)
_FUNCTIONS: Final = frozenset({"tolower", "urlencode", "urldecode"})
_ANY: Final = frozenset({"", ".*", "(.*)", "^(.*)$", "^.*$", "*", "(.+)", ".+", "^(.+)$"})


class Maps(NamedTuple):
    """The pairs of each rewriteMap with their lines, by its title in lower case; the titles of used maps."""

    pairs: dict[str, list[tuple[str, str, int]]]
    used: set[str]
    budget: RuleBudget


def read_iis(name: str, data: bytes) -> RuleSet:
    """Return the rules of a web.config, or of a separate file with rewrite maps."""
    root = _root(name, data)
    pairs_by_title = {one.get("name", "").lower(): list(_pairs(one)) for one in root.iter("rewriteMap")}
    maps = Maps(pairs_by_title, set(), RuleBudget())
    rules = [
        rule
        for one in root.iter("rule")
        if one.find("match") is not None and not any(True for _ in one.iterancestors("outboundRules"))
        for rule in _rules(Rule(name, one.sourceline or 1, _shown(one)), one, maps)
    ]
    for title, pairs in maps.pairs.items():
        if title not in maps.used:
            is_alone = root.tag.lower() != "configuration"
            rules += [_unused(name, *pair, is_alone=is_alone) for pair in pairs]
    for one in root.iter("httpRedirect"):
        if one.get("enabled", "").lower() == "true":
            place = next((above.get("path", "") for above in one.iterancestors("location")), "")
            text = f"{place} {one.get('destination', '')}".strip()
            rules.append(tried(Rule(name, one.sourceline or 1, text), _http_redirect, one, place))
    return RuleSet(name, "iis", structured.with_distinct_lines(rules))


def read_s3(name: str, data: bytes) -> RuleSet:
    """Return the rules of RoutingRules in XML, for example a `KeyPrefixEquals` with a `ReplaceKeyPrefixWith`."""
    rules = []
    for one in _root(name, data).iter("{*}RoutingRule"):
        parts = {_tag(part): {_tag(value): value.text or "" for value in part} for part in one}
        for entry in structured.s3_entries([parts]):
            rule = Rule(name, one.sourceline or 1, f"{entry.text} {entry.new}")
            rules.append(tried(rule, make_rule, entry))
    return RuleSet(name, "s3", structured.with_distinct_lines(rules))


def _tag(one: Any) -> str:
    return str(one.tag).rpartition("}")[2]


def _root(name: str, data: bytes) -> Any:
    """Return the root element. Raise UsageError for malformed XML. No entity is resolved."""
    from lxml import etree

    if len(data) > _LARGEST:
        raise UsageError(f"{name}: it has more than {_LARGEST >> 20} MiB")
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        place = f":{error.lineno}" if isinstance(error, etree.XMLSyntaxError) else ""
        raise UsageError(f"{name}{place}: it is no XML: {error}: a map is a file that its program can read") from error


def _pairs(one: Any) -> Iterator[tuple[str, str, int]]:
    for add in one.iterfind("add"):
        yield add.get("key", ""), add.get("value", ""), add.sourceline or 1


def _shown(one: Any) -> str:
    match, action = one.find("match"), one.find("action")
    parts = [match.get("url", "") if match is not None else "", action.get("url", "") if action is not None else ""]
    return " ".join([f"{one.get('name', '')}:", *parts]).strip()


def _unused(name: str, key: str, value: str, line: int, *, is_alone: bool) -> Rule:
    """Return the rule for a key in a map that no rule uses; it has a problem unless the file contains only maps."""
    rule = tried(Rule(name, line, f"{key} {value}", ignores_case=True), paired, key, value)
    return rule if is_alone or rule.problem is not None else rule._replace(problem="no rule uses its rewriteMap")


def _http_redirect(rule: Rule, one: Any, place: str) -> Rule:
    """Return the rule of an httpRedirect, for a location or the whole site."""
    target, is_exact = one.get("destination", ""), one.get("exactDestination", "").lower() == "true"
    path = source(f"/{place.strip('/')}").path
    check_target(target)
    joint = target if target.endswith("/") or path != "/" else f"{target}/"
    status = _STATUS.get(one.get("httpResponseStatus", "").lower(), 302)
    led = (target,) if is_exact or "$" in target else (joint, 1)
    return rule._replace(how="prefix", status=status, source=path, target=led)


# --- rules ------------------------------------------------------------------------------------------------------------


def _rules(rule: Rule, one: Any, maps: Maps) -> Iterator[Rule]:
    """Yield the rules of one element, a rule for each key if it uses a map."""
    if one.get("enabled", "").lower() == "false":
        return
    match, action = one.find("match"), one.find("action")
    kind = action.get("type", "None").lower() if action is not None else "none"
    looked_up = _looked_up(one, action)
    rule = tried(rule, _with_match, match, one.get("patternSyntax", ""))
    rule = tried(rule, _with_conditions, one, looked_up)
    rule = tried(rule, _with_action, action, kind)
    if looked_up is None:
        yield tried(rule, _with_target, action.get("url", "")) if kind in {"redirect", "rewrite"} else rule
        return
    title, subject = looked_up
    maps.used.add(title.lower())
    rule = tried(rule, _with_map, maps, title, match)
    if rule.problem is not None:
        yield rule
        return
    for key, value, line in maps.pairs[title.lower()]:
        keyed = rule._replace(line=line, text=f"{key} {value}", how="exact", source="", ignores_case=True)
        keyed = tried(keyed, paired, key if subject != "{R:1}" else f"/{key}", value)
        yield keyed._replace(query="keep" if "?" in keyed.source else keyed.query)


def _with_map(rule: Rule, maps: Maps, title: str, match: Any) -> Rule:
    """Return the rule. Raise UsageError if its map is missing, is too large, or is not for whole paths."""
    pairs = maps.pairs.get(title.lower())
    if pairs is None and title.lower() in _FUNCTIONS:
        raise UsageError(f"it needs {title}, a function of IIS")
    if pairs is None:
        raise UsageError("its map is not in this file")
    if match.get("url", "") not in _ANY:
        raise UsageError("it looks up a part of the path in a map")
    if (lack := maps.budget.spend(f"the rewriteMap {title[:60]}", len(pairs))) is not None:
        raise UsageError(lack)
    return rule


def _with_match(rule: Rule, match: Any, syntax: str) -> Rule:
    r"""Return a rule with its pattern: ECMAScript (for example `^old/(.*)`), wildcards (`old/*`), or an exact text."""
    text, folds = match.get("url", ""), match.get("ignoreCase", "true").lower() != "false"
    rule = rule._replace(ignores_case=folds, subject="folder")
    if match.get("negate", "").lower() == "true":
        raise UsageError("it matches what its pattern does not")
    check_path(text if syntax.lower() in {"", "ecmascript"} else f"^{re.escape(text)}", in_folder=True)
    if syntax.lower() == "exactmatch":
        return rule._replace(source=f"/{text}")
    if syntax.lower() == "wildcard":
        text = f"^{re.escape(text).replace(chr(92) + '*', '(.*)')}$"
    elif (literal := _LITERAL.fullmatch(text)) is not None:
        return rule._replace(source="/" + re.sub(r"\\(.)", r"\1", literal[1]))
    return with_pattern(rule, text, ignores_case=folds, subject="folder")


def _with_action(rule: Rule, action: Any, kind: str) -> Rule:
    """Return a rule with its status and its handling of the query."""
    if kind == "redirect":
        appends = action.get("appendQueryString", "true").lower() != "false"
        status = _STATUS.get(action.get("redirectType", "permanent").lower(), 301)
        return rule._replace(status=status, query="append" if appends else "drop")
    if kind == "customresponse":
        status = action.get("statusCode", "")
        if re.fullmatch("4[0-9][0-9]", status) is None:
            raise UsageError("it answers by itself")
        return rule._replace(status=int(status))
    if kind == "none":
        return rule._replace(status=200)  # later rules may apply only without stopProcessing
    return rule._replace(status=200, query="keep") if kind == "rewrite" else rule._replace(status=403)


def _looked_up(one: Any, action: Any) -> tuple[str, str] | None:
    """Return the name of the map that a rule uses, and the variable for its key, for example `{REQUEST_URI}`."""
    inputs = [add.get("input", "") for add in one.iterfind("conditions/add")]
    inputs.append(action.get("url", "") if action is not None else "")
    found = next((found for text in inputs if (found := _LOOKED_UP.fullmatch(text)) is not None), None)
    return None if found is None else (found[1], found[2])


def _with_conditions(rule: Rule, one: Any, looked_up: object) -> Rule:
    """Return a rule with its conditions; a single host becomes its `host`. Raise UsageError if one is not supported."""
    conditions: list[Condition] = []
    host: str | None = None
    is_forced, every = True, one.find("conditions")
    is_any = every is not None and every.get("logicalGrouping", "").lower() == "matchany"
    for add in one.iterfind("conditions/add"):
        text, pattern = add.get("input", ""), add.get("pattern", "")
        is_negated = add.get("negate", "").lower() == "true"
        if looked_up is not None and _LOOKED_UP.fullmatch(text):
            continue
        if add.get("matchType", "").lower() in {"isfile", "isdirectory"}:
            is_forced = is_forced and not is_negated
            if not is_negated:
                raise UsageError("it needs a file")
        elif text.upper() in _INPUTS and add.get("matchType", "Pattern").lower() == "pattern":
            folds = add.get("ignoreCase", "true").lower() != "false"
            check_pattern(pattern, ignores_case=folds)
            conditions.append(Condition(_INPUTS[text.upper()], pattern, folds, is_negated, is_any))
        else:
            raise UsageError(f"it depends on {text[:60]}")
    hosts = (one for one in conditions if one.subject == "host" and not one.is_negated)
    literal = [one for one in hosts if _HOST.fullmatch(one.pattern)]
    if literal and not is_any:
        conditions.remove(literal[0])
        host = re.sub(r"\\(.)", r"\1", literal[0].pattern.strip("^$")).lower()
    if conditions and is_any:
        conditions[-1] = conditions[-1]._replace(is_alternative=False)
    return rule._replace(conditions=tuple(conditions), host=host, forced=is_forced)


def _with_target(rule: Rule, text: str) -> Rule:
    """Return a rule with its target, for example `("/b/", 1)` for `b/{R:1}`. Raise UsageError if not supported."""

    def part(found: re.Match[str]) -> int:
        if found[1] is not None:
            return int(found[2]) + (CONDITION if found[1] == "C" else 0)
        if found[3].upper() not in _PARTS:
            raise UsageError(f"its target needs {found[0]}")
        return _PARTS[found[3].upper()]

    target = target_parts(text, _VARIABLE, part) or ("",)
    first = target[0]
    if first == WHOLE_PATH or (isinstance(first, int) and first >= CONDITION):
        raise UsageError(CHOSEN)
    if isinstance(first, int) or not (first.startswith("/") or "://" in first):
        target = ("/", *target) if isinstance(first, int) else (f"/{first}", *target[1:])
    if isinstance(target[0], str):
        check_target(target[0] + "x" * (len(target) > 1))
    return rule._replace(target=target)
