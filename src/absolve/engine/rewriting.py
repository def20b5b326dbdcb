"""The task of `absolve rewrite`: one input becomes a complete file that is only to be renamed, or bytes to show."""

from __future__ import annotations

import shutil
import sys
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from absolve import outputs, rewriting, verifying
from absolve.engine.documents import is_document, walked
from absolve.engine.pieces import Failure, Ready, Shown, Size, guarded
from absolve.errors import Diagnostic, DocumentError
from absolve.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.engine.documents import Reading, Walked
    from absolve.engine.pieces import Piece
    from absolve.inputs import Input
    from absolve.rewriting import Policy


class Job(NamedTuple):
    """One input, and the file that its result goes to: None is the standard output, or back to where it came from."""

    input: Input
    target: str | None = None


class Rewriting(NamedTuple):
    """How inputs are rewritten.

    `inside` is the folder that no output may leave. `backup` is the suffix of the file that keeps what is rewritten
    in place. `token` is in the names of files that are not complete.
    """

    reading: Reading
    policy: Policy = rewriting.absolute
    verify: bool = False
    in_place: bool = False
    backup: str | None = None
    inside: str | None = None
    token: str = ""


def rewritten(how: Rewriting, job: Job) -> Iterator[Piece]:
    """One input, rewritten. A file in a folder that is no document is copied, where there is a target."""
    return guarded(job.input.name, _rewritten(how, job), strict=sys.flags.dev_mode)


def _rewritten(how: Rewriting, job: Job) -> Iterator[Piece]:
    if job.input.found and not is_document(job.input.name, how.reading):
        if job.target is not None:
            yield _copied(how, Path(job.input.name), Path(job.target))
        return
    found = walked(job.input, how.reading)
    yield from found.diagnostics
    data, faults = new_bytes(how, found)
    yield from faults
    if faults:
        return
    if how.in_place:
        if data != found.document.data:
            yield _made_in_place(how, Path(job.input.name), found.document.data, data)
    elif job.target is None:
        yield Shown(data)
    else:
        source = Path(job.input.name)
        like = source if job.input.name != STDIN and source.is_file() else None
        yield _made(how, Path(job.target), data, like)
    yield Size(len(found.document.data))


def new_bytes(how: Rewriting, found: Walked) -> tuple[bytes, list[Failure]]:
    """What a document becomes; and what else than links would change, so that it must stay."""
    data = rewriting.rewrite(found.entity, how.policy)
    if not (how.verify or found.entity.is_ambiguous):
        return data, []
    differences = verifying.differences(found.entity, found.document, data, how.policy)
    if differences:
        text = "this stays as it is: nothing proves that only links change"
        differences.append(Diagnostic("unverified", text, found.entity.name))
    return data, [Failure(difference) for difference in differences]


# --- files ------------------------------------------------------------------------------------------------------------


def _made(how: Rewriting, target: Path, data: bytes, like: Path | None) -> Ready:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if outputs.is_device(target):
            outputs.write(target, data)
            return Ready((), b"")
        _check_inside(how, target)
        made = _complete(target, data, like, how.token)
    except OSError as error:
        raise unwritable(target, error) from error
    return Ready((made,), digest(data))


def _made_in_place(how: Rewriting, path: Path, old: bytes, data: bytes) -> Ready:
    """In place: what a link leads to is written. Another name of a file (a hard link) keeps the old bytes."""
    real = path.resolve()
    made = []
    try:
        if not real.is_file():
            raise OSError(0, "this is no regular file")  # noqa: TRY301 - said like any other reason
        outputs.check_writable(real)
        if how.backup is not None:
            made.append(_complete(real.with_name(real.name + how.backup), old, real, how.token))
        made.append(_complete(real, data, real, how.token))
    except OSError as error:
        for one in made:
            outputs.discard(one)
        raise unwritable(path, error) from error
    return Ready(tuple(made), digest(data))


def _complete(path: Path, data: bytes, like: Path | None, token: str) -> outputs.Made:
    with outputs.preparing(path, like=like, token=token) as (file, made):
        file.write(data)
    return made


def _copied(how: Rewriting, source: Path, target: Path) -> Ready:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_inside(how, target)
        with (
            source.open("rb") as old,
            outputs.preparing(target, like=source, token=how.token) as (file, made),
        ):
            shutil.copyfileobj(old, file)
    except OSError as error:
        raise unwritable(target, error) from error
    return Ready((made,), b"")


def _check_inside(how: Rewriting, target: Path) -> None:
    """Nothing is written outside the output folder, whatever links stand in it."""
    if how.inside is not None and not target.resolve().is_relative_to(how.inside):
        text = "a link in the output folder leads out of it"
        raise DocumentError(Diagnostic("outside", text, str(target)))


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def unwritable(path: Path, error: OSError) -> DocumentError:
    return DocumentError(Diagnostic("unwritable", error.strerror or str(error), str(path)))
