"""The mirror of one capture, as a dictionary, and files of a folder."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from absolve.cli import main
from tests.shapes.captures import files_below, written

__all__ = ["OWN", "asked", "mirrored", "tree", "written"]

OWN = {"index.html", "mirror.html", "mirror.sqlite"}


def tree(root: Path) -> dict[str, bytes]:
    """Return the documents of a mirror: its files but its own."""
    return {path: data for path, data in files_below(root).items() if path not in OWN}


def mirrored(folder: Path, name: str, data: bytes, *more: str) -> tuple[int, dict[str, bytes]]:
    """Return the exit status and the documents of the mirror of one capture."""
    if not (folder / name).is_file() or (folder / name).read_bytes() != data:  # its time belongs to a run
        (folder / name).write_bytes(data)
    code = main(["mirror", str(folder / name), "-o", str(folder / "m"), "-q", "-j", "1", *more])
    return code, tree(folder / "m") if (folder / "m").is_dir() else {}


def asked(root: Path, query: str) -> list[Any]:
    """Return the rows of the map of a mirror."""
    with closing(sqlite3.connect(root / "mirror.sqlite")) as db:
        return db.execute(query).fetchall()
