"""`absolve audit`: what a migration broke, where, and why.

Input: the options. Output: verdicts for all links of the new site and all URLs of the old one, in files of any format.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from absolve.audit import servers, tables
from absolve.cli import failures, many
from absolve.cli import options as shared
from absolve.core.errors import UsageError
from absolve.run import leftovers

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve audit site/                            a link check of a folder
  absolve audit new/ --url https://new.example/ --old old/ \\
      --old-url http://old.example/ --map .htaccess -o report.html
  absolve audit new/ --url https://new.example/ -o audit.sqlite -o audit.sarif
  absolve audit crawl.warc.gz --old old-urls.txt --map redirects.csv
  absolve audit new/ --url https://new.example/ --fix --diff    look at repairs
  absolve audit new/ --url https://new.example/ --sql \\
      "SELECT verdict, count(*) FROM links GROUP BY verdict"

verdicts of links: ok same external malformed unresolved divergent leftover
mixed insecure loop chain redirected case slash encoding fragment broken
of old URLs: kept mapped moved replaced gone lost
of pages: orphan canonical hreflang sitemap duplicate
of rules: unread-rule wrong-rule

The verdicts are SQL over the tables of absolve links and absolve documents:
--queries DIR takes changed copies of the files in absolve/audit/queries."""


def configure(parser: argparse.ArgumentParser) -> None:
    many.add_inputs(parser)
    _add_sites(parser)
    _add_server(parser)
    _add_outputs(parser)
    _add_repairs(parser)
    shared.add_settings(parser)
    parser.set_defaults(profile="whatwg", output=None)
    many.add_run(parser)


def _add_sites(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the old site, and the maps between the sites")
    shared.completes_files(
        group.add_argument(
            "--old",
            action="append",
            nargs="+",
            default=[],
            metavar="OLD",
            help="the old site: folders, archives, inventories, sitemaps, lists of URLs",
        )
    )
    group.add_argument("--old-url", metavar="URL", help="the URL of its root")
    shared.completes_files(
        group.add_argument(
            "--map",
            dest="maps",
            action="append",
            nargs="+",
            default=[],
            metavar="MAP",
            help="redirects: CSV, _redirects, .htaccess, configuration of Apache or nginx, text of a RewriteMap",
        )
    )
    group.add_argument(
        "--map-format", discovered=True, metavar="FORMAT", help="the form of all maps (default: by name and content)"
    )
    group.add_argument(
        "--similar",
        discovered=True,
        type=_share,
        default=0.8,
        metavar="SHARE",
        help="how similar two texts must be to be the same page, 0 to 1 (default: %(default)s)",
    )
    group.add_argument(
        "--entry",
        discovered=True,
        action="append",
        default=[],
        metavar="URL",
        help="a page that needs no link to it; may be repeated",
    )


def _add_server(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how URLs find files")
    group.add_argument(
        "--server", discovered=True, choices=tuple(servers.SERVERS), default=servers.DEFAULT, help="like which server"
    )
    group.add_argument(
        "--index", discovered=True, metavar="NAME,...", help="names of the file that a folder's URL leads to"
    )
    group.add_argument(
        "--extensions", discovered=True, metavar="NAME,...", help="extensions that a URL may leave out: html"
    )
    group.add_argument(
        "--bare-folder", discovered=True, metavar="WORD", help="a folder without its slash: redirect or nothing"
    )
    group.add_argument("--case", discovered=True, metavar="WORD", help="letter case of paths: exact or ignore")
    group.add_argument(
        "--queries-of-files", discovered=True, metavar="WORD", help="a query behind the name of a file: ignore or exact"
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    shared.completes_files(
        group.add_argument(
            "-o",
            "--output",
            dest="outputs",
            action="append",
            default=[],
            metavar="OUT",
            help="write to OUT, in the format of its suffix; may be repeated",
        )
    )
    group.add_argument(
        "-f",
        "--format",
        discovered=True,
        metavar="FORMAT",
        help="format of all outputs; without -o, of the standard output",
    )
    group.add_argument("--sql", metavar="QUERY", help="print the result of a query over the tables of results")
    shared.completes_files(
        group.add_argument("--queries", metavar="DIR", help="a folder with changed copies of queries")
    )
    shared.completes_files(
        group.add_argument("--baseline", metavar="FILE", help="an earlier output: report what is new, what is healed")
    )
    group.add_argument(
        "--fail-on",
        metavar="VERDICT,...",
        help=f"verdicts that make the exit status 1, none for never (default: all but {', '.join(tables.TOLERATED)})",
    )
    group.add_argument(
        "--memory",
        default="1GB",
        metavar="SIZE",
        help="memory that the queries use before they use the disk (default: %(default)s)",
    )


def _add_repairs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("repairs")
    group.add_argument("--fix", action="store_true", help="write the repairs that are sure into the files of NEW")
    group.add_argument("--diff", discovered=True, action="store_true", help="with --fix: change no file, print a diff")
    group.add_argument(
        "--verify", discovered=True, action="store_true", help="with --fix: check that only links change"
    )
    shared.completes_files(
        group.add_argument(
            "--write-map",
            metavar="FILE",
            help="write the maps as one, without chains, with the sure rules added; - for the standard output, in the"
            " format of the first map",
        )
    )


def _share(text: str) -> float:
    import argparse

    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return share


def run(options: argparse.Namespace, report: Report) -> None:
    options.old = [name for names in options.old for name in names]
    options.maps = [name for names in options.maps for name in names]
    if options.format is not None and not options.outputs:
        options.outputs = ["-"]
    failing = _failing(options.fail_on)
    failures.check(options)
    _check(options)
    from absolve.cli import audit_running  # imports DuckDB
    from absolve.run import journal

    with leftovers.temporary_folder() as folder, journal.unwritable(folder):
        audit_running.run(options, report, folder, failing)


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError if options contradict each other."""
    if not options.inputs and options.from_ is None:
        raise UsageError("no NEW: name a folder, an archive or an inventory, before --old and --map")
    if (options.diff or options.verify) and not options.fix:
        raise UsageError(f"{'--diff' if options.diff else '--verify'} needs --fix")
    if options.queries is not None and not Path(options.queries).is_dir():
        raise UsageError(f"--queries {options.queries} is no folder")


def _failing(words: str | None) -> frozenset[str]:
    if words is None:
        return frozenset(tables.VERDICTS) - frozenset(tables.TOLERATED)
    given = [word.strip() for word in words.split(",") if word.strip()]
    if given == ["none"]:
        return frozenset()
    for word in given:
        if word not in tables.VERDICTS:
            raise UsageError(f"--fail-on: {word!r} is no verdict: choose from {', '.join(tables.VERDICTS)}")
    return frozenset(given)
