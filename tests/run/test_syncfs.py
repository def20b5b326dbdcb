"""syncfs counts as done only where it is as safe as fsync."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from absolve.run import syncfs
from absolve.run.outputs import Made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other platforms have no syncfs")


def made(folder: Path, name: str = "x") -> Made:
    (folder / f"{name}.tmp").write_bytes(b"x")
    return Made(str(folder / f"{name}.tmp"), str(folder / name))


@pytest.fixture
def systems() -> Iterator[syncfs.FileSystems]:
    with closing(syncfs.FileSystems()) as found:
        yield found


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The calls of syncfs, each of which succeeds."""
    found: list[int] = []
    monkeypatch.setattr(syncfs, "_IS_REPORTING", True)

    def call(number: int) -> bool:
        found.append(number)
        return True

    monkeypatch.setattr(syncfs, "_call", call)
    return found


def test_nothing_is_synced_on_a_file_system_that_is_not_watched(
    tmp_path: Path, systems: syncfs.FileSystems, calls: list[int]
) -> None:
    assert not systems.are_used
    assert not systems.sync([made(tmp_path)])
    systems.watch(str(tmp_path / "missing"))
    assert not systems.sync([made(tmp_path)])
    assert calls == []


def test_a_file_of_a_missing_folder_is_not_on_the_disk(tmp_path: Path, systems: syncfs.FileSystems, calls: list[int]) -> None:
    systems.watch(str(tmp_path))
    there = made(tmp_path)
    assert not systems.sync([there, Made(str(tmp_path / "gone" / "y.tmp"), str(tmp_path / "gone" / "y"))])
    assert systems.sync([there])
    assert len(calls) <= 2


def test_files_on_one_file_system_need_one_call(tmp_path: Path, systems: syncfs.FileSystems, calls: list[int]) -> None:
    (tmp_path / "below").mkdir()
    for folder in (tmp_path, tmp_path / "below", tmp_path):
        systems.watch(str(folder))
    assert systems.sync([made(tmp_path), made(tmp_path / "below"), made(tmp_path, "y")])
    assert len(calls) == 1


@pytest.mark.parametrize("slow", [0.0, 60.0])
def test_a_file_system_with_much_data_of_other_programs_is_synced_once(
    tmp_path: Path, systems: syncfs.FileSystems, calls: list[int], monkeypatch: pytest.MonkeyPatch, slow: float
) -> None:
    monkeypatch.setattr(syncfs, "_SLOW", slow)
    systems.watch(str(tmp_path))
    assert systems.sync([made(tmp_path)])
    assert systems.are_used == systems.sync([made(tmp_path)]) == (slow > 0)
    assert len(calls) == (2 if slow else 1)


@pytest.mark.parametrize(
    ("system", "release", "reporting"),
    [
        ("linux", "6.18.44-generic", True),
        ("linux", "5.8", True),
        ("linux", "5.7.19", False),
        ("linux", "4.4.0", False),
        ("linux", "unknown", False),
        ("darwin", "23.1.0", False),
    ],
)
def test_only_linux_reports_errors_and_only_since_5_8(
    monkeypatch: pytest.MonkeyPatch, system: str, release: str, *, reporting: bool
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "uname", lambda: type("Uname", (), {"release": release}))
    assert syncfs._is_reporting() is reporting


def test_the_real_call_succeeds_only_on_a_listed_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        for known in (syncfs._REPORT_ERRORS, {}):
            monkeypatch.setattr(syncfs, "_REPORT_ERRORS", known)
            assert syncfs._call(number) == (_type_of(tmp_path) in known)
    finally:
        os.close(number)


def _type_of(folder: Path) -> int:
    program = shutil.which("stat")
    assert program is not None
    return int(subprocess.run([program, "-f", "-c", "%t", folder], capture_output=True, check=True).stdout, 16)
