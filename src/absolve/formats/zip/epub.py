"""Read the metadata of an EPUB container (EPUB 3.3, section 4, OCF): media types, encryption, signatures.

In: the files of the container. Out: media types by path, as the package documents list them, and encrypted paths.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers import expat

from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Container

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


def facts(read: Callable[[str], bytes | None], names: Container[str]) -> Facts:
    """Return the facts about the files `names` of a container.

    `read` returns the content of a file, or None. Metadata that is missing or cannot be read yields no facts.
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
    """Resolve a reference in a document to a path; both paths are relative to the root of the container."""
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
