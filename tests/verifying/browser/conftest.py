"""Fixtures of the tests with a browser: one browser for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from absolve.verifying.browser import Browser
from absolve.verifying.browser.chromium import NoBrowserError, find

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def program() -> str:
    """Return the path of a Chromium; skip without one."""
    try:
        return find()
    except NoBrowserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def browser(program: str) -> Iterator[Browser]:
    with Browser(program, 60) as started:
        yield started
