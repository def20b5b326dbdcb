"""The policy of a mirror: which links lead to files, which to the web, and which stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import absolve
from absolve.core.errors import DocumentError
from absolve.mirror import policy as policy_
from absolve.mirror.policy import MirrorPolicy, Relatives, Target

HELD = {
    "http://h/b": Target("h/b.html"), "http://h/a": Target("h/a.html"), "http://h/d/e%20f:g": Target("h/d/e f_g.html"),
    "http://h/x:y": Target("h/x:y"), "http://h/to": Target("h/b.html", "there"), "http://h/s.js": Target("h/s.js"),
    "http://h/i.svg": Target("h/i.svg"), "http://h/d.xsl": Target("h/d.xsl"), "cid:1": Target("h/cid.png"), "http://i/": Target("i/index.html"),
}


def policy(*, severs: bool = False) -> MirrorPolicy:
    return MirrorPolicy("h/a.html", HELD.get, severs=severs)


def rewritten(data: bytes, own: MirrorPolicy | None = None, media_type: str = "text/html") -> bytes:
    made = absolve.rewrite(data, url="http://h/a", media_type=media_type, profile="whatwg", base="empty", policy=own or policy())
    return bytes(made)


LED = {
    "/b": "b.html", "b#f": "b.html#f", "//h/b": "b.html", "http://i": "../i/index.html", "d/e%20f:g": "d/e%20f_g.html", "/x:y": "./x:y",
    "./x:y": "./x:y", "/to": "b.html#there", "/to#mine": "b.html#there", "cid:1": "cid.png", "/c?q#f": "http://h/c?q#f", "//away/x": "http://away/x",
    "https://away/x": "https://away/x", "../../x": "http://h/x", "mailto:a@b": "mailto:a@b", "javascript:x()": "javascript:x()", "data:,x": "data:,x",
    "#f": "#f", "": "", "b.html#f": "http://h/b.html#f", "//[": "http://[", "/\\[": "http:/\\[", "http://[": "http://[",
}


def test_a_link_leads_to_the_file_or_to_the_web() -> None:
    made = {reference: rewritten(f'<a href="{reference}">'.encode()) for reference in LED}
    assert made == {reference: f'<a href="{new}">'.encode() for reference, new in LED.items()}


@pytest.mark.parametrize(("html", "new"), [
    (b"<a href=/to#mine>", b"<a href=b.html#there>"), (b"<area href=/to>", b"<area href=b.html#there>"),
    (b"<iframe src=/to#mine>", b"<iframe src=b.html#there>"), (b"<a href=/top#mine>", b"<a href=b.html#>"),
    (b"<a href=b.html#mine>", b"<a href=b.html#there>"), (b"<a href=b.html#there>", b"<a href=b.html#there>"),
    (b"<svg><use href=/to#mine />", b"<svg><use href=b.html#mine />"), (b"<img src=/to#mine>", b"<img src=b.html#mine>"),
    (b"<img src=/to>", b"<img src=b.html#there>"),
])
def test_the_fragment_of_a_redirect_counts_before_that_of_a_link_that_opens_it(html: bytes, new: bytes) -> None:
    held = HELD | {"http://h/top": Target("h/b.html", ""), "http://h/b.html": HELD["http://h/to"]}
    assert rewritten(html, MirrorPolicy("h/a.html", held.get)) == new


@pytest.mark.parametrize("reference", ["b.html", "./b.html#x", "../h/b.html", "#f", "a.html", "a.html#f", "", "c/../b.html"])
def test_what_already_leads_to_the_right_file_stays_as_it_is_written(reference: str) -> None:
    held = {"http://h/b.html": Target("h/b.html"), "http://h/h/b.html": Target("h/b.html"), "http://h/a.html": Target("h/a.html")}
    own = MirrorPolicy("h/a.html", held.get)
    data = f'<a href="{reference}">'.encode()
    url = "http://h/h/a.html" if reference.startswith("..") else "http://h/a.html"
    assert absolve.rewrite(data, url=url, profile="whatwg", base="empty", policy=own) == data


def test_what_speaks_of_the_site_is_absolute_even_where_it_is_held() -> None:
    links = ("<link rel=canonical href=%s>", "<link rel=shortlink href=%s>", "<form action=%s>", '<p itemscope itemid="%s">')
    for html in (*links, '<meta property="og:url" content="%s">'):
        assert rewritten((html % "/b").encode()) == (html % "http://h/b").encode()


SEVERED = {
    True: (
        *("<img src=%s>", "<script src=%s></script>", "<link rel=stylesheet href=%s>", "<link rel=preload as=font href=%s>"),
        *("<link rel=preconnect href=%s>", "<iframe src=%s></iframe>", "<video poster=%s></video>", "<a ping=%s>"),
        *("<object data=%s></object>", "<style>@import '%s';</style>", "<p style='background:url(%s)'>"),
        *("<body background=%s>", "<svg><use href='%s'/></svg>"),
    ),
    False: (
        *("<link rel=alternate href=%s>", "<a href=%s>", "<area href=%s>", "<blockquote cite=%s>", "<svg><a href='%s'/></svg>"),
    ),
}


@pytest.mark.parametrize("is_fetched", SEVERED)
def test_what_a_browser_fetches_by_itself_becomes_inert_and_what_a_person_clicks_stays(*, is_fetched: bool) -> None:
    for html in SEVERED[is_fetched]:
        own = policy(severs=True)
        new = "data:," if is_fetched else "http://h/gone"
        assert rewritten((html % "/gone").encode(), own) == (html % new).encode()
        assert [(note.code, note.text) for note in own.seen.notes] == [("severed", "http://h/gone")] * is_fetched
        assert rewritten((html % "/gone").encode()) == (html % "http://h/gone").encode()  # unless it is severed


@pytest.mark.parametrize(("html", "missing"), [
    ("<img src=/gone><img src=/gone>", [("http://h/gone", "image")]), ("<a href=/gone#f>", [("http://h/gone", "navigation")]), ("<a href=/b>", []),
    ("<a href=mailto:x>", []), ("<a ping=/gone>", []), ("<form action=/gone>", []),
    ("<link rel=preconnect href=//away><link rel=dns-prefetch href=//away>", []),
])
def test_what_is_linked_and_not_held_is_missing_with_its_kind(html: str, missing: list[tuple[str, str]]) -> None:
    own = policy()
    rewritten(html.encode(), own)
    assert list(own.seen.missing) == missing


@pytest.mark.parametrize(("html", "new", "notes"), [
    ("<base href=/d/ target=_top><a href=../b>", '<base href="" target=_top><a href=b.html>', 1),
    ("<base href=/d/><base href=/f/><a href=../b>", '<base href=""><base href=/f/><a href=b.html>', 1),
    ("<base href><a href=b>", "<base href><a href=b.html>", 0),
    ("<base target=_top><a href=b>", "<base target=_top><a href=b.html>", 0),
])
def test_the_base_that_rules_is_emptied_and_noted(html: str, new: str, notes: int) -> None:
    own = policy()
    assert rewritten(html.encode(), own) == new.encode()
    assert [note.code for note in own.seen.notes] == ["base"] * notes


def test_a_scoped_base_leads_no_relative_link_astray() -> None:
    data = b'<a xmlns="urn:a" xml:base="/d/"><b xmlns="http://www.w3.org/1999/xhtml"><a href="../b"/></b></a>'
    made = rewritten(data, media_type="application/xml")
    assert b'xml:base=""' in made
    assert b'href="b.html"' in made


XSLT = '<?xml-stylesheet type="{}" href="/d.xsl"?><a/>'


@pytest.mark.parametrize(("text", "why"), [
    ("<script type=module src=/s.js></script>", "a module script"), ("<script type=Module src=/s.js></script>", "a module script"),
    ("<script src=/s.js></script>", None), ("<script type=text/javascript src=/s.js></script>", None),
    ('<script type=importmap>{"imports": {"a": "/s.js"}}</script>', None), ("<svg><use href='/i.svg#x'/></svg>", "an SVG use"),
    ("<video><track src=/s.js></video>", "text tracks"),
    *((XSLT.format(kind), "") for kind in ("text/xsl", "text/xml", "application/xslt+xml")),
    (XSLT.format("text/css"), None),
])
def test_what_cannot_work_from_a_file_is_said_and_linked_all_the_same(text: str, why: str | None) -> None:
    own = policy()
    made = rewritten(text.encode(), own, "application/xml" if text.startswith("<?xml") else "text/html")
    assert made == text.replace("/s.js", "./s.js" if "imports" in text else "s.js").replace('"/d', '"d').replace("'/i", "'i").encode()
    found = [(note.code, note.text.startswith(why or "")) for note in own.seen.notes]
    assert found == [("needs-server", True)] * (why is not None)


def test_the_files_that_are_reached_and_tags_with_integrity_are_seen() -> None:
    own = policy()
    rewritten(b"<script src=/s.js integrity=x></script><img src=/gone crossorigin><a href=/b>", own)
    assert own.seen.reached == {"h/s.js", "h/b.html"}
    assert [start for _, start, _ in own.seen.local.values()] == [0]


LINKS = [
    "b", "/b#f", "/to", "/to#mine", "http://h/b", "HTTP://h/b", "../h/b", "gone", "/gone", "#f", "", "?q", "//away/x",
    "https://away/x", "mailto:x", "http:b", "//[", "./x:y", "b.html", "javascript:x", "d/../b",
]  # fmt: skip
PAGES = [("h/a.html", "http://h/a"), ("h/d/a.html", "http://h/d/a"), ("i/a.html", "http://i/a"), ("h/c.html", "http://h/c")]


@given(
    pages=st.lists(st.tuples(st.sampled_from(PAGES), st.booleans(), st.lists(st.sampled_from(LINKS), max_size=8)), max_size=6),
    most=st.sampled_from([3, 100_000]),
)
def test_answers_that_pages_share_are_those_of_each_page_alone(pages: list[tuple[tuple[str, str], bool, list[str]]], most: int) -> None:
    relatives = Relatives()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy_, "_MOST_KNOWN", most)
        for (path, url), has_base, links in pages:
            data = b"<base href=/d/>" * has_base + b"".join(f'<a href="{link}">'.encode() for link in links)
            found = []
            for own in (MirrorPolicy(path, HELD.get, relatives=relatives), MirrorPolicy(path, HELD.get)):
                new = absolve.rewrite(data, url=url, profile="whatwg", base="empty", policy=own)
                found.append((new, own.seen.reached, own.seen.missing, [note.text for note in own.seen.notes]))
            assert found[0] == found[1]


def test_what_stood_for_a_url_is_noted_on_each_page_that_links_to_it() -> None:
    asked: list[str] = []

    def find(url: str) -> Target | None:
        asked.append(url)
        return HELD.get(url)

    relatives = Relatives()
    for page in ("h/a.html", "h/c.html"):
        absolve.rewrite(b"<a href=/b>", url=f"http://{page}", profile="whatwg", policy=MirrorPolicy(page, find, relatives=relatives))
    assert asked == ["http://h/b"] * 2
    far = [relatives.reference(page, "h/\u00e9 #?%") for page in ("h/a", "h/a", "a", "h/d/a", "h/h/a")]
    assert far == [f"{way}%C3%A9%20%23%3F%25" for way in ("", "", "h/", "../", "../")]


def test_a_document_whose_new_links_are_too_long_together_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_, "MOST_WRITTEN", 30)
    assert rewritten(b"<a href=/gone1><a href=/gone2>") == b"<a href=http://h/gone1><a href=http://h/gone2>"
    with pytest.raises(DocumentError, match="stays as it is"):
        rewritten(b"<a href=/gone1><a href=/gone2><a href=/gone3>")
