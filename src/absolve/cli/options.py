"""Options that several commands share, and their conversion to `Settings`, `ReadOptions`, input names and an output.

Input: argparse parsers and namespaces. Raises UsageError for values that argparse cannot check.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import DocumentError, UsageError, similar
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import BASES, CHOICES, DEEPEST, FRAGMENTS, Settings
from absolve.encodings import charsets
from absolve.run import inputs, outputs, sources, special_files
from absolve.run.globs import Globs
from absolve.run.load import ReadOptions
from absolve.urls import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager


def completes_files(argument: argparse.Action) -> None:
    """Complete file names for this argument: `completion` reads this attribute."""
    argument.completes_files = True  # type: ignore[attr-defined]


def completes_words(argument: argparse.Action, words: Iterable[str]) -> None:
    """Complete these words for an argument that takes several of them, separated by commas: as `completes_files`."""
    argument.completes_words = tuple(words)  # type: ignore[attr-defined]


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add --config; `running.found_for` reads it before argparse does."""
    completes_files(
        parser.add_argument_group("run").add_argument(
            "--config",
            metavar="FILE",
            help="read options from FILE (default: $ABSOLVE_CONFIG, or absolve.toml in this folder or above)",
        )
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add INPUT... and the options of `add_known`."""
    completes_files(
        parser.add_argument(
            "inputs", nargs="*", metavar="INPUT", help="file, or - for the standard input (default)"
        )
    )
    add_known(parser)


def add_output(parser: argparse._ActionsContainer) -> None:
    """Add -o OUT, for one list of all inputs."""
    text = "write to OUT, completely or not at all (default: the standard output)"
    completes_files(parser.add_argument("-o", "--output", metavar="OUT", help=text))


def add_csv_safe(group: argparse._ActionsContainer) -> None:
    """Add --csv-safe, for tables of links and the log of a rewrite."""
    group.add_argument(
        "--csv-safe",
        discovered=True,
        action="store_true",
        help="in CSV and other formats for spreadsheets, put ' before text that begins with =, +, -, @, a tab or a line"
        " end, at the start of a cell or behind ; or a line break in it, so that no spreadsheet runs it as a formula",
    )


def add_mkdirs(group: argparse._ActionsContainer) -> None:
    group.add_argument("--mkdirs", action="store_true", help="also make the folders above OUT that do not exist")


def check_above(out: str, *, makes: bool) -> None:
    """Raise UsageError if the folder in which an output would be made does not exist; with `makes`, make it."""
    above = os.path.dirname(os.path.abspath(out))  # noqa: PTH100, PTH120 - the user's own links are followed
    if os.path.lexists(above):
        return
    if not makes:
        raise UsageError(f"-o {out}: the folder {os.path.dirname(out.rstrip('/' + os.sep))} does not exist", _MKDIRS)  # noqa: PTH120
    Path(above).mkdir(parents=True, exist_ok=True)


_MKDIRS: Final = "--mkdirs makes it; the last folder of a path needs no option"


def add_known(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add --url, --default-url, --file-urls, --media-type and --charset; return their group."""
    known = parser.add_argument_group("facts about the inputs")
    known.add_argument(
        "-u", "--url", discovered=True, metavar="URL", help="URL from which they were retrieved (RFC 1808, section 3.3)"
    )
    known.add_argument(
        "--default-url", discovered=True, metavar="URL", help="that URL for inputs that record none of their own"
    )
    known.add_argument(
        "--file-urls",
        action="store_true",
        help="use the path of a file (file:///...) as that URL if no other is known",
    )
    known.add_argument(
        "--media-type", discovered=True, metavar="TYPE", help="media type (default: by name and content)"
    )
    known.add_argument(
        "--charset", discovered=True, metavar="LABEL", help="character encoding, unless a byte order mark gives it"
    )
    return known


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide how links are found and resolved, and the limits."""
    group = parser.add_argument_group("finding and resolving links")
    add_profile(group)
    group.add_argument(
        "--lazy", discovered=True, action="store_true", help="also find links in data-src, data-href and the like"
    )
    group.add_argument(
        "--conditional-comments",
        discovered=True,
        action="store_true",
        help="also find links in <!--[if IE]> comments",
    )
    recovers = "read XML that is not well-formed, or nested too deep, as HTML"
    group.add_argument("--recover", discovered=True, action="store_true", help=recovers)
    add_limits(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the limits of a document: nesting, sizes, number of links."""
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-depth",
        discovered=True,
        type=_depth,
        default=Settings().max_depth,
        metavar="N",
        help="leave documents nested deeper than N levels unchanged (default: %(default)s)",
    )
    group.add_argument(
        "--max-size",
        discovered=True,
        type=_size,
        default=Settings().max_size,
        metavar="BYTES",
        help="leave larger documents unchanged; K, M or G may follow the number (default: 1G)",
    )
    group.add_argument(
        "--max-links",
        discovered=True,
        type=_number,
        default=Settings().max_links,
        metavar="N",
        help="leave documents with more links unchanged (default: %(default)s)",
    )
    group.add_argument(
        "--max-decompressed",
        discovered=True,
        type=_size,
        default=Settings().max_decompressed,
        metavar="BYTES",
        help="leave content with more bytes after decompression, and larger WARC records, unchanged (default: 128M)",
    )
    group.add_argument(
        "--max-url",
        discovered=True,
        type=_size,
        default=Settings().max_url,
        metavar="LENGTH",
        help="make no URL of more characters: leave such a link, and links relative to such a base, unchanged"
        " (default: 2M)",
    )
    group.add_argument(
        "--max-rows-bytes",
        discovered=True,
        type=_size,
        default=Settings().max_rows_bytes,
        metavar="BYTES",
        help="list no document whose rows have more bytes of URLs and text in total (default: 2G)",
    )


CREDENTIALS: Final = "--show-credentials"


def add_credentials(parser: argparse.ArgumentParser) -> None:
    """Add --show-credentials, for every command that prints messages or URLs."""
    parser.add_argument_group("run").add_argument(
        CREDENTIALS, action="store_true", help="print user:password@ of URLs in messages and lists, instead of ***@"
    )


def add_profile(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--profile",
        discovered=True,
        choices=tuple(PROFILES),
        default=Settings().profile,
        help="resolve by " + "; by ".join(f"{row.summary} ({name})" for name, row in PROFILES.items()),
    )


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Add the options that extend or limit the changes of a rewrite."""
    group = parser.add_argument_group("changes")
    group.add_argument(
        "--fragments",
        discovered=True,
        choices=FRAGMENTS,
        default=Settings().fragments,
        help="#fragment links within the document: leave unchanged (keep, default) or make absolute",
    )
    group.add_argument(
        "--base",
        discovered=True,
        choices=BASES,
        default=Settings().base,
        help="URL of the base element: make absolute (keep, default) or make empty",
    )
    group.add_argument(
        "--break-signatures",
        action="store_true",
        help="also change signed parts of messages (multipart/signed, DKIM)",
    )
    group.add_argument("--json-ld", discovered=True, action="store_true", help="also change references in JSON-LD")


def _depth(text: str) -> int:
    if not text.isdecimal() or int(text) > DEEPEST:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {DEEPEST}, not {text!r}")
    return int(text)


_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _size(text: str) -> int:
    unit = text[-1:].upper()
    number = text[:-1] if unit in _UNITS else text
    if not number.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number, optionally followed by K, M or G, not {text!r}")
    return int(number) * _UNITS.get(unit, 1)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return int(text)


def settings(options: argparse.Namespace) -> Settings:
    """Return the settings. Raise UsageError for an unknown charset or an unsuitable --url, before any input is read."""
    for given_url in (options.url, options.default_url):
        if given_url is not None:
            _check_url(given_url)
    if options.media_type is not None:
        _check_media_type(options.media_type)
    if options.charset is not None:
        _check_charset(options.charset)
    given = vars(options)
    return Settings(**{name: given[name] for name in CHOICES if name in given}).checked()


def _check_url(given: str) -> None:
    try:
        retrieval_claim(given)
    except UsageError as error:
        is_file = bool(given) and os.path.lexists(given)
        hint = "--file-urls uses the paths of files" if is_file else "for example http://example.com/dir/page.html"
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

            hints.check_no_url(name, options.command)
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
    if options.output in {None, special_files.STDOUT}:
        return outputs.stdout()
    path = Path(options.output)
    check_not_read([path], [*names, *tables(options)])
    _check_not_led_out(path, names)
    globs = Globs(tuple(getattr(options, "include", ())), tuple(getattr(options, "exclude", ())))
    if (folder := inputs.read_from(path, names, globs)) is not None:
        hint = "a document of the folder that is no input (--exclude) may be replaced"
        raise UsageError(f"the output {options.output} is a document in the input {folder}: choose another file", hint)
    return outputs.writing(path) if stream else outputs.replacing(path)


def tables(options: argparse.Namespace) -> list[str]:
    """Return the names of the files, other than inputs, that a run reads: its list of inputs and its tables of URLs."""
    given = [getattr(options, name, None) for name in ("from_", "url_map", "remap_file")]
    return [name for name in given if name not in {None, "", sources.STDIN}]


def check_not_read(paths: Iterable[Path], names: list[str]) -> None:
    """Raise UsageError for an output that is also one of these files, which the run reads."""
    if found := outputs.clash(paths, names):
        raise UsageError(f"the output {found[0]} is also an input ({found[1]}): choose another file")


def check_different(paths: Iterable[Path]) -> None:
    """Raise UsageError if two outputs are one file; they may be one device."""
    seen: dict[str, Path] = {}
    for path in paths:
        other = seen.setdefault(os.path.realpath(path), path)
        if other is not path and not (special_files.is_device(path) and special_files.is_device(other)):
            raise UsageError(f"the outputs {other} and {path} are the same file")


def check_outside(paths: Iterable[Path], names: list[str]) -> None:
    """Raise UsageError for an output that is a file, or a symbolic link, in an input folder."""
    for path in paths:
        _check_not_led_out(path, names)
        if path.is_file() and (name := inputs.folder_around(path, names)) is not None:
            raise UsageError(f"the output {path} is a file of the input {name}: choose another file")


def _check_not_led_out(path: Path, names: list[str]) -> None:
    """Raise UsageError for an output that a symbolic link in an input folder leads to: it may be anywhere."""
    if (folder := inputs.led_out_of(path, names)) is not None:
        raise UsageError(f"the output {path} is behind a symbolic link in the input {folder}: choose another file")


def add_url_map(group: argparse._ActionsContainer) -> None:
    completes_files(
        group.add_argument("--url-map", metavar="FILE", help="CSV file with retrieval URLs of single files: path, URL")
    )


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
    url = url_map(options).urls.get(inputs.key(name), options.url)
    return inputs.Input(name, "", url, claims=inputs.default_claims(options.default_url))


def reading(options: argparse.Namespace) -> ReadOptions:
    """Return the options for reading inputs. Raise UsageError as `settings` does."""
    return ReadOptions(settings(options), options.media_type, options.charset, options.file_urls)
