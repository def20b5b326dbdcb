"""The edits of a mirror that are no links, each with its note."""

from __future__ import annotations

import pytest

from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.mirror.edits import placed, relinked, rewritten
from absolve.mirror.policy import MirrorPolicy, Target

HELD = {
    "http://h/s.js": Target("h/s.js"),
    "http://h/s.css": Target("h/s.css"),
    "http://h/f.woff2": Target("h/f.woff2"),
    "http://h/i.png": Target("h/i.png"),
}
SETTINGS = Settings(profile="whatwg", base="empty").checked()


def mirrored(
    html: bytes, label: str | None = None, *, for_server: bool = False, links_only: bool = False, media_type: str = "text/html"
) -> tuple[bytes, list[tuple[int, int, str, str]]]:
    entity = walk(Document(html, url="http://h/a", media_type=media_type), SETTINGS)
    own = MirrorPolicy("h/a.html", HELD.get)
    made = relinked(entity, own) if links_only else rewritten(entity, own, label, for_server=for_server)
    return made, placed(own.seen.notes)


@pytest.mark.parametrize(
    ("html", "new", "removed"),
    [
        ("<script src=s.js integrity=x></script>", "<script src=s.js></script>", ["integrity"]),
        ("<script integrity='x' src=s.js></script>", "<script src=s.js></script>", ["integrity"]),
        (
            '<link rel=stylesheet href=s.css  integrity="x"\n crossorigin>',
            *("<link rel=stylesheet href=s.css>", ["integrity", "crossorigin"]),
        ),
        ("<link rel=preload as=font crossorigin href=f.woff2>", "<link rel=preload as=font href=f.woff2>", ["crossorigin"]),
        ("<img CrossOrigin=anonymous src=i.png>", "<img src=i.png>", ["crossorigin"]),
        ("<script src=//away/s.js integrity=x></script>", "<script src=http://away/s.js integrity=x></script>", []),
        ("<script src=s.js data-integrity=x></script>", "<script src=s.js data-integrity=x></script>", []),
        ("<a href=s.css integrity=x>", "<a href=s.css integrity=x>", []),
    ],
)
def test_integrity_and_crossorigin_go_where_the_target_is_local(html: str, new: str, removed: list[str]) -> None:
    made, notes = mirrored(html.encode())
    assert made == new.encode()
    assert [code for _, _, code, _ in notes] == removed


@pytest.mark.parametrize(
    ("html", "new"),
    [
        ("<link rel=stylesheet href=s.css integrity=x crossorigin>", "<link rel=stylesheet href=s.css crossorigin>"),
        ("<script src=s.js integrity=x></script>", "<script src=s.js integrity=x></script>"),
    ],
)
def test_for_a_server_only_the_integrity_of_changed_bytes_goes(html: str, new: str) -> None:
    assert mirrored(html.encode(), for_server=True)[0] == new.encode()


def test_a_removed_attribute_is_noted_with_line_and_column() -> None:
    _, notes = mirrored(b"<p>\n<img src=i.png crossorigin=use-credentials>")
    assert notes == [(2, 16, "crossorigin", "removed crossorigin=use-credentials")]


@pytest.mark.parametrize(
    ("policy", "is_freed"),
    [("img-src https:", True), ("default-src 'self'", False), ("upgrade-insecure-requests", False), ("img-src &#42;", False)],
)
def test_a_policy_that_forbids_the_copy_is_taken_out_of_force(policy: str, *, is_freed: bool) -> None:
    html = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    made, notes = mirrored(html.encode())
    assert made == (html.replace("http-equiv", "data-http-equiv") if is_freed else html).encode()
    text = "taken out of force: its img-src does not allow the local copy"
    assert notes == [(1, 7, "csp", text)] * is_freed


@pytest.mark.parametrize(
    "html",
    [
        b"<meta name=content-security-policy content='img-src https:'>",
        b"<meta http-equiv=content-security-policy>",
        b"<meta http-equiv=content-security-policy-report-only content='img-src https:'>",
        b"<!-- <meta http-equiv=content-security-policy content='img-src https:'> -->",
    ],
)
def test_what_is_no_policy_in_force_stays(html: bytes) -> None:
    assert mirrored(html) == (html, [])


def test_the_page_in_a_srcdoc_is_edited_too() -> None:
    html = b"<iframe srcdoc=\"<img src='i.png' crossorigin><img src='/gone'><meta http-equiv='Content-Security-Policy' content='img-src https:'>\"></iframe>"
    made, notes = mirrored(html)
    assert made == html.replace(b" crossorigin", b"").replace(b"/gone", b"http://h/gone").replace(b"http-equiv", b"data-http-equiv")
    assert sorted(code for _, _, code, _ in notes) == ["crossorigin", "csp"]


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        (b"<script>fetch('a')</script>", ["needs-server"]),
        (b"<script type='TEXT/javascript'>fetch('a')</script>", ["needs-server"]),
        (b"<script type='application/json'>fetch('a')</script>", []),
        (b"<script>let a</script><p>fetch('a')", []),
    ],
)
def test_a_script_in_the_page_that_needs_a_server_is_said_and_stays(script: bytes, codes: list[str]) -> None:
    made, notes = mirrored(script)
    assert made == script
    assert [code for _, _, code, _ in notes] == codes


def test_a_charset_that_only_the_header_told_is_declared_and_noted() -> None:
    made, notes = mirrored(b"<title>x</title>", "koi8-r")
    assert made == b'<meta charset="koi8-r"><title>x</title>'
    assert notes == [(1, 1, "charset", "declared as koi8-r, which only the header stated")]


def test_a_declared_charset_and_a_changed_link_go_together() -> None:
    made, _ = mirrored(b"<img src=/i.png crossorigin><img src=/gone>", "utf-8")
    assert made == b'<meta charset="utf-8"><img src=i.png><img src=http://h/gone>'


def test_nothing_but_links_changes_where_only_links_are_wanted() -> None:
    html = b"<base href=/><script src=/s.js integrity=x></script><meta http-equiv=Content-Security-Policy content='img-src a'>"
    made, _ = mirrored(html, "utf-8", links_only=True)
    assert made == html.replace(b"href=/>", b'href="">').replace(b"/s.js", b"s.js")


def test_a_document_without_an_edit_is_the_same_object() -> None:
    html = b"<a href=http://away/>x</a>"
    assert mirrored(html)[0] is html


def test_a_tag_in_xml_has_no_crossorigin_either() -> None:
    xml = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="i.png" crossorigin="anonymous"/></svg>'
    assert mirrored(xml, media_type="image/svg+xml")[0] == xml.replace(b' crossorigin="anonymous"', b"")


def test_a_broken_document_is_refused() -> None:
    with pytest.raises(DocumentError):
        mirrored(b"<a><b></a>", media_type="application/xml")
