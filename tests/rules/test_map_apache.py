"""Apache configurations: mod_alias and mod_rewrite."""

import pytest
from moving import NEW, OLD, lead, problems, rules


@pytest.mark.parametrize(("text", "urls"), [
    ("Redirect 301 /alt /neu", {"/other": None, "/alternative": None, "/alt": "/neu", "/alt/x?q=1": "/neu/x?q=1"}),
    ("Redirect /alt/ /neu/", {"/alt": None}),
    ("Redirect permanent /alt https://x.example/neu", {"/alt/x": "https://x.example/neu/x"}),
    ("redirect temp /alt /neu", {"/alt": "/neu"}),
    ("RedirectPermanent /alt /neu", {"/alt": "/neu"}),
    ("RedirectTemp /alt /neu", {"/alt": "/neu"}),
    ("Redirect seeother /alt /neu", {"/alt": "/neu"}),
    ("Redirect gone /alt", {"/alt/x": 410}),
    ("Redirect 404 /alt", {"/alt": 404}),
    ('Redirect "/a b" "/c"', {"/a%20b": "/c"}),
    (r'Redirect "/a\"b" /c', {"/a%22b": "/c"}),
    (r"Redirect '/a\\b' /c", {"/a%5Cb": "/c"}),
    ("Redirect /alt \\\n  /neu", {"/alt": "/neu"}),
    (r'RedirectMatch 301 "^/blog/\d{4}/(.+)$" "/posts/$1.html"', {"/blog/2020/hello": "/posts/hello.html"}),
    (r"RedirectMatch \.php$ /no", {"/a/b.php": "/no"}),
    (r"RedirectMatch (.*)\.php$ https://x.example$1.html", {"/a/b.php": "https://x.example/a/b.html"}),
    (r"RedirectMatch (.*)\.php$ $1.html", {"/a/b.php": "/a/b.html"}),
    (r"RedirectMatch ^/a$ /\$1", {"/a": "/$1"}),
    ("RedirectMatch gone ^/a", {"/ab": 410}),
    ("<Location /one>\nRedirect permanent https://x.example/\n</Location>", {"/one/x": "https://x.example/"}),
    ("<IfModule mod_alias.c>\nRedirect /a /b\n</IfModule>\nRedirect /c /d", {"/a": "/b"}),
    ("RewriteRule ^one$ /1.html [R=301,L]", {"/one": "/1.html", "/ONE": None}),
    ("RewriteRule ^one$ /1.html [NC,R]", {"/ONE": "/1.html"}),
    ("RewriteRule ^one$ 1.html [R]", {"/one": "/1.html"}),
    ("RewriteBase /base/\nRewriteRule ^one$ 1.html [R]", {"/one": "/base/1.html"}),
    (r"RewriteRule ^(\w)/(\d)$ /$2/$1 [R=permanent]", {"/a/1": "/1/a"}),
    ("RewriteRule ^one$ https://x.example/", {"/one?q": "https://x.example/?q"}),
    ("RewriteRule ^one$ /two? [R]", {"/one?q": "/two"}),
    ("RewriteRule ^one$ /two?a=b [R]", {"/one?q": "/two?a=b"}),
    ("RewriteRule ^one$ /two?a=b [R,QSA]", {"/one?q": "/two?a=b&q"}),
    ("RewriteRule ^one$ /two [R,QSD]", {"/one?q": "/two"}),
    ("RewriteRule ^one$ /a#b [R]", {"/one": "/a%23b"}),
    ("RewriteRule ^one$ /a#b [R,NE]", {"/one": "/a#b"}),
    (r"RewriteRule ^a\ b$ /c [R]", {"/a%20b": "/c"}),
    ('RewriteRule "^a b$" "/c" [R]', {"/a%20b": "/c"}),
    ("RewriteRule ^one$ - [F]", {"/one": 403}),
    ("RewriteRule ^one$ - [G]", {"/one": 410}),
    ("RewriteRule ^one$ - [R=404]", {"/one": 404}),
    ("RewriteRule ^one$ /x [R=404]", {"/one": 404}),
    ("RewriteRule ^one$ - [L]\nRewriteRule ^ /x [R]", {"/one": None}),
    ("RewriteRule ^one$ - [L]\nRedirect /one /two", {"/one": "/two"}),
    ("RewriteRule ^one$ - [E=X:1]\nRewriteRule ^one$ /x [R]", {"/one": "/x"}),
    (r"RewriteRule \.php$ /x [R]", {"/a/b.php": "/x"}),
    ("RewriteCond %{QUERY_STRING} ^id=(\\d+)\nRewriteRule ^p$ /n/%1? [R]", {"/p?id=12": "/n/12"}),
    (r"RewriteRule (.*)\.php$ /$1.html [R]", {"/a/b.php": "/a/b.html"}),
    ("RewriteRule ^a$|^b$ /x [R]", {"/b": "/x"}),
    ("RewriteRule ^(a|b)$ /x/$1 [R]", {"/b": "/x/b"}),
    ("RewriteRule ^a$ https://%{HTTP_HOST}/x%{REQUEST_URI} [R]", {"/a?b": "/x/a?b"}),
    ("RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule ^(.+)$ https://x.example/$1 [R]", {
        "/a": "https://x.example/a", "/there.html": None, "/folder": None,
    }),
    ("RewriteRule ^one$ /1 [R,E=X:1,CO=a:b:c]", {"/one": "/1"}),
    ("RewriteEngine off\nRewriteRule ^one$ /1 [R]\nRedirect /one /2", {"/one": "/2"}),
    ("Redirect /one /2\nRewriteRule ^one$ /1 [R]", {"/one": "/1"}),
])
def test_a_directive_of_htaccess_moves_a_url(text: str, urls: dict[str, str | int | None]) -> None:
    given = rules(text, ".htaccess")
    assert [line for line, problem in problems(given) if problem != "RewriteEngine is off"] == []
    assert {url: lead(given, url, ["/there.html", "/folder/"]) for url in urls} == urls


@pytest.mark.parametrize(("condition", "urls"), [
    ("%{REQUEST_URI} ^/one", {"/one": "/x"}),
    ("%{REQUEST_URI} !^/one", {"/one": None}),
    ("%{QUERY_STRING} ^id=(\\d+)$", {"/one?id=7": "/x?id=7", "/one?id=x": None}),
    ("%{HTTP_HOST} =old.example", {OLD + "one": "/x"}),
    ("%{HTTP_HOST} =OLD.example [NC]", {OLD + "one": "/x"}),
    ("%{HTTP_HOST} !=old.example", {OLD + "one": None}),
    ("%{HTTP_HOST} ^old\\.", {"/one": None}),
    ("%{HTTP:Host} ^new\\.", {"/one": "/x"}),
    ("%{SERVER_NAME} ^new\\.", {"/one": "/x"}),
    ("%{HTTPS} off", {"/one": None}),
    ("%{HTTPS} !=on", {OLD + "one": "/x"}),
    ("%{REQUEST_SCHEME} https", {"/one": "/x"}),
    ("%{HTTP:X-Forwarded-Proto} =https", {"/one": "/x"}),
    ("%{THE_REQUEST} \\s/one[?\\s]", {"/one?q": "/x?q"}),
    ("%{REQUEST_URI} ^/no [OR]\nRewriteCond %{REQUEST_URI} ^/one", {"/one": "/x"}),
    ("%{REQUEST_URI} ^/one [OR]\nRewriteCond %{REQUEST_URI} ^/no\nRewriteCond %{REQUEST_URI} e$", {"/one": "/x"}),
    ("%{REQUEST_URI} ^/no [OR]\nRewriteCond %{REQUEST_URI} ^/nor", {"/one": None}),
])
def test_a_condition_that_follows_from_the_url_decides(condition: str, urls: dict[str, str | None]) -> None:
    given = rules(f"RewriteCond {condition}\nRewriteRule ^(one)$ /x [R]", ".htaccess")
    assert not problems(given)
    assert {url: lead(given, url) for url in urls} == urls


INTERNAL = "it changes what the server sends without a redirect, which is not followed"


@pytest.mark.parametrize(("text", "reason"), [
    ("RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a /b [R]", "its condition in line 2: the value of %{HTTP_COOKIE} cannot be known"),
    ("RewriteCond %{REQUEST_URI} >x\nRewriteRule ^a /b [R]", "its condition in line 2: the comparison '>x' is not supported"),
    ("RewriteCond %{REQUEST_URI} -eq\nRewriteRule ^a /b [R]", "its condition in line 2: the comparison '-eq' is not supported"),
    ("RewriteCond %{REQUEST_FILENAME} x\nRewriteRule ^a /b [R]", "its condition in line 2: the value of %{REQUEST_FILENAME} cannot be known"),
    ("RewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule ^a /b [R]", "of the tests of files only !-f together with !-d is read"),
    ("RewriteCond %{REQUEST_METHOD} POST\nRewriteRule ^a /b [R]", "its condition in line 2: the value of %{REQUEST_METHOD} cannot be known"),
    ("RewriteCond $1 x\nRewriteRule ^(a) /b [R]", "its condition in line 2: the value of $1 cannot be known"),
    ("RewriteRule ^a /b", INTERNAL),
    ("RewriteRule ^a http://app.example/ [P]", INTERNAL),
    ("RewriteRule !^a /b [R]", "a pattern that must not match is not read"),
    ("RewriteCond x\nRewriteRule ^a /b [R]", "its condition in line 2: RewriteCond has a test string, a pattern, and perhaps flags"),
    ("RewriteCond %{QUERY_STRING} (\nRewriteRule ^a /b [R]", "its condition in line 2: the regular expression cannot be used: missing ): ("),
    ("RewriteRule ^a", "RewriteRule has a pattern, a substitution, and perhaps flags"),
    ("RewriteRule ^(a /b", "the regular expression cannot be used: missing ): ^(a"),
    ("RewriteRule ^a /b R", "flags are in brackets, not 'R'"),
    ("RewriteRule ^a /b [X]", "the flag 'X' is not known"),
    ("RewriteRule ^a /b [N]", "the flag N repeats all rules, which is not supported"),
    ("RewriteRule ^a - [C]", "the flag C ties rules together, which is not supported"),
    ("RewriteRule ^a - [S=1]", "the flag S skips rules, which is not supported"),
    ("RewriteRule ^a /b [R=soon]", "'soon' is no status"),
    ("RewriteRule ^a /%{TIME} [R]", "the value of %{TIME} cannot be known"),
    ("RewriteRule ^a /${m:x} [R]", "it looks up a RewriteMap: give the text of that map as a map of its own"),
    ("Redirect /a", "it needs a path and a URL"),
    ("Redirect gone /a /b", "with status 410 it has a path only"),
    ("Redirect /a ftp://x/", "the target 'ftp://x/' is neither an http URL nor a path that begins with /"),
    ("Redirect http://old.example/ /b", "it matches a path, not a URL"),
    ("Redirect a /b", "'a' is neither a URL nor a path that begins with /"),
    ("RedirectMatch ( /b", "the regular expression cannot be used: missing ): ("),
    ("<If true>\nRedirect /a /b\n</If>", "it is in the section <if> of line 2, which is not supported"),
    ("<Location /a>\nRedirect /b /c\n</Location>", "in <Location> it has a URL only"),
])
def test_a_directive_that_cannot_be_read_is_named_and_the_others_hold(text: str, reason: str) -> None:
    given = rules(f"Redirect /x /y\n{text}\nRedirect /z /w\n", ".htaccess")
    assert [problem for _, problem in problems(given)] == [reason]
    assert (lead(given, "/x"), lead(given, "/z"), lead(given, "/a")) == ("/y", "/w", None)


def test_a_rule_that_is_chained_to_an_unread_one_is_not_read_either() -> None:
    given = rules("RewriteRule ^a - [C,X]\nRewriteRule ^a /b [R,C]\nRewriteRule ^a /d [R]\nRewriteRule ^a /c [R]", ".htaccess")
    chained = "it is chained to a rule that could not be read"
    assert problems(given) == [(1, "the flag C ties rules together, which is not supported"), (2, chained), (3, chained)]
    assert lead(given, "/a") == "/c"


@pytest.mark.parametrize(("text", "sure"), [
    ("RewriteRule ^q /r [R]", True),
    ("RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^z /b [R]", False),
    ("RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^q /b [R]", True),
    ("RewriteCond %{HTTP_HOST} ^other\nRewriteRule ^z /b [X]", True),
    ("RewriteRule . /index.php", True),  # Redirect is asked for the old path: see test_real_servers
    ("RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\nRewriteRule ^w /index.php", True),
    ("RewriteRule ^w /index.php", False),
    ("RewriteRule ^a(?=b) /b [R]", False),
    ("RedirectMatch ^/a(?=b) /b", False),
    ("<If true>\nRedirect /z /b\n</If>", False),
    ("Redirect /z?a /b", True),
    ("RewriteEngine off\nRewriteRule ^z /index.php", True),
])
def test_an_answer_that_an_unread_directive_may_change_is_not_sure(text: str, sure: bool) -> None:
    given = rules(f"{text}\nRedirect /z /w\n", ".htaccess")
    given.exists = {NEW + "w"}.__contains__
    found = given.chain(NEW + "z")
    assert (found.final, found.is_sure) == (NEW + "w", sure)


def test_the_paths_of_a_server_begin_with_a_slash_but_not_in_its_folders() -> None:
    text = "RewriteRule ^/two$ /x [R]\nRewriteRule ^three$ /y [R]\nRewriteRule ^/?four$ /z [R]\n"
    given = rules(f"{text}<Directory /var/www>\nRewriteRule ^one$ /x [R]\n</Directory>", "site.conf")
    assert [lead(given, url) for url in ("/two", "/three", "/four", "/one")] == ["/x", None, "/z", "/x"]


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


OF_HOSTS: dict[str, str | None] = {
    OLD + "x": "/x", "http://www.old.example/x": "/x", "http://new.example/x": "/x", "http://new.example/a": "/b",
    NEW + "x": None, NEW + "a": "/b", NEW + "outside": "/c", "http://other.example/x": None,
    "http://old.example:81/x": None,
}


def test_a_virtual_host_answers_for_its_port_and_names() -> None:
    given = rules(HOSTS, "httpd.conf")
    assert not problems(given)
    assert {url: lead(given, url) for url in OF_HOSTS} == OF_HOSTS


@pytest.mark.parametrize(("line", "url", "expected"), [
    ("/a /b", "/a", "/b"),
    ("a b", "/a", "/b"),
    ("http://old.example/a http://new.example/b", OLD + "a", "http://new.example/b"),
    ("/a /b # note", "/a?x", "/b?x"),
    ("# /a /b", "/a", None),
])
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
        (5, "it is not UTF-8: save the file as UTF-8"),
    ]
    assert lead(given, "/f") == "/g"
