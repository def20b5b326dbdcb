"""Reader of html5lib-tests: tree-construction and tokenizer tests, with their expected start tags.

The format is described in the suite's repository (html5lib/html5lib-tests). Fragment cases and cases with scripting are
skipped: absolve reads documents like a browser without scripting.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from html5lib_view import Element, lower


class TreeTest(NamedTuple):
    """One tree-construction case: `expected` has the elements of the tree in tree order, including implied ones."""

    name: str
    data: str
    expected: list[Element]


class TokenTest(NamedTuple):
    """One case of the tokenizer in one initial state; `prefix` is markup that leads to this state."""

    name: str
    prefix: str
    data: str
    expected: list[tuple[str, dict[str, str]]]


_SECTION: Final = re.compile(r"^#(data|errors|new-errors|document-fragment|document|script-on|script-off)$", re.MULTILINE)
_ELEMENT: Final = re.compile(r"<(?:(svg|math) )?([^<>]*|[^\"]*)>")


def tree_tests(folder: Path) -> Iterator[TreeTest]:
    """Yield every document of the suite's tree-construction tests."""
    for path in sorted(folder.glob("*.dat")):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        for number, sections in enumerate(_cases(text)):
            if "document-fragment" not in sections and "script-on" not in sections:
                yield TreeTest(f"{path.name}:{number}", sections["data"], _elements(sections["document"]))


def _cases(text: str) -> Iterator[dict[str, str]]:
    """Yield the sections of each case by name, without the line ends that separate them."""
    sections: dict[str, str] = {}
    parts = _SECTION.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name == "data" and sections:
            yield sections
            sections = {}
        sections[name] = body[1:].removesuffix("\n")
    yield sections


def _elements(document: str) -> list[Element]:
    found: list[Element] = []
    in_text = False
    for line in document.split("\n"):
        node = line[2:].lstrip(" ") if line.startswith("| ") and not in_text else ""
        if in_text or node.startswith('"'):
            in_text = not (line.endswith('"') and (in_text or len(node) > 1))
        elif (element := _ELEMENT.fullmatch(node)) and not node.startswith(("<!", "<?")) and '="' not in node:
            found.append(Element(element[1] or "html", lower(element[2]), {}))
        elif '="' in node and not node.startswith("<!"):
            name, _, value = node.partition('="')
            found[-1].attributes[_attribute_name(name)] = value.removesuffix('"')
    return found


def _attribute_name(name: str) -> str:
    """Return the attribute name as in a document: `xlink:href` for `xlink href`, `xmlns` for `xmlns xmlns`."""
    return (lower(name) .replace("xmlns xmlns", "xmlns") .replace("xlink ", "xlink:") .replace("xml ", "xml:") .replace("xmlns ", "xmlns:"))


_PREFIXES: Final = {
    "Data state": "", "PLAINTEXT state": "<plaintext>", "RCDATA state": "<title>", "RAWTEXT state": "<xmp>", "Script data state": "<script>",
    "CDATA section state": "<svg><![CDATA[",
}


def token_tests(folder: Path) -> Iterator[TokenTest]:
    """Yield every tokenizer case, once for each of its initial states."""
    for path in sorted(folder.glob("*.test")):
        content = json.loads(path.read_text("utf-8"))
        for number, case in enumerate(content.get("tests") or content["xmlViolationTests"]):
            given, output = case["input"], case["output"]
            if case.get("doubleEscaped"):
                given, output = _unescaped(given), _unescaped(output)
            expected = [(token[1], token[2]) for token in output if token[0] == "StartTag"]
            for state in case.get("initialStates", ["Data state"]):
                prefix = _PREFIXES[state]
                if state in {"RCDATA state", "RAWTEXT state"} and "lastStartTag" in case:
                    prefix = f"<{case['lastStartTag']}>"
                yield TokenTest(f"{path.name}:{number}:{state}", prefix, given, expected)


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda escape: chr(int(escape[1], 16)), value)
    if isinstance(value, dict):
        return {_unescaped(key): _unescaped(inner) for key, inner in value.items()}
    return [_unescaped(inner) for inner in value] if isinstance(value, list) else value
