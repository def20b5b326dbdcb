"""File name extensions by media type, and media types by content where none was stated.

In: a media type without parameters, a file name, the first bytes of a payload. Out: the extension that the name lacks,
or the media type. A browser that opens a file knows its media type by the extension: see `browsers`.
"""

from __future__ import annotations

import re
from typing import Final

from absolve.formats import registry
from absolve.mirror import browsers

# Media type -> the extensions that fit; the first one is added where a name has none of them.
FITTING: Final[dict[str, tuple[str, ...]]] = {
    "text/html": ("html", "htm"),
    "application/xhtml+xml": ("xhtml", "xht"),
    "text/css": ("css",),
    **dict.fromkeys(browsers.JAVASCRIPT, ("js", "mjs")),
    "application/json": ("json", "map", "webmanifest", "geojson"),
    "application/ld+json": ("jsonld", "json"),
    "application/manifest+json": ("webmanifest", "json"),
    "application/importmap+json": ("importmap", "json"),
    **dict.fromkeys(
        ("application/xml", "text/xml", "text/xsl"),
        ("xml", "xsl", "xslt", "rss", "atom", "rdf", "svg", "opml", "xsd", "dtd", "ncx", "opf", "kml", "gpx"),
    ),
    **dict.fromkeys(
        ("application/rss+xml", "application/atom+xml", "application/rdf+xml"), ("xml", "rss", "atom", "rdf")
    ),
    "application/xslt+xml": ("xslt", "xsl", "xml"),
    "image/svg+xml": ("svg", "svgz"),
    "image/png": ("png", "apng"),
    "image/apng": ("apng", "png"),
    "image/gif": ("gif",),
    **dict.fromkeys(("image/jpeg", "image/jpg", "image/pjpeg"), ("jpg", "jpeg", "jpe", "jfif")),
    "image/webp": ("webp",),
    "image/avif": ("avif",),
    **dict.fromkeys(("image/x-icon", "image/vnd.microsoft.icon"), ("ico", "cur")),
    **dict.fromkeys(("image/bmp", "image/x-ms-bmp"), ("bmp", "dib")),
    "image/tiff": ("tif", "tiff"),
    **dict.fromkeys(("font/woff", "application/font-woff", "application/x-font-woff"), ("woff",)),
    **dict.fromkeys(("font/woff2", "application/font-woff2"), ("woff2",)),
    **dict.fromkeys(("font/ttf", "font/sfnt", "application/x-font-ttf", "application/font-sfnt"), ("ttf", "otf")),
    **dict.fromkeys(("font/otf", "application/x-font-otf"), ("otf", "ttf")),
    "application/vnd.ms-fontobject": ("eot",),
    "application/pdf": ("pdf",),
    "application/epub+zip": ("epub",),
    "application/wasm": ("wasm",),
    "application/zip": (
        *("zip", "jar", "docx", "xlsx", "pptx", "odt", "ods", "epub", "xpi", "apk"),
        *("war", "ear", "aar", "maff", "wacz", "htz", "whl", "cbz", "kmz", "nupkg", "vsix"),
    ),
    "application/gzip": ("gz", "tgz"),
    "audio/mpeg": ("mp3", "mpga", "mp2"),
    **dict.fromkeys(("audio/ogg", "application/ogg"), ("ogg", "oga", "opus")),
    **dict.fromkeys(("audio/wav", "audio/x-wav", "audio/wave"), ("wav",)),
    "audio/mp4": ("m4a", "mp4"),
    "audio/webm": ("weba", "webm"),
    "audio/flac": ("flac",),
    "video/mp4": ("mp4", "m4v", "m4s"),
    "video/webm": ("webm",),
    "video/ogg": ("ogv", "ogg"),
    "video/quicktime": ("mov", "qt"),
    "text/vtt": ("vtt",),
    "text/csv": ("csv",),
    "text/markdown": ("md", "markdown"),
}
_KNOWN: Final = frozenset(extension for fitting in FITTING.values() for extension in fitting)
_TEXT: Final = ("text/plain", "txt")
OTHER: Final = "application/octet-stream"
# Extensions by which a browser does not show text as text.
_NOT_TEXT: Final = _KNOWN - {"js", "mjs", "json", "map", "css", "md", "markdown", "csv", "vtt", "xml", "xsl", "xslt"}
_EXTENSION: Final = re.compile(r"[A-Za-z0-9]{1,11}")  # the longest one is webmanifest
_CHARSET: Final = re.compile(r"[A-Za-z0-9_.:+-]{1,40}")
# The first media type whose own extension it is (its first one), else the first one that it fits.
_BY_EXTENSION: Final = {
    **{extension: media_type for media_type, fitting in reversed(FITTING.items()) for extension in fitting},
    **{fitting[0]: media_type for media_type, fitting in reversed(FITTING.items())},
    _TEXT[1]: _TEXT[0],
}

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"%PDF-", "application/pdf"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x00\x01\x00\x00\x00", "font/ttf"),
    (b"OTTO", "font/otf"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x00asm", "application/wasm"),
)


def suffix(name: str) -> str:
    """Return the extension of a file name in lower case, without the dot; "" if it has none."""
    stem, _, found = name.rpartition(".")
    return found.lower() if stem and _EXTENSION.fullmatch(found) else ""


def lacking(media_type: str, name: str, looks: str = "") -> str:
    """Return the extension, with its dot, that a name needs to be read as this media type; "" if it needs none.

    `looks` is what `browsers.markup` returns of the content. A name by which a file would run more than its media type
    allows needs one, too.
    """
    needed = _unfit(media_type, name)
    if not needed and not browsers.is_harmless(name, media_type, looks):
        needed = _unfit(media_type, "") if browsers.is_active(media_type) else f".{_TEXT[1]}"
    return needed


def _unfit(media_type: str, name: str) -> str:
    """Return the extension, with its dot, that fits a media type; "" if that of the name does."""
    own = suffix(name)
    if media_type == _TEXT[0]:
        return "" if own and own not in _NOT_TEXT else f".{_TEXT[1]}"
    fitting = FITTING.get(media_type)
    if fitting is None and media_type.endswith("+xml"):
        fitting = ("xml",) if not own or own in _KNOWN - set(FITTING["application/xml"]) else (own,)
    if fitting is None and media_type.endswith("+json"):
        fitting = ("json", *((own,) if own and own not in _KNOWN else ()))
    return "" if fitting is None or own in fitting else f".{fitting[0]}"


def by_name(name: str) -> str:
    """Return the media type that an extension has; "" if it is not known."""
    return _BY_EXTENSION.get(suffix(name), "")


def of_file(name: str, data: bytes) -> str:
    """Return the media type of a file that somebody has: what its name is; the content counts where that says nothing.

    A file of a program that runs on a server (`page.php`) was saved with what the program answered.
    """
    name = name[max(name.rfind("/"), name.rfind("\\")) + 1 :]
    name = name if by_name(name) else name.partition("?")[0] or name  # wget keeps the query in the name
    opened = browsers.from_disk(name)
    has_none = not suffix(name) and not name.startswith(".")
    is_unsaid = opened == browsers.SNIFFED and (has_none or suffix(name) in _ON_SERVER)
    found = registry.recognised(data, name)
    if found is not None and browsers.is_active(found) and not is_unsaid:
        found = registry.recognised(b"", name)
    named = by_name(name) or (opened if "/" in opened else "")
    if found is not None and not (found == registry.XML and named):
        return found
    content = "" if named else sniffed(data)
    return named or found or ("" if browsers.is_active(content) and not is_unsaid else content)


def content_type(path: str, stated: str) -> str:
    """Return the Content-Type of a file: that of the map if it is one (RFC 9110 8.3.1), else by its name.

    What a browser runs has a name that says so: the mirror gave another one to what the capture did not let run.
    """
    essence, parameters = registry.essence_of(stated)
    if not registry.is_media_type(essence):
        essence = by_name(path)
    if _is_active(essence) and not _is_active(browsers.from_disk(path.rpartition("/")[2])):
        essence = "text/plain"
    charset = parameters.get("charset", "")
    return f"{essence}; charset={charset}" if essence and _CHARSET.fullmatch(charset) else essence or OTHER


def _is_active(essence: str) -> bool:
    is_document = registry.kind_of(essence) in {registry.HTML, registry.XML}
    return is_document or essence.startswith(("multipart/", "message/"))


_ON_SERVER: Final = frozenset("php php3 php4 php5 phtml asp aspx jsp jspx cfm cfml cgi do action".split())


def sniffed(data: bytes) -> str:
    """Return the media type of a payload by its first bytes; "" if it is not recognised."""
    head = data[:64]
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] in {b"WEBP", b"WAVE"}:
        return "image/webp" if head[8:12] == b"WEBP" else "audio/wav"
    if head[4:8] == b"ftyp":
        return "image/avif" if head[8:12] == b"avif" else "video/mp4"
    found = registry.sniff_content(data) if data else None
    if found == registry.XML and b"<svg" in data[:2048]:
        return "image/svg+xml"
    if found in {registry.HTML, registry.XML}:
        return found
    return ""
