"""Rewriting: which links stay, which bytes are written, and that a second rewrite changes nothing."""

from typing import Any

import pytest

from absolve.api import links, rewrite
from absolve.encodings.charsets import lookup

URL = "http://doc.example/dir/page.html"
DIR = "http://doc.example/dir/"


def rewritten(page: str | bytes, url: str | None = URL, **options: Any) -> str | bytes:
    """Return the rewritten page; assert that a second rewrite changes nothing."""
    options.setdefault("media_type", "text/html")
    done = rewrite(page, url=url, **options)
    if options.get("base") != "empty":
        assert rewrite(done, url=url, **options) == done
    return done


# --- unchanged documents ----------------------------------------------------------------------------------------------

STAYS = [
    "",
    "text",
    "<a name=x>",
    "<a href=http://h/x>",
    "<a href='HTTP://H/a b/../c'>",
    "<a href=http:x>",  # absolute by RFC 1808 section 4, step 2b
    "<a href=#t>",
    "<a href='#'>",
    "<a href='{{ x }}'>", "<a href=/x/<?= $x ?>>", '<a href="/x/{{ url("y") }}">', "<img srcset='{{ x, 1 }} 1x'>",
    "<base href='{{ x }}/'><a href=y><a href=#t>",
    "<a href=''>",
    "<a href>",
    "<area href=''>",
    "<img src=''><script src></script><iframe src=' '></iframe>",
    "<img srcset=''><img srcset=' , '><a ping=' '>",
    "<form action=''><button formaction><input formaction=''>",
    "<q cite=''><body background=''><link href=''>",
    "<object codebase='' data=''>",
    "<base href=''>",
    "<base>",
    *(
        f"<a href='{scheme}:x@y'>"
        for scheme in "mailto news telnet tel sms javascript data blob about cid mid MailTo JAVASCRIPT view-source app urn".split()
    ),
    "<img srcset='data:image/gif;base64,R0lGODlhAQABAAAAACw= 1x'>",
    "<a href='http://[x'><a href='//[x/'><a href='http://h:port/'>",
    "<img usemap=#m><object usemap='x.html#m'>",
    "<div itemscope itemtype='x y'>",
    "<meta itemprop=url content=x>",
    "<svg><use href='#g'/><use xlink:href='#g'/><rect fill='url(#g)' style='mask:url(#g)'/></svg>",
    "<style>a{fill:url(#g);filter:url('#f')}</style>",
    "<script>location='x'</script><script type=text/x>{'urls':['x']}</script>",
    "<script type=application/ld+json>{'url':'x'}</script>",
    "<!--[if IE]><a href=x><![endif]-->",
    "<param name=flashvars value=x.swf>",
    "<meta http-equiv=refresh content=5><meta http-equiv=refresh content='0; url='><meta name=refresh content='0;url=x'>",
    "<script type=importmap>{'imports': {'a': './a'}}</script>",  # invalid JSON
]


@pytest.mark.parametrize("page", STAYS)
def test_references_that_must_stay_are_unchanged(page: str) -> None:
    assert rewritten(page) is page


@pytest.mark.parametrize("page", ["<a href=x>", "<a href=/x>", "<a href=//h/x>", "<a href=?x>", "<a href=#x>", "<base href=b/><a href=x>"])
@pytest.mark.parametrize("url", [None, "about:blank", "mailto:a@b", "data:,x"])
def test_without_a_usable_base_every_relative_reference_stays(page: str, url: str | None) -> None:
    assert rewritten(page, url) is page


FRAGMENT = "<svg><use href='#g'/><rect fill='url(#g)'/></svg><style>a{b:url(#g)}</style><img usemap=#m>"


@pytest.mark.parametrize(
    ("page", "options"),
    [(FRAGMENT, {}), (FRAGMENT, {"fragments": "absolute"}), (f"<base href=http://b.example/>{FRAGMENT}", {})],
)
def test_a_reference_to_an_element_of_the_same_document_always_stays(page: str, options: dict[str, str]) -> None:
    assert rewritten(page, **options) is page


# --- fragments and bases ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "done", "options"), [
    ("<a href=#t>", f"<a href={URL}#t>", {"fragments": "absolute"}),
    ("<a href=page.html#t>", f"<a href={URL}#t>", {}),
    ("<base href=/b/><a href=#t>", "<base href=http://doc.example/b/><a href=http://doc.example/b/#t>", {}),
    (f"<base href={URL}><a href=#t>", f"<base href={URL}><a href=#t>", {}),
    (f"<base href={URL}#f><a href=#t>", f"<base href={URL}#f><a href=#t>", {}),
    ("<base href=page.html><a href=#t>", f"<base href={URL}><a href=#t>", {}),
    ("<base href=''><a href=#t><a href=x>", f"<base href=''><a href=#t><a href={DIR}x>", {}),
    ("<iframe srcdoc='<a href=#t>'>", "<iframe srcdoc='<a href=#t>'>", {}),
    ("<base href=http://b.example/><iframe srcdoc='<a href=#t>'>", "<base href=http://b.example/><iframe srcdoc='<a href=#t>'>", {}),
    # the empty reference: the base, the own URL, or ignored
    ("<base href=/b/><a href='' ping=''>", "<base href=http://doc.example/b/><a href='http://doc.example/b/' ping=''>", {}),
    ("<base href=/b/><a href>", '<base href=http://doc.example/b/><a href="http://doc.example/b/">', {}),
    ("<base href=/b/><form action=''>", f"<base href=http://doc.example/b/><form action='{URL}'>", {}),
    ("<base href=/b/><img src=''>", "<base href=http://doc.example/b/><img src=''>", {}),
    ("<base href=/b/><html manifest=m>", f"<base href=http://doc.example/b/><html manifest={DIR}m>", {}),
])
def test_same_document_references_stay_unless_the_base_is_another_document(page: str, done: str, options: dict[str, str]) -> None:
    assert rewritten(page, **options) == done


@pytest.mark.parametrize(("page", "done"), [
    ("<a href=x>", f"<a href={DIR}x>"),
    ("<base target=t>", "<base target=t>"),
    ("<base href='/b/' target=t><a href=x>", "<base href='' target=t><a href=http://doc.example/b/x>"),
    ("<base href=/b/>", '<base href="">'),
    ("<base href=/b/><a href=#t>", '<base href=""><a href=http://doc.example/b/#t>'),
    (f"<base href='{URL}'><a href=#t>", "<base href=''><a href=#t>"),
    ("<base href='/b/'><base href='/c/'>", "<base href=''><base href='http://doc.example/c/'>"),
    ("<base href='javascript:1'><a href=x>", f"<base href='javascript:1'><a href={DIR}x>"),
    ("<template><base href='/b/'></template>", "<template><base href='http://doc.example/b/'></template>"),
    ("<base href=''>", "<base href=''>"),
    (
        "<base href='/b/'><iframe srcdoc='<base href=c/><a href=x>'>",
        "<base href=''><iframe srcdoc='<base href=\"\"><a href=http://doc.example/b/c/x>'>",
    ),
    ("<object codebase='/o/' data=x>", "<object codebase='http://doc.example/o/' data=http://doc.example/o/x>"),
])
def test_base_empty_empties_the_applied_base_element(page: str, done: str) -> None:
    assert rewritten(page, base="empty") == done


@pytest.mark.parametrize(("page", "done"), [
    ("<base href=b/><a href=x>", f"<base href={DIR}b/><a href={DIR}b/x>"),
    ("<a href=x><base href=/b/>", "<a href=http://doc.example/b/x><base href=http://doc.example/b/>"),
    ("<base href=/b/><base href=c/>", f"<base href=http://doc.example/b/><base href={DIR}c/>"),
    ("<base href=javascript:1><base href=/c/><a href=x>", f"<base href=javascript:1><base href=http://doc.example/c/><a href={DIR}x>"),
    ("<object codebase=cb/ data=d>", f"<object codebase={DIR}cb/ data={DIR}cb/d>"),
    ("<object data=d codebase=cb/>", f"<object data={DIR}cb/d codebase={DIR}cb/>"),
    ("<object codebase=javascript:1 data=d>", f"<object codebase=javascript:1 data={DIR}d>"),
    ("<applet code=c archive='a,b' codebase=/q/>", "<applet code=http://doc.example/q/c archive='http://doc.example/q/a,http://doc.example/q/b' codebase=http://doc.example/q/>"),
    ("<p><object codebase=/q/></object><object data=d>", f"<p><object codebase=http://doc.example/q/></object><object data={DIR}d>"),
])
def test_a_base_is_made_absolute_like_any_other_link(page: str, done: str) -> None:
    assert rewritten(page) == done


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "done"), [
    # the old bytes stay after the inserted prefix
    ('<a href="?a=1&amp;b&copy=2%20\xe9">', f'<a href="{URL}?a=1&amp;b&copy=2%20\xe9">'),
    ("<a href='\n x\t'>", f"<a href='\n {DIR}x\t'>"),
    ("<a href='&#32;x&#10;'>", f"<a href='&#32;{DIR}x&#10;'>"),
    ("<a href=x?y=z&#32;>", f'<a href="{DIR}x?y=z&#32;">'),
    ("<a href='&#x2F;x'>", "<a href='http://doc.example&#x2F;x'>"),
    ("<a href='../x&amp;y'>", "<a href='http://doc.example/x&amp;y'>"),
    ("<a href='./&eacute;x'>", f"<a href='{DIR}&eacute;x'>"),
    ("<A HREF = x >", f"<A HREF = {DIR}x >"),
    ("<a href=x href=y>", f"<a href={DIR}x href=y>"),
    ("<a/href='x'/>", f"<a/href='{DIR}x'/>"),
    # values without quotes
    ("<a href=x/>", f"<a href={DIR}x/>"),
    ("<a href=?a=b>", f'<a href="{URL}?a=b">'),
    ("<a href=a'b>", f'<a href="{DIR}a\'b">'),
    ('<a href=a"b>', f'<a href="{DIR}a&quot;b">'),
    ("<img srcset=a,b>", f"<img srcset={DIR}a,b>"),
    ("<meta http-equiv=refresh content=0;url=x>", f'<meta http-equiv=refresh content="0;url={DIR}x">'),
    ("<p style=a:url(x),url(y)>", f"<p style=a:url({DIR}x),url({DIR}y)>"),
    ("<iframe srcdoc=<a/href=x&gt;>", f'<iframe srcdoc="<a/href={DIR}x&gt;">'),
    # lists
    ("<img srcset=' a 1x ,b 2x, '>", f"<img srcset=' {DIR}a 1x ,{DIR}b 2x, '>"),
    ("<a ping='a\nb'>", f"<a ping='{DIR}a\n{DIR}b'>"),
    ("<meta http-equiv=refresh content='0; URL=&quot;x&quot; y'>", f"<meta http-equiv=refresh content='0; URL=&quot;{DIR}x&quot; y'>"),
    ("<meta http-equiv=refresh content='0;url=&#39x&#39'>", f"<meta http-equiv=refresh content='0;url=&#39{DIR}x&#39'>"),
    # a reference without its semicolon would include inserted text
    ("<meta http-equiv=refresh content='0;url=&quot/x&quot'>", "<meta http-equiv=refresh content='0;url=&quot;http://doc.example/x&quot'>"),
    ("<p style='a:url(&quot/x&quot)'>", "<p style='a:url(&quot;http://doc.example/x&quot)'>"),
    ("<iframe srcdoc='<a href=&quot/x&quot>'>", "<iframe srcdoc='<a href=&quot;http://doc.example/x&quot>'>"),
    # nested documents
    (
        "<iframe srcdoc='<iframe srcdoc=&quot;<p style=a:url(&amp;apos;x&amp;apos;)>&quot;>'>",
        f"<iframe srcdoc='<iframe srcdoc=&quot;<p style=&amp;quot;a:url(&amp;apos;{DIR}x&amp;apos;)&amp;quot;>&quot;>'>",  # only quotes are added
    ),
    ('<script type=importmap>{"imports": {"a": "./x"}}</script>', f'<script type=importmap>{{"imports": {{"a": "{DIR}x"}}}}</script>'),
    ('<script type=speculationrules>{"prefetch":[{"urls":["x"]}]}</script>', f'<script type=speculationrules>{{"prefetch":[{{"urls":["{DIR}x"]}}]}}</script>'),
    ("<svg><style>a{b:url(x?&amp;y)}</style><style><![CDATA[a{b:url(x?&amp;y)}]]></style></svg>", f"<svg><style>a{{b:url({DIR}x?&amp;y)}}</style><style><![CDATA[a{{b:url({DIR}x?&amp;y)}}]]></style></svg>"),
])
def test_only_the_prefix_before_the_reference_is_inserted(page: str, done: str) -> None:
    assert rewritten(page) == done


@pytest.mark.parametrize(("url", "page", "done"), [
    ("http://h/it's/p", "<a href=\"x\"><a href='x'><a href=x>", "<a href=\"http://h/it's/x\"><a href='http://h/it&#39;s/x'><a href=\"http://h/it's/x\">"),
    ("http://h/?a&amp;b", "<a href='#x'>", "<a href='http://h/?a&amp;amp;b#x'>"),
    ("http://h/?a&b", "<a href='#x'>", "<a href='http://h/?a&b#x'>"),
    ("http://h/?a&lt", "<a href='?;x'><a href='#x'>", "<a href='http://h/?;x'><a href='http://h/?a&amp;lt#x'>"),
    ("http://h/a b/", "<a href=x><img srcset='x 2x'><a ping=x>", '<a href="http://h/a b/x"><img srcset=\'http://h/a%20b/x 2x\'><a ping=http://h/a%20b/x>'),
    ("http://h/a,b/", "<img srcset='x 2x'><applet archive='x,y'>", "<img srcset='http://h/a,b/x 2x'><applet archive='http://h/a%2Cb/x,http://h/a%2Cb/y'>"),
    ("http://h/(a)/", "<p style='a:url(x),url(\"x\")'>", "<p style='a:url(http://h/\\(a\\)/x),url(\"http://h/(a)/x\")'>"),
    ("http://h/it's/", "<p style='a:url(\"x\")'>", "<p style='a:url(\"http://h/it&#39;s/x\")'>"),
    ('http://h/"/', '<style>a{b:url("x")}</style>', '<style>a{b:url("http://h/\\"/x")}</style>'),
    ("http://h/it's/", "<meta http-equiv=refresh content=\"0;url='x'\"><meta http-equiv=refresh content='0;url=\"x\"'>", "<meta http-equiv=refresh content=\"0;url='http://h/it%27s/x'\"><meta http-equiv=refresh content='0;url=\"http://h/it&#39;s/x\"'>"),
    ("http://h/it's/", "<meta http-equiv=refresh content='0;url=&#39;x&#39;'>", "<meta http-equiv=refresh content='0;url=&#39;http://h/it%27s/x&#39;'>"),
    ("http://h/</style>/", '<style>a{b:url("x")}</style>', '<style>a{b:url("http://h/\\3c/style\\3e/x")}</style>'),
    ("http://h/</script>/", '<script type=importmap>{"imports":{"a":"./x"}}</script>', '<script type=importmap>{"imports":{"a":"http://h/\\u003c/script\\u003e/x"}}</script>'),
])
def test_inserted_text_is_escaped_for_its_coding(url: str, page: str, done: str) -> None:
    assert rewritten(page, url, fragments="absolute") == done


@pytest.mark.parametrize(("charset", "url", "done"), [
    ("windows-1251", "http://h/п/", "<a href=http://h/п/x><p style='a:url(http://h/п/x)'><style>a{b:url(http://h/п/x)}</style>".encode("cp1251")),
    ("windows-1251", "http://h/é/", b"<a href=http://h/&#233;/x><p style='a:url(http://h/&#233;/x)'><style>a{b:url(http://h/%C3%A9/x)}</style>"),
    ("shift_jis", "http://h/ソ/", "<a href=http://h/ソ/x><p style='a:url(http://h/ソ/x)'><style>a{b:url(http://h/ソ/x)}</style>".encode("cp932")),
    ("iso-2022-jp", "http://h/é/", b"<a href=http://h/&#233;/x><p style='a:url(http://h/&#233;/x)'><style>a{b:url(http://h/%C3%A9/x)}</style>"),
    ("utf-16le", "http://h/é/", "<a href=http://h/é/x><p style='a:url(http://h/é/x)'><style>a{b:url(http://h/é/x)}</style>".encode("utf-16-le")),
])
def test_characters_missing_in_the_charset_are_references_in_html_and_percent_escaped_in_css(charset: str, url: str, done: bytes) -> None:
    codec = {"windows-1251": "cp1251", "utf-16le": "utf-16-le"}.get(charset, "ascii")
    page = "<a href=x><p style='a:url(x)'><style>a{b:url(x)}</style>".encode(codec)
    assert rewritten(page, url, charset=charset) == done


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
def test_absolute_references_keep_their_bytes_in_every_profile(profile: str) -> None:
    page = "<a href='HTTP://H/../a b'><a href='ftp://h'><a href='x-y:a/../b'>"
    assert rewritten(page, profile=profile) is page


def test_in_the_whatwg_profile_a_special_scheme_without_slashes_may_be_relative() -> None:
    page = "<a href='http:x'><a href='https:x'><a href='ht\ntp:x'>"
    assert rewritten(page, profile="whatwg") == f"<a href='{DIR}x'><a href='https:x'><a href='{DIR}x'>"


@pytest.mark.parametrize("scheme", ["ftp", "wss", "file", "http"])
def test_in_the_whatwg_profile_a_special_scheme_of_the_base_may_be_relative(scheme: str) -> None:
    page = f"<a href='{scheme}:x'>"
    assert rewritten(page, url=f"{scheme}://h/a/b", profile="whatwg") == f"<a href='{scheme}://h/a/x'>"


@pytest.mark.parametrize(("base", "reference", "target"), [
    ("https://b.example/x/y", "http:x", "http://x/"),
    ("https://b.example/x/y", "HTTP:/x", "http://x/"),
    ("https://b.example/x/y", "https:x", "https://b.example/x/x"),
    ("ftp://b.example/", "http://i.example/", "http://i.example/"),
    ("https://b.example/x/y", "ftp:x", "ftp:x"),
])
def test_links_keep_their_targets_when_the_base_is_emptied_in_the_whatwg_profile(base: str, reference: str, target: str) -> None:
    done = rewritten(f"<base href='{base}'><a href='{reference}'>", profile="whatwg", base="empty")
    assert done == f"<base href=''><a href='{target}'>"
    assert rewritten(done, profile="whatwg", base="empty") is done


def test_the_whatwg_profile_encodes_queries_in_the_documents_charset() -> None:
    page = "<a href='?п'>".encode("cp1251")
    assert rewritten(page, charset="windows-1251", profile="whatwg") == f"<a href='{URL}?%EF'>".encode()
    page = "<a href='?あ'>".encode("iso2022_jp")
    assert rewritten(page, charset="iso-2022-jp", profile="whatwg") == f"<a href='{URL}?%1B$B$%22%1B(B'>".encode()


def test_the_whatwg_profile_encodes_queries_of_css_in_utf_8_whatever_the_documents_charset() -> None:
    page = "<a href='?é'><p style='a:url(?é)'><style>a{b:url(?é)}</style><a href='?é'>".encode("cp1252")
    done = "<a href='{0}?%E9'><p style='a:url({0}?%C3%A9)'><style>a{{b:url({0}?%C3%A9)}}</style><a href='{0}?%E9'>"
    assert rewritten(page, charset="windows-1252", profile="whatwg") == done.format(URL).encode()


@pytest.mark.parametrize(("media_type", "unit"), [
    ("text/html", '<object codebase="%s" data="%s"></object><a href="%s">'),
    ("application/xml", '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="%s"><link href="%s"/></feed><a xmlns="http://www.w3.org/1999/xhtml" href="%s"/>'),
])
def test_links_of_one_site_use_the_base_of_their_own_element(media_type: str, unit: str) -> None:
    parts = [unit % (f"{name}/", "x", "x") for name in "abca"]
    done = [unit % (f"{DIR}{name}/", f"{DIR}{name}/x", f"{DIR}x") for name in "abca"]
    around = ("<x>", "</x>") if media_type != "text/html" else ("", "")
    assert rewritten("".join(parts).join(around), media_type=media_type) == "".join(done).join(around)


def test_the_base_of_an_inner_document_does_not_affect_the_outer_one() -> None:
    page = "<a href={0}x></a><iframe srcdoc='{2}<a href={1}x></a>'></iframe><a href={0}x></a>"
    base = "<base href=http://other.example/>"
    assert rewritten(page.format("", "", base)) == page.format(DIR, "http://other.example/", base)


# --- policies ---------------------------------------------------------------------------------------------------------

PLACES = (
    "<a href=\"x\"><a href='x'><a href=x><a href><a href=''><a href= >"
    "<img srcset='x 1x, x 2x'><img srcset=x,><a ping='x x'>"
    "<meta http-equiv=refresh content=\"0;url='x'\"><meta http-equiv=refresh content='0;url=\"x\"'>"
    "<meta http-equiv=refresh content='0;url=x'><meta http-equiv=refresh content=0;url=x>"
    "<p style=\"a:url(x),url('x')\"><p style='a:url(x),url(\"x\")'><p style=a:url(x)><style>a{b:url(x) url('x')}</style>"
    "<iframe srcdoc=\"<a href=x><iframe srcdoc='<p style=a:url(x)><a href=&quot;x&quot;>'>\">"
    "<svg><style>a{b:url(x)}</style><rect fill='url(x)'/></svg>"
    '<script type=importmap>{"imports":{"a":"./x"}}</script>'
)
URLS = ["y", "http://h/y", 'a"b', "a'b", "a&b", "a&copy;", "a&copy=", "<a>", "</style>", "a b", "a\nb", "a\rb", "é", "日", "a`b", "a=b", "a\\b", "a)b", "(a", ",a,", "a;b", " y ", "\t", "\ud800", "\udc80"]
CHARSETS = {"utf-8": "", "windows-1251": "windows-1251", "shift_jis": "shift_jis", "iso-2022-jp": "iso-2022-jp", "utf-16le": "utf-16le"}


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("new", URLS, ids=ascii)
def test_a_url_of_a_policy_is_read_back_from_every_link_site(charset: str, new: str) -> None:
    codec = lookup(charset)
    assert codec is not None
    page = codec.encode(PLACES, "strict")
    options: dict[str, Any] = {"charset": charset, "media_type": "text/html"}
    before = list(links(page, **options))
    done = rewrite(page, policy=lambda _: new, **options)
    assert rewrite(done, policy=lambda _: new, **options) == done
    after = list(links(done, **options))
    if new.strip():
        assert [row.element for row in after] == [row.element for row in before]
    if not new.isascii() or "\udc80" in new or not new.strip():
        return
    for row in after:
        escaped = row.attribute in {"srcset", "ping", "content"}
        assert row.reference == new.strip() or (escaped and "%" in row.reference)


@pytest.mark.parametrize("page", [PLACES, PLACES.encode(), PLACES.encode("utf-16")])
def test_a_policy_that_returns_the_same_reference_changes_nothing(page: str | bytes) -> None:
    assert rewrite(page, policy=lambda resolved: resolved.reference) is page


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize(("page", "done"), [
    ("<a href='/p/{{ a b }}?x=<?= $y ?>'>", "<a href='http://doc.example/p/{{ a b }}?x=<?= $y ?>'>"),
    ("<a href='../<% x %>.html'>", "<a href='http://doc.example/<% x %>.html'>"),
    ("<img srcset='{{ a | f: 1, 2 }} 1x, s/{{ c, d }},e.png 2x'>", f"<img srcset='{{{{ a | f: 1, 2 }}}} 1x, {DIR}s/{{{{ c, d }}}},e.png 2x'>"),
    ("<p style=\"a:url('../{{ x }} y')\">", "<p style=\"a:url('http://doc.example/{{ x }} y')\">"),
    ("<meta http-equiv=refresh content='0; url=/{{ x }}'>", "<meta http-equiv=refresh content='0; url=http://doc.example/{{ x }}'>"),
])  # fmt: skip
def test_a_placeholder_inside_a_reference_keeps_its_bytes(page: str, done: str, profile: str) -> None:
    assert rewritten(page, profile=profile) == done


def test_a_target_that_would_be_a_prefixed_name_is_not_written_into_rdfa() -> None:
    assert rewrite("<b resource=J about=K>", url="p:/") == "<b resource=J about=K>"


def test_the_empty_reference_is_not_written_into_a_list() -> None:
    page = "<a href=x ping='x y'><img srcset='x 2x' src=x><meta http-equiv=refresh content='0;url=x'>"
    assert rewrite(page, policy=lambda _: "") == (
        "<a href=\"\" ping='x y'><img srcset='x 2x' src=\"\"><meta http-equiv=refresh content='0;url=x'>"
    )


def test_the_bytes_of_an_unchanged_end_of_a_reference_stay() -> None:
    page = "<a href='x?a&amp;b&amp;c'>"
    assert rewrite(page, policy=lambda resolved: resolved.reference.replace("?a", "?z")) == "<a href='x?z&amp;b&amp;c'>"


@pytest.mark.parametrize(("base", "reference", "new"), [
    ("http://h/", "x", "http://h/x"),
    ("http://h/", "../x&amp;y", "http://h/../x&amp;y"),
    ("http://h/", "?x", "http://h/?x"),
    ("http://h/", "x/", "http://h/x/"),
    ("http://h/", "?x=1", '"http://h/?x=1"'),
    ("http://h/", "./?x=1", '"http://h/?x=1"'),
    ("http://h/x=1/", "y", '"http://h/x=1/y"'),
    ("http://h/x=1/", "/y", "http://h/y"),
    ("http://h/it's/", "y", "\"http://h/it's/y\""),
    ("http://h/", "x&#32;y", "http://h/x&#32;y"),
    ("http://h/", "x'", '"http://h/x\'"'),
])
def test_an_unquoted_value_gets_quotes_in_the_first_rewrite_if_ever(base: str, reference: str, new: str) -> None:
    assert rewritten(f"<a href={reference} title=y>" * 4, base) == f"<a href={new} title=y>" * 4
