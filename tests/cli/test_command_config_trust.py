"""A discovered configuration file sets only options that cannot write, run or connect; a named one sets all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.cli.parsing import parser
from tests.shapes.captures import files_below

PAGE = b"<a href=';x'>x</a>"
ABSOLUTE = b"<a href='http://h/;x'>x</a>"
# Options that write, run or connect, change the targets of absolute links, lift a protection or name files.
UNTRUSTED = {
    *"output in-place backup from url-map browser".split(),
    *"check serve port start prune at keep-errors same absent missing".split(),
    *"old old-url map fail-on sql baseline changed-since fix write-map ignore".split(),
    *"remap resume log base-path unwrap".split(),
    *"header cookies retries concurrency ignore-robots hidden save live resolve answers depth stop-after max-age wait insecure".split(),
}
OPTIONS = [row for one in parser().commands.values() for row, _ in one.options().values()]


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder that contains a folder with a page; it is the working folder."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/page.html").write_bytes(PAGE)
    monkeypatch.chdir(tmp_path / "site")
    monkeypatch.delenv("ABSOLVE_CONFIG", raising=False)
    return tmp_path / "site"


def test_no_option_that_writes_runs_or_connects_is_harmless() -> None:
    assert {row.name for row in OPTIONS if not row.is_harmless} == UNTRUSTED
    assert not [row.name for row in OPTIONS if row.is_harmless and row.name in UNTRUSTED]
    places = {"FILE", "OUT", "PROGRAM", "SUFFIX", "CONDITION"}
    assert not [row.name for row in OPTIONS if row.is_harmless and row.metavar in places]


@pytest.mark.parametrize(("place", "command", "text"), [
    ("absolve.toml", "rewrite", "output = 'victim.html'"),
    ("../absolve.toml", "rewrite", "log = 'victim.html'"),
    ("pyproject.toml", "rewrite", "in-place = true\nbackup = '.html'"),
    ("../pyproject.toml", "rewrite", "in-place = true\nresume = true"),
    ("absolve.toml", "rewrite", "remap = '@victim.html'"),
    ("pyproject.toml", "rewrite", "remap = '//h=javascript:alert(1)//'"),
    ("absolve.toml", "rewrite", "url-map = 'victim.html'"),
    ("absolve.toml", "rewrite", "from = 'victim.html'"),
    ("absolve.toml", "rewrite", "output = 12"),  # an ignored option is not even validated
    ("absolve.toml", "links", "output = 'victim.html'"),
    ("../pyproject.toml", "links", "sql = 'FROM links'"),
])
def test_a_discovered_file_cannot_make_a_run_write_execute_or_connect(absolve: Runner, place: str, command: str, text: str) -> None:
    Path("victim.html").write_bytes(b"as it was")
    header = "[tool.absolve." if "pyproject" in place else "["
    Path(place).write_text(f"{header}{command}]\n{text}\n")
    before = files_below(Path())
    done = absolve(command, "page.html", "--url", "http://h/")
    assert files_below(Path()) == before
    names = ", ".join(line.partition(" ")[0] for line in text.splitlines())
    message = [line for line in done.err.splitlines() if "ignored-option" in line]
    text = f"a file that was found, not named, may not set {names} (to use it, name it with --config FILE or $ABSOLVE_CONFIG)"
    assert message == [f"warning: {Path(place).resolve()}: ignored-option: {text}"]
    if command == "rewrite":
        assert (done.status, done.out) == (0, ABSOLUTE)


def test_a_named_configuration_file_sets_all_options(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine.toml").write_text("url = 'http://h/'\n[rewrite]\nin-place = true\nbackup = '.orig'\nremap = '//h=//g'\n")
    assert absolve("rewrite", "page.html", "--config", "mine.toml") == (0, b"", "")
    assert Path("page.html").read_bytes() == ABSOLUTE.replace(b"//h", b"//g")
    assert Path("page.html.orig").read_bytes() == PAGE
    Path("other.toml").write_text("[rewrite]\nurl = 'http://h/'\noutput = 'out.html'\n")
    monkeypatch.setenv("ABSOLVE_CONFIG", "other.toml")
    assert absolve("rewrite", "page.html.orig") == (0, b"", "")
    assert Path("out.html").read_bytes() == ABSOLUTE


def test_the_option_config_overrides_the_environment(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "absolve"):
        Path(f"{name}.toml").write_text(f"url = 'http://{name}/'")
    assert absolve("rewrite", "page.html").out == ABSOLUTE.replace(b"//h", b"//absolve")
    monkeypatch.setenv("ABSOLVE_CONFIG", "a.toml")
    assert absolve("rewrite", "page.html").out == ABSOLUTE.replace(b"//h", b"//a")
    assert absolve("rewrite", "--config=b.toml", "page.html").out == ABSOLUTE.replace(b"//h", b"//b")
    assert absolve("rewrite", "--config", "", "page.html").out == PAGE
    assert absolve("rewrite", "page.html", "--config").status == 2
    assert absolve("rewrite", "--config", "none.toml", "page.html").status == 2
    assert absolve("resolve", "http://h/", "--", "--config=none.toml").status == 0
    Path("c.toml").write_text("config = 'a.toml'")
    assert "unknown option 'config'" in absolve("rewrite", "--config", "c.toml", "page.html").err


def test_a_discovered_file_may_lower_limits_but_not_raise_them(absolve: Runner) -> None:
    Path("absolve.toml").write_text("max-size = '900G'\nmax-depth = 3\nmax-links = 1")
    done = absolve("rewrite", "page.html", "--url", "http://h/")
    assert (done.status, done.out) == (0, ABSOLUTE)
    assert "ignored-option: a file that was found, not named, may not raise max-size (to use it" in done.err
    block = absolve("config", "rewrite").out.decode()
    assert "max-depth = 3 " in block
    assert '# max-size = "900G" ' in block
    assert "ignored" not in absolve("config", "rewrite", "--config", "absolve.toml").out.decode()
    assert absolve("rewrite", "page.html", "--url", "http://h/", "--max-size", "2G").err == ""
    assert absolve("rewrite", "page.html", "--url", "http://h/", "--config", "absolve.toml").err == ""


def test_ignored_settings_that_the_command_line_gives_are_not_reported(absolve: Runner) -> None:
    Path("absolve.toml").write_text("output = 'a.html'\nurl = 'http://h/'")
    assert absolve("rewrite", "page.html", "-o", "b.html") == (0, b"", "")
    assert absolve("base", "page.html").err == ""
    assert sorted(path.name for path in Path().iterdir()) == ["absolve.toml", "b.html", "page.html"]


def test_config_shows_untrusted_settings_with_reasons(absolve: Runner, site: Path) -> None:
    Path("absolve.toml").write_text("output = 'a.html'\nprofile = 'whatwg'\n[rewrite]\nin-place = true")
    done = absolve("config", "rewrite", "links")
    path = site / "absolve.toml"
    blocks = done.out.decode().split("\n\n")
    for block, options in zip(blocks, [['output = "a.html"', "in-place = true"], ['output = "a.html"']], strict=True):
        ignored = [line for line in block.splitlines() if "ignored" in line]
        wanted = [f"{f'# {option}':40}  # ignored: {path} was found, not named by --config" for option in sorted(options)]
        assert ignored == wanted
        assert any(line.startswith('profile = "whatwg"') and line.endswith(str(path)) for line in block.splitlines())
    assert done.err == ""
    named = absolve("config", "--config", "absolve.toml", "rewrite").out.decode()
    assert "ignored" not in named
    assert 'output = "a.html"' in named


@pytest.mark.parametrize(("marker", "is_folder"), [(".git", True), (".hg", True), (".svn", True), (".git", False)])
def test_the_search_ends_at_the_root_of_a_repository(absolve: Runner, marker: str, *, is_folder: bool) -> None:
    Path("../absolve.toml").write_text("url = 'http://h/'")
    assert absolve("rewrite", "page.html").out == ABSOLUTE
    if is_folder:
        Path(marker).mkdir()
    else:
        Path(marker).write_text("gitdir: elsewhere")
    assert absolve("rewrite", "page.html").out == PAGE
    Path("absolve.toml").write_text("url = 'http://h/'")
    assert absolve("rewrite", "page.html").out == ABSOLUTE


def test_the_search_ends_at_the_home_of_the_user(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("../absolve.toml").write_text("url = 'http://h/'")
    Path("../home").symlink_to("site")
    monkeypatch.setenv("HOME", str(site.parent / "home"))
    monkeypatch.setenv("USERPROFILE", str(site.parent / "home"))
    assert absolve("rewrite", "page.html").out == PAGE
    Path("absolve.toml").write_text("url = 'http://h/'")
    assert absolve("rewrite", "page.html").out == ABSOLUTE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_special_files_are_skipped_without_opening_them_as_configuration(absolve: Runner) -> None:
    os.mkfifo("absolve.toml")
    Path("pyproject.toml").mkdir()
    Path("../absolve.toml").symlink_to("/dev/zero")
    assert absolve("rewrite", "page.html").out == PAGE


@pytest.mark.skipif(os.name != "posix", reason="a working folder cannot be removed here")
def test_in_a_removed_working_folder_no_configuration_is_found(site: Path) -> None:
    code = "import os; os.rmdir(os.getcwd()); from absolve.cli import main; main(['resolve', 'http://h/', 'x'])"
    (site / "gone").mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=site / "gone", capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"http://h/x\n", b"")


# --- the owner of the file --------------------------------------------------------------------------------------------

STRANGER = 54_321


def given_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a file or link to another user."""
    if not hasattr(os, "geteuid"):
        pytest.skip("files have no such owners here")
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    else:
        monkeypatch.setattr("os.geteuid", lambda: STRANGER)


@pytest.mark.parametrize("name", ["absolve.toml", "../absolve.toml", "pyproject.toml"])
def test_a_configuration_file_of_another_user_is_ignored_with_one_warning(absolve: Runner, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    header = "[tool.absolve]\n" if name == "pyproject.toml" else ""
    Path(name).write_text(f"{header}url = 'http://evil/'\ncolour = 'no option'")
    given_away(Path(name), monkeypatch)
    done = absolve("rewrite", "page.html", "--quiet")
    assert (done.status, done.out) == (0, PAGE)
    path = Path(name).resolve()
    assert done.err == (f"warning: {path}: ignored-file: it belongs to another user (to use it, name it with --config FILE or $ABSOLVE_CONFIG)\n")
    shown = absolve("config", "rewrite")
    assert shown.lines[0] == f"# {path} is ignored: it belongs to another user"
    assert shown.err.count("ignored-file") == 1
    assert "unknown option 'colour'" in absolve("rewrite", "page.html", "--config", name).err


def test_the_search_continues_after_a_file_of_another_user(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can give one file away")
    Path("absolve.toml").write_text("this is no TOML")
    Path("../absolve.toml").write_text("url = 'http://h/'")
    given_away(Path("absolve.toml"), monkeypatch)
    done = absolve("rewrite", "page.html")
    assert done.out == ABSOLUTE
    assert done.err.count("\n") == 1


def test_a_pyproject_of_another_user_without_our_table_is_ignored_silently(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text("[tool.other]\nx = 1")
    given_away(Path("pyproject.toml"), monkeypatch)
    assert absolve("rewrite", "page.html", "--url", "http://h/") == (0, ABSOLUTE, "")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no such modes here")
@pytest.mark.parametrize("mode", [0o602])
def test_a_world_writable_configuration_file_is_ignored(absolve: Runner, mode: int) -> None:
    Path("absolve.toml").write_text("url = 'http://evil/'")
    Path("absolve.toml").chmod(mode)
    done = absolve("rewrite", "page.html")
    assert done.out == PAGE
    assert "every user may write to it" in done.err
    Path("absolve.toml").chmod(0o664)
    assert absolve("rewrite", "page.html").out == ABSOLUTE.replace(b"//h", b"//evil")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such modes here")
@pytest.mark.parametrize("mode", [0o1777])
def test_a_linked_configuration_file_in_a_shared_folder_is_ignored(absolve: Runner, mode: int) -> None:
    Path("../mine.toml").write_text("url = 'http://h/'")
    made = Path("absolve.toml")
    ways = (made.symlink_to, made.hardlink_to)
    for way in ways:
        Path().chmod(0o755)
        way(Path("../mine.toml"))
        assert absolve("rewrite", "page.html").out == ABSOLUTE
        Path().chmod(mode)  # in /tmp anyone may create a link with this name to a file of this user
        done = absolve("rewrite", "page.html")
        assert done.out == PAGE
        assert "in a folder where other users may write" in done.err
        made.unlink()
    made.write_text("url = 'http://h/'")
    assert absolve("rewrite", "page.html") == (0, ABSOLUTE, "")  # only its owner wrote it


def test_a_configuration_link_of_another_user_is_ignored(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can give a link away")
    Path("../mine.toml").write_text("url = 'http://h/'")
    Path("absolve.toml").symlink_to("../mine.toml")
    given_away(Path("absolve.toml"), monkeypatch)
    done = absolve("rewrite", "page.html")
    assert done.out == PAGE
    assert "it is a symbolic link that belongs to another user" in done.err


# --- contents of the file ---------------------------------------------------------------------------------------------

HOSTILE = {
    "brackets": "url = " + "[" * 100_000, "braces": "url = " + "{a = " * 100_000, "dotted key": "url" + ".a" * 30_000 + " = 1",
    "quoted key": "url" + " . 'a'" * 10_000 + " = 1", "dotted table": "[rewrite" + ".a" * 30_000 + "]", "large": "#" * (2 << 20),
    "decimal": "max-links = " + "9" * 10_000, "hexadecimal": "max-links = 0x" + "f" * 10_000, "nested value": "[rewrite]\nurl" + ".a" * 30 + " = 1",
    "list of lists": "profile = " + "[" * 50 + "]" * 50, "bytes": "url = '\x00'", "no command": "[rewrites]\n",
    "a date": "url = 1979-05-27T07:32:00Z", "infinite": "url = inf",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_invalid_configuration_file_is_an_error_with_its_name_found_or_named(absolve: Runner, text: str) -> None:
    for name, given in (("absolve.toml", []), ("mine.toml", ["--config", "mine.toml"])):
        Path(name).write_text(text)
        done = absolve("rewrite", "page.html", *given)
        assert (done.status, done.out, f"{name}:" in done.err, len(done.err) < 1000) == (2, b"", True, True)


def test_an_invalid_pyproject_without_our_table_is_ignored(absolve: Runner) -> None:
    for text in (*HOSTILE.values(), "tool = 1", "[tool]\nabsolve = 1", "[[tool]]\nabsolve = {}", "[[tool.absolve]]"):
        Path("pyproject.toml").write_text(text)
        assert absolve("rewrite", "page.html", "--url", "http://h/") == (0, ABSOLUTE, ""), text[:50]


@pytest.mark.parametrize(("command", "text"), [
    ("documents site -o rows.csv", "include = 'page.html'"), ("rewrite site -o out", "exclude = 'a.html'"), ("check site", "exclude = 'a.html'"),
    ("mirror site -o m", "exclude = 'a.html'"),
])
def test_the_last_line_counts_what_globs_of_a_found_file_leave_out(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch, command: str, text: str) -> None:
    monkeypatch.chdir(site.parent)
    (site / "a.html").write_bytes(b"<a href=gone>x</a>")
    arguments = [*command.split(), "--url=http://h/"]
    file = site.parent / "absolve.toml"
    file.write_text(text)
    last = absolve(*arguments).err.splitlines()[-1:] or [absolve.summary]
    assert f"1 item of folders left out by {text.partition(' ')[0]} of {file}" in f"{last[0]}{absolve.summary}"
    for named in ("--config=absolve.toml", "--config="):
        assert "left out by" not in absolve(*arguments, named).err + absolve.summary
