"""Saved pages as captures: in ZIP files, and with a folder of parts; links to their files, to other tabs, to the web."""

from pathlib import Path

from packed import mirrored, written

from absolve.cli import main
from tests.shapes.captures import rdf, zipped

META = b"<meta charset=utf-8>"


def test_links_of_a_tab_lead_to_its_files_to_other_tabs_and_to_the_web(tmp_path: Path) -> None:
    one = META + b'<img src="index_files/a.png"><a href="../next.html">n</a><a href="http://e.example/b?x=1#f">2</a><a href="#g">g</a>'
    two = META + b'<img src="index_files/a.png"><a href="d/one.html">1</a>'
    files = {"1/index.html": one, "1/index_files/a.png": b"one", "1/index.rdf": rdf("http://e.example/d/one.html")}
    files |= {"2/index.html": two, "2/index_files/a.png": b"two", "2/index.rdf": rdf("http://e.example/b?x=1")}
    found = mirrored(tmp_path, "t.maff", zipped(files))[1]
    assert found == {
        "t.maff/1/index.html": META
        + b'<img src="index_files/a.png"><a href="http://e.example/next.html">n</a><a href="../2/index.html#f">2</a><a href="#g">g</a>',
        "t.maff/2/index.html": META + b'<img src="index_files/a.png"><a href="../1/index.html">1</a>',
        "t.maff/1/index_files/a.png": b"one",
        "t.maff/2/index_files/a.png": b"two",
    }


def test_a_page_given_by_name_has_the_files_that_were_saved_with_it(tmp_path: Path) -> None:
    saved = b"<!-- saved from url=(0026)https://ex.example/blog/p/ -->"
    files = {
        "p.html": META + saved + b'<link rel=stylesheet href="./p_files/s.css"><iframe src="./p_files/f.html"></iframe><a href="q.html">q</a>',
        "p_files/s.css": b"b { background: url(a.png) }",
        "p_files/a.png": b"\x89PNG\r\n\x1a\n",
        "p_files/f.html": b"<title>frame</title>",
        "q.html": META,
    }
    written(tmp_path, files)
    page, out, one = tmp_path / "p.html", tmp_path / "out", tmp_path / "one.html"
    assert main(["mirror", str(page), "-o", str(out), "-q"]) == 0
    held = {path.relative_to(out / "ex.example/blog/p").as_posix() for path in out.glob("ex.example/**/*.*")}
    assert held == {"index.html", "p_files/s.css", "p_files/a.png", "p_files/f.html"}
    assert main(["mirror", str(page), "-o", str(one), "-q"]) == 0, "a page in a frame is a part"
    assert b"./p_files/" not in one.read_bytes()
    assert b"https://ex.example/blog/p/q.html" in one.read_bytes()
