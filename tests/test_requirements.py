"""Dependencies: licences are listed, and CI's versions are pinned with hashes within the ranges of pyproject.toml."""

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: Final[dict[str, list[str]]] = PROJECT["project"]["optional-dependencies"]
LOCKS: Final = {"test": ("test",), "dev": ("test", "dev"), "docs": ("docs",), "spark": ("spark",)}  # .ci/lock
PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\]+)(?: ; ([^\\]+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
NAMES_OF: Final = {  # of licences, as packages state them that are older than SPDX's expressions
    "MIT": {"MIT License", "MIT"},
    "MIT OR Apache-2.0": {"MIT OR Apache-2.0"},
    "Apache-2.0": {"Apache Software License", "Apache License, Version 2.0", "Apache 2.0", "Apache-2.0"},
    "BSD-2-Clause": {"BSD License", "BSD-2-Clause"},
    "BSD-3-Clause": {"BSD License", "BSD-3-Clause"},
    "MPL-2.0": {"MPL-2.0"},
    "GPL-3.0-or-later": {"GPL-3.0-or-later"},
}


def required(extras: tuple[str, ...]) -> dict[str, Requirement]:
    """Return the requirements of the project with these extras, by name; an extra may include others."""
    lines = list(PROJECT["project"]["dependencies"])
    wanted = list(extras)
    for extra in wanted:
        for line in EXTRAS[extra]:
            requirement = Requirement(line)
            if requirement.name == "absolve":
                wanted += sorted(requirement.extras)
            else:
                lines.append(line)
    found: dict[str, Requirement] = {}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        if name in found:
            requirement.specifier &= found[name].specifier
        found[name] = requirement
    return found


def locked(name: str) -> dict[str, list[tuple[str, Marker | None]]]:
    """Return the versions that a file pins, each with its environment marker."""
    text = (ROOT / ".ci" / "requirements" / f"{name}.txt").read_text("utf-8")
    found: dict[str, list[tuple[str, Marker | None]]] = {}
    for pin in PINNED.finditer(text):
        found.setdefault(pin[1], []).append((pin[2], Marker(pin[3]) if pin[3] else None))
    lines = [line for line in text.splitlines() if not line.startswith((" ", "#"))]
    assert sum(map(len, found.values())) == len(lines), "every line is a version with a hash"
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_pinned_versions_satisfy_the_requirements_of_the_project(name: str) -> None:
    pins = locked(name)
    for package, requirement in required(LOCKS[name]).items():
        for python in PYTHONS:
            where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
            versions = [version for version, marker in pins.get(package, []) if not marker or marker.evaluate(where)]
            assert len(versions) == 1, f"{package} for Python {python} has {versions}: run .ci/lock"
            assert versions[0] in requirement.specifier, f"{package} {versions[0]}, wanted {requirement}: run .ci/lock"


@pytest.mark.parametrize("name", LOCKS)
def test_the_pins_name_no_package_index(name: str) -> None:
    text = (ROOT / ".ci" / "requirements" / f"{name}.txt").read_text("utf-8")
    assert not re.findall(r"://|^ *-(?!-hash=).*|@ ", text, re.MULTILINE)


def test_the_dev_lock_file_has_the_versions_of_the_test_lock_file() -> None:
    test, dev = locked("test"), locked("dev")
    for name, pins in test.items():
        assert [version for version, _ in dev[name]] == [version for version, _ in pins]


def listed() -> dict[str, tuple[str, str]]:
    text = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    return {package: (licence, purposes) for package, licence, purposes in rows if package != "package"}


def test_every_dependency_is_listed_with_its_extra() -> None:
    groups = {"build": PROJECT["build-system"]["requires"], "run": PROJECT["project"]["dependencies"], **EXTRAS}
    purposes: dict[str, list[str]] = {}
    for group, lines in groups.items():
        for name in {canonicalize_name(Requirement(line).name) for line in lines} - {"absolve"}:
            purposes.setdefault(name, []).append(group)
    assert {name: needed for name, (_, needed) in listed().items()} == {name: ", ".join(groups) for name, groups in purposes.items()}


@pytest.mark.parametrize("package", listed())
def test_the_listed_licence_is_that_of_the_package(package: str) -> None:
    try:
        found = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    licence = listed()[package][0]
    if "License-Expression" in found:
        assert found["License-Expression"] == licence
        return
    licences = [line.rpartition(" :: ")[2] for line in found.get_all("Classifier") or [] if line.startswith("License ::")]
    if "License" in found:
        licences.append(found["License"])
    assert NAMES_OF[licence].intersection(licences)
