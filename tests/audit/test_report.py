"""The report of an audit as a file: one document without references, scripts by their hashes, hostile texts as data."""

from __future__ import annotations

import base64
import gzip
import json
import re
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest
from made_tables import HOSTILE, made

from absolve.audit import outputs
from absolve.audit.outputs import baseline
from absolve.audit.report import data
from absolve.audit.report.data import MOST_TEXT, SourceLines, shown
from absolve.audit.verdicts import FINE, QUIET, VERDICTS, words
from absolve.cli import main
from absolve.core.printable import masked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    import duckdb

ROOT = Path(__file__).parents[2]


def rendered(connection: duckdb.DuckDBPyConnection, folder: Path) -> bytes:
    outputs.write(connection, folder / "report.html")
    return (folder / "report.html").read_bytes()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    with closing(made(400, hostile=True)) as connection:
        yield rendered(connection, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def tree(page: bytes) -> Element:
    parsed: Element = html5lib.parse(page, namespaceHTMLElements=False, transport_encoding="utf-8")
    return parsed


def data_of(page: bytes) -> dict[str, Any]:
    found = re.search(rb'<script type="application/octet-stream" id="data">([A-Za-z0-9+/=]+)</script>', page)
    assert found
    value: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return value


def hashes(elements: list[Element]) -> set[str]:
    digests = [sha256((one.text or "").encode()).digest() for one in elements]
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


def test_the_policy_allows_the_scripts_and_styles_of_the_package_and_nothing_else(tree: Element) -> None:
    policy = next(one.get("content", "") for one in tree.iter("meta") if one.get("http-equiv") == "Content-Security-Policy")
    rules = {name: set(values) for name, *values in (rule.split() for rule in policy.split(";"))}
    scripts = [one for one in tree.iter("script") if one.get("type") is None]
    assert rules.pop("script-src") == hashes(scripts)
    assert rules.pop("style-src") == hashes(list(tree.iter("style")))
    assert rules == {"default-src": {"'none'"}, "img-src": {"data:"}, "base-uri": {"'none'"}, "form-action": {"'none'"}}
    assert len(scripts) == 3


def test_the_page_refers_to_nothing_outside_itself_and_has_no_handler(tree: Element) -> None:
    names = {"src", "srcset", "href", "action", "formaction", "data", "poster", "background", "ping"}
    references = [value for one in tree.iter() for name, value in one.items() if name in names]
    assert set(references) <= {f"#{one.get('id')}" for one in tree.iter()}
    assert not [one.tag for one in tree.iter() if one.tag in {"link", "iframe", "object", "embed", "base", "img"}]
    assert not [name for one in tree.iter() for name, _ in one.items() if name.startswith("on") or name == "style"]


def test_texts_of_pages_stay_texts(page: bytes, tree: Element) -> None:
    texts = {(one.text or "") for one in tree.iter("b")}
    assert HOSTILE[0] in texts  # a script, as the title of a cause
    assert len(list(tree.iter("script"))) == 4
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page.decode())
    assert b"secret@" not in page
    found = data_of(page)
    assert {HOSTILE[0], HOSTILE[1], r"\x1b[2J\x1b[31mred\x1b]0;title\x07"} <= set(found["texts"])
    assert "secret" not in json.dumps(found)


def test_the_data_have_each_finding_once_below_its_cause(page: bytes) -> None:
    found = data_of(page)
    causes = found["causes"]
    assert {len(values) for values in causes.values()} == {len(causes["verdict"])}
    assert {len(values) for values in found["findings"].values()} == {found["length"]} == {sum(causes["count"])}
    assert causes["listed"] == causes["count"]
    links = found["kinds"].index("links")
    assert sum(count for count, kind in zip(causes["count"], causes["kind"], strict=True) if kind == links) == 400
    assert {found["kinds"][kind] for kind in causes["kind"]} == {"links", "old URLs", "pages", "map"}
    assert sum(causes["requests"]) > 0
    assert b'<option value="requests">' in page
    fine = [found["verdicts"][number]["id"] in FINE for number in found["urls"]["verdict"]]
    assert fine == sorted(fine), "old URLs with findings first"
    assert {len(column) for column in found["urls"].values()} == {40}


def test_of_very_many_findings_each_cause_lists_some_and_counts_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_FINDINGS", 100)
    with closing(made(2000)) as connection:
        found = data_of(rendered(connection, tmp_path))
        kinds, counts, listed = (found["causes"][name] for name in ("kind", "count", "listed"))
        assert sum(count for count, kind in zip(counts, kinds, strict=True) if not kind) < 2000  # causes are left out, too
        assert sum(number for number, kind in zip(listed, kinds, strict=True) if not kind) == 100
        connection.execute("UPDATE links SET cause = 'c' || (rowid % 7) WHERE cause IS NOT NULL")
        found = data_of(rendered(connection, tmp_path))
        kinds, counts, listed = (found["causes"][name] for name in ("kind", "count", "listed"))
        assert sum(count for count, kind in zip(counts, kinds, strict=True) if not kind) == 2000
        assert 50 < sum(number for number, kind in zip(listed, kinds, strict=True) if not kind) <= 100
        monkeypatch.setattr(data, "MOST_URLS", 7)
        page = rendered(connection, tmp_path)
        assert re.search(rb"The first 7 of \d+ are here", page)
        assert len(data_of(page)["urls"]["url"]) == 7


@pytest.mark.parametrize(("sizes", "most", "each"), [([], 5, 1), ([3], 5, 3), ([9], 5, 5), ([9, 1], 5, 4), ([5, 5, 5], 7, 2), ([1] * 9, 5, 1), ([8, 8], 16, 8)])
def test_findings_are_shared_out_among_causes(sizes: list[int], most: int, each: int) -> None:
    assert data.most_per_cause(sizes, most) == each


def test_an_input_that_could_not_be_read_is_no_yes(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<!DOCTYPE html><title>a</title>")
    (tmp_path / "b.warc").write_text("WARC/1.0\r\nno")
    files = [tmp_path / name for name in ("report.html", "report.md")]
    main(["audit", f"{tmp_path}/a.html", f"{tmp_path}/b.warc", "--url", "https://new.example/", "-q", "-o", str(files[0]), "-o", str(files[1])])
    for text in (file.read_text("utf-8") for file in files):
        assert "Not known: 1 input could not be read." in text
        assert "Not judged: 1 input that could not be read." in text
        assert "no link needs a change" not in text.lower()


def test_what_is_no_finding_has_sections_where_there_is_some(tree: Element, tmp_path: Path) -> None:
    sections = {one.get("aria-labelledby"): "".join(one.itertext()) for one in tree.iter("section")}
    assert f"The first 100 of {60 * len(HOSTILE)}" in sections["mentions-title"]
    assert f"{HOSTILE[0]}.html:3:7" in sections["mentions-title"]
    assert all(shown(masked(text)) in sections["changes-title"] for text in HOSTILE)
    assert "secret@" not in sections["changes-title"]
    with closing(made(20)) as connection:
        connection.execute("DELETE FROM mentions; DELETE FROM changes")
        connection.execute("INSERT INTO summary VALUES ('ignored', '1'), ('left_out', '1200')")
        found = rendered(connection, tmp_path)
    assert b'aria-labelledby="mentions-title"' not in found
    assert b"1 finding is ignored. 1,200 findings are left out, of unchanged documents." in found


def test_no_finding_is_an_answer_too_and_a_site_without_an_old_one_has_another_question(tmp_path: Path) -> None:
    with closing(made(0, ok=10)) as connection:
        connection.execute("DELETE FROM pages; DELETE FROM rules; DELETE FROM urls WHERE verdict NOT IN ('kept', 'mapped')")
        connection.execute("DELETE FROM sections WHERE verdict NOT IN ('ok', 'same', 'external', 'kept', 'mapped')")
        connection.execute("UPDATE summary SET value = CASE name WHEN 'can_switch' THEN 'true' ELSE '[]' END WHERE name IN ('can_switch', 'reasons')")
        page = rendered(connection, tmp_path)
        assert rendered(connection, tmp_path) == page, "the same results make the same report"
        assert b"Yes, we can switch." in page
        assert data_of(page)["length"] == 0
        connection.execute("DELETE FROM urls; DELETE FROM flows")
        connection.execute("UPDATE summary SET value = '0' WHERE name = 'urls'")
        assert b"Are the links right?" in rendered(connection, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [False, True], ids=["few causes", "a cause for each finding"])
def test_100_000_findings_make_at_most_4_mb(tmp_path: Path, *, distinct: bool) -> None:
    with closing(made(100_000)) as connection:
        if distinct:
            connection.execute("UPDATE links SET cause = verdict || rowid, reference = reference || rowid WHERE cause IS NOT NULL")
        assert len(rendered(connection, tmp_path)) <= 4_000_000


def test_a_source_line_is_what_is_around_the_reference(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_bytes(b"<p>\nx" + b"y" * 90 + b'<a href="b.html">\x1b[31m</a>' + b"z" * 90 + b"\n<p>")
    start = file.read_bytes().index(b"b.html")
    line = SourceLines([tmp_path]).line(str(file), start, start + 6, "b.html")
    assert len(shown("x" * 10_000)) == MOST_TEXT
    assert line == "…" + "y" * 51 + '<a href="b.html">' + r"\x1b[31m</a>" + "z" * 49


@pytest.mark.parametrize("text", [
    '<a href="//u:secret@h/"></a><a href="b.html">', '<a href="b.html"></a><a href="http://u:secret@h/">',
    f'<a href="http://u:{"secret" * 20}@h/"></a><a href="b.html">', f'<a href="b.html"></a><a href="http://u:{"secret" * 20}@h/">',
])
def test_a_source_line_shows_no_user_information(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(text)
    start = text.index("b.html")
    line = SourceLines([tmp_path]).line(str(tmp_path / "a.html"), start, start + 6, "b.html")
    assert "b.html" in line
    assert "secret" not in line


@pytest.mark.parametrize("roots", [[], ["other"], ["si"]])
def test_a_document_below_no_input_is_not_opened(tmp_path: Path, roots: list[str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/a.html").write_text("b.html")
    (tmp_path / "site/link.html").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("b.html")
    inside = SourceLines([tmp_path / "site"])
    assert inside.line(str(tmp_path / "site/a.html"), 0, 6, "b.html") == "b.html"
    assert not inside.line(str(tmp_path / "site/link.html"), 0, 6, "b.html"), "a link out of the input"
    assert not SourceLines([tmp_path / root for root in roots]).line(str(tmp_path / "site/a.html"), 0, 6, "b.html")
    for start, end, reference in ((0, 6, "c.html"), (0, 99, "b.html"), (-1, 2, "b"), (9, 3, "b")):  # it was changed
        assert not inside.line(str(tmp_path / "site/a.html"), start, end, reference)


def test_the_baseline_is_a_sentence(tmp_path: Path) -> None:
    with closing(made(60)) as connection:
        outputs.write(connection, tmp_path / "a.sqlite")
        baseline.compare(connection, tmp_path / "a.sqlite")
        page = rendered(connection, tmp_path)
        assert b"Against the baseline: 0 new and 0 healed findings." in page
        connection.execute("UPDATE links SET verdict = 'ok' WHERE rowid = (SELECT min(rowid) FROM links WHERE verdict = 'broken')")
        baseline.compare(connection, tmp_path / "a.sqlite")
        page = rendered(connection, tmp_path)
        assert b"Against the baseline: 0 new and 1 healed finding." in page


def test_a_picture_that_has_nothing_to_show_is_left_out(tmp_path: Path) -> None:
    with closing(made(60)) as connection:
        assert b'id="picture-hosts"' in rendered(connection, tmp_path)
        connection.execute("DELETE FROM hosts WHERE host <> (SELECT min(host) FROM hosts); DELETE FROM layers")
        page = rendered(connection, tmp_path)
    assert b'id="picture-hosts"' not in page
    assert b'id="picture-layers"' not in page
    assert b'id="picture-sections"' in page


def test_what_breaks_comes_first_and_then_what_is_asked_for_most(tree: Element) -> None:
    items = [one for one in tree.iter("li") if "cause" in one.get("class", "")]
    severities = [one.get("class", "")[-1] for one in items]
    requests = [sum(int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d(?= request)", one[1].text or "")) for one in items]
    assert severities == sorted(severities)
    assert len(set(severities)) > 1
    for severity in set(severities):
        of_one = [number for number, own in zip(requests, severities, strict=True) if own == severity]
        assert of_one == sorted(of_one, reverse=True)


def test_the_numbers_are_the_same_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict line, the causes, the pictures, the last line of the command, and the tables as JSON."""
    for name, text in {
        "old/a.html": "<a href=lost.html>l</a>", "old/lost.html": "gone", "old/moved.html": "<p>Some words that have moved to a new place</p>" * 9,
        "new/a.html": '<meta name=robots content=noindex><a href="no.html">1</a><a href="NO.html">2</a><a href="http://old.example/a.html">3</a>',
        "new/other/place.html": "<p>Some words that have moved to a new place</p>" * 9,
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"<!DOCTYPE html><title>{name[4:]}</title>{text}")
    (tmp_path / "map.csv").write_text("old,new,status\n/lost.html,/nowhere.html,301\n/unused.html,/a.html,301\n")
    sites = ("new", "--url", "https://new.example/", "--old", "old", "--old-url", "http://old.example/")
    monkeypatch.chdir(tmp_path)
    main(["audit", *sites, "--map", "map.csv", "-o", "report.html", "-o", "audit.json"])
    done = capsys.readouterr()
    page = (tmp_path / "report.html").read_bytes()
    found, text = data_of(page), page.decode()
    found_text = re.search(r'<p class="found">(Findings: .*)\.</p>', text)
    assert found_text
    assert f"absolve: {found_text[1].lower().replace('url', 'URL')};" in done.err
    assert found_text[1].startswith("Findings: 3 of 3 links, 2 of 3 old URLs")
    total = sum(int(number) for number in re.findall(r"(\d+)(?: of \d+)? [a-z]", found_text[1]))
    printed = [(table, verdict, int(count)) for table, verdict, count in map(str.split, done.out.rpartition("\n\n")[2].splitlines())]
    fine = {*QUIET, *FINE, "changed"}
    assert {verdict for verdict in VERDICTS if not words(verdict).repair} == fine
    assert words("odd").name == "Odd"  # of a baseline that another program wrote
    assert sum(count for _, verdict, count in printed if verdict not in fine) == total
    causes = found["causes"]
    assert sum(causes["count"]) == total
    of_json = json.loads((tmp_path / "audit.json").read_bytes())
    rows = [row for row in of_json if row["table"] in {"links", "urls", "pages"} and row["verdict"] not in fine]
    wrong = sum(count for table, _, count in printed if table == "rules")
    assert len(rows) + wrong == total
    summary = {row["name"]: row["value"] for row in of_json if row["table"] == "summary"}
    assert int(summary["causes"]) == len(causes["kind"])
    assert f"{summary['causes']} causes: " in text
    assert len(found["urls"]["url"]) == int(summary["urls"])
    sections = re.search(r'id="picture-sections".*?</section>', text, re.DOTALL)
    assert sections
    counts = [int(number) for number in re.findall(r'<td class="n">(\d+)</td>', sections[0])]
    assert sum(count for at, count in enumerate(counts) if at % 4 != 3) + wrong == total
    items = re.findall(r'<p class="reach">(\d+) [^<\d]*(?:(?<=, )(\d+) [^<\d]*)?(?:(?<=, )(\d+) )?', text)
    assert sum(int(number or 0) for item in items for number in item) == total
    assert not re.search(r"\b1 (?:links|pages|old URLs|causes|findings|rules|requests|repairs|groups|rows)\b", text)
