"""`absolve.audit`: the findings are those of the command, for paths, documents and bytes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import absolve
from absolve.audit.library import DEFAULTS
from absolve.cli import main
from absolve.cli.parsing import parser
from tests.shapes.captures import page

MOVE = Path(__file__).parents[2] / "examples/move"
BOTH = {"url": "https://bay.example/", "old_url": "http://old.bay.example/"}


def test_an_audit_is_that_of_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.jsonl"
    arguments = [str(MOVE / "new"), "--url", BOTH["url"], "--old", str(MOVE / "old"), "--old-url", BOTH["old_url"]]
    main(["audit", *arguments, "--map", str(MOVE / "redirects.csv"), "-o", str(out), "-q"])
    capfd.readouterr()
    heard: list[absolve.Diagnostic] = []
    found = absolve.audit(
        MOVE / "new",
        old=MOVE / "old",
        maps=MOVE / "redirects.csv",
        output=tmp_path / "b.jsonl",
        on_diagnostic=heard.append,
        **BOTH,  # type: ignore[arg-type]
    )
    assert capfd.readouterr() == ("", "")
    assert out.read_text() == (tmp_path / "b.jsonl").read_text()
    tables: dict[str, list[dict[str, object]]] = {}
    for line in out.read_text().splitlines():
        row = json.loads(line)
        tables.setdefault(row.pop("table"), []).append(row)
    assert [one._asdict() for one in found.urls] == tables["urls"]
    assert [one._asdict() for one in found.causes] == tables["causes"]
    assert found.links == len(tables["links"])
    of_links = [one for one in tables["links"] if one["verdict"] not in {"ok", "same", "external"}]
    assert len([one for one in found.findings if one.table == "links"]) == len(of_links)
    assert repr(found).startswith("<Audit: ")
    assert found.diagnostics == heard


def test_documents_and_archives_are_sites(tmp_path: Path) -> None:
    new: list[absolve.Document | bytes] = [absolve.Document("<a href=/b><a href=/gone>", url="https://h/"), page("https://h/b")]
    old = absolve.Document("<p>words of a page that is lost", url="http://old/lost")
    found = absolve.audit(new, old=[old], url="https://h/", old_url="http://old/", output=[tmp_path / "a.csv"])
    assert [(one.document, one.verdict) for one in found.findings] == [("https://h/", "broken"), ("http://old/lost", "lost")]
    assert {path.name for path in found.written} >= {"a.links.csv", "a.urls.csv"}
    assert absolve.audit([page("https://h/", b"<a href=x>")], url="https://h/").findings[0].verdict == "broken"


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08\xff damaged", b"\x89PNG\r\n\x1a\n\0\0"], ids=["empty", "gzip", "PNG"])
def test_bytes_of_no_site_are_refused_under_the_name_that_they_have_in_all_messages(data: bytes) -> None:
    with pytest.raises(absolve.UsageError, match=r"^input-1: .*no URL of the new site"):
        absolve.audit(data, on_diagnostic=lambda _: None)


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08\xff damaged"], ids=["empty", "gzip"])
def test_damaged_bytes_beside_a_site_are_a_failure(data: bytes) -> None:
    found = absolve.audit([page("https://h/", b"<p>"), data], on_diagnostic=lambda _: None)
    assert [one.name for one in found.failures] == ["input-2"]


@pytest.mark.parametrize(
    ("output", "words"),
    [("site/a.html", "file of the input"), ("ignored.html", "also an input"), (["r.md", "./r.md"], "same file"), ("none/r.md", "no folder"), ("d.md", "a folder")],
)
def test_no_output_takes_the_place_of_another_file(output: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("site", "d.md"):
        Path(folder).mkdir()
    for name in ("site/a.html", "ignored.html"):
        Path(name).write_text("/drafts/")
    with pytest.raises(absolve.UsageError, match=words):
        absolve.audit("site", ignore="@ignored.html", output=output)
    assert [Path(name).read_text() for name in ("site/a.html", "ignored.html")] == ["/drafts/"] * 2


def test_no_output_names_a_temporary_file(tmp_path: Path) -> None:
    page = absolve.Document(b"<a href=/none>", url="http://n/", media_type="text/html")
    files = [[tmp_path / f"{number}.{form}" for form in ("jsonl", "html", "sarif")] for number in "12"]
    for output in files:
        found = absolve.audit([page, b"<a href=zz>"], url="http://n/", output=output)
        assert sorted(one.document for one in found.findings if one.table == "links") == ["http://n/", "input-2"]
    assert [file.read_bytes() for file in files[0]] == [file.read_bytes() for file in files[1]]


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a missing file": (lambda: absolve.audit("none"), FileNotFoundError, "none: not-found"),
    "a missing map": (lambda: absolve.audit(MOVE, maps="none.csv"), absolve.MissingFileError, "none.csv"),
    "text of a page": (lambda: absolve.audit("<a href=x>"), absolve.AbsolveError, "the text of a document"),
    "nothing": (lambda: absolve.audit([]), absolve.UsageError, "no input"),
    "a URL": (lambda: absolve.audit("https://h/"), absolve.UsageError, "absolve.fetch"),
    "a word": (lambda: absolve.audit(MOVE, fail_on="brokn"), absolve.UsageError, "fail_on=: 'brokn'"),
    "a share": (lambda: absolve.audit(MOVE, similar=2), absolve.UsageError, "similar must be"),
    "a server": (lambda: absolve.audit(MOVE, server="apach"), absolve.UsageError, "apach"),
    "an output": (lambda: absolve.audit(MOVE, output="a.foo"), absolve.UsageError, "no format of an audit"),
    "a base": (lambda: absolve.audit(MOVE, url="bay.example"), absolve.UsageError, "absolute URL"),
    "a schema": (lambda: absolve.schema(None), TypeError, "name must be a str"),  # type: ignore[arg-type]
    "an option": (lambda: absolve.audit(MOVE, live="all"), TypeError, "no option 'live'"),  # type: ignore[call-arg]
    "another name": (lambda: absolve.audit(MOVE, redirects="m"), TypeError, "it is maps="),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_answered(case: str) -> None:
    call, kind, text = WRONG[case]
    with pytest.raises(kind, match=text):
        call()


def test_the_defaults_are_those_of_the_command() -> None:
    command = vars(parser(("audit",)).parse_args(["audit", "x"]))
    command |= {"old_url": [], "fail_on": command["failing"]}
    for name, value in DEFAULTS.items():
        assert (list(value) if isinstance(value, tuple) else value) == command[name], name
