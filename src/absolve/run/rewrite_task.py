"""Task of `absolve rewrite`: from one input to a complete temporary file, or to bytes for the standard output.

Input: a `Job` and `RewriteOptions`. Output: diagnostics, failures, `FilesReady` or `StdoutBytes`, the bytes read. The
parent process renames the files (`publish`).
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import FAULTS, READ_APART, Diagnostic, DocumentError, in_short
from absolve.core.printable import number
from absolve.encodings.charsets import UTF_8
from absolve.formats import registry
from absolve.rewriting import rewriter
from absolve.rewriting.policy import absolute
from absolve.run import outputs, sources
from absolve.run.load import Walked, each, head_of, is_archive, is_document, left, not_read, walked
from absolve.run.publish import Output, copied
from absolve.run.results import (
    BytesRead,
    ChangeCounts,
    Failure,
    FilesReady,
    HostsLeft,
    LogRows,
    StdoutBytes,
    guarded,
    met_by,
    rules_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.document.resolved import Resolved
    from absolve.inventory.mentions import Names
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions, Segment
    from absolve.run.plan import Job, RewriteOptions
    from absolve.run.results import TaskResult


def rewritten(how: RewriteOptions, job: Job, *, strict: bool = False) -> Iterator[TaskResult]:
    """Yield the results for one input. A file found in a folder that is not a document is copied to its target.

    `strict`: raise errors that are no DocumentError and no OSError, such as those of the policy.
    """
    results = of_document(how, job, _rewritten, copies=job.target is not None)
    if how.in_place:
        results = in_place(job, results)
    return guarded(job.input.name, results, strict=strict or sys.flags.dev_mode)


def in_place(job: Job, results: Iterator[TaskResult]) -> Iterator[TaskResult]:
    """Yield the results for a file in place, which may replace it only as it was before it was read."""
    before = outputs.state_of(job.input.name)
    for result in results:
        if isinstance(result, FilesReady) and result.made:
            *kept, made = result.made
            yield result._replace(made=(*kept, made._replace(replaces=before)))
        else:
            yield result


def of_document(
    how: RewriteOptions,
    job: Job,
    work: Callable[[RewriteOptions, Job, bytes | None], Iterator[TaskResult]],
    *,
    copies: bool = False,
) -> Iterator[TaskResult]:
    """Yield the results of the work on one input; of a file found in a folder that is no document what is left in it.

    `work` gets the first bytes, if they are read already. With `copies` a file that is no document is copied.
    """
    head = head_of(job.input)
    if head is None or is_document(job.input, head, how.reading):
        yield from work(how, job, head)
        return
    yield from _hosts_left_in_file(how.policy, job.input, head, how.reading)
    if copies:
        yield from copied(how, job)
    yield not_read(job.input)  # and kept, if it could be copied


def _rewritten(how: RewriteOptions, job: Job, head: bytes | None) -> Iterator[TaskResult]:
    if is_archive(job.input, how.reading, head):
        yield from _archive(how, job)
        return
    found = walked(job.input, how.reading, for_rewrite=True)
    yield from found.diagnostics
    date(how.policy, found.entity, job.input.name)
    tally = rewriter.Tally()
    output = Output(how, job, found.document.data)
    with output.written():
        if how.verify or found.entity.is_ambiguous or _old_names(how.policy) is not None:
            data, faults = new_bytes(how, found, tally)
            yield from faults
            if faults:
                return
        else:
            data = rewriter.rewrite(found.entity, how.policy, output.write, tally)
        yield from output.end(data)
    yield from output.ready()
    yield from hosts_left(how.policy, found.entity, data)
    yield from elsewhere(found, how.policy, tally)
    yield from forbidden(found.entity, how.policy, tally)
    yield from _late(how, found.entity, found.diagnostics)
    yield from logged(how, found.entity, job.input.name)
    yield tally_of(how, tally)
    yield BytesRead(len(found.document.data), 1)


def tally_of(how: RewriteOptions, tally: rewriter.Tally) -> ChangeCounts:
    """Return the counts of one document."""
    changed = min(tally.changed, 1)
    return ChangeCounts(tally.links, tally.changed, changed, met_by(how.policy), tally.companions)


def _late(how: RewriteOptions, entity: Entity, known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics that a policy caused while the links were rewritten: those that are not `known` yet."""
    if how.policy is not absolute:
        seen = set(known)
        yield from (diagnostic for diagnostic in entity.each_diagnostic() if diagnostic not in seen)
        yield from _stayed(how.policy, entity.name)


def _stayed(policy: Policy, name: str) -> Iterator[Diagnostic]:
    """Yield why links of the last document stayed that a form or a rule is for."""
    from absolve.rewriting.forms import form_of  # few runs have either

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


def date(policy: Policy, entity: Entity, name: str) -> None:
    """Give the rules of a policy the date of a document, if they need it: that of its capture, or of its file."""
    rules = rules_of(policy)
    if rules is None or not rules.needs_date:
        return
    from absolve.inventory.documents import Documents

    rows = Documents(name)
    for _ in rows.fill(entity):
        break
    written = next((row.date for row in rows.taken() if row.date), None)
    rules.date = _digits(written) if written else sources.modified(name)


def _digits(date: str) -> str:
    """Return a date in ISO 8601 as YYYYMMDDhhmmss in UTC, as far as it goes."""
    from datetime import UTC, datetime

    with suppress(ValueError):
        found = datetime.fromisoformat(date)
        if found.tzinfo is not None:
            return found.astimezone(UTC).strftime(sources.DIGITS)
    return "".join(filter(str.isdecimal, date))[:14]


def logged(how: RewriteOptions, entity: Entity, name: str) -> Iterator[LogRows]:
    """Yield the changes of a document, if they are wanted."""
    if how.log is None:
        return
    from absolve.run import change_log  # imports the inventory

    for rows in change_log.chunks(entity, how.policy, name):
        yield LogRows(how.log.of(change_log.COLUMNS, rows))


def new_bytes(
    how: RewriteOptions, found: Walked, tally: rewriter.Tally | None = None
) -> tuple[bytes, list[Failure]]:
    """Return the new bytes of a document, and failures if verification finds other changes than links.

    Verification runs if requested, and for ambiguous pages. With failures the document must be left unchanged. The
    links are added to the `tally`.
    """
    data = rewriter.rewrite(found.entity, how.policy, None, tally)
    if not (how.verify or found.entity.is_ambiguous):
        return data, []
    from absolve import verifying

    differences = verifying.differences(found.entity, found.document, data, how.policy)
    if differences:
        text = "left unchanged: verification could not prove that only links change"
        differences.append(Diagnostic("unverified", text, found.entity.name))
    return data, [Failure(difference) for difference in differences]


def record_bytes(
    how: RewriteOptions, segment: Segment, tally: rewriter.Tally | None = None
) -> tuple[bytes, bytes | None, list[Failure]]:
    """Return the new bytes of a segment, or its own bytes if it is not a document or failed; and the failures.

    In between is the new record without compression, None for the same.
    """
    if segment.document is None or segment.entity is None:
        return segment.raw, None, []
    try:
        record, faults = new_bytes(how, Walked(segment.document, segment.entity, []), tally)
        return (segment.raw, None, faults) if faults else (segment.written(record), record, faults)
    except (DocumentError, *FAULTS) as error:
        return segment.raw, None, [left(segment, error)]


_BROWSERS: Final = "whatwg"  # the profile of browsers
_LITERAL: Final = "rfc1808"  # the one that keeps `..` above the root


def elsewhere(document: Walked, policy: Policy, tally: rewriter.Tally) -> Iterator[Diagnostic]:
    """Yield how many links lead elsewhere in a browser, or climb above the root, for each of the two.

    The document is searched, which costs as much as the rewrite, only where its `tally` has a sign of such links.
    """
    settings = document.entity.settings
    if settings.profile == _BROWSERS or not tally.odd:
        return
    from absolve.document.resolved import fixed, is_placeholder
    from absolve.inventory.problems import is_never  # most rewrites need no room of the inventory

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

    rewriter.edits(document.entity, count)
    name = document.entity.name
    if divergent:
        yield Diagnostic("divergent", f"{_links(divergent, 'lead')} elsewhere in a browser", name)
    if above:
        yield Diagnostic("above-root", f"{_links(above, 'climb')} above the root, and {_keep(above)} /../", name)


def forbidden(entity: Entity, policy: Policy, tally: rewriter.Tally) -> Iterator[Diagnostic]:
    """Yield how many links the page's own Content-Security-Policy forbids at their new URLs, if it is opened elsewhere.

    `default-src 'self'` allows pictures from where the page is: from a disk that is no host.
    """
    data = entity.data
    if entity.media_type != registry.HTML or not tally.changed or not (b"ecurity-" in data or b"ECURITY-" in data):
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


def _keep(number: int) -> str:
    return "keeps" if number == 1 else "keep"


# --- hosts that a remap leads away from -------------------------------------------------------------------------------

_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".ts")


def _old_names(policy: Policy) -> Names | None:
    """Return the pattern of the hosts that the rules of a policy lead away from; None for none."""
    rules = rules_of(policy)
    return _mention_pattern(rules.old_hosts) if rules is not None and rules.old_hosts else None


@lru_cache(maxsize=4)
def _mention_pattern(hosts: tuple[str, ...]) -> Names | None:
    from absolve.inventory import mentions

    return mentions.pattern(hosts)


def hosts_left(policy: Policy, entity: Entity, data: bytes) -> Iterator[TaskResult]:
    """Yield how often a document with these new bytes names old hosts, and where first."""
    pattern = _old_names(policy)
    if pattern is not None:
        yield from _counted(pattern, entity.name, _texts(policy, entity, data))


def _hosts_left_in_file(policy: Policy, input_: Input, head: bytes, how: ReadOptions) -> Iterator[TaskResult]:
    """Yield the same for a file that is no document: a text such as a script, not too large."""
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
    """Yield the new bytes of a document, and of those inside it whose coding hides them (base64, deflate)."""
    charset = entity.charset
    text = data if charset.transparent else charset.decode(data).encode("utf-8", "surrogatepass")
    yield text, entity.media_type
    yield from _hidden(policy, entity)


def _hidden(policy: Policy, entity: Entity) -> Iterator[tuple[bytes, str | None]]:
    from absolve.document.walk import inners

    for inner in inners(entity):
        if inner.offsets is not None:
            yield from _hidden(policy, inner.entity)
        else:
            new = inner.entity.data if inner.part.signed_by else rewriter.rewrite(inner.entity, policy)
            yield from _texts(policy, inner.entity, new)


def _counted(pattern: Names, name: str, texts: Iterator[tuple[bytes, str | None]]) -> Iterator[TaskResult]:
    from absolve.inventory import mentions

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


# --- archives ---------------------------------------------------------------------------------------------------------


class Written(NamedTuple):
    """New bytes of a segment of an archive, and whether they differ from the old ones."""

    data: bytes
    changed: bool


def _archive(how: RewriteOptions, job: Job) -> Iterator[TaskResult]:
    """Rewrite an archive record by record; a record that fails verification is left unchanged."""
    output = Output(how, job, streams=True)
    changed = False
    with output.written():
        for piece in segments(how, job):
            if not isinstance(piece, Written):
                yield piece
            elif output.is_stdout:
                yield StdoutBytes(piece.data)
            else:
                output.write(piece.data)
                changed = changed or piece.changed
    if how.in_place and not changed and output.made is not None:
        outputs.discard(output.made)
    else:
        yield from output.ready()


def segments(how: RewriteOptions, job: Job) -> Iterator[TaskResult | Written]:
    """Yield the new bytes of each segment of an input, its diagnostics and failures, and the counts at the end."""
    size = number = links = changed = documents = companions = 0
    for segment in each(job.input, how.reading, whole=True):
        yield from segment.diagnostics
        size += len(segment.raw)
        if segment.entity is not None:
            date(how.policy, segment.entity, job.input.name)
        tally = rewriter.Tally()
        data, record, faults = record_bytes(how, segment, tally)
        yield from faults
        if faults and segment.document is not None and segment.document.origin is None:
            return  # this is the whole input
        if segment.entity is not None and record is not None:
            yield from hosts_left(how.policy, segment.entity, record)
        if segment.entity is not None:
            yield from forbidden(segment.entity, how.policy, tally)
            yield from _late(how, segment.entity, segment.diagnostics)
            number += 1
            links += tally.links
            companions += tally.companions
            if not faults and tally.changed:
                yield from logged(how, segment.entity, job.input.name)
                changed += tally.changed
                documents += 1
        yield Written(data, data is not segment.raw)
    yield ChangeCounts(links, changed, documents, met_by(how.policy), companions)
    yield BytesRead(size, number)
