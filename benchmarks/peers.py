"""Who is raced: what each competitor does with one document. A peer that is not installed is left out, and said."""

from __future__ import annotations

import io
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import absolve
from absolve import library
from absolve.charsets import of_html
from absolve.formats import CSS, HTML, html
from absolve.inventory import COLUMNS
from absolve.walk import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.corpus import Document
    from benchmarks.measure import Job

    Work = Callable[[Document], object]

PACKAGES = ("lxml", "turbohtml", "tinycss2", "pyarrow", "fastwarc")


def versions() -> dict[str, str | None]:
    """The version of each peer, None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def rewrite(document: Document) -> object:
    return absolve.rewrite(document.data, media_type=HTML, url=document.url)


def rewrite_css(document: Document) -> object:
    return absolve.rewrite(document.data, media_type=CSS, url=document.url)


def links(document: Document) -> object:
    return list(absolve.links(document.data, media_type=HTML, url=document.url))


def arrow(document: Document) -> object:
    from absolve import arrow

    return arrow.links(document.data, media_type=HTML, url=document.url)


def parquet(documents: Sequence[Document]) -> object:
    """One file for all of them."""
    from absolve.sinks import parquet

    file = io.BytesIO()
    found = (library.columns(document.data, media_type=HTML, url=document.url) for document in documents)
    parquet.write(COLUMNS, (parquet.encode(COLUMNS, of_one) for of_one in found), file)
    return file


def scan(document: Document) -> object:
    """What stands where, no base and no target."""
    return html.walk(document.data, of_html(document.data)[0], Settings())


def lxml_rewrite() -> Work:
    """It obeys the last base element, resolves none of what stands in CSS, and writes every tag anew."""
    from lxml.html import document_fromstring, tostring

    def work(document: Document) -> object:
        tree: Any = document_fromstring(document.data)  # the stubs know only elements of XML
        tree.make_links_absolute(document.url, handle_failures="ignore")
        return tostring(tree)

    return work


def lxml_links() -> Work:
    from lxml.html import document_fromstring

    def work(document: Document) -> object:
        tree: Any = document_fromstring(document.data)
        return list(tree.iterlinks())

    return work


def turbohtml_rewrite() -> Work:
    """It obeys no base element, and writes every tag anew."""
    import turbohtml

    def work(document: Document) -> object:
        tree = turbohtml.parse(document.data, positions=False)
        tree.resolve_links(document.url)
        return tree.serialize()

    return work


def tinycss2_parse() -> Work:
    """Only the parser: it changes nothing."""
    import tinycss2

    return lambda document: tinycss2.parse_stylesheet_bytes(document.data)


# Workload -> ours, and the peers that do something like it: label, package, what makes the work.
Peer = tuple[str, str, "Callable[[], Work]"]
ABSOLUTIZE: list[Peer] = [
    ("turbohtml resolve_links, serialize", "turbohtml", turbohtml_rewrite),
    ("lxml make_links_absolute, tostring", "lxml", lxml_rewrite),
]
LIST: list[Peer] = [("lxml iterlinks", "lxml", lxml_links)]
SHEETS: list[Peer] = [("tinycss2, parsing only", "tinycss2", tinycss2_parse)]


def works(label: str, ours: Work, peers: Sequence[Peer]) -> dict[str, Work]:
    """Ours and the peers that are installed, by what the table calls them."""
    there = versions()
    return {label: ours} | {name: make() for name, package, make in peers if there[package]}


def able(works: Mapping[str, Work], documents: Sequence[Document]) -> list[Document]:
    """The documents that every competitor takes: lxml refuses those that hold no element."""
    return [document for document in documents if all(_takes(work, document) for work in works.values())]


def _takes(work: Work, document: Document) -> bool:
    try:
        work(document)
    except Exception:  # noqa: BLE001 - whatever a peer may raise
        return False
    return True


def jobs(works: Mapping[str, Work], documents: Sequence[Document]) -> dict[str, Job]:
    """Each competitor's work on all of the documents."""
    return {name: partial(_all, work, documents) for name, work in works.items()}


def _all(work: Work, documents: Sequence[Document]) -> None:
    for document in documents:
        work(document)
