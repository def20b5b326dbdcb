"""Real messages: only links change, as read by Python's email package, and a second rewrite changes nothing.

The default run takes every 20th; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_messages.py` takes all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from material import SHARED, each

import absolve
from absolve.formats import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet

pytestmark = pytest.mark.slow
MESSAGES = SHARED / "mime"
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
URL = "http://base.example/d/p"


def _messages() -> Iterator[ParameterSet]:
    paths = sorted(path for path in MESSAGES.rglob("*") if path.is_file())
    sniffed = ((path, registry.sniff(path.read_bytes(), path.name)) for path in paths)
    found = [(path, kind) for path, kind in sniffed if kind in registry.MAIL]
    assert len(found) > 350
    for path, kind in found[::EVERY]:
        yield pytest.param(path.read_bytes(), kind, id=str(path.relative_to(MESSAGES)))


@each("data, kind", _messages(), MESSAGES)
def test_only_links_of_real_messages_change_and_only_once(data: bytes, kind: str) -> None:
    assert absolve.rewrite(data, media_type=kind, policy=lambda _: None) is data
    for url in (None, URL):
        done = absolve.rewrite(data, media_type=kind, url=url, break_signatures=True)
        assert absolve.rewrite(done, media_type=kind, url=url, break_signatures=True) == done
        assert absolve.verify(data, done, media_type=kind, url=url, break_signatures=True) == []
        before, after = (list(absolve.links(side, media_type=kind, url=url)) for side in (data, done))
        assert [row.target for row in before] == [row.target for row in after]
