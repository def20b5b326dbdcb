"""Folders that are named as hosts, as savers of sites name them, and folders that only look so."""

from pathlib import Path

import pytest

from absolve.core.errors import Diagnostic
from absolve.run import inputs
from absolve.run.globs import Globs
from absolve.run.host_folders import among, on_disk
from absolve.run.inputs import Origins
from tests.shapes.captures import written

FOUND = [
    # a file of a site, and its URL
    ("www.example.com/a/é.html", "http://www.example.com/a/%C3%A9.html"),
    ("www.example.com/a.php?x=1&y=%20", "http://www.example.com/a.php?x=1&y=%20"),
    ("www.example.com:8080/a.html", "http://www.example.com:8080/a.html"),
    ("www.example.com+8080/a.html", "http://www.example.com:8080/a.html"),
    ("www.example.com_8080/a.html", "http://www.example.com:8080/a.html"),
    ("localhost:8080/index.html", "http://localhost:8080/index.html"),
    ("192.168.0.10/a.html", "http://192.168.0.10/a.html"),
    ("xn--bcher-kva.example/a.html", "http://xn--bcher-kva.example/a.html"),
    ("de.wikipedia.org/wiki/A.html", "http://de.wikipedia.org/wiki/A.html"),
    ("https/www.example.com/d/index.html", "https://www.example.com/d/index.html"),
    ("Saved Pages/wget exim/exim.example.org/d/a.html", "http://exim.example.org/d/a.html"),
    ("websites/example.com/d/e/f/a.htm", "http://example.com/d/e/f/a.htm"),
]
LOOKS_SO = [
    "index.html", "www.example.com", "example.com_files/a.html", "page.html_files/a.html", "index.files/a.html", "page.html/a.html",
    "node.js/a.html", "jquery-3.6.0.js/a.html", "README.md/index.html", "v1.2/a.html", "1.2.3.4/a.html", "300.1.1.1/a.html",
    "com.example.app/a.html", "org.gnome.gedit/a.html", "docs.en/a.html", "site.old/a.html", "System.Net/a.html", "my.project/a.html", "schema.invalid/a.html",
    "a..com/a.html", ".com/a.html", "example.com./a.html", "com/a.html", "www.example.com/a.png", "a/b/c/www.example.com/a.html",
]  # fmt: skip


@pytest.mark.parametrize(("place", "url"), FOUND)
def test_a_folder_that_is_named_as_a_host_gives_the_url_of_its_files(place: str, url: str) -> None:
    assert among([place, "notes/a.html"]).url_of(place) == url


@pytest.mark.parametrize("place", LOOKS_SO)
def test_a_folder_that_only_looks_so_gives_none(place: str) -> None:
    assert among([place]).url_of(place) is None


@pytest.mark.parametrize("index", ["index.html", "docs/index.html"])
def test_below_the_index_of_a_site_no_folder_is_a_host(index: str) -> None:
    place = "docs/asp.net/index.html"
    assert among([place]).url_of(place) == "http://asp.net/index.html"
    assert among([place, index]).url_of(place) is None


@pytest.mark.parametrize("mark", ["hts-cache/new.zip", "backblue.gif", "mirror.sqlite"])
def test_the_index_that_a_saver_wrote_above_the_hosts_is_none_of_a_site(mark: str) -> None:
    place = "copy/h.example/a.html"
    assert among([place, "copy/index.html", f"copy/{mark}"]).url_of(place) == "http://h.example/a.html"


def test_pictures_of_another_host_are_beside_a_site(tmp_path: Path) -> None:
    written(tmp_path, dict.fromkeys(("h.example/a.html", "c.example/i.png", "d/c.example/i.png"), b""))
    hosts = on_disk(str(tmp_path))
    assert hosts.url_of("c.example/i.png") == "http://c.example/i.png"
    assert hosts.url_of("d/c.example/i.png") is None
    assert on_disk(str(tmp_path / "gone")).url_of("h.example/a.html") is None


def test_the_hosts_are_named_once_and_a_given_url_leaves_them_out(tmp_path: Path) -> None:
    written(tmp_path, {f"h{number:02}.example/a.html": b"" for number in range(12)})
    notes: list[Diagnostic] = []
    found = list(inputs.named([str(tmp_path)], Origins(), Globs(), notes.append))
    assert [one.claim and one.claim.reference for one in found][:1] == ["http://h00.example/a.html"]
    (note,) = notes
    assert note.text.endswith(": h00.example, h01.example, h02.example, h03.example, h04.example, h05.example, h06.example,"
                              " h07.example, h08.example, h09.example and 2 more")  # fmt: skip
    given = list(inputs.named([str(tmp_path)], Origins("http://h/"), Globs(), notes.append))
    assert [one.claim and one.claim.reference for one in given][:1] == ["http://h/h00.example/a.html"]
    assert notes == [note]
