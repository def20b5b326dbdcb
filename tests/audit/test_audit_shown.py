"""What an audit prints on a terminal: findings by page, cut to its width, without a control character of a document."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from audited import NEW, OLD, links, page, written

from absolve.cli import audit_shown
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


def test_findings_are_grouped_by_page_and_aligned(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.parent)
    shown = on_terminal("site", "--url", NEW, "--old-url", OLD, columns=100)
    assert shown.splitlines()[:6] == [
        "site/index.html",
        "   1:99  broken    no.html       → https://new.example/no.html",
        "  1:123  case      A.html        → https://new.example/A.html",
        "                   write: a.html",
        "  1:146  leftover  http://old.example/a.html",
        "                   write: https://new.example/a.html",
    ]
    assert "pages\n  orphan  https://new.example/b/lone.html\n          no page links to it" in shown
    assert re.search(r"^links  broken +2$", shown, re.MULTILINE)


@pytest.mark.parametrize("columns", [40, 80, 132])
def test_no_line_is_wider_than_the_terminal(site: Path, columns: int) -> None:
    shown = on_terminal(site, "--url", NEW, "--old-url", OLD, columns=columns)
    assert all(width(line) <= columns for line in shown.splitlines())


@pytest.mark.parametrize("color", [True, False])
def test_a_document_writes_no_control_character(site: Path, *, color: bool) -> None:
    shown = on_terminal(site, "--url", NEW, "--old-url", OLD, color=color)
    assert ("\x1b[31mbroken\x1b[0m" in shown) == color
    assert ("\x1b]8;;https://new.example/no.html\x1b\\" in shown) == color
    bare = _STYLES.sub("", shown)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", bare)


def test_old_urls_have_the_rule_to_add_and_maps_their_unread_rules(tmp_path: Path) -> None:
    text = "<p>" + " ".join(f"river{number} stone" for number in range(60))
    new = written(tmp_path / "new", {"index.html": links("x/c.html"), "x/c.html": page(text)})
    old = written(tmp_path / "old", {"c.html": page(text), "lost.html": page()})
    (tmp_path / "m.csv").write_text("/a,/b\n/x,javascript:alert(1)\n/y,/y\n", "utf-8")
    shown = on_terminal(new, "--url", NEW, "--old", old, "--old-url", OLD, "--map", tmp_path / "m.csv", columns=200)
    assert "  moved  http://old.example/c.html\n         now at: https://new.example/x/c.html\n" in shown
    assert f"rule to add: /c.html,{NEW}x/c.html" in shown
    assert re.search(r"m\.csv\n  1  +wrong  +/a,/b\n .*\n  2  +unread  /x,javascript:alert\(1\)\n .*\n  3  +wrong  +/y,/y\n", shown)


def test_what_was_repaired_is_not_listed(site: Path) -> None:
    shown = on_terminal(site, "--url", NEW, "--old-url", OLD, "--fix")
    assert "no.html" in shown
    assert "A.html" not in shown


def test_findings_beyond_a_limit_are_counted(tmp_path: Path) -> None:
    site = written(tmp_path / "site", {"index.html": links(*(f"no{number}.html" for number in range(audit_shown.MOST + 3)))})
    shown = on_terminal(site, "--url", NEW)
    assert "\n3 more: -o report.html or -f jsonl lists all\n" in shown
    assert shown.count("  broken  no") == audit_shown.MOST


@pytest.mark.parametrize("options", [("-q",), ("--sql", "SELECT 1"), ("-f", "jsonl"), ("-o", "{}/x.html")])
def test_another_output_takes_the_place_of_the_list(site: Path, options: tuple[str, ...]) -> None:
    given = [option.format(site.parent) for option in options]
    assert "site/index.html\n" not in on_terminal(site, "--url", NEW, *given)
