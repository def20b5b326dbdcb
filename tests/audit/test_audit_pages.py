"""Findings on pages of the new site: orphans, canonical links, languages, sitemaps, duplicates."""

from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page


def test_a_page_without_links_to_it_is_an_orphan(tmp_path: Path) -> None:
    files = {"index.html": links("a.html", "r"), "a.html": page(), "b.html": page("b"), "alone.html": links("alone.html"), "entry.html": page("e"), "404.html": page("n")}
    done = audited(tmp_path, files, "--ignore", "/entry.html$", maps={"m.csv": "/r,/b.html\n"})
    assert done.pages == {("orphan", "alone.html")}
    assert done.status == 1  # the redirect


def canonical(target: str) -> str:
    return page(target, f'<link rel=canonical href="{target}">')


@pytest.mark.parametrize("url", ["https://u.example/proj", "https://u.example/proj/", "https://u.example"])
def test_the_home_page_of_a_folder_is_no_orphan(tmp_path: Path, url: str) -> None:
    assert audited(tmp_path, {"index.html": links("a.html"), "a.html": page()}, url=url).pages == set()


def test_canonical_links_that_contradict(tmp_path: Path) -> None:
    files = {
        "index.html": canonical(NEW).replace("<h1>", "") + links(*"abcdefgh"),
        "a.html": canonical("http://old.example/a.html"),
        "b.html": canonical("/no.html"),
        "c.html": canonical("/r"),
        "d.html": canonical("/e.html"),
        "e.html": canonical("/index.html"),
        "f.html": page("f", "<link rel=canonical href=/f.html><link rel=canonical href=/a.html>"),
        "g.html": canonical("/G.html"),
        "h.html": canonical("http://["),
        "i.html": canonical("https://elsewhere.example/i"),
    }
    done = audited(tmp_path, files, "--old-url", OLD, maps={"m.csv": "/r,/\n"})
    assert {url for verdict, url in done.pages if verdict == "canonical"} == {f"{name}.html" for name in "abcdfgh"}


def test_the_machine_that_the_site_was_made_on_is_named_in_findings_of_pages(tmp_path: Path) -> None:
    local = "http://localhost:8000/a.html"
    files = {
        "index.html": links("a.html"),
        "a.html": page("a", f'<link rel=canonical href="{local}"><link rel=alternate hreflang=en href="{local}">'),
        "sitemap.xml": f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{NEW}</loc></url><url><loc>{local}</loc></url></urlset>',
    }
    done = audited(tmp_path, files)
    assert {(row["verdict"], row["detail"]) for row in done.tables["pages"] if "machine" in (row["detail"] or "machine")} == {
        ("canonical", f"its canonical link leads to the machine that the site was made on: {local}"),
        ("hreflang", f"its link for en leads to the machine that the site was made on: {local}"),
        ("sitemap", "the sitemap lists a URL of the machine that the site was made on"),
    }


def alternates(*pairs: str) -> str:
    return page(" ".join(pairs), "".join(f'<link rel=alternate hreflang={pair.partition("=")[0]} href="{pair.partition("=")[2]}">' for pair in pairs))


def test_languages_that_contradict(tmp_path: Path) -> None:
    files = {
        "index.html": alternates("en=/", "de=/de.html", "fr=/fr.html", "es=/es.html"),
        "de.html": alternates("de=/de.html", "en=/"),
        "fr.html": page("fr"),
        "it.html": alternates("it=/it.html", "it=/de.html"),
        "feed.html": page("f", "<link rel=alternate type=application/rss+xml href=/fr.html>"),
    }
    details = {row["url"].removeprefix(NEW): row["detail"] for row in audited(tmp_path, files).tables["pages"] if row["verdict"] == "hreflang"}
    assert set(details) == {"", "fr.html", "it.html", "de.html"}
    assert "no return link" in details["fr.html"]
    assert "es.html" in details[""]
    assert "two pages" in details["it.html"]


HTTP = "http://new.example/no.html"


def test_a_sitemap_that_lists_wrong_urls(tmp_path: Path) -> None:
    urls = "".join(f"<url><loc>{url}</loc></url>" for url in (NEW, f"{NEW}gone.html", f"{OLD}a.html", f"{NEW}r", f"{NEW}c.html", f"{NEW}B.html", HTTP))
    files = {
        "index.html": links("a.html", "c.html"), "a.html": page("a"), "b.html": page("b"), "c.html": canonical("/a.html"),
        "sitemap.xml": f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>',
    }  # fmt: skip
    done = audited(tmp_path, files, "--old-url", OLD, maps={"m.csv": "/r,/a.html\n"})
    assert {row["url"] for row in done.tables["pages"] if row["verdict"] == "sitemap"} == {f"{NEW}gone.html", f"{OLD}a.html", f"{NEW}r", f"{NEW}c.html", f"{NEW}B.html", HTTP}
    assert done.found[HTTP] == "broken"


def test_the_same_content_at_two_urls(tmp_path: Path) -> None:
    same = canonical("/c.html")
    files = {"index.html": links("a.html", "b.html", "c.html", "d.html"), "a.html": page("same"), "b.html": page("same"), "c.html": same, "d.html": same}
    assert {url for verdict, url in audited(tmp_path, files).pages if verdict == "duplicate"} == {"b.html"}
