"""Second check of JSON and HTTP Archives (HAR 1.2): Python's json reads equal values, except for links and documents.

In: the two entities. Out: differences. A changed body in an archive, and a document in a string, is compared by the
second check of its own media type; the bytes of its header fields are compared by the first check.
"""

from __future__ import annotations

import base64
import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from absolve.document.resolved import value_of
from absolve.document.walk import inners
from absolve.formats import registry
from absolve.formats.headers import OF_HTTP
from absolve.verifying import faults_inside
from absolve.verifying.expected import Fault, decoded, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from absolve.document.entity import Entity
    from absolve.verifying.expected import Expected


class _Object(list[tuple[str, Any]]):
    """The members of an object, also all members with a repeated name."""


def faults(before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    """Yield the differences between the values."""
    texts = [decoded(entity).removeprefix("\ufeff") for entity in (before, after)]
    try:
        old, new = (json.loads(text, object_pairs_hook=_Object) for text in texts)
    except (ValueError, RecursionError) as error:
        yield Fault("unjudged", f"json cannot read this: {error}")
        return
    is_archive = before.media_type == registry.HAR
    if before.media_type == registry.NOTEBOOK:
        old, new = _joined(old), _joined(new)
    pairs = zip(inners(before), inners(after), strict=False)
    inside = {one.entity.data: (one.entity, other.entity) for one, other in pairs}
    found = _har_faults(old, new, before, after, expected) if is_archive else _text_faults(old, new, expected, inside)
    for fault in found:
        yield Fault(fault.code, f"json: {fault.text}")


def _differing(old: Any, new: Any) -> Iterator[tuple[tuple[str | int, ...], Any, Any, Any]]:
    """Yield path, container and two values of each difference: `(1,)`, `[1, 2]`, 2, 3 for `[1, 2]` and `[1, 3]`."""
    stack: list[tuple[tuple[str | int, ...], Any, Any, Any]] = [((), None, old, new)]
    while stack:
        path, around, one, other = stack.pop()
        steps, its_steps = _steps(one), _steps(other)
        if steps is not None and type(one) is type(other) and steps == its_steps:
            values = zip(steps, _values(one), _values(other), strict=True)
            stack += reversed([((*path, step), one, value, changed) for step, value, changed in values])
        elif one is not other and (type(one) is not type(other) or repr(one) != repr(other)):  # NaN equals NaN
            yield path, around, one, other


def _steps(value: Any) -> list[str | int] | None:
    """Return the steps to the values in a container: for example, [0, 1] for an array of two; or member names."""
    if isinstance(value, _Object):
        return [name for name, _ in value]
    return list(range(len(value))) if isinstance(value, list) else None


def _values(value: Any) -> list[Any]:
    if isinstance(value, _Object):
        return [inner for _, inner in value]
    return value if isinstance(value, list) else []


def _joined(value: Any) -> Any:
    """Return a value of a notebook with each array of lines as one string: for example, "ab" for ["a", "b"]."""
    if isinstance(value, _Object):
        return _Object((name, _joined(inner)) for name, inner in value)
    if isinstance(value, list) and value and all(isinstance(inner, str) for inner in value):
        return "".join(value)
    return [_joined(inner) for inner in value] if isinstance(value, list) else value


def _text_faults(old: Any, new: Any, expected: Expected, inside: dict[bytes, tuple[Entity, Entity]]) -> Iterator[Fault]:
    wanted = expected.by_reference()
    for path, _, one, other in _differing(old, new):
        where = f"at /{'/'.join(map(str, path))}"
        if not (isinstance(one, str) and isinstance(other, str)):
            yield Fault("tree", f"the value {where} differs")
        elif other in _expected(one, wanted) or expected.alike(one, other):
            continue
        elif (pair := inside.get(value_of(one))) is not None and pair[1].data == value_of(other):
            yield from faults_inside(*pair, expected)
        else:
            yield Fault("target", f"{shown(one)} became {shown(other)} {where}")


def _expected(old: str, wanted: dict[str, set[str]]) -> set[str]:
    """Return the values that a string may become: the values of its reference, in the same white space."""
    reference = old.strip()
    before, _, after = old.partition(reference) if reference else (old, "", "")
    return {f"{before}{new}{after}" for new in wanted.get(reference, ())}


# --- HTTP Archives ----------------------------------------------------------------------------------------------------


def _har_faults(old: Any, new: Any, before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    (around, entries), (its_around, its_entries) = _entries(old), _entries(new)
    if repr(around) != repr(its_around) or len(entries) != len(its_entries):
        yield Fault("tree", "values outside the entries, or the number of entries, differ")
        return
    objects = [(one, its) for one, its in zip(entries, its_entries, strict=True) if isinstance(one, _Object)]
    walked = zip(inners(before), inners(after), strict=False)
    for number, (pair, (inner, other)) in enumerate(zip(objects, walked, strict=False), 1):
        for fault in _entry_faults(*pair, inner.entity, other.entity, expected):
            yield Fault(fault.code, f"{fault.text} (entry {number})")


def _entries(archive: Any) -> tuple[Any, list[Any]]:
    """Return the archive without its entries, and the entries."""
    entries: list[Any] = []
    around = []
    for name, value in archive if isinstance(archive, _Object) else ():
        if name == "log" and isinstance(value, _Object):
            around.append((name, [(key, None if key == "entries" else inner) for key, inner in value]))
            entries += [entry for key, inner in value if key == "entries" for entry in _values(inner)]
        else:
            around.append((name, value))
    return around, entries


def _entry_faults(old: Any, new: Any, before: Entity, after: Entity, expected: Expected) -> Iterator[Fault]:
    one, other = (next((inner.entity for inner in inners(entry)), entry) for entry in (before, after))
    for path, around, value, changed in _differing(old, new):
        name, place = ".".join(map(str, path)) or "it", path[1:]
        if path[:1] != ("response",) or not isinstance(value, (str, int)) or type(value) is not type(changed):
            yield Fault("tree", f"{name} changed to {shown(str(changed))}")
        elif place == ("content", "text"):
            if _is(value, one.data) and _is(changed, other.data):
                yield from faults_inside(one, other, expected)
            else:
                yield Fault("unjudged", "it decodes this body differently from absolve")
        elif place == ("content", "size"):
            if changed not in {len(other.data), *map(len, _stored(_body_of(new)))}:
                yield Fault("attribute", "the size of the content is wrong")
        elif place[:1] == ("headers",):
            field = str(dict(around).get("name", "")).lower() if isinstance(around, _Object) else ""
            if place[2:] != ("value",) or field not in OF_HTTP:
                yield Fault("attribute", f"the field {field} changed to {shown(str(changed))}")
        elif place != ("redirectURL",):
            yield Fault("tree", f"{name} changed to {shown(str(changed))}")


def _body_of(entry: _Object) -> str:
    content = dict(dict(entry)["response"])["content"]
    return str(dict(content).get("text", ""))


def _is(text: Any, data: bytes) -> bool:
    """Return whether a text is these bytes: in UTF-8, in base64 (`YQ==` is `a`), or compressed, a character a byte."""
    if str(text).encode("utf-8", "surrogatepass") == data:
        return True
    for raw in _stored(str(text)):
        with suppress(*_FAILS):
            if raw == data or any(_opened(name, raw) == data for name in ("gzip", "deflate", "br", "zstd")):
                return True
    return False


def _opened(name: str, body: bytes) -> bytes:
    """Return a body without one content coding; unchanged if it is not in that coding. Raise one of `_FAILS`."""
    if name in {"gzip", "x-gzip"} and body.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.decompress(body)
    if name == "deflate":
        for wbits in (15, -15):
            with suppress(zlib.error):
                return zlib.decompress(body, wbits)
    if name == "br":
        import brotli

        with suppress(brotli.error):
            return bytes(brotli.decompress(body))
    if name == "zstd" and body.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            return reader.read()
    return body


def _stored(text: str) -> Iterator[bytes]:
    """Yield the bytes that a text may store, in base64 or a character a byte: for example, `a` and `YQ==` in `YQ==`."""
    with suppress(ValueError):
        yield base64.b64decode(text)
    with suppress(ValueError):
        yield bytes([_BYTES.get(character, ord(character)) for character in text])


_BYTES: Final = {code: number for number in range(0x80, 0xA0) if (code := bytes([number]).decode("cp1252", "ignore"))}
_FAILS: Final = (ValueError, EOFError, OSError, zlib.error, ImportError)
