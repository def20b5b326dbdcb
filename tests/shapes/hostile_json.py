"""Hostile JSON-LD: the keys above a string decide its meaning, and a context may follow the values that it governs."""

from typing import Final

from tests.shapes.makers import Shape, numbered, repeated

_MAKERS: Final = {
    "strings": repeated(b'"a",', b'{"url":[', b'"a"]}'),
    "numbers": repeated(b"1,", b'{"url":[', b'"a"]}'),
    "names": numbered(b"{", b'"t%d":"a",', b'"url":"a"}'),
    "nodes": repeated(b'{"url":"a"},', b'{"@graph":[', b"{}]}"),
    "contexts": repeated(b'{"@context":{"@base":"b"},"url":"a"},', b'{"@graph":[', b"{}]}"),
    "contexts at the end": repeated(b'{"a":{"@context":{"@base":"b"},"url":"a"},"@context":{}},', b'{"@graph":[', b"{}]}"),
    "prefixes": numbered(b'{"@context":{', b'"t%d":"http://e.example/",', b'"a":"b"},"@id":"x"}'),
    "too many terms": numbered(b'{"@context":{', b'"t%d":{"@id":"x"},', b'"a":"b"},"url":"a"}'),
    "terms again and again": repeated(b'{"@context":{"t":"x","u":{"@type":"@id"}},"u":"a"},', b'{"@graph":[', b"{}]}"),
}
SHAPES: Final = {f"JSON-LD, {name}": Shape(make, "application/ld+json") for name, make in _MAKERS.items()}
