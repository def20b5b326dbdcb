"""The CSS walker finds the references of css-syntax-3, and its codings write them back.

tinycss2 is an independent reference: its tree is searched with rules implemented separately. Its known errors
(JUDGE_ERRS) are excluded from the comparison.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from css_judge import LETTERS, assert_judged, found
from hypothesis import given
from hypothesis import strategies as st
from material import SHARED, needs

import absolve
from absolve.core.protocols import Coding
from absolve.document.resolved import text
from absolve.formats.css import DOUBLE_QUOTED, SINGLE_QUOTED, UNQUOTED, URL, walk

CODINGS = {"unquoted": UNQUOTED, "double-quoted": DOUBLE_QUOTED, "single-quoted": SINGLE_QUOTED}
FRAMES = {"unquoted": (b"a{b:url( ", b" )}"), "double-quoted": (b'a{b:url("', b'")}'), "single-quoted": (b"a{b:url('", b"')}")}


@pytest.mark.parametrize("data", [
    b"", b"(", b"@", b"\\", b'a::before{content:"url(x.png)"}',
    b'b{font-family:"a.css";quotes:"@import" "y"} c[href="z.html"]{d:e()}', b"/* url(x.png) @import 'y.css' */ a()",
    b"/* url(x.png)", b"/** url(x.png) * url(y.png) **/ a()", b'@charset "utf-8"; a()', b'@namespace "http://h/";a()',
    b"@namespace svg/**/url(http://h/;x) url(y) src('z');", b"@NAMESP\\41 CE url(x)", b"@namespace x url(",
    b"myurl(x) -url(x) --url(x) _url(x) 10url(x) 1e3url(x) \xc3\xa9url(x) \0url(x)",
    b"#url(x) @url(x) #\\75rl(x) @\\75rl(x) #a@url(x)",
    b"\\66url(x) \\66 url(x) \\(url(x) \\)url(x) \\#url(x) \\@url(x) \\\\url(x) \\'url(x) 1\\75rl(x)",
    b"url (x) url/**/(x)", b"src(x) src() src(var(--x)) src(var(--x, 'y') 'z')", b"format('x') type('x') local(\"x\")",
    b"image-set(type('x') format('y') ('z') ['z'] {'z'})", b"image-set({'x') ']' '}' [')' '])'",
    b"-moz-image-set('x') image-set ('x')",
])
def test_text_that_only_looks_like_a_link_is_not_found(data: bytes) -> None:
    assert found(data) == []


@pytest.mark.parametrize("data", [
    b"url(a b)", b'url(a"b)', b"url(a'b)", b"url(a(b)", b"url(a\x01b)", b"url(a\x7fb)", b"url(a\\\nb)",
    b"url(a /**/)", b"url(a b\\)url(c)", b'url("a\nb")', b"url('a\rb')", b"@import 'a\fb'",
])
def test_after_a_bad_url_or_string_links_are_found_again(data: bytes) -> None:
    assert found(data) == []
    assert found(data + b"\n url(next)") == [(URL, b"next")]


REFERENCES = {
    "forms of references": [
        b"a{b:url(x.png)}", b'a{b:url("x.png")}', b"a{b:url( \t\n'x.png' )}", b"a{b:url(\r\n\fx.png \n)}", b"a{b:url(' x.png\t')}",
        b"url() url( ) url('') url(' ')", b"url(data:a;b,c//d/*e*/f)", b"url(a[b]{c};@d,#e:f!g<!--h-->)",
        b"src('x') src(/**/ \"y\" z('w') 'v')", b"url('x' 'y' z('w') )",
    ],
    "the end of the file closes open blocks": [b"url(x", b"url(x \n", b"url('x", b"url('x\\", b"url(x\\", b"url(", b"@import 'x"],
    "escapes": [b"url(\\69 mg.png)", b"url('a\\\nb\\\r\nc\\\fd\\\re')", b"url('a\\62\nc\\64\r\ne')", b"url(\\e9 \\1f600)", b"url(\\\xc3\xa9)"],
    "names": [
        b"URL(x) uRl('x') SRC('x')", b"u\\72l(x) \\75\\72\\6c(x) \\55 r\\l(x)", b"@\\69mport 'x';@imp\\6fr\\t 'x';@IMPORT 'x'",
        b"<!--url(x)-->url(x)<!--u\\72l(x)", b"<!---url(x)", b"10%url(x) .url(x) +url(x) 1.url(x) 1e+url(x) *url(x) ,url(x)",
        b"\\\nurl(x)", b"}url(x)])url(y)",
    ],
    "@import": [
        b"@import 'x';@import \"y\" screen;@import url(z)", b"@import/**/'x';@import/* 'n' */ /**/\nurl( 'y' )",
        b"@import\tu\\rl(x);@import \\66url(y)", b"@import u\\72l(x) screen;@import src('y')", b"@import x 'y'; @import; 'z'",
        b"@import url(x) layer(y) supports(a:url(z))", b"a{}@import 'x';@media b{@import url(y)}", b"@import @import 'x'",
    ],
    "@namespace": [b"@namespace x @import 'y';@import 'z'"],
    "@font-face": [
        b"@font-face{src:url(x) format('n'),url('y')}a{b:url(z)}", b"@media m{@font-face/**/{a:{}b:[}];src:url(x)}b{c:url(y)}}",
        b"@font-face;{a:url(x)} @font-face-x{a:url(y)}", b"@font-face{a:(}url(x)",
    ],
    "inside image-set, and after it": [
        b"image-set('x' 1x,url(y) 2x, url('z') type('n'))'n'url(w)", b"-webkit-image-set(\"x\" type('n'),'y')",
        b"IMAGE-\\53 ET('x') image-set(/*'n'*/'y'", b"image-set(a('n'){'n')}['n')]'x' b(url(y))) url(z)",
        b"image-set(image-set('x') 'y')'n'", b"@font-face{a:image-set('x');b:url(y)}",
    ],
    "bytes that are not UTF-8, and a byte order mark": [b"\xff{b:url(\xc3\xa9)}", b"\xef\xbb\xbf@import 'x'"],
}


@pytest.mark.parametrize("name", REFERENCES)
def test_tinycss2_finds_the_same_references(name: str) -> None:
    for sheet in REFERENCES[name]:
        assert_judged(sheet)


CASES: list[tuple[bytes, list[tuple[str, str]]]] = [  # what tinycss2 reads otherwise, or absolve does on purpose
    (b"url(a\\ b\\)\\(\\'\\\"\\\\)", [("url", "a b)('\"\\")]), (b"url(a\\20 )", [("url", "a ")]), (b"url(a\\20  )", [("url", "a ")]),
    (b"url('a\\20 ')", [("url", "a ")]), (b"url('a\\ ')", [("url", "a ")]),
    (b"url(\\000041\\00004242\\110000 \\0\\d800\\\0\0)", [("url", "AB42" + "\ufffd" * 5)]),
    (b"@namespace url(x);a{b:url(y)}", [("url", "y")]), (b"@namespace url(x){b:url(y)}", [("url", "y")]),
    (b"@namespace x @import url(y);@import url(z)", [("import", "z")]), (b"a{@namespace url(x)}b{c:url(y)}", [("url", "y")]),
]


IN_ATTRIBUTES: list[tuple[bytes, list[tuple[str, str]]]] = [  # where an import is ignored
    (b"@import 'x'", []), (b"@import url(x);a:url(y)", [("url", "y")]), (b"a:url(x);b:image-set('y')", [("url", "x"), ("image-set", "y")]),
]


def test_a_css_reference_is_found_with_its_span_and_value_and_invalid_utf_8_passes_unchanged() -> None:
    for table in (CASES, IN_ATTRIBUTES):
        for data, links in table:
            assert found(data, style_attribute=table is IN_ATTRIBUTES) == [(LETTERS[place], value.encode()) for place, value in links]
    for link in (b"\xe9\xff", b"\xc3", b"\xed\xa0\x80"):
        assert found(b"\xffa{b:url(" + link + b")}") == [(URL, link)]
        assert all(coding.encode(link) == link for coding in CODINGS.values())


@pytest.mark.parametrize("broken", [
    b"\xc3\\\xae", b"\xe2\\\x82\xac", b"\xe2\x82\\\xac", b"\xe2\\\x82\\\xac", b"\xc3\\\n\xae",
    b"\xc3\\\r\n\\\f\xae", b"\xc3\\\n\\\xae",
])
@pytest.mark.parametrize("before", [b"", b"\\\n", b"a\\b"])
def test_bytes_separated_by_an_escape_form_no_character(before: bytes, broken: bytes) -> None:
    value = DOUBLE_QUOTED.decode(before + broken)
    assert "\N{REPLACEMENT CHARACTER}" in text(value)
    assert not {"î", "€"} & set(text(value))
    assert DOUBLE_QUOTED.decode(b"\\\xae") == b"\xae"  # this byte alone is no character, and is decoded as none
    known: dict[str, Any] = {"media_type": "text/css", "url": "http://h/"}
    sheet = b'@charset "utf-8"; a{b:url("' + before + broken + b'")}'
    written = absolve.rewrite(sheet, **known)
    assert written == sheet.replace(b'("', b'("http://h/')
    assert absolve.verify(sheet, written, **known) == []
    differences = absolve.verify(sheet, written.replace(b"h/", b"g/"), **known)
    assert "tinycss2: css: " in "".join(diagnostic.text for diagnostic in differences)


@pytest.mark.parametrize(("data", "spans", "coding"), [
    (b"url( a\\20  )", [b"a\\20 "], UNQUOTED), (b"url(a\\", [b"a\\"], UNQUOTED), (b"url()", [b""], UNQUOTED),
    (b"src( ' \\\n a\\ ')", [b"\\\n a\\ "], SINGLE_QUOTED), (b'@import " a\\\n "', [b"a\\\n"], DOUBLE_QUOTED),
])
def test_a_css_span_excludes_white_space_except_that_of_escapes(data: bytes, spans: list[bytes], coding: Coding) -> None:
    links = list(walk(data))
    assert [data[link.start : link.end] for link in links] == spans
    assert {link.coding for link in links} == {coding}


ESCAPED = {
    "unquoted": [
        (b"a b", b"", b"a\\ b"), (b"'\"()\\", b"", b"\\'\\\"\\(\\)\\\\"), (b"\t\n\x7f", b"", b"\\9\\a\\7f"),
        (b"\x01a\x01g\x01", b"f", b"\\1 a\\1g\\1 "), (b"\x01", b"g", b"\\1"), (b"</style><!--", b"", b"\\3c/style\\3e\\3c!--"),
        (b"<", b"/x", b"\\3c"), (b"<>", b"a", b"\\3c\\3e "), (b"a]", b"]>", b"a\\5d "), (b"a]]", b">", b"a]\\5d "), (b"a]", b")", b"a]"),
    ],
    "double-quoted": [
        (b"--", b">", b"-\\2d "), (b"<-", b"->", b"\\3c\\2d "), (b"a-", b"b", b"a-"), (b"\x0e\x0f\x1b$B", b"", b"\\e\\f\\1b$B"),
        (b"a b\t'()", b"", b"a b\t'()"), (b'"\\', b"", b'\\"\\\\'), (b"\r\n\f", b"\t", b"\\d\\a\\c "), (b"a</b", b"", b"a\\3c/b"),
    ],
    "single-quoted": [(b'a b\t"()', b"", b'a b\t"()'), (b"'\n", b"", b"\\'\\a")],
}


@pytest.mark.parametrize("name", ESCAPED)
def test_only_characters_that_would_end_or_change_a_css_reference_are_escaped(name: str) -> None:
    for value in (b"", b"http://h/?a=b&c;d,e#f", b"x&copy;%20--]]", "é😀".encode(), b"\xff", b"/*!-*/"):
        assert CODINGS[name].encode(value) == value
    for value, after, raw in ESCAPED[name]:
        assert CODINGS[name].encode(value, after) == raw, value


@pytest.mark.parametrize(("coding", "raw", "value", "units"), [
    (UNQUOTED, b"abc", b"abc", [(0, 0), (1, 1), (2, 2), (3, 3)]),
    (UNQUOTED, b"\\69 mg", b"img", [(0, 0), (4, 4), (5, 5), (6, 6)]),
    (UNQUOTED, b"a\\e9z", "aéz".encode(), [(0, 0), (1, 1), (1, 4), (4, 4), (5, 5)]),
    (UNQUOTED, b"\\(\\)", b"()", [(0, 0), (2, 2), (4, 4)]),
    (DOUBLE_QUOTED, b"a\\\r\nb", b"ab", [(0, 0), (4, 1), (5, 5)]),
    (SINGLE_QUOTED, b"\\'\0", "'\ufffd".encode(), [(0, 0), (2, 2), (2, 3), (2, 3), (3, 3)]),
])
def test_offsets_of_css_values_are_those_of_their_units(coding: Coding, raw: bytes, value: bytes, units: list[tuple[int, int]]) -> None:
    decoded, offsets = coding.decode_mapped(raw)
    assert offsets is not None
    assert decoded == value == coding.decode(raw)
    assert [(offsets.start(position), offsets.end(position)) for position in range(len(value) + 1)] == units
    assert all(type(offset) is int for unit in units for offset in unit)


VALUES = st.one_of(
    st.binary(max_size=20),
    st.text(st.sampled_from("<!-/ab09 \t\r\n\f\"'()\\é\x01\x7f"), max_size=12).map(str.encode),
).filter(lambda value: b"\0" not in value)


@given(VALUES, st.sampled_from(sorted(CODINGS)))
def test_an_encoded_css_value_is_decoded_to_itself_in_its_context(value: bytes, name: str) -> None:
    coding, (before, behind) = CODINGS[name], FRAMES[name]
    raw = coding.encode(value)
    assert coding.decode(raw) == value
    assert b"</" not in raw
    assert b"<!--" not in raw
    [link] = walk(before + raw + behind)
    assert link.coding is coding
    expected = value if name == "unquoted" else value.lstrip(b" \t")
    got = coding.decode((before + raw + behind)[link.start : link.end])
    assert got == expected or (name != "unquoted" and got.rstrip(b" \t") == expected.rstrip(b" \t"))


@given(VALUES, VALUES, st.sampled_from(sorted(CODINGS)))
def test_a_css_value_may_be_written_before_kept_bytes(value: bytes, rest: bytes, name: str) -> None:
    coding = CODINGS[name]
    after = coding.encode(rest)
    assert coding.decode(coding.encode(value, after) + after) == value + rest


def sheets() -> Iterator[bytes]:
    for path in sorted((SHARED / "sites").rglob("*.css")):
        yield path.read_bytes()
    pages = sorted(path for path in (SHARED / "pages").rglob("*") if path.is_file())
    share = int(os.environ.get("ABSOLVE_SHARE") or 16)  # check one of this many pages
    for path in pages[::share]:
        for match in re.finditer(rb"(?is)<style[^>]*>(.*?)</style", path.read_bytes()):
            yield match[1]


@needs(SHARED)
def test_tinycss2_finds_the_same_links_in_real_style_sheets() -> None:
    for sheet in sheets():
        assert_judged(sheet)
