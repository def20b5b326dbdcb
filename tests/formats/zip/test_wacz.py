"""WACZ: when records change, the indexes and the description are updated."""

import gzip
import hashlib
import io
import json
import re
import zipfile
from itertools import product
from typing import Any

import pytest
import zstandard

import absolve
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.formats.zip.wacz import Moves, Segment
from tests.shapes.captures import zipped

URLS = ("http://a.example/d/", "http://b.example/", "http://c.example/")
PAGE = b'<a href="x">x</a>'


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def record(url: str, page: bytes = PAGE, *, digest: bool = True) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
    head = ["WARC/1.1", "WARC-Type: response", f"WARC-Record-ID: <urn:{url}>", f"WARC-Target-URI: {url}"]
    head += [f"WARC-Payload-Digest: {sha256(page)}"] if digest else []
    head += ["Content-Type: application/http", f"Content-Length: {len(block)}"]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def wacz(
    *,
    page: bytes = PAGE,
    compressed: bool = True,
    blocks: bool = False,
    signed: bool | None = None,
    method: int = zipfile.ZIP_STORED,
    texts: bool = False,
    more: dict[str, bytes] | None = None,
) -> bytes:
    """Return a package of two files of records, as common programs write them."""
    pack = gzip.compress if compressed else bytes
    files: dict[str, bytes] = {}
    entries: list[str] = []
    for number, urls in enumerate((URLS[:2], URLS[2:])):
        name = f"data{number}.warc{'.gz' if compressed else ''}"
        data = pack(b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
        for url in urls:
            raw = pack(record(url, page))
            entry: dict[str, Any] = {
                "url": url,
                "digest": sha256(page).replace("sha256", "sha-256"),
                "offset": len(data),
            }
            entry |= {"length": len(raw), "recordDigest": sha256(raw), "status": 200, "filename": name}
            if texts:
                entry |= {"offset": str(len(data)), "length": str(len(raw)), "digest": sha256(page)[7:]}
            entries.append(f"{url} 20250508195248245 {json.dumps(entry)}\n")
            data += raw
        files[f"archive/{name}"] = data
    if blocks:
        packed = [gzip.compress(entry.encode()) for entry in entries]
        files["indexes/index.cdx.gz"] = b"".join(packed)
        lines, start = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'], 0
        for line, block in zip(entries, packed, strict=True):
            row = {"offset": start, "length": len(block), "digest": sha256(block)}
            lines.append(f"{line.partition('{')[0]}{json.dumps(row)}\n")
            start += len(block)
        files["indexes/index.idx"] = "".join(lines).encode()
    else:
        files["indexes/index.cdx"] = "".join(entries).encode()
    files["pages/pages.jsonl"] = b'{"format": "json-pages-1.0", "id": "pages"}\n'
    files |= more or {}
    resources = [
        {"name": name.rpartition("/")[2], "path": name, "hash": sha256(data), "bytes": len(data)}
        for name, data in files.items()
    ]
    files["datapackage.json"] = json.dumps({"profile": "data-package", "resources": resources}, indent=2).encode()
    if signed is not None:
        about: dict[str, Any] = {"path": "datapackage.json", "hash": sha256(files["datapackage.json"])}
        about |= {"signedData": {"hash": about["hash"], "signature": "x"}} if signed else {}
        files["datapackage-digest.json"] = json.dumps(about).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data, zipfile.ZIP_STORED if name.startswith("archive/") else method)
    return file.getvalue()


def rewritten(data: bytes, **options: Any) -> bytes:
    return absolve.rewrite(data, name="x.wacz", **options)


def reported(data: bytes, **options: Any) -> list[tuple[str, bool]]:
    entity = walk(Document(data, name="x.wacz"), Settings(**options))
    return [(found.code, found.failed) for found in entity.diagnostics]


def opened(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        assert found.testzip() is None
        return {name: found.read(name) for name in found.namelist()}


def entries(index: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[line.index(b"{") :]) for line in index.splitlines()]


def check(data: bytes) -> None:
    """Assert that all lengths, offsets and digests in the package are right."""
    files = opened(data)
    for resource in json.loads(files["datapackage.json"])["resources"]:
        content = files[resource["path"]]
        assert (resource["hash"], resource["bytes"]) == (sha256(content), len(content))
    table = files.get("indexes/index.cdx") or gzip.decompress(files["indexes/index.cdx.gz"])
    for entry, url in zip(entries(table), URLS, strict=True):
        raw = files[f"archive/{entry['filename']}"][int(entry["offset"]) :][: int(entry["length"])]
        value = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        page = b'<a href="%bx">x</a>' % url.encode()
        assert value.startswith(b"WARC/1.1\r\n")
        assert value.endswith(page + b"\r\n\r\n")
        assert entry["recordDigest"] == sha256(raw)
        assert entry["digest"].rpartition(":")[2] == sha256(page)[7:]
    for entry, url in zip(entries(files.get("indexes/index.idx", b""))[1:], URLS, strict=False):
        block = files["indexes/index.cdx.gz"][entry["offset"] :][: entry["length"]]
        assert gzip.decompress(block).startswith(url.encode())
        assert entry["digest"] == sha256(block)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("blocks", [False, True], ids=["one table", "blocks"])
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("texts", [False, True], ids=["numbers", "texts"])
def test_indexes_follow_changed_records(*, compressed: bool, blocks: bool, method: int, texts: bool) -> None:
    data = wacz(compressed=compressed, blocks=blocks, method=method, signed=False, texts=texts)
    changed = rewritten(data)
    check(changed)
    files = opened(changed)
    assert json.loads(files["datapackage-digest.json"])["hash"] == sha256(files["datapackage.json"])
    assert files["pages/pages.jsonl"] == opened(data)["pages/pages.jsonl"]
    assert rewritten(changed) is changed
    assert absolve.verify(data, changed, name="x.wacz") == []


@pytest.mark.parametrize("page", [PAGE, b'<a href="http://a.example/">'], ids=["records change", "no record changes"])
@pytest.mark.parametrize("signed", [None, False])
def test_the_datapackage_follows_changed_pages(*, page: bytes, signed: bool | None) -> None:
    pages = {"pages/a.html": PAGE, "pages/b.html": b"<p>", "pages/c.html": PAGE * 2}
    data = wacz(page=page, signed=signed, more=pages)
    changed = rewritten(data, url="http://u.example/")
    files = opened(changed)
    assert files["pages/a.html"] == b'<a href="http://u.example/pages/x">x</a>'
    for resource in json.loads(files["datapackage.json"])["resources"]:
        content = files[resource["path"]]
        assert (resource["hash"], resource["bytes"]) == (sha256(content), len(content))
    if signed is not None:
        assert json.loads(files["datapackage-digest.json"])["hash"] == sha256(files["datapackage.json"])
    assert absolve.verify(data, changed, name="x.wacz", url="http://u.example/") == []


@pytest.mark.parametrize("step", [1, -1, 3, 5])
def test_indexes_may_be_at_any_position_in_the_package(step: int) -> None:
    pages = {f"pages/{number}.html": b'<a href="http://u.example/">' + PAGE * 600 for number in range(3)}
    others = {f"archive/{number}.warc": record(URLS[0], b"text") for number in range(9)}
    files = list((others | opened(wacz()) | pages).items())
    assert len(files) == 17
    data = zipped(dict(files[number * step % len(files)] for number in range(len(files))), stored=True)
    changed = rewritten(data, url="http://u.example/")
    check(changed)
    assert absolve.verify(data, changed, name="x.wacz", url="http://u.example/") == []
    assert opened(changed)["pages/2.html"].count(b"http://u.example/pages/x") == 600


def test_indexes_follow_changed_records_in_frames_with_a_dictionary() -> None:
    samples: list[bytes | bytearray | memoryview] = [record(url, b"%d" % at) for url in URLS for at in range(100)]
    dictionary = zstandard.train_dictionary(2000, samples)
    raw = dictionary.as_bytes()
    archive = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    lines = []
    for url in URLS:
        frame = zstandard.ZstdCompressor(dict_data=dictionary).compress(record(url, digest=False))
        entry: dict[str, Any] = {"url": url, "offset": len(archive), "length": len(frame), "digest": sha256(PAGE)}
        entry["filename"] = "d.warc.zst"
        lines.append(f"{url} 20250508195248245 {json.dumps(entry)}\n")
        archive += frame
    about = json.dumps({"resources": [{"path": "archive/d.warc.zst", "bytes": len(archive)}]})
    package: dict[str, bytes | str] = {"archive/d.warc.zst": archive, "indexes/index.cdx": "".join(lines), "datapackage.json": about}
    files = opened(rewritten(zipped(package, stored=True)))
    changed = files["archive/d.warc.zst"]
    machine = zstandard.ZstdDecompressor(dict_data=dictionary)
    for entry, url in zip(entries(files["indexes/index.cdx"]), URLS, strict=True):
        page = b'<a href="%bx">x</a>' % url.encode()
        assert machine.decompress(changed[entry["offset"] :][: entry["length"]]).endswith(page + b"\r\n\r\n")
        assert entry["digest"] == sha256(page)
    assert json.loads(files["datapackage.json"])["resources"][0]["bytes"] == len(changed)


def test_an_unchanged_package_is_returned_as_the_same_object() -> None:
    data = wacz(page=b'<a href="http://a.example/">')
    assert rewritten(data) is data
    assert reported(data) == []


def test_each_record_has_its_own_url() -> None:
    assert [(row.entity, row.base) for row in absolve.links(wacz(), name="x.wacz")] == [
        (f"archive/data{number}.warc.gz[{number + 1}]/record[{place}]/body[1]", url)
        for (number, place), url in zip(((0, 1), (0, 2), (1, 1)), URLS, strict=True)
    ]


def test_a_signed_package_stays_without_the_option() -> None:
    data = wacz(signed=True)
    assert rewritten(data) is data
    assert ("signed", False) in reported(data)
    changed = rewritten(data, break_signatures=True)
    check(changed)
    before, after = (json.loads(opened(one)["datapackage-digest.json"]) for one in (data, changed))
    assert after["hash"] == sha256(opened(changed)["datapackage.json"])
    assert after["signedData"] == before["signedData"]
    assert absolve.verify(data, changed, name="x.wacz", break_signatures=True) == []


@pytest.mark.parametrize(
    "more",
    [
        {"indexes/index.db": b"\0\1"},
        {"indexes/other.cdx": b" CDX N b a m s k r M S V g\n"},
        {"indexes/other.cdx": b"a 1 {\n"},
        {"indexes/other.cdx.gz": b"no gzip"},
        {"indexes/other.cdx.gz": gzip.compress(b"a 1 {}")[:-9]},
    ],
    ids=["binary", "no JSON", "half a line", "no gzip", "truncated gzip"],
)
def test_a_package_with_an_unreadable_index_stays(more: dict[str, bytes]) -> None:
    data = wacz(more=more)
    assert reported(data) == [("unknown-index", True)] * 2
    assert rewritten(data) is data


def test_wrong_index_entries_stay_unchanged() -> None:
    data = wacz()
    wrong = {name: content.replace(sha256(PAGE)[7:].encode(), b"0" * 64) for name, content in opened(data).items()}
    index = opened(rewritten(zipped(wrong, stored=True)))["indexes/index.cdx"]
    assert [entry["digest"] for entry in entries(index)] == ["sha-256:" + "0" * 64] * 3
    for field, value in product(("offset", "length"), ("²", "1" * 5000)):
        files = opened(wacz(texts=True))
        name = "indexes/index.cdx"
        files[name] = re.sub(rf'("{field}": ")[0-9]+'.encode(), rf"\g<1>{value}".encode(), files[name], count=1)
        index = opened(rewritten(zipped(files, stored=True)))[name]
        assert entries(index)[0][field] == value
        assert index != files[name]


def test_verify_finds_wrong_fields_in_a_rewritten_package() -> None:
    data = wacz()
    files = opened(rewritten(data))
    for name, old, new in (
        ("indexes/index.cdx", b'"offset": ', b'"offset": 1'),
        ("indexes/index.cdx", b"200", b"404"),
        ("datapackage.json", b'"bytes": ', b'"bytes": 1'),
        ("datapackage.json", b"sha256:", b"sha256:0"),
        ("datapackage.json", b"data-package", b"data-packages"),
    ):
        changed = zipped({**files, name: files[name].replace(old, new, 1)}, stored=True)
        found = absolve.verify(data, changed, name="x.wacz")
        assert any(name in difference.text for difference in found), name


def test_moves_rejects_segments_without_a_counterpart() -> None:
    one, other = Segment(b"abcd", 0, 2), Segment(b"abcd", 2, 4)
    assert Moves([one, other], [one, other]).at(2) == (other, other)
    for before, after in (([one, other], [one]), ([one], [one, other])):
        with pytest.raises(ValueError, match="other stretches"):
            Moves(before, after)


def test_an_index_is_not_read_as_a_document() -> None:
    raw = gzip.compress(record(URLS[0]))
    entry = {"url": f"{URLS[0]}<svg/>", "offset": 0, "length": len(raw), "filename": "d.warc.gz"}
    resources = [{"path": name, "bytes": 1, "hash": "sha256:0"} for name in ("archive/d.warc.gz", "indexes/index.cdx")]
    index, about = f"com,h)/ 2025 {json.dumps(entry)}\n", json.dumps({"resources": resources})
    packed = zipped({"archive/d.warc.gz": raw, "indexes/index.cdx": index, "datapackage.json": about}, stored=True)
    changed = rewritten(packed)
    assert b"http://a.example/d/x" in gzip.decompress(opened(changed)["archive/d.warc.gz"])
    assert absolve.verify(packed, changed, name="x.wacz") == []
