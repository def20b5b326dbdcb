"""`absolve audit`: what a migration broke, where, and why.

Input: the options. Output: verdicts for all links of the new site and all URLs of the old one, in files of any format.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from absolve.audit import live, servers, verdicts
from absolve.cli import asking, many
from absolve.cli.hints import is_url
from absolve.core.errors import UsageError, in_short
from absolve.run import leftovers
from absolve.urls.identity import origin, without_user

if TYPE_CHECKING:

    from absolve.cli.reporting import Report


def run(options: Any, report: Report) -> None:
    options.maps = [*options.maps]  # the default is shared, and the maps in the folders are added
    if options.format is not None and not options.outputs and options.sql is None:
        options.outputs = ["-"]
    options.answers = [*options.answers]
    failing = verdicts.failing(options.failing)
    _check(options)
    from absolve.cli import audit_running  # imports DuckDB

    audit_running.check_outputs(options)
    with (
        leftovers.temporary_folder() as folder,
        many.unwritable(folder),
        asking.captured(options, report, needs=False) as urls,
    ):
        if urls is None:
            return
        if urls:
            options.live = options.live or live.INSIDE
            options.answers.append(options.inputs[0])
            options.url = options.url or f"{origin(without_user(urls[0]))}/"
        options.named = urls
        audit_running.run(options, report, folder, failing, options.inputs[0] if urls else None)


def _check(options: Any) -> None:
    """Raise UsageError if options contradict each other."""
    if (options.diff or options.verify) and not options.fix:
        raise UsageError(f"{'--diff' if options.diff else '--verify'} needs --fix")
    if options.baseline is not None and options.changed_since is not None:
        raise UsageError("--baseline and --changed-since: give one of them, each leaves out what is not new")
    for name in options.old:
        if is_url(name) and not Path(name).exists():
            how = f"absolve mirror {in_short(name)} --depth 5 --save old.warc.gz -o old"
            raise UsageError(f"--old takes files: {how} makes one of a URL, for --old old.warc.gz")
    is_asked = options.live is not None or any(map(is_url, options.inputs))
    if options.save is not None and not is_asked:
        raise UsageError("--save needs --live, or a URL: it keeps what servers answer")
    servers.named(options.server)
