"""Turn parsed options into the inputs, the settings and the output of a command.

Input: `Options`. Output: settings, inputs with their URLs, an open output. Raises UsageError for values that argparse
cannot check.
"""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.cli import option_table
from absolve.cli.option_table import OF_SITES, ON_LINE
from absolve.cli.reporting import FoundGlobs, Table
from absolve.core.errors import DocumentError, UsageError, in_short, similar
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import CHOICES, FILE, Settings
from absolve.encodings import charsets
from absolve.rewriting.policy import absolute, mentions_of
from absolve.run import buckets, folders, inputs, outputs, plan, sources
from absolve.run.folders import Globs
from absolve.run.load import ReadOptions
from absolve.run.results import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report, Totals
    from absolve.rewriting.policy import Policy
    from absolve.run.inputs import Input

_STORING: Final = ("links", "documents", "rewrite", "mirror")
_IN_STORES: Final = {  # options for which a store may be named, by command
    **dict.fromkeys(_STORING[:3], ("inputs", "output", "log", "save")),
    "base": ("inputs",),
    "mirror": ("inputs", "output"),
    "verify": ("before", "after"),
}


def check_stores(options: Options) -> None:
    """Raise UsageError for the URL of a store, for example `s3://bucket/a`, where a command takes only paths."""
    for _, row in option_table.for_command(options.command):
        if not row.completes_files:
            continue
        value = rule_tables(options) if row.dest == "remap" else getattr(options, row.dest)
        for one in value if isinstance(value, list) else filter(None, [value]):
            if buckets.is_web(one) and row.dest not in {"inputs", "before", "after"}:
                raise UsageError(f"{in_short(one)}: archives of the web are read only")
            if buckets.is_bucket(one) and row.dest not in _IN_STORES.get(options.command, ()):
                text = f"{in_short(one)} is the URL of a store, and absolve {options.command} takes a path there"
                raise UsageError(text, f"URLs of stores are inputs and outputs of {', '.join(_STORING)}")


def settings(options: Options) -> Settings:
    """Return the settings. Raise UsageError for an unknown charset or an unsuitable --url, before any input is read."""
    if options.url is not None:
        _check_url(options.url, options.command)
    if options.media_type is not None:
        _check_media_type(options.media_type)
    if options.charset is not None:
        _check_charset(options.charset)
    chosen = Settings(**{name: getattr(options, name) for name in CHOICES}).checked()
    return chosen._replace(base="empty") if options.form == "file" else chosen


def _check_url(url: str, command: str) -> None:
    if url == FILE and command in OF_SITES.split():
        raise UsageError("--url file: is for single pages: a site has a URL")
    try:
        retrieval_claim(url)
    except UsageError as error:
        is_file = bool(url) and os.path.lexists(url)
        hint = "--url file: uses the paths of files" if is_file else "for example http://example.com/dir/page.html"
        raise UsageError(error.message, hint) from error


def _check_charset(label: str) -> None:
    try:
        charsets.by_label(label)
    except UsageError as error:
        from webencodings.labels import LABELS

        raise UsageError(error.message, similar(label, LABELS)) from error


def _check_media_type(value: str) -> None:
    """Raise UsageError for a word without a slash, with a hint: for example, `html` may mean `text/html`."""
    if "/" in value:
        return
    from absolve.formats import registry

    likely = registry.SUFFIXES.get(f".{value.lower().lstrip('.')}")
    known = ", ".join(dict.fromkeys(reversed(registry.SUFFIXES.values())))
    hint = f"did you mean --media-type {likely}?" if likely else f"absolve reads {known}"
    raise UsageError(f"--media-type takes a media type such as text/html, not {value!r}", hint)


def reading(options: Options, policy: Policy = absolute) -> ReadOptions:
    """Return the options for reading inputs, also for the policy's facts about documents. Raise as `settings` does."""
    chosen = settings(options)
    if policy is not absolute:
        rules = rules_of(policy)
        chosen = chosen._replace(documents=rules is not None and rules.needs_date)
    return ReadOptions(chosen, options.media_type, options.charset, texts=mentions_of(policy) is not None)


def names(options: Options) -> list[str]:
    """Return the inputs as the user named them; by default the standard input, unless it is a terminal.

    With --from there may be none.
    """
    if options.from_ is not None and not options.inputs:
        return []
    found = options.inputs or [sources.STDIN]
    if len(found) > 1 or "://" in found[0]:
        from absolve.cli import hints  # one file needs none

        hints.check_quoted(found)
        for name in found:
            hints.check_no_url(name, options.command)  # for a command without requests
    if [*found, options.from_].count(sources.STDIN) > 1:
        raise UsageError("the standard input (-) can be read only once")
    if not options.inputs and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("no INPUT, and the standard input is a terminal: name a file, or give - to read the terminal")
    return found


def make_globs(options: Options, totals: Totals) -> Globs:
    """Return the globs of --include and --exclude. Raise UsageError for a malformed one."""
    globs = Globs(tuple(options.include), tuple(options.exclude), options.hidden).checked()
    if totals.globs_source:
        totals.globs = globs = FoundGlobs(*globs)
    return globs


def found(options: Options, report: Report, *, follow: bool = True, selects: bool = True) -> Iterator[Input]:
    """Return an iterator over all inputs, in order; `selects`: the globs are about files of folders.

    Raise UsageError for options that do not fit the inputs.
    """
    input_names = names(options)
    report.roots = list(filter(inputs.is_many, input_names))
    globs = make_globs(options, report.totals) if selects else Globs(hidden=options.hidden)
    if (globs.include or globs.exclude) and not report.roots:
        raise UsageError("--include and --exclude need a folder as INPUT")
    if options.url is not None and report.roots and set("?#") & set(options.url):
        raise UsageError(f"--url of a folder can have no query and no fragment: {options.url!r}")
    if options.url is not None and report.roots:
        from absolve.cli import hints

        if above := hints.folder_of_page(options.url):
            text = f"{report.roots[0]} is a folder, and {in_short(options.url)} the URL of a page"
            report.note("page-url", f"{text}: did you mean {above}?")
    met: set[str] = set()
    by_path, lines = url_map(options)
    if lines and options.url_map is not None:
        report.totals.tables.append(Table(options.url_map, "input", lines, met))
    asks_plainly = options.command in ON_LINE.split() and not asks_otherwise(options)
    if asks_plainly:
        buckets.settings.update(timeout=options.timeout, retries=options.retries)
    is_site = options.command in OF_SITES.split()
    origins = inputs.Origins(options.url, by_path, is_site, met, asks_plainly)
    on_line = inputs.named(input_names, origins, globs, report.aside, follow=follow)
    if options.from_ is not None:
        on_line = chain(on_line, _listed(options.from_, origins, report))
    return on_line


def asks_otherwise(options: Options) -> bool:
    """Return whether an option is about requests: then archives on the web are downloaded as a whole, like pages."""
    return any((options.header, options.cookies, options.deny_private, options.save))


def _listed(name: str, origins: inputs.Origins, report: Report) -> Iterator[Input]:
    with report.guard(name):
        yield from inputs.listed(inputs.read_list(name), origins, report.aside, name)


def url_map(options: Options) -> inputs.UrlMap:
    """Return the URLs of --url-map. Raise UsageError if the file cannot be read, or has a row that can never work."""
    if not options.url_map:
        return inputs.UrlMap({}, {})
    try:
        return inputs.read_url_map(options.url_map)
    except DocumentError as error:
        raise UsageError(error.message) from error


def one_input(name: str, options: Options) -> inputs.Input:
    """Return an input for a command with one input at a time, without a place in an output folder."""
    origins = inputs.Origins(options.url, url_map(options).urls)
    return inputs.url_input(name, origins, alone=True) if inputs.is_url(name) else inputs.alone(name, origins)


def tables(options: Options) -> list[str]:
    """Return the names of the files, other than inputs, that a run reads: lists of inputs, tables of URLs, cookies."""
    others = options.from_, options.url_map, options.cookies
    return [name for name in (*others, *rule_tables(options)) if name not in {None, "", sources.STDIN}]


def rule_tables(options: Options) -> list[str]:
    """Return the names of the tables of rules: the values of --remap that begin with @."""
    return [text[1:] for text in options.remap if text.startswith("@")]


def opened(options: Options, *, stream: bool = True) -> AbstractContextManager[Any]:
    """Return a context manager for the output: a binary file, or the path of a temporary one if not `stream`.

    Raise UsageError if the output is also an input.
    """
    input_names = names(options)
    if options.path is None:
        return outputs.stdout()
    if buckets.is_bucket(options.path):
        if options.path in input_names:
            raise UsageError(f"the output {options.path} is also an input: choose another file")
        return outputs.named(options.path) if stream else buckets.writing(options.path)
    path = Path(options.path)
    plan.check_not_read([path], [*input_names, *tables(options)])
    plan.check_not_led_out(path, input_names)
    globs = Globs(tuple(options.include), tuple(options.exclude))
    if (folder := folders.read_from(path, input_names, globs)) is not None:
        hint = "a document of the folder that is no input (--exclude) may be replaced"
        raise UsageError(f"the output {path} is a document in the input {folder}: choose another file", hint)
    return outputs.writing(path) if stream else outputs.replacing(path)
