"""The plan of a mirror in the library: a path for each URL that is held, and a policy for each document."""

from typing import Any

import pytest

import absolve
from absolve import Document
from tests.shapes.captures import entry, har, mhtml, page

WARC = page("http://h/", b"<a href=/b>") + page("http://h/b") + page("http://h/e", status=404) + page("http://h/r", status=302, Location="/b")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (WARC, {"http://h/": "h/index.html", "http://h/b": "h/b.html"}),
        (har(entry("http://h/a", "<p>"), entry("http://h/p", "<p>", method="POST")), {"http://h/a": "h/a.html"}),
        (
            mhtml(("Content-Location: http://h/a", "text/html", b"<p>"), ("Content-Location: http://h/i", "image/png", b"x")),
            {"http://h/a": "h/a.html", "http://h/i": "h/i.png"},
        ),
        (Document(b"<p>", url="http://h/a"), {"http://h/a": "h/a.html"}),
        (Document(b"p{}", url="http://h/a", media_type="text/css"), {"http://h/a": "h/a.css"}),
        (Document(b"<p>", url="http://h/a", name="x.htm"), {"http://h/a": "h/a.html"}),
        (b"<base href=http://h/d/><p>", {}),
    ],
)
def test_each_url_that_is_held_has_a_path(given: Document | bytes, found: dict[str, str]) -> None:
    plan = absolve.mirror_plan([given])
    assert dict(plan) == found
    assert len(plan) == len(found)


def test_errors_are_held_on_demand() -> None:
    assert "http://h/e" not in absolve.mirror_plan([WARC])
    assert absolve.mirror_plan([WARC], keep_errors=True)["http://h/e"] == "h/e.html"


def test_at_chooses_the_capture() -> None:
    both = page("http://h/a", b"{}", "application/json", date="2023-01-01T00:00:00Z") + page("http://h/a", b"<p>")
    assert absolve.mirror_plan([both])["http://h/a"] == "h/a.html"
    assert absolve.mirror_plan([both], at="2023")["http://h/a"] == "h/a.json"


def test_a_key_may_be_written_in_any_way_and_is_held_or_not() -> None:
    plan = absolve.mirror_plan([WARC])
    assert plan["HTTP://h:80/x/../b"] == "h/b.html"
    for url in ("http://h/r", "http://h/none", "http://[", "b"):
        assert url not in plan
        with pytest.raises(KeyError):
            plan.policy(url)


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ({}, b"<img src=http://h/gone><a href=b.html><a href=b.html>"),
        ({"absent": "sever"}, b"<img src=data:,><a href=b.html><a href=b.html>"),
        ({"same": "none"}, b"<img src=http://h/gone><a href=b.html><a href=http://h/%62>"),
    ],
)
def test_the_policy_has_the_options_of_the_plan(options: dict[str, Any], made: bytes) -> None:
    policy = absolve.mirror_plan([WARC], **options).policy("http://h/")
    html = b"<img src=/gone><a href=/r><a href=/%62>"
    assert absolve.rewrite(html, url="http://h/", profile="whatwg", base="empty", policy=policy) == made


@pytest.mark.parametrize("given", [har()[:-3], b"WARC/1.0\r\nbroken"])
def test_what_cannot_be_read_is_a_diagnostic(given: bytes) -> None:
    plan = absolve.mirror_plan([Document(given, name="x.har") if given[:1] == b"{" else given])
    assert dict(plan) == {}
    assert plan.diagnostics


def test_a_broken_page_whose_url_is_known_is_held_and_another_is_a_diagnostic() -> None:
    plan = absolve.mirror_plan([Document(b"<a><b></a>", url="http://h/a", media_type="application/xml")])
    assert dict(plan) == {"http://h/a": "h/a.xml"}
    plan = absolve.mirror_plan([Document(b"<a><b></a>", media_type="application/xml")])
    assert dict(plan) == {}
    assert [one.code for one in plan.diagnostics] == ["not-well-formed"]
