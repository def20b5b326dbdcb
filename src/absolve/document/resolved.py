"""Links with their base context: RFC 1808 section 4 applied to the bases established by section 3.

In: an entity and its links. Out: `LinkContext`, shared by all links of one site under one base, and `Resolved`, the
link that a policy gets, with its reference and target as text.
"""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING, Any

from absolve.core.lazy_regex import pattern
from absolve.core.model import EMBEDDED
from absolve.urls import resolver
from absolve.urls.base import found_as
from absolve.urls.predicates import PrefixResolver, has_scheme, is_alone, is_malformed, may_have_placeholder, scheme
from absolve.urls.rfc1808 import NEVER_RELATIVE

if TYPE_CHECKING:
    import cython

    from absolve.core.model import BaseURL, Layer, Link, LinkSite
    from absolve.core.protocols import CompanionFiles
    from absolve.document.entity import Entity
    from absolve.urls.base import BaseContext


_LOCAL = frozenset({"usemap", "datasrc"})  # attributes with the name of an element of the document
_AS_IT_STANDS = frozenset({"url", "srcset", "spaces", "likely", "config", "css"})  # syntaxes that escape no plain bytes


def text(value: bytes) -> str:
    """Return a decoded value as text, lossless (PEP 383): for example, the byte FF gives U+DCFF."""
    return value.decode("ascii") if value.isascii() else value.decode("utf-8", "surrogateescape")


def shown(text: str) -> str:
    """Return text that any sink can write: for example, U+DCFF, a byte that is no character, gives U+FFFD."""
    return text if text.isascii() else value_of(text).decode("utf-8", "replace")


def value_of(reference: str) -> bytes:
    """Return the value of a text, the inverse of `text`; a lone surrogate that keeps no byte becomes U+FFFD."""
    if reference.isascii():
        return reference.encode("ascii")
    return _NO_BYTE.sub("\ufffd", reference).encode("utf-8", "surrogateescape")


_NO_BYTE = pattern("[\ud800-\udc7f\udd00-\udfff]")


# How references begin that a program fills in, by the suffixes of its files; elsewhere they are fragments and paths.
_FILLED_IN = {
    **dict.fromkeys((".erb", ".rhtml", ".haml", ".slim"), ("#{",)),
    # learn.microsoft.com/aspnet/web-forms: "ASP.NET Web Project Paths"
    **dict.fromkeys((".aspx", ".ascx", ".master", ".cshtml", ".vbhtml", ".razor"), ("~/",)),
    ".vue": ("~/", "~~/"),  # nuxt.com/docs/api/nuxt-config#alias
}
_NOTHING: dict[str, int] = {}
ROOM = 16  # most characters by which the prefix for a reference is longer than the base URL (often by a slash)


class LinkContext:
    """Everything that decides about a link except its reference and coding; links of a site under one base share it.

    `elsewhere`: the base is not the document's own URL. `keeps_fragments`: it is, and fragments stay unchanged.
    `is_local`: a fragment names a thing in the document itself, although the base is elsewhere (SVG 2 16.1, CSS Values
    4, the image maps of HTML).

    `is_unknown`: the base is in a package without a URL. `is_emptied`: the base element is to be emptied. `prefixes`:
    the resolver, if it resolves by prefixes; `short`: the same, if these may be written without escaping. `held` are
    the keys of parts of the same message: links to those stay unchanged. `files` finds files that were saved with the
    document by relative references; None for most documents. `longest` is the greatest length of a resolved
    URL in characters; references of up to `room` bytes cannot exceed it if they are resolved by a prefix.
    """

    def __init__(self, entity: Entity, link: Link) -> None:
        place: LinkSite = link.place
        self.place = place
        self.scope = link.base
        base_context: BaseContext = entity.ruled(link)
        settings = entity.settings
        self.base_context = base_context
        self.base = base_context.base
        self.resolver = base_context.resolver
        self.elsewhere = base_context.elsewhere
        self.is_unknown = base_context.unknown
        self.own = entity.bases.own
        self.settings = settings
        self.keeps_fragments = not self.elsewhere and settings.fragments == "keep"
        if self.keeps_fragments and settings.base == "empty":
            self.keeps_fragments = not _inherits_emptied(self.own)
        # If the base element is to be emptied, relative references could no longer find the parts in `held`.
        self.is_emptied = self.elsewhere and settings.base == "empty"
        self.longest: int = settings.max_url
        self.room = self.longest - len(self.base.url) - ROOM
        self.prefixes: PrefixResolver | None = None
        if isinstance(self.resolver, PrefixResolver) and self.resolver.usable:
            self.prefixes = self.resolver
        stays = place.stays
        self.stays_always = stays == "always" or self.is_unknown
        self.stays_as_fragment = stays == "fragment"
        self.is_local = self.elsewhere and (stays == "fragment" or place.attribute in _LOCAL)
        self.empty = place.empty
        is_held = not self.is_emptied and (link.claim is None or place.attribute == "content-location")
        self.held = entity.held if is_held else _NOTHING
        self.files = None if entity.files is None else self._files(entity.files, link)
        names = entity.name or "", entity.path.partition("[")[0]  # the file, the member of a ZIP
        self.filled_in = next(filter(None, [_FILLED_IN.get(name[name.rfind(".") :].lower()) for name in names]), ())
        is_plain = place.syntax in _AS_IT_STANDS and not self.held and self.files is None
        self.short = self.prefixes if is_plain else None
        # Bytes of a header field may be an encoded word (RFC 2047 2), whatever they look like.
        if self.short is not None and place.element == "header":
            self.short = None

    def _files(self, files: CompanionFiles, link: Link) -> CompanionFiles | None:
        """Return `files` for the base of a link: a browser looks for them from the document, or its relative base.

        A relative base element is kept, as the links are that lead to files by it.
        """
        folder = _relative_folder(self.base) if self.elsewhere else "."
        if folder is None or (self.is_emptied and folder != "."):
            return None
        if link.claim is not None:
            return _keep_relative if link.place.element == "base" else None
        is_frame = link.place.kind == "frame"
        return files if folder == "." and not is_frame else partial(files, folder=folder, is_frame=is_frame)

    def file_url(self, reference: str) -> str | None:
        """Return the URL or path of the companion file that a reference names: see `protocols.CompanionFiles`."""
        files: CompanionFiles | None = self.files
        return files(reference) if files is not None else None

    def target(self, reference: str, claims: cython.bint) -> str | None:
        """Return the absolute URL of a reference, or None; `claims`: the link is a base, where "" has a meaning."""
        if not reference:
            if self.empty == "nothing" and not claims:
                return None
            return (self.own.url if self.empty == "own" else self.resolver("")) or None
        if self.files is not None and not claims and (known := self.file_url(reference)) is not None:
            return known if known and len(known) <= self.longest else None
        if reference[0] == "#" and self.is_local:
            return self._in_own_document(reference)
        if self.filled_in and reference.startswith(self.filled_in):
            return None
        if may_have_placeholder(reference):
            found = _placeholders().resolved(reference, self.resolver)
            return found if found is None or len(found) <= self.longest or is_alone(reference) else None
        found = self.resolver(reference)
        if found is None and self.held:
            return self._in_message(reference)
        # Only a reference with an authority of its own can make a URL malformed: bases are well-formed.
        if found is None or ((":" in reference or reference.startswith("//")) and is_malformed(found)):
            return None
        return None if len(found) > self.longest and not is_alone(reference) else found

    def _in_own_document(self, fragment: str) -> str | None:
        """Return the URL of a same-document reference; None for a document without a URL, and for a placeholder."""
        if not self.own.url or is_placeholder(fragment):
            return None
        return resolver(self.settings.profile, self.own.url)(fragment)

    def _in_message(self, reference: str) -> str | None:
        """Return the URL of a part of the same message, which records no base; else None."""
        base_context: BaseContext = self.base_context
        found = base_context.in_message(reference)
        return found if found is not None and found_as(found) in self.held else None

    def how_held(self, url: str | None) -> Any:
        """Return how the part of the same message that a URL identifies is known; None if there is none."""
        return self.held.get(found_as(url)) if self.held and url is not None else None

    def is_too_long(self, reference: str) -> cython.bint:
        """Return whether a reference has no target because its URL would have too many characters.

        The limit does not apply to references that use no part of the base (`data:`): they are not resolved.
        """
        if not reference or is_alone(reference):
            return False
        found = self.resolver(reference)
        return found is not None and len(found) > self.longest

    def may_write(self, url: str) -> cython.bint:
        """Return whether the URL of a policy is short enough to be written; `data:` and the like have no limit."""
        return len(url) <= self.longest or (scheme(url) or "") in NEVER_RELATIVE


def _inherits_emptied(own: BaseURL) -> bool:
    """Return whether a document inside another one has its base from a base element, which is to be emptied."""
    used = (fate.base.source for fate in own.chain if fate.verdict == "resolved against")
    return "base element" in used


def _placeholders() -> Any:
    from absolve.urls import placeholders  # few documents have one

    return placeholders


def is_placeholder(reference: str) -> cython.bint:
    """Return whether a reference has no URL yet, because it begins with a placeholder, or ends within one."""
    return may_have_placeholder(reference) and _placeholders().is_placeholder(reference)


def placeholder_at(reference: str) -> cython.Py_ssize_t:
    """Return the offset of the first placeholder in a reference, its length if there is none."""
    return _placeholders().first(reference) if may_have_placeholder(reference) else len(reference)


def fixed(reference: str) -> str:
    """Return a reference up to its first placeholder, and one letter: for example, `a/{{x}}/b` gives `a/x`."""
    found: str = _placeholders().fixed(reference) if may_have_placeholder(reference) else reference
    return found


def _relative_folder(base: BaseURL) -> str | None:
    """Return the folder, relative to the document's folder, to which its base leads; None if that is elsewhere."""
    claims = [fate.base.reference for fate in base.chain if fate.verdict in _IN_FORCE and fate.base.layer is EMBEDDED]
    if len(claims) != 1 or _keep_relative(claims[0]) is None:
        return None
    path = claims[0].partition("#")[0].partition("?")[0]
    return posixpath.normpath(path if path.endswith(("/", "..")) or path == "." else posixpath.dirname(path))


def _keep_relative(reference: str, folder: str = ".", *, is_frame: bool = False) -> str | None:  # noqa: ARG001 - of the protocol
    """Return "" for a relative base reference, by which links lead to files that were saved with the document."""
    return None if has_scheme(reference) or reference[:1] in {"/", "\\"} else ""


_IN_FORCE = frozenset({"won", "resolved against"})
_MOST_CONTEXTS = 512  # keys of an entity: few documents have as many scoped bases


def link_context(entity: Entity, link: Link) -> LinkContext:
    """Return the context of a link, cached in its entity: one for all links of a site under a base.

    The cache is for entities whose bases are established, and whose message IDs are known.
    """
    key = context_key(entity, link)
    found: LinkContext | None = entity.contexts.get(key)
    if found is None:
        if len(entity.contexts) >= _MOST_CONTEXTS:
            entity.contexts.clear()
        found = entity.contexts[key] = LinkContext(entity, link)
    return found


def context_key(entity: Entity, link: Link) -> Any:
    """Return a key that links with the same context share: site, scope, and whether a header claim is used."""
    key = id(link.place) if link.base is None else (id(link.place), id(link.base))
    if link.claim is not None and link.place.against == "header":
        return key, entity.gives_base(link.claim)
    return key


class Resolved:
    """A link, its reference as text, and its context; `target` is computed on access.

    `element`, `attribute`, `kind`, `rel` and `layer` are as in the row; `base` is the BaseURL of the link, `own` the
    BaseURL of the document without its base elements.
    """

    __slots__ = ("context", "entity", "link", "reference")

    def __init__(
        self, entity: Entity, link: Link, context: LinkContext | None = None, reference: str | None = None
    ) -> None:
        self.entity = entity
        self.link = link
        if reference is None:
            reference = text(link.coding.decode(entity.cut(link.start, link.end)))
        self.reference = reference
        self.context = context if context is not None else link_context(entity, link)

    @property
    def element(self) -> str:
        return self.link.place.element

    @property
    def attribute(self) -> str:
        return self.link.place.attribute

    @property
    def kind(self) -> str:
        return self.link.place.kind

    @property
    def rel(self) -> str:
        """The rel of the link's tag, with white space collapsed; "" without one."""
        if self.link.tag_start < 0:
            return ""
        from absolve.formats.html.row_text import Folded, rel_and_alt  # few policies ask for it

        folded = Folded(self.entity.charset)
        found: tuple[str, bytes] = rel_and_alt(self.entity.own_data, self.link.tag_start, self.link.tag_end, folded)
        return found[0]

    @property
    def base(self) -> BaseURL:
        return self.context.base

    @property
    def layer(self) -> Layer:
        """The layer of RFC 1808 section 3 that gave the link its base."""
        return self.context.base.layer

    @property
    def own(self) -> BaseURL:
        return self.context.own

    @property
    def target(self) -> str | None:
        """The absolute URL; None if unresolved, malformed, too long, or an empty reference that fetches nothing."""
        return self.context.target(self.reference, self.link.claim is not None)

    @property
    def otherwise(self) -> str | None:
        """The URL by the base that does not apply because of its order (`Bases.before`); None if that is the same."""
        other = self.context.base_context.other
        if other is None or not self.reference or self.names_file:
            return None
        if self.reference[0] == "#" and (self.context.is_local or self.context.stays_as_fragment):
            return None
        found: str | None = other.resolver(self.reference)
        return found if found != self.context.resolver(self.reference) else None

    @property
    def is_companion(self) -> bool:
        """Whether the link leads to a file that was saved with the document, and is kept."""
        return self.link.claim is None and self.context.file_url(self.reference) == ""

    @property
    def names_file(self) -> bool:
        """Whether the link leads to a file beside the document: it is not joined with the base."""
        return self.link.claim is None and self.context.file_url(self.reference) is not None

    @property
    def resolves(self) -> bool:
        """Whether relative references can be resolved against the base."""
        return self.context.resolver("x") is not None
