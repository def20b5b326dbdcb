"""The public functions: rewrite, list and verify the links of one document; no files and no network.

In: a document as bytes, text or `Document`, with its retrieval URL. Out: the rewritten document, rows of links, its
base URL (RFC 1808 section 3), or a list of diagnostics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from absolve.core import arguments
from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import CHOICES
from absolve.document.walk import Settings, hold, walk
from absolve.inventory.columns import Columns, fill, rows
from absolve.rewriting import rewriter
from absolve.rewriting.policy import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.errors import Diagnostic
    from absolve.core.model import BaseURL
    from absolve.core.protocols import Buffer
    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.inventory.documents import CapturedDocument, DocumentRow
    from absolve.rewriting.policy import Policy

    Source: TypeAlias = bytes | str | Document | Buffer

_DOCUMENT = ("name", "media_type", "charset", "url")
_DEFAULTS = CHOICES
_CHOICES = frozenset(_DEFAULTS)
_OPTIONS = _CHOICES.union(_DOCUMENT)
_BY_POLICY = ("absolve.rewrite()", "absolve.verify()")
_UNCHANGED = Settings().checked()  # the settings of most calls


@overload
def rewrite(source: str, **options: Any) -> str: ...
@overload
def rewrite(source: bytes | Document | Buffer, **options: Any) -> bytes: ...
def rewrite(source: Source, *, policy: Policy | None = None, **options: Any) -> bytes | str:
    """Return the document with every link made absolute, or as `policy` returns it; as str for a str, else as bytes.

    `options`: name, media_type, charset and url, as for `Document`; profile ("rfc1808", "rfc3986", "whatwg"),
    fragments ("keep", "absolute"), base ("keep", "empty"), lazy, conditional_comments, json_ld, recover,
    break_signatures, and the limits max_depth (documents inside documents), max_size (bytes), max_links,
    max_decompressed (bytes), max_url (characters) and, for rows, max_rows_bytes.
    `policy` is called with a `Resolved` for each link and returns its new URL, or None to leave it unchanged. It cannot
    change links that change with an option only (JSON-LD, signed parts).

    Only the bytes of links change. If none changes, the same object is returned (bytes or str). Raise DocumentError for
    a document of an unknown format or beyond a limit, UsageError for an invalid value of an option, TypeError for a
    source that is no document (a path, an open file), an unknown option, a value of another type, and a policy that
    returns neither str nor None.

    A document whose tokenizing was ambiguous (rare: one of 1,875 pages) is verified after the rewrite; DocumentError is
    raised unless that proves that only links change and each still has the same target.
    """
    document, settings = opened(source, options, "absolve.rewrite()")
    policy = checked(policy) if policy is not None else None
    entity = walk(document, settings, for_rewrite=policy is None)  # a policy is called for links that stay, too
    if entity.is_ambiguous:
        data = _proved(document, walk(document, settings), policy)
    else:
        data = rewriter.rewrite(entity, policy)
    if isinstance(source, str):
        return source if data is entity.data else data.decode("utf-8", "absolve.surrogates")
    return data


def _proved(document: Document, entity: Entity, policy: Policy | None) -> bytes:
    """Return the rewritten data if an independent parser verifies it; raise DocumentError otherwise."""
    from absolve import verifying  # loads html5lib, which most runs do not need

    hold(entity)
    asked = _once(policy) if policy is not None else None
    data = rewriter.rewrite(entity, asked)
    if data is not entity.data and (found := verifying.differences(entity, document, data, asked)):
        text = f"nothing proves that only links would change: {found[0].code}: {found[0].text}"
        raise DocumentError(found[0]._replace(code="unverified", text=text))
    return data


def _once(policy: Policy) -> Policy:
    """Return the policy with a cache: called once per link, so that rewrite and verification use the same result."""
    results: dict[int, str | None] = {}  # by identity: the entity keeps its links alive

    def asked(resolved: Resolved) -> str | None:
        key = id(resolved.link)
        if key not in results:
            results[key] = policy(resolved)
        return results[key]

    return asked


def links(source: Source, **options: Any) -> Iterator[Row]:
    """Return an iterator over the links of a document and of all documents inside it, in document order, one row each.

    Options and errors are those of `rewrite`.
    """
    return rows(_walked(source, options, "absolve.links()"))


def documents(source: Source, **options: Any) -> Iterator[DocumentRow]:
    """Return an iterator over a document and all documents inside it, in document order, one row each.

    Documents that absolve does not read, such as images in an archive, have rows, too. Options and errors are those of
    `rewrite`.
    """
    return (found.row for found in captured(source, **options))


def captured(source: Source, **options: Any) -> Iterator[CapturedDocument]:
    """Return an iterator over the same documents, each with its row, its bytes and its entity."""
    from absolve.inventory.documents import each  # loads modules that links do not need

    document, settings = opened(source, options, "absolve.documents()")
    return each(walk(document, settings._replace(documents=True)))


def columns(source: Source, **options: Any) -> Columns:
    """Return the rows of `links` as columns."""
    found = Columns()
    for _ in into(found, source, **options):
        pass  # these columns have no limit
    return found


def into(found: Columns, source: Source, **options: Any) -> Iterator[None]:
    """Append a document's rows to columns of several documents.

    Yield each time the columns are full, for the caller to read them; they are emptied on resumption.
    """
    return fill(found, _walked(source, options, "absolve.links()"))


def base(source: Source, **options: Any) -> BaseURL:
    """Return the base URL of a document, with its layer and the outcome of every claim (RFC 1808 section 3).

    Options and errors are those of `rewrite`.
    """
    return _walked(source, options, "absolve.base()").bases.base


def verify(
    before: Source, after: Source, *, policy: Policy | None = None, **options: Any
) -> list[Diagnostic]:
    """Return the unintended differences between a document and its rewrite, as diagnostics; an empty list for none.

    `options` and `policy` must be those of the `rewrite`: they determine the intended changes. A link may be unchanged
    if it still has the same target; any other link must be exactly its target, or the result of `policy`, which is
    called again with the `Resolved` of each link of `before`. `after` is decoded in the charset of `before`.

    Codes: `bytes` (a difference outside of links), `links` (they do not pair up), `target` (a link has another target),
    `base`, `tree` and `attribute` (differences seen by the independent parser), `unjudged` (that parser cannot read the
    document), `unreadable` (absolve cannot read `after`). Raise the errors of `rewrite`.
    """
    from absolve import verifying

    document, settings = opened(before, options, "absolve.verify()")
    rewritten = opened(after, {}, "absolve.verify()")[0]
    policy = checked(policy) if policy is not None else None
    return verifying.differences(walk(document, settings), document, rewritten.data, policy)


def _walked(source: Source, options: dict[str, Any], call: str) -> Entity:
    return walk(*opened(source, options, call))


def opened(source: Source, options: dict[str, Any], call: str) -> tuple[Document, Settings]:
    """Return the document and the settings for the arguments of the public function `call`.

    Raise TypeError for unknown options and values of another type, UsageError for invalid values.
    """
    if options and not _OPTIONS.issuperset(options):
        named = ("policy",) if call in _BY_POLICY else ()
        arguments.check_options(options, _OPTIONS, call, named)
    chosen = {name: options.pop(name) for name in list(options) if name in _CHOICES}
    settings = Settings(**arguments.choices_of(chosen, _DEFAULTS)).checked() if chosen else _UNCHANGED
    if not isinstance(source, Document):
        data = source if isinstance(source, (bytes, str)) else arguments.data_of(source, call)
        return Document(data, **options), settings
    document = source
    for name in [name for name in _DOCUMENT if options.get(name) is not None]:
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
    return document, settings
