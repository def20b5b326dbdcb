"""Import maps, speculation rules and web app manifests: their references, and the encoding of new ones."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import absolve
from absolve.core.model import Finding, Link
from absolve.document.walk import Settings
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


@pytest.mark.parametrize("kind", NO_REFERENCES)
def test_other_json_strings_are_no_references(kind: str) -> None:
    for text in NO_REFERENCES[kind]:
        assert [reference for reference in references(kind, text) if reference != "b"] == [], text


@pytest.mark.parametrize(("kind", "text", "expected"), [
    ("map", '{"imports": {"a": "./a.js", "b": "../b.js", "c": "/c.js", "d": "http://h/d.js"}}', ["./a.js", "../b.js", "/c.js", "http://h/d.js"]),
    ("map", '{"imports": {"./k/": "/v/"}}', ["./k/", "/v/"]),
    ("map", '{"scopes": {"s/": {"a": "./a.js"}}}', ["s/", "./a.js"]),
    ("map", '{"integrity": {"./a.js": "sha384-x"}}', ["./a.js"]),
    ("map", '{"imports": {"a": "\\u002e/a\\/b"}}', ["./a/b"]),
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
    "id": "/app",
    "start_url": "./?home",
    "scope": "/a/",
    "icons": [{"src": "i.png", "type": "image/png"}],
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


def test_the_id_of_a_manifest_stays() -> None:
    done = json.loads(absolve.rewrite(json.dumps(MANIFEST), name="a.webmanifest", url="http://h.example/m/"))
    assert (done["id"], done["scope"], done["icons"][0]["src"]) == ("/app", "http://h.example/a/", "http://h.example/m/i.png")


@pytest.mark.parametrize(("media_type", "text", "old", "new"), [
    ("application/importmap+json", '{"imports": {"a": "./a.js"}}', '"./a.js', '"http://h.example/m/a.js'),
    ("application/speculationrules+json", '{"prefetch": [{"urls": ["x"]}]}', '"x', '"http://h.example/m/x'),
])
def test_import_maps_and_speculation_rules_are_documents_too(media_type: str, text: str, old: str, new: str) -> None:
    done = absolve.rewrite(text, media_type=media_type, url="http://h.example/m/")
    assert done == text.replace(old, new)
    assert absolve.verify(text, done, media_type=media_type, url="http://h.example/m/") == []


ESCAPE = re.compile(
    rb"\\(?:u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))"
)
STRINGS = st.lists(
    st.sampled_from([b"\\", b"u", b"n", b"/", b'"', b"x", b"0", b"\\u0041", b"\\u00e9", b"\\uD83d", b"\\uDE00", b"\\u20aC", b"\\\\"])
)


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
