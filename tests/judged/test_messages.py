"""Real messages: only links change, as Python's email package sees them, and once.

The quick run takes every 20th; `ABSOLVE_EVERY=1 python -m pytest tests/judged/test_messages.py` takes all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import absolve
from absolve import formats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet

pytestmark = pytest.mark.slow
SHARED = Path(os.environ.get("ABSOLVE_SHARED") or Path(__file__).parents[3] / "shared")
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
URL = "http://base.example/d/p"


def _messages() -> Iterator[ParameterSet]:
    if not SHARED.is_dir():
        yield pytest.param(None, marks=pytest.mark.skip(reason=f"there is no {SHARED} (set ABSOLVE_SHARED)"))
        return
    paths = sorted(path for path in (SHARED / "mime").rglob("*") if path.is_file())
    sniffed = ((path, formats.sniff(path.read_bytes(), path.name)) for path in paths)
    found = [(path, kind) for path, kind in sniffed if kind in formats.MAIL]
    assert len(found) > 350
    for path, kind in found[::EVERY]:
        yield pytest.param(path.read_bytes(), kind, id=str(path.relative_to(SHARED / "mime")))


@pytest.mark.parametrize(("data", "kind"), list(_messages()))
def test_only_links_change_and_once(data: bytes, kind: str) -> None:
    assert absolve.rewrite(data, media_type=kind, policy=lambda _: None) is data
    for url in (None, URL):
        done = absolve.rewrite(data, media_type=kind, url=url, break_signatures=True)
        assert absolve.rewrite(done, media_type=kind, url=url, break_signatures=True) == done
        assert absolve.verify(data, done, media_type=kind, url=url, break_signatures=True) == []
        before, after = (list(absolve.links(side, media_type=kind, url=url)) for side in (data, done))
        assert [row.target for row in before] == [row.target for row in after]
