"""`absolve base` and `absolve resolve`: the four layers of RFC 1808 section 3 with their claims, and section 4 alone.

Input: documents, each with its base URL already established. Output: a drawing for people, folded to the width of the
terminal, or JSON, on the standard output. A container (an archive, a message) has no links of its own: its documents
are listed. A screen that is too narrow for the four boxes of the figure in section 3 gets the texts without boxes.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Literal

from absolve import urls
from absolve.cli import asking, intake, terminal
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
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.core.drawing import Screen
    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.document.entity import Entity
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

_LISTED: Final = 20  # documents in another
show: Final = printable.message


def run(options: Options, report: Report) -> None:
    how = intake.reading(options)
    with terminal.json_array(options) as add:
        say = partial(_draw, terminal.screen(sys.stdout)) if add is None else partial(_add, add)
        for number, name in enumerate(intake.names(options)):
            with report.guard(name), sources.spooled([name], options.max_size):
                one = intake.one_input(name, options)
                (input_,) = asking.with_answers([one], lambda input_: input_, options, report)
                found = _entities(input_, how, report)
                for entity in islice(found, 1):
                    say(entity, found, number)


def _draw(screen: Screen, entity: Entity, inside: Iterator[Entity], number: int) -> None:
    """Print a document with its layers, and a line for each document in it."""
    found = list(islice(inside, _LISTED + 1))
    is_drawn = entity.bases.base.chain or not _is_container(entity)
    print(end="\n" if number else "")
    for line in picture(entity, screen) if is_drawn else [heading(entity, screen)]:
        terminal.say(line, sys.stdout)
    for line in contents(found, screen) if found or _is_container(entity) else ():
        terminal.say(line, sys.stdout)


def _add(add: Callable[[dict[str, Any]], None], entity: Entity, inside: Iterator[Entity], _: int) -> None:
    add({**_object(entity), "documents": [_object(one) for one in inside]})


def _object(entity: Entity) -> dict[str, Any]:
    """Return a document as an object with exact texts, for example `{"document": "a.html", "base": "http://h/"}`."""

    def describe(base: BaseURL) -> dict[str, Any]:
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
        "own": describe(own),
        "claims": claims,
    }


def _is_container(entity: Entity) -> bool:
    """Return whether an entity is an archive or a message, which is not text as a whole."""
    return entity.media_type != registry.OTHER and registry.WALKERS[entity.media_type].charset == "none"


def _entities(input_: Input, how: ReadOptions, report: Report) -> Iterator[Entity]:
    """Yield the document of an input, and the documents in it except containers; an archive is one document."""
    is_first = True
    room = how.settings.max_rows_bytes
    for segment in load.segments_in(input_, how):
        for diagnostic in segment.diagnostics:
            report.finding(diagnostic)
        if segment.entity is None:
            continue
        for entity in chain([segment.entity] if is_first else (), _documents_inside(segment.entity)):
            room -= len(entity.bases.base.url) + len(entity.bases.own.url)
            if room < 0:  # each document inside may repeat the same long base URL
                raise rows_too_large(segment.entity)
            yield entity
        is_first = False


def _documents_inside(entity: Entity) -> Iterator[Entity]:
    for inner in inners(entity):
        if inner.part.name and not _is_container(inner.entity):
            yield inner.entity
        yield from _documents_inside(inner.entity)


def resolve(options: Options, report: Report) -> None:
    profile: Any = options.profile  # argparse knows the words
    with outputs.stdout() as file, terminal.json_array(options) as add:
        for reference in options.references:
            target = urls.resolve(options.base, reference, profile)
            if add is not None:
                add({"reference": reference, "base": options.base, "target": target})
            else:
                file.write(f"{printable.printable(target or '', escape=printable.percent_escaped)}\n".encode())
            if target is None:
                against = repr(in_short(options.base)) if options.base else "an empty base URL"
                text = f"{in_short(reference)!r} cannot be resolved against {against}"
                report.found(Diagnostic("unresolved", text, "resolve"))


# --- the drawing ------------------------------------------------------------------------------------------------------

# The figure of RFC 1808 section 3
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


def picture(entity: Entity, screen: Screen) -> Iterator[str]:
    """Yield the lines of one document: its layers, and below them its base URL and its own URL in full."""
    base, own = entity.bases.base, entity.bases.own
    yield heading(entity, screen)
    yield from layers(base, screen)
    yield from _summary("base URL", base, screen)
    if own.url != base.url:
        if own.layer is Layer.DEFAULT:  # a base element decides without it
            yield "document's own URL: none is known"
        else:
            yield from _summary("document's own URL", own, screen)


def heading(entity: Entity, screen: Screen) -> str:
    """Return the line that names a document."""
    return screen.paint(show(f"{entity.name} {entity.path}".rstrip()), "bold")


def layers(base: BaseURL, screen: Screen) -> list[str]:
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
        drawn = Group(*drawn.renderables, *_content(layer, claims[layer], base))
        if columns >= _NARROW:
            drawn = Group(Panel(drawn, Box(_BOX, ascii=True)))
    system: Literal["standard"] | None = "standard" if screen.styled else None
    console = Console(width=columns, force_terminal=screen.styled, color_system=system, legacy_windows=False)
    with console.capture() as captured:
        console.print(drawn, end="")
    return [line.rstrip() for line in captured.get().splitlines()]


def _content(layer: Layer, claims: list[ClaimOutcome], base: BaseURL) -> Iterator[RenderableType]:
    """Yield the title of a layer and the lines of its claims for rich, without markup."""
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


def _summary(name: str, base: BaseURL, screen: Screen) -> Iterator[str]:
    """Yield the line about a URL, in two parts if it is wider than the screen; the URL is never cut or folded."""
    url, source = described(base)
    shown = screen.linked(url, url) if base.url else url
    if screen.width is None or len(name) + printable.width(url) + len(source) + 3 <= screen.width:
        yield f"{name}: {shown} {source}".rstrip()
        return
    yield f"{name}: {shown}"
    yield from (f"  {part}" for part in folded(source, max(_LEAST, screen.width - 2)) if source)


def described(base: BaseURL) -> tuple[str, str]:
    """Return the URL of a base as text, and its source, for example `(embedded: base element)`; "" without a claim."""
    source = f"({base.layer.label}: {show(base.source)})"
    if base.layer is Layer.DEFAULT:
        return "none: relative links are left unchanged", ""
    if not base.url:
        return "none: longer than max-url allows", source
    return show(base.url), source


def contents(documents: Sequence[Entity], screen: Screen) -> Iterator[str]:
    """Yield a line for each document in another, with its base URL and the layer of this base; at most 20."""
    yield "documents in it, with their base URLs:"
    if not documents:
        yield "  no documents with links of their own"
        return
    found = documents[:_LISTED]
    width = min(max(printable.width(show(entity.path)) for entity in found), 40)
    for entity in found:
        url, source = described(entity.bases.base)
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
    if len(documents) > _LISTED:
        yield "  ... and more (--format json lists every document, with its claims)"
