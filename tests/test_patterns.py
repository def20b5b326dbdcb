"""No group has a possessive quantifier: CPython before 3.11.5 matches some of them wrongly (gh-106052).

The same with an atomic group is right everywhere: `(?>(?:...)*)` in place of `(?:...)*+`.
"""

import ast
import re
from pathlib import Path

import absolve

SOURCE = Path(absolve.__file__).parent
PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|\(\)|\)(?:[*+?]|\{[0-9,]+\})\+", re.DOTALL)


def possessive_groups(text: str) -> list[str]:
    """Return the quantifiers of a pattern that are possessive and belong to a group."""
    return [found[0] for found in PIECE.finditer(text) if found[0].startswith(")")]


def test_no_group_has_a_possessive_quantifier() -> None:
    quantifier = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+")  # few files have one in their text
    for path in sorted(path for path in SOURCE.rglob("*.py") if quantifier.search(path.read_text("utf-8"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                assert possessive_groups(text) == [], f"{path}:{node.lineno}"
