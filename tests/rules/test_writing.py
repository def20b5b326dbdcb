"""Written maps: chains flattened, rules added, in every form; read back they lead to the same places."""

from functools import partial
from pathlib import Path
from urllib.parse import quote

import moving
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving import NEW, lead, problems

from absolve.core.errors import UsageError
from absolve.rules import forms, writing
from absolve.rules.outcomes import Rules

OLD = "http://new.example/"  # the host stays: an added rule has a path
rules = partial(moving.rules, old=OLD)
NAMES = {"csv": "map.csv", "netlify": "_redirects", "cloudflare": "_redirects", "apache": ".htaccess", "nginx": "x.conf"}


def written(made: Rules, form: str, *added: tuple[str, str]) -> tuple[str, Rules]:
    text = writing.written(form, made, added).data.decode()
    return text, rules(text, NAMES[form], form=form)


def test_a_rule_for_a_name_that_is_no_text_is_written_as_its_bytes() -> None:
    assert b"\xff.html" in writing.written("csv", rules("", "map.csv", form="csv"), [(OLD + "\udcff.html", NEW)]).data


@pytest.mark.parametrize("form", sorted(NAMES))
def test_chains_are_flattened_and_circles_left_out(form: str) -> None:
    made = rules("/r1,/r2,301!\n/r2,/r3,301!\n/r3,/z,301!\n/l1,/l2,301!\n/l2,/l1,301!\n/s,/s,301!\n", "map.csv", form="csv")
    back = written(made, form)[1]
    assert not problems(back)
    assert [back.chain(NEW + url).hops for url in ("r1", "r2", "r3", "l1", "l2", "s")] == [1, 1, 1, 0, 0, 0]
    assert lead(back, "/r1") == "/z"
    assert [rule.line for rule, _ in writing.written(form, made).left_out] == [4, 5, 6]


@pytest.mark.parametrize("form", sorted(NAMES))
def test_added_rules_come_first(form: str) -> None:
    made = rules("/a /b\n/* / 301\n", "_redirects")
    text, back = written(made, form, (OLD + "was.html", NEW + "is.html"), (OLD + "caf%C3%A9", "https://other.example/x"), ("mailto:x", NEW))
    assert lead(back, "/was.html", ["/", "/is.html"]) == "/is.html"
    assert lead(back, "/caf%C3%A9") == "https://other.example/x"
    assert "was" in text.split("\n/a")[0]


CHAIN = [
    ("csv", "# mine\nold;new\n/a;/b\n/b;/c;302\n/odd\n", "# mine\nold;new\n/a;/c;302\n/b;/c;302\n/odd\n"),
    ("csv", '/a,"/b\n","301\n"\n/b,/c\n', "/a,/c,301\n/b,/c\n"),
    ("csv", "/b,/c\r\n/a,/b", "/b,/c\r\n/a,/c\r\n"),
    ("csv", "/b,/c\r/a,/b", "/b,/c\r/a,/c\r"),
    ("csv", '/a,/b\n/b,/c"d\n/e,/b\n/f,/c"d\n', '/a,/c%22d\n/b,/c"d\n/e,/c%22d\n/f,/c"d\n'),
    ("netlify", "# mine\n\n/a /b # why\n/b /c\n/x/* /y/:splat 301!\n/q", "# mine\n\n/a /c 301\n/b /c\n/x/* /y/:splat 301!\n/q\n"),
    ("netlify", "# \x0b\x0c\x1c\x85\u2028\n/a /b\n/b /c\n", "# \x0b\x0c\x1c\x85\u2028\n/a /c 301\n/b /c\n"),
    ("cloudflare", "/a /b 301\n/b /c 301\n/x/:y /z/:y", "/a /c 301\n/b /c 301\n/x/:y /z/:y\n"),
]


@pytest.mark.parametrize(("form", "before", "after"), CHAIN)
def test_a_map_in_its_own_form_keeps_all_that_is_no_chain(form: str, before: str, after: str) -> None:
    text, back = written(rules(before, NAMES[form], form=form), form)
    assert text == after
    assert written(back, form)[0] == text, "what was written is written again without a change"


@pytest.mark.parametrize(("form", "text", "added"), [
    ("csv", "old,new\n/a,/b\n", "old,new\n/w,/n\n/a,/b\n"), ("csv", "old,new,status\n/a,/b,302\n", "old,new,status\n/w,/n,301\n/a,/b,302\n"),
    ("csv", "old\tnew\n/a\t/b\n", "old\tnew\n/w\t/n\n/a\t/b\n"), ("csv", "/a,/b", "/w,/n\n/a,/b\n"),
    ("csv", "old,new\r\n/a,/b\r\n", "old,new\r\n/w,/n\r\n/a,/b\r\n"), ("csv", '# c\n"old","new"\n/a,/b\n', '# c\n"old","new"\n/w,/n\n/a,/b\n'),
    ("csv", "\ufeffold;new\n/a;/b\n", "\ufeffold;new\n/w;/n\n/a;/b\n"), ("csv", "old;new;\n/a;/b;\n", "old;new;\n/w;/n\n/a;/b;\n"),
    ("csv", "# c\n;;\nold;new;;\n# d\n/a;/b\n", "# c\n;;\nold;new;;\n/w;/n\n# d\n/a;/b\n"),
    ("csv", '"old\nURL","new\nURL"\n/a,/b\n', '"old\nURL","new\nURL"\n/w,/n\n/a,/b\n'), ("csv", "old,new\r/a,/b\r", "old,new\r/w,/n\r/a,/b\r"),
    ("csv", "old,new", "old,new\n/w,/n\n"), ("csv", "# c\r\n# d", "# c\r\n# d\r\n/w,/n,301\r\n"), ("netlify", "# c\r/a /b\r", "# c\r/w /n 301\r/a /b\r"),
    ("netlify", "/a /b\r\n/c /d", "/w /n 301\r\n/a /b\r\n/c /d\r\n"), ("netlify", "x, y\n/a /b\n", "/w /n 301\nx, y\n/a /b\n"),
    ("netlify", "# \x0c\x85\u2028\n/a /b\n", "# \x0c\x85\u2028\n/w /n 301\n/a /b\n"),
])
def test_rules_are_added_where_they_apply(form: str, text: str, added: str) -> None:
    made = rules(text, NAMES[form], form=form)
    new, back = written(made, form, (OLD + "w", NEW + "n"))
    assert lead(back, "/w") == "/n"
    assert new == added


@pytest.mark.parametrize(("first", "second", "new"), [
    ("old;new\n/a;/b\n", "/c,/d\n", "old;new\n/a;/b\n/c;/d\n"),
    ("/c,/d", "old;new\n/a;/b;302\n", "/c,/d\n/a,/b,302\n"),
    ("# x\nold,new\n/a,/b\n", "# y\n/c,/d\n", "# x\nold,new\n/a,/b\n/c,/d\n"),
    ('/a,/b\n"/z,/c\n', "/c,/d\n/e,/f\n", "/a,/b,301\n/c,/d,301\n/e,/f,301\n"),
    ("old,new\r\n/a,/b\r\n", "\ufeffold,new\n/c,/d\n", "old,new\r\n/a,/b\r\n/c,/d\r\n"),
])
def test_several_tables_become_one_that_reads_as_they_do(first: str, second: str, new: str) -> None:
    text, back = written(rules(first, "map.csv", (second, "more.csv")), "csv")
    assert text == new
    assert not problems(back)
    assert lead(back, "/a") == "/b"


ADD = [(OLD + "w", NEW + "n")]
BYTES: list[tuple[str, list[tuple[str, bytes]], list[tuple[str, str]], bytes]] = [  # form, maps, rules to add, what is written
    ("csv", [("map.csv", b"# caf\xe9\n/a,/b\n/caf\xe9,/c\n")], ADD, b"# caf\xe9\n/w,/n\n/a,/b\n/caf\xe9,/c\n"),
    ("csv", [("a.csv", "/é,/b\n".encode("utf-16")), ("b.csv", "/ü,/b\n".encode())], [], "/é,/b\n/ü,/b\n".encode("utf-16")),
    ("csv", [("m.json", b'[["/a", "/b"]]')], ADD, b"/w,/n,301\n/a,/b,301\n"),
    ("netlify", [("map.csv", "/é,/b\n".encode("utf-16"))], [], "/é /b 301\n".encode()),
    ("netlify", [], ADD, b"/w /n 301\n"),
    ("csv", [], [], b"\n"),
]


@pytest.mark.parametrize(("form", "given", "added", "new"), BYTES)
def test_bytes_are_kept_and_the_charset_is_that_of_the_first_map_of_the_form(
    form: str, given: list[tuple[str, bytes]], added: list[tuple[str, str]], new: bytes
) -> None:
    made = Rules([forms.read(Path(name), data) for name, data in given], OLD, NEW)
    assert writing.written(form, made, added).data == new
    if new.startswith(b"# caf\xe9"):  # a map that is no UTF-8 takes a URL that is no text, too
        assert writing.written(form, made, [(OLD + "\ud800", NEW + "n")]).data.count(b"\n") == 4


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", ["csv", "netlify"])
def test_a_map_keeps_its_charset_and_its_byte_order_mark(form: str, charset: str, mark: str) -> None:
    text = {"csv": "old,new\r\n/caf\u00e9,/b\r\n", "netlify": "# caf\u00e9\r\n/a /b\r\n"}[form]
    start = {"csv": "/caf", "netlify": "/a "}[form]
    row = {"csv": "/w,/n\r\n", "netlify": "/w /n 301\r\n"}[form]
    made = Rules([forms.read(Path(NAMES[form]), (mark + text).encode(charset))], OLD, NEW)
    assert writing.written(form, made, [(OLD + "w", NEW + "n")]).data.decode(charset) == mark + text.replace(start, row + start)


def test_rules_of_several_virtual_hosts_keep_their_host() -> None:
    blocks = "server {{ server_name {}; location = /a {{ return 301 /{}; }} }}\n"
    text = blocks.format("old.example www.old.example", "b") + blocks.format("*.other.example", "d") + blocks.format("new.example", "e")
    made = moving.rules(text, "x.conf")
    back = moving.rules(writing.written("csv", made).data, "map.csv")
    assert [lead(back, url) for url in (moving.OLD + "a", "http://www.old.example/a", "/a")] == ["/b", "/b", "/e"]
    assert [rule.line for rule, _ in writing.written("csv", made).left_out] == [2]


def test_a_chain_whose_end_a_form_cannot_express_stays_a_chain() -> None:
    made = rules("location = /a { return 301 /b; }\nlocation = /b { return 301 /c#d; }\n", "x.conf")
    assert written(made, "nginx")[0].startswith('location = "/a" { return 301 "/b"; }\n# x.conf:2: nginx cannot')


CELLS = st.text("ab;,\t\"#'", max_size=6).map(lambda text: f"/{text}")
LEFT = st.sampled_from(["", "# c;d;e;f\n", "old,new\n", "old;new\n", "/l,/m\n/m,/l\n", "/r;s,/x;y\n", '"/q,1",/p\n'])


@settings(max_examples=100)
@given(before=LEFT, more=LEFT, last=LEFT | st.none(), pairs=st.dictionaries(CELLS, CELLS, max_size=4))
def test_a_written_table_is_read_back_with_the_rules_that_it_was_given(before: str, more: str, last: str | None, pairs: dict[str, str]) -> None:
    made = rules(before + more, "map.csv", *([(last, "last.csv")] if last is not None else []))
    asked = [(OLD[:-1] + quote(old), NEW[:-1] + quote(new, safe="/;,'")) for old, new in pairs.items()]
    back = rules(writing.written("csv", made, asked).data, "map.csv")
    added = [(old, (quote(new, safe="/;,'"),)) for old, new in pairs.items()]
    kept, found = (
        [(rule.source, rule.target) for set_ in one.sets for rule in set_.rules if not rule.problem and rule.source not in {"/l", "/m"}]
        for one in (made, back)
    )
    assert [*dict.fromkeys(found)] == [*dict.fromkeys(added + kept)]  # a rule that repeats another is left out


@pytest.mark.parametrize(("form", "line"), [("csv", "/w,/n,301!"), ("netlify", "/w /n 301!")])
def test_an_added_rule_is_forced_where_a_file_is_in_the_way(form: str, line: str) -> None:
    made = rules("/a,/b,301\n", "map.csv")
    made.exists = {NEW + "w", OLD + "w"}.__contains__
    text, back = written(made, form, (OLD + "w", NEW + "n"), (OLD + "v", NEW + "m"))
    assert text.splitlines()[:2] == [line, line.replace("w", "v").replace("/n", "/m").replace("!", "")]
    assert [lead(back, url, ["/w"]) for url in ("/w", "/v")] == ["/n", "/m"]


def test_what_a_form_cannot_express_is_a_comment_and_returned() -> None:
    made = rules("RewriteCond %{HTTPS} off\nRewriteRule ^ https://new.example%{REQUEST_URI} [R]\nRedirect /a /b\nRedirect nonsense\n", ".htaccess")
    found = writing.written("netlify", made)
    assert [(rule.line, reason) for rule, reason in found.left_out] == [(2, "netlify cannot express it"), (4, "it needs a path and a URL")]
    assert b"# .htaccess:2: netlify cannot express it: RewriteRule ^ https://new.example%{REQUEST_URI} [R]\n" in found.data
    assert lead(rules(found.data, "_redirects"), "/a/x") == "/b/x"


@pytest.mark.parametrize("form", ["csv", "netlify", "apache", "nginx"])
def test_rules_of_hosts_keep_their_host(form: str) -> None:
    made = moving.rules("http://old.example/a,https://new.example/b\n/c,/d,301!\n", "map.csv")
    made.sets[0] = made.sets[0]._replace(format="other")
    back = moving.rules(written(made, form)[0], NAMES[form], form=form)
    assert [lead(back, url) for url in (moving.OLD + "a", "/a", moving.OLD + "c", "/c")] == ["/b", None, "/d", "/d"]


OTHER = [  # a map, other forms of it, URLs
    ("/blog/* /news/:splat 301!\n/x /y 301!\n", "_redirects", "apache nginx csv cloudflare", "/blog /blog/a/b /x /x/"),
    ("/n/:y/:s /p/:s 301!\n", "_redirects", "apache nginx csv", "/n/1/a /n/1/a/ /n/1"),
    ("Redirect 301 /alt /neu\nRedirect gone /weg\n", ".htaccess", "nginx", "/alt /alt/x /alt/ /altx /weg/a"),
    ("Redirect 301 /alt /neu\nRedirect gone /weg\n", ".htaccess", "csv", "/alt /alt/x /altx"),
    ("Redirect 301 /alt /neu\n", ".htaccess", "netlify", "/alt /alt/x /altx"),
    ("RedirectMatch ^/b/(\\d+)/(.*)$ /p/$2\n", ".htaccess", "nginx", "/b/12/x?y /b/x"),
    ("RedirectMatch ^/b/(\\d+) /p/$1\n", ".htaccess", "csv", "/b/12/x /b/x"),
    ("RewriteRule ^b/(.*)$ /p?q=$1 [R]\n", ".htaccess", "nginx", "/b/12 /b/1?z"),
    ("rewrite ^/o/(.*)$ /n/$1 permanent;\nlocation = /e { return 302 /f; }\n", "x.conf", "apache", "/o/a /o/a?q=1 /e /e?q=1"),
    ("location = /e { return 410; }\n", "x.conf", "apache", "/e"),
    ("/p?id=1,/one,301!\n/p?id=2,/two,301!\n", "map.csv", "apache nginx netlify", "/p?id=1 /p?id=2 /p"),
    ("/a b,/c%20d,301!\n/é,/ü,301!\n/x$1,/y%241,301!\n", "map.csv", "apache", "/a%20b /%C3%A9 /x$1"),
    ("/a b,/c%20d,301!\n/é,/ü,301!\n", "map.csv", "nginx netlify", "/a%20b /%C3%A9"),
    (r"/n/(\d+),/p/\1,301!,regex", "map.csv", "apache", "/n/1 /n/x"),
    ("/a,/b\n", "map.csv", "apache nginx", "/a"),
]


@pytest.mark.parametrize(("text", "name", "forms", "urls"), OTHER)
def test_a_map_in_another_form_leads_to_the_same_places(text: str, name: str, forms: str, urls: str) -> None:
    made = rules(text, name)
    for form in forms.split():
        new, back = written(made, form)
        assert not problems(back)
        for there in ([], ["/a"]):
            before, after = rules(text, name), rules(new, NAMES[form], form=form)
            assert [lead(after, url, there) for url in urls.split()] == [lead(before, url, there) for url in urls.split()]


PATHS = st.sampled_from(["/", "/a", "/a/", "/b", "/a/b", "/a/b.html", "/c d", "/é", "/x.php?id=1", "/a(b)", "/q'r"])
ROWS = st.lists(st.tuples(PATHS, PATHS, st.sampled_from(["301!", "302!"])), max_size=8)


@pytest.mark.parametrize("form", ["csv", "apache", "nginx", "cloudflare"])
@settings(max_examples=30)
@given(rows=ROWS)
def test_read_back_every_url_leads_to_the_same_target(form: str, rows: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{','.join(row)}\n" for row in rows)
    made = rules(text, "map.csv")
    made.sets[0] = made.sets[0]._replace(format="other")
    new = writing.written(form, made)
    back = rules(new.data, NAMES[form], form=form)
    lacking = {rule.source for rule, _ in new.left_out}
    for url in ["/", "/a", "/a/", "/b", "/a/b", "/a/b.html", "/c%20d", "/%C3%A9", "/x.php?id=1", "/x.php", "/a(b)", "/q'r"]:
        before = made.chain(NEW[:-1] + url)
        if before.loop or any(rule.source in lacking for rule in before.rules):
            continue
        after = back.chain(NEW[:-1] + url)
        assert (after.final, after.hops) == (before.final, min(before.hops, 1))


FORM_OF = {  # a name and the form of the first map
    ("a/_redirects", "csv"): "netlify", ("_redirects", "cloudflare"): "cloudflare", ("m.csv", "apache"): "csv",
    (".htaccess", "csv"): "apache", ("x.htaccess", "nginx"): "apache", ("nginx.conf", "apache"): "nginx",
    ("httpd.conf", "csv"): "apache", ("site.conf", "apache"): "apache", ("site.conf", "vercel"): "nginx",
    ("-", "netlify"): "netlify", ("rules", "nginx"): "nginx", ("-", "vercel"): "csv", ("-", "rewritemap"): "csv",
}  # fmt: skip


def test_the_suffix_of_a_file_says_its_form_otherwise_the_first_map() -> None:
    assert {one: writing.form_for_path(Path(one[0]), one[1]) for one in FORM_OF} == FORM_OF
    with pytest.raises(UsageError, match=r"no map is written as \.json: give the name of a \.csv, _redirects"):
        writing.form_for_path(Path("vercel.json"), "vercel")
    with pytest.raises(UsageError, match="a map is written as one of"):
        writing.written("s3", Rules([], None, NEW))


@pytest.mark.parametrize(("form", "expected", "folder"), [
    ("csv", "/a?b=1,/c,301", "/guide/,/docs/,301,prefix"),
    ("netlify", "/a b=1 /c 301", "/guide/* /docs/:splat 301"),
    ("cloudflare", None, "/guide/* /docs/:splat 301"),
    (
        "apache",
        'RewriteCond %{QUERY_STRING} "^b=1$"\nRewriteRule "^/?a$" "/c" [R=301,L,QSD]',
        'RewriteRule "^/?guide/((.*))$" "/docs/$1" [R=301,L]',
    ),
    (
        "nginx",
        'if ($request_uri = "/a?b=1") { return 301 "/c"; }',
        'location ~ "^/guide/((.*))$" { rewrite "^/guide/((.*))$" "/docs/$1" permanent; }',
    ),
])
def test_the_rule_to_add_for_a_page_or_a_folder_is_a_text_in_the_form_of_the_map(form: str, expected: str | None, folder: str) -> None:
    made = Rules([], OLD, NEW)
    assert writing.rule_text(form, made, OLD + "a?b=1", NEW + "c") == expected
    elsewhere = Rules([], moving.OLD, NEW)  # on the old host a path would stay there
    text = writing.rule_text(form, elsewhere, moving.OLD + "a?b=1", NEW + "c")
    assert text == (expected.replace("/c", f"{NEW}c") if expected is not None else None)
    assert writing.rule_text(form, made, "mailto:x", NEW) is None
    assert writing.rule_text(form, made, OLD + "guide/", NEW + "docs/", prefix=True) == folder
    back = rules(folder, NAMES[form], form=form)
    assert [lead(back, url) for url in ("/guide/", "/guide/a/b?c", "/guides")] == ["/docs/", "/docs/a/b?c", None]


@pytest.mark.parametrize(("pattern", "is_written"), [("/(a+)+$", False), ("/(?:a|ab)*c", False), (".*.*x", False), (r"/p/(\d+)", True)])
def test_a_pattern_that_takes_pcre_long_is_a_comment_in_a_server(pattern: str, is_written: bool) -> None:
    for form in ("apache", "nginx"):
        lines = writing.written(form, rules(f'"/x{pattern}",/about/,301!,regex\n', "map.csv")).data.decode().splitlines()
        assert any("/about/" in line for line in lines if not line.startswith("#")) == is_written
