"""`absolve rewrite --undo`: each file gets back the bytes that it had before the rewrite of a log, or stays."""

import base64
import json
import re
from pathlib import Path

import pytest
from command_runner import Runner

from tests.shapes import captures

URL = ("--url", "http://h/d/")
MAIL = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n%b\r\n%b\r\n--b--\r\n"
BASE64 = base64.encodebytes(b"<a href=x>x</a><img src=y>" * 9).replace(b"\n", b"\r\n")
QUOTED = b'<a href=3D"a=\r\nb">x</a><p style=3D"background: url(a\\20 b)">' + b"x" * 12 + b"<img src=3D=22=2Fx=22>"
FILES = {
    "a.html": b"<a  HREF=x>x</a><img src='i.png'>",
    "quoted.html": b"<a href=x?a=b&amp;c=d srcset='a 1x,b 2x'><iframe srcdoc='<a href=&quot;y&quot;>'></iframe>",
    "latin.html": b"<meta charset=latin1><a href=caf\xe9&#x2f;>x</a><meta http-equiv=refresh content='0; URL=\xe9'>",
    "wide.html": "\ufeff<a href='x'>x</a>".encode("utf-16-le"),
    "a.css": b"@import 'x'; p { background: url( a\\62 c ) }",
    "a.eml": MAIL % (b"Content-Transfer-Encoding: base64\r\n", BASE64),
    "b.eml": MAIL % (b"Content-Transfer-Encoding: quoted-printable\r\n", QUOTED),
    "http.txt": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\n<a href=x>",
    "a.har": captures.har(captures.entry("http://h/p", "<a href=x>x</a>")),
    "a.zip": captures.zipped({"p/a.html": b"<a href=x>", "p/b.css": b"p{background:url(x)}"}),
    "none.html": b"<a href=http://h/>",
    "b.bin": b"\x00\x01",
}


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        Path("site/sub").mkdir(parents=True, exist_ok=True)
        Path("site/sub", name).write_bytes(data)


@pytest.mark.parametrize(
    ("log", "more"), [("c.csv", ("--csv-safe",)), ("c.tsv", ()), ("c.json", ("--remap", "//h=//g")), ("c.jsonl", ("-j2",))]
)
def test_every_file_gets_back_its_bytes(
    absolve: Runner, log: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("absolve.cli.many.WORTH_A_POOL", 1)
    absolve("rewrite", "site", *URL, "-o", "out", "--log", log, *more)
    counted = re.findall(r"[\d,]+ links in [\d,]+ (?:of [\d,]+ )?documents changed", absolve.summary)[0]
    counted = re.sub(r" of [\d,]+", "", counted)
    changed = captures.files_below(Path("out"))
    assert sum(changed[f"sub/{name}"] != data for name, data in FILES.items()) >= 9
    done = absolve("rewrite", "out", "--undo", log, "-o", "back")
    assert done.status == 0, done.err
    assert absolve.summary == counted.replace("changed", "restored")
    assert captures.files_below(Path("back")) == captures.files_below(Path("site"))
    assert absolve("rewrite", "out", "--in-place", "--undo", log).status == 0
    assert captures.files_below(Path("out")) == captures.files_below(Path("site"))
    assert absolve("rewrite", "out", "--in-place", "--undo", log).status == 0  # nothing is left to undo
    assert "no link restored" in absolve.summary


def test_pages_that_became_equal_get_back_their_bytes_by_their_paths(absolve: Runner) -> None:
    pages = {"a.html": b"<a href=x>", "b.html": b"<a href=http://h/d/x>", "c.html": b"<a href=/d/x>", "d.html": b"<a href=/d/x>"}
    for name, data in pages.items():
        Path("equal").mkdir(exist_ok=True)
        Path("equal", name).write_bytes(data)
    absolve("rewrite", "equal", "--url", "http://h/d/", "-o", "out", "--log", "c.csv")
    assert absolve("rewrite", "out", "--undo", "c.csv", "-o", "back").status == 0
    assert captures.files_below(Path("back")) == pages
    assert "rows of" not in absolve.summary


def test_a_file_that_has_changed_since_stays_and_is_reported(absolve: Runner) -> None:
    absolve("rewrite", "site", *URL, "-o", "out", "--log", "c.csv")
    Path("out/sub/a.html").write_bytes(b"new")
    assert "error: out/sub/a.html: not-undone: it has changed" in absolve("rewrite", "out", "--in-place", "--undo", "c.csv").err
    assert "rows of" not in absolve.summary
    assert Path("out/sub/a.html").read_bytes() == b"new"
    assert Path("out/sub/a.css").read_bytes() == FILES["a.css"]


def test_user_information_is_no_part_of_a_log_that_masks_it(absolve: Runner) -> None:
    Path("p.html").write_bytes(page := b"<a href=http://u:secret@old/>")
    for more, undone in (((), 3), (("--show-credentials",), 0)):
        absolve("rewrite", "p.html", "--remap", "http://u:secret@old=http://new", "-o", "o.html", "--log", "c.csv", *more)
        assert ("secret" in Path("c.csv").read_text()) == bool(more)
        done = absolve("rewrite", "o.html", "--undo", "c.csv", "-o", "back.html")
        assert (done.status, Path("back.html").exists()) == (undone or 0, not undone)
    assert Path("back.html").read_bytes() == page


def test_an_archive_is_refused(absolve: Runner) -> None:
    Path("a.warc").write_bytes(captures.page("http://h/", b"<a href=x>"))
    absolve("rewrite", "a.warc", "-o", "b.warc", "--log", "c.csv")
    absolve("rewrite", "a.warc", "--in-place")
    done = absolve("rewrite", "a.warc", "--undo", "c.csv", "--in-place")
    assert (done.status, "it is an archive" in done.err) == (3, True)


@pytest.mark.parametrize(
    "change",
    [
        {"undo": "9+18=%00"}, {"undo": "9999999+1="}, {"undo": "9+18="}, {"undo": "x"}, {"before": "00"}, {"undo": ""},
        {"undo": "0+1= 0+1="},
    ],
    ids=str,
)  # fmt: skip
def test_a_log_that_was_edited_changes_nothing(absolve: Runner, change: dict[str, str]) -> None:
    Path("p.html").write_bytes(b"<a href='x'>x</a>")
    absolve("rewrite", "p.html", *URL, "--in-place", "--log", "c.jsonl")
    after = Path("p.html").read_bytes()
    Path("c.jsonl").write_text(json.dumps(json.loads(Path("c.jsonl").read_text()) | change))
    done = absolve("rewrite", "p.html", "--in-place", "--undo", "c.jsonl")
    assert (done.status, "not-undone" in done.err, Path("p.html").read_bytes()) == (3, True, after)


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", "document,before,after,undo\n", "[1]", '[{"document": 1}]', "[" * 100_000, "\0", "document\nx\n"],
)
def test_a_file_that_is_no_log_is_refused_before_anything_is_read(absolve: Runner, text: str) -> None:
    for name in ("c.csv", "c.json", "c.jsonl"):
        Path(name).write_text(text)
        done = absolve("rewrite", "site", "--in-place", "--undo", name)
        assert (done.status, f"--undo {name}: " in done.err) == (2, True)


def test_an_undo_is_counted_and_shown_without_writing(absolve: Runner) -> None:
    absolve("rewrite", "site/sub/a.html", *URL, "-o", "o.html", "--log", "c.csv")
    before = Path("o.html").read_bytes()
    assert absolve("rewrite", "o.html", "--in-place", "--undo", "c.csv", "--dry-run").lines == ["o.html: 2 links, 2 would change"]
    assert b"+" + FILES["a.html"] in absolve("rewrite", "o.html", "--in-place", "--undo", "c.csv", "--diff").out
    assert Path("o.html").read_bytes() == before


def test_a_file_of_the_log_that_is_missing_from_the_folder_is_named_though_an_equal_one_is_there(absolve: Runner) -> None:
    Path("s").mkdir()
    for name in ("a.html", "b.html"):
        Path("s", name).write_bytes(b"<a href=x>")
    absolve("rewrite", "s", "--in-place", *URL, "--log", "c.csv")
    Path("s/b.html").unlink()
    absolve("rewrite", "s", "--in-place", "--undo", "c.csv")
    assert "1 of 2 rows of c.csv met no input (line 3)" in absolve.summary
