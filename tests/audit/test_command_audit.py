"""The command: outputs, repairs, exit status, messages about odd sites."""

import json
from pathlib import Path

import pytest
from audited import NEW, OLD, audited, links, page, printed, run, written

from absolve.cli import main


def test_the_summary_counts_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("a.html", "no.html"), "a.html": page()})
    out, _ = printed(capsys, site, "--url", NEW, status=1)
    assert out.splitlines()[0].endswith("index.html:1:122: broken: Missing: https://new.example/no.html (1 link on 1 page)")
    assert [line.split() for line in out.splitlines()[2:]] == [["links", "broken", "1"], ["links", "ok", "1"]]
    out, _ = printed(capsys, site, "--url", NEW, "--ignore", "no.html", "--fail-on", "orphan, broken", status=0)
    assert [line.split() for line in out.splitlines()[-2:]] == [["links", "ignored", "1"], ["links", "ok", "1"]]
    assert printed(capsys, site, "--url", NEW, "-o", "-", "--format", "github", status=1)[0].startswith("::error")
    site = written(tmp_path / "two", {"index.html": links("no.html", "x\u202ey")})
    out, _ = printed(capsys, site, "--url", NEW, "--sql", "SELECT reference, verdict, fix FROM links ORDER BY 1")
    assert out.splitlines() == ["reference\tverdict\tfix", "no.html\tbroken\t", "x\\u202ey\tbroken\t"]
    assert printed(capsys, site, "--url", NEW, "-q", "-o", tmp_path / "r.html", "--fix", status=1) == ("", "")


FIXED = "<!DOCTYPE html><title>x</title><meta property=og:image content=https://new.example/i.png><img src=i.png><link rel=canonical href=https://new.example/about.html><link rel=next href=about.html><A HREF = 'about.html#Team'  class=x>t</A><img src=https://new.example/i.png>\r\n<a href=https://new.example/about.html>q</a><a href=gone.html>"
BROKEN = FIXED.replace("content=https://new.example/", "content=").replace("canonical href=https://new.example/", "canonical href=").replace("about.html#Team", "About.html#Team").replace("src=https", "src=HTTP").replace("href=https://new", "href=http://old")
SITE = {"index.html": BROKEN, "about.html": page("<p id=Team>"), "i.png": "x", "d/x.css": "p{background:url(../I.PNG)}", "sitemap.xml": "<urlset><url><loc>About.html</loc></url></urlset>"}


def test_repairs_change_link_bytes_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", SITE)
    options = (site, "--url", NEW, "--old-url", OLD)
    out, _ = printed(capsys, *options, "--fix", "--diff")
    assert all(text in out for text in ("-<!DOCTYPE html>", "about.html#Team"))
    for missing, words in (("--map", "none.csv: not-found"), ("--old", "no URL of the old site can be read")):
        assert words in printed(capsys, *options, missing, tmp_path / "none.csv", "--fix", status=2)[1]
    assert (site / "index.html").read_bytes() == BROKEN.encode()
    assert run(tmp_path, *options, "--fix", "--verify").status == 1  # gone.html stays
    assert (site / "index.html").read_bytes() == FIXED.encode()
    assert (site / "d/x.css").read_text() + (site / "sitemap.xml").read_text() == f"p{{background:url(../i.png)}}<urlset><url><loc>{NEW}about.html</loc></url></urlset>"
    assert run(tmp_path, *options, "--fix").found == {"gone.html": "broken"}


def test_with_a_baseline_only_what_is_new_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("no.html", "other.html")})
    given = (site, "--url", NEW, "--baseline", tmp_path / "one.sqlite")
    printed(capsys, site, "--url", NEW, "-o", tmp_path / "one.sqlite", status=1)
    assert "0 new, 0 healed" in printed(capsys, *given, status=0)[1]
    written(site, {"other.html": page()})
    assert "0 new, 1 healed" in printed(capsys, *given, status=0)[1]
    written(site, {"index.html": links("no.html", "more.html")})
    printed(capsys, *given, status=1)
    printed(capsys, *given, "--fail-on", "loop", status=0)


BOTH = ("-o - -f jsonl --write-map -", "-o - -o - -f jsonl", "--write-map - --sql FROM", "-o - -f jsonl --fix --diff")


@pytest.mark.parametrize(("options", "message"), [
    (("--diff",), "--diff needs --fix"), (("--verify",), "--verify needs --fix"), (("--sql", "FROM links", "-f", "xlsx"), "--sql prints jsonl, json,"),
    (("--entry", "x"), "--ignore REGEX"), (("--map-format", "csv"), "leave it out"), (("--ignore-file", "x"), "--ignore @FILE"),
    (("--similar", "1"), "only a configuration file has it: similar = VALUE"), (("--fail-on", "bad"), "'bad' is no verdict"),
    (("-f", "cvs"), "--format cvs: choose from jsonl, json, csv, "), (("-o", "x.odd"), "no format of an audit has this suffix"),
    (("-o", "-", "--format", "xlsx"), "cannot be written to the standard output"),
    (("--write-map", "x.odd"), "no map is written as .odd: give the name of a .csv"), (("--old-url", "mailto:x"), "not an http or https URL"),
    (("--server", "plain,case=upper"), "'case=upper' is not case=exact|ignore"), (("--server", "lighttpd"), "unknown server 'lighttpd'"),
    (("--case", "ignore"), "--server case=ignore"), (("--baseline", "{site}/b.sqlite"), "no such file"),
    (("--map", "{site}/none.csv"), "none.csv: not-found: "), (("--map", "{site}/folder"), "folder: unreadable: "),
    (("-o", "{site}/m.md", "--map", "{site}/m.md"), "is also an input"), (("-o", "{site}/index.html"), "is a file of the input"),
    *((tuple(words.split()), "both write to the standard output") for words in BOTH),
])
def test_options_that_do_not_fit_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str) -> None:
    files = {"index.html": page(), "m.md": "/a,/b\n", "folder/x": ""}
    site = written(tmp_path / "site", files)
    given = [option.replace("{site}", str(site)) for option in options]
    assert message in printed(capsys, site, "--url", NEW, *given, status=2)[1]
    assert {name: (site / name).read_text() for name in files} == files


ADVICE: list[tuple[dict[str, str], list[str], list[str]]] = [  # more files, options -> what is printed
    ({}, ["--old", "{0}/new"], ["OLD and NEW are equal"]),
    ({"urls.txt": "http://elsewhere.example/a\n"}, ["--old", "{0}/urls.txt"], ["they are at http://elsewhere.example/"]),
    (
        {
            "new/x.html": "a", "urls.csv": "{0}/new/index.html,http://n/x\n{0}/new/x.html,http://n/x\n",
            "m.csv": "/a.html,/index.html\n" + "/b.html\n" * 7, "new/drafts/a.html": "",
            "new/index.html": links("http://ext.example/gone"), "a.jsonl": '{{"url": "http://ext.example/gone", "status": 404}}\n',
        },
        ["--url-map", "{0}/urls.csv", "--map", "{0}/m.csv", "--exclude", "drafts/", "--exclude", "index", "--answers", "{0}/a.jsonl"],
        [
            "same-url",
            "warning: {0}/m.csv:2: map: this line cannot be read: it has no target: /b.html",
            "warning: {0}/m.csv: map: 2 more: the table rules of an output has all",
            "unmet: no name matches 'index': a glob is for a whole name, as '*index*'",
            "broken: Missing: http://ext.example/gone (status 404) (1 link on 1 page)",
        ],
    ),
]  # fmt: skip


def test_what_is_odd_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, (files, options, texts) in enumerate(ADVICE):
        folder = tmp_path / str(number)
        written(folder, {"new/index.html": page(), "new/a.png": "x", **{name: one.format(folder) for name, one in files.items()}})
        given = [option.format(folder) for option in options]
        out, err = printed(capsys, folder / "new", "--url", NEW, "--old-url", OLD, *given)
        assert [text for text in texts if text.format(folder) not in out + err] == []
        assert err.count("unmet: ") == ("--exclude" in options)


def test_sites_without_a_common_url_get_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {f"p{number}.html": page(" ".join(f"w{number}{other} river" for other in range(60)), title=str(number)) for number in range(3)}
    new = written(tmp_path / "new", files)
    written(tmp_path / "old/site", files)
    written(tmp_path / "other/site", {name: page("x" + name) for name in files})
    for old, text in (("old", f"likely --old-url {OLD}site/"), ("other", "no URL of OLD is in NEW")):
        assert text in printed(capsys, new, "--url", NEW, "--old", tmp_path / old, "--old-url", OLD)[1]


@pytest.mark.parametrize(("name", "is_dangling"), [("report.html", True), ("b.csv", False)])
def test_no_output_follows_a_link_in_a_folder_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, *, is_dangling: bool) -> None:
    """The folder may come from others, and the link lead anywhere."""
    site = written(tmp_path / "site", {"index.html": page()})
    target = tmp_path / "mine.txt"
    (site / name.replace(".csv", ".links.csv")).symlink_to(target)
    if not is_dangling:
        target.write_text("mine")
    assert "is behind a symbolic link in the input" in printed(capsys, site, "--url", NEW, "-o", site / name, status=2)[1]
    assert target.exists() != is_dangling


def test_repairs_need_the_url_of_the_new_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", SITE)
    for wanted in (("--fix",), ("--write-map", tmp_path / "new.csv")):
        assert f"{wanted[0]} needs --url" in printed(capsys, site, "--old-url", OLD, *wanted, status=2)[1]
    assert (site / "index.html").read_bytes() == BROKEN.encode()
    assert not (tmp_path / "new.csv").exists()


def test_a_rule_that_leads_to_another_page_than_the_content_repairs_no_link(tmp_path: Path) -> None:
    texts = ["<p>" + " ".join(f"{word}{number} {'ab'[number % 2]}" for number in range(80)) for word in ("tide", "hill")]
    old = {"index.html": page("home"), "n-2024.html": page(texts[0], title="2024"), "a.html": page("a")}
    new = {
        "index.html": links("n-2024.html", f"{OLD}n-2024.html", "a.html"), "n/2024.html": old["n-2024.html"],
        "news.html": page(texts[1], title="news"), "b.html": page("a"),
    }
    done = audited(tmp_path, new, old=old, maps={"m.csv": "/n-2024.html,/news.html\n/a.html,/b.html\n"})
    assert (done.url("n-2024.html")["verdict"], done.url("n-2024.html")["final"]) == ("replaced", f"{NEW}n/2024.html")
    assert [(row["final"], row["fix"]) for row in done.tables["links"]] == [
        *[(f"{NEW}news.html", None)] * 2, (f"{NEW}b.html", "b.html"),
    ]  # fmt: skip


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return the last line on the standard error."""
    return printed(capsys, *arguments)[1].splitlines()[-1]


def test_a_run_ends_with_its_findings_and_the_files_that_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("no.html", "A.html"), "a.html": page()})
    assert ended(capsys, site, "--url", NEW) == "absolve: findings: 2 of 2 links; --fix writes 1 repair"
    done = ended(capsys, site, "--url", NEW, "-o", tmp_path / "r.html", "-o", tmp_path / "x\x1b.md", "--write-map", tmp_path / "m.csv")
    assert done.endswith(f"; wrote {tmp_path}/r.html, {tmp_path}/x\\x1b.md, {tmp_path}/m.csv")
    assert ended(capsys, site, "--url", NEW, "--sql", "SELECT 1").startswith("absolve: findings: 2 of 2 links")
    fine = written(tmp_path / "fine", {"index.html": links("a.html"), "a.html": page()})
    assert ended(capsys, fine, "--url", NEW, "-o", tmp_path / "r.html").startswith("absolve: no findings in 1 link; wrote ")
    assert '<p class="found">No findings in 1 link.</p>' in (tmp_path / "r.html").read_text("utf-8")
    assert ended(capsys, site, "-o", tmp_path / "r.html").startswith("absolve: findings: 2 of 2 links; --fix --url URL writes 1 repair")
    assert "<code>absolve audit --fix --url URL</code> writes 1 repair." in (tmp_path / "r.html").read_text("utf-8")


def test_a_run_that_repairs_ends_with_the_number_of_repairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("A.html", "A.html#x"), "a.html": page("<p id=x>")})
    options = (site, "--url", NEW, "--fix")
    assert ended(capsys, *options, "--diff") == "absolve: findings: 2 of 2 links; 2 repairs in 1 file would be written"
    assert ended(capsys, *options) == "absolve: findings: 2 of 2 links; 2 repairs in 1 file written"
    assert ended(capsys, *options) == "absolve: no findings in 2 links; no repair is sure"


def test_a_rule_that_leads_to_nothing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": page()})
    old = written(tmp_path / "old", {"a.html": page("x")})
    rules = tmp_path / "m.csv"
    rules.write_text("".join(f"/a{number or ''}.html,/none.html\n" for number in range(9)), "utf-8")
    _, err = printed(capsys, site, "--url", NEW, "--old", old, "--old-url", OLD, "--map", rules, status=1)
    assert f"warning: {rules}:1: rule-to-nothing: this rule moves a URL to where nothing is: /a.html,/none.html" in err
    assert "rule-to-nothing: 4 more: the table rules of an output has all" in err
    assert err.count("rule-to-nothing") == 6


def test_a_rule_that_a_form_cannot_express_names_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": page(), "b.html": page("<p>moved to another place</p>")})
    old = written(tmp_path / "old", {"%0a.html": page("<p>moved to another place</p>")})
    out = tmp_path / "nginx.conf"
    given = ("--url", NEW, "--old", old, "--old-url", OLD, "--write-map", out)
    _, err = printed(capsys, site, *given, status=1)
    assert f"note: --write-map: left-out: {OLD}%250a.html -> {NEW}b.html: nginx cannot express it" in err
    assert out.read_text("utf-8").startswith("# a rule to add: nginx cannot express it: ")


def test_a_map_on_the_standard_output_has_the_format_of_the_first_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = written(tmp_path / "new", {"index.html": page(), "a2.html": page("a!")})
    (tmp_path / "_redirects").write_text("/a.html /a1.html\n/a1.html /a2.html\n", "utf-8")
    given = (new, "--url", NEW, "--old-url", OLD)
    assert printed(capsys, *given, "--map", tmp_path / "_redirects", "--write-map", "-")[0] == "/a.html /a2.html 301\n/a1.html /a2.html\n"
    assert printed(capsys, *given, "--write-map", "-")[0] in {"", "\n"}
    (tmp_path / "vercel.json").write_text('{"redirects": [{"source": "/a.html", "destination": "/a2.html"}]}', "utf-8")
    out, err = printed(capsys, *given, "--map", tmp_path / "vercel.json", "--write-map", "-")
    assert (out, "note: --write-map: no map is written as vercel: this one is CSV\n" in err) == ("/a.html,/a2.html,308!\n", True)


def test_a_repair_leads_to_no_page_of_the_old_site(tmp_path: Path) -> None:
    """A page moves on to the old site by a meta element: both it and links to it get the page of the new site."""
    files = {
        "index.html": links("moves.html"),
        "moves.html": page(head="<meta http-equiv=refresh content='0; url=http://old.example/t.html'>"),
        "t.html": page("t"),
    }
    site = written(tmp_path / "site", files)
    options = (site, "--url", NEW, "--old-url", OLD)
    found = run(tmp_path, *options, "--fix").link("moves.html")
    assert (found["verdict"], found["final"], found["fix"]) == ("redirected", f"{NEW}t.html", "t.html")
    assert (site / "index.html").read_text("utf-8") == links("t.html")
    assert "url=https://new.example/t.html'" in (site / "moves.html").read_text("utf-8")
    assert run(tmp_path, *options).found == {}


def test_check_is_an_audit_of_one_site(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    site = written(tmp_path / "site", {"index.html": links("gone.html")})
    (tmp_path / "absolve.toml").write_text("[check]\nprofile = 'rfc3986'\nfail-on = 'none'\n")
    monkeypatch.chdir(tmp_path)
    assert main(["audit", str(site), "--url", NEW]) == 1
    before = capsys.readouterr()
    assert main(["check", str(site), "--url", NEW]) == 1
    after = capsys.readouterr()
    assert (after.out, "fail-on" in after.err) == (before.out, True)  # the file was found, not named
    monkeypatch.setenv("ABSOLVE_CONFIG", "absolve.toml")
    assert main(["check", str(site), "--url", NEW]) == 0


def test_the_standard_output_has_what_was_found_and_a_file_has_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = written(tmp_path / "site", {"index.html": links("a.html", "no.html"), "a.html": page()})
    found = json.loads(printed(capsys, site, "--url", NEW, "-f", "json")[0])
    assert {row["table"] for row in found} == {"summary", "causes", "links"}
    assert [row["reference"] for row in found if row["table"] == "links"] == ["no.html"]
    printed(capsys, site, "--url", NEW, "-o", tmp_path / "x.json")
    assert len(json.loads((tmp_path / "x.json").read_bytes())) > len(found)
    assert printed(capsys, site, "--url", NEW, "-f", "md")[0].startswith("## ")
    assert main(["links", str(site), "-f", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("| document |")


def test_an_assumed_url_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = "<!-- saved from url=(0029)http://other.example/x/a.html --><a href=b.html>b</a>"
    site = written(tmp_path / "site", {"a.html": saved, "b.html": page()})
    out, err = printed(capsys, site, "--sql", "SELECT base_source FROM links WHERE reference = 'b.html'")
    assert out.splitlines()[1] == "assumed"
    assert "overruled: the assumed URL http://localhost/a.html overrules what the page records" in err


@pytest.mark.parametrize(("second", "urls"), [
    ("<!-- saved from url=(0024)http://old.example/d/two -->", ["http://old.example/d/one", "http://old.example/d/two"]),
    ("", ["http://localhost/1.html", "http://localhost/2.html"]),
])
def test_old_pages_have_the_urls_that_they_all_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], second: str, urls: list[str]
) -> None:
    first = "<!-- saved from url=(0024)http://old.example/d/one -->"
    old = written(tmp_path / "old", {"1.html": first + page(), "2.html": second + page()})
    site = written(tmp_path / "site", {"index.html": page()})
    out, _ = printed(capsys, site, "--url", NEW, "--old", old, "--sql", "SELECT url FROM urls ORDER BY url")
    assert out.split()[1:] == urls


def test_links_of_single_files_lead_to_the_files_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    up = ("../../../../../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc/passwd")
    names = ("b.html#x", "sub/", "img/p.png", "no.html", "out/x.html", *up)
    files = {"a.html": links(*names), "b.html": page(), "sub/index.html": links("../b.html", "c.html"), "img/p.png": ""}
    site = written(tmp_path / "site", files)
    (site / "out").symlink_to(written(tmp_path / "elsewhere", {"x.html": page()}), target_is_directory=True)
    monkeypatch.chdir(site)
    of_url = ["no.html", "out/x.html", names[-1]]  # the other one leads out of the site
    for how, missing in (("a.html", "sub/index.html"), [*names[3:], "c.html"]), ((str(site / "a.html"), "--url", f"{NEW}docs/a.html"), of_url):
        assert main(["check", *how, "-o", str(tmp_path / "out.jsonl")]) == 1
        rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
        assert [row["reference"] for row in rows if row["table"] == "links" and row["verdict"] == "broken"] == missing
        assert not any(row["table"] == "pages" for row in rows)  # that no page links to it is not known
