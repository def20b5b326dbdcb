"""The output files of a rewrite: temporary files for targets, replacements in place, backups, copies.

Input: `RewriteOptions`, a `Job` and bytes. Output: `FilesReady`: complete temporary files, which the parent renames.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from absolve.core.errors import Diagnostic, DocumentError
from absolve.run import outputs, special_files
from absolve.run.output_folder import Below, LinkError
from absolve.run.results import FilesReady
from absolve.run.sources import STDIN, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from absolve.run.plan import Job, RewriteOptions


def target_of(job: Job) -> Path:
    """Return the path of a job's output, for messages."""
    return Path(job.target or special_files.STDOUT)


def is_device(how: RewriteOptions, job: Job) -> bool:
    """Return whether a job's output is a device or a pipe, which is written only if the user named it as OUT."""
    return how.inside is None and special_files.is_device(target_of(job))


def prepared(how: RewriteOptions, job: Job) -> AbstractContextManager[tuple[IO[bytes], outputs.Made]]:
    """Return `outputs.preparing` for a job's output: a temporary file in the target's folder."""
    like = job.input.name if job.input.name != STDIN else None
    if how.inside is not None:
        target = job.target or special_files.STDOUT
        return outputs.preparing(target, like=like, token=how.token, below=Below(how.inside, job.input.place))
    path = target_of(job)
    path.parent.mkdir(parents=True, exist_ok=True)
    return outputs.preparing(path, like=like, token=how.token)


def made_file(how: RewriteOptions, job: Job, data: bytes) -> FilesReady:
    """Write the output of a job. Raise DocumentError, which names the output."""
    try:
        if is_device(how, job):
            outputs.write(target_of(job), data)
            return FilesReady(())
        with prepared(how, job) as (file, made):
            file.write(data)
    except OSError as error:
        raise unwritable(target_of(job), error) from error
    return FilesReady((made,))


def made_in_place(how: RewriteOptions, path: Path, old: bytes, data: bytes) -> FilesReady:
    """Write a file in place: the target of a symbolic link is replaced; other hard links keep the old bytes."""
    made: list[outputs.Made] = []
    try:
        real = real_path(path)
        if how.backup is not None:
            made += backups(how, real, io.BytesIO(old))
        with outputs.preparing(real, like=real, token=how.token) as (file, new):
            file.write(data)
        made.append(new)
    except OSError as error:
        for one in made:
            outputs.discard(one)
        raise unwritable(path, error) from error
    return FilesReady(tuple(made))


def real_path(path: Path) -> Path:
    """Return the file to replace in place, with links resolved. Raise OSError if it is special or read-only."""
    real = path.resolve()
    if not real.is_file():
        raise OSError(0, "this is not a regular file")
    outputs.check_writable(real)
    return real


def backups(how: RewriteOptions, real: Path, old: IO[bytes]) -> Iterator[outputs.Made]:
    """Yield a new backup of a file with these bytes; nothing if a backup of an earlier run has the same bytes."""
    from shutil import copyfileobj

    path = real.with_name(f"{real.name}{how.backup}")
    for name in outputs.numbered(str(path)):
        if outputs.has(name, old):
            return
        if not os.path.lexists(name):
            break
    old.seek(0)
    with outputs.preparing(path, like=real, token=how.token, is_new=True) as (file, made):
        copyfileobj(old, file)
    yield made


def copied(how: RewriteOptions, job: Job) -> FilesReady:
    """Copy a file that is not a document. Raise DocumentError, which names the file or its output."""
    from shutil import copyfileobj

    with opened(job.input.name) as old:
        try:
            with prepared(how, job) as (file, made):
                copyfileobj(old, file)
        except OSError as error:
            raise unwritable(target_of(job), error) from error
    return FilesReady((made,))


def unwritable(path: Path, error: OSError) -> DocumentError:
    """Return the error for an output that cannot be written."""
    code = "outside" if isinstance(error, LinkError) else "unwritable"
    return DocumentError(Diagnostic(code, error.strerror or str(error), str(path)))
