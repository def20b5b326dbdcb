"""Read the captures in ZIP packages: the files of an EPUB or of any ZIP, and the WARC files in a WACZ.

In: an input. Out: a `Captured` for each file, whose URL is its path below that of the package; a file of records in a
WACZ is a source of its own.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from absolve.core.errors import Diagnostic, DocumentError
from absolve.core.model import PACKAGE_ROOT
from absolve.formats.zip import epub, wacz
from absolve.mirror import browsers, extensions
from absolve.mirror.capture import Captured, Where
from absolve.mirror.payloads import Broken, Payload
from absolve.run.sources import unreadable
from absolve.urls.identity import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from absolve.mirror.payloads import Posted
    from absolve.run.inputs import Input
    from absolve.run.load import ReadOptions

_BROKEN: Final = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError),
)
_PATH: Final = "/!$&'()*+,;=@-._~"


def record_files(name: str) -> list[str]:
    """Return the files of records in a WACZ, in their order; none for another package."""
    try:
        with zipfile.ZipFile(name) as package:
            names = package.namelist()
    except _BROKEN:
        return []
    if "datapackage.json" not in names:
        return []
    return [member for member in names if wacz.is_record_file(member)]


@contextmanager
def opened_member(name: str, member: str) -> Iterator[Any]:
    """Yield a file in a package, open. Raise DocumentError."""
    with ExitStack() as opened:
        try:
            package = opened.enter_context(zipfile.ZipFile(name))
            file = opened.enter_context(package.open(member))
        except (*_BROKEN, KeyError) as error:
            raise _unreadable(name, error) from error
        yield _Seekable(file, name)


def _unreadable(name: str, error: Exception) -> DocumentError:
    if isinstance(error, OSError):
        return unreadable(name, error)
    return DocumentError(Diagnostic("broken-zip", str(error), name))


class _Seekable(io.RawIOBase):
    """A member of a package, read forward; a seek backward begins again. Its methods raise DocumentError."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except (*_BROKEN, zlib.error) as error:
            raise _unreadable(self._name, error) from error

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return self._file.seek(offset, whence)
        except (*_BROKEN, zlib.error) as error:
            raise _unreadable(self._name, error) from error


class PackageReader:
    """The captures of a ZIP package; the place of each is its number in the directory. `data`: its bytes, if known."""

    def __init__(self, input_: Input, number: int, how: ReadOptions, data: bytes | None = None) -> None:
        self._data = data
        self._input = input_
        self._number = number
        self._how = how
        url = input_.url
        own = f"{PACKAGE_ROOT}{quote(PurePosixPath(input_.place).name)}/"
        self._root = url if url is not None and url.endswith("/") else own

    def captured(self, posted: set[str]) -> Iterator[Captured | Posted | Broken]:  # noqa: ARG002 - of the protocol
        """Yield each file of the package."""
        try:
            with self._package() as package:
                yield from self._members(package)
        except _BROKEN as error:
            yield Broken(Diagnostic("broken-zip", str(error), self._input.name, failed=True))

    def _package(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self._input.name if self._data is None else io.BytesIO(self._data))

    def _members(self, package: zipfile.ZipFile) -> Iterator[Captured | Broken]:
        facts = epub.facts(lambda name: self._read(package, name), set(package.namelist()))
        left = self._how.settings.max_decompressed
        for index, info in enumerate(package.infolist()):
            if info.is_dir():
                continue
            fault = self._fault(info, left)
            if fault is None and info.compress_type != zipfile.ZIP_STORED:
                left -= info.file_size
            data = self._read(package, info.filename, info) if fault is None else None
            if data is None:
                text = f"{fault or 'its data is broken'} ({info.filename[:200]})"
                yield Broken(Diagnostic("unread-member", text, self._input.name, failed=True))
                continue
            declared = facts.media_types.get(info.filename, "")
            media_type = declared or extensions.of_file(info.filename, data[:4096])
            url = normal(self._root + quote(info.filename.replace("\\", "/").lstrip("/"), safe=_PATH))
            if url is not None and url.startswith(self._root):
                date = "".join(f"{part:02}" for part in info.date_time)
                where = Where(self._number, index, 0)
                looks = browsers.markup(data)
                yield Captured(url, 200, date, media_type, where, size=info.file_size, is_file=True, looks=looks)
            else:
                text = f"its name leads out of the package ({info.filename[:200]})"
                yield Broken(Diagnostic("unread-member", text, self._input.name, failed=True))

    def _fault(self, info: zipfile.ZipInfo, left: int) -> str | None:
        if info.flag_bits & 1:
            return "it is encrypted"
        if info.file_size > self._how.settings.max_size:
            return "it is larger than --max-size"
        if info.compress_type != zipfile.ZIP_STORED and info.file_size > left:
            return "more bytes come out of this package than --max-decompressed allows"
        return None

    @staticmethod
    def _read(package: zipfile.ZipFile, name: str, info: zipfile.ZipInfo | None = None) -> bytes | None:
        try:
            with package.open(info or name) as file:
                found = info or package.getinfo(name)
                data = file.read(found.file_size + 1)
                return data if len(data) <= found.file_size else None
        except (*_BROKEN, KeyError, zlib.error):
            return None

    def payloads(self, places: Sequence[Where]) -> Iterator[tuple[Where, Payload]]:
        """Yield the contents of files."""
        with self._package() as package:
            facts = epub.facts(lambda name: self._read(package, name), set(package.namelist()))
            infos = package.infolist()
            for where in places:
                info = infos[where.offset]
                data = self._read(package, info.filename, info)
                if data is not None:
                    declared = facts.media_types.get(info.filename, "")
                    media_type = declared or extensions.of_file(info.filename, data[:4096])
                    yield where, Payload(data, media_type)
