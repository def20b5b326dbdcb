"""What an EPUB container says of its files (EPUB 3.3, section 4, OCF): media types, encryption, signatures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Callable

CONTAINER: Final = "META-INF/container.xml"
ENCRYPTION: Final = "META-INF/encryption.xml"
META_INF: Final = "META-INF/"
# 4.2.6.3: files about the others, in which absolve looks for no links
RESERVED: Final = frozenset({ENCRYPTION, "META-INF/manifest.xml", "META-INF/rights.xml", "META-INF/signatures.xml"})
# What signs others: 4.2.6.3.6, ODF 1.3 part 2 section 4, JAR's signature blocks, OPC (ISO 29500-2)
SIGNATURE: Final = re.compile(
    r"META-INF/(?:signatures\.xml|(?:document|macro|package)signatures\.xml|[^/]+\.(?:SF|RSA|DSA|EC))|_xmlsignatures/.+",
    re.IGNORECASE,
)

_PACKAGE: Final = "application/oebps-package+xml"
_LONGEST: Final = 100  # package documents that are read

_Attributes = dict[str, str]


class Facts(NamedTuple):
    """Media types by path, as the package documents list them; the paths of what is encrypted."""

    media_types: dict[str, str]
    encrypted: frozenset[str]


def facts(read: Callable[[str], bytes | None]) -> Facts:
    """What is said in the container that `read` gives the files of; nothing, where it is none or cannot be read."""
    media_types: dict[str, str] = {}
    roots = [found for name, found in _elements(read(CONTAINER)) if name == "rootfile"]  # 4.2.6.3.1
    for root in roots[:_LONGEST]:
        path = root.get("full-path", "")
        if root.get("media-type", "").strip() == _PACKAGE:
            media_types[path] = _PACKAGE
            for name, item in _elements(read(path)):  # 5.6.2
                if name == "item" and "href" in item:
                    media_types[_path(path, item["href"])] = item.get("media-type", "").strip().lower()
    ciphers = [found for name, found in _elements(read(ENCRYPTION)) if name == "CipherReference"]  # 4.2.6.3.2
    return Facts(media_types, frozenset(_path("", cipher.get("URI", "")) for cipher in ciphers))


def _path(document: str, reference: str) -> str:
    """The path of a file that a document refers to, both from the root."""
    steps = document.split("/")[:-1]
    for step in unquote(reference.strip().partition("#")[0]).split("/"):
        if step == "..":
            del steps[-1:]
        elif step != ".":
            steps.append(step)
    return "/".join(steps)


def _elements(data: bytes | None) -> list[tuple[str, _Attributes]]:
    """The elements of an XML document by their local names, as far as it is well-formed; no entity is expanded."""
    found: list[tuple[str, _Attributes]] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, words: found.append((name.rpartition(" ")[2], words))

    def refuse(*_: object) -> None:
        raise ValueError("entities are not expanded")

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data or b"", True)
    except (expat.ExpatError, ValueError, LookupError):
        return found
    return found
