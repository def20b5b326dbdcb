r"""Judge of old URLs outside links (`--mentions`): two texts differ in these alone, and in the lengths around them.

In: the rules, and bytes before and after. Out: whether they are alike: for example, `"http:\/\/old.example\/"` and
`"http:\/\/new.example\/"`. Of the rewrite only the rules are used. The texts are read side by side: a URL may become the
one that the rules give, in the same spelling; a length may change if the string of PHP fits, decoded as a whole, before
and after.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.rewriting.remap import Remapping

_SLASH: Final = rb"(?:\\*/|%(?:25)*2F|\\+u002F|\\+x2F|&#x?0*(?:47|2F);|&sol;)"
_COLON: Final = rb"(?:\\*:|%(?:25)*3A|\\+u003A|\\+x3A|&#x?0*(?:58|3A);|&colon;)"
_CHARACTER: Final = re.compile(
    rb"%b|%b|%%(?:25)*[0-9A-F]{2}|\\+u00[0-9A-F]{2}|\\*\.|&amp;|&(?!#?[A-Z0-9]+;)|[A-Z0-9_~!$*+=?#@-]|[\xc2-\xf4][\x80-\xbf]+"
    % (_SLASH, _COLON),
    re.IGNORECASE,
)
# Lengths of strings and of what is between braces; URLs, whose scheme does not begin in an escape before it
_TOKEN: Final = re.compile(
    rb"(?P<length>(?<=[s]:)[0-9]{1,9}(?=:[\\\"&])|(?<=:)[0-9]{1,9}(?=:\{))"
    rb"|(?:(?:(?<![A-Z0-9+.\\-])|(?<=\\)(?![0nrtbfvux])|(?<=\\[0nrtbfv])|(?<=u[0-9A-F]{4})|(?<=x[0-9A-F]{2})|(?<=%%[0-9A-F]{2}))"
    rb"(?P<scheme>[A-Z][A-Z0-9+.-]{0,30})(?P<colon>%b))?(?P<slash>%b)(?P=slash)(?=[A-Z0-9])" % (_COLON, _SLASH),
    re.IGNORECASE,
)
_LONGEST: Final = 2048  # characters of a URL
_SPACE: Final = 8  # bytes of the text for each byte of a string
_MOST_WORK: Final = 64  # bytes that are decoded, per byte of the text
_DECODERS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda text: text.replace(b"]]><![CDATA[", b""),
    lambda text: re.sub(rb"\\(.)|'(')", rb"\1\2", text, flags=re.DOTALL),
    lambda text: re.sub(rb"\\(.)", rb"\1", re.sub(rb"\\u([0-9a-fA-F]{4})", _utf_8, text)),
    lambda text: re.sub(rb"\\(.)", rb"\1", re.sub(rb"\\(.)", rb"\1", text, flags=re.DOTALL), flags=re.DOTALL),
    lambda text: text.replace(b'""', b'"'),
    lambda text: unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"),
)


class _Unit(NamedTuple):
    """A character of a URL, as it is written up to the offset `end`."""

    raw: bytes
    text: str
    end: int


class Mentioned:
    """Compare texts by the rules of a remapping."""

    def __init__(self, rules: Remapping) -> None:
        self._rules = rules

    def alike(self, old: bytes, new: bytes, *, lengths: bool = True) -> bool:
        """Return whether two texts are equal, but for URLs that the rules change, and lengths around them, if they fit."""
        at = new_at = 0
        found_lengths: list[tuple[int, int]] = []
        for found in _TOKEN.finditer(old):
            start = found.start()
            if start < at:
                continue
            if old[at:start] != new[new_at : new_at + start - at]:
                return False
            at, new_at = start, new_at + start - at
            if found["length"] is None:
                at, new_at = self._led(old, new, found, new_at) or (at, new_at)
            elif (digits := re.compile(rb"[0-9]{1,9}").match(new, new_at)) is not None:
                found_lengths.append((start, new_at))
                at, new_at = found.end(), digits.end()
        return old[at:] == new[new_at:] and (not lengths or _fit(old, new, found_lengths))

    def _led(self, old: bytes, new: bytes, found: re.Match[bytes], at: int) -> tuple[int, int] | None:
        """Return where an old URL ends, and where in the new text, from offset `at`, the new one does; None if it stays."""
        slash, scheme = found["slash"], (found["scheme"] or b"").decode()
        units = list(islice(_units(old, found.end(), slash), _LONGEST))
        while units and units[-1].text in ".,:!?*":
            units.pop()
        if not units:
            return None
        end = units[-1].end
        rest = "//" + "".join(unit.text for unit in units)
        spelled: dict[str, set[bytes]] = {"/": {slash}}
        if found["colon"]:
            spelled[":"] = {found["colon"]}
        for unit in units:
            spelled.setdefault(unit.text, set()).add(unit.raw)
        for url in [f"{scheme}:{rest}"] if scheme else [f"http:{rest}", f"https:{rest}"]:
            led = self._rules(url)
            path, mark, query = (led or "").partition("?")
            ends = "/" * rest.partition("?")[0].endswith("/")  # as the old path does, by a rule for a prefix
            for wanted in (f"{path.removesuffix('/')}{ends}{mark}{query}", led) if led else ():
                until = _reads(new, at, wanted if scheme else wanted.partition(":")[2], slash, spelled)
                if until is not None and _next(new, until) == _next(old, end):
                    return end, until
        return None


def _next(data: bytes, at: int) -> bytes:
    found = _CHARACTER.match(data, at)
    return data[at : at + 1] if found is None else found[0]


def _units(data: bytes, at: int, slash: bytes) -> Iterator[_Unit]:
    """Yield the characters of a URL from an offset on; those in percent escapes if its slashes are in such."""
    while (found := _CHARACTER.match(data, at)) is not None:
        at = found.end()
        raw = text = found[0]
        if raw[:1] == b"&" and slash[:1] == b"%":
            return
        if raw[:1] == b"%":
            for _ in range(slash.count(b"25") + 1 if slash[:1] == b"%" else 0):
                text = re.sub(rb"%([0-9A-Fa-f]{2})", lambda code: bytes([int(code[1], 16)]), text)
        elif raw[:1] == b"&":
            text = unescape(raw.decode()).encode()
        elif code := re.fullmatch(rb"\\+[ux](?:00)?([0-9A-Fa-f]{2})", raw):
            text = bytes([int(code[1], 16)])
        yield _Unit(raw, (text.lstrip(b"\\") or text).decode("utf-8", "surrogateescape"), at)


def _reads(data: bytes, at: int, wanted: str, slash: bytes, spelled: dict[str, set[bytes]]) -> int | None:
    """Return where a URL ends that is read at an offset; None for another URL, or one in another spelling."""
    reached = 0
    for raw, text, end in _units(data, at, slash):
        known = spelled.get(text)
        if not wanted.startswith(text, reached) or (known and raw not in known and text != "-" and len(raw) != len(text.encode())):
            return None
        reached += len(text)
        if reached == len(wanted):
            return end
    return None


# --- lengths ----------------------------------------------------------------------------------------------------------


def _fit(old: bytes, new: bytes, lengths: list[tuple[int, int]]) -> bool:
    """Return whether each string fits after if it did before, and whether each length that changed does."""
    work = 0
    for before, after in lengths:
        sizes = [int(re.compile(rb"[0-9]+").match(data, at)[0]) for data, at in ((old, before), (new, after))]  # type: ignore[index]
        work += min(sizes[0], len(old))
        if work > _MOST_WORK * len(old):
            return False
        fit = [way for way in _DECODERS if _fits(old, before, way)]
        if (fit or sizes[0] != sizes[1]) and not any(_fits(new, after, way) for way in fit):
            return False
    return True


def _fits(data: bytes, at: int, way: Callable[[bytes], bytes]) -> bool:
    """Return whether the length at an offset is right if the text behind it is decoded in this way."""
    size, _, _ = data[at : at + 12].partition(b":")
    start, length = at + len(size) + 1, int(size)
    text = way(data[start : start + length * _SPACE + 64])
    return (text[:1], text[length + 1 : length + 3]) == (b'"', b'";') or (text[:1], text[length + 1 : length + 2]) == (b"{", b"}")


def _utf_8(found: re.Match[bytes]) -> bytes:
    return chr(int(found[1], 16)).encode("utf-8", "surrogatepass")[:2 if found[1][:1] in b"dD" and found[1][1:2] in b"89abcdefABCDEF" else 3]
