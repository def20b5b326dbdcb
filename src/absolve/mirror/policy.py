"""The policy of a mirror: a link to a held document becomes relative, any other absolute (issue 24).

In: a `Resolved`, and a function that finds held documents. Out: the new reference, or None where the link stays; for
example, `../b.html` for `http://h/b` on the page `h/a/index.html`. Other observations of a policy are in its `Seen`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import DATA
from absolve.encodings.charsets import lookup
from absolve.formats import registry
from absolve.formats.html import link_tables, security_policy
from absolve.formats.html.start_tags import attributes
from absolve.mirror import browsers
from absolve.rewriting.policy import absolute_of, emptied
from absolve.urls import source_lists, whatwg
from absolve.urls.identity import percent_decoded
from absolve.urls.predicates import scheme
from absolve.urls.relative_path import reference_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.mirror.lookup import Lookup
    from absolve.urls.source_lists import Directives

INERT: Final = "data:,"  # fetches nothing
UNSEVERED: Final = "unsevered"  # the code of a note: a browser may ask the web here, and no link shows for what
MOST_WRITTEN: Final = 64 << 20  # characters of the new links of a document: a base may have a megabyte

_PARTS: Final = ("cid:", "x-msg:", "applewebdata:")  # parts of one message: RFC 2392; Apple's Mail and Notes
_MISSED: Final = ("http:", "https:", "ftp:", "file:", "package:", *_PARTS)  # URLs that are missing if they are not held
_HELD: Final = (*_MISSED, "mid:")
_IDENTITY_RELS: Final = frozenset({"canonical", "shortlink", "shorturl"})
# Relations whose target a browser fetches, or prepares to fetch, without a click.
_FETCHED_RELS: Final = frozenset(
    "stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon preload prefetch"
    " modulepreload preconnect dns-prefetch prerender subresource manifest import next compression-dictionary".split()
)
_FETCHED_KINDS: Final = frozenset({"image", "media", "script", "stylesheet", "frame", "font"})
ON_WEB: Final = ("http:", "https:", "ftp:", "ws:", "wss:")
_ON_DISK: Final = "file:///m/"
_IN_DATA_URL: Final = re.compile(rf"(?:\A|/){DATA}\[")  # a step in the path of an entity
_OPENED: Final = frozenset({"navigation", "frame"})  # kinds of links whose fragment is a place in the opened document
_NEVER_FETCHED: Final = frozenset({"a", "area", "form", "meta", "base", "blockquote", "q", "ins", "del", "cite"})
_PREPARED: Final = frozenset({"preconnect", "dns-prefetch"})  # they name a host, not a document
_CORS: Final = re.compile(rb"(?i)integrity|crossorigin")
_CORS_ELEMENTS: Final = frozenset({"script", "link", "img", "image", "audio", "video", "source", "input"})
_MAP_SITE: Final = "importmap"
# Places of documents and scripts that run in a page, with the word of `security_policy.allows`.
_RUN: Final = {
    **{("script", attribute): "script" for attribute in ("src", "href", "xlink:href", "data-src")},
    **{(element, attribute): "frame" for element in ("iframe", "frame") for attribute in ("src", "data-src")},
    **dict.fromkeys((("object", "data"), ("embed", "src")), "object"),
}
_LAZY: Final = frozenset((place.element, place.attribute) for place in link_tables.LAZY)


class Target(NamedTuple):
    """A file in the mirror, by its path, and the fragment of a redirect to it.

    `query` is the query of the reference, if the file was found without it.
    """

    path: str
    fragment: str | None = None
    query: str | None = None


class Response(NamedTuple):
    """The response that became a file: its URL, its media type, and the fields that limit it (see `browsers`)."""

    url: str
    media_type: str
    fields: str


class Note(NamedTuple):
    """A note about a place in a document: an edit that is no link, or something that cannot work."""

    entity: Entity
    position: int
    code: str
    text: str


class Seen:
    """The observations of a policy in one document.

    `missing`: URLs that are not held, with the kind of link. `local`: the tags with `integrity` or `crossorigin` whose
    target is a file, as entity, start and end. `reached`: the files to which links lead. `scripts`: the places of tags
    whose script has another charset than the page, with that charset.
    """

    __slots__ = ("local", "missing", "notes", "reached", "scripts")

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.missing: dict[tuple[str, str], None] = {}
        self.local: dict[tuple[int, int], tuple[Entity, int, int]] = {}
        self.reached: set[str] = set()
        self.scripts: dict[tuple[int, int], tuple[Entity, int, str]] = {}


class Answer(NamedTuple):
    """The new reference for a hyperlink, the URL that was looked up, and the path of its file; None without a file."""

    new: str | None
    url: str
    path: str | None


Answers = dict[tuple[str, str], Answer]  # by reference and target


class Relatives:
    """Relative references from file to file, and answers for hyperlinks, which are computed once for each folder.

    `absent` has the answers for URLs that are not held; they are the same in every folder.
    """

    def __init__(self) -> None:
        self._folder = ""
        self._known: dict[str, str] = {}
        self._leads: dict[str, str | None] = {}
        self._local: Answers = {}
        self.absent: Answers = {}

    def local(self, page: str) -> Answers:
        """Return the answers for hyperlinks to files from the folder of a page."""
        self._enter(page)
        return self._local

    def reference(self, page: str, path: str) -> str:
        """Return the relative reference from one file to another, for example `../c.html` from `a/b.html`."""
        folder = self._enter(page)
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = reference_to(folder, path)
        return known

    def path(self, page: str, reference: str) -> str | None:
        """Return the path to which a relative reference leads, without query and fragment; None if it is no URL."""
        folder = self._enter(page)
        if reference not in self._leads:
            led = whatwg.parse(reference, f"{_ROOT}{quote(folder, errors='surrogateescape')}/" if folder else _ROOT)
            path = percent_decoded(led[len(_ROOT) :]) if led is not None else None
            if len(reference) > _MOST_CHARACTERS:
                return path
            self._leads[reference] = path
        return self._leads[reference]

    def _enter(self, page: str) -> str:
        folder = page.rpartition("/")[0]
        if folder != self._folder or len(self._known) + len(self._leads) + len(self._local) > _MOST_KNOWN:
            self._folder = folder
            self._known.clear()
            self._leads.clear()
            self._local = {}  # not cleared: the policy of another folder may have it
        if len(self.absent) > _MOST_KNOWN:
            self.absent.clear()
        return folder


_ROOT: Final = "http://m/"
_PAGES: Final = (".html", ".htm", ".xhtml", ".xht")  # names of files whose scripts may read a query
_MOST_KNOWN: Final = 100_000
_MOST_CHARACTERS: Final = 2048  # of a reference and its target whose answer is cached


class MirrorPolicy:
    """The policy for one document, the file `path`; a plain callable for `absolve.rewrite(policy=...)`.

    `find` returns the file for a URL without fragment, or None. `severs`: links that a browser would fetch from the web
    by itself become inert. `url` and `fields` belong to the document's own response, `responses` knows the
    others: with these, links that the web did not run become inert. `limits` has the security policies in force in
    each entity, by its ID, with the offset from which each one counts. `named` returns the file of the same folder,
    package or message that a reference names, or its URL, which counts before the target of the link.
    """

    def __init__(
        self,
        path: str,
        find: Callable[[str], Target | None],
        *,
        severs: bool = False,
        relatives: Relatives | None = None,
        url: str = "",
        fields: str = "",
        responses: Lookup | None = None,
        named: Callable[[str], Target | str | None] | None = None,
    ) -> None:
        self.path = path
        self.url = url
        self.fields = fields
        self.limits: dict[int, list[tuple[int, Directives]]] = {}
        self._responses = responses
        self.seen = Seen()
        self._find = find
        self._named = named
        self.severs = severs
        self._relatives = relatives if relatives is not None else Relatives()
        self._local_answers = self._relatives.local(path)
        self._absent_answers = self._relatives.absent
        self._cors: tuple[int, bool] = (0, False)
        self._reasons: dict[tuple[object, ...], str | None] = {}
        self._written = 0

    def is_held(self, target: str) -> bool:
        """Return whether the capture has a document for a URL."""
        return self._find(target.partition("#")[0]) is not None

    def holds(self, source: str) -> bool:
        """Return whether the mirror has a file that a source expression, for example `*.h.org`, allows."""
        origins = self._responses.origins if self._responses is not None else ()
        return any(source_lists.matches([source], origin, self.url, by_path=False) for origin in origins)

    def __call__(self, resolved: Resolved) -> str | None:
        """Return the new reference of a link; None where it stays. Raise DocumentError if all are too long together."""
        place = resolved.context.place
        in_data_url = bool(resolved.entity.path) and is_in_data_url(resolved.entity)
        if in_data_url:
            new = self._opaque(resolved)
        elif place.element == "a" and place.attribute == "href":
            new = self._hyperlink(resolved)
        else:
            new = self._reference(resolved)
        if self.severs and fetches(resolved):
            new = self._cut_off(resolved, new, resolved.base.url if in_data_url else _ON_DISK)
        if new is not None:
            self._written += len(new)
            if self._written > MOST_WRITTEN:
                text = f"a document whose new links have more than {MOST_WRITTEN >> 20} MiB together stays as it is"
                raise DocumentError(Diagnostic("too-large", text, resolved.entity.name))
        return new

    def _hyperlink(self, resolved: Resolved) -> str | None:
        """Return the new reference of an `<a href>`: most links, and many of them on many pages."""
        context, reference = resolved.context, resolved.reference
        target = resolved.target
        is_plain = reference and reference[0] != "#" and not context.held and not context.stays_always
        if self._named is not None or not is_plain or target is None or not target.startswith(_HELD):
            return self._reference(resolved)
        key = reference, target
        answer = self._absent_answers.get(key) or self._local_answers.get(key)
        if answer is None:
            return self._answered(resolved, key)
        if answer.path is not None:
            self._find(answer.url)  # it notes the equivalent URL that was used
            self.seen.reached.add(answer.path)
        elif answer.url.startswith(_MISSED):
            self.seen.missing.setdefault((answer.url, resolved.kind))
        return answer.new

    def _answered(self, resolved: Resolved, key: tuple[str, str]) -> str | None:
        reference, target = key
        url, crosshatch, fragment = target.partition("#")
        found = self._find(url)
        if found is None:
            new, answers = self._absent(resolved, url), self._absent_answers
        else:
            new, answers = self._local(resolved, found, fragment if crosshatch else None), self._local_answers
        if len(reference) + len(target) <= _MOST_CHARACTERS:
            answers[key] = Answer(new, url, found.path if found is not None else None)
        return new

    def _reference(self, resolved: Resolved) -> str | None:
        link, context, reference = resolved.link, resolved.context, resolved.reference
        place = link.place
        if place.stays == "always":
            return None
        if link.claim is not None:
            return self._claimed(resolved)
        if not reference:
            if place.empty == "nothing" or not context.elsewhere:
                return None
        elif reference[0] == "#" and (context.stays_as_fragment or context.keeps_fragments):
            return None
        target = self._held_target(resolved)
        if target is None:
            return _still_malformed(resolved)
        if not target.startswith(_HELD):
            return None
        if is_identity(resolved):
            if resolved.kind == "form":
                self.note(resolved, "form", f"it is sent to {target[:200]}")
            return absolute_of(reference, context)
        url, crosshatch, fragment = target.partition("#")
        named = self._file(resolved, url)
        is_part = self._named is not None and url.startswith(_PARTS)  # parts of this message only (RFC 2557 7 and 8)
        found = named if named is not None or is_part else self._find(url)
        if found is None:
            return self._absent(resolved, url)
        if isinstance(found, str):  # of another host
            self._absent(resolved, found.partition("#")[0])
            return found
        if self._responses is not None and (resolved.element, resolved.attribute) in _RUN:
            response = self._responses.response(found.path)
            response = response if named is None else response._replace(url=url)
            why = self._refused(resolved, url, found.path, response)
            if why is not None:
                self.note(resolved, "refused", f"{url}: {why}")
                return INERT
        return self._local(resolved, found, fragment if crosshatch else None)

    def _held_target(self, resolved: Resolved) -> str | None:
        """Return the target of a link, with or without the base element: if only one of them is held, that one."""
        target, other = resolved.target, resolved.otherwise
        is_other = other is not None and self.is_held(other) and not (target is not None and self.is_held(target))
        return other if is_other else target

    def _file(self, resolved: Resolved, url: str) -> Target | str | None:
        """Return the file that a reference names; a relative reference only if no base leads to another folder.

        `url` is its target.
        """
        if self._named is None:
            return None
        if url.startswith(_PARTS):
            return self._named(url)
        context = resolved.context
        if context.elsewhere and _folder(context.base.url) != _folder(context.own.url):
            return None
        return self._named(resolved.reference)

    def _claimed(self, resolved: Resolved) -> str | None:
        new = emptied(resolved)
        if new is not None and resolved.reference:
            self.note(resolved, "base", f"the href of the base is emptied; it was {resolved.reference}")
        return new

    # --- what is held -------------------------------------------------------------------------------------------------

    def _local(self, resolved: Resolved, found: Target, fragment: str | None) -> str | None:
        self.seen.reached.add(found.path)
        if resolved.link.tag_start >= 0 and resolved.element in _CORS_ELEMENTS and self._has_cors(resolved.entity):
            self._see_tag(resolved)
        if resolved.element == "script" and resolved.attribute == "src" and self._responses is not None:
            self._see_script(resolved, found.path, self._responses)
        if (needs := needs_server(resolved)) is not None:
            self.note(resolved, "needs-server", needs)
        # A redirect's fragment precedes the link's (RFC 9110 10.2.2) if a browser goes to it.
        is_moved = found.fragment is not None and (fragment is None or resolved.kind in _OPENED)
        if is_moved:
            fragment = found.fragment
        new = self._relatives.reference(self.path, found.path)
        if resolved.attribute == _MAP_SITE and not new.startswith("../"):
            new = f"./{new}"
        keeps_query = found.query is not None and found.path.lower().endswith(_PAGES)
        if keeps_query:
            new = f"{new}?{found.query}"
        if fragment is not None:
            new = f"{new}#{fragment}"
        leads = self._leads(resolved.reference, found.path, has_query=keeps_query)
        if new == resolved.reference or (not is_moved and leads):
            return None
        return new

    def _leads(self, reference: str, path: str, *, has_query: bool) -> bool:
        """Return whether a reference, as it is written, leads from this file to that one."""
        before = reference.partition("#")[0]
        if has_query:
            before = before.partition("?")[0]
        if before.startswith(("/", "\\")) or "?" in before:
            return False
        if not before:
            return path == self.path
        if ":" in before.partition("/")[0] or "\\" in before:
            return False
        return self._relatives.path(self.path, before) == path

    def _has_cors(self, entity: Entity) -> bool:
        if self._cors[0] != id(entity):
            lowered = browsers.lowered(entity.own_data)  # ten times faster than a search that ignores case
            self._cors = (id(entity), b"crossorigin" in lowered or b"integrity" in lowered)
        return self._cors[1]

    def _see_tag(self, resolved: Resolved) -> None:
        entity, link = resolved.entity, resolved.link
        if _CORS.search(entity.own_data, link.tag_start, link.tag_end) is not None:
            key = (id(entity), link.tag_start)
            self.seen.local.setdefault(key, (entity, link.tag_start, link.tag_end))

    def _see_script(self, resolved: Resolved, path: str, responses: Lookup) -> None:
        """Note a script's charset if only its header stated it: from a disk the page's charset would apply."""
        entity, start = resolved.entity, resolved.link.tag_start
        label = registry.essence_of(responses.response(path).media_type)[1].get("charset")
        charset = lookup(label) if label else None
        is_page = start >= 0 and entity.media_type == registry.HTML
        if is_page and charset is not None and charset.name != entity.charset.name and responses.needs_charset(path):
            end = start + len("<script")
            self.seen.scripts.setdefault((id(entity), start), (entity, end, charset.name))

    def _refused(self, resolved: Resolved, url: str, path: str, response: Response) -> str | None:
        """Return why a browser did not run a response that `url` led to; None if it did."""
        kind = _RUN[resolved.element, resolved.attribute]
        link, data = resolved.link, resolved.entity.own_data
        in_force = [found for at, found in self.limits.get(id(resolved.entity), ()) if at <= link.start]
        is_tag = kind == "script" and link.tag_start >= 0
        own = attributes(data, link.tag_start, link.tag_end) if is_tag else {}
        names = {b"nonce", b"integrity"} & own.keys()
        words = {name: own[name].text(resolved.entity.charset) for name in sorted(names)}
        key = (id(resolved.entity), len(in_force), kind, url, path, response.url, *words.items())
        if key not in self._reasons:  # a page may have one script thousands of times
            self._reasons[key] = self._reason(kind, in_force, words, url, path, response)
        return self._reasons[key]

    def _reason(
        self, kind: str, in_force: list[Directives], words: Mapping[bytes, str], url: str, path: str, response: Response
    ) -> str | None:
        end, media_type, fields = response
        if kind == "script" and not browsers.may_be_script(media_type, fields):
            return f"browsers run no {media_type[:60]} as a script"
        if kind != "script" and not browsers.may_be_framed(fields, end, self.url):
            return "its header allows no frame in this page"
        stated = words.get(b"integrity")
        if stated and self._responses and not browsers.has_integrity(stated, self._responses.digests(path)):
            return "its integrity is another"
        for found in in_force:
            if not (
                security_policy.allows(found, kind, url, self.url, words.get(b"nonce", ""))
                and security_policy.allows(found, kind, end, self.url, words.get(b"nonce", ""), by_path=url == end)
            ):
                return "the Content-Security-Policy of the page forbids it"
        return None

    # --- what is not --------------------------------------------------------------------------------------------------

    def _absent(self, resolved: Resolved, url: str) -> str | None:
        if url.startswith(_MISSED) and resolved.attribute != "ping" and resolved.kind != "form":
            rels = resolved.rel.lower().split() if resolved.element == "link" else ()
            if not _PREPARED.intersection(rels):
                self.seen.missing.setdefault((url, resolved.kind))
        return absolute_of(resolved.reference, resolved.context)

    def _opaque(self, resolved: Resolved) -> str | None:
        """Note what is missing in the document in a `data:` URL; its links stay: no relative one leads out of it."""
        url = (resolved.target or "").partition("#")[0]
        if resolved.link.claim is None and not is_identity(resolved) and self._find(url) is None:
            self._absent(resolved, url)
        return None

    def _cut_off(self, resolved: Resolved, new: str | None, base: str) -> str | None:
        """Return the new reference of a link that a browser fetches by itself: an inert one if it leads to the web.

        It is read as browsers do, whatever the profile and the spelling are.
        """
        written = resolved.reference if new is None else new
        target = whatwg.parse(written, base or "about:blank")
        is_odd = not written[:5].lower().startswith(target[:5]) if target is not None else False
        if target is None or not (target.startswith((*ON_WEB, "javascript:")) or (is_odd and target[:5] == "data:")):
            return new  # what `data:` with a tab in it leads to is not read
        if target.startswith("javascript:"):
            self.note(resolved, UNSEVERED, "a script in a URL, whose requests are no links")
            return new
        self.note(resolved, "severed", target)
        return INERT

    def note(self, resolved: Resolved, code: str, text: str) -> None:
        """Note something about the place of a link."""
        self.seen.notes.append(Note(resolved.entity, resolved.link.start, code, text))


def _folder(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[0]


def _still_malformed(resolved: Resolved) -> str | None:
    """Return a reference that is malformed on the web with its scheme: from file://, `//` would name a server."""
    if not resolved.reference.startswith(("//", "\\\\", "/\\", "\\/")):
        return None
    found = scheme(resolved.base.url)
    return f"{found}:{resolved.reference}" if found in {"http", "https", "ftp"} else None


def is_identity(resolved: Resolved) -> bool:
    """Return whether a link identifies the site itself: canonical URLs, Open Graph, itemid, form actions."""
    place = resolved.link.place
    if place.kind == "form" or place.attribute == "itemid":
        return True
    if place.element == "meta":
        return place.kind == "metadata" and place.syntax not in {"refresh", "config"}
    if place.element == "link" and place.attribute == "href" and place.kind == "navigation":
        return not _IDENTITY_RELS.isdisjoint(resolved.rel.lower().split())
    return False


def is_in_data_url(entity: Entity) -> bool:
    """Return whether an entity is the document in a `data:` URL, or inside of one."""
    return _IN_DATA_URL.search(entity.path) is not None


def is_lazy(resolved: Resolved) -> bool:
    """Return whether only scripts read a link's attribute (`data-src`), or show its element (`template`)."""
    place = resolved.link.place
    return (place.element, place.attribute) in _LAZY or ("*", place.attribute) in _LAZY


def fetches(resolved: Resolved) -> bool:
    """Return whether a browser fetches a link by itself, or connects to its host, without a click."""
    element, attribute, syntax, kind, *_ = resolved.link.place.fields()
    if attribute in {"ping", "attributionsrc", "manifest"} or syntax == "refresh":
        return True
    if element == "link":
        return not _FETCHED_RELS.isdisjoint(resolved.rel.lower().split())
    if element == "script" and attribute == "speculationrules":
        return True
    if element in {"body", "table", "td", "th", "tr"} and attribute == "background":
        return True
    return element not in _NEVER_FETCHED and (kind in _FETCHED_KINDS or element in {"use", "feimage", "css"})


def needs_server(resolved: Resolved) -> str | None:
    """Return why a link to a file works from a server only, not from file://; None where it works."""
    element, attribute = resolved.element, resolved.attribute
    link, data = resolved.link, resolved.entity.own_data
    if element == "script" and attribute == "src" and link.tag_start >= 0:
        kind = attributes(data, link.tag_start, link.tag_end).get(b"type")
        if kind is not None and kind.text(resolved.entity.charset).lower() == "module":
            return "a module script is not run from file://"
    elif element == "use":
        return "an SVG use of another file is not shown from file://"
    elif element == "track":
        return "text tracks are not read from file://"
    elif element == "xml-stylesheet":
        kind = attributes(data, data.rfind(b"<?", 0, link.start), data.find(b"?>", link.end)).get(b"type")
        if kind is not None and kind.text(resolved.entity.charset).lower().endswith(("xsl", "xml")):
            return "XSLT is not applied from file://"
    return None
