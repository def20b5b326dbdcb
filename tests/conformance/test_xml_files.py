"""Real XML: without a base nothing changes, lxml reads the same document except for links, and rewriting is idempotent.

The default run takes every 20th file; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_xml_files.py` takes all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from lxml import etree
from material import SHARED, each

import absolve
from absolve.core.errors import DocumentError
from absolve.core.model import Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark import ParameterSet

pytestmark = pytest.mark.slow
FOLDER = SHARED / "xml"
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
URL = "http://base.example/dir/doc.xml"
OTHERS = {".css", ".epub"}


def files() -> Iterator[ParameterSet]:
    paths = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.suffix.lower() not in OTHERS)
    for path in paths[::EVERY]:
        yield pytest.param(path, id=str(path.relative_to(FOLDER)))


FILES = each("path", files(), FOLDER)


def document(path: Path, data: bytes | None = None, url: str | None = None) -> Document:
    return Document(path.read_bytes() if data is None else data, name=path.name, media_type="application/xml", url=url)


@FILES
def test_only_links_of_real_xml_change_and_only_once(path: Path) -> None:
    before = document(path, url=URL)
    code = failure(before)
    if code:
        assert code == "unknown-charset" or is_broken(before.data)
        return
    after = absolve.rewrite(before)
    assert absolve.verify(before, after) == []
    assert absolve.rewrite(document(path, after, URL)) == after


@FILES
def test_xml_without_a_base_is_returned_unchanged(path: Path) -> None:
    before = document(path)
    if failure(before):
        pytest.skip("it cannot be read")
    if any(row.base for row in absolve.links(before)):
        pytest.skip("the document states its base")
    assert absolve.rewrite(before) is before.data


def failure(given: Document) -> str:
    """Return the code of the error that a document causes; None without an error."""
    try:
        absolve.base(given)
    except DocumentError as error:
        return error.diagnostic.code
    return ""


def is_broken(data: bytes) -> bool:
    """Return whether lxml also rejects this XML as not well-formed."""
    try:
        etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except etree.XMLSyntaxError:
        return True
    return False
