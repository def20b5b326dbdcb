"""Judging whole sites: links, old URLs, causes and rules, beyond the small sites of cases/verdicts.toml."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from audited import NEW, OLD, QUIET, Audit, audited, links, page, run, text, written

from absolve.audit import judge, verdicts
from absolve.audit.verdicts import FINE, VERDICTS, words
from absolve.cli import main


def test_one_fault_of_many_links_is_one_cause(tmp_path: Path) -> None:
    head = '<meta property="og:url" content="{0}/p.html"><meta property="og:image" content="pic/logo.png">'
    sheets = '<link rel=stylesheet href="/a.css"><link rel=stylesheet href="/b.css">'
    pages = {f"{folder}/{name}.html": page(head=head.format(folder)) for folder in "abc" for name in "pqr"}
    pages |= {f"p{number}.html": links("/imprint.html") for number in range(5)} | {f"s{number}.html": page(head=sheets) for number in range(2)}
    pages |= {f"d{number}/index.html": page('<img src="img/logo.png">') for number in range(4)}
    missing = ("_src/a/1.txt", "_src/b/2.txt?v=1/2", "gone.html")  # two are in a folder that is missing
    done = audited(tmp_path, {"index.html": links(*pages, *missing), **pages})
    assert {row["cause"]: row["links"] for row in done.causes} == {
        "broken:meta[content]:metadata:new.example": 9, "broken:meta[content]:pic/logo.png": 9, "broken:img[src]:img/logo.png": 4,
        **{f"broken:{NEW}{name}": count for name, count in {"imprint.html": 5, "a.css": 2, "b.css": 2, "_src/": 2, "gone.html": 1}.items()},
    }  # fmt: skip


def test_one_difference_is_one_cause_whatever_the_names(tmp_path: Path) -> None:
    of_pages = {
        '<img src="Images/{0}.png">': {f"case:{NEW}Images/"},
        '<img src="images/{0}.PNG">': {f"case:{NEW}images/{number}.PNG" for number in range(3)},
        '<a href="a{0}.htm">t</a>': {f"broken:{NEW}*.htm"},
        '<a href="http://localhost:4000/p{0}/">t</a>': {"local:http://localhost:4000/"},
        '<a href="http://old.example/edit/p{0}.md">t</a>': {f"leftover:{OLD}edit/"},
        '<a href="http://old.example/a/{0}">t</a><a href="http://old.example/a/x{0}">t</a>': {f"leftover:{OLD}a/{mark}{number}" for mark in ("", "x") for number in range(3)},
    }
    files = {f"images/{number}.png": "x" for number in range(3)}
    files |= {f"{'abcdef'[at]}{number}.html": page(one.format(number)) for at, one in enumerate(of_pages) for number in range(3)}
    done = audited(tmp_path, files, "--old-url", OLD)
    assert {row["cause"] for row in done.causes} == set().union(*of_pages.values())


def test_a_rule_that_leads_nowhere_loses_the_url(tmp_path: Path) -> None:
    maps = {"m.csv": "/a.html,/never.html\n/b.html,/c.html\n/c.html,/b.html\n"}
    old = {"a.html": page(text(1)), "b.html": page(text(2))}
    done = audited(tmp_path, {"index.html": links("/a.html", "/b.html")}, old=old, maps=maps)
    for name, line, title in (("a.html", 1, "Dead redirect"), ("b.html", 2, "Redirect loop")):
        row, place = done.url(name), f"{tmp_path / 'm.csv'}:{line}"
        assert (row["verdict"], row["cause"]) == ("lost", f"rule:{place}") == ("lost", done.link(f"/{name}")["cause"])
        (cause,) = [one for one in done.causes if one["cause"] == row["cause"]]
        assert (cause["title"], cause["verdict"], cause["links"], cause["pages"]) == (f"{title}: {place}", "wrong-rule", 1, 2)
        assert done.tables["rules"][line - 1]["cause"] == row["cause"]


@pytest.mark.parametrize(("server", "is_there"), [("s3", True), ("bare-folder=nothing", False)])
def test_a_rule_to_a_folder_without_its_slash_leads_to_its_index(tmp_path: Path, server: str, *, is_there: bool) -> None:
    new = {"index.html": page(), "blog/index.html": page(), "blog/x/index.html": page()}
    maps = {"m.csv": "/a.html,/blog\n/b.html,/blog?p#q\n", "_redirects": "/news/:slug /blog/:slug\n"}
    done = audited(tmp_path, new, "--server", server, old={"a.html": page(), "b.html": page(), "news/x": page()}, maps=maps)
    assert {row["verdict"] for row in done.tables["urls"]} == {"mapped" if is_there else "lost"}
    assert {row["finding"] for row in done.tables["rules"]} == {None if is_there else "leads to nothing"}


def test_of_a_list_only_existence_is_known_also_of_the_url_of_an_index_file(tmp_path: Path) -> None:
    root = written(tmp_path, {"urls.txt": f"# old\n{OLD}a.html\nno url\n{OLD}gone.html\n{OLD}dir/index.html\n{OLD}d2/\n{OLD}d3/\n"})
    maps = {"m.csv": "/dir/index.html,/a.html\n", "n.conf": "location = /d2/index.html { return 301 /a.html; }\n", ".htaccess": "RewriteRule ^d3/index\\.html$ /a.html [R=301,L]\n"}
    new = {"index.html": page(), "a.html": page(), "d2/index.html": page(), "d3/index.html": page()}
    done = audited(tmp_path, new, "--old", root / "urls.txt", "--old-url", OLD, maps=maps)
    found = {row["url"].removeprefix(OLD): row["verdict"] for row in done.tables["urls"]}
    assert found == {"a.html": "kept", "gone.html": "lost", "dir/index.html": "mapped", "d2/": "mapped", "d3/": "kept"}


def test_flows_lead_from_old_sections_to_new_ones(tmp_path: Path) -> None:
    old = {"index.html": page("h"), "guide/a.html": page(text(1)), "guide/b.html": page(text(2))}
    flows = audited(tmp_path, {"index.html": page("h"), "docs/a.html": old["guide/a.html"]}, old=old).tables["flows"]
    assert {tuple(row.values()) for row in flows} == {("/", "/", "kept", 1), ("/guide/", "/docs/", "moved", 1), ("/guide/", None, "lost", 1)}


def test_a_link_in_the_charset_of_its_page_is_repaired_to_the_name_of_the_file(tmp_path: Path) -> None:
    escaped, odd = (quote(name.encode("koi8-r")) for name in ("новости.html", "данные.html"))
    index = f'<!DOCTYPE html><meta charset=koi8-r><title>t</title><a href="{escaped}#x">n</a><a href="данные.html">d</a>'
    done = audited(tmp_path, {"index.html": index.encode("koi8-r"), "новости.html": page("<p id=x>"), unquote(odd, errors="surrogateescape"): page()})
    assert done.found == {f"{escaped}#x": "encoding", "данные.html": "encoding"}
    assert [done.link(one)["fix"] for one in done.found] == [f"{quote('новости.html')}#x", odd]


@pytest.mark.parametrize("given", [("site",), ("site.zip", "--url", NEW)], ids=" ".join)
def test_a_file_is_there_with_any_query_whatever_gives_its_url(tmp_path: Path, given: tuple[str, ...]) -> None:
    site = written(tmp_path / "site", {"index.html": page('<a href="a.html?x=1">a</a> <img src="i.png?v=3">'), "a.html": links("./"), "i.png": "x"})
    shutil.make_archive(str(site), "zip", site)
    name, *options = given
    done = run(tmp_path, tmp_path / name, *options)
    assert not done.found


def test_a_site_without_a_page_of_html_has_an_assumed_url_too(tmp_path: Path) -> None:
    written(tmp_path, {"README.md": "[a](docs/a.md) [b](docs/b.md)", "docs/a.md": "# A"})
    assert run(tmp_path, tmp_path / "README.md").found == {"docs/b.md": "broken"}


def test_the_place_of_a_cause_in_an_archive_is_that_of_the_document_in_it(tmp_path: Path) -> None:
    site = written(tmp_path / "site", {"a/index.html": links("/no.html", "../"), "index.html": links("/no.html", "a/"), "o.html": page()})
    shutil.make_archive(str(site), "zip", site)
    causes = {row["verdict"]: (row["example_document"], row["pages"]) for row in run(tmp_path, tmp_path / "site.zip", "--url", NEW).tables["causes"]}
    assert causes["orphan"] == (f"{NEW}o.html", 1)
    place, pages = causes["broken"]
    assert (place.startswith(f"{tmp_path}/site.zip/"), "index.html" in place, pages) == (True, True, 2)


def test_each_verdict_of_the_queries_has_a_row_with_its_words() -> None:
    queries = {"45_targets.sql": verdicts.LINK_VERDICTS, "50_findings.sql": verdicts.LINK_VERDICTS, "60_urls.sql": verdicts.URL_VERDICTS}
    for name, known in queries.items():
        assert set(re.findall("(?:THEN|ELSE) '([a-z]+)'", judge.read_query(name))) <= {*known}, name
    of_pages = re.findall(r"(?:document|p\.url\)), '([a-z]+)'", judge.read_query("70_pages.sql") + judge.read_query("75_unused.sql"))
    assert {*of_pages, verdicts.DIFFERS} == {*verdicts.PAGE_VERDICTS}


def test_two_files_that_no_name_tells_apart_are_judged_once(tmp_path: Path) -> None:
    written(tmp_path / "a", {"x.html": links("no1")})
    written(tmp_path / "b", {"x.html": links("no2")})
    done = run(tmp_path, tmp_path / "a", tmp_path / "b", "--url", NEW)
    assert set(done.found) == {"no1", "no2"}


@pytest.mark.parametrize("given", [("--server", "netlify"), ("--map", "site.conf")])
def test_a_same_document_reference_asks_no_server(given: tuple[str, str], tmp_path: Path) -> None:
    written(tmp_path, {"site.conf": "location = /a/index.html { return 301 /a/; }\nlocation = /b.html { return 301 /; }\n"})
    own = '<a href="#s">s</a> <a href="#">top</a> <a href="">self</a> <a href="#no">no</a><svg><use href="#s"/></svg><p id=s>'
    new = {"index.html": links("b.html"), "a/index.html": page(own + '<a href="index.html">i</a>'), "b.html": page(own)}
    option, value = given
    done = audited(tmp_path, new, option, tmp_path / value if option == "--map" else value, "--fix")
    found = [(row["document"].rpartition("new/")[2], row["reference"], row["verdict"]) for row in done.tables["links"] if row["verdict"] not in QUIET]
    assert [one for one in found if one[1] in {"#s", "#", "", "#no"}] == [("a/index.html", "#no", "fragment"), ("b.html", "#no", "fragment")]
    assert ("a/index.html", "index.html") in {one[:2] for one in found}
    assert (tmp_path / "new/b.html").read_text("utf-8") == page(own)


A, B, OTHER = text(1), text(2), text(3)


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
    if old_site == OLD:
        main(["audit", *map(str, given), "--why", f"{old_site}d.html"])
        assert "Verdict moved:" in capsys.readouterr().out


SEVERITY = {name: 0 if name in (*QUIET, *FINE) else 2 - words(name).severity for name in VERDICTS}
# Folders old/N/ of six pages that are in new/N/ now: more old pages, more new pages, rules, and whether one rule is right for all.
FOLDERS: list[tuple[list[str], list[str], str, bool]] = [
    (["{0}/gone.html"], [], "", False),
    (["{0}/gone.html"], [], "/{0}/gone.html,,410\n", False),
    (["{0}/6.html"], ["other/{0}.html"], "", False),
    (["{0}/6.html"], ["other/{0}.html"], "/{0}/6.html,/other/{0}.html,301\n", False),
    (["{0}/6.html"], ["to-{0}/6.html"], "/{0}/6.html,/to-{0}/6.html,301\n", True),
    ([], ["{0}/news.html"], "/x,/y,301!\n", True),  # a file is in no way of a rule of a table
]


def test_a_rule_for_a_folder_is_advised_where_it_is_right_for_all_in_it(tmp_path: Path) -> None:
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    rules, wanted = "", []
    for at, (more_old, more_new, rule, whole) in enumerate(FOLDERS):
        moved = {f"{number}.html": page(text(10 * at + number), title=f"{at}, {number}") for number in range(6)}
        more = page(text(10 * at + 6), title=f"{at}, more")
        old |= {f"{at}/{name}": content for name, content in moved.items()} | {name.format(at): more for name in more_old}
        new |= {f"to-{at}/{name}": content for name, content in moved.items()} | {name.format(at): more for name in more_new}
        rules += rule.format(at)
        wanted += [f"/{at}/,{NEW}to-{at}/,301,prefix"] if whole else [f"/{at}/{name},{NEW}to-{at}/{name},301" for name in moved]
    before = audited(tmp_path, {"index.html": links(*new), **new}, old=old, maps={"map.csv": rules})
    advised = advice(before)
    assert {one for one in advised if "/other/" not in one} == set(wanted)
    of_folders = [one for one in advised if one.endswith(",prefix")]  # the rules of pages are tried in the next test
    assert not worse(before, audited(tmp_path, {}, old={}, maps={"map.csv": "\n".join([rules.strip(), *of_folders])}))


@pytest.mark.slow
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


TEXT = "<h1>Prices</h1><p>apples pears plums cherries are sold here by the pound and by the sack each day of the week</p>"


def test_what_changed_on_a_page_that_stayed_is_a_table_and_no_failure(tmp_path: Path) -> None:
    head = '<meta name=robots content=noarchive><link rel=canonical href="https://new.example/">'
    old = {"index.html": page(TEXT + '<a href="b.html">t</a>', title="Prices - Old"), "b.html": page(title="B")}
    text = f"{TEXT}<h1>and<br>more</h1>"
    new = {"index.html": page(text, head, title="Prices"), "c.html": page(title="B")}
    done = audited(tmp_path, new, "--ignore", "/c.html$", old=old, maps={"m.csv": "/b.html,/c.html\n"})
    rows = {(row["url"].removeprefix(OLD), row["what"], row["old"], row["new"]) for row in done.tables["changes"]}
    assert rows == {
        ("", "title", "Prices - Old", "Prices"), ("", "h1", "Prices", "Prices / and more"), ("", "text in common", "100 %", "95 %"),
        ("", "robots", None, "noarchive"), ("", "canonical", None, "itself"), ("b.html", "links to it", "1", "0"),
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
    assert audited(tmp_path, new, "--old-url", "http://www.old.example/", old=old).link("http://www.old.example/b.html")["fix"] == f"{NEW}c.html"


def test_a_canonical_link_that_leads_away_is_a_finding_if_the_old_one_did_not(tmp_path: Path) -> None:
    def head(url: str) -> str:
        return page(TEXT, f'<link rel=canonical href="{url}">')

    new = {"index.html": head("https://elsewhere.example/")}
    assert ("canonical", "") in audited(tmp_path, new, old={"index.html": page(TEXT)}).pages
    assert ("canonical", "") not in audited(tmp_path, new, old={"index.html": head("https://elsewhere.example/")}).pages
