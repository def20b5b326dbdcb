"""The journal of a rewrite: which entries are valid, and behaviour where it cannot be written."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from absolve.core.errors import DocumentError, UsageError
from absolve.run.inputs import Input
from absolve.run.journal import Journal
from absolve.run.outputs import Made
from absolve.run.plan import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "a.html").write_bytes(b"<a href=x>")
    return Job(Input(str(tmp_path / "a.html"), "a.html"))


def journal(job: Job, how: str = "", *, resume: bool = True) -> Journal:
    return Journal(Path(job.input.name).with_name("journal"), how, resume=resume)


def test_journal_entries_of_unpublished_files_are_not_valid(job: Job) -> None:
    new = Path(job.input.name).with_name("new")
    new.write_bytes(b"<a href=http://h/x>")
    with journal(job) as first:
        assert list(first.remaining([job])) == [job]
        first.note(job, Made(str(new), job.input.name))
    with journal(job) as second:
        assert list(second.remaining([job])) == [job]
    new.replace(job.input.name)
    with journal(job) as third:
        assert list(third.remaining([job])) == []
        assert third.skipped == 1


def test_a_missing_file_gets_no_journal_entry(job: Job) -> None:
    target = f"{job.input.name}.new"
    job = Job(job.input, target)
    with journal(job) as first:
        assert list(first.remaining([job])) == [job]
        first.note(job, Made(f"{target}.tmp", target))
    with journal(job) as second:
        assert list(second.remaining([job])) == [job]


def test_journal_entries_are_committed_in_batches(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.run.journal.KEPT", 2)
    with journal(job) as found:
        assert list(found.remaining([job])) == [job]
        kept = []
        for act in (partial(found.note, job), found.keep, partial(found.note, job), partial(found.note, job)):
            act()
            kept.append(not found._database.in_transaction)
        assert kept == [False, True, False, True]


def test_a_journal_entry_is_valid_only_for_the_same_input(job: Job) -> None:
    with journal(job) as first:
        assert list(first.remaining([job])) == [job]
        first.note(job)
    with journal(job) as second:
        assert list(second.remaining([job])) == []
        elsewhere = Job(job.input._replace(url="http://h/"))
        assert list(second.remaining([elsewhere])) == [elsewhere]
        to_a_file = Job(job.input, job.input.name + ".new")
        assert list(second.remaining([to_a_file])) == [to_a_file]
    with journal(job, "other options") as third:
        assert list(third.remaining([job])) == [job]
    with journal(job, resume=False):
        pass
    with journal(job) as fourth:
        assert list(fourth.remaining([job])) == [job]


def test_two_runs_do_not_share_a_journal(job: Job) -> None:
    with journal(job), pytest.raises(UsageError, match="another run is working"):
        journal(job)


def test_a_file_that_is_no_journal_is_not_used(job: Job) -> None:
    Path(job.input.name).with_name("journal").write_bytes(b"something else" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        journal(job)


def test_a_file_without_a_journal_entry_is_not_published(job: Job) -> None:
    with journal(job) as found:
        assert list(found.remaining([job])) == [job]
        found._database.execute("PRAGMA query_only = ON")  # as on a full disk
        with pytest.raises(DocumentError, match="unwritable"):
            found.note(job)
