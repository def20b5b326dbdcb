"""Digests in archives (labelled-digest, ISO 28500 5.8 and 5.9): compute one for changed content in the same form.

In: a digest and the old and new bytes. Out: the digest of the new bytes, with the same algorithm, label and encoding.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from absolve.core.errors import CodingError
from absolve.formats.http.responses import payload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from absolve.formats.protocols import WalkOptions

Bytes = bytes | memoryview
Content = Callable[[Bytes], Bytes]


def _same(block: Bytes) -> Bytes:
    return block


WHOLE: Final[tuple[Content, ...]] = (_same,)
_UNLABELLED: Final = ("sha256", "sha1", "md5")


def payloads(options: WalkOptions) -> Sequence[Content]:
    """Return functions from a block to its payload (6.3.2) in the three forms that archives use.

    These are the HTTP body as transferred, without its outermost coding (the chunks), and without all codings.
    """
    return tuple(partial(payload, options=options, count=count) for count in (0, 1, None))


def renewed(digest: bytes, old: Bytes, new: Bytes, contents: Sequence[Content] = WHOLE) -> bytes:
    """Return the digest of `new` in the algorithm, label and encoding of `digest`, the digest of `old`.

    `contents` are the functions that select the digested bytes; the first one that matches `old` is used. A digest that
    matches none of them was wrong before, and is returned unchanged.
    """
    import hashlib  # here, because it loads OpenSSL: 4 MB that few documents need

    label, colon, value = digest.rpartition(b":")
    value = value.strip()
    algorithm = label.decode("latin-1").strip().lower().replace("sha-", "sha")
    if colon and (algorithm not in hashlib.algorithms_available or algorithm.startswith("shake")):
        return digest
    for content in contents:
        try:
            for name in (algorithm,) if colon else _UNLABELLED:
                before = hashlib.new(name, content(old), usedforsecurity=False).digest()
                for form in _FORMS:
                    if form(before) == value:
                        after = hashlib.new(name, content(new), usedforsecurity=False).digest()
                        return digest.replace(value, form(after))
        except CodingError:
            continue
    return digest


def _upper_hex(digest: bytes) -> bytes:
    return binascii.hexlify(digest).upper()


def _bare_base32(digest: bytes) -> bytes:
    return base64.b32encode(digest).rstrip(b"=")


def _lower_base32(digest: bytes) -> bytes:
    return base64.b32encode(digest).lower()


_FORMS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    base64.b32encode,
    binascii.hexlify,
    _upper_hex,
    _bare_base32,
    _lower_base32,
    base64.b64encode,
    base64.urlsafe_b64encode,
)
