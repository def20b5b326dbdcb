"""The files of both sites of an audit: read into the working tables in one run.

In: an `AuditJob`, a connection, the run context. Out: the tables of `absolve.audit.load`.
"""

from __future__ import annotations

import gzip
import os
import re
from contextlib import closing, suppress
from functools import cache, partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from urllib.parse import unquote

from absolve.audit import load, servers, url_lists
from absolve.audit.judge import each
from absolve.audit.verdicts import PLACE
from absolve.core import printable
from absolve.core.errors import CodingError, Diagnostic, DocumentError, UsageError, WalkError
from absolve.core.model import Document
from absolve.document.base_layers import ASSUMED, HOST_FOLDER
from absolve.document.companions import as_saved, escaped, keeper_of
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats import registry, sniffing
from absolve.rules.columns import is_url
from absolve.run import buckets, sources
from absolve.run.companion_files import hosts_in, recorded
from absolve.run.folders import left_out
from absolve.run.links_task import ListOptions, Sided, listed_of
from absolve.run.load import kind_of, split_archives
from absolve.run.sources import STDIN, is_file, local
from absolve.urls.archives import original

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.run.inputs import Input
    from absolve.run.results import RunContext

# Files that are never containers, so that their first bytes are not read: most files of a site.
_PLAIN: Final = tuple(
    ".html .htm .xhtml .txt .css .js .json .png .jpg .jpeg .gif .svg .webp .ico .woff .woff2 .pdf".split()
)
_SITES: Final = "give a folder, an archive, an inventory, a sitemap, a log, or a list with a URL a line or in a table"
_MOVES: Final = re.compile(rb"^[\t ]*(?:Redirect|RewriteRule)", re.IGNORECASE | re.MULTILINE)
# Files of the new site that the user named one by one, without the site around them.
_BY_NAME: Final = """
INSERT INTO by_name SELECT DISTINCT url, document FROM new_documents
WHERE entity = '' AND url IS NOT NULL AND list_contains(?, document)
"""
# Links in files of the new site that lead to no document; whether they climb above its root, if that is assumed. Files
# beside the folders of hosts lead to files with other URLs.
_UNREAD: Final = f"""
SELECT i.id, i.document, d.url, i.reference, l.url,
    i.base_source = '{ASSUMED}' AND list_contains(i.problems, 'above-root') AND b.document IS NULL,
    d.media_type = '{registry.MARKDOWN}', b.document IS NOT NULL OR i.base_source = '{ASSUMED}'
    AND EXISTS (FROM new_documents WHERE url_source = '{HOST_FOLDER}')
FROM links_in i JOIN located l ON l.side = 'new' AND l.url = bare(i.target) AND l.resource IS NULL
JOIN new_documents d ON d.document = i.document AND d.entity = '' AND i.entity = '' AND d.url IS NOT NULL
LEFT JOIN scopes n ON n.side = 'new' AND n.site = l.site AND starts_with(l.path, n.prefix)
LEFT JOIN by_name b ON b.document = i.document
WHERE (n.site IS NOT NULL OR is_assumed(l.url)) AND i.document NOT IN (SELECT document FROM new_foreign)
"""  # noqa: S608 - names of ours
_PAGE_KINDS: Final = frozenset({registry.HTML, registry.MARKDOWN})  # kinds of pages


_SQLITE: Final = b"SQLite format 3\0"
_PARQUET: Final = b"PAR1"
_DUCKDB: Final = b"DUCK"  # at byte 8
_HEAD: Final = 4096
_TEXTS: Final = frozenset({".txt", ".lst", ".urls", ""})
_LIST_TABLES: Final = frozenset({".csv", ".tsv", ".xlsx", ".xlsm"})
_JSON_ROWS: Final = re.compile(rb"\s*\[\s*(?:[\[{]\s*)?\"")
_COMPRESSED: Final = re.compile(r"\.(?:xml|log|csv|tsv|txt|cdxj?|json)\.gz$|log.*\.gz$")
_BOOKS: Final = frozenset({".xlsx", ".xlsm", ".xls", ".ods", ".numbers"})  # ZIP archives, most of them
_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_URL_LINE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:#[^\n]*\n\s*)*(?:https?://\S+|/\S*)\s*(?:\n|$)")
_SITEMAP: Final = re.compile(  # behind a prolog (XML 1.0 2.8)
    rb"(?:\xef\xbb\xbf)?(?>(?:\s++|<\?(?>.*?\?>)|<!--(?>.*?-->)|<!DOCTYPE[^<>\[]*+(?>(?:\[.*?\]\s*+)?)>)*)"
    rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]",
    re.DOTALL,
)


class Kinds(NamedTuple):
    """Names of inputs: inventories and lists with their kinds, and inputs that are read as documents."""

    inventories: list[tuple[str, str]]
    lists: list[tuple[str, str]]
    documents: list[str]


class AuditJob(Protocol):
    """What an audit is to do, by the names of the options of the command; the library gives the same.

    `url`, `old_urls` and `maps` change: URLs of a web archive become the original ones, maps in the folders are added.
    `named` are the URLs that were asked for in the place of the inputs.
    """

    inputs: list[str]
    old: list[str]
    url: str | None
    old_urls: list[str]
    maps: list[str]
    answers: list[str]
    from_: str | None
    url_map: str | None
    cookies: str | None
    include: list[str]
    exclude: list[str]
    max_size: int
    server: str
    similar: float
    resolve: list[tuple[str, str]]
    named: list[str]
    places: str
    ignore: list[str]
    baseline: str | None
    changed_since: str | None
    fix: bool
    write_map: str | None
    verbose: bool


class Sites(NamedTuple):
    """The inputs of both sites, by kind; `urls` has the URL of each site, if the options have it.

    `containers` are the archives, packages and messages that are read, in folders, too.
    """

    kinds: dict[str, Kinds]
    urls: dict[str, str | None]
    containers: dict[str, list[str]]


def sites(job: AuditJob) -> Sites:
    """Return the inputs of the two sites. Raise UsageError if nothing can be read from the files of one.

    A URL of a web archive in `job` becomes the original URL: for example, `.../web/2020/http://h/` `http://h/`.
    """
    names = {load.NEW: job.inputs, load.OLD: job.old}
    kinds = {side: sorted_out(found, side) for side, found in names.items()}
    for side, kind in kinds.items():
        other = None if kind.inventories or kind.lists else unread(kind.documents, side)
        if other is not None:
            name, what = other
            raise UsageError(f"{name}: it is {what}, and no URL of the {side} site can be read from it: {_SITES}")
    urls = {load.NEW: job.url, load.OLD: next(iter(job.old_urls), None)}
    found = Sites(kinds, urls, {side: [] for side in load.SIDES})
    job.url = original(job.url) if job.url else None
    job.old_urls = [original(url) for url in job.old_urls]
    return found


def read(connection: Any, job: AuditJob, found: Sites, context: RunContext) -> None:
    """Fill the working tables."""
    settings = context.reading.settings
    connection.execute("CREATE TABLE read_as (name VARCHAR, words VARCHAR)")
    for side in load.SIDES:
        load.begin(connection, side)
        parquet = []
        for name, kind in found.kinds[side].inventories:
            with context.reports.guard(name):
                if load.add_inventory(connection, side, name, kind) == {"links"} and kind == "parquet":
                    parquet.append(name)
        load.end(connection, side, parquet)
        for name, kind in found.kinds[side].lists:
            with context.reports.guard(name):
                words = url_lists.add(connection, side, name, kind, settings, context.reports.finding, found.urls[side])
                if words:
                    connection.execute("INSERT INTO read_as VALUES (?, ?)", [name, words])
                    if job.verbose:
                        context.reports.note("table", f"{name}: {words}")
    how = ListOptions(context.reading, format="duckdb", beside=True)
    items = _items(job, found, context)
    results = context.run(partial(listed_of, how), items, lambda item: item.input)
    with closing(results) as pieces:
        for side, group in groupby(pieces, lambda piece: piece[0].side):
            load.add_chunks(connection, side, ((rows.table, rows.chunk) for _, rows in group))
    for side in load.SIDES:
        _check(connection, side, found, job, context)
    connection.execute("CREATE TABLE by_name (url VARCHAR, document VARCHAR)")
    connection.execute(_BY_NAME, [list(filter(sources.is_file, found.kinds[load.NEW].documents))])


def _common_root(url: str, name: str) -> tuple[str, Path]:
    """Return the topmost folder that a document's URL and path share, for example `http://h/` and `/site`."""
    folder, at = Path(name).absolute().parent, url.partition("?")[0].rpartition("/")[0]
    while at.count("/") > 2 and unquote(at.rpartition("/")[2]) == folder.name:
        folder, at = folder.parent, at.rpartition("/")[0]
    return f"{at}/", folder


# Pages of a repository that its README names by relative links (GitHub and GitLab, "Relative links in README files")
_OF_REPOSITORY: Final = re.compile(
    r"(?:\.\./){2,}(?:-/)?(?:issues|pulls?|merge_requests|actions|pipelines|workflows|wikis?|releases|discussions|projects"
    r"|security|labels|milestones?|tags|branches|commits?|compare|graphs|network|stargazers|edit|raw)(?:[/?#]|\Z)"
)
_NO_NAME: Final = re.compile(r"(?i:top|readme)\Z|:~:|L\d|tab/")
_WITH_PLACES: Final = Settings(documents=True)
_MOST_READ: Final = 4 << 20  # bytes of a file whose places are looked up


def on_disk(connection: Any) -> Iterator[tuple[int, str]]:
    """Yield the links to existing files that were not read, each with its verdict: only for a fragment one is opened.

    These are files around files that the user named, for example in a hook for the files of a commit; files that were
    left out; files beside a folder without a known URL; and folders in links of Markdown, as repositories show them.
    """
    places = cache(_places)
    for number, document, own, reference, url, is_above, is_text, is_named in each(connection, _UNREAD):
        if (is_above or is_named) and is_text and _OF_REPOSITORY.match(reference):
            yield number, "ok"
            continue
        root, folder = (own, Path(document).parent) if is_above else _common_root(own, document)
        if not (is_above or url.startswith(root)) or not Path(document).is_file():  # a pipe has no folder
            continue
        place = unquote((reference if is_above else url[len(root) :]).partition("#")[0].partition("?")[0])
        if not (is_named or is_above or is_text or keeper_of(place)):
            continue
        with suppress(OSError, ValueError, RuntimeError):  # of names that no file can have, and loops of links
            path = Path(os.path.normpath(folder.resolve() / place))
            file = path / "index.html" if path.is_dir() and not is_text else path
            real = file.resolve()  # no symbolic link may lead out of the folder
            if file.exists() and (real == file if is_above else real.is_relative_to(folder.resolve())):
                name = unquote(reference.partition("#")[2])
                held = None if not name or _NO_NAME.match(name) else places(file)
                yield number, "ok" if held is None or _place_key(name) in held else "fragment"


def _places(path: Path) -> frozenset[str] | None:
    """Return the keys of the places in a page; None for a folder, another file, or one that cannot be read."""
    with suppress(DocumentError, WalkError, CodingError, OSError):
        if not path.is_file() or path.stat().st_size > _MOST_READ:
            return None
        entity = walk(Document(path.read_bytes(), name=str(path)), _WITH_PLACES)
        is_page = entity.media_type in _PAGE_KINDS and entity.facts is not None
        return frozenset(map(_place_key, entity.facts.anchors)) if is_page and entity.facts is not None else None
    return None


def _place_key(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-")


def _check(connection: Any, side: str, found: Sites, job: AuditJob, context: RunContext) -> None:
    """Report each input without a document. Raise UsageError if no input has any."""
    kinds = found.kinds[side]
    names = [name for name, _ in (*kinds.inventories, *kinds.lists)] + kinds.documents
    is_alone = side == load.NEW and not job.old  # nothing but its links is judged
    if (names or side == load.NEW) and load.is_empty(connection, side, has_links=is_alone):
        first = names[0] if names else "--from"
        raise UsageError(f"{first}: no URL of the {side} site can be read from it: {_SITES}")
    is_chosen = side == load.NEW and (job.include or job.exclude)  # perhaps of a folder nothing
    for name in dict.fromkeys((*(() if is_chosen else kinds.documents), *found.containers[side])):
        if name not in {STDIN, "-", *context.reports.failures} and load.has_nothing(connection, side, name):
            context.reports.failure(DocumentError(Diagnostic("no-input", "no document is in it", name)))


def _items(job: AuditJob, found: Sites, context: RunContext) -> Iterator[Sided]:
    return chain.from_iterable(
        (Sided(side, input_) for input_ in site_inputs(job, found, side, context)) for side in load.SIDES
    )


def site_inputs(job: AuditJob, found: Sites, side: str, context: RunContext, *, follow: bool = True) -> Iterator[Input]:
    """Yield the documents of a site, with their URLs: a folder without --url is at PLACE."""
    names = found.kinds[side].documents
    if not names and (side == load.OLD or job.from_ is None):
        return
    inputs = context.found(names, found.urls[side], plain=side == load.OLD, follow=follow)
    are_saved = side == load.OLD and _record_urls(context.found(names, found.urls[side], plain=True, follow=False))

    def placed() -> Iterator[Input]:
        for input_, kind in _with_kinds(inputs):
            if follow:  # the first time
                _check_settings(input_, job, context, side)
            if _is_saver_index(input_):
                context.reports.aside(left_out("index of the copy", input_.name))
            else:
                if follow and registry.is_container(kind):
                    found.containers[side].append(input_.name)
                given = input_
                if side == load.OLD and given.url is not None:
                    given = given._replace(url=as_saved(given.url, given.place))
                yield given if are_saved and _own_url(given) else _placed(given, kind)

    yield from split_archives(placed(), context.reading, context.jobs)


def _record_urls(found: Iterator[Input]) -> bool:
    """Return whether each page of a folder without a URL records its own, as those of SingleFile do."""
    urls = (_own_url(one) for one in found if one.name.lower().endswith((".html", ".htm", ".xhtml")))
    return next(urls, "") != "" and all(urls)


def _own_url(input_: Input) -> str:
    is_known = not input_.found or input_.url is not None or input_.claim is not None
    return "" if is_known else recorded(input_.root, input_.place)


def _with_kinds(found: Iterator[Input]) -> Iterator[tuple[Input, str | None]]:
    """Yield the inputs with their media types. In a folder with a page, a package such as a ZIP is a file."""
    for _, group in groupby(found, lambda input_: input_.found and input_.root):
        packages, is_site = [], False
        for input_ in group:
            kind = _kind(input_)
            if input_.found and registry.is_container(kind):
                packages.append((input_, kind))
            else:
                is_site = is_site or kind in _PAGE_KINDS
                yield input_, kind
            if is_site:
                yield from ((one._replace(held=kind_of(one.name)), None) for one, _ in packages)
                packages.clear()
        yield from packages


def _kind(input_: Input) -> str | None:
    try:
        is_plain = input_.name.lower().endswith(_PLAIN)
        head = b"" if is_plain else sources.head(input_.name, root=input_.root)
        return sniffing.format_of(head, input_.name, None, partial(sources.FileBytes, input_.name, input_.root))
    except DocumentError:
        return None


def _check_settings(input_: Input, job: AuditJob, context: RunContext, side: str) -> None:
    """Report a `.htaccess` in a subfolder whose rules may redirect, since only the file in the root is read."""
    if side == load.OLD or not (input_.found and input_.name.endswith(".htaccess")):
        return
    path = Path(input_.name)
    if path.name != ".htaccess" or path.parent == Path(input_.root):
        return
    rules = len(_MOVES.findall(sources.head(input_.name, root=input_.root)))
    rules *= not any(os.path.realpath(name) == os.path.realpath(path) for name in job.maps)
    if rules and ".htaccess" in servers.named(job.server).reads:
        text = f"{printable.number(rules, 'rule')} that may redirect: not read, only the .htaccess of the root is"
        context.reports.aside(Diagnostic("unread-map", text, input_.name))


def _placed(input_: Input, kind: str | None) -> Input:
    """Return an input with a URL, unless it is a container, whose documents have their own URLs."""
    if registry.is_container(kind) and kind not in registry.PACKAGES:
        return input_._replace(url=None)
    if kind in registry.PACKAGES:  # a folder: its members have no URLs of their own, but in a WACZ
        is_given = input_.url is not None and input_.url.endswith("/")
        return input_ if is_given else input_._replace(url=PLACE, url_source=ASSUMED)
    if input_.url is None and input_.claim is None:
        return input_._replace(url=PLACE + escaped(_place(input_)), url_source=ASSUMED)
    return input_


def _is_saver_index(input_: Input) -> bool:
    """Return whether a file is the index that HTTrack writes above the folders of hosts."""
    if not input_.found or input_.url is not None or input_.claim is not None or buckets.is_bucket(input_.name):
        return False
    return hosts_in(input_.root).is_index_of_saver(os.path.relpath(input_.name, input_.root).replace(os.sep, "/"))


def _place(input_: Input) -> str:
    """Return the path of a document in its site; for a file that the user named, its path below the working folder."""
    path = Path(os.path.abspath(input_.name))  # noqa: PTH100 - without links
    is_below = not input_.found and path.is_relative_to(Path.cwd()) and path.is_file()
    return path.relative_to(Path.cwd()).as_posix() if is_below else input_.place


# --- the kinds of inputs ----------------------------------------------------------------------------------------------


def sorted_out(names: Iterable[str], side: str = load.OLD) -> Kinds:
    """Return the names by kind: inventories, lists of URLs, documents; the first bytes of a file decide.

    A table is a list only for the old site: the new site may offer it as a download.
    """
    found = Kinds([], [], [])
    for name in names:
        head = _head(name)
        if head.startswith(_SQLITE):
            found.inventories.append((name, "sqlite"))
        elif head.startswith(_PARQUET):
            found.inventories.append((name, "parquet"))
        elif head[8:12] == _DUCKDB:
            found.inventories.append((name, "duckdb"))
        elif _SITEMAP.match(head):
            found.lists.append((name, "sitemap"))
        elif Path(name).suffix.lower() in _TEXTS and _URL_LINE.match(head):
            found.lists.append((name, "list"))
        elif side == load.OLD and (kind := _list_kind(name, head)) is not None:
            found.lists.append((name, kind))
        elif side == load.OLD and _is_export(name):
            found.lists.append((name, "export"))
        else:
            found.documents.append(name)
    return found


def _is_export(name: str) -> bool:
    """Return whether a folder or a ZIP archive has only tables, as exports of a search console, such as `Pages.csv`."""
    titles = url_lists.members(name)
    return bool(titles) and all(Path(title).suffix.lower() in _LIST_TABLES for title in titles)


def _list_kind(name: str, head: bytes) -> str | None:
    """Return the kind of a list of the old site, for example "table" or "log"; None for a document."""
    path = Path(name.lower().removesuffix(".gz"))
    if path.name == "robots.txt":
        return "robots"
    if (kind := url_lists.log_kind(head)) is not None:
        return kind
    is_json = path.suffix in {".json", *_TEXTS} and _JSON_ROWS.match(head) is not None
    is_text = path.suffix in _TEXTS and _begins_with_url(head)
    return "table" if head and (is_json or is_text or path.suffix in _LIST_TABLES) else None


def _begins_with_url(head: bytes) -> bool:
    """Return whether the first line is a URL, perhaps without a scheme: for example `"www.example.com/a",`."""
    lines = head.decode("utf-8-sig", "replace").splitlines()
    first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return is_url(first.strip("[]\"'; ,")) and " " not in first


def unread(names: Sequence[str], side: str) -> tuple[str, str] | None:
    """Return the first name and its kind, for example "a workbook", if no file has links or URLs; None otherwise."""
    if not names or not all(is_file(name) and (_is_book(name) or _is_other(name, side)) for name in names):
        return None
    name, head = names[0], _head(names[0])
    kind = sniffing.sniff(head, name) or sniffing.in_words(head, name)
    return name, "a workbook" if _is_book(name) else kind if head else "empty"


def _is_book(name: str) -> bool:
    return Path(name).suffix.lower() in _BOOKS


def _is_other(name: str, side: str) -> bool:
    """Return whether a file has no walker, or, for the old site, contains no page."""
    head = _head(name)
    kind = sniffing.sniff(head, name)
    has_pages = kind in {*_PAGES, *registry.MAIL, *registry.PACKAGES} or (kind and registry.WALKERS[kind].archive)
    return not head or sniffing.is_other(head, name) or (side == load.OLD and not has_pages)


def _head(name: str) -> bytes:
    """Return the first bytes of a file, decompressed if it is a list in gzip; b"" if it cannot be read."""
    path = Path(local(name))
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"\x1f\x8b") and _COMPRESSED.search(path.name.lower()):
            with gzip.open(path) as file:
                head = file.read(_HEAD)
    except (OSError, EOFError, ValueError):
        return b""
    return head
