"""Large results are written while they are built, and the file appears completely or not at all."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest

import absolve
from absolve.cli import main
from absolve.core.model import Edit
from absolve.document.settings import Settings
from absolve.document.walk import walk
from absolve.rewriting import rewriter
from absolve.rewriting.edits import Splicer, splice
from absolve.run.inputs import Input
from absolve.run.load import ReadOptions
from absolve.run.plan import Job, RewriteOptions
from absolve.run.rewrite_task import Output
from tests.shapes.memory import peak
from tests.shapes.scale import COMPILED

LONG = b"<base href=http://h/" + b"d/" * 20_000 + b">"
PAGE = LONG + b"<a href=../x>" * 400 + b"z" * 1000  # becomes 16 MB
SMALL = b"<base href=http://h/d/><a href=x>"
MEGABYTE = 1 << 20


def command(*arguments: str) -> int:
    return main(list(arguments))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def becomes() -> bytes:
    return absolve.rewrite(PAGE)


def pieces(data: bytes, made: Sequence[Edit], at_once: int = 1000) -> tuple[list[bytes], bytes, Splicer]:
    """Return the spilled chunks and the rest, for edits that arrive in batches of this size."""
    spilled: list[bytes] = []
    splicer = Splicer(data, sys.maxsize, spilled.append)
    for start in range(0, len(made), at_once):
        assert splicer.take(made[start : start + at_once])
    return spilled, splicer.finish(), splicer


@pytest.mark.parametrize("at_once", [1, 1000])
@pytest.mark.parametrize("size", [0, 30_000, MEGABYTE, 5 * MEGABYTE])
def test_spilled_chunks_and_the_rest_equal_the_spliced_document(size: int, at_once: int) -> None:
    data = bytes(range(256)) * 400
    assert (pieces(data, [])[0], pieces(data, [])[1] is data) == ([], True), "unchanged it is the same object"
    made = [Edit(at, at + 2, bytes((at % 251,)) * size) for at in range(0, len(data) - 2, len(data) // 20)]
    spilled, rest, splicer = pieces(data, made, at_once)
    assert b"".join([*spilled, rest]) == splice(data, made)
    assert splicer.spilled == sum(map(len, spilled))
    assert all(len(piece) < 11 * MEGABYTE for piece in spilled)
    assert bool(spilled) is (size > 30_000)
    if spilled:  # they count to the size limit
        limited = Splicer(b"ab", 10 * MEGABYTE, spilled.append)
        assert limited.take([Edit(0, 0, b"x" * 5 * MEGABYTE)])
        assert not limited.take([Edit(1, 1, b"y" * 5 * MEGABYTE)])


@pytest.mark.parametrize("reference", ["a b%d", "../c d%d", "é%d", "e%d"])
def test_a_long_base_is_spilled_before_the_second_link(reference: str) -> None:
    links = "".join(f"<a href='{reference % number}'>" for number in range(9))
    page = f"<base href='http://h/{'d,' * MEGABYTE}/e/'>{links}<p>".encode()
    spilled: list[bytes] = []
    entity = walk(absolve.Document(page, charset="utf-8"), Settings(max_url=4 * MEGABYTE))
    rest = rewriter.rewrite(entity, None, spilled.append)
    assert b"".join([*spilled, rest]) == absolve.rewrite(page, charset="utf-8", max_url=4 * MEGABYTE)
    assert max(map(len, spilled)) < 8 * MEGABYTE


def test_a_large_file_equals_the_result_of_the_library(tmp_path: Path, becomes: bytes, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    paths = [tmp_path / f"{name}.html" for name in "abc"]
    for path, page in zip(paths, (PAGE, SMALL, PAGE), strict=True):
        path.write_bytes(page)
    assert command("rewrite", *map(str, paths), "-o", f"{tmp_path}/out/", "--jobs", "2") == 0
    assert names(tmp_path / "out") == ["a.html", "b.html", "c.html"]
    assert [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())] == [becomes, absolve.rewrite(SMALL), becomes]
    assert command("rewrite", str(paths[0]), "-o", str(tmp_path / "one" / "b.html")) == 0
    assert (names(tmp_path / "one"), (tmp_path / "one/b.html").read_bytes()) == (["b.html"], becomes)
    assert command("rewrite", str(paths[0])) == 0
    assert capfdbinary.readouterr().out == becomes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_large_result_can_be_written_to_a_pipe(tmp_path: Path, becomes: bytes) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)  # a reader that would wait for ever if the pipe were replaced
    reader.start()
    assert command("rewrite", str(tmp_path / "a.html"), "-o", str(pipe)) == 0
    assert pipe.is_fifo()
    reader.join(10)
    assert read == [becomes]
    assert names(tmp_path) == ["a.html", "pipe"]


@pytest.mark.parametrize("other", [b"", b"x"])
def test_an_unchanged_large_file_is_not_published(tmp_path: Path, other: bytes) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(PAGE)
    output = Output(RewriteOptions(ReadOptions(Settings()), in_place=True), Job(Input(str(path), "a.html")))
    output.old = PAGE
    with output.written():
        for start in range(0, len(PAGE), 1000):
            output.write(PAGE[start : start + 1000])
        output.write(other)
    ready = list(output.ready())
    assert len(ready) == len(other)
    assert len(names(tmp_path)) == 1 + len(other)


@pytest.mark.parametrize("less", [1, 4 * MEGABYTE])
@pytest.mark.parametrize("where", [(), ("-o", "b.html"), ("--in-place", "--backup", ".orig")])
def test_a_result_beyond_the_limit_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: tuple[str, ...], less: int, becomes: bytes, capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_bytes(PAGE)
    (tmp_path / "b.html").write_bytes(b"as it was")
    assert command("rewrite", "a.html", *where, "--max-size", str(len(becomes) - less)) == 3
    captured = capfdbinary.readouterr()
    assert captured.out == b""
    assert b"too-large" in captured.err
    assert (tmp_path / "a.html").read_bytes() == PAGE
    assert (tmp_path / "b.html").read_bytes() == b"as it was"
    assert names(tmp_path) == ["a.html", "b.html"]


@pytest.mark.skipif(not COMPILED or sys.platform != "linux", reason="interpreted, links and edits are objects")
def test_a_result_of_a_hundred_megabytes_is_not_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(LONG + b"<a href=../x>" * 2600)
    program = "import sys\nfrom absolve.cli import main\nmain(sys.argv[1:])\n"
    took = peak(program, "rewrite", str(tmp_path / "a.html"), "-o", str(tmp_path / "b.html"))
    assert (tmp_path / "b.html").stat().st_size > 100e6
    assert took < 70
