"""Real captures become mirrors: nothing is dead, a second run writes nothing, the ZIP has the same bytes.

A real site as a WARC comes back: only references to pages that it lacks, or that name the site itself, differ. The
default run takes every 20th capture and one site; `ABSOLVE_EVERY=1 python -m pytest tests/conformance/test_real_mirrors.py`
takes all.
"""

import html
import mimetypes
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import pytest
from _pytest.mark import ParameterSet
from material import SHARED, each

from absolve.cli import main
from tests.shapes.captures import page

pytestmark = pytest.mark.slow
EVERY = int(os.environ.get("ABSOLVE_EVERY", "20"))
KINDS = (*(".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"), *(".wacz", ".har", ".mhtml", ".mht", ".epub"))
CRASH = re.compile(r"Traceback \(most recent|internal-error")
HOST = "site.example"
SITE = f"https://{HOST}/"
# An attribute that names the site and not the copy (docs/decisions.md, M2): absolute even where its target is held.
NAMES_THE_SITE = re.compile(r"canonical|shortlink|og:url|itemid|action=")


class Site(NamedTuple):
    folder: Path
    files: dict[str, bytes]  # path in the site to content


def _captures() -> Iterator[ParameterSet]:
    paths = (path for path in SHARED.rglob("*") if path.name.lower().endswith(KINDS) and path.is_file())
    for path in sorted(paths)[::EVERY]:
        yield pytest.param(path, id=str(path.relative_to(SHARED)))


def _sites() -> Iterator[ParameterSet]:
    for folder in sorted((SHARED / "sites").iterdir())[1 :: 1 if EVERY == 1 else 100]:
        yield pytest.param(folder, id=folder.name)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and the time stamp of each file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@each("path", _captures(), SHARED)
def test_a_real_capture_becomes_a_mirror_without_dead_links(path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mirror, archive = tmp_path / "mirror", tmp_path / "mirror.zip"
    code = main(["mirror", str(path), "-o", str(mirror), "-q"])
    err = capfd.readouterr().err
    assert CRASH.search(err) is None
    assert code == 0 or (code == 3 and err)
    first = tree(mirror)
    if first:
        main(["mirror", "--check", str(mirror)])
        assert ": dead: " not in "".join(capfd.readouterr())
    assert main(["mirror", str(path), "-o", str(mirror), "-q"]) == code
    assert tree(mirror) == first
    assert main(["mirror", str(path), "-o", str(archive), "-q"]) == code
    if archive.exists():
        with zipfile.ZipFile(archive) as packed:
            assert {name: packed.read(name) for name in packed.namelist()} == {name: data for name, (data, _) in first.items()}
    assert {one.name for one in tmp_path.iterdir()} <= {"mirror", "mirror.zip"}


@each("folder", _sites(), SHARED / "sites")
def test_a_site_as_a_warc_comes_back_with_all_that_it_holds(folder: Path, tmp_path: Path) -> None:
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    (tmp_path / "site.warc").write_bytes(warc(files))
    assert main(["mirror", str(tmp_path / "site.warc"), "-o", str(tmp_path / "mirror"), "-q"]) == 0
    root = tmp_path / "mirror" / HOST
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == files.keys()
    for name, before in files.items():
        after = (root / name).read_bytes()
        if after != before:
            assert list(unexplained(before, after, files)) == [], name


def warc(files: dict[str, bytes]) -> bytes:
    types = {name: mimetypes.guess_type(name)[0] or "application/octet-stream" for name in files}
    return b"".join(page(SITE + quote(name), data, types[name]) for name, data in files.items())


def unexplained(before: bytes, after: bytes, files: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the tags and texts that differ, but for tags with references to what the site lacks, or to the site."""
    old, new = (re.findall(r"<[^>]*>|[^<]+|<", text.decode("latin-1")) for text in (before, after))
    assert len(old) == len(new)
    for one, other in zip(old, new, strict=True):
        if one != other:
            found = re.search(re.escape(SITE) + r"[^\"'\s)>#]*", other)
            held = found is None or unquote(html.unescape(found[0])).removeprefix(SITE).partition("?")[0] in files
            if held and not NAMES_THE_SITE.search(other):
                yield one, other
