"""`absolve mirror -o FILE.zip`: the bytes of the folder in one file, the same for the same capture."""

import io
import os
import zipfile
from pathlib import Path

import pytest
from packed import OWN, asked, mirrored, tree

from absolve.cli import main
from tests.shapes.captures import entry, har

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 2000
CAPTURE = har(
    entry("http://h/", '<meta charset=utf-8><a href="/\u00e9">b</a><img src=/p.png><img src=/gone.png>'),
    entry("http://h/%C3%A9", "<meta charset=utf-8><p>" + "text " * 500),
    entry("http://h/p.png", PNG, "image/png"),
    entry("http://h/a.zip", b"PK\x03\x04" + b"\0" * 2000, "application/zip"),
)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "c.har"
    path.write_bytes(CAPTURE)
    return path


def zipped_at(path: Path, capture: Path, *more: str) -> int:
    return main(["mirror", str(capture), "-o", str(path), "-q", *more])


def test_the_zip_has_the_files_of_the_folder_and_its_map(capture: Path, tmp_path: Path) -> None:
    assert zipped_at(tmp_path / "m.zip", capture) == 0
    assert mirrored(tmp_path, "c.har", CAPTURE)[0] == 0
    with zipfile.ZipFile(tmp_path / "m.zip") as package:
        assert package.testzip() is None
        inside = {name: package.read(name) for name in package.namelist()}
    assert {name: data for name, data in inside.items() if name not in OWN} == tree(tmp_path / "m")
    assert inside["index.html"] == (tmp_path / "m/index.html").read_bytes()
    (tmp_path / "map").mkdir()
    (tmp_path / "map/mirror.sqlite").write_bytes(inside["mirror.sqlite"])
    for query in ("SELECT * FROM resources", "SELECT * FROM missing", "SELECT * FROM notes"):
        assert asked(tmp_path / "map", query) == asked(tmp_path / "m", query)


def test_names_are_utf_8_and_only_plain_files_that_are_not_compressed_already_are_deflated(capture: Path, tmp_path: Path) -> None:
    zipped_at(tmp_path / "m.zip", capture)
    with zipfile.ZipFile(tmp_path / "m.zip") as package:
        every = {info.filename: info for info in package.infolist()}
    assert all(one.external_attr >> 16 == 0o100644 for one in every.values())
    assert every["h/\u00e9.html"].flag_bits & 0x800
    stored = {name for name, one in every.items() if one.compress_type == zipfile.ZIP_STORED}
    assert stored == {"h/p.png", "h/a.zip"}


def test_a_zip_that_cannot_be_written_is_an_error_and_leaves_nothing(capture: Path, tmp_path: Path) -> None:
    assert zipped_at(tmp_path / "none/m.zip", capture) in {2, 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.har"]


def test_the_zip_and_the_missing_urls_go_to_the_standard_output(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert zipped_at(tmp_path / "m.zip", capture) == 0
    assert zipped_at(Path("-"), capture, "--missing", "list") == 0
    out, _ = capfdbinary.readouterr()
    with zipfile.ZipFile(io.BytesIO(out)) as package, zipfile.ZipFile("m.zip") as other:
        assert {name: package.read(name) for name in package.namelist()} == {name: other.read(name) for name in other.namelist()}
    assert zipped_at(tmp_path / "m.zip", capture, "--missing", "-") == 0
    assert capfdbinary.readouterr().out == Path("list").read_bytes()
    assert main(["mirror", str(capture), "-o", "-"]) == 0
    assert b"absolve: standard output: 4 documents" in capfdbinary.readouterr().err
    assert zipped_at(Path("-"), capture, "--missing", "-") == 2
    assert b"the ZIP and --missing both write to the standard output" in capfdbinary.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.har", "list", "m.zip"]
    monkeypatch.setattr("absolve.cli.mirror.is_terminal", lambda _: True)
    assert zipped_at(Path("-"), capture) == 2
    assert b"a ZIP cannot be written to a terminal: give -o FILE.zip" in capfdbinary.readouterr().err


def test_a_zip_is_the_same_bytes_at_any_time_and_a_check_names_the_way_to_its_files(
    capture: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert zipped_at(tmp_path / "o.zip", capture) == 0
    os.utime(capture, (0, 0))
    assert zipped_at(tmp_path / "m.zip", capture, "-j", "2") == 0
    assert (tmp_path / "o.zip").read_bytes() == (tmp_path / "m.zip").read_bytes()
    assert main(["mirror", "--check", str(tmp_path / "o.zip")]) == 2
    assert f"hint: unzip {tmp_path / 'o.zip'} -d mirror; absolve mirror --check mirror\n" in capsys.readouterr().err
