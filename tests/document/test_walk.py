"""Walking a document: the layers of bases around it, documents inside it, the depth limit, and diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import absolve
from absolve.core.errors import DocumentError, UsageError
from absolve.core.model import BaseClaim, BaseURL, Document, Layer, Part
from absolve.document import walk as walking
from absolve.document.walk import Settings, hold, inner_at, inners, walk
from tests.shapes.scale import COMPILED, scaled

if TYPE_CHECKING:
    from absolve.document.entity import Entity

URL = "http://doc.example/dir/page.html"
SAVED = "<!-- saved from url=(0021)http://saved.example/-->"


def walked(data: str | bytes, *, url: str | None = URL, media_type: str = "text/html", **settings: object) -> Entity:
    return walk(Document(data, url=url, media_type=media_type), Settings(**settings).checked())  # type: ignore[arg-type]


def chain(base: BaseURL) -> list[tuple[str, str | None, str, int | None]]:
    return [(claim.base.layer.label, claim.url, claim.verdict, claim.line) for claim in base.chain]


def inner(entity: Entity) -> list[Entity]:
    return [found.entity for found in inners(entity)]


# --- the layers -------------------------------------------------------------------------------------------------------


def test_a_document_without_any_claim_has_the_default_base() -> None:
    entity = walked("<a href=x>", url=None)
    assert entity.bases.own == entity.bases.base == BaseURL("", Layer.DEFAULT)


@pytest.mark.parametrize(
    ("page", "url", "own", "base", "layer"),
    [
        ("", URL, URL, URL, "retrieval"),
        (SAVED, None, "http://saved.example/", "http://saved.example/", "retrieval"),
        (SAVED, URL, URL, URL, "retrieval"),
        ("<base href='http://b.example/'>", None, "", "http://b.example/", "embedded"),
        ("<base href='http://b.example/'>", URL, URL, "http://b.example/", "embedded"),
        ("<base href=sub/>", URL, URL, "http://doc.example/dir/sub/", "embedded"),
        ("<base href=sub/>", None, "", "", "default"),
        (f"<base href=sub/>{SAVED}", None, "http://saved.example/", "http://saved.example/sub/", "embedded"),
        ("<base href='javascript:1'>", URL, URL, URL, "retrieval"),
        ("<base href=''>", URL, URL, URL, "embedded"),
        ("<base href=''>", None, "", "", "default"),
        ("<base href='mailto:a@b'>", URL, URL, "mailto:a@b", "embedded"),
        ("", "about:blank", "about:blank", "about:blank", "retrieval"),
    ],
)
def test_the_innermost_usable_layer_gives_the_base(page: str, url: str | None, own: str, base: str, layer: str) -> None:
    bases = walked(page, url=url).bases
    assert (bases.own.url, bases.base.url, bases.base.layer.label) == (own, base, layer)


@pytest.mark.parametrize(
    "page",
    [
        "<a href=x><base href=/b/>",
        "<base href=/b/ target=x>",
        "<base target=x><base href=/b/>",
        "<base><base href=/b/><base href=/c/>",
        "<body><p><base href=/b/>",
        "<html></html><base href=/b/>",
        "<template><base href=/t/></template><base href=/b/>",
        "<svg><base href=/s/></base></svg><base href=/b/>",
        "<svg><foreignObject><base href=/b/></foreignObject></svg>",
        "<noscript><base href=/b/></noscript>",
        "<base\nHREF\n=\n'\n/b/\n'>",
        "<base href='&#x2F;b/'>",
        "<base href=/b/ href=/c/>",
    ],
)
def test_the_first_base_element_with_an_href_gives_the_base(page: str) -> None:
    assert walked(page).bases.base.url == "http://doc.example/b/"


@pytest.mark.parametrize(
    "page",
    [
        "<base>",
        "<base target=x>",
        "<basefoo href=/b/>",
        "<base foohref=/b/>",
        "</base href=/b/>",
        "<base href=/b/",
        *(
            f"<{name}><base href=/b/></{name}>"
            for name in ("title", "textarea", "style", "script", "xmp", "iframe", "noembed", "noframes", "template", "svg", "math")
        ),
        "<!-- <base href=/b/> -->",
        "<plaintext><base href=/b/>",
        "<svg><![CDATA[<base href=/b/>]]></svg>",
        "<template><template></template><base href=/b/></template>",
        "<select><option>x<textarea><base href=/b/></textarea></select>",
        "<p title='<base href=/b/>'>",
    ],
)
def test_tags_that_are_no_base_elements_are_ignored(page: str) -> None:
    assert walked(page).bases.base.url == URL


@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986", "whatwg"])
@pytest.mark.parametrize(
    ("document", "media_type"),
    [
        ("Content-Base: http://b.example/d/\nContent-Type: text/html\n\n<a href=x>", "message/rfc822"),
        ("<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b.example/d/'><link href='x'/></feed>", "application/xml"),
    ],
)
def test_the_profile_changes_resolving_but_not_the_layers(document: str, media_type: str, profile: absolve.Profile) -> None:
    rows = absolve.links(document, media_type=media_type, url=URL, profile=profile)
    assert [row.target for row in rows if row.reference == "x"] == ["http://b.example/d/x"]


def test_the_chain_has_every_claim_with_its_line() -> None:
    page = f"{SAVED}\n<base href=/1/>\r\n\r<base href=/2/>"
    assert chain(walked(page).bases.base) == [
        ("embedded", "http://doc.example/1/", "won", 2),
        ("retrieval", URL, "resolved against", None),
        ("retrieval", "http://saved.example/", "ignored", 1),
    ]


def test_url_sources_beside_a_file_follow_those_in_the_file() -> None:
    beside = [BaseClaim(Layer.RETRIEVAL, "http://beside.example/", "user.xdg.origin.url")]

    def base(page: str, url: str | None = None) -> str:
        return walk(Document(page, url=url, claims=beside), Settings()).bases.base.url

    assert base("") == "http://beside.example/"
    assert base("<style>a{b:url(x)}</style><base href=b/>") == "http://beside.example/b/"
    assert base(SAVED) == "http://saved.example/"
    assert base("", URL) == URL


# --- inner documents --------------------------------------------------------------------------------------------------


def test_a_srcdoc_has_the_base_of_the_document_around_it() -> None:
    (one,) = inner(walked("<iframe srcdoc='<a href=x>'></iframe><base href=/b/>"))
    assert one.bases.base[:3] == ("http://doc.example/b/", Layer.ENCAPSULATING, "srcdoc (base element, line 1)")
    assert one.bases.own == one.bases.base
    assert one.path == "srcdoc[1]"


def test_a_base_element_in_a_srcdoc_applies_there() -> None:
    (one,) = inner(walked("<base href=/b/><iframe srcdoc='<base href=c/><a href=x>'></iframe>"))
    assert one.bases.own.url == "http://doc.example/b/"
    assert one.bases.base[:2] == ("http://doc.example/b/c/", Layer.EMBEDDED)


def test_a_srcdoc_without_any_base_has_the_default_base() -> None:
    (one,) = inner(walked("<iframe srcdoc='<a href=x>'>", url=None))
    assert one.bases.base == BaseURL("", Layer.DEFAULT)


def test_a_saved_from_comment_in_a_srcdoc_follows_the_encapsulating_base() -> None:
    (one,) = inner(walked(f"<iframe srcdoc='{SAVED}'></iframe>"))
    assert one.bases.base.url == URL


def test_the_path_of_an_entity_has_the_numbers_of_nested_srcdocs() -> None:
    entity = walked("<style>@import 'x'</style><iframe srcdoc='&lt;iframe srcdoc=&lt;p&gt;&gt;'></iframe><iframe srcdoc=x>")
    _, one, two = inner(entity)
    assert [one.path, *(found.path for found in inner(one)), two.path] == ["srcdoc[1]", "srcdoc[1]/srcdoc[1]", "srcdoc[2]"]


def test_links_in_style_have_the_layer_and_base_of_their_document() -> None:
    entity = walked("<base href=/b/><style>a{b:url(x)}</style><p style='a:url(x)'>")
    for found in inner(entity):
        assert found.bases == entity.bases
        assert found.path == ""


@pytest.mark.parametrize("charset", ["iso-8859-2", "windows-1252", "koi8-r", "shift_jis", "utf-16le", "utf-8"])
def test_a_style_sheet_is_read_in_its_charset(charset: str) -> None:
    data = '@import "é/x"; a{b:url(y)}'.encode(charset, "replace")
    entity = walked(data, media_type=f"text/css; charset={charset}")
    (one,) = inner(entity) if charset != "utf-8" else (entity,)
    assert (one.media_type, one.charset.name) == ("text/css", "utf-8" if charset == "utf-16le" else charset)
    assert len(one.events) == 2
    assert not inner(one)


def test_the_charset_coding_of_utf_16_is_no_inner_document() -> None:
    entity = walked("<base href=/b/><a href=x>".encode("utf-16"))
    (one,) = inner(entity)
    assert entity.bases == one.bases
    assert entity.bases.base.url == "http://doc.example/b/"
    assert one.path == ""


# --- limits and diagnostics -------------------------------------------------------------------------------------------


def nested(depth: int) -> str:
    page = "<a href=x>"
    for _ in range(depth):
        page = f'<iframe srcdoc="{page.replace("&", "&amp;").replace(chr(34), "&quot;")}">'
    return page


@pytest.mark.parametrize(("depth", "limit", "count"), [(3, 3, 0), (4, 3, 1), (1, 1, 0), (1, 0, 1)])
def test_a_document_beyond_the_depth_limit_stays_with_a_diagnostic(depth: int, limit: int, count: int) -> None:
    entity = walked(nested(depth), max_depth=limit)
    assert [diagnostic.code for diagnostic in entity.diagnostics] == ["too-deep"] * count


def test_the_depth_limit_counts_documents_not_style_sheets() -> None:
    assert walked("<style>a{b:url(x)}</style><p style='a:url(x)'>", max_depth=0).diagnostics == []


def test_a_diagnostic_has_line_and_column_in_the_outermost_document() -> None:
    page = "\n\n  <iframe srcdoc='\n<script type=importmap>{oops}</script>'>"
    (diagnostic,) = walked(page).diagnostics
    assert (diagnostic.code, diagnostic.name, diagnostic.line) == ("malformed-json", "<bytes>", 4)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name"), [(b"", None), (b"x<p>", "x.unknown"), (b"<p>\0", None), ("é".encode("utf-16"), None), (b"\xff\xfe", None)]
)
def test_text_of_unknown_type_is_html(data: bytes, name: str | None) -> None:
    assert walk(Document(data, name=name), Settings()).media_type == "text/html"


@pytest.mark.parametrize("name", ["s.css", "S.CSS", "dir.html/s.css"])
def test_the_name_selects_the_format(name: str) -> None:
    assert walk(Document(b"x", name=name), Settings()).media_type == "text/css"


@pytest.mark.parametrize(("data", "media_type"), [(b"\0\0\0", None), (b"x", "image/png"), (b"x", ""), (b"x", ";")])
def test_an_unsupported_media_type_is_an_error_that_names_the_document(data: bytes, media_type: str | None) -> None:
    with pytest.raises(DocumentError, match=r"p\.html: unknown-media-type"):
        walk(Document(data, name="p.html", media_type=media_type), Settings())


@pytest.mark.parametrize("url", ["", "x", "/x", "//h/", "http://[", "http://a b/", "http://h:x/"])
def test_an_invalid_retrieval_url_is_an_error(url: str) -> None:
    with pytest.raises(UsageError, match="retrieval URL"):
        walked("", url=url)


@pytest.mark.parametrize("setting", [{"profile": "x"}, {"fragments": "x"}, {"base": "x"}])
def test_an_unknown_value_of_a_setting_is_an_error(setting: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="'x'"):
        walked("", **setting)


# --- scoped bases -----------------------------------------------------------------------------------------------------


def test_the_link_context_of_each_entry_of_a_feed_is_computed_once() -> None:
    entity = walked("")
    scopes = [BaseClaim(Layer.EMBEDDED, f"{number}/", "xml:base attribute", number) for number in range(4000)]
    found = [entity.base_context(scope) for scope in scopes]
    assert found[-1].base.url.endswith("/3999/")
    assert all(entity.base_context(scope) is base_context for scope, base_context in zip(scopes, found, strict=True))


def test_inner_documents_under_the_same_base_share_their_link_contexts() -> None:
    pieces = ("<a href=1>", "<a href=2>", "<base href=/b/><a href=3>", "<a href=4>", "<!--[if IE]><a href=5><![endif]--><a href=6>")
    page = "".join(f"<iframe srcdoc='{piece}'></iframe>" for piece in pieces)
    entity = walked(page, conditional_comments=True)
    caches = [one.entity.contexts for one in inners(entity)]
    assert [caches[0] is cache for cache in caches] == [True, True, False, True, True]
    found = absolve.rewrite(page, url="http://doc.example/", conditional_comments=True)
    after = absolve.links(found, conditional_comments=True)
    assert [row.reference.removeprefix("http://doc.example/") for row in after] == ["1", "2", "b/", "b/3", "4", "5", "6"]


def test_inner_documents_under_different_bases_have_their_own_link_contexts() -> None:
    entry = '<entry xml:base="{}/"><content type="html">&lt;a href="x"></content></entry>'
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(entry.format(base) for base in "abca")}</feed>'
    found = absolve.links(feed, media_type="application/atom+xml", url=URL)
    targets = [row.target for row in found if row.element == "a"]
    assert targets == [f"http://doc.example/dir/{base}/x" for base in "abca"]
    done = absolve.rewrite(feed, media_type="application/atom+xml", url=URL)
    assert [done.count(f'&lt;a href="{target}"') for target in targets] == [2, 1, 1, 2]


def test_an_encapsulating_base_overrides_the_saved_from_comment_of_an_inner_document() -> None:
    (one,) = inner(walked(f"<base href=/b/><iframe srcdoc='{SAVED}<a href=x>'></iframe>"))
    assert chain(one.bases.base)[0][2] == "won"
    assert chain(one.bases.base)[-1] == ("retrieval", "http://saved.example/", "overruled", 1)


# --- many inner documents ---------------------------------------------------------------------------------------------

MANY = scaled(2300)  # more than are kept in memory
DEEP = "<iframe srcdoc='<a href=x><iframe srcdoc=&quot;<p style=background:url(%d)>&quot;></iframe>'></iframe>"


@pytest.fixture
def kept_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the number of kept documents in proportion to `MANY`."""
    if not COMPILED:
        monkeypatch.setattr(walking, "_MOST_KEPT", scaled(walking._MOST_KEPT))


@pytest.mark.usefixtures("kept_are_scaled")
def test_many_inner_documents_are_listed_and_rewritten_like_a_few() -> None:
    pieces = [DEEP % number for number in range(MANY)]
    found = list(absolve.links("".join(pieces), url=URL))
    assert [row.entity for row in found[:2]] == ["srcdoc[1]", "srcdoc[1]/srcdoc[1]"]
    assert [row.entity for row in found[-2:]] == [f"srcdoc[{MANY}]", f"srcdoc[{MANY}]/srcdoc[1]"]
    assert [row.reference for row in found[1::2]] == [str(number) for number in range(MANY)]
    few = [absolve.rewrite(piece, url=URL) for piece in pieces]
    assert absolve.rewrite("".join(pieces), url=URL) == "".join(few)
    assert absolve.rewrite("".join(few), url=URL) == "".join(few)


@pytest.mark.usefixtures("kept_are_scaled")
def test_style_sheets_are_not_numbered_in_the_path() -> None:
    page = "<p style=background:url(a)><iframe srcdoc='<a href=x>'></iframe><svg><style>@import 'b'</style></svg>" * MANY
    paths = [row.entity for row in absolve.links(page, url=URL)]
    assert paths == [path for number in range(MANY) for path in ("", f"srcdoc[{number + 1}]", "")]


@pytest.mark.usefixtures("kept_are_scaled")
def test_only_events_with_an_inner_document_return_one() -> None:
    page = "<a href=x><iframe srcdoc='<a href=x>'></iframe><p style=background:url(a)><style>a{}</style><a href=x>" * MANY
    entity = walked(page)
    has = [inner_at(entity, index) is not None for index in range(len(entity.events))]
    assert has == [type(event) is Part for event in entity.events]


def test_a_part_that_cannot_be_walked_is_numbered_only_if_it_is_a_document() -> None:
    broken = "<script type=importmap>{</script>"
    page = f"{broken}<iframe srcdoc='<a href=x>'></iframe>"
    assert [row.entity for row in absolve.links(page * 2, url=URL)] == ["srcdoc[1]", "srcdoc[2]"]


@pytest.mark.usefixtures("kept_are_scaled")
def test_diagnostics_of_many_inner_documents_appear_once() -> None:
    page = "<iframe srcdoc='<iframe srcdoc=&quot;<a href=x>&quot;></iframe>'></iframe>" * MANY
    entity = walked(page, max_depth=1)
    count = len(entity.diagnostics)
    assert count == MANY
    assert len(list(inners(entity))) == len(list(inners(entity))) == MANY
    assert len(entity.diagnostics) == count


@pytest.mark.usefixtures("kept_are_scaled")
def test_the_limit_of_links_counts_all_inner_documents() -> None:
    page = "<iframe srcdoc='<a href=x>'></iframe>" * MANY
    assert len(inner(walked(page, max_links=2 * MANY))) == MANY
    left = walked(page, max_links=2 * MANY - 2)  # each part counts, and each link
    assert (len(inner(left)), [diagnostic.code for diagnostic in left.diagnostics]) == (MANY - 2, ["too-many-links"] * 2)


@pytest.mark.usefixtures("kept_are_scaled")
def test_kept_inner_documents_are_the_same_objects() -> None:
    links_in_it = "<a href=x>" * 9
    page = f"<iframe srcdoc='{links_in_it}<iframe srcdoc=&quot;{links_in_it}&quot;></iframe>'></iframe>"
    entity = walked(page * MANY)
    assert inner(entity)[-1] is not inner(entity)[-1]
    hold(entity)
    assert all(one is other for one, other in zip(inner(entity), inner(entity), strict=True))
    last = inner(entity)[-1]
    deepest = inner(last)[0]
    assert deepest is inner(last)[0]
    for found in (entity, last, deepest):
        assert found.events[0] is found.events[0]


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "iso-2022-jp"])
def test_a_page_may_have_a_base_longer_than_those_of_inner_documents_together(
    charset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("absolve.document.walk.MOST_LONG_BASES", 100)
    base = f"http://example.org/{'a' * 2000}/"
    page = f'<!doctype html><base href="{base}"><a href="x">x</a>'
    rewritten = absolve.rewrite(page.encode(charset), charset=charset)
    assert rewritten.decode(charset) == page.replace('"x"', f'"{base}x"')


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "iso-8859-1"])
def test_json_ld_stays_in_every_charset_without_the_option(charset: str) -> None:
    data = '{"@id": "x"}'.encode(charset)
    media_type = f"application/ld+json; charset={charset}"
    assert absolve.rewrite(data, media_type=media_type, url="http://u/") is data
    rewritten = absolve.rewrite(data, media_type=media_type, url="http://u/", json_ld=True)
    assert rewritten == '{"@id": "http://u/x"}'.encode(charset)
