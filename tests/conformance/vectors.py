"""Test vectors of external suites: one test for each file, which lists every unexpected vector.

A vector that fails for a good reason is pinned with that reason. A pinned vector that passes, and a pin without a
vector, also fail the test: the pins are exactly the failing vectors.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from material import each


class Vector(Protocol):
    """One case of a suite: `name` is the file, a colon, and an identifier of the case in it."""

    @property
    def name(self) -> str: ...


V = TypeVar("V", bound=Vector)


def by_file(vectors: Iterable[V]) -> dict[str, list[V]]:
    """Return the vectors by their file."""
    files: dict[str, list[V]] = {}
    for vector in vectors:
        files.setdefault(_file(vector.name), []).append(vector)
    return files


def each_file(
    names: Iterable[str], vectors: Callable[[str], Iterable[V]], folder: Path, pins: Mapping[str, str] | None = None
) -> Callable[[Callable[[V], None]], Callable[[str], None]]:
    """Make a test of one vector a test of each file of a suite, which is skipped without the folder of the suite."""

    def made(holds: Callable[[V], None]) -> Callable[[str], None]:
        def test(file: str) -> None:
            check(vectors(file), holds, pins)

        test.__doc__ = holds.__doc__
        return each("file", [pytest.param(name) for name in names], folder)(test)

    return made


def check(vectors: Iterable[V], holds: Callable[[V], None], pins: Mapping[str, str] | None = None) -> None:
    """Call `holds` with each vector of one file; raise AssertionError with the names of all unexpected vectors.

    A vector fails if `holds` raises AssertionError. Any other exception is an error that no pin covers. `pins` are
    reasons by name; those of other files are ignored.
    """
    vectors = list(vectors)
    files = {_file(vector.name) for vector in vectors}
    if len(files) != 1:
        raise ValueError(f"vectors of one file are wanted, not of {len(files)}")
    pinned = {name: reason for name, reason in (pins or {}).items() if _file(name) in files}
    wrong: list[str] = []
    for vector in vectors:
        reason = pinned.pop(vector.name, None)
        try:
            holds(vector)
        except AssertionError as error:
            if reason is None:
                wrong.append(f"{vector.name} fails: {error}")
        except Exception as error:  # noqa: BLE001 - reported with the rest
            wrong.append(f"{vector.name} raises {error!r}")
        else:
            if reason is not None:
                wrong.append(f"{vector.name} passes: take its pin out ({reason})")
    wrong += [f"{name} is pinned, and there is no such vector ({reason})" for name, reason in pinned.items()]
    if wrong:
        raise AssertionError("\n".join([f"{len(wrong)} of {len(vectors)} vectors:", *wrong]))


def _file(name: str) -> str:
    return name.partition(":")[0]
