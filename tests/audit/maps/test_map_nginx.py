"""nginx configurations: return, rewrite, map, location, if, try_files."""

from __future__ import annotations

import pytest
from moving import NEW, OLD, lead, problems, rules


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("location = /a { return 301 /b; }", "/a", "/b"),
        ("location = /a { return 301 /b; }", "/a/", None),
        ("location = /a { return 301 /b; }", "/a?x", "/b"),
        ("location = /a { return 301 /b$is_args$args; }", "/a?x", "/b?x"),
        ("location = /a { return 301 /b$is_args$args; }", "/a", "/b"),
        ("location = /a { return https://x.example/; }", "/a", "https://x.example/"),
        ("location = /a { return 410; }", "/a", 410),
        ("location = /a { return 444; }", "/a", 444),
        ("location = '/a b' { return 302 /b; }", "/a%20b", "/b"),
        (r'location = "/a\"" { return 302 /b; }', "/a%22", "/b"),
        ("location /a { return 301 /b; }", "/abc/d", "/b"),
        ("location /a { return 301 /b; } location /abc { return 301 /c; }", "/abcd", "/c"),
        ("location /a { return 301 /b; } location /abc { return 301 /c; }", "/ab", "/b"),
        ("location /a { return 301 /b; } location ~ c$ { return 301 /d; }", "/abc", "/d"),
        ("location ^~ /a { return 301 /b; } location ~ c$ { return 301 /d; }", "/abc", "/b"),
        ("location ~ ^/a/(.*)$ { return 301 /b/$1; }", "/a/x%3Fy", "/b/x%3Fy"),
        ("location ~ ^/a/(?<rest>.*)$ { return 301 /b/$rest; }", "/a/x", "/b/x"),
        ("location ~* ^/A { return 301 /b; }", "/a", "/b"),
        ("location ~ ^/A { return 301 /b; }", "/a", None),
        ("location ~ x { return 301 /1; } location ~ y { return 301 /2; } location ~ xy { return 301 /3; } location ~ z { return 301 /4; }", "/xy", "/1"),
        ("location /a { location /a/b { return 301 /c; } }", "/a/b", "/c"),
        ("location /a { location /a/b { return 301 /c; } }", "/a/d", None),
        ("rewrite ^/o/(.*)$ /n/$1 permanent;", "/o/a?x", "/n/a?x"),
        ("rewrite ^/o/(.*)$ /n/$1? permanent;", "/o/a?x", "/n/a"),
        ("rewrite ^/o/(.*)$ /n?p=$1 redirect;", "/o/a?x", "/n?p=a&x"),
        ("rewrite ^/o$ https://x.example/;", "/o", "https://x.example/"),
        ("rewrite ^/o$ $scheme://x.example/;", "/o", "https://x.example/"),
        ("rewrite ^/o$ /p; rewrite ^/p$ /q permanent;", "/o", "/q"),
        ("rewrite ^/o$ /p last; rewrite ^/p$ /q permanent;", "/o", "=/p"),
        ("rewrite ^/o$ /p last; location = /p { return 301 /q; }", "/o", "/q"),
        ("rewrite ^/o$ /p break;", "/o", "=/p"),
        ("location /o { rewrite ^/o$ /p last; } location = /p { return 301 /q; }", "/o", "/q"),
        ("location /o { rewrite ^/o$ /p break; } location = /p { return 301 /q; }", "/o", "=/p"),
        ("location / { rewrite ^ /x$uri; }", "/o", "=/x/x/x/x/x/x/x/x/x/x/o"),
        ("break; rewrite ^/o$ /q permanent;", "/o", None),
        ('rewrite "^/o{2}$" /q permanent;', "/oo", "/q"),
        ("return 301 https://other.example$request_uri;", "/o%20o?x", "https://other.example/o%20o?x"),
        ("return 301 https://other.example$uri;", "/o%20o?x", "https://other.example/o%20o"),
        ("set $target /b; location /a { return 301 ${target}/c; }", "/a", "/b/c"),
        ("if ($request_uri = /a?x) { return 301 /b; }", "/a?x", "/b"),
        ("if ($request_uri = /a?x) { return 301 /b; }", "/a", None),
        ("if ($uri ~ ^/a/(.*)$) { return 301 /b/$1; }", "/a/x", "/b/x"),
        ("if ($uri !~ ^/b) { return 301 /b; }", "/a/x", "/b"),
        ("if ($uri ~* ^/A$) { return 301 /b; }", "/a", "/b"),
        ("if ($host != new.example) { return 301 /b; }", OLD + "a", "/b"),
        ("if ($host = new.example) { return 301 /b; }", OLD + "a", None),
        ("if ($http_host = $server_name) { return 301 http://x.example/; }", "/a", "http://x.example/"),
        ("if ($scheme = http) { return 301 https://$host$request_uri; }", "http://new.example/a", "/a"),
        ("if ($https) { return 301 http://x.example/; }", "/a", "http://x.example/"),
        ("if ($arg_id = 7) { return 301 /seven?; }", "/a?ID=7", "/seven?"),
        ("if ($arg_id = 7) { return 301 /seven?; }", "/a?x=7", None),
        ("if ($args ~ ^id=(\\d+)) { rewrite ^/p$ /n/$server_port/? permanent; }", "/p?id=3", "/n/443/"),
        ("if (!-e $request_filename) { rewrite ^/(.*)$ /app/$1 last; }", "/a", "=/app/a"),
        ("location /a { if (-f $document_root/there.html) { return 301 /b; } }", "/a", "/b"),
        ("if (-d $document_root/there.html) { return 301 /b; }", "/a", None),
        ("location /a { if (-e $document_root/folder) { return 301 /b; } }", "/a", "/b"),
        ("if ($request_method = POST) { return 301 /b; }", "/a", None),
        ("location / { try_files $uri $uri/ /app.html; }", "/a", "=/app.html"),
        ("location / { try_files $uri $uri/ /app.html; }", "/there.html", None),
        ("location / { try_files $uri =404; }", "/a", None),
        ("location / { try_files $uri @old; } location @old { return 301 https://x.example$uri; }", "/a", "https://x.example/a"),
        ("location / { try_files $uri @none; }", "/a", None),
    ],
)
def test_a_directive_of_a_server_moves_a_url(text: str, url: str, expected: str | int | None) -> None:
    given = rules(f"server {{ server_name new.example old.example; {text} }}", "site.conf")
    assert not problems(given)
    assert lead(given, url, ["/there.html", "/folder/"]) == expected


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


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/a", "/b"),
        ("/CASE", "/lower"),
        ("/n/x", "/m/x"),
        ("/t/x", "/u/x"),
        ("/I/x", "/j"),
        ("/none", None),
    ],
)
@pytest.mark.parametrize("use", ["", "server { if ($moved) { return 301 $moved; } }", "server { rewrite ^ $moved permanent; }"])
def test_a_map_moves_a_url_and_its_line_is_the_rule(use: str, url: str, expected: str | None) -> None:
    given = rules(MAP + use, "site.conf")
    assert not problems(given)
    assert lead(given, url) == expected
    assert len(given.used) == (expected is not None)


def test_lines_of_a_map_without_its_block_are_redirects() -> None:
    given = rules("/a /b;\n~^/c/(.*) /d/$1;\n", "moved.map")
    assert (lead(given, "/a"), lead(given, "/c/x"), lead(given, "/e")) == ("/b", "/d/x", None)


def test_maps_that_name_each_other_do_not_end_the_audit() -> None:
    given = rules("map $b $a { default $b; }\nmap $a $b { default $a; }\nserver { return 301 /x$a; }", "site.conf")
    assert lead(given, "/q") == "loop"


HOSTS = """
http {
  server { listen 80; server_name old.example .wild.example; return 301 https://new.example$request_uri; }
  server { listen 127.0.0.1:80 default_server; server_name new.example ~^re; return 301 https://new.example$request_uri; }
  server { listen 443 ssl; server_name new.example; location = /a { return 301 /b; } }
  upstream x { server 127.0.0.1; }
}
"""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (OLD + "x", "/x"),
        ("http://a.wild.example/x", "/x"),
        ("http://wild.example/a", "/b"),
        ("http://new.example/a", "/b"),
        (NEW + "a", "/b"),
        (NEW + "x", None),
        ("http://other.example/x", None),
    ],
)
def test_a_server_answers_for_its_port_and_names(url: str, expected: str | None) -> None:
    given = rules(HOSTS, "nginx.conf")
    assert not problems(given)
    assert lead(given, url) == expected


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("include more.conf;", 2, "the file that it includes is not read: give it as a map of its own"),
        ("return 301;", 2, "return with status 301 needs a URL"),
        ("return;", 2, "return has a status, a URL, or both"),
        ("return 200 ok;", 2, "return with status 200 sends a text, not a file"),
        ("return 301 /$cookie_x;", 2, "the value of $cookie_x cannot be known"),
        ("rewrite ^/a;", 2, "rewrite has a regular expression, a replacement, and perhaps a flag"),
        ("rewrite ^/(a /b permanent;", 2, "the regular expression cannot be used: missing ): ^/(a"),
        ("rewrite ^/a /b soon;", 2, "'soon' is no flag of rewrite"),
        ("rewrite ^/a(?!b) /b permanent;", 2, "the regular expression cannot be used: look-ahead cannot be matched in linear time"),
        ("if $x { return 301 /b; }", 2, "the condition of an if is in parentheses"),
        ("if ($uri < 3) {\n return 301 /b; }", 3, "its condition in line 2: the condition '$uri < 3' is not supported"),
        ("if ($http_cookie ~ x) {\n return 301 /b; }", 3, "its condition in line 2: the value of $http_cookie cannot be known"),
        ("if ($request_filename ~ x) {\n rewrite ^ /b; }", 3, "its condition in line 2: the value of $request_filename depends on the server's folders"),
        ("location x /a { }", 2, "'x' is no modifier of a location"),
        ("location ~ ( {\n return 301 /b; }", 3, "its location in line 2: the regular expression cannot be used: missing ): ("),
        ("location / { try_files $uri /$cookie_x; }", 2, "the value of $cookie_x cannot be known"),
    ],
)
def test_a_directive_that_cannot_be_read_is_named_and_the_others_hold(text: str, line: int, reason: str) -> None:
    given = rules(f"server {{ location = /x {{ return 301 /y; }}\n{text}\nlocation = /z {{ return 301 /w; }} }}", "site.conf")
    assert problems(given) == [(line, reason)]
    assert (lead(given, "/x"), lead(given, "/z")) == ("/y", "/w")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("map $uri $n {\n/a;\n/b /c; }", 2, "a line of a map has a text and a value"),
        ("map $uri $n {\ninclude x;\n/b /c; }", 2, "the file that it includes is not read: give it as a map of its own"),
        ("map $uri $n {\n~( /x;\n/b /c; }", 2, "the regular expression cannot be used: missing ): ("),
        ("map $uri { /a /c; }\nmap $uri $n { /b /c; }", 1, "a map has a source, a variable and a block"),
        ("map $cookie_x $m { /a /c; }\nmap $uri $n { /b /c; }", 1, "the value of $cookie_x cannot be known"),
        ("map $uri $n { /b /c; }\nlocation /a { return 301 /b }", 2, "it does not end with ;"),
        ("map $uri $n { /b /c; }\nreturn 301 /b", 2, "it does not end with ;"),
    ],
)
def test_a_line_of_a_map_that_cannot_be_read_is_named(text: str, line: int, reason: str) -> None:
    given = rules(text, "site.conf", form="nginx")
    assert problems(given) == [(line, reason)]
    assert lead(given, "/b") == "/c"


def test_bytes_that_are_no_utf8_are_a_problem_of_their_directive() -> None:
    given = rules(b"location = /a { return 301 /caf\xe9; }\nlocation = /b { return 301 /c; }\n", "site.conf")
    assert problems(given) == [(1, "it is not UTF-8: save the file in this charset")]
    assert lead(given, "/b") == "/c"


def test_blocks_that_are_nested_too_deep_are_a_problem_and_the_rest_holds() -> None:
    given = rules("location = /b { return 301 /c; }\n" + "location /a {" * 5000 + "}" * 5000, "site.conf")
    assert lead(given, "/b") == "/c"
    given = rules("}}}\nlocation = /b { return 301 /c; }\n{", "site.conf", form="nginx")
    assert lead(given, "/b") == "/c"
