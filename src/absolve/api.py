"""The public functions: rewrite, list and verify the links of one document; no files and no network.

In: a document as bytes, text or `Document`, with its retrieval URL. Out: the rewritten document, rows of links, its
base URL (RFC 1808 section 3), or a list of diagnostics.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias, overload

from absolve.core import arguments
from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import CHOICES
from absolve.document.walk import Settings, hold, walk
from absolve.inventory.columns import Columns
from absolve.inventory.link_rows import fill, rows
from absolve.rewriting import rewriter
from absolve.rewriting.policy import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Never, Unpack

    from absolve.core.errors import Diagnostic
    from absolve.core.model import BaseURL
    from absolve.core.options import OnDiagnostic, Options
    from absolve.core.protocols import Buffer
    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.inventory.columns import Row
    from absolve.inventory.documents import CapturedDocument, DocumentRow
    from absolve.rewriting.policy import Policy

    Source: TypeAlias = bytes | str | Document | Buffer

_DOCUMENT = ("name", "media_type", "charset", "url", "headers")
_DEFAULTS = CHOICES
_CHOICES = frozenset(_DEFAULTS)
_OPTIONS = _CHOICES.union(_DOCUMENT, ("on_diagnostic",))
_BY_POLICY = ("absolve.rewrite()", "absolve.verify()")
_UNCHANGED = Settings().checked()  # the settings of most calls
_REWRITTEN = _UNCHANGED._replace(only_changing=True)  # of those that make links absolute
_LISTED = _UNCHANGED._replace(data_urls=True)  # and of those that list links
_LISTING = frozenset({"absolve.links()"})


@overload
def rewrite(source: str, *, policy: Policy | None = None, **options: Unpack[Options]) -> str: ...
@overload
def rewrite(
    source: bytes | Document | Buffer, *, policy: Policy | None = None, **options: Unpack[Options]
) -> bytes: ...
def rewrite(source: Source, *others: Never, policy: Policy | None = None, **options: Any) -> bytes | str:
    """Return the document with every link made absolute, or as `policy` returns it; as str for a str, else as bytes.

    For example, `rewrite('<a href="x">', url="http://h/")` returns `'<a href="http://h/x">'`.

    `options`: name, media_type, charset, url and headers, as for `Document`; profile ("rfc1808", "rfc3986", "whatwg",
    "browser"), ignore_base (words joined by commas), fragments ("keep", "absolute"), base ("keep", "empty"), json_ld,
    and the limits max_depth (documents inside documents), max_size (bytes), max_links, max_decompressed (bytes),
    max_url (characters) and, for rows, max_rows_bytes.
    `policy` is called with a `Resolved` for each link and returns its new URL, or None to leave it unchanged. It cannot
    change links that change with an option only (JSON-LD, signed parts). `on_diagnostic` is called with a `Diagnostic`
    for each problem that does not stop the work; without it, each is a `DiagnosticWarning`.

    Only the bytes of links change. If none changes, the same object is returned (bytes or str). Raise DocumentError for
    a document of an unknown format or beyond a limit, UsageError for an invalid value of an option, TypeError for a
    source that is no document (a path, an open file), an unknown option, a value of another type, and a policy that
    returns neither str nor None.

    A document whose tokenizing was ambiguous (none of 1,875 real pages is) is verified after the rewrite; DocumentError
    is raised unless that proves that only links change and each still has the same target.
    """
    notify = _notify(options) if options else None
    document, settings = opened(source, options, "absolve.rewrite()", *others)
    policy = checked(policy) if policy is not None else None
    kept = _REWRITTEN if policy is None and settings is _UNCHANGED else settings
    entity = walk(document, kept, for_rewrite=policy is None)  # a policy is called for links that stay, too
    if entity.is_ambiguous:
        data = _proved(document, walk(document, settings), policy)
    else:
        data = rewriter.rewrite(entity, policy)
    if entity.may_be_reported():
        _report(entity, notify)
    if isinstance(source, str):
        return source if data is entity.data else data.decode("utf-8", "absolve.surrogates")
    return data


def _notify(options: dict[str, Any]) -> OnDiagnostic | None:
    """Remove `on_diagnostic` from the options and return it. Raise TypeError unless it is a function or None."""
    notify: OnDiagnostic | None = options.pop("on_diagnostic", None)
    if notify is not None:
        arguments.check_notify(notify)
    return notify


def _report(entity: Entity, notify: OnDiagnostic | None, *, bases: bool = True) -> None:
    """Report the diagnostics of an entity to `notify`, or as warnings; with `bases` those about its base, too."""
    from absolve.document import reporting  # most documents have nothing to report

    reporting.report(reporting.of_walk(entity, bases=bases), notify)


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


def links(source: Source, *others: Never, **options: Unpack[Options]) -> Sequence[Row]:
    """Return the links of a document and of all documents inside it, in document order, one row each.

    For example, `links('<a href="x">', url="http://h/")[0].target` is `"http://h/x"`. A loop makes one row at a time;
    an index, a slice and `len` keep all rows. Options and errors are as for `rewrite`. With `headers`, links in header
    fields (Link, Location, Refresh and others) come first: their rows have the entity `header`, and places in it.
    """
    return _Links(_walked(source, options, "absolve.links()", *others))


class _Links(Sequence["Row"]):
    """The rows of some entities: computed again by each loop, until an index or `len` keeps them."""

    def __init__(self, entities: list[Entity]) -> None:
        self._entities = entities
        self._ready: list[Iterator[Row]] | None = [*map(rows, entities)]  # at once, for the error about too many rows

    @cached_property
    def _kept(self) -> list[Row]:
        return [*iter(self)]

    def __iter__(self) -> Iterator[Row]:
        return chain.from_iterable(self._each())

    def _each(self) -> Iterator[Iterable[Row]]:  # decides at the first row: list() takes an iterator, then calls len()
        ready, self._ready = self._ready, None
        yield from [self._kept] if "_kept" in vars(self) else ready or map(rows, self._entities)

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, index: Any) -> Any:
        return self._kept[index]

    def __repr__(self) -> str:
        return f"<absolve.links: {len(self)} rows>"


def documents(source: Source, *others: Never, **options: Unpack[Options]) -> Iterator[DocumentRow]:
    """Return an iterator over a document and all documents inside it, in document order, one row each.

    Documents that absolve does not read, such as images in an archive, have rows, too. Options and errors are as for
    `rewrite`.
    """
    return (found.row for found in captured(source, *others, **options))


def captured(source: Source, *others: Never, **options: Unpack[Options]) -> Iterator[CapturedDocument]:
    """Return an iterator over the same documents, each with its row, its bytes and its entity."""
    from absolve.inventory.documents import each, of_response  # load modules that links do not need

    choices: Any = options
    notify = _notify(choices)
    document, settings = opened(source, choices, "absolve.documents()", *others)
    settings = settings._replace(documents=True)  # facts about each, also those of its response
    entity = walk(document, settings)
    _report(entity, notify, bases=False)
    header = _header(document, settings)
    return each(entity, above=of_response(header, document) if header is not None else None)


def columns(source: Source, **options: Unpack[Options]) -> Columns:
    """Return the rows of `links` as columns."""
    found = Columns()
    for _ in into(found, source, **options):
        pass  # these columns have no limit
    return found


def into(found: Columns, source: Source, **options: Unpack[Options]) -> Iterator[None]:
    """Append a document's rows to columns of several documents.

    Yield each time the columns are full, for the caller to read them; they are emptied on resumption.
    """
    entities = _walked(source, options, "absolve.links()")
    if len(entities) == 1:
        return fill(found, entities[0])
    return (None for entity in entities for _ in fill(found, entity))


def base(source: Source, *others: Never, **options: Unpack[Options]) -> BaseURL:
    """Return the base URL of a document, with its layer and the outcome of every claim (RFC 1808 section 3).

    For example, `base('<base href="a/">', url="http://h/").url` is `"http://h/a/"`. Options and errors are the same as
    for `rewrite`.
    """
    return _walked(source, options, "absolve.base()", *others, bases=False)[-1].bases.base


def verify(
    before: Source, after: Source, *, policy: Policy | None = None, **options: Unpack[Options]
) -> list[Diagnostic]:
    """Return the unintended differences between a document and its rewrite, as diagnostics; an empty list for none.

    `options` and `policy` must equal the rewrite's: they determine the intended changes. A link may be unchanged
    if it still has the same target; any other link must be exactly its target, or the result of `policy`, which is
    called again with the `Resolved` of each link of `before`. `after` is decoded in the charset of `before`.

    Codes: `bytes` (a difference outside of links), `links` (they do not pair up), `target` (a link has another target),
    `base`, `tree` and `attribute` (differences seen by the independent parser), `unjudged` (that parser cannot read the
    document), `unreadable` (absolve cannot read `after`). Raise the errors of `rewrite`.
    """
    from absolve import verifying

    choices: Any = options
    notify = _notify(choices)
    document, settings = opened(before, choices, "absolve.verify()")
    rewritten = opened(after, {}, "absolve.verify()")[0]
    policy = checked(policy) if policy is not None else None
    entity = walk(document, settings)
    if notify is not None:  # as warnings they came with the rewrite
        _report(entity, notify)
    return verifying.differences(entity, document, rewritten.data, policy)


def _walked(source: Source, options: Any, call: str, *others: object, bases: bool = True) -> list[Entity]:
    """Return the entity of a document, and before it the entity of the header in which it came."""
    notify = _notify(options) if options else None
    document, settings = opened(source, options, call, *others)
    entity = walk(document, settings)
    if entity.may_be_reported():
        _report(entity, notify, bases=bases)
    header = _header(document, settings)
    return [entity] if header is None else [header, entity]


def _header(document: Document, settings: Settings) -> Entity | None:
    """Return the entity of the header in which a document came."""
    if document.headers is None:
        return None
    from absolve.document import response_header  # few calls have headers

    return response_header.entity_of(document, settings)


def opened(source: Source, options: dict[str, Any], call: str, *others: object) -> tuple[Document, Settings]:
    """Return the document and the settings for the arguments of the public function `call`.

    Raise TypeError for unknown options, `others` and values of another type, UsageError for invalid values.
    """
    if others:
        raise arguments.surplus(others[0], call)
    if options and not _OPTIONS.issuperset(options):
        named = ("policy",) if call in _BY_POLICY else ()
        arguments.check_options(options, _OPTIONS, call, named)
    settings = _LISTED if call in _LISTING else _UNCHANGED
    if not _CHOICES.isdisjoint(options):
        chosen = {name: options.pop(name) for name in list(options) if name in _CHOICES}
        settings = _settings_of(settings.data_urls, chosen)
    if not isinstance(source, Document):
        data = source if isinstance(source, (bytes, str)) else arguments.data_of(source, call)
        document = Document(data, **options)
    else:
        document = _with(source, options)
    if document.headers is not None:
        from absolve.document import response_header  # few calls have headers

        document = response_header.applied(document, settings)
    return document, settings


def _settings_of(data_urls: bool, chosen: dict[str, Any]) -> Settings:
    """Return the settings for some options. Raise TypeError and UsageError for their values."""
    is_hashable = _HASHABLE.issuperset(map(type, chosen.values()))
    settings: Settings = (_cached_settings if is_hashable else _cached_settings.__wrapped__)(data_urls, **chosen)
    return settings


_HASHABLE: Final = frozenset({bool, int, str})


@lru_cache(maxsize=64, typed=True)  # otherwise a quarter of the time of a page of 100 bytes
def _cached_settings(data_urls: bool, /, **chosen: Any) -> Settings:
    return Settings(**arguments.choices_of(chosen, _DEFAULTS), data_urls=data_urls).checked()


def _with(source: Document, options: dict[str, Any]) -> Document:
    """Return a document, or a copy of it in which the options that are not None replace its facts."""
    choices = {name: options[name] for name in _DOCUMENT if options.get(name) is not None}
    if not choices:
        return source
    facts: dict[str, Any] = {name: getattr(source, name) for name in (*_DOCUMENT, "claims")}
    return Document(source.data, **facts | choices)
