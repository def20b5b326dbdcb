"""`--mentions`: a dry run shows each change, what stays is reported with its place, and `verify` agrees."""

import zipfile
from pathlib import Path

import pytest
from command_runner import Runner

FILES = {
    "a.html": r"""<p data-u="http://old.example/">http://old.example/é old.example http://old.example.org/</p>
<script>u = "http:\/\/old.example\/", v = "http://old." + "example/", w = "aHR0cDovL29sZC5leGFtcGxlL2E="</script>""",
    "d.sql": r"INSERT INTO t VALUES ('s:19:\"http://old.example/\";s:9:\"http://old.example/\";');",
    "s.js": 'u = "http://old.example/"',
    "b.bin": "\0http://old.example/",
}
RULE = ("--remap=http://old.example=https://new.example", "--mentions")
CHANGES = ["a.html:1:12: attribute", "a.html:1:33: text", "a.html:2:14: script", "d.sql:1:31: text", "s.js:1:6: script"]
STAYS = ["a.html:1:54: host, not", "a.html:1:73: longer", "a.html:2:51: split", "a.html:2:83: base64", "d.sql:1:59: length"]


def test_each_change_is_shown_and_what_stays_is_reported(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site").mkdir()
    for name, text in FILES.items():
        Path("site", name).write_text(text, "utf-8")
    shown = absolve("rewrite", "site", "-n", *RULE)
    assert [line.split(": http")[0] for line in shown.out.decode().splitlines() if " -> " in line] == [f"site/{one}" for one in CHANGES]
    lines = [line for line in shown.err.splitlines() if "old-url" in line]
    assert [line for line, stays in zip(lines, STAYS, strict=True) if not all(word in line for word in stays.split(": "))] == []
    assert "; 5 mentions outside links would change: 2 in text, 2 in scripts, 1 in attributes" in absolve.summary
    assert b'"kind": "script"' in absolve("rewrite", "site", "-n", "-f", "json", *RULE).out
    assert absolve("rewrite", "site", "-o", "out", "--log", "log.csv", "--verify", *RULE).status == 0
    assert len(Path("log.csv").read_text("utf-8").splitlines()) == 1 + len(CHANGES)
    assert Path("out/d.sql").read_text("utf-8") == FILES["d.sql"].replace("19", "20").replace("http://old", "https://new", 1)
    assert Path("out/b.bin").read_bytes() == b"\0http://old.example/"
    assert absolve("verify", "site", "out", *RULE).status == 0
    assert absolve("verify", "site", "out", RULE[0]).status == 1
    assert absolve("rewrite", "site", "-n", "--mentions").status == 2


def test_mentions_in_compressed_members_that_are_no_documents_are_counted(absolve: Runner, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in (FILES | {"a.html": '<a href="http://old.example/">'}).items():
            package.writestr(name, text)
    absolve("rewrite", tmp_path / "a.zip", "-o", tmp_path / "b.zip", *RULE)
    assert "1 link in 1 document changed; 0 left as is; 3 mentions of old.example outside links left: 2 in text, 1 in scripts" in absolve.summary
