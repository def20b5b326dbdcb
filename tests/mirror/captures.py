"""Make small captures: the bytes of WARC, HAR, MHTML, EPUB and ZIP files from a few arguments."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DATE = "2024-05-01T00:00:00Z"
CONTAINER = b"""<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def block(body: bytes = b"", media_type: str | None = "text/html", status: int = 200, **fields: str) -> bytes:
    """Return an HTTP response; the name of a field has `_` for `-`."""
    field = f"Content-Type: {media_type}\r\n" if media_type is not None else ""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{field}{more}\r\n".encode() + body


def record(kind: str, url: str | None, content: bytes, date: str | None = DATE, **fields: str) -> bytes:
    """Return a WARC record; the name of a field has `_` for `-`, and no `WARC-` before it."""
    head = {"WARC-Type": kind, "WARC-Date": date, "WARC-Target-URI": url}
    head |= {f"WARC-{name.replace('_', '-')}": value for name, value in fields.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items() if value is not None)
    return f"WARC/1.0\r\n{lines}Content-Length: {len(content)}\r\n\r\n".encode() + content + b"\r\n\r\n"


def page(
    url: str,
    body: bytes = b"",
    media_type: str | None = "text/html",
    *,
    status: int = 200,
    date: str | None = DATE,
    **fields: str,
) -> bytes:
    """Return a WARC record of type response; `fields` are those of HTTP."""
    return record("response", url, block(body, media_type, status, **fields), date)


def redirect(url: str, to: str, *, status: int = 302, date: str | None = DATE) -> bytes:
    """Return a WARC record of a redirect."""
    return page(url, b"", status=status, date=date, Location=to)


def har(*entries: Mapping[str, Any]) -> bytes:
    """Return a HAR file of entries."""
    return json.dumps({"log": {"version": "1.2", "entries": list(entries)}}).encode()


def entry(url: str, text: str | bytes = "", media_type: str = "text/html", *, status: int = 200, method: str = "GET") -> dict[str, Any]:
    """Return an entry of a HAR file; the text of bytes is base64."""
    content: dict[str, Any] = {"size": len(text), "mimeType": media_type}
    if isinstance(text, bytes):
        content |= {"text": base64.b64encode(text).decode(), "encoding": "base64"}
    else:
        content["text"] = text
    return {
        "startedDateTime": DATE,
        "request": {"method": method, "url": url},
        "response": {"status": status, "headers": [], "redirectURL": "", "content": content},
    }


def part(content: bytes, media_type: str = "text/html", location: str | None = None, identity: str | None = None) -> bytes:
    """Return a part of an MHTML file."""
    head = f"Content-Type: {media_type}\r\nContent-Transfer-Encoding: base64\r\n"
    head += f"Content-Location: {location}\r\n" if location is not None else ""
    head += f"Content-ID: <{identity}>\r\n" if identity is not None else ""
    return head.encode() + b"\r\n" + base64.encodebytes(content)


def mhtml(*parts: bytes, date: str = "Wed, 01 May 2024 00:00:00 +0000", fields: str = "") -> bytes:
    """Return an MHTML file of parts; `fields` are further lines of its header, each with its CRLF."""
    head = f"From: x\r\nMIME-Version: 1.0\r\nDate: {date}\r\n{fields}"
    head += 'Content-Type: multipart/related; boundary="b"; type="text/html"\r\n\r\n'
    return head.encode() + b"".join(b"--b\r\n" + one + b"\r\n" for one in parts) + b"--b--\r\n"


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP file of files by path."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return out.getvalue()


def epub(chapters: Mapping[str, bytes]) -> bytes:
    """Return an EPUB of XHTML chapters by path."""
    items = "".join(f'<item id="c{i}" href="{name}" media-type="application/xhtml+xml"/>' for i, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{i}"/>' for i in range(len(chapters)))
    book = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f"<metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    fixed = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER, "book.opf": book.encode()}
    return packed(fixed | dict(chapters))


def tree(root: Path) -> dict[str, bytes]:
    """Return the bytes of each file below a folder by its path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
