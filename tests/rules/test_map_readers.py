"""What the rows of cases/maps.toml do not show: charsets, bytes, files that are there, limits, files that are no maps."""

import io

import openpyxl
import pytest
from moving import OLD, lead, problems, rules

from absolve.core.errors import UsageError


@pytest.mark.parametrize(("data", "line"), [
    (b"old,new\n/a,/b\n", 2), (b"From URL;To URL\r\n/a;/b\r\n", 2), (b"/a\t/b\n", 1), ("\ufeff/a,/b\n".encode(), 1), ("/a,/b\n".encode("utf-16"), 1),
    ("/a;/b\r\n".encode("utf-16-le"), 1), ("/a,/b\n".encode("utf-16-be"), 1), (b"# note\n\n/a,/b,,\n", 3), (b'"/a","/b"\r/c,/d\r', 1),
    (b'/a,/b\n"/x;y;z","/c;d;e"\n', 1), (b"\t # a;b;c;d\r/a,/b\r", 2),
    *(("old,new,備考\n/a,/b,金料東\n".encode(charset, "ignore"), 2) for charset in ("cp932", "gbk", "euc-kr", "big5")),
    *(("New URL\tOld URL\r\n/b\t/a\r\n".encode(charset), 2) for charset in ("utf-8", "utf-16")),
])
def test_the_separator_the_header_and_the_charset_of_a_table_are_recognised(data: bytes, line: int) -> None:
    given = rules(data, "map.txt" if b"Old URL" in data.replace(b"\0", b"") else "map.csv")
    assert (problems(given), lead(given, "/a"), given.sets[0].rules[0].line) == ([], "/b", line)


@pytest.mark.parametrize(("name", "form", "text"), [
    ("map.csv", None, b"/a,/b\n/caf\xe9,/c\n/d,/e\xc3\xa9\n"), ("_redirects", "netlify", b"/a /b\n/caf\xe9 /c\n"),
    ("_redirects", "cloudflare", b"/a /b\n/caf\xe9 /c\n"), ("moved.txt", "rewritemap", b"/a /b\n/\xff /c\n"),
    ("site.conf", None, b"location = /a { return 301 /b; }\nlocation = /c { return 301 /caf\xe9; }\n"),
])  # fmt: skip
def test_bytes_that_are_no_utf8_are_a_problem_of_their_line(name: str, form: str | None, text: bytes) -> None:
    given = rules(text, name, form=form)
    assert (problems(given), lead(given, "/a")) == ([(2, "it is not UTF-8: save the file as UTF-8")], "/b")
    assert name != "map.csv" or lead(given, "/d") == "/e%C3%A9"


def test_a_cell_that_is_too_long_for_csv_is_a_problem_of_its_line() -> None:
    given = rules(f"/a,/b\n/{'x' * 200_000},/c\n/d,/e\n", "map.csv")
    assert ([line for line, _ in problems(given)], lead(given, "/d")) == ([2], "/e")


def test_a_file_that_is_there_comes_before_a_rule_that_is_not_forced_and_for_no_other_host() -> None:
    given = rules("/a,/b\nhttp://old.example/a,/c\n/d,/e,301!\n", "map.csv")
    assert [lead(given, url, ["/a", "/d"]) for url in ("/a", OLD + "a", "/d")] == [None, "/c", "/e"]
    text = "/here /x\n/there /y 301!\n/here /z 302!\n"
    assert [lead(rules(text, "_redirects"), url, files) for url, files in (("/here", ""), ("/here", ["/here"]), ("/there", ["/there"]))] == ["/x", "/z", "/y"]
    for url in ("/here", f"{OLD}here"):
        assert lead(rules("/here /x", "_redirects"), url, ["/here"]) is None


def test_a_workbook_is_a_table_whatever_format_is_given_for_the_maps() -> None:
    made, data = openpyxl.Workbook(), io.BytesIO()
    made.active.append(["/a", "/b"])
    made.save(data)
    assert lead(rules(data.getvalue(), "map.xlsx", form="apache"), "/a") == "/b"


def test_cloudflare_applies_no_more_rules_than_its_limits() -> None:
    text = "".join(f"/s{number} /t\n" for number in range(2001)) + "".join(f"/d{number}/* /t\n" for number in range(101))
    given = rules(text, "_redirects", form="cloudflare")
    assert problems(given) == [
        (2001, "Cloudflare applies only the first 2000 rules of its kind"),
        (2102, "Cloudflare applies only the first 100 rules of its kind"),
    ]
    assert given.sets[0].rules[0].status == 302


def test_blocks_that_are_nested_too_deep_or_not_closed_are_a_problem_and_the_rest_holds() -> None:
    for text in ("location = /b { return 301 /c; }\n" + "location /a {" * 5000 + "}" * 5000, "}}}\nlocation = /b { return 301 /c; }\n{"):
        assert lead(rules(text, "site.conf", form="nginx"), "/b") == "/c"


@pytest.mark.parametrize(("name", "text"), [("vercel.json", '{"redirects": [' + "[" * 100_000), ("vercel.json", "{" + r'\"' * 100_000), ("netlify.toml", "a = " + "[" * 5000), ("x.yml", "[" * 50_000), ("x.yml", "- a\nb"), ("web.config", '<!DOCTYPE c [<!ENTITY e SYSTEM "/etc/passwd">]><configuration>&e;'), ("firebase.json", '{"hosting": /*')])
def test_a_file_that_its_program_could_not_read_is_an_error(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=r"a map is|it is no YAML"):
        rules(text, name)


@pytest.mark.parametrize(("name", "text"), [
    ("Caddyfile", "old.example {\n redir /p?x=1 /b 301\n}\n"),
    ("Caddyfile", "old.example {\n @p path_regexp ^/p\\?x\n redir @p /b 301\n}\n"),
    ("web.config", '<rewrite><rules><rule name="a"><match url="^/p"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    ("web.config", '<rewrite><rules><rule name="a"><match url="^p\\?x"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    ("web.config", '<rewrite><rules><rule name="a" patternSyntax="ExactMatch"><match url="/p"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    (".htaccess", "RewriteRule ^/p /b [R]\n"),
    (".htaccess", "RewriteRule ^p\\?x=1$ /b [R]\n"),
    ("site.conf", "RedirectMatch ^/p\\?x /b\n"),
])
def test_a_rule_that_no_request_meets_is_named_and_nothing_depends_on_it(name: str, text: str) -> None:
    given = rules(text, name)
    assert [problem.partition(":")[0] for _, problem in problems(given) if problem] == ["it never applies"]
    assert lead(given, "/p?x=1") is None
    assert given.chain(OLD + "p?x=1").is_sure


@pytest.mark.parametrize("rule", ["^/?p", "^(/p|p)", "^/p|^p", "^p(\\?x)?$", "^p\\??$", "^(.*/)?p$", "^p[?]?"])
def test_a_rule_that_may_apply_does(rule: str) -> None:
    given = rules(f"RewriteRule {rule} /b [R]\n", ".htaccess")
    assert (problems(given), lead(given, "/p")) == ([], "/b")
