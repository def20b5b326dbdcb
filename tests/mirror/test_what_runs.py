"""The judge of mirrors: whatever runs in a mirror ran on the web, by Chromium, for hostile responses of every kind.

Each response is served with its header fields, and mirrored as a WARC, a HAR, a folder and a ZIP. Each is opened on the
web, in the mirror from its file, and in the mirror by --serve. A folder has no header fields: what runs from its own
files, or ran on the web, or would run from a static server, may run in its mirror; and the content of a file decides
where its name has no ending.
"""

import mimetypes
import re
import sqlite3
from base64 import b64encode
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import pytest

from absolve.cli import main
from tests.browser_online import Online, Tab, served
from tests.shapes.active import HOST, KINDS, SHAPES, Response, Shape
from tests.shapes.captures import har, record, zipped

Shapes = dict[int, "Shape"]
SAMPLE: Final = dict(list(enumerate(SHAPES))[3::61])  # of every kind some, for the default run
TYPES: Final = mimetypes.MimeTypes()  # without those of the system
CONTAINERS: Final = ("warc", "har", "folder", "zip")


def url_of(number: int, response: Response) -> str:
    return f"http://{HOST}/{number}/{response.name}"


def of_warc(number: int, response: Response) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in response.fields)
    return record("response", url_of(number, response), f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + response.body)


def of_har(number: int, response: Response) -> dict[str, Any]:
    fields = [{"name": name, "value": value} for name, value in response.fields]
    kind = next((value for name, value in response.fields if name == "Content-Type"), "")
    content = {"size": 1, "mimeType": kind, "text": b64encode(response.body).decode(), "encoding": "base64"}
    return {
        "startedDateTime": "2024-05-01T00:00:00Z", "request": {"method": "GET", "url": url_of(number, response)},
        "response": {"status": 200, "headers": fields, "redirectURL": "", "content": content},
    }


def _is_file(response: Response) -> bool:
    """Return whether a response may lie in a folder as a file.

    An MHTML there is a capture itself, of a page that ran. Programs and queries have names there that savers gave pages.
    """
    return response.name[-1] != "/" and not response.body.startswith(b"From: ") and not _OF_SAVERS.search(response.name)


_OF_SAVERS: Final = re.compile(r"\.php$|\.html[?% ]")


def captured(folder: Path, container: str, shapes: Shapes) -> Path:
    """Write a capture of the shapes."""
    each = [(number, response) for number, shape in shapes.items() for response in shape.responses]
    files = {f"{number}/{response.name}": response.body for number, response in each if _is_file(response)}
    path = folder / f"c.{container}"
    if container == "folder":
        for name, body in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(body)
    elif container == "warc":
        path.write_bytes(b"".join(of_warc(*one) for one in each))
    else:
        path.write_bytes(har(*(of_har(*one) for one in each)) if container == "har" else zipped(files))
    return path


class Made(NamedTuple):
    """The mirror of one shape: the path that is opened, and all that may decide what runs of it."""

    path: str
    facts: tuple[Any, ...]


def mirrored(capture: Path, root: Path, shapes: Shapes) -> dict[int, Made]:
    assert main(["mirror", str(capture), "-o", str(root), "-q", "-j", "1"]) in {0, 3}
    with closing(sqlite3.connect(root / "mirror.sqlite")) as db:
        rows = db.execute("SELECT url, path, media_type FROM resources WHERE path IS NOT NULL ORDER BY url").fetchall()
    found: dict[int, list[tuple[str, str, bytes]]] = {number: [] for number in shapes}
    for _, path, media_type in rows:
        of = re.search(r"(?:^|/)([0-9]+)/", path)
        assert of is not None, path
        found[int(of[1])].append((path, media_type, (root / path).read_bytes()))
    made = {}
    for number, files in found.items():
        for path, media_type, _ in files:
            name = path.rpartition("/")[2]
            if len(shapes[number].responses) == 1 or name.startswith("p.html"):
                facts = tuple((one[0].rpartition("/")[2], one[1], one[2]) for one in files)
                made[number] = Made(path, (number, name, media_type, *facts))
    return made


class Judge:
    """Opens each shape, and keeps the result for mirrors that have the same file."""

    def __init__(self, online: Online, shapes: Shapes) -> None:
        self._tab = Tab(online.chromium)
        self._known: dict[Any, bool] = {}
        self._web = online.web
        online.web.responses = {(HOST, f"/{number}/{response.name}"): response for number, shape in shapes.items() for response in shape.responses}

    def ran(self, number: int, url: str, facts: Any) -> bool:
        if facts not in self._known:
            self._tab.ran.clear()
            self._tab.open(url)
            assert self._tab.ran <= {str(number)}
            self._known[facts] = bool(self._tab.ran)
        return self._known[facts]

    def web(self, shapes: Shapes) -> set[int]:
        return {n for n, shape in shapes.items() if self.ran(n, url_of(n, shape.responses[0]), ("web", n))}

    def originals(self, folder: Path, shapes: Shapes) -> set[int]:
        """Return what runs of the files in a folder, opened as they are and from a static server."""
        found = set()
        for number, shape in shapes.items():
            name = shape.responses[0].name
            kind = TYPES.guess_type(name)[0] or "application/octet-stream"
            fields = (("Content-Type", kind), ("X-Content-Type-Options", "nosniff"))
            target = f"/{number}/static"
            self._web.responses[HOST, target] = shape.responses[0]._replace(fields=fields)
            ways = ((folder / str(number) / name).as_uri(), f"http://{HOST}{target}")
            if "." not in name or any(self.ran(number, url, (number, url)) for url in ways):
                found.add(number)
        return found

    def mirror(self, made: dict[int, Made], way: str, start: str) -> set[int]:
        return {n for n, one in made.items() if self.ran(n, start + quote(one.path), (way, *one.facts))}


def judged(online: Online, folder: Path, shapes: Shapes, containers: Iterable[str]) -> dict[str, list[str]]:
    """Return what ran in a mirror only, by container and way."""
    judge = Judge(online, shapes)
    web = judge.web(shapes)
    only: dict[str, list[str]] = {}
    everywhere: set[int] = set()
    for container in containers:
        capture, root = captured(folder, container, shapes), folder / f"m-{container}"
        made = mirrored(capture, root, shapes)
        if container in {"warc", "har"}:
            assert made.keys() == shapes.keys()
        allowed = set(web)
        if container in {"folder", "zip"}:
            allowed |= judge.originals(captured(folder, "folder", shapes), shapes)
        with served(root) as port:
            ran = {"file": judge.mirror(made, "file", f"{root.as_uri()}/"), "serve": judge.mirror(made, "serve", f"http://localhost:{port}/")}
        for way, numbers in ran.items():
            only[f"{container} {way}"] = [shapes[number].what for number in sorted(numbers - allowed)]
            everywhere |= numbers
    assert web & everywhere, "the judge sees nothing"
    print("ran on the web, and in no mirror:", [shapes[number].what for number in sorted(web - everywhere)])
    return only


def told(only: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}: {len(whats)} ran only in the mirror: {'; '.join(whats)}" for name, whats in only.items())


def test_a_mirror_of_a_sample_runs_nothing_that_the_web_did_not(online: Online, tmp_path: Path) -> None:
    only = judged(online, tmp_path, SAMPLE, ["warc"])
    assert not any(only.values()), told(only)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_mirror_of_any_capture_runs_nothing_that_the_web_did_not(online: Online, tmp_path: Path, kind: str) -> None:
    shapes = {number: shape for number, shape in enumerate(SHAPES) if shape.kind == kind}
    only = judged(online, tmp_path, shapes, CONTAINERS)
    assert not any(only.values()), told(only)


def test_the_shapes_are_many() -> None:
    assert len({shape.what for shape in SHAPES}) >= 700
