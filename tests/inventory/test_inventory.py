"""The inventory, column by column and code by code (docs/decisions.md, I1 to I7)."""

import pickle
import re
from typing import Any

import all_references
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from absolve.api import base, links
from absolve.core.model import KINDS, Document
from absolve.document.walk import Settings, walk
from absolve.inventory import PROBLEMS
from absolve.inventory import link_rows as inventory
from absolve.inventory.columns import COLUMNS, Columns, Row

URL = "http://doc.example/dir/page.html"

def rows(page: str | bytes, url: str | None = URL, **options: Any) -> list[Row]:
    options.setdefault("media_type", "text/html")
    return list(links(page, url=url, **options))


def row(page: str | bytes, url: str | None = URL, **options: Any) -> Row:
    """Return the last row, the subject of most tests."""
    return rows(page, url, **options)[-1]


def test_the_columns_have_the_documented_names_and_order() -> None:
    assert tuple(
        "document entity line column start end element attribute kind rel text reference base base_layer base_source"
        " target scope problems".split()
    ) == COLUMNS
    assert row("<p>\n<a rel=up href=' x '>t</a>", name="p.html") == (
        *("p.html", "", 2, 18, 21, 22, "a", "href", "navigation", "up", "t", "x", URL, "retrieval", "url="),
        *("http://doc.example/dir/x", "internal", ["whitespace"]),
    )


# --- positions --------------------------------------------------------------------------------------------------------


MARKED = [  # pages with a mark before and after the last reference
    "<a href=‹x›>", "<a href='‹x›'>", "<a href='  ‹x›'>", "<a href=' ‹x› '>", "<a href='\n‹x›'>", "\n\n<a href=‹x›>", "\r\n\r\n<a href=‹x›>",
    "\r\r<a href=‹x›>", "\n\r<a href=‹x›>", "\v\f\x85\u2028<a href=‹x›>", "é日😀<a href=‹x›>", "é\né<a href=‹x›>", "<a href‹›>", "<a href='‹›'>",
    "<img srcset='a 1x,\n  ‹x› 2x'>", "<img srcset='a 1x, ‹b&amp;c› 2x'>", "<style>\n a{b:url(‹x›)}</style>", "<p style='é:url(‹x›)'>",
    "<p style='&eacute;:url(‹x›)'>", "<p style='\r\n&#10;:url(‹x›)'>", "<a href='&#32;‹a&amp;b›&#32;'>", "<a href='‹a&eacute;›'>", "<a href='‹é&#x2F;›'>",
    "<meta http-equiv=refresh content='0;url=&quot;‹a›&quot;b'>", "<style>a{b:url( '‹a\\62 ›' )}</style>", "<p style='a:url(&quot;‹a&amp;b›&quot;)'>",
    "<p style='a:url(‹é/&lt;›)'>", "<svg><rect fill='url(&quot;‹a›&quot;)'/></svg>", "<svg><style>a{b:url(‹x&amp;y›)}</style></svg>",
    '<script type=importmap>{"imports":{"a":"‹./\\u0061›"}}</script>',
    "<script type=importmap>\n{'</script><script type=importmap>\n{\"imports\":{\"a\":\"‹./x›\"}}</script>",
]


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "gb18030", "iso2022_jp_2", "cp949"])
def test_a_row_has_line_column_and_span_of_its_reference_in_its_document(codec: str) -> None:
    charset = {"utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "iso2022_jp_2": "iso-2022-jp", "cp949": "euc-kr"}.get(codec, codec)
    for marked in MARKED:
        if codec in {"iso2022_jp_2", "cp949"}:  # which lack these characters
            marked = re.sub("[é😀\x85\u2028]", "日", marked)  # noqa: PLW2901 - another page
        before, raw, after = re.split("[‹›]", marked)
        data = (before + raw + after).encode(codec)
        found = row(data, charset=charset)
        lines = re.split("\r\n|\r|\n", before)
        assert (found.line, found.column) == (len(lines), len(lines[-1]) + 1), marked
        assert data[found.start : found.end] == raw.encode(codec), marked
    found = row("<iframe srcdoc='&eacute;<a href=a&amp;amp;b>'>")
    assert "é<a href=a&amp;b>".encode()[found.start : found.end] == b"a&amp;b"


# --- element, attribute, kind, text -----------------------------------------------------------------------------------

OF_KINDS = {
    "navigation": [
        "<a href=x>", "<area href=x>", "<meta http-equiv=refresh content='0;url=x'>", "<link rel=alternate hreflang=de href=x>",
        "<link rel=canonical href=x>", "<meta http-equiv=refresh content='0; url=x'>",
        "<noscript></noscript><meta http-equiv=refresh content='0; url=x'>",
    ],
    "image": [
        "<img src=x>", "<img srcset=x>", "<body background=x>", "<video poster=x>", "<link href=x rel=icon>",
        "<link rel=preload as=image imagesrcset=x>", "<style>a{b:url(x)}</style>", "<meta property=og:image content=x>",
    ],
    "media": ["<video src=x>", "<object data=x>"],
    "script": ["<script src=x></script>"],
    "stylesheet": ["<link rel=stylesheet href=x>", "<link rel='alternate  StyleSheet' href=x>", "<style>@import 'x'</style>"],
    "font": ["<link rel=preload as=font href=x>", "<style>@font-face{src:url(x)}</style>"],
    "feed": ["<link rel=alternate type=application/rss+xml href=x>", "<link rel=alternate type='application/atom+xml; charset=utf-8' href=x>"],
    "metadata": [
        "<link rel=nonsense href=x>", "<link href=x>", "<meta property=og:url content=x>",
        "<noscript><meta http-equiv=refresh content='0; url=x'></noscript>",
        "<template><meta http-equiv=refresh content='0; url=x'></template>", "<p itemid=x>",
    ],
    "frame": ["<iframe src=x>", "<frameset><frame src=x>"], "form": ["<form action=x>", "<button formaction=x>"],
    "other": ["<a ping=x>", "<base href=x>"],
}


@pytest.mark.parametrize("kind", OF_KINDS)
def test_the_kind_of_a_link_follows_its_element_and_attribute(kind: str) -> None:
    assert kind in KINDS
    for page in OF_KINDS[kind]:
        assert row(page).kind == kind, page


WRITTEN = st.lists(
    st.sampled_from([
        *(b"&", b"&amp;", b"&nbsp;", b"&#160;", b"&#x2003", b"&NotEqualTilde;", b"&copy", b"&amp;nbsp;", b"&#0;"),
        *(b"&x;", b"\0", "\u3000\u1680\u2029\xa0é𝄞".encode(), b"\xe2\x80", b"\xed\xa0\x80", b"\xf0\x9f", b"\xf5"),
    ])
    | st.binary(max_size=4)
    | st.text(max_size=90).map(lambda text: text.encode("utf-8", "surrogatepass")),
    max_size=12,
).map(b"".join)


@given(WRITTEN)
@example("a\u2028\u2029\u3000\u1680\u205f\x85\xa0\u202f\u200ab".encode())
def test_the_text_of_an_anchor_and_of_an_image_is_decoded_collapsed_and_shortened(raw: bytes) -> None:
    for before, after, attribute in ((b"<a href=x>", b"</a>", False), (b'<img src=x alt="', b'">', True)):
        inner = raw.replace(after[:1], b"")
        characters = all_references.decode(inner, attribute=attribute).decode("utf-8", "replace").replace("\0", "\ufffd")
        assert row(before + inner + after, charset="utf-8").text == " ".join(characters.split())[:200]


def test_absolve_base_returns_the_base_of_the_rows() -> None:
    found = base("<base href=/b/><a href=x>", url=URL)
    assert (found.url, found.layer.label, found.source) == row("<base href=/b/><a href=x>")[12:15]


# --- the target -------------------------------------------------------------------------------------------------------

OF_SCOPES = {
    "same-document": ["", "#t", "page.html", "page.html#t"],
    "internal": ["page.html?", "x", "https://doc.example/", "http://DOC.example:80/", "http://user@doc.example/"],
    "external": [
        "http://doc.example:8080/", "http://www.doc.example/", "http://doc.exam/", "http://doc.example.com/", "//h.example/",
        "ftp://h.example/", "file:///x",
    ],
    "other": ["mailto:a@b", "javascript:0", "data:,x", "http://[x"],
}


@pytest.mark.parametrize("scope", OF_SCOPES)
def test_the_scope_is_relative_to_the_own_url_of_the_document(scope: str) -> None:
    for reference in OF_SCOPES[scope]:
        assert row(f"<a href='{reference}'>").scope == scope, reference
    assert row("<base href='http://b.example/'><form action=''>").scope == "same-document"


def test_a_fragment_that_names_a_thing_of_the_page_is_of_the_page_whatever_the_base_is() -> None:
    in_svg = ("<use href=#x>", "<use xlink:href=#x>", "<textPath href=#x>", "<path fill='url(#x)'>")
    for page in (*(f"<svg>{element}" for element in in_svg), "<p style='clip-path:url(#x)'>", "<img usemap=#x>"):
        found = row(f"<base href=http://b.example/>{page}")
        assert (found.target, found.scope, found.problems) == (f"{URL}#x", "same-document", []), page
        assert row(f"<base href=http://b.example/>{page}", None).problems == ["unresolved"], page


CASES = {  # by the codes of the last row
    "": [
        "<a href=x>", "<a href='http://h/x?a=b#c'>", "<a href='javascript:a \\ b //c'>", "<img src='data:image/png;base64,AA BB'>",
        "<a href=#t>", "<base href=mailto:a><a href=http://h/x>", "<base href='http://b.example/'>", "<base href=''>",
        "<base target=x><base href='http://b.example/'>", "<object codebase='sub/'>", "<base href='/1/'><a href=x>", "<a href='../x'>",
        "<a href='x?../../..'>", "<a href='a/../b'>", "<a href='HTTP://DOC.example'>", "<form action=''>", "<button formaction=''>",
        "<a href='/x//y'>", "<a href='http://h.example//x'>", "<a href='a%5Cb'>", "<style>a{b:url(\\61 )}</style>", "<a href=x class=y>",
        "<a href= x >", "<a href = 'x' >", "<a\nhref=x\n>", "<img srcset=' x 1x '>", "<a ping=' x '>", "<style>a{b:url( x )}</style>",
        "<meta http-equiv=refresh content='0; url=x '>",
    ],
    "unresolved": ["<base href='mailto:a@b'><a href=x>", "<object codebase=mailto:a data=x>"],
    "empty": ["<base href=mailto:a><img src=''>", "<a href=''>", "<a href>", "<img src=''>"],
    "malformed": ["<a href='http://[x'>", "<a href='http://h:x/'>"],
    "malformed scheme-relative": ["<a href='//[x'>"],
    "unsuitable-base": [
        "<base href='javascript:1'>", "<base href='data:,x'>", "<base href='mailto:a@b'>", "<base href='about:blank'>",
        "<object codebase='javascript:1'>", "<object codebase='mailto:a@b'>",
    ],
    "unsuitable-base malformed": ["<base href='http://[x'>"],
    "relative-base": ["<base href='sub/'>", "<base href='#t'>", "<iframe srcdoc='<base href=sub/>'>"],
    "relative-base scheme-relative": ["<base href='//b.example/'>"],
    "ignored-base": [
        "<base href='/1/'><base href='/2/'>", "<base href='/1/'><base href='http://b.example/'>",
        "<base href='javascript:1'><base href='/2/'>", "<base href=''><base href='/2/'>", "<template><base href='/2/'></template>",
    ],
    "above-root": ["<a href='../../x'>", "<a href='/../x'>", "<a href='http://h/../x'>"],
    "divergent": ["<a href=';x'>", "<a href='http:x'>"], "divergent backslash": ["<a href='\\x'>"],
    "scheme-relative": ["<a href='//h.example/x'>"], "backslash": ["<a href='a\\b'>"],
    "placeholder": ["<a href='{{ x }}'>", "<a href=<?= x ?>>", "<a href='a b/<% x'>", "<base href='{{ x }}'>", "<img srcset='{{ a, b }} 1x'>"],
    "whitespace": [
        "<a href=' x'>", "<a href='x\n'>", "<a href='&#32;x'>", "<a href='x&#x9;'>", "<a href=&#32;x>", "<a href='a b'>",
        "<a href='a&Tab;b'>", "<meta property=og:url content=' x '>",
    ],
    "empty whitespace": ["<a href=' '>"],
}
CASES_OF_URLS = [
    ("<a href='mailto:a@b'>", None, ""), ("<a href=x>", None, "unresolved"), ("<a href=x>", "about:blank", "unresolved"),
    ("<base href=sub/><a href=x>", None, "unresolved"), ("<a href=#t>", None, "unresolved"), ("<form action=''>", None, "unresolved"),
    ("<a href='http://[x'>", None, "malformed"), ("<a href='//h.example/'>", None, "unresolved scheme-relative"),
    ("<base href='http://b.example/'>", None, ""), ("<a href='../../x'>", None, "unresolved"),
    ("<img src='http://h.example/'>", "https://doc.example/", "insecure"), ("<img src='http://h.example/'>", "http://doc.example/", ""),
    ("<img src='https://h.example/'>", "https://doc.example/", ""), ("<img src='x'>", "https://doc.example/", ""),
    ("<base href='http://b.example/'><img src='x'>", "https://doc.example/", "insecure"),
    ("<a href='mailto:http:'>", "https://doc.example/", ""),
]


def test_a_link_has_the_expected_problem_codes() -> None:
    cases = [*((page, URL, codes) for codes in CASES for page in CASES[codes]), *CASES_OF_URLS]
    assert [(page, url, found) for page, url, codes in cases if (found := row(page, url).problems) != codes.split()] == []


def test_every_problem_code_has_a_case_and_the_documented_order() -> None:
    assert {code for codes in CASES for code in codes.split()} | {"unresolved", "insecure", "too-long", "companion", "before-base"} == set(PROBLEMS)
    for codes in CASES:
        assert sorted(codes.split(), key=PROBLEMS.index) == codes.split()


# --- rows of clones, duplicates, other documents ----------------------------------------------------------------------


def test_columns_are_full_at_a_limit_of_text_bytes() -> None:
    page = f"<base href='http://h/{'d' * 1000}/'>" + "<a href=x>" * 20 + "<a href=//i/>"
    entity = walk(Document(page, media_type="text/html"), Settings())
    expected = list(inventory.rows(entity))
    columns = Columns(100, most=5000)
    found: list[Row] = []
    for _ in inventory.fill(columns, entity):
        assert 3 <= len(columns) <= 5
        found += columns
    assert [*found, *columns] == expected
    assert len(expected) == 22
    columns = Columns(columns=("target", "line"))  # the selection and the order of the caller
    assert list(inventory.fill(columns, entity)) == []
    assert [*columns][1] == ["http://h/" + "d" * 1000 + "/x", 1]


def test_pickled_columns_have_the_same_rows() -> None:
    columns = Columns(100, ("target", "document", "problems"))
    document = Document(b"<a href=x rel=y>z</a><a href='//['><a href=/y>" * 7, media_type="text/html", url="http://h/d/")
    for _ in inventory.fill(columns, walk(document, Settings())):
        raise AssertionError("there is room")
    rows = list(columns)
    assert len({tuple(map(str, row)) for row in rows}) == 3
    for found in (pickle.loads(pickle.dumps(columns)), columns.taken()):  # noqa: S301 - our own
        columns.clear()
        assert (found.at_once, found.names, len(found)) == (100, ("target", "document", "problems"), 21)
        assert list(found) == rows
        for name in COLUMNS:
            assert len(found.cells(name)) == 21
        for _ in inventory.fill(found, walk(document, Settings())):
            raise AssertionError("there is room")
        assert list(found) == rows * 2


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg", "browser"])
@pytest.mark.parametrize(
    ("prefix", "reference"),
    [
        *(("http://h/d/", reference) for reference in ("p|q", "p?a|b", "p?a&b#c|d", "p&q?\u00e9|")),
        *(("http://h", "/x&y"), ("http:", "//g/a|b?c&d"), ("", "http://g/a|b?c&d"), ("http:", "//g")),
    ],
)
def test_ampersands_and_bars_are_copied(prefix: str, reference: str, profile: Any) -> None:
    (row,) = links(f'<a href="{reference}">', url="http://h/d/", media_type="text/html", profile=profile)
    is_standard = profile in {"whatwg", "browser"}
    target = prefix + (reference.replace("\u00e9", "%C3%A9") if is_standard else reference)
    assert row.target == target + ("/" if is_standard and reference == "//g" else "")
    assert (row.reference, row.scope) == (reference, "external" if "//" in reference else "internal")
    assert row.problems == ["scheme-relative"] * reference.startswith("//")


def test_rows_before_an_error_keep_their_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document(b"<a href=x rel=y>z</a>" * 40, media_type="text/html", url="http://h/d/")
    columns = Columns(1000, ("host",))
    calls: list[str | None] = []

    def fails(target: str | None) -> str:
        calls.append(target)
        if len(calls) > 35:
            raise MemoryError
        return "h"

    monkeypatch.setattr(inventory, "site", fails)
    with pytest.raises(MemoryError):
        list(inventory.fill(columns, walk(document, Settings())))
    assert {len(columns.cells(name)) for name in (*COLUMNS, "host")} == {35}
