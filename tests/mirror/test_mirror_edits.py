"""The edits of a mirror that are no links, each with its note."""

from html import escape, unescape
from typing import ClassVar

import pytest

from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.mirror import browsers
from absolve.mirror.edits import placed, rewritten
from absolve.mirror.policy import MirrorPolicy, Target

HELD = {
    "http://h/s.js": Target("h/s.js"),
    "http://h/s.css": Target("h/s.css"),
    "http://h/f.woff2": Target("h/f.woff2"),
    "http://h/i.png": Target("h/i.png"),
    "http://h/f.html": Target("h/f.html"),
    "http://o/s.js": Target("o/s.js"),
    "http://h/koi.js": Target("h/koi.js"),
    "http://h/ascii.js": Target("h/ascii.js"),
}
SETTINGS = Settings(profile="whatwg", base="empty").checked()


class Capture:
    """The responses that became files: scripts, but for the files that a test names, on two hosts."""

    origins = frozenset({"http://h/", "http://o/"})
    files: ClassVar = {
        "h/i.png": ("image/png", ""),
        "h/f.html": ("text/html", "x-frame-options: DENY"),
        "h/koi.js": ("text/javascript; charset=koi8-r", ""),
        "h/ascii.js": ("text/javascript; charset=koi8-r", ""),
    }

    def response(self, path: str) -> tuple[str, str, str]:
        return f"http://{path}", *self.files.get(path, ("text/javascript", ""))

    def needs_charset(self, path: str) -> bool:
        return "ascii" not in path

    def digests(self, path: str) -> dict[str, str]:
        return browsers.digests(b"1") if path == "o/s.js" else {}


def mirrored(
    html: bytes,
    label: str | None = None,
    *,
    media_type: str = "text/html",
    fields: str = "",
) -> tuple[bytes, list[tuple[int, int, str, str]]]:
    entity = walk(Document(html, url="http://h/a", media_type=media_type, charset=label), SETTINGS)
    own = MirrorPolicy("h/a.html", HELD.get, url="http://h/a", fields=fields, responses=Capture())
    made = rewritten(entity, own, label)
    return made, placed(own.seen.notes)


@pytest.mark.parametrize(
    ("html", "new", "renamed"),
    [
        ("<script src=s.js integrity=x></script>", "<script src=s.js data-integrity=x></script>", ["integrity"]),
        (
            '<link rel=stylesheet href=s.css  integrity="x"\n crossorigin>',
            '<link rel=stylesheet href=s.css  data-integrity="x"\n data-crossorigin>',
            ["integrity", "crossorigin"],
        ),
        ("<img CrossOrigin=anonymous src=i.png>", "<img data-CrossOrigin=anonymous src=i.png>", ["crossorigin"]),
        ("<script src=s.js crossorigin/></script>", "<script src=s.js data-crossorigin/></script>", ["crossorigin"]),
        (
            '<script src="s.js"crossorigin/x></script>',
            '<script src="s.js"data-crossorigin/x></script>',
            ["crossorigin"],
        ),
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
    ],
)
def test_integrity_and_crossorigin_are_renamed_where_the_target_is_local(
    html: str, new: str, renamed: list[str]
) -> None:
    made, notes = mirrored(html.encode())
    assert made == new.encode()
    assert [code for _, _, code, _ in notes] == renamed


def test_a_renamed_attribute_is_noted_with_line_and_column() -> None:
    _, notes = mirrored(b"<p>\n<img src=i.png crossorigin=use-credentials>")
    assert notes == [(2, 16, "crossorigin", "renamed to data-crossorigin=use-credentials")]


def meta(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


@pytest.mark.parametrize(
    ("policy", "new"),
    [
        ("img-src http:", "img-src http: 'self' file: http://*.localhost:*"),
        ("img-src http: 'nonce-&quot;'; font-src 'none'", "img-src http: 'nonce-&quot;' 'self' file: http://*.localhost:*; font-src 'none'"),
        ("default-src 'self'", None),
        ("upgrade-insecure-requests", None),
        ("img-src https:", None),
        ("img-src &#42;", None),
    ],
)
def test_a_policy_that_forbids_the_copy_is_replaced_by_one_that_allows_it_too(policy: str, new: str | None) -> None:
    html = meta(policy)
    made, notes = mirrored(html.encode())
    assert (
        made
        == ((meta(new) if new is not None else "") + html.replace("http", "data-was-http", new is not None)).encode()
    )
    assert [code for _, _, code, _ in notes] == ["csp"] * (new is not None)


def test_a_policy_in_the_body_is_not_in_force() -> None:
    html = b"<body>" + meta("script-src 'none'; img-src http:").encode() + b"<script src=s.js></script>"
    assert mirrored(html) == (html, [])


CSP = "content-security-policy: "
LOCAL = "img-src http: 'self' file: http://*.localhost:*"
NONE = meta("script-src 'none'")


@pytest.mark.parametrize(
    ("html", "new"),
    [
        ("<p>", f"{NONE}<p>"),
        ("hello<head>", f"{NONE}hello<head>"),
        ("<!doctype html>\n<html lang='>'><!-- x -->\n<head y=z><title>", f"<!doctype html>\n<html lang='>'><!-- x -->\n<head y=z>{NONE}<title>"),
        ("<!--><script>1</script>-->", f"<!-->{NONE}<script>1</script>-->"),
        ("<!-- --!><script>1</script>-->", f"<!-- --!>{NONE}<script>1</script>-->"),
        ('<html x"><script>1</script><p title=">', f'<html x">{NONE}<script>1</script><p title=">'),
        ("<!doctype html><![endif]--></ x><?y?><head>", f"<!doctype html><![endif]--></ x><?y?><head>{NONE}"),
        ("<html><frameset onload=x>", f"<html>{NONE}<frameset onload=x>"),
        ("<title></title><meta charset=koi8-r>", f'<meta charset="koi8-r">{NONE}<title></title><meta charset=koi8-r>'),
        ("\ufeff<!doctype html><p>", f"\ufeff<!doctype html>{NONE}<p>"),
    ],
)  # fmt: skip
def test_the_policy_of_a_header_is_put_before_all_that_it_forbids(html: str, new: str) -> None:
    made, notes = mirrored(html.encode(), fields=f"{CSP}script-src 'none'")
    assert made == new.encode()
    assert [code for _, _, code, _ in notes] == ["csp"]


def test_a_byte_order_mark_precedes_a_policy_at_the_same_place() -> None:
    html = meta("img-src http:").encode("utf-16-be")
    made, _ = mirrored(html, "utf-16be", fields=f"{CSP}script-src 'none'")
    assert made.decode("utf-16-be").startswith(f"\ufeff{NONE}{meta(LOCAL)}<meta data-was-http-equiv")


def test_a_policy_is_put_before_a_comment_whose_end_may_be_letters() -> None:
    html = b"<!doctype html><!-- \x1b(I --><script>1</script>"
    made, _ = mirrored(html, "iso-2022-jp", fields=f"{CSP}script-src 'none'")
    assert made == html.replace(b"<!--", f'<meta charset="iso-2022-jp">{NONE}<!--'.encode())


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_the_policy_of_a_header_is_in_the_charset_of_the_page(codec: str) -> None:
    made, _ = mirrored("\ufeff<!doctype html><script>1</script>".encode(codec), fields=f"{CSP}script-src 'none'")
    assert made.decode(codec) == f"\ufeff<!doctype html>{NONE}<script>1</script>"


def test_a_page_that_the_header_gives_charset_and_policies_has_the_charset_first() -> None:
    fields = f"{CSP}sandbox allow-scripts, img-src http:\n{CSP}frame-ancestors 'none'"
    made, _ = mirrored(b"<p>", "utf-8", fields=fields)
    metas = meta("form-action 'none'") + meta("img-src http: 'self' file: http://*.localhost:*")
    assert made.decode() == f'<meta charset="utf-8">{metas}<p>'


@pytest.mark.parametrize(
    ("html", "fields", "new"),
    [
        ("<script src=//o/s.js></script>", f"{CSP}script-src 'self'", "data:,"),
        ("<script src=s.js></script>", f"{CSP}script-src 'self'", "s.js"),
        ("<script src=s.js></script>", f"{CSP}{'default-src *, ' * 16}", "s.js"),
        ("<script src=s.js></script>", f"{CSP}{'default-src *, ' * 17}", "data:,"),
        ("<script nonce=a src=//o/s.js></script>", f"{CSP}script-src 'nonce-a'", "../o/s.js"),
        ("<script src=i.png></script>", "", "data:,"),
        ("<script integrity=sha256-x src=//o/s.js></script>", "", "data:,"),
        (
            "<script integrity='x sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s= sha256-x' src=//o/s.js></script>",
            "",
            "../o/s.js",
        ),
        ("<script integrity='x md5-x' src=//o/s.js></script>", "", "../o/s.js"),
        ("<iframe src=f.html></iframe>", "", "data:,"),
        ("<a href=f.html>", f"{CSP}frame-src 'none'", "f.html"),
        ("<img src=i.png>", f"{CSP}script-src 'none'", "i.png"),
    ],
)
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
    inside = "%s<img src='i.png' %scrossorigin><img src='%s/gone'>"
    html = f'<iframe srcdoc="{escape(inside % (meta("img-src http:"), "", ""), quote=True)}"></iframe>'
    made, notes = mirrored(html.encode())
    was = meta("img-src http:").replace("http-equiv", "data-was-http-equiv")
    new = inside % (meta("img-src http: 'self' file: http://*.localhost:*") + was, "data-", "http://h")
    assert unescape(made.decode()) == f'<iframe srcdoc="{new}"></iframe>'
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


@pytest.mark.parametrize(
    ("label", "tag", "new"),
    [
        ("utf-8", "<SCRIPT src=koi.js></SCRIPT>", '<SCRIPT charset="koi8-r" src=koi.js></SCRIPT>'),
        ("utf-8", "<script charset=x src='/koi.js'></script>", "<script charset=\"koi8-r\" charset=x src='koi.js'></script>"),
        ("koi8-r", "<script src=koi.js></script>", "<script src=koi.js></script>"),
        ("utf-8", "<script src=ascii.js></script>", "<script src=ascii.js></script>"),
        ("utf-8", "<script src=s.js></script>", "<script src=s.js></script>"),
        ("utf-8", "<link rel=preload href=koi.js>", "<link rel=preload href=koi.js>"),
        ("utf-8", "<iframe srcdoc='<script src=koi.js></script>'>", "<iframe srcdoc='&lt;script charset=\"koi8-r\" src=koi.js>&lt;/script>'>"),
    ],
)
def test_the_charset_that_only_the_header_of_a_script_stated_is_an_attribute(label: str, tag: str, new: str) -> None:
    head = f"<meta charset={label}>"
    made, notes = mirrored((head + tag).encode(), label)
    assert made.decode().replace("<", "&lt;").replace("&amp;", "&") == (head + new).replace("<", "&lt;")
    assert [code for _, _, code, _ in notes] == ["charset"] * (new != tag)


def test_a_declared_charset_and_a_changed_link_go_together() -> None:
    made, _ = mirrored(b"<img src=/i.png crossorigin><img src=/gone>", "utf-8")
    assert made == b'<meta charset="utf-8"><img src=i.png data-crossorigin><img src=http://h/gone>'


def test_a_document_without_an_edit_is_the_same_object() -> None:
    html = b"<a href=http://away/>x</a>"
    assert mirrored(html)[0] is html


def test_a_tag_in_xml_has_no_crossorigin_either() -> None:
    xml = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="i.png" crossorigin="anonymous"/></svg>'
    assert mirrored(xml, media_type="image/svg+xml")[0] == xml.replace(b"crossorigin", b"data-crossorigin")


def test_a_broken_document_is_refused() -> None:
    with pytest.raises(DocumentError):
        mirrored(b"<a><b></a>", media_type="application/xml")
