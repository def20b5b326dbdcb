"""Broken records in archives stay unchanged and are reported with offset and URL; the other records are rewritten."""

import gzip
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command_runner import Runner

GOOD, BAD = "http://good.example/d/p.html", "http://bad.example/d/p.html"
PAGE, ABSOLUTE = b'<a href="x">x</a>', b'<a href="http://good.example/d/x">x</a>'


def record(body: bytes, url: str = BAD, fields: bytes = b"", length: int = 0) -> bytes:
    """Return a record whose length field is off by this number."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%bContent-Length: %d\r\n\r\n%b" % (fields, len(body), body)
    head = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %b\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n"
    return head % (url.encode(), len(http) + length) + http + b"\r\n\r\n"


CHUNKED, GZIP = b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n"
BOMB = gzip.compress(PAGE + bytes(3 << 20))

# Faults, and the problem codes of their diagnostics. Each of these records must stay unchanged; what decodes is listed.
BROKEN: dict[str, tuple[bytes, str]] = {
    "a record longer than its length field": (record(PAGE, length=-5), "wrong-length"),
    "a chunk of a wrong size": (record(b"5\r\n" + PAGE + b"\r\n0\r\n\r\n", fields=CHUNKED), "wrong-chunk"),
    "a truncated gzip body": (record(gzip.compress(PAGE)[:-9], fields=GZIP), "truncated"),
    "a broken gzip body": (record(gzip.compress(PAGE)[:10] + b"\xff" * 20, fields=GZIP), "broken"),
    "a bomb in a body": (record(BOMB, fields=GZIP), "too-large"),
    "a bomb in a bomb": (record(gzip.compress(BOMB), fields=b"Content-Encoding: gzip, gzip\r\n"), "too-large"),
}


@pytest.fixture
def arguments(limited: Callable[..., list[str]]) -> list[str]:
    return limited(max_decompressed="2M")


@pytest.mark.parametrize(("broken", "code"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_broken_record_stays_and_is_reported_by_offset(
    absolve: Runner, tmp_path: Path, arguments: list[str], broken: bytes, code: str, compressed: bool
) -> None:
    pack = gzip.compress if compressed else bytes
    before, between, new = pack(record(PAGE, GOOD)), pack(broken), record(ABSOLUTE, GOOD)
    path = tmp_path / "x.warc"
    path.write_bytes(before + between + before)
    done = absolve("rewrite", path, *arguments)
    if compressed:
        assert between in done.out
        assert gzip.decompress(done.out) == new + broken + new
    else:
        assert done.out == new + broken + new
    assert done.status == 3
    (line,) = done.err.splitlines()
    if compressed and code == "wrong-length" and line.startswith(f"error: {path}: truncated: "):
        code = "truncated"  # the member ends before the record does
    assert line.startswith(f"error: {path}: {code}: ")
    assert BAD in line
    assert len(before) <= int(line.rpartition("at byte ")[2]) < len(before) + len(between)
    listed = len(absolve("links", path, *arguments).lines)
    assert listed == 2 or (listed == 3 and code in {"wrong-chunk", "truncated", "broken"})


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_record_cut_off_stays_and_is_reported_with_its_first_byte(absolve: Runner, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    before, broken = pack(record(PAGE, GOOD)), pack(record(PAGE))[:-40]
    (tmp_path / "x.warc").write_bytes(before + broken)
    done = absolve("rewrite", tmp_path / "x.warc")
    assert (done.status, done.out.endswith(broken), f"at byte {len(before)}\n" in done.err) == (3, True, True), done.err


def test_size_limits_apply_to_each_record_not_to_the_archive(absolve: Runner, tmp_path: Path, limited: Callable[..., list[str]]) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(record(PAGE + b" " * 1000, GOOD) * 50)
    done = absolve("rewrite", path, *limited(max_decompressed="2K"), "--max-size", "2K")
    assert (done.status, done.err) == (0, "")
    assert done.out == record(ABSOLUTE + b" " * 1000, GOOD) * 50


@pytest.mark.parametrize(("command", "place", "compressed"), [
    ("rewrite", "absolve.run.load.walk", False), ("rewrite", "absolve.run.rewrite_task.new_bytes", True),
    ("rewrite --dry-run", "absolve.run.rewrite_task.new_bytes", False), ("links", "absolve.inventory.link_rows.fill", True),
])
def test_an_internal_error_leaves_only_its_record_unchanged(
    absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, place: str, compressed: bool
) -> None:
    pack = gzip.compress if compressed else bytes
    good, bad = pack(record(PAGE, GOOD)), pack(record(PAGE))
    path = tmp_path / "x.warc"
    path.write_bytes(good + bad + good)
    module, _, name = place.rpartition(".")
    real = getattr(import_module(module), name)

    def faulty(*arguments: Any, **options: Any) -> Any:
        found = next(each for each in arguments if hasattr(each, "document") or hasattr(each, "data"))
        data = found.document.data if hasattr(found, "document") else found.data
        if BAD.encode() in data:
            raise ZeroDivisionError("of a test")
        return real(*arguments, **options)

    def faulty_later(*arguments: Any) -> Iterator[None]:
        yield from faulty(*arguments)

    monkeypatch.setattr(place, faulty_later if name == "fill" else faulty)
    done = absolve(*command.split(), path)
    assert done.status == 3
    (line,) = done.err.splitlines()
    assert line.startswith(f"error: {path}: internal-error: a fault of absolve, ")
    assert line.endswith(f"of a test, at byte {len(good)}")
    if command == "rewrite":
        before, _, behind = done.out.partition(bad)
        new = record(ABSOLUTE, GOOD)
        assert [gzip.decompress(each) if compressed else each for each in (before, behind)] == [new, new]
    elif command == "links":
        assert [json.loads(row)["target"] for row in done.lines] == ["http://good.example/d/x"] * 2
    else:
        assert done.lines == [f"{path}: 2 links, 2 would change"]
