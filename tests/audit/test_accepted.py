"""What is known and accepted, and where the old host is named outside links."""

from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, written
from linear import measure

from absolve.audit import ignoring
from absolve.audit.ignoring import regions
from absolve.cli import main
from absolve.core.errors import UsageError
from absolve.rewriting import mentions


@pytest.mark.parametrize(("options", "wanted"), [
    ((), {"gone/x.html", "y.html", "z.html"}),
    (("--ignore", "/gone/", "--ignore", "^y # not yet written", "--ignore", "^z.html$ \t # padded"), set()),
    (("--ignore", "example/gone", "--fragments", "all"), {"y.html", "z.html", "a.html#/route", "a.html#!x"}),
])
def test_a_pattern_leaves_out_what_it_matches(tmp_path: Path, options: tuple[str, ...], wanted: set[str]) -> None:
    files = {"index.html": links("a.html#/route", "a.html#!x", "gone/x.html", "y.html", "z.html"), "a.html": page()}
    assert audited(tmp_path, files, *options).found.keys() == wanted


def test_the_first_pattern_that_matches_counts_and_one_that_meets_nothing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = "".join(f"^x{number}$\n" for number in range(1000))  # all are asked together
    written(tmp_path, {"new/index.html": links("gone.html"), "known": f"# what we know\ngone # later\n/nothing/\ngone.html\n{many}"})
    status = main(["audit", f"{tmp_path}/new", "--url", NEW, "--ignore", f"@{tmp_path}/known", "-v"])
    found = capsys.readouterr().err
    assert [status, *("known:3: unused-ignore: no finding matches '/nothing/'" in found, "known:4: unused-ignore: " in found, "known:2: " in found)] == [0, True, True, False]
    assert "1 finding ignored" in found


def test_more_patterns_than_are_sane_and_a_file_without_end_are_usage_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {"new/index.html": page(), "known": "/a/\n/b/\n" + 2000 * "\n"})
    for most, option, words in ((1, (), "known:2: more than 1 patterns"), (9, ("--max-size", "1000"), "more than 1,000 bytes (--max-size)")):
        monkeypatch.setattr(ignoring, "_MOST", most)
        assert main(["check", f"{tmp_path}/new", "--ignore", f"@{tmp_path}/known", *option]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(UsageError, match="more than 1,000 bytes"):
        ignoring.parse_patterns(["@/dev/zero"], 1000)


@pytest.mark.parametrize("pattern", ["(", "a(?=b)"])
def test_a_wrong_pattern_is_a_usage_error(pattern: str) -> None:
    with pytest.raises(UsageError):
        ignoring.parse_patterns([pattern])


@pytest.mark.parametrize(("text", "expected"), [
    ("<p><a data-absolve-ignore href=x>t</a></p>", ["<a data-absolve-ignore href=x>t</a>"]),
    ('<div DATA-absolve-ignore="a > b"><div></div>x</div>y', ['<div DATA-absolve-ignore="a > b"><div></div>x</div>']),
    ("<img data-absolve-ignore src=x><img src=y>", ["<img data-absolve-ignore src=x>"]),
    ("<nav data-absolve-ignore><!-- </nav> --><a>", ["<nav data-absolve-ignore><!-- </nav> --><a>"]),
    ("<!-- <p data-absolve-ignore> --><p>", []),
    ('<script>"<p data-absolve-ignore>"</script><a href=gone>', []),
    ("<textarea><p data-absolve-ignore></textarea><a href=gone>", []),
    ('<p title="data-absolve-ignore"><a href=gone>', []),
    ('<p data-absolve-ignore><script>"</p>"</script></p>y', ['<p data-absolve-ignore><script>"</p>"</script></p>']),
    ("<svg><image data-absolve-ignore href=x /><image href=y /></svg>", ["<image data-absolve-ignore href=x />"]),
    ("<script data-absolve-ignore>x</script>y", ["<script data-absolve-ignore>x</script>"]),
    ("<p data-absolve-ignore>x</p y", ["<p data-absolve-ignore>x</p y"]),
    ("<p data-absolve-ignore><!-- > --><img data-absolve-ignore></P >y", ["<p data-absolve-ignore><!-- > --><img data-absolve-ignore></P >"]),
])
def test_an_element_with_the_attribute_is_accepted_as_a_whole(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in regions(text.encode())] == expected


def test_end_tags_that_are_not_closed_take_linear_time() -> None:
    measure(lambda data: list(regions(b"<p data-absolve-ignore>" + data)), b"</a " * 10_000)


def test_mentions_of_the_old_host_are_counted_apart_from_links(tmp_path: Path) -> None:
    body = (
        '<a href="http://old.example/a.html">old.example</a><style>p{background:url(http://old.example/i.png)}</style>'
        '<p style="background:url(http://old.example/j.png)">me@old.example www.old.example old.example.org'
        "<script>x='http:\\/\\/old.example\\/api'</script>"
    )
    share = '<a href="https://share.example/?u=%s">t</a>'
    body += share % "http%3A%2F%2Fold.example%2Fp" + share % "http://old.example/" + '<a href="http://old.example/?u=old.example">t</a>'
    files = {"index.html": page(body), "CNAME": "OLD.example\n", "a.css": "/* old.example */"}
    rows = audited(tmp_path, files, "--old-url", OLD).tables["mentions"]
    found = [(Path(row["document"]).name, row["kind"]) for row in rows]
    assert found == [("CNAME", "text"), ("a.css", "style"), ("index.html", "text"), ("index.html", "script"), *[("index.html", "attribute")] * 2]


@pytest.mark.parametrize(("text", "charset", "expected"), [
    (b"old.example\n old.example old.example", "utf-8", [1, 2, 14]), ("é old.example é old.example".encode(), None, [3, 17]),
    ("é old.example é old.example".encode(), "windows-874", [4, 19]), (b"\xe3\x81old.example \xe3\x81\x82old.example", "utf-8", [2, 15]),
    ("あ old.example あ old.example".encode("cp932"), "shift_jis", [3, 17]), (b"\x81\nold.example", "shift_jis", [1]),
    ("é old.example".encode(), "no-charset", [3]),
])
def test_the_columns_of_mentions_are_in_characters(text: bytes, charset: str | None, expected: list[int]) -> None:
    assert columns(text, charset) == expected


def columns(text: bytes, charset: str | None) -> list[int]:
    names = mentions.pattern(["old.example"])
    assert names is not None
    return [column for _, column in mentions.columns(text, mentions.mentions(text, names, None), charset)]


def test_the_columns_of_many_mentions_on_one_line_take_linear_time() -> None:
    measure(lambda data: columns(data, "utf-8"), "é old.example ".encode() * 5000)


def test_a_move_within_one_host_has_no_mentions(tmp_path: Path) -> None:
    files = {"index.html": page("<p>see new.example")}
    assert audited(tmp_path, files, "--old-url", NEW, url=f"{NEW}site/").tables["mentions"] == []
