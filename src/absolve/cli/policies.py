"""Turn parsed options into a selection of links and a rewriting policy.

Input: `Options`, the tables of --remap. Output: a selection, a policy. Raises UsageError for unknown words, and for
rules that are malformed or contradict each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from absolve.cli import intake
from absolve.cli.reporting import Table
from absolve.core.errors import DocumentError, UsageError, similar
from absolve.document.settings import FILE
from absolve.inventory import PROBLEMS
from absolve.rewriting.policy import KEEPING, absolute, unchanged
from absolve.run import folders, inputs, sources
from absolve.run.folders import Globs
from absolve.run.results import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Totals
    from absolve.core.errors import Diagnostic
    from absolve.rewriting.cdx import Captures
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Change
    from absolve.run.companion_files import FolderFiles
    from absolve.run.filters import Selection


_HEAD = 65_536  # bytes of a file by which its format is recognised


def policy(options: Options, totals: Totals | None = None) -> Policy:
    """Return the rewriting policy. Raise UsageError for a rule that is malformed or cannot be read.

    The rules of tables are added to the `totals`, which count rules without a link.
    """
    if options.form == "keep" and options.base == "empty":
        raise UsageError("--form keep excludes --base empty, which changes links that no rule matches")
    otherwise = unchanged if options.form in KEEPING else absolute
    has_rules = options.remap or options.unwrap or options.mentions
    whole = _formed(_remapping(options, totals) if has_rules else otherwise, options)
    if not (options.kind or options.scope or options.problem):
        return whole
    from absolve.run.filters import only

    wanted = selection(options)
    if not any(wanted):
        return whole
    if options.form == "file":
        raise UsageError("--form file excludes --kind, --scope and --problem: it empties the base")
    if options.base == "empty":
        raise UsageError("--base empty excludes --kind, --scope and --problem: links left unchanged need the base")
    return only(wanted, whole, unchanged if options.form == "keep" else absolute)


def _formed(whole: Policy, options: Options) -> Policy:
    """Return a policy with --form. Raise UsageError for a --base-path that is not a path, or without a form for it."""
    if options.form in {"absolute", "file"} and options.base_path is not None:
        raise UsageError("--base-path needs --form root, relative or keep: absolute URLs take --remap")
    if options.form == "absolute" or (options.form == "keep" and options.base_path is None):
        return whole
    from absolve.rewriting.forms import Form

    if options.form == "file":
        return Form(whole, "file", files=_files(options))
    is_folder = any(map(inputs.is_many, options.inputs or filter(None, [options.before])))
    root = options.url if is_folder and options.url != FILE else ""
    return Form(whole, options.form, root or "", options.base_path)


def _files(options: Options) -> FolderFiles:
    """Return the files of the folder to which links may lead. Raise UsageError for other inputs."""
    from absolve.run.companion_files import FolderFiles

    names = options.inputs or [options.before]
    if len(names) != 1 or not folders.is_folder(names[0]) or options.from_ is not None:
        raise UsageError("--form file takes one folder as INPUT: links become the paths of its files")
    globs = Globs(tuple(options.include), tuple(options.exclude), options.hidden)
    by_path = intake.url_map(options).urls
    origins = inputs.Origins(None, by_path)
    return FolderFiles(inputs.named(names, origins, globs, lambda _: None), names[0], options.url)


def _remapping(options: Options, totals: Totals | None) -> Policy:
    from absolve.rewriting.remap import Change, Remapping, parse

    presets = _option_words("unwrap", options)
    changes = [Change("", name, "preset") for name in presets]
    given: dict[int, str] = {}  # rules of --remap FROM=TO
    captures: Captures | None = None
    places: dict[int, tuple[str, int]] = {}
    for text in options.remap:
        if not text.startswith("@"):
            given[len(changes)] = text
            changes.append(parse(text))
            continue
        data = _read(text[1:])
        if (index := _captures(text[1:], data)) is not None:
            captures = index
        else:
            lines = _rules(text[1:], data, options.url)
            numbered = dict(enumerate(lines, len(changes)))
            if totals is not None and not options.resume:  # an earlier run may have used the others
                totals.tables.append(Table(text[1:], "link", numbered, totals.rules))
            places |= {number: (text[1:], line) for number, line in numbered.items()}
            changes += lines.values()
    if totals is not None and not options.resume:
        of_options = ("--unwrap", dict(enumerate(presets))), ("--remap", given)
        totals.tables += (Table(name, "link", rules, totals.rules) for name, rules in of_options)
    keeps = options.form in KEEPING
    if options.mentions and not any(change.how in {"prefix", "exact"} for change in changes):
        raise UsageError("--mentions needs --remap with a rule for a URL")
    if not (changes or captures):
        return unchanged if keeps else absolute
    return Remapping(changes, captures, places, only_mapped=keeps, mentions=options.mentions).policy


def rule_findings(policy: Policy) -> list[Diagnostic]:
    """Return diagnostics about the rules of a policy."""
    rules = rules_of(policy)
    return [*rules.findings()] if rules is not None else []


def _captures(name: str, data: bytes) -> Captures | None:
    """Return the captures in an index of a web archive (CDX) or a TimeMap; None for a table of rules."""
    from absolve.rewriting.cdx import Captures, is_index

    if not is_index(data[:_HEAD].decode("utf-8-sig", "surrogateescape")):
        return None
    try:
        return Captures(data.decode("utf-8-sig", "surrogateescape"))
    except UsageError as error:
        raise UsageError(f"{name}: {error.message}") from error


def _read(name: str) -> bytes:
    try:
        return sources.of_option(name)
    except DocumentError as error:
        raise UsageError(error.message) from error


def _rules(name: str, data: bytes, url: str | None) -> dict[int, Change]:
    """Return the rules in a table of redirects by their lines. Raise UsageError for a row that cannot be used."""
    from absolve.rewriting import remap_tables  # few runs have one

    try:
        return remap_tables.rules(name, data, url)
    except UsageError as error:
        if (form := _server_form(name, data)) is None:
            raise
        text = f"{name}: this has redirects of a server ({form}), and no table: absolve audit --map reads it"
        raise UsageError(text) from error


def _server_form(name: str, data: bytes) -> str | None:
    """Return the form of a file with the redirects of a server, for example "apache"; None for a table."""
    from absolve.rules.forms import recognised

    form = recognised(Path(name).name, data)
    return form if form not in {"csv", "rewritemap"} else None


def selection(options: Options) -> Selection:
    """Return the selection of links. Raise UsageError for an unknown word."""
    from absolve.run.filters import Selection  # its imports are slow, and most rewrites need none of them

    kinds, scopes, problems = (frozenset(_option_words(name, options)) for name in ("kind", "scope", "problem"))
    return Selection(kinds, scopes, problems).checked()


def selecting(options: Options) -> str:
    """Return the options that select rows as the user wrote them, for example `--kind image`; or ""."""
    from shlex import quote

    words_by_option = {name: ",".join(getattr(options, name)) for name in ("kind", "scope", "problem")}
    return " ".join(f"--{name} {quote(words)}" for name, words in words_by_option.items() if words)


def _option_words(name: str, options: Options) -> list[str]:
    """Return the words of an option. Raise UsageError if its values have none."""
    values: list[str] = getattr(options, name)
    words = _words(values)
    if values and not words:
        raise UsageError(f"--{name} needs a word, not {values[0]!r}")
    return words


def _words(values: Iterable[str]) -> list[str]:
    """Return the words in values: for example `["a", "b", "c"]` for `["a, b", "c"]`."""
    return [word.strip() for text in values for word in text.split(",") if word.strip()]


def fail_on(options: Options) -> frozenset[str]:
    """Return the problems of --fail-on, for example `malformed,unresolved`. Raise UsageError for an unknown word."""
    words = frozenset(_words(options.fail_on))
    for word in sorted(words - {"any", *PROBLEMS}):
        raise UsageError(f"--fail-on: unknown problem {word!r}: choose from any, {', '.join(sorted(PROBLEMS))}")
    return frozenset(PROBLEMS) if "any" in words else words


def columns(options: Options, usual: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of --columns, for example `document,target`. Raise UsageError for unknown ones."""
    if options.columns is None:
        return usual
    names = tuple(_words([options.columns]))
    for name in names:
        if name not in known:
            raise UsageError(f"unknown column {name!r}: choose from {', '.join(known)}", similar(name, known))
    if len(set(names)) < len(names) or not names:
        raise UsageError(f"--columns needs one or more names, each once, not {options.columns!r}")
    return names
