"""The report of an audit in a real Chromium: quick, without errors or requests, accessible, and safe from its contents."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from made_tables import made

from absolve.audit import outputs
from absolve.verifying.chromium import Chromium
from tests import browser_page

pytestmark = pytest.mark.slow
READY = """new Promise((done, failed) => {
  const look = () => document.documentElement.dataset.ready ? done(performance.now()) : setTimeout(look, 10);
  look(); setTimeout(() => failed(new Error("not ready")), 20000);
})"""
DISPLAY = "getComputedStyle(document.querySelector('{}')).display"
BUSY = 3  # tries: the machine does other things, too


class Reports(NamedTuple):
    """Paths of reports."""

    hostile: Path
    large: Path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    folder = tmp_path_factory.mktemp("reports")
    found = Reports(folder / "hostile.html", folder / "large.html")
    for path, connection in ((found.hostile, made(600, hostile=True)), (found.large, made(100_000))):
        with closing(connection):
            outputs.write(connection, path)
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(browser_page.program()) as browser:
        yield browser


class Page(browser_page.Page):
    """The page of a report; `ready` is the time in milliseconds until it can be used."""

    def __init__(self, chromium: Chromium, path: Path, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", scripts: bool = True) -> None:
        super().__init__(chromium, path.as_uri(), width=width, scheme=scheme, scripts=scripts)
        self.ready = self.value(READY) if scripts else 0.0

    def press(self, key: str) -> None:
        self.do(lambda: self.page.keyboard.press(key))

    def milliseconds(self, change: str) -> float:
        """Return the time until the list shows the result of a change."""
        found = self.value(f"""(async () => {{ const $ = id => document.getElementById(id); const begin = performance.now();
            {change}; await report.update(); await new Promise(requestAnimationFrame); return performance.now() - begin; }})()""")
        return float(found)


def test_the_report_makes_no_request_and_no_report_on_the_console(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.hostile)
    page.value("document.querySelector('#list .open').click()")
    page.value("new Promise(done => setTimeout(done, 300))")
    assert page.requests == [reports.hostile.as_uri()]
    assert page.reports == []


def test_texts_of_pages_do_no_harm(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.hostile)
    title = page.value("document.title")
    assert title == "Audit of https://docs.example.org/"
    for number in range(10):
        page.value(f"document.querySelectorAll('#list .open')[{number}].click()")
        page.value("new Promise(done => setTimeout(done, 100))")
        page.value("document.querySelector('#detail').close()")
    assert page.value("document.title") == title
    assert page.value("document.querySelectorAll('script').length") == 7
    assert page.value("document.querySelectorAll('img, iframe, object, base').length") == 0
    assert "<script>document.title='harmed'</script>" in page.value("[...document.querySelectorAll('#list .open')].map(one => one.textContent)")
    assert page.reports == []


def test_100_000_findings_are_usable_in_three_seconds(chromium: Chromium, reports: Reports) -> None:
    assert min(Page(chromium, reports.large).ready for _ in range(BUSY)) < 3000


@pytest.mark.parametrize(
    "change",
    [
        "$('search').value = 'config' + Math.random()", "$('search').value = 'config network'", "$('search').value = ''",
        "$('verdict').value = 'broken'", "$('section').value = '/docs/'", "$('kind').value = 'map'", "$('sort').value = 'title'",
    ],
)  # fmt: skip
def test_a_filter_a_search_and_a_sort_are_answered_in_200_ms(chromium: Chromium, reports: Reports, change: str) -> None:
    page = Page(chromium, reports.large)
    page.value("new Promise(done => setTimeout(done, 500))")
    assert min(page.milliseconds(change) for _ in range(BUSY)) < 200


def test_filters_narrow_the_list_and_say_how_far(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.large)
    every = page.value("document.getElementById('status').textContent")
    page.milliseconds("$('verdict').value = 'broken'; $('section').value = '/docs/'")
    status = page.value("document.getElementById('status').textContent")
    assert status != every
    names = page.value("[...document.querySelectorAll('#list .badge')].map(one => one.textContent)")
    assert set(names) == {"Broken"}
    page.value("document.getElementById('reset').click()")
    page.value("new Promise(done => setTimeout(done, 200))")
    assert page.value("document.getElementById('status').textContent") == every


def test_the_rows_of_a_picture_filter_the_list(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.large)
    page.value("document.querySelector('#figure-treemap button[data-section]').click()")
    page.value("new Promise(done => setTimeout(done, 300))")
    assert page.value("document.getElementById('verdict').value && document.getElementById('section').value")
    assert page.value("document.activeElement.id") == "search"


def test_only_the_rows_in_view_are_in_the_page(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.large)
    assert page.value("report.data.count") > 5000
    assert page.value("document.querySelectorAll('#list .tabulator-row').length") < 200


def test_a_cause_opens_and_closes_by_keyboard(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.hostile)
    reached = set()
    for _ in range(200):
        page.press("Tab")
        reached.add(page.value("document.activeElement.id || document.activeElement.className || document.activeElement.localName"))
        if page.value("document.activeElement.className === 'open'"):
            break
    assert {"skip", "search", "verdict", "section", "kind", "sort", "open"} <= reached
    page.press("Enter")
    page.value("new Promise(done => setTimeout(done, 200))")
    assert page.value("document.getElementById('detail').open")
    assert page.value("document.getElementById('detail').contains(document.activeElement)")
    page.press("Escape")
    assert not page.value("document.getElementById('detail').open")
    assert page.value("document.activeElement.className") == "open"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("is_open", [False, True], ids=["page", "dialog"])
def test_axe_finds_no_serious_fault(chromium: Chromium, reports: Reports, scheme: Literal["light", "dark"], *, is_open: bool) -> None:
    pytest.importorskip("axe_core_python", reason="the axe engine is not installed")
    page = Page(chromium, reports.hostile, scheme=scheme)
    if is_open:
        page.value("document.querySelector('#list .open').click()")
        page.value("new Promise(done => setTimeout(done, 300))")
    else:
        page.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.value(resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8") + ";0")
    part = "'#detail'" if is_open else "document"  # the page behind a dialog is inert
    found = page.value(f"axe.run({part}).then(done => done.violations.map(one => [one.impact, one.id, one.nodes[0].html]))")
    assert [one for one in found if one[0] in {"serious", "critical"}] == []
    assert page.value(f"axe.run({part}).then(done => done.passes.length)") > 5


@pytest.mark.parametrize("width", [400, 700, 1280])
def test_nothing_is_wider_than_the_window(chromium: Chromium, reports: Reports, width: int) -> None:
    page = Page(chromium, reports.hostile, width=width)
    assert page.value("document.documentElement.scrollWidth") <= width
    page.value("document.querySelector('#list .open').click()")
    assert page.value("document.getElementById('detail').scrollWidth <= document.getElementById('detail').clientWidth")


def test_without_scripts_the_largest_causes_are_a_table(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.hostile, scripts=False)
    assert page.value(DISPLAY.format(".static")) == "table"
    assert not page.value("document.querySelector('.tools').checkVisibility()")
    assert page.reports == []


def test_print_shows_the_table_in_place_of_the_list(chromium: Chromium, reports: Reports) -> None:
    page = Page(chromium, reports.hostile, scheme="dark")
    page.do(lambda: page.page.emulate_media(media="print"))
    assert page.value(DISPLAY.format(".static")) == "table"
    assert page.value(DISPLAY.format("#list")) == "none"
    assert page.value("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_a_hostile_site_has_a_harmless_report(chromium: Chromium, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    attack = "<script>document.title='harmed'</script>"
    links = [attack.replace("'", "%27"), "\u202egnp.exe", "\x1b[2Jx", "</script><img src=x onerror=document.title=1>", "a&quot;b", "=cmd|x", "//u:secret@new.example/b"]
    body = "".join(f'<a href="{link}">{attack}</a>\n' for link in links)
    (tmp_path / "new/index.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><title>&lt;/title>{attack}</title>{body}", "utf-8")
    (tmp_path / "new/a<b>.html").write_text("<!DOCTYPE html><title>x</title><a href='no'>no</a>")
    argv = [sys.executable, "-m", "absolve", "audit", "new", "--url", "https://new.example/", "-o", "report.html", "--quiet"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    page = Page(chromium, tmp_path / "report.html")
    for number in range(page.value("document.querySelectorAll('#list .open').length")):
        page.value(f"document.querySelectorAll('#list .open')[{number}].click()")
        page.value("new Promise(done => setTimeout(done, 100))")
        page.value("document.querySelector('#detail').close()")
    assert page.value("document.title") == "Audit of https://new.example/"
    assert page.reports == []
    assert page.requests == [(tmp_path / "report.html").as_uri()]
    text = page.value("document.body.innerText + report.data.texts.join() + report.data.lines.join() + report.data.documents.join()")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "secret" not in text
    assert "document.title=" in text


@pytest.mark.parametrize(
    ("picture", "field", "value"), [("layers", "layer", "retrieval"), ("hosts", "search", "host"), ("flows", "section", "/")]
)
def test_each_picture_is_a_filter(chromium: Chromium, reports: Reports, picture: str, field: str, value: str) -> None:
    page = Page(chromium, reports.large)
    every = page.value("document.getElementById('status').textContent")
    page.value(f"document.querySelector('#figure-{picture} button[data-{field}]').click()")
    page.value("new Promise(done => setTimeout(done, 300))")
    assert page.value(f"document.getElementById('{field}').value").startswith(value)
    assert page.value("document.getElementById('status').textContent") != every
    page.value("document.querySelector('#list .open')?.click()")
    assert page.reports == []
