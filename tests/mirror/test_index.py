"""The entry page of a mirror."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_map import finished, row

from absolve.cli import main
from absolve.encodings.charsets import lookup
from absolve.mirror import index, words
from absolve.mirror.index import MARK, page
from absolve.mirror.map import Finished, Working


@pytest.fixture
def working() -> Iterator[Working]:
    made = Working(Path(":memory:"))
    yield made
    made.close()


def shown(working: Working, *every: Finished, start: str | None = None, files: bool = False) -> str:
    rows = [row(one.url, n) for n, one in enumerate(every)]
    rows.append(row("http://h/moved", 99, "http://h/b", is_held=False))
    places = [(0, one.url[12:].encode(), n, one.url) for n, one in enumerate(every) if files]
    working.plan(rows, ["far/c.warc"], ["c.warc"], places=places)
    paths = dict(working.rows("SELECT url, path FROM plan"))
    for one in every:
        working.finish(one._replace(path=paths[one.url]))
    return page(working, start).decode()


def links(html: str) -> list[str]:
    return re.findall(r'<li><a href="([^"]*)">', html.partition('id="pages"')[2].partition("</div>")[0])


def started(html: str) -> list[str]:
    return re.findall(r'<p class="start">Start: <a href="([^"]*)"', html)


def test_it_has_each_page_by_host_with_a_link_that_works_from_a_file(working: Working) -> None:
    html = shown(
        working,
        finished("http://h/b", "", linked=("i/100%#a.html",)), finished("http://i/100%25%23a", "", title="Other"),
        finished("http://i/c", "", title=" "), finished("http://i/", "", title=""), finished("http://h/i", "", title=None),
    )  # fmt: skip
    assert MARK.decode() in html
    assert re.findall("<h1>(.*)</h1>", html) == ["Mirror of 2 hosts"]
    assert re.findall("<summary>(.) <span>(.*)</span>", html) == [("i", "3 pages"), ("h", "1 page")]
    assert '<a href="h/b.html">Title</a><small>b</small>' in html
    assert '<a href="i/100%25%23a.html">Other</a><small>100%#a</small>' in html
    assert re.findall(r"<li><a [^>]*>([^<]*)</a></li>", html) == ["http://i/", "c"], "without a title the name or the URL is shown"
    assert not re.findall('(?:href|src|action)="(?!data:,)(?:/|[a-z]+:)', html)
    assert "<p>Captured <time>2024-05-01</time>. Made from <b>c.warc</b>.</p>" in html
    assert "far/" not in html
    assert "<li>4 pages</li><li>1 other file</li><li>nothing missing</li>" in html


def test_pages_are_a_tree_by_path_with_the_index_of_a_folder_first(working: Working) -> None:
    urls = ["http://h/docs/a/b/2", "http://h/docs/a/b/1", "http://h/docs/a/b/", "http://h/x?q=1", "http://h/docs/%C3%A9/z"]
    html = shown(working, *(finished(url, "", title=url[-1], text=url[-1]) for url in urls))
    found = [("h", "5 pages"), ("docs", "4 pages"), ("a/b", "3 pages"), ("é", "1 page")]
    assert re.findall("<summary>(.*?) <span>(.*?)</span>", html) == found
    assert re.findall("<small>(.*?)</small></li>", html) == ["x?q=1", "1", "2", "z"]
    assert [link.rpartition("/")[2] for link in links(html)][1:4] == ["index.html", "1.html", "2.html"]
    assert json.loads(re.findall(r'id="texts">(.*?)</script>', html)[0]) == ["1", "/", "1", "2", "z"], "in the order of the links"


def test_a_path_of_a_thousand_folders_is_no_deep_tree(working: Working) -> None:
    html = shown(working, *(finished(f"http://h/{'a/' * depth}{depth}", "") for depth in range(400)))
    assert max(html[:at].count("<details") - html[:at].count("</details") for at in range(0, len(html), 99)) < 12
    assert len(links(html)) == 400


@pytest.mark.parametrize(("urls", "start", "expected"), [
    (["http://h/a", "http://h/b", "http://h/"], None, "h/index.html"),
    (["http://h/docs/", "http://h/a", "http://i/"], None, "h/docs/index.html"),  # a crawl begins with its first page
    (["http://h/a", "http://h/b", "http://h/"], "HTTP://h/b#x", "h/b.html"), (["http://h/a", "http://h/b", "http://h/"], "http://h/moved", "h/b.html"),
    (["http://h/a", "http://h/"], "http://elsewhere/", "h/index.html"),
    (["package:///_/a/a.html", "package:///_/a/index.html", "package:///_/a/b/index.html"], None, "_/a/index.html"),  # the uppermost one
])
def test_the_page_to_begin_with(working: Working, urls: list[str], start: str | None, expected: str) -> None:
    assert started(shown(working, *(finished(url, "") for url in urls), start=start, files=urls[0][:7] == "package")) == [expected]


def test_what_a_document_says_is_text_and_cut(working: Working) -> None:
    first = finished("http://h/", "", title="<script>\u202e" + "x" * 500, text="</script><img src=x>")
    html = shown(working, first, finished("http://h/b", "", title="a\x1b[2J\0\x9b", text="a …"), finished("http://h%1b/", "i/index.html"))
    assert html.count("<script") == html.count("</script>") == 2  # the texts, and the search
    assert f">&lt;script&gt;\ufffd{'x' * 191}...</a>" in html
    assert "<img" not in html
    assert re.findall(r"[\0-\x09\x0b-\x1f\x7f-\x9f]", html) == []
    assert ">a\ufffd[2J\ufffd\ufffd</a>" in html
    assert "Only the beginning of 1 long page is" in html


def test_files_that_are_missing_are_apart_from_links_to_other_sites(working: Working) -> None:
    needed, own = ("http://x/1", "image"), ("http://www.h/gone", "navigation")
    html = shown(
        working,
        finished("http://h/a", "h/a.html", missing=(needed, ("http://y/2", "navigation"))),
        finished("http://h/b", "h/b.html", missing=(own, needed, ("http://y/3", "navigation"), ("http://x/1", "navigation"))),
    )
    missing, _, elsewhere = html.partition('id="missing">')[2].partition('<h2 id="elsewhere">')
    assert re.findall("<bdi>(.*?)</bdi><br><small>(.*?),? first", missing) == [
        ("http://x/1", "picture and page or file, for 2 files"), ("http://www.h/gone", "page or file, for 1 file"),
    ]  # fmt: skip
    assert missing.startswith("1 missing file, 1 linked page not captured</h2>")
    assert elsewhere.startswith("2 links to other sites</h2>")
    found = [("y", "2 links", ""), ("", "", "http://y/2"), ("", "", "http://y/3")]
    assert re.findall("<summary>(.*) <span>(.*)</span>|<bdi>(.*)</bdi>", elsewhere)[:3] == found


def test_what_does_not_work_from_a_disk_is_in_words(working: Working) -> None:
    notes = ((3, 7, "form", "it is sent to http://h/<q>"), (1, 1, "base", "emptied"))
    html = shown(working, finished("http://h/", "h/index.html", notes=notes))
    assert "<h1>Mirror of h</h1>" in html
    limits, _, changes = html.partition("<h2>What does not work from a disk</h2>")[2].partition("<h2>Adjustments for offline use")
    assert '<h3 id="form">1 form needs the web</h3>' in limits
    assert '<a href="h/index.html">h/index.html</a>, line 3: <bdi>it is sent to http://h/&lt;q&gt;</bdi>' in limits
    assert '<h3 id="base">1 base URL emptied</h3>' in changes


def test_long_lists_are_cut_and_say_so(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((index, "MOST"), (words, "LISTED"), (index, "_EXAMPLES")):
        monkeypatch.setattr(module, name, 1)
    html = shown(
        working,
        finished("http://h/a", "h/a.html", missing=tuple((f"http://x/{n}", "image") for n in range(3)), notes=((1, 1, "csp", ""),) * 2),
        finished("http://h/b", "h/b.html", missing=(("http://y/1", "navigation"), ("http://y/2", "navigation"))),
    )
    for text in ("1 more page.", "2 more files.", "1 more link."):
        assert f"<p>{text}</p>" in html
    assert "<summary>The first 1 places</summary>" in html


def test_a_mirror_without_pages_has_an_entry_page_too(working: Working) -> None:
    html = shown(working)
    assert "This copy has no pages." in html
    assert "<script" not in html


@pytest.mark.parametrize(("page_", "charset", "expected"), [
    (b"<title>T</title><script>no</script><body><p>A &amp;  <b>b</b><!-- no > no --><style>no</style>", "utf-8", "A & b"),
    ("<body><p>灯台".encode("utf-16-le"), "utf-16le", "灯台"), ("<p>灯台".encode("iso-2022-jp"), "iso-2022-jp", "灯台"),
    (b"<p>a<script>never ends", "utf-8", "a"), (b"<p>" + b"x" * 50, "utf-8", "x" * 12 + index.CUT), (b"", "utf-8", ""),
])
def test_the_text_of_a_page(page_: bytes, charset: str, expected: str) -> None:
    found = lookup(charset)
    assert found is not None
    assert index.text_of(page_, found, 12) == expected


def test_many_pages_have_shares_of_the_text() -> None:
    assert index.share_of(1) == index.share_of(2000) == 8000
    assert index.share_of(50_000) * 50_000 <= 16 << 20


def test_documents_that_people_open_are_listed_beside_the_pages(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    for name in ("p10.html", "p2.html"):
        (tmp_path / "site" / name).write_text("<title></title><a href=m.pdf>manual</a>")
    (tmp_path / "site/m.pdf").write_bytes(b"%PDF-1.4\n%%EOF")
    assert main(["mirror", str(tmp_path / "site"), "-o", str(tmp_path / "m")]) == 0
    text = (tmp_path / "m/index.html").read_text()
    assert re.findall(r'href="_/([^"]*)"', text.partition("<h2>Pages")[2]) == ["p2.html", "p10.html", "m.pdf"]
