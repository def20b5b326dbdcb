"""The library's four functions: bytes or text in, no files and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from absolve import rewriting
from absolve.inventory import rows
from absolve.model import Document
from absolve.walk import Settings, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.inventory import Row
    from absolve.model import BaseURL
    from absolve.walk import Entity

Source = bytes | str | Document


@overload
def rewrite(source: str, **options: Any) -> str: ...
@overload
def rewrite(source: bytes | Document, **options: Any) -> bytes: ...
def rewrite(source: Source, *, policy: rewriting.Policy | None = None, **options: Any) -> bytes | str:
    """The document with every link made absolute, or changed as `policy` says; of the type that was given.

    `options`: name, media_type, charset and url, as `Document` takes them, and profile ("rfc1808", "rfc3986",
    "whatwg"), fragments ("keep", "absolute"), base ("keep", "empty"), lazy, conditional_comments, json_ld, and the
    limits max_depth (documents inside documents), max_size (bytes) and max_links.
    `policy` is called with a `Resolved` for each link and returns its new URL, or None to leave it.

    Only the bytes of links change; where none does the very same object comes back. Raises DocumentError for a
    document of no kind that absolve reads or that passes a limit, UsageError for an option that is none.
    """
    entity = _walked(source, options)
    data = rewriting.rewrite(entity, policy)
    if isinstance(source, str):
        return source if data is entity.data else data.decode("utf-8", "absolve.surrogates")
    return data


def links(source: Source, **options: Any) -> Iterator[Row]:
    """The links of a document and of every document inside it, in their order; options and errors as of `rewrite`."""
    return rows(_walked(source, options))


def base(source: Source, **options: Any) -> BaseURL:
    """The base URL that rules the document's links, its layer, and every claim's fate (RFC 1808 section 3)."""
    return _walked(source, options).bases.base


def _walked(source: Source, options: dict[str, Any]) -> Entity:
    return walk(*opened(source, options))


def opened(source: Source, options: dict[str, Any]) -> tuple[Document, Settings]:
    """What the arguments of the library's functions come to; TypeError for an option that is none."""
    settings = Settings(**{name: options.pop(name) for name in Settings._fields if name in options}).checked()
    if not isinstance(source, Document):
        return Document(source, **options), settings
    document = source
    for name in [name for name in ("name", "media_type", "charset", "url") if options.get(name) is not None]:
        document = Document(
            document.data,
            **{
                "name": document.name,
                "media_type": document.media_type,
                "charset": document.charset,
                "url": document.url,
                "claims": document.claims,
                name: options.pop(name),
            },
        )
    options = {name: value for name, value in options.items() if value is not None}
    if options:
        raise TypeError(f"unknown option {next(iter(options))!r}")
    return document, settings
