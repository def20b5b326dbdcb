"""All packages of the shared folder: no crash, no unnecessary change, and zipfile reads the result."""

import io
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest

import absolve
from absolve.document.resolved import Resolved

SUFFIXES = {".epub", ".zip", ".wacz", ".docx", ".odt", ".har"}
URL = "http://nowhere.example/root/"
UNREADABLE = {  # files that epubcheck made invalid on purpose
    "ocf-zip-unreadable-empty-fatal.epub",
    "ocf-zip-unreadable-image-with-epub-extension-fatal.epub",
    "ocf-zip-unreadable-no-end-header-fatal.epub",
}


@pytest.fixture(scope="module")
def packages(shared: Path) -> list[Path]:
    return [path for path in sorted(shared.rglob("*")) if path.suffix.lower() in SUFFIXES and path.is_file()]


def test_every_package_is_read_or_reported_as_broken(packages: list[Path]) -> None:
    assert packages
    for path in packages:
        if path.name in UNREADABLE:
            with pytest.raises(absolve.DocumentError, match="truncated: this ZIP file has no end"):
                list(absolve.links(path.read_bytes(), name=path.name))
        else:
            list(absolve.links(path.read_bytes(), name=path.name))


def members(data: bytes) -> list[tuple[str, bytes, int, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        return [(one.filename, found.read(one), one.compress_type, one.extra) for one in found.infolist()]


def moved(resolved: Resolved) -> str | None:
    """Return a URL for every link except those in the list of files, which identify a file as XHTML."""
    target = resolved.target if resolved.element != "item" else None
    return target.replace("package:///", URL) if target is not None else None


def check(data: bytes, name: str) -> int:
    """Return how many members a rewrite of all links changes; assert that it changes nothing else."""
    assert absolve.rewrite(data, name=name, policy=lambda _: None) is data
    new = absolve.rewrite(data, name=name, policy=moved)
    assert absolve.rewrite(new, name=name, policy=moved) is new
    assert absolve.verify(data, new, name=name, policy=moved) == []
    old, after = members(data), members(new)
    assert [(one[0], *one[2:]) for one in old] == [(one[0], *one[2:]) for one in after]
    pairs = [(one[1], its[1]) for one, its in zip(old, after, strict=True) if one[1] != its[1]]
    assert name.endswith(".wacz") or all(URL.encode() in its for _, its in pairs)
    return len(pairs)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_rewrite_of_a_package_changes_only_links(packages: list[Path]) -> None:
    read = [path for path in packages if path.suffix.lower() != ".har" and path.name not in UNREADABLE]
    assert sum(check(path.read_bytes(), path.name) > 0 for path in read) > len(read) // 2


def test_a_package_of_real_pages_is_rewritten_like_the_pages(shared: Path) -> None:
    paths = sorted((shared / "pages").rglob("*.htm*"))[::60]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for path in paths:
            made.write(path, path.relative_to(shared).as_posix())
    new = absolve.rewrite(file.getvalue(), name="pages.zip", url=URL)
    with zipfile.ZipFile(io.BytesIO(new)) as found:
        for path in paths:
            name = path.relative_to(shared).as_posix()
            alone = absolve.rewrite(path.read_bytes(), name=name, url=URL + quote(name, safe="/;"))
            assert found.read(name) == alone, name
