"""JSON-LD: which strings are references, which base applies to them, and that nothing else changes."""

import json
from typing import Any

import pytest

import absolve
from absolve.core.model import KINDS
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats import sniffing
from absolve.formats.json import json_ld

URL = "http://h.example/d/p"
SCHEMA = '"@context": "https://schema.org"'


def rows(text: str, **options: Any) -> list[absolve.Row]:
    return list(absolve.links(text, media_type="application/ld+json", url=URL, **options))


def listed(text: str) -> list[tuple[str, str]]:
    return [(row.attribute, row.reference) for row in rows(text) if row.attribute != "@context"]


def rewritten(text: str, media_type: str = "application/ld+json") -> str:
    done = absolve.rewrite(text, media_type=media_type, url=URL, json_ld=True)
    assert absolve.rewrite(done, media_type=media_type, url=URL, json_ld=True) == done
    assert absolve.verify(text, done, media_type=media_type, url=URL, json_ld=True) == []
    return str(done)


@pytest.mark.parametrize("text", [
    "",
    "null",
    '"x"',
    '["x"]',
    f'{{{SCHEMA}, "name": "n.html", "description": "/d", "articleSection": "#news", "author": "/author/j.html"}}',
    f'{{{SCHEMA}, "@type": "Person", "@language": "en", "@value": "v"}}',
    f'{{{SCHEMA}, "url": {{"@value": "x"}}}}',
    f'{{{SCHEMA}, "url": 1, "sameAs": [null, 1, true, {{}}]}}',
    f'{{{SCHEMA}, "@id": "_:b0", "knows": {{"@id": "_:x"}}, "url": "_:y"}}',
    f'{{{SCHEMA}, "@id": "@type", "url": "@id"}}',
    f'{{{SCHEMA}, "image": "a picture of it", "license": "MIT", "gameLocation": "London", "isPartOf": "Site"}}',
    f'{{{SCHEMA}, "url": "see the page", "target": "/s?q={{q}}", "urlTemplate": "/x"}}',
    f'{{{SCHEMA}, "identifier": "node.js", "genre": "/rock", "menu": "menu.html", "additionalType": "x"}}',
    f'{{{SCHEMA}, "@id": "schema:Person", "sameAs": "schema:x"}}',
    '{"@context": {"ex": "http://ex.example/"}, "@id": "ex:a"}',
    '{"@context": {"ex": {"@id": "http://ex.example/"}}, "ex:p": {"@id": "ex:a"}}',
    '{"@context": {"url": "http://other.example/url"}, "url": "x"}',
    '{"@context": "http://other.example/c", "url": "x", "image": "i.png"}',
    '{"@context": {"url": {"@id": "http://schema.org/url", "@type": "http://www.w3.org/2001/XMLSchema#string"}}, "url": "x"}',
    '{"@context": {"p": {"@id": "http://schema.org/p", "@type": "@vocab"}}, "p": "x"}',
    '{"@context": ["https://schema.org", {"url": null}], "url": "x"}',
    '{"@context": ["https://schema.org", null], "url": "x"}',
    '{"@context": {"@base": null}, "@id": "x"}',
    '{"@context": {"@base": null}, "a": {"@context": {"@base": "sub/"}, "@id": "x"}}',
])
def test_other_json_ld_strings_are_neither_listed_nor_changed(text: str) -> None:
    assert listed(text) == []
    assert rewritten(text) == text


@pytest.mark.parametrize(("text", "expected"), [
    (f'{{{SCHEMA}, "@id": "#me"}}', [("@id", "#me")]),
    (f'{{{SCHEMA}, "id": "me"}}', [("@id", "me")]),
    (f'{{{SCHEMA}, "@id": ""}}', [("@id", "")]),
    (f'[{{{SCHEMA}, "url": "x"}}, {{"@id": "y"}}]', [("url", "x"), ("@id", "y")]),
    (f'{{{SCHEMA}, "@graph": [{{"url": "x"}}, {{"sameAs": ["y", "z"]}}]}}', [("url", "x"), ("sameAs", "y"), ("sameAs", "z")]),
    (f'{{{SCHEMA}, "image": {{"@list": ["a.png", "b.png"]}}}}', [("image", "a.png"), ("image", "b.png")]),
    (f'{{{SCHEMA}, "logo": {{"@type": "ImageObject", "contentUrl": "l"}}}}', [("contentUrl", "l")]),
    (f'{{{SCHEMA}, "genre": "http://g.example/"}}', [("genre", "http://g.example/")]),
    (f'{{{SCHEMA}, "item": "/books"}}', [("item", "/books")]),
    ('{"url": "x"}', [("url", "x")]),
    ('{"url": "x", "@context": {"@vocab": "http://schema.org/"}}', [("url", "x")]),
    ('{"@context": {"s": "http://schema.org/", "u": "s:url"}, "s:url": "x", "u": "y"}', [("url", "x"), ("url", "y")]),
    ('{"http://schema.org/url": "x"}', [("url", "x")]),
    ('{"@context": {"p": {"@id": "http://e.example/p", "@type": "@id"}}, "p": ["x", "y"]}', [("p", "x"), ("p", "y")]),
    ('{"@context": {"uri": "@id"}, "uri": "x"}', [("@id", "x")]),
    ('{"@context": {"ex": "http://ex.example/"}, "@id": "ex://a"}', [("@id", "ex://a")]),
    (f'{{{SCHEMA}, "url": " x\\u002fy "}}', [("url", "x/y")]),
])
def test_json_ld_references_are_listed_with_their_property(text: str, expected: list[tuple[str, str]]) -> None:
    assert listed(text) == expected


def test_an_empty_json_ld_id_is_the_document_and_other_empty_strings_are_ignored() -> None:
    found = rows(f'{{{SCHEMA}, "@id": "", "url": ""}}')[1:]
    assert [(row.target, row.problems) for row in found] == [(URL, ["empty"]), (None, ["empty"])]


def test_remote_contexts_are_links_resolved_against_the_document() -> None:
    text = '{"@context": ["c.jsonld", {"@base": "http://b.example/", "@import": "i.jsonld"}, "schema.org"], "@id": "x"}'
    targets = [(row.attribute, row.target) for row in rows(text)]
    assert targets == [
        ("@context", "http://h.example/d/c.jsonld"),
        ("@base", "http://b.example/"),
        ("@context", "http://h.example/d/i.jsonld"),
        ("@id", "http://b.example/x"),
    ]


def test_an_at_base_applies_to_its_node_and_nested_nodes() -> None:
    text = """{"@id": "a", "p": {"@id": "b", "q": {"@id": "c"}, "@context": {"@base": "one/"}},
        "r": {"@context": [{"@base": "two/"}, {"@base": "three/"}], "@id": "d", "s": {"@context": {"@base": "/e/"}, "@id": "f"}},
        "t": {"@context": null, "@id": "g"}}"""
    found = {row.reference: (row.target, row.base_layer, row.base_source) for row in rows(text)}
    assert found["a"] == ("http://h.example/d/a", "retrieval", "--url")
    assert found["b"] == ("http://h.example/d/one/b", "embedded", "@base, line 1")
    assert found["c"][0] == "http://h.example/d/one/c"
    assert found["two/"] == ("http://h.example/d/two/", "retrieval", "--url")
    assert found["three/"][0] == "http://h.example/d/two/three/"
    assert found["d"][0] == "http://h.example/d/two/three/d"
    assert found["f"][0] == "http://h.example/e/f"
    assert found["g"][0] == "http://h.example/d/g"


def test_a_null_base_removes_the_base_until_an_absolute_one() -> None:
    text = '{"@context": [{"@base": null}, {"@base": "http://b.example/"}], "@id": "x", "p": {"@context": null, "@id": "y"}}'
    assert [row.target for row in rows(text)][1:] == ["http://b.example/x", "http://h.example/d/y"]


def test_json_ld_links_are_rewritten_only_with_the_option() -> None:
    text = f'{{{SCHEMA}, "@base": "no", "@id": "#me", "url": "a\\/b\\u0041", "image": ["i.png"], "name": "x.html"}}'
    assert absolve.rewrite(text, media_type="application/ld+json", url=URL) is text
    done = text.replace('"a\\/', '"http://h.example/d/a\\/').replace('"i.png', '"http://h.example/d/i.png')
    assert rewritten(text) == done


def test_an_at_base_and_its_links_are_made_absolute() -> None:
    text = '{"@context": {"@base": "sub/"}, "@id": "x", "@graph": []}'
    assert rewritten(text) == text.replace("sub/", "http://h.example/d/sub/").replace('"x"', '"http://h.example/d/sub/x"')


def test_json_ld_in_a_script_has_the_base_of_the_page() -> None:
    script = f'<base href="/b/"><script type="application/ld+json">{{{SCHEMA}, "url": "%s", "name": "</b>"}}</script>'
    row = list(absolve.links(script % "x", media_type="text/html", url=URL))[-1]
    assert (row.element, row.attribute, row.target, row.entity) == ("json-ld", "url", "http://h.example/b/x", "")
    page = rewritten(script % "x", "text/html")
    assert page == (script % "http://h.example/b/x").replace('"/b/"', '"http://h.example/b/"')
    assert absolve.rewrite(script % "x", url=URL) == page.replace("http://h.example/b/x", "x")


@pytest.mark.parametrize("parameters", ["", "; charset=utf-8", ';profile="http://www.w3.org/ns/json-ld#framed"'])
def test_the_json_ld_type_of_a_script_may_have_parameters(parameters: str) -> None:
    page = f"<script type='application/ld+json{parameters}'>{{{SCHEMA}, \"url\": \"x\"}}</script>"
    assert [row.target for row in absolve.links(page, media_type="text/html", url=URL)][-1] == "http://h.example/d/x"


def test_json_ld_in_an_xhtml_script_is_read() -> None:
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><script type="application/ld+json">{"url": "x"}</script></html>'
    assert rewritten(page, "application/xhtml+xml") == page.replace('"x"', '"http://h.example/d/x"')


def test_invalid_json_stays_with_a_diagnostic() -> None:
    text = '{"url": "x", }, "url": "y"'
    assert rewritten(text) == text
    assert rows(text) == []


def test_json_ld_is_detected_by_its_name() -> None:
    assert sniffing.sniff(b"{}", "a.jsonld") == "application/ld+json"


def test_each_json_ld_property_is_in_one_table() -> None:
    found = [*json_ld.URLS, *json_ld.THINGS, *json_ld.TEXTS]
    assert len(found) == len(set(found))
    assert {*json_ld.URLS.values(), *json_ld.THINGS.values()} <= KINDS


# --- contexts at any position, in documents of any size ---------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1 << 16])  # larger ones are read twice
@pytest.mark.parametrize(("text", "targets"), [
    ('{"url": "x", "@context": {"@base": "b/"}}', ["/d/b/x", "/d/b/"]),
    ('{"a": {"@context": {"@base": "c/"}, "url": "y"}, "url": "x", "@context": {"@base": "b/"}}', ["/d/b/c/", "/d/b/c/y", "/d/b/x", "/d/b/"]),
    ('{"a": {"url": "y", "@context": {"@base": "c/"}}, "@context": [{"@base": "b/"}, {"@base": "e/"}], "url": "x"}',
     ["/d/b/e/c/y", "/d/b/e/c/", "/d/b/", "/d/b/e/", "/d/b/e/x"]),
    ('[{"@context": {"@base": "b/"}, "url": "x"}, {"url": "y"}, ["z"]]', ["/d/b/", "/d/b/x", "/d/y"]),
    ('{"@graph": [{"@context": {"@base": "b/"}, "url": ["x", {"@id": "y"}]}], "url": "z"}', ["/d/b/", "/d/b/x", "/d/b/y", "/d/z"]),
    ('{"@context": {"@base": "b/", "a": {"@id": "c:x", "@context": {"@base": "n/"}}}, "url": "x"}', ["/d/b/", "/d/b/x"]),
    ('{"@context": {}, "url": "x", "@context": {"@base": "b/"}}', ["/d/b/x", "/d/b/"]),
    ('{"@context": {"@base": "b/"}, "a": {}, "url": "x", "@graph": [{}, {"url": "y"}]}', ["/d/b/", "/d/b/x", "/d/b/y"]),
])  # fmt: skip
def test_a_context_applies_to_its_whole_object_from_any_position(text: str, targets: list[str], size: int) -> None:
    known = f'{{"@context": "https://schema.org", "@graph": {text}}}' + " " * size
    assert [row.target for row in rows(known)][1:] == [f"http://h.example{target}" for target in targets]


@pytest.mark.parametrize("size", [0, 1 << 16])
def test_the_number_of_terms_in_scope_is_limited(size: int) -> None:
    def nested(terms: int) -> str:
        inner = ", ".join(f'"t{number}": {{"@id": "x", "@type": "@id"}}' for number in range(terms))
        outer = ", ".join(f'"u{number}": "x"' for number in range(5_000))
        return f'{{"@context": {{{outer}}}, "@graph": [{{"@context": {{{inner}}}, "t0": "a"}}]}}' + " " * size

    assert [row.reference for row in rows(nested(5_000))] == ["a"]
    text = nested(5_001)
    assert rows(text) == []
    (diagnostic,) = walk(absolve.Document(text, media_type="application/ld+json"), Settings()).diagnostics
    assert (diagnostic.code, diagnostic.column) == ("too-many-terms", text.index('{"@context"', 1) + 1)


def test_the_number_of_nested_bases_is_limited() -> None:
    def nested(count: int) -> str:
        return json.dumps({"@context": [{"@base": f"{number}/"} for number in range(count)], "@id": "x"})

    assert rows(nested(100))[-1].target == "http://h.example/d/" + "".join(f"{number}/" for number in range(100)) + "x"
    assert rows(nested(101)) == []
    (diagnostic,) = walk(absolve.Document(nested(101), media_type="application/ld+json"), Settings()).diagnostics
    assert (diagnostic.code, diagnostic.column) == ("too-deep", 1)


def test_terms_of_closed_objects_do_not_count() -> None:
    context = {f"t{number}": {"@id": "x", "@type": "@id"} for number in range(6_000)}
    assert [row.reference for row in rows(json.dumps([{"@context": context, "t0": "a"}] * 3))] == ["a"] * 3
