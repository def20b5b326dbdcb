"""`--absent sever`: what a browser fetches without a click becomes inert, or is reported; a Chromium is the judge (slow)."""

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from packed import asked, mirrored

from absolve.cli import main
from tests.browser_online import browser
from tests.browser_page import Page
from tests.shapes.captures import page

U = "http://evil.test/"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'
IMAGE = f"<img src={U}>"
HOLDS = f"{SVG}<image href='{U}'/></svg>"
SHEETS = f"body{{background:url({U})}}", f"@import '{U}';"


def data(media_type: str, text: str) -> str:
    return f"data:{media_type},{quote(text)}"


def in_base64(media_type: str, text: str, charset: str = "utf-8") -> str:
    return f"data:{media_type};charset={charset};base64,{b64encode(text.encode(charset)).decode()}"


def frame(url: str) -> str:
    return f"<iframe src='{url}'></iframe>"


def drawing(inside: str) -> str:
    return frame(data("image/svg+xml", f"{SVG}{inside}</svg>"))


def animated(animation: str) -> str:
    return f"<svg><image width=9 height=9>{animation}</image></svg>"


# What becomes inert: pages of HTML
SEVERED = [
    IMAGE, "<img src='HTTP:evil.test/x'>", "<img src='ht\ttp:/\\evil.test/x'>", "<img src=//$x@evil.test/>", f"<iframe src='d&#97;ta:text/html,{quote(IMAGE)}'></iframe>",
    f"<link rel=next href={U}>", f"<link rel='canonical icon' href={U}>", f"<link rel=compression-dictionary href={U}>",
    *(frame(data(kind, IMAGE)) for kind in ("text/html", "TEXT/HTML;charset=gbk", "text/html;x=y")),
    frame(in_base64("text/html", IMAGE)), frame(in_base64("text/html", f"<p>{IMAGE}", "utf-16le")), f"<iframe src=da\tta:text/html,{quote(IMAGE)}>",
    frame(data("text/html", "<base href=http://evil.test/><img src=x>")), frame(data("text/html", "<img src=http://h/held.png>")),
    frame(data("text/html", f"<meta http-equiv=refresh content='0;url={U}'>")), f"<object data='{data('text/html', IMAGE)}'></object>",
    frame(data("text/html", frame(data("text/html", IMAGE)).replace("'", '"'))), f'<iframe srcdoc="{frame(data("text/html", IMAGE))}"></iframe>',
    f"<embed src='{data('image/svg+xml', HOLDS)}'>", f"<a href='{data('text/html', IMAGE)}'>x</a>",
    frame(data("text/xml", f"<html {XHTML}><img src='{U}'/></html>")), drawing(f"<style>svg{{background:image-set('{U}' 1x)}}</style>"),
    drawing(f"<style><![CDATA[@import '{U}';]]></style>"), drawing(f"<image><set attributeName='href' to='{U}'/></image>"),
    drawing(f"<meta {XHTML} http-equiv='refresh' content='0;url={U}'/>"), drawing(f"<iframe {XHTML} srcdoc='&lt;img src={U}>'/>"),
    *(f"<link rel=stylesheet href='{data('text/css', sheet)}'>" for sheet in SHEETS),
    f"<style>@import '{data('text/css', SHEETS[0])}';</style>", f"<link rel=stylesheet href='{in_base64('text/css', SHEETS[1], 'utf-16le')}'>",
    animated(f"<set attributeName=href to={U} />"), animated(f"<animate dur=1s attributeName='xlink:href' values='a.png; {U} ;{U}b'/>"),
    animated(f"<animate dur=1s attributeName=HREF from='{U}' by={U} to=x />"), f"<svg><rect width=9 height=9><set attributeName=cursor to='url({U}),auto'/></rect></svg>",
]
# What is reported, with the place: scripts and what they are given to, and what is not read
SCRIPTS = [
    f"<script>\nnew Image().src='{U}'</script>", f"<script type=module>import '{U}'</script>", f"<img src=data: onerror=\"onerror=null;this.src='{U}'\">",
    f"<iframe src=\"javascript:'<img src={U}>'\"></iframe>", frame(data("text/html", f"<script>new Image().src={U!r}</script>").replace("'", "%27")),
    f"<script src='{data('text/javascript', f'new Image().src=`{U}`')}'></script>", drawing(f"<script>new Image().src=`{U}`</script>"),
    f"<svg onload=\"new Image().src='{U}'\"></svg>", f"<style>:root{{--x:'{U}'}} body{{background:image-set(var(--x) 1x)}}</style>",
    f"<style>body{{background:image-s\\65t(if(else:'{U}') 1x)}}</style>",
    frame(data("image/svg+xml", f"<!DOCTYPE svg [<!ATTLIST image href CDATA '{U}'>]>{SVG}<image/></svg>")),
    frame(data("image/svg+xml", f"<!DOCTYPE svg [<!ENTITY x '<image href=&#34;{U}&#34;/>'>]>{SVG}&x;</svg>")),
    frame(data("image/svg+xml", f"{SVG}<image href='{U}'/></b></svg>")),  # browsers show it up to the error
    frame(data("text/xml", f"<?xml-stylesheet type='text/xsl' href='{data('text/xsl', '<x/>')}'?><r/>".replace("'", '"'))),
]
ON_DISK = ("file:", "data:", "blob:", "about:", "chrome-error:")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mirror of a page for each of these."""
    folder = tmp_path_factory.mktemp("severed")
    found = [(f"http://h/{kind}{number}.html", text) for kind, table in (("s", SEVERED), ("r", SCRIPTS)) for number, text in enumerate(table)]
    records = (page(url, f"<!DOCTYPE html><title>x</title>\n{text}".encode(), "text/html; charset=utf-8") for url, text in found)
    held = page("http://h/held.png", b"\x89PNG\r\n\x1a\n", "image/png")
    assert mirrored(folder, "c.warc", b"".join((*records, held)), "--absent", "sever")[0] == 0
    return folder / "m"


def places(mirror: Path, code: str) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for kind, path, *place in asked(mirror, 'SELECT code, path, line, "column", text FROM notes ORDER BY 2, 3, 4'):
        if kind == code:
            found.setdefault(path, []).append(tuple(place))
    return found


def test_what_a_browser_fetches_is_inert_or_reported_and_a_check_says_the_same(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    severed, unsevered = places(mirror, "severed"), places(mirror, "unsevered")
    for number, text in enumerate(SEVERED):
        path = f"h/s{number}.html"
        assert path in severed, text
        assert path not in unsevered, text
        assert {line for line, _, _ in severed[path]} == {2}, text
    assert {path for path in unsevered if "/s" not in path} == {f"h/r{number}.html" for number in range(len(SCRIPTS))}
    assert unsevered["h/r1.html"] == [(2, 1, "a script, whose requests are no links"), (2, 21, "a script that imports http://evil.test/")]
    assert main(["mirror", "--check", str(mirror), "-v"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count(": unsevered: ") == sum(map(len, unsevered.values()))
    assert ": asked: " not in printed.out
    assert "places that may ask the web" in printed.err


@pytest.mark.parametrize(("text", "counted"), [
    (f"<script src={U}></script>", "1 place may still ask the web"), (f"<style>a{{background:src(var(--x))}}</style><p style='--x:\"{U}\"'>", "1 place may"),
    ("<script type=application/ld+json>{}</script><p>on a=b", "nothing missing"), (frame(data("text/html", "<img src=http://h/x.png>")), "1 missing file"),
])
def test_the_summary_counts_them_and_never_says_that_nothing_is_missing(text: str, counted: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.warc").write_bytes(page("http://h/", f"<title>x</title>{text}".encode()))
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "m"), "--absent", "sever"]) == 0
    printed = capfd.readouterr().err
    assert counted in printed
    assert ("nothing missing" in printed) is (counted == "nothing missing")


def test_a_link_that_asks_again_is_found_by_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mirrored(tmp_path, "c.warc", page("http://h/", IMAGE.encode()), "--absent", "sever")[0] == 0
    (tmp_path / "m/h/index.html").write_text(f"<title>x</title>\n{frame(data('text/html', IMAGE))}<p style='background:url({U})'>", "utf-8")
    assert main(["mirror", "--check", str(tmp_path / "m"), "-v"]) == 1, "the digest is another"
    assert len(re.findall(r"index\.html:2:\d+: asked: http://evil", capsys.readouterr().out)) == 2


def test_without_it_documents_in_data_urls_stay(tmp_path: Path) -> None:
    whole = f"<title>x</title>{frame(data('text/html', '<base href=http://h/a/><img src=../held.png><a href=http://h/>x</a>'))}"
    _, files = mirrored(tmp_path, "c.warc", b"".join((page("http://h/", whole.encode()), page("http://h/held.png", b"x", "image/png"))))
    assert files["h/index.html"] == whole.encode()


@pytest.mark.slow
def test_a_browser_asks_for_nothing_but_what_is_reported(mirror: Path) -> None:
    with browser() as (chromium, trap):
        def leaves(names: Iterable[str]) -> set[str]:
            found = set()
            for name in names:
                before = len(trap.seen)
                one = Page(chromium, (mirror / "h" / name).as_uri())
                one.do(partial(one.page.wait_for_timeout, 300))
                if any("evil" in line or "//h/" in line for line in trap.seen[before:]) or any(not url.startswith(ON_DISK) for url in one.requests):
                    found.add(name)
                one.do(one.page.close)
            return found

        assert leaves(f"s{number}.html" for number in range(len(SEVERED))) == set()
        assert len(leaves(f"r{number}.html" for number in range(len(SCRIPTS)))) >= len(SCRIPTS) - 3, "the test sees what leaves"
