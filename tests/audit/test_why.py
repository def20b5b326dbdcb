"""`audit --why URL`: each step by which a verdict came, with file, line, rule, server and answer."""

from pathlib import Path

import pytest
from audited import NEW, OLD, links, page, written

from absolve.audit import why as why_module
from absolve.cli import audit, main

TEXT = "<p>" + " ".join(f"word{number}" for number in range(200))
SITE = {
    "index.html": links("about", "A.HTML", "b.html#none", "gone.html", "ring.html", "one.html", OLD + "nothing.html", "docs//c.html"),
    "about.html": page("<h1>about</h1>"), "a.html": page(), "b.html": page("<p id=here><a href='http://['>"), "docs/index.html": page("docs"),
    "docs/c.html": page("c"), "moved-text.html": page(TEXT), "raw/x\x1b[2J.html": links("../no\u202ething.html"),
}  # fmt: skip
BEFORE = {"text.html": page(TEXT), "a.html": page(), "out.html": page("out"), "gone-old.html": page("g")}
MAP = {"_redirects": "/ring.html /other-ring.html 301\n/other-ring.html /ring.html 301\n/one.html /two.html 301\n/two.html /b.html 302\n/a.html /b.html 301\n/gone-old.html /x 410\n/met-by-none /about.html 301\n"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    written(folder / "new", SITE)
    written(folder / "old", BEFORE)
    written(folder, {**MAP, ".htaccess": "Redirect 302 /docs/c.html /docs/\n"})
    return folder


def why(site: Path, url: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    given = ["new", "--url", NEW, "--old", "old", "--old-url", OLD, "--map", "_redirects", "--map", ".htaccess", "--why", url, "--fail-on", "none"]
    assert main(["audit", *(str(site / word) if word in {"new", "old", "_redirects", ".htaccess"} else word for word in given), *arguments]) == 0
    return capsys.readouterr().out.replace(f"{site}/", "")


# The report about a URL, with each server.
LINES: dict[str, list[tuple[str, list[str]]]] = {
    "plain,extension=html,slashes=merge,case=ignore": [
        (NEW + "docs/", ["Server plain with changes answers {} with new/docs/index.html (text/html), by index=index.html", "No link leads there."]),
        (NEW + "about", ["with new/about.html (text/html), by extension=html", "new/index.html:1:99: a[href]: about, base https://new.example/index.html (retrieval --url): ok"]),
        (NEW + "docs//c.html", ["with new/docs/c.html (text/html), by slashes=merge"]),
        (NEW + "A.HTML", ["with new/a.html (text/html), by case=ignore"]),
    ],
    "plain": [
        (NEW + "A.HTML", ["has no file for {}", "There is: https://new.example/a.html, new/a.html", "Verdict case", "write a.html"]),
        (NEW + "a.html?x=1", ["with new/a.html (text/html), by query=ignore"]),
        (NEW + "b.html#none", ["Its place #none is missing.", "Verdict fragment", "Cause: The page is there, the anchor is missing"]),
        (NEW + "gone.html", ["No rule moves it.", "1 link leads there:", "Verdict broken: The target is not there."]),
        (NEW + "ring.html", ["_redirects:1: /ring.html /other-ring.html 301: redirects", "_redirects:2: ", "That is a circle.", "Verdict loop"]),
        (NEW + "one.html", ["_redirects:3: /one.html /two.html 301: redirects", "_redirects:4: ", "b.html (302)", "Server plain answers https://new.example/b.html with new/b.html", "Verdict chain", "Rule: "]),
        (NEW + "a.html", ["_redirects:5 does not move it, because the new site has a file there: /a.html /b.html 301"]),
        (NEW + "docs/c.html", [".htaccess:1: Redirect 302 /docs/c.html /docs/: redirects", "The new site has a file there, which the rule hides."]),
        (OLD + "text.html", ["It is a URL of the old site: old/text.html (text/html)", "Its text: https://new.example/moved-text.html, 1.00 alike", "Verdict moved", "A rule to add: "]),
        (OLD + "a.html", ["It has the same bytes there.", "Verdict kept"]),
        (OLD + "gone-old.html", ["_redirects:6: /gone-old.html /x 410: answers 410", "Verdict gone"]),
        (OLD + "out.html", ["has no file for https://new.example/out.html", "Verdict lost"]),
        (OLD + "nothing.html", ["It is on the old site, which has no document there.", "Verdict leftover"]),
        (OLD + "nowhere.html", ["Unknown: no document of https://new.example/ and http://old.example/ has this URL"]),
        (OLD + "met-by-none", ["No document has this URL, and no link leads to it: its rule has no effect", "_redirects:7: /met-by-none /about.html 301: redirects", "about.html"]),
        (NEW + "docs/", ["Assumed of the server, plain: the URL of a folder is answered by its index.html or index.htm", "--server has others."]),
        ("http://[", ["http://[\n  1 link leads there:\n    new/b.html:1", "Verdict malformed"]),
        ("http://]", ["http://]\n  Unknown: "]),
        ("c.html", ["https://new.example/docs/c.html\n", "https://new.example/docs//c.html\n"]),
        ("moved-text.html", ["https://new.example/moved-text.html\n"]),
        ("/a.html", ["https://new.example/a.html\n", "http://old.example/a.html\n"]),
    ],
    "cloudflare": [(NEW + "b.html", ["(html=redirect): https://new.example/b"]), (NEW + "docs", ["There is: https://new.example/docs/", "(bare-folder=redirect)"])],
}


@pytest.mark.parametrize("server", LINES)
def test_a_verdict_is_explained(site: Path, server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, str] = {}

    def explain(audit: why_module.Audit, _options: object) -> None:
        found.update({url: "\n".join(why_module.explained(audit, url)).replace(f"{site}/", "") + "\n" for url, _ in LINES[server]})

    monkeypatch.setattr(audit, "_explain", explain)
    why(site, "", capsys, "--server", server)
    for url, lines in LINES[server]:
        assert [line for line in lines if line.format(url) not in found[url]] == [], found[url]


def test_nothing_a_site_has_reaches_the_terminal_as_it_is(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = why(site, f"{NEW}no%E2%80%AEthing.html", capsys)
    assert r"no\u202ething.html" in found
    assert r"x\x1b[2J.html" in found
    assert not {"\x1b", "\u202e"} & set(found)


def test_only_the_first_of_many_links_and_redirects_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "new", {"index.html": links(*["0.html"] * 300)})
    written(tmp_path / "old", {"0.html": page()})
    written(tmp_path, {".htaccess": "Redirect /x /y\n", "_redirects": "".join(f"/{number}.html /{number + 1}.html 301\n" for number in range(300))})
    found = why(tmp_path, NEW + "0.html", capsys)
    assert "300 links lead there, the first 20 are:" in found
    assert "The first 20 redirects are listed." in found
    assert len(found.splitlines()) < 60
