"""Leave out the findings of documents that did not change since a git revision.

In: a revision or a range of revisions, the folders of the new site, the tables of findings. Out: fewer findings, and
the table `left_out` with their number. Only a file that git tracks and has not named as changed is left out: of any
other document it is not known what has changed. Links to a file that was removed or renamed stay, wherever they are.
"""

from __future__ import annotations

import os
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.audit import robots
from absolve.audit.judge import each, insert, one
from absolve.audit.verdicts import QUIET
from absolve.core.errors import UsageError, in_short
from absolve.document.holdings import escaped
from absolve.document.resolved import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# A repository that came with a download runs no program of its own, changes no file, and reaches no network.
_SAFE: Final = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never")
_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_DIFF: Final = "diff --name-only -z --relative --no-renames --no-ext-diff --no-textconv --ignore-submodules=all".split()
_FOR_ALL_PAGES: Final = ["robots.txt", *robots.FILES]  # files that decide about the index of every page
_CHANGED_FOR_ALL: Final = r"""
SELECT count(*) FROM new_documents WHERE list_contains(?, regexp_extract(document, '[^/\\]*$'))
AND document NOT IN (SELECT document FROM unchanged)
"""
# A file was found under its own path, that of its folder, and without its extension.
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
    """The tracked files that did not change, as absolute paths, and those that were removed, by their paths in NEW."""

    unchanged: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()


def since(revision: str, names: Iterable[str]) -> Changes:
    """Return what changed since a revision, or in a range `A..B`.

    `names` are folders and files; files count with the folder that they are in. Raise UsageError without git, outside
    a repository, and for a revision that git does not know.
    """
    if revision.startswith("-"):
        raise UsageError(f"--changed-since {in_short(revision)!r} is no revision")
    folders = {os.path.realpath(path if path.is_dir() else path.parent) for path in map(Path, names) if path.exists()}
    if not folders:
        raise UsageError("--changed-since needs NEW: a folder in a git repository")
    found = [_of_folder(revision, folder) for folder in sorted(folders)]
    return Changes(
        frozenset(path for one in found for path in one.unchanged), tuple(path for one in found for path in one.removed)
    )


def _of_folder(revision: str, folder: str) -> Changes:
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
    """Return what git prints. Raise UsageError if it is not there, or ends with another status."""
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


def links(connection: Any, changes: Changes, new_url: str) -> None:
    """Take findings of unchanged files out of the table `findings`; `unchanged` names the files."""
    if changes.unchanged:
        insert(connection, "removed", ((new_url + escaped(name),) for name in changes.removed))
        held = {shown(path) for path in changes.unchanged}
        rows = each(connection, _DOCUMENTS)
        insert(connection, "unchanged", (row for row in rows if _absolute(row[0]) in held))
        _delete(connection, "findings", f"verdict NOT IN {QUIET} AND NOT coalesce({_LEADS_TO_REMOVED}, false)")


def pages(connection: Any) -> None:
    """Take findings of unchanged files out of `pages`, but no noindex that a changed file for all pages may cause."""
    if one(connection, "SELECT count(*) FROM unchanged")[0]:
        (changed,) = one(connection, _CHANGED_FOR_ALL, [_FOR_ALL_PAGES])
        _delete(connection, "pages", "verdict <> 'noindex'" if changed else "true")


def _delete(connection: Any, table: str, condition: str) -> None:
    statement = f"DELETE FROM {table} WHERE {condition} AND document IN (SELECT document FROM unchanged)"  # noqa: S608 - names of ours
    insert(connection, "left_out", [one(connection, statement)])


def _absolute(name: str) -> str:
    folder, base = os.path.split(name)
    return os.path.join(_real(folder), base)  # noqa: PTH118 - a text


@lru_cache(maxsize=1 << 12)
def _real(folder: str) -> str:
    return os.path.realpath(folder)
