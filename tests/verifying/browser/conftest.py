"""Fixtures of the tests with a browser: one browser for all of them."""

from collections.abc import Iterator

import pytest
from browser_view import Browser

from tests.browser_page import program as found


@pytest.fixture(scope="session")
def program() -> str:
    """Return the path of a Chromium; skip without one."""
    return found()


@pytest.fixture(scope="session")
def browser(program: str) -> Iterator[Browser]:
    with Browser(program, 60) as started:
        yield started
