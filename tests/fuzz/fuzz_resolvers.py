"""The resolvers; the first line of an input is the base, the rest the reference. For any of them:

- nothing is raised;
- prefixing gives the results of RFC 1808 section 4 and of RFC 3986 5.2;
- parsing loses nothing;
- a target resolves to itself against any base;
- shortcuts for divergence and malformed URLs agree with the resolvers;
- the time is linear.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import resolver_strategies
from linear import grows_linearly

from absolve.urls import PROFILES, compare, identity, parse, predicates, rfc1808, rfc3986

WORDS: Final = (
    *(word.encode("utf-8", "surrogateescape") for word in resolver_strategies.PIECES + resolver_strategies.ABSOLUTE),
    *b"../../ ./ /. /.. ;x=1/../y ?q#f \n http://h/a/b;c?d#e \n//h \nhttp:g file:///c:/ \xff xn-- [::1] %2e%2E :80/ u:p@".split(b" "),
)


def seeds(_shared: Path | None) -> Iterator[bytes]:
    bases = ("http://h/a/b/c;d?q#f", "app:/.//a", "mailto:u@h", "file:///C:/x", "data:,x", "//h/")
    for base in bases:
        for reference in ("g:h", "../../../g", "/./g", "//g", "?y", "#s", "", ";x", "g;x=1/../y", "http:g", ".;x"):
            yield f"{base}\n{reference}".encode()


def check(data: bytes) -> None:
    base, _, reference = data.decode("utf-8", "surrogateescape").partition("\n")
    assert rfc1808.profile(base)(reference) == rfc1808.steps(base, parse.split(base), reference)
    assert rfc3986.profile(base)(reference) == rfc3986.transform(rfc3986.split(base), reference)
    assert parse.unsplit(parse.split(reference)) == reference
    assert parse.unsplit(rfc3986.split(reference)) == reference
    for profile in (row.resolver for row in PROFILES.values()):
        settled = profile("")(base) or base  # an empty reference keeps the path of the base unchanged
        target = profile(settled)(reference)
        if target is not None and predicates.has_scheme(target):
            assert profile(settled)(target) == target
            assert profile("")(target) == target
    compare.climbs_above_root(base, reference)
    compare.divergent(base, reference)
    predicates.is_malformed(reference)
    identity.site(reference)
    grows_linearly(resolved, data)


def resolved(data: bytes) -> None:
    base, _, reference = data.decode("utf-8", "surrogateescape").partition("\n")
    for profile in (row.resolver for row in PROFILES.values()):
        profile(base)(reference)
