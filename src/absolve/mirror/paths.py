"""Give each URL of a mirror a path: pure, the same for the same URLs, safe on every file system.

In: URLs with their media types. Out: a relative path for each, with `/` as separator: `h/a_b~ibn556sd.html`, for
example, for `http://h/a?b`. One URL has one path, two URLs never share one; a further URL renames only files that it
collides with. Linear in the number and the length of the URLs.

A name is the URL's own where possible. If several URLs have one name on some file system, one keeps it: a folder before
a file, `/` before `/index.html`, an exact name before an invented one, lower case before upper case. The others get
letters of a digest. Linux, macOS and Windows all accept the names, and no program acts on them.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.document.companions import fold
from absolve.mirror.browsers import lacking, suffix
from absolve.urls.identity import percent_decoded
from absolve.urls.whatwg import SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MOST_BYTES: Final = 240  # of a name
_LETTERS: Final = 8  # of a digest

_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._~!$&'()+,;=@-]*")
# Devices of Windows, with any extension, and with blanks before it.
_DEVICE: Final = re.compile(r"(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\..*)?", re.DOTALL)
_SHORT: Final = re.compile(r"[^.]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?")  # Windows' short names lead to other files
# Names by which programs find their settings, which might then run commands. Most of them begin with a dot.
_SETTINGS: Final = frozenset({"desktop.ini", "autorun.inf", "thumbs.db", "web.config", "absolve.toml"})
_WELL_KNOWN: Final = ".well-known"  # RFC 8615
_CLASS: Final = re.compile(r".*\.\{[0-9A-Fa-f-]+\}", re.DOTALL)  # Windows opens it as an object of that class


class Name(NamedTuple):
    """A safe name, and whether it is exactly the decoded segment."""

    text: str
    is_exact: bool


def letters(text: str, more: int = 0) -> str:
    """Return the first letters of a text's digest, for example "zklycewk"; `more` of them if asked."""
    digest = b32encode(sha256(text.encode("utf-8", "surrogatepass")).digest()).decode().lower()
    return digest[: _LETTERS + more].rstrip("=")


def decoded(segment: str) -> str:
    """Return a segment percent-decoded as UTF-8, for example `a b` for `a%20b`; unchanged if that is not UTF-8."""
    text = percent_decoded(segment)
    return segment if SURROGATES.search(text) else text


def safe(segment: str) -> Name:
    """Return the file name for a segment of a URL's path, of any length.

    >>> safe("a%20b").text, safe("a:b").text, safe("con").text
    ('a b', 'a_b', '_con')
    """
    text = decoded(segment)
    name = text if _PLAIN.fullmatch(text) and not text.endswith(".") else _replaced(text)
    while is_reserved(name):  # more than once for a short name: one `_` before `a~1` makes another
        name = f"_{name}"
    return Name(name, name == text)


def is_reserved(name: str) -> bool:
    """Return whether a name is hidden, an option, a Windows device or short name, or a settings file such as `.git`."""
    return bool(
        _DEVICE.fullmatch(name)
        or ("~" in name and _SHORT.fullmatch(name))
        or (fold(name) in _SETTINGS)
        or name.startswith("-")  # an option of a command to which a shell gives all names
        or (name.startswith(".") and name != _WELL_KNOWN)
    )


def refused(name: str) -> str | None:
    """Return why some system refuses the name of a file or folder, for example `a:b`; None if all accept it."""
    if _FORBIDDEN.search(name):
        return "a character that Windows forbids"
    if name.endswith((".", " ")):
        return "a dot or a blank at the end"
    if _DEVICE.fullmatch(name):
        return "the name of a device on Windows"
    return "more than 255 bytes" if len(name.encode("utf-8", "surrogateescape")) > _MOST_ANYWHERE else None


_MOST_ANYWHERE: Final = 255  # bytes of a name, on most file systems


def _replaced(text: str) -> str:
    text = unicodedata.normalize("NFC", _FORBIDDEN.sub("_", text))
    if not text.isascii():
        text = "".join("_" if _is_invisible(character) else character for character in text)
    bare = text.rstrip(". ")
    text = bare + "_" * min(len(text) - len(bare), 3)
    if _CLASS.fullmatch(text):
        text += "_"
    bare = text.lstrip(" ")
    return "_" * min(len(text) - len(bare), 3) + bare or "_"


def _is_invisible(character: str) -> bool:
    """Return whether a character is a control, a format or an unassigned character, or a blank other than a space."""
    category = unicodedata.category(character)
    return category[0] == "C" or category in {"Zl", "Zp"} or (category == "Zs" and character != " ")


def clipped(text: str, most: int) -> str:
    """Return the start of a text that has at most `most` bytes in UTF-8, without a blank or a dot at its end."""
    data = text.encode("utf-8", "replace")
    if len(data) > most:
        text = data[: max(most, 0)].decode("utf-8", "ignore")
    return text.rstrip(". ") or "_"


# --- paths of URLs ----------------------------------------------------------------------------------------------------

MAP: Final = "mirror.sqlite"
INDEX_PAGE: Final = "index.html"  # the mirror's own entry page
MOST_CHARACTERS: Final = 240  # of a path
_MOST_OF_FOLDER: Final = 208  # characters of a folder's path: deeper ones get a folder of their own below the host
_MOST_OF_NAME: Final = 31  # characters that are left for a name then
_MOST_OF_HOST: Final = 60
_QUERY: Final = 60  # characters of a query that a name shows
_LONGEST: Final = 2496  # characters of a folder in a URL: four bytes of UTF-8, escaped, are one character of a path
_DEEPEST: Final = 104  # segments of one: each takes two characters of a path
_INDEX: Final = "index"
_INVENTED: Final = 4  # rank of a name that is not the URL's


class Placed(NamedTuple):
    """A URL that needs a path: `url` is its key, `media_type` has no parameters.

    `looks` is the result of `browsers.markup` for the content.
    """

    url: str
    media_type: str
    looks: str = ""


class _File(NamedTuple):
    """A file in a folder: its name without collisions, split at the extension, and whether it is exact."""

    url: str
    stem: str
    extension: str
    is_exact: bool
    keeps: bool  # whether the name may be used without letters of a digest
    is_index: bool = False  # the document of a folder's URL: people open it first


def folder_of(url: str) -> str:
    """Return the folder of a URL, which is its key for `named`: for example, `h/a` for `http://h/a/b?c`."""
    folder = split(url)[0]
    if len(folder) > _LONGEST or folder.count("/") > _DEEPEST:  # otherwise its parts take quadratic memory
        folder = f"{folder[:_LONGEST].partition('/')[0]}/~{letters(folder, 4)}"
    return folder


def named(folders: Mapping[str, int], files: Callable[[str], Iterable[Placed]]) -> Iterator[tuple[str, str]]:
    """Yield each URL with its path, folder by folder; `files` returns the URLs in a folder, `folders` counts them."""
    return _Tree(folders, files).paths()


def split(url: str) -> tuple[str, str, str | None]:
    """Split a URL into folder (host, escaped segments), last segment and query: `h/a`, `b`, `c` of `http://h/a/b?c`."""
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        rest, mark, query = rest.partition("?")
        return scheme, rest, query if mark else None
    rest, mark, query = rest[2:].partition("?")
    authority, _, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.rpartition(":")
    if colon and port.isdecimal():  # not the default one: `normal` leaves that out
        authority = f"{host}+{port}"
    folder, _, last = f"/{path}".rpartition("/")
    if not authority:  # a package without a URL: its first segment is its name
        return folder[1:] or "_", last, query if mark else None
    return f"{authority}{folder}", last, query if mark else None


def _file(one: Placed) -> _File:
    _, segment, query = split(one.url)
    name, is_exact = safe(segment) if segment else (_INDEX, False)
    keeps = is_exact or not segment
    needed = lacking(one.media_type, name, one.looks)
    extension = needed
    if not needed and suffix(name):
        name, _, last = name.rpartition(".")
        extension = f".{last}"
    if query is not None:
        shown = safe(query[: _QUERY * 3]).text[:_QUERY]
        name = f"{name}_{shown}"
        extension += lacking(one.media_type, name + extension, one.looks)
        return _File(one.url, name, extension, is_exact=False, keeps=False)
    keeps = keeps and not is_reserved(name + extension)
    return _File(one.url, name, extension, is_exact and not needed, keeps, is_index=not segment)


class _Tree:
    """The folders of a mirror, from the root down, with the names that are used in each."""

    def __init__(self, folders: Mapping[str, int], files: Callable[[str], Iterable[Placed]]) -> None:
        self._folders = folders
        self._files = files
        self._inside: dict[str, set[str]] = defaultdict(set)
        for folder in folders:
            below = folder
            while below:
                above, _, last = below.rpartition("/")
                if last in self._inside[above]:
                    break
                self._inside[above].add(last)
                below = above
        own = (MAP, f"{MAP}-journal", f"{MAP}-wal", f"{MAP}-shm", f"{MAP}.part", INDEX_PAGE)
        self._own = {fold(name) for name in own}
        self._used: dict[str, set[str]] = {"": set(self._own)}
        self._path_of = {"": ""}
        self._found: list[tuple[str, str]] = []

    def paths(self) -> Iterator[tuple[str, str]]:
        below = sorted({*self._inside, *self._folders}, key=lambda folder: (folder.count("/") + bool(folder), folder))
        if "" not in below:
            below.insert(0, "")
        for folder in below:
            self._name_all(folder)
            yield from self._found
            self._found.clear()
            if folder and "/" in self._path_of[folder]:  # nothing else is put into it later
                self._used.pop(self._path_of[folder], None)

    def _name_all(self, folder: str) -> None:
        """Name the folders and files in one folder."""
        groups: dict[str, list[tuple[tuple[int, bool, str], str, _File | None]]] = defaultdict(list)
        files = [_file(one) for one in self._files(folder)]
        for child in sorted(self._inside.get(folder, ())):
            full = f"{folder}/{child}" if folder else child
            name, is_exact = safe(child)
            rank = 0 if is_exact else _INVENTED
            groups[fold(name)].append(((rank, fold(name) != name, full), name, None))
        for file in files:
            name = file.stem + file.extension
            rank = 1 if file.is_index else 2 if file.is_exact else 3 if file.keeps else _INVENTED
            groups[fold(name)].append(((rank, fold(name) != name, file.url), name, file))
        place = self._path_of[folder]
        used = self._used.setdefault(place, set())
        later: list[tuple[tuple[int, bool, str], str, _File | None]] = []
        for folded, group in groups.items():
            group.sort(key=lambda entry: entry[0])
            first = group[0]
            if first[0][0] < _INVENTED and folded not in used and self._fits(place, first[1], first[2]):
                self._put(place, first[0][2], first[1], first[2])
                later += group[1:]
            else:
                later += group
        later.sort(key=lambda entry: entry[0][2])
        for (_, _, full), name, entry in later:
            self._put_beside(place, full, name, entry)

    @staticmethod
    def _fits(place: str, name: str, file: _File | None) -> bool:
        if len(name.encode("utf-8", "replace")) > MOST_BYTES:
            return False
        if file is None:
            return bool(place) or len(name) <= _MOST_OF_HOST
        return len(place) + 1 + len(name) <= MOST_CHARACTERS

    def _put(self, place: str, full: str, name: str, file: _File | None) -> None:
        """Use a free name for a file, or for a folder unless its path would be too long."""
        path = f"{place}/{name}" if place else name
        if file is not None:
            self._used[place].add(fold(name))
            self._found.append((full, path))
        elif len(path) <= _MOST_OF_FOLDER:
            self._used[place].add(fold(name))
            self._path_of[full] = path
        else:
            self._put_aside(full)

    def _put_beside(self, place: str, full: str, name: str, file: _File | None) -> None:
        """Name a file or folder that cannot keep its name: its start, and as few letters of a digest as needed."""
        stem, extension = (file.stem, file.extension) if file is not None else (name, "")
        most = min(MOST_BYTES, max(_MOST_OF_NAME, MOST_CHARACTERS - len(place) - 1))
        for more in range(60):
            end = f"~{letters(full, more)}{extension}"
            room = most - len(end.encode())
            if file is None:
                room = min(room, _MOST_OF_HOST - len(end))
            new = clipped(stem, room) + end
            if fold(new) not in self._used[place]:
                self._put(place, full, new, file)
                return
        raise AssertionError(full)  # two URLs with one SHA-256

    def _put_aside(self, full: str) -> None:
        """Put a folder that is too deep into a folder of its own below the host."""
        host = self._path_of[full.partition("/")[0]].partition("/")[0]
        used = self._used.setdefault(host, set())
        for more in range(4, 60):
            name = f"~{letters(full, more)}"
            if fold(name) not in used:
                used.add(fold(name))
                self._path_of[full] = f"{host}/{name}" if host else name
                return
        raise AssertionError(full)  # as above
