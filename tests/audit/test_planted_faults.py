"""A documentation site that was moved with faults of many kinds: each is found, no other is, and few causes explain them."""

from pathlib import Path

import pytest
from audited import Audit, run
from planted_faults import NEW, OLD, Site, findings, planted

from absolve.audit.verdicts import PAGE_VERDICTS, RULE_VERDICTS


def audited(folder: Path, site: Site, *more: str) -> Audit:
    maps = ["--map", folder / "_redirects"] if site.rules else []
    return run(folder, folder / "new", "--url", NEW, "--old", folder / "old", "--old-url", OLD, *maps, *more)


@pytest.mark.slow
def test_each_planted_fault_is_found_and_no_other(shared: Path, tmp_path: Path) -> None:
    root = shared / "sites/git-doc/doc/git-doc"
    pages = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.html"))}
    plain, site = Site(pages, pages), planted(Site(pages, pages))
    plain.write(tmp_path / "before")
    site.write(tmp_path / "after")
    before = audited(tmp_path / "before", plain)
    after = audited(tmp_path / "after", site, "--fix")

    known = {(table, *(row.get(column) for column in ("verdict", "reference", "url"))) for table, row in findings(before.tables)}
    found = [(table, row) for table, row in findings(after.tables) if (table, *(row.get(column) for column in ("verdict", "reference", "url"))) not in known]
    assert [(name, one) for name, every in site.faults.items() for one in every if not any(one.fits(*row) for row in found)] == []
    assert [row for row in found if not any(one.fits(*row) for every in site.faults.values() for one in every)] == []
    old = {row["cause"] for row in before.tables["causes"]}
    assert len(site.faults) == 36
    own = {*PAGE_VERDICTS, *RULE_VERDICTS}  # a page, or a rule that no link meets, is a cause of its own
    causes = [row for row in after.tables["causes"] if row["links"] or row["verdict"] not in own]
    assert sum(row["cause"] not in old for row in causes) <= 41
    again = audited(tmp_path / "after", site)
    assert [row for row in again.tables["links"] if row["fix"] is not None] == [], "repairs need no repairs"
