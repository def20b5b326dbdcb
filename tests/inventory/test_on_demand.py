"""The columns of links that are there only where they are asked for (`columns.MORE`)."""

import base64
import pickle
from typing import Any, Final

from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory import link_rows
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


def test_the_language_is_that_of_the_element_or_of_the_field_link() -> None:
    page = "<link rel=alternate HREFLANG=' de&#45;at ' href=a><a href=c>x</a>"
    assert cells(page, "hreflang", media_type="text/html") == [["de-at"], [None]]
    header = 'HTTP/1.1 200 OK\r\nLink: </a>; title="a, b; hreflang=x"; hreflang="fr", </b>; media=print, <c>\r\n\r\n'
    found = cells(header, "reference", "hreflang", media_type="message/http")
    assert found == [["/a", "fr"], ["/b", None], ["c", None]]


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
    columns = Columns(columns=("hreflang", "target", "url"))
    for _ in link_rows.fill(columns, walk(Document("<link href=x hreflang=de>", url=URL, media_type="text/html"), Settings())):
        raise AssertionError("there is room")
    copy = pickle.loads(pickle.dumps(columns))  # noqa: S301 - our own
    copy.extend(columns)
    assert list(copy) == list(columns) * 2 == [["de", "http://h.example/d/x", URL]] * 2
    assert copy.taken().cells("url") == [URL, URL]


def test_the_host_of_a_target_is_that_of_the_scope() -> None:
    page = "<a href=a><a href=//u:p@O.example:80/><a href=https://o.example:8443/x><a href=mailto:a@b><a href='http://[/'>"
    hosts = ["h.example", "o.example", "o.example:8443", None, None]
    assert cells(page, "host", media_type="text/html") == [[host] for host in hosts]
