"""How browsers treat a file from a disk, by its name; a response, by its header; and scripts from a disk.

In: the name of a file; the header fields of a response and the start of its body. Out: the media type of the document
that a browser makes of it; the words in a script that work from a server only. A mirror gives a file the name of an
active document only if its response was one.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import new as new_digest
from html import unescape
from typing import TYPE_CHECKING, Final

from absolve.encodings.charsets import byte_order_mark
from absolve.formats import registry, sniffing
from absolve.formats.html import security_policy
from absolve.urls import source_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


HARMLESS: Final = "harmless"  # shown or downloaded, whatever it holds
SNIFFED: Final = "sniffed"  # Firefox decides by the content, Chromium on Linux by the system's table
ACTED_ON: Final = "acted-on"  # by a shell or a file manager
DEMOTED: Final = "text/plain"  # the type, for its name, of an active document that the response did not allow

XHTML: Final = "application/xhtml+xml"
# Chromium's net/base/mime_util.cc, Firefox's nsExternalHelperAppService.cpp, and what systems' tables add to them.
_ACTIVE: Final = {
    **dict.fromkeys(("html", "htm", "shtml", "shtm", "ehtml", "stm", "hxt"), registry.HTML),
    **dict.fromkeys(("xhtml", "xht", "xhtm"), XHTML),
    **dict.fromkeys(("svg", "svgz"), "image/svg+xml"),
    **dict.fromkeys(("xml", "xsl", "xslt", "xbl", "xsd", "rdf", "xul", "mml", "rss", "atom", "owl"), registry.XML),
    **dict.fromkeys(("mht", "mhtml"), "multipart/related"),
    "eml": "message/rfc822",
}
# In the browsers' own tables, so that no system's table and no content changes it.
_HARMLESS: Final = frozenset(
    "txt text css js mjs json csv vtt pdf png apng gif jpg jpeg jfif pjpeg pjp webp avif bmp ico cur tif tiff xbm"
    " webm weba mp4 m4v m4a mp3 ogg ogv oga opus flac wav wasm zip gz".split()
)
# Programs, scripts, shortcuts and settings that Windows, macOS or a Linux desktop opens by running or obeying them: the
# list of Chromium's download_file_types, the attachments that Outlook blocks, and their neighbours. No `js`: pages need
# it, and a mirror is opened in a browser.
_ACTED_ON: Final = frozenset(
    "exe com scr pif cpl dll sys drv ocx msi msp mst msix msixbundle appx appxbundle appinstaller application bat cmd"
    " ps1 ps1xml ps2 ps2xml psc1 psc2 psm1 psd1 cdxml pssc msh msh1 msh2 mshxml msh1xml msh2xml vb vbe vbs jse ws wsc"
    " wsf wsh wsb sct shb shs hta htc chm hlp reg inf ins isp job lnk url website scf desktop library-ms search-ms"
    " searchconnector-ms settingcontent-ms appref-ms appcontent-ms diagcab diagcfg diagpkg gadget grp its jar jnlp xbap"
    " xnk ad ade adp bas bgi csh crt der fxp ksh mad maf mag mam maq mar mas mat mau mav maw mda mde mdt mdw mdz mcf"
    " mmc mof msc msrcincident mui nsh ops osd pcd plg ppkg prf prg printerexport pst py pyc pyo pyw pyz pyzw rb pl sh"
    " bash zsh fish tool command term terminal workflow action app scpt scptd applescript osas osax webloc inetloc"
    " fileloc mailloc ftploc afploc mobileconfig configprofile prefpane saver kext pkg mpkg dmg iso img vhd vhdx vhdz"
    " rdp udl theme themepack deskthemepack desktopthemepackfile slk iqy oqy dqy rqy xll wll xlm xlam xla ppam wiz"
    " service timer socket mount target appimage run deb rpm flatpakref flatpakrepo snap xpi crx accda accde swf air"
    " vxd vsmacros vsix vsw wim partial cer p7b spc stl sst directory kdelnk menu gnome-launcher egp local"
    " manifest xrm-ms ica ccxprocess".split()
)
_CLASS: Final = re.compile(r"\{[0-9a-f-]+\}")  # Windows opens `a.{CLSID}` as an object of that class
_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)?[\0\t\n\v\f\r ]*+<(?P<xml>\?xml(?=[\t\n\r ]))?")
# Media types of scripts (MIME Sniffing 4.6), the usual one first.
JAVASCRIPT: Final = (
    *("text/javascript", *sorted(registry.JAVASCRIPT_TYPES - {"text/javascript"})),
    *(f"text/javascript1.{number}" for number in range(6)),
)
_FIELDS: Final = frozenset(
    "content-security-policy content-disposition x-content-type-options x-frame-options access-control-allow-origin"
    " access-control-allow-credentials cross-origin-resource-policy".split()
)
# Labels of charsets that browsers replace as a whole (Encoding Standard 4.2 and 14.1).
_FEEDS: Final = frozenset({"application/rss+xml", "application/atom+xml"})  # which Chromium shows as text
_REPLACED: Final = frozenset("replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr".split())
_SCRIPTED: Final = re.compile(
    r"<(?:[^\s<>]*:)?script|javascript|srcdoc|[\s\"'/]on[a-z]+\s*=|<!entity|<\?xml-stylesheet|=\s*+(?:[\"']\s*+)?data:"
)


def from_disk(name: str) -> str:
    """Return the active document type that browsers make of a file, for example `text/html`; else a word above."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in _ACTED_ON or _CLASS.fullmatch(ending):
        return ACTED_ON
    if ending in _HARMLESS:
        return HARMLESS
    return _ACTIVE.get(ending) or (registry.HTML if "htm" in ending else SNIFFED)


def is_active(media_type: str) -> bool:
    """Return whether browsers make a document of a response that may run scripts; the type has no parameters."""
    return media_type in {registry.HTML, "text/xsl"} or registry.canonical(media_type) == registry.XML


def markup(data: bytes) -> str:
    """Return "xml" or "markup" for content that begins so, which browsers may sniff as a document; else ""."""
    found = _MARKUP.match(data[:4096])
    return "" if found is None else "xml" if found["xml"] else "markup"


def is_harmless(name: str, media_type: str, looks: str) -> bool:
    """Return whether a file runs no more than its response did; `media_type` is the type that was allowed."""
    opened = from_disk(name)
    if opened in {HARMLESS, ACTED_ON}:
        return opened == HARMLESS
    is_xml = is_active(media_type) and media_type != registry.HTML
    if opened == SNIFFED:
        return not looks or (looks == "xml" and is_xml)
    same_kind = (opened in registry.MAIL and media_type in registry.MAIL) or (
        is_xml and registry.canonical(opened) == registry.XML
    )
    return opened == media_type or same_kind


def stated_type(values: Iterable[str]) -> str:
    """Return a response's Content-Type: the last valid value, for example `a/b` in `x, a/b` (Fetch 2.2.2)."""
    found = ""
    for value in values:
        for one in _MEDIA_TYPE.findall(value):
            essence = registry.essence_of(one)[0]
            if (registry.is_media_type(essence) and essence != "*/*") or not found:
                found = one.strip()
    return found


# A value of a list: a comma in a quoted string is no separator.
_MEDIA_TYPE: Final = re.compile(r'(?>(?:[^",]++|"(?>(?:[^"\\]++|\\.)*)"?)+)', re.DOTALL)


def kept_fields(fields: Iterable[tuple[str, str]]) -> str:
    """Return the header fields that limit a response, as lines such as `x-frame-options: deny`; names in lower case."""
    found = ((name.lower(), " ".join(value.split())) for name, value in fields)
    return "\n".join(f"{name}: {value}" for name, value in found if name in _FIELDS)


def field(fields: str, name: str) -> list[str]:
    """Return the values of a field in the lines that `kept_fields` returns."""
    lines = (line.partition(": ") for line in fields.split("\n"))
    return [value for found, _, value in lines if found == name]


def sniffed(fields: str, data: bytes) -> str:
    """Return the active type that browsers give a response without a media type (MIME Sniffing 7.1); else ""."""
    if has_nosniff(fields):
        return ""
    if _SNIFFED_XML.match(data):
        return registry.XML
    found = sniffing.sniff_content(data) if not data.startswith(b"\xef\xbb\xbf") else None
    return registry.HTML if found == registry.HTML else ""


_SNIFFED_XML: Final = re.compile(rb"[\t\n\f\r ]*+<\?xml")


def has_nosniff(fields: str) -> bool:
    """Return whether the media type is binding (Fetch 3.5): for example, with `x-content-type-options: nosniff`."""
    values = field(fields, "x-content-type-options")
    return bool(values) and values[0].partition(",")[0].strip().lower() == "nosniff"


def allowed(media_type: str, fields: str, data: bytes | None) -> str:
    """Return the media type, without parameters, as which a browser showed a response; DEMOTED for no document.

    For example, `text/html` with `content-disposition: attachment` is DEMOTED. `media_type` is the stated one, with its
    parameters, `fields` the result of `kept_fields`. `data` is None if unknown.
    """
    essence, parameters = registry.essence_of(media_type)
    if not is_active(essence):
        return DEMOTED if essence in registry.MAIL else essence  # browsers open a message from a disk only
    label = parameters.get("charset")
    if label and label.strip().lower() in _REPLACED and byte_order_mark(data or b"") is None:
        return DEMOTED
    if any(map(_is_attached, field(fields, "content-disposition"))):
        return DEMOTED
    is_limited = any(map(security_policy.limits_scripts, security_policy.of_header(fields)))
    if essence in _FEEDS or (is_limited and essence != registry.HTML):  # only a page of HTML can have the policy
        return DEMOTED if data is None or _has_scripts(data) else essence
    return essence


def _is_attached(disposition: str) -> bool:
    """Return whether a Content-Disposition makes a browser download; so does an unknown type (RFC 6266 4.2)."""
    kind = disposition.partition(";")[0].strip().lower()
    return bool(kind) and kind != "inline" and "=" not in kind


def _has_scripts(data: bytes) -> bool:
    """Return whether XML has anything that may be a script, to be on the safe side."""
    charset = "utf-16" if b"\0" in data[:4] or data.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
    text = data.decode(charset, "replace").lower()
    return _SCRIPTED.search(text) is not None or _SCRIPTED.search(unescape(text)) is not None


def may_be_script(media_type: str, fields: str) -> bool:
    """Return whether browsers run a response that a script element fetches (Fetch 2.9, HTML 8.1.3.2)."""
    essence = registry.essence_of(media_type)[0]
    if essence.startswith(("image/", "audio/", "video/")) or essence == "text/csv":
        return False
    return not has_nosniff(fields) or essence in JAVASCRIPT


def digests(data: bytes) -> dict[str, str]:
    """Return the digests of content for `integrity`, in Base64, the strongest one first."""
    return {kind: b64encode(new_digest(kind, data).digest()).decode() for kind in ("sha512", "sha384", "sha256")}


def has_integrity(text: str, own: Mapping[str, str]) -> bool:
    """Return whether content with these digests matches an `integrity` such as `sha256-...` (SRI 3.3.4)."""
    found = [one.partition("?")[0].partition("-")[::2] for one in text.split()]
    for kind, digest in own.items():
        if stated := [one.replace("-", "+").replace("_", "/") for name, one in found if name.lower() == kind]:
            return digest in stated
    return True


def may_be_framed(fields: str, url: str, page: str) -> bool:
    """Return whether browsers show a response in a frame of a page (CSP 6.4.2, HTML 7.6)."""
    limits = [source_lists.directives(one).get("frame-ancestors") for one in security_policy.of_header(fields)]
    ancestors = [sources for sources in limits if sources is not None]
    if ancestors:
        return all(source_lists.matches(sources, page, url) for sources in ancestors)
    words = {word.strip().lower() for value in field(fields, "x-frame-options") for word in value.split(",")}
    return "deny" not in words and ("sameorigin" not in words or source_lists.matches(["'self'"], page, url))


# --- scripts from a disk ----------------------------------------------------------------------------------------------

_WORDS: Final = (
    *(b"fetch(", b"fetch (", b"fetch\t(", b"xmlhttprequest", b"sendbeacon", b"eventsource", b"websocket", b"import("),
    *(b"new image", b"location.", b"location=", b"location =", b"document.domain", b"serviceworker", b"importscripts"),
)
_PLACE: Final = re.compile(
    rb"\b(?P<request>fetch[\t ]?\(|XMLHttpRequest\b|sendBeacon\b|import\(|new[\t ]+(?:EventSource|WebSocket)\b)"
    rb"|\b(?P<image>new[\t ]+Image\b)"
    rb"|\b(?P<origin>location\.(?:origin|protocol|host|hostname|port|pathname)\b|document\.domain\b)"
    rb"|\b(?P<moves>location(?:\.href)?[\t ]*=(?!=|[\t ]*(?:no|yes|[01])\b)|location\.(?:assign|replace)[\t ]*\()"
    rb"|\b(?P<worker>serviceWorker\b|importScripts\b)"
)
_WHY: Final = {
    "request": "a script that makes requests of its own (%s): they are refused from file://",
    "image": "a script that asks for an image (%s): its URL is no link, and may lead to the web",
    "origin": "a script that reads %s, which from file:// is not that of the site",
    "moves": "a script that goes to a page (%s): its URL is no link, and may lead to the web",
    "worker": "a script that asks for a %s: there is none from file://",
}


@lru_cache(maxsize=1)
def lowered(page: bytes) -> bytes:
    """Return a page in lower case, in which several fast tests look for words."""
    return page.lower()


def may_need_server(page: bytes) -> bool:
    """Return whether scripts in a page have a word that makes them need a server: a fast test.

    Text between two script tags counts as a script if it may be one.
    """
    scripts = (part.rpartition(b"</script")[0] or part for part in lowered(page).split(b"<script")[1:])
    text = b"".join(scripts)
    return any(word in text for word in _WORDS)


def needs_server(data: bytes, start: int = 0, end: int | None = None) -> list[tuple[int, str]]:
    """Return offset and reason where a script needs a server, once per reason: for example, `fetch(` at offset 0."""
    found: dict[str, tuple[int, str]] = {}
    for one in _PLACE.finditer(data, start, len(data) if end is None else end):
        kind = one.lastgroup or ""
        found.setdefault(kind, (one.start(), _WHY[kind] % one[0].decode().rstrip("(= \t")))
        if len(found) == len(_WHY):
            break
    return list(found.values())


# --- names and media types --------------------------------------------------------------------------------------------

# Media type -> the extensions that fit; the first one is added where a name has none of them.
FITTING: Final[dict[str, tuple[str, ...]]] = {
    "text/html": ("html", "htm"),
    "application/xhtml+xml": ("xhtml", "xht"),
    "text/css": ("css",),
    **dict.fromkeys(JAVASCRIPT, ("js", "mjs")),
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
    """Return the extension that a name lacks to be read as this media type, for example `.html` for `page.php`; or "".

    `looks` is the result of `browsers.markup` for the content. A name by which a file would run more than its media
    type allows needs one, too.
    """
    needed = _unfit(media_type, name)
    if not needed and not is_harmless(name, media_type, looks):
        needed = _unfit(media_type, "") if is_active(media_type) else f".{_TEXT[1]}"
    return needed


def _unfit(media_type: str, name: str) -> str:
    """Return the extension that fits a media type, for example `.css` for `text/css`; "" if the name's fits already."""
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


def file_type(name: str, data: bytes) -> str:
    """Return the media type of a user's file, by its name; by its content if the name gives none.

    For example, `page.php` is HTML if it begins as HTML: it was saved with the answer of the server's program.
    """
    name = name[max(name.rfind("/"), name.rfind("\\")) + 1 :]
    name = name if by_name(name) else name.partition("?")[0] or name  # wget keeps the query in the name
    opened = from_disk(name)
    has_none = not suffix(name) and not name.startswith(".")
    is_unsaid = opened == SNIFFED and (has_none or suffix(name) in _ON_SERVER)
    found = sniffing.recognised(data, name)
    if found is not None and is_active(found) and not is_unsaid:
        found = sniffing.recognised(b"", name)
    named = by_name(name) or (opened if "/" in opened else "")
    if found is not None and not (found == registry.XML and named):
        return found
    content = "" if named else by_content(data)
    return named or found or ("" if is_active(content) and not is_unsaid else content)


def content_type(path: str, stated: str) -> str:
    """Return the Content-Type of a file: the type in the map if it is valid (RFC 9110 8.3.1), otherwise by its name.

    A type that browsers run is sent only if the name has it, too: the mirror renames files that must not run.
    """
    essence, parameters = registry.essence_of(stated)
    if not registry.is_media_type(essence):
        essence = by_name(path)
    if _may_run(essence) and not _may_run(from_disk(path.rpartition("/")[2])):
        essence = "text/plain"
    charset = parameters.get("charset", "")
    return f"{essence}; charset={charset}" if essence and _CHARSET.fullmatch(charset) else essence or OTHER


def _may_run(essence: str) -> bool:
    return is_active(registry.kind_of(essence)) or essence.startswith(("multipart/", "message/"))


_ON_SERVER: Final = frozenset("php php3 php4 php5 phtml asp aspx jsp jspx cfm cfml cgi do action".split())


def by_content(data: bytes) -> str:
    """Return the media type of a payload by its first bytes; "" if it is not recognised."""
    head = data[:64]
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] in {b"WEBP", b"WAVE"}:
        return "image/webp" if head[8:12] == b"WEBP" else "audio/wav"
    if head[4:8] == b"ftyp":
        return "image/avif" if head[8:12] == b"avif" else "video/mp4"
    found = sniffing.sniff_content(data) if data else None
    if found == registry.XML and b"<svg" in data[:2048]:
        return "image/svg+xml"
    if found in {registry.HTML, registry.XML}:
        return found
    return ""
