"""`absolve mirror` on small captures: files, links, edits, a part of the capture, a second run, what stays."""

import os
import sys
from pathlib import Path

import pytest
from packed import asked, tree, written

from absolve.cli import main, many
from absolve.mirror.map import WORKING, Working
from absolve.run.state import BESIDE
from tests.shapes import captures
from tests.terminals import in_terminal

HOME = captures.page("http://h/", b'<link rel=stylesheet href="/s.css"><a href="/b">b</a><img src=/gone.png><a href=//away/x>x</a>')
PAGES = HOME + captures.page("http://h/b", b'<a href="/">home</a>') + captures.page("http://h/s.css", b"p{color:red}", "text/css")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "c.warc"
    path.write_bytes(PAGES)
    return path


def mirrored(capture: Path, *more: str) -> int:
    return main(["mirror", str(capture), "-o", str(capture.parent / "m"), "-q", *more])


def state(root: Path) -> dict[str, tuple[bytes, int]]:
    return {name: (data, (root / name).stat().st_mtime_ns) for name, data in captures.files_below(root).items()}


def test_links_lead_to_files_or_to_the_web_and_a_second_run_writes_nothing(capture: Path) -> None:
    assert mirrored(capture) == 0
    root = capture.parent / "m"
    assert (root / "h/index.html").read_bytes() == (
        b'<link rel=stylesheet href="s.css"><a href="b.html">b</a><img src=http://h/gone.png><a href=http://away/x>x</a>'
    )
    files = {"http://h/": "h/index.html", "http://h/b": "h/b.html", "http://h/s.css": "h/s.css"}
    assert dict(asked(root, "SELECT url, path FROM resources")) == files
    missing = {("http://h/gone.png", "image"), ("http://away/x", "navigation")}
    assert set(asked(root, "SELECT url, kind FROM missing")) == missing
    assert main(["mirror", "--check", str(root), "-q"]) == 0
    before = state(root)
    assert mirrored(capture) == 0
    assert state(root) == before


def test_a_terminal_gets_no_line_that_is_too_long(capture: Path) -> None:
    argv = [sys.executable, "-m", "absolve", "mirror", str(capture), "-o", "m" * 50]
    _, text = in_terminal(["env", "-C", str(capture.parent), *argv], {**os.environ, "COLUMNS": "80"})
    assert "index.html" in text
    assert max(map(len, text.splitlines())) < 80


def test_the_working_copy_of_a_killed_run_leaves_nothing_beside_the_map(capture: Path) -> None:
    root = capture.parent / "m"
    root.mkdir()
    working = Working(root / WORKING)  # killed while it planned
    working.begin({"a": "b"})
    working.close()
    for suffix in BESIDE:
        (root / f"{WORKING}{suffix}").touch()
    assert mirrored(capture, "--resume") == 0
    assert {path.name for path in root.iterdir()} == {"h", "index.html", "mirror.sqlite"}


def test_only_files_whose_bytes_change_are_written_and_stale_ones_are_pruned(capture: Path) -> None:
    mirrored(capture)
    root = capture.parent / "m"
    before = state(root)
    (root / "own.txt").write_text("mine")
    capture.write_bytes(HOME + captures.page("http://h/b", b"<p>new</p>"))
    assert mirrored(capture, "--prune") == 0
    after = state(root)
    assert set(before) - set(after) == {"h/s.css"}
    assert after["h/b.html"] != before["h/b.html"]
    assert after["own.txt"][0] == b"mine"


def test_processes_that_start_before_the_plan_make_the_same_mirror(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = capture.parent / "m"
    for jobs in ("1", "2"):
        (root / "h").mkdir(parents=True)
        (root / "h/b.html").write_text("mine")
        monkeypatch.setattr(many, "WORTH_A_POOL", 0)
        assert mirrored(capture, "--jobs", jobs) == 3
        root.rename(capture.parent / jobs)
    one, two = ({name: data for name, (data, _) in state(capture.parent / jobs).items()} for jobs in "12")
    assert one == two
    assert one["h/b.html"] == b"mine"


def test_files_that_stay_are_named_up_to_twenty_and_then_counted(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (capture.parent / "m").mkdir()
    for number in range(23):
        (capture.parent / f"m/{number}.txt").write_text("mine")
    assert main(["mirror", str(capture), "-o", str(capture.parent / "m")]) == 0
    err = capsys.readouterr().err
    assert err.count(".txt: stays: ") == 20
    assert "note: stays: 3 more inputs (--verbose lists all)" in err


def test_a_page_without_a_url_is_named_if_it_has_links_that_need_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "a.html": "<a href=b.html>b</a> <a href=/b.html>b</a>",
        "b.html": "<a href=a.html>a</a> <a href=http://h/x>x</a> <a href=#/>f</a>",
        "c.html": "<a href=//h/x>x</a>", "d.html": "<a href=/x>x</a>",
    }
    command = ["mirror", str(written(tmp_path / "site", files)), "-o", str(tmp_path / "m")]
    for more, expected in (([], ["a.html", "c.html", "d.html"]), (["--url", "http://h/"], [])):
        assert main([*command, "-v", *more]) == 0
        lines = [line for line in capsys.readouterr().err.splitlines() if ": no-base: no URL is known: " in line]
        assert [line.partition(": no-base")[0].rpartition("/")[2] for line in lines] == expected
    assert main(command) == 0
    assert capsys.readouterr().err.count("warning: no-base: no URL is known for 3 pages: 3 in ./ (") == 1


def test_no_symbolic_link_leads_a_write_out_of_the_folder(capture: Path) -> None:
    for name in ("out", "m"):
        (capture.parent / name).mkdir()
    (capture.parent / "m/h").symlink_to(capture.parent / "out")
    assert mirrored(capture) == 3
    assert not list((capture.parent / "out").iterdir())


TAKEN = {
    "site --url-map urls.csv -o m --missing urls.csv": "is also an input", "--from list --url http://h/ -o m --missing list": "is also an input",
    "site -o q.zip --missing q.zip": "are the same file", "site -o m --missing m/mirror.sqlite": "is inside the mirror m",
    "site -o new --missing new/a.html": "is inside the mirror new", "site -o site/m": "separate folders", "site -o .": "separate folders",
    "site -o site": "is also an input",
    "site/a.html --url http://h/a.html -o site/a.html": "is also an input",
}


def test_no_output_takes_the_place_of_another_file_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").mkdir()
    files = {"site/a.html": "<a href=gone.html>x</a>", "urls.csv": "site/a.html,http://h/a.html\n", "list": "site/a.html\n"}
    written(tmp_path, files)
    for options, message in TAKEN.items():
        assert main(["mirror", *options.split()]) == 2
        assert message in capsys.readouterr().err
        assert captures.files_below(tmp_path) == {name: text.encode() for name, text in sorted(files.items())}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["list", "m", "site", "urls.csv"]
    out = ["-o", str(tmp_path / "n"), "--missing", os.devnull, "--save", os.devnull]  # two outputs may be one device
    assert main(["mirror", "site/a.html", "--url", "http://h/", *out]) == 0


LAZY = {  # what is held, and what is not
    "<img data-src='{}'>": "<img data-src='/none.png'>", "<img data-srcset='{0} 1x, {0} 2x'>": "<img data-srcset='/none.png 1x'>",
    "<div data-background='{}'></div>": "<div data-background='none.png'></div>", "<amp-img src='{}'></amp-img>": "<img data-original='/none.png'>",
    "<noscript><img data-src='{0}' src='{0}'></noscript>": "<a data-url=/none.png>",
    "<iframe data-src='{}'></iframe>": "<iframe data-src=//away/x></iframe>",
}  # fmt: skip


def test_a_lazy_link_leads_to_what_is_held_and_to_the_web_otherwise(tmp_path: Path) -> None:
    pages = [captures.page("http://h/d/i.png", b"\x89PNG\r\n\x1a\n", "image/png")]
    for number, (held, absent) in enumerate(LAZY.items()):
        pages.append(captures.page(f"http://h/{number}.html", f"<meta charset=utf-8>{held.format('/d/i.png')}{absent}".encode()))
    capture = tmp_path / "c.warc"
    capture.write_bytes(b"".join(pages))
    assert mirrored(capture) == 0
    for number, held in enumerate(LAZY):
        text = (tmp_path / f"m/h/{number}.html").read_text()
        assert text.startswith(f"<meta charset=utf-8>{held.format('d/i.png')}")
        assert "http://" in text
    assert main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_the_charset_of_a_header_reaches_who_reads_the_files_from_a_disk(tmp_path: Path) -> None:
    responses = [
        ("", "text/html; charset=utf-8", "<meta charset=utf-8><link rel=stylesheet href=s.css><script src=s.js></script><a href=t.txt><a href=u.txt>"),
        ("s.css", "text/css; charset=windows-1251", "p::before { content: '\u0444' }"),
        ("s.js", "text/javascript; charset=windows-1251", "alert('\u0444')"), ("t.txt", "text/plain; charset=utf-8", "\u0444"),
        ("u.txt", "text/plain; charset=windows-1251", "\u0444"),
    ]
    data = b"".join(captures.page(f"http://h/{name}", text.encode(kind.partition("=")[2]), kind) for name, kind, text in responses)
    (tmp_path / "c.warc").write_bytes(data)
    assert mirrored(tmp_path / "c.warc") == 0
    found = {name: (tmp_path / "m/h" / name).read_bytes() for name in ("index.html", "s.css", "s.js", "t.txt", "u.txt")}
    assert b'<script charset="windows-1251" src=s.js>' in found["index.html"]
    assert found["s.css"].startswith(b'@charset "windows-1251";p')
    assert (found["s.js"], found["t.txt"], found["u.txt"]) == (b"alert('\xf4')", b"\xef\xbb\xbf\xd1\x84", b"\xf4")
    query = "SELECT path FROM notes WHERE code = 'charset' ORDER BY path"
    assert asked(tmp_path / "m", query) == [("h/index.html",), ("h/s.css",), ("h/t.txt",), ("h/u.txt",)]


# --- a mirror of a part of a capture ----------------------------------------------------------------------------------

PAGES_REACH = {
    "h/": "<link rel=stylesheet href=s.css><a href=/a>a</a><iframe src=f></iframe><a href=http://o.example/>o</a><a href=/old>b</a>",
    "h/s.css": "p{background:url(/p.png)}", "h/p.png": "", "h/f": "<img data-src=q.png>", "h/q.png": "",
    "h/a": "<a href=/a/deep>d</a><a href=/a>a</a>", "h/a/deep": "<a href=/>home</a>", "h/b?x": "<p>b", "o.example/": "<script src=/j.js></script>",
    "o.example/j.js": "", "h/alone": "<a href=/>home</a>",
}
TYPES = {"s.css": "text/css", "p.png": "image/png", "q.png": "image/png", "j.js": "text/javascript"}
SHOWN = {"h/index.html", "h/s.css", "h/p.png", "h/f.html", "h/q.png"}
ALL = {*SHOWN, "h/a.html", "h/a/deep.html", "h/b_x.html", "o.example/index.html", "o.example/j.js"}


def part(root: Path, *more: str) -> tuple[int, set[str]]:
    data = captures.page("http://h/old", b"", status=301, location="/b?x")
    for name, text in PAGES_REACH.items():
        media_type = TYPES.get(name.rpartition("/")[2], "text/html")
        data += captures.page(f"http://{name}", f"<meta charset=utf-8>{text}".encode(), media_type)
    (root / "c.warc").write_bytes(data)
    code = main(["mirror", str(root / "c.warc"), "-o", str(root / "m"), "-q", *more])
    return code, {path.partition("~")[0] + (".html" if "~" in path else "") for path in tree(root / "m")}


@pytest.mark.parametrize(("more", "expected"), [
    (["--start", "http://h/", "--depth", "0"], SHOWN), (["--start", "http://h/", "--depth", "1"], ALL - {"h/a/deep.html"}),
    (["--start", "https://h/#x"], ALL), (["--start", "http://h/old"], {"h/b_x.html"}),
    (["--start", "http://h/alone", "--depth", "1"], {*SHOWN, "h/alone.html"}),
    (["--start", "http://h/", "--exclude", "o.example"], {path for path in ALL if path.startswith("h/")}),
    (["--include", "*.example"], {"o.example/index.html", "o.example/j.js"}),
    (["--include", "http://h/a/**"], {"h/a/deep.html"}), (["--include", "h/a/"], {"h/a/deep.html"}),
    (["--include", "a"], {"h/a.html", "h/a/deep.html"}), (["--include", "b"], {"h/b_x.html"}), (["--include", "h/b[?]x"], {"h/b_x.html"}),
    (["--include", "*.png", "--exclude", "/p*"], {"h/q.png"}), (["--exclude", "**"], set()),
])
def test_the_part_that_is_chosen_is_held(tmp_path: Path, more: list[str], expected: set[str]) -> None:
    code, found = part(tmp_path, *more)
    assert (code, found) == (0 if expected else 3, expected)
    assert not expected or main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_files_of_a_folder_are_chosen_by_path_or_by_url(tmp_path: Path) -> None:
    written(tmp_path / "in", {"d/a.html": "", "d/b.css": "", "e/a.html": ""})
    for more, expected in ((["--include", "d/*.html"], {"h/x/d/a.html"}), (["--include", "h/x/e"], {"h/x/e/a.html"}), (["--exclude", "d"], {"h/x/e/a.html"})):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        assert main(["mirror", str(tmp_path / "in"), "-o", str(out), "-q", "--url", "http://h/x/", *more]) == 0
        assert set(tree(out)) == expected


@pytest.mark.parametrize("more", [["--start", "http://none/"], ["--depth", "1"]])
def test_a_part_that_cannot_be_chosen_is_a_wrong_use(tmp_path: Path, more: list[str]) -> None:
    assert part(tmp_path, *more)[0] == 2
