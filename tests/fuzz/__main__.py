"""Fuzz one target, or all of them in turn: `python tests/fuzz TARGET --seconds N`, from the project's root.

atheris is guided by the coverage of interpreted modules, so no compiled ones may be installed; `--engine mutate` fuzzes
any installation with random mutations. Corpus and findings are in `build/fuzz`. The exit status is 1 after a
finding.
"""

import argparse
import hashlib
import importlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol, cast

ROOT: Final = Path(__file__).parents[2]
SHARED: Final = Path(os.environ.get("ABSOLVE_SHARED") or ROOT.parent / "shared")
JUDGES: Final = ("tests/fuzz", "tests/formats", "tests/conformance", "tests/urls")
TARGETS: Final = ("html", "css", "values", "references", "documents", "harm")
LONGEST: Final = 1024  # bytes of an input that atheris makes: longer ones are slow to check and find no more
IMPORTED_LATE: Final = (
    *(f"absolve.formats.{name}.walker" for name in ("html", "json", "css", "xml", "mail", "http", "warc")),
    *(f"absolve.verifying.{name}" for name in ("markup", "css", "json")),
)
EXECUTIONS: Final = re.compile(r"#(\d+)\s+\w+\s+cov:")


class Target(Protocol):
    """The contents of a module `fuzz_TARGET`; its docstring lists the invariants."""

    WORDS: tuple[bytes, ...]

    def seeds(self, shared: Path | None, /) -> Iterator[bytes]: ...
    def check(self, data: bytes, /) -> None: ...


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=(*TARGETS, "all"))
    parser.add_argument("--seconds", type=int, default=60, help="how long each target is fuzzed (60)")
    parser.add_argument("--engine", choices=("atheris", "mutate"), default="atheris")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz", help="folder of corpus and findings (build/fuzz)")
    parser.add_argument("--run", type=Path, nargs="+", metavar="FILE", help="only check these inputs, and let exceptions propagate")
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)  # the process that atheris controls
    return parser.parse_args()


def load(name: str) -> Target:
    target: Any = importlib.import_module(f"fuzz_{name}")
    return cast("Target", target)


def corpus(target: Target, folder: Path) -> Path:
    """Return the target's folder of inputs, and write its seeds there."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds(SHARED if SHARED.is_dir() else None):
        path = folder / hashlib.sha1(seed, usedforsecurity=False).hexdigest()
        if not path.exists():
            path.write_bytes(seed)
    return folder


def mutated(name: str, options: argparse.Namespace) -> list[str]:
    """Fuzz in this process; return the row of the table."""
    from engine import Findings, loop

    target = load(name)
    found = Findings(target.check, options.folder / name / "findings")
    inputs = [path.read_bytes() for path in sorted(corpus(target, options.folder / name / "corpus").iterdir())]
    runs = loop(found.run, inputs, target.WORDS, options.seconds)
    return [name, str(runs), str(sum(found.count.values()))]


def guided(name: str, options: argparse.Namespace) -> None:
    """Fuzz in this process until libFuzzer ends it."""
    import atheris

    with atheris.instrument_imports(include=["absolve"], enable_loader_override=False):
        target = load(name)
        for module in IMPORTED_LATE:
            importlib.import_module(module)
    from engine import Findings

    folder = options.folder / name
    found = Findings(target.check, folder / "findings")
    words = folder / "words"
    folder.mkdir(parents=True, exist_ok=True)
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.WORDS)
    words.write_text("".join(f'"{word}"\n' for word in escaped), "ascii")
    limits = (f"-max_total_time={options.seconds}", f"-max_len={LONGEST}", "-timeout=120", "-seed=1808")
    atheris.Setup([sys.argv[0], str(corpus(target, folder / "corpus")), f"-dict={words}", f"-artifact_prefix={folder}/", *limits], found.run)
    atheris.Fuzz()


def watched(name: str, options: argparse.Namespace) -> list[str]:
    """Fuzz in a subprocess, which libFuzzer ends, and print its output; return the row of the table."""
    command = [sys.executable, __file__, name, "--guided", f"--seconds={options.seconds}", f"--folder={options.folder}"]
    executions, findings = "", 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            findings += line.startswith("FINDING")
            executions = found[1] if (found := EXECUTIONS.match(line)) else executions
    if not executions:
        raise SystemExit(f"atheris did not start on {name}")
    return [name, executions, str(findings + (run.returncode != 0))]


def main() -> int:
    options = arguments()
    sys.path[:0] = [str(ROOT / folder) for folder in JUDGES]
    warnings.simplefilter("ignore")  # of documents, whose inputs have much to report
    if options.run:
        for path in options.run:
            load(options.target).check(path.read_bytes())
        return 0
    if options.guided:
        guided(options.target, options)
    run = watched if options.engine == "atheris" else mutated
    rows = [run(name, options) for name in (TARGETS if options.target == "all" else (options.target,))]
    for row in (["target", "executions", "findings"], *rows):
        print("".join(f"{cell:>12}" for cell in row))
    return int(any(row[-1] != "0" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
