"""Convert the inputs of library functions (paths, globs, documents, bytes, responses) to names of files.

In: the arguments of `absolve.mirror` and `absolve.audit`. Out: names for a run, which reads archives piece by piece.
Documents with a URL become records of a WARC (ISO 28500) in a temporary folder, others become files there. Responses of
httpx, requests, Scrapy and `urllib.request` become documents; none of these packages is imported.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from absolve import api
from absolve.core import arguments
from absolve.core.errors import Diagnostic, DocumentError, MissingFileError, UsageError, in_short
from absolve.core.model import Document
from absolve.document import response_header
from absolve.document.base_layers import retrieval_claim
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.formats import registry, sniffing
from absolve.run import buckets, inputs
from absolve.run.sources import STDIN
from absolve.run.web.store import HTTP, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from absolve.core.options import Options

_GLOB: Final = frozenset("*?[")
_OF_BODIES: Final = frozenset({b"content-encoding", b"transfer-encoding", b"content-length"})  # a Document is decoded
_URLS: Final = "{} asks for no URL: pass absolve.fetch({!r}), or a file that a crawler wrote"
_TAKES: Final = "{} takes paths, documents and bytes, not {}"


class InputFiles(NamedTuple):
    """Names of files, and the names by which the caller knows the temporary files of a call.

    `warc` is the WARC of documents, or "", and `url` the URL of the first of them.
    """

    names: list[str]
    shown: dict[str, str]
    warc: str = ""
    url: str | None = None

    @property
    def first(self) -> str:
        """The name of the first input, as the caller knows it."""
        return self.shown.get(self.names[0], self.names[0])

    def named(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic with the name that the caller knows."""
        name = self.shown.get(diagnostic.name, diagnostic.name)
        return diagnostic._replace(name=name, text=in_words(diagnostic.text))


def paths(value: Any, call: str) -> Iterator[str]:
    """Yield the names of files and folders for paths and globs. Raise MissingFileError for a path that does not exist.

    A glob without a match yields nothing.
    """
    for one in as_paths(value, call):
        yield from _path(one, call)


def as_paths(value: Any, taker: str) -> list[str]:
    """Return one or several paths as text. Raise TypeError for anything else; `taker` is the call or argument."""
    is_one = isinstance(value, (str, bytes, bytearray, os.PathLike)) or not isinstance(value, Iterable)
    return [name_of(one, taker) for one in ([value] if is_one else value)]


def name_of(value: Any, taker: str) -> str:
    """Return a path as text; `-` becomes `./-`, a file, not the standard input. Raise TypeError for other types."""
    if not isinstance(value, (str, os.PathLike)):
        hint = ": absolve.rewrite and absolve.links take bytes" if isinstance(value, (bytes, bytearray)) else ""
        raise TypeError(f"{taker} takes paths, not {type(value).__name__}{hint}")
    name = os.fsdecode(value)
    return os.path.join(os.curdir, name) if name == STDIN else name  # noqa: PTH118 - Path drops the dot


def _path(name: str, call: str) -> Iterator[str]:
    if buckets.is_bucket(name):
        yield name
    elif inputs.is_url(name):
        raise UsageError(_URLS.format(call, in_short(name)))
    elif os.path.lexists(name):
        yield name
    elif _GLOB & set(name):
        yield from sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - of names as they are given
    else:
        raise missing(name)


def missing(name: str) -> MissingFileError:
    """Return the error for a path that does not exist; it names the text of a document that was given as a path."""
    is_text = "<" in name or "\n" in name or "{" in name
    text = "this is the text of a document, and no path: pass it as bytes" if is_text else "no such file or folder"
    return MissingFileError(Diagnostic("not-found", text, in_short(name), failed=True), name)


def as_files(value: Any, call: str, folder: Path, shown: dict[str, str]) -> InputFiles:
    """Return the names of files for the inputs of a function; temporary ones are written into a folder.

    `shown` gets the names by which the caller knows the temporary ones. Raise TypeError for an input of another type,
    MissingFileError for a path that does not exist.
    """
    if isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, Document)):
        value = [value]
    if not isinstance(value, Iterable):
        raise TypeError(_TAKES.format(call, type(value).__name__))
    found = InputFiles([], shown)
    records = _Records(folder)
    for number, one in enumerate(value, 1):
        if isinstance(one, (str, os.PathLike)):
            found.names.extend(paths(one, call))
            continue
        document = one if isinstance(one, Document) else Document(arguments.data_of(one, call))
        if (url := _url_of(document)) is not None:
            records.add(document, url)
        else:
            _add_file(found, document, number, folder)
    if records.first is None:
        return found
    warc = str(records.path)
    shown[warc] = "<documents>"
    return InputFiles([warc, *found.names], shown, warc, records.first)


def _url_of(document: Document) -> str | None:
    """Return the URL of a document that is a page, or another single resource; None for a container."""
    kind = sniffing.format_of(document.data[:4096], document.name, document.media_type or None, lambda: document.data)
    if kind in {*registry.MAIL, *registry.PACKAGES} or (kind in registry.WALKERS and registry.is_archive(kind)):
        return None
    if document.headers is not None:
        document = response_header.applied(document, Settings())
    if document.url is not None:
        return document.url
    with suppress(DocumentError):
        return walk(document, Settings()).bases.own.url or None
    return None


def _add_file(found: InputFiles, document: Document, number: int, folder: Path) -> None:
    name = PurePath(document.name or f"input-{number}").name or f"input-{number}"
    if document.media_type is not None and not PurePath(name).suffix:
        kind = registry.kind_of(document.media_type)
        name += next((suffix for suffix, one in registry.SUFFIXES.items() if one == kind), "")
    elif not document.name and _is_damaged(document.data[:4096]):
        name += ".warc.gz" if document.data else ".warc"  # bytes without a name are an archive
    path = folder / str(number) / name
    path.parent.mkdir()
    path.write_bytes(document.data)
    found.names.append(str(path))
    found.shown[str(path)] = document.name or f"input-{number}"


def _is_damaged(head: bytes) -> bool:
    """Return whether these first bytes are no document: empty, or gzip data that does not decompress."""
    return not head or (head.startswith(b"\x1f\x8b") and sniffing.gzip_head(head) == head)


# --- options ----------------------------------------------------------------------------------------------------------


def in_words(text: str) -> str:
    """Return a message with arguments in place of command options: for example, `url=` for `--url`."""
    return _OPTION.sub(lambda found: f"{_NAMES.get(found[1]) or found[1].replace('-', '_')}=", text)


_OPTION: Final = re.compile(r"(?<![\w-])-(?:-([a-z][a-z-]*)|o\b)")
_NAMES: Final = {None: "output", "zip": "output", "map": "maps", "from": "start"}


@contextmanager
def in_python() -> Iterator[dict[str, str]]:
    """Raise a UsageError of the block with arguments in place of command options.

    Yield a mapping from names of temporary files to the caller's names, which replace them in the error, too.
    """
    shown: dict[str, str] = {}
    try:
        yield shown
    except UsageError as error:
        text = error.message
        for name, known in shown.items():
            text = text.replace(name, known)
        text = in_words(text)
        if text == error.message:
            raise
        raise UsageError(text, in_words(error.hint)) from None


def words_of(options: dict[str, Any], name: str, *, paths: bool = False) -> tuple[str, ...]:
    """Return the words of an option that takes one or several: `("image",)` for `"image"`; with `paths`, also paths."""
    value = options.get(name) or ()
    if not isinstance(value, (Iterable, os.PathLike)):
        raise TypeError(f"{name} takes a word, or several, not {in_short(repr(value))}")
    several = [value] if isinstance(value, (str, os.PathLike)) else value
    whole = [os.fsdecode(one) if paths and isinstance(one, os.PathLike) else one for one in several]
    return tuple(arguments.text_of(word, name) for word in whole)


def url_of(options: dict[str, Any], name: str) -> str | None:
    """Return the URL of an option. Raise UsageError if it is not absolute."""
    if options.get(name) is None:
        return None
    url = arguments.url_of(options[name], name)
    retrieval_claim(url)
    return url


def jobs_of(options: dict[str, Any]) -> int:
    """Return the number of processes: 1 by default."""
    jobs = options.get("jobs", 1)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or not 1 <= jobs <= _MOST_JOBS:
        raise UsageError(f"jobs must be a number from 1 to {_MOST_JOBS:,}, not {in_short(repr(jobs))}")
    return jobs


_MOST_JOBS: Final = 1024


# --- documents --------------------------------------------------------------------------------------------------------


class _Records:
    """The records of a WARC, whose file exists from the first one on."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "documents.warc"
        self.first: str | None = None  # the URL of the first one

    def add(self, document: Document, url: str) -> None:
        """Write the record of a document: a response if it came with header fields, otherwise a resource."""
        self.first = self.first or url
        kind, type_, head = "resource", _content_type(document), b""
        if document.headers is not None:
            kind, type_, head = "response", f"{HTTP}response", _header(document)
        if {"\r", "\n"} & {*url, *type_}:
            raise UsageError(f"a line end in the URL or media type of a document: {in_short(url)!r}")
        fields = {"WARC-Type": kind, "WARC-Target-URI": url, "Content-Type": type_}
        with self.path.open("ab") as file:
            file.write(record(fields, head + document.data))


def _content_type(document: Document) -> str:
    data = document.data[:4096]
    kind = document.media_type or sniffing.sniff(data, document.name) or ""
    charset = document.charset
    return f"{kind.partition(';')[0]}; charset={charset}" if kind and charset else kind


def _header(document: Document) -> bytes:
    """Return the header of the last response, without the fields about codings: the body is decoded."""
    text = response_header.text_of(document.headers or (), 200)
    last = [head for head in text.replace(b"\r\n", b"\n").split(b"\n\n") if head.strip()][-1:]
    lines = b"".join(last).strip(b"\n").split(b"\n")
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _OF_BODIES]
    return b"\r\n".join([*kept, b"", b""])


# --- responses --------------------------------------------------------------------------------------------------------


class Response(Protocol):
    """A response of httpx or requests, with `content`; of Scrapy, with `body`; or of urllib.request, with `read()`."""

    @property
    def url(self) -> Any: ...
    @property
    def headers(self) -> Any: ...


def document_of(response: Response) -> Document:
    """Return the document in a response, with its URL, its media type and charset, and the bases of its header.

    The body must be there and decoded, as these packages do by default. Raise TypeError for any other object.
    """
    status = getattr(response, "status_code", None) or getattr(response, "status", None)  # of Scrapy, urllib
    is_request = status is None and (hasattr(response, "method") or hasattr(response, "get_method"))
    for attribute in () if is_request else ("content", "body", "read"):
        if hasattr(response, attribute) and hasattr(response, "headers") and hasattr(response, "url"):
            found = getattr(response, attribute)
            url = arguments.url_of(response.url)
            data = arguments.data_of(found() if attribute == "read" else found, "absolve.document_of()")
            fields = response_header.text_of(response.headers, status if isinstance(status, int) else 0)
            return Document(data, name=url, url=url, headers=fields)
    kind = arguments.kind(response) + ": pass its response" * is_request
    raise TypeError(f"absolve.document_of() takes a response of httpx, requests, Scrapy or urllib, not {kind}")


def items(response: Response, **options: Unpack[Options]) -> Iterator[dict[str, Any]]:
    """Yield a dict for each link of a response, with the columns of the inventory: items of a Scrapy spider.

    `document` is the URL of the response. Options and errors: see `absolve.links`.
    """
    return (row._asdict() | {"base_layer": row.base_layer.label} for row in api.links(document_of(response), **options))
