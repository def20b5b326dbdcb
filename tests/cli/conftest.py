"""Fixtures of the tests of commands."""

from pathlib import Path

import pytest
from command_runner import PAGE, Runner


@pytest.fixture
def absolve(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(capsysbinary, monkeypatch)


@pytest.fixture(autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep states of runs out of the home folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return a page that states its own URL, with one relative and one absolute link."""
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    return path
