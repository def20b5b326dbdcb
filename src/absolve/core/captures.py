"""Facts about documents that are no links: events of walkers for the table of documents and for mirrors only."""

from __future__ import annotations

from typing import Final, NamedTuple

LONGEST_REFERENCE: Final = 4096  # characters of a header field with the place of a document


class Capture(NamedTuple):
    """Facts by which a container describes a document in it.

    An event of a message, or of an entry of an archive, about its body; the field `capture` of a Part of an archive.
    `date` is as written there. `robots` are the rules of X-Robots-Tag. `size` is 0 for a body that is empty, None for
    one that is unknown or not here. `kind` is the type of a WARC record; `refers_to`, `refers_to_date` and
    `payload_digest` are fields of it. `name` is the URL by which a message knows its part (`cid:`).

    With `Settings.captures` there are the header fields, too, their names in lower case; `location` of a part of a
    message (a reference), `redirect` of a response, and `length`, the bytes that its content had, as far as stated.
    `title` is the subject of a message.
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
    fields: tuple[tuple[str, str], ...] = ()
    location: str = ""
    redirect: str = ""
    length: int = 0
    robots: str = ""
    title: str = ""


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
