"""`absolve mirror --zip FILE`: one ZIP instead of a folder, the same bytes for the same capture.

Input: the sources and options. Output: the ZIP, with the documents in the order of their payloads, the entry page and
the map.
"""

from __future__ import annotations

import shutil
import zipfile
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from absolve.cli import many
from absolve.mirror import extensions, index, write
from absolve.mirror import map as maps
from absolve.mirror.paths import MAP, index_name
from absolve.mirror.task import Made, made
from absolve.run import leftovers, outputs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterator, Sequence

    from absolve.cli.reporting import Report
    from absolve.mirror.sources import Source
    from absolve.mirror.survey import Choice
    from absolve.mirror.task import MirrorOptions

_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the first one that a ZIP can have
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3  # "version made by" (APPNOTE.TXT 4.4.2)
# Media types whose files are compressed already.
_COMPRESSED: Final = (
    *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/", "audio/", "font/woff"),
)
_ARCHIVES: Final = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".pdf", ".epub", ".docx", ".xlsx", ".pptx", ".jar")


@contextmanager
def written(
    sources: Sequence[Source], how: MirrorOptions, choice: Choice, options: argparse.Namespace, report: Report
) -> Iterator[maps.Working]:
    """Write the ZIP, completely or not at all, and yield the map; without a document there is no ZIP."""
    with leftovers.temporary_folder() as temporary:
        path = Path(temporary) / maps.WORKING
        with closing(maps.Working(path)) as working:
            working.create({})
            write.planned(working, sources, how, choice, report.finding)
            how = how._replace(map=str(path), folder=None)
            if working.documents()[0]:
                with outputs.opened(options.zip) as file:
                    _fill(file, working, sources, how, choice, options, report)
            yield working


def _fill(
    file: IO[bytes],
    working: maps.Working,
    sources: Sequence[Source],
    how: MirrorOptions,
    choice: Choice,
    options: argparse.Namespace,
    report: Report,
) -> None:
    with zipfile.ZipFile(file, "w", allowZip64=True) as package:

        def results() -> Generator[tuple[Any, Any]]:
            options.output = options.zip
            found = write.batches(working, sources)
            return many.run(partial(made, how), found, lambda batch: batch.input, options, report)

        def put(piece: Any) -> None:
            if isinstance(piece, Made):
                _add(package, piece.path, piece.data)

        write.run_batches(working, results, put)
        _add(package, index_name(choice.layout), index.page(working))
        final = working.path.with_name(MAP)
        working.write(final)
        with final.open("rb") as one, package.open(_entry(MAP), "w", force_zip64=True) as other:
            shutil.copyfileobj(one, other)  # as large as all URLs together


def _add(package: zipfile.ZipFile, path: str, data: bytes) -> None:
    package.writestr(_entry(path), data)


def _entry(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, _DATE)
    info.create_system = _UNIX
    info.external_attr = _MODE
    is_compressed = extensions.by_name(path).startswith(_COMPRESSED) or path.lower().endswith(_ARCHIVES)
    info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    return info
