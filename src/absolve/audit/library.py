"""`absolve.audit`: the audits of the command, for Python.

In: paths, documents or bytes of both sites, maps, options named as in the command. Out: an `Audit` with the rows of the
result tables, and files of any format. Nothing is printed.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import load, outputs, running, servers, verdicts
from absolve.audit.outputs import findings
from absolve.audit.outputs.source import Source
from absolve.core import arguments
from absolve.core.errors import UsageError
from absolve.core.printable import number
from absolve.document.settings import Settings
from absolve.run import leftovers, library_inputs, results
from absolve.run.folders import Globs
from absolve.run.load import ReadOptions

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import TypeAlias, Unpack

    from absolve.core.errors import Diagnostic
    from absolve.core.model import Document
    from absolve.core.options import AuditOptions
    from absolve.core.protocols import Buffer

    Path_: TypeAlias = str | os.PathLike[str]
    One: TypeAlias = Path_ | Document | bytes | Buffer

CALL: Final = "absolve.audit()"
# The options that the library shares with the command, with the same defaults.
DEFAULTS: Final[dict[str, Any]] = {
    "url": None,
    "old_url": (),
    "server": "plain",
    "similar": 0.8,
    "ignore": (),
    "answers": (),
    "baseline": None,
    "changed_since": None,
    "fail_on": None,
    "include": (),
    "exclude": (),
    "profile": "whatwg",
}
OPTIONS: Final = frozenset({*DEFAULTS, "jobs", "on_diagnostic"})
_SEVERAL: Final = ("old_url", "ignore", "answers", "include", "exclude")
_TEXTS: Final = ("server", "baseline", "changed_since")
_OF_PATHS: Final = frozenset({"answers", "baseline"})
# Options of the command alone.
_REST: Final[dict[str, Any]] = {
    "from_": None, "url_map": None, "cookies": None, "places": "places", "resolve": (), "named": (),
    "fix": False, "write_map": None, "verbose": False,
}


class Finding(NamedTuple):
    """A finding about a link, an old URL, a page or a rule: `table` is links, urls, pages or rules.

    `document` is the file with the place, or the old URL. `fix` is the reference to write. `identity` is the same in
    another run; `is_new`: the baseline lacks it (None without a baseline).
    """

    table: str
    verdict: str
    document: str
    entity: str
    line: int | None
    column: int | None
    message: str
    fix: str | None
    identity: str
    is_new: bool | None


class Cause(NamedTuple):
    """The common cause of findings, with the first of them as an example: the columns of the table `causes`."""

    cause: str
    verdict: str
    title: str
    links: int
    pages: int
    example_document: str | None
    example_line: int | None
    example_column: int | None
    example_reference: str | None
    final: str | None
    fix: str | None
    suggestion: str | None
    rule: str | None


class OldURL(NamedTuple):
    """A URL of the old site with its verdict: the columns of the table `urls`."""

    url: str
    verdict: str
    final: str | None
    hops: int | None
    method: str | None
    score: float | None
    suggestion: str | None
    cause: str | None
    rule: str | None
    requests: int | None


class Audit(NamedTuple):
    """The result of an audit. `links` is the number of judged links, `written` are the files of `output`.

    `failures` are inputs, or documents in them, that could not be read: they may have more findings. `diagnostics` are
    all reports.
    """

    findings: list[Finding]
    causes: list[Cause]
    urls: list[OldURL]
    links: int
    written: list[Path]
    failures: list[Diagnostic]
    diagnostics: list[Diagnostic]

    def __repr__(self) -> str:
        counts = (len(self.findings), "finding"), (len(self.causes), "cause"), (self.links, "link")
        others = (len(self.urls), "old URL"), (len(self.failures), "failure")
        return f"<Audit: {', '.join(number(*one) for one in (*counts, *others))}>"


def audit(
    new: One | Iterable[One],
    *,
    old: One | Iterable[One] = (),
    maps: Path_ | Iterable[Path_] = (),
    output: Path_ | Iterable[Path_] = (),
    **options: Unpack[AuditOptions],
) -> Audit:
    """Judge all links of a site, and with `old` or `maps` the URLs of the old one.

    For example, `absolve.audit("public", old="urls.txt", maps="_redirects").findings`. `new` and `old` are folders,
    archives, inventories, for the old site also sitemaps, lists of URLs and logs; documents with a URL; or the bytes of
    archives. `maps` are files with redirects. `output` are files to write, each in the format of its suffix.

    `options` are named as in `absolve audit`: url and old_url (of the roots of the sites), server, similar, ignore
    (patterns, and files as "@known.txt"), answers, baseline, changed_since, fail_on (verdicts that are errors in
    reports), include, exclude, profile, jobs (processes; 1 by default), and on_diagnostic. Servers are asked by the
    command alone (`--live`), which leaves files for `answers`.

    Raise MissingFileError for a missing path, UsageError for an invalid value, or if nothing of a site can be read,
    TypeError for an unknown option. An input that cannot be read is in `failures`, and is reported as a `Diagnostic`
    with `failed` set.
    """
    arguments.check_options(options, OPTIONS, CALL, ("new", "old", "maps", "output"))
    notify = options.get("on_diagnostic")
    arguments.check_notify(notify)
    with leftovers.temporary_folder() as folder, library_inputs.in_python() as shown:
        places = [Path(folder, name) for name in ("new", "old", "tables")]
        for place in places:
            place.mkdir()
        pairs = zip((new, old), places, strict=False)
        sides = [library_inputs.as_files(one, CALL, place, shown) for one, place in pairs]
        bag = _bag(dict(options), sides, list(library_inputs.paths(maps, CALL)))
        files = [Path(name) for name in library_inputs.as_paths(output, f"{CALL}: output")]
        for path in files:
            outputs.load(outputs.detect_format(path.name))
        running.check_outputs(bag, [one for path in files for one in outputs.paths(str(path))])
        reports = results.Collected(notify, sides[0].named)
        jobs = library_inputs.jobs_of(dict(options))
        reading = ReadOptions(Settings(profile=bag.profile).checked())
        run = results.library_context(reports, reading, jobs, Globs(tuple(bag.include), tuple(bag.exclude)).checked())
        with running.audited(bag, run, str(places[2]), bag.failing) as done:
            if sides[0].warc:
                load.name_by_url(done.connection, sides[0].warc)
            load.name_files(done.connection, shown)
            how = outputs.Style(bag.failing, roots=tuple(map(Path, done.found.kinds[load.NEW].documents)))
            written = [one for path in files for one in outputs.write(done.connection, path, how)]
            found = _read(Source(done.connection, how), shown)
    failures = [one for one in reports.diagnostics if one.failed]
    return found._replace(written=written, failures=failures, diagnostics=reports.diagnostics)


def _bag(options: dict[str, Any], sides: list[library_inputs.InputFiles], maps: list[str]) -> Any:
    """Return the options by their names in the command. Raise UsageError or TypeError for a wrong one."""
    new, old = sides
    if not new.names:
        raise UsageError(f"{CALL}: no input: a glob matches nothing, or the list is empty")
    values = DEFAULTS | {name: value for name, value in options.items() if value is not None}
    for name in _SEVERAL:
        values[name] = [*library_inputs.words_of(values, name, paths=name in _OF_PATHS)]
    for name in _TEXTS:
        if values[name] is not None:
            values[name] = library_inputs.words_of(values, name, paths=name in _OF_PATHS)[0]
    values["url"] = library_inputs.url_of(options, "url")
    values["old_urls"] = [one for one in values.pop("old_url") if library_inputs.url_of({"old_url": one}, "old_url")]
    similar = values["similar"]
    if not isinstance(similar, (int, float)) or not 0 <= similar <= 1:
        raise UsageError(f"similar must be a number from 0 to 1, not {similar!r}")
    servers.named(values["server"])
    values["failing"] = verdicts.failing(",".join(library_inputs.words_of(values, "fail_on")) or None)
    return SimpleNamespace(**_REST, **values, inputs=new.names, old=old.names, maps=maps, max_size=Settings().max_size)


def _read(source: Source, shown: dict[str, str]) -> Audit:
    """Return the rows of the result tables, with the names of documents that the caller knows."""
    found = [
        Finding(
            one.table,
            one.verdict,
            shown.get(one.document, one.document),
            one.entity,
            one.line or None,
            one.column or None,
            one.message,
            one.fix,
            one.identity,
            one.is_new,
        )
        for one in findings.found(source)
    ]
    causes = [Cause(*row) for row in source.rows(source.select("causes"))]
    causes = [one._replace(example_document=shown.get(*[one.example_document or ""] * 2) or None) for one in causes]
    urls = [OldURL(*row) for row in source.rows(source.select("urls"))]
    links = int(source.value("SELECT coalesce(sum(links), 0)::BIGINT FROM tallies"))
    return Audit(found, causes, urls, links, [], [], [])
