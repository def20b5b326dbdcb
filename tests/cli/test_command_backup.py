"""Backups are written to unused names; an earlier backup is never replaced."""

from pathlib import Path

import pytest
from command_runner import PAGE, Runner

from absolve.run import outputs
from tests.shapes.scale import not_traced

IN_PLACE = ("rewrite", "--in-place", "--backup", ".orig")
WARC = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/d/p.html\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x.html>"


@pytest.fixture(params=["page", "archive", "large page"])
def document(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a document for each way of writing results, with a link that a rewrite changes."""
    if request.param == "archive":
        path = tmp_path / "a.warc"
        path.write_bytes(WARC % (len(RESPONSE), RESPONSE))
        return path
    path = tmp_path / "page.html"
    path.write_bytes(PAGE * (20_000 if request.param == "large page" else 1))
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@not_traced
def test_a_backup_has_the_original_and_follows_no_link_and_replaces_no_other_one(absolve: Runner, document: Path, tmp_path: Path) -> None:
    before = document.read_bytes()
    assert absolve(*IN_PLACE, document) == (0, b"", "")
    assert document.read_bytes() != before == document.with_name(document.name + ".orig").read_bytes()
    assert len(names(document.parent)) == 2
    document.with_name(document.name + ".orig").unlink()
    document.write_bytes(before)
    secret = tmp_path / "elsewhere" / "secret"
    secret.parent.mkdir()
    secret.write_bytes(b"secret")
    document.with_name(document.name + ".orig").symlink_to(secret)
    document.with_name(document.name + ".orig.1").write_bytes(b"an earlier one")
    assert absolve(*IN_PLACE, document).status == 0
    assert secret.read_bytes() == b"secret"
    assert document.with_name(document.name + ".orig").is_symlink()
    assert document.with_name(document.name + ".orig.1").read_bytes() == b"an earlier one"
    assert document.with_name(document.name + ".orig.2").read_bytes() == before


def test_no_second_backup_is_made_of_the_same_bytes(absolve: Runner, document: Path) -> None:
    kept = document.with_name(document.name + ".orig")
    kept.write_bytes(document.read_bytes())
    state = kept.stat()
    assert absolve(*IN_PLACE, document).status == 0
    assert names(document.parent) == {document.name, kept.name}
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (state.st_ino, state.st_mtime_ns)


def test_without_a_backup_nothing_is_written(absolve: Runner, document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = document.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("absolve.run.outputs.os.link", full)
    done = absolve(*IN_PLACE, document)
    assert done.status == 3
    assert ": unwritable: No space left" in done.err
    assert names(document.parent) == {document.name}
    assert document.read_bytes() == before


def test_a_backup_is_copied_without_hard_links(absolve: Runner, document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = document.read_bytes()
    document.with_name(document.name + ".orig").write_bytes(b"an earlier one")

    def lacking(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("absolve.run.outputs.os.link", lacking)
    assert absolve(*IN_PLACE, document).status == 0
    assert document.with_name(document.name + ".orig").read_bytes() == b"an earlier one"
    assert document.with_name(document.name + ".orig.1").read_bytes() == before
    assert len(names(document.parent)) == 3


def test_a_backup_does_not_replace_a_file_created_meanwhile(tmp_path: Path) -> None:
    with outputs.preparing(tmp_path / "kept", is_new=True) as (file, made):
        file.write(b"ours")
    (tmp_path / "kept").write_bytes(b"theirs")
    outputs.settle(made)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"kept": b"theirs", "kept.1": b"ours"}


@pytest.mark.parametrize("command", [("rewrite", "--in-place", "--url", "http://h/"), ("rewrite", "--in-place", "--url", "http://h/", "--backup", ".old")])
def test_backups_in_a_folder_stay_where_their_file_is_beside_them(absolve: Runner, tmp_path: Path, command: tuple[str, ...]) -> None:
    page = b"<a href=b.html>"
    backups = {f"a.html{suffix}" for suffix in ("~", ".orig", ".bak", ".orig.2", *([".old", ".old.1"] if ".old" in command else []))}
    alone = {"c.html.orig", "b.html"}
    for name in {*backups, *alone, "a.html"}:
        (tmp_path / name).write_bytes(page)
    assert absolve(*command, tmp_path).status == 0
    assert {path.name for path in tmp_path.iterdir() if path.read_bytes() != page} == {"a.html", *alone}
