"""Find the file for a URL, by the map of a mirror: the URL itself, or an equivalent one.

In: the map, and the equivalences. Out: a `Target`, or None. A small map is kept in memory, of a large one only what is
asked for.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from absolve.core.errors import FAULTS, DocumentError
from absolve.document.holdings import fold, named_by, only_alike
from absolve.encodings.charsets import byte_order_mark
from absolve.mirror import browsers
from absolve.mirror.capture import Where, place_of
from absolve.mirror.policy import Target
from absolve.urls.identity import escaped, normal, origin, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.mirror.payloads import Payload, Reader
    from absolve.mirror.urls import Equivalences

_SMALL: Final = 100_000  # rows that are kept in memory
_MOST_KNOWN: Final = 50_000  # results that are cached
_MOST_CHARACTERS: Final = 2048  # of a URL whose result is cached
_MOST_ALIKE: Final = 64  # paths of files that differ only by case


# Only rows of text: a finished map may be anybody's.
_EVERY: Final = """\
SELECT url, path, redirect FROM resources WHERE (path IS NOT NULL OR redirect IS NOT NULL)
AND typeof(url) = 'text' AND typeof(path) IN ('text', 'null') AND typeof(redirect) IN ('text', 'null')"""
_ONE: Final = """\
SELECT path, redirect FROM resources WHERE url = ?
AND typeof(path) IN ('text', 'null') AND typeof(redirect) IN ('text', 'null')"""

# Whether a file of the mirror is one of a folder or a package
_FILE: Final = 'SELECT 1 FROM plan JOIN places USING (source, "offset") WHERE plan.path = ?'
_RESPONSE: Final = "SELECT url, coalesce(media_type, ''), coalesce(fields, '') FROM resources WHERE path = ?"


class Lookup:
    """The files of a mirror by URL. `used` has the URLs for which others stood since it was emptied last."""

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
        self._reader = reader  # of a source, by its number
        self._is_finished = is_finished  # the map of anybody, which has no table of forms
        self._same = same
        self._is_normal = is_normal  # whether the URLs come from the URL Standard's parser
        self._charset = "utf-8"  # of the document whose links are looked up
        self._known: dict[str, Target | None] = {}
        self._stands: dict[str, tuple[str, str, str]] = {}
        self.used: dict[str, tuple[str, str, str]] = {}
        self._rows: dict[str, tuple[str | None, str | None]] | None = None
        self._forms: dict[str, str] = {}
        self._origins: set[str] | None = None
        self._digests: dict[str, dict[str, str]] = {}
        self._foreign: dict[str, bool] = {}
        self._by_name: dict[tuple[int, str, str], Target | None] = {}
        (count,) = self._db.execute("SELECT count(*) FROM resources").fetchone()
        if count <= _SMALL:
            self._rows = {url: (path_, redirect) for url, path_, redirect in self._db.execute(_EVERY)}
            self._forms = self._all_forms()

    def close(self) -> None:
        """Close the database: Windows removes no open file."""
        self._db.close()

    def enter(self, charset: str) -> bool:
        """Set the charset of the document whose links are looked up; return whether answers may be others than before.

        Only files are named in other encodings.
        """
        if charset == self._charset or not self._db.execute("SELECT 1 FROM places LIMIT 1").fetchone():
            return False
        self._charset = charset
        for known in (self._known, self._stands, self._by_name):
            known.clear()
        return True

    def __call__(self, url: str) -> Target | None:
        """Return the file for an absolute URL without fragment; None if it is not held."""
        if url in self._known:
            found = self._known[url]
        else:
            found = self._found(url)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
                self._stands.clear()
            if len(url) <= _MOST_CHARACTERS:
                self._known[url] = found
        if found is not None and url in self._stands:
            self.used[url] = self._stands[url]
        return found

    def response(self, path: str) -> tuple[str, str, str]:
        """Return the URL of a file of the mirror, its media type, and the fields that limit it (see `browsers`)."""
        found: tuple[str, str, str] | None = self._db.execute(_RESPONSE, (path,)).fetchone()
        return found if found is not None else ("", "", "")

    def digests(self, path: str) -> dict[str, str]:
        """Return the digests of a response, read again once from its source; none where that cannot be done."""
        if path not in self._digests:
            found = self._payload(path)
            # where the container has text, its bytes may have been others
            is_known = found is not None and found.charset is None
            self._digests[path] = browsers.digests(found.data) if found is not None and is_known else {}
        return self._digests[path]

    def needs_charset(self, path: str) -> bool:
        """Return whether a response, read again once from its source, is neither ASCII nor has a byte order mark."""
        if path not in self._foreign:
            found = self._payload(path)
            data = found.data if found is not None else b""
            self._foreign[path] = not data.isascii() and byte_order_mark(data) is None
        return self._foreign[path]

    def _payload(self, path: str) -> Payload | None:
        row = self._db.execute('SELECT source, "offset", number FROM plan WHERE path = ?', (path,)).fetchone()
        with suppress(DocumentError, *FAULTS):
            for _, found in self._reader(row[0]).payloads([Where(*row)]) if self._reader is not None else ():
                return found
        return None

    def named(self, where: Where) -> Callable[[str], Target | None] | None:
        """Return what finds the file that a relative reference names in the document at a place, by its path.

        None for a document that is no file of a folder or a package.
        """
        query = 'SELECT place FROM places WHERE source = ? AND "offset" = ?'
        row = self._db.execute(query, where[:2]).fetchone()
        return partial(self._named, where.source, row[0].decode("utf-8", "surrogatepass")) if row is not None else None

    def _named(self, source: int, document: str, reference: str) -> Target | None:
        key = source, document.rpartition("/")[0], reference
        if key not in self._by_name:
            near = partial(self._near, source) if len(reference) <= _MOST_CHARACTERS else None
            has = partial(self._has, source)
            path = named_by(reference, document, has, near=near, charset=self._charset)
            url = self._url_of(source, path) if path is not None else None
            found = self._exact(url) if url is not None else None
            before, mark, query = reference.partition("#")[0].partition("?")
            if found is not None and mark and found == self._named(source, document, before):
                found = found._replace(query=query)  # which is in no name: a script of the page may read it
            if len(self._by_name) >= _MOST_KNOWN:
                self._by_name.clear()
            if len(reference) > _MOST_CHARACTERS:
                return found
            self._by_name[key] = found
        return self._by_name[key]

    def _has(self, source: int, path: str) -> bool:
        return self._url_of(source, path) is not None

    def _url_of(self, source: int, path: str) -> str | None:
        """Return the URL of a file by its path; None if there is no such file."""
        if not self._may_be(source, path):
            return None
        query = "SELECT url FROM places WHERE source = ? AND place = ?"
        row = self._db.execute(query, (source, place_of(path))).fetchone()
        return row[0] if row is not None else None

    def _near(self, source: int, path: str) -> str | None:
        """Return the one file that a path is where normalization and case do not count (`named_by`)."""
        if not self._may_be(source, path):
            return None
        query = f"SELECT place FROM places WHERE source = ? AND form = ? LIMIT {_MOST_ALIKE}"  # noqa: S608 - a number
        rows = self._db.execute(query, (source, place_of(fold(path)))).fetchall()
        return only_alike(path, (row[0].decode("utf-8", "surrogatepass") for row in rows))

    def _may_be(self, source: int, path: str) -> bool:
        """Return whether a file may have this path: most references of pages name none."""
        is_long = len(path) > _MOST_CHARACTERS  # to fold one may take more than linear time
        return is_long or self._names is None or (source, place_of(fold(path))) in self._names

    @cached_property
    def _names(self) -> frozenset[tuple[int, bytes]] | None:
        """The forms of the paths of all files; None if these are too many to be kept."""
        found = self._db.execute("SELECT source, form FROM places LIMIT ?", (_SMALL + 1,)).fetchall()
        return frozenset(found) if len(found) <= _SMALL else None

    @property
    def origins(self) -> set[str]:
        """The origins of the URLs that are held, as URLs."""
        if self._origins is None:
            urls = self._db.execute("SELECT url FROM resources WHERE path IS NOT NULL")
            self._origins = {f"{origin(url)}/" for (url,) in urls}
        return self._origins

    def _found(self, url: str) -> Target | None:
        asked = url
        if url[:4].lower() == "cid:":
            return self._exact("cid:" + escaped(percent_decoded(url[4:])))
        if not self._is_normal:
            asked = normal(url) or url
        found = self._exact(asked)
        if found is not None:
            return found
        for rule, form in self._same.others(asked, self._charset):
            if self._rows is not None and form not in self._rows and form not in self._forms:
                continue
            held = form
            found = self._exact(form)
            if found is None:
                equivalent = self._form(form)
                if equivalent is None:
                    continue
                held = equivalent
                found = self._exact(held)
            if found is not None:
                self._stands[url] = (url, held, rule)
                return found
        clean = () if self._is_finished or "?" in asked or asked.endswith("/") else (f"{asked}.html", f"{asked}/")
        for held in clean:  # as static hosts have them
            found = self._exact(held)
            if found is not None and self._db.execute(_FILE, (found.path,)).fetchone():
                self._stands[url] = (url, held, "clean")
                return found
        return None

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

    def _all_forms(self) -> dict[str, str]:
        """Return the URLs by form: those of the working copy; computed again for a finished map, which has none."""
        if not self._is_finished:
            with suppress(sqlite3.OperationalError):
                return dict(self._db.execute("SELECT form, url FROM forms"))
        found: dict[str, str] = {}
        for url in sorted(self._rows or ()):
            for form in self._same.forms(url):
                found.setdefault(form, url)
        return found

    def _form(self, form: str) -> str | None:
        if self._rows is not None:
            return self._forms.get(form)
        if self._is_finished:
            return None
        with suppress(sqlite3.OperationalError):
            row = self._db.execute("SELECT url FROM forms WHERE form = ?", (form,)).fetchone()
            return row[0] if row is not None else None
        return None
