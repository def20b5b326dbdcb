"""Markdown: raw HTML has links, and code has none, as markdown-it-py sees it."""

import random
import re
import time
from collections import Counter
from typing import Any

import pytest

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
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


# Documents, in which `§` is where a relative reference gets its base.
LINKS = {
    "an inline link": '[a](§x.md) [b](§y "t") [c]( §z\n(t) ) [](§e)',
    "an image": "![a](§i.png) [![n](§n.png)](§page.md) ![a [b](§c)](§d)",
    "a destination in angle brackets": "[a](<§a b.md>) [b](<§a(b>)",
    "parentheses": "[a](§a_(b).md) [b](§a\\(b) [c](x(y)",
    "brackets": "[a [b](§c)](d) [[a]](§x) [a](§x]y) \\[a](x) ![a\\](x)",
    "code": "`[a](x)` [`]`](§y) [a`](x)`",
    "a definition": "[a]\n\n[a]: §x 'title'\n[b]:\n  <§y z>\n  \"t\"\n[c]: §z[]?d[e]=f\n[d]: x y\n",
    "no definition": "text\n[a]: x\n",
    "a definition in containers": "* > [Bar]\n  >\n  > [Bar]: §x\n\n- - [b]: §y",
    "a quote": "> [a](§x\n> 't') > [b](§y)",
    "a footnote": "a[^1]\n\n[^1]: b [c](§d)\n\n    [e](§f)\n",
    "an admonition": '!!! note "T"\n\n    [a](§b)\n\n        [c](d)\n\n=== "Tab"\n\n    [e](§f)\n',
    "an indented text": "x\n    [a](§b)\n\n    [c](d)\n",
    "a table": "| ` | [a](§b) |\n|---|---|\n| [a | b](c) | `[d](e)` [f](§g\\|h) |\n",
    "HTML": "<div>\n[a](b)\n\n[c](§d)\n</div>\n\n<!--\n[a](b)\n-->\n\nx <!-- [a](b) --> <i title='[a](b)'>[c](§d)</i>",
    "HTML with Markdown": '<Note>\n  [a](§b)\n</Note>\n\n<div markdown="1">\n[c](§d)\n</div>\n\n<SPAN>\n[e](f)',
    "an autolink": "<https://h/x> <a@b.c> https://h/y, `https://h/z`",
    "a URL as the text of a link": "[https://h/x](§guide.md) [see https://h/x](§y) [**https://h/x**][d] ![https://h/x](§z)\n\n[d]: §w",
    "formulas": "$F[x](t)$ $$\nF[x](t)\n$$ $`F[x](t)`$ \\(F[x](t)\\) \\\\(F[x](t)\\\\) [a](§b)\n\n| $F[x](t)$ | [a](§b) |\n|-|-|",
    "formulas in lines": "x\n\n$$\n- F[x](t)\n\n> G[x](t)\n$$ {#eq-a}\n\n[a](§b)\n\n$$\nF[x](t)\n$$\n[a](§b)\n\n$$a\nb\n$$\n\n[e](§f)\n\n$$[g*h](n)$$\n\n$$\n\n[c](§d)",
    "no formulas": "$5 [a](§b) or $10, $A/[b](§c) $D, [$5](§d) [$](§e) \\$x [c](§f) y$, \\([d](§g)\\) \\[e](h), `$` [f](§i) `$`",
    "shortcodes": '[a]({{< ref "b c.md" >}}) [d]({% link e.md %}) [f]({{ g }}/h) {{<img src="x">}} {{< figure src="x" >}} [a](§b)',
    "front matter": "---\ntext: '[a](b)'\n---\n[a](§b)",
    "wiki links": "[[Page|a]] ![[image.png]] - [ ] [a](§b)",
    "ends of lines": "[a](§b)\r\n\r\n    [c](d)\r\n\r\n> [e](§f)\r- [g](§h)",
}


@pytest.mark.parametrize("name", LINKS)
def test_links_of_markdown_become_absolute_and_nothing_else_changes(name: str) -> None:
    page, wanted = (LINKS[name].replace("§", base) for base in ("", "http://h/d/"))
    options: dict[str, Any] = {"media_type": "text/markdown", "url": "http://h/d/"}
    assert absolve.rewrite(page, **options) == wanted
    assert not absolve.verify(page, wanted, **options)


def test_a_definition_that_only_images_use_is_one_of_an_image() -> None:
    page = "[a] ![b] ![c][d] [c][d]\n\n[a]: 1\n[b]: 2\n[d]: 3\n[e]: 4"
    rows = absolve.links(page, media_type="text/markdown")
    assert [row.kind for row in rows] == ["navigation", "image", "navigation", "navigation"]


# What is written, and how; `None`: it stays, because it would be no link any more.
WRITTEN = [
    ("[a](x)", "http://h/a b", "[a](http://h/a%20b)"),
    ("[a](x)", "http://h/a(b)c", "[a](http://h/a(b)c)"),
    ("[a](x)", "http://h/a(b", "[a](http://h/a\\(b)"),
    ("[a](x)", "http://h/)(", "[a](http://h/\\)\\()"),
    ("[a](x)", "http://h/?a&copy;=b&c", "[a](http://h/?a\\&copy;=b&c)"),
    ("[a](x)", "http://h/\\(<`|", "[a](http://h/\\\\\\(\\<\\`\\|)"),
    ("[a](<x>)", "http://h/a b>(", "[a](<http://h/a b\\>(>)"),
    ("[a]: x 't'", "http://h/a b", "[a]: http://h/a%20b 't'"),
    ("[a](x 't')", "", None),
    ("<https://h/x>", "http://h/>a b", "<http://h/%3Ea%20b>"),
    ("<https://h/x>", "/x", None),
    ("see https://h/x.", "http://h/y.", "see http://h/y%2E."),
    ("see https://h/x.", "y", None),
]


@pytest.mark.parametrize(("page", "new", "wanted"), WRITTEN)
def test_what_is_written_stays_a_link(page: str, new: str, wanted: str | None) -> None:
    done = absolve.rewrite(page, policy=lambda _: new, media_type="text/markdown", url="http://h/d/")
    assert done == (wanted or page)
    assert not absolve.verify(page, done, policy=lambda _: new, media_type="text/markdown", url="http://h/d/")
    assert len(list(absolve.links(done, media_type="text/markdown"))) == 1


BARE = [
    ("https://h/a, (https://h/b) *https://h/c* _https://h/d_ ~https://h/e~ \u89c1https://h/f", "abcdef"),
    ("xhttps://h/a \"https://h/b\" 'https://h/c' k=https://h/d x/https://h/e {https://h/f} [https://h/g", ""),
    ("<br>https://h/a <a href='x'>https://h/b</a> [see https://h/c] [ ] https://h/d/[e]f", "acd"),
    ("|https://h/a|b|\n|-|-|\n|https://h/b|ftp://h/c|", "abc"),
]


@pytest.mark.parametrize(("page", "ends"), BARE)
def test_a_url_in_text_begins_where_gfm_has_it(page: str, ends: str) -> None:
    found = [row.reference.partition("//h/")[2][:1] for row in absolve.links(page, media_type="text/markdown") if row.element == "markdown"]
    assert "".join(found) == ends


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


@pytest.mark.parametrize(("page", "names"), HEADINGS)
def test_headings_have_the_names_that_github_gives_them(page: str, names: str) -> None:
    facts = walk(Document(page, media_type="text/markdown"), Settings(documents=True)).facts
    assert facts is not None
    assert facts.anchors == names.split(" ")


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
    for _ in range(1500):
        lines = [chosen.choice(STARTS) + chosen.choice(TEXTS) for _ in range(chosen.randint(1, 6))]
        page = "\n".join(line.replace("N", f"n{number}") for number, line in enumerate(lines))
        (found, defined), (links, definitions) = by_markdown_it(page), by_absolve(page)
        expected = Counter(one for one in found if one not in defined)
        if not page.startswith("---") and (Counter(links) != expected or not set(defined) <= set(definitions)):
            different.append(page)
    assert not different


LINKS_OF_MARKDOWN = [
    *("[", "![", "]", "[a](", "x](", "[[[[x](", "[a](b", "[a](<", '[a](b "', "[a](b '", "[a](b (", "[a]({{", "[a]((((", "[a][b]", "[a]: b 'x\n\n", "[ab\n"),
    *("$", "$$", "$a", "$$a ", "\\(", "\\(a[", "a$ ", "$`", "[http://a", "[http://a](", "http://a](", "$a\\$", "\\\\(", "$[", "$]("),
    *("|a|b|\n", "a|b\n-|-\n", "http://a)", "http://a;", "http://a&b;", "<http:", "<a@b", "* > ", "[^a]: ", "!!! a\n    ", "{{<"),
]  # fmt: skip


@pytest.mark.parametrize("unit", ["`", "<!--", '<a x="', "> ", "- ", "\\`", "<a b", "<? ", "    x\n", "\r", "- a\n", "> \n", "`` ` ", "---\n--- x\n", *LINKS_OF_MARKDOWN])
def test_hostile_markdown_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    masked((unit * 30_000).encode())
    walk(Document(f"# {unit}\n" * 3_000 + f"# {unit * 10_000}", media_type="text/markdown"), Settings(documents=True))
    assert time.process_time() - began < 20  # a quadratic search takes hours
