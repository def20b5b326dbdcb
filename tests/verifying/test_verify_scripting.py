"""`absolve.verify` checks pages as browsers read them with and without scripting."""

import re
from pathlib import Path
from typing import Any

import pytest

import absolve

URL = "http://h/d/"


def found(before: str, after: str, **options: Any) -> list[str]:
    options.setdefault("media_type", "text/html")
    return [f"{diagnostic.code}: {diagnostic.text}" for diagnostic in absolve.verify(before, after, url=URL, **options)]


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


def test_verify_finds_a_link_that_is_script_text_and_a_changed_one_that_exists_only_with_scripting() -> None:
    page = "<noscript><p title='</noscript><script>var a = \"'><a href=x>\"</script>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if "the text in <script>" in text]
    page = "<noscript><p title='</noscript><a href=\"'><a href=x>\"</a>"
    texts = found(page, page.replace("x>", "http://h/d/x>"))
    assert [text for text in texts if text.startswith("target: html5lib, scripting on: ")]


def test_verify_accepts_rewrites_of_real_pages_with_noscript(shared: Path) -> None:
    pages = [path for path in sorted((shared / "pages").rglob("*.html")) if path.stat().st_size < 100_000]
    judged = 0
    for data in (path.read_bytes() for path in pages[::7]):
        if re.search(rb"<noscript", data, re.IGNORECASE) and judged < 20:
            judged += 1
            after = absolve.rewrite(data, media_type="text/html", url="http://never.example/d/")
            assert absolve.verify(data, after, media_type="text/html", url="http://never.example/d/") == []
    assert judged > 10
