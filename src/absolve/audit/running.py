"""Run an audit: read both sites and the maps, judge, and create the result tables; nothing is printed.

In: the options by their names in the command, the run context, a folder for temporary files. Out: the connection with
the result tables of `absolve.audit.tables`. The command and the library write and show them.
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
    from absolve.audit.sites import Sites
    from absolve.rules.model import RuleSet
    from absolve.rules.outcomes import Rules
    from absolve.run.results import RunContext

_LARGEST_MAP: Final = 256 << 20  # bytes; a map has at most a million rules
_LARGE: Final = 64 << 20  # bytes of inventories that are loaded to the disk
# Files beside the folders of hosts do not count: their URLs are assumed.
_GUESSED: Final = """
SELECT regexp_extract(url, '^https?://[^/?#]+') || '/' AS root,
    count(*) FILTER (media_type IN ('text/html', 'application/xhtml+xml') OR media_type IS NULL) AS pages
FROM {side}_documents WHERE regexp_matches(url, '^https?://') AND (status IS NULL OR status < 300)
    AND NOT (url_source = $assumed AND EXISTS (FROM {side}_documents WHERE url_source = $folder))
GROUP BY root ORDER BY pages DESC, count(*) DESC, root LIMIT 1
"""


def check_outputs(options: Any, files: Sequence[Path]) -> None:
    """Raise UsageError for a file that cannot be written, or that the run reads or writes a second time."""
    for path in files:
        if not path.parent.is_dir():
            raise UsageError(f"the output {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise UsageError(f"the output {path} is a folder: give the name of a file")
    plan.check_different(files)
    plan.check_not_read(files, _read(options))
    plan.check_outside(files, _read(options))


def _read(options: Any) -> list[str]:
    """Return the names of all files that the run reads."""
    names = [*options.inputs, *options.old, *options.maps, *options.answers]
    names += [text[1:] for text in options.ignore if text.startswith("@")]
    names += [name for name in (options.baseline, options.url_map, options.from_, options.cookies) if name is not None]
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
    options: Any,
    context: RunContext,
    folder: str,
    failing: Collection[str],
    ask: Callable[[Any, Answers], None] | None = None,
) -> Iterator[Audited]:
    """Run an audit, and yield it while the tables are open. `ask` adds answers of servers to the recorded ones."""
    reports = context.reports
    found = sites.sites(options)
    inventories = [sources.local(name) for kinds in found.kinds.values() for name, _ in kinds.inventories]
    on_disk = sum(map(os.path.getsize, inventories)) > _LARGE
    sets = _read_maps(options, context)
    changes = _changes(options)
    known_answers = _known_answers(options, context)
    reports.read |= {Path(name).absolute() for name in options.maps}
    with closing(load.connect(folder, context.jobs, on_disk=on_disk)) as connection:
        sites.read(connection, options, found, context)
        load.tune_for_small_sites(connection)
        load.seal(connection, _parquet_links(found))  # before the user's queries: --sql
        question = _question(connection, options)
        _check_repairs(options, question, context)
        if options.url is None:
            text = f"the site is taken to be {question.new_url} (--url gives another)"
            reports.aside(Diagnostic("assumed-url", text, options.inputs[0] if options.inputs else "--from"))
        judge.prepare(connection, question)
        for place, one in enumerate(sets):
            if judge.is_reversed(connection, question, one):
                sets[place] = _noted(forms.swapped(one, _hosts(options)), options, context)
        read = texts.Reader(connection, context.reading, _roots(found), reports.aside)
        compared = texts.comparing(read, question.threshold)

        def judge_by_answers() -> Sequence[RuleSet]:
            """Judge links by the answers of servers; without maps, redirects among the answers are a map."""
            if ask is not None:
                ask(connection, known_answers)
            answered.judge_links(connection, known_answers, is_whole=not options.named)
            judge.insert(connection, "on_disk", sites.on_disk(connection))
            return [answers.as_rules(answered.site_answers(connection, known_answers))] if not options.maps else []

        rules = _judged(connection, question, sets, compared, _parquet_links(found), judge_by_answers)
        repair.add(connection)
        for diagnostic in conclude.oddities(connection, question):
            reports.aside(diagnostic)
        ignoring.links(connection, question.ignores, read, routes=options.places == "all")
        ignoring.leave_out_unchanged(connection, changes, question.new_url)
        name = options.server.partition(",")[0]
        robots.find(connection, read, reports.aside, [file for file, others in _HOST_FILES.items() if name in others])
        texts.og_urls(connection, read)
        texts.find_mentions(connection, question, read)
        conclude.conclude(connection, question, rules, failing, known_answers, len(reports.failures))
        wrong = conclude.wrong_rules(connection), conclude.foreign_hosts(question, rules)
        for diagnostic in chain(*wrong, ignoring.unused(connection, question.ignores)):
            reports.aside(diagnostic)
        since = baseline.compare(connection, Path(options.baseline)) if options.baseline is not None else None
        yield Audited(connection, question, rules, found, Counter(map(kind_of, read.texts)), since)


def _roots(found: Sites) -> list[Path]:
    return [Path(), *(Path(name).parent for kinds in found.kinds.values() for name, _ in kinds.inventories)]


def _known_answers(options: Any, context: RunContext) -> Answers:
    """Return the answers in the files of --answers."""
    found = answered.Answers()
    for name in options.answers:
        context.reports.read.add(Path(name).absolute())
        try:
            found.add([*read_answers(name, options, context)])
        except DocumentError as error:
            context.reports.failure(error)
    return found


def read_answers(name: str, options: Any, context: RunContext) -> Iterator[answers.Answer]:
    """Yield the answers in a file, also for the site's URL where a server of --resolve answers on its own port.

    For example, nginx redirects `https://new.example/a` to `http://new.example:8080/a/`.
    """
    schemes = {urlsplit(url).hostname: urlsplit(url).scheme for url in [*options.old_urls, options.url] if url}
    names = {}
    for host, place in options.resolve:
        parts = urlsplit(place)
        names[f"{parts.scheme}://{host}:{parts.port}"] = f"{schemes.get(host, parts.scheme)}://{host}"

    def public(url: str) -> str:
        origin = identity.origin(url)
        return f"{names.get(origin, origin)}{url[len(origin) :]}"

    for one in answers.read_answers(name, context.reading.settings, notify=context.reports.finding):
        yield one
        if names and (own := one._replace(url=public(one.url), target=one.target and public(one.target))) != one:
            yield own


def _changes(options: Any) -> ignoring.Changes:
    if options.changed_since is None:
        return ignoring.Changes()
    return ignoring.since(options.changed_since, [name for name in options.inputs if name != sources.STDIN])


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


def _check_repairs(options: Any, question: Question, context: RunContext) -> None:
    """Raise UsageError if repairs would be written by an assumed URL, or without one of the inputs."""
    wanted = "--fix" if options.fix else "--write-map" if options.write_map is not None else None
    if wanted is None:
        return
    if options.url is None and question.new_url.startswith(PLACE):
        raise UsageError(f"{wanted} needs --url URL: the URL of the new site is not known")
    missing = [name for name in (*options.old, *options.inputs) if name in context.reports.failures]
    if missing:
        raise UsageError(f"{wanted} writes nothing, because {missing[0]} cannot be read")


def _read_maps(options: Any, context: RunContext) -> list[RuleSet]:
    """Return the maps. Raise UsageError for an unreadable map: every verdict may depend on it."""
    try:
        found = [_read_map(name, options, context) for name in options.maps]
    except DocumentError as error:
        raise UsageError(error.message) from error
    for path in _unasked(options):
        if (own_map := _own_map(path, options, context)) is not None:
            found.append(own_map)
            options.maps.append(str(path))
    return found


# Files with redirects in the root of a deployed site, and the servers that do not read them.
_HOST_FILES: Final = {
    "_redirects": {"apache", "nginx", "s3", "github-pages"},
    "netlify.toml": {"apache", "nginx", "s3", "github-pages", "cloudflare"},
    ".htaccess": {"nginx", "s3", "github-pages", "netlify", "cloudflare"},
    **dict.fromkeys(("vercel.json", "staticwebapp.config.json", "web.config"), set(servers.SERVERS) - {"plain"}),
}


def _unasked(options: Any) -> list[Path]:
    """Return the maps in the folders of the new site that its server reads and the user did not name."""
    server = options.server.partition(",")[0]
    named = {os.path.realpath(name) for name in options.maps}
    globs = Globs(exclude=tuple(options.exclude)).checked()
    return [
        path
        for folder in map(Path, options.inputs)
        for name, others in _HOST_FILES.items()
        if server not in others and globs.wanted(name)
        if (path := folder / name).is_file() and not path.is_symlink() and os.path.realpath(path) not in named
    ]


def _own_map(path: Path, options: Any, context: RunContext) -> RuleSet | None:
    """Return the rules of a map that the user did not name, and report it; None for a file without rules.

    An unreadable file is a failure, since its host could not read it, either.
    """
    try:
        found = _read_map(str(path), options, context)
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


def _read_map(name: str, options: Any, context: RunContext) -> RuleSet:
    path = Path(name)
    is_cloudflare = path.name.endswith("_redirects") and options.server.startswith("cloudflare")
    form = "cloudflare" if is_cloudflare else None
    most = min(options.max_size, _LARGEST_MAP)
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise sources.unreadable(name, error) from error
    if len(data) > most:
        text = f"this map has more than {most:,} bytes{' (--max-size)' if most < _LARGEST_MAP else ''}"
        raise DocumentError(Diagnostic("too-large", text, name))
    found = answers.read(name, data, context.reading.settings) if form is None else None
    if found is None:
        found = forms.read(path, data, format=form, hosts=_hosts(options))
        forms.check(found)
    return _noted(found, options, context)


def _hosts(options: Any) -> list[str]:
    return [identity.named(url) for url in (*options.old_urls, options.url) if url is not None]


def _noted(found: RuleSet, options: Any, context: RunContext) -> RuleSet:
    """Return the rules of a map, with notes about how a table was read."""
    if found.hidden:
        hidden = number(found.hidden, "row")
        context.reports.note("table", f"{found.file}: left out: {hidden} that the sheet hides, as by a filter")
    if found.words and options.verbose:
        context.reports.note("table", f"{found.file}: {found.words}")
    return found


def _question(connection: Any, options: Any) -> Question:
    """Return the question, with the URLs of both sites from the options, or the roots of most documents."""
    new_url = options.url or _guessed(connection, load.NEW)
    if new_url is None:
        raise UsageError("NEW has no document with a URL: give --url URL, and a folder or an inventory with documents")
    old_url, *others = options.old_urls or [_guessed(connection, load.OLD)]
    return judge.Question(
        _root(new_url, options.inputs),
        _root(old_url, options.old) if old_url is not None else None,
        servers.named(options.server),
        options.similar,
        tuple(ignoring.parse_patterns(options.ignore, min(options.max_size, ignoring.LARGEST))),
        tuple(map(judge.root, others)),
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


