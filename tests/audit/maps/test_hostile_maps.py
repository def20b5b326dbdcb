"""Maps that would take for ever, or all memory, if they were matched rule by rule."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving import NEW, OLD, lead, problems, rules

from absolve.audit import maps
from absolve.audit.maps import exact_table


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
    text = "".join(f"/h{number},/h{number + 1}\n" for number in range(5000))
    made = rules(text, "map.csv")
    found = made.chain(NEW + "h0")
    assert (found.hops, found.final) == (5000, NEW + "h5000")
    assert len(found.rules) == 8
    assert [made.chain(f"{NEW}h{number}").hops for number in range(5000)] == list(range(5000, 0, -1))


def test_every_url_of_a_long_circle_knows_its_length() -> None:
    text = "".join(f"/h{number},/h{(number + 1) % 2000}\n" for number in range(2000))
    made = rules(text, "map.csv")
    assert {made.chain(f"{NEW}h{number}").hops for number in range(2000)} == {2000}


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


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("map.csv", "/r{}/x,/s{},prefix\n"),
        ("map.csv", "/r{}/x,/s{}\n"),
        ("_redirects", "/r{}/* /s{}/:splat\n"),
        ("_redirects", "/r{}/:a/x /s{}/:a\n"),
        (".htaccess", "Redirect /r{}/x /s{}\n"),
        (".htaccess", "RewriteRule ^r{}/(.*)$ /s{}/$1 [R]\n"),
        ("site.conf", "location /r{}/ {{ return 301 /s{}; }}\n"),
        ("site.conf", "location = /r{}/x {{ return 301 /s{}; }}\n"),
        ("site.conf", "rewrite ^/r{}/(.*)$ /s{}/$1 permanent;\n"),
        ("site.conf", "if ($request_uri = /r{}/x) {{ return 301 /s{}; }}\n"),
        ("moved.map", "/r{}/x /s{};\n"),
    ],
)
def test_the_time_of_a_url_does_not_grow_with_the_number_of_rules(name: str, line: str) -> None:
    def steps(count: int) -> int:
        made = rules("".join(line.format(number, number) for number in range(count)), name)
        made.chain(NEW + "r5/x")  # compiles what is compiled on first use
        return steps_of(lambda: [made.chain(f"{NEW}r{number}/{end}") for number in (7, 10**9) for end in ("x", "y/x")])

    assert steps(2000) <= 2 * steps(100)


@pytest.mark.parametrize("name", ["map.csv", "site.conf"])
def test_prefixes_are_found_in_time_linear_in_the_length_of_a_path(name: str) -> None:
    line = {"map.csv": "{},/x,prefix\n", "site.conf": "location {} {{ return 301 /x; }}\n"}[name]
    made = rules("".join(line.format("/a" * number) for number in range(1, 400)), name)
    made.chain(NEW)

    def steps(length: int) -> int:
        return steps_of(lambda: made.chain(f"{NEW[:-1]}{'/a' * length}b"))

    assert steps(4000) <= 6 * steps(1000)


@pytest.mark.parametrize(("name", "line"), [("map.csv", "/r{0},/s{0}\n"), ("_redirects", "/r{0} /s{0} 302\n")])
def test_so_many_rules_that_they_are_found_by_hash_apply_like_few(monkeypatch: pytest.MonkeyPatch, name: str, line: str) -> None:
    text = "".join(line.format(number) for number in range(3000)) + line.format(7).replace("/s7", "/again") + line.format("x/*")
    text += {"map.csv": "/r8?a=1,/query\n/p,/q,prefix\nodd\n", "_redirects": "/r8 a=1 /late\n/p/* /q/:splat\nodd\n"}[name]
    urls = ["/r0", "/r2999", "/r3000", "/r7", "/r8?a=1", "/p/x", "/r1#f", OLD + "r5"]
    few = rules(text, name)
    monkeypatch.setattr(exact_table, "_MANY", 1000)
    many = rules(text, name)
    assert [lead(many, url) for url in urls] == [lead(few, url) for url in urls]
    assert [lead(many, url) for url in urls[:4]] == ["/s0", "/s2999", None, "/s7"]
    assert list(maps.checked(many)) == list(maps.checked(few))


def test_without_numpy_many_rules_are_in_a_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_table, "_MANY", 10)
    monkeypatch.setitem(sys.modules, "numpy", None)
    made = rules("".join(f"/r{number},/s{number}\n" for number in range(100)), "map.csv")
    assert lead(made, "/r99") == "/s99"


@pytest.mark.slow
def test_ten_million_rules_take_less_memory_than_their_objects_would() -> None:
    code = (
        "import resource, sys; from pathlib import Path; from absolve.audit import maps;"
        " data = b''.join(b'/old/%d,/new/%d\\n' % (n, n) for n in range(10_000_000));"
        " given = maps.Rules([maps.read(Path('map.csv'), data)], 'http://old.example/', 'https://new.example/');"
        " assert given.chain('http://old.example/old/9999999').final == 'https://new.example/new/9999999';"
        " print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert int(done.stdout) < 2 << 20  # KiB


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(["/a", "/a/", "/b:c", "/é", "/x?y=1", "a", "", "//h/p", " /a", "#x", "/a*", "/" + "l" * 1200]), st.sampled_from(["/b", "/b#c", "/b?d", "https://h/", "", " /b ", "b"]), st.sampled_from(["", "301", "302!", "410", "prefix", "odd"])), max_size=6))
def test_rows_with_and_without_quotes_are_read_alike(rows: list[tuple[str, str, str]]) -> None:
    plain = "".join(",".join(row) + "\n" for row in rows)
    quoted = plain + '"/quoted","/q"\n'
    one, other = (rules(text, "map.csv").sets[0].rules for text in (plain + "/quoted,/q\n", quoted))
    assert list(one) == list(other)


def test_many_rules_for_one_path_are_told_apart_by_their_parameters() -> None:
    made = rules("".join(f"/p id={number} /s{number}\n" for number in range(3000)), "_redirects")
    assert lead(made, "/p?x=1&id=2999") == "/s2999?x=1"
    assert steps_of(lambda: made.chain(NEW + "p?id=1500")) < 2000


@pytest.mark.parametrize("name", ["map.csv", "_redirects", ".htaccess", "site.conf", "moved.txt"])
@settings(max_examples=60)
@given(data=st.binary(max_size=200) | st.text(alphabet="/ab*:,;{}()[]<>\"'\\$%~^=! \n#", max_size=120).map(str.encode))
def test_any_bytes_are_a_map_with_unread_rules_at_worst(name: str, data: bytes) -> None:
    made = rules(data, name)
    lead(made, "/a/b?a=b")
    for found in made.sets:
        assert all(rule.line >= 1 for rule in found.rules)


def test_a_pattern_that_is_nested_too_deep_is_read_or_a_problem() -> None:
    made = rules(f"RedirectMatch {'(' * 5000}a{')' * 5000} /b\nRedirect /c /d\n", ".htaccess")
    assert lead(made, "/c") == "/d"
