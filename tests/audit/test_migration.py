"""A documentation tree that was moved with planted faults: each is found, and nothing else."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from audited import run
from migration import NEW, OLD, moved


@pytest.mark.slow
def test_every_planted_fault_of_a_moved_site_is_found(shared: Path, tmp_path: Path) -> None:
    planted = moved(shared / "sites/cmake-doc/doc/cmake-data/html", tmp_path / "old", tmp_path / "new", folder="module/")
    options = (tmp_path / "new", "--url", NEW, "--old", tmp_path / "old", "--old-url", OLD)
    untouched = run(tmp_path, tmp_path / "old", "--url", OLD)

    def place(url: str | None) -> str | None:
        return unquote(url.removeprefix(NEW)) if url is not None else None

    # By content alone.
    done = run(tmp_path, *options)
    urls = {unquote(row["url"].removeprefix(OLD)): (row["verdict"], place(row["final"])) for row in done.tables["urls"]}
    assert [page for page, target in planted.renamed.items() if urls[page] != ("moved", target)] == []
    assert [page for page in urls if page.startswith(planted.folder[0]) and urls[page] != ("moved", f"new-{page}")] == []
    assert {urls[page] for page in planted.deleted} == {("lost", None)}
    assert [page for page, target in planted.merged.items() if urls[page] != ("moved", target)] == []
    assert {other: page for page, other in planted.swapped.items()} == {page: urls[page][1] for page in planted.swapped}
    assert {urls[page][0] for page in planted.swapped} == {"replaced"}
    known = {*planted.renamed, *planted.deleted, *planted.merged, *planted.swapped}
    others = {page: found for page, found in urls.items() if page not in known and not page.startswith(planted.folder[0])}
    assert {found[0] for found in others.values()} == {"kept"}

    # Links: those that were broken before are so still; all others follow from what is planted.
    links = done.tables["links"]
    assert sum(row["verdict"] == "leftover" for row in links) == len(planted.leftovers)
    places = {place(row["target"]) for row in links if row["verdict"] == "fragment"}
    assert {f"{page}#{anchor}" for page, anchor in planted.anchors} <= places
    swapped = {place_ for place_ in places if place_ and place_.partition("#")[0] in planted.swapped}
    before = {unquote(row["target"].removeprefix(OLD)) for row in untouched.tables["links"] if row["verdict"] == "fragment"}
    assert places - {f"{page}#{anchor}" for page, anchor in planted.anchors} - swapped == before
    broken = {unquote(row["target"].removeprefix(OLD)).partition("#")[0] for row in untouched.tables["links"] if row["verdict"] == "broken"}
    gone = {*planted.renamed, *planted.deleted, *planted.merged} | {page for page in urls if page.startswith(planted.folder[0])}
    mixed = {str(tmp_path / "new" / page) for page in (*planted.merged.values(), *planted.swapped)}  # with text of another folder
    wrong = [row for row in links if row["verdict"] == "broken" and row["reference"] != "index.html" and row["document"] not in mixed]
    now = {place(row["target"].partition("#")[0]) for row in wrong}
    assert now - broken <= gone | {page.replace(planted.folder[0], planted.folder[1], 1) for page in broken}

    # With the map: its wrong rules, and repairs that a second audit agrees with.
    (tmp_path / "map.csv").write_text("".join(f"/{old},/{new}\n" for old, new in {**planted.rules, **planted.wrong}.items()), "utf-8")
    done = run(tmp_path, *options, "--map", tmp_path / "map.csv", "--fix")
    rules = done.tables["rules"]
    assert len(rules) == 40
    findings = {row["text"].partition(",")[0].removeprefix("/"): row["finding"] for row in rules}
    assert {findings[page] for page in planted.wrong} == {"leads to nothing", "loop"}
    assert {findings[page] for page in planted.rules} == {None, "unused"}
    again = run(tmp_path, *options, "--map", tmp_path / "map.csv")
    assert [row for row in again.tables["links"] if row["fix"] is not None] == []
    assert not {row["verdict"] for row in again.tables["links"]} & {"leftover", "redirected", "chain", "case", "slash"}
