"""Read the captures in messages: mail, MHTML, mailboxes. Each part with a document is one, by its Content-Location.

In: an input. Out: a `Captured` for each part, whose URL is its Content-Location, or its Content-ID, or a number below
`package:///`; and its content. Parts are those that Python's email package finds; bases are those of the walk.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections import defaultdict, deque
from email.message import Message
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin

from absolve.core.errors import FAULTS, Diagnostic, DocumentError
from absolve.core.model import PACKAGE_ROOT, Document
from absolve.document.walk import inners, walk
from absolve.formats import registry
from absolve.mirror import browsers
from absolve.mirror.capture import SCHEMES, Captured, Where, digits_of
from absolve.mirror.payloads import Broken, Payload, media_type_of
from absolve.run import sources
from absolve.urls.identity import normal, percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.mirror.payloads import Posted
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

_DEEPEST: Final = 50  # multiparts inside multiparts
_LONGEST: Final = 4096  # characters of a header field that is a URL
_NEXT: Final = re.compile(rb"\n\r?\n(?=From )")  # before a further message of a mailbox
_BASES: Final = ("Base", "Content-Base", "Content-Location")


class _Part:
    """A part with a document: its URLs, of which the first one is its own, and its content."""

    def __init__(self, message: Message, urls: list[str], date: str) -> None:
        self.message = message
        self.urls = urls
        self.date = date

    @property
    def data(self) -> bytes:
        found = self.message.get_payload(decode=True)
        return found if isinstance(found, bytes) else b""

    @property
    def media_type(self) -> str:
        """The media type with its charset."""
        essence = self.message.get_content_type()
        charset = self.message.get_content_charset()
        return f"{essence}; charset={charset}" if charset and essence.startswith("text/") else essence


_Loaded = tuple[list[_Part], list["Entity | None"], str | None]


class MessageReader:
    """The captures of a message or a mailbox; the place of each is its number. `data`: its bytes, if known."""

    def __init__(self, input_: Input, number: int, how: ReadOptions, data: bytes | None = None) -> None:
        self._known = data
        self._input = input_
        self._number = number
        self._how = how
        self._loaded: _Loaded | None = None
        self._is_cut = False
        self._root = f"{PACKAGE_ROOT}{quote(PurePosixPath(input_.place).name)}/"

    def captured(self, posted: set[str]) -> Iterator[Captured | Posted | Broken]:  # noqa: ARG002 - of the protocol
        """Yield each part under its URL; a Content-ID leads to the part by a redirect."""
        try:
            parts = list(self._parts(self._data()))
        except DocumentError as error:
            yield Broken(error.diagnostic._replace(failed=True))
            return
        except FAULTS as error:
            text = f"this message cannot be read: {type(error).__name__}: {error}"
            yield Broken(Diagnostic("unreadable", text, self._input.name, failed=True))
            return
        if self._is_cut:
            text = f"parts more than {_DEEPEST} multiparts deep are not read"
            yield Broken(Diagnostic("too-deep", text, self._input.name, failed=True))
        for index, part in enumerate(parts):
            data = part.data
            where = Where(self._number, index, 0)
            media_type = media_type_of(part.media_type, data)
            fields = browsers.kept_fields((name, str(value)) for name, value in part.message.items())
            yield Captured(
                *(part.urls[0], 200, part.date, media_type, where),
                size=len(data),
                shown=browsers.allowed(media_type, fields, data),
                looks=browsers.markup(data),
                fields=fields,
            )
            for other in part.urls[1:]:
                yield Captured(other, 302, part.date, "", where, part.urls[0])

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of parts, with their entities where the walk has them."""
        if self._loaded is None:
            self._loaded = self._load()
        parts, entities, page = self._loaded
        for where in places:
            part = parts[where.offset]
            content = part.data
            entity = entities[where.offset]
            if entity is not None and not _is_usable(entity.bases.own.url):
                entity = None  # a style sheet that a browser made of one in the page, as Content-ID: the page's
            media_type = media_type_of(part.media_type, content)
            yield where, Payload(content, media_type, entity=entity, base=None if entity is not None else page)

    def _load(self) -> _Loaded:
        """Return the parts, the entity of each where the walk has it, and the URL of the first one with one."""
        data = self._data()
        parts = list(self._parts(data))
        found: dict[bytes, deque[Entity]] = defaultdict(deque)
        for entity in self._entities(data):
            found[entity.own_data].append(entity)
        entities = [queue.popleft() if (queue := found.get(part.data)) else None for part in parts]
        page = next((part.urls[0] for part in parts if _is_usable(part.urls[0])), None)
        return parts, entities, page

    def _data(self) -> bytes:
        if self._known is not None:
            return self._known
        return bytes(sources.read(self._input.name, max_size=self._how.settings.max_size).data)

    def _entities(self, data: bytes) -> list[Entity]:
        """Return the documents that the walk finds in a message, in their order."""
        document = Document(data, name=self._input.name, media_type=self._how.media_type, url=self._input.url)
        try:
            outer = walk(document, self._how.settings)
        except DocumentError:
            return []
        found: list[Entity] = []
        _collect(outer, found)
        return found

    def _parts(self, data: bytes) -> Iterator[_Part]:
        number = 0
        for message in _messages(data):
            date = digits_of(_iso_date(message))
            for part, base in self._leaves(message, self._input.url or ""):
                number += 1
                yield _Part(part, self._urls(part, base, number), date)

    def _leaves(self, message: Message, base: str, depth: int = 0) -> Iterator[tuple[Message, str]]:
        """Yield the parts that are no multiparts, each with the base of the entities around it."""
        if depth > _DEEPEST:
            self._is_cut = True
            return
        inner = message.get_payload()
        if isinstance(inner, list):
            for name in _BASES:
                if value := _field(message, name):
                    base = urljoin(base, value.removeprefix("<URL:").removesuffix(">"))
                    break
            for part in inner:
                if isinstance(part, Message):
                    yield from self._leaves(part, base, depth + 1)
        else:
            yield message, base

    def _urls(self, part: Message, base: str, number: int) -> list[str]:
        location = _field(part, "Content-Location")
        found: list[str] = []
        if location:
            url = normal(urljoin(base, location)) or normal(self._root + quote(location))
            found += [url] if url is not None and (_is_usable(url) or url.startswith(("cid:", PACKAGE_ROOT))) else []
        if identity := _field(part, "Content-ID").strip("<> "):
            found.append(f"cid:{percent_decoded(identity)}")
        if not found or found[0].startswith("cid:"):
            name = part.get_filename() or f"part-{number}"
            found.insert(0, normal(f"{self._root}{number}/{quote(name, safe='')}") or f"{self._root}{number}")
        return found


def _is_usable(url: str) -> bool:
    return url.startswith(SCHEMES)


def _collect(entity: Entity, found: list[Entity]) -> None:
    for inner in inners(entity):
        if inner.part.own_charset and inner.entity.media_type in {registry.HTML, registry.XML, registry.CSS}:
            found.append(inner.entity)
        else:
            _collect(inner.entity, found)


def _messages(data: bytes) -> list[Message]:
    """Return the messages of a mailbox, or the one that the data is."""
    if not data.startswith(b"From "):
        return [email.message_from_bytes(data, policy=email.policy.compat32)]
    starts = [0, *(found.end() for found in _NEXT.finditer(data))]
    found = [data[start:end].partition(b"\n")[2] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    return [email.message_from_bytes(one, policy=email.policy.compat32) for one in found]


def _field(message: Message, name: str) -> str:
    value = str(message.get(name) or "")
    return "".join(value.split()) if len(value) <= _LONGEST else ""


def _iso_date(message: Message) -> str:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(str(message["Date"])).isoformat()
    except (TypeError, ValueError, OverflowError):
        return ""


