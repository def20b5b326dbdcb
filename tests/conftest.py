"""Fixtures and settings of all tests: the shared folder, hypothesis profiles, and a check for outdated extensions."""

from __future__ import annotations

import gc
import importlib.machinery
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.browser_online import Online

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("ABSOLVE_SHARED") or ROOT.parent / "shared")

hypothesis.settings.register_profile("default", deadline=None, max_examples=40)  # others in each run; .ci/run has 100
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_configure() -> None:
    """Restore signal handlers, and refuse extensions older than their sources, which editable installations keep."""
    if threading.current_thread() is threading.main_thread():
        # Background jobs ignore SIGINT, jobs under nohup SIGHUP; processes that tests signal would inherit that.
        for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, handler)
    for source in (ROOT / "src").rglob("*.py"):
        built = [source.with_name(source.stem + suffix) for suffix in importlib.machinery.EXTENSION_SUFFIXES]
        written = max(file.stat().st_mtime for file in (source, source.with_suffix(".pxd")) if file.exists())
        if any(file.exists() and file.stat().st_mtime < written for file in built):
            raise pytest.UsageError(f"{source.relative_to(ROOT)} is newer than what was compiled of it: install again")
    from absolve.cli import many, reporting  # after that check

    many.EVERY = reporting.LONG = 3600.0  # on a busy machine any run may take long, and tests compare its messages


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without the garbage collector, and keep it from looking at what was collected: each worker has all."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print which tests the default run deselects."""
    if config.option.markexpr == "not slow":
        terminalreporter.write_line("slow tests are left out: -m 'slow or not slow' runs them too, as .ci/full does")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared test data; skip the test without it."""
    if not SHARED.is_dir():
        pytest.skip(f"there is no {SHARED} (set ABSOLVE_SHARED)")
    return SHARED


@pytest.fixture
def limited(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Return a function that returns the option for limits, which only configuration files have: `max_links=1`."""

    def option(**limits: int | str) -> list[str]:
        path = tmp_path_factory.mktemp("limits") / "absolve.toml"
        path.write_text("".join(f"{name} = {value!r}\n" for name, value in limits.items()))
        return ["--config", str(path)]

    return option


@pytest.fixture(scope="session")
def online() -> Iterator[Online]:
    """Yield a browser whose web is a server of the tests; skip without a Chromium."""
    from tests import browser_online
    from tests.shapes.active import HOST

    web = browser_online.Web({})
    rules = f"--host-resolver-rules=MAP {HOST}:80 127.0.0.1:{web.server_port}"
    with browser_online.running(web), browser_online.browser(rules) as (chromium, trap):
        yield browser_online.Online(chromium, trap, web)
