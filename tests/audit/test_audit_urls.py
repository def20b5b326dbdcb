"""Verdicts of the URLs of the old site."""

import json
from pathlib import Path

import pytest
from audited import NEW, OLD, Audit, audited, links, page, run, written

from absolve.audit.servers import SERVERS
from absolve.audit.verdicts import FINE, QUIET, VERDICTS, words
from absolve.cli import main

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


@pytest.mark.parametrize(("old", "new", "verdict", "suggestion"), [
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
])
def test_an_updated_page_is_kept_and_another_one_is_replaced(tmp_path: Path, old: dict[str, str], new: dict[str, str], verdict: str, suggestion: str | None) -> None:
    done = audited(tmp_path, {f"{name}.html": data for name, data in new.items()}, old={f"{name}.html": data for name, data in old.items()})
    (name, *_) = old
    row = done.url(f"{name}.html" if name != "index" else "")
    assert (row["verdict"], row["suggestion"]) == (verdict, suggestion and f"{NEW}{suggestion}.html")


@pytest.mark.parametrize(("new", "verdict", "final"), [
    pytest.param({"b": titled("Jobs", "Jobs", B), "c": titled("Prices", "Prices", A)}, "replaced", "c", id="content elsewhere"),
    pytest.param({"b": titled("Jobs", "Jobs", B)}, "mapped", "b", id="content nowhere"),
    pytest.param({"b": titled("Jobs", "Jobs", B, A), "c": titled("Prices", "Prices", A)}, "mapped", "b", id="content in both"),
    pytest.param({"b": titled("Prices", "Prices", "New ones"), "c": titled("Old", "Old", A)}, "mapped", "b", id="a page of its name"),
])
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


LED = {"a": "home", "b": "c", "c": "home", "d": "moved", "e": "same", "f": "g", "g": "f", "h": "nowhere"}


@pytest.mark.parametrize("old_site", [OLD, NEW.replace("https", "http")])
def test_a_rule_is_as_good_as_the_old_url_that_it_leads_to(old_site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["home", "moved", "same", *LED]
    old = {f"{name}.html": page(text(number), title=name) for number, name in enumerate(names[:-1])}
    new = {"index.html": links(*(f"{old_site}{name}.html" for name in LED)), "m.html": page(text(1), title="moved"), "same.html": page(text(2), title="same")}
    rules = "old,new,status\n" + "".join(f"{old_site}{source}.html,{old_site}{target}.html,301\n" for source, target in LED.items())
    written(tmp_path, {"map.csv": rules, **{f"old/{name}": one for name, one in old.items()}, **{f"new/{name}": one for name, one in new.items()}})
    given = [tmp_path / "new", "--url", NEW, "--old", tmp_path / "old", "--old-url", old_site, "--map", tmp_path / "map.csv"]
    done = run(tmp_path, *given, "--fix", "--write-map", tmp_path / "written.csv")
    found = {row["url"].removeprefix(old_site): (row["verdict"], row["final"]) for row in done.tables["urls"]}
    same = NEW if old_site == OLD else old_site  # one host has both sites
    ends = {"d": ("moved", f"{NEW}m.html"), "e": ("mapped", f"{same}same.html"), "moved": ("moved", f"{NEW}m.html"), "same": ("kept", f"{NEW}same.html")}
    assert found == {f"{name}.html": ends.get(name, ("lost", None)) for name in names[:-1]}
    after = (tmp_path / "new/index.html").read_text("utf-8")
    if old_site == OLD:
        assert after == links(*({"d": f"{NEW}m.html", "e": f"{NEW}same.html"}.get(name, f"{OLD}{name}.html") for name in LED))
    targets = {line.split(",")[0].rpartition("/")[2]: line.split(",")[1] for line in (tmp_path / "written.csv").read_text("utf-8").splitlines()[1:]}
    assert {name: one.rpartition("/")[2] for name, one in targets.items()} == {"moved.html": "m.html", "d.html": "m.html", "e.html": "same.html"}
    for name, verdict in (("a", "lost"), ("d", "moved"), ("e", "mapped")):
        main(["audit", *map(str, given), "--why", f"{old_site}{name}.html"])
        assert f"Verdict {verdict}:" in capsys.readouterr().out


INDEXES = [
    ("map.csv", "/dir/index.html,/there.html\n", "lost"),
    ("_redirects", "/dir/index.html /there.html 301\n", "lost"),
    ("nginx.conf", "location = /dir/index.html { return 301 /there.html; }\n", "mapped"),
    ("nginx.conf", "location = /dir/index.html { return 301 /dir/; }\n", "lost"),  # in a circle
    ("nginx.conf", "if ($request_uri = /dir/index.html) { return 301 /there.html; }\n", "kept"),
    (".htaccess", "Redirect 301 /dir/index.html /there.html\n", "mapped"),
    (".htaccess", "RewriteEngine On\nRewriteRule ^dir/index\\.html$ /there.html [R=301,L]\n", "kept"),
]


@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize(("name", "rule", "verdict"), INDEXES)
def test_a_rule_for_an_index_file_answers_its_folder_where_the_server_asks_for_the_file(
    name: str, rule: str, verdict: str, *, is_list: bool, tmp_path: Path
) -> None:
    is_table = name in {"map.csv", "_redirects"}
    new = {"index.html": links("/dir/" if not is_table else "/"), "there.html": page(text(2)), **({} if is_table else {"dir/index.html": page(text(1))})}
    old = {"index.html": links("dir/"), "dir/index.html": page(text(1))}
    source = written(tmp_path / "old", {"urls.txt": f"{OLD}dir/\n"}) / "urls.txt" if is_list else written(tmp_path / "old", old)
    done = audited(tmp_path, new, "--old", source, "--old-url", OLD, maps={name: rule})
    assert done.url("dir/")["verdict"] == verdict


def test_a_list_with_the_url_of_an_index_file_is_judged_by_the_rule_for_it(tmp_path: Path) -> None:
    urls = written(tmp_path, {"urls.txt": f"{OLD}dir/index.html\n"}) / "urls.txt"
    done = audited(tmp_path, {"index.html": links("there.html"), "there.html": page()}, "--old", urls, "--old-url", OLD, maps={"m.csv": "/dir/index.html,/there.html\n"})
    assert [(row["url"], row["verdict"]) for row in done.tables["urls"]] == [(f"{OLD}dir/index.html", "mapped")]


def test_a_link_out_of_the_folder_of_the_site_to_an_old_page_is_broken(tmp_path: Path) -> None:
    new = {"index.html": links("/a.html", "/other/"), "man/a.html": page(text(1))}
    done = audited(tmp_path, new, "--fix", old={"a.html": page(text(1))}, maps={".htaccess": "Redirect 301 /a.html /docs/man/a.html\n"}, url=f"{NEW}docs/")
    assert done.found == {"/a.html": "broken"}
    assert done.link("/a.html")["fix"] == "/docs/man/a.html"


SEVERITY = {name: 0 if name in (*QUIET, *FINE) else 2 - words(name).severity for name in VERDICTS}
MOVED = {f"en/{number}.html": page(text(number), title=f"{number}") for number in range(6)}


@pytest.mark.parametrize(("old", "new", "rules", "whole"), [
    ({}, {}, "", True),
    ({"en/gone.html": page(text(9))}, {}, "", False),
    ({"en/gone.html": page(text(9))}, {}, "/en/gone.html,,410\n", False),
    ({"en/6.html": page(text(9))}, {"other/6.html": page(text(9))}, "", False),
    ({"en/6.html": page(text(9))}, {"other/6.html": page(text(9))}, "/en/6.html,/other/6.html,301\n", False),
    ({"en/6.html": page(text(9))}, {"6.html": page(text(9))}, "/en/6.html,/6.html,301\n", True),
    ({}, {"en/news.html": page("new")}, "/x,/y,301!\n", True),  # a file is in no way of a rule of a table
])
def test_a_rule_for_a_folder_is_advised_where_it_is_right_for_all_in_it(
    old: dict[str, str], new: dict[str, str], rules: str, *, whole: bool, tmp_path: Path
) -> None:
    moved = {name.removeprefix("en/"): content for name, content in MOVED.items()}
    given = {"index.html": links(*moved, *new), **moved, **new}
    maps = {"map.csv": rules} if rules else {}
    before = audited(tmp_path, given, old={**MOVED, **old}, maps=maps)
    advised = advice(before)
    assert (f"/en/,{NEW},301,prefix" in advised) == whole
    assert all(f"/{name},{NEW}{name.removeprefix('en/')},301" in advised for name in MOVED) != whole
    assert not worse(before, audited(tmp_path, {}, old={}, maps={"map.csv": "\n".join([rules.strip(), *advised])}))


def test_no_advice_makes_a_verdict_worse(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "cases/audit.jsonl").read_text("utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["old"] is not None]
    assert len(cases) >= 5
    for case in cases:
        folder = tmp_path / case["id"]
        given = [written(folder / "new", case["new"]), "--url", case["url"], "--old", written(folder / "old", case["old"]), *case["args"]]
        given += ["--old-url", case["old_url"]] if case["old_url"] else []
        name, rules = case["map_name"] if case["map"] is not None else "map.csv", case["map"] or ""
        written(folder, {name: rules})
        before = run(folder, *given, *(["--map", folder / name] if rules else []))
        if advised := advice(before):
            written(folder, {name: "\n".join([rules.rstrip("\n"), *advised, ""])})
            assert not worse(before, run(folder, *given, "--map", folder / name)), case["id"]


def advice(done: Audit) -> list[str]:
    """Return the rules to add: a folder has one in place of the rules of its pages."""
    of_causes = {row["cause"]: row["rule"] for row in done.tables["causes"] if row["verdict"] == "moved"}
    moved = [row for row in done.tables["urls"] if row["verdict"] == "moved"]
    return list(dict.fromkeys(rule for row in moved if (rule := of_causes[row["cause"]] or row["rule"])))


def worse(before: Audit, after: Audit) -> list[tuple[str, str, str]]:
    """Return what has a worse verdict than before."""
    found = []
    for table, *key in (("urls", "url"), ("links", "document", "start", "reference")):
        was = {tuple(row[name] for name in key): row["verdict"] for row in before.tables[table]}
        now = {tuple(row[name] for name in key): row["verdict"] for row in after.tables[table]}
        assert was.keys() == now.keys()
        found += [(str(one), was[one], now[one]) for one in was if SEVERITY[now[one]] > SEVERITY[was[one]]]
    return found
