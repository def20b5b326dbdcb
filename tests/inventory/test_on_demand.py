"""The columns of links that are there only where they are asked for (`columns.MORE`)."""

import base64
import pickle
from typing import Any, Final

import pytest
from selectolax.lexbor import LexborHTMLParser

from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory import link_rows, selectors
from absolve.inventory.columns import COLUMNS, MORE, Columns
from absolve.run.links_task import every_column

URL: Final = "http://h.example/d/p.html"


def cells(data: str | bytes, *names: str, url: str | None = URL, **known: Any) -> list[list[Any]]:
    columns = Columns(columns=names)
    for _ in link_rows.fill(columns, walk(Document(data, url=url, **known), Settings())):
        raise AssertionError("there is room")
    return list(columns)


def test_nothing_is_kept_for_columns_that_are_not_asked_for() -> None:
    columns = Columns()
    assert (columns.wanted, columns.more) == ((), {})
    assert every_column("links") == (*COLUMNS, *MORE)


PAGES: Final = {
    "implied elements": "<title>t</title><link href=r1 rel=x><p><a href=r2>x</a><p><a href=r3>x</a><img src=r4>",
    "tables": "<table><tr><td><a href=r1>x</a><td><a href=r2>y</a></table><table><a href=r3>z</a></table>",
    "an anchor in an anchor": "<form action=r0><a href=r1>g<p>x<a href=r2>h</a>",
    "identifiers": "<div id=a><a href=r1>x</a></div><i id=b></i><i id=B></i><p id='1 x'><a id=b:c href=r2>y</a>",
    "SVG": "<svg><a xlink:href=r1></a><linearGradient xlink:href=r2 /></svg><math><mi href=r3>x</mi></math>",
    "odd names": "<v:imagedata src=r1></v:imagedata><a.b href=x></a.b><form action=r2></form>",
    "an attribute with the mark's name": "<a href=r1 data-absolve-tag=7>x</a>",
    "equal formatting elements": "<p><b style='a:url(x)'>" * 9 + "<p><a href=r1>x</a>",
    "frames": "<frameset><frame src=r1><frame src=r2></frameset>",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_another_parser_finds_the_element_by_its_path(page: str) -> None:
    """lexbor, which browsers resemble, and which shares no code with html5lib."""
    tree = LexborHTMLParser(page)
    found = [row for row in cells(page, "reference", "attribute", "path", media_type="text/html") if row[1] != "url"]
    assert len(found) == page.count("=r")
    for reference, attribute, path in found:
        node = tree.css_first(path)
        assert node is not None, path
        assert node.attributes[attribute] == reference


def test_the_path_of_a_link_in_css_is_that_of_its_element() -> None:
    page = "<p><i style='background:url(a)' title='<b style=x>'>x</i><style>@import 'b';</style><b style='color:url(c)'>"
    assert cells(page, "reference", "path", media_type="text/html") == [
        ["a", "html > body > p:nth-child(1) > i:nth-child(1)"],
        ["b", "html > body > p:nth-child(1) > style:nth-child(2)"],
        ["c", "html > body > p:nth-child(1) > b:nth-child(3)"],
    ]
    assert cells("a{background:url(a)}", "path", media_type="text/css") == [[None]]


def test_what_a_query_does_not_find_has_no_path() -> None:
    page = "<template><a href=a>x</a></template><noscript><img src=b></noscript>"
    assert cells(page, "path", media_type="text/html") == [[None], [None]]


def test_a_tree_that_takes_too_long_has_no_paths() -> None:
    for page in ("<div>" * 10_000 + "<a href=x>", "".join(f"<p><font style='a:url({number})'>" for number in range(300))):
        assert {path for (path,) in cells(page, "path", media_type="text/html")} == {None}
    deep = "<x>" * 3000 + "<a href='y'/>" + "</x>" * 3000
    assert selectors.of_xml(deep.encode(), None, [9000]) == {}  # type: ignore[arg-type]  # it is not read


def test_the_path_in_xml_counts_elements_of_every_namespace() -> None:
    feed = '<f:feed xmlns:f="http://www.w3.org/2005/Atom"><f:link href="a" hreflang="de"/><link/><f:link href="b"/></f:feed>'
    assert cells(feed, "reference", "path", "hreflang", media_type="application/xml") == [
        ["a", "feed > link:nth-child(1)", "de"],
        ["b", "feed > link:nth-child(3)", None],
    ]


def test_language_and_medium_are_those_of_the_element_or_of_the_field_link() -> None:
    page = "<link rel=alternate HREFLANG=' de&#45;at ' href=a><link rel=stylesheet media=print href=b><a href=c>x</a>"
    found = cells(page, "hreflang", "media", media_type="text/html")
    assert found == [["de-at", None], [None, "print"], [None, None]]
    header = 'HTTP/1.1 200 OK\r\nLink: </a>; title="a, b; hreflang=x"; hreflang="fr", </b>; media=print, <c>\r\n\r\n'
    found = cells(header, "reference", "hreflang", "media", media_type="message/http")
    assert found == [["/a", "fr", None], ["/b", None, "print"], ["c", None, None]]


def test_the_place_in_the_file_is_that_of_the_bytes_of_the_reference() -> None:
    part = "Content-Type: text/html\r\nContent-Transfer-Encoding: {}\r\n\r\n{}\r\n--b"
    encoded = base64.b64encode(b"<a href=in-base64>").decode()
    parts = (part.format("quoted-printable", '<a =\r\nhref=3D"one=\r\n">x</a>'), part.format("base64", encoded))
    head = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
    mail = (head + "\r\n".join(parts) + "--\r\n").encode()
    (first, end), base_64 = cells(mail, "file_start", "file_end", url=None, media_type="message/rfc822")
    assert mail[first:end] == b"one"
    assert base_64 == [None, None]
    page = "<p title='&auml;'><a href=x&amp;y style='background:url(z)'>".encode("utf-16")
    spans = cells(page, "file_start", "file_end", media_type="text/html")
    assert [page[start:end].decode("utf-16-le") for start, end in spans] == ["x&amp;y", "z"]


def test_the_url_is_that_of_the_document_without_a_fragment() -> None:
    page = "<base href=http://b.example/><a href=x>"
    assert cells(page, "url", url=f"{URL}#top", media_type="text/html") == [[URL], [URL]]
    assert cells(page, "url", url=None, media_type="text/html") == [[None], [None]]


def test_pickled_and_joined_columns_have_the_values_on_demand() -> None:
    columns = Columns(columns=("media", "target", "url"))
    for _ in link_rows.fill(columns, walk(Document("<link href=x media=print>", url=URL, media_type="text/html"), Settings())):
        raise AssertionError("there is room")
    copy = pickle.loads(pickle.dumps(columns))  # noqa: S301 - our own
    copy.extend(columns)
    assert list(copy) == list(columns) * 2 == [["print", "http://h.example/d/x", URL]] * 2
    assert copy.taken().cells("url") == [URL, URL]


def test_the_host_of_a_target_is_that_of_the_scope() -> None:
    page = "<a href=a><a href=//u:p@O.example:80/><a href=https://o.example:8443/x><a href=mailto:a@b><a href='http://[/'>"
    hosts = ["h.example", "o.example", "o.example:8443", None, None]
    assert cells(page, "host", media_type="text/html") == [[host] for host in hosts]
