"""Output folders: files below one are opened by directory descriptors, never through a link."""

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from absolve.run import leftovers, output_folder, outputs
from absolve.run.output_folder import Below, LinkError, OutputFolder, created
from absolve.run.outputs import WrittenFile

HAS_DESCRIPTORS = output_folder._HAS_DESCRIPTORS
RUN = "t"


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OutputFolder]:
    """Return an output folder as on this platform, and as on one without directory descriptors."""
    if request.param and not HAS_DESCRIPTORS:
        pytest.skip("this platform has no directory descriptors")
    monkeypatch.setattr(output_folder, "_HAS_DESCRIPTORS", request.param)
    (tmp_path / "outside").mkdir()
    with created(str(tmp_path / "out")) as root:
        yield root


def prepared(root: OutputFolder, place: str) -> WrittenFile:
    with outputs.preparing(Path(root.path, place), below=Below(root, place), token=RUN) as (file, made):
        file.write(b"x")
    return made


def written(root: OutputFolder, place: str) -> None:
    outputs.settle(prepared(root, place))


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_file_is_written_into_created_folders(root: OutputFolder) -> None:
    for place in ("a", "b/c", "b/d/e"):
        written(root, place)
        assert (Path(root.path) / place).read_bytes() == b"x"
    assert not list(Path(root.path).rglob(".absolve*"))


def test_a_path_out_of_the_output_folder_is_rejected(root: OutputFolder) -> None:
    for place in ("", "/a", "a//b", "../a", "a/../b", "./a", "a/.", ".."):
        with pytest.raises(OSError, match="cannot be the name of a file in a folder"):
            written(root, place)
    assert {path.name for path in Path(root.path).parent.iterdir()} == {"out", "outside"}


@pytest.mark.parametrize("link", ["a", "a/b"])
def test_a_link_to_a_folder_is_not_followed(root: OutputFolder, link: str) -> None:
    top = Path(root.path)
    (top / "inside").mkdir()
    (top / link).parent.mkdir(exist_ok=True)
    for to in ("../outside", "../../outside", "inside", ".", "none"):
        (top / link).symlink_to(to)
        before = sorted(top.parent.rglob("*"))
        with pytest.raises(LinkError):
            written(root, "a/b/c/d")
        assert sorted(top.parent.rglob("*")) == before
        (top / link).unlink()


def test_a_link_to_a_file_is_not_followed(root: OutputFolder) -> None:
    top = Path(root.path)
    (top.parent / "outside/there").write_bytes(b"as it was")
    for to in ("outside/new", "outside/there", "out/other"):
        (top / "a").symlink_to(top.parent / to)
        with pytest.raises(LinkError):
            written(root, "a")
        assert (top.parent / "outside/there").read_bytes() == b"as it was"
        assert sorted(path.name for path in top.rglob("*")) == ["a"]
        (top / "a").unlink()


def test_a_link_created_before_the_rename_is_not_followed(root: OutputFolder) -> None:
    top = Path(root.path)
    made = prepared(root, "a/b")
    (top / "a/b").symlink_to("../../outside/made")
    outputs.settle(made)
    assert (top / "a/b").read_bytes() == b"x"
    assert not (top / "a/b").is_symlink()
    assert list((top.parent / "outside").iterdir()) == []


def test_a_folder_replaced_by_a_link_before_the_rename_is_not_followed(root: OutputFolder) -> None:
    top = Path(root.path)
    made = prepared(root, "a/b")
    root._open.clear()
    (top / "a").rename(top / "moved")
    (top / "a").symlink_to("../outside")
    for act in (outputs.flush, outputs.put):
        with pytest.raises(LinkError):
            act(made)
    assert list((top.parent / "outside").iterdir()) == []


def test_temporary_files_behind_a_link_are_not_removed(root: OutputFolder) -> None:
    top = Path(root.path)
    (top.parent / "outside/.absolve-t-0.tmp").touch()
    (top / "a").symlink_to("../outside")
    with pytest.raises(LinkError):
        leftovers.sweep(root.folder("a"), RUN)
    made = prepared(root, "b/c")
    leftovers.sweep(root.folder("b"), RUN)
    assert outputs.written_state(made) is None
    assert (top.parent / "outside/.absolve-t-0.tmp").exists()


def test_an_exchanged_output_folder_is_not_written(root: OutputFolder) -> None:
    top = Path(root.path)
    there = OutputFolder(root.path, root.identity)  # created as by another process
    top.rename(top.with_name("moved"))
    top.symlink_to("outside")
    with pytest.raises(OSError, match="replaced by another one during the run"):
        written(there, "a")
    assert list((top.parent / "outside").iterdir()) == []


def test_a_process_has_one_object_per_output_folder_and_creates_an_unknown_one_on_first_use(root: OutputFolder) -> None:
    made = prepared(root, "a/b")
    there = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert there == made
    assert there.below is not None
    assert there.below.root is root
    assert OutputFolder.at_path(root.path) is not root  # an output folder whose device and inode are not checked
    other = OutputFolder.at_path(f"{root.path}/in/side")
    assert not Path(other.path).exists()
    written(other, "a/b")
    assert (Path(other.path) / "a/b").read_bytes() == b"x"


@pytest.mark.skipif(not HAS_DESCRIPTORS or not Path("/proc/self/fd").is_dir(), reason="descriptors cannot be counted here")
def test_directory_descriptors_are_few_and_closed_at_the_end(tmp_path: Path) -> None:
    import resource  # not on Windows

    before = descriptors()
    (tmp_path / "out").mkdir()
    root = OutputFolder.at_path(str(tmp_path / "out"))
    for number in range(3 * output_folder._CACHED):
        written(root, f"{number % 7}/{number}/a")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + output_folder._CACHED + 20, hard))
    try:
        written(root, "d/" * 200 + "a")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert before < descriptors() <= before + output_folder._CACHED + 1
    held = root.folder("0/0")
    del root
    assert descriptors() == before + 1
    assert held.names() == ["a"]
    del held
    assert descriptors() == before


def test_threads_may_share_an_output_folder(root: OutputFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_folder, "_CACHED", 2)
    faults: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(40):
                written(root, f"{number % 5}/{(number + thread) % 3}/{thread}-{number}")
        except OSError as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sum(path.is_file() for path in Path(root.path).rglob("*")) == 160


def test_a_created_folder_that_stays_empty_is_removed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for place in ("a/b/c", "there", "there/d"):
        with created(str(tmp_path / place)):
            assert (tmp_path / place).is_dir()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["there"]
    with created(str(tmp_path / "a/b")) as root:
        written(root, "c")
    assert (tmp_path / "a/b/c").is_file()


@pytest.mark.parametrize(("name", "to", "is_read"), [
    ("link", "sub/there", True), ("link", "../outside/secret", False), ("link", "sub/../../outside/secret", False), ("folder/there", "sub", True),
    ("folder/secret", "../outside", False), ("folder/secret", "sub/out", False), ("sub/up/sub/there", "..", True),
])  # fmt: skip
def test_a_link_in_a_folder_is_read_through_as_long_as_it_stays_there(root: OutputFolder, name: str, to: str, *, is_read: bool) -> None:
    top = Path(root.path)
    (top.parent / "outside/secret").write_bytes(b"secret")
    written(root, "sub/there")
    (top / "sub/out").symlink_to("../../outside")
    (top / name.removesuffix("/sub/there").partition("/there")[0].removesuffix("/secret")).symlink_to(to)
    if is_read:
        with open(top / name, "rb", opener=lambda path, flags: output_folder.opened_below(str(top), path, flags)) as file:
            assert file.read() == b"x"
    else:
        with pytest.raises(LinkError, match="target outside the folder"):
            output_folder.opened_below(str(top), str(top / name), 0)
