"""The report of an audit as a file: one document without references, scripts by their hashes, hostile texts as data."""

from __future__ import annotations

import base64
import gzip
import json
import re
import runpy
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib
import pytest
from made_tables import HOSTILE, made

from absolve.audit import outputs, report
from absolve.audit.outputs import baseline, words
from absolve.audit.report import data
from absolve.audit.report.data import MOST_TEXT, SourceLines, shown
from absolve.core.printable import masked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    import duckdb

VENDOR = Path(report.__file__).parent / "vendor"
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
    assert len(scripts) == 6


def test_the_page_refers_to_nothing_outside_itself(tree: Element) -> None:
    names = {"src", "srcset", "href", "action", "formaction", "data", "poster", "background", "ping"}
    references = [value for one in tree.iter() for name, value in one.items() if name in names]
    assert set(references) == {"#causes", "#licences"}
    assert not [one.tag for one in tree.iter() if one.tag in {"link", "iframe", "object", "embed", "base", "img"}]


def test_no_attribute_is_a_handler_or_a_style(tree: Element) -> None:
    assert not [name for one in tree.iter() for name, _ in one.items() if name.startswith("on") or name == "style"]


def test_texts_of_pages_stay_texts(page: bytes, tree: Element) -> None:
    texts = {(one.text or "") for one in tree.iter("td")}
    assert HOSTILE[0] in texts  # a script, in the table of causes
    assert len(list(tree.iter("script"))) == 7
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


@pytest.mark.parametrize(
    ("sizes", "most", "each"), [([], 5, 1), ([3], 5, 3), ([9], 5, 5), ([9, 1], 5, 4), ([5, 5, 5], 7, 2), ([1] * 9, 5, 1), ([8, 8], 16, 8)]
)
def test_findings_are_shared_out_among_causes(sizes: list[int], most: int, each: int) -> None:
    assert data.most_of_each(sizes, most) == each


def test_the_same_results_make_the_same_report(tmp_path: Path) -> None:
    with closing(made(60)) as one, closing(made(60)) as other:
        assert rendered(one, tmp_path) == rendered(other, tmp_path)


def test_a_site_without_an_old_one_has_another_question(tmp_path: Path) -> None:
    with closing(made(20)) as connection:
        connection.execute("DELETE FROM urls; DELETE FROM flows")
        connection.execute("UPDATE summary SET value = '0' WHERE name = 'urls'")
        assert b"Are the links right?" in rendered(connection, tmp_path)


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
    assert b'<section class="listing"' not in found
    assert b"1 finding is ignored. 1,200 findings are left out, of unchanged documents." in found


def test_causes_of_old_urls_have_the_number_of_their_requests(page: bytes) -> None:
    causes = data_of(page)["causes"]
    assert sum(causes["requests"]) > 0
    assert b'<option value="requests">' in page


def test_no_finding_is_an_answer_too(tmp_path: Path) -> None:
    with closing(made(0, ok=10)) as connection:
        connection.execute("DELETE FROM pages; DELETE FROM rules; DELETE FROM urls WHERE verdict NOT IN ('kept', 'mapped')")
        connection.execute("DELETE FROM sections WHERE verdict NOT IN ('ok', 'same', 'external', 'kept', 'mapped')")
        connection.execute("UPDATE summary SET value = CASE name WHEN 'can_switch' THEN 'true' ELSE '[]' END WHERE name IN ('can_switch', 'reasons')")
        page = rendered(connection, tmp_path)
        assert b"Yes, we can switch." in page
        assert data_of(page)["length"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [False, True], ids=["few causes", "a cause for each finding"])
def test_100_000_findings_make_at_most_4_mb(tmp_path: Path, *, distinct: bool) -> None:
    with closing(made(100_000)) as connection:
        if distinct:
            connection.execute("UPDATE links SET cause = verdict || rowid, reference = reference || rowid WHERE cause IS NOT NULL")
        assert len(rendered(connection, tmp_path)) <= 4_000_000


def test_long_texts_are_cut() -> None:
    assert len(shown("x" * 10_000)) == MOST_TEXT


def test_a_source_line_is_what_is_around_the_reference(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_bytes(b"<p>\nx" + b"y" * 90 + b'<a href="b.html">\x1b[31m</a>' + b"z" * 90 + b"\n<p>")
    start = file.read_bytes().index(b"b.html")
    line = SourceLines([tmp_path]).line(str(file), start, start + 6, "b.html")
    assert line == "…" + "y" * 51 + '<a href="b.html">' + r"\x1b[31m</a>" + "z" * 49


@pytest.mark.parametrize(
    "text",
    [
        '<a href="//u:secret@h/"></a><a href="b.html">', '<a href="b.html"></a><a href="http://u:secret@h/">',
        f'<a href="http://u:{"secret" * 20}@h/"></a><a href="b.html">', f'<a href="b.html"></a><a href="http://u:{"secret" * 20}@h/">',
    ],
)  # fmt: skip
def test_a_source_line_shows_no_user_information(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(text)
    start = text.index("b.html")
    line = SourceLines([tmp_path]).line(str(tmp_path / "a.html"), start, start + 6, "b.html")
    assert "b.html" in line
    assert "secret" not in line
    assert "secret" in SourceLines([tmp_path], credentials=True).line(str(tmp_path / "a.html"), start, start + 6, "b.html")


@pytest.mark.parametrize("roots", [[], ["other"], ["si"]])
def test_a_document_below_no_input_is_not_opened(tmp_path: Path, roots: list[str]) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/a.html").write_text("b.html")
    assert SourceLines([tmp_path / "site"]).line(str(tmp_path / "site/a.html"), 0, 6, "b.html") == "b.html"
    assert not SourceLines([tmp_path / root for root in roots]).line(str(tmp_path / "site/a.html"), 0, 6, "b.html")


@pytest.mark.parametrize(("start", "end", "reference"), [(0, 6, "c.html"), (0, 99, "b.html"), (-1, 2, "b"), (9, 3, "b")])
def test_a_changed_document_shows_no_line(tmp_path: Path, start: int, end: int, reference: str) -> None:
    (tmp_path / "a.html").write_text("b.html")
    assert not SourceLines([tmp_path]).line(str(tmp_path / "a.html"), start, end, reference)


def test_a_link_out_of_the_input_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("b.html")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/a.html").symlink_to(tmp_path / "secret")
    assert not SourceLines([tmp_path / "site"]).line(str(tmp_path / "site/a.html"), 0, 6, "b.html")


def test_the_vendored_files_have_their_licences_and_the_pinned_versions() -> None:
    script = runpy.run_path(str(ROOT / ".ci/vendor"))
    licences = (VENDOR / "LICENSES.txt").read_text("utf-8")
    third_party = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    for name in script["LICENSED"]:
        version = script["VERSIONS"][name]
        assert f"{name} {version} (" in licences
        assert f"| {name} | {version} |" in third_party
    assert {path.name for path in VENDOR.iterdir()} == {f"{name}.min.js" for name in script["ENTRIES"]} | {"tabulator.min.css", "LICENSES.txt"}


def test_the_baseline_is_a_sentence_and_a_picture(tmp_path: Path) -> None:
    with closing(made(60)) as connection:
        outputs.write(connection, tmp_path / "a.sqlite")
        baseline.compare(connection, tmp_path / "a.sqlite")
        page = rendered(connection, tmp_path)
        assert b"<b>0 new</b> and <b>0 healed</b> findings" in page
        assert b'id="picture-baseline"' not in page
        connection.execute("UPDATE links SET verdict = 'ok' WHERE rowid = (SELECT min(rowid) FROM links WHERE verdict = 'broken')")
        baseline.compare(connection, tmp_path / "a.sqlite")
        page = rendered(connection, tmp_path)
        assert b"<b>0 new</b> and <b>1 healed</b> finding." in page
        assert data_of(page)["pictures"]["baseline"] == [["broken", "healed", 1]]


def test_every_verdict_of_a_finding_has_a_colour() -> None:
    styles = Path(report.__file__).with_name("report.css").read_text("utf-8")
    light, dark, printed = (styles[place:] for place in (0, styles.index("prefers-color-scheme"), styles.index("@media print")))
    for verdict in words.VERDICTS:
        assert all(f"--v-{verdict}:" in part for part in (light, dark, printed)), verdict
        assert f".v-{verdict} " in styles or f".v-{verdict}," in styles, verdict
