"""Read one input and walk it.

Input: an `Input` and the `ReadOptions`. Output: the document, its entity, and the diagnostics about both.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import NOT_READ, Diagnostic
from absolve.core.lazy_regex import pattern
from absolve.document.base_layers import DEFAULT_URL
from absolve.document.reporting import about_bases, overruled
from absolve.document.walk import Settings, walk
from absolve.formats import registry
from absolve.run import sources

if TYPE_CHECKING:
    from absolve.core.model import Document
    from absolve.core.options import Headers
    from absolve.document.entity import Entity
    from absolve.run.inputs import Input


class ReadOptions(NamedTuple):
    """Settings of the walk, and the media type, charset and response headers that the user gives for all inputs."""

    settings: Settings
    media_type: str | None = None
    charset: str | None = None
    file_urls: bool = False
    headers: Headers | None = None


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
    advice = f"give {DEFAULT_URL}" if input_.shares else "give --url"
    diagnostics += (*entity.diagnostics, *about_bases(entity, advice))
    return Walked(document, entity, diagnostics + (overruled(entity) if input_.shares else []))


def empty(input_: Input) -> Diagnostic:
    return Diagnostic("empty-file", "the file is empty", input_.name)


def not_read(input_: Input) -> Diagnostic:
    """Return the diagnostic for a file in a folder that is no document; before the colon its kind."""
    suffix = Path(input_.name).suffix.lower()
    kind = suffix if _SUFFIX.fullmatch(suffix) else "of no known suffix"
    return Diagnostic(NOT_READ, f"{kind}: no kind that absolve reads", input_.name)


_SUFFIX: Final = pattern(r"\.[a-z0-9_+-]{1,16}")


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
    if how.headers is None:
        return document
    from absolve.document import response_header  # few runs have headers

    document.headers = how.headers
    return response_header.applied(document, how.settings)
