"""Rewrite a file, and list the links of a folder."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

with TemporaryDirectory() as folder:
    page = Path(folder, "page.html")
    page.write_text("<a href=x><img src=y>", "utf-8")
    changed: bool = absolve.rewrite_file(page, url="http://example.com/", kind=["image"], backup=".orig")
    assert changed
    targets = [row.target for row in absolve.walk_links(folder, include="*.html", url="http://example.com/", scope="internal")]
    assert targets == ["http://example.com/x", "http://example.com/y"]
