"""A site has moved behind nginx or Apache: each fault of their configuration is found, and nothing that is right."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from audited import OLD, Audit, audited, links, page, written

from tests.shapes.real_servers import running

NEW = "http://new.example/"


class Rule(NamedTuple):
    """A rule of a server as it should be and with a fault, an old URL that it moves, where to, what is found of it.

    `new` is the path at the new site, "" for a URL that should be gone; `host` has the rule.
    """

    right: str
    wrong: str
    old: str
    new: str
    found: str
    host: str = "old"


NGINX = [
    Rule("location = /about.html {{ return 301 {new}about/; }}", "location = /about.html {{ return 302 {new}about/; }}",
         "about.html", "about/", "its redirect has status 302, not 301"),
    Rule(r"rewrite ^/blog/(\d+)/([a-z-]+)\.html$ {new}posts/$2/ permanent;", r"rewrite ^/blog/(\d+)/([a-z-]+)\.html$ {new}posts/$1/ permanent;",
         "blog/2019/hello.html", "posts/hello/", "status 404"),
    Rule("if ($moved) {{ return 301 {new}$moved; }}", "", "team.html", "people.html", "status 404"),
    Rule("location ^~ /docs/ {{ rewrite ^/docs/(.*)$ {new}manual/$1 permanent; }}", "location ^~ /docs/ {{ return 301 {new}manual$request_uri; }}",
         "docs/intro.html", "manual/intro.html", "status 404"),
    Rule("location ~* ^/products/(?<name>.+)$ {{ return 301 {new}store/$name; }}", "location ~ ^/products/(?<name>.+)$ {{ return 301 {new}store/$name; }}",
         "Products/chair.html", "store/chair.html", "status 404"),
    Rule("location /files/ {{ return 410; }}", "location /files/ {{ try_files $uri /index.html; }}",
         "files/gone.pdf", "", "nothing was expected there"),
    Rule("location = /search {{ return 301 {new}find.html$is_args$args; }}", "rewrite ^/search$ {new}find.html? permanent;",
         "search?q=chairs", "find.html?q=chairs", "it leads to http://new.example/find.html"),
    Rule("location = /shop {{ return 301 {new}store/; }}", "location = /shop {{ return 301 /shop/; }} location = /shop/ {{ return 301 /shop; }}",
         "shop", "store/", "its redirects lead in a circle"),
    Rule("location = /contact.html {{ return 301 {new}contact/; }}", "location = /contact.html {{ return 301 {new}contact; }}",
         "contact.html", "contact/", "it takes 2 redirects"),
    Rule("location = /press.html {{ return 301 {new}press.html; }}", "location = /press.html {{ return 301 http://stage.example/press.html; }}",
         "press.html", "press.html", "it leads to http://stage.example/press.html"),
    Rule("location = /jobs.html {{ return 301 {new}jobs.html; }}", "location = /jobs.html {{ return 301 {new}; }}",
         "jobs.html", "jobs.html", "it leads to http://new.example/"),
    Rule("location / {{ return 301 {new}gallery$request_uri; }}", "", "1.html", "gallery/1.html", "status 404"),
    Rule("location = /feed {{ try_files /feed.xml =404; }}", "", "feed", "feed", "status 404", "new"),
]  # fmt: skip
NOT_FOUND = "it leads to http://new.example/404.html"  # by the last of the faults
APACHE = [
    Rule("Redirect permanent /about.html {new}about/", "Redirect /about.html {new}about/", "about.html", "about/", "its redirect has status 302, not 301"),
    Rule(r"RedirectMatch 301 ^/blog/(\d+)/([a-z-]+)\.html$ {new}posts/$2/", r"RedirectMatch 301 ^/blog/(\d+)/([a-z-]+)\.html$ {new}posts/$1/",
         "blog/2019/hello.html", "posts/hello/", "status 404"),
    Rule('RewriteCond ${{moved:$1}} !=""\nRewriteRule ^/(.+)$ {new}${{moved:$1}} [R=301,L]', "", "team.html", "people.html", NOT_FOUND),
    Rule("Redirect permanent /docs {new}manual", "Redirect permanent /docs/ {new}manual", "docs/intro.html", "manual/intro.html", "status 404"),
    Rule("RewriteRule ^/products/(.+)$ {new}store/$1 [NC,R=301,L]", "RewriteRule ^/products/(.+)$ {new}store/$1 [R=301,L]",
         "Products/chair.html", "store/chair.html", NOT_FOUND),
    Rule("<Location /files>\nRedirect gone\n</Location>", "<Directory {folder}/old/files>\nFallbackResource /index.html\n</Directory>",
         "files/gone.pdf", "", "nothing was expected there"),
    Rule("RewriteRule ^/search$ {new}find.html [R=301,L]", "RewriteRule ^/search$ {new}find.html? [R=301,L]",
         "search?q=chairs", "find.html?q=chairs", "it leads to http://new.example/find.html"),
    Rule("RewriteCond %{{QUERY_STRING}} ^id=(\\d+)$\nRewriteRule ^/page\\.php$ {new}p/%1/? [R=301,L]", "RewriteCond %{{QUERY_STRING}} ^id=(\\w)$\nRewriteRule ^/page\\.php$ {new}p/%1/? [R=301,L]",
         "page.php?id=17", "p/17/", NOT_FOUND),
    Rule("RedirectMatch 301 ^/shop$ {new}store/", "RedirectMatch 301 ^/shop$ /shop/\nRedirectMatch 301 ^/shop/$ /shop",
         "shop", "store/", "its redirects lead in a circle"),
    Rule("Redirect permanent /contact.html {new}contact/", "Redirect permanent /contact.html {new}contact", "contact.html", "contact/", "it takes 2 redirects"),
    Rule("AliasMatch ^/archive/(.*)$ {folder}/old/pictures/$1", "", "archive/1.html", "archive/1.html", "status 404", "new"),
    Rule("<Directory {folder}/new>\nOptions +MultiViews\n</Directory>", "", "kept", "kept", "status 404", "new"),
    Rule("Redirect permanent /jobs.html {new}jobs.html", "ErrorDocument 404 {new}404.html", "jobs.html", "jobs.html", NOT_FOUND),
    Rule("RewriteRule ^/feed$ /feed.xml [L]", "", "feed", "feed", "status 404", "new"),
]  # fmt: skip

OF_NGINX = """
map $uri $moved {{ default ""; /team.html people.html; ~^/staff/(?<who>.+)$ people.html; }}
server {{ listen PORT; server_name new.example; root {folder}/new; {host_new} }}
server {{ listen PORT; server_name stage.example; root {folder}/new; }}
server {{
    listen PORT default_server; server_name old.example; root {folder}/old; index index.html;
    location = /feed {{ return 301 http://new.example/feed; }}
    {host_old}
}}
"""
OF_APACHE = """
<Directory {folder}>
    Require all granted
</Directory>
<VirtualHost PORT>
    ServerName old.example
    DocumentRoot {folder}/old
    RewriteEngine on
    RewriteMap moved txt:{folder}/moved.txt
    RedirectMatch 301 ^/(kept|feed|archive/.*)$ http://new.example/$1
    {host_old}
</VirtualHost>
<VirtualHost PORT>
    ServerName new.example
    DocumentRoot {folder}/new
    RewriteEngine on
    {host_new}
</VirtualHost>
"""
SERVERS = [("nginx", NGINX, OF_NGINX), ("apache2", APACHE, OF_APACHE)]
NAMES = "about/index posts/hello/index people manual/intro store/chair find store/index contact/index press jobs p/17/index gallery/1 404 kept"
NEW_SITE: Mapping[str, str] = {
    **{f"{name}.html": page(f"<h1>{name}</h1><p>A page with words of its own about {name}") for name in NAMES.split()},
    "feed.xml": "<rss/>",
}
OLD_SITE = {"old/index.html": page("old"), "old/pictures/1.html": page("1"), "old/files/x": "x", "moved.txt": "team.html people.html\n"}


def live(server: str, rules: list[Rule], config: str, folder: Path, *, asked: str = "old", **texts: str) -> Audit:
    """Audit a site that has moved behind a server with a configuration."""
    moved = [f"{OLD}{one.old},{NEW}{one.new},301\n" if one.new else f"{OLD}{one.old},,410\n" for one in rules]
    files = {"urls.txt": "".join(f"{OLD}{one.old}\n" for one in rules), "map.csv": "old,new,status\n" + "".join(moved)}
    written(folder, {**OLD_SITE, **files})
    site = {"index.html": links(*NEW_SITE), **NEW_SITE}
    hosts = {host: text.format(new=NEW, folder=folder) for host, text in texts.items()}
    with running(server, folder / "server", config.format(folder=folder, **hosts)) as url:
        resolved = [word for host in ("old", "new", "stage") for word in ("--resolve", f"{host}.example={url}")]
        given = ("--old", folder / "urls.txt", "--old-url", OLD, "--map", folder / "map.csv", "--live", asked)
        return audited(folder, site, *given, *resolved, "--retries", "0", url=NEW)


def differences(done: Audit) -> dict[str, str]:
    """Return how old URLs differ from what was expected; the target of a rule that is nowhere is no difference."""
    lost = {row["url"]: row["detail"] for row in done.tables["answers"] if row["kind"] == "old" and done.url(row["url"].removeprefix(OLD))["verdict"] == "lost"}
    differs = {row["url"]: row["detail"] for row in done.tables["pages"] if row["verdict"] == "differs"}
    return {url.removeprefix(OLD): detail for url, detail in (lost | differs).items()}


@pytest.mark.parametrize(("server", "rules", "config"), SERVERS)
def test_faults_of_real_configurations_are_found(server: str, rules: list[Rule], config: str, tmp_path: Path) -> None:
    def texts(field: str) -> dict[str, str]:
        return {f"host_{host}": "\n".join(getattr(one, field) for one in rules if one.host == host) for host in ("old", "new")}

    right = live(server, rules, config, tmp_path / "right", **texts("right"))
    assert {row["url"].removeprefix(OLD) for row in right.tables["answers"] if row["kind"] == "old"} == {one.old for one in rules}
    assert differences(right) == {}
    found = differences(live(server, rules, config, tmp_path / "wrong", **texts("wrong")))
    expected = {one.old: one.found for one in rules}
    assert {url: expected[url] if detail.startswith(expected[url]) else detail for url, detail in found.items()} == expected


SOFT = [("nginx", OF_NGINX, "error_page 404 =200 /404.html;"), ("apache2", OF_APACHE, "FallbackResource /404.html")]


@pytest.mark.parametrize(("server", "config", "fault"), SOFT)
def test_a_server_with_a_page_for_everything_is_found(server: str, config: str, fault: str, tmp_path: Path) -> None:
    right = {"nginx": "location = /a.html {{ return 301 {new}nowhere.html; }}", "apache2": "Redirect permanent /a.html {new}nowhere.html"}
    done = live(server, [Rule("", "", "a.html", "nowhere.html", "")], config, tmp_path, asked="all", host_old=right[server], host_new=fault)
    assert done.url("a.html")["verdict"] == "lost"
    assert [(row["status"], row["detail"]) for row in done.tables["answers"] if row["url"] == f"{OLD}a.html"] == [
        (200, "the server answers the page for what is not there, with status 200 (soft 404)")
    ]
    wrong = {row["url"]: row["detail"] for row in done.tables["answers"] if row["kind"] == "new" and row["verdict"] != "works"}
    assert wrong.keys() == {f"{NEW}404.html"}
