"""Sites of real generators: a sound one has no finding, and each planted fault is found once, at its place, with its repair."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

import pytest
from building import HOST, TABLE, CannotBuildError, built, picture

from absolve.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
FAULTS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "faults.toml").read_text("utf-8"))
BASES = ("/", "/boats/")
LEAST = 16 if os.environ.get("ABSOLVE_GENERATORS_ALL") else 0  # in CI
ORDINARY = {None, "ok", "same", "external"}
has_built: set[str] = set()


class Finding(NamedTuple):
    """A row that is no ordinary link: where, its verdict, the reference or URL, and the repair."""

    file: str
    place: tuple[int, int]
    verdict: str
    reference: str
    fix: str | None = None


@pytest.fixture(scope="module", autouse=True)
def _enough() -> Iterator[None]:
    yield
    assert len(has_built) >= LEAST, f"only {sorted(has_built)} were built"


@pytest.fixture(params=[(name, base) for name in TABLE for base in BASES], ids=lambda one: one[0] + one[1].rstrip("/"))
def site(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, Path]:
    """The name of a generator, the path of the site on its host, and its folder."""
    name, base = request.param
    try:
        found = built(name, base)
    except CannotBuildError as error:
        pytest.skip(str(error))
    has_built.add(name)
    return name, base, Path(shutil.copytree(found, tmp_path / "site"))


def checked(folder: Path, base: str, *more: str) -> list[Finding]:
    report = folder.with_name("report.json")
    status = main(["check", str(folder), "--url", HOST + base, "--server", "github-pages", "-q", "-o", str(report), *more])
    rows = json.loads(report.read_bytes())
    found = []
    for row in rows:
        if row["table"] == "links" and row["verdict"] not in ORDINARY:
            found.append(Finding(row["document"], (row["line"], row["column"]), row["verdict"], row["reference"], row["fix"]))
        elif row["table"] == "pages":
            found.append(Finding(row["document"], (0, 0), row["verdict"], row["url"]))
        elif row["table"] == "rules":
            found.append(Finding(row["file"], (row["line"], 0), str(row["finding"]), row["text"]))
    assert status == any(one.verdict not in {"orphan", "insecure"} for one in found)
    return sorted(shown(one._replace(file=Path(one.file).relative_to(folder).as_posix())) for one in found)


def shown(one: Finding) -> Finding:
    """Return a finding with the path that a relative repair leads to: there are several ways to write it."""
    is_path = one.fix is not None and not one.fix.startswith(("/", "https:"))
    return one._replace(fix=urljoin(f"//site/{one.file}", one.fix)) if is_path else one


def own_faults(found: list[Finding], name: str) -> dict[str, list[Finding]]:
    """Return the findings that are faults of the generator's own output, by the pattern that has the reason."""
    return {pattern: [one for one in found if re.search(pattern, f"{one.verdict} {one.file} {one.reference}")] for pattern in TABLE[name].get("expected", ())}


def without_own(found: list[Finding], name: str) -> list[Finding]:
    return [one for one in found if not any(one in own for own in own_faults(found, name).values())]


def test_a_sound_site_has_no_finding(site: tuple[str, str, Path]) -> None:
    name, base, folder = site
    found = checked(folder, base)
    assert without_own(found, name) == []
    assert all(own_faults(found, name).values())


def url_of(file: str) -> str:
    return re.sub(r"(^|/)index\.html$", r"\1", file)


def planted(folder: Path, base: str) -> list[Finding]:
    """Plant one fault of each kind into a site; return the findings that they are."""
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}
    hidden = re.compile('content="?noindex|http-equiv="?refresh')
    pages = [name for name, text in texts.items() if "</head>" in text and "</body>" in text and not hidden.search(text) and not name.startswith(("404", "search/"))]
    target = next(name for name in pages if name != "index.html" and name[0].isalpha())
    page = url_of(target)
    sitemap = next((path for path in sorted(folder.glob("sitemap*.xml")) if "</urlset>" in path.read_text("utf-8")), folder / "sitemap.xml")
    if not sitemap.exists():
        places = "".join(f"<url><loc>{HOST}{base}{url_of(name)}</loc></url>\n" for name in pages)
        sitemap.write_text(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n', "utf-8")
    victims = [name for name in pages if name != target]
    found = []
    kinds = [(name, fault) for name, fault in FAULTS.items() if base != "/" or not fault.get("based")]
    assert len(kinds) >= 20
    for number, (_, fault) in enumerate(kinds):
        victim = victims[number % len(victims)]
        marks = {
            "@URL@": HOST + base, "@BASE@": base, "@HTTP@": HOST.replace("https", "http") + base, "@PAGE@": page, "@CASE@": page.capitalize(),
            "@TWICE@": f"%25{ord(page[0]):X}{page[1:]}",
            "@SLASH@": page.rstrip("/") if page.endswith("/") else f"{page}/", "@UP@": "../" * victim.count("/"), "@SELF@": url_of(victim),
            "@HERE@": victim.rpartition("/")[0] + "/" if "/" in victim else "", "@SITEMAP@": sitemap.name,
        }  # fmt: skip

        def filled(text: str, marks: dict[str, str] = marks) -> str:
            return re.sub("@[A-Z]+@", lambda mark: marks.get(mark[0], mark[0]), text)

        for name, text in fault.get("files", {}).items():
            (folder / filled(name)).write_bytes(picture() if text == "@PICTURE@" else filled(text).encode())
        file = filled(fault.get("file", victim))
        reference = filled(fault["reference"])
        if "html" in fault:
            edited = folder / (file if file == sitemap.name else victim)
            text = edited.read_text("utf-8")
            if 'rel="canonical"' in fault["html"]:
                text = re.sub(r'<link[^>]* rel="?canonical"?[^>]*>', "", text)
            before = fault.get("before", "</body>")
            edited.write_text(text.replace(before, filled(fault["html"]) + before, 1), "utf-8")
        found.append((Finding(file, (0, 0), fault["verdict"], reference, filled(fault["fix"]) if "fix" in fault else None), fault, filled(fault.get("html", reference))))
    return sorted(shown(one._replace(place=place(folder / one.file, one.reference, html, fault.get("table", "links")))) for one, fault, html in found)


def place(path: Path, reference: str, html: str, table: str) -> tuple[int, int]:
    """Return the line and column of a planted reference; a page has none."""
    if table == "pages":
        return (0, 0)
    text = path.read_text("utf-8")
    at = text.index(reference, text.index(html if html in text else reference))
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def test_each_planted_fault_is_found_once_at_its_place_with_its_repair(site: tuple[str, str, Path]) -> None:
    name, base, folder = site
    expected = planted(folder, base)
    found = without_own(checked(folder, base), name)
    assert (sorted({*found} - {*expected}), sorted({*expected} - {*found})) == ([], [])
    assert len(found) == len(expected)
    checked(folder, base, "--fix")
    left = without_own(checked(folder, base), name)
    assert [(one.file, one.verdict, one.reference) for one in left] == [(one.file, one.verdict, one.reference) for one in expected if one.fix is None]
