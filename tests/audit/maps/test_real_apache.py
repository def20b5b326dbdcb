"""What a real Apache answers, for each directive that the reader applies. Skipped where no Apache is installed."""

import http.client
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from absolve.audit import maps

APACHE = shutil.which("apache2", path="/usr/sbin:/usr/bin") or shutil.which("httpd")
MODULES = Path("/usr/lib/apache2/modules")
pytestmark = pytest.mark.skipif(
    APACHE is None or not (MODULES / "mod_rewrite.so").is_file(), reason="there is no Apache (Debian: apache2-bin)"
)

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


@pytest.fixture(scope="module")
def apache() -> Iterator[int]:
    """Serve HTACCESS by a real Apache; yield its port. Its children are another user where the tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield from served(Path(name))


def served(folder: Path) -> Iterator[int]:
    (folder / "htdocs").mkdir()
    (folder / "htdocs/.htaccess").write_text(HTACCESS, "utf-8")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    modules = [f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in ("mpm_event", "authz_core", "alias", "rewrite")]
    lines = [
        *(f'ServerRoot "{folder}"', f'PidFile "{folder}/pid"', f"Listen 127.0.0.1:{port}", *modules),
        *("ServerName localhost", f'DocumentRoot "{folder}/htdocs"', f'ErrorLog "{folder}/log"'),
        "<Directory />\nAllowOverride All\nRequire all granted\n</Directory>\n",
    ]
    (folder / "httpd.conf").write_text("\n".join(lines), "utf-8")
    server = subprocess.Popen([str(APACHE), "-f", str(folder / "httpd.conf"), "-DFOREGROUND"])
    try:
        wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            pytest.skip("this Apache does not start here")
        time.sleep(0.05)
    pytest.skip("this Apache does not answer")


def answer(port: int, path: str) -> tuple[int, str | None]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        client.request("GET", path, headers={"Host": f"localhost:{port}"})
        response = client.getresponse()
        return response.status, response.getheader("Location")


def test_apache_answers_each_request_as_the_reader_computes(apache: int) -> None:
    site = f"http://localhost:{apache}"
    given = maps.Rules([maps.read(Path(".htaccess"), HTACCESS.encode())], None, f"{site}/")
    moves = [(path, given.move(f"{site}{path}")) for path in ASKED]
    computed = {path: (move.status, move.target) if move is not None else (404, None) for path, move in moves}
    assert computed == {path: answer(apache, path) for path in ASKED}


def test_a_redirect_that_apache_never_applies_is_not_read() -> None:
    rules = maps.read(Path(".htaccess"), HTACCESS.encode()).rules
    never = [rule.text for rule in rules if rule.problem is not None and rule.problem.startswith("it never applies")]
    others = ("RewriteRule ^rewrite", "RewriteRule ^/with-slash")
    lines = HTACCESS.splitlines()
    assert never == [*lines[1:5], *(line for line in lines if line.startswith(others))]
