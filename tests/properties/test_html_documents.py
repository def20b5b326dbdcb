"""Properties of any HTML document: only links change, rewriting is idempotent, and html5lib finds the same tags.

Documents are made of pieces that are difficult for a scanner (`PIECES`). Results are compared with html5lib's unless the
scanner reports that it guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import html5lib_view
import link_view
import scanner_view
from hypothesis import assume, example, given
from hypothesis import strategies as st

import absolve
from absolve.core.errors import DocumentError
from absolve.encodings import charsets
from absolve.formats.html.names import ATTRIBUTES, ROWS
from absolve.formats.html.tokenizer import Tokenizer

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

URL = "http://host.example/d/page.html?q#f"

ELEMENTS = (
    "a b base body br button caption col div font form frame frameset h1 head html i iframe image img input li link math"
    " meta mi mtext noembed noframes noscript object option p path plaintext script select span style svg table tbody td"
    " template textarea th title tr x-y xmp annotation-xml desc foreignObject mglyph use unknown"
).split()
NAMES = "action alt archive background cite class color content data encoding href ping src srcset style title type usemap xlink:href"
VALUES = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                "x",
                " y/z ",
                "../up",
                "#f",
                "?q",
                "//h/i",
                "http://h/i",
                "mailto:m",
                "javascript:;",
                "a b",
                "a, b 2x",
            ),
            *("&amp;x=1", "?a&copy=1", "&#x2e;/x", "&bogus;", "&lt", "url(x.png)", "color:red;background:url( 'x' )"),
            *("text/html", "hidden", "0; url=x", "caf\u00e9", "\u65e5\u672c", "`", "a=b", "a\nb", "\0"),
        ]
    ),
    st.text("ab/.:?#&;=<> \t\n'\"()\u00e9", max_size=8),
)


@st.composite
def start_tags(draw: st.DrawFn) -> str:
    pieces = ["<", draw(st.sampled_from(ELEMENTS))]
    for name in draw(st.lists(st.sampled_from(NAMES.split()), max_size=3)):
        value = draw(VALUES)
        written = {
            "": name,
            '"': f'{name}="{value.replace(chr(34), "&quot;")}"',
            "'": f"{name} = '{value.replace(chr(39), '&#39;')}'",
            "=": f"{name}={value}" if value and not set(value) & set(" \t\n\"'=<>`") else name,
        }
        pieces += [draw(st.sampled_from([" ", "\n", "  ", "/"])), written[draw(st.sampled_from(['"', "'", "=", ""]))]]
    return "".join([*pieces, draw(st.sampled_from([">", " >", "/>"]))])


PIECES: SearchStrategy[str] = st.one_of(
    start_tags(),
    start_tags(),
    st.sampled_from(ELEMENTS).map(lambda name: f"</{name}>"),
    st.sampled_from(
        [
            *("text", " ", "\n", "&amp;", "caf\u00e9", "<", "</", "<>", "</>", "<!>", "<?x?>", "<!doctype html>"),
            *(
                "<!--",
                "-->",
                "<!-- c -->",
                "<!-->",
                "<!-- --!>",
                "<![CDATA[",
                "]]>",
                "<![CDATA[<a href=x>]]>",
                "'",
                '"',
                ">",
            ),
            *(
                "<a href='x",
                "<img src=",
                "<base href=b/>",
                "<style>a{b:url(c)}</style>",
                "<script>'<a href=x>'</script>",
            ),
        ]
    ),
)
DOCUMENTS = st.lists(PIECES, max_size=12).map("".join)


def rewritten(data: bytes, charset: str | None = None) -> bytes:
    """Return the rewrite; discard a document in which the scanner had to guess, unless its rewrite can be proved."""
    try:
        return absolve.rewrite(data, media_type="text/html", url=URL, charset=charset)
    except DocumentError as error:
        assume(error.diagnostic.code != "unverified")
        raise


@given(DOCUMENTS)
@example("<a><base href=b/><frameset>")
def test_a_second_rewrite_changes_nothing(text: str) -> None:
    once = rewritten(text.encode())
    assert absolve.rewrite(once, media_type="text/html", url=URL) is once


@given(DOCUMENTS)
def test_rewriting_text_returns_the_same_as_its_bytes(text: str) -> None:
    once = rewritten(text.encode())
    assert absolve.rewrite(text, media_type="text/html", url=URL) == once.decode("utf-8")


@given(DOCUMENTS)
def test_a_policy_that_leaves_every_link_returns_the_same_object(text: str) -> None:
    data = text.encode()
    assert absolve.rewrite(data, media_type="text/html", url=URL, policy=lambda _: None) is data
    assert absolve.rewrite(text, media_type="text/html", url=URL, policy=lambda _: None) is text


@given(DOCUMENTS, st.sampled_from(["utf-8", "windows-1252", "shift_jis", "gb18030", "utf-16le", "iso-2022-jp"]))
@example("<base href=b/><form action>", "utf-8")
def test_bytes_between_links_stay(text: str, charset: str) -> None:
    before = text.encode(charsets.by_label(charset).codec, "replace")
    options = {"media_type": "text/html", "charset": charset, "url": URL}
    assert between_links(before, options) == between_links(rewritten(before, charset), options)


def between_links(data: bytes, options: dict[str, Any]) -> list[bytes]:
    """Return the bytes outside of the links, without quotes that a value may have got, and without the = before it."""
    spans = sorted((row.start, row.end) for row in absolve.links(data, **options))
    edges = [0, *(edge for span in spans for edge in span), len(data)]
    equals, quote = (sign.encode(charsets.by_label(options["charset"]).codec) for sign in '="')
    gaps = [data[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [gap.removeprefix(quote).removesuffix(quote).removesuffix(equals) for gap in gaps]


@given(DOCUMENTS)
@example("<noscript></body><noscript>")
def test_html5lib_finds_the_same_start_tags(text: str) -> None:
    data = text.encode()
    assume(not guessed(data))
    in_html = [element if element.namespace == "html" else element._replace(text="") for element in judged(text)]
    assert scanner_view.elements(data) == in_html


def guessed(data: bytes) -> bool:
    scanner = Tokenizer(data, bytes(ROWS * ATTRIBUTES))
    while scanner.next():
        pass
    return bool(scanner.tree.guessed)


def judged(text: str) -> list[html5lib_view.Element]:
    """Return html5lib's tree; discard documents on which html5lib 1.1 fails, such as unusual ends of templates."""
    try:
        return html5lib_view.elements(text)
    except (AssertionError, IndexError):
        assume(False)  # discards the example
        raise


@given(DOCUMENTS)
def test_html5lib_finds_the_same_references(text: str) -> None:
    assume(not guessed(text.encode()))
    judged(text)
    document = absolve.Document(text.encode(), media_type="text/html")
    assert link_view.walked(document) == link_view.judged(text, "surrogatepass")
