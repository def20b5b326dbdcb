"""Markdown: raw HTML has links, and code has none, as markdown-it-py sees it."""

import random
import re
import time

import pytest

import absolve
from absolve.formats.markdown import masked

# What CommonMark has: each has two references, the first one in code or text, the second one in raw HTML.
DOCUMENTS = [
    "`<a href=1>` <a href=2>", "``<a href=1>` `` <a href=2>", "`x\n<a href=1>` <a href=2>", "\\<a href=1> <a href=2>", "\\`<a href=2>\\`",
    "```\n<a href=1>\n```\n<a href=2>", "~~~~ html\n<a href=1>\n~~~\n<a href=1>\n~~~~\n<a href=2>", "```\n\n<a href=1>\n",
    "    <a href=1>\n\nx\n    <a href=2>", "\t<a href=1>", "- x\n\n  <a href=2>\n\n      <a href=1>", "1. x\n\n    <a href=2>\n",
    "> ```\n> <a href=1>\n<a href=2>", ">     <a href=1>\n", "- ```\n  <a href=1>\n\n<a href=2>", "- x\n- y\n\n  <a href=2>",
    "<div>\n    <a href=2>\n`<a href=2>`\n</div>\n\n    <a href=1>", "<pre>\n\n    <a href=2>\n</pre>", "<details>\n\n```\n<a href=1>\n```\n",
    "<b title='`'><a href=2>`", "# `<a href=1>` <a href=2>", "a <b and <a href=2>", "<http://x/`> <a href=2>`", "<!-- ` --> <a href=2>`",
    "| `<a href=1>` | <a href=2> |\n|-|-|\n", "x\n---\n\n    <a href=1>", "`unclosed <a href=2>\n\nx ` y",
    "---\ns: '<a href=1>'\n---\n<a href=2>", "---  \r\ns: <a href=1>\r\n...\r\n<a href=2>", "+++\ns = '<a href=1>'\n+++\n<a href=2>",
    "\ufeff---\ns: <a href=1>\n---", "---\n---\n<a href=2>\n\n---", "---\n<a href=2>\n\n--- x", "---\n<a href=2>\n+++", "---- \n<a href=2>\n---",
    "\n---\n<a href=2>\n\n---",
]  # fmt: skip


@pytest.mark.parametrize("page", DOCUMENTS)
def test_code_stays_and_raw_html_is_rewritten(page: str) -> None:
    done = absolve.rewrite(page, media_type="text/markdown", url="http://h/")
    assert done == page.replace("href=2", "href=http://h/2")
    assert not absolve.verify(page, done, media_type="text/markdown", url="http://h/")


STARTS = ["", "", "", "", " ", "    ", "  ", "> ", "- ", "1. ", "      ", "> - ", "\t", "- - "]
TEXTS = [
    *("<a href=N>x</a>", "`<a href=N>`", "``<a href=N>` ``", "\\<a href=N>", "\\`<a href=N>`", "text", "", "", "```", "~~~", "````html"),
    *("<div>", "</div>", "<pre>", "</pre>", "<!-- c", "-->", "# h <a href=N>", "---", "`open <a href=N>", "more ` <a href=N>", "<p"),
    *("<b title='`'><a href=N>`", "<http://x.y> <a href=N>", '<img alt="a', 'b"> <a href=N>', "class=x><a href=N>", "<script>", "</script>"),
]


def test_raw_html_is_where_markdown_it_finds_it() -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    chosen = random.Random(1)  # noqa: S311 - tests are no secrets
    different = []
    for _ in range(3000):
        lines = [chosen.choice(STARTS) + chosen.choice(TEXTS) for _ in range(chosen.randint(1, 6))]
        page = "\n".join(line.replace("N", str(number)) for number, line in enumerate(lines))
        found = re.findall(r"<a href=(\d)>", masked(page.encode()).decode())
        if found != re.findall(r"<a href=(\d)>", parser.render(page)):
            different.append(page)
    assert len(different) <= 30, different[:3]  # containers in containers are read only roughly


@pytest.mark.parametrize("unit", ["`", "<!--", '<a x="', "> ", "- ", "\\`", "<a b", "<? ", "    x\n", "\r", "- a\n", "> \n", "`` ` ", "---\n--- x\n"])
def test_hostile_markdown_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    masked((unit * 100_000).encode())
    assert time.process_time() - began < 20  # a quadratic search takes hours
