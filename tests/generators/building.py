"""Builds one small site with each generator of generators.toml, at the root of a host or in a folder of it.

Packages are installed once, into a folder of $ABSOLVE_GENERATORS (default: build/generators) for each generator, and so is what
was built from the same sources.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path
from struct import pack
from typing import Any

CACHE = Path(os.environ.get("ABSOLVE_GENERATORS") or Path(__file__).parents[2] / "build/generators").absolute()
TABLE: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "generators.toml").read_text("utf-8"))
CONTENT: dict[str, str] = TABLE.pop("content")
HOST = "https://example.org"
QUIET = {
    "ASTRO_TELEMETRY_DISABLED": "1", "DISABLE_VERSION_CHECK": "1", "DO_NOT_TRACK": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONWARNINGS": "ignore", "TZ": "UTC",
}  # fmt: skip
FORMS = {
    "md": {"title": "# {text}", "heading": "## {text}", "page": "[{text}]({up}{source}.md)", "place": "[{text}]({up}{source}.md#{id})",
           "file": "[{text}]({up}{file})", "picture": "![{text}]({up}{file})"},
    "rst": {"title": "{text}\n{double}", "heading": ".. _{id}:\n\n{text}\n{line}", "page": ":doc:`{text} </{source}>`", "place": ":ref:`{text} <{id}>`",
            "file": ":download:`{text} <{up}{file}>`", "picture": ".. image:: {up}{file}\n   :alt: {text}"},
    "adoc": {"title": "= {text}", "heading": "[#{id}]\n== {text}", "page": "xref:{up}{source}.adoc[{text}]", "place": "xref:{up}{source}.adoc#{id}[{text}]",
             "file": "link:{up}{file}[{text}]", "picture": "image::{up}{file}[{text}]"},
}  # fmt: skip


class CannotBuildError(Exception):
    """A package is missing, or a command failed."""


def picture() -> bytes:
    """Return a PNG of a boat with a red sail, 120 by 90."""
    rows = bytearray()
    for y in range(90):
        sky, sea = b"\xcc\xe6\xff", b"\x22\x66\xaa"
        sail = max(0, 10 + y // 2) if 10 < y < 65 else 0
        hull = 40 - (y - 65) if 65 <= y < 75 else 0
        rows += b"\0" + b"".join(
            b"\xcc\x22\x22" if 60 <= x < 60 + sail else b"\x55\x33\x11" if abs(x - 60) < hull else sky if y < 75 else sea for x in range(120)
        )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    head = pack(">IIBBBBB", 120, 90, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")


ASSETS = {"boat.png": picture(), "chart.pdf": b"%PDF-1.4\n%%EOF\n", "style.css": b"body { background: #f4f8fb; }\nbody::after { content: url(boat.png); }\n"}


def written(page: str, row: dict[str, Any]) -> str:
    """Return a page in the markup of a generator."""
    markup: dict[str, str] = FORMS[row.get("form", "md")] | row.get("markup", {})
    rename: dict[str, str] = row.get("rename", {})
    added: dict[str, str] = row.get("add", {})
    up = "../" * page.count("/")

    def label(name: str) -> str:
        return "p_" + name.replace("/", "_")

    def link(found: re.Match[str]) -> str:
        text, target = found["text"], found["target"]
        to, _, place = target.partition("#")
        kind = "picture" if found["picture"] else "file" if "." in to else "place" if place else "page"
        return markup[kind].format(
            text=text, page=to, file=to, id=place, up=up, source=rename.get(to, to), url="" if to == "index" else f"{to}/", label=label(to)
        )

    def heading(found: re.Match[str]) -> str:
        text, _, place = found["text"].partition("|")
        slug = "/" if page == "index" else f"/{page}"
        kind = "heading" if len(found["level"]) > 1 else "title"
        return markup[kind].format(text=text, id=place, slug=slug, name=page.rpartition("/")[2], label=label(page), line="-" * len(text), double="=" * len(text))

    text = re.sub(r"(?m)^(?P<level>==?) (?P<text>.+)$", heading, CONTENT[page])
    return re.sub(r"(?P<picture>!!)?\[\[(?P<text>[^]|]+)\|(?P<target>[^]]+)\]\]", link, text).lstrip() + added.get(page, "")


def sources(row: dict[str, Any], base: str) -> dict[str, bytes]:
    """Return the files from which a generator builds the site at a path of the host."""
    pages, form = Path(row.get("pages", "")), row.get("form", "md")
    files = {} if "pip" in row and row["pip"].startswith("pdoc") else {
        str(pages / f"{row.get('rename', {}).get(page, page)}{row.get('ext', f'.{form}')}"): written(page, row) for page in CONTENT
    }
    files |= row.get("files", {})
    marks = {"@URL@": HOST + base, "@SITE@": (HOST + base).rstrip("/"), "@BASE@": base}
    replaced = {name: re.sub("@(URL|SITE|BASE)@", lambda found: marks[found[0]], text.lstrip("\n")).encode() for name, text in files.items()}
    assets = row.get("assets", str(pages))
    return replaced | {str(Path(folder) / name): data for folder in ([assets] if isinstance(assets, str) else assets) for name, data in ASSETS.items()}


def run(command: str, folder: Path, path: str = "") -> None:
    search = os.pathsep.join(one for one in (path, os.environ["PATH"]) if one)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | QUIET | {"PATH": search}
    bash = shutil.which("bash") or "bash"
    done = subprocess.run([bash, "-euo", "pipefail", "-O", "globstar", "-c", command], cwd=folder, env=environment, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)  # fmt: skip
    if done.returncode:
        raise CannotBuildError(f"{command.partition(chr(10))[0]}: {done.stdout[-2000:]}")


def installed(name: str) -> str:
    """Install the packages of a generator, if they are not there yet; return what goes before PATH."""
    row, folder = TABLE[name], CACHE / name
    if "apt" in row:
        program = row["apt"].split()[0]
        if shutil.which(program) is None:
            raise CannotBuildError(f"Debian's {row['apt']} is not installed")
        return ""
    wanted, mark = row.get("pip") or row["npm"], folder / "installed"
    path = str(folder / ("venv/bin" if "pip" in row else "node_modules/.bin"))
    if not mark.exists() or mark.read_text("utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if "pip" in row:
            run(f"{sys.executable} -m venv venv && venv/bin/pip install -q {wanted}", folder)
        else:
            (folder / "package.json").write_text('{"private": true}', "utf-8")
            run(f"npm install --no-audit --no-fund --loglevel=error {wanted}", folder)
        mark.write_text(wanted, "utf-8")
    return path


def built(name: str, base: str) -> Path:
    """Return the folder of the site that a generator built for a path of the host; raise CannotBuildError."""
    row = TABLE[name]
    path = installed(name)
    folder = CACHE / name / ("root" if base == "/" else "based")
    files = sources(row, base)
    command = row["command"].replace("@BASE@", base)
    digest = hashlib.sha256(json.dumps([row, {name: data.hex() for name, data in files.items()}, command]).encode()).hexdigest()
    mark = folder.with_suffix(".built")
    if not mark.exists() or mark.read_text("utf-8") != digest:
        shutil.rmtree(folder, ignore_errors=True)
        for file, data in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(data)
        run(command, folder, path)
        mark.write_text(digest, "utf-8")
    return folder / "out"
