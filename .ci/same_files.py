"""Compare a wheel with the files in src: `same_files.py WHEEL`, with the interpreter that ran the tests.

Extensions for other interpreters, and other build products, are ignored. Exit status 1 if any file differs.
"""

from __future__ import annotations

import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).resolve().parent.parent / "src"
BUILT: Final = (".c", ".pyc", ".so", ".pyd")


def main() -> int:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        built = {name: wheel.read(name) for name in wheel.namelist() if name.startswith("absolve/")}
    found = {
        path.relative_to(SOURCE).as_posix(): path.read_bytes()
        for path in (SOURCE / "absolve").rglob("*")
        if path.is_file() and (path.name.endswith(EXTENSION_SUFFIXES[0]) or not path.name.endswith(BUILT))
    }
    differing = sorted(name for name in built.keys() | found.keys() if built.get(name) != found.get(name))
    for name in differing:
        print(f"{name} is not the same in the wheel and in src")
    print(f"{len(built) - len(differing)} of {len(built)} files of the wheel are those in src")
    return 1 if differing or not built else 0


if __name__ == "__main__":
    sys.exit(main())
