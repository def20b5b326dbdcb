"""Files in a store by URL (S3, GCS, Azure, HDFS): list them, read ranges of them, write each completely or not at all.

Input: URLs that the user names. Output: the files below a prefix or a glob, open files, uploads. The work is that of
fsspec, which is imported with the first URL; of Arrow's file systems, which also have all four, an upload that is begun
cannot be given up, and is completed after an error.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from absolve.core.errors import AbsolveError, MissingPackageError, UsageError, in_short
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

class Scheme(NamedTuple):
    """A kind of store: its name in fsspec, the package that it needs, and the extra of absolve with that package.

    `whole`: a file appears when its upload is complete. `sending` are arguments for an upload.
    """

    protocol: str
    package: str
    extra: str
    whole: bool = True
    sending: dict[str, Any] = {}  # noqa: RUF012 - never modified


_PART: Final = 16 << 20  # bytes of a part of an upload; S3 takes 10,000 of them, so a larger file has larger ones
_S3: Final = Scheme("s3", "s3fs", "s3", sending={"max_concurrency": 4})
_GS: Final = Scheme("gs", "gcsfs", "gs")
_AZURE: Final = Scheme("abfs", "adlfs", "abfs")
SCHEMES: Final = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _S3),  # the last two are Hadoop's
    **dict.fromkeys(("gs", "gcs"), _GS),
    **dict.fromkeys(("abfs", "abfss", "az"), _AZURE),
    "hdfs": Scheme("hdfs", "pyarrow", "hdfs", whole=False),
}
_WEB: Final = Scheme("http", "aiohttp", "web", whole=False)  # to be read only
_OF_WEB: Final = pattern(r"(?i)https?://[^/?#@]+/[^?#]*\.(?:w?arc(?:\.gz|\.zst)?|wacz)(?:\?[^#]*)?")
_LOCAL: Final = Scheme("file", "fsspec", "spark", whole=False)  # the output of Spark on a disk that all machines share

_URL: Final = pattern(r"([A-Za-z][A-Za-z0-9+.-]+)://((?s:.*))")
_HADOOP: Final = {  # argument of s3fs -> setting of Hadoop
    "key": "fs.s3a.access.key",
    "secret": "fs.s3a.secret.key",
    "token": "fs.s3a.session.token",
    "endpoint_url": "fs.s3a.endpoint",
    "region_name": "fs.s3a.endpoint.region",
}
_OF_SPARK: Final = "s3.amazonaws.com"  # the endpoint that Spark sets by itself
_BLOCK: Final = 8 << 20  # bytes of a range; the next one is asked for while this one is read
_BLOCKS: Final = 3  # of these in memory
_FIRST: Final = 1 << 18  # bytes asked for where the first ones are wanted: most pages are shorter

_AT_ONCE: Final = 16  # requests at once for many small files

RANGES: Final = "ranges"
# Arguments of fsspec by protocol, where the environment is not enough; and how ranges of the web are asked for.
settings: dict[str, dict[str, Any]] = {RANGES: {"timeout": 30.0, "retries": 2}}


def is_url(name: str) -> bool:
    """Return whether a name has the form of a URL of any store."""
    return _URL.match(name) is not None


def is_bucket(name: str) -> bool:
    """Return whether an input or output is a URL of a store that absolve knows, or of an archive of the web."""
    return "://" in name and (name.partition("://")[0].lower() in SCHEMES or is_web(name))


def is_web(name: str) -> bool:
    """Return whether a name is the URL of a web archive, without a password, of which ranges may be asked for."""
    return name[:4].lower() == "http" and _OF_WEB.fullmatch(name) is not None


@lru_cache(maxsize=256)
def gives_ranges(url: str) -> bool:
    """Return whether a server gives ranges of a web archive; False for one that cannot be asked."""
    try:
        files = _made(_WEB, url, url)
        from absolve.run.web import ranges

        with _in_words(url):
            return bool(_patient(url, ranges.are_given)(files, url))
    except (OSError, AbsolveError):
        return False


def _patient(url: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that asks for a range; of the web one that tries again, as often as the user wants."""
    if not is_web(url):
        return work
    from absolve.run.web import ranges

    return ranges.patient(work, settings[RANGES]["retries"])


class State(NamedTuple):
    """The size of a file in bytes, what differs after any change of it, and the time of the last one (ISO 8601)."""

    size: int
    mark: str
    modified: str = ""


# --- one file ---------------------------------------------------------------------------------------------------------


def state(url: str) -> State | None:
    """Return the state of a file; None if there is none. Raise OSError if that cannot be found out."""
    files, path = _at(url)
    with _in_words(url):
        try:
            return _state(_patient(url, files.info)(path))
        except FileNotFoundError:
            return None


def head(url: str, size: int) -> bytes:
    """Return the first bytes of a file. Raise OSError."""
    return _first(url)[:size]


def contents(url: str, most: int) -> bytes | None:
    """Return the bytes of a file; None if it has more than `most`. Raise OSError."""
    found = _first(url)
    _first.cache_clear()  # it is read once
    if len(found) == _FIRST:
        files, path = _at(url)
        with _in_words(url):
            found = _patient(url, files.cat_file)(path, start=0, end=most + 1)
    return found if len(found) <= most else None


@lru_cache(maxsize=1)
def _first(url: str) -> bytes:
    """Return the first bytes of a file: those by which its format is known are often all that it has."""
    files, path = _at(url)
    with _in_words(url):
        try:
            return bytes(_patient(url, files.cat_file)(path, start=0, end=_FIRST))
        except (OSError, ValueError):
            if files.info(path)["size"]:
                raise
            return b""  # no range of an empty file can be satisfied


def opened(url: str, *, streams: bool = True) -> IO[bytes]:
    """Return a file of which ranges are read; with `streams` the next range is asked for ahead. Raise OSError."""
    files, path = _at(url)
    more = {"cache_type": "background", "cache_options": {"maxblocks": _BLOCKS}} if streams else {}
    with _in_words(url):
        file = _patient(url, files.open)(path, "rb", block_size=_BLOCK if streams else _FIRST, **more)
        if is_web(url) and file.cache is not None:
            file.cache.fetcher = _patient(url, file.cache.fetcher)
        return _Reader(file, url)  # type: ignore[return-value]


class _Reader(io.RawIOBase):
    """A file of fsspec, whose errors are OSErrors. A file that changes while it is read is one (If-Match)."""

    def __init__(self, file: Any, url: str) -> None:
        self._file = file
        self._url = url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        with _in_words(self._url):
            return bytes(self._file.read(size))

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def send(path: Path | str, url: str) -> None:
    """Upload a complete local file to a URL, which has the old file or none before that. Raise OSError."""
    files, target = _at(url)
    scheme = _scheme(url)
    with _in_words(url):
        _put(files, scheme, path, target)


def send_all(folder: str, url: str) -> None:
    """Upload all files of a local folder, several at once. Raise OSError for the first that fails."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    targets = (f"{url.rstrip('/')}/{path.relative_to(folder).as_posix()}" for path in paths)
    for _ in Store.each(zip(paths, targets, strict=True), lambda pair: send(*pair)):
        pass


@contextmanager
def writing(url: str) -> Iterator[Path]:
    """Yield the path of a local file, which is uploaded to a URL when the block ends; if it fails nothing is."""
    from absolve.run import leftovers

    _at(url)  # fails early
    with leftovers.temporary_folder() as folder:
        path = Path(folder, PLACES.sub("_", url.rpartition("/")[2]) or "_")
        yield path
        send(path, url)


PLACES: Final = pattern(r"[^\w.-]")


# --- several files ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def is_many(url: str) -> bool:
    """Return whether a URL is a prefix or a glob, and of no file. Raise UsageError if the store cannot be asked."""
    if is_web(url):
        return False  # nothing lists the files of a site
    files, path = _at(url)
    if url.endswith("/") or "/" not in path.strip("/"):
        return True
    try:
        with _in_words(url):
            return bool(files.info(path)["type"] == "directory")
    except FileNotFoundError:
        return _is_glob(path)
    except OSError as error:
        raise UsageError(f"{url}: {error.strerror or error}") from error


def found(url: str) -> Iterator[tuple[str, str, State]]:
    """Yield the files below a prefix, or those that a glob matches, as files of a folder are sorted.

    Each with its URL, its path relative to the prefix or the folder above the first glob, and its state. What a name
    stores that ends with `/` is a folder, and is left out. Raise OSError.
    """
    files, path = _at(url)
    with _in_words(url):
        glob = path if _is_glob(path) and not url.endswith("/") and not files.exists(path) else ""
    steps = path.split("/")
    fixed = next((number for number, step in enumerate(steps) if glob and _is_glob(step)), len(steps))
    root = "/".join(steps[:fixed])
    with _in_words(url):
        entries = {one["name"]: one for one in _below(files, root, steps[fixed:]) if one["type"] == "file"}
    base = url.rstrip("/")[: len(url.rstrip("/")) - len(path) + len(root)]
    for name in sorted(entries, key=lambda name: name.split("/")):
        place = name[len(root) + 1 :]
        if not name.endswith("/") and place:
            yield f"{base}/{place}", place, _state(entries[name]) or State(0, "")


def _below(files: Any, folder: str, steps: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the entries below a folder that match the steps of a glob; all without steps, of any depth."""
    from absolve.run.globs import Globs  # few runs have one

    if not steps or "**" in steps[0]:
        glob = Globs((f"/{folder}/{'/'.join(steps)}",) if steps else ())
        found_ = files.find(folder, detail=True)
        yield from (one for name, one in found_.items() if glob.wanted(name))
        return
    glob = Globs((f"/{steps[0]}",))
    for one in files.ls(folder, detail=True):
        name = one["name"].rstrip("/").rpartition("/")[2]
        if one["name"].rstrip("/") == folder or not glob.wanted(name):
            continue
        if len(steps) == 1:
            yield one
        elif one["type"] == "directory":
            yield from _below(files, one["name"].rstrip("/"), steps[1:])


def has_glob(url: str) -> bool:
    """Return whether a URL may name several files without being asked for."""
    return url.endswith("/") or _is_glob(url)


def _is_glob(path: str) -> bool:
    return any(character in path for character in "*?[")


def overlap(one: str, other: str) -> bool:
    """Return whether two URLs are one file of a store, or one is a prefix around the other."""
    if not (is_bucket(one) and is_bucket(other)):
        return False
    one, other = (f"{url.rstrip('/')}/" for url in sorted((one, other), key=len))
    return other.startswith(one)


def is_safe(place: str) -> bool:
    """Return whether a path from a store stays below any folder, and is a path of files there."""
    return "\0" not in place and not {"", ".", ".."} & {*place.split("/")}


# --- stores of Spark --------------------------------------------------------------------------------------------------


class Store(NamedTuple):
    """A folder in a store or a local file system, and its URL for messages; it can be pickled."""

    files: Any
    root: str
    url: str
    scheme: Scheme = _LOCAL

    def path(self, place: str) -> str:
        """Return the store's path for a relative path."""
        return f"{self.root.rstrip('/')}/{place}"

    @property
    def is_there(self) -> bool:
        with _in_words(self.root):
            return bool(self.files.exists(self.root.rstrip("/")))

    def put(self, path: Path | str, place: str) -> None:
        """Copy a local file to a relative path in the folder. Raise OSError."""
        with _in_words(place):
            _put(self.files, self.scheme, path, self.path(place))

    @contextmanager
    def writing(self, place: str) -> Iterator[Path]:
        """Yield the path of a local file, which is copied to a relative path when the block ends without an error."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="absolve-") as folder:
            path = Path(folder, "file")
            yield path
            self.put(path, place)

    def write(self, place: str, data: bytes) -> None:
        """Write a file of these bytes. Raise OSError."""
        with self.writing(place) as path:
            path.write_bytes(data)

    def read(self, place: str) -> bytes:
        """Return the bytes of a file. Raise OSError."""
        with _in_words(place):
            return bytes(self.files.cat_file(self.path(place)))

    def copy(self, place: str, out: IO[bytes]) -> None:
        """Append the bytes of a file to an open one. Raise OSError."""
        import shutil

        with _in_words(place), self.files.open(self.path(place), "rb", block_size=_BLOCK) as file:
            shutil.copyfileobj(file, out, 1 << 20)

    def size(self, place: str) -> int | None:
        """Return the size of a file; None if there is none. Raise OSError."""
        try:
            with _in_words(place):
                return int(self.files.info(self.path(place))["size"])
        except FileNotFoundError:
            return None

    def make(self, place: str) -> None:
        """Create a folder, in a store that has some. Raise OSError."""
        if not self.scheme.whole:
            with _in_words(self.path(place)):
                self.files.makedirs(self.path(place), exist_ok=True)

    def sizes(self, place: str) -> dict[str, int]:
        """Return the size of each file of a folder by its name; nothing if there is no folder. Raise OSError."""
        try:
            with _in_words(place):
                found_ = self.files.ls(self.path(place).rstrip("/"), detail=True)
        except FileNotFoundError:
            return {}
        return {one["name"].rpartition("/")[2]: int(one["size"] or 0) for one in found_ if one["type"] == "file"}

    def move(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Rename files, several at once: a store copies them. Raise OSError."""
        for _ in self.each(pairs, self._move):
            pass

    def _move(self, pair: tuple[str, str]) -> None:
        old, new = map(self.path, pair)
        with _in_words(old):
            if self.scheme.whole:
                self.files.cp_file(old, new)
                self.files.rm_file(old)
            else:
                self.files.mv(old, new)

    def remove(self, place: str) -> None:
        """Remove a folder with all files in it. Raise OSError."""
        path = self.path(place).rstrip("/")
        with _in_words(path):
            if not self.scheme.whole:
                self.files.rm(path, recursive=True)
                return
            for _ in self.each(self.files.find(path), self.files.rm_file):  # `rm` would take the path for a glob
                pass

    @staticmethod
    def each(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[Result]:
        """Yield the result of `work` for each item, in order, several at once."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            yield from threads.map(work, items)


def of(url: str, setting: Callable[[str], str | None]) -> Store:
    """Return the store for a URL or a local path. Raise UsageError if there is none.

    `setting` returns Hadoop's settings for S3; for those that are None, the environment counts.
    """
    configure(setting)
    found_ = _URL.match(url)
    if found_ is None or found_[1].lower() == "file":
        path = url if found_ is None else found_[2]
        return Store(_made(_LOCAL, "file://", url), os.path.abspath(path), url)  # noqa: PTH100 - without resolving links
    return Store(*_at(url), url, _scheme(url))


def configure(setting: Callable[[str], str | None]) -> None:
    """Use Hadoop's settings of S3 in this process, where there are some."""
    found_ = {name: value for name, key in _HADOOP.items() if (value := setting(key)) and value != _OF_SPARK}
    if (endpoint := found_.get("endpoint_url")) is not None and "://" not in endpoint:
        found_["endpoint_url"] = f"https://{endpoint}"
    if (region := found_.pop("region_name", None)) is not None:
        found_["client_kwargs"] = {"region_name": region}  # type: ignore[assignment]
    settings["s3"] = found_


# --- fsspec -----------------------------------------------------------------------------------------------------------


def _scheme(url: str) -> Scheme:
    found_ = _WEB if is_web(url) else SCHEMES.get(url.partition("://")[0].lower())
    if found_ is None:
        raise UsageError(f"{in_short(url)}: there is no such store: choose from {', '.join(SCHEMES)}")
    return found_


def _at(url: str) -> tuple[Any, str]:
    """Return the file system for a URL and the path there. Raise UsageError if it cannot be used."""
    scheme, rest = _scheme(url), url.partition("://")[2]
    if not rest.strip("/") or (scheme.protocol == "s3" and not rest.partition("/")[0]):
        raise UsageError(f"{in_short(url)} names no bucket")
    theirs = url if scheme is _WEB else f"{scheme.protocol}://{rest}"
    files = _made(scheme, theirs, url)
    return files, type(files)._strip_protocol(theirs)  # noqa: SLF001 - no other way


def _made(scheme: Scheme, theirs: str, url: str) -> Any:
    try:
        import fsspec

        kind = fsspec.get_filesystem_class(scheme.protocol)
    except ImportError as error:
        text = f"{in_short(url)} needs {scheme.package}: pip install 'absolve[{scheme.extra}]'"
        raise MissingPackageError(text) from error
    try:
        more: dict[str, Any] = {"use_listings_cache": False} if scheme.whole else {}
        if scheme is _LOCAL:
            more = {"auto_mkdir": True}
        elif scheme is _WEB:
            from absolve.run.web import ranges

            more = ranges.arguments(url, settings[RANGES]["timeout"])
        with _in_words(url):
            return kind(**kind._get_kwargs_from_urls(theirs), **more, **settings.get(scheme.protocol, {}))  # noqa: SLF001
    except (OSError, ValueError) as error:
        raise UsageError(f"{in_short(url)}: {str(error).partition(chr(10))[0]}") from error


def _put(files: Any, scheme: Scheme, path: Path | str, target: str) -> None:
    if scheme.whole:
        size = max(_PART, os.stat(path).st_size // 9000)  # noqa: PTH116 - a text
        chunk = {"chunksize": -(-size // (1 << 20)) << 20} if scheme is not _AZURE else {}
        files.put_file(os.fspath(path), target, **chunk, **scheme.sending)
        return
    import shutil  # most runs have no such store

    folder = target.rpartition("/")[0]
    files.makedirs(folder, exist_ok=True)
    temporary = f"{folder}/.absolve-{os.urandom(6).hex()}.tmp"
    try:
        with Path(path).open("rb") as file, files.open(temporary, "wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        _check_no_folder(files, target)
        files.mv(temporary, target)
    except BaseException:
        with suppress(OSError):
            files.rm_file(temporary)
        raise


def _check_no_folder(files: Any, target: str) -> None:
    if files.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)


def _state(info: dict[str, Any]) -> State | None:
    if info["type"] != "file":
        return None
    time = next((info[name] for name in ("LastModified", "last_modified", "updated", "mtime") if name in info), "")
    mark = next((info[name] for name in ("ETag", "etag", "md5Hash") if info.get(name)), time)
    return State(int(info["size"] or 0), str(mark).strip('"'), str(getattr(time, "isoformat", lambda: time)()))


_QUERY: Final = pattern(r"\?[^\s'\")]+")  # of a URL in a message: a signature, perhaps


@contextmanager
def _in_words(name: str) -> Iterator[None]:
    """Raise any error of a store as an OSError with one line, which has no query of a URL: it may be a signature."""
    try:
        yield
    except (AbsolveError, GeneratorExit):
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error
    except Exception as error:
        number = getattr(error, "errno", None) or errno.EIO
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise OSError(number, in_short(_QUERY.sub("?...", text.partition("\n")[0])), name) from error

