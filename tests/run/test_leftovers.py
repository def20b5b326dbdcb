"""Temporary files of runs that have ended are removed by the next run in their folder, never those of a run that is alive."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from absolve.run import leftovers, outputs
from absolve.run.output_folder import OpenFolder

DAYS_AGO = 3 * 24 * 60 * 60


def swept(folder: Path, name: str, *, age: float = 0) -> bool:
    """Return whether a file of this name is removed from a folder by a run that writes there."""
    path = folder / name
    path.touch()
    os.utime(path, (path.stat().st_atime - age, path.stat().st_mtime - age))
    outputs.write(folder / "result", b"new")
    return not path.exists()


@pytest.fixture(scope="module")
def of_a_dead_run() -> str:
    code = "from absolve.run import leftovers; print(leftovers.name_of(leftovers.token()))"
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def test_files_of_dead_runs_are_removed_with_those_that_databases_write_beside_them(tmp_path: Path, of_a_dead_run: str) -> None:
    assert swept(tmp_path, of_a_dead_run)
    assert swept(tmp_path, f"{of_a_dead_run}.wal")
    assert swept(tmp_path, f"{of_a_dead_run}-journal")


def test_a_process_with_the_number_of_a_dead_run_does_not_keep_its_files(tmp_path: Path) -> None:
    place, pid, start, random = leftovers.token().split("-")
    if start == "0":
        pytest.skip("this system does not show when a process started")
    assert swept(tmp_path, leftovers.name_of(f"{place}-{pid}-{int(start, 16) + 1:x}-{random}"))
    assert swept(tmp_path, leftovers.name_of(f"{place}-{1 << 62:x}-{start}-{random}"))  # no number of a process


def test_files_of_runs_that_are_alive_stay(tmp_path: Path) -> None:
    assert not swept(tmp_path, leftovers.name_of(leftovers.token()), age=DAYS_AGO)
    assert leftovers.is_temporary(leftovers.name_of(leftovers.token()))
    code = "from absolve.run import leftovers; print(leftovers.name_of(leftovers.token()), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        name = other.stdout.readline().decode().strip()
        assert not swept(tmp_path, name, age=DAYS_AGO)
        other.kill()
    assert swept(tmp_path, name)


def test_files_of_other_machines_and_versions_stay_for_a_day(tmp_path: Path, of_a_dead_run: str) -> None:
    elsewhere = f".absolve-00000000-{of_a_dead_run.split('-', 2)[2]}"
    for name in (elsewhere, ".absolve-0123456789ab.tmp", ".absolve-01234567-0123456789ab.tmp"):
        assert leftovers.is_temporary(name)
        assert not swept(tmp_path, name)
        assert swept(tmp_path, name, age=DAYS_AGO)


@pytest.mark.parametrize("name", [".absolve-x.tmp", ".absolve-.tmp", "absolve-01.tmp", ".absolve-01", ".absolve"])
def test_no_other_file_is_removed(tmp_path: Path, name: str) -> None:
    assert not swept(tmp_path, name, age=DAYS_AGO)


def test_folders_of_dead_runs_are_removed(tmp_path: Path, of_a_dead_run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in (of_a_dead_run, ".absolve-01.tmp"):
        (tmp_path / name / "inside").mkdir(parents=True)
    with leftovers.temporary_folder() as folder:
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".absolve-01.tmp", Path(folder).name])
    assert [path.name for path in tmp_path.iterdir()] == [".absolve-01.tmp"]
    leftovers.sweep(OpenFolder(str(tmp_path / "gone")))  # a folder that cannot be read is no error
