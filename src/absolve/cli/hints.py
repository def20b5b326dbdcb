"""Hints: what a user can do about a message, for mistakes that are common.

Input: a diagnostic, or a word that is none of the known ones. Output: a sentence for a line `hint: ...`, or None.
"""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from absolve.cli import option_table
from absolve.cli.commands import COMMANDS
from absolve.cli.configuration import NAME
from absolve.core.errors import UsageError, closest, in_short, similar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from absolve.cli.parsing import Parser
    from absolve.core.errors import Diagnostic

# By the code of a warning that inputs share: the options that help all of them. It is printed for one of them only.
SHARED: Final[dict[str, str]] = {
    "no-base": "--url file: takes the paths of files; --url URL or --url-map FILE gives URLs of the web",
    "unknown-charset": "--charset LABEL names the encoding of the inputs",
    "divergent": "--profile whatwg resolves as browsers do; absolve links --problem divergent lists them",
    "above-root": "--profile whatwg (or rfc3986) leaves such .. out; absolve links --problem above-root lists them",
    "empty-file": "--exclude GLOB leaves out files in folders",
}
_MOST: Final = 10_000  # names in a folder that are compared with one that does not exist
_GLOB: Final = frozenset("*?[")
_HOST: Final = re.compile(
    r"(?:https?:/*)?((?:www\.|localhost[:/]|(?:[\w-]+\.)+(?:com|org|net|io|dev|example)(?=[:/]|\Z)).*)", re.ASCII
)


def of(diagnostic: Diagnostic) -> str | None:
    """Return the hint for a diagnostic, or None."""
    hint = _HINTS.get(diagnostic.code)
    return hint(diagnostic) if hint is not None else None


def _not_found(diagnostic: Diagnostic) -> str | None:
    name = diagnostic.name
    if is_url(name):
        return fetched(name)
    if _GLOB & set(name):
        return "no file matches this pattern, so the shell passed it on as it is"
    host = _HOST.match(name)
    if host is not None:
        return f"a URL begins with its scheme: https://{in_short(host[1])}"
    folder, last = os.path.split(name)
    try:
        with os.scandir(folder or os.curdir) as entries:
            names = [entry.name for entry in islice(entries, _MOST)]
    except (OSError, ValueError):
        return None
    stem, suffix = os.path.splitext(last)  # noqa: PTH122 - a text; the same suffix makes no name similar
    others = [other for other in names if other.lower().endswith(suffix.lower()) and other != last]
    stems = {os.path.splitext(other)[0]: other for other in others}  # noqa: PTH122
    found = closest(stem, stems)
    return f"did you mean {os.path.join(folder, stems[found])}?" if found is not None else None  # noqa: PTH118


_HINTS: Final[dict[str, Callable[[Diagnostic], str | None]]] = {
    "not-found": _not_found,
    "directory": lambda _: "absolve documents FOLDER lists the base URL of each document in it",
    **{code: lambda diagnostic: SHARED[diagnostic.code] for code in ("divergent", "above-root")},
}


def is_url(name: str) -> bool:
    """Return whether the name of an input is rather the URL of a page."""
    return name[:8].lower().startswith(("http://", "https://", "ftp://"))


def check_no_url(name: str, command: str) -> None:
    """Raise UsageError if the name of an input is a URL, and no file, that a command does not ask for."""
    if not is_url(name) or os.path.lexists(name):
        return
    if name[:4].lower() == "ftp:":
        raise UsageError(f"{in_short(name)}: only URLs of http and https are asked for", fetched(name, command))
    from absolve.cli.option_table import ON_LINE

    if command not in ON_LINE.split():
        raise UsageError(f"{in_short(name)} is a URL, and absolve {command} reads files only", fetched(name, command))


def asking() -> list[str]:
    """Return the commands that ask for each URL among their inputs."""
    from absolve.cli.option_table import ASKING

    return ASKING.split()


def fetched(url: str, command: str = "links") -> str:
    """Return how a page of the web reaches a command."""
    from shlex import quote

    if command in {"mirror", "check", "audit"}:
        name = "crawl" if command == "mirror" else "new"
        return f"wget --recursive --page-requisites --warc-file={name} {quote(url)}, then name {name}.warc.gz"
    if command not in {"links", "rewrite", "base", "documents"}:
        command = "links"
    return f"curl -sL {quote(url)} | absolve {command} - --url {quote(url)}"


# --- the command line -------------------------------------------------------------------------------------------------


def reworded(message: str) -> str:
    """Return a message of argparse in the words of ours."""
    for theirs, ours in _ARGPARSE:
        if found := theirs.fullmatch(message):
            return found.expand(ours)
    return message


_ARGPARSE: Final = (
    (re.compile(r"argument (\S+): expected one argument"), r"\1 needs a value"),
    (re.compile(r"argument (\S+): expected at least one argument"), r"\1 needs a value"),
    (re.compile(r"argument (\S+): ignored explicit argument (.+)"), r"\1 takes no value, and has \2"),
    (re.compile(r"argument (\S+): not allowed with argument (\S+)"), r"\1 and \2 exclude each other"),
    (re.compile(r"the following arguments are required: (.+)"), r"missing: \1"),
    (re.compile(r"argument (\S+): (.+)", re.DOTALL), r"\1: \2"),
)


def of_usage(message: str) -> str:
    """Return the hint for an error of argparse, or an empty text."""
    if found := _NO_VALUE.fullmatch(message):
        option = next((name for name in found[1].split("/") if name.startswith("--")), found[1])
        return f"a value that begins with - is written {option}=VALUE"
    if message.endswith("required: COMMAND"):
        return f"commands: {', '.join(COMMANDS)}"
    return ""


_NO_VALUE: Final = re.compile(r"argument (\S+): expected (?:one|at least one) argument")


def no_choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the message for a word that is none of the choices of an option, or no command."""
    if names == _COMMAND:
        return f"unknown command {value!r}"
    *most, last = map(str, choices)
    words = f"{', '.join(most)} or {last}" if most else last
    return f"{names} takes {words}, not {in_short(str(value))!r}"


def choice(names: str, value: object, choices: Iterable[object]) -> str:
    """Return the hint for a word that is none of the choices."""
    word = str(value)
    if names == _COMMAND:
        return _no_command(word)
    if names == "--base" and is_url(word):
        return f"--base is about base elements in the result; the URL of an input is given by --url {word}"
    return similar(word, map(str, choices))


def _no_command(word: str) -> str:
    from shlex import quote

    if is_url(word):
        return fetched(word)
    if os.path.lexists(word):
        return f"the command comes first: absolve rewrite {quote(word)} or absolve links {quote(word)}"
    return _of_command(word) or similar(word, COMMANDS, _TYPING_ERROR) or f"commands: {', '.join(COMMANDS)}"


_TYPING_ERROR: Final = 0.82  # how similar two words are at least
_PROGRAM: Final = "absolve"
_COMMAND: Final = "COMMAND"
# No guess suggests them: they replace files, or change what is signed.
_WRITES: Final = frozenset({"--in-place", "--fix", "--backup", "--prune", "--output"})


def option(name: str, parser: Parser) -> str:
    """Return the hint for an unknown option: a similar one, or the commands that have it."""
    if name in option_table.REMOVED:
        return option_table.REMOVED[name]
    own = [known for row, _ in parser.options().values() if not row.is_setting for known in row.names]
    if (known := parser.options().get(name.removeprefix("--"))) and known[0].is_setting:
        return f"only a configuration file has it: {known[0].name} = VALUE in {NAME}"
    if found := _of_option(name, parser.prog.removeprefix(f"{_PROGRAM} "), alone=True):
        return found
    if having := option_table.having(name):
        if parser.prog == _PROGRAM:
            return f"options follow the command: absolve COMMAND {name}"
        *most, last = having
        return f"{name} is an option of {', '.join(most)} and {last}" if most else f"{name} is an option of {last}"
    command = parser.prog.removeprefix(f"{_PROGRAM} ")
    return _of_option(name, command) or _typed(name, [known for known in own if known not in _WRITES])


def _typed(word: str, known: Sequence[str]) -> str:
    """Return the question for the word of which another is the beginning, or a typing error; "" if none is near."""
    begun = [one for one in known if one.startswith(word) and len(word.lstrip("-")) > 2]
    return f"did you mean {begun[0]}?" if len(begun) == 1 else similar(word, known, _TYPING_ERROR)


def output_meant(inputs: Sequence[str]) -> str:
    """Return the hint for a last input that may be meant as the output, as in `cp`: there is no such file."""
    from shlex import quote

    is_new = len(inputs) > 1 and not is_url(inputs[-1]) and not os.path.lexists(inputs[-1])
    return f"-o {quote(inputs[-1])} names the output" if is_new else ""


def surplus(parser: Parser) -> str:
    """Return the hint for an argument that a command does not take."""
    taken = " ".join(str(action.metavar or action.dest) for action in parser.positionals())
    return f"{parser.prog} takes {taken}" if taken else f"{parser.prog} takes options only"


# --- what people type first: options and commands of other programs, and plain words ----------------------------------

_URL: Final = "--url URL is the URL of an input, or of the root of a folder"
_REMAP: Final = "absolve rewrite --remap OLD=NEW changes URLs that begin with OLD"
_AUDIT: Final = "absolve check SITE finds broken links; it takes several formats by -o"
_MIRROR: Final = "absolve mirror INPUT -o FOLDER makes a copy whose links work from a disk"
_ONE_FILE: Final = "absolve mirror INPUT -o page.html writes a page with all that it needs as one file"
_BY_URL: Final = "a URL is an input: absolve links URL; mirror URL and audit URL take --depth N"
_FOLDERS: Final = "leave it out: folders are read with their subfolders"
_DEPTH: Final = "--depth N fetches pages up to N links from a URL; folders are read with their subfolders"
_NO_QUESTION: Final = "leave it out: nothing is asked; --in-place, --fix and -o say what is written"
_SORT: Final = 'absolve links --sql "FROM links SELECT host, count(*) AS n GROUP BY host ORDER BY n DESC"'
_LIMIT: Final = 'absolve links --sql "FROM links LIMIT N" lists N rows'
_SELECT: Final = "--kind, --scope and --problem select links; --sql \"FROM links WHERE element = 'img'\""
_UNIQUE: Final = 'absolve links --sql "FROM links SELECT DISTINCT target" lists each URL once'

# Where a word means something else for one command.
_OF_COMMANDS: Final = {
    "rewrite": (
        ("images image img pictures only-images", "--kind image changes only links to images"),
        ("external external-only externals", "--scope external changes only links to other sites"),
        ("internal internal-only same-site", "--scope internal changes only links to the own site"),
        ("output-format type-output pretty table csv", "--log FILE.csv lists each link that changes"),
        ("anchors hash hashes fragment", "--fragments absolute changes #fragment links, too"),
        ("count stats statistics summary", "--dry-run counts the links that would change"),
        ("old old-url new new-url old-host new-host search to-url", _REMAP),
        ("bak backup-suffix", "--backup SUFFIX, as .bak, keeps each original"),
        ("no-backup", "leave it out: without --backup no original is kept"),
    ),
    "mirror": (
        ("r recursive recurse l level", _DEPTH),
        (
            "relative relative-links make-relative to-relative",
            "absolve rewrite FOLDER --form file writes paths of files into the links of a folder",
        ),
        ("convert-links k page-requisites p offline", "leave it out: a mirror has all that its pages need, with links"),
        ("force f overwrite", "leave it out: a mirror that is there is updated"),
        ("check-links broken dead verify validate", "mirror --check DIR finds dead links"),
        ("images scripts js css no-images no-js no-css", "--include GLOB and --exclude GLOB choose files: '*.js'"),
        ("index homepage open", "index.html in the mirror is its entry page"),
    ),
    "audit": (
        ("r recursive recurse l level", _DEPTH),
        ("external externals check-external check-extern", "--live external asks for links to other sites"),
        ("broken dead check-links deadlinks validate-links", "leave it out: an audit finds broken links"),
        ("no-external exclude-external disable-external offline", "leave it out: without --live nothing is asked for"),
        ("exclude-path exclude-url ignore-url ignore-urls skip-urls", "--ignore REGEX leaves out findings by URL"),
        ("exclude-mail exclude-mailto ignore-mailto", "leave it out: mailto: links are not checked"),
        ("allow-hash-href ignore-fragments", "--ignore REGEX leaves out findings by URL or reference, such as '^#'"),
        ("accept alive-statuses ignore-status-codes", "--fail-on VERDICT,... selects what makes the exit status 1"),
        ("no-fail soft exit-zero", "--fail-on none never makes findings a failure"),
        ("sort limit max", "--sql QUERY with ORDER BY and LIMIT, over the tables of results"),
        ("sitemap", "a sitemap is an old site: --old sitemap.xml"),
    ),
    "base": (("explain reason trace", "leave it out: base shows why"),),
    "verify": (("diff show", "absolve rewrite --diff shows what a rewrite changes"),),
}
_OPTIONS: Final = (
    ("baseurl baseuri root rooturl siteurl website domain host origin address from-url source-url", _URL),
    ("replace substitute sub sed search find rewrite map-url url-replace move", _REMAP),
    ("prefix add-prefix strip-prefix", _REMAP),
    (
        "https force-https upgrade upgrade-insecure insecure ssl",
        "absolve rewrite --remap http://HOST=https://HOST; absolve audit finds links that stay insecure",
    ),
    ("regex regexp", "absolve rewrite --remap @FILE reads regular expressions: from, to, regex in each row"),
    ("remove-base strip-base no-base", "absolve rewrite --base empty makes the base element empty"),
    ("strip-query remove-query no-query", "absolve rewrite --remap @FILE, with the word query in a row"),
    ("trailing-slash lowercase normalize normalise", "absolve audit finds such links; absolve rewrite leaves them"),
    (
        "relative relative-links make-relative to-relative root-relative",
        "absolve rewrite --form relative writes links from page to page",
    ),
    ("absolute absolutize make-absolute to-absolute", "leave it out: absolve rewrite makes links absolute"),
    (
        "redirects redirect-map redirect redirect-file rules",
        "absolve audit --map MAP reads redirects, rewrite --remap @FILE rules",
    ),
    ("images image img pictures", "absolve links --kind image lists images"),
    (
        "scripts styles stylesheets css js media fonts frames forms",
        "--kind takes navigation, image, media, script, stylesheet, frame, form, font",
    ),
    ("emails email mailto tel phone", "absolve links --sql \"FROM links WHERE target LIKE 'mailto:%'\""),
    ("text anchor-text title titles", "absolve links has a column text, absolve documents a column title"),
    ("status status-code http-status", "absolve documents lists status; absolve audit --live asks servers"),
    ("fields column field cols", "--columns NAME,... selects columns"),
    ("uniq dedupe dedup distinct no-duplicates unique-only", _UNIQUE),
    ("count count-only number", "the last line counts the links; --sql counts by any column"),
    ("excel spreadsheet xls", "-o links.xlsx writes a workbook"),
    ("xml yaml txt", "--format takes json, jsonl, csv, tsv, md, html, table and more"),
    ("delimiter separator sep header-row no-header", "--format csv or tsv; both have a header"),
    ("external external-only externals", "absolve links --scope external lists links to other sites"),
    ("internal internal-only same-site", "absolve links --scope internal lists links to the own site"),
    ("broken dead check-links deadlinks validate-links", _AUDIT),
    ("sort sort-by sortr order order-by count-by group-by reverse desc descending", _SORT),
    ("limit max max-count max-results top head first", _LIMIT),
    ("filter select only tag element attr attribute selector xpath", _SELECT),
    ("glob pattern extension ext match accept", "--include GLOB takes matching files of folders: --include '*.html'"),
    (
        "reject skip ignore omit no",
        "--exclude GLOB leaves out files of folders; absolve audit --ignore REGEX leaves out findings",
    ),
    (
        "dir directory outdir output-dir output-directory dest destination target to save write",
        "-o OUT is the file or folder to write",
    ),
    ("new site", "the new site has no option before it: absolve audit NEW --old OLD"),
    ("old-site old-domain before previous", "absolve audit NEW --old OLD names the old site"),
    ("report html-report html", "absolve audit SITE -o report.html writes a report"),
    ("convert-links k offline page-requisites p archive", _MIRROR),
    ("single-file inline one-file embed mhtml zim", _ONE_FILE),
    ("crawl depth level l spider fetch download follow", _BY_URL),
    ("wait delay rate-limit limit-rate throttle max-concurrency", "--concurrency 1,1 asks for one URL at a time"),
    ("no-parent np", "--include GLOB takes matching URLs and paths only"),
    ("warc warc-file save-warc", "--save FILE.warc.gz keeps requests and responses"),
    ("github junit sarif gitlab codequality", "-o FILE.sarif, .junit or .github: the suffix is the format"),
    ("user-agent useragent", "--header 'User-Agent: NAME'"),
    ("proxy", "the environment gives the proxy: HTTPS_PROXY"),
    ("live online check-external http", "absolve check SITE --live external asks for links to other sites"),
    ("r recursive recurse all-files", _FOLDERS),
    ("force f overwrite yes y no-confirm assume-yes interactive", _NO_QUESTION),
    ("mkdir mkdirs parents p-dirs", "leave it out: folders above OUT are made"),
    ("preview show what-if simulate test noop pretend", "--dry-run counts what would change, --diff shows it"),
    ("no-color no-colour no-colors plain mono", "--color never"),
    ("debug trace log-level loglevel vv", "--verbose prints every diagnostic"),
    ("strict fail exit-code error-exitcode fail-fast", "--fail-on WORD,... makes findings a failure"),
    ("stdin", "- is the standard input"),
    ("input", "inputs have no option before them: absolve COMMAND INPUT"),
    ("inplace i", "did you mean --in-place?"),
    ("out", "did you mean --output?"),
    ("csv", "did you mean --format csv?"),
    ("files-from", "did you mean --from?"),
    ("silent", "did you mean --quiet?"),
    ("type", "did you mean --media-type?"),
    ("parallel threads workers", "--jobs N is the number of processes"),
    ("suffix", "absolve rewrite --backup SUFFIX keeps each original"),
    ("stdout", "leave out -o: one result is written to the standard output"),
    ("output-format type-output pretty table", "--format FORMAT, or the suffix of -o FILE"),
    ("ndjson jsonl json-lines jsonlines", "--format jsonl writes JSON lines, -f json one array"),
    ("sqlite db database", "-o links.sqlite writes a database"),
    ("anchors hash hashes fragment", "--fragments keep or absolute"),
    ("lazyload lazy-load lazy-loading data-src", "leave it out: data-src and the like are links"),
    ("mime mimetype mime-type", "--media-type TYPE is the media type of the inputs, as text/html"),
    ("encoding codepage utf8 utf-8", "--charset LABEL names the encoding of the inputs"),
    ("browser whatwg html5 rfc3986 rfc1808 mode standard", "--profile browser, whatwg, rfc3986 or rfc1808"),
    ("revert restore rollback", "git checkout, or the copies that --backup keeps: --log lists what changed"),
    ("nofollow noindex robots", "absolve documents lists robots; absolve audit finds pages that may not be indexed"),
)
_COMMANDS: Final = (
    (
        "audit-links linkcheck checklinks check-links lint validate broken dead links-check",
        "absolve check SITE checks the links of a site",
    ),
    ("version", "absolve --version"),
    ("man manpage manual", option_table.REMOVED["--man"]),
    ("relative make-relative relativize", "absolve rewrite --form relative INPUT -o OUT"),
    ("show cat open view browse", "absolve links INPUT lists links; absolve base INPUT shows the base URL"),
    ("stats statistics count summary", "the last line of absolve links INPUT has the counts"),
    ("export csv excel table", "absolve links INPUT -o links.csv, .xlsx, .sqlite and more"),
    ("sitemap", "absolve documents SITE --format sitemap"),
    ("inline single-file pack bundle embed", "absolve mirror INPUT -o page.html writes one file"),
    ("zip", "absolve mirror INPUT -o FILE.zip"),
    ("unpack unzip unwarc", "absolve mirror INPUT -o FOLDER makes a folder of an archive"),
    ("report html", "absolve audit SITE -o report.html"),
    ("list ls extract urls list-links find grep", "absolve links INPUT lists links"),
    ("fix convert absolutize absolute make-absolute replace remap process run", "absolve rewrite INPUT -o OUT"),
    ("crawl download fetch get wget archive offline save copy clone", "absolve mirror URL -o FOLDER --depth N"),
    ("serve server preview", "absolve mirror --serve FOLDER"),
    ("diff compare test validate-rewrite", "absolve verify BEFORE AFTER proves that only links changed"),
    ("info pages titles metadata meta", "absolve documents INPUT lists pages with title, URL and charset"),
    ("join urljoin url absolutize-url", "absolve resolve BASE REFERENCE"),
    ("undo revert restore rollback", "git checkout, or the copies that --backup keeps"),
    ("redirects map migrate migration", "absolve audit NEW --old OLD --map MAP"),
    ("completions shell-completion", "absolve completion SHELL"),
    ("init settings options", "absolve config shows the options that are set"),
)


def _of_option(name: str, command: str = "", *, alone: bool = False) -> str | None:
    """Return what an option is here, None for a word that is not known; `alone`: for this command alone."""
    found = _table(_OF_COMMANDS.get("audit" if command == "check" else command, ())).get(_plain(name))
    return found if found or alone else _table(_OPTIONS).get(_plain(name))


def _of_command(word: str) -> str | None:
    """Return what a command is here, None for a word that is not known."""
    return _table(_COMMANDS).get(_plain(word))


@cache
def _table(rows: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {_plain(word): hint for words, hint in rows for word in words.split()}


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
