"""Stores that outputs go to by URL, as Arrow's file systems: a file is there complete, or as it was before."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import UsageError

try:
    from pyarrow import fs
except ImportError as error:
    raise UsageError("this needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_URL: Final = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)
_S3: Final = ("s3a", "s3n", "s3")  # Hadoop's names, and everybody's
_HADOOP: Final = {  # what Hadoop calls that Arrow asks for
    "access_key": "fs.s3a.access.key",
    "secret_key": "fs.s3a.secret.key",
    "session_token": "fs.s3a.session.token",
    "region": "fs.s3a.endpoint.region",
    "endpoint_override": "fs.s3a.endpoint",
}
_WHOLE: Final = ("s3", "gcs", "abfs")  # where a name has nothing until all of it came


def is_url(output: str) -> bool:
    return _URL.match(output) is not None


class Store(NamedTuple):
    """A folder in a store, or on disks; it can go to another process."""

    files: Any
    root: str

    def path(self, place: str) -> str:
        """What the store calls a place below the folder."""
        return f"{self.root.rstrip('/')}/{place}"

    @property
    def is_there(self) -> bool:
        return bool(self.files.get_file_info(self.root.rstrip("/")).type is not fs.FileType.NotFound)

    def put(self, path: Path, place: str) -> None:
        """Let the bytes of a file stand at a place below the folder; OSError or ValueError where they cannot."""
        target = self.path(place)
        if self.files.type_name in _WHOLE:
            self._copy(path, target)
            return
        folder = target.rpartition("/")[0]
        self.files.create_dir(folder, recursive=True)
        temporary = f"{folder}/.absolve-{os.urandom(6).hex()}.tmp"
        try:
            self._copy(path, temporary)
            self.files.move(temporary, target)
        except BaseException:
            if self.files.get_file_info(temporary).type is not fs.FileType.NotFound:
                self.files.delete_file(temporary)
            raise

    def _copy(self, path: Path, target: str) -> None:
        with path.open("rb") as file, self.files.open_output_stream(target) as out:
            shutil.copyfileobj(file, out)


def of(url: str, setting: Callable[[str], str | None]) -> Store:
    """The store of a URL, or of a path of this machine; UsageError where there is none.

    `setting` knows what Hadoop is told of S3, and what it does not know the environment says.
    """
    found = _URL.match(url)
    if found is None:
        return Store(fs.LocalFileSystem(), os.path.abspath(url))  # noqa: PTH100 - links are followed as they come
    try:
        if found[1].lower() in _S3:
            return Store(fs.S3FileSystem(**_s3(setting)), found[2])
        return Store(*fs.FileSystem.from_uri(url))
    except (OSError, ValueError, NotImplementedError) as error:
        raise UsageError(f"{url}: {str(error).partition(chr(10))[0]}") from error


def _s3(setting: Callable[[str], str | None]) -> dict[str, str]:
    options = {name: value for name, key in _HADOOP.items() if (value := setting(key))}
    scheme, found, host = options.get("endpoint_override", "").rpartition("://")
    return {**options, "endpoint_override": host, "scheme": scheme} if found else options
