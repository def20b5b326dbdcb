"""Map old URLs to new ones after resolving: by exact URL, by the longest prefix, or by a regular expression.

Input: rules (`Change`). Output: a callable from URL to URL, and a rewriting policy. Raise UsageError for a bad rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import MissingPackageError, UsageError, in_short
from absolve.core.patterns import Substitution
from absolve.rewriting.policy import absolute
from absolve.urls.base import LOCATED, OUTSIDE, RECORDED
from absolve.urls.identity import site
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme, runs_code

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy

HOW: Final = ("prefix", "exact", "regex")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?(.*)", re.DOTALL)
_WEB: Final = frozenset({"http", "https"})
_MAY_BE_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|(?:[A-Za-z][A-Za-z0-9+.-]*)?\\")


class Change(NamedTuple):
    r"""One rule: replace `old` by `new`, where `old` is a prefix, an exact URL, or a regex for the whole URL (`how`).

    A prefix matches only up to the end of a URL part: `http://old.example` does not match `http://old.example.org/`,
    nor `/doc` `/docs`. `//host` matches http and https, and a new URL in this form keeps the scheme. A regular
    expression is matched against the URL with scheme and host in lower case; `\1` in the new URL is its first group.
    Its syntax is that of RE2 (github.com/google/re2/wiki/Syntax), without look-around and back-references; it needs the
    package google-re2 (`absolve[regex]`).
    """

    old: str
    new: str
    how: str = "prefix"


class Place(NamedTuple):
    """The parts of a URL compared exactly: scheme, user information, host in lower case with a non-default port."""

    scheme: str
    user: str
    site: str


def parted(url: str) -> tuple[Place, str] | None:
    """Return the place and the rest of a URL; the rest has a path if there is a host. None for a relative reference."""
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    if authority is None:
        return Place(scheme, "", ""), rest
    place = Place(scheme, authority.rpartition("@")[0], site(url) or "")
    return place, rest if rest.startswith("/") else f"/{rest}"


class Remapping:
    """Indexed rules; callable from URL to URL, and with `policy` from a link to its new URL."""

    def __init__(self, changes: Iterable[Change | tuple[str, ...]]) -> None:
        """Index the rules. Raise UsageError for a malformed one."""
        self._exact: dict[tuple[Place, str], str] = {}
        self._prefixes: dict[Place, dict[str, str]] = defaultdict(dict)
        self._regexes: dict[int, Substitution] = {}
        self._written: dict[tuple[str, Place, str], tuple[str, int]] = {}  # the rules as the user wrote them
        self.matched = ""  # the rule, as FROM=TO, that mapped the last URL that was mapped
        self.met: set[int] = set()  # the numbers of all rules that mapped one
        for number, change in enumerate(changes):
            self._add(Change(*change), number)
        self._lengths = {
            place: sorted({len(prefix) for prefix in prefixes}, reverse=True)
            for place, prefixes in self._prefixes.items()
        }

    def _add(self, change: Change, number: int) -> None:
        old, new, how = change
        if how not in HOW:
            raise UsageError(f"a rule must be one of {', '.join(HOW)}, not {how!r}")
        if how == "regex":
            if not _MAY_BE_ABSOLUTE.match(new):
                raise UsageError(f"the result {in_short(new)!r} of a regex rule is never an absolute URL")
            try:
                self._regexes[number] = Substitution(old, new)
            except MissingPackageError:
                raise
            except UsageError as error:
                rule = f"{in_short(old)!r} to {in_short(new)!r}"
                raise UsageError(f"the regex rule {rule} cannot be used: {error.message}") from error
            return
        for url in (old, new):
            full = f"http:{url}" if url.startswith("//") else url
            if not has_scheme(full) or is_malformed(full):
                raise UsageError(f"{in_short(url)!r} in a remapping rule is not an absolute URL")
        if new.startswith("//") and not old.startswith("//"):
            new = f"{old.partition(':')[0]}:{new}"
        for scheme in sorted(_WEB) if old.startswith("//") else ("",):
            found = parted(f"{scheme}:{old}" if scheme else old)
            assert found is not None  # noqa: S101 - it has a scheme
            place, rest = found
            self._written.setdefault((how, place, rest), (f"{old}={change.new}", number))
            target = f"{scheme}:{new}" if new.startswith("//") else new
            if how == "exact":
                self._exact.setdefault((place, rest), target)
            else:
                self._prefixes[place].setdefault(rest, target)

    def __call__(self, url: str) -> str | None:
        """Return the new URL for an absolute URL; None if no rule matches."""
        found = parted(url)
        if found is None:
            return None
        place, rest = found
        bare, crosshatch, fragment = rest.partition("#")
        for key, kept in ((rest, ""), (bare, crosshatch + fragment)):
            new = self._exact.get((place, key))
            if new is not None:
                self._meet(*self._written["exact", place, key])
                return new if "#" in new else new + kept
        return self._by_prefix(place, rest) or self._by_regex(place, url)

    def _by_prefix(self, place: Place, rest: str) -> str | None:
        prefixes = self._prefixes.get(place)
        if prefixes is None:
            return None
        for length in self._lengths[place]:
            new = prefixes.get(rest[:length])
            if new is not None and _ends_a_part(rest[:length], rest[length : length + 1]):
                self._meet(*self._written["prefix", place, rest[:length]])
                return _joined(rest[:length], new, rest[length:])
        return None

    def _by_regex(self, place: Place, url: str) -> str | None:
        if not self._regexes:
            return None
        found = _URL.fullmatch(url)
        if found and found[2] is not None:
            user, at, host = found[2].rpartition("@")
            url = f"{place.scheme}://{user}{at}{host.lower()}{found[3]}"
        for number, substitution in self._regexes.items():
            made = substitution(url)
            if made is not None:
                if runs_code(made) and parsed_scheme(substitution.template) != parsed_scheme(made):
                    return None  # the old URL, not the rule, would choose the code to run
                self._meet(substitution.rule, number)
                return made if has_scheme(made) and not is_malformed(made) else None
        return None

    def _meet(self, rule: str, number: int) -> None:
        self.matched = rule
        self.met.add(number)

    def policy(self, resolved: Resolved) -> str | None:
        """Return the new text of a link by `absolve rewrite --remap`: absolute URLs, old or new, mapped by the rules.

        Links that stay for their meaning (`#x`, an empty src, usemap) are kept: None. One to a part of the same message
        is mapped as the part's Content-Location is.
        """
        new = absolute(resolved)
        target = resolved.target
        how = resolved.context.how_held(target)
        is_alone = has_scheme(resolved.reference) or how == LOCATED
        if how in {OUTSIDE, RECORDED} or (
            not new and (new is not None or resolved.link.place.stays == "always" or not is_alone)
        ):
            return new
        mapped = self(new or target or resolved.reference)
        return new if mapped is None else mapped


def remapping_of(policy: Policy) -> Remapping | None:
    """Return the rules that a policy applies, also one for selected links only."""
    owner = getattr(policy, "__self__", None)
    if isinstance(owner, Remapping):
        return owner
    inner = getattr(policy, "inner", None)
    return None if inner is None else remapping_of(inner)


def _ends_a_part(prefix: str, following: str) -> bool:
    """Return whether a prefix ends at the end of a URL part: a path segment, the path, a query parameter."""
    if not following or prefix[-1:] in {"/", "?", "&"}:
        return True
    if "#" in prefix:
        return False
    return following in ("&#" if "?" in prefix else "/?#")


def _joined(old: str, new: str, rest: str) -> str:
    """Return the new URL with the rest of the old one appended, with one slash between them if either had one."""
    found = parted(new)
    if found is not None and found[1] == "/" and not new.endswith("/"):
        new += "/"
    if rest.startswith("/") and new.endswith("/"):
        return new + rest[1:]
    if old.endswith("/") and rest and not new.endswith("/") and rest[0] not in "?#":
        return f"{new}/{rest}"
    return new + rest


def parse(text: str) -> Change:
    """Parse FROM=TO of the command line. Raise UsageError if it is ambiguous which `=` separates the two."""
    parts = [found.start() for found in re.finditer(r"=(?=[A-Za-z][A-Za-z0-9+.-]*:|//)", text)]
    if len(parts) != 1:
        few = "has no = before a URL" if not parts else "has more than one = before a URL: use --remap-file"
        raise UsageError(f"--remap needs FROM=TO with two URLs, but {in_short(text)!r} {few}")
    return Change(text[: parts[0]], text[parts[0] + 1 :])
