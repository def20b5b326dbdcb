"""Predicates of a single URL or reference, and the fast path of all profiles, which does not parse them.

In: a URL or reference as str. Out: its scheme and fragment; whether it is absolute (RFC 3986 3.1), runs code, or is
malformed by the URL Standard (4.4).

In: the bytes of a reference, as UTF-8 or as raw bytes of a document with `&amp;`. Out: its shape (kind and length of
leading dot segments); for a base, the prefix of all references of a shape. The shapes are those that every profile
resolves by a prefix; each prefix is computed once per base by the profile itself. Character references do not change
a shape: one that could makes it OTHER.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.core import byte_scan
from absolve.core.caching import LONGEST

if TYPE_CHECKING:
    import cython

    from absolve.core.protocols import Resolver

# RFC 3986 3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
STRICT_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
SPECIAL = frozenset(("http", "https", "ftp", "file", "ws", "wss"))  # URL Standard 4.2
REMOVED = dict.fromkeys(b"\t\n\r")  # URL Standard 4.4: all ASCII tab or newline
STRIPPED = "".join(map(chr, range(0x21)))  # URL Standard 4.4: leading and trailing C0 control or space
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Schemes whose URLs a browser runs as code, or opens as a document, with the origin of the linking page.
_RUNS_CODE = frozenset(("javascript", "data", "vbscript", "vbs", "livescript", "mocha"))
_RUNS_CODE_BEGINS = "".join(sorted({letter for name in _RUNS_CODE for letter in (name[0], name[0].upper())}))
# The part of a URL that decides whether it parses, including the delimiter behind it: the URL Standard ignores extra
# slashes (4.4), and its parser never fails in user information, path, query or fragment.
DECISIVE = re.compile(rf"{STRICT_SCHEME.pattern}//[/\\\t\n\r]*+(?P<begins>)[^/?#\\]*+(?P<ends>)[^/?#]*+[/?#]?")


def has_scheme(reference: str) -> cython.bint:
    """Return whether a reference (str) is absolute in every profile: it starts with a scheme name (RFC 3986 3.1)."""
    i: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t = len(reference)
    while i < n and (_is_letter_or_digit(reference[i]) or (i and reference[i] in "+-.")):
        i += 1
    return 0 < i < n and reference[i] == ":" and _is_letter(reference[0])


def scheme(reference: str) -> str | None:
    """Return the scheme in lower case (RFC 3986 3.1), or None: for example, `HTTP://h/` gives `http`."""
    match = STRICT_SCHEME.match(reference)
    return match[1].lower() if match else None


def parsed_scheme(reference: str) -> str | None:
    """Return the scheme of a reference (str) by the URL Standard (4.4) in lower case, or None.

    The parser first strips C0 controls and spaces, and removes tabs and newlines: for example, ` data:,` gives `data`.
    """
    if ":" not in reference:
        return None
    return scheme(reference.strip(STRIPPED).translate(REMOVED))


def runs_code(reference: str) -> cython.bint:
    """Return whether the scheme of a reference (str) makes a browser run code or open a document inside the URL."""
    if not reference or (_is_letter(reference[0]) and reference[0] not in _RUNS_CODE_BEGINS):
        return False
    return parsed_scheme(reference) in _RUNS_CODE


def is_absolute(reference: str, _base: str) -> bool:
    """Return whether a reference (str) uses no part of the base: it has a scheme (RFC 1808 4, step 2a).

    A reference that a browser reads as `javascript:` or the like uses none in any profile.
    """
    return has_scheme(reference) or runs_code(reference)


def is_absolute_in_browsers(reference: str, base: str) -> bool:
    """Return the same by the URL Standard (4.4): `http:g` is relative if the base (str) has the scheme http, too."""
    bare = reference.strip(STRIPPED).translate(REMOVED)
    found = scheme(bare)
    if found is None or found not in SPECIAL or found != scheme(base):
        return found is not None
    return bare[len(found) + 1 : len(found) + 3].replace("\\", "/") == "//"


def without_controls(url: str) -> str:
    """Return a URL with its controls (C0 and DEL) percent-encoded (URL Standard 1.3): for example, `%09` for a tab."""
    return url if url.isprintable() else CONTROL.sub(lambda found: f"%{ord(found[0]):02X}", url)


def is_alone(reference: str) -> bool:
    """Return whether a reference is resolved without its base by the URL Standard (4.4, scheme state)."""
    match = STRICT_SCHEME.match(reference)
    if match is None:
        return False
    name = match[1].lower()
    return name not in SPECIAL or (name != "file" and reference.startswith("//", match.end()))


def split_fragment(url: str) -> tuple[str, str | None]:
    """Return a URL and its fragment or None (RFC 1808 2.4.1): for example, `a#b` gives `("a", "b")`."""
    rest, crosshatch, fragment = url.partition("#")
    return rest, fragment if crosshatch else None


def is_plain(url: str) -> cython.bint:
    """Return whether a URL (str) is trivially well-formed: with a plain authority, or a file URL without authority.

    A plain authority is a host name whose last label begins with a letter (so it is no IPv4 address), with a port of at
    most four digits.
    """
    slashes: cython.Py_ssize_t = url.find("://")
    n: cython.Py_ssize_t = len(url)
    i: cython.Py_ssize_t
    label: cython.Py_ssize_t
    if slashes < 1 or not _is_letter(url[0]):
        return False
    for i in range(1, slashes):
        if not _is_letter_or_digit(url[i]) and url[i] not in "+-.":
            return False
    i = label = slashes + 3
    if slashes == 4 and url[:4].lower() == "file":
        return url.startswith("/", i)
    while i < n and (_is_letter_or_digit(url[i]) or url[i] in "-."):
        if url[i] == ".":
            if i == label:
                return False
            label = i + 1
        i += 1
    if label >= i or not _is_letter(url[label]):
        return False
    if i < n and url[i] == ":":
        label = i
        i += 1
        while i < n and "0" <= url[i] <= "9":
            i += 1
        if not 2 <= i - label <= 5:
            return False
    if i < n and url[i] not in "/?#":
        return False
    return "--" not in url or "xn--" not in url[:i].lower()  # Punycode may decode to an invalid name


def may_have_placeholder(reference: str) -> cython.bint:
    """Return whether a reference (str) has a character that placeholders have (`placeholders.py`)."""
    if not reference:
        return False
    if reference[0] in "$*%@~!^#\\\"'|" or "{" in reference or "<" in reference or "[" in reference:
        return True
    return reference[0] in "_tie" and reference.startswith(("__GHOST_URL__", "t3://", "internal:/", "entity:"))


def _is_letter(c: cython.Py_UCS4) -> cython.bint:
    return "a" <= c <= "z" or "A" <= c <= "Z"


def _is_letter_or_digit(c: cython.Py_UCS4) -> cython.bint:
    return _is_letter(c) or "0" <= c <= "9"


def is_malformed(url: str) -> cython.bint:
    """Return whether a URL (str) has an authority (`scheme://`) and the URL Standard's parser fails on it."""
    if is_plain(url):
        return False
    match = DECISIVE.match(url)
    if match is None:
        return False
    begins = match.start("begins")
    at = url.rfind("@", begins, match.start("ends"))
    from absolve.urls.whatwg import can_parse  # it needs this module

    return not can_parse(match[0] if at < 0 else url[:begins] + url[at : match.end()])


# --- the fast path ---------------------------------------------------------------------------------------------------

# Kinds of references. Those from FRAGMENT on are appended to a prefix, without their leading dot segments, whose length
# in bytes is part of the shape.
OTHER = 0  # resolved by the profile's own steps
ABSOLUTE = 1  # s://x
OPAQUE = 2  # s:x
FRAGMENT = 3  # #x
QUERY = 4  # ?x
ROOT = 5  # /x
PATH = 6  # x, ./x, ../x
NETWORK = 7  # //h/x
KIND = 15  # mask of the kind in a shape
DOTS = 4  # a shape shifted right by this is the length of its dot segments
_DEEPEST = 96  # most bytes of dot segments in a shape: more than thirty levels

# Classes of bytes, one bit each. Any other byte (space, quote, backslash, non-ASCII) makes the kind OTHER.
_PLAIN = 1  # copied unchanged in a path, a query or a fragment, in every profile
_SCHEME = 2  # in a scheme (RFC 3986 3.1)
_BEGINS = 4  # may begin a path: no dot segment, no params (RFC 1808 2.4.5), no delimiter, no placeholder ($x, @x, ~/x)
_NAME = 8  # in the name of a character reference
_COPIED = 16  # copied unchanged in a path, query or fragment of a decoded http(s) URL
_OPAQUE = 32  # copied unchanged behind a scheme that the URL Standard does not know
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_classes = bytes(
    (byte in _LETTERS + b"0123456789_~!$()*+,=@-.%;") * _PLAIN
    | (byte in _LETTERS + b"0123456789+.-") * _SCHEME
    | (byte in _LETTERS + b"0123456789_!()*+,=-") * _BEGINS
    | (byte in _LETTERS + b"0123456789") * _NAME
    | (byte in _LETTERS + b"0123456789_~!$()*+,=@-.%;&:/") * _COPIED
    | (0x20 < byte < 0x7F and byte not in b'"<>`#?') * _OPAQUE
    for byte in range(256)
)
_CLASSES = _classes
_MARKS = {3: "#", 4: "?", 5: "/", 6: "", 7: "//h/"}  # kind -> the beginning of a reference of that kind
# A prefix that no coding escapes.
_SAFE = re.compile(r"[A-Za-z0-9_.~!$*+=@%:/?#-]*+")


def shape(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """Return the shape of the reference in a span. For example, `../x` has PATH and, from bit DOTS on, length 3."""
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    kind: cython.int = PATH
    dots: cython.int = 0
    may_be_scheme: cython.bint = True
    if start >= end:
        return OTHER
    if http_host(p, start, end):  # most references
        return ABSOLUTE
    if p[i] == 35:
        return FRAGMENT if _is_tail(p, i + 1, end, in_fragment=True) else OTHER
    if p[i] == 63:  # in RFC 1808 an empty query is replaced by the base's
        return QUERY if i + 1 < end and p[i + 1] != 35 and _is_tail(p, i + 1, end, in_fragment=False) else OTHER
    if p[i] == 47:
        kind = ROOT
        may_be_scheme = False
        if i + 1 < end and p[i + 1] == 47:
            kind = NETWORK
            i = byte_scan.find(p, 47, start + 2, end)
            if i < 0 or not is_name(p, start + 2, i):
                return OTHER
    elif p[i] == 46:
        if i + 1 < end and p[i + 1] == 47:
            i += 2
        while i + 2 < end and p[i] == 46 and p[i + 1] == 46 and p[i + 2] == 47:
            i += 3
        dots = i - start
        may_be_scheme = False
        if dots > _DEEPEST or i >= end or not classes[p[i]] & _BEGINS:
            return OTHER
    elif not classes[p[i]] & _BEGINS or (p[i] == 95 and i + 1 < end and p[i + 1] == 95):  # __GHOST_URL__
        return OTHER
    while i < end:
        while i < end and classes[p[i]] & _PLAIN:
            i += 1
        if i == end:
            break
        if p[i] == 47:
            may_be_scheme = False
            if i + 1 < end and (p[i + 1] == 46 or (p[i + 1] == 37 and i + 2 < end and p[i + 2] == 50)):
                return OTHER  # possibly a dot segment, also as %2E
        elif p[i] == 63 or p[i] == 35:
            return kind | dots << DOTS if _is_tail(p, i + 1, end, in_fragment=p[i] == 35) else OTHER
        elif p[i] == 58:
            if may_be_scheme:
                return _scheme(p, start, i, end)
        elif p[i] == 38:
            i = _reference_end(p, i, end)
            if i < 0:
                return OTHER
            continue
        else:
            return OTHER
        i += 1
    return kind | dots << DOTS


def _shape_of(raw: bytes) -> cython.int:
    """Return the shape of a whole `bytes` object."""
    return shape(raw, 0, len(raw))


def _is_canonical(raw: bytes, found: cython.int) -> cython.bint:
    """Return whether every profile returns an absolute reference of this shape unchanged; False if in doubt."""
    if found == OPAQUE:
        return is_canonical_opaque(raw, 0, len(raw))
    host: cython.Py_ssize_t = http_host(raw, 0, len(raw))
    host_end: cython.Py_ssize_t = canonical_host_end(raw, host, len(raw)) if host > 0 else 0
    return 0 < host_end < len(raw) and raw[host_end] == 47


def _scheme(
    p: cython.p_const_uchar, start: cython.Py_ssize_t, colon: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.int:
    """Return the kind of a reference with a colon in its first segment."""
    i: cython.Py_ssize_t
    if p[start] | 32 < 97:  # RFC 1808 2.2 allows a digit as the first character, RFC 3986 3.1 does not
        return OTHER
    for i in range(start, colon):
        if not _CLASSES[p[i]] & _SCHEME:
            return OTHER
    return ABSOLUTE if colon + 2 < end and p[colon + 1] == 47 and p[colon + 2] == 47 else OPAQUE


def is_name(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether every profile copies the host in a span unchanged; a byte must precede the span.

    That is a name in lower case, without a port, whose last label begins with a letter (so it is no IPv4 address).
    """
    label: cython.Py_ssize_t = i
    while i < end:
        if p[i] == 46:
            if i == label:
                return False
            label = i + 1
        elif not (97 <= p[i] <= 122 or 48 <= p[i] <= 57 or (p[i] == 45 and p[i - 1] != 45)):  # two hyphens: maybe xn--
            return False
        i += 1
    return label < end and 97 <= p[label] <= 122


def http_host(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset of the host in an http(s) URL, 0 for any other reference; the scheme must be in lower case."""
    if end < start + 8 or p[start] != 104 or p[start + 1] != 116 or p[start + 2] != 116 or p[start + 3] != 112:
        return 0
    i: cython.Py_ssize_t = start + 5 if p[start + 4] == 115 else start + 4
    return i + 3 if p[i] == 58 and p[i + 1] == 47 and p[i + 2] == 47 else 0


def canonical_host_end(p: cython.p_const_uchar, host: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the end of the host, 0 unless the URL Standard keeps the http(s) URL: for example, 8 in `http://h/`.

    One change is possible: if no slash follows the host, the URL Standard adds one. The bytes of the URL are decoded;
    `host` is the offset by `http_host`. The host is one by `is_name`, the path has no dot segment, and no byte is
    percent-encoded or stripped (URL Standard 1.3 and 4.4).
    """
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = host
    while i < end and p[i] != 47 and p[i] != 63 and p[i] != 35:
        i += 1
    host_end: cython.Py_ssize_t = i
    marks: cython.int = 0  # 1 in the query, 2 in the fragment
    if not is_name(p, host, i):
        return 0
    while i < end:
        if classes[p[i]] & _COPIED:
            if p[i] == 47 and marks == 0 and i + 1 < end and (p[i + 1] == 46 or p[i + 1] == 37):
                return 0  # possibly a dot segment, also as %2E
        elif p[i] == 35 and marks < 2:
            marks = 2
        elif p[i] == 63:
            marks = max(marks, 1)
        else:
            return 0
        i += 1
    return host_end


def is_canonical_opaque(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Return whether the URL Standard serializes an `OPAQUE` reference unchanged; False if in doubt.

    So do the other profiles. Its scheme is in lower case and not special (URL Standard 4.2), its path begins with no
    slash and has no dot segment, and it has neither query nor fragment.
    """
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    while i < end and p[i] != 58:
        if 65 <= p[i] <= 90:
            return False
        i += 1
    if i + 1 >= end or p[i + 1] == 47 or p[i + 1] == 46:
        return False
    if (p[start] == 104 or p[start] == 102 or p[start] == 119) and i - start <= 5:  # http, https, file, ftp, ws, wss
        return False
    while i < end:
        if not classes[p[i]] & _OPAQUE or (p[i] == 47 and i + 1 < end and p[i + 1] == 46):
            return False
        i += 1
    return True


def _is_tail(
    p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t, in_fragment: cython.bint
) -> cython.bint:
    """Return whether a query or fragment is plain up to `end`; slashes, colons and question marks are plain there."""
    classes: cython.p_const_uchar = _CLASSES
    while True:
        while i < end and classes[p[i]] & _PLAIN:
            i += 1
        if i == end:
            return True
        if p[i] == 38:
            i = _reference_end(p, i, end)
            if i < 0:
                return False
            continue
        if p[i] == 35 and not in_fragment:
            in_fragment = True
        elif not (p[i] == 47 or p[i] == 58 or p[i] == 63):
            return False
        i += 1


def _reference_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the offset behind `&amp;`, or behind the name of `&name=`; -1 for any other ampersand.

    Only these two mean a plain `&`, decoded or not: in an attribute `&name=` is no character reference (HTML Standard
    13.2.5.73).
    """
    if i + 4 < end and p[i + 1] == 97 and p[i + 2] == 109 and p[i + 3] == 112 and p[i + 4] == 59:
        return i + 5
    classes: cython.p_const_uchar = _CLASSES
    i += 1
    while i < end and classes[p[i]] & _NAME:
        i += 1
    return i if i < end and p[i] == 61 else -1


class PrefixResolver:
    """A resolver with the fast path: it gets one prefix per shape from `resolve`, and prepends it to references.

    For example, for the base `http://h/a/b` it resolves `../x` by the prefix `http://h/` in place of `../`.

    `usable` is false if references cannot be resolved against the base by a prefix, or not at all. Prefixes of a long
    base are not cached here, but by the caller, whose lifetime is shorter.
    """

    def __init__(self, resolve: Resolver, base: str, *, usable: bool) -> None:
        self._resolve = resolve
        self.usable = usable
        self._is_long = len(base) > LONGEST
        self._known: dict[int, str] = {}
        self._written: dict[int, bytes | None] = {}

    def __call__(self, reference: str) -> str | None:
        found: cython.int
        if reference.isascii():
            raw = reference.encode("ascii")
            found = _shape_of(raw)
            if found >= FRAGMENT:
                if self.usable and not self._is_long:
                    return self.prefix(found) + (reference[found >> DOTS :] if found >> DOTS else reference)
            elif found != OTHER and _is_canonical(raw, found):
                return reference
        return self._resolve(reference)

    def written(self, of: cython.int) -> bytes | None:
        """Return the prefix of a shape as raw bytes, None if some coding would escape it."""
        found = self._written.get(of)
        if found is None and of not in self._written:
            prefix = self.prefix(of)
            found = self._written[of] = prefix.encode("ascii") if _SAFE.fullmatch(prefix) else None
        return found

    def prefix(self, of: cython.int) -> str:
        """Return the prefix of a shape: a part of the resolved URL of an example reference."""
        found = self._known.get(of)
        if found is None:
            length: cython.int = of >> DOTS
            dots = ("./" if length % 3 else "") + "../" * (length // 3)
            mark = _MARKS[of & KIND]
            target = self._resolve(f"{dots}{mark}x")
            if target is None:
                raise ValueError(f"a base that takes x takes no {dots}{mark}x")
            found = target[: -len(mark) - 1]
            if not self._is_long:
                self._known[of] = found
        return found
