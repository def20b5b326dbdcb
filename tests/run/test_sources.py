"""Sources: reading inputs, and the claims of a file system about their URLs."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from absolve import DocumentError
from absolve.core.model import Document
from absolve.document.walk import Settings, walk
from absolve.run import sources
from absolve.run.inputs import Input, Origins, alone
from absolve.run.load import ReadOptions, read
from absolve.run.plan import Job, RewriteOptions
from absolve.run.results import Failure
from absolve.run.rewrite_task import rewritten

PAGE = b"<a href=x>"
COMMENT = b"<!-- saved from url=(0015)http://comment/ -->"
XATTR, ZONE, PATH = "user.xdg.origin.url attribute", "Zone.Identifier file", "path of the file"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "a page.html"
    path.write_bytes(PAGE)
    return path


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Return a function that sets the extended attribute of every file, even where the file system has none."""

    def let_be(value: bytes) -> None:
        def getxattr(_: str, name: str) -> bytes:
            if name != "user.xdg.origin.url":
                raise OSError(errno.ENODATA, "No data available")
            return value

        monkeypatch.setattr(os, "getxattr", getxattr, raising=False)

    return let_be


def claims(document: Document) -> list[tuple[str, str]]:
    return [(claim.source, claim.reference) for claim in document.claims]


def zone(page: Path, data: bytes) -> None:
    page.with_name(page.name + ":Zone.Identifier").write_bytes(data)


def test_a_file_without_attributes_has_no_claims(page: Path) -> None:
    document = sources.read(str(page))
    assert (document.data, document.name, document.url, document.claims) == (PAGE, str(page), None, ())


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes here")
def test_the_extended_attribute_with_the_url_is_read(page: Path) -> None:
    try:
        os.setxattr(page, "user.xdg.origin.url", b"http://h/\xc3\xa9")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    assert claims(sources.read(str(page))) == [(XATTR, "http://h/é")]


def test_an_extended_attribute_without_a_url_is_no_claim(page: Path, origin: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (b"", b"\0", b"about:blank", b"blob:http://h/1"):
        origin(value)
        assert claims(sources.read(str(page))) == []
    monkeypatch.delattr(os, "getxattr", raising=False)  # as on a platform without such attributes
    assert claims(sources.read(str(page))) == []


ZONES = [
    b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\nHostUrl=http://h/p?a=b\r\n",
    *(b"\xef\xbb\xbf[ZoneTransfer]\r\nHostUrl=http://h/p?a=b", b"[ZoneTransfer]\n hosturl = http://h/p?a=b \n"),
    *("[ZoneTransfer]\r\nHostUrl=http://h/p?a=b\r\n".encode(codec) for codec in ("utf-16", "utf-16-le")),
    "[ZoneTransfer]\r\nAppName=é\r\nHostUrl=http://h/p?a=b\r\n".encode("cp1252"),
]
NO_ZONES = [
    *(b"", b"[ZoneTransfer]\r\nZoneId=3\r\nReferrerUrl=http://r/\r\n", b"[ZoneTransfer]\r\nHostUrl=about:internet\r\n", b"\xff\xfe\x00"),
    b"[ZoneTransfer]\r\nHostUrl=\r\nLastWriterPackageFamilyName=x\r\n",
]


def test_the_host_url_of_a_zone_identifier_is_read(page: Path) -> None:
    for data in (*ZONES, *NO_ZONES):
        zone(page, data)
        assert claims(sources.read(str(page))) == [(ZONE, "http://h/p?a=b")] * (data in ZONES), data


def test_a_path_is_a_retrieval_url_with_the_option(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(page.parent)
    assert claims(read(alone("a page.html", Origins("file:")), ReadOptions(Settings()))) == [(PATH, page.as_uri())]
    assert alone("-", Origins("file:")).claim is None


ORDER = ("--url", "saved from url comment, line 1", XATTR, ZONE, PATH)  # the first one that exists is used


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_retrieval_urls_are_used_in_the_documented_order(page: Path, origin: Callable[[bytes], None], encoding: str) -> None:
    for place, source in enumerate(ORDER):
        user, comment, attribute, marked = (place <= number for number in range(4))
        page.write_bytes((COMMENT * comment + PAGE).decode().encode(encoding))
        origin(b"http://attribute/" * attribute)
        zone(page, b"HostUrl=http://zone/" * marked)
        input_ = alone(str(page), Origins("file:"))._replace(url="http://user/" if user else None)
        base = walk(read(input_, ReadOptions(Settings())), Settings()).bases.base
        assert base.source == source
        assert [fate.verdict for fate in base.chain] == ["won"] + ["ignored"] * (user + comment + attribute + marked)
        assert base.chain[-1].base.source == PATH


def test_an_unreadable_input_is_reported_by_name(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in (("none.html", "not-found"), ("", "directory"), ("a page.html/x", "unreadable")):
        with pytest.raises(DocumentError) as caught:
            sources.read(str(page.parent / name))
        assert (caught.value.diagnostic.code, caught.value.diagnostic.name) == (code, str(page.parent / name))
    with pytest.raises(DocumentError, match="not-found"):
        sources.read("")  # is not the current folder
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DocumentError, match="-: unreadable: there is no standard input"):
        sources.read("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_file_of_a_folder_that_has_become_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "a.html"
    os.mkfifo(pipe)
    with pytest.raises(DocumentError, match="special-file: this is no longer a regular file"):
        sources.head(str(pipe), root=str(tmp_path))
    assert sources.head(str(pipe)) == b""  # named by the user: a program may still write to it
    job = Job(Input(str(pipe), "a.html", found=True, root=str(tmp_path)), str(tmp_path / "b.html"))
    failures = [one for one in rewritten(RewriteOptions(ReadOptions(Settings())), job) if isinstance(one, Failure)]
    assert [(failure.diagnostic.code, failure.diagnostic.name) for failure in failures] == [("special-file", str(pipe))]
