"""What the worker processes of `absolve audit` do: list an input of one of the two sites.

Input: the options of listing, an input. Output: its rows and counts. Workers import this module alone, and so none of
the packages that judge the rows: DuckDB, Arrow and NumPy take longer to import than many a site to be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from absolve.run.links_task import ListOptions, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.run.inputs import Input
    from absolve.run.results import TaskResult


class Sided(NamedTuple):
    """An input of one of the two sites."""

    side: str
    input: Input


def listed_of(how: ListOptions, item: Sided) -> Iterator[TaskResult]:
    """Yield the rows of the input, as `links_task.listed` does."""
    return listed(how, item.input)
