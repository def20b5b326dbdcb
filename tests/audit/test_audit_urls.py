"""Verdicts of the URLs of the old site."""

from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, run, written

from absolve.audit.servers import SERVERS

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
    assert done.url("c.html")["rule"] == f"/c.html {NEW}x/c-renamed.html 301"
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
    ("rules", "title"),
    [("/a.html,/never.html\n", "A rule leads to nothing"), ("/a.html,/b.html\n/b.html,/a.html\n", "A rule leads in a circle")],
)
def test_a_rule_that_leads_nowhere_loses_the_url(tmp_path: Path, rules: str, title: str) -> None:
    done = audited(tmp_path, {"index.html": links("/a.html")}, old={"a.html": page(text(1))}, maps={"m.csv": rules})
    row, place = done.url("a.html"), f"{tmp_path / 'm.csv'}:1"
    assert (row["verdict"], row["cause"]) == ("lost", f"rule:{place}") == ("lost", done.link("/a.html")["cause"])
    (cause,) = [one for one in done.causes if one["cause"] == row["cause"]]
    assert (cause["title"], cause["verdict"], cause["links"], cause["pages"]) == (f"{title}: {place}", "wrong-rule", 1, 2)
    assert done.tables["rules"][0]["cause"] == row["cause"]


@pytest.mark.parametrize("server", [*SERVERS, "bare-folder=nothing"])
def test_a_rule_to_a_folder_without_its_slash_leads_to_its_index(tmp_path: Path, server: str) -> None:
    new = {"index.html": page(), "blog/index.html": page(), "blog/x/index.html": page()}
    maps = {"m.csv": "/a.html,/blog\n/b.html,/blog?p#q\n", "_redirects": "/news/:slug /blog/:slug\n"}
    done = audited(tmp_path, new, "--server", server, old={"a.html": page(), "b.html": page(), "news/x": page()}, maps=maps)
    is_there = server in SERVERS
    assert {row["verdict"] for row in done.tables["urls"]} == {"mapped" if is_there else "lost"}
    assert {row["finding"] for row in done.tables["rules"]} == {None if is_there else "leads to nothing"}


def test_a_page_that_moves_on_at_an_old_url_leads_it(tmp_path: Path) -> None:
    stubs = {f"{name}.html": page(head=f"<meta http-equiv=refresh content='0; url=/{to}'>") for name, to in {"a": "x.html", "b": "no", "c": "d.html", "d": "c.html"}.items()}
    old = {name: page(text(number)) for number, name in enumerate(stubs)}
    done = audited(tmp_path, {"index.html": page(), "x.html": page("New."), "i/index.html": stubs["a.html"], **stubs}, old={**old, "i/index.html": page(text(9))})
    found = {row["url"].removeprefix(OLD): (row["verdict"], row["final"]) for row in done.tables["urls"]}
    assert found == {"a.html": ("mapped", f"{NEW}x.html"), "b.html": ("lost", None), "c.html": ("lost", None), "d.html": ("lost", None), "i/": ("mapped", f"{NEW}x.html")}
    assert {row["cause"].partition(":")[0] for row in done.tables["urls"] if row["cause"]} == {"rule-to-nothing", "loop"}


def test_swapped_pages_are_replaced_and_say_where_they_are(tmp_path: Path) -> None:
    old = {"a.html": page(text(1), title="a"), "b.html": page(text(2), title="b")}
    done = audited(tmp_path, {"a.html": old["b.html"], "b.html": old["a.html"]}, old=old)
    found = [(row["verdict"], row["final"], row["suggestion"]) for row in map(done.url, ("a.html", "b.html"))]
    assert found == [("replaced", f"{NEW}b.html", f"{NEW}b.html"), ("replaced", f"{NEW}a.html", f"{NEW}a.html")]


def titled(title: str, heading: str, *texts: str) -> str:
    return page(f"<h1>{heading}</h1>{''.join(texts)}", title=title)


A, B, OTHER = text(1), text(2), text(3)


@pytest.mark.parametrize(
    ("old", "new", "verdict", "suggestion"),
    [
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("Prices", "Our prices", B)}, "kept", None, id="same title"),
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("What it costs", "Prices", B)}, "kept", None, id="same heading"),
        pytest.param({"a": titled("Prices | Shop", "Shop", A), "b": titled("b | Shop", "Shop", OTHER)}, {"a": titled("Prices - New shop", "New shop", B), "b": titled("b - New shop", "New shop", OTHER)}, "kept", None, id="another template"),
        pytest.param({"a": titled("Shop", "Shop", A), "b": titled("Shop", "Shop", OTHER)}, {"a": titled("Shop", "Shop", B), "b": titled("Shop", "Shop", OTHER)}, "replaced", None, id="a title of all pages"),
        pytest.param({"a": titled("Untitled", "", A), "b": titled("Untitled", "", B)}, {"a": titled("Untitled", "", B), "b": titled("Untitled", "", A)}, "replaced", "b", id="swapped with one title"),
        pytest.param({"a": titled("News", "News", A)}, {"a": titled("News", "News", B), "a2": titled("News, page 2", "News", A)}, "kept", None, id="an index with new items"),
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("Jobs", "Jobs", B), "c": titled("Prices", "Prices", A)}, "replaced", "c", id="content elsewhere"),
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("Prices", "Prices", "See the new page"), "c": titled("Prices", "Prices", A)}, "replaced", "c", id="a stub of its name"),
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("We moved", "We moved", "See the new page")}, "replaced", None, id="a stub"),
        pytest.param({"a": titled("Prices", "Prices", A)}, {"a": titled("Jobs", "Jobs", B)}, "replaced", None, id="gone"),
        pytest.param(
            {"a": titled("Porting Python 2 code to Python 3 | Shop", "x", A), "b": titled("Sums | Shop", "x", OTHER)},
            {"a": titled("How to port Python 2 code to Python 3 | Shop", "y", B), "b": titled("Sums | Shop", "y", OTHER)},
            "kept", None, id="another title with the same words",
        ),
        pytest.param(
            {"a": titled("Prices of all boats | Shop of the bay", "x", A), "b": titled("Sums | Shop of the bay", "x", OTHER)},
            {"a": titled("Jobs of all kinds | Shop of our bay", "y", B), "b": titled("Sums | Shop of our bay", "y", OTHER)},
            "replaced", None, id="another title with the same words of the site",
        ),
        pytest.param({"a": titled("Prices", "Prices", A, B)}, {"a": titled("Costs", "Costs", A, B[:-90], OTHER)}, "kept", None, id="most of its text"),
        pytest.param({"index": titled("Shop", "Spring", A)}, {"index": titled("The shop", "Summer", B)}, "kept", None, id="home"),
    ],
)
def test_an_updated_page_is_kept_and_another_one_is_replaced(tmp_path: Path, old: dict[str, str], new: dict[str, str], verdict: str, suggestion: str | None) -> None:
    done = audited(tmp_path, {f"{name}.html": data for name, data in new.items()}, old={f"{name}.html": data for name, data in old.items()})
    (name, *_) = old
    row = done.url(f"{name}.html" if name != "index" else "")
    assert (row["verdict"], row["suggestion"]) == (verdict, suggestion and f"{NEW}{suggestion}.html")


@pytest.mark.parametrize(
    ("new", "verdict", "final"),
    [
        pytest.param({"b": titled("Jobs", "Jobs", B), "c": titled("Prices", "Prices", A)}, "replaced", "c", id="content elsewhere"),
        pytest.param({"b": titled("Jobs", "Jobs", B)}, "mapped", "b", id="content nowhere"),
        pytest.param({"b": titled("Jobs", "Jobs", B, A), "c": titled("Prices", "Prices", A)}, "mapped", "b", id="content in both"),
        pytest.param({"b": titled("Prices", "Prices", "New ones"), "c": titled("Old", "Old", A)}, "mapped", "b", id="a page of its name"),
    ],
)
def test_a_rule_to_another_page_than_the_content_is_found(tmp_path: Path, new: dict[str, str], verdict: str, final: str) -> None:
    old = {"a.html": titled("Prices", "Prices", A), "b.html": titled("Jobs", "Jobs", B)}
    done = audited(tmp_path, {f"{name}.html": data for name, data in new.items()}, old=old, maps={"map.csv": "/a.html,/b.html\n"})
    assert (done.url("a.html")["verdict"], done.url("a.html")["final"]) == (verdict, f"{NEW}{final}.html")
    titles = [row["title"] for row in done.causes if row["title"].startswith("A rule ")]
    assert titles == [f"A rule leads to another page: {done.url('a.html')['rule']}"] * (verdict == "replaced")


def test_a_swapped_image_is_replaced(tmp_path: Path) -> None:
    done = audited(tmp_path, {"a.png": b"2", "c.png": b"1"}, old={"a.png": b"1"})
    assert (done.url("a.png")["verdict"], done.url("a.png")["final"]) == ("replaced", f"{NEW}c.png")


def test_a_moved_folder_is_one_cause_with_one_rule(tmp_path: Path) -> None:
    old = {f"guide/{number}.html": page(text(number), title=str(number)) for number in range(3)}
    new = {f"docs/{number}.html": content for number, content in enumerate(old.values())} | {"index.html": links("guide/0.html")}
    done = audited(tmp_path, new, old=old)
    causes = {(row["cause"], row["verdict"]): row["rule"] for row in done.causes}
    assert set(causes) == {("moved:/guide/ -> /docs/", "moved"), ("moved:/guide/ -> /docs/", "broken")}
    assert len(set(causes.values())) == 1
    assert done.link("guide/0.html")["fix"] == "docs/0.html"


@pytest.mark.parametrize("folder", ["", "guide/"])
def test_a_folder_whose_other_pages_stayed_has_no_rule_as_a_whole(tmp_path: Path, folder: str) -> None:
    old = {f"{folder}{number}.html": page(text(number), title=str(number)) for number in range(4)}
    new = {name if "3" in name else f"{folder}docs/{name.removeprefix(folder)}": content for name, content in old.items()}
    done = audited(tmp_path, new, old=old)
    assert [(row["verdict"], row["pages"], row["rule"]) for row in done.causes if not row["links"]] == [("moved", 3, None)]
    assert done.url(f"{folder}0.html")["rule"] == f"/{folder}0.html,{NEW}{folder}docs/0.html,301"


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
