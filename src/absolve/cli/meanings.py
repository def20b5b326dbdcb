"""What people type first, by what it is here: options and commands of other programs, and plain words.

In: a word, in any spelling (`--base-url`, `--baseurl`, `--base_url`). Out: a sentence for a hint, or None.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from absolve.cli import option_table

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
    ("proxy", "proxies are those of the environment: HTTPS_PROXY"),
    ("live online check-external http", "absolve check SITE --live external asks for links to other sites"),
    ("r recursive recurse all-files", _FOLDERS),
    ("force f overwrite yes y no-confirm assume-yes interactive", _NO_QUESTION),
    ("mkdir mkdirs parents p-dirs", "leave it out: folders above OUT are made"),
    ("preview show what-if simulate test noop pretend", "--dry-run counts what would change, --diff shows it"),
    ("no-color no-colour no-colors plain mono", "--color never"),
    ("debug trace log-level loglevel vv", "--verbose prints every diagnostic"),
    ("strict fail exit-code error-exitcode fail-fast", "--fail-on WORD,... makes findings a failure"),
    ("stdin", "- is the standard input"),
    ("stdout", "leave out -o: one result is written to the standard output"),
    ("output-format type-output pretty table", "--format FORMAT, or the suffix of -o FILE"),
    ("ndjson jsonl json-lines jsonlines", "--format jsonl writes JSON lines; --json writes one array"),
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


def of_option(name: str, command: str = "", *, alone: bool = False) -> str | None:
    """Return what an option is here, None for a word that is not known; `alone`: for this command alone."""
    command = option_table.ALIASES.get(command, command)
    found = _table(_OF_COMMANDS.get(command, ())).get(_plain(name))
    return found if found or alone else _table(_OPTIONS).get(_plain(name))


def of_command(word: str) -> str | None:
    """Return what a command is here, None for a word that is not known."""
    return _table(_COMMANDS).get(_plain(word))


@cache
def _table(rows: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {_plain(word): hint for words, hint in rows for word in words.split()}


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
