"""Presets and functions of rules: the URL inside another one, without what tracks readers; copies in an archive."""

import pytest

import absolve
from absolve.core.errors import UsageError
from absolve.rewriting import policy
from absolve.rewriting.cdx import Captures, is_index
from absolve.rewriting.remap import Change, Remapping, parse
from absolve.rules import functions
from absolve.rules.functions import Facts

pytest.importorskip("re2")

TIME = "20090701000000"
ARCHIVE = f"https://web.archive.org/web/{TIME}"
SAFE = "https://eur02.safelinks.protection.outlook.com/"
END = "&data=05%7C01%7Ca%40b.c%7C0&sdata=x%3D&reserved=0"
UNWRAPPED: dict[str, dict[str, str | None]] = {
    "wayback": {
        f"{ARCHIVE}/http://h/a?b=c&d#e": "http://h/a?b=c&d#e", f"{ARCHIVE}im_/https://h/a.png": "https://h/a.png",
        f"{ARCHIVE}/http:/h/a": "http://h/a", f"{ARCHIVE}/HTTP%3A%2F%2Fh/a": "HTTP://h/a",
        "HTTP://WEB.archive.org/web/2009/h.example/a": "http://h.example/a", "https://web.archive.org/web/http://h/a": "http://h/a",
        "https://web.archive.org/save/_embed/http://h/a": "http://h/a",
        # A link of the page itself to an archive stays one.
        f"{ARCHIVE}/{ARCHIVE}/http://h/a": f"{ARCHIVE}/http://h/a",
        f"https://arquivo.pt/wayback/{TIME}mp_/http://arquivo.pt/wayback/{TIME}/http://h/": f"http://arquivo.pt/wayback/{TIME}/http://h/",
        f"http://h/web/{TIME}cs_/http://h/s.css": "http://h/s.css",  # rooted in the original site
        f"https://wayback.archive-it.org/123/{TIME}/http://h/": "http://h/", f"{ARCHIVE[:-14]}2009*/http://h/": None,
        "https://web.archive.org/web/*/http://h/": None,
        "https://web-static.archive.org/_static/css/banner-styles.css": None,
        f"https://h/log/{TIME}/x": None,
        f"{ARCHIVE}/javascript:alert(1)": None,
    },
    "safelinks": {
        f"{SAFE}?url=https%3A%2F%2Fh.example%2Fa%3Fb%3Dc%2526d%26e%23f{END}": "https://h.example/a?b=c%26d&e#f",
        f"{SAFE}ap/w-5/?url=https%3A%2F%2Fh%2Fa%2520b&amp;data=04%7C01": "https://h/a%20b",
        f"{SAFE}?url=https%3A%2F%2Fh%2Fa%26data%3D05%7C01%7Cx%26sdata%3Dy%26reserved%3D0": "https://h/a",
        f"{SAFE}?url=https://h/a?b=c&d=e&data=02|01|a@b.c|x&sdata=y=": "https://h/a?b=c&d=e",
        f"{SAFE}?url=https%3A%2F%2Fh%2Fr%3Furl%3Dhttps%253A%252F%252Fg%252Fa%2523x{END}": "https://h/r?url=https%3A%2F%2Fg%2Fa%23x",
        "https://outlook.office.com/mail/safelink.html?url=https%3A%2F%2Fh%2F&corid=1": "https://h/",
        f"{SAFE}?url=https%3A%2F%2Fnam02.safelinks.protection.outlook.com%2F%3Furl%3Dhttps%253A%252F%252Fh%252F%26data%3D02%257C01{END}": "https://h/",
        f"{SAFE}?url=javascript%3Aalert(1){END}": None,
        f"{SAFE}?url=https%3A%2F%2Fh%2F%0Ab%20%3Cc%22{END}": "https://h/%0Ab%20%3Cc%22",
        "https://outlook.com.evil.example/?url=https%3A%2F%2Fh%2F": None,
    },
    "google": {
        "https://www.google.com/url?q=https://h/t.php%3Ft%3D4%23x&sa=D&ust=1": "https://h/t.php?t=4#x",
        "http://www.google.co.uk/url?sa=t&rct=j&url=http%3A%2F%2Fh%2F%25C3%25A9&usg=x": "http://h/%C3%A9",
        "https://www.google.com/search?q=https://h/": None, "https://www.google.com/url?q=word&sa=D": None,
        "https://www.google.com/goto?url=CAESiwEB": None,
    },
    "redirects": {
        "https://l.facebook.com/l.php?u=https%3A%2F%2Fh%2Fa%3Fb%3Dc%26d&h=AT0x": "https://h/a?b=c&d",
        "https://l.instagram.com/?e=x&u=http%3A%2F%2Fh%2F": "http://h/", "https://www.facebook.com/?u=h": None,
        "https://t.umblr.com/redirect?z=http%3A%2F%2Fh%2Fa&t=Zx": "http://h/a",
        "https://www.youtube.com/redirect?event=v&q=https%3A%2F%2Fh%2Fa": "https://h/a", "https://www.youtube.com/watch?v=x": None,
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fh%2F&rut=x": None, "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fh%2F&rut=x": "https://h/",
        "https://vk.com/away.php?to=https%3A%2F%2Fh%2Fa&post=1": "https://h/a", "http://away.vk.com/away.php?to=http://h/": "http://h/",
        "https://out.reddit.com/t3_x?url=https%3A%2F%2Fh%2F&token=x": "https://h/", "https://slack-redir.net/link?url=http%3A%2F%2Fh": "http://h",
        "https://steamcommunity.com/linkfilter/?url=https://h/a?b": "https://h/a?b", "https://exit.sc/?url=https%3A%2F%2Fh%2F": "https://h/",
        "https://www.linkedin.com/redir/redirect?url=https%3A%2F%2Fh&urlhash=x": "https://h",
        "https://linkprotect.cudasvc.com/url?a=https%3a%2f%2fh%2fa&c=E,1,x&typo=1": "https://h/a",
        "http://disq.us/url?url=http%3A%2F%2Fh%3A8%2Fa%3A1bX-_&cuid=1": "http://h:8/a",
        "https://href.li/?https://h/a?b": "https://h/a?b", "http://anonym.to/?http://h/": "http://h/", "https://href.li/a": None,
        "https://urldefense.com/v3/__https://h/a?b__;!!Zx!y$": "https://h/a?b", "https://urldefense.com/v3/__https://h/a*b__;Iw!!x$": None,
        "https://h-example.cdn.ampproject.org/c/s/h.example/a?b": "https://h.example/a?b",
        "https://cdn.ampproject.org/i/h.example/a.png": "http://h.example/a.png", "https://cdn.ampproject.org/v0.js": None,
    },
    "proxies": {
        "https://i0.wp.com/h.example/a.png?resize=1%2C2&ssl=1": "https://h.example/a.png",
        "http://i2.wp.com/h.example/w/a.png?w=3": "http://h.example/w/a.png", "https://i0.wp.com/": None,
        "https://ci3.googleusercontent.com/proxy/Ab_x-1=s0-d-e1-ft#https://h/a.png?b": "https://h/a.png?b",
        "https://lh3.googleusercontent.com/Ab=s220": None,
        "https://images-blogger-opensocial.googleusercontent.com/gadgets/proxy?url=http%3A%2F%2Fh%2Fa.png&container=b": "http://h/a.png",
        "https://external-content.duckduckgo.com/iu/?u=https%3A%2F%2Fh%2Fa.png&f=1": "https://h/a.png",
        "https://wsrv.nl/?w=3&url=https://h/a.png": "https://h/a.png", "https://images.weserv.nl/?url=h.example/a.png&w=3": "http://h.example/a.png",
        "https://images.weserv.nl/?url=ssl:h.example%2Fa.png": "https://h.example/a.png",
        "https://res.cloudinary.com/x/image/fetch/w_3,c_fill/f_auto/https://h/a.png": "https://h/a.png",
        "https://res.cloudinary.com/x/image/upload/a.png": None,
        "https://substackcdn.com/image/fetch/$s_!x!,w_3/https%3A%2F%2Fh%2Fa.png": "https://h/a.png",
        "https://s0.wp.com/mshots/v1/http%3A%2F%2Fh%2F?w=3": "http://h/", "https://i/cdn-cgi/image/width=3/https://h/a.png": "https://h/a.png",
        "https://i/cdn-cgi/image/width=3/a.png": None, "https://i/d/_next/image?url=https%3A%2F%2Fh%2Fa.png&w=3&q=7": "https://h/a.png",
        "https://i/_next/image?url=%2Fa.png&w=3": None, "https://ik.imagekit.io/x/tr:w-3/https://h/a.png?b": "https://h/a.png",
        "https://cdn.statically.io/img/h.example/f=auto,w=3/a.png": "https://h.example/a.png",
    },
    "sessions": {"http://h/a?PHPSESSID=1&sid=2&utm_x=3": "http://h/a?sid=2&utm_x=3", f"http://h/?sid={'0a' * 16}#x": "http://h/#x"},
    "busters": {
        "http://h/a.css?v=1.2": "http://h/a.css", "http://h/a.js?ver=3&x": "http://h/a.js?x", "http://h/a.js?1400000000": "http://h/a.js",
        "http://h/?p=3&_=1&fbclid=2": "http://h/?p=3", "http://h/?id=12345678": None,
        "http://h/a.svg?12.3&t=1#x": "http://h/a.svg?t=1#x", "http://h/watch?v=dQw4w9WgXcQ&t=90": None, "http://h/?12345678": None, "http://h/?ts=1400000000": "http://h/",
        "http://h/?t=1400000000": None, "http://h/a.png?version=large": None, "http://h/?cb=1": None, "http://h/?cb=1400000000": "http://h/",
    },
    "tracking": {
        "http://h/a?utm_source=x&b=c&UTM_internal=d&fbclid=1#e": "http://h/a?b=c#e",
        "http://h/a?gclid=1": "http://h/a",
        "http://h/a?utm_campaign&next=http%3A%2F%2Fg%2F%3Futm_source%3D1": "http://h/a?next=http%3A%2F%2Fg%2F%3Futm_source%3D1",
        "http://h/a;JSESSIONID=1;b=c/d;jsessionid=2?PHPSESSID=3&e": "http://h/a;b=c/d?e",
        "http://h/(S(abcdefghijklmnopqrstuvwx))/a.aspx": "http://h/a.aspx",
        "http://h/a?id=1&ref=2&sid=3&utm": "http://h/a?id=1&ref=2&sid=3", "http://h/a?next=jsessionid&x=utm_source": None,
        "mailto:a@b?utm_source=x": "mailto:a@b",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", UNWRAPPED)
def test_each_preset_finds_the_url_inside(name: str) -> None:
    rules = Remapping([("", name, "preset")])
    for url, inside in UNWRAPPED[name].items():
        assert rules(url) == inside, url


def test_every_preset_is_tested() -> None:
    assert {*functions.names()} == {*UNWRAPPED, "archive"}
    assert tuple(name for name in functions.names() if functions.wraps(name) is None) == policy.UNWRAPPED


def test_presets_unwrap_what_others_have_wrapped_and_other_rules_come_after() -> None:
    rules = Remapping([*(("", name, "preset") for name in UNWRAPPED), ("http://h", "https://new")])
    inside = "https%253A%252F%252Fwww.google.com%252Furl%253Fq%253Dhttp%25253A%25252F%25252Fh%25252Fa%25253Futm_source%25253D1"
    assert rules(f"{ARCHIVE}/{SAFE}?url={inside.replace('%25', '%')}{END}") == "https://new/a"
    assert rules.met == {0, 1, 2, 6, 8}


def test_a_page_of_the_archive_gets_its_links_back_without_a_base_too() -> None:
    page = b"""<a href="%s/http://h/n">n</a><img srcset="%sim_/http://h/a.png 1x, %sim_/http://h/b,c.png 2x"><a href=#x><a href="r">\
<p style="background: url('%sim_/http://h/b.png')"><a href="/web/2018*/http://h/"><a href="//web.archive.org%s/http://h/n">"""
    own = b"http://h/n", b"http://h/a.png", b"http://h/b,c.png", b"http://h/b.png", b"http://h/n"
    path = f"/web/{TIME}".encode()
    rules = Remapping([("", "wayback", "preset")]).policy
    made = absolve.rewrite(page % ((path,) * 5), policy=rules, on_diagnostic=print)
    for mark, url in zip((b"%s/http://h/n", b"%sim_/http://h/a.png", b"%sim_/http://h/b,c.png", b"%sim_/http://h/b.png"), own, strict=False):
        page = page.replace(mark, url)
    assert made == page.replace(b"//web.archive.orghttp://h/n", b"http://h/n")
    made = absolve.rewrite(b"<a href=r>", url=f"{ARCHIVE}/http://h/d/", policy=rules)
    assert made == b"<a href=http://h/d/r>"


FACTS = Facts("http://me/p?q", "me", "20100102")
RULES = [
    (("http://o/(.*)", "https://n/{decoded:1}?from={host}", "regex"), "http://o/a%2Fb%20c", "https://n/a/b%20c?from=me"),
    (("//o", "https://n/{date}/{target}"), "http://o/a?{url}#b", "https://n/20100102/http://o/a?{url}#b"),
    (("//o", "https://n/{date}"), "http://o/{url}", "https://n/20100102/{url}"),
    (("http://o/", "https://n/?u={url}", "exact"), "http://o/#x", "https://n/?u=http://me/p?q#x"),
    (("http://o/(?P<x>.*)", "{decoded:x}", "regex"), "http://o/http%3A%2F%2Fh%2F", "http://h/"),
    (("http://o/(.*)", "{decoded:1}", "regex"), "http://o/javascript%3Aalert(1)", None),
    (("//o", "https://n/{id}"), "http://o/x", "https://n/{id}/x"),
    (("x|y_.*", "", "query"), "http://o/?x=1&y_z&xx=2", "http://o/?xx=2"),
    (("//o", "archive", "preset"), "http://o/x#y", "https://web.archive.org/web/20100102/http://o/x#y"),
]  # fmt: skip


def test_functions_are_filled_from_the_rule_only() -> None:
    for rule, url, made in RULES:
        assert Remapping([rule])(url, FACTS) == made, rule
    without = Remapping([parse("//o=archive")])
    assert (without("http://o/x"), without.lacks_date, without.met) == (None, True, set())


@pytest.mark.parametrize(
    "rule",
    [("", "nothing", "preset"), ("", "archive", "preset"), ("//h", "google", "preset"), ("(", "", "query"), ("x", "y", "query"),
     ("//h", "http://n/{decoded:1}"), ("http://h", "http://n/{decoded:1}", "regex"), ("http://h", "{date}", "regex")],
    ids=str,
)  # fmt: skip
def test_a_rule_that_can_never_work_is_refused(rule: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        Remapping([Change(*rule)])


CDX = """{head}o,h)/x 20050101000000 http://h.o/x text/html 200 A 1
o,h)/x 20090601000000 http://h.o/x text/html 404 A 1
o,h)/x 20090701000000 https://www.h.o/y text/html 200 A 1
o,h)/x 20200701000000 http://h.o/x warc/revisit - A 1
"""
JSON = '[["urlkey","timestamp","original","mimetype","statuscode"],["o,h)/x","20050101000000","http://h.o/x","text/html","200"]]'
CDXJ = 'o,h)/x 20050101000000 {"url": "http://h.o/x", "status": "200"}\no,h)/x 20060101000000 {"url": "http://h.o/x", "status": "302"}\n'
TIMEMAP = """<http://h.o/x>; rel="original",
<http://a/timemap/>; rel="self"; type="application/link-format",
<http://a/2005/http://h.o/x>; rel="first memento"; datetime="Sat, 01 Jan 2005 00:00:00 GMT",
<http://a/2020/http://h.o/x>; rel="last memento"; datetime="Wed, 01 Jul 2020 00:00:00 GMT"
"""


@pytest.mark.parametrize(("text", "date", "found"), [
    (CDX.format(head=""), "", "https://web.archive.org/web/20200701000000/http://h.o/x#f"),
    (CDX.format(head=" CDX N b a m s k\n"), "2010", "https://web.archive.org/web/20050101000000/http://h.o/x#f"),
    (CDX.format(head=""), "20180101", "https://web.archive.org/web/20200701000000/http://h.o/x#f"),
    (CDX.format(head=""), "1996", "https://web.archive.org/web/20050101000000/http://h.o/x#f"),
    (JSON, "2010", "https://web.archive.org/web/20050101000000/http://h.o/x#f"),
    (CDXJ, "2010", "https://web.archive.org/web/20050101000000/http://h.o/x#f"),
    (TIMEMAP, "2010", "http://a/2005/http://h.o/x#f"),
    (TIMEMAP, "20200101", "http://a/2020/http://h.o/x#f"),
])
def test_a_link_leads_to_the_copy_closest_to_the_date_of_its_page(text: str, date: str, found: str) -> None:
    assert is_index(text)
    rules = Remapping([], Captures(text))
    assert rules("https://H.o/x#f", Facts(date=date)) == found
    assert rules("http://h.o/z", Facts(date=date)) is None


@pytest.mark.parametrize("text", ["", "[[", "[[1, 2]]", "<x", "a b c", "o,h)/x 2005 http://h.o/x text/html 404", "o,h)/x 2005 http://h.o/x - 404 A - - 1", 'x 2005 {"url": 1}', "[" * 99_999])
def test_an_index_without_a_copy_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Captures(text)


def test_a_table_of_rules_is_no_index() -> None:
    for text in ("from,to\n", "http://old,http://new\n", "//h/a 2009 b,//g\n", r"https?://web/[0-9]+/(.*),\1,regex"):
        assert not is_index(text)
    assert not is_index('[["from", "to"], ["http://old.example/timestamp", "http://new.example/"]]')
