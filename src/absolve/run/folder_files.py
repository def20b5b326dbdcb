"""Find the file of a folder that a link names or whose URL it has, for copies that are opened from a disk.

In: the inputs found in a folder, and its URL. Out: a callable from a link to the relative path of its file
(`rewriting.forms`). Nothing is looked up on the disk: a reference reaches only files that the run found.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final

from absolve.document.holdings import INDEXES, fold, named_by, only_alike
from absolve.run.companions import recorded
from absolve.run.output_folder import place_in
from absolve.run.sources import modified
from absolve.urls.identity import normal, percent_decoded
from absolve.urls.predicates import has_scheme
from absolve.urls.relative_path import reference_to

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.run.inputs import Input

_LONGEST: Final = 4096  # characters of a reference that may name a file


class FolderFiles:
    """The files of a folder by their paths, and by their URLs.

    `url` is the URL of the folder; without it files have the URLs of a table, those that they record, or those of
    folders named as hosts. Of several files with one URL the newest has it.
    """

    def __init__(self, found: Iterable[Input], root: str, url: str | None) -> None:
        self._root = root
        self._site = normal(f"{url.rstrip('/')}/") if url else None
        self._alike: defaultdict[str, list[str]] = defaultdict(list)
        self._by_url: dict[str, str] = {}
        inputs = list(found)
        for input_ in inputs:
            self._alike[fold(input_.place)].append(input_.place)
        for input_ in sorted(inputs, key=lambda one: modified(one.name), reverse=True):
            self._add(input_, input_.url or ("" if url else self._known(input_)))

    def _known(self, input_: Input) -> str:
        claim = input_.claim.reference if input_.claim is not None else ""
        return recorded(self._root, input_.place) or claim

    def _add(self, input_: Input, url: str) -> None:
        key = normal(url)
        if key is None:
            return
        self._by_url.setdefault(key, input_.place)
        folder, _, name = key.rpartition("/")
        if name in INDEXES:
            self._by_url.setdefault(f"{folder}/", input_.place)

    def __call__(self, document: str, reference: str, url: str | None, charset: str) -> str | None:
        """Return the relative path from a document, the file of this name, to the file that a link leads to, or None.

        A `reference` counts as a path before the `url` does, unless it is "". One that leads to the file from a disk
        stays as it is written.
        """
        place = place_in(self._root, document)
        found = self._named(reference, place, charset) or (self._of_url(url, charset) if url is not None else None)
        if found is None:
            return None
        path, rest = found
        return reference if _leads(reference, place, path) else reference_to(posixpath.dirname(place), path) + rest

    def _of_url(self, url: str, charset: str) -> tuple[str, str] | None:
        """Return the path of the file with a URL, and what follows it in a reference: a query, a fragment."""
        key, rest = normal(url) or "", "".join(url.partition("#")[1:])
        if (path := self._by_url.get(key)) is not None:
            return path, rest
        is_below = self._site is not None and key.startswith(self._site)
        return self._named(f"./{key[len(self._site or '') :]}{rest}", "", charset) if is_below else None

    def _named(self, reference: str, place: str, charset: str) -> tuple[str, str] | None:
        """Return the same for a reference that names a file from the document at a place."""
        if not reference or len(reference) > _LONGEST:
            return None
        find = partial(named_by, document=place, has=self._has, near=self._near, charset=charset)
        path = find(reference)
        if path is None:
            return None
        bare, question, query = reference.partition("#")[0].partition("?")
        rest = question + query if find(bare) == path else ""  # otherwise it is a part of the name
        return path, rest + "".join(reference.partition("#")[1:])

    def _has(self, path: str) -> bool:
        return path in self._alike.get(fold(path), ())

    def _near(self, path: str) -> str | None:
        return only_alike(path, self._alike.get(fold(path), ()))


def _leads(reference: str, place: str, path: str) -> bool:
    """Return whether a reference leads from a place to the file at a path where no server is asked."""
    bare = reference.partition("#")[0].partition("?")[0]
    if not bare or bare[0] in "/\\" or bare[-1] == "/" or has_scheme(bare):
        return False
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), percent_decoded(bare))) == path
