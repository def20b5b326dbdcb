"""Diagnostics, failures and the summary of a run on the standard error, and its exit status.

Input: diagnostics and errors as they occur. Output: lines LEVEL: FILE:line:column: code: text, for example
`warning: a.html:3:9: no-base: ...`, where LEVEL is error, warning or note, and lines `hint: text`.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections import Counter
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve import cli
from absolve.cli.terminal import colours, is_terminal, say, screen
from absolve.core import printable
from absolve.core.errors import (
    FAULTS,
    NOT_READ,
    NOTES,
    OF_SAVER,
    OUT_OF_MEMORY,
    READ_APART,
    RECORDED,
    UNMET,
    UNREAD_PART,
    Diagnostic,
    DocumentError,
    in_short,
    internal,
)
from absolve.core.printable import number
from absolve.document.reporting import NAMES_ITSELF
from absolve.inventory import COMPANION
from absolve.run.folders import Globs
from absolve.run.results import BytesRead, Counts, HostsLeft, LinkCounts, Mentioned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


# Exit statuses.
DONE: Final = 0
FINDINGS: Final = 1  # a check found something, in inputs that were all read
USAGE: Final = 2
FAILED: Final = 3  # an input could not be read or an output not be written, whatever was found in the others


def paint(text: str, style: str, *, on: bool) -> str:
    if not on:
        return text
    from absolve.core import drawing  # most runs print nothing in colour

    return drawing.painted(text, style)


ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
_STYLE_OF: Final = {ERROR: "red", WARNING: "yellow", NOTE: "cyan"}
_UNREAD: Final = frozenset({NOT_READ, OF_SAVER, READ_APART, UNREAD_PART, "unknown-encoding"})  # in the last line
# Codes for folder entries that are neither files nor folders: pipes, links out of the folder, dangling links, loops.
_SKIPPED: Final = frozenset({"special-file", "outside", "not-found", "unreadable"})
_IN_TOTALS: Final = _UNREAD | {"old-host", RECORDED}


def level(diagnostic: Diagnostic) -> str:
    """Return "error" for a failure, otherwise "note" or "warning"."""
    if diagnostic.failed:
        return ERROR
    return NOTE if diagnostic.code in NOTES else WARNING


class InputCount:
    """The inputs with diagnostics of one code; all diagnostics of an input come in succession.

    `inputs` is their number, `shown` the number of inputs with a printed line.
    """

    def __init__(self, level_: str) -> None:
        self.level = level_
        self.inputs = self.shown = 0
        self.hidden: list[Diagnostic] = []  # the first two
        self.folders: Counter[str] = Counter()  # of inputs without a URL
        self.canonical = 0  # such inputs with a canonical link
        self._is_shown = False
        self._last: str | None = None
        self._seen: set[Diagnostic] = set()  # of the last one

    def add(self, input_: str, diagnostic: Diagnostic, folder: str, *, verbose: bool) -> bool:
        """Count a diagnostic and return whether to print it.

        Repetitions, as in each part of an archive, are not printed. Unless `verbose`, a code that many inputs share and
        that one option mends is printed once, or counted for its `folder`, any other code for the first 20 inputs.
        """
        if input_ != self._last:
            self.inputs += 1
            self.folders.update([folder] if folder else ())
            self.canonical += bool(folder) and NAMES_ITSELF in diagnostic.text
            self._last = input_
            self._is_shown = False
            self._seen.clear()
        if diagnostic in self._seen:
            return False
        if len(self._seen) < _REMEMBERED:
            self._seen.add(diagnostic)
        from absolve.cli import hints

        most = 0 if folder else 1 if diagnostic.code in hints.SHARED else _NAMED
        shows = verbose or self.inputs <= most
        if shows and not self._is_shown:
            self.shown += 1
            self._is_shown = True
        if not shows and len(self.hidden) < 2:
            self.hidden.append(diagnostic)
        return shows


class Report:
    """Print diagnostics and failures of one run as they occur, and keep the failures for the summary.

    `quiet`: print failures only. `verbose`: print all; by default a code that many inputs share and that one option
    mends is printed once, any other code for 20 inputs, and `rest` prints the number of the others. `input` is the name
    of the current input, to which failures are attributed.
    """

    def __init__(self) -> None:
        self.quiet = self.verbose = False
        self.has_findings = False  # a check found something, which is not a failure
        self.counts: dict[str, InputCount] = {}  # by code, of diagnostics that are not failures
        self.input: str | None = None
        self.failures: dict[str, Diagnostic] = {}  # the first one of each input
        self.lines = self.others = 0  # messages, and messages that are not failures
        self._is_advised = self._is_full = False
        self._end: tuple[Callable[[], str], bool] | None = None
        self.totals = Totals()
        self.skipped: Counter[str] = Counter()  # by code
        self.names: dict[str, str] = {}  # the URLs of answers in our temporary files, by the names of the files
        self.roots: list[str] = []  # folders among the inputs
        self.read: set[Path] = set()  # files that are read as something else, such as a map inside a site
        self._hinted: set[str] = set()  # hints and notes

    @property
    def status(self) -> int:
        """The exit status: a failed input counts more than findings, since it may have more of them."""
        if self.failures:
            return FAILED
        return FINDINGS if self.has_findings else DONE

    def finding(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic that does not end the work on an input; if it has `failed` set, its input failed."""
        diagnostic = self._about_url(diagnostic)
        if diagnostic.code in _UNREAD:
            if Path(diagnostic.name).absolute() in self.read or self.is_unwritten(diagnostic.name):
                return
            self.totals.add_unread(diagnostic)
        self.totals.recorded += [diagnostic.text] * (diagnostic.code == RECORDED)
        if diagnostic.code in _SKIPPED and not diagnostic.failed:
            self.skipped[diagnostic.code] += 1
        if diagnostic.failed:
            self.totals.failed_are = ""  # the rest of this input is in the output
            if self._fail(self.input or diagnostic.name, diagnostic):
                self._print(str(diagnostic), diagnostic.code, ERROR)
                self._help(diagnostic)
        elif not self.quiet and (self.verbose or diagnostic.code not in _IN_TOTALS):
            count = self.counts.setdefault(diagnostic.code, InputCount(level(diagnostic)))
            name = self.input or diagnostic.name
            folder = self._folder(name) if diagnostic.code == "no-base" else ""
            if count.add(name, diagnostic, folder, verbose=self.verbose):
                self._print(str(diagnostic), diagnostic.code, count.level)
                self._help(diagnostic)

    def aside(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic from the search for inputs, without attributing it to the current input."""
        self.input, working = None, self.input
        self.finding(diagnostic)
        self.input = working

    def failure(self, error: DocumentError) -> None:
        """Report that an input or its output failed: the run continues with the next input."""
        diagnostic = self._about_url(error.diagnostic)
        if self._fail(self.input or diagnostic.name, diagnostic):
            shown = error if diagnostic is error.diagnostic else DocumentError(diagnostic)
            self._print(shown.show(), diagnostic.code, ERROR)
            self._help(diagnostic)

    def found(self, difference: Diagnostic) -> None:
        """Report a difference that a check found in readable inputs."""
        self.has_findings = True
        self._print(str(difference), difference.code, ERROR)
        self._help(difference)

    def note(self, code: str, text: str) -> None:
        """Print a note about the run, once, unless `quiet`."""
        if not self.quiet and text not in self._hinted:
            self._hinted.add(text)
            self._print(printable.message(f"{code}: {text}"), code, NOTE)

    def _help(self, diagnostic: Diagnostic) -> None:
        from absolve.cli import hints  # most runs print no message

        self.hint(hints.for_diagnostic(diagnostic))

    def hint(self, text: str | None) -> None:
        """Print the hint for the last message, once in a run, unless `quiet`."""
        if text and not self.quiet and text not in self._hinted:
            self._hinted.add(text)
            say(hint_line(printable.message(text)))

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Report errors raised by the block, internal ones too, as failures of the input `name`; the run continues."""
        try:
            yield
        except DocumentError as error:
            self.failure(error)
        except FAULTS as error:
            if sys.flags.dev_mode:
                raise
            self.failure(DocumentError(internal(error, name)))

    def rest(self) -> None:
        """Print for each code the number of inputs without a printed line, or that one line, and a hint."""
        if not self.counts:
            return
        from absolve.cli import hints

        for code, count in self.counts.items():
            more = count.inputs - count.shown
            if len(count.hidden) == 1:
                self._print(str(count.hidden[0]), code, count.level)
            elif more > 0:
                text = number(more, "more input")
                if count.folders:
                    kinds = _kinds(count.folders, "in other folders")
                    text = f"no URL is known for {number(more, 'page')}: {kinds}"
                self._print(f"{code}: {text} (--verbose lists all)", code, count.level)
            if more > 0:
                self.hint(hints.use_canonical(count.canonical, self.roots))
                self.hint(hints.SHARED.get(code))
        self.counts.clear()

    def _folder(self, name: str) -> str:
        """Return the top folder of a file where a folder is an input, for example `in b/` for `a/b/c/d.html`; or ""."""
        for above in (f"{root.rstrip('/' + os.sep)}{os.sep}" for root in self.roots):
            if name.startswith(above):
                folder, slash, _ = name[len(above) :].replace(os.sep, "/").partition("/")
                root = "" if len(self.roots) == 1 else above
                return f"in {root}{folder}/" if slash else f"in {root or './'}"
        return f"in {os.path.dirname(name)}/" if self.roots else ""  # noqa: PTH120 - as it was given

    def took(self, seconds: float) -> None:
        """Print once, in a long run (`LONG`) of interpreted code, how absolve gets faster."""
        if seconds < LONG or self.quiet or self._is_advised:
            return
        self._is_advised = True
        if not cli.is_compiled():
            self._print(INTERPRETED, "interpreted", NOTE)

    def end_with(self, done: Callable[[], str], *, repeats: bool) -> None:
        """Set the function that returns the line for `end`; `repeats`: print the failures once more before it."""
        self._end = done, repeats

    def end(self) -> None:
        """Print the last line of a run, if there is one, when all output is complete."""
        if self._end is not None:
            done, repeats = self._end
            self.summary(done(), repeats=repeats)

    def is_unwritten(self, input_: str | None) -> bool:
        """Return whether the output for an input could not be written."""
        failure = self.failures.get(input_) if input_ is not None else None
        return failure is not None and failure.code == "unwritable"

    def summary(self, done: str, *, repeats: bool = True) -> None:
        """Print the summary line; before it, repeat the failures if many or other messages were printed."""
        has_more = self.others or (self.lines > _NAMED and self.lines > len(self.failures))
        if repeats and self.failures and has_more:
            for diagnostic in islice(self.failures.values(), _NAMED):
                self._print(str(diagnostic), diagnostic.code, ERROR)
            if len(self.failures) > _NAMED:
                say(f"... and {len(self.failures) - _NAMED:,} more")
        if done:
            for line in _fitted(f"absolve: {done}"):
                say(line)

    def _about_url(self, found: Diagnostic) -> Diagnostic:
        """Return a diagnostic about one of our temporary files as a diagnostic about the URL of its answer."""
        if found.name not in self.names:
            return found
        record = _RECORD.fullmatch(found.text)
        name = record[2] if record is not None else self.names[found.name]
        return found._replace(name=name, text=record[1] if record is not None else found.text)

    def _fail(self, input_: str, diagnostic: Diagnostic) -> bool:
        """Note a failure, and return whether to print it: unless `verbose`, only one about a full disk or memory."""
        is_full = diagnostic.text in _FULL
        is_again, self._is_full = is_full and self._is_full, is_full or self._is_full
        input_ = self.names.get(input_, input_)
        self.failures.setdefault(input_, diagnostic)
        return self.verbose or not is_again

    def knows(self, text: str | None) -> bool:
        """Return whether a text is about a full disk or memory, and such a text was printed for an input."""
        return self._is_full and not self.verbose and text in _FULL

    def _print(self, message: str, code: str, level_: str) -> None:
        self.lines += 1
        self.others += level_ != ERROR
        say(painted(level_, in_short(message, _LONGEST), code))


def _fitted(text: str) -> Iterable[str]:
    """Return the lines into which a terminal should fold a text, or the text alone for a file or pipe."""
    width = screen(sys.stderr).width if is_terminal(sys.stderr) else None
    if width is None or len(text) < width:
        return [text]
    from absolve.core.drawing import folded

    first, *rest = folded(text, width - 1)
    return [first, *(f"  {line}" for line in folded(" ".join(rest), width - 3))]


def painted(level_: str, message: str, code: str = "") -> str:
    """Return a message for the standard error: its level before it; level and code have colours on a terminal."""
    on = colours(sys.stderr)
    style = _STYLE_OF[level_]
    if on and code:
        before, found, after = f": {message}".partition(f": {code}: ")
        message = f"{before}: {paint(code, style, on=on)}: {after}"[2:] if found else message
    return f"{paint(f'{level_}:', style, on=on)} {message}"


def hint_line(text: str) -> str:
    """Return the line of a hint for the standard error, for example `hint: did you mean links?`."""
    return f"{paint('hint:', 'green', on=colours(sys.stderr))} {text}"


def usage_line(text: str) -> str:
    """Return the line of a usage error, for example `error: usage: missing: INPUT`."""
    return painted(ERROR, f"usage: {text}", "usage")


TRY: Final = "try: {} --help"  # the last line of a usage error
LONG = 5.0  # seconds of a run
INTERPRETED: Final = "interpreted: installed again with a C compiler, absolve runs many times faster"
_RECORD: Final = re.compile(r"(.*?)(?:, at byte \d+)? \((https?://[^\s()]*)\)(?:, at byte \d+)?", re.DOTALL)
_LONGEST: Final = 8000  # characters of a message: names of files may have 4,096
_REMEMBERED: Final = 1000  # diagnostics of one input that are compared, to suppress repetitions
_FULL: Final = frozenset(
    {*map(os.strerror, (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EMFILE)), OUT_OF_MEMORY}
)
_NAMED: Final = 20  # inputs for which one code is printed; failures that the summary repeats


# --- the last line of a run: how many links were found, and how many changed ------------------------------------------

# mailto: and the like, and links without a base URL, are the scope `other`.
_SCOPES = {name: name for name in ("internal", "external", "same-document")} | {"other": "without host"}

_MOST: Final = 5  # lines of a table in the last line of a run
# Kinds of mentions -> where they are.
_PLACES: Final = {kind: f"in {kind}s" for kind in ("script", "style", "comment", "attribute")}
_KINDS: Final = 12
_RECORDED: Final = 3  # URLs that pages record


class Table(NamedTuple):
    """A table that the user names (--url-map, --remap @FILE), or an option: its rows by their keys, and the used keys.

    A row is the number of a line, or the value of an option.
    """

    name: str
    noun: str
    rows: Mapping[Any, int | str]
    met: set[Any]

    def unmet(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each unused row."""
        for row in (row for key, row in self.rows.items() if key not in self.met):
            text = f"this row met no {self.noun}" if isinstance(row, int) else f"no {self.noun} matches {row!r}"
            yield Diagnostic(UNMET, text, self.name, row if isinstance(row, int) else None)


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
        self.mentioned: Counter[str] = Counter()  # that changed, likewise
        self.rules: set[int] = set()
        self.documents = self.links = self.changed = self.changed_documents = 0
        self.companions = 0
        self.scopes: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()

    def add(self, piece: Counts) -> None:
        """Add the counts of one input."""
        if isinstance(piece, BytesRead):
            self.documents += piece.documents
        elif isinstance(piece, LinkCounts):
            self.scopes.update(piece.scopes)
            self.problems.update(piece.problems)
            self.links += sum(piece.scopes.values())
            self.companions += piece.problems.get(COMPANION, 0)
        elif isinstance(piece, Mentioned):
            self.mentioned.update(change.kind for change in piece.rows)
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
            urls = ", ".join(printable.printable(text.rpartition(": ")[2]) for text in self.recorded[:_RECORDED])
            more = f" and {len(self.recorded) - _RECORDED:,} more" if len(self.recorded) > _RECORDED else ""
            verb = "record" if len(self.recorded) > 1 else "records"
            found.append(f"{number(len(self.recorded), 'page')} {verb} another URL, which rules: {urls}{more}")
        if self.mentions:
            mentions = number(self.mentions.total(), "mention")
            found.append(f"{mentions} of {self._old_hosts()} outside links left: {_places(self.mentions)}")
        tables = ((table, [one.line for one in table.unmet() if one.line is not None]) for table in self.tables)
        return found + [
            f"{len(unmet):,} of {number(len(table.rows), 'row')} of {printable.printable(table.name)}"
            f" met no {table.noun} ({_lines(unmet)})"
            for table, unmet in tables
            if unmet
        ]

    def _old_hosts(self) -> str:
        if len(self.hosts) > 1:
            return f"{len(self.hosts):,} old hosts"
        return printable.printable(next(iter(self.hosts)))


def _lines(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _MOST:,} more" if len(numbers) > _MOST else ""
    return f"line{'s'[: len(numbers) > 1]} {', '.join(map(str, numbers[:_MOST]))}{more}"


def _places(mentions: Counter[str]) -> str:
    return _kinds(Counter({_PLACES.get(kind, f"in {kind}"): count for kind, count in mentions.items()}))


def _kinds(counts: Counter[str], rest: str = "of other kinds") -> str:
    kinds = [f"{count:,} {printable.printable(kind)}" for kind, count in counts.most_common(_KINDS)]
    others = counts.total() - sum(count for _, count in counts.most_common(_KINDS))
    return ", ".join(kinds + ([f"{others:,} {rest}"] if others else []))


def links_text(totals: Totals) -> str:
    """Return the counts of links, for example `2 links in 1 document: 2 without host; problems: 1 malformed`."""
    text = f"{number(totals.links, 'link')} in {number(totals.documents, 'document')}"
    scopes = [f"{totals.scopes[scope]:,} {words}" for scope, words in _SCOPES.items() if totals.scopes[scope]]
    if scopes:
        text += f": {', '.join(scopes)}"
    return f"{text}; problems: {_kinds(totals.problems)}" if totals.problems else text


def changes_text(totals: Totals, *, written: bool = True) -> str:
    """Return the counts of a rewrite, for example `34 links in 1 document changed; 5 left as is`."""
    stays = totals.links - totals.changed
    change, stay = ("changed", "left as is") if written else ("would change", "would be left as is")
    if totals.companions:  # kept because they lead to files that were saved with their document
        stay += f", {totals.companions:,} of them to files saved with the page"
    mentions = ""
    if totals.mentioned:
        count = number(totals.mentioned.total(), "mention")
        mentions = f"; {count} outside links {change}: {_places(totals.mentioned)}"
    if not totals.changed:
        return f"no link {change}: {stays:,} in {number(totals.documents, 'document')} {stay}{mentions}"
    place = number(totals.changed_documents, "document")
    if totals.changed_documents < totals.documents:
        place = f"{totals.changed_documents:,} of {number(totals.documents, 'document')}"
    return f"{number(totals.changed, 'link')} in {place} {change}; {stays:,} {stay}{mentions}"
