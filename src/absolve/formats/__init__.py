"""The formats that absolve reads: one table from media type to walker, and what a file's name or content says.

A walker is imported when the first document of its kind is met.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from absolve.typing import Walker

HTML: Final = "text/html"
CSS: Final = "text/css"


class Format(NamedTuple):
    """How documents of one media type are read: by a function of a module, given bytes in a charset.

    `charset` says how that is found out: html, text, or none for bytes that are no text as a whole. `as_bytes`: the
    walker reads every charset in which ASCII is ASCII; others get what is not UTF-8 through a charset coding.
    """

    module: str
    function: str
    charset: str = "text"
    as_bytes: bool = False


WALKERS: Final[dict[str, Format]] = {
    HTML: Format("absolve.formats.html", "walk", "html", as_bytes=True),
    CSS: Format("absolve.formats.css", "walk_sheet"),
    "text/css;declarations": Format("absolve.formats.css", "walk_declarations"),
    "application/importmap+json": Format("absolve.formats.json", "walk_import_map"),
    "application/speculationrules+json": Format("absolve.formats.json", "walk_speculation_rules"),
}
SUFFIXES: Final[dict[str, str]] = {
    ".html": HTML,
    ".htm": HTML,
    ".shtml": HTML,
    ".xhtml": HTML,
    ".xht": HTML,
    ".php": HTML,
    ".asp": HTML,
    ".aspx": HTML,
    ".jsp": HTML,
    ".cgi": HTML,
    ".css": CSS,
}
_MARKUP: Final = re.compile(rb"[\t\n\f\r ]*<[!?A-Za-z/]")
_LOOKED_AT: Final = 2048


@cache
def walker(media_type: str) -> Walker | None:
    """The walker of a media type; None for a kind that absolve does not read."""
    if media_type not in WALKERS:
        return None
    found: Walker = getattr(import_module(WALKERS[media_type].module), WALKERS[media_type].function)
    return found


def essence_of(media_type: str) -> tuple[str, dict[str, str]]:
    """A media type in lower case without its parameters, and those by their names in lower case (RFC 9110 8.3.1)."""
    essence, _, rest = media_type.partition(";")
    parameters = {name.strip().lower(): value for name, value in _PARAMETER.findall(rest)}
    return essence.strip().lower(), {name: _unquoted(value.strip()) for name, value in parameters.items()}


_PARAMETER: Final = re.compile(r"""([^;=]+)=([\t ]*"(?:[^"\\]|\\.)*"|[^;]*)""")


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == value[-1:] == '"' else value.strip('"')


def sniff(data: bytes, name: str | None) -> str | None:
    """The media type of a document by its name, then by its content; None where neither says one that we read.

    HTML is what text with no other sign is taken for: it needs no signature. Bytes that are no text are none.
    """
    if looks_binary(data):
        return None
    suffix = re.search(r"\.[A-Za-z0-9]+$", name or "")
    if suffix and suffix[0].lower() in SUFFIXES:
        return SUFFIXES[suffix[0].lower()]
    return HTML


def looks_binary(data: bytes) -> bool:
    """Whether the first bytes hold control characters that no text has (MIME Sniffing 7.1), or are a known signature.

    UTF-16 is text; a few NUL bytes in the middle of markup are a blemish of it.
    """
    head = data[:_LOOKED_AT]
    if head.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")) or _MARKUP.match(head):
        return False
    return any(byte < 0x20 and byte not in b"\t\n\f\r\x1b\x08" for byte in head)
