"""Plan of a rewrite: its options, and the target file of each input; and the renames of complete files, in the parent.

Input: inputs, an output, complete files. Output: jobs; UsageError or a diagnostic for targets that clash; files that
are complete or unchanged, with entries in the run's state before a file is renamed.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from absolve import tables
from absolve.core.errors import Diagnostic, UsageError
from absolve.formats.registry import SUFFIXES
from absolve.rewriting.policy import absolute
from absolve.run import buckets, folders, inputs, interrupts, leftovers, outputs, results
from absolve.run.output_folder import OpenFolder, check_links
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.rewriting.policy import Policy
    from absolve.run.filters import Cells
    from absolve.run.inputs import Input, Notify
    from absolve.run.load import ReadOptions
    from absolve.run.output_folder import OutputFolder
    from absolve.run.results import FilesReady
    from absolve.run.state import State


class Job(NamedTuple):
    """One input and its target file; None is the standard output, or with --in-place the input itself."""

    input: Input
    target: str | None = None


class RewriteOptions(NamedTuple):
    """How inputs are rewritten.

    `inside`: folder to which outputs are confined. `backup`: suffix for copies of files rewritten in place. `token`:
    part of the names of temporary files. `log`: yield the changes, with these changes to their text. `sends`: targets
    are URLs of a store, and `inside` is a temporary folder.
    """

    reading: ReadOptions
    policy: Policy = absolute
    verify: bool = False
    in_place: bool = False
    backup: str | None = None
    inside: OutputFolder | None = None
    token: str = ""
    log: Cells | None = None
    sends: bool = False


def check(names: Sequence[str], output: str, *, listed: bool = False) -> None:
    """Raise UsageError if these inputs (and, with `listed`, a list of others) cannot be written to an output."""
    for name in names:
        if overlap(name, output):
            raise UsageError(f"the output {output} is also an input ({name}), or one is inside the other")
    if is_file(names, output, listed=listed):
        if found := clash([Path(output)], names):
            raise _same(Path(output), found[1])
        return
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: several inputs need a folder as -o OUT")
    check_new_folder(output, "several inputs need a folder")
    taken: dict[str, str] = {}
    for name in names:
        if name == STDIN:
            raise UsageError(f"the standard input (-) has no file name for the folder {folder}: give -o FILE")
        if folders.is_folder(name):
            check_apart(folder, name)
            if len(names) == 1:
                return
        if inputs.is_url(name):
            continue  # its place has its host, which `jobs` handles
        last = Path(os.path.abspath(name)).name  # noqa: PTH100 - `.` has a name
        if os.path.normcase(last) in taken:
            raise UsageError(f"{taken[os.path.normcase(last)]} and {name} would both be written to {folder / last}")
        taken[os.path.normcase(last)] = name
    names = [name for name in names if not inputs.is_url(name)]
    if found := clash([folder / Path(name).name for name in names], names):
        raise _same(*found)


# Suffixes that a folder has by mistake: archives, tables and drawings. Names of hosts have other suffixes.
_FILES: Final = {*SUFFIXES, *tables.SUFFIXES, *(f".{name}" for name in tables.OTHERWISE)} | frozenset(
    ".zim .dot .gv .graphml .pdf .png .txt .gz .tgz .bz2 .xz .zst .tar .7z .rar .mobi .docx .odt".split()
)


def check_new_folder(output: str, why: str) -> None:
    """Raise UsageError for an output folder that does not exist and has the name of a file, for example `a.zip`."""
    folder = Path(output)
    if not folder.exists() and not output.endswith(("/", os.sep)) and folder.suffix.lower() in _FILES:
        hint = f"-o {folder.with_suffix('')}/ names a folder; -o {output}/ one with this name"
        raise UsageError(f"-o {output} is the name of a file, and {why}", hint)


def overlap(one: str, other: str) -> bool:
    """Return whether two URLs are one file of a store, or one contains the other: `s3://b/a` and `s3://b/a/c`."""
    one, other = (f"{url.rstrip('/')}/" for url in sorted((one, other), key=len))
    return buckets.is_bucket(one) and other.startswith(one)


def make_above(out: str) -> None:
    """Create the folder in which an output will be, if it does not exist. Raise OSError."""
    if buckets.is_bucket(out):
        return
    above = os.path.dirname(os.path.abspath(out))  # noqa: PTH100, PTH120 - the user's own links are followed
    check_links(above)
    if not os.path.lexists(above):
        Path(above).mkdir(parents=True, exist_ok=True)


def is_file(names: Sequence[str], output: str, *, listed: bool = False) -> bool:
    """Return whether the output is a file, for a single input, and not a folder."""
    if listed or len(names) != 1 or inputs.is_many(names[0]):
        return False
    return not Path(output).is_dir() and not output.endswith(("/", os.sep))


def _same(path: Path, name: str) -> UsageError:
    return UsageError(f"the output {path} is also an input ({name}): to replace inputs, give --in-place")


def check_apart(output: Path, folder: str) -> None:
    """Raise UsageError if an output folder and an input folder are the same, or one is inside the other.

    An output behind a symbolic link that leads out of the input folder is inside it, too: the link may lead anywhere.
    """
    if folders.led_out_of(output, [folder]) is not None:
        raise UsageError(f"the output {output} is behind a symbolic link in the input {folder}: choose another folder")
    one, other = output.resolve(), Path(folder).resolve()
    if one == other:
        raise UsageError(f"the output {output} is also an input: to replace inputs, give --in-place")
    if one.is_relative_to(other) or other.is_relative_to(one):
        inner, outer = (output, folder) if one.is_relative_to(other) else (folder, output)
        raise UsageError(f"{inner} is inside {outer}: output and input must be separate folders")


def check_not_read(paths: Iterable[Path], names: Sequence[str]) -> None:
    """Raise UsageError for an output that is also one of these files, which the run reads."""
    if found := clash(paths, names):
        raise UsageError(f"the output {found[0]} is also an input ({found[1]}): choose another file")


def check_different(paths: Iterable[Path]) -> None:
    """Raise UsageError if two outputs are one file; they may be one device."""
    seen: dict[str, Path] = {}
    for path in paths:
        other = seen.setdefault(os.path.realpath(path), path)
        if other is not path and not (outputs.is_device(path) and outputs.is_device(other)):
            raise UsageError(f"the outputs {other} and {path} are the same file")


def check_outside(paths: Iterable[Path], names: Sequence[str]) -> None:
    """Raise UsageError for an output that is a file, or a symbolic link, in an input folder."""
    for path in paths:
        check_not_led_out(path, names)
        if path.is_file() and (name := folders.folder_around(path, names)) is not None:
            raise UsageError(f"the output {path} is a file of the input {name}: choose another file")


def check_not_led_out(path: Path, names: Sequence[str]) -> None:
    """Raise UsageError for an output behind a symbolic link in an input folder: the link may lead anywhere."""
    if (folder := folders.led_out_of(path, names)) is not None:
        raise UsageError(f"the output {path} is behind a symbolic link in the input {folder}: choose another file")


def jobs(found: Iterable[Input], output: str, notify: Notify) -> Iterator[Job]:
    """Yield the inputs with their targets below an output folder; report an input whose target is taken to `notify`.

    Files found in folders have different targets, except on a file system that does not distinguish `A` from `a`.
    """
    taken: set[str] = set()
    sends = buckets.is_bucket(output)
    for input_ in found:
        place = input_.place
        if not sends and buckets.is_bucket(input_.name) and ("\0" in place or {"", ".", ".."} & {*place.split("/")}):
            text = "skipped: its output would be outside the output folder, or could have no name"
            notify(Diagnostic("outside", text, input_.name, failed=True))
            continue
        target = f"{output.rstrip('/')}/{place}" if sends else os.path.join(output, place)  # noqa: PTH118
        if not input_.found:
            key = os.path.normcase(target)
            if key in taken or clash([Path(target)], [input_.name]):
                text = f"skipped: its output {target} is an input, or the output of another input"
                notify(Diagnostic("taken", text, input_.name, failed=True))
                continue
            taken.add(key)
        yield Job(input_, target)


def once(found: Iterable[Input]) -> Iterator[Input]:
    """Yield each input once by path: rewriting in place twice would remap its URLs twice."""
    seen: set[str] = set()
    for input_ in found:
        key = inputs.key(input_.name)
        if key not in seen:
            seen.add(key)
            yield input_


def without_backups(found: Iterable[Input], suffix: str | None) -> Iterator[Input]:
    """Yield the inputs without the backups that folders contain: of earlier runs, and of editors.

    A backup has the name of a file beside it, with `suffix`, `.orig`, `.bak` or `~`, and perhaps a number: for example,
    `a.html.bak.1` beside `a.html`. A file that the user named is no backup.
    """
    suffixes = (*_OF_BACKUPS, suffix) if suffix is not None else _OF_BACKUPS
    return (input_ for input_ in found if not (input_.found and _is_backup(input_.name, suffixes)))


_OF_BACKUPS: Final = ("~", ".orig", ".bak")


def _is_backup(name: str, suffixes: tuple[str, ...]) -> bool:
    kept, dot, number = name.rpartition(".")
    names = [name, kept] if dot and number.isdecimal() else [name]
    return any(
        one.endswith(suffix) and os.path.lexists(one.removesuffix(suffix)) for one in names for suffix in suffixes
    )


# --- complete files, in the parent process ----------------------------------------------------------------------------


class Publisher:
    """Rename complete files to their targets, in order; at the end remove temporary files, even of killed runs.

    With the state of a run, jobs already done are skipped. `inside`: see `RewriteOptions`.
    """

    def __init__(self, token: str, state: State | None = None, inside: OutputFolder | None = None) -> None:
        self._state = state
        self._token = token
        self._inside = inside
        self._folders: set[str] = set()  # folders that may contain temporary files of this run (relative to `inside`)
        self._real: dict[str, str] = {}  # folder -> its path without links
        self._put: set[str] = set()  # inputs under way with files already passed to `put`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with interrupts.deferred():
            for folder in sorted(self._folders):
                with suppress(OSError):
                    opened = OpenFolder(folder) if self._inside is None else self._inside.folder(folder)
                    leftovers.sweep(opened, self._token)

    def watched(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield the jobs to do, and note the folders of their temporary files."""
        seen = self._seen(jobs)
        return seen if self._state is None else self._state.remaining(seen, lambda job: job)

    def _seen(self, jobs: Iterable[Job]) -> Iterator[Job]:
        for job in jobs:
            if self._inside is None:
                self._folders.add(self._folder(job.target or job.input.name))
            else:
                self._folders.add(job.input.place.rpartition("/")[0])
            yield job

    def _folder(self, path: str) -> str:
        """Return the folder of a path's file without links; cached by folder, since there are very many paths."""
        if os.path.islink(path):  # noqa: PTH114
            return os.path.dirname(os.path.realpath(path))  # noqa: PTH120
        above = os.path.dirname(path)  # noqa: PTH120
        if above not in self._real:
            self._real[above] = os.path.realpath(above)
        return self._real[above]

    def put(self, job: Job, ready: FilesReady) -> None:
        """Rename files on the disk (`flushed`) to their targets. On failure remove them and raise DocumentError."""
        self._put.add(job.input.name)
        with results.discarding(ready, job.target or job.input.name):
            if self._state is not None and ready.files:
                self._state.done(job.input, ready.files[-1])
                self._state.keep()
            results.put(ready)

    def ended(self, job: Job, *, failed: bool) -> None:
        """Note the end of a job: without a new file, and no failure, its file is unchanged. Raise DocumentError."""
        put = job.input.name in self._put
        self._put.discard(job.input.name)
        if self._state is not None:
            self._state.ended(job.input, is_done=not put and not failed)


def clash(targets: Iterable[Path], inputs: Iterable[str]) -> tuple[Path, str] | None:
    """Return the first target that is an input, under any name or link, and that input; or None."""
    names = {identity: name for name in inputs if (identity := _identity(name))}
    return next(((path, names[identity]) for path in targets if (identity := _identity(path)) in names), None)


def _identity(path: str | Path) -> tuple[int, int] | None:
    """Return device and inode of a regular file; None for anything else."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
