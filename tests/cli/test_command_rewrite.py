"""`absolve rewrite`: where results go, which inputs and outputs are refused, and which bytes and metadata are kept."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from command_runner import ABSOLUTE, FIXTURES, PAGE, Runner


def test_an_empty_file_stays_empty_with_a_diagnostic(absolve: Runner, tmp_path: Path) -> None:
    (tmp_path / "empty.html").touch()
    done = absolve("rewrite", tmp_path / "empty.html", "-o", tmp_path / "out.html")
    assert done.status == 0
    assert (tmp_path / "out.html").read_bytes() == b""
    assert f"{tmp_path / 'empty.html'}: empty-file: " in done.err


def test_in_place_does_not_write_an_unchanged_file(absolve: Runner, page: Path) -> None:
    absolve("rewrite", "--in-place", page)
    before = page.stat()
    assert absolve("rewrite", "--in-place", "--backup", ".bak", page).status == 0
    after = page.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (before.st_ino, before.st_mtime_ns, before.st_ctime_ns)
    assert not page.with_name("page.html.bak").exists()


@pytest.mark.parametrize("name", ["default", "embedded", "encapsulating", "retrieval", "saved-page"])
def test_each_fixture_is_rewritten_to_its_expected_file(absolve: Runner, name: str) -> None:
    right = (FIXTURES / f"{name}.absolute.html").read_bytes()
    assert absolve("rewrite", FIXTURES / f"{name}.html").out == right
    assert absolve("rewrite", FIXTURES / f"{name}.absolute.html").out == right


def test_without_inputs_the_standard_input_is_read(absolve: Runner) -> None:
    assert absolve("rewrite", stdin=PAGE).out == absolve("rewrite", "-", stdin=PAGE).out == ABSOLUTE


@pytest.mark.parametrize("out", ["folder", "made/"])
def test_one_input_goes_into_a_folder_that_exists_or_whose_name_ends_with_a_slash(absolve: Runner, page: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / "folder").mkdir()
    assert absolve("rewrite", page, "-o", f"{tmp_path}/{out}").status == 0
    assert (tmp_path / out / "page.html").read_bytes() == ABSOLUTE


def test_in_place_keeps_mode_and_times_and_the_backup_has_the_original(absolve: Runner, page: Path) -> None:
    page.chmod(0o604)
    os.utime(page, ns=(10**18, 10**18))
    assert absolve("rewrite", "--in-place", "--backup", ".bak", page) == (0, b"", "")
    backup = page.with_name("page.html.bak")
    assert (page.read_bytes(), backup.read_bytes()) == (ABSOLUTE, PAGE)
    for path in (page, backup):
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_mtime_ns) == (0o604, 10**18)
    assert not list(page.parent.glob(".absolve*"))


def test_in_place_writes_the_target_of_a_symbolic_link(absolve: Runner, page: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.html"
    link.symlink_to(page)
    assert absolve("rewrite", "--in-place", link).status == 0
    assert link.is_symlink()
    assert page.read_bytes() == ABSOLUTE


def test_an_output_that_is_its_own_input_is_refused(absolve: Runner, page: Path, tmp_path: Path) -> None:
    (tmp_path / "soft.html").symlink_to(page)
    (tmp_path / "hard.html").hardlink_to(page)
    for out in (page, tmp_path / "soft.html", tmp_path / "hard.html", tmp_path, f"{tmp_path}/../{tmp_path.name}/"):
        done = absolve("rewrite", page, "-o", out)
        assert done.status == 2
        assert "--in-place" in done.err
    assert page.read_bytes() == PAGE


def test_unreadable_inputs_are_reported_and_the_rest_is_rewritten(absolve: Runner, page: Path, tmp_path: Path) -> None:
    (tmp_path / "binary.html").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00")
    done = absolve("rewrite", "--in-place", tmp_path / "none.html", tmp_path / "binary.html", page)
    assert done.status == 3
    codes = [line.removeprefix(f"error: {tmp_path}").split(": ")[:2] for line in done.err.splitlines()]
    assert codes == [["/none.html", "not-found"], ["/binary.html", "unknown-media-type"]]
    assert page.read_bytes() == ABSOLUTE


# --- the diff ---------------------------------------------------------------------------------------------------------

PATCH = shutil.which("patch")
LINES = [b"<p>%d\n" % number for number in range(40)]


def changed(*places: int) -> list[bytes]:
    """Return lines of which these have a link."""
    return [b"<a href=x%d>\n" % number if number in places else line for number, line in enumerate(LINES)]


@pytest.mark.skipif(PATCH is None, reason="there is no patch here")
@pytest.mark.parametrize("data", [
    b"".join(changed(0, 5, 6, 7, 20)), b"".join(changed(5, 11, 12, 19, 39)), b"".join(changed(10)).replace(b"\n", b"\r\n"),
    b"".join(changed(39)).rstrip(b"\n"), b"".join(changed(37)).rstrip(b"\n"), b"<a href=x><a href='y\nz'>", b"<a href='\nx\n'>\n\n<a href=''>\n",
    b"\n", b"<style>\n@import 'a';</style>\n<p style='background: url(b)'\n srcset=c>\n", (FIXTURES / "saved-page.html").read_bytes(),
    "<a href=x>é\n<a href=y>\n".encode("utf-16"),
])
def test_patch_applied_with_the_diff_gives_the_rewrite(absolve: Runner, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a page.html"
    path.write_bytes(data)
    right = absolve("rewrite", path, "--url", "http://h/").out
    diff = absolve("rewrite", path, "--url", "http://h/", "--diff").out
    assert bool(diff) == (right != data)
    if diff:
        assert PATCH
        done = subprocess.run([PATCH, "--binary", "-s", str(path)], input=diff, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert path.read_bytes() == right


def test_the_diff_shows_three_lines_around_what_changes(absolve: Runner, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"".join(changed(1, 8, 20)))
    lines = absolve("rewrite", path, "--url", "http://h/", "--diff").lines
    assert lines[:2] == [f"--- {path}", f"+++ {path}"]
    assert [line for line in lines if line.startswith("@")] == ["@@ -1,12 +1,12 @@", "@@ -18,7 +18,7 @@"]
    assert lines[3:6] == [" <p>0", "-<a href=x1>", "+<a href=http://h/x1>"]


def test_the_diff_of_one_long_line_takes_linear_time(absolve: Runner, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<a href=x>" * 100_000)
    assert len(absolve("rewrite", path, "--url", "http://h/", "--diff").lines) == 7


def test_a_file_of_an_unsupported_format_is_copied_with_a_diagnostic(absolve: Runner, page: Path, tmp_path: Path) -> None:
    script, image = tmp_path / "x.js", tmp_path / "x.png"
    script.write_bytes(b"document.write('<a href=x>')")
    image.write_bytes(b"\x89PNG\r\n\0")
    done = absolve("rewrite", script, image, page, "--verify", "-o", tmp_path / "out")
    text = "left unchanged (--media-type overrides this)"
    kinds = [line.split(": unknown-media-type: ") for line in done.err.splitlines()]
    assert done.status == 0
    assert [name for name, _ in kinds] == [f"warning: {script}", f"warning: {image}"]
    assert kinds[0][1].startswith("unsupported format, ")
    assert kinds[0][1].endswith(f"/javascript: {text}")
    assert kinds[1][1] == f"unsupported format, image/png: {text}"
    for path, data in ((script, script.read_bytes()), (image, image.read_bytes()), (page, ABSOLUTE)):
        assert (tmp_path / "out" / path.name).read_bytes() == data
    assert absolve("rewrite", "--media-type", "text/html", script, "--url", "http://h/").out.count(b"http://h/x") == 1


def test_companions_are_counted_in_the_last_line(absolve: Runner, tmp_path: Path) -> None:
    (tmp_path / "p_files").mkdir()
    (tmp_path / "p_files" / "a.png").touch()
    page = tmp_path / "p.html"
    page.write_bytes(b"<!-- saved from url=(0018)http://h.example/p --><img src=p_files/a.png><a href=x>")
    assert absolve("rewrite", page).out.endswith(b"<img src=p_files/a.png><a href=http://h.example/x>")
    assert absolve.summary.startswith("1 link in 1 document changed; 1 left as is, 1 of them to files saved with the page")
    assert absolve("links", page, "--problem", "companion").out.count(b"\n") == 1


@pytest.mark.parametrize(("policy", "body", "forbidden"), [
    ("default-src 'self'", "<img src=a.png><script src=a.js></script><a href=b>b</a>", "2 links"),
    ("img-src 'self'", "<script src=a.js></script>", ""),
    ("img-src 'self' http://h.example", "<img src=a.png>", ""),
    ("img-src 'none'", "<img src=a.png>", ""),  # it was forbidden before
    ("default-src 'self'", "<img src=http://h.example/a.png><a href=b>b</a>", ""),  # that link has not changed
])
def test_links_that_the_policy_of_the_page_forbids_elsewhere_are_counted(absolve: Runner, tmp_path: Path, policy: str, body: str, forbidden: str) -> None:
    (tmp_path / "p.html").write_text(f'<meta http-equiv=content-security-policy content="{policy}">{body}')
    done = absolve("rewrite", tmp_path / "p.html", "--url", "http://h.example/", "-o", tmp_path / "out.html")
    assert ("own-policy" in done.err) == bool(forbidden)
    assert forbidden in done.err
