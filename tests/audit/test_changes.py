"""What changed on the pages that stayed, and the hosts of the old site."""

from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, written

from absolve.cli import main

TEXT = "<h1>Prices</h1><p>apples pears plums cherries are sold here by the pound and by the sack each day of the week</p>"


def test_what_changed_on_a_page_that_stayed_is_a_table_and_no_failure(tmp_path: Path) -> None:
    head = '<meta name=robots content=noarchive><link rel=canonical href="./">'
    old = {"index.html": page(TEXT + '<a href="b.html">t</a>', title="Prices - Old"), "b.html": page(title="B")}
    text = f"{TEXT}<h1>and<br>more</h1>"
    new = {"index.html": page(text, head, title="Prices"), "c.html": page(title="B")}
    done = audited(tmp_path, new, "--ignore", "/c.html$", old=old, maps={"m.csv": "/b.html,/c.html\n"})
    rows = {(row["url"].removeprefix(OLD), row["what"], row["old"], row["new"]) for row in done.tables["changes"]}
    assert rows == {
        ("", "title", "Prices - Old", "Prices"),
        ("", "h1", "Prices", "Prices / and more"),
        ("", "text in common", "100 %", "95 %"),
        ("", "robots", None, "noarchive"),
        ("", "canonical", None, "itself"),
        ("b.html", "links to it", "1", "0"),
    }
    assert done.status == 0
    assert audited(tmp_path, new, "--ignore", "/c.html$", "--fail-on", "changed", old=old).status == 1


def test_a_list_of_old_urls_has_no_pages_that_could_have_changed(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text(f"{OLD}\n", "utf-8")
    done = audited(tmp_path, {"index.html": page(TEXT)}, "--old", tmp_path / "old.txt", "--old-url", OLD)
    assert done.url("")["verdict"] == "kept"
    assert done.tables["changes"] == []


def test_more_hosts_of_the_old_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = {"b.html": page(TEXT)}, {"index.html": links("http://www.old.example/b.html"), "c.html": page(TEXT)}
    written(tmp_path / "new", new)
    main(["audit", f"{tmp_path}/new", "--url", NEW, "--old-url", OLD])
    assert "www.old.example: twin-host: 1 link leads to this host" in capsys.readouterr().err
    done = audited(tmp_path, new, "--old-url", "http://www.old.example/", old=old)
    assert done.link("http://www.old.example/b.html")["fix"] == f"{NEW}c.html"


def test_a_rule_for_the_old_host_takes_no_repair_away(tmp_path: Path) -> None:
    old, new = {"index.html": links("b.html"), "b.html": page(TEXT)}, {"index.html": links("b.html"), "c.html": page(TEXT)}
    for maps in ({}, {"m.csv": f"{OLD}b.html,{NEW}c.html\n"}):
        assert audited(tmp_path, new, old=old, maps=maps).link("b.html")["fix"] == "c.html"


@pytest.mark.parametrize(("code", "is_right"), [
    *((code, True) for code in ("en", "en-GB", "es-419", "zh-Hant", "zh-Hans-CN", "x-default", "fil")),
    *((code, False) for code in ("en_US", "en-UK", "us", "english", "x", "de-")),
])
def test_codes_of_languages(tmp_path: Path, code: str, *, is_right: bool) -> None:
    head = f'<link rel=alternate hreflang={code} href="./">'
    assert (("hreflang", "") in audited(tmp_path, {"index.html": page("", head)}).pages) is not is_right


def test_a_sitemap_that_lacks_pages_is_one_finding(tmp_path: Path) -> None:
    names = ("a.html", "b.html", "404.html", "d.html")
    head = {"d.html": "<meta name=robots content=noindex>"}
    files = {name: page(name, head.get(name, "")) for name in names}
    files["index.html"] = links(*names)
    files["sitemap.xml"] = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{NEW}</loc></url></urlset>'
    found = [row["detail"] for row in audited(tmp_path, files).tables["pages"] if row["verdict"] == "sitemap"]
    assert found == ["no sitemap lists it, nor another page"]


def test_a_template_that_nothing_has_filled_in_is_a_finding_of_its_own(tmp_path: Path) -> None:
    files = {"index.html": links("{{ url }}", "/p/{{ id }}.html", "/p/{id}.html")}
    assert audited(tmp_path, files).found == {"{{ url }}": "placeholder", "/p/{{ id }}.html": "placeholder", "/p/{id}.html": "broken"}


def test_a_canonical_link_that_leads_away_is_a_finding_if_the_old_one_did_not(tmp_path: Path) -> None:
    def head(url: str) -> str:
        return page(TEXT, f'<link rel=canonical href="{url}">')

    new = {"index.html": head("https://elsewhere.example/")}
    assert ("canonical", "") in audited(tmp_path, new, old={"index.html": page(TEXT)}).pages
    assert ("canonical", "") not in audited(tmp_path, new, old={"index.html": head("https://elsewhere.example/")}).pages


@pytest.mark.parametrize(("urls", "is_right"), [
    (("/a.html", "/a.html"), True),
    (("/d/", "/d/index.html"), True),
    (("/a.html", "/"), False),
    (("/", "https://elsewhere.example/"), False),
])
def test_an_og_url_is_the_canonical_url(tmp_path: Path, urls: tuple[str, str], *, is_right: bool) -> None:
    head = '<meta name=twitter:url content="/d/"><link rel=canonical href="{}"><meta property="OG:url" content="{}">'
    files = {"index.html": page("", head.format(*urls)), "a.html": page("a"), "d/index.html": page("d")}
    found = [row for row in audited(tmp_path, files).tables["pages"] if "og:url" in row["detail"]]
    assert [(row["verdict"], row["url"]) for row in found] == ([] if is_right else [("canonical", NEW)])


def test_a_rule_that_leads_to_the_own_site_by_http_is_wrong(tmp_path: Path) -> None:
    maps = {"m.csv": "/a.html,http://new.example/b.html\n/c.html,/b.html\n"}
    rows = audited(tmp_path, {"index.html": links("b.html"), "b.html": page()}, "--old-url", OLD, maps=maps).tables["rules"]
    assert [row["finding"] for row in rows] == ["leads to http", "unused"]
