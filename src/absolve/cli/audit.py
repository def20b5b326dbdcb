"""`absolve audit`: find links and URLs that a migration broke.

Input: the options. Output: verdicts for all links of the new site and all URLs of the old one, in files of any format.
"""

from __future__ import annotations

import copy
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve import tables
from absolve.audit import live, load, outputs, repair, running, servers, sites, verdicts, why
from absolve.audit.conclude import MOVED
from absolve.audit.tables import TABLES
from absolve.cli import asking, audit_live, audit_shown, intake, many, queries
from absolve.cli.hints import is_url
from absolve.cli.rewrite import compared, diff_lines, published
from absolve.cli.terminal import colours, is_terminal, say, screen
from absolve.core import printable
from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.document.resolved import shown
from absolve.rules import writing
from absolve.run import leftovers
from absolve.run import outputs as run_outputs
from absolve.run.filters import Cells
from absolve.run.inputs import WHOLE
from absolve.run.plan import Job, RewriteOptions
from absolve.run.rewrite_task import rewritten
from absolve.urls.identity import origin, without_user

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from absolve.audit.answered import Answers
    from absolve.audit.sites import Sites
    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.rules.outcomes import Rules
    from absolve.run.results import TaskResult


def run(options: Options, report: Report) -> None:
    options.maps = [*options.maps]  # the default is shared, and the maps in the folders are added
    if options.format is not None and not options.outputs and options.sql is None:
        options.outputs = ["-"]
    options.answers = [*options.answers]
    failing = verdicts.failing(options.failing)
    _check(options)
    _check_outputs(options)
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
        _run(options, report, folder, failing, options.inputs[0] if urls else None)


def _check(options: Options) -> None:
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


# --- The run of `absolve audit`: read, judge, write, repair, print the counts -----------------------------------------

_COUNTS: Final = "SELECT table_name, verdict, number, fixes FROM counts ORDER BY table_name, verdict"
_NEW: Final = "SELECT table_name, verdict, count(*), count(*) FILTER (is_sure) FROM news GROUP BY ALL"


def _run(
    options: Options, report: Report, folder: str, failing: Collection[str], asked: str | None = None
) -> None:
    """Run an audit; `asked` is the temporary archive with the answers for URLs among the inputs."""
    if options.inputs:
        intake.names(options)  # raises UsageError for impossible inputs
    report.quiet, report.verbose = options.quiet, options.verbose
    context = many.run_context(options, report, str)  # the run over the files ends later

    def ask(kinds: str, connection: Any, known: Answers) -> None:
        report.names[str(Path(folder) / audit_live.ANSWERS)] = "answers of servers"
        known.add(list(audit_live.request_answers(kinds, connection, known, options, context, folder)))

    asks = partial(ask, options.live) if options.live is not None else None
    with running.audited(options, context, folder, failing, asks) as found:
        connection = found.connection
        report.totals.files -= found.read_as_text
        if found.since is not None and options.baseline is not None and not options.quiet:
            new, healed = found.since
            since = printable.printable(options.baseline)
            print(f"absolve: since {since}: {new:,} new, {healed:,} healed", file=sys.stderr)
        if asked is not None:
            load.name_by_url(connection, asked)
        wrote = _write(connection, options, failing, found.found)
        if options.write_map is not None:
            wrote += _write_map(options.write_map, connection, found.rules, report)
        if options.sql is not None:
            _ask(connection, options.sql, options)
        fixed = _fix(connection, options, found.found, folder, report) if options.fix else False
        if options.why is not None:
            _explain(why.Audit(connection, found.question, found.rules), options.why)
        _finish(connection, options, report, failing, fixed=fixed)
        if not options.quiet:
            line = audit_shown.ending(connection, _how(options, failing), report, options, wrote)
            report.end_with(lambda: line, repeats=report.lines > many.SCREEN)


def _check_outputs(options: Options) -> None:
    """Raise UsageError for an output that cannot be written, before the sites are read."""
    _check_stdout(options)
    if options.sql is not None:
        queries.check(options.sql, {*TABLES, "documents", "findings"})
        if not options.outputs:
            _check_sql_format(options)
    options.format = options.format and outputs.ALIASES.get(options.format, options.format)
    for name in options.outputs:
        form = options.format or outputs.detect_format(name)
        if form not in outputs.FORMATS:
            raise UsageError(f"--format {form}: choose from {', '.join(outputs.FORMATS)}")
        outputs.load(form)  # raises UsageError if a package is missing
        if name == run_outputs.STDOUT and not outputs.is_stream(form):
            raise UsageError(f"{form} cannot be written to the standard output: give -o FILE")
    if options.write_map not in {None, run_outputs.STDOUT}:
        writing.form_for_path(Path(options.write_map))
    files = [path for name in options.outputs for path in outputs.paths(name, options.format)]
    others = (options.write_map, options.save)
    files += [Path(name) for name in others if name not in {None, run_outputs.STDOUT}]
    running.check_outputs(options, files)


def _check_sql_format(options: Options) -> None:
    options.format = options.format and tables.OTHERWISE.get(options.format, options.format)
    known = [name for name, form in tables.FORMATS.items() if form.text and not form.source]
    if options.format and options.format not in known:
        raise UsageError(f"--sql prints {', '.join(known)}, not {in_short(options.format)!r}")


def _check_stdout(options: Options) -> None:
    """Raise UsageError if two results would be mixed on the standard output."""
    names = ["-o"] * sum(map(run_outputs.is_stdout, options.outputs))
    names += ["--write-map"] * (options.write_map is not None and run_outputs.is_stdout(options.write_map))
    for_people = {"--sql": options.sql is not None, "--why": options.why is not None, "--diff": options.diff}
    names += [name for name, is_used in for_people.items() if is_used]
    if len(names) > 1 and set(names) - for_people.keys():
        raise UsageError(f"{names[0]} and {names[1]} both write to the standard output: give one of them a file")


def _ask(connection: Any, sql: str, options: Options) -> None:
    """Print the result of --sql, in the format of -f unless that is for an output."""
    if options.format is None or options.outputs:
        queries.say(connection, sql)
        return
    cells = Cells(masked=True)
    with run_outputs.stdout() as out:
        queries.write(connection, sql, options.format, cells, out)


def _explain(audited: why.Audit, url: str) -> None:
    for line in why.explained(audited, url):
        print(printable.message(line))


def _fix(connection: Any, options: Options, found: Sites, folder: str, report: Report) -> bool:
    """Write the repairs into the files of the new site, or print a diff; return whether they were written.

    Only link bytes change.
    """
    path = str(Path(folder) / "fixes.sqlite")
    if not repair.write(connection, path):
        return False
    own = copy.copy(options)
    policy = repair.RepairPolicy(path)
    token = leftovers.token()
    how = RewriteOptions(intake.reading(options), policy, verify=options.verify, in_place=True, token=token)
    work: Callable[[Job], Iterable[TaskResult]] = partial(rewritten, how)
    if options.diff:
        work = partial(compared, partial(diff_lines, is_terminal(sys.stdout), colours(sys.stdout)), how)
    jobs = _jobs(path, options, found, report)
    with closing(published(how, work, jobs, own, report, str)) as changes:
        for _ in changes:
            pass
    return not options.diff


def _jobs(path: str, options: Options, found: Sites, report: Report) -> Iterator[Job]:
    wanted = repair.documents(path)
    seen: set[str] = set()
    for input_ in sites.site_inputs(options, found, load.NEW, many.run_context(options, report), follow=False):
        if shown(input_.name) in wanted and input_.name not in seen:
            seen.add(input_.name)
            yield Job(input_._replace(within=WHOLE))


def _how(options: Options, failing: Collection[str], roots: tuple[Path, ...] = ()) -> outputs.Style:
    return outputs.Style(frozenset(failing), options.format, roots)


def _write(
    connection: Any, options: Options, failing: Collection[str], found: Sites
) -> list[Path]:
    """Write the outputs; return the paths of their files."""
    how = _how(options, failing, tuple(map(Path, found.kinds[load.NEW].documents)))  # without files of inventories
    return [path for name in options.outputs for path in outputs.write(connection, Path(name), how)]


def _write_map(name: str, connection: Any, rules: Rules, report: Report) -> list[Path]:
    """Write the maps as one, with sure rules for moved content. Return its path.

    Its suffix decides its form, for example `.htaccess`; without a suffix, the form of the first map.
    """
    form = writing.form_for_path(Path(name), rules.form)
    if form == "csv" != rules.form and not name.lower().endswith(".csv"):
        report.note("--write-map", f"no map is written as {rules.form}: this one is CSV")
    added = connection.execute(MOVED).fetchall()
    new_map = writing.written(form, rules, added)
    for rule, reason in new_map.left_out:
        place = (rule.file, rule.line) if rule.file else ("--write-map", None)
        report.finding(Diagnostic("left-out", f"{rule.text}: {reason}", *place))
    if name == run_outputs.STDOUT:
        with run_outputs.stdout() as file:
            file.write(new_map.data)
        return []
    run_outputs.write(Path(name), new_map.data)
    return [Path(name)]


def _finish(
    connection: Any, options: Options, report: Report, failing: Collection[str], *, fixed: bool
) -> None:
    """Print the causes and the counts, and set the exit status. `fixed`: the repairs are written."""
    counts = connection.execute(_COUNTS).fetchall()
    news = connection.execute(_NEW).fetchall() if options.baseline is not None else []
    fresh = {(table, verdict): count for table, verdict, count, _ in news}
    takes_stdout = options.sql is not None or options.why is not None or options.diff
    takes_stdout = takes_stdout or any(
        run_outputs.is_stdout(name) for name in (*options.outputs, options.write_map) if name is not None
    )
    if not options.quiet and not takes_stdout:
        how, on_terminal = _how(options, failing), is_terminal(sys.stdout)
        view = screen(sys.stdout)
        for line in audit_shown.lines(connection, how, view, fixed=fixed, hint=not options.outputs):
            say(line, sys.stdout)
        for table, verdict, count, _ in counts:
            word = f"{verdict:12}"
            word = audit_shown.painted(verdict, word, how, view) if on_terminal else word
            some = f", {fresh[table, verdict]:,} new" if (table, verdict) in fresh else ""
            say(f"{table:6} {word} {count:>10,}{some}", sys.stdout)
    deciding = counts if options.baseline is None else news
    if any(verdict in failing and (not fixed or count > sure) for _, verdict, count, sure in deciding):
        report.has_findings = True
