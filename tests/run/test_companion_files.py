"""Companions: links to files that were saved with a page stay, links to files that record a URL become that URL."""

import os
import plistlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from absolve.core.errors import Diagnostic
from absolve.document.companions import PARTS
from absolve.document.settings import Settings
from absolve.inventory import link_rows
from absolve.rewriting import rewriter
from absolve.run import inputs
from absolve.run.companion_files import hosts_in
from absolve.run.folders import Globs
from absolve.run.inputs import Input, Origins
from absolve.run.load import ReadOptions, Walked, walked
from tests.shapes.captures import written

SAVED = "<!-- saved from url=(0021)http://h.example/a/b -->"
OTHER = "<!-- saved from url=(0020)http://o.example/p/q -->"


def mirrored(url: str) -> str:
    return f"<!-- Mirrored from {url} by HTTrack Website Copier/3.x [XR&CO'2014] -->"


def read(input_: Input, **settings: str) -> Walked:
    return walked(input_, ReadOptions(Settings(**settings)))  # type: ignore[arg-type]


def found(root: Path, **origins: Any) -> dict[str, Input]:
    listed = inputs.named([str(root)], Origins(**origins), Globs((), ()), print)
    return {input_.place: input_ for input_ in listed}


def rewritten(root: Path, place: str, **origins: Any) -> str:
    return rewriter.rewrite(read(found(root, **origins)[place]).entity).decode()


def changes(root: Path, page: str, files: Mapping[str, str | bytes], place: str = "p.html", **origins: Any) -> str:
    """Return the rewrite of a page of a folder that has it and these files."""
    return rewritten(written(root, {place: page, **files}), place, **origins)


# --- what has no companions -------------------------------------------------------------------------------------------

SITE = {"p_files/a.png": "x", "b.html": "y"}


def test_a_link_to_no_file_that_is_here_is_no_companion(tmp_path: Path) -> None:
    links = ("gone.png", "../p_files/a.png", "/p_files/a.png", "//x/p_files/a.png", "p_files", "p_files/", "#p_files/a.png", "")
    page = SAVED + "".join(f'<a href="{link}">' for link in links)
    root = written(tmp_path, {"d/p.html": page, "d/p_files/a.png": "x", "p_files/a.png": "x"})
    assert not any("companion" in row.problems for row in link_rows.rows(read(found(root / "d")["p.html"]).entity))


# --- pages and their parts --------------------------------------------------------------------------------------------

KEPT = [
    # what the browser wrote, and the folder beside p.html with the file a b.png
    ("p_files", '<img src="p_files/a%20b.png">'),
    ("p_files", "<img src='./p_files/a b.png?v=2#x' srcset='./p_files/a%20b.png 2x'>"),
    ("p_files", '<base href="."><img src="p_files/a%20b.png">'),
    ("p_files", "<p style=\"background: url('p_files/a b.png')\"><style>p { background: url(p_files/a\\ b.png) }</style>"),
    ("p_files", "<iframe srcdoc='<img src=p_files/a%20b.png>'></iframe>"), ("p.html_files", '<img src="p.html_files/a%20b.png">'),
    ("Filer_for_p", '<img src="Filer_for_p/a%20b.png">'), *((f"p{end}", f'<img src="p{end}/a%20b.png">') for end in PARTS),
]


def test_links_into_the_folder_of_a_page_stay(tmp_path: Path) -> None:
    for number, (folder, links) in enumerate(KEPT):
        for record in ("", SAVED):
            assert changes(tmp_path / f"{number}{bool(record)}", record + links, {f"{folder}/a b.png": "x"}) == record + links


UMLAUT, APART = "\u00dcber", "U\u0308ber"  # composed, and as macOS has it in names


@pytest.mark.parametrize(("link", "page", "file"), [
    ("%C3%9Cber-Dateien/a.gif", f"{UMLAUT}.html", f"{APART}-Dateien/a.gif"),
    ("U%CC%88ber-Dateien/a.gif", f"{APART}.html", f"{UMLAUT}-Dateien/a.gif"),
    ("p_fi\u0219iere/a.gif", "p.html", "p_fis\u0326iere/a.gif"), ("p_files/%C3%9Cber.gif", "p.html", f"p_files/{APART}.gif"),
    ("P_FILES/A.GIF", "p.html", "p_files/a.gif"), ("soup_files/a.gif", "soup.html", "Soup_files/a.gif"),
])
@pytest.mark.parametrize("record", ["", SAVED])
def test_a_file_whose_name_differs_only_in_form_is_a_companion(tmp_path: Path, link: str, page: str, file: str, record: str) -> None:
    text = f'{record}<img src="{link}">'
    assert changes(tmp_path, text, {file: "x"}, page) == text
    sheet = "a { background: url(../c.png) }"
    (tmp_path / file).with_name("s.css").write_text(sheet)
    urls = {"url": "http://h.example/"} if record else {}
    part = next(one for place, one in found(tmp_path, **urls).items() if place.endswith("s.css"))
    assert rewriter.rewrite(read(part).entity).decode() == sheet


def test_the_url_of_a_map_or_of_a_page_that_is_named_alone_counts_for_its_parts(tmp_path: Path) -> None:
    root = written(tmp_path / "one", {"p.html": SAVED, "p_files/s.css": "a { background: url(../c.png) }"})
    by_path = {inputs.key(str(root / "p_files" / "s.css")): "http://h.example/s/s.css"}
    listed = inputs.named([str(root)], Origins("http://h.example/", by_path), Globs((), ()), print)
    part = next(one for one in listed if one.place == "p_files/s.css")
    assert rewriter.rewrite(read(part).entity) == b"a { background: url(http://h.example/c.png) }"
    root = written(tmp_path / "two", {"p.html": "<img src=p_files/a.png><a href=b.html>", **SITE})
    given = Input(str(root / "p.html"), "p.html", "http://h.example/a/")
    assert rewriter.rewrite(read(given).entity) == b"<img src=p_files/a.png><a href=http://h.example/a/b.html>"


@pytest.mark.parametrize("options", [{}, {"url": "http://h.example/"}, {"url": "http://h.example/", "is_site": True}])
@pytest.mark.parametrize("alone", [False, True])
def test_the_parts_of_a_saved_page_have_no_url_by_their_place(tmp_path: Path, options: dict[str, Any], alone: bool) -> None:
    sheet = "a { background: url(a.png) } b { background: url(../img/c.png) } c { background: url(sub/d.png) }"
    root = written(tmp_path, {"p.html": SAVED, "p_files/s.css": sheet, "p_files/sub/d.png": "x", **SITE})
    path = root / "p_files" / "s.css"
    part = read(Input(str(path), path.name) if alone else found(root, **options)["p_files/s.css"])
    assert rewriter.rewrite(part.entity).decode() == sheet
    assert [row.problems for row in link_rows.rows(part.entity)] == [["companion"], ["unresolved"], ["companion"]]
    assert [one.code for one in part.diagnostics] == ["no-base"]


RECORDS = [
    (SAVED, mirrored("h.example/a/b"), '<html data-scrapbook-source="http://h.example/a/b">'),
    (OTHER, mirrored("o.example/p/q"), '<html data-scrapbook-source="http://o.example/p/q">'),
]


def test_a_frame_saved_beside_its_page_stays_whatever_url_it_records(tmp_path: Path) -> None:
    for number, (record, frame) in enumerate((record, frame) for record in RECORDS[0] for frame in RECORDS[1]):
        page = f"{record}<iframe src=p_1.html></iframe><iframe src=gone.html></iframe><a href=p_1.html>"
        expected = page.replace("gone", "http://h.example/a/gone").replace("href=p_1.html", "href=http://o.example/p/q")
        assert changes(tmp_path / str(number), page, {"p_1.html": frame}) == expected


def test_a_frame_among_the_parts_keeps_its_own_links_and_url(tmp_path: Path) -> None:
    frame = f"{OTHER}<img src=a.png><a href=../p.html>up</a><a href=r>"
    files = {"p_files/f.html": frame, **SITE}
    page = f"{SAVED}<iframe src=p_files/f.html></iframe>"
    assert changes(tmp_path, page, files) == page
    assert rewritten(tmp_path, "p_files/f.html") == frame.replace("href=r", "href=http://o.example/p/r")


def test_a_companion_has_no_target_and_its_problem_alone(tmp_path: Path) -> None:
    root = written(tmp_path, {"p.html": f"{SAVED}<img src=' p_files/a.png'><a href=b.html><a href=../c>", "p_files/a.png": "x"})
    rows = [(row.target, row.scope, row.problems) for row in link_rows.rows(read(found(root)["p.html"]).entity)]
    assert rows == [(None, "internal", ["companion"]), ("http://h.example/a/b.html", "internal", []), ("http://h.example/c", "internal", [])]


# --- files that record their URL --------------------------------------------------------------------------------------


def test_a_record_that_is_no_url_of_the_web_is_none(tmp_path: Path) -> None:
    for number, url in enumerate(("javascript:alert(1)", "mailto:a@b", "about:blank", "file:///etc/passwd")):
        record = f"<!-- saved from url=({len(url):04d}){url} -->"
        assert changes(tmp_path / str(number), f"{SAVED}<a href=b.html>", {"b.html": record}).endswith("<a href=b.html>")


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need a privilege")
def test_a_link_out_of_the_folder_gives_no_record_and_is_no_companion_by_a_like_name(tmp_path: Path) -> None:
    page = f"{SAVED}<a href=b.html><img src=p_files/A.gif>"
    root = written(tmp_path, {"d/p.html": page, "b.html": OTHER, "d/p_files/b.gif": "", "a.gif": ""})
    (root / "d" / "b.html").symlink_to(root / "b.html")
    (root / "d/p_files/a.gif").symlink_to(root / "a.gif")
    assert rewritten(root / "d", "p.html").endswith("<a href=b.html><img src=http://h.example/a/p_files/A.gif>")
    loop = written(tmp_path / "loop", {"p.html": f"{SAVED}<a href=b.html>"})
    (loop / "p_files").symlink_to("p_files")
    assert rewritten(loop, "p.html").endswith("<a href=http://h.example/a/b.html>")


# --- records beside a page --------------------------------------------------------------------------------------------

URL = "http://h.example/a/b?c&d"
INI = f"[InternetShortcut]\r\nURL={URL}\r\nIconFile=C:\\x.ico\r\n"
PLIST = {"URL": URL}
BESIDE: dict[str, str | bytes] = {
    "p.url": INI, "p.URL": INI, "p.website": INI, "p.html.url": INI.encode("utf-16"), "p.webloc": plistlib.dumps(PLIST),
    "p.inetloc": plistlib.dumps(PLIST, fmt=plistlib.FMT_BINARY), "p.desktop": f"[Desktop Entry]\nType=Link\nURL[$e]={URL}\n",
}


NO_RECORDS: list[tuple[str, str | bytes]] = [
    ("q.url", INI), ("p.url", "[InternetShortcut]\r\n"), ("p.url", ""), ("p.url", "[InternetShortcut]\nURL=about:blank"), ("p.webloc", b"bplist00"),
    ("p.webloc", b"<plist>"), ("p.webloc", plistlib.dumps({"URL": 1})), ("index.dat", f"source\t{URL}"),
]  # fmt: skip


def test_a_shortcut_beside_a_page_gives_its_url(tmp_path: Path) -> None:
    for number, (name, content) in enumerate((*BESIDE.items(), *NO_RECORDS)):
        own = read(found(written(tmp_path / str(number), {"p.html": "<a href=x>", name: content}))["p.html"]).entity.bases.own
        assert (own.url, own.source) == ((URL, f"{name} beside it") if BESIDE.get(name) == content else ("", own.source)), name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["p.url", "p.html.webloc", "p.html:Zone.Identifier", "index.dat"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_records_a_url_is_a_file_of_the_folder(tmp_path: Path, name: str, kind: str) -> None:
    page = "index.html" if name == "index.dat" else "p.html"
    root = written(tmp_path, {page: "<a href=x>"})
    written(tmp_path / "outside", {"secret": f"[remote]\nurl = {URL}\nHostUrl={URL}\nsource\t{URL}\n"})
    if kind == "link":
        (root / name).symlink_to(tmp_path / "outside" / "secret")
    else:
        os.mkfifo(root / name)
    assert read(found(root)[page]).entity.bases.own.url == ""


# --- which of them rules ----------------------------------------------------------------------------------------------

HOST: dict[str, str | bytes] = {
    "h.example/d/x3f.html": mirrored("h.example/d/x.php?id=3"), "h.example/i.png": "x", "h.example/f.html": "", "h.example/q?x=1": "<a>",
    "c.example/i.png": "x", "o.example/z.html": mirrored("https://o.example/z/"),
}
RULED: dict[str, tuple[str, str, dict[str, str | bytes], str]] = {  # the page, its place, other files, and its rewrite
    "an absolute base element leads to the web from everywhere": (
        "<base href=http://h.example/c/><img src=p_files/a.png>", "p.html", {**SITE},
        "<base href=http://h.example/c/><img src=http://h.example/c/p_files/a.png>",
    ),
    "of files that differ by case an exact name counts alone": (
        f"{SAVED}<img src=p_files/A.gif><img src=p_files/A.GIF>", "p.html", {"p_files/a.gif": "x", "p_files/A.gif": "x"},
        f"{SAVED}<img src=p_files/A.gif><img src=http://h.example/a/p_files/A.GIF>",
    ),
    "a file has the URL that it records": (
        f"{mirrored('h.example/')}<a href=d/x3f.html#s><img src=i.png><a href=../o.example/z.html><a href=gone.html><a href=../n.example/x?a>", "h.example/index.html", HOST,
        f'{mirrored("h.example/")}<a href="http://h.example/d/x.php?id=3#s"><img src=i.png><a href=https://o.example/z/><a href=http://h.example/gone.html><a href=http://n.example/x?a>',
    ),
    "in the folder of a host a file has the URL of its place": (
        '<iframe src=f.html></iframe><a href="q%3Fx=1"><a href="q?x=1"><img src="../c.example/i.png"><a href="q?x=2"><a href="../n.example/x%3Fa#b"><a href="../up/x">', "h.example/index.html", HOST,
        '<iframe src=http://h.example/f.html></iframe><a href="http://h.example/q?x=1"><a href="http://h.example/q?x=1"><img src="http://c.example/i.png"><a href="http://h.example/q?x=2"><a href="http://n.example/x?a#b"><a href="http://h.example/../up/x">',
    ),
    "a shortcut is a record of who saved the page": (
        "<img src=img/a.png><a href=b>", "p.html", {"p.url": "[InternetShortcut]\nURL=http://h.example/a/\n", "img/a.png": "x"},
        "<img src=img/a.png><a href=http://h.example/a/b>",
    ),
    "what the page records precedes a shortcut": (f"{SAVED}<a href=x>", "p.html", {"p.url": INI}, f"{SAVED}<a href=http://h.example/a/x>"),
    "the data of ScrapBook give the URL of its page": (
        "<img src=i.png><a href=x>", "index.html", {"index.dat": f"id\t20080101\r\ntitle\tx\r\nsource\t{URL}\r\n", "i.png": "x"},
        "<img src=i.png><a href=http://h.example/a/x>",
    ),
    "the data of ArchiveBox give the URL of its page": (
        "<a href=x>", "output.html", {"index.json": f'{{"tags": [{{"url": "http://no.example/"}}], "url": "{URL}", "timestamp": "1262304000", "base_url": "h.example/a/p"}}'}, "<a href=http://h.example/a/x>",
    ),
    "other data are no data of ArchiveBox": ("<a href=x>", "output.html", {"index.json": f'{{"url": "{URL}", "base_url": "h.example/a/p"}}'}, "<a href=x>"),
}  # fmt: skip


@pytest.mark.parametrize("why", RULED)
def test_a_page_is_rewritten_by_the_files_around_it(tmp_path: Path, why: str) -> None:
    page, place, files, expected = RULED[why]
    assert changes(tmp_path, page, files, place) == expected


def test_a_site_whose_url_is_given_becomes_absolute(tmp_path: Path) -> None:
    page = "<img src=p_files/a.png><a href=b.html>"
    assert changes(tmp_path, page, SITE, url="http://h.example/a/") == page.replace("src=", "src=http://h.example/a/").replace("href=", "href=http://h.example/a/")


def test_pictures_of_another_host_are_beside_a_site(tmp_path: Path) -> None:
    for place in ("h.example/a.html", "c.example/i.png", "d/c.example/i.png"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    hosts = hosts_in(str(tmp_path))
    assert hosts.url_of("c.example/i.png") == "http://c.example/i.png"
    assert hosts.url_of("d/c.example/i.png") is None
    assert not hosts.is_index_of_saver("index.html")
    (tmp_path / "hts-log.txt").touch()
    assert hosts.is_index_of_saver("index.html")
    assert not any(map(hosts.is_index_of_saver, ("notes.html", "h.example/index.html")))
    assert hosts_in(str(tmp_path / "gone")).url_of("h.example/a.html") is None


def test_the_hosts_are_named_once_and_a_given_url_leaves_them_out(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"h{number:02}.example").mkdir()
        (tmp_path / f"h{number:02}.example" / "a.html").touch()
    notes: list[Diagnostic] = []
    found = list(inputs.named([str(tmp_path)], Origins(), Globs(), notes.append))
    assert [one.claim and one.claim.reference for one in found][:1] == ["http://h00.example/a.html"]
    (note,) = notes
    assert note.text.endswith(": h00.example, h01.example, h02.example, h03.example, h04.example, h05.example, h06.example,"
                              " h07.example, h08.example, h09.example and 2 more")  # fmt: skip
    given = list(inputs.named([str(tmp_path)], Origins("http://h/"), Globs(), notes.append))
    assert [one.claim and one.claim.reference for one in given][:1] == ["http://h/h00.example/a.html"]
    assert notes == [note]
