"""Nothing is written outside the output folder, whatever links it contains, even if they are created meanwhile."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.cli import many
from tests.shapes.captures import page as captured
from tests.shapes.captures import written

URL = "--url=http://h/"
LINK = b"<a href=x.html>"
WARC = captured("http://h/w", b"<p>")
KINDS = {"p.html": LINK, "i.png": b"\x89PNG\r\n\x1a\n\0\0", "a.warc": WARC}
EXCHANGE = 2  # RENAME_EXCHANGE


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create files of each kind in nested folders; `outside` is a folder into which nothing may be written."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "site/sub/deep", KINDS)
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path / "site"


@pytest.fixture(params=[1, 2])
def jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    return f"--jobs={request.param}"


def everything(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("to", ["outside/made", "outside/there", "out/other"])
def test_no_file_is_written_through_a_link_in_the_output_folder(absolve: Runner, tmp_path: Path, jobs: str, to: str) -> None:
    (tmp_path / "outside/there").write_bytes(b"as it was")
    (tmp_path / "out/sub/deep").mkdir(parents=True)
    for name in KINDS:
        (tmp_path / "out/sub/deep" / name).symlink_to(tmp_path / to)
    done = absolve("rewrite", "site", URL, "-o", "out", jobs)
    assert (done.status, done.err.count(": outside: ")) == (3, 3)
    assert everything(tmp_path / "outside") == ["there"]
    assert (tmp_path / "outside/there").read_bytes() == b"as it was"
    assert everything(tmp_path / "out") == ["sub", "sub/deep", *(f"sub/deep/{name}" for name in sorted(KINDS))]


@pytest.mark.usefixtures("site")
def test_the_output_folder_itself_may_be_a_link(absolve: Runner, tmp_path: Path, jobs: str) -> None:
    (tmp_path / "soft").symlink_to("out")
    assert absolve("rewrite", "site", URL, "-o", "soft", jobs) == (0, b"", "")
    assert (tmp_path / "out/sub/deep/p.html").read_bytes() == b"<a href=http://h/sub/deep/x.html>"


@pytest.mark.usefixtures("site")
def test_a_file_in_place_of_an_output_folder_is_reported(absolve: Runner, tmp_path: Path) -> None:
    (tmp_path / "out/sub").touch()
    done = absolve("rewrite", "site", URL, "-o", "out")
    assert done.status == 3
    assert [line.split(": ")[1:3] for line in done.err.splitlines()] == [[f"out/sub/deep/{name}", "unwritable"] for name in sorted(KINDS)]


@pytest.mark.skipif(os.sep != "/", reason="the root of the file system has no name of its own")
def test_the_root_of_the_file_system_and_another_input_are_refused_together(absolve: Runner, site: Path, tmp_path: Path) -> None:
    place = (site / "sub/deep/p.html").relative_to("/").as_posix()
    (tmp_path / "page.html").write_bytes(LINK)
    command = ["rewrite", "/", "page.html", "--include", f"/{place}", "-o", tmp_path / "out", URL]
    assert absolve(*command, *(f"--exclude={name}" for name in ("proc", "sys", "dev")), "--quiet").status == 2  # one input is inside the other
    assert (site / "sub/deep/p.html").read_bytes() == LINK


def exchange(one: Path, other: Path) -> None:
    """Exchange two names atomically."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(one))


def can_exchange(folder: Path) -> bool:
    for name in ("x", "y"):
        (folder / name).touch()
    try:
        exchange(folder / "x", folder / "y")
    except (OSError, AttributeError):
        return False
    finally:
        for name in ("x", "y"):
            (folder / name).unlink()
    return True


def raced(tmp_path: Path, files: int, evil: str, *options: str) -> int:
    """Write into a folder while it is repeatedly exchanged with a link that leads out; return the number of files."""
    if sys.platform != "linux" or not can_exchange(tmp_path):
        pytest.skip("there is no renameat2 here")
    written(tmp_path / "site/sub", {f"{number % 3}/{number}.html": LINK for number in range(files)})
    outside = tmp_path / "outside"
    for folder in (outside, tmp_path / "out/sub/0"):
        folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / evil).symlink_to(outside)
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            exchange(tmp_path / "out/sub", tmp_path / evil)
            time.sleep(0.0005)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        argv = [sys.executable, "-m", "absolve", "rewrite", "site", URL, "-o", "out", "--quiet", *options]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    finally:
        ended.set()
        swapping.join()
    assert done.returncode in {0, 3}
    assert {line.split(b": ")[2] for line in done.stderr.splitlines() if b": " in line} <= {b"outside"}, done.stderr
    assert everything(outside) == []
    real = tmp_path / ("out/sub" if (tmp_path / evil).is_symlink() else evil)
    found = [path for path in real.rglob("*") if path.is_file()]
    assert not [path for path in found if not path.name.endswith(".html")]
    assert {path.read_bytes() for path in found} <= {b"<a href=http://h/sub/%d/x.html>" % number for number in range(3)}
    return len(found)


@pytest.mark.parametrize("files", [400, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("evil", "jobs"), [("out/link", "-j1"), ("link", "-j2")])
def test_a_link_swapped_in_during_the_run_is_not_followed(tmp_path: Path, evil: str, jobs: str, files: int) -> None:
    raced(tmp_path, files, evil, jobs)
