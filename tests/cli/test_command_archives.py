"""WARC and ARC files on the command line: record by record, in little memory, written completely or not at all."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from command_runner import Runner

from absolve.cli import many
from absolve.document.entity import Entity
from absolve.rewriting import rewriter
from absolve.run import load
from tests.shapes import captures

URL = "http://w.example/d/p.html"
PAGE, ABSOLUTE = b'<a href="x">x</a>', b'<a href="http://w.example/d/x">x</a>'


def record(page: bytes, url: str = URL) -> bytes:
    return captures.page(url, page, Content_Length=str(len(page)))


# Compression of records by file suffix: how to write them, and how to read them.


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an archive of two records that change, with one between them that does not."""
    path = tmp_path / "x.warc"
    path.write_bytes(record(PAGE) + record(ABSOLUTE) + record(PAGE))
    return path


def test_an_archive_in_which_nothing_changes_is_not_touched(absolve: Runner, tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(record(ABSOLUTE)) * 2)
    before = path.read_bytes(), path.stat()
    assert absolve("rewrite", path, "--in-place", "--backup", ".orig", "--verify").status == 0
    assert (path.read_bytes(), path.stat().st_ino) == (before[0], before[1].st_ino)
    assert list(tmp_path.iterdir()) == [path]
    assert absolve("rewrite", path).out == before[0]


def test_an_archive_may_come_from_the_standard_input(absolve: Runner) -> None:
    assert absolve("rewrite", stdin=record(PAGE)).out == record(ABSOLUTE)
    assert gzip.decompress(absolve("rewrite", "-", stdin=gzip.compress(record(PAGE))).out) == record(ABSOLUTE)


def test_a_record_that_fails_verification_stays_and_the_others_are_rewritten(
    absolve: Runner, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = record(PAGE, "http://cheated.example/d/")
    archive.write_bytes(record(PAGE) + other + record(PAGE))
    real = rewriter.rewrite

    def cheating(entity: Entity, *rest: Any) -> bytes:
        return real(entity, *rest).replace(b">x</a>", b">y</a>" if b"cheated" in entity.data else b">x</a>")

    monkeypatch.setattr(rewriter, "rewrite", cheating)
    done = absolve("rewrite", archive, "-o", tmp_path / "out.warc", "--verify")
    assert done.status == 3
    assert done.err.count("unverified") == 1
    assert (tmp_path / "out.warc").read_bytes() == record(ABSOLUTE) + other + record(ABSOLUTE)


def test_a_missing_base_is_reported_once_for_all_records(absolve: Runner, tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(record(PAGE, "").replace(b"WARC-Target-URI: \r\n", b"") * 3)
    assert absolve("links", path).err.count("no-base") == 1


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every record as large enough for a worker; long runs repeat failures at the end."""
    monkeypatch.setattr(many, "EVERY", 3600.0)
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    monkeypatch.setattr(load, "LARGE", 1)
    monkeypatch.setattr(load, "RANGE", 150)


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("options", [[], ["--sql", "FROM links"]], ids=str)
def test_several_processes_list_the_same_rows_of_nested_archives_as_one(absolve: Runner, tmp_path: Path, options: list[str]) -> None:
    nested = record(PAGE + record(PAGE) * 5)
    names = [tmp_path / name for name in ("a.warc", "b.warc.gz", "c.html", "d.warc")]
    names[0].write_bytes(nested + record(PAGE * 2, "") + nested + b"junk" + record(PAGE))
    names[1].write_bytes(gzip.compress(record(PAGE)) + gzip.compress(record(gzip.compress(record(PAGE)) * 9), 0) * 2)
    names[2].write_bytes(PAGE)
    names[3].write_bytes(names[0].read_bytes()[:-20])
    by_many, by_one = (absolve("links", *names, names[0], "--verbose", *options, jobs) for jobs in ("-j2", "-j1"))
    assert by_many.out == by_one.out != b""
    assert by_many.status == by_one.status == 3
    message = [[line for line in done.err.splitlines() if str(tmp_path) in line] for done in (by_many, by_one)]
    assert message[0] == message[1] != []
