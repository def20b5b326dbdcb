"""Reader of css-parsing-tests: each case with the references that the tokens of its expected tree contain.

The format is described in the suite's README (SimonSapin/css-parsing-tests): a tree is a list of component values and
rules. Files without tokens (An+B, colours) are skipped.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

_FILES: Final = (
    "component_value_list", "one_component_value", "declaration_list", "one_declaration", "rule_list", "one_rule",
    "stylesheet",
)
_AT_RULE, _RULE, _DECLARATION = "at-rule", "qualified rule", "declaration"
_NESTED: Final = ("function", "{}", "[]", "()")
_OPEN: Final = ("eof-in-string", "eof-in-url")


class Case(NamedTuple):
    """One case: `tree` is the expected tree of `css`."""

    name: str
    css: str
    tree: list[Any]

    @property
    def references(self) -> list[str]:
        """Yield the values of url tokens, of strings that begin a url(), and of strings after @import."""
        return list(_references(self.tree))

    @property
    def strings(self) -> list[str]:
        """Yield string tokens outside of blocks, and urls, up to an unmatched closing parenthesis."""
        return list(_strings(self.tree))

    @property
    def ends_open(self) -> bool:
        """Return whether the end of the file ended a string or url, so that appended text would be inside it."""
        return any(f"'{error}'" in str(self.tree) for error in _OPEN)


class BytesCase(NamedTuple):
    """A style sheet as bytes: its external charset declarations, and the expected charset."""

    name: str
    data: bytes
    protocol: str | None
    environment: str | None
    charset: str


def cases(folder: Path, files: tuple[str, ...] = _FILES) -> Iterator[Case]:
    for file in files:
        content = json.loads(folder.joinpath(f"{file}.json").read_text("utf-8"))
        for number, (css, tree) in enumerate(zip(content[::2], content[1::2], strict=True)):
            one = file.startswith("one_")
            yield Case(f"{file}:{number}", css, [tree] if one else tree)


def bytes_cases(folder: Path) -> Iterator[BytesCase]:
    content = json.loads(folder.joinpath("stylesheet_bytes.json").read_text("utf-8"))
    for number, (given, (_, charset)) in enumerate(zip(content[::2], content[1::2], strict=True)):
        encodings = given.get("protocol_encoding"), given.get("environment_encoding")
        yield BytesCase(f"stylesheet_bytes:{number}", given["css_bytes"].encode("latin-1"), *encodings, charset)


def _references(values: list[Any]) -> Iterator[str]:
    for value in values:
        kind = value[0] if isinstance(value, list) else None
        if kind == _AT_RULE:
            yield from _references(value[2] if value[1].lower() != "import" else _marked(value[2]))
            yield from _references(value[3] or [])
        elif kind == _RULE:
            yield from _references(value[1])
            yield from _references(value[2])
        elif kind == _DECLARATION:
            yield from _references(value[2])
        elif kind == "url":
            yield value[1]
        elif kind == "function" and value[1].lower() == "url":
            yield from _references(_marked(value[2:]))
        elif kind in _NESTED:
            yield from _references(value[1:])


def _marked(values: list[Any]) -> list[Any]:
    """Return the values with an initial string, if any, as a url."""
    at = 1 if values[:1] == [" "] else 0
    if at < len(values) and isinstance(values[at], list) and values[at][0] == "string":
        return [["url", values[at][1]], *values[at + 1 :]]
    return values


def _strings(values: list[Any]) -> Iterator[str]:
    for number, value in enumerate(values):
        if value == ["error", ")"]:
            yield from _references(values[number + 1 :])
            return
        yield from [value[1]] if isinstance(value, list) and value[0] == "string" else _references([value])
