"""Written maps: chains flattened, rules added, in every form; read back they lead to the same places."""

from functools import partial
from pathlib import Path
from urllib.parse import quote

import moving
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving import NEW, lead, problems

from absolve.audit import maps
from absolve.audit.maps.nginx_config import block_starts
from absolve.audit.maps.writing import _NAMES
from absolve.core.errors import UsageError

OLD = "http://new.example/"  # the host stays: an added rule has a path
rules = partial(moving.rules, old=OLD)
NAMES = {"csv": "map.csv", "netlify": "_redirects", "cloudflare": "_redirects", "apache": ".htaccess", "nginx": "x.conf", "rewritemap": "x.txt"}


def written(made: maps.Rules, form: str, *added: tuple[str, str]) -> tuple[str, maps.Rules]:
    text = maps.written(form, made, added).data.decode()
    return text, rules(text, NAMES[form], form=form)


@pytest.mark.parametrize("form", sorted(NAMES))
def test_chains_are_flattened_and_circles_left_out(form: str) -> None:
    made = rules("/r1,/r2,301!\n/r2,/r3,301!\n/r3,/z,301!\n/l1,/l2,301!\n/l2,/l1,301!\n/s,/s,301!\n", "map.csv", form="csv")
    back = written(made, form)[1]
    assert not problems(back)
    assert [back.chain(NEW + url).hops for url in ("r1", "r2", "r3", "l1", "l2", "s")] == [1, 1, 1, 0, 0, 0]
    assert lead(back, "/r1") == "/z"


@pytest.mark.parametrize("form", sorted(NAMES))
def test_added_rules_come_first(form: str) -> None:
    made = rules("/a /b\n/* / 301\n", "_redirects")
    text, back = written(made, form, (OLD + "was.html", NEW + "is.html"), (OLD + "caf%C3%A9", "https://other.example/x"), ("mailto:x", NEW))
    assert lead(back, "/was.html", ["/", "/is.html"]) == "/is.html"
    assert lead(back, "/caf%C3%A9") == "https://other.example/x"
    assert "was" in text.split("\n/a")[0]


CHAIN = {
    "csv": ("# mine\nold;new\n/a;/b\n/b;/c;302\n/odd\n", "# mine\nold;new\n/a;/c;302\n/b;/c;302\n/odd\n"),
    "netlify": ("# mine\n\n/a /b # why\n/b /c\n/x/* /y/:splat 301!\n/q", "# mine\n\n/a /c 301\n/b /c\n/x/* /y/:splat 301!\n/q\n"),
    "cloudflare": ("/a /b 301\n/b /c 301\n/x/:y /z/:y", "/a /c 301\n/b /c 301\n/x/:y /z/:y\n"),
    "apache": (
        "# mine\nRewriteEngine On\nRewriteRule ^a$ /b [R=301]\nRewriteRule ^b$ /c [R]\nRedirect /d /e\nRedirectMatch ^/f$ /d\nHeader set X y\n",
        '# mine\nRewriteEngine On\nRewriteRule "^a$" "/c" [R=301]\nRewriteRule ^b$ /c [R]\nRedirect /d /e\nRedirectMatch ^/f$ "/e"\nHeader set X y\n',
    ),
    "nginx": (
        "# mine\nlocation = /a {\n  return 301 /b;  # why\n}\nlocation = /b { return 301 '/c'; }\nmap $uri $m { /p /q; /q /r; }\ngzip on;\n",
        "# mine\nlocation = /a {\n  return 301 /c;  # why\n}\nlocation = /b { return 301 '/c'; }\nmap $uri $m { /p /r; /q /r; }\ngzip on;\n",
    ),
    "rewritemap": ("# mine\n/a /b # why\n/b /c\n", "# mine\n/a /c\n/b /c\n"),
}


@pytest.mark.parametrize("form", sorted(CHAIN))
def test_a_map_in_its_own_form_keeps_all_that_is_no_chain(form: str) -> None:
    before, after = CHAIN[form]
    made = rules(before, NAMES[form], form=form)
    assert written(made, form)[0] == after


@pytest.mark.parametrize("form", sorted(CHAIN))
def test_a_map_that_was_written_is_written_again_without_a_change(form: str) -> None:
    made = rules(CHAIN[form][0], NAMES[form], form=form)
    text, back = written(made, form)
    assert written(back, form)[0] == text


@pytest.mark.parametrize(
    ("form", "text", "added"),
    [
        ("csv", "old,new\n/a,/b\n", "old,new\n/w,/n\n/a,/b\n"),
        ("csv", "old,new,status\n/a,/b,302\n", "old,new,status\n/w,/n,301\n/a,/b,302\n"),
        ("csv", "old\tnew\n/a\t/b\n", "old\tnew\n/w\t/n\n/a\t/b\n"),
        ("csv", "/a,/b", "/w,/n\n/a,/b\n"),
        ("csv", "old,new\r\n/a,/b\r\n", "old,new\r\n/w,/n\r\n/a,/b\r\n"),
        ("csv", '# c\n"old","new"\n/a,/b\n', '# c\n"old","new"\n/w,/n\n/a,/b\n'),
        ("csv", "\ufeffold;new\n/a;/b\n", "\ufeffold;new\n/w;/n\n/a;/b\n"),
        ("csv", "old;new;\n/a;/b;\n", "old;new;\n/w;/n\n/a;/b;\n"),
        ("csv", "# c\n;;\nold;new;;\n# d\n/a;/b\n", "# c\n;;\nold;new;;\n/w;/n\n# d\n/a;/b\n"),
        ("csv", '"old\nURL","new\nURL"\n/a,/b\n', '"old\nURL","new\nURL"\n/w,/n\n/a,/b\n'),
        ("csv", '"# a\nb"\n/a,/b\n', '"# a\nb"\n/w,/n\n/a,/b\n'),
        ("csv", "old,new\r/a,/b\r", "old,new\r/w,/n\r/a,/b\r"),
        ("csv", "# c\rold,new\r/a,/b", "# c\rold,new\r/w,/n\r/a,/b\r"),
        ("csv", "old,new\r\n/a,/b", "old,new\r\n/w,/n\r\n/a,/b\r\n"),
        ("csv", "old,new", "old,new\n/w,/n\n"),
        ("csv", "# c\r\n# d", "# c\r\n# d\r\n/w,/n,301\r\n"),
        ("netlify", "# c\r/a /b\r", "# c\r/w /n 301\r/a /b\r"),
        ("netlify", "/a /b\r\n/c /d", "/w /n 301\r\n/a /b\r\n/c /d\r\n"),
        ("netlify", "# a\tb\n/a\t/b\n", "# a\tb\n/w /n 301\n/a\t/b\n"),
        ("netlify", "x, y\n/a /b\n", "/w /n 301\nx, y\n/a /b\n"),
        (
            "apache",
            "Options\tAll\nRedirect /a /b\n",
            'RewriteEngine On\nRewriteRule "^/?w$" "/n" [R=301,L]\nOptions\tAll\nRedirect /a /b\n',
        ),
        (
            "nginx",
            "location\t= b {\n return 301 /c;\n}\n",
            'location = "/w" { return 301 "/n$is_args$args"; }\nlocation\t= b {\n return 301 /c;\n}\n',
        ),
        ("nginx", "server {\r\n}", 'server {\r\n    location = "/w" { return 301 "/n$is_args$args"; }\r\n}\r\n'),
        (
            "nginx",
            "# a\r b\nlocation = b { }",
            '# a\r b\nlocation = "/w" { return 301 "/n$is_args$args"; }\nlocation = b { }\n',
        ),
        ("netlify", "# \x0c\x85\u2028\n/a /b\n", "# \x0c\x85\u2028\n/w /n 301\n/a /b\n"),
        ("netlify", "# note\n/a /b\n", "# note\n/w /n 301\n/a /b\n"),
        ("apache", "Redirect /a /b\n", 'RewriteEngine On\nRewriteRule "^/?w$" "/n" [R=301,L]\nRedirect /a /b\n'),
        (
            "apache",
            "<VirtualHost *>\nRedirect /a /b\n</VirtualHost>\n",
            '<VirtualHost *>\n    RewriteEngine On\n    RewriteRule "^/?w$" "/n" [R=301,L]\nRedirect /a /b\n</VirtualHost>\n',
        ),
        ("nginx", "server {\n}\n", 'server {\n    location = "/w" { return 301 "/n$is_args$args"; }\n}\n'),
        ("nginx", "server { listen 443; }\n", 'server {\n    location = "/w" { return 301 "/n$is_args$args"; } listen 443; }\n'),
        ("rewritemap", "/a /b\n", "/w /n\n/a /b\n"),
        ("csv", "# c\r\n\r\nold,new\r\n/a,/b\r\n", "# c\r\n\r\nold,new\r\n/w,/n\r\n/a,/b\r\n"),
        (
            "apache",
            "# c \\\n  d\nRedirect /a /b\n",
            '# c \\\n  d\nRewriteEngine On\nRewriteRule "^/?w$" "/n" [R=301,L]\nRedirect /a /b\n',
        ),
        (
            "apache",
            "<VirtualHost *>\r\nRedirect /a /b\r\n",
            '<VirtualHost *>\r\n    RewriteEngine On\r\n    RewriteRule "^/?w$" "/n" [R=301,L]\r\nRedirect /a /b\r\n',
        ),
        (
            "nginx",
            "log_format it's '#';\nserver {\n}\n",
            'log_format it\'s \'#\';\nserver {\n    location = "/w" { return 301 "/n$is_args$args"; }\n}\n',
        ),
        (
            "nginx",
            "events {\n}\nserver {\n  location /x {\n  }\n}\n",
            'events {\n}\nserver {\n    location = "/w" { return 301 "/n$is_args$args"; }\n  location /x {\n  }\n}\n',
        ),
        (
            "nginx",
            "# server { c\r\nserver {\r\n}\r\n",
            '# server { c\r\nserver {\r\n    location = "/w" { return 301 "/n$is_args$args"; }\r\n}\r\n',
        ),
    ],
)
def test_rules_are_added_where_they_apply(form: str, text: str, added: str) -> None:
    made = rules(text, NAMES[form], form=form)
    new, back = written(made, form, (OLD + "w", NEW + "n"))
    assert lead(back, "/w") == "/n"
    assert new == added


@pytest.mark.parametrize(
    ("form", "text", "new"),
    [
        ("apache", "Redirect 301 /a \\\n  \\\n /b\nRedirect 301 /b /c\n", 'Redirect 301 /a "/c"\nRedirect 301 /b /c\n'),
        ("apache", "Redirect 301 /a \\\r\n /b\r\nRedirect 301 /b /c\r\n", 'Redirect 301 /a "/c"\r\nRedirect 301 /b /c\r\n'),
        ("csv", '/a,"/b\n","301\n"\n/b,/c\n', "/a,/c,301\n/b,/c\n"),
        ("csv", "/b,/c\r\n/a,/b", "/b,/c\r\n/a,/c\r\n"),
        ("csv", "/b,/c\r/a,/b", "/b,/c\r/a,/c\r"),
        ("csv", '/a,/b\n/b,/c"d\n/e,/b\n/f,/c"d\n', '/a,/c%22d\n/b,/c"d\n/e,/c%22d\n/f,/c"d\n'),
    ],
)
def test_a_rule_of_several_lines_is_replaced_as_a_whole(form: str, text: str, new: str) -> None:
    made = rules(text, NAMES[form], form=form)
    assert written(made, form)[0] == new


@pytest.mark.parametrize(
    ("first", "second", "new"),
    [
        ("old;new\n/a;/b\n", "/c,/d\n", "/a,/b,301\n/c,/d\n"),
        ("/c,/d\n", "old;new\n/a;/b;302\n", "/c,/d\n/a,/b,302\n"),
        ("# x\nold,new\n/a,/b\n", "# y\n/c,/d\n", "# x\nold,new\n/a,/b\n# y\n/c,/d\n"),
        ('/a,/b\n"/z,/c\n', "/c,/d\n/e,/f\n", "/a,/b,301\n/c,/d\n/e,/f\n"),
        ("old,new\n/a,/b\n", "\ufeffold,new\r\n/c,/d\r\n", "old,new\n/a,/b\n/c,/d,301\n"),
    ],
)
def test_several_tables_become_one_that_reads_as_they_do(first: str, second: str, new: str) -> None:
    text, back = written(rules(first, "map.csv", (second, "more.csv")), "csv")
    assert text == new
    assert not problems(back)
    assert lead(back, "/a") == "/b"


def test_a_rule_is_added_behind_a_comment_that_is_continued_to_the_end() -> None:
    made = maps.Rules([maps.read(Path(".htaccess"), b"# c \\\n  d")], OLD, NEW)
    assert maps.written("apache", made, [(OLD + "w", NEW + "n")]).data.startswith(b"# c \\\n  d\nRewriteEngine On\n")


@pytest.mark.parametrize("text", ["'" + "\\'" * 300_000, '"' + "\\" * 300_001, '" \' ' * 100_000])
def test_blocks_are_found_in_linear_time(text: str) -> None:
    """In quadratic time this takes minutes."""
    assert list(block_starts(f"{text}\nserver {{", "server")) in ([], [len(text) + 9])


def test_comments_that_are_continued_are_skipped_in_linear_time() -> None:
    made = maps.Rules([maps.read(Path(".htaccess"), b"# c \\\n" * 100_000 + b"x")], OLD, NEW)
    assert maps.written("apache", made, [(OLD + "w", NEW + "n")]).data.startswith(b"# c \\\n" * 100_000 + b"x\nRewriteEngine")


def test_only_line_feeds_and_carriage_returns_end_the_lines_of_a_map() -> None:
    made = rules("# \x0b\x0c\x1c\x85\u2028\n/a /b\n/b /c\n", "_redirects")
    assert written(made, "netlify")[0] == "# \x0b\x0c\x1c\x85\u2028\n/a /c 301\n/b /c\n"


def test_bytes_of_a_map_that_are_no_utf_8_stay() -> None:
    data = b"# caf\xe9\n/a,/b\n/caf\xe9,/c\n"
    made = maps.Rules([maps.read(Path("map.csv"), data)], OLD, NEW)
    assert maps.written("csv", made, [(OLD + "w", NEW + "n")]).data == data.replace(b"/a,", b"/w,/n\n/a,")
    assert maps.written("csv", made, [(OLD + "\ud800", NEW + "n")]).data.count(b"\n") == 4


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", ["csv", "netlify"])
def test_a_map_keeps_its_charset_and_its_byte_order_mark(form: str, charset: str, mark: str) -> None:
    text = {"csv": "old,new\r\n/caf\u00e9,/b\r\n", "netlify": "# caf\u00e9\r\n/a /b\r\n"}[form]
    start = {"csv": "/caf", "netlify": "/a "}[form]
    row = {"csv": "/w,/n\r\n", "netlify": "/w /n 301\r\n"}[form]
    made = maps.Rules([maps.read(Path(NAMES[form]), (mark + text).encode(charset))], OLD, NEW)
    new = maps.written(form, made, [(OLD + "w", NEW + "n")]).data
    assert new.decode(charset) == mark + text.replace(start, row + start)


def test_maps_of_two_charsets_become_one_in_utf_8() -> None:
    sets = [maps.read(Path(f"{charset}.csv"), "/caf\u00e9,/b\n".encode(charset)) for charset in ("utf-16", "utf-8")]
    assert maps.written("csv", maps.Rules(sets, OLD, NEW)).data == "/caf\u00e9,/b\n".encode() * 2


def test_a_map_that_becomes_another_form_is_utf_8() -> None:
    sets = [maps.read(Path("map.csv"), "/caf\u00e9,/b\n".encode("utf-16"))]
    assert maps.written("netlify", maps.Rules(sets, OLD, NEW)).data == "/caf\u00e9 /b 301\n".encode()


CELLS = st.text("ab;,\t\"#'", max_size=6).map(lambda text: f"/{text}")
LEFT = st.sampled_from(["", "# c;d;e;f\n", "old,new\n", "old;new\n", "/l,/m\n/m,/l\n", "/r;s,/x;y\n", '"/q,1",/p\n'])


@settings(max_examples=300)
@given(before=LEFT, more=LEFT, last=LEFT | st.none(), pairs=st.dictionaries(CELLS, CELLS, max_size=4))
def test_a_written_table_is_read_back_with_the_rules_that_it_was_given(
    before: str, more: str, last: str | None, pairs: dict[str, str]
) -> None:
    made = rules(before + more, "map.csv", *([(last, "last.csv")] if last is not None else []))
    asked = [(OLD[:-1] + quote(old), NEW[:-1] + quote(new, safe="/;,'")) for old, new in pairs.items()]
    back = rules(maps.written("csv", made, asked).data, "map.csv")
    added = [(old, (quote(new, safe="/;,'"),)) for old, new in pairs.items()]
    kept, found = (
        [(rule.source, rule.target) for set_ in one.sets for rule in set_.rules if not rule.problem and rule.source not in {"/l", "/m"}]
        for one in (made, back)
    )
    assert found == added + kept


def test_without_a_map_the_added_rules_are_the_map() -> None:
    made = maps.Rules([], OLD, NEW)
    assert maps.written("netlify", made, [(OLD + "a", NEW + "b")]).data == b"/a /b 301\n"
    assert maps.written("csv", made).data == b"\n"


@pytest.mark.parametrize(("form", "line"), [("csv", "/w,/n,301!"), ("netlify", "/w /n 301!")])
def test_an_added_rule_is_forced_where_a_file_is_in_the_way(form: str, line: str) -> None:
    made = rules("/a,/b,301\n", "map.csv")
    made.exists = {NEW + "w", OLD + "w"}.__contains__
    text, back = written(made, form, (OLD + "w", NEW + "n"), (OLD + "v", NEW + "m"))
    assert text.splitlines()[:2] == [line, line.replace("w", "v").replace("/n", "/m").replace("!", "")]
    assert [lead(back, url, ["/w"]) for url in ("/w", "/v")] == ["/n", "/m"]


@pytest.mark.parametrize("target", ["/e$1x", "/e$1/$2", "/$", "/$x$0"])
def test_a_dollar_of_a_flattened_target_is_no_group(target: str) -> None:
    made = rules(f"RedirectMatch ^/(f)$ /d\nRedirect /d {target}\n", ".htaccess")
    assert lead(made, "/f", [target]) == target
    text, back = written(made, "apache")
    assert text.startswith("RedirectMatch ^/(f)$ ")
    assert lead(back, "/f", [target]) == target
    assert written(back, "apache")[0] == text


def test_what_a_form_cannot_express_is_a_comment_and_returned() -> None:
    made = rules("RewriteCond %{HTTPS} off\nRewriteRule ^ https://new.example%{REQUEST_URI} [R]\nRedirect /a /b\nRedirect nonsense\n", ".htaccess")
    found = maps.written("netlify", made)
    assert [(rule.line, reason) for rule, reason in found.left_out] == [(2, "netlify cannot express it"), (4, "it needs a path and a URL")]
    assert b"# .htaccess:2: netlify cannot express it: RewriteRule ^ https://new.example%{REQUEST_URI} [R]\n" in found.data
    assert lead(rules(found.data, "_redirects"), "/a/x") == "/b/x"


@pytest.mark.parametrize("form", ["csv", "netlify", "apache", "nginx"])
def test_rules_of_hosts_keep_their_host(form: str) -> None:
    made = moving.rules("http://old.example/a,https://new.example/b\n/c,/d,301!\n", "map.csv")
    made.sets[0] = made.sets[0]._replace(format="other")
    back = moving.rules(written(made, form)[0], NAMES[form], form=form)
    assert [lead(back, url) for url in (moving.OLD + "a", "/a", moving.OLD + "c", "/c")] == ["/b", None, "/d", "/d"]


@pytest.mark.parametrize(
    ("text", "name", "form", "urls"),
    [
        ("/blog/* /news/:splat 301!\n/x /y 301!\n", "_redirects", "apache", ["/blog", "/blog/a/b", "/x", "/x/"]),
        ("/blog/* /news/:splat 301!\n/x /y 301!\n", "_redirects", "nginx", ["/blog", "/blog/a/b", "/x", "/x/"]),
        ("/blog/* /news/:splat 301!\n/x /y 301!\n", "_redirects", "csv", ["/blog", "/blog/a/b", "/x", "/x/"]),
        ("/blog/* /news/:splat 301!\n/x /y 301!\n", "_redirects", "cloudflare", ["/blog", "/blog/a/b", "/x", "/x/"]),
        ("/n/:y/:s /p/:s 301!\n", "_redirects", "apache", ["/n/1/a", "/n/1/a/", "/n/1"]),
        ("/n/:y/:s /p/:s 301!\n", "_redirects", "nginx", ["/n/1/a", "/n/1/a/", "/n/1"]),
        ("/n/:y/:s /p/:s 301!\n", "_redirects", "csv", ["/n/1/a", "/n/1/a/", "/n/1"]),
        ("Redirect 301 /alt /neu\nRedirect gone /weg\n", ".htaccess", "nginx", ["/alt", "/alt/x", "/alt/", "/altx", "/weg/a"]),
        ("Redirect 301 /alt /neu\nRedirect gone /weg\n", ".htaccess", "csv", ["/alt", "/alt/x", "/altx"]),
        ("Redirect 301 /alt /neu\n", ".htaccess", "netlify", ["/alt", "/alt/x", "/altx"]),
        ("RedirectMatch ^/b/(\\d+)/(.*)$ /p/$2\n", ".htaccess", "nginx", ["/b/12/x?y", "/b/x"]),
        ("RedirectMatch ^/b/(\\d+) /p/$1\n", ".htaccess", "csv", ["/b/12/x", "/b/x"]),
        ("RewriteRule ^b/(.*)$ /p?q=$1 [R]\n", ".htaccess", "nginx", ["/b/12", "/b/1?z"]),
        ("rewrite ^/o/(.*)$ /n/$1 permanent;\nlocation = /e { return 302 /f; }\n", "x.conf", "apache", ["/o/a", "/o/a?q=1", "/e", "/e?q=1"]),
        ("location = /e { return 410; }\n", "x.conf", "apache", ["/e"]),
        ("/p?id=1,/one,301!\n/p?id=2,/two,301!\n", "map.csv", "apache", ["/p?id=1", "/p?id=2", "/p"]),
        ("/p?id=1,/one,301!\n/p?id=2,/two,301!\n", "map.csv", "nginx", ["/p?id=1", "/p?id=2", "/p"]),
        ("/p?id=1,/one,301!\n/p?id=2,/two,301!\n", "map.csv", "netlify", ["/p?id=1", "/p?id=2", "/p"]),
        ("/a b,/c%20d,301!\n/é,/ü,301!\n/x$1,/y%241,301!\n", "map.csv", "apache", ["/a%20b", "/%C3%A9", "/x$1"]),
        ("/a b,/c%20d,301!\n/é,/ü,301!\n", "map.csv", "nginx", ["/a%20b", "/%C3%A9"]),
        ("/a b,/c%20d,301!\n/é,/ü,301!\n", "map.csv", "netlify", ["/a%20b", "/%C3%A9"]),
        ("/A,/b,301!\n", "map.csv", "rewritemap", ["/A", "/a"]),
        (r"/n/(\d+),/p/\1,301!,regex", "map.csv", "apache", ["/n/1", "/n/x"]),
        ("/a,/b\n", "map.csv", "apache", ["/a"]),
        ("/a,/b\n", "map.csv", "nginx", ["/a"]),
    ],
)
def test_a_map_in_another_form_leads_to_the_same_places(text: str, name: str, form: str, urls: list[str]) -> None:
    made = rules(text, name)
    back = written(made, form)[1]
    assert not problems(back)
    for there in ([], ["/a"]):
        before, after = rules(text, name), rules(written(made, form)[0], NAMES[form], form=form)
        assert [lead(after, url, there) for url in urls] == [lead(before, url, there) for url in urls]


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        (".htaccess", "Redirect /a /b\nRedirect /b /c\n", 'Redirect /a "/c"\nRedirect /b /c\n'),
        (".htaccess", "Redirect /a /b/d\nRedirect /b /c\nRedirect /c /e\n", 'Redirect /a "/e/d"\nRedirect /b "/e"\nRedirect /c /e\n'),
        (".htaccess", "Redirect /a/ /b/\nRedirect /b /c\n", 'Redirect /a/ "/c/"\nRedirect /b /c\n'),
        ("_redirects", "/a/* /b/:splat 301!\n/b/* /c/:splat 301!\n", "/a/* /c/:splat 301!\n/b/* /c/:splat 301!\n"),
        ("_redirects", "/a/* /b/d/:splat 301!\n/b/* /c/:splat 301!\n", "/a/* /c/d/:splat 301!\n/b/* /c/:splat 301!\n"),
        ("map.csv", "/a,/b,301!,prefix\n/b,/c,301!,prefix\n", "/a,/c,301!,prefix\n/b,/c,301!,prefix\n"),
        (".htaccess", "Redirect /a /b\nRedirect /b/x /d\nRedirect /b /c\n", None),
        (".htaccess", "Redirect /a /b\nRedirect permanent /b /c\n", None),
        (".htaccess", "Redirect /a /b\nRedirectMatch /q/ /z\nRedirect /b /c\n", None),
        (".htaccess", "Redirect /a /b\nRedirect gone /b\n", None),
        (".htaccess", "Redirect /a /b\nRedirect /b /a\n", None),
        (".htaccess", "Redirect /a /b?x=\nRedirect /b /c\n", None),
        (".htaccess", "Redirect /a https://other.example/b\nRedirect /b /c\n", None),
        ("_redirects", "/a/* /b/:splat\n/b/* /c/:splat\n", None),
    ],
)
def test_a_prefix_whose_targets_all_lead_on_is_joined_with_the_next_one(name: str, text: str, changed: str | None) -> None:
    made = rules(text, name)
    new, back = written(made, made.sets[0].format)
    assert new == (text if changed is None else changed)
    for url in ("/a", "/a/", "/a/x", "/a/x/y", "/ab", "/b/x"):
        before, after = made.chain(NEW[:-1] + url), back.chain(NEW[:-1] + url)
        assert (after.final, after.loop, after.gone) == (before.final, before.loop, before.gone)
        assert changed is None or after.hops <= 1


PATHS = st.sampled_from(["/", "/a", "/a/", "/b", "/a/b", "/a/b.html", "/c d", "/é", "/x.php?id=1", "/a(b)", "/q'r"])
ROWS = st.lists(st.tuples(PATHS, PATHS, st.sampled_from(["301!", "302!"])), max_size=8)


@pytest.mark.parametrize("form", ["csv", "apache", "nginx", "cloudflare", "rewritemap"])
@settings(max_examples=60)
@given(rows=ROWS)
def test_read_back_every_url_leads_to_the_same_target(form: str, rows: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{','.join(row)}\n" for row in rows)
    made = rules(text, "map.csv")
    made.sets[0] = made.sets[0]._replace(format="other")
    new = maps.written(form, made)
    back = rules(new.data, NAMES[form], form=form)
    lacking = {rule.source for rule, _ in new.left_out}
    for url in ["/", "/a", "/a/", "/b", "/a/b", "/a/b.html", "/c%20d", "/%C3%A9", "/x.php?id=1", "/x.php", "/a(b)", "/q'r"]:
        before = made.chain(NEW[:-1] + url)
        if before.loop or any(rule.source in lacking for rule in before.rules):
            continue
        after = back.chain(NEW[:-1] + url)
        assert (after.final, after.hops) == (before.final, min(before.hops, 1))


def test_the_name_of_a_file_says_its_form() -> None:
    names = {"a/_redirects": "netlify", "m.csv": "csv", ".htaccess": "apache", "x.htaccess.new": "apache", "nginx.conf": "nginx", "my-nginx-rules": "nginx", "Apache.conf": "apache", "httpd.conf": "apache", "apache": "apache", "apache.csv": "csv", "x.map": "nginx", "x.txt": "rewritemap"}
    assert {name: maps.form_of(Path(name)) for name in names} == names
    with pytest.raises(UsageError, match=r"does not say the format of the map: give one such as map\.csv, _redirects"):
        maps.form_of(Path("x.doc"))
    with pytest.raises(UsageError, match=r"name it apache\.conf or nginx\.conf"):
        maps.form_of(Path("site.conf"))
    assert {maps.form_of(Path(name)) for name in _NAMES.replace(" or ", ", ").split(", ")} <= {*maps.FORMATS}
    with pytest.raises(UsageError, match="a map is written as one of"):
        maps.written("s3", maps.Rules([], None, NEW))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "/a?b=1,/c,301"),
        ("netlify", "/a b=1 /c 301"),
        ("cloudflare", None),
        ("apache", 'RewriteCond %{QUERY_STRING} "^b=1$"\nRewriteRule "^/?a$" "/c" [R=301,L,QSD]'),
        ("nginx", 'if ($request_uri = "/a?b=1") { return 301 "/c"; }'),
        ("rewritemap", None),
    ],
)
def test_the_rule_to_add_is_a_text_in_the_form_of_the_map(form: str, expected: str | None) -> None:
    made = maps.Rules([], OLD, NEW)
    assert maps.rule_text(form, made, OLD + "a?b=1", NEW + "c") == expected
    elsewhere = maps.Rules([], moving.OLD, NEW)  # on the old host a path would stay there
    text = maps.rule_text(form, elsewhere, moving.OLD + "a?b=1", NEW + "c")
    assert text == (expected.replace("/c", f"{NEW}c") if expected is not None else None)
    assert maps.rule_text(form, made, "mailto:x", NEW) is None


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "/guide/,/docs/,301,prefix"),
        ("netlify", "/guide/* /docs/:splat 301"),
        ("cloudflare", "/guide/* /docs/:splat 301"),
        ("apache", 'RewriteRule "^/?guide/((.*))$" "/docs/$1" [R=301,L]'),
        ("nginx", 'location ~ "^/guide/((.*))$" { rewrite "^/guide/((.*))$" "/docs/$1" permanent; }'),
        ("rewritemap", None),
    ],
)
def test_the_rule_for_a_folder_moves_all_in_it(form: str, expected: str | None) -> None:
    made = maps.Rules([], OLD, NEW)
    text = maps.rule_text(form, made, OLD + "guide/", NEW + "docs/", prefix=True)
    assert text == expected
    if text is not None:
        back = rules(text, NAMES[form], form=form)
        assert [lead(back, url) for url in ("/guide/", "/guide/a/b?c", "/guides")] == ["/docs/", "/docs/a/b?c", None]
