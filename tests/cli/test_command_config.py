"""The configuration file: options under their own names, which the command line overrides."""

import json
from pathlib import Path

import pytest
from command_runner import PROFILE_WORDS, Runner

from absolve.cli.configuration import configure, found_for
from absolve.cli.parsing import parser

PAGE = b"<a href=';x'>x</a><img data-src=y.png><a href=/z>z</a>"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder that contains a folder with a page; it is the working folder."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/page.html").write_bytes(PAGE)
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path / "site"


FOUND = {
    "../absolve.toml": "url = 'http://h/'", "pyproject.toml": "[tool.absolve]\nurl = 'http://h/'",
    "../pyproject.toml": "[tool.absolve.rewrite]\nurl = 'http://h/'",
    "absolve.toml": "url = 'http://g/'\ncolumns = 'kind'\n[rewrite]\nurl = 'http://h/'\nmedia_type = 'text/html'\n[links]\nurl = 'http://g/'",
}


def test_the_configuration_file_sets_options_by_their_names_from_this_folder_or_one_above(absolve: Runner) -> None:
    for name, text in FOUND.items():
        Path(name).write_text(text)
        assert b"data-src=http://h/y.png" in absolve("rewrite", "page.html").out
        Path(name).unlink()
    Path("absolve.toml").write_text('url = "http://h/d;p"\nprofile = "rfc3986"\njson-ld = true\n')
    assert absolve("rewrite", "page.html") == (0, b"<a href='http://h/;x'>x</a><img data-src=http://h/y.png><a href=http://h/z>z</a>", "")
    assert b"http://g/y.png" in absolve("rewrite", "page.html", "--url", "http://g/").out


def test_the_command_line_overrides_the_configuration_lists_included(absolve: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("absolve.toml").write_text("url = 'http://h/'\nkind = ['media', 'script']\n[rewrite]\nin-place = true\n")
    monkeypatch.setenv("ABSOLVE_CONFIG", "absolve.toml")
    assert absolve("links", "page.html").out == b""
    assert len(absolve("links", "page.html", "--kind=navigation").lines) == 2
    assert absolve("rewrite", "page.html", "-o", "out.html", "--kind=navigation").status == 0
    assert Path("page.html").read_bytes() == PAGE
    assert Path("out.html").read_bytes() != PAGE
    Path("absolve.toml").write_text("url = 'http://h/'\n[rewrite]\nin-place = true\n")
    assert absolve("rewrite", "page.html") == (0, b"", "")
    assert Path("page.html").read_bytes() != PAGE


def test_configured_paths_are_relative_to_the_file_and_a_string_may_be_a_list(absolve: Runner) -> None:
    Path("../moved.csv").write_text("http://h,http://g\n")
    Path("../absolve.toml").write_text("url='http://h/'\nremap = '@moved.csv'\nkind = 'navigation'\nmax-size = '1K'")
    assert b"<a href=http://g/z>" in absolve("rewrite", "page.html", "--config", "../absolve.toml").out


@pytest.mark.parametrize(("name", "header", "line"), [("absolve.toml", "", 3), ("pyproject.toml", "[project]\nkind = 'x'\n[tool.absolve]\n", 6)])
@pytest.mark.parametrize(("text", "message"), [
    ("\n\nprofil = 'whatwg'", "unknown option 'profil'\nhint: did you mean profile?\n"),
    ("\n\n'max-depth' = 'deep'", "max-depth: must be a number from 0 to 100, not 'deep'\n"),
    ("kind = [\n 'image']\nmax-depth=[1]", "max-depth: takes one value, not the list [1]\n"),
    ("\n\nprofile = 'rfc9999'", f"--profile takes {PROFILE_WORDS}, not 'rfc9999'"),
    ("\n\nquiet = 'yes'", "-q/--quiet: must be true or false, not 'yes'"),
    ("\n\nurl = true", "-u/--url: must be a string or a number, not True"),
    ("\n\nhelp = true", "unknown option 'help'"),
])
def test_an_error_names_the_line_before_any_work(absolve: Runner, name: str, header: str, line: int, text: str, message: str) -> None:
    Path(name).write_text(header + text)
    done = absolve("rewrite", "page.html")
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(f"error: usage: {Path(name).resolve()}:{line}: {message}")


NO_TABLES = {
    "no TOML at all": "absolve.toml:1:4: Expected", "[links]\nin-place = true": "links has no option 'in-place'",
    "[rewrites]\nquiet = true": "the table [rewrites] is not named for a command",
}


@pytest.mark.parametrize(("text", "message"), [
    ("kind = ['image', 'imge']", "unknown kind 'imge'"),
    ("scope = 'outer'", "unknown scope 'outer'"),
    ("columns = 'line,colum'", "unknown column 'colum'"),
    ("url = 'page.html'", "the retrieval URL must be an absolute URL, not 'page.html'"),
    ("charset = 'klingon'", "unknown charset 'klingon'"),
    ("media-type = 'html'", "--media-type takes a media type such as text/html, not 'html'"),
])
def test_an_error_that_the_command_finds_names_the_line(absolve: Runner, text: str, message: str) -> None:
    Path("absolve.toml").write_text(f"json-ld = true\n{text}\n")
    place = f"{Path('absolve.toml').resolve()}:2: "
    assert absolve("links", "page.html").err.startswith(f"error: usage: {place}{message}")
    assert place not in absolve("links", "page.html", f"--{text.partition(' ')[0]}", "wrong").err
    for wrong, error in NO_TABLES.items():
        Path("absolve.toml").write_text(wrong)
        assert error in absolve("links", "page.html").err


@pytest.mark.parametrize(("command", "option", "values", "expected"), [
    ("links", "columns", ["kind", "target"], "kind,target"), ("links", "kind", ["image", "script"], ["image", "script"]),
    ("links", "include", ["*.html", "*.css"], ["*.html", "*.css"]), ("rewrite", "remap", ["//a=//b", "//c=//d"], ["//a=//b", "//c=//d"]),
    ("mirror", "same", ["scheme", "www"], "scheme,www"), ("audit", "server", ["plain", "index=a.html"], "plain,index=a.html"),
    ("audit", "fail-on", ["broken", "loop"], "broken,loop"), ("audit", "output", ["a.csv", "b.html"], ["{}/a.csv", "{}/b.html"]),
    ("audit", "old", ["old", "urls.txt"], ["{}/old", "{}/urls.txt"]), ("audit", "map", ["a.csv", "b.csv"], ["{}/a.csv", "{}/b.csv"]),
])
def test_an_option_that_takes_several_values_takes_a_list(command: str, option: str, values: list[str], expected: object) -> None:
    place = Path("mine.toml").resolve()
    place.write_text(f"[{command}]\n{option} = {values}\n")
    whole = parser((command,))
    configure(whole.commands[command], command, (), found_for(["--config", str(place)]))
    _, action = whole.commands[command].options()[option]
    wanted = json.loads(json.dumps(expected).replace("{}", str(place.parent)))
    assert whole.commands[command].get_default(action.dest) == wanted


def test_config_shows_options_with_their_sources(absolve: Runner, site: Path) -> None:
    Path("absolve.toml").write_text("profile = 'whatwg'\n[rewrite]\nkind = 'image'\n")
    lines = [line.split("  #") for line in absolve("config", "rewrite", "links").lines]
    shown = {line[0].strip(): line[-1].strip() for line in lines}
    whence = str(site / "absolve.toml")
    assert shown['profile = "whatwg"'] == shown['kind = ["image"]'] == whence
    assert shown["json-ld = false"] == "default"
    assert [line for line in shown if line.startswith("[")] == ["[rewrite]", "[links]"]
    assert "[resolve]" in absolve("config").lines
    assert absolve("config", "rewrites").status == 2
