"""Tables of all attributes of HTML, past and present, that have URLs: rows of `LinkSite`, data and no code.

Names are in lower case, also in the output; element `*` is any element of the table's namespace, and a row for a named
element takes precedence over one for `*`. The sources are the HTML Standard's attribute index and its chapter on
obsolete features, HTML 2.0, 3.2 and 4.01 (DTDs and text), SVG 1.1, SVG Tiny 1.2 and SVG 2, MathML 2 to 4, and the
documentation of browsers (Netscape 4, Internet Explorer).

Excluded, because they have no URL, or one in a grammar that cannot be distinguished from text:
- `option value`, `input value`, any `title`: text that may happen to be a URL; so are other parameters of plug-ins than
  those in PARAMS (`flashvars`), and `href`, `qtsrc` and the like on `embed`;
- `xmlns`, RDFa's `vocab`, `typeof` and `property`, HTML 2.0's `urn` (never given a syntax), SVG's `requiredextensions`:
  names, which nothing fetches or follows;
- `for`, `form`, `headers`, `list`, `commandfor`, `popovertarget`: identifiers without a `#`;
- custom elements (`g:plusone href`, `fb:like href`, `esi:include src`), but those of AMP and COMPONENTS: their
  scripts define the meaning;
- HTML 3.0's `fig src`, `li src`, `hr src`: an expired draft; `li src` in a current page means something else.
"""

from __future__ import annotations

from typing import Final

from absolve.core.model import LinkSite

# --- HTML elements ----------------------------------------------------------------------------------------------------

# An empty `src` fetches nothing; an empty `a href` is a link to the base; an empty action is the document's own URL
# (HTML Standard, form submission algorithm). `code` of an applet is a class file below its codebase.
SCRAPBOOK: Final = LinkSite("html", "data-scrapbook-source", kind="metadata", against="own")  # WebScrapBook
# Server-side includes (Apache's mod_include, nginx): of a URL, and of a file in the folder
INCLUDES: Final = {name: LinkSite("include", name, against="own", stays="always") for name in ("virtual", "file")}
SAVE_PAGE: Final = LinkSite("meta", "content", kind="metadata", against="own")  # Save Page WE: name=savepage-url
HTML: Final[tuple[LinkSite, ...]] = (
    SCRAPBOOK,
    # navigation
    LinkSite("a", "href", kind="navigation", empty="base"),
    LinkSite("area", "href", kind="navigation", empty="base"),
    LinkSite("a", "icon_uri", kind="image"),  # bookmarks as Netscape wrote them, and Firefox does
    LinkSite("a", "feedurl", kind="feed"),
    LinkSite("base", "href", against="own"),
    LinkSite("link", "href", kind="metadata"),  # the kind depends on rel: LINK_REL_KINDS
    LinkSite("img", "longdesc", kind="navigation"),
    LinkSite("frame", "longdesc", kind="navigation"),
    LinkSite("iframe", "longdesc", kind="navigation"),
    LinkSite("embed", "pluginspage", kind="navigation"),  # Netscape: a page about the plug-in
    *(LinkSite(element, "cite", kind="metadata") for element in ("blockquote", "q", "ins", "del")),
    # forms
    LinkSite("form", "action", kind="form", empty="own"),
    LinkSite("button", "formaction", kind="form", empty="own"),
    LinkSite("input", "formaction", kind="form", empty="own"),
    LinkSite("isindex", "action", kind="form", empty="own"),  # Netscape and Internet Explorer, on HTML 2.0's element
    # images
    LinkSite("img", "src", kind="image"),
    LinkSite("img", "srcset", "srcset", "image"),
    LinkSite("source", "srcset", "srcset", "image"),
    LinkSite("link", "imagesrcset", "srcset", "image"),
    LinkSite("input", "src", kind="image"),
    LinkSite("video", "poster", kind="image"),
    LinkSite("model", "environmentmap", kind="image"),
    *(LinkSite(element, "icon", kind="image") for element in ("menuitem", "command")),
    *(LinkSite(element, "lowsrc", kind="image") for element in ("img", "input")),
    *(
        LinkSite(element, "background", kind="image")
        for element in ("body", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "layer", "ilayer")
    ),
    # media and plug-ins
    *(LinkSite(element, "src", kind="media") for element in ("audio", "video", "source", "track", "embed", "model")),
    *(LinkSite(element, "src", kind="media") for element in ("bgsound", "sound")),  # Internet Explorer, Mosaic
    *(LinkSite(element, "dynsrc", kind="media") for element in ("img", "input")),  # Internet Explorer: a video
    *(LinkSite(element, "vrml", kind="media") for element in ("img", "input")),  # Internet Explorer: a VRML world
    LinkSite("object", "data", kind="media", against="codebase"),
    LinkSite("embed", "pluginurl"),  # Netscape: a JAR file that installs the plug-in
    # programs; codebase is the base of the other URLs of its element (HTML 4.01 13.3 and 13.4)
    *(LinkSite(element, "codebase") for element in ("object", "applet", "embed")),
    *(LinkSite(element, "code", against="codebase") for element in ("object", "applet", "embed")),
    LinkSite("object", "classid", against="codebase"),
    LinkSite("object", "archive", "spaces", against="codebase"),
    LinkSite("applet", "archive", "commas", against="codebase"),
    LinkSite("embed", "archive", "commas", against="codebase"),  # Sun's Java plug-in: as on applet
    LinkSite("applet", "object", against="codebase"),
    # frames
    *(LinkSite(element, "src", kind="frame") for element in ("iframe", "frame", "portal", "fencedframe")),
    *(LinkSite(element, "src", kind="frame") for element in ("layer", "ilayer")),  # Netscape 4
    LinkSite("iframe", "srcdoc", "srcdoc", "frame"),
    # scripts, style sheets, fonts, data
    LinkSite("script", "src", kind="script"),
    LinkSite("link", "src", kind="font"),  # Netscape 4: rel=fontdef
    LinkSite("fontdef", "src", kind="font"),  # Netscape 4
    LinkSite("xml", "src"),  # Internet Explorer: data islands
    LinkSite("html", "manifest", against="own"),  # the application cache: read before any base element
    LinkSite("head", "profile", "spaces", "metadata"),  # HTML 4.01 7.4.4.3: "should consider the value to be a list"
    # reports
    *(LinkSite(element, "ping", "spaces") for element in ("a", "area")),
    *(LinkSite(element, "attributionsrc", "spaces") for element in ("a", "area", "img", "script")),
    # identifiers
    LinkSite("*", "itemid", kind="metadata"),
    LinkSite("*", "itemtype", "spaces", "metadata", stays="always"),
    *(LinkSite("*", attribute, "iri", "metadata", empty="base") for attribute in ("about", "resource")),  # RDFa Core 5
    # references into the same document: `usemap` is a hash-name reference, `datasrc` Internet Explorer's data binding
    *(LinkSite(element, "usemap", stays="always") for element in ("img", "input", "object")),
    *(
        LinkSite(element, "datasrc", stays="always")
        for element in (
            *("a", "applet", "body", "button", "div", "frame", "iframe", "img", "input", "label", "legend"),
            *("marquee", "object", "option", "select", "span", "table", "textarea"),
        )
    ),
    # Internet Explorer's VML and HTML+TIME, which Office writes (mostly inside conditional comments). `o:href` is where
    # an image was before Office saved it beside the page (`cid:` in mail), `o:althref` its form for the Macintosh.
    *(
        LinkSite(f"v:{element}", attribute, kind="image")
        for element in ("imagedata", "image", "fill", "stroke")
        for attribute in ("src", "o:href", "o:althref")
    ),
    LinkSite("x:worksheetsource", "href", kind="frame"),  # Excel: the page of a sheet
    *(
        LinkSite(f"v:{element}", "href", kind="navigation", empty="base")
        for element in ("arc", "curve", "group", "image", "line", "oval", "polyline", "rect", "roundrect", "shape")
    ),
    *(
        LinkSite(f"t:{element}", "src", kind="media")
        for element in ("animation", "audio", "img", "media", "ref", "video")
    ),
)

# AMP's elements, in pages that have them in place of `img`, `video` and the like: the attributes of type `value_url` in
# the tables of AMP's validator. Its script replaces them with HTML elements.
AMP: Final[tuple[LinkSite, ...]] = (
    *(LinkSite(element, "src", kind="image") for element in ("amp-img", "amp-anim", "amp-pixel")),
    *(LinkSite(element, "srcset", "srcset", "image") for element in ("amp-img", "amp-anim")),
    *(LinkSite(element, "src", kind="media") for element in ("amp-video", "amp-audio", "amp-3d-gltf")),
    *(LinkSite(element, "poster", kind="image") for element in ("amp-video", "amp-video-iframe")),
    *(LinkSite(element, "artwork", kind="image") for element in ("amp-video", "amp-audio")),
    *(LinkSite(element, "src", kind="frame") for element in ("amp-iframe", "amp-video-iframe")),
    *(LinkSite(element, "background-audio", kind="media") for element in ("amp-story", "amp-story-page")),
    *(
        LinkSite("amp-story", attribute, kind="image")
        for attribute in ("publisher-logo-src", "poster-portrait-src", "poster-square-src", "poster-landscape-src")
    ),
    *(
        LinkSite(element, "href", kind="navigation", empty="base")
        for element in ("amp-story-page-attachment", "amp-story-page-outlink")
    ),
    *(
        LinkSite(element, attribute, kind="image")
        for element in ("amp-story-page-attachment", "amp-story-page-outlink")
        for attribute in ("cta-image", "cta-image-2")
    ),
    *(LinkSite(element, "src", kind="script") for element in ("amp-script", "amp-install-serviceworker")),
    *(  # JSON
        LinkSite(element, "src")
        for element in ("amp-list", "amp-state", "amp-autocomplete", "amp-bodymovin-animation", "amp-story-bookend")
    ),
    LinkSite("amp-analytics", "config"),
    *(LinkSite("form", attribute, kind="form") for attribute in ("action-xhr", "verify-xhr")),
)

# On every element of every namespace.
GLOBAL: Final[tuple[LinkSite, ...]] = (LinkSite("*", "style", "css"),)

# Elements that the parser renames (HTML Standard 13.2.6.4.7, start tag "image"); only in the HTML namespace.
ALIASES: Final[dict[str, str]] = {"image": "img"}

# --- SVG and MathML inside HTML ---------------------------------------------------------------------------------------

SVG_HREF: Final[dict[str, str]] = {
    **dict.fromkeys(("image", "feimage"), "image"),
    **dict.fromkeys(("script", "handler"), "script"),
    **dict.fromkeys(("audio", "video", "animation"), "media"),
    **dict.fromkeys(("font-face-uri", "definition-src"), "font"),
    **dict.fromkeys(("foreignobject",), "frame"),  # SVG Tiny 1.2
    **dict.fromkeys(("animate", "animatecolor", "animatemotion", "animatetransform", "set", "discard"), "other"),
    **dict.fromkeys(("lineargradient", "radialgradient", "meshgradient", "pattern", "hatch", "filter"), "other"),
    **dict.fromkeys(("use", "mpath", "textpath", "tref", "altglyph", "glyphref", "cursor", "color-profile"), "other"),
    **dict.fromkeys(("prefetch", "listener"), "other"),  # SVG Tiny 1.2
}

SVG: Final[tuple[LinkSite, ...]] = (
    LinkSite("a", "href", kind="navigation", empty="base"),
    LinkSite("a", "xlink:href", kind="navigation", empty="base"),
    LinkSite("a", "ping", "spaces"),
    *(LinkSite(element, "href", kind=kind, stays="fragment") for element, kind in SVG_HREF.items()),
    *(LinkSite(element, "xlink:href", kind=kind, stays="fragment") for element, kind in SVG_HREF.items()),
    LinkSite("*", "xlink:href", stays="fragment"),  # XLink applies to any element, a plain href does not
    *(
        LinkSite("*", attribute, "css")  # presentation attributes that may have url()
        for attribute in (
            *("fill", "stroke", "filter", "mask", "clip-path", "cursor", "color-profile", "shape-inside"),
            *("marker", "marker-start", "marker-mid", "marker-end", "shape-subtract"),
        )
    ),
)

# The values of an animation are references where `attributeName` is `href`, otherwise CSS (SVG 1.1 19.2.6 and 19.2.7).
ANIMATED: Final[tuple[LinkSite, ...]] = tuple(
    LinkSite(element, attribute, syntax, "image", stays="fragment")
    for element in ("animate", "set")
    for attribute, syntax in (("to", "url"), ("from", "url"), ("by", "url"), ("values", "semicolons"))
)

# MathML 3: every element of presentation markup can be a link; other elements in `math` cannot.
_PRESENTATION: Final = (
    "maction math menclose merror mfenced mfrac mglyph mi mlabeledtr mlongdiv mmultiscripts mn mo mover mpadded "
    "mphantom mroot mrow ms mscarries mscarry msgroup msline mspace msqrt msrow mstack mstyle msub msubsup msup "
    "mtable mtd mtext mtr munder munderover semantics"
).split()

MATHML: Final[tuple[LinkSite, ...]] = (
    *(LinkSite(element, "href", kind="navigation", empty="base") for element in _PRESENTATION),
    LinkSite("*", "xlink:href", kind="navigation", empty="base"),  # MathML 2
    LinkSite("mglyph", "src", kind="image"),
    LinkSite("math", "altimg", kind="image"),
    LinkSite("share", "src", stays="fragment"),
    LinkSite("annotation", "src", kind="metadata"),
    LinkSite("annotation-xml", "src", kind="metadata"),
    LinkSite("*", "definitionurl", kind="metadata", stays="fragment"),  # the parser adjusts it to definitionURL
    LinkSite("*", "cdgroup", kind="metadata"),
)

# --- meta -------------------------------------------------------------------------------------------------------------

# `meta http-equiv`: browsers ignore other header fields here; X-UA-Compatible and the like have no URL. Of all meta
# elements only a refresh moves a browser on, so that only its kind is navigation.
REFRESH: Final = LinkSite("meta", "content", "refresh", "navigation")
INERT_REFRESH: Final = LinkSite("meta", "content", "refresh", "metadata")  # in a template, or a noscript element
HTTP_EQUIV: Final[dict[str, LinkSite]] = {
    "refresh": REFRESH,
    "onion-location": LinkSite("meta", "content", kind="metadata"),
}

# `meta name` or `meta property` (pages confuse the two) with content that is a URL by definition.
# Excluded, because pages put text there as well, which a rewrite would damage: article:author ("Jane Smith"),
# article:publisher, book:author, music:musician, dc.identifier, rights, identifier, twitter:domain, og:site_name.
META: Final[dict[str, LinkSite]] = {
    name: LinkSite("meta", "content", kind=kind)
    for kind, names in {
        "metadata": (
            *("og:url", "og:see_also", "twitter:url", "twitter:player", "al:web:url", "parsely-link"),
            *("msapplication-starturl", "pinterest:url", "syndication-source", "original-source", "ia:markup_url"),
            *("citation_abstract_html_url", "citation_fulltext_html_url", "citation_pdf_url", "citation_public_url"),
            *(f"al:{system}:url" for system in ("ios", "iphone", "ipad", "android", "windows_phone")),
            *(f"twitter:app:url:{system}" for system in ("iphone", "ipad", "googleplay")),
        ),
        "image": (
            *("og:image", "og:image:url", "og:image:secure_url", "og:logo", "twitter:image", "twitter:image:src"),
            *(f"twitter:image{number}" for number in range(4)),
            *("msapplication-tileimage", "pinterest:media", "pinterest:image", "rnews:thumbnailurl"),
            *("image", "image_src", "thumbnail", "thumbnail_url", "parsely-image-url"),
            *("sailthru.image.full", "sailthru.image.thumb"),
            *(
                f"msapplication-square{size}x{size}logo"
                for size in (16, 24, 30, 32, 44, 48, 64, 70, 128, 144, 150, 256, 270, 310, 558)
            ),
            *("msapplication-wide310x150logo", "msapplication-wide558x270logo"),
        ),
        "media": (
            *("og:video", "og:video:url", "og:video:secure_url", "twitter:player:stream"),
            *("og:audio", "og:audio:url", "og:audio:secure_url"),
        ),
    }.items()
    for name in names
} | {
    "savepage-url": SAVE_PAGE,
    "msapplication-config": LinkSite("meta", "content", "config", "metadata"),
    "msapplication-task": LinkSite("meta", "content", "tasks", "metadata"),
    "msapplication-notification": LinkSite("meta", "content", "tasks", "feed"),
    "msapplication-badge": LinkSite("meta", "content", "tasks", "feed"),
}

# `meta itemprop`: the vocabulary defines a URL, but by the HTML Standard (5.2.4, Values) the value of a meta element is
# the unchanged string of its content, which is not resolved. So it is listed and never rewritten.
META_ITEMPROPS: Final[dict[str, LinkSite]] = {
    name: LinkSite("meta", "content", kind=kind, stays="always")
    for kind, names in {
        "metadata": ("url", "sameas", "discussionurl", "installurl", "downloadurl", "hasmap"),
        "image": ("image", "image_url", "logo", "thumbnailurl", "primaryimageofpage"),
        "media": ("contenturl", "embedurl"),
    }.items()
    for name in names
}

# --- param ------------------------------------------------------------------------------------------------------------

# `param value` by the name, in lower case: the content of an object. Browsers load it, too, where the object
# has no data (Internet Explorer, WebKit, Blink). Names that have other values, as well, have the syntax `likely`.
PARAMS: Final[dict[str, LinkSite]] = {
    **dict.fromkeys(("movie", "src", "filename"), LinkSite("param", "value", kind="media")),
    **dict.fromkeys(("data", "url", "qtsrc", "source"), LinkSite("param", "value", "likely", "media")),
    **dict.fromkeys(("href",), LinkSite("param", "value", "likely", "navigation")),
}
PARAM: Final = LinkSite("param", "value")  # valuetype=ref: a URL by HTML 4.01 13.3.2

# --- link -------------------------------------------------------------------------------------------------------------

# The kind of `link href`: by the first row here with a keyword of its rel. "as" means: look up the `as` attribute in
# AS_KINDS; "type": look up its type in TYPE_KINDS. All other relations have LINK_KIND: data about the page.
LINK_REL_KINDS: Final[dict[str, str]] = {
    "stylesheet": "stylesheet",
    "icon": "image",  # "shortcut icon" too
    "apple-touch-icon": "image",
    "apple-touch-icon-precomposed": "image",
    "apple-touch-startup-image": "image",
    "mask-icon": "image",
    "fluid-icon": "image",
    "image_src": "image",
    "fontdef": "font",  # Netscape 4
    "modulepreload": "script",
    "preload": "as",
    "prefetch": "as",
    "subresource": "as",
    "dns-prefetch": "other",
    "preconnect": "other",
    "prerender": "navigation",
    "feed": "feed",
    "alternate": "type",
    **dict.fromkeys(("canonical", "amphtml", "shortlink", "shorturl", "next", "prev", "previous"), "navigation"),
    **dict.fromkeys(("first", "last", "start", "begin", "end", "up", "top", "home", "index", "contents"), "navigation"),
    **dict.fromkeys(("toc", "chapter", "section", "subsection", "appendix", "glossary", "help"), "navigation"),
    **dict.fromkeys(("author", "bookmark", "copyright", "license", "privacy-policy", "terms-of-service"), "navigation"),
    **dict.fromkeys(("me", "publisher", "edit", "revision", "terms", "archives", "sitemap", "tag"), "navigation"),
}
LINK_KIND: Final = "metadata"

AS_KINDS: Final[dict[str, str]] = {
    "audio": "media",
    "document": "navigation",
    "embed": "media",
    "font": "font",
    "frame": "frame",
    "iframe": "frame",
    "image": "image",
    "json": "other",
    "object": "media",
    "script": "script",
    "serviceworker": "script",
    "sharedworker": "script",
    "style": "stylesheet",
    "track": "media",
    "video": "media",
    "worker": "script",
}
AS_KIND: Final = "other"

# By the type without its parameters; JSON and oEmbed alternates are for programs, all others are pages.
TYPE_KINDS: Final[dict[str, str]] = {
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
    "text/xml": "feed",
    "application/xml": "feed",
    "application/json": "metadata",
    "application/activity+json": "metadata",
    "application/ld+json": "metadata",
    "application/rdf+xml": "metadata",
    "application/json+oembed": "metadata",
    "application/xml+oembed": "metadata",
    "text/xml+oembed": "metadata",
}
TYPE_KIND: Final = "navigation"

# --- lazy loading -----------------------------------------------------------------------------------------------------

# Attributes from which scripts load a URL later. The names are frequent in real pages and in loaders. Where pages also
# use the name for other data ("true", "#fff", JSON), the syntax is `likely`, which accepts only values that look like a
# URL.
LAZY: Final[tuple[LinkSite, ...]] = (
    *(
        LinkSite("*", attribute, "likely", "image")
        for attribute in (
            *("data-src", "data-original", "data-lazy", "data-lazy-src", "data-lazyload", "data-lazyload-src"),
            *("data-echo", "data-layzr", "data-unveil", "data-defer-src", "data-delay-src", "data-delayed-url"),
            *("data-img", "data-image", "data-imgsrc", "data-img-src", "data-img-url", "data-image-src"),
            *("data-image-url", "data-default-src", "data-actual-src", "data-actualsrc", "data-real-src"),
            *("data-original-src", "data-orig-src", "data-original-retina", "data-original-webp"),
            *("data-src-retina", "data-retina", "data-hi-res-src", "data-hires", "data-high-res-src", "data-at2x"),
            *("data-src-small", "data-src-medium", "data-src-large", "data-large-src", "data-mobile-src"),
            *("data-small", "data-large", "data-large_image", "data-full", "data-full-src", "data-full-url"),
            *("data-orig-file", "data-medium-file", "data-large-file", "data-fallback-src", "data-fallback"),
            *("data-zoom-image", "data-zoom-src", "data-thumb", "data-thumbnail", "data-thumb-src", "data-poster"),
            *("data-bg", "data-bg-src", "data-background", "data-background-image", "data-lazy-background"),
            *("data-background-src", "data-bgimage", "data-lazy-bg", "data-flickity-bg-lazyload"),
            *("data-flickity-lazyload", "data-flickity-lazyload-src", "data-gt-lazy-src", "data-nitro-lazy-src"),
            *("data-cfsrc", "data-ezsrc", "data-opt-src", "data-litespeed-src", "data-wpfc-original-src"),
            *("data-pagespeed-lazy-src", "data-pagespeed-high-res-src", "data-mce-src", "data-cke-saved-src"),
        )
    ),
    *(
        LinkSite("*", attribute, "srcset", "image")
        for attribute in (
            *("data-srcset", "data-lazy-srcset", "data-lazyload-srcset", "data-original-set", "data-original-srcset"),
            *("data-orig-srcset", "data-ezsrcset", "data-opt-srcset", "data-litespeed-srcset", "data-imgsrcset"),
            *("data-flickity-lazyload-srcset", "data-wpfc-original-srcset", "data-nitro-lazy-srcset"),
        )
    ),
    *(
        LinkSite("*", attribute, "likely", "navigation")
        for attribute in ("data-href", "data-url", "data-link", "data-mce-href", "data-cke-saved-href")
    ),
    *(
        LinkSite("*", attribute, "likely", "media")
        for attribute in ("data-video", "data-video-src", "data-mp4", "data-webm", "data-audio", "data-audio-src")
    ),
    *(LinkSite("*", attribute, "likely", "frame") for attribute in ("data-iframe-src", "data-embed-src")),
    *(LinkSite(element, "data-src", "likely", "frame") for element in ("iframe", "frame")),
    *(LinkSite(element, "data-src", "likely", "media") for element in ("video", "audio", "track", "embed")),
    LinkSite("script", "data-src", "likely", "script"),
    LinkSite("link", "data-href", "likely", "stylesheet"),
    LinkSite("style", "data-href", "likely", "stylesheet"),
    LinkSite("object", "data-data", "likely", "media"),
    LinkSite("img", "original", "likely", "image"),  # jQuery Lazy Load before 1.6
)

# Components in sources of pages (MDX, Vue): of Starlight, Mintlify and Docusaurus, of the routers of React and Vue.
COMPONENTS: Final[tuple[LinkSite, ...]] = (
    *(LinkSite(element, "href", "likely", "navigation") for element in ("card", "linkcard", "linkbutton")),
    *(LinkSite(element, "to", "likely", "navigation") for element in ("link", "navlink", "router-link", "nuxt-link")),
)

# --- all names in the tables ------------------------------------------------------------------------------------------

_ATTRIBUTES: Final = (*GLOBAL, *HTML, *AMP, *COMPONENTS, *SVG, *ANIMATED, *MATHML, *LAZY)
_ALL: Final = (*_ATTRIBUTES, *HTTP_EQUIV.values(), *META.values(), *META_ITEMPROPS.values(), PARAM)

ELEMENT_NAMES: Final[frozenset[str]] = frozenset(place.element for place in _ALL if place.element != "*") | set(ALIASES)
ATTRIBUTE_NAMES: Final[frozenset[str]] = frozenset(place.attribute for place in _ALL)
