"""The sure repairs of an audit, as a policy for `absolve rewrite`.

In: the tables of findings. Out: the table `fixes`; a database of new references, and a policy that reads them from it,
which is small enough for worker processes.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.judge import each, has_rows, insert
from absolve.audit.verdicts import PLACE
from absolve.document.resolved import shown
from absolve.urls.relative_path import in_form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.document.resolved import Resolved

_SURE: Final = """
SELECT DISTINCT f.reference, f.base, f.final, m.form FROM findings f LEFT JOIN forms m ON m.id = f.id
ANTI JOIN ( -- rules that lead an old page to another one
    SELECT d.cause_rule, bare(d.final) AS final FROM judged_urls j JOIN led d ON d.url = j.led_url
    WHERE j.verdict = 'replaced'
) w ON w.cause_rule = f.rule AND w.final = bare(f.final)
WHERE is_sure AND f.final IS NOT NULL AND f.url NOT IN (
    SELECT url FROM moves WHERE NOT is_sure
    UNION ALL SELECT c.url FROM counterparts c JOIN moves m ON m.url = c.old_url WHERE NOT m.is_sure)
"""
_USER: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*@")  # a capture's password is not for its pages
_FIXES: Final = """
SELECT DISTINCT l.document, l.entity, l.element, l.attribute, CASE l.element WHEN 'link' THEN l.rel ELSE '' END,
    l.reference, l.base, f.fix
FROM fixed_findings f JOIN links_in l ON l.id = f.id WHERE f.fix IS NOT NULL
"""


def add(connection: Any, site: str = PLACE) -> None:
    """Fill the table `fixes` with new references for links with a sure end: for example `../c.html` for `../b.html`.

    `site` is the URL of the new site: files beside it without a URL get one at PLACE, which no reference gets.
    """
    if not has_rows(connection, "FROM findings WHERE is_sure"):
        return
    rows = ((*row, _fix(*row)) for row in each(connection, _SURE))
    fixes = (row for row in rows if row[4] != row[0] and not _USER.match(row[4]))
    insert(connection, "fixes", (row for row in fixes if site.startswith(PLACE) or not row[4].startswith(PLACE)))


def _fix(reference: str, base: str, final: str, form: str | None) -> str:
    """Return the new reference, in the form of the old one, or in one that is needed here (the table `forms`).

    >>> _fix("Talk:Rye.html", "http://h/a/", "http://h/a/Talk:Rye.html", "dotted")
    './Talk:Rye.html'
    """
    return final if form == "full" else in_form({"path": "/", "dotted": "./"}.get(form or "", reference), base, final)


def write(connection: Any, path: str) -> int:
    """Write the repairs to a new database; return their number."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE fixes (document, entity, element, attribute, rel, reference, base, fix)")
        database.executemany("INSERT INTO fixes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", each(connection, _FIXES))
        database.execute("CREATE INDEX of_document ON fixes (document)")
        database.commit()
        count: int = database.execute("SELECT count(*) FROM fixes").fetchone()[0]
    return count


def documents(path: str) -> set[str]:
    """Return the names of the documents with repairs."""
    with closing(sqlite3.connect(path)) as database:
        return {name for (name,) in database.execute("SELECT DISTINCT document FROM fixes")}


class RepairPolicy:
    """The policy: the new reference for a link with a repair; all other links stay."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._document: str | None = None
        self._fixes: dict[tuple[str, ...], str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return RepairPolicy, (self._path,)

    def __call__(self, resolved: Resolved) -> str | None:
        entity = resolved.entity
        if entity.name != self._document:
            self._document = entity.name
            self._fixes = self._read_fixes(shown(entity.name))
        if not self._fixes:
            return None
        rel = resolved.rel if resolved.element == "link" else ""
        place = shown(entity.path), resolved.element, resolved.attribute, rel
        return self._fixes.get((*place, shown(resolved.reference), shown(resolved.base.url)))

    def _read_fixes(self, document: str) -> dict[tuple[str, ...], str]:
        query = "SELECT entity, element, attribute, rel, reference, base, fix FROM fixes WHERE document = ?"
        with closing(sqlite3.connect(self._path)) as database:
            rows: Iterable[tuple[str, ...]] = database.execute(query, [document])
            return {tuple(key): fix for *key, fix in rows}
