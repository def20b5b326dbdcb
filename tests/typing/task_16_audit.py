"""Audit a migration, write a report, and print the causes by their reach."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

MOVE = Path(__file__).parents[2] / "examples" / "move"

with TemporaryDirectory() as folder:
    audit = absolve.audit(
        MOVE / "new",
        url="https://bay.example/",
        old=MOVE / "old",
        old_url=["http://old.bay.example/"],
        maps=[MOVE / "redirects.csv"],
        output=[Path(folder, "report.html"), Path(folder, "findings.jsonl")],
    )
    assert [path.name for path in audit.written] == ["report.html", "findings.jsonl"]
worst = max(audit.causes, key=lambda cause: cause.links + cause.pages)
assert worst.verdict == "leftover"
assert worst.final is not None
lost = {url.url: url.suggestion for url in audit.urls if url.verdict == "lost"}
assert list(lost) == ["http://old.bay.example/towers/south.html"]
