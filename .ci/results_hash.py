"""Print one hash of the command's results for the real pages and the hostile shapes: rewrites, rows, diagnostics.

Two versions that print the same lines give the same results:

    .venv/bin/python .ci/results_hash.py .venv/bin/absolve --jobs 2 --save after.txt

Of a diagnostic the code, the position and the severity count, not the text. `--every 20` takes every 20th file. The
folder is `$ABSOLVE_SHARED`, else ../shared; the hostile shapes are in tests/shapes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("pages", "sites", "mime", "warc", "xml")
PROFILES: Final = {
    "rfc1808": (),
    "whatwg": ("--profile", "whatwg", "--json-ld"),
}
HOSTILE_BYTES: Final = 200_000


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def run(argv: list[str], source: Path, results: Path, options: tuple[str, ...], jobs: str) -> Iterator[tuple[str, str]]:
    """Yield a name and a hash for each written file, for all rows, and for all diagnostics of one folder."""
    results.mkdir(exist_ok=True)
    shared = ["--jobs", jobs, "--quiet", *options]
    for number, (profile, chosen) in enumerate(PROFILES.items()):
        output, rows = (results / f"{number}.{name}" for name in ("out", "rows.jsonl"))
        failed = call([*argv, "rewrite", str(source), "-o", str(output), *shared, *chosen])
        for path in sorted(output.rglob("*")):
            if path.is_file():
                yield f"{profile} {path.relative_to(output)}", digest(path.read_bytes())
        yield f"{profile} diagnostics", diagnostics(failed, source)
        failed = call([*argv, "links", str(source), "-o", str(rows), *shared, *chosen])
        lines = rows.read_bytes().replace(os.fsencode(source), b"")
        for name, own in groupby(lines.splitlines(), lambda line: json.loads(line)["document"]):
            yield f"{profile} rows {name}", digest(b"\n".join(own))
        yield f"{profile} diagnostics of rows", diagnostics(failed, source)


def call(argv: list[str]) -> bytes:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in {0, 1, 3}:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stderr


def diagnostics(failed: bytes, source: Path) -> str:
    found = sorted(failed.replace(os.fsencode(source), b"").splitlines())
    return f"{len(found)} {digest(b'|'.join(found))}"


def linked(folder: Path, every: int) -> None:
    """Fill a folder with hard links to every n-th real file, in the same subfolders."""
    shared = Path(os.environ.get("ABSOLVE_SHARED") or ROOT.parent / "shared").resolve()
    files = [path for name in FOLDERS for path in sorted((shared / name).rglob("*")) if path.is_file()]
    for path in files[::every]:
        link = folder / path.relative_to(shared)
        link.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, link) if link.parent.stat().st_dev == path.stat().st_dev else link.write_bytes(path.read_bytes())


def hostile() -> Iterator[tuple[tuple[str, ...], str, bytes]]:
    """Yield for each shape the command-line options, its name, and its bytes."""
    sys.path.insert(0, str(ROOT))
    from tests.shapes.hostile import SHAPES

    for number, (name, shape) in enumerate(SHAPES.items()):
        options = ("--media-type", shape.media_type, *(("--charset", shape.charset) if shape.charset else ()))
        words = "-".join("".join(letter if letter.isalnum() else " " for letter in name).split())
        yield (*options, "--url", "http://h.example/d/"), f"{number:03}-{words}", shape.make(HOSTILE_BYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", nargs="+", help="the command to run: .venv/bin/absolve")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--every", type=int, default=1, help="take every n-th file")
    parser.add_argument("--save", type=Path, help="write a line for each file, to compare two versions by diff")
    given = parser.parse_args()
    lines: list[str] = []
    with tempfile.TemporaryDirectory(dir=ROOT.parent if os.access(ROOT.parent, os.W_OK) else None) as scratch:
        source = Path(scratch, "shared")
        linked(source, given.every)
        lines += [" ".join(item) for item in run(given.command, source, Path(scratch, "results"), (), given.jobs)]
        shapes = sorted(hostile(), key=lambda item: item[:2])[:: given.every]
        for number, (options, group) in enumerate(groupby(shapes, lambda item: item[0])):
            folder = Path(scratch, f"hostile{number}")
            folder.mkdir()
            for _, name, data in group:
                (folder / name).write_bytes(data)
            found = run(given.command, folder, Path(scratch, f"results{number}"), options, given.jobs)
            lines += [f"hostile {' '.join(item)}" for item in found]
    if given.save:
        given.save.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{digest(chr(10).join(lines).encode())} of {len(lines)} results")


if __name__ == "__main__":
    main()
