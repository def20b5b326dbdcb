"""Redirect maps: read them in the syntax of each server, and compute where a URL leads.

In: the bytes of a map file, or redirects that were recorded. Out: a `RuleSet` for each, and `Rules`, which moves URLs
by all of them. It does not know which pages exist; the caller passes a predicate.
"""

from absolve.audit.maps.checks import Checked, checked, strangers
from absolve.audit.maps.model import Move, Outcome, Rule, RuleSet
from absolve.audit.maps.reading import FORMATS, NoRuleError, check, read
from absolve.audit.maps.redirects import recorded
from absolve.audit.maps.rules import Rules
from absolve.audit.maps.writing import Written, form_like, form_of, rule_text, with_added, written

__all__ = [
    "FORMATS",
    "Checked",
    "Move",
    "NoRuleError",
    "Outcome",
    "Rule",
    "RuleSet",
    "Rules",
    "Written",
    "check",
    "checked",
    "form_like",
    "form_of",
    "read",
    "recorded",
    "rule_text",
    "strangers",
    "with_added",
    "written",
]
