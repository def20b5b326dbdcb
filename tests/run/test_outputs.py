"""Output files are written completely or stay unchanged, reach the disk before they are renamed, and leave nothing behind."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from absolve import rewrite_file, tables
from absolve.core.errors import DocumentError, UsageError
from absolve.document.settings import Settings
from absolve.run import leftovers, output_folder, outputs
from absolve.run import results as waiting
from absolve.run.inputs import Input
from absolve.run.output_folder import Below, OpenFolder
from absolve.run.outputs import WrittenFile
from absolve.run.plan import Job, Publisher, check_new_folder
from absolve.run.results import BytesRead, Failure, FilesReady, flushed
from absolve.run.web.store import Store


def write(path: Path, data: bytes, like: Path | None) -> None:
    """Write a file with the mode, times and attributes of another one."""
    with outputs.preparing(path, like=like) as (file, made):
        file.write(data)
    outputs.settle(made)


def fail_halfway(path: Path, fault: type[BaseException]) -> None:
    with outputs.writing(path) as file:
        file.write(b"half")
        file.flush()
        raise fault


def test_a_failing_write_leaves_the_existing_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"as it was")
    for fault in (ValueError, OSError, KeyboardInterrupt, SystemExit):
        for name in ("old", "new"):
            with pytest.raises(fault):
                fail_halfway(tmp_path / name, fault)
        assert (tmp_path / "old").read_bytes() == b"as it was"
        assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_file_has_the_mode_of_new_files_or_of_the_one_that_it_replaces_or_is_like(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    outputs.write(tmp_path / "new", b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "usual").chmod(0o606)
    outputs.write(tmp_path / "usual", b"x")
    assert stat.S_IMODE((tmp_path / "usual").stat().st_mode) == 0o606
    (tmp_path / "usual").chmod(0o600)
    with outputs.preparing(tmp_path / "other", like=tmp_path / "usual"):
        (temporary,) = tmp_path.glob(".absolve-*")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600, "it is never open to others"


def test_writing_through_a_symbolic_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("made")
    outputs.write(tmp_path / "link", b"x")
    outputs.write(tmp_path / "dangling", b"y")
    assert (tmp_path / "link").is_symlink()
    assert ((tmp_path / "real").read_bytes(), (tmp_path / "made").read_bytes()) == (b"x", b"y")


PRIVILEGED = 0o6755 | stat.S_ISVTX


def plain(path: Path) -> bool:
    """Return whether a file has read, write and execute permissions only."""
    return stat.S_IMODE(path.stat().st_mode) & ~0o777 == 0


def privileged(path: Path) -> Path:
    path.write_bytes(b"as it was")
    path.chmod(PRIVILEGED)
    if plain(path):
        pytest.skip("this file system has no such modes")
    return path


def test_a_copy_or_a_replacement_of_a_privileged_file_has_no_privileges(tmp_path: Path) -> None:
    like = privileged(tmp_path / "like")
    write(tmp_path / "new", b"x", like)
    with outputs.preparing(tmp_path / "kept", like=like, is_new=True) as (file, made):
        file.write(b"as it was")
    outputs.settle(made)
    for name in ("new", "kept"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o755
    assert stat.S_IMODE(like.stat().st_mode) == PRIVILEGED
    for is_like in (True, False):
        path = privileged(tmp_path / "old")
        write(path, b"x", path if is_like else None)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"x", 0o755)
    table = privileged(tmp_path / "table.sqlite")
    with outputs.replacing(table) as temporary:
        temporary.write_bytes(b"x")
    assert (table.read_bytes(), stat.S_IMODE(table.stat().st_mode)) == (b"x", 0o755)


# struct vfs_cap_data, version 2: CAP_NET_RAW, permitted and effective
CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes here")
def test_attributes_such_as_the_origin_of_a_page_are_kept_and_capabilities_and_trusted_ones_are_not(tmp_path: Path) -> None:
    like = tmp_path / "like"
    like.write_bytes(b"as it was")
    given = {"user.xdg.origin.url": b"http://h/", "security.capability": CAPABILITY, "trusted.note": b"ours"}
    for name, value in given.items():
        with suppress(OSError) if name[:5] != "user." else nullcontext():
            os.setxattr(like, name, value)
    write(tmp_path / "new", b"x", like)
    write(like, b"x", like)
    for name in ("new", "like"):
        assert os.listxattr(tmp_path / name) == ["user.xdg.origin.url"]
        assert os.getxattr(tmp_path / name, "user.xdg.origin.url") == b"http://h/"


# --- files are put on the disk before they are renamed, in their order ------------------------------------------------

def ready(folder: Path, number: int) -> FilesReady:
    temporary = folder / f"{number}.tmp"
    temporary.write_bytes(b"x")
    return FilesReady((WrittenFile(str(temporary), str(folder / f"{number}.html")),))


class Asked:
    """Results with a number each; `asked` is how many were requested."""

    def __init__(self, make: Callable[[int], Any], most: int = 100) -> None:
        self.asked = 0
        self._make, self._most = make, most

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number in range(self._most):
            self.asked += 1
            yield number, self._make(number)


def test_results_without_an_earlier_pending_file_are_passed_on_at_once() -> None:
    results = Asked(BytesRead, 3)
    for number, found in enumerate(flushed(results)):
        assert (found, results.asked) == ((number, BytesRead(number)), number + 1)


def test_ready_files_are_passed_on_in_order_after_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_disk: set[str] = set()

    def flush(made: WrittenFile) -> None:
        time.sleep(0.05 if made.temporary.endswith("0.tmp") else 0)
        on_disk.add(made.temporary)

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(waiting, "AHEAD", 15)
    results = [(number, piece) for number in range(100) for piece in (ready(tmp_path, number), BytesRead(number))]
    found = []
    for number, piece in flushed(results):
        found.append((number, piece))
        if isinstance(piece, FilesReady):
            assert {made.temporary for made in piece.files} <= on_disk
    assert found == results


def test_results_wait_for_a_slow_disk_only_in_a_bounded_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    threads: list[str] = []
    results = Asked(lambda number: ready(tmp_path, number))

    def flush(made: WrittenFile) -> None:
        threads.append(threading.current_thread().name)
        while not (made.temporary.endswith("0.tmp") or results.asked > waiting.AHEAD + 1 or done.wait(0.01)):
            pass

    monkeypatch.setattr(outputs, "flush", flush)
    monkeypatch.setattr(waiting, "AHEAD", 20)
    found = flushed(results)
    assert next(found)[0] == 0
    assert threads == [threading.main_thread().name]  # one file needs no other thread
    next(found)
    assert waiting.AHEAD < results.asked <= waiting.AHEAD + 3
    assert [number for number, _ in found] == list(range(2, 100))


def test_a_file_that_cannot_be_synced_is_a_failure_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flush(made: WrittenFile) -> None:
        if made.temporary.endswith("1.tmp"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "flush", flush)
    pieces = [ready(tmp_path, number) for number in range(3)]
    found = [piece for _, piece in flushed(enumerate(pieces))]
    assert [type(piece) for piece in found] == [FilesReady, Failure, FilesReady]
    message = str(found[1].error)
    assert message == f"{tmp_path / '1.html'}: unwritable: No space left on device"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tmp", "2.tmp"]


def test_a_file_that_vanishes_before_its_rename_fails_and_the_others_are_renamed(tmp_path: Path) -> None:
    jobs = [Job(Input(f"{number}", f"{number}"), str(tmp_path / f"{number}.html")) for number in range(10)]
    results = [(job, ready(tmp_path, number)) for number, job in enumerate(jobs)]
    (tmp_path / "3.tmp").unlink()
    failed = []
    with Publisher("token") as publisher:
        for job, piece in flushed(results):
            try:
                if isinstance(piece, Failure):
                    raise piece.error
                publisher.put(job, piece)
            except DocumentError as error:
                failed.append((job.input.name, error.diagnostic.code, error.diagnostic.name))
    assert failed == [("3", "unwritable", str(tmp_path / "3.html"))]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number}.html" for number in range(10) if number != 3]


def test_a_new_folder_has_no_name_of_a_file(tmp_path: Path) -> None:
    for suffix in (*tables.SUFFIXES, *(f".{name}" for name in tables.OTHERWISE), ".warc", ".tar"):
        with pytest.raises(UsageError, match="is the name of a file"):
            check_new_folder(str(tmp_path / f"out{suffix}"), "this is a folder")
        check_new_folder(f"{tmp_path / f'out{suffix}'}/", "this is a folder")
        check_new_folder(str(tmp_path / f"out{suffix}.example"), "this is a folder")


# --- temporary files of runs that have ended are removed by the next run ----------------------------------------------

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


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a link of another user")
@pytest.mark.parametrize("how", ["writing", "replacing", "in place", "in a folder", "above", "save"])
def test_a_link_of_another_user_in_a_folder_where_all_may_write_is_not_followed(tmp_path: Path, how: str) -> None:
    (tmp_path / "own" / "deep").mkdir(parents=True)
    old = tmp_path / "own" / "deep" / "a.html"
    (tmp_path / "shared").mkdir()
    name, to = ("link", old) if how in {"writing", "replacing", "in place"} else ("link/deep/a.html", tmp_path / "own")
    link, path = tmp_path / "shared" / "link", tmp_path / "shared" / name
    (tmp_path / "by").symlink_to("shared")  # a link of this user is followed, to the other's link, too
    for mode in (0o1777, 0o755):  # as /tmp, and as a folder of one's own
        for one in (path, tmp_path / "by" / name):
            link.unlink(missing_ok=True)
            link.symlink_to(to)
            os.lchown(link, 12345, 12345)
            old.write_text("<a href=x>")
            (tmp_path / "shared").chmod(mode)
            refused = pytest.raises((OSError, DocumentError, UsageError), match="of another user") if mode == 0o1777 else nullcontext()
            with refused:
                if how == "in place":
                    rewrite_file(one, url="http://h/")
                elif how == "save":
                    old.write_bytes(b"") if mode == 0o755 else None
                    with Store(str(one), 0, Settings()):
                        pass
                    old.write_text("new")
                elif how == "in a folder":
                    with output_folder.created(str(one.parent)) as folder, outputs.preparing(one, below=Below(folder, "a.html")) as (made, written):
                        made.write(b"new")
                    outputs.settle(written)
                else:
                    with getattr(outputs, "replacing" if how == "replacing" else "writing")(one) as file:
                        file.write(b"new") if how != "replacing" else file.write_text("new")
            assert (old.read_text() == "<a href=x>") == (mode == 0o1777)
