"""A mirror as one file: ZIP, HTML with what it needs as `data:` URLs, MHTML, ZIM; each opens in what people open it with."""

import email
import io
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
import warnings
import zipfile
import zlib
from base64 import b64encode
from contextlib import suppress
from email.policy import default
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from packed import OWN, asked, mirrored, tree, written
from PIL import Image

from absolve.cli import main
from absolve.verifying import chromium
from tests.shapes import captures
from tests.shapes.captures import entry, har

URL = "http://site.example/"


def png(red: int) -> bytes:
    """Return a picture of 2 times 2 points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + bytes((red, 0, 0)) * 2) * 2)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


SITE: dict[str, bytes] = {
    "index.html": (
        b"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>One page</title><link rel=stylesheet href=s.css>"
        b"<body><h1 id=top>One</h1><img src=i.png srcset='i.png 1x, big.png 2x'><a href=a/>next</a><a href='./#top'>up</a>"
        b"<a href='a/?q=1#x'>query</a><iframe src=frame.html></iframe><script src=j.js></script><p style='background:url(b.png)'>"
        b"<img src=http://away.example/x.png><svg><image href=v.svg /></svg>"
    ),
    "s.css": b"@import 't.css'; h1 { color: rgb(1, 2, 3) }", "t.css": b"@import 's.css'; body { background: url(b.png) }",
    "frame.html": b"<title>Frame</title><img src=i.png><iframe src=frame.html></iframe>",
    "j.js": b"document.title = 'it ran'",
    "v.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><image href='i.png'/></svg>",
    "a/index.html": b"<title>Next</title><a href=../>home</a><img src=../i.png>",
    **{f"{name}.png": png(place) for place, name in enumerate(("i", "b", "big"))},
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "site", SITE)
    return tmp_path


def made(site: Path, name: str, *more: str) -> Path:
    assert main(["mirror", "site", "--url", URL, "-o", name, "-q", *more]) == 0
    assert (site / name).is_file()
    assert sorted(path.name for path in site.iterdir()) == sorted(["site", name])
    return site / name


def test_a_page_has_what_it_needs_and_leads_to_the_web(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = made(site, "one.html", "--start", URL).read_text("utf-8")
    assert text.count("data:image/png;base64,") == 4
    assert f"<a href='#top'>up</a><a href='{URL}a/?q=1#x'>query</a>" in text
    assert "site.example/s.css" not in text
    assert "http://away.example/x.png" in text
    assert len(text) < 20_000, "frames and style sheets in a circle end"
    assert main(["mirror", "site", "--url", URL, "-o", "two.html", "-q"]) == 2
    assert "--start URL names the page" in capsys.readouterr().err
    assert not (site / "two.html").exists()


def test_only_links_to_a_place_in_the_page_stay_in_it_also_below_a_base(site: Path) -> None:
    links = "<a href=#top>a</a><a href=./#top>b</a><a href=./#>c</a><a href=./>d</a><iframe src=./#top></iframe><iframe src=./></iframe>"
    for base in ("", "<base href=./>", "<base href=//site.example/>"):
        (site / "site/index.html").write_text(f"<title>t</title>{base}{links}")
        text = made(site, "one.html", "--start", URL).read_text().replace('"', "")
        assert "<a href=#top>a</a><a href=#top>b</a>" in text
        assert f"<a href={URL}>c</a><a href={URL}>d</a><iframe src=#top></iframe><iframe src=data:,>" in text.replace("index.html", "")
        assert re.findall("<base href=(.*?)>", text) == ([""] if base else [])


def test_a_message_has_each_part_once_at_its_url(site: Path) -> None:
    message = email.message_from_bytes(made(site, "one.mhtml", "--start", URL).read_bytes())
    places = [part["Content-Location"] for part in message.walk() if not part.is_multipart()]
    assert places[0] == message["Snapshot-Content-Location"] == f"{URL}index.html" or places[0] == URL
    assert len(places) == len(set(places)) == 8 + 1
    first: Any = next(part for part in message.walk() if not part.is_multipart())
    assert f"href={URL}s.css".encode() in first.get_payload(decode=True)
    frame: Any = next(part for part in message.walk() if part["Content-Location"] == f"{URL}frame.html")
    assert b'<iframe src="data:,">' in frame.get_payload(decode=True).replace(b"src=data:,>", b'src="data:,">')


@pytest.mark.parametrize("name", ["one.html", "one.mhtml"])
def test_the_counts_are_those_of_what_the_file_holds(site: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "site/a/more.html").write_text("<img src=gone.png>")
    (site / "site/s.css").write_text("h1 { background: url(lost.png) }")
    assert main(["mirror", "site", "--url", URL, "--start", URL, "-o", name]) == 0
    assert f"absolve: {name}: 8 documents, 2 missing files" in capsys.readouterr().err  # of those also that of away


@pytest.mark.parametrize(("policy", "expected"), [
    ("default-src 'self'; script-src https://h", "default-src 'self'; script-src https://h; img-src 'self' data:; font-src 'self' data:; media-src 'self' data:; style-src 'self' data:"),
    ("style-src-elem a.example; img-src *; IMG-SRC 'none'", "style-src-elem a.example data:; img-src * data:"),
    ("default-src 'none'; img-src data:", None), ("script-src 'self'", None),
])
def test_a_policy_lets_the_page_show_what_is_in_it(site: Path, policy: str, expected: str | None) -> None:
    """A page that may load its own pictures has them as data: URLs; scripts and frames get no further source."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    (site / "site/index.html").write_text(f"<!DOCTYPE html><head><meta charset=utf-8>{meta}<title>t</title><img src=i.png>")
    text = made(site, "one.html", "--start", URL).read_text("utf-8")
    found = re.findall(r'<meta http-equiv="?content-security-policy"? content="([^"]*)"', text, re.IGNORECASE)
    assert [{*one.split("; ")} for one in found] == [{*(expected or policy).split("; ")}]


def test_a_page_that_would_grow_without_end_is_an_error(site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each style sheet imports the next one many times."""
    monkeypatch.setattr("absolve.mirror.packing._MOST", 1 << 20)
    for number in range(20):
        (site / "site" / f"{number}.css").write_text("".join(f"@import '{number + 1}.css?{again}';" for again in range(30)))
    (site / "site/index.html").write_bytes(b"<title>x</title><link rel=stylesheet href=0.css>")
    assert main(["mirror", "site", "--url", URL, "-o", "one.html", "-q", "--start", URL]) == 2
    assert "the page would have more than" in capsys.readouterr().err
    assert not (site / "one.html").exists()


def test_a_media_type_of_a_server_is_no_markup_and_no_header(site: Path) -> None:
    """A server may declare any text."""
    for declared in ('image/png;x="', "image/png;base64,AAAA#", "a\tb", "png", "image/png>"):
        pages = captures.page(URL, b"<title>T\xc3\xa9 \n X</title><img src=i.png>"), captures.page(f"{URL}i.png", png(1), declared)
        (site / "c.warc").write_bytes(b"".join(pages))
        for name in ("one.html", "one.mhtml"):
            assert main(["mirror", "c.warc", "-o", name, "-q"]) == 0
        text = (site / "one.html").read_text("utf-8")
        (found,) = re.findall(r'<img src="data:(image/png|application/octet-stream);base64,([^">]*)">', text)
        assert found[1] == b64encode(png(1)).decode()
        message = email.message_from_bytes((site / "one.mhtml").read_bytes(), policy=default)
        assert [part.get_content_type() for part in message.walk()] == ["multipart/related", "text/html", found[0]]
        assert message["Subject"] == "Té X"


# --- in what people open them with ------------------------------------------------------------------------------------


@pytest.fixture
def program() -> str:
    try:
        pytest.importorskip("playwright")
        return chromium.find()
    except chromium.NoBrowserError as error:
        pytest.skip(str(error))


LOOPBACK = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",)


LOOK = """() => [document.title, getComputedStyle(document.querySelector("h1")).color,
    getComputedStyle(document.body).backgroundImage.slice(0, 4), [...document.images].map(image => image.naturalWidth > 0)]"""
SEEN = ["it ran", "rgb(1, 2, 3)", "url(", [True, False]]


def looked_at(program: str, url: str, *flags: str) -> tuple[Any, list[str]]:
    asked: list[str] = []

    async def look(opened: Any) -> Any:
        page = await opened.new_page()
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(url, wait_until="load")
        return await page.evaluate(LOOK)

    with chromium.Chromium(program, flags or chromium.NO_NETWORK) as browser:
        found = browser.run(look, 30.0)
    return found, [one for one in asked if one.startswith("http")]


@pytest.mark.slow
def test_a_browser_shows_the_page_without_a_network(site: Path, program: str) -> None:
    found, asked = looked_at(program, made(site, "one.html", "--start", URL).as_uri())
    assert found == SEEN
    assert set(asked) == {"http://away.example/x.png"}


@pytest.mark.slow
def test_a_browser_shows_the_message(site: Path, program: str) -> None:
    """Scripts do not run in it, so its picture is looked at: the red of the background is that of a file."""
    (site / "site/b.png").write_bytes(png(201))
    path = made(site, "one.mhtml", "--start", URL)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=400,300", f"--user-data-dir={site / 'profile'}"]
    subprocess.run([program, *flags, *chromium.NO_NETWORK, "--screenshot=shot.png", path.as_uri()], check=True, capture_output=True, cwd=site, timeout=60)
    seen = {color: count for count, color in Image.open(site / "shot.png").convert("RGB").getcolors(1 << 20) or ()}
    assert seen[201, 0, 0] > 10_000
    assert (1, 2, 3) in seen


@pytest.mark.slow
def test_kiwix_shows_the_site(site: Path, program: str) -> None:
    pytest.importorskip("libzim")
    serve = shutil.which("kiwix-serve")
    if serve is None:
        pytest.skip("kiwix-serve is not installed (Debian: kiwix-tools)")
    made(site, "one.zim", "--start", URL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running = subprocess.Popen([serve, "--port", str(port), "--address", "127.0.0.1", "one.zim"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/one/site.example/index.html") as answer:
                assert b"One page" in answer.read()
                break
            time.sleep(0.1)
        found, asked = looked_at(program, f"http://127.0.0.1:{port}/one/site.example/index.html", *LOOPBACK)
        assert (found[:3], found[3][-2:]) == (SEEN[:3], SEEN[3])  # it has a picture of its own
        assert all(one.startswith((f"http://127.0.0.1:{port}/", "http://away.example/")) for one in asked)
    finally:
        running.kill()
        running.wait()


def test_what_no_browser_ran_is_no_page_and_nothing_is_printed_of_it(site: Path) -> None:
    """A response to be downloaded runs in no frame: in the mirror it is a text."""
    reader = pytest.importorskip("libzim.reader")
    html = "text/html\r\nContent-Disposition: attachment"
    pages = captures.page(URL, b"<title>T</title>\0<object data=x>"), captures.page(f"{URL}x", b"<script>1</script>", html)
    (site / "c.warc").write_bytes(b"".join(pages))
    for name in ("one.html", "one.mhtml", "one.zim"):
        with warnings.catch_warnings(action="error"):
            assert main(["mirror", "c.warc", "-o", name, "-q"]) == 0
    assert b"<object data=data:text/plain;base64," in (site / "one.html").read_bytes()
    assert (site / "one.mhtml").read_bytes().count(b"Content-Type: text/plain") == 1
    assert reader.Archive(site / "one.zim").get_entry_by_path("site.example/x.txt").get_item().mimetype == "text/plain"


def test_an_archive_has_every_file_and_a_first_page(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reader = pytest.importorskip("libzim.reader")
    archive = reader.Archive(made(site, "one.zim"))
    assert capfd.readouterr().out == ""
    assert archive.main_entry.get_item().path == "index.html"
    assert bytes(archive.get_entry_by_path("site.example/i.png").get_item().content) == SITE["i.png"]
    assert b"One page" in bytes(archive.get_entry_by_path("site.example/index.html").get_item().content)


# --- absolve mirror -o FILE.zip ---------------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 2000
CAPTURE = har(
    entry("http://h/", '<meta charset=utf-8><a href="/\u00e9">b</a><img src=/p.png><img src=/gone.png>'),
    entry("http://h/%C3%A9", "<meta charset=utf-8><p>" + "text " * 500), entry("http://h/p.png", PNG, "image/png"),
    entry("http://h/a.zip", b"PK\x03\x04" + b"\0" * 2000, "application/zip"),
)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "c.har"
    path.write_bytes(CAPTURE)
    return path


def zipped_at(path: Path, capture: Path, *more: str) -> int:
    return main(["mirror", str(capture), "-o", str(path), "-q", *more])


def test_the_zip_has_the_files_of_the_folder_and_its_map(capture: Path, tmp_path: Path) -> None:
    assert zipped_at(tmp_path / "m.zip", capture) == 0
    assert mirrored(tmp_path, "c.har", CAPTURE)[0] == 0
    with zipfile.ZipFile(tmp_path / "m.zip") as package:
        assert package.testzip() is None
        inside = {name: package.read(name) for name in package.namelist()}
    assert {name: data for name, data in inside.items() if name not in OWN} == tree(tmp_path / "m")
    assert inside["index.html"] == (tmp_path / "m/index.html").read_bytes()
    (tmp_path / "map").mkdir()
    (tmp_path / "map/mirror.sqlite").write_bytes(inside["mirror.sqlite"])
    for query in ("SELECT * FROM resources", "SELECT * FROM missing", "SELECT * FROM notes"):
        assert asked(tmp_path / "map", query) == asked(tmp_path / "m", query)


def test_names_are_utf_8_and_only_plain_files_that_are_not_compressed_already_are_deflated(capture: Path, tmp_path: Path) -> None:
    zipped_at(tmp_path / "m.zip", capture)
    with zipfile.ZipFile(tmp_path / "m.zip") as package:
        every = {info.filename: info for info in package.infolist()}
    assert all(one.external_attr >> 16 == 0o100644 for one in every.values())
    assert every["h/\u00e9.html"].flag_bits & 0x800
    stored = {name for name, one in every.items() if one.compress_type == zipfile.ZIP_STORED}
    assert stored == {"h/p.png", "h/a.zip"}


def test_a_zip_that_cannot_be_written_is_an_error_and_leaves_nothing(capture: Path, tmp_path: Path) -> None:
    assert zipped_at(tmp_path / "none/m.zip", capture) in {2, 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.har"]


def test_the_zip_and_the_missing_urls_go_to_the_standard_output(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert zipped_at(tmp_path / "m.zip", capture) == 0
    assert zipped_at(Path("-"), capture, "--missing", "list") == 0
    out, _ = capfdbinary.readouterr()
    with zipfile.ZipFile(io.BytesIO(out)) as package, zipfile.ZipFile("m.zip") as other:
        assert {name: package.read(name) for name in package.namelist()} == {name: other.read(name) for name in other.namelist()}
    assert zipped_at(tmp_path / "m.zip", capture, "--missing", "-") == 0
    assert capfdbinary.readouterr().out == Path("list").read_bytes()
    assert main(["mirror", str(capture), "-o", "-"]) == 0
    assert b"absolve: standard output: 4 documents" in capfdbinary.readouterr().err
    assert zipped_at(Path("-"), capture, "--missing", "-") == 2
    assert b"the ZIP and --missing both write to the standard output" in capfdbinary.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.har", "list", "m.zip"]
    monkeypatch.setattr("absolve.cli.mirror.is_terminal", lambda _: True)
    assert zipped_at(Path("-"), capture) == 2
    assert b"a ZIP cannot be written to a terminal: give -o FILE.zip" in capfdbinary.readouterr().err


def test_a_zip_is_the_same_bytes_at_any_time_and_a_check_names_the_way_to_its_files(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert zipped_at(tmp_path / "o.zip", capture) == 0
    os.utime(capture, (0, 0))
    assert zipped_at(tmp_path / "m.zip", capture, "-j", "2") == 0
    assert (tmp_path / "o.zip").read_bytes() == (tmp_path / "m.zip").read_bytes()
    assert main(["mirror", "--check", str(tmp_path / "o.zip")]) == 2
    assert f"hint: unzip {tmp_path / 'o.zip'} -d mirror; absolve mirror --check mirror\n" in capsys.readouterr().err
