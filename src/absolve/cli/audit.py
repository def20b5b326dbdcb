"""`absolve audit`: find links and URLs that a migration broke.

Input: the options. Output: verdicts for all links of the new site and all URLs of the old one, in files of any format.
"""

from __future__ import annotations

import copy
import sys
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve import tables
from absolve.audit import (
    answered,
    answers,
    ignoring,
    live,
    load,
    outputs,
    repair,
    running,
    servers,
    sites,
    verdicts,
    why,
)
from absolve.audit.conclude import MOVED
from absolve.audit.outputs.findings import Cause, cause_message, causes, counts
from absolve.audit.outputs.source import Source
from absolve.audit.tables import TABLES
from absolve.audit.verdicts import WITHOUT_EFFECT, counted, fix_options
from absolve.cli import asking, intake, many, queries
from absolve.cli.hints import is_url
from absolve.cli.rewrite import compared, diff_lines, published
from absolve.cli.terminal import colours, is_terminal, say, screen
from absolve.core import printable
from absolve.core.drawing import folded
from absolve.core.errors import Diagnostic, UsageError, in_short
from absolve.core.printable import number
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
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from absolve.audit.answers import Answer
    from absolve.audit.outputs import Style
    from absolve.audit.sites import Sites
    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report
    from absolve.core.drawing import Screen
    from absolve.rules.outcomes import Rules
    from absolve.run.results import RunContext, TaskResult
    from absolve.run.web.exchange import Answer as Answered


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
            options.live = options.live or (None if options.crawl.is_cut else live.INSIDE)
            options.answers.append(options.inputs[0])
            options.url = options.url or f"{origin(options.crawl.homes.get(urls[0]) or without_user(urls[0]))}/"
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


def _run(options: Options, report: Report, folder: str, failing: Collection[str], asked: str | None = None) -> None:
    """Run an audit; `asked` is the temporary archive with the answers for URLs among the inputs."""
    if options.inputs:
        intake.names(options)  # raises UsageError for impossible inputs
    report.quiet, report.verbose = options.quiet, options.verbose
    context = many.run_context(options, report, str)  # the run over the files ends later

    def ask(kinds: str, connection: Any, known: answered.Answers) -> None:
        known.add(list(request_answers(kinds, connection, known, options, context)))

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
            line = ending(connection, _how(options, failing), report, options, wrote)
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
    jobs = _jobs(path, options, found)
    with closing(published(how, work, jobs, own, report, str)) as changes:
        for _ in changes:
            pass
    return not options.diff


def _jobs(path: str, options: Options, found: Sites) -> Iterator[Job]:
    wanted = repair.documents(path)
    seen: set[str] = set()
    for input_ in sites.site_inputs(options, found, load.NEW, many.run_context(options, many.silent()), follow=False):
        if shown(input_.name) in wanted and input_.name not in seen:
            seen.add(input_.name)
            yield Job(input_._replace(within=WHOLE))


def _how(options: Options, failing: Collection[str], roots: tuple[Path, ...] = ()) -> outputs.Style:
    return outputs.Style(frozenset(failing), options.format, roots)


def _write(connection: Any, options: Options, failing: Collection[str], found: Sites) -> list[Path]:
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


def _finish(connection: Any, options: Options, report: Report, failing: Collection[str], *, fixed: bool) -> None:
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
        for line in cause_lines(connection, how, view, fixed=fixed, hint=not options.outputs):
            say(line, sys.stdout)
        for table, verdict, count, _ in counts:
            word = f"{verdict:12}"
            word = painted(verdict, word, how, view) if on_terminal else word
            some = f", {fresh[table, verdict]:,} new" if (table, verdict) in fresh else ""
            say(f"{table:6} {word} {count:>10,}{some}", sys.stdout)
    deciding = counts if options.baseline is None else news
    if any(verdict in failing and (not fixed or count > sure) for _, verdict, count, sure in deciding):
        report.has_findings = True


# --- the requests of --live -------------------------------------------------------------------------------------------

_FRESH: Final = 86_400.0  # seconds for which an answer in the file of --save counts, without --max-age


def request_answers(
    kinds: str, connection: Any, known: answered.Answers, options: Options, context: RunContext
) -> Iterator[Answer]:
    """Yield the answers of servers for links of these kinds."""
    ignores = ignoring.parse_patterns(options.ignore)
    requests, left_out = live.wanted(connection, kinds, known, ignores)
    if not requests:
        return
    first = ignoring.first_match(ignores)

    def leaves_out(url: str) -> bool:
        return first(url) is not None or (options.crawl is not None and options.crawl.leaves_out(url))

    excluded = {one.url for one in requests if leaves_out(one.url)}
    requests = [one for one in requests if one.url not in excluded]
    yield from (answers.Answer(url, None, problem="left-out: not asked for (--exclude)") for url in sorted(excluded))
    given = [] if options.is_url_found else [options.url]
    if not given and not options.quiet:
        text = f"{options.url} is of a file that was found, not named: it gets no secrets, and no private host is asked"
        context.reports.note("ignored-option", f"{text} (--url names it)")
    with asking.saved(options, context.reports, max_age=_FRESH) as store:
        how = asking.request_options(options, store).with_origins([*options.named, *given, *options.old_urls])
        found: list[Answer] = []

        def keep(answer: Answered, *, compares: bool) -> None:
            found.extend(answers.from_responses(answer, how.settings, compares=compares))

        ending = live.ask(requests, how, keep, asking.progress(quiet=options.quiet), leaves_out)
    if not options.quiet:
        ignored = f"; {number(left_out, 'URL')} not asked (--ignore)" if left_out else ""
        unsafe = "; any certificate was trusted (--insecure)" if options.insecure else ""
        asking.say_ending(ending, context.reports)
        context.reports.note("asked", f"{number(len(requests), 'URL')} that links and maps name{ignored}{unsafe}")
    yield from running.as_public(found, options)


# --- the causes of the findings ---------------------------------------------------------------------------------------

# Causes beyond the first `MOST_CAUSES` are counted, not listed: a report in a file has them all. Causes with lost URLs
# are always listed.
MOST_CAUSES: Final = 50  # causes that are listed
_STYLES: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
_INDENT: Final = "  "
_ALL: Final = "-o report.html, or -f jsonl"


def cause_lines(connection: Any, how: Style, view: Screen, *, fixed: bool, hint: bool) -> Iterator[str]:
    """Yield a line for each cause. `fixed`: repairs were written. `hint`: no output has all findings."""
    source = Source(connection, how)
    found = list(causes(source, repaired=fixed))
    listed = [one for number_, one in enumerate(found) if number_ < MOST_CAUSES or one.lost]
    for has_news, several in groupby(listed, lambda one: one.news and True):
        if listed[0].news is not None:
            yield "New since the baseline:" if has_news else "Not new:"
        for one in several:
            yield from _cause(one, view)
    if more := len(found) - len(listed):
        yield from _folded(f"{number(more, 'more cause')}{f': {_ALL}' if hint else ''}", view)
    elif hint and source.number("findings") > len(listed) > 0:
        yield from _folded(f"Each finding: {_ALL}", view)
    if listed:
        yield ""


def _cause(cause: Cause, view: Screen) -> Iterator[str]:
    """Yield a cause in one line, for example `page.html:3:9: broken: Missing: /x.html (2 links on 1 page)`."""
    place = ":".join(str(part) for part in cause.place if part)
    found = "\n".join(_folded(f"{f'{place}: ' if place else ''}{cause.verdict}: {cause_message(cause)}", view))
    yield found.replace(f"{cause.verdict}:", f"{view.paint(cause.verdict, _STYLES[cause.level])}:", 1)
    others = cause.lost if cause.lost[1:] or cause.verdict != "lost" else ()
    for url in others[:MOST_CAUSES]:
        yield from _folded(f"{_INDENT}{url}", view)
    if len(others) > MOST_CAUSES:
        yield from _folded(f"{_INDENT}and {number(len(others) - MOST_CAUSES, 'more lost URL')}: {_ALL}", view)


def _folded(text: str, view: Screen) -> Iterator[str]:
    """Yield a text in lines as wide as the screen, or in one line for a file."""
    text = view.visible(text)
    if view.width is None:
        yield text
        return
    first, *rest = folded(text, max(8, view.width))
    yield first
    if rest:
        yield from (_INDENT + line for line in folded(" ".join(rest), max(8, view.width - len(_INDENT))))


def painted(verdict: str, text: str, how: Style, screen: Screen) -> str:
    """Return a text in the colour of a verdict."""
    return screen.paint(text, _STYLES["error"] if verdict in how.fail_on else "dim")


# --- the line that ends an audit --------------------------------------------------------------------------------------

_BESIDE: Final = f"""
SELECT (SELECT count(*) FROM mentions), (SELECT count(*) FROM rules WHERE {WITHOUT_EFFECT}),
    (SELECT count(*) FROM findings WHERE verdict = 'unsure' AND target IN (SELECT target FROM not_asked))
"""  # noqa: S608 - names of ours


def ending(connection: Any, how: Style, report: Report, options: Options, wrote: Sequence[Path]) -> str:
    """Return the last line, for example `findings: 8 of 30 links; 5 repairs in 4 files written; wrote report.html`."""
    source = Source(connection, how)
    mentions, idle, unasked = next(source.rows(_BESIDE))
    links, with_findings, *others = counts(source)
    fixes, ignored, left_out = map(source.number, ("fixes", "ignored", "left_out"))
    url = source.summary["new_url"]
    with_findings -= unasked  # they are not known
    parts = [counted(links, with_findings, *others, is_whole=not report.failures)]
    if options.fix:
        parts.append(_counts_of_repairs(report, is_diff=options.diff))
    elif fixes:
        parts.append(f"{fix_options(url if options.url is None else None)} writes {number(fixes, 'repair')}")
    if unasked:
        parts.append(f"{number(unasked, 'link')} not asked")
    if ignored:
        parts.append(f"{number(ignored, 'finding')} ignored")
    if options.changed_since is not None:
        parts.append(f"{number(left_out, 'finding')} of unchanged documents left out")
    if mentions:
        parts.append(f"{number(mentions, 'mention')} of the old host outside links (table mentions)")
    if idle:
        parts.append(f"{number(idle, 'redirect rule')} unused (table rules)")
    if report.failures:
        parts.append(f"{number(len(report.failures), 'input')} failed")
    report.totals.files.update(report.skipped)
    parts += report.totals.left_out()
    if wrote:
        names = [printable.message(str(path)) for path in wrote]
        parts.append(f"wrote {', '.join(names)}")
    return "; ".join(parts)


def _counts_of_repairs(report: Report, *, is_diff: bool) -> str:
    changed, files = report.totals.changed, report.totals.changed_documents
    if not changed:
        return "no repair is sure" if not report.failures else "no repair written"
    return f"{number(changed, 'repair')} in {number(files, 'file')} {'would be written' if is_diff else 'written'}"
