"""Filters of `absolve links` and `absolve rewrite` choose links, rows and columns; `--remap` replaces old URLs."""

import json
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.cli import many

URL = "--url=http://h/d/"
LINKS = b"<a href=x>1</a><img src=i.png><a href=http://g/>2</a><a href=x>3</a>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of two pages with links to the same URLs."""
    (tmp_path / "site").mkdir()
    for name in ("a.html", "b.html"):
        (tmp_path / "site" / name).write_bytes(LINKS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "site"


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["x", "i.png", "http://g/", "x"]),
        (["--kind", "image"], ["i.png"]),
        (["--kind", "image,navigation", "--scope", "internal"], ["x", "i.png", "x"]),
        (["--kind=image", "--kind=script", "--scope=external"], []),
        (["--problem", "unresolved"], []),
        (["--where", "kind = 'image' OR target LIKE '%g/' -- or so"], ["i.png", "http://g/"]),
        (["--where", "list_contains(problems, 'divergent')"], []),
        (["--where", 'line = 1 AND "start" > 20', "--kind", "navigation"], ["http://g/", "x"]),
    ],
)
def test_only_rows_that_pass_all_filters_are_listed(absolve: Runner, options: list[str], found: list[str]) -> None:
    done = absolve("links", "site/a.html", URL, *options)
    assert [json.loads(line)["reference"] for line in done.lines] == found
    assert done.status == 0


@pytest.mark.usefixtures("site")
def test_columns_have_the_order_of_the_option(absolve: Runner) -> None:
    done = absolve("links", "site/a.html", URL, "--columns", "target, kind", "--format=csv", "--kind=image")
    assert done.lines == ["target,kind", "http://h/d/i.png,image"]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_unique_lists_equal_rows_once_in_the_whole_run(
    absolve: Runner, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setattr(many, "WORTH_A_POOL", 1)
    done = absolve("links", "site", URL, "--columns=target,problems", "--unique", "--format=csv", "--jobs", jobs)
    assert done.lines == ["target,problems", "http://h/d/x,", "http://h/d/i.png,", "http://g/,"]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "options",
    [
        ["links", "--kind", "picture"],
        ["links", "--scope", "near"],
        ["links", "--problem", "bad"],
        ["links", "--columns", "url"],
        ["links", "--columns", ","],
        ["links", "--columns", "kind,kind"],
        ["links", "--unique"],
        ["rewrite", "--kind", "picture"],
        ["rewrite", "--kind", "image", "--base", "empty"],
        ["rewrite", "--remap", "http://h"],
        ["rewrite", "--remap", "h=http://g"],
        ["rewrite", "--remap-file", "none.csv"],
    ],
    ids=" ".join,
)
def test_invalid_filters_are_refused_before_any_input_is_read(absolve: Runner, options: list[str]) -> None:
    done = absolve(options[0], "site/a.html", *options[1:])
    assert (done.status, done.out) == (2, b"")


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "condition",
    [
        *("colour = 'red'", "kind =", "target IN (SELECT * FROM read_text('site/a.html'))"),
        "1=1) OR (1=1",
        "1=1); DROP TABLE links; --",
        "1=1); DROP TABLE links; SELECT (1",
        "1=1) --",
        "1=1] OR [1=1",
        "1=1) UNION SELECT 1 WHERE (1=1",
        "1=1) GROUP BY (1",
        "1=1) QUALIFY (true",
        "1=1) -- \n OR (1=1",
        "1=1, 2=2",
        "1=1; SELECT 1",
        "1=1 ORDER BY 1",
        "SELECT true",
        "?",
        "",
        "--",
        "/*",
        "(",
        ")",
        pytest.param("text = '\udcff'", id="not UTF-8"),
        pytest.param("NOT " * 5000 + "true", id="deep"),
        pytest.param("(" * 5000 + "true" + ")" * 5000, id="parentheses"),
        pytest.param("NOT " * 300 + "true AND x", id="less deep"),
    ],
)
def test_a_condition_is_one_and_reads_no_file_and_is_checked_before_any_input_is_read(absolve: Runner, condition: str) -> None:
    done = absolve("links", "site/a.html", "--where", condition)
    assert (done.status, done.out) == (2, b"")
    assert "--where" in done.err


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "condition",
    [
        "text <> ')' AND text <> ']'",
        "true /* ) */ AND true -- )",
        "$$)$$ <> text",
        "(line = 1) OR (line <> 1)",
        "line IN (1, 2) OR [1, 2][1] = 1",
        "EXISTS (SELECT 1)",
        "CASE WHEN line = 1 THEN true ELSE true END",
        "1=1 AND 2=2",
    ],
)
def test_one_condition_may_be_any_expression(absolve: Runner, condition: str) -> None:
    done = absolve("links", "site/a.html", "--where", condition)
    assert done.status == 0
    assert done.out == absolve("links", "site/a.html").out


@pytest.mark.usefixtures("site")
def test_a_condition_that_fails_on_a_row_fails_its_document_only(absolve: Runner) -> None:
    Path("site/b.html").write_bytes(b"<a href=1>")
    done = absolve("links", "site", "--where", "reference::INTEGER = 1", "--columns=reference", URL)
    assert done.status == 1
    assert done.lines == ['{"reference": "1"}']
    assert "site/a.html: where: " in done.err


@pytest.mark.usefixtures("site")
def test_only_the_selected_links_are_rewritten(absolve: Runner) -> None:
    assert absolve("rewrite", "site/a.html", URL, "--kind=image").out == LINKS.replace(b"i.png", b"http://h/d/i.png")
    assert absolve("rewrite", "site/a.html", URL, "--kind=image", "--dry-run").lines == [
        "site/a.html: 4 links, 1 would change"
    ]
    assert (
        b"+<a href=x>1</a><img src=http://h/d/i.png>"
        in absolve("rewrite", "site/a.html", URL, "--kind=image", "--diff").out
    )


def test_remap_rules_come_from_options_and_from_a_file(absolve: Runner, site: Path) -> None:
    for path in site.iterdir():
        path.write_bytes(LINKS.replace(b"x>3", b"z>3"))
    Path("moved.csv").write_text(
        "from,to,how\nhttp://h/d/i.png,http://exact/,exact\nhttp://(g)/,http://\\1\\1/,regex\n\n//h/d/x,//y\n"
    )
    done = absolve(
        "rewrite", "site", URL, "--in-place", "--remap-file=moved.csv", "--remap=//h=https://new", "--verify"
    )
    assert (done.status, done.err) == (0, "")
    new = b"<a href=http://y/>1</a><img src=http://exact/><a href=http://gg/>2</a><a href=https://new/d/z>3</a>"
    assert [path.read_bytes() for path in sorted(site.iterdir())] == [new, new]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("row", ["http://a", "http://a,http://b,exact,more", "a,http://b", "(,http://b,regex"])
def test_an_invalid_remap_rule_is_reported_with_its_line(absolve: Runner, row: str) -> None:
    Path("moved.csv").write_text(f"http://x,http://y\n{row}\n")
    done = absolve("rewrite", "site/a.html", "--remap-file=moved.csv")
    assert (done.status, done.out) == (2, b"")
    assert "moved.csv:2: " in done.err


@pytest.mark.usefixtures("site")
def test_a_remap_rule_that_cannot_be_linear_is_reported_with_file_and_line(absolve: Runner) -> None:
    Path("rules.csv").write_text("from,to,how\nhttp://o/(.*),http://n/\\1,regex\n(?=a)b,http://n/,regex\n")
    done = absolve("rewrite", "site/a.html", "--remap-file", "rules.csv")
    assert (done.status, done.out) == (2, b"")
    assert "rules.csv:3: the regex rule '(?=a)b' to 'http://n/' cannot be used: look-ahead" in done.err


@pytest.mark.usefixtures("site")
def test_a_remap_rule_with_ambiguous_repetition_takes_linear_time(absolve: Runner) -> None:
    Path("rules.csv").write_text("http://o/(a|aa)+/(.*)/(.*),http://n/\\2/\\3,regex\n")
    page = b"<a href='http://o/" + b"a" * 5000 + b"'><a href='http://o/aaa/b/c'>"
    done = absolve("rewrite", "-", "--remap-file", "rules.csv", "--jobs", "2", stdin=page)
    assert done.out == page.replace(b"http://o/aaa/b/c", b"http://n/b/c")
