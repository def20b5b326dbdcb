"""Whole folders and lists: which files are processed, where results go, and the same results with several processes."""

import json
import os
import stat
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, PAGE, Runner

from absolve.cli import many
from tests.shapes.captures import files_below, written

URL = "http://h/d/"
LINK = b"<!DOCTYPE html><a href=x.html>"
PNG = b"\x89PNG\r\n\x1a\n\0\0<a href=x>"
FILES = {
    "index.html": LINK, "a/page.html": PAGE, "a/style.css": b"a { background: url(i.png) }", "a/i.png": PNG,
    "a/program.js": b"document.write('<a href=x>')", "a/note": b"<a href=x> a page without a name that says so", "a/text": b"1 < 2, and href=x",
    "e/broken.html": b"\x7fELF\x02\x01\x01\0",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder with documents and other files; the working folder is its parent."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "site", FILES)


@pytest.fixture(params=[1, 2])
def jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Yield the option for one process and for two, which so few small files would not get by default."""
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    return f"--jobs={request.param}"


def test_the_documents_of_a_folder_are_listed_and_other_files_are_skipped(absolve: Runner, site: Path, jobs: str) -> None:
    done = absolve("links", "site", "--url", URL, jobs)
    rows = [json.loads(line) for line in done.lines]
    assert [(row["document"], row["target"]) for row in rows] == [
        ("site/a/note", "http://h/d/a/x"), ("site/a/page.html", "http://h/d/x.html?a&b"), ("site/a/page.html", "http://g/"),
        ("site/a/style.css", "http://h/d/a/i.png"), ("site/index.html", "http://h/d/x.html"),
    ]
    assert done.status == 3
    assert "error: site/e/broken.html: unknown-media-type: " in done.err
    assert site.is_dir()


def test_a_url_stated_in_the_page_precedes_the_folder_of_a_host(absolve: Runner, tmp_path: Path) -> None:
    written(tmp_path / "mirror/www.example.com", {"a.html": LINK, "b.html": PAGE})
    rows = [json.loads(line) for line in absolve("links", tmp_path / "mirror").lines]
    assert [row["base_source"] for row in rows] == ["host folder", *["saved from url comment, line 1"] * 2]
    assert rows[0]["target"] == "http://www.example.com/x.html"


@pytest.mark.usefixtures("site")
def test_a_list_names_files_in_their_order_from_a_file_or_the_standard_input(absolve: Runner) -> None:
    Path("list").write_bytes(b"site/index.html\0site/a/note\0")
    rows = absolve("links", "--from", "list", "--url", URL).lines
    assert [json.loads(row)["document"] for row in rows] == ["site/index.html", "site/a/note"]
    assert json.loads(rows[1])["target"] == "http://h/d/site/a/x"
    assert absolve("links", "--from", "-", "--url", URL, stdin=b"site/index.html\nsite/a/note\n").lines == rows


def test_a_copy_of_a_folder_has_its_layout_its_other_files_modes_and_times(absolve: Runner, site: Path, jobs: str) -> None:
    for name in ("a/i.png", "a/page.html"):
        (site / name).chmod(0o640)
        os.utime(site / name, ns=(10**18, 10**18))
    done = absolve("rewrite", "site", "--url", URL, "-o", "out/copy", jobs)
    assert (done.status, done.out) == (3, b"")
    expected = dict(FILES)
    del expected["e/broken.html"]
    expected["index.html"] = LINK.replace(b"x.html", b"http://h/d/x.html")
    expected["a/page.html"] = PAGE.replace(b"'x", b"'http://h/d/x")
    expected["a/style.css"] = b"a { background: url(http://h/d/a/i.png) }"
    expected["a/note"] = FILES["a/note"].replace(b"x>", b"http://h/d/a/x>")
    assert files_below(Path("out/copy")) == expected
    for state in (Path("out/copy/a/i.png").stat(), Path("out/copy/a/page.html").stat()):
        assert (stat.S_IMODE(state.st_mode), state.st_mtime_ns) == (0o640, 10**18)
    assert files_below(site) == FILES


def test_in_place_only_what_changes_is_written_and_backups_are_no_inputs(absolve: Runner, site: Path, jobs: str) -> None:
    (site / "link.html").symlink_to("index.html")
    for _ in "12":
        assert absolve("rewrite", "site", "--url", URL, "--in-place", "--backup", ".orig", jobs).status == 3
    found = files_below(site)
    changed = {place for place in FILES if found[place] != FILES[place]}
    assert changed == {"index.html", "a/page.html", "a/style.css", "a/note"}
    assert {place for place in found if place.endswith(".orig")} == {f"{place}.orig" for place in changed}
    assert all(found[f"{place}.orig"] == FILES[place] for place in changed)
    assert (site / "link.html").is_symlink()


def test_in_place_another_hard_link_keeps_the_old_bytes(absolve: Runner, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/page.html").write_bytes(PAGE)
    (tmp_path / "kept.html").hardlink_to(tmp_path / "site/page.html")
    assert absolve("rewrite", "--in-place", tmp_path / "site").status == 0
    assert (tmp_path / "site/page.html").read_bytes() == ABSOLUTE
    assert (tmp_path / "kept.html").read_bytes() == PAGE


@pytest.mark.usefixtures("site")
def test_files_of_a_folder_that_are_not_read_are_counted_by_kind(absolve: Runner, jobs: str) -> None:
    for command in (["rewrite", "-o", "out"], ["rewrite", "--dry-run"], ["links"], ["links", "-f", "csv"]):
        absolve(command[0], "site", "--url", URL, *command[1:], jobs)
        are = {"out": "copied as is", "--dry-run": "left as is"}.get(command[-1], "not read")
        assert f"; 3 files {are}: 1 .png, 1 .js, 1 of no known suffix;" in absolve.summary
    done = absolve("rewrite", "site", "-o", "out2", "--url", URL, "--verbose", jobs)
    assert f"note: {Path('site/a/i.png')}: not-read: .png: no kind that absolve reads" in done.err.splitlines()


def test_scripts_that_name_a_source_map_are_documents(absolve: Runner, tmp_path: Path, jobs: str) -> None:
    code = b"var a;\n" * 2000
    named = {"a.js": code + b"//# sourceMappingURL=a.js.map\n", "b.js": code}
    for name, data in named.items():
        (tmp_path / name).write_bytes(data)
    out = tmp_path.with_name("out-of-scripts")
    absolve("rewrite", tmp_path, "-o", out, "--url", URL, jobs)
    assert absolve.summary == "no link changed: 1 in 1 document left as is; 1 file copied as is: 1 .js"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == named


def test_parts_of_messages_that_are_not_read_are_counted_by_kind(absolve: Runner, tmp_path: Path) -> None:
    page = tmp_path / "a.eml"
    page.write_bytes(
        b"Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: application/pkcs7-mime\n\nMII=\n--B\n"
        b"Content-Type: text/rtf\n\nx\n--B\nContent-Type: image/png\n\nx\n--B\nContent-Type: text/html\n"
        b"Content-Transfer-Encoding: x-uu\n\nx\n--B--\n"
    )
    absolve("links", page)
    assert "3 message parts not read: 1 encrypted, 1 text/rtf, 1 encoding 'x-uu'" in absolve.summary


def test_a_url_for_a_folder_is_for_pages_that_record_none_and_others_are_counted(absolve: Runner, tmp_path: Path) -> None:
    saved = "<!-- saved from url=(0029)http://other.example/x/a.html --><a href=x>", "<!-- saved from url=(0017)http://h/d/b.html --><a href=x>"
    site = written(tmp_path / "site", {"a.html": saved[0], "b.html": saved[1], "c.html": "<a href=x>"})
    done = absolve("links", site, "--url", URL, "--columns", "target", "-f", "csv")
    assert (done.err, done.lines) == ("", ["target", "http://other.example/x/x", f"{URL}x", f"{URL}x"])
    assert "1 page records another URL, which rules: 'http://other.example/x/a.html'" in absolve.summary
    assert absolve("links", site / "a.html", "--url", URL, "--columns", "target", "-f", "csv").lines == ["target", f"{URL}x"]
    text = "--url overrules what the page records (saved from url comment): 'http://other.example/x/a.html'"
    assert f"warning: {site / 'a.html'}:1: overruled: {text}\n" in absolve("check", site, "--url", URL).err


def test_rows_of_tables_that_meet_nothing_are_counted(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules = "http://h/,https://n/\nhttp://never/,https://n/\nhttp://(.*)/z,https://n/,regex\n"
    written(tmp_path, {"site/a.html": "<a href=x>", "urls.csv": f"path,URL\nsite/a.html,{URL}\nzz.html,{URL}\n", "rules.csv": rules})
    tables = ["--url-map", "urls.csv", "--remap", "@rules.csv"]
    absolve("rewrite", "site", "-o", "out", *tables)
    assert "2 of 3 rows of rules.csv met no link (lines 2, 3); 1 of 2 rows of urls.csv met no input (line 3)" in absolve.summary
    done = absolve("rewrite", "site", "-o", "out", *tables, "-v")
    assert [line for line in done.err.splitlines() if "unmet" in line] == [
        "warning: rules.csv:2: unmet: this row met no link",
        "warning: rules.csv:3: unmet: this row met no link",
        "warning: urls.csv:3: unmet: this row met no input",
    ]


def test_a_url_of_a_page_for_a_folder_is_questioned(absolve: Runner, tmp_path: Path) -> None:
    site = written(tmp_path / "site", {"a.html": "<a href=x>"})
    for url, folder in (("http://h/a/index.HTML", "http://h/a/"), ("http://h/p.php", "http://h/")):
        for command in (["links"], ["check"], ["audit", "--old", site, "--old-url", url], ["mirror", "-o", tmp_path / "m"]):
            assert absolve(*command, site, "--url", url).err.count(f" and {url} the URL of a page: did you mean {folder}?") == 1
        assert "page-url" not in absolve("links", site, "--url", folder).err
    for other in ("http://h.html", "http://h.html/", "http://h/v1.0", "http://h/html"):
        assert "page-url" not in absolve("links", site, "--url", other).err
    assert "page-url" not in absolve("links", site / "a.html", "--url", "http://h/a.html").err


def test_a_name_with_a_blank_that_is_not_quoted_is_recognized(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path, {"a.html": "", "My Saved Pages/a.html": "", "Pages": ""}))
    done = absolve("rewrite", "a.html", "My", "Saved", "Pages/a.html", "-o", "out")
    assert done.status == 2
    assert done.err.startswith("error: usage: My and Saved and Pages/a.html do not exist, but 'My Saved Pages/a.html' does\n")
    assert "hint: quote the name: 'My Saved Pages/a.html'\n" in done.err
    assert absolve("links", "a.html", "Pages").status == 0


UNMET = {  # command and options -> the notes about those that met nothing, and no other
    "rewrite site -o out --kind image": ["empty-selection: no link is selected by --kind image"],
    "rewrite site -n --kind navigation,image": [],
    "rewrite site -o out --remap http://h/=http://n/ --remap http://o/=http://n/ --unwrap wayback": [
        "--unwrap: unmet: no link matches 'wayback'", "--remap: unmet: no link matches 'http://o/=http://n/'",
    ],
    "rewrite site --in-place --exclude b": ["--exclude: unmet: no name matches 'b': a glob is for a whole name, as '*b*'"],
    "links site --include *.html --include *.htm": ["--include: unmet: no name matches '*.htm'"],
    "documents site --include *.htm": ["site: no-input: no file in it is selected by --include '*.htm'"],
    "mirror site -o made --include *.html --include d/ --exclude *.htm": ["--exclude: unmet: no name matches '*.htm'"],
    "check site --fix --exclude *.htm": ["--exclude: unmet: no name matches '*.htm'"],
    "mirror site -n --include *.html --exclude *.htm": ["--exclude: unmet: no name matches '*.htm'"],
    "mirror site -o none --include *.htm": ["--include: unmet: no name matches '*.htm'", "none: no-document: "],
}  # fmt: skip


def test_an_option_that_meets_nothing_is_named(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command, notes in UNMET.items():
        written(tmp_path, {"site/a.html": "<a href=x>", "site/d/c.html": "<a href=../A.html>"})
        lines = absolve(*command.split(), "--url", "http://h/").err.splitlines()
        found = [line.partition(": ")[2] for line in lines if line.startswith(("note: ", "warning: ", "error: "))]
        assert len(found) == len(notes), (command, found)
        assert all(map(str.startswith, found, notes)), (command, found)


@pytest.mark.parametrize(("option", "row"), [
    ("--url-map=", "a.html,mailto:a@b"), ("--url-map=", "a.html,b.html"), ("--remap=@", r"http://h/(.*),/new/\1,regex"),
    ("--remap=@", "http://a,http://b,exact,more"), ("--remap=@", "a,http://b"), ("--remap=@", "(,http://b,regex"),
    ("--remap=@", "(?=a)b,http://n/,regex"), ("--remap=@", "http://x,http://y\nhttp://a"), ("--remap=@", "PK\x03\x04 of a workbook of another kind"),
    ("--remap=@", ""), ("--remap=@", "http://o/a,javascript:alert(1)"), ("--remap=@", r"http://o/(.*),JavaScript://x/\1,regex"),
    ("--url-map=", "a.html,http://h/2\n./a.html,http://h/1"),
])
def test_rows_that_can_never_work_are_refused(absolve: Runner, tmp_path: Path, option: str, row: str) -> None:
    (tmp_path / "a.html").write_bytes(b"<a href=x>")
    table = tmp_path / "t.csv"
    table.write_text(row)
    done = absolve("rewrite", tmp_path / "a.html", f"{option}{table}")
    assert (done.status, done.err.startswith(f"error: usage: {table}:{row.count(chr(10)) + 1}: ")) == (2, True)


@pytest.mark.parametrize(("table", "link", "expected"), [
    ("source,target,regex,code\n^/a/(.*)\\.html,/b/$1/,1,301\n", "/a/c.html?x=1#f", "https://n/b/c/?x=1#f"),
    ("source,target,regex,code\n^/a/(.*)\\.html,/b/$1/,1,301\n", "/z/a/c.html", "https://n/z/a/c.html"),
    ("source,target,regex,code\nc(.)\\.html$,/b/$1/,1,301\n", "/a/c1.html", "https://n/b/1/"),
    ("Origin,Target,Type,Format\n^(a|c)\\.html$,d/,301,regex\n", "/c.html", "https://n/d/"),
    ("/a/*,//m.example/b/:splat\n", "/a/c?x", "https://m.example/b/c?x"),
    ("//n/a*,http://m.example/\n", "/abc", "http://m.example/"),
])
def test_patterns_for_paths_are_those_of_the_host_of_the_url(absolve: Runner, tmp_path: Path, table: str, link: str, expected: str) -> None:
    (tmp_path / "a.html").write_text(f"<a href='{link}'>")
    (tmp_path / "t.csv").write_text(table)
    done = absolve("rewrite", tmp_path / "a.html", "--url", "https://n/", "--remap", f"@{tmp_path / 't.csv'}")
    assert (done.status, done.out.decode()) == (0, f"<a href='{expected}'>")


@pytest.mark.parametrize(("name", "text"), [(".htaccess", "Redirect /a /b\n"), ("_redirects", "/a /b 301\n"), ("n.conf", "server { return 301 https://n/; }\n")])
def test_a_file_with_the_redirects_of_a_server_is_named_as_one_for_audits(absolve: Runner, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "a.html").write_bytes(b"<a href=x>")
    (tmp_path / name).write_text(text)
    done = absolve("rewrite", tmp_path / "a.html", "--url", "https://n/", "--remap", f"@{tmp_path / name}")
    assert (done.status, "absolve audit --map reads it" in done.err) == (2, True)


def test_what_is_none_of_a_site_is_neither_read_nor_copied(absolve: Runner, tmp_path: Path) -> None:
    site = tmp_path / "own"
    pages = ("index.html", ".git/a.html", "hts-cache/a.html", "node_modules/q/a.html")
    written(site, dict.fromkeys(pages, b"<a href=x>") | {".htaccess": b""})
    done = absolve("rewrite", site, "-o", tmp_path / "out", "--url", "http://h.example/", "--verbose")
    assert [line.partition(": no part")[0] for line in done.err.splitlines() if "of-saver" in line] == [
        f"note: {site / '.git'}: of-saver: hidden",
        f"note: {site / 'hts-cache'}: of-saver: HTTrack",
    ]
    assert files_below(tmp_path / "out") == {"index.html": b"<a href=http://h.example/x>", ".htaccess": b"", "node_modules/q/a.html": b"<a href=x>"}
    assert absolve("verify", site, tmp_path / "out", "--url", "http://h.example/").status == 0
    assert len(absolve("links", site, "--hidden", "--columns", "reference").out.splitlines()) == 4
