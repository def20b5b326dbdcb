"""Hostile documents of other formats: style sheets, XML, feeds, messages, archives."""

import base64
import gzip
import quopri
from collections.abc import Callable
from typing import Final, NamedTuple

import harm_html
from harm_charsets import encode
from harm_html import REFERENCES, sheet
from harm_text import Choices, base, reference

XHTML: Final = "http://www.w3.org/1999/xhtml"


class Made(NamedTuple):
    """A document, and the options for reading it."""

    data: bytes
    media_type: str
    name: str | None = None
    charset: str | None = None  # the option


# --- style sheets and JSON --------------------------------------------------------------------------------------------


def css(choices: Choices, charset: str) -> Made:
    declared = choices.one_in(2) and not charset.startswith("utf-16")
    return Made(
        encode((f'@charset "{charset}";' if declared else "") + sheet(choices), charset),
        "text/css",
        None,
        None if declared else charset,
    )


def manifest(choices: Choices, _charset: str) -> Made:
    value = harm_html.json_string(choices, reference(choices))
    return Made(encode(f'{{"start_url":{value},"icons":[{{"src":{value}}}]}}', "utf-8"), "application/manifest+json")


# --- XML --------------------------------------------------------------------------------------------------------------

_CHARACTERS: Final = {**dict.fromkeys(range(32), " "), 9: "\t", 10: "\n", 13: "\r", 0xFFFE: "", 0xFFFF: ""}


def legal(text: str) -> str:
    """Return text without characters that XML 1.0 does not allow."""
    return "".join(point for point in text.translate(_CHARACTERS) if not "\ud800" <= point <= "\udfff")


def xml_value(choices: Choices, value: str, quote: str) -> str:
    """Return a value as an author writes it in an attribute of XML, or in text if there is no quote."""
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


def xml(make: Callable[[Choices], str], media_type: str = "application/xml") -> Callable[[Choices, str], Made]:
    def made(choices: Choices, charset: str) -> Made:
        text = f"<?xml version='1.0' encoding='{charset}'?>{make(choices)}"
        mark = "\ufeff" if charset.startswith("utf-16") else ""
        return Made(encode(mark + text, charset), media_type)

    return made


def xml_attribute(choices: Choices) -> str:
    value, other = (xml_value(choices, reference(choices), choices.of(('"', "'"))) for _ in range(2))
    claim = f" xml:base={xml_value(choices, base(choices), choices.of(tuple(REFERENCES)))}" if choices.one_in(2) else ""
    return choices.of((
        "<feed xmlns='http://www.w3.org/2005/Atom'{2}><link href={0}/><entry{2}><content src={1}/></entry></feed>",
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'{2}><a xlink:href={0} z='&lt;'/><image href={1}/></svg>",
        "<html xmlns='http://www.w3.org/1999/xhtml'{2}><body><p title='\"'><a href={0}>&lt;</a><img src={1}/></p></body></html>",
        "<opml{2}><body><outline text='t' xmlUrl={0} htmlUrl={1}/></body></opml>",
    )).format(value, other, claim)  # fmt: skip


def xhtml_style(choices: Choices) -> str:
    text = sheet(choices)
    cdata = choices.one_in(2)
    inside = f"<![CDATA[{legal(text).replace(']]>', ']] >')}]]>" if cdata else xml_value(choices, text, "")
    value = xml_value(choices, harm_html.declarations(choices), '"')
    return f"<html xmlns='{XHTML}'><head><style>{inside}</style></head><body style={value}>t</body></html>"


def xml_cdata(choices: Choices) -> str:
    value = legal(reference(choices)).replace("]]>", "]]]]><![CDATA[>")
    return f"<rss><channel><link>{choices.of(('', ' '))}<![CDATA[{value}]]></link><title>]] &gt;</title><link>x</link></channel></rss>"


def xml_text(choices: Choices) -> str:
    value = xml_value(choices, reference(choices), "")
    return choices.of((
        "<rss><channel><link>{0}</link><title>]]&gt;</title></channel></rss>",
        "<rss><channel><link>a<!-- c -->{0}</link></channel></rss>",
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> {0} </loc></url></urlset>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><icon>{0}</icon></feed>",
    )).format(value)  # fmt: skip


def xml_pi(choices: Choices) -> str:
    value = legal(reference(choices)).replace("?>", "? >")
    quote = choices.of(('"', "'"))
    value = (
        value.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", choices.of(("&gt;", "&#62;", ">")))
        .replace(quote, REFERENCES[quote])
        .replace("?>", "?&gt;")
    )
    return f"<?xml-stylesheet type='text/css' href={quote}{value}{quote}?><feed xmlns='http://www.w3.org/2005/Atom'><title>?&gt;</title></feed>"


def inner_html(choices: Choices) -> str:
    make = harm_html.CONTEXTS[choices.of(tuple(harm_html.CONTEXTS))] if choices.one_in(3) else harm_html.some
    return legal(make(choices) + choices.of(("", '<b title="x\'">b</b>')))


def feed_escaped(choices: Choices) -> str:
    text = (
        inner_html(choices)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", choices.of((">", "&gt;")))
        .replace("]]>", "]]&gt;")
    )
    return choices.of((
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='html'>{0}</content></entry></feed>",
        "<rss><channel><item><description>{0}</description></item></channel></rss>",
    )).format(text)  # fmt: skip


def feed_cdata(choices: Choices) -> str:
    text = inner_html(choices).replace("]]>", "]] >")
    return choices.of((
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='html'><![CDATA[{0}]]></content></entry></feed>",
        "<rss><channel><item><description><![CDATA[{0}]]></description></item></channel></rss>",
    )).format(text)  # fmt: skip


# --- messages ---------------------------------------------------------------------------------------------------------


def field(choices: Choices, value: str) -> str:
    """Return a value on one line, without NUL, for a field."""
    text = value.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\n", choices.of(("%0A", "", "\r\n ")))


def page(choices: Choices, charset: str, *, declared: bool) -> str:
    return harm_html.document(choices, choices.of(tuple(harm_html.CONTEXTS)), label=charset if declared else None)


def raw_field(choices: Choices, charset: str, value: str) -> bytes:
    data = encode(field(choices, value), charset if not charset.startswith("utf-16") else "utf-8")
    return data if choices.one_in(3) else b"".join(bytes((byte,)) if byte < 0x80 else b"%%%02X" % byte for byte in data)


def mail_header(choices: Choices, charset: str) -> Made:
    names = (b"Content-Base", b"Content-Location", b"Base", b"Link", b"Location", b"Refresh", b"SourceMap")
    lines = [b"From: a@b", b'Subject: <x> "y"']
    for _ in range(1 + choices.below(3)):
        name = choices.of(names)
        value = raw_field(choices, charset, choices.of((reference, base))(choices))
        lines.append(name + b": " + {b"Link": b"<%b>; rel=x, <y>", b"Base": b"<URL:%b>", b"Refresh": b"0;url=%b"}.get(name, b"%b") % value)
    lines += [b"MIME-Version: 1.0", b"Content-Type: text/html; charset=" + charset.encode(), b"", b'<a href="x">t</a>', b""]
    return Made(b"\r\n".join(lines), "message/rfc822")


def mail_part(transfer: str) -> Callable[[Choices, str], Made]:
    def made(choices: Choices, charset: str) -> Made:
        text = encode(page(choices, charset, declared=False), charset)
        body = (quopri.encodestring(text) if transfer == "quoted-printable" else base64.encodebytes(text) if transfer == "base64" else text)
        location = raw_field(choices, charset, base(choices))
        head = b"Content-Type: text/html; charset=%b\r\nContent-Transfer-Encoding: %b\r\n" % (charset.encode(), transfer.encode())
        head += b"Content-Location: %b\r\n" % location if choices.one_in(2) else b""
        body = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if transfer != "8bit" else body
        if choices.one_in(2):
            return Made(b"From: a@b\r\nMIME-Version: 1.0\r\n" + head + b"\r\n" + body, "message/rfc822")
        outer = b'From: a@b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="B"\r\n\r\n--B\r\n%b\r\n%b\r\n--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--\r\n'
        return Made(outer % (head, body), "message/rfc822")

    return made


def http_header(choices: Choices, charset: str) -> Made:
    lines = [b"HTTP/1.1 302 Found"]
    for _ in range(1 + choices.below(3)):
        name = choices.of((b"Location", b"Content-Location", b"Link", b"Refresh", b"SourceMap", b"Base", b"Content-Base"))
        value = raw_field(choices, charset, choices.of((reference, base))(choices))
        lines.append(name + b": " + {b"Link": b"<%b>; rel=x, <y>", b"Refresh": b"0;url=%b"}.get(name, b"%b") % value)
    body = b'<a href="x">t</a>'
    lines += [b"Set-Cookie: a=b", b"Content-Type: text/html; charset=" + charset.encode(), b"Content-Length: %d" % len(body), b"", body]
    return Made(b"\r\n".join(lines), "message/http")


def response(choices: Choices, charset: str) -> bytes:
    body = encode(page(choices, charset, declared=False), charset)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%b\r\n" % charset.encode()
    head += b"Content-Base: %b\r\n" % raw_field(choices, charset, base(choices)) if choices.one_in(3) else b""
    kind = choices.below(3)
    if kind == 1:
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[at : at + 50]), body[at : at + 50]) for at in range(0, len(body), 50))
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    if kind == 2:
        body = gzip.compress(body, 1, mtime=0)
        return head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def http_body(choices: Choices, charset: str) -> Made:
    return Made(response(choices, charset), "message/http")


# --- archives ---------------------------------------------------------------------------------------------------------


def record(block: bytes, target: bytes, kind: bytes = b"response", media_type: bytes = b"application/http") -> bytes:
    head = b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <urn:x>\r\nWARC-Target-URI: %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, target, media_type, len(block)) + block + b"\r\n\r\n"


def target_uri(choices: Choices) -> bytes:
    text = field(choices, base(choices)).replace("\n", "")
    return text.encode("utf-8", "replace") or b"http://h/"


def warc_header(choices: Choices, charset: str) -> Made:
    body = encode(page(choices, charset, declared=True), charset)
    return Made(record(body, target_uri(choices), b"resource", b"text/html") + record(b"x", b"http://h/y"), "application/warc")


def warc_payload(choices: Choices, charset: str) -> Made:
    return Made(record(response(choices, charset), target_uri(choices)) + record(b"x", b"http://h/y"), "application/warc")


CONTEXTS: Final[dict[str, Callable[[Choices, str], Made]]] = {
    "CSS file": css,
    "web app manifest": manifest,
    "XML attribute": xml(xml_attribute),
    "XHTML style": xml(xhtml_style, "application/xhtml+xml"),
    "XML CDATA": xml(xml_cdata),
    "XML text": xml(xml_text),
    "XML PI": xml(xml_pi),
    "feed, escaped": xml(feed_escaped),
    "feed, CDATA": xml(feed_cdata),
    "mail header": mail_header,
    "mail, quoted-printable": mail_part("quoted-printable"),
    "mail, base64": mail_part("base64"),
    "mail, 8bit": mail_part("8bit"),
    "HTTP header": http_header,
    "HTTP body": http_body,
    "WARC header": warc_header,
    "WARC payload": warc_payload,
}
