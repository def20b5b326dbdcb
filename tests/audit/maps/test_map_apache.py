"""Apache configurations: mod_alias and mod_rewrite."""

from __future__ import annotations

import pytest
from moving import NEW, OLD, lead, problems, rules


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("Redirect 301 /alt /neu", "/other", None),
        ("Redirect 301 /alt /neu", "/alternative", None),
        ("Redirect 301 /alt /neu", "/alt", "/neu"),
        ("Redirect 301 /alt /neu", "/alt/x?q=1", "/neu/x?q=1"),
        ("Redirect /alt/ /neu/", "/alt", None),
        ("Redirect permanent /alt https://x.example/neu", "/alt/x", "https://x.example/neu/x"),
        ("redirect temp /alt /neu", "/alt", "/neu"),
        ("RedirectPermanent /alt /neu", "/alt", "/neu"),
        ("RedirectTemp /alt /neu", "/alt", "/neu"),
        ("Redirect seeother /alt /neu", "/alt", "/neu"),
        ("Redirect gone /alt", "/alt/x", 410),
        ("Redirect 404 /alt", "/alt", 404),
        ('Redirect "/a b" "/c"', "/a%20b", "/c"),
        (r'Redirect "/a\"b" /c', "/a%22b", "/c"),
        (r"Redirect '/a\\b' /c", "/a%5Cb", "/c"),
        ("Redirect /alt \\\n  /neu", "/alt", "/neu"),
        (r'RedirectMatch 301 "^/blog/\d{4}/(.+)$" "/posts/$1.html"', "/blog/2020/hello", "/posts/hello.html"),
        (r"RedirectMatch \.php$ /no", "/a/b.php", "/no"),
        (r"RedirectMatch (.*)\.php$ https://x.example$1.html", "/a/b.php", "https://x.example/a/b.html"),
        (r"RedirectMatch (.*)\.php$ $1.html", "/a/b.php", "/a/b.html"),
        (r"RedirectMatch ^/a$ /\$1", "/a", "/$1"),
        ("RedirectMatch gone ^/a", "/ab", 410),
        ("<Location /one>\nRedirect permanent https://x.example/\n</Location>", "/one/x", "https://x.example/"),
        ("<IfModule mod_alias.c>\nRedirect /a /b\n</IfModule>\nRedirect /c /d", "/a", "/b"),
        ("RewriteRule ^one$ /1.html [R=301,L]", "/one", "/1.html"),
        ("RewriteRule ^one$ /1.html [R=301,L]", "/ONE", None),
        ("RewriteRule ^one$ /1.html [NC,R]", "/ONE", "/1.html"),
        ("RewriteRule ^one$ 1.html [R]", "/one", "/1.html"),
        ("RewriteBase /base/\nRewriteRule ^one$ 1.html [R]", "/one", "/base/1.html"),
        (r"RewriteRule ^(\w)/(\d)$ /$2/$1 [R=permanent]", "/a/1", "/1/a"),
        ("RewriteRule ^one$ https://x.example/", "/one?q", "https://x.example/?q"),
        ("RewriteRule ^one$ /two? [R]", "/one?q", "/two"),
        ("RewriteRule ^one$ /two?a=b [R]", "/one?q", "/two?a=b"),
        ("RewriteRule ^one$ /two?a=b [R,QSA]", "/one?q", "/two?a=b&q"),
        ("RewriteRule ^one$ /two [R,QSD]", "/one?q", "/two"),
        ("RewriteRule ^one$ /a#b [R]", "/one", "/a%23b"),
        ("RewriteRule ^one$ /a#b [R,NE]", "/one", "/a#b"),
        (r"RewriteRule ^a\ b$ /c [R]", "/a%20b", "/c"),
        ('RewriteRule "^a b$" "/c" [R]', "/a%20b", "/c"),
        ("RewriteRule ^one$ - [F]", "/one", 403),
        ("RewriteRule ^one$ - [G]", "/one", 410),
        ("RewriteRule ^one$ - [R=404]", "/one", 404),
        ("RewriteRule ^one$ /x [R=404]", "/one", 404),
        ("RewriteRule ^one$ /app.html", "/one", "=/app.html"),
        ("RewriteRule ^one$ http://app.example/ [P]", "/one", "=http://app.example/"),
        ("RewriteRule ^one$ /two\nRewriteRule ^two$ /three [R]", "/one", "/three"),
        ("RewriteRule ^one$ /two [L]\nRewriteRule ^one$ /three [R]\nRewriteRule ^two$ /x [R]", "/one", "/x"),
        ("RewriteRule ^one$ /two [END]\nRewriteRule ^two$ /x [R]", "/one", "=/two"),
        ("RewriteRule ^one$ - [L]\nRewriteRule ^ /x [R]", "/one", None),
        ("RewriteRule !^one /x/ [R]\nRewriteRule ^ /y [R]", "/two", "loop"),
        ("RewriteRule !^one /one [R]", "/two", "/one"),
        ("RewriteRule ^a - [S=1]\nRewriteRule ^ab /x [R]\nRewriteRule ^abc /y [R]", "/abc", "/y"),
        ("RewriteRule ^b - [S=1]\nRewriteRule ^ab /x [R]\nRewriteRule ^abc /y [R]", "/abc", "/x"),
        ("RewriteRule ^b - [C]\nRewriteRule ^ab /x [R]\nRewriteRule ^abc /y [R]", "/abc", "/y"),
        ("RewriteRule ^a - [C]\nRewriteRule ^ab /x [R]\nRewriteRule ^abc /y [R]", "/abc", "/x"),
        ("RewriteRule ^one$ /1 [R,E=X:1,CO=a:b:c]", "/one", "/1"),
        ("RewriteEngine off\nRewriteRule ^one$ /1 [R]\nRedirect /one /2", "/one", "/2"),
        ("Redirect /one /2\nRewriteRule ^one$ /1 [R]", "/one", "/1"),
    ],
)
def test_a_directive_of_htaccess_moves_a_url(text: str, url: str, expected: str | int | None) -> None:
    given = rules(text, ".htaccess")
    assert [line for line, problem in problems(given) if problem != "RewriteEngine is off"] == []
    assert lead(given, url) == expected


@pytest.mark.parametrize(
    ("condition", "url", "expected"),
    [
        ("%{REQUEST_URI} ^/one", "/one", "/x"),
        ("%{REQUEST_URI} !^/one", "/one", None),
        ("%{QUERY_STRING} ^id=(\\d+)$", "/one?id=7", "/x?id=7"),
        ("%{QUERY_STRING} ^id=(\\d+)$", "/one?id=x", None),
        ("%{HTTP_HOST} =old.example", OLD + "one", "/x"),
        ("%{HTTP_HOST} =OLD.example [NC]", OLD + "one", "/x"),
        ("%{HTTP_HOST} !=old.example", OLD + "one", None),
        ("%{HTTP_HOST} ^old\\.", "/one", None),
        ("%{HTTP:Host} ^new\\.", "/one", "/x"),
        ("%{SERVER_NAME} ^new\\.", "/one", "/x"),
        ("%{HTTPS} off", "/one", None),
        ("%{HTTPS} !=on", OLD + "one", "/x"),
        ("%{SERVER_PORT} ^443$", "/one", "/x"),
        ("%{SERVER_PORT} 80", OLD + "one", "/x"),
        ("%{REQUEST_SCHEME} https", "/one", "/x"),
        ("%{HTTP:X-Forwarded-Proto} =https", "/one", "/x"),
        ("%{REQUEST_METHOD} POST", "/one", None),
        ("%{THE_REQUEST} \\s/one[?\\s]", "/one?q", "/x?q"),
        ("%{ENV:REDIRECT_STATUS} ^$", "/one", "/x"),
        ("%{IS_SUBREQ} =false", "/one", "/x"),
        ("$1 ^o", "/one", "/x"),
        ("%{REQUEST_FILENAME} !-f", "/one", "/x"),
        ("%{REQUEST_FILENAME} -f", "/one", None),
        ("%{DOCUMENT_ROOT}/there.html -f", "/one", "/x"),
        ("%{DOCUMENT_ROOT}/folder -d", "/one", "/x"),
        ("%{DOCUMENT_ROOT}/folder -f", "/one", None),
        ("%{DOCUMENT_ROOT}/there.html -l", "/one", None),
        ("there.html -s", "/one", "/x"),
        ("%{REQUEST_URI} ^/no [OR]\nRewriteCond %{REQUEST_URI} ^/one", "/one", "/x"),
        ("%{REQUEST_URI} ^/one [OR]\nRewriteCond %{REQUEST_URI} ^/no\nRewriteCond %{REQUEST_URI} e$", "/one", "/x"),
        ("%{REQUEST_URI} ^/no [OR]\nRewriteCond %{REQUEST_URI} ^/nor", "/one", None),
    ],
)
def test_a_condition_that_follows_from_the_url_decides(condition: str, url: str, expected: str | None) -> None:
    given = rules(f"RewriteCond {condition}\nRewriteRule ^(one)$ /x [R]", ".htaccess")
    assert not problems(given)
    assert lead(given, url, ["/there.html", "/folder/"]) == expected


def test_groups_of_the_last_condition_are_percent_numbers() -> None:
    given = rules("RewriteCond %{QUERY_STRING} ^id=(\\d+)\nRewriteRule ^p$ /n/%1? [R]", ".htaccess")
    assert lead(given, "/p?id=12") == "/n/12"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a /b [R]", "its condition in line 2: the value of %{HTTP_COOKIE} cannot be known"),
        ("RewriteCond %{REQUEST_URI} >x\nRewriteRule ^a /b [R]", "its condition in line 2: the comparison '>x' is not supported"),
        ("RewriteCond %{REQUEST_URI} -eq\nRewriteRule ^a /b [R]", "its condition in line 2: the comparison '-eq' is not supported"),
        ("RewriteCond %{REQUEST_FILENAME} x\nRewriteRule ^a /b [R]", "its condition in line 2: the value of %{REQUEST_FILENAME} depends on the server's folders"),
        ("RewriteCond x\nRewriteRule ^a /b [R]", "its condition in line 2: RewriteCond has a test string, a pattern, and perhaps flags"),
        ("RewriteCond a (\nRewriteRule ^a /b [R]", "its condition in line 2: the regular expression cannot be used: missing ): ("),
        ("RewriteRule ^a", "RewriteRule has a pattern, a substitution, and perhaps flags"),
        ("RewriteRule ^(a /b", "the regular expression cannot be used: missing ): ^(a"),
        ("RewriteRule ^a /b R", "flags are in brackets, not 'R'"),
        ("RewriteRule ^a /b [X]", "the flag 'X' is not known"),
        ("RewriteRule ^a /b [N]", "the flag N repeats all rules, which is not supported"),
        ("RewriteRule ^a /b [S=x]", "the flag S has a number of rules"),
        ("RewriteRule ^a /b [R=soon]", "'soon' is no status"),
        ("RewriteRule ^a /%{TIME} [R]", "the value of %{TIME} cannot be known"),
        ("RewriteRule ^a /${m:x} [R]", "'m' is no RewriteMap of this file with a text file (txt:)"),
        (f"RewriteRule ^a /{'${m:' * 60} [R]", "it looks up too many maps"),
        ("Redirect /a", "it needs a path and a URL"),
        ("Redirect gone /a /b", "with status 410 it has a path only"),
        ("Redirect /a ftp://x/", "the target 'ftp://x/' is neither an http URL nor a path that begins with /"),
        ("Redirect http://old.example/ /b", "it matches a path, not a URL"),
        ("Redirect a /b", "'a' is neither a URL nor a path that begins with /"),
        ("RedirectMatch ( /b", "the regular expression cannot be used: missing ): ("),
        ("<If true>\nRedirect /a /b\n</If>", "it is in the section <if> of line 2, which is not supported"),
        ("<Location /a>\nRedirect /b /c\n</Location>", "in <Location> it has a URL only"),
    ],
)
def test_a_directive_that_cannot_be_read_is_named_and_the_others_hold(text: str, reason: str) -> None:
    given = rules(f"Redirect /x /y\n{text}\nRedirect /z /w\n", ".htaccess")
    assert [problem for _, problem in problems(given)] == [reason]
    assert (lead(given, "/x"), lead(given, "/z"), lead(given, "/a")) == ("/y", "/w", None)


def test_a_rule_that_is_chained_to_an_unread_one_is_not_read_either() -> None:
    given = rules("RewriteRule ^a - [C,X]\nRewriteRule ^a /b [R]\nRewriteRule ^a /c [R]", ".htaccess")
    assert problems(given) == [(1, "the flag 'X' is not known"), (2, "it is chained to a rule that could not be read")]
    assert lead(given, "/a") == "/c"
    given = rules("RewriteCond %{TIME} x\nRewriteRule ^a - [C]\nRewriteRule ^a /b [R]", ".htaccess")
    assert [line for line, _ in problems(given)] == [2, 3]


def test_the_paths_of_a_server_begin_with_a_slash_and_its_rules_run_once() -> None:
    given = rules("RewriteRule ^/one$ /two [L]\nRewriteRule ^/two$ /x [R]\nRewriteRule ^three$ /y [R]\n", "site.conf")
    assert (lead(given, "/one"), lead(given, "/two"), lead(given, "/three")) == ("=/two", "/x", None)


def test_a_folder_of_a_server_has_paths_without_a_slash() -> None:
    given = rules("<Directory /var/www>\nRewriteRule ^one$ /x [R]\n</Directory>", "httpd.conf")
    assert lead(given, "/one") == "/x"


HOSTS = """
<VirtualHost *:80>
  ServerName old.example
  ServerAlias *.old.example
  Redirect permanent / https://new.example/
</VirtualHost>
<VirtualHost *:80>
  ServerName http://new.example:80
  RewriteRule ^(.*)$ https://new.example$1 [R=301]
</VirtualHost>
<VirtualHost *:443>
  ServerName new.example
  Redirect /a /b
</VirtualHost>
Redirect /outside /c
"""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (OLD + "x", "/x"),
        ("http://www.old.example/x", "/x"),
        ("http://new.example/x", "/x"),
        ("http://new.example/a", "/b"),
        (NEW + "x", None),
        (NEW + "a", "/b"),
        (NEW + "outside", "/c"),
        ("http://other.example/x", None),
        ("http://old.example:81/x", None),
    ],
)
def test_a_virtual_host_answers_for_its_port_and_names(url: str, expected: str | None) -> None:
    given = rules(HOSTS, "httpd.conf")
    assert not problems(given)
    assert lead(given, url) == expected


def test_a_rewrite_map_that_is_given_too_is_looked_up() -> None:
    text = "RewriteMap moved txt:/etc/apache2/moved.txt\nRewriteCond ${moved:$1|none} !=none\nRewriteRule ^/p/(.*)$ ${moved:$1} [R]\n"
    given = rules(text, "site.conf", ("# key value\na /one\nb /two # note\n", "maps/moved.txt"))
    assert not problems(given)
    assert (lead(given, "/p/a"), lead(given, "/p/b"), lead(given, "/p/c")) == ("/one", "/two", None)
    assert lead(rules(text, "site.conf"), "/p/a") is None


@pytest.mark.parametrize(
    ("line", "url", "expected"),
    [
        ("/a /b", "/a", "/b"),
        ("a b", "/a", "/b"),
        ("http://old.example/a http://new.example/b", OLD + "a", "http://new.example/b"),
        ("/a /b # note", "/a?x", "/b?x"),
        ("# /a /b", "/a", None),
    ],
)
def test_the_keys_of_a_rewrite_map_are_paths(line: str, url: str, expected: str | None) -> None:
    given = rules(line + "\n/q /r\n", "moved.txt")
    assert given.sets[0].format == "rewritemap"
    assert lead(given, url) == expected


def test_a_line_of_a_rewrite_map_that_cannot_be_read_is_named() -> None:
    given = rules(b"/a\n/b /c /d\nx://y /z\n/e x://y\n/\xff /b\n/f /g\n", "moved.txt", form="rewritemap")
    assert problems(given) == [
        (1, "it has no value"),
        (2, "it has more than a key and a value"),
        (3, "'x://y' is no http or https URL"),
        (4, "the target 'x://y' is neither an http URL nor a path that begins with /"),
        (5, "it is not UTF-8: save the file in this charset"),
    ]
    assert lead(given, "/f") == "/g"
