"""The entry page of a mirror: its pages by host and title, and what is missing. It opens from file://.

In: the working copy of a map. Out: the bytes of an HTML page, the same for the same map.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from absolve.core.model import PACKAGE_ROOT
from absolve.core.printable import printable

if TYPE_CHECKING:
    from absolve.mirror.map import Working

MARK: Final = b'<meta name="generator" content="absolve mirror">'
_PAGES: Final = 500  # entry pages of a host that are listed
_HOSTS: Final = 200
_MISSING: Final = 500
_LONGEST: Final = 200  # characters of a title or a URL
_CONTROL: Final = re.compile(r"[\0-\x1f\x7f-\x9f]")
_FOLDER: Final = "/_"  # of files without a URL
_SAFE: Final = "/!$&*+,;=@-._~"

_HEAD: Final = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
%s
<meta name="viewport" content="width=device-width"><title>%s</title>
<style>
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d5dae0; --link: #0550ae; --page: #fff }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ec; --soft: #9aa4af; --line: #3a424b; --link: #7ab7ff; --page: #15191d }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
body { color: var(--text); background: var(--page) } small { color: var(--soft) } a { color: var(--link) }
h1 { font-size: 1.6em } h2 { font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; width: 100%% } td { overflow-wrap: anywhere }
td, th { padding: .2em .6em .2em 0; text-align: left; vertical-align: top }
td:last-child, th:last-child { text-align: right; white-space: nowrap; color: var(--soft) }
</style></head><body>
"""


def page(working: Working) -> bytes:
    """Return the entry page."""
    documents, hosts = _count(working)
    missing = next(working.rows("SELECT count(*) FROM missing"))[0]
    title = f"Mirror of {_named(hosts[0][0])}" if len(hosts) == 1 else f"Mirror of {len(hosts)} hosts"
    out = [_HEAD % (MARK.decode(), html.escape(title)), f"<h1>{html.escape(title)}</h1>\n"]
    text = f"{documents:,} document{'s'[: documents != 1]}, {missing:,} URL{'s'[: missing != 1]} missing"
    out.append(f'<p>{text}. The map is <a href="mirror.sqlite">mirror.sqlite</a>.</p>\n')
    for host, number in hosts[:_HOSTS]:
        out += _host(working, host, number)
    if len(hosts) > _HOSTS:
        out.append(f"<p>{len(hosts) - _HOSTS:,} more hosts.</p>\n")
    out += _missing(working, missing)
    out.append("</body></html>\n")
    return "".join(out).encode("utf-8", "replace")


def _count(working: Working) -> tuple[int, list[tuple[str, int]]]:
    """Return the number of documents, and each host with its number of pages, most pages first."""
    documents = next(working.rows("SELECT count(*) FROM resources WHERE path IS NOT NULL"))[0]
    query = "SELECT url FROM resources JOIN pages USING (path) WHERE title IS NOT NULL"
    hosts = Counter(_host_of(url) for (url,) in working.rows(query))
    return documents, sorted(hosts.items(), key=lambda entry: (-entry[1], entry[0]))


def _host_of(url: str) -> str:
    """Return the host of a URL; of a page without one the name of the message or package that it is in, and a slash."""
    host, _, path = url.partition("://")[2].partition("/")
    return host or f"/{path.partition('/')[0]}"


def _host(working: Working, host: str, number: int) -> list[str]:
    """Return the section of one host: its start page, then the pages to which most pages link."""
    query = """\
SELECT url, path, title, linked FROM resources JOIN pages USING (path)
WHERE title IS NOT NULL AND (url GLOB ? OR url GLOB ?)
ORDER BY url NOT IN (?, ?), linked DESC, title, url LIMIT ?"""
    schemes = ("package", "file") if host.startswith("/") else ("http", "https")
    prefixes = [f"{scheme}://{_glob(host)}/*" for scheme in schemes]
    rows = list(working.rows(query, *prefixes, f"http://{host}/", f"https://{host}/", _PAGES))
    out = [f"<h2>{html.escape(_named(host))}</h2>\n<table><tr><th>Page</th><th>Linked from</th></tr>\n"]
    for url, path, title, linked in rows:
        shown_url = path if host.startswith("/") else url
        name = _shown(title or shown_url)
        shown = f'<a href="{quote(path, safe=_SAFE)}">{name}</a><br><small>{_shown(shown_url)}</small>'
        out.append(f"<tr><td>{shown}</td><td>{linked:,}</td></tr>\n")
    out.append("</table>\n")
    if number > len(rows):
        out.append(f"<p>{number - len(rows):,} more pages.</p>\n")
    return out


def _named(host: str) -> str:
    """Return a host for people; pages of a folder have none."""
    return host if not host.startswith("/") else printable(unquote(host[1:])) if host != _FOLDER else "files"


def _shown(text: str) -> str:
    """Return a title or a URL as HTML, cut to a readable length; what changes the direction of text ends with it.

    Control characters, which a terminal would obey, are replaced.
    """
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return f"<bdi>{html.escape(text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...')}</bdi>"


def _glob(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _missing(working: Working, number: int) -> list[str]:
    if not number:
        return []
    query = "SELECT url, kind, count FROM missing ORDER BY count DESC, url, kind LIMIT ?"
    out = ["<h2>Missing</h2>\n<table><tr><th>URL</th><th>Kind</th><th>Pages</th></tr>\n"]
    for url, kind, count in working.rows(query, _MISSING):
        out.append(f"<tr><td>{_shown(url.removeprefix(PACKAGE_ROOT))}</td><td>{kind}</td><td>{count:,}</td></tr>\n")
    out.append("</table>\n")
    if number > _MISSING:
        out.append(f"<p>{number - _MISSING:,} more.</p>\n")
    return out
