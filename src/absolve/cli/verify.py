"""`absolve verify`: prove that a rewrite changed only links, of one document or of each file in a folder.

Input: the options. Output: differences in the report, or as JSON on the standard output; for folders the counts.
"""

from __future__ import annotations

import os
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from absolve.cli import asking, intake, policies, terminal
from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.core.printable import number
from absolve.document.walk import walk
from absolve.run import inputs, load, sources
from absolve.run.folders import Globs, files_in, is_folder
from absolve.run.rewrite_task import date
from absolve.run.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.run.inputs import Input


def run(options: Options, report: Report) -> None:
    check = _Check(options, report)
    names = options.before, options.after
    if names == (STDIN, STDIN):
        raise UsageError("the standard input (-) can be read only once")
    are_folders = list(map(is_folder, names))
    if any(are_folders) and not all(are_folders):
        raise UsageError(f"BEFORE and AFTER are two files or two folders; {names[are_folders.index(True)]} is a folder")
    with terminal.json_array(options) as add:
        check.add = add
        if all(are_folders):
            check.folders()
            return
        with report.guard(options.before):
            before = intake.one_input(options.before, options)
            (input_,) = asking.with_answers([before], lambda one: one, options, report)
            check.document(input_, options.after)


class _Check:
    """Compare documents with their rewritten forms, one at a time."""

    def __init__(self, options: Options, report: Report) -> None:
        self.add: Callable[[dict[str, Any]], None] | None = None
        self._options = options
        self._report = report
        self._policy = policies.policy(options)
        self._how = intake.reading(options, self._policy)
        self._differences = self._documents = self._others = 0

    def document(self, input_: Input, after: str, root: str = "") -> None:
        """Compare a document with the file `after`, in the folder `root` unless that is ""."""
        from absolve import verifying  # html5lib and lxml

        before = load.read(input_, self._how)
        data = self._data(after, root)
        entity = walk(before, self._how.settings)
        date(self._policy, entity, input_.name)
        for unread in filter(attrgetter("failed"), entity.diagnostics):
            self._report.finding(unread)
        for difference in verifying.differences(entity, before, data, self._policy):
            self._report_difference(difference)

    def _data(self, name: str, root: str) -> bytes:
        return sources.read(name, max_size=self._options.max_size, root=root).data

    def _report_difference(self, difference: Diagnostic) -> None:
        """Report and count a difference, or a document that the independent parser cannot read as a failure."""
        if self.add is not None:
            self.add(terminal.diagnostic_json(difference))
        if difference.code == "unjudged":
            self._report.failure(DocumentError(difference))
            return
        self._differences += 1
        if self.add is None:
            self._report.found(difference)
        else:
            self._report.has_findings = True

    # --- folders ------------------------------------------------------------------------------------------------------

    def folders(self) -> None:
        """Compare each file of a folder with the file at the same path in the other folder."""
        before, after = self._options.before, self._options.after
        origins = inputs.Origins(self._options.url, intake.url_map(self._options).urls)
        globs = Globs(hidden=self._options.hidden)
        for input_ in inputs.named([before], origins, globs, self._report.aside):
            with self._report.guard(input_.name):
                self._file(input_, os.path.join(after, input_.place))  # noqa: PTH118 - a text, as in messages
        for path, place, *_ in files_in(after, globs, self._report.aside):
            if not os.path.lexists(os.path.join(before, place)):  # noqa: PTH118
                self._report_difference(Diagnostic("bytes", f"{in_short(before)} has no file of this path", path))
        self._report.summary(f"verify: {self._counts()}", repeats=False)

    def _file(self, input_: Input, after: str) -> None:
        if load.is_document(input_, load.first_bytes(input_), self._how):
            self._documents += 1
            self.document(input_, after, self._options.after)
            return
        self._others += 1
        if self._data(input_.name, input_.root) != self._data(after, self._options.after):
            self._report_difference(Diagnostic("bytes", "it is no document, and its bytes changed", after))

    def _counts(self) -> str:
        others = f" and {number(self._others, 'other file')}" if self._others else ""
        failures = len(self._report.failures)
        failed = f"; {number(failures, 'file')} could not be compared" if failures else ""
        return f"{number(self._documents, 'document')}{others}, {number(self._differences, 'difference')}{failed}"
