"""The sources of a mirror: one for each archive among the inputs, and one for all plain files.

In: the inputs of a run. Out: `Source`s, which can be passed to other processes, and their readers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.document.holdings import named_by, saver_of
from absolve.document.walk import walk
from absolve.formats import registry
from absolve.mirror.warc import record_files
from absolve.rewriting import rewriter
from absolve.run import sources as files
from absolve.run.inputs import left_out, parts_of
from absolve.run.load import is_document, not_read, read
from absolve.run.load import kind_of as suffix_of
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from absolve.document.resolved import Resolved
    from absolve.mirror.payloads import Reader
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

FILES: Final = "files"
_PAGES: Final = frozenset({registry.HTML, registry.XML})
_NAMED: Final = 5  # files of a source whose names are shown


class Source(NamedTuple):
    """One source: its kind, a media type of archives or `files`, its inputs, and the member of a WACZ that it is."""

    kind: str
    inputs: tuple[Input, ...]
    member: str = ""

    @property
    def name(self) -> str:
        """The name in the map: the archive's, nothing for plain files."""
        if self.kind == FILES:
            return ""
        return f"{self.inputs[0].name}!{self.member}" if self.member else self.inputs[0].name

    @property
    def label(self) -> str:
        """The name for people: that of the file, or of the folder in which files were found, without the way to it."""
        given = [one for one in self.inputs if one.shares or not one.found]
        names = list(dict.fromkeys(map(_label, given or self.inputs)))
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more}"


def _label(input_: Input) -> str:
    name = input_.root or input_.name
    if "://" in name:
        name = name.partition("?")[0].rstrip("/")  # a query may have a signature
        return name.rpartition("/")[2]
    return os.path.basename(os.path.abspath(name))  # noqa: PTH100, PTH119 - any text


def sources_of(inputs: Iterable[Input], how: ReadOptions, notify: Callable[[Diagnostic], None]) -> list[Source]:
    """Return the sources of the inputs, in their order; plain files are one source, the last one.

    An archive in the folder of a site is one of its files: where the user gives the URL of a folder that has a page, or
    a page in it leads to the archive.
    """
    found: list[Source] = []
    plain: list[Input] = []
    pages: list[Input] = []
    archives: list[tuple[Input, str]] = []
    for input_ in _with_parts(inputs, notify):
        try:
            head = files.head(input_.name, root=input_.root)
            kind = kind_of(input_.name, head, how.media_type, partial(files.FileBytes, input_.name, input_.root))
        except DocumentError as error:
            notify(error.diagnostic._replace(failed=True))
            continue
        if input_.found and (saver := saver_of(input_.place, head)):
            notify(left_out(saver, input_.name))
            continue
        kind = FILES if input_.held else kind
        if kind == FILES:
            plain.append(input_)
            pages += [input_] if input_.found and registry.recognised(head, input_.name) in _PAGES else []
            if input_.found and not is_document(input_, head, how):
                notify(not_read(input_))  # it is held as it is
        else:
            archives.append((input_, kind))
    of_sites = _of_sites([input_ for input_, _ in archives if input_.found], pages, how)
    for input_, kind in archives:
        if input_.name in of_sites:
            plain.append(input_._replace(held=suffix_of(input_.name)))
            notify(not_read(plain[-1]))
        else:
            members = record_files(input_.name, input_.root) if kind in registry.IN_ZIP else []
            found += [Source(registry.WARC, (input_,), member) for member in members] or [Source(kind, (input_,))]
    if plain:
        found.append(Source(FILES, tuple(plain)))
    return found


def _of_sites(archives: Sequence[Input], pages: Sequence[Input], how: ReadOptions) -> set[str]:
    """Return the names of the archives in folders that are files of the site there."""
    with_pages = {page.root for page in pages}
    found = {one.name for one in archives if one.url and one.url_source == "--url" and one.root in with_pages}
    names = {one.place: one.name for one in archives if one.name not in found}
    urls = {normal(one.claim.reference): one.name for one in archives if one.claim is not None}  # of hosts' folders
    for page in pages if names else ():

        def seen(resolved: Resolved, place: str = page.place) -> None:
            path = named_by(resolved.reference, place, names.__contains__)
            found.add(names[path] if path is not None else urls.get((resolved.target or "").partition("#")[0], ""))

        with suppress(DocumentError, *FAULTS):  # reported when it is made
            rewriter.edits(walk(read(page, how), how.settings), seen)
    return found


def _with_parts(inputs: Iterable[Input], notify: Callable[[Diagnostic], None]) -> Iterator[Input]:
    """Yield the inputs, and the parts of the pages that were given by name: a browser saves them in a folder beside."""
    pages, known = [], set()
    for input_ in inputs:
        known.add(input_.name)
        if not input_.found:
            pages.append(input_)
        yield input_
    for page in pages:
        yield from (part for part in parts_of(page, notify) if part.name not in known)


def kind_of(name: str, head: bytes, media_type: str | None, whole: Callable[[], Any]) -> str:
    """Return the media type of a container, as the user gives it or by its bytes; FILES for any other file."""
    kind = registry.format_of(head, name, media_type, whole) or ""
    return kind if registry.is_container(kind) else FILES


def reader_of(source: Source, number: int, how: ReadOptions, data: bytes | None = None) -> Reader:
    """Return the reader of a source, which has this number. `data` are the bytes of a container, if known."""
    if source.kind == FILES:
        from absolve.mirror.files import FilesReader

        return FilesReader(source.inputs, number, how)
    input_ = source.inputs[0]
    if source.kind == registry.WARC:
        from absolve.mirror.warc import WarcReader, opened_member

        def opened() -> AbstractContextManager[IO[bytes]]:
            if data is not None:
                return BytesIO(data)
            if source.member:
                return opened_member(input_.name, source.member, input_.root)
            return files.opened(input_.name, input_.root)

        return WarcReader(source.name, number, opened, how.settings)
    from absolve.mirror.containers import ContainerReader

    return ContainerReader(input_, number, how, source.kind, data)
