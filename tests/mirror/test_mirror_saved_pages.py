"""Saved pages in ZIP files as captures: links to files of the package, to other tabs, and to the web."""

import io
import zipfile
from pathlib import Path

from packed import mirrored

from tests.shapes.captures import rdf

META = b"<meta charset=utf-8>"


def test_links_of_a_tab_lead_to_its_files_to_other_tabs_and_to_the_web(tmp_path: Path) -> None:
    one = META + b'<img src="index_files/a.png"><a href="../next.html">n</a><a href="http://e.example/b?x=1#f">2</a><a href="#g">g</a>'
    two = META + b'<img src="index_files/a.png"><a href="d/one.html">1</a>'
    files = {"1/index.html": one, "1/index_files/a.png": b"one", "1/index.rdf": rdf("http://e.example/d/one.html")}
    files |= {"2/index.html": two, "2/index_files/a.png": b"two", "2/index.rdf": rdf("http://e.example/b?x=1")}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    found = mirrored(tmp_path, "t.maff", data.getvalue())[1]
    assert found == {
        "t.maff/1/index.html": META
        + b'<img src="index_files/a.png"><a href="http://e.example/next.html">n</a><a href="../2/index.html#f">2</a><a href="#g">g</a>',
        "t.maff/2/index.html": META + b'<img src="index_files/a.png"><a href="../1/index.html">1</a>',
        "t.maff/1/index_files/a.png": b"one",
        "t.maff/2/index_files/a.png": b"two",
    }
