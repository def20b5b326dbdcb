"""Walker of Safari's web archives: property lists with a page, its parts and its frames.

In: the bytes of a web archive. Out: a part for each resource, with its `WebResourceURL` as its retrieval URL (RFC 1808
3.3), and the references by which the resources are known. The binary form is only read.
An archive has a main resource, subresources, and an archive for each frame of the page (WebKit's LegacyWebArchive.cpp).
Links to its resources stay: a reader of the archive loads nothing else.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import WalkError
from absolve.core.model import ONLY_READ, BaseClaim, Capture, Finding, Layer, MessageIds, Part
from absolve.encodings.codings import IDENTITY
from absolve.formats import registry
from absolve.formats.events import EventList
from absolve.formats.http.responses import sniffed
from absolve.formats.mail.codings import Base64
from absolve.formats.plist import binary, markup
from absolve.formats.plist.binary import Data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.protocols import Coding
    from absolve.encodings.charsets import Charset
    from absolve.formats.plist.binary import Node
    from absolve.formats.protocols import WalkOptions

MAIN: Final = "WebMainResource"
SUBRESOURCES: Final = "WebSubresources"
FRAMES: Final = "WebSubframeArchives"
CONTENT: Final = "WebResourceData"
_URL: Final = "WebResourceURL"
_MEDIA_TYPE: Final = "WebResourceMIMEType"
_CHARSET: Final = "WebResourceTextEncodingName"
_NAMES: Final = frozenset({MAIN, SUBRESOURCES, FRAMES, CONTENT, _URL, _MEDIA_TYPE, _CHARSET})
_SOURCE: Final = f"{_URL} of the web archive"
_NO_PARAMETER: Final = re.compile(r'[\\"\r\n]')
_SHARED: Final = 1 << 20  # bytes that further resources may have of data and text of others, in a file of fewer bytes


class _Resource(NamedTuple):
    """One resource, with what the archive states about it."""

    url: str
    media_type: str
    charset: str
    data: Data


def walk(data: bytes, _charset: Charset, options: WalkOptions) -> EventList:
    """Return a part for each resource, and the references to all of them.

    Raise WalkError for a property list that is broken, is no web archive, or has more than `max_links` values.
    """
    table = binary.Table(data, options.max_links) if data.startswith(binary.MAGIC) else None
    top = table.tree(_NAMES) if table is not None else markup.tree(data, _NAMES, options.max_links)
    if not isinstance(top, dict) or MAIN not in top:
        raise WalkError("no-web-archive", f"this property list is no web archive: it has no {MAIN}")
    events = EventList()
    nodes = list(_nodes(top))
    found = [one for one in map(_resource, nodes) if one is not None]
    if broken := len(nodes) - len(found):
        text = f"{broken} of {len(nodes)} resources of this web archive have no {CONTENT}"
        events.append(Finding("broken-resource", text, 0, failed=True))
    events.append(MessageIds(list(dict.fromkeys(one.url for one in found if one.url))))
    for event in _parts(data, found, options):
        if isinstance(event, Part) and table is not None:
            event.signed_by = ONLY_READ
        events.append(event)
    return events


def _nodes(top: Node) -> Iterator[Node]:
    """Yield the resources of an archive and of the archives of its frames, each object once, lists of them, too."""
    seen: set[int] = set()
    waiting: list[Node] = [top]
    while waiting:
        archive = waiting.pop()
        if id(archive) in seen or not isinstance(archive, dict):
            continue
        seen.add(id(archive))
        for node in (archive.get(MAIN), *_each(archive.get(SUBRESOURCES), seen)):
            if id(node) not in seen:
                seen.add(id(node))
                yield node
        waiting += reversed(_each(archive.get(FRAMES), seen))


def _each(node: Node, seen: set[int]) -> list[Node]:
    if id(node) in seen or not isinstance(node, list):
        return []
    seen.add(id(node))
    return node


def _resource(node: Node) -> _Resource | None:
    """Return a resource; None for one without data, which WebKit does not read either."""
    if not isinstance(node, dict) or not isinstance(data := node.get(CONTENT), Data):
        return None
    values = (node.get(name) for name in (_URL, _MEDIA_TYPE, _CHARSET))
    url, media_type, charset = (value if isinstance(value, str) else "" for value in values)
    return _Resource(url, media_type, charset, data)


def _parts(data: bytes, found: list[_Resource], options: WalkOptions) -> Iterator[Part | Finding]:
    """Yield a part for each resource that is a document, with `documents` for all.

    Equal data is one object of a binary property list. Two resources with one URL, too, are one: a style sheet of two
    frames.

    What is shared is read again as long as that makes no more bytes than the file has: else a small file would take the
    work of a large one, and its mirror the disk. A finding for the resources left out is last.
    """
    unique: dict[tuple[int, str], _Resource] = {}
    for one in found:
        unique.setdefault((one.data.start, one.url), one)
    read: set[str | Data] = set()
    left, left_out = max(len(data), _SHARED), array("q")
    for one in unique.values():
        texts = {one.url, one.media_type, one.charset}
        again = sum(map(len, texts & read)) + (one.data.end - one.data.start if one.data in read else 0)
        if again > left:
            left_out.append(one.data.start)
            continue
        left -= again
        read |= texts
        part = _part(data, one, options)
        if part is not None or not one.media_type:
            read.add(one.data)
        if part is not None:
            yield part
    if left_out:
        text = f"{len(left_out)} of {len(unique)} resources are left as they are: they have too much data of others"
        yield Finding("shared-data", text, left_out[0], failed=True)


def _part(data: bytes, one: _Resource, options: WalkOptions) -> Part | None:
    """Return the part for a resource; None for one without a walker, unless `options` ask for those, too."""
    start, end, marker = one.data
    raw = data[start:end] if marker < 0 or not one.media_type else b""
    coding: Coding = IDENTITY if marker >= 0 else Base64(raw, one_line=b"\n" not in raw)
    stated = one.media_type
    if stated and (charset := _NO_PARAMETER.sub("", one.charset)):
        stated += f'; charset="{charset}"'
    media_type = stated or sniffed(raw, coding)
    if not (registry.is_read(media_type) or options.documents):
        return None
    return Part(
        media_type,
        start,
        end,
        coding,
        name="resource",
        base=BaseClaim(Layer.RETRIEVAL, one.url, _SOURCE) if one.url else None,
        own_charset=True,
        encloses=False,
        capture=Capture(media_type=stated, size=None if start < end else 0) if options.documents else None,
    )
