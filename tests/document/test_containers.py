"""Walking containers of whole documents: charsets, bases from a container, derived fields, failures.

The container format exists only in this test: lines `KEY: VALUE`, an empty line, then a body that the keys describe.
"""

from __future__ import annotations

import base64
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from absolve.core.errors import CodingError, DocumentError, WalkError
from absolve.core.model import BaseClaim, Derived, Document, Layer, Part
from absolve.document.walk import Settings, inners, walk
from absolve.encodings.charsets import UTF_8
from absolve.encodings.codings import Raw
from absolve.formats import registry
from absolve.inventory.link_rows import rows
from absolve.rewriting import rewriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.core.model import Event
    from absolve.core.protocols import Coding, Offsets
    from absolve.document.entity import Entity
    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import WalkOptions

CONTAINER = "application/x-container"


class Base64:
    slot = None

    def decode(self, raw: bytes) -> bytes:
        return self.decode_mapped(raw)[0]

    def decode_mapped(self, raw: bytes) -> tuple[bytes, Offsets | None]:
        if b"!" in raw:
            raise CodingError("broken", "this is no base64")
        return base64.b64decode(raw), None

    def encode(self, value: bytes, after: bytes = b"", before: bytes = b"") -> bytes:  # noqa: ARG002
        return base64.b64encode(value)


def read(data: bytes, charset: Charset, options: WalkOptions) -> Iterator[Event]:  # noqa: ARG001
    head, separator, _ = data.partition(b"\n\n")
    if not separator:
        raise WalkError("no-body", "there is no body", len(data))
    fields = dict(line.split(b": ", 1) for line in head.split(b"\n"))
    claims = []
    if b"Url" in fields:
        claims = [BaseClaim(Layer.RETRIEVAL, fields[b"Url"].decode(), "container")]
    if b"Base" in fields:
        yield BaseClaim(Layer.EMBEDDED, fields[b"Base"].decode(), "Base header", data.find(b"Base: "))
    derived = []
    if b"Length" in fields:
        at = data.find(b"Length: ") + len("Length: ")
        derived = [Derived(at, data.find(b"\n", at), lambda raw: b"%d" % len(raw))]
    coding: Coding = Base64() if b"Base64" in fields else Raw(UTF_8)
    yield Part(
        fields[b"Type"].decode(),
        len(head) + 2,
        len(data),
        coding,
        name="body",
        claims=claims,
        own_charset=True,
        encloses=b"Encloses" in fields,
        derived=derived,
    )


@pytest.fixture(autouse=True)
def container(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("absolve.formats.registry.of_this_test")
    module.read = read  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.WALKERS, CONTAINER, registry.Format(module.__name__, "read", "none"))
    registry.walker.cache_clear()


def walked(data: bytes, url: str | None = None) -> Entity:
    return walk(Document(data, url=url, media_type=CONTAINER), Settings())


def rewritten(data: bytes, url: str | None = None) -> bytes:
    return rewriter.rewrite(walked(data, url))


LINK = b'<a href="x">'


def test_a_part_of_an_unsupported_format_stays() -> None:
    data = b"Type: image/png\nUrl: http://h.example/d/\n\n" + LINK
    assert rewritten(data) == data
    assert list(rows(walked(data))) == []


def test_an_unchanged_container_is_returned_as_the_same_object() -> None:
    data = b"Type: text/html\nLength: 99\nUrl: http://h.example/d/\n\n<a href='http://a.example/'>"
    assert rewritten(data) == data


@pytest.mark.parametrize("key", ["", "Base64: yes\n"])
def test_a_derived_field_is_recomputed_if_its_part_changed(key: str) -> None:
    body = base64.b64encode(LINK) if key else LINK
    new = base64.b64encode(b'<a href="http://h.example/d/x">') if key else b'<a href="http://h.example/d/x">'
    head = f"Type: text/html\n{key}Length: %d\nUrl: http://h.example/d/\n\n".encode()
    assert rewritten(head % len(body) + body) == head % len(new) + new


@pytest.mark.parametrize(
    ("media_type", "charset"),
    [("text/html; charset=koi8-r", "koi8-r"), ('Text/HTML; x="a;b"; CHARSET="utf-16le"', "utf-16le")],
)
def test_a_part_with_its_own_charset_is_decoded_by_its_media_type(media_type: str, charset: str) -> None:
    page = '<a href="привет">Я</a>'.encode(charset)
    head = f"Type: {media_type}\nUrl: http://h.example/\n\n".encode()
    assert rewritten(head + page) == head + page.replace('"'.encode(charset), '"http://h.example/'.encode(charset), 1)


@pytest.mark.parametrize(
    ("fields", "url", "target", "layer"),
    [
        ("Url: http://u.example/d/p\n", None, "http://u.example/d/x", "retrieval"),
        ("Url: http://u.example/d/p\n", "http://said.example/d/p", "http://said.example/d/x", "retrieval"),
        ("", "http://said.example/d/p", "http://said.example/d/x", "retrieval"),
        ("Encloses: yes\n", "http://said.example/d/p", "http://said.example/d/x", "encapsulating"),
        ("Base: http://b.example/d/p\n", "http://said.example/", "http://b.example/d/x", "encapsulating"),
        ("Base: sub/\n", "http://said.example/d/", "http://said.example/d/sub/x", "encapsulating"),
        ("", None, None, "default"),
    ],
)
def test_the_base_of_a_part_comes_from_the_layers_around_it(
    fields: str, url: str | None, target: str | None, layer: str
) -> None:
    row = next(rows(walked(f"Type: text/html\n{fields}\n".encode() + LINK, url)))
    assert (row.entity, row.target, row.base_layer) == ("body[1]", target, layer)


def test_a_url_of_the_container_precedes_a_saved_from_comment() -> None:
    page = b"<!-- saved from url=(0021)http://saved.example/-->" + LINK
    entity = walked(b"Type: text/html\nUrl: http://u.example/d/p\n\n" + page)
    chain = next(inners(entity)).entity.bases.base.chain
    assert [(claim.url, claim.verdict) for claim in chain] == [
        ("http://u.example/d/p", "won"),
        ("http://saved.example/", "ignored"),
    ]


def nested(inner: bytes, **fields: str) -> bytes:
    head = "".join(f"{name}: {value}\n" for name, value in {"Type": CONTAINER, **fields}.items())
    return head.encode() + b"\n" + inner


def test_a_part_that_cannot_be_walked_stays_with_a_diagnostic() -> None:
    data = nested(b"no body here", Url="http://u.example/")
    entity = walked(data)
    assert rewriter.rewrite(entity) is data
    assert [(diagnostic.code, diagnostic.line, diagnostic.column, diagnostic.failed) for diagnostic in entity.diagnostics] == [
        ("no-body", 4, 13, True)
    ]


def test_a_part_that_cannot_be_decoded_stays_with_a_diagnostic() -> None:
    data = nested(b"!!", Type="text/html", Base64="yes")
    entity = walked(data)
    assert rewriter.rewrite(entity) is data
    assert [(diagnostic.code, diagnostic.line, diagnostic.failed) for diagnostic in entity.diagnostics] == [("broken", 4, True)]


def test_a_document_that_cannot_be_walked_raises_an_error_with_its_position() -> None:
    with pytest.raises(DocumentError, match=r"<bytes>:2:4: no-body: there is no body"):
        walked(b"one\ntwo")


def test_containers_nest_to_the_allowed_depth() -> None:
    data = LINK
    for depth in range(4):
        data = nested(data, Type=CONTAINER if depth else "text/html")
    url = "http://h.example/"
    assert rewritten(data, url).endswith(b'<a href="http://h.example/x">')
    for depth, left in ((4, False), (3, True)):
        entity = walk(Document(data, url=url, media_type=CONTAINER), Settings(max_depth=depth))
        assert (rewriter.rewrite(entity) is data) is left
        assert [diagnostic.code for diagnostic in entity.diagnostics] == ["too-deep"] * left
