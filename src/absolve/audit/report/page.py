"""Render the page of the report: the template, styles and scripts with their hashes, the compressed data.

In: a `Source`, the data. Out: the HTML document.
"""

from __future__ import annotations

import base64
import gzip
import json
from hashlib import sha256
from importlib import resources
from typing import IO, TYPE_CHECKING, Any, Final

import jinja2

from absolve.audit.outputs.findings import KINDS, counted, news_of
from absolve.audit.outputs.markdown import can_switch, reasons, unknown, unlisted
from absolve.audit.report.data import collected, shown
from absolve.audit.report.pictures import listings, pictures
from absolve.audit.verdicts import SEVERITIES, fix_options, words
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
        news=[tuple(map(shown, row)) for row in news_of(source, STATIC_CAUSES)],
        unlisted=unlisted(source),
        pictures=list(pictures(source, causes.severity)),
        listings=list(listings(source)),
        causes=causes.first(STATIC_CAUSES),
        entries=len(data["causes"]["verdict"]),
        asked=source.asked,
        has_requests=any(data["causes"]["requests"]),
        is_cut=data["length"] < sum(data["causes"]["count"]),
        verdicts=_verdicts(causes),
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
    """Return the data as JSON, compressed with gzip, in base64: letters that end no element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


def headline(source: Source) -> tuple[str, str, str]:
    """Return the question, the answer, and the counts of findings."""
    if source.news is not None:
        question, yes, no = "Is anything new?", "Nothing that matters is new.", "Yes, there are new findings."
    elif source.number("urls"):
        question, yes, no = "Can we switch?", "Yes, we can switch.", "No, not yet."
    else:
        question, yes, no = "Are the links right?", "Yes, no link needs a change.", "No, some links need a change."
    return question, yes if can_switch(source) else unknown(source) or no, counted(source)


def _verdicts(causes: Causes) -> list[tuple[str, str]]:
    """Return the verdicts of causes, and their names with the number of findings, the most severe first."""
    counts = causes.counts
    ranked = sorted(counts, key=lambda verdict: (causes.severity(verdict), -counts[verdict]))
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
