"""Find the companion files of a document by name: the file that a relative reference names, its page, and its URL.

In: the paths of the files, `/` between their parts, and a reference with the path of its document. Out: the path of a
file, or None. `rewrite`, `mirror` and `links` call it before they resolve a reference to a URL. Also the URLs of files
in folders with the names of hosts, as wget, HTTrack and others save sites: for example, `www.h.org/d/a.html`; and files
in a folder that do not belong to the site. Nothing here reads a disk: `run/companion_files.py` does.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_from_bytes

from absolve.core.errors import Diagnostic
from absolve.core.lazy_regex import pattern
from absolve.urls.identity import percent_decoded, respelled
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Names = Callable[[str], Mapping[str, bool]]  # names in a folder, "" or with a slash at its end; whether it is one

# Files that servers and savers have for the URL of a folder, in any letter case, in the order in which they count.
INDEXES: Final = (
    *("index.html", "index.htm", "index.xhtml", "index.shtml", "index.php", "index.php3", "index.phtml"),
    *("default.htm", "default.html", "default.asp", "default.aspx", "index.asp", "index.aspx", "index.jsp"),
    *("index.cfm", "index.cgi", "index.pl"),
)
# Files that programs keep for themselves in the folder of a site: they may hold passwords, and no page leads to them.
_KEPT: Final = {
    "HTTrack": re.compile(r"hts-(?:cache|(?:log|err|ioinfo|nohref|stats|done)\.txt|(?:in_progress|stop|paused)\.lock)"),
    "wget": re.compile(r"wget-log(?:\.\d+)?|\.wget-hsts"),
    "FrontPage": re.compile(r"_vti_\w+(?:\.html)?"),
    "macOS": re.compile(r"__MACOSX|\.DS_Store|\._.*", re.DOTALL),
    "Sphinx": re.compile(r"(?:\w+-)*webpack-macros\.html"),  # templates of its themes, which builds copy
    "Windows": re.compile(r"(?i:(?:eh)?thumbs\.db|desktop\.ini)"),
    # Any other hidden name, but RFC 8615, and files that Apache, PHP and hosts of pages read.
    "hidden": re.compile(r"\.(?!\.|\Z|well-known\Z|ht\w+\Z|user\.ini\Z|nojekyll\Z|domains\Z).*|@eaDir", re.DOTALL),
}
NODE_MODULES: Final = "node_modules"  # packages that pages may load parts of: there for links, and not read
SOURCES: Final = "_sources"  # Sphinx puts them beside the pages that it builds; a server sends them as text
_MAF: Final = b"maf.mozdev.org/metadata/rdf"
_COOKIES: Final = re.compile(rb"# (?:HTTrack Website Copier|Netscape HTTP|HTTP) [Cc]ookie [Ff]ile")


# Suffixes that browsers and Office append to the name of a page, by language, for the folder of its parts.
PARTS: Final = (
    *("_files", ".files", "-Dateien", "_fichiers", "_archivos", "_arquivos", "_ficheiros", "_file", "_bestanden"),
    *("-filer", "_tiedostot", "_pliki", "_soubory", "_subory", "_elemei", "_dosyalar", "_datoteke", "_fajlovi"),
    *("_fitxers", "_fitxategiak", "_failid", "_fails", "_bylos", "_fișiere", "_подаци", "_dosieroj", "_html"),
)
PAGES: Final = (".html", ".htm", ".xhtml", ".xht", ".shtml", "")  # suffixes of saved pages
BEFORE: Final = "Filer_for_"  # Firefox put it before the name in Nynorsk


def page_of(folder: str) -> str | None:
    """Return the name of the page, without its extension, whose parts a folder has; None for other folders.

    For example, `a_files` and `a-Dateien` give `a`. The result is in Unicode's composed form (NFC).
    """
    folder = _composed(folder)
    if folder.startswith(BEFORE):
        return folder[len(BEFORE) :] or None
    if not folder.endswith(PARTS):
        return None
    return next(folder.removesuffix(end) or None for end in PARTS if folder.endswith(end))


def pages_around(place: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder on a path that is named as one of parts, the outermost first, and the paths of its page.

    For example, `d/a_files/i.png` gives `d/a_files` with `d/a.html`, `d/a.htm` and so on.
    """
    parts = place.split("/")[:-1]
    for index, name in enumerate(parts):
        if stem := page_of(name):
            above = "/".join(parts[:index])
            yield posixpath.join(above, name), [posixpath.join(above, stem + extension) for extension in PAGES]


def fold(name: str) -> str:
    """Return the form that two names share which are one on some file system: case folded, Unicode composed (NFC)."""
    return name.lower() if name.isascii() else _composed(_composed(name).casefold())


def only_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the one of the names, which all fold to the same as `name`, that is `name`; None if several may be.

    An exact one precedes one that differs only by its normalization, and that those that differ by case.
    """
    found = list(names)
    if name in found:
        return name
    composed = [one for one in found if _composed(one) == _composed(name)]
    return (composed or found)[0] if len(composed or found) == 1 else None


def _composed(name: str) -> str:
    if name.isascii():
        return name
    import unicodedata  # few names need it

    return unicodedata.normalize("NFC", name)


def named_by(
    reference: str,
    document: str,
    has: Callable[[str], bool],
    indexes: Sequence[str] = INDEXES,
    near: Callable[[str], str | None] | None = None,
    charset: str = "utf-8",
) -> str | None:
    """Return the path of the file that a reference in the document at a path names; None if there is no such file.

    For example, `b.html?x=1` in `d/a.html` names `d/b.html?x=1` or, if there is no such file, `d/b.html`. Savers escape
    the `?` of a name (`b.html%3Fx=1`), or leave it (wget without -k). The name of a folder also names its index, one of
    these `indexes`, and then a page may lack its `.html`. Escapes and the bytes of names may be in the `charset` of the
    document (`identity.respelled`).

    `has` returns whether a path, below the root and without `.` and `..`, is a file. If no name is exact, `near`
    returns the one file with the name in another case (Windows) or normalization (macOS), like `only_alike`.
    """
    before, mark, query = reference.partition("#")[0].partition("?")
    if not before or before[0] in "/\\" or has_scheme(before):
        return None
    before = before.replace("\\", "/")  # as browsers read it; in a name of a file it is escaped
    folder = posixpath.dirname(document)
    asked: list[str] = []
    for path in _paths(before, mark + query, charset):
        found = posixpath.normpath(posixpath.join(folder, path))
        if found.startswith(("../", "/")) or found == "..":
            continue
        inside = "" if found == "." else f"{found}/"
        pages = [f"{found}.html"] if indexes else []  # as static hosts have it
        names = [*([] if path.endswith("/") else [found, *pages]), *(inside + name for name in indexes)]
        for name in names:
            if has(name):
                return name
        asked += names
    return next(filter(None, map(near, asked)), None) if near is not None else None


def keeper_of(path: str) -> str:
    """Return what left a file that does not belong to the site: for example, `hts-cache/x` gives `HTTrack`.

    A hidden file gives `hidden`, a file of the site "".
    """
    found = (keeper for name in path.split("/") for keeper, names in _KEPT.items() if names.fullmatch(name))
    return next(found, "")


def saver_of(path: str, head: bytes) -> str:
    """Return the kind of a file that a program kept beside a saved site, by its first bytes; "" for others.

    Its name alone does not show it (`keeper_of`).
    """
    name = path.rpartition("/")[2]
    if name == "index.rdf" and _MAF in head:
        return "MAFF"
    return "cookies" if "cookie" in name.lower() and _COOKIES.match(head) else ""


def _paths(path: str, query: str, charset: str) -> Iterator[str]:
    """Yield the names that a path with a query may have: for example, `a%20b` gives `a b` and `a%20b`.

    The first names have the query, with its slashes escaped. Where names must suit Windows, wget writes `@` for the
    `?`; other programs escape it.
    """
    decoded = _decoded(path)
    names = (*(mark + query[1:] for mark in _MARKS), "") if len(query) > 1 else ("",)
    for end in (name.replace("/", "%2F") for name in names):
        yield decoded + _decoded(end)
        if decoded + _decoded(end) != path + end:
            yield path + end
    for one in () if decoded.isascii() else (path, *respelled(path, charset)):
        yield _decoded(one)
        yield escaped(_decoded(one))  # a saver kept the escapes


_MARKS: Final = ("?", "@", "%3f", "%3F")


def _decoded(path: str) -> str:
    """Return a path percent-decoded, except for slashes: for example, `a%20b%2Fc` gives `a b%2Fc`."""
    return "".join(part if part in _SLASHES else percent_decoded(part) for part in re.split("(%2[fF])", path))


_SLASHES: Final = frozenset({"%2f", "%2F"})


# --- folders that are named as hosts ----------------------------------------------------------------------------------

PATH_CHARACTERS: Final = "!$&'()*+,;=:@/~"  # RFC 3986 3.3: pchar, and the slash between segments
_DEEPEST: Final = 3  # the folder of a host is one of the first in a path
_NAMED: Final = 10  # hosts in a message
_MOST: Final = 10_000  # names that are looked at for a page
_SCHEMES: Final = frozenset({"http", "https", "ftp"})  # wget --protocol-directories
_OF_SAVERS: Final = frozenset({"hts-cache", "hts-log.txt", "backblue.gif", "mirror.sqlite"})  # with an index of theirs
_PAGE: Final = pattern(r"index\b|.+\.(?:[xs]?html?|php|aspx?|jsp|cgi)\b")
# Lower-case labels; a port follows `:`, where a name may not have that `+` (wget on Windows, absolve) or `_` (HTTrack).
_HOST: Final = pattern(r"((?:[a-z0-9][a-z0-9_-]*\.)+[a-z0-9-]+|localhost)(?:[:+_]([0-9]{1,5}))?")
# Top-level domains at the end of folder names. A country has two letters, but so have suffixes of files and languages.
_TOP: Final = frozenset(
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel asia cat arpa app dev blog site"
    " online shop store tech xyz club live news media agency world today space website wiki art design cloud digital"
    " network academy school berlin wien london paris swiss scot example test localhost local onion".split()
)
_NO_TOP: Final = frozenset("cs db en gz hs ja js ko kt md pm py rb ts ui vb xz zh".split())
_REVERSED: Final = frozenset("com org net edu gov io".split())  # first in names of programs, as com.example.app
_LEAST: Final = 10  # first number of an address: a smaller one begins a version


class HostFolders:
    """The folders below a root that are named as hosts, and have the pages of sites."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[str, bool] = {}

    def url_of(self, place: str) -> str | None:
        """Return the URL of a file by its path below the root; None if it is in no folder of a host.

        A `?` in a name begins the query, as wget writes it. The scheme is http, if no folder around has its name.

        >>> hosts_among(["h.org/a.php@id=4", "h.org/index.html?p=1"]).url_of("h.org/a.php@id=4")
        'http://h.org/a.php?id=4'
        """
        folder, scheme = "", "http"
        *above, _ = place.split("/", _DEEPEST)
        for name in above:
            if (authority := _authority(name)) and self._has_sites(folder):
                return f"{scheme}://{authority}/{path_and_query(place[len(folder) + len(name) + 1 :])}"
            folder, scheme = f"{folder}{name}/", name if name in _SCHEMES else "http"
        return None

    def named_as(self, site: str) -> str:
        """Return the host, perhaps with a port, that a folder at the root is named after: this site, or "".

        A folder with another port is the site if it is the only one of its host: some savers write none.
        """
        names = (_authority(name) for name, is_folder in self._names("").items() if is_folder)
        found = {name for name in names if name and name.partition(":")[0] == site.partition(":")[0]}
        host = site if site in found else found.pop() if len(found) == 1 else ""
        return host if host and self._has_sites("") else ""

    def is_index_of_saver(self, place: str) -> bool:
        """Return whether a file is the index that a program, such as HTTrack, wrote above the hosts that it saved."""
        above, slash, name = place.rpartition("/")
        is_index = index_rank(name) is not None and not _OF_SAVERS.isdisjoint(self._names(above + slash))
        return is_index and self._has_sites(above + slash)

    def _has_sites(self, folder: str) -> bool:
        """Return whether a folder named as a host in this one has a page, and this and those around it are no sites.

        One of several is enough: wget saves pictures of other hosts into folders beside it.
        """
        if folder not in self._known:
            parts = folder.split("/")[:-1]
            around = ["".join(f"{part}/" for part in parts[:end]) for end in range(len(parts) + 1)]
            names = [name for name, is_folder in self._names(folder).items() if is_folder and _authority(name)]
            pages = (self._has_page(f"{folder}{name}/") for name in names)
            self._known[folder] = not any(map(self._is_site, around)) and any(pages)
        return self._known[folder]

    def _is_site(self, folder: str) -> bool:
        """Return whether a folder has an index page that no program wrote for the sites that it saved."""
        names = self._names(folder)
        return any(name in names for name in INDEXES) and _OF_SAVERS.isdisjoint(names)

    def _has_page(self, folder: str) -> bool:
        left, seen = deque([folder]), 0
        while left and seen < _MOST:
            names = self._names(inside := left.popleft())
            if any(_PAGE.match(name) and not is_folder for name, is_folder in names.items()):
                return True
            seen += len(names)
            left.extend(f"{inside}{name}/" for name, is_folder in names.items() if is_folder)
        return False


# For Windows, wget writes `@` for the `?`, and wayback_machine_downloader the escapes of all that a name may not have.
_QUERY: Final = pattern(r"([^?]*?)(\?|%3[fF])(.+)|(.*?\.[A-Za-z0-9]{1,5})(@)([^/@]*=.*)", re.DOTALL)
_ESCAPED: Final = pattern("%25([89A-Fa-f][0-9A-Fa-f])")  # an escape of more than ASCII in a name: of the URL


def path_and_query(name: str) -> str:
    """Return path and query for the path of a file below the folder of a host.

    For example, `a.php%3fid%3d4` gives `a.php?id=4`. Escapes of other than ASCII are those of the URL. Savers call a
    folder `index.html`: with a query, `index.html?p=1` or `?p=1/index.html`, its URL is `?p=1`.
    """
    found = _QUERY.fullmatch(name)
    path, mark, query = (one for one in found.groups() if one is not None) if found is not None else (name, "", "")
    path = _ESCAPED.sub(r"%\1", escaped(path))
    if not mark:
        return path
    folder, slash, last = path.rpartition("/")
    query = percent_decoded(query) if mark[0] == "%" else query
    return f"{folder + slash if last == 'index.html' else path}?{_query(query.removesuffix('/index.html'))}"


def as_saved(url: str, place: str) -> str:
    """Return the URL that a file in a folder had, by its path: its URL with the query that is in its name."""
    name = escaped(place)
    return url.removesuffix(name) + path_and_query(place) if url.endswith(name) else url


def index_rank(name: str) -> int | None:
    """Return the place of a file's name in INDEXES, None for other names: for example, `Default.htm` gives 7."""
    lower = name.lower()
    return INDEXES.index(lower) if lower in INDEXES else None


def _authority(name: str) -> str:
    """Return the host that a folder is named after, else "". For example, `h.org+81` gives `h.org:81`."""
    found = _HOST.fullmatch(name)
    if found is None or not _may_be_host(found[1].split(".")):
        return ""
    return f"{found[1]}:{found[2]}" if found[2] else found[1]


def _may_be_host(labels: list[str]) -> bool:
    first, top = labels[0], labels[-1]
    if top.isdigit():
        is_address = len(labels) == 4 and all(label.isdigit() and int(label) < 256 for label in labels)
        return is_address and int(first) >= _LEAST
    is_country = len(top) == 2 and top.isalpha() and top not in _NO_TOP
    return first not in _REVERSED and (is_country or top in _TOP or top.startswith("xn--"))


def hosts_among(places: Iterable[str]) -> HostFolders:
    """Return the folders of hosts among the paths of files."""
    tree: dict[str, dict[str, bool]] = {}
    for place in places:
        folder = ""
        *above, last = place.split("/")
        for name in above:
            tree.setdefault(folder, {})[name] = True
            folder += f"{name}/"
        tree.setdefault(folder, {}).setdefault(last, False)
    return HostFolders(lambda folder: tree.get(folder, {}))


def hosts_named(urls: Iterable[str], name: str) -> Diagnostic:
    """Return the note about the hosts by whose folders files in the input `name` have these URLs."""
    hosts = dict.fromkeys(url.split("/", 3)[2] for url in urls)
    more = f" and {len(hosts) - _NAMED:,} more" if len(hosts) > _NAMED else ""
    text = "folders named as hosts give the URL of files that record none (--url gives another)"
    return Diagnostic("host-folders", f"{text}: {', '.join(islice(hosts, _NAMED))}{more}", name)


def escaped(place: str) -> str:
    """Return a relative path as the path of a URL (RFC 3986 3.3): for example, `a b/é` gives `a%20b/%C3%A9`."""
    return quote_from_bytes(os.fsencode(place), PATH_CHARACTERS)


def _query(text: str) -> str:
    return quote_from_bytes(os.fsencode(text), f"{PATH_CHARACTERS}?%")
