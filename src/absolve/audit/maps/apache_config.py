"""Cut an Apache configuration into directives, with the sections around them.

In: the bytes of a file. Out: `Directive` for each directive (httpd.apache.org/docs/2.4/configuring.html#syntax).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.tables.text import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST: Final = 50  # sections in each other: each directive has all of them
_TOO_DEEP: Final = "its sections are nested too deep"


class Section(NamedTuple):
    """A section such as `<VirtualHost *:80>`: its name in lower case, its arguments, the line of its beginning."""

    name: str
    arguments: tuple[str, ...]
    line: int


class Directive(NamedTuple):
    """A directive: its name in lower case, its arguments as one text, the sections around it, outermost first.

    The name is `</` at the end of the innermost section, which is the last of `sections`.
    """

    line: int
    name: str
    rest: str
    sections: tuple[Section, ...]
    text: str
    problem: str | None = None


def directives(data: bytes) -> Iterator[Directive]:
    """Yield the directives of a configuration file, and the end of each section that they have."""
    sections: tuple[Section, ...] = ()
    deeper = 0  # sections in those
    for number, text, problem in _joined(data):
        if problem is not None:
            yield Directive(number, "", "", sections, text, problem)
        elif deeper and not text.startswith("<"):
            yield Directive(number, "", "", sections, text, _TOO_DEEP)
        elif text.startswith("</"):
            if sections and not deeper:
                yield Directive(number, "</", "", sections, text)
                sections = sections[:-1]
            deeper = max(deeper - 1, 0)
        elif text.startswith("<") and len(sections) == _DEEPEST:
            deeper += 1
        elif text.startswith("<"):
            name, _, rest = text[1:].rstrip("> \t").partition(" ")
            sections = (*sections, Section(name.lower(), tuple(words(rest)), number))
        else:
            name, *rest_of = text.split(None, 1)
            yield Directive(number, name.lower(), rest_of[0] if rest_of else "", sections, text)


def _joined(data: bytes) -> Iterator[tuple[int, str, str | None]]:
    """Yield lines without comments and blank ones; a backslash at the end of a line joins it with the next one."""
    start, held = 0, ""
    for number, text, problem in lines(data):
        start = start if held else number
        if problem is None and text.endswith("\\"):
            held += text[:-1]
            continue
        whole = (held + text).strip()
        held = ""
        if problem is not None or (whole and not whole.startswith("#")):
            yield start, whole, problem
    if held.strip():
        yield start, held.strip(), None


def words(text: str, *, is_raw: bool = False) -> list[str]:
    """Return the arguments of a directive: separated by white space, with quotes around those that contain some.

    A backslash protects a quote, and a second backslash; `is_raw`, as of RewriteRule: it stays, and protects a space.
    """
    found: list[str] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        quote = text[place] if text[place] in "\"'" else ""
        place += len(quote)
        word: list[str] = []
        while place < len(text) and (text[place] != quote if quote else not text[place].isspace()):
            following = text[place + 1 : place + 2]
            if text[place] == "\\" and following and (is_raw or following in {"\\", quote}):
                word.append(following if following == quote or not is_raw else text[place] + following)
                place += 2
                continue
            word.append(text[place])
            place += 1
        place += len(quote)
        found.append("".join(word))
    return found
