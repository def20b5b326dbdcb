"""The commands: a summary of each, the text below its help, and the function that runs it.

In: nothing. Out: `COMMANDS`; the options are in `option_table`. The module of a command is imported when it runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from absolve.cli.option_table import Options
    from absolve.cli.reporting import Report


_VERDICTS: Final = "{verdicts}"


class Command(NamedTuple):
    """A command: its summary, `MODULE:FUNCTION` of this room, examples and notes for its help.

    `used`: the options in its short help, unless these are the usual ones.
    """

    summary: str
    function: str
    notes: str = ""  # `{verdicts}` is replaced by the verdicts of audits
    used: tuple[str, ...] = ()

    def epilog(self) -> str:
        """Return the notes, complete."""
        if _VERDICTS not in self.notes:
            return self.notes
        import textwrap  # no other command needs these two

        from absolve.audit.verdicts import BY_KIND

        lines = (f"verdicts of {kind}: {' '.join(words)}" for kind, words in BY_KIND.items())
        filled = (textwrap.fill(line, 78, break_on_hyphens=False) for line in lines)
        return self.notes.replace(_VERDICTS, "\n".join(filled))

    def run(self, options: Options, report: Report) -> None:
        """Run the command. Raise UsageError, DocumentError or OSError."""
        module, _, function = self.function.partition(":")
        getattr(import_module(f"absolve.cli.{module}"), function)(options, report)


COMMANDS: Final = {
    "rewrite": Command(
        "write documents with every link made absolute",
        "rewrite:run",
        """\
examples:
  absolve rewrite page.html > absolute.html       # the page records its own URL
  absolve rewrite page.html --url http://example.com/dir/page.html -o new.html
  absolve rewrite saved/*.html -o absolute/       # into a folder
  absolve rewrite saved/*.html --in-place --backup .orig
  absolve rewrite site/ --url http://example.com/ --form relative -o moved/
  absolve rewrite site/ --in-place --remap //old.example=https://new.example

Each file is either complete or unchanged. Mode and times are kept. --in-place
does not write files without changes. Symbolic links in an output folder are not
followed.""",
    ),
    "links": Command(
        "list every link with its base URL, its absolute URL and its problems",
        "listing:run",
        """\
examples:
  absolve links page.html                  # a table; JSON lines in a pipe
  absolve links site/ --url http://example.com/ -o links.csv
  absolve links site/ --scope external --columns document,target -f csv
  absolve links site/ --sql "FROM links SELECT host, count(*) GROUP BY host"
  curl -s http://example.com/ | absolve links --url http://example.com/

columns: document, entity, line, column, start, end, element, attribute, kind,
rel, text, reference, base, base_layer, base_source, target, scope, problems

A database (.sqlite, .duckdb) gets the table documents, too: see
absolve documents.""",
    ),
    "documents": Command(
        "list every document with its URL, status, date, digest, title and anchors",
        "listing:run",
        """\
examples:
  absolve documents crawl.warc.gz             # JSON lines, to standard output
  absolve documents site/ --url http://example.com/ -o documents.csv
  absolve documents crawl.warc.gz --sql "FROM documents WHERE status >= 400"
  absolve links crawl.warc.gz -o crawl.sqlite    # both tables in one database

columns: document, entity, url, url_source, status, date, media_type, charset,
size, digest, title, lang, canonical, robots, base, base_layer, links, problems,
anchors, alternates""",
    ),
    "base": Command(
        "show which base URL a document has, and why",
        "base:run",
        """\
The innermost layer with a usable base URL wins. A relative one is resolved
against the next layer out.

examples:
  absolve base page.html
  absolve base page.html --url http://example.com/dir/  # with its retrieval URL
  absolve base crawl.warc.gz                    # the documents of an archive
  absolve base page.html -f json | jq -r '.[].base'""",
    ),
    "mirror": Command(
        "make an offline copy of saved pages, a crawl or a URL",
        "mirror:run",
        """\
examples:
  absolve mirror crawl.warc.gz -o mirror/         # then open mirror/index.html
  absolve mirror a.warc b.har page.mhtml -o m/    # one capture of several files
  absolve mirror a.warc -o m/ --absent sever      # pages that ask for nothing
  absolve mirror crawl.warc -o mirror.zip
  absolve mirror https://site.example/page -o page.html    # one file, to send
  absolve mirror a.warc -o m/ --missing wanted.txt && wget -i wanted.txt
  absolve mirror --check mirror/                  # what is wrong in any mirror
  absolve mirror --serve mirror/                # for scripts that need a server

Links lead from file to file where the capture holds the target, and to the
web where it does not. index.html is the entry page: pages, a search, what is
missing and what does not work. mirror.sqlite has the same for programs, and a
note for every edit that is no link.""",
        (
            *("--output", "--depth", "--from", "--check", "--serve", "--url", "--absent", "--at", "--same"),
            *("--include", "--missing", "--dry-run"),
        ),
    ),
    "check": Command(
        "find dead links, wrong fragments and the like in one site",
        "audit:run",
        """\
examples:
  absolve check site/                            # a folder, without a network
  absolve check site/ --url https://site.example/   # with links to its own host
  absolve check site/ --live external            # also asks for external links
  absolve check https://site.example/ --depth 2  # a site on the web
  absolve check site/ -o report.html
  absolve check site/ --fix --diff               # look at repairs, as of case

absolve help audit lists the verdicts.""",
        (
            *("--url", "--output", "--live", "--depth", "--ignore", "--fail-on", "--fix", "--diff", "--format"),
            *("--sql", "--server", "--baseline"),
        ),
    ),
    "audit": Command(
        "find what a migration broke: links, old URLs, and the map between the sites",
        "audit:run",
        """\
examples:
  absolve audit new/ --url https://new.example/ --old old/ \\
      --old-url http://old.example/ --map .htaccess -o report.html
  absolve audit crawl.warc.gz --old old-urls.txt --map redirects.csv
  absolve audit new/ --url https://new.example/ --fix --diff   # look at repairs

{verdicts}""",
        (
            *("--url", "--output", "--old", "--old-url", "--map", "--write-map", "--live", "--ignore", "--fail-on"),
            *("--fix", "--diff", "--sql"),
        ),
    ),
    "verify": Command(
        "prove with an independent parser that a rewrite changed only links",
        "verify:run",
        """\
examples:
  absolve verify page.html absolute.html
  absolve verify saved/ absolute/ --remap //old.example=https://new.example

Give the same options as for absolve rewrite: they define the intended changes.

Two checks:
  1. All bytes outside the links are equal, and so are the bytes of links that
     did not need to change.
  2. A parser that shares no code with absolve reads the same content: html5lib
     (HTML), lxml (XML), tinycss2 (CSS), Python's json (JSON, HAR).
Both checks compare the target of each link.

Differences are written to the standard error as
BEFORE:line:column: code: text (after: line:column).
codes:
  bytes       bytes outside the links differ
  links       the links of the two documents do not correspond
  target      a link is not as intended, or has another target
  base        html5lib finds another base element than absolve
  tree        an element, text, comment or token differs
  attribute   an attribute or header field differs, or its value without link
  unjudged    the independent parser cannot read the document

exit status: 0 equal; 1 different; 2 usage error; 3 a document cannot be read or
judged""",
    ),
    "resolve": Command(
        "resolve references against a base URL, without a document",
        "base:resolve",
        """\
Prints one URL per line. A reference that cannot be resolved gives an empty
line, and the exit status is 1. Invisible characters and line ends are
percent-escaped.

examples:
  absolve resolve http://a/b/c/d ../g                         # http://a/b/g
  absolve resolve http://a/b/c/d ../../../g                   # http://a/../g
  absolve resolve --profile whatwg http://a/b/c/d ../../../g  # http://a/g
  absolve resolve http://a/b/c/d -- --g                      # (-- ends options)""",
    ),
    "config": Command(
        "show the options in effect, and where each is set",
        "configuration:config",
        """\
examples:
  absolve config                   # all commands
  absolve config rewrite links
  absolve config --config mine.toml rewrite

A configuration file sets options by their long names. The command line
overrides it:

  profile = "whatwg"               for all commands that have it
  [rewrite]
  kind = ["image", "stylesheet"]
  verify = true

--config or $ABSOLVE_CONFIG names the file (an empty name: no file). It may set
every option; paths in it are relative to its folder. If neither is given,
absolve looks for absolve.toml, or [tool.absolve] in pyproject.toml, in this
folder and those above it, up to the root of a repository or your home folder.
Since such a file may come with a download, you or root must own it, and it sets
only options that cannot write files, run programs or use the network. Ignored
files and options are marked.""",
    ),
    "completion": Command(
        "print a completion script for a shell",
        "parsing:completion",
        """\
examples:
  absolve completion bash > ~/.local/share/bash-completion/completions/absolve
  absolve completion zsh > ~/.zfunc/_absolve       # (a folder on $fpath)
  absolve completion fish > ~/.config/fish/completions/absolve.fish
  absolve completion powershell >> $PROFILE        # (in PowerShell)
  absolve completion tcsh > ~/.absolve.csh       # (then source it in ~/.tcshrc)""",
    ),
    "help": Command(
        "show the help of a command",
        "parsing:help_",
        """\
examples:
  absolve help                     # the commands
  absolve help links               # as absolve links --help""",
    ),
}
