r"""Find the media type of a document: by its name, by its first bytes, or by the header of a response.

In: bytes, a name, the media type that a header states. Out: a key of `registry.WALKERS`, or None. Signatures follow
MIME Sniffing 7.1.

>>> sniff(b"<p>x", "a.html"), sniff(b"WARC/1.1\r\n", None), sniff(b'{"a": 1}', None)
('text/html', 'application/warc', None)
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from absolve.core.lazy_regex import pattern
from absolve.formats.registry import (
    COMPRESSED,
    COMPRESSED_MAIL,
    CSS,
    EMLX,
    HAR,
    HTML,
    HTTP,
    IMPORT_MAP,
    IN_ZIP,
    JAVASCRIPT,
    JSON_FEED,
    MAIL,
    MAILBOX,
    MANIFEST,
    MARKDOWN,
    MESSAGE,
    OFFICE,
    ROBOTS,
    SCRIPT_SUFFIXES,
    SITEMAP,
    SUFFIXES,
    WALKERS,
    WARC,
    WEB_ARCHIVE,
    WEBLOC,
    XML,
    ZIP,
    in_zip,
    is_read,
    kind_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from mimetypes import MimeTypes

# Files of template engines: the suffix before it counts (`.css.erb`); without one, they are HTML with a tag.
_TEMPLATES: Final = (
    *(".php", ".phtml", ".phtm", ".erb", ".rhtml", ".eex", ".heex", ".ejs", ".jsp", ".asp", ".aspx", ".cshtml"),
    *(".j2", ".jinja", ".jinja2", ".twig", ".njk", ".liquid", ".hbs", ".handlebars", ".mustache", ".cfm", ".vbhtml"),
    *(".tmpl", ".tpl", ".tt", ".tt2", ".gotmpl", ".gohtml", ".ftl", ".ftlh", ".vm", ".mako", ".latte", ".vue"),
)
# Suffixes of text in other languages that Python's table lacks. Strings in such text may have markup.
_OTHER_SUFFIXES: Final = {
    "application/json": (".geojson", ".topojson", ".jsonl", ".ndjson", ".json5", ".jsonc", ".map"),
    "application/sql": (".sql", ".psql", ".ddl"),
    "application/yaml": (".yaml", ".yml"),
    "application/toml": (".toml",),
    "text/x-config": (".ini", ".cfg", ".conf", ".properties", ".env", ".htaccess"),
    "text/x-log": (".log",),
    "text/calendar": (".ics", ".ical", ".ifb", ".vcs"),
    "text/vcard": (".vcf", ".vcard"),
    "application/rtf": (".rtf",),
    "text/x-diff": (".diff", ".patch"),
    "text/x-gettext-translation": (".po", ".pot"),
    "text/x-sass": (".scss", ".sass", ".less", ".styl"),
    "text/asciidoc": (".adoc", ".asciidoc"),
    "text/x-rst": (".rst",),
    "text/x-wiki": (".wiki", ".mediawiki", ".textile"),
    "text/mjml": (".mjml",),
    "text/x-source": (
        *(".ts", ".tsx", ".jsx", ".mts", ".cts", ".cjs", ".coffee", ".dart", ".as", ".rb", ".go", ".rs", ".java"),
        *(".scala", ".groovy", ".clj", ".cs", ".fs", ".vb", ".vbs", ".bas", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm"),
        *(".swift", ".lua", ".pm", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ps1", ".psm1", ".bash", ".zsh"),
        *(".awk", ".kt", ".pug", ".jade", ".haml", ".slim", ".graphql", ".gql", ".proto"),
    ),
}
_TAG: Final = pattern(rb"<[!?A-Za-z/]")
_MARKUP: Final = pattern(rb"[\t\n\f\r ]*<[!?A-Za-z/]")
_LOOKED_AT: Final = 2048
# Text in formats without a walker, by its beginning; its strings may have markup. RFC 8259 2: an object, or an array of
# objects or strings, because `{{` and `[[` begin templates; RFC 5545 3.4, RFC 6350 3.3; RTF.
_OTHER_TEXT: Final = pattern(
    rb"(?:\xef\xbb\xbf)?(?:(?P<json>[\t\n\r ]*+(?:\{[\t\n\r ]*+\"|\[[\t\n\r ]*+[{\"]))"
    rb"|(?P<calendar>(?i:BEGIN:VCALENDAR)[\r\n])|(?P<card>(?i:BEGIN:VCARD)[\r\n])|(?P<rtf>\{\\rtf))"
)
_TEXTS: Final = {"json": "JSON", "calendar": "text/calendar", "card": "text/vcard", "rtf": "application/rtf"}
# XML 1.0 2.8: the prolog (text in it is tolerated), and the root element's name without its prefix
_PROLOG: Final = pattern(
    rb"(?>(?:\xef\xbb\xbf)?)(?>(<\?xml[\t\n\r ])?)"
    rb"(?>(?:[^<]++|<\?.*?\?>|<!--[^-]*+(?>(?:-(?!->)[^-]*+)*)-->"  # fast in long comments
    rb"|<!DOCTYPE[^<>\[]*+(?>(?:\[.*?\][\t\n\r ]*+)?)>)*)"
    rb"<(?>(?:[A-Za-z0-9_.-]++:)?)([A-Za-z0-9_.-]++)",
    re.DOTALL,
)
_PACKED: Final = pattern(rb"<html\s[^<>]*\bdata-sfz[\s=>]", re.IGNORECASE)
_WEB_ARCHIVE: Final = pattern(rb"<plist[\t\n\r >].*<key>WebMainResource</key>", re.DOTALL)
# The start that a file with each of these names must have to be of that type. A manifest_version marks an extension.
_APP: Final = pattern(rb'[^{]*\{(?!.*"manifest_version").*"(?:start_url|display|short_name|icons)"', re.DOTALL)
_MAP: Final = pattern(rb'[^{]*\{.*"(?:imports|scopes)"', re.DOTALL)
_ANY: Final = pattern(rb"")
# A URL in each line; the last line may be cut off
_URLS: Final = pattern(
    rb"(?:\xef\xbb\xbf)?(?>(?:\s*+https?://[^\r\n<>]++(?:[\r\n]|\Z))+)\s*+[^\r\n<>]*+\Z", re.IGNORECASE
)
_TEXT_SITEMAP: Final = pattern(r"(?:.*sitemap.*|urllist)\.txt")
_OWN_NAMES: Final = {
    "robots.txt": (ROBOTS, _ANY),
    **dict.fromkeys(("llms.txt", "llms-full.txt"), (MARKDOWN, _ANY)),
    "manifest.json": (MANIFEST, _APP),
    **dict.fromkeys(("importmap.json", "import_map.json"), (IMPORT_MAP, _MAP)),
}
# Root elements that identify XML without an XML declaration.
_XML_ROOTS: Final = frozenset(
    b"rss RDF feed opml svg urlset sitemapindex package ncx smil kml gpx playlist stylesheet".split()
)
# RFC 5322 3.6: every message has one of these fields
_MAIL_HEADER: Final = (
    rb"(?:[!-9;-~]++:[^\n]*+\n(?>(?:[\t ][^\n]*+\n)*))*?"
    rb"(?:Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version|Content-Type):[^\n]*+\n"
    rb"(?>(?:[\t ][^\n]*+\n)*)(?:[!-9;-~]++:|\r?\n)"
)
_SIGNATURES: Final[dict[str, re.Pattern[bytes]]] = {
    # WARC, or ARC: its first record, or any other
    WARC: pattern(rb"WARC/[0-9]\.[0-9]+[\t ]*\r?\n|[A-Za-z]+:[^\n]* [0-9]{14} [^\n ]+ [0-9]+\r?\n"),
    # A status line with a field below it; `wget --save-headers` writes it in front of files of any name.
    HTTP: pattern(rb"HTTP/[0-9.]+ +[0-9]{3}(?: [^\n]*+)?\r?\n(?:[!-9;-~]++[\t ]*+:|\r?\n|\Z)"),
    WEB_ARCHIVE: pattern(rb"bplist0.*WebMainResource", re.DOTALL),
    ZIP: pattern(rb"PK(?:\x03\x04|\x05\x06)"),
    HAR: pattern(rb'(?:\xef\xbb\xbf)?[\t\n\r ]*\{[\t\n\r ]*"log"[\t\n\r ]*:[\t\n\r ]*\{'),
    JSON_FEED: pattern(
        rb'(?:\xef\xbb\xbf)?[\t\n\r ]*\{.*?"version"[\t\n\r ]*:[\t\n\r ]*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org',
        re.DOTALL,
    ),
    # RFC 4155
    MAILBOX: pattern(rb"(?:\xef\xbb\xbf)?From [^\n]*\n(?:>?From [^\n]*\n)?[!-9;-~]++:"),
    MESSAGE: pattern(rb"(?:\xef\xbb\xbf)?" + _MAIL_HEADER, re.IGNORECASE),
    EMLX: pattern(rb"[\t ]*[0-9]{1,16}[\t ]*\r?\n" + _MAIL_HEADER, re.IGNORECASE),
    # MIME Sniffing 7.1, the table of scriptable types
    HTML: pattern(
        rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b"
        rb"|body|br|p|!--)[\t\n\f\r >]",
        re.IGNORECASE,
    ),
}

# How most pages begin. The signature of HTML matches this, the signatures of XML (with its keywords in capitals) and of
# messages do not: a document type, and if that may be one of XML, the root element html.
_PAGE: Final = pattern(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<!(?:doctype html[\t\n\f\r >]"
    rb"|DOCTYPE (?:html|HTML)(?=[\t\n\f\r >])[^<>]*+>[\t\n\f\r ]*+<(?:html|HTML)[\t\n\f\r >])"
)
_BEGIN_AS_TAGS: Final = (MESSAGE, HTML)  # the signatures that can match data that begins with `<`


def format_of(head: bytes, name: str | None, media_type: str | None, whole: Callable[[], Any]) -> str | None:
    """Return a file's media type, as the user gives it, or by its first bytes; for a ZIP file by all its bytes."""
    kind = kind_of(media_type) if media_type is not None else sniff(head, name)
    return in_zip(kind, whole()) if kind in IN_ZIP else kind


def sniff(data: bytes, name: str | None) -> str | None:
    """Return the media type of a document by its name, then by its content; None if neither gives a type with a walker.

    Text without another sign is HTML if it has no name and is no JSON or the like (`_OTHER_TEXT`). If it has a name, it
    must have a tag, and no suffix of another type (`.js`, `.txt`, `.sql`). Binary data is None, except a page that was
    downloaded in gzip and has the name of a page. A page (root element html) with an XML declaration is HTML, unless
    its suffix belongs to XML: most such pages are not well-formed.
    """
    if is_packed_page(data):
        return ZIP
    named = _type_by_name(name, data) if name else None
    if named is not None and (named in _NO_TEXT or WALKERS[named].archive):
        return named
    found = _by_content(data, name)
    if found is not None and (found in {COMPRESSED_MAIL, COMPRESSED, HTTP} or WALKERS[found].archive):
        return found
    if found != HTML and looks_binary(data) and not data.startswith(_UTF_16_XML):
        return COMPRESSED if named == HTML and is_page_in_gzip(data) else None
    if named or found:
        return named or found
    if name and names_map(name, data):
        return JAVASCRIPT
    if _OTHER_TEXT.match(data):
        return None
    if not (name and data):
        return HTML
    return HTML if _TAG.search(_in_ascii(data)) and not _other_type(name) else None


def response_type(stated: str, data: bytes, name: str) -> str:
    """Return the media type of a response whose header states one, by its URL where the stated type is vague.

    For example, `text/plain` at `/robots.txt` is robots.txt. Servers send Markdown as plain text, a JSON Feed as JSON,
    sitemaps as gzip, and some sitemaps and feeds as HTML (MIME Sniffing 7.3). A page sent as plain text or JSON is no
    page: browsers show it as text.
    """
    essence, _, parameters = stated.partition(";")
    essence = essence.strip().lower()
    last = re.split("[?#]", name, maxsplit=1)[0]
    found = None
    if essence == HTML:
        found = XML if _FEED.match(data) else None
    elif essence == "text/plain":
        found = _type_by_name(last, data)
    elif essence == "application/json" or essence in _VAGUE:
        found = sniff(data, last)
    if found is None or (found == HTML and essence not in _VAGUE):
        return stated
    return f"{found};{parameters}"


_VAGUE: Final = frozenset({"application/octet-stream", "binary/octet-stream", "application/gzip", "application/x-gzip"})
_FEED: Final = pattern(rb"(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>\s*){0,8}<(?:urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]")


def names_map(name: str, data: bytes) -> bool:
    """Return whether a file has the name of a script, and its last bytes may name a source map."""
    return name.lower().endswith(SCRIPT_SUFFIXES) and data.rfind(NAMES_MAP, -SCRIPT_END) >= 0


NAMES_MAP: Final = b"sourceMappingURL="
SCRIPT_END: Final = 4096  # bytes at the end of a script that name its source map; a longer URL contains the map


def is_packed_page(data: bytes) -> bool:
    """Return whether a document begins as a page of SingleFile that is also a ZIP file: an archive inside markup."""
    return data.find(b"data-sfz", 0, _LOOKED_AT) >= 0 and _PACKED.search(data[:_LOOKED_AT]) is not None


def is_other(data: bytes, name: str | None) -> bool:
    """Return whether neither the name nor the content of a document gives a type that has a walker."""
    return _type_by_name(name or "", data) is None and sniff(data, name) is None


# Saved pages in containers without a walker. A `.war` of Java is a ZIP file.
_UNREAD: Final = {".war": "an archive of Konqueror (a tar file)", ".wbn": "a Web Bundle"}


def in_words(data: bytes, name: str) -> str:
    """Describe a document without a walker for messages: for example, "application/pdf" for `a.pdf`, "plain text"."""
    if (saved := _UNREAD.get(name[-4:].lower())) is not None and looks_binary(data):
        return saved
    other = coding = None
    if _type_by_name(name, data) is None:
        other, coding = _other_types().guess_type(_without_template_suffix(name.lower()))
    text = _OTHER_TEXT.match(data)
    if other is None and text is not None:
        return _TEXTS[text.lastgroup or ""]
    if coding and looks_binary(data):
        return f"{other or 'binary data'} compressed by {coding}"
    if other is None and looks_binary(data):
        packed = packing(data)
        old = data.startswith(b"\xd0\xcf\x11\xe0")
        return f"data packed by {packed}" if packed else _OLD_OFFICE if old else "binary data"
    return other or "plain text"


_PACKED_SUFFIXES: Final = (".gz", ".br", ".zst", ".bz2", ".xz")
_OLD_OFFICE: Final = "a message of Outlook or an old office document"
_PACKING: Final = pattern(
    rb"(?P<gzip>\x1f\x8b\x08)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\0)|(?P<Zstandard>\x28\xb5\x2f\xfd)"
    rb"|(?P<compress>\x1f\x9d)|(?P<LZ4>\x04\"M\x18)|(?P<ZIP>PK\x03\x04)|(?P<RAR>Rar!\x1a\x07)|(?P<_7z>7z\xbc\xaf\x27\x1c)"
    rb"|(?P<tar>(?=.{257}ustar[\0 ])[^\0]{0,100}\0)",  # the name of the first member ends with a NUL
    re.DOTALL,
)


def packing(data: bytes) -> str | None:
    """Return how data is compressed or packed, by its first bytes: for example, "gzip", "tar"; None for other data."""
    found = _PACKING.match(data)
    return None if found is None else (found.lastgroup or "").strip("_")


def _without_template_suffix(name: str) -> str:
    """Return a lower-case file name without a template engine's suffix: for example, `a.css` for `a.css.erb`."""
    bare, dot, suffix = name.rpartition(".")
    return bare if "." in bare[1:] and dot + suffix in _TEMPLATES else name


# Formats that can be read before a template is filled in; few such files are well-formed XML.
_FILLED_IN: Final = (HTML, CSS, MARKDOWN)

_NO_TEXT: Final = frozenset({*MAIL, WEBLOC, *OFFICE})  # even if their bytes look like text
_WITH_QUERY: Final = pattern(r"(.+\.[a-z0-9]{1,5})(?:\?|%3f|@[^@]*=).*")  # as savers name files: a.css?ver=1
_SUFFIX: Final = pattern(r"(?:\.[a-z0-9]+)?(\.[a-z0-9]+)$")


def _type_by_name(name: str, head: bytes) -> str | None:
    """Return the media type for a file name: by `_OWN_NAMES` and the start of the data, else by suffix; or None."""
    last = name[max(name.rfind("/"), name.rfind("\\")) + 1 :].lower()
    own = (SITEMAP, _URLS) if _TEXT_SITEMAP.fullmatch(last) else _OWN_NAMES.get(last)
    if own is not None and own[1].match(head[:_LOOKED_AT]):
        return own[0]
    plain = _without_template_suffix(last)
    suffix = _SUFFIX.search(plain)
    found = SUFFIXES.get(suffix[0]) or SUFFIXES.get(suffix[1]) if suffix else None
    if found is None and (saved := _WITH_QUERY.fullmatch(last)) is not None:
        return _type_by_name(saved[1], head)
    return found if plain == last or found in _FILLED_IN else None


def sniff_content(data: bytes) -> str | None:
    """Return the media type by the signature in the first bytes; None if no signature matches.

    For example, `WARC/1.1` is `application/warc`. XML may have text before its root element, so the signatures of
    messages and archives take precedence there.
    """
    head = data[:_LOOKED_AT]
    if _PAGE.match(head):
        return HTML
    if head.startswith(b"\x1f\x8b"):
        inside = in_gzip(head)
        return COMPRESSED_MAIL if inside in MAIL else inside if inside in {None, WARC} else COMPRESSED
    if head.startswith(_ZSTANDARD):
        from absolve.formats.compression import zstandard_head  # few files need it

        head = zstandard_head(data[:_FRAME], _LOOKED_AT)
        return WARC if data.startswith(_ZSTANDARD[1]) or _SIGNATURES[WARC].match(head) else None
    begins_as_markup = _begins_as_markup(head)
    if begins_as_markup and _is_xml(data):
        return WEB_ARCHIVE if _WEB_ARCHIVE.search(head) else XML
    found = _in_head(head, _BEGIN_AS_TAGS if head[:1] == b"<" else _SIGNATURES)
    return found or (XML if not begins_as_markup and _is_xml(data) else None)


def _by_content(data: bytes, name: str | None) -> str | None:
    """Return the media type by the content; no XML in the strings of a file of another type, such as a script."""
    found = sniff_content(data)
    return None if found == XML and name and not _begins_as_markup(data[:_LOOKED_AT]) and _other_type(name) else found


def _begins_as_markup(head: bytes) -> bool:
    return _MARKUP.match(_in_ascii(head).removeprefix(b"\xef\xbb\xbf")) is not None


def _in_head(head: bytes, kinds: Iterable[str]) -> str | None:
    """Return the first media type of these whose signature matches; lines of mail may end in CR alone."""
    lines = head if b"\n" in head else head.replace(b"\r", b"\n")
    return next((kind for kind in kinds if _SIGNATURES[kind].match(lines if kind in MAIL else head)), None)


def in_gzip(data: bytes) -> str | None:
    """Return the media type of the document in gzip data, by its first bytes; None for a type without a walker."""
    head = gzip_head(data)
    found = sniff_content(head) if not head.startswith(b"\x1f\x8b") else None
    return found if found in _IN_GZIP else SITEMAP if found is None and _URLS.match(head) else None


_IN_GZIP: Final = (WARC, MAILBOX, MESSAGE, XML)


def document_in_gzip(data: bytes) -> str | None:
    """Return the media type of the document, message or mailbox in gzip data; None for archives and other data."""
    found = in_gzip(data) or (HTML if is_page_in_gzip(data) else None)
    return found if found != WARC else None


def is_page_in_gzip(data: bytes) -> bool:
    """Return whether gzip data contains a page, text with a tag."""
    head = gzip_head(data) if data.startswith(b"\x1f\x8b") else data
    return not looks_binary(head) and _TAG.search(_in_ascii(head)) is not None


def gzip_head(data: bytes) -> bytes:
    """Return some decompressed bytes from the start of gzip data, which may be cut off; the data itself if none are."""
    import zlib

    found, rest = b"", data[:_LOOKED_AT]
    with suppress(zlib.error):
        while rest and len(found) < _LOOKED_AT:  # a member
            machine = zlib.decompressobj(31)
            found += machine.decompress(rest, _LOOKED_AT)
            rest = machine.unused_data
    return found or data


_ZSTANDARD: Final = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")  # magic numbers: a frame; a WARC file's dictionary
_FRAME: Final = 1 << 18  # bytes that are enough for the first block of a frame
_UTF_16_XML: Final = (b"<\0?\0", b"\0<\0?")  # XML 1.0 appendix F.1: without a byte order mark


def _in_ascii(data: bytes) -> bytes:
    """Return UTF-16 reduced to its ASCII bytes, which is enough to match markup; other data unchanged."""
    return data.translate(None, b"\0\xfe\xff") if data.startswith((b"\xfe\xff", b"\xff\xfe", *_UTF_16_XML)) else data


def _is_xml(data: bytes) -> bool:
    found = _PROLOG.match(_in_ascii(data[:_LOOKED_AT]))
    if found is None or found[2].lower() == b"html":
        return False
    return found[1] is not None or found[2] in _XML_ROOTS


def is_packed_document(name: str) -> bool:
    """Return whether a file is a compressed document by its name, such as `a.html.br` or `feed.xml.gz`."""
    return name.lower().endswith(_PACKED_SUFFIXES) and _type_by_name(name.rpartition(".")[0], b"") is not None


def recognised(data: bytes, name: str) -> str | None:
    """Return the media type of a file found in a folder, or None: as `sniff`, but without guessing that text is HTML.

    It is HTML only by its suffix, by a signature if its suffix is not one of another type, or as a template with a tag.
    The start of the data is enough.
    """
    named = _type_by_name(name, data)
    if named is not None:
        return ZIP if named == HTML and is_packed_page(data) else named
    found = ZIP if is_packed_page(data) else _by_content(data, name)
    if found is None and name.lower().endswith(_TEMPLATES) and _ELEMENT.search(data[:_LOOKED_AT]):
        found = HTML
    return None if found == HTML and _other_type(name) else found


_ELEMENT: Final = pattern(rb"<[A-Za-z][A-Za-z0-9]*+[\t\n\r />]")


def _other_type(name: str) -> str | None:
    """Return the media type of a suffix in Python's table or in `_OTHER_SUFFIXES`, for example `text/csv`; or None."""
    return _other_types().guess_type(_without_template_suffix(name.lower()))[0]


@cache
def _other_types() -> MimeTypes:
    """Return Python's built-in suffix table, without the machine's own files; imported on first use."""
    from mimetypes import MimeTypes

    types = MimeTypes()
    for media_type, suffixes in _OTHER_SUFFIXES.items():
        for suffix in suffixes:
            types.add_type(media_type, suffix)
    return types


def other_type(name: str) -> str:
    """Return the media type of a file by its suffix, for example `image/png`; "" if it has a walker or is unknown."""
    found = _other_type(name) if not name.lower().endswith(_PACKED_SUFFIXES) else None
    return found if found is not None and (kind_of(found) == JAVASCRIPT or not is_read(found)) else ""


def looks_binary(data: bytes) -> bool:
    """Return whether the first bytes have a control character that text never has (MIME Sniffing 7.1).

    Data with a byte order mark, and data that begins as markup, is text: NUL bytes inside markup are only an error.
    """
    head = data[:_LOOKED_AT]
    if head.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")) or _MARKUP.match(head):
        return False
    return any(byte < 0x20 and byte not in b"\t\n\f\r\x1b\x08" for byte in head)
