"""Find the file for a URL, by the map of a mirror: the URL itself, or an equivalent one.

In: absolute URLs as `identity.normal` returns them, the map, and the equivalences: other URLs and forms under which the
same document may have been captured, in order of preference. Out: a `Target`, or None. A small map is kept in memory, a
large one is queried.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import FAULTS, DocumentError, UsageError
from absolve.core.model import PACKAGE_ROOT
from absolve.document.companions import fold, hosts_among, named_by, only_alike
from absolve.encodings.charsets import byte_order_mark
from absolve.mirror import browsers
from absolve.mirror.payloads import Part, Where, place_of
from absolve.mirror.policy import Response, Target
from absolve.rules.functions import Facts, Preset, unwrapped
from absolve.run.companion_files import of_other_host
from absolve.urls.access import is_public_host
from absolve.urls.identity import decoded, escaped, normal, origin, percent_decoded, plain, respelled

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from absolve.mirror.payloads import Payload, Reader

UNESCAPED: Final = "unescaped"
SCHEME: Final = "scheme"
ENCODING: Final = "encoding"
SESSION: Final = "session"
BUSTER: Final = "buster"
MORE: Final = ("www", "slash", "query-order", "case", BUSTER)
NONE: Final = "none"

_UNRESERVED: Final = re.compile(r"[/A-Za-z0-9._~-]*")
_MAY_HAVE: Final = {  # what the presets for rules of equivalence drop, roughly: they take longer
    "sessions": re.compile("sess|[cfns]id=|cftoken|/[(]", re.IGNORECASE),
    "busters": re.compile("[?;(]"),
}
LOOSE: Final = "~"  # begins a form that counts only if one URL has it
ADD_FORM: Final = f"""\
INSERT INTO forms VALUES (?, ?)
ON CONFLICT DO UPDATE SET url = NULL WHERE form GLOB '{LOOSE}*' AND url <> excluded.url"""  # noqa: S608 - a constant

def wanted(url: str) -> str | None:
    """Return a URL for a crawler, in printable ASCII, without user information and fragment; None if it is not public.

    The URL Standard's parser turns every spelling of an IPv4 address into the dotted one. Not public are loopback,
    link-local, private, shared (RFC 6598), multicast and reserved addresses, and names of local networks.

    >>> wanted("http://user@example.org/a#b"), wanted("http://0x7f.1/")
    ('http://example.org/a', None)
    """
    scheme, mark, rest = (normal(url) or "").partition("://")
    authority, slash, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host = authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
    if scheme not in {"http", "https"} or not is_public_host(host):
        return None
    return f"{scheme}{mark}{authority}{slash}{path}"


def _path_forms(url: str, charset: str = "utf-8") -> Iterator[str]:
    """Yield a form that is equal for all URLs with the same decoded path, then one for each spelling in a charset.

    For example, `http://h/%C3%A4` gives `http://h/ä `: the space at its end shows that it is no URL. Yield nothing for
    a path of unreserved characters, which `plain` finds.
    """
    before, mark, query = url.partition("?")
    root, separator, rest = plain(before).partition("://")
    authority, slash, path = rest.partition("/")
    if not _UNRESERVED.fullmatch(path):
        for one in (decoded(path), *respelled(path, charset)):
            yield f"{root}{separator}{authority}{slash}{one}{mark}{query} "  # no URL ends with a space


@cache
def _presets(name: str) -> list[tuple[int, Preset]]:
    return [(0, Preset(name))]


def _without(url: str, preset: str) -> str:
    """Return a URL without what a preset drops: for example, `/p;jsessionid=A?x&PHPSESSID=B` gives `/p?x`."""
    return unwrapped(_presets(preset), url, Facts())[0] if _MAY_HAVE[preset].search(url) else url


def twin(url: str) -> str | None:
    """Return a URL with https for http, or http for https; None for any other scheme."""
    if url.startswith("http:"):
        return f"https{url[4:]}"
    return f"http{url[5:]}" if url.startswith("https:") else None


class Equivalences(NamedTuple):
    """The rules by which two URLs are equivalent: the default ones, and `more`, words of MORE."""

    default: bool = True
    more: tuple[str, ...] = ()

    @staticmethod
    def from_words(words: str | None) -> Equivalences:
        """Return the equivalences for `--same`: words separated by commas. Raise UsageError for an unknown word."""
        chosen = [word.strip() for word in words.split(",")] if words else []
        if chosen == [NONE]:
            return Equivalences(default=False)
        for word in chosen:
            if word not in MORE:
                raise UsageError(f"--same takes {', '.join(MORE)} or {NONE}, not {word!r}")
        return Equivalences(more=tuple(word for word in MORE if word in chosen))

    def others(self, url: str, charset: str = "utf-8") -> list[tuple[str, str]]:
        """Return each rule with the equivalent form of this URL, in order of preference.

        Two URLs are the same by a rule if their forms are equal: for example, `http://h/a` has ("scheme",
        "https://h/a"). The URL is linked from a document of this charset.
        """
        if not self.default:
            return []
        path_forms = list(_path_forms(url, charset))
        forms = [plain(url), *path_forms[:1]]
        found = [(UNESCAPED, one) for one in forms]
        found += [(SCHEME, other) for one in dict.fromkeys([url, *forms]) if (other := twin(one)) is not None]
        found += [(",".join(self.more), self.form(url))] if self.more else []
        found += [(ENCODING, form) for form in path_forms[1:]]
        for rule, bare in self._bare(url):
            if bare != url:
                found += [(rule, one) for one in (bare, twin(bare)) if one is not None]
            found.append((rule, _loose(bare)))
        return found

    def _bare(self, url: str) -> Iterator[tuple[str, str]]:
        """Yield the rules that drop parts of a URL, with the rest, which may be the URL itself."""
        yield SESSION, _without(url, "sessions")
        if BUSTER in self.more:
            yield BUSTER, _without(url, "busters")

    def forms(self, url: str, *, is_file: bool = False) -> Iterator[str]:
        """Yield the forms, other than the URL itself, under which `others` must find a held URL.

        `is_file`: the URL is the path of a file, and every spelling of its escapes means that file. In an archive two
        such URLs may have two documents.
        """
        if not self.default:
            return
        spelled = plain(url)
        if spelled != url:
            yield spelled
        if is_file:
            yield from islice(_path_forms(url), 1)
        if self.more:
            yield self.form(url)
        for _, bare in self._bare(url):
            if bare != url:
                yield _loose(bare)

    def form(self, url: str) -> str:
        """Return a form that is equal for all URLs that are the same by the rules of `more`; it is no URL."""
        scheme, _, rest = plain(url).partition("://")
        scheme = "http" if scheme == "https" else scheme
        authority, slash, path = rest.partition("/")
        path, mark, query = path.partition("?")
        if "www" in self.more:
            authority = authority.removeprefix("www.")
        if "slash" in self.more:
            path = path.rstrip("/")
        if "query-order" in self.more:
            query = "&".join(sorted(query.split("&")))
        form = f"={scheme}://{authority}{slash}{path}{mark}{query}"
        return form.lower() if "case" in self.more else form


def _loose(url: str) -> str:
    """Return the form of a URL that others have when their sessions are dropped; several URLs may have it."""
    return f"{LOOSE}{url.removeprefix('https:').removeprefix('http:')}"


_SMALL: Final = 100_000  # rows that are kept in memory
_MOST_KNOWN: Final = 50_000  # results that are cached
_MOST_CHARACTERS: Final = 2048  # of a URL whose result is cached
_MOST_ALIKE: Final = 64  # paths of files that differ only by case


# Only rows of text: a finished map may come from anybody.
_EVERY: Final = """\
SELECT url, path, redirect FROM resources WHERE (path IS NOT NULL OR redirect IS NOT NULL)
AND typeof(url) = 'text' AND typeof(path) IN ('text', 'null') AND typeof(redirect) IN ('text', 'null')"""
_ONE: Final = """\
SELECT path, redirect FROM resources WHERE url = ?
AND typeof(path) IN ('text', 'null') AND typeof(redirect) IN ('text', 'null')"""

_Same = tuple[str, str, str]  # a URL, the one that is held for it, and the rule
# Whether a file of the mirror comes from a folder or a package
_FILE: Final = 'SELECT 1 FROM plan JOIN places USING (source, "offset") WHERE plan.path = ?'
_RESPONSE: Final = "SELECT url, coalesce(media_type, ''), coalesce(fields, '') FROM resources WHERE path = ?"


class Lookup:
    """The files of a mirror by URL. `used` has the URLs that an equivalent one resolved since it was last emptied."""

    def __init__(
        self,
        db: sqlite3.Connection,
        same: Equivalences,
        *,
        is_normal: bool,
        is_finished: bool = False,
        reader: Callable[[int], Reader] | None = None,
    ) -> None:
        self._db = db
        self._reader = reader  # returns the reader for the number of a source
        self._is_finished = is_finished  # such a map has no table of forms, and may come from anybody
        self._same = same
        self._is_normal = is_normal  # whether the URLs come from the URL Standard's parser
        self._charset = "utf-8"  # the charset of the document with the links
        self._known: dict[str, tuple[Target | None, _Same | None]] = {}
        self.used: dict[str, _Same] = {}
        self._rows: dict[str, tuple[str | None, str | None]] | None = None
        self._forms: dict[str, str | None] = {}
        self._by_name: dict[tuple[int, str, str], Target | str | None] = {}
        self.digests = cache(self._digests)
        self.needs_charset = cache(self._needs_charset)
        (count,) = self._db.execute("SELECT count(*) FROM resources").fetchone()
        if count <= _SMALL:
            self._rows = {url: (path_, redirect) for url, path_, redirect in self._db.execute(_EVERY)}
            self._forms = self._all_forms()

    def close(self) -> None:
        """Close the database: Windows removes no open file."""
        self._db.close()

    def parts(self, url: str) -> list[Part]:
        """Return the parts that make up a joined document, in order; an empty list for any other document."""
        query = 'SELECT source, "offset", number, start, size FROM parts WHERE url = ? ORDER BY part'
        return [Part(Where(*row[:3]), *row[3:]) for row in self._db.execute(query, (url,))]

    def foreign(self) -> frozenset[str]:
        """Return the paths of files that no mirror made."""
        return frozenset(path for (path,) in self._db.execute("SELECT path FROM foreign_files"))

    def pages(self) -> int:
        """Return how many documents are planned as pages."""
        query = "SELECT count(*) FROM plan WHERE path IS NOT NULL AND shown IN ('text/html', 'application/xhtml+xml')"
        return int(self._db.execute(query).fetchone()[0])

    def enter(self, charset: str) -> bool:
        """Set the charset of the document whose links are looked up; return whether cached answers may be wrong then.

        Only files have names in other encodings.
        """
        if charset == self._charset or not self._db.execute("SELECT 1 FROM places LIMIT 1").fetchone():
            return False
        self._charset = charset
        self._known.clear()
        self._by_name.clear()
        return True

    def __call__(self, url: str) -> Target | None:
        """Return the file for an absolute URL without fragment; None if it is not held."""
        known = self._known.get(url)
        if known is None:
            known = self._find(url)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if len(url) <= _MOST_CHARACTERS:
                self._known[url] = known
        found, same = known
        if same is not None:
            self.used[url] = same
        return found

    def response(self, path: str) -> Response:
        """Return the response from which a file of the mirror was made."""
        found = self._db.execute(_RESPONSE, (path,)).fetchone()
        return Response(*found) if found is not None else Response("", "", "")

    def _digests(self, path: str) -> dict[str, str]:
        """Return the digests of a response, read again once from its source; none if that is impossible."""
        found = self._payload(path)
        # where the container has text, its bytes may have been others
        return browsers.digests(found.data) if found is not None and found.charset is None else {}

    def _needs_charset(self, path: str) -> bool:
        """Return whether a response, read again once from its source, is neither ASCII nor has a byte order mark."""
        found = self._payload(path)
        return found is not None and not found.data.isascii() and byte_order_mark(found.data) is None

    def _payload(self, path: str) -> Payload | None:
        row = self._db.execute('SELECT source, "offset", number FROM plan WHERE path = ?', (path,)).fetchone()
        with suppress(DocumentError, *FAULTS):
            for _, found in self._reader(row[0]).payloads([Where(*row)]) if self._reader is not None else ():
                return found
        return None

    def named(self, where: Where) -> Callable[[str], Target | str | None] | None:
        """Return a function that finds the file named by a relative reference in the document at a place.

        For a file of another host that was not saved, it returns the URL. None for a document that is no file of a
        folder or a package.
        """
        query = 'SELECT place FROM places WHERE source = ? AND "offset" = ?'
        row = self._db.execute(query, where[:2]).fetchone()
        if row is None:
            return None
        return partial(self._target_by_name, where.source, row[0].decode("utf-8", "surrogatepass"))

    def _target_by_name(self, source: int, document: str, reference: str) -> Target | str | None:
        key = source, document.rpartition("/")[0], reference
        if key not in self._by_name:
            near = partial(self._near, source) if len(reference) <= _MOST_CHARACTERS else None
            name, at = reference, document
            if reference[:1] == "/" and (self._url_of(source, document) or "").startswith(PACKAGE_ROOT):
                name, at = reference[1:], ""  # the root of a package without a URL (EPUB 3.3, 4.2.5)
            path = named_by(
                name, at, lambda one: self._url_of(source, one) is not None, near=near, charset=self._charset
            )
            url = self._url_of(source, path) if path is not None else None
            exact = self._exact(url) if url is not None else None
            before, mark, query = reference.partition("#")[0].partition("?")
            if exact is not None and mark and exact == self._target_by_name(source, document, before):
                exact = exact._replace(query=query)  # file names lack it, and a script of the page may read it
            is_outside = path is None and reference.startswith("../")
            found = self._of_other_host(source, document, reference) if is_outside else exact
            if len(self._by_name) >= _MOST_KNOWN:
                self._by_name.clear()
            if len(reference) > _MOST_CHARACTERS:
                return found
            self._by_name[key] = found
        return self._by_name[key]

    def _of_other_host(self, source: int, document: str, reference: str) -> str | None:
        hosts = hosts_among([document, f"{document.rpartition('/')[0]}/index.html"])
        own, by_folder = self._url_of(source, document), hosts.url_of(document)
        is_by_folder = own is not None and by_folder is not None and origin(own) == origin(by_folder)
        return of_other_host(hosts, document, reference) if is_by_folder else None

    def _url_of(self, source: int, path: str) -> str | None:
        """Return the URL of a file by its path; None if there is no such file."""
        if not self._may_be(source, path):
            return None
        query = "SELECT url FROM places WHERE source = ? AND place = ?"
        row = self._db.execute(query, (source, place_of(path))).fetchone()
        return row[0] if row is not None else None

    def _near(self, source: int, path: str) -> str | None:
        """Return the only file whose path equals a path apart from normalization and case (`named_by`)."""
        if not self._may_be(source, path):
            return None
        query = f"SELECT place FROM places WHERE source = ? AND form = ? LIMIT {_MOST_ALIKE}"  # noqa: S608 - a number
        rows = self._db.execute(query, (source, place_of(fold(path)))).fetchall()
        return only_alike(path, (row[0].decode("utf-8", "surrogatepass") for row in rows))

    def _may_be(self, source: int, path: str) -> bool:
        """Return whether a file may have this path, which few references in pages name."""
        is_long = len(path) > _MOST_CHARACTERS  # to fold one may take more than linear time
        return is_long or self._names is None or (source, place_of(fold(path))) in self._names

    @cached_property
    def _names(self) -> frozenset[tuple[int, bytes]] | None:
        """The forms of all files' paths; None if there are too many to keep."""
        found = self._db.execute("SELECT source, form FROM places LIMIT ?", (_SMALL + 1,)).fetchall()
        return frozenset(found) if len(found) <= _SMALL else None

    @cached_property
    def origins(self) -> set[str]:
        """The origins of the URLs that are held, as URLs."""
        urls = self._db.execute("SELECT url FROM resources WHERE path IS NOT NULL")
        return {f"{origin(url)}/" for (url,) in urls}

    def _find(self, url: str) -> tuple[Target | None, _Same | None]:
        """Return the file for a URL, and the rule by which an equivalent URL has it."""
        if url[:4].lower() == "cid:":
            return self._exact("cid:" + escaped(percent_decoded(url[4:]))), None
        asked = url if self._is_normal else normal(url) or url
        if (found := self._exact(asked)) is not None:
            return found, None
        for rule, form in self._same.others(asked, self._charset):
            if self._rows is not None and form not in self._rows and form not in self._forms:
                continue
            for held in (form, self._form(form)):
                if held is not None and (found := self._exact(held)) is not None:
                    return found, (url, held, rule)
        # as savers name files; .html and .css: wget -E; a slash: static hosts
        clean = asked, f"{asked}.html", f"{asked}.css" if "?" in asked else f"{asked}/"
        for name in () if self._is_finished or asked.endswith("/") else clean:
            held = self._form(name) or name
            found = self._exact(held)
            if found is not None and self._db.execute(_FILE, (found.path,)).fetchone():
                return found, (url, held, "clean")
        return None, None

    def _exact(self, url: str) -> Target | None:
        row = self._row(url)
        if row is None:
            return None
        path, redirect = row
        if path is not None:
            return Target(path)
        if redirect is None:
            return None
        end, crosshatch, fragment = redirect.partition("#")
        row = self._row(end)
        if row is None or row[0] is None:
            return None
        return Target(row[0], fragment if crosshatch else None)

    def _row(self, url: str) -> tuple[str | None, str | None] | None:
        if self._rows is not None:
            return self._rows.get(url)
        row: tuple[str | None, str | None] | None = self._db.execute(_ONE, (url,)).fetchone()
        return row

    def _all_forms(self) -> dict[str, str | None]:
        """Return the URLs by form: from the working copy, or computed again for a finished map, which lacks them."""
        if not self._is_finished:
            return dict(self._db.execute("SELECT form, url FROM forms"))
        found: dict[str, str | None] = {}
        for url, (path, _) in sorted((self._rows or {}).items()):
            for form in self._same.forms(url):
                if form[0] == LOOSE and path is None:
                    continue
                if found.setdefault(form, url) != url and form[0] == LOOSE:
                    found[form] = None
        return found

    def _form(self, form: str) -> str | None:
        if self._rows is not None:
            return self._forms.get(form)
        if self._is_finished:
            return None
        row = self._db.execute("SELECT url FROM forms WHERE form = ?", (form,)).fetchone()
        return row[0] if row is not None else None
