"""Documents that were captured in pieces (206), cut off, or not at all: what is held of them."""

import sqlite3
from contextlib import closing
from gzip import compress
from pathlib import Path
from typing import Any

import pytest
from packed import mirrored, tree

from absolve.cli import main
from absolve.mirror.payloads import Captured, Piece, Pieces, Version, Where
from tests.shapes.captures import DATE, block, entry, har, page, record, zipped

URL = "http://h/m.mp4"
ALL = b"0123456789"
LATER = "2025-01-01T00:00:00Z"
WHOLE = page(URL, ALL, "video/mp4")
MODIFIED = "Wed, 01 May 2024 00:00:00 GMT"


def piece(start: int, last: int, total: int = 10, body: bytes | None = None, *, date: str = DATE, **fields: str) -> bytes:
    """Return a record of a response 206; without `fields` it has an ETag."""
    fields = fields or {"ETag": '"x"'}
    data = ALL[start : last + 1] if body is None else body
    return page(URL, data, "video/mp4", status=206, date=date, Content_Range=f"bytes {start}-{last}/{total}", **fields)


JOINED = {
    "two": piece(0, 4) + piece(5, 9),
    "in another order": piece(5, 9) + piece(0, 4),
    "that overlap": piece(2, 5) + piece(3, 9) + piece(0, 6),
    "of one modification": piece(0, 4, Last_Modified=MODIFIED) + piece(5, 9, Last_Modified=MODIFIED),
    "one that is all": piece(0, 9, X="x"),
    "one that was cut off": piece(0, 9, body=b"012") + piece(3, 9),
    "in chunks": piece(0, 4, body=b"5\r\n01234\r\n0\r\n\r\n", ETag='"x"', Transfer_Encoding="chunked") + piece(5, 9),
    "newer than a whole one": page(URL, b"old", date="2020-01-01T00:00:00Z") + piece(0, 4) + piece(5, 9),
    "of a newer version, too": piece(0, 4) + piece(5, 9) + piece(0, 4, date=LATER, ETag='"y"'),
}
APART = {
    "one": piece(8, 9),
    "with a gap": piece(0, 4) + piece(6, 9),
    "without a version": piece(0, 4, X="x") + piece(5, 9, X="x"),
    "of two versions": piece(0, 4) + piece(5, 9, ETag='"y"'),
    "with a weak ETag": piece(0, 4, ETag='W/"x"') + piece(5, 9, ETag='W/"x"'),
    "of two sizes": piece(0, 4) + piece(5, 9) + piece(0, 4, 11),
    "of two modifications": piece(0, 4, ETag='"x"', Last_Modified=MODIFIED) + piece(5, 9, ETag='"x"', Last_Modified="x"),
    "compressed": piece(0, 4, ETag='"x"', Content_Encoding="gzip", body=b"\x1f\x8b\x08\0\0") + piece(5, 9),
    "without a range": page(URL, ALL, status=206),
    "of an unknown size": page(URL, ALL, status=206, Content_Range="bytes 0-9/*", ETag='"x"'),
    "several in one body": page(URL, ALL, "multipart/byteranges; boundary=b", status=206),
    "of a huge document": piece(0, 9, 10**18),
    "with an endless number": page(URL, ALL, status=206, Content_Range=f"bytes 0-9/{'9' * 5000}"),
    "longer than its range": piece(0, 4, body=b"01234xxx") + piece(5, 9),
    "and a revisit of one": piece(0, 4) + record("revisit", URL, block(b"", None, 206, Content_Range="bytes 0-4/10"), LATER),
}


@pytest.mark.parametrize("data", JOINED.values(), ids=JOINED)
def test_pieces_of_one_version_that_cover_it_are_joined(tmp_path: Path, data: bytes) -> None:
    assert mirrored(tmp_path, "c.warc", data) == (0, {"h/m.mp4": ALL})


@pytest.mark.parametrize("data", APART.values(), ids=APART)
def test_what_pieces_do_not_cover_is_missing_with_a_note(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.warc").write_bytes(page("http://h/", b"<meta charset=utf-8><video src=/m.mp4>") + data)
    assert main(["mirror", str(tmp_path / "c.warc"), "-o", str(tmp_path / "m")]) == 0
    assert tree(tmp_path / "m") == {"h/index.html": b"<meta charset=utf-8><video src=http://h/m.mp4>"}
    assert f"{URL}: partial: " in capsys.readouterr().err
    with closing(sqlite3.connect(tmp_path / "m/mirror.sqlite")) as db:
        assert db.execute("SELECT path, code FROM notes").fetchall() == [(None, "partial")]
        assert db.execute("SELECT url FROM missing").fetchall() == [(URL,)]


@pytest.mark.parametrize(
    "newer",
    [
        piece(0, 4, date=LATER),
        page(URL, b"gone", status=404, date=LATER),
        page(URL, b"", status=304, date=LATER),
        page(URL, b"012", date=LATER, Content_Length="10"),
        page(URL, b"", date=LATER, Transfer_Encoding="chunked"),
        record("response", URL, block(b"", "video/mp4"), LATER, Truncated="length"),
        record("resource", URL, b"012", LATER, Truncated="time"),
    ],
    ids=["piece", "error", "not modified", "shorter", "no body", "truncated", "resource"],
)
def test_the_newest_whole_capture_counts(tmp_path: Path, newer: bytes) -> None:
    assert mirrored(tmp_path, "c.warc", WHOLE + newer) == (0, {"h/m.mp4": ALL})
    assert mirrored(tmp_path, "c.warc", newer + WHOLE) == (0, {"h/m.mp4": ALL})


def test_a_whole_capture_counts_where_a_newer_revisit_lacks_its_payload(tmp_path: Path) -> None:
    lost = record("revisit", URL, block(b"", "video/mp4"), LATER, Refers_To_Target_URI="http://h/none")
    assert mirrored(tmp_path, "c.warc", WHOLE + lost) == (3, {"h/m.mp4": ALL})


def test_what_was_cut_off_is_held_with_a_note_where_nothing_else_is(tmp_path: Path) -> None:
    assert mirrored(tmp_path, "c.warc", page(URL, b"012", "video/mp4", Content_Length="10")) == (0, {"h/m.mp4": b"012"})


def test_pieces_are_joined_across_the_files_of_a_package(tmp_path: Path) -> None:
    files = {"datapackage.json": b"{}", "archive/a.warc": piece(5, 9), "archive/b.warc.gz": compress(piece(0, 4))}
    assert mirrored(tmp_path, "c.wacz", zipped(files, stored=True)) == (0, {"h/m.mp4": ALL})


def seen(start: int, last: int, **content: Any) -> dict[str, Any]:
    found = entry(URL, ALL[start : last + 1], "video/mp4", status=206)
    headers = {"Content-Range": f"bytes {start}-{last}/10", "ETag": '"x"'}
    found["response"]["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
    if content:
        found["response"]["content"] = content
    return found


@pytest.mark.parametrize(("entries", "held"), [
    ([seen(5, 9), seen(0, 4)], ALL),
    ([seen(0, 9)], ALL),
    ([seen(0, 4), seen(6, 9)], None),
    ([seen(0, 9, size=0, mimeType="video/mp4")], None),
    ([entry(URL, ALL, "video/mp4"), seen(8, 9)], ALL),
])
def test_a_browser_saves_pieces_too(tmp_path: Path, entries: list[dict[str, Any]], held: bytes | None) -> None:
    home = entry("http://h/", "<meta charset=utf-8>")
    code, found = mirrored(tmp_path, "c.har", har(home, *entries))
    assert (code, found.get("h/m.mp4")) == (0, held)


def test_a_number_of_pieces_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("absolve.mirror.payloads._MOST", 3)
    pieces = Pieces()
    for number in range(4):
        pieces.add(Piece(Captured(URL, 206, "", "", Where(0, number, 0)), number, number + 1, Version(4, '"x"', "")))
    assert not list(pieces.joined(set()))
