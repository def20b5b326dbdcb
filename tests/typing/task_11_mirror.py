"""Make a mirror of an archive, and list what it lacks."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

CAPTURE = Path(__file__).parents[2] / "fixtures" / "journal.warc"

with TemporaryDirectory() as folder:
    mirror: absolve.Mirror = absolve.mirror(CAPTURE, Path(folder, "mirror"), absent="sever")
    titles: list[str] = [page.title or page.url for page in mirror.pages]
    assert titles == ["July"]
    kinds = Counter(url.kind for url in mirror.missing)
    assert kinds == {"navigation": 1, "image": 1}
    assert not mirror.failures
