"""Pages that run no script, whatever the base, and former rewrites of some of them that run one.

They test the detection of harm. `HARMFUL` is the output of absolve before it escaped for every reader.
"""

from typing import Any, Final, NamedTuple

import absolve
from absolve.rewriting.remap import Remapping


class Page(NamedTuple):
    """A page, the options of `rewrite`, and a policy: its return value, or the rules of a remap file."""

    data: bytes
    options: dict[str, Any]
    policy: str | None = None
    rules: tuple[tuple[str, str, str], ...] = ()


PAGES: Final[dict[str, Page]] = {
    "noscript src": Page(b'<noscript><img src="&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png"></noscript>', {"url": "http://good.example/dir/"}),
    "noscript srcset": Page(b'<noscript><img srcset="&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png 2x"></noscript>', {"url": "http://good.example/dir/"}),
    "noscript ping, single quotes": Page(b"<noscript><a ping='&#60;/noscript&#62;&#60;svg/onload=alert`1`&#62;/a/../b.png'>x</a></noscript>", {"url": "http://good.example/dir/"}),
    "noscript unquoted": Page(b"<noscript><a href=&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png>x</a></noscript>", {"url": "http://good.example/dir/"}),
    "noscript refresh": Page(b"<head><noscript><meta http-equiv=refresh content='0;url=&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png'></noscript></head>", {"url": "http://good.example/dir/"}),
    "noscript style attr": Page(b"<noscript><p style='background:url(&quot;&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png&quot;)'>x</p></noscript>", {"url": "http://good.example/dir/"}),
    "noscript head link": Page(b"<head><noscript><link rel=stylesheet href='&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.css'></noscript></head>", {"url": "http://good.example/dir/"}),
    "noscript style elt": Page(b"<head><noscript><style>@import '\\3c/noscript\\3e\\3csvg/onload=alert`1`\\3e/a/../b.css'</style></noscript></head>", {"url": "http://good.example/dir/"}),
    "noscript, --url": Page(b"<noscript><img src=b.png></noscript>", {"url": "http://h/</noscript><svg/onload=alert`1`>/"}),
    "noscript base": Page(b'<base href="http://h/&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/"><noscript><img src=b.png></noscript>', {}),
    "noscript saved": Page(b"<!-- saved from url=(0040)http://h/</noscript><svg/onload=alert`1`>/ --><noscript><img src=b.png></noscript>", {}),
    "noscript srcdoc": Page(b'<iframe srcdoc="<noscript><img src=\'&amp;lt;/noscript&amp;gt;&amp;lt;svg/onload=parent.alert`1`&amp;gt;/a/../b.png\'></noscript>"></iframe>', {"url": "http://good.example/dir/"}),
    "srcdoc in noscript": Page(b'<noscript><iframe srcdoc="<img src=\'&amp;lt;/noscript&amp;gt;&amp;lt;svg/onload=alert`1`&amp;gt;/a/../b.png\'>"></iframe></noscript>', {"url": "http://good.example/dir/"}),
    "import map": Page(b'<script type=importmap>{"imports":{"a":"./\\u003c/a/../script><svg/onload=alert`1`>"}}</script>', {"url": "http://good.example/dir/"}),
    "speculation rules": Page(b'<script type=speculationrules>{"prefetch":[{"source":"list","urls":["./\\u003c/a/../script><svg/onload=alert`1`>"]}]}</script>', {"url": "http://good.example/dir/"}),
    "json-ld": Page(b'<script type=application/ld+json>{"@context":"https://schema.org","@type":"Article","image":"./\\u003c/a/../script><svg/onload=alert`1`>"}</script>', {"url": "http://good.example/dir/", "json_ld": True}),
    "ISO-2022-JP reference": Page(b'<a href="&#27;$B/a/../b">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z', {"url": "http://good.example/dir/", "charset": "iso-2022-jp"}),
    "ISO-2022-JP --url": Page(b'<a href="x">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z', {"url": "http://h/\x1b$B/", "charset": "iso-2022-jp"}),
    "ISO-2022-JP base": Page(b'<base href="http://h/&#27;$B/"><a href="x">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z', {"charset": "iso-2022-jp"}),
    "ISO-2022-JP srcset": Page(b'<img srcset="&#27;$B/a/../b 2x"><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z', {"url": "http://good.example/dir/", "charset": "iso-2022-jp"}),
    "ISO-2022-JP policy": Page(b'<a href="x">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z', {"url": "http://good.example/dir/", "charset": "iso-2022-jp"}, policy="http://h/\x1b$B"),
    "ISO-2022-JP empty base": Page(b"<base href=http://h/\x1b(J><script>~alert(1)</script>", {"charset": "iso-2022-jp", "base": "empty"}),
    "cdata": Page(b'<svg><style><![CDATA[@import "]]\\3e \\3csvg/onload=alert`1`\\3e/a/../b"]]></style></svg>', {"url": "http://good.example/dir/"}),
    "cdata url": Page(b'<svg><style><![CDATA[@import "b"]]></style></svg>', {"url": "http://h/]]><svg/onload=alert`1`>/"}),
    "javascript base, line feed": Page(b'<base href="java&#10;script://%0aalert(1)//"><a href=x>x</a>', {"url": "http://good.example/dir/", "profile": "whatwg"}),
    "javascript base, control": Page(b'<base href="&#1;javascript://%0aalert(1)//"><a href=x>x</a>', {"url": "http://good.example/dir/", "profile": "whatwg"}),
    "javascript base, tab, in SVG": Page(b'<base href="java&#9;script://%0aalert(1)//"><svg><a href="x">x</a></svg>', {"url": "http://good.example/dir/", "profile": "whatwg"}),
    "javascript from a group": Page(b'<a href="../javascript:alert(1)">x</a>', {"url": "http://good.example/dir/"}, rules=(("http://good[.]example/(.*)", "\\1", "regex"),)),
    "javascript --url": Page(b'<a href="x">x</a>', {"url": "java\nscript://%0aalert(1)//"}),
    "javascript --url, whatwg": Page(b'<a href="x">x</a>', {"url": "java\nscript://%0aalert(1)//", "profile": "whatwg"}),
    "javascript base, RFC": Page(b'<base href="java&#10;script://%0aalert(1)//"><a href=x>x</a>', {"url": "http://good.example/dir/"}),
    "javascript base, control, RFC": Page(b'<base href="&#1;javascript://%0aalert(1)//"><a href=x>x</a>', {"url": "http://good.example/dir/"}),
    "noscript script": Page(b'<noscript><p title="</noscript><script>var a=\'"><a href="x">\'</script>', {"url": "http://h/'+alert(1)+'/"}),
    "noscript script comment": Page(b'<noscript><!-- </noscript><script>var a=\'--><a href="x">\'</script>', {"url": "http://h/'+alert(1)+'/"}),
    "noscript script style": Page(b'<noscript><style></noscript><script>var a=\'</style><a href="x">\'</script>', {"url": "http://h/'+alert(1)+'/"}),
    "noscript event": Page(b'<noscript><p title="</noscript><svg onload=\'a=`"><a href="x">`\'></svg>', {"url": "http://h/${alert(1)}/", "profile": "rfc3986"}),
    "noscript template": Page(b'<noscript><template><img src="&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png"></template></noscript>', {"url": "http://good.example/dir/"}),
    "noscript svg": Page(b'<noscript><svg><image xlink:href="&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png" /></svg></noscript>', {"url": "http://good.example/dir/"}),
    "noscript utf-16": Page(b'<\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00<\x00i\x00m\x00g\x00 \x00s\x00r\x00c\x00=\x00"\x00&\x00l\x00t\x00;\x00/\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00&\x00g\x00t\x00;\x00&\x00l\x00t\x00;\x00s\x00v\x00g\x00/\x00o\x00n\x00l\x00o\x00a\x00d\x00=\x00a\x00l\x00e\x00r\x00t\x00`\x001\x00`\x00&\x00g\x00t\x00;\x00/\x00a\x00/\x00.\x00.\x00/\x00b\x00.\x00p\x00n\x00g\x00"\x00>\x00<\x00/\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00', {"url": "http://good.example/dir/", "charset": "utf-16le"}),
    "noscript sjis": Page(b'<p>\x93\xfa\x96{<noscript><img src="\x93\xfa&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png"></noscript>', {"url": "http://good.example/dir/", "charset": "shift_jis"}),
    "noscript lazy": Page(b'<noscript><img data-src="&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/a/../b.png"></noscript>', {"url": "http://good.example/dir/"}),
    "noscript whatwg query": Page(b'<noscript><a href="#&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;">x</a></noscript><base href="http://other/">', {"url": "http://good.example/dir/", "profile": "whatwg"}),
    "cdata edge": Page(b'<svg><style><![CDATA[@import "]]>"; a{b:url(c)}]]></style></svg>', {"url": "http://good.example/dir/"}),
    "cdata base": Page(b'<base href="http://h/]]&gt;&lt;svg/onload=alert`1`&gt;/"><svg><style><![CDATA[a{b:url(c)}]]></style></svg>', {}),
    "cdata url string": Page(b'<svg><style><![CDATA[a{b:url("]]\\3e \\3csvg/onload=alert`1`\\3e/a/../b")}]]></style></svg>', {"url": "http://good.example/dir/"}),
    "cdata policy": Page(b"<svg><style><![CDATA[a{b:url(c)}]]></style></svg>", {}, policy="http://h/]]><svg/onload=alert`1`>"),
    "import map policy": Page(b'<script type=importmap>{"imports":{"a":"./b"}}</script>', {}, policy="http://h/</script><svg/onload=alert`1`>"),
    "import map scope": Page(b'<script type=importmap>{"scopes":{"./\\u003c/a/../script><svg/onload=alert`1`>":{"a":"./b"}}}</script>', {"url": "http://good.example/dir/"}),
    "noscript policy": Page(b"<noscript><a href=x>x</a></noscript>", {}, policy="http://h/</noscript><svg/onload=alert`1`>"),
    "double quotes policy": Page(b'<a href=x>x</a><a href="x">x</a><a href=\'x\'>x</a>', {}, policy='http://h/">\'><svg/onload=alert`1`>'),
    "style policy": Page(b'<style>a{b:url(c);d:url("e")}</style>', {}, policy="http://h/</style><svg/onload=alert`1`>"),
    "double quotes url": Page(b'<a href=x>x</a><a href="x">x</a><a href=\'x\'>x</a>', {"url": 'http://h/"><\'><svg/onload=alert`1`>/'}),
    "gbk policy": Page(b'<a href="x" title=\'"><svg/onload=alert`1`>\'>x</a>', {"charset": "gbk"}, policy="http://h/\udc83"),
    "srcdoc policy": Page(b'<iframe srcdoc="<a href=x>x</a>"></iframe><iframe srcdoc=\'<noscript><a href=x>x</a></noscript>\'></iframe>', {}, policy='http://h/"\'></noscript><svg/onload=parent.alert`1`>'),
    "srcdoc, ISO-2022-JP": Page(b'<base href=p:/><iframe srcdoc="<a ping=&amp#27$B/.>">', {"charset": "iso-2022-jp"}),
    "no value, ISO-2022-JP policy": Page(b"<button formaction>", {"charset": "iso-2022-jp"}, policy="?<-\x1b$@"),
    "a comment with two-byte characters": Page(b"<!\x1b$@\r><i data-src=/>", {"charset": "iso-2022-jp", "url": "p:/"}),
    "a comment with katakana": Page(b'<!--\x1b(I\n--><style>src("-', {"charset": "iso-2022-jp", "url": "p:/"}),
    "a base with two-byte characters": Page(b"<base href=\x1b$B2f\n>", {"charset": "iso-2022-jp"}, policy="\xa0"),
    "gbk lead byte": Page(b"<style>url(", {"charset": "gbk"}, policy='./=\udc83\\"'),
    "shift_jis lead byte": Page(b"<style>url()", {"charset": "shift_jis"}, policy="x\udc83\\"),
    "yen sign": Page(b'<style>a{b:url("c")}</style>', {"charset": "euc-jp", "url": 'http://h/\xa5"<x/'}),
    "yen sign, import map": Page(b'<script type=importmap>{"imports":{"a":"./"}}</script>', {"charset": "euc-jp", "url": "x:/\xa5/"}),
    "yen sign, policy": Page(b'<script type=importmap>{"imports":{"a":"./"}}</script>', {"charset": "euc-jp"}, policy="./\xa5u003c\u203e"),
    "vbscript base, no authority": Page(b"<base href=vbscript:/><a href>", {"profile": "whatwg"}),
    "javascript base, control, style": Page(b"<base href=&#1javascript:/ style=url(&>", {"profile": "whatwg"}),
    "javascript base, line feed, archive": Page(b"<base href=java&#xAscript:/><applet archive=b>", {"profile": "whatwg"}),
    "vbscript --url": Page(b"<a href=x>", {"profile": "whatwg", "url": "vbscript:/"}),
    "base that ends noscript": Page(b"<base href='p:&#x3C/noscript>'><noscript><a href></noscript>", {}),
    "srcdoc that ends noscript": Page(b'<iframe srcdoc="<noscript><img src=&lt/noscript&amp;gt/.>">', {"url": "p:/", "profile": "rfc3986"}),
    "cdata, no slashes": Page(b"<base href=e:/]]&gt/><svg><style><![CDATA[@import'c']]></style></svg>", {}),
    "noscript applet": Page(b"<noscript><applet e='</noscript>'codebase=&>", {"url": "http://h/'+alert(1)+'/"}),
    "noscript image-set": Page(b"<noscript><style>''\"</noscript>\"image-set('s", {"url": "http://h/'+alert(1)+'/"}),
    "noscript src()": Page(b"<noscript><style>'</noscript><a'src(\">", {"url": "http://h/'+alert(1)+'/"}),
}  # fmt: skip

HARMFUL: Final[dict[str, bytes]] = {
    "noscript src": b'<noscript><img src="http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png"></noscript>',
    "noscript srcset": b'<noscript><img srcset="http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png 2x"></noscript>',
    "noscript ping, single quotes": b"<noscript><a ping='http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png'>x</a></noscript>",
    "noscript unquoted": b'<noscript><a href="http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png">x</a></noscript>',
    "noscript refresh": b"<head><noscript><meta http-equiv=refresh content='0;url=http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png'></noscript></head>",
    "noscript head link": b"<head><noscript><link rel=stylesheet href='http://good.example/dir/</noscript><svg/onload=alert`1`>/b.css'></noscript></head>",
    "noscript, --url": b'<noscript><img src="http://h/</noscript><svg/onload=alert`1`>/b.png"></noscript>',
    "noscript base": b'<base href="http://h/&lt;/noscript&gt;&lt;svg/onload=alert`1`&gt;/"><noscript><img src="http://h/</noscript><svg/onload=alert`1`>/b.png"></noscript>',
    "noscript saved": b'<!-- saved from url=(0040)http://h/</noscript><svg/onload=alert`1`>/ --><noscript><img src="http://h/</noscript><svg/onload=alert`1`>/b.png"></noscript>',
    "noscript srcdoc": b'<iframe srcdoc="<noscript><img src=\'http://good.example/dir/</noscript><svg/onload=parent.alert`1`>/b.png\'></noscript>"></iframe>',
    "srcdoc in noscript": b'<noscript><iframe srcdoc="<img src=\'http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png\'>"></iframe></noscript>',
    "import map": b'<script type=importmap>{"imports":{"a":"http://good.example/dir/</script><svg/onload=alert`1`>"}}</script>',
    "speculation rules": b'<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://good.example/dir/</script><svg/onload=alert`1`>"]}]}</script>',
    "ISO-2022-JP reference": b'<a href="http://good.example/dir/\x1b$B/b">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z',
    "ISO-2022-JP --url": b'<a href="http://h/\x1b$B/x">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z',
    "ISO-2022-JP base": b'<base href="http://h/&#27;$B/"><a href="http://h/\x1b$B/x">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z',
    "ISO-2022-JP srcset": b'<img srcset="http://good.example/dir/\x1b$B/b 2x"><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z',
    "ISO-2022-JP policy": b'<a href="http://h/\x1b$B">x</a><p title=\'\x1b(B"><svg/onload=alert`1`>\'>z',
    "cdata": b'<svg><style><![CDATA[@import "http://good.example/dir/]]><svg/onload=alert`1`>/b"]]></style></svg>',
    "cdata url": b'<svg><style><![CDATA[@import "http://h/]]><svg/onload=alert`1`>/b"]]></style></svg>',
    "javascript base, line feed": b'<base href="java&#10;script://%0aalert(1)//"><a href=javascript://%0aalert(1)//x>x</a>',
    "javascript base, control": b'<base href="javascript://%0aalert(1)//"><a href=javascript://%0aalert(1)//x>x</a>',
    "javascript base, tab, in SVG": b'<base href="java&#9;script://%0aalert(1)//"><svg><a href="javascript://%0aalert(1)//x">x</a></svg>',
    "javascript from a group": b'<a href="javascript:alert(1)">x</a>',
    "noscript script": b'<noscript><p title="</noscript><script>var a=\'"><a href="http://h/\'+alert(1)+\'/x">\'</script>',
    "noscript script comment": b'<noscript><!-- </noscript><script>var a=\'--><a href="http://h/\'+alert(1)+\'/x">\'</script>',
    "noscript script style": b'<noscript><style></noscript><script>var a=\'</style><a href="http://h/\'+alert(1)+\'/x">\'</script>',
    "noscript event": b'<noscript><p title="</noscript><svg onload=\'a=`"><a href="http://h/${alert(1)}/x">`\'></svg>',
    "noscript template": b'<noscript><template><img src="http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png"></template></noscript>',
    "noscript svg": b'<noscript><svg><image xlink:href="http://good.example/dir/</noscript><svg/onload=alert`1`>/b.png" /></svg></noscript>',
    "noscript utf-16": b'<\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00<\x00i\x00m\x00g\x00 \x00s\x00r\x00c\x00=\x00"\x00h\x00t\x00t\x00p\x00:\x00/\x00/\x00g\x00o\x00o\x00d\x00.\x00e\x00x\x00a\x00m\x00p\x00l\x00e\x00/\x00d\x00i\x00r\x00/\x00<\x00/\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00<\x00s\x00v\x00g\x00/\x00o\x00n\x00l\x00o\x00a\x00d\x00=\x00a\x00l\x00e\x00r\x00t\x00`\x001\x00`\x00>\x00/\x00b\x00.\x00p\x00n\x00g\x00"\x00>\x00<\x00/\x00n\x00o\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00',
    "noscript sjis": b'<p>\x93\xfa\x96{<noscript><img src="http://good.example/dir/\x93\xfa</noscript><svg/onload=alert`1`>/b.png"></noscript>',
    "cdata base": b'<base href="http://h/]]&gt;&lt;svg/onload=alert`1`&gt;/"><svg><style><![CDATA[a{b:url(http://h/]]><svg/onload=alert`1`>/c)}]]></style></svg>',
    "cdata url string": b'<svg><style><![CDATA[a{b:url("http://good.example/dir/]]><svg/onload=alert`1`>/b")}]]></style></svg>',
    "cdata policy": b"<svg><style><![CDATA[a{b:url(http://h/]]><svg/onload=alert`1`>)}]]></style></svg>",
    "import map scope": b'<script type=importmap>{"scopes":{"http://good.example/dir/</script><svg/onload=alert`1`>":{"a":"http://good.example/dir/b"}}}</script>',
    "noscript policy": b'<noscript><a href="http://h/</noscript><svg/onload=alert`1`>">x</a></noscript>',
    "srcdoc policy": b'<iframe srcdoc="<a href=&quot;http://h/&amp;quot;\'></noscript><svg/onload=parent.alert`1`>&quot;>x</a>"></iframe><iframe srcdoc=\'<noscript><a href="http://h/&amp;quot;&#39;></noscript><svg/onload=parent.alert`1`>">x</a></noscript>\'></iframe>',
}  # fmt: skip


def rewritten(name: str) -> bytes:
    """Return the rewritten page, or the page itself if the rewrite is refused."""
    page = PAGES[name]
    options: dict[str, Any] = {"media_type": "text/html", **page.options}
    try:
        if page.rules:
            options["policy"] = Remapping(page.rules).policy
        if page.policy is not None:
            options["policy"] = lambda _resolved: page.policy
        return bytes(absolve.rewrite(page.data, **options))
    except absolve.AbsolveError:
        return page.data
