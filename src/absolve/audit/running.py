"""The course of an audit: read both sites and the maps, judge, and leave the result tables; nothing is printed.

In: an `AuditJob`, the course of the run, a folder for temporary files. Out: the connection
with the result tables of `absolve.audit.tables`. The command and the library write and show them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from absolve.audit import (
    answered,
    answers,
    conclude,
    ignoring,
    judge,
    load,
    repair,
    robots,
    servers,
    sites,
    texts,
)
from absolve.audit.outputs import baseline
from absolve.audit.verdicts import PLACE
from absolve.core.errors import Diagnostic, DocumentError, UsageError
from absolve.core.printable import number
from absolve.document.base_layers import ASSUMED, HOST_FOLDER
from absolve.rules import forms
from absolve.run import plan, sources
from absolve.run.folders import Globs
from absolve.run.load import kind_of
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from absolve.audit.answered import Answers
    from absolve.audit.judge import Compare, Question
    from absolve.audit.sites import AuditJob, Sites
    from absolve.rules.model import RuleSet
    from absolve.rules.outcomes import Rules
    from absolve.run.results import Course

_LARGE: Final = 64 << 20  # bytes of inventories that are loaded to the disk
# Files beside the folders of hosts have a URL only because an audit gives each file one.
_GUESSED: Final = """
SELECT regexp_extract(url, '^https?://[^/?#]+') || '/' AS root,
    count(*) FILTER (media_type IN ('text/html', 'application/xhtml+xml') OR media_type IS NULL) AS pages
FROM {side}_documents WHERE regexp_matches(url, '^https?://') AND (status IS NULL OR status < 300)
    AND NOT (url_source = $assumed AND EXISTS (FROM {side}_documents WHERE url_source = $folder))
GROUP BY root ORDER BY pages DESC, count(*) DESC, root LIMIT 1
"""


def check_outputs(job: AuditJob, files: Sequence[Path]) -> None:
    """Raise UsageError for a file that cannot be written, or that the run reads or writes a second time."""
    for path in files:
        if not path.parent.is_dir():
            raise UsageError(f"the output {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise UsageError(f"the output {path} is a folder: give the name of a file")
    plan.check_different(files)
    plan.check_not_read(files, _read(job))
    plan.check_outside(files, _read(job))


def _read(job: AuditJob) -> list[str]:
    """Return the names of all files that the run reads, of a Parquet baseline those of its tables."""
    names = [*job.inputs, *job.old, *job.maps, *job.answers]
    names += [text[1:] for text in job.ignore if text.startswith("@")]
    names += [name for name in (job.baseline, job.url_map, job.from_, job.cookies) if name is not None]
    return names


class Audited(NamedTuple):
    """What an audit has found: the result tables, how it judged, and files of the sites that nothing has read.

    `since` has the numbers of findings that are new, and of those that are healed, since a baseline.
    """

    connection: Any
    question: Question
    rules: Rules
    found: Sites
    read_as_text: Counter[str]
    since: tuple[int, int] | None


@contextmanager
def audited(
    job: AuditJob,
    course: Course,
    folder: str,
    failing: Collection[str],
    ask: Callable[[Any, Answers], None] | None = None,
) -> Iterator[Audited]:
    """Run an audit, and yield what it found, while the tables are open. `ask` adds what servers answer now."""
    reports = course.reports
    found = sites.sites(job)
    inventories = [sources.local(name) for kinds in found.kinds.values() for name, _ in kinds.inventories]
    on_disk = sum(map(os.path.getsize, inventories)) > _LARGE
    sets = _read_maps(job, course)
    changes = _changes(job)
    heard = _given_answers(job, course)
    reports.read |= {Path(name).absolute() for name in job.maps}
    with closing(load.connect(folder, course.jobs, on_disk=on_disk)) as connection:
        sites.read(connection, job, found, course)
        load.settle(connection)
        load.seal(connection, _names_of_links(found))  # before the user's queries: --sql
        question = _question(connection, job)
        _check_repairs(job, question, course)
        if job.url is None:
            text = f"the site is taken to be {question.new_url} (--url gives another)"
            reports.aside(Diagnostic("assumed-url", text, job.inputs[0] if job.inputs else "--from"))
        judge.prepare(connection, question)
        for place, one in enumerate(sets):
            if judge.is_reversed(connection, question, one):
                sets[place] = _noted(forms.swapped(one, _hosts(job)), job, course)
        read = texts.Reader(connection, course.reading, _roots(found), reports.aside)
        compared = texts.comparing(read, question.threshold)

        def heeded() -> Sequence[RuleSet]:
            """Judge links by what servers answered; without a map their redirects are one."""
            if ask is not None:
                ask(connection, heard)
            answered.of_links(connection, heard, is_whole=not job.named)
            judge.insert(connection, "on_disk", sites.on_disk(connection))
            return [answers.as_rules(answered.of_sites(connection, heard))] if not job.maps else []

        rules = _judged(connection, question, sets, compared, _names_of_links(found), heeded)
        repair.add(connection, question.new_url)
        for diagnostic in conclude.oddities(connection, question):
            reports.aside(diagnostic)
        ignoring.links(connection, question.ignores, read, routes=job.places == "all")
        ignoring.leave_out_unchanged(connection, changes, question.new_url)
        name = job.server.partition(",")[0]
        robots.find(connection, read, reports.aside, [file for file, others in _OF_HOSTS.items() if name in others])
        texts.og_urls(connection, read)
        texts.find_mentions(connection, question, read)
        conclude.conclude(connection, question, rules, failing, heard, len(reports.failures))
        wrong = conclude.wrong_rules(connection), conclude.of_other_hosts(question, rules)
        for diagnostic in chain(*wrong, ignoring.unused(connection, question.ignores)):
            reports.aside(diagnostic)
        since = baseline.compare(connection, Path(job.baseline)) if job.baseline is not None else None
        yield Audited(connection, question, rules, found, Counter(map(kind_of, read.texts)), since)


def _roots(found: Sites) -> list[Path]:
    return [Path(), *(Path(name).parent for kinds in found.kinds.values() for name, _ in kinds.inventories)]


def _given_answers(job: AuditJob, course: Course) -> Answers:
    """Return the answers in the files of --answers."""
    found = answered.Answers()
    for name in job.answers:
        course.reports.read.add(Path(name).absolute())
        try:
            found.add([*heard(name, job, course)])
        except DocumentError as error:
            course.reports.failure(error)
    return found


def heard(name: str, job: AuditJob, course: Course) -> Iterator[answers.Answer]:
    """Yield the answers in a file; a server that --resolve names may redirect to its own port, as nginx does.

    What it answers there counts for the site, too.
    """
    schemes = {urlsplit(url).hostname: urlsplit(url).scheme for url in [*job.old_urls, job.url] if url}
    names = {}
    for host, place in job.resolve:
        parts = urlsplit(place)
        names[f"{parts.scheme}://{host}:{parts.port}"] = f"{schemes.get(host, parts.scheme)}://{host}"

    def public(url: str) -> str:
        origin = identity.origin(url)
        return f"{names.get(origin, origin)}{url[len(origin) :]}"

    for one in answers.heard(name, course.reading.settings, notify=course.reports.finding):
        yield one
        if names and (own := one._replace(url=public(one.url), target=one.target and public(one.target))) != one:
            yield own


def _changes(job: AuditJob) -> ignoring.Changes:
    if job.changed_since is None:
        return ignoring.Changes()
    return ignoring.since(job.changed_since, [name for name in job.inputs if name != sources.STDIN])


def _judged(
    connection: Any,
    question: Question,
    sets: Sequence[RuleSet],
    compared: Compare,
    parquet: Collection[str],
    answered: Callable[[], Sequence[RuleSet]],
) -> Rules:
    """Judge, and return all rules. Raise UsageError for a damaged Parquet file."""
    import duckdb

    try:
        return judge.judge(connection, question, sets, compared, answered)
    except duckdb.Error as error:
        for wrong in load.unreadable_links(connection, parquet):
            raise UsageError(f"{wrong.name}: {wrong.text}: leave it out, or make it again") from error
        raise


def _check_repairs(job: AuditJob, question: Question, course: Course) -> None:
    """Raise UsageError if repairs would be written by an assumed URL, or without one of the inputs."""
    wanted = "--fix" if job.fix else "--write-map" if job.write_map is not None else None
    if wanted is None:
        return
    if job.url is None and question.new_url.startswith(PLACE):
        raise UsageError(f"{wanted} needs --url URL: the URL of the new site is not known")
    missing = [name for name in (*job.old, *job.inputs) if name in course.reports.failures]
    if missing:
        raise UsageError(f"{wanted} writes nothing, because {missing[0]} cannot be read")


def _read_maps(job: AuditJob, course: Course) -> list[RuleSet]:
    """Return the maps. Raise UsageError for one that cannot be read: every verdict may depend on it."""
    try:
        found = [_read_map(name, job, course) for name in job.maps]
    except DocumentError as error:
        raise UsageError(error.message) from error
    for path in _unasked(job):
        if (of_folder := _of_folder(path, job, course)) is not None:
            found.append(of_folder)
            job.maps.append(str(path))
    return found


# Files in the root of a deployed site with the redirects of its host or server, and the servers that do not read them.
_OF_HOSTS: Final = {
    "_redirects": {"apache", "nginx", "s3", "github-pages"},
    "netlify.toml": {"apache", "nginx", "s3", "github-pages", "cloudflare"},
    ".htaccess": {"nginx", "s3", "github-pages", "netlify", "cloudflare"},
    **dict.fromkeys(("vercel.json", "staticwebapp.config.json", "web.config"), set(servers.SERVERS) - {"plain"}),
}


def _unasked(job: AuditJob) -> list[Path]:
    """Return the maps in the folders of the new site that its server reads, which nobody gave."""
    server = job.server.partition(",")[0]
    given = {os.path.realpath(name) for name in job.maps}
    globs = Globs(exclude=tuple(job.exclude)).checked()
    return [
        path
        for folder in map(Path, job.inputs)
        for name, others in _OF_HOSTS.items()
        if server not in others and globs.wanted(name)
        if (path := folder / name).is_file() and not path.is_symlink() and os.path.realpath(path) not in given
    ]


def _of_folder(path: Path, job: AuditJob, course: Course) -> RuleSet | None:
    """Return the rules of a file that nobody gave, with a line that names it; None for one without a rule.

    One that cannot be read is a failure: its host could not read it, either.
    """
    try:
        found = _read_map(str(path), job, course)
    except forms.NoRuleError:
        return None
    except DocumentError as error:
        course.reports.failure(error)
        return None
    except UsageError as error:
        place = re.fullmatch(r"(?:(\d+): )?(.*)", error.message.removeprefix(f"{path}:"), re.DOTALL)
        line, text = place.groups() if place is not None else (None, error.message)
        course.reports.aside(Diagnostic("map", text.strip(), str(path), int(line) if line else None, failed=True))
        return None
    if not found.rules:
        return None
    rules = sum(rule.problem is None for rule in found.rules)
    text = f"read as by --map: {number(rules, 'rule')} (--exclude leaves this file out)"
    course.reports.aside(Diagnostic("own-map", text, str(path)))
    return found


def _read_map(name: str, job: AuditJob, course: Course) -> RuleSet:
    path = Path(name)
    is_cloudflare = path.name.endswith("_redirects") and job.server.startswith("cloudflare")
    form = "cloudflare" if is_cloudflare else None
    data = sources.of_option(name, job.max_size)
    found = answers.read(name, data, course.reading.settings) if form is None else None
    if found is None:
        found = forms.read(path, data, format=form, hosts=_hosts(job))
        forms.check(found)
    for diagnostic in forms.doubts(found):
        course.reports.aside(diagnostic)
    return _noted(found, job, course)


def _hosts(job: AuditJob) -> list[str]:
    return [identity.named(url) for url in (*job.old_urls, job.url) if url is not None]


def _noted(found: RuleSet, job: AuditJob, course: Course) -> RuleSet:
    """Return the rules of a map, with notes about how a table was read."""
    if found.hidden:
        hidden = number(found.hidden, "row")
        course.reports.note("table", f"{found.file}: left out: {hidden} that the sheet hides, as by a filter")
    if found.words and job.verbose:
        course.reports.note("table", f"{found.file}: {found.words}")
    return found


def _question(connection: Any, job: AuditJob) -> Question:
    """Return what is asked, with the URLs of both sites: those given, or those that most documents have."""
    new_url = job.url or _guessed(connection, load.NEW)
    if new_url is None:
        raise UsageError("NEW has no document with a URL: give --url URL, and a folder or an inventory with documents")
    old_url = job.old_urls[0] if job.old_urls else _guessed(connection, load.OLD)
    return judge.Question(
        _root(new_url, job.inputs),
        _root(old_url, job.old) if old_url is not None else None,
        servers.named(job.server),
        job.similar,
        tuple(ignoring.of_texts(job.ignore, job.max_size)),
        tuple(map(judge.root, job.old_urls[1:])),
    )


def _root(url: str, names: Sequence[str]) -> str:
    """Return the URL of the root of a site: that of a folder may lack its final slash."""
    return judge.root(f"{url.rstrip('/')}/" if any(map(os.path.isdir, names)) else url)


def _guessed(connection: Any, side: str) -> str | None:
    rows = connection.execute(_GUESSED.format(side=side), {"assumed": ASSUMED, "folder": HOST_FOLDER}).fetchall()
    return rows[0][0] if rows else None


def _names_of_links(found: Sites) -> list[str]:
    """Return the names of the Parquet files whose links stay there."""
    return [name for kinds in found.kinds.values() for name, kind in kinds.inventories if kind == "parquet"]


