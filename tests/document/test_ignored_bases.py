"""Base claims that do not count: `ignore_base`, and those that the profile leaves out (docs/decisions.md, B22)."""

import pytest

from absolve import UsageError, api
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import inners, walk
from absolve.urls import PROFILES
from absolve.urls.base import IGNORABLE

RETRIEVED = "http://r.example/d/p"
SAVED = "<!-- saved from url=(0019)http://saved.example/ --><a href=x>y</a>"
FEED = '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://xml.example/"><link href="x"/></feed>'
ITEM = "<rss><channel><item><link>http://item.example/</link><description>&lt;a href=x></description></item></channel></rss>"
RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{}: http://header.example/\r\n\r\n<a href=x>y</a>"
MAIL = "From: a@b\r\nContent-Type: text/html\r\nContent-Location: http://header.example/\r\n\r\n<a href=x>y</a>"

CASES = [
    ("text/html", "<base href=http://base.example/><a href=x>y</a>", None, set(), "base"),
    ("text/html", SAVED, None, {"saver"}, "saved"),
    ("text/xml", FEED, RETRIEVED, {"xml-base", "browser"}, "xml"),
    ("text/xml", ITEM, RETRIEVED, {"feed-link"}, "item"),
    ("message/http", RESPONSE.format("Base"), RETRIEVED, {"header", "browser"}, "header"),
    ("message/http", RESPONSE.format("Content-Base"), RETRIEVED, {"header", "content-base", "browser"}, "header"),
    ("message/rfc822", MAIL, RETRIEVED, {"header"}, "header"),
    ("text/html", "<object codebase=http://code.example/ data=x>", RETRIEVED, {"browser"}, "code"),
]


@pytest.mark.parametrize(("media_type", "text", "url", "by", "host"), CASES)
def test_a_claim_counts_unless_its_kind_is_ignored(media_type: str, text: str, url: str | None, by: set[str], host: str) -> None:
    for word in ("", *IGNORABLE, "browser"):
        options = {"profile": word} if word == "browser" else {"ignore_base": word}
        target = list(api.links(text, media_type=media_type, url=url, on_diagnostic=lambda _: None, **options))[-1].target  # type: ignore[arg-type]
        assert target == (f"http://{host}.example/x" if word not in by else "http://r.example/d/x" if url else None), word


def test_an_ignored_claim_stays_in_the_chain_and_an_unknown_kind_is_an_error_that_names_the_kinds() -> None:
    with pytest.raises(UsageError, match="saver, header, content-base, xml-base, feed-link, not 'codebase'"):
        api.links("<a>", ignore_base="saver,codebase")
    entity = walk(Document(SAVED, media_type="text/html"), Settings(ignore_base="saver"))
    assert [(fate.url, fate.verdict) for fate in entity.bases.base.chain] == [("http://saved.example/", "switched-off")]
    message = walk(Document(MAIL, media_type="message/rfc822"), Settings(ignore_base=" header , saver "))
    (inner,) = inners(message)
    assert [fate.verdict for fate in inner.entity.bases.base.chain] == ["switched-off"]


def test_the_content_of_noscript_is_text_for_a_browser_with_scripts() -> None:
    page = "<noscript><base href=http://b.example/><img src=a><style>@import 'b'</style></noscript><a href=c>x</a>"
    assert [row.target for row in api.links(page, url=RETRIEVED, profile="browser")] == ["http://r.example/d/c"]
    assert [row.reference for row in api.links(page, url=RETRIEVED, profile="whatwg")] == ["http://b.example/", "a", "b", "c"]
    done = api.rewrite(page.encode(), url=RETRIEVED, profile="browser")
    assert done == page.replace("href=c", "href=http://r.example/d/c").encode()
    assert api.verify(page.encode(), done, url=RETRIEVED, profile="browser") == []
    assert list(api.links("<a href=c>x</a>" + page.replace("</noscript>", ""), url=RETRIEVED, profile="browser"))[1:] == []


def test_the_profile_of_browsers_resolves_as_whatwg() -> None:
    ours, theirs = PROFILES["browser"], PROFILES["whatwg"]
    assert ours._replace(summary="", ignored=frozenset(), scripting=False) == theirs._replace(summary="")
