"""`absolve verify`: prove that a rewrite changed only links, and that each link still has the same target.

Input: the document before and after. Output: each difference as a failure in the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from absolve import verifying
from absolve.cli import filters
from absolve.cli import options as shared
from absolve.core.errors import DocumentError, UsageError
from absolve.document.walk import walk
from absolve.run import load, sources

if TYPE_CHECKING:
    import argparse

    from absolve.cli.reporting import Report

EPILOG = """\
examples:
  absolve verify page.html absolute.html
  absolve verify page.html absolute.html --url http://example.com/dir/page.html
  absolve rewrite page.html | absolve verify page.html -
  absolve verify page.html new.html --remap //old.example=https://new.example

Give the same options as for absolve rewrite: they define the intended changes.

Two checks:
  1. All bytes outside the links are equal, and so are the bytes of links that
     did not need to change.
  2. A parser that shares no code with absolve reads the same content:
       HTML            html5lib, the same tree
       XML             lxml, the same tree
       CSS             tinycss2, if installed, the same tokens
       messages        Python's email, the same header and parts
       HTTP responses  http.client, likewise
       WARC, ARC       warcio, if installed, the same records, with correct
                       digests and lengths
       JSON, HAR       Python's json, the same values
       ZIP packages    zipfile, the same members
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

exit status: 0 equal (prints nothing); 1 different; 2 usage error"""


def run(options: argparse.Namespace, report: Report) -> None:
    how = shared.reading(options)
    policy = filters.policy(options)
    if options.before == options.after == sources.STDIN:
        raise UsageError("the standard input (-) can be read only once")
    input_ = shared.one_input(options.before, options)
    with report.guard(options.before):
        before = load.read(input_, how)
        after = sources.read(options.after, max_size=options.max_size)
        for difference in verifying.differences(walk(before, how.settings), before, after.data, policy):
            report.failure(DocumentError(difference))
