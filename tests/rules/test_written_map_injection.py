"""URLs of hostile sites, written into maps: no line and no argument ends where it should not."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from moving import NEW, OLD

from absolve.rules import forms, writing
from absolve.rules.model import Rule, RuleSet
from absolve.rules.outcomes import Rules
from absolve.urls.identity import key

NAMES = {"csv": "m.csv", "netlify": "_redirects", "cloudflare": "_redirects", "apache": ".htaccess", "nginx": "m.conf"}
NONE = Rules([], OLD, NEW)
EVIL = [
    "a\nb", "a\rb", "a b", 'a"b', "a'b", "a;b", "a$b", "a${uri}b", "a}b{", "a#b", "a%b", "a%1b", "a\\\nRedirect", "a\tb", "a\\ b", 'a\\"b', "=cmd|x", "a,b", "a*",
    ":splat", "a\u2028b", "a\x85b", "a\x1b[31m", "a|b", "(a", "[a", "a\x00b", 'a" [F]\n', "%{HTTP_HOST}", "$1", "<a>", "a\\",
]  # fmt: skip


def recorded(*rules: Rule) -> Rules:
    return Rules([RuleSet("c.warc", "recorded", list(rules))], OLD, NEW)


def read(form: str, data: bytes) -> Rules:
    return Rules([forms.read(Path(NAMES[form]), data, format=form)], OLD, NEW)


@pytest.mark.parametrize("form", NAMES)
def test_a_rule_for_a_hostile_url_is_one_line_without_controls(form: str) -> None:
    for text in EVIL:
        old = f"{OLD}{quote(text, safe='')}"
        written = writing.written(form, NONE, [(old, f"{NEW}ok")])
        lines = written.data.decode().split("\n")
        assert not [line for line in lines if any(character < " " or character == "\x7f" for character in line)]
        assert len([line for line in lines if line and not line.startswith(("RewriteEngine ", "RewriteCond "))]) <= 1
        if form == "apache" and not written.left_out:
            assert read(form, written.data).chain(old).final == f"{NEW}ok", text


@pytest.mark.parametrize("form", NAMES)
def test_characters_that_are_not_seen_or_turn_a_line_round_are_escaped(form: str) -> None:
    for text in ("a\u202egnp.exe", "a\u2028b", "a\u200bb", "a\ufeffb", "a\x85b", "a\U000e0041b", "é\u2066\u034f"):
        for prefix, path in ((False, text), (True, f"{text}/")):
            old = f"{OLD}{quote(path)}"
            line = writing.rule_text(form, NONE, old, f"{NEW}x/{path}", prefix=prefix) or ""
            assert line
            assert all(map(str.isprintable, line.split("\n")))
            assert not {*"\u034f\U000e0041"} & {*line}
            found = read(form, line.encode()).chain(f"{old}b.html" if prefix else old)
            assert found.final == f"{NEW}x/{quote(path)}{'b.html' if prefix else ''}"


def test_a_pattern_with_thousands_of_groups_is_not_used() -> None:
    rules = forms.read(Path(".htaccess"), f"RedirectMatch {'(' * 5000}a{')' * 5000} /x\n".encode()).rules
    assert "more than 99 groups" in str(next(iter(rules)).problem)


@pytest.mark.parametrize("form", ["netlify", "apache", "nginx", "csv"])
def test_a_rule_for_a_host_that_is_no_name_or_whose_target_runs_code_is_left_out(form: str) -> None:
    for host in ("h;}", "~.*", "$hostname", "h{", 'a"b', "[::1]", "*.h", "h;return$host", "a\nb"):
        written = writing.written(form, recorded(Rule(NAMES[form], 1, "", source="/a", target=(f"{NEW}b",), host=host)))
        assert [reason for _, reason in written.left_out] == ["its host is no name of a host"]
        assert host not in written.data.decode()
    written = writing.written(form, recorded(Rule("a\nload_module x.so;#.warc", 1, "", source="/a", target=("javascript:alert(1)",))))
    assert ("javascript" in written.data.decode(), len(written.left_out)) == (False, 1)
    assert form == "csv" or not [line for line in written.data.decode().splitlines() if line.startswith("load_module")], "a name ends no comment"


@pytest.mark.parametrize(("old", "new", "row"), [
    ("/a;=1+1;.html", "https://new.example/x;=1+1;.html", '"/a;%3D1+1;.html","https://new.example/x;%3D1+1;.html",301'),
    ("/a;@x;-x;+x;'=x", "/b;@x;-x;+x?q;+x", "\"/a;%40x;%2Dx;%2Bx;'%3Dx\",\"/b;%40x;%2Dx;%2Bx?q;%20x\",301"),
    ("/a;-1", "/b;jsessionid=x", '"/a;-1","/b;jsessionid=x",301'),
])
def test_no_cell_of_a_map_is_a_formula_where_semicolons_separate_and_it_is_the_same_rule(old: str, new: str, row: str) -> None:
    rules = recorded(Rule("c.warc", 1, "", source=old, target=(new,), forced=False))
    written = writing.written("csv", rules).data
    assert written.decode() == f"{row}\n"
    again = read("csv", written)
    assert (again.sets[0].rules[0].source, again.sets[0].rules[0].problem) == (old, None)
    url = f"{OLD[:-1]}{old}"
    assert key(str(again.chain(url).final)) == key(str(rules.chain(url).final).replace("q;+x", "q;%20x"))


def test_a_pattern_in_a_map_is_no_formula_and_matches_the_same_urls() -> None:
    rules = read("apache", rb"RedirectMatch ^/a;+(=b|[;=]|\;=)$ /c" + b"\n")
    written = writing.written("csv", rules).data
    assert not re.search(rb";['\"]*[=+@-]", written)
    for path in ("a;=b", "a;;;=b", "a;;", "a;=", "a=b", "a;b"):
        assert read("csv", written).chain(OLD + path).final == rules.chain(OLD + path).final


@pytest.mark.parametrize("form", NAMES)
def test_a_path_with_two_slashes_names_no_other_host(form: str) -> None:
    written = writing.written(form, NONE, [(f"{OLD}a", f"{NEW}/evil.example/x")])
    assert f"{NEW}/evil.example/x" in written.data.decode() or written.left_out


def test_nginx_expands_no_variable_of_an_old_query() -> None:
    written = writing.written("nginx", NONE, [(f"{OLD}a?q=$host", f"{NEW}b")])
    assert written.left_out
    assert not [line for line in written.data.decode().splitlines() if "$host" in line and not line.startswith("#")]


IN_PLACE = {
    "apache": "RewriteEngine On\nRedirectMatch 301 ^/a$ /b\nRewriteRule ^c$ /b [R=301,L]\nRedirect 301 /z /y\n",
    "nginx": "server {\n    server_name old.example;\n    location = /a { return 301 /b; }\n    location = /z { return 301 /y; }\n}\n",
    "netlify": "/a /b 301\n/z /y 301\n",
    "csv": "/a,/b,301\n/z,/y,301\n",
}


@pytest.mark.parametrize("form", IN_PLACE)
def test_a_target_that_a_site_chose_ends_no_argument_of_the_map_of_the_user(form: str) -> None:
    first = forms.read(Path(NAMES[form]), IN_PLACE[form].encode())
    for tail in ("?x\\", "#x\\", "?x;y}", "#a'b", "?%\\", "?a\\;b", "?{x}", "#x y", '#"', "?`x`", "?a\x1bb"):
        evil = Rule("c.warc", 1, "", source="/b", target=(f"{NEW}n{tail}",))
        written = writing.written(first.format, Rules([first, RuleSet("c.warc", "recorded", [evil])], OLD, NEW))
        assert not any(word in written.data.decode() for word in ('\\"', "\\;", "\x1b")), tail
        again = read(form, written.data)
        assert (again.chain(f"{OLD}z").final or "").endswith("/y")
        assert "/n" in str(again.chain(f"{OLD}a").final) + written.data.decode()


def test_a_comment_that_ends_with_a_backslash_does_not_hide_the_next_rule() -> None:
    rules = [Rule("m.csv", 1, "/x,y\\", problem="odd"), Rule("m.csv", 2, "/a,/b", source="/a", target=("/b",))]
    written = writing.written("apache", Rules([RuleSet("m.csv", "csv", rules)], OLD, NEW))
    assert [line for line in written.data.decode().splitlines() if line.startswith("#")] == ["# m.csv:1: odd: /x,y\\ ."]


def test_no_cell_of_a_row_that_is_kept_is_a_formula() -> None:
    rows = "# old,=1+1\n/a,/b\n=1+1,/c\n/d,=cmd|x,301,\"@SUM(\n)\"\n'=2,/e\n/f;=1,/g\n^/h;=x$,/i;=1,301,regex\n/j,/k,-1,+49 30\n"
    kept = "# old,'=1+1\n/a,/b\n'=1+1,/c\n/d,'=cmd|x,301,\"'@SUM(\n)\"\n'=2,/e\n\"/f;%3D1\",/g\n^/h\\x3b=x$,\"/i;%3D1\",301,regex\n/j,/k,-1,+49 30\n"
    found = forms.read(Path("m.csv"), rows.encode())
    assert writing.written("csv", Rules([found], "http://old.example/", "https://new.example/")).data.decode() == kept
