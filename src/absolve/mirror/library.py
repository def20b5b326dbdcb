"""`absolve.mirror`: the mirrors of the command, for Python.

In: paths, documents or bytes, an output, options with the names of the command's. Out: files, and a `Mirror` with the
rows of the map; or a `MirrorPlan`, for which nothing is written. Nothing is printed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import arguments
from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.core.model import Document
from absolve.core.printable import number
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.mirror import browsers, making
from absolve.mirror.lookup import Equivalences, Lookup
from absolve.mirror.map import Working
from absolve.mirror.payloads import Captured, Where, latest_of, media_type_of
from absolve.mirror.policy import MirrorPolicy
from absolve.mirror.sources import FILES, Source, kind_of, reader_of, sources_of
from absolve.mirror.survey import Choice, Survey
from absolve.run import leftovers, library_inputs, plan, results
from absolve.run.folders import Globs
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias, Unpack

    from absolve.core.options import MirrorOptions, PlanOptions
    from absolve.core.protocols import Buffer
    from absolve.mirror.payloads import Found
    from absolve.run.results import RunContext

    One: TypeAlias = str | os.PathLike[str] | Document | bytes | Buffer

CALL: Final = "absolve.mirror()"
OF_PLAN: Final = frozenset({"at", "keep_errors", "same", "absent", "profile"})
OPTIONS: Final = OF_PLAN | frozenset("url include exclude start depth prune jobs on_diagnostic".split())


class MirrorPage(NamedTuple):
    """A page of a mirror: its URL, its file, its title, and when it was captured, if that is known."""

    url: str
    path: str
    title: str | None
    date: str | None


class MissingURL(NamedTuple):
    """A URL that pages link to or need `times` times, and that the capture lacks; `first` is one of these pages."""

    url: str
    kind: str
    times: int
    first: str


class MirrorNote(NamedTuple):
    """A change of a file other than a link, or a part that does not work; lines and columns are 1-based."""

    path: str
    line: int | None
    column: int | None
    code: str
    text: str


class Mirror(NamedTuple):
    """The contents of a mirror, and what it lacks.

    `files` counts the files with a URL; `pages` are the pages among them. `failures` are inputs, or documents in them,
    that could not be read or written, `diagnostics` everything that was reported.
    """

    output: str
    files: int
    pages: list[MirrorPage]
    missing: list[MissingURL]
    notes: list[MirrorNote]
    failures: list[Diagnostic]
    diagnostics: list[Diagnostic]

    def __repr__(self) -> str:
        counts = (self.files, "file"), (len(self.pages), "page"), (len(self.missing), "missing URL")
        others = (len(self.notes), "note"), (len(self.failures), "failure")
        return f"<Mirror {self.output!r}: {', '.join(number(*one) for one in (*counts, *others))}>"


def mirror(inputs: One | Iterable[One], output: str | os.PathLike[str], **options: Unpack[MirrorOptions]) -> Mirror:
    """Make a mirror of captures, and return its contents.

    `inputs` are paths (of archives, pages, folders; globs), documents with a URL, and the bytes of archives, one or
    several. Archives are read record by record. `output` is a folder, or a file: .zip, .html, .mhtml, .zim.

    `options` are the options of `absolve mirror`, by the same names: url (for a folder, the URL of its root), include,
    exclude, start (the URL of a page: hold only what it leads to, in at most `depth` links; a single file begins with
    it), at (a date), keep_errors, same, absent ("keep", "sever"), profile, prune, jobs (processes; 1 by default), and
    on_diagnostic.

    Raise MissingFileError for a path that is not there, UsageError for an invalid value, TypeError for an unknown
    option, DocumentError if the inputs hold no document with a URL. An input that cannot be read is in `failures`, and
    is reported as a `Diagnostic` that has `failed` set; the others are in the mirror.
    """
    arguments.check_options(options, OPTIONS, CALL, ("inputs", "output"))
    notify = options.get("on_diagnostic")
    arguments.check_notify(notify)
    if not isinstance(output, (str, os.PathLike)):
        raise TypeError(f"output must be a path, not {type(output).__name__}")
    name = os.fsdecode(output)
    with leftovers.temporary_folder() as folder, library_inputs.in_python() as shown:
        files = library_inputs.as_files(inputs, CALL, Path(folder), shown)
        if not files.names:
            raise UsageError(f"{CALL}: no input: a glob matches nothing, or the list is empty")
        making.check_output(name, files.names)
        reports = results.Collected(notify, files.named)
        mirrors: list[Mirror] = []
        settings = Settings(profile=options.get("profile", "whatwg"), base="empty").checked()
        reading = ReadOptions(settings._replace(documents=True))
        run = results.library_context(reports, reading, library_inputs.jobs_of(dict(options)))
        if making.is_zip(name):
            plan.make_above(name)
        making.into(name, _job(files, run, dict(options)), run, lambda working: mirrors.extend(_read(working, name)))
    if not mirrors:
        found = reports.diagnostics[0] if reports.failures else Diagnostic("no-document", _NOTHING, files.first)
        raise DocumentError(found)
    failures = [one for one in reports.diagnostics if one.failed]
    return mirrors[0]._replace(failures=failures, diagnostics=reports.diagnostics)


_NOTHING: Final = "no document with a URL is in it: nothing is written (url= gives that of a folder's root)"


def choice_of(options: dict[str, Any], call: str) -> Choice:
    """Return the choice of captures. Raise UsageError or TypeError for a wrong option."""
    for name in ("at", "same", "absent", "profile"):
        if name in options and not (options[name] is None and name in {"at", "same"}):
            arguments.text_of(options[name], name)
    if options.get("absent", "keep") not in {"keep", "sever"}:
        raise UsageError(f"{call}: absent must be keep or sever, not {in_short(repr(options['absent']))}")
    at = options.get("at")
    return Choice(
        latest_of(at) if at is not None else None,
        arguments.flag_of(options.get("keep_errors", False), "keep_errors"),
        Equivalences.from_words(options.get("same")),
        Globs(library_inputs.words_of(options, "include"), library_inputs.words_of(options, "exclude")).checked(),
    )


def _job(files: library_inputs.InputFiles, run: RunContext, options: dict[str, Any]) -> making.Job:
    choice = choice_of(options, CALL)
    start, depth = library_inputs.url_of(options, "start"), options.get("depth")
    if depth is not None and (start is None or not isinstance(depth, int) or depth < 0):
        raise UsageError(f"depth must be a number of links from start=, not {in_short(repr(depth))}")
    found = run.found(files.names, library_inputs.url_of(options, "url"))
    return making.Job(
        run.reading,
        tuple(sources_of(found, run.reading, run.reports.aside)),
        choice,
        severs=options.get("absent") == "sever",
        start=start,
        depth=depth,
        first=start or files.url,
        prune=arguments.flag_of(options.get("prune", False), "prune"),
        named=tuple((path, name.strip("<>")) for path, name in files.shown.items()),
    )


_PAGES: Final = """
SELECT url, plan.path, title, date FROM plan LEFT JOIN pages ON pages.path = plan.path
WHERE plan.path IS NOT NULL AND (title IS NOT NULL OR media_type LIKE 'text/html%'
    OR media_type LIKE 'application/xhtml+xml%') ORDER BY url
"""
_MISSING: Final = "SELECT url, kind, count, first FROM missing ORDER BY count DESC, url, kind"
_NOTES: Final = 'SELECT path, line, "column", code, text FROM notes ORDER BY path, line, "column", code'


def _read(working: Working, output: str) -> list[Mirror]:
    """Return a list with the rows of a map, as one `Mirror`; an empty list if there is no document."""
    number = working.documents()[0]
    if not number:
        return []
    pages = [MirrorPage(*row) for row in working.rows(_PAGES)]
    missing = [MissingURL(*row) for row in working.rows(_MISSING)]
    notes = [MirrorNote(*row) for row in working.rows(_NOTES)]
    return [Mirror(output, number, pages, missing, notes, [], [])]


# --- the plan without files -------------------------------------------------------------------------------------------


class MirrorPlan(Mapping[str, str]):
    """A mapping from each held URL to its path, for example `http://h/a` to `h/a.html`.

    `diagnostics` are about unreadable inputs. `policy(url)` is the policy for the document of that URL: give it to
    `absolve.rewrite` with base="empty" and profile="whatwg".
    """

    def __init__(self, captures: Iterator[Found], choice: Choice, profile: str, *, severs: bool) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._working = Working(Path(":memory:"))
        survey = Survey(captures, choice, self.diagnostics.append)
        self._working.plan(survey.rows(), [], forms=survey.forms(), places=survey.places())
        self._lookup = Lookup(self._working.connection, choice.same, is_normal=profile == "whatwg")
        self._severs = severs

    def __repr__(self) -> str:
        return f"<MirrorPlan: {len(self):,} URLs, {len(self.diagnostics):,} diagnostics>"

    def __getitem__(self, url: str) -> str:
        query = "SELECT path FROM plan WHERE url = ? AND path IS NOT NULL"
        row = next(self._working.rows(query, normal(url) or url), None)
        if row is None:
            raise KeyError(url)
        path: str = row[0]
        return path

    def __iter__(self) -> Iterator[str]:
        for row in self._working.rows("SELECT url FROM plan WHERE path IS NOT NULL ORDER BY url"):
            yield row[0]

    def __len__(self) -> int:
        return self._working.documents()[0]

    def policy(self, url: str) -> MirrorPolicy:
        """Return the policy for the document of a URL. Raise KeyError for one that is not held."""
        named = self._lookup.named(self._working.where(normal(url) or url))
        return MirrorPolicy(self[url], self._lookup, severs=self._severs, named=named)


def mirror_plan(inputs: Iterable[Document | bytes | Buffer], **options: Unpack[PlanOptions]) -> MirrorPlan:
    """Return the plan of a mirror of these documents, archives or pages whose URL is known: no file is written.

    `options`: at (a date), keep_errors, same (words of `--same`), absent ("keep", "sever"), profile. Raise
    UsageError for an invalid value, TypeError for an unknown option or no document.
    """
    call = "absolve.mirror_plan()"
    arguments.check_options(options, OF_PLAN, call)
    if isinstance(inputs, (str, bytes, Document)) or not isinstance(inputs, Iterable):
        raise TypeError(f"{call} takes a list of documents (bytes or absolve.Document), not {type(inputs).__name__}")
    choice = choice_of(dict(options), call)
    profile = options.get("profile", "whatwg")
    how = ReadOptions(Settings(profile=profile, base="empty").checked())
    documents = [one if isinstance(one, Document) else Document(arguments.data_of(one, call)) for one in inputs]
    captures = (one for number, document in enumerate(documents) for one in _captures(document, number, how))
    return MirrorPlan(captures, choice, profile, severs=options.get("absent") == "sever")


def _captures(document: Document, number: int, how: ReadOptions) -> Iterator[Found]:
    """Yield the captures in a container, or the capture of a page whose URL is known."""
    data = bytes(document.data)
    kind = kind_of(document.name or "", data, document.media_type, lambda: data)
    if kind != FILES:
        name = document.name or f"input-{number + 1}"
        yield from reader_of(Source(kind, (Input(name, name, document.url),)), number, how, data).captured()
        return
    try:
        url = normal(walk(document, how.settings).bases.own.url)
    except DocumentError as error:
        url = normal(document.url) if document.url is not None else None
        if url is None:
            yield error.diagnostic
    if url is not None:
        media_type = media_type_of(document.media_type or "", data[:4096], document.name or "")
        where, looks = Where(number, 0, 0), browsers.markup(data)
        yield Captured(url, 200, "", media_type, where, size=len(data), looks=looks)
