r"""Judge of `--mentions`: two texts differ only in old URLs outside links, and in the lengths around them.

In: the rules, and bytes before and after. Out: whether they are alike: for example, `"http:\/\/old.example\/"` and
`"http:\/\/new.example\/"`. Of the rewrite only the rules are used. The texts are read side by side: a URL may become
the one that the rules give, in the same spelling; a length may change if the string of PHP fits, decoded as a whole,
before and after.
"""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from absolve.rewriting.remap import Remapping

_SLASH: Final = rb"(?:\\*/|%(?:25)*2F|\\+u002F|\\+x2F|&#x?0*(?:47|2F);|&sol;)"
_COLON: Final = rb"(?:\\*:|%(?:25)*3A|\\+u003A|\\+x3A|&#x?0*(?:58|3A);|&colon;)"
_CHARACTER: Final = re.compile(
    rb"%b|%b|%%(?:25)*[0-9A-F]{2}|\\+u00(?:2[6d]|3[df])|\\*\.|&amp;|&(?!#?[A-Z0-9]+;)|[A-Z0-9_~!$*+=?#@-]"
    rb"|[\xc2-\xf4][\x80-\xbf]+" % (_SLASH, _COLON),
    re.IGNORECASE,
)
# Lengths of strings and of what is between braces; URLs, whose scheme does not begin in an escape before it
_TOKEN: Final = re.compile(
    rb"(?P<length>(?<=s:)[0-9]{1,9}(?=:[\\\"&])|(?<=:)[0-9]{1,9}(?=:\{))"
    rb"|(?:(?:(?<![A-Z0-9+.\\-])|(?<=\\)(?![0nrtbfvux])|(?<=\\[0nrtbfv])|(?<=u[0-9A-F]{4})|(?<=[x%%][0-9A-F]{2}))"
    rb"(?P<scheme>[A-Z][A-Z0-9+.-]{0,30})(?P<colon>%b))?(?P<slash>%b)(?P=slash)" % (_COLON, _SLASH),
    re.IGNORECASE,
)
_LETTER: Final = rb"(?:2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a])"  # or a digit, a dot, a hyphen
_HOST_GOES_ON: Final = re.compile(
    rb"\\*\.?(?:\\+(?:u00|x|u\{0*)%b|%%(?:25)*(?:%b|[89a-f])|&#x0*%b;"
    rb"|&#0*(?:4[5689]|5[0-7]|6[5-9]|[78][0-9]|90|9[789]|1[01][0-9]|12[0-2]);"
    rb"|&(?:period|[a-z](?:acute|grave|uml|circ|tilde|cedil));)" % ((_LETTER,) * 3),
    re.IGNORECASE,
)
_INNER: Final = re.compile(  # a URL in the query or the fragment of another one
    r"[?#&].*?((?:(?:(?<![A-Z0-9+.-])|(?<=%[0-9A-F]{2}))[A-Z][A-Z0-9+.-]{0,30}(?::|%(?:25)*3A))?(?:/|%(?:25)*2F){2})",
    re.IGNORECASE | re.DOTALL,
)
_DIGITS: Final = re.compile(rb"[0-9]{1,9}")
_LONGEST: Final = 2048  # characters of a URL
_SPACE: Final = 8  # bytes of the text for each byte of a string
_MOST_WORK: Final = 64  # bytes that are decoded, for each byte of the text


def _unescaped(text: bytes) -> bytes:
    return re.sub(rb"\\(.)|'(')", rb"\1\2", text, flags=re.DOTALL)


def _from_json(text: bytes) -> bytes:
    codes = rb"(?:\\u[0-9a-fA-F]{4})+"
    return _unescaped(re.sub(codes, lambda run: json.loads(b'"%b"' % run[0]).encode("utf-8", "surrogatepass"), text))


_DECODERS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda text: text.replace(b"]]><![CDATA[", b""),
    _unescaped,
    _from_json,
    lambda text: _unescaped(_unescaped(text)),
    lambda text: text.replace(b'""', b'"'),
    lambda text: unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"),
)


class Mentioned:
    """Compare texts by the rules of a remapping."""

    def __init__(self, rules: Remapping) -> None:
        self._rules = rules
        self._left = 0  # characters of URLs that are read before each ends behind the next two slashes: they overlap

    def alike(self, old: bytes, new: bytes, *, fits: bool = True) -> bool:
        """Return whether two texts are equal, but for URLs that the rules change, and lengths (`fits`: right ones)."""
        at = new_at = 0
        self._left = _LONGEST + 2 * len(old)
        lengths: list[tuple[int, int]] = []
        for found in _TOKEN.finditer(old):
            start = found.start()
            if start < at:
                continue
            if old[at:start] != new[new_at : new_at + start - at]:
                return False
            at, new_at = start, new_at + start - at
            if found["length"] is None:
                at, new_at = self._led(old, new, found, new_at) or (at, new_at)
            elif (digits := _DIGITS.match(new, new_at)) is not None:
                lengths.append((start, new_at))
                at, new_at = found.end(), digits.end()
        return old[at:] == new[new_at:] and (not fits or _fit(old, new, lengths))

    def _led(self, old: bytes, new: bytes, found: re.Match[bytes], at: int) -> tuple[int, int] | None:
        """Return where an old URL ends, and where its new one at offset `at` of the new text ends; None if it stays."""
        slash, scheme = found["slash"], (found["scheme"] or b"").decode()
        units: list[tuple[bytes, str, int]] = []
        is_host = True
        for unit in islice(_units(old, found.end(), slash), _LONGEST):
            if self._left < 0 and [one for _, one, _ in units[-2:]] == ["/", "/"]:
                break
            if is_host and not (unit[1][0].isalnum() or unit[1][0] in ".-"):
                if unit[1] not in "/?#:@" or (units and units[-1][1] == "."):  # a dot ends a sentence
                    break
                is_host = False
            units.append(unit)
        self._left -= len(units)
        while units and units[-1][1] in ".,:!?*":
            units.pop()
        if not units or (is_host and _HOST_GOES_ON.match(old, units[-1][2])):
            return None
        end = units[-1][2]
        rest = "//" + "".join(text for _, text, _ in units)
        inner = _INNER.search(rest)
        kept = rest[inner.start(1) :] if inner is not None else ""  # a URL in the query, which is compared for itself
        sizes = accumulate((len(text) for _, text, _ in units), initial=len("//" + kept))
        ends = zip(islice(sizes, 1, None), units, strict=True)
        end_of_own = next(unit[2] for size, unit in ends if size == len(rest)) if kept else end
        spelled: dict[str, set[bytes]] = {"/": {slash}} | ({":": {found["colon"]}} if scheme else {})
        for raw, text, _ in units:
            spelled.setdefault(text, set()).add(raw)
        for url in [f"{scheme}:{rest}"] if scheme else [f"http:{rest}", f"https:{rest}"]:
            led = self._rules.led(url)
            is_cut = kept != "" and (led or "").endswith(kept)
            wanted = (led or "").removesuffix(kept if is_cut else "")
            until = _reads(new, at, wanted if scheme else wanted.partition(":")[2], slash, spelled) if wanted else None
            if until is not None and (is_cut or _next(new, until) == _next(old, end)):
                return end_of_own if is_cut else end, until
        return None


def _next(data: bytes, at: int) -> bytes:
    found = _CHARACTER.match(data, at)
    return data[at : at + 1] if found is None else found[0]


def _units(data: bytes, at: int, slash: bytes) -> Iterator[tuple[bytes, str, int]]:
    """Yield each character of a URL as it is written, what it means, and where it ends."""
    is_percent = slash[:1] == b"%"
    while (found := _CHARACTER.match(data, at)) is not None and not (is_percent and found[0][:1] == b"&"):
        at, raw = found.end(), found[0]
        code = re.fullmatch(rb"\\+[ux](?:00)?([0-9A-Fa-f]{2})", raw)
        text = unescape(raw.decode()).encode() if raw[:1] == b"&" else bytes.fromhex(code[1].decode()) if code else raw
        for _ in range(slash.count(b"25") + 1 if is_percent else 0):
            text = re.sub(rb"%([0-9A-Fa-f]{2})", lambda escape: bytes.fromhex(escape[1].decode()), text)
        yield raw, (text.lstrip(b"\\") or text).decode("utf-8", "surrogateescape"), at


def _reads(data: bytes, at: int, wanted: str, slash: bytes, spelled: dict[str, set[bytes]]) -> int | None:
    """Return where a URL ends that is read at an offset; None for another URL, or one in another spelling."""
    reached = 0
    for raw, text, end in _units(data, at, slash):
        is_as_before = raw in spelled.get(text, (raw,)) or text == "-"  # in a block, `\u002d` beside another
        if not wanted.startswith(text, reached) or not is_as_before:
            return None
        reached += len(text)
        if reached == len(wanted):
            return end
    return None


def _fit(old: bytes, new: bytes, lengths: list[tuple[int, int]]) -> bool:
    """Return whether each string fits after if it did before, and whether each length that changed does."""
    work = 0
    for before, after in lengths:
        size, its = int(_DIGITS.match(old, before)[0]), int(_DIGITS.match(new, after)[0])  # type: ignore[index]
        work += min(size, len(old))
        if work > _MOST_WORK * len(old):
            return False
        ways = [way for way in _DECODERS if _fits(old, before, size, way)]
        if (ways or size != its) and not any(_fits(new, after, its, way) for way in ways):
            return False
    return True


def _fits(data: bytes, at: int, size: int, way: Callable[[bytes], bytes]) -> bool:
    """Return whether the length at an offset is right if the text behind it is decoded in this way."""
    start = at + len(b"%d:" % size)
    text = way(data[start : start + size * _SPACE + 64])
    return text.startswith(b'";', size + 1) if text[:1] == b'"' else text[:1] + text[size + 1 : size + 2] == b"{}"
