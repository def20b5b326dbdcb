"""Read the metadata in a ZIP package about its files: of EPUB, and the URLs that savers recorded for pages.

In: the names of the files, and their contents. Out: for an EPUB container (EPUB 3.3, section 4, OCF) media types by
path, as the package documents list them, and encrypted paths; by the path of a saved page its URL, where that is
recorded, and the charset that is stated there.
A folder with a saved page has an `index.rdf` (MAFF), a `manifest.json` (SingleFile; also folders of frames), or only an
`index.html` that records its URL. The relative links of such a page lead to files around it. Links without such a file
are resolved by the recorded URL: for example, `{"originalUrl": "http://h/", "indexFilename": "a.html"}` gives it for
`a.html`.
"""

from __future__ import annotations

import html
import json
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers import expat

from absolve.core.model import LONGEST_REFERENCE
from absolve.encodings.charsets import UTF_8
from absolve.formats import sniffing
from absolve.formats.html.claims import retrieval_url
from absolve.urls.identity import percent_decoded
from absolve.urls.predicates import is_malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    Read = Callable[[str], bytes | None]

CONTAINER: Final = "META-INF/container.xml"
ENCRYPTION: Final = "META-INF/encryption.xml"
META_INF: Final = "META-INF/"
# 4.2.6.3: files about the others, in which absolve looks for no links
RESERVED: Final = frozenset({ENCRYPTION, "META-INF/manifest.xml", "META-INF/rights.xml", "META-INF/signatures.xml"})
# Files that sign others: 4.2.6.3.6, ODF 1.3 part 2 section 4, JAR's signature blocks, OPC (ISO 29500-2)
SIGNATURE: Final = re.compile(
    r"META-INF/(?:signatures\.xml|(?:document|macro|package)signatures\.xml|[^/]+\.(?:SF|RSA|DSA|EC))|_xmlsignatures/.+",
    re.IGNORECASE,
)

_PACKAGE: Final = "application/oebps-package+xml"
_LONGEST: Final = 100  # package documents that are read, at most

_Attributes = dict[str, str]


class Facts(NamedTuple):
    """Media types by path, as the package documents list them; the paths of encrypted files."""

    media_types: dict[str, str]
    encrypted: frozenset[str]


def container_facts(read: Callable[[str], bytes | None], names: Container[str]) -> Facts:
    """Return the facts about the files `names` of a container.

    `read` returns the content of a file, or None. Metadata that is missing or unreadable yields no facts.
    """
    roots: list[_Attributes] = []
    media_types: dict[str, str] = {}
    types: dict[str, str] = {}  # interned: there may be a hundred thousand files
    encrypted: set[str] = set()

    def root(name: str, found: _Attributes) -> None:  # 4.2.6.3.1
        if name == "rootfile" and len(roots) < _LONGEST:
            roots.append(found)

    def item(document: str, name: str, found: _Attributes) -> None:  # 5.6.2
        if name == "item" and "href" in found:
            path = _path(document, found["href"])
            if path in names:
                declared = found.get("media-type", "").strip().lower()
                media_types[path] = types.setdefault(declared, declared)

    def cipher(name: str, found: _Attributes) -> None:  # 4.2.6.3.2
        if name == "CipherReference":
            path = _path("", found.get("URI", ""))
            if path in names:
                encrypted.add(path)

    _elements(read(CONTAINER), root)
    for found in roots:
        path = found.get("full-path", "")
        if found.get("media-type", "").strip() == _PACKAGE:
            media_types[path] = _PACKAGE
            _elements(read(path), partial(item, path))
    _elements(read(ENCRYPTION), cipher)
    return Facts(media_types, frozenset(encrypted))


def _path(document: str, reference: str) -> str:
    """Resolve a reference in a document to a path in the container: for example, `x/a.htm` for `a.htm` in `x/b.opf`."""
    steps = document.split("/")[:-1]
    for step in percent_decoded(reference.strip().partition("#")[0]).split("/"):
        if step == "..":
            del steps[-1:]
        elif step != ".":
            steps.append(step)
    return "/".join(steps)


def _elements(data: bytes | None, take: Callable[[str, _Attributes], None]) -> None:
    """Call `take` with the local name and attributes of each element, up to the first error of well-formedness.

    Entities are not expanded: their declaration ends the document.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, words: take(name.rpartition(" ")[2], words)

    def refuse(*_: object) -> None:
        raise ValueError("entities are not expanded")

    parser.EntityDeclHandler = refuse
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(data or b"", True)


# --- saved pages ------------------------------------------------------------------------------------------------------

_RDF: Final = "index.rdf"
_MANIFEST: Final = "manifest.json"
_INDEX: Final = "index.html"
# Savers write this XML without a library, with a raw `&` in URLs, so an XML parser would fail.
_MAF: Final = b"maf.mozdev.org/metadata/rdf"
_QUOTED: Final = rb"""\s*=\s*("[^"<>]*+"|'[^'<>]*+')"""
_FIELD: Final = re.compile(rb"<[A-Za-z_]*+:(originalurl|indexfilename|charset)\s[^<>]*?resource" + _QUOTED)
_SCRAPBOOK: Final = re.compile(
    rb"[^<]*+(?:<![^<>]*+>[^<]*+)?<html(?=\s)[^<>]*?\sdata-scrapbook-source" + _QUOTED, re.IGNORECASE
)
_COMMENT: Final = re.compile(rb"[^<]*+(?:<(?!!--)[^<>]*+>[^<]*+)*?<!--(.{,8192}?)-->", re.DOTALL)
_WEB: Final = ("http://", "https://", "ftp://")
_LOOKED_AT: Final = 2048  # bytes at the start of a file, which may be longer than the memory
_DEEPEST: Final = 64  # folders around a file; savers make fewer
_MOST: Final = 64 << 20  # characters of URLs of files, in all


class Record(NamedTuple):
    """What a saver recorded about a page: its URL, the charset of pages that declare none, and the source of both."""

    url: str
    charset: str
    source: str


class Found(NamedTuple):
    """The record of each page that has one, by its path, and the MAFF files that have such records."""

    pages: dict[str, Record]
    files: frozenset[str]


def saved_pages(names: Iterable[str], read: Read, comment: Callable[[str], str]) -> Found:
    """Return the records of the pages among files.

    `read` returns the content of a file, or None; `comment` the comment of the ZIP file about a file.
    """
    pages: dict[str, Record] = {}
    files: list[str] = []
    indexes: list[str] = []
    for name in names:
        folder, slash, last = name.rpartition("/")
        if last == _INDEX:
            indexes.append(name)
        elif last in {_RDF, _MANIFEST}:
            content = read(name) or b""
            url, index, charset = _read_rdf(content) if last == _RDF else _read_manifest(content)
            if last == _RDF and _MAF in content:
                files.append(name)
            if is_url(url) and "/" not in index:
                pages[folder + slash + (index or _INDEX)] = Record(url, charset, f"{last} in the package")
    for name in indexes:
        if name not in pages and (found := _read_index(read(name) or b"", comment(name))) is not None:
            pages[name] = found
    return Found(pages, frozenset(files))


def _read_index(data: bytes, comment: str) -> Record | None:
    """Return the record in a page itself: an attribute, a comment, or else the ZIP file's comment about the page."""
    if attribute := _SCRAPBOOK.match(data):
        url, source = html.unescape(attribute[1][1:-1].decode("utf-8", "replace")), "data-scrapbook-source"
    elif (text := _COMMENT.match(data)) and (found := retrieval_url(data, *text.span(1), UTF_8)):
        url, source = found
    else:
        url, source = comment, "comment of the package"
    return Record(url, "", source) if is_url(url) else None


def sealed_by(data: bytes) -> str:
    """Name the checksum over all bytes of a SingleFile page or image with an archive inside; "" for other files.

    The markup around the archive hides it from browsers, and has a checksum of it.
    """
    return "a checksum in the page around the archive" if sniffing.is_packed_page(data[:_LOOKED_AT]) else ""


def is_url(text: str) -> bool:
    """Return whether a text is an http(s) or ftp URL, to which a path can be joined."""
    return len(text) <= LONGEST_REFERENCE and text.lower().startswith(_WEB) and not is_malformed(text)


def _read_rdf(data: bytes) -> tuple[str, str, str]:
    """Return URL, page name and charset in the `index.rdf` of a MAFF folder; "" for each that is missing."""
    if _MAF not in data:
        return "", "", ""
    found = {name: html.unescape(value[1:-1].decode("utf-8", "replace")) for name, value in _FIELD.findall(data)}
    return found.get(b"originalurl", ""), found.get(b"indexfilename", ""), found.get(b"charset", "")


def _read_manifest(data: bytes) -> tuple[str, str, str]:
    """Return URL, page name and "" in the `manifest.json` of a SingleFile folder; "" for each that is missing."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return "", "", ""
    if not isinstance(found, dict):
        return "", "", ""
    values = (found.get(name) for name in ("originalUrl", "indexFilename"))
    url, index = (value if isinstance(value, str) else "" for value in values)
    return url, index, ""


def references(names: Iterable[str], found: dict[str, Record], quoted: Callable[[str], str]) -> Iterator[str]:
    """Yield the URLs by which the pages name their files: relative references, resolved by the URLs of the pages.

    For example, `http://h/a.css` for `a.css` beside a page of `http://h/`. A file belongs to the page of the innermost
    folder around it; a frame's page belongs also to the page around that.
    """
    folders = {page.rpartition("/")[0]: _folder(record.url) for page, record in found.items()}
    left = _MOST
    for name in names if folders else ():
        if name.count("/") > _DEEPEST:
            continue
        above = name.rpartition("/")[0]
        for _ in range(2 if name in found else 1):
            around = _innermost(above, folders)
            if around is None:
                break
            path = name[len(around) + 1 :] if around else name
            left -= len(folders[around]) + len(path)
            if left < 0:
                return
            yield folders[around] + quoted(path)
            above = around.rpartition("/")[0] if around else "\0"


def _folder(url: str) -> str:
    """Return the URL to which a relative path is joined: for example, `http://h/a/` for `http://h/a/b?c`."""
    path = url.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1] if path.count("/") > 2 else f"{path}/"


def _innermost(folder: str, folders: dict[str, str]) -> str | None:
    """Return the innermost of `folders` that is a folder or around it; None if there is none."""
    while folder not in folders:
        if not folder or folder == "\0":
            return None
        folder = folder.rpartition("/")[0]
    return folder
