"""The HTML scanner and walker. For any bytes:

- nothing is raised;
- tokens are ordered and inside the document;
- unless the scanner reports that it guessed, html5lib's tree (corrected to the current standard) has the same start
  tags, attributes, text of scripts and styles, and references;
- the time is linear.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import html5lib_tests
import html5lib_view
import link_view
import scanner_view
from linear import grows_linearly

from absolve.core.model import Document
from absolve.document.walk import walk
from absolve.encodings import charsets
from absolve.formats.html import names
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

UNNUMBERED: Final = (b"unknown", b"x-y", b"mask")
WORDS: Final = (
    *(b"<%b>" % name for name in (*names.ELEMENT_ID, *UNNUMBERED)), *(b"</%b>" % name for name in (*names.ELEMENT_ID, *UNNUMBERED)),
    *(b" %b=" % name for name in names.ATTRIBUTE_ID),
    *b"<!-- --> --!> <!--> <![CDATA[ ]]> <!doctype <? </ /> \0 \r\n \"' '> &amp; &#x2f; type=hidden encoding=text/html".split(),
    *b"http-equiv=refresh type=importmap srcdoc=\"<a_href=x>\" style='a:url(x)' srcset='a_1x,b' <script><!-- </script".split(),
)


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Return the documents of html5lib-tests, if it exists."""
    if shared is not None:
        suite = shared / "suites" / "html5lib-tests"
        for tree in html5lib_tests.tree_tests(suite / "tree-construction"):
            yield tree.data.encode("utf-8", "surrogateescape")
        for token in html5lib_tests.token_tests(suite / "tokenizer"):
            yield (token.prefix + token.data).encode("utf-8", "surrogatepass")


def check(data: bytes) -> None:
    stand_in_order(data)
    grows_linearly(stand_in_order, data)
    if charsets.byte_order_mark(data) or guessed(data):
        return
    text = data.decode("utf-8", "surrogateescape")
    elements = judged(text)
    if elements is None:
        return
    in_html = [element if element.namespace == "html" else element._replace(text="") for element in elements]
    assert scanner_view.elements(data) == in_html
    document = Document(data, media_type="text/html", charset="utf-8")
    expected = [shown(reference) for reference in link_view.judged(text, "surrogateescape")]
    assert link_view.walked(document) == expected


def stand_in_order(data: bytes) -> None:
    scanner = Tokenizer(data, bytes(ROWS * ATTRIBUTES), [])
    end = 0
    while kind := scanner.next():
        assert end <= scanner.start < scanner.end <= len(data)
        end = scanner.end
        if kind == names.TAG:
            assert scanner.start < scanner.name_start < scanner.name_end < end
        else:
            assert scanner.start < scanner.text_start <= scanner.text_end <= end
    assert scanner.truncated < len(data)


def shown(reference: link_view.Reference) -> link_view.Reference:
    """Return a reference whose element name is text: invalid bytes are U+FFFD there."""
    name = reference.element.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return reference._replace(element=name)


def guessed(data: bytes) -> bool:
    """Return whether the scanner had to guess, in the document or in an inner one."""
    found = walk(Document(data, media_type="text/html", charset="utf-8"), link_view.SETTINGS)
    return any(finding.code in {"ambiguous", "too-deep"} for finding in found.findings)


def judged(text: str) -> list[html5lib_view.Element] | None:
    """Return html5lib's tree; None for documents on which html5lib 1.1 fails, such as unusual ends of templates."""
    try:
        return html5lib_view.elements(text)
    except (AssertionError, IndexError):
        return None
