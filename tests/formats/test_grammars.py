"""References inside one attribute value: their spans, and that an encoded target is read back as one reference."""

import pytest
from grammars_by_letter import SPACE, read, refresh_by_the_letter, srcset_by_the_letter
from hypothesis import given
from hypothesis import strategies as st

from absolve.formats.grammars import ESCAPES, GRAMMARS, WHITE_SPACE

SRCSETS = [
    "", " , ,\n", "/i/a.png,\n   /i/a@2x.png 2x", "s1.png, s2.png 2x,s3,with,comma.png 3x", "a.png,b.png 2x",
    "data:image/gif;base64,R0lGODlhAQABAAAAACw= 1x, b.png 2x", "a.png 200w,", "a.png, b.png,, c.png", ",,a",
    "a 1q, b 1w 1h 1x, c -1x", "a x(b,c) 1x, d", "a (b (c), d", "a (b, c", "(a,b) 1x, c", "é 1x,ü",
]
REFRESHES = [
    "", "30", "30;", "0;url=", "0;url=''", "0;url=' '", ";url=a", "url=a", "x;y", "0url=a", "-1;url=a",
    "5; URL='next.html?a=1'", "0; URL=\nhttp://h.example/i", "0;x.html", "0, next", "0 next", ".5;a", "0..5.;a",
    "  0 ;\tuRl = a  ", "0;url='a' b", "0;url=\"a'b", "0;'a'", "0;url a", "0;urn:x", "0;url'a'", "0;;a",
]


CASES: list[tuple[str, str, list[str]]] = [
    # without references
    ("spaces", " \t\n\f\r ", []), ("commas", " , ,", []), ("link", "", []), ("link", "no-link; rel=next", []), ("link", '"<a>"', []),
    ("link", "<a", []),
    *(("bracketed", value, []) for value in ("", "NO", "NO (no <x>)", "(<x> (<y>) <z>)", "<x", "<x<", "see http://h/", "\\(<")),
    ("tasks", "name=A", []), ("tasks", "frequency=30;polling-uri=;cycle=1", []), ("tasks", "name=the action-uri=x", []),
    ("config", "none", []), ("config", " NONE ", []),
    *(("likely", value, []) for value in ("", "true", "0", "1.5", "#fff", "#0.ab", '{"a": "/x.png"}', "{{url}}")),
    *(("likely", value, []) for value in ("hj8R0_051Bw", "aHR0cDov/3d3dy5o", "https%3A%2F%2Fx.html", "a b.png")),
    *(("iri", value, []) for value in ("[ex:a]", "_:b", "foaf:me", "urn:isbn:1", "a b", "{{url}}", "[x]")),
    *(("strings", value, []) for value in ("", "/a", "a=/a", 'a=1;p="x"', '"a\\"b"', '("a" "b")', 'A="x"')),
    *(("endpoints", value, []) for value in ("", "url", '{"x": "url"}', '{"url": "a\\/b"}', '{"a\\"url": "x"}', '["url" : ')),
    *(("reports", value, []) for value in ("", "report-uri", "report-to /a", "script-src report-uri /a", "xreport-uri /a")),
    # one URL
    ("url", "", [""]), ("url", " \n", [""]), ("url", "a b", ["a b"]), ("url", "\t\n\f\r a\t\n\f\r ", ["a"]),
    ("url", "\xa0a\x0b", ["\xa0a\x0b"]), ("config", " /b.xml", ["/b.xml"]),
    *(("likely", value, [value]) for value in ("/a b", "../a", "./a", "//h", "http://h/?{x}", "l.png", "a/b.html?x#y")),
    ("likely", " é/ü.jpeg ", ["é/ü.jpeg"]),
    *(("iri", value, [value.strip()]) for value in ("", " #me ", "a/b", "//h/", "http://h/x:y", "mailto:a@b", "a?b:c", "é")),
    # lists
    ("strings", 'a="/r", b*="https://h/a,b;c";p="x,y" ,c="", "d"', ["/r", "https://h/a,b;c", "d"]),
    ("strings", ' "/a.json" , "b"', ["/a.json", "b"]),
    ("endpoints", '{"group": "url", "endpoints": [{"url":"a"}, {"url" : "b"}]}, {"x": "\\"url\\": 1", "url": "c"}', ["a", "b", "c"]),
    ("reports", "default-src 'self'; Report-URI /a  b;img-src *, report-uri c", ["/a", "b", "c"]),
    ("spaces", "/p1  p2\nhttp://h.example/p3", ["/p1", "p2", "http://h.example/p3"]),
    ("spaces", "a,b, c", ["a,b,", "c"]), ("commas", "p.jar,q.jar", ["p.jar", "q.jar"]),
    ("commas", " p q.jar ,\n,r.jar,", ["p q.jar", "r.jar"]),
    # pinned sites
    ("link", '<a,b;c>; rel=next; title="x, <y>", < d > ,<>;rel="\\"<e>"', ["a,b;c", "d", ""]),
    ("bracketed", "(by (a\\)) ) <a> (or <c>), < mailto:b?x=(1 >, <>", ["a", "mailto:b?x=(1", ""]),
    ("bracketed", " http://h/a,b , mailto:c,d (x)", ["http://h/a,b", "mailto:c,d"]),
    ("tasks", "name=A;action-uri=/a?x=1;icon-uri= i.ico ", ["/a?x=1", "i.ico"]),  ("semicolons", "a; b ;;", ["a", "b"]),
    ("tasks", "frequency=30;Polling-URI=/1;polling-uri2=/2;cycle=1", ["/1", "/2"]),
]


def test_references_of_each_grammar_are_found() -> None:
    assert [(syntax, value, found) for syntax, value, references in CASES if (found := read(syntax, value)) != references] == []


def test_srcsets_and_refreshes_are_parsed_as_by_the_html_standard() -> None:
    assert [read("srcset", value) for value in SRCSETS] == [srcset_by_the_letter(value) for value in SRCSETS]
    assert [read("refresh", value) for value in REFRESHES] == [refresh_by_the_letter(value) for value in REFRESHES]


@given(st.sampled_from(sorted(GRAMMARS)), st.text() | st.text("a,;=/.()'\" \n"))
def test_spans_of_references_are_ordered_and_exclude_white_space(syntax: str, value: str) -> None:
    data = value.encode()
    position = 0
    for start, end in GRAMMARS[syntax](data):
        assert position <= start <= end <= len(data)
        assert data[start:end] == data[start:end].strip(WHITE_SPACE)
        position = end


FRAMES = [
    ("url", " ", " "), ("srcset", "a 1x, ", " 2x, b"), ("srcset", "", ""), ("spaces", "a\n", " b"), ("commas", "a , ", ",b"),
    ("refresh", "0;url=", " "), ("refresh", "0; URL= '", "' x"), ("refresh", '0;"', '"'), ("refresh", "0;url='", ""),
    ("tasks", "name=A;action-uri=", ";icon-uri=i"), ("bracketed", "(x) <", ">, <y>"), ("config", "", ""), ("likely", "", ""),
    ("iri", " ", ""), ("strings", 'a="b", c="', '";d, e="f"'), ("endpoints", '[{"url":"', '"}]'),
    ("reports", "a b; report-uri x ", " y; z"), ("field", ' HYPERLINK "', '" \\o "x"'), ("formula", 'A1&HYPERLINK("', '" ,"x")'),
]


@pytest.mark.parametrize(("syntax", "before", "after"), FRAMES)
@given(tail=st.text("a,;'\"()\\%é \t\n\f\r/") | st.text())
def test_an_escaped_target_is_read_back_as_one_reference(syntax: str, before: str, after: str, tail: str) -> None:
    target = f"http://h/{tail}".strip(SPACE).encode()
    written = ESCAPES[syntax](target, before.encode())
    start = len(before.encode())
    assert (start, start + len(written)) in GRAMMARS[syntax](before.encode() + written + after.encode())


ESCAPED: list[tuple[str, str, str, str | None]] = [
    *(
        (syntax, "", "http://h/a,b?c;d'e\"f()é%20#g", None)
        for syntax in ESCAPES
        if syntax not in {"commas", "semicolons", "tasks", "strings", "endpoints", "reports", "field", "formula", "iri"}
    ),
    ("spaces", "", ",a,", None), ("url", "", "http://h/a b", None), ("refresh", "0;url=", "http://h/it's", None),
    ("refresh", '0;url="', "http://h/it's", None), ("refresh", "0;url='", "http://h/it's", "http://h/it%27s"),
    ("spaces", "", "http://h/a \tb", "http://h/a%20%09b"), ("srcset", "", ",http://h/a b,c,,", "%2Chttp://h/a%20b,c%2C%2C"),
    ("srcset", "", ",", "%2C"), ("commas", "", "http://h/a,b c", "http://h/a%2Cb%20c"),
    ("tasks", "action-uri=", "http://h/a;b", "http://h/a%3Bb"), ("link", "<", "http://h/a b>c", "http://h/a%20b%3Ec"),
    ("bracketed", "<", "http://h/a b>c<", "http://h/a%20b%3Ec%3C"), ("iri", "", "http://h/a {b}\"'", "http://h/a%20%7Bb%7D%22'"),
    *((syntax, '"', 'http://h/a,b;c"d\\', "http://h/a,b;c%22d%5C") for syntax in ("strings", "field", "formula")),
    ("endpoints", '"', 'http://h/a,b;c"d\\', "http://h/a,b;c%22d%5C"),
    ("reports", "report-uri ", 'http://h/a,b;c"d', 'http://h/a%2Cb%3Bc"d'),
]


def test_grammars_escape_only_the_necessary_characters() -> None:
    for syntax, before, target, written in ESCAPED:
        assert ESCAPES[syntax](target.encode(), before.encode()).decode() == (written or target), (syntax, target)
