"""From parsed options to what the rooms below take: settings, names of inputs, an output, a selection, a policy.

Input: argparse namespaces. Raises UsageError for values that argparse cannot check.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.cli.option_table import OF_SITES
from absolve.cli.totals import Table
from absolve.core.errors import DocumentError, UsageError, in_short, similar
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import CHOICES, FILE, Settings
from absolve.encodings import charsets
from absolve.inventory import PROBLEMS
from absolve.rewriting.policy import KEEPING, absolute, unchanged
from absolve.run import buckets, inputs, outputs, plan, sources
from absolve.run.globs import Globs
from absolve.run.load import ReadOptions
from absolve.run.results import rules_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from absolve.cli.totals import Totals
    from absolve.core.errors import Diagnostic
    from absolve.rewriting.cdx import Captures
    from absolve.rewriting.policy import Policy
    from absolve.rewriting.remap import Change
    from absolve.run.beside import FolderFiles
    from absolve.run.filters import Selection


_HEAD = 65_536  # characters of a file by which its format is recognised


_PATHS: Final = (  # options that name files
    "inputs old before after from_ url_map map output missing log save write_map check serve"
).split()
_STORING: Final = ("links", "documents", "rewrite", "mirror")
_IN_STORES: Final = {  # of these options by command
    **dict.fromkeys(_STORING[:3], ("inputs", "output", "log", "save")),
    "base": ("inputs",),
    "mirror": ("inputs", "output"),
    "verify": ("before", "after"),
}


def check_stores(options: argparse.Namespace) -> None:
    """Raise UsageError for the URL of a store as a file that a command reads from, or writes to, disks only."""
    given = {name: getattr(options, name, None) for name in _PATHS} | {"remap": rule_tables(options)}
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and buckets.is_web(one) and name not in {"inputs", "before", "after"}:
                raise UsageError(f"{in_short(one)}: archives of the web are read only")
            if isinstance(one, str) and buckets.is_bucket(one) and name not in _IN_STORES.get(options.command, ()):
                text = f"{in_short(one)} is the URL of a store, and absolve {options.command} takes a path there"
                raise UsageError(text, f"URLs of stores are inputs and outputs of {', '.join(_STORING)}")


def settings(options: argparse.Namespace) -> Settings:
    """Return the settings. Raise UsageError for an unknown charset or an unsuitable --url, before any input is read."""
    if options.url is not None:
        _check_url(options.url, options.command)
    if options.media_type is not None:
        _check_media_type(options.media_type)
    if options.charset is not None:
        _check_charset(options.charset)
    given = vars(options)
    chosen = Settings(**{name: given[name] for name in CHOICES if name in given}).checked()
    return chosen._replace(base="empty") if given.get("form") == "file" else chosen


def _check_url(given: str, command: str) -> None:
    if given == FILE and command in OF_SITES.split():
        raise UsageError("--url file: is for single pages: a site has a URL")
    try:
        retrieval_claim(given)
    except UsageError as error:
        is_file = bool(given) and os.path.lexists(given)
        hint = "--url file: uses the paths of files" if is_file else "for example http://example.com/dir/page.html"
        raise UsageError(error.message, hint) from error


def _check_charset(given: str) -> None:
    try:
        charsets.by_label(given)
    except UsageError as error:
        from webencodings.labels import LABELS

        raise UsageError(error.message, similar(given, LABELS)) from error


def _check_media_type(given: str) -> None:
    """Raise UsageError for a word without a slash: the suffix of a file, mostly."""
    if "/" in given:
        return
    from absolve.formats import registry

    meant = registry.SUFFIXES.get(f".{given.lower().lstrip('.')}")
    known = ", ".join(dict.fromkeys(reversed(registry.SUFFIXES.values())))
    hint = f"did you mean --media-type {meant}?" if meant else f"absolve reads {known}"
    raise UsageError(f"--media-type takes a media type such as text/html, not {given!r}", hint)


def names(options: argparse.Namespace) -> list[str]:
    """Return the inputs as the user named them; by default the standard input, unless it is a terminal."""
    found: list[str] = options.inputs or [sources.STDIN]
    for name in found:
        if "://" in name:
            from absolve.cli import hints

            hints.check_no_url(name, options.command)  # of a command that asks for none
    if found.count(sources.STDIN) > 1:
        raise UsageError("the standard input (-) can be read only once")
    if not options.inputs and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("no INPUT, and the standard input is a terminal: name a file, or give - to read the terminal")
    return found


def opened(
    options: argparse.Namespace, names: list[str], *, stream: bool = True
) -> AbstractContextManager[Any]:
    """Return a context manager for the output: a binary file, or the path of a temporary one if not `stream`.

    Raise UsageError if the output is also an input.
    """
    if options.output in {None, outputs.STDOUT}:
        return outputs.stdout()
    if buckets.is_bucket(options.output):
        if options.output in names:
            raise UsageError(f"the output {options.output} is also an input: choose another file")
        return outputs.named(options.output) if stream else buckets.writing(options.output)
    path = Path(options.output)
    plan.check_not_read([path], [*names, *tables(options)])
    plan.check_not_led_out(path, names)
    globs = Globs(tuple(getattr(options, "include", ())), tuple(getattr(options, "exclude", ())))
    if (folder := inputs.read_from(path, names, globs)) is not None:
        hint = "a document of the folder that is no input (--exclude) may be replaced"
        raise UsageError(f"the output {options.output} is a document in the input {folder}: choose another file", hint)
    return outputs.writing(path) if stream else outputs.replacing(path)


def tables(options: argparse.Namespace) -> list[str]:
    """Return the names of the files, other than inputs, that a run reads: lists of inputs, tables of URLs, cookies."""
    given = [getattr(options, name, None) for name in ("from_", "url_map", "cookies")]
    return [name for name in (*given, *rule_tables(options)) if name not in {None, "", sources.STDIN}]


def rule_tables(options: argparse.Namespace) -> list[str]:
    """Return the names of the tables of rules: the values of --remap that begin with @."""
    return [text[1:] for text in getattr(options, "remap", ()) if text.startswith("@")]


def url_map(options: argparse.Namespace) -> inputs.UrlMap:
    """Return the URLs of --url-map. Raise UsageError if the file cannot be read, or has a row that can never work."""
    if not getattr(options, "url_map", None):
        return inputs.UrlMap({}, {})
    try:
        return inputs.read_url_map(options.url_map)
    except DocumentError as error:
        raise UsageError(error.message) from error


def one_input(name: str, options: argparse.Namespace) -> inputs.Input:
    """Return an input of a command that reads files only, without a place in an output folder."""
    origins = inputs.Origins(options.url, url_map(options).urls)
    return inputs.of_url(name, origins, alone=True) if inputs.is_url(name) else inputs.alone(name, origins)


def reading(options: argparse.Namespace, policy: Policy = absolute) -> ReadOptions:
    """Return the options for reading inputs, with what a policy must know of them. Raise as `settings` does."""
    chosen = settings(options)
    if policy is not absolute:
        rules = rules_of(policy)
        chosen = chosen._replace(documents=rules is not None and rules.needs_date)
    return ReadOptions(chosen, options.media_type, options.charset)


# --- selection and rewriting ------------------------------------------------------------------------------------------


def selection(options: argparse.Namespace) -> Selection:
    """Return the selection of links. Raise UsageError for an unknown word."""
    from absolve.run.filters import Selection  # its imports are slow, and most rewrites need none of them

    kinds, scopes, problems = (frozenset(_given(name, options)) for name in ("kind", "scope", "problem"))
    return Selection(kinds, scopes, problems).checked()


def fail_on(options: argparse.Namespace) -> frozenset[str]:
    """Return the problems of --fail-on. Raise UsageError for an unknown word."""
    words = frozenset(_words(options.fail_on))
    for word in sorted(words - {"any", *PROBLEMS}):
        raise UsageError(f"--fail-on: unknown problem {word!r}: choose from any, {', '.join(sorted(PROBLEMS))}")
    return frozenset(PROBLEMS) if "any" in words else words


def columns(options: argparse.Namespace, usual: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the columns. Raise UsageError for unknown ones."""
    if options.columns is None:
        return usual
    names = tuple(_words([options.columns]))
    for name in names:
        if name not in known:
            raise UsageError(f"unknown column {name!r}: choose from {', '.join(known)}", similar(name, known))
    if len(set(names)) < len(names) or not names:
        raise UsageError(f"--columns needs one or more names, each once, not {options.columns!r}")
    return names


def policy(options: argparse.Namespace, totals: Totals | None = None) -> Policy:
    """Return the rewriting policy. Raise UsageError for a rule that is malformed or cannot be read.

    The rules of tables are added to the `totals`, which count those that meet no link.
    """
    if options.form == "keep" and options.base == "empty":
        raise UsageError("--form keep excludes --base empty, which changes links that no rule matches")
    otherwise = unchanged if options.form in KEEPING else absolute
    whole = _formed(_remapping(options, totals) if options.remap or options.unwrap else otherwise, options)
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


def _formed(whole: Policy, options: argparse.Namespace) -> Policy:
    """Return a policy with --form. Raise UsageError for a --base-path that is no path, or without a form for it."""
    if options.form in {"absolute", "file"} and options.base_path is not None:
        raise UsageError("--base-path needs --form root, relative or keep: absolute URLs take --remap")
    if options.form == "absolute" or (options.form == "keep" and options.base_path is None):
        return whole
    from absolve.rewriting.forms import Form

    if options.form == "file":
        return Form(whole, "file", files=_files(options))
    is_folder = any(map(inputs.is_many, getattr(options, "inputs", ())))
    root = options.url if is_folder and options.url != FILE else ""
    return Form(whole, options.form, root or "", options.base_path)


def _files(options: argparse.Namespace) -> FolderFiles:
    """Return the files of the folder to which links may lead. Raise UsageError for other inputs."""
    from absolve.run.beside import FolderFiles

    given: list[str] = getattr(options, "inputs", None) or [getattr(options, "before", "")]
    if len(given) != 1 or not inputs.is_folder(given[0]) or getattr(options, "from_", None) is not None:
        raise UsageError("--form file takes one folder as INPUT: links become the paths of its files")
    globs = Globs(tuple(getattr(options, "include", ())), tuple(getattr(options, "exclude", ())), options.hidden)
    by_path = url_map(options).urls
    origins = inputs.Origins(None, by_path)
    return FolderFiles(inputs.named(given, origins, globs, lambda _: None), given[0], options.url)


def _remapping(options: argparse.Namespace, totals: Totals | None) -> Policy:
    from absolve.rewriting.remap import Change, Remapping, parse

    changes = [Change("", name, "preset") for name in _given("unwrap", options)]
    captures: Captures | None = None
    places: dict[int, tuple[str, int]] = {}
    for text in options.remap:
        if not text.startswith("@"):
            changes.append(parse(text))
        elif (index := _captures(text[1:])) is not None:
            captures = index
        else:
            lines = _read(text[1:], options.url)
            numbered = dict(enumerate(lines, len(changes)))
            if totals is not None and not options.resume:  # an earlier run may have used the others
                totals.tables.append(Table(text[1:], "link", numbered, totals.rules))
            places |= {number: (text[1:], line) for number, line in numbered.items()}
            changes += lines.values()
    keeps = options.form in KEEPING
    if not (changes or captures):
        return unchanged if keeps else absolute
    return Remapping(changes, captures, places, only_mapped=keeps).policy


def rule_findings(policy: Policy) -> list[Diagnostic]:
    """Return what is wrong with the rules of a policy."""
    rules = rules_of(policy)
    return [*rules.findings()] if rules is not None else []


def _captures(name: str) -> Captures | None:
    """Return the copies of a file that is an index of a web archive or a TimeMap; None for a table of rules."""
    from absolve.rewriting.cdx import Captures, is_index

    try:
        with Path(name).open(encoding="utf-8-sig", errors="surrogateescape") as file:
            first = file.read(_HEAD)
            return Captures(first + file.read()) if is_index(first) else None
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from error
    except UsageError as error:
        raise UsageError(f"{name}: {error.message}") from error


def _given(name: str, options: argparse.Namespace) -> list[str]:
    """Return the words of an option. Raise UsageError if it is given without a word."""
    given = vars(options)[name]
    words = _words(given)
    if given and not words:
        raise UsageError(f"--{name} needs a word, not {given[0]!r}")
    return words


def _words(given: Iterable[str]) -> list[str]:
    return [word.strip() for text in given for word in text.split(",") if word.strip()]


def _read(name: str, url: str | None) -> dict[int, Change]:
    """Return the rules in a table of redirects by their lines. Raise UsageError for a row that cannot be used."""
    from absolve.rewriting import changes  # few runs have one

    try:
        data = inputs.read_table(name)
    except DocumentError as error:
        raise UsageError(error.message) from error
    try:
        return changes.rules(name, data, url)
    except UsageError as error:
        if (form := _of_server(name, data)) is None:
            raise
        text = f"{name}: this has redirects of a server ({form}), and no table: absolve audit --map reads it"
        raise UsageError(text) from error


def _of_server(name: str, data: bytes) -> str | None:
    """Return the form of a file with the redirects of a server; None for a table."""
    from absolve.rules.forms import recognised

    form = recognised(Path(name).name, data)
    return form if form not in {"csv", "rewritemap"} else None


def selecting(options: argparse.Namespace) -> str:
    """Return the options that select rows, as given; empty if there are none."""
    from shlex import quote

    given = vars(options)
    words = [f"--{name} {quote(','.join(given[name]))}" for name in ("kind", "scope", "problem") if given.get(name)]
    return " ".join(words)
