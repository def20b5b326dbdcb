"""`--log FILE` never replaces an input or output of the run."""

from pathlib import Path

import pytest
from command_runner import PAGE, Runner

from tests.shapes.captures import files_below

BROKEN = b"<a href='//[x'>"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of two pages, with a link to it, a list, tables, and a page with other names."""
    monkeypatch.chdir(tmp_path)
    Path("site/sub").mkdir(parents=True)
    for name in ("site/a.html", "site/sub/b.html", "page.html"):
        Path(name).write_bytes(PAGE)
    Path("list").write_text("site/a.html\n./page.html\n")
    Path("urls.csv").write_text("page.html,http://h/\n")
    Path("moved.csv").write_text("http://h/,http://g/\n")
    try:
        Path("folder").symlink_to("site")
        Path("link.html").symlink_to("page.html")
        Path("hard.html").hardlink_to("page.html")
    except OSError:
        pytest.skip("no hard or symbolic links here")
    return tmp_path


@pytest.mark.parametrize(("given", "log"), [
    ("page.html", "page.html"), ("page.html", "./site/../page.html"), ("page.html", "link.html"), ("link.html", "page.html"),
    ("page.html", "hard.html"), ("site", "site/a.html"), ("site", "site/log.jsonl"), ("site", "site/sub/log.jsonl"), ("site", "folder/log.jsonl"),
    ("folder", "site/log.jsonl"), (".", "log.jsonl"), ("site/sub/..", "site/none/log.jsonl"), ("--from=list", "page.html"),
    ("--from=list", "site/a.html"), ("--url-map=urls.csv page.html", "urls.csv"),
])
def test_a_log_that_is_or_may_become_an_input_is_refused(absolve: Runner, given: str, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_below(Path())
    monkeypatch.setattr("absolve.run.sources.read", None)  # nothing may be read
    done = absolve("rewrite", "--in-place", *given.split(), "--log", log)
    assert (done.status, done.out) == (2, b"")
    assert f" {Path(log)} is " in done.err
    assert files_below(Path()) == before


def test_a_log_beside_the_inputs_or_in_the_output_folder_is_written(absolve: Runner) -> None:
    Path("site/a.html").write_bytes(BROKEN)
    for errors in ("site.jsonl", "site/../site.html", "out/log.jsonl"):
        Path(errors).parent.mkdir(exist_ok=True)
        assert absolve("rewrite", "site", "-o", "out", "--log", errors, "--quiet").status in {0, 1}
        assert Path(errors).exists()


def test_a_log_named_in_a_piped_list_is_refused_before_it_is_read(absolve: Runner) -> None:
    done = absolve("rewrite", "--from", "-", "--in-place", "--log", "link.html", stdin=b"site/a.html\npage.html\n")
    assert done.status == 2
    assert "--log link.html is also a file of the run (page.html)" in done.err
    assert Path("page.html").read_bytes() == PAGE
    assert not [path for path in Path().iterdir() if ".absolve" in path.name]
