"""Files in a store by URL: list them, read them whole or in ranges, upload each completely or not at all.

Input: URLs that the user names, for example `s3://bucket/site/*.html`. Output: the files below a prefix or a glob, open
files, uploads. fsspec does the work. Arrow has file systems for the same stores, but cannot abort an upload: after an
error, half a file would look complete.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import AbsolveError, MissingPackageError, UsageError, in_short
from absolve.core.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Schemes of fsspec whose uploads appear complete or not at all -> what pip installs for them.
_S3: Final = "'absolve[s3]'"
SCHEMES: Final = {"s3": _S3, "s3a": _S3, "gs": "gcsfs", "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs"}
_OF_WEB: Final = pattern(r"(?i)https?://[^/?#@]+/[^?#]*\.(?:w?arc(?:\.gz|\.zst)?|wacz)(?:\?[^#]*)?")
_BLOCK: Final = 8 << 20  # bytes of a range; the next one is requested while this one is read
_FIRST: Final = 1 << 18  # bytes to request from the start of a file: most pages are shorter
_GLOB: Final = frozenset("*?[")
_QUERY: Final = pattern(r"\?[^\s'\")]+")  # the query of a URL in a message: a signature, perhaps
settings: dict[str, Any] = {"timeout": 30.0, "retries": 2}  # for requests of ranges from the web


class State(NamedTuple):
    """The size of a file in bytes, a mark that changes with the file, and the time of the last change (ISO 8601)."""

    size: int
    mark: str
    modified: str = ""


def is_bucket(name: str) -> bool:
    """Return whether a name is the URL of a known store, for example `s3://b/a.html`, or of a web archive."""
    return "://" in name and (name.partition("://")[0].lower() in SCHEMES or is_web(name))


def is_web(name: str) -> bool:
    """Return whether a name is the URL of a web archive without a password, for example `https://h/a.warc.gz`."""
    return name[:4].lower() == "http" and _OF_WEB.fullmatch(name) is not None


def has_glob(url: str) -> bool:
    """Return whether a URL may name several files, judged by its text: for example, `s3://b/*.html` or `s3://b/a/`."""
    return url.endswith("/") or not _GLOB.isdisjoint(url)


def state(url: str) -> State | None:
    """Return the state of a file; None if there is none. Raise OSError if that cannot be determined."""
    with suppress(FileNotFoundError):
        return _state(_call(url, lambda files, path: files.info(path)))
    return None


@lru_cache(maxsize=1)
def head(url: str) -> bytes:
    """Return the first bytes of a file, often all of it. Raise OSError."""
    try:
        return bytes(_call(url, lambda files, path: files.cat_file(path, start=0, end=_FIRST)))
    except OSError:
        known = state(url)
        if known is None or known.size:
            raise
        return b""  # no range of an empty file can be satisfied


def contents(url: str, most: int) -> bytes | None:
    """Return the bytes of a file; None if it has more than `most`. Raise OSError."""
    found = head(url)
    head.cache_clear()  # it is read once
    if len(found) == _FIRST:
        found = _call(url, lambda files, path: files.cat_file(path, start=0, end=most + 1))
    return found if len(found) <= most else None


def opened(url: str, *, streams: bool = True) -> IO[bytes]:
    """Return a file that is read in ranges; with `streams` the next range is requested ahead. Raise OSError."""
    ahead = {"block_size": _BLOCK, "cache_type": "background", "cache_options": {"maxblocks": 3}}
    how = ahead if streams else {"block_size": _FIRST}
    file: Any = _call(url, lambda files, path: files.open(path, "rb", **how))
    file.read = _in_words(url)(file.read)  # a changed file is an error, too (If-Match)
    return file  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def gives_ranges(url: str) -> bool:
    """Return whether a server gives ranges of a web archive; False if it does not answer."""
    with suppress(OSError, AbsolveError):
        return bool(_call(url, lambda files, path: files.are_supported(path)))
    return False


@lru_cache(maxsize=256)
def is_many(url: str) -> bool:
    """Return whether a URL is a prefix or a glob, and no file. Raise UsageError if the store does not answer."""
    if is_web(url) or url.endswith("/") or "/" not in url.partition("://")[2]:
        return not is_web(url)  # nothing lists the files of a site
    try:
        return bool(_call(url, lambda files, path: files.info(path)["type"] == "directory"))
    except FileNotFoundError:
        return has_glob(url)
    except OSError as error:
        raise UsageError(f"{url}: {error.strerror or error}") from error


def found(url: str) -> Iterator[tuple[str, str, State]]:
    """Yield the files below a prefix, or those that a glob matches, sorted as in a folder: URL, path, state.

    The path is relative to the prefix, or to the folder above the first glob. Raise OSError.
    """
    files, root = _at(url)
    before = url.rstrip("/").removesuffix(root)
    with _in_words(url):
        if url.endswith("/") or not has_glob(root) or files.exists(root):
            entries = files.find(root, detail=True)
        else:
            entries = files.glob(root, detail=True)
            root = root[: min(map(root.find, _GLOB.intersection(root)))].rpartition("/")[0]
    for name in sorted(entries, key=lambda name: name.split("/")):
        known, place = _state(entries[name]), name[len(root) + 1 :]
        if known is not None and place and not name.endswith("/"):  # a folder
            yield f"{before}{root}/{place}", place, known


def send(path: Path | str, url: str) -> None:
    """Upload a complete local file to a URL; until then the URL has the old file or none. Raise OSError."""
    _call(url, lambda files, target: files.put_file(str(path), target))


def send_all(folder: str, url: str) -> None:
    """Upload all files of a local folder, several at once. Raise OSError for the first that fails."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    places = [f"/{path.relative_to(folder).as_posix()}" for path in paths]
    _call(url, lambda files, target: files.put([*map(str, paths)], [target.rstrip("/") + place for place in places]))


@contextmanager
def writing(url: str) -> Iterator[Path]:
    """Yield the path of a local file that is uploaded to a URL when the block ends, unless the block fails."""
    from absolve.run import leftovers

    _at(url)  # fails early
    with leftovers.temporary_folder() as folder:
        yield Path(folder, "x")
        send(f"{folder}/x", url)


def _call(url: str, work: Callable[[Any, str], Any]) -> Any:
    """Call a function with the file system of a URL and the path there, and return its result. Raise OSError."""
    files, path = _at(url)
    with _in_words(url):
        return work(files, path)


def _at(url: str) -> tuple[Any, str]:
    """Return the file system for a URL, and the path there. Raise OSError, and UsageError if it cannot be used."""
    scheme, _, rest = url.partition("://")
    if rest[:1] in {"", "/"}:
        raise UsageError(f"{in_short(url)} names no bucket")
    scheme = scheme.lower()
    theirs = f"{scheme}://{rest}"
    try:
        if is_web(url):
            from absolve.run.web import ranges

            return ranges.Archives(**settings), url
        import fsspec

        kind = fsspec.get_filesystem_class(scheme)
        with _in_words(url):
            return kind(use_listings_cache=False, **kind._get_kwargs_from_urls(theirs)), kind._strip_protocol(theirs)  # noqa: SLF001
    except ImportError as error:
        package = SCHEMES.get(scheme, "pycurl")
        raise MissingPackageError(f"{in_short(url)} needs a package: pip install {package}") from error


def _state(info: dict[str, Any]) -> State | None:
    if info["type"] != "file":
        return None
    time = next((info[name] for name in ("LastModified", "last_modified", "updated", "mtime") if name in info), "")
    mark = next((info[name] for name in ("ETag", "etag", "md5Hash") if info.get(name)), time)
    return State(int(info["size"] or 0), str(mark).strip('"'), str(getattr(time, "isoformat", lambda: time)()))


@contextmanager
def _in_words(name: str) -> Iterator[None]:
    """Raise any error of a store as an OSError with one line, without a URL's query, which may be a signature."""
    try:
        yield
    except Exception as error:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        number = errno.ENOENT if isinstance(error, FileNotFoundError) else getattr(error, "errno", None) or errno.EIO
        raise OSError(number, in_short(_QUERY.sub("?...", text.partition("\n")[0])), name) from error
