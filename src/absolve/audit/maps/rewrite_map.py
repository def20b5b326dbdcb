"""Read a RewriteMap text file: a key and a value on each line (httpd.apache.org/docs/2.4/rewrite/rewritemap.html#txt).

In: the bytes of the file. Out: a `RuleSet`, whose keys are exact paths.
"""

from __future__ import annotations

from absolve.audit.maps.model import Rule, RuleSet
from absolve.audit.maps.sources import placeholder, source, target_fault
from absolve.audit.maps.text import lines


def read(name: str, data: bytes) -> RuleSet:
    """Return the rules of a RewriteMap text file. Keys without a slash at their beginning are taken as paths."""
    rules: list[Rule] = []
    for number, text, problem in lines(data):
        words = text.split("#", 1)[0].split(None, 2) if text.lstrip().startswith("#") else text.split(None, 2)
        if not words and problem is None:
            continue
        rule = Rule(name, number, text.strip(), problem)
        if problem is None:
            rule = _rule(rule, words)
        rules.append(rule)
    return RuleSet(name, "rewritemap", rules)


def _rule(rule: Rule, words: list[str]) -> Rule:
    if len(words) < 2:
        return rule._replace(problem="it has no value")
    if len(words) > 2 and not words[2].startswith("#"):
        return rule._replace(problem="it has more than a key and a value")
    key, value = words[:2]
    found = source(key if "/" in key[:1] or "://" in key else f"/{key}")
    fault = found if isinstance(found, str) else placeholder(value) or target_fault(_absolute(value))
    if isinstance(found, str) or fault is not None:
        return rule._replace(problem=fault)
    return rule._replace(source=found.path, host=found.host, target=(_absolute(value),))


def _absolute(value: str) -> str:
    return value if value.startswith("/") or "://" in value else f"/{value}"
