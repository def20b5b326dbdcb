"""`audit --changed-since REV`: findings of documents that git knows to be unchanged are left out, and counted."""

import shutil
import subprocess
from pathlib import Path

import pytest
from audited import NEW, links, page, run, written

from absolve.cli import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@h.example", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True)  # noqa: S607 - any git


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository whose folder `public` has two pages with a broken link each, and an orphan."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    files = {"index.html": links("gone.html", "b.html"), "b.html": links("lost.html"), "orphan.html": page()}
    written(tmp_path / "repository/public", files)
    git(tmp_path / "repository", "init", "-q")
    git(tmp_path / "repository", "add", "-A")
    git(tmp_path / "repository", "commit", "-qm", "a")
    return tmp_path / "repository/public"


def references(site: Path, *arguments: str) -> set[str]:
    tables = run(site.parent, site, "--url", NEW, *arguments).tables
    found = {row["reference"] for row in tables["links"] if row["verdict"] == "broken"}
    return found | {row["url"].removeprefix(NEW) for row in tables["pages"]}


def test_only_documents_that_changed_have_findings_but_their_targets_are_known(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert references(site) == {"gone.html", "lost.html", "orphan.html"}
    assert main(["audit", str(site), "--url", NEW, "--changed-since", "HEAD"]) == 0
    assert "no findings in 3 links; 3 findings of unchanged documents left out" in capsys.readouterr().err
    (site / "b.html").write_text(links("lost.html", "index.html"))
    assert references(site, "--changed-since", "HEAD") == {"lost.html"}
    git(site, "commit", "-qam", "b")
    assert references(site, "--changed-since", "HEAD~1") == {"lost.html"}
    assert references(site, "--changed-since", "HEAD~1..HEAD") == {"lost.html"}
    assert references(site, "--changed-since", "HEAD") == set()


def test_a_file_that_git_does_not_track_is_judged(site: Path) -> None:
    (site / "b.html").rename(site / "ünew\n.html")
    assert references(site, "--changed-since", "HEAD") >= {"lost.html"}
    (site / ".gitignore").write_text("*.html\n")
    git(site, "rm", "-rq", "--cached", ".")
    git(site, "add", "-A")
    git(site, "commit", "-qm", "b")
    assert references(site, "--changed-since", "HEAD") >= {"lost.html", "gone.html", "orphan.html"}


@pytest.mark.parametrize(("name", "reference", "server"), [
    ("b.html", "b", "github-pages"), ("d/index.html", "d/", "nginx"), ("ü b.html", "%C3%BC%20b.html#x", "s3"),
])  # fmt: skip
def test_a_link_to_a_removed_page_is_judged_wherever_it_is(site: Path, name: str, reference: str, server: str) -> None:
    written(site, {name: page(), "index.html": links("gone.html", reference)})
    git(site, "add", "-A")
    git(site, "commit", "-qm", "b")
    (site / name).rename(site / "renamed.html")
    found = references(site, "--changed-since", "HEAD", "--server", server)
    assert (reference in found, "gone.html" in found) == (True, False)


def test_a_changed_robots_file_may_shut_out_pages_that_did_not_change(site: Path) -> None:
    (site / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    found = run(site.parent, site, "--url", NEW, "--changed-since", "HEAD")
    assert {row["verdict"] for row in found.tables["pages"]} == {"noindex"}


@pytest.mark.parametrize("revision", ["none", "--output=x", "", "HEAD:public/b.html"])
def test_a_wrong_revision_is_wrong_usage(site: Path, capsys: pytest.CaptureFixture[str], revision: str) -> None:
    assert main(["audit", str(site), "--url", NEW, f"--changed-since={revision}"]) == 2
    assert "--changed-since" in capsys.readouterr().err
    assert sorted(path.name for path in site.parent.iterdir()) == [".git", "public"]


def test_no_git_and_no_repository_are_wrong_usage(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "other", {"index.html": page()})
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert main(["audit", str(tmp_path / "other"), "--url", NEW, "--changed-since", "HEAD"]) == 2
    assert "not a git repository" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["audit", str(site), "--url", NEW, "--changed-since", "HEAD"]) == 2
    assert "needs git" in capsys.readouterr().err


def test_a_revision_that_a_shallow_clone_lacks_is_explained(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(site, "commit", "--allow-empty", "-qm", "b")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{site.parent}", "shallow")
    assert main(["audit", str(tmp_path / "shallow/public"), "--url", NEW, "--changed-since", "HEAD~1"]) == 2
    assert "this clone is shallow, so fetch its history" in capsys.readouterr().err


def test_a_repository_runs_no_program(site: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\ncat\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "filter.a=b.clean", "filter.a=b.process", "diff.a.textconv", "core.pager"):
        git(site, "config", name, str(program))
    (site.parent / ".gitattributes").write_text("* filter=a=b diff=a\n")
    (site / "b.html").write_text(links("lost.html", "index.html"))
    assert references(site, "--changed-since", "HEAD") == {"lost.html"}
    assert not (tmp_path / "ran").exists()
