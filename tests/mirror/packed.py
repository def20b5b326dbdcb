"""Small captures for tests, as bytes: HAR, MHTML, ZIP, EPUB; and a mirror of one, as a dictionary."""

from __future__ import annotations

import io
import json
import zipfile
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from absolve.cli import main

if TYPE_CHECKING:
    from pathlib import Path

OWN = {"index.html", "mirror.html", "mirror.sqlite"}


def entry(url: str, content: str | bytes | None, media_type: str = "text/html", **more: Any) -> dict[str, Any]:
    """Return an entry of a HAR. Bytes are in base64. `more`: status, method, location, date, size."""
    body: dict[str, Any] = {"mimeType": media_type, "size": more.get("size", 1)}
    if isinstance(content, bytes):
        body |= {"text": b64encode(content).decode(), "encoding": "base64"}
    elif content is not None:
        body["text"] = content
    headers = [{"name": "Location", "value": more["location"]}] if "location" in more else []
    return {
        "startedDateTime": more.get("date", "2024-05-01T00:00:00Z"),
        "request": {"method": more.get("method", "GET"), "url": url},
        "response": {"status": more.get("status", 200), "headers": headers, "content": body},
    }


def har(*entries: Any) -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()


def mhtml(*parts: tuple[str, str, bytes], subject: str = "x") -> bytes:
    """Return MHTML. A part is its header fields but for the type, one a line, its media type and its content."""
    head = (
        f"From: <Saved by Blink>\r\nSubject: {subject}\r\nDate: Wed, 1 May 2024 00:00:00 -0000\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/related; type="text/html"; boundary="b0"\r\n\r\n'
    ).encode()
    body = b""
    for fields, media_type, content in parts:
        lines = "".join(f"{field}\r\n" for field in fields.splitlines())
        body += f"--b0\r\nContent-Type: {media_type}\r\n{lines}\r\n".encode() + content + b"\r\n"
    return head + body + b"--b0--\r\n"


def zipped(files: dict[str, bytes], *, stored: bool = False) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 0, 0, 0)), data, package.compression)
    return found.getvalue()


CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/p.opf" '
    b'media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def epub(items: dict[str, tuple[str, bytes]]) -> bytes:
    """Return an EPUB with these files below OPS, each with its media type in the manifest."""
    manifest = "".join(
        f'<item id="i{number}" href="{name}" media-type="{media_type}"/>'
        for number, (name, (media_type, _)) in enumerate(items.items())
    )
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{manifest}</manifest></package>'
    files = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER, "OPS/p.opf": package.encode()}
    return zipped(files | {f"OPS/{name}": data for name, (_, data) in items.items()}, stored=True)


def tree(root: Path) -> dict[str, bytes]:
    """Return the documents of a mirror: its files but its own."""
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {path: data for path, data in sorted(found.items()) if path not in OWN}


def mirrored(folder: Path, name: str, data: bytes, *more: str) -> tuple[int, dict[str, bytes]]:
    """Return the exit status and the documents of the mirror of one capture."""
    if not (folder / name).is_file() or (folder / name).read_bytes() != data:  # its time belongs to a run
        (folder / name).write_bytes(data)
    code = main(["mirror", str(folder / name), "-o", str(folder / "m"), "-q", "-j", "1", *more])
    return code, tree(folder / "m") if (folder / "m").is_dir() else {}
