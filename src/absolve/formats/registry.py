"""Map media types to walkers.

In: a media type. Out: a key of `WALKERS`, and its walker: for example, `application/xml` for `image/svg+xml`.
XML types follow RFC 7303, parameters RFC 9110 8.3.1. A walker's module is imported for the first document of a type.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from absolve.encodings.charsets import Charset
    from absolve.formats import Walker, WalkOptions

HTML: Final = "text/html"
CSS: Final = "text/css"
XML: Final = "application/xml"  # and every other type that XML is sent under: `canonical`
HTTP: Final = "message/http"
WARC: Final = "application/warc"  # and ARC
MESSAGE: Final = "message/rfc822"
MAILBOX: Final = "application/mbox"
COMPRESSED_MAIL: Final = "application/mbox+gzip"  # our own name, by RFC 8460 6.3: a mailbox or a message in gzip
EMLX: Final = "message/x-emlx"  # our own name: a message as Apple Mail stores it
JSON_LD: Final = "application/ld+json"
IMPORT_MAP: Final = "application/importmap+json"
SPECULATION_RULES: Final = "application/speculationrules+json"
MANIFEST: Final = "application/manifest+json"
JAVASCRIPT: Final = "text/javascript"  # and the types that it had before RFC 9239: `canonical`
MARKDOWN: Final = "text/markdown"  # RFC 7763
ROBOTS: Final = "text/x-robots"  # our own name: robots.txt (RFC 9309)
SITEMAP: Final = "text/x-sitemap"  # our own name: a URL in each line
COMPRESSED: Final = "application/gzip"  # a document in gzip (RFC 6713): a sitemap, .svgz
NOTEBOOK: Final = "application/x-ipynb+json"  # not registered: Jupyter's
JSON_FEED: Final = "application/feed+json"
SHORTCUT: Final = "application/x-mswinurl"  # as shared-mime-info has it
DESKTOP: Final = "application/x-desktop"
WEBLOC: Final = "application/x-webloc"  # our own name
SHORTCUTS: Final = (SHORTCUT, DESKTOP, WEBLOC)  # files that are a link
OTHER: Final = "application/x.other"  # our own name: a document in a format without a walker
HAR: Final = "application/har+json"  # not registered
# Our own names for what has a header and a body.
HAR_ENTRY: Final = "application/har-entry"  # one object in the array `entries`
PART: Final = "message/part"  # of a multipart
PART_OF_DIGEST: Final = "message/part-of-digest"  # without a Content-Type it is a message (RFC 2046 5.1.5)
STEPS: Final = frozenset({HAR_ENTRY, PART, PART_OF_DIGEST})
RECORDS: Final = "application/warc-records"  # our own name: the records in one compressed member of a WARC file
WEB_ARCHIVE: Final = "application/x-webarchive"  # not registered: Safari's
ZIP: Final = "application/zip"
# Office documents: ZIP files that are one document each.
OPEN_XML: Final = tuple(
    f"application/vnd.openxmlformats-officedocument.{name}"
    for name in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
OPEN_DOCUMENT: Final = tuple(
    f"application/vnd.oasis.opendocument.{name}" for name in ("text", "spreadsheet", "presentation", "graphics")
)
OFFICE: Final = (*OPEN_XML, *OPEN_DOCUMENT)
ZIPS: Final = (ZIP, "application/epub+zip", "application/wacz", "application/x-zip-compressed")
IN_ZIP: Final = frozenset((*OFFICE, *ZIPS))  # their content decides which one it is
PACKAGES: Final = ZIPS  # containers whose members have paths, as files of a folder have


class Format(NamedTuple):
    """The walker of one media type, as module and function, and its properties.

    `charset`: the algorithm that determines the charset (html, xml, text), or "none" for bytes that are not text as a
    whole. `suffixes` of file names are in lower case. `as_bytes`: the walker parses every charset that extends ASCII;
    for other walkers a charset coding converts to UTF-8. `archive`: a file of documents that have a retrieval URL
    each: the URL of the file is no base for them, and positions are reported as byte offsets in the file.
    """

    module: str
    function: str
    charset: str = "text"
    suffixes: tuple[str, ...] = ()
    as_bytes: bool = False
    archive: bool = False


_XML_SUFFIXES: Final = (
    *(".xml", ".xhtml", ".xht", ".svg", ".mml", ".mathml", ".xsl", ".xslt"),
    *(".rss", ".atom", ".rdf", ".opml", ".cdf", ".xspf", ".kml", ".gpx"),
    *(".opf", ".ncx", ".smil", ".dtbook", ".docbook", ".dbk", ".dita", ".ditamap"),
)
_MARKDOWN: Final = (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd", ".md.txt")
_WARC_SUFFIXES: Final = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
_OPEN_XML_SUFFIXES: Final = (".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".pptx", ".pptm", ".ppsx", ".vsdx")
_ODF_SUFFIXES: Final = (".odt", ".ods", ".odp", ".odg", ".ott", ".ots", ".otp")
_ZIP_SUFFIXES: Final = (".epub", ".wacz", ".maff", ".htz", ".zip")

WALKERS: Final[dict[str, Format]] = {
    HTML: Format("absolve.formats.html.walker", "walk", "html", (".html", ".htm", ".shtml"), as_bytes=True),
    CSS: Format("absolve.formats.css", "walk_sheet", suffixes=(".css",)),
    XML: Format("absolve.formats.xml.walker", "walk", "xml", _XML_SUFFIXES),
    MARKDOWN: Format("absolve.formats.markdown", "walk", suffixes=_MARKDOWN),
    ROBOTS: Format("absolve.formats.text_files", "walk_robots"),
    SITEMAP: Format("absolve.formats.text_files", "walk_sitemap"),
    COMPRESSED: Format("absolve.formats.text_files", "walk_gzip", "none"),
    JAVASCRIPT: Format("absolve.formats.text_files", "walk_script"),  # files: those that name a source map
    "text/css;declarations": Format("absolve.formats.css", "walk_declarations"),
    MESSAGE: Format("absolve.formats.mail.walker", "walk", "none", (".eml", ".mht", ".mhtml")),
    PART: Format("absolve.formats.mail.walker", "walk_part", "none"),
    PART_OF_DIGEST: Format("absolve.formats.mail.walker", "walk_part_of_digest", "none"),
    "multipart/related": Format("absolve.formats.mail.walker", "walk", "none"),  # MHTML, as servers label it
    "application/x-mimearchive": Format("absolve.formats.mail.walker", "walk", "none"),
    MAILBOX: Format("absolve.formats.mail.walker", "walk_mailbox", "none", (".mbox", ".mbx")),
    COMPRESSED_MAIL: Format("absolve.formats.text_files", "walk_gzip", "none"),
    EMLX: Format("absolve.formats.mail.walker", "walk_emlx", "none", (".emlx",)),
    IMPORT_MAP: Format("absolve.formats.json.walker", "walk_import_map", suffixes=(".importmap",)),
    SPECULATION_RULES: Format("absolve.formats.json.walker", "walk_speculation_rules"),
    MANIFEST: Format("absolve.formats.json.walker", "walk_manifest", suffixes=(".webmanifest",)),
    JSON_LD: Format("absolve.formats.json.json_ld", "walk", suffixes=(".jsonld",)),
    NOTEBOOK: Format("absolve.formats.json.walker", "walk_notebook", suffixes=(".ipynb",)),
    JSON_FEED: Format("absolve.formats.json.walker", "walk_feed"),
    HTTP: Format("absolve.formats.http", "walk", "none"),
    "application/http": Format("absolve.formats.http", "walk", "none"),
    WARC: Format("absolve.formats.warc.walker", "walk", "none", _WARC_SUFFIXES, archive=True),
    RECORDS: Format("absolve.formats.warc.walker", "walk_records", "none", archive=True),
    SHORTCUT: Format("absolve.formats.plist", "walk_shortcut", suffixes=(".url", ".website")),
    DESKTOP: Format("absolve.formats.plist", "walk_shortcut", suffixes=(".desktop",)),
    WEBLOC: Format("absolve.formats.plist", "walk_webloc", "none", suffixes=(".webloc", ".inetloc")),
    OTHER: Format("absolve.formats.registry", "walk_nothing", "none"),
    HAR: Format("absolve.formats.json.har", "walk", "none", (".har",), archive=True),
    WEB_ARCHIVE: Format("absolve.formats.plist", "walk", "none", (".webarchive",), archive=True),
    HAR_ENTRY: Format("absolve.formats.json.har", "walk_entry", "none"),
    **dict.fromkeys(OPEN_XML, Format("absolve.formats.zip.walker", "walk_open_xml", "none", _OPEN_XML_SUFFIXES)),
    **dict.fromkeys(OPEN_DOCUMENT, Format("absolve.formats.zip.walker", "walk_open_document", "none", _ODF_SUFFIXES)),
    **dict.fromkeys(ZIPS, Format("absolve.formats.zip.walker", "walk", "none", _ZIP_SUFFIXES, archive=True)),
}
# The first type of several with the same suffix counts.
SUFFIXES: Final = {suffix: name for name, row in reversed(WALKERS.items()) for suffix in row.suffixes}
JSON: Final = (JSON_LD, IMPORT_MAP, SPECULATION_RULES, MANIFEST)
MAIL: Final = (MESSAGE, "multipart/related", "application/x-mimearchive", MAILBOX, COMPRESSED_MAIL, EMLX)
# WHATWG MIME Sniffing 4.6, JavaScript MIME type
_ECMASCRIPT: Final = ("javascript", "ecmascript", "x-javascript", "x-ecmascript")
JAVASCRIPT_TYPES: Final = frozenset(
    (*(f"{top}/{name}" for top in ("application", "text") for name in _ECMASCRIPT), "text/jscript", "text/livescript")
)
SCRIPT_SUFFIXES: Final = (".js", ".mjs", ".cjs")
_HTML_TOO: Final = frozenset({"text/x-amp-html", "text/watch-html"})  # of AMP for Email, and for a watch
_XML_TYPE: Final = pattern(r"(?:text|application)/xml|[^/]+/[^/]+\+xml")  # RFC 7303, sections 3 and 4.2


def walk_nothing(data: bytes, charset: Charset, options: WalkOptions) -> tuple[()]:  # noqa: ARG001 - of the protocol
    """Return no events: the walker of OTHER."""
    return ()


def canonical(media_type: str) -> str:
    """Return the key in `WALKERS` for a media type without parameters; an unknown type is returned unchanged."""
    if media_type in _HTML_TOO:
        return HTML
    if media_type in JAVASCRIPT_TYPES:
        return JAVASCRIPT
    return XML if media_type not in WALKERS and _XML_TYPE.fullmatch(media_type) else media_type


@lru_cache(maxsize=64)
def kind_of(media_type: str) -> str:
    """Return the key in `WALKERS` for a media type, for example `text/html` for `text/HTML; charset=x`; or the type."""
    return canonical(essence_of(media_type)[0])


@lru_cache(maxsize=64)
def is_read(media_type: str) -> bool:
    """Return whether a media type, with or without parameters, has a walker."""
    return kind_of(media_type) in WALKERS


def is_container(media_type: str | None) -> bool:
    """Return whether files of a media type are archives, packages, messages or mailboxes, which hold documents."""
    return media_type in MAIL or (media_type in WALKERS and WALKERS[media_type].archive)


def is_archive(media_type: str) -> bool:
    """Return whether a file of this media type holds documents with a retrieval URL each. It must have a walker."""
    return WALKERS[kind_of(media_type)].archive


@lru_cache(maxsize=64)
def walker(media_type: str) -> Walker | None:
    """Return the walker of a media type in `WALKERS`, importing its module; None for any other type."""
    if media_type not in WALKERS:
        return None
    found: Walker = getattr(import_module(WALKERS[media_type].module), WALKERS[media_type].function)
    return found


def in_zip(media_type: str, data: bytes) -> str:
    """Return the media type of a ZIP file (one of IN_ZIP) by what is in it: a workbook may have any name."""
    found: str = import_module(WALKERS[OFFICE[0]].module).media_type_of(data, media_type)
    return found


@lru_cache(maxsize=64)
def essence_of(media_type: str) -> tuple[str, dict[str, str]]:
    """Return a media type in lower case without parameters, and its parameters by lower-case name (RFC 9110 8.3.1).

    The first of several parameters with one name counts (MIME Sniffing 4.4).

    >>> essence_of('Text/HTML; Charset="UTF-8"; charset=x')
    ('text/html', {'charset': 'UTF-8'})
    """
    essence, _, rest = media_type.partition(";")
    found = [one.groups() for one in _PARAMETER.finditer(rest)]
    parameters = {name.strip().lower(): value for name, value in reversed(found) if value is not None}
    return essence.strip().lower(), {name: _unquoted(value.strip()) for name, value in parameters.items()}


_TOKENS: Final = pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++/[!#$%&'*+.^_`|~0-9A-Za-z-]++")


def is_media_type(essence: str) -> bool:
    """Return whether a text is a media type without parameters: two tokens (RFC 9110 8.3.1, 5.6.2)."""
    return _TOKENS.fullmatch(essence) is not None


# A name without a value matches, too. Otherwise the time is quadratic, since each of its characters may begin a name.
_PARAMETER: Final = pattern(r"""([^;=]++)(?:=([\t ]*"(?:[^"\\]|\\.)*"|[^;]*))?""")


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == value[-1:] == '"' else value.strip('"')
