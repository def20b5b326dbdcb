"""Inputs: folders, lists, and the URLs known for their files."""

import os
from pathlib import Path

import pytest

from absolve import DocumentError
from absolve.core.errors import Diagnostic
from absolve.run import folders, inputs
from absolve.run.folders import Globs
from absolve.run.inputs import Input, Origins
from tests.shapes.captures import written

ROOT = "http://h/r/"
EVERYTHING, NOTHING_KNOWN = Globs(), Origins()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a folder with files at several depths."""
    return written(tmp_path / "site", dict.fromkeys(("b.html", "a/z.css", "a/é ?#%.html", "c/d/e.html", "B.html"), b""))


def places(root: Path, globs: Globs = EVERYTHING, *, follow: bool = True) -> tuple[list[str], list[str]]:
    """Return the paths of the inputs, and the codes of the diagnostics."""
    diagnostics: list[Diagnostic] = []
    found = [place for _, place, *_ in folders.files_in(str(root), globs, diagnostics.append, follow=follow)]
    return found, [diagnostic.code for diagnostic in diagnostics]


def named(*names: object, origins: Origins = NOTHING_KNOWN) -> list[Input]:
    return list(inputs.named([str(name) for name in names], origins, Globs(), lambda _: None))


def test_the_files_of_a_folder_are_sorted_and_selected_without_temporary_ones(site: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert places(tmp_path / "empty") == ([], [])
    for name in (".absolve-0123456789ab.tmp", ".absolve-01234567-0123456789ab.tmp"):
        (site / name).touch()
    assert places(site) == (["B.html", "a/z.css", "a/é ?#%.html", "b.html", "c/d/e.html"], [])
    assert places(site, Globs(("*.html",), ("c",)))[0] == ["B.html", "a/é ?#%.html", "b.html"]


def test_a_link_out_of_the_root_is_not_followed_with_a_diagnostic(site: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.html").touch()
    (site / "out.html").symlink_to(tmp_path / "secret.html")
    (site / "up").symlink_to(tmp_path)
    (site / "dangling").symlink_to("../nothing")
    found, codes = places(site)
    assert (len(found), codes) == (5, ["outside"] * 3)
    assert places(site, follow=False) == (found, codes)  # in place: a link inside is no second file, one outside is named


def test_a_link_inside_the_root_is_followed_once_and_never_in_a_loop(site: Path) -> None:
    (site / "a" / "round").symlink_to(site)
    (site / "f").symlink_to("c")
    (site / "g").symlink_to("c")
    (site / "one.html").symlink_to("b.html")
    assert places(site) == (["B.html", "a/z.css", "a/é ?#%.html", "b.html", "c/d/e.html", "f/d/e.html", "one.html"], [])
    assert places(site, follow=False)[0] == ["B.html", "a/z.css", "a/é ?#%.html", "b.html", "c/d/e.html"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_reported_and_the_rest_continues(site: Path) -> None:
    (site / "a").chmod(0)
    found, codes = places(site)
    (site / "a").chmod(0o755)
    assert (len(found), codes) == (3, ["unreadable"])


def test_one_folder_maps_to_the_output_itself_and_several_to_their_names(site: Path) -> None:
    assert named(site)[0].place == "B.html"
    (site.parent / "page.html").touch()
    several = named(site, site / "a", site.parent / "page.html")
    assert [found.place for found in several] == [
        "site/B.html", "site/a/z.css", "site/a/é ?#%.html", "site/b.html", "site/c/d/e.html",
        "a/z.css", "a/é ?#%.html", "page.html",
    ]  # fmt: skip
    assert [found.found for found in several] == [True] * 7 + [False]


@pytest.mark.skipif(not hasattr(os, "O_DIRECTORY"), reason="so long paths are of POSIX systems")
def test_folders_may_be_deeper_than_the_recursion_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    depth = 1500
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("f.html").touch()
    try:
        assert places(tmp_path) == (["d/" * depth + "f.html"], [])
    finally:
        Path("f.html").unlink()
        for _ in range(depth):  # removing the folder of a test is recursive too
            os.chdir("..")
            Path("d").rmdir()


@pytest.mark.parametrize("root", [ROOT, ROOT.rstrip("/")])
def test_the_url_of_a_folder_is_that_of_its_root(site: Path, root: str) -> None:
    expected = [f"{ROOT}{name}" for name in ("B.html", "a/z.css", "a/%C3%A9%20%3F%23%25.html", "b.html", "c/d/e.html")]
    assert [found.url for found in named(site, origins=Origins(root, is_site=True))] == expected
    claims = [found.claim for found in named(site, origins=Origins(root)) if found.claim is not None and found.url is None]
    assert [claim.reference for claim in claims][:2] == expected[:2]


@pytest.mark.usefixtures("site")
def test_a_url_map_precedes_all_other_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "urls.csv"
    table.write_text("\ufeffpath,url\nsite/b.html,http://other/\n\n./site/../site/B.html,http://third/\n", "utf-8")
    found = named("site", origins=Origins(ROOT, inputs.read_url_map(str(table)).urls))
    assert [(one.url, one.url_source) for one in found if one.place.lower() == "b.html"] == [
        ("http://third/", "--url-map"),
        ("http://other/", "--url-map"),
    ]
    assert found[1].url_source == "--url"


def test_a_url_map_is_what_documents_writes_with_rows_without_a_url(tmp_path: Path) -> None:
    (tmp_path / "urls.csv").write_text("document,canonical\na.html,http://h/a\nb.html,\n")
    assert list(inputs.read_url_map(str(tmp_path / "urls.csv")).urls.values()) == ["http://h/a"]


LISTS = {
    b"": [], b"\n\n": [], b"a\nb c\r\n\nd": ["a", "b c", "d"], b"a\0b\nc\0": ["a", "b\nc"], b"\xff": [os.fsdecode(b"\xff")],
    b"x" * 70_000 + b"\ny": ["x" * 70_000, "y"],
}  # fmt: skip
PLACES = {"a/b": "a/b", "./a//b/../c": "a/c", "/a/b": "a/b", "../a": None, "a/../../b": None}


def test_a_list_of_files_is_separated_by_lines_or_nuls_and_its_files_never_leave_the_output_folder(tmp_path: Path) -> None:
    for data, paths in LISTS.items():
        (tmp_path / "list").write_bytes(data)
        assert list(inputs.read_list(str(tmp_path / "list"))) == paths
    with pytest.raises(DocumentError, match="none: not-found"):
        list(inputs.read_list(str(tmp_path / "none")))
    for path, place in PLACES.items():
        diagnostics: list[Diagnostic] = []
        assert [one.place for one in inputs.listed([path], Origins(), diagnostics.append)] == ([place] if place else [])
        assert [diagnostic.code for diagnostic in diagnostics] == ([] if place else ["outside"])
