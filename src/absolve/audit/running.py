"""Run an audit: read both sites and the maps, judge, and create the result tables; nothing is printed.

In: an `AuditJob`, the run context, a folder for temporary files. Out: the connection with
the result tables of `absolve.audit.tables`. The command and the library write and show them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import closing, contextmanager, suppress
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
from absolve.rules import forms, structured
from absolve.rules.cells import decoded
from absolve.run import plan, sources
from absolve.run.folders import Globs
from absolve.run.load import kind_of
from absolve.urls import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from absolve.audit.answered import Answers
    from absolve.audit.judge import Compare, Question
    from absolve.audit.sites import AuditJob, Sites
    from absolve.rules.model import RuleSet
    from absolve.rules.outcomes import Rules
    from absolve.run.results import RunContext

_LARGE: Final = 64 << 20  # bytes of inventories that are loaded to the disk
_GENERATORS: Final = (  # whose settings are beside the Markdown that they make pages of
    "mkdocs.yml mkdocs.yaml zensical.toml .vitepress docusaurus.config.js docusaurus.config.ts astro.config.mjs"
    " hugo.toml hugo.yaml book.toml _config.yml _quarto.yml"
).split()
# Files beside the folders of hosts do not count: their URLs are assumed.
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
    """Return the names of all files that the run reads."""
    names = [*job.inputs, *job.old, *job.maps, *job.answers]
    names += [text[1:] for text in job.ignore if text.startswith("@")]
    names += [name for name in (job.baseline, job.url_map, job.from_, job.cookies) if name is not None]
    return names


class Audited(NamedTuple):
    """A finished audit: the result tables, the question and rules, the inputs, and the files that were read as text.

    `since`: the numbers of new and of healed findings since a baseline.
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
    context: RunContext,
    folder: str,
    failing: Collection[str],
    ask: Callable[[Any, Answers], None] | None = None,
) -> Iterator[Audited]:
    """Run an audit, and yield it while the tables are open. `ask` adds answers of servers to the recorded ones."""
    reports = context.reports
    found = sites.sites(job)
    new = found.kinds[load.NEW]
    others = (new.documents, new.inventories, job.old, job.answers, job.maps, job.from_)
    if new.lists and ask is None and not any(others):
        text = "a list of URLs has no links: give the files of the site too, or ask its server: --live new"
        raise UsageError(f"{new.lists[0][0]}: {text}")
    inventories = [sources.local(name) for kinds in found.kinds.values() for name, _ in kinds.inventories]
    on_disk = sum(map(os.path.getsize, inventories)) > _LARGE
    sets = _read_maps(job, context)
    changes = _changes(job)
    known_answers = _known_answers(job, context)
    reports.read |= {Path(name).absolute() for name in job.maps}
    with closing(load.connect(folder, context.jobs, on_disk=on_disk)) as connection:
        sites.read(connection, job, found, context)
        load.tune_for_small_sites(connection)
        load.seal(connection, _parquet_links(found))  # before the user's queries: --sql
        question = _question(connection, job, context)
        _check_repairs(job, question, context)
        if job.url is None:
            text = f"the site is taken to be {question.new_url} (--url gives another)"
            reports.aside(Diagnostic("assumed-url", text, job.inputs[0] if job.inputs else "--from"))
        judge.prepare(connection, question)
        for place, one in enumerate(sets):
            if judge.is_reversed(connection, question, one):
                sets[place] = _noted(forms.swapped(one, _hosts(job)), job, context)
        read = texts.Reader(connection, context.reading, _roots(found), reports.aside)
        compared = texts.comparing(read, question.threshold)

        def judge_by_answers() -> Sequence[RuleSet]:
            """Judge links by the answers of servers; without maps, redirects among the answers are a map."""
            if ask is not None:
                ask(connection, known_answers)
            answered.judge_links(connection, known_answers, is_whole=not job.named)
            judge.insert(connection, "on_disk", sites.on_disk(connection))
            return [answers.as_rules(answered.site_answers(connection, known_answers))] if not job.maps else []

        rules = _judged(connection, question, sets, compared, _parquet_links(found), judge_by_answers)
        texts.metas(connection, read)
        texts.find_menus(connection, read)
        texts.find_languages(connection, read)
        judge.try_bases_of_feeds(connection)
        judge.run(connection, "56_relative.sql")
        repair.add(connection, question.new_url)
        for diagnostic in conclude.oddities(connection, question):
            reports.aside(diagnostic)
        ignoring.links(connection, question.ignores, read, routes=job.places == "all")
        ignoring.leave_out_unchanged(connection, changes, question.new_url)
        unread = [name for name in servers.SERVERS["plain"].reads if name not in question.server.reads]
        robots.find(connection, read, reports.aside, unread)
        texts.find_mentions(connection, question, read)
        conclude.conclude(connection, question, rules, failing, known_answers, len(reports.failures))
        wrong = conclude.wrong_rules(connection), conclude.foreign_hosts(question, rules)
        for diagnostic in chain(*wrong, ignoring.unused(connection, question.ignores)):
            reports.aside(diagnostic)
        since = baseline.compare(connection, Path(job.baseline)) if job.baseline is not None else None
        yield Audited(connection, question, rules, found, Counter(map(kind_of, read.texts)), since)


def _roots(found: Sites) -> list[Path]:
    return [Path(), *(Path(name).parent for kinds in found.kinds.values() for name, _ in kinds.inventories)]


def _known_answers(job: AuditJob, context: RunContext) -> Answers:
    """Return the answers in the files of --answers."""
    found = answered.Answers()
    for name in job.answers:
        context.reports.read.add(Path(name).absolute())
        try:
            found.add([*read_answers(name, job, context)])
        except DocumentError as error:
            context.reports.failure(error)
    return found


def read_answers(name: str, job: AuditJob, context: RunContext) -> Iterator[answers.Answer]:
    """Yield the answers in a file. What is an input itself is known from its documents."""
    pages = name not in job.inputs
    found = answers.read_answers(name, context.reading.settings, notify=context.reports.finding, pages=pages)
    return as_public(found, job)


def as_public(found: Iterable[answers.Answer], job: AuditJob) -> Iterator[answers.Answer]:
    """Yield answers, also for the site's URL where a server of --resolve answers on its own port.

    For example, nginx redirects `https://new.example/a` to `http://new.example:8080/a/`.
    """
    schemes = {urlsplit(url).hostname: urlsplit(url).scheme for url in [*job.old_urls, job.url] if url}
    names = {}
    for host, place in job.resolve:
        parts = urlsplit(place)
        names[f"{parts.scheme}://{host}:{parts.port}"] = f"{schemes.get(host, parts.scheme)}://{host}"

    def public(url: str) -> str:
        origin = identity.origin(url)
        return f"{names.get(origin, origin)}{url[len(origin) :]}"

    for one in found:
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


def _check_repairs(job: AuditJob, question: Question, context: RunContext) -> None:
    """Raise UsageError if repairs would be written by an assumed URL, or without one of the inputs."""
    wanted = "--fix" if job.fix else "--write-map" if job.write_map is not None else None
    if wanted is None:
        return
    if job.url is None and question.new_url.startswith(PLACE):
        raise UsageError(f"{wanted} needs --url URL: the URL of the new site is not known")
    missing = [name for name in (*job.old, *job.inputs) if name in context.reports.failures]
    if missing:
        raise UsageError(f"{wanted} writes nothing, because {missing[0]} cannot be read")


def _read_maps(job: AuditJob, context: RunContext) -> list[RuleSet]:
    """Return the maps. Raise UsageError for an unreadable map: every verdict may depend on it."""
    try:
        found = [_read_map(name, job, context) for name in job.maps]
    except DocumentError as error:
        raise UsageError(error.message) from error
    for path in _unasked(job):
        if (own_map := _own_map(path, job, context)) is not None:
            found.append(own_map)
            job.maps.append(str(path))
    return found


def _unasked(job: AuditJob) -> list[Path]:
    """Return the maps in the folders of the new site that its server reads and the user did not name."""
    named = {os.path.realpath(name) for name in job.maps}
    globs = Globs(exclude=tuple(job.exclude)).checked()
    return [
        path
        for folder in map(Path, job.inputs)
        for name in servers.named(job.server).reads
        if globs.wanted(name)
        if (path := folder / name).is_file() and not path.is_symlink() and os.path.realpath(path) not in named
    ]


def _own_map(path: Path, job: AuditJob, context: RunContext) -> RuleSet | None:
    """Return the rules of a map that the user did not name, and report it; None for a file without rules.

    An unreadable file is a failure, since its host could not read it, either.
    """
    try:
        found = _read_map(str(path), job, context)
    except forms.NoRuleError:
        return None
    except DocumentError as error:
        context.reports.failure(error)
        return None
    except UsageError as error:
        place = re.fullmatch(r"(?:(\d+): )?(.*)", error.message.removeprefix(f"{path}:"), re.DOTALL)
        line, text = place.groups() if place is not None else (None, error.message)
        context.reports.aside(Diagnostic("map", text.strip(), str(path), int(line) if line else None, failed=True))
        return None
    if not found.rules:
        return None
    rules = sum(rule.problem is None for rule in found.rules)
    text = f"read as by --map: {number(rules, 'rule')} (--exclude leaves this file out)"
    context.reports.aside(Diagnostic("own-map", text, str(path)))
    return found


def _read_map(name: str, job: AuditJob, context: RunContext) -> RuleSet:
    path = Path(name)
    is_cloudflare = path.name.endswith("_redirects") and job.server.startswith("cloudflare")
    form = "cloudflare" if is_cloudflare else None
    data = sources.of_option(name, job.max_size)
    found = answers.read(name, data, context.reading.settings) if form is None else None
    if found is None:
        found = forms.read(path, data, format=form, hosts=_hosts(job), folder=_folder_on_site(path, job))
        if found.rules or not _configured(servers.named("plain"), name, job)[1]:
            forms.check(found)
    for diagnostic in forms.doubts(found):
        context.reports.aside(diagnostic)
    return _noted(found, job, context)


def _folder_on_site(path: Path, job: AuditJob) -> str:
    """Return the path of a file's folder on the new site, such as `/blog/`; "" for the root and outside it."""
    folder, roots = path.resolve().parent, [Path(name).resolve() for name in job.inputs]
    place = folder.relative_to(next(filter(folder.is_relative_to, roots), folder)).as_posix()
    return "" if place == "." else f"{urlsplit(job.url or '').path.rstrip('/')}/{place}/"


def _hosts(job: AuditJob) -> list[str]:
    return [identity.named(url) for url in (*job.old_urls, job.url) if url is not None]


def _noted(found: RuleSet, job: AuditJob, context: RunContext) -> RuleSet:
    """Return the rules of a map, with notes about how a table was read."""
    if found.hidden:
        hidden = number(found.hidden, "row")
        context.reports.note("table", f"{found.file}: left out: {hidden} that the sheet hides, as by a filter")
    if found.words and job.verbose:
        context.reports.note("table", f"{found.file}: {found.words}")
    return found


def _server(job: AuditJob, context: RunContext) -> servers.Server:
    """Return the server of the new site, as vercel.json and firebase.json change it, and report how."""
    server = servers.named(job.server)
    for name in dict.fromkeys([*job.maps, *map(str, _unasked(job))]):
        with suppress(DocumentError, UsageError):  # reading its rules reports that
            server, words = _configured(server, name, job)
            if words:
                context.reports.aside(Diagnostic("own-map", f"read as --server {','.join(words)}", name))
    return server


def _configured(server: servers.Server, name: str, job: AuditJob) -> tuple[servers.Server, list[str]]:
    """Return the server as a map changes it that is a vercel.json or firebase.json, with the words for that."""
    if not name.endswith(("vercel.json", "firebase.json")):
        return server, []
    return servers.configured(server, structured.parse_text(name, decoded(sources.of_option(name, job.max_size))))


def _question(connection: Any, job: AuditJob, context: RunContext) -> Question:
    """Return the question, with the URLs of both sites from the job, or the roots of most documents."""
    new_url = job.url or _guessed(connection, load.NEW)
    if new_url is None and judge.has_rows(connection, "FROM new_links"):
        new_url = PLACE  # of a message
    if new_url is None:
        raise UsageError("NEW has no document with a URL: give --url URL, and a folder or an inventory with documents")
    old_url = job.old_urls[0] if job.old_urls else _guessed(connection, load.OLD)
    settings = [Path(name, at, one) for name in job.inputs for at in (".", "..", "docs") for one in _GENERATORS]
    return judge.Question(
        _root(new_url, job.inputs),
        _root(old_url, job.old) if old_url is not None else None,
        _server(job, context),
        job.similar,
        tuple(ignoring.parse_patterns(job.ignore, job.max_size)),
        tuple(map(judge.root, job.old_urls[1:])),
        any(map(os.path.lexists, settings)),
    )


def _root(url: str, names: Sequence[str]) -> str:
    """Return the root URL of a site; for a folder, its final slash may be missing."""
    return judge.root(f"{url.rstrip('/')}/" if any(map(os.path.isdir, names)) else url)


def _guessed(connection: Any, side: str) -> str | None:
    rows = connection.execute(_GUESSED.format(side=side), {"assumed": ASSUMED, "folder": HOST_FOLDER}).fetchall()
    return rows[0][0] if rows else None


def _parquet_links(found: Sites) -> list[str]:
    """Return the names of the Parquet files whose links stay in them."""
    return [name for kinds in found.kinds.values() for name, kind in kinds.inventories if kind == "parquet"]


