"""Plain files as a capture: their URLs as options, the pages or their savers give them; files without one, and with odd names."""

import os
import posixpath
import re
import sys
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from packed import mirrored, tree, written

from absolve.cli import main
from tests.shapes.captures import rdf, zipped

PNG = b"\x89PNG\r\n\x1a\n"
SAVED = b"<!-- saved from url=(0014)http://h/a/pg -->\n<meta charset=utf-8>"


def held(root: Path, files: dict[str, bytes], *more: str) -> tuple[int, dict[str, bytes]]:
    """Return the exit status and the documents of the mirror of a folder."""
    code = main(["mirror", str(written(root / "in", files)), "-o", str(root / "m"), *more])
    return code, tree(root / "m")


@pytest.mark.parametrize("folder", ["Page_files", "Page.files", "Page-Dateien", "Page_html"])
@pytest.mark.parametrize("extension", [".html", ".htm"])
def test_the_parts_beside_a_saved_page_have_urls_relative_to_its_own(tmp_path: Path, folder: str, extension: str) -> None:
    page = SAVED + f'<img src="./{folder}/sub/p.png">'.encode()
    colon = SAVED.replace(b"/pg", b"/qg") + b'<img src="./a:b_files/p.png">'  # is no scheme
    files = {f"x/Page{extension}": page, f"x/{folder}/sub/p.png": PNG, "y/a:b.html": colon, "y/a:b_files/p.png": PNG}
    code, found = held(tmp_path, files)
    assert code == 0
    assert found[f"h/a/{folder}/sub/p.png"] == PNG
    assert page in found.values()
    assert any(path.startswith("h/a/a_b_files") for path in found)


def test_files_without_a_known_url_lead_to_each_other(tmp_path: Path) -> None:
    files = {
        "a.html": b"<meta charset=utf-8><a href=sub/b.html>b</a><link rel=stylesheet href=s.css>",
        "sub/b.html": b"<meta charset=utf-8><a href=../a.html>a</a>", "s.css": b"@import 'sub/t.css'", "sub/t.css": b"p{}", "alone_files/x.txt": b"x",
    }
    code, found = held(tmp_path, files)
    assert code == 0
    assert len(found) == len(files)
    assert all(b"package:" not in data for data in found.values())
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_a_file_that_a_folder_without_a_url_lacks_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = b"<meta charset=utf-8><a href=gone.html>g</a><a href=gone.html#x>g</a><img src=gone.png><a href=#y id=y>"
    folder = written(tmp_path / "in", {"index.html": page})
    (tmp_path / "in.zip").write_bytes(zipped({"index.html": page}))
    for source in (folder, tmp_path / "in.zip"):
        out = tmp_path / f"out of {source.stem} {source.is_file()}"
        assert main(["mirror", str(source), "-o", str(out)]) == 0
        lacks = "1 missing file, 1 linked page not captured"
        assert f", {lacks}" in capsys.readouterr().err
        assert re.findall(r"<bdi>[^<:]*(gone\.\w+)<", (out / "index.html").read_text()) == ["gone.png", "gone.html"]
        assert main(["mirror", "--check", str(out), "-v"]) == 1
        found = capsys.readouterr()
        assert found.out.count(": dead: ") == 3
        assert found.err.endswith(f": 3 links to missing files; {lacks}\n")


TYPES = {
    "p": (b"<!doctype html><title>x", "h/p.html"), "p.png": (PNG, "h/p.png"), "p.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "h/p.svg"),
    "f": (b"%PDF-1.4", "h/f.pdf"), "n.xyz": (b"\x00\x01", "h/n.xyz"), "feed.xml": (b"<rss/>", "h/feed.xml"),
    "broken.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><a></svg>", "h/broken.svg"),
}


def test_the_media_type_is_known_by_content_and_name(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("".join(f"{tmp_path}/in/{name},http://h/{name}\n" for name in TYPES))
    _, found = held(tmp_path, {name: data for name, (data, _) in TYPES.items()}, "--url-map", str(tmp_path / "map.csv"))
    assert found.keys() == {path for _, path in TYPES.values()}


UNREAD: dict[str, tuple[bytes, list[str], int, str]] = {  # the data of a file -> options, exit status and what is reported
    "a.xhtml": (b"<html xmlns='http://www.w3.org/1999/xhtml'><p></html>", [], 3, "a.xhtml"),
    "a.html": (SAVED + b"<a href=b.html>", ["--url", "http://new.example/"], 0, "a.html:1: overruled: --url overrules what the page records"),
    "a b/c.html": (b"<p><a href='x", [], 0, "warning: a b/c.html:1:4: truncated: "),
    "large.html": (b" " * 1000, ["--max-size", "100"], 3, "large.html"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_odd_in_a_file_is_reported_and_the_others_are_held(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    data, more, status, text = UNREAD[name]
    code, found = held(tmp_path, {name: data, "z.html": b"<meta charset=utf-8>"}, *more)
    assert (code, len(found)) == (status, 1 if name == "large.html" else 2)
    assert b"<meta charset=utf-8>" in found.values()
    assert name != "a.xhtml" or data in found.values()
    assert text in capsys.readouterr().err


def test_of_two_files_with_one_url_links_lead_to_the_newer_and_both_are_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (b"<meta charset=utf-8><img src='%b.gif'><a href=y>" % name for name in (b"a", b"b"))
    folder = written(tmp_path / "in", {"a.html": old, "a.gif": b"GIF89a", "b.html": new, "b.gif": b"GIF89a", "c.html": b"<a href=x>"})
    os.utime(folder / "a.html", (1e9, 1e9))
    rows = "".join(f"{folder / name},http://h/{'y' if name[0] == 'c' else 'x'}\n" for name in ("b.html", "a.html", "c.html"))
    (tmp_path / "map.csv").write_text(rows)
    main(["mirror", str(folder), "-o", str(tmp_path / "m"), "--url-map", str(tmp_path / "map.csv")])
    assert {name: data for name, data in tree(tmp_path / "m").items() if name.endswith(".html")} == {
        "h/x.html": b"<meta charset=utf-8><img src='../_/b.gif'><a href=y.html>",
        "_/a.html": b"<meta charset=utf-8><img src='a.gif'><a href=../h/y.html>",
        "h/y.html": b"<a href=x.html>",
    }
    assert "a.html: same-url: b.html has the same URL" in capsys.readouterr().err


# The pages of a copy as HTTrack, wget -k -E and wget write them: where each page is, its reference, and the file that this leads to.
COPIES = {
    "h_80/a.html": b"<!-- Mirrored from h.example:80/x.php by HTTrack Website Copier/3.x [XR&CO], d -->",
    "h_80/d/index.html": b"", "h_80/q4c5.html": b"", "w/l.php?c=3.html": b"", "w/r.html@x=1": b"", "w/d.html": b"",
    "w/d/index.html": b"", "w/a b.css": b"", "w/t.css?1": b"p{background:url(../h_80/d/p.png)}", "h_80/d/p.png": PNG,
}  # fmt: skip


@pytest.mark.parametrize(("place", "reference", "file"), [
    ("h_80/a.html", "d/index.html#t", "h_80/d/index.html"), ("h_80/a.html", "d/", "h_80/d/index.html"),
    ("h_80/a.html", "q4c5.html?x=1", "h_80/q4c5.html"), ("h_80/a.html", "../w/d.html", "w/d.html"),
    ("w/d.html", "l.php%3Fc=3.html", "w/l.php?c=3.html"), ("w/d.html", "r.html?x=1", "w/r.html@x=1"), ("w/d.html", "a&#32;b.css", "w/a b.css"),
    ("w/d.html", "t.css?1", "w/t.css?1"), ("w/d/index.html", "../d.html", "w/d.html"),
])
@pytest.mark.parametrize("package", [False, True], ids=["folder", "zip"])
def test_a_link_that_worked_in_a_saved_copy_leads_to_the_same_file(tmp_path: Path, place: str, reference: str, file: str, package: bool) -> None:
    link = f'<a href="{reference}">'.encode()
    files = {name: data + f"<p id=t>{name}".encode() * (b"PNG" not in data) for name, data in COPIES.items()}
    files[place] += link
    given = written(tmp_path / "in", files)
    if package:
        given = tmp_path / "c.zip"
        given.write_bytes(zipped(files))
    assert main(["mirror", str(given), "-o", str(tmp_path / "m"), "-q"]) == 0
    copied = {path: data for path, data in tree(tmp_path / "m").items() if path != "index.html"}
    (page,) = (path for path, data in copied.items() if f"<p id=t>{place}".encode() in data)
    (new,) = re.findall(rb'<a href="([^"]*?)(?:#t)?"', copied[page])
    led = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(unescape(new.partition(b"?")[0].decode()))))
    assert f"<p id=t>{file}".encode() in copied[led]
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_a_file_of_another_host_that_was_not_saved_is_on_that_host(tmp_path: Path) -> None:
    links = b"<title>x</title><a href=../o.example/y.html?a#b>y</a><a href=../o.example/z.html>z</a><a href=../x.html>x</a>"
    _, files = held(tmp_path, {"h.example/index.html": links, "o.example/z.html": b"<title>z</title>"})
    wanted = b"<title>x</title><a href=http://o.example/y.html?a#b>y</a><a href=../o.example/z.html>z</a><a href=http://h.example/x.html>x</a>"
    assert files["h.example/index.html"] == wanted


def test_a_page_with_a_query_is_found_by_the_name_that_wget_gives_it_on_windows(tmp_path: Path) -> None:
    files = {"a.html": b"<a href='/p.php?id=4'>x</a><a href='http://h/p.php?id=5'>y</a>", "p.php@id=4.html": b"<p>", "p.php@id=5": b"<p>"}
    _, found = held(tmp_path, files, "--url", "http://h/")
    assert found["h/a.html"].count(b"href='p.php@id=") == 2


def test_a_page_found_without_its_query_keeps_it_for_its_script(tmp_path: Path) -> None:
    links = b'<frame src="./f.html?p/Boat.html#x"><a href="f.html?a&amp;b"><a href="q.html?x=1"><img src="i.png?2">'
    files = {"p.html": b"<meta charset=utf-8>" + links, "f.html": b"<p id=x>", "q.html?x=1": b"<p>", "i.png": PNG}
    _, found = held(tmp_path, files, "--url", "http://h/")
    made = found["h/p.html"]
    assert b'<frame src="./f.html?p/Boat.html#x"><a href="f.html?a&amp;b"><a href="q' in made
    assert b"q.html?" not in made
    assert made.endswith(b'<img src="i.png">')


@pytest.mark.parametrize(("charset", "name"), [("windows-1251", "новости"), ("shift_jis", "ソア日本")])
def test_links_in_the_charset_of_a_page_lead_to_files_in_another(tmp_path: Path, charset: str, name: str) -> None:
    escaped = quote(name.encode(charset))
    page = f'<meta charset={charset}><a href="{escaped}.html"><a href="/{escaped}.html#x"><img src="{name}.png">'
    files = {"p.html": page.encode(charset), f"{name}.html": b"<p id=x>", f"{escaped}.png": PNG}
    folder = written(tmp_path / "in", files)
    (folder / f"{escaped}.png").rename(os.fsdecode(os.fsencode(folder) + b"/" + f"{name}.png".encode(charset)))
    assert main(["mirror", str(folder), "-o", str(tmp_path / "m"), "-q", "--url", "http://h/"]) == 0
    made = tree(tmp_path / "m")["h/p.html"]
    assert made.count(quote(f"{name}.html").encode()) == 2
    assert made.endswith(f'<img src="{quote(quote(f"{name}.png".encode(charset)))}">'.encode())


def test_a_page_and_a_folder_are_also_held_without_their_html_and_slash(tmp_path: Path) -> None:
    files = {"i.html": b"<a href=/a/one#s><a href=a><a href=/a><a href=/b>", "a/one.html": b"<p id=s>", "a/index.html": b"<p>"}
    _, found = held(tmp_path, files, "--url", "http://h/")
    assert found["h/i.html"] == b"<a href=a/one.html#s><a href=a/index.html><a href=a/index.html><a href=http://h/b>"


@pytest.mark.parametrize(
    ("base", "new"),
    [("", "b.html"), (".", "b.html"), ("http://h/d/", "b.html"), ("/", "../b.html"), ("http://away/", "http://away/b.html")],
)
def test_a_base_element_that_leads_to_another_folder_counts_before_the_names_of_files(tmp_path: Path, base: str, new: str) -> None:
    page = f'<meta charset=utf-8><base href="{base}"><a href="b.html">'.encode()
    files = {"d/a.html": page, "d/b.html": b"<meta charset=utf-8>1", "b.html": b"<meta charset=utf-8>2"}
    _, found = held(tmp_path, files, "--url", "http://h/")
    assert f'<a href="{new}">'.encode() in found["h/d/a.html"]


@pytest.mark.parametrize("index", ["index.html", "index.htm", "index.php", "Default.htm", "INDEX.HTML", "index.cfm"])
def test_the_index_of_a_folder_is_held_under_the_url_of_the_folder(tmp_path: Path, index: str) -> None:
    files = {f"h.example/d/{index}": b"<!doctype html>", "h.example/a.html": b"<a href=/d/><a href=https://h.example/d/#x>"}
    given = tmp_path / "c.zip"
    given.write_bytes(zipped(files))
    written(tmp_path / "in", files)
    for number, name in enumerate((tmp_path / "in", given)):
        out = tmp_path / f"m{number}"
        assert main(["mirror", str(name), "-o", str(out), "-q"]) == 0
        found = index if ".htm" in index.lower() else f"{index}.html"
        assert (out / "h.example/a.html").read_text() == f"<a href=d/{found}><a href=d/{found}#x>"


@pytest.mark.parametrize(("folder", "options"), [("in/h.example", ()), ("in", ("--url", "http://h.example/"))], ids=["host", "url"])
def test_a_full_url_leads_to_the_file_that_a_saver_named_otherwise(tmp_path: Path, folder: str, options: tuple[str, ...]) -> None:
    files = {"a.php?id=4.html": "<p>", "b.php@c=1": "<html>", "d.php%3fe%3d2": "<html>", "index.html?p=3": "<html>", "f.asp.html": "<p>"}
    urls = "a.php?id=4", "b.php?c=1", "d.php?e=2", "?p=3", "f.asp"
    page = "".join(f"<a href=http://h.example/{url}>" for url in urls)
    written(tmp_path / folder, {"i.html": page, **files})
    assert main(["mirror", str(tmp_path / "in"), "-o", str(tmp_path / "m"), "-q", *options]) == 0
    links = re.findall('href="?([^">]+)', (tmp_path / "m/h.example/i.html").read_text())
    assert all((tmp_path / "m/h.example" / unquote(one)).is_file() for one in links), links
    assert len({*links}) == len(urls)


def test_a_folder_url_that_was_captured_itself_is_not_its_index(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text(f"{tmp_path}/in/slash.html,http://h/d/\n")
    files = {"a.html": b"<a href=/d/>", "slash.html": b"1", "d/index.html": b"2"}
    _, found = held(tmp_path, files, "--url", "http://h/", "--url-map", str(tmp_path / "map.csv"))
    assert (found["h/d/index.html"], len(found)) == (b"1", 3)


@pytest.mark.parametrize("package", [False, True], ids=["folder", "zip"])
def test_what_a_saver_keeps_for_itself_is_left_out_and_counted(tmp_path: Path, package: bool, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "index.html": b"<meta charset=utf-8><body background=fade.gif>", "fade.gif": b"GIF89a", "hts-log.txt": b"password",
        "hts-cache/new.zip": zipped({"a.html": b"x"}), "cookies.txt": b"# HTTrack Website Copier Cookie File", "wget-log": b"x",
    }  # fmt: skip
    given = written(tmp_path / "in", files)
    if package:
        given = tmp_path / "c.zip"
        given.write_bytes(zipped(files))
    assert main(["mirror", str(given), "-o", str(tmp_path / "m")]) == 0
    assert len(tree(tmp_path / "m")) == 2
    assert "4 items left out: 2 HTTrack, 1 cookies, 1 wget" in capsys.readouterr().err


# --- saved pages as captures ------------------------------------------------------------------------------------------

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
        "t.maff/1/index_files/a.png": b"one", "t.maff/2/index_files/a.png": b"two",
    }


def test_a_page_given_by_name_has_the_files_that_were_saved_with_it(tmp_path: Path) -> None:
    saved = b"<!-- saved from url=(0026)https://ex.example/blog/p/ -->"
    files = {
        "p.html": META + saved + b'<link rel=stylesheet href="./p_files/s.css"><iframe src="./p_files/f.html"></iframe><a href="q.html">q</a>',
        "p_files/s.css": b"b { background: url(a.png) }", "p_files/a.png": b"\x89PNG\r\n\x1a\n", "p_files/f.html": b"<title>frame</title>",
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


# --- files with odd names in a folder or a package --------------------------------------------------------------------

NAMES = [
    *("a:b.html", "50%.html", "a?b.html", "a#b.html", "a b.html", "\u00e9\u6f22.html", "%41.html", "%3A.html", "a\\b.html"),
    *("~a.html", "a~b.html", "a+b&c=d.html", "a[1].html", "a|b.html", "a;b,c.html", "(a)!'*$@.html", 'a"<>.html', "A.html"),
    *("%2e%2e.html", "sub:folder/a:b.html", "sub%2Ffolder/x.html", "a^{}`.html", "-.html", "..a.html", " a.html"),
]
_NEEDED = re.compile(r'[%?#\\"<> ]')
_OF_ENCODE_URI = "/;,:@&=+$-_.!~*'()"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses these names")


def links(name: str) -> list[str]:
    """Return the references by which pages lead to a file: as few escapes as a browser needs, JavaScript's, and all."""
    fewest = _NEEDED.sub(lambda found: quote(found[0]), name)
    return [f"./{fewest}", f"./{quote(name, _OF_ENCODE_URI)}", quote(name)]


def page() -> bytes:
    found = [f'<a href="{one}">{number}</a>\n' for number, name in enumerate(NAMES) for one in links(name)]
    return b"<!doctype html><meta charset=utf-8>\n" + "".join(found).encode()


def folder(root: Path) -> Path:
    files = {name: f"<meta charset=utf-8>{number}" for number, name in enumerate(NAMES)}
    return written(root / "in", {**files, "index.html": page()})


def package(root: Path) -> Path:
    files = {name: f"<meta charset=utf-8>{number}" for number, name in enumerate(NAMES) if "\\" not in name}  # is a separator of folders
    (root / "in.zip").write_bytes(zipped({**files, "index.html": page()}))
    return root / "in.zip"


def wrong(mirror: Path) -> list[str]:
    """Return the links of the page that do not lead to the file of their number."""
    (index,) = (path for path in mirror.rglob("index.html") if b"</a>\n" in path.read_bytes())
    found = []
    for reference, number in re.findall(r'<a href="([^"]*)">(\d+)</a>', index.read_text()):
        path = index.parent / unquote(reference)
        has_scheme = ":" in reference.partition("/")[0]
        if has_scheme or not path.is_file() or path.read_text() != f"<meta charset=utf-8>{number}":
            found.append(reference)
    return found


@posix
@pytest.mark.parametrize("more", [(), ("--url", "http://h.example/"), ("--url", "http://h.example/a%3Ab/")])
def test_links_to_files_of_a_folder_lead_to_them_however_they_are_escaped(
    tmp_path: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mirror", str(folder(tmp_path)), "-o", str(tmp_path / "m"), *more]) == 0
    assert wrong(tmp_path / "m") == []
    assert ", nothing missing" in capsys.readouterr().err
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


@posix
def test_links_to_files_of_a_package_lead_to_them_however_they_are_escaped(tmp_path: Path) -> None:
    assert main(["mirror", str(package(tmp_path)), "-o", str(tmp_path / "m"), "-q"]) == 0
    assert [one for one in wrong(tmp_path / "m") if "%5C" not in one] == []


@posix
@pytest.mark.parametrize("record", ["", "<!-- saved from url=(0014)http://h/a/pg -->"])
@pytest.mark.parametrize(
    ("link", "file"),
    [("%C3%9Cber-Dateien/a.gif", "U\u0308ber-Dateien/a.gif"), ("\u00fcber_files/A.GIF", "\u00dcber_files/a.gif")],
)
def test_a_link_leads_to_the_one_file_whose_name_differs_only_in_form(
    tmp_path: Path, link: str, file: str, record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"\u00dcber.html": f'{record}<meta charset=utf-8><img src="{link}">', file: "GIF89a"}
    written(tmp_path / "in", files)
    (tmp_path / "in.zip").write_bytes(zipped(files))
    for source in ("in", "in.zip"):
        out = str(tmp_path / f"out of {source}".replace(".", " "))
        assert main(["mirror", str(tmp_path / source), "-o", out]) == 0
        assert ", nothing missing" in capsys.readouterr().err
        assert main(["mirror", "--check", out, "-q"]) == 0


@posix
def test_a_name_is_found_by_its_bytes_and_an_escaped_slash_is_no_slash(tmp_path: Path) -> None:
    links = b"<meta charset=utf-8><a href=%ff%3a.html>x</a>"
    written(tmp_path / "in", {os.fsdecode(b"\xff:.html"): "x", "a/b.html": "x", "index.html": links + b"<a href=a%2Fb.html>x</a>"})
    assert main(["mirror", str(tmp_path / "in"), "-o", str(tmp_path / "m"), "-q", "--url", "http://h/"]) == 0
    first, _, second = (tmp_path / "m/h/index.html").read_bytes().partition(b"</a>")
    assert b"http://" not in first
    assert b"http://h/a%2Fb.html" in second


@posix
def test_the_links_of_a_folder_in_place_lead_to_odd_names(tmp_path: Path) -> None:
    root = folder(tmp_path)
    assert main(["rewrite", "--form", "file", "--in-place", str(root), "-q", "--url", "http://h.example/"]) == 0
    assert wrong(root) == []
