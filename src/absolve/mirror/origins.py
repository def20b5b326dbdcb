"""The origins of a served mirror: one for each host of its capture, and what is at each address of theirs.

In: the map of a mirror. Out: the name of each host below `localhost`, and the file for a request to it. Addresses are
the paths of files, so that relative links lead from file to file, and the URLs of the capture, so that scripts find
what they ask for.
"""

from __future__ import annotations

import re
from base64 import b32encode
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from absolve.mirror import map as maps
from absolve.mirror.lookup import Lookup
from absolve.mirror.policy import Target
from absolve.mirror.urls import Equivalences
from absolve.urls.identity import percent_decoded

if TYPE_CHECKING:
    from pathlib import Path

_LABELS: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_LONGEST: Final = 180  # characters of a host that keeps its name: one of DNS has 253
_PORT: Final = "port-"
_ODD: Final = "host-"
_QUOTED: Final = "/!$&*+,;=@-._~"
_INDEX: Final = "index.html"


class File(NamedTuple):
    """A file of the map: `host` is that of its URL, `fields` are lines of what was recorded beside the media type."""

    url: str
    host: str
    media_type: str
    fields: str

    def field(self, name: str) -> str:
        """Return the first value of a field; "" without one."""
        lines = (line.partition(": ") for line in self.fields.split("\n"))
        return next((value for found, _, value in lines if found == name), "")


def host_of(url: str) -> str:
    """Return what shares an origin in a mirror: a host with its port, else a package or one part of a message.

    http and https are one: a mirror lets one stand for the other.
    """
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        return url
    authority, _, path = rest[2:].partition("/")
    return authority.rpartition("@")[2] or f"{scheme}:///{path.partition('/')[0]}"


def name_of(host: str) -> str:
    """Return the name of a host below `localhost`: letters, digits, `-`, `_` and dots. Two hosts never share one.

    What is no plain name of DNS gets a last label that no plain name keeps: its port, or the digest of the host.
    """
    plain, colon, port = host.rpartition(":")
    is_port = bool(colon) and port.isascii() and port.isdecimal() and len(port) <= 5
    name = plain if is_port else host
    if _LABELS.fullmatch(name) and len(name) <= _LONGEST and not name.rpartition(".")[2].startswith((_PORT, _ODD)):
        return f"{name}.{_PORT}{port}" if is_port else name
    digest = sha256(host.encode("utf-8", "surrogatepass")).digest()
    return _ODD + b32encode(digest).decode().rstrip("=").lower()


class Origins:
    """The files of a mirror by path, and its hosts by name. Raise sqlite3.Error for a map that cannot be read."""

    def __init__(self, map_: Path) -> None:
        self.files: dict[str, File] = {}
        db = maps.opened(map_, "resources")
        has_fields = any(row[1] == "fields" for row in db.execute("PRAGMA table_info(resources)"))
        query = f"""\
SELECT path, url, media_type, {"fields" if has_fields else "NULL"} FROM resources
WHERE typeof(path) = 'text' AND typeof(url) = 'text'"""  # noqa: S608 - our own words
        for path, url, *facts in db.execute(query):
            media_type, fields = (fact if isinstance(fact, str) else "" for fact in facts)
            self.files[path] = File(url, host_of(url), media_type, fields)
        self.hosts = {name_of(file.host): file.host for file in self.files.values()}
        self._lookup = Lookup(db, Equivalences(), is_normal=False, is_finished=True)
        self._lock = Lock()
        self._roots: set[tuple[str, str]] = set()
        self._tops: dict[str, str] = {}
        for path, file in self.files.items():
            self._add_root(path, file)
        tops = {path.partition("/")[0] for path in self.files}
        self._crossed = {  # a link from a page to the folder of another host could be one to a folder of its own
            file.host for path, file in self.files.items()
            if (top := self._tops.get(file.host)) and path[len(top) :].partition("/")[0] in tops
        }

    def _add_root(self, path: str, file: File) -> None:
        """Note the folder of a host, where the folders below it are those of the URL."""
        folder, above = path.rpartition("/")[0], _folder(_target(file.url))
        if not above or f"/{folder}".endswith(f"/{above}"):
            root = folder[: len(folder) - len(above)].strip("/")
            root = f"{root}/" if root else ""
            self._roots.add((file.host, root))
            if root.count("/") <= 1 and len(root) <= len(self._tops.get(file.host, root)):
                self._tops[file.host] = root

    def find(self, host: str, target: str) -> Target | None:
        """Return the file that a host has for the target of a request: by its path, or by its URL. It may be another's.

        A folder is its index.html. `host` is "" for the entry page of the mirror.
        """
        before, mark, _ = target.partition("?")
        path = percent_decoded(before.removeprefix("/"))
        if not mark and path in self.files:
            return Target(path)
        for below in self._below(host, path, target) if host else ():
            if (found := self._held(host, below)) is not None:
                return found
        for one in (path, self._tops.get(host, "") + path):
            named = f"{one}{_INDEX}" if one.endswith("/") else one
            if named in self.files:
                return Target(named)
        return None

    def _below(self, host: str, path: str, target: str) -> list[str]:
        """Return what a target may be in a URL of this host: itself, or what follows the folder of the host."""
        found = [target]
        for number in (1, 2):
            root = "/".join(path.split("/", number)[:number]) + "/"
            if (host, root) in self._roots:
                found.append("/" + target.split("/", number + 1)[-1])
        return found

    def _held(self, host: str, target: str) -> Target | None:
        if "/" in host:  # no host of the web
            return None
        with self._lock:
            found = self._lookup(f"https://{host}{target}")
        return found if found is not None and found.path in self.files else None

    def place(self, found: Target, host: str, target: str, *, navigates: bool) -> tuple[str, str] | None:
        """Return the host and the target where a file is to be asked for; None if that is here.

        A page goes to its URL, which its scripts may read; everything else to where its relative links are right.
        """
        file = self.files[found.path]
        own = f"/{quote(found.path, safe=_QUOTED)}"
        url = _target(file.url)
        if navigates and self._fits(found.path, url) and self._is_at(found.path, url):
            own = url
        elif file.host == host and not navigates and self._fits(found.path, target):
            return None
        return (file.host, own) if (host, target) != (file.host, own) else None

    def _is_at(self, path: str, target: str) -> bool:
        found = self.find(self.files[path].host, target)
        return found is not None and found.path == path

    def _fits(self, path: str, target: str) -> bool:
        """Return whether the relative links of a file lead to the same files from this target of its host."""
        if not (target.isascii() and target.isprintable()):
            return False
        host, folder, asked = self.files[path].host, path.rpartition("/")[0], _folder(target)
        top = self._tops.get(host) if host not in self._crossed else None
        return asked == folder or (top is not None and f"{top}{asked}".rstrip("/") == folder)


def _target(url: str) -> str:
    """Return the path and the query of a URL."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _folder(target: str) -> str:
    """Return the folder of a target, without its escapes."""
    return percent_decoded(target.partition("?")[0]).rpartition("/")[0].removeprefix("/")
