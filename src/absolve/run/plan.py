"""The plan of a rewrite: for each input the file that its result goes to, and a word where that cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from absolve.core.errors import Diagnostic, UsageError
from absolve.run import inputs, outputs
from absolve.run.rewrite_task import Job
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from absolve.run.inputs import Input, Say


def check(names: Sequence[str], output: str, *, listed: bool = False) -> None:
    """UsageError where these inputs (and, `listed`, a list of others) cannot go to an output."""
    if is_file(names, output, listed=listed):
        if found := outputs.clash([Path(output)], names):
            raise _same(Path(output), found[1])
        return
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; several inputs need a folder")
    taken: dict[str, str] = {}
    for name in names:
        if name == STDIN:
            raise UsageError(f"the standard input (-) has no name to be written by into {folder}")
        if inputs.is_folder(name):
            _check_apart(folder, name)
            if len(names) == 1:
                return
        last = Path(os.path.abspath(name)).name  # noqa: PTH100 - `.` has a name
        if os.path.normcase(last) in taken:
            raise UsageError(f"{taken[os.path.normcase(last)]} and {name} would both be written to {folder / last}")
        taken[os.path.normcase(last)] = name
    if found := outputs.clash([folder / Path(name).name for name in names], names):
        raise _same(*found)


def is_file(names: Sequence[str], output: str, *, listed: bool = False) -> bool:
    """Whether the output is a file of the only input's, not a folder."""
    if listed or len(names) != 1 or inputs.is_folder(names[0]):
        return False
    return not Path(output).is_dir() and not output.endswith(("/", os.sep))


def _same(path: Path, name: str) -> UsageError:
    return UsageError(f"the output {path} is an input, too ({name}): --in-place is the way to say so")


def _check_apart(output: Path, folder: str) -> None:
    one, other = output.resolve(), Path(folder).resolve()
    if one == other:
        raise UsageError(f"the output {output} is an input, too: --in-place is the way to say so")
    if one.is_relative_to(other) or other.is_relative_to(one):
        raise UsageError(f"of the output {output} and the input {folder} one is inside the other")


def jobs(found: Iterable[Input], output: str, say: Say) -> Iterator[Job]:
    """The inputs with their targets below an output folder; of two for one target `say` hears, and the first one rules.

    Files that were found in folders cannot have one target, but for an output that does not tell `A` from `a`.
    """
    taken: set[str] = set()
    for input_ in found:
        target = os.path.join(output, input_.place)  # noqa: PTH118 - for each of very many
        if not input_.found:
            key = os.path.normcase(target)
            if key in taken or outputs.clash([Path(target)], [input_.name]):
                say(Diagnostic("taken", f"its output {target} is another's, or an input", input_.name, failed=True))
                continue
            taken.add(key)
        yield Job(input_, target)


def once(found: Iterable[Input]) -> Iterator[Input]:
    """Each input that has a path of its own: rewritten in place twice, one would be remapped twice."""
    seen: set[str] = set()
    for input_ in found:
        key = inputs.key(input_.name)
        if key not in seen:
            seen.add(key)
            yield input_
