"""`absolve mirror --check --browser`: what a Chromium without a network finds in the pages."""

from pathlib import Path

import pytest
from packed import written

from absolve.cli import main
from absolve.mirror.check import opened
from absolve.verifying import chromium

PAGE = b"""<meta charset=utf-8><img src=here.png><img src=gone.png><img src=http://away.example/x.png><script>
fetch("a.json").catch(() => {}); new Image().src = "late.png"; for (let i = 0; i < 9; i++) new Image().src = "late.png"</script>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    try:
        chromium.find()
        pytest.importorskip("playwright")
    except chromium.NoBrowserError as error:
        pytest.skip(str(error))
    files = {"index.html": PAGE, "here.png": b"\x89PNG\r\n\x1a\n", "a.json": b"{}", "b/plain.html": b"<p>"}
    return written(tmp_path / "m", files)


@pytest.mark.slow
def test_what_a_page_lacks_is_refused_or_asks_the_network_for_is_found(folder: Path) -> None:
    found = [(fault.name, fault.code, fault.text.partition(" ")[0]) for fault in opened(folder, ["b/plain.html", "index.html"])]
    expected = [("asked", "http://away.example/x.png"), ("missing", "gone.png"), ("missing", "late.png"), ("blocked", "a.json"), ("blocked", "Access")]
    assert sorted(found) == sorted(("index.html", *fault) for fault in expected)


@pytest.mark.slow
def test_the_command_counts_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mirror", "--check", str(folder), "--browser"]) == 1
    printed = capsys.readouterr()
    assert "index.html: missing: late.png" in printed.out
    assert "2 files missing" in printed.err


def test_a_browser_is_for_a_check(tmp_path: Path) -> None:
    assert main(["mirror", str(tmp_path), "-o", str(tmp_path / "m"), "--browser", "-q"]) == 2
