"""`absolve.verify` checks pages as browsers read them with and without scripting."""

import re
from pathlib import Path
from typing import Any

import pytest

import absolve
from absolve.verifying import markup
from absolve.verifying.readers import Html

URL = "http://h/d/"


def found(before: str, after: str, **options: Any) -> list[str]:
    options.setdefault("media_type", "text/html")
    return [f"{diagnostic.code}: {diagnostic.text}" for diagnostic in absolve.verify(before, after, url=URL, **options)]


HONEST = [
    "<noscript><img src=a><p style=background:url(b)><style>@import 'c'</style></noscript><a href=d>",
    "<head><noscript><link rel=stylesheet href=a><style>@import 'b'</style></noscript><title>t</title></head><a href=c>",
    "<noscript><base href=/b/></noscript><a href=x><base href=/c/><a href=y>",
    "<iframe srcdoc='<noscript><a href=x></noscript><a href=y>'></iframe><noscript><iframe srcdoc='<a href=z>'></noscript>",
    "<noscript>&lt;p title=&quot;a&quot;&gt;</noscript><a href='x&lt;y'>",
    "<NoScript><a href=x>never closed",
    "<p title='<noscript>'><a href=x>",
]  # fmt: skip


@pytest.mark.parametrize("page", HONEST)
def test_verify_accepts_a_correct_rewrite_with_scripting(page: str) -> None:
    after = absolve.rewrite(page, media_type="text/html", url=URL)
    assert after != page
    assert found(page, after) == []


NOSCRIPT = "<noscript><img src='&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png'></noscript>"
BROKEN = "<noscript><img src='http://h/d/</noscript><svg/onload=alert`1`>/b.png'></noscript>"


def in_srcdoc(page: str) -> str:
    return f'<iframe srcdoc="{page.replace("&", "&amp;").replace("<no", "<n&#111;")}"></iframe>'


def in_a_feed(page: str) -> str:
    text = page.replace("&", "&amp;").replace("<", "&lt;")
    return f"<rss><channel><item><description>{text}</description></item></channel></rss>"


@pytest.mark.parametrize("around", [str, in_srcdoc, in_a_feed], ids=["page", "srcdoc", "feed"])
def test_verify_finds_a_value_that_ends_a_noscript_element(around: Any) -> None:
    kind = "application/xml" if around is in_a_feed else "text/html"
    texts = found(around(NOSCRIPT), around(BROKEN), media_type=kind, profile="rfc3986")
    assert texts
    assert all(text.startswith("tree: html5lib, scripting on: ") for text in texts)


def test_verify_finds_a_link_that_is_script_text_with_scripting() -> None:
    page = "<noscript><p title='</noscript><script>var a = \"'><a href=x>\"</script>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if "the text in <script>" in text]


def test_verify_finds_a_changed_reference_that_exists_only_with_scripting() -> None:
    page = "<noscript><p title='</noscript><a href=\"'><a href=x>\"</a>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if text.startswith("target: html5lib, scripting on: ")]


@pytest.mark.parametrize(("page", "modes"), [
    ("<p class=noscript><a href=x>", [False, False]),
    ("<noscript><a href=x></noscript>", [False, False, True, True]),
    ("<iframe srcdoc='&lt;noscript><a href=x>'>", [False, False, False, False, True, True]),
])
def test_a_page_is_parsed_with_scripting_only_if_it_has_noscript(
    monkeypatch: pytest.MonkeyPatch, page: str, modes: list[bool]
) -> None:
    met: list[bool] = []

    def read(*given: Any, scripting: bool = False) -> Html:
        met.append(scripting)
        return Html(*given, scripting=scripting)

    monkeypatch.setattr(markup, "Html", read)
    assert found(page, absolve.rewrite(page, media_type="text/html", url=URL)) == []
    assert met == modes


def test_verify_accepts_rewrites_of_real_pages_with_noscript(shared: Path) -> None:
    pages = [path for path in sorted((shared / "pages").rglob("*.html")) if path.stat().st_size < 100_000]
    judged = 0
    for data in (path.read_bytes() for path in pages[::7]):
        if re.search(rb"<noscript", data, re.IGNORECASE) and judged < 20:
            judged += 1
            after = absolve.rewrite(data, media_type="text/html", url="http://never.example/d/")
            assert absolve.verify(data, after, media_type="text/html", url="http://never.example/d/") == []
    assert judged > 10
