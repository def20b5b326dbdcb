"""`absolve.verify`: accepted rewrites, differences that are found, and the witness that finds them."""

from __future__ import annotations

import re
import subprocess
import sys
import tracemalloc
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import absolve
from absolve import Diagnostic, Document
from absolve.core.model import Link, LinkSite
from absolve.document.walk import Settings, walk
from absolve.encodings.codings import quoted
from absolve.formats import registry
from absolve.verifying import JUDGES
from absolve.verifying.readers import Html
from tests.shapes.scale import not_traced

if TYPE_CHECKING:
    from absolve import Resolved
    from absolve.encodings.charsets import Charset
    from absolve.rewriting.policy import Policy

URL = "http://h/d/p.html"

def test_html_xml_css_and_json_have_a_foreign_parser() -> None:
    assert set(JUDGES.values()) == {"markup", "css", "json"}
    assert set(JUDGES) < set(registry.WALKERS)


def rewritten(page: bytes | str, **options: Any) -> bytes:
    data = page.encode() if isinstance(page, str) else page
    return absolve.rewrite(data, media_type="text/html", **options)


def found(before: bytes | str, after: bytes | str, **options: Any) -> list[tuple[str, int | None, int | None]]:
    """Return the code of every difference, and its position in the original."""
    options.setdefault("media_type", "text/html")
    return [(diagnostic.code, diagnostic.line, diagnostic.column) for diagnostic in absolve.verify(before, after, **options)]


# --- accepted rewrites ------------------------------------------------------------------------------------------------

def test_verify_accepts_a_correct_rewrite_in_any_charset_and_invalid_bytes_that_stay() -> None:
    page = "<p>д日<a href='日д?&amp;'>日</a><style>p{background:url(日)}</style><p style='background:url(x)'>"
    options: dict[str, Any]
    for charset in ("utf-16", "iso-2022-jp", "shift_jis", "windows-1251", "gb18030"):
        data = page.encode(charset, "xmlcharrefreplace")
        options = {"url": "http://h/é日/", "charset": None if charset == "utf-16" else charset}
        assert found(data, rewritten(data, **options), **options) == [], charset
    data = b"\xff<base href='/\x81d/'><a href='\xe9x'>\xc3</a><img alt='\xff' src=\x81>"
    for charset, profile in product(("utf-8", "windows-1252", "gb18030", "iso-2022-jp", "euc-jp"), ("rfc1808", "browser")):
        options = {"url": URL, "charset": charset, "profile": profile}
        assert found(data, rewritten(data, **options), **options) == [], options


# --- differences ------------------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<title>t &amp; t</title>
<p class=c>one <a href="x?a&amp;b">two</a> <img src=i alt="&lt;">
<iframe srcdoc="<a href=y>&amp;amp;</a>"></iframe>
"""
DISHONEST = [
    ("one", "One", [("bytes", 3, 12), ("tree", 3, 1)]), ("<p class", "<p  class", [("bytes", 3, 4)]),
    ("t &amp; t", "t & t", [("bytes", 2, 11)]), ("x?a&amp;b", "x?a&b", [("bytes", 3, 29)]),
    (' alt="&lt;"', "", [("bytes", 3, 54), ("attribute", 3, 44)]),
    ("</a> ", " ", [("bytes", 3, 39), ("tree", 3, 16), ("tree", 3, 39)]),
    ("<p class=c>", "", [("bytes", 3, 1), ("tree", 2, 17), ("tree", 3, 1)]),
    ("two</a>", "two<!-- c --></a>", [("bytes", 3, 40), ("tree", 3, 39)]),
    ("<!DOCTYPE html>", "<!DOCTYPE htm>", [("bytes", 1, 14), ("tree", 1, 1)]),
    ("http://h/d/x?", "http://h/d/y?", [("target", 3, 25), ("target", 3, 16)]),
    ("http://h/d/x?", "HTTP://h/d/x?", [("target", 3, 25), ("target", 3, 16)]),
    ("http://h/d/i", "i/", [("target", 3, 53), ("target", 3, 44)]),
    ("<img src", "<img srd", [("links", 3, 51), ("attribute", 3, 44), ("attribute", 3, 44)]),
    ("d/y>", "d/z>", [("target", 4, 25), ("target", 4, 1)]), ("&amp;amp;", "&amp;", [("bytes", 4, 32)]), ("\n", "\r\n", [("bytes", 1, 16)]),
]


@pytest.mark.parametrize(("old", "new", "differences"), DISHONEST)
def test_verify_finds_other_changes(old: str, new: str, differences: list[tuple[str, int, int]]) -> None:
    after = rewritten(PAGE, url=URL).decode()
    assert old in after
    assert found(PAGE, after.replace(old, new, 1), url=URL) == differences


def test_verify_finds_swapped_links_and_one_with_another_target_because_its_base_was_removed() -> None:
    page = "<base href=/b/><a href=x>"
    assert [code for code, *_ in found("<a href=x><a href=y>", "<a href=http://h/d/y><a href=http://h/d/x>", url=URL)] == ["target"] * 4
    differences = absolve.verify(page, '<base href=""><a href=x>', url=URL, base="empty")
    assert [difference.code for difference in differences] == ["target", "target"]
    assert "'x' resolved to 'http://h/b/x', 'x' resolves to 'http://h/d/x'" in differences[0].text


def test_verify_finds_added_text_next_to_added_quotes() -> None:
    page = "<base href=/b/><a href=x>"
    assert found(page, '<base href=""><a  href=http://h/b/x>', url=URL, base="empty") == [("bytes", 1, 19)]
    assert found("<applet codebase=c archive=a,b>", '<applet codebase=http://h/d/c archive="http://h/d/c/a,b">', url=URL)


def test_a_difference_has_the_file_both_positions_and_both_values() -> None:
    differences = absolve.verify("<p>\n<p title=x>", "<p >\n<p title=y>", name="page.html", url=URL)
    assert str(differences[-1]) == ("page.html:2:1: attribute: html5lib: the attribute title of <p> changed from 'x' to 'y' (after: 2:1)")
    assert differences[-1] == Diagnostic("attribute", differences[-1].text, "page.html", 2, 1)


def test_verify_decodes_the_result_in_the_charset_of_the_original() -> None:
    before = "<meta charset=windows-1251><p>д<a href=д>".encode("windows-1251")
    after = absolve.rewrite(before, url=URL)
    assert found(before, after, url=URL) == []
    assert found(before, after.replace(b"1251", b"1252"), url=URL)[0] == ("bytes", 1, 26)


def test_verify_finds_a_link_that_is_text_for_html5lib(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of absolve's scanner also affects the first witness, but not the second."""

    def naive(data: bytes, charset: Charset, _options: object) -> list[Link]:
        spans = [value.span(1) for value in re.finditer(rb"href='([^']*)'", data)]
        return [Link(LinkSite("a", "href"), *span, quoted(charset, 39)) for span in spans]

    monkeypatch.setattr("absolve.document.walk.walker", lambda _media_type: naive)
    page = b"<a href='x'></a>\n<noembed><a href='y'></noembed>"
    assert found(page, rewritten(page, url=URL), url=URL) == [("tree", 2, 1)]


def test_a_page_that_html5lib_cannot_parse_is_reported_as_unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **_options: object) -> None:
        raise AssertionError

    monkeypatch.setattr("absolve.verifying.markup.Html", fails)
    assert found("<a href=x>", "<a href=http://h/d/x>", url=URL) == [("unjudged", None, None)]


def test_a_page_that_takes_html5lib_hours_is_reported_as_unproved() -> None:
    page = "<a href=x>" + "<div>" * 100_000
    assert found(page, rewritten(page, url=URL), url=URL) == [("unjudged", None, None)]
    page = f"<iframe srcdoc='{page}'>"
    assert found(page, rewritten(page, url=URL), url=URL) == [("unjudged", 1, 1)]


# --- what html5lib reads ----------------------------------------------------------------------------------------------


def tokens(page: str) -> list[tuple[str, str, tuple[int, int]]]:
    """Return the name, text and position of each tag of a page."""
    read = Html(page, "strict", Settings())
    return [(token.name, token.text, read.position(index)) for index, token in enumerate(read.tokens)]


def test_a_tag_has_its_position_and_the_text_after_it() -> None:
    assert tokens("x<p>\n&lt;<B>y</b>\r\n <!--z--><title>\n<b></title><svg/>") == [
        ("", "x", (1, 1)), ("p", "\n<", (1, 2)), ("b", "y", (2, 5)), ("/b", "\n ", (2, 9)), ("!--", "z", (3, 2)), ("/!--", "", (3, 2)),
        ("title", "\n<b>", (3, 10)), ("/title", "", (4, 4)), ("svg", "", (4, 12)), ("/svg", "", (4, 12)),
    ]


@not_traced
def test_tokens_take_a_few_times_the_memory_of_the_text() -> None:
    for unit in ("<select>", "<p>", "<br>", "</b>x", "<b></b>y"):
        text = unit * (40_000 // len(unit))
        tokens(unit)
        tracemalloc.start()
        read = Html(text, "strict", Settings())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(read.tokens) > 1
        assert peak < 20 * len(text) + 200_000, unit


def test_a_base_that_only_browsers_of_today_see_is_reported_as_a_difference() -> None:
    for page in ("<select><base href=/b/></select><a href=x>", "<table><template></table><base href=/b/><a href=x>"):
        assert {code for code, *_ in found(page, rewritten(page, url=URL), url=URL)} == {"base"}


def test_a_link_in_a_tag_that_html5lib_drops_is_compared() -> None:
    page = "<select><svg><use xlink:href=x /></svg><img src=y></select>"
    after = rewritten(page, url=URL)
    assert found(page, after, url=URL) == []
    assert ("target", 1, 40) in found(page, after.replace(b"d/y", b"d/z"), url=URL)
    assert ("attribute", 1, 40) in found(page, after.replace(b"<img ", b"<img alt "), url=URL)


@pytest.mark.parametrize(("old", "new", "codes"), [
    ("p {", "q {", ["bytes", "tree"]), ("} q", " q", ["bytes", "tree"]), ("http://h/d/b", "http://h/d/c", ["target", "target"]),
    ("/* x */", "/* y */", ["bytes", "tree"]), ("'http://h/d/a'", "url(http://h/d/a)", ["bytes", "bytes", "tree"]),
    ("c\\'d", "c'd", ["target", "bytes", "target", "tree"]),
])
def test_verify_finds_other_changes_in_a_style_sheet(old: str, new: str, codes: list[str]) -> None:
    sheet = "@import 'a'; p { background: url(b) } q { x: url('c\\'d') } /* x */"
    after = absolve.rewrite(sheet, media_type="text/css", url=URL)
    assert old in after
    differences = absolve.verify(sheet, after.replace(old, new), media_type="text/css", url=URL)
    assert [difference.code for difference in differences] == codes


def test_without_tinycss2_the_bytes_of_a_style_sheet_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tinycss2", None)
    assert found("p{background:url(x)}", "q{background:url(http://h/d/x)}", media_type="text/css", url=URL) == [("bytes", 1, 1)]


# --- policies ---------------------------------------------------------------------------------------------------------


def images_only(resolved: Resolved) -> str | None:
    return "http://cdn.example/" + resolved.reference if resolved.kind == "image" else None


def test_with_a_policy_verify_expects_the_url_of_the_policy() -> None:
    page = "<a href=x><img src=i><img srcset='a b, c'>"
    after = rewritten(page, policy=images_only)
    assert found(page.encode(), after, policy=images_only) == []
    assert found("<img src=i>", "<img src=i>", policy=images_only) == [("target", 1, 10)]
    assert found(page.encode(), after.replace(b"cdn.example/i", b"cdn.example/j"), policy=images_only)[0][0] == "target"


def test_with_a_policy_the_two_witnesses_agree_on_links_with_equal_references() -> None:
    seen: list[str] = []

    def numbered(resolved: Resolved) -> str:
        seen.append(resolved.reference)
        return f"http://n/{len(seen) % 2}"

    page = "<a href=x></a><a href=x></a>"
    assert found(page, absolve.rewrite(page, policy=numbered), policy=numbered) == []


# --- ambiguity --------------------------------------------------------------------------------------------------------


GUESSED = "<p><a href=x></a></p><frameset><frame src=y></frameset>"  # the frameset replaces the body with all its content
WRONGLY = "\n<p><base href=/b/></p><frameset><frame src=y></frameset>"  # so that a browser has no base here


def test_a_document_is_ambiguous_if_its_walker_reports_it() -> None:
    def is_ambiguous(page: str) -> bool:
        return walk(Document(page, media_type="text/html"), Settings()).is_ambiguous

    assert not is_ambiguous("<a href=x>")
    assert not is_ambiguous("<frameset><frame src=y></frameset>")
    assert is_ambiguous(GUESSED)
    assert is_ambiguous(f'<iframe srcdoc="{GUESSED}"></iframe>')


@pytest.mark.parametrize("policy", [None, lambda resolved: resolved.target, lambda resolved: f"/seen/{resolved.reference}"])
def test_an_ambiguous_document_that_fails_verification_is_an_error(policy: Policy | None) -> None:
    with pytest.raises(absolve.DocumentError, match=r"^p\.html: unverified: nothing proves .*: base: the base before is .* for html5lib, ") as error:
        absolve.rewrite(WRONGLY, url=URL, name="p.html", policy=policy)
    assert error.value.diagnostic.code == "unverified"


def test_an_ambiguous_document_that_verifies_is_rewritten_and_a_policy_called_once_per_link() -> None:
    asked: list[str] = []

    def numbered(resolved: Resolved) -> str:
        asked.append(resolved.reference)
        return f"http://n/{len(asked)}"

    for page in (GUESSED, GUESSED.encode(), Document(GUESSED)):
        asked.clear()
        after = absolve.rewrite(page, policy=numbered)
        assert (after if isinstance(after, str) else after.decode()) == GUESSED.replace("=x", "=http://n/1").replace("=y", "=http://n/2")
        assert asked == ["x", "y"]


def test_an_unchanged_ambiguous_document_and_its_list_are_not_verified() -> None:
    page = WRONGLY.replace("/b/", "http://b/").replace("=y", "=http://y/")
    assert absolve.rewrite(page, url=URL) is page
    assert absolve.rewrite(WRONGLY, url=URL, policy=lambda resolved: None) is WRONGLY  # noqa: ARG005 - a policy takes a link
    assert [row.reference for row in absolve.links(WRONGLY, url=URL)] == ["/b/", "y"]
    assert absolve.base(WRONGLY, url=URL).url == "http://h/b/"


def test_html5lib_is_imported_only_for_ambiguous_documents() -> None:
    code = f"""
import sys, absolve
absolve.rewrite("<a href=x>", url="{URL}")
assert not {{"html5lib", "absolve.verifying"}} & set(sys.modules)
absolve.rewrite("{GUESSED}", url="{URL}")
assert "html5lib" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_verify_accepts_bytes_text_and_documents() -> None:
    before, after = "<a href=x>", "<a href=http://h/d/x>"
    assert found(Document(before, media_type="text/html"), Document(after), url=URL) == []  # type: ignore[arg-type]
    assert found(before.encode(), after, url=URL) == []


def test_verify_rejects_an_unknown_option() -> None:
    with pytest.raises(absolve.UsageError):
        absolve.verify("", "", profile="rfc1")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        absolve.verify("", "", nonsense=1)  # type: ignore[call-arg]
