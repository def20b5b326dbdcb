"""The trees that `verify` compares equal html5lib's own trees, in much less memory."""

import random
from typing import Any

import pytest
from html5lib import treebuilders

from absolve.verifying import html_parser
from absolve.verifying.html5lib_today import Parser, Templates
from absolve.verifying.html_nodes import COMMENT, DOCTYPE, NOTHING, Builder, Tree
from tests.shapes.memory import traced
from tests.shapes.scale import not_traced

Row = tuple[str, int, dict[str, str], str, str]


class _Dom(Templates, treebuilders.getTreeBuilder("dom")):  # type: ignore[misc]
    """html5lib's builder of DOM trees, with texts as nodes that stay in place."""


_PIECES = (
    "<p>|</p>|<b>|</b>|<i>|</i>|<a href=x>|</a>|<table>|</table>|<tr>|<td>|</td>|<caption>|<select>|</select>|<option>"
    "|<template>|</template>|<svg>|</svg>|<g>|<desc>|<foreignObject>|<math>|<mi>|<form>|</form>|<button>|<div>|</div>"
    "|<h1>|<li>|<nobr>|<font color=x>|<!--c-->|<br>|<img src=x>|<frameset>|<title>t</title>|<style>s</style>|x| |y"
    "|<a xlink:href=y>|</head>|</body>|</html>|<html a=b>|<body c=d>|<!DOCTYPE>|<p class=a>|<b>|<i>|<table>|<td>"
).split("|")


def _said(tree: Tree) -> list[Row]:
    contents = [content or NOTHING for content in tree.contents()]
    rows = zip(tree.tags(), tree.sizes(), contents, strict=True)
    return [(tag, size, *content) for tag, size, content in rows]


def _said_by_dom(text: str) -> list[Row]:
    parser = Parser(_Dom)
    parser.parse(text)
    rows: list[Row] = []
    _add(parser.tree.dom, "DOCUMENT_ROOT", rows)
    return rows


def _key(attribute: Any) -> str:
    space = attribute.namespaceURI
    return f"{{{space}}}{attribute.localName}" if space else str(attribute.name)


def _add(node: Any, tag: str, rows: list[Row]) -> None:
    at = len(rows)
    texts = [""]
    rows.append((tag, 0, {}, "", ""))
    children = []
    for child in node.childNodes:
        if child.nodeType == child.TEXT_NODE:
            texts[-1] += child.data
            continue
        if child.nodeType == child.COMMENT_NODE:
            children.append(len(rows))
            rows.append((COMMENT, 0, {}, child.data, ""))
        elif child.nodeType == child.DOCUMENT_TYPE_NODE:
            children.append(len(rows))
            rows.append((DOCTYPE, 0, {}, child.name or "", ""))
        else:
            children.append(len(rows))
            _add(child, f"{{{child.namespaceURI}}}{child.nodeName}", rows)
        texts.append("")
    for child, tail in zip(children, texts[1:], strict=True):
        rows[child] = (*rows[child][:4], tail)
    attributes = {_key(one): one.value for one in node.attributes.values()} if node.attributes else {}
    rows[at] = (tag, len(children), attributes, texts[0], "")


@pytest.mark.parametrize("most", [1, 3, 4096])
@pytest.mark.parametrize("seed", range(6))
def test_nodes_closed_early_equal_those_of_a_complete_tree(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Builder, "most", most)
    chance = random.Random(seed)  # noqa: S311 - the same pages each time
    for _ in range(20):
        text = "".join(chance.choices(_PIECES, k=40))
        found, expected = _said(html_parser.parse(text)), _said_by_dom(text)
        assert found == expected, text


def test_a_node_closed_early_has_the_position_of_its_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Builder, "most", 1)
    tree = html_parser.parse("<p>\n<b>x</b>\n <!--y--><i></i>")
    places = {tag.rpartition("}")[2]: tree.position(index) for index, tag in enumerate(tree.tags())}
    assert places["p"] == (1, 1)
    assert places["b"] == (2, 1)
    assert places[COMMENT] == (3, 2)
    assert places["i"] == (3, 10)


@not_traced
@pytest.mark.parametrize("unit", ["<select>", "<p>", "<br>", "</b>x", "<b></b>y"])
def test_a_tree_takes_a_few_times_the_memory_of_its_text(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    html_parser.parse(unit)
    tree, peak = traced(lambda: html_parser.parse(text))
    assert len(tree) > 1
    assert peak < 20 * len(text)  # formerly 150 times the text
