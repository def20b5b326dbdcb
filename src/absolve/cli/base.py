"""`absolve base` and `absolve resolve`: the four layers of RFC 1808 section 3 with their claims, and section 4 alone.

Input: documents, each with its base URL already established. Output: a drawing for people, folded to the width of the
terminal, or JSON, on the standard output. A container (an archive, a message) has no links of its own: its documents
are listed. A screen that is too narrow for the four boxes of the figure in section 3 gets the same texts without them.
"""

from __future__ import annotations

import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Literal

from absolve import urls
from absolve.cli import json_array, many, terminal
from absolve.cli import options as shared
from absolve.core import printable
from absolve.core.drawing import folded, padded
from absolve.core.errors import Diagnostic, in_short
from absolve.core.model import VERDICTS, Layer
from absolve.document.diagnostics import rows_too_large
from absolve.document.walk import inners
from absolve.formats import registry
from absolve.run import load, outputs, sources
from absolve.urls.base import PLACEHOLDER, TOO_LONG

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import RenderableType

    from absolve.cli.reporting import Report
    from absolve.core.drawing import Screen
    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.document.entity import Entity
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

    Show = Callable[[str], str]

_LISTED: Final = 20  # documents of a container


def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    write = _as_json if options.format == "json" else _as_text
    write(options, how, report)


def _as_text(options: argparse.Namespace, how: ReadOptions, report: Report) -> None:
    screen = terminal.screen(sys.stdout)
    show = printable.message
    separator = ""
    for name in shared.names(options):
        with report.guard(name), sources.spooled([name], options.max_size):
            (input_,) = many.asked([shared.one_input(name, options)], lambda input_: input_, options)
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
    options.json = True
    with json_array.array(options) as add:
        for name in shared.names(options):
            with report.guard(name), sources.spooled([name], options.max_size):
                (input_,) = many.asked([shared.one_input(name, options)], lambda input_: input_, options)
                for entity in _entities(input_, how, report, inside=options.all):
                    found = _object(entity)
                    if not options.all and _is_container(entity):
                        found["documents"] = [_object(one) for one in _documents(input_, how, entity)]
                    if add is not None:
                        add(found)


def _object(entity: Entity) -> dict[str, Any]:
    """Return a document as an object; texts are exact."""

    def of(base: BaseURL) -> dict[str, Any]:
        return {"url": base.url, "layer": base.layer.label, "source": base.source}

    base, own = entity.bases.base, entity.bases.own
    claims = [
        {
            "layer": claim.base.layer.label,
            "source": claim.base.source,
            "line": claim.line,
            "reference": claim.base.reference,
            "url": claim.url,
            "verdict": claim.verdict,
        }
        for claim in base.chain
    ]
    return {
        "document": entity.name,
        "entity": entity.path,
        "base": base.url,
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
    for segment in load.each(input_, how):
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
    for segment in load.each(input_, how):
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
    with outputs.stdout() as file, json_array.array(options) as add:
        for reference in options.references:
            target = urls.resolve(options.base, reference, options.profile)
            if add is not None:
                add({"reference": reference, "base": options.base, "target": target})
            else:
                file.write(f"{printable.printable(target or '', escape=printable.percent_escaped)}\n".encode())
            if target is None:
                against = repr(in_short(options.base)) if options.base else "an empty base URL"
                text = f"{in_short(reference)!r} cannot be resolved against {against}"
                report.found(Diagnostic("unresolved", text, "resolve"))


# --- the drawing ------------------------------------------------------------------------------------------------------

# RFC 1808 section 3, its figure
TITLES: Final = {
    Layer.EMBEDDED: "(3.1) Base URL embedded in the document's content",
    Layer.ENCAPSULATING: "(3.2) Base URL of the encapsulating entity (message, document, or none)",
    Layer.RETRIEVAL: "(3.3) URL used to retrieve the entity",
    Layer.DEFAULT: '(3.4) Base URL = "" (undefined)',
}
WIDTH: Final = 80  # columns of a drawing in a file
WINS: Final = "=> "
_INDENT: Final = 6
_NARROW: Final = 60  # columns below which there are no boxes
_LEAST: Final = 12  # columns of a text, however narrow the screen is
_BOX: Final = ".--.\n| ||\n|-||\n| ||\n|-||\n|-||\n| ||\n`--'\n"  # as the RFC draws it, for rich


def picture(entity: Entity, screen: Screen, show: Show) -> Iterator[str]:
    """Yield the lines of one document: its layers, and below them its base URL and its own URL in full."""
    base, own = entity.bases.base, entity.bases.own
    yield heading(entity, screen, show)
    yield from layers(base, screen, show)
    yield from _summary("base URL", base, screen, show)
    if own.url != base.url:
        if own.layer is Layer.DEFAULT:  # a base element rules without it
            yield "document's own URL: none is known"
        else:
            yield from _summary("document's own URL", own, screen, show)


def heading(entity: Entity, screen: Screen, show: Show) -> str:
    """Return the line that names a document."""
    return screen.paint(show(f"{entity.name} {entity.path}".rstrip()), "bold")


def layers(base: BaseURL, screen: Screen, show: Show) -> list[str]:
    """Return the lines of the four layers, innermost first, each with its claims: nested boxes if there is room."""
    from rich.box import Box
    from rich.console import Console, Group
    from rich.panel import Panel

    claims: dict[Layer, list[ClaimOutcome]] = {layer: [] for layer in Layer}
    layer = Layer.EMBEDDED
    for claim in base.chain:  # a claim embedded in the document around this one belongs to the encapsulating layer
        layer = max(layer, claim.base.layer)
        claims[layer].append(claim)
    columns = screen.width or WIDTH
    drawn = Group()
    for layer in Layer:
        drawn = Group(*drawn.renderables, *_content(layer, claims[layer], base, show))
        if columns >= _NARROW:
            drawn = Group(Panel(drawn, Box(_BOX, ascii=True)))
    system: Literal["standard"] | None = "standard" if screen.styled else None
    console = Console(width=columns, force_terminal=screen.styled, color_system=system, legacy_windows=False)
    with console.capture() as captured:
        console.print(drawn, end="")
    return [line.rstrip() for line in captured.get().splitlines()]


def _content(layer: Layer, claims: list[ClaimOutcome], base: BaseURL, show: Show) -> Iterator[RenderableType]:
    """Yield the title of a layer and the lines of its claims, for rich; they are no markup."""
    yield _text(TITLES[layer], 0)
    for claim in claims:
        wins = claim.verdict in {"won", TOO_LONG, PLACEHOLDER}
        where = claim.base.source if claim.line is None else f"{claim.base.source}, line {claim.line}"
        yield _text(f"{show(where)}: {show(in_short(claim.base.reference)) or '(empty)'}")
        if claim.url and claim.url != claim.base.reference:
            yield _text(f"resolved: {show(in_short(claim.url))}")
        yield _text(f"{WINS if wins else '-- '}{VERDICTS[claim.verdict]}", wins=wins)
    if layer is Layer.DEFAULT:
        if base.layer is layer:
            yield _text(f"{WINS}{VERDICTS['won']}: relative links are left unchanged", wins=True)
    elif not claims:
        yield _text("none")


def _text(text: str, indent: int = _INDENT, *, wins: bool = False) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(text, "green" if wins else "", overflow="fold"), (0, 0, 0, indent), expand=False)


def _summary(name: str, base: BaseURL, screen: Screen, show: Show) -> Iterator[str]:
    """Yield the line about a URL, in two parts if it is wider than the screen; the URL is never cut or folded."""
    url, source = described(base, show)
    shown = screen.linked(url, url) if base.url else url
    if screen.width is None or len(name) + printable.width(url) + len(source) + 3 <= screen.width:
        yield f"{name}: {shown} {source}".rstrip()
        return
    yield f"{name}: {shown}"
    yield from (f"  {part}" for part in folded(source, max(_LEAST, screen.width - 2)) if source)


def described(base: BaseURL, show: Show) -> tuple[str, str]:
    """Return the URL of a base as text, and its layer and source in parentheses, "" if no claim gave it."""
    source = f"({base.layer.label}: {show(base.source)})"
    if base.layer is Layer.DEFAULT:
        return "none: relative links are left unchanged", ""
    if not base.url:
        return "none: longer than max-url allows", source
    return show(base.url), source


def contents(documents: Iterable[Entity], more: bool, screen: Screen, show: Show) -> Iterator[str]:
    """Yield a line for each document in a container, with its base URL and the layer that gave it."""
    found = list(documents)
    if not found:
        yield "  no documents with links of their own"
        return
    width = min(max(printable.width(show(entity.path)) for entity in found), 40)
    for entity in found:
        url, source = described(entity.bases.base, show)
        path = padded(screen.visible(entity.path), width)
        if screen.width is None:
            yield f"  {path}  {url} {source}".rstrip()
            continue
        room = screen.width - width - 4
        if room < _NARROW // 2:
            yield f"  {screen.cut(path.rstrip(), screen.width - 2)}"
            yield f"    {screen.linked(screen.cut(url, screen.width - 4), entity.bases.base.url)}"
        else:
            cut = screen.cut(url, room)
            rest = f" {screen.paint(source, 'dim')}" if printable.width(f"{cut} {source}") <= room else ""
            yield f"  {screen.cut(path, width)}  {screen.linked(cut, entity.bases.base.url)}{rest}"
    if more:
        yield "  ... and more (--all shows every document)"
