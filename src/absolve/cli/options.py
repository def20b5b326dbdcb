"""The options that commands share, and what they come to: names, settings, how inputs are read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from absolve.core.errors import UsageError
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import BASES, DEEPEST, FRAGMENTS, Settings
from absolve.encodings import charsets
from absolve.run import outputs, sources
from absolve.run.load import ReadOptions
from absolve.urls import PROFILES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def completes_files(argument: argparse.Action) -> None:
    """Let a completion script offer files here: shtab looks for this attribute, and is not needed to set it."""
    argument.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}  # type: ignore[attr-defined]


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """--config, which is looked for before all other options are known."""
    completes_files(
        parser.add_argument(
            "--config",
            metavar="FILE",
            help="take options from there, instead of $ABSOLVE_CONFIG or absolve.toml in this folder or above",
        )
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """INPUT..., and what the user knows of the inputs."""
    completes_files(
        parser.add_argument(
            "inputs", nargs="*", metavar="INPUT", help="a file, or - for the standard input (the default)"
        )
    )
    add_known(parser)


def add_output(parser: argparse._ActionsContainer) -> None:
    """-o OUT, for all that is listed of all inputs."""
    completes_files(parser.add_argument("-o", "--output", metavar="OUT", help="write there, complete or not at all"))


def add_known(parser: argparse.ArgumentParser) -> None:
    """What the user knows of the inputs."""
    known = parser.add_argument_group("what is known of the inputs")
    known.add_argument(
        "--url", discovered=True, metavar="URL", help="the URL that they were retrieved from (RFC 1808, 3.3)"
    )
    known.add_argument(
        "--file-urls",
        action="store_true",
        help="where nothing else says it, take a file's own path for that URL (file:///...)",
    )
    known.add_argument(
        "--media-type", discovered=True, metavar="TYPE", help="what they are (found out by name and content)"
    )
    known.add_argument(
        "--charset", discovered=True, metavar="LABEL", help="the character encoding, where no byte order mark says it"
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """How links are found and resolved."""
    group = parser.add_argument_group("how links are found and resolved")
    add_profile(group)
    group.add_argument(
        "--lazy", discovered=True, action="store_true", help="data-src, data-href and the like count, too"
    )
    group.add_argument(
        "--conditional-comments", discovered=True, action="store_true", help="so does HTML in <!--[if IE]> comments"
    )
    recovers = "read XML that is not well-formed, or nested too deep, as HTML"
    group.add_argument("--recover", discovered=True, action="store_true", help=recovers)
    add_limits(group)


def add_limits(group: argparse._ActionsContainer) -> None:
    """What a document may be made of."""
    group.add_argument(
        "--max-depth",
        discovered=True,
        type=_depth,
        default=Settings().max_depth,
        metavar="N",
        help="leave alone what is nested deeper than N documents (%(default)s)",
    )
    group.add_argument(
        "--max-size",
        discovered=True,
        type=_size,
        default=Settings().max_size,
        metavar="BYTES",
        help="leave alone a larger document; K, M or G may follow the number (1G)",
    )
    group.add_argument(
        "--max-links",
        discovered=True,
        type=_number,
        default=Settings().max_links,
        metavar="N",
        help="leave alone a document with more links than that in it (%(default)s)",
    )
    group.add_argument(
        "--max-decompressed",
        discovered=True,
        type=_size,
        default=Settings().max_decompressed,
        metavar="BYTES",
        help="leave alone what gives more bytes when it is decompressed, and larger records of WARC (128M)",
    )
    group.add_argument(
        "--max-url",
        discovered=True,
        type=_size,
        default=Settings().max_url,
        metavar="LENGTH",
        help="make no URL of more characters: the link stays, and so do all that are relative to such a base (2M)",
    )
    group.add_argument(
        "--max-rows-bytes",
        discovered=True,
        type=_size,
        default=Settings().max_rows_bytes,
        metavar="BYTES",
        help="list no document whose rows have more bytes of URLs and texts together (2G)",
    )


CREDENTIALS: Final = "--show-credentials"


def add_credentials(parser: argparse.ArgumentParser) -> None:
    """--show-credentials, for every command that prints messages or URLs."""
    parser.add_argument(
        CREDENTIALS, action="store_true", help="show user:password@ of URLs in messages and reports, instead of ***@"
    )


def add_profile(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--profile",
        discovered=True,
        choices=tuple(PROFILES),
        default=Settings().profile,
        help="resolve by RFC 1808 to the letter (the default), by RFC 3986, or as browsers do",
    )


def add_changes(parser: argparse.ArgumentParser) -> None:
    """What a rewrite does to links that could stay."""
    group = parser.add_argument_group("what changes")
    group.add_argument(
        "--fragments",
        discovered=True,
        choices=FRAGMENTS,
        default=Settings().fragments,
        help="#fragment links into the document itself stay as they are (keep, the default), or become absolute",
    )
    group.add_argument(
        "--base",
        discovered=True,
        choices=BASES,
        default=Settings().base,
        help="the base element's own URL is made absolute (keep, the default), or emptied",
    )
    group.add_argument(
        "--break-signatures",
        action="store_true",
        help="change what is signed in a message, too (multipart/signed, DKIM)",
    )
    group.add_argument("--json-ld", discovered=True, action="store_true", help="change the references in JSON-LD, too")


def _depth(text: str) -> int:
    if not text.isdecimal() or int(text) > DEEPEST:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {DEEPEST}, not {text!r}")
    return int(text)


_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _size(text: str) -> int:
    unit = text[-1:].upper()
    number = text[:-1] if unit in _UNITS else text
    if not number.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of bytes, or one with K, M or G behind it, not {text!r}")
    return int(number) * _UNITS.get(unit, 1)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return int(text)


def settings(options: argparse.Namespace) -> Settings:
    """The settings that the options come to; UsageError where a charset or URL is none, before anything is read."""
    if options.url is not None:
        retrieval_claim(options.url)
    if options.charset is not None:
        charsets.by_label(options.charset)
    given = vars(options)
    return Settings(**{name: given[name] for name in Settings._fields if name in given}).checked()


def names(options: argparse.Namespace) -> list[str]:
    """The inputs as the user named them; none is the standard input, unless somebody sits there."""
    found: list[str] = options.inputs or [sources.STDIN]
    if found.count(sources.STDIN) > 1:
        raise UsageError("the standard input (-) can be read once only")
    if not options.inputs and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("no INPUT is given, and the standard input is a terminal (- reads it all the same)")
    return found


def opened(options: argparse.Namespace, names: list[str], *, stream: bool = True) -> AbstractContextManager[Any]:
    """What is written to: the standard output, or a file that is none of the inputs; only its path, if no `stream`."""
    if options.output in {None, outputs.STDOUT}:
        return outputs.stdout()
    path = Path(options.output)
    if found := outputs.clash([path], names):
        raise UsageError(f"the output {options.output} is an input, too ({found[1]})")
    return outputs.writing(path) if stream else outputs.replacing(path)


def reading(options: argparse.Namespace) -> ReadOptions:
    """How the options say that inputs are read; UsageError as of `settings`."""
    return ReadOptions(settings(options), options.media_type, options.charset, options.file_urls)
