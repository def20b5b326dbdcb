r"""Change the old URLs that a document has outside its links, each in the escaping of its place.

In: an entity and the rules. Out: a `Place` for each mention of a host (`mentions`), with its new bytes or why it stays,
and edits. For example, `"http:\/\/old.example\/a"` becomes `"http:\/\/new.example\/a"`.

The lengths of the strings around a change, as PHP serializes them, are computed again: `s:19:"http://old.example/";`.
They count bytes of the decoded text, and how it is escaped is not known: the first way in which the old length fits the
text is taken. Where none does, the string stays.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from contextlib import suppress
from functools import lru_cache
from html import unescape
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import Edit, Link, Part
from absolve.document.resolved import Resolved, value_of
from absolve.document.walk import inner_at
from absolve.formats import registry, sniffing
from absolve.rewriting import mentions
from absolve.rewriting.edits import splice
from absolve.rewriting.mentions import DOT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from absolve.document.entity import Entity
    from absolve.rewriting.mentions import Mention
    from absolve.rewriting.remap import Remapping

_SLASH: Final = rb"(?:\\{0,7}/|%(?:25){0,7}2F|\\{1,7}(?:u002F|x2F)|&#0{0,5}47;|&#x0{0,4}2F;|&sol;)"
_COLON: Final = rb"(?:\\{0,7}:|%(?:25){0,7}3A|\\{1,7}(?:u003A|x3A)|&#0{0,5}58;|&#x0{0,4}3A;|&colon;)"
# What precedes a host: two slashes, and perhaps a scheme, which does not begin in an escape before it (`\nhttp:`)
_LEAD: Final = re.compile(
    rb"(?:(?:\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|\\[0nrtbfv]|%%[0-9A-F]{2}|(?<![A-Z0-9+.-]))"
    rb"(?P<scheme>[A-Z][A-Z0-9+.-]*)(?P<colon>%b))?(?P<slash>%b)(?P=slash)\Z" % (_COLON, _SLASH),
    re.IGNORECASE,
)
_AFTER_SLASH: Final = re.compile(_SLASH + rb"\Z", re.IGNORECASE)
_SLASHES: Final = re.compile(_SLASH + _SLASH, re.IGNORECASE)
_AFTER_PATH: Final = re.compile(
    rb"(?<!\\)(?<!\\x[0-9A-F])(?<!\\u[0-9A-F]{3})(?<!%[0-9A-F])[A-Z0-9._~-]\Z", re.IGNORECASE
)
_UNIT: Final = (  # of a port, a path, a query, as far as they are surely of the URL
    rb"%b|%%[0-9A-F]{2}|\\{1,7}u00(?:26|2d|3[adf])|&(?:amp;|(?![A-Z#]))|[A-Z0-9._~!$*+=?#:@-]|[\xc2-\xf4][\x80-\xbf]+"
    % _SLASH
)
_TAIL: Final = re.compile(rb"(?=%b|[?#:@])(?:%b)*" % (_SLASH, _UNIT), re.IGNORECASE)
_UNITS: Final = re.compile(_UNIT, re.IGNORECASE)
_MAY_BE_WRITTEN: Final = re.compile(r"[A-Za-z0-9._~/:%?=#+-]+")  # anywhere, as it is
_RESERVED: Final = re.compile(rb"[^A-Za-z0-9_~-]")
_NAMESPACE: Final = re.compile(  # of markup, of a style sheet, of a script
    rb"(?:(?:xmlns(?::[^\s=]{1,99})?|(?:target)?namespace)\s{0,9}=\s{0,9}|[a-z]NS\(\s{0,9}"
    rb"|@namespace(?:\s+[\w-]{1,99})?\s{1,9}(?:url\(\s{0,9})?)\\{0,7}[\"']?\Z",
    re.IGNORECASE,
)
_DOT: Final = re.compile(DOT)
_ESCAPE: Final = re.compile(  # of a character, perhaps of a host
    rb"\\{1,7}u([0-9A-F]{4})|\\{1,7}u\{([0-9A-F]{1,5})\}|\\{1,7}x([0-9A-F]{2})|%(?:25){0,7}([0-9A-F]{2})"
    rb"|(&(?:#[0-9]{1,7}|#x[0-9A-F]{1,6}|[A-Z][A-Z0-9]{1,31});?)",
    re.IGNORECASE,
)
_OWN: Final = re.compile(rb"\s*(?:[A-Z][A-Z0-9+.-]*:)?[/\\]*", re.IGNORECASE)
_LONGEST_START: Final = 96  # bytes of a scheme and two slashes, with escapes
_BREAK: Final = re.compile(rb"[\"']\s{0,9}[+.]\s{0,9}[\"']")  # between two strings of a program
_APART: Final = re.compile(rb":(?:%b)?\Z|\\0{0,4}3a\s?\Z" % _BREAK.pattern, re.IGNORECASE)  # the end of a scheme
_COUNTED: Final = re.compile(rb"__halt_compiler", re.IGNORECASE)  # of PHP: an archive is behind it
_FIXED: Final = re.compile(  # a text that counts or signs its bytes, or none
    rb"\A(?:\xef\xbb\xbf)?\s*+(?:%PDF-|!<arch>|d[0-9]+:|SVN-fs-dump|blob\n|feature done\n|(?:reset|commit) refs/"
    rb"|-----BEGIN PGP)|[\0-\x08\x0E-\x1A\x1C-\x1F]"
)
_START: Final = attrgetter("start")
_FAR: Final = 2048  # bytes that are searched before and behind a host
_LONGER: Final = "its host is a longer one"
_NAME: Final = "it is a name, as of a namespace"
_NOT_HERE: Final = "the new URL cannot be written here"


class Place(NamedTuple):
    """A mention: its bytes `start` to `end`, its kind, its URL; its new bytes, new URL and rule, or `why` it stays."""

    start: int
    end: int
    kind: str
    old: str
    why: str
    new: bytes = b""
    url: str = ""
    rule: str = ""


class MentionEdits:
    """The changes to mentions by rules; `olds` and `news` are the hosts of their old and new URLs."""

    def __init__(self, rules: Remapping, olds: Collection[str], news: Collection[str]) -> None:
        self.rules = rules
        self._left = 0  # bytes of URLs that are read before each ends behind the next two slashes: they overlap
        self._work = 0  # bytes of links that may be read again for a mention in them
        self._last: tuple[Entity | None, tuple[list[Place], list[Edit]]] = (None, ([], []))  # of the last entity
        hosts = [name.encode() for host in olds for name in (host, _in_unicode(host)) if name]
        self._names = mentions.pattern([host.decode() for host in hosts], spelled=True)
        self._known = frozenset((*hosts, *(host.encode() for host in news)))
        names = b"|".join(map(re.escape, hosts))
        self._longer = re.compile(_SLASH + rb"((?:%b)[A-Za-z0-9.-]*[A-Za-z0-9])" % names, re.IGNORECASE)
        before, after = rb"\*\.|/[^\s\"'<>/@]{1,99}@", rb"(?![A-Za-z0-9_-])"
        beside = rb"(?:%b)(?:%b)%b|(?<![A-Za-z0-9@._-])(?:%b)[_-]+%b" % (before, names, after, names, after)
        self._beside = re.compile(beside, re.IGNORECASE)
        self._encoded = [text for host in hosts for text in _encoded(b"//" + host)]

    def merged(self, made: Iterator[list[Edit]], entity: Entity) -> Iterator[list[Edit]]:
        """Yield the edits of links, in order, with the edits of mentions, also of those in what a link keeps."""
        places, lengths = self.found(entity)
        data = entity.data if places else b""
        changed = (_edit(data, place) for place in places if not place.why)
        waiting = sorted([*lengths, *changed], key=lambda edit: -edit.start)
        reached = 0
        for some in made:
            found: list[Edit] = []
            for edit in some:
                inside: list[Edit] = []
                while waiting and waiting[-1].start < edit.end:
                    first = waiting.pop()
                    if reached <= first.start:
                        (found if first.end <= edit.start else inside).append(first)
                found.append(_with(edit, inside, data))
                reached = edit.end
            yield found
        yield [edit for edit in reversed(waiting) if reached <= edit.start]

    def found(self, entity: Entity) -> tuple[list[Place], list[Edit]]:
        """Return the mentions in the own bytes of an entity, in order, but for links, and the edits of lengths."""
        if self._last[0] is not entity:
            self._last = entity, self._searched(entity)
        return self._last[1]

    def _searched(self, entity: Entity) -> tuple[list[Place], list[Edit]]:
        media_type = entity.media_type
        row = registry.WALKERS.get(media_type)
        is_text = media_type == registry.OTHER or (row is not None and row.charset != "none")
        data = entity.data if is_text and entity.charset.transparent else b""
        if self._names is None or sniffing.looks_binary(data[:_FAR]):
            return [], []
        if media_type == registry.OTHER and entity.name.lower().endswith(registry.SCRIPT_SUFFIXES):
            media_type = registry.JAVASCRIPT
        # A link that no rewrite changes owns nothing: in JSON-LD it is a string.
        links = (one for one in entity.events if type(one) is Link and one.place.stays != "always")
        search = self._names.pattern.search  # most parts have no mention
        parts = (
            one
            for number, one in enumerate(entity.events)
            if type(one) is Part and (not search(data, one.start, one.end) or _has_own(entity, number, one))
        )
        owners: list[Link | Part] = sorted((*links, *parts), key=_START)
        self._left, self._work = _FAR + 2 * len(data), _MOST_WORK * len(data)
        found = [self._place(entity, data, one, owners) for one in mentions.mentions(data, self._names, media_type)]
        found += [place for place in self._doubts(data) if _owner(owners, place.start) is None]
        places = sorted(place for place in found if place is not None)
        if places and (_COUNTED.search(data) or (media_type == registry.OTHER and _FIXED.search(data))):
            return [place._replace(why=place.why or "its file counts or signs its bytes") for place in places], []
        return _with_lengths(data, places, owners)

    def _doubts(self, data: bytes) -> Iterator[Place]:
        """Yield what cannot be changed: a longer host, a host in parts or encoded."""
        for found in self._longer.finditer(data):
            if found[1].lower() not in self._known:
                yield _stays(data, *found.span(1), _LONGER)
        for found in self._beside.finditer(data):
            yield _stays(data, *found.span(), "what is beside it may be of the host")
        for found in _BREAK.finditer(data):
            before, after = data[max(found.start() - 64, 0) : found.start()], data[found.end() : found.end() + 64]
            for whole in self._names.pattern.finditer(before + after) if self._names is not None else ():
                first = whole.start() - len(before)
                if first < 0 < first + len(whole[0]):
                    end = found.end() + first + len(whole[0])
                    yield _stays(data, found.start() + first, end, "it is split into strings")
        for text in self._encoded:
            at = data.find(text)
            while at >= 0:
                yield _stays(data, at, at + len(text), "it is encoded in base64, in hexadecimal, or in UTF-16")
                at = data.find(text, at + len(text))

    def _place(self, entity: Entity, data: bytes, one: Mention, owners: list[Link | Part]) -> Place | None:
        """Return a mention with its new bytes; None for one that a link or an inner document owns."""
        lead = _LEAD.search(data[max(one.start - 96, 0) : one.start])
        start = one.start
        if lead is not None:
            start -= lead.end() - lead.start("scheme" if lead["scheme"] else "slash")
        owner = _owner(owners, one.start)
        of_owner = data[owner.start : min(start, owner.start + _FAR)] if owner is not None else b""
        if owner is not None and (type(owner) is Part or _is_own(owner, data, one.start)):
            return None
        tail = _TAIL.match(data, one.end, one.end + _FAR)
        rest = tail[0] if tail is not None else b""
        self._left -= len(rest)
        if self._left < 0 and (slashes := _SLASHES.search(rest)) is not None:
            rest = rest[: slashes.end()]
        rest = rest.rstrip(b".,:!?*")
        why = ""
        if lead is None or rest[:1] == b"@" or (not lead["scheme"] and _APART.search(data[max(start - 24, 0) : start])):
            return _stays(data, one.start, one.end, "it is a host, not a URL", one.kind)
        before = data[max(start - 9, 0) : start]
        is_in_path = _AFTER_SLASH.search(before) or (not lead["scheme"] and _AFTER_PATH.search(before))
        if is_in_path or not {*b"?#&"}.intersection(of_owner or b"?"):
            why = "it is in the path of another URL"
        elif _goes_on(data, one.end):
            why = _LONGER
        elif _NAMESPACE.search(data[max(start - 128, 0) : start]):
            why = _NAME
        elif owner is not None and _is_encoded(data, owners, owner, start):
            why = _NOT_HERE
        elif type(owner) is Link and not self._keeps(entity, owner, start):
            why = "the link that it is in changes as a whole"
        elif one.kind == "attribute" and one.inside and data[one.inside - 1 : one.inside] != b"?":  # of PHP
            why = "" if b"=" in data[max(one.inside, start - _FAR) : start] else _NAME
        stays = _stays(data, start, one.end, why, one.kind)
        return stays if why else self._written(data, stays, lead, rest, data[one.start : one.end], one.inside)

    def _keeps(self, entity: Entity, link: Link, start: int) -> bool:
        """Return whether the new value of a link ends as the old one does; False if too many asked."""
        self._work -= link.end - link.start
        if self._work < 0:
            return False
        new = self.rules.policy(Resolved(entity, link))
        end = link.coding.decode(entity.data[start : link.end])
        return new is None or value_of(new.rstrip()).endswith(end.rstrip())

    def _written(
        self, data: bytes, place: Place, lead: re.Match[bytes], rest: bytes, host: bytes, inside: int
    ) -> Place:
        """Return a mention with the bytes of its new URL; the end of the old one stays as it is written."""
        slash, scheme = lead["slash"], (lead["scheme"] or b"").decode()
        percent = re.sub(b"2F", b"", slash, flags=re.IGNORECASE) if slash[:1] == b"%" else b""  # `%`, or `%25`
        units: list[bytes] = _UNITS.findall(rest.partition(b"&")[0] if percent else rest)
        texts = [_plain(unit, slash) for unit in units]
        url = f"//{_plain(host, slash)}{''.join(texts)}"
        new = self.rules.led(f"{scheme}:{url}") if scheme else self._without_scheme(url)
        if new is None:
            return place._replace(why="no rule is for this URL")
        kept, at = sum(map(len, units)), len(new)
        while units and new.endswith(texts[-1], 0, at):
            kept -= len(units.pop())
            at -= len(texts.pop())
        spelled = {b"/": slash, b":": lead["colon"] or (percent + b"3A" if percent else b":")}
        spelled[b"."] = next(iter(re.findall(DOT, host)), b".")

        def written(found: re.Match[bytes]) -> bytes:
            return spelled.get(found[0]) or (b"%b%02X" % (percent, ord(found[0])) if percent else found[0])

        value = _RESERVED.sub(written, new[:at].encode())
        is_open = place.kind == "comment" and b"--" in value
        if is_open and data.startswith(b" wp:", inside):  # JSON of a block
            value, is_open = value.replace(b"--", rb"\u002d\u002d"), False
        if is_open or not _MAY_BE_WRITTEN.fullmatch(new[:at]):
            return place._replace(why=_NOT_HERE)
        old = data[place.start : place.end + len(rest)].decode("utf-8", "replace")
        return Place(place.start, place.end + kept, place.kind, old, "", value, new, self.rules.matched)

    def _without_scheme(self, url: str) -> str | None:
        """Return the new URL of `//host/path`, without a scheme, too; None if it depends on the scheme."""
        found = {new.partition(":")[::2] for scheme in ("https:", "http:") if (new := self.rules.led(scheme + url))}
        rests = {rest for _, rest in found}
        return rests.pop() if len(rests) == 1 and {scheme for scheme, _ in found} <= {"http", "https"} else None


def _is_encoded(data: bytes, owners: list[Link | Part], owner: Link | Part, start: int) -> bool:
    """Return whether the rest of a value without quotes is not written as it is: it has quotes, or other links."""
    end = owner.coding.slot[1] if owner.coding.slot is not None else start
    after = bisect_right(owners, start, key=_START)
    return data.find(b'"', start, end) >= 0 or (after < len(owners) and owners[after].start < end)


def _has_own(entity: Entity, number: int, part: Part) -> bool:
    """Return whether the bytes of a part are another document's: a style sheet without links to change is a text."""
    raw = entity.data[part.start : part.end]
    return bool(part.name or part.signed_by) or part.coding.decode(raw) != raw or inner_at(entity, number) is not None


def _owner(owners: list[Link | Part], position: int) -> Link | Part | None:
    """Return the link or part around an offset."""
    number = bisect_right(owners, position, key=_START) - 1
    return owners[number] if number >= 0 and position < owners[number].end else None


def _goes_on(data: bytes, end: int) -> bool:
    """Return whether a host goes on at an offset: in an escape, or in another script than Latin."""
    dot = _DOT.match(data, end)
    end = dot.end() if dot is not None else end
    escape = _ESCAPE.match(data, end)
    if escape is None and dot is not None and data[end : end + 1] in (b"-", b"_"):
        return True
    if escape is None:
        is_script = data[end : end + 1] >= b"\x80"
        return is_script and (dot is None or data[end : end + 4].decode(errors="ignore")[:1].isalnum())
    code = escape[escape.lastindex or 0]
    is_byte = escape[0][:1] == b"%" and code >= b"8"
    character = unescape(code.decode())[:1] if code[:1] == b"&" else chr(int(code, 16))
    return is_byte or character.isalnum() or character in ".-_"


def _is_own(link: Link | Part, data: bytes, end: int) -> bool:
    """Return whether what a link has before a host is the beginning of its own URL: for example, `&#104;ttp://`."""
    return end < link.start + _LONGEST_START and _OWN.fullmatch(link.coding.decode(data[link.start : end])) is not None


def _with(edit: Edit, inside: list[Edit], data: bytes) -> Edit:
    """Return the edit of a link with the edits inside it, as far as its new value ends as the old one does."""
    for number, first in enumerate(inside):
        kept = data[first.start : edit.end]
        if edit.new.endswith(kept):
            moved = [Edit(one.start - first.start, one.end - first.start, one.new) for one in inside[number:]]
            return Edit(edit.start, edit.end, edit.new[: len(edit.new) - len(kept)] + splice(kept, moved))
    return edit


def _stays(data: bytes, start: int, end: int, why: str, kind: str = "text") -> Place:
    old = data[start:end].replace(b"\0", b"")  # in UTF-16
    return Place(start, end, kind, old.decode("utf-8", "replace"), why)


def _edit(data: bytes, place: Place) -> Edit:
    """Return the edit of a mention, without the bytes at its start that stay."""
    pairs = enumerate(zip(data[place.start : place.end], place.new, strict=False))
    same = next((number for number, (one, other) in pairs if one != other), 0)
    return Edit(place.start + same, place.end, place.new[same:])


@lru_cache(maxsize=4096)
def _plain(unit: bytes, slash: bytes) -> str:
    r"""Return what a unit of a URL means: for example, `/` for `\/`; percent escapes where the slashes are such."""
    for _ in range(slash.count(b"25") + 1 if slash[:1] == b"%" else 0):
        unit = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), unit)
    if unit[:1] == b"&":
        return unescape(unit.decode())
    escape = rb"\\+(?:[ux](?:00)?([0-9A-Fa-f]{2}))?"
    plain = re.sub(escape, lambda found: bytes.fromhex((found[1] or b"").decode()), unit)
    return plain.decode("utf-8", "surrogateescape")


def _in_unicode(host: str) -> str:
    """Return a host that is written in ASCII as people write it; "" for any other."""
    with suppress(UnicodeError):
        return host.encode().decode("idna") if "xn--" in host else ""
    return ""


def _encoded(text: bytes) -> Iterator[bytes]:
    """Yield what a text is in UTF-16, in hexadecimal, and in base64 for each of the three places where it may begin."""
    yield from (b"\0".join(bytes([byte]) for byte in text), text.hex().encode(), text.hex().upper().encode())
    for before in range(3):
        yield b64encode(bytes(before) + text)[(0, 2, 3)[before] : (before + len(text)) * 8 // 6]


# --- lengths of strings that PHP serialized ---------------------------------------------------------------------------

_QUOTE: Final = rb"(?:\\{0,7}\"|&quot;|&#0{0,3}34;)"
# A string, or an object that serializes itself (`C:`), whose length is of what is between its braces. PHP writes none
# in a word (`odd`), or with a zero before its length.
_HEADER: Final = re.compile(
    rb"(?:(?<![A-Za-z0-9_])|(?<=\\[0nrtbfv])|(?<=\\u[0-9A-Fa-f]{4})|(?P<odd>))(?:[sS]|C:[0-9]{1,9}:(?P<q>%b)[\w\\]{1,99}(?P=q))"
    rb":(?:(?P<zero>0)(?=[0-9]))?(?P<size>[0-9]{1,99}):(?:(?P<open>%b)|\{)" % (_QUOTE, _QUOTE)
)
# What is written for one byte, or for none (`]]>` in WordPress's sections of XML), or for one character
_PLAIN: Final = re.compile(rb"(?P<none>\]\]><!\[CDATA\[)")
_DUMP: Final = re.compile(rb"\\.|''", re.DOTALL)
_JSON: Final = re.compile(rb"\\u(?P<code>[0-9A-Fa-f]{4})|\\.")
_TWICE: Final = re.compile(rb"\\\\(?:\\.|[^\\])|\\.", re.DOTALL)  # JSON in a dump
_MARKUP: Final = re.compile(rb"(?P<entity>&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_CSV: Final = re.compile(rb"\"\"")
_LONGEST: Final = 40  # bytes of such a unit
_DEEPEST: Final = 16  # strings in strings
_MOST_WORK: Final = 32  # bytes that are decoded, for each byte of the document
_WAYS: Final = {b'"': (_PLAIN, _DUMP, _MARKUP), b'\\"': (_DUMP, _JSON), b'\\\\\\"': (_TWICE,)}


class _String:
    """A serialized string around changes: its end, how it is escaped, where its length is, and how much that grows."""

    def __init__(self, end: int, way: re.Pattern[bytes], digits: tuple[int, int]) -> None:
        self.end = end
        self.way = way
        self.digits = digits
        self.grows = 0


def _with_lengths(data: bytes, found: list[Place], owners: list[Link | Part]) -> tuple[list[Place], list[Edit]]:
    """Return the places and the edits of lengths; a place in a string whose length does not fit the text stays."""
    edits: list[Edit] = []
    around: list[_String] = []  # the strings around the current offset
    unfit_until = work = 0
    headers = _HEADER.finditer(data)
    header = next(headers, None) if any(not place.why for place in found) else None

    def close(until: int) -> None:
        while around and around[-1].end <= until:
            string = around.pop()
            old = data[slice(*string.digits)]
            new = b"%d" % (int(old) + string.grows)
            if new != old:
                edits.append(Edit(*string.digits, new))
            for outer in around:
                outer.grows += len(new) - len(old)

    for number, place in enumerate(found):
        while not place.why and header is not None and header.end() <= place.start:
            size = int(header["size"])
            if place.start <= header.end() + size * _LONGEST:  # otherwise it ends before
                close(header.end())
                after = bisect_left(owners, header.end(), key=_START)  # a string has no links, which may grow
                room = around[-1].end if around else len(data)
                limit = min([*map(_START, owners[after : after + 1]), room])
                work += min(size, limit - header.end())
                is_tried = work <= len(data) * _MOST_WORK and len(around) < _DEEPEST
                string = _fitting(data, header, size, limit) if is_tried else None
                is_odd = header["odd"] is not None or header["zero"] is not None
                if string is not None and is_odd:
                    unfit_until = max(unfit_until, string.end)
                elif string is not None:
                    around.append(string)
                elif header["odd"] is None:
                    closer = header["open"] + b";" if header["open"] else b"}"
                    closed = data.find(closer, header.end(), header.end() + _FAR)
                    stated = header.end() + (size if size <= room - header.end() else _FAR * (closed < 0))
                    unfit_until = max(unfit_until, closed, stated)
            header = next(headers, None)
        close(place.start)
        if not place.why and place.start < unfit_until:
            found[number] = place._replace(why="a serialized length around it does not fit the text")
        elif not place.why:
            for string in around:
                string.grows += _size(place.new, string.way) - _size(data[place.start : place.end], string.way)
    close(len(data))
    return found, edits


def _fitting(data: bytes, header: re.Match[bytes], size: int, limit: int) -> _String | None:
    """Return the string behind a header, decoded in the first way in which its length fits; None if none does."""
    opening, quote = header["open"] or b"", header["open"] or header["q"]
    ways = [(opening, way) for way in _WAYS.get(quote, (_MARKUP,) if quote[:1] == b"&" else ())]
    if opening == b'"' == data[header.end() : header.end() + 1]:
        ways.insert(0, (b'""', _CSV))
    for written, way in ways:
        at, left = header.end() + len(written) - len(opening), size
        while left > 0:
            unit = way.search(data, at, min(at + left + _LONGEST, limit))
            if unit is None or unit.start() >= at + left:
                break
            left -= unit.start() - at + _decoded(unit)
            at = unit.end()
        end = at + left
        if left >= 0 and end <= limit and data.startswith(written + b";" if opening else b"}", end):
            return _String(end, way, header.span("size"))
    return None


def _size(text: bytes, way: re.Pattern[bytes]) -> int:
    return len(text) - sum(len(unit[0]) - _decoded(unit) for unit in way.finditer(text))


def _decoded(unit: re.Match[bytes]) -> int:
    r"""Return how many bytes a unit is: for example, 1 for `\"` and 2 for `&eacute;`."""
    name, text = unit.lastgroup, unit[unit.lastgroup or 0]
    if name == "entity":
        return len(unescape(text.decode()).encode("utf-8", "replace"))
    if name == "code":  # a half of a surrogate pair is two of its four bytes
        return 2 if 0xD800 <= int(text, 16) < 0xE000 else len(chr(int(text, 16)).encode())
    return 1 if name is None else 0
