"""Facts about documents that are no links: events of walkers for the table of documents only, which few runs need."""

from __future__ import annotations

from typing import NamedTuple


class Capture(NamedTuple):
    """Facts by which a container describes a document in it, for the table of documents only.

    An event of a message, or of an entry of an archive, about its body; the field `capture` of a Part of an archive.
    `date` is as written there. `size` is 0 for a body that is empty, None for one that is unknown or not here.
    `kind` is the type of a WARC record; `refers_to`, `refers_to_date` and `payload_digest` are fields of it. `name` is
    the URL by which a message knows its part (`cid:`).
    """

    status: int | None = None
    date: str = ""
    media_type: str = ""
    size: int | None = None
    method: str = ""
    kind: str = ""
    refers_to: str = ""
    refers_to_date: str = ""
    payload_digest: str = ""
    name: str = ""


class PageFacts(NamedTuple):
    """Facts about a page that are no links, for the table of documents only; the last event of a walker.

    `title` is None without a title element. `canonical` is a reference, "" for none. `anchors` are what a fragment can
    lead to, each once, in document order. `problems` are codes for the column of that name. `alternates` are the
    languages and references of links to the same page in other languages.
    """

    title: str | None
    lang: str
    canonical: str
    robots: str
    anchors: list[str]
    problems: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
