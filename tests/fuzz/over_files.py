"""Rewrite and list each file of some folders, and rewrite it as HTML and CSS: only AbsolveError may occur.

`python tests/fuzz/over_files.py FOLDER... --every N`, from the project's root, takes every Nth file and every hostile
shape. `.ci/sanitize` runs it on instrumented modules: a report of a sanitizer ends the process and the run.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from absolve.core.errors import AbsolveError
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.inventory.link_rows import rows
from absolve.rewriting import rewriter
from tests.shapes.hostile import SHAPES

URL: Final = "http://h.example/d/page.html?q#f"
SIZE: Final = 20_000  # bytes of a hostile shape
AT_ONCE: Final = 16  # inputs per task of a process
WAYS: Final = (  # the media type, whether to list the links, and the settings
    (None, True, Settings()),
    (None, False, Settings("whatwg", json_ld=True)),
    ("text/html", False, Settings()),
    ("text/css", False, Settings()),
)


class Done(NamedTuple):
    """The outcome of one input."""

    size: int
    refused: int
    broken: list[str]


def document(name: str) -> Document:
    if name not in SHAPES:
        return Document(Path(name).read_bytes(), name=name)
    shape = SHAPES[name]
    return Document(shape.make(SIZE), name=name, media_type=shape.media_type, charset=shape.charset)


def work(name: str) -> Done:
    """Process one input in every way. verify's parsers are excluded: they are Python, and take the longest."""
    given = document(name)
    refused = 0
    broken = []
    for kind, listed, settings in WAYS:
        asked = Document(given.data, name=given.name, media_type=kind or given.media_type, charset=given.charset, url=URL)
        try:
            entity = walk(asked, settings)
            rewriter.rewrite(entity)
            for row in rows(entity) if listed else ():
                str(row)
        except AbsolveError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            broken.append(f"{name} as {kind}: {error!r}")
    return Done(len(given.data), refused, broken)


def main() -> int:
    parser = argparse.ArgumentParser(prog="over_files.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--every", type=int, default=1, help="take every Nth file only (1)")
    options = parser.parse_args()
    files = [str(path) for folder in options.folders for path in sorted(folder.rglob("*")) if path.is_file()]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        done = list(pool.map(work, [*files[:: options.every], *SHAPES], chunksize=AT_ONCE))
    broken = [what for one in done for what in one.broken]
    print("\n".join(broken), end="\n" * bool(broken))
    size, refused = sum(one.size for one in done), sum(one.refused for one in done)
    print(f"{len(done)} inputs, {size / 1e6:.1f} MB, each in {len(WAYS)} ways: {refused} refused, {len(broken)} broken")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
