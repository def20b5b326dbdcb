"""Second check of the indexes and descriptions of a WACZ (1.1.1), by json, hashlib and zlib.

In: the name of a file, and functions that read files of the package before and after. Out: None or the text of a fault.
Offsets, lengths, sizes and digests must be right for the new files; those that were wrong before must stay unchanged.
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
    """Return the fault of an index or description; None if it is correct. Raise ValueError for any other file."""
    old, new = cache(old), cache(new)
    if name == "datapackage.json":
        return _description(json.loads(old(name)), json.loads(new(name)), old, new)
    if name == "datapackage-digest.json":
        one, other = json.loads(old(name)), json.loads(new(name))
        return _description({"resources": [one]}, {"resources": [other]}, old, new)
    if name.startswith("indexes/"):
        return _index(name, old, new)
    raise ValueError(f"{name} is neither an index nor a description")


def _description(old: Any, new: Any, read: Read, read_new: Read) -> str | None:
    """Check that two descriptions are equal except for digests and sizes, and that these are right."""
    for resource, its in zip(old.get("resources", []), new.get("resources", []), strict=True):
        for stated, now in ((resource, its), (resource.get("stats", {}), its.get("stats", {}))):
            path = resource.get("path")
            for key in {"hash", "bytes"} & stated.keys() & now.keys():
                was, value = stated[key], now.pop(key)
                was_right = _says(stated.pop(key), path, read)
                if not (_says(value, path, read_new) if was_right else was == value):
                    return f"the {key} of {path} is wrong"
    return None if old == new else "other values of it differ"


def _says(value: Any, path: Any, read: Read) -> bool:
    """Return whether this is the size or digest of a file."""
    try:
        content = read(path)
    except KeyError:
        return False
    if isinstance(value, int):
        return value == len(content)
    label, _, digest = str(value).rpartition(":")
    return any(hashlib.new(name, content).hexdigest() == digest for name in ([label] if label else ["sha256", "md5"]))


def _index(name: str, old: Read, new: Read) -> str | None:
    """Check that two indexes have equal entries, and that each refers to the same record or block as before."""
    lines, changed = _lines(name, old(name)), _lines(name, new(name))
    if len(lines) != len(changed):
        return f"it has {len(lines)} entries before, {len(changed)} after"
    about = name.removesuffix(".idx") + ".cdx.gz"
    for line, its in zip(lines, changed, strict=True):
        key, _, text = line.partition("{")
        its_key, _, its_text = its.partition("{")
        entry, now = (json.loads(f"{{{rest}") if rest else {} for rest in (text, its_text))
        steady, its_steady = ({key: it for key, it in one.items() if key not in _MOVING} for one in (entry, now))
        if key != its_key or steady != its_steady:
            return f"the entry {line[:80]!r} changed to {its[:80]!r}"
        about = str(entry.get("filename") or about)
        if "offset" in entry and _leads(entry, old, about) not in {None, _leads(now, new, about)}:
            return f"the entry {key[:80]!r} refers to another record"
    return None


def _lines(name: str, data: bytes) -> list[str]:
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8", "replace").splitlines()


def _leads(entry: Any, read: Read, about: str) -> tuple[bytes, bool] | None:
    """Return an identifier of the data that an entry refers to, and whether its digest is right; None for no data."""
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
