"""Map old URLs to new ones after resolving: by exact URL, by the longest prefix, or by a regular expression.

Before that, URLs are unwrapped: presets and rules for queries remove additions of other programs. A new URL that
another rule matches is mapped again, as a browser follows redirects, to the end of the chain.

Input: rules (`Change`). Output: a callable from URL to URL, and a rewriting policy. Raise UsageError for a bad rule.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import Diagnostic, MissingPackageError, UsageError, in_short
from absolve.core.model import EMBEDDED, ENCAPSULATING
from absolve.core.patterns import PatternSet
from absolve.core.printable import is_hidden_in
from absolve.rewriting.policy import absolute
from absolve.rules import functions
from absolve.rules.functions import HIDDEN, IS_HIDDEN, Dropped, Facts, PatternRule, Template, has_functions
from absolve.rules.index import Index, after, begins, compared, joined, lowered, parted
from absolve.urls import resolver
from absolve.urls.archives import led
from absolve.urls.base import LOCATED, OUTSIDE, RECORDED
from absolve.urls.chain import follow
from absolve.urls.identity import named, plain
from absolve.urls.predicates import has_scheme, is_malformed, parsed_scheme, runs_code

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from absolve.document.resolved import Resolved
    from absolve.rewriting.mention_edits import MentionEdits
    from absolve.rewriting.policy import Policy

HOW: Final = ("prefix", "exact", "regex", "query", "preset")
_WEB: Final = frozenset({"http", "https"})
_QUERY: Final = re.compile("[?#]")
_END: Final = re.compile(r"/(?=[?#]|\Z)")  # of a path
_MOST_NAMED: Final = 5  # rules of one circle in a message
_IN_DOCUMENT: Final = frozenset({EMBEDDED, ENCAPSULATING})  # layers of bases that a rewrite maps
_MAY_BE_ABSOLUTE: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:|(?:[A-Za-z][A-Za-z0-9+.-]*)?\\|\{(?:decoded|target|url)"
)


class Change(NamedTuple):
    r"""One rule: replace `old` by `new`, where `old` is a prefix, an exact URL, or a regex for the whole URL (`how`).

    A prefix matches only up to the end of a URL part: `http://old.example` does not match `http://old.example.org/`,
    nor `/doc` `/docs`. `//host` matches http and https, and a new URL in this form keeps the scheme. Paths are compared
    decoded: `%7E` is `~`. A regular expression is matched against the URL with scheme and host in lower case, as it is
    and with unreserved characters decoded; `\1` in the new URL is its first group.
    It has the syntax of RE2 (github.com/google/re2/wiki/Syntax), without look-around and back-references; it needs the
    package google-re2.

    A new URL may have functions: `{date}`, `{host}`, `{url}`, `{target}`, `{decoded:1}`. A `query` rule drops the
    parameters whose whole name matches the regular expression `old`; `new` is "". A `preset` rule has the name of a
    preset as `new`; `old` is "", or for one that wraps URLs (archive) the prefix of these.
    """

    old: str
    new: str
    how: str = "prefix"


class _Step(NamedTuple):
    """A rule for one place: its pattern, its target, its text as FROM=TO, its number.

    `nests`: it leads to URLs that it matches. `leads`: the place of its target, if that is known.
    """

    source: str
    target: Template | str
    rule: str
    number: int
    nests: bool = False
    leads: str = ""


class _Moved(NamedTuple):
    """The URL that a rule made, with the rule."""

    url: str
    step: _Step


class Remapping:
    """Indexed rules; callable from URL to URL, and with `policy` from a link to its new URL."""

    def __init__(
        self,
        changes: Iterable[Change | tuple[str, ...]],
        captures: Callable[[str, str], str | None] | None = None,
        lines: Mapping[int, tuple[str, int]] | None = None,
        *,
        only_mapped: bool = False,
        mentions: bool = False,
    ) -> None:
        """Index the rules. `captures`: the copy of a URL at a date (`captures.Captures`), for URLs that no rule maps.

        `lines`: file and line of rules, by their numbers. `only_mapped`: links that no rule matches are not made
        absolute. `mentions`: old URLs outside links change, too. Raise UsageError for a malformed rule.
        """
        self._index = Index()  # of `_steps`
        self._steps: list[_Step] = []
        self._places: set[str] = set()
        self._regexes: list[tuple[int, PatternRule]] = []
        self._unwrapping: list[tuple[int, functions.Preset | Dropped]] = []
        self._patterns: dict[str, int] = {}  # the first rule of each regular expression
        self._changes: dict[int, Change] = {}  # the rules that have an old and a new URL
        self._lines = lines or {}
        self._hidden: dict[int, int] = {}  # rules that never apply, with the earlier one for the same URLs
        self.only_mapped = only_mapped
        self.matched = ""  # the rule, as FROM=TO, that mapped the last URL that was mapped
        self.met: set[int] = set()  # the numbers of all rules that mapped one
        self.loops: dict[tuple[int, ...], None] = {}  # the rules that led a URL in a circle, in order
        self.date = ""  # of the document, as YYYYMMDDhhmmss
        self._captures = captures
        self.needs_date = captures is not None  # whether a rule has {date}
        self.lacks_date = False  # whether a URL stayed because the date is unknown
        for number, change in enumerate(changes):
            self._add(Change(*change), number)
        self.mentions: MentionEdits | None = None
        if mentions:
            from absolve.rewriting.mention_edits import MentionEdits  # few runs change them

            olds, news = ({named(url) for one in self._of_urls() for url in _spelled(one[at])} - {""} for at in (0, 1))
            self.mentions = MentionEdits(self, sorted(olds), news)

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
        self._changes[number] = change
        if how == "regex":
            self._add_regex(old, new, number)
        else:
            self._add_urls(change, number)

    def _add_regex(self, old: str, new: str, number: int) -> None:
        if not _MAY_BE_ABSOLUTE.match(new):
            raise UsageError(f"the result {in_short(new)!r} of a regex rule is never an absolute URL")
        try:
            self._regexes.append((number, PatternRule(old, new)))
        except MissingPackageError:
            raise
        except UsageError as error:
            rule = f"{in_short(old)!r} to {in_short(new)!r}"
            raise UsageError(f"the regex rule {rule} cannot be used: {error.message}") from error
        if (earlier := self._patterns.setdefault(old, number)) != number:
            self._hidden[number] = earlier

    def _add_urls(self, change: Change, number: int) -> None:
        old, new, how = change
        for url in (old, new):
            full = f"http:{url}" if url.startswith("//") else url
            if not has_scheme(full) or is_malformed(full):
                raise UsageError(f"{in_short(url)!r} in a remapping rule is not an absolute URL")
        if new.startswith("//") and not old.startswith("//"):
            new = f"{old.partition(':')[0]}:{new}"
        earlier = []
        for scheme in sorted(_WEB) if old.startswith("//") else ("",):
            found = parted(f"{scheme}:{old}" if scheme else old)
            assert found is not None  # noqa: S101 - it has a scheme
            place, rest = found[0], compared(found[1])
            target = f"{scheme}:{new}" if new.startswith("//") else new
            led = parted(target)
            nests = how == "prefix" and led is not None and led[0] == place and begins(rest, compared(led[1]))
            made = Template(target) if has_functions(new) else target
            is_prefix = how == "prefix"
            known = self._index.prefix_list(place, rest) if is_prefix else self._index.exact_list(place + rest)
            same = next((self._steps[one].number for one in known if self._steps[one].source == rest), number)
            earlier.append(same)
            if same == number:
                self._places.add(place)
                leads = led[0] if led is not None and made is target else ""
                self._steps.append(_Step(rest, made, f"{old}={change.new}", number, nests, leads))
                known.append(len(self._steps) - 1)
                known.sort(key=lambda one: -len(self._steps[one].source))
        if number not in earlier:
            self._hidden[number] = earlier[0]

    def _add_preset(self, old: str, name: str, number: int) -> None:
        wrapping = functions.wraps(name)
        if wrapping is not None:
            if not old:
                raise UsageError(f"the preset {name} needs the prefix of URLs: //host.example,{name},preset")
            self._add(Change(old, wrapping), number)
        elif old:
            raise UsageError(f"the preset {name} knows its URLs: a row for it begins with an empty cell")
        else:
            self._unwrapping.append((number, functions.Preset(name)))

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

    def led(self, url: str, facts: Facts = Facts()) -> str | None:  # noqa: B008 - immutable
        """Return the new URL likewise; by a prefix, its path ends with a slash only where the old one does."""
        new = self(url, facts)
        path = _QUERY.split(url, maxsplit=1)[0]
        if new is None or path.endswith("/") == _QUERY.split(new, maxsplit=1)[0].endswith("/"):
            return new
        bare = path.removesuffix("/")
        below = self(f"{bare}/-", facts)
        made = f"{below[:-2]}{url[len(bare) :]}" if below is not None and below.endswith("/-") else new
        return made if _END.sub("", made) == _END.sub("", new) else new

    def _unwrapped(self, url: str, facts: Facts) -> str | None:
        """Return the URL inside of a URL; None if no rule matches, or if the result is no URL."""
        bare = lowered(url)
        if not functions.may_unwrap(self._unwrapping, bare):
            return None
        inside, used = functions.unwrapped(self._unwrapping, bare, facts)
        if not used or not has_scheme(inside) or is_malformed(inside) or runs_code(inside) != runs_code(url):
            return None
        self.met.update(used)
        rules = dict(self._unwrapping)
        self.matched = ", ".join(dict.fromkeys(getattr(rules[number], "name", "query") for number in used))
        return inside

    def _mapped(self, url: str, facts: Facts) -> str | None:
        """Return the URL to which the rules lead in the end; None if no rule matches, or if they lead in a circle."""
        nested: set[int] = set()

        leads = ""  # the place of the last target, if known

        def step(at: str) -> _Moved | None:
            nonlocal leads
            if leads and leads not in self._places and not self._regexes:
                return None  # no rule is for it
            moved = self._map_once(at, facts, nested)
            if moved is not None:
                leads = moved.step.leads
                if moved.step.nests:
                    nested.add(moved.step.number)
            return moved

        chain = follow(url, step, lambda moved: moved.url)
        steps = [moved for _, moved in chain.steps]
        if not steps:
            return self._captured(url, facts)
        if chain.circle is not None and chain.circle < len(steps) - 1:
            self._note_circle(steps, chain.circle)
            return None
        self.met.update(one.step.number for one in steps)
        self.matched = ", ".join(dict.fromkeys(one.step.rule for one in steps))
        return chain.end

    def _note_circle(self, chain: list[_Moved], start: int) -> None:
        self.met.update(one.step.number for one in chain)
        numbers = list(dict.fromkeys(one.step.number for one in chain[start:]))
        first = numbers.index(min(numbers))
        self.loops[*numbers[first:], *numbers[:first]] = None

    def _map_once(self, url: str, facts: Facts, nested: Collection[int]) -> _Moved | None:
        """Return the URL after one rule; those in `nested` may not map their own result again."""
        found = parted(url)
        if found is None:
            return None
        place, rest = found
        if place not in self._places:
            return self._by_regex(url, facts, nested)
        same = compared(rest)
        exact, kept = self._index.exact(place + same), ""
        if not exact and "#" in same:
            bare, crosshatch, fragment = same.partition("#")
            exact, kept = self._index.exact(place + bare), crosshatch + fragment
        if exact:
            step = self._steps[exact[0]]
            made = self._filled(step.target, url, facts)
            return None if made is None else _Moved(made if "#" in made else made + kept, step)
        for number in self._index.above(place, same):
            step = self._steps[number]
            if step.number not in nested and begins(step.source, same):
                made = self._filled(step.target, url, facts)
                is_whole = isinstance(step.target, Template) and step.target.is_whole
                if made is not None and not is_whole:
                    made = joined(step.source, made, after(rest, same, len(step.source)))
                return None if made is None else _Moved(made, step)
        return self._by_regex(url, facts, nested)

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

    def _by_regex(self, url: str, facts: Facts, nested: Collection[int]) -> _Moved | None:
        if not self._regexes:
            return None
        url = lowered(url)
        bare = plain(url)
        likely = self._likely.candidates(url)
        likely = sorted({*likely, *self._likely.candidates(bare)}) if bare != url else likely
        for place in likely:
            number, rule = self._regexes[place]
            groups = None if number in nested else rule.groups(url)
            if groups is None and bare != url and number not in nested:
                groups = rule.groups(bare)
            if groups is None:
                continue
            made = rule.template.filled(url, facts, groups)
            if made is None:
                self.lacks_date = self.lacks_date or not facts.date
                return None
            if runs_code(made) and parsed_scheme(rule.template.text) != parsed_scheme(made):
                return None  # the old URL, not the rule, would choose the code to run
            if not has_scheme(made) or is_malformed(made):
                return None
            return _Moved(made, _Step("", "", rule.rule, number, rule.groups(lowered(made)) is not None))
        return None

    @cached_property
    def _likely(self) -> PatternSet:
        """The rules that are regular expressions, to find those that match a URL without trying each."""
        return PatternSet((f"^(?:{rule.pattern})$", False) for _, rule in self._regexes)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the compiled set, which another process compiles again."""
        return {name: value for name, value in vars(self).items() if name != "_likely"}

    def policy(self, resolved: Resolved) -> str | None:
        """Return the new text of a link by `absolve rewrite --remap`: absolute URLs, old or new, mapped by the rules.

        Links that stay for their meaning (`#x`, an empty src, usemap) are kept: None. One to a part of the same message
        is mapped as the part's Content-Location is. With `only_mapped` so is each link that no rule matches.
        """
        new = absolute(resolved)
        target = resolved.target
        how = resolved.context.how_held(target)
        is_alone = has_scheme(resolved.reference) or how == LOCATED
        if target is None and new is None and not is_alone and resolved.link.place.stays != "always":
            return self._below_a_root(resolved) or self._without_scheme(resolved)
        if how in {OUTSIDE, RECORDED} or (
            not new and (new is not None or resolved.link.place.stays == "always" or not is_alone)
        ):
            return None if self.only_mapped else new
        if self.only_mapped and not is_alone:
            return self._if_it_led_elsewhere(resolved, new or "")
        led_to = led(resolved.context.resolver, resolved.reference)
        lead = self if self.mentions is None else self.led  # so that rules turned round give the same bytes
        mapped = lead(new or led_to or target or resolved.reference, self._facts(resolved))
        if mapped is None and led_to is not None:
            mapped = self(target or "", self._facts(resolved))
        return (None if self.only_mapped else new) if mapped is None else mapped

    def _if_it_led_elsewhere(self, resolved: Resolved, target: str) -> str | None:
        """Return the new URL of a relative reference; None if it leads there as it is.

        Its base is mapped, too: it moves with the page. A base that the document has is then another one for all links.
        """
        facts = self._facts(resolved)
        base = self(resolved.base.url, facts)
        self.matched = ""
        mapped = self(target, facts)
        if mapped is None and (base is None or resolved.layer not in _IN_DOCUMENT):
            return None
        leads = resolver(resolved.context.settings.profile, base or resolved.base.url)(resolved.reference)
        meant = mapped or target
        return None if leads == meant else meant

    def _without_scheme(self, resolved: Resolved) -> str | None:
        """Return the new URL of `//host/path` without a base; None if it depends on the scheme, which is unknown."""
        reference = resolved.reference
        if not reference.startswith("//") or is_malformed(f"http:{reference}"):
            return None
        facts = self._facts(resolved)
        plain_, secure = self(f"http:{reference}", facts), self(f"https:{reference}", facts)
        if plain_ is None or secure is None or plain_ == secure:
            return plain_ or secure
        bare = plain_.removeprefix("http:")
        return bare if secure == f"https:{bare}" else None

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

    # --- faults of the rules, and the hosts that they lead away from --------------------------------------------------

    def findings(self) -> Iterator[Diagnostic]:
        """Yield rules that never apply because of an earlier one, or lead in a circle, or to a URL nobody can read."""
        for number, change in self._changes.items():
            if is_hidden_in(change.new):
                yield self._finding(HIDDEN, number, f"{IS_HIDDEN}: {in_short(change.new)}")
        for number, earlier in self._hidden.items():
            if self._changes[number].new == self._changes[earlier].new:
                yield self._finding("rule-repeats", number, f"this rule repeats {self._place_of(earlier)}")
            else:
                text = f"this rule never applies: {self._place_of(earlier)} leads the same URL elsewhere"
                yield self._finding("rule-contradicts", number, text)
        loops: dict[tuple[int, ...], None] = {}
        for change in self._of_urls():
            for url in _spelled(change.old):
                loops |= self._end(url)[1]
        for first, *others in loops:
            with_others = f" and {self._listed(others)} lead" if others else " leads"
            yield self._finding("rule-loop", first, f"this rule{with_others} in a circle: the links in it stay")

    def in_circles(self) -> str:
        """Return the rules by which links since the last call stayed because they lead in a circle; "" for none."""
        numbers = dict.fromkeys(number for loop in self.loops for number in loop)
        self.loops.clear()
        return self._listed(numbers)

    @cached_property
    def old_hosts(self) -> tuple[str, ...]:
        """The hosts that exact rules and prefixes lead away from, and none leads to."""
        changes = [change for change in self._of_urls() if "{target}" not in change.new]
        ends = [self._end(url)[0] or url for change in changes for url in _spelled(change.new)]
        olds = dict.fromkeys(named(url) for change in changes for url in _spelled(change.old))
        return tuple(host for host in olds if host and host not in {named(url) for url in ends})

    def _of_urls(self) -> Iterator[Change]:
        return (change for change in self._changes.values() if change.how != "regex")

    def _end(self, url: str) -> tuple[str | None, dict[tuple[int, ...], None]]:
        """Return where the rules lead a URL that is no link, and the circles on the way."""
        kept = self.met, self.loops, self.matched, self.lacks_date
        self.met, self.loops = set(), {}
        end, loops = self._mapped(url, Facts()), self.loops
        self.met, self.loops, self.matched, self.lacks_date = kept
        return end, loops

    def _finding(self, code: str, number: int, text: str) -> Diagnostic:
        name, line = self._lines.get(number, (None, None))
        return Diagnostic(code, text, name or f"--remap {self._place_of(number)}", line)

    def _listed(self, numbers: Iterable[int]) -> str:
        names = [self._place_of(number) for number in numbers]
        return ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED))

    def _place_of(self, number: int) -> str:
        if number in self._lines:
            name, line = self._lines[number]
            return f"{name}:{line}"
        return in_short("=".join(self._changes[number][:2]))


def _spelled(url: str) -> tuple[str, ...]:
    """Return the URLs that a rule's URL means: for example, `//h` gives `http://h` and `https://h`."""
    return (f"http:{url}", f"https:{url}") if url.startswith("//") else (url,)


def remapping_of(policy: Policy) -> Remapping | None:
    """Return the rules that a policy applies, also one for selected links only."""
    owner = getattr(policy, "__self__", None)
    if isinstance(owner, Remapping):
        return owner
    inner = getattr(policy, "inner", None)
    return None if inner is None else remapping_of(inner)


def parse(text: str) -> Change:
    """Parse a rule: for example, `http://a/=http://b/` into `Change("http://a/", "http://b/")`; TO may name a preset.

    Raise UsageError if it is ambiguous which `=` separates the two.
    """
    old, equals, name = text.rpartition("=")
    if equals and name.isalpha() and name in functions.names():
        return Change(old, name, "preset")
    parts = [found.start() for found in re.finditer(r"=(?=[A-Za-z][A-Za-z0-9+.-]*:|//)", text)]
    if len(parts) != 1:
        few = "has no = before a URL" if not parts else "has more than one = before a URL: --remap @FILE reads a table"
        raise UsageError(f"--remap needs FROM=TO with two URLs, but {in_short(text)!r} {few}")
    return Change(text[: parts[0]], text[parts[0] + 1 :])
