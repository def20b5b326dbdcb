"""Predicates and parts of a single URL or reference, computed without resolving it.

In: a URL or reference as str. Out: its scheme and fragment; whether it is absolute (RFC 3986 3.1), runs
code, or is malformed by the URL Standard (4.4).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from absolve.urls import whatwg
from absolve.urls.rfc1808 import STRICT_SCHEME

if TYPE_CHECKING:
    import cython

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
    return scheme(reference.strip(whatwg.STRIPPED).translate(whatwg.REMOVED))


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
    bare = reference.strip(whatwg.STRIPPED).translate(whatwg.REMOVED)
    found = scheme(bare)
    if found is None or found not in whatwg.SPECIAL or found != scheme(base):
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
    return name not in whatwg.SPECIAL or (name != "file" and reference.startswith("//", match.end()))


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
    return reference[0] in "$*%@~!^#\\\"'" or "{" in reference or "<" in reference or "[" in reference


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
    return not whatwg.can_parse(match[0] if at < 0 else url[:begins] + url[at : match.end()])
