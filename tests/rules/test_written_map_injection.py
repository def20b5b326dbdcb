"""URLs of hostile sites, written into maps: no line and no argument ends where it should not."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from absolve.rules import forms, writing
from absolve.rules.model import Rule, RuleSet
from absolve.rules.outcomes import Rules
from absolve.urls.identity import key

EVIL = [
    "a\nb", "a\rb", "a b", 'a"b', "a'b", "a;b", "a$b", "a${uri}b", "a}b{", "a#b", "a%b", "a%1b", "a\\\nRedirect", "a\tb",
    "a\\ b", 'a\\"b', "=cmd|x", "a,b", "a*", ":splat", "a\u2028b", "a\x85b", "a\x1b[31m", "a|b", "(a", "[a", "a\x00b",
    'a" [F]\n', "%{HTTP_HOST}", "$1", "<a>", "a\\",
]  # fmt: skip


@pytest.mark.parametrize(("form", "name"), [
    ("csv", "m.csv"), ("netlify", "_redirects"), ("cloudflare", "_redirects"), ("apache", ".htaccess"),
    ("nginx", "m.conf"),
])
@pytest.mark.parametrize("text", EVIL, ids=range(len(EVIL)))
def test_a_rule_for_a_hostile_url_is_one_line_without_controls(form: str, name: str, text: str) -> None:
    rules = Rules([], "http://old.example/", "https://new.example/")
    old = f"http://old.example/{quote(text, safe='')}"
    written = writing.written(form, rules, [(old, "https://new.example/ok")])
    lines = written.data.decode().split("\n")
    assert not [line for line in lines if any(character < " " or character == "\x7f" for character in line)]
    assert len([line for line in lines if line and not line.startswith(("RewriteEngine ", "RewriteCond "))]) <= 1
    if form == "apache" and not written.left_out:
        again = forms.read(Path(name), written.data, format=form)
        found = Rules([again], "http://old.example/", "https://new.example/").chain(old)
        assert found.final == "https://new.example/ok"


@pytest.mark.parametrize("text", ["a\u202egnp.exe", "a\u2028b", "a\u200bb", "a\ufeffb", "a\x85b", "a\U000e0041b", "é\u2066\u034f"])
@pytest.mark.parametrize(("form", "name"), [
    ("csv", "m.csv"), ("netlify", "_redirects"), ("cloudflare", "_redirects"), ("apache", ".htaccess"), ("nginx", "m.conf"),
])
def test_characters_that_are_not_seen_or_turn_a_line_round_are_escaped(form: str, name: str, text: str) -> None:
    rules = Rules([], "http://old.example/", "https://new.example/")
    for prefix, path in ((False, text), (True, f"{text}/")):
        old = f"http://old.example/{quote(path)}"
        new = f"https://new.example/x/{path}"
        line = writing.rule_text(form, rules, old, new, prefix=prefix) or ""
        assert line
        assert all(map(str.isprintable, line.split("\n")))
        assert not {*"\u034f\U000e0041"} & {*line}
        again = Rules([forms.read(Path(name), line.encode(), format=form)], "http://old.example/", "https://new.example/")
        found = again.chain(f"{old}b.html" if prefix else old)
        assert found.final == f"https://new.example/x/{quote(path)}{'b.html' if prefix else ''}"


def test_a_pattern_with_thousands_of_groups_is_not_used() -> None:
    pattern = "(" * 5000 + "a" + ")" * 5000
    rules = forms.read(Path(".htaccess"), f"RedirectMatch {pattern} /x\n".encode()).rules
    assert "more than 99 groups" in str(next(iter(rules)).problem)


HOSTS = ["h;}", "~.*", "$hostname", "h{", 'a"b', "[::1]", "*.h", "h;return$host", "a\nb"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("form", "name"), [("netlify", "_redirects"), ("apache", ".htaccess"), ("nginx", "m.conf"), ("csv", "m.csv")]
)
def test_a_rule_for_a_host_that_is_no_name_is_left_out(form: str, name: str, host: str) -> None:
    rule = Rule(name, 1, "", source="/a", target=("https://new.example/b",), host=host)
    rules = Rules([RuleSet("c.warc", "recorded", [rule])], "http://old.example/", "https://new.example/")
    written = writing.written(form, rules)
    assert [reason for _, reason in written.left_out] == ["its host is no name of a host"]
    assert host not in written.data.decode()


@pytest.mark.parametrize("form", ["netlify", "apache", "nginx", "csv"])
def test_a_rule_whose_target_runs_code_is_left_out(form: str) -> None:
    rule = Rule("c.warc", 1, "", source="/a", target=("javascript:alert(1)",))
    rules = Rules([RuleSet("c.warc", "recorded", [rule])], "http://old.example/", "https://new.example/")
    written = writing.written(form, rules)
    assert "javascript" not in written.data.decode()
    assert len(written.left_out) == 1


@pytest.mark.parametrize(("old", "new", "row"), [
    ("/a;=1+1;.html", "https://new.example/x;=1+1;.html", '"/a;%3D1+1;.html","https://new.example/x;%3D1+1;.html",301'),
    ("/a;@x;-x;+x;'=x", "/b;@x;-x;+x?q;+x", "\"/a;%40x;%2Dx;%2Bx;'%3Dx\",\"/b;%40x;%2Dx;%2Bx?q;%20x\",301"),
    ("/a;-1", "/b;jsessionid=x", '"/a;-1","/b;jsessionid=x",301'),
])
def test_no_cell_of_a_map_is_a_formula_where_semicolons_separate_and_it_is_the_same_rule(old: str, new: str, row: str) -> None:
    sites = "http://old.example/", "https://new.example/"
    rules = Rules([RuleSet("c.warc", "recorded", [Rule("c.warc", 1, "", source=old, target=(new,), forced=False)])], *sites)
    written = writing.written("csv", rules).data
    assert written.decode() == f"{row}\n"
    again = forms.read(Path("m.csv"), written).rules[0]
    assert (again.source, again.problem) == (old, None)
    assert key(str(Rules([forms.read(Path("m.csv"), written)], *sites).chain(f"http://old.example{old}").final)) == key(
        str(rules.chain(f"http://old.example{old}").final).replace("q;+x", "q;%20x")
    )


def test_a_pattern_in_a_map_is_no_formula_and_matches_the_same_urls() -> None:
    first = forms.read(Path(".htaccess"), rb"RedirectMatch ^/a;+(=b|[;=]|\;=)$ /c" + b"\n")
    rules = Rules([first], "http://old.example/", "https://new.example/")
    written = writing.written("csv", rules).data
    assert not re.search(rb";['\"]*[=+@-]", written)
    again = Rules([forms.read(Path("m.csv"), written)], "http://old.example/", "https://new.example/")
    for path in ("a;=b", "a;;;=b", "a;;", "a;=", "a=b", "a;b"):
        assert again.chain(f"http://old.example/{path}").final == rules.chain(f"http://old.example/{path}").final


@pytest.mark.parametrize("form", ["netlify", "apache", "nginx"])
def test_the_name_of_a_file_ends_no_comment(form: str) -> None:
    rule = Rule("a\nload_module x.so;#.warc", 1, "", source="/a", target=("javascript:x",))
    rules = Rules([RuleSet(rule.file, "recorded", [rule])], "http://old.example/", "https://new.example/")
    lines = writing.written(form, rules).data.decode().splitlines()
    assert not [line for line in lines if line.startswith("load_module")]


@pytest.mark.parametrize("form", ["csv", "netlify", "cloudflare", "apache", "nginx"])
def test_a_path_with_two_slashes_names_no_other_host(form: str) -> None:
    rules = Rules([], "http://old.example/", "https://new.example/")
    written = writing.written(form, rules, [("http://old.example/a", "https://new.example//evil.example/x")])
    assert "https://new.example//evil.example/x" in written.data.decode() or written.left_out


def test_nginx_expands_no_variable_of_an_old_query() -> None:
    rules = Rules([], "http://old.example/", "https://new.example/")
    written = writing.written("nginx", rules, [("http://old.example/a?q=$host", "https://new.example/b")])
    assert written.left_out
    assert not [line for line in written.data.decode().splitlines() if "$host" in line and not line.startswith("#")]


IN_PLACE = {
    ".htaccess": "RewriteEngine On\nRedirectMatch 301 ^/a$ /b\nRewriteRule ^c$ /b [R=301,L]\nRedirect 301 /z /y\n",
    "m.conf": "server {\n    server_name old.example;\n    location = /a { return 301 /b; }\n    location = /z { return 301 /y; }\n}\n",
    "_redirects": "/a /b 301\n/z /y 301\n",
    "m.csv": "/a,/b,301\n/z,/y,301\n",
}
TAILS = ["?x\\", "#x\\", "?x;y}", "#a'b", "?%\\", "?a\\;b", "?{x}", "#x y", '#"', "?`x`", "?a\x1bb"]


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("tail", TAILS, ids=range(len(TAILS)))
def test_a_target_that_a_site_chose_ends_no_argument_of_the_map_of_the_user(name: str, tail: str) -> None:
    first = forms.read(Path(name), IN_PLACE[name].encode())
    evil = Rule("c.warc", 1, "", source="/b", target=(f"https://new.example/n{tail}",))
    sites = "http://old.example/", "https://new.example/"
    written = writing.written(first.format, Rules([first, RuleSet("c.warc", "recorded", [evil])], *sites))
    assert not any(word in written.data.decode() for word in ('\\"', "\\;", "\x1b"))
    again = Rules([forms.read(Path(name), written.data, format=first.format)], *sites)
    assert (again.chain("http://old.example/z").final or "").endswith("/y")
    assert "/n" in str(again.chain("http://old.example/a").final) + written.data.decode()


def test_a_comment_that_ends_with_a_backslash_does_not_hide_the_next_rule() -> None:
    rules = [Rule("m.csv", 1, "/x,y\\", problem="odd"), Rule("m.csv", 2, "/a,/b", source="/a", target=("/b",))]
    found = RuleSet("m.csv", "csv", rules)
    written = writing.written("apache", Rules([found], "http://old.example/", "https://new.example/"))
    assert [line for line in written.data.decode().splitlines() if line.startswith("#")] == ["# m.csv:1: odd: /x,y\\ ."]


def test_no_cell_of_a_row_that_is_kept_is_a_formula() -> None:
    rows = "# old,=1+1\n/a,/b\n=1+1,/c\n/d,=cmd|x,301,\"@SUM(\n)\"\n'=2,/e\n/f;=1,/g\n^/h;=x$,/i;=1,301,regex\n/j,/k,-1,+49 30\n"
    kept = "# old,'=1+1\n/a,/b\n'=1+1,/c\n/d,'=cmd|x,301,\"'@SUM(\n)\"\n'=2,/e\n\"/f;%3D1\",/g\n^/h\\x3b=x$,\"/i;%3D1\",301,regex\n/j,/k,-1,+49 30\n"
    found = forms.read(Path("m.csv"), rows.encode())
    assert writing.written("csv", Rules([found], "http://old.example/", "https://new.example/")).data.decode() == kept
