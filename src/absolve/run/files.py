"""The public functions that read and write files: rewrite one file, list the links of many, select and remap links.

In: paths, options with the names of the command's. Out: rows, or a file that is complete or unchanged. One process; the
command uses several.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from filecmp import cmp
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from absolve.core import arguments
from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.document.reporting import report
from absolve.document.resolved import Resolved
from absolve.document.settings import CHOICES, Settings
from absolve.encodings import charsets
from absolve.inventory.link_rows import rows
from absolve.rewriting.policy import absolute, checked
from absolve.rewriting.remap import Remapping
from absolve.run import filters, folders, inputs, plan
from absolve.run.folders import Globs
from absolve.run.library_inputs import missing, name_of, url_of, words_of
from absolve.run.library_inputs import paths as given_paths
from absolve.run.load import ReadOptions, head_of, is_document, left, not_read, segments_in
from absolve.run.plan import Job, RewriteOptions
from absolve.run.results import Failure, FilesReady, settle
from absolve.run.rewrite_task import rewritten
from absolve.urls.predicates import has_scheme, is_malformed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from absolve.core.options import FileOptions, Kind, OnDiagnostic, Problem, Rules, Scope, WalkOptions
    from absolve.inventory.columns import Row
    from absolve.run.inputs import Input
    from absolve.run.load import Segment

Policy: TypeAlias = Callable[[Resolved], str | None]
Path_: TypeAlias = str | os.PathLike[str]

_READING: Final = frozenset({"media_type", "charset", "url", "headers", "on_diagnostic"})
_FILTERS: Final = ("kind", "scope", "problem")
_OF_FILE: Final = frozenset({*CHOICES, *_READING, *_FILTERS, "remap"})
_OF_WALK: Final = frozenset({*CHOICES, *_READING, *_FILTERS, "include", "exclude", "url_map"})


def rewrite_file(
    path: Path_,
    output: Path_ | None = None,
    *,
    policy: Policy | None = None,
    backup: str | None = None,
    verify: bool = False,
    **options: Unpack[FileOptions],
) -> bool:
    """Rewrite the links of a file, in place or to `output`; return whether the result differs from the file.

    The new file is complete or the old one unchanged, after a crash too; without a change, a file in place is not
    written. `backup` is a suffix: a copy of the file in place is kept under its name with that suffix. `verify`: check
    by an independent parser that only links change.

    `options`: the options of `absolve.rewrite` (`url="file:"`: the path is the URL if no other is known); `kind`,
    `scope` and `problem` (a word, or several: change only such links); `remap` (see `absolve.remap`). Raise
    MissingFileError if the file is not there, DocumentError if it cannot be read, rewritten or written, otherwise as
    `absolve.rewrite`. WARC files of any size are rewritten record by record; a record that fails is reported and stays.
    """
    call = "absolve.rewrite_file()"
    choices: dict[str, Any] = dict(options)
    arguments.check_options(choices, _OF_FILE, call, ("policy", "output", "backup", "verify"))
    notify: OnDiagnostic | None = choices.pop("on_diagnostic", None)
    arguments.check_notify(notify)
    changes = _policy(choices, policy)
    how = RewriteOptions(
        _reading(choices),
        changes,
        verify=arguments.flag_of(verify, "verify"),
        in_place=output is None,
        backup=_suffix(backup, in_place=output is None),
    )
    name = name_of(path, call)
    if not os.path.lexists(name):
        raise missing(name)
    target = None if output is None else name_of(output, call)
    if target is not None:
        if Path(target).is_dir():
            raise UsageError(f"output must be a file, not the folder {in_short(target)}")
        plan.check([name], target)
        above = os.path.dirname(os.path.abspath(target))  # noqa: PTH100, PTH120 - the caller's own links are followed
        if not os.path.lexists(above):
            raise UsageError(f"the folder {in_short(above)} of output does not exist")
    job = Job(inputs.alone(name, inputs.Origins(url_of(choices, "url"), source="url=")), target)
    failed: Exception | None = None
    try:
        is_written = _published(how, job, notify)
    except _PolicyError as error:
        failed = error.error
    if failed is not None:  # here, so that its context stays as it was
        raise failed
    return is_written if target is None else not cmp(name, target, shallow=False)


def _published(how: RewriteOptions, job: Job, notify: OnDiagnostic | None) -> bool:
    """Rewrite one file and rename it into place; return whether a new file was needed. Raise DocumentError."""
    failures: list[Failure] = []
    is_written = False
    for piece in rewritten(how, job, strict=True):
        if isinstance(piece, Diagnostic):
            report([piece], notify)
        elif isinstance(piece, Failure):
            failures.append(piece)
        elif isinstance(piece, FilesReady):
            settle(piece, job.target or job.input.name)
            is_written = True
    if failures and (not is_written or how.verify):
        raise failures[0].error
    report([failure.diagnostic for failure in failures], notify)
    return is_written


def walk_links(paths: Path_ | Iterable[Path_], **options: Unpack[WalkOptions]) -> Iterator[Row]:
    """Yield a row for each link in files, folders (with their subfolders) and archives, in order.

    `options` are the options of `absolve links`, by the same names: `kind`, `scope` and `problem` (a word, or several),
    `include` and `exclude` (globs for folders), `url` (for a folder, the URL of its root, for documents that record
    none; "file:" for their paths), `url_map` (a mapping from paths to URLs), and all of `absolve.links`; `headers` are
    for a single file. Raise MissingFileError at once for a path that does not exist; a glob may match nothing. An input
    that cannot be read is reported as a `Diagnostic` that has `failed` set, and the next one follows. Raise UsageError
    or TypeError at once for an invalid option.
    """
    call = "absolve.walk_links()"
    choices: dict[str, Any] = dict(options)
    arguments.check_options(choices, _OF_WALK, call)
    names = list(given_paths(paths, call))
    notify: OnDiagnostic | None = choices.pop("on_diagnostic", None)
    arguments.check_notify(notify)
    selection = _selection(choices)
    how = _reading(choices)
    globs = Globs(words_of(choices, "include"), words_of(choices, "exclude")).checked()
    has_folders = any(map(folders.is_folder, names))
    if (globs.include or globs.exclude) and not has_folders:
        raise UsageError("include and exclude need a folder")
    if how.headers is not None and (has_folders or len(names) != 1):
        raise UsageError("headers are those of one file")
    url = url_of(choices, "url")
    if has_folders and url is not None and set("?#") & set(url):
        raise UsageError(f"url of a folder can have no query and no fragment: {in_short(url)!r}")
    origins = inputs.Origins(url, _url_map(choices.get("url_map")), source="url=")
    found = inputs.named(names, origins, globs, lambda diagnostic: report([diagnostic], notify))
    return _rows(found, how, selection, notify)


def _rows(
    found: Iterable[Input], how: ReadOptions, selection: filters.Selection, notify: OnDiagnostic | None
) -> Iterator[Row]:
    for input_ in found:
        try:
            head = head_of(input_)
            if head is not None and not is_document(input_, head, how):
                report([note for note in [not_read(input_, head)] if note.failed], notify)
                continue
            for segment in segments_in(input_, how, head=head):
                report(segment.diagnostics, notify)
                for row in _segment_rows(segment, input_, how, notify):
                    if selection.wants(row):
                        yield row
        except DocumentError as error:
            report([error.diagnostic._replace(failed=True)], notify)


def _segment_rows(segment: Segment, input_: Input, how: ReadOptions, notify: OnDiagnostic | None) -> Iterator[Row]:
    if segment.entity is None:
        return
    if how.headers is not None and segment.document is not None:
        from absolve.document import response_header  # few calls have headers

        yield from rows(response_header.entity_of(segment.document, how.settings), input_.name)
    try:
        yield from rows(segment.entity, input_.name)
    except DocumentError as error:
        report([left(segment, error).diagnostic._replace(failed=True)], notify)


# --- policies ---------------------------------------------------------------------------------------------------------


def remap(rules: Rules, *, only_mapped: bool = False, mentions: bool = False) -> Policy:
    r"""Return a policy that makes links absolute and then maps old URLs to new ones, as `absolve rewrite --remap`.

    For example, `remap({"http://old.org/": "https://new.org/"})`. `rules`: a mapping from old prefixes to new ones, or
    tuples (old, new) and (old, new, how), where `how` is "prefix", "exact" or "regex" (for the whole URL; `\1` in `new`
    is its first group). A prefix ends at the end of a path segment or parameter; `//host` matches http and https. The
    longest prefix applies. A new URL that another rule matches is mapped again; rules that lead in a circle map
    nothing. `only_mapped`: links that no rule matches stay as they are. `mentions`: old URLs outside links change, too,
    and with them the lengths in serialized PHP. Raise UsageError for a malformed rule, TypeError for a rule of another
    type.
    """
    pairs: Any = rules.items() if isinstance(rules, Mapping) else rules
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise TypeError(f"{_RULES}, not {in_short(repr(rules))}")
    return Remapping([_rule(pair) for pair in pairs], only_mapped=only_mapped, mentions=mentions).policy


def _rule(value: Any) -> tuple[str, ...]:
    rule = () if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if len(rule) not in {2, 3} or not all(isinstance(part, str) for part in rule):
        raise TypeError(f"{_RULES}, not {in_short(repr(rule or value))}")
    return rule


_RULES: Final = "remap takes a mapping of str to str, or tuples (old, new) or (old, new, how) of str"


def only(
    policy: Policy | None = None,
    *,
    kind: Kind | Iterable[Kind] = (),
    scope: Scope | Iterable[Scope] = (),
    problem: Problem | Iterable[Problem] = (),
) -> Policy:
    """Return a policy that applies another one (default: make absolute) to links with these words, and to no others.

    Base claims are made absolute, because the unchanged links depend on them. Raise UsageError for an unknown word.
    """
    selection = _selection({"kind": kind, "scope": scope, "problem": problem})
    return filters.only(selection, checked(policy) if policy is not None else absolute)


def _policy(choices: dict[str, Any], policy: Policy | None) -> Policy:
    rules = choices.pop("remap", None)
    if rules is not None and policy is not None:
        raise UsageError("remap and policy exclude each other: call absolve.remap() in the policy")
    whole: Policy = _raising(checked(policy)) if policy is not None else absolute
    if rules is not None:
        whole = remap(rules)
    selection = _selection(choices)
    if not any(selection):
        return whole
    if choices.get("base") == "empty":
        raise UsageError("base='empty' excludes kind, scope and problem: links left unchanged need the base")
    return filters.only(selection, whole)


class _PolicyError(Exception):
    """Carries an exception of the caller's policy past all code that handles errors of documents and files."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _raising(policy: Policy) -> Policy:
    def asked(resolved: Resolved) -> str | None:
        try:
            return policy(resolved)
        except Exception as error:
            raise _PolicyError(error) from error

    return asked


def _selection(choices: dict[str, Any]) -> filters.Selection:
    return filters.Selection(*(frozenset(words_of(choices, name)) for name in _FILTERS)).checked()


# --- arguments --------------------------------------------------------------------------------------------------------


def _suffix(value: str | None, *, in_place: bool) -> str | None:
    backup = None if value is None else arguments.text_of(value, "backup")
    if backup is not None and not in_place:
        raise UsageError("backup needs a file in place: leave output out")
    if backup is not None and (not backup or "\0" in backup or Path(backup).name != backup):
        raise UsageError(f"backup must be a suffix for file names, such as .orig, not {in_short(repr(backup))}")
    return backup


def _reading(choices: dict[str, Any]) -> ReadOptions:
    """Return the options for reading. Raise UsageError or TypeError before any file is read."""
    chosen = {name: choices[name] for name in CHOICES if name in choices}
    given = {name: choices[name] for name in ("media_type", "charset") if choices.get(name) is not None}
    texts: dict[str, Any] = {name: arguments.text_of(value, name) for name, value in given.items()}
    if "charset" in texts:
        charsets.by_label(texts["charset"])
    return ReadOptions(
        Settings(**arguments.choices_of(chosen, CHOICES)).checked(),
        **texts,
        headers=choices.get("headers"),
    )


def _url_map(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"url_map takes a mapping from paths to URLs, not {in_short(repr(value))}")
    for path, url in (value or {}).items():
        text = arguments.url_of(url, "url_map")
        if not has_scheme(text) or is_malformed(text):
            raise UsageError(f"{in_short(text)!r} in url_map is not an absolute URL")
        found[inputs.key(os.fsdecode(path))] = text
    return found
