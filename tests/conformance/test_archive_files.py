"""Real WARC and ARC files: only links change, warcio reads all other bytes unchanged, and its digests are right.

The default run takes every 4th file, and verifies the smaller ones;
`ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_archive_files.py` takes all.
"""

import io
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from material import SHARED, each
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from absolve import verifying
from absolve.core.model import Document
from absolve.document.entity import Entity
from absolve.document.settings import Settings
from absolve.document.walk import inners, walk
from absolve.rewriting import rewriter
from absolve.run.load import archive_segments

pytestmark = pytest.mark.slow
FOLDER = SHARED / "warc"
EVERY = int(os.environ.get("ABSOLVE_EVERY", "4"))
KINDS = (".arc", ".warc", ".arc.gz", ".warc.gz")
SMALL = math.inf if EVERY == 1 else 200_000  # bytes: html5lib needs minutes for some larger files
DERIVED = {"content-length", "warc-block-digest", "warc-payload-digest"}
LINKS = {"base", "content-base", "content-length", "content-location", "link", "location", "refresh", "sourcemap"}


def _files(most: float = math.inf) -> Iterator[ParameterSet]:
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.name.endswith(KINDS))[::EVERY]:
        if path.stat().st_size <= most:
            yield pytest.param(path, id=str(path.relative_to(FOLDER)))


def walked(data: bytes, path: Path) -> Entity:
    return walk(Document(data, name=path.name), Settings())


@each("path", _files(), FOLDER)
def test_only_links_of_real_archives_change(path: Path) -> None:
    data = path.read_bytes()
    entity = walked(data, path)
    assert rewriter.rewrite(entity, lambda _: None) is data
    new = rewriter.rewrite(entity)
    after = walked(new, path)
    assert rewriter.rewrite(after) is new
    assert b"".join(one.rewritten() for one in archive_segments(io.BytesIO(data), path.name, Settings())) == new
    old_records, new_records = read(data), read(new)
    assert len(old_records) == len(new_records)
    changed = {url for url, before, now in differing(old_records, new_records) if before != now}
    assert changed <= walked_urls(entity)
    assert [diagnostic.code for diagnostic in after.diagnostics] == [diagnostic.code for diagnostic in entity.diagnostics]


@each("path", _files(SMALL), FOLDER)
def test_other_readers_verify_each_record(path: Path) -> None:
    with path.open("rb") as file:
        for stretch in archive_segments(file, path.name, Settings()):
            if stretch.document is not None and stretch.entity is not None:
                new = rewriter.rewrite(stretch.entity)
                assert verifying.differences(stretch.entity, stretch.document, new) == []


def read(data: bytes) -> list[tuple[Any, ...]]:
    """Return the records that warcio reads, up to its first error."""
    found = []
    with suppress(ArchiveLoadFailed):
        for record in ArchiveIterator(io.BytesIO(data), check_digests=True):
            head = [pair for pair in record.rec_headers.headers if pair[0].lower() not in DERIVED]
            fields = record.http_headers.headers if record.http_headers else []
            http = [pair for pair in fields if pair[0].lower() not in LINKS]
            names = [name for name, _ in fields]
            content = record.raw_stream.read()
            url = record.rec_headers.get_header("WARC-Target-URI") or record.rec_headers.get_header("uri")
            found.append((url, head, http, names, content, record.digest_checker.passed))
    return found


def differing(old: list[tuple[Any, ...]], new: list[tuple[Any, ...]]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the pairs of contents that differ; assert that all else is equal and that right digests stay right."""
    for before, after in zip(old, new, strict=True):
        assert without_length(before) == without_length(after)
        assert before[5] == after[5] or before[5] is not True
        yield before[0], before[4], after[4]


def without_length(record: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a record's fields; ARC's own header includes its length."""
    head = [pair for pair in record[1] if pair[0].lower() != "length"]
    return record[0], head, record[2], record[3]


def walked_urls(entity: Entity) -> set[str]:
    """Return the URLs of the records that are documents."""
    urls = set()
    for inner in inners(entity):
        urls |= {claim.reference for claim in inner.part.claims} | walked_urls(inner.entity)
    return urls
