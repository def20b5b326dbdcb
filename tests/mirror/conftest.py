"""Fixtures of the tests that open mirrors: one browser for all of them, and the web that it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browsers import Online, Web, browser, running

from tests.shapes.active import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def online() -> Iterator[Online]:
    """Yield a browser whose web is a server of the tests; skip without a Chromium."""
    web = Web({})
    with running(web) as port, browser(f"--host-resolver-rules=MAP {HOST}:80 127.0.0.1:{port}") as (devtools, trap):
        yield Online(devtools, trap, web)
