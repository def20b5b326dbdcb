"""Limits at their edges: documents within a limit are read; above it they stay unchanged, with a diagnostic."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import reference_pages
from lxml import html

import absolve
from absolve import trees
from absolve.cli import main
from absolve.core.errors import Diagnostic
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.rewriting import rewriter
from absolve.run import sources

URL = "http://h/"


def refusal(data: bytes | str, **options: Any) -> absolve.Diagnostic:
    """Return the diagnostic of the error; the three functions of the library raise the same one."""
    refusals = []
    for function in (absolve.rewrite, absolve.links, absolve.base):
        with pytest.raises(absolve.DocumentError) as error:
            function(data, url=URL, name="page.html", **options)
        refusals.append(error.value.diagnostic)
    assert refusals[0] == refusals[1] == refusals[2]
    return refusals[0]


# --- below the limits -------------------------------------------------------------------------------------------------


def test_the_default_limits_are_those_in_the_documentation() -> None:
    of = Settings()
    table = reference_pages.limits()
    shown = {"depth": of.max_depth, "size": f"{of.max_size >> 30} Gi", "links": f"{of.max_links:,}", "url": f"{of.max_url >> 20} Mi"}
    for name, value in {**shown, "rows-bytes": f"{of.max_rows_bytes >> 30} Gi"}.items():
        assert f"| `max-{name}` | `max_{name.replace('-', '_')}` | {value} |" in table


def test_the_largest_integer_is_a_valid_limit_and_others_are_rejected() -> None:
    assert absolve.rewrite(b"<a href=x>", url=URL, max_size=sys.maxsize, max_links=sys.maxsize) == b"<a href=http://h/x>"
    assert absolve.rewrite(b"a{b:url(x)}", url=URL, media_type="text/css", max_links=sys.maxsize) == b"a{b:url(http://h/x)}"
    assert absolve.rewrite(b"", max_size=0, max_links=0, max_depth=0) == b""
    for option in ("max_size", "max_links", "max_url", "max_rows_bytes"):
        for value in (-1, sys.maxsize + 1):
            with pytest.raises(absolve.UsageError, match=f"{option} must be from 0 to {sys.maxsize}, not {value}"):
                absolve.rewrite(b"", **{option: value})  # type: ignore[call-overload]


def test_a_document_may_have_the_allowed_number_of_bytes() -> None:
    for page in (b"<a href='http://g/'>", "<a href='http://g/é'>".encode(), "\ufeff<a href='http://g/'>".encode("utf-16-le")):
        for more in (1, 0):
            assert absolve.rewrite(page, url=URL, max_size=len(page) + more) is page
        text = f"documents of more than {len(page) - 1} bytes are left as they are (--max-size)"
        assert refusal(page, max_size=len(page) - 1) == Diagnostic("too-large", text, "page.html", 1, 1)
    assert absolve.rewrite("é", max_size=2) == "é"  # text has the size of its UTF-8
    assert refusal("é", max_size=1).code == "too-large"


# --- size of inputs ---------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_bytes(b"x" * 100)
    return path


def sized(name: str, allowed: int) -> int:
    try:
        return len(sources.read(name, max_size=allowed).data)
    except absolve.DocumentError as error:
        return -1 if str(error).startswith(f"{name}:1:1: too-large: ") else -2


def test_a_file_or_the_standard_input_that_is_too_large_is_read_only_to_the_limit(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for allowed, size in ((101, 100), (100, 100), (99, -1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 100)))
        assert sized("-", allowed) == sized(str(page), allowed) == size
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
    assert sized(str(page), 99) == -1
    if Path("/dev/zero").exists():
        assert sized("/dev/zero", 5_000_000) == -1


# --- links ------------------------------------------------------------------------------------------------------------

# Each with seven links, where a style sheet counts as one; and the position of the last one, or of its part.
SEVEN = {
    "links": (b"\n<a href='http://g/'>" * 7, 8, 10), "a list": (b"\n<a ping='" + b"http://g/ " * 7 + b"'>", 2, 10 + 60),
    "a sheet": (b"<style>" + b"\na{b:url(http://g/)}" * 6 + b"</style>", 1, 8),
    "style attributes": (b"\n<p style='a:url(http://g/),url(http://g/)'>" * 2 + b"\n<a href='http://g/'>", 3, 11),
    "after a base": (b"<base href='http://g/'><!-- saved from url=(0009)http://g/ -->" + b"\n<a href='http://g/'>" * 6, 7, 10),
    "a charset": (("\ufeff" + "\n<a href='http://g/'>" * 6 + "<p style='a:url(http://g/)'>").encode("utf-16-le"), 7, 31),
}


@pytest.mark.parametrize("name", SEVEN)
def test_a_document_may_have_the_allowed_number_of_links(name: str) -> None:
    data, line, column = SEVEN[name]
    allowed = 8 if name == "a charset" else 7
    for more in (1, 0):
        assert absolve.rewrite(data, max_links=allowed + more) is data
    text = f"documents of more than {allowed - 1} links are left as they are (max-links)"
    assert refusal(data, max_links=allowed - 1) == Diagnostic("too-many-links", text, "page.html", line, column)


@pytest.mark.parametrize("second", [b"<a href=x>" * 4, b"<p style='a:url(x),url(x),url(x)'>"])
def test_an_inner_document_with_too_many_links_stays_and_the_rest_is_rewritten(second: bytes) -> None:
    page = b'\n<iframe srcdoc="%b"></iframe>\n<iframe srcdoc="%b"></iframe>%b'  # three links, one inside, four inside
    link, linked = b"<a href=x>", b"<a href=http://h/x>"
    data = page % (link, second, link)
    changed = second.replace(link, linked).replace(b"(x", b"(http://h/x")
    for allowed in (9, 8):
        assert absolve.rewrite(data, url=URL, max_links=allowed) == page % (linked, changed, linked)
    entity = walk(Document(data, name="page.html", url=URL), Settings(max_links=7))
    assert rewriter.rewrite(entity) == page % (linked, second, linked)
    text = "documents of more than 7 links are left as they are (max-links)"
    assert entity.diagnostics == [Diagnostic("too-many-links", text, "page.html", 3, 17, failed=True)]


def test_the_links_of_a_style_sheet_and_of_a_tree_are_counted() -> None:
    data = b"\na{b:url(http://g/)}" * 7
    for allowed in (8, 7):
        assert absolve.rewrite(data, media_type="text/css", max_links=allowed) is data
    diagnostic = refusal(data, media_type="text/css", max_links=6)
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("too-many-links", 8, 9)
    tree = html.document_fromstring("<a href=x></a>" * 3)
    assert len(list(trees.links(tree, max_links=4))) == len(list(trees.links(tree, max_links=3))) == 3
    for function in (trees.make_links_absolute, trees.links, trees.base):
        with pytest.raises(absolve.DocumentError, match=r"^<tree>:1:0: too-many-links"):
            function(tree, URL, max_links=2)
    assert html.tostring(tree).count(b'href="x"') == 3


# --- the command line -------------------------------------------------------------------------------------------------

Limited = Callable[..., list[str]]


@pytest.mark.parametrize("command", ["rewrite", "links", "base", "verify"])
def test_the_command_names_the_file_that_exceeds_a_limit(tmp_path: Path, limited: Limited, capfd: pytest.CaptureFixture[str], command: str) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<a href='http://g/'>y</a>\n" * 30 + b" " * 1000)
    inputs = [str(path)] * (2 if command == "verify" else 1)
    quiet = ["-q"] if command in {"rewrite", "links"} else []
    for option, start in (({"max_size": 1024}, "1:1: too-large"), ({"max_links": 29}, "30:10: too-many-links"), ({"max_links": 30}, "")):
        assert main([command, *limited(**option), *inputs, *quiet]) == 3 * bool(start)
        out, err = capfd.readouterr()
        assert err.startswith(f"error: {path}:{start}: ") if start else not err
        assert bool(out) is (not start and command != "verify")
        assert path.stat().st_size == 26 * 30 + 1000


def test_a_run_continues_after_a_file_that_exceeds_a_limit(tmp_path: Path, limited: Limited, capfd: pytest.CaptureFixture[str]) -> None:
    small, large = tmp_path / "small.html", tmp_path / "large.html"
    small.write_bytes(b"<a href=x>")
    large.write_bytes(b"<a href=x>" * 2)
    assert main(["rewrite", "--in-place", "--url", URL, *limited(max_links=1), str(large), str(small)]) == 3
    assert (large.read_bytes(), small.read_bytes()) == (b"<a href=x>" * 2, b"<a href=http://h/x>")
    assert capfd.readouterr().err.startswith(f"error: {large}:1:19: too-many-links: ")
    assert sorted(tmp_path.iterdir()) == [large, small]


SIZES = {"2048": 2048, "2K": 2048, "2k": 2048, "1M": 1 << 20, "1G": 1 << 30, "0": 0}
INVALID = {
    ("--max-size", "K"): "must be a number, optionally followed by K, M or G, not 'K'", ("--max-size", "1T"): "not '1T'",
    ("--max-size", "-1"): "must be a number, optionally followed by K, M or G, not '-1'", ("--max-size", ""): "not ''",
    ("--max-size", "9" * 30): "max_size must be from 0 to",
    ("--max-links", "1"): "only a configuration file has it: max-links = VALUE in absolve.toml",
}  # fmt: skip


def test_a_size_may_be_given_in_larger_units_and_an_invalid_one_is_a_usage_error(page: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for size, allowed in SIZES.items():
        with page.open("r+b") as file:
            file.truncate(allowed + 1)  # a sparse file: nothing is written
        assert main(["links", "--max-size", size, str(page)]) == 3
        assert f"more than {allowed:,} bytes" in capfd.readouterr().err
    for arguments, message in INVALID.items():
        assert main(["links", str(page), *arguments]) == 2
        assert message in capfd.readouterr().err
