"""Collect the data of the report, in columns: causes with their findings, and all old URLs.

In: a `Source`. Out: a JSON value. Findings are sorted by cause, so a cause is a range of them. Findings without a cause
(on pages, on rules) get one by their verdict.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.audit.outputs.findings import KINDS, Row, ranked, reach, select, severity
from absolve.audit.verdicts import EXPECTED, FINE, HIDDEN, SEVERITIES, UNREAD, WRONG, rule_sentence, words
from absolve.core.printable import MASK, masked, number, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from absolve.audit.outputs.source import Source

REPAIRS: Final = ("final", "fix", "suggestion", "rule")  # columns of causes
NUMBERS: Final = frozenset(  # columns of numbers of texts: their differences are small
    ("title", "final", "fix", "suggestion", "rule", "document", "reference", "source")
)
URL_NUMBERS: Final = frozenset(("url", "final", "suggestion", "rule"))
MOST_FINDINGS: Final = 150_000  # of links that are listed, and as many others; the numbers of causes count all
MOST_LINES: Final = 1_200_000  # characters of source lines
LINES_OF_CAUSE: Final = 20  # findings of a cause with a source line
MOST_URLS: Final = 100_000  # of the old site that are listed: URLs with findings first
_OWN: Final = "NOT starts_with(coalesce(cause, ''), 'rule:')"  # others are listed with their rule
_PLACE: Final = re.compile(r"[^\s,]+:\d+")  # FILE:LINE, in place of a rule to add
_ONE_OF_EACH: Final = {"links": "link", "old URLs": "old URL", "pages": "page", "map": "rule"}


_REACH: Final = ("count", "pages", "requests", "links", "urls")
_COUNTS: Final = ("count", "pages", "requests", "listed", "links", "urls", "rank")  # likewise
_UNKNOWN: Final = (None, 0, None, None, None, None, 1 << 30)  # the row of findings without a cause: the last one


class Causes:
    """The columns of causes, of their findings and of old URLs."""

    def __init__(self, source: Source) -> None:
        self.texts, self.documents, self.sections = Texts(), Texts(), Texts()
        self.lines, self.layers = Texts(), Texts()
        self.verdicts: list[str] = []
        self.counts: Counter[str] = Counter()  # of findings, by their own verdict
        self.causes: dict[str, list[Any]] = {name: [] for name in ("verdict", "kind", "title", *REPAIRS, *_COUNTS)}
        self.findings: dict[str, list[int]] = {
            name: []
            for name in (
                *("document", "section", "layer", "line", "column", "reference", "source", "fix", "final"),
                "verdict",  # 1-based index; 0 = same as the cause
            )
        }
        self.urls: dict[str, list[int]] = {
            name: [] for name in ("url", "verdict", "final", "suggestion", "rule", "requests")
        }
        self.known: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # rows of causes, by cause and verdict
        self.asked = source.asked  # the unit of lists of old URLs
        self._source = source
        self._source_lines = SourceLines(source.style.roots)
        self._seen: set[int] = set()

    def begin(self, cause: str | None, verdict: str, kind: str, title: str, size: int) -> None:
        """Begin a cause with `size` findings, and `title` if it has no title; findings that are added are listed."""
        known_title, pages, *repairs, rank = self.known.get((cause, verdict), _UNKNOWN)
        columns = self.causes
        columns["verdict"].append(self.verdict(verdict))
        columns["kind"].append(KINDS.index(kind))
        columns["title"].append(self.texts.number(known_title or title))
        for name, text in zip(REPAIRS, repairs, strict=True):
            columns[name].append(self.texts.number(text if kind in KINDS[:2] else None))
        for name, value in zip(_COUNTS, (size, pages if kind == "links" else 0, 0, 0, 0, 0, rank), strict=True):
            columns[name].append(value)
        self.counts[verdict] += size
        self._seen.clear()

    def joined(self, links: int, urls: int, requests: int) -> None:
        """Set the numbers of links and old URLs that the last cause, a rule, also concerns."""
        for name, number_ in (("links", links), ("urls", urls), ("requests", requests)):
            self.causes[name][-1] = number_

    def add(self, row: Row, **texts: str | None) -> None:
        """Add a finding to the last cause."""
        number = self.documents.number(" ".join(filter(None, (row.document or row.page, row.entity))))
        values = (number, self.sections.number(row.section), row.line or 0, row.column or 0)
        for name, value in zip(("document", "section", "line", "column"), values, strict=True):
            self.findings[name].append(value)
        for name in ("reference", "fix", "final"):
            self.findings[name].append(self.texts.number(texts.get(name)))
        self.findings["source"].append(self.lines.number(texts.get("source")))
        self.findings["layer"].append(self.layers.number(texts.get("layer")))
        own = texts.get("verdict")
        self.findings["verdict"].append(self.verdict(own) + 1 if own else 0)
        self.causes["listed"][-1] += 1
        if number not in self._seen:
            self._seen.add(number)
            self.causes["pages"][-1] = max(self.causes["pages"][-1], len(self._seen))

    def verdict(self, verdict: str) -> int:
        """Return the number of a verdict, which is added if it is new."""
        if verdict not in self.verdicts:
            self.verdicts.append(verdict)
        return self.verdicts.index(verdict)

    def add_url(self, url: str, verdict: str, requests: int | None, **texts: str | None) -> None:
        """Add an old URL; `texts` are the texts of its other columns."""
        columns = self.urls
        columns["url"].append(self.documents.number(url))
        columns["verdict"].append(self.verdict(verdict))
        columns["requests"].append(-1 if requests is None else requests)
        for name in ("final", "suggestion", "rule"):
            columns[name].append(self.texts.number(texts.get(name)))

    def first(self, most: int) -> list[dict[str, Any]]:
        """Return the first causes in words, in their order, each with its first finding."""
        columns, texts, found = self.causes, self.texts.shown(), self.findings
        documents, lines = self.documents.shown(), self.lines.shown()
        ranks = [severity(verdict, self._source) for verdict in self.verdicts]
        order = sorted(range(len(columns["rank"])), key=lambda at: (ranks[columns["verdict"][at]], columns["rank"][at]))
        starts = [0, *accumulate(columns["listed"])]
        rows = []
        for at in order[:most]:
            start = starts[at]
            shown_texts = {name: texts[columns[name][at]] for name in ("title", *REPAIRS)}
            shown_texts["source"] = lines[found["source"][start]] or texts[found["reference"][start]]
            shown_texts["leads"] = texts[found["final"][start]] if columns["kind"][at] else ""
            shown_texts["arrow"] = "→ " if KINDS[columns["kind"][at]] == "old URLs" else ""
            place = documents[found["document"][start]], found["line"][start], found["column"][start]
            verdict = self._verdict(self.verdicts[columns["verdict"][at]])
            count, pages, requests, links, urls = (columns[name][at] for name in _REACH)
            clicks = number(requests, self.asked) if requests else ""
            noun = _ONE_OF_EACH[KINDS[columns["kind"][at]]]
            pages = pages if noun == "link" else 0
            size = reach(noun, count - links - urls, clicks, pages=pages, urls=urls, links=links)
            own = found["fix"][start : starts[at + 1]]
            shown_texts["each"] = "" if shown_texts["fix"] or not any(own) else "each" if all(own) else "some"
            shown_texts["place"], shown_texts["reach"] = ":".join(map(str, filter(None, place))), size
            shown_texts["do"] = "See" if _PLACE.fullmatch(shown_texts["rule"]) else "Add the rule"
            rows.append({**shown_texts, "verdict": verdict})
        return rows

    def line(self, row: Row) -> str:
        """Return the source line of a finding, as long as there are not too many."""
        is_full = self.causes["listed"][-1] >= LINES_OF_CAUSE or self.lines.size > MOST_LINES
        if is_full or row.entity or row.start is None or row.end is None:
            return ""
        return self._source_lines.line(row.document, row.start, row.end, row.reference or "")

    def value(self) -> dict[str, Any]:
        """Return all columns as JSON values, without columns whose values are all 0."""
        causes = {name: deltas(values) if name in NUMBERS else values for name, values in self.causes.items()}
        findings = {
            name: deltas(values) if name in NUMBERS else values for name, values in self.findings.items() if any(values)
        }
        return {
            "verdicts": [self._verdict(verdict) for verdict in self.verdicts],
            "kinds": KINDS,
            "nouns": [_ONE_OF_EACH[kind] for kind in KINDS],
            "severities": SEVERITIES,
            "asked": self.asked,
            "texts": self.texts.shown(),
            "documents": self.documents.shown(),
            "sections": self.sections.shown(),
            "lines": self.lines.shown(),
            "layers": self.layers.shown(),
            "causes": causes,
            "findings": findings,
            "urls": {name: deltas(values) if name in URL_NUMBERS else values for name, values in self.urls.items()},
            "length": len(self.findings["line"]),
        }

    def _verdict(self, verdict: str) -> dict[str, Any]:
        row = words(verdict)
        texts = {"name": row.name, "meaning": row.meaning, "repair": row.repair}
        return {"id": verdict, **texts, "severity": severity(verdict, self._source)}


def collected(source: Source) -> Causes:
    """Return the data of the report."""
    causes = Causes(source)
    causes.known = _cause_rows(source)
    for kind in KINDS[:-1]:
        _findings(source, causes, kind)
    _rules(source, causes)
    _all_urls(source, causes)
    return causes


def _cause_rows(source: Source) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    names = "cause, verdict, title, pages, final, fix, suggestion, rule, rank"
    return {row[:2]: row[2:] for row in source.rows(f"SELECT {names} FROM ({ranked(source)})")}  # noqa: S608 - names of ours


def _listed(source: Source, select: str, order: str, weight: str = "count(*)") -> Iterator[tuple[Any, ...]]:
    """Return rows sorted by their cause and verdict, the most weight first; weight and number are the last columns.

    If there are more than MOST_FINDINGS, each cause lists the same number at most.
    """
    group = "coalesce(cause, ''), verdict"
    rows = source.rows(f"SELECT count(*) FROM ({select}) GROUP BY {group}")  # noqa: S608 - names of ours
    most = most_per_cause([size for (size,) in rows], MOST_FINDINGS)
    return source.rows(
        f"SELECT * EXCLUDE (nth) FROM (SELECT *,"  # noqa: S608 - names of ours
        f" row_number() OVER (PARTITION BY {group} ORDER BY {order}) AS nth,"
        f" {weight} OVER (PARTITION BY {group}) AS weight, count(*) OVER (PARTITION BY {group}) AS size"
        f" FROM ({select})) WHERE nth <= {most}"
        f" ORDER BY weight DESC NULLS LAST, size DESC, {group}, nth LIMIT {MOST_FINDINGS}"
    )


def most_per_cause(sizes: list[int], most: int) -> int:
    """Return the most findings for each cause, at least 1, with which all causes together have at most `most`.

    >>> most_per_cause([5, 2, 1], 5)
    2
    """
    low, high = 1, max(sizes, default=1)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= most:
            low = middle
        else:
            high = middle - 1
    return low


_ORDERS: Final = {  # of the findings of a cause, and what the causes are ordered by
    "links": ('document, line, "column"', "count(*)"),
    "old URLs": ("requests DESC NULLS LAST, document", "sum(requests)"),
    "pages": ("coalesce(nullif(document, ''), page)", "count(*)"),
}


def _findings(source: Source, causes: Causes, kind: str) -> None:
    last = None
    rows = f"SELECT * FROM ({select(source, kind)}) WHERE {_OWN}"  # noqa: S608 - names of ours
    for *fields, weight, size in _listed(source, rows, *_ORDERS[kind]):
        row = Row._make(fields)
        if (row.cause, row.verdict) != last:
            last = row.cause, row.verdict
            causes.begin(row.cause, row.verdict, kind, words(row.verdict).meaning, size)
            causes.joined(0, 0, weight or 0 if kind == "old URLs" else 0)
        causes.add(row, **_BESIDE[kind](row, causes))


def _link_texts(row: Row, causes: Causes) -> dict[str, str | None]:
    texts = {"reference": row.reference, "fix": row.fix, "final": row.final, "layer": row.layer}
    return {**texts, "source": causes.line(row)}


def _url_texts(row: Row, causes: Causes) -> dict[str, str | None]:
    perhaps = f", perhaps {row.suggestion}" if row.suggestion and row.suggestion != row.final else ""
    score = f" (similarity {row.score:.2f})" if row.score is not None else ""
    asked = f"; {number(row.requests, causes.asked)}" if row.requests is not None else ""
    is_own = row.verdict == "moved" and row.rule != causes.known.get((row.cause, row.verdict), _UNKNOWN)[-2]
    return {"reference": row.rule if is_own else "", "final": f"{row.final or 'nowhere'}{perhaps}{score}{asked}"}


def _page_texts(row: Row, _causes: Causes) -> dict[str, str | None]:
    actual, _, expected = (row.detail or "").partition(EXPECTED)
    return {"reference": actual, "final": expected and f"expected: {expected}"}


_BESIDE: Final = {"links": _link_texts, "old URLs": _url_texts, "pages": _page_texts}
# Wrong rules, and the old URLs and links that they lead nowhere: one cause, in which each has its own verdict.
_MAP: Final = f"""
SELECT * REPLACE (CASE kind WHEN 'map' THEN verdict ELSE '{WRONG}' END AS verdict),
    CASE WHEN kind <> 'map' THEN verdict END AS own
FROM ({{}} UNION ALL SELECT * FROM ({{}}) WHERE NOT {_OWN} UNION ALL SELECT * FROM ({{}}) WHERE NOT {_OWN})
"""  # noqa: S608 - names of ours
_RULE_ORDER: Final = """
list_position(['map', 'old URLs', 'links'], kind), concat_ws(' ', document, nullif(entity, '')), line, "column"
"""
_JOINED: Final = "count(*) FILTER (kind = 'links') OVER same, count(*) FILTER (kind = 'old URLs') OVER same"


def _rules(source: Source, causes: Causes) -> None:
    rows = _MAP.format(*(select(source, kind) for kind in ("map", "old URLs", "links")))
    for own, count in source.rows(f"SELECT own, count(*) FROM ({rows}) WHERE own IS NOT NULL GROUP BY own"):  # noqa: S608
        causes.counts[own] += count
        causes.counts[WRONG] -= count
    last = None
    rows = f"SELECT *, {_JOINED}, sum(requests) OVER same FROM ({rows}) WINDOW same AS (PARTITION BY cause, verdict)"  # noqa: S608
    for *fields, own, links, urls, requests, _, size in _listed(source, rows, _RULE_ORDER):
        row = Row._make(fields)
        is_rule = row.kind == "map"
        what = rule_sentence(row.detail, row.finding) if is_rule else ""
        if (row.cause, row.verdict) != last:
            last = row.cause, row.verdict
            causes.begin(row.cause, row.verdict, "map", what, size)
            causes.joined(links, urls, int(requests or 0))
        leads = what if row.verdict == UNREAD or row.cause == HIDDEN else ""  # otherwise the title has it
        leads = leads if is_rule else f"→ {row.final or 'nowhere'}"
        text = causes.line(row) if row.kind == "links" else ""
        causes.add(row, reference=row.reference, final=leads, source=text, verdict=own)


def _all_urls(source: Source, causes: Causes) -> None:
    names = "url, verdict, requests, final, suggestion, rule"
    order = f"verdict IN {FINE}, requests DESC NULLS LAST, url"
    select = f"SELECT {names} FROM ({source.select('urls')}) ORDER BY {order} LIMIT {MOST_URLS}"  # noqa: S608 - names of ours
    for url, verdict, requests, final, suggestion, rule in source.rows(select):
        causes.add_url(url, verdict, requests, final=final, suggestion=suggestion, rule=rule)


MOST_TEXT: Final = 600  # characters of a text that are shown


class Texts:
    """A list of distinct texts with their numbers; 0 is the empty text, and None."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}
        self._size = 0

    def number(self, text: str | None) -> int:
        """Return the number of a text, which is added if it is new."""
        if not text:
            return 0
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._numbers)
            self._size += len(text)
        return found

    @property
    def size(self) -> int:
        """The characters of all texts."""
        return self._size

    def shown(self) -> list[str]:
        """Return the texts in their order, printable and not too long."""
        return [shown(text) for text in self._numbers]


def shown(text: str | None) -> str:
    """Return a text for the page, without invisible characters, at most MOST_TEXT characters long."""
    found = printable(text or "")
    return found if len(found) <= MOST_TEXT else f"{found[: MOST_TEXT - 1]}…"


def deltas(numbers: list[int]) -> list[int]:
    """Return the differences of numbers, which compress well: for example [5, 1, -2] for [5, 6, 4]."""
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


BEFORE: Final = 60  # bytes before and behind the reference
BEHIND: Final = 60
MOST: Final = 300  # bytes of a reference
# User information that begins, or ends, outside the line that is shown.
_BEGUN: Final = re.compile(r"\A[^\s\"'<>/]*@")
_OPEN: Final = re.compile(r"(?<=//)[^\s\"'<>/@]*\Z")


class SourceLines:
    """The lines of documents below these roots; others are not opened, since an inventory may name any file.

    User information in URLs is masked.
    """

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = [os.path.realpath(root) for root in roots]
        self._path = ""
        self._data: bytes | None = None

    def line(self, document: str, start: int, end: int, reference: str) -> str:
        """Return the line around a span of bytes, without its distant parts; "" if it cannot be read.

        The reference must be in it, since the file may have changed after it was read.
        """
        data = self._read(document)
        if data is None or not 0 <= start <= end <= len(data):
            return ""
        left = max(start - BEFORE, data.rfind(b"\n", 0, start) + 1)
        right = min(end, start + MOST) + BEHIND
        newline = data.find(b"\n", start, right)
        piece = data[left : newline if newline >= start else right]
        text = piece.decode("utf-8", "replace").replace("\ufffd", "·")
        if reference.isascii() and "&" not in reference and reference[:MOST] not in text:
            return ""
        is_cut = left > 0 and data[left - 1 : left] != b"\n"
        text = masked(_BEGUN.sub(f"{MASK}@", text, count=1) if is_cut else text)
        text = _OPEN.sub(MASK, text) if newline < start else text
        return printable(f"{'…' if is_cut else ''}{text.strip()}")

    def _read(self, document: str) -> bytes | None:
        if document != self._path:
            self._path, self._data = document, self._contents(document)
        return self._data

    def _contents(self, document: str) -> bytes | None:
        real = os.path.realpath(document)
        if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self._roots):
            return None
        try:
            return Path(real).read_bytes() if Path(real).is_file() else None
        except OSError:
            return None
