"""JSON: references in import maps, speculation rules and manifests, limits of JSON-LD, and the coding of strings."""

import json
import re
from typing import Any

import pytest
from case_tables import cases, tables
from hypothesis import example, given
from hypothesis import strategies as st
from linear import measure

import absolve
from absolve.core.model import Finding, Link
from absolve.document.walk import Settings, walk
from absolve.encodings.charsets import UTF_8
from absolve.encodings.offset_map import Decoded
from absolve.formats.json.tokens import JSONString, Value, values
from absolve.formats.json.walker import walk_import_map, walk_manifest, walk_speculation_rules

WALKERS = {"map": walk_import_map, "rules": walk_speculation_rules, "manifest": walk_manifest}


def references(kind: str, text: str) -> list[str]:
    events = WALKERS[kind](text.encode(), UTF_8, Settings())
    links = [event for event in events if isinstance(event, Link)]
    return [link.coding.decode(text.encode()[link.start : link.end]).decode() for link in links]


NO_REFERENCES = {
    "map": [
        "", "{}", '"./x"', '["./x"]', '{"import": {"a": "./a"}}', '{"imports": "./a"}', '{"imports": {"a": "a.js"}}',
        '{"imports": {"a": null, "b": ["./b"], "c": {"d": "./e"}}}', '{"integrity": {"a": "./x"}}', '{"scopes": "./x"}',
        '{"x": {"imports": {"a": "./a"}}}',
    ],
    "rules": [
        "", "[]", '{"urls": ["a"]}', '{"prefetch": [{"where": {"href_matches": "/a"}}]}', '{"prefetch": [{"urls": "a"}]}',
        '{"prefetch": [{"urls": {"a": "b"}, "tag": "t"}], "tag": "x"}',
    ],
}


def test_other_json_strings_are_no_references() -> None:
    for kind, documents in NO_REFERENCES.items():
        assert [text for text in documents if {*references(kind, text)} - {"b"}] == []


@pytest.mark.parametrize(("kind", "text", "expected"), [
    ("map", '{"imports": {"a": "./a.js", "b": "../b.js", "c": "/c.js", "d": "http://h/d.js"}}', ["./a.js", "../b.js", "/c.js", "http://h/d.js"]),
    ("map", '{"imports": {"./k/": "/v/"}}', ["./k/", "/v/"]), ("map", '{"scopes": {"s/": {"a": "./a.js"}}}', ["s/", "./a.js"]),
    ("map", '{"integrity": {"./a.js": "sha384-x"}}', ["./a.js"]), ("map", '{"imports": {"a": "\\u002e/a\\/b"}}', ["./a/b"]),
    ("map", '{"imports": {"a": "./a\\/b\\/", "b": "./a\\\\/b"}}', ["./a/b/", "./a\\/b"]),
    ("map", '{"imports": {"a": "./1", "a": "./2"}}', ["./1", "./2"]),
    ("rules", '{"prefetch": [{"urls": ["a", "/b"]}, {"source": "list", "urls": ["c"]}]}', ["a", "/b", "c"]),
    ("rules", '{"prerender": [{"where": {"href_matches": "/x"}}, {"urls": ["d"]}]}', ["d"]),
])
def test_json_references_are_found_in_order(kind: str, text: str, expected: list[str]) -> None:
    assert references(kind, text) == expected


@pytest.mark.parametrize("text", [
    *("{", '{"imports": {"a": "./a"}', '{"imports": {"a": "./a"}]', '{"imports": {"a": "./a"}} x', "{'imports': 1}", "[" * 100),
    *(r'["\x"]', '["\\', '["a\n"]', '["a', "[-]", "[nul]"),
])
def test_invalid_json_stays_with_a_diagnostic(text: str) -> None:
    (finding,) = walk_import_map(text.encode(), UTF_8, Settings())
    assert isinstance(finding, Finding)
    assert finding.code in {"malformed-json", "too-deep"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in (key, *texts(inner))]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []


@given(VALUES, st.booleans())
def test_json_strings_are_decoded_as_by_python(value: object, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
    found = [value for value in values(data) if isinstance(value, Value) and value.kind in {"key", "string"}]
    coding = JSONString()
    decoded = [coding.decode(data[string.start : string.end]).decode("utf-8", "surrogatepass") for string in found]
    assert decoded == texts(value)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('</script><!--\\"\n\x00')
def test_encoded_json_strings_decode_to_themselves_and_end_no_script(text: str) -> None:
    raw = JSONString().encode(text.encode())
    assert JSONString().decode(raw) == text.encode()
    assert json.loads(b'"' + raw + b'"') == text
    assert b"</" not in raw
    assert b"<!" not in raw


MANIFEST = {
    "id": "/app", "start_url": "./?home", "scope": "/a/", "icons": [{"src": "i.png", "type": "image/png"}],
    "screenshots": [{"src": "s.png"}],
    "shortcuts": [{"name": "n", "url": "/new", "icons": [{"src": "n.png"}]}],
    "share_target": {"action": "share", "params": {"url": "u", "title": "t"}},
    "protocol_handlers": [{"protocol": "web+x", "url": "/p?%s"}],
    "file_handlers": [{"action": "open", "accept": {"text/x": ".x"}}],
    "related_applications": [{"platform": "web", "url": "r.webmanifest", "id": "x"}],
    "serviceworker": {"src": "sw.js"},
}
URLS = ["/app", "./?home", "/a/", "i.png", "s.png", "/new", "n.png", "share", "/p?%s", "open", "r.webmanifest", "sw.js"]


def test_urls_in_known_members_of_a_manifest_are_found() -> None:
    assert references("manifest", json.dumps(MANIFEST)) == URLS
    assert references("manifest", json.dumps({"x": MANIFEST, "id": "app", "start_url": ["./x", {"y": "z"}][1]})) == []


ESCAPE = re.compile(rb"\\(?:u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))")
STRINGS = st.lists(st.sampled_from([b"\\", b"u", b"n", b"/", b'"', b"x", b"0", b"\\u0041", b"\\u00e9", b"\\uD83d", b"\\uDE00", b"\\u20aC", b"\\\\"]))


def character(escape: re.Match[bytes]) -> bytes:
    high, low, plain, simple = escape.groups()
    if simple:
        return bytes(json.loads(b'"' + escape[0] + b'"'), "utf-8")
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00).encode()
    return chr(int(plain, 16)).encode("utf-8", "surrogatepass")


@given(STRINGS.map(b"".join))
@example(b"\\ud83d\\ude00")
@example(b"\\ud83d\\ud83d\\ude00\\u12")
def test_strings_have_the_units_of_the_grammar(raw: bytes) -> None:
    expected = Decoded(raw)
    for escape in ESCAPE.finditer(raw):
        expected.unit(escape.start(), escape.end(), character(escape))
    known, places = expected.whole()
    value, offsets = JSONString().decode_mapped(raw)
    assert value == known == JSONString().decode(raw)
    spans = [(offsets.start(at), offsets.end(at)) for at in range(len(value) + 1)]
    assert spans == [(places.start(at), places.end(at)) for at in range(len(value) + 1)]


# --- JSON-LD and JSON Feed --------------------------------------------------------------------------------------------

LD: dict[str, Any] = {"media_type": "application/ld+json", "url": "http://h/d/p"}


def test_a_large_document_of_json_ld_which_is_read_twice_has_the_same_links() -> None:
    rows = [case for name, table in tables("links").items() if name.startswith("JSON-LD") for case in cases(table) if b"@base" in case.document]
    assert len(rows) >= 8
    for case in rows:
        few, many = ([row.target for row in absolve.links(case.document + b" " * size, **LD)] for size in (0, 1 << 16))
        assert few == many, case.document


def test_the_number_of_terms_in_scope_is_limited() -> None:
    def nested(terms: int) -> str:
        inner = ", ".join(f'"t{number}": {{"@id": "x", "@type": "@id"}}' for number in range(terms))
        outer = ", ".join(f'"u{number}": "x"' for number in range(5_000))
        return f'{{"@context": {{{outer}}}, "@graph": [{{"@context": {{{inner}}}, "t0": "a"}}]}}' + " " * (1 << 16)

    assert [row.reference for row in absolve.links(nested(5_000), **LD)] == ["a"]
    text = nested(5_001)
    assert list(absolve.links(text, **LD)) == []
    (diagnostic,) = walk(absolve.Document(text, **LD), Settings()).diagnostics
    assert (diagnostic.code, diagnostic.column) == ("too-many-terms", text.index('{"@context"', 1) + 1)
    context = {f"t{number}": {"@id": "x", "@type": "@id"} for number in range(6_000)}  # closed objects do not count
    assert [row.reference for row in absolve.links(json.dumps([{"@context": context, "t0": "a"}] * 3), **LD)] == ["a"] * 3


def test_the_number_of_nested_bases_is_limited() -> None:
    def nested(count: int) -> str:
        return json.dumps({"@context": [{"@base": f"{number}/"} for number in range(count)], "@id": "x"})

    assert [*absolve.links(nested(100), **LD)][-1].target == "http://h/d/" + "".join(f"{number}/" for number in range(100)) + "x"
    assert list(absolve.links(nested(101), **LD)) == []
    (diagnostic,) = walk(absolve.Document(nested(101), **LD), Settings()).diagnostics
    assert (diagnostic.code, diagnostic.column) == ("too-deep", 1)


def test_the_id_of_an_item_of_a_feed_is_listed_and_stays() -> None:
    feed = '{"version": "https://jsonfeed.org/version/1", "items": [{"id": "http://h/d/2", "url": "http://h/x"}]}'
    assert absolve.rewrite(feed, name="feed.json", policy=lambda _: "http://n/") == feed.replace("http://h/x", "http://n/")
    assert [row.reference for row in absolve.links(feed, name="feed.json")] == ["http://h/d/2", "http://h/x"]


@pytest.mark.parametrize("unit", ['"a\\n",', '"\\\\",', '"[a](",', '{"cell_type": "markdown", "source": "a"},'])
def test_a_hostile_notebook_takes_linear_time(unit: str) -> None:
    def rewrite(units: bytes) -> None:
        inner = units.decode() if unit.startswith("{") else f'{{"cell_type": "markdown", "source": [{units.decode()}"a"]}},'
        absolve.rewrite(f'{{"cells": [{inner}{{"cell_type": "markdown", "source": "[a](b)"}}]}}', name="a.ipynb", url="http://h/d/")

    measure(rewrite, unit.encode() * 2_000)
