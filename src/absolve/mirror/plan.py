"""The plan of a mirror in the library: the path of each URL, and the policy of each document, without I/O.

In: documents, each a page or an archive, as bytes or `Document`. Out: a `MirrorPlan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from absolve.core import arguments
from absolve.core.errors import DocumentError
from absolve.core.model import Document
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.mirror import browsers
from absolve.mirror.capture import Captured, Where
from absolve.mirror.library import OF_PLAN, choice_of
from absolve.mirror.lookup import Lookup
from absolve.mirror.map import Working
from absolve.mirror.payloads import Broken, Payload, media_type_of
from absolve.mirror.policy import MirrorPolicy
from absolve.mirror.sources import FILES, Source, kind_of, reader_of
from absolve.mirror.survey import Survey
from absolve.mirror.urls import Equivalences
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from absolve.core.errors import Diagnostic
    from absolve.core.options import PlanOptions
    from absolve.core.protocols import Buffer
    from absolve.mirror.payloads import Posted, Reader
    from absolve.mirror.survey import Choice


class MirrorPlan(Mapping[str, str]):
    """A mapping from each URL that is held to its path.

    `diagnostics` are about what could not be read. `policy(url)` is the policy for the document of that URL: give it to
    `absolve.rewrite` with base="empty" and profile="whatwg".
    """

    def __init__(self, readers: Sequence[Reader], choice: Choice, profile: str, *, severs: bool) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._working = Working(Path(":memory:"))
        survey = Survey(readers, choice, self.diagnostics.append)
        names = ["" for _ in readers]
        self._working.add_places(survey.places)
        self._working.plan(survey.rows(), survey.store.forms(), names, choice.layout)
        same = choice.same if choice.same is not None else Equivalences()
        self._lookup = Lookup(self._working.connection, same, is_normal=profile == "whatwg")
        self._severs = severs

    def __repr__(self) -> str:
        return f"<MirrorPlan: {len(self):,} URLs, {len(self.diagnostics):,} diagnostics>"

    def __getitem__(self, url: str) -> str:
        query = "SELECT path FROM plan WHERE url = ? AND path IS NOT NULL"
        row = next(self._working.rows(query, normal(url) or url), None)
        if row is None:
            raise KeyError(url)
        path: str = row[0]
        return path

    def __iter__(self) -> Iterator[str]:
        for row in self._working.rows("SELECT url FROM plan WHERE path IS NOT NULL ORDER BY url"):
            yield row[0]

    def __len__(self) -> int:
        return self._working.documents()[0]

    def policy(self, url: str) -> MirrorPolicy:
        """Return the policy for the document of a URL. Raise KeyError for one that is not held."""
        named = self._lookup.named(self._working.where(normal(url) or url))
        return MirrorPolicy(self[url], self._lookup, severs=self._severs, named=named)


def mirror_plan(inputs: Iterable[Document | bytes | Buffer], **options: Unpack[PlanOptions]) -> MirrorPlan:
    """Return the plan of a mirror of these documents, archives or pages whose URL is known: no file is written.

    `options`: at (a date), by ("host", "site"), keep_errors, same (words of `--same`), absent ("keep",
    "sever"), profile. Raise UsageError for an invalid value, TypeError for an unknown option or no document.
    """
    call = "absolve.mirror_plan()"
    arguments.check_options(options, OF_PLAN, call)
    if isinstance(inputs, (str, bytes, Document)) or not isinstance(inputs, Iterable):
        raise TypeError(f"{call} takes a list of documents (bytes or absolve.Document), not {type(inputs).__name__}")
    choice = choice_of(dict(options), call)
    profile = options.get("profile", "whatwg")
    how = ReadOptions(Settings(profile=profile, base="empty").checked())
    readers: list[Reader] = []
    for number, given in enumerate(inputs):
        document = given if isinstance(given, Document) else Document(arguments.data_of(given, call))
        readers.append(_reader(document, number, how))
    return MirrorPlan(readers, choice, profile, severs=options.get("absent") == "sever")


def _reader(document: Document, number: int, how: ReadOptions) -> Reader:
    data = bytes(document.data)
    name = document.name or f"input-{number + 1}"
    kind = kind_of(document.name or "", data, document.media_type, lambda: data)
    source = Source(kind, (Input(name, name, document.url),))
    return _OneReader(document, number, how) if source.kind == FILES else reader_of(source, number, how, data)


class _OneReader:
    """The capture that one page is."""

    def __init__(self, document: Document, number: int, how: ReadOptions) -> None:
        self._document = document
        self._number = number
        self._how = how

    def captured(self, posted: set[str]) -> Iterator[Captured | Posted | Broken]:  # noqa: ARG002 - of the protocol
        """Yield the page, if its URL is known."""
        document = self._document
        try:
            url = normal(walk(document, self._how.settings).bases.own.url)
        except DocumentError as error:
            url = normal(document.url) if document.url is not None else None
            if url is None:
                yield Broken(error.diagnostic)
        if url is not None:
            where = Where(self._number, 0, 0)
            looks = browsers.markup(bytes(document.data[:4096]))
            yield Captured(url, 200, "", self._media_type(), where, size=len(document.data), looks=looks)

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the page."""
        for where in places:
            yield where, Payload(bytes(self._document.data), self._media_type(), self._document.charset)

    def _media_type(self) -> str:
        document = self._document
        return media_type_of(document.media_type or "", bytes(document.data[:4096]), document.name or "")
