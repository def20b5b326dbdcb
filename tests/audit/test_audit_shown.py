"""What an audit prints on a terminal: findings by page, cut to its width, without a control character of a document."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audited import NEW, OLD, links, page, printed, written

from absolve.cli import audit, main
from absolve.core.printable import width
from tests.terminals import in_terminal

SITE = {
    "index.html": links("no.html", "A.html", "http://old.example/a.html", "n\x1b]0;x\x07\u202e.html", "a.html"),
    "a.html": page(),
    "b/lone.html": page("alone"),
}
_STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\")


def on_terminal(*arguments: object, columns: int = 80, color: bool = False) -> str:
    """Return what a terminal of this width receives from an audit."""
    hidden = {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"TERM": "xterm", "PYTHONUTF8": "1"} | ({} if color else {"NO_COLOR": "1"})
    argv = [sys.executable, "-m", "absolve", "audit", *map(str, arguments)]
    return in_terminal(argv, environment, columns=columns, stderr=subprocess.DEVNULL)[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return written(tmp_path / "site", SITE)


def test_causes_come_first_and_are_the_same_in_a_pipe(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(site.parent)
    arguments = ("site", "--url", NEW, "--old-url", OLD)
    shown = on_terminal(*arguments, columns=200)
    lines = [
        "site/index.html:1:123: case: Wrong case: https://new.example/A.html (1 link on 1 page); write: a.html",
        "site/index.html:1:146: leftover: Still names the old site: http://old.example/a.html (1 link on 1 page); write: https://new.example/a.html",
        "site/index.html:1:99: broken: Missing: https://new.example/no.html (1 link on 1 page)",
    ]
    assert set(lines) <= set(shown.splitlines()[:4])
    assert "orphan: No link and no sitemap leads to the page. (1 page)\n\n" in shown
    assert re.search(r"^links  broken +2$", shown, re.MULTILINE)
    assert printed(capsys, *arguments)[0] == shown


def test_no_line_is_wider_than_the_terminal_and_a_document_writes_no_control_character(site: Path) -> None:
    shown = on_terminal(site, "--url", NEW, "--old-url", OLD, columns=40, color=True)
    assert "\x1b[31mbroken\x1b[0m" in shown
    bare = _STYLES.sub("", shown)
    assert all(width(line) <= 40 for line in bare.splitlines())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", bare)


def test_old_urls_have_the_rule_to_add_and_maps_their_unread_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "<p>" + " ".join(f"river{number} stone" for number in range(60))
    new = written(tmp_path / "new", {"index.html": links("x/c.html"), "x/c.html": page(text)})
    old = written(tmp_path / "old", {"c.html": page(text), "lost.html": page()})
    (tmp_path / "m.csv").write_text("/a,/b\n/x,javascript:alert(1)\n/y,/y\n", "utf-8")
    shown, _ = printed(capsys, new, "--url", NEW, "--old", old, "--old-url", OLD, "--map", tmp_path / "m.csv")
    assert f"c.html: moved: Moved, without a rule: /c.html -> /x/c.html (1 old URL); a rule to add: /c.html,{NEW}x/c.html" in shown
    assert re.search(r"m\.csv:1: wrong-rule: .*\(1 rule\)\n", shown)
    assert re.search(r"m\.csv:2: unread-rule: .*\(1 rule\)\n", shown)


def test_causes_beyond_a_limit_are_counted_and_one_target_is_one_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"no{number}.html" for number in range(audit.MOST_CAUSES + 2)]
    site = written(tmp_path / "site", {"index.html": links(*["gone.html"] * 300, *names)})
    shown, _ = printed(capsys, site, "--url", NEW)
    assert "Missing: https://new.example/gone.html (300 links on 1 page)" in shown.splitlines()[0]
    assert "Each finding: -o report.html, or -f jsonl\n" in printed(capsys, site, "--url", NEW, "--ignore", "/no")[0]
    assert "\n3 more causes: -o report.html, or -f jsonl\n" in shown
    assert shown.count(" broken: Missing: ") == audit.MOST_CAUSES


def test_another_output_takes_the_place_of_the_causes_and_what_was_repaired_is_not_listed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in (("--sql", "SELECT 1"), ("-f", "jsonl")):
        assert "index.html:1:99: broken" not in printed(capsys, site, "--url", NEW, *options)[0]
    shown = printed(capsys, site, "--url", NEW, "--old-url", OLD, "--fix")[0]
    assert ("no.html" in shown, "A.html" in shown) == (True, False)


def test_a_cause_shows_a_repair_only_if_all_its_links_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "abc"
    new = {f"{name}.html": page(f'<a href="http://old.example/mod/{name}.html">t</a>') for name in names} | {"index.html": links(*(f"{name}.html" for name in names))}
    same = {f"{name}.html": page('<a href="http://old.example/one.html">t</a>') for name in "de"}
    rules = "".join(f"/mod/{name}.html,/{name}.html\n" for name in names) + "/one.html,/a.html\n"
    written(tmp_path, {"m.csv": rules, **{f"new/{name}": content for name, content in (new | same).items()}})
    main(["audit", str(tmp_path / "new"), "--url", NEW, "--old-url", OLD, "--map", str(tmp_path / "m.csv")])
    shown = [line.partition("old site: ")[2] for line in capsys.readouterr().out.splitlines() if "leftover:" in line]
    assert shown == [
        "http://old.example/mod/ (3 links on 3 pages); write: https://new.example/a.html, and the others by --fix",
        f"http://old.example/one.html (2 links on 2 pages); write: https://new.example/a.html; by the rule: {tmp_path}/m.csv:4",
    ]


def test_what_is_lost_comes_first_in_all_outputs_and_is_never_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = 60
    new = {f"p{one}.html": links(f"gone{one}/x.html", f"gone{one}/x.html", "./") for one in range(number)}
    clicks = "".join(f"{OLD}{one % 30}/{one}.html,{one}\n" for one in range(number))
    written(tmp_path, {"Pages.csv": f"Top pages,Clicks\n{clicks}", "new/index.html": links(*new), **{f"new/{name}": content for name, content in new.items()}})
    given = ["--url", NEW, "--old", str(tmp_path / "Pages.csv"), "--old-url", OLD, "-o", str(tmp_path / "r.md"), "-o", str(tmp_path / "r.html")]
    main(["audit", str(tmp_path / "new"), *given])
    outputs = [capsys.readouterr().out, *((tmp_path / name).read_text("utf-8") for name in ("r.md", "r.html"))]
    for shown in outputs[:2]:
        assert all(f"{OLD}{one % 30}/{one}.html" in shown for one in range(number))
    for shown in outputs:
        places = [shown.index(f"Lost: 2 URLs of /{one}/") for one in reversed(range(30))]
        assert places == sorted(places)
        assert "Missing: " not in shown[: places[-1]]
        assert f"{29 + 59} clicks" in shown
        assert re.search(r"\d requests|Requests", shown) is None
