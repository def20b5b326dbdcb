"""How servers find the file for a URL: one row for each server, with the documentation that it follows.

In: the words of `--server`. Out: a `Server`.

    >>> named("nginx,index=home.php").indexes
    ('home.php',)
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from absolve.core.errors import UsageError, similar
from absolve.urls.identity import decoded

_SLASHES: Final = re.compile("/{2,}")


class Server(NamedTuple):
    """The rules by which a URL leads to a file.

    `indexes`: file names for a URL with a final slash. `extensions`: a URL without them leads to the file with one of
    them. `bare_folder`: the URL of a folder without its slash: "redirect", "serve" or "nothing". `case`: letter case of
    paths, "exact" or "ignore". `queries`: "ignore" (a file is there with any query), or "exact". `forced`: a rule of a
    `_redirects` file counts though a file is there. `slashes`: several in a row in a path: "merge" (the same as one) or
    "exact". `html`: the URL of a page with its extension, or of an index with its name: "serve" or "redirect" to the
    URL without. `not_found`: the page in the root that is sent for URLs without a file. `documentation`: a page that
    describes all this.
    """

    indexes: tuple[str, ...] = ("index.html",)
    extensions: tuple[str, ...] = ()
    bare_folder: str = "redirect"
    case: str = "exact"
    queries: str = "ignore"
    forced: bool = False
    slashes: str = "exact"
    html: str = "serve"
    not_found: str = ""
    answers: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    documentation: str = ""

    def path_key(self, path: str) -> str:
        """Return the key that paths to the same file share: for example `/a/b.` for `/a//B%2e` if case is ignored."""
        key = decoded(path)
        key = _SLASHES.sub("/", key) if self.slashes == "merge" else key
        return key.lower() if self.case == "ignore" else key


SERVERS: Final[dict[str, Server]] = {
    # No server: the path of a URL is the path of a file. The index is what RFC 1808 readers expect of a folder.
    "plain": Server(
        indexes=("index.html", "index.htm", "index.shtml"),
        slashes="merge",  # POSIX.1-2017 3.271
        reads=("_redirects", "netlify.toml", ".htaccess", "vercel.json", "staticwebapp.config.json", "web.config"),
        documentation="https://www.rfc-editor.org/rfc/rfc8089#section-2",
    ),
    # index, default index.html; a folder without slash: 301; merge_slashes, default on
    # (https://nginx.org/en/docs/http/ngx_http_core_module.html#merge_slashes).
    "nginx": Server(slashes="merge", documentation="https://nginx.org/en/docs/http/ngx_http_index_module.html"),
    # DirectoryIndex, default index.html; DirectorySlash, default on; MergeSlashes, default on
    # (https://httpd.apache.org/docs/2.4/mod/core.html#mergeslashes).
    "apache": Server(
        slashes="merge", reads=(".htaccess",), documentation="https://httpd.apache.org/docs/2.4/mod/mod_dir.html"
    ),
    # defaultDocument; FrontPage's Server Extensions.
    "iis": Server(
        indexes=("default.htm", "default.asp", "index.htm", "index.html", "iisstart.htm", "default.aspx"),
        case="ignore",
        answers=("/_vti_bin/",),
        reads=("web.config",),
        documentation="https://learn.microsoft.com/en-us/iis/configuration/system.webserver/defaultdocument/",
    ),
    # A page without its extension; a folder without slash: 301; a page with a slash: 404.
    "github-pages": Server(
        extensions=(".html",),
        not_found="404.html",  # "Creating a custom 404 page"
        documentation="https://docs.github.com/en/pages/getting-started-with-github-pages/creating-a-github-pages-site",
    ),
    # "URL normalization": slashes and .html make no difference; paths are served in lower case.
    "netlify": Server(
        extensions=(".html", ".htm"),
        case="ignore",
        html="redirect",
        not_found="404.html",
        answers=("/.netlify/",),  # functions, images, identity
        reads=("_redirects", "netlify.toml"),
        documentation="https://docs.netlify.com/routing/redirects/redirect-options/#trailing-slash",
    ),
    # "Route matching": pages without their extension; "redirects are always followed, regardless of whether an asset
    # matches" (https://developers.cloudflare.com/pages/configuration/redirects/). "Pages will also redirect HTML pages
    # to their extension-less counterparts".
    "cloudflare": Server(
        extensions=(".html",),
        forced=True,
        html="redirect",
        not_found="404.html",  # "Not Found behavior"
        answers=("/cdn-cgi/",),  # https://developers.cloudflare.com/fundamentals/reference/cdn-cgi-endpoint/
        reads=("_redirects",),
        documentation="https://developers.cloudflare.com/pages/configuration/serving-pages/",
    ),
    # The website endpoint; a folder without slash: 302.
    "s3": Server(documentation="https://docs.aws.amazon.com/AmazonS3/latest/userguide/IndexDocumentSupport.html"),
    # The REST API, and the scripts in the root, which most themes name in the head of each page.
    "wordpress": Server(
        slashes="merge",
        answers=("/wp-json/", "/wp-admin/", "/wp-login.php", "/wp-cron.php", "/wp-comments-post.php", "/xmlrpc.php"),
        reads=(".htaccess",),
        documentation="https://developer.wordpress.org/rest-api/key-concepts/",
    ),
}

# Words that change a column -> the column, and its values; None for names of any kind, which may be several.
_CHANGES: Final = {
    "index": ("indexes", None),
    "extension": ("extensions", None),
    "answers": ("answers", None),
    "bare-folder": ("bare_folder", ("redirect", "serve", "nothing")),
    "case": ("case", ("exact", "ignore")),
    "query": ("queries", ("ignore", "exact")),
    "slashes": ("slashes", ("merge", "exact")),
    "html": ("html", ("serve", "redirect")),
}


def configured(server: Server, settings: Any) -> tuple[Server, list[str]]:
    """Return a server as the object in vercel.json, or `hosting` in firebase.json, changes it, with the words for that.

    For example, `{"cleanUrls": True}` gives pages URLs without .html, as `--server extension=html,html=redirect` does.
    """
    words: list[str] = []
    sites = settings.get("hosting", settings) if isinstance(settings, dict) else None
    for one in sites if isinstance(sites, list) else [sites]:
        if isinstance(one, dict) and one.get("cleanUrls") is True:
            words += ["extension=html", "html=redirect"]
        if isinstance(one, dict) and one.get("trailingSlash") is False:
            words.append("bare-folder=serve")
    return (_changed(server, words) if words else server), words


def named(text: str) -> Server:
    """Return a server by its name, perhaps with changes, for example `nginx,index=home.php`; without a name, "plain".

    Raise UsageError for an unknown name or word.
    """
    name, *words = (word.strip() for word in text.split(","))
    if "=" in name:
        name, words = "plain", [name, *words]
    if name not in SERVERS:
        known = ", ".join([*SERVERS, *(f"{word}=..." for word in _CHANGES)])
        raise UsageError(f"--server: unknown server {name!r}: choose from {known}", similar(name, SERVERS))
    return _changed(SERVERS[name], words)


def _changed(server: Server, words: list[str]) -> Server:
    changes: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        column, values = _CHANGES.get(key, ("", ()))
        is_path = value.startswith("/") and "*" not in value
        if not value or (values is not None and value not in values) or (key == "answers" and not is_path):
            known = "|".join(values) if values else "/PATH/" if key == "answers" else "NAME"
            text = f"{key}={known}" if column else ", ".join(f"{one}=..." for one in _CHANGES)
            raise UsageError(f"--server: {word!r} is not {text}")
        if values is None:
            before = changes.get(column, server.answers if key == "answers" else ())
            changes[column] = (*before, f".{value.lstrip('.')}" if key == "extension" else value)
        else:
            changes[column] = value
    return server._replace(**changes)
