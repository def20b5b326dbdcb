"""The entry page of a mirror: start page, list of pages, missing files, and faults. It opens from file://.

In: the working copy of a map. Out: the bytes of an HTML page, the same for the same map. The page makes no requests:
its style, its script and the texts for its search are inside it.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections import Counter, defaultdict
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.core.model import PACKAGE_ROOT
from absolve.core.printable import masked
from absolve.document.companions import index_rank
from absolve.mirror import paths, words
from absolve.mirror.words import ELSEWHERE, LINKS, MISSING, NOTES, PAGES
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.encodings.charsets import Charset
    from absolve.mirror.map import Working
    from absolve.mirror.words import Absent, Lacking


MARK: Final = b'<meta name="generator" content="absolve mirror">'
_EXAMPLES: Final = 20  # listed places of each kind of note
_SOURCES: Final = 5
_OPENED: Final = (  # media types of documents that people open; office programs have longer names
    *("application/pdf", "application/epub+zip", "application/postscript", "application/rtf", "application/msword"),
    *("application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
)
_KINDS: Final = {
    "image": "picture",
    "media": "sound or video",
    "stylesheet": "style sheet",
    "script": "script",
    "font": "font",
    "frame": "frame",
    "navigation": "page or file",
    "metadata": "page or file",
}

_HEAD: Final = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
{mark}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,"><title>{title}</title>
<style>{style}</style></head><body>
<header><h1>{title}</h1>
"""
_SEARCH: Final = """\
<form role="search" hidden><label for="search">Search titles and text</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-describedby="reach">
<p id="reach" class="soft">{reach}</p><p id="found" role="status"></p></form>
<ol id="results"></ol>
"""


def page(working: Working, start: str | None = None) -> bytes:
    """Return the entry page. `start` is the URL of the page to begin with; by default it is the most likely one."""
    pages = _pages(working)
    lacking = working.lacking
    order: list[Page] = []
    listed = list(lines(pages[:MOST], order))
    top = [_head(working, pages), _first_page(working, pages, start), *_origin(working, len(pages), lacking)]
    out = [*top, "</header><main>\n"]
    found = dict(working.rows("SELECT path, text FROM texts")) if len(pages) > 1 else {}
    if len(pages) > 1:
        out += ["<h2>Pages</h2>\n", _search(found), '<div id="pages">\n', *listed, "</div>\n"]
        out += _more(len(pages) - len(order), PAGES)
    out += _opened(working)
    out += [*_missing(lacking), *_notes(working, "What does not work from a disk", words.LIMITS)]
    out += [*_notes(working, "Adjustments for offline use", words.CHANGES), _FOOT]
    out += _script(found, order) if len(pages) > 1 else []
    return "".join([*out, "</body></html>\n"]).encode("utf-8", "replace")


_FOOT: Final = (
    '</main><footer class="soft"><p>Made by absolve. <code>absolve mirror --check FOLDER</code> tests this copy; '
    "for programs, <code>mirror.sqlite</code> has all of this.</p></footer>\n"
)


def _pages(working: Working) -> list[Page]:
    query = "SELECT url, path, title, linked FROM resources JOIN pages USING (path) WHERE title IS NOT NULL"
    return [Page(*row) for row in working.rows(f"{query} ORDER BY url")]


def _head(working: Working, pages: list[Page]) -> str:
    hosts = set(map(host, pages))
    name = shown(hosts.pop()) if len(hosts) == 1 else f"{len(hosts):,} hosts"
    labels = [label for (label,) in working.rows("SELECT DISTINCT label FROM sources LIMIT 2")]
    if not any(words.host_of(one.url) for one in pages) and len(labels) == 1:  # pages without URLs
        name = shown(labels[0])
    title = f"Mirror of {name}"
    style, script = _file("index.css"), _file("index.js")
    policy = f"default-src 'none'; img-src data:; style-src {_source(style)}; script-src {_source(script)}"
    policy += "; base-uri 'none'; form-action 'none'"
    return _HEAD.format(mark=MARK.decode(), policy=policy, title=title, style=style)


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


# --- the front door ---------------------------------------------------------------------------------------------------


def _first_page(working: Working, pages: list[Page], start: str | None) -> str:
    found = _start(working, pages, start)
    if found is None:
        return "<p>This copy has no pages.</p>\n"
    where = found.url if words.host_of(found.url) else found.path.removeprefix("_/")
    return f'<p class="start">Start: {link(found)}<small>{shown(where)}</small></p>\n'


def _start(working: Working, pages: list[Page], start: str | None) -> Page | None:
    """Return the page to begin with: the one that is named, the home page of the largest host, or the first one.

    In a folder that is the uppermost one, in a capture the first record.
    """
    hosts = Counter(words.host_of(one.url) for one in pages)
    largest = max(hosts, key=lambda host: (hosts[host], host), default="")
    query = """\
SELECT url, source, "offset", number, source IN (SELECT source FROM places) FROM plan WHERE path IS NOT NULL"""
    captured = {url: (bool(is_file), *place) for url, *place, is_file in working.rows(query)}
    named = _end(working, start)

    def rank(one: Page) -> tuple[object, ...]:
        is_file, *place = captured.get(one.url, (False, 0, 0, 0))
        is_home = one.url.partition("://")[2].partition("/")[2] == "" and words.host_of(one.url) == largest
        depth = (one.path.count("/"), "/index." not in f"/{one.path}", -one.linked) if is_file else (0, False, 0)
        return one.url != named, not is_home, *depth, *place

    return min(pages, key=rank, default=None)


def _end(working: Working, start: str | None) -> str | None:
    """Return the URL to which the user's URL leads after redirects."""
    url = (normal(start) or start).partition("#")[0] if start is not None else None
    redirect = next(working.rows("SELECT redirect FROM resources WHERE url = ?", url), (None,))[0]
    return redirect.partition("#")[0] if redirect else url


def _origin(working: Working, pages: int, lacking: Lacking) -> Iterator[str]:
    """Yield the mirror's origin and date, and its numbers."""
    query = """\
SELECT label, min(date), max(date), max(name <> '') FROM plan JOIN sources ON sources.number = source
WHERE path IS NOT NULL GROUP BY label ORDER BY min(sources.number)"""
    rows = list(working.rows(query))
    days = sorted(date[:10] for row in rows for date in row[1:3] if date)
    when = " to ".join(f"<time>{shown(day)}</time>" for day in dict.fromkeys((days[0], days[-1]))) if days else ""
    is_captured = any(row[3] for row in rows)
    names = [f"<b>{shown(label)}</b>" for label, *_ in rows]
    more = f" and {len(names) - _SOURCES:,} more" if len(names) > _SOURCES else ""
    sentences = [f"{'Captured' if is_captured else 'Files of'} {when}."] if when else []
    sentences += [f"Made from {', '.join(names[:_SOURCES])}{more}."] if names else []
    yield f"<p>{' '.join(sentences)}</p>\n"
    yield f'<ul class="counts">{"".join(f"<li>{one}</li>" for one in _numbers(working, pages, lacking))}</ul>\n'


def _numbers(working: Working, pages: int, lacking: Lacking) -> Iterator[str]:
    """Yield the counts that matter to a reader, each with a link to its section."""
    yield PAGES.counted(pages)
    yield words.OTHERS.counted(working.documents()[0] - pages)
    yield from (f'<a href="#missing">{one}</a>' for one in words.lacking(lacking))
    if not (lacking.missing or next(working.rows("SELECT 1 FROM notes WHERE code = 'unsevered'"), None)):
        yield words.NOTHING
    if lacking.elsewhere:
        yield f'<a href="#elsewhere">{ELSEWHERE.counted(lacking.elsewhere)}</a>'
    noted = _noted(working)
    codes = (code for code in words.LIMITS if code in noted)
    yield from (f'<a href="#{code}">{words.count_notes(code, noted[code])}</a>' for code in codes)


def _noted(working: Working) -> dict[str, int]:
    return dict(working.rows("SELECT code, count(*) FROM notes GROUP BY code"))


# --- search -----------------------------------------------------------------------------------------------------------


def _search(found: dict[str, str]) -> str:
    cut = sum(text.endswith(CUT) for text in found.values())
    reach = f"Only the beginning of {cut:,} long page{'s' * (cut > 1)} is searched." if cut else "All text is searched."
    return _SEARCH.format(reach=reach)


def _script(found: dict[str, str], order: list[Page]) -> Iterator[str]:
    """Yield the texts of the pages in the order of their links, and the script."""
    data = json.dumps([found.get(one.path, "") for one in order], ensure_ascii=False, separators=(",", ":"))
    yield f'<script type="application/json" id="texts">{data.replace("<", chr(92) + "u003c")}</script>\n'
    yield f"<script>{_file('index.js')}</script>\n"


def _opened(working: Working) -> Iterator[str]:
    """Yield the list of other documents that people open by themselves, such as PDF."""
    query = f"""\
SELECT url, path, count(*) OVER () FROM resources WHERE path IS NOT NULL AND path NOT IN (
    SELECT path FROM pages WHERE title IS NOT NULL)
AND (media_type IN {_OPENED} OR media_type LIKE 'application/vnd.%document%') ORDER BY url LIMIT ?"""  # noqa: S608
    found = list(working.rows(query, words.LISTED))
    if found:
        yield "<h2>Other documents</h2>\n<ul>\n"
        for url, path, _ in found:
            yield f"<li>{link(Page(url, path, ''))}<small>{shown(path.removeprefix('_/'))}</small></li>\n"
        yield "</ul>\n"
        yield from _more(found[0][2] - len(found), words.DOCUMENTS)


# --- what is missing, and what does not work --------------------------------------------------------------------------


def _missing(lacking: Lacking) -> Iterator[str]:
    if lacking.missing:
        yield f'<h2 id="missing">{", ".join(words.lacking(lacking))}</h2>\n<p>{MISSING}</p>\n'
        yield "<details><summary>The list</summary><ul>\n"
        for one in lacking.files:
            kinds = " and ".join(dict.fromkeys(_KINDS.get(kind, kind) for kind in one.kinds))
            url = shown(one.url.removeprefix(PACKAGE_ROOT))
            where = f', first in <a href="{href(one.first)}">{shown(one.first)}</a>' if one.first else ""
            yield f"<li><bdi>{url}</bdi><br><small>{kinds}, for {words.FILES.counted(one.number)}{where}</small></li>\n"
        yield "</ul></details>\n"
        yield from _more(lacking.missing - words.LISTED, words.FILES)
    if lacking.elsewhere:
        yield f'<h2 id="elsewhere">{ELSEWHERE.counted(lacking.elsewhere)}</h2>\n<p>{ELSEWHERE.why}</p>\n'
        hosts: dict[str, list[Absent]] = defaultdict(list)
        for one in lacking.links:
            hosts[words.host_of(one.url)].append(one)
        for host, every in sorted(hosts.items(), key=lambda item: (-len(item[1]), item[0])):
            yield f"<details><summary>{shown(host)} <span>{LINKS.counted(len(every))}</span></summary><ul>\n"
            yield from (f"<li><bdi>{shown(one.url)}</bdi></li>\n" for one in every)
            yield "</ul></details>\n"
        yield from _more(lacking.elsewhere - words.LISTED, LINKS)


def _notes(working: Working, heading: str, codes: Iterable[str]) -> Iterator[str]:
    counts = _noted(working)
    if not any(code in counts for code in codes):
        return
    yield f"<h2>{heading}</h2>\n"
    for code in codes:
        if code in counts:
            heading = words.count_notes(code, counts[code])
            yield f'<h3 id="{code}">{heading}</h3>\n<p>{_with_code(NOTES[code].why)}</p>\n'
            yield from _examples(working, code, counts[code])


def _examples(working: Working, code: str, number: int) -> Iterator[str]:
    query = 'SELECT path, line, text FROM notes WHERE code = ? ORDER BY path, line, "column", text LIMIT ?'
    yield f"<details><summary>{'Where' if number <= _EXAMPLES else f'The first {_EXAMPLES} places'}</summary><ul>\n"
    for path, line, text in working.rows(query, code, _EXAMPLES):
        place = f'<a href="{href(path)}">{shown(path)}</a>{f", line {line:,}" if line else ""}: ' if path else ""
        yield f"<li>{place}<bdi>{shown(text)}</bdi></li>\n"
    yield "</ul></details>\n"


def _with_code(text: str) -> str:
    """Return text as HTML, with a command in backquotes as `<code>`: for example, `use <code>x</code>`."""
    return "".join(f"<code>{part}</code>" if odd % 2 else part for odd, part in enumerate(html.escape(text).split("`")))


def _more(number: int, noun: words.Words) -> Iterator[str]:
    if number > 0:
        yield f"<p>{number:,} more {noun.one if number == 1 else noun.many}.</p>\n"


# --- the pages as a tree by host and path -----------------------------------------------------------------------------

MOST: Final = 50_000  # pages that are listed
_DEEPEST: Final = 8  # folders in each other
_LONGEST: Final = 200  # characters of a title or a URL
_NO_HOST: Final = frozenset({"package", "file"})
_SMALL: Final = 40  # pages of a tree that is open at first
_LARGE: Final = 300  # lines of the only host, above which it is closed: what follows would be far below
_DIGITS: Final = re.compile("([0-9]+)")
_NAMED: Final = "files"
# Control characters, and characters that change the direction of text around them (UAX #9): a name could show another.
_HARMFUL: Final = re.compile("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SAFE: Final = "/!$&*+,;=@-._~"


class Page(NamedTuple):
    """A page of a mirror: its URL, the path of its file, its title, and how many pages link to it."""

    url: str
    path: str
    title: str
    linked: int = 0


class _Folder:
    """A folder of the tree: pages by the last part of their path, and folders by name."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, Page]] = []
        self.folders: dict[str, _Folder] = {}
        self.number = 0


def shown(text: str) -> str:
    """Return a title or a URL as text in HTML, cut to a readable length; harmful characters are replaced."""
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return html.escape(masked(_HARMFUL.sub("\N{REPLACEMENT CHARACTER}", text)))


def href(path: str) -> str:
    """Return the reference to a file of the mirror from its entry page, as the value of an attribute."""
    return html.escape(quote(path, safe=_SAFE))


def link(page: Page) -> str:
    """Return the link to a page, by its title, or by its name if it has none."""
    return f'<a href="{href(page.path)}">{shown(page.title.strip() or parts(page)[-1] or page.url)}</a>'


def host(page: Page) -> str:
    """Return the first part of a page's path in the tree: its host."""
    scheme, _, rest = page.url.partition("://")
    return parts(page)[0] if scheme in _NO_HOST else rest.partition("?")[0].partition("/")[0]


def parts(page: Page) -> tuple[str, ...]:
    """Return a page's path in the tree: for example, `("h", "a", "b.html")` for `http://h/a/b.html`; or its file's."""
    scheme, _, rest = page.url.partition("://")
    if scheme in _NO_HOST:
        first, *inside = page.path.split("/")
        return (first if first != "_" else _NAMED, *inside) if inside else (_NAMED, first)
    host, *inside = rest.partition("?")[0].split("/")
    query = rest[len(rest.partition("?")[0]) :]
    *folders, name = (paths.decoded(one) if "%" in one else one for one in inside or [""])
    return (host, *folders, f"{name}{query}")


def lines(pages: Iterable[Page], order: list[Page]) -> Iterator[str]:
    """Yield the lines of the tree; `order` gets the pages in the order of their links."""
    root = _Folder()
    for page in pages:
        _add(root, page)
    is_open = root.number <= _SMALL
    hosts = sorted(root.folders.items(), key=lambda item: (-item[1].number, item[0]))
    for host, folder in hosts:
        is_only = len(hosts) == 1 and _most(folder) <= _LARGE
        yield from _folder(host, folder, order, opens=is_open or is_only, inner=is_open)


def _most(folder: _Folder) -> int:
    """Return how many lines an open folder shows at first."""
    while len(folder.folders) == 1 and not folder.pages:
        (folder,) = folder.folders.values()
    return len(folder.pages) + len(folder.folders)


def _in_order(name: str) -> tuple[object, ...]:
    """Return a sort key that orders `p2` before `p10`."""
    parts = _DIGITS.split(name[:_LONGEST])
    return tuple(int(part) if odd % 2 else part for odd, part in enumerate(parts)), name


def _add(root: _Folder, page: Page) -> None:
    *folders, name = parts(page)
    name = "/".join((*folders[_DEEPEST:], name))
    at = root
    at.number += 1
    for one in folders[:_DEEPEST]:
        at = at.folders.setdefault(one, _Folder())
        at.number += 1
    at.pages.append((name, page))


def _folder(name: str, folder: _Folder, order: list[Page], *, opens: bool, inner: bool) -> Iterator[str]:
    while len(folder.folders) == 1 and not folder.pages:
        ((below, folder),) = folder.folders.items()
        name += f"/{below}"
    state = " open" if opens else ""
    yield f"<details{state}><summary>{shown(name)} <span>{PAGES.counted(folder.number)}</span></summary><ul>\n"
    pages = sorted(folder.pages, key=lambda one: (_in_order(one[0]), one[1]))
    for last, page in sorted(pages, key=lambda one: index_rank(one[0] or "index.html") is None):
        order.append(page)
        beside = f"<small>{shown(last)}</small>" if last and page.title.strip() else ""
        yield f"<li>{link(page)}{beside}</li>\n"
    for below, inside in sorted(folder.folders.items(), key=lambda item: _in_order(item[0])):
        yield "<li>"
        yield from _folder(below, inside, order, opens=inner, inner=inner)
        yield "</li>\n"
    yield "</ul></details>\n"


# --- the text of a page: approximate and quick, for people who search -------------------------------------------------

READ: Final = 1 << 16  # bytes of a page that are read
_MOST: Final = 8000  # bytes of the text of a page that are kept,
_ALL: Final = 16 << 20  # and of all pages: many pages have shares of it,
_LEAST: Final = 200  # but no smaller ones
_PIECE: Final = 4096  # bytes that are read at once: the text of most pages is cut early
CUT: Final = " \N{HORIZONTAL ELLIPSIS}"
# A search skips to the first byte, as long as it is one without case.
_BODY: Final = re.compile(rb"<(?i:body)")
_HIDDEN: Final = re.compile(rb"<((?i:!--|(?:s(?:cript|tyle)|t(?:itle|extarea|emplate))(?=[\t\n\f\r />])))")
_ENDS: Final = {b"!--": re.compile(rb"-->")} | {
    name: re.compile(rb"<(?i:/%s)" % name) for name in (b"script", b"style", b"title", b"textarea", b"template")
}
_SHOWN: Final = re.compile(rb">([^<]+)")


def share_of(pages: int) -> int:
    """Return how many bytes of text are kept of each of a number of pages."""
    return max(_LEAST, min(_MOST, _ALL // max(pages, 1)))


def text_of(data: bytes, charset: Charset, most: int) -> str:
    """Return the start of a page's text: for example, `One two` for `<p>One <b>two`; longer texts end with CUT."""
    read, codec = data[:READ], charset.codec
    if not charset.transparent:
        read, codec = read.decode(codec, "replace").encode(), "utf-8"
    shown: list[bytes] = []
    left = most
    for piece in _pieces(read):
        if words := b" ".join(_SHOWN.findall(piece)).split():
            shown.append(b" ".join(words))
            left -= len(shown[-1]) + 1
            if left < 0:
                break
    text = unescape(b" ".join(shown)[:most].decode(codec, "ignore")).strip()
    return text + CUT if left < 0 or len(data) > READ else text


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield the text between comments and hidden elements. Linear: each search begins where the last one ended."""
    body = _BODY.search(data)
    at = body.start() if body else 0
    while at < len(data):
        end = data.find(b"<", at + _PIECE) % (len(data) + 1)  # -1: the end
        hidden = _HIDDEN.search(data, at, end)
        yield data[at : hidden.start() if hidden else end]
        found = _ENDS[hidden[1].lower()].search(data, hidden.end() - 2) if hidden else None
        if hidden and not found:
            return
        at = found.start() if found else end
