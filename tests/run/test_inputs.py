"""Inputs: folders, globs, lists and stores, the URLs known for their files, and the claims of a file system about them."""

import errno
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from absolve import DocumentError, UsageError
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.run import buckets, folders, inputs, plan, sources
from absolve.run.folders import Globs
from absolve.run.inputs import Input, Origins, alone
from absolve.run.load import ReadOptions, read
from absolve.run.plan import Job, RewriteOptions
from absolve.run.results import Failure
from absolve.run.rewrite_task import rewritten
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
        "site/B.html", "site/a/z.css", "site/a/é ?#%.html", "site/b.html", "site/c/d/e.html", "a/z.css", "a/é ?#%.html", "page.html",
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
        ("http://third/", "--url-map"), ("http://other/", "--url-map"),
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


# --- globs: selection of the files of a folder ------------------------------------------------------------------------

@pytest.mark.parametrize(("glob", "matches", "others"), [
    ("*.html", ["a.html", "d/e/a.html", ".html"], ["a.htm", "a.html/b", "a.html.orig"]),
    ("a", ["a", "d/a"], ["a/b", "ab"]), ("/a", ["a"], ["d/a"]), ("d/*", ["d/a"], ["d/e/a", "a", "x/d/a"]), ("d/**", ["d/a", "d/e/a"], ["d", "x/d/a"]),
    ("**/d/*", ["d/a", "x/y/d/a"], ["d/e/a", "xd/a"]), ("d/**/a", ["d/a", "d/e/f/a"], ["d/ba"]), ("?", ["a", "d/é"], ["ab", ""]),
    ("[ab].c", ["a.c", "d/b.c"], ["c.c"]), ("[!ab]", ["c", "^"], ["a", "b"]), ("[]^]", ["]", "^"], ["a"]), ("[a", ["[a"], ["a"]),
    ("a.b+(c)", ["a.b+(c)"], ["axb", "a.bb(c)"]), ("d/[!a]", ["d/b"], ["d//"]), ("d/[+-9]", [f"d/{one}" for one in "+,-.0123456789"], ["d//", "d/*", "d/:"]),
])
def test_a_glob_matches_the_expected_paths(glob: str, matches: list[str], others: list[str]) -> None:
    for globs, wanted, unwanted in ((Globs((glob,)), matches, others), (Globs((), (glob,)), others, matches)):
        assert [place for place in wanted if not globs.wanted(place)] == []
        assert [place for place in unwanted if globs.wanted(place)] == []


def test_a_glob_with_a_final_slash_matches_only_folders_and_exclude_overrides_include() -> None:
    assert (Globs().wanted("docs/é"), Globs().excluded("docs/é"), Globs(("*.html",), ("a*",)).wanted("a.html")) == (True, False, False)
    globs = Globs((), ("build/",))
    assert (globs.wanted("build"), globs.excluded("build"), globs.excluded("d/build")) == (True, True, True)


def by_backtracking(glob: str) -> re.Pattern[str]:
    """Match by Python's regular expressions, which backtrack."""
    means = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!ab]": "[^ab/]"}
    tokens = re.findall(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?ab\]|.", glob if "/" in glob else f"**/{glob}")
    return re.compile("".join(means.get(token) or re.escape(token) for token in tokens), re.DOTALL)


def segments(*names: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=6).map("/".join)


@given(segments("a", "a*b", "*", "**", "?", "[ab]*", "[!ab]", "."), st.lists(segments("a", "ab", "b", ".", "\n"), min_size=1))
def test_a_glob_matches_like_a_backtracking_matcher(glob: str, places: list[str]) -> None:
    regex = by_backtracking(glob)
    assert [Globs((glob,)).wanted(place) for place in places] == [bool(regex.fullmatch(place)) for place in places]


@pytest.mark.parametrize(("glob", "unit"), [
    ("*a" * 30 + "b", "a"), ("a*" * 30 + "b", "a"), ("**/a/" * 20 + "b", "a/"), ("**a" * 30 + "b", "a/"), ("*[ab]?" * 20 + "c", "ab"),
    ("*" * 60 + "b", "a"), ("**/" * 40 + "b", "a/"),
])
def test_a_glob_takes_linear_time(glob: str, unit: str) -> None:
    size = 20_000 // len(unit)
    start = time.process_time()
    assert not Globs((glob,)).wanted(unit * size)
    assert time.process_time() - start < 5


def test_a_too_long_glob_is_an_error() -> None:
    with pytest.raises(UsageError, match="is not a valid glob"):
        Globs(("*" * 5000,)).checked()


# --- sources: reading inputs ------------------------------------------------------------------------------------------

PAGE = b"<a href=x>"
COMMENT = b"<!-- saved from url=(0015)http://comment/ -->"
XATTR, ZONE, PATH = "user.xdg.origin.url attribute", "Zone.Identifier file", "path of the file"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "a page.html"
    path.write_bytes(PAGE)
    return path


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Return a function that sets the extended attribute of every file, even where the file system has none."""

    def let_be(value: bytes) -> None:
        def getxattr(_: str, name: str) -> bytes:
            if name != "user.xdg.origin.url":
                raise OSError(errno.ENODATA, "No data available")
            return value

        monkeypatch.setattr(os, "getxattr", getxattr, raising=False)

    return let_be


def claims(document: Document) -> list[tuple[str, str]]:
    return [(claim.source, claim.reference) for claim in document.claims]


def zone(page: Path, data: bytes) -> None:
    page.with_name(page.name + ":Zone.Identifier").write_bytes(data)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes here")
def test_the_extended_attribute_with_the_url_is_read(page: Path) -> None:
    try:
        os.setxattr(page, "user.xdg.origin.url", b"http://h/\xc3\xa9")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    assert claims(sources.read(str(page))) == [(XATTR, "http://h/é")]


def test_an_extended_attribute_without_a_url_is_no_claim(page: Path, origin: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (b"", b"\0", b"about:blank", b"blob:http://h/1"):
        origin(value)
        assert claims(sources.read(str(page))) == []
    monkeypatch.delattr(os, "getxattr", raising=False)  # as on a platform without such attributes
    assert claims(sources.read(str(page))) == []


ZONES = [
    b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\nHostUrl=http://h/p?a=b\r\n",
    *(b"\xef\xbb\xbf[ZoneTransfer]\r\nHostUrl=http://h/p?a=b", b"[ZoneTransfer]\n hosturl = http://h/p?a=b \n"),
    *("[ZoneTransfer]\r\nHostUrl=http://h/p?a=b\r\n".encode(codec) for codec in ("utf-16", "utf-16-le")),
    "[ZoneTransfer]\r\nAppName=é\r\nHostUrl=http://h/p?a=b\r\n".encode("cp1252"),
]
NO_ZONES = [
    *(b"", b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\n", b"[ZoneTransfer]\r\nHostUrl=about:internet\r\n", b"\xff\xfe\x00"),
    b"[ZoneTransfer]\r\nHostUrl=\r\nLastWriterPackageFamilyName=x\r\n",
]


def test_the_host_url_of_a_zone_identifier_is_read(page: Path) -> None:
    for data in (*ZONES, *NO_ZONES):
        zone(page, data)
        assert claims(sources.read(str(page))) == [(ZONE, "http://h/p?a=b")] * (data in ZONES), data


def test_a_path_is_a_retrieval_url_with_the_option(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(page.parent)
    assert claims(read(alone("a page.html", Origins("file:")), ReadOptions(Settings()))) == [(PATH, page.as_uri())]
    assert alone("-", Origins("file:")).claim is None


ORDER = ("--url", "saved from url comment, line 1", XATTR, ZONE, PATH)  # the first one that exists is used


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_retrieval_urls_are_used_in_the_documented_order(page: Path, origin: Callable[[bytes], None], encoding: str) -> None:
    for place, source in enumerate(ORDER):
        user, comment, attribute, marked = (place <= number for number in range(4))
        page.write_bytes((COMMENT * comment + PAGE).decode().encode(encoding))
        origin(b"http://attribute/" * attribute)
        zone(page, b"HostUrl=http://zone/" * marked)
        input_ = alone(str(page), Origins("file:"))._replace(url="http://user/" if user else None)
        base = walk(read(input_, ReadOptions(Settings())), Settings()).bases.base
        assert base.source == source
        assert [fate.verdict for fate in base.chain] == ["won"] + ["ignored"] * (user + comment + attribute + marked)
        assert base.chain[-1].base.source == PATH


def test_an_unreadable_input_is_reported_by_name(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in (("none.html", "not-found"), ("", "directory"), ("a page.html/x", "unreadable")):
        with pytest.raises(DocumentError) as caught:
            sources.read(str(page.parent / name))
        assert (caught.value.diagnostic.code, caught.value.diagnostic.name) == (code, str(page.parent / name))
    with pytest.raises(DocumentError, match="not-found"):
        sources.read("")  # is not the current folder
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DocumentError, match="-: unreadable: there is no standard input"):
        sources.read("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_file_of_a_folder_that_has_become_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "a.html"
    os.mkfifo(pipe)
    with pytest.raises(DocumentError, match="special-file: this is no longer a regular file"):
        sources.head(str(pipe), root=str(tmp_path))
    assert sources.head(str(pipe)) == b""  # named by the user: a program may still write to it
    job = Job(Input(str(pipe), "a.html", found=True, root=str(tmp_path)), str(tmp_path / "b.html"))
    failures = [one for one in rewritten(RewriteOptions(ReadOptions(Settings())), job) if isinstance(one, Failure)]
    assert [(failure.diagnostic.code, failure.diagnostic.name) for failure in failures] == [("special-file", str(pipe))]


# --- stores: any file system of fsspec would do -----------------------------------------------------------------------

@pytest.mark.parametrize(("one", "other", "expected"), [
    ("s3://b/a", "s3://b/a", True), ("s3://b/a/", "s3://b/a/c/", True), ("s3://b/a", "s3://b/ab", False), ("s3://b/a/", "gs://b/a/", False),
    ("/b/a", "/b/a", False),
])
def test_two_urls_overlap_if_one_is_a_prefix_of_whole_steps(one: str, other: str, expected: bool) -> None:
    assert plan.overlap(one, other) is plan.overlap(other, one) is expected


def test_any_file_system_of_fsspec_is_a_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setitem(buckets.SCHEMES, "memory", "fsspec")
    buckets.is_many.cache_clear()
    (tmp_path / "x").write_bytes(b"x" * 999)
    for key in ("a/x.html", "a/b/y.html", "c.html"):
        buckets.send(tmp_path / "x", f"memory://bucket/{key}")
    assert [place for _, place, _ in buckets.found("memory://bucket/")] == ["a/b/y.html", "a/x.html", "c.html"]
    assert [url for url, _, _ in buckets.found("memory://bucket/*/*.html")] == ["memory://bucket/a/x.html"]
    assert buckets.is_many("memory://bucket/a")
    assert buckets.contents("memory://bucket/c.html", 999) == b"x" * 999
    assert buckets.contents("memory://bucket/c.html", 998) is None
    state = buckets.state("memory://bucket/c.html")
    assert state is not None
    assert state.size == 999
    assert buckets.state("memory://bucket/none") is None
