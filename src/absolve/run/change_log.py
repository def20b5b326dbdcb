"""The log of a rewrite, a row for each link that changes, and the diagnostics about a document after its rewrite.

In: the entity of a document, the policy of the rewrite, the new bytes. Out: rows with the columns COLUMNS, in the order
of the links, and diagnostics: old hosts that the document still names, links that lead elsewhere in a browser, links
that the page's own policy forbids, and links that stay. The policy is called once more, because a rewrite builds no URL
for most links.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import READ_APART, CodingError, Diagnostic, DocumentError, in_short
from absolve.core.model import Link, Part
from absolve.core.printable import number
from absolve.document.resolved import Resolved, fixed, is_placeholder, shown
from absolve.document.walk import inner_at, inners
from absolve.encodings.charsets import UTF_8
from absolve.formats import registry, sniffing
from absolve.formats.grammars import WHITE_SPACE
from absolve.inventory.link_rows import Span
from absolve.inventory.problems import is_never
from absolve.rewriting import mentions, rewriter
from absolve.rewriting.forms import form_of
from absolve.rewriting.policy import absolute, mentions_of
from absolve.rewriting.remap import remapping_of
from absolve.run import sources
from absolve.run.results import HostsLeft, LogRows, Mentioned, rules_of
from absolve.urls.predicates import has_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.rewriting.mention_edits import MentionEdits
    from absolve.rewriting.mentions import Names
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Remapping
    from absolve.rewriting.rewriter import Tally
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions
    from absolve.run.plan import RewriteOptions
    from absolve.run.results import TaskResult


AT_ONCE: Final = 10_000  # rows in a chunk
ABSOLUTE: Final = "absolute"  # the rules of links that no rule of a remapping changed
EMPTY: Final = "base-empty"
_BLANKS: Final = WHITE_SPACE.decode()


class Change(NamedTuple):
    """One change; the fields are the columns.

    `rule`: the remapping rules that changed the link, as FROM=TO, separated by commas: for example,
    `http://a/=http://b/`. Without a rule it is "absolute", "base-empty" for `--base empty`, or the word of `--form` for
    a reference that it made relative. `base` and `base_layer` are as in the link's row in the inventory.
    """

    document: str
    entity: str
    line: int
    column: int
    kind: str
    old: str
    new: str
    rule: str
    base: str
    base_layer: str


COLUMNS: Final = Change._fields


def chunks(entity: Entity, policy: Policy, name: str) -> Iterator[list[Change]]:
    """Yield the changes of an entity and of every document inside it, a chunk at a time."""
    links = _changes(entity, policy, shown(name), Span(entity), remapping_of(policy))
    places = _mentions(mentions_of(policy), entity, shown(name), Span(entity))
    rows = chain(links, (change for change, why in places if not why))
    while chunk := list(islice(rows, AT_ONCE)):
        yield chunk


def _changes(
    entity: Entity, policy: Policy, document: str, span: Span, remapping: Remapping | None
) -> Iterator[Change]:
    for index in range(len(entity.events)):
        event = entity.events.at(index)
        if isinstance(event, Link):
            resolved = Resolved(entity, event)
            new, rule = _decided(policy, resolved, remapping)
            if new is not None:
                place = span.placed(event.start)
                base = resolved.base
                yield Change(
                    document,
                    entity.path,
                    place.line,
                    place.column,
                    resolved.kind,
                    shown(resolved.reference),
                    shown(new),
                    rule,
                    shown(base.url),
                    base.layer.label,
                )
        elif isinstance(event, Part) and not event.signed_by:
            inner = inner_at(entity, index)
            if inner is not None:
                within = Span(inner.entity) if inner.part.name else Span(inner.entity, span, inner)
                yield from _changes(inner.entity, policy, document, within, remapping)
                inner.entity.forget_contexts(entity)


def _decided(policy: Policy, resolved: Resolved, remapping: Remapping | None) -> tuple[str | None, str]:
    """Return the new text of a link, None if it stays, and the rule by which it changes."""
    if remapping is not None:
        remapping.matched = ""
    new = policy(resolved)
    if new is None or resolved.link.place.stays == "always" or not resolved.context.may_write(new):
        return None, ""
    new = new.strip(_BLANKS)
    if new == resolved.reference:
        return None, ""
    matched = remapping.matched if remapping is not None else ""
    form = form_of(policy)
    word = form.form if form is not None and not has_scheme(new) else ABSOLUTE
    return new, matched or (word if new else EMPTY)


def _mentions(edits: MentionEdits | None, entity: Entity, document: str, span: Span) -> Iterator[tuple[Change, str]]:
    """Yield the mentions in an entity and in every document inside it, and why they stay, "" for those that change."""
    for one in edits.found(entity)[0] if edits is not None else ():
        place = span.placed(one.start)
        where = (document, entity.path, place.line, place.column, one.kind)
        yield Change(*where, shown(one.old), shown(one.url), one.rule, "", ""), one.why
    for index in entity.events.parts if edits is not None else ():
        part = entity.events.at(index)
        inner = inner_at(entity, index) if isinstance(part, Part) and not part.signed_by else None
        if inner is not None:
            within = Span(inner.entity) if inner.part.name else Span(inner.entity, span, inner)
            yield from _mentions(edits, inner.entity, document, within)
            inner.entity.forget_contexts(entity)


# --- diagnostics about a rewritten document ---------------------------------------------------------------------------


def noted(
    how: RewriteOptions,
    entity: Entity,
    data: bytes | None,
    tally: Tally,
    known: Sequence[Diagnostic],
    *,
    is_whole: bool,
) -> Iterator[TaskResult]:
    """Yield the diagnostics about a document after its rewrite, and the rows of the log.

    `data` are the new bytes, None for a record that failed. `known` are diagnostics that were reported before the
    rewrite. `is_whole`: the document is no record of an archive.
    """
    policy, name = how.policy, entity.name
    if data is not None:
        yield from hosts_left(policy, entity, data)
    if is_whole and tally.odd:
        yield from _elsewhere(entity, policy)
    if tally.changed:
        yield from _forbidden(entity, policy)
    if policy is not absolute:
        seen = set(known)  # the policy has caused the others
        yield from (diagnostic for diagnostic in entity.each_diagnostic() if diagnostic not in seen)
        yield from _stayed(policy, name)
    if how.log is not None and data is not None:
        for rows in chunks(entity, policy, name):
            yield LogRows(how.log.applied(COLUMNS, rows))


def _stayed(policy: Policy, name: str) -> Iterator[Diagnostic]:
    """Yield why links of the last document stayed although a form or a rule is for them."""
    form, rules = form_of(policy), rules_of(policy)
    if form is not None and form.is_stuck:
        form.is_stuck = False
        yield Diagnostic("base-outside", "links of the site stay absolute: their base leads out of it", name)
    if form is not None and form.apart:
        stay = "as they are" if form.form == "file" else "absolute"
        yield Diagnostic(READ_APART, f"{form.apart}: links stay {stay} in what is read apart from its site", name)
        form.apart = ""
    if rules is not None and rules.lacks_date:
        rules.lacks_date = False
        yield Diagnostic("no-date", "links stay for which a rule needs the date of the document", name)
    if rules is not None and (names := rules.in_circles()):
        yield Diagnostic("rule-loop", f"links stay that rules lead in a circle: {names}", name)


_BROWSERS: Final = "whatwg"  # the profile of browsers
_LITERAL: Final = "rfc1808"  # the profile that keeps `..` above the root


def _elsewhere(entity: Entity, policy: Policy) -> Iterator[Diagnostic]:
    """Yield how many links lead elsewhere in a browser, or climb above the root, for each profile of the two.

    The document is searched, which costs as much as the rewrite.
    """
    settings = entity.settings
    if settings.profile == _BROWSERS:
        return
    divergent = above = 0

    def count(resolved: Resolved) -> None:
        nonlocal divergent, above
        compared = resolved.context.base_context.compared()
        reference = fixed(resolved.reference)
        if is_placeholder(resolved.reference):
            return
        if not is_never(reference) and compared.divergent(reference):
            divergent += 1
        elif settings.profile == _LITERAL and compared.climbs_above_root(reference):
            above += policy(resolved) not in {None, resolved.reference}

    rewriter.edits(entity, count)
    if divergent:
        yield Diagnostic("divergent", f"{_links(divergent, 'lead')} elsewhere in a browser", entity.name)
    if above:
        keep = "keeps" if above == 1 else "keep"
        yield Diagnostic("above-root", f"{_links(above, 'climb')} above the root, and {keep} /../", entity.name)


def _forbidden(entity: Entity, policy: Policy) -> Iterator[Diagnostic]:
    """Yield how many links the page's own Content-Security-Policy forbids at their new URLs, if it is opened elsewhere.

    For example, `default-src 'self'` allows pictures from the page's own host, and a disk is no host.
    """
    data = entity.data
    if entity.media_type != registry.HTML or not (b"ecurity-" in data or b"ECURITY-" in data):
        return
    from absolve.formats.html.security_policy import KINDS, MOST_POLICIES, allows
    from absolve.formats.html.start_tags import policy_metas
    from absolve.urls.source_lists import directives

    data = data.decode(entity.charset.codec, "replace").encode()
    policies = [directives(content.text(UTF_8)) for *_, content in policy_metas(data, UTF_8)][:MOST_POLICIES]
    urls: list[str] = []

    def see(resolved: Resolved) -> None:
        if resolved.kind in KINDS and (new := policy(resolved)) and new.startswith(("http:", "https:")):
            places = (resolved.own.url, "http://elsewhere.invalid/")
            here, there = (all(allows(one, resolved.kind, new, place) for one in policies) for place in places)
            urls.extend([new] * (here and not there))

    rewriter.edits(entity, see if policies else lambda _: None)
    if urls:
        text = f"its Content-Security-Policy forbids {number(len(urls), 'link')} unless it is at its own URL: {urls[0]}"
        yield Diagnostic("own-policy", text, entity.name)


def _links(number: int, verb: str) -> str:
    return f"{number:,} link{'s'[: number > 1]} {verb}{'s'[: number == 1]}"


# --- hosts that a remap leads away from -------------------------------------------------------------------------------

_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".ts")


def _old_names(policy: Policy) -> Names | None:
    """Return a pattern for the hosts that a policy's rules replace; None without such rules."""
    rules = rules_of(policy)
    return _pattern(rules.old_hosts) if rules is not None and rules.old_hosts else None


_MOST_STAY: Final = 100  # mentions of one document that are reported
_pattern: Final = lru_cache(maxsize=4)(mentions.pattern)


def hosts_left(policy: Policy, entity: Entity, data: bytes) -> Iterator[TaskResult]:
    """Yield how often a document with these new bytes names old hosts, and where first."""
    pattern = _old_names(policy)
    if pattern is not None:
        yield from _counted(pattern, entity.name, _texts(policy, entity, data))
    if (edits := mentions_of(policy)) is not None:
        yield from _said(_mentions(edits, entity, shown(entity.name), Span(entity)), entity.name)


def _said(found: Iterator[tuple[Change, str]], name: str) -> Iterator[TaskResult]:
    """Yield the mentions that change, and for each that stays a diagnostic, up to a maximum."""
    stay = 0
    changed: list[Change] = []
    for change, why in found:
        if not why:
            changed.append(change)
            continue
        stay += 1
        if stay <= _MOST_STAY:
            yield Diagnostic("old-url", f"{in_short(change.old)} stays: {why}", name, change.line, change.column)
    if stay > _MOST_STAY:
        yield Diagnostic("old-url", f"{number(stay - _MOST_STAY, 'more mention')} stay", name)
    if changed:
        yield Mentioned(changed)


def hosts_left_in_file(policy: Policy, input_: Input, head: bytes, how: ReadOptions) -> Iterator[TaskResult]:
    """Yield how often a text that is no document names old hosts, for example a script that is not too large."""
    pattern = _old_names(policy)
    if pattern is None or b"\0" in head:
        return
    try:
        data = sources.read(input_.name, max_size=how.settings.max_size, root=input_.root).data
    except DocumentError:
        return  # it is not read, which is reported
    kind = "text/javascript" if input_.name.lower().endswith(_SCRIPTS) else None
    yield from _counted(pattern, input_.name, iter([(data, kind)]))


def _texts(policy: Policy, entity: Entity, data: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Yield the new bytes of a document, and of inner documents that a coding hides (base64, deflate)."""
    charset = entity.charset
    text = data if charset.transparent else charset.decode(data).encode("utf-8", "surrogatepass")
    yield text, entity.media_type
    yield from _hidden(policy, entity)
    if entity.media_type in registry.ZIPS and mentions_of(policy) is not None:
        yield from _unread(entity)


def _unread(entity: Entity) -> Iterator[tuple[bytes, str | None]]:
    """Yield the compressed texts in a package that no walker reads: for example, a dump."""
    known = {part.name for part in entity.events if isinstance(part, Part)}
    walk = registry.walker(entity.media_type)
    how = entity.settings._replace(documents=True, captures=True)
    for part in walk(entity.data, UTF_8, how) if walk is not None else ():
        if isinstance(part, Part) and part.name not in known:
            with suppress(CodingError):
                value, offsets = part.coding.decode_mapped(entity.data[part.start : part.end])
                if offsets is None and not sniffing.looks_binary(value):
                    yield value, sniffing.other_type(part.name) or None


def _hidden(policy: Policy, entity: Entity) -> Iterator[tuple[bytes, str | None]]:
    for inner in inners(entity):
        if inner.offsets is not None:
            yield from _hidden(policy, inner.entity)
        else:
            new = inner.entity.data if inner.part.signed_by else rewriter.rewrite(inner.entity, policy)
            yield from _texts(policy, inner.entity, new)


def _counted(pattern: Names, name: str, texts: Iterator[tuple[bytes, str | None]]) -> Iterator[TaskResult]:
    kinds: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    line = None
    for place, (data, media_type) in enumerate(texts):
        for one in mentions.mentions(data, pattern, media_type):
            line = one.line if not kinds and not place else line
            kinds[one.kind] += 1
            hosts[data[one.start : one.end].decode("latin-1").lower().replace("%3a", ":")] += 1
    if kinds:
        yield HostsLeft(dict(kinds), dict(hosts))
        times = number(kinds.total(), "time")
        yield Diagnostic("old-host", f"it still names {in_short(', '.join(hosts))}: {times}", name, line)
