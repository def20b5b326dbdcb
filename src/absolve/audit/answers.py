r"""Read the recorded answers of servers: the redirects as rules of a map, or all answers.

In: a file: a WARC, a HAR, output of `curl -i`, `-I` or `-v`, a table or JSON with URLs and statuses, as link checkers
and crawlers write them. Out: `Answer`s in the order of the file; the last one for a URL counts. curl prints no URL: the
request (`-v`), the redirect before (`-L`), or a separate line has it.

    >>> data = b"http://h/a\nHTTP/1.1 301 Moved\nLocation: /b\n\n"
    >>> [(one.url, one.status, one.target) for one in _printed("heads.txt", data)]
    [('http://h/a', 301, 'http://h/b')]
"""

from __future__ import annotations

import codecs
import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import text_blocks
from absolve.core.errors import CodingError, Diagnostic, DocumentError, UsageError, WalkError
from absolve.core.model import Document
from absolve.document.captures import Entry, entries, of_record, records
from absolve.formats import headers, registry, sniffing
from absolve.formats.warc.reader import pieces
from absolve.rules import cells, columns
from absolve.rules.cells import lines
from absolve.rules.entries import recorded
from absolve.run import sources
from absolve.urls import identity, whatwg
from absolve.urls.chain import MOST, REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.document.settings import Settings
    from absolve.formats.headers import Record
    from absolve.rules.model import RuleSet
    from absolve.run.web.exchange import Answer as Asked

FORM: Final = "answers"
PROBLEM: Final = "problem"  # a field of a metadata record: why a URL has no answer, a code and words
_KEEPING_OUT: Final = frozenset({403, 405, 406, 429, 503, 999})  # statuses
_LINKEDIN: Final = 999
_WALLS: Final = (  # a field of the answer, a text in it (in lower case), the product
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("server", "akamaighost", "Akamai"),
    ("server", "datadome", "DataDome"),
    ("x-datadome", "", "DataDome"),
    ("x-amzn-waf-action", "", "AWS WAF"),
    ("x-iinfo", "", "Imperva"),
    ("x-sucuri-id", "", "Sucuri"),
    ("x-vercel-mitigated", "", "Vercel"),
)
_LOOKED_AT: Final = 1 << 16
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTAINERS: Final = frozenset({registry.WARC, registry.HAR})
_HEADS: Final = re.compile(rb"^(?:< ?)?HTTP/[0-9.]+ [1-5][0-9][0-9]\b", re.MULTILINE)
_STATUS: Final = re.compile(r"HTTP/[0-9.]+ ([1-5][0-9][0-9])\b(.*)")
_REQUEST: Final = re.compile(r"> ([A-Z]+) (\S+) HTTP/")
_URL: Final = re.compile(r"(?:==> |# |URL: )?(https?://\S+)")
_LOCATION: Final = re.compile(r"(?:< ?)?location:(.*)", re.IGNORECASE)
_LONGEST: Final = 65_536  # characters of a URL that another one is relative to, likewise


class Page(NamedTuple):
    """Facts about the body of an answer: the places in it, and a number that is equal for pages with the same words.

    The page's own name and words with digits are ignored, since pages for missing URLs repeat them. `is_shell`: scripts
    fill it, so that its words mean nothing. `has_scripts`: they may add places, too.
    """

    places: frozenset[str]
    likeness: int | None
    is_shell: bool
    has_scripts: bool


class Answer(NamedTuple):
    """The answer of a server for a URL without its fragment; `status` is None if there was none, because of `problem`.

    With a status, `problem` says why it may mean nothing.

    `target`: the target of the redirect, or, if it `is_end`, the end of all redirects, which had this status. `date`:
    ISO 8601. `is_html`: its header declares a page.
    """

    url: str
    status: int | None
    target: str | None = None
    problem: str = ""
    date: str = ""
    file: str = ""
    line: int = 0
    is_end: bool = False
    page: Page | None = None
    is_html: bool = False


def read(name: str, data: bytes, settings: Settings) -> RuleSet | None:
    """Return the redirects of recorded answers as a map, None for other files. Raise UsageError without redirects."""
    kind = sniffing.sniff(data[:_LOOKED_AT], name)
    if kind not in _CONTAINERS and _HEADS.search(data[:_LOOKED_AT]) is None:
        return None
    redirects = as_rules(_read_answers(name, settings, data, None, pages=False))._replace(format=FORM)
    if not redirects.rules:
        raise UsageError(f"{name}: no redirect of a known URL is in these answers: a map is a file with redirects")
    return redirects._replace(file=name, words=f"{len(redirects.rules):,} redirects that were recorded")


def as_rules(found: Iterable[Answer]) -> RuleSet:
    """Return the redirects among answers as the rules of a map, the last one for each URL, which is its `file`."""
    last = {one.url: one for one in found if one.status in REDIRECTS and one.target is not None}
    rows = ((one.url, one.target or "", one.status or 0, one.url, 1) for one in last.values())
    rules = recorded(rows)
    return rules._replace(rules=[rule._replace(forced=True) for rule in rules.rules])


def read_answers(
    name: str,
    settings: Settings,
    data: bytes | None = None,
    notify: Callable[[Diagnostic], None] | None = None,
    *,
    pages: bool = True,
) -> Iterator[Answer]:
    """Yield the answers in a file; `data` are its bytes, if they are read already. `pages`: with facts about bodies.

    `notify` is called for parts that cannot be read. Raise DocumentError for a file that cannot be read, UsageError for
    a file without answers.
    """
    is_empty = True
    for one in _read_answers(name, settings, data, notify, pages=pages):
        is_empty = False
        yield one
    if is_empty:
        raise UsageError(f"{name}: it has no answer of a server: a URL with its status")


def _read_answers(
    name: str, settings: Settings, data: bytes | None, notify: Callable[[Diagnostic], None] | None, *, pages: bool
) -> Iterator[Answer]:
    if data is None and sources.is_read_once(name):
        data = sources.of_option(name)
    head = sources.head(name) if data is None else data[:_LOOKED_AT]
    kind = sniffing.sniff(head, name)
    if kind == registry.WARC:
        found: Iterable[Entry | Answer | Diagnostic] = _warc_answers(name, settings, data)
    else:
        data = sources.of_option(name) if data is None else data
        if data.startswith(_UTF16):  # PowerShell's > writes it
            data = data.decode("utf-16", "replace").encode()
        if kind == registry.HAR:
            found = _har_entries(name, data, settings)
        else:
            found = _printed(name, data) if _HEADS.search(data[:_LOOKED_AT]) is not None else _tabled(name, data)
    for one in found:
        if isinstance(one, Diagnostic):
            if notify is not None:
                notify(one)
            continue
        answer = _answer(one, settings, pages=pages) if isinstance(one, Entry) else one
        url = identity.normal(answer.url) or ("" if answer.status else answer.url)
        if url.startswith("http") or (url and not answer.status):
            yield answer._replace(url=url.partition("#")[0], file=name)


# --- archives ---------------------------------------------------------------------------------------------------------


def _warc_answers(name: str, settings: Settings, data: bytes | None) -> Iterator[Entry | Answer | Diagnostic]:
    import io

    with sources.opened(name) if data is None else io.BytesIO(data) as file:
        for piece in pieces(file, settings.max_decompressed):
            for one in piece.findings:
                yield Diagnostic(one.code, f"{one.text}, at byte {piece.offset}", name, failed=one.failed)
            for _, record in records(piece.records or b""):
                with suppress(CodingError, WalkError):
                    yield from _record_answers(piece.records or b"", record, settings)


def _record_answers(data: bytes, record: Record, settings: Settings) -> Iterator[Entry | Answer]:
    if record.kind in {"response", "arc", "revisit"}:
        yield of_record(data, record, settings)
    elif record.kind == "metadata":
        text = data[record.block : record.end].decode("utf-8", "replace")
        if (found := re.match(rf"{PROBLEM}: (.*)", text)) is not None:
            date = headers.first(data, record.fields, "warc-date") or ""
            yield Answer(record.url, None, problem=found[1].strip(), date=date)


def _har_entries(name: str, data: bytes, settings: Settings) -> Iterator[Entry | Diagnostic]:
    for one in entries(data, registry.HAR, settings):
        yield one if isinstance(one, Entry) else Diagnostic(one.code, one.text, name, failed=one.failed)


def _answer(entry: Entry, settings: Settings, *, pages: bool) -> Answer:
    """Return the answer in an entry of an archive."""
    facts = entry.facts
    location = facts.redirect or dict(facts.fields).get("location")
    target = whatwg.parse(location, entry.url) if location and facts.status in REDIRECTS else None
    declared = entry.media_type or dict(facts.fields).get("content-type", "")
    page, is_html = None, facts.status is not None and 200 <= facts.status < 300 and "html" in declared.lower()
    if is_html and pages:
        with suppress(CodingError, WalkError):
            page = _page(entry.url, entry.content, declared, settings)
    wall = _wall(facts.status or 0, dict(facts.fields).get)
    return Answer(entry.url, facts.status or None, target, wall, facts.date, page=page, is_html=is_html)


def from_responses(asked: Asked, settings: Settings, *, compares: bool) -> Iterator[Answer]:
    """Yield the answers in the responses to a request that was just made. `compares`: the words of its page count."""
    for one in asked.responses:
        location = one.field("Location") if one.status in REDIRECTS else None
        target = whatwg.parse(location, one.url) if location else None
        declared = one.field("Content-Type") or ""
        page, is_html = None, 200 <= one.status < 300 and "html" in declared.lower()
        if is_html and one is asked.responses[-1]:
            with suppress(CodingError, WalkError):
                page = _page(one.url, asked.body, declared, settings, compares=compares)
        date = datetime.fromtimestamp(one.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        yield Answer(one.url, one.status, target, _wall(one.status, one.field), date, page=page, is_html=is_html)
    if asked.problem is not None and asked.problem.code != "http-status":
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        yield Answer(asked.asked_last, None, problem=f"{asked.problem.code}: {asked.problem.text}", date=date)


def _wall(status: int, field: Callable[[str], str | None]) -> str:
    """Return words for the answer of a product that keeps robots out, whatever the page is; "" for any other answer."""
    if status not in _KEEPING_OUT:
        return ""
    found = (product for name, text, product in _WALLS if (value := field(name)) and text in value.lower())
    product = next(found, "LinkedIn" if status == _LINKEDIN else None)
    return f"{product} keeps robots out" if product is not None else ""


def _page(url: str, data: bytes, declared: str, settings: Settings, *, compares: bool = True) -> Page | None:
    from absolve.document.walk import walk
    from absolve.inventory.documents import each

    if not data:
        return None
    entity = walk(Document(data, media_type=declared), settings._replace(documents=True))
    places = frozenset(place for found in each(entity) if not found.row.entity for place in found.row.anchors)
    has_scripts = b"<script" in data.lower()
    if not compares:
        return Page(places, None, is_shell=False, has_scripts=has_scripts)
    text = text_blocks.text_of(data, declared)
    own = identity.decoded(url.partition("?")[0].rstrip("/").rpartition("/")[2]).casefold()
    lower = text.casefold()
    same = _WITH_DIGIT.sub("0", lower.replace(own, "0") if len(own) > 2 else lower)
    return Page(places, hash(same), has_scripts and len(text) < _SHELL, has_scripts)


_WITH_DIGIT: Final = re.compile(r"\b[^\W\d]*+\d\w*")  # times, numbers of requests: they differ on each page
_SHELL: Final = 200  # characters of text: a page with fewer, and scripts, is filled by these

# --- the output of curl -----------------------------------------------------------------------------------------------


def _printed(name: str, data: bytes) -> Iterator[Answer | Diagnostic]:
    """Yield the answers in the output of curl: heads of answers, perhaps behind heads of requests.

    A first answer without a URL is a diagnostic; a later one may be a line of a body.
    """
    is_first = True
    url: str | None = None
    hops = 0  # from a URL that is named
    path, status, reason, begin = "/", 0, "", 0  # status, reason and place of the present head
    target: str | None = None
    for place, line, problem in chain(lines(data), [(0, "", None)]):
        text = line.strip()
        head = _STATUS.match(text.removeprefix("<").strip())
        if status and (head is not None or problem is not None or text in {"", "<", ">"}):
            if url is not None and status >= 200:
                yield Answer(url, status, target)
            elif is_first and status >= 200:
                text = f"an answer {status} without its URL: put it on a line before, or use curl -v"
                yield Diagnostic("answers", text, name, begin, failed=True)
            is_first = is_first and status < 200
            is_end = status not in REDIRECTS and status >= 200 and "established" not in reason
            if target is not None:
                hops += 1
                url = target if hops < MOST and len(target) <= _LONGEST else None
            elif is_end:
                url = None
            status, target = 0, None
        if head is not None:
            status, reason, begin = int(head[1]), head[2], place
        elif (request := _REQUEST.match(text)) is not None:
            path = request[2]
        elif text.lower().startswith("> host:"):
            url, path, hops = f"http://{text[7:].strip()}{path}", "/", 0
        elif (alone := _URL.fullmatch(text)) is not None and not status:
            url, hops = alone[1], 0
        elif status in REDIRECTS and (field := _LOCATION.match(text)) is not None:
            target = whatwg.parse(field[1].strip(), url)


# --- tables and JSON --------------------------------------------------------------------------------------------------

# Names of columns and keys, only their letters, in lower case; the first name that is present counts.
_NAMES: Final = {
    "url": "url address uri link urlname request destination",
    "status": "statuscode httpstatuscode httpstatus responsecode httpcode status code result",
    "target": "location redirecturl redirecturi redirecttarget redirect target",
    "end": "urleffective finalurl effectiveurl finaldestination finaladdress",
    "date": "date time timestamp crawltimestamp checktime lastchecked",
    "problem": "errormsg error message failure reason text",
}
_WANTED: Final = {role: words.split() for role, words in _NAMES.items()}
_NO_LETTER: Final = re.compile(r"[^a-z]+")


def _tabled(name: str, data: bytes) -> Iterator[Answer | Diagnostic]:
    """Yield the answers in JSON, JSON lines, or a table with a header; and a diagnostic for each unreadable line.

    For example, `{"url": "http://h/a", "status": 404}`, or the header `Address,Status Code` of a crawler.
    """
    for line, found in _objects(name, data):
        if isinstance(found, str):
            yield Diagnostic("answers", f"this line cannot be read: {found}", name, line, failed=True)
            continue
        known = {_NO_LETTER.sub("", str(key).lower()): value for key, value in found.items()}
        fields = {role: next((known[word] for word in words if word in known), None) for role, words in _WANTED.items()}
        if isinstance(fields["url"], str) and fields["status"] is not None:
            yield _object_answer(fields, line)


def _object_answer(fields: dict[str, Any], line: int) -> Answer:
    state = fields["status"]
    if isinstance(state, dict):  # lychee writes {"text": ..., "code": ...}
        fields["problem"] = fields["problem"] or state.get("text")
        state = state.get("code")
    code = columns.status(str(state))
    number = code[0] if code is not None and code[0] >= 100 else None
    is_end = number not in REDIRECTS
    target = (fields["end"] if is_end else None) or fields["target"]
    url = fields["url"]
    parsed = whatwg.parse(target, url) if isinstance(target, str) and columns.is_url(target) else None
    if is_end and (parsed is None or identity.normal(parsed) == identity.normal(url)):
        parsed, is_end = None, False
    problem = fields["problem"] if number is None and isinstance(fields["problem"], str) else ""
    date = fields["date"] if isinstance(fields["date"], str) else ""
    return Answer(url, number, parsed, problem or ("" if number else "no status"), date, line=line, is_end=is_end)


def _objects(name: str, data: bytes) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield the objects of JSON, also nested ones, or the rows of a table or their problems, with their lines."""
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"{", b"["}:
        yield from _rows(name, data)
        return
    try:
        values = [(1, json.loads(data.decode("utf-8-sig")))]
    except (ValueError, RecursionError):
        values = list(_json_lines(name, data))
    for line, value in values:
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                yield line, one
            inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
            waiting.extend(reversed(list(inner)))


def _json_lines(name: str, data: bytes) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DocumentError(Diagnostic("answers", f"this is no JSON: {error}", name, number)) from error


def _rows(name: str, data: bytes) -> Iterator[tuple[int, dict[str, Any] | str]]:
    rows = cells.table(name, data).rows
    header: list[str] | None = None
    for row in rows:
        if row.problem is not None:
            yield row.first, row.problem
        elif header is None:
            names = {_NO_LETTER.sub("", cell.lower()) for cell in row.cells}
            if names & set(_WANTED["url"]) and names & set(_WANTED["status"]):
                header = row.cells
            elif row.cells and columns.is_url(row.cells[0]):
                header = ["url", "status", "location", "date"]
        if header is not None and row.problem is None:
            yield row.first, dict(zip(header, row.cells, strict=False))
