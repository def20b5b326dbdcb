"""Formats that are made of a table: graphs of links (DOT, GraphML), and sitemaps."""

import io
import json
import shutil
import subprocess
from typing import Any, Final

import pytest
from lxml import etree

from absolve.tables import FORMATS, by_name
from absolve.tables.inventory import typed_table

A, B = "http://h.example/a", "http://h.example/b?x=1&y=<2>"
ODD: Final = 'fol"der\\new\nline\x01&<é\ufffe/p.html'
LINKS: Final = [
    ("a.html", A, B),
    ("a.html", A, f"{B}#top"),
    ("a.html", A, "mailto:x@h.example"),
    ("a.html", A, "data:text/html,http://x/"),
    ("a.html", A, None),
    ("b.html", B, A),
    (ODD, None, A),
]


def made(format_: str, *chunks: list[tuple[Any, ...]]) -> bytes:
    form, sink, file = FORMATS[format_], by_name(format_), io.BytesIO()
    encoded = [(form.of, memoryview(sink.encode(form.needs, rows))) for rows in chunks]
    sink.write([typed_table(form.of, form.needs)], encoded, file)
    return file.getvalue()


@pytest.mark.parametrize("format_", ["dot", "graphml", "sitemap"])
def test_no_rows_are_an_empty_but_valid_file(format_: str) -> None:
    nothing: list[list[list[tuple[Any, ...]]]] = [[], [[]]]
    for rows in nothing:
        text = made(format_, *rows).decode()
        assert "//h" not in text
        assert text.endswith(("}\n", ">\n"))


def test_dot_has_each_edge_once_and_no_text_ends_a_string() -> None:
    assert made("dot", LINKS[:3], LINKS[3:]).decode().splitlines()[3:-1] == [
        f'  "{A}" [shape=box]',
        f'  "{B}" [shape=box]',
        '  "fol\\"der\\\\new%0Aline%01&<é%EF%BF%BE/p.html" [shape=box]',
        f'  "{A}" -> "{B}" [weight=2]',
        f'  "{B}" -> "{A}"',
        f'  "fol\\"der\\\\new%0Aline%01&<é%EF%BF%BE/p.html" -> "{A}"',
    ]


def test_graphviz_reads_dot() -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed")
    done = subprocess.run([program, "-Tjson0"], input=made("dot", LINKS), capture_output=True, check=True)
    graph = json.loads(done.stdout)
    assert [node["name"].count("/p.html") for node in graph["objects"]] == [0, 0, 1]
    assert len(graph["edges"]) == 3


def test_graphml_has_the_nodes_before_the_edges_each_once() -> None:
    root = etree.fromstring(made("graphml", LINKS))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = root.find(f"{space}graph")
    assert graph is not None
    odd = 'fol"der\\new%0Aline%01&<é%EF%BF%BE/p.html'
    assert [(one.tag.removeprefix(space), *one.attrib.values(), *one.itertext()) for one in graph] == [
        ("node", A, "a.html"),
        ("node", B, "b.html"),
        ("node", odd, odd),
        ("edge", A, B, "2"),
        ("edge", B, A, "1"),
        ("edge", odd, A, "1"),
    ]


def test_networkx_reads_graphml() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.read_graphml(io.BytesIO(made("graphml", LINKS)))
    assert type(graph) is networkx.DiGraph
    assert (graph[A][B], graph.nodes[A]) == ({"links": 2}, {"document": "a.html"})


def page(url: str | None, status: int | None = 200, media_type: str = "text/html", canonical: str | None = None, robots: str | None = None) -> tuple[Any, ...]:
    return url, status, media_type, canonical, robots


def urls(*rows: tuple[Any, ...]) -> list[str]:
    root = etree.fromstring(made("sitemap", list(rows)))
    assert root.tag == "{http://www.sitemaps.org/schemas/sitemap/0.9}urlset"
    return [str(loc.text) for loc in root.iter("{*}loc")]


def test_a_sitemap_has_each_page_that_may_be_indexed_once_and_in_ascii() -> None:
    assert urls(page(B), page(A, None), page(f"{A}#x"), page("HTTP://Bücher.example/ü?<é>"), page(A, canonical=A)) == [
        "http://h.example/b?x=1&y=%3C2%3E",
        A,
        "http://xn--bcher-kva.example/%C3%BC?%3C%C3%A9%3E",
    ]


@pytest.mark.parametrize(
    "row",
    [
        page(None),
        page(A, 404),
        page(A, 301),
        page(A, media_type="image/png"),
        page(A, canonical=B),
        *(page(A, robots=text) for text in ("noindex", "nofollow, NOINDEX", "none", "index googlebot: noindex,nofollow")),
        page("file:///p.html"),
        page("package:///p.html"),
        page("http://user:pass@h.example/"),
        page(f"http://h.example/{'x' * 2048}"),
    ],
    ids=repr,
)
def test_other_documents_are_in_no_sitemap(row: tuple[Any, ...]) -> None:
    assert urls(row, page(B, robots="max-snippet:-1, nonesuch")) == ["http://h.example/b?x=1&y=%3C2%3E"]


def test_more_urls_than_a_sitemap_can_have_are_an_error_before_anything_is_written() -> None:
    rows = [page(f"http://h.example/{number}") for number in range(50_001)]
    assert len(urls(*rows[:-1])) == 50_000
    with pytest.raises(OSError, match="at most 50,000 URLs"):
        made("sitemap", rows)
