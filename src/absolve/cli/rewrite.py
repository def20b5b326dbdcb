"""`absolve rewrite`: documents with every link absolute, and every other byte as it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from absolve import outputs, rewriting, sources, verifying
from absolve.cli import options as shared
from absolve.cli.diff import painted, unified
from absolve.errors import Diagnostic, DocumentError, UsageError

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report
    from absolve.model import Document
    from absolve.resolved import Resolved
    from absolve.walk import Entity

EPILOG = """\
examples:
  absolve rewrite page.html > absolute.html          the page says itself where it came from
  absolve rewrite page.html --url http://example.com/dir/page.html -o absolute.html
  absolve rewrite saved/*.html -o absolute/          into a folder, by their own names
  absolve rewrite saved/*.html --in-place --backup .orig
  absolve rewrite saved/*.html --in-place --verify   what does not verify stays as it was
  absolve rewrite saved/*.html --dry-run             only count
  absolve rewrite page.html --diff | patch page.html

A file is written under another name and then renamed: it is there complete, or as it was.
Mode and times are kept. A file in which nothing changes is not touched by --in-place.
A page in which the scanner had to guess is verified in any case (absolve verify --help)."""


def configure(parser: argparse.ArgumentParser) -> None:
    shared.add_inputs(parser)
    where = parser.add_argument_group("where the result goes (to the standard output, if there is one input)")
    place = where.add_mutually_exclusive_group()
    shared.completes_files(
        place.add_argument(
            "-o", "--output", metavar="OUT", help="to this file, or into this folder by the inputs' names"
        )
    )
    place.add_argument("--in-place", action="store_true", help="back to where it came from")
    where.add_argument("--backup", metavar="SUFFIX", help="with --in-place, keep the original under NAME + SUFFIX")
    where.add_argument(
        "--verify", action="store_true", help="before it is written, prove that only links changed; else write nothing"
    )
    show = where.add_mutually_exclusive_group()
    show.add_argument("--dry-run", action="store_true", help="write nothing; count links, and those that would change")
    show.add_argument("--diff", action="store_true", help="write nothing; show the lines that would change, for patch")
    shared.add_changes(parser)
    shared.add_settings(parser)


class Job(NamedTuple):
    """One input, and where its result goes: None is the standard output."""

    name: str
    target: Path | None


def run(options: argparse.Namespace, report: Report) -> None:
    chosen = shared.settings(options)
    jobs = _jobs(options, shared.names(options))
    for job in jobs:
        with report.guard(job.name):
            document, entity = shared.walked(job.name, options, chosen, report)
            data = rewriting.rewrite(entity)
            if (options.verify or entity.is_ambiguous) and not _verified(document, entity, data, report):
                continue
            if options.dry_run:
                print(f"{job.name}: {_count(entity)}")
            elif options.diff:
                _show(job.name, entity)
            elif options.in_place:
                _put_back(Path(job.name), document, data, options.backup)
            else:
                _put(job, data)


def _verified(document: Document, entity: Entity, data: bytes, report: Report) -> bool:
    """Whether nothing but links would change; what else would is said, and that it does not."""
    found = verifying.differences(entity, document, data)
    if found:
        unverified = Diagnostic("unverified", "this stays as it is: nothing proves that only links change", entity.name)
        for difference in (*found, unverified):
            report.failure(DocumentError(difference))
    return not found


# --- where results go -------------------------------------------------------------------------------------------------


def _jobs(options: argparse.Namespace, names: list[str]) -> list[Job]:
    """What is to be done; UsageError where the options contradict each other, or an output is an input."""
    if options.backup is not None and not options.in_place:
        raise UsageError("--backup goes with --in-place")
    if options.backup is not None and (not options.backup or Path(options.backup).name != options.backup):
        raise UsageError(f"--backup takes what is added to a file's name, not {options.backup!r}")
    if options.in_place and sources.STDIN in names:
        raise UsageError("the standard input (-) has no place to be written back to")
    if options.in_place or options.output in {None, outputs.STDOUT}:
        if len(names) > 1 and not (options.in_place or options.dry_run or options.diff):
            raise UsageError("several inputs need -o FOLDER or --in-place")
        return [Job(name, None) for name in names]
    out = Path(options.output)
    if len(names) == 1 and not out.is_dir() and not options.output.endswith(("/", os.sep)):
        jobs = [Job(names[0], out)]
    else:
        jobs = _into(out, names)
    if found := outputs.clash([job.target for job in jobs if job.target], names):
        raise UsageError(f"the output {found[0]} is an input, too ({found[1]}): --in-place is the way to say so")
    return jobs


def _into(folder: Path, names: list[str]) -> list[Job]:
    """Each input by its own name in a folder, where that is a name for one of them only."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; several inputs need a folder")
    taken: dict[str, str] = {}
    for name in names:
        if name == sources.STDIN:
            raise UsageError(f"the standard input (-) has no name to be written by into {folder}")
        key = os.path.normcase(Path(name).name)
        if key in taken:
            raise UsageError(f"{taken[key]} and {name} would both be written to {folder / Path(name).name}")
        taken[key] = name
    return [Job(name, folder / Path(name).name) for name in names]


def _put(job: Job, data: bytes) -> None:
    if job.target is None:
        with outputs.stdout() as file:
            file.write(data)
        return
    source = Path(job.name)
    like = source if job.name != sources.STDIN and source.is_file() else None
    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(job.target, data, like=like)
    except OSError as error:
        raise _unwritable(job.target, error) from error


def _put_back(path: Path, document: Document, data: bytes, backup: str | None) -> None:
    """In place: what a link leads to is written, and nothing where nothing changed."""
    if data == document.data:
        return
    real = path.resolve()
    try:
        if not real.is_file():
            raise OSError(0, "this is no regular file")  # noqa: TRY301 - said like any other reason
        outputs.check_writable(real)
        if backup is not None:
            outputs.write(real.with_name(real.name + backup), document.data, like=real)
        outputs.write(real, data, like=real)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> DocumentError:
    return DocumentError(Diagnostic("unwritable", error.strerror or str(error), str(path)))


# --- what is shown instead --------------------------------------------------------------------------------------------


def _count(entity: Entity) -> str:
    links = changed = 0

    def counting(resolved: Resolved) -> str | None:
        nonlocal links, changed
        new = rewriting.absolute(resolved)
        links += 1
        changed += new is not None and new != resolved.reference
        return new

    rewriting.edits(entity, counting)
    return f"{links} link{'' if links == 1 else 's'}, {changed} would change"


def _show(name: str, entity: Entity) -> None:
    with outputs.stdout() as file:
        file.writelines(painted(unified(name, entity.data, rewriting.edits(entity, rewriting.absolute))))
