"""Diagnostics of the library reach `on_diagnostic`, and are warnings without it."""

import itertools
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import absolve
from absolve import Diagnostic, DiagnosticWarning, Document, api
from absolve.document import reporting

URL = "http://h/d/"
CALLS: list[Any] = [absolve.rewrite, lambda *args, **options: list(absolve.links(*args, **options))]
CASES = {
    "<a href=x>": "no-base",
    '<feed xmlns="http://www.w3.org/2005/Atom"><link href="y"/><entry xml:base="http://h/"><link href="x"/></entry></feed>': "no-base",
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/d/"><link href="x"/></feed>': "no-base",
    "<base href=javascript:x><a href=http://h/>": "unsuitable-base",
}

SCOPED = [  # each link has a base, though the document has none
    "<object codebase=http://h/ data=x>",
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/"><link href="x"/></feed>',
    '<svg xmlns="http://www.w3.org/2000/svg" xml:base="http://h/"><a href="x"/><style>a { fill: url(y#z) }</style></svg>',
]


def recorded(call: Any, *arguments: Any, **options: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, **options)
    return caught


def codes(call: Any, *arguments: Any, **options: Any) -> list[str]:
    """Return the codes of the diagnostics that reach a function; no warning may be given."""
    found: list[Diagnostic] = []
    assert recorded(call, *arguments, on_diagnostic=found.append, **options) == []
    return [one.code for one in found]


@pytest.mark.parametrize("call", CALLS)
def test_a_diagnostic_reaches_the_function_that_asks_and_is_a_warning_at_the_call_without_one(call: Any) -> None:
    for page in ("", "<p>", "<a href=http://h/>", "<a href=#x>", *SCOPED):
        assert recorded(call, page) == recorded(call, page, url=URL) == []
    for page, code in CASES.items():
        assert codes(call, page, name="p.html") == [code]
        (warning,) = recorded(call, page, name="p.html")
        assert isinstance(warning.message, DiagnosticWarning)
        assert (warning.message.diagnostic.code, warning.message.diagnostic.name) == (code, "p.html")
        assert Path(warning.filename) == Path(__file__)
        assert str(warning.message) == str(warning.message.diagnostic)
        assert "--url" not in str(warning.message)


def test_each_function_reports_what_its_result_does_not_show() -> None:
    assert codes(absolve.rewrite, "<a href=x>", url=URL, policy=lambda _: f"http://h/{'x' * 99}", max_url=50) == ["too-long"]
    assert codes(lambda *args, **options: list(absolve.links(*args, **options)), "<a href=x>", headers={"Link": "<y>"}) == ["no-base"]
    assert codes(api.columns, "<a href=x>") == ["no-base"], "as Arrow reads them"
    for call in (absolve.base, lambda page: list(absolve.documents(page))):
        assert recorded(call, "<a href=x>") == []
    assert recorded(absolve.verify, "<a href=x>", "<a href=x>") == []
    assert codes(absolve.verify, "<a href=x>", "<a href=x>") == ["no-base"]


NAMES = ["page.html", "dir/My page.HTM", "C:\\a\\page.xhtml", "crawl.warc.gz", "é.css", "https://h.example/", "HTTP://h/page?q=1"]
TEXTS = ["", ".", "page", "a.example", "<a>page.html", "see\npage.html", '@import "s.css', "a{b:url(s.css", "From: page.html", "x" * 1020 + ".html"]


TITLES = ("Index of /pub/a b", "Index of /pub/a b/", "Directory listing for /pub/a b/", "h.example - /pub/a b/", "/pub/a b/")
LISTED = {"http://h/pub/a%20b": ["folder-url"], "http://h/pub/a%20b/": [], "http://h/pub/a%20b?C=M": [], "http://h/a%20b": []}


def test_the_listing_of_a_folder_has_a_base_url_with_a_slash() -> None:
    for title, (url, expected) in itertools.product(TITLES, LISTED.items()):
        assert codes(absolve.rewrite, f"<html><head><TITLE>{title}</TITLE></head><a href=x.ps>x</a>", url=url) == expected, (title, url)
    assert recorded(absolve.rewrite, "<title>Index of /pub</title><a href=/x>", url="http://h/pub") == []


@pytest.mark.parametrize("call", [*CALLS, absolve.base, lambda *args, **options: list(absolve.documents(*args, **options))])
def test_the_name_of_a_file_as_a_document_is_reported(call: Any) -> None:
    for url in (None, URL):
        for source in (one for text in NAMES for one in (text, text.encode(), Document(text))):
            assert codes(call, source, url=url) == ["path-as-text"], source
        for text in TEXTS:
            assert codes(call, text, url=url, media_type="text/html") == ["css-as-text"] * text.startswith("@import"), text


STYLES = (
    *("body{background:url(x)}", "@import 'x.css';", "/* a */ .a:hover, #b { color: red }\n", "@media print { a { color: #fff } }"),
    "a{b:c}\n" * 1000,
)
NO_STYLES = ('{"a": {"b": 1}}', "{{ a: b }}", "Dear {name}, the price is: {price}", "<style>a{b:c}</style>", "a {b} c: d", "x = {a: b}")


@pytest.mark.parametrize("call", [*CALLS, absolve.base])
def test_a_style_sheet_as_text_is_reported(call: Any) -> None:
    for text in STYLES:
        assert codes(call, text, url=URL) == ["css-as-text"], text
        assert codes(call, text, url=URL, media_type="text/css") == []
    for text in NO_STYLES:
        assert codes(call, text, url=URL, media_type="text/html") == []


def test_each_part_that_stays_is_reported() -> None:
    found: list[Diagnostic] = []
    mail = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n!\n--b--\n"
    assert absolve.rewrite(mail, media_type="message/rfc822", url=URL, on_diagnostic=found.append) is mail
    reported = [(one.code, one.line) for one in found]
    assert reported
    assert reported == [(warning.message.diagnostic.code, warning.message.diagnostic.line) for warning in recorded(absolve.rewrite, mail, media_type="message/rfc822", url=URL)]  # type: ignore[union-attr]


def test_a_warning_is_shown_once_and_the_record_of_those_shown_is_bounded() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for number in [0, 0, *range(3000)]:
            absolve.rewrite("<a href=x>", name=f"p{number}.html")
    assert [str(warning.message).partition(": ")[0] for warning in caught] == [f"p{number}.html" for number in range(3000)]
    assert max(map(len, reporting._SHOWN.values())) <= 1000


def test_a_warning_can_be_made_an_error_and_pickled() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiagnosticWarning)
        with pytest.raises(DiagnosticWarning, match="no-base") as error:
            absolve.rewrite("<a href=x>")
    assert pickle.loads(pickle.dumps(error.value)).diagnostic == error.value.diagnostic  # noqa: S301 - our own


# --- lone surrogates --------------------------------------------------------------------------------------------------

PLACES = [
    "<a href='{0}'>{0}</a>", "<base href='/{0}/'><a href=x>", "<base href='http://{0}/'><a href=x>",
    "<img srcset='{0} 2x'><p style='a:url({0})'><iframe srcdoc='<a href={0}>'></iframe>",
    "<!-- saved from url=(0010)http://h/{0} --><a href=x>", "<p>{0}<a href=x></a></p><frameset><frame src='{0}'></frameset>",
    '<script type=application/ld+json>{{"@id": "{0}"}}</script>',
]


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize("surrogate", ["\ud800", "\udcff"], ids=ascii)  # noqa: PT014 - surrogates differ
@pytest.mark.parametrize("place", PLACES)
def test_a_lone_surrogate_in_any_place_raises_no_unicode_error(place: str, surrogate: str, profile: absolve.Profile) -> None:
    page = place.format(surrogate)
    assert [row.document for row in absolve.links("<a href=http://h/>", name=surrogate)] == ["\ufffd"]
    assert [row.document for row in absolve.documents("<p>", name=surrogate)] == ["\ufffd"]
    refused: list[str] = []
    for url, media_type in itertools.product((None, f"http://h/{surrogate}/"), ("text/html", "application/xhtml+xml", "message/rfc822")):
        for policy in (None, lambda _: f"http://n/{surrogate}"):
            options: dict[str, Any] = {"url": url, "media_type": media_type, "profile": profile, "json_ld": True}
            try:
                made = absolve.rewrite(page, policy=policy, name=f"{surrogate}.html", **options)
                rows = list(absolve.links(made, name=surrogate, **options))
            except absolve.AbsolveError as error:
                refused.append(str(error))
            else:
                assert "".join(map(str, itertools.chain.from_iterable(rows))).encode() is not None
    assert all(map(str.isprintable, refused))


USELESS = ("mailto:a@b", "about:blank", "cid:x", "urn:x:y")
WITH_A_BASE = [  # a document whose base is %b, its media type, and the name of the base in messages
    ("<base href='%b'><a href=x>", "text/html", "base element, line 1"),
    ("<iframe srcdoc='<base href=%b><a href=x>'>", "text/html", "base element, line 1"),
    ("Content-Base: %b\nContent-Type: text/html\n\n<a href=x>", "message/rfc822", "body (Content-Base header, line 1)"),
]


def test_a_base_that_resolves_no_relative_link_is_reported() -> None:
    for base, (document, media_type, name) in itertools.product(USELESS, WITH_A_BASE):
        found: list[Diagnostic] = []
        source = document.replace("%b", base)
        absolve.rewrite(source, media_type=media_type, url="http://h/", on_diagnostic=found.append)
        text = f"{name}: '{base}' resolves no relative link: they are left unchanged"
        assert [(one.code, one.text) for one in found] == [("unsuitable-base", text)]
        assert codes(absolve.rewrite, source.replace("=x", "=http://h/x"), media_type=media_type) == []
