"""Some bytes that stand for a text, wherever it itself would take too much."""

from __future__ import annotations

from typing import Final

_AT_ONCE: Final = 1 << 16  # characters


def fingerprint(text: str, size: int = 16) -> bytes:
    """`size` bytes (at most 64) that no other text has, as far as anybody knows; lone surrogates may be in it."""
    from hashlib import blake2b  # with it comes OpenSSL, 4 MB that few runs need

    digest = blake2b(digest_size=size)
    for at in range(0, len(text), _AT_ONCE):
        digest.update(text[at : at + _AT_ONCE].encode("utf-8", "surrogatepass"))
    return digest.digest()
