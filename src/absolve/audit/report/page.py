"""Render the page of the report: the template, styles and scripts with their hashes, the compressed data.

In: a `Source`, the data. Out: the HTML document.
"""

from __future__ import annotations

import base64
import gzip
import json
from hashlib import sha256
from importlib import resources
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import jinja2

from absolve.audit.outputs.findings import news_of
from absolve.audit.outputs.markdown import can_switch, reasons, unlisted
from absolve.audit.report.data import MOST_FINDINGS, collected, largest, listings, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from absolve.audit.outputs.source import Source

STYLES: Final = ("vendor/tabulator.min.css", "report.css")
SCRIPTS: Final = ("vendor/echarts.min.js", "vendor/tabulator.min.js", "data.js", "pictures.js", "list.js", "report.js")
STATIC_CAUSES: Final = 100  # in the table without scripts, and in print
_SECTIONS: Final = ("Section", "Verdict", "Links", "Pages", "Old URLs")


class Number(NamedTuple):
    """One of the three numbers of the headline."""

    value: int
    name: str
    note: str


class Picture(NamedTuple):
    """A picture and its table. `filters`: which filters the values of the columns are for, the first ones in order."""

    name: str
    title: str
    note: str
    columns: Sequence[str]
    rows: list[list[Any]]
    filters: tuple[str, ...] = ()


def write(source: Source, file: IO[bytes]) -> None:
    """Write the report, in UTF-8, to an open file."""
    data = collected(source)
    files = resources.files(__package__)
    styles = [files.joinpath(name).read_text("utf-8").strip() for name in STYLES]
    scripts = [files.joinpath(name).read_text("utf-8").strip() for name in SCRIPTS]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = "{:,}".format
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
        reasons=[dict(zip(("verdict", "what", "meaning"), found, strict=True)) for found in reasons(source)],
        numbers=list(_numbers(source)),
        baseline=_baseline(source),
        news=[tuple(map(shown, row)) for row in news_of(source, STATIC_CAUSES)],
        unlisted=unlisted(source),
        pictures=list(_pictures(data)),
        listings=list(listings(source)),
        causes=list(largest(data, STATIC_CAUSES)),
        count=len(data["causes"]["verdict"]),
        has_requests=any(data["causes"]["requests"]),
        is_cut=data["length"] >= MOST_FINDINGS,
        verdicts=data["verdicts"],
        kinds=data["kinds"],
        sections=sorted(filter(None, data["sections"])),
        layers=sorted(filter(None, data["layers"])),
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
    """Return the data as JSON, compressed with gzip, in base64: letters that end no element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


def headline(source: Source) -> tuple[str, str]:
    """Return the question and the answer."""
    fine = can_switch(source)
    if source.news is not None:
        return "Is anything new?", "Nothing that matters is new." if fine else "Yes, there are new findings."
    if source.number("urls"):
        return "Can we switch?", "Yes, we can switch." if fine else "No, not yet."
    return "Are the links right?", "Yes, no link needs a change." if fine else "No, some links need a change."


def _numbers(source: Source) -> Iterable[Number]:
    links, urls, lost = source.number("links"), source.number("urls"), source.number("lost")
    yield Number(source.number("causes"), "causes", "to look at: findings of one origin count once")
    yield Number(source.number("findings"), "findings", f"in {links:,} links")
    if urls:
        yield Number(lost, "old URLs lost", f"of {urls:,} that the old site has")
    else:
        yield Number(links, "links", "were judged")


def _baseline(source: Source) -> dict[str, int] | None:
    """Return how many findings are new and healed; None without a baseline."""
    if "baseline" not in source.tables:
        return None
    counts: dict[str, int] = dict(source.rows("SELECT change, count(*) FROM baseline GROUP BY change"))
    return {"new": counts.get("new", 0), "healed": counts.get("healed", 0)}


def _pictures(data: dict[str, Any]) -> Iterable[Picture]:
    rows = data["pictures"]
    findings = [row for row in rows["sections"] if row[1] not in rows["quiet"]]
    if findings:
        where = "Area is the number of links, pages or old URLs with that verdict."
        yield Picture("treemap", "Where the findings are", where, _SECTIONS, _ranked(findings), ("section", "verdict"))
    if rows.get("baseline"):
        note = "New findings are on the right, healed ones on the left."
        columns = ("Verdict", "Change", "Findings")
        yield Picture("baseline", "Against the baseline", note, columns, rows["baseline"], ("verdict",))
    if rows["sections"]:
        note = "All that was judged, also what is fine."
        yield Picture("bars", "Verdicts by section", note, _SECTIONS, rows["sections"], ("section", "verdict"))
    if rows["flows"]:
        moved = [[old, new or "nowhere", verdict, count] for old, new, verdict, count in rows["flows"]]
        note = "Old sections on the left, new ones on the right; URLs that are lost lead to “nowhere”."
        names = ("Old section", "New section", "Verdict", "Old URLs")
        yield Picture("flows", "Where the old URLs lead", note, names, moved, ("section", "", "verdict"))
    if rows["hosts"]:
        note = "The hosts of most external links."
        yield Picture("hosts", "Hosts linked to", note, ("Host", "Links"), rows["hosts"], ("search",))
    if rows["layers"]:
        note = "The layer of RFC 1808, section 3, that gave the base URL of the links."
        yield Picture("layers", "Which base ruled", note, ("Base layer", "Links"), rows["layers"], ("layer",))


def _ranked(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=lambda row: -(row[2] + row[4]))
