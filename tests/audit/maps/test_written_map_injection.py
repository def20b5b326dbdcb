"""URLs of hostile sites, written into maps: no line and no argument ends where it should not."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from absolve.audit import maps

EVIL = [
    "a\nb", "a\rb", "a b", 'a"b', "a'b", "a;b", "a$b", "a${uri}b", "a}b{", "a#b", "a%b", "a%1b", "a\\\nRedirect", "a\tb",
    "a\\ b", 'a\\"b', "=cmd|x", "a,b", "a*", ":splat", "a\u2028b", "a\x85b", "a\x1b[31m", "a|b", "(a", "[a", "a\x00b",
    'a" [F]\n', "%{HTTP_HOST}", "$1", "<a>", "a\\",
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("csv", "m.csv"), ("netlify", "_redirects"), ("cloudflare", "_redirects"), ("apache", ".htaccess"),
        ("nginx", "m.conf"), ("rewritemap", "m.txt"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", EVIL, ids=range(len(EVIL)))
def test_a_rule_for_a_hostile_url_is_one_line_without_controls(form: str, name: str, text: str) -> None:
    rules = maps.Rules([], "http://old.example/", "https://new.example/")
    old = f"http://old.example/{quote(text, safe='')}"
    written = maps.written(form, rules, [(old, "https://new.example/ok")])
    lines = written.data.decode().split("\n")
    assert not [line for line in lines if any(character < " " or character == "\x7f" for character in line)]
    assert len([line for line in lines if line and not line.startswith(("RewriteEngine ", "RewriteCond "))]) <= 1
    if form == "apache" and not written.left_out:
        again = maps.read(Path(name), written.data, format=form)
        found = maps.Rules([again], "http://old.example/", "https://new.example/").chain(old, lambda _: False)
        assert found.final == "https://new.example/ok"


def test_a_pattern_with_thousands_of_groups_is_not_used() -> None:
    pattern = "(" * 5000 + "a" + ")" * 5000
    rules = maps.read(Path(".htaccess"), f"RedirectMatch {pattern} /x\n".encode()).rules
    assert "more than 99 groups" in str(next(iter(rules)).problem)
