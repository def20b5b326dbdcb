"""What people type first, by what it is here: options and commands of other programs, and plain words.

In: a word, in any spelling (`--base-url`, `--baseurl`, `--base_url`). Out: a sentence for a hint, or None.
"""

from __future__ import annotations

from functools import cache
from typing import Final

_URL: Final = "--url URL is the URL of an input, or of the root of a folder"
_REMAP: Final = "absolve rewrite --remap OLD=NEW changes URLs that begin with OLD"
_AUDIT: Final = "absolve audit SITE finds broken links; it takes several formats by -o"
_MIRROR: Final = "absolve mirror INPUT -o FOLDER makes a copy whose links work from a disk"
_ONE_FILE: Final = "absolve mirror INPUT -o page.html writes a page with all that it needs as one file"
_BY_URL: Final = "a URL is an input: absolve links URL; mirror URL and audit URL take --depth N"
_FOLDERS: Final = "leave it out: folders are read with their subfolders"
_NO_QUESTION: Final = "leave it out: nothing is asked; --in-place, --fix and -o say what is written"
_SORT: Final = (
    "absolve links --sort COLUMN or COLUMN:desc; --columns NAME,... --unique --count lists frequent values first"
)
_LIMIT: Final = "absolve links --limit N lists the first N rows"
_SELECT: Final = "--kind, --scope and --problem select links; --where takes SQL, such as \"element = 'img'\""

_OPTIONS: Final = (
    ("baseurl baseuri root rooturl siteurl website domain host origin address from-url source-url", _URL),
    ("replace substitute sub search find rewrite map-url url-replace prefix move https", _REMAP),
    (
        "relative relative-links make-relative root-relative",
        "absolve rewrite --form relative writes links from page to page",
    ),
    ("absolute absolutize make-absolute", "leave it out: absolve rewrite makes links absolute"),
    (
        "redirects redirect-map redirect redirect-file rules",
        "absolve audit --map MAP reads redirects, --remap-file FILE rules for a rewrite",
    ),
    ("images image img pictures", "absolve links --kind image lists images"),
    (
        "scripts styles stylesheets css js media fonts frames forms",
        "--kind takes navigation, image, media, script, stylesheet, frame, form, font",
    ),
    ("external external-only externals", "absolve links --scope external lists links to other sites"),
    ("internal internal-only same-site", "absolve links --scope internal lists links to the own site"),
    ("broken dead check-links deadlinks validate-links", _AUDIT),
    ("sort sort-by sortr order order-by count-by group-by", _SORT),
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
    ("old-site before previous", "absolve audit NEW --old OLD names the old site"),
    ("report html-report html", "absolve audit SITE -o report.html writes a report"),
    ("convert-links k offline page-requisites p archive", _MIRROR),
    ("single-file inline one-file embed mhtml zim", _ONE_FILE),
    ("crawl depth level spider fetch download", _BY_URL),
    ("user-agent useragent", "--header 'User-Agent: NAME'"),
    ("proxy", "proxies are those of the environment: HTTPS_PROXY"),
    ("live online check-external http", "absolve audit SITE --live external asks for links to other sites"),
    ("r recursive recurse all-files", _FOLDERS),
    ("force f overwrite yes y no-confirm assume-yes interactive", _NO_QUESTION),
    ("mkdir mkdirs parents p-dirs", "leave it out: folders above OUT are made"),
    ("preview show what-if simulate test noop pretend", "--dry-run counts what would change, --diff shows it"),
    ("debug trace log-level loglevel vv", "--verbose prints every diagnostic"),
    ("strict fail exit-code error-exitcode fail-fast", "--fail-on WORD,... makes findings a failure"),
    ("stdin", "- is the standard input"),
    ("stdout", "leave out -o: one result is written to the standard output"),
    ("output-format type-output pretty table", "--format FORMAT, or the suffix of -o FILE"),
    ("ndjson jsonl json-lines jsonlines", "--format jsonl writes JSON lines; --json writes one array"),
    ("sqlite db database", "-o links.sqlite writes a database"),
    ("anchors hash hashes fragment", "--fragments keep or absolute"),
    ("lazyload lazy-load lazy-loading data-src", "--lazy reads data-src and the like, too"),
    ("encoding codepage utf8 utf-8", "--charset LABEL names the encoding of the inputs"),
    ("browser whatwg html5 rfc3986 rfc1808 mode standard", "--profile browser, whatwg, rfc3986 or rfc1808"),
    ("revert restore rollback", "absolve rewrite --undo CHANGES puts back what --log recorded"),
    ("nofollow noindex robots", "absolve documents lists robots; absolve audit finds pages that may not be indexed"),
)
_COMMANDS: Final = (
    (
        "check audit-links linkcheck checklinks lint validate broken dead links-check",
        "absolve audit SITE checks the links of a site",
    ),
    ("version", "absolve --version"),
    ("report html", "absolve audit SITE -o report.html"),
    ("list ls extract urls list-links find grep", "absolve links INPUT lists links"),
    ("fix convert absolutize absolute make-absolute replace remap process run", "absolve rewrite INPUT -o OUT"),
    ("crawl download fetch get wget archive offline save copy clone", "absolve mirror URL -o FOLDER --depth N"),
    ("serve server preview", "absolve mirror --serve FOLDER"),
    ("diff compare test validate-rewrite", "absolve verify BEFORE AFTER proves that only links changed"),
    ("info pages titles metadata meta", "absolve documents INPUT lists pages with title, URL and charset"),
    ("join urljoin url absolutize-url", "absolve resolve BASE REFERENCE"),
    ("undo revert restore rollback", "absolve rewrite --undo CHANGES"),
    ("redirects map migrate migration", "absolve audit NEW --old OLD --map MAP"),
    ("completions shell-completion", "absolve completion SHELL"),
    ("init settings options", "absolve config shows the options that are set"),
)


def of_option(name: str) -> str | None:
    """Return what an option is here, None for a word that is not known."""
    return _table(_OPTIONS).get(_plain(name))


def of_command(word: str) -> str | None:
    """Return what a command is here, None for a word that is not known."""
    return _table(_COMMANDS).get(_plain(word))


@cache
def _table(rows: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {_plain(word): hint for words, hint in rows for word in words.split()}


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
