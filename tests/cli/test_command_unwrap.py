"""`--unwrap`, presets and functions in rules, and copies in an archive, on the command line."""

import os
from pathlib import Path

import pytest
from command_runner import Runner

from tests.shapes import captures

pytest.importorskip("re2")

GONE = b"<a href=http://gone/x>"
COPY = b"https://web.archive.org/web/%b/http://gone/x"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_copy_has_the_date_of_the_page_by_its_capture_or_its_file(absolve: Runner) -> None:
    Path("rules.csv").write_text("from,to,kind\n//gone,archive,preset\n")
    Path("p.html").write_bytes(GONE)
    os.utime("p.html", (946_684_800, 946_684_800))
    Path("m.eml").write_bytes(b"Date: Thu, 1 Feb 2001 10:00:00 +0200\r\nContent-Type: text/html\r\n\r\n" + GONE)
    Path("c.warc").write_bytes(captures.page("http://h/", GONE))
    date = captures.DATE.translate(str.maketrans("", "", "-:TZ")).encode()
    for name, found in {"p.html": b"20000101000000", "m.eml": b"20010201080000", "c.warc": date}.items():
        for rule in (("--remap", "@rules.csv"), ("--remap", "//gone=archive")):
            assert COPY % found in absolve("rewrite", name, *rule).out
    absolve("rewrite", "p.html", "--remap", "@rules.csv", "-o", "o.html")
    assert absolve("verify", "p.html", "o.html", "--remap", "@rules.csv").status == 0
    done = absolve("rewrite", "-", "--remap", "@rules.csv", stdin=GONE)
    assert (done.out, ": no-date: " in done.err) == (GONE, True)


def test_copies_of_an_index_are_linked(absolve: Runner) -> None:
    Path("i.cdx").write_text("gone)/x 20050101000000 http://gone/x text/html 200 A 1\n")
    assert absolve("rewrite", "-", "--remap", "@i.cdx", stdin=GONE + b"<a href=http://h/>").out == (
        b"<a href=%b><a href=http://h/>" % (COPY % b"20050101000000")
    )
    Path("i.cdx").write_text("gone)/x 20050101000000 http://gone/x text/html 404 A 1\n")
    assert absolve("rewrite", "-", "--remap", "@i.cdx", stdin=GONE).status == 2
