"""The short way of every profile: most references only get something of the base before them, told by their bytes.

Which ones, the profiles agree about; what they get, each is asked for once a base. The bytes may be those that stand
in a document, with `&amp;` in them: nothing that they could stand for decides more than they do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.urls.cache import LONGEST

if TYPE_CHECKING:
    import cython

    from absolve.core.protocols import Resolver
else:
    from absolve.core import _cython as cython

if cython.compiled:
    from cython.cimports.absolve.core.byte_scan import find
else:
    from absolve.core.byte_scan import find

# What a reference is. Those from FRAGMENT on are appended, without the dot segments at their beginning, of which
# `shape` says how many bytes they take.
OTHER = cython.declare(cython.int, 0)  # the profile's own steps decide
ABSOLUTE = cython.declare(cython.int, 1)  # s://x
OPAQUE = cython.declare(cython.int, 2)  # s:x
FRAGMENT = cython.declare(cython.int, 3)  # #x
QUERY = cython.declare(cython.int, 4)  # ?x
ROOT = cython.declare(cython.int, 5)  # /x
PATH = cython.declare(cython.int, 6)  # x, ./x, ../x
NETWORK = cython.declare(cython.int, 7)  # //h/x
KIND = cython.declare(cython.int, 15)  # the bits of a shape that have its kind
DOTS = cython.declare(cython.int, 4)  # the bits to shift it by for the length of its dot segments
_DEEPEST = cython.declare(cython.int, 96)  # bytes of dot segments that are remembered: thirty levels and more

# What a byte may be, one bit each. Anything else (a blank, a quote, a backslash, what is not ASCII) is a reason to ask.
_PLAIN = cython.declare(cython.int, 1)  # stands for itself in a path, a query or a fragment, in every profile
_SCHEME = cython.declare(cython.int, 2)  # of a scheme (RFC 3986 3.1)
_BEGINS = cython.declare(cython.int, 4)  # may begin a path: no dot segment, no params (RFC 1808 2.4.5), no delimiter
_NAME = cython.declare(cython.int, 8)  # of a character reference
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_classes = bytes(
    (byte in _LETTERS + b"0123456789_~!$()*+,=@-.%;") * _PLAIN
    | (byte in _LETTERS + b"0123456789+.-") * _SCHEME
    | (byte in _LETTERS + b"0123456789_~!$()*+,=@-") * _BEGINS
    | (byte in _LETTERS + b"0123456789") * _NAME
    for byte in range(256)
)
_CLASSES = cython.declare(bytes, _classes)
_MARKS = {3: "#", 4: "?", 5: "/", 6: "", 7: "//h/"}  # by kind: what the references of it begin with
# A prefix that every coding writes as it is.
_SAFE = re.compile(r"[A-Za-z0-9_.~!$*+=@%:/?#-]*+")


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def shape(p: cython.p_const_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
    """The kind of the reference in this span and, from bit DOTS on, the length of the dot segments at its beginning."""
    classes: cython.p_const_uchar = _CLASSES
    i: cython.Py_ssize_t = start
    kind: cython.int = PATH
    dots: cython.int = 0
    may_be_scheme: cython.bint = True
    if start >= end:
        return OTHER
    if p[i] == 35:
        return FRAGMENT if _is_tail(p, i + 1, end, in_fragment=True) else OTHER
    if p[i] == 63:  # RFC 1808 takes an empty query for none
        return QUERY if i + 1 < end and p[i + 1] != 35 and _is_tail(p, i + 1, end, in_fragment=False) else OTHER
    if p[i] == 47:
        kind = ROOT
        may_be_scheme = False
        if i + 1 < end and p[i + 1] == 47:
            kind = NETWORK
            i = find(p, 47, start + 2, end)
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
    elif not classes[p[i]] & _BEGINS:
        return OTHER
    while i < end:
        while i < end and classes[p[i]] & _PLAIN:
            i += 1
        if i == end:
            break
        if p[i] == 47:
            may_be_scheme = False
            if i + 1 < end and (p[i + 1] == 46 or (p[i + 1] == 37 and i + 2 < end and p[i + 2] == 50)):
                return OTHER  # what may be a dot segment, as %2E is
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


@cython.cfunc
@cython.exceptval(-1, check=True)
def _shape_of(raw: bytes) -> cython.int:
    """The shape of a reference of which nothing else asks for the bytes."""
    return shape(raw, 0, len(raw))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _scheme(
    p: cython.p_const_uchar, start: cython.Py_ssize_t, colon: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.int:
    """What a reference is that has a colon in its first segment."""
    i: cython.Py_ssize_t
    if p[start] | 32 < 97:  # RFC 1808 2.2 takes a digit at the beginning, RFC 3986 3.1 does not
        return OTHER
    for i in range(start, colon):
        if not _CLASSES[p[i]] & _SCHEME:
            return OTHER
    return ABSOLUTE if colon + 2 < end and p[colon + 1] == 47 and p[colon + 2] == 47 else OPAQUE


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def is_name(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
    """Whether a host in this span, before which something stands, is one that every profile takes as it is written.

    Such is a name in lower case without a port whose last label begins with a letter, as that of no IPv4 address does.
    """
    label: cython.Py_ssize_t = i
    while i < end:
        if p[i] == 46:
            if i == label:
                return False
            label = i + 1
        elif not (97 <= p[i] <= 122 or 48 <= p[i] <= 57 or (p[i] == 45 and p[i - 1] != 45)):  # two may be of xn--
            return False
        i += 1
    return label < end and 97 <= p[label] <= 122


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _is_tail(
    p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t, in_fragment: cython.bint
) -> cython.bint:
    """Whether a query, or a fragment, is plain to its end; there slashes, colons and question marks are."""
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


@cython.cfunc
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _reference_end(p: cython.p_const_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Where what an ampersand begins ends, if it stands for an ampersand or for itself, however it is read; else -1.

    `&amp;` does, and `&name=`, which is no character reference in an attribute (HTML Standard 13.2.5.73).
    """
    if i + 4 < end and p[i + 1] == 97 and p[i + 2] == 109 and p[i + 3] == 112 and p[i + 4] == 59:
        return i + 5
    classes: cython.p_const_uchar = _CLASSES
    i += 1
    while i < end and classes[p[i]] & _NAME:
        i += 1
    return i if i < end and p[i] == 61 else -1


@cython.final
@cython.cclass
class PrefixResolver:
    """A resolver that goes the short way where it can: asks `resolve` once for what a shape is appended to.

    `usable` is false where `resolve` has ways of its own with every reference, or resolves none. What references get
    of a long base is not kept here: who appends it keeps it.
    """

    def __init__(self, resolve: Resolver, base: str, *, usable: bool) -> None:
        self._resolve = resolve
        self.usable = usable
        self._is_long = len(base) > LONGEST
        self._known: dict[int, str] = {}
        self._written: dict[int, bytes | None] = {}

    def __call__(self, reference: str) -> str | None:
        found: cython.int
        if self.usable and not self._is_long and reference.isascii():
            found = _shape_of(reference.encode("ascii"))
            if found >= FRAGMENT:
                return self.prefix(found) + (reference[found >> DOTS :] if found >> DOTS else reference)
        return self._resolve(reference)

    @cython.cfunc
    def written(self, of: cython.int) -> bytes | None:
        """What a reference of this shape gets, as it is written in every coding; None where those differ in that."""
        found = self._written.get(of)
        if found is None and of not in self._written:
            prefix = self.prefix(of)
            found = self._written[of] = prefix.encode("ascii") if _SAFE.fullmatch(prefix) else None
        return found

    @cython.cfunc
    def prefix(self, of: cython.int) -> str:
        """What a reference of this shape gets."""
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
