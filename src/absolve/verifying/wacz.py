"""The second witness of what a WACZ says of its files: json, hashlib and zlib see it say the same, and be right.

What was wrong before may stay so.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[str], bytes]

_MOVING = {"offset", "length", "digest", "recordDigest"}
_RECORD_ID = re.compile(rb"(?im)^WARC-Record-ID:[^\n]*|^[a-z]+://[^\n]* [0-9]{14} ")
_LOOKED_AT = 1 << 16


def fault(name: str, old: Read, new: Read) -> str | None:
    """What is wrong with a file of a package that is about others; None for nothing. ValueError where it is unknown."""
    old, new = cache(old), cache(new)
    if name == "datapackage.json":
        return _description(json.loads(old(name)), json.loads(new(name)), old, new)
    if name == "datapackage-digest.json":
        one, other = json.loads(old(name)), json.loads(new(name))
        return _description({"resources": [one]}, {"resources": [other]}, old, new)
    if name.startswith("indexes/"):
        return _index(name, old, new)
    raise ValueError(f"{name} is about no others")


def _description(old: Any, new: Any, read: Read, read_new: Read) -> str | None:
    """Two descriptions are equal but for digests and sizes, and these are right."""
    for resource, its in zip(old.get("resources", []), new.get("resources", []), strict=True):
        for said, now in ((resource, its), (resource.get("stats", {}), its.get("stats", {}))):
            path = resource.get("path")
            for key in {"hash", "bytes"} & said.keys() & now.keys():
                was, value = said[key], now.pop(key)
                was_right = _says(said.pop(key), path, read)
                if not (_says(value, path, read_new) if was_right else was == value):
                    return f"the {key} of {path} is wrong"
    return None if old == new else "it says something else"


def _says(value: Any, path: Any, read: Read) -> bool:
    """Whether this is the size or digest of a file."""
    try:
        content = read(path)
    except KeyError:
        return False
    if isinstance(value, int):
        return value == len(content)
    label, _, digest = str(value).rpartition(":")
    return any(hashlib.new(name, content).hexdigest() == digest for name in ([label] if label else ["sha256", "md5"]))


def _index(name: str, old: Read, new: Read) -> str | None:
    """Two indexes have the same entries, and each leads to the record or block that it led to."""
    lines, changed = _lines(name, old(name)), _lines(name, new(name))
    if len(lines) != len(changed):
        return f"it has {len(lines)} entries here, {len(changed)} after"
    about = name.removesuffix(".idx") + ".cdx.gz"
    for line, its in zip(lines, changed, strict=True):
        key, _, text = line.partition("{")
        its_key, _, its_text = its.partition("{")
        entry, now = (json.loads(f"{{{rest}") if rest else {} for rest in (text, its_text))
        steady, its_steady = ({word: said for word, said in one.items() if word not in _MOVING} for one in (entry, now))
        if key != its_key or steady != its_steady:
            return f"another entry: {line[:80]!r} here, {its[:80]!r} after"
        about = str(entry.get("filename") or about)
        if "offset" in entry and _leads(entry, old, about) not in {None, _leads(now, new, about)}:
            return f"the entry {key[:80]!r} leads elsewhere"
    return None


def _lines(name: str, data: bytes) -> list[str]:
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8", "replace").splitlines()


def _leads(entry: Any, read: Read, about: str) -> tuple[bytes, bool] | None:
    """What begins where an entry says, and whether its digest is that of the bytes; None where nothing does."""
    raw = next(_found(read, about), b"")[int(entry["offset"]) :][: int(entry["length"])]
    value = raw[:_LOOKED_AT]
    if raw.startswith(b"\x1f\x8b"):
        machine = zlib.decompressobj(31)
        value = machine.decompress(raw)
        if not machine.eof:
            return None
    record = _RECORD_ID.search(value)
    digest = str(entry.get("recordDigest") or "").rpartition(":")[2]
    is_right = digest == hashlib.sha256(raw).hexdigest()
    return (record[0] if record else value.partition(b"{")[0], is_right) if value else None


def _found(read: Read, name: str) -> Iterator[bytes]:
    for folder in ("archive/", "indexes/", ""):
        try:
            yield read(folder + name)
        except KeyError:
            continue
