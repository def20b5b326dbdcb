"""Regular expressions that match in linear time, for the patterns of a user's rules over hostile text.

In: a pattern and a template in the syntax of `re`. Out: a callable from a text to its substitution. Python's matcher
backtracks, in exponential time for some texts. Patterns that provably match in linear time are left to it; any other
is compiled to an automaton here, with the same groups. Back-references and look-around, which no automaton can match,
raise UsageError.
"""

from __future__ import annotations

import re
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.bounded_cache import BoundedCache
from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_STATES: Final = 2000
_MOST_FIXED: Final = 64  # most characters of a fixed repeat for Python's matcher, which may read them more than once
_MOST_KNOWN: Final = 4096  # transitions in the cache
_FLAGS: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.UNICODE
_parser: Final[Any] = import_module("re._parser")  # private, but other tools depend on it too
_compiler: Final[Any] = import_module("re._compiler")

_ONE: Final = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})  # nodes of one character
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_REFUSED: Final = {
    "GROUPREF": "a back-reference",
    "GROUPREF_EXISTS": "a condition on a group",
    "ASSERT": "look-ahead or look-behind",
    "ASSERT_NOT": "look-ahead or look-behind",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}


class Substitution:
    """A substitution of whole texts, with the results of `re.fullmatch` and `Match.expand`.

    Raise UsageError for an invalid pattern or template, and for a pattern that cannot be matched in linear time; its
    text is the reason.
    """

    def __init__(self, pattern: str, template: str) -> None:
        self._pattern = pattern
        self.template = template
        try:
            tree = _parser.parse(pattern)
            self._parts = _parts(_parser.parse_template(template, _Groups(tree)))
            self._matcher: re.Pattern[str] | Automaton
            self._matcher = re.compile(pattern) if is_plain(tree) else Automaton(tree)
        except (re.error, IndexError, OverflowError) as error:
            raise UsageError(str(error)) from error
        except RecursionError:
            raise UsageError("it is nested too deep") from None

    def __reduce__(self) -> tuple[type[Substitution], tuple[str, str]]:
        return Substitution, (self._pattern, self.template)

    @property
    def rule(self) -> str:
        """The pattern and the template, as PATTERN=TEMPLATE."""
        return f"{self._pattern}={self.template}"

    def __call__(self, text: str) -> str | None:
        """Return the expanded template, None if the pattern does not match the whole text."""
        if isinstance(self._matcher, Automaton):
            groups = self._matcher.fullmatch(text)
        else:
            match = self._matcher.fullmatch(text)
            groups = None if match is None else (match[0], *match.groups())
        if groups is None:
            return None
        return "".join(part if isinstance(part, str) else groups[part] or "" for part in self._parts)


class _Groups:
    """The attributes of a compiled pattern that `re._parser.parse_template` reads."""

    def __init__(self, tree: Any) -> None:
        self.groups: int = tree.state.groups - 1
        self.groupindex: dict[str, int] = tree.state.groupdict


def _parts(template: Any) -> list[str | int]:
    """Return the literal texts and group numbers of a parsed template, in order."""
    if isinstance(template, list):  # since Python 3.12
        return template
    places, texts = template
    parts: list[str | int] = [text or "" for text in texts]
    for place, group in places:
        parts[place] = group
    return parts


# --- patterns that Python's matcher matches in linear time ------------------------------------------------------------


def is_plain(tree: Any) -> bool:
    """Return whether Python's matcher needs only linear time for a parsed pattern, which is true of most.

    That is so if it has no alternatives, and repeats single characters only, each followed by a literal that the
    repeat cannot match: then there is one way to match. Only the last repeat may overlap its successor; each of its
    lengths is tried once.
    """
    items = _flat(tree, tree.state.flags)
    if items is None or tree.state.flags & ~int(re.UNICODE):
        return False
    ends = ("AT_BEGINNING", "AT_BEGINNING_STRING"), ("AT_END", "AT_END_STRING")
    if items and items[0].name in ends[0]:
        items = items[1:]
    if items and items[-1].name in ends[1]:
        items = items[:-1]
    if any(item.name.startswith("AT_") for item in items):
        return False
    repeats = [place for place, item in enumerate(items) if item.repeats]
    return all(_ends_itself(items[place], items[place + 1 : place + 2]) for place in repeats[:-1])


class _Item(NamedTuple):
    """One character or one assertion (`^`, `$`) of a pattern, once or repeated."""

    name: str
    node: Any
    repeats: bool = False


def _flat(nodes: Iterable[Any], flags: int) -> list[_Item] | None:
    """Return a pattern as a sequence of items, None if it has any other construct."""
    found: list[_Item] = []
    for operator, value in nodes:
        name = str(operator)
        if name in _ONE:
            found.append(_Item(name, (operator, value)))
        elif name == "AT":
            found.append(_Item(str(value), (operator, value)))
        elif name in _REPEATS and _is_one(value):
            found.append(_Item(str(value[2][0][0]), value[2][0], value[0] != value[1]))
        elif name == "SUBPATTERN" and not value[1] and not value[2]:
            inner = _flat(value[3], flags)
            if inner is None:
                return None
            found += inner
        else:
            return None
    return found


def _is_one(repeat: Any) -> bool:
    """Return whether a repeat is of a single character, of variable length or at most `_MOST_FIXED` times."""
    least, most, nodes = repeat
    return len(nodes) == 1 and str(nodes[0][0]) in _ONE and (least != most or 0 < most <= _MOST_FIXED)


def _ends_itself(item: _Item, following: Sequence[_Item]) -> bool:
    """Return whether a literal follows a repeat that the repeated character cannot match."""
    if not following or following[0].name != "LITERAL" or following[0].repeats:
        return False
    return not _alone(item.node, int(re.UNICODE)).match(chr(following[0].node[1]))


def _alone(node: Any, flags: int) -> re.Pattern[str]:
    """Return a compiled pattern of one node, to test one character or one position."""
    pattern = _parser.SubPattern(_parser.State(), [node])
    compiled: re.Pattern[str] = _compiler.compile(pattern, flags | re.UNICODE * (not flags & re.ASCII))
    return compiled


# --- all other patterns -----------------------------------------------------------------------------------------------


class _State(NamedTuple):
    """A state with its transitions, in order of preference: the first target that leads to a match is taken.

    With `takes`, `test` matches one character, which is consumed. Otherwise the transitions are epsilon transitions;
    `test`, if set, must match at the position. `group` records the position: 2n for the start of group n, 2n + 1 for
    its end.
    """

    targets: list[int]
    test: re.Pattern[str] | None = None
    takes: bool = False
    group: int | None = None


def _prefix(tree: Any) -> str:
    """Return a literal prefix of all matches: a cheap first test, which most URLs fail."""
    if tree.state.flags & re.IGNORECASE:
        return ""
    return "".join(chr(value) for _, value in takewhile(lambda node: str(node[0]) == "LITERAL", tree))


class Automaton:
    """A pattern as states, matched in two passes (A. Frisch and L. Cardelli, "Greedy regular expression matching").

    The first pass, backwards, finds for each position the states from which the rest of the text matches; the second,
    forwards, follows the path that a backtracking matcher would find first, without backtracking. A set of states is
    an integer with a bit for each state; `_known` caches transitions.
    """

    def __init__(self, tree: Any) -> None:
        self._states: list[_State] = [_State([])]  # the accepting state
        self._groups: int = tree.state.groups
        self._prefix = _prefix(tree)
        self._start = self._sequence(tree, tree.state.flags & _FLAGS, 0)
        self._takers = [
            (1 << number, state.targets[0], state.test)
            for number, state in enumerate(self._states)
            if state.takes and state.test is not None
        ]
        self._places = [number for number, state in enumerate(self._states) if state.test and not state.takes]
        self._before: list[list[int]] = [[] for _ in self._states]  # reversed epsilon transitions
        for number, state in enumerate(self._states):
            for target in () if state.takes else state.targets:
                self._before[target].append(number)
        self._known: BoundedCache[tuple[int, str, int], int] = BoundedCache(_MOST_KNOWN)

    def fullmatch(self, text: str) -> tuple[str | None, ...] | None:
        """Return the text and its groups, None for an unused one; None if the pattern does not match all the text."""
        leads = self._leading(text) if text.startswith(self._prefix) else None
        if leads is None:
            return None
        spans: list[int | None] = [None] * (2 * self._groups)
        number = self._start
        place = 0
        while number:
            state = self._states[number]
            if state.group is not None:
                spans[state.group] = place
            place += state.takes
            number = state.targets[0]
            if len(state.targets) > 1:
                number = next(target for target in state.targets if leads[place] >> target & 1)
        groups = zip(spans[2::2], spans[3::2], strict=True)
        return text, *(None if end is None else text[start:end] for start, end in groups)

    def _leading(self, text: str) -> list[int] | None:
        """Return for each position the set of states from which the rest matches; None if the text does not match."""
        leads = self._reaching(1, self._holding(text, len(text)))
        found = [leads]
        known = self._known.entries
        for place in range(len(text) - 1, -1, -1):
            holding = self._holding(text, place) if self._places else 0
            key = leads, text[place], holding
            before = known.get(key)
            leads = self._step(*key) if before is None else before
            if not leads:
                return None
            found.append(leads)
        found.reverse()
        return found if leads >> self._start & 1 else None

    def _step(self, leads: int, character: str, holding: int) -> int:
        """Return the states from which `character` leads into `leads`; in time independent of the text's length."""
        takers = 0
        for bit, target, test in self._takers:
            if leads >> target & 1 and test.match(character):
                takers |= bit
        return self._known.put((leads, character, holding), self._reaching(takers, holding))

    def _holding(self, text: str, place: int) -> int:
        """Return the states whose assertion (end of text, word boundary) holds at a position."""
        found = 0
        for number in self._places:
            test = self._states[number].test
            if test is not None and test.match(text, place):
                found |= 1 << number
        return found

    def _reaching(self, states: int, holding: int) -> int:
        """Return these states and all that reach them by epsilon transitions."""
        found = states
        waiting = [number for number in range(len(self._states)) if states >> number & 1]
        while waiting:
            for number in self._before[waiting.pop()]:
                is_open = self._states[number].test is None or holding >> number & 1
                if is_open and not found >> number & 1:
                    found |= 1 << number
                    waiting.append(number)
        return found

    # Each of these adds the states of a node, which lead to the state `after`, and returns the first of them.

    def _new(self, state: _State) -> int:
        if len(self._states) >= _MOST_STATES:
            raise UsageError("it is too large: repeats of repeats multiply")
        self._states.append(state)
        return len(self._states) - 1

    def _sequence(self, nodes: Any, flags: int, after: int) -> int:
        for node in reversed(list(nodes)):
            after = self._node(node, flags, after)
        return after

    def _node(self, node: Any, flags: int, after: int) -> int:
        operator, value = node
        name = str(operator)
        if name in _ONE:
            return self._new(_State([after], _alone(node, flags), takes=True))
        if name == "AT":
            return self._new(_State([after], _alone(node, flags)))
        if name == "BRANCH":
            return self._new(_State([self._sequence(branch, flags, after) for branch in value[1]]))
        if name == "SUBPATTERN":
            return self._group(value, flags, after)
        if name in _REPEATS:
            return self._repeat(value, flags, after, is_greedy=name == "MAX_REPEAT")
        raise UsageError(f"{_REFUSED.get(name, name)} cannot be matched in linear time")

    def _group(self, value: Any, flags: int, after: int) -> int:
        group, more, less, nodes = value
        flags = (flags | more) & ~less
        if group is None:
            return self._sequence(nodes, flags, after)
        after = self._new(_State([after], group=2 * group + 1))
        return self._new(_State([self._sequence(nodes, flags, after)], group=2 * group))

    def _repeat(self, value: Any, flags: int, after: int, *, is_greedy: bool) -> int:
        least, most, nodes = value
        if most > 1 and nodes.getwidth()[0] == 0:
            raise UsageError("a repeat of what may be empty can be read in many ways: say what has to be there")
        start = after
        if most == _parser.MAXREPEAT:
            targets: list[int] = []
            start = self._new(_State(targets))
            body = self._sequence(nodes, flags, start)
            targets += [body, after] if is_greedy else [after, body]
        else:
            for _ in range(most - least):
                body = self._sequence(nodes, flags, start)
                start = self._new(_State([body, after] if is_greedy else [after, body]))
        for _ in range(least):
            start = self._sequence(nodes, flags, start)
        return start
