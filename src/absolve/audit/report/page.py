"""Render the page of the report: the template, styles and scripts with their hashes, the compressed data.

In: a `Source`, the data. Out: the HTML document. Beside the findings it has counts with a bar in each row, which the
template draws as SVG, without scripts and ready to print; and the rows of tables that are not findings.
"""

from __future__ import annotations

import base64
import gzip
import json
from hashlib import sha256
from importlib import resources
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import jinja2

from absolve.audit.outputs.findings import KINDS, can_switch, counted, first_news, reasons, severity, unknown, unlisted
from absolve.audit.report.data import collected, shown
from absolve.audit.verdicts import FINE, PAGE_VERDICTS, QUIET, SEVERITIES, WITHOUT_EFFECT, fix_options, words
from absolve.core.printable import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.audit.outputs.source import Source
    from absolve.audit.report.data import Causes

STYLES: Final = ("report.css",)
SCRIPTS: Final = ("data.js", "list.js", "report.js")
STATIC_CAUSES: Final = 100  # in the page without scripts


def write(source: Source, file: IO[bytes]) -> None:
    """Write the report, in UTF-8, to an open file."""
    causes = collected(source)
    data = causes.value()
    files = resources.files(__package__)
    styles = [files.joinpath(name).read_text("utf-8").strip() for name in STYLES]
    scripts = [files.joinpath(name).read_text("utf-8").strip() for name in SCRIPTS]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = "{:,}".format
    environment.filters["noun"] = number
    template = environment.from_string(files.joinpath("report.html.jinja").read_text("utf-8"))
    text: str = template.render(
        policy=policy(styles, scripts),
        styles=[jinja2.utils.markupsafe.Markup(style) for style in styles],
        scripts=[jinja2.utils.markupsafe.Markup(script) for script in scripts],
        data=packed(data),
        site=shown(source.summary.get("new_url")) or "this site",
        old=shown(source.summary.get("old_url")),
        read=list(map(shown, json.loads(source.summary.get("read") or "[]"))),
        made_by=shown(source.summary.get("created_by")),
        headline=headline(source),
        is_fine=can_switch(source),
        reasons=[(verdict, what) for verdict, what, _ in reasons(source)],
        fixes=source.number("fixes"),
        fix=fix_options(source.summary.get("new_url")),
        baseline=_baseline(source),
        news=[tuple(map(shown, row)) for row in first_news(source, STATIC_CAUSES)],
        unlisted=unlisted(source),
        pictures=list(pictures(source)),
        listings=list(listings(source)),
        causes=causes.first(STATIC_CAUSES),
        entries=len(data["causes"]["verdict"]),
        asked=source.asked,
        has_requests=any(data["causes"]["requests"]),
        is_cut=data["length"] < sum(data["causes"]["count"]),
        verdicts=_verdicts(source, causes),
        severities=SEVERITIES,
        kinds=[kind for at, kind in enumerate(KINDS) if at in data["causes"]["kind"]],
        sections=sorted(filter(None, data["sections"])),
        layers=sorted(filter(None, data["layers"])),
        urls=source.number("urls"),
        listed_urls=len(data["urls"]["url"]),
        has_url_requests=any(number >= 0 for number in data["urls"]["requests"]),
        url_verdicts=list(_url_verdicts(source)),
    )
    file.write(text.encode())


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return the Content-Security-Policy: nothing but these styles and scripts, no connection, no form, no frame."""
    allowed = (
        "default-src 'none'",
        f"script-src {' '.join(map(_source, scripts))}",
        f"style-src {' '.join(map(_source, styles))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(allowed)


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


def packed(data: dict[str, Any]) -> str:
    """Return the data as JSON, compressed with gzip, in base64, whose letters cannot end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


def headline(source: Source) -> tuple[str, str, str]:
    """Return the question, the answer, and the counts, for example "Can we switch?", "No, not yet.", "Findings: 2".

    The answer is good if no finding fails; else it is bad, or not known because an input could not be read.
    """
    if source.news is not None:
        question, good, bad = "Is anything new?", "Nothing that matters is new.", "Yes, there are new findings."
    elif source.number("urls"):
        question, good, bad = "Can we switch?", "Yes, we can switch.", "No, not yet."
    else:
        question, good, bad = "Are the links right?", "Yes, no link needs a change.", "No, some links need a change."
    answer = good if can_switch(source) else unknown(source) or bad
    return question, answer, counted(source)


def _verdicts(source: Source, causes: Causes) -> list[tuple[str, str]]:
    """Return the verdicts of causes with their names and numbers, the most severe first: for example `Broken (2)`."""
    counts = causes.counts
    ranked = sorted(counts, key=lambda verdict: (severity(verdict, source), -counts[verdict]))
    return [(verdict, f"{words(verdict).name} ({counts[verdict]:,})") for verdict in ranked]


def _url_verdicts(source: Source) -> Iterator[tuple[str, str]]:
    for verdict, count in source.rows("SELECT verdict, count(*) FROM urls GROUP BY verdict ORDER BY 2 DESC, 1"):
        yield verdict, f"{words(verdict).name} ({count:,})"


def _baseline(source: Source) -> dict[str, int] | None:
    """Return how many findings are new and healed; None without a baseline."""
    if "baseline" not in source.tables:
        return None
    counts: dict[str, int] = dict(source.rows("SELECT change, count(*) FROM baseline GROUP BY change"))
    return {"new": counts.get("new", 0), "healed": counts.get("healed", 0)}


# --- tables beside the findings ---------------------------------------------------------------------------------------

MOST_ROWS: Final = 100  # of a table beside the findings
MOST_BARS: Final = 20  # rows of a picture; the others are one
_FINE: Final = len(SEVERITIES)
_PAGES: Final = ", ".join(f"'{verdict}'" for verdict in PAGE_VERDICTS)
_SECTIONS: Final = f"""
SELECT section, verdict, sum(links + urls + CASE WHEN verdict IN ({_PAGES}) THEN pages ELSE 0 END)::BIGINT
FROM sections WHERE verdict IS NOT NULL GROUP BY section, verdict"""  # noqa: S608 - names of ours
_FLOWS: Final = """
SELECT old_section || ' \u2192 ' || coalesce(new_section, 'nowhere'),
    CASE WHEN new_section IS NULL THEN 2 WHEN verdict = 'moved' THEN 1 ELSE 0 END, sum(urls)::BIGINT
FROM flows GROUP BY ALL"""
_NEWS: Final = "SELECT verdict, change, count(*) FROM baseline GROUP BY ALL"


class Bar(NamedTuple):
    """A row of a picture: its counts, one for each part of its bar. `classes` names the parts in the styles."""

    name: str
    counts: tuple[int, ...]
    is_filter: bool = True


class Picture(NamedTuple):
    """Bars of one scale. `filter`: the filter of the page that has the names as its values, or ""."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    bars: list[Bar]
    filter: str = ""

    def parts(self, bar: Bar) -> Iterator[tuple[str, float, float]]:
        """Yield the class, the start and the width of each part of a bar; the largest bar is 100 wide."""
        scale = max(sum(bar.counts) for bar in self.bars) / 100
        starts = [0, *accumulate(bar.counts)]
        for name, start, count in zip(self.classes, starts, bar.counts, strict=False):
            if count:
                yield name, round(start / scale, 2), round(count / scale, 2)


def pictures(source: Source) -> Iterator[Picture]:
    """Yield the pictures with at least two bars: a single bar shows nothing."""
    for picture in _pictures(source):
        if len(picture.bars) > 1:
            yield picture._replace(bars=_largest(picture.bars))


def _pictures(source: Source) -> Iterator[Picture]:
    if "baseline" in source.tables:
        places = {"new": 0, "healed": 1}
        note = "Findings that are new, and findings of the baseline that are gone."
        bars = _summed(((words(verdict).name, places[change], n) for verdict, change, n in source.rows(_NEWS)), 2)
        yield Picture("baseline", "Against the baseline", note, ("Verdict", "New", "Healed"), ("s0", "fine"), bars)
    fine = {*QUIET, *FINE}
    rows = source.rows(_SECTIONS)
    counted = ((name, _FINE if verdict in fine else severity(verdict, source), n) for name, verdict, n in rows)
    note = "Links, old URLs and pages with findings, by the first folder of their path, and what is fine."
    names = ("Section", "Errors", "Detours", "To know", "Fine")
    bars = [bar for bar in _summed(counted, _FINE + 1) if sum(bar.counts[:_FINE])]
    yield Picture("sections", "Where the findings are", note, names, ("s0", "s1", "s2", "fine"), bars, "section")
    note = "Old URLs by the section that they are in, and the one that has their content."
    bars = _summed(source.rows(_FLOWS), 3)
    columns = ("Old and new section", "There", "No rule leads there", "Nowhere")
    yield Picture("flows", "Where the old URLs lead", note, columns, ("fine", "s1", "s0"), bars)
    select = f"SELECT host, links FROM ({source.select('hosts')})"  # noqa: S608 - names of ours
    hosts = [Bar(shown(host), (links,)) for host, links in source.rows(select)]
    yield Picture("hosts", "Hosts linked to", "All links to other sites.", ("Host", "Links"), ("plain",), hosts)
    layers = [Bar(layer, (links,)) for layer, links in source.rows("SELECT base_layer, links FROM layers")]
    note = "The layer of RFC 1808, section 3, that gave the base URL of the links."
    yield Picture("layers", "Which base ruled", note, ("Base layer", "Links"), ("plain",), layers, "layer")


def _summed(rows: Any, parts: int) -> list[Bar]:
    """Return a bar for each name, with the sums of its parts."""
    sums: dict[str, list[int]] = {}
    for name, part, count in rows:
        sums.setdefault(shown(name) or "/", [0] * parts)[part] += count
    return [Bar(name, tuple(counts)) for name, counts in sums.items()]


def _largest(bars: list[Bar]) -> list[Bar]:
    """Return the largest bars, and one for all others."""
    bars = sorted(bars, key=lambda bar: (-sum(bar.counts), bar.name))
    others = bars[MOST_BARS:]
    if not others:
        return bars
    sums = tuple(map(sum, zip(*(bar.counts for bar in others), strict=True)))
    return [*bars[:MOST_BARS], Bar(f"{len(others):,} more", sums, is_filter=False)]


class Listing(NamedTuple):
    """A table beside the findings: its first rows as texts, and the number of all rows."""

    name: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    number: int


def listings(source: Source) -> Iterator[Listing]:
    """Yield the non-empty tables beside the findings."""
    for name, (title, note, columns, where, order) in _LISTINGS.items():
        if name not in source.tables:
            continue
        select = f"FROM ({source.select(name)}) WHERE {where}"
        count = source.value(f"SELECT count(*) {select}")
        if count:
            query = f"SELECT {', '.join(columns.values())} {select} ORDER BY {order} LIMIT {MOST_ROWS}"
            rows = [tuple(map(shown, row)) for row in source.rows(query)]
            yield Listing(name, title, note, tuple(columns), rows, count)


# A table -> its title, a note, its columns as SQL by their names, which rows, and their order.
_LISTINGS: Final = {
    "mentions": (
        "Still named outside links",
        "The old host in scripts, texts, comments, attributes and other files. No rule and no repair changes these.",
        {
            "Place": "concat_ws(':', concat_ws(' ', document, nullif(entity, '')), line, \"column\")",
            "Kind": "kind",
            "Mention": "mention",
        },
        "true",
        'document, entity, line, "column"',
    ),
    "changes": (
        "What changed on the pages that stayed",
        "Pages of the old site that are there, or that moved with their content.",
        {
            "Page": "url || CASE WHEN final <> url THEN ' \u2192 ' || final ELSE '' END",
            "What": "what",
            "Before": "old",
            "Now": "new",
        },
        "true",
        "url, what",
    ),
    "rules": (
        "Unused redirect rules",
        "No old URL needs them, or an earlier rule is the same.",
        {"Place": "concat_ws(':', file, line)", "Why": "finding", "Rule": "text"},
        WITHOUT_EFFECT,
        "file, line",
    ),
}
