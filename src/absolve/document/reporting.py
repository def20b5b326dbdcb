"""Report the diagnostics of a document to the caller of a public function: to its function, or as warnings.

In: an entity after its walk. Out: calls of `on_diagnostic`, or `DiagnosticWarning`s at the line that called absolve.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import RECORDED, Diagnostic, DiagnosticWarning, in_short
from absolve.core.model import REDIRECTED, RETRIEVAL, Link
from absolve.document.base_layers import ASSUMED, FILE_PATH, GIVEN_FOR_ALL, HOST_FOLDER
from absolve.document.diagnostics import base_too_long, outside
from absolve.document.resolved import Resolved
from absolve.document.walk import inners, is_known, with_relative
from absolve.formats import registry
from absolve.urls.base import PLACEHOLDER, TOO_LONG, found_as, is_useless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.core.options import OnDiagnostic
    from absolve.document.entity import Entity, Inner


def report(diagnostics: Iterable[Diagnostic], notify: OnDiagnostic | None) -> None:
    """Call `notify` with each diagnostic; without it, warn of each."""
    if notify is not None:
        for diagnostic in diagnostics:
            notify(diagnostic)
        return
    for diagnostic in diagnostics:
        _warn(DiagnosticWarning(diagnostic))


def _warn(warning: DiagnosticWarning) -> None:
    """Warn at the line of the innermost frame outside of absolve; compiled functions have no frames to be counted.

    The record of warnings shown is bounded, other than Python's own: each document may add to it.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - as warnings does
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "absolve":
        frame = frame.f_back
    file = frame.f_code.co_filename
    shown = _SHOWN.setdefault(file, {})
    if len(shown) >= _MOST_SHOWN:
        shown.clear()
    module = frame.f_globals.get("__name__", "<unknown>")
    warnings.warn_explicit(warning, DiagnosticWarning, file, frame.f_lineno, module, shown)


_SHOWN: Final[dict[str, dict[Any, Any]]] = {}  # by source file, as `warnings` records them
_MOST_SHOWN: Final = 1000


class Places:
    """Places in documents inside an entity, as lines and columns of that entity: a document in a style attribute, say.

    A place in a document that is not kept has none.
    """

    def __init__(self, entity: Entity) -> None:
        self._root = entity
        self._around: dict[int, tuple[Entity, Inner]] = {}

    def line_column(self, entity: Entity, position: int) -> tuple[int, int] | tuple[None, None]:
        """Return line and column, 1-based, of a byte offset in an entity, which is the root or inside of it."""
        if entity is not self._root and not self._around:
            self._see(self._root)
        while (found := self._around.get(id(entity))) is not None:
            if found[0] is self._root and not self._root.charset.transparent:
                return entity.line_column(position)  # in the decoded text
            entity, inner = found
            position = outside(inner.part, inner.offsets, position)
        return entity.line_column(position) if entity is self._root else (None, None)

    def _see(self, outer: Entity) -> None:
        found = outer.inside
        for index in outer.events.parts if found is not None else ():
            inner = found.kept(index)  # type: ignore[union-attr]  # not None here
            if inner is not None:
                self._around[id(inner.entity)] = outer, inner
                self._see(inner.entity)


def about_bases(entity: Entity, advice: str = "give --url") -> Iterator[Diagnostic]:
    """Yield diagnostics for unsuitable claims, and for relative links without a base URL that resolves them."""
    base = entity.bases.base
    for claim in base.chain:
        if claim.verdict == "unsuitable":
            text = f"{claim.base.source}: {in_short(claim.base.reference)!r} cannot be a base: the next layer applies"
            yield Diagnostic("unsuitable-base", text, entity.name, claim.line)
        elif claim.verdict == TOO_LONG:
            yield base_too_long(entity, claim.base.source, claim.line)
        elif claim.verdict == PLACEHOLDER:
            text = f"{claim.base.source}: {in_short(claim.base.reference)!r} has a placeholder: relative links stay"
            yield Diagnostic(PLACEHOLDER, text, entity.name, claim.line)
    may_lack = not is_known(base) or entity.bases.before is not None
    if may_lack and any(with_relative(entity, lambda base: not is_known(base))):
        text = f"no base URL is known: relative links are left unchanged ({advice}){names_itself(entity)}"
        yield Diagnostic("no-base", text, entity.name)
    reason = entity.folder() if not base.url.endswith("/") else None
    if reason is not None and any(with_relative(entity, lambda one: one is base, "#/?")):
        text = f"{in_short(base.url)!r} is a folder by {reason}: relative links lead beside it (a slash is missing)"
        yield Diagnostic("folder-url", f"{base.source}: {text}", entity.name)
    for useless in dict.fromkeys(with_relative(entity, _is_useless) if entity.has_useless else ()):
        text = f"{useless.source}: {in_short(useless.url)!r} resolves no relative link: they are left unchanged"
        yield Diagnostic("unsuitable-base", text, entity.name)


NAMES_ITSELF: Final = "; its canonical link is "


def names_itself(entity: Entity) -> str:
    """Return the end of a message about a page without a URL, as `; its canonical link is http://h/a`; or ""."""
    for event in entity.events if entity.media_type == registry.HTML else ():
        if type(event) is Link and event.place.element == "link" and event.place.kind == "navigation":
            link = Resolved(entity, event)
            if "canonical" in link.rel.lower().split() and (link.target or "").startswith("http"):
                return f"{NAMES_ITSELF}{in_short(link.reference)}"
    return ""


# Sources of retrieval URLs that no page records.
_GIVEN: Final = GIVEN_FOR_ALL | {FILE_PATH, "root of the package", "path in the package", HOST_FOLDER, REDIRECTED}


def differing(entity: Entity) -> list[Diagnostic]:
    """Return a diagnostic if --url, given for several inputs, differs from the URL that the pages of one record."""
    found = list(dict.fromkeys(filter(None, (_differing(page.bases.own) for page in _pages(entity)))))
    if not found:
        return []
    (given, first), more = found[0], len(found) - 1
    recorded = f"({first.base.source}): {in_short(first.base.reference)!r}"
    line = first.line if first in entity.bases.own.chain else None
    if given.verdict not in _RULES:
        return [Diagnostic(RECORDED, f"the page records another URL, which rules {recorded}", entity.name, line)]
    name = given.base.source if given.base.source != ASSUMED else f"the assumed URL {in_short(given.base.reference)}"
    text = f"{name} overrules what the page records {recorded}"
    text += f", and so do {more:,} more in the same file" if more else ""
    return [Diagnostic("overruled", text, entity.name, line)]


_RULES: Final = frozenset({"won", "resolved against"})


def _pages(entity: Entity) -> Iterator[Entity]:
    """Yield an entity and, if it is a container, the documents in it."""
    yield entity
    if entity.media_type != registry.OTHER and registry.WALKERS[entity.media_type].charset == "none":
        for inner in inners(entity):
            yield from _pages(inner.entity)


def _differing(own: BaseURL) -> tuple[ClaimOutcome, ClaimOutcome] | None:
    """Return the claim of --url, and the claim of another URL in the document; None if both are for one page."""
    given = next((one for one in own.chain if one.base.source in GIVEN_FOR_ALL), None)
    if given is None:
        return None
    recorded = (one for one in own.chain if one.base.layer is RETRIEVAL and one.base.source not in _GIVEN)
    return next(((given, one) for one in recorded if not _is_one_page(_url(given), _url(one))), None)


def _url(found: ClaimOutcome) -> str:
    return found.url or found.base.reference


def _is_one_page(given: str, recorded: str) -> bool:
    """Return whether two URLs are the same but for the scheme, which HTTrack does not record, and index.html."""
    return len({_INDEX.sub("", found_as(url.strip()).partition("//")[2]) for url in (given, recorded)}) == 1


_INDEX: Final = re.compile(r"/(?:index\.html?)?\Z")


def _is_useless(base: BaseURL) -> bool:
    return bool(base.url) and is_useless(base.url)


def of_walk(entity: Entity, *, bases: bool = True) -> Iterator[Diagnostic]:
    """Yield the diagnostics about an entity after its walk; with `bases`, also those about links without a base."""
    yield from about_text(entity)
    yield from entity.each_diagnostic()
    if bases:
        yield from about_bases(entity, "pass url=")


def about_text(entity: Entity) -> Iterator[Diagnostic]:
    """Yield a diagnostic if the whole document is rather the name of a file, a URL, or CSS; no file is looked for."""
    if entity.media_type == registry.HTML and _STYLES.match(entity.data, 0, _HEAD):
        text = "the document is a style sheet, and read as HTML: pass media_type='text/css', or its name"
        yield Diagnostic("css-as-text", text, entity.name)
    if len(entity.data) > LONGEST_NAME or _MARKUP.search(entity.data):
        return
    given = entity.data.decode("utf-8", "replace")
    if _URL.fullmatch(given):
        text = f"the document is the URL {in_short(given)!r} itself: pass what it returns, and the URL as url="
    elif given.lower().removesuffix(".gz").endswith(tuple(registry.SUFFIXES)):
        text = f"the document is the text {in_short(given)!r}, no file of that name: pass Path(...).read_bytes()"
    else:
        return
    yield Diagnostic("path-as-text", text, entity.name)


LONGEST_NAME: Final = 1024  # bytes of a document that may be a name
_MARKUP: Final = re.compile(rb"""[\0-\x1f<>"{}]|: """)  # names of files and URLs do not have these
_HEAD: Final = 4096  # bytes
# A style sheet begins with a rule, or with an at-rule (css-syntax-3, 5.3); JSON and templates begin with `{`.
_STYLES: Final = re.compile(
    rb"""\s*(?>/\*[^<]*?\*/\s*)*(?:@(?:import|charset|media|font-face|namespace)\b|[a-zA-Z.#*:][^<>{}"=]*\{[^<>{}]*:[^<>{}]*\})"""
)
_URL: Final = re.compile(r"(?:https?|ftp|file)://\S+", re.IGNORECASE)
