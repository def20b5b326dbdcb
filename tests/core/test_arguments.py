"""Arguments of the library: unambiguous types are accepted, others raise a TypeError that names the alternative."""

import array
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import bs4
import httpx
import lxml.html
import numpy as np
import pytest

import absolve
from absolve import Document, UsageError, trees

PAGE = b"<a href=x>"
URL = "http://h.example/d/p"
DONE = b"<a href=http://h.example/d/x>"
CALLS: dict[str, Callable[..., Any]] = {
    "absolve.rewrite()": absolve.rewrite, "absolve.links()": absolve.links, "absolve.base()": absolve.base,
    "absolve.verify()": lambda source, **options: absolve.verify(source, PAGE, **options),
    "absolve.Document()": Document,
}


class Bytes(bytes):
    """A class with `__bytes__`."""

    def __bytes__(self) -> bytes:
        return b"something else"

    def __getitem__(self, key: Any) -> Any:
        return b"something else"


class Word(str):  # noqa: SLOT000 - as libraries have them
    """A class with `__str__`."""

    def __str__(self) -> str:
        return "something else"


class Names(StrEnum):
    """A subclass of str."""

    HOME = URL


class OwnURL:
    """A URL object like those of httpx and yarl."""

    scheme = "http"

    def __str__(self) -> str:
        return URL


# --- unambiguous arguments


@pytest.mark.parametrize(
    "source",
    [bytearray(PAGE), memoryview(PAGE), memoryview(PAGE[::-1])[::-1], np.bytes_(PAGE), Bytes(PAGE), array.array("B", PAGE), np.frombuffer(PAGE, np.uint8)],
    ids=lambda source: type(source).__name__,
)
def test_any_buffer_of_bytes_is_accepted_as_a_document(source: Any) -> None:
    assert absolve.rewrite(source, url=URL) == DONE
    assert Document(source).data == PAGE


def test_a_str_subclass_is_accepted_as_its_characters() -> None:
    assert absolve.rewrite(Word(PAGE.decode()), url=Word(URL)) == DONE.decode()
    assert absolve.rewrite(PAGE, url=URL, media_type=Word("text/html"), charset=Word("utf-8")) == DONE
    assert absolve.rewrite(PAGE, url=URL, policy=lambda _: Word("new")) == b"<a href=new>"
    assert absolve.rewrite(PAGE, url=Names.HOME) == DONE


@pytest.mark.parametrize("url", [httpx.URL(URL), OwnURL()], ids=lambda url: type(url).__name__)
def test_a_url_object_is_accepted_as_its_text(url: Any) -> None:
    for source in (PAGE, bytearray(PAGE), Document(PAGE)):
        assert absolve.rewrite(source, url=url) == DONE
    assert Document(PAGE, url=url).url == URL
    assert absolve.base(PAGE, url=url).url == URL
    assert absolve.verify(PAGE, DONE, url=url) == []
    assert absolve.resolve(url, "x") == "http://h.example/d/x"
    assert absolve.resolve("http://other.example/", url) == URL
    tree = trees.make_links_absolute(lxml.html.fromstring(PAGE), url)
    assert lxml.html.tostring(tree).startswith(DONE.replace(b"=", b'="').replace(b">", b'">'))


def test_a_name_may_be_a_path() -> None:
    assert Document(b"a{b:url(x)}", name=PurePosixPath("dir/s.css")).name == "dir/s.css"
    assert [row.document for row in absolve.links(b"a{b:url(x)}", name=Path("s.css"))] == ["s.css"]


# --- unsupported sources


@pytest.mark.parametrize(("source", "advice"), [
    (Path("page.html"), "pass path.read_bytes(), and name=path.name; walk_links(path)"),
    (io.BytesIO(PAGE), "pass what read() returns"), (io.StringIO("x"), "pass what read() returns"),
    (httpx.Response(200), "pass absolve.document_of(response)"), (EmailMessage(), "pass its as_bytes()"),
    (lxml.html.fromstring("<p>"), "absolve.trees takes trees"),
    (bs4.BeautifulSoup("<p>", "html.parser"), "absolve.trees takes trees"),
    ([60, 97, 62], "join its pieces"), ([b"<a>"], "join its pieces"), ((piece for piece in [b"<a>"]), "join its pieces"),
    ({"page": b"<a>"}, "join its pieces"), (None, "pass b'' for an empty document"), (3, "pass the bytes of the document"),
    (True, "pass the bytes of the document"),
    (array.array("i", [60, 97, 62]), "not array.array of 1 dimensions, of items of 4 bytes"),
    (np.uint8(3), "of 0 dimensions"), (np.zeros((2, 2), np.uint8), "of 2 dimensions"), (Path, "pass the bytes"),
], ids=lambda value: "" if isinstance(value, str) else type(value).__name__)
def test_an_unsupported_source_is_rejected_with_an_alternative(source: object, advice: str) -> None:
    for name, call in CALLS.items():
        with pytest.raises(TypeError, match=re.escape(advice)) as caught:
            call(source)
        assert str(caught.value).startswith(f"{name} takes bytes")


# --- values of options


@pytest.mark.parametrize(("option", "value", "advice"), [
    ("url", URL.encode(), "url must be a str, not bytes: decode it"),
    ("url", Path("page.html"), "the URL of a file is path.absolute().as_uri()"),
    ("url", urlsplit(URL), "pass url.geturl()"), ("url", 3, "url must be a str, not int"),
    ("url", object(), "url must be a str, not object"), ("url", OwnURL, "url must be a str, not type"),
    ("url", datetime.now(UTC), "url must be a str, not datetime.datetime"),
    ("media_type", b"text/html", "media_type must be a str, not bytes: decode it"),
    ("charset", 8, "charset must be a str, not int"), ("name", b"p.html", "os.fsdecode(name)"), ("name", 3, "name must be a str, not int"),
], ids=lambda value: value if isinstance(value, str) else type(value).__name__)
def test_an_option_value_of_a_wrong_type_is_rejected_with_an_alternative(option: str, value: object, advice: str) -> None:
    for call in CALLS.values():
        with pytest.raises(TypeError, match=re.escape(advice)):
            call(PAGE, **{option: value})


def test_the_cache_of_settings_knows_the_types_of_values() -> None:
    assert LIBRARY.rewrite(PAGE, json_ld=True) == PAGE
    with pytest.raises(TypeError, match="json_ld must be True or False, not 1"):
        LIBRARY.rewrite(PAGE, json_ld=1)


@pytest.mark.parametrize(("option", "value", "advice"), [
    ("json_ld", "no", "json_ld must be True or False, not 'no'"), ("json_ld", 1, "json_ld must be True or False, not 1"),
    ("json_ld", None, "json_ld must be True or False, not None"), ("max_depth", "3", "max_depth must be a whole number, not '3'"),
    ("max_size", 1e6, "max_size must be a whole number, not 1000000.0"), ("profile", 5, "profile must be a str, not int"),
    ("profile", ["whatwg"], "profile must be a str, not list"), ("profile", None, "profile must be a str, not None"),
    ("base", 5, "base must be a str, not int"),
    ("fragments", b"keep", "fragments must be a str, not bytes: decode it"),
])
def test_a_setting_of_a_wrong_type_is_rejected(option: str, value: Any, advice: str) -> None:
    calls: list[tuple[Any, object]] = [(absolve.links, PAGE), (absolve.links, Document(PAGE)), (trees.links, TREE)]
    for call, source in calls:
        with pytest.raises(TypeError, match=re.escape(advice)):
            call(source, **{option: value})


LIBRARY: Any = absolve  # for calls that no type checker accepts
TREE = lxml.html.fromstring(PAGE)
ONCE = "on_diagnostic must be a function that takes a Diagnostic, or None, not int"


@pytest.mark.parametrize(("call", "advice"), [
    (lambda path: LIBRARY.rewrite_file(path, on_diagnostic=5), ONCE), (lambda path: LIBRARY.walk_links(path, on_diagnostic=5), ONCE),
    *((lambda _, call=call: call(PAGE, on_diagnostic=5), ONCE) for name, call in CALLS.items() if name != "absolve.Document()"),
    (lambda path: LIBRARY.rewrite_file(path, verify=1), "verify must be True or False, not 1"),
    (lambda path: LIBRARY.rewrite_file(path, remap=5), "remap takes a mapping"),
    (lambda path: LIBRARY.rewrite_file(path, remap="//a"), "remap takes a mapping"),
    (lambda path: LIBRARY.rewrite_file(path, profile=5), "profile must be a str, not int"),
    (lambda _: LIBRARY.walk_links(5), "absolve.walk_links() takes paths, not int"),
    (lambda _: LIBRARY.walk_links(b"page"), "absolve.walk_links() takes paths, not bytes"),
    (lambda _: LIBRARY.mirror_plan(5), "absolve.mirror_plan() takes a list of documents"),
    (lambda _: LIBRARY.mirror_plan(PAGE), "absolve.mirror_plan() takes a list of documents"),
    (lambda _: LIBRARY.mirror_plan([], at=2020), "at must be a str, not int"),
    (lambda _: LIBRARY.mirror_plan([], same=5), "same must be a str, not int"),
    (lambda _: LIBRARY.mirror_plan([], keep_errors=1), "keep_errors must be True or False, not 1"),
    (lambda _: LIBRARY.verify(PAGE, None), "absolve.verify() takes bytes, str or an absolve.Document, not None"),
    (lambda _: LIBRARY.Document(Document(PAGE)), "not absolve.core.model.Document: it is one already"),
    (lambda _: LIBRARY.resolve(None, "x"), "base must be a str, not None"), (lambda _: LIBRARY.resolve(b"http://h/", "x"), "base must be a str, not bytes"),
    (lambda _: LIBRARY.resolve(URL, 3), "reference must be a str, not int"), (lambda _: LIBRARY.resolve(URL, None), "reference must be a str, not None"),
    (lambda _: LIBRARY.rewrite(PAGE, url=URL, policy="http://h/"), "policy must be a function that takes a link, or None, not str"),
    (lambda _: LIBRARY.rewrite(PAGE, base_url=URL), "no option 'base_url': it is url="),
    (lambda _: LIBRARY.links(PAGE, encoding="utf-8"), "it is charset="), (lambda _: LIBRARY.rewrite(PAGE, mimetype="text/css"), "it is media_type="),
    (lambda _: LIBRARY.rewrite(PAGE, URL), f"the URL of the document is url={URL!r}"),
    (lambda _: LIBRARY.base(PAGE, httpx.URL(URL)), "the URL of the document is url="), (lambda _: LIBRARY.links(PAGE, 3), "options have names"),
    (lambda _: LIBRARY.documents(PAGE, URL), "absolve.documents() takes one value"),
    (lambda _: LIBRARY.links(PAGE, kind="image"), "filter the rows, or call absolve.walk_links"),
    (lambda _: LIBRARY.verify(PAGE, PAGE, polcy=None), "absolve.verify() has no option 'polcy': did you mean 'policy'?"),
    (lambda _: LIBRARY.trees.links(TREE, nam="x"), "absolve.trees.links() has no option 'nam': did you mean 'name'?"),
    (lambda _: LIBRARY.rewrite(PAGE, prolife="x"), "absolve.rewrite() has no option 'prolife': did you mean 'profile'?"),
    (lambda _: LIBRARY.base(PAGE, urls="x"), "absolve.base() has no option 'urls': did you mean 'url'?"),
    (lambda _: LIBRARY.Document(PAGE, ulr="x"), "absolve.Document() has no option 'ulr': did you mean 'url'?"),
    *((lambda _, source=source, option=option: LIBRARY.links(source, **{option: "x"}), f"absolve.links() has no option '{option}'{advice}")
      for source in (PAGE, PAGE.decode(), Document(PAGE)) for option, advice in (
          ("prolife", ": did you mean 'profile'?"), ("media-type", ": did you mean 'media_type'?"), ("urls", ": did you mean 'url'?"),
          ("max_linksies", ": did you mean 'max_links'?"), ("colour", ": it has base, charset, fragments,"), ("claims", "")))
])
def test_what_newcomers_type_is_answered_with_what_is_meant(call: Any, advice: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    with pytest.raises(TypeError, match=re.escape(advice)):
        call(tmp_path / "page.html")


@pytest.mark.parametrize(("call", "kind", "advice"), [
    (lambda: LIBRARY.rewrite(PAGE, base=URL), absolve.UsageError, "the URL of the document is url="),
    (lambda: LIBRARY.rewrite(PAGE, base="kep"), absolve.UsageError, "base must be one of keep, empty, not 'kep'"),
    (lambda: LIBRARY.rewrite(PAGE, media_type="css"), absolve.DocumentError, "the media type is text/css"),
    (lambda: LIBRARY.walk_links("nofile"), FileNotFoundError, "nofile: not-found: no such file"),
    (lambda: LIBRARY.walk_links(["<a href=x>"]), absolve.MissingFileError, "the text of a document, and no path"),
    (lambda: LIBRARY.rewrite_file("nofile"), absolve.MissingFileError, "nofile: not-found"),
])
def test_a_value_without_a_meaning_is_an_error_that_names_what_is_meant(call: Any, kind: type[Exception], advice: str) -> None:
    with pytest.raises(kind, match=re.escape(advice)):
        call()


def test_a_glob_without_a_match_lists_no_link(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    assert list(absolve.walk_links(tmp_path / "*.xml")) == []
    assert len(list(absolve.walk_links(tmp_path / "*.html"))) == len(list(absolve.walk_links(tmp_path / "page.html")))


def test_integers_of_other_libraries_are_accepted() -> None:
    assert absolve.rewrite(PAGE, url=URL, max_size=np.int64(1000)) == DONE  # type: ignore[call-overload]


def test_a_url_object_whose_scheme_differs_from_its_text_raises_an_absolve_error() -> None:
    class Message(EmailMessage):
        scheme = "From"

    with pytest.raises(UsageError, match="retrieval URL"):
        absolve.rewrite(PAGE, url=Message())


# --- policies


@pytest.mark.parametrize(("returned", "advice"), [
    (3, "not int, as this one did for 'x' (a href)"), (b"new", "not bytes, as this one did for 'x' (a href)"),
    (False, "not bool, as this one did for 'x' (a href)"), (httpx.URL(URL), "for 'x' (a href): return str(url)"),
], ids=lambda value: value if isinstance(value, str) else type(value).__name__)
def test_a_policy_that_returns_no_text_raises_an_error_that_names_the_link(returned: Any, advice: str) -> None:
    for call in (
        lambda: absolve.rewrite(PAGE, url=URL, policy=lambda _: returned),
        lambda: absolve.verify(PAGE, DONE, url=URL, policy=lambda _: returned),
        lambda: trees.make_links_absolute(lxml.html.fromstring(PAGE), URL, policy=lambda _: returned),
    ):
        with pytest.raises(TypeError, match=re.escape(advice)):
            call()


def test_the_error_of_a_policy_contains_no_credentials() -> None:
    with pytest.raises(TypeError, match=r"for 'http://\*\*\*@h/\\u202e' \(a href\)"):
        absolve.rewrite("<a href='http://user:word@h/\u202e'>", policy=lambda _: 3)  # type: ignore[arg-type, return-value]
