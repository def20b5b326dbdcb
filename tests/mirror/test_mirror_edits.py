"""The edits of a mirror that are no links, each with its note."""

from html import escape, unescape
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.encodings.charsets import declared_in_html
from absolve.mirror import browsers
from absolve.mirror.edits import declaration, placed, rewritten
from absolve.mirror.policy import MirrorPolicy, Response, Target
from absolve.rewriting.edits import splice

HELD = {
    "http://h/s.js": Target("h/s.js"), "http://h/s.css": Target("h/s.css"), "http://h/f.woff2": Target("h/f.woff2"),
    "http://h/i.png": Target("h/i.png"), "http://h/f.html": Target("h/f.html"), "http://o/s.js": Target("o/s.js"),
    "http://h/koi.js": Target("h/koi.js"), "http://h/ascii.js": Target("h/ascii.js"),
}
SETTINGS = Settings(profile="whatwg", base="empty").checked()


class Capture:
    """The responses that became files: scripts, but for the files that a test names, on two hosts."""

    origins = frozenset({"http://h/", "http://o/"})
    files: ClassVar = {
        "h/i.png": ("image/png", ""), "h/f.html": ("text/html", "x-frame-options: DENY"), "h/koi.js": ("text/javascript; charset=koi8-r", ""),
        "h/ascii.js": ("text/javascript; charset=koi8-r", ""),
    }

    def response(self, path: str) -> Response:
        return Response(f"http://{path}", *self.files.get(path, ("text/javascript", "")))

    def needs_charset(self, path: str) -> bool:
        return "ascii" not in path

    def digests(self, path: str) -> dict[str, str]:
        return browsers.digests(b"1") if path == "o/s.js" else {}


def mirrored(
    html: bytes, label: str | None = None, *, media_type: str = "text/html", fields: str = "",
) -> tuple[bytes, list[tuple[int | None, int | None, str, str]]]:
    entity = walk(Document(html, url="http://h/a", media_type=media_type, charset=label), SETTINGS)
    own = MirrorPolicy("h/a.html", HELD.get, url="http://h/a", fields=fields, responses=Capture())  # type: ignore[arg-type]  # what it asks of a Lookup
    made = rewritten(entity, own, label)
    return made, placed(entity, own.seen.notes)


@pytest.mark.parametrize(("html", "new", "renamed"), [
    ("<script src=s.js integrity=x></script>", "<script src=s.js data-integrity=x></script>", ["integrity"]),
    (
        '<link rel=stylesheet href=s.css  integrity="x"\n crossorigin>',
        '<link rel=stylesheet href=s.css  data-integrity="x"\n data-crossorigin>',
        ["integrity", "crossorigin"],
    ),
    ("<img CrossOrigin=anonymous src=i.png>", "<img data-CrossOrigin=anonymous src=i.png>", ["crossorigin"]),
    ("<script src=s.js crossorigin/></script>", "<script src=s.js data-crossorigin/></script>", ["crossorigin"]),
    ('<script src="s.js"crossorigin/x></script>', '<script src="s.js"data-crossorigin/x></script>', ["crossorigin"]),
    ("<img src=i.png alt crossorigin='a'=x>", "<img src=i.png alt data-crossorigin='a'=x>", ["crossorigin"]),
    ("<img/crossorigin/src=i.png>", "<img/data-crossorigin/src=i.png>", ["crossorigin"]),
    (
        "<img src=i.png crossorigin crossorigin=x data-crossorigin>",
        "<img src=i.png data-x-crossorigin data-x-crossorigin=x data-crossorigin>",
        ["crossorigin"] * 2,
    ),
    ("<script src=//away/s.js integrity=x></script>", "<script src=http://away/s.js integrity=x></script>", []),
    ("<script src=s.js data-integrity=x></script>", "<script src=s.js data-integrity=x></script>", []),
    ("<a href=s.css integrity=x>", "<a href=s.css integrity=x>", []),
])
def test_integrity_and_crossorigin_are_renamed_where_the_target_is_local(html: str, new: str, renamed: list[str]) -> None:
    made, notes = mirrored(html.encode())
    assert made == new.encode()
    assert [code for _, _, code, _ in notes] == renamed


def meta(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


@pytest.mark.parametrize(("policy", "new"), [
    ("img-src http:", "img-src http: 'self' file: http://*.localhost:*"),
    ("img-src http: 'nonce-&quot;'; font-src 'none'", "img-src http: 'nonce-&quot;' 'self' file: http://*.localhost:*; font-src 'none'"),
    ("default-src 'self'", None), ("upgrade-insecure-requests", None), ("img-src https:", None), ("img-src &#42;", None),
])
def test_a_policy_that_forbids_the_copy_is_replaced_by_one_that_allows_it_too(policy: str, new: str | None) -> None:
    html = meta(policy)
    made, notes = mirrored(html.encode())
    assert (made == ((meta(new) if new is not None else "") + html.replace("http", "data-was-http", new is not None)).encode())
    assert [code for _, _, code, _ in notes] == ["csp"] * (new is not None)


CSP = "content-security-policy: "
LOCAL = "img-src http: 'self' file: http://*.localhost:*"
NONE = meta("script-src 'none'")
WAS = meta("img-src http:").replace("http", "data-was-http", 1)


@pytest.mark.parametrize(("html", "new"), [
    ("<p>", f"{NONE}<p>"), ("hello<head>", f"{NONE}hello<head>"),
    ("<!doctype html>\n<html lang='>'><!-- x -->\n<head y=z><title>", f"<!doctype html>\n<html lang='>'><!-- x -->\n<head y=z>{NONE}<title>"),
    ("<!--><script>1</script>-->", f"<!-->{NONE}<script>1</script>-->"),
    ("<!-- --!><script>1</script>-->", f"<!-- --!>{NONE}<script>1</script>-->"),
    ('<html x"><script>1</script><p title=">', f'<html x">{NONE}<script>1</script><p title=">'),
    ("<!doctype html><![endif]--></ x><?y?><head>", f"<!doctype html><![endif]--></ x><?y?><head>{NONE}"),
    ("<html><frameset onload=x>", f"<html>{NONE}<frameset onload=x>"),
    ("<title></title><meta charset=koi8-r>", f'<meta charset="koi8-r">{NONE}<title></title><meta charset=koi8-r>'),
    ("\ufeff<!doctype html><p>", f"\ufeff<!doctype html>{NONE}<p>"),
])
def test_the_policy_of_a_header_is_put_before_all_that_it_forbids(html: str, new: str) -> None:
    made, notes = mirrored(html.encode(), fields=f"{CSP}script-src 'none'")
    assert made == new.encode()
    assert [code for _, _, code, _ in notes] == ["csp"]


@pytest.mark.parametrize(("html", "label", "fields", "new"), [
    ("\ufeff<!doctype html><a>", "utf-16le", f"{CSP}script-src 'none'", f"\ufeff<!doctype html>{NONE}<a>"),
    ("\ufeff<!doctype html><a>", "utf-16be", f"{CSP}script-src 'none'", f"\ufeff<!doctype html>{NONE}<a>"),
    (meta("img-src http:"), "utf-16be", f"{CSP}script-src 'none'", f"\ufeff{NONE}{meta(LOCAL)}{WAS}"),
    # the end of a comment may be letters in this charset
    ("<!-- \x1b(I --><a>", "iso-2022-jp", f"{CSP}script-src 'none'", f'<meta charset="iso-2022-jp">{NONE}<!-- \x1b(I --><a>'),
    (
        "<p>", "utf-8",
        f"{CSP}sandbox allow-scripts, img-src http:\n{CSP}frame-ancestors 'none'",
        f"""<meta charset="utf-8">{meta("form-action 'none'")}{meta(LOCAL)}<p>""",
    ),
    ("<img src=/i.png crossorigin><img src=/gone>", "utf-8", "", '<meta charset="utf-8"><img src=i.png data-crossorigin><img src=http://h/gone>'),
])
def test_the_policy_of_a_header_is_behind_the_charset_and_in_it(html: str, label: str, fields: str, new: str) -> None:
    codec = {"utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}.get(label, "latin-1")
    declared = None if html.startswith("\ufeff") else label
    assert mirrored(html.encode(codec), declared, fields=fields)[0].decode(codec) == new


@pytest.mark.parametrize(("html", "fields", "new"), [
    ("<script src=//o/s.js></script>", f"{CSP}script-src 'self'", "data:,"),
    ("<script src=s.js></script>", f"{CSP}script-src 'self'", "s.js"),
    ("<script src=s.js></script>", f"{CSP}{'default-src *, ' * 16}", "s.js"),
    ("<script src=s.js></script>", f"{CSP}{'default-src *, ' * 17}", "data:,"),
    ("<script nonce=a src=//o/s.js></script>", f"{CSP}script-src 'nonce-a'", "../o/s.js"),
    ("<script src=i.png></script>", "", "data:,"), ("<script integrity=sha256-x src=//o/s.js></script>", "", "data:,"),
    ("<script integrity='x sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s= sha256-x' src=//o/s.js></script>", "", "../o/s.js"),
    ("<script integrity='x md5-x' src=//o/s.js></script>", "", "../o/s.js"),
    ("<iframe src=f.html></iframe>", "", "data:,"), ("<a href=f.html>", f"{CSP}frame-src 'none'", "f.html"),
    ("<img src=i.png>", f"{CSP}script-src 'none'", "i.png"),
])
def test_what_a_header_did_not_let_run_leads_to_nothing(html: str, fields: str, new: str) -> None:
    made, notes = mirrored(html.encode(), fields=fields)
    assert f"{new}>" in made.decode()
    assert ("refused" in [code for _, _, code, _ in notes]) == (new == "data:,")


def test_a_policy_in_the_page_forbids_what_follows_it_and_what_is_in_its_frames() -> None:
    script = "<script src=//o/s.js></script>"
    html = f"{script}{meta(chr(39).join(('script-src ', 'self', '')))}{script}<iframe srcdoc='{script}'></iframe>"
    made, _ = mirrored(html.encode())
    assert made.decode().count("../o/s.js") == 1
    assert made.decode().count("data:,") == 2


@pytest.mark.parametrize("html", [
    b"<meta name=content-security-policy content='img-src https:'>", b"<meta http-equiv=content-security-policy>",
    b"<meta http-equiv=content-security-policy-report-only content='img-src https:'>",
    b"<!-- <meta http-equiv=content-security-policy content='img-src https:'> -->",
    b"<body>" + meta("script-src 'none'; img-src http:").encode() + b"<script src=s.js></script>",
    b"<a href=http://away/>x</a>",
])
def test_what_is_no_policy_in_force_stays_and_so_does_the_document(html: bytes) -> None:
    made, notes = mirrored(html)
    assert made is html
    assert notes == []


def test_the_page_in_a_srcdoc_is_edited_too() -> None:
    inside = "%s<img src='i.png' %scrossorigin><img src='%s/gone'>"
    html = f'<iframe srcdoc="{escape(inside % (meta("img-src http:"), "", ""), quote=True)}"></iframe>'
    made, notes = mirrored(html.encode())
    was = meta("img-src http:").replace("http-equiv", "data-was-http-equiv")
    new = inside % (meta("img-src http: 'self' file: http://*.localhost:*") + was, "data-", "http://h")
    assert unescape(made.decode()) == f'<iframe srcdoc="{new}"></iframe>'
    assert sorted(code for _, _, code, _ in notes) == ["crossorigin", "csp"]


@pytest.mark.parametrize(("script", "codes"), [
    (b"<script>fetch('a')</script>", ["needs-server"]),
    (b"<script type='TEXT/javascript'>fetch('a')</script>", ["needs-server"]),
    (b"<script type='application/json'>fetch('a')</script>", []), (b"<script>let a</script><p>fetch('a')", []),
])
def test_a_script_in_the_page_that_needs_a_server_is_said_and_stays(script: bytes, codes: list[str]) -> None:
    made, notes = mirrored(script)
    assert made == script
    assert [code for _, _, code, _ in notes] == codes


def test_a_charset_that_only_the_header_told_and_a_renamed_attribute_are_noted_with_their_places() -> None:
    made, notes = mirrored(b"<title>x</title>", "koi8-r")
    assert made == b'<meta charset="koi8-r"><title>x</title>'
    assert notes == [(1, 1, "charset", "declared as koi8-r, which only the header stated")]
    _, notes = mirrored(b"<p>\n<img src=i.png crossorigin=use-credentials>")
    assert notes == [(2, 16, "crossorigin", "renamed to data-crossorigin=use-credentials")]


@pytest.mark.parametrize(("label", "tag", "new"), [
    ("utf-8", "<SCRIPT src=koi.js></SCRIPT>", '<SCRIPT charset="koi8-r" src=koi.js></SCRIPT>'),
    ("utf-8", "<script charset=x src='/koi.js'></script>", "<script charset=\"koi8-r\" charset=x src='koi.js'></script>"),
    ("koi8-r", "<script src=koi.js></script>", "<script src=koi.js></script>"),
    ("utf-8", "<script src=ascii.js></script>", "<script src=ascii.js></script>"),
    ("utf-8", "<script src=s.js></script>", "<script src=s.js></script>"),
    ("utf-8", "<link rel=preload href=koi.js>", "<link rel=preload href=koi.js>"),
    ("utf-8", "<iframe srcdoc='<script src=koi.js></script>'>", "<iframe srcdoc='&lt;script charset=\"koi8-r\" src=koi.js>&lt;/script>'>"),
])
def test_the_charset_that_only_the_header_of_a_script_stated_is_an_attribute(label: str, tag: str, new: str) -> None:
    head = f"<meta charset={label}>"
    made, notes = mirrored((head + tag).encode(), label)
    assert made.decode().replace("<", "&lt;").replace("&amp;", "&") == (head + new).replace("<", "&lt;")
    assert [code for _, _, code, _ in notes] == ["charset"] * (new != tag)


def test_a_tag_in_xml_has_no_crossorigin_either_and_broken_xml_is_refused() -> None:
    xml = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="i.png" crossorigin="anonymous"/></svg>'
    assert mirrored(xml, media_type="image/svg+xml")[0] == xml.replace(b"crossorigin", b"data-crossorigin")
    with pytest.raises(DocumentError):
        mirrored(b"<a><b></a>", media_type="application/xml")


# --- the charset that only a header stated ------------------------------------------------------------------------------

HTML = "text/html"
XML = "application/xml"
MARK = b"\xef\xbb\xbf"


def declared(data: bytes, media_type: str, label: str | None) -> bytes:
    found = declaration(data, media_type, label)
    return splice(data, [found[0]]) if found is not None else data


@pytest.mark.parametrize(("data", "media_type", "label", "result"), [
    (b"<p>", HTML, None, b"<p>"), (b"<p>", HTML, "unknown", b"<p>"), (MARK + b"<p>", HTML, "koi8-r", MARK + b"<p>"),
    (b"<p>", HTML, "koi8-r", b'<meta charset="koi8-r"><p>'),
    (b"<meta charset=koi8-r><p>", HTML, "KOI8-R", b"<meta charset=koi8-r><p>"),
    (b"<meta charset=koi8-r>", HTML, "utf-8", b'<meta charset="utf-8"><meta charset=koi8-r>'),
    (
        b"<!-- > --><!DOCTYPE html>\n<HTML lang='a>b'>\n<Head x=\">\"><title>",
        *(HTML, "utf-8", b'<!-- > --><!DOCTYPE html>\n<HTML lang=\'a>b\'>\n<Head x=">"><meta charset="utf-8"><title>'),
    ),
    (b"<header>", HTML, "utf-8", b'<meta charset="utf-8"><header>'),
    (b"<!--" + b"x" * 1100 + b"-->", HTML, "utf-8", MARK + b"<!--" + b"x" * 1100 + b"-->"),
    (b"<\0p\0>\0", HTML, "utf-16le", b"\xff\xfe<\0p\0>\0"), (b"\0<\0p\0>", HTML, "utf-16be", b"\xfe\xff\0<\0p\0>"),
    (b"p{}", "text/css", "utf-8", b"p{}"),
    (b"p{} /* \xe4 */", "text/css", "koi8-r", b'@charset "koi8-r";p{} /* \xe4 */'),
    (b'@charset "KOI8-R";\xe4', "text/css", "koi8-r", b'@charset "KOI8-R";\xe4'),
    (b'@charset "utf-8";\xe4', "text/css", "koi8-r", b'@charset "koi8-r";\xe4'),
    (b"@charset 'utf-8';\xe4", "text/css", "koi8-r", b"@charset \"koi8-r\";@charset 'utf-8';\xe4"),
    (MARK + b"\xe4", "text/css", "koi8-r", MARK + b"\xe4"), (b"p\0{\0}\0", "text/css", "utf-16le", b"\xff\xfep\0{\0}\0"),
    (b"\xc3\xa4", "text/plain", "utf-8", MARK + b"\xc3\xa4"), (b"a", "text/plain", "utf-8", b"a"), (b"\xe4", "text/plain", "koi8-r", b"\xe4"),
    (b"\xc3\xa4", "text/x-shellscript", "utf-8", b"\xc3\xa4"), (b"\xc3\xa4", "text/javascript", "utf-8", b"\xc3\xa4"),
    (b"<a/>", XML, "utf-8", b"<a/>"),
    (b"<a/>", XML, "koi8-r", b'<?xml version="1.0" encoding="koi8-r"?><a/>'),
    (b"<?xml version='1.0'?><a/>", XML, "koi8-r", b"<?xml version='1.0' encoding=\"koi8-r\"?><a/>"),
    (b'<?xml version="1.0" encoding="utf-8"?><a/>', *(XML, "koi8-r", b'<?xml version="1.0" encoding="koi8-r"?><a/>')),
    (b"<?xml version='1.0' encoding = 'x' standalone='yes'?><a/>", *(XML, "utf-8", b"<?xml version='1.0' encoding = 'utf-8' standalone='yes'?><a/>")),
    (b"<?xml version='1.0' encoding='KOI8-R'?><a/>", XML, "koi8-r", b"<?xml version='1.0' encoding='KOI8-R'?><a/>"),
    (b"<\0a\0/\0>\0", XML, "utf-16le", b"\xff\xfe<\0a\0/\0>\0"),
])
def test_a_document_declares_the_charset_of_its_header(data: bytes, media_type: str, label: str | None, result: bytes) -> None:
    assert declared(data, media_type, label) == result


HEADS = st.lists(
    st.sampled_from([b"<!doctype html>", b"<html a='>'>", b"<head>", b"<!--x-->", b"<title>", b"\n", b"<meta charset=utf-8>"])
).map(b"".join)


@given(HEADS, st.sampled_from(["koi8-r", "shift_jis", "windows-1252"]))
def test_a_browser_finds_the_declared_charset_and_no_second_edit_is_needed(data: bytes, label: str) -> None:
    once = declared(data, HTML, label)
    found = declared_in_html(once)
    assert found is not None
    assert found.name == label
    assert declared(once, HTML, label) == once
