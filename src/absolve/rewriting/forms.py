"""The form of links within a site: from its root, from page to page, to its files (docs/decisions.md, W14 and W16).

In: a policy, and the site: the URL of a folder, or the host of each page. Out: a policy that writes the same targets as
relative references where these mean the same in every profile. Links that a standard, or a reader without a base, needs
absolute stay absolute.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import UsageError, in_short
from absolve.core.model import EMBEDDED, ENCAPSULATING
from absolve.formats import registry
from absolve.formats.grammars import ABSOLUTE
from absolve.rewriting.policy import KEEPING, absolute, emptied
from absolve.rules.index import with_drive
from absolve.urls.archives import led
from absolve.urls.predicates import has_scheme
from absolve.urls.relative_path import in_every_profile, in_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.core.model import Link
    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy

    Files = Callable[[str, str, str | None, str], str | None]

_LIKE: Final = {"root": "/", "relative": "x"}  # a reference in the form
_LONGEST: Final = 2048  # characters of a base: each link costs as much time
_MOST_KNOWN: Final = 10_000
_PARTS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)([^?#]*)")
_BASE_PATH: Final = re.compile(r"/(?:[\w!$&'()*+,;=:@~%-][\w.!$&'()*+,;=:@~%-]*/)*", re.ASCII)
_HEAD: Final = 4096  # bytes in which the root element of a feed begins
_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?(\w+)")
# Feeds, sitemaps and lists of feeds are read without a base: RSS 2.0, "Comments"; sitemaps.org, `loc`; OPML 2.0.
_ROOTS: Final = {
    **dict.fromkeys(b"rss RDF feed entry opml CHANNEL channel".split(), "feeds"),
    **dict.fromkeys(b"urlset sitemapindex".split(), "sitemaps"),
}
_APART: Final = {registry.JSON_FEED: "feeds", registry.ROBOTS: "robots.txt", registry.SITEMAP: "sitemaps"}
_ERROR_PAGE: Final = re.compile(r"[^?#]*/404\.x?html?(?:[?#].*)?", re.DOTALL)  # shown at any URL that is not there
_WITHIN: Final = ("srcdoc[", "cell[", "output[")  # documents in a page or a notebook, which are read with it
# Relations whose target is the identity of the page, or is sent to other servers.
_IDENTITY: Final = frozenset("canonical shortlink shorturl pingback self amphtml".split())


class _Place(NamedTuple):
    """Scheme and authority of a URL, in lower case, and its path."""

    origin: str
    path: str

    @staticmethod
    def of(url: str) -> _Place | None:
        found = _PARTS.match(url)
        return None if found is None else _Place(found[1].lower(), found[2] or "/")

    def holds(self, other: _Place | None) -> bool:
        """Return whether a URL is in the folder with the path of this one."""
        return other is not None and other.origin == self.origin and other.path.startswith(self.path)


class Form:
    """A policy that writes the links of `inner` within a site in a form: root, relative, file or keep.

    `root` is the URL of a folder of inputs; without it, and for a page that is not in it, the site is the page's host.
    `path` is the path that the root will have: it begins and ends with a slash. None: the one that it has.
    `files` is for the form file: it returns the path to a file from the name of a document, a reference that may be a
    path, the URL to which it leads and the charset of the document.

    `is_stuck`: since it was set to False, a link of the site stayed absolute because its base is not in the site.
    `apart`: the kind of the last document whose links stayed absolute because it is read apart; "" without one.
    """

    def __init__(
        self, inner: Policy, form: str, root: str = "", path: str | None = None, files: Files | None = None
    ) -> None:
        """Raise UsageError for a path that does not begin with a slash, or is no path of a URL."""
        if path is not None:
            path = path if path.endswith("/") or not path else f"{path}/"
            if not _BASE_PATH.fullmatch(path):
                raise UsageError(f"--base-path needs the path of a folder, such as /proj/, not {in_short(path)!r}")
        self.inner = inner
        self.form = form
        self.is_stuck = False
        self.apart = ""
        self._root = _Place.of(with_drive(root if root.endswith("/") else f"{root}/")) if root else None
        self._path = path
        self._files = files
        self._known: dict[tuple[str, str, str, str], str] = {}
        self._entity: Entity | None = None
        self._apart_as = ""

    @property
    def keeps_targets(self) -> bool:
        """Whether each link leads where it would lead without this form."""
        return self._path is None and self._files is None

    def __call__(self, resolved: Resolved) -> str | None:
        """Return the new text of a link; None to leave its bytes as they are.

        For example, with the form root, `http://h/a/c` in the document `http://h/a/b` becomes `/a/c`. A link out of the
        site, or one that must be absolute, gets what the inner policy writes (`new`). So does a relative link that has
        the form already. Any other is written in the form, from its target.
        """
        new = self.inner(resolved)
        full = absolute(resolved) if new is None and self.form in KEEPING else new  # leads there from any document
        if self._files is not None:
            return self._to_file(resolved, new, full, self._files)
        context, reference = resolved.context, resolved.reference
        is_absolute = has_scheme(reference)
        if full == "" or (full is None and (not is_absolute or context.stays_always)):
            return full
        target = with_drive(full or reference)  # an absolute reference keeps its bytes
        if (led_to := led(context.resolver, reference)) is not None and full in {None, led_to}:
            target = resolved.target or target
        site = self._site(with_drive(resolved.own.url))
        if site is None or not site.holds(_Place.of(target)) or resolved.target is None:
            return new
        if self._needs_absolute(resolved):
            self.apart = self.apart or self._apart_as
            return new
        base = with_drive(resolved.own.url if context.is_emptied else context.base.url)
        if not site.holds(_Place.of(base)) or len(base) > _LONGEST:
            self.is_stuck = True
            return new
        is_free = not context.is_emptied and full in {None, context.target(reference, False)}
        if is_free and not is_absolute and self._is_in_form(reference):
            return None
        return self._written(site, reference, base, target, context.base_context.charset, resolved)

    def _to_file(self, resolved: Resolved, new: str | None, full: str | None, files: Files) -> str | None:
        """Return the path to the file that a link leads to; `new` without one, `full` if its base is emptied."""
        entity, context = resolved.entity, resolved.context
        is_member = not all(step.startswith(_WITHIN) for step in entity.path.split("/") if step)  # of an archive
        if self._is_apart(entity) or resolved.element == "header" or is_member:
            self.apart = self.apart or self._apart_as
            return new
        if resolved.link.claim is not None:
            return emptied(resolved)
        stays = full if new is None and context.is_emptied else new
        if context.stays_always or not resolved.reference or self._needs_absolute(resolved):
            return stays
        is_path = new is None and not any(fate.base.layer is EMBEDDED for fate in context.base.chain)
        name = resolved.reference if is_path else ""
        url = resolved.reference if full is None and has_scheme(resolved.reference) else full
        path = files(entity.name, name, url, entity.charset.name)
        if path is not None and resolved.attribute == "importmap" and not path.startswith("../"):
            path = f"./{path.removeprefix('./')}"
        return stays if path is None else path

    def _is_in_form(self, reference: str) -> bool:
        """Return whether a relative reference has the form, and leads to the same target from wherever the site is."""
        begins = reference[:2].replace("\\", "/")
        if begins[:1] == "#" or begins == "//":  # a fragment is in no form: it leads out of the document here
            return False
        if begins[:1] == "/":
            return self.form != "relative" and self._path is None
        return self.form != "root"

    def _site(self, own: str) -> _Place | None:
        """Return the root of the site of a page."""
        place = _Place.of(own)
        if place is None:
            return None
        return self._root if self._root is not None and self._root.holds(place) else place._replace(path="/")

    def _written(self, site: _Place, reference: str, base: str, target: str, charset: str, resolved: Resolved) -> str:
        """Return the reference for a target in the site: for example, `../c` from `http://h/a/b` to `http://h/c`."""
        like = _LIKE.get(self.form, reference)
        if resolved.attribute == "importmap" and like == "x":
            like = "./x"  # a bare word is no URL in an import map
        key = like, base, target, charset
        found = self._known.get(key)
        if found is None:
            leads = partial(in_every_profile, charset)
            found = in_form(like, self._with_new_root(site, base), self._with_new_root(site, target), leads)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if len(target) <= _LONGEST:
                self._known[key] = found
        return found

    def _with_new_root(self, site: _Place, url: str) -> str:
        """Return a URL with the new path of its root: for example, `http://h/b/x` for `http://h/a/x` and `/b/`."""
        if self._path is None:
            return url
        before, path = _PARTS.match(url).groups()  # type: ignore[union-attr]  # it is in the site
        return f"{before}{self._path}{path[len(site.path) :]}{url[len(before) + len(path) :]}"

    def _is_apart(self, entity: Entity) -> bool:
        if entity is not self._entity:
            self._entity = entity
            self._apart_as = apart_as(entity, self.form)
        return bool(self._apart_as)

    def _needs_absolute(self, resolved: Resolved) -> bool:
        """Return whether a link must be absolute by a standard, or because its reader has no base."""
        entity, link = resolved.entity, resolved.link
        if self._is_apart(entity) or resolved.element == "header" or resolved.attribute == "itemid":
            return True
        if link.place.syntax in ABSOLUTE:
            return True
        if resolved.element == "meta":  # Open Graph, Twitter, citations
            return link.place.syntax != "refresh"
        return resolved.element == "link" and link.tag_start >= 0 and _is_identity(entity, link, resolved.rel)


def _is_identity(entity: Entity, link: Link, rel: str) -> bool:
    words = rel.lower().split()
    if not _IDENTITY.isdisjoint(words):
        return True
    return "alternate" in words and b"hreflang" in entity.cut(link.tag_start, link.tag_end).lower()


def apart_as(entity: Entity, form: str) -> str:
    """Return the kind of a document that is read apart from its site, so that its links stay absolute; else "".

    That is a feed, a sitemap, robots.txt, a message, or a part of these; with relative references also an error page.
    """
    if entity.media_type in _APART:
        return _APART[entity.media_type]
    if entity.media_type == registry.XML:
        root = _first_name(entity.cut(0, _HEAD).replace(b"\0", b""))
        if root in _ROOTS:
            return _ROOTS[root]
    if form in {"relative", "file"} and _ERROR_PAGE.fullmatch(entity.bases.own.url):
        return "error pages"
    is_inside = entity.bases.own.layer is ENCAPSULATING and not entity.path.rpartition("/")[2].startswith(_WITHIN)
    return "messages" if is_inside else ""


def _first_name(head: bytes) -> bytes:
    """Return the local name of the first start tag: for example, `<?xml?><rdf:RDF>` gives `RDF`."""
    found = _ROOT.search(head)
    return found[1] if found is not None else b""


def form_of(policy: Policy) -> Form | None:
    """Return the form that a policy applies, also one for selected links only."""
    if isinstance(policy, Form):
        return policy
    inner = getattr(policy, "inner", None)
    return None if inner is None else form_of(inner)
