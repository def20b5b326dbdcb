"""Verdicts of the URLs of the old site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from audited import NEW, OLD, audited, links, page, run, written

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "river stone lantern copper orchard velvet harbour pencil winter meadow thunder saddle anchor cotton feather silver".split()


def text(seed: int, size: int = 120) -> str:
    """Return a text of its own for each seed."""
    found = []
    number = seed * 7919 + 13
    for _ in range(size):
        number = (number * 1103515245 + 12345) % (1 << 31)
        found.append(WORDS[number >> 12 & 15])
    return f"<p>{' '.join(found)}</p>"


def test_each_old_url_has_a_verdict(tmp_path: Path) -> None:
    old: dict[str, str | bytes] = {"index.html": page("home"), **{f"{name}.html": page(text(number), title=name) for number, name in enumerate("bcdefg")}, "i.png": b"1", "s.css": "a{}"}
    new: dict[str, str | bytes] = {
        "index.html": page("home"),
        "b2.html": page(text(0), title="b"),
        "x/c-renamed.html": page(text(1) + "<p>One more.", title="c"),
        "f.html": page("We have a new site", title="Sorry"),
        "g.html": page(text(5) + "<footer>2026</footer>", title="g"),
        "img/i.png": b"1",
        "s.css": "b{}",
    }
    done = audited(tmp_path, new, old=old, maps={"_redirects": "/b.html /b2.html 301\n/d.html / 410\n"})
    wanted = {
        "": ("kept", "", "same"),
        "b.html": ("mapped", "b2.html", "rule"),
        "c.html": ("moved", "x/c-renamed.html", "content"),
        "d.html": ("gone", None, "rule"),
        "e.html": ("lost", None, None),
        "f.html": ("replaced", None, None),
        "g.html": ("kept", "g.html", "same"),
        "i.png": ("moved", "img/i.png", "digest"),
        "s.css": ("kept", "s.css", "same"),
    }
    found = {row["url"].removeprefix(OLD): (row["verdict"], row["final"] and row["final"].removeprefix(NEW), row["method"]) for row in done.tables["urls"]}
    assert found == wanted
    assert done.url("c.html")["rule"] == "/c.html /x/c-renamed.html 301"
    assert done.url("b.html")["rule"] == f"{tmp_path}/_redirects:1"
    assert done.status == 1


def test_a_catch_all_to_the_home_page_loses_pages(tmp_path: Path) -> None:
    old = {f"{name}.html": page(text(number), title=name) for number, name in enumerate("abc")}
    done = audited(tmp_path, {"index.html": page("home")}, old=old, maps={"_redirects": "/* / 301\n"})
    assert {(row["verdict"], row["cause"]) for row in done.tables["urls"]} == {("lost", "all-to-home")}


def test_one_page_that_leads_home_is_mapped(tmp_path: Path) -> None:
    done = audited(tmp_path, {"index.html": page("home")}, old={"start.html": page(text(1))}, maps={"m.csv": "/start.html,/\n"})
    assert done.url("start.html")["verdict"] == "mapped"


@pytest.mark.parametrize(
    ("rules", "cause"),
    [("/a.html,/never.html\n", "rule-to-nothing"), ("/a.html,/b.html\n/b.html,/a.html\n", "loop")],
)
def test_a_rule_that_leads_nowhere_loses_the_url(tmp_path: Path, rules: str, cause: str) -> None:
    done = audited(tmp_path, {"index.html": page()}, old={"a.html": page(text(1))}, maps={"m.csv": rules})
    row = done.url("a.html")
    assert (row["verdict"], row["cause"].partition(":")[0]) == ("lost", cause)


def test_swapped_pages_are_replaced_and_say_where_they_are(tmp_path: Path) -> None:
    old = {"a.html": page(text(1), title="a"), "b.html": page(text(2), title="b")}
    done = audited(tmp_path, {"a.html": old["b.html"], "b.html": old["a.html"]}, old=old)
    assert [(row["verdict"], row["final"]) for row in map(done.url, ("a.html", "b.html"))] == [("replaced", f"{NEW}b.html"), ("replaced", f"{NEW}a.html")]


def test_a_swapped_image_is_replaced(tmp_path: Path) -> None:
    done = audited(tmp_path, {"a.png": b"2", "c.png": b"1"}, old={"a.png": b"1"})
    assert (done.url("a.png")["verdict"], done.url("a.png")["final"]) == ("replaced", f"{NEW}c.png")


def test_a_moved_folder_is_one_cause_with_one_rule(tmp_path: Path) -> None:
    old = {f"guide/{number}.html": page(text(number), title=str(number)) for number in range(3)}
    new = {f"docs/{number}.html": content for number, content in enumerate(old.values())} | {"index.html": links("guide/0.html")}
    done = audited(tmp_path, new, old=old)
    causes = {(row["cause"], row["verdict"]): row["rule"] for row in done.tables["causes"]}
    assert set(causes) == {("moved:/guide/ -> /docs/", "moved"), ("moved:/guide/ -> /docs/", "broken")}
    assert len(set(causes.values())) == 1
    assert done.link("guide/0.html")["fix"] == "docs/0.html"


def test_a_base_that_went_is_one_cause(tmp_path: Path) -> None:
    old = {"a/intro.html": page('<a href="setup.html">t</a>' + text(1), "<base href=/>"), "setup.html": page(text(2))}
    new = {"a/intro.html": page('<a href="setup.html">t</a>' + text(1)), "setup.html": page(text(2))}
    row = audited(tmp_path, new, old=old).link("setup.html")
    assert (row["verdict"], row["cause"], row["fix"], row["final"]) == ("broken", "base", "../setup.html", f"{NEW}setup.html")


def test_a_lost_url_gets_a_suggestion(tmp_path: Path) -> None:
    done = audited(tmp_path, {"guides/installation.html": page("x")}, old={"guides/instalation.html": page(text(3))})
    row = done.url("guides/instalation.html")
    assert (row["verdict"], row["suggestion"], row["final"]) == ("lost", f"{NEW}guides/installation.html", None)


def test_of_a_list_only_existence_is_known(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text(f"# old\n{OLD}a.html\nno url\n{OLD}gone.html\n", "utf-8")
    new = written(tmp_path / "new", {"a.html": page()})
    done = run(tmp_path, new, "--url", NEW, "--old", tmp_path / "urls.txt", "--old-url", OLD)
    assert [(row["url"], row["verdict"]) for row in done.tables["urls"]] == [(f"{OLD}a.html", "kept"), (f"{OLD}gone.html", "lost")]


def test_the_url_of_a_list_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "sitemap.xml").write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{OLD}a.html</loc></url></urlset>', "utf-8")
    new = written(tmp_path / "new", {"a.html": page()})
    done = run(tmp_path, new, "--url", NEW, "--old", tmp_path / "sitemap.xml")
    assert [(row["url"], row["verdict"]) for row in done.tables["urls"]] == [(f"{OLD}a.html", "kept")]


def test_flows_lead_from_old_sections_to_new_ones(tmp_path: Path) -> None:
    old = {"index.html": page("h"), "guide/a.html": page(text(1)), "guide/b.html": page(text(2))}
    new = {"index.html": page("h"), "docs/a.html": old["guide/a.html"]}
    flows = audited(tmp_path, new, old=old).tables["flows"]
    assert {tuple(row.values()) for row in flows} == {("/", "/", "kept", 1), ("/guide/", "/docs/", "moved", 1), ("/guide/", None, "lost", 1)}
