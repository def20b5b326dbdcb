"""Report only what is new since the last audit."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

SITE = Path(__file__).parents[2] / "examples" / "move" / "new"

with TemporaryDirectory() as folder:
    before = Path(folder) / "before.sqlite"
    absolve.audit(SITE, url="https://bay.example/", output=before)
    after = absolve.audit(SITE, url="https://bay.example/", baseline=before, fail_on=["broken", "fragment"])
news = [one.identity for one in after.findings if one.is_new]
assert news == []
