"""Leave out findings that are known and accepted, and findings of documents that did not change in git.

In: patterns with their reasons, a revision or a range of revisions, the tables of findings, a reader of pages. Out:
fewer findings, the tables `ignored` and `left_out`, and the patterns without a match. A pattern is a regular
expression of RE2, which matches in linear time; many are matched together. An attribute in the page leaves out the
links in its element. Only files that git tracks and does not list as changed are left out, since the changes of other
documents are not known. Links to a file that was removed or renamed stay, wherever they are.

    >>> parse_patterns(["/old/ # under construction"])
    [Ignore(pattern='/old/', reason='under construction', source='--ignore')]
"""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import robots
from absolve.audit.judge import each, insert, one
from absolve.audit.verdicts import QUIET
from absolve.core import patterns
from absolve.core.errors import Diagnostic, DocumentError, UsageError, in_short
from absolve.document.companions import escaped
from absolve.document.resolved import shown
from absolve.formats.html.names import HTML
from absolve.formats.html.start_tags import Tag, attributes, start_tags
from absolve.run import sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from absolve.audit.texts import Found

ATTRIBUTE: Final = b"data-absolve-ignore"
_MOST: Final = 100_000  # patterns
_REASON: Final = re.compile(r"(?<!\s)\s+#\s")
# An end tag; after one without `>`, the rest of the text has no other.
_END_TAG: Final = re.compile(rb"</([A-Za-z][^\t\n\f\r />]*+)[^>]*+>|</[A-Za-z][^>]*+\Z|<!--.*?(?:-->|\Z)", re.DOTALL)
_VOID: Final = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_PAGES: Final = "media_type = 'text/html' AND document IN (SELECT document FROM findings)"
_ROUTES: Final = """
DELETE FROM findings WHERE verdict = 'fragment' AND regexp_matches(fragment_of(target), '^[!/]')
"""
# The number of findings by the verdict that their links have otherwise, before and after the patterns.
_QUIET: Final = "SELECT quiet_verdict(scope) AS verdict, count(*) AS number FROM findings GROUP BY ALL"
_TEXTS: Final = "(SELECT rowid AS row, unnest([{texts}]) AS text FROM {table} WHERE {condition})"
_DISTINCT: Final = "SELECT DISTINCT text FROM {rows} WHERE text IS NOT NULL"
_IGNORED: Final = """
CREATE OR REPLACE TABLE ignored_rows AS
SELECT row, min(first) AS first FROM {rows} JOIN ignored_texts USING (text) GROUP BY row
"""
_COUNTED: Final = """
UPDATE ignored SET {column} = {column} + number
FROM (SELECT first, count(*) AS number FROM ignored_rows GROUP BY first) WHERE pattern = first
"""


class Ignore(NamedTuple):
    """A pattern, the reason behind ` # `, and its source, for example `known.txt:3` or `--ignore`."""

    pattern: str
    reason: str
    source: str


def parse_patterns(texts: Iterable[str], most: int = sources.LARGEST, file: str | None = None) -> list[Ignore]:
    """Return the patterns in texts such as `/old/ # under construction`; `@FILE` is a file with one on each line.

    Raise UsageError for a malformed pattern, for too many, and for a file that cannot be read or has more than `most`
    bytes.
    """
    found: list[Ignore] = []
    for number, text in enumerate(texts, 1):
        if not text.strip() or text.startswith("# "):
            continue
        if text.startswith("@") and file is None:
            found += parse_patterns(_lines(text[1:], most), most, text[1:])
            continue
        pattern, _, reason = _REASON.sub("\n", text.strip(), count=1).partition("\n")
        place = f"{file}:{number}" if file is not None else "--ignore"
        try:
            patterns.matcher(pattern)
        except UsageError as error:
            raise UsageError(f"{place}: {pattern!r}: {error}") from error
        found.append(Ignore(pattern, reason.strip(), place))
        if len(found) > _MOST:
            raise UsageError(f"{place}: more than {_MOST:,} patterns: one for a folder or a host serves for many URLs")
    return found


def _lines(name: str, most: int) -> list[str]:
    try:
        return sources.of_option(name, most).decode("utf-8-sig").splitlines()
    except DocumentError as error:
        raise UsageError(f"--ignore @{name}: {error.diagnostic.text}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--ignore @{name}: the file cannot be read as UTF-8") from error


def first_match(ignores: Sequence[Ignore]) -> Callable[[str], int | None]:
    """Return a function that returns the number of the first pattern that matches a text, or None."""
    likely = patterns.PatternSet((ignore.pattern, False) for ignore in ignores)

    def first(text: str) -> int | None:
        return next((one for one in likely.candidates(text) if patterns.matcher(ignores[one].pattern)(text)), None)

    return first


def links(
    connection: Any, ignores: Sequence[Ignore], read: Callable[[str, str], Iterable[Found]], *, routes: bool
) -> None:
    """Delete ignored links from the table `findings`. `routes`: findings of routes of a script (`#/`, `#!`) stay."""
    if not routes:
        connection.execute(_ROUTES)
    connection.execute(f"CREATE OR REPLACE TABLE ignored_links AS {_QUIET}")
    insert(connection, "ignored", ((number, 0, 0) for number in range(len(ignores))))
    _delete(connection, ignores, "findings", "reference, coalesce(target, '')", "true", "links")
    insert(connection, "ignored", [(-1, _by_attribute(connection, read), 0)])
    connection.execute(f"INSERT INTO ignored_links SELECT verdict, -number FROM ({_QUIET})")  # noqa: S608 - of ours


def others(connection: Any, ignores: Sequence[Ignore], table: str, fine: Sequence[str]) -> None:
    """Delete ignored rows from a table of URLs; rows with a verdict of `fine` stay."""
    words = ", ".join(f"'{word}'" for word in fine) or "''"
    _delete(connection, ignores, table, "url", f"verdict NOT IN ({words})", "others")


def unused(connection: Any, ignores: Sequence[Ignore]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pattern that matches no finding."""
    for (number,) in each(connection, "SELECT pattern FROM ignored WHERE pattern >= 0 AND links + others = 0"):
        ignore = ignores[number]
        yield Diagnostic("unused-ignore", f"no finding matches {ignore.pattern!r}", ignore.source)


def _delete(connection: Any, ignores: Sequence[Ignore], table: str, texts: str, condition: str, counted: str) -> None:
    """Delete the rows in which a pattern matches one of `texts`, and count them for the first such pattern.

    Each distinct text is matched once, against all patterns together.
    """
    if not ignores:
        return
    first = first_match(ignores)
    connection.execute("CREATE OR REPLACE TABLE ignored_texts (text VARCHAR, first BIGINT)")
    rows = _TEXTS.format(texts=texts, table=table, condition=condition)
    every = each(connection, _DISTINCT.format(rows=rows))
    insert(connection, "ignored_texts", ((text, number) for (text,) in every if (number := first(text)) is not None))
    connection.execute(_IGNORED.format(rows=rows))
    connection.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT row FROM ignored_rows)")  # noqa: S608 - of ours
    connection.execute(_COUNTED.format(column=counted))


def _by_attribute(connection: Any, read: Callable[[str, str], Iterable[Found]]) -> int:
    """Delete the findings in elements with the attribute; return their number."""
    found: list[tuple[int]] = []
    for page in read("new", _PAGES):
        if ATTRIBUTE not in page.data.lower():
            continue
        spans = list(regions(page.data))
        starts = [start for start, _ in spans]
        query = "SELECT id, start FROM findings WHERE document = ? AND entity = ?"
        for number, at in each(connection, query, [page.document, page.entity]):
            place = bisect_right(starts, at) - 1
            if place >= 0 and at < spans[place][1]:
                found.append((number,))
    connection.execute("CREATE OR REPLACE TABLE ignored_ids (id BIGINT)")
    insert(connection, "ignored_ids", found)
    (count,) = connection.execute("DELETE FROM findings WHERE id IN (SELECT id FROM ignored_ids)").fetchone()
    return int(count)


def regions(page: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte spans of elements with the attribute, to their end tag or the end of the page.

    Elements inside such an element are not yielded.

    >>> list(regions(b"<p><a data-absolve-ignore>x</a></p>"))
    [(3, 31)]
    """
    start, name, depth, after = 0, b"", 0, 0
    for tag in chain(start_tags(page), [Tag(len(page), len(page), b"", len(page), len(page))]):
        for end in _END_TAG.finditer(page, after, tag.start) if depth else ():
            depth -= (end[1] or b"").lower() == name
            if not depth:
                yield start, end.end()
                break
        if depth:
            depth += tag.name == name
        elif ATTRIBUTE in attributes(page, tag.start, tag.end):
            if tag.name in _VOID or (tag.namespace != HTML and page.endswith(b"/>", tag.start, tag.end)):
                yield tag.start, tag.end
            else:
                start, name, depth = tag.start, tag.name, 1
        after = tag.text_end
    if depth:
        yield start, len(page)


# --- documents that did not change ------------------------------------------------------------------------------------

# A repository from a download must run no program of its own, change no file, and reach no network.
_SAFE: Final = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never")
_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_DIFF: Final = "diff --name-only -z --relative --no-renames --no-ext-diff --no-textconv --ignore-submodules=all".split()
_FOR_ALL_PAGES: Final = ["robots.txt", *robots.FILES]  # files that decide about the index of every page
_CHANGED_FOR_ALL: Final = r"""
SELECT count(*) FROM new_documents WHERE list_contains(?, regexp_extract(document, '[^/\\]*$'))
AND document NOT IN (SELECT document FROM unchanged)
"""
# A file was found under its own path, the path of its folder, and without its extension.
_LEADS_TO_REMOVED: Final = """
key_of(path_of(url)) IN (
    SELECT key_of(path_of(url)) FROM removed
    UNION ALL SELECT key_of(folder_of(path_of(url))) FROM removed
    WHERE list_contains(index_names(), regexp_extract(path_of(url), '[^/]*$'))
    UNION ALL SELECT key_of(path_of(url[:-1 - length(extension)]))
    FROM removed, (SELECT unnest(extensions()) AS extension) WHERE ends_with(url, extension))
"""
_DOCUMENTS: Final = "SELECT document FROM new_documents UNION SELECT document FROM findings"


class Changes(NamedTuple):
    """The tracked files that did not change, as absolute paths, and the removed files, by their paths in NEW."""

    unchanged: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()


def since(revision: str, names: Iterable[str]) -> Changes:
    """Return the changes since a revision, or in a range `A..B`.

    `names` are folders and files; a file counts as its folder. Raise UsageError without git, outside a repository, and
    for a revision that git does not know.
    """
    if revision.startswith("-"):
        raise UsageError(f"--changed-since {in_short(revision)!r} is no revision")
    folders = {os.path.realpath(path if path.is_dir() else path.parent) for path in map(Path, names) if path.exists()}
    if not folders:
        raise UsageError("--changed-since needs NEW: a folder in a git repository")
    found = [_folder_changes(revision, folder) for folder in sorted(folders)]
    return Changes(
        frozenset(path for one in found for path in one.unchanged), tuple(path for one in found for path in one.removed)
    )


def _folder_changes(revision: str, folder: str) -> Changes:
    tracked = _names(_git(folder, ["ls-files", "-z", "--", "."], revision))  # first: it fails outside a repository
    options = [f"--config-env={key}=ABSOLVE_EMPTY" for key in _filters(folder)]
    changed = set(_names(_git(folder, [*options, *_DIFF, revision, "--", "."], revision)))
    paths = (os.path.join(folder, name) for name in tracked if name not in changed)  # noqa: PTH118 - texts
    removed = (name for name in sorted(changed) if not os.path.lexists(os.path.join(folder, name)))  # noqa: PTH118
    return Changes(frozenset(path for path in paths if not os.path.islink(path)), tuple(removed))  # noqa: PTH114


def _filters(folder: str) -> Iterator[str]:
    """Yield the settings of a repository that name programs for the contents of files."""
    listed = _git(folder, ["config", "--null", "--name-only", "--get-regexp", r"^filter\."], "", statuses=(0, 1))
    yield from _names(listed)


def _names(data: bytes) -> list[str]:
    return [os.fsdecode(name) for name in data.split(b"\0") if name]


def _git(folder: str, words: Sequence[str], revision: str, statuses: Sequence[int] = (0,)) -> bytes:
    """Return the output of git. Raise UsageError if git is missing, or ends with another status."""
    done = _run(folder, words)
    if done.returncode not in statuses:
        why = done.stderr.decode("utf-8", "replace").partition("\n")[0].removeprefix("fatal: ")
        if _run(folder, ["rev-parse", "--is-shallow-repository"]).stdout == b"true\n":
            why += ": this clone is shallow, so fetch its history (fetch-depth: 0 of GitHub's checkout)"
        raise UsageError(f"--changed-since {in_short(revision)}: git in {folder}: {why}")
    return done.stdout


def _run(folder: str, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    argv = ["git", "--no-pager", *(word for one in _SAFE for word in ("-c", one)), *words]
    environment = {**os.environ, **_ENVIRONMENT, "ABSOLVE_EMPTY": ""}
    nothing = subprocess.DEVNULL
    try:
        return subprocess.run(argv, cwd=folder, env=environment, stdin=nothing, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        raise UsageError(f"--changed-since needs git, which cannot be run: {error.strerror}") from error


def leave_out_unchanged(connection: Any, changes: Changes, new_url: str) -> None:
    """Delete findings of unchanged files from the table `findings`; fill the table `unchanged`."""
    if changes.unchanged:
        insert(connection, "removed", ((new_url + escaped(name),) for name in changes.removed))
        held = {shown(path) for path in changes.unchanged}
        rows = each(connection, _DOCUMENTS)
        insert(connection, "unchanged", (row for row in rows if _absolute(row[0]) in held))
        _leave_out(connection, "findings", f"verdict NOT IN {QUIET} AND NOT coalesce({_LEADS_TO_REMOVED}, false)")


def leave_out_unchanged_pages(connection: Any) -> None:
    """Delete findings of unchanged files from `pages`, except noindex if robots.txt or the like has changed."""
    if one(connection, "SELECT count(*) FROM unchanged")[0]:
        (changed,) = one(connection, _CHANGED_FOR_ALL, [_FOR_ALL_PAGES])
        _leave_out(connection, "pages", "verdict <> 'noindex'" if changed else "true")


def _leave_out(connection: Any, table: str, condition: str) -> None:
    statement = f"DELETE FROM {table} WHERE {condition} AND document IN (SELECT document FROM unchanged)"  # noqa: S608 - names of ours
    insert(connection, "left_out", [one(connection, statement)])


def _absolute(name: str) -> str:
    folder, base = os.path.split(name)
    return os.path.join(_real(folder), base)  # noqa: PTH118 - a text


@lru_cache(maxsize=1 << 12)
def _real(folder: str) -> str:
    return os.path.realpath(folder)
