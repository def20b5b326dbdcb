"""Find the file of a folder or package that a relative reference names.

In: the paths of the files, `/` between their parts, and a reference with the path of the document that has it. Out: the
path of a file, or None. `rewrite`, `mirror` and `links` ask it before they resolve a reference to a URL.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from absolve.urls.identity import percent_decoded
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Files that servers and savers have for the URL of a folder, in the order in which they count.
INDEXES: Final = ("index.html", "index.htm", "index.xhtml", "index.php", "default.htm", "default.html", "default.asp")


def named_by(reference: str, document: str, has: Callable[[str], bool]) -> str | None:
    """Return the path of the file that a reference in the document at a path names; None if there is no such file.

    `has` returns whether a path, below the root and without `.` and `..`, is a file. Savers escape the `?` of a name
    (`a.html%3Fx=1`), or leave it (wget without -k): so the file with the query in its name counts first, then the one
    that a browser opens from a disk, which ignores the query. The name of a folder is that of its index.
    """
    before, mark, query = reference.partition("#")[0].partition("?")
    if not before or before[0] in "/\\" or has_scheme(before):
        return None
    folder = posixpath.dirname(document)
    for path in _paths(before, mark + query):
        found = posixpath.normpath(posixpath.join(folder, path))
        if found.startswith(("../", "/")) or found == "..":
            continue
        if not path.endswith("/") and has(found):
            return found
        inside = "" if found == "." else f"{found}/"
        index = next((inside + name for name in INDEXES if has(inside + name)), None)
        if index is not None:
            return index
    return None


def _paths(path: str, query: str) -> Iterator[str]:
    """Yield a path with its query in its name, then without: each decoded as a URL is, and as it is written."""
    decoded = percent_decoded(path)
    for end in ((query, "") if len(query) > 1 else ("",)):
        yield decoded + percent_decoded(end)
        if decoded != path:
            yield path + end
