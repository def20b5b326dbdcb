"""Tasks of the project: `pipx run nox -s quick`, or `nox -l` for the list.

Every session runs in `.venv`, the environment of CONTRIBUTING.md, and creates it where it is missing: compiling the
package takes a minute, so it is done once, not once per session. `ci` and `full` create their own environments.
Arguments after `--` go to the program: `nox -s quick -- tests/urls`, `nox -s fuzz -- html --seconds 600`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "quick"]

ROOT = Path(__file__).parent
ENVIRONMENT = ROOT / ".venv"
PROGRAMS = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")


def run(session: nox.Session, program: str, *arguments: str) -> None:
    """Run a program of `.venv`; create the environment first where it is missing."""
    if not (PROGRAMS / "python").exists() and not (PROGRAMS / "python.exe").exists():
        session.run(sys.executable, "-m", "venv", str(ENVIRONMENT), external=True)
        session.run(str(PROGRAMS / "python"), "-m", "pip", "install", "-e", ".[test,dev]", external=True)
    session.run(str(PROGRAMS / program), *arguments, external=True)


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check the style with ruff, and what the documentation says."""
    run(session, "ruff", "check", *session.posargs)
    run(session, "python", "docs/check_pages.py")


@nox.session(python=False)
def types(session: nox.Session) -> None:
    """Check the types with mypy."""
    run(session, "mypy", *session.posargs)


@nox.session(python=False)
def quick(session: nox.Session) -> None:
    """Run all tests but the slow ones."""
    run(session, "python", "-m", "pytest", "-q", "-n", "auto", *session.posargs)


@nox.session(python=False)
def test(session: nox.Session) -> None:
    """Run all tests."""
    run(session, "python", "-m", "pytest", "-q", "-n", "auto", "-m", "slow or not slow", *session.posargs)


@nox.session(python=False)
def docs(session: nox.Session) -> None:
    """Write the generated parts of the pages, and build the documentation site into build/site; warnings are errors."""
    run(session, "python", "docs/reference_pages.py")
    run(session, "python", "-m", "sphinx", "-W", "--keep-going", "-b", "html", "docs", "build/site", *session.posargs)


@nox.session(python=False)
def bench(session: nox.Session) -> None:
    """Compare the speed with that of other libraries; those that are not installed are skipped."""
    run(session, "python", "-m", "benchmarks", *(session.posargs or ["--only", "races"]))


@nox.session(python=False)
def fuzz(session: nox.Session) -> None:
    """Fuzz every target for 10 seconds with random mutations; docs/testing.md describes coverage-guided fuzzing."""
    run(session, "python", "tests/fuzz", *(session.posargs or ["all", "--engine", "mutate", "--seconds", "10"]))


@nox.session(python=False)
def ci(session: nox.Session) -> None:
    """Run the checks for each change, from a bare machine, in their own environments; needs bash."""
    session.run("bash", ".ci/run", external=True)


@nox.session(python=False)
def full(session: nox.Session) -> None:
    """Run `ci` and the slower checks; needs bash."""
    session.run("bash", ".ci/full", external=True)
