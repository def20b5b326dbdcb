"""Read the redirects that a server answered, from whatever recorded them, as the rules of a map.

In: the bytes of a WARC, a HAR, or what `curl -i`, `-I` or `-v` printed. Out: a `RuleSet`; the last answer of each URL
counts. curl prints no URL: it is that of the request (`-v`), of the redirect before (`-L`), or on a line of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from absolve.audit import maps
from absolve.core.errors import UsageError
from absolve.core.model import Document
from absolve.formats import registry
from absolve.tables.text import lines
from absolve.urls import whatwg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.audit.maps import RuleSet
    from absolve.document.settings import Settings

FORM: Final = "answers"
_LOOKED_AT: Final = 1 << 16
_CONTAINERS: Final = frozenset({registry.WARC, registry.HAR})
_HEADS: Final = re.compile(rb"^(?:< ?)?HTTP/[0-9.]+ [1-5][0-9][0-9]\b", re.MULTILINE)
_STATUS: Final = re.compile(r"HTTP/[0-9.]+ ([1-5][0-9][0-9])\b")
_REQUEST: Final = re.compile(r"> [A-Z]+ (\S+) HTTP/")
_URL: Final = re.compile(r"(?:==> |# |URL: )?(https?://\S+)")
_MOST_HOPS: Final = 50  # as many redirects as curl follows; more of `Location: a/` are a URL that grows without end
_LONGEST: Final = 65_536  # characters of a URL that another one is relative to, likewise

Answer = tuple[str, str, int]  # the URL, where it led, the status


def read(name: str, data: bytes, settings: Settings) -> RuleSet | None:
    """Return the rules of a file of answers, None for any other file. Raise UsageError without a redirect."""
    kind = registry.sniff(data[:_LOOKED_AT], name)
    if kind in _CONTAINERS:
        found = list(_captured(Document(data, name=name, media_type=kind), settings))
    elif _HEADS.search(data[:_LOOKED_AT]) is not None:
        found = list(_printed(data))
    else:
        return None
    last = {url: (url, target, status, name) for url, target, status in found if status in maps.REDIRECTS}
    if not last:
        raise UsageError(f"{name}: no redirect of a known URL is in these answers: a map is a file with redirects")
    made = maps.recorded((*row, line) for line, row in enumerate(last.values(), start=1))
    rules = [rule._replace(forced=True) for rule in made.rules]
    return made._replace(file=name, format=FORM, rules=rules, words=f"{len(last):,} redirects that were recorded")


def _captured(document: Document, settings: Settings) -> Iterator[Answer]:
    """Yield the redirects of a WARC or HAR: header fields and `redirectURL` of its answers."""
    from absolve.document.walk import walk
    from absolve.inventory.documents import each
    from absolve.inventory.link_rows import rows

    entity = walk(document, settings._replace(documents=True))
    known = {found.row.entity: (found.row.url, found.row.status) for found in each(entity)}
    for row in rows(entity):
        url, status = known.get(row.entity, (None, None))
        is_location = (row.element, row.attribute) in {("header", "location"), ("response", "redirectURL")}
        if is_location and url is not None and status is not None and row.target:
            yield url, row.target, status


def _printed(data: bytes) -> Iterator[Answer]:
    """Yield the redirects of what curl printed: heads of answers, perhaps with those of requests before."""
    url: str | None = None
    hops = 0  # from a URL that is named
    path, status = "/", 0  # the status is that of the head whose lines follow
    for _, line, problem in lines(data):
        text = line.strip()
        if problem is not None or text in {"", "<", ">"}:
            status = 0
        elif (request := _REQUEST.match(text)) is not None:
            path = request[1]
        elif text.lower().startswith("> host:"):
            url, path, hops = f"http://{text[7:].strip()}{path}", "/", 0
        elif (head := _STATUS.match(text.removeprefix("<").strip())) is not None:
            status = int(head[1])
        elif (alone := _URL.fullmatch(text)) is not None and not status:
            url, hops = alone[1], 0
        elif status and (field := re.match(r"(?:< ?)?location:(.*)", text, re.IGNORECASE)) is not None:
            target = whatwg.parse(field[1].strip(), url)
            if url is not None and target is not None:
                yield url, target, status
            hops += 1
            url = (target or url) if hops < _MOST_HOPS and len(target or "") <= _LONGEST else None
