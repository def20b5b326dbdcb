"""The run of `absolve audit`: read, judge, write, repair, print the counts.

Input: the options, a folder for temporary files. Output: files, a summary, the exit status in the report.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.audit import (
    answered,
    answers,
    changed_since,
    checks,
    conclude,
    ignoring,
    judge,
    load,
    maps,
    mentions,
    outputs,
    repair,
    requests,
    robots,
    servers,
    tables,
    texts,
    why,
)
from absolve.audit.outputs import baseline
from absolve.cli import audit_live, audit_shown, audit_sites, json_array, many
from absolve.cli import options as shared
from absolve.cli.terminal import is_terminal, say, screen
from absolve.cli.totals import number
from absolve.core import printable
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.run import outputs as run_outputs
from absolve.run import sources, special_files
from absolve.run.globs import Globs
from absolve.run.load import kind_of
from absolve.urls import identity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterator, Sequence

    from absolve.audit.answered import Answers
    from absolve.audit.judge import Compare, Question
    from absolve.audit.maps import RuleSet
    from absolve.cli.audit_sites import Sites
    from absolve.cli.reporting import Report

_COUNTS: Final = "SELECT table_name, verdict, number, fixes FROM counts ORDER BY table_name, verdict"
_NEW: Final = "SELECT table_name, verdict, count(*), count(*) FILTER (is_sure) FROM news GROUP BY ALL"
_ROWS: Final = 1000
_LARGEST_MAP: Final = 256 << 20  # bytes; a map has at most a million rules
_LARGE: Final = 64 << 20  # bytes of inventories that are loaded to the disk
_GUESSED: Final = """
SELECT regexp_extract(url, '^https?://[^/?#]+') || '/' AS root, count(*) FROM {side}_documents
WHERE url IS NOT NULL AND regexp_matches(url, '^https?://') AND (media_type IN ('text/html', 'application/xhtml+xml')
    OR media_type IS NULL) AND (status IS NULL OR status < 300)
GROUP BY root ORDER BY 2 DESC, 1 LIMIT 1
"""


def run(
    options: argparse.Namespace, report: Report, folder: str, failing: Collection[str], asked: str | None = None
) -> None:
    """Run an audit; `asked` is the temporary archive of what was asked for, because URLs are inputs."""
    found = audit_sites.sites(options)
    on_disk = sum(os.path.getsize(name) for kinds in found.kinds.values() for name, _ in kinds.inventories) > _LARGE  # noqa: PTH202
    jobs = many.processes(options)
    sets = _read_maps(options, report)
    changes = _changes(options)
    heard = audit_live.given(options, report)
    report.read |= {Path(name).absolute() for name in options.maps}
    with closing(load.connect(folder, jobs, on_disk=on_disk)) as connection:
        audit_sites.read(connection, options, found, report)
        load.seal(connection, _names_of_links(found))  # before the user's queries: --queries, --sql
        question = _question(connection, options)
        _check_repairs(options, question, report)
        if options.url is None:
            text = f"the site is taken to be {question.new_url} (--url gives another)"
            report.aside(Diagnostic("assumed-url", text, options.inputs[0] if options.inputs else "--from"))
        judge.prepare(connection, question)
        for place, one in enumerate(sets):
            if judge.is_reversed(connection, question, one):
                sets[place] = _read_map(one.file, options, report, new_first=True)
        roots = [Path(), *(Path(name).parent for kinds in found.kinds.values() for name, _ in kinds.inventories)]
        read = texts.Reader(connection, shared.reading(options), roots, report.aside)
        compared = texts.comparing(read, question.threshold)
        heeded = partial(_heeded, connection, heard, options, report, folder)
        rules = _judged(connection, question, sets, compared, _names_of_links(found), heeded)
        for diagnostic in checks.oddities(connection, question):
            report.aside(diagnostic)
        ignoring.links(connection, question.ignores, read, routes=options.places == "all")
        changed_since.links(connection, changes, question.new_url)
        name = options.server.partition(",")[0]
        robots.find(connection, read, report.aside, [file for file, others in _OF_HOSTS.items() if name in others])
        texts.og_urls(connection, read)
        mentions.find(connection, question, read)
        report.totals.files -= Counter(map(kind_of, read.texts))
        conclude.conclude(connection, question, rules, failing, heard)
        wrong = checks.wrong_rules(connection), checks.of_other_hosts(question, rules)
        for diagnostic in chain(*wrong, ignoring.unused(connection, question.ignores)):
            report.aside(diagnostic)
        if options.baseline is not None:
            new, healed = baseline.compare(connection, Path(options.baseline))
            if not options.quiet:
                since = printable.printable(options.baseline)
                print(f"absolve: since {since}: {new:,} new, {healed:,} healed", file=sys.stderr)
        if asked is not None:
            load.name_by_url(connection, asked)
        wrote = _write(connection, options, failing, found, len(report.failures))
        if options.write_map is not None:
            wrote += _write_map(options.write_map, connection, rules, report)
        if options.write_requests is not None:
            wrote.append(requests.write(Path(options.write_requests), connection))
        if options.sql is not None:
            _query(connection, options)
        fixed = _fix(connection, options, found, folder, report) if options.fix else False
        if options.why is not None:
            _explain(why.Audit(connection, question, rules), options)
        _finish(connection, options, report, failing, fixed=fixed)
        if not options.quiet:
            line = audit_shown.ending(connection, report, options, wrote)
            report.end_with(lambda: line, repeats=report.lines > many.SCREEN)


def _changes(options: argparse.Namespace) -> changed_since.Changes:
    if options.changed_since is None:
        return changed_since.Changes()
    return changed_since.since(options.changed_since, [name for name in options.inputs if name != sources.STDIN])


def _judged(
    connection: Any,
    question: Question,
    sets: Sequence[RuleSet],
    compared: Compare,
    parquet: Collection[str],
    answered: Callable[[], Sequence[RuleSet]],
) -> maps.Rules:
    """Judge, and return all rules. Raise UsageError for a damaged Parquet file, or a changed query that fails."""
    import duckdb

    try:
        return judge.judge(connection, question, sets, compared, answered)
    except duckdb.Error as error:
        for wrong in load.unreadable_links(connection, parquet):
            raise UsageError(f"{wrong.name}: {wrong.text}: leave it out, or make it again") from error
        if question.queries is None:
            raise
        raise UsageError(f"--queries: {str(error).partition(chr(10))[0]}") from error


def _heeded(
    connection: Any, heard: Answers, options: argparse.Namespace, report: Report, folder: str
) -> list[RuleSet]:
    """Judge links by what servers answered, ask first if that is wanted; without a map their redirects are one."""
    if options.live is not None:
        heard.add(list(audit_live.asked(connection, heard, options, report, folder)))
    answered.of_links(connection, heard, is_whole=not options.named)
    return [answers.as_rules(answered.of_sites(connection, heard))] if not options.maps else []


def _check_repairs(options: argparse.Namespace, question: Question, report: Report) -> None:
    """Raise UsageError if repairs would be written by an assumed URL, or without one of the inputs."""
    wanted = "--fix" if options.fix else "--write-map" if options.write_map is not None else None
    if wanted is None:
        return
    if options.url is None and question.new_url.startswith(audit_sites.PLACE):
        raise UsageError(f"{wanted} needs --url URL: the URL of the new site is not known")
    missing = [name for name in (*options.old, *options.inputs) if name in report.failures]
    if missing:
        raise UsageError(f"{wanted} writes nothing, because {missing[0]} cannot be read")


def check_outputs(options: argparse.Namespace) -> None:
    """Raise UsageError for an output that cannot be written, before the sites are read."""
    for name in options.outputs:
        form = options.format or outputs.format_of(name)
        if form not in outputs.FORMATS:
            raise UsageError(f"--format {form}: choose from {', '.join(outputs.FORMATS)}")
        outputs.load(form)  # raises UsageError if a package is missing
        if name == special_files.STDOUT and not outputs.is_stream(form):
            raise UsageError(f"{form} cannot be written to the standard output: give -o FILE")
    _check_stdout(options)
    if options.write_requests is not None:
        requests.form_of(Path(options.write_requests))
    if options.write_map not in {None, special_files.STDOUT}:
        maps.form_of(Path(options.write_map))
    files = [path for name in options.outputs for path in _paths(name, options.format)]
    others = (options.write_map, options.errors, options.write_requests, options.save)
    files += [Path(name) for name in others if name not in {None, special_files.STDOUT}]
    for path in files:
        if not path.parent.is_dir():
            raise UsageError(f"the output {path}: there is no folder {path.parent}")
    shared.check_different(files)
    shared.check_not_read(files, _inputs(options))
    shared.check_outside(files, _inputs(options))


def _check_stdout(options: argparse.Namespace) -> None:
    """Raise UsageError if two results would be mixed on the standard output."""
    names = ["-o"] * sum(map(special_files.is_stdout, options.outputs))
    names += ["--write-map"] * (options.write_map is not None and special_files.is_stdout(options.write_map))
    for_people = {"--sql": options.sql is not None, "--why": options.why is not None, "--diff": options.diff}
    names += [name for name, given in for_people.items() if given]
    if len(names) > 1 and set(names) - for_people.keys():
        raise UsageError(f"{names[0]} and {names[1]} both write to the standard output: give one of them a file")


def _paths(name: str, form: str | None) -> list[Path]:
    """Return the paths of the files of an output."""
    if name == special_files.STDOUT:
        return []
    path = Path(name)
    if not outputs.is_split(form or outputs.format_of(name)):
        return [path]
    return [outputs.path_of_table(path, table) for table in (*tables.TABLES, "baseline")]


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the names of all files that the run reads, of a Parquet baseline those of its tables."""
    names = [*options.inputs, *options.old, *options.maps, *options.answers]
    names += [name for name in (options.baseline, options.url_map, options.from_) if name is not None]
    if options.queries is not None:
        names += map(str, Path(options.queries).glob("*.sql"))
    return names


def _read_maps(options: argparse.Namespace, report: Report) -> list[RuleSet]:
    """Return the maps. Raise UsageError for one that cannot be read: every verdict may depend on it."""
    try:
        found = [_read_map(name, options, report) for name in options.maps]
    except DocumentError as error:
        raise UsageError(error.message) from error
    for path in _unasked(options):
        if (of_folder := _of_folder(path, options, report)) is not None:
            found.append(of_folder)
            options.maps.append(str(path))
    return found


# Files in the root of a deployed site with the redirects of its host or server, and the servers that do not read them.
_OF_HOSTS: Final = {
    "_redirects": {"apache", "nginx", "s3", "github-pages"},
    "netlify.toml": {"apache", "nginx", "s3", "github-pages", "cloudflare"},
    ".htaccess": {"nginx", "s3", "github-pages", "netlify", "cloudflare"},
    **dict.fromkeys(("vercel.json", "staticwebapp.config.json", "web.config"), set(servers.SERVERS) - {"plain"}),
}


def _unasked(options: argparse.Namespace) -> list[Path]:
    """Return the maps in the folders of the new site that its server reads, which nobody gave."""
    server = options.server.partition(",")[0]
    given = {os.path.realpath(name) for name in options.maps}
    globs = Globs(exclude=tuple(options.exclude)).checked()
    return [
        path
        for folder in map(Path, options.inputs)
        for name, others in _OF_HOSTS.items()
        if server not in others and globs.wanted(name)
        if (path := folder / name).is_file() and not path.is_symlink() and os.path.realpath(path) not in given
    ]


def _of_folder(path: Path, options: argparse.Namespace, report: Report) -> RuleSet | None:
    """Return the rules of a file that nobody gave, with a line that names it; None for one without a rule.

    One that cannot be read is a failure: its host could not read it, either.
    """
    try:
        found = _read_map(str(path), options, report)
    except maps.NoRuleError:
        return None
    except DocumentError as error:
        report.failure(error)
        return None
    except UsageError as error:
        place = re.fullmatch(r"(?:(\d+): )?(.*)", error.message.removeprefix(f"{path}:"), re.DOTALL)
        line, text = place.groups() if place is not None else (None, error.message)
        report.aside(Diagnostic("map", text.strip(), str(path), int(line) if line else None, failed=True))
        return None
    if not found.rules:
        return None
    rules = sum(rule.problem is None for rule in found.rules)
    text = f"read as by --map: {number(rules, 'rule')} (--exclude leaves this file out)"
    report.aside(Diagnostic("own-map", text, str(path)))
    return found


def _read_map(name: str, options: argparse.Namespace, report: Report, *, new_first: bool = False) -> RuleSet:
    path = Path(name)
    form = options.map_format
    if form is None and path.name.endswith("_redirects") and options.server.startswith("cloudflare"):
        form = "cloudflare"
    most = min(options.max_size, _LARGEST_MAP)
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise sources.unreadable(name, error) from error
    if len(data) > most:
        text = f"this map has more than {most:,} bytes{' (--max-size)' if most < _LARGEST_MAP else ''}"
        raise DocumentError(Diagnostic("too-large", text, name))
    hosts = [identity.named(url) for url in (*options.old_urls, options.url) if url is not None]
    found = answers.read(name, data, shared.reading(options).settings) if form is None else None
    if found is None:
        found = maps.read(path, data, format=form, hosts=hosts, new_first=new_first)
        maps.check(found)
    if found.hidden:
        report.note("table", f"{name}: left out: {number(found.hidden, 'row')} that the sheet hides, as by a filter")
    if found.words and options.verbose:
        report.note("table", f"{name}: {found.words}")
    return found


def _explain(audited: why.Audit, options: argparse.Namespace) -> None:
    for line in why.explained(audited, options.why):
        print(printable.message(line, credentials=options.show_credentials))


def _fix(connection: Any, options: argparse.Namespace, found: Sites, folder: str, report: Report) -> bool:
    """Write the repairs, or print them; return whether they were written."""
    path = str(Path(folder) / "fixes.sqlite")
    if not repair.write(connection, path):
        return False
    audit_sites.fix(path, options, found, report)
    return not options.diff


def _question(connection: Any, options: argparse.Namespace) -> Question:
    """Return what is asked, with the URLs of both sites: those given, else those that most documents have."""
    new_url = options.url or _guessed(connection, load.NEW)
    if new_url is None:
        raise UsageError("NEW has no document with a URL: give --url URL, and a folder or an inventory with documents")
    old_url, *others = options.old_urls or [_guessed(connection, load.OLD)]
    return judge.Question(
        _root(new_url, options.inputs),
        _root(old_url, options.old) if old_url is not None else None,
        servers.named(options.server),
        options.similar,
        tuple(map(_entry, options.entry)),
        Path(options.queries) if options.queries is not None else None,
        tuple(_ignores(options)),
        tuple(map(judge.root, others)),
    )


def _root(url: str, names: Sequence[str]) -> str:
    """Return the URL of the root of a site: that of a folder may lack its final slash."""
    return judge.root(f"{url.rstrip('/')}/" if any(map(os.path.isdir, names)) else url)


def _ignores(options: argparse.Namespace) -> Iterator[ignoring.Ignore]:
    yield from ignoring.of_texts(options.ignore, "--ignore")
    for name in options.ignore_file:
        yield from ignoring.of_file(Path(name))


def _entry(url: str) -> str:
    if identity.normal(url) is None:
        raise UsageError(f"--entry {url!r} is not an absolute URL")
    return url


def _guessed(connection: Any, side: str) -> str | None:
    rows = connection.execute(_GUESSED.format(side=side)).fetchall()
    return rows[0][0] if rows else None


def _how(options: argparse.Namespace, failing: Collection[str], roots: tuple[Path, ...] = ()) -> outputs.Options:
    return outputs.Options(frozenset(failing), options.show_credentials, options.format, roots)


def _write(
    connection: Any, options: argparse.Namespace, failing: Collection[str], found: Sites, failed: int
) -> list[Path]:
    """Write the outputs; return the paths of their files. `failed`: how many inputs could not be read."""
    how = _how(options, failing, tuple(map(Path, found.kinds[load.NEW].documents)))  # not what an inventory names
    how = how._replace(failed=failed)
    return [path for name in options.outputs for path in outputs.write(connection, Path(name), how)]


def _write_map(name: str, connection: Any, rules: maps.Rules, report: Report) -> list[Path]:
    """Write the maps as one, with the rules that are sure: for content that is elsewhere now. Return its path.

    Its name decides its format, on the standard output that of the first map.
    """
    form = maps.form_of(Path(name)) if name != special_files.STDOUT else maps.form_like(rules.form)
    added = connection.execute("SELECT url, final FROM urls WHERE verdict = 'moved' ORDER BY url").fetchall()
    written = maps.written(form, rules, added)
    for rule, reason in written.left_out:
        place = (rule.file, rule.line) if rule.file else ("--write-map", None)
        report.finding(Diagnostic("left-out", f"{rule.text}: {reason}", *place))
    if name == special_files.STDOUT:
        with run_outputs.stdout() as file:
            file.write(written.data)
        return []
    run_outputs.write(Path(name), written.data)
    return [Path(name)]


def _names_of_links(found: Sites) -> list[str]:
    """Return the names of the Parquet files whose links stay there."""
    return [name for kinds in found.kinds.values() for name, kind in kinds.inventories if kind == "parquet"]


def _query(connection: Any, options: argparse.Namespace) -> None:
    """Print the result of a query: cells separated by tabs, or JSON. It can only read the tables."""
    import duckdb

    cursor = connection.cursor()
    try:
        statements = cursor.extract_statements(options.sql)
        reads = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
        if len(statements) != 1 or statements[0].type not in reads:
            raise UsageError("--sql takes one query: SELECT, FROM, DESCRIBE, SUMMARIZE or EXPLAIN")
        cursor.execute(statements[0])
        names = [column[0] for column in cursor.description or ()]
        with json_array.array(options) as add:
            if add is None:
                print("\t".join(map(printable.message, names)))
            while rows := cursor.fetchmany(_ROWS):
                for row in rows:
                    if add is not None:
                        add(dict(zip(names, row, strict=True)))
                    else:
                        print("\t".join("" if cell is None else printable.message(str(cell)) for cell in row))
    except duckdb.Error as error:
        raise UsageError(f"--sql: {str(error).partition(chr(10))[0]}") from error


def _finish(
    connection: Any, options: argparse.Namespace, report: Report, failing: Collection[str], *, fixed: bool
) -> None:
    """Print the summary, on a terminal with the findings, and set the exit status. `fixed`: the repairs are written."""
    counts = connection.execute(_COUNTS).fetchall()
    news = connection.execute(_NEW).fetchall() if options.baseline is not None else []
    fresh = {(table, verdict): count for table, verdict, count, _ in news}
    takes_stdout = options.sql is not None or options.why is not None or options.diff
    takes_stdout = takes_stdout or any(
        special_files.is_stdout(name) for name in (*options.outputs, options.write_map) if name is not None
    )
    if not options.quiet and not takes_stdout:
        how, on_terminal = _how(options, failing), is_terminal(sys.stdout)
        view = screen(sys.stdout)
        if on_terminal and not options.outputs:
            for line in audit_shown.lines(connection, how, view, fixed=fixed):
                say(line, sys.stdout)
        for table, verdict, count, _ in counts:
            word = f"{verdict:12}"
            word = audit_shown.painted(verdict, word, how, view) if on_terminal else word
            some = f", {fresh[table, verdict]:,} new" if (table, verdict) in fresh else ""
            say(f"{table:6} {word} {count:>10,}{some}", sys.stdout)
    deciding = counts if options.baseline is None else news
    if any(verdict in failing and (not fixed or count > sure) for _, verdict, count, sure in deciding):
        report.has_findings = True
