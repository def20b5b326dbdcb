"""Read one input and walk it.

Input: an `Input` and the `ReadOptions`. Output: the document, its entity, and the diagnostics about both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.core.errors import Diagnostic, in_short
from absolve.core.model import Layer
from absolve.document.diagnostics import base_too_long
from absolve.document.walk import Settings, has_relative, walk
from absolve.formats import registry
from absolve.run import sources
from absolve.urls.base import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Document
    from absolve.document.entity import Entity
    from absolve.run.inputs import Input


class ReadOptions(NamedTuple):
    """Settings of the walk, and the media type and charset that the user gives for all inputs."""

    settings: Settings
    media_type: str | None = None
    charset: str | None = None
    file_urls: bool = False


class Walked(NamedTuple):
    """A document, its entity (bases and links), and its diagnostics."""

    document: Document
    entity: Entity
    diagnostics: list[Diagnostic]


def walked(input_: Input, how: ReadOptions) -> Walked:
    """Read and walk one input. Raise DocumentError if it cannot be read or exceeds a limit."""
    document = read(input_, how)
    diagnostics = [] if document.data else [empty(input_)]
    if document.media_type is None and registry.is_other(document.data, document.name):
        kind = registry.in_words(document.data, input_.name)
        text = f"unsupported format, {kind}: left unchanged (--media-type overrides this)"
        diagnostics.append(Diagnostic("unknown-media-type", text, input_.name))
        document.media_type = registry.OTHER
    entity = walk(document, how.settings)
    return Walked(document, entity, [*diagnostics, *entity.diagnostics, *about_bases(entity)])


def empty(input_: Input) -> Diagnostic:
    return Diagnostic("empty-file", "the file is empty", input_.name)


def is_document(name: str, head: bytes, how: ReadOptions) -> bool:
    """Return whether a file found in a folder is a document, by its name and its first bytes (`sources.head`)."""
    return not registry.looks_binary(head) if how.media_type else registry.recognised(head, name) is not None


def read(input_: Input, how: ReadOptions) -> Document:
    """Read one input, with its retrieval URL and claims. Raise DocumentError."""
    document = sources.read(
        input_.name,
        media_type=how.media_type,
        charset=how.charset,
        url=input_.url,
        file_urls=how.file_urls and not input_.claims,
        max_size=how.settings.max_size,
    )
    document.url_source = input_.url_source
    document.claims += input_.claims
    return document


def about_bases(entity: Entity) -> Iterator[Diagnostic]:
    """Yield diagnostics for unsuitable claims, and for relative links without a base URL."""
    base = entity.bases.base
    for claim in base.chain:
        if claim.verdict == "unsuitable":
            text = f"{claim.base.source}: {in_short(claim.base.reference)!r} cannot be a base: the next layer applies"
            yield Diagnostic("unsuitable-base", text, entity.name, claim.line)
        elif claim.verdict == TOO_LONG:
            yield base_too_long(entity, claim.base.source, claim.line)
    if base.layer is Layer.DEFAULT and has_relative(entity, based=False):
        text = "no base URL is known: relative links are left unchanged (give --url)"
        yield Diagnostic("no-base", text, entity.name)
