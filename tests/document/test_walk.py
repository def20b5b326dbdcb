"""Walking a document: the layers of bases around it, documents inside it, the depth limit, and diagnostics."""

import re

import html5lib
import pytest

import absolve
from absolve.core.model import BaseClaim, BaseURL, Document, Layer
from absolve.document import walk as walking
from absolve.document.entity import Entity
from absolve.document.walk import Settings, inners, walk
from tests.shapes.scale import COMPILED, scaled

URL = "http://doc.example/dir/page.html"
SAVED = "<!-- saved from url=(0021)http://saved.example/-->"


def walked(data: str | bytes, *, url: str | None = URL, media_type: str = "text/html", **settings: object) -> Entity:
    return walk(Document(data, url=url, media_type=media_type), Settings(**settings).checked())  # type: ignore[arg-type]


def chain(base: BaseURL) -> list[tuple[str, str | None, str, int | None]]:
    return [(claim.base.layer.label, claim.url, claim.verdict, claim.line) for claim in base.chain]


def inner(entity: Entity) -> list[Entity]:
    return [found.entity for found in inners(entity)]


# --- the layers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "url", "own", "base", "layer"), [
    ("", URL, URL, URL, "retrieval"),
    (SAVED, None, "http://saved.example/", "http://saved.example/", "retrieval"),
    (SAVED, URL, URL, URL, "retrieval"),
    ("<base href='http://b.example/'>", None, "", "http://b.example/", "embedded"),
    ("<base href='http://b.example/'>", URL, URL, "http://b.example/", "embedded"),
    ("<base href=sub/>", URL, URL, "http://doc.example/dir/sub/", "embedded"),
    ("<base href=sub/>", None, "", "", "default"),
    (f"<base href=sub/>{SAVED}", None, "http://saved.example/", "http://saved.example/sub/", "embedded"),
    ("<base href='javascript:1'>", URL, URL, URL, "retrieval"), ("<base href=''>", URL, URL, URL, "embedded"),
    ("<base href=''>", None, "", "", "default"), ("<base href='mailto:a@b'>", URL, URL, "mailto:a@b", "embedded"),
    ("", "about:blank", "about:blank", "about:blank", "retrieval"),
])
def test_the_innermost_usable_layer_gives_the_base(page: str, url: str | None, own: str, base: str, layer: str) -> None:
    bases = walked(page, url=url).bases
    assert (bases.own.url, bases.base.url, bases.base.layer.label) == (own, base, layer)


PAGES = [
    "<a href=x><base href=/b/>", "<base href=/b/ target=x>", "<base target=x><base href=/b/>", "<base><base href=/b/><base href=/c/>",
    "<body><p><base href=/b/>", "<html></html><base href=/b/>", "<template><base href=/t/></template><base href=/b/>", "<base>",
    "<svg><base href=/s/></base></svg><base href=/b/>", "<svg><foreignObject><base href=/b/></foreignObject></svg>", "<base target=x>",
    "<noscript><base href=/b/></noscript>", "<base\nHREF\n=\n'\n/b/\n'>", "<base href='&#x2F;b/'>", "<base href=/b/ href=/c/>",
    "<basefoo href=/b/>", "<base foohref=/b/>", "</base href=/b/>", "<base href=/b/", "<!-- <base href=/b/> -->", "<plaintext><base href=/b/>",
    *(
        f"<{name}><base href=/b/></{name}>"
        for name in ("title", "textarea", "style", "script", "xmp", "iframe", "noembed", "noframes", "template", "svg", "math")
    ),
    "<svg><![CDATA[<base href=/b/>]]></svg>", "<template><template></template><base href=/b/></template>", "<p title='<base href=/b/>'>",
    "<select><option>x<textarea><base href=/b/></textarea></select>",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_first_base_element_with_an_href_gives_the_base(page: str) -> None:
    tree = html5lib.parse(re.sub("<template.*</template>", "", page), namespaceHTMLElements=True)
    bases = (element.get("href") or "" for element in tree.iter("{http://www.w3.org/1999/xhtml}base"))
    first = next(filter(None, bases), "")
    assert walked(page).bases.base.url == absolve.resolve(URL, first.strip())


def test_the_chain_has_every_claim_with_its_line() -> None:
    page = f"{SAVED}\n<base href=/1/>\r\n\r<base href=/2/>"
    assert chain(walked(page).bases.base) == [
        ("embedded", "http://doc.example/1/", "won", 2), ("retrieval", URL, "resolved against", None),
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


def test_the_path_of_an_entity_has_the_numbers_of_nested_srcdocs() -> None:
    entity = walked("<style>@import 'x'</style><iframe srcdoc='&lt;iframe srcdoc=&lt;p&gt;&gt;'></iframe><iframe srcdoc=x>")
    _, one, two = inner(entity)
    assert [one.path, *(found.path for found in inner(one)), two.path] == ["srcdoc[1]", "srcdoc[1]/srcdoc[1]", "srcdoc[2]"]


def test_links_in_style_have_the_layer_and_base_of_their_document() -> None:
    entity = walked("<base href=/b/><style>a{b:url(x)}</style><p style='a:url(x)'>")
    for found in inner(entity):
        assert found.bases == entity.bases
        assert found.path == ""


def test_a_style_sheet_or_page_is_read_in_its_charset_which_makes_no_inner_document() -> None:
    for charset in ("iso-8859-2", "windows-1252", "koi8-r", "shift_jis", "utf-16le", "utf-8"):
        data = '@import "é/x"; a{b:url(y)}'.encode(charset, "replace")
        entity = walked(data, media_type=f"text/css; charset={charset}")
        (one,) = inner(entity) if charset != "utf-8" else (entity,)
        assert (one.media_type, one.charset.name) == ("text/css", "utf-8" if charset == "utf-16le" else charset)
        assert (len(one.events), inner(one)) == (2, [])
    entity = walked("<base href=/b/><a href=x>".encode("utf-16"))
    (one,) = inner(entity)
    assert (entity.bases, one.bases.base.url, one.path) == (one.bases, "http://doc.example/b/", "")


def test_a_diagnostic_has_line_and_column_in_the_outermost_document() -> None:
    page = "\n\n  <iframe srcdoc='\n<script type=importmap>{oops}</script>'>"
    (diagnostic,) = walked(page).diagnostics
    assert (diagnostic.code, diagnostic.name, diagnostic.line) == ("malformed-json", "<bytes>", 4)


def test_an_encapsulating_base_overrides_the_saved_from_comment_of_an_inner_document() -> None:
    for outer, base in (("", URL), ("<base href=/b/>", "http://doc.example/b/")):
        (one,) = inner(walked(f"{outer}<iframe srcdoc='{SAVED}<a href=x>'></iframe>"))
        assert one.bases.base.url == base
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


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "iso-2022-jp"])
def test_a_page_may_have_a_base_longer_than_those_of_inner_documents_together(charset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.document.diagnostics.MOST_LONG_BASES", 100)
    base = f"http://example.org/{'a' * 2000}/"
    page = f'<!doctype html><base href="{base}"><a href="x">x</a>'
    rewritten = absolve.rewrite(page.encode(charset), charset=charset)
    assert rewritten.decode(charset) == page.replace('"x"', f'"{base}x"')
