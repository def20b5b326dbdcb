"""Fingerprints of texts (BLAKE2b): fixed-size keys where the text itself would take too much memory.

In: `str`. Out: `bytes`.
"""

from __future__ import annotations

from typing import Final

_AT_ONCE: Final = 1 << 16  # characters


def fingerprint(text: str, size: int = 16) -> bytes:
    """Return a BLAKE2b digest of `size` bytes (at most 64) of a text, which may contain lone surrogates."""
    from hashlib import blake2b  # loads OpenSSL, 4 MB, which few runs need

    digest = blake2b(digest_size=size)
    for at in range(0, len(text), _AT_ONCE):
        digest.update(text[at : at + _AT_ONCE].encode("utf-8", "surrogatepass"))
    return digest.digest()
