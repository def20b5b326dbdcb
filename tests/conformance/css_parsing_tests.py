"""css-parsing-tests, read: each case with the references that the tokens of its expected tree are.

The suite's README (SimonSapin/css-parsing-tests) has the format: a tree is a list of component values and rules. What
holds no tokens (An+B, colours) is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FILES: Final = (
    "component_value_list",
    "one_component_value",
    "declaration_list",
    "one_declaration",
    "rule_list",
    "one_rule",
    "stylesheet",
)
_AT_RULE, _RULE, _DECLARATION = "at-rule", "qualified rule", "declaration"
_NESTED: Final = ("function", "{}", "[]", "()")
_OPEN: Final = ("eof-in-string", "eof-in-url")


class Case(NamedTuple):
    """One case: `tree` is what the suite expects of `css`."""

    name: str
    css: str
    tree: list[Any]

    @property
    def references(self) -> list[str]:
        """Of url tokens, of strings that begin a url(), and of those that follow @import."""
        return list(_references(self.tree))

    @property
    def strings(self) -> list[str]:
        """Of the string tokens that stand in no block, and of urls, up to a parenthesis that closes what is around."""
        return list(_strings(self.tree))

    @property
    def ends_open(self) -> bool:
        """Whether the end of the file ended a string or url: what is put behind the text is in it."""
        return any(f"'{error}'" in str(self.tree) for error in _OPEN)


class BytesCase(NamedTuple):
    """A style sheet as bytes: what is said of its charset beside it, and what it is read as."""

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
    """The values with the string that begins them, if one does, as a url."""
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
