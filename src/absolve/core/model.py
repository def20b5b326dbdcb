"""The values shared by all packages, in the terms of RFC 1808: layers, claims, bases, links, parts, documents, edits.

Positions are byte offsets into the entity they belong to, spans are half open (`start <= i < end`), text is `str`.
Treat every value as immutable. `Link` and `Part` are created once per link: they are slotted classes, and C structures
in compiled code (`model.pxd`). They cannot be part of a reference cycle, so the garbage collector skips millions of
them (`no_gc`, which takes effect in this file, not in the .pxd).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike
    from typing import Never

    import cython

    from absolve.core.options import Headers
    from absolve.core.protocols import Buffer, Coding, Surroundings, Text, URLObject
else:
    from absolve.core import _cython as cython


new = tuple.__new__  # creates a named tuple on hot paths: its own constructor is interpreted
if not cython.compiled:
    made = new  # compiled, it is a function of C in model.pxd


class Layer(enum.StrEnum):
    """The four layers of RFC 1808 section 3, innermost first; each is the word in the column `base_layer`."""

    EMBEDDED = "embedded"  # 3.1: base URL within the document's content
    ENCAPSULATING = "encapsulating"  # 3.2: base URL from the encapsulating entity
    RETRIEVAL = "retrieval"  # 3.3: base URL from the retrieval URL
    DEFAULT = "default"  # 3.4: the empty string

    @property
    def label(self) -> str:
        """The word as exact `str`, for columns."""
        return str(self)


EMBEDDED, ENCAPSULATING, RETRIEVAL, BY_DEFAULT = Layer


class Reference(NamedTuple):
    """The six components of RFC 1808 section 2.1; `None` is an absent component, `""` an empty one."""

    scheme: str | None
    net_loc: str | None
    path: str
    params: str | None
    query: str | None
    fragment: str | None


class BaseClaim(NamedTuple):
    """A reference that a document, or its context, gives as its base URL, in one layer of section 3.

    `source` names its origin ("base element", "Content-Base header", "url="), `position` is its byte offset in the
    entity (None outside of one). `scope` is the enclosing claim where claims nest (`xml:base`); a scoped claim applies
    only to the links and parts that refer to it.
    """

    layer: Layer
    reference: str
    source: str
    position: int | None = None
    scope: BaseClaim | None = None


IGNORED_BASE = BaseClaim(EMBEDDED, "", "base element")  # shared by all ignored base elements: there may be a million
BEFORE_BASE = BaseClaim(EMBEDDED, "", "")  # the scope of links that browsers fetch before they see the base element


class ClaimOutcome(NamedTuple):
    """The result of one claim: the URL resolved from it, or None, and the verdict, a key of VERDICTS."""

    base: BaseClaim
    url: str | None
    verdict: str
    line: int | None = None


VERDICTS = {
    "won": "rules the links",
    "resolved against": "an inner claim was resolved against it",
    "overruled": "overridden by an inner layer",
    "ignored": "ignored: another claim of the same layer came first",
    "switched-off": "ignored: --ignore-base or the profile leaves out such claims",
    "unsuitable": "cannot be a base: the next layer applies",
    "forbidden": "ignored: the page's Content-Security-Policy forbids it (base-uri)",
    "too-long": "longer than max-url allows: relative links are left unchanged",
    "placeholder": "has a placeholder: relative links are left unchanged",
}


class BaseURL(NamedTuple):
    """A base URL by section 3: the URL ("" for an unknown base), its layer, the source of its claim, and the chain.

    `chain` has the outcome of every claim, from the innermost to the outermost.
    """

    url: str
    layer: Layer
    source: str = ""
    chain: tuple[ClaimOutcome, ...] = ()


DEFAULT = BaseURL("", Layer.DEFAULT)
REDIRECTED = "Location header"  # the source of a retrieval URL that a redirect gives (section 3.3)


class LinkSite:
    """One kind of link: an element and attribute, or their like in another format; a row of a walker's table.

    `syntax`: url, srcset, spaces, commas, refresh, link, css, srcdoc: the grammar of the value (formats/grammars.py).
    `kind`: a word of KINDS.
    `against`, the base to resolve against: base, own (the document's own URL), codebase (of the same element), or
    header (own if the header itself gives the base, else base).
    `empty`, the meaning of the empty reference: base (it resolves), own (the document's own URL), nothing (it fetches
    nothing, has no target and stays unchanged).
    `stays`: "" (rewritten), fragment (a fragment alone stays unchanged, with any options), always (never rewritten).
    """

    __slots__ = ("against", "attribute", "element", "empty", "kind", "stays", "syntax")

    def __init__(
        self,
        element: str,
        attribute: str,
        syntax: str = "url",
        kind: str = "other",
        against: str = "base",
        empty: str = "nothing",
        stays: str = "",
    ) -> None:
        self.element = element
        self.attribute = attribute
        self.syntax = syntax
        self.kind = kind
        self.against = against
        self.empty = empty
        self.stays = stays

    def fields(self) -> tuple[str, str, str, str, str, str, str]:
        """Return the fields, in the order of the constructor's parameters."""
        return self.element, self.attribute, self.syntax, self.kind, self.against, self.empty, self.stays

    def changed(self, *, element: str | None = None, kind: str | None = None, stays: str | None = None) -> LinkSite:
        """Return a site with other values of these fields."""
        return LinkSite(
            self.element if element is None else element,
            self.attribute,
            self.syntax,
            self.kind if kind is None else kind,
            self.against,
            self.empty,
            self.stays if stays is None else stays,
        )

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, LinkSite) and self.fields() == other.fields())

    def __hash__(self) -> int:
        return hash(self.fields())

    def __repr__(self) -> str:
        return f"LinkSite{self.fields()}"


KINDS = frozenset(
    "navigation image media script stylesheet frame form font feed metadata other".split()  # docs/decisions.md, I1
)
SCOPES = ("same-document", "internal", "external", "other")  # of targets; `inventory` determines them


@cython.no_gc
@cython.freelist(1024)
@cython.cclass
class Link:
    """One reference in an entity: its span, without surrounding white space, and the coding of its bytes.

    `base` is the scoped claim that applies to it, if any. `tag_start` and `tag_end` are the span of its start tag, -1
    if it has none; the inventory reads rel and text from there, lazily. `claim` is the claim that the link itself makes
    (a base element, codebase, a header), IGNORED_BASE for a base element that is ignored.
    """

    __slots__ = ("base", "claim", "coding", "end", "place", "start", "tag_end", "tag_start")

    def __init__(
        self,
        place: LinkSite,
        start: int,
        end: int,
        coding: Coding,
        base: BaseClaim | None = None,
        tag_start: int = -1,
        tag_end: int = -1,
        claim: BaseClaim | None = None,
    ) -> None:
        self.place = place
        self.start = start
        self.end = end
        self.coding = coding
        self.base = base
        self.tag_start = tag_start
        self.tag_end = tag_end
        self.claim = claim

    def __repr__(self) -> str:
        return f"Link({self.place.element} {self.place.attribute}, {self.start}:{self.end})"


class Derived(NamedTuple):
    """A field computed from a part, such as Content-Length or WARC-Block-Digest: the span of its value in the entity.

    `value` computes the new value from the part's new raw bytes; it is called only if those changed.
    """

    start: int
    end: int
    value: Callable[[bytes], bytes]


@cython.no_gc
@cython.cclass
class Part:
    """One whole document inside an entity: the span of its bytes and their coding.

    `media_type` selects the walker; a part without a walker stays unchanged. `name` is its step in the entity path,
    to which the fold adds its number unless the walker has counted (`entry[3]` of a HAR: broken ones count), ""
    for a part of the same document (a style element), whose rows belong to the outer entity. `claims` are the bases
    that its container gives for it, in order of preference: its retrieval URL, or else its encapsulating entity's.
    `base` is the scoped claim that applies to it.

    `own_charset`: its decoded value has a charset of its own, which `media_type` may name like a Content-Type header;
    otherwise it is UTF-8 text. `encloses`: the outer entity encapsulates it by RFC 1808 3.2, as a message does and a
    WARC record does not. `derived` are the fields computed from it. `signed_by` names the signature over it, if there
    is one, the fault in its data, or ONLY_READ: its links are listed and must not be changed. `capture` is set for the
    table of documents only.
    """

    __slots__ = (
        "base",
        "capture",
        "claims",
        "coding",
        "derived",
        "encloses",
        "end",
        "media_type",
        "name",
        "own_charset",
        "signed_by",
        "start",
    )

    def __init__(
        self,
        media_type: str,
        start: int,
        end: int,
        coding: Coding,
        name: str = "",
        base: BaseClaim | None = None,
        claims: Sequence[BaseClaim] = (),
        own_charset: bool = False,  # noqa: FBT002 - a C attribute, passed by keyword
        encloses: bool = True,  # noqa: FBT002 - likewise
        derived: Sequence[Derived] = (),
        signed_by: str = "",
        capture: Capture | None = None,
    ) -> None:
        self.media_type = media_type
        self.start = start
        self.end = end
        self.coding = coding
        self.name = name
        self.base = base
        self.claims = claims
        self.own_charset = own_charset
        self.encloses = encloses
        self.derived = derived
        self.signed_by = signed_by
        self.capture = capture

    def __repr__(self) -> str:
        return f"Part({self.media_type}, {self.start}:{self.end})"


class Finding(NamedTuple):
    """A diagnostic of a walker, still without file and line; `position` is a byte offset in the entity.

    `failed`: something could not be processed for this reason and stays unchanged.
    """

    code: str
    text: str
    position: int
    failed: bool = False


class MessageIds(NamedTuple):
    """The references (Content-ID, Content-Location) that identify an entity, or its members, within a message.

    `claim` is the base claim made by them. Iterate `references` once only: an archive generates them lazily.
    """

    references: Iterable[str]
    claim: BaseClaim | None = None


class EditOrder(NamedTuple):
    """A dependency of an entity's bytes on all edits in it, such as the offsets in an archive's directory.

    `edits` maps the entity's edits, in batches, to the same and all consequent edits, in batches and sorted. The input
    has one batch per part, in the sequence of event numbers in `order`; a batch includes the edits of the part's
    derived fields, which may be at any offset.
    """

    edits: Callable[[Iterable[list[Edit]]], Iterator[list[Edit]]]
    order: Sequence[int]


LONGEST_REFERENCE: Final = 4096  # characters of a header field with the place of a document


class Capture(NamedTuple):
    """Facts by which a container describes a document in it.

    An event of a message, or of an entry of an archive, about its body; the field `capture` of a Part of an archive.
    `date` is as written there. `robots` are the rules of X-Robots-Tag. `size` is 0 for a body that is empty, None for
    one that is unknown or not here. `kind` is the type of a WARC record; `refers_to`, `refers_to_date` and
    `payload_digest` are fields of it. `name` is the URL by which a message knows its part (`cid:`).

    With `Settings.captures` there are the header fields, too, their names in lower case; `location` of a part of a
    message (a reference), `redirect` of a response, and `length`, the bytes that its content had, as far as stated.
    `title` is the subject of a message.
    """

    status: int | None = None
    date: str = ""
    media_type: str = ""
    size: int | None = None
    method: str = ""
    kind: str = ""
    refers_to: str = ""
    refers_to_date: str = ""
    payload_digest: str = ""
    name: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    location: str = ""
    redirect: str = ""
    length: int = 0
    robots: str = ""
    title: str = ""


class PageFacts(NamedTuple):
    """Facts about a page that are no links, for the table of documents only; the last event of a walker.

    `title` is None without a title element. `canonical` is a reference, "" for none. `anchors` are the targets of
    fragments, each once, in document order. `problems` are codes for the column of that name. `alternates` are the
    languages and references of links to the same page in other languages.
    """

    title: str | None
    lang: str
    canonical: str
    robots: str
    anchors: list[str]
    problems: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()


DATA = "data"  # as `Part.name`: the document in a `data:` URL, which is a link, too
ONLY_READ = "a format that is only read"  # as `Part.signed_by`: WACZ, binary property lists
THIS_MESSAGE = "thismessage:/"  # base of a message that records none (RFC 2557 5); likewise never written
PACKAGE_ROOT = "package:///"  # base of a package whose URL is unknown; a URL resolved against it is never written

if TYPE_CHECKING:
    Event = BaseClaim | Link | Part | Finding | MessageIds | EditOrder | Capture | PageFacts


class Document:
    """The bytes of one document, with the facts about it from outside.

    `data` is bytes (or an object with the buffer protocol), or text, which is encoded as UTF-8. `name`, a str or path,
    appears in messages, and its suffix helps to find the media type. `media_type` may have parameters, like a
    Content-Type header. `charset` is the user's choice and overrides everything but a byte order mark. `url` is the
    retrieval URL, a str or a URL object (`core.protocols.URLObject`); `url_source` names its source in messages.
    `claims` are bases recorded beside a file, as in its extended attributes. `headers` are the header fields of the
    HTTP response that it came in: a mapping, pairs, or text as curl writes it. Raise TypeError for any other type.

    For a document cut out of a larger file, `before` is the number of documents that precede it there, `inside` the
    entity path around it, and `origin` maps its byte offsets to offsets in that file. `requested` is the URL in front
    of the redirects in `headers`, and its source. `beside` finds the files saved with it (`protocols.Surroundings`).
    """

    __slots__ = (
        "before",
        "beside",
        "charset",
        "claims",
        "data",
        "headers",
        "inside",
        "is_text",
        "media_type",
        "name",
        "origin",
        "requested",
        "url",
        "url_source",
    )

    def __init__(
        self,
        data: bytes | str | Buffer,
        *,
        name: str | PathLike[str] | None = None,
        media_type: Text | None = None,
        charset: Text | None = None,
        url: str | URLObject | None = None,
        claims: Sequence[BaseClaim] = (),
        before: int = 0,
        origin: Callable[[int], int] | None = None,
        headers: Headers | None = None,
        **others: Never,
    ) -> None:
        if others:
            arguments.check_options(others, ("name", "media_type", "charset", "url", "headers"), "absolve.Document()")
        if type(data) is not bytes and type(data) is not str:
            data = arguments.data_of(data, "absolve.Document()")
        self.is_text = isinstance(data, str)
        self.data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        self.name = name if name is None or type(name) is str else arguments.name_of(name)
        if media_type is not None and type(media_type) is not str:
            media_type = arguments.text_of(media_type, "media_type")
        self.media_type = media_type
        if charset is not None and type(charset) is not str:
            charset = arguments.text_of(charset, "charset")
        self.charset = "utf-8" if self.is_text else charset
        self.url = url if url is None or type(url) is str else arguments.url_of(url)
        self.url_source = "url="
        self.claims = tuple(claims)
        self.before = before
        self.inside = ""
        self.origin = origin
        self.headers = headers
        self.requested: tuple[str | None, str] | None = None
        self.beside: Surroundings | None = None


@cython.no_gc
@cython.freelist(64)
@cython.cclass
class Edit:
    """Replace the bytes from `start` to `end` by `new`; an insertion if `start == end`."""

    __slots__ = ("end", "new", "start")

    def __init__(self, start: int, end: int, new: bytes) -> None:
        self.start = start
        self.end = end
        self.new = new

    def __repr__(self) -> str:
        return f"Edit({self.start}, {self.end}, {self.new!r})"


def edit_at(start: cython.Py_ssize_t, end: cython.Py_ssize_t, new: bytes) -> Edit:
    """Return an Edit; in compiled code without boxing the offsets."""
    edit: Edit = Edit.__new__(Edit)
    edit.start = start
    edit.end = end
    edit.new = new
    return edit
