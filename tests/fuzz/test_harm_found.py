"""Documents whose rewrite was once harmful, or raised another exception than AbsolveError, by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from fuzz_harm import compare
from harm_judge import RUNS, Judge
from harm_others import Made

import absolve
from absolve.rewriting.remap import Remapping

if TYPE_CHECKING:
    from absolve.rewriting.policy import Policy

HTML: Final = "text/html"
GROUP: Final = Remapping([("(?s)[a-z]+://[^/]*/(.*)", r"\1", "regex")])
FEED: Final = b"<?xml version='1.0' encoding='euc-jp'?><rss><channel><item><description><![CDATA[%b]]></description></item></channel></rss>"
MAP: Final = b'<script type=importmap>{"imports":{"a":"./"}}</script>'
QUOTED: Final = b"Content-Type: text/html; charset=utf-16%b\nContent-Transfer-Encoding: quoted-printable\n\n%b"


def harmless(data: bytes, kind: str, charset: str = "utf-8", policy: Policy | None = None, **options: Any) -> None:
    """Rewrite the document, which must not be refused, and check it for harm."""
    given = charset if kind in {HTML, "text/css"} else None
    after = absolve.rewrite(data, media_type=kind, charset=given, policy=policy, **options)
    allowed = (
        RUNS if policy is not None and not isinstance(getattr(policy, "__self__", None), Remapping) else frozenset()
    )
    conditional = bool(options.get("conditional_comments"))
    for thorough in (False, True):
        judge = Judge(allowed=allowed, conditional=conditional, thorough=thorough)
        compare(judge, Made(data, kind), after, charset)


def returns(text: str) -> Policy:
    return lambda _resolved: text


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"<base href=vbscript:/><a href>", {"profile": "whatwg"}),
        (b"<base href=&#1javascript:/ style=url(&>", {"profile": "whatwg"}),
        (b"<base href=java&#xAscript:/><applet archive=b>", {"profile": "whatwg"}),
        (b"<a href=x>", {"profile": "whatwg", "url": "vbscript:/"}),
        (b'<a href="../JaVaScRiPt:x">', {"url": "http://good.example/dir/", "policy": GROUP.policy}),
    ],
)
def test_no_link_gets_a_scheme_that_runs_code(data: bytes, options: dict[str, Any]) -> None:
    try:
        harmless(data, HTML, **options)
    except absolve.UsageError:
        assert options["url"] == "vbscript:/"


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b'<iframe srcdoc="<noscript><img src=&lt/noscript&amp;gt/.>">', {"url": "p:/", "profile": "rfc3986"}),
        (b"<base href='p:&#x3C/noscript>'><noscript><a href></noscript>", {}),
        (b"<noscript><link href=x></noscript>", {"policy": returns("</noscript></script>")}),
        (b"<base href=e:/]]&gt/><svg><style><![CDATA[@import'c']]></style></svg>", {}),
        (b'<svg><style><![CDATA[@import "]]\\3e \\3csvg/onload=alert(1)\\3e/a/../b"]]></style></svg>', {"url": "p:/"}),
        (b"<!--[if IE]><video poster><![endif]-->", {"policy": returns("./`=<![endif]-->|"), "conditional_comments": True}),
        (b'<!--[if IE]><script type=importmap>{"scopes":{"./g":{}}}</script><![endif]-->', {"url": "e:/-->/", "conditional_comments": True}),
        (b'<script type=importmap>{"imports":{"a":"./\\u003c/a/../script><svg/onload=alert`1`>"}}</script>', {"url": "http://h/d/"}),
    ],
)  # fmt: skip
def test_no_text_that_ends_its_context_is_written(data: bytes, options: dict[str, Any]) -> None:
    harmless(data, HTML, **options)


@pytest.mark.parametrize(
    "data",
    [
        b"<noscript><applet e='</noscript>'codebase=&>",
        b"<noscript><style>''\"</noscript>\"image-set('s",
        b"<noscript><style>'</noscript><a'src(\">",
        b"<noscript><!-- </noscript><script>var a='--><a href=\"x\">'</script>",
    ],
)
def test_a_link_that_is_none_with_scripting_stays_or_the_page_is_refused(data: bytes) -> None:
    try:
        harmless(data, HTML, url="http://h/'+alert(1)+'/")
    except absolve.DocumentError as error:
        assert "unverified" in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize(
    ("data", "charset", "options"),
    [
        (b'<base href=p:/><iframe srcdoc="<a ping=&amp#27$B/.>">', "iso-2022-jp", {}),
        (b"<button formaction>", "iso-2022-jp", {"policy": returns("?<-\x1b$@")}),
        (b"<base href=s:/\x1b(J><style>\\", "iso-2022-jp", {"base": "empty"}),
        (b"<style>url(", "gbk", {"policy": returns('./=\udc83\\"')}),
        (b"<style>url()", "shift_jis", {"policy": returns("x\udc83\\")}),
        # a line end does not reset the state (Encoding Standard 12.2.1)
        (b"<!\x1b$@\r><i data-src=/>", "iso-2022-jp", {"url": "p:/", "lazy": True}),
        (b'<!--\x1b(I\n--><style>src("-', "iso-2022-jp", {"url": "p:/"}),
        (b"<base href=\x1b$B2f\n>", "iso-2022-jp", {"policy": returns("\xa0")}),
        (b"<a href='\x1b$B!!\n/a/../b'><svg/onload=alert`1`>", "iso-2022-jp", {"url": "http://h/d/"}),
        # the yen sign is a backslash in EUC-JP, and the overline a tilde
        (b'<style>a{b:url("c")}</style>', "euc-jp", {"url": 'http://h/\xa5"<x/'}),
        (b"<style>a{b:url(c)}</style>", "euc-jp", {"policy": returns("http://h/\xa5")}),
        (MAP, "euc-jp", {"url": "x:/\xa5/"}),
        (MAP, "euc-jp", {"policy": returns("./\xa5u003c\u203e")}),
    ],
)  # fmt: skip
def test_written_text_is_decoded_to_itself_in_its_charset(
    data: bytes, charset: str, options: dict[str, Any]
) -> None:
    harmless(data, HTML, charset, **options)


def test_a_yen_sign_in_a_feed_is_not_written_as_a_backslash() -> None:
    harmless(FEED % MAP, "application/xml", "euc-jp", url="x:/\xa5\udc83/")


@pytest.mark.parametrize("name", [b"Base", b"Location", b"Content-Base"])
def test_no_value_is_written_after_a_lone_carriage_return(name: bytes) -> None:
    harmless(b"HTTP/1.1 302 Found\n%b:\r" % name, "message/http", policy=returns("Set-Cookie: x"))
    harmless(b"HTTP/1.1 302 Found\r\n%b: x\ry\r\n\r\n" % name, "message/http", policy=returns("Set-Cookie: x"))


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        (b"be", b"=00<=00s=\n=00t=00y=00l=00e=00>=00:=00s=00r=00c=00(=00'0"),
        (b"", b'<=00s=00t=00y=00l=00e=00>=00@=00i=00m=00p=00o=00r=00t=00"=000'),
    ],
)
@pytest.mark.parametrize("text", ["x", ""])
def test_half_a_code_unit_at_the_end_is_no_error(charset: bytes, body: bytes, text: str) -> None:
    absolve.rewrite(QUOTED % (charset, body), media_type="message/rfc822", policy=returns(text))


def test_a_url_with_a_lone_surrogate_has_rows() -> None:
    assert [row.reference for row in absolve.links(b'<a href="x">', media_type=HTML, url="http://h/\ud800/")] == ["x"]
