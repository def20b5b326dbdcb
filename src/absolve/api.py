"""The library's functions: bytes or text in, no files and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from absolve.core import arguments
from absolve.core.errors import DocumentError
from absolve.core.model import Document
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
    from absolve.rewriting.policy import Policy

    Source: TypeAlias = bytes | str | Document | Buffer

_DOCUMENT = ("name", "media_type", "charset", "url")
_DEFAULTS = Settings._field_defaults
_CHOICES = frozenset(_DEFAULTS)
_OPTIONS = _CHOICES.union(_DOCUMENT)
_BY_POLICY = ("absolve.rewrite()", "absolve.verify()")
_UNCHANGED = Settings().checked()  # of most calls


@overload
def rewrite(source: str, **options: Any) -> str: ...
@overload
def rewrite(source: bytes | Document | Buffer, **options: Any) -> bytes: ...
def rewrite(source: Source, *, policy: Policy | None = None, **options: Any) -> bytes | str:
    """The document with every link made absolute, or changed as `policy` says; of the type that was given.

    `options`: name, media_type, charset and url, as `Document` takes them, and profile ("rfc1808", "rfc3986",
    "whatwg"), fragments ("keep", "absolute"), base ("keep", "empty"), lazy, conditional_comments, json_ld, and the
    limits max_depth (documents inside documents), max_size (bytes), max_links, max_decompressed (bytes), max_url
    (characters) and, of rows, max_rows_bytes.
    `policy` is called with a `Resolved` for each link and returns its new URL, or None to leave it; what never changes
    without an option (JSON-LD, what is signed) stays whatever it says.

    Only the bytes of links change; where none does the very same object comes back. Raises DocumentError for a
    document of no kind that absolve reads or that passes a limit, UsageError for a value that is none of the choices of
    its option, TypeError for a source that is no document (a path, an open file), an option that is none or has a value
    of another type, and a policy that returns neither text nor None.

    A document in which the scanner had to guess (rare: one of 1,875 pages) is verified; where that does not prove that
    only links change, and that each leads where it led, DocumentError says so.
    """
    document, settings = opened(source, options, "absolve.rewrite()")
    policy = checked(policy) if policy is not None else None
    entity = walk(document, settings, for_rewrite=policy is None)  # a policy is asked about what stays, too
    if entity.is_ambiguous:
        data = _proved(document, walk(document, settings), policy)
    else:
        data = rewriter.rewrite(entity, policy)
    if isinstance(source, str):
        return source if data is entity.data else data.decode("utf-8", "absolve.surrogates")
    return data


def _proved(document: Document, entity: Entity, policy: Policy | None) -> bytes:
    """The rewrite, if an independent parser agrees with it."""
    from absolve import verifying  # and with it html5lib: most never need them

    hold(entity)
    asked = _once(policy) if policy is not None else None
    data = rewriter.rewrite(entity, asked)
    if data is not entity.data and (found := verifying.differences(entity, document, data, asked)):
        text = f"nothing proves that only links would change: {found[0].code}: {found[0].text}"
        raise DocumentError(found[0]._replace(code="unverified", text=text))
    return data


def _once(policy: Policy) -> Policy:
    """The policy, asked once for each link: a proof has to know what was meant, not what would be said next time."""
    said: dict[int, str | None] = {}  # by identity: the entity holds its links

    def asked(resolved: Resolved) -> str | None:
        key = id(resolved.link)
        if key not in said:
            said[key] = policy(resolved)
        return said[key]

    return asked


def links(source: Source, **options: Any) -> Iterator[Row]:
    """The links of a document and of every document inside it, in their order; options and errors as of `rewrite`."""
    return rows(_walked(source, options, "absolve.links()"))


def columns(source: Source, **options: Any) -> Columns:
    """The same, column by column."""
    found = Columns()
    for _ in into(found, source, **options):
        pass  # never full
    return found


def into(found: Columns, source: Source, **options: Any) -> Iterator[None]:
    """Put them behind the rows of other documents: stops each time the columns are full, and then empties them."""
    return fill(found, _walked(source, options, "absolve.links()"))


def base(source: Source, **options: Any) -> BaseURL:
    """The base URL that rules the document's links, its layer, and every claim's fate (RFC 1808 section 3)."""
    return _walked(source, options, "absolve.base()").bases.base


def verify(
    before: Source, after: Source, *, policy: Policy | None = None, **options: Any
) -> list[Diagnostic]:
    """What is different between a document and its rewrite beyond what was meant to be; empty where nothing is.

    `options` are those of `rewrite`, with the same values: they decide what was meant to change. A link may stay as it
    was where it still leads where it led; any other must be, to the letter, what its target is, or what `policy` says,
    which is called with the `Resolved` of each link of `before` again. `after` is read in the charset of `before`.

    Codes: `bytes` (outside the links), `links` (they do not pair up), `target` (a link leads elsewhere), `base`, `tree`
    and `attribute` (what the independent parser sees), `unjudged` (it cannot read this), `unreadable` (nor can absolve
    read `after`). Raises as `rewrite` does.
    """
    from absolve import verifying

    document, settings = opened(before, options, "absolve.verify()")
    rewritten = opened(after, {}, "absolve.verify()")[0]
    policy = checked(policy) if policy is not None else None
    return verifying.differences(walk(document, settings), document, rewritten.data, policy)


def _walked(source: Source, options: dict[str, Any], call: str) -> Entity:
    return walk(*opened(source, options, call))


def opened(source: Source, options: dict[str, Any], call: str) -> tuple[Document, Settings]:
    """Return what the arguments of the function `call` come to; raise TypeError for those that it does not take."""
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
