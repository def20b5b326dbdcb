"""The pages of a mirror as a tree by host and path, in HTML that opens and closes without scripts.

In: pages. Out: the lines of nested lists, and the pages in their order. The depth and the number of pages are bounded.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.core.printable import masked
from absolve.document.holdings import INDEXES
from absolve.mirror import paths
from absolve.mirror.words import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST: Final = 50_000  # pages that are listed
_DEEPEST: Final = 8  # folders in each other
_LONGEST: Final = 200  # characters of a title or a URL
_NO_HOST: Final = frozenset({"package", "file"})
_SMALL: Final = 40  # pages of a tree that is open at first
_LARGE: Final = 300  # lines of the only host, above which it is closed: what follows would be far below
_DIGITS: Final = re.compile("([0-9]+)")
_NAMED: Final = "files"
_INDEXES: Final = frozenset({"", *INDEXES})
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
    """Return host, folders and name of a page for people. A page without a URL has its path in place of them."""
    scheme, _, rest = page.url.partition("://")
    if scheme in _NO_HOST:
        first, *inside = page.path.split("/")
        return (first if first != "_" else _NAMED, *inside) if inside else (_NAMED, first)
    host, *inside = rest.partition("?")[0].split("/")
    query = rest[len(rest.partition("?")[0]) :]
    *folders, name = (paths.decoded(one) if "%" in one else one for one in inside or [""])
    return (host, *folders, f"{name}{query}")


def lines(pages: Iterable[Page], order: list[Page]) -> Iterator[str]:
    """Yield the lines of the tree. `order` gets the pages in the order of their links."""
    root = _Folder()
    for page in pages:
        _add(root, page)
    is_open = root.number <= _SMALL
    hosts = sorted(root.folders.items(), key=lambda item: (-item[1].number, item[0]))
    for host, folder in hosts:
        is_only = len(hosts) == 1 and _most(folder) <= _LARGE
        yield from _folder(host, folder, order, opens=is_open or is_only, inner=is_open)


def _most(folder: _Folder) -> int:
    """Return how many lines a folder shows that is open, at first."""
    while len(folder.folders) == 1 and not folder.pages:
        (folder,) = folder.folders.values()
    return len(folder.pages) + len(folder.folders)


def _in_order(name: str) -> tuple[object, ...]:
    """Return a key by which p2 comes before p10."""
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
    for last, page in sorted(folder.pages, key=lambda item: (item[0] not in _INDEXES, _in_order(item[0]), item[1])):
        order.append(page)
        yield f"<li>{link(page)}{_beside(last, page)}</li>\n"
    for below, inside in sorted(folder.folders.items(), key=lambda item: _in_order(item[0])):
        yield "<li>"
        yield from _folder(below, inside, order, opens=inner, inner=inner)
        yield "</li>\n"
    yield "</ul></details>\n"


def _beside(last: str, page: Page) -> str:
    """Return the name of a page beside its title."""
    return f"<small>{shown(last)}</small>" if last and page.title.strip() else ""
