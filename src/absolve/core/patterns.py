r"""Regular expressions that match in linear time, by google-re2: for a user's rules over hostile text.

In: patterns in the common syntax of PCRE, Python and RE2. Out: matchers, templates, and sets that find all
matching patterns of many in one pass. Look-around and back-references, which no automaton can match, raise UsageError.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from absolve.core.errors import MissingPackageError, UsageError, in_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_MEMORY: Final = 64 << 20  # bytes that one set of patterns, or one pattern, may use
_ALL_SETS: Final = 512 << 20  # bytes that all sets may use together
_MOST_COMPILED: Final = 4096
_AT_ONCE: Final = 256  # patterns in a set: the automaton of more is too large
_MOST_GROUPS: Final = 99  # RE2 copies all groups at each character of a text
_NAMES: Final = {
    "(?!": "look-ahead",
    "(?=": "look-ahead",
    "(?<!": "look-behind",
    "(?<=": "look-behind",
    "(?>": "an atomic group",
    "(?(": "a condition on a group",
    "(?P=": "a back-reference",
}
_GROUP: Final = re.compile(r"\\(?:g<(\w+)>|(\d{1,2})|(.))", re.DOTALL)
_DIGITS: Final = 2  # digits of a group number: there are 99 groups at most
# For `backtracks`, in a pattern whose escapes and classes are one letter.
_ONE_CHARACTER: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_OPENING: Final = re.compile(r"\(\?(?:P?<\w+>|[a-zA-Z-]*:)")
_PREFIX: Final = re.compile(r"\^((?:[^\\.\[\](){}*+?|^$]|\\[^\w\s])*)(\$?)")  # a pattern that begins or is a text
_BYTES: Final = re.compile(r"((?:\\x[89A-Fa-f][0-9A-Fa-f])+)|\\.", re.DOTALL)
_REPEAT: Final = r"(?:[*+]|\{\d*,(?!1\})\d*\})[?+]?"
_OPEN: Final = re.compile(rf"{_REPEAT}\)*(?:\(*[^()|]\?\)*)*\(*[^()|]{_REPEAT}|\){_REPEAT}")


class Matcher(Protocol):
    """Searches a text: the whole match and the groups, None for an unused group; None if the pattern does not match."""

    def __call__(self, text: str) -> tuple[str | None, ...] | None: ...


@cache
def _library() -> Any:
    try:
        import re2
    except ImportError as error:
        raise MissingPackageError("regular expressions need google-re2: pip install google-re2") from error
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
    if _compiled(pattern, ignores_case).groups > _MOST_GROUPS:
        raise UsageError(f"it has more than {_MOST_GROUPS} groups")

    def search(text: str) -> tuple[str | None, ...] | None:
        try:
            found = _compiled(pattern, ignores_case).search(text)
        except UnicodeEncodeError:  # a lone surrogate is no character that a pattern can name
            return None
        return None if found is None else (found[0], *found.groups())

    return search


@lru_cache(maxsize=_MOST_COMPILED)
def _compiled(pattern: str, ignores_case: bool) -> Any:
    library = _library()
    try:
        return library.compile(pattern, options=_options(ignores_case=ignores_case))
    except (library.error, UnicodeEncodeError) as error:
        raise UsageError(_reason(pattern, error)) from error


def names(pattern: str) -> dict[str, int]:
    """Return the numbers of the named groups of a pattern that `matcher` accepts."""
    return dict(_compiled(pattern, False).groupindex)


def groups(pattern: str) -> int:
    """Return the number of groups of a pattern that `matcher` accepts."""
    number: int = _compiled(pattern, False).groups
    return number


def template(text: str, pattern: str) -> tuple[str | int, ...]:
    r"""Return the texts and group numbers of a template: for example, `\1-x\g<2>` gives 1, `-x`, 2.

    It has Python's syntax: `\1`, `\g<1>`, `\g<name>`, `\\`. Raise UsageError for a group that the pattern does not
    have, and for any other letter behind a backslash.
    """
    parts: list[str | int] = []
    place = 0
    for found in _GROUP.finditer(text):
        parts.append(text[place : found.start()])
        place = found.end()
        if found[3] is not None:
            if found[3].isalpha():
                raise UsageError(f"the target has an escape that means nothing: {found[0]}")
            parts.append(found[3])
            continue
        name = found[1] or found[2]
        number = int(name) if name.isdecimal() and len(name) <= _DIGITS else names(pattern).get(name, -1)
        if not 0 <= number <= groups(pattern):
            raise UsageError(f"the target names a group that is not there: {in_short(found[0])}")
        parts.append(number)
    parts.append(text[place:])
    return tuple(part for part in parts if part != "")


def whole_matcher(pattern: str) -> Matcher:
    """Return a matcher of whole texts. Raise UsageError with the reason for a pattern that cannot be used."""
    matcher(pattern)  # raises for `a)(b`, which is right in parentheses
    return matcher(f"^(?:{pattern})$")


def of_bytes(pattern: str) -> str:
    r"""Return a pattern of a server, which matches bytes, with the characters that its escapes write in UTF-8.

    For example, `caf\xc3\xa9` gives `café`: here a pattern matches characters.
    """

    def character(found: re.Match[str]) -> str:
        try:
            return bytes.fromhex(found[1].replace("\\x", "")).decode() if found[1] else found[0]
        except UnicodeDecodeError:
            return found[0]

    return _BYTES.sub(character, pattern)


def backtracks(pattern: str) -> bool:
    """Return whether a pattern that `matcher` accepts may take PCRE more than linear time.

    For example, `(a+)+` may: a repetition of a group; so may two repetitions in a row.
    """
    return _OPEN.search(_OPENING.sub("(", _ONE_CHARACTER.sub("x", pattern))) is not None


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
    """Many patterns, each with a number: `candidates` are those that match a text, found in one pass."""

    def __init__(self, patterns: Iterable[tuple[str, bool]]) -> None:
        """Take patterns that `matcher` accepts, each with whether it ignores case."""
        self._sets: list[tuple[Any, list[int]]] = []
        self._others: list[int] = []
        self._texts: dict[tuple[str, str], list[int]] = {}  # by the beginning of a text, or by all of it with "$"
        self._lengths: set[int] = set()
        pairs = list(patterns)
        if len(pairs) < 4:
            self._others = list(range(len(pairs)))
            return
        memory = max(_ALL_SETS // (len(pairs) // _AT_ONCE + 1), 1 << 20)
        self._memory = min(memory, _MOST_MEMORY)
        for ignores_case in (False, True):
            numbers = [number for number, (_, ignoring) in enumerate(pairs) if ignoring == ignores_case]
            if not ignores_case:
                numbers = [number for number in numbers if not self._is_text(number, pairs[number][0])]
            for start in range(0, len(numbers), _AT_ONCE):
                self._add([(number, pairs[number][0]) for number in numbers[start : start + _AT_ONCE]], ignores_case)

    def _is_text(self, number: int, pattern: str) -> bool:
        r"""Add a pattern such as `^/a\.html$` or `^/a/`, and return True; return False for any other."""
        found = _PREFIX.fullmatch(pattern)
        if found is None:
            return False
        text = re.sub(r"\\(.)", r"\1", found[1])
        self._texts.setdefault((text, found[2]), []).append(number)
        if not found[2]:
            self._lengths.add(len(text))
        return True

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
        found = list(self._others)
        if self._texts:
            found += self._texts.get((text, "$"), ())
            for length in self._lengths:
                found += self._texts.get((text[:length], ""), ()) if length <= len(text) else ()
        for made, numbers in self._sets:
            try:
                matched = made.Match(text)
            except UnicodeEncodeError:  # a lone surrogate is no character that a pattern can name
                return []
            found += [numbers[place] for place in matched if place < len(numbers)] if matched else numbers
        found.sort()
        return found
