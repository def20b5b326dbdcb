"""nginx configurations: return, rewrite, map, location; what is named as unread."""

import pytest
from moving import NEW, OLD, lead, problems, rules


@pytest.mark.parametrize(("text", "urls"), [
    ("location = /a { return 301 /b; }", {"/a": "/b", "/a/": None, "/a?x": "/b"}),
    ("location = /a { return 301 /b$is_args$args; }", {"/a?x": "/b?x", "/a": "/b"}),
    ("location = /a { return https://x.example/; }", {"/a": "https://x.example/"}),
    ("location = /a { return 410; }", {"/a": 410}),
    ("location = /a { return 444; }", {"/a": 444}),
    ("location = '/a b' { return 302 /b; }", {"/a%20b": "/b"}),
    (r'location = "/a\"" { return 302 /b; }', {"/a%22": "/b"}),
    ("location /a { return 301 /b; }", {"/abc/d": "/b"}),
    ("location /a { return 301 /b; } location /abc { return 301 /c; }", {"/abcd": "/c", "/ab": "/b"}),
    ("location /a { return 301 /b; } location ~ c$ { return 301 /d; }", {"/abc": "/d"}),
    ("location ^~ /a { return 301 /b; } location ~ c$ { return 301 /d; }", {"/abc": "/b"}),
    ("location ~ ^/a/(.*)$ { return 301 /b/$1; }", {"/a/x%3Fy": "/b/x%3Fy"}),
    ("location ~ ^/a/(?<rest>.*)$ { return 301 /b/$rest; }", {"/a/x": "/b/x"}),
    ("location ~* ^/A { return 301 /b; }", {"/a": "/b"}),
    ("location ~ ^/A { return 301 /b; }", {"/a": None}),
    ("location ~ x { return 301 /1; } location ~ y { return 301 /2; } location ~ xy { return 301 /3; } location ~ z { return 301 /4; }", {
        "/xy": "/1",
    }),
    ("location /a { location /a/b { return 301 /c; } }", {"/a/b": "/c", "/a/d": None}),
    ("rewrite ^/o/(.*)$ /n/$1 permanent;", {"/o/a?x": "/n/a?x"}),
    ("rewrite ^/o/(.*)$ /n/$1? permanent;", {"/o/a?x": "/n/a"}),
    ("rewrite ^/o/(.*)$ /n?p=$1 redirect;", {"/o/a?x": "/n?p=a&x"}),
    ("rewrite ^/o$ https://x.example/;", {"/o": "https://x.example/"}),
    ("rewrite ^/o$ $scheme://x.example/;", {"/o": "https://x.example/"}),
    ('rewrite "^/o{2}$" /q permanent;', {"/oo": "/q"}),
    ("return 301 https://other.example$request_uri;", {"/o%20o?x": "https://other.example/o%20o?x"}),
    ("return 301 https://other.example$uri;", {"/o%20o?x": "https://other.example/o%20o"}),
    ("if ($request_uri = /a?x) { return 301 /b; }", {"/a?x": "/b", "/a": None}),
    ("location / { try_files $uri =404; }", {"/a": None}),
    ("return 301 $scheme://other.example$request_uri;", {"/o?x": "https://other.example/o?x"}),
    ("location = /o { return 301 https://$host/x?$args; }", {"/o?y": "/x?y", "/o": "/x?"}),
    ("rewrite ^ https://other.example$request_uri? permanent;", {"/o?x": "https://other.example/o?x"}),
    ("location /o/ { rewrite ^/o/(.*)$ /n/$1 permanent; } location /p/ { rewrite (.*) /q$1 permanent; }", {
        "/o/a": "/n/a",
    }),
    ("location /o/ { rewrite ^/p/(.*)$ /n/$1 permanent; }", {"/p/a": None}),
    ("location /o/ { root /srv; } location ~ ^/o { return 301 /p; }", {"/o/a": "/p"}),
    ("location ^~ /o/ { root /srv; } location ~ ^/o { return 301 /p; }", {"/o/a": None}),
    ("location ^~ /o { return 301 /p; } location /o/a { return 301 /q; }", {"/o/a": "/q"}),
    ('if ($request_uri = "/a%20b") { return 301 /b; }', {"/a%20b": "/b", "/a%20b?x": None}),
    ("if (!-e $request_filename) { return 301 https://x.example/; }", {"/a": "https://x.example/"}),
    ("if (!-e $request_filename) { return 301 /b; }", {"/folder": None}),
    ("if (!-e $request_filename) { rewrite ^/(.*)$ /app/$1 permanent; }", {"/there.html": None}),
    ("if ($http_user_agent ~ bot) { access_log off; } set $unused x; error_page 404 /404.html;", {"/a": None}),
])
def test_a_directive_of_a_server_moves_a_url(text: str, urls: dict[str, str | int | None]) -> None:
    given = rules(f"server {{ server_name new.example old.example; {text} }}", "site.conf")
    assert not problems(given)
    assert {url: lead(given, url, ["/there.html", "/folder/"]) for url in urls} == urls


def test_directives_without_a_server_are_a_part_of_one() -> None:
    given = rules("# for the server\nlocation = /a { return 301 /b; }\nrewrite ^/c$ /d permanent;\n", "redirects.conf")
    assert (lead(given, "/a"), lead(given, OLD + "c"), lead(given, "http://other.example/a")) == ("/b", "/d", None)


MAP = """
map $uri $moved {
    default "";
    volatile;
    /a /b;
    /Case /lower;
    ~^/n/(.*)$ /m/$1;
    ~^/t/(?<tail>.*)$ /u/$tail;
    ~*^/i/ /j;
    ~^/1 /2; ~^/3 /4; ~^/5 /6;
}
"""


MAPPED = {"/a": "/b", "/CASE": "/lower", "/n/x": "/m/x", "/t/x": "/u/x", "/I/x": "/j", "/none": None}


@pytest.mark.parametrize("use", ["", "server { if ($moved) { return 301 $moved; } }", "server { rewrite ^ $moved permanent; }"])
def test_a_map_moves_a_url_and_its_line_is_the_rule(use: str) -> None:
    given = rules(MAP + use, "site.conf")
    assert not problems(given)
    assert {url: lead(given, url) for url in MAPPED} == MAPPED
    assert len(given.used) == 5


@pytest.mark.parametrize(("use", "expected"), [
    ("if ($moved) { return 301 https://x.example$moved; }", "https://x.example/b"),
    ("if ($moved) { return 301 $scheme://x.example/d${moved}$is_args$args; }", "https://x.example/d/b?q"),
    ('if ($moved != "") { return 301 $moved; }', "/b"),
    ("rewrite ^ /d$moved? permanent;", "/d/b"),
])
def test_a_text_before_the_variable_of_a_map_is_a_part_of_each_target(use: str, expected: str) -> None:
    given = rules(f"{MAP} server {{ {use} }}", "site.conf")
    assert (problems(given), lead(given, "/a?q"), lead(given, "/none")) == ([], expected, None)


@pytest.mark.parametrize("text", [
    "server { location = /p?x { return 301 /b; } }",
    r"server { location ~ ^/p\?x { return 301 /b; } }",
    r"server { rewrite ^/p\?x=(\d+)$ /b permanent; }",
    "map $uri $m { /p?x /b; }\nserver { return 301 $m; }",
    r"map $uri $m { ~^/p\?x /b; }",
])
def test_what_needs_a_query_in_a_path_never_applies(text: str) -> None:
    given = rules(text, "site.conf")
    assert [problem for _, problem in problems(given)] == ["it never applies: it compares the path, which has no query"]
    assert (lead(given, "/p?x=1"), given.move("http://old.example/z")) == (None, None)


def test_lines_of_a_map_without_its_block_are_redirects() -> None:
    given = rules("/a /b;\n~^/c/(.*) /d/$1;\n", "moved.map")
    assert (lead(given, "/a"), lead(given, "/c/x"), lead(given, "/e")) == ("/b", "/d/x", None)


def test_a_map_of_what_the_browser_asks_for_has_the_path_with_its_query() -> None:
    text = "map $request_uri $m { /a?x=1 https://b.example/; /c https://d.example/; ~^/e\\?id=(.*)$ https://f.example/$1; default https://x.example/; }\nserver { if ($m) { return 302 $m; } }"
    given = rules(text, "site.conf")
    assert [lead(given, url) for url in ("/a?x=1", "/c", "/c?y", "/e?id=7")] == [f"https://{end}" for end in ("b.example/", "d.example/", "x.example/", "f.example/7")]
    assert {rule.status for rule in given.sets[0].rules} == {302}


HOSTS = """
http {
  server { listen 80; server_name old.example .wild.example; return 301 https://new.example$request_uri; }
  server { listen 127.0.0.1:80 default_server; server_name new.example ~^re; return 301 https://new.example$request_uri; }
  server { listen 443 ssl; server_name new.example; location = /a { return 301 /b; } }
  upstream x { server 127.0.0.1; }
}
"""


OF_HOSTS: dict[str, str | None] = {
    OLD + "x": "/x", "http://a.wild.example/x": "/x", "http://wild.example/a": "/b", "http://new.example/a": "/b",
    NEW + "a": "/b", NEW + "x": None, "http://other.example/x": None,
}


def test_a_server_answers_for_its_port_and_names() -> None:
    given = rules(HOSTS, "nginx.conf")
    assert not problems(given)
    assert {url: lead(given, url) for url in OF_HOSTS} == OF_HOSTS


IF = "of conditions only `$request_uri = TEXT`, `!-e $request_filename` and the variable of a map are read"
INTERNAL = "it changes the path inside the server, which is not followed"


@pytest.mark.parametrize(("text", "line", "reason"), [
    ("include more.conf;", 2, "the file that it includes is not read: give it as a map of its own"),
    ("return 301;", 2, "return with status 301 needs a URL"),
    ("return;", 2, "return has a status, a URL, or both"),
    ("return 200 ok;", 2, "return with status 200 sends a text, not a file"),
    ("return 301 /$cookie_x;", 2, "the value of $cookie_x cannot be known"),
    (f"location ~ ^/a(b)$ {{ return 301 /${{{'1' * 5000}}}; }}", 2, f"the value of ${'1' * 60} cannot be known"),
    ("rewrite ^/a;", 2, "rewrite has a regular expression, a replacement, and perhaps a flag"),
    ("rewrite ^/(a /b permanent;", 2, "the regular expression cannot be used: missing ): ^/(a"),
    ("rewrite ^/a /b soon;", 2, "'soon' is no flag of rewrite"),
    ("rewrite ^/a(?!b) /b permanent;", 2, "the regular expression cannot be used: look-ahead cannot be matched in linear time"),
    ("if $x { return 301 /b; }", 2, "the condition of an if is in parentheses"),
    ("if ($http_cookie ~ x) {\n return 301 /b; }", 2, IF),
    ("if ($host = new.example) { return 301 /b; }", 2, IF),
    ("if (-f $document_root/x) { rewrite ^ /b permanent; }", 2, IF),
    ("rewrite ^/a /b;", 2, INTERNAL),
    ("rewrite ^/a /b last;", 2, INTERNAL),
    ("location /a { rewrite ^ /b break; }", 2, INTERNAL),
    ("break; rewrite ^/z$ /q permanent;", 2, "it never applies: break comes first"),
    ("rewrite ^/a https://x.example$request_uri permanent;", 2, "$request_uri has a query, which is read at the end of a target without another one"),
    ("location x /a { }", 2, "'x' is no modifier of a location"),
    ("location ~ ( {\n return 301 /b; }", 2, "the regular expression cannot be used: missing ): ("),
    ("location /a/ { location ~ b { return 301 /c; } }", 2, "a location with a regular expression inside of another location is not read"),
    ("location ^~ /a { return 301 /b; } location /ab { } location ~ c { }", 2, "a longer prefix without ^~ is inside of it"),
    ("location / { try_files $uri $uri/ /app.html; }", 2, "what it sends depends on files, which is not followed"),
    ("error_page 404 =301 /b;", 2, "what it sends depends on what is missing, which is not followed"),
])
def test_a_directive_that_cannot_be_read_is_named_and_the_others_hold(text: str, line: int, reason: str) -> None:
    given = rules(f"server {{ location = /x {{ return 301 /y; }}\n{text}\nlocation = /z {{ return 301 /w; }} }}", "site.conf")
    assert problems(given) == [(line, reason)]
    assert (lead(given, "/x"), lead(given, "/z")) == ("/y", "/w")


def test_a_variable_that_is_set_is_named_with_what_uses_it() -> None:
    given = rules("server {\nset $target /b;\nlocation /a { return 301 ${target}/c; }\n}", "site.conf")
    assert problems(given) == [(2, "the value of a variable that is set is not followed"), (3, "the value of $target cannot be known")]
    assert lead(given, "/a") is None


@pytest.mark.parametrize(("text", "sure"), [
    ("location /q { return 301 /r; }", True),
    ("if ($http_cookie ~ x) { return 301 /b; }", False),
    ("rewrite ^/z /b last;", False),
    ("rewrite ^/q /b last;", True),
    ("rewrite ^/z(?=x) /b permanent;", False),
    ("location /q { if ($http_cookie ~ x) { return 301 /b; } }", True),
    ("location / { try_files $uri /app.html; }", True),
    ("location /q { try_files $uri /app.html; }", True),
    ("include more.conf;", False),
])
def test_an_answer_that_an_unread_directive_may_change_is_not_sure(text: str, sure: bool) -> None:
    given = rules(f"server {{ {text}\nlocation = /z {{ return 301 /w; }} }}", "site.conf")
    given.exists = {NEW + "w"}.__contains__
    found = given.chain(NEW + "z")
    assert (found.final, found.is_sure) == (NEW + "w", sure)


@pytest.mark.parametrize(("text", "line", "reason"), [
    ("map $uri $n {\n/a;\n/b /c; }", 2, "a line of a map has a text and a value"),
    ("map $uri $n {\ninclude x;\n/b /c; }", 2, "the file that it includes is not read: give it as a map of its own"),
    ("map $uri $n {\n~( /x;\n/b /c; }", 2, "the regular expression cannot be used: missing ): ("),
    ("map $uri { /a /c; }\nmap $uri $n { /b /c; }", 1, "a map has a source, a variable and a block"),
    ("map $cookie_x $m { x /c; }\nmap $uri $n { /b /c; }", 1, "it looks up $cookie_x, which is not the path"),
    ("map $uri $n { /b /c; }\nlocation /a { return 301 /b }", 2, "it does not end with ;"),
    ("map $uri $n { /b /c; }\nreturn 301 /b", 2, "it does not end with ;"),
])
def test_a_line_of_a_map_that_cannot_be_read_is_named(text: str, line: int, reason: str) -> None:
    given = rules(text, "site.conf", form="nginx")
    assert problems(given) == [(line, reason)]
    assert lead(given, "/b") == "/c"


def test_bytes_that_are_no_utf8_are_a_problem_of_their_directive() -> None:
    given = rules(b"location = /a { return 301 /caf\xe9; }\nlocation = /b { return 301 /c; }\n", "site.conf")
    assert problems(given) == [(1, "it is not UTF-8: save the file as UTF-8")]
    assert lead(given, "/b") == "/c"


def test_blocks_that_are_nested_too_deep_are_a_problem_and_the_rest_holds() -> None:
    given = rules("location = /b { return 301 /c; }\n" + "location /a {" * 5000 + "}" * 5000, "site.conf")
    assert lead(given, "/b") == "/c"
    given = rules("}}}\nlocation = /b { return 301 /c; }\n{", "site.conf", form="nginx")
    assert lead(given, "/b") == "/c"
