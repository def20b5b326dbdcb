"""Jupyter notebooks and JSON Feeds: the documents in their strings, and the URLs of a feed."""

import json
import time
from typing import Any

import pytest

import absolve

OPTIONS: dict[str, Any] = {"url": "http://h/d/"}


def cell(source: str, **others: object) -> str:
    return f'{{"source": {source}, {json.dumps({"cell_type": "markdown", **others}, ensure_ascii=False)[1:]}'


# Notebooks and feeds, in which `§` is where a relative reference gets its base.
NOTEBOOK = [
    cell('"[a](§b) \\"[c](§d)\\" ![e](attachment:f.png) \\u005b[g](§h\\u0069)"'),
    cell('["# a\\n", "<img src=\\"§b.png\\" width=\\"80\\"> <a href=\\"§c\\">\\n", "[d](§e\\n",\n  "\'f\')"]'),
    cell('["```\\n", "[a](b)\\n", "```\\n"]'),
    cell('"[a](b)"', cell_type="code", outputs=[{"data": {"text/html": ["<p\n", "><a href='§x'>"], "text/plain": "<a href=x>", "text/markdown": "[a](§b)"}}]),
    cell('"<a href=x>"', cell_type="raw"),
    cell('"x"', outputs=[{"data": {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'><a href='§x'/></svg>", "application/json": {"text/html": [1]}}}]),
    cell("[]"),
    cell('["[a](b)", 1]'),
    cell('"[a](b)", "source": "[c](d)"'),
    cell('["[a](b)"], "source": ["[c](d)", "[e](f)"]'),
]
FEED = (
    '{"version": "https:\\/\\/jsonfeed.org\\/version\\/1.1", "title": "a/b", "home_page_url": "§x", "feed_url": "§feed.json", "icon": "§i.png",'
    ' "hubs": [{"type": "a", "url": "§hub"}], "items": [{"id": "/1", "url": "§p\\/1", "external_url": "§q", "content_html": "<p><a href=\\"§x\\">\\u00e9<\\/a>",'
    ' "content_text": "<a href=x>", "image": "§i.png", "attachments": [{"url": "§a.mp3", "mime_type": "a/b"}], "authors": [{"url": "§me", "avatar": "§m.png"}]},'
    ' {"id": "http://h/d/2", "tags": ["x"], "_own": {"url": "x"}}]}'
)
FILES = {
    "a.ipynb": f'{{"cells": [{", ".join(NOTEBOOK)}], "metadata": {{}}, "nbformat": 4}}',
    "old.ipynb": '{"worksheets": [{"cells": [' + NOTEBOOK[0] + ', {"cell_type": "code", "outputs": [{"html": ["<a href=§x>"], "svg": ""}]}]}], "nbformat": 3}',
    "feed.json": FEED,
}


@pytest.mark.parametrize("name", FILES)
def test_documents_and_urls_change_and_nothing_else_does(name: str) -> None:
    before, after = (FILES[name].replace("§", base) for base in ("", "http://h/d/"))
    assert absolve.rewrite(before, name=name, **OPTIONS) == after
    assert not absolve.verify(before, after, name=name, **OPTIONS)
    assert absolve.verify(before, after.replace("http://h/d/x", "http://h/e/x"), name=name, **OPTIONS)
    assert json.loads(after)


def test_quotes_that_a_rewrite_adds_are_escaped() -> None:
    done = absolve.rewrite('{"cells": [' + cell('["<a href=x>\\n\\n", "[a](y)"]') + "]}", name="a.ipynb", url='http://h/"a=b"/')
    found = json.loads(done)["cells"][0]["source"]
    assert found == ['<a href="http://h/&quot;a=b&quot;/x">\n\n', '[a](http://h/"a=b"/y)']


def test_links_have_the_cell_that_they_are_in() -> None:
    rows = absolve.links(FILES["a.ipynb"].replace("§", ""), name="a.ipynb")
    assert [(row.entity, row.line, row.reference) for row in rows][3:7] == [
        ("cell[1]", 1, "hi"), ("cell[2]", 2, "b.png"), ("cell[2]", 2, "c"), ("cell[2]", 3, "e"),
    ]  # fmt: skip


def test_a_heading_of_nbformat_3_is_markdown() -> None:
    page = '{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "heading", "level": 1, "source": "[a](b)"}]}]}'
    assert [row.reference for row in absolve.links(page, name="a.ipynb")] == ["b"]


def test_the_id_of_an_item_is_listed_and_stays() -> None:
    done = absolve.rewrite(FEED.replace("§", ""), name="feed.json", policy=lambda _: "http://n/")
    assert '"id": "http://h/d/2"' in done
    assert "http://h/d/2" in [row.reference for row in absolve.links(FEED.replace("§", ""), name="feed.json")]


@pytest.mark.parametrize("unit", ['"a\\n",', '"\\\\",', '"[a](",', '{"cell_type": "markdown", "source": "a"},'])
def test_a_hostile_notebook_takes_linear_time(unit: str) -> None:
    inner = unit * 50_000
    inner = inner if unit.startswith("{") else cell(f'[{inner}"a"]') + ","
    began = time.process_time()
    absolve.rewrite('{"cells": [' + inner + cell('"[a](b)"') + "]}", name="a.ipynb", **OPTIONS)
    assert time.process_time() - began < 20


@pytest.mark.parametrize("source", ["7", '["[a](b)", 7]', "null", "true", '[["[a](b)"]]', '{"a": "[a](b)"}', '"[a](b)", "source": "[c](d)"'])
def test_a_cell_whose_source_is_no_text_is_reported(source: str) -> None:
    data = f'{{"nbformat": 4, "cells": [{{"cell_type": "markdown", "source": {source}}}]}}'.encode()
    found: list[str] = []
    assert [*absolve.links(data, name="n.ipynb", on_diagnostic=lambda one: found.append(one.code))] == []
    assert found == ["unread-cell"]
