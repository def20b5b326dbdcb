"""The sources of a mirror: one for each archive among the inputs, and one for all plain files.

In: the inputs of a run. Out: `Source`s, which can be passed to other processes, and their readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import DocumentError
from absolve.formats import registry
from absolve.run import sources as files
from absolve.run.load import is_document, not_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.core.errors import Diagnostic
    from absolve.mirror.payloads import Reader
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

FILES: Final = "files"


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


def sources_of(inputs: Iterable[Input], how: ReadOptions, notify: Callable[[Diagnostic], None]) -> list[Source]:
    """Return the sources of the inputs, in their order; plain files are one source, the last one."""
    found: list[Source] = []
    plain: list[Input] = []
    for input_ in inputs:
        try:
            head = files.head(input_.name, found=input_.found)
        except DocumentError as error:
            notify(error.diagnostic._replace(failed=True))
            continue
        kind = _kind(input_.name, head, how)
        if kind == FILES:
            plain.append(input_)
            if input_.found and not is_document(input_.name, head, how):
                notify(not_read(input_))  # it is held as it is
        elif kind == registry.ZIP:
            from absolve.mirror.warc import record_files

            members = record_files(input_.name)
            found += [Source(registry.WARC, (input_,), member) for member in members] or [Source(kind, (input_,))]
        else:
            found.append(Source(kind, (input_,)))
    if plain:
        found.append(Source(FILES, tuple(plain)))
    return found


def _kind(name: str, head: bytes, how: ReadOptions) -> str:
    """Return the kind of a source, by the option or by its first bytes."""
    kind = registry.kind_of(how.media_type) if how.media_type is not None else registry.sniff(head, name) or ""
    if kind in registry.PACKAGES:
        return registry.ZIP
    return kind if kind in {registry.WARC, registry.HAR, *registry.MAIL} else FILES


def reader_of(source: Source, number: int, how: ReadOptions) -> Reader:
    """Return the reader of a source, which has this number."""
    if source.kind == FILES:
        from absolve.mirror.files import FilesReader

        return FilesReader(source.inputs, number, how)
    input_ = source.inputs[0]
    if source.kind == registry.WARC:
        from functools import partial

        from absolve.mirror.warc import WarcReader, opened_member

        if source.member:
            return WarcReader(source.name, number, partial(opened_member, input_.name, source.member), how.settings)
        return WarcReader(source.name, number, partial(files.opened, input_.name), how.settings)
    from absolve.mirror.containers import ContainerReader

    return ContainerReader(input_, number, how, source.kind)
