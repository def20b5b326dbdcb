"""A mirror of a part of a capture: by globs, and by what a page leads to."""

from pathlib import Path

import pytest
from packed import tree, written

from absolve.cli import main
from tests.shapes import captures

PAGES = {
    "h/": "<link rel=stylesheet href=s.css><a href=/a>a</a><iframe src=f></iframe><a href=http://o.example/>o</a><a href=/old>b</a>",
    "h/s.css": "p{background:url(/p.png)}",
    "h/p.png": "",
    "h/f": "<img data-src=q.png>",
    "h/q.png": "",
    "h/a": "<a href=/a/deep>d</a><a href=/a>a</a>",
    "h/a/deep": "<a href=/>home</a>",
    "h/b?x": "<p>b",
    "o.example/": "<script src=/j.js></script>",
    "o.example/j.js": "",
    "h/alone": "<a href=/>home</a>",
}
TYPES = {"s.css": "text/css", "p.png": "image/png", "q.png": "image/png", "j.js": "text/javascript"}
SHOWN = {"h/index.html", "h/s.css", "h/p.png", "h/f.html", "h/q.png"}
ALL = {*SHOWN, "h/a.html", "h/a/deep.html", "h/b_x.html", "o.example/index.html", "o.example/j.js"}


def part(root: Path, *more: str) -> tuple[int, set[str]]:
    data = captures.page("http://h/old", b"", status=301, location="/b?x")
    for name, text in PAGES.items():
        media_type = TYPES.get(name.rpartition("/")[2], "text/html")
        data += captures.page(f"http://{name}", f"<meta charset=utf-8>{text}".encode(), media_type)
    (root / "c.warc").write_bytes(data)
    code = main(["mirror", str(root / "c.warc"), "-o", str(root / "m"), "-q", *more])
    return code, {path.partition("~")[0] + (".html" if "~" in path else "") for path in tree(root / "m")}


@pytest.mark.parametrize(("more", "expected"), [
    (["--start", "http://h/", "--depth", "0"], SHOWN),
    (["--start", "http://h/", "--depth", "1"], ALL - {"h/a/deep.html"}),
    (["--start", "https://h/#x"], ALL),
    (["--start", "http://h/old"], {"h/b_x.html"}),
    (["--start", "http://h/alone", "--depth", "1"], {*SHOWN, "h/alone.html"}),
    (["--start", "http://h/", "--exclude", "o.example"], {path for path in ALL if path.startswith("h/")}),
    (["--include", "*.example"], {"o.example/index.html", "o.example/j.js"}),
    (["--include", "http://h/a/**"], {"h/a/deep.html"}),
    (["--include", "h/a/"], {"h/a/deep.html"}),
    (["--include", "a"], {"h/a.html", "h/a/deep.html"}),
    (["--include", "b"], {"h/b_x.html"}),
    (["--include", "h/b[?]x"], {"h/b_x.html"}),
    (["--include", "*.png", "--exclude", "/p*"], {"h/q.png"}),
    (["--exclude", "**"], set()),
])
def test_the_part_that_is_chosen_is_held(tmp_path: Path, more: list[str], expected: set[str]) -> None:
    code, found = part(tmp_path, *more)
    assert (code, found) == (0 if expected else 3, expected)
    assert not expected or main(["mirror", "--check", str(tmp_path / "m"), "-q"]) == 0


def test_files_of_a_folder_are_chosen_by_path_or_by_url(tmp_path: Path) -> None:
    written(tmp_path / "in", {"d/a.html": "", "d/b.css": "", "e/a.html": ""})
    for more, expected in ((["--include", "d/*.html"], {"h/x/d/a.html"}), (["--include", "h/x/e"], {"h/x/e/a.html"}), (["--exclude", "d"], {"h/x/e/a.html"})):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        assert main(["mirror", str(tmp_path / "in"), "-o", str(out), "-q", "--url", "http://h/x/", *more]) == 0
        assert set(tree(out)) == expected


@pytest.mark.parametrize("more", [["--start", "http://none/"], ["--depth", "1"]])
def test_a_part_that_cannot_be_chosen_is_a_wrong_use(tmp_path: Path, more: list[str]) -> None:
    assert part(tmp_path, *more)[0] == 2
