"""The last line of a run on the standard error: how many links were found, and how many changed.

Input: the counts that tasks yield for each input. Output: text.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core import printable
from absolve.core.errors import NOT_READ, OF_SAVER, READ_APART, Diagnostic
from absolve.inventory import COMPANION
from absolve.run.folders import Globs
from absolve.run.results import BytesRead, ChangeCounts, HostsLeft, LinkCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

number: Final = printable.number  # for example `2 links`
# mailto: and the like, and links without a base URL, are the scope `other`.
_SCOPES = {name: name for name in ("internal", "external", "same-document")} | {"other": "without host"}

_MOST: Final = 5  # lines of a table in the last line of a run
# Kinds of mentions -> where they are.
_PLACES: Final = {kind: f"in {kind}s" for kind in ("script", "style", "comment", "attribute")}
_KINDS: Final = 12
_NAMED: Final = 3  # URLs that pages record


class Table(NamedTuple):
    """A table that the user names (--url-map, --remap @FILE): the line of each row by its key, and the used keys."""

    name: str
    noun: str
    lines: Mapping[Any, int]
    met: set[Any]

    def unmet(self) -> list[int]:
        return [line for key, line in self.lines.items() if key not in self.met]


class FoundGlobs(Globs):
    """Globs of a configuration file that was found, not named; they count the entries that they leave out."""

    left_out = 0

    def _noted(self, *, wanted: bool) -> bool:
        self.left_out += not wanted
        return wanted

    def excluded(self, place: str) -> bool:
        """Return whether a folder is excluded with all its content."""
        return not self._noted(wanted=not super().excluded(place))

    def wanted(self, place: str) -> bool:
        """Return whether a file is included, given that no folder above it is excluded."""
        return self._noted(wanted=super().wanted(place))

    def chosen(self, places: Iterable[str]) -> bool:
        """Return whether a document with any of these names is included."""
        return self._noted(wanted=super().chosen(places))


class Totals:
    """Counts of a run: `documents` that were read, their `links`, and the `changed` links.

    `companions` are links that are kept because they lead to files that were saved with their document. `rules` are the
    numbers of the rules that mapped a link; `tables`: unused rows of these tables are reported.
    """

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()  # in folders, not read, by kind
        self.parts: Counter[str] = Counter()  # of messages, likewise
        self.own: Counter[str] = Counter()  # files of the program that saved the site, by its name
        self.apart: Counter[str] = Counter()  # documents that keep absolute links, by kind
        self.recorded: list[str] = []  # pages that record another URL than --url of their folder
        self.unread_are = "not read"  # the state of files in folders that are not documents
        self.failed_are = ""  # the state of inputs that failed
        self.tables: list[Table] = []
        self.globs: FoundGlobs | None = None
        self.globs_source = ""  # the options and their file
        self.hosts: Counter[str] = Counter()  # old hosts of rules, in rewritten documents
        self.mentions: Counter[str] = Counter()  # of these hosts, by kind
        self.rules: set[int] = set()
        self.documents = self.links = self.changed = self.changed_documents = 0
        self.companions = 0
        self.scopes: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()

    def add(self, piece: BytesRead | LinkCounts | ChangeCounts | HostsLeft) -> None:
        """Add the counts of one input."""
        if isinstance(piece, BytesRead):
            self.documents += piece.documents
        elif isinstance(piece, LinkCounts):
            self.scopes.update(piece.scopes)
            self.problems.update(piece.problems)
            self.links += sum(piece.scopes.values())
            self.companions += piece.problems.get(COMPANION, 0)
        elif isinstance(piece, HostsLeft):
            self.hosts.update(piece.hosts)
            self.mentions.update(piece.kinds)
        else:
            self.links += piece.links
            self.changed += piece.changed
            self.changed_documents += piece.documents
            self.rules |= piece.rules
            self.companions += piece.companions

    def add_unread(self, diagnostic: Diagnostic) -> None:
        """Add a file or a part of a message that was not read, by its kind."""
        counts = {NOT_READ: self.files, OF_SAVER: self.own, READ_APART: self.apart}.get(diagnostic.code, self.parts)
        counts[diagnostic.text.partition(":")[0]] += 1

    def left_out(self) -> list[str]:
        """Return texts about unused inputs: for example `2 files not read: 2 .docx`, `1 of 3 rows met no input`."""
        found = [
            f"{number(counts.total(), noun)} {what}: {_kinds(counts)}"
            for counts, noun, what in (
                (self.files, "file", self.unread_are),
                (self.parts, "message part", "not read"),
                (self.own, "item", "left out"),
            )
            if counts
        ]
        if self.globs is not None and self.globs.left_out:
            found.append(f"{number(self.globs.left_out, 'item')} of folders left out by {self.globs_source}")
        if self.apart:
            kinds = ", ".join(sorted(self.apart))
            found.append(f"{number(self.apart.total(), 'document')} read apart, with absolute links: {kinds}")
        if self.recorded:
            urls = ", ".join(printable.printable(text.rpartition(": ")[2]) for text in self.recorded[:_NAMED])
            more = f" and {len(self.recorded) - _NAMED:,} more" if len(self.recorded) > _NAMED else ""
            verb = "record" if len(self.recorded) > 1 else "records"
            found.append(f"{number(len(self.recorded), 'page')} {verb} another URL, which rules: {urls}{more}")
        if self.mentions:
            mentions = number(self.mentions.total(), "mention")
            places = Counter({_PLACES.get(kind, f"in {kind}"): count for kind, count in self.mentions.items()})
            found.append(f"{mentions} of {self._old_hosts()} outside links left: {_kinds(places)}")
        tables = ((table, table.unmet()) for table in self.tables)
        return found + [
            f"{len(unmet):,} of {number(len(table.lines), 'row')} of {printable.printable(table.name)}"
            f" met no {table.noun} ({_lines(unmet)})"
            for table, unmet in tables
            if unmet
        ]

    def _old_hosts(self) -> str:
        if len(self.hosts) > 1:
            return f"{len(self.hosts):,} old hosts"
        return printable.printable(next(iter(self.hosts)))

    def unmet(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each unused row of a table."""
        for table in self.tables:
            for line in table.unmet():
                yield Diagnostic("unmet", f"this row met no {table.noun}", table.name, line)


def _lines(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST:,} more" if len(numbers) > _MOST else ""
    return f"line{'s'[: len(numbers) > 1]} {', '.join(map(str, numbers[:_MOST]))}{more}"


def _kinds(counts: Counter[str]) -> str:
    kinds = [f"{count:,} {printable.printable(kind)}" for kind, count in counts.most_common(_KINDS)]
    others = counts.total() - sum(count for _, count in counts.most_common(_KINDS))
    return ", ".join(kinds + ([f"{others:,} of other kinds"] if others else []))


def links_text(totals: Totals) -> str:
    """Return the counts of links, for example `2 links in 1 document: 2 without host; problems: 1 malformed`."""
    text = f"{number(totals.links, 'link')} in {number(totals.documents, 'document')}"
    scopes = [f"{totals.scopes[scope]:,} {words}" for scope, words in _SCOPES.items() if totals.scopes[scope]]
    if scopes:
        text += f": {', '.join(scopes)}"
    return f"{text}; problems: {_kinds(totals.problems)}" if totals.problems else text


def changes_text(totals: Totals, *, written: bool = True) -> str:
    """Return the counts of a rewrite, for example `34 links in 1 document changed; 5 stay`."""
    stays = totals.links - totals.changed
    change, stay = ("changed", "stays" if stays == 1 else "stay") if written else ("would change", "would stay")
    if totals.companions:  # kept because they lead to files that were saved with their document
        stay += f", {totals.companions:,} of them {'a companion' if totals.companions == 1 else 'companions'}"
    if not totals.changed:
        return f"no link {change}: {stays:,} in {number(totals.documents, 'document')} {stay}"
    place = number(totals.changed_documents, "document")
    if totals.changed_documents < totals.documents:
        place = f"{totals.changed_documents:,} of {number(totals.documents, 'document')}"
    return f"{number(totals.changed, 'link')} in {place} {change}; {stays:,} {stay}"
