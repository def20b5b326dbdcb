"""The journal of a rewrite, on its own: what it holds for, and what it does where it cannot be written."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from absolve.core.errors import DocumentError, UsageError
from absolve.run.inputs import Input
from absolve.run.journal import Journal
from absolve.run.outputs import Made
from absolve.run.rewrite_task import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "a.html").write_bytes(b"<a href=x>")
    return Job(Input(str(tmp_path / "a.html"), "a.html"))


def journal(job: Job, how: str = "", *, resume: bool = True, run: str = "1") -> Journal:
    return Journal(Path(job.input.name).with_name("journal"), how, run, resume=resume)


def test_what_is_written_down_and_not_put_is_not_done(job: Job) -> None:
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


def test_what_is_written_down_is_kept_with_the_next_ones(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.run.journal.KEPT", 2)
    with journal(job) as found:
        assert list(found.remaining([job])) == [job]
        kept = []
        for act in (partial(found.note, job), found.keep, partial(found.note, job), partial(found.note, job)):
            act()
            kept.append(not found._database.in_transaction)
        assert kept == [False, True, False, True]


def test_what_is_known_of_an_input_counts(job: Job) -> None:
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


def test_runs_that_came_to_no_end_are_known_by_their_tokens(job: Job) -> None:
    with journal(job, run="1"):
        pass
    with journal(job, run="2") as second:
        assert second.tokens == {"1", "2"}
        second.end()
    with journal(job, run="3") as third:
        assert third.tokens == {"3"}


def test_two_runs_do_not_share_one(job: Job) -> None:
    with journal(job), pytest.raises(UsageError, match="another run is working"):
        journal(job)


def test_what_is_no_journal_is_no_place_for_one(job: Job) -> None:
    Path(job.input.name).with_name("journal").write_bytes(b"something else" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        journal(job)


def test_what_cannot_be_written_down_is_not_put(job: Job) -> None:
    with journal(job) as found:
        assert list(found.remaining([job])) == [job]
        found._database.execute("PRAGMA query_only = ON")  # as a full disk would
        with pytest.raises(DocumentError, match="unwritable"):
            found.note(job)
