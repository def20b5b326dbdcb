"""What is wrong with the rules of a map: unused, shadowed, contradicting, chains, circles, dead ends."""

import time

import pytest
from moving import NEW, OLD, full, rules

from absolve.rules import outcomes
from absolve.rules.outcomes import Checked, Rules
from tests.shapes.scale import scaled


def findings(made: Rules, asked: tuple[str, ...] = (), files: tuple[str, ...] = ()) -> list[str | None]:
    made.exists = {full(one) for one in files}.__contains__
    for url in asked:
        made.chain(full(url))
    return [one.finding for one in outcomes.checked(made)]


@pytest.mark.parametrize(("text", "name", "asked", "expected"), [
    ("/a,/x", "map.csv", ("/a",), [None]),
    ("/a,/x", "map.csv", (), ["unused"]),
    ("/a,/x,410", "map.csv", ("/a",), [None]),
    ("/a,https://other.example/", "map.csv", ("/a",), [None]),
    ("/a,/no", "map.csv", ("/a",), ["leads to nothing"]),
    ("/a,/b\n/b,/x", "map.csv", ("/a",), ["chain", None]),
    ("/a,/b\n/b,/x", "map.csv", (), ["chain", "unused"]),
    ("/a,/b\n/b,/a", "map.csv", (), ["loop", "loop"]),
    ("/a,/x\n/a,/x", "map.csv", ("/a",), [None, "repeats 1"]),
    ("/a,/x\n/a,/y", "map.csv", ("/a",), [None, "contradicts 1"]),
    ("/a,/x,prefix\n/a/b,/y", "map.csv", ("/a/b",), ["leads to nothing", "shadowed by 1"]),
    ("/a/b,/y\n/a,/x,prefix", "map.csv", ("/a/b", "/a"), [None, None]),
    ("/a,/x,prefix\n/a/b,/y,prefix", "map.csv", ("/a",), [None, "shadowed by 1"]),
    ("/a/%2A,/b\n/a/(.*),/x,regex", "map.csv", ("/a/1",), ["leads to nothing", None]),
    ("http://old.example/a,/x\n/a,/y", "map.csv", (OLD + "a", "/a"), [None, None]),
    ("/a/* /x\n/a/b /y\n/* /x", "_redirects", ("/a/c",), [None, "shadowed by 1", "unused"]),
    ("/a /x\n/a /y 301!", "_redirects", ("/a",), [None, "unused"]),
    ("/p id=1 /x\n/p /y", "_redirects", ("/p?id=1",), [None, "unused"]),
    ("Redirect /a /x\nRedirect /a/b /y", ".htaccess", ("/a",), [None, "shadowed by 1"]),
    ("RewriteRule ^b$ /y [R]\nRedirect /b /x", ".htaccess", ("/b",), [None, "unused"]),
    ("location = /a { return 301 /x; }\nlocation /b { return 301 /y; }", "site.conf", ("/a", "/b"), [None, None]),
    ("map $uri $m { /a /x;\n/b /y; }", "site.conf", ("/a",), [None, "unused"]),
    ("/n/(.*),/m/\\1,regex\n/m/(.*),/x,regex", "map.csv", ("/n/1",), ["chain", None]),
    ("/n/(.*),/n/x/\\1,regex", "map.csv", ("/n/1",), ["loop"]),
    ("/a,http://[", "map.csv", (), [None]),
    ("/x,/y", "map.csv", (), ["hidden by a file"]),
    ("/a/* /b/:splat\n/b/* /x 301!\n", "_redirects", (), ["chain", "unused"]),
    ("/a/* /a/b/:splat\n", "_redirects", (), ["loop"]),
    ("http://new.example/* https://new.example/:splat 301!\n/a /x\n", "_redirects", ("/a",), ["unused", None]),
    ("http://new.example/,https://new.example/,prefix\n/a,/x\n", "map.csv", ("/a",), ["unused", None]),
    ("RedirectMatch ^/old/.*$ /old/", ".htaccess", (), ["loop"]),
    ("RedirectMatch ^/old/.*$ /none", ".htaccess", (), ["leads to nothing"]),
    ("/a,https://other.example/none", "map.csv", (), ["unused"]),
])
def test_a_rule_has_its_finding(text: str, name: str, asked: tuple[str, ...], expected: list[str | None]) -> None:
    assert findings(rules(text, name), asked, ("/x", "/y")) == expected


@pytest.mark.parametrize("ends", ["/x", "/n0"], ids=["chain", "loop"])
@pytest.mark.parametrize(("name", "line"), [("map.csv", "{},{}\n"), ("_redirects", "{}/* {}/:splat 301!\n"), (".htaccess", "Redirect {} {}\n")])
def test_rules_that_follow_each_other_are_judged_in_linear_time(name: str, line: str, ends: str) -> None:
    def steps(size: int) -> float:
        text = "".join(line.format(f"/n{number}", f"/n{number + 1}" if number + 1 < size else ends) for number in range(size))
        made = rules(text, name)
        start = time.process_time()
        assert findings(made, (), ("/x",)).count("loop" if ends == "/n0" else "chain") >= size - 1
        return time.process_time() - start

    assert steps(scaled(1_600)) < 12 * max(steps(scaled(400)), 0.05)


@pytest.mark.parametrize(("name", "text", "hosts"), [
    ("m.csv", "http://old.example/a,/x\nhttp://shop.old.example/b,/x\n", ["shop.old.example"]),
    ("m.csv", "http://old.example/a,/x\n/b,/x\n", None),
    ("n.conf", "server { server_name old.example; rewrite ^/b$ /x permanent; }\nserver { server_name www.old.example shop.old.example; rewrite ^/a$ /x permanent; }", ["shop.old.example", "www.old.example"]),
    ("n.conf", "server { server_name www.old.example old.example; rewrite ^/x$ /x permanent; }", None),
    ("n.conf", "server { server_name _; rewrite ^/x$ /x permanent; }", None),
])
def test_hosts_of_rules_that_neither_site_has_are_known(name: str, text: str, hosts: list[str] | None) -> None:
    assert list(outcomes.strangers(rules(text, name))) == ([(name, 1, hosts)] if hosts is not None else [])


def test_a_map_says_whether_it_has_forced_rules() -> None:
    assert [rules(text, "_redirects").is_forced for text in ("/a /b\n", "/a /b\n/c /d 301!\n", "/a/* /b 301!\n", "/a b 301!\n")] == [False, True, True, False]
    assert rules("Redirect /a /b", ".htaccess").is_forced


def test_a_rule_of_another_map_is_named_with_its_file() -> None:
    made = rules("/a,/x\n", "one.csv", ("/a,/y\n", "two.csv"))
    assert findings(made, ("/a",), ("/x", "/y")) == [None, "contradicts one.csv:1"]


def test_each_rule_has_its_text_the_urls_that_it_moved_and_why_it_could_not_be_read() -> None:
    made = rules("/a,/x\n/b/,/x,prefix\nnonsense\n", "map.csv")
    made.exists = {NEW + "x"}.__contains__
    for url in ("a", "a#x", "b/1", "b/2"):
        made.chain(NEW + url)
    rows = list(outcomes.checked(made))
    assert rows[0] == Checked("map.csv", 1, "/a,/x", 1, None, None)
    assert (rows[1].used, rows[2].used) == (2, 0)
    assert rows[2].problem == "it has no target"
