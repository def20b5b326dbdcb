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
HELP: Final = "help"
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
    return (
        f"like which server: {', '.join(_servers())} (default: %(default)s), or what it does otherwise: index=NAME,"
        " the file of a folder; extension=html, which URLs may leave out; bare-folder=redirect or nothing, a folder"
        " without its slash; case=exact or ignore, of paths; query=ignore or exact, behind the name of a file"
    )


def _live() -> Sequence[str]:
    from absolve.audit.live import KINDS

    return KINDS


def _layouts() -> Sequence[str]:
    from absolve.mirror.paths import LAYOUTS

    return LAYOUTS


def _commands() -> Sequence[str]:
    from absolve.cli.commands import COMMANDS

    return tuple(COMMANDS)


def _same() -> str:
    from absolve.mirror.urls import MORE, NONE

    return f"more URLs that count as equal: {','.join(MORE)}; {NONE} for no others"


def _failing() -> str:
    from absolve.audit.tables import TOLERATED

    return f"verdicts that make the exit status 1, none for never (default: all but {', '.join(TOLERATED)})"


# --- the table --------------------------------------------------------------------------------------------------------

_READING: Final = "rewrite links documents base mirror audit verify"
_RUNS: Final = "rewrite links documents mirror audit"  # over many inputs
_LISTS: Final = "links documents"
ASKING: Final = f"rewrite {_LISTS} base verify"  # their inputs may be URLs
ON_LINE: Final = f"{ASKING} mirror audit"  # those of these two are asked for with what they link to or need
_CHANGING: Final = f"rewrite {_LISTS} verify"
_TELLING: Final = f"{_READING} resolve config"  # they print messages about inputs
_ALL: Final = f"{_TELLING} completion help"

_harmless = partial(Option, is_harmless=True)
_setting = partial(_harmless, is_setting=True)


def _selecting(command: str) -> Iterator[Option]:
    """Yield the options that select links; each takes words separated by commas, and may be repeated."""
    for name, meaning, words in (
        ("kind", "of these kinds", sorted(KINDS)),
        ("scope", "whose target has one of these scopes, relative to the document", SCOPES),
        ("problem", "with any of these problems", PROBLEMS),
    ):
        text = f"only links {meaning}: {', '.join(words)}"
        yield _harmless(f"--{name} WORD,...", command, text, words=words, repeats=True)


def _choosing(command: str) -> Iterator[Option]:
    """Yield the options that select columns and rows."""
    columns = partial(_columns, command)
    yield _harmless("--columns NAME,...", command, "only these columns, in this order", words=columns)
    text = "print the result of a query over the rows, as in FROM links SELECT host, count(*) GROUP BY ALL"
    yield Option("--sql QUERY", command, text)


# Title of a group -> its options, both in the order of the help of every command.
OPTIONS: Final[dict[str, tuple[Option, ...]]] = {
    ARGUMENTS: (
        Option(
            "inputs INPUT",
            _RUNS,
            "file, folder (with its subfolders), URL, or - for the standard input (default)",
            nargs="*",
        ),
        Option("inputs INPUT", "base", "file, or - for the standard input (default)", nargs="*"),
        Option("before BEFORE", "verify", "before the rewrite: file, folder, or - for the standard input"),
        Option("after AFTER", "verify", "after it: file, folder, or - for the standard input"),
        Option("base BASE", "resolve", "base URL; '' for none"),
        Option("references REFERENCE", "resolve", "reference to resolve against BASE", nargs="+"),
        Option("about COMMAND", "help", "one of the commands", choices=_commands, nargs="?"),
        Option("commands COMMAND", "config", "only these commands (default: all)", nargs="*"),
        Option("shell", "completion", "shell for which to print the script", choices=SHELLS),
    ),
    "folders and lists": (
        Option(
            "--from FILE",
            _RUNS,
            "read names of inputs from FILE (- is the standard input), one per line or separated by NUL; mirror --from"
            " URL: only what that page leads to",
        ),
        Option(
            "--depth N",
            "mirror audit",
            "with a URL as INPUT, also its host's pages up to N links away; with --from URL, at most N links away",
            type=whole(0, 1_000_000),
        ),
        _harmless(
            "--include GLOB",
            _RUNS,
            "in folders, only matching files: '*.html' by name, 'docs/**' by path; of a mirror also by host and URL",
            repeats=True,
        ),
        _harmless("--exclude GLOB", _RUNS, "in folders, skip matching files and folders; the same rules", repeats=True),
        Option(
            "--hidden",
            f"{_RUNS} verify",
            "in folders, also read hidden files and folders, node_modules, and what programs keep (hts-cache)",
        ),
        _harmless(
            "--mirror-layout",
            f"{_RUNS} verify",
            "folders are host/path, as wget and HTTrack write them: the URL of pages that record none",
        ),
    ),
    "facts about the inputs": (
        _harmless("-u --url URL", _READING, "URL from which the inputs were retrieved (RFC 1808, section 3.3)"),
        _harmless("--default-url URL", _READING, "the same, for inputs that record none of their own"),
        Option("--file-urls", _READING, "use the path of a file (file:///...) as its URL if no other is known"),
        _harmless("--media-type TYPE", _READING, "media type (default: by name and content)"),
        _harmless("--charset LABEL", _READING, "character encoding, unless a byte order mark gives it"),
        Option("--url-map FILE", f"{_RUNS} verify", "table with retrieval URLs of single files: path, URL"),
    ),
    "output": (
        Option(
            "-o --output OUT",
            "rewrite",
            "write to this file, or into this folder under the inputs' names (default: the standard output)",
            rivals="place",
        ),
        Option("--in-place", "rewrite", "replace the input files", rivals="place"),
        Option(
            "-o --output OUT",
            _LISTS,
            "write to OUT, completely or not at all (default: the standard output)",
            rivals="place",
        ),
        Option(
            "-o --output OUT",
            "audit",
            "write to OUT, in the format of its suffix; may be repeated",
            repeats=True,
            attribute="outputs",
        ),
        Option(
            "-o --output DIR",
            "mirror",
            "write the mirror into DIR, or *.zip or *.zim; one page with all that it needs into *.html or *.mhtml",
            rivals="place",
        ),
        Option("--check DIR", "mirror", "check any mirror: dead links, changed files, names", rivals="place"),
        Option("--serve DIR", "mirror", "show a mirror on this machine, with its media types", rivals="place"),
        Option("--port N", "mirror", "with --serve: the port (default: a free one)", type=whole(0, 65535), default=0),
        Option("--network", "mirror", "with --serve: let pages reach the web"),
        Option("--by", "mirror", "folders: host/path (host, default) or path (site)", choices=_layouts, default="host"),
        Option("--relative-only", "mirror", "make the links of a folder of pages relative, in place or in a copy (-o)"),
        Option("--prune", "mirror", "remove files of an earlier run that no longer belong"),
        _harmless("-n --dry-run", "mirror", "write no file; print the path of each URL", rivals="shown"),
        Option(
            "--backup SUFFIX",
            "rewrite",
            "with --in-place, keep the original as NAME + SUFFIX, with a number added if that file exists",
        ),
        _harmless(
            "--verify",
            "rewrite",
            "check that only links change before writing a file; leave it unchanged if the check fails",
        ),
        _harmless(
            "-n --dry-run",
            "rewrite",
            "write no file, not even --log and --errors; print the number of links, and of those that would change",
            rivals="shown",
        ),
        _harmless(
            "--diff",
            "rewrite",
            "write no file, not even --log and --errors; print a diff for patch",
            rivals="shown",
        ),
        _harmless(
            "--diff",
            "mirror",
            "with --relative-only: write no file, not even --log and --errors; print a diff for patch",
            rivals="shown",
        ),
        Option(
            "--log FILE",
            "rewrite",
            "also write each changed link to FILE (.csv, .tsv, .json, .jsonl): document, line, old, new, rule",
        ),
        _harmless("--all", "base", "also show the documents inside each input"),
        _harmless(
            "--format",
            "base",
            "a drawing (text, default), or an array of objects (json)",
            choices=("text", "json"),
            default="text",
            rivals="form",
        ),
        _harmless(
            "-f --format FORMAT",
            _LISTS,
            lambda: (
                f"{', '.join(_formats())} (default: by the suffix of OUT; without OUT table on a terminal, else jsonl)"
            ),
            choices=_formats,
            type=_format,
            rivals="form",
        ),
        _harmless(
            "-f --format FORMAT",
            "audit",
            "format of all outputs; without -o, of the standard output",
            rivals="form",
        ),
        _harmless("--json", f"{_LISTS} base", "print JSON, as --format json", rivals="form"),
        _harmless(
            "--json",
            "audit",
            "print the summary, the causes and the findings as JSON; --format json prints all tables",
            rivals="form",
        ),
        _harmless("--json", "rewrite", "with --dry-run: print JSON, an object for each input"),
        _harmless("--json", "mirror", "with --check or --dry-run: print JSON, an object for each fault or URL"),
        _harmless("--json", "verify", "print the differences as JSON on the standard output"),
        _harmless("--json", "resolve config", "print JSON"),
        Option("--sql QUERY", "audit", "print the result of a query over the tables of results"),
        _harmless("--why URL", "audit", "print step by step how the verdict of this URL, old or new, came about"),
        Option("--baseline FILE", "audit", "an earlier output: report what is new, what is healed"),
        Option(
            "--changed-since REV",
            "audit",
            "no findings of documents of NEW that did not change since this git revision, or in a range such as"
            " main...HEAD",
        ),
        Option("--fail-on VERDICT,...", "audit", _failing),
    ),
    "selection of links and columns": (
        *_selecting("links"),
        *_choosing("links"),
        Option(
            "--fail-on WORD,...",
            "links",
            "exit with status 1 if a listed link has one of these problems (words as for --problem, or any)",
            words=(*PROBLEMS, "any"),
            repeats=True,
        ),
    ),
    "selection of documents and columns": tuple(_choosing("documents")),
    "changes": (
        _harmless(
            "--fragments",
            _CHANGING,
            "#fragment links within the document: leave unchanged (keep, default) or make absolute",
            choices=FRAGMENTS,
        ),
        _harmless(
            "--base", _CHANGING, "URL of the base element: make absolute (keep, default) or make empty", choices=BASES
        ),
        _harmless(
            "--form",
            "rewrite verify",
            "links within the site (the folder of --url, or the page's host): absolute (default), from its root"
            " (/x/y), relative (../y), or keep; feeds, sitemaps, mail, Open Graph and canonical links stay absolute",
            choices=FORMS,
            default="absolute",
        ),
        Option("--base-path PATH", "rewrite verify", "with --form: the path that the site's root will have, as /proj/"),
        _harmless("--json-ld", _CHANGING, "also change references in JSON-LD"),
    ),
    "selection of links to change": tuple(_selecting("rewrite")),
    "selection of links that change": tuple(_selecting("verify")),
    "mapping old URLs to new ones, after links are made absolute": (
        Option(
            "--remap FROM=TO",
            "rewrite verify",
            "replace the prefix FROM of a URL by TO; //host matches http and https. The longest matching FROM applies;"
            " it must end at the end of a path segment or parameter",
            repeats=True,
        ),
        Option(
            "--remap-file FILE",
            "rewrite verify",
            "read such rules from a table: from, to, and prefix (the default), exact, regex, query or"
            " preset; or the copies in a web archive from CDX or a TimeMap",
        ),
        Option(
            "--only-mapped",
            "rewrite verify",
            "change only the links that a rule matches; all others stay as they are",
        ),
        Option(
            "--unwrap NAME,...",
            "rewrite verify",
            "before other rules, take the URL out of that of an archive or a redirect"
            f" ({', '.join(UNWRAPPED)}: out of queries)",
            words=UNWRAPPED,
            repeats=True,
        ),
    ),
    "what is held": (
        Option("--at DATE", "mirror", "of several captures of a URL, the newest that is not later than DATE"),
        Option("--keep-errors", "mirror", "also hold error pages"),
        Option("--same WORD,...", "mirror", _same),
    ),
    "links and edits": (
        Option(
            "--absent",
            "mirror",
            "what a page fetches and the mirror lacks: keep (default), or make inert (sever)",
            choices=("keep", "sever"),
            default="keep",
        ),
        Option("--for", "mirror", "how it will be read", choices=("file", "server"), default="file"),
        Option(
            "--missing FILE", "mirror", "write the URLs that this copy lacks, one per line (not links to other sites)"
        ),
    ),
    "the old site, and the maps between the sites": (
        Option(
            "--old OLD",
            "audit",
            "the old site: folders, archives, inventories, sitemaps, lists of URLs, exports, access logs",
            repeats=True,
            nargs="+",
        ),
        Option(
            "--old-url URL",
            "audit",
            "the URL of its root; repeated for more hosts of it, such as www.old.example and old.example",
            repeats=True,
            attribute="old_urls",
        ),
        Option(
            "--map MAP",
            "audit",
            "redirects: a table (CSV, .xlsx), _redirects, .htaccess, or the configuration of a server or host",
            repeats=True,
            nargs="+",
            attribute="maps",
        ),
        _harmless("--map-format FORMAT", "audit", "the form of all maps (default: by name and content)"),
        _harmless(
            "--similar SHARE",
            "audit",
            "how similar two texts must be to be the same page, 0 to 1 (default: %(default)s)",
            type=share,
            default=0.8,
        ),
        _harmless("--entry URL", "audit", "a page to which no other page has to link; may be repeated", repeats=True),
    ),
    "what servers answer": (
        Option(
            "--answers FILE",
            "audit",
            "what servers answered for links and old URLs: a WARC, a HAR, the output of curl -i, CSV or JSON of a link"
            " checker or a crawler",
            repeats=True,
            nargs="+",
        ),
        Option(
            "--live WHAT",
            "audit",
            "ask servers: external (links to other sites), old (the URLs of the old site), new (those of the new one),"
            " or all (default without WHAT)",
            choices=_live,
            nargs="?",
        ),
        Option(
            "--resolve HOST=URL",
            "audit",
            "with --live: connect to this server for HOST, as in old.example=http://127.0.0.1:8080; may be repeated",
            type=resolved,
            repeats=True,
        ),
    ),
    "what is known and accepted": (
        Option(
            "--ignore REGEX",
            "audit",
            "no finding for what has such a URL or reference; a reason may follow: '/drafts/ # not public'; may be"
            " repeated",
            repeats=True,
        ),
        Option("--ignore-file FILE", "audit", "a file with one such pattern per line; may be repeated", repeats=True),
        _harmless(
            "--fragments",
            "audit",
            "places: #/ and #! are routes of a script (default); all: they are places, too",
            choices=("places", "all"),
            default="places",
            attribute="places",
        ),
    ),
    "how URLs find files": (
        _harmless("--server WORD,...", "audit", _server, words=_servers, default="plain"),
    ),
    "repairs": (
        Option("--fix", "audit", "make the repairs that are certain, in the files of NEW"),
        _harmless("--diff", "audit", "with --fix: change no file, print a diff"),
        _harmless("--verify", "audit", "with --fix: check that only links change"),
        Option(
            "--write-map FILE",
            "audit",
            "write the maps as one .csv, _redirects, .htaccess or .conf, without chains, with the certain rules added;"
            " - for the standard output, in the form of the first map or CSV",
        ),
    ),
    "the browser": (
        Option(
            "--browser",
            "mirror",
            "with --check: open the pages in a headless Chromium, without a network",
            attribute="open",
        ),
    ),
    "inputs by URL": (
        _harmless(
            "--timeout SECONDS",
            ON_LINE,
            "time limit for a page, or for each response of a server (default: %(default)g)",
            type=seconds,
            default=30.0,
        ),
        Option(
            "--header FIELD",
            ON_LINE,
            "send this field with each URL, as in 'Authorization: Bearer x'; after a redirect to another origin only a"
            " User-Agent and what the reader accepts",
            type=field,
            repeats=True,
        ),
        Option("--cookies FILE", ON_LINE, "send the cookies in FILE, in Netscape's form, as curl writes them"),
        Option(
            "--retries N",
            ON_LINE,
            "tries after a network error, or an answer that asks for patience (default: %(default)s)",
            type=whole(0, 20),
            default=2,
        ),
        Option(
            "--concurrency N,N",
            ON_LINE,
            "requests at once, in total and per host (default: 16,4)",
            type=pair,
            default=(16, 4),
        ),
        Option("--cache DIR", ON_LINE, "keep responses in DIR, and ask again only for what HTTP's rules call stale"),
        _harmless("--deny-private", ON_LINE, "connect to public addresses only"),
        Option("--ignore-robots", ON_LINE, "also request what robots.txt does not allow"),
        Option("--save FILE", ON_LINE, "keep requests and responses in FILE, a WARC (.warc.gz), without passwords"),
    ),
    "finding and resolving links": (
        _harmless(
            "--profile",
            f"{_READING} resolve",
            "resolve by " + "; by ".join(f"{row.summary} ({name})" for name, row in PROFILES.items()),
            choices=tuple(PROFILES),
        ),
        _harmless(
            "--ignore-base WORD,...",
            _READING,
            f"claims of a base that do not count: {', '.join(IGNORABLE)}",
            words=IGNORABLE,
        ),
    ),
    "limits": (
        _setting(
            "--max-depth N",
            _READING,
            "leave documents nested deeper than N levels unchanged (default: %(default)s)",
            type=whole(0, DEEPEST),
        ),
        _harmless(
            "--max-size BYTES",
            _READING,
            "leave larger documents unchanged; K, M or G may follow the number (default: 1G)",
            type=size,
        ),
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
    "run": (
        _harmless(
            "-j --jobs N",
            _RUNS,
            "number of processes (default: one per core; one for a few small inputs)",
            type=whole(1, 1024),
        ),
        Option("--errors FILE", _RUNS, "also write failures to FILE, as JSON lines"),
        _harmless("-q --quiet", _RUNS, "report failures only, without the line that ends a run", rivals="verbosity"),
        _harmless(
            "-v --verbose",
            _RUNS,
            "report every diagnostic (default: what inputs share once, with the number of the others)",
            rivals="verbosity",
        ),
        Option(
            "--resume",
            "rewrite",
            "continue a run with the same inputs and output that was killed, or in which inputs failed: skip inputs"
            " that are done, unless they, their results or the options have changed",
        ),
        Option(
            "--resume",
            "links documents",
            "keep the rows of inputs that are done until OUT is complete, and continue an earlier run with this option"
            " that was killed, or in which inputs failed; OUT must be a text format",
        ),
        Option("--resume", "mirror", "continue a run that was killed"),
        Option(
            "--config FILE",
            _ALL,
            "read options from FILE (default: $ABSOLVE_CONFIG, or absolve.toml in this folder or above)",
        ),
    ),
    HELP: (
        _harmless(
            "--color",
            _ALL,
            "colours and hyperlinks: auto (default: on a terminal, unless $NO_COLOR is set or $TERM is dumb), always"
            " (as with $FORCE_COLOR) or never",
            choices=COLORS,
            default="auto",
        ),
    ),
}
# Commands that are another one, with a help of their own.
ALIASES: Final = {"check": "audit"}

# Where a command has other defaults; an audit has several outputs, no `output`.
DEFAULTS: Final[dict[str, dict[str, str | None]]] = {
    "mirror": {"profile": "whatwg"},
    "audit": {"profile": "whatwg", "output": None},
}

# Options of earlier versions -> what to do instead.
REMOVED: Final = {
    "--banner": "leave it out: mirror.sqlite has the URL and the date of each page",
    "--bare-folder": "--server bare-folder=nothing",
    "--break-signatures": "leave it out: signed parts are listed and stay",
    "--case": "--server case=ignore",
    "--companions": "leave it out: links to files that were saved with a page stay",
    "--compare": "absolve links --profile browser resolves links as browsers do",
    "--conditional-comments": "leave it out: comments are no markup, and browsers of today read none",
    "--csv-safe": "leave it out: tables for spreadsheets run no formula",
    "--data-urls": "leave it out: documents in data: URLs are listed and stay",
    "--engine": "absolve.spark.links(spark, paths) in Python lists on a Spark cluster",
    "--extensions": "--server extension=html",
    "--index": "--server index=home.html",
    "--lazy": "leave it out: links in data-src and the like are links",
    "--limit": '--sql "FROM links LIMIT 10"',
    "--man": "argparse-manpage --module absolve.cli.parsing --function parser writes the manual page",
    "--master": "absolve.spark.links(spark, paths) in Python lists on a Spark cluster",
    "--memory": "leave it out: the queries use 1 GB of memory, and then the disk",
    "--missing-kind": "sqlite3 mirror.sqlite \"SELECT url FROM missing WHERE kind = 'image'\" in the mirror",
    "--mkdirs": "leave it out: folders above OUT are made",
    "--no-progress": "--quiet prints failures only",
    "--queries": "--sql asks the tables of results",
    "--queries-of-files": "--server query=exact",
    "--recover": "leave it out: XML is recovered as XML; --media-type text/html reads it as HTML",
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
    meant = ALIASES.get(command, command)
    for title, options in OPTIONS.items():
        for option in options:
            if meant in option.commands.split():
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
