"""The competitors, and the work of each on one document. One that is not installed is skipped and reported."""

from __future__ import annotations

import io
import sys
from functools import partial
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import absolve
from absolve.document.walk import Settings
from absolve.encodings.charsets import of_html
from absolve.formats.html import walker
from absolve.formats.registry import CSS, HTML, XML
from absolve.inventory.columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.corpus import Document
    from benchmarks.measure import Job

    Work = Callable[[Document], object]

PACKAGES = (
    *("lxml", "turbohtml", "python-lolhtml", "selectolax", "beautifulsoup4", "html.parser"),
    *("tinycss2", "pyarrow", "fastwarc", "warcio"),
)
STANDARD = frozenset({"html.parser"})  # included in Python
# Attributes with one URL each, for libraries without a list of links: lists, CSS and meta elements are not covered.
ATTRIBUTES = ("href", "src", "action", "background", "cite", "data", "formaction", "poster")
SELECTOR = ",".join(f"[{name}]" for name in ATTRIBUTES)


def versions() -> dict[str, str | None]:
    """Return the version of each library, None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = sys.version.split()[0] if package in STANDARD else version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def rewrite(document: Document) -> object:
    return absolve.rewrite(document.data, media_type=HTML, url=document.url)


def rewrite_css(document: Document) -> object:
    return absolve.rewrite(document.data, media_type=CSS, url=document.url)


def rewrite_xml(document: Document) -> object:
    return absolve.rewrite(document.data, media_type=XML, url=document.url)


def links_xml(document: Document) -> object:
    return list(absolve.links(document.data, media_type=XML, url=document.url))


def links(document: Document) -> object:
    return list(absolve.links(document.data, media_type=HTML, url=document.url))


def arrow(document: Document) -> object:
    from absolve import arrow

    return arrow.links(document.data, media_type=HTML, url=document.url)


def parquet(documents: Sequence[Document], profile: absolve.Profile = "rfc1808") -> object:
    """Write the rows of all documents into one file."""
    from absolve import arrow
    from absolve.tables import typed_table
    from absolve.tables.parquet import PARQUET

    file = io.BytesIO()
    found = (absolve.Document(document.data, media_type=HTML, url=document.url) for document in documents)
    batches = arrow.batches(found, profile=profile)
    PARQUET.write([typed_table("links", COLUMNS)], (("links", batch) for batch in batches), file)
    return file


def scan(document: Document) -> object:
    """Find the links, without bases or targets."""
    return walker.walk(document.data, of_html(document.data)[0], Settings())


def lxml_rewrite() -> Work:
    """Return lxml's rewrite: obeys the last base element, resolves nothing in CSS, serializes every tag."""
    from lxml.html import document_fromstring, tostring

    def work(document: Document) -> object:
        tree: Any = document_fromstring(document.data)  # the stubs know only XML elements
        tree.make_links_absolute(document.url, handle_failures="ignore")
        return tostring(tree)

    return work


def lxml_links() -> Work:
    from lxml.html import document_fromstring

    def work(document: Document) -> object:
        tree: Any = document_fromstring(document.data)
        return list(tree.iterlinks())

    return work


# Names of attributes and elements with one URL each in common XML vocabularies, in lxml's notation.
_XLINK = "{http://www.w3.org/1999/xlink}href"
XML_ATTRIBUTES = ("href", "src", _XLINK, "url", "uri")
XML_TEXTS = frozenset({"link", "loc", "url", "uri", "comments", "docs", "icon", "logo"})


def lxml_xml_rewrite() -> Work:
    """Return lxml.etree's rewrite: knows `xml:base`, but neither bases in XHTML nor CSS, srcset or HTML inside feeds.

    It serializes the whole document; the values of `xml:base` itself stay.
    """
    from lxml import etree

    def work(document: Document) -> object:
        root = etree.fromstring(document.data, base_url=document.url)
        for element, attribute, reference in lxml_xml_references(root):
            absolute = joined(element.base or "", reference)
            if attribute:
                element.set(attribute, absolute)
            else:
                element.text = absolute
        return etree.tostring(root)

    return work


def lxml_xml_copy() -> Work:
    """Return lxml.etree's parser and serializer, between which nothing is resolved."""
    from lxml import etree

    return lambda document: etree.tostring(etree.fromstring(document.data))


def fastwarc_read() -> Work:
    """Return fastwarc's reading of WARC records, with their HTTP bodies decoded."""
    from fastwarc.warc import ArchiveIterator

    def work(document: Document) -> object:
        records = ArchiveIterator(io.BytesIO(document.data), parse_http=True, auto_decode="all")
        return [record.reader.read() for record in records]

    return work


def warcio_read() -> Work:
    """Return warcio's reading of WARC records, with their HTTP bodies decoded; only gzip and chunks are raced.

    It knows no zstd, and fails on br with some versions of brotli.
    """
    from warcio.archiveiterator import ArchiveIterator

    def work(document: Document) -> object:
        return [record.content_stream().read() for record in ArchiveIterator(io.BytesIO(document.data))]

    return work


def lxml_xml_links() -> Work:
    """Return lxml.etree's listing: element, attribute, value and target of the links that the rewrite knows."""
    from lxml import etree

    def work(document: Document) -> object:
        root = etree.fromstring(document.data, base_url=document.url)
        return [(*found, joined(found[0].base or "", found[2])) for found in lxml_xml_references(root)]

    return work


def lxml_xml_references(root: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield each element with a reference, the name of the attribute ("" for its text), and the reference."""
    for element in root.iter("*"):
        attributes = element.attrib
        if attributes:
            for name in XML_ATTRIBUTES:
                value = attributes.get(name)
                if value is not None:
                    yield element, name, value
        if element.tag.rpartition("}")[2] in XML_TEXTS and element.text:
            yield element, "", element.text


def turbohtml_rewrite() -> Work:
    """Return turbohtml's rewrite: obeys no base element, serializes every tag."""
    import turbohtml

    def work(document: Document) -> object:
        tree = turbohtml.parse(document.data, positions=False)
        tree.resolve_links(document.url)
        return tree.serialize()

    return work


def lolhtml_rewrite() -> Work:
    """Return lol-html's rewrite: obeys no base element, skips lists and CSS, needs UTF-8, calls Python per link."""
    import lolhtml

    class Handler:
        def __init__(self, url: str) -> None:
            self.url = url

        def element(self, element: Any) -> None:
            for name in ATTRIBUTES:
                value = element.get_attribute(name)
                if value is not None:
                    element.set_attribute(name, joined(self.url, value))

    def work(document: Document) -> object:
        file: Any = io.BytesIO()  # the stubs ask for a sink of more than bytes
        rewriter = lolhtml.HTMLRewriter(file.write)
        rewriter.on(SELECTOR, Handler(document.url))
        rewriter.write(document.data)
        rewriter.end()
        return file.getvalue()

    return work


def selectolax_rewrite() -> Work:
    """Return selectolax's rewrite: obeys no base element, skips lists and CSS, serializes every tag."""
    from selectolax.lexbor import LexborHTMLParser

    def work(document: Document) -> object:
        tree = LexborHTMLParser(document.data)
        for node in tree.css(SELECTOR):
            attributes = node.attributes
            for name in ATTRIBUTES:
                value = attributes.get(name)
                if value is not None:
                    node.attrs[name] = joined(document.url, value)
        return tree.html

    return work


def soup_rewrite() -> Work:
    """Return BeautifulSoup's rewrite: obeys no base element, skips lists and CSS, serializes every tag."""
    from bs4 import BeautifulSoup

    def work(document: Document) -> object:
        soup = BeautifulSoup(document.data, "html.parser")
        for node in soup.find_all(_has_link):
            for name in ATTRIBUTES:
                if name in node.attrs:
                    node[name] = joined(document.url, node[name])
        return str(soup)

    return work


def _has_link(node: Any) -> bool:
    return any(name in node.attrs for name in ATTRIBUTES)


def html_parser_links() -> Work:
    """Return a listing of tag, attribute and value, without charsets, lists, CSS, resolving or positions."""

    class Collector(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.links: list[tuple[str, str, str | None]] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.links += [(tag, name, value) for name, value in attrs if name in ATTRIBUTES]

    def work(document: Document) -> object:
        collector = Collector()
        collector.feed(document.data.decode("utf-8", "replace"))
        collector.close()
        return collector.links

    return work


def joined(url: str, reference: str) -> str:
    """Return the reference resolved by the standard library, or unchanged where that raises ValueError."""
    try:
        return urljoin(url, reference)
    except ValueError:
        return reference


def tinycss2_parse() -> Work:
    """Return tinycss2's parser: it changes nothing."""
    import tinycss2

    return lambda document: tinycss2.parse_stylesheet_bytes(document.data)


# For each kind of work, the competitors with something similar: label, package, factory of the work.
Peer = tuple[str, str, "Callable[[], Work]"]
ABSOLUTIZE: list[Peer] = [
    ("turbohtml resolve_links, serialize", "turbohtml", turbohtml_rewrite),
    ("lxml make_links_absolute, tostring", "lxml", lxml_rewrite),
    ("lol-html, urljoin in Python", "python-lolhtml", lolhtml_rewrite),
    ("selectolax, urljoin, html", "selectolax", selectolax_rewrite),
]
SLOW: list[Peer] = [("BeautifulSoup, urljoin, str", "beautifulsoup4", soup_rewrite)]
XML_ABSOLUTIZE: list[Peer] = [("lxml.etree, urljoin, tostring", "lxml", lxml_xml_rewrite)]
XML_COPY: list[Peer] = [("lxml.etree, parse, tostring", "lxml", lxml_xml_copy)]
WARC_READ: list[Peer] = [("fastwarc, reading", "fastwarc", fastwarc_read), ("warcio, reading", "warcio", warcio_read)]
XML_LIST: list[Peer] = [("lxml.etree, urljoin", "lxml", lxml_xml_links)]
LIST: list[Peer] = [("lxml iterlinks", "lxml", lxml_links), ("html.parser", "html.parser", html_parser_links)]
SHEETS: list[Peer] = [("tinycss2, parsing only", "tinycss2", tinycss2_parse)]


def works(label: str, ours: Work, peers: Sequence[Peer]) -> dict[str, Work]:
    """Return the work of absolve and of the installed libraries, by their labels in the table."""
    there = versions()
    return {label: ours} | {name: make() for name, package, make in peers if there[package]}


def able(works: Mapping[str, Work], documents: Sequence[Document]) -> list[Document]:
    """Return the documents that every competitor accepts: lxml refuses those without any element."""
    return [document for document in documents if all(_takes(work, document) for work in works.values())]


def _takes(work: Work, document: Document) -> bool:
    try:
        work(document)
    except Exception:  # noqa: BLE001 - whatever a peer may raise
        return False
    return True


def jobs(works: Mapping[str, Work], documents: Sequence[Document]) -> dict[str, Job]:
    """Return a job for each competitor: its work on all documents."""
    return {name: partial(_all, work, documents) for name, work in works.items()}


def _all(work: Work, documents: Sequence[Document]) -> None:
    for document in documents:
        work(document)
