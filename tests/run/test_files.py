"""The functions that work on files, filters of links, responses of other libraries as documents, and tables for pandas."""

import os
import shutil
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import lxml.html
import pytest
import requests

import absolve
from absolve import Diagnostic, DocumentError, UsageError
from absolve.run.filters import Selection, only
from tests.shapes.trap_server import moved, serving
from tests.shapes.trap_server import response as sent

ROOT = Path(__file__).parents[2]
PAGE = b"<a href=x><img src=y><a href=http://other.example/>"
URL = "http://h/d/"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with two pages, a page in a folder, an archive and a picture."""
    folder = tmp_path / "site"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.html").write_bytes(PAGE)
    (folder / "b.html").write_bytes(b"<a href=http://h/d/>")
    (folder / "sub" / "c.html").write_bytes(b"<a href=../a.html>")
    (folder / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    shutil.copy(ROOT / "fixtures" / "journal.warc", folder)
    return folder


# --- rewrite_file -----------------------------------------------------------------------------------------------------


def test_a_file_is_rewritten_in_place_with_a_backup(site: Path) -> None:
    assert absolve.rewrite_file(site / "a.html", url=URL, backup=".orig", verify=True)
    assert (site / "a.html").read_bytes() == absolve.rewrite(PAGE, url=URL)
    assert (site / "a.html.orig").read_bytes() == PAGE
    assert not absolve.rewrite_file(str(site / "a.html"), url=URL)


ERRORS = [KeyError("mine"), OSError("mine"), TypeError("mine"), UsageError("mine"), DocumentError(Diagnostic("mine", "x"))]


@pytest.mark.parametrize("source", ["a.html", "journal.warc"])
@pytest.mark.parametrize("verify", [False, True])
def test_an_error_of_a_policy_reaches_the_caller(site: Path, source: str, *, verify: bool) -> None:
    before = (site / source).read_bytes()
    for error in ERRORS:

        def policy(_: absolve.Resolved, error: Exception = error) -> str:
            raise error

        with pytest.raises(type(error)) as caught:
            absolve.rewrite_file(site / source, policy=policy, verify=verify)
        assert caught.value is error
        assert (site / source).read_bytes() == before
        assert not [*site.glob(".absolve*")]


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "longer": lambda path, _: path.write_bytes(path.read_bytes() + b"new"),
    "replaced": lambda path, other: (other.write_bytes(path.read_bytes()), other.replace(path)),
    "a link": lambda path, other: path.symlink_to(path.rename(other)),
    "touched": lambda path, _: os.utime(path, ns=(0, 0)),
    "gone": lambda path, _: path.unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("source", "backup"), [("a.html", None), ("a.html", ".orig"), ("large.html", ".orig"), ("journal.warc", None)])
def test_a_file_that_changed_while_it_was_rewritten_stays(site: Path, source: str, change: str, backup: str | None) -> None:
    path = site / source
    if source == "large.html":
        path.write_bytes(PAGE * 20_000)
    changed: list[bytes | None] = []

    def policy(_: absolve.Resolved) -> str:
        if not changed:
            CHANGES[change](path, site / "other")
            changed.append(path.read_bytes() if path.exists() else None)
        return "http://new.example/"

    with pytest.raises(DocumentError, match=r"unwritable: .*(changed while|[Nn]o such file|not a regular file)"):
        absolve.rewrite_file(path, policy=policy, backup=backup, url=None if source == "journal.warc" else URL)
    assert [path.read_bytes() if path.exists() else None] == changed
    assert not [*site.glob(".absolve*"), *site.glob("*.orig")]


def test_a_file_is_rewritten_to_another_one(site: Path, tmp_path: Path) -> None:
    assert absolve.rewrite_file(site / "a.html", tmp_path / "new.html", url=URL)
    assert (tmp_path / "new.html").read_bytes() == absolve.rewrite(PAGE, url=URL)
    assert (site / "a.html").read_bytes() == PAGE
    assert not absolve.rewrite_file(site / "b.html", tmp_path / "same.html", url=URL)
    assert (tmp_path / "same.html").read_bytes() == (site / "b.html").read_bytes()


LINKS = b"<a href=%b><img src=%b><a href=%b>"
OTHER = b"http://other.example/"
SELECTED: list[tuple[dict[str, Any], tuple[bytes, bytes, bytes]]] = [
    ({"kind": "image"}, (b"x", b"http://h/d/y", OTHER)),
    ({"scope": ["internal"], "problem": ()}, (b"http://h/d/x", b"http://h/d/y", OTHER)),
    ({"remap": {"//other.example": "https://o/"}}, (b"http://h/d/x", b"http://h/d/y", b"https://o/")),
    ({"remap": [("http://h/d/x", "http://n/", "exact")]}, (b"http://n/", b"http://h/d/y", OTHER)),
    ({"remap": {"//h": "//n"}, "kind": {"image"}}, (b"x", b"http://n/d/y", OTHER)),
    ({"policy": lambda link: "new" if link.kind == "image" else None}, (b"x", b"new", OTHER)),
    ({"headers": {"Content-Base": "http://b/"}}, (b"http://b/x", b"http://b/y", OTHER)),
]


def test_options_select_and_map_the_links(site: Path) -> None:
    for options, expected in SELECTED:
        (site / "a.html").write_bytes(PAGE)
        assert absolve.rewrite_file(site / "a.html", url=URL, **options)
        assert (site / "a.html").read_bytes() == LINKS % expected


def test_a_file_that_cannot_be_rewritten_is_an_error_and_stays(site: Path) -> None:
    (site / "broken.xml").write_bytes(b"<a href='x'>")
    for path, code in (("missing.html", "not-found"), ("sub", "directory"), ("broken.xml", "not-well-formed")):
        with pytest.raises(DocumentError) as error:
            absolve.rewrite_file(site / path, url=URL)
        assert error.value.diagnostic.code == code
    assert (site / "broken.xml").read_bytes() == b"<a href='x'>"
    assert not list(site.rglob("*.tmp"))


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"output": "a.html"}, UsageError, "is also an input"), ({"output": "sub"}, UsageError, "must be a file, not the folder"),
    ({"output": "n.html", "backup": ".orig"}, UsageError, "backup needs a file in place"),
    ({"backup": "../x"}, UsageError, "backup must be a suffix"), ({"url": "page.html"}, UsageError, "must be an absolute URL"),
    ({"kind": "imag"}, UsageError, "unknown kind 'imag'"), ({"kind": 3}, TypeError, "kind takes a word, or several, not 3"),
    ({"output": "none/x.html"}, UsageError, "of output does not exist"), ({"backup": "a\0"}, UsageError, "backup must be a suffix"),
    ({"backup": True}, TypeError, "backup must be a str"), ({"headers": 5}, TypeError, "headers takes a mapping"),
    ({"policy": lambda _: 5}, TypeError, "a policy returns a str or None, not"),
    ({"policy": lambda _: 1 / 0}, ZeroDivisionError, "division"), ({"remap": "http://h/=x"}, TypeError, "remap takes a mapping"),
    ({"remap": [("a",)]}, TypeError, "remap takes a mapping"), ({"remap": {1: "2"}}, TypeError, "remap takes a mapping"),
    ({"base": "empty", "kind": "image"}, UsageError, "excludes kind, scope and problem"),
    ({"remap": {"x": "y"}}, UsageError, "is not an absolute URL"),
    ({"remap": {}, "policy": lambda _: None}, UsageError, "remap and policy exclude each other"),
    ({"charset": "klingon"}, UsageError, "klingon"), ({"profle": "whatwg"}, TypeError, "did you mean 'profile'"),
]


def test_a_wrong_argument_is_an_error_before_anything_is_written(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    before = sorted(site.rglob("*"))
    for arguments, error, text in WRONG:
        with pytest.raises(error, match=text):
            absolve.rewrite_file("a.html", **arguments)
        assert sorted(site.rglob("*")) == before
        assert Path("a.html").read_bytes() == PAGE


def test_a_file_named_dash_is_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(PAGE)
    assert absolve.rewrite_file("-", url=URL)
    assert Path("-").read_bytes() == absolve.rewrite(PAGE, url=URL)
    assert len(list(absolve.walk_links("-"))) == 3


# --- walk_links -------------------------------------------------------------------------------------------------------


WALKED: list[tuple[dict[str, Any], list[str]]] = [
    ({"include": "*.html"}, ["x", "y", "http://other.example/", "http://h/d/", "../a.html"]),
    ({"include": ["*.html"], "exclude": "sub/"}, ["x", "y", "http://other.example/", "http://h/d/"]),
    ({"include": "*.html", "kind": "image"}, ["y"]),
    ({"include": "*.html", "kind": {"image", "navigation"}, "scope": "external"}, ["http://other.example/"]),
    ({"include": "*.html", "problem": "unresolved"}, []),
]


def test_options_select_files_and_links(site: Path) -> None:
    for options, expected in WALKED:
        assert [row.reference for row in absolve.walk_links([site], url=URL, **options)] == expected


def test_files_have_urls_of_their_own(site: Path) -> None:
    found = absolve.walk_links([site / "sub" / "c.html", site / "a.html"], url_map={site / "a.html": "http://m/"}, url=URL)
    assert [row.target for row in found] == ["http://h/a.html", "http://m/x", "http://m/y", "http://other.example/"]
    (row,) = absolve.walk_links(site / "sub" / "c.html", url="file:")
    assert row.target == (site / "a.html").as_uri()


def test_headers_are_those_of_a_single_file(site: Path) -> None:
    rows = list(absolve.walk_links(site / "sub" / "c.html", url=URL, headers={"Link": "<s.css>; rel=stylesheet"}))
    assert [(row.entity, row.target) for row in rows] == [("header", "http://h/d/s.css"), ("", "http://h/a.html")]
    with pytest.raises(UsageError, match="headers are those of one file"):
        absolve.walk_links(site, headers={})


def test_an_input_that_fails_is_reported_and_the_next_one_follows(site: Path) -> None:
    reported: list[Diagnostic] = []
    (site / "broken.xml").write_bytes(b"<a href='x'>")
    paths = [site / "broken.xml", site / "b.html"]
    assert [row.reference for row in absolve.walk_links(paths, on_diagnostic=reported.append)] == ["http://h/d/"]
    assert [(one.code, one.failed) for one in reported] == [("not-well-formed", True)]
    with pytest.raises(FileNotFoundError, match=r"missing\.html"):
        list(absolve.walk_links([*paths, site / "missing.html"]))


@pytest.mark.parametrize(("options", "error"), [
    ({"kinds": "image"}, TypeError), ({"kind": "imag"}, UsageError), ({"max_links": "many"}, TypeError), ({"url": "http://h/?q"}, UsageError),
    ({"url_map": {"a.html": "page"}}, UsageError), ({"url_map": [("a.html", "http://h/")]}, TypeError),
], ids=str)  # fmt: skip
def test_a_wrong_option_is_an_error_at_once(site: Path, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        absolve.walk_links(site, **options)
    with pytest.raises(TypeError, match="takes paths, not bytes"):
        absolve.walk_links([b"<a href=x>"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="need a folder"):
        absolve.walk_links(site / "a.html", include="*.html")


# --- policies ---------------------------------------------------------------------------------------------------------


def test_policies_compose() -> None:
    policy = absolve.only(absolve.remap({"//h": "https://n"}), kind=["navigation"])
    assert absolve.rewrite(PAGE, url=URL, policy=policy) == b"<a href=https://n/d/x><img src=y><a href=http://other.example/>"
    assert absolve.rewrite(PAGE, url=URL, policy=absolve.only(scope="external")) is PAGE
    with pytest.raises(UsageError, match="unknown problem 'unresolvd'"):
        absolve.only(problem="unresolvd")  # type: ignore[arg-type]


# --- filters of links by the values of their rows ---------------------------------------------------------------------

URL_FILTERS = "https://h/d/p"


def of(words: str) -> frozenset[str]:
    return frozenset(words.split())


def test_links_that_are_not_selected_keep_their_base() -> None:
    page = b"<base href=/e/><a href=x><img src=y>"
    policy = only(Selection(kinds=of("image")), lambda resolved: f"http://new/{resolved.reference}")
    assert absolve.rewrite(page, url=URL_FILTERS, policy=policy) == b"<base href=/e/><a href=x><img src=http://new/y>"


def test_filters_keep_no_state_between_documents() -> None:
    policy = only(Selection(scopes=of("internal")), lambda _: "new")
    page = b"<a href=http://h/x>"
    assert absolve.rewrite(page, url="http://g/", policy=policy) == page
    assert absolve.rewrite(page, url="http://h/", policy=policy) == b"<a href=new>"
    assert absolve.rewrite(page, url="http://g/", policy=policy) == page


# --- responses of httpx, requests, Scrapy and urllib as documents; tables ---------------------------------------------

PAGE_RESPONSES = "<title>п</title><a href=п>".encode("koi8-r")
FIELDS = {"Content-Type": "text/html; charset=koi8-r", "Link": "<s.css>; rel=preload"}


def by_httpx(url: str) -> Any:
    with httpx.Client(trust_env=False) as client:
        return client.get(f"{url}/old", follow_redirects=True)


def by_requests(url: str) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        return session.get(f"{url}/old", timeout=10)


def by_scrapy(url: str) -> Any:
    """Return a response as its downloader makes it; a crawl needs a process of its own."""
    from scrapy.http import HtmlResponse  # here: each worker imports all modules of tests

    return HtmlResponse(f"{url}/new/", body=PAGE_RESPONSES, headers={name: [value] for name, value in FIELDS.items()})


def by_urllib(url: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(f"{url}/old", timeout=10)


@pytest.mark.parametrize("get", [by_httpx, by_requests, by_scrapy, by_urllib])
def test_a_response_is_a_document_with_its_url_charset_and_header(get: Any) -> None:
    answers = {"/old": moved("/new/"), "/new/": sent(PAGE_RESPONSES, *(f"{name}: {value}" for name, value in FIELDS.items()))}
    with serving(answers) as server:
        url = server.url
        response = get(url)
        document = absolve.document_of(response)
        if get is by_urllib:
            response.close()
    rows = [(row.document, row.entity, row.reference, row.target) for row in absolve.links(document)]
    assert rows == [(f"{url}/new/", "header", "s.css", f"{url}/new/s.css"), (f"{url}/new/", "", "п", f"{url}/new/п")]
    assert absolve.rewrite(document) == f"<title>п</title><a href={url}/new/п>".encode("koi8-r")


def test_a_response_of_scrapy_gives_items() -> None:
    from itemadapter import ItemAdapter

    items = list(absolve.items(by_scrapy("http://h"), profile="whatwg"))
    assert [ItemAdapter(item)["target"] for item in items] == ["http://h/new/s.css", "http://h/new/%D0%BF"]
    assert all(type(item) is dict and type(item["base_layer"]) is str for item in items)
    assert ItemAdapter(items[1]).asdict() == items[1]


@pytest.mark.parametrize("wrong", [b"<a href=x>", "http://h/", None, absolve.Document(b"")], ids=lambda value: type(value).__name__)
def test_something_else_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="takes a response of httpx, requests, Scrapy or urllib"):
        absolve.document_of(wrong)


@pytest.mark.parametrize("wrong", [
    httpx.Request("GET", "http://h/"), requests.Request("GET", "http://h/"), requests.Request("POST", "http://h/", data=b"x").prepare(),
    urllib.request.Request("http://h/"),
], ids=lambda value: f"{type(value).__module__}.{type(value).__name__}")
def test_a_request_is_a_type_error_that_asks_for_the_response(wrong: Any) -> None:
    with pytest.raises(TypeError, match="Request: pass its response"):
        absolve.document_of(wrong)


def test_base_source_names_the_argument_that_the_caller_wrote(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    page.write_text("<a href=y>")
    for rows in (
        absolve.links("<a href=y>", url="http://h/"), absolve.links(absolve.Document(b"<a href=y>", url="http://h/")),
        absolve.walk_links(page, url="http://h/"), absolve.walk_links(tmp_path, url="http://h/"),
        absolve.trees.links(lxml.html.fromstring("<a href=y>"), "http://h/"),
    ):
        assert [row.base_source for row in rows] == ["url="]
    assert [row.base_source for row in absolve.walk_links(page, url_map={page: "http://h/"})] == ["url_map="]

