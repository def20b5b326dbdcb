"""The options of all commands, each declared once: names, value, help, commands, and whether a found file may set it.

In: nothing. Out: `OPTIONS`, of which `parsing` makes the parsers; configuration files, completion and the site follow
them. Words and texts that need an import are functions, called for the command that runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from absolve.cli.option import Option, field, number, pair, resolved, seconds, share, size, whole
from absolve.core.model import KINDS, SCOPES
from absolve.document.settings import BASES, DEEPEST, FRAGMENTS
from absolve.inventory import PROBLEMS
from absolve.rewriting.policy import FORMS, UNWRAPPED
from absolve.urls import PROFILES
from absolve.urls.base import IGNORABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ARGUMENTS: Final = "arguments"  # titles of groups that argparse makes
HELP: Final = "run and help"
COLORS: Final = ("auto", "always", "never")
SHELLS: Final = ("bash", "zsh", "fish", "powershell", "tcsh")

# --- words that need an import ----------------------------------------------------------------------------------------


def _formats() -> Sequence[str]:
    from absolve.tables import FORMATS

    return tuple(FORMATS)


def _format(text: str) -> str:
    from absolve.tables import OTHERWISE

    return OTHERWISE.get(text, text)


def _columns(table: str) -> Sequence[str]:
    from absolve.run.links_task import every_column

    return every_column(table)


def _servers() -> Sequence[str]:
    from absolve.audit import servers

    return tuple(servers.SERVERS)


def _server() -> str:
    return f"like {', '.join(_servers())}, or index=NAME and the like, which the documentation lists"


def _live() -> Sequence[str]:
    from absolve.audit.live import KINDS

    return KINDS


def _commands() -> Sequence[str]:
    from absolve.cli.commands import COMMANDS

    return tuple(COMMANDS)


def _same() -> str:
    from absolve.mirror.lookup import MORE, NONE

    return f"more URLs that are equal: {','.join(MORE)}; {NONE} for no others"


def _failing() -> str:
    from absolve.audit.verdicts import TOLERATED

    return f"verdicts with exit status 1, or none (default: all but {', '.join(TOLERATED)})"


# --- the table --------------------------------------------------------------------------------------------------------

_AUDITS: Final = "check audit"
_READING: Final = f"rewrite links documents base mirror {_AUDITS} verify"
_RUNS: Final = f"rewrite links documents mirror {_AUDITS}"  # over many inputs
_LISTS: Final = "links documents"
ASKING: Final = f"rewrite {_LISTS} base verify"  # their inputs may be URLs
ON_LINE: Final = f"{ASKING} mirror {_AUDITS}"  # the last ones also ask for what their inputs link to or need
OF_SITES: Final = f"mirror {_AUDITS}"  # to which a folder with a URL is the site there
_CHANGING: Final = f"rewrite {_LISTS} verify"
_TELLING: Final = f"{_READING} resolve config"  # they print messages about inputs
_ALL: Final = f"{_TELLING} completion help"

_SIMILAR: Final = 0.8  # of --similar; a check of one site has the option's default, not the option

_harmless = partial(Option, is_harmless=True)
_setting = partial(_harmless, is_setting=True)


def _selecting(command: str) -> Iterator[Option]:
    """Yield the options that select links; each takes words separated by commas, and may be repeated."""
    for name, meaning, words in (
        ("kind", f"of these kinds: {', '.join(sorted(KINDS))}", sorted(KINDS)),
        ("scope", f"to these places: {', '.join(SCOPES)}", SCOPES),
        ("problem", "with these problems, such as unresolved", PROBLEMS),
    ):
        yield _harmless(f"--{name} WORD,...", command, f"only links {meaning}", words=words, repeats=True)


def _choosing(command: str) -> Iterator[Option]:
    """Yield the options that select columns and rows."""
    columns = partial(_columns, command)
    yield _harmless("--columns NAME,...", command, "only these columns, in this order", words=columns)
    text = "print the result of a query, as in SELECT count(*) FROM links"
    yield Option("--sql QUERY", command, text)


# Title of a group -> its options, both in the order of the help of every command. A help fits on two screens.
OPTIONS: Final[dict[str, tuple[Option, ...]]] = {
    ARGUMENTS: (
        Option("inputs INPUT", _RUNS, "file, folder, URL, or - for standard input (default)", nargs="*"),
        Option("inputs INPUT", "base", "file, URL, or - for standard input (default)", nargs="*"),
        Option("before BEFORE", "verify", "before the rewrite: file, folder, or - for the standard input"),
        Option("after AFTER", "verify", "after it: file, folder, or - for the standard input"),
        Option("base BASE", "resolve", "base URL; '' for none"),
        Option("references REFERENCE", "resolve", "reference to resolve against BASE", nargs="+"),
        Option("about COMMAND", "help", "one of the commands", choices=_commands, nargs="?"),
        Option("commands COMMAND", "config", "only these commands (default: all)", nargs="*"),
        Option("shell", "completion", "shell for which to print the script", choices=SHELLS),
    ),
    "inputs": (
        Option("--from FILE", _RUNS, "names of inputs, one a line"),
        Option("--start URL", "mirror", "hold only what this page leads to"),
        Option("--depth N", f"mirror {_AUDITS}", "fetch pages up to N links from a URL", type=whole(0, 1_000_000)),
        _harmless("--include GLOB", _RUNS, "in folders, only '*.html' by name, 'docs/**' by path", repeats=True),
        _harmless("--exclude GLOB", _RUNS, "in folders, not these files and folders", repeats=True),
        Option("--hidden", f"{_RUNS} verify", "in folders, also hidden files and node_modules"),
        _harmless("-u --url URL", ASKING, "URL of the input; of a folder, for pages that record none; file: for paths"),
        _harmless("-u --url URL", OF_SITES, "URL of the inputs; a folder is the site there"),
        _harmless("--media-type TYPE", _READING, "media type (default: by name and content)"),
        _harmless("--charset LABEL", _READING, "encoding, unless a byte order mark gives it"),
        Option("--url-map FILE", f"{_RUNS} verify", "table with the URLs of single files: path, URL"),
    ),
    "output": (
        Option(
            "-o --output OUT",
            "rewrite",
            "file or folder to write (default: standard output)",
            rivals="place",
        ),
        Option("--in-place", "rewrite", "replace the input files", rivals="place"),
        Option("-o --output OUT", _LISTS, "file to write (default: standard output)", rivals="place"),
        Option(
            "-o --output OUT",
            _AUDITS,
            "file, in the format of its suffix; may be repeated",
            repeats=True,
            attribute="outputs",
        ),
        Option(
            "-o --output DIR",
            "mirror",
            "write the mirror into DIR, *.zip or *.zim; one page into *.html or *.mhtml",
            rivals="place",
        ),
        Option("--check DIR", "mirror", "find dead links and the like in any mirror", rivals="place"),
        Option("--serve DIR", "mirror", "show a mirror on this machine, with its media types", rivals="place"),
        Option("--port N", "mirror", "with --serve: the port (default: a free one)", type=whole(0, 65535), default=0),
        Option("--browser", "mirror", "with --check: open the pages in a headless Chromium", attribute="open"),
        Option("--prune", "mirror", "remove files of an earlier run that no longer belong"),
        _harmless("-n --dry-run", "mirror", "write no file; print the path of each URL", rivals="shown"),
        Option("--backup SUFFIX", "rewrite", "with --in-place, keep the original as NAME + SUFFIX"),
        _harmless("--verify", "rewrite", "write only files in which nothing but links changes"),
        _harmless("-n --dry-run", "rewrite", "write no file; count the links that would change", rivals="shown"),
        _harmless("--diff", "rewrite", "write no file; print a diff for patch", rivals="shown"),
        Option("--log FILE", "rewrite", "list each changed link in FILE (.csv, .json, .jsonl)"),
        _harmless(
            "-f --format FORMAT",
            "rewrite base mirror verify resolve config",
            "of what is printed: text (default) or json",
            choices=("text", "json"),
            default="text",
        ),
        _harmless(
            "-f --format FORMAT",
            _LISTS,
            lambda: f"{', '.join(_formats())} (default: by the suffix of OUT)",
            choices=_formats,
            type=_format,
        ),
        _harmless("-f --format FORMAT", _AUDITS, "format of all outputs; without -o of what is printed"),
        Option("--sql QUERY", _AUDITS, "print the result of a query over the result tables"),
    ),
    "selection of links and columns": (
        *_selecting("links"),
        *_choosing("links"),
        Option(
            "--fail-on WORD,...",
            "links",
            "exit with status 1 for links with these, or any",
            words=(*PROBLEMS, "any"),
            repeats=True,
        ),
    ),
    "selection of documents and columns": tuple(_choosing("documents")),
    "selection of links to change": tuple(_selecting("rewrite")),
    "selection of links that change": tuple(_selecting("verify")),
    "changes": (
        _harmless("--fragments", _CHANGING, "#fragment links: keep (default), or absolute", choices=FRAGMENTS),
        _harmless("--base", _CHANGING, "the base element: absolute (keep, default), or empty", choices=BASES),
        _harmless(
            "--form",
            "rewrite verify",
            "of links within the site: absolute (default), root (/x), relative (../x), file (../x/index.html), keep",
            choices=FORMS,
            default="absolute",
        ),
        Option("--base-path PATH", "rewrite verify", "with --form: the path of the site's root, as /proj/"),
        _harmless("--json-ld", _CHANGING, "also change references in JSON-LD"),
        Option(
            "--remap FROM=TO|@FILE",
            "rewrite verify",
            "replace the prefix FROM of URLs by TO, or read such rules from a table",
            repeats=True,
        ),
        Option(
            "--unwrap NAME,...",
            "rewrite verify",
            f"replace the URLs of {', '.join(UNWRAPPED)} by the URLs in them",
            words=UNWRAPPED,
            repeats=True,
        ),
    ),
    "the mirror": (
        Option("--at DATE", "mirror", "the newest captures that are not later than DATE"),
        Option("--keep-errors", "mirror", "also hold error pages", is_setting=True),
        Option("--same WORD,...", "mirror", _same),
        Option(
            "--absent",
            "mirror",
            "what is not held: keep (default), or make inert (sever)",
            choices=("keep", "sever"),
            default="keep",
        ),
        Option("--missing FILE", "mirror", "list the URLs that this copy lacks"),
    ),
    "the old site, and what servers do": (
        Option(
            "--old OLD",
            "audit",
            "the old site: a folder, archive, list of URLs, log",
            repeats=True,
        ),
        Option("--old-url URL", "audit", "URL of its root, for each of its hosts", repeats=True, attribute="old_urls"),
        Option(
            "--map MAP",
            "audit",
            "redirects: a table, or a server's configuration",
            repeats=True,
            attribute="maps",
        ),
        _setting(
            "--similar SHARE",
            "audit",
            "how similar two texts must be to be the same page, 0 to 1 (default: %(default)s)",
            type=share,
            default=_SIMILAR,
        ),
        Option(
            "--answers FILE",
            _AUDITS,
            "what servers answered: a WARC, HAR, CSV or JSON",
            repeats=True,
        ),
        Option(
            "--live WHAT",
            "check",
            "ask servers: external links, new (of the site), all",
            choices=("external", "new", "all"),
        ),
        Option("--live WHAT", "audit", "ask servers for links: external, old, new or all", choices=_live),
        Option(
            "--resolve HOST=URL",
            _AUDITS,
            "with --live: connect to this server for HOST",
            type=resolved,
            repeats=True,
        ),
        _harmless("--server WORD,...", _AUDITS, _server, words=_servers, default="plain"),
    ),
    "findings": (
        Option(
            "--ignore REGEX",
            _AUDITS,
            "no findings for these URLs or references; a reason may follow: '/drafts/ # not public'; @FILE has one a"
            " line",
            repeats=True,
        ),
        _harmless(
            "--fragments",
            _AUDITS,
            "places (default), or all: #/ and #! are places, too",
            choices=("places", "all"),
            default="places",
            attribute="places",
        ),
        _harmless("--why URL", _AUDITS, "print how the verdict of this URL came about"),
        Option("--baseline FILE", _AUDITS, "report what is new and healed since this output"),
        Option("--changed-since REV", _AUDITS, "only findings in files changed since a git revision"),
        Option("--fail-on VERDICT,...", _AUDITS, _failing),
        Option("--fix", _AUDITS, "make the certain repairs in the files of the site"),
        _harmless("--diff", _AUDITS, "with --fix: change no file, print a diff"),
        _harmless("--verify", _AUDITS, "with --fix: check that only links change"),
        Option("--write-map FILE", "audit", "write the maps as one .csv, _redirects, .htaccess, .conf"),
    ),
    "the web": (
        _harmless(
            "--timeout SECONDS", ON_LINE, "time for one response (default: %(default)g)", type=seconds, default=30.0
        ),
        Option("--header FIELD", ON_LINE, "send this field, as in 'Authorization: Bearer x'", type=field, repeats=True),
        Option("--cookies FILE", ON_LINE, "send the cookies in FILE, as curl writes them"),
        Option("--retries N", ON_LINE, "tries after an error (default: %(default)s)", type=whole(0, 20), default=2),
        Option(
            "--concurrency N,N",
            ON_LINE,
            "requests in total, and per host (default: 16,4)",
            type=pair,
            default=(16, 4),
        ),
        Option("--cache DIR", ON_LINE, "keep responses in DIR, as HTTP's rules say"),
        _harmless("--deny-private", ON_LINE, "connect to public addresses only"),
        Option("--ignore-robots", ON_LINE, "also request what robots.txt does not allow", is_setting=True),
        Option("--save FILE", ON_LINE, "keep requests and responses in FILE.warc.gz"),
    ),
    "resolving and limits": (
        _harmless(
            "--profile",
            f"{_READING} resolve",
            f"resolve by {', '.join(PROFILES)} (default: %(default)s)",
            choices=tuple(PROFILES),
        ),
        _harmless("--ignore-base WORD,...", _READING, f"no base from {', '.join(IGNORABLE)}", words=IGNORABLE),
        _setting(
            "--max-depth N",
            _READING,
            "leave documents nested deeper than N levels unchanged (default: %(default)s)",
            type=whole(0, DEEPEST),
        ),
        _harmless("--max-size BYTES", _READING, "leave larger documents unchanged (default: 1G)", type=size),
        _setting(
            "--max-links N", _READING, "leave documents with more links unchanged (default: %(default)s)", type=number
        ),
        _setting(
            "--max-decompressed BYTES",
            _READING,
            "leave content with more bytes after decompression, and larger WARC records, unchanged (default: 128M)",
            type=size,
        ),
        _setting(
            "--max-url LENGTH",
            _READING,
            "make no URL of more characters: leave such a link, and links relative to such a base, unchanged"
            " (default: 2M)",
            type=size,
        ),
        _setting(
            "--max-rows-bytes BYTES",
            _READING,
            "list no document whose rows have more bytes of URLs and text in total (default: 2G)",
            type=size,
        ),
    ),
    HELP: (
        _harmless("-j --jobs N", _RUNS, "number of processes (default: one per core)", type=whole(1, 1024)),
        Option("--resume", "rewrite", "continue a run that was killed or has failures: skip inputs that are done"),
        Option("--resume", "links documents", "continue such a run; OUT is a text format"),
        Option("--resume", "mirror", "continue a run that was killed"),
        _harmless("-q --quiet", _RUNS, "report failures only", rivals="verbosity"),
        _harmless("-v --verbose", _RUNS, "report every diagnostic, also what inputs share", rivals="verbosity"),
        Option("--config FILE", _ALL, "read options from FILE (default: absolve.toml)"),
        _harmless("--color", _ALL, "auto (default: on a terminal), always or never", choices=COLORS, default="auto"),
    ),
}
_OF_AUDITS: Final[dict[str, object]] = {"profile": "whatwg", "output": None}  # it has several outputs
# Where a command has other defaults.
DEFAULTS: Final[dict[str, dict[str, object]]] = {
    "mirror": {"profile": "whatwg"},
    "audit": _OF_AUDITS,
    # one site: there is no old one
    "check": _OF_AUDITS | {"old": (), "old_urls": (), "maps": (), "write_map": None, "similar": _SIMILAR},
}

# Options of earlier versions -> what to do instead.
REMOVED: Final = {
    "--all": "leave it out: base lists the documents inside",
    "--banner": "leave it out: mirror.sqlite has the URL and the date of each page",
    "--bare-folder": "--server bare-folder=nothing",
    "--break-signatures": "leave it out: signed parts are listed and stay",
    "--by": "leave it out: a mirror has a folder for each host",
    "--case": "--server case=ignore",
    "--companions": "leave it out: links to files that were saved with a page stay",
    "--compare": "absolve links --profile browser resolves links as browsers do",
    "--conditional-comments": "leave it out: comments are no markup, and browsers of today read none",
    "--csv-safe": "leave it out: tables for spreadsheets run no formula",
    "--data-urls": "leave it out: documents in data: URLs are listed and stay",
    "--engine": "absolve.spark.links(spark, paths) in Python lists on a Spark cluster",
    "--default-url": "--url: of a folder it is for the pages that record none",
    "--entry": "--ignore REGEX leaves out the finding about this page",
    "--errors": "-q 2> FILE keeps the failures, one a line",
    "--extensions": "--server extension=html",
    "--file-urls": "--url file:",
    "--for": "leave it out: a mirror works from a disk and from a server",
    "--ignore-file": "--ignore @FILE",
    "--index": "--server index=home.html",
    "--json": "-f json",
    "--lazy": "leave it out: links in data-src and the like are links",
    "--limit": '--sql "FROM links LIMIT 10"',
    "--man": "argparse-manpage --module absolve.cli.parsing --function parser writes the manual page",
    "--map-format": "leave it out: the name and the content of a map show its form",
    "--master": "absolve.spark.links(spark, paths) in Python lists on a Spark cluster",
    "--memory": "leave it out: the queries use 1 GB of memory, and then the disk",
    "--missing-kind": "sqlite3 mirror.sqlite \"SELECT url FROM missing WHERE kind = 'image'\" in the mirror",
    "--mirror-layout": "leave it out: folders named as hosts give the URL of their pages",
    "--mkdirs": "leave it out: folders above OUT are made",
    "--network": "leave it out: pages of a mirror never reach the web",
    "--no-progress": "--quiet prints failures only",
    "--only-mapped": "--form keep",
    "--queries": "--sql asks the tables of results",
    "--queries-of-files": "--server query=exact",
    "--recover": "leave it out: XML is recovered as XML; --media-type text/html reads it as HTML",
    "--remap-file": "--remap @FILE",
    "--relative-only": "absolve rewrite FOLDER --form file",
    "--show-credentials": "leave it out: passwords in URLs are never shown",
    "--sort": '--sql "FROM links ORDER BY target"',
    "--undo": "git checkout, or the copies that --backup keeps",
    "--unique": '--sql "FROM links SELECT DISTINCT target"',
    "--where": "--sql \"FROM links WHERE element = 'img'\"",
    "--write-requests": "--live asks the servers",
    "--zip": "-o FILE.zip",
}


def of(command: str) -> Iterator[tuple[str, Option]]:
    """Yield the options of a command, each with the title of its group, in the order of the help."""
    for title, options in OPTIONS.items():
        for option in options:
            if command in option.commands.split():
                yield title, option


def names() -> set[str]:
    """Return the long names of all options that a configuration file may give."""
    return {row.name for rows in OPTIONS.values() for row in rows if row.names and row.name != "config"}


def having(name: str) -> list[str]:
    """Return the commands that have an option of this name, such as `--url` or `-u`."""
    return [
        command
        for command in _ALL.split()
        if any(name in option.names and not option.is_setting for _, option in of(command))
    ]
