"""Markdown: raw HTML has links, and code has none, as markdown-it-py sees it."""

import random
import re
import time
from collections import Counter
from functools import cache
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats.markdown import masked


def test_verify_sees_that_the_brackets_around_a_url_in_text_are_lost() -> None:
    before, after = "see https://h/a](b", "see https://n/a%5D(b"
    options: dict[str, Any] = {"media_type": "text/markdown", "policy": lambda _: "https://n/a%5D(b"}
    assert [one.code for one in absolve.verify(before, after, **options)] == ["target"]


HEADINGS = [
    ("# foo 1\n# foo\n# foo\n# foo\n# foo 1", "foo-1 foo foo-2 foo-3 foo-1-1"),
    ("# a *b* c\n# a `#` c\n# a <!-- b --> c\n# a <!-- b -->\n# an &mdash; emdash", "a-b-c a--c a--c-1 a- an--emdash"),
    ("# e [![S](https://s/b.svg)](https://s) [![C](https://c/t.svg?s=s)](https://c/)\n# h ![S](s.svg)", "e-- h-"),
    ("# \u2614\ufe0f c\n# \U0001f170\ufe0f d\n# \u00c0, \u00c1 or \u00e0\n# \u03a3\u03ba\u03bf", "\ufe0f-c \U0001f170\ufe0f-d \u00e0-\u00e1-or-\u00e0 \u03c3\u03ba\u03bf"),
    ("# foo _it_ bar_baz `__init__` \\_x\\_\n# [r][] and [x][y] [z](u(1) 't')\n# 1) no <kbd>l</kbd> <https://a.b>", "foo-it-bar_baz-__init__-_x_ r-and-x-z 1-no-l-httpsab"),
]


def test_headings_have_the_names_that_github_gives_them() -> None:
    for page, names in HEADINGS:
        (row,) = absolve.documents(page, media_type="text/markdown")
        assert row.anchors == names.split(" ")


STARTS = ["", "", "", "", " ", "    ", "  ", "   ", "> ", ">", "- ", "1. ", "2. ", "      ", "> - ", "- > ", "\t", "- - "]
TEXTS = [
    *("[t](N)", "[t](<N N>)", "![i](N)", "[![i](N)](N)", "[a [t](N)](N)", "`[t](N)`", "\\[t](N)", '[t](N "x")', "[t](N 'x", "y')", "<http://N>"),
    *("[t](a(N)b)", "[t](a(N)", "[t](a\\)N)", "[t](N&amp;b)", "[t", "u](N)", "| a | b |", "|---|---|", "| [t | u](N) | [t](N) |", "text", "", ""),
    *("[d]", "[t][d]", "[t][]", "![d]", "[d]: N\n", "[d]: N (a)\n", "[d]: <N N>\n", "[t](\tN )", '[t]( N\n "x")', "!\\[a](N)", "[a](`N) `", "[a](b N)"),
    *("<a href=N>x</a>", "`<a href=N>`", "``<a href=N>` ``", "\\<a href=N>", "<b title='`'><a href=N>`", "```", "~~~", "````html", "---", "===", "-", "1."),
    *("<div>", "</div>", "<pre>", "</pre>", "# [t](N)", "`open [t](N)", "more ` [t](N)", "* [t](N)", "[a](N&copy;&#35;&bad;)", "[a](N (t)"),
]  # fmt: skip


def by_markdown_it(page: str) -> tuple[list[str], list[str]]:
    """Return the destinations of the links, images and raw tags in a document, and of its definitions."""
    parser, env, found = markdown_it(), {}, []  # type: ignore[var-annotated]

    def see(tokens: list[Any]) -> None:
        for token in tokens:
            found.extend([token.attrs[name] for name in ("href", "src") if name in token.attrs])
            if token.type.startswith("html_"):
                found.extend(re.findall(r"<a href=(n\d)>", token.content))
            see(token.children or [])

    see(parser.parse(page, env))
    return found, [one["href"] for one in env.get("references", {}).values()]


@cache
def markdown_it() -> Any:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    parser.validateLink = lambda _: True  # CommonMark excludes no scheme
    return parser


def by_absolve(page: str) -> tuple[list[str], list[str]]:
    found: tuple[list[str], list[str]] = [], []
    for row in absolve.links(page, media_type="text/markdown"):
        found[row.attribute == "definition"].append(markdown_it().normalizeLink(row.reference))
    return found


def test_links_are_where_markdown_it_finds_them() -> None:
    chosen = random.Random(1)  # noqa: S311 - tests are no secrets
    different = []
    for _ in range(1000):
        lines = [chosen.choice(STARTS) + chosen.choice(TEXTS) for _ in range(chosen.randint(1, 6))]
        page = "\n".join(line.replace("N", f"n{number}") for number, line in enumerate(lines))
        (found, defined), (links, definitions) = by_markdown_it(page), by_absolve(page)
        expected = Counter(one for one in found if one not in defined)
        if not page.startswith("---") and (Counter(links) != expected or not set(defined) <= set(definitions)):
            different.append(page)
    assert not different


HOSTILE = [
    *("`", "<!--", '<a x="', "> ", "- ", "\\`", "<a b", "<? ", "    x\n", "\r", "- a\n", "> \n", "`` ` ", "---\n--- x\n"),
    *("[", "![", "]", "[a](", "x](", "[[[[x](", "[a](b", "[a](<", '[a](b "', "[a](b '", "[a](b (", "[a]({{", "[a]((((", "[a][b]", "[a]: b 'x\n\n", "[ab\n"),
    *("$", "$$", "$a", "$$a ", "\\(", "\\(a[", "a$ ", "$`", "[http://a", "[http://a](", "http://a](", "$a\\$", "\\\\(", "$[", "$]("),
    *("|a|b|\n", "a|b\n-|-\n", "http://a)", "http://a;", "http://a&b;", "<http:", "<a@b", "* > ", "[^a]: ", "!!! a\n    ", "{{<"),
]  # fmt: skip


def test_hostile_markdown_takes_linear_time() -> None:
    for unit in HOSTILE:
        began = time.process_time()
        masked((unit * 3_000).encode())
        walk(Document(f"# {unit}\n" * 150 + f"# {unit * 1_000}", media_type="text/markdown"), Settings(documents=True))
        assert time.process_time() - began < 1.5, unit  # a quadratic search takes many seconds
