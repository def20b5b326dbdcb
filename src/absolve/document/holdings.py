"""Find the file of a folder or package that a relative reference names, and the page that a folder belongs to.

In: the paths of the files, `/` between their parts, and a reference with the path of the document that has it. Out: the
path of a file, or None. `rewrite`, `mirror` and `links` ask it before they resolve a reference to a URL. Also what a
folder holds that is none of the site.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from absolve.urls.identity import percent_decoded, respelled
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Files that servers and savers have for the URL of a folder, in the order in which they count.
INDEXES: Final = ("index.html", "index.htm", "index.xhtml", "index.php", "default.htm", "default.html", "default.asp")
# What programs keep for themselves in the folder of a site: it may hold passwords, and no page leads to it.
_KEPT: Final = {
    "HTTrack": re.compile(r"hts-(?:cache|(?:log|err|ioinfo|nohref|stats|done)\.txt|(?:in_progress|stop|paused)\.lock)"),
    "wget": re.compile(r"wget-log(?:\.\d+)?|\.wget-hsts"),
    "FrontPage": re.compile(r"_vti_\w+(?:\.html)?"),
    "macOS": re.compile(r"__MACOSX|\.DS_Store|\._.*", re.DOTALL),
    "Windows": re.compile(r"(?i:(?:eh)?thumbs\.db|desktop\.ini)"),
    # Any other hidden name, but RFC 8615, and files that Apache, PHP and hosts of pages read.
    "hidden": re.compile(r"\.(?!\.|\Z|well-known\Z|ht\w+\Z|user\.ini\Z|nojekyll\Z|domains\Z).*|@eaDir", re.DOTALL),
}
NODE_MODULES: Final = "node_modules"  # packages that pages may load parts of: there for links, and not read
SOURCES: Final = "_sources"  # what Sphinx puts beside the pages that it builds: a server sends it as text
_MAF: Final = b"maf.mozdev.org/metadata/rdf"
_COOKIES: Final = re.compile(rb"# (?:HTTrack Website Copier|Netscape HTTP|HTTP) [Cc]ookie [Ff]ile")


# What browsers and Office append, by language, to the name of a page without its extension for the folder of its parts.
PARTS: Final = (
    *("_files", ".files", "-Dateien", "_fichiers", "_archivos", "_arquivos", "_ficheiros", "_file", "_bestanden"),
    *("-filer", "_tiedostot", "_pliki", "_soubory", "_subory", "_elemei", "_dosyalar", "_datoteke", "_fajlovi"),
    *("_fitxers", "_fitxategiak", "_failid", "_fails", "_bylos", "_fișiere", "_подаци", "_dosieroj", "_html"),
)
PAGES: Final = (".html", ".htm", ".xhtml", ".xht", ".shtml", "")  # what follows its name in that of a saved page
BEFORE: Final = "Filer_for_"  # what Firefox put before it in Nynorsk


def page_of(folder: str) -> str | None:
    """Return the name, without its extension, of the page whose parts a folder with this name has; None for others.

    It is in Unicode's composed form (NFC), which the name of the folder need not be.
    """
    folder = _composed(folder)
    if folder.startswith(BEFORE):
        return folder[len(BEFORE) :] or None
    if not folder.endswith(PARTS):
        return None
    return next(folder.removesuffix(end) or None for end in PARTS if folder.endswith(end))


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

    `has` returns whether a path, below the root and without `.` and `..`, is a file. Savers escape the `?` of a name
    (`a.html%3Fx=1`), or leave it (wget without -k): so the file with the query in its name counts first, then the one
    that a browser opens from a disk, which ignores the query. The name of a folder is that of its index, if there is
    one of these `indexes`; then a page is also named without its `.html`. Escapes and the bytes of names may be in the
    `charset` of the document (`identity.respelled`).

    `near` returns the one file that a path is where the normalization of Unicode (macOS) and case (Windows) do not
    count, as by `only_alike`: it is asked where no name is exact.
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
    """Return whose a path is that is none of the site: `hts-cache/x` is HTTrack's, `.git/x` hidden; "" for others."""
    found = (keeper for name in path.split("/") for keeper, names in _KEPT.items() if names.fullmatch(name))
    return next(found, "")


def saver_of(path: str, head: bytes) -> str:
    """Return what a file, with these first bytes, is that a program kept beside a site which it saved; "" for others.

    Its name alone does not show it (`keeper_of`).
    """
    name = path.rpartition("/")[2]
    if name == "index.rdf" and _MAF in head:
        return "MAFF"
    return "cookies" if "cookie" in name.lower() and _COOKIES.match(head) else ""


def _paths(path: str, query: str, charset: str) -> Iterator[str]:
    """Yield a path with its query in its name, then without: each decoded as a URL is, and as it is written.

    wget has `@` for the `?` of a name that Windows accepts, others escape it; a slash in it is escaped.
    """
    decoded = _decoded(path)
    names = (*(mark + query[1:] for mark in _MARKS), "") if len(query) > 1 else ("",)
    for end in (name.replace("/", "%2F") for name in names):
        yield decoded + _decoded(end)
        if decoded + _decoded(end) != path + end:
            yield path + end
    yield from map(_decoded, respelled(path, charset))


_MARKS: Final = ("?", "@", "%3f", "%3F")


def _decoded(path: str) -> str:
    """Return a path percent-decoded, but for slashes: an escaped one separates nothing."""
    return "".join(part if part in _SLASHES else percent_decoded(part) for part in re.split("(%2[fF])", path))


_SLASHES: Final = frozenset({"%2f", "%2F"})
