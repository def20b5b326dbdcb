"""syncfs counts as done only where it is as safe as fsync."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from absolve.run import syncfs
from absolve.run.outputs import Made

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other platforms have no syncfs")


class _Library:
    """Counts the calls of syncfs, each of which succeeds or fails."""

    def __init__(self, status: int = 0) -> None:
        self.status, self.calls = status, 0

    def syncfs(self, _number: int) -> int:
        self.calls += 1
        return self.status


def made(folder: Path, name: str = "x") -> Made:
    return Made(str(folder / f"{name}.tmp"), str(folder / name))


@pytest.fixture
def systems() -> Iterator[syncfs.FileSystems]:
    with closing(syncfs.FileSystems()) as found:
        yield found


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> _Library:
    found = _Library()
    monkeypatch.setattr(syncfs, "_library", lambda: found)
    monkeypatch.setattr(syncfs, "_is_reporting", lambda _number: True)
    return found


def test_files_on_one_file_system_need_one_call(tmp_path: Path, systems: syncfs.FileSystems, library: _Library) -> None:
    (tmp_path / "below").mkdir()
    assert systems.sync([made(tmp_path), made(tmp_path / "below"), made(tmp_path, "y")])
    assert library.calls == 1
    assert not systems.sync([made(tmp_path / "gone")])


@pytest.mark.parametrize(("slow", "status"), [(0.0, 0), (60.0, -1)])
def test_a_file_system_that_is_slow_or_reports_an_error_is_synced_once(
    tmp_path: Path, systems: syncfs.FileSystems, library: _Library, monkeypatch: pytest.MonkeyPatch, slow: float, status: int
) -> None:
    monkeypatch.setattr(syncfs, "_SLOW", slow)
    library.status = status
    assert systems.sync([made(tmp_path)]) == (status == 0)
    assert not systems.sync([made(tmp_path)])
    assert library.calls == 1


@pytest.mark.parametrize("release", ["5.7.19", "4.4.0", "unknown", None])
def test_nothing_is_synced_where_the_kernel_or_the_file_system_reports_no_errors(
    tmp_path: Path, systems: syncfs.FileSystems, monkeypatch: pytest.MonkeyPatch, release: str | None
) -> None:
    if release is None:
        monkeypatch.setattr(syncfs, "_REPORT_ERRORS", {})
    else:
        monkeypatch.setattr(os, "uname", lambda: type("Uname", (), {"release": release}))
    assert not systems.sync([made(tmp_path)])


def test_the_real_call_succeeds_on_a_listed_file_system(tmp_path: Path, systems: syncfs.FileSystems) -> None:
    program = shutil.which("stat")
    assert program is not None
    kind = int(subprocess.run([program, "-f", "-c", "%t", tmp_path], capture_output=True, check=True).stdout, 16)
    assert systems.sync([made(tmp_path)]) == (kind in syncfs._REPORT_ERRORS)
