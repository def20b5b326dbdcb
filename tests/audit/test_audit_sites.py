"""The findings in five real documentation trees are those of another checker, and the links that it leaves out.

lychee 0.24.2 (`--offline --include-fragments`) reports 8,409 links to missing files in these trees (3,161 pairs of a page
and a file), 39 missing fragments and 2 malformed URLs. All of them are findings here. It does not look at scripts, at
links with `rel=nofollow`, at `link rev=made` with an address, and at URLs in CSS: a browser requests or follows them.
LinkChecker 10.6 finds the same 2 missing files in the tree of git; Chromium agrees about each of its 3,005 links.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from absolve.cli import main

FOUND = """\
SELECT DISTINCT document, substr(target, 1, instr(target || '#', '#') - 1), CASE
    WHEN element = 'script' THEN 'script' WHEN rel LIKE '%nofollow%' THEN 'nofollow' WHEN element = 'css' THEN 'css'
    WHEN element = 'link' AND target LIKE '%@%' THEN 'address' ELSE 'lychee' END
FROM links WHERE verdict = 'broken'"""


@pytest.mark.slow
def test_all_that_another_checker_finds_in_real_sites_is_found_and_the_rest_is_what_it_leaves_out(
    shared: Path, tmp_path: Path
) -> None:
    report = tmp_path / "sites.sqlite"
    assert main(["audit", str(shared / "sites"), "--url", "http://s.example/", "-q", "-o", str(report)]) == 1
    with closing(sqlite3.connect(report)) as database:
        verdicts = dict(database.execute("SELECT verdict, count(*) FROM links GROUP BY verdict"))
        found = {(document, target): why for document, target, why in database.execute(FOUND)}
    assert verdicts["fragment"] == 39
    assert verdicts["malformed"] == 2
    assert Counter(found.values()) == {"lychee": 3162, "script": 5808, "nofollow": 1934, "address": 1169, "css": 39}


def test_files_on_the_disk_that_are_not_read_are_there_for_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "README.md": "r", "docs/.github/ci.yml": "x", "docs/sub/x.py": "x", "docs/node_modules/q/a.html": "<a href=gone>",
        "docs/a.md": "[r](../README.md#x) [c](.github/ci.yml) [s](sub) [q](node_modules/q/a.html) [g](../GONE.md) [h](.git/gone) [l](up/)",
        "docs/b.html": "<a href=../README.md>r</a><a href=sub/>s</a><a href='../docs/'>d</a><a href=%00>z</a>",
    }  # fmt: skip
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    (tmp_path / "docs/up").symlink_to("..")
    assert main(["check", str(tmp_path / "docs"), "-f", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    broken = {row["reference"] for row in rows if row["table"] == "links" and row["verdict"] == "broken"}
    assert broken == {"../GONE.md", ".git/gone", "up/", "sub/", "../docs/", "%00"}
    main(["check", str(tmp_path / "docs"), "--url", "http://h.example/"])
    assert "http://h.example/README.md" in capsys.readouterr().out  # where the URL is known, no file is at this one
