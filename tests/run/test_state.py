"""The state of a rewrite: which entries are valid, and behaviour where it cannot be written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from absolve.core.errors import DocumentError
from absolve.run.inputs import Input
from absolve.run.outputs import WrittenFile
from absolve.run.plan import Job
from absolve.run.state import State


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "a.html").write_bytes(b"<a href=x>")
    return Job(Input(str(tmp_path / "a.html"), "a.html"))


@contextmanager
def state(job: Job, how: str = "", *, resume: bool = True) -> Iterator[State]:
    with closing(State(Path(job.input.name).parent / "state/run.sqlite", how, resume=resume)) as found:
        yield found


def remaining(found: State, job: Job) -> list[Job]:
    return list(found.remaining([job], lambda one: one))


def test_entries_of_unpublished_files_are_not_valid(job: Job) -> None:
    new = Path(job.input.name).with_name("new")
    new.write_bytes(b"<a href=http://h/x>")
    with state(job) as first:
        assert remaining(first, job) == [job]
        first.done(job.input, WrittenFile(str(new), job.input.name))
    with state(job) as second:
        assert remaining(second, job) == [job]
    new.replace(job.input.name)
    with state(job) as third:
        assert remaining(third, job) == []
        assert third.skipped == 1


def test_a_missing_file_gets_no_entry(job: Job) -> None:
    target = f"{job.input.name}.new"
    job = Job(job.input, target)
    with state(job) as first:
        assert remaining(first, job) == [job]
        first.done(job.input, WrittenFile(f"{target}.tmp", target))
    with state(job) as second:
        assert remaining(second, job) == [job]


def test_entries_are_committed_in_batches(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.run.state.TOGETHER", 2)
    with state(job) as found:
        assert remaining(found, job) == [job]
        kept = []
        for number in range(4):
            found.done(job.input) if number != 1 else found.keep()
            kept.append(not found.connection.in_transaction)
        assert kept == [False, True, False, True]


def test_a_file_that_is_no_state_is_not_used(job: Job) -> None:
    (folder := Path(job.input.name).parent / "state").mkdir()
    (folder / "run.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(sqlite3.DatabaseError), state(job):
        pass


def test_a_file_without_an_entry_is_not_published(job: Job) -> None:
    with state(job) as found:
        assert remaining(found, job) == [job]
        found.connection.execute("PRAGMA query_only = ON")  # as on a full disk
        with pytest.raises(DocumentError, match="unwritable"):
            found.done(job.input)
