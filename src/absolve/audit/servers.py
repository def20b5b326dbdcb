"""How servers find the file for a URL: one row for each server, with the documentation that it follows.

In: the name of a server. Out: its `Server`; `--index` and the like change single columns.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from absolve.core.errors import UsageError


class Server(NamedTuple):
    """The rules by which a URL leads to a file.

    `indexes`: names of files that a URL with a final slash leads to. `extensions`: a URL without them leads to the file
    with one of them. `bare_folder`: the URL of a folder without its slash: "redirect" or "nothing". `case`: letter case
    of paths, "exact" or "ignore". `queries`: "ignore" (a file is there with any query), or "exact". `forced`: a rule of
    a `_redirects` file counts though a file is there. `documentation`: where all this is described.
    """

    indexes: tuple[str, ...] = ("index.html",)
    extensions: tuple[str, ...] = ()
    bare_folder: str = "redirect"
    case: str = "exact"
    queries: str = "ignore"
    forced: bool = False
    documentation: str = ""


DEFAULT: Final = "plain"

SERVERS: Final[dict[str, Server]] = {
    # No server: the path of a URL is the path of a file. The index is what RFC 1808 readers expect of a folder.
    "plain": Server(
        indexes=("index.html", "index.htm"), documentation="https://www.rfc-editor.org/rfc/rfc8089#section-2"
    ),
    # index, default index.html; a folder without slash: 301.
    "nginx": Server(documentation="https://nginx.org/en/docs/http/ngx_http_index_module.html"),
    # DirectoryIndex, default index.html; DirectorySlash, default on.
    "apache": Server(documentation="https://httpd.apache.org/docs/2.4/mod/mod_dir.html"),
    # A page without its extension; a folder without slash: 301; a page with a slash: 404.
    "github-pages": Server(
        extensions=(".html",),
        documentation="https://docs.github.com/en/pages/getting-started-with-github-pages/creating-a-github-pages-site",
    ),
    # "URL normalization": slashes and .html make no difference; paths are served in lower case.
    "netlify": Server(
        extensions=(".html", ".htm"),
        case="ignore",
        documentation="https://docs.netlify.com/routing/redirects/redirect-options/#trailing-slash",
    ),
    # "Route matching": pages without their extension; "redirects are always followed, regardless of whether an asset
    # matches" (https://developers.cloudflare.com/pages/configuration/redirects/).
    "cloudflare": Server(
        extensions=(".html",),
        forced=True,
        documentation="https://developers.cloudflare.com/pages/configuration/serving-pages/",
    ),
    # The website endpoint; a folder without slash: 302.
    "s3": Server(documentation="https://docs.aws.amazon.com/AmazonS3/latest/userguide/IndexDocumentSupport.html"),
}

_WORDS: Final = {"bare_folder": ("redirect", "nothing"), "case": ("exact", "ignore"), "queries": ("ignore", "exact")}


def named(
    name: str,
    *,
    index: str | None = None,
    extensions: str | None = None,
    bare_folder: str | None = None,
    case: str | None = None,
    queries: str | None = None,
) -> Server:
    """Return the server of a name, with single columns replaced: names separated by commas, or a word.

    Raise UsageError for an unknown name or word.
    """
    if name not in SERVERS:
        raise UsageError(f"unknown server {name!r}: choose from {', '.join(SERVERS)}")
    changes: dict[str, object] = {}
    if index is not None:
        changes["indexes"] = _names(index)
    if extensions is not None:
        changes["extensions"] = tuple(f".{one.lstrip('.')}" for one in _names(extensions))
    for column, word in (("bare_folder", bare_folder), ("case", case), ("queries", queries)):
        if word is not None:
            if word not in _WORDS[column]:
                raise UsageError(f"{column} must be one of {', '.join(_WORDS[column])}, not {word!r}")
            changes[column] = word
    return SERVERS[name]._replace(**changes)  # type: ignore[arg-type]  # checked above


def _names(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())
