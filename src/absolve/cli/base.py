"""`absolve base` and `absolve resolve`: the four layers of RFC 1808 section 3 with their claims, and section 4 alone.

Input: documents, each with its base URL already established. Output: a drawing for people, or JSON, on the standard
output. A container (an archive, a message) has no links of its own: its documents are listed.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from absolve import urls
from absolve.cli import options as shared
from absolve.cli import terminal
from absolve.cli.base_drawing import contents, heading, picture
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, in_short
from absolve.document.diagnostics import rows_too_large
from absolve.document.walk import inners
from absolve.formats import registry
from absolve.run import load, outputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from absolve.cli.reporting import Report
    from absolve.core.model import BaseURL
    from absolve.document.entity import Entity
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

_LISTED: Final = 20  # documents of a container


def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    write = _as_json if options.format == "json" else _as_text
    write(options, how, report)


def _as_text(options: argparse.Namespace, how: ReadOptions, report: Report) -> None:
    screen = terminal.screen(sys.stdout)
    show = partial(printable.message, credentials=report.credentials)
    separator = ""
    for name in shared.names(options):
        with report.guard(name):
            input_ = shared.one_input(name, options)
            for entity in _entities(input_, how, report, inside=options.all):
                print(end=separator)
                separator = "\n"
                if not options.all and _is_container(entity):
                    found = list(islice(_documents(input_, how, entity), _LISTED + 1))
                    lines: Iterable[str] = contents(found[:_LISTED], len(found) > _LISTED, screen, show)
                    own = picture(entity, screen, show) if entity.bases.base.chain else [heading(entity, screen, show)]
                    lines = chain(own, ["documents in it, with their base URLs:"], lines)
                else:
                    lines = picture(entity, screen, show)
                for line in lines:
                    terminal.say(line, sys.stdout)


def _as_json(options: argparse.Namespace, how: ReadOptions, report: Report) -> None:
    import json

    separator = "[\n"
    for name in shared.names(options):
        with report.guard(name):
            input_ = shared.one_input(name, options)
            for entity in _entities(input_, how, report, inside=options.all):
                found = _object(entity, credentials=report.credentials)
                if not options.all and _is_container(entity):
                    inside = _documents(input_, how, entity)
                    found["documents"] = [_object(one, credentials=report.credentials) for one in inside]
                print(separator, json.dumps(found), sep="", end="")
                separator = ",\n"
    print("[]" if separator == "[\n" else "\n]")


def _object(entity: Entity, *, credentials: bool) -> dict[str, Any]:
    """Return a document as an object; texts are exact, but for user information in URLs."""

    def exact(text: str | None) -> str | None:
        return text if text is None or credentials else printable.masked(text)

    def of(base: BaseURL) -> dict[str, Any]:
        return {"url": exact(base.url), "layer": base.layer.label, "source": base.source}

    base, own = entity.bases.base, entity.bases.own
    claims = [
        {
            "layer": claim.base.layer.label,
            "source": claim.base.source,
            "line": claim.line,
            "reference": exact(claim.base.reference),
            "url": exact(claim.url),
            "verdict": claim.verdict,
        }
        for claim in base.chain
    ]
    return {
        "document": entity.name,
        "entity": entity.path,
        "base": exact(base.url),
        "layer": base.layer.label,
        "source": base.source,
        "own": of(own),
        "claims": claims,
    }


def _is_container(entity: Entity) -> bool:
    """Return whether an entity is an archive or a message: bytes that are no text as a whole."""
    return entity.media_type != registry.OTHER and registry.WALKERS[entity.media_type].charset == "none"


def _documents(input_: Input, how: ReadOptions, entity: Entity) -> Iterator[Entity]:
    """Yield the outermost documents in a container that are none themselves; of an archive those of all its records."""
    if not load.is_archive(input_, how):
        yield from _outermost(entity)
        return
    for segment in load.each(input_, how, every=True):
        if segment.entity is not None:
            yield from _outermost(segment.entity)


def _outermost(entity: Entity) -> Iterator[Entity]:
    for inner in inners(entity):
        if _is_container(inner.entity):
            yield from _outermost(inner.entity)
        elif inner.part.name:
            yield inner.entity


def _entities(input_: Input, how: ReadOptions, report: Report, *, inside: bool) -> Iterator[Entity]:
    """Yield the document of an input and, if `inside`, the documents in it; an archive is one document."""
    is_first = True
    room = how.settings.max_rows_bytes
    for segment in load.each(input_, how, every=inside):
        for diagnostic in segment.diagnostics:
            report.finding(diagnostic)
        if segment.entity is None:
            continue
        for entity in chain([segment.entity] if is_first else (), _with_inner(segment.entity) if inside else ()):
            room -= len(entity.bases.base.url) + len(entity.bases.own.url)
            if room < 0:  # each document inside may repeat the same long base URL
                raise rows_too_large(segment.entity)
            yield entity
        is_first = False


def _with_inner(entity: Entity) -> Iterator[Entity]:
    for inner in inners(entity):
        if inner.part.name:
            yield inner.entity
        yield from _with_inner(inner.entity)


def resolve(options: argparse.Namespace, report: Report) -> None:
    with outputs.stdout() as file:
        for reference in options.references:
            target = urls.resolve(options.base, reference, options.profile)
            file.write(f"{printable.printable(target or '', escape=printable.percent_escaped)}\n".encode())
            if target is None:
                against = repr(in_short(options.base)) if options.base else "an empty base URL"
                text = f"{in_short(reference)!r} cannot be resolved against {against}"
                report.failure(DocumentError(Diagnostic("unresolved", text, "resolve")))
