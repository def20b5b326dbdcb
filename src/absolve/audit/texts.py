"""Compare the contents of both sites: read their pages once more, and match the texts.

In: the table `resources`, options of reading. Out: matches and scores, by the numbers of resources. A page is read from
the file or archive that its row names, if its bytes still have the digest of that row. An inventory may name any file:
of those only regular files below some folders are opened.
"""

from __future__ import annotations

import os
import stat
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.audit import content
from absolve.audit.judge import each
from absolve.core.errors import Diagnostic, DocumentError
from absolve.inventory import documents
from absolve.run.inputs import Input
from absolve.run.load import each as segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.audit.judge import Compare
    from absolve.run.load import ReadOptions

_PAGES: Final = """
SELECT document, entity, resource, digest, title, media_type, charset, size,
    document IN (SELECT document FROM {side}_foreign) AS is_foreign
FROM resources
WHERE side = ? AND is_page AND digest IS NOT NULL ORDER BY document, entity, resource
"""


def comparing(
    connection: Any, reading: ReadOptions, threshold: float, roots: Sequence[Path], notify: Callable[[Diagnostic], None]
) -> Compare:
    """Return the function that `judge.judge` calls for the contents.

    `roots` are the folders in which documents that only an inventory names may be; `notify` is called for others.
    """
    real = tuple(os.path.join(os.path.realpath(root), "") for root in roots)  # noqa: PTH118 - with a slash at its end

    def compared(pairs: Sequence[tuple[int, int]]) -> tuple[list[content.Match], list[content.Pair]]:
        old, new = (pages(connection, side, reading, real, notify) for side in ("old", "new"))
        return content.match(old, new, threshold=threshold, pairs=pairs)

    return compared


def pages(
    connection: Any, side: str, reading: ReadOptions, roots: tuple[str, ...], notify: Callable[[Diagnostic], None]
) -> Iterator[content.PageText]:
    """Yield the pages of a site with their texts."""
    outside = []
    for name, group in groupby(each(connection, _PAGES.format(side=side), [side]), lambda row: row[0]):
        rows = {row[1]: row for row in group}
        *_, size, is_foreign = next(iter(rows.values()))
        if is_foreign and not _is_below(name, roots, size if set(rows) == {""} else None):
            outside.append(name)
            continue
        for entity, data in _contents(name, rows.keys(), reading):
            _, _, resource, digest, title, media_type, charset, *_ = rows[entity]
            if documents.digest(data) == digest:
                yield content.PageText(resource, digest, title, content.blocks(data, media_type, charset))
    if outside:
        text = (
            f"the contents of {len(outside):,} files that an inventory names are not compared: they are not there, have"
            " changed, or are neither below the working folder nor beside the inventory"
        )
        notify(Diagnostic("outside", text, outside[0]))


def _is_below(name: str, roots: tuple[str, ...], size: int | None) -> bool:
    """Return whether a path is that of a regular file of this size (None: of any) below one of the folders."""
    try:
        real = os.path.realpath(name)
        found = os.stat(real)  # noqa: PTH116 - for each of very many
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and size in {None, found.st_size} and real.startswith(roots)


def _contents(name: str, entities: Iterable[str], reading: ReadOptions) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of the documents of an input that are wanted, by their entity paths."""
    wanted = set(entities)
    try:
        if wanted == {""}:
            yield "", Path(name).read_bytes()
            return
        how = reading._replace(settings=reading.settings._replace(documents=True))
        walked = documents.Documents(name)
        for segment in segments(Input(name, Path(name).name), how, every=True):
            if segment.entity is not None:
                yield from _inside(walked, segment.entity, wanted)
    except (OSError, ValueError, DocumentError):  # it was reported when the rows were made, or is of another machine
        return


def _inside(walked: documents.Documents, entity: Any, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    first = walked.begin(entity)
    for found in (first, *walked.inside(entity)) if first is not None else walked.inside(entity):
        walked.taken()
        if found.row.entity in wanted and found.data is not None:
            yield found.row.entity, found.data
