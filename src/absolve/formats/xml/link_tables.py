"""Tables of the URLs in XML vocabularies: rows of `LinkSite` by namespace, element and attribute; data and no code.

Names have the case that the vocabulary gives them; element `*` is any element of the namespace, and a row for a named
element takes precedence over one for `*`. The attribute is empty where the element's text is the reference, or a
document (syntax `html`: escaped markup). XHTML, SVG and MathML are in `formats/html/link_tables.py`.

Excluded, because nothing fetches or follows them, or they are no URI references: `atom:id`, `category scheme`, RSS
`category domain` and `cloud`, Dublin Core, XLink's role and arcrole, `xsi:schemaLocation`, the system identifiers of
DTDs, `rootfile full-path` and `CipherReference URI` of EPUB's containers (paths from its root).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.model import LinkSite
from absolve.formats.registry import JAVASCRIPT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Choice(NamedTuple):
    """A row that depends on other attributes of its tag: `by` names them.

    `places` maps their values to a link site: stripped, in lower case, joined by spaces, "" for an absent attribute. A
    key that ends with a slash matches all values with that prefix. `default` applies to all others. For example, the
    text of `<style type="Text/CSS">` is looked up as `text/css`.
    """

    element: str
    attribute: str
    by: tuple[str, ...]
    places: Mapping[str, LinkSite]
    default: LinkSite | None = None


Rows = tuple[LinkSite | Choice, ...]

XHTML: Final = "http://www.w3.org/1999/xhtml"
SVG: Final = "http://www.w3.org/2000/svg"
MATHML: Final = "http://www.w3.org/1998/Math/MathML"
XML: Final = "http://www.w3.org/XML/1998/namespace"
XLINK: Final = "http://www.w3.org/1999/xlink"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _text(elements: str, kind: str = "navigation", syntax: str = "url") -> tuple[LinkSite, ...]:
    """Return rows of elements whose text is a reference; an empty text has no target."""
    return tuple(LinkSite(element, "", syntax, kind) for element in elements.split())


def _href(elements: str, attribute: str = "href", kind: str = "navigation") -> tuple[LinkSite, ...]:
    return tuple(LinkSite(element, attribute, kind=kind, empty="base") for element in elements.split())


def _kinds(place: LinkSite, by: str, kinds: Mapping[str, str]) -> Choice:
    """Return a row whose kind of link depends on another attribute."""
    return Choice(
        place.element,
        place.attribute,
        (by,),
        {value: place.changed(kind=kind) for value, kind in kinds.items()},
        place,
    )


def _html(elements: str, by: Iterable[str], values: Iterable[str]) -> tuple[Choice, ...]:
    """Return rows of elements whose text is escaped HTML for these values of other attributes."""
    return tuple(
        Choice(element, "", tuple(by), dict.fromkeys(values, LinkSite(element, "", "html")))
        for element in elements.split()
    )


MEDIA_TYPES: Final = {
    "image/": "image",
    "audio/": "media",
    "video/": "media",
    "font/": "font",
    "text/css": "stylesheet",
    "text/javascript": "script",
    "application/javascript": "script",
    "application/x-javascript": "script",
    "application/font-woff": "font",
    "application/font-sfnt": "font",
    "application/vnd.ms-opentype": "font",
    "application/x-font-ttf": "font",
    "application/xhtml+xml": "navigation",
    "text/html": "navigation",
    "application/smil+xml": "media",
}

# --- feeds ------------------------------------------------------------------------------------------------------------

# RFC 4287 4.2.7.2, RFC 5005, RFC 5023, and the registry of link relations
ATOM_RELS: Final = {
    **dict.fromkeys(("", "alternate", "related", "via"), "navigation"),
    **dict.fromkeys(("self", "next", "previous", "prev", "first", "last", "current", "replies"), "feed"),
    **dict.fromkeys(("prev-archive", "next-archive", "service.feed", "service.post"), "feed"),
    **dict.fromkeys(("enclosure", "preview"), "media"),
    **dict.fromkeys(("icon", "image", "logo", "thumbnail"), "image"),
}
_ATOM_LINK: Final = _kinds(LinkSite("link", "href", kind="metadata", empty="base"), "rel", ATOM_RELS)
ATOM: Final[Rows] = (
    _ATOM_LINK,
    LinkSite("content", "src", kind="media"),
    *_href("generator", "uri", "metadata"),
    *_text("uri"),
    *_text("icon logo", "image"),
    *_html("title subtitle summary content rights", ["type"], ["html", "text/html"]),
)
_ESCAPED: Final = [f"escaped {media_type}" for media_type in ("text/html", "application/xhtml+xml", "html")]
ATOM_03: Final[Rows] = (  # the draft of 2003, with its own types and modes
    _ATOM_LINK,
    *_href("generator", "url", "metadata"),
    *_href("generator", "uri", "metadata"),
    *_text("url uri"),
    *_html("title tagline subtitle info copyright summary content", ["mode", "type"], _ESCAPED),
)

_GUID: Final = Choice(
    "guid",
    "",
    ("ispermalink",),
    # By the standard a permanent link is the default; but feeds also use bare numbers without isPermaLink.
    {"true": LinkSite("guid", "", kind="navigation"), "": LinkSite("guid", "", "likely", "navigation")},
)
RSS: Final[Rows] = (  # 0.9x, 1.0, 1.1 and 2.0
    *_text("link comments docs"),
    *_text("url", "image"),  # in the element image
    _GUID,
    _kinds(LinkSite("enclosure", "url", kind="media"), "type", MEDIA_TYPES),
    *_href("source", "url", "feed"),
    *_text("description fullitem", "other", "html"),
)
MEDIA_RSS: Final[Rows] = (
    _kinds(LinkSite("content", "url", kind="media"), "type", MEDIA_TYPES),
    LinkSite("thumbnail", "url", kind="image"),
    *_href("player embed", "url", "media"),
    *_href("peerLink subTitle", "href", "media"),
    *_href("license", "href", "metadata"),
    *_text("backLink response"),
    *_html("title description text", ["type"], ["html", "text/html"]),
)
ITUNES: Final[Rows] = (
    *(LinkSite("image", "href", kind="image"), *_text("new-feed-url", "feed")),
    *_text("summary", "other", "html"),  # podcasters paste their show notes there
)
PODCAST: Final[Rows] = (
    *_href("chapters transcript", "url", "metadata"),
    *_href("funding license", "url"),
    *_href("person"),
    *_href("source", "uri", "media"),
    *_href("socialInteract", "uri"),
    *_href("trailer", "url", "media"),
    *_href("remoteItem", "feedUrl", "feed"),
    LinkSite("person", "img", kind="image"),
    LinkSite("image", "href", kind="image"),
    LinkSite("images", "srcset", "srcset", "image"),
)
OPML: Final[Rows] = (
    *_href("outline", "xmlUrl", "feed"),
    *_href("outline", "htmlUrl"),
    *_href("outline", "url"),  # type=link, type=include
    *_text("docs ownerId"),
)
CDF: Final[Rows] = (  # Microsoft's Channel Definition Format, in capitals as its documentation writes it
    *_href("CHANNEL ITEM A"),
    *_href("LOGO", "HREF", "image"),
    *_href("CHANNEL ITEM A", "HREF"),
)

_RSS_NAMESPACES: Final = (
    *("http://purl.org/rss/1.0/", "http://purl.org/net/rss1.1#", "http://purl.org/rss/1.0/modules/rss091#"),
    *("http://my.netscape.com/rdf/simple/0.9/", "http://channel.netscape.com/rdf/simple/0.9/"),
    *("http://backend.userland.com/rss", "http://backend.userland.com/rss2", "http://backend.userland.com/rss2.1"),
    *("http://blogs.law.harvard.edu/tech/rss", "http://cyber.law.harvard.edu/rss/rss.html"),
)
_WORDPRESS: Final = tuple(f"http://wordpress.org/export/1.{version}/" for version in range(3))
_FEEDS: Final[dict[str, Rows]] = {
    "http://www.w3.org/2005/Atom": ATOM,
    **dict.fromkeys(("http://purl.org/atom/ns#", "http://purl.org/echo/", "http://purl.org/pie/"), ATOM_03),
    **dict.fromkeys(
        ("http://www.w3.org/2007/app", "http://purl.org/atom/app#"), _href("collection categories", kind="feed")
    ),
    "http://purl.org/syndication/thread/1.0": (*_href("in-reply-to"), *_href("in-reply-to", "source", "feed")),
    **dict.fromkeys(_RSS_NAMESPACES, RSS),
    "http://purl.org/rss/1.0/modules/content/": _text("encoded", "other", "html"),
    # exports of WordPress (WXR)
    **dict.fromkeys(
        _WORDPRESS,
        (
            *_text("base_site_url base_blog_url comment_author_url"),
            *_text("attachment_url", "media"),
            *_text("comment_content", "other", "html"),
        ),
    ),
    **dict.fromkeys((f"{space}excerpt/" for space in _WORDPRESS), _text("encoded", "other", "html")),
    "http://wellformedweb.org/CommentAPI/": (*_text("comment"), *_text("commentRss commentRSS", "feed")),
    "http://rssnamespace.org/feedburner/ext/1.0": (*_text("origLink"), *_text("origEnclosureLink", "media")),
    "http://backend.userland.com/creativeCommonsRssModule": _text("license", "metadata"),
    "http://backend.userland.com/blogChannelModule": _text("blogRoll mySubscriptions blink changes"),
    "http://madskills.com/public/xml/rss/module/trackback/": _text("ping about"),
    "http://madskills.com/public/xml/rss/module/pingback/": _text("server target"),
    "http://podlove.org/simple-chapters": (*_href("chapter"), LinkSite("chapter", "image", kind="image")),
    **dict.fromkeys(("http://search.yahoo.com/mrss/", "http://search.yahoo.com/mrss"), MEDIA_RSS),
    **dict.fromkeys(
        ("http://www.itunes.com/dtds/podcast-1.0.dtd", "http://www.itunes.com/DTDs/Podcast-1.0.dtd"), ITUNES
    ),
    "http://www.google.com/schemas/play-podcasts/1.0": ITUNES,
    "https://podcastindex.org/namespace/1.0": PODCAST,
}

# --- sitemaps ---------------------------------------------------------------------------------------------------------

_SITEMAPS: Final[dict[str, Rows]] = {
    **dict.fromkeys(
        (
            # the last three are no namespaces of the protocol, but of many sitemaps, and crawlers read those
            "http://www.sitemaps.org/schemas/sitemap/0.9",
            "https://www.sitemaps.org/schemas/sitemap/0.9",
            "http://www.sitemaps.org/schemas/sitemap/0.9/",
            "https://www.sitemaps.org/schemas/sitemap/0.9/",
            *(f"http://www.google.com/schemas/sitemap/0.{version}" for version in (84, 90)),
        ),
        _text("loc"),
    ),
    "http://www.google.com/schemas/sitemap-image/1.1": (*_text("loc", "image"), *_text("license", "metadata")),
    "http://www.google.com/schemas/sitemap-video/1.1": (
        *_text("thumbnail_loc", "image"),
        *_text("content_loc player_loc", "media"),
        *_text("gallery_loc"),
        *_href("uploader", "info"),
    ),
}

# --- books and documentation ------------------------------------------------------------------------------------------

OPF: Final[Rows] = (
    _kinds(LinkSite("item", "href"), "media-type", MEDIA_TYPES),
    *_href("reference site"),
    *_href("link", kind="metadata"),
)
NCX: Final[Rows] = (
    LinkSite("content", "src", kind="navigation"),
    *_href("audio", "src", "media"),
    *_href("img", "src", "image"),
)
SMIL: Final[Rows] = (
    *_href("text", "src"),
    *_href("audio video ref animation textstream", "src", "media"),
    *_href("img", "src", "image"),
    *_href("a area"),
)
DTBOOK: Final[Rows] = (
    *_href("a"),
    *_href("link", kind="stylesheet"),
    LinkSite("img", "src", kind="image"),
    *_href("img", "longdesc"),
    *_href("blockquote q", "cite", "metadata"),
)
DOCBOOK: Final[Rows] = (  # 4 without a namespace, 5 with one
    *_href("ulink", "url"),
    *_href("link", "xlink:href"),
    *_href("imagedata graphic inlinegraphic", "fileref", "image"),
    *_href("videodata audiodata", "fileref", "media"),
    *_href("textdata", "fileref", "other"),
)
DITA: Final[Rows] = (
    *_href("*"),
    *_href("image", kind="image"),
    *_href("coderef data", kind="other"),
    *_href("object", "data", "media"),
    *(LinkSite("*", attribute) for attribute in ("conref", "conrefend")),
)

_BOOKS: Final[dict[str, Rows]] = {
    "http://www.idpf.org/2007/opf": OPF,
    "http://openebook.org/namespaces/oeb-package/1.0/": OPF,
    "http://www.daisy.org/z3986/2005/ncx/": NCX,
    "http://www.daisy.org/z3986/2005/dtbook/": DTBOOK,
    **dict.fromkeys(
        (
            *("http://www.w3.org/ns/SMIL", "http://www.w3.org/2001/SMIL20/", "http://www.w3.org/2001/SMIL20/Language"),
            *("http://www.w3.org/2005/SMIL21/", "http://www.w3.org/2005/SMIL21/Language"),
        ),
        SMIL,
    ),
    "http://docbook.org/ns/docbook": DOCBOOK,
}

# --- others -----------------------------------------------------------------------------------------------------------

# Relationships of Office Open XML (ISO 29500-2 6.5). Links to parts of the package are no references of the document.
# An office program loads the targets of the others, and may run them (templates, OLE objects, frames, workbooks,
# sources of mail merge): a relative one, which leads to a disk, must not become a link to the web.
_OFFICE: Final = {"hyperlink": "navigation", "image": "image", "video": "media", "audio": "media", "media": "media"}
_RELATIONSHIPS: Final = Choice(
    "Relationship",
    "Target",
    ("targetmode", "type"),
    {"external http:/": LinkSite("Relationship", "Target", empty="base", stays="always")}
    | {
        f"external {space}/{name}": LinkSite("Relationship", "Target", kind=kind, empty="base")
        for space in (
            "http://schemas.openxmlformats.org/officedocument/2006/relationships",
            "http://purl.oclc.org/ooxml/officedocument/relationships",
        )
        for name, kind in _OFFICE.items()
    },
)


def _loaded(elements: str) -> Rows:
    """Return rows for elements of OpenDocument that are also loaded by office programs."""
    return tuple(LinkSite(element, "xlink:href", stays="always") for element in elements.split())


# Word fields that are hyperlinks and have no relationship.
_WORD: Final = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)

_OPEN_SEARCH: Final[Rows] = (
    *_text("Image", "image"),
    *_text("SearchForm"),
    # `rel=self` is the description itself, `suggestions` is JSON (OpenSearch 1.1, Url element); a placeholder stays
    _kinds(LinkSite("Url", "template", kind="form"), "rel", {"self": "metadata", "suggestions": "other"}),
)

_OTHERS: Final[dict[str, Rows]] = {
    **dict.fromkeys(
        ("http://www.w3.org/2001/XInclude", "http://www.w3.org/2003/XInclude"), (LinkSite("include", "href"),)
    ),
    "http://www.w3.org/1999/XSL/Transform": _href("import include", kind="stylesheet"),
    "http://a9.com/-/spec/opensearch/1.1/": _OPEN_SEARCH,
    "http://www.mozilla.org/2006/browser/search/": _OPEN_SEARCH,  # SearchForm; and all of it below SearchPlugin
    **dict.fromkeys(
        (
            "http://schemas.openxmlformats.org/package/2006/relationships",
            "http://purl.oclc.org/ooxml/package/relationships",
        ),
        (_RELATIONSHIPS,),
    ),
    **dict.fromkeys(_WORD, _text("instrText", syntax="field")),
    **dict.fromkeys(
        (
            "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
            "http://purl.oclc.org/ooxml/spreadsheetml/main",
        ),
        _text("f", syntax="formula"),
    ),
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": (*_href("a", "xlink:href"), *_loaded("section-source")),
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": _loaded("table-source cell-range-source"),
    "urn:oasis:names:tc:opendocument:xmlns:meta:1.0": _loaded("template auto-reload"),
    "urn:oasis:names:tc:opendocument:xmlns:script:1.0": _loaded("event-listener"),
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": (
        *_href("a", "xlink:href"),
        *_loaded("object object-ole applet floating-frame"),
        LinkSite("image", "xlink:href", kind="image"),
        LinkSite("plugin", "xlink:href", kind="media"),
    ),
    "http://xspf.org/ns/0/": (
        *_text("location", "media"),
        *_text("info"),
        *_text("image", "image"),
        *_text("license", "metadata"),
    ),
    **dict.fromkeys(
        ("http://www.opengis.net/kml/2.2", "http://earth.google.com/kml/2.0", "http://earth.google.com/kml/2.1"),
        (*_text("href", "other"), *_text("styleUrl", "metadata"), *_text("description", "other", "html")),
    ),
    # filelist.xml beside a page of Office
    "urn:schemas-microsoft-com:office:office": _href("MainFile File", "HRef", "other"),
    **dict.fromkeys(("http://www.topografix.com/GPX/1/0", "http://www.topografix.com/GPX/1/1"), _href("link")),
}

# Elements whose text is another document; `syntax` is a key of `_TEXT_PARTS` in values.py.
_STYLE: Final = Choice("style", "", ("type",), dict.fromkeys(("", "text/css"), LinkSite("style", "", "css")))
_JSON: Final = ("application/ld+json", "importmap", "speculationrules")
_SCRIPT: Final = Choice(
    "script",
    "",
    ("type",),
    {word: LinkSite("script", "", word) for word in _JSON}
    | dict.fromkeys(("", "module", *sorted(JAVASCRIPT_TYPES)), LinkSite("script", "", "javascript")),
)

VOCABULARIES: Final[dict[str, Rows]] = (
    _FEEDS | _SITEMAPS | _BOOKS | _OTHERS | {XHTML: (_STYLE, _SCRIPT), SVG: (_STYLE, _SCRIPT)}
)

BROWSERCONFIG: Final[Rows] = (  # the tiles of a site in Windows, and what is asked for news about it
    *_href("square70x70logo square150x150logo wide310x150logo square310x310logo TileImage", "src", "image"),
    *_href("polling-uri polling-uri2 polling-uri3 polling-uri4 polling-uri5", "src", "feed"),
)

# Rows for elements without a namespace, by the document's root element.
ROOTS: Final[dict[str, Rows]] = {
    "rss": RSS,
    "feed": ATOM,
    "opml": OPML,
    "CHANNEL": CDF,
    "en-export": (*_text("source-url"), *_text("content", "other", "html")),  # notes of Evernote
    "browserconfig": BROWSERCONFIG,
    "ncx": NCX,
    "package": OPF,
    "smil": SMIL,
    "dtbook": DTBOOK,
    **dict.fromkeys(("urlset", "sitemapindex"), _text("loc")),
    **dict.fromkeys(
        "set book part article chapter appendix preface section sect1 sect2 refentry reference glossary".split(),
        DOCBOOK,
    ),
    **dict.fromkeys("topic concept task map bookmap glossentry troubleshooting dita".split(), DITA),
    "reference": DITA + DOCBOOK,  # a root element of both
}

# Attributes with a namespace of their own, on any element.
ATTRIBUTES: Final[dict[tuple[str, str], LinkSite]] = {
    (XML, "base"): LinkSite("*", "xml:base"),
    (XLINK, "href"): LinkSite("*", "xlink:href"),
    (RDF, "about"): LinkSite("*", "rdf:about", kind="metadata", empty="own"),  # RDF/XML 2.14: the in-scope base applies
    (RDF, "resource"): LinkSite("*", "rdf:resource", kind="metadata"),
    **{(space, "instr"): LinkSite("*", "w:instr", "field", "navigation") for space in _WORD},
    ("http://www.idpf.org/2007/ops", "textref"): LinkSite("*", "epub:textref", kind="navigation"),
}

# Pseudo-attributes of processing instructions before the root element, outside the scope of xml:base and base elements.
INSTRUCTIONS: Final[dict[str, LinkSite]] = {
    "xml-stylesheet": LinkSite("xml-stylesheet", "href", kind="stylesheet", against="own", stays="fragment"),
    "xml-model": LinkSite("xml-model", "href", kind="metadata", against="own"),
}

# All namespaces with rows here; every other namespace is represented by OTHER.
NAMESPACES: Final = frozenset({*VOCABULARIES, XHTML, SVG, MATHML, XML, *(namespace for namespace, _ in ATTRIBUTES)})
OTHER: Final = "another"
