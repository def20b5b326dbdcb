"""`absolve verify`: the proof that a rewrite changed nothing but links, and that these lead where they led."""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import verifying
from absolve.cli import options as shared
from absolve.core.errors import DocumentError, UsageError
from absolve.document.walk import walk
from absolve.run import load, sources
from absolve.run.inputs import Input

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve verify page.html absolute.html
  absolve verify page.html absolute.html --url http://example.com/dir/page.html
  absolve rewrite page.html | absolve verify page.html -

The options that were given to absolve rewrite belong here, too: they say what was meant to change.

two witnesses:
  the bytes between the links are the same, and those of their own that had no need to change;
  html5lib, which shares no code with absolve, sees the same tree (lxml in XML; in a style sheet
  tinycss2, if it is installed, the same tokens; in a message Python's email the same header and
  parts; over HTTP http.client; in WARC and ARC warcio, if it is installed, the same records, with
  digests and lengths that are right; in JSON, HTTP Archives too, Python's json the same values;
  in a package zipfile the same members).
  To both, each link leads where it led.

Differences go to the standard error, as BEFORE:line:column: code: text (after: line:column).
codes:
  bytes       something outside the links is different
  links       the links of the two documents do not pair up
  target      a link is not what it was meant to become, or leads elsewhere
  base        html5lib sees another base element than absolve
  tree        another element, text, comment or token
  attribute   another attribute or header field, or value of one that holds no link
  unjudged    the independent parser cannot read this

exit status: 0 equal, nothing is said; 1 different; 2 used wrongly"""


def configure(parser: argparse.ArgumentParser) -> None:
    for name, words in (("before", "the document as it was"), ("after", "what it became")):
        shared.completes_files(
            parser.add_argument(name, metavar=name.upper(), help=f"{words}: a file, or - for the standard input")
        )
    shared.add_known(parser)
    shared.add_changes(parser)
    shared.add_settings(parser)


def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    if options.before == options.after == sources.STDIN:
        raise UsageError("the standard input (-) can be read once only")
    with report.guard(options.before):
        before = load.read(Input(options.before, "", options.url), how)
        after = sources.read(options.after, max_size=options.max_size)
        for difference in verifying.differences(walk(before, how.settings), before, after.data):
            report.failure(DocumentError(difference))
