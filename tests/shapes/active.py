"""Responses that try to run a script: media types, names, header fields and charsets, each with the body that would.

The script of a shape calls `ran("N")`, with its number, where the browser that opens it has such a function.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

HOST: Final = "web.example"
Fields = tuple[tuple[str, str], ...]


class Response(NamedTuple):
    """A response by its last segment and query, and its header fields."""

    name: str
    fields: Fields
    body: bytes


class Shape(NamedTuple):
    """The response that is opened comes first; the others are parts of it. All are below `/N/`."""

    kind: str
    what: str
    responses: tuple[Response, ...]


# What a browser knows to run, what it knows not to, what it sniffs, and what no standard knows.
TYPES: Final = (
    *("text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "application/rss+xml"),
    *("text/plain", "application/octet-stream", "image/png", "application/json", "text/css", "text/javascript"),
    *("application/pdf", "text/xsl", "text/x-unknown", "multipart/x-mixed-replace; boundary=b", "message/rfc822", "*/*"),
    *("multipart/related; boundary=b", "html", "", "-"),
)
NAMES: Final = (
    *("x.html", "x.shtml", "x.xhtml", "x.svg", "x.xml", "x.xsl", "x.mht", "x.txt", "x.png", "x.php", "x", "x.html?q=1"),
    *("x.png?a.html", "x.HTML", "x.html%20", "x%2Ehtml", "x.html%00", "x.html/", ".htaccess", ".html", "x.ehtml", "x.odd"),
)
_SCRIPT: Final = "<script>ran('%s')</script>"
HTML: Final = f"<!DOCTYPE html><title>x</title>{_SCRIPT}<p>x"
SVG: Final = f'<svg xmlns="http://www.w3.org/2000/svg">{_SCRIPT}</svg>'
XHTML: Final = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title>{_SCRIPT}</head><body/></html>'
MHTML: Final = (
    "From: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b; type=text/html\r\n\r\n"
    f"--b\r\nContent-Type: text/html\r\nContent-Location: http://{HOST}/m\r\n\r\n{HTML}\r\n--b--\r\n"
)
_UTF_7: Final = "+ADw-script+AD4-ran(+ACI-%s+ACI-)+ADw-/script+AD4-"
_BY_NAME: Final = {"x.svg": SVG, **dict.fromkeys(("x.xhtml", "x.xml", "x.xsl"), XHTML), "x.mht": MHTML}
_BY_TYPE: Final = {"image/svg+xml": SVG, "application/xhtml+xml": XHTML}
_POLICY: Final = "Content-Security-Policy"
FIELDS: Final[dict[str, Fields]] = {
    "nosniff": (("X-Content-Type-Options", "nosniff"),), "attachment": (("Content-Disposition", "attachment"),),
    "attachment with a name": (("Content-Disposition", 'attachment; filename="y.html"'),),
    "unknown disposition": (("Content-Disposition", "foo; filename=x"),), "script-src 'none'": ((_POLICY, "script-src 'none'"),),
    "default-src 'self'": ((_POLICY.lower(), "default-src 'self'"),), "nonce": ((_POLICY, "script-src 'nonce-x'"),),
    "hash": ((_POLICY, "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"),),
    "strict-dynamic": ((_POLICY, "script-src 'strict-dynamic' 'nonce-x' 'unsafe-inline'"),),
    "script-src-elem": ((_POLICY, "script-src 'unsafe-inline'; script-src-elem 'none'"),),
    "two policies": ((_POLICY, "script-src 'unsafe-inline'"), (_POLICY, "script-src 'none'")),
    "a comma": ((_POLICY, "script-src 'unsafe-inline', script-src 'none'"),),
    "sandbox": ((_POLICY, "sandbox"),), "sandbox allow-forms": ((_POLICY, "img-src *; sandbox allow-forms"),),
    "only https:": ((_POLICY, "script-src https:"),), "report only": ((f"{_POLICY}-Report-Only", "script-src 'none'"),),
    "quotes": ((_POLICY, "script-src 'none' \"><script>ran('%s')</script>"),),
}
_ACTIVE: Final = (
    *(("text/html", "x.html", HTML), ("text/html", "x", HTML), ("application/xhtml+xml", "x.xhtml", XHTML)),
    *(("image/svg+xml", "x.svg", SVG), ("application/xml", "x.xml", XHTML), ("-", "x.html", HTML)),
)
_CHARSETS: Final = (
    *("utf-8", "utf-7", "iso-2022-kr", "hz-gb-2312", "iso-2022-cn", "replacement", "utf-16", "utf-16be", "utf-32"),
    *("iso-2022-jp", "shift_jis", "gb18030", "x-user-defined", "unknown", "ibm037", "scsu", ""),
)
_STARTS: Final = ("", "\ufeff", "GIF89a", "\0", "x" * 600, "<!---->", "%PDF-1.4 ", "<?xml version='1.0'?>")
_OF_SCRIPTS: Final = (
    *("text/javascript", "text/plain", "application/octet-stream", "image/png", "text/csv", "text/html", "video/mp4"),
    *("application/json", "text/css", "-"),
)


class _Maker:
    """Makes shapes, with the number of each in its scripts."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.kind = ""

    def add(self, what: str, *responses: tuple[str, Fields, str], codec: str = "utf-8") -> None:
        number = str(len(self.shapes))
        made = (
            Response(
                name,
                tuple((field, value.replace("%s", number)) for field, value in fields),
                text.replace("%s", number).encode(codec, "surrogatepass"),
            )
            for name, fields, text in responses
        )
        self.shapes.append(Shape(self.kind, what, tuple(made)))


def _field(media_type: str) -> Fields:
    return () if media_type == "-" else (("Content-Type", media_type),)


def _types_by_names(maker: _Maker, types: Iterable[str]) -> None:
    for media_type in types:
        for name in NAMES:
            body = _BY_TYPE.get(media_type) or _BY_NAME.get(name, HTML)
            maker.add(f"{media_type} {name}", (name, _field(media_type), body))


def _fields(maker: _Maker) -> None:
    for media_type, name, body in _ACTIVE:
        for what, fields in FIELDS.items():
            maker.add(f"{media_type} {name} {what}", (name, (*_field(media_type), *fields), body))
    for one, other in (("text/html", "text/plain"), ("text/plain", "text/html"), ("image/png", "text/html; charset=x")):
        for name in ("x.html", "x", "x.svg"):
            maker.add(f"{one}, {other} {name}", (name, (*_field(one), *_field(other)), HTML))


def _contents(maker: _Maker) -> None:
    for media_type in ("text/html", "text/plain", "", "-"):
        for start in _STARTS:
            for name in ("x", "x.html"):
                maker.add(f"{media_type} {name} after {start[:9]!r}", (name, _field(media_type), start + HTML))


def _charsets(maker: _Maker) -> None:
    for charset in _CHARSETS:
        for what, body in (("html", HTML), ("html in utf-7", _UTF_7)):
            for media_type in ("text/html", "text/plain"):
                given = _field(f"{media_type}; charset={charset}")
                maker.add(f"{media_type} charset={charset} {what}", ("x.html", given, body))
        maker.add(f"meta charset={charset}", ("x.html", _field("text/html"), f"<meta charset='{charset}'>{HTML}"))
    for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"):
        for media_type in ("text/html", "text/plain", "text/html; charset=utf-16le", "application/xhtml+xml", "-"):
            body = _BY_TYPE.get(media_type, HTML)
            maker.add(f"{media_type} in {codec}", ("x.html", _field(media_type), body), codec=codec)


def _scripts(maker: _Maker) -> None:
    for media_type in _OF_SCRIPTS:
        for name in ("s.js", "s", "s.txt"):
            for more in ((), FIELDS["nosniff"]):
                page = ("p.html", _field("text/html"), f"<!DOCTYPE html><title>x</title><script src='{name}'></script>")
                script = (name, (*_field(media_type), *more), "ran('%s')")
                maker.add(f"script src {media_type} {name} {'nosniff' if more else ''}", page, script)


KINDS: Final[dict[str, Callable[[_Maker], None]]] = {
    "documents by name": lambda maker: _types_by_names(maker, TYPES[:9]),
    "other types by name": lambda maker: _types_by_names(maker, TYPES[9:]),
    "header fields": _fields, "contents": _contents, "charsets": _charsets, "script elements": _scripts,
}


def _shapes() -> tuple[Shape, ...]:
    maker = _Maker()
    for kind, add in KINDS.items():
        maker.kind = kind
        add(maker)
    return tuple(maker.shapes)


SHAPES: Final = _shapes()
