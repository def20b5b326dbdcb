"""Suggest URLs for broken links and lost URLs: the nearest names that are there. None is applied by itself.

In: the tables of an audit. Out: the tables near_links and near_urls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from absolve.audit.judge import each, insert, one
from absolve.audit.suggest import Asked, NearMisses

if TYPE_CHECKING:
    from collections.abc import Iterator

_KNOWN: Final = """
SELECT n.url, r.title FROM resources r JOIN named n ON n.resource = r.resource
WHERE r.side = 'new' ORDER BY r.resource
"""
# Of a large site only what is named like a URL that is asked.
_NAMED_ALIKE: Final = """
WITH asked_names AS (
    SELECT DISTINCT lower(regexp_extract(path_of(url), '([^/.]*)[^/]*$', 1)) AS name FROM (
        SELECT url FROM findings WHERE verdict = 'broken' AND final IS NULL
        UNION ALL SELECT new_url FROM judged_urls WHERE verdict = 'lost')
)
SELECT n.url, r.title FROM resources r JOIN named n ON n.resource = r.resource
SEMI JOIN asked_names a ON a.name = lower(regexp_extract(r.path, '([^/.]*)[^/]*$', 1))
WHERE r.side = 'new' ORDER BY r.resource LIMIT ?
"""
_LARGE: Final = 100_000  # URLs of a site whose names are all compared
_BROKEN: Final = """
SELECT url FROM findings WHERE verdict = 'broken' AND final IS NULL AND suggestion IS NULL
GROUP BY url ORDER BY count(*) DESC, url LIMIT ?
"""
_LOST: Final = """
SELECT j.url, j.new_url, r.title FROM judged_urls j JOIN resources r ON r.resource = j.resource
WHERE j.verdict = 'lost' AND j.elsewhere IS NULL ORDER BY j.url LIMIT ?
"""
MOST: Final = 5000  # URLs for which a suggestion is looked for: those that most links name


def suggest(connection: Any) -> None:
    """Fill the tables of suggestions."""
    broken = [url for (url,) in each(connection, _BROKEN, [MOST])]
    lost = list(each(connection, _LOST, [MOST]))
    if not broken and not lost:
        return
    is_large = one(connection, "SELECT count(*) FROM resources WHERE side = 'new'")[0] > _LARGE
    near = NearMisses(each(connection, _NAMED_ALIKE, [_LARGE]) if is_large else each(connection, _KNOWN))

    def found() -> Iterator[tuple[str, str]]:
        for url in broken:
            hit = near(Asked(url))
            if hit is not None:
                yield url, hit.url

    def found_lost() -> Iterator[tuple[str, str]]:
        for url, new_url, title in lost:
            hit = near(Asked(new_url, title))
            if hit is not None:
                yield url, hit.url

    insert(connection, "near_links", found())
    insert(connection, "near_urls", found_lost())
