"""Maps of each form: where URLs lead by them, and what of them cannot be read; the cases are in cases/maps.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from moving import full, lead, problems, rules

from absolve.core.errors import UsageError
from absolve.rules import forms
from absolve.rules.outcomes import Rules

CASES = tomllib.loads((Path(__file__).parents[1] / "cases/maps.toml").read_text("utf-8"))
FILES = CASES.pop("files")


def outcome(made: Rules, expected: str, files: list[str]) -> str:
    """Return where the URL of an expected outcome leads, in the words of the outcome."""
    url = re.split(" -> | stays", expected)[0]
    to = lead(made, url, files)
    words = f"{url} stays" if to is None else f"{url} -> {to}"
    if expected.endswith((" surely", " perhaps")):
        words += " surely" if made.chain(full(url)).is_sure else " perhaps"
    return words


def found(case: dict[str, Any], text: str, expected: list[str]) -> list[str]:
    """Return the outcomes of a map for the expected URLs, then its problems by line."""
    made = rules(case.get("around", "{}").replace("{}", text), case["file"], form=case.get("form"))
    outcomes = [outcome(made, one, case.get("files", [])) for one in expected if not re.match(r"\d+: ", one)]
    if any(one.endswith((" surely", " perhaps")) for one in expected):  # another case has its problems
        return outcomes
    return outcomes + [f"{line}: {problem}" for line, problem in problems(made) if problem != "RewriteEngine is off"]


@pytest.mark.parametrize("name", CASES)
def test_urls_lead_where_a_map_says_and_what_cannot_be_read_is_named(name: str) -> None:
    case = CASES[name]
    wanted = {text: [*case.get("still", ()), *expected] for text, *expected in case["rows"]}
    assert {text: found(case, text, expected) for text, expected in wanted.items()} == wanted


@pytest.mark.parametrize("name", FILES)
def test_the_file_of_a_host_is_read_as_the_host_reads_it(name: str) -> None:
    case = FILES[name]
    if "refused" in case:
        with pytest.raises(UsageError, match=case["refused"]):
            forms.check(forms.read(Path(name), case["text"].encode()))
        return
    made = rules(case["text"], name)
    assert [outcome(made, one, []) for one in case["leads"]] == case["leads"]
    assert len(problems(made)) == case.get("unread", 0)
    lines = [rule.line for one in made.sets for rule in one.rules]
    assert name == "Caddyfile" or len(set(lines)) == len(lines), "findings about rules are distinguished by their line"
