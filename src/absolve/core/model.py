"""The values that every layer of absolve speaks of, in RFC 1808's own words; of ours it imports only `arguments`.

Positions are byte offsets into the entity they belong to, spans are half open (`start <= i < end`), text is `str`.
`Link` and `Part` are made once a link on the hot path, so they are plain slotted classes that `model.pxd` turns into
C structures where the package is compiled; treat every value here as immutable. Nothing that they hold leads back to
them, so Python's garbage collector need not go through millions of them (`no_gc`, which counts here and not there).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from absolve.core import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike
    from typing import Never

    import cython

    from absolve.core.protocols import Buffer, Coding, Text, URLObject
else:
    from absolve.core import _cython as cython


new = tuple.__new__  # what a named tuple is made by where it is made often: its own constructor is interpreted


class Layer(enum.IntEnum):
    """The four layers of RFC 1808 section 3, innermost first; `label` is the word that rows use."""

    EMBEDDED = 1  # 3.1: base URL within the document's content
    ENCAPSULATING = 2  # 3.2: base URL from the encapsulating entity
    RETRIEVAL = 3  # 3.3: base URL from the retrieval URL
    DEFAULT = 4  # 3.4: the empty string

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = ("", *(layer.name.lower() for layer in Layer))  # by its attributes an enumeration gives them slowly
EMBEDDED, ENCAPSULATING, RETRIEVAL, BY_DEFAULT = Layer


class Reference(NamedTuple):
    """The six components of RFC 1808 section 2.1; `None` is absent, `""` is there and empty."""

    scheme: str | None
    net_loc: str | None
    path: str
    params: str | None
    query: str | None
    fragment: str | None


class BaseClaim(NamedTuple):
    """A claim found somewhere: this layer says that this reference is the base.

    `source` says where in words ("base element", "Content-Base header", "--url"), `position` where in the entity (a
    byte offset, None outside of any). `scope` is the claim around this one where claims nest (`xml:base`); a scoped
    claim rules only the links and parts that carry it.
    """

    layer: Layer
    reference: str
    source: str
    position: int | None = None
    scope: BaseClaim | None = None


IGNORED_BASE = BaseClaim(EMBEDDED, "", "base element")  # base elements that rule nothing; a document may have a million


class ClaimOutcome(NamedTuple):
    """What became of one claim: the URL it gave (None where it gave none) and the verdict, a word of VERDICTS."""

    base: BaseClaim
    url: str | None
    verdict: str
    line: int | None = None


VERDICTS = {
    "won": "rules the links",
    "resolved against": "an inner claim was resolved against it",
    "overruled": "an inner layer holds",
    "ignored": "another claim of its layer came first",
    "unsuitable": "no base: the next layer out rules",
    "too-long": "longer than --max-url allows: relative links stay as they are",
}


class BaseURL(NamedTuple):
    """What section 3 established: the URL ("" where nothing holds), its layer, who said it, and every claim's fate.

    `chain` lists the claims from the innermost to the outermost.
    """

    url: str
    layer: Layer
    source: str = ""
    chain: tuple[ClaimOutcome, ...] = ()


DEFAULT = BaseURL("", Layer.DEFAULT)


class LinkSite(NamedTuple):
    """One kind of place where a reference stands: a row of a walker's table, or made once by the walker.

    `syntax`: url, srcset, spaces, commas, refresh, link, css, srcdoc: how the value is read (formats/grammars.py).
    `kind`: a word of KINDS.
    `against`: base, own (the document's own URL), codebase (of the same element), or header (own where it gives the
    base itself, else base): what it is resolved against.
    `empty`: what the empty reference means: base (it resolves), own (the document's own URL), nothing (it fetches
    nothing, has no target and stays).
    `stays`: "" (rewritten), fragment (stays where it is only a fragment, whatever the options), always (never
    rewritten).
    """

    element: str
    attribute: str
    syntax: str = "url"
    kind: str = "other"
    against: str = "base"
    empty: str = "nothing"
    stays: str = ""


KINDS = frozenset(
    "navigation image media script stylesheet frame form font feed metadata other".split()  # docs/decisions.md, I1
)
SCOPES = ("same-document", "internal", "external", "other")  # `judging` says which is a target's, and what is wrong
PROBLEMS = (
    "unresolved unsuitable-base relative-base ignored-base malformed too-long above-root divergent empty insecure"
    " scheme-relative backslash whitespace"
).split()


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.cclass
class Link:
    """One reference in an entity: the span of its bytes, without white space around it, and how they are coded.

    `base` is the scoped claim that rules it, if any. `tag` is the span of the start tag that it stands in, (-1, -1)
    where there is none: the inventory reads rel and text from there, only when it is asked for them. `claim` is the
    base that the link itself states (a base element, codebase, a header), whose row it then is; IGNORED_BASE for a base
    element that rules nothing.
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
    """A field that says something of a part: where its value stands in the entity that the part is in.

    `value` makes it from the part's new raw bytes (Content-Length, WARC-Block-Digest). It is asked only where those
    changed.
    """

    start: int
    end: int
    value: Callable[[bytes], bytes]


@cython.final
@cython.no_gc
@cython.cclass
class Part:
    """One whole document inside an entity: the span of its bytes and how they are coded.

    `media_type` names the walker that reads it; one that nothing reads is left alone. `name` is its step in the entity
    path ("" for a part of the same document, as a style element is: its rows belong to the entity around it). `claims`
    are the bases that its container says for it, in order of preference: its retrieval URL, or else what encapsulates
    it. `base` is the scoped claim that rules it.

    `own_charset`: its decoded value has a charset of its own, which `media_type` may name as a Content-Type header
    does; else it is text in UTF-8. `encloses`: the entity around it is one that encapsulates it (3.2), as a
    message is and a WARC record is not. `derived` are the fields that change with it. `signed_by` says what signs it,
    so that nothing in it may change; it is listed all the same.
    """

    __slots__ = (
        "base",
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
        own_charset: bool = False,  # noqa: FBT002 - a C attribute, given by name
        encloses: bool = True,  # noqa: FBT002 - likewise
        derived: Sequence[Derived] = (),
        signed_by: str = "",
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

    def __repr__(self) -> str:
        return f"Part({self.media_type}, {self.start}:{self.end})"


class Finding(NamedTuple):
    """Something that a walker met and says: a diagnostic that does not know its file and line yet.

    `failed`: something could not be worked on, and stays as it is for that.
    """

    code: str
    text: str
    position: int
    failed: bool = False


class MessageIds(NamedTuple):
    """What the entity, or what is in it, is referred to by in its message: references, and the claim that they make.

    The references are asked for once; in an archive they are made then.
    """

    references: Iterable[str]
    claim: BaseClaim | None = None


class EditOrder(NamedTuple):
    """What in an entity depends on all that changes there (where things stand in an archive).

    `edits` takes the edits of the entity, some at a time, and gives them with those that they bring about, in order and
    likewise. They come part by part, by the numbers of events in `order`, those of a part at one time, with those of
    what is derived from it, which may stand elsewhere.
    """

    edits: Callable[[Iterable[list[Edit]]], Iterator[list[Edit]]]
    order: Sequence[int]


PACKAGE_ROOT = "package:///"  # of a package that nobody knows a URL of: what is resolved against it is never written

Event = BaseClaim | Link | Part | Finding | MessageIds | EditOrder


@cython.cclass
class Document:
    """The bytes of one document and what is known of it from outside.

    `data` is bytes (or an object that holds bytes), or text, which is taken as UTF-8. `name`, which may be a path, is
    for messages and, by its suffix, for the media type. `media_type` may carry parameters, as a Content-Type header
    does. `charset` is the user's word (it beats all but a byte order mark). `url` is the retrieval URL, a str or an
    object that is a URL (`core.protocols.URLObject`); `url_source` names its source. `claims` are the bases that a file
    system keeps beside a file. Raise TypeError for a value of another type.

    Where it is cut out of a larger file, `before` is how many documents stand before it there, and `origin` says where
    a byte of it does.
    """

    __slots__ = ("before", "charset", "claims", "data", "is_text", "media_type", "name", "origin", "url", "url_source")

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
        **others: Never,
    ) -> None:
        if others:
            arguments.check_options(others, ("name", "media_type", "charset", "url"), "absolve.Document()")
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
        self.url_source = "--url"
        self.claims = tuple(claims)
        self.before = before
        self.origin = origin


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.cclass
class Edit:
    """Put `new` in the place of the bytes from `start` to `end`; an insertion where they are equal."""

    __slots__ = ("end", "new", "start")

    def __init__(self, start: int, end: int, new: bytes) -> None:
        self.start = start
        self.end = end
        self.new = new

    def __repr__(self) -> str:
        return f"Edit({self.start}, {self.end}, {self.new!r})"


@cython.cfunc
def edit_at(start: cython.Py_ssize_t, end: cython.Py_ssize_t, new: bytes) -> Edit:
    """An edit, made without a call that would box its numbers."""
    edit: Edit = Edit.__new__(Edit)
    edit.start = start
    edit.end = end
    edit.new = new
    return edit
