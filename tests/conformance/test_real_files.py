"""Real pages, messages and XML: without a base nothing changes, only links change, and a second rewrite changes nothing.

The default run takes every 20th file; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_real_files.py` takes all.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from lxml import etree
from material import SHARED, each, pages
from rewritten import has_sound_rows, is_honest

import absolve
from absolve.formats import registry, sniffing

pytestmark = pytest.mark.slow
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
URL = "http://base.example/dir/doc"


def _files() -> Iterator[ParameterSet]:
    """Yield a file, its media type, and its URL."""
    for page in pages(EVERY):
        yield _param(SHARED / "pages" / page.path, "text/html", page.url or URL)
    xml = (path for path in (SHARED / "xml").rglob("*") if path.suffix.lower() not in {".css", ".epub"})
    for path in sorted(filter(_is_file, xml))[::EVERY]:
        yield _param(path, "application/xml", URL)
    sniffed = ((path, sniffing.sniff(path.read_bytes(), path.name)) for path in sorted(filter(_is_file, (SHARED / "mime").rglob("*"))))
    messages = [(path, kind) for path, kind in sniffed if kind in registry.MAIL]
    assert len(messages) > 350
    for path, kind in messages[::EVERY]:
        yield _param(path, str(kind), URL)


def _is_file(path: Path) -> bool:
    return path.is_file()


def _param(path: Path, media_type: str, url: str) -> ParameterSet:
    return pytest.param(path, media_type, url, id=str(path.relative_to(SHARED)))


@each("path, media_type, url", _files(), SHARED)
def test_only_links_of_a_real_file_change_and_only_once(path: Path, media_type: str, url: str) -> None:
    data = path.read_bytes()
    options: dict[str, Any] = {"media_type": media_type, "name": path.name}
    try:
        states_no_base = not any(row.base for row in absolve.links(data, **options))
    except absolve.DocumentError as error:
        assert error.diagnostic.code == "unknown-charset" or is_broken(data)  # noqa: PT017 - or none
        return
    if states_no_base:
        assert absolve.rewrite(data, **options) is data
    for known in (None, url):
        is_honest(data, url=known, **options)
        has_sound_rows(data, url=known, **options)
    after = absolve.rewrite(data, url=url, **options)
    before, now = ([row.target for row in absolve.links(side, url=url, **options)] for side in (data, after))
    assert before == now


def is_broken(data: bytes) -> bool:
    """Return whether lxml also rejects this XML as not well-formed."""
    try:
        etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except etree.XMLSyntaxError:
        return True
    return False
