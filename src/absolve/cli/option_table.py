"""The options of all commands, each declared once: names, value, help, commands, and whether a found file may set it.

In: nothing. Out: `OPTIONS`, from which `parsing` builds the parsers, and the type of parsed options, `Options`;
configuration files, completion and the site follow them. Texts that need an import are functions, called for the
command that runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from absolve.cli.option import (
    Option,
    age,
    called,
    field,
    limit,
    number,
    pair,
    pause,
    resolved,
    seconds,
    share,
    size,
    whole,
)
from absolve.core.model import KINDS, SCOPES
from absolve.document.settings import BASES, DEEPEST, FRAGMENTS
from absolve.inventory import PROBLEMS
from absolve.rewriting.policy import FORMS, UNWRAPPED
from absolve.urls import PROFILES
from absolve.urls.base import IGNORABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ARGUMENTS: Final = "arguments"  # titles of groups that argparse makes
HELP: Final = "run and help"
COLORS: Final = ("auto", "always", "never")
SHELLS: Final = ("bash", "zsh", "fish", "powershell", "tcsh")

# Words that need an import: `MODULE:NAME`.
_FORMATS: Final = "absolve.tables:FORMATS"
_SERVERS: Final = "absolve.audit.servers:SERVERS"
_EQUAL: Final = "absolve.mirror.lookup:MORE"
_TOLERATED: Final = "absolve.audit.verdicts:TOLERATED"


def _listed(words: str) -> str:
    return ", ".join(called(words))


def _format(text: str) -> str:
    from absolve.tables import OTHERWISE

    return OTHERWISE.get(text, text)


def _columns(table: str) -> Sequence[str]:
    from absolve.run.links_task import every_column

    return every_column(table)


# --- the table --------------------------------------------------------------------------------------------------------

_AUDITS: Final = "check audit"
_READING: Final = f"rewrite links documents base mirror {_AUDITS} verify"
_RUNS: Final = f"rewrite links documents mirror {_AUDITS}"  # over many inputs
_LISTS: Final = "links documents"
ASKING: Final = f"rewrite {_LISTS} base verify"  # their inputs may be URLs
ON_LINE: Final = f"{ASKING} mirror {_AUDITS}"  # mirror and audit also fetch linked pages and page requisites
OF_SITES: Final = f"mirror {_AUDITS}"  # a folder with --url is the whole site at that URL
_CHANGING: Final = f"rewrite {_LISTS} verify"
_PRINTING: Final = f"{_READING} resolve config"  # they print messages about inputs
_ALL: Final = f"{_PRINTING} completion help"

# Title of a group -> its options, both in the order of the help of every command. A help fits on two screens.
OPTIONS: Final[dict[str, list[Option]]] = {}


def _group(title: str) -> None:
    """Begin a group, to which all following rows belong."""
    OPTIONS[title] = []


def _row(usage: str, commands: str, meaning: str | Callable[[], str], **more: Any) -> Any:
    """Add a row, and return its value for commands without this option."""
    option = Option(usage, commands, meaning, **more)
    OPTIONS[next(reversed(OPTIONS))].append(option)
    return option.absent


_harmless = partial(_row, is_harmless=True)
_setting = partial(_harmless, is_setting=True)


def _selecting(command: str) -> Iterator[Any]:
    """Add the options that select links; each takes words separated by commas, and may be repeated."""
    for name, meaning, words in (
        ("kind", f"of these kinds: {', '.join(sorted(KINDS))}", sorted(KINDS)),
        ("scope", f"to these places: {', '.join(SCOPES)}", SCOPES),
        ("problem", "with these problems, such as unresolved", PROBLEMS),
    ):
        yield _harmless(f"--{name} WORD,...", command, f"only links {meaning}", words=words, repeats=True)


def _choosing(command: str) -> Any:
    """Add the options that select columns and rows."""
    columns = partial(_columns, command)
    found = _harmless("--columns NAME,...", command, "only these columns, in this order", words=columns)
    _row("--sql QUERY", command, "print the result of a query, as in SELECT count(*) FROM links")
    return found


class Options:
    """The options of a command line with their types: an attribute for each `dest` of a row.

    The class has the values for options that a command lacks; an instance has the values of its command.
    """

    command: str
    named: list[str]  # of an audit: the URLs that were asked for
    crawl: Any = None  # the crawl of the URLs among the inputs, when it is over
    is_url_found: bool = False  # by a configuration file that nobody named: no host that the user named

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    @property
    def path(self) -> str | None:
        """OUT; None for the standard output."""
        return None if self.output == "-" else self.output

    @property
    def writes(self) -> bool:
        """Whether outputs are written, not only counted or shown."""
        return not (self.dry_run or self.diff)

    _group(ARGUMENTS)
    inputs: list[str] = _row("inputs INPUT", _RUNS, "file, folder, URL, or - for standard input (default)", nargs="*")
    _row("inputs INPUT", "base", "file, URL, or - for standard input (default)", nargs="*")
    before: str = _row("before BEFORE", "verify", "before the rewrite: file, folder, or - for the standard input")
    after: str = _row("after AFTER", "verify", "after it: file, folder, or - for the standard input")
    base: str = _row("base BASE", "resolve", "base URL; '' for none")
    references: list[str] = _row("references REFERENCE", "resolve", "reference to resolve against BASE", nargs="+")
    about: str | None = _row(
        "about COMMAND", "help", "one of the commands", choices="absolve.cli.commands:COMMANDS", nargs="?"
    )
    commands: list[str] = _row("commands COMMAND", "config", "only these commands (default: all)", nargs="*")
    shell: str = _row("shell", "completion", "shell for which to print the script", choices=SHELLS)

    _group("inputs")
    from_: str | None = _row("--from FILE", _RUNS, "names of inputs, one a line")
    start: str | None = _row("--start URL", "mirror", "hold only what this page leads to")
    depth: int | None = _row(
        "--depth N", f"mirror {_AUDITS}", "fetch pages up to N links from a URL", type=whole(0, 1_000_000)
    )
    stop_after: list[tuple[str, float]] = _row(
        "--stop-after LIMIT", f"mirror {_AUDITS}", "end fetching after 500pages, 2GB or 1h", type=limit, repeats=True
    )
    include: list[str] = _harmless(
        "--include GLOB",
        _RUNS,
        "in folders, only '*.html' by name, 'docs/**' by path; of fetched pages also 'https://cdn.example/**'",
        repeats=True,
    )
    exclude: list[str] = _harmless(
        "--exclude GLOB", _RUNS, "in folders, not these files and folders; do not fetch these", repeats=True
    )
    hidden: bool = _row("--hidden", f"{_RUNS} verify", "in folders, also hidden files and node_modules")
    url: str | None = _harmless(
        "-u --url URL", ASKING, "URL of the input; of a folder, for pages that record none; file: for paths"
    )
    _harmless("-u --url URL", OF_SITES, "URL of the inputs; a folder is the site there")
    media_type: str | None = _harmless("--media-type TYPE", _READING, "media type (default: by name and content)")
    charset: str | None = _harmless("--charset LABEL", _READING, "encoding, unless a byte order mark gives it")
    url_map: str | None = _row("--url-map FILE", f"{_RUNS} verify", "table with the URLs of single files: path, URL")

    _group("output")
    output: str | None = _row(
        "-o --output OUT", "rewrite", "file or folder to write (default: standard output)", rivals="place"
    )
    in_place: bool = _row("--in-place", "rewrite", "replace the input files", rivals="place")
    _row("-o --output OUT", _LISTS, "file to write (default: standard output)", rivals="place")
    outputs: list[str] = _row(
        "-o --output OUT",
        _AUDITS,
        "file, in the format of its suffix; may be repeated",
        repeats=True,
        attribute="outputs",
    )
    _row(
        "-o --output DIR",
        "mirror",
        "write the mirror into DIR, *.zip or *.zim; one page into *.html or *.mhtml",
        rivals="place",
    )
    check: str | None = _row("--check DIR", "mirror", "find dead links and the like in any mirror", rivals="place")
    serve: str | None = _row(
        "--serve DIR", "mirror", "show a mirror on this machine, with its media types", rivals="place"
    )
    port: int = _row(
        "--port N", "mirror", "with --serve: the port (default: a free one)", type=whole(0, 65535), default=0
    )
    open: bool = _row("--browser", "mirror", "with --check: open the pages in a headless Chromium", attribute="open")
    prune: bool = _row("--prune", "mirror", "remove files of an earlier run that no longer belong")
    dry_run: bool = _harmless("-n --dry-run", "mirror", "write no file; print the path of each URL", rivals="shown")
    backup: str | None = _row("--backup SUFFIX", "rewrite", "with --in-place, keep the original as NAME + SUFFIX")
    verify: bool = _harmless("--verify", "rewrite", "write only files in which nothing but links changes")
    _harmless("-n --dry-run", "rewrite", "write no file; count the links that would change", rivals="shown")
    diff: bool = _harmless("--diff", "rewrite", "write no file; print a diff for patch", rivals="shown")
    log: str | None = _row("--log FILE", "rewrite", "list each changed link in FILE (.csv, .json, .jsonl)")
    format: str | None = _harmless(
        "-f --format FORMAT",
        "rewrite base mirror verify resolve config",
        "of what is printed: text (default) or json",
        choices=("text", "json"),
        default="text",
    )
    _harmless(
        "-f --format FORMAT",
        _LISTS,
        lambda: f"{_listed(_FORMATS)} (default: by the suffix of OUT)",
        choices=_FORMATS,
        type=_format,
    )
    _harmless("-f --format FORMAT", _AUDITS, "format of all outputs; without -o of what is printed")
    sql: str | None = _row("--sql QUERY", _AUDITS, "print the result of a query over the result tables")

    _group("selection of links and columns")
    kind: list[str]
    scope: list[str]
    problem: list[str]
    kind, scope, problem = _selecting("links")
    columns: str | None = _choosing("links")
    fail_on: list[str] = _row(
        "--fail-on WORD,...",
        "links",
        "exit with status 1 for links with these, or any",
        words=(*PROBLEMS, "any"),
        repeats=True,
    )

    _group("selection of documents and columns")
    _choosing("documents")

    _group("selection of links to change")
    kind, scope, problem = _selecting("rewrite")

    _group("selection of links that change")
    kind, scope, problem = _selecting("verify")

    _group("changes")
    fragments: str = _harmless(
        "--fragments", _CHANGING, "#fragment links: keep (default), or absolute", choices=FRAGMENTS
    )
    _harmless("--base", _CHANGING, "the base element: absolute (keep, default), or empty", choices=BASES)
    form: str = _harmless(
        "--form",
        "rewrite verify",
        "of links within the site: absolute (default), root (/x), relative (../x), file (../x/index.html), keep",
        choices=FORMS,
        default="absolute",
    )
    base_path: str | None = _row(
        "--base-path PATH", "rewrite verify", "with --form: the path of the site's root, as /proj/"
    )
    json_ld: bool = _harmless("--json-ld", _CHANGING, "also change references in JSON-LD")
    remap: list[str] = _row(
        "--remap FROM=TO|@FILE",
        "rewrite verify",
        "replace the prefix FROM of URLs by TO, or read such rules from a table",
        repeats=True,
    )
    mentions: bool = _harmless(
        "--mentions", "rewrite verify", "also change old URLs outside links: in scripts, JSON, SQL, serialized PHP"
    )
    unwrap: list[str] = _row(
        "--unwrap NAME,...",
        "rewrite verify",
        f"replace the URLs of {', '.join(UNWRAPPED)} by the URLs in them",
        words=UNWRAPPED,
        repeats=True,
    )

    _group("the mirror")
    at: str | None = _row("--at DATE", "mirror", "the newest captures that are not later than DATE")
    keep_errors: bool = _row("--keep-errors", "mirror", "also hold error pages", is_setting=True)
    same: str | None = _row(
        "--same WORD,...", "mirror", lambda: f"more URLs that are equal: {','.join(called(_EQUAL))}; none for no others"
    )
    absent: str = _row(
        "--absent",
        "mirror",
        "what is not held: keep (default), or make inert (sever)",
        choices=("keep", "sever"),
        default="keep",
    )
    missing: str | None = _row("--missing FILE", "mirror", "list the URLs that this copy lacks")

    _group("the old site, and what servers do")
    old: list[str] = _row("--old OLD", "audit", "the old site: a folder, archive, list of URLs, log", repeats=True)
    old_urls: list[str] = _row(
        "--old-url URL", "audit", "URL of its root, for each of its hosts", repeats=True, attribute="old_urls"
    )
    maps: list[str] = _row(
        "--map MAP", "audit", "redirects: a table, or a server's configuration", repeats=True, attribute="maps"
    )
    similar: float = _setting(
        "--similar SHARE",
        "audit",
        "how similar two texts must be to be the same page, 0 to 1 (default: %(default)s)",
        type=share,
        default=0.8,
    )
    answers: list[str] = _row(
        "--answers FILE", _AUDITS, "what servers answered: a WARC, HAR, CSV or JSON", repeats=True
    )
    live: str | None = _row(
        "--live WHAT",
        "check",
        "ask servers: external links, new (of the site), all",
        choices=("external", "new", "all"),
    )
    _row("--live WHAT", "audit", "ask servers for links: external, old, new or all", choices="absolve.audit.live:KINDS")
    resolve: list[tuple[str, str]] = _row(
        "--resolve HOST=URL", _AUDITS, "with --live: connect to this server for HOST", type=resolved, repeats=True
    )
    server: str = _harmless(
        "--server WORD,...",
        _AUDITS,
        lambda: f"like {_listed(_SERVERS)}, or index=NAME and the like, which the documentation lists",
        words=_SERVERS,
        default="plain",
    )

    _group("findings")
    ignore: list[str] = _row(
        "--ignore REGEX",
        _AUDITS,
        "no findings for these URLs or references; a reason may follow: '/drafts/ # not public'; @FILE has one a line",
        repeats=True,
    )
    places: str = _harmless(
        "--fragments",
        _AUDITS,
        "places (default), or all: #/ and #! are places, too",
        choices=("places", "all"),
        default="places",
        attribute="places",
    )
    why: str | None = _harmless("--why URL", _AUDITS, "print how the verdict of this URL came about")
    baseline: str | None = _row("--baseline FILE", _AUDITS, "report what is new and healed since this output")
    changed_since: str | None = _row(
        "--changed-since REV", _AUDITS, "only findings in files changed since a git revision"
    )
    failing: str | None = _row(
        "--fail-on VERDICT,...",
        _AUDITS,
        lambda: f"verdicts with exit status 1, or none (default: all but {_listed(_TOLERATED)})",
        attribute="failing",
    )
    fix: bool = _row("--fix", _AUDITS, "make the certain repairs in the files of the site")
    _harmless("--diff", _AUDITS, "with --fix: change no file, print a diff")
    _harmless("--verify", _AUDITS, "with --fix: check that only links change")
    write_map: str | None = _row(
        "--write-map FILE", "audit", "write the maps as one .csv, _redirects, .htaccess, .conf"
    )

    _group("the web")
    timeout: float = _harmless(
        "--timeout SECONDS", ON_LINE, "time for one response (default: %(default)g)", type=seconds, default=30.0
    )
    header: list[tuple[str, str]] = _row(
        "--header FIELD", ON_LINE, "send this field, as in 'Authorization: Bearer x'", type=field, repeats=True
    )
    cookies: str | None = _row("--cookies FILE", ON_LINE, "send the cookies in FILE, as curl writes them")
    retries: int = _row(
        "--retries N", ON_LINE, "tries after an error (default: %(default)s)", type=whole(0, 20), default=2
    )
    concurrency: tuple[int, int] = _row(
        "--concurrency N,N", ON_LINE, "requests in total, and per host (default: 16,4)", type=pair, default=(16, 4)
    )
    deny_private: bool = _harmless("--deny-private", ON_LINE, "connect to public addresses only")
    wait: float = _row(
        "--wait SECONDS", ON_LINE, "between requests to a host (default: as robots.txt says)", type=pause, default=0.0
    )
    insecure: bool = _row("--insecure", ON_LINE, "trust any certificate, as of a server for tests")
    ignore_robots: bool = _row(
        "--ignore-robots", ON_LINE, "also request what robots.txt does not allow", is_setting=True
    )
    save: str | None = _row(
        "--save FILE", ON_LINE, "keep what servers answer in FILE.warc.gz; what it holds is not asked for again"
    )
    max_age: float | None = _row(
        "--max-age AGE", ON_LINE, "with --save: as long as it is younger, as in 1h (default: 0, --live: 1d)", type=age
    )

    _group("resolving and limits")
    profile: str = _harmless(
        "--profile",
        f"{_READING} resolve",
        f"resolve by {', '.join(PROFILES)} (default: %(default)s)",
        choices=tuple(PROFILES),
    )
    ignore_base: str = _harmless(
        "--ignore-base WORD,...", _READING, f"no base from {', '.join(IGNORABLE)}", words=IGNORABLE
    )
    max_depth: int = _setting(
        "--max-depth N",
        _READING,
        "leave documents nested deeper than N levels unchanged (default: %(default)s)",
        type=whole(0, DEEPEST),
    )
    max_size: int = _harmless("--max-size BYTES", _READING, "leave larger documents unchanged (default: 1G)", type=size)
    max_links: int = _setting(
        "--max-links N", _READING, "leave documents with more links unchanged (default: %(default)s)", type=number
    )
    max_decompressed: int = _setting(
        "--max-decompressed BYTES",
        _READING,
        "leave content with more bytes after decompression, and larger WARC records, unchanged (default: 128M)",
        type=size,
    )
    max_url: int = _setting(
        "--max-url LENGTH",
        _READING,
        "make no URL of more characters: leave such a link, and links relative to such a base, unchanged (default: 2M)",
        type=size,
    )
    max_rows_bytes: int = _setting(
        "--max-rows-bytes BYTES",
        _READING,
        "list no document whose rows have more bytes of URLs and text in total (default: 2G)",
        type=size,
    )

    _group(HELP)
    jobs: int | None = _harmless(
        "-j --jobs N", _RUNS, "number of processes (default: one per core)", type=whole(1, 1024)
    )
    resume: bool = _row(
        "--resume", "rewrite", "continue a run that was killed or has failures: skip inputs that are done"
    )
    _row("--resume", "links documents", "continue such a run; OUT is a text format")
    _row("--resume", "mirror", "continue a run that was killed")
    quiet: bool = _harmless("-q --quiet", _RUNS, "report failures only", rivals="verbosity")
    verbose: bool = _harmless(
        "-v --verbose", _RUNS, "report every diagnostic, also what inputs share", rivals="verbosity"
    )
    config: str | None = _row("--config FILE", _ALL, "read options from FILE (default: absolve.toml)")
    color: str = _harmless(
        "--color", _ALL, "auto (default: on a terminal), always or never", choices=COLORS, default="auto"
    )


# Defaults of single commands.
DEFAULTS: Final[dict[str, dict[str, object]]] = {name: {"profile": "whatwg"} for name in OF_SITES.split()}


def for_command(command: str) -> Iterator[tuple[str, Option]]:
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
        if any(name in option.names and not option.is_setting for _, option in for_command(command))
    ]
