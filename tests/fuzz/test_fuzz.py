"""What fuzzing holds every input against holds of these: whatever was found once, and a few that hypothesis makes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import linear
import mutating
import pytest
from findings import Findings, failure, smaller
from found import FOUND
from hypothesis import given, settings
from hypothesis import strategies as st

from absolve import AbsolveError, UsageError

HERE = Path(__file__).parent
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))


def target(name: str) -> Any:
    return importlib.import_module(f"fuzz_{name}")


def hold(name: str, data: bytes) -> None:
    """Hold an input against the invariant of a target; an error of ours is none of what must not be raised."""
    with suppress(AbsolveError):
        target(name).check(data)


def soups(words: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """What a target's words and single bytes make."""
    return st.lists(st.sampled_from(words) | st.binary(max_size=3), max_size=12).map(b"".join)


@pytest.mark.parametrize(("name", "data"), [(name, data) for name in FOUND for data in FOUND[name]])
def test_what_was_found_once_is_mended(name: str, data: bytes) -> None:
    hold(name, data)


@pytest.mark.parametrize("name", TARGETS)
def test_the_invariant_holds_of_soups_of_the_targets_words(name: str) -> None:
    @settings(max_examples=60)
    @given(soups(target(name).WORDS))
    def check(data: bytes) -> None:
        hold(name, data)

    check()


@pytest.mark.parametrize("name", TARGETS)
def test_the_invariant_holds_of_the_targets_own_seeds(name: str) -> None:
    for seed in list(target(name).seeds(None))[:60]:
        hold(name, seed)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_opens_with_its_invariant(name: str) -> None:
    words = target(name).__doc__
    assert "- nothing is raised" in words
    assert "- the time is linear" in words


# --- the machinery -------------------------------------------------------------------------------------------------


def broken(data: bytes) -> None:
    if b"ab" in data:
        raise ValueError(data)
    if b"cd" in data:
        raise UsageError


def test_a_finding_is_made_small_counted_and_kept_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Findings(broken, tmp_path)
    for data in (b"xyz", b"xxabxx", b"abab", b"cd"):
        found.run(data)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"ab"]
    assert list(found.count.values()) == [2]
    assert capsys.readouterr().out.count("FINDING ValueError") == 1


def test_what_does_not_fail_is_no_finding_and_an_error_of_ours_is_none() -> None:
    assert failure(broken, b"xy") is None
    assert failure(broken, b"cd") is None
    how = failure(broken, b"xaxab")
    assert how is not None
    assert smaller(broken, b"xaxab" * 9, how) == b"ab"


def test_mutations_reach_what_words_make() -> None:
    met: set[bytes] = set()
    runs = mutating.loop(met.add, [b"x", b""], [b"word"], 0.2)
    assert runs >= len(met)
    assert {b"x", b"word", b"wordx"} <= met


def test_time_that_grows_with_the_square_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {8: 1.0, 32: 16.0}
    monkeypatch.setattr(linear, "seconds", lambda _work, data: times[len(data)])
    with pytest.raises(AssertionError, match="8 bytes take"):
        linear.measure(len, b"x" * 8)
    times[32] = 4.0
    linear.measure(len, b"x" * 8)


@pytest.fixture
def ran(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE), "resolvers", "--engine=mutate", "--seconds=1", f"--folder={tmp_path}"]
    return subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "ABSOLVE_SHARED": ""})


def test_the_command_prints_its_figures(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    head, row = ran.stdout.splitlines()[-2:]
    assert head.split()[:2] == ["target", "executions"]
    assert row.split()[0] == "resolvers"
    assert int(row.split()[1]) > 60


def test_a_target_that_makes_its_own_inputs_checks_as_many_as_are_asked_for(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE), "harm", "--runs=50", f"--folder={tmp_path}"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "ABSOLVE_SHARED": ""})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1].split()[:2] == ["harm", "50"]
    assert "executions by context" in ran.stdout
    assert "executions by charset" in ran.stdout
