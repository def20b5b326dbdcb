"""Small captures, as bytes: records of WARC, entries of HAR, parts of MHTML, and packages."""

import io
import json
import zipfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATE = "2024-05-01T00:00:00Z"
CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/p.opf" '
    b'media-type="application/oebps-package+xml"/></rootfiles></container>'
)


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


def page(url: str, body: bytes = b"", media_type: str | None = "text/html", *, status: int = 200, date: str | None = DATE, **fields: str) -> bytes:
    """Return a WARC record of type response; `fields` are those of HTTP."""
    return record("response", url, block(body, media_type, status, **fields), date)


def resource(url: str | None, data: bytes, media_type: str | None = "text/html", charset: str = "UTF-8") -> dict[str, Any]:
    """Return a resource of a web archive, as WebKit writes it."""
    found = {"WebResourceData": data, "WebResourceFrameName": "", "WebResourceURL": url, "WebResourceMIMEType": media_type}
    found |= {"WebResourceTextEncodingName": charset} if (media_type or "text/").startswith("text/") else {}
    return {name: value for name, value in found.items() if value is not None}


def web_archive(main: dict[str, Any], *others: dict[str, Any], frames: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Return a web archive, or that of a frame, as a property list."""
    found: dict[str, Any] = {"WebMainResource": main}
    found |= {"WebSubresources": [*others]} if others else {}
    return found | ({"WebSubframeArchives": [*frames]} if frames else {})


def rdf(url: str, index: str = "index.html", charset: str = "UTF-8") -> bytes:
    """Return the `index.rdf` of a page in a MAFF file."""
    fields = {"originalurl": url, "title": "A & B", "indexfilename": index, "charset": charset}
    lines = "".join(f'<MAF:{name} RDF:resource="{value}"/>\n' for name, value in fields.items())
    head = '<RDF:RDF xmlns:MAF="http://maf.mozdev.org/metadata/rdf#" xmlns:RDF="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    return f'<?xml version="1.0"?>{head}<RDF:Description RDF:about="urn:root">{lines}</RDF:Description></RDF:RDF>'.encode()


def har(*entries: Any, **options: Any) -> bytes:
    """Return a HAR of entries; `options` are those of `json.dumps`."""
    return json.dumps({"log": {"version": "1.2", "pages": [{"title": "x"}], "entries": entries}}, **options).encode()


def entry(url: str, content: str | bytes | None, media_type: str = "text/html", **more: Any) -> dict[str, Any]:
    """Return an entry of a HAR. Bytes are in base64. `more`: status, method, location, date, size."""
    body: dict[str, Any] = {"mimeType": media_type, "size": more.get("size", 1)}
    if isinstance(content, bytes):
        body |= {"text": b64encode(content).decode(), "encoding": "base64"}
    elif content is not None:
        body["text"] = content
    headers = [{"name": "Location", "value": more["location"]}] if "location" in more else []
    return {
        "startedDateTime": more.get("date", DATE), "request": {"method": more.get("method", "GET"), "url": url},
        "response": {"status": more.get("status", 200), "headers": headers, "content": body},
    }


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


def zipped(files: Mapping[str, bytes | str], *, stored: bool = False) -> bytes:
    """Return a ZIP file of files by path, in their order."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 0, 0, 0)), data, package.compression)
    return found.getvalue()


def epub(items: dict[str, tuple[str, bytes]]) -> bytes:
    """Return an EPUB with these files below OPS, each with its media type in the manifest."""
    manifest = "".join(
        f'<item id="i{number}" href="{name}" media-type="{media_type}"/>'
        for number, (name, (media_type, _)) in enumerate(items.items())
    )
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{manifest}</manifest></package>'
    files = {"mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER, "OPS/p.opf": package.encode()}
    return zipped(files | {f"OPS/{name}": data for name, (_, data) in items.items()}, stored=True)


def files_below(root: Path) -> dict[str, bytes]:
    """Return the bytes of each file below a folder, by its path, in the order of the paths."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def written(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files into a folder by their paths, with the folders between, and return it."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return root
