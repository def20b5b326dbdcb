"""Which file of a folder a relative reference names, and which is none of the site."""

import pytest

from absolve.document.companions import fold, hosts_among, keeper_of, named_by, only_alike, saver_of

FILES = {
    "index.html", "docs/p.html", "docs/index.htm", "a b.html", "c%20d.html", "q.html?x=1", "s.css", "docs/é.png",
    "x:y.html", "l.php@c=1", "r.html?to=%2Fa%2Fb", "w.html?u=http%3A%2F%2Fh", "d.php%3fp=1",
}  # fmt: skip


@pytest.mark.parametrize(("reference", "document", "expected"), [
    ("", "index.html", None), ("#x", "index.html", None), ("?x=1", "index.html", None), ("/s.css", "index.html", None),
    ("//h/s.css", "index.html", None), ("\\s.css", "index.html", None), ("http://h/s.css", "index.html", None),
    ("x:y.html", "index.html", None), ("./x:y.html", "index.html", "x:y.html"), ("../s.css", "index.html", None),
    ("../../s.css", "docs/p.html", None), ("../s.css?v=3#a", "docs/p.html", "s.css"), ("missing.css", "index.html", None),
    ("a%20b.html", "index.html", "a b.html"), ("a b.html", "index.html", "a b.html"), ("c%20d.html", "index.html", "c%20d.html"),
    ("c%2520d.html", "index.html", "c%20d.html"), ("q.html?x=1", "index.html", "q.html?x=1"), ("q.html%3Fx=1", "index.html", "q.html?x=1"),
    ("q.html?x=2", "index.html", None), ("docs/%C3%A9.png", "index.html", "docs/é.png"), ("docs\\p.html", "index.html", "docs/p.html"),
    ("docs%2Fp.html", "index.html", None), ("l.php?c=1", "index.html", "l.php@c=1"),
    ("w.html?u=http%3A%2F%2Fh", "index.html", "w.html?u=http%3A%2F%2Fh"),
    ("d.php?p=1", "index.html", "d.php%3fp=1"), ("r.html?to=/a/b", "index.html", "r.html?to=%2Fa%2Fb"),
    ("r.html%3Fto=%252Fa%252Fb", "index.html", "r.html?to=%2Fa%2Fb"), ("docs/", "index.html", "docs/index.htm"),
    ("docs", "index.html", "docs/index.htm"), (".", "docs/p.html", "docs/index.htm"), ("..", "docs/p.html", "index.html"),
    ("./", "index.html", "index.html"), ("p.html/", "docs/index.htm", None), ("docs/p", "index.html", "docs/p.html"),
])  # fmt: skip
def test_a_relative_reference_names_a_file_of_the_folder(reference: str, document: str, expected: str | None) -> None:
    assert named_by(reference, document, FILES.__contains__) == expected


@pytest.mark.parametrize(("reference", "charset", "name"), [
    ("%ED%EE.html", "windows-1251", "но.html"), ("но.html", "windows-1251", "\udced\udcee.html"), ("a%83A.html", "shift_jis", "aア.html"),
    ("%E9.png?2", "utf-8", "é.png"), ("но.html", "windows-1251", "%ED%EE.html"), ("но.html", "utf-8", "%D0%BD%D0%BE.html"),
])
def test_escapes_and_names_in_the_charset_of_the_page_name_a_file(reference: str, charset: str, name: str) -> None:
    assert named_by(reference, "p.html", {"но.htm", name}.__contains__, charset=charset) == name


@pytest.mark.parametrize(("name", "names", "expected"), [
    ("\u00dcber.gif", ["U\u0308ber.gif"], "U\u0308ber.gif"),
    ("\u00dcber.gif", ["u\u0308ber.gif", "U\u0308ber.gif"], "U\u0308ber.gif"),
    ("A.GIF", ["a.gif"], "a.gif"), ("A.GIF", ["a.gif", "a.Gif"], None), ("A.GIF", [], None),
])
def test_the_one_file_whose_name_differs_only_in_form_is_named(name: str, names: list[str], expected: str | None) -> None:
    assert len({fold(one) for one in (name, *names)}) == 1
    assert only_alike(name, names) == expected
    files = set(names)
    assert named_by(name, "p.html", files.__contains__, near=lambda path: only_alike(path, names)) == expected


@pytest.mark.parametrize(("path", "head", "expected"), [
    ("cookies.txt", b"# HTTrack Website Copier Cookie File\n", "cookies"),
    ("cookies.txt", b"How to bake", ""),
    ("backblue.gif", b"GIF89a", ""),
    ("1/index.rdf", b'<RDF:RDF xmlns:MAF="http://maf.mozdev.org/metadata/rdf#">', "MAFF"),
    ("1/index.rdf", b"<rdf:RDF>", ""),
])
def test_the_first_bytes_tell_what_a_saver_keeps_for_itself(path: str, head: bytes, expected: str) -> None:
    assert saver_of(path, head) == expected


@pytest.mark.parametrize(("path", "expected"), [
    ("hts-cache/new.zip", "HTTrack"), ("hts-log.txt", "HTTrack"), ("a/hts-log.txt.html", ""), ("wget-log.1", "wget"),
    ("h/wget-log.html", ""), ("a/_vti_cnf/index.htm", "FrontPage"), ("a/._index.html", "macOS"), ("Thumbs.db", "Windows"),
    ("_vti_inf.html", "FrontPage"), ("_static/sbt-webpack-macros.html", "Sphinx"), ("a/.git/hooks/x.html", "hidden"), (".draft.html", "hidden"), (".well-known/security.txt", ""),
    ("a/.well-known2/x", "hidden"), ("a/.htaccess", ""), (".nojekyll", ""), ("a.git/b..html", ""), ("./a/../b.html", ""),
])
def test_hidden_names_and_what_programs_keep_for_themselves_are_none_of_the_site(path: str, expected: str) -> None:
    assert keeper_of(path) == expected


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
    ("websites/example.com/d/e/f/a.htm", "http://example.com/d/e/f/a.htm"), ("h.org/a.php@id=4&b=@", "http://h.org/a.php?id=4&b=@"),
    ("h.org/a.php%3fid%3d4", "http://h.org/a.php?id=4"), ("h.org/d/index.html?p=1", "http://h.org/d/?p=1"), ("h.org/a@b=c/e.html", "http://h.org/a@b=c/e.html"),
    ("h.org/a?b/index.html", "http://h.org/a?b"), ("h.org/index.php?id=4", "http://h.org/index.php?id=4"), ("h.org/me@h.php", "http://h.org/me@h.php"),
    ("h.org/%c3%a9%20.html", "http://h.org/%c3%a9%2520.html"), ("h.org/a.html?", "http://h.org/a.html%3F"), ("h.org/a/index.html?s=4&d=http%3A%2F%2Fb", "http://h.org/a/?s=4&d=http%3A%2F%2Fb"),
]
LOOKS_SO = [
    "index.html", "www.example.com", "example.com_files/a.html", "page.html_files/a.html", "index.files/a.html", "page.html/a.html",
    "node.js/a.html", "jquery-3.6.0.js/a.html", "README.md/index.html", "v1.2/a.html", "1.2.3.4/a.html", "300.1.1.1/a.html",
    "com.example.app/a.html", "org.gnome.gedit/a.html", "docs.en/a.html", "site.old/a.html", "System.Net/a.html", "my.project/a.html", "schema.invalid/a.html",
    "a..com/a.html", ".com/a.html", "example.com./a.html", "com/a.html", "www.example.com/a.png", "a/b/c/www.example.com/a.html",
]  # fmt: skip


@pytest.mark.parametrize(("place", "url"), FOUND)
def test_a_folder_that_is_named_as_a_host_gives_the_url_of_its_files(place: str, url: str) -> None:
    assert hosts_among([place, "notes/a.html"]).url_of(place) == url


@pytest.mark.parametrize("place", LOOKS_SO)
def test_a_folder_that_only_looks_so_gives_none(place: str) -> None:
    assert hosts_among([place]).url_of(place) is None


@pytest.mark.parametrize("index", ["index.html", "docs/index.html"])
def test_below_the_index_of_a_site_no_folder_is_a_host(index: str) -> None:
    place = "docs/asp.net/index.html"
    assert hosts_among([place]).url_of(place) == "http://asp.net/index.html"
    assert hosts_among([place, index]).url_of(place) is None


@pytest.mark.parametrize("mark", ["hts-cache/new.zip", "backblue.gif", "mirror.sqlite"])
def test_the_index_that_a_saver_wrote_above_the_hosts_is_none_of_a_site(mark: str) -> None:
    place = "copy/h.example/a.html"
    assert hosts_among([place, "copy/index.html", f"copy/{mark}"]).url_of(place) == "http://h.example/a.html"
