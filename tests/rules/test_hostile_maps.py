"""Maps that would take for ever, or all memory, if they were matched rule by rule."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear import measure
from moving import NEW, lead, problems, rules

from absolve.core.errors import UsageError
from absolve.rules import model


class Steps:
    """Counts the lines of Python that run: a measure of time that does not depend on the machine."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _frame: object, event: str, _argument: object) -> Steps:
        self.count += event == "line"
        return self


def steps_of(call: object) -> int:
    steps = Steps()
    before = sys.gettrace()
    sys.settrace(steps)
    try:
        call()  # type: ignore[operator]  # a callable
    finally:
        sys.settrace(before)
    return steps.count


def test_a_chain_of_a_thousand_hops_is_followed_to_its_end() -> None:
    text = "".join(f"/h{number},/h{number + 1}\n" for number in range(1000))
    made = rules(text, "map.csv")
    found = made.chain(NEW + "h0")
    assert (found.hops, found.final, len(found.rules)) == (1000, NEW + "h1000", 8)
    assert [made.chain(f"{NEW}h{number}").hops for number in range(1000)] == list(range(1000, 0, -1))


def test_every_url_of_a_long_circle_knows_its_length() -> None:
    text = "".join(f"/h{number},/h{(number + 1) % 500}\n" for number in range(500))
    made = rules(text, "map.csv")
    assert {made.chain(f"{NEW}h{number}").hops for number in range(500)} == {500}


@pytest.mark.parametrize("name", ["map.csv", ".htaccess", "site.conf"])
def test_a_catastrophic_regular_expression_is_matched_in_linear_time(name: str) -> None:
    text = {
        "map.csv": r"/(a+)+b,/c,regex",
        ".htaccess": "RewriteRule ^(a+)+b$ /c [R]\nRedirectMatch ^/(a|aa)+b$ /d",
        "site.conf": "rewrite ^/(a+)+b$ /c permanent;\nlocation ~ ^/(a|a)*b$ { return 301 /d; }",
    }[name]
    made = rules(text, name)
    assert not problems(made)
    assert lead(made, f"/{'a' * 20_000}") is None
    assert lead(made, "/aab") == "/c"


@pytest.mark.parametrize(("name", "line"), [
    ("map.csv", "/r{}/x,/s{},prefix\n"), ("map.csv", "/r{}/x,/s{}\n"), ("_redirects", "/r{}/* /s{}/:splat\n"), ("_redirects", "/r{}/:a/x /s{}/:a\n"),
    (".htaccess", "Redirect /r{}/x /s{}\n"), (".htaccess", "RewriteRule ^r{}/(.*)$ /s{}/$1 [R]\n"),
    ("site.conf", "location /r{}/ {{ return 301 /s{}; }}\n"), ("site.conf", "location = /r{}/x {{ return 301 /s{}; }}\n"),
    ("site.conf", "rewrite ^/r{}/(.*)$ /s{}/$1 permanent;\n"), ("site.conf", "if ($request_uri = /r{}/x) {{ return 301 /s{}; }}\n"), ("moved.map", "/r{}/x /s{};\n"),
    *(("site.conf", f"server {{{{ server_name {host}; location / {{{{ return 301 /{{}}; }}}} }}}}\n") for host in ("h{}.example", "*.h{}.example", "www.h{}.*")),
])  # fmt: skip
def test_the_time_of_a_url_does_not_grow_with_the_number_of_rules(name: str, line: str) -> None:
    def steps(count: int) -> int:
        made = rules("".join(line.format(number, number) for number in range(count)), name)
        urls = [f"{NEW}r{number}/{end}" for number in (7, 10**9) for end in ("x", "y/x")] + [f"http://www.h{number}.example/a" for number in (7, 10**9)]
        made.chain(urls[0])  # compiles what is compiled on first use
        return steps_of(lambda: [made.chain(url) for url in urls])

    assert steps(800) <= 2 * steps(100)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_more_lines_than_rules_fit_into_memory_are_an_error(end: str) -> None:
    with pytest.raises(UsageError, match=r"map\.csv: this map has more than 1,048,576 lines"):
        rules(f"/a,/b{end}" * ((1 << 20) + 1), "map.csv")


def test_many_rules_for_one_path_are_told_apart_by_their_parameters() -> None:
    made = rules("".join(f"/p id={number} /s{number}\n" for number in range(3000)), "_redirects")
    assert lead(made, "/p?x=1&id=2999") == "/s2999?x=1"
    assert steps_of(lambda: made.chain(NEW + "p?id=1500")) < 2000


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "/a", "/b\ud800", "host", "url", "301"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "key", "value", "url", "KeyPrefixEquals"]), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize(("form", "name", "keys"), [
    ("azure", "routes", "route redirect rewrite statusCode allowedRoles methods"),
    ("firebase", "redirects", "source destination type regex glob location"),
    ("firebase", "hosting", "redirects rewrites"),
    ("s3", "RoutingRules", "Condition Redirect"),
    ("vercel", "redirects", "source destination permanent statusCode has missing"),
    ("vercel", "routes", "src dest status headers handle continue"),
    ("redirection", "redirects", "url action_data action_type action_code match_type enabled regex status"),
    ("csv", "", "old new status"),
])
@settings(max_examples=25)
@given(data=st.data())
def test_json_of_wrong_types_is_a_map_with_unread_rules_at_worst(form: str, name: str, keys: str, data: st.DataObject) -> None:
    entry = st.dictionaries(st.sampled_from(keys.split()), _VALUES, min_size=2)
    value = data.draw(st.lists(st.one_of(entry, entry, entry, _VALUES), min_size=1, max_size=3))
    try:
        made = rules(json.dumps({name: value} if name else value), "map.json", form=form)
    except UsageError:
        return
    lead(made, "/a")


@pytest.mark.parametrize("name", ["map.csv", "_redirects", ".htaccess", "site.conf", "moved.txt"])
@settings(max_examples=60)
@given(data=st.binary(max_size=200) | st.text(alphabet="/ab*:,;{}()[]<>\"'\\$%~^=! \n#", max_size=120).map(str.encode))
def test_any_bytes_are_a_map_with_unread_rules_at_worst_or_no_text(name: str, data: bytes) -> None:
    try:
        made = rules(data, name)
    except UsageError as error:
        assert "this is " in str(error)  # noqa: PT017 - not all bytes
        return
    lead(made, "/a/b?a=b")
    for found in made.sets:
        assert all(rule.line >= 1 for rule in found.rules)


def test_a_pattern_that_is_nested_too_deep_is_read_or_a_problem() -> None:
    made = rules(f"RedirectMatch {'(' * 5000}a{')' * 5000} /b\nRedirect /c /d\n", ".htaccess")
    assert lead(made, "/c") == "/d"


def test_a_rule_that_multiplies_the_url_ends_as_a_loop() -> None:
    assert rules(f"RewriteEngine On\nRewriteRule ^(.*)$ /x{'$1' * 9} [R,L]", ".htaccess").chain(NEW + "a").loop


@pytest.mark.parametrize(("name", "text"), [
    ("_redirects", f"/{':a/' * 20_000} /x 301"),
    ("site.conf", "location = /b { return ² http://x.example/; }"),
    ("site.conf", f"location = /b {{ return {'3' * 5000} http://x.example/; }}"),
    (".htaccess", "RewriteEngine On\nRewriteRule ^b$ /c [R=²,L]"),
    (".htaccess", f"RewriteEngine On\nRewriteRule ^b$ /c [R={'3' * 5000},L]"),
    ("site.conf", f"location ~ ^/(b)$ {{ return 301 /${{{'1' * 5000}}}; }}"),
    ("site.conf", "location = /b { try_files; return 301 /b; }"),
    ("map.csv", r"/(b),/\g<²>,regex"),
    ("map.csv", rf"/(b),/\g<{'1' * 5000}>,regex"),
    ("map.json", '["/b\\ud800", "/c\\udc80"]'),
    ("redirection.json", '{"url": "/b", "action_data": {"url": "/b"}, "action_type": []}'),
    ("azure.json", '{"route": "/b", "redirect": "/b", "allowedRoles": 5}'),
])
def test_a_rule_that_cannot_be_used_is_reported_and_the_others_count(name: str, text: str) -> None:
    other = {
        "_redirects": "/a /z 301", "site.conf": "location = /a { return 301 /z; }", ".htaccess": "Redirect 301 /a /z",
        "map.csv": "/a,/z", "map.json": '["/a", "/z"]', "redirection.json": '{"url": "/a", "action_data": "/z"}',
        "azure.json": '{"route": "/a", "redirect": "/z"}',
    }[name]  # fmt: skip
    around = {"map.json": "[%s, %s]", "redirection.json": '{"redirects": [%s, %s]}', "azure.json": '{"routes": [%s, %s]}'}
    made = rules(around.get(name, "%s\n%s\n") % (text, other), name)
    assert made.chain(NEW + "a").final == NEW + "z"
    assert len(problems(made)) == 1


def test_a_map_that_is_used_too_often_is_reported_where_that_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_RULES", 100)
    lines = "".join(f"/p{number} /q{number};" for number in range(40))
    places = "".join(f"location /l{number} {{ return 301 $v; }}\n" for number in range(4))
    made = rules(f"map $uri $v {{ {lines} }}\nserver {{\nif ($v) {{ return 301 $v; }}\n{places}}}\n", "site.conf")
    assert made.chain(NEW + "p7").final == NEW + "q7"
    assert [(problem or "")[:22] for _, problem in problems(made)] == ["$v is used too often: "] * 3


_RULE = '<rule name="r"><match url=".*"/><conditions><add input="{m:{REQUEST_URI}}" pattern="(.+)"/></conditions><action type="Redirect" url="{C:1}"/></rule>'
_KEYS = "".join(f'<add key="/p{number}" value="/q{number}"/>' for number in range(40))


@pytest.mark.parametrize(("name", "text", "table"), [
    ("web.config", f'<rewrite><rules>{_RULE * 5}</rules><rewriteMaps><rewriteMap name="m">{_KEYS}</rewriteMap></rewriteMaps></rewrite>', "the rewriteMap m"),
    ("Caddyfile", "h.example {\n@m path" + "".join(f" /p{number}" for number in range(40)) + "\n" + "redir @m /q7\n" * 5 + "}\n", "its matcher"),
])
def test_a_table_that_is_used_too_often_is_reported(name: str, text: str, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MOST_RULES", 100)
    made = rules(text, name)
    assert [(problem or "").partition(" is used too often: ")[0] for _, problem in problems(made)] == [table] * 3
    assert sum(len(one.rules) for one in made.sets) == 83


@pytest.mark.parametrize(("name", "line", "last"), [
    (".htaccess", b"<IfModule x>\nRedirect /a /b\n", b""), ("x.conf", b"\n", b"zz"), ("x.conf", b"server {}\n", b"map $uri $v { %s }" % b"/a /b; " * 3000),
    ("x.conf", b"/a /b;\n", b""), ("map.csv", b"/a,/x,prefix\n", b""), (".htaccess", b"<VirtualHost *>\n</VirtualHost>\n", b"Redirect /a /b\n" * 3000),
    ("Caddyfile", b"h.example {\n@m path /p\nroute {\nredir @m /q\n}\n}\n", b""), ("vercel.json", rb'{"source": "/a\"", "destination": "/b"},', b""),
])
def test_a_map_is_read_in_linear_time(name: str, line: bytes, last: bytes) -> None:
    def read(data: bytes) -> None:
        rules(b'{"redirects": [%b]}' % data[:-1] if name == "vercel.json" else data + last, name)

    measure(read, line * (20_000 // len(line)))


def test_servers_are_chosen_by_port_and_name_and_a_name_with_an_asterisk() -> None:
    servers = [
        ("80", "a.example"), ("80", "*.example"), ("8080", "new.example"), ("443", "x.example"), ("443", "new.*"),
        ("443", "~^"), (None, "any.example"), ("443", "a?*z.example"),
    ]  # fmt: skip
    lines = (f"server {{ {f'listen {port};' if port else ''} server_name {name}; return 301 /{number}; }}\n" for number, (port, name) in enumerate(servers))
    made = rules("".join(lines), "x.conf")
    urls = {
        "http://a.example/": 0, "http://b.example/": 1, "http://c.test/": None, "http://new.example:8080/": 2,
        "http://b.example:8080/": None, "https://x.example/": 3, "https://new.example/": 4, "https://b.example/": 5,
        "https://any.example/": 5, "http://any.example/": 1, "http://any.example:99/": 6, "http://old.example:99/": None,
        "http://new.example:99/": None, "https://abz.example/": 7,
    }  # fmt: skip
    found = {url: next((rule.text for rule in made.chain(url).rules), None) for url in urls}
    assert found == {url: None if number is None else f"return 301 /{number};" for url, number in urls.items()}


def test_sections_and_keys_that_are_nested_too_deep_are_reported() -> None:
    made = rules("<IfModule x>\n" * 60 + "Redirect /a /b\n" + "</IfModule>\n" * 60 + "Redirect /c /d\n", ".htaccess")
    assert [problem for _, problem in problems(made)] == ["its sections are nested too deep"]
    assert lead(made, "/c") == "/d"
    for text, message in ((f"a{'.a' * 2000} = 1", "a key has more than 32 parts"), (f"a = 0x{'f' * 5000}", "a number has more than 1000 digits")):
        with pytest.raises(UsageError, match=rf"netlify\.toml: it is no TOML: {message}"):
            rules(text, "netlify.toml")
