"""Every input that fuzzing found an invariant broken on, by target: none of them may break it again."""

from __future__ import annotations

from typing import Final

FOUND: Final[dict[str, list[bytes]]] = {
    "css": [
        b'url("\\9',  # verify: white space that an escape writes is part of the reference
        b"url(\\20zx\\20)",
    ],
    "whole": [
        b"\x86\x00<a href=\x8a>",  # verify: a byte that is no character of ISO-2022-JP was carried in two ways
        b".d<img src=\x81>",
    ],
}
