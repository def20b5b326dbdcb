"""Graphs of who links to whom, for Graphviz (DOT) and for programs that read GraphML (Gephi, yEd, networkx).

In: rows of links, each with the document, its own URL and a target. Out: a directed graph. A node is a URL without its
fragment, or the name of a document whose URL is unknown. All links from one node to another are one edge, with their
number. Targets without a host or path, such as `mailto:`, `data:` and `javascript:`, are no nodes.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import IO, TYPE_CHECKING, Final

from absolve.tables import Sink
from absolve.tables.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.tables import Table

_HIERARCHICAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+://")
# Control characters, which neither DOT nor XML can have, and the noncharacters that XML excludes (XML 1.0 2.2).
_UNWRITABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class _Graph:
    """The nodes by their number, the documents among them, and the number of links of each edge."""

    def __init__(self, chunks: Iterable[tuple[str, bytes]]) -> None:
        self.nodes: dict[str, int] = {}
        self.documents: dict[int, str] = {}
        self.edges: dict[tuple[int, int], int] = {}
        for _, chunk in chunks:
            for line in bytes(chunk).splitlines():
                row = json.loads(line)
                self._add(row["document"], row["url"], row["target"])

    def _add(self, document: str, url: str | None, target: str | None) -> None:
        source = self._node(url or document)
        self.documents.setdefault(source, document)
        if target is not None and _HIERARCHICAL.match(target):
            edge = source, self._node(target.partition("#")[0])
            self.edges[edge] = self.edges.get(edge, 0) + 1

    def _node(self, name: str) -> int:
        return self.nodes.setdefault(name, len(self.nodes))


# --- DOT --------------------------------------------------------------------------------------------------------------


def _dot(_: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    graph = _Graph(chunks)
    file.write(b"digraph links {\n  rankdir=LR\n  node [shape=plain]\n")
    file.writelines(f"{line}\n".encode() for line in _dot_lines(graph))
    file.write(b"}\n")


def _dot_lines(graph: _Graph) -> Iterator[str]:
    names = [_dot_text(name) for name in graph.nodes]
    for number, name in enumerate(names):
        yield f"  {name} [shape=box]" if number in graph.documents else f"  {name}"
    for (source, target), count in graph.edges.items():
        yield f"  {names[source]} -> {names[target]}{f' [weight={count}]' if count > 1 else ''}"


def _dot_text(text: str) -> str:
    """Return a quoted string of the DOT language; a backslash is doubled, because labels have escapes with it."""
    return f'"{_writable(text).replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"'


# --- GraphML ----------------------------------------------------------------------------------------------------------

_HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="document" for="node" attr.name="document" attr.type="string"/>
<key id="links" for="edge" attr.name="links" attr.type="int"/>
<graph id="links" edgedefault="directed">
"""
_END: Final = "</graph>\n</graphml>\n"


def _graphml(_: Sequence[Table], chunks: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    graph = _Graph(chunks)
    file.write(_HEAD.encode())
    file.writelines(f"{line}\n".encode() for line in _graphml_lines(graph))
    file.write(_END.encode())


def _graphml_lines(graph: _Graph) -> Iterator[str]:
    names = [escape(_writable(name)) for name in graph.nodes]
    for number, name in enumerate(names):
        found = graph.documents.get(number)
        data = f'<data key="document">{escape(_writable(found))}</data>' if found is not None else ""
        yield f'<node id="{name}">{data}</node>' if data else f'<node id="{name}"/>'
    for (source, target), count in graph.edges.items():
        yield f'<edge source="{names[source]}" target="{names[target]}"><data key="links">{count}</data></edge>'


def _writable(text: str) -> str:
    """Return a text without characters that the formats exclude, which are percent-escaped as in a URL."""
    return _UNWRITABLE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)


DOT: Final = Sink(encode, _dot)
GRAPHML: Final = Sink(encode, _graphml)
