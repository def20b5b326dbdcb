"""The library: bytes or text in, the same type out, and errors that name the argument at fault."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import absolve
from absolve import AbsolveError, Diagnostic, Document, UsageError, api
from absolve.core.model import Part
from absolve.document.walk import inners, walk
from absolve.rewriting import rewriter

URL = "http://doc.example/dir/page.html"
PAGE = "<a href=x>é</a>"
DONE = "<a href=http://doc.example/dir/x>é</a>"


def test_an_unchanged_document_is_returned_as_the_same_object() -> None:
    for source in ("<p>as it was</p>", b"<p>as it was</p>", PAGE, PAGE.encode(), ""):
        assert absolve.rewrite(source) is source
    document = Document(b"<a href=http://h/>")
    assert absolve.rewrite(document, url=URL) is document.data


def test_text_returns_text_and_bytes_return_bytes() -> None:
    assert absolve.rewrite(PAGE, url=URL) == DONE
    assert absolve.rewrite(PAGE.encode(), url=URL) == DONE.encode()
    assert absolve.rewrite(Document(PAGE.encode(), url=URL)) == DONE.encode()


def test_text_may_contain_lone_surrogates_and_charset_declarations_are_ignored_in_it() -> None:
    for text in ("\ud800", "\udcff\ud83d", "\ufeff"):
        page = f"{text}<a href='{text}'>{text}</a><a href=x>"
        assert absolve.rewrite(page) is page
        rewritten = absolve.rewrite(page, url="http://h/")
        assert rewritten.startswith(f"{text}<a href='http://h/{text}'>{text}</a><a href=http://h/x>")
    page = "<meta charset=windows-1251><a href='é'>"
    assert absolve.rewrite(page, url="http://h/") == "<meta charset=windows-1251><a href='http://h/é'>"
    assert absolve.rewrite(page, url="http://h/", charset="koi8-r").endswith("<a href='http://h/é'>")


def test_links_are_a_sequence_that_a_loop_reads_row_by_row() -> None:
    found = absolve.links("<a href=x><a href=y><a href=z>", url="http://h/", headers={"Link": "<w>; rel=next"})
    assert next(iter(found)).reference == "w"
    assert [row.reference for row in found] == [row.reference for row in found] == ["w", "x", "y", "z"]
    assert (len(found), found[0].reference, found[-1].target) == (4, "w", "http://h/z")
    assert [row.reference for row in found[1:3]] == ["x", "y"]
    assert found[1] in found
    assert list(found) == [*found]
    assert (repr(found), len(absolve.links(b""))) == ("<absolve.links: 4 rows>", 0)


def test_arguments_override_what_the_document_declares() -> None:
    document = Document(PAGE, url="http://other.example/", name="x.html")
    assert absolve.rewrite(document, url=URL) == DONE.encode()
    assert absolve.base(document).url == "http://other.example/"
    assert absolve.base(document, url=URL).url == URL
    assert absolve.links(document, name="y.html")[0].document == "y.html"
    sheet = Document(b"a{b:url(x)}", url=URL)
    assert absolve.rewrite(sheet, media_type="text/css") == b"a{b:url(http://doc.example/dir/x)}"


def test_a_media_type_may_carry_a_charset() -> None:
    page = "<a href='п'>".encode("koi8-r")
    row = absolve.links(page, media_type='Text/HTML; Charset="KOI8-R"')[0]
    assert row.reference == "п"
    assert absolve.links(page, media_type="text/html;charset=utf-8", charset="koi8-r")[0].reference == "п"


@pytest.mark.parametrize(("option", "value"), [
    *(("profile", "rfc9999"), ("fragments", "drop"), ("base", "remove"), ("charset", "klingon")),
    *(("url", value) for value in ("", "page.html", "/x", "//h/", "http://[x", "http://[", "http://a b/", "http://h:x/")),
])
def test_an_unknown_value_is_named_in_the_error(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=re.escape(repr(value))):
        absolve.rewrite(PAGE.encode(), **{option: value})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(b"\x89PNG\r\n\x1a\n\0\0", None), (b"\0\0\0", None), (b"x", "image/png"), (b"x", "nonsense"), (b"x", ""), (b"x", ";")],
)
def test_a_document_of_unknown_type_is_an_error_that_names_it(data: bytes, media_type: str | None) -> None:
    with pytest.raises(AbsolveError, match=r"some\.file: unknown-media-type"):
        absolve.rewrite(data, media_type=media_type, name="some.file")


def test_a_policy_is_called_for_every_link_and_may_leave_it_unchanged() -> None:
    asked = []

    def policy(resolved: absolve.Resolved) -> str | None:
        asked.append((resolved.element, resolved.attribute, resolved.kind, resolved.reference, resolved.target))
        return "new" if resolved.kind == "image" else None

    page = "<base href=/b/><a href=x><img src=y><iframe srcdoc='<img src=z>'></iframe><p style='a:url(w)'>"
    assert absolve.rewrite(page, url=URL, policy=policy) == (
        "<base href=/b/><a href=x><img src=new><iframe srcdoc='<img src=new>'></iframe><p style='a:url(new)'>"
    )
    assert asked == [
        ("base", "href", "other", "/b/", "http://doc.example/b/"), ("a", "href", "navigation", "x", "http://doc.example/b/x"),
        ("img", "src", "image", "y", "http://doc.example/b/y"), ("img", "src", "image", "z", "http://doc.example/b/z"),
        ("css", "url", "image", "w", "http://doc.example/b/w"),
    ]


def test_inner_documents_that_stay_unchanged_are_walked_only_for_a_policy() -> None:
    page = '<script type=application/ld+json>{"url": "y"}</script><a href=x>'
    asked: list[str] = []
    absolve.rewrite(page, url=URL, policy=lambda resolved: asked.append(resolved.reference))
    assert asked == ["y", "x"]
    document, settings = api.opened(page, {"url": URL}, "absolve.rewrite()")
    inside = [event for event in walk(document, settings).events if isinstance(event, Part)]
    assert len(inside) == len(list(inners(walk(document, settings)))) == 1
    assert not list(inners(walk(document, settings, for_rewrite=True)))
    assert list(inners(walk(document, settings._replace(json_ld=True), for_rewrite=True)))


@pytest.mark.parametrize("page", [
    "<a href=http://h/1><a href=x><a href=https://h/2><a href=y>",
    "<a href=x><a href=http://h/1><img srcset='http://h/2 1x, http://h/3 2x'>",
    "<style>a{b:url(http://h/1)}</style><p style='b:url(data:,)'><a href=http://h/2><a href=http://h/3>",
    "<style>a{b:url(http://h/1) url(x)}</style><p style='b:url(data:,) url(y)'><a href=http://h/2>",
    "<a href=http://h/1><iframe srcdoc='<a href=http://h/2><a href=http://h/3><a href=x>'></iframe>",
])
def test_links_that_no_rewrite_changes_are_counted_all_the_same(page: str) -> None:
    def outcome(most: int, *, only_changing: bool) -> tuple[int, bytes, list[Diagnostic]] | str:
        document, settings = api.opened(page, {"url": URL}, "absolve.rewrite()")
        try:
            entity = walk(document, settings._replace(max_links=most, only_changing=only_changing))
        except absolve.DocumentError as error:
            return str(error)
        return entity.count, rewriter.rewrite(entity), entity.diagnostics

    for most in range(8):
        assert outcome(most, only_changing=True) == outcome(most, only_changing=False)


def test_threads_rewrite_and_list_at_the_same_time() -> None:
    style = "<p style=background:url(p%d)><p style='background:url(a%d),url(b%d)'><a href=c%d>x</a>"
    page = "".join(style % (number, number, number, number) for number in range(50))
    expected = absolve.rewrite(page, media_type="text/html", url="http://h/d/")
    rows = list(absolve.links(page, media_type="text/html", url="http://h/d/"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            rewritten = pool.map(lambda _: absolve.rewrite(page, media_type="text/html", url="http://h/d/"), range(16))
            listed = pool.map(lambda _: list(absolve.links(page, media_type="text/html", url="http://h/d/")), range(16))
            assert set(rewritten) == {expected}
            assert all(found == rows for found in listed)
    finally:
        sys.setswitchinterval(interval)
