"""Without a URL among the arguments there is no network call; with --live only the server that is named is asked."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shapes.captures import page
from tests.shapes.trap_server import page as sent
from tests.shapes.trap_server import serving

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
PAGE = (
    b'<!DOCTYPE html><base href="http://192.0.2.1/"><link rel=stylesheet href=s.css><link rel=preconnect href=//192.0.2.2>'
    b'<?xml-stylesheet href="http://192.0.2.3/x.xsl"?><img src=http://192.0.2.4/i.png><a href=http://ext.example/x>x</a>'
)
FEED = b'<!DOCTYPE rss SYSTEM "http://192.0.2.5/rss.dtd"><rss xml:base="http://192.0.2.6/"><channel><link>x</link></channel></rss>'
COMMANDS = (
    "links site -o links.csv", "documents site -o documents.csv", "base site/index.html",
    "rewrite site -o out --verify", "verify site out", "mirror crawl.warc -o mirror", "mirror --check mirror",
    "check site -o check.html", "audit site --old out --old-url http://192.0.2.7/ -o report.html",
)


def _addresses(folder: Path, *arguments: str) -> set[str]:
    """Run a command, and return the addresses that it and its processes connect or send to, those of names included."""
    calls = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", str(folder / "trace")]
    run = subprocess.run([*calls, sys.executable, "-m", "absolve", *arguments], cwd=folder, capture_output=True, check=False)
    assert run.returncode in {0, 1}, run.stderr.decode()
    return set(re.findall(r"(?:inet_addr|inet_pton)\([^\")]*\"([^\"]*)\"", (folder / "trace").read_text("utf-8", "replace")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_bytes(PAGE)
    (site / "feed.xml").write_bytes(FEED)
    (tmp_path / "crawl.warc").write_bytes(page("http://192.0.2.1/", PAGE) + page("http://192.0.2.1/feed", FEED))
    return tmp_path


def test_files_are_worked_on_without_a_network(folder: Path) -> None:
    assert {command: found for command in COMMANDS if (found := _addresses(folder, *command.split()))} == {}


def test_live_asks_only_the_servers_of_the_links(folder: Path) -> None:
    with serving({"/x": sent(b"x")}) as server:
        resolved = ("--resolve", f"ext.example={server.url}", "--retries", "0", "--timeout", "2")
        found = _addresses(folder, "audit", "site", "--url", "http://192.0.2.1/", "--exclude", "feed.xml", "--live", "external", *resolved)
        assert "/x" in server.targets
    assert found <= {"127.0.0.1", "192.0.2.2", "192.0.2.4"}
    assert "127.0.0.1" in found
