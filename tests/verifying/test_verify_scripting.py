"""`absolve.verify` reads pages as browsers do that run scripts, and as those that do not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import absolve
from absolve.verifying import html_judge, html_parser

if TYPE_CHECKING:
    from pathlib import Path

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
def test_an_honest_rewrite_passes_with_scripting_on(page: str) -> None:
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
def test_a_value_that_ends_a_noscript_element_is_found(around: Any) -> None:
    kind = "application/xml" if around is in_a_feed else "text/html"
    texts = found(around(NOSCRIPT), around(BROKEN), media_type=kind, profile="rfc3986")
    assert texts
    assert all(text.startswith("tree: html5lib, scripting on: ") for text in texts)


def test_a_link_that_is_text_of_a_script_where_scripts_run_is_found() -> None:
    page = "<noscript><p title='</noscript><script>var a = \"'><a href=x>\"</script>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if "the text in <script>" in text]


def test_another_reference_in_a_place_that_only_a_browser_with_scripts_sees_is_found() -> None:
    page = "<noscript><p title='</noscript><a href=\"'><a href=x>\"</a>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if text.startswith("target: html5lib, scripting on: ")]


@pytest.mark.parametrize(
    ("page", "modes"),
    [
        ("<p class=noscript><a href=x>", [False, False]),
        ("<noscript><a href=x></noscript>", [False, False, True, True]),
        ("<iframe srcdoc='&lt;noscript><a href=x>'>", [False, False, False, False, True, True]),
    ],
)
def test_a_page_is_parsed_with_scripting_on_only_where_it_matters(
    monkeypatch: pytest.MonkeyPatch, page: str, modes: list[bool]
) -> None:
    met: list[bool] = []

    def parse(text: str, *, scripting: bool = False) -> Any:
        met.append(scripting)
        return html_parser.parse(text, scripting=scripting)

    monkeypatch.setattr(html_judge, "parse", parse)
    monkeypatch.setattr("absolve.verifying.html.parse", parse)
    assert found(page, absolve.rewrite(page, media_type="text/html", url=URL)) == []
    assert met == modes


def test_real_pages_with_noscript_pass(shared: Path) -> None:
    pages = [path for path in sorted((shared / "pages").rglob("*.html")) if path.stat().st_size < 100_000]
    judged = 0
    for data in (path.read_bytes() for path in pages[::7]):
        if re.search(rb"<noscript", data, re.IGNORECASE) and judged < 20:
            judged += 1
            after = absolve.rewrite(data, media_type="text/html", url="http://never.example/d/")
            assert absolve.verify(data, after, media_type="text/html", url="http://never.example/d/") == []
    assert judged > 10
