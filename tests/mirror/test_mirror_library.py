"""`absolve.mirror`: the files and the map are those of the command, for paths, documents and bytes."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import absolve
from absolve import Document
from absolve.cli import main
from absolve.cli.option_table import for_command
from absolve.mirror.library import OPTIONS
from absolve.run.output_folder import alone
from tests.shapes import captures
from tests.shapes.captures import entry, har, mhtml, page

CAPTURE = page("http://h/", b"<title>T</title><a href=/b><img src=/no.png>") + page("http://h/b", b"<p>")


def rows(folder: Path, table: str) -> list[Any]:
    statement = {"missing": "SELECT * FROM missing ORDER BY count DESC, url", "notes": "SELECT * FROM notes"}[table]
    return sqlite3.connect(folder / "mirror.sqlite").execute(statement).fetchall()


def test_a_mirror_is_that_of_the_command_and_its_rows_are_those_of_the_map(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.warc").write_bytes(CAPTURE)
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "a"), "-q"]) == 0
    capfd.readouterr()
    made = absolve.mirror(tmp_path / "c.warc", tmp_path / "b")
    assert capfd.readouterr() == ("", "")
    assert captures.files_below(tmp_path / "a") == captures.files_below(tmp_path / "b")
    assert (made.files, [one.url for one in made.pages]) == (2, ["http://h/", "http://h/b"])
    assert [tuple(one) for one in made.missing] == rows(tmp_path / "b", "missing")
    assert sorted(one.code for one in made.notes) == sorted(row[3] for row in rows(tmp_path / "b", "notes"))
    assert repr(made).startswith("<Mirror ")


def test_documents_bytes_and_paths_are_one_capture(tmp_path: Path) -> None:
    (tmp_path / "c.warc").write_bytes(page("http://h/path", b"<a href=/text><a href=/bytes><a href=/header>"))
    text = Document("<a href=path>\u20ac</a>", url="http://h/text")
    header = {"Content-Type": "text/html; charset=latin-1", "Content-Encoding": "gzip", "Content-Base": "http://h/d/"}
    other = Document(b"<a href=../text>\xe9</a>", url="http://h/header", headers=header)
    made = absolve.mirror([tmp_path / "c.warc", text, page("http://h/bytes"), other], str(tmp_path / "m"))
    assert [one.url for one in made.pages] == [f"http://h/{name}" for name in ("bytes", "header", "path", "text")]
    assert [*made.missing, *made.failures] == []
    files = captures.files_below(tmp_path / "m")
    assert files["h/text.html"] == '<meta charset="utf-8"><a href=path.html>\u20ac</a>'.encode()
    assert b"<a href=text.html>\xe9</a>" in files["h/header.html"]


def test_what_cannot_be_read_is_a_failure_and_the_rest_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        (tmp_path / f"{name}.warc").write_bytes(page(f"http://h/{name}"))
    heard: list[absolve.Diagnostic] = []
    with monkeypatch.context() as patch:  # an archive that is given by its path is never held in memory
        patch.setattr(Path, "read_bytes", lambda _: pytest.fail("a whole file was read"))
        made = absolve.mirror([str(tmp_path / "*.warc"), b"PK\3\4broken"], tmp_path / "m", on_diagnostic=heard.append)
    assert (made.files, [(one.name, one.failed) for one in made.failures]) == (2, [("input-2", True)])
    assert made.diagnostics == heard
    for data in (b"PK\3\4broken", b"", b"\x1f\x8b\x08\xff damaged"):
        with pytest.raises(absolve.DocumentError, match=r"^input-1: "):
            absolve.mirror([data], tmp_path / "n", on_diagnostic=lambda _: None)
    with pytest.raises(absolve.UsageError, match="a glob matches nothing"):
        absolve.mirror(str(tmp_path / "*.har"), tmp_path / "n")
    assert not (tmp_path / "n").exists()


def test_no_mirror_is_written_over_its_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site").mkdir()
    for name in ("site/a.html", "c.zip"):
        Path(name).write_bytes(b"<a href=b>")
    for output in ("site/a.html", "site", ".", "c.zip", ""):
        with pytest.raises(absolve.UsageError, match=r"input|no name"):
            absolve.mirror(["site", "c.zip"], output, url="http://h/")
    assert captures.files_below(tmp_path) == {"site/a.html": b"<a href=b>", "c.zip": b"<a href=b>"}


def test_two_runs_into_one_folder_do_not_meet(tmp_path: Path) -> None:
    with alone(str(tmp_path)), pytest.raises(absolve.UsageError, match="another run writes into"):
        absolve.mirror([CAPTURE], tmp_path)
    assert captures.files_below(tmp_path) == {}
    assert absolve.mirror([CAPTURE], tmp_path).files == 2


WRONG: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "a missing file": (lambda out: absolve.mirror("none.warc", out), absolve.MissingFileError, "none.warc: not-found"),
    "text of a page": (lambda out: absolve.mirror("<a href=x>", out), absolve.MissingFileError, "the text of a document"),
    "a URL": (lambda out: absolve.mirror("http://h/", out), absolve.UsageError, "absolve.fetch"),
    "a number": (lambda out: absolve.mirror(3, out), TypeError, "takes paths, documents and bytes"),  # type: ignore[arg-type]
    "numbers": (lambda out: absolve.mirror([3], out), TypeError, "not int"),  # type: ignore[list-item]
    "no output": (lambda _: absolve.mirror([CAPTURE], None), TypeError, "output must be a path"),  # type: ignore[arg-type]
    "a word": (lambda out: absolve.mirror([CAPTURE], out, absent="hots"), absolve.UsageError, "absent must be keep or sever"),  # type: ignore[arg-type]
    "a depth": (lambda out: absolve.mirror([CAPTURE], out, depth=1), absolve.UsageError, "start="),
    "an option": (lambda out: absolve.mirror([CAPTURE], out, redirects=1), TypeError, "no option 'redirects'"),  # type: ignore[call-arg]
    "jobs": (lambda out: absolve.mirror([CAPTURE], out, jobs=0), absolve.UsageError, "jobs must be"),
    "a format": (lambda out: absolve.mirror([CAPTURE], out / "m.html"), absolve.UsageError, "start= URL names the page"),
}


def test_a_wrong_call_is_answered_and_writes_nothing(tmp_path: Path) -> None:
    for call, kind, text in WRONG.values():
        with pytest.raises(kind, match=text):
            call(tmp_path / "m")
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    command = {option.dest for _, option in for_command("mirror")}
    assert OPTIONS - command == {"on_diagnostic"}, "the options are those of the command"


# --- plans: a path for each URL that is held, and a policy for each document -------------------------------------------

WARC = page("http://h/", b"<a href=/b>") + page("http://h/b") + page("http://h/e", status=404) + page("http://h/r", status=302, Location="/b")


@pytest.mark.parametrize(("given", "found"), [
    (WARC, {"http://h/": "h/index.html", "http://h/b": "h/b.html"}),
    (har(entry("http://h/a", "<p>"), entry("http://h/p", "<p>", method="POST")), {"http://h/a": "h/a.html"}),
    (
        mhtml(("Content-Location: http://h/a", "text/html", b"<p>"), ("Content-Location: http://h/i", "image/png", b"x")),
        {"http://h/a": "h/a.html", "http://h/i": "h/i.png"},
    ),
    (Document(b"<p>", url="http://h/a"), {"http://h/a": "h/a.html"}),
    (Document(b"p{}", url="http://h/a", media_type="text/css"), {"http://h/a": "h/a.css"}),
    (Document(b"<p>", url="http://h/a", name="x.htm"), {"http://h/a": "h/a.html"}),
    (b"<base href=http://h/d/><p>", {}),
])
def test_each_url_that_is_held_has_a_path(given: Document | bytes, found: dict[str, str]) -> None:
    plan = absolve.mirror_plan([given])
    assert dict(plan) == found
    assert len(plan) == len(found)
    assert repr(plan).startswith(f"<MirrorPlan: {len(found)} URL")


def test_a_plan_has_the_options_of_a_mirror() -> None:
    assert absolve.mirror_plan([WARC], keep_errors=True)["http://h/e"] == "h/e.html"
    both = page("http://h/a", b"{}", "application/json", date="2023-01-01T00:00:00Z") + page("http://h/a", b"<p>")
    assert absolve.mirror_plan([both])["http://h/a"] == "h/a.html"
    assert absolve.mirror_plan([both], at="2023")["http://h/a"] == "h/a.json"


def test_a_key_may_be_written_in_any_way_and_is_held_or_not() -> None:
    plan = absolve.mirror_plan([WARC])
    assert plan["HTTP://h:80/x/../b"] == "h/b.html"
    for url in ("http://h/r", "http://h/none", "http://[", "b"):
        assert url not in plan
        with pytest.raises(KeyError):
            plan.policy(url)


@pytest.mark.parametrize(("options", "made"), [
    ({}, b"<img src=http://h/gone><a href=b.html><a href=b.html>"),
    ({"absent": "sever"}, b"<img src=data:,><a href=b.html><a href=b.html>"),
    ({"same": "none"}, b"<img src=http://h/gone><a href=b.html><a href=http://h/%62>"),
])
def test_the_policy_has_the_options_of_the_plan(options: dict[str, Any], made: bytes) -> None:
    policy = absolve.mirror_plan([WARC], **options).policy("http://h/")
    html = b"<img src=/gone><a href=/r><a href=/%62>"
    assert absolve.rewrite(html, url="http://h/", profile="whatwg", base="empty", policy=policy) == made


def test_what_cannot_be_read_is_a_diagnostic_unless_its_url_is_known() -> None:
    for given in (Document(har()[:-3], name="x.har"), b"WARC/1.0\r\nbroken", Document(b"<a><b></a>", media_type="application/xml")):
        plan = absolve.mirror_plan([given])
        assert dict(plan) == {}
        assert plan.diagnostics
    assert [one.code for one in plan.diagnostics] == ["not-well-formed"]
    plan = absolve.mirror_plan([Document(b"<a><b></a>", url="http://h/a", media_type="application/xml")])
    assert dict(plan) == {"http://h/a": "h/a.xml"}
