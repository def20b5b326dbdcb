"""Output files are written completely or stay unchanged."""

import os
import stat
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from absolve.run import outputs


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
