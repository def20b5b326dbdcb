"""Make one file of pages that are in memory, as a program has them that fetched them itself."""

from pathlib import Path
from tempfile import TemporaryDirectory

import absolve

pages = {"http://h/a.html": '<title>A</title><img src="i.png">', "http://h/b.html": '<a href="a.html">a</a>'}
documents = [absolve.Document(text, url=url) for url, text in pages.items()]
documents.append(absolve.Document(b"\x89PNG\r\n\x1a\n", url="http://h/i.png", media_type="image/png"))
with TemporaryDirectory() as folder:
    target = Path(folder) / "site.zip"
    made = absolve.mirror(documents, target)
    paths: dict[str, str] = {page.url: page.path for page in made.pages}
    assert paths == {"http://h/a.html": "h/a.html", "http://h/b.html": "h/b.html"}
    assert target.stat().st_size > 0
    one = absolve.mirror(documents, Path(folder) / "a.html", start="http://h/a.html")
    assert b"data:image/png" in Path(one.output).read_bytes()
