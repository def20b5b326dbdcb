"""What the tests of maps share: a map of one text, and where URLs lead by it."""

from collections.abc import Collection
from pathlib import Path

from absolve.rules import forms
from absolve.rules.outcomes import Rules

OLD = "http://old.example/"
NEW = "https://new.example/"


def rules(text: str | bytes, name: str, *more: tuple[str, str], form: str | None = None, old: str = OLD) -> Rules:
    given = [(text, name), *more]
    sets = [forms.read(Path(one), content if isinstance(content, bytes) else content.encode(), format=form if one == name else None) for content, one in given]
    return Rules(sets, old, NEW)


def lead(given: Rules, url: str, files: Collection[str] = ()) -> str | int | None:
    """Return where a URL leads: a URL or path, the status of a rule without target, `loop`, or None without a rule."""
    given.exists = {full(one) for one in files}.__contains__
    outcome = given.chain(full(url))
    if outcome.loop:
        return "loop"
    if not outcome.rules:
        return None
    if outcome.served is not None:
        return f"={outcome.served.removeprefix(NEW[:-1])}"
    return outcome.status if outcome.final is None else outcome.final.removeprefix(NEW[:-1])


def full(url: str) -> str:
    return NEW[:-1] + url if url.startswith("/") else url


def problems(given: Rules) -> list[tuple[int, str | None]]:
    return [(rule.line, rule.problem) for one in given.sets for rule in one.rules if rule.problem]
