r"""Change the old URLs that a document has outside its links, each in the escaping of its place.

In: an entity and the rules. Out: a `Place` for each mention of a host (`mentions`), with its new bytes or with the
reason why it stays, and the edits. For example, `"http:\/\/old.example\/a"` becomes `"http:\/\/new.example\/a"`.

The lengths of the strings around a change, as PHP serializes them, are computed again: `s:19:"http://old.example/";`.
They count bytes of the decoded text, so `\"` in a dump of a database is one byte. How a place is escaped is not known:
the first way in which the old length fits the text is taken, and where none does the string stays.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from contextlib import suppress
from functools import lru_cache
from html import unescape
from os.path import commonprefix
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import Edit, Link, Part
from absolve.formats import registry, sniffing
from absolve.rewriting import mentions
from absolve.rewriting.mentions import DOT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from absolve.document.entity import Entity
    from absolve.rewriting.mentions import Mention
    from absolve.rewriting.remap import Remapping

_SLASH: Final = rb"(?:\\{0,7}/|%(?:25){0,7}2F|\\{1,7}(?:u002F|x2F)|&#0{0,5}47;|&#x0{0,4}2F;|&sol;)"
_COLON: Final = rb"(?:\\{0,7}:|%(?:25){0,7}3A|\\{1,7}(?:u003A|x3A)|&#0{0,5}58;|&#x0{0,4}3A;|&colon;)"
# What precedes a host: two slashes, perhaps a scheme, which does not begin in an escape before it (`\nhttp:` in a string)
_LEAD: Final = re.compile(
    rb"(?:(?:\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|\\[0nrtbfv]|%%[0-9A-F]{2}|(?<![A-Z0-9+.-]))"
    rb"(?P<scheme>[A-Z][A-Z0-9+.-]*)(?P<colon>%b))?(?P<slash>%b)(?P=slash)\Z" % (_COLON, _SLASH),
    re.IGNORECASE,
)
_QUESTION_MARK: Final = ord("?")  # of a processing instruction, or of PHP
_HEAD: Final = 4096  # bytes that show whether it is text
_LONGEST_LEAD: Final = 96
_AFTER_SLASH: Final = re.compile(_SLASH + rb"\Z", re.IGNORECASE)
# A port, a path, a query, as far as they are surely of the URL
_UNIT: Final = rb"%b|%%[0-9A-F]{2}|\\{1,7}u00(?:26|2d|3[adf])|&(?:amp;|(?![A-Z#]))|[A-Z0-9._~!$*+=?#:@-]|[\xc2-\xf4][\x80-\xbf]+"
_TAIL: Final = re.compile(rb"(?=%b|[?#:@])(?:%b)*" % (_SLASH, _UNIT % _SLASH), re.IGNORECASE)
_UNITS: Final = re.compile(_UNIT % _SLASH, re.IGNORECASE)
_LONGEST_TAIL: Final = 2048
_OF_TEXT: Final = b".,:!?*"  # at the end of a URL in a text
_MAY_BE_WRITTEN: Final = re.compile(r"[A-Za-z0-9._~/:%?=#@!$*+-]+")
_RESERVED: Final = re.compile(rb"[^A-Za-z0-9_~-]")
_NAMESPACE: Final = re.compile(rb"xmlns(?::[^\s=]{1,99})?\s{0,9}=\s{0,9}[\"']\Z", re.IGNORECASE)
_SCRIPTS: Final = (*registry.SCRIPT_SUFFIXES, ".ts")
_BREAK: Final = re.compile(rb"[\"']\s{0,9}[+.]\s{0,9}[\"']")  # between two strings of a program

# Why a mention stays.
NO_RULE: Final = "no rule is for this URL"
ALONE: Final = "it is a host, not a URL"
IN_PATH: Final = "it is in the path of another URL"
IN_NAME: Final = "it is a name in markup, as of a namespace"
BAD_LENGTH: Final = "a serialized length around it does not fit the text"
NOT_HERE: Final = "the new URL cannot be written here"
LONGER: Final = "its host is a longer one"
SPLIT: Final = "it is split into strings"
ENCODED: Final = "it is encoded in base64, or in hexadecimal"


class Place(NamedTuple):
    """A mention: its bytes `start` to `end`, its kind, its URL; the new bytes, the new URL and the rule, or `why` not."""

    start: int
    end: int
    kind: str
    old: str
    new: bytes = b""
    url: str = ""
    rule: str = ""
    why: str = ""


class MentionEdits:
    """The changes to mentions by rules; `olds` and `news` are the hosts of their old and new URLs."""

    def __init__(self, rules: Remapping, olds: Collection[str], news: Collection[str]) -> None:
        self.rules = rules
        self._last: tuple[Entity | None, tuple[list[Place], list[Edit]]] = (None, ([], []))  # of the last entity
        olds = [name for host in olds for name in (host, _in_unicode(host)) if name]
        self._names = mentions.pattern(olds, spelled=True)
        self._known = frozenset(host.encode() for host in (*olds, *news))
        hosts = b"|".join(re.escape(host.encode()) for host in olds)
        self._longer = re.compile(rb"%b(?P<host>(?:%b)[A-Za-z0-9.-]*[A-Za-z0-9])" % (_SLASH, hosts), re.IGNORECASE)
        self._encoded = [text for host in olds for text in _encoded(f"//{host}".encode())]

    def edits(self, entity: Entity) -> Iterator[Edit]:
        """Yield the edits in the own bytes of an entity, in order."""
        places, lengths = self._found(entity)
        data = entity.data if places else b""
        changed = (_short(data, place.start, place.end, place.new) for place in places if not place.why)
        yield from sorted([*changed, *lengths], key=lambda edit: edit.start) if lengths else changed

    def places(self, entity: Entity) -> list[Place]:
        """Return the mentions in the own bytes of an entity, in order: not those that are links, or in inner documents."""
        return self._found(entity)[0]

    def merged(self, made: Iterator[list[Edit]], entity: Entity) -> Iterator[list[Edit]]:
        """Yield the edits of links, in order, with the edits of mentions; what a link's edit replaces is not edited."""
        waiting = self.edits(entity)
        first = next(waiting, None)
        reached = 0
        for some in made:
            if first is None:
                yield some
                continue
            found: list[Edit] = []
            for edit in some:
                while first is not None and first.start < edit.end:
                    if reached <= first.start and first.end <= edit.start:
                        found.append(first)
                    first = next(waiting, None)
                found.append(edit)
                reached = edit.end
            yield found
        if first is not None:
            yield [edit for edit in (first, *waiting) if reached <= edit.start]

    def _found(self, entity: Entity) -> tuple[list[Place], list[Edit]]:
        if self._last[0] is not entity:
            self._last = entity, self._searched(entity)
        return self._last[1]

    def _searched(self, entity: Entity) -> tuple[list[Place], list[Edit]]:
        media_type = entity.media_type
        row = registry.WALKERS.get(media_type)
        is_text = media_type == registry.OTHER or (row is not None and row.charset != "none")
        data = entity.data if is_text else b""
        if self._names is None or not entity.charset.transparent or sniffing.looks_binary(data[:_HEAD]):
            return [], []
        if media_type == registry.OTHER and entity.name.lower().endswith(_SCRIPTS):
            media_type = registry.JAVASCRIPT
        every = list(mentions.mentions(data, self._names, media_type))
        doubts = [*self._doubts(data)]
        if not every and not doubts:
            return [], []
        owners = _Owners(data, entity)
        found = [place for one in every if (place := self._place(data, one, owners)) is not None]
        found += [place for place in doubts if owners.at(place.start) is None]
        found.sort()
        return _with_lengths(data, found, owners)

    def _doubts(self, data: bytes) -> Iterator[Place]:
        """Yield what cannot be changed: a longer host, a host in parts or encoded."""
        for found in self._longer.finditer(data):
            if found["host"].lower() not in self._known:
                yield _stays(data, *found.span("host"), "text", LONGER)
        for found in _BREAK.finditer(data):
            before, after = data[max(found.start() - 64, 0) : found.start()], data[found.end() : found.end() + 64]
            whole = self._names.pattern.search(before + after) if self._names is not None else None
            if whole is not None and whole.start() < len(before) < whole.end():
                start, end = found.start() + whole.start() - len(before), found.end() + whole.end() - len(before)
                yield _stays(data, start, end, "text", SPLIT)
        for text in self._encoded:
            at = data.find(text)
            while at >= 0:
                yield _stays(data, at, at + len(text), "text", ENCODED)
                at = data.find(text, at + len(text))

    def _place(self, data: bytes, one: Mention, owners: _Owners) -> Place | None:
        """Return a mention with its new bytes; None for one that a link or an inner document owns."""
        lead = _LEAD.search(data[max(one.start - _LONGEST_LEAD, 0) : one.start])
        start = one.start
        if lead is not None:
            start -= lead.end() - lead.start("scheme" if lead["scheme"] else "slash")
        owner = owners.at(one.start)
        if owner is not None and (owner.is_part or not data[owner.start : min(start, owner.start + _HEAD)].strip()):
            return None
        stays = _stays(data, one.start, one.end, one.kind, ALONE)
        tail = _TAIL.match(data, one.end, one.end + _LONGEST_TAIL)
        rest = tail[0].rstrip(_OF_TEXT) if tail is not None else b""
        if lead is None or rest[:1] == b"@" or (not lead["scheme"] and data[start - 1 : start] == b":"):
            return stays
        stays = stays._replace(start=start)
        is_below = owner is not None and owners.queries.next(owner.start) >= start
        if is_below or _AFTER_SLASH.search(data[max(start - 9, 0) : start]):
            return stays._replace(why=IN_PATH)
        if one.kind == "attribute" and one.inside and data[one.inside - 1] != _QUESTION_MARK:
            is_name = owners.equals.next(one.inside) >= start
            if is_name or _NAMESPACE.search(data[max(start - 128, 0) : start]):
                return stays._replace(why=IN_NAME)
        if owner is not None and not owner.is_quoted:  # its link may be encoded as a whole
            return stays._replace(why=NOT_HERE)
        return self._written(data, stays, lead, data[one.start : one.end], rest, is_block=data.startswith(b" wp:", one.inside))

    def _written(
        self, data: bytes, stays: Place, lead: re.Match[bytes], host: bytes, rest: bytes, *, is_block: bool
    ) -> Place:
        """Return a mention with the bytes of its new URL; the end of the old one stays as it is written."""
        slash, scheme = lead["slash"], (lead["scheme"] or b"").decode()
        if slash[:1] == b"%":
            rest = rest.partition(b"&")[0]
        units: list[bytes] = _UNITS.findall(rest)
        texts = [_plain(unit, slash) for unit in units]
        url = f"//{_plain(host, slash)}{''.join(texts)}"
        new = self.rules.led(f"{scheme}:{url}") if scheme else self._without_scheme(url)
        if new is None:
            return stays._replace(why=NO_RULE)
        kept, at = len(rest), len(new)
        for unit, text in zip(reversed(units), reversed(texts), strict=True):
            if not new.endswith(text, 0, at):
                break
            kept -= len(unit)
            at -= len(text)
        if not _MAY_BE_WRITTEN.fullmatch(new[:at]):
            return stays._replace(why=NOT_HERE)
        dot = next(iter(re.findall(DOT, host)), b".")
        percent = re.sub(b"2F", b"", slash, flags=re.IGNORECASE) if slash[:1] == b"%" else b""  # `%`, or `%25`
        colon = lead["colon"] or (percent + b"3A" if percent else b":")
        spelled = {b"/": slash, b":": colon, b".": dot}

        def written(found: re.Match[bytes]) -> bytes:
            return spelled.get(found[0]) or (b"%b%02X" % (percent, ord(found[0])) if percent else found[0])

        value = _RESERVED.sub(written, new[:at].encode())
        if stays.kind == "comment" and b"--" in value:
            if not is_block:
                return stays._replace(why=NOT_HERE)
            value = value.replace(b"--", rb"\u002d\u002d")
        end = stays.end + kept
        old = data[stays.start : stays.end + len(rest)].decode("utf-8", "replace")
        return stays._replace(end=end, old=old, new=value, url=new, rule=self.rules.matched, why="")

    def _without_scheme(self, url: str) -> str | None:
        """Return the new URL of `//host/path`, without a scheme, too; None if it depends on the scheme."""
        found = {new.partition(":")[::2] for scheme in ("https:", "http:") if (new := self.rules.led(scheme + url))}
        rests = {rest for _, rest in found}
        return rests.pop() if len(rests) == 1 and {scheme for scheme, _ in found} <= {"http", "https"} else None


def _short(data: bytes, start: int, end: int, new: bytes) -> Edit:
    """Return an edit without the bytes at its start that stay."""
    same = len(commonprefix([data[start:end], new]))
    return Edit(start + same, end, new[same:])


def _stays(data: bytes, start: int, end: int, kind: str, why: str) -> Place:
    return Place(start, end, kind, data[start:end].decode("utf-8", "replace"), why=why)


def _in_unicode(host: str) -> str:
    """Return a host that is written in ASCII as people write it; "" for any other."""
    with suppress(UnicodeError):
        return host.encode().decode("idna") if "xn--" in host else ""
    return ""


class _Owner(NamedTuple):
    start: int
    end: int
    is_part: bool
    is_quoted: bool


class _Owners:
    """The links and parts of an entity, and where in its bytes the next `?`, `#` or `&` is, and the next `=`.

    A link that no rewrite changes is none: for a program that reads it, it is a string, for example in JSON-LD.
    """

    def __init__(self, data: bytes, entity: Entity) -> None:
        every = entity.events
        events = (one for one in every if type(one) is Part or (type(one) is Link and one.place.stays != "always"))
        found = (_Owner(one.start, one.end, type(one) is Part, one.coding.slot is None) for one in events)
        self._owners = sorted(found)
        self._starts = [owner.start for owner in self._owners]
        self.queries = _Next(data, re.compile(b"[?#&]"))
        self.equals = _Next(data, re.compile(b"="))

    def at(self, position: int) -> _Owner | None:
        """Return the link or part around an offset."""
        number = bisect_right(self._starts, position) - 1
        return self._owners[number] if number >= 0 and position < self._owners[number].end else None

    def next_start(self, position: int, otherwise: int) -> int:
        """Return the start of the first span behind an offset."""
        number = bisect_left(self._starts, position)
        return self._starts[number] if number < len(self._starts) else otherwise


class _Next:
    """Where the next match in some bytes is, for offsets that mostly grow: each byte is searched once."""

    def __init__(self, data: bytes, pattern: re.Pattern[bytes]) -> None:
        self._data = data
        self._pattern = pattern
        self._first, self._at = 1, 0

    def next(self, position: int) -> int:
        if not self._first <= position <= self._at:
            found = self._pattern.search(self._data, position)
            self._first, self._at = position, found.start() if found is not None else len(self._data)
        return self._at


@lru_cache(maxsize=4096)
def _plain(unit: bytes, slash: bytes) -> str:
    """Return what a unit of a URL means: for example, `/` for `\\/`; percent escapes where the slashes are such."""
    if slash[:1] == b"%":
        for _ in range(slash.count(b"25") + 1):
            unit = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), unit)
    if unit[:1] == b"&":
        return unescape(unit.decode())
    plain = re.sub(rb"\\+(?:[ux](?:00)?([0-9A-Fa-f]{2}))?", lambda found: bytes.fromhex((found[1] or b"").decode()), unit)
    return plain.decode("utf-8", "surrogateescape")


def _encoded(text: bytes) -> Iterator[bytes]:
    """Yield what a text is in hexadecimal, and in base64 for each of the three places where it may begin."""
    yield from (text.hex().encode(), text.hex().upper().encode())
    for before in range(3):
        yield b64encode(bytes(before) + text)[(0, 2, 3)[before] : (before + len(text)) * 8 // 6]


# --- lengths of strings that PHP serialized -----------------------------------------------------------------------------

_QUOTE: Final = rb"(?:\\{0,7}\"|&quot;|&#0{0,3}34;)"
# A string, or an object that serializes itself (`C:`), whose length is the length of what is between its braces
_HEADER: Final = re.compile(rb"(?<![A-Za-z0-9_])(?:[sS]|C:[0-9]{1,9}:(?P<q>%b)[\w\\]{1,99}(?P=q)):(?P<size>[0-9]{1,9}):(?:(?P<open>%b)|\{)" % (_QUOTE, _QUOTE))
_PLAIN: Final = re.compile(rb"\]\]><!\[CDATA\[")  # between two sections, as WordPress writes `]]>`
_DUMP: Final = re.compile(rb"\\.|''", re.DOTALL)
_JSON: Final = re.compile(rb"\\u[0-9A-Fa-f]{4}|\\.")
_TWICE: Final = re.compile(rb"\\\\(?:\\.|[^\\])|\\.", re.DOTALL)  # JSON in a dump
_MARKUP: Final = re.compile(rb"&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CSV: Final = re.compile(rb"\"\"")
_LONGEST: Final = 40  # bytes of a unit
_MOST_WORK: Final = 32  # bytes that are decoded, per byte of the document
_WAYS: Final = {
    b'"': (_PLAIN, _DUMP, _MARKUP),
    b'""': (_CSV,),
    b'\\"': (_DUMP, _JSON),
    b'\\\\\\"': (_TWICE,),
}
_EACH_ONE: Final = frozenset({_DUMP, _TWICE, _CSV})
_Way = re.Pattern[bytes]


class _String(NamedTuple):
    """A serialized string around a change: its content, where its length is written, and how its bytes are escaped."""

    start: int
    end: int
    digits: tuple[int, int]
    way: _Way


def _with_lengths(data: bytes, found: list[Place], owners: _Owners) -> tuple[list[Place], list[Edit]]:
    """Return the places and the edits of lengths; a place in a string whose length does not fit the text stays."""
    changed = [place for place in found if not place.why]
    strings, unfit = _strings(data, [place.start for place in changed], owners)
    if unfit:
        ends = list(accumulate((end for _, end in unfit), max))
        starts = [start for start, _ in unfit]

        def is_unfit(place: Place) -> bool:
            number = bisect_right(starts, place.start) - 1
            return number >= 0 and place.start < ends[number]

        found = [one._replace(why=BAD_LENGTH) if not one.why and is_unfit(one) else one for one in found]
        changed = [place for place in found if not place.why]
    starts = [place.start for place in changed]
    grown: dict[_Way, list[int]] = {}
    edits: list[Edit] = []
    stack: list[list[int]] = []  # of open strings: the number, and how much the lengths inside have grown

    def close(until: int) -> None:
        while stack and strings[stack[-1][0]].end <= until:
            number, inner = stack.pop()
            string = strings[number]
            if string.way not in grown:
                deltas = (_size(one.new, string.way) - _size(data[one.start : one.end], string.way) for one in changed)
                grown[string.way] = list(accumulate(deltas, initial=0))
            first, last = (bisect_left(starts, edge) for edge in (string.start, string.end))
            delta = grown[string.way][last] - grown[string.way][first] + inner
            old = data[slice(*string.digits)]
            if delta:
                new = b"%d" % (int(old) + delta)
                edits.append(Edit(*string.digits, new))
                inner += len(new) - len(old)
            if stack:
                stack[-1][1] += inner

    for number, string in enumerate(strings):
        close(string.start)
        stack.append([number, 0])
    close(len(data))
    return found, edits


def _strings(data: bytes, starts: Sequence[int], owners: _Owners) -> tuple[list[_String], list[tuple[int, int]]]:
    """Return the strings around these offsets, in order, and the spans of those whose length does not fit."""
    strings: list[_String] = []
    unfit: list[tuple[int, int]] = []
    around: list[int] = []  # the ends of the strings around a header
    closers: dict[bytes, int] = {}
    work = 0
    for header in _HEADER.finditer(data) if starts else ():
        start, size = header.end(), int(header["size"])
        place = bisect_left(starts, start)
        if place == len(starts) or starts[place] > start + size * _LONGEST:
            continue
        while around and around[-1] <= start:
            around.pop()
        limit = min([owners.next_start(start, len(data)), *around[-1:]])
        work += min(size, limit - start)
        way, end = None, -1
        for opening, candidate in _ways(data, header) if work <= len(data) * _MOST_WORK else ():
            first = start + len(opening) - len(header["open"] or b"")
            end = _end(data, first, size, candidate, limit)
            if 0 <= end <= limit and data.startswith(opening + b";" if header["open"] else b"}", end):
                start, way = first, candidate
                break
        if way is not None:
            if starts[place] < end:
                strings.append(_String(start, end, header.span("size"), way))
                around.append(end)
            continue
        closer = (header["open"] + b";") if header["open"] else b"}"
        if closers.get(closer, 0) < start:
            at = data.find(closer, start)
            closers[closer] = at if at >= 0 else len(data)
        closed = closers[closer] if closers[closer] < len(data) else start
        unfit.append((start, max(closed, start + size)))
    return strings, unfit


def _ways(data: bytes, header: re.Match[bytes]) -> Iterator[tuple[bytes, _Way]]:
    """Yield how the text behind a header may be escaped, by its quote as it is written."""
    quote = header["open"] or header["q"]
    if quote == b'"' and data.startswith(b'""', header.end() - 1):
        yield b'""', _CSV
    for way in _WAYS.get(quote, (_MARKUP,) if quote[:1] == b"&" else ()):
        yield header["open"] or b"", way


def _end(data: bytes, start: int, size: int, way: _Way, limit: int) -> int:
    """Return the offset after this number of decoded bytes; -1 if it is inside a unit."""
    while size > 0:
        unit = way.search(data, start, min(start + size + _LONGEST, limit))
        if unit is None or unit.start() >= start + size:
            break
        size -= unit.start() - start + (1 if way in _EACH_ONE else _decoded(unit[0]))
        start = unit.end()
    return start + size if size >= 0 else -1


def _size(text: bytes, way: _Way) -> int:
    return len(text) - sum(len(unit) - _decoded(unit) for unit in way.findall(text))


def _decoded(unit: bytes) -> int:
    """Return how many bytes a unit is: for example, 1 for `\\"` and 2 for `&eacute;`."""
    if unit[:1] == b"]":
        return 0
    if unit[:1] == b"&":
        return len(unescape(unit.decode()).encode("utf-8", "replace"))
    if unit[:2] == b"\\u" and len(unit) > 2:  # a half of a surrogate pair is two of its four bytes
        code = int(unit[2:], 16)
        return 2 if 0xD800 <= code < 0xE000 else len(chr(code).encode())
    return 1
