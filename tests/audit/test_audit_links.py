"""Verdicts of links: what a browser would do, the first that holds."""

import re
import shutil
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from audited import NEW, OLD, QUIET, audited, links, page, run, written

from absolve.audit import judge, verdicts

JSON_LD = '<script type="application/ld+json">{"@context": "https://schema.org", %s}</script>'


def test_a_site_in_which_all_is_well_has_no_finding(tmp_path: Path) -> None:
    done = audited(
        tmp_path,
        {
            "index.html": links("a.html", "d/", "#top", "", "a.html#s", "mailto:x@y", "https://elsewhere.example/", "a.html?q#s"),
            "a.html": page('<p id=s><a href="./">t</a>'),
            "d/index.html": links("../a.html", ".", "./?x"),
        },
    )
    assert (done.status, done.found, done.pages) == (0, {}, set())


def moving_on(seconds: int, target: str = "") -> str:
    return page(head=f'<meta http-equiv=refresh content="{seconds}{target and f"; url={target}"}">')


OF_SERVER = "index=home.php,extension=php,case=ignore,query=exact"
FOUND: dict[str, tuple[dict[str, str], list[str], dict[str, str]]] = {  # files, options, findings
    "a name of an index with a quote": (
        {"d/it's.html": page(), "a.html": links("d/", "e/")}, ["--server", "index=it's.html"], {"e/": "broken"},
    ),
    "a link that only browsers lead elsewhere": (
        {"d/index.html": links(r"\no", r"\a.html"), "a.html": page()}, [], {r"\no": "divergent"},
    ),
    "single rules of a server that are changed": (
        {"index.html": links("d/", "a", "B.php", "c.html?x"), "d/home.php": page(), "a.php": page(), "b.php": page(), "c.html": page()},
        ["--server", OF_SERVER], {"c.html?x": "broken"},
    ),
    "a page that a meta element moves on": (
        {"index.html": links("a.html", "c.html", "b.html"), "a.html": moving_on(0, "/b.html"), "c.html": moving_on(300), "b.html": page()},
        [], {"a.html": "redirected"},
    ),
    "a folder whose index moves on": (
        {"index.html": links("d/", "d/index.html", "b.html"), "d/index.html": moving_on(30, "/b.html"), "b.html": page()},
        [], {"d/": "redirected", "d/index.html": "redirected"},
    ),
    "a path outside of the site": (
        {"index.html": links("../other/", "no.html")}, ["--url", f"{NEW}docs/"], {"no.html": "broken"},
    ),
    "a folder without a URL": (
        {"index.html": links("/a.html", "no.html", "http://["), "a.html": page()}, [""], {"no.html": "broken", "http://[": "malformed"},
    ),
    "a place of a document in a page": (
        {"index.html": page("<a href='#x'>x</a><iframe srcdoc='<p id=x>'></iframe>"), "a.md": "[x](#nope) [y](#y)\n\n# Y"},
        [], {"#x": "fragment", "#nope": "fragment"},
    ),
    "places in what has none": ({"index.html": links("a.txt#no", "a.pdf#no"), "a.txt": "x", "a.pdf": "%PDF-1.4"}, [], {}),
    "links below the old path of the same host": (
        {"index.html": links("/v1/a.html", "/v1/kept.html", "/v2/no.html"), "v1/kept.html": page(), "a.html": page()},
        ["--old-url", f"{NEW}v1/"], {"/v1/a.html": "leftover", "/v2/no.html": "broken"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_the_findings_of_a_site_are_its_faults(tmp_path: Path, what: str) -> None:
    files, options, findings = FOUND[what]
    site = written(tmp_path / "new", files)
    done = run(tmp_path, site, *([] if options == [""] else ["--url", NEW, *options]))
    assert done.found == findings
    fixes = {"a.html": "b.html", "/v1/a.html": "/a.html"}
    assert all(done.link(one)["fix"] == fixes[one] for one in findings if one in fixes)


@pytest.mark.parametrize(("reference", "files", "verdict", "suggestion"), [
    ("ABOUT.html", {"About.html": page(), "about.html": page()}, "case", "About.html"),
    ("#team", {"index.html": page('<p id=Team><a href="#team">t</a>')}, "fragment", "index.html#Team"),
])
def test_what_is_likely_is_suggested_and_not_written(
    tmp_path: Path, reference: str, files: dict[str, str], verdict: str, suggestion: str
) -> None:
    row = audited(tmp_path, {"index.html": links(reference), **files}).link(reference)
    assert (row["verdict"], row["fix"], row["suggestion"]) == (verdict, None, f"{NEW}{suggestion}")


# The head and the body of a page, and its findings.
PAGES: list[tuple[str, str, dict[str, str]]] = [
    ("", '<a href="http://[x">t</a>', {"http://[x": "malformed"}),
    ("", r'<a href="d\a.html">t</a>', {}),  # a browser finds it
    ("", "<img src=''>", {}),
    ("<link rel=preconnect href=/nothing><link rel=dns-prefetch href=http://old.example>", "", {"http://old.example": "leftover"}),
    ("", '<img usemap="#m"><svg><use href="#no" /></svg>', {"#no": "fragment"}),
    ("<style>p{filter:url(#no);background:url(no.png)}</style>", "", {"no.png": "broken"}),
    ("<base href=/d/>", '<a href="a.html">t</a>', {}),
    ("<base href=/no/>", '<a href="a.html">t</a>', {"a.html": "broken"}),  # not the base itself
    ("", '<iframe srcdoc="<a href=gone>"></iframe>', {"gone": "broken"}),
    (JSON_LD % '"@id": "/no", "url": "/no.html", "logo": "/no.png", "about": {"@id": "/#no"}', "", {"/no.html": "broken", "/no.png": "broken"}),
    (JSON_LD % '"@id": "http://old.example/#me"', "", {"http://old.example/#me": "leftover"}),
    ("", "<p itemscope itemtype=https://schema.org/Thing itemid=#no>", {}),
    ("<style>p{}/*# sourceMappingURL=no.map */</style>", "<script>a()\n//# sourceMappingURL=no.map\n</script>", {}),
]


def test_a_link_has_the_verdict_of_a_browser(tmp_path: Path) -> None:
    pages = {f"{number}.html": page(body, head) for number, (head, body, _) in enumerate(PAGES)}
    done = audited(tmp_path, {**pages, "d/a.html": page()}, "--old-url", OLD)
    assert [(at, done.found_in(f"{at}.html")) for at in range(len(PAGES))] == [(at, wanted) for at, (*_, wanted) in enumerate(PAGES)]


TO_SHORTER = {"about.html": "redirected", "about.html?v=1": "redirected"}


@pytest.mark.parametrize(("server", "wanted"), [
    ("plain", {"docs": "slash", "about": "broken", "about/": "broken", "ABOUT.html": "case"}),
    ("nginx", {"docs": "slash", "about": "broken", "about/": "broken", "ABOUT.html": "case", "old/": "broken"}),
    ("github-pages", {"docs": "slash", "about/": "slash", "ABOUT.html": "case", "old/": "broken"}),
    ("netlify", {"docs": "slash", "about/": "slash", "old/": "broken", "ABOUT.html": "redirected", **TO_SHORTER}),
    ("cloudflare", {"docs": "slash", "about/": "slash", "ABOUT.html": "case", "old/": "broken", **TO_SHORTER}),
])
def test_each_server_finds_files_by_its_rules(tmp_path: Path, server: str, wanted: dict[str, str]) -> None:
    files = {
        "index.html": links("docs", "docs/", "about", "about/", "about.html", "ABOUT.html", "old/", "about.html?v=1"),
        "docs/index.html": page(),
        "about.html": page(),
        "old/index.htm": page(),
    }
    assert audited(tmp_path, files, "--server", server).found == wanted


ESCAPES = {
    "caf%C3%A9.html": ("ok", None),
    "café.html": ("ok", None),
    "%7Eme.html": ("ok", None),
    "caf%E9.html": ("encoding", "caf%C3%A9.html"),  # escaped in another charset
    "caf%25C3%25A9.html": ("encoding", "caf%C3%A9.html"),  # escaped twice
    "cafe%CC%81.html#x": ("encoding", "caf%C3%A9.html#x"),
    "CAF%C3%89.html?q=1": ("case", "caf%C3%A9.html?q=1"),
    "a%2Fb.html": ("broken", None),
    "100%.html": ("ok", None),
    "%ED%A0%80.html": ("broken", None),
}


def test_escapes_are_compared_as_servers_decode_them(tmp_path: Path) -> None:
    files = {"index.html": links(*ESCAPES), "café.html": page("<p id=x>"), "~me.html": page(), "a/b.html": page(), "100%.html": page()}
    done = audited(tmp_path, files)
    found = {row["reference"]: (row["verdict"], row["final"] and row["final"].removeprefix(NEW)) for row in done.tables["links"]}
    assert found == ESCAPES


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r"])
def test_a_link_in_the_charset_of_its_page_is_repaired_to_the_name_of_the_file(tmp_path: Path, charset: str) -> None:
    escaped, odd = (quote(name.encode(charset)) for name in ("новости.html", "данные.html"))
    index = f'<!DOCTYPE html><meta charset={charset}><title>t</title><a href="{escaped}#x">n</a><a href="данные.html">d</a>'
    done = audited(tmp_path, {"index.html": index.encode(charset), "новости.html": page("<p id=x>"), unquote(odd, errors="surrogateescape"): page()})
    assert done.found == {f"{escaped}#x": "encoding", "данные.html": "encoding"}
    assert [done.link(one)["fix"] for one in done.found] == [f"{quote('новости.html')}#x", odd]


def test_a_fragment_is_decoded_as_html_says(tmp_path: Path) -> None:
    there = ("here", "named", "%C3%BC", "a%2541", "", "TOP", ":~:text=river", "here:~:text=x")
    missing = ("no", "Here", "no:~:text=x", "%")
    references = [f"b.html#{fragment}" for fragment in (*there, *missing)]
    files = {"index.html": links(*references), "b.html": page('<p id=here><a name=named></a><p id="ü"><p id="a%41">')}
    assert audited(tmp_path, files).found == {f"b.html#{fragment}": "fragment" for fragment in missing}


PLACES = {
    "heading": ("a.md", "# Set *up* `x.y`!\n\nTwo words\n---\n\n# Set up xy", {"set-up-xy", "two-words", "set-up-xy-1", "Two-Words", "user-content-two-words"}, {"set-up", "two--words", "set-up-xy-2"}),
    "closed and nested": ("a.md", "> ## In a quote ##\n\n- # C++ & C#\n\n```\n# code\n```\n\n    # more\n", {"in-a-quote", "c--c"}, {"code", "more"}),
    "name in attributes": ("a.md", "## Other {#own .c}\n\nText\n{: #ial }\n\n(myst)=\n\n`{#code}` #{ruby}", {"own", "ial", "myst", "other"}, {"code", "c"}),
    "raw HTML": ("a.md", '<a id="raw"></a> <a name=n></a>\n\n<h2 align=center>A <b>logo</b></h2>\n\n`<i id=code>`', {"raw", "n", "a-logo"}, {"code"}),
    "links and images": ("a.md", "# [A](a.md) ![i](a.md)\n\n# \u2614 d :tada:\n\n# \u2614\ufe0f e\n\n# \u7b2c 1 \u6b65\uff1a\u8f6f", {"a-", "-d-tada", "-e", "%EF%B8%8F-e", "\u7b2c-1-\u6b65\u8f6f", "%E7%AC%AC-1-%E6%AD%A5%E8%BD%AF"}, {"a", "a-i"}),
    "lines and tabs": ("a.md", "x", {"L7", "L3C24-L88", "tab/linux"}, {"L", "l7"}),
    "notebook": ("a.ipynb", '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["# Part One!\\n", "x"]}, {"cell_type": "code", "source": "# code"}]}', {"Part-One!", "part-one"}, {"code", "part-two"}),
    "Quarto": ("a.qmd", "# 1. Data & more", {"data-more", "1-data--more"}, {"data"}),
    "feed": ("a.xml", "<rss xmlns:c='http://purl.org/rss/1.0/modules/content/'><channel><item><c:encoded>&lt;p id='fn:1'&gt;</c:encoded></item></channel></rss>", {"fn:1"}, {"fn:2"}),
    "no element": ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'><g id='x'/></svg>", {"x", "svgView(viewBox(0,0,1,1))", "xywh=1,2,3,4", "t=10"}, {"y", "svgview"}),
    "no markup": ("a.txt", "x", {"x"}, set()),
    "no element of a page": ("b.html", "<p id=x>", {"epubcfi(/6/4!/2)", "svgView%28x%29", ":~:text=a"}, {"title=1"}),
}  # fmt: skip


def test_places_are_those_that_readers_of_the_format_have(tmp_path: Path) -> None:
    files = {f"{at}/{name}": content for at, (name, content, *_) in enumerate(PLACES.values())}
    there = {f"{at}/{name}#{one}" for at, (name, _, ones, _) in enumerate(PLACES.values()) for one in ones}
    missing = {f"{at}/{name}#{one}" for at, (name, *_, ones) in enumerate(PLACES.values()) for one in ones}
    done = audited(tmp_path, {"index.html": links(*there, *missing), **files})
    assert done.found == dict.fromkeys(missing, "fragment")


HTTP = {
    '<a href="http://new.example/a.html">t</a>': ("insecure", f"{NEW}a.html"),
    '<img src="http://new.example/i.png">': ("mixed", f"{NEW}i.png"),
    '<img src="http://new.example/no.png">': ("mixed", None),
    '<script src="http://cdn.example/x.js"></script>': ("mixed", None),
    '<a href="http://new.example/no.html">t</a>': ("broken", None),
    '<a href="http://new.example/A.html">t</a>': ("case", f"{NEW}a.html"),
    '<a href="http://new.example/a.html#no">t</a>': ("fragment", None),
    '<p itemscope itemid="http://new.example/#no">': ("insecure", None),
    '<a href="http://elsewhere.example/">t</a>': ("external", None),
    '<img src="http://old.example/i.png">': ("leftover", f"{NEW}i.png"),
}


def test_http_in_an_https_site(tmp_path: Path) -> None:
    pages = {f"{number}.html": page(body) for number, body in enumerate(HTTP)}
    done = audited(tmp_path, {**pages, "a.html": page(), "i.png": "x"}, "--old-url", OLD)
    found = {row["document"].rpartition("/")[2]: (row["verdict"], row["fix"]) for row in done.tables["links"]}
    assert found == dict(zip(pages, HTTP.values(), strict=True))


LOCAL = {
    *("http://localhost:4000/a", "http://127.0.0.1/", "blob:http://localhost:3000/1-2", "file:///a", "C:\\a"),
    *("http://169.254.169.254/latest/", "http://0.1.2.3/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://[fe80::1]/"),
}  # fmt: skip
PRIVATE = {"http://a.local/x", "https://a.b.test:8080", "http://192.168.1.20:3000/", "http://10.1.2.3/", "http://172.31.0.1/", "http://host.docker.internal/"} | {
    *("http://100.64.0.1/", "http://198.18.0.1/", "http://[fd00::1]:80/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://b.lan/"),
}  # fmt: skip
PUBLIC = {"http://100.128.0.1/", "http://169.253.0.1/", "http://[2606:4700::1]/", "http://198.20.0.1/","http://local.example/", "http://mylocal/", "http://test.example/a.local", "http://172.32.0.1/", "http://110.1.2.3/", "http://1.10.2.3/"}


@pytest.mark.parametrize(("url", "wanted"), [(NEW, LOCAL | PRIVATE), ("http://site.local/", LOCAL)])
def test_a_host_that_no_visitor_reaches_is_local(tmp_path: Path, url: str, wanted: set[str]) -> None:
    done = audited(tmp_path, {"index.html": links(*LOCAL, *PRIVATE, *PUBLIC)}, url=url)
    assert done.found == dict.fromkeys(wanted, "local")


TO_OLD = {
    "http://old.example/a.html#x": ("leftover", f"{NEW}a.html#x", f"{NEW}a.html#x"),
    "//OLD.example:80/b.html": ("leftover", f"{NEW}bb.html", "//new.example/bb.html"),
    "https://old.example./b.html": ("leftover", f"{NEW}bb.html", f"{NEW}bb.html"),
    "https://old.example/gone": ("leftover", None, None),
    "http://old.example/nowhere": ("leftover", f"{NEW}no.html", None),
    "http://old.example/removed": ("leftover", None, None),
    "http://old.example:8080/a.html": ("external", None, None),
    "http://notold.example/a.html": ("external", None, None),
    "http://sub.old.example/": ("external", None, None),
}


def test_a_link_to_the_old_host(tmp_path: Path) -> None:
    rules = {"_redirects": "/b.html /bb.html\n/nowhere /no.html\n/removed / 410\n"}
    files = {"index.html": links(*TO_OLD), "a.html": page("<p id=x>"), "bb.html": page()}
    done = audited(tmp_path, files, "--old-url", OLD, maps=rules)
    assert {row["reference"]: (row["verdict"], row["final"], row["fix"]) for row in done.tables["links"]} == TO_OLD


def test_rules_move_links_and_the_fix_is_the_last_target(tmp_path: Path) -> None:
    rules = {"_redirects": "/r1 /r2\n/r2 /z.html\n/one /z.html\n/docs /d\n/l /l\n/no /gone.html\n/app/* /z.html 200\n/away https://elsewhere.example/\n/there /z.html 301!\n/removed / 410\n"}
    files = {"index.html": links("r1#f", "one", "docs", "l", "no", "app/x", "away", "there", "removed"), "z.html": page("<p id=f>"), "d/index.html": page(), "there": "x"}
    done = audited(tmp_path, files, maps=rules)
    assert done.found == {"r1#f": "chain", "one": "redirected", "docs": "chain", "l": "loop", "no": "broken", "away": "redirected", "there": "redirected", "removed": "broken"}
    assert [(row["fix"], row["hops"]) for row in map(done.link, ("r1#f", "one", "docs", "away"))] == [("z.html#f", 2), ("z.html", 1), ("d/", 2), ("https://elsewhere.example/", 1)]
    assert (done.link("no")["final"], done.link("no")["cause"]) == (f"{NEW}gone.html", f"rule:{tmp_path}/_redirects:6")


def test_a_link_that_an_unread_rule_may_move_elsewhere_is_not_repaired(tmp_path: Path) -> None:
    rules = {".htaccess": "RewriteCond %{HTTP_COOKIE} x\nRewriteRule ^a /b.html [R]\nRedirect /a /z.html\nRedirect /c /z.html\n"}
    done = audited(tmp_path, {"index.html": links("a", "c", f"{OLD}a"), "z.html": page()}, "--old-url", OLD, maps=rules)
    assert done.found == {"a": "redirected", "c": "redirected", f"{OLD}a": "leftover"}
    assert [done.link(reference)["fix"] for reference in ("a", "c", f"{OLD}a")] == [None, "z.html", None]


METAS = [
    "<meta property=og:url content=/b.html>",
    "<meta name=twitter:url content=/b.html>",
    "<meta property=al:web:url content=/b.html>",
    "<meta itemprop=url content=/b.html>",
    "<meta name=msapplication-starturl content=/b.html>",
    "<meta name=msapplication-task content='name=x;action-uri=/b.html'>",
    "<meta http-equiv=onion-location content=/b.html>",
    "<noscript><meta http-equiv=refresh content='0; url=/b.html'></noscript>",
    "<template><meta http-equiv=refresh content='0; url=/b.html'></template>",
    "<!-- <meta http-equiv=refresh content='0; url=/b.html'> -->",
    "<meta http-equiv=refresh content='300; url=./'>",
    "<meta http-equiv=refresh content='300; url=?again'>",
]


def test_no_other_meta_element_moves_a_page_on(tmp_path: Path) -> None:
    pages = {f"{number}/": page(head=head) for number, head in enumerate(METAS)}
    done = audited(tmp_path, {"index.html": links(*pages, "b.html"), "b.html": page(), **{f"{name}index.html": text for name, text in pages.items()}})
    assert (done.found, done.pages) == ({}, set())


def test_the_fragment_of_a_redirect_wins_and_a_dead_one_is_never_written(tmp_path: Path) -> None:
    rules = "/own /b.html#here\n/dead /b.html#gone\n/two /dead\n/plain /b.html\n/none /b.html#\n"
    references = ("own", "own#gone", "dead", "dead#here", "two", "plain#here", "plain#gone", "none#gone", "m.html", "B.html#gone", f"{OLD}b.html#gone")
    files = {"index.html": links(*references, "b.html"), "b.html": page("<p id=here>"), "m.html": page(head='<meta http-equiv=refresh content="0; url=b.html#gone">')}
    done = audited(tmp_path, files, "--old-url", OLD, maps={"_redirects": rules})
    found = {reference: (done.found[reference], done.link(reference)["fix"]) for reference in references}
    assert found == {
        "own": ("redirected", "b.html#here"),
        "own#gone": ("redirected", "b.html#here"),
        "dead": ("fragment", None),
        "dead#here": ("fragment", None),
        "two": ("fragment", None),
        "plain#here": ("redirected", "b.html#here"),
        "plain#gone": ("fragment", None),
        "none#gone": ("redirected", "b.html#"),
        "m.html": ("fragment", None),
        "B.html#gone": ("case", None),
        f"{OLD}b.html#gone": ("leftover", None),
    }
    assert done.link("dead")["cause"].startswith("fragment:")
    assert done.link("dead")["final"] == f"{NEW}b.html"


def test_links_that_forgot_the_folder_of_the_site_are_one_cause_with_repairs(tmp_path: Path) -> None:
    site = {"index.html": links("/a.html", "b.html#x", "/b.html#x", "/other.html", "../a.html"), "a.html": page(), "b.html": page("<p id=x>")}
    done = audited(tmp_path, site, url="https://new.example/docs/")
    assert {row["reference"]: (row["verdict"], row["fix"]) for row in done.tables["links"] if row["verdict"] != "ok"} == {
        "/a.html": ("broken", "/docs/a.html"),
        "/b.html#x": ("broken", "/docs/b.html#x"),
        "/other.html": ("external", None),
        "../a.html": ("external", None),
    }
    assert [(row["links"], row["title"]) for row in done.causes] == [(2, "Lacks the folder of the site: /a.html")]


def test_a_base_element_that_leads_out_of_the_folder_of_the_site_is_one_cause(tmp_path: Path) -> None:
    site = {"index.html": links("a.html", "b.html"), "a.html": page(), "b.html": page('<a href="a.html">a</a> <a href="./">home</a> <a href="c/">c</a>', "<base href=/>")}
    done = audited(tmp_path, site, url="https://new.example/docs/")
    assert [(row["links"], row["example_document"]) for row in done.causes] == [(2, str(tmp_path / "new/b.html"))]
    assert {row["fix"] for row in done.tables["links"] if row["verdict"] == "broken"} == {"docs/a.html", "./docs/"}


@pytest.mark.parametrize("given", [("site",), ("site.zip",), ("site.zip", "--url", NEW)], ids=" ".join)
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
    of_pages = re.findall(r"(?:document|p\.url\)), '([a-z]+)'", judge.read_query("70_pages.sql"))
    assert {*of_pages, verdicts.DIFFERS} == {*verdicts.PAGE_VERDICTS}


HEAD = '<meta property="og:url" content="{0}/p.html"><meta property="og:image" content="img/logo.png">'
SHEETS = '<link rel=stylesheet href="a.css"><link rel=stylesheet href="b.css">'
ONE_CAUSE: dict[str, tuple[dict[str, str], dict[str, int]]] = {  # pages -> causes and their links
    "one link of a template": (
        {f"p{number}.html": links("/imprint.html", "index.html") for number in range(5)}, {f"broken:{NEW}imprint.html": 5},
    ),
    "one relative reference in many folders": (
        {f"d{number}/index.html": page('<img src="img/logo.png">') for number in range(4)}, {"broken:img[src]:img/logo.png": 4},
    ),
    "one meta element of a template": (
        {f"{folder}/{name}.html": page(head=HEAD.format(folder)) for folder in "abc" for name in "pqr"},
        {"broken:meta[content]:metadata:new.example": 9, "broken:meta[content]:img/logo.png": 9},
    ),
    "different parts that pages lack": (
        {f"p{number}.html": page(head=SHEETS) for number in range(2)}, {f"broken:{NEW}a.css": 2, f"broken:{NEW}b.css": 2},
    ),
    "a folder that is missing": (
        {"p.html": links("_src/a/1.txt", "_src/b/2.txt?v=1/2", "gone.html")}, {f"broken:{NEW}_src/": 2, f"broken:{NEW}gone.html": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ONE_CAUSE)
def test_one_fault_of_many_links_is_one_cause(tmp_path: Path, what: str) -> None:
    pages, causes = ONE_CAUSE[what]
    done = audited(tmp_path, {"index.html": links(*pages), **pages})
    assert {row["cause"]: row["links"] for row in done.causes} == causes


@pytest.mark.parametrize(("of_page", "causes"), [
    ('<img src="Images/{0}.png">', {f"case:{NEW}Images/"}),
    ('<img src="images/{0}.PNG">', {f"case:{NEW}images/{number}.PNG" for number in range(3)}),
    ('<a href="p{0}.htm">t</a>', {f"broken:{NEW}*.htm"}),
    ('<a href="http://localhost:4000/p{0}/">t</a>', {"local:http://localhost:4000/"}),
    ('<a href="http://old.example/edit/p{0}.md">t</a>', {f"leftover:{OLD}edit/"}),
    ('<a href="http://old.example/a/{0}">t</a><a href="http://old.example/a/x{0}">t</a>', {f"leftover:{OLD}a/{mark}{number}" for mark in ("", "x") for number in range(3)}),
])
def test_one_difference_is_one_cause_whatever_the_names(tmp_path: Path, of_page: str, causes: set[str]) -> None:
    files: dict[str, str | bytes] = {f"images/{number}.png": b"x" for number in range(3)}
    files |= {f"p{number}.html": page(of_page.format(number)) for number in range(3)}
    done = audited(tmp_path, files, "--old-url", OLD)
    assert {row["cause"] for row in done.causes} == causes


def test_two_files_that_no_name_tells_apart_are_judged_once(tmp_path: Path) -> None:
    written(tmp_path / "a", {"x.html": links("no1")})
    written(tmp_path / "b", {"x.html": links("no2")})
    done = run(tmp_path, tmp_path / "a", tmp_path / "b", "--url", NEW)
    assert set(done.found) == {"no1", "no2"}


@pytest.mark.parametrize("text", [
    pytest.param("From: a@h.example\nSubject: how\nContent-Type: text/asciidoc\n\nBody\n", id="message"),
    pytest.param("From a@h.example Mon Nov 19 2007\nFrom: a@h.example\n\nBody\n\nFrom b@h.example Mon Nov 19 2007\nFrom: b@h.example\n\nBody\n", id="mailbox"),
])
def test_a_text_file_with_the_header_of_a_message_is_a_file_of_the_site(tmp_path: Path, text: str) -> None:
    done = audited(tmp_path, {"index.html": links("how.txt"), "how.txt": text})
    assert done.link("how.txt")["verdict"] == "ok"


@pytest.mark.parametrize(("profile", "broken"), [("rfc1808", {"c.css"}), ("whatwg", {"b.css", "c.css"})])
def test_a_style_sheet_before_the_base_element_is_there_where_browsers_ask_for_it(tmp_path: Path, profile: str, broken: set[str]) -> None:
    head = "".join(f'<link rel=stylesheet href="{name}.css">' for name in "abc") + "<base href=/d/>"
    files = {"index.html": page("<a href=a.html>x</a>", head), "a.css": "p{color:red}", "d/b.css": "p{color:red}", "d/a.html": page()}
    done = audited(tmp_path, files, "--profile", profile)
    assert set(done.found) == broken


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
