"""The formats for people (table, Markdown, HTML) and TSV and JSON: layout, widths, and nothing of a document as markup."""

import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from absolve import api
from absolve.core.drawing import Screen, folded
from absolve.core.printable import width
from absolve.inventory.columns import COLUMNS
from absolve.tables import by_name, terminal, typed_table

PAGE = """<base href="http://h.example/dir/">
<a href="x.html">x</a> <a href=http://[>bad</a> <img src="http://h.example/a.png"> <a href="mailto:a@b">m</a>
<iframe srcdoc="<a href=y>"></iframe>"""
EVIL = "\x1b]8;;http://evil/\x1b\\x\x9b31m\x07\u202e"


def drawn(page: str, screen: Screen | None = None, **options: Any) -> list[str]:
    file = io.BytesIO()
    rows = api.columns(page, name="p.html", media_type="text/html", **options)
    terminal.write([typed_table("links", COLUMNS)], [("links", terminal.encode(COLUMNS, rows))], file, screen)
    return file.getvalue().decode().splitlines()


def grid(columns: tuple[str, ...], rows: list[tuple[Any, ...]], screen: Screen | None = None) -> list[str]:
    file = io.BytesIO()
    terminal.write([typed_table("links", columns)], [("links", rows)], file, screen)
    return file.getvalue().decode().splitlines()


def test_links_are_grouped_by_document_and_aligned() -> None:
    assert drawn("<p>") == grid(("a", "b"), []) == []
    assert "\x1b" not in "".join(drawn(PAGE))
    assert drawn(PAGE) == [
        "p.html", "  1:13  other       http://h.example/dir/", "  base http://h.example/dir/ (embedded)",
        "  2:10  navigation  x.html   → http://h.example/dir/x.html", "  2:32  navigation  http://[ → (nowhere)",
        "                    ! malformed", "  2:59  image       http://h.example/a.png",
        "  2:93  navigation  mailto:a@b", "", "p.html srcdoc[1]", "  base http://h.example/dir/ (encapsulating)",
        "  1:9  navigation  y → http://h.example/dir/y",
    ]


def test_no_line_is_wider_than_the_screen() -> None:
    page = f"<base href='http://h.example/{'dir/' * 30}'><a href='{'日本/' * 50}'><a href='#{'x' * 500}'>"
    for columns in (40, 60, 80, 200):
        lines = drawn(page + PAGE, Screen(columns))
        assert max(map(width, lines)) <= columns
        assert any("…" in line for line in lines)


def test_a_narrow_screen_has_a_line_for_each_url() -> None:
    lines = drawn("<a href=x>", Screen(40), url="http://h/")
    assert lines == ["p.html", "  base http://h/ (retrieval)", "  1:9  navigation", "    x", "    → http://h/x"]


def test_an_encoding_without_arrows_gets_ascii() -> None:
    lines = drawn("<a href='é.html'>", Screen(None, unicode=False), url="http://h/")
    assert lines[-1].endswith("\\xe9.html -> http://h/\\xe9.html")


def test_only_web_urls_are_hyperlinks() -> None:
    styled = Screen(None, styled=True)
    text = "\n".join(drawn("<a href=x><a href='javascript:x'><a href='file:///x'><a href='mailto:x'>", styled, url="http://h/"))
    assert re.findall(r"\x1b]8;;(.+?)\x1b\\", text) == ["http://h/x"]


def test_a_hyperlink_has_only_visible_ascii_and_an_unsuitable_url_is_none() -> None:
    linked = Screen(None, styled=True).linked
    for url in ("http://h/\x1b\\", "http://h/\x07", "http://h/é\u202e", "http://h/a b", "http://h/\udcff"):
        target = re.fullmatch(r"\x1b]8;;([!-~]+)\x1b\\x\x1b]8;;\x1b\\", linked("x", url))
        assert target is not None
        assert target[1].startswith("http://h/")
    for unsuitable in ("http://user:x@h/", "http://***@h/", "http://h\x1b/", "http:///x", "http://h/" + "x" * 4000, "ftp://h/", None):
        assert linked("x", unsuitable) == "x"


def test_nothing_of_a_document_becomes_an_escape_sequence() -> None:
    page = f"<base href='http://h/{EVIL}/'><a href='{EVIL}' rel='{EVIL}'>{EVIL}</a><a href='http://h/{EVIL}'>"
    for screen in (Screen(80, styled=True), Screen(40, styled=True), Screen(None)):
        text = "\n".join(drawn(page, screen))
        ours = re.sub(r"\x1b\[[0-9]*m|\x1b]8;;(?:https?://[!-~]*)?\x1b\\", "", text)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ours)


def test_other_columns_are_a_grid_without_empty_columns() -> None:
    lines = grid(("target", "count", "empty"), [("http://h/x", 12, None), ("y", 3, "")])
    assert lines == ["target      count", "http://h/x     12", "y               3"]


def test_a_grid_is_cut_to_the_screen_or_stacked_if_it_is_too_narrow() -> None:
    rows = [("http://h/" + "x" * 60, "y" * 60, 1)]
    assert max(map(width, grid(("a", "b", "n"), rows, Screen(50)))) <= 50
    assert grid(("a", "b", "n"), rows, Screen(20))[1] == "b: " + "y" * 16 + "…"


def test_a_path_is_cut_at_its_front_a_url_in_its_middle_and_folded_text_at_blanks_or_in_long_words() -> None:
    assert list(folded("one two " + "x" * 10, 8)) == ["one two", "xxxxxxxx", "xx"]
    assert list(folded("", 8)) == [""]
    paths = [("1/saved-by-a-browser/one-pager.mhtml", 1), ("http://host.example/a/b/one-pager.mhtml", 2)]
    lines = grid(("document", "n"), paths, Screen(25))
    assert [line.split()[0] for line in lines[1:]] == ["…owser/one-pager.mhtml", "http://host.…ger.mhtml"]


# --- Markdown, HTML, TSV, JSON ----------------------------------------------------------------------------------------

HOSTILE = [
    "a|b", "`x`", "``", "<script>x</script>", "http://h/", "www.x.example", "*x*", "_x_", "[x](javascript:x)", "![x](y)",
    "a\nb", "&lt;", "\\", "~~x~~", "@user", "#1", "x`",
]  # fmt: skip


def written(format_: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    file = io.BytesIO()
    sink = by_name(format_)
    chunks = [("links", sink.encode(columns, some)) for some in (rows[:1], rows[1:])]
    sink.write([typed_table("links", columns)], chunks, file)
    return file.getvalue().decode()


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_every_text_as_it_is(text: str) -> None:
    line = written("md", ("x", "y"), [(text, 1)]).splitlines()[2]
    found = re.fullmatch(r"\| (`+)( ?)(.*)\2\1 \| 1 \|", line)
    assert found is not None, line
    assert re.sub(r"\\\|", "|", found[3]) == text.replace("\n", "\\n")
    assert not re.search(f"(?<!`){found[1]}(?!`)", found[3])


def test_a_pipe_behind_a_backslash_ends_no_cell_for_any_reader_of_markdown() -> None:
    line = written("md", ("x", "y"), [("a|b\\|c", 1)]).splitlines()[2]
    assert line == "| `a\\|b\\`&#124;`c` | 1 |"  # marked 17 ends the cell at an escaped pipe behind a backslash


def test_markdown_has_plain_words_and_numbers() -> None:
    assert written("md", ("a", "b"), [("index.html", 3), (None, ["x", "y"])]) == "| a | b |\n| --- | --- |\n| index.html | 3 |\n|  | x y |\n"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.cells: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "td":
            self.cells.append("")
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        if self.cells and self.tags[-1] in {"td", "a"}:
            self.cells[-1] += data.rstrip("\n")


def test_html_has_the_texts_as_text_and_links_only_to_the_web() -> None:
    texts = [*HOSTILE, "javascript:x", '"><img src=x onerror=x>', "HTTP://h/'\"<", "http://***@h/"]
    page = Page(written("html", ("target",), [(text,) for text in texts]))
    assert page.cells == [text.replace("\n", "\\n") for text in texts]
    assert page.links == ["http://h/", "HTTP://h/'\"<"]
    assert {"script", "img"}.isdisjoint(page.tags)


@pytest.mark.parametrize("url", ["http://bank.example\u200b.evil.example/", "http://h/\u202eabc", "http://bank.example\\.evil.example/"])
@pytest.mark.parametrize("format_", ["html", "table"])
def test_a_url_that_is_shown_with_escapes_is_no_hyperlink(url: str, format_: str) -> None:
    found = written(format_, ("line", "target"), [(1, url), (2, "http://h/x")])
    assert "bank.example\\" in found or "h/\\u202eabc" in found
    assert 'href="http://bank' not in found
    assert 'href="http://h/\\' not in found
    assert "]8;;http://h/\\" not in found


def test_tsv_escapes_what_separates_cells() -> None:
    assert written("tsv", ("a", "b"), [("x\ty\nz\\", None), ("=1", ["p", "q"])]) == "a\tb\nx\\ty\\nz\\\\\t\n'=1\tp q\n"


def test_json_is_one_array() -> None:
    for count in (0, 1, 5):
        rows = [(f"x\n{number}", number) for number in range(count)]
        assert [tuple(row.values()) for row in json.loads(written("json", ("a", "b"), rows))] == rows
