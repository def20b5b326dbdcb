"""HTTP Archives: unchanged archives, responses with the URLs of their requests, and unreadable archives."""

import base64
import gzip
import json
import string
import zlib
from collections.abc import Callable
from itertools import permutations
from typing import Any

import brotli
import pytest
import zstandard

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats.headers import MOST_FIELDS
from tests.shapes.captures import har

URL = "http://h.example/d/page.html"
PAGE = '<a href="x">"x"</a>\n'
ABSOLUTE = '<a href="http://h.example/d/x">"x"</a>\n'


def entry(
    text: str | None = PAGE, *, url: str | None = URL, media_type: str | None = "text/html", headers: Any = (), **response: Any
) -> dict[str, Any]:
    content = {"size": len((text or "").encode()), "mimeType": media_type}
    content |= {} if text is None else {"text": text}
    content |= response.pop("content", {})
    listed = [{"name": name, "value": value} for name, value in headers]
    request = {"method": "GET", "url": url, "headers": [{"name": "Referer", "value": "x"}]}
    return {"request": request, "response": {"status": 200, "headers": listed, "content": content, **response}}


def rewritten(data: bytes, **options: Any) -> bytes:
    return absolve.rewrite(data, name="x.har", **options)


def read(data: bytes, index: int = 0) -> Any:
    return json.loads(data)["log"]["entries"][index]["response"]


def reported(data: bytes, **options: Any) -> list[tuple[str, bool]]:
    entity = walk(Document(data, name="x.har"), Settings(**options))
    return [(found.code, found.failed) for found in entity.diagnostics]


STAYS = {
    "no entries": har(), "no object": har(1, "x", None, [entry()]), "no response": har({"request": {"url": URL}}),
    "no text": har(entry(None)), "nothing in it": har(entry("")), "a text that is no string": har(entry(content={"text": 5})),
    "an image": har(entry(media_type="image/png")),
    "a script": har(entry("location = '<a href=x>'", media_type="text/javascript")),
    "text without a media type": har(entry("see <a href=x>", media_type="")),
    "absolute links": har(entry('<a href="http://a.example/">')),
    "fields that are no links": har(entry(None, headers=[("Server", "x"), ("Set-Cookie", "a=/x")])),
    "a field without a value": har({"request": {"url": URL}, "response": {"headers": [{"name": "Location"}]}}),
    "a field with a comment and no value": har(
        {"request": {"url": URL}, "response": {"headers": [{"name": "Location", "comment": "x"}, {"value": "x", "comment": ""}]}}
    ),
    "a field without a valid value": har(entry(None, headers=[("Location", ["x"]), ("Location", 1), ("Location", {"value": "x"})])),
    "what is no list of fields": har(
        {"request": {"url": URL}, "response": {"headers": {"a": {"name": "Location", "value": "x"}}}},
        {"request": {"url": URL}, "response": {"headers": ["Location", ["name", "value"], {}]}},
    ),
    "no redirect": har(entry(None, redirectURL="")), "a byte order mark": b"\xef\xbb\xbf" + har(entry("<p>")),
    "no URL": har(entry(url=None)),
    "bytes with nothing to change": har(entry(base64.b64encode(b"<p>").decode(), content={"encoding": "base64"})),
}


def test_unchanged_data_is_returned_as_the_same_object() -> None:
    for name, data in STAYS.items():
        assert rewritten(data) is data, name
        assert {code for code, _ in reported(data)} <= {"broken-entry", "partial"}, name  # below


def test_only_the_link_changes_in_a_body_that_is_text_and_an_archive_is_detected_by_its_content() -> None:
    page = "<p>é \U0001f600 \\ \t" + PAGE
    layouts: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}]
    for options in layouts:
        data = har(entry(page, content={"size": 1}), **options)
        changed = rewritten(data)
        assert changed == data.replace(b'\\"x\\">', b'\\"http://h.example/d/x\\">', 1) == absolve.rewrite(data)
        assert read(changed)["content"]["text"] == page.replace('"x"', '"http://h.example/d/x"', 1)
    assert list(absolve.links(b"\xef\xbb\xbf" + har(entry())))
    page = '<a href="../\u00e9\U0001f600/\u00e9?">'  # unchanged escapes stay
    data = har(entry(page, content={"size": 1})).replace(b"/\\u00e9?", b"\\/\\u00E9?")
    assert rewritten(data) == data.replace(b'"../', b'"http://h.example/') != data


def test_the_content_size_is_recomputed_if_it_was_right() -> None:
    assert read(rewritten(har(entry())))["content"]["size"] == len(ABSOLUTE)
    assert read(rewritten(har(entry(content={"size": 7}))))["content"]["size"] == 7
    assert read(rewritten(har(entry(bodySize=20))))["bodySize"] == 20  # the size transferred over the network


def test_bytes_in_base64_stay_in_one_line_and_text_that_is_labelled_base64_is_text() -> None:
    labelled = har(entry(content={"encoding": "base64"}))
    assert (read(rewritten(labelled))["content"]["text"], reported(labelled)) == (ABSOLUTE, [])
    page = '<meta charset=koi8-r><a href="привет">Я</a>'.encode("koi8-r")
    data = har(entry(base64.b64encode(page).decode(), content={"encoding": "base64", "size": len(page)}))
    content = read(rewritten(data))["content"]
    new = page.replace(b'"', b'"http://h.example/d/', 1)
    assert content["text"] == base64.b64encode(new).decode()
    assert content["size"] == len(new)


COMPRESSED = {
    "gzip": (gzip.compress, gzip.decompress), "deflate": (zlib.compress, zlib.decompress), "br": (brotli.compress, brotli.decompress),
    "zstd": (zstandard.compress, zstandard.decompress),
}
STORED: dict[str, tuple[Callable[[bytes], str], Callable[[str], bytes], dict[str, str]]] = {
    "base64": (lambda raw: base64.b64encode(raw).decode(), base64.b64decode, {"encoding": "base64"}),
    "latin-1": (lambda raw: raw.decode("latin-1"), lambda text: text.encode("latin-1"), {}),
    "windows-1252": (
        lambda raw: "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in raw),
        lambda text: b"".join(one.encode("latin-1" if one < "\xa0" else "cp1252") for one in text),
        {},
    ),
}


@pytest.mark.parametrize("how", STORED)
@pytest.mark.parametrize("name", COMPRESSED)
def test_a_body_that_is_still_compressed_is_read_and_compressed_again(name: str, how: str) -> None:
    (encode, decode), (store, load, fields) = COMPRESSED[name], STORED[how]
    page = f"<p title='{string.printable[:62] * 3}é日'>{PAGE}"
    raw = encode(page.encode())
    for size in (len(raw), len(page.encode()), 7):
        one = entry(store(raw), headers=[("Content-Encoding", name)], content={"size": size, **fields})
        data = har(one)
        new = rewritten(data)
        content = read(new)["content"]
        value = decode(load(content["text"]))
        assert value.decode() == page.replace(PAGE, ABSOLUTE)
        assert content["size"] == {len(raw): len(load(content["text"])), len(page.encode()): len(value)}.get(size, 7)
        assert absolve.verify(data, new, name="x.har") == []
        assert rewritten(new) is new


def test_gzip_is_known_by_its_first_bytes_and_a_decoded_body_is_none() -> None:
    packed = base64.b64encode(gzip.compress(PAGE.encode())).decode()
    for content in ({"encoding": "base64"}, {}):
        (row,) = absolve.links(har(entry(packed, content=content)), name="x.har")
        assert row.target == "http://h.example/d/x"
    for name in ("gzip", "br", "deflate", "zstd", "utf-8", "br, gzip"):
        data = har(entry(headers=[("Content-Encoding", name)]))
        assert (read(rewritten(data))["content"]["text"], reported(data)) == (ABSOLUTE, [])


def test_compressed_bytes_that_were_lost_in_text_are_reported() -> None:
    text = gzip.compress(PAGE.encode()).decode("utf-8", "replace")
    data = har(entry(text, headers=[("Content-Encoding", "gzip")]))
    assert (rewritten(data), reported(data)) == (data, [("broken", True)])


@pytest.mark.parametrize("media_type", ["text/plain", "Text/Plain; charset=utf-8", "x-unknown", "", None])
def test_a_header_counts_where_the_archive_names_no_type_of_its_own(media_type: str | None) -> None:
    for headers, text in (
        ([("Content-Type", "text/html; charset=utf-8")], ABSOLUTE), ([("content-type", "text/css")], PAGE),
        ([("Content-Type", "text/plain")], PAGE),
    ):
        data = har(entry(f"x{PAGE}", media_type=media_type, headers=headers))
        assert read(rewritten(data))["content"]["text"] == f"x{text}"
    data = har(entry(f"x{PAGE}", media_type=media_type, headers=[("Content-Type", "text/html")]))
    assert [row.media_type for row in absolve.documents(data, name="x.har")] == ["text/html"]


def test_a_type_that_the_archive_names_precedes_that_of_the_header() -> None:
    for media_type, stated, text in (("image/png", "text/html", PAGE), ("text/html", "text/plain", ABSOLUTE)):
        assert read(rewritten(har(entry(media_type=media_type, headers=[("Content-Type", stated)]))))["content"]["text"] == text


def test_the_charset_declared_in_a_text_body_is_ignored() -> None:
    data = har(entry('<meta charset=koi8-r><a href="я">Я</a>'))
    assert read(rewritten(data))["content"]["text"] == '<meta charset=koi8-r><a href="http://h.example/d/я">Я</a>'
    feed = '<?xml version="1.0" encoding="koi8-r"?><feed xmlns="http://www.w3.org/2005/Atom"><link href="я"/></feed>'
    changed = rewritten(har(entry(feed, media_type="application/atom+xml; charset=koi8-r")))
    assert read(changed)["content"]["text"] == feed.replace('"я"', '"http://h.example/d/я"')


@pytest.mark.parametrize(("name", "value", "new"), [
    ("Content-Location", "=?utf-8?Q?b=2Fc?=", "=?utf-8?Q?http=3A//h=2Eexample/d/?= =?utf-8?Q?b=2Fc?="), ("SourceMap", "<d e>", "<http://h.example/d/d e>"),
    ("Location", "../x y", "http://h.example/x%20y"), ("location", " x ", " http://h.example/d/x "),
    ("Content-Location", "x", "http://h.example/d/x"),
    ("Link", '<x>; rel="next", </y>; rel=prev', '<http://h.example/d/x>; rel="next", <http://h.example/y>; rel=prev'),
    ("Refresh", "0; url=x", "0; url=http://h.example/d/x"),
    ("Base", "<URL:x/>", "<URL:http://h.example/d/x/>"),
])
def test_links_in_response_headers_are_found(name: str, value: str, new: str) -> None:
    changed = rewritten(har(entry(None, headers=[("A", "b"), (name, value), ("Server", "x")])))
    assert [field["value"] for field in read(changed)["headers"]] == ["b", new, "x"]


def test_the_number_of_header_fields_with_links_is_limited() -> None:
    def archive(count: int) -> bytes:
        return har(entry(headers=[("Link", "<x>"), ("A", "b")] * count), entry())

    assert reported(archive(MOST_FIELDS)) == []
    data = archive(MOST_FIELDS + 1)
    assert reported(data) == [("too-many-fields", True)]
    assert [row.reference for row in absolve.links(data, name="x.har")] == ["x"]


def test_a_header_base_applies_to_header_and_body() -> None:
    data = har(entry(headers=[("Location", "l"), ("Base", "<URL:http://b.example/>")], redirectURL="/r"))
    changed = read(rewritten(data))
    assert changed["headers"][0]["value"] == "http://b.example/l"
    assert changed["redirectURL"] == "http://b.example/r"
    assert "http://b.example/x" in changed["content"]["text"]
    rows = list(absolve.links(data, name="x.har"))
    assert [(row.entity, row.element, row.base_layer) for row in rows] == [
        ("entry[1]", "header", "embedded"), ("entry[1]", "header", "retrieval"), ("entry[1]", "response", "embedded"),
        ("entry[1]/body[1]", "a", "encapsulating"),
    ]


def test_each_of_many_entries_has_the_url_of_its_own_request() -> None:
    data = har(*(entry(url=f"http://h{number}/" if number % 3 else None) for number in range(300)))
    rows = list(absolve.links(data, name="x.har"))
    assert [row.entity for row in rows] == [f"entry[{number}]/body[1]" for number in range(1, 301)]
    assert [row.base for row in rows] == [f"http://h{number}/" if number % 3 else "" for number in range(300)]
    assert {row.base_source for row in rows} == {"HAR entry's request URL", ""}
    assert list(absolve.links(rewritten(data), name="x.har"))[299].reference.startswith("http://h299/")


def test_the_fields_of_a_response_may_be_in_any_order_and_before_the_request() -> None:
    assert read(rewritten(har(dict(reversed(entry().items())))))["content"]["text"] == ABSOLUTE
    values = {
        "headers": [{"name": "Location", "value": "a"}, {"name": "Link", "value": "<l>; rel=next"}],
        "redirectURL": "b",
        "content": {"mimeType": "text/html", "text": "<a href=c>"},
    }
    for names in permutations(values):
        data = har({"request": {"url": URL}, "response": {name: values[name] for name in names}})
        expected = data
        for old in (b'"a"', b"<l>", b'"b"', b"=c>"):
            expected = expected.replace(old, old[:1] + b"http://h.example/d/" + old[1:])
        assert rewritten(data) == expected
        assert absolve.verify(data, expected, name="x.har") == []


@pytest.mark.parametrize(("data", "code"), [
    (b"", "no-har"), (b'{"log": {}}', "no-har"), (b'{"log": {"entries": {}}}', "no-har"), (har(entry())[:-3], "malformed-json"),
    (har(entry()) + b"x", "malformed-json"),
    (har(entry(content={"comment": json.loads("[" * 90 + "]" * 90)})), "too-deep"),
])
def test_json_that_is_no_http_archive_is_an_error(data: bytes, code: str) -> None:
    with pytest.raises(absolve.DocumentError) as caught:
        rewritten(data)
    assert caught.value.diagnostic.code == code


@pytest.mark.parametrize(("broken", "code", "failed"), [
    (entry("PGE*", content={"encoding": "base64"}), "broken-base64", True),
    (entry("x", content={"encoding": "rot13"}), "unknown-encoding", True),
    (entry(status=206), "partial", False),
    (entry("<x", media_type="application/xml"), "not-well-formed", True),
])
def test_unreadable_entries_stay_and_the_others_are_rewritten(broken: Any, code: str, failed: bool) -> None:
    data = har(broken, entry())
    assert reported(data) == [(code, failed)]
    changed = rewritten(data)
    assert read(changed, 0) == broken["response"]
    assert read(changed, 1)["content"]["text"] == ABSOLUTE


def test_a_value_that_is_null_counts_as_missing() -> None:
    nothing = dict.fromkeys(("encoding", "size", "compression"))
    changed = rewritten(har(entry(content=nothing, redirectURL=None), entry("null", media_type="text/css")))
    assert read(changed, 0)["content"]["text"] == ABSOLUTE
    assert read(changed, 1)["content"]["text"] == "null"
    assert [row.media_type for row in absolve.documents(har(entry(media_type=None)), name="x.har")] == ["text/html"]


def test_verify_accepts_a_har_rewrite_and_finds_its_corruptions() -> None:
    encoded = base64.b64encode(PAGE.encode()).decode()
    data = har(
        entry(headers=[("Location", "l"), ("Server", "s")], redirectURL="l"),
        entry(url="http://o.example/"), 1, entry(encoded, content={"encoding": "base64", "size": len(PAGE)}),
    )
    changed = rewritten(data)
    assert absolve.verify(data, changed, name="x.har") == []
    size = b'"size": %d' % len(ABSOLUTE)
    for old, new in (
        (size, b'"size": 11'), (b"1.2", b"1.1"), (b'"s"', b'"t"'), (b"GET", b"PUT"), (b"200", b"201"), (b"example/d/l", b"example/l"),
        (b"</a>", b"</b>"), (b"o.example/x", b"o.example/y"),
    ):
        assert absolve.verify(data, changed.replace(old, new, 1), name="x.har"), old
    other = har(*json.loads(changed)["log"]["entries"][:2])
    assert [found.code for found in absolve.verify(data, other, name="x.har")] == ["links", "tree"]


# --- entries that HAR 1.2 does not allow ------------------------------------------------------------------------------

CONTENT = {"mimeType": "text/html", "text": "<a href=x>", "size": 10}
WHOLE: dict[str, Any] = {"request": {"method": "GET", "url": URL}, "response": {"status": 200, "headers": [], "content": CONTENT}}


def test_an_entry_has_its_number_in_the_array_of_the_file_whatever_the_others_are() -> None:
    data = har(None, WHOLE, 5, {"request": {"url": URL}, "response": {}}, {"request": 5}, *[0] * 120, WHOLE)
    rows = absolve.links(data, name="x.har", on_diagnostic=lambda _: None)
    assert [row.entity for row in rows] == ["entry[2]/body[1]", "entry[126]/body[1]"]
    found = absolve.documents(data, name="x.har", on_diagnostic=lambda _: None)
    assert [row.entity for row in found] == ["entry[2]/body[1]", "entry[4]", "entry[5]", "entry[126]/body[1]"]
    texts = [one.text for one in walk(Document(data, name="x.har"), Settings()).diagnostics]
    assert [text[:9] for text in texts if "an entry is" in text][:3] == ["entry[1]:", "entry[3]:", "entry[6]:"]
    assert (len(texts), "further ones are not reported" in texts[-1]) == (102, True)


@pytest.mark.parametrize(("entry", "text"), [
    (WHOLE, None), ({**WHOLE, "response": {**WHOLE["response"], "content": {}}}, None), ({"request": {"url": URL}, "response": {}}, None),
    ({**WHOLE, "response": {**WHOLE["response"], "content": {"text": None}}}, None),
    ({"request": {"url": URL}, "response": {"headers": None, "content": None}}, None),
    (5, "an entry is a number or word, not an object"), ("x", "an entry is a string, not an object"),
    (None, "an entry is a number or word, not an object"), ([1], "an entry is an array, not an object"), ({}, "its request is missing"),
    ({"request": {"url": URL}}, "its response is missing"),
    ({"request": {"url": URL}, "response": None}, "its response is a number or word, not an object"),
    ({"request": "x", "response": {}}, "its request is a string, not an object"),
    ({"request": {"url": 5}, "response": {}}, "the URL of its request is a number or word, not a string"),
    ({"request": {"url": URL}, "response": {"headers": 5}}, "its headers are a number or word, not an array"),
    ({"request": {"url": URL}, "response": {"content": []}}, "its content is an array, not an object"),
    ({"request": {"url": URL}, "response": {"content": {"text": 5}}}, "the text of its content is a number or word, not a string"),
])
def test_a_broken_entry_is_reported_and_the_others_are_read(entry: Any, text: str | None) -> None:
    if text is None:
        assert reported(har(entry)) == []  # it lacks only values
        return
    data = har(WHOLE, entry, WHOLE)
    found = walk(Document(data, name="x.har"), Settings()).diagnostics
    assert {(one.code, one.failed) for one in found} == {("broken-entry", True)}
    assert text in found[0].text
    assert [row.target for row in absolve.links(data, name="x.har")] == ["http://h.example/d/x"] * 2
    assert absolve.rewrite(data, name="x.har") == har(WHOLE, entry, WHOLE).replace(b"<a href=x>", b"<a href=http://h.example/d/x>").replace(b'"size": 10', b'"size": 29')


def test_bodies_that_are_not_in_the_archive_are_counted_in_one_warning() -> None:
    left_out = entry(None, content={"size": 900, "_file": "1.html"})
    others = (entry(None), entry(""), entry(None, media_type="image/png", content={"size": 9}), entry(redirectURL="/x", content={"size": 9, "text": ""}))
    counted = [left_out, entry("", content={"size": 7}), entry(None, media_type="", content={"size": 7})]
    data = har(*others, *counted, entry())
    found = walk(Document(data, name="x.har"), Settings()).diagnostics
    assert [(one.code, one.failed) for one in found] == [("partial", False)]
    assert found[0].text.startswith("3 bodies")
    assert reported(har(*others)) == []
