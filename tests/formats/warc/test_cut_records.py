"""A record that the end of its file cuts off is listed as far as it goes, and stays as it is."""

import gzip
from pathlib import Path

import pytest

from absolve.cli import main
from tests.shapes.captures import page


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "gzip"])
def test_a_cut_record_is_listed_as_far_as_it_goes_and_stays(tmp_path: Path, is_packed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    first, last = page("http://h.example/a", b"<a href=1>"), page("http://h.example/b", b"<a href=2><p>" + bytes(range(32, 127)) * 99)
    first, last = (gzip.compress(first), gzip.compress(last)[:-20]) if is_packed else (first, last[:-99])
    (tmp_path / "c.warc").write_bytes(first + last)
    assert main(["links", str(tmp_path / "c.warc"), "-f", "csv", "--columns", "target"]) == 3
    out, err = capsys.readouterr()
    assert (out.split(), "truncated" in err) == (["target", "http://h.example/1", "http://h.example/2"], True)
    assert main(["rewrite", str(tmp_path / "c.warc"), "-o", str(tmp_path / "out.warc")]) == 3
    written = (tmp_path / "out.warc").read_bytes()
    assert written.endswith(last)
    assert written[: -len(last)] != first
