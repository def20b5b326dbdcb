"""Real pages, messages, XML, archives and captures: only links change, other parsers read the same, mirrors have nothing dead.

The default run takes every 40th file, and every 4th archive; `ABSOLVE_EVERY=1 python -m pytest -m slow tests/conformance/test_real_files.py`
takes all.
"""

import html
import io
import math
import mimetypes
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import html5lib_view
import link_view
import pytest
import scanner_view
from _pytest.mark import ParameterSet
from lxml import etree
from material import SHARED, Page, each, pages
from rewritten import has_sound_rows, is_honest
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

import absolve
from absolve import verifying
from absolve.cli import main
from absolve.core.model import Document
from absolve.document.entity import Entity
from absolve.document.settings import Settings
from absolve.document.walk import inners, walk
from absolve.encodings import charsets
from absolve.formats import registry, sniffing
from absolve.rewriting import rewriter
from absolve.run.load import archive_segments
from tests.shapes import captures

pytestmark = pytest.mark.slow
EVERY = int(os.environ.get("ABSOLVE_EVERY", "40"))
URL = "http://base.example/dir/doc"


def _files() -> Iterator[ParameterSet]:
    """Yield a file, its media type, and its URL."""
    for page in pages(EVERY):
        yield _param(SHARED / "pages" / page.path, "text/html", page.url or URL)
    xml = (path for path in (SHARED / "xml").rglob("*") if path.suffix.lower() not in {".css", ".epub"})
    for path in sorted(filter(_is_file, xml))[::EVERY]:
        yield _param(path, "application/xml", URL)
    sniffed = ((path, sniffing.sniff(path.read_bytes(), path.name)) for path in sorted(filter(_is_file, (SHARED / "mime").rglob("*"))))
    messages = [(path, kind) for path, kind in sniffed if kind in registry.MAIL]
    assert len(messages) > 350
    for path, kind in messages[::EVERY]:
        yield _param(path, str(kind), URL)


def _is_file(path: Path) -> bool:
    return path.is_file()


def _param(path: Path, media_type: str, url: str) -> ParameterSet:
    return pytest.param(path, media_type, url, id=str(path.relative_to(SHARED)))


@each("path, media_type, url", _files(), SHARED)
def test_only_links_of_a_real_file_change_and_only_once(path: Path, media_type: str, url: str) -> None:
    data = path.read_bytes()
    options: dict[str, Any] = {"media_type": media_type, "name": path.name}
    try:
        states_no_base = not any(row.base for row in absolve.links(data, **options))
    except absolve.DocumentError as error:
        assert error.diagnostic.code == "unknown-charset" or is_broken(data)  # noqa: PT017 - or none
        return
    if states_no_base:
        assert absolve.rewrite(data, **options) is data
    for known in (None, url):
        is_honest(data, url=known, **options)
        has_sound_rows(data, url=known, **options)
    after = absolve.rewrite(data, url=url, **options)
    before, now = ([row.target for row in absolve.links(side, url=url, **options)] for side in (data, after))
    assert before == now


def is_broken(data: bytes) -> bool:
    """Return whether lxml also rejects this XML as not well-formed."""
    try:
        etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    except etree.XMLSyntaxError:
        return True
    return False


# --- real pages -------------------------------------------------------------------------------------------------------



PAGES = each("page", (pytest.param(page, id=page.path) for page in pages(EVERY)), SHARED / "pages")


@PAGES
def test_the_tree_of_html5lib_has_the_start_tags_that_the_scanner_reports(page: Page) -> None:
    data, charset, text = decoded(page)
    found = scanner_view.elements(data, charset)
    assert [element[:3] for element in found] == [element[:3] for element in html5lib_view.elements(text)]


@PAGES
def test_the_tree_of_html5lib_has_the_references_that_the_walker_finds(page: Page) -> None:
    data, charset, text = decoded(page)
    errors = "surrogateescape" if charset is charsets.UTF_8 else "surrogatepass"
    document = absolve.Document(data, media_type="text/html", charset=charset.name)
    assert link_view.walked(document) == link_view.judged(text, errors)


@PAGES
def test_the_tree_of_html5lib_has_the_title_language_and_anchors_of_the_table_of_documents(page: Page) -> None:
    data, charset, text = decoded(page)
    row = next(absolve.documents(data, media_type="text/html", charset=charset.name, max_depth=0))
    errors = "surrogateescape" if charset is charsets.UTF_8 else "surrogatepass"
    facts = html5lib_view.facts(text.encode("utf-8", errors).decode("utf-8", "replace"))
    assert (row.title, row.lang or "", {*row.anchors}) == facts


def decoded(page: Page) -> tuple[bytes, charsets.Charset, str]:
    """Return the page without a byte order mark, its charset, its text; unscannable bytes become UTF-8."""
    charset, mark = charsets.of_html(page.data)
    data = page.data[mark:]
    text = charset.decode(data)
    if charset.transparent:
        return data, charset, text
    return text.encode("utf-8", "surrogateescape"), charsets.UTF_8, text


# --- real WARC and ARC files ------------------------------------------------------------------------------------------

FOLDER = SHARED / "warc"
EVERY_ARCHIVE = int(os.environ.get("ABSOLVE_EVERY", "4"))
KINDS = (".arc", ".warc", ".arc.gz", ".warc.gz")
SMALL = math.inf if EVERY_ARCHIVE == 1 else 200_000  # bytes: html5lib needs minutes for some larger files
DERIVED = {"content-length", "warc-block-digest", "warc-payload-digest"}
LINKS = {"base", "content-base", "content-length", "content-location", "link", "location", "refresh", "sourcemap"}


def _archives(most: float = math.inf) -> Iterator[ParameterSet]:
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.name.endswith(KINDS))[::EVERY_ARCHIVE]:
        if path.stat().st_size <= most:
            yield pytest.param(path, id=str(path.relative_to(FOLDER)))


def walked(data: bytes, path: Path) -> Entity:
    return walk(Document(data, name=path.name), Settings())


@each("path", _archives(), FOLDER)
def test_only_links_of_real_archives_change(path: Path) -> None:
    data = path.read_bytes()
    entity = walked(data, path)
    assert rewriter.rewrite(entity, lambda _: None) is data
    new = rewriter.rewrite(entity)
    after = walked(new, path)
    assert rewriter.rewrite(after) is new
    assert b"".join(one.rewritten() for one in archive_segments(io.BytesIO(data), path.name, Settings())) == new
    old_records, new_records = read(data), read(new)
    assert len(old_records) == len(new_records)
    changed = {url for url, before, now in differing(old_records, new_records) if before != now}
    assert changed <= walked_urls(entity)
    assert [diagnostic.code for diagnostic in after.diagnostics] == [diagnostic.code for diagnostic in entity.diagnostics]


@each("path", _archives(SMALL), FOLDER)
def test_other_readers_verify_each_record(path: Path) -> None:
    with path.open("rb") as file:
        for stretch in archive_segments(file, path.name, Settings()):
            if stretch.document is not None and stretch.entity is not None:
                new = rewriter.rewrite(stretch.entity)
                assert verifying.differences(stretch.entity, stretch.document, new) == []


def read(data: bytes) -> list[tuple[Any, ...]]:
    """Return the records that warcio reads, up to its first error."""
    found = []
    with suppress(ArchiveLoadFailed):
        for record in ArchiveIterator(io.BytesIO(data), check_digests=True):
            head = [pair for pair in record.rec_headers.headers if pair[0].lower() not in DERIVED]
            fields = record.http_headers.headers if record.http_headers else []
            http = [pair for pair in fields if pair[0].lower() not in LINKS]
            names = [name for name, _ in fields]
            content = record.raw_stream.read()
            url = record.rec_headers.get_header("WARC-Target-URI") or record.rec_headers.get_header("uri")
            found.append((url, head, http, names, content, record.digest_checker.passed))
    return found


def differing(old: list[tuple[Any, ...]], new: list[tuple[Any, ...]]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the pairs of contents that differ; assert that all else is equal and that right digests stay right."""
    for before, after in zip(old, new, strict=True):
        assert without_length(before) == without_length(after)
        assert before[5] == after[5] or before[5] is not True
        yield before[0], before[4], after[4]


def without_length(record: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a record's fields; ARC's own header includes its length."""
    head = [pair for pair in record[1] if pair[0].lower() != "length"]
    return record[0], head, record[2], record[3]


def walked_urls(entity: Entity) -> set[str]:
    """Return the URLs of the records that are documents."""
    urls = set()
    for inner in inners(entity):
        urls |= {claim.reference for claim in inner.part.claims} | walked_urls(inner.entity)
    return urls


# --- real captures become mirrors -------------------------------------------------------------------------------------

CAPTURES = (*(".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"), *(".wacz", ".har", ".mhtml", ".mht", ".epub"))
CRASH = re.compile(r"Traceback \(most recent|internal-error")
HOST = "site.example"
SITE = f"https://{HOST}/"
# An attribute that names the site and not the copy (docs/decisions.md, M2): absolute even where its target is held.
NAMES_THE_SITE = re.compile(r"canonical|shortlink|og:url|itemid|action=")


class Site(NamedTuple):
    folder: Path
    files: dict[str, bytes]  # path in the site to content


def _captures() -> Iterator[ParameterSet]:
    paths = (path for path in SHARED.rglob("*") if path.name.lower().endswith(CAPTURES) and path.is_file())
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
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}
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
    return b"".join(captures.page(SITE + quote(name), data, types[name]) for name, data in files.items())


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
