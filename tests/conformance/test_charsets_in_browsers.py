"""Links in the legacy charsets of the web: each has the URL that Chromium gives it, in a page, a ZIP, a WARC and a mail."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

import absolve
from absolve.cli import main
from absolve.verifying.chromium import NO_NETWORK, Chromium
from tests import browser_page
from tests.shapes import captures

pytestmark = pytest.mark.slow

WORDS = {
    "windows-1250": "žluťoučký kůň", "windows-1251": "новости ё", "windows-1252": "café €", "windows-1253": "νέα ά", "windows-1254": "ışık ğ",
    "windows-1255": "שלום", "windows-1256": "أخبار ژ", "windows-874": "ข่าว", "iso-8859-2": "žluť ş", "iso-8859-15": "œuvre €", "koi8-r": "новости ё",
    "koi8-u": "новини ґ", "macintosh": "café †", "shift_jis": "ソア日本 表", "euc-jp": "日本語", "iso-2022-jp": "日本語", "gbk": "新闻 乗",
    "gb18030": "新闻 㐀", "big5": "新聞 功", "euc-kr": "뉴스 똠",
}  # fmt: skip
# {w} is the word, {e} its escapes in the charset; the snowman is in no charset.
LINKS = [
    '<a href="{w}.html">', '<a href="/{w}/?{w}={w}#{w}">', '<a href="?q={w}&amp;{w}">', '<a href="#{w}">', '<a href="{e}.html?{e}#{e}">',
    '<a href="&#x2603;{w}?&#x2603;{w}#&#x2603;">', '<a href="//{q}.example/{w}">', '<area href="a\\{w}\\..\\?{w}">', '<img src="{w}.png?{w}">',
    '<form action="{w}?{w}">', '<button formaction="?{w}">', '<iframe src="{w}?{w}" loading=lazy></iframe>',
    '<link rel=alternate href="{w}?{w}">', '<video poster="{w}?{w}"></video>', '<p style="background: url({q}?{q})">', '<blockquote cite="?{w}">',
]  # fmt: skip
BASE = "http://h.example/d/{w}/p.html"
VALUES = """JSON.stringify([...document.querySelectorAll("[data-x]")].map(one => one.style.backgroundImage
    ? getComputedStyle(one).backgroundImage.slice(5, -2)
    : one.formAction && one.tagName == "BUTTON" ? one.formAction : one.action || one.poster || one.cite || one.href || one.src))"""


def page(charset: str, word: str, *, declared: bool) -> bytes:
    """Return a page with all links; `declared`: in a meta element."""
    encoded = encode(charset, word)
    values = {"w": word, "e": quote(encoded), "q": word.replace(" ", "")}
    text = "".join(link.format(**values).replace(">", " data-x>", 1) for link in LINKS)
    head = f"<!DOCTYPE html><meta charset={charset}>" if declared else "<!DOCTYPE html>"
    return encode(charset, f'{head}<base href="{BASE.format(w=word)}">{text}')


def encode(charset: str, text: str) -> bytes:
    return text.encode({"windows-874": "cp874", "koi8-u": "koi8-u", "macintosh": "mac-roman", "shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gbk", "big5": "big5hkscs"}.get(charset, charset))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program(), NO_NETWORK) as one:
        yield one


@pytest.mark.parametrize("charset", WORDS)
def test_links_in_a_legacy_charset_are_those_of_chromium(charset: str, chromium: Chromium, tmp_path: Path) -> None:
    data, bare = (page(charset, WORDS[charset], declared=declared) for declared in (True, False))
    (tmp_path / "p.html").write_bytes(data)
    browser = browser_page.Page(chromium, (tmp_path / "p.html").as_uri())
    expected = json.loads(browser.value(VALUES))
    kind = f"text/html; charset={charset}"
    containers = {
        "p.html": data, "p.zip": captures.zipped({"p.html": data}), "p.warc": captures.page("http://h.example/", bare, kind),
        "p.mht": mail(kind, bare),
    }
    for name, content in containers.items():
        rows = absolve.links(content, name=name, profile="whatwg", on_diagnostic=lambda _: None)
        found = [row.target for row in rows if row.element not in {"base", "header"}]
        assert [*zip(LINKS, found, strict=True)] == [*zip(LINKS, expected, strict=True)], name


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("charset", [charset for charset in WORDS if charset != "iso-2022-jp"])  # whose names have control characters
def test_the_file_of_a_link_is_found_by_any_encoding_of_its_name(charset: str, packed: bool, tmp_path: Path) -> None:
    word = WORDS[charset].replace(" ", "")
    old, escapes = encode(charset, word), quote(encode(charset, word))
    names = {"bytes": old, "escapes": escapes.encode(), "utf-8": word.encode()}
    for name, file in names.items():
        for link in (word, escapes, quote(word)):
            folder = tmp_path / f"{name} {link == word} {link == escapes}"
            folder.mkdir()
            page_ = encode(charset, f'<meta charset={charset}><title>t</title><a href="{link}.html">')
            files = {b"p.html": page_, file + b".html": b"<title>found</title>"}
            if packed:
                (folder / "in.zip").write_bytes(zipped(files))
            else:
                (folder / "in").mkdir()
                for path, data in files.items():
                    Path(os.fsdecode(os.fsencode(folder / "in") + b"/" + path)).write_bytes(data)
            given = folder / ("in.zip" if packed else "in")
            assert main(["mirror", str(given), "-o", str(folder / "m"), "-q"]) == 0, (name, link)
            (made,) = (folder / "m").rglob("p.html")
            (led,) = absolve.links(made.read_bytes())
            assert (made.parent / unquote(led.reference)).read_bytes().endswith(b"<title>found</title>"), (name, link)


def zipped(files: dict[bytes, bytes]) -> bytes:
    """Return a ZIP file with these names as bytes, without the flag of UTF-8."""
    marks = {"AB"[at] * len(name): name for at, name in enumerate(files)}
    data = captures.zipped({mark: files[name] for mark, name in marks.items()})
    for mark, name in marks.items():
        data = data.replace(mark.encode(), name)
    return data


def mail(kind: str, body: bytes) -> bytes:
    head = f"MIME-Version: 1.0\r\nContent-Location: http://h.example/\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: binary\r\n\r\n"
    return head.encode() + body
