"""Map old URLs to new ones after resolving: by exact URL, by the longest prefix, or by a regular expression.

Before that, URLs are unwrapped: presets and rules for queries take from them what others have added.

Input: rules (`Change`). Output: a callable from URL to URL, and a rewriting policy. Raise UsageError for a bad rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import MissingPackageError, UsageError, in_short
from absolve.rewriting import presets
from absolve.rewriting.functions import Dropped, Facts, Rule, Template, has_functions
from absolve.rewriting.policy import absolute
from absolve.urls.base import LOCATED, OUTSIDE, RECORDED
from absolve.urls.identity import named, site
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme, runs_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from absolve.document.resolved import Resolved
    from absolve.rewriting.policy import Policy

HOW: Final = ("prefix", "exact", "regex", "query", "preset")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?(.*)", re.DOTALL)
_WEB: Final = frozenset({"http", "https"})
_MAY_BE_ABSOLUTE: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:|(?:[A-Za-z][A-Za-z0-9+.-]*)?\\|\{(?:decoded|target|url)"
)


class Change(NamedTuple):
    r"""One rule: replace `old` by `new`, where `old` is a prefix, an exact URL, or a regex for the whole URL (`how`).

    A prefix matches only up to the end of a URL part: `http://old.example` does not match `http://old.example.org/`,
    nor `/doc` `/docs`. `//host` matches http and https, and a new URL in this form keeps the scheme. A regular
    expression is matched against the URL with scheme and host in lower case; `\1` in the new URL is its first group.
    Its syntax is that of RE2 (github.com/google/re2/wiki/Syntax), without look-around and back-references; it needs the
    package google-re2 (`absolve[regex]`).

    A new URL may have functions: `{date}`, `{host}`, `{url}`, `{target}`, `{decoded:1}`. A `query` rule drops the
    parameters whose whole name matches the regular expression `old`; `new` is "". A `preset` rule has the name of a
    preset as `new`; `old` is "", or for one that wraps URLs (archive) the prefix of these.
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

    def __init__(
        self, changes: Iterable[Change | tuple[str, ...]], captures: Callable[[str, str], str | None] | None = None
    ) -> None:
        """Index the rules. `captures`: the copy of a URL at a date (`captures.Captures`), for URLs that no rule maps.

        Raise UsageError for a malformed rule.
        """
        self._exact: dict[tuple[Place, str], Template | str] = {}
        self._prefixes: dict[Place, dict[str, Template | str]] = defaultdict(dict)
        self._regexes: dict[int, Rule] = {}
        self._unwrapping: list[tuple[int, presets.Preset | Dropped]] = []
        self._written: dict[tuple[str, Place, str], tuple[str, int]] = {}  # the rules as the user wrote them
        self.matched = ""  # the rule, as FROM=TO, that mapped the last URL that was mapped
        self.met: set[int] = set()  # the numbers of all rules that mapped one
        self.date = ""  # of the document, as YYYYMMDDhhmmss
        self._captures = captures
        self.needs_date = captures is not None  # whether a rule has {date}
        self.lacks_date = False  # whether a URL stayed because the date is unknown
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
        if how == "preset":
            self._add_preset(old, new, number)
            return
        self.needs_date = self.needs_date or "{date}" in new
        if how == "query":
            self._add_query(old, new, number)
            return
        self.needs_date = self.needs_date or "{date}" in new
        if how == "regex":
            if not _MAY_BE_ABSOLUTE.match(new):
                raise UsageError(f"the result {in_short(new)!r} of a regex rule is never an absolute URL")
            try:
                self._regexes[number] = Rule(old, new)
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
            target: Template | str = f"{scheme}:{new}" if new.startswith("//") else new
            if has_functions(new):
                target = Template(f"{scheme}:{new}" if new.startswith("//") else new)
            if how == "exact":
                self._exact.setdefault((place, rest), target)
            else:
                self._prefixes[place].setdefault(rest, target)

    def _add_preset(self, old: str, name: str, number: int) -> None:
        wrapping = presets.wraps(name)
        if wrapping is not None:
            if not old:
                raise UsageError(f"the preset {name} needs the prefix of URLs: //host.example,{name},preset")
            self._add(Change(old, wrapping), number)
        elif old:
            raise UsageError(f"the preset {name} knows its URLs: a row for it begins with an empty cell")
        else:
            self._unwrapping.append((number, presets.Preset(name)))

    def _add_query(self, old: str, new: str, number: int) -> None:
        if new:
            raise UsageError(f"a query rule has no new URL, but {in_short(new)!r}: it drops the parameter")
        try:
            self._unwrapping.append((number, Dropped(old)))
        except UsageError as error:
            raise UsageError(f"the query rule {in_short(old)!r} cannot be used: {error.message}") from error

    def __call__(self, url: str, facts: Facts = Facts()) -> str | None:  # noqa: B008 - immutable
        """Return the new URL for an absolute URL, with facts about the document; None if no rule matches."""
        inside = self._unwrapped(url, facts) if self._unwrapping else None
        return self._mapped(inside or url, facts) or inside

    def _unwrapped(self, url: str, facts: Facts) -> str | None:
        """Return the URL inside of a URL; None if no rule matches, or for what is no URL then."""
        lowered = _lowered(url)
        if not presets.may_unwrap(self._unwrapping, lowered):
            return None
        inside, used = presets.unwrapped(self._unwrapping, lowered, facts)
        if not used or not has_scheme(inside) or is_malformed(inside) or runs_code(inside) != runs_code(url):
            return None
        self.met.update(used)
        rules = dict(self._unwrapping)
        self.matched = ", ".join(dict.fromkeys(getattr(rules[number], "name", "query") for number in used))
        return inside

    def _mapped(self, url: str, facts: Facts) -> str | None:
        found = parted(url)
        if found is None:
            return None
        place, rest = found
        bare, crosshatch, fragment = rest.partition("#")
        for key, kept in ((rest, ""), (bare, crosshatch + fragment)):
            new = self._exact.get((place, key))
            if new is not None:
                made = self._filled(new, url, facts)
                if made is None:
                    return None
                self._meet(*self._written["exact", place, key])
                return made if "#" in made else made + kept
        return self._by_prefix(place, rest, url, facts) or self._by_regex(url, facts) or self._captured(url, facts)

    def _captured(self, url: str, facts: Facts) -> str | None:
        found = self._captures(url, facts.date) if self._captures is not None else None
        if found is not None:
            self.matched = "captured"
        return found

    def _filled(self, new: Template | str, url: str, facts: Facts) -> str | None:
        if isinstance(new, str):
            return new
        made = new.filled(url, facts)
        self.lacks_date = self.lacks_date or (made is None and not facts.date and "{date}" in new.text)
        return made

    def _by_prefix(self, place: Place, rest: str, url: str, facts: Facts) -> str | None:
        prefixes = self._prefixes.get(place)
        if prefixes is None:
            return None
        for length in self._lengths[place]:
            new = prefixes.get(rest[:length])
            if new is not None and _ends_a_part(rest[:length], rest[length : length + 1]):
                made = self._filled(new, url, facts)
                if made is None:
                    return None
                self._meet(*self._written["prefix", place, rest[:length]])
                is_whole = isinstance(new, Template) and new.is_whole
                return made if is_whole else _joined(rest[:length], made, rest[length:])
        return None

    def _by_regex(self, url: str, facts: Facts) -> str | None:
        if not self._regexes:
            return None
        url = _lowered(url)
        for number, rule in self._regexes.items():
            groups = rule.groups(url)
            if groups is None:
                continue
            made = rule.template.filled(url, facts, groups)
            if made is None:
                self.lacks_date = self.lacks_date or not facts.date
                return None
            if runs_code(made) and parsed_scheme(rule.template.text) != parsed_scheme(made):
                return None  # the old URL, not the rule, would choose the code to run
            self._meet(rule.rule, number)
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
        if target is None and new is None and not is_alone and resolved.link.place.stays != "always":
            return self._below_a_root(resolved)
        if how in {OUTSIDE, RECORDED} or (
            not new and (new is not None or resolved.link.place.stays == "always" or not is_alone)
        ):
            return new
        mapped = self(new or target or resolved.reference, self._facts(resolved))
        return new if mapped is None else mapped

    def _facts(self, resolved: Resolved) -> Facts:
        own = resolved.own.url
        return Facts(own, named(own) if own else "", self.date)

    def _below_a_root(self, resolved: Resolved) -> str | None:
        """Return the URL inside a reference without a base that begins at the root of an archive; None for no such."""
        for _, rule in self._unwrapping:
            root = getattr(rule, "root", "")
            if root and resolved.reference.startswith("/"):
                slashes = "https:" if resolved.reference.startswith("//") else root
                return self._unwrapped(f"{slashes}{resolved.reference}", self._facts(resolved))
        return None


def remapping_of(policy: Policy) -> Remapping | None:
    """Return the rules that a policy applies, also one for selected links only."""
    owner = getattr(policy, "__self__", None)
    if isinstance(owner, Remapping):
        return owner
    inner = getattr(policy, "inner", None)
    return None if inner is None else remapping_of(inner)


def _lowered(url: str) -> str:
    """Return a URL with its scheme and host in lower case."""
    found = _URL.fullmatch(url)
    if found is None or found[2] is None:
        return url
    user, at, host = found[2].rpartition("@")
    return f"{found[1].lower()}://{user}{at}{host.lower()}{found[3]}"


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
    """Parse FROM=TO of the command line, where TO may be the name of a preset that wraps URLs.

    Raise UsageError if it is ambiguous which `=` separates the two.
    """
    old, equals, name = text.rpartition("=")
    if equals and name.isalpha() and name in presets.names():
        return Change(old, name, "preset")
    parts = [found.start() for found in re.finditer(r"=(?=[A-Za-z][A-Za-z0-9+.-]*:|//)", text)]
    if len(parts) != 1:
        few = "has no = before a URL" if not parts else "has more than one = before a URL: use --remap-file"
        raise UsageError(f"--remap needs FROM=TO with two URLs, but {in_short(text)!r} {few}")
    return Change(text[: parts[0]], text[parts[0] + 1 :])
