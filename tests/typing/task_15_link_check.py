"""Check the links of a site, and fail as a test does."""

from pathlib import Path

import absolve

SITE = Path(__file__).parents[2] / "examples" / "move" / "new"

audit: absolve.Audit = absolve.audit(SITE, url="https://bay.example/", server="plain", ignore=["/never/"])
broken = [finding for finding in audit.findings if finding.verdict == "broken"]
places: list[tuple[str, int | None]] = [(Path(one.document).name, one.line) for one in broken]
assert len(places) == 2
assert audit.links == 30
assert not audit.urls
