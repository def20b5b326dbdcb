"""`absolve base`: draw the four layers of RFC 1808 section 3 as in its figure, with the claims of each and the winner.

Input: documents, each with its base URL already established. Output: text for people on the standard output.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from absolve.cli import options as shared
from absolve.cli.reporting import colours, paint
from absolve.core import printable
from absolve.core.errors import in_short
from absolve.core.model import VERDICTS, Layer
from absolve.document.diagnostics import rows_too_large
from absolve.document.walk import inners
from absolve.run import segment_inputs
from absolve.run.inputs import Input
from absolve.urls.base import TOO_LONG

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from absolve.cli.reporting import Report
    from absolve.core.model import BaseURL, ClaimOutcome
    from absolve.document.entity import Entity
    from absolve.run.load import ReadOptions

    Show = Callable[[str], str]

EPILOG = """\
The innermost layer with a usable base URL wins. A relative one is resolved
against the next layer out.

examples:
  absolve base page.html
  absolve base page.html --url http://example.com/dir/   with its retrieval URL
  absolve base page.html --all                  and the documents in it (srcdoc)"""

# RFC 1808 section 3, its figure
TITLES = {
    Layer.EMBEDDED: "(3.1) Base URL embedded in the document's content",
    Layer.ENCAPSULATING: "(3.2) Base URL of the encapsulating entity (message, document, or none)",
    Layer.RETRIEVAL: "(3.3) URL used to retrieve the entity",
    Layer.DEFAULT: '(3.4) Base URL = "" (undefined)',
}
INDENT = " " * 6
WIDEST = 88  # characters of a line in a box; below the boxes URLs are printed in full
EDGES = len("|    |")  # columns that a box adds to its content
WINS = "=> "


def configure(parser: argparse.ArgumentParser) -> None:
    shared.add_inputs(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--all", discovered=True, action="store_true", help="also show the documents inside each input")
    shared.add_settings(parser)


def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    separator = ""
    for name in shared.names(options):
        with report.guard(name):
            for entity in _entities(Input(name, "", options.url), how, report, inside=options.all):
                print(end=separator)
                separator = "\n"
                for line in picture(entity, credentials=report.credentials):
                    print(line)


def _entities(input_: Input, how: ReadOptions, report: Report, *, inside: bool) -> Iterator[Entity]:
    """Yield the document of an input and, if `inside`, the documents in it; an archive is one document."""
    is_first = True
    room = how.settings.max_rows_bytes
    for segment in segment_inputs.each(input_, how, every=inside):
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


def picture(entity: Entity, *, credentials: bool) -> Iterator[str]:
    """Yield the lines of one document: its boxes, and below them its base URL and its own URL in full."""
    base, own = entity.bases.base, entity.bases.own
    show: Show = partial(printable.message, credentials=credentials)
    yield show(f"{entity.name} {entity.path}".rstrip())
    on = colours(sys.stdout)
    for line in boxes(base, show):
        mark = line.find(WINS)
        yield line if mark < 0 else line[:mark] + paint(line[mark:].rstrip(" |"), "green", on=on) + _edge(line)
    yield f"base URL: {_summary(base, show)}"
    if own.url != base.url:
        yield f"document's own URL: {_summary(own, show)}"


def _edge(line: str) -> str:
    return line[len(line.rstrip(" |")) :]


def _summary(base: BaseURL, show: Show) -> str:
    if base.layer is Layer.DEFAULT:
        return "none: relative links are left unchanged"
    if not base.url:
        return f"none: longer than --max-url allows ({base.layer.label}: {show(base.source)})"
    return f"{show(base.url)} ({base.layer.label}: {show(base.source)})"


def boxes(base: BaseURL, show: Show) -> list[str]:
    """Return the lines of the four nested boxes, innermost first, each with the claims of its layer."""
    claims: dict[Layer, list[ClaimOutcome]] = {layer: [] for layer in Layer}
    layer = Layer.EMBEDDED
    for claim in base.chain:  # a claim embedded in the document around this one belongs to the encapsulating layer
        layer = max(layer, claim.base.layer)
        claims[layer].append(claim)
    content = [list(_content(layer, claims[layer], base, show)) for layer in Layer]
    width = max(printable.width(line) - EDGES * at for at, lines in enumerate(content) for line in lines)
    drawn: list[str] = []
    for at, lines in enumerate(content):
        drawn = _box([*drawn, *lines], width + EDGES * at)
    return drawn


def _content(layer: Layer, claims: list[ClaimOutcome], base: BaseURL, show: Show) -> Iterator[str]:
    yield TITLES[layer]
    for claim in claims:
        for line in _described(claim, show):
            yield INDENT + _cut(line)
    if layer is Layer.DEFAULT:
        if base.layer is layer:
            yield f"{INDENT}{WINS}{VERDICTS['won']}: relative links are left unchanged"
    elif not claims:
        yield f"{INDENT}none"


def _described(claim: ClaimOutcome, show: Show) -> Iterator[str]:
    where = claim.base.source if claim.line is None else f"{claim.base.source}, line {claim.line}"
    yield f"{show(where)}: {show(in_short(claim.base.reference)) or '(empty)'}"
    if claim.url and claim.url != claim.base.reference:
        yield f"resolved: {show(in_short(claim.url))}"
    yield f"{WINS if claim.verdict in {'won', TOO_LONG} else '-- '}{VERDICTS[claim.verdict]}"


def _box(lines: list[str], width: int) -> list[str]:
    rule = "-" * (width + 4)
    return [f".{rule}.", *(f"|  {line}{' ' * (width - printable.width(line))}  |" for line in lines), f"`{rule}'"]


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 23]}...{text[-20:]}"
