"""The formats that absolve reads: one table from media type to walker, and what a file's name or content says.

A walker is imported when the first document of its kind is met.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from mimetypes import MimeTypes

    from absolve.encodings.charsets import Charset
    from absolve.formats.protocols import Walker, WalkOptions

HTML: Final = "text/html"
CSS: Final = "text/css"
XML: Final = "application/xml"  # and every other type that XML is sent under: `canonical`
HTTP: Final = "message/http"
WARC: Final = "application/warc"  # and ARC
MESSAGE: Final = "message/rfc822"
MAILBOX: Final = "application/mbox"
JSON_LD: Final = "application/ld+json"
IMPORT_MAP: Final = "application/importmap+json"
SPECULATION_RULES: Final = "application/speculationrules+json"
MANIFEST: Final = "application/manifest+json"
OTHER: Final = "application/x.other"  # ours: what absolve does not read
HAR: Final = "application/har+json"  # no name of it is registered
RECORDS: Final = "application/warc-records"  # what a compressed member of such a file holds
ZIP: Final = "application/zip"
PACKAGES: Final = (ZIP, "application/epub+zip", "application/wacz", "application/x-zip-compressed")


class Format(NamedTuple):
    """How documents of one media type are read: by a function of a module, given bytes in a charset.

    `charset` says how that is found out: html, xml, text, or none for bytes that are no text as a whole. `as_bytes`:
    the walker reads every charset in which ASCII is ASCII; others get what is not UTF-8 through a charset coding.
    `archive`: a file of documents that came each from its own place: where the file is from says nothing of them, and
    a place in it is said by byte.
    """

    module: str
    function: str
    charset: str = "text"
    as_bytes: bool = False
    archive: bool = False


WALKERS: Final[dict[str, Format]] = {
    HTML: Format("absolve.formats.html.walker", "walk", "html", as_bytes=True),
    CSS: Format("absolve.formats.css.walker", "walk_sheet"),
    XML: Format("absolve.formats.xml.walker", "walk", "xml"),
    "text/css;declarations": Format("absolve.formats.css.walker", "walk_declarations"),
    "message/rfc822": Format("absolve.formats.mail.walker", "walk", "none"),
    "message/part": Format("absolve.formats.mail.walker", "walk_part", "none"),  # of a multipart
    "message/part-of-digest": Format("absolve.formats.mail.walker", "walk_part_of_digest", "none"),
    "multipart/related": Format("absolve.formats.mail.walker", "walk", "none"),  # MHTML as servers name it
    "application/x-mimearchive": Format("absolve.formats.mail.walker", "walk", "none"),
    "application/mbox": Format("absolve.formats.mail.walker", "walk_mailbox", "none"),
    IMPORT_MAP: Format("absolve.formats.json.walker", "walk_import_map"),
    SPECULATION_RULES: Format("absolve.formats.json.walker", "walk_speculation_rules"),
    MANIFEST: Format("absolve.formats.json.walker", "walk_manifest"),
    JSON_LD: Format("absolve.formats.json.json_ld", "walk"),
    HTTP: Format("absolve.formats.http.walker", "walk", "none"),
    "application/http": Format("absolve.formats.http.walker", "walk", "none"),
    WARC: Format("absolve.formats.warc.walker", "walk", "none", archive=True),
    RECORDS: Format("absolve.formats.warc.walker", "walk_records", "none", archive=True),
    OTHER: Format("absolve.formats.registry", "walk_nothing", "none"),
    HAR: Format("absolve.formats.json.har", "walk", "none", archive=True),
    "application/har-entry": Format("absolve.formats.json.har", "walk_entry", "none"),
    **dict.fromkeys(PACKAGES, Format("absolve.formats.zip.walker", "walk", "none", archive=True)),
}
SUFFIXES: Final[dict[str, str]] = {
    **dict.fromkeys((".html", ".htm", ".shtml"), HTML),
    ".css": CSS,
    **dict.fromkeys((".xml", ".xhtml", ".xht", ".svg", ".mml", ".mathml", ".xsl", ".xslt"), XML),
    **dict.fromkeys((".rss", ".atom", ".rdf", ".opml", ".cdf", ".xspf", ".kml", ".gpx"), XML),
    **dict.fromkeys((".opf", ".ncx", ".smil", ".dtbook", ".docbook", ".dbk", ".dita", ".ditamap"), XML),
    **dict.fromkeys((".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"), WARC),
    **dict.fromkeys((".eml", ".mht", ".mhtml"), MESSAGE),
    **dict.fromkeys((".mbox", ".mbx"), MAILBOX),
    ".jsonld": JSON_LD,
    ".importmap": IMPORT_MAP,
    ".webmanifest": MANIFEST,
    ".har": HAR,
    **dict.fromkeys((".epub", ".wacz", ".zip"), ZIP),
}
JSON: Final = (JSON_LD, IMPORT_MAP, SPECULATION_RULES, MANIFEST)
MAIL: Final = (MESSAGE, "multipart/related", "application/x-mimearchive", MAILBOX)  # what is read as messages
_TAG: Final = pattern(rb"<[!?A-Za-z/]")
_MARKUP: Final = pattern(rb"[\t\n\f\r ]*<[!?A-Za-z/]")
_LOOKED_AT: Final = 2048
_XML_TYPE: Final = pattern(r"(?:text|application)/xml|[^/]+/[^/]+\+xml")  # RFC 7303, section 3 and 4.2
# XML 1.0 2.8: what may stand before the root element, and that element's name without a prefix
_PROLOG: Final = pattern(
    rb"(?:\xef\xbb\xbf)?+(<\?xml[\t\n\r ])?+"
    rb"(?:[^<]++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*+(?:\[.*?\][\t\n\r ]*+)?+>)*+"
    rb"<(?:[A-Za-z0-9_.-]++:)?+([A-Za-z0-9_.-]++)",
    re.DOTALL,
)
# What JSON of this name is, if it begins so. What has a manifest_version is the manifest of a browser extension.
_APP: Final = pattern(rb'[^{]*\{(?!.*"manifest_version").*"(?:start_url|display|short_name|icons)"', re.DOTALL)
_MAP: Final = pattern(rb'[^{]*\{.*"(?:imports|scopes)"', re.DOTALL)
_JSON_NAMES: Final = {
    "manifest.json": (MANIFEST, _APP),
    **dict.fromkeys(("importmap.json", "import_map.json"), (IMPORT_MAP, _MAP)),
}
# Root elements that say without an XML declaration that this is no HTML.
_XML_ROOTS: Final = frozenset(
    b"rss RDF feed opml svg urlset sitemapindex package ncx smil kml gpx playlist stylesheet".split()
)
_SIGNATURES: Final[dict[str, re.Pattern[bytes]]] = {
    # of ARC: its first record, or any other
    WARC: pattern(rb"WARC/[0-9]\.[0-9]+[\t ]*\r?\n|[A-Za-z]+:[^\n]* [0-9]{14} [^\n ]+ [0-9]+\r?\n"),
    HTTP: pattern(rb"HTTP/[0-9.]+ +[0-9]{3}[ \r\n]"),
    ZIP: pattern(rb"PK(?:\x03\x04|\x05\x06)"),
    HAR: pattern(rb'(?:\xef\xbb\xbf)?[\t\n\r ]*\{[\t\n\r ]*"log"[\t\n\r ]*:[\t\n\r ]*\{'),
    # RFC 4155; RFC 5322 3.6: one of these is in every message
    MAILBOX: pattern(rb"From [^\n]*\n(?:>?From [^\n]*\n)?[!-9;-~]++:"),
    MESSAGE: pattern(
        rb"(?:\xef\xbb\xbf)?(?:[!-9;-~]++:[^\n]*+\n(?:[\t ][^\n]*+\n)*+)*?"
        rb"(?:Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version|Content-Type):[^\n]*+\n"
        rb"(?:[\t ][^\n]*+\n)*+(?:[!-9;-~]++:|\r?\n)",
        re.IGNORECASE,
    ),
    # MIME Sniffing 7.1, the table of what scripts may be in
    HTML: pattern(
        rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b"
        rb"|body|br|p|!--)[\t\n\f\r >]",
        re.IGNORECASE,
    ),
}

_BEGIN_AS_TAGS: Final = (MESSAGE, HTML)  # of them, what may begin as markup does


def walk_nothing(data: bytes, charset: Charset, options: WalkOptions) -> tuple[()]:  # noqa: ARG001 - it has no use for them
    """What absolve does not read has no links that it knows of."""
    return ()


def canonical(media_type: str) -> str:
    """The name that a media type without parameters has in `WALKERS`, if it is read at all."""
    return XML if media_type not in WALKERS and _XML_TYPE.fullmatch(media_type) else media_type


@lru_cache(maxsize=64)
def kind_of(media_type: str) -> str:
    """The name that a media type, which may have parameters, has in `WALKERS`, if it is read at all."""
    return canonical(essence_of(media_type)[0])


@lru_cache(maxsize=64)
def is_read(media_type: str) -> bool:
    """Whether absolve reads documents of this media type, which may have parameters."""
    return kind_of(media_type) in WALKERS


def is_archive(media_type: str) -> bool:
    """Whether documents of this media type came each from its own place."""
    return WALKERS[kind_of(media_type)].archive


@cache
@lru_cache(maxsize=64)
def walker(media_type: str) -> Walker | None:
    """The walker of a media type; None for a kind that absolve does not read."""
    if media_type not in WALKERS:
        return None
    found: Walker = getattr(import_module(WALKERS[media_type].module), WALKERS[media_type].function)
    return found


@lru_cache(maxsize=64)
def essence_of(media_type: str) -> tuple[str, dict[str, str]]:
    """A media type in lower case without its parameters, and those by their names in lower case (RFC 9110 8.3.1)."""
    essence, _, rest = media_type.partition(";")
    parameters = {name.strip().lower(): value for name, value in _PARAMETER.findall(rest)}
    return essence.strip().lower(), {name: _unquoted(value.strip()) for name, value in parameters.items()}


_PARAMETER: Final = pattern(r"""([^;=]+)=([\t ]*"(?:[^"\\]|\\.)*"|[^;]*)""")


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == value[-1:] == '"' else value.strip('"')


def sniff(data: bytes, name: str | None) -> str | None:
    """The media type of a document by its name, then by its content; None where neither says one that we read.

    Text with no other sign is HTML where nobody gave it a name; where one did, only if a tag is in it, and not if the
    name is that of another kind (`.js`, `.txt`). Bytes that are no text are none. A page that begins as XML does is
    read as HTML, unless its name says XML: most such pages are not well-formed.
    """
    named = _named(name, data) if name else None
    if named is not None and (named in {MESSAGE, MAILBOX} or WALKERS[named].archive):
        return named
    found = sniff_content(data)
    if found is not None and WALKERS[found].archive:
        return found
    if looks_binary(data) and not data.startswith(_UTF_16_XML):
        return None
    if named or found:
        return named or found
    return HTML if not (name and data) or (_TAG.search(_in_ascii(data)) and not _other_type(name)) else None


def is_other(data: bytes, name: str | None) -> bool:
    """Whether neither the name nor the content of a document is that of a kind that absolve reads."""
    return sniff(data, name) is None and _named(name or "", data) is None


def in_words(data: bytes, name: str) -> str:
    """What a document is that absolve does not read."""
    other = _other_type(name) if _named(name, data) is None else None
    return other or ("binary data" if looks_binary(data) else "plain text")


def _named(name: str, head: bytes) -> str | None:
    """The media type that a name says, one of `_JSON_NAMES` with the start of the data."""
    own = _JSON_NAMES.get(re.split(r"[/\\]", name.lower())[-1])
    if own is not None and own[1].match(head[:_LOOKED_AT]):
        return own[0]
    suffix = re.search(r"(?:\.[a-z0-9]+)?(\.[a-z0-9]+)$", name.lower())
    return SUFFIXES.get(suffix[0]) or SUFFIXES.get(suffix[1]) if suffix else None


def sniff_content(data: bytes) -> str | None:
    """The media type that the first bytes are a signature of; None where they are none of what we read.

    XML may have text before its root element, but what begins as a message or an archive is one, whatever is in it.
    """
    head = data[:_LOOKED_AT]
    if head.startswith(b"\x1f\x8b"):
        import zlib

        with suppress(zlib.error):
            head = zlib.decompressobj(31).decompress(head, _LOOKED_AT)
        return WARC if _SIGNATURES[WARC].match(head) else None
    if head.startswith(_ZSTANDARD):
        from absolve.formats.compression import zstandard_head  # few files need it

        head = zstandard_head(data[:_FRAME], _LOOKED_AT)
        return WARC if data.startswith(_ZSTANDARD[1]) or _SIGNATURES[WARC].match(head) else None
    begins_as_markup = _MARKUP.match(_in_ascii(head).removeprefix(b"\xef\xbb\xbf")) is not None
    if begins_as_markup and _is_xml(data):
        return XML
    for media_type in _BEGIN_AS_TAGS if head[:1] == b"<" else _SIGNATURES:
        if _SIGNATURES[media_type].match(head):
            return media_type
    return XML if not begins_as_markup and _is_xml(data) else None


_ZSTANDARD: Final = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")  # a frame; the dictionary of a WARC file
_FRAME: Final = 1 << 18  # bytes that hold the first block of a frame
_UTF_16_XML: Final = (b"<\0?\0", b"\0<\0?")  # XML 1.0 appendix F.1: without a byte order mark


def _in_ascii(data: bytes) -> bytes:
    """UTF-16 as far as it is ASCII, as markup is; anything else as it is."""
    return data.translate(None, b"\0\xfe\xff") if data.startswith((b"\xfe\xff", b"\xff\xfe", *_UTF_16_XML)) else data


def _is_xml(data: bytes) -> bool:
    found = _PROLOG.match(_in_ascii(data[:_LOOKED_AT]))
    if found is None or found[2].lower() == b"html":
        return False
    return found[1] is not None or found[2] in _XML_ROOTS


def recognised(data: bytes, name: str) -> str | None:
    """As `sniff`, for a file that nobody named: text is HTML only where its name says nothing else and its start so.

    The start of the data is enough.
    """
    named = _named(name, data)
    if named is not None:
        return named
    found = sniff_content(data)
    return None if found == HTML and _other_type(name) else found


def _other_type(name: str) -> str | None:
    """The kind of file that a name is that of, whether absolve reads it or not."""
    return _other_types().guess_type(name)[0]


@cache
def _other_types() -> MimeTypes:
    """The suffixes of the kinds of files that are about, whatever the machine; imported only where one is wanted."""
    from mimetypes import MimeTypes

    return MimeTypes()


def looks_binary(data: bytes) -> bool:
    """Whether the first bytes hold control characters that no text has (MIME Sniffing 7.1), or are a known signature.

    UTF-16 is text; a few NUL bytes in the middle of markup are a blemish of it.
    """
    head = data[:_LOOKED_AT]
    if head.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")) or _MARKUP.match(head):
        return False
    return any(byte < 0x20 and byte not in b"\t\n\f\r\x1b\x08" for byte in head)
