"""What a real nginx and a real Apache answer, in a matrix of hosts, queries and files: the readers compute the same."""

import http.client
from contextlib import AbstractContextManager, closing
from pathlib import Path
from urllib.parse import quote, urljoin

import pytest

from absolve.rules import forms, writing
from absolve.rules.outcomes import Rules
from tests.shapes.real_servers import running

HOSTS = ("old.example", "new.example", "www.old.example")
FILES = [
    *("index.html", "index.php", "a/index.html", "b/index.html", "c/index.html", "d/index.html", "e/index.html", "f/index.html", "g/index.html"),
    *("h/index.html", "kept.html", "page.html", "docs/kept.html", "blog/index.html"),
]
PATHS = (
    *("/", "/?p=7", "/?p=8", "/kept.html", "/kept.html?x=1", "/page.html", "/page.html?x=1", "/gone.html", "/none.html", "/none/"),
    *("/a/", "/a/?x=1", "/a/index.html", "/a/index.html?x=1", "/b/", "/b/?x=1", "/c/", "/c/index.html", "/d/", "/e/", "/e/?x=1", "/f/"),
    *("/f/index.html", "/g/", "/g/index.html", "/h/", "/h/index.html", "/docs/x.html", "/docs/kept.html", "/docs/none/?x=1", "/blog/", "/old/x?y=1", "/r/x"),
)
NGINX = """
map $request_uri $uri_map { /h/index.html /mapped; /?p=7 /seven; }
map $uri $path_map { /g/index.html /by-path; }
server {
    listen PORT; server_name new.example; root ROOT; absolute_redirect off;
    location = /kept.html { return 301 /new-host; }
}
server {
    listen PORT; server_name old.example *.old.example; root ROOT; absolute_redirect off;
    if ($uri_map) { return 301 $uri_map; }
    if ($path_map) { return 301 $path_map; }
    if ($request_uri = /page.html) { return 301 /without-a-query; }
    rewrite ^/d/index\\.html$ http://new.example/d permanent;
    rewrite ^/old/(.*)$ /moved/$1 redirect;
    location = /a/index.html { return 301 /a/; }
    location = /b/index.html { return 301 http://new.example/b$is_args$args; }
    location = /c/index.html { return 410; }
    location = /e/index.html { return 301 http://new.example$request_uri; }
    location ~ ^/f/index\\.html$ { return 302 http://new.example$uri; }
    location /docs/ { return 301 http://new.example/manual$request_uri; }
    location = /gone.html { return 410; }
    location ^~ /blog/ { }
    location /r/ { if (!-e $request_filename) { rewrite ^/r/(.*)$ /rewritten/$1 permanent; } }
}
"""
APACHE = """
<Directory ROOT>
    AllowOverride All
    Require all granted
</Directory>
<VirtualHost PORT>
    ServerName new.example
    DocumentRoot ROOT
    Redirect 301 /kept.html /new-host
</VirtualHost>
<VirtualHost PORT>
    ServerName old.example
    ServerAlias www.old.example
    DocumentRoot ROOT
    RewriteEngine On
    Redirect 301 /a/index.html /a/
    Redirect 301 /b/index.html http://new.example/b
    Redirect gone /c/index.html
    RedirectMatch 302 ^/f/index\\.html$ http://new.example/f
    RewriteRule ^/d/index\\.html$ http://new.example/d [R=301,L]
    RewriteCond %{THE_REQUEST} /g/index\\.html
    RewriteRule ^/g/index\\.html$ /g/ [R=301,L]
    RewriteRule ^/h/index\\.html$ /h/ [R=301,NS,L]
    RewriteCond %{QUERY_STRING} ^p=7$
    RewriteRule ^/$ /seven? [R=301,L]
    RewriteRule ^/old/(.*)$ /moved/$1 [R=302,L]
    Redirect 301 /docs http://new.example/manual/docs
    Redirect gone /gone.html
</VirtualHost>
"""
# What a file of Apache's folders begins with, and what is behind the program that gets all URLs without a file.
WORDPRESS = """RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
"""
FRONTS = {
    "WordPress": WORDPRESS,
    "with the path": "RewriteCond %{REQUEST_FILENAME} !-d\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule ^(.*)$ index.php/$1 [L]\n",
    "Symfony": "RewriteCond %{REQUEST_FILENAME} -f [OR]\nRewriteCond %{REQUEST_FILENAME} -d\nRewriteRule ^ - [L]\nRewriteRule ^ index.php [L]\n",
}
BEHIND = """Redirect 301 /gone.html /alias/
RewriteRule ^r/(.*)$ /rewritten/$1 [R=301,L]
RewriteRule ^kept\\.html$ /file [R=301,L]
RewriteRule ^none/?$ /nowhere [R=301,L]
"""


HTACCESS = """
Redirect 301 /query.php?id=3 /never
Redirect 301 /fragment#a /never
Redirect 301 /escaped%20path /never
RedirectMatch 301 ^/match\\.php\\?id=3$ /never
RedirectMatch 301 ^/some\\.php(\\?.*)?$ /some
RedirectMatch 301 ^/group/(.*)$ /g/$1
RedirectMatch 301 "^/a blank$" /b1
RedirectMatch 301 /any /anywhere
Redirect 301 "/in quotes" /q
Redirect 301 /Case /c
Redirect 301 /has-query /t?x=1
Redirect 301 /slash/ /s/
Redirect 301 /prefix /p
Redirect permanent /absolute https://x.example
Redirect gone /gone
Redirect 404 /hidden
Redirect seeother /see /s
RedirectTemp /temporary /t
RedirectPermanent /permanent /u
RewriteEngine On
RewriteRule ^rewrite\\.php\\?id=3$ /never [R=301,L]
RewriteCond %{REQUEST_URI} ^/uri\\.php\\?id=3
RewriteRule ^ /never [R=301,L]
RewriteCond %{QUERY_STRING} ^id=3$
RewriteRule ^by-query\\.php$ /found? [R=301,L]
RewriteCond %{THE_REQUEST} \\?id=9
RewriteRule ^by-request\\.php$ /found? [R=301,L]
RewriteCond %{HTTP_HOST} ^www\\.x\\.example$ [NC]
RewriteRule ^(.*)$ http://x.example/$1 [R=301,L]
RewriteRule ^two\\ words$ /w [R=301,L]
RewriteRule ^two%20escaped$ /never [R=301,L]
RewriteRule ^/with-slash$ /never [R=301,L]
RewriteRule ^temporary2$ /t2 [R,L]
RewriteRule ^kept$ /k [R=308,L]
RewriteRule ^gone2$ - [G]
RewriteRule ^forbidden$ - [F]
RewriteRule ^appended$ /a?a=1 [R=301,QSA,L]
RewriteRule ^replaced$ /a?a=1 [R=301,L]
RewriteRule ^dropped$ /a [R=301,QSD,L]
"""
ASKED = (
    *("/query.php?id=3", "/query.php", "/fragment", "/escaped%20path", "/match.php?id=3", "/some.php?id=3", "/some.php"),
    *("/group/a%20b", "/group/a?b", "/a%20blank", "/so/any/x", "/in%20quotes", "/case", "/Case/x", "/Casex", "/has-query"),
    *("/has-query?y=2", "/slash", "/slash/", "/slash/a", "/prefix/a/b", "/prefix?x=1", "/prefix%2Fx", "/absolute/y"),
    *("/gone", "/gone/x", "/hidden", "/see", "/temporary", "/permanent", "/rewrite.php?id=3", "/uri.php?id=3"),
    *("/by-query.php?id=3", "/by-query.php?id=4", "/by-request.php?id=9", "/two%20words", "/two%20escaped", "/with-slash"),
    *("/temporary2?x", "/kept", "/gone2", "/forbidden", "/appended?b=2", "/replaced?b=2", "/dropped?b=2"),
)


@pytest.mark.parametrize(("server", "text"), [("nginx", NGINX), ("apache2", APACHE)])
def test_a_server_answers_each_host_path_and_query_as_the_reader_computes(server: str, text: str, tmp_path: Path) -> None:
    text = text.replace("ROOT", str(site(tmp_path)))
    name = {"nginx": "nginx.conf", "apache2": "apache.conf"}[server]
    with running(server, tmp_path / "server", text) as url:
        answers = {(host, path): moved(url, host, path) for host in HOSTS for path in PATHS}
    assert computed(name, text.replace("PORT", "80" if server == "nginx" else "*:80"), HOSTS) == answers


@pytest.mark.parametrize("names", [
    ("*.x.example", r"~^(?<n>a|b)\.x\.example$", r"~^WWW\..*$", "www.x.example x.example"),
    ("www.*", "*.example", "www.x.*", "*.a.x.example"),
    (r"~^[ab]\.x\.example$", r"~^a\.", "_", ".x.example"),
])
def test_nginx_asks_exact_names_then_the_longest_wildcard_then_patterns(names: tuple[str, ...], tmp_path: Path) -> None:
    text = "".join(f"server {{ listen PORT; server_name {name}; return 301 http://new.example/{number}; }}\n" for number, name in enumerate(names))
    hosts = ("www.x.example", "x.example", "a.x.example", "b.a.x.example", "www.x.other", "www.q.example", "zzz.test")
    with running("nginx", tmp_path / "server", text) as url:
        answers = {(host, "/a"): moved(url, host, "/a") for host in hosts}
    assert computed("nginx.conf", text.replace("PORT", "80"), hosts, ("/a",)) == answers


@pytest.mark.parametrize("server", ["nginx", "apache2"])
def test_a_written_rule_for_characters_that_are_not_seen_applies(server: str, tmp_path: Path) -> None:
    form, name = {"nginx": ("nginx", "nginx.conf"), "apache2": ("apache", "apache.conf")}[server]
    olds = [f"http://old.example/{quote(one)}" for one in ("a\u202egnp.exe", "b\u2028/", "c\\d", "e\\f/", "é\u200b")]
    pairs = [(old, f"http://new.example/{number}/") for number, old in enumerate(olds)]
    text = "\n".join(writing.rule_text(form, Rules([], "http://old.example/", "http://new.example/"), *one, prefix=one[0].endswith("/")) or "" for one in pairs)
    around = "<VirtualHost PORT>\nRewriteEngine On\n%s\n</VirtualHost>\n" if form == "apache" else "server { listen PORT; %s }"
    with running(server, tmp_path / "server", around % text) as url:
        answers = {(host, path): moved(url, host, path) for host in HOSTS[:1] for path in (old[18:] for old in olds)}
    assert answers == {("old.example", old[18:]): (301, new) for old, new in pairs}
    given = Rules([forms.read(Path(name), text.encode())], "http://old.example/", "http://new.example/")
    assert [given.chain(old).final for old, _ in pairs] == [new for _, new in pairs]


@pytest.mark.parametrize("front", FRONTS)
def test_a_rewrite_rule_behind_a_front_controller_never_applies_to_a_url_without_a_file(front: str, tmp_path: Path) -> None:
    htaccess = f"RewriteEngine On\n{FRONTS[front]}{BEHIND}"
    with of_folder(htaccess, tmp_path) as url:
        answers = {("old.example", path): moved(url, "old.example", path) for path in PATHS}
    assert answers["old.example", "/r/x"] == (None, None)
    assert answers == computed(".htaccess", htaccess, HOSTS[:1])


def test_apache_answers_each_request_as_the_reader_of_htaccess_computes(tmp_path: Path) -> None:
    given = Rules([forms.read(Path(".htaccess"), HTACCESS.encode())], None, "http://old.example/")
    moves = [(path, given.move(f"http://old.example{path}")) for path in ASKED]
    with of_folder(HTACCESS, tmp_path) as url:
        answers = {path: answer(url, "old.example", path) for path in ASKED}
    assert {path: (move.status, move.target) if move is not None else (404, None) for path, move in moves} == answers


def test_a_redirect_that_apache_never_applies_is_not_read() -> None:
    rules = forms.read(Path(".htaccess"), HTACCESS.encode()).rules
    never = [rule.text for rule in rules if rule.problem is not None and rule.problem.startswith("it never applies")]
    others = ("RewriteRule ^rewrite", "RewriteRule ^/with-slash")
    lines = HTACCESS.splitlines()
    assert never == [*lines[1:5], *(line for line in lines if line.startswith(others))]


def of_folder(htaccess: str, folder: Path) -> AbstractContextManager[str]:
    """Serve a site whose root has this .htaccess by a real Apache."""
    root = site(folder)
    (root / ".htaccess").write_text(htaccess)
    text = APACHE.partition("<VirtualHost")[0].replace("ROOT", str(root)) + f"DocumentRoot {root}\n"
    return running("apache2", folder / "server", text)


def site(folder: Path) -> Path:
    root = folder / "root"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("a file")
    for one in (root, *root.parents[:4]):  # the children of a server of root are another user
        one.chmod(one.stat().st_mode | 0o55)
    return root


def answer(url: str, host: str, path: str) -> tuple[int, str | None]:
    """Return the status and the Location."""
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)) as client:
        client.request("GET", path, headers={"Host": host})
        response = client.getresponse()
        return response.status, response.getheader("Location")


def moved(url: str, host: str, path: str) -> tuple[int | None, str | None]:
    """Return the status and the target of a redirect, or the status 410; without a rule there is neither."""
    status, location = answer(url, host, path)
    if location is None and status != 410:
        return None, None
    return status, urljoin(f"http://{host}{path}", location) if location is not None else None


def computed(name: str, text: str, hosts: tuple[str, ...], paths: tuple[str, ...] = PATHS) -> dict[tuple[str, str], tuple[int | None, str | None]]:
    found: dict[tuple[str, str], tuple[int | None, str | None]] = {}
    for host in hosts:  # each is the new one: all of them have these files
        given = Rules([forms.read(Path(name), text.encode())], None, f"http://{host}/")
        held = {f"http://{host}/{one}" for file in FILES for one in (file, file.removesuffix("index.html"))}
        given.indexes = ("index.html",)

        def exists(url: str, held: set[str] = held) -> bool:
            return url.partition("?")[0] in held

        for path in paths:
            move = given.move(f"http://{host}{path}", exists)
            found[host, path] = (None, None) if move is None else (move.status, move.target)
    return found
