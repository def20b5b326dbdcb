"""Write output files to a store by URL, with Arrow's file systems; each file is complete or unchanged.

Input: a URL (S3, GCS, ABFS, HDFS, file) or a path. Output: a `Store`, to which local files are copied.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from absolve.core.errors import MissingPackageError, UsageError

try:
    from pyarrow import fs
except ImportError as error:
    raise MissingPackageError("an output URL needs pyarrow: pip install 'absolve[parquet]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_URL: Final = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)
_S3: Final = ("s3a", "s3n", "s3")  # the first two are Hadoop's
_HADOOP: Final = {  # option of Arrow -> setting of Hadoop
    "access_key": "fs.s3a.access.key",
    "secret_key": "fs.s3a.secret.key",
    "session_token": "fs.s3a.session.token",
    "region": "fs.s3a.endpoint.region",
    "endpoint_override": "fs.s3a.endpoint",
}
_WHOLE: Final = ("s3", "gcs", "abfs")  # stores in which a file appears when its upload is complete


def is_url(output: str) -> bool:
    return _URL.match(output) is not None


class Store(NamedTuple):
    """A folder in a store or a local file system; it can be pickled."""

    files: Any
    root: str

    def path(self, place: str) -> str:
        """Return the store's path for a relative path."""
        return f"{self.root.rstrip('/')}/{place}"

    @property
    def is_there(self) -> bool:
        return bool(self.files.get_file_info(self.root.rstrip("/")).type is not fs.FileType.NotFound)

    def put(self, path: Path, place: str) -> None:
        """Copy a local file to a relative path in the folder. Raise OSError or ValueError."""
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
    """Return the store for a URL or a local path. Raise UsageError if there is none.

    `setting` returns Hadoop's settings for S3; for those that are None, Arrow uses the environment.
    """
    found = _URL.match(url)
    if found is None:
        return Store(fs.LocalFileSystem(), os.path.abspath(url))  # noqa: PTH100 - without resolving links
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
