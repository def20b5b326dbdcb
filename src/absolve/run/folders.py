"""The files of folders: which of them globs include, and which are no inputs.

In: folders that the user named, globs. Out: regular files below them, sorted. In a glob `*` and `?` match within one
path segment, `**` matches any number of segments: for example, `src/*.[ch]` matches `src/a.c`, and `src/**` all files
below `src`. Matching takes time linear in the length of the path, for any glob: no `*` is tried twice.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core.errors import OF_SAVER, UNMET, Diagnostic, UsageError
from absolve.document.companions import NODE_MODULES, SOURCES, keeper_of
from absolve.formats import sniffing
from absolve.run import leftovers
from absolve.run.output_folder import LED_OUT
from absolve.run.sources import STDIN, is_folder_entry, names_among, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from absolve.run.sources import Around

    _Part = Callable[[str], object]
    Notify = Callable[[Diagnostic], None]

_HEAD: Final = 1 << 16  # bytes that identify a document
_LONGEST: Final = 4096  # characters: no path is longer (PATH_MAX)


class Globs(NamedTuple):
    """Files of a folder to include and exclude, by relative path with `/` as separator.

    A glob without `/` matches a name in any folder; with `/` it matches the whole path; a `/` at its end restricts it
    to folders. An excluded folder is excluded with all its content. Without `include` all files are included. `hidden`:
    also files that do not belong to the site, such as hidden folders (`companions.keeper_of`).

    >>> globs = Globs(include=("*.html",), exclude=("old/",))
    >>> globs.reaches("a/b.html"), globs.reaches("old/b.html"), globs.reaches("b.css")
    (True, False, False)
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False

    def checked(self) -> Globs:
        """Return these globs. Raise UsageError for one that is too long."""
        for glob in (*self.include, *self.exclude):
            if len(glob) > _LONGEST:
                raise UsageError(f"{glob[:40]!r}... is not a valid glob: it is longer than {_LONGEST:,} characters")
        return self

    def excluded(self, place: str) -> bool:
        """Return whether a folder is excluded with all its content."""
        return _matches(self.exclude, place, folder=True)

    def wanted(self, place: str) -> bool:
        """Return whether a file is included; `reaches` also looks at the folders above it."""
        if _matches(self.exclude, place):
            return False
        return not self.include or _matches(self.include, place)

    def unmet(self, place: str, left: set[str]) -> set[str]:
        """Return the globs among these that do not match a path."""
        return {glob for glob in left if not _matched(glob, place)[-1]}

    def report_unmet(self, left: set[str], notify: Notify) -> None:
        """Report each of these globs with its option: it met nothing."""
        for glob in (*self.include, *self.exclude):
            if glob in left:
                option = "--include" if glob in self.include else "--exclude"
                whole = "" if set("*?[") & set(glob) else f": a glob is for a whole name, as {f'*{glob}*'!r}"
                notify(Diagnostic(UNMET, f"no name matches {glob!r}{whole}", option))

    def reaches(self, place: str) -> bool:
        """Return whether a file is included and no folder above it is excluded."""
        above = place.split("/")[:-1]
        folders = ("/".join(above[:number]) for number in range(1, len(above) + 1))
        return self.wanted(place) and not (self.exclude and any(map(self.excluded, folders)))

    def chosen(self, places: Iterable[str]) -> bool:
        """Return whether a document with any of these names is included: by one of them, or by a folder above it."""
        names = list(places)
        if any(_leads(glob, name) for glob in self.exclude for name in names):
            return False
        return not self.include or any(_leads(glob, name) for glob in self.include for name in names)


def _leads(glob: str, place: str) -> bool:
    """Return whether a glob matches a folder above a path or, unless it is for folders only, the path itself."""
    *above, whole = _matched(glob, place)
    return any(above) or (whole and not glob.endswith("/"))


def _matches(globs: Iterable[str], place: str, *, folder: bool = False) -> bool:
    return any((folder or not glob.endswith("/")) and _matched(glob, place)[-1] for glob in globs)


def _matched(glob: str, place: str) -> list[bool]:
    """Return whether a glob matches each folder above a path, and the path: [False, True] for `a/*` and `a/b`."""
    return list(_each(_parts(glob), place.split("/")))


def _each(parts: tuple[_Part | None, ...], names: Iterable[str]) -> Iterator[bool]:
    states = _reached(parts, {0})  # the parts that may come next: all alternatives at once (K. Thompson, 1968)
    for name in names:
        open_ = [(state, parts[state]) for state in states if state < len(parts)]
        states = _reached(parts, {state + (part is not None) for state, part in open_ if part is None or part(name)})
        yield len(parts) in states


def _reached(parts: tuple[_Part | None, ...], states: set[int]) -> set[int]:
    """Return these states, and the states behind a `**`, which needs no name."""
    return states | {state + 1 for state in states if state < len(parts) and parts[state] is None}


@lru_cache(maxsize=256)
def _parts(glob: str) -> tuple[_Part | None, ...]:
    """Return a matcher for each segment of a glob; None for `**`, which comes once in a row, and never last."""
    glob = glob.rstrip("/")
    names = glob.removeprefix("/").split("/") if "/" in glob else ["**", glob]
    if names[-1] == "**":
        names.append("*")
    kept = (name for above, name in zip(["", *names], names, strict=False) if not above == name == "**")
    return tuple(None if name == "**" else re.compile(translate(name)).match for name in kept)


# --- folders ----------------------------------------------------------------------------------------------------------


def files_in(
    root: str, globs: Globs, notify: Notify, *, follow: bool = True, unmet: set[str] | None = None, within: str = ""
) -> Iterator[tuple[str, str, Around, str]]:
    """Yield the files in a folder and its subfolders, sorted: path, path relative to the root, names beside it, `held`.

    A symbolic link is followed if its target is inside the root, or inside the folder `within` around it; a folder is
    entered by one link only, and not by a link inside it. Unreadable files, special files, dangling links, and files
    that do not belong to the site are reported to `notify` and skipped. Globs that include or exclude a file are taken
    out of `unmet`.
    """
    real = os.path.realpath(within or root)
    if not leads_inside(root, real):
        notify(Diagnostic("outside", LED_OUT, root))
        return
    entered: set[tuple[int, int]] = set()  # device and inode of folders entered by a link
    levels = [*_level(root, "", frozenset(), notify)]  # a stack of our own: folders nest deeper than Python's calls
    while levels:
        place, around, entries, names, held = levels[-1]
        entry = next(entries, None)
        if entry is None:
            levels.pop()
            continue
        inside = f"{place}{entry.name}"
        is_below = is_folder_entry(entry)
        if not is_below and leftovers.is_temporary(entry.name):
            continue
        if globs.excluded(inside) if is_below else not globs.wanted(inside):
            if unmet:
                unmet &= globs.unmet(inside, unmet)
        elif not globs.hidden and (keeper := keeper_of(entry.name)):
            notify(left_out(keeper, entry.path))
        elif entry.is_symlink() and not leads_inside(entry.path, real):
            notify(Diagnostic("outside", LED_OUT, entry.path))
        elif entry.is_symlink() and not follow:
            continue  # its target is an input by its own name
        elif is_below:
            if entry.is_symlink():
                led = entry.stat()
                if (led.st_dev, led.st_ino) in entered | around:
                    continue
                entered.add((led.st_dev, led.st_ino))
            levels += _level(entry.path, f"{inside}/", around, notify, held or _held(entry, globs))
        elif wrong := _no_file(entry):
            notify(wrong)
        else:
            if unmet and globs.include:
                unmet &= globs.unmet(inside, unmet)
            yield entry.path, inside, names, held


def left_out(keeper: str, name: str) -> Diagnostic:
    """Return the diagnostic for a file that does not belong to the site; its keeper precedes the colon."""
    return Diagnostic(OF_SAVER, f"{keeper}: no part of the site", name)


class _Level(NamedTuple):
    """A folder on the stack: relative path, device and inode of it and of those above, entries left, names, `held`."""

    place: str
    around: frozenset[tuple[int, int]]
    entries: Iterator[os.DirEntry[str]]
    names: Around
    held: str


def _held(entry: os.DirEntry[str], globs: Globs) -> str:
    """Return `Input.held` for the files in a folder; sources are beside the pages that were built from them."""
    is_source = entry.name == SOURCES and Path(entry.path).with_name("index.html").exists()
    return f"in {entry.name}" if is_source or (entry.name == NODE_MODULES and not globs.hidden) else ""


def _level(
    path: str, place: str, around: frozenset[tuple[int, int]], notify: Notify, held: str = ""
) -> Iterator[_Level]:
    """Yield the level of a folder, or report why it cannot be read."""
    try:
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        state = os.stat(path)  # noqa: PTH116 - beside scandir
    except OSError as error:
        notify(unreadable(path, error).diagnostic._replace(failed=True))
        return
    yield _Level(place, around | {(state.st_dev, state.st_ino)}, iter(found), names_among(found), held)


def _no_file(entry: os.DirEntry[str]) -> Diagnostic | None:
    """Return why an entry that is not a folder is skipped; None for a regular file or a link to one."""
    try:
        if entry.is_file():
            return None
        return special(entry.path, entry.stat().st_mode)
    except FileNotFoundError:
        return Diagnostic("not-found", "skipped: a symbolic link without a target", entry.path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Diagnostic("unreadable", "skipped: a symbolic link in a loop of links", entry.path)
        return unreadable(entry.path, error).diagnostic._replace(failed=True)


_SPECIAL: Final = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISREG, ""), (stat.S_ISDIR, ""))


def special(path: str, mode: int) -> Diagnostic | None:
    """Return why a file of this mode is skipped unless the user names it; None for regular files and folders."""
    kind = next((word for is_kind, word in _SPECIAL if is_kind(mode)), "a device")
    return Diagnostic("special-file", f"skipped: {kind}, not a regular file", path) if kind else None


def leads_inside(path: str, root: str) -> bool:
    led = os.path.realpath(path)
    return led == root or led.startswith(root.rstrip(os.sep) + os.sep)


# --- paths and the folders of the user --------------------------------------------------------------------------------


def is_folder(name: str) -> bool:
    """Return whether a name on the command line is the path of a folder."""
    return name not in {"", STDIN} and Path(name).is_dir()


def folder_around(path: str | Path, names: Iterable[str]) -> str | None:
    """Return the first of these names that is a folder which the path is inside, under any name; else None.

    A symbolic link is inside its own folder, and inside the folder of its target.
    """
    real = Path(os.path.realpath(path))
    itself = Path(os.path.realpath(Path(path).parent), real.name)
    above = [folder for folder in dict.fromkeys((*real.parents, *itself.parents)) if folder.exists()]
    return next((name for name in filter(is_folder, names) if any(map(Path(name).samefile, above))), None)


def led_out_of(path: Path, names: Iterable[str]) -> str | None:
    """Return the folder among these names that a path leaves through a symbolic link; else None."""
    if (folder := folder_around(path, names) if path.is_symlink() else None) is not None:
        return folder  # the last name is a link: it may lead anywhere
    above = Path(os.path.abspath(path)).parent  # noqa: PTH100 - without following links
    real = Path(os.path.realpath(path.parent))
    for name in filter(is_folder, names):
        root = os.path.abspath(name)  # noqa: PTH100
        if above.is_relative_to(root) and not real.is_relative_to(os.path.realpath(root)):
            return name
    return None


def read_from(path: Path, names: Iterable[str], globs: Globs) -> str | None:
    """Return the folder among these names that has a file as an input: a document that the globs include; else None."""
    folder = folder_around(path, names) if path.is_file() else None
    if folder is None:
        return None
    place = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(folder)))
    is_excluded = any(globs.excluded(above.as_posix()) for above in place.parents[:-1])
    if is_excluded or not globs.wanted(place.as_posix()):
        return None
    with path.open("rb") as file:
        return folder if sniffing.sniff(file.read(_HEAD), path.name) is not None else None
