"""Give rules of nginx the general form, where they have one: a target without other variables than the query.

In: the rule of a directive or of a line of a map, and its target. Out: the rule by which maps are checked and written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve.audit.maps.model import APPEND, DROP, EXACT, KEEP, PROGRAM, REGEX

if TYPE_CHECKING:
    from absolve.audit.maps.model import Rule
    from absolve.audit.maps.nginx_values import Part


def labelled(
    rule: Rule, source: tuple[Part, ...], pattern: str | None, value: tuple[Part, ...], *, ignores_case: bool
) -> Rule:
    """Return the rule of a line of a map, in the general form if the path alone is looked up."""
    if len(source) != 1 or source[0].text not in {"uri", "document_uri", "request_uri"}:
        return rule
    if pattern is not None:
        return simple(rule._replace(how=REGEX, source=pattern, ignores_case=ignores_case, query=DROP), value)
    text = rule.text.split(None, 1)[0].strip("\"'")
    if not text.startswith("/"):
        return rule
    return simple(rule._replace(how=EXACT, source=text, query=DROP), value)


def simple(rule: Rule, value: tuple[Part, ...] | None) -> Rule:
    """Return a rule with its target in the general form; a program if it has other variables than the query."""
    if value is None:
        return rule
    if [part.text for part in value[-2:]] == ["is_args", "args"]:
        rule, value = rule._replace(query=KEEP), value[:-2]
    if any(part.kind == "variable" for part in value):
        return rule._replace(how=PROGRAM, source="")
    target = tuple(int(part.text) if part.kind == "group" else part.text for part in value)
    if target and isinstance(target[-1], str) and target[-1].endswith("?") and rule.query == APPEND:
        rule, target = rule._replace(query=DROP), (*target[:-1], target[-1][:-1])
    return rule._replace(target=target)
