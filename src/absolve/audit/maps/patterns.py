"""Regular expressions of maps, matched in linear time: by google-re2, else by the automaton of `core`.

In: patterns in the common syntax of PCRE and RE2. Out: matchers, and sets that find all matching patterns of many in
one pass. Raise UsageError for a pattern that neither can match: look-around, back-references.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from absolve.core.errors import UsageError
from absolve.core.linear_patterns import Automaton

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_MEMORY: Final = 64 << 20  # bytes that one set of patterns, or one pattern, may use
_ALL_SETS: Final = 512 << 20  # bytes that all sets may use together
_MOST_COMPILED: Final = 4096
_AT_ONCE: Final = 256  # patterns in a set: the automaton of more is too large
_MOST_GROUPS: Final = 99  # RE2 copies all groups at each character of a text
_GROUP_NAME: Final = re.compile(r"\(\?<(?=[A-Za-z_])")
_NAMES: Final = {
    "(?!": "look-ahead",
    "(?=": "look-ahead",
    "(?<!": "look-behind",
    "(?<=": "look-behind",
    "(?>": "an atomic group",
}


class Matcher(Protocol):
    """Searches a text: the whole match and the groups, None for an unused group; None if the pattern does not match."""

    def __call__(self, text: str) -> tuple[str | None, ...] | None: ...


@cache
def _library() -> Any:
    try:
        import re2
    except ImportError:
        return None
    return re2


@cache
def _options(*, ignores_case: bool, memory: int = _MOST_MEMORY) -> Any:
    options = _library().Options()
    options.log_errors = False
    options.max_mem = memory
    options.case_sensitive = not ignores_case
    return options


def matcher(pattern: str, *, ignores_case: bool = False) -> Matcher:
    """Return a matcher for a pattern, which may match anywhere in the text. Raise UsageError with the reason.

    Compiled patterns are cached: a map may have more of them than memory can hold.
    """
    if _library() is None:
        return _automaton(pattern, ignores_case=ignores_case)
    if _compiled(pattern, ignores_case).groups > _MOST_GROUPS:
        raise UsageError(f"it has more than {_MOST_GROUPS} groups")

    def search(text: str) -> tuple[str | None, ...] | None:
        found = _compiled(pattern, ignores_case).search(text)
        return None if found is None else (found[0], *found.groups())

    return search


@lru_cache(maxsize=_MOST_COMPILED)
def _compiled(pattern: str, ignores_case: bool) -> Any:
    library = _library()
    try:
        return library.compile(pattern, options=_options(ignores_case=ignores_case))
    except library.error as error:
        raise UsageError(_reason(pattern, error)) from error


def names(pattern: str, *, ignores_case: bool = False) -> dict[str, int]:
    """Return the numbers of the named groups of a pattern that `matcher` accepts."""
    if _library() is None:
        return dict(re.compile(_GROUP_NAME.sub("(?P<", pattern)).groupindex)
    return dict(_compiled(pattern, ignores_case).groupindex)


def groups(pattern: str) -> int:
    """Return the number of groups of a pattern that `matcher` accepts."""
    if _library() is None:
        return re.compile(_GROUP_NAME.sub("(?P<", pattern)).groups
    number: int = _compiled(pattern, False).groups
    return number


def backtracks(pattern: str) -> bool:
    """Return whether a pattern that `matcher` accepts may take PCRE more than linear time.

    It may with a repetition in a repetition, alternatives in one that begin alike, and two repetitions in a row.
    """
    parser: Any = __import__("re._parser", fromlist=["parse"])
    try:
        return _backtracks(parser.parse(_GROUP_NAME.sub("(?P<", pattern)), is_repeated=False)
    except (re.error, OverflowError, RecursionError):
        return True  # syntax of RE2 alone, or nested too deep


def _backtracks(tree: Iterable[tuple[Any, Any]], *, is_repeated: bool) -> bool:
    follows = False  # a repetition, without anything in between
    for name, argument in tree:
        operation = str(name)
        is_open = operation.endswith("REPEAT") and argument[1] > max(argument[0], 1)
        if is_open and (is_repeated or follows):
            return True
        inner = argument[-1] if operation.endswith("REPEAT") or operation == "SUBPATTERN" else ()
        if inner and (_backtracks(inner, is_repeated=is_repeated or is_open) or (follows and _ends_open(inner))):
            return True
        if operation == "BRANCH":
            firsts = [one[0] if len(one) and str(one[0][0]) == "LITERAL" else None for one in argument[1]]
            if is_repeated and (None in firsts or len(set(firsts)) < len(firsts)):
                return True
            if any(_backtracks(one, is_repeated=is_repeated) for one in argument[1]):
                return True
        follows = is_open or _ends_open(inner)
    return False


def _ends_open(tree: Any) -> bool:
    """Return whether a group is nothing but a repetition."""
    return len(tree) == 1 and str(tree[0][0]).endswith("REPEAT") and tree[0][1][1] > 1


def _automaton(pattern: str, *, ignores_case: bool) -> Matcher:
    parser: Any = __import__("re._parser", fromlist=["parse"])
    pattern = _GROUP_NAME.sub("(?P<", pattern)
    flags = re.IGNORECASE if ignores_case else 0
    try:
        tree = parser.parse(rf"(?s:.*?)({pattern})(?s:.*)", flags)
        automaton = Automaton(tree)
    except (re.error, OverflowError) as error:
        raise UsageError(str(error)) from error
    except RecursionError:
        raise UsageError("it is nested too deep") from None

    def search(text: str) -> tuple[str | None, ...] | None:
        found = automaton.fullmatch(text)
        return None if found is None else found[1:]

    return search


def _reason(pattern: str, error: Exception) -> str:
    """Return the reason why a pattern cannot be used; RE2 calls look-around a syntax error."""
    for sign, name in _NAMES.items():
        if sign in pattern:
            return f"{name} cannot be matched in linear time"
    text = error.args[0] if error.args else ""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    if "invalid escape sequence" in text and any(f"\\{digit}" in pattern for digit in "123456789"):
        return "a back-reference cannot be matched in linear time"
    return text or "it is no regular expression"


class PatternSet:
    """Many patterns, each with a number: `candidates` are those that match a text, in one pass where RE2 is there."""

    def __init__(self, patterns: Iterable[tuple[str, bool]]) -> None:
        """Take patterns that `matcher` accepts, each with whether it ignores case."""
        self._sets: list[tuple[Any, list[int]]] = []
        self._others: list[int] = []
        self._count = 0
        given = list(patterns)
        self._count = len(given)
        library = _library()
        if library is None or len(given) < 4:
            self._others = list(range(len(given)))
            return
        memory = max(_ALL_SETS // (len(given) // _AT_ONCE + 1), 1 << 20)
        self._memory = min(memory, _MOST_MEMORY)
        for ignores_case in (False, True):
            numbers = [number for number, (_, ignoring) in enumerate(given) if ignoring == ignores_case]
            for start in range(0, len(numbers), _AT_ONCE):
                self._add([(number, given[number][0]) for number in numbers[start : start + _AT_ONCE]], ignores_case)

    def _add(self, chunk: Sequence[tuple[int, str]], ignores_case: bool) -> None:
        made = _library().Set.SearchSet(_options(ignores_case=ignores_case, memory=self._memory))
        numbers = []
        for number, pattern in chunk:
            try:
                made.Add(pattern)
            except _library().error:
                self._others.append(number)
            else:
                numbers.append(number)
        try:
            made.Add("")  # matches any text: without it the memory was not enough for the others
            made.Compile()
        except _library().error:
            self._others += numbers
        else:
            self._sets.append((made, numbers))

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the patterns that may match, in ascending order: all that do are among them."""
        if not self._count:
            return []
        found = list(self._others)
        for made, numbers in self._sets:
            matched = made.Match(text)
            found += [numbers[place] for place in matched if place < len(numbers)] if matched else numbers
        found.sort()
        return found
