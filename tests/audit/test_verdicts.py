"""What an audit finds in small sites: the verdicts of their links, old URLs, pages and rules; the cases are in cases/verdicts.toml."""

import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from audited import NEW, OLD, QUIET, Audit, audited, links, page, text

from absolve.audit.verdicts import VERDICTS

SITES = tomllib.loads((Path(__file__).parents[1] / "cases/verdicts.toml").read_text("utf-8"))
WORDS = {"fix": "fix", "leads to": "final", "perhaps": "suggestion", "cause": "cause", "by": "method", "rule": "rule"}
OLD_URL = f"--old-url {OLD}"
# Cases without maps, an old site and options are folders of one site, which is audited once: an audit takes long to begin.
TOGETHER = {
    name: str(number) for number, (name, site) in enumerate(SITES.items())
    if not {"url", "maps", "old", "runs", "urls", "causes", "rules"} & site.keys()
    and site.get("options", OLD_URL) == OLD_URL and "sitemap.xml" not in site.get("files", ())
}  # fmt: skip


def whole(name: str, content: str) -> str:
    """Return a file of a case: HTML is put into a page, with its title and with texts of their own for {A} to {Z}."""
    content = re.sub(r"\{([A-Z])\}", lambda found: text(ord(found[1])), content)
    if not name.endswith(".html") or content.startswith("<!"):
        return content
    title, end, body = content.removeprefix("<title>").partition("</title>")
    return page(head=body, title=title) if end else page(head=content)


def elements(site: Mapping[str, Any]) -> dict[str, str]:
    return {f"{at}.html": html for at, (html, *_) in enumerate(site.get("elements", ()))}


def files(site: Mapping[str, Any]) -> dict[str, str]:
    given = dict.fromkeys(site.get("names", "").split(), "") | elements(site) | site.get("files", {})
    index = {"index.html": links(*(name for name, _ in asked(site)), *elements(site))}
    return index | {name: whole(name, content) for name, content in given.items()}


def asked(site: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the references of a case with their verdicts, "" where each run has another."""
    found = [(one, word) for word in VERDICTS for one in site.get(word, "").split()]
    return found + [(one, verdict) for one, verdict, *_ in site.get("links", ())] + [(one, "") for one in site.get("asked", "").split()]


def judged(folder: Path, site: Mapping[str, Any], options: str = "") -> Audit:
    old = {name: whole(name, content) for name, content in site["old"].items()} if "old" in site else None
    given = shlex.split(f"{options} {site.get('options', '')}")
    return audited(folder, files(site), *given, old=old, maps=site.get("maps"), url=site.get("url", NEW) or None)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Audit all cases that can be folders of one site; a path that begins with / begins in the folder of the case."""
    found = {"index.html": links(*(f"{folder}/index.html" for folder in TOGETHER.values()))}
    for name, folder in TOGETHER.items():
        for file, content in files(SITES[name]).items():
            placed = re.sub(r"""((?:href|src|content|url|uri)=["']?|//(?:new|old)\.example)/(?![/\d])""", rf"\1/{folder}/", content)
            found[f"{folder}/{file}"] = placed.replace("<title>a page<", f"<title>{folder} {file}<")
    return audited(tmp_path_factory.mktemp("together"), found, *OLD_URL.split())


def verdict_text(row: Mapping[str, Any], expected: str, root: str, folder: str) -> str:
    """Return the value of a row that a case expects, in the words of the case: for example "fix b.html"."""
    if expected.endswith(" hops"):
        return f"{row['hops']} hops"
    if expected in {"no fix", "nowhere"}:
        return expected if row["fix" if expected == "no fix" else "final"] is None else str(row)
    word = next(one for one in WORDS if expected.startswith(one))
    value = row[WORDS[word]]
    shown = "nothing" if value is None else str(value).replace(folder, "{folder}")
    return f"{word} {shown.removeprefix(root) if word in {'leads to', 'perhaps'} else shown}"


@pytest.mark.parametrize("name", SITES)
def test_an_audit_finds_what_is_wrong_with_a_site_and_nothing_else(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    site = SITES[name]
    for number, (options, *expected) in enumerate(site.get("runs", ())):
        found = judged(tmp_path / str(number), site, options).found
        assert sorted(f"{one}: {verdict}" for one, verdict in found.items()) == sorted(expected), options
    if "runs" in site:
        return
    below = f"{TOGETHER[name]}/" if name in TOGETHER else ""
    done = request.getfixturevalue("together") if below else judged(tmp_path, site)
    check_links(site, [row for row in done.tables["links"] if f"/new/{below}" in row["document"]], below, str(tmp_path))
    if "urls" in site:
        rows = {row["url"].removeprefix(OLD): row for row in done.tables["urls"]}
        assert {one: row["verdict"] for one, row in rows.items()} == {one: verdict for one, verdict, *_ in site["urls"]}
        for one, _, *expected in site["urls"]:
            assert [verdict_text(rows[one], each, NEW, str(tmp_path)) for each in expected] == expected, one
    if "pages" in site:
        of_pages = [row for row in done.tables["pages"] if not below or row["url"].startswith(NEW + below)]
        details = {f"{row['verdict']} {row['url'].removeprefix(NEW + below)}": row["detail"] for row in of_pages}
        words = {re.sub(r": .*", "", one): one.partition(": ")[2] for one in site["pages"]}
        assert details.keys() == words.keys()
        assert [one for one in words if words[one] and not re.fullmatch(re.escape(words[one]).replace(r"\.\.\.", ".*"), details[one])] == []
    if "causes" in site:
        near = {row["cause"]: f"; perhaps: {row['suggestion']}" for row in done.causes if "; perhaps: " in "".join(site["causes"])}
        assert sorted(f"{row['links']} {row['title']}{near.get(row['cause'], '')}" for row in done.causes) == sorted(site["causes"])
    if "rules" in site:
        assert [f"{Path(row['file']).name}:{row['line']}: {row['finding']}" for row in done.tables["rules"] if row["finding"]] == site["rules"]


def check_links(site: Mapping[str, Any], rows: list[dict[str, Any]], below: str, folder: str) -> None:
    findings = [row for row in rows if row["verdict"] not in QUIET]
    for at, (html, *expected) in enumerate(site.get("elements", ())):
        own = [row for row in findings if row["document"].endswith(f"/new/{below}{at}.html")]
        found = {f"{row['reference']}: {row['verdict']}" + (f", fix {row['fix']}" if row["fix"] is not None else "") for row in own}
        assert {one.replace(f"/{below}", "/") for one in found} == set(expected), html
    verdicts = dict(asked(site))
    assert verdicts or "elsewhere" not in site
    if not verdicts:
        return
    of_index = {row["reference"]: row for row in rows if row["reference"] in verdicts}
    assert {one: row["verdict"] for one, row in of_index.items()} == verdicts
    for one, _, *expected in site.get("links", ()):
        assert [verdict_text(of_index[one], each, NEW + below, folder) for each in expected] == expected, one
    assert "elements" in site or {row["reference"] for row in findings} - verdicts.keys() == set(site.get("elsewhere", "").split())
