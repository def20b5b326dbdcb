"""Fixtures of the tests with a browser: one browser for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from absolve.verifying.browser import Browser
from tests.browser_page import program as found

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def program() -> str:
    """Return the path of a Chromium; skip without one."""
    return found()


@pytest.fixture(scope="session")
def browser(program: str) -> Iterator[Browser]:
    with Browser(program, 60) as started:
        yield started
