"""Output files are written completely or stay unchanged."""

import os
import stat
from contextlib import nullcontext
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


@pytest.mark.parametrize("fault", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_a_failing_write_leaves_the_existing_file(tmp_path: Path, fault: type[BaseException]) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"as it was")
    for path in (old, new):
        with pytest.raises(fault):
            fail_halfway(path, fault)
    assert old.read_bytes() == b"as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    outputs.write(tmp_path / "new", b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.touch()
    path.chmod(0o606)
    outputs.write(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o606


def test_a_private_file_is_never_open_to_others(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.touch()
    private.chmod(0o600)
    with outputs.preparing(tmp_path / "new", like=private):
        (temporary,) = tmp_path.glob(".absolve-*")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes here")
def test_the_origin_attribute_of_a_page_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.touch()
    try:
        os.setxattr(page, "user.xdg.origin.url", b"http://h/")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    write(page, b"x", page)
    assert os.getxattr(page, "user.xdg.origin.url") == b"http://h/"


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


def test_a_copy_of_a_privileged_file_has_no_privileges(tmp_path: Path) -> None:
    like = privileged(tmp_path / "like")
    write(tmp_path / "new", b"x", like)
    with outputs.preparing(tmp_path / "kept", like=like, is_new=True) as (file, made):
        file.write(b"as it was")
    outputs.settle(made)
    for name in ("new", "kept"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o755
    assert stat.S_IMODE(like.stat().st_mode) == PRIVILEGED


@pytest.mark.parametrize("like", [True, False])
def test_a_replaced_privileged_file_loses_its_privileges(tmp_path: Path, *, like: bool) -> None:
    path = privileged(tmp_path / "old")
    write(path, b"x", path if like else None)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"x", 0o755)


def test_a_replaced_privileged_table_loses_its_privileges(tmp_path: Path) -> None:
    path = privileged(tmp_path / "table.sqlite")
    with outputs.replacing(path) as temporary:
        temporary.write_bytes(b"x")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"x", 0o755)


# struct vfs_cap_data, version 2: CAP_NET_RAW, permitted and effective
CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes here")
def test_capabilities_and_trusted_attributes_are_not_copied(tmp_path: Path) -> None:
    like = tmp_path / "like"
    like.write_bytes(b"as it was")
    given = {"user.note": b"kept", "security.capability": CAPABILITY, "trusted.note": b"ours"}
    try:
        for name, value in given.items():
            os.setxattr(like, name, value)
    except OSError:
        pytest.skip("file attributes cannot be set here")
    write(tmp_path / "new", b"x", like)
    write(like, b"x", like)
    for name in ("new", "like"):
        assert os.listxattr(tmp_path / name) == ["user.note"]
        assert os.getxattr(tmp_path / name, "user.note") == b"kept"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a link of another user")
@pytest.mark.parametrize("how", ["writing", "replacing"])
def test_a_link_of_another_user_in_a_folder_where_all_may_write_is_not_followed(tmp_path: Path, how: str) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    os.lchown(tmp_path / "link", 12345, 12345)
    for mode in (0o1777, 0o755):  # as /tmp, and as a folder of one's own
        tmp_path.chmod(mode)
        refused = pytest.raises(OSError, match="of another user") if mode == 0o1777 else nullcontext()
        with refused, getattr(outputs, how)(tmp_path / "link") as made:
            made.write(b"new") if how == "writing" else made.write_text("new")
        assert (tmp_path / "target").read_text() == ("old" if mode == 0o1777 else "new")
