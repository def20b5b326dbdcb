"""Folders with pipes, sockets, devices, dangling links and links to themselves; pipes as inputs."""

import bz2
import gzip
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.run import inputs, sources
from tests.shapes.captures import mhtml, page, zipped

URL = "--url=http://h.example/"
LINK = b"<a href=x.html>"
DONE = b"<a href=http://h.example/x.html>"
WHERE = [("rewrite", "-o", "out"), ("rewrite", "--in-place"), ("rewrite", "--dry-run"), ("links",)]

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder with two pages, whose names sort before and after what a test adds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    for name in ("a.html", "z.html"):
        (tmp_path / "site" / name).write_bytes(LINK)
    return Path("site")


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    """End a test that waits for a pipe for ever."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize(("command", "name"), [*zip(WHERE, ("pipe", "pipe.html", "pipe.warc", "pipe.html"), strict=True)], ids=str)
def test_a_pipe_in_a_folder_is_skipped_with_a_diagnostic(absolve: Runner, site: Path, command: tuple[str, ...], name: str) -> None:
    os.mkfifo(site / name)
    names = [name, *(["link.html"] if "--in-place" not in command else [])]  # where links are followed
    for one in names[1:]:
        (site / one).symlink_to(name)
    done = absolve(command[0], "site", URL, *command[1:])
    skipped = {f"note: site/{one}: special-file: skipped: a pipe, not a regular file" for one in names}
    assert (done.status, {*done.err.splitlines()}) == (0, skipped)
    assert files(Path("out")) == (["a.html", "z.html"] if "-o" in command else [])


def test_excluded_special_files_are_skipped_silently(absolve: Runner, site: Path) -> None:
    os.mkfifo(site / "pipe")
    (site / "nothing").symlink_to("none")
    assert absolve("rewrite", "site", URL, "-o", "out", "--include", "*.html") == (0, b"", "")


@pytest.mark.parametrize("command", [WHERE[0], WHERE[2], WHERE[3]], ids=" ".join)
def test_a_link_to_nowhere_or_itself_is_reported_and_the_run_continues(absolve: Runner, site: Path, command: tuple[str, ...]) -> None:
    links = {"m": "m", "n.html": "n.html", "o.html": "m/n.html", "p": "none", "q.warc": "none"}
    for name, to in links.items():
        (site / name).symlink_to(to)
    done = absolve(command[0], "site", URL, *command[1:])
    texts = ("unreadable: skipped: a symbolic link in a loop of links", "not-found: skipped: a symbolic link without a target")
    assert (done.status, done.err.splitlines()) == (0, [f"warning: site/{name}: {texts[to == 'none']}" for name, to in links.items()])
    assert files(Path("out")) == (["a.html", "z.html"] if "-o" in command else [])


def test_in_place_symbolic_links_in_folders_are_skipped_silently(absolve: Runner, site: Path) -> None:
    (site / "n.html").symlink_to("n.html")
    (site / "m.html").symlink_to("none")
    assert absolve("rewrite", "site", URL, "--in-place") == (0, b"", "")
    assert (site / "z.html").read_bytes() == DONE


def test_a_pipe_in_a_list_is_skipped_with_a_diagnostic(absolve: Runner, site: Path) -> None:
    os.mkfifo(site / "p.html")
    Path("list").write_text("site/a.html\nsite/p.html\nsite/z.html\n")
    done = absolve("rewrite", "--from", "list", URL, "-o", "out")
    assert (done.status, done.err) == (3, "error: site/p.html: special-file: skipped: a pipe, not a regular file\n")
    assert files(Path("out/site")) == ["a.html", "z.html"]


READING = [
    *(("rewrite", "@", URL), ("links", "@", URL), ("documents", "@", URL, "--format=csv"), ("base", "@", URL)),
    *(("check", "@", URL), ("audit", "site", "--old", "@"), ("verify", "@", "file"), ("verify", "file", "@")),
    *(("mirror", "@", URL, "-o", out) for out in ("out", "out.html", "out.zip")),
]
HELLO = b"<title>a</title><p>hello <a href=x.html>x</a>"
READ = {  # a second read of a pipe finds nothing of them, and none can seek in it
    "page": HELLO, "mhtml": mhtml(("http://h/p", "text/html", HELLO)), "zip": zipped({"a.html": HELLO}), "warc": page("http://h/a.html", HELLO),
}


@contextmanager
def streamed(data: bytes, way: str) -> Iterator[str]:
    """Yield the name of a pipe from which the data can be read once."""
    number, end = os.pipe()
    kept = os.dup(0)
    if way == "/dev/stdin":
        os.dup2(number, 0)
    if way == "pipe":
        os.mkfifo("pipe")

    def write() -> None:
        with Path("pipe").open("wb") if way == "pipe" else os.fdopen(os.dup(end), "wb") as file:
            file.write(data)
        os.close(end)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield f"/dev/fd/{number}" if way == "descriptor" else way
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        writer.join(10)
        os.close(number)


def made() -> list[bytes]:
    """Return the contents of what a mirror wrote, without what names its source."""
    if Path("out.zip").exists():
        with zipfile.ZipFile("out.zip") as package:
            return [package.read(name) for name in package.namelist() if name not in {"index.html", "mirror.sqlite"}]
    files = [*Path().glob("out.*ml"), *(path for path in Path("out").rglob("*.html") if path.parent != Path("out"))]
    return sorted(path.read_bytes() for path in files)


@pytest.mark.parametrize("kind", ["page", *(pytest.param(kind, marks=pytest.mark.slow) for kind in READ if kind != "page")])
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_every_command_reads_a_pipe_as_it_reads_a_file(
    absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, command: tuple[str, ...]
) -> None:
    found = {}
    for way in ("file", "-", "pipe", *(("/dev/stdin", "descriptor") if command[0] in {"links", "mirror"} else ())):
        (folder := tmp_path / way.replace("/", "_")).mkdir()
        monkeypatch.chdir(folder)
        Path("site").mkdir()
        Path("site/a.html").write_bytes(HELLO)
        Path("file").write_bytes(READ[kind])
        with streamed(READ[kind], way) as name:
            done = absolve(*(word.replace("@", name) for word in command), stdin=READ[kind])
        results = made()
        assert [min(len(one), len(HELLO)) for one in results] == [len(HELLO)] * (command[0] == "mirror")
        found[way] = done.status, done.out.count(b"\n"), done.err.count("\n")
    assert found == dict.fromkeys(found, found["file"])


@pytest.mark.parametrize("command", ["check", "audit"])
def test_without_an_input_the_standard_input_is_audited(absolve: Runner, command: str) -> None:
    assert absolve(command, URL, stdin=HELLO).out.startswith(b"-:1:34: broken")


@pytest.mark.parametrize("command", ["mirror", "check", "base"])
def test_of_a_pipe_without_end_no_more_is_copied_than_the_limit(absolve: Runner, site: Path, command: str) -> None:
    done = absolve(command, "/dev/zero", *(("-o", "out.html") if command == "mirror" else ()), "--max-size", "100000")
    assert (done.status, done.err.partition(" documents")[0]) == (3, "error: /dev/zero:1:1: too-large:")
    assert command != "mirror" or absolve("mirror", "--check", "/dev/zero").status == 2
    assert files(Path()) == ["site", *(f"site/{name}" for name in files(site))]


@pytest.mark.parametrize(("name", "data"), [("a.html", LINK), ("a.warc", b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"), ("a.png", b"\x89PNG\r\n\x1a\n\0\0")])
def test_a_pipe_in_the_output_folder_is_not_written(absolve: Runner, site: Path, name: str, data: bytes) -> None:
    (site / "a.html").unlink()
    (site / name).write_bytes(data)
    Path("out").mkdir()
    os.mkfifo(Path("out") / name)
    assert absolve("rewrite", "site", URL, "-o", "out")[::2] == (3, f"error: out/{name}: unwritable: this is not a regular file\n")
    assert (Path("out") / name).is_fifo()
    assert Path("out/z.html").read_bytes() == DONE


# --- outputs that are open already ------------------------------------------------------------------------------------

NO_DESCRIPTORS = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc here")
TO_DESCRIPTOR = [
    ("links", "site/a.html", "-o", "/dev/fd/1", "--format", "jsonl"),
    ("documents", "site/a.html", "-o", "link", "--format", "jsonl"),
    ("rewrite", "site/a.html", "-o", "/dev/stdout", "--url", "http://h.example/"),
    ("mirror", "site/a.html", "-o", "m", "--missing", "/dev/stdout", "--url", "http://h.example/"),
    ("audit", "site/a.html", "-o", "/dev/stdout", "--format", "jsonl", "--url", "http://h.example/"),
]


@NO_DESCRIPTORS
@pytest.mark.parametrize("command", TO_DESCRIPTOR, ids=" ".join)
def test_the_standard_output_by_another_name_is_written_and_not_replaced(site: Path, command: tuple[str, ...]) -> None:
    Path("link").symlink_to("/dev/stdout")
    with Path("out").open("ab" if command[0] == "links" else "wb") as out:
        out.write(b"before")
        out.flush()
        done = subprocess.run([sys.executable, "-m", "absolve", *command], stdout=out, stderr=subprocess.PIPE, check=False)
        assert (b"Traceback" in done.stderr, b"unwritable" in done.stderr) == (False, False)
        assert os.fstat(out.fileno()).st_ino == Path("out").stat().st_ino
    assert Path("out").read_bytes().startswith(b"before")
    assert len(Path("out").read_bytes()) > len(b"before")
    assert files(site) == ["a.html", "z.html"]


def test_a_run_whose_output_is_a_file_needs_no_standard_output(site: Path) -> None:
    argv = [sys.executable, "-m", "absolve", "links", str(site), "-o", "links.csv", URL]
    program = "import os, sys; os.close(1); os.execv(sys.executable, sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", program, *argv], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert Path("links.csv").read_bytes().startswith(b"document,")


@pytest.mark.parametrize("command", [
    ("rewrite", "-o", "site/to"), ("rewrite", "-o", "site/to/out"), ("rewrite", "-o", "out", "--log", "site/to/log.csv"),
    *((name, "-o", out) for name in ("links", "documents") for out in ("site/to/links.csv", "site/l.csv", "site/l.sqlite")),
    ("mirror", "-o", "site/to/m"), ("mirror", "-o", "site/to/m.zip"), ("mirror", "-o", "m", "--missing", "site/to/missing"),
    ("audit", "-o", "site/to/x.csv"), ("audit", "--write-map", "site/to/m.csv"),
], ids=" ".join)
def test_no_output_passes_a_link_that_leads_out_of_an_input_folder(absolve: Runner, command: tuple[str, ...], site: Path) -> None:
    Path("elsewhere").mkdir()
    (site / "to").symlink_to(Path("elsewhere").resolve())
    for name in ("l.csv", "l.sqlite"):
        (site / name).symlink_to(Path("elsewhere/l").resolve())
    done = absolve(command[0], "site", *command[1:], URL)
    assert done.status == 2
    assert "is behind a symbolic link in the input site" in done.err or "is inside the input site" in done.err
    assert not list(Path("elsewhere").iterdir())


@pytest.mark.parametrize("command", ["links", "documents"])
def test_no_output_replaces_a_document_of_the_input_folder(absolve: Runner, command: str, site: Path) -> None:
    (site / "links.html").write_bytes(LINK)
    done = absolve(command, str(site), "-o", "site/links.html", URL)
    assert (done.status, "error: usage: the output site/links.html is a document in the input" in done.err) == (2, True)
    assert (site / "links.html").read_bytes() == LINK
    for _ in range(2):  # a list is no document, and one that is excluded is no input
        assert absolve(command, str(site), "-o", "site/links.csv", URL).status == 0
        assert absolve(command, str(site), "--exclude", "links.html", "-o", "site/links.html", URL).status == 0
    assert b"<table>" in (site / "links.html").read_bytes()


def test_a_pipe_in_the_place_of_a_table_of_an_audit_is_written_and_not_replaced(absolve: Runner, site: Path) -> None:
    """No device of the system here: run by root, a fault would replace it."""
    os.mkfifo("audit.links.csv")
    reader = os.open("audit.links.csv", os.O_RDWR | os.O_NONBLOCK)  # so that the writer waits for nobody
    try:
        absolve("audit", site, "-o", "audit.csv", "--url", "http://h.example/")
        assert Path("audit.links.csv").is_fifo()
        assert os.read(reader, 65_536).startswith(b"document,")
    finally:
        os.close(reader)
    assert Path("audit.pages.csv").is_file()


READERS = [
    ("mirror", "d", "-o", "made"), ("mirror", "d/t.html", "-o", "made.html"), ("mirror", "d/t.html", "-o", "made.zip"), ("check", "d/t.html"), ("check", "d"),
    ("rewrite", "d/t.html", "-o", "made"), ("rewrite", "d", "-o", "made"), ("links", "d/t.html", "-o", "made.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "arguments"), [
    *(("t_files", arguments) for arguments in READERS),
    *((link, arguments) for link in ("t_files/inner", "t_files/secret.txt") for arguments in READERS if arguments[0] != "check"),
], ids=str)
def test_the_folder_of_a_page_brings_in_no_file_that_a_link_leads_to_from_outside(
    absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], link: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    (tmp_path / "private/secret.txt").write_text("SECRET")
    (tmp_path / "d" / link).parent.mkdir(parents=True)
    (tmp_path / "d" / link).symlink_to(tmp_path / "private" / ("secret.txt" if link.endswith("txt") else ""))
    page = '<!-- saved from url=(0019)http://h.example/p/t --><img src="t_files/secret.txt"><img src="t_files/inner/secret.txt">'
    (tmp_path / "d/t.html").write_text(page)
    done = absolve(*arguments)
    assert f"d/{link}: outside: skipped: a symbolic link to a target outside the folder" in done.err
    made = [path.read_bytes() for path in tmp_path.glob("made*/**/*") if path.is_file()]
    made += [path.read_bytes() for path in tmp_path.glob("made*") if path.is_file()]
    assert not any(text in data for text in (b"SECRET", b"U0VDUkVU") for data in made)


def test_a_link_of_a_page_that_stays_in_its_folder_is_followed(absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d/parts").mkdir(parents=True)
    (tmp_path / "d/parts/a.txt").write_text("inside")
    (tmp_path / "d/t_files").symlink_to("parts")
    (tmp_path / "d/t.html").write_text('<!-- saved from url=(0017)http://h.example/p --><a href="t_files/a.txt">')
    assert absolve("mirror", "d/t.html", "-o", "made").status == 0
    assert (tmp_path / "made/h.example/t_files/a.txt").read_text() == "inside"


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("command", [("links", "site"), ("rewrite", "site", "-o", "out"), ("mirror", "site", "-o", "m")])
def test_a_file_that_becomes_a_link_out_of_the_folder_after_it_was_found_is_not_read(
    absolve: Runner, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    Path("secret.html").write_text("<a href=SECRET>")
    real = inputs.named

    def exchanged(*arguments: object, **options: object) -> Iterator[object]:
        for found in [*real(*arguments, **options)]:  # type: ignore[arg-type]
            Path(found.name).unlink()
            Path(found.name).symlink_to(Path("secret.html").absolute())
            yield found

    monkeypatch.setattr(inputs, "named", exchanged)
    done = absolve(*command)
    assert (done.status, done.err.count(": outside: ")) == (3, 2)
    assert "SECRET" not in repr(done) + repr([path.read_bytes() for path in Path().glob("[om]*/**/*.html")])


def test_rules_come_from_a_pipe_and_one_that_nobody_writes_is_refused(absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "PATIENCE", 0.1)
    os.mkfifo("pipe")
    arguments = ("rewrite", site / "a.html", "--url=http://h/", "--remap", "@pipe")
    done = absolve(*arguments)
    assert (done.status, "pipe: unreadable: no program writes to this pipe (0.1 s)" in done.err) == (2, True)
    for text in ("http://h/,http://new/\n", "http://h/,http://new/\r\n"):
        writer = threading.Thread(target=Path("pipe").write_text, args=[text])
        monkeypatch.setattr(sources, "PATIENCE", 30)
        writer.start()
        assert absolve(*arguments).out == b"<a href=http://new/x.html>"
        writer.join()
    writer = threading.Thread(target=Path("pipe").write_text, args=["http://h/,http://new/\n"])
    writer.start()
    assert absolve("rewrite", site, "--url=http://h/", "--remap", "@pipe", "-o", "out").status == 0
    assert Path("out/a.html").read_bytes() == b"<a href=http://new/x.html>"


@pytest.mark.parametrize("command", [
    "rewrite a.html --remap @{}", "rewrite a.html --url-map {}", "links --from {}", "links http://127.0.0.1:9/ --cookies {}",
    "rewrite a.html --config {}", "verify a.html a.html --remap @{}", "check a.html --ignore @{}", "audit a.html --map {}", "audit a.html --answers {}",
])
def test_a_pipe_without_a_writer_and_a_file_without_end_are_refused_wherever_an_option_names_them(
    absolve: Runner, site: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(sources, "PATIENCE", 0.1)
    monkeypatch.setattr(sources, "LARGEST", 1000)
    monkeypatch.chdir(site)
    os.mkfifo("pipe")
    done = absolve(*command.format("pipe").split())
    assert (done.status in {2, 3}, "no program writes to this pipe (0.1 s)" in done.err) == (True, True)
    cases = {"/dev/zero": "this file has more than 1,000 bytes"}
    if "--from" in command:
        monkeypatch.setattr(sources, "LARGEST", 1_900_000)
        Path("line").write_bytes(b"x" * 1_500_000)
        Path("list").write_bytes(b"\0" * 2_000_000)
        cases = {"/dev/zero": "a device is no list", "line": "a line of this list has more than 1,048,576 bytes", "list": "has more than 1,900,000 bytes"}
    for name, words in cases.items():
        done = absolve(*command.format(name).split())
        assert (done.status in {2, 3}, words in done.err) == (True, True)


TAR = b"p.html" + bytes(251) + b"ustar\0\0\0"
# What is given and not read: its bytes, the code, and whether it is a failure if nothing else is given.
UNREAD = {
    "e.zip": (zipped({}), "no-input", False), "e.docx": (zipped({}), "no-input", False), "e.wacz": (zipped({"datapackage.json": b"{}"}), "no-input", False),
    "e.har": (b'{"log": {"version": "1.2", "entries": []}}', "no-input", False),
    "e.warc": (b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n", "no-input", False),
    "p.html.gz": (gzip.compress(LINK), "unread-compressed", True), "b.html.gz": (b"\x1f\x8b\b\0", "unread-compressed", True),
    "z.html": (bz2.compress(LINK), "unread-compressed", True), "cut.html": (gzip.compress(LINK)[:-9], "truncated", True),
    "t.html": (TAR, "unread-compressed", True), "t.zip": (zipped({"x.tar": TAR}), "no-input", False),
    "p.zip": (zipped({"p.html.gz": gzip.compress(LINK)}), "unread-compressed", True),
    "q.zip": (zipped({"z.html": bz2.compress(LINK)}), "unread-compressed", True),
    "x.tar": (TAR, "unknown-media-type", True), "x.pdf": (b"%PDF-1.7\0", "unknown-media-type", True),
}
WITHOUT_LINKS = {"a.png": b"\x89PNG\r\n\x1a\n\0\0", "a.js": b"f()"}


@pytest.mark.parametrize("command", ["links {} --fail-on any", "documents {}", "rewrite {} -o out/", "base {} -f json", "mirror {} -o out", "check {}"])
def test_what_is_given_and_not_read_is_named_and_fails_beside_others(absolve: Runner, site: Path, command: str) -> None:
    for name, data in (WITHOUT_LINKS | {name: data for name, (data, *_) in UNREAD.items()}).items():
        Path(name).write_bytes(data)
    words = command.split()
    # What is refused, a file of the site, named by its URL, or listed.
    other = {"check": ("x.tar", "t.zip"), "mirror": ("e.wacz", "t.zip", "q.zip"), "documents": ("t.zip",)}
    given = [name for name in UNREAD if name not in other.get(words[0], ())]
    done = absolve(words[0], site / "a.html", *WITHOUT_LINKS, *given, *words[2:], "--url=http://h/")
    assert (done.status, "no findings" in done.err) == (3, False)
    for name in given:
        level = "warning" if words[0] == "base" and UNREAD[name][1] == "no-input" else "error"  # of one input at a time
        assert len(re.findall(rf"{level}: {name}(?::1:1)?: {UNREAD[name][1]}: ", done.err)) in {1, 2}  # many are repeated at the end
    assert not any(f"error: {name}" in done.err for name in WITHOUT_LINKS)
    assert absolve(words[0], site / "a.html", *WITHOUT_LINKS, *words[2:], "--url=http://h/").status in {0, 1}
    for name in given if words[0] in {"links", "base"} else ():
        alone = absolve(words[0], name, *words[2:], "--url=http://h/")
        assert (alone.status, f": {UNREAD[name][1]}: " in alone.err) == (3 if UNREAD[name][2] else 0, True)


@pytest.mark.parametrize("command", ["links site", "documents site", "rewrite site -o out", "mirror site -o out", "check site"])
def test_a_compressed_page_in_a_folder_is_read_beside_its_page_alone(absolve: Runner, site: Path, command: str) -> None:
    (site / "a.html.gz").write_bytes(gzip.compress(LINK))
    assert absolve(*command.split(), "--url=http://h/").status in {0, 1}
    twins = {f"{name}{end}": gzip.compress(data) if end else data for name, data in {"a.html": LINK, "a.js": b"f()"}.items() for end in ("", ".gz")}
    (site.parent / "twins.zip").write_bytes(zipped(twins))
    assert absolve(*command.replace("site", "twins.zip").split(), "--url=http://h/").status in {0, 1}
    (site / "b.html.gz").write_bytes(gzip.compress(LINK))
    done = absolve(*command.split(), "--url=http://h/")
    assert (done.status, done.err.count("error: site/b.html.gz: unread-compressed: ")) == (3, 1)
    if not command.startswith("mirror"):  # where it is about captured documents
        assert absolve(*command.split(), "--url=http://h/", "--exclude", "b*").status in {0, 1}


def test_an_empty_folder_beside_another_input_is_a_failure_unless_globs_choose(absolve: Runner, site: Path) -> None:
    Path("empty").mkdir()
    for command in (["links"], ["documents"], ["rewrite", "-o", "out"], ["mirror", "-o", "made"], ["check"]):
        done = absolve(command[0], site, "empty", *command[1:], "--url=http://h/")
        assert (done.status, done.err.count("error: empty: no-input: it holds no input")) == (3, 1)
    done = absolve("links", site, "empty", "--include", "*.html", "--url=http://h/")
    assert (done.status, "warning: empty: no-input: no file in it is selected by --include '*.html'" in done.err) == (0, True)
