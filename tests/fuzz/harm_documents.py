"""Hostile documents of every format: links in every context, with references that are escaped for it, or not.

A context is a template, or several of which one is chosen; `«a»` in it is what `SLOTS` makes: a reference in an attribute.
"""

import base64
import gzip
import json
import quopri
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from harm_charsets import encode
from harm_text import OF_PLACES, Choices, base, hostile, reference

Template = str | tuple[str, ...]
REFERENCES: Final = {'"': "&#34;", "'": "&#39;"}
_SLOT: Final = re.compile("«(\\w+)»")


class Made(NamedTuple):
    """A document, and the options for reading it."""

    data: bytes
    media_type: str
    name: str | None = None
    charset: str | None = None  # the option


def filled(choices: Choices, template: Template) -> str:
    text = choices.of(template) if isinstance(template, tuple) else template
    choices.ends += OF_PLACES["noscript"] if "<noscript>" in text else ()
    return _SLOT.sub(lambda found: SLOTS[found[1]](choices), text)


# --- values as authors write them -------------------------------------------------------------------------------------


def attribute(choices: Choices, value: str, quote: str | None = None) -> str:
    """Return a value in an attribute."""
    quote = choices.of(('"', '"', "'", "")) if quote is None else quote
    careless = choices.one_in(40)
    found = []
    for point in value:
        if point == "&":
            found.append(choices.of(("&amp;", "&amp;", "&amp;", "&#38;", "&")))
        elif (point == quote or (not quote and point in "\"'`=<> \t\n\f\r")) and not careless:
            found.append(_referred(choices, point))
        elif point in "<>\"'`=" or point < " ":
            found.append(_referred(choices, point) if choices.below(3) else point)
        else:
            found.append(point)
    return f"{quote}{''.join(found)}{quote}"


def _referred(choices: Choices, point: str) -> str:
    named = {"<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\n": "&NewLine;", "\t": "&Tab;"}
    number = ord(point)
    return choices.of((named.get(point, f"&#{number};"), f"&#{number};", f"&#x{number:X};"))


def srcset(choices: Choices) -> str:
    candidates = [f"{reference(choices)}{choices.of((' 2x', ' 100w', '', ' 1x (a, b)'))}" for _ in range(1 + choices.below(3))]
    return choices.of((", ", ",", " , ")).join(candidates)


def refresh(choices: Choices) -> str:
    quote = choices.of(("", "'", '"'))
    return choices.of(("0;url=", "5; URL=", "0,", "1 ;url =", "0;")) + quote + reference(choices) + quote


def css_string(choices: Choices, value: str, quote: str) -> str:
    """Return a value in a style sheet; `quote` is empty for an unquoted url()."""
    found = []
    for point in value:
        if point in "\\\n\r\f" + (quote or " \t\"'()") or (point < " " and not quote):
            found.append(f"\\{ord(point):x} ")
        elif point in "<>]-&\x1b\x0e/" and choices.below(2):
            found.append(choices.of((f"\\{ord(point):x} ", f"\\{ord(point):06X}", f"\\{ord(point):x}\n")))
        else:
            found.append(point)
    return f"{quote}{''.join(found)}{quote}"


def css_url(choices: Choices) -> str:
    quote = choices.of(('"', "'", ""))
    return f"{choices.of(('url', 'URL', 'src')) if quote else 'url'}({css_string(choices, reference(choices), quote)})"


def string(choices: Choices) -> str:
    return css_string(choices, reference(choices), choices.of(('"', "'")))


def declarations(choices: Choices) -> str:
    return filled(choices, ("a:b;background:«cssurl»;c:d", "a:b;background:«cssurl»;c:«cssurl»"))


def sheet(choices: Choices) -> str:
    first = choices.of(("", f"@import {string(choices)};", f"@import {css_url(choices)} all;"))
    sets = choices.of(("", f"x:image-set({string(choices)} 1x)"))
    return f"{first}p{{{declarations(choices)}}}/* c */q{{{sets}}}r{{}}"


def json_string(choices: Choices, value: str) -> str:
    """Return a value as a JSON string, sometimes with unnecessary escapes."""
    text = json.dumps(value, ensure_ascii=choices.one_in(2))
    text = text.replace("/", "\\/") if choices.one_in(4) else text
    text = text.replace("<", "\\u003c") if choices.below(6) else text
    return text.replace(">", "\\u003E") if choices.one_in(2) else text


def srcdoc(choices: Choices, depth: int) -> str:
    inner = filled(choices, ("«some»", "«some»", "<noscript>«some»</noscript>"))
    for _ in range(depth):
        quote = choices.of(('"', "'"))
        inner = f"<iframe srcdoc={quote}{inner.replace('&', '&amp;').replace(quote, REFERENCES[quote])}{quote}></iframe>"
    return inner


_CHARACTERS: Final = {**dict.fromkeys(range(32), " "), 9: "\t", 10: "\n", 13: "\r", 0xFFFE: "", 0xFFFF: ""}


def legal(text: str) -> str:
    """Return text without characters that XML 1.0 does not allow."""
    return "".join(point for point in text.translate(_CHARACTERS) if not "\ud800" <= point <= "\udfff")


def xml_value(choices: Choices, value: str, quote: str) -> str:
    """Return a value in an attribute of XML, or in text if there is no quote."""
    found = []
    for point in legal(value):
        if point in "<&" or (quote and point in f"{quote}\t\n\r"):
            named = {"<": "&lt;", "&": "&amp;"}.get(point, f"&#{ord(point)};")
            found.append(choices.of((named, f"&#{ord(point)};", f"&#x{ord(point):x};")))
        elif point == ">" and choices.below(3):
            found.append(choices.of(("&gt;", "&#62;")))
        else:
            found.append(point)
    text = "".join(found)
    return f"{quote}{text}{quote}" if quote else text.replace("]]>", "]]&gt;")


def instruction(choices: Choices) -> str:
    quote = choices.of(('"', "'"))
    value = legal(reference(choices)).replace("?>", "? >").replace("&", "&amp;").replace("<", "&lt;").replace(quote, REFERENCES[quote])
    return f"{quote}{value.replace('>', choices.of(('&gt;', '&#62;', '>'))).replace('?>', '?&gt;')}{quote}"


def inner_html(choices: Choices) -> str:
    some = choices.of(tuple(HTML)) if choices.one_in(3) else ""
    return legal(filled(choices, HTML.get(some, "«some»")) + choices.of(("", '<b title="x\'">b</b>')))


def escaped_html(choices: Choices) -> str:
    text = inner_html(choices).replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(">", choices.of((">", "&gt;"))).replace("]]>", "]]&gt;")


def some(choices: Choices) -> str:
    """Return a link for another context, sometimes inside of a further one."""
    front, behind = choices.of(_AROUND) if choices.one_in(4) else ("", "")
    return filled(choices, _around(front, HTML[choices.of(_OF_SOME)], behind))


SLOTS: Final[dict[str, Callable[[Choices], str]]] = {
    "a": lambda choices: attribute(choices, reference(choices)),
    **{name: lambda choices, quote=quote: attribute(choices, reference(choices), quote) for name, quote in (("dq", '"'), ("sq", "'"), ("uq", ""))},  # type: ignore[misc]
    "srcset": lambda choices: attribute(choices, srcset(choices)), "refresh": lambda choices: attribute(choices, refresh(choices)),
    "blanks": lambda choices: attribute(choices, f"{reference(choices)} {reference(choices)}"),
    "commas": lambda choices: attribute(choices, f"{reference(choices)}, {reference(choices)}"),
    "style": lambda choices: attribute(choices, declarations(choices)),
    "fill": lambda choices: attribute(choices, f"url({css_string(choices, reference(choices), '')})"),
    "cssurl": css_url,
    "sheet": lambda choices: sheet(choices).replace("</style", "<\\/style"),
    "lt": lambda choices: sheet(choices).replace("<", "&lt;"), "cdata": lambda choices: sheet(choices).replace("]]>", "] ]>"), "some": some,
    **{f"srcdoc{depth}": lambda choices, depth=depth: srcdoc(choices, depth) for depth in (1, 2, 3)},  # type: ignore[misc]
    "json": lambda choices: json_string(choices, reference(choices)),
    "key": lambda choices: json_string(choices, choices.of(("./", "/", "../", "http://h.example/")) + reference(choices)),
    "xa": lambda choices: xml_value(choices, reference(choices), choices.of(('"', "'"))),
    "xb": lambda choices: f" xml:base={xml_value(choices, base(choices), choices.of(tuple(REFERENCES)))}" if choices.one_in(2) else "",
    "xt": lambda choices: xml_value(choices, reference(choices), ""),
    "xc": lambda choices: legal(reference(choices)).replace("]]>", "]]]]><![CDATA[>"),
    "xsheet": lambda choices: xml_value(choices, sheet(choices), ""),
    "xsheetc": lambda choices: legal(sheet(choices)).replace("]]>", "]] >"),
    "xstyle": lambda choices: xml_value(choices, declarations(choices), '"'),
    "pi": instruction, "escaped": escaped_html, "inner": lambda choices: inner_html(choices).replace("]]>", "]] >"),
}

# --- HTML -------------------------------------------------------------------------------------------------------------

_ONE: Final = (
    "<a href=«a»>t</a>", "<a x=y href=«a» z>t</a>", "<img src=«a»>", "<img src=«a» alt='a'>", "<form action=«a»>f</form>", "<q cite=«a»>q</q>",
    "<iframe src=«a»></iframe>", "<script src=«a»></script>", "<link rel=stylesheet href=«a»>", "<video poster=«a»></video>", "<a href=«a»/>t</a>",
    "<object data=«a»></object>", "<button formaction=«a»>b</button>", "<base href=«a»><a href=b>t</a>", "<body background=«a»>", "<a href=«a»\t>t</a>",
    "<applet codebase=«a» code=c></applet>", "<meta property=og:image content=«a»>",
)
_SVG: Final = (
    "<image href=«a» />", "<a xlink:href=«a»>t</a>", "<image fill=«fill» href=«a» />", "<use xlink:href=«a» />", "<style>p{}</style><a href=«a»>t</a>",
)
_CROSSORIGIN: Final = (  # in each place where a neighbour could swallow it
    "<script src=«a»crossorigin/x></script>", "<script src=«a» crossorigin/></script>", "<img src=«a» alt crossorigin='a'=x>",
    "<img crossorigin=a/src=«a»>", "<script\tintegrity\fcrossorigin crossorigin=b src=«a»></script>", "<svg><image href=«a» crossorigin /></svg>",
    "<link rel=stylesheet href=«a»integrity=x crossorigin>", "<img src=«a»/crossorigin=/x data-crossorigin=y>",
    "<script crossorigin=integrity integrity=crossorigin src=«a»></script>",
)
_POLICIES: Final = ("default-src http:", "script-src 'self' http://h.example", "img-src 'none'; font-src http: \"'&amp;")
_METAS: Final = ("", "", *(f"<meta http-equiv=content-security-policy content='{one}'>" for one in _POLICIES))


def _around(before: str, templates: Template, after: str) -> tuple[str, ...]:
    return tuple(f"{before}{one}{after}" for one in ((templates,) if isinstance(templates, str) else templates))


def _in_quotes(slot: str) -> tuple[str, ...]:
    return tuple(one.replace("«a»", f"«{slot}»") for one in _ONE)


_MAPS: Final = ('{"imports":{"a":«key»}}', '{"imports": {«key»: «key»}, "scopes": {«key»: {"b": «key»}}}')
HTML: Final[dict[str, Template]] = {
    "double quotes": _in_quotes("dq"), "single quotes": _in_quotes("sq"), "unquoted": _in_quotes("uq"),
    "no value": ("<a href>t</a>", "<form action>f</form>", "<a href>«a»</a>", "<img src alt=«a»>", "<a href= >t</a>"),
    "srcset": "<img srcset=«srcset»>", "meta refresh": "<meta http-equiv=refresh content=«refresh»>", "ping": "<a ping=«blanks»>t</a>",
    "archive": "<applet archive=«commas» codebase=«a»></applet>", "style attribute": "<p style=«style»>t</p>",
    "style element": "<style>«sheet»</style>", "srcdoc": "«srcdoc1»", "srcdoc twice": "«srcdoc2»", "srcdoc three times": "«srcdoc3»",
    "noscript in body": "<p><noscript>«some»</noscript>",
    "noscript in head": _around("<head><noscript>", ("<style>«sheet»</style>", "<link rel=stylesheet href=«a»>"), "</noscript></head>"),
    "template": "<template>«some»</template>", "svg": _around("<svg>", _SVG, "</svg>"), "svg style": "<svg><style>«lt»</style></svg>",
    "svg style, CDATA": "<svg><style><![CDATA[«cdata»]]></style></svg>",
    "svg, CDATA near": _around("<svg><title><![CDATA[a]]></title>", _SVG, "<desc><![CDATA[<b>]]></desc></svg>"),
    "svg foreignObject": "<svg><foreignObject>«some»</foreignObject></svg>",
    "mathml": "<math><mi href=«a»>x</mi></math>", "import map": _around("<script type=importmap>", _MAPS, "</script>"),
    "speculation rules": '<script type=speculationrules>{"prefetch":[{"source":"list","urls":[«json», "y"]}]}</script>',
    "JSON-LD": '<script type=application/ld+json>{"@context":"https://schema.org","@type":"Article","url":«json»,"image":["i"],"name":"n"}</script>',
    "lazy": "<img data-src=«a» data-srcset=«srcset»>",
    "raw text near": "<textarea><a href=x></textarea><noembed><a href=x></noembed><xmp>«some»</xmp>",
    "table": "<table><tr><td>«some»</table>",
    "crossorigin": tuple(f"{meta}{one}" for meta in _METAS for one in _CROSSORIGIN),
}
_OF_SOME: Final = ("double quotes", "single quotes", "unquoted", "no value", "srcset", "meta refresh", "ping", "archive", "lazy", "style element",
                   "style attribute", "import map")  # fmt: skip
_AROUND: Final = (
    ("<noscript>", "</noscript>"), ("<svg><desc>", "</desc></svg>"), ("<!--[if IE]>", "<![endif]-->"), ("<template>", "</template>"),
    ("<p title='</noscript>'>", "</p>"), ('<noscript><p title="</noscript>">', ""), ("<select><option>", "</select>"), ("<object>", "</object>"),
    ("<title>", "</title>"), ("<svg><style><![CDATA[a]]></style><a>", "</a></svg>"), ("<noframes><a href=x></noframes>", ""),
)
# Incomplete sequences that may precede the link in a decoder.
_STATES: Final = ("<p>\x1b(J</p>", "<p>\x1b$BF|\x1b(B</p>", "<p>\x1b(I</p>", "<p title='\udc81'>", "\udc81", "<p>\x0e</p>", "日本", "\udc8f\udca1<p>")
_SAVED: Final = (
    "<!-- saved from url=({0:04d}){1} -->", "<!--\n Page saved with SingleFile \n url: {1} \n saved date: x\n-->",
    "<!-- Mirrored from {1} by HTTrack Website Copier/3.x [XR&CO'2014], x -->",
)


def page(choices: Choices, name: str, *, label: str | None) -> str:
    """Return a page with the context in it; `label` is the charset that it declares."""
    front = choices.of(("<!doctype html>", "", "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'>"))
    front += f"<meta charset={label}>" if label else ""
    if choices.one_in(6):
        saved = base(choices).replace("--", "")
        front += choices.of(_SAVED).format(len(saved), saved)
    if choices.one_in(3):
        front += f"<base href={attribute(choices, base(choices))}>"
    front += choices.of(_STATES) if choices.one_in(5) else ""
    body = filled(choices, HTML[name])
    return front + body + choices.of(("", '<p title="a\'b">t " \' > z</p><a href=last>l</a>', "--> ]]> <b title='x'>b</b>", hostile(choices)))


def any_page(choices: Choices, charset: str, *, declared: bool) -> bytes:
    return encode(page(choices, choices.of(tuple(HTML)), label=charset if declared else None), charset)


def html(choices: Choices, context: str, charset: str) -> tuple[Made, str]:
    """Return a page in a charset that is declared, given by the user, or indicated by a byte order mark."""
    if charset.startswith("utf-16"):
        mark = choices.one_in(2)
        return Made(encode("\ufeff" * mark + page(choices, context, label=None), charset), "text/html", None, None if mark else charset), charset
    declared = charset in {"replacement", "x-user-defined"} or choices.one_in(2)
    text = page(choices, context, label=charset if declared else None)
    unsaid = not declared and text.isascii() and "\x1b" not in text and choices.one_in(2)  # browsers detect these escapes
    real = "windows-1252" if charset == "x-user-defined" else charset
    return Made(encode(text, real), "text/html", None, None if declared or unsaid else charset), real


# --- other texts ------------------------------------------------------------------------------------------------------

_FEEDS: Final = ("<feed xmlns='http://www.w3.org/2005/Atom'>", "</feed>"), ("<rss><channel>", "</channel></rss>")
_XHTML: Final = "<html xmlns='http://www.w3.org/1999/xhtml'>"
_TEXTS: Final[dict[str, tuple[str, Template]]] = {
    "web app manifest": ("application/manifest+json", '{"start_url":«json»,"icons":[{"src":«json»}]}'),
    "XML attribute": ("application/xml", (
        "<feed xmlns='http://www.w3.org/2005/Atom'«xb»><link href=«xa»/><entry«xb»><content src=«xa»/></entry></feed>",
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'«xb»><a xlink:href=«xa» z='&lt;'/><image href=«xa»/></svg>",
        "<html xmlns='http://www.w3.org/1999/xhtml'«xb»><body><p title='\"'><a href=«xa»>&lt;</a><img src=«xa»/></p></body></html>",
        "<opml«xb»><body><outline text='t' xmlUrl=«xa» htmlUrl=«xa»/></body></opml>",
    )),
    "XHTML style": ("application/xhtml+xml", tuple(
        f"{_XHTML}<head><style>{one}</style></head><body style=«xstyle»>t</body></html>" for one in ("«xsheet»", "<![CDATA[«xsheetc»]]>")
    )),
    "XML CDATA": ("application/xml", tuple(
        f"<rss><channel><link>{space}<![CDATA[«xc»]]></link><title>]] &gt;</title><link>x</link></channel></rss>" for space in ("", " ")
    )),
    "XML text": ("application/xml", (
        "<rss><channel><link>«xt»</link><title>]]&gt;</title></channel></rss>", "<rss><channel><link>a<!-- c -->«xt»</link></channel></rss>",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> «xt» </loc></url></urlset>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><icon>«xt»</icon></feed>",
    )),
    "XML PI": ("application/xml", "<?xml-stylesheet type='text/css' href=«pi»?><feed xmlns='http://www.w3.org/2005/Atom'><title>?&gt;</title></feed>"),
    "feed, escaped": ("application/xml", (
        f"{_FEEDS[0][0]}<entry><content type='html'>«escaped»</content></entry>{_FEEDS[0][1]}",
        f"{_FEEDS[1][0]}<item><description>«escaped»</description></item>{_FEEDS[1][1]}",
    )),
    "feed, CDATA": ("application/xml", (
        f"{_FEEDS[0][0]}<entry><content type='html'><![CDATA[«inner»]]></content></entry>{_FEEDS[0][1]}",
        f"{_FEEDS[1][0]}<item><description><![CDATA[«inner»]]></description></item>{_FEEDS[1][1]}",
    )),
}  # fmt: skip


def css(choices: Choices, charset: str) -> Made:
    declared = choices.one_in(2) and not charset.startswith("utf-16")
    text = (f'@charset "{charset}";' if declared else "") + sheet(choices)
    return Made(encode(text, charset), "text/css", None, None if declared else charset)


def text(choices: Choices, charset: str, media_type: str, template: Template) -> Made:
    made = filled(choices, template)
    if "json" in media_type:
        return Made(encode(made, "utf-8"), media_type)
    mark = "\ufeff" if charset.startswith("utf-16") else ""
    return Made(encode(f"{mark}<?xml version='1.0' encoding='{charset}'?>{made}", charset), media_type)


# --- messages and archives --------------------------------------------------------------------------------------------


def field(choices: Choices, value: str) -> str:
    """Return a value on one line, without NUL, for a field."""
    text = value.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\n", choices.of(("%0A", "", "\r\n ")))


def raw_field(choices: Choices, charset: str, value: str) -> bytes:
    data = encode(field(choices, value), charset if not charset.startswith("utf-16") else "utf-8")
    return data if choices.one_in(3) else b"".join(bytes((byte,)) if byte < 0x80 else b"%%%02X" % byte for byte in data)


_FIELDS: Final = (b"Content-Base", b"Content-Location", b"Base", b"Link", b"Location", b"Refresh", b"SourceMap")
_PATTERNS: Final = {b"Link": b"<%b>; rel=x, <y>", b"Base": b"<URL:%b>", b"Refresh": b"0;url=%b"}


def headed(first: list[bytes], media_type: str) -> Callable[[Choices, str], Made]:
    """Return a maker of messages whose header has some links; `first` are the lines before them."""

    def made(choices: Choices, charset: str) -> Made:
        lines = list(first)
        for _ in range(1 + choices.below(3)):
            name = choices.of(_FIELDS)
            lines.append(name + b": " + _PATTERNS.get(name, b"%b") % raw_field(choices, charset, choices.of((reference, base))(choices)))
        body = b'<a href="x">t</a>'
        lines += [b"MIME-Version: 1.0", b"Content-Type: text/html; charset=" + charset.encode(), b"Content-Length: %d" % len(body), b"", body]
        return Made(b"\r\n".join(lines), media_type)

    return made


def mail_part(transfer: str) -> Callable[[Choices, str], Made]:
    encoders: dict[str, Callable[[bytes], bytes]] = {"quoted-printable": quopri.encodestring, "base64": base64.encodebytes}

    def made(choices: Choices, charset: str) -> Made:
        body = encoders.get(transfer, bytes)(any_page(choices, charset, declared=False))
        location = raw_field(choices, charset, base(choices))
        head = b"Content-Type: text/html; charset=%b\r\nContent-Transfer-Encoding: %b\r\n" % (charset.encode(), transfer.encode())
        head += b"Content-Location: %b\r\n" % location if choices.one_in(2) else b""
        body = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if transfer != "8bit" else body
        front = b"From: a@b\r\nMIME-Version: 1.0\r\n"
        if choices.one_in(2):
            return Made(front + head + b"\r\n" + body, "message/rfc822")
        outer = b'Content-Type: multipart/related; boundary="B"\r\n\r\n--B\r\n%b\r\n%b\r\n--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--\r\n'
        return Made(front + outer % (head, body), "message/rfc822")

    return made


def response(choices: Choices, charset: str) -> bytes:
    body = any_page(choices, charset, declared=False)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%b\r\n" % charset.encode()
    head += b"Content-Base: %b\r\n" % raw_field(choices, charset, base(choices)) if choices.one_in(3) else b""
    kind = choices.below(3)
    if kind == 1:
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[at : at + 50]), body[at : at + 50]) for at in range(0, len(body), 50))
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    if kind == 2:
        body = gzip.compress(body, 1, mtime=0)
        head += b"Content-Encoding: gzip\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def archive(choices: Choices, block: bytes, kind: bytes, media_type: bytes) -> Made:
    """Return a WARC of a record with a hostile URL, and of another one."""
    target = field(choices, base(choices)).replace("\n", "").encode("utf-8", "replace") or b"http://h/"
    head = b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <urn:x>\r\nWARC-Target-URI: %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
    records = ((kind, target, media_type, block), (b"response", b"http://h/y", b"application/http", b"x"))
    return Made(b"".join(head % (*one[:3], len(one[3]), one[3]) for one in records), "application/warc")


OTHERS: Final[dict[str, Callable[[Choices, str], Made]]] = {
    "CSS file": css,
    **{name: lambda choices, charset, of=of: text(choices, charset, *of) for name, of in _TEXTS.items()},  # type: ignore[misc]
    "mail header": headed([b"From: a@b", b'Subject: <x> "y"'], "message/rfc822"),
    "mail, quoted-printable": mail_part("quoted-printable"), "mail, base64": mail_part("base64"), "mail, 8bit": mail_part("8bit"),
    "HTTP header": headed([b"HTTP/1.1 302 Found", b"Set-Cookie: a=b"], "message/http"),
    "HTTP body": lambda choices, charset: Made(response(choices, charset), "message/http"),
    "WARC header": lambda choices, charset: archive(choices, any_page(choices, charset, declared=True), b"resource", b"text/html"),
    "WARC payload": lambda choices, charset: archive(choices, response(choices, charset), b"response", b"application/http"),
}
CONTEXTS: Final = (*HTML, *OTHERS)
