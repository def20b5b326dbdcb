"""`absolve mirror --check`: what is wrong in a mirror of any tool, and nothing that is right; in a browser, too."""

import html
import os
from pathlib import Path

import pytest
from packed import mirrored, written

from absolve.cli import main
from absolve.document.settings import Settings
from absolve.mirror.check import Checker, opened
from absolve.verifying import chromium
from tests.shapes.captures import entry, har


def codes(root: Path, *of: str) -> list[tuple[str, str]]:
    faults = Checker(root, Settings(profile="whatwg")).faults()
    return [(fault.name, fault.code) for fault in faults if not of or fault.code in of]


FOLLOWED = {
    None: [
        b"<a href=b.html>", b"<a href='b.html#t'>", b"<a href='b.html#n'>", b"<a href='b.html#%74'>", b"<a href='b.html#top'>", b"<a href='b.html#'>",
        b"<a href='b.html#:~:text=x'>", b"<a href='b.html?q=1'>", b"<a href='p.png#x'>", b"<img src='b.html#none'>", b"<a href='#own'><p id=own>",
        b"<a href='mirror.sqlite'>", b"<a href=http://away/>", b"<a href=mailto:x@y>", b"<form action=none.html>", b"<a href=mirror.sqlite-wal>",
    ],
    "fragment": [b"<a href='b.html#none'>", b"<a href='#none'>"],
    "dead": [
        b"<a href=mirror.sqlite.example/index.html>", b"<a href=mirror.sqlite.example>", b"<a href=none.html>", b"<a href=/b.html>",
        b"<a href=../out.html>", b"<a href=B.html>", b"<img src=none.png>", b"<a href=b.html%3Fq=1>",
    ],
}


@pytest.mark.parametrize("code", FOLLOWED)
def test_a_link_is_judged_as_a_browser_follows_it_from_a_file(tmp_path: Path, code: str | None) -> None:
    for number, link in enumerate(FOLLOWED[code]):
        root = written(tmp_path / f"{number}", {"a.html": link, "b.html": b"<p id=t><a name=n>", "p.png": b"\x89PNG"})
        assert codes(root, "dead", "fragment") == ([("a.html", code)] if code else []), link


def test_the_sources_that_sphinx_puts_beside_its_pages_are_shown_as_text(tmp_path: Path) -> None:
    sources = {"h/_sources/a.md": b"[x](none.pdf)"}
    assert codes(written(tmp_path / "own", sources), "dead") == [("h/_sources/a.md", "dead")]
    assert codes(written(tmp_path / "sphinx", sources | {"h/index.html": b""}), "dead") == []


def test_a_link_that_differs_by_case_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = written(tmp_path / "m", {"a.html": b"<p>\n<a href=B.html>", "b.html": b""})
    assert main(["mirror", "--check", str(root)]) == 1
    out = capsys.readouterr()
    assert "a.html:2:" in out.out
    assert "'b.html' differs from it by case only" in out.out
    assert "2 files, 1 link: 1 link to a missing file, " in out.err


@pytest.mark.parametrize(("url", "is_held"), [
    ("http://h.example/", True), ("https://h.example/d/#x", True), ("http://h.example/d", True), ("http://h.example/a%20b", True),
    ("http://h.example/l.php?c=1", True), ("http://h.example/l.php?c=2", False), ("http://p.example:81/", True),
    ("http://recorded.example/x?y", True), ("http://recorded.example/x", False), ("http://h.example.org/", False),
])
def test_a_link_to_the_web_that_a_copy_without_a_map_holds_is_found(tmp_path: Path, url: str, is_held: bool) -> None:
    files = {
        "h.example/index.html": b"", "h.example/d/index.html": b"", "h.example/a b.html": b"", "h.example/l.php?c=1.html": b"",
        "p.example_81/index.html": b"", "s.html": b"<!-- saved from url=(0027)http://recorded.example/x?y -->",
        "page.html": f"<a href='{url}'>".encode(),
    }  # fmt: skip
    assert codes(written(tmp_path, files), "web") == [("page.html", "web")] * is_held


def test_files_are_compared_with_the_map(tmp_path: Path) -> None:
    page = "<meta charset=utf-8><link rel=canonical href=/b><a href=/b>b</a><a href=http://away/>x</a>"
    png, asp = entry("http://h/p", b"\0", "image/png"), entry("http://h/x.asp", "<meta charset=utf-8><a href=#no>", "text/html")
    mirrored(tmp_path, "c.har", har(entry("http://h/", page), entry("http://h/b", "<meta charset=utf-8>"), png, asp))
    assert codes(tmp_path / "m", "web", "changed", "dead") == []
    assert codes(tmp_path / "m", "fragment") == [("h/x.asp.html", "fragment")], "the media type counts before the name"
    file = tmp_path / "m/h/index.html"
    file.write_bytes(file.read_bytes().replace(b"href=b.html", b"href=http://h/b"))
    (tmp_path / "m/h/p.png").unlink()
    found = codes(tmp_path / "m", "web", "changed")
    assert found == [("h/index.html", "changed"), ("h/index.html", "web"), ("h/p.png", "changed")]
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 1


def test_the_faults_of_a_page_with_one_cause_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = "".join(f"<a href=/x{number}>" for number in range(9)) + "<a href=/x0><a href=b.html#n>"
    written(tmp_path / "saved", {"a.html": saved.encode(), "b.html": b"<a href='i t.html'>", "h.example/index.html": b""})
    assert main(["mirror", str(tmp_path / "saved"), "-o", str(tmp_path / "m"), "-q"]) == 0
    capsys.readouterr()
    lines: dict[str, list[str]] = {}
    for option in ("", "-v", "-q", "--format=json"):
        assert main(["mirror", "--check", str(tmp_path / "m"), *filter(None, [option])]) == 1
        lines[option] = capsys.readouterr().out.splitlines()
    shared = "_/a.html: dead: 10 links to missing files (no URL is known for the page): '/x0', '/x1' and 7 more"
    assert [line for line in lines[""] if ": dead: " in line] == [shared, "_/b.html:1:10: dead: 'i t.html' leads to no file"]
    assert len([line for line in lines["-v"] if ": dead: " in line]) == len([line for line in lines["--format=json"] if '"dead"' in line]) == 11
    assert lines["-q"] == [line for line in lines[""] if ": dead: " in line or ": fragment: " in line]


def test_files_that_nothing_reaches_are_named_and_are_no_failure(tmp_path: Path) -> None:
    root = written(tmp_path / "m", {"index.html": b"<a href=a.html>", "a.html": b"<a href=a.html>", "lost.txt": b""})
    assert codes(root) == [("lost.txt", "unreached")]
    assert main(["mirror", "--check", str(root)]) == 0


def test_names_that_another_system_refuses_or_folds_are_found(tmp_path: Path) -> None:
    names = ("a?b", "aux.html", "con", "x ", "x.")
    root = written(tmp_path / "m", {f"d/{name}": b"x" for name in names})
    assert codes(root, "name") == [(f"d/{name}", "name") for name in names]
    assert len(codes(written(tmp_path / "n", {"d/a.txt": b"", "D/b.txt": b"", "d/A.txt": b""}), "case")) == 2


def test_the_html_of_a_feed_has_relative_links_by_the_place_of_the_feed(tmp_path: Path) -> None:
    feed = b"<rss><channel><item><link>d/p.html</link><description>&lt;img src='d/i.png'></description></item></channel></rss>"
    files = {"index.html": b"<a href=f.xml>", "f.xml": feed, "d/p.html": b"", "d/i.png": b""}
    assert codes(written(tmp_path / "m", files)) == []


def test_xml_that_is_not_well_formed_is_unreadable_at_its_line(tmp_path: Path) -> None:
    root = written(tmp_path / "m", {"a.xhtml": b"<html xmlns='http://www.w3.org/1999/xhtml'>\n<p></html>"})
    fault = next(fault for fault in Checker(root, Settings(profile="whatwg")).faults() if fault.code == "unreadable")
    assert fault.line == 2


def test_what_cannot_be_read_leaves_the_check_of_the_others(tmp_path: Path) -> None:
    files = {"a.html": b"<a href='b.html#x'>", "b.html": b"", "c.html": b"<a href=none>", "mirror.sqlite": b"nothing" * 200}
    root = written(tmp_path / "m", files)
    (tmp_path / "out.html").write_text("<a href=none>")
    (root / "l.html").symlink_to(tmp_path / "out.html")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.html")).write_bytes(b"<a href=none>")
    checker = Checker(root, Settings(profile="whatwg"))
    (root / "b.html").unlink()  # during the check
    found = sorted((fault.name, fault.code) for fault in checker.faults() if fault.code in {"unreadable", "dead", "changed"})
    unread = [("b.html", "unreadable"), ("l.html", "unreadable"), ("mirror.sqlite", "changed")]
    assert found == sorted([*unread, ("c.html", "dead"), (os.fsdecode(b"\xff.html"), "dead")])


def test_the_check_takes_one_folder_and_no_input(tmp_path: Path) -> None:
    root = written(tmp_path / "m", {"a.html": b""})
    assert main(["mirror", "x", "--check", str(root)]) == 2
    assert main(["mirror", "--check", str(root / "a.html")]) == 2
    assert main(["mirror", "--check", str(root / "none")]) == 2


@pytest.mark.parametrize(("name", "page", "found"), [
    ("b.html", b"<meta charset=windows-1252><p id=\xe9><a name='n'><i name=d>", {"\u00e9", "n"}),
    ("b.html", "<meta charset=utf-16><p id='é'>".encode("utf-16"), {"\u00e9"}),
    ("b.html", b"<p id=a&amp;b><!-- <p id=x> --><script>'<p id=y>'</script>", {"a&b"}),
    ("b.svg", b"<svg xmlns='http://www.w3.org/2000/svg' id='x'><a name='z'/><b id = \"y\"/></svg>", {"x", "y"}),
])
def test_a_fragment_leads_to_the_anchors_that_the_table_of_documents_has(tmp_path: Path, name: str, page: bytes, found: set[str]) -> None:
    asked = sorted(found | {"d", "z"})
    links = "".join(f"<a href='{name}#{html.escape(one)}'>" for one in asked)
    root = written(tmp_path / "m", {"a.html": f"<meta charset=utf-8>{links}".encode(), name: page})
    faults = [fault.text for fault in Checker(root, Settings(profile="whatwg")).faults() if fault.code == "fragment"]
    assert faults == [f"{f'{name}#{one}'!r}: {name} has no {one!r}" for one in ("d", "z")]


def test_a_mirror_of_a_host_with_the_name_of_the_map_is_whole(tmp_path: Path) -> None:
    pages = [entry(f"http://{host}/{name}", "<meta charset=utf-8>x") for host in ("mirror.sqlite", "mirror.sqlite-wal", "h") for name in ("", "x")]
    home = entry("http://h/i", "<meta charset=utf-8><a href=http://mirror.sqlite/x>x</a>")
    assert mirrored(tmp_path, "c.har", har(home, *pages))[0] == 0
    assert codes(tmp_path / "m", "changed", "dead", "web", "name") == []


# --- absolve mirror --check --browser ---------------------------------------------------------------------------------

PAGE = b"""<meta charset=utf-8><img src=here.png><img src=gone.png><img src=http://away.example/x.png><script>
fetch("a.json").catch(() => {}); new Image().src = "late.png"; for (let i = 0; i < 9; i++) new Image().src = "late.png"</script>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    try:
        chromium.find()
        pytest.importorskip("playwright")
    except chromium.NoBrowserError as error:
        pytest.skip(str(error))
    files = {"index.html": PAGE, "here.png": b"\x89PNG\r\n\x1a\n", "a.json": b"{}", "b/plain.html": b"<p>"}
    return written(tmp_path / "m", files)


@pytest.mark.slow
def test_what_a_page_lacks_is_refused_or_asks_the_network_for_is_found(folder: Path) -> None:
    found = [(fault.name, fault.code, fault.text.partition(" ")[0]) for fault in opened(folder, ["b/plain.html", "index.html"])]
    expected = [("asked", "http://away.example/x.png"), ("missing", "gone.png"), ("missing", "late.png"), ("blocked", "a.json"), ("blocked", "Access")]
    assert sorted(found) == sorted(("index.html", *fault) for fault in expected)


@pytest.mark.slow
def test_the_command_counts_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mirror", "--check", str(folder), "--browser"]) == 1
    printed = capsys.readouterr()
    assert "index.html: missing: late.png" in printed.out
    assert "2 files missing" in printed.err


def test_a_browser_is_for_a_check(tmp_path: Path) -> None:
    assert main(["mirror", str(tmp_path), "-o", str(tmp_path / "m"), "--browser", "-q"]) == 2
