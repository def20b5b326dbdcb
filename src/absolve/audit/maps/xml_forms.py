"""Read the redirects of IIS: rules, rewrite maps and `httpRedirect` of web.config; and those of S3 in XML.

In: the bytes of the file. Out: a `RuleSet`. IIS: learn.microsoft.com/iis/extensions/url-rewrite-module and
learn.microsoft.com/iis/configuration/system.webserver/httpredirect. A pattern is matched against the path without its
first slash, in any letter case unless `ignoreCase` is false. A rule that looks a URL up in a map is one for each key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit.maps import structured
from absolve.audit.maps.model import (
    APPEND,
    CONDITION,
    DROP,
    EXACT,
    FOLDER,
    HOST,
    KEEP,
    PREFIX,
    WHOLE_PATH,
    Condition,
    Room,
    Rule,
    RuleSet,
)
from absolve.audit.maps.request import (
    NeverError,
    Source,
    check_path,
    check_pattern,
    source,
    target_fault,
    target_parts,
    with_pattern,
)
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST: Final = 32 << 20
_STATUS: Final = {"permanent": 301, "found": 302, "seeother": 303, "temporary": 307, "permredirect": 308}
_INPUTS: Final = {
    "{HTTP_HOST}": "host", "{SERVER_NAME}": "name", "{QUERY_STRING}": "query", "{REQUEST_URI}": "target",
    "{UNENCODED_URL}": "target", "{URL}": "path", "{PATH_INFO}": "path", "{HTTPS}": "https",
}  # fmt: skip
_PARTS: Final = {"HTTP_HOST": HOST, "SERVER_NAME": HOST, "URL": WHOLE_PATH, "REQUEST_URI": WHOLE_PATH}
# {Map:{REQUEST_URI}}, and with the query apart, which some versions need.
_LOOKED_UP: Final = re.compile(r"\{([^{}:]+):(\{[^{}]+\}(?:\?\{QUERY_STRING\})?)\}")
_VARIABLE: Final = re.compile(r"\{([RC]):(\d)\}|\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}")
_LITERAL: Final = re.compile(r"\^((?:[\w/ -]|\\[.\-/+])*)\$", re.ASCII)
_HOST: Final = re.compile(r"\^((?:[\w-]|\\\.)+)\$", re.ASCII)
_ANY: Final = frozenset({"", ".*", "(.*)", "^(.*)$", "^.*$", "*", "(.+)", ".+", "^(.+)$"})


class Maps(NamedTuple):
    """The pairs of each rewriteMap with their lines, by its title in lower case; the titles of those that are used."""

    pairs: dict[str, list[tuple[str, str, int]]]
    used: set[str]
    room: Room


def read_iis(name: str, data: bytes) -> RuleSet:
    """Return the rules of a web.config, or of the file of rewrite maps beside it."""
    root = _root(name, data)
    maps = Maps({one.get("name", "").lower(): list(_pairs(one)) for one in root.iter("rewriteMap")}, set(), Room())
    rules = [
        made
        for one in root.iter("rule")
        if one.find("match") is not None and not any(True for _ in one.iterancestors("outboundRules"))
        for made in _rules(Rule(name, one.sourceline or 1, _shown(one)), one, maps)
    ]
    for title, pairs in maps.pairs.items():
        if title not in maps.used:
            is_alone = root.tag.lower() != "configuration"
            rules += [_unused(name, *pair, is_alone=is_alone) for pair in pairs]
    rules += [_whole(name, one) for one in root.iter("httpRedirect") if one.get("enabled", "").lower() == "true"]
    return RuleSet(name, "iis", structured.apart(rules))


def read_s3(name: str, data: bytes) -> RuleSet:
    """Return the rules of RoutingRules in XML."""
    rules = []
    for one in _root(name, data).iter("{*}RoutingRule"):
        parts = {_tag(part): {_tag(value): value.text or "" for value in part} for part in one}
        for entry in structured.of_s3([parts]):
            rule = Rule(name, one.sourceline or 1, f"{entry.text} {entry.new}")
            rules.append(structured.rule_of(rule, entry))
    return RuleSet(name, "s3", structured.apart(rules))


def _tag(one: Any) -> str:
    return str(one.tag).rpartition("}")[2]


def _root(name: str, data: bytes) -> Any:
    """Return the root element. Raise UsageError for what is no XML. No entity is read."""
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
    """Return the rule of a key whose map no rule uses: it applies where the file is nothing but maps."""
    made = _exact(Rule(name, line, f"{key} {value}"), key, value)
    return made if is_alone or made.problem is not None else made._replace(problem="no rule uses its rewriteMap")


def _whole(name: str, one: Any) -> Rule:
    """Return the rule of an httpRedirect: of a location, or of the whole site."""
    place = next((above.get("path", "") for above in one.iterancestors("location")), "")
    target, is_exact = one.get("destination", ""), one.get("exactDestination", "").lower() == "true"
    status = _STATUS.get(one.get("httpResponseStatus", "").lower(), 302)
    rule = Rule(name, one.sourceline or 1, f"{place} {target}".strip(), how=PREFIX, status=status)
    found = source(f"/{place.strip('/')}")
    fault = found if isinstance(found, str) else target_fault(target)
    if isinstance(found, str) or fault is not None:
        return rule._replace(problem=fault)
    joint = target if target.endswith("/") or found.path != "/" else f"{target}/"
    return rule._replace(source=found.path, target=(target,) if is_exact or "$" in target else (joint, 1))


# --- rules ------------------------------------------------------------------------------------------------------------


def _rules(rule: Rule, one: Any, maps: Maps) -> Iterator[Rule]:
    """Yield the rules of one element: those of all keys of a map that it uses."""
    if one.get("enabled", "").lower() == "false":
        return
    match, action = one.find("match"), one.find("action")
    kind = action.get("type", "None").lower() if action is not None else "none"
    rule = _with_action(_with_match(rule, match, one.get("patternSyntax", "")), action, kind)
    looked_up = _looked_up(one, action)
    needed = _conditions(one, looked_up)
    problem = rule.problem or needed.problem
    rule = rule._replace(conditions=needed.conditions, host=needed.host, forced=needed.is_forced, problem=problem)
    if looked_up is None:
        yield _with_target(rule, action.get("url", "")) if kind in {"redirect", "rewrite"} else rule
        return
    title, subject = looked_up
    maps.used.add(title.lower())
    pairs = maps.pairs.get(title.lower())
    problem = rule.problem or _problem(maps, title, match)
    if pairs is None or problem is not None:
        yield rule._replace(problem=problem)
        return
    for key, value, line in pairs:
        made = _exact(rule._replace(line=line, text=f"{key} {value}"), key if subject != "{R:1}" else f"/{key}", value)
        yield made._replace(query=KEEP if "?" in made.source else made.query)


def _problem(maps: Maps, title: str, match: Any) -> str | None:
    """Return why the keys of a map are no rules, None if they are."""
    pairs = maps.pairs.get(title.lower())
    if pairs is None:
        return "its map is not in this file"
    if match.get("url", "") not in _ANY:
        return "it looks up a part of the path in a map"
    return maps.room.lack(f"the rewriteMap {title[:60]}", len(pairs))


def _exact(rule: Rule, key: str, value: str) -> Rule:
    """Return the rule of a key of a map, which has any letter case."""
    found = source(key if key.startswith("/") or "://" in key else f"/{key}")
    new = value if value.startswith("/") or "://" in value else f"/{value}"
    fault = found if isinstance(found, str) else target_fault(new)
    if fault is not None or not isinstance(found, Source):
        return rule._replace(how=EXACT, problem=fault)
    return rule._replace(how=EXACT, source=found.path, host=found.host, target=(new,), ignores_case=True)


def _with_match(rule: Rule, match: Any, syntax: str) -> Rule:
    """Return a rule with its pattern: ECMAScript, wildcards, or an exact text."""
    text, folds = match.get("url", ""), match.get("ignoreCase", "true").lower() != "false"
    rule = rule._replace(ignores_case=folds, subject=FOLDER)
    if match.get("negate", "").lower() == "true":
        return rule._replace(problem="it matches what its pattern does not")
    try:
        check_path(text if syntax.lower() in {"", "ecmascript"} else f"^{re.escape(text)}", in_folder=True)
    except NeverError as error:
        return rule._replace(problem=error.message)
    if syntax.lower() == "exactmatch":
        return rule._replace(source=f"/{text}")
    if syntax.lower() == "wildcard":
        text = f"^{re.escape(text).replace(chr(92) + '*', '(.*)')}$"
    elif (literal := _LITERAL.fullmatch(text)) is not None:
        return rule._replace(source="/" + re.sub(r"\\(.)", r"\1", literal[1]))
    return with_pattern(rule, text, ignores_case=folds, subject=FOLDER)


def _with_action(rule: Rule, action: Any, kind: str) -> Rule:
    """Return a rule with its status, and the handling of the query."""
    if kind == "redirect":
        appends = action.get("appendQueryString", "true").lower() != "false"
        status = _STATUS.get(action.get("redirectType", "permanent").lower(), 301)
        return rule._replace(status=status, query=APPEND if appends else DROP)
    if kind == "customresponse":
        status = action.get("statusCode", "")
        is_gone = re.fullmatch("4[0-9][0-9]", status) is not None
        return rule._replace(status=int(status)) if is_gone else rule._replace(problem="it answers by itself")
    if kind == "none":
        return rule._replace(status=200)  # later rules may apply only without stopProcessing
    return rule._replace(status=200, query=KEEP) if kind == "rewrite" else rule._replace(status=403)


def _looked_up(one: Any, action: Any) -> tuple[str, str] | None:
    """Return the name of the map that a rule uses, and what it looks up in it."""
    inputs = [add.get("input", "") for add in one.iterfind("conditions/add")]
    inputs.append(action.get("url", "") if action is not None else "")
    found = next((found for text in inputs if (found := _LOOKED_UP.fullmatch(text)) is not None), None)
    return None if found is None else (found[1], found[2])


class _Needed(NamedTuple):
    """What a rule needs of a request: conditions, the only host; whether it applies where a file is; a problem."""

    conditions: tuple[Condition, ...] = ()
    host: str | None = None
    is_forced: bool = True
    problem: str | None = None


def _conditions(one: Any, looked_up: object) -> _Needed:
    """Return what the conditions of a rule need."""
    made: list[Condition] = []
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
                return _Needed(problem="it needs a file")
        elif text.upper() in _INPUTS and add.get("matchType", "Pattern").lower() == "pattern":
            folds = add.get("ignoreCase", "true").lower() != "false"
            try:
                check_pattern(pattern, ignores_case=folds)
            except UsageError as error:
                return _Needed(problem=error.message)
            made.append(Condition(_INPUTS[text.upper()], pattern, folds, is_negated, is_any))
        else:
            return _Needed(problem=f"it depends on {text[:60]}")
    literal = [one for one in made if one.subject == "host" and not one.is_negated and _HOST.fullmatch(one.pattern)]
    if literal and not is_any:
        made.remove(literal[0])
        host = re.sub(r"\\(.)", r"\1", literal[0].pattern.strip("^$")).lower()
    if made and is_any:
        made[-1] = made[-1]._replace(is_alternative=False)
    return _Needed(tuple(made), host=host, is_forced=is_forced)


def _with_target(rule: Rule, text: str) -> Rule:
    """Return a rule with its target: texts and groups."""
    unknown: list[str] = []

    def part(found: re.Match[str]) -> str | int | None:
        if found[1] is not None:
            return int(found[2]) + (CONDITION if found[1] == "C" else 0)
        known = _PARTS.get(found[3].upper())
        unknown.extend([found[0]] if known is None else [])
        return known

    if rule.problem is not None:
        return rule
    target = list(target_parts(text, _VARIABLE, part)) or [""]
    first = target[0]
    if unknown:
        return rule._replace(problem=f"its target needs {unknown[0]}")
    if isinstance(first, int):
        if first == WHOLE_PATH or first >= CONDITION:
            return rule._replace(problem="the old URL, not the rule, would choose the host of its target")
        target.insert(0, "/")
    elif not first.startswith("/") and "://" not in first:
        target[0] = first = f"/{first}"
    if isinstance(first, str) and (fault := target_fault(first + "x" * (len(target) > 1))) is not None:
        return rule._replace(problem=fault)
    return rule._replace(target=tuple(target))
